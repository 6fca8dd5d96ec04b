/*
 * chess.c - the ways in which programs number chess moves. The board's one symmetry is the
 * left-right mirror, and that is an approximation, because castling tells the king's side from the
 * queen's.
 *
 * The ways differ in order only: as lists of the moves of every square, as from * 64 + to, or with
 * a plane for each kind of move. Each is a struct chess_code, which lists all its moves once; an
 * index is then that of the mirrored move in the list, and one mirror serves all of them. Moves are
 * steps, which may leave the board: plane codes number such moves too.
 */
#include "board/chess.h"
#include "board/families.h"

#include <pthread.h>

#define MAX_DISTANCE 7
#define RANK_7       6
#define MAX_LENGTH   4864

/* One way to number moves. Which fields it reads depends on its list. */
struct chess_code {
    uint32_t length;
    void (*list)(const struct chess_code *code); /* add all moves, in order */
    uint32_t n_pieces;                           /* that have promotions of their own */

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

/* A queen or a knight goes so, if the target is on the board. */
static bool is_piece_move(int d_rank, int d_file)
{
    const int ranks = abs(d_rank), files = abs(d_file);

    return (ranks == 0) != (files == 0) || (ranks == files && ranks > 0) || ranks * files == 2;
}

/* A move as a number. */
#define N_STEPS (2 * MAX_DISTANCE + 1)
#define N_KEYS  ((CHESS_CASTLING + 1) * N_STEPS * N_STEPS * CHESS_N_SQUARES)

static uint32_t key_of(const struct chess_move *move)
{
    const int step = (move->d_rank + MAX_DISTANCE) * N_STEPS + move->d_file + MAX_DISTANCE;

    return (uint32_t)(((int)move->promotion * N_STEPS * N_STEPS + step) * CHESS_N_SQUARES +
                      move->from);
}

static struct chess_move move_of(uint32_t key)
{
    const int rest = (int)key / CHESS_N_SQUARES;

