/*
 * chess.c - chess: 8 x 8 squares, rank 1 in row 0. Its one symmetry is the left-right mirror, and
 * that is an approximation, because castling tells the king's side from the queen's.
 *
 * The ways in which programs number moves differ in order only: as lists of the moves of every
 * square, as from * 64 + to, or with a plane for each kind of move. Each is a struct chess_code,
 * which decodes an index into a move and encodes it again, so that the image of an index is that of
 * the mirrored move, and one mirror serves all of them. Moves are steps, which may leave the board:
 * plane codes number such moves too.
 */
#include "board/chess.h"
#include "board/families.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_DISTANCE 7
#define RANK_7       6

/* One way to number moves. Which fields it reads depends on its functions. */
struct chess_code {
    uint32_t length;
    void (*decode)(const struct chess_code *code, uint32_t action, struct chess_move *move);
    uint32_t (*encode)(const struct chess_code *code, const struct chess_move *move);
    uint32_t n_pieces; /* that have promotions of their own */

    /* Codes by planes of kinds of move only. */
    bool plane_first; /* plane * 64 + square, else square * planes + plane */
    bool piece_first; /* promotions piece * 3 + file step, else file step * pieces + piece */
    bool file_first;  /* PettingZoo's order: squares file * 8 + rank, else rank * 8 + file; lines
                         distance * 8 + direction, else direction * 7 + distance; directions and
                         jumps by file, then rank, else clockwise */
};

/* --- moves --- */

const struct chess_step chess_directions[CHESS_N_DIRECTIONS] = {
    {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1},
};

const struct chess_step chess_jumps[CHESS_N_JUMPS] = {
    {2, 1}, {1, 2}, {-1, 2}, {-2, 1}, {-2, -1}, {-1, -2}, {1, -2}, {2, -1},
};

/* How many lines and jumps the squares before this one have together. */
static const uint16_t moves_before[CHESS_N_SQUARES + 1] = {
    0,    23,   47,   72,   97,   122,  147,  171,  194,  218,  245,  274,  303,
    332,  361,  388,  412,  437,  466,  499,  532,  565,  598,  627,  652,  677,
    706,  739,  774,  809,  842,  871,  896,  921,  950,  983,  1018, 1053, 1086,
    1115, 1140, 1165, 1194, 1227, 1260, 1293, 1326, 1355, 1380, 1404, 1431, 1460,
    1489, 1518, 1547, 1574, 1598, 1621, 1645, 1670, 1695, 1720, 1745, 1769, 1792,
};

/* Of one square: 27 of a queen, 8 of a knight, 3 x 4 promotions, and one that is being tried. */
#define MAX_MOVES 48

int chess_target(const struct chess_move *move)
{
    int rank = move->from / 8 + move->d_rank;
    int file = move->from % 8 + move->d_file;

    return rank < 0 || rank > 7 || file < 0 || file > 7 ? -1 : rank * 8 + file;
}

static size_t add_if_on_board(struct chess_move moves[MAX_MOVES], size_t n, struct chess_move move)
{
    moves[n] = move;
    return chess_target(&move) >= 0 ? n + 1 : n;
}

/* The moves of one square in the order of the list. Returns how many. */
static size_t list_moves(int from, uint32_t n_pieces, struct chess_move moves[MAX_MOVES])
{
    size_t n = 0;

    for (const struct chess_step *d = chess_directions; d < chess_directions + 8; d++)
        for (int far = 1; far <= MAX_DISTANCE; far++)
            n = add_if_on_board(
                moves, n,
                (struct chess_move){from, d->d_rank * far, d->d_file * far, CHESS_NO_PIECE});
    for (const struct chess_step *k = chess_jumps; k < chess_jumps + CHESS_N_JUMPS; k++)
        n = add_if_on_board(moves, n,
                            (struct chess_move){from, k->d_rank, k->d_file, CHESS_NO_PIECE});
    for (int d_file = -1; from / 8 == RANK_7 && d_file <= 1; d_file++)
        for (uint32_t k = 0; k < n_pieces; k++)
            n = add_if_on_board(
                moves, n,
                (struct chess_move){from, 1, d_file, (enum chess_piece)(CHESS_QUEEN - k)});
    return n;
}

/* The index of the first move of a square. On rank 7 the edge files have 2 promotions, others 3. */
static uint32_t list_start(int from, uint32_t n_pieces)
{
    int n_before = from - RANK_7 * 8;
    int n_targets = n_before <= 0 ? 0 : n_before >= 8 ? 22 : 3 * n_before - 1;

    return moves_before[from] + (uint32_t)n_targets * n_pieces;
}

