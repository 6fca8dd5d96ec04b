/*
 * chess.c - the ways in which programs number chess moves. The board's one symmetry is the
 * left-right mirror, which is an approximation because castling tells king side from queen side.
 *
 * The numberings differ in order only. Each is a struct chess_code: a list of kinds of move (steps,
 * with promotions), for every square either all of them, or those that stay on the board. The moves
 * of a code are listed once, with the index of each mirrored move in the same list.
 */
#include "board/families.h"

#include <pthread.h>

#define MAX_DISTANCE 7
#define N_SQUARES    64
#define N_WAYS       8 /* directions of lines; jumps of a knight */
#define RANK_7       6
#define MAX_LENGTH   4864

/* --- moves --- */

enum chess_piece {
    CHESS_NO_PIECE, /* the move is not a promotion */
    CHESS_KNIGHT,
    CHESS_BISHOP,
    CHESS_ROOK,
    CHESS_QUEEN,
    CHESS_CASTLING, /* the king moves two files, wherever he stands */
};

/* A move from square rank * 8 + file, a1 = 0. The step may leave the board: some layouts have
 * entries for such moves. */
struct chess_move {
    int from;
    int d_rank, d_file;
    enum chess_piece promotion;
};

/* Directions of lines and jumps of a knight: clockwise from north; by file, then rank; and as
 * OpenSpiel has them, which goes both ways along four axes. Rows are ranks, columns files. */
static const struct board_step ways[3][2][N_WAYS] = {
    {{{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}},
     {{2, 1}, {1, 2}, {-1, 2}, {-2, 1}, {-2, -1}, {-1, -2}, {1, -2}, {2, -1}}},
    {{{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}},
     {{-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-2, 1}, {2, 1}, {-1, 2}, {1, 2}}},
    {{{1, 0}, {0, 1}, {1, 1}, {-1, 1}},
     {{-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-1, 2}, {1, 2}, {-2, 1}, {2, 1}}},
};

/* The square a move goes to, or -1 off the board. */
static int target_of(const struct chess_move *move)
{
    const int rank = move->from / 8 + move->d_rank, file = move->from % 8 + move->d_file;

    return rank < 0 || rank > 7 || file < 0 || file > 7 ? -1 : rank * 8 + file;
}

/* True for the steps of a queen or knight. */
static bool is_piece_move(int d_rank, int d_file)
{
    const int ranks = abs(d_rank), files = abs(d_file);

    return (ranks == 0) != (files == 0) || (ranks == files && ranks > 0) || ranks * files == 2;
}

/* Keys number all moves of all codes. */
#define N_STEPS (2 * MAX_DISTANCE + 1)
#define N_KEYS  ((CHESS_CASTLING + 1) * N_STEPS * N_STEPS * N_SQUARES)

static uint32_t key_of(const struct chess_move *move)
{
    const int step = (move->d_rank + MAX_DISTANCE) * N_STEPS + move->d_file + MAX_DISTANCE;

    return (uint32_t)(((int)move->promotion * N_STEPS * N_STEPS + step) * N_SQUARES + move->from);
}

/* --- the moves of all codes: listed once, const from then on --- */

struct chess_table {
    uint32_t n;
    struct chess_move moves[MAX_LENGTH];
    uint16_t mirrored[MAX_LENGTH]; /* the index of the mirrored move */
};

/* One way to number moves. */
struct chess_code {
    struct chess_table *table;
    uint32_t length;
    enum {
        KINDS_OF_PIECES,  /* lines, jumps, promotions */
        KINDS_OF_TARGETS, /* by ascending target: every step, or those of pieces if n_pieces > 0 */
        KINDS_OF_SPIEL,   /* OpenSpiel's */
    } kinds;
    int n_pieces;     /* pieces to promote to that have entries of their own */
    bool is_list;     /* no moves that leave the board, no promotions except from rank 7 */
    bool plane_first; /* kind * 64 + square, else square * kinds + kind */
    bool piece_first; /* promotions: piece * 3 + file step, else file step * pieces + piece */
    bool queen_first; /* pieces from queen to knight, else from knight to queen */
    bool file_first;  /* squares: file * 8 + rank, else rank * 8 + file */
    bool far_first;   /* PettingZoo's order. Lines: distance * 8 + direction, else direction * 7 +
                         distance; directions and jumps by file, then rank, else clockwise */
};

static uint16_t indices[N_KEYS]; /* by key, in the table filled last */

static void add(struct chess_table *table, struct chess_move move)
{
    indices[key_of(&move)] = (uint16_t)table->n;
    table->moves[table->n++] = move;
}