    return (struct chess_move){(int)key % CHESS_N_SQUARES, rest / N_STEPS % N_STEPS - MAX_DISTANCE,
                               rest % N_STEPS - MAX_DISTANCE,
                               (enum chess_piece)(rest / (N_STEPS * N_STEPS))};
}

/* --- the moves of all codes, listed once; then they are const --- */

struct chess_table {
    uint32_t keys[MAX_LENGTH];
    uint16_t mirrored[MAX_LENGTH]; /* the index of the mirrored move */
};

static struct chess_table tables[CHESS_N_LAYOUTS];
static struct chess_table *listed; /* the table that is being filled, */
static uint32_t n_listed;          /* so far */
static uint16_t indices[N_KEYS];   /* of all moves in the table that was filled last: chess-1814 */

static void add(int from, int d_rank, int d_file, enum chess_piece promotion)
{
    const struct chess_move move = {from, d_rank, d_file, promotion};

    listed->keys[n_listed] = key_of(&move);
    indices[listed->keys[n_listed]] = (uint16_t)n_listed;
    n_listed++;
}

static void add_if_on_board(int from, int d_rank, int d_file, enum chess_piece promotion)
{
    const struct chess_move move = {from, d_rank, d_file, promotion};

    if (chess_target(&move) >= 0)
        add(from, d_rank, d_file, promotion);
}

static void list_squares(const struct chess_code *code)
{
    for (int from = 0; from < CHESS_N_SQUARES; from++) {
        for (const struct chess_step *d = chess_directions; d < chess_directions + 8; d++)
            for (int far = 1; far <= MAX_DISTANCE; far++)
                add_if_on_board(from, d->d_rank * far, d->d_file * far, CHESS_NO_PIECE);
        for (const struct chess_step *k = chess_jumps; k < chess_jumps + CHESS_N_JUMPS; k++)
            add_if_on_board(from, k->d_rank, k->d_file, CHESS_NO_PIECE);
        for (int d_file = -1; from / 8 == RANK_7 && d_file <= 1; d_file++)
            for (uint32_t k = 0; k < code->n_pieces; k++)
                add_if_on_board(from, 1, d_file, (enum chess_piece)(CHESS_QUEEN - k));
    }
}

/* Of every square its targets ascending: all; or, as lc0 has it, those of pieces, a knight's
 * promotions among them, and then the promotions of every target to queen, rook and bishop. */
static void list_targets(const struct chess_code *code)
{
    const bool all = code->length == CHESS_N_SQUARES * CHESS_N_SQUARES;

    for (int from = 0; from < CHESS_N_SQUARES; from++)
        for (int to = 0; to < CHESS_N_SQUARES; to++)
            if (all || is_piece_move(to / 8 - from / 8, to % 8 - from % 8))
                add(from, to / 8 - from / 8, to % 8 - from % 8, CHESS_NO_PIECE);
    for (int i = 0; i < 8 * 3 * 3 && !all; i++)
        add_if_on_board(RANK_7 * 8 + i / 9, 1, i / 3 % 3 - 1,
                        (enum chess_piece)(CHESS_QUEEN - i % 3));
}

/* Both ways between rank * 8 + file and file * 8 + rank. */
static int turned(int square)
{
    return square % 8 * 8 + square / 8;
}

/* OpenSpiel's: squares by file, and of each 9 promotions by piece (rook, bishop, knight) and step
 * (ahead, right, left), 56 lines by axis and distance from -7 to 7, 8 jumps; then castling towards
 * file a and towards file h. */
static void list_spiel(const struct chess_code *code)
{
    static const struct chess_step axes[4] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    static const struct chess_step jumps[CHESS_N_JUMPS] = {
        {-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-1, 2}, {1, 2}, {-2, 1}, {2, 1},
    };
    static const int promotion_files[3] = {0, 1, -1};

    (void)code;
    for (int square = 0; square < CHESS_N_SQUARES; square++) {
        const int from = turned(square);

        for (int k = 0; k < 9; k++)
            add(from, 1, promotion_files[k % 3], (enum chess_piece)(CHESS_ROOK - k / 3));
        for (int k = 0; k < 4; k++)
            for (int far = -MAX_DISTANCE; far <= MAX_DISTANCE; far++)
                if (far != 0)
                    add(from, axes[k].d_rank * far, axes[k].d_file * far, CHESS_NO_PIECE);
        for (int k = 0; k < CHESS_N_JUMPS; k++)
            add(from, jumps[k].d_rank, jumps[k].d_file, CHESS_NO_PIECE);
    }
    add(4, 0, -2, CHESS_CASTLING);
    add(4, 0, 2, CHESS_CASTLING);
}

/* Codes by planes: lines, jumps, then promotions. */
static void list_planes(const struct chess_code *code)
{
    /* PettingZoo counts steps by file, then by rank. */
    static const struct chess_step file_first_directions[CHESS_N_DIRECTIONS] = {
        {-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1},
    };
    static const struct chess_step file_first_jumps[CHESS_N_JUMPS] = {
        {-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-2, 1}, {2, 1}, {-1, 2}, {1, 2},
    };
    const struct chess_step *directions =
        code->file_first ? file_first_directions : chess_directions;
    const struct chess_step *jumps = code->file_first ? file_first_jumps : chess_jumps;
    const int n_planes = (int)code->length / CHESS_N_SQUARES, n_pieces = (int)code->n_pieces;

    for (int action = 0; action < (int)code->length; action++) {
        const int square = code->plane_first ? action % CHESS_N_SQUARES : action / n_planes;
        const int from = code->file_first ? turned(square) : square;
        int plane = code->plane_first ? action / CHESS_N_SQUARES : action % n_planes;

        if (plane < CHESS_N_DIRECTIONS * MAX_DISTANCE) {
            const int d = code->file_first ? plane % CHESS_N_DIRECTIONS : plane / MAX_DISTANCE;
            const int far =
                (code->file_first ? plane / CHESS_N_DIRECTIONS : plane % MAX_DISTANCE) + 1;

            add(from, directions[d].d_rank * far, directions[d].d_file * far, CHESS_NO_PIECE);
            continue;
        }
        plane -= CHESS_N_DIRECTIONS * MAX_DISTANCE;
        if (plane < CHESS_N_JUMPS) {
            add(from, jumps[plane].d_rank, jumps[plane].d_file, CHESS_NO_PIECE);
            continue;
        }
        plane -= CHESS_N_JUMPS;
        add(from, 1, (code->piece_first ? plane % 3 : plane / n_pieces) - 1,
            CHESS_KNIGHT + (enum chess_piece)(code->piece_first ? plane / 3 : plane % n_pieces));
    }
}

/* The first layout, chess-1814, is listed last, so that its indices stay. */
static void list_all(void)
{
    for (size_t i = CHESS_N_LAYOUTS; i-- > 0;) {
        const struct chess_code *code = chess_layouts[i]->scheme;

        if (code == NULL) /* of cells */
            continue;
        listed = &tables[i];
        n_listed = 0;
        code->list(code);
        for (uint32_t a = 0; a < n_listed; a++) {
            struct chess_move move = move_of(listed->keys[a]);

            if (move.promotion != CHESS_CASTLING) /* which is always the king's from file e */
                move.from ^= 7;                   /* files a and h, b and g .. change places */
            move.d_file = -move.d_file;
            listed->mirrored[a] = indices[key_of(&move)];
        }
    }
}

static void list_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, list_all);
}

static const struct chess_table *table_of(const struct action_layout *layout)
{
    size_t i = 0;

    list_once();
    while (chess_layouts[i] != layout)
        i++;
    return &tables[i];
}

uint32_t chess_index_1814(const struct chess_move *move)
{
    list_once();
    return indices[key_of(move)];
}

/* --- policy layouts: one row for each way to number moves --- */

static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    const struct chess_code *code = layout->scheme;

    (void)b;
    return code->length;
}