static void list_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    struct chess_move moves[MAX_MOVES];
    int from = 0;

    while (from + 1 < CHESS_N_SQUARES && list_start(from + 1, code->n_pieces) <= action)
        from++;
    list_moves(from, code->n_pieces, moves);
    *move = moves[action - list_start(from, code->n_pieces)];
}

static uint32_t list_encode(const struct chess_code *code, const struct chess_move *move)
{
    struct chess_move moves[MAX_MOVES];
    size_t n = list_moves(move->from, code->n_pieces, moves);
    uint32_t i = 0;

    while (i + 1 < n && (moves[i].d_rank != move->d_rank || moves[i].d_file != move->d_file ||
                         moves[i].promotion != move->promotion))
        i++;
    return list_start(move->from, code->n_pieces) + i;
}

static void from_to_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    int from = (int)(action / CHESS_N_SQUARES), to = (int)(action % CHESS_N_SQUARES);

    (void)code;
    *move = (struct chess_move){from, to / 8 - from / 8, to % 8 - from % 8, CHESS_NO_PIECE};
}

static uint32_t from_to_encode(const struct chess_code *code, const struct chess_move *move)
{
    (void)code;
    return (uint32_t)(move->from * CHESS_N_SQUARES + chess_target(move));
}

/* lc0's list: of every square its targets ascending, a knight's promotions among them; then the
 * promotions of every target to queen, rook and bishop. */
#define LC0_N_PLAIN 1792

static void lc0_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    struct chess_move moves[MAX_MOVES];
    const uint32_t i = action - LC0_N_PLAIN, target = i / 3 + 1;
    int from = 0;
    size_t n, k = 0;

    (void)code;
    if (action >= LC0_N_PLAIN) {
        *move = (struct chess_move){RANK_7 * 8 + (int)target / 3, 1, (int)(target % 3) - 1,
                                    (enum chess_piece)(CHESS_QUEEN - i % 3)};
        return;
    }
    while (moves_before[from + 1] <= action)
        from++;
    n = list_moves(from, 0, moves);
    for (uint32_t n_less = UINT32_MAX; n_less != action - moves_before[from]; k++) {
        n_less = 0;
        for (size_t other = 0; other < n; other++)
            n_less += chess_target(&moves[other]) < chess_target(&moves[k]);
        *move = moves[k];
    }
}

static uint32_t lc0_encode(const struct chess_code *code, const struct chess_move *move)
{
    struct chess_move moves[MAX_MOVES];
    const size_t n = list_moves(move->from, 0, moves);
    uint32_t n_less = 0;

    (void)code;
    if (move->promotion != CHESS_NO_PIECE)
        return LC0_N_PLAIN + (uint32_t)((3 * (move->from % 8) + move->d_file) * 3 + CHESS_QUEEN -
                                        (int)move->promotion);
    for (size_t other = 0; other < n; other++)
        n_less += chess_target(&moves[other]) < chess_target(move);
    return moves_before[move->from] + n_less;
}

/* OpenSpiel's: squares by file, and of each 9 promotions by piece (rook, bishop, knight) and step
 * (ahead, right, left), 56 lines by axis and distance from -7 to 7, 8 jumps; then castling towards
 * file a and towards file h. */
#define SPIEL_N_KINDS  73
#define SPIEL_CASTLING (CHESS_N_SQUARES * SPIEL_N_KINDS)

static const struct chess_step spiel_axes[4] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
static const struct chess_step spiel_jumps[CHESS_N_JUMPS] = {
    {-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-1, 2}, {1, 2}, {-2, 1}, {2, 1},
};
static const int spiel_promotion_files[3] = {0, 1, -1};

static void spiel_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    const uint32_t square = action / SPIEL_N_KINDS, kind = action % SPIEL_N_KINDS;

    (void)code;
    *move = (struct chess_move){(int)(square % 8 * 8 + square / 8), 0, 0, CHESS_NO_PIECE};
    if (action >= SPIEL_CASTLING) {
        *move = (struct chess_move){4, 0, action == SPIEL_CASTLING ? -2 : 2, CHESS_CASTLING};
    } else if (kind < 9) {
        move->d_rank = 1;
        move->d_file = spiel_promotion_files[kind % 3];
        move->promotion = (enum chess_piece)(CHESS_ROOK - kind / 3);
    } else if (kind < 65) {
        const int at = (int)(kind - 9) % 14, far = at < 7 ? at - 7 : at - 6;

        move->d_rank = spiel_axes[(kind - 9) / 14].d_rank * far;
        move->d_file = spiel_axes[(kind - 9) / 14].d_file * far;
    } else {
        move->d_rank = spiel_jumps[kind - 65].d_rank;
        move->d_file = spiel_jumps[kind - 65].d_file;
    }
}

