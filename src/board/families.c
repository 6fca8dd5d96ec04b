/*
 * families.c - the families of boards and how their boards are built. In a box, a transform is a
 * 2 x 2 matrix, after which the cells are moved back onto the board, and edges are steps to
 * neighbours. Both come from tables; no map is typed in.
 *
 * Each family is a table at the end of this file, except for boards from a file: see custom.c.
 */
#include "board/families.h"

#include "base/perm.h"
#include "base/text.h"

int board_alloc_cells(struct board *b, uint32_t n_cells, uint32_t n_transforms, struct error *err)
{
    b->n_cells = b->n_on_board = n_cells;
    b->n_transforms = n_transforms;
    if (new_items(&b->on_board, n_cells, "cells of a board", err) != 0 ||
        new_items(&b->transforms, BOARD_MAX_TRANSFORMS + 2, "cells of a board", err) != 0)
        return -1;
    memset(b->on_board, 1, n_cells);
    for (uint32_t t = 0; t < n_transforms; t++)
        if (board_alloc_maps(b, t, err) != 0)
            return -1;
    return 0;
}

int board_alloc_maps(const struct board *b, uint32_t t, struct error *err)
{
    struct board_transform *one = &b->transforms[t];

    free(one->dst);
    one->dst = malloc(board_maps_nbytes(b));
    if (one->dst == NULL)
        return error_no_memory(err, "transforms of a board");
    one->planes = b->n_planes > 0 ? one->dst + b->n_cells : NULL;
    one->actions = b->n_actions > 0 ? one->dst + b->n_cells + b->n_planes : NULL;
    one->numbers = b->n_numbers > 0 ? one->dst + b->n_cells + b->n_planes + b->n_actions : NULL;
    perm_set_identity(one->dst, b->n_cells);
    perm_set_identity(one->planes, b->n_planes);
    perm_set_identity(one->actions, b->n_actions);
    perm_set_identity(one->numbers, b->n_numbers);
    return 0;
}

void board_release_transform(struct board_transform *t)
{
    free(t->name);
    free(t->dst);
    *t = (struct board_transform){0};
}

int board_set_text(char **owned, struct error *err, const char *format, ...)
{
    char *text;
    va_list args;

    va_start(args, format);
    const int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return error_no_memory(err, "text of a board");
    free(*owned);
    *owned = text;
    return 0;
}

/* --- boxes --- */

/* The step from cell (0,0) to a cell. */
static struct board_step step_to(const struct board *b, uint32_t cell)
{
    return (struct board_step){(int)(cell / b->cols), (int)(cell % b->cols)};
}

bool board_turn_cells(const struct board *b, const struct board_turn *turn, uint32_t *dst)
{
    struct board_step low = {INT32_MAX, INT32_MAX}, from = low;

    if (b->rows == 0)
        return false;
    for (uint32_t i = 0; i < b->n_cells; i++) {
        const struct board_step at = step_to(b, i), to = board_turned(turn, at);

        if (!b->on_board[i])
            continue;
        low.rows = to.rows < low.rows ? to.rows : low.rows;
        low.cols = to.cols < low.cols ? to.cols : low.cols;
        from.rows = at.rows < from.rows ? at.rows : from.rows;
        from.cols = at.cols < from.cols ? at.cols : from.cols;
    }
    perm_set_identity(dst, b->n_cells);
    for (uint32_t i = 0; i < b->n_cells; i++) {
        const struct board_step to = board_turned(turn, step_to(b, i));
        const int row = to.rows - low.rows + from.rows, col = to.cols - low.cols + from.cols;

        if (!b->on_board[i])
            continue;
        if (row >= (int)b->rows || col >= (int)b->cols || !b->on_board[row * (int)b->cols + col])
            return false;
        dst[i] = (uint32_t)(row * (int)b->cols + col);
    }
    return true;
}