static uint64_t image(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint64_t action)
{
    (void)b;
    return t == 0 ? action : table_of(layout)->mirrored[action];
}

/* A piece can make a move when it is on the board, along a line or a knight's jump, and a promotion
 * only by a pawn's step from rank 7. Texts are "e2e4", "a7a8=R", "a1 (-1,+0) leaves the board". */
static struct action_about about(const struct action_layout *layout, const struct board *b,
                                 uint64_t action, char *text)
{
    static const char *const promotions[] = {"", "=N", "=B", "=R", "=Q"};
    const struct chess_move move = move_of(table_of(layout)->keys[action]);
    const char file = (char)('a' + move.from % 8), rank = (char)('1' + move.from / 8);
    const int to = chess_target(&move);
    const bool is_playable = move.promotion == CHESS_NO_PIECE
                                 ? is_piece_move(move.d_rank, move.d_file)
                                 : move.from / 8 == RANK_7 && move.d_rank == 1;

    (void)b;
    if (move.promotion == CHESS_CASTLING) {
        if (text != NULL)
            snprintf(text, ACTION_TEXT_NBYTES, "castling towards file %c",
                     move.d_file < 0 ? 'a' : 'h');
        return (struct action_about){ACTION_ENCODABLE, -1, "movement"};
    }
    if (text != NULL && to < 0)
        snprintf(text, ACTION_TEXT_NBYTES, "%c%c (%+d,%+d)%s leaves the board", file, rank,
                 move.d_rank, move.d_file, promotions[move.promotion]);
    else if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "%c%c%c%c%s", file, rank, 'a' + to % 8, '1' + to / 8,
                 promotions[move.promotion]);
    return (struct action_about){is_playable && to >= 0 ? ACTION_ENCODABLE : 0, move.from,
                                 "movement"};
}

#define LAYOUT(name_, summary_, ...)                                                           \
    &(const struct action_layout)                                                              \
    {                                                                                          \
        .name = name_, .summary = summary_, .scheme = &(const struct chess_code){__VA_ARGS__}, \
        .length = length, .image = image, .about = about,                                      \
    }

/* Of layouts with the same length the first is taken unless another one is asked for by name. */
const struct action_layout *const chess_layouts[CHESS_N_LAYOUTS] = {
    LAYOUT("chess-1814", "every move of every square in turn, promotions to a queen only",
           .length = 1814, .list = list_squares, .n_pieces = 1),
    LAYOUT("chess-1880", "as chess-1814, promotions to queen, rook, bishop, knight", .length = 1880,
           .list = list_squares, .n_pieces = 4),
    LAYOUT("chess-1858", "lc0's: targets of every square in turn, then promotions but a knight's",
           .length = 1858, .list = list_targets),
    LAYOUT("chess-4674", "OpenSpiel's: from * 73 + kind of move, by files, then two castlings",
           .length = 4674, .list = list_spiel),
    LAYOUT("from-to", "from * 64 + to", .length = 4096, .list = list_targets),
    LAYOUT("chess-4672", "from * 73 + kind of move, promotions by file step, then piece",
           .length = 4672, .list = list_planes, .n_pieces = 3),
    LAYOUT("chess-4864", "kind of move * 64 + from, promotions by file step, then piece",
           .length = 4864, .list = list_planes, .n_pieces = 4, .plane_first = true),
    &action_layout_cells,
    &action_layout_cells_pass,
    LAYOUT("chess-4672-planes", "as chess-4672, but kind of move * 64 + from", .length = 4672,
           .list = list_planes, .n_pieces = 3, .plane_first = true),
    LAYOUT("chess-4672-crazyara", "as chess-4672, promotions by piece, then file step",
           .length = 4672, .list = list_planes, .n_pieces = 3, .piece_first = true),
    LAYOUT("chess-4672-crazyara-planes", "as chess-4672-crazyara, but kind of move * 64 + from",
           .length = 4672, .list = list_planes, .n_pieces = 3, .piece_first = true,
           .plane_first = true),
    LAYOUT("chess-4672-pettingzoo",
           "as chess-4672, squares by file, lines by distance, steps by file", .length = 4672,
           .list = list_planes, .n_pieces = 3, .file_first = true),
    LAYOUT("chess-4672-pettingzoo-planes", "as chess-4672-pettingzoo, but kind of move * 64 + from",
           .length = 4672, .list = list_planes, .n_pieces = 3, .file_first = true,
           .plane_first = true),
    LAYOUT("chess-4864-squares", "as chess-4864, but from * 76 + kind of move", .length = 4864,
           .list = list_planes, .n_pieces = 4),
    LAYOUT("chess-4864-crazyara", "as chess-4864, promotions by piece, then file step",
           .length = 4864, .list = list_planes, .n_pieces = 4, .piece_first = true,
           .plane_first = true),
    LAYOUT("chess-4864-crazyara-squares", "as chess-4864-crazyara, but from * 76 + kind of move",
           .length = 4864, .list = list_planes, .n_pieces = 4, .piece_first = true),
};