static uint32_t spiel_encode(const struct chess_code *code, const struct chess_move *move)
{
    const uint32_t square = (uint32_t)(move->from % 8 * 8 + move->from / 8);
    struct chess_move other;
    uint32_t kind = move->promotion == CHESS_NO_PIECE ? 9 : 0;

    if (move->promotion == CHESS_CASTLING)
        return SPIEL_CASTLING + (move->d_file > 0);
    for (;; kind++) {
        spiel_decode(code, square * SPIEL_N_KINDS + kind, &other);
        if (other.d_rank == move->d_rank && other.d_file == move->d_file &&
            other.promotion == move->promotion)
            return square * SPIEL_N_KINDS + kind;
    }
}

/* --- codes by planes --- */

#define N_LINES           (CHESS_N_DIRECTIONS * MAX_DISTANCE)
#define FIRST_PROMOTION   (N_LINES + CHESS_N_JUMPS)
#define N_PROMOTION_STEPS 3

/* Both ways between rank * 8 + file and file * 8 + rank. */
static uint32_t turned(uint32_t square)
{
    return square % 8 * 8 + square / 8;
}

/* PettingZoo counts steps by file, then by rank. */
static const struct chess_step file_first_directions[CHESS_N_DIRECTIONS] = {
    {-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1},
};

static const struct chess_step file_first_jumps[CHESS_N_JUMPS] = {
    {-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-2, 1}, {2, 1}, {-1, 2}, {1, 2},
};

static const struct chess_step *directions_of(const struct chess_code *code)
{
    return code->file_first ? file_first_directions : chess_directions;
}

static const struct chess_step *jumps_of(const struct chess_code *code)
{
    return code->file_first ? file_first_jumps : chess_jumps;
}

static uint32_t n_planes(const struct chess_code *code)
{
    return FIRST_PROMOTION + N_PROMOTION_STEPS * code->n_pieces;
}

static void planes_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    uint32_t square = code->plane_first ? action % CHESS_N_SQUARES : action / n_planes(code);
    uint32_t plane = code->plane_first ? action / CHESS_N_SQUARES : action % n_planes(code);

    move->from = (int)(code->file_first ? turned(square) : square);
    move->promotion = CHESS_NO_PIECE;
    if (plane < N_LINES) {
        const uint32_t d = code->file_first ? plane % CHESS_N_DIRECTIONS : plane / MAX_DISTANCE;
        const int far =
            (int)(code->file_first ? plane / CHESS_N_DIRECTIONS : plane % MAX_DISTANCE) + 1;

        move->d_rank = directions_of(code)[d].d_rank * far;
        move->d_file = directions_of(code)[d].d_file * far;
    } else if (plane < FIRST_PROMOTION) {
        move->d_rank = jumps_of(code)[plane - N_LINES].d_rank;
        move->d_file = jumps_of(code)[plane - N_LINES].d_file;
    } else {
        const uint32_t i = plane - FIRST_PROMOTION;

        move->d_rank = 1;
        move->d_file = (int)(code->piece_first ? i % N_PROMOTION_STEPS : i / code->n_pieces) - 1;
        move->promotion =
            CHESS_KNIGHT + (code->piece_first ? i / N_PROMOTION_STEPS : i % code->n_pieces);
    }
}

/* The number of a step that is `far` times one of eight. */
static uint32_t find_step(const struct chess_step *steps, const struct chess_move *move, int far)
{
    uint32_t i = 0;

    while (steps[i].d_rank * far != move->d_rank || steps[i].d_file * far != move->d_file)
        i++;
    return i;
}