/* Make the cells, transforms and edges of a board whose rows and cols are set. */
static int fill_box(struct board *b, struct error *err)
{
    const struct board_box *box = b->family->box;
    const uint32_t cols = b->cols;

    if (board_alloc_cells(b, b->rows * cols, box->n_elements, err) != 0)
        return -1;
    for (uint32_t cell = 0; cell < b->n_cells && box->is_hexagon; cell++) {
        b->on_board[cell] =
            abs((int)(cell / cols + cell % cols) - 2 * (int)b->size) <= (int)b->size;
        b->n_on_board -= !b->on_board[cell];
    }
    for (uint32_t t = 0; t < box->n_elements; t++) {
        if (board_set_text(&b->transforms[t].name, err, "%s", box->elements[t].name) != 0)
            return -1;
        b->transforms[t].swaps_colours = box->elements[t].swaps_colours;
        board_turn_cells(b, &box->elements[t].turn, b->transforms[t].dst);
    }
    if (new_items(&b->edges, (size_t)box->n_steps * b->n_cells + 1, "edges of a board", err) != 0)
        return -1;
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        for (uint32_t s = 0; s < box->n_steps && b->on_board[cell]; s++) {
            const uint32_t to = board_cell_after(b, cell, box->steps[s], 1);

            if (to == BOARD_NO_CELL)
                continue;
            b->edges[b->n_edges][0] = cell;
            b->edges[b->n_edges++][1] = to;
        }
    }
    return 0;
}

/* Parse n_digits digits, a number that is too large as UINT32_MAX. False when they are not a
 * number.
 */
static bool parse_side(const char *digits, size_t n_digits, uint32_t *side)
{
    uint64_t n;
    const bool fits = text_parse_digits(digits, n_digits, &n) == 0 && n <= UINT32_MAX;

    *side = fits ? (uint32_t)n : UINT32_MAX;
    return n_digits > 0 && strspn(digits, "0123456789") >= n_digits;
}

#define GAME_NAME(id, form, what) " " #id

/* Read the size after "NAME:" and set rows, cols, and size where it is one number. */
static int parse_size(struct board *b, const char *size, struct error *err)
{
    const struct board_family *family = b->family;
    const struct board_box *box = family->box;
    const char *cross = size != NULL ? strchr(size, 'x') : NULL;

    if (size == NULL || *size == '\0')
        return error_set(err, ERROR_USAGE, "board %s %s %s, such as %s", family->name,
                         family->only_known_members
                             ? "takes its size from the shard: without one write"
                             : "needs a size:",
                         family->syntax, family->example);
    if (box->max_size > 0 ? !parse_side(size, strlen(size), &b->size)
                          : cross == NULL || !parse_side(size, (size_t)(cross - size), &b->rows) ||
                                !parse_side(cross + 1, strlen(cross + 1), &b->cols))
        return error_set(err, ERROR_USAGE, "board %s: %s is not a size: write %s, such as %s%s",
                         family->name, text_quote(size).text, family->syntax, family->example,
                         family->only_known_members
                             ? "; of KataGomo's games these are known:" KATAGOMO_GAMES(GAME_NAME)
                             : "");
    if (box->max_size > 0 && (b->size < box->min_rows || b->size > box->max_size))
        return error_set(err, ERROR_USAGE, "board %s: the size is %u to %u, not %s", family->syntax,
                         box->min_rows, box->max_size, text_quote(size).text);
    if (box->max_size == 0 && (b->rows < box->min_rows || b->cols < box->min_cols ||
                               (uint64_t)b->rows * b->cols > BOARD_MAX_CELLS))
        return error_set(err, ERROR_USAGE,
                         "board %s: a box has at least %u row%s and %u columns, and at most %d "
                         "cells, not %s",
                         family->syntax, box->min_rows, box->min_rows == 1 ? "" : "s",
                         box->min_cols, BOARD_MAX_CELLS, text_quote(size).text);
    return 0;
}

static const struct board_step to_four[2] = {{0, 1}, {1, 0}};
static const struct board_step to_six[3] = {{0, 1}, {1, -1}, {1, 0}};
static const struct board_step to_eight[4] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

/* clang-format off */
/* Elements of several boxes. */
#define IDENTITY          {"identity", {1, 0, 0, 1}, false}
#define ROTATE_180        {"rotate-180", {-1, 0, 0, -1}, false}
#define MIRROR_LEFT_RIGHT {"mirror-left-right", {1, 0, 0, -1}, false}
#define MIRROR_UP_DOWN    {"mirror-up-down", {-1, 0, 0, 1}, false}
#define TRANSPOSE         {"transpose", {0, 1, 1, 0}, false}
#define ANTI_TRANSPOSE    {"anti-transpose", {0, -1, -1, 0}, false}