/* List the kinds of move that a code has for every square, in order. Returns their number. */
static int list_kinds(const struct chess_code *code, struct chess_move *kind)
{
    static const int spiel_files[3] = {0, 1, -1};
    const bool is_spiel = code->kinds == KINDS_OF_SPIEL;
    const struct board_step(*way)[N_WAYS] = ways[is_spiel ? 2 : code->far_first];
    const struct chess_move *const first = kind;

    for (int i = 0; i < N_STEPS * N_STEPS && code->kinds == KINDS_OF_TARGETS; i++) {
        *kind = (struct chess_move){0, i / N_STEPS - MAX_DISTANCE, i % N_STEPS - MAX_DISTANCE,
                                    CHESS_NO_PIECE};
        kind += code->n_pieces == 0 || is_piece_move(kind->d_rank, kind->d_file);
    }
    if (code->kinds == KINDS_OF_TARGETS)
        return (int)(kind - first);
    for (int i = 0; i < 9 && is_spiel; i++)
        *kind++ =
            (struct chess_move){0, 1, spiel_files[i % 3], (enum chess_piece)(CHESS_ROOK - i / 3)};
    for (int i = 0; i < N_WAYS * MAX_DISTANCE; i++) {
        int line = i / MAX_DISTANCE, far = i % MAX_DISTANCE + 1;

        if (is_spiel) { /* both ways along an axis, from -7 to 7 */
            line = i / (2 * MAX_DISTANCE);
            far = i % (2 * MAX_DISTANCE) - MAX_DISTANCE;
            far += far >= 0;
        } else if (code->far_first) {
            line = i % N_WAYS;
            far = i / N_WAYS + 1;
        }
        *kind++ = (struct chess_move){0, way[0][line].rows * far, way[0][line].cols * far,
                                      CHESS_NO_PIECE};
    }
    for (int i = 0; i < N_WAYS; i++)
        *kind++ = (struct chess_move){0, way[1][i].rows, way[1][i].cols, CHESS_NO_PIECE};
    for (int i = 0; i < 3 * code->n_pieces && !is_spiel; i++) {
        const int piece = code->piece_first ? i / 3 : i % code->n_pieces;
        const int step = code->piece_first ? i % 3 : i / code->n_pieces;

        *kind++ = (struct chess_move){
            0, 1, step - 1,
            (enum chess_piece)(code->queen_first ? CHESS_QUEEN - piece : CHESS_KNIGHT + piece)};
    }
    return (int)(kind - first);
}

static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    const struct chess_code *code = layout->scheme;

    (void)b;
    return code->length;
}