static uint32_t planes_encode(const struct chess_code *code, const struct chess_move *move)
{
    const int ranks = abs(move->d_rank), files = abs(move->d_file);
    uint32_t square = (uint32_t)move->from, plane;

    if (move->promotion != CHESS_NO_PIECE) {
        const uint32_t piece = (uint32_t)(move->promotion - CHESS_KNIGHT);
        const uint32_t step = (uint32_t)(move->d_file + 1);

        plane = FIRST_PROMOTION + (code->piece_first ? piece * N_PROMOTION_STEPS + step
                                                     : step * code->n_pieces + piece);
    } else if (ranks * files == 2) {
        plane = N_LINES + find_step(jumps_of(code), move, 1);
    } else {
        const uint32_t far = (uint32_t)(ranks > files ? ranks : files) - 1;
        const uint32_t d = find_step(directions_of(code), move, (int)far + 1);

        plane = code->file_first ? far * CHESS_N_DIRECTIONS + d : d * MAX_DISTANCE + far;
    }
    if (code->file_first)
        square = turned(square);
    return code->plane_first ? plane * CHESS_N_SQUARES + square : square * n_planes(code) + plane;
}

/* --- policy layouts: one row for each way to number moves --- */

static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    const struct chess_code *code = layout->scheme;

    (void)b;
    return code->length;
}

static struct chess_move move_of(const struct action_layout *layout, uint64_t action)
{
    const struct chess_code *code = layout->scheme;
    struct chess_move move;

    code->decode(code, (uint32_t)action, &move);
    return move;
}

static uint64_t image(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint64_t action)
{
    const struct chess_code *code = layout->scheme;
    struct chess_move move = move_of(layout, action);

    (void)b;
    if (t == 0)
        return action;
    move.from ^= 7; /* files a and h, b and g .. change places */
    move.d_file = -move.d_file;
    return code->encode(code, &move);
}

/* A piece can make the move: on the board, along a line or a knight's jump, and a promotion only by
 * a pawn's step from rank 7. */
static unsigned flags(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    const struct chess_move move = move_of(layout, action);
    const int ranks = abs(move.d_rank), files = abs(move.d_file);
    bool is_playable =
        (ranks == 0) != (files == 0) || (ranks == files && ranks > 0) || ranks * files == 2;

    (void)b;
    if (move.promotion == CHESS_CASTLING)
        return ACTION_ENCODABLE;
    if (move.promotion != CHESS_NO_PIECE)
        is_playable = move.from / 8 == RANK_7 && move.d_rank == 1 && files <= 1;
    return is_playable && chess_target(&move) >= 0 ? ACTION_ENCODABLE : 0;
}

static int64_t cell(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    const struct chess_move move = move_of(layout, action);

    (void)b;
    return move.promotion == CHESS_CASTLING ? -1 : move.from;
}

static const char *kind(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    (void)layout, (void)b, (void)action;
    return "movement";
}

/* "e2e4", "a7a8=R", "a1 (-1,+0) leaves the board". */
static void describe(const struct action_layout *layout, const struct board *b, uint64_t action,
                     char *text, size_t n_bytes)
{
    static const char *const promotions[] = {"", "=N", "=B", "=R", "=Q"};
    const struct chess_move move = move_of(layout, action);
    const char from_file = (char)('a' + move.from % 8), from_rank = (char)('1' + move.from / 8);
    const int to = chess_target(&move);

    (void)b;
    if (move.promotion == CHESS_CASTLING)
        snprintf(text, n_bytes, "castling towards file %c", move.d_file < 0 ? 'a' : 'h');
    else if (to < 0)
        snprintf(text, n_bytes, "%c%c (%+d,%+d)%s leaves the board", from_file, from_rank,
                 move.d_rank, move.d_file, promotions[move.promotion]);
    else
        snprintf(text, n_bytes, "%c%c%c%c%s", from_file, from_rank, 'a' + to % 8, '1' + to / 8,
                 promotions[move.promotion]);
}

#define LAYOUT(id, name_, summary_, ...)                      \
    static const struct chess_code code_##id = {__VA_ARGS__}; \
    static const struct action_layout layout_##id = {         \
        .name = name_,                                        \
        .summary = summary_,                                  \
        .scheme = &code_##id,                                 \
        .length = length,                                     \
        .image = image,                                       \
        .flags = flags,                                       \
        .cell = cell,                                         \
        .kind = kind,                                         \
        .describe = describe,                                 \
    }

#define LIST(pieces)   .decode = list_decode, .encode = list_encode, .n_pieces = pieces
#define FROM_TO()      .decode = from_to_decode, .encode = from_to_encode
#define PLANES(pieces) .decode = planes_decode, .encode = planes_encode, .n_pieces = pieces

LAYOUT(1814, "chess-1814", "every move of every square in turn, promotions to a queen only",
       .length = 1814, LIST(1));