const struct board_box board_box_square = {
    {IDENTITY, {"rotate-90", {0, 1, -1, 0}, false}, ROTATE_180, {"rotate-270", {0, -1, 1, 0}, false},
     MIRROR_LEFT_RIGHT, MIRROR_UP_DOWN, TRANSPOSE, ANTI_TRANSPOSE},
    8, to_four, 2, 2, 0, 256, false};

/* In axial coordinates, q to the right and r down, ids 0-5 are that many turns of 60 degrees,
 * (q, r) to (-r, q + r); ids 6-11 are the same, then q and r exchanged. */
const struct board_box board_box_hexagon = {
    {IDENTITY, {"rotate-60", {1, 1, -1, 0}, false}, {"rotate-120", {0, 1, -1, -1}, false},
     ROTATE_180, {"rotate-240", {-1, -1, 1, 0}, false}, {"rotate-300", {0, -1, 1, 1}, false},
     {"reflect-0", {0, 1, 1, 0}, false}, {"reflect-1", {-1, 0, 1, 1}, false},
     {"reflect-2", {-1, -1, 0, 1}, false}, {"reflect-3", {0, -1, -1, 0}, false},
     {"reflect-4", {1, 0, -1, -1}, false}, {"reflect-5", {1, 1, 0, -1}, false}},
    12, to_six, 3, 1, 0, 127, true};

/* A reflection exchanges the players' goal edges, so it must exchange the colours too. */
static const struct board_box box_rhombus = {
    {IDENTITY, ROTATE_180, {"long-diagonal-swap", {0, 1, 1, 0}, true},
     {"short-diagonal-swap", {0, -1, -1, 0}, true}}, 4, to_six, 3, 2, 0, 256, false};

static const struct board_box box_grid = {
    {IDENTITY, ROTATE_180, MIRROR_LEFT_RIGHT, MIRROR_UP_DOWN}, 4, to_four, 2, 2, 2, 0, false};
static const struct board_box box_mirror = {
    {IDENTITY, MIRROR_LEFT_RIGHT}, 2, to_four, 2, 1, 2, 0, false};

/* The first player moves down to the last row, the second up to the first: what turns the board
 * upside down must exchange the colours too. */
static const struct board_box box_breakthrough = {
    {IDENTITY, {"rotate-180-swap", {-1, 0, 0, -1}, true}, MIRROR_LEFT_RIGHT,
     {"mirror-up-down-swap", {-1, 0, 0, 1}, true}}, 4, to_eight, 4, 2, 2, 0, false};

/* KataGomo's Hex writes each position from the side of the player to move, White's transposed, so
 * that this player always joins the same two edges. A reflection with an exchange of colours
 * therefore moves cells as the identity or half turn does and changes only whose turn it is, which
 * a global input tells (selfTransposeNCHW in cpp/dataio/trainingwrite.cpp and rowGlobal[0] in
 * cpp/neuralnet/nninputs.cpp, from KataHex of 2022 to Hex2026). */
static const struct board_box box_katago_hex = {
    {IDENTITY, ROTATE_180, {"long-diagonal-swap", {1, 0, 0, 1}, true},
     {"short-diagonal-swap", {-1, 0, 0, -1}, true}}, 4, to_six, 3, 2, 0, 256, false};

/* Go on the cells of a rhombus: edges belong to nobody. */
static const struct board_box box_katago_hexgo = {
    {IDENTITY, ROTATE_180, TRANSPOSE, ANTI_TRANSPOSE}, 4, to_six, 3, 2, 0, 256, false};

/* Games in which pieces move up, down or drop. White's rows may be stored upside down, which does
 * not affect a left-right mirror ("only X-axis symmetry, and flip Y-axis when playing white",
 * README of KataGomo). */
static const struct board_box box_katago_mirror = {
    {IDENTITY, MIRROR_LEFT_RIGHT}, 2, to_four, 2, 2, 0, 256, false};
/* clang-format on */

/* --- Take It Easy: the on-board cells of a hexagon of radius 2, numbered row by row, without the
 * box. A tile has a number for each of three directions, so most transforms keep the score only if
 * the tiles turn with the board --- */

#define TILES_SIDE 5 /* of the hexagon's box: lines of each number */

/* Turn a hexagon in its box into the board without a box, and add lines and numbers. Number k of a
 * tile belongs to the line through its cell along the k-th step to neighbours. */