static void list_all(void)
{
    struct chess_move kinds[N_STEPS * N_STEPS];

    for (size_t i = 0; i < CHESS_N_LAYOUTS; i++) {
        const struct chess_code *code = chess_layouts[i]->scheme;

        if (chess_layouts[i]->length != length) /* a layout of cells */
            continue;
        struct chess_table *table = code->table;
        const int n_kinds = list_kinds(code, kinds);
        for (int k = 0; k < n_kinds * N_SQUARES; k++) {
            const int square = code->plane_first ? k % N_SQUARES : k / n_kinds;
            struct chess_move move = kinds[code->plane_first ? k / N_SQUARES : k % n_kinds];

            move.from = code->file_first ? square % 8 * 8 + square / 8 : square;
            if (!code->is_list || (target_of(&move) >= 0 &&
                                   (move.promotion == CHESS_NO_PIECE || move.from / 8 == RANK_7)))
                add(table, move);
        }
        /* lc0's: after all squares, promotions on every target to queen, rook and bishop. */
        for (int k = 0; k < 8 * 3 * 3 && code->length == 1858; k++) {
            const struct chess_move move = {RANK_7 * 8 + k / 9, 1, k / 3 % 3 - 1,
                                            (enum chess_piece)(CHESS_QUEEN - k % 3)};

            if (target_of(&move) >= 0)
                add(table, move);
        }
        for (int step = -2; step <= 2 && code->kinds == KINDS_OF_SPIEL; step += 4)
            add(table, (struct chess_move){4, 0, step, CHESS_CASTLING});
        for (uint32_t a = 0; a < table->n; a++) {
            struct chess_move move = table->moves[a];

            if (move.promotion != CHESS_CASTLING) /* which always starts from file e */
                move.from ^= 7;                   /* file a to h, b to g, ... */
            move.d_file = -move.d_file;
            table->mirrored[a] = indices[key_of(&move)];
        }
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct chess_table *table_of(const struct action_layout *layout)
{
    const struct chess_code *code = layout->scheme;

    pthread_once(&once, list_all);
    return code->table;
}

/* --- policy layouts: one for each numbering --- */

static void images(const struct action_layout *layout, const struct board *b, uint32_t t,
                   uint32_t *dst)
{
    const struct chess_table *table = table_of(layout);

    (void)b;
    for (uint32_t a = 0; a < table->n; a++)
        dst[a] = t == 0 ? a : table->mirrored[a];
}

/* A move is encodable when its target is on the board and its step is a queen's or a knight's, or,
 * for a promotion, a pawn's from rank 7. Texts: "e2e4", "a7a8=R", "a1 (-1,+0) leaves the board". */
static struct action_about about(const struct action_layout *layout, const struct board *b,
                                 uint64_t action, char *text)
{
    static const char *const promotions[] = {"", "=N", "=B", "=R", "=Q"};
    const struct chess_table *table = table_of(layout);

    (void)b;
    if (action >= table->n) {
        if (text != NULL)
            snprintf(text, ACTION_TEXT_NBYTES, "unused");
        return (struct action_about){0, -1, "unused"};
    }
    const struct chess_move move = table->moves[action];
    const char file = (char)('a' + move.from % 8), rank = (char)('1' + move.from / 8);
    const int to = target_of(&move);
    const bool is_playable = move.promotion == CHESS_NO_PIECE
                                 ? is_piece_move(move.d_rank, move.d_file)
                                 : move.from / 8 == RANK_7 && move.d_rank == 1;

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

#define LAYOUT(name_, summary_, ...)                                                 \
    &(const struct action_layout)                                                    \
    {                                                                                \
        .name = name_, .summary = summary_,                                          \
        .scheme = &(const struct chess_code){&(struct chess_table){0}, __VA_ARGS__}, \
        .length = length, .images = images, .about = about,                          \
    }

/* Of layouts with the same length, the first is the default. */
const struct action_layout *const chess_layouts[CHESS_N_LAYOUTS] = {
    LAYOUT("chess-1814", "every move of every square in turn, promotions to a queen only",
           .length = 1814, .is_list = true, .n_pieces = 1, .queen_first = true),
    LAYOUT("chess-1880", "as chess-1814, promotions to queen, rook, bishop, knight", .length = 1880,
           .is_list = true, .n_pieces = 4, .queen_first = true),
    LAYOUT("chess-1858", "lc0's: targets of every square in turn, then promotions but a knight's",
           .length = 1858, .kinds = KINDS_OF_TARGETS, .is_list = true, .n_pieces = 3),
    LAYOUT("chess-4674", "OpenSpiel's: from * 73 + kind of move, by files, then two castlings",
           .length = 4674, .kinds = KINDS_OF_SPIEL, .file_first = true),
    LAYOUT("from-to", "from * 64 + to", .length = 4096, .kinds = KINDS_OF_TARGETS, .is_list = true),
    LAYOUT("chess-4672", "from * 73 + kind of move, promotions by file step, then piece",
           .length = 4672, .n_pieces = 3),
    LAYOUT("chess-4864", "kind of move * 64 + from, promotions by file step, then piece",
           .length = 4864, .n_pieces = 4, .plane_first = true),
    &action_layout_cells,
    &action_layout_cells_pass,
    LAYOUT("chess-4672-planes", "as chess-4672, but kind of move * 64 + from", .length = 4672,
           .n_pieces = 3, .plane_first = true),
    LAYOUT("chess-4672-crazyara", "as chess-4672, promotions by piece, then file step",
           .length = 4672, .n_pieces = 3, .piece_first = true),
    LAYOUT("chess-4672-crazyara-planes", "as chess-4672-crazyara, but kind of move * 64 + from",
           .length = 4672, .n_pieces = 3, .piece_first = true, .plane_first = true),
    LAYOUT("chess-4672-pettingzoo",
           "as chess-4672, squares by file, lines by distance, steps by file", .length = 4672,
           .n_pieces = 3, .file_first = true, .far_first = true),
    LAYOUT("chess-4672-pettingzoo-planes", "as chess-4672-pettingzoo, but kind of move * 64 + from",
           .length = 4672, .n_pieces = 3, .file_first = true, .far_first = true,
           .plane_first = true),
    LAYOUT("chess-4864-squares", "as chess-4864, but from * 76 + kind of move", .length = 4864,
           .n_pieces = 4),
    LAYOUT("chess-4864-crazyara", "as chess-4864, promotions by piece, then file step",
           .length = 4864, .n_pieces = 4, .piece_first = true, .plane_first = true),
    LAYOUT("chess-4864-crazyara-squares", "as chess-4864-crazyara, but from * 76 + kind of move",
           .length = 4864, .n_pieces = 4, .piece_first = true),
};