LAYOUT(1880, "chess-1880", "as chess-1814, promotions to queen, rook, bishop, knight",
       .length = 1880, LIST(4));
LAYOUT(1858, "chess-1858", "lc0's: targets of every square in turn, then promotions but a knight's",
       .length = 1858, .decode = lc0_decode, .encode = lc0_encode);
LAYOUT(4674, "chess-4674", "OpenSpiel's: from * 73 + kind of move, by files, then two castlings",
       .length = 4674, .decode = spiel_decode, .encode = spiel_encode);
LAYOUT(from_to, "from-to", "from * 64 + to", .length = 4096, FROM_TO());

LAYOUT(4672, "chess-4672", "from * 73 + kind of move, promotions by file step, then piece",
       .length = 4672, PLANES(3));
LAYOUT(4672_planes, "chess-4672-planes", "as chess-4672, but kind of move * 64 + from",
       .length = 4672, PLANES(3), .plane_first = true);
LAYOUT(4672_crazyara, "chess-4672-crazyara", "as chess-4672, promotions by piece, then file step",
       .length = 4672, PLANES(3), .piece_first = true);
LAYOUT(4672_crazyara_planes, "chess-4672-crazyara-planes",
       "as chess-4672-crazyara, but kind of move * 64 + from", .length = 4672, PLANES(3),
       .piece_first = true, .plane_first = true);
LAYOUT(4672_pettingzoo, "chess-4672-pettingzoo",
       "as chess-4672, squares by file, lines by distance, steps by file", .length = 4672,
       PLANES(3), .file_first = true);
LAYOUT(4672_pettingzoo_planes, "chess-4672-pettingzoo-planes",
       "as chess-4672-pettingzoo, but kind of move * 64 + from", .length = 4672, PLANES(3),
       .file_first = true, .plane_first = true);

LAYOUT(4864, "chess-4864", "kind of move * 64 + from, promotions by file step, then piece",
       .length = 4864, PLANES(4), .plane_first = true);
LAYOUT(4864_squares, "chess-4864-squares", "as chess-4864, but from * 76 + kind of move",
       .length = 4864, PLANES(4));
LAYOUT(4864_crazyara, "chess-4864-crazyara", "as chess-4864, promotions by piece, then file step",
       .length = 4864, PLANES(4), .piece_first = true, .plane_first = true);
LAYOUT(4864_crazyara_squares, "chess-4864-crazyara-squares",
       "as chess-4864-crazyara, but from * 76 + kind of move", .length = 4864, PLANES(4),
       .piece_first = true);

uint32_t chess_index_1814(const struct chess_move *move)
{
    return list_encode(&code_1814, move);
}

/* --- the family --- */

static int build(struct board *b, const char *size, struct error *err)
{
    if (board_parse_nothing(b, size, err) != 0)
        return -1;
    return board_build_box(b, 8, 8, &board_box_mirror, err);
}

/* Of layouts with the same length the first is taken unless another one is asked for by name. */
static const struct action_layout *const layouts[] = {
    &layout_1814,
    &layout_1880,
    &layout_1858,
    &layout_4674,
    &layout_from_to,
    &layout_4672,
    &layout_4864,
    &action_layout_cells,
    &action_layout_cells_pass,
    &layout_4672_planes,
    &layout_4672_crazyara,
    &layout_4672_crazyara_planes,
    &layout_4672_pettingzoo,
    &layout_4672_pettingzoo_planes,
    &layout_4864_squares,
    &layout_4864_crazyara,
    &layout_4864_crazyara_squares,
};

/* Of 25 planes: 12 of pieces, 4 of rights, occupancy, checkers, material. */
const struct board_castling board_castling_usual = {25, {12, 13, 14, 15}};

static const struct board_shape shapes[] = {
    {"chess", 8, 8, 1814, false}, {"chess", 8, 8, 1880, false}, {"chess", 8, 8, 4096, false},
    {"chess", 8, 8, 4672, false}, {"chess", 8, 8, 4864, false}, {"chess", 8, 8, 1858, false},
    {"chess", 8, 8, 4674, false}, {NULL, 0, 0, 0, false},
};

const struct board_family board_family_chess = {
    .name = "chess",
    .syntax = "chess",
    .summary = "chess with its left-right mirror, an approximation because of castling",
    .example = "chess",
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof *layouts,
    .castling = &board_castling_usual,
    .shapes = shapes,
    .game = BOARD_GAME_CHESS,
    .men = "PNBRQK",
    .bottom_up = true,
};