static int make_tiles(struct board *b, struct error *err)
{
    uint32_t cells[TILES_SIDE * TILES_SIDE] = {0}, n = 0;

    if (new_items(&b->line_cells, BOARD_N_NUMBERS * b->n_on_board, "lines of a board", err) != 0 ||
        new_items(&b->line_start, BOARD_N_NUMBERS * TILES_SIDE + 1, "lines of a board", err) != 0)
        return -1;
    for (uint32_t place = 0; place < b->n_cells; place++)
        if (b->on_board[place])
            cells[place] = n++;
    n = 0;
    for (uint32_t line = 0; line < BOARD_N_NUMBERS * TILES_SIDE; line++) {
        for (uint32_t place = 0; place < b->n_cells; place++) {
            const uint32_t row = place / TILES_SIDE, col = place % TILES_SIDE;
            const uint32_t along[BOARD_N_NUMBERS] = {row, row + col - b->size, col};

            if (b->on_board[place] && along[line / TILES_SIDE] == line % TILES_SIDE)
                b->line_cells[n++] = cells[place];
        }
        b->line_start[++b->n_lines] = n;
    }
    for (uint32_t i = 0; i < 2 * b->n_edges; i++)
        b->edges[i / 2][i % 2] = cells[b->edges[i / 2][i % 2]];
    for (uint32_t t = 0; t < b->n_transforms; t++) {
        struct board_transform *one = &b->transforms[t];

        for (uint32_t place = 0; place < b->n_cells; place++)
            if (b->on_board[place])
                one->dst[cells[place]] = cells[one->dst[place]];
        one->numbers = one->dst + b->n_on_board; /* the corners of the box leave room for them */
        for (uint32_t k = 0; k < BOARD_N_NUMBERS; k++) {
            const struct board_step to = board_turned(&b->family->box->elements[t].turn, to_six[k]);

            for (uint32_t i = 0; i < BOARD_N_NUMBERS; i++)
                if (to.rows * to_six[i].cols == to.cols * to_six[i].rows) /* parallel */
                    one->numbers[k] = i;
        }
    }
    b->n_numbers = BOARD_N_NUMBERS;
    b->n_cells = b->n_on_board;
    b->rows = b->cols = b->size = 0;
    memset(b->on_board, 1, b->n_cells);
    return 0;
}

int board_build_box(struct board *b, const char *size, struct error *err)
{
    const struct board_family *family = b->family;
    int status;

    b->size = family->fixed_size;
    if (b->size == 0 && parse_size(b, size, err) != 0)
        return -1;
    if (b->size > 0)
        b->rows = b->cols = family->box->is_hexagon ? 2 * b->size + 1 : b->size;
    if (family->fixed_size > 0)
        status = board_set_text(&b->name, err, "%s", family->name);
    else if (b->size > 0)
        status = board_set_text(&b->name, err, "%s:%u", family->name, b->size);
    else
        status = board_set_text(&b->name, err, "%s:%ux%u", family->name, b->rows, b->cols);
    if (status != 0 || fill_box(b, err) != 0)
        return -1;
    return family->has_tiles ? make_tiles(b, err) : 0;
}

/* The row * 5 + col of every cell in a plane of 5 x 5; six places are unused. */
static const uint8_t grid_cells[19] = {
    5, 10, 15, 6, 11, 16, 21, 2, 7, 12, 17, 22, 8, 13, 18, 23, 9, 14, 19,
};

/* --- the families --- */

#define NAMED(name_, size, summary_, example_) \
    .name = name_, .syntax = name_ size, .summary = summary_, .example = example_

/* 25 planes: 12 of pieces, 4 of castling rights, occupancy, checkers, material. */
const struct board_castling board_castling_usual = {25, {12, 13, 14, 15}};

const struct board_family board_family_hexagon = {
    NAMED("hexagon", ":R",
          "a hexagon of radius R (side R + 1) in a box of side 2R + 1, 12 transforms", "hexagon:3"),
    .box = &board_box_hexagon,
    BOARD_LAYOUTS(&action_layout_cells_box, &action_layout_cells_board,
                  &action_layout_cells_box_pass, &action_layout_cells_board_pass,
                  &action_layout_ringrift_hexagon),
    .guess_rank = 3,
    .lead = BOARD_LEAD_FREE,
    .game = BOARD_GAME_RINGS,
    .stack_planes = {40, 64},
};

const struct board_family board_family_square = {
    NAMED("square", ":N",
          "N x N cells, 8 transforms: rotations and mirrors (Go, Gomoku, Othello, TicTacToe)",
          "square:5"),
    .box = &board_box_square,
    BOARD_LAYOUTS(BOARD_CELLS, &action_layout_ringrift_square),
    .guess_rank = 1,
    .lead = BOARD_LEAD_FREE,
    .xy_layout = &action_layout_ringrift_square,
    .game = BOARD_GAME_LINE,
    .stack_planes = {56},
};

/* Guessed with the planes of stones, with the player to move added, or with OpenSpiel's. */
const struct board_family board_family_rhombus = {
    NAMED("rhombus", ":N",
          "the game of Hex on N x N cells, 4 transforms, two of which swap colours", "rhombus:5"),
    .box = &box_rhombus,
    BOARD_LAYOUTS(BOARD_CELLS),
    .guess_rank = 2,
    .guess_planes = {2, 3, 9},
    .lead = BOARD_LEAD_TO_MOVE,
    .joins_edges = true,
    .game = BOARD_GAME_HEX,
};

const struct board_family board_family_grid = {
    NAMED("grid", ":HxW", "a rectangle of H x W cells, 4 transforms, also when H = W", "grid:3x5"),
    .box = &box_grid,
    BOARD_LAYOUTS(BOARD_CELLS),
    .guess_rank = 2,
    .lead = BOARD_LEAD_FREE,
};

const struct board_family board_family_mirror = {
    NAMED("mirror", ":HxW", "H x W cells with the left-right mirror only, 2 transforms (Connect 4)",
          "mirror:6x7"),
    .box = &box_mirror,
    BOARD_LAYOUTS(BOARD_CELLS, &action_layout_columns),
    .guess_rank = 1,
    .lead = BOARD_LEAD_FREE,
    .game = BOARD_GAME_DROP,
};

const struct board_family board_family_chess = {
    NAMED("chess", "", "chess with its left-right mirror, an approximation because of castling",
          "chess"),
    .box = &box_mirror,
    .fixed_size = 8,
    .layouts = chess_layouts,
    .n_layouts = CHESS_N_LAYOUTS,
    .castling = &board_castling_usual,
    .game = BOARD_GAME_CHESS,
    .men = "PNBRQK",
    .bottom_up = true,
};

const struct board_family board_family_breakthrough = {
    NAMED("breakthrough", ":HxW",
          "Breakthrough on H x W squares, 4 transforms, two of which swap colours",
          "breakthrough:8x8"),
    .box = &box_breakthrough,
    BOARD_LAYOUTS(&action_layout_breakthrough, BOARD_CELLS),
    .lead = BOARD_LEAD_FREE,
    .game = BOARD_GAME_MOVES,
};

const struct board_family board_family_takeiteasy = {
    NAMED("takeiteasy", "",
          "Take It Easy, 19 cells, 12 transforms; 2 of them when the tiles stay as they are",
          "takeiteasy"),
    .box = &board_box_hexagon,
    .fixed_size = TILES_SIDE / 2,
    BOARD_LAYOUTS(&action_layout_cells),
    .grid_side = TILES_SIDE,
    .grid_cells = grid_cells,
    .has_tiles = true,
    .game = BOARD_GAME_TILES,
};

/* What boards of KataGo's shards have in common; their policies end in a pass. */
#define OF_KATAGO                                                                               \
    BOARD_LAYOUTS(&action_layout_cells_pass, &action_layout_cells), .only_known_members = true, \
                                                                    .packed_stones = 1

const struct board_family board_family_katago = {
    NAMED("katago", ":L",
          "KataGo training shards, L x L cells, 8 transforms; L is read from the shard",
          "katago:5"),
    .box = &board_box_square,
    .game = BOARD_GAME_KATAGO,
    OF_KATAGO,
};

/* The games in the table of KataGomo's README in which a move is one cell. Each group holds for the
 * rows of both players, which some branches turn. */
#define OF_KATAGOMO(id, form, what)                                                   \
    const struct board_family board_family_katago_##id = {                            \
        NAMED("katago:" #id, ":L", "shards of KataGomo's " what, "katago:" #id ":5"), \
        .box = &form,                                                                 \
        .game = BOARD_GAME_KATAGOMO,                                                  \
        OF_KATAGO,                                                                    \
    };
KATAGOMO_GAMES(OF_KATAGOMO)
