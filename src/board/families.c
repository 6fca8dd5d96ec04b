/*
 * families.c - what build functions are made of: sizes in names, memory, names, and boards in a
 * box. There a transform is a 2 x 2 matrix about the centre of the box, and edges are steps to
 * neighbours; both come from tables of the family, so that no map is typed in. Coordinates are
 * doubled, because the centre of a box of even side lies between cells.
 */
#include "board/families.h"

#include "base/bytes.h"
#include "base/perm.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct board_step board_steps_orthogonal[2] = {{0, 1}, {1, 0}};

int board_alloc_transforms(struct board *b, uint32_t n_cells, uint32_t n_transforms,
                           uint32_t n_room, struct error *err)
{
    if (n_cells == 0 || n_cells > BOARD_MAX_CELLS)
        return error_set(err, ERROR_USAGE, "a board has 1 to %d cells, not %u", BOARD_MAX_CELLS,
                         n_cells);
    if (n_transforms == 0 || n_transforms > BOARD_MAX_TRANSFORMS)
        return error_set(err, ERROR_DATA, "a board has 1 to %d transforms, not %u",
                         BOARD_MAX_TRANSFORMS, n_transforms);
    b->n_cells = n_cells;
    b->n_on_board = n_cells;
    b->on_board = malloc(n_cells);
    b->transforms = calloc(n_room, sizeof *b->transforms);
    if (b->on_board == NULL || b->transforms == NULL)
        return error_no_memory(err, "cells of a board");
    memset(b->on_board, 1, n_cells);
    b->n_transforms = n_transforms;
    for (uint32_t t = 0; t < n_room; t++)
        for (uint8_t k = 0; k < 3; k++)
            b->transforms[t].number_src[k] = k;
    for (uint32_t t = 0; t < n_transforms; t++) {
        b->transforms[t].dst = malloc(n_cells * sizeof(uint32_t));
        if (b->transforms[t].dst == NULL)
            return error_no_memory(err, "transforms of a board");
        perm_set_identity(b->transforms[t].dst, n_cells);
    }
    return 0;
}

int board_alloc_cells(struct board *b, uint32_t n_cells, uint32_t n_transforms, struct error *err)
{
    return board_alloc_transforms(b, n_cells, n_transforms, n_transforms, err);
}

void board_release_transform(struct board_transform *t)
{
    free(t->name);
    free(t->dst);
    free(t->src);
    free(t->planes);
    free(t->actions);
}

void board_remove_transform(struct board *b, uint32_t t)
{
    struct board_transform *at = &b->transforms[t];

    board_release_transform(at);
    b->n_transforms--;
    memmove(at, at + 1, (b->n_transforms - t) * sizeof *at);
    b->transforms[b->n_transforms] = (struct board_transform){0};
}

int board_set_name(struct board *b, struct error *err, const char *format, ...)
{
    va_list args;
    char *name = NULL;
    int n;

    va_start(args, format);
    n = vasprintf(&name, format, args);
    va_end(args);
    if (n < 0)
        return error_no_memory(err, "board name");
    free(b->name);
    b->name = name;
    return 0;
}

int board_set_transform_name(struct board *b, uint32_t t, const char *name, struct error *err)
{
    char *copy = strdup(name);

    if (copy == NULL)
        return error_no_memory(err, "transform name");
    free(b->transforms[t].name);
    b->transforms[t].name = copy;
    return 0;
}

int board_set_default_ids(struct board *b, const uint8_t *ids, uint32_t n_ids, struct error *err)
{
    uint8_t *copy = malloc(n_ids);

    if (copy == NULL)
        return error_no_memory(err, "default transforms");
    memcpy(copy, ids, n_ids);
    free(b->default_ids);
    b->default_ids = copy;
    b->n_default_ids = n_ids;
    return 0;
}

/* The cell that an on-board cell goes to; doubled, the centre of a box of even side is a whole
 * number too. */
static uint32_t image(const struct board *b, const struct board_turn *turn, uint32_t cell)
{
    const int last_row = (int)b->rows - 1, last_col = (int)b->cols - 1;
    const int y = 2 * (int)(cell / b->cols) - last_row, x = 2 * (int)(cell % b->cols) - last_col;
    const int row = (turn->rr * y + turn->rc * x + last_row) / 2;
    const int col = (turn->cr * y + turn->cc * x + last_col) / 2;

    return (uint32_t)(row * (last_col + 1) + col);
}

/* The on-board cell one step away from an on-board cell, or -1. */
static int64_t neighbour(const struct board *b, uint32_t cell, const struct board_step *step)
{
    const int64_t row = (int64_t)(cell / b->cols) + step->rows;
    const int64_t col = (int64_t)(cell % b->cols) + step->cols;

    if (!b->on_board[cell] || row < 0 || row >= b->rows || col < 0 || col >= b->cols)
        return -1;
    return b->on_board[row * b->cols + col] ? row * b->cols + col : -1;
}

int board_build_box(struct board *b, uint32_t rows, uint32_t cols, const struct board_box *box,
                    struct error *err)
{
    b->rows = rows;
    b->cols = cols;
    if (board_alloc_cells(b, rows * cols, box->n_elements, err) != 0)
        return -1;
    for (uint32_t cell = 0; cell < b->n_cells && box->is_on_board != NULL; cell++) {
        b->on_board[cell] = box->is_on_board(b, (int)(cell / cols), (int)(cell % cols));
        b->n_on_board -= !b->on_board[cell];
    }
    for (uint32_t t = 0; t < box->n_elements; t++) {
        if (board_set_transform_name(b, t, box->elements[t].name, err) != 0)
            return -1;
        b->transforms[t].swaps_colours = box->elements[t].swaps_colours;
        for (uint32_t cell = 0; cell < b->n_cells; cell++)
            if (b->on_board[cell])
                b->transforms[t].dst[cell] = image(b, &box->elements[t].turn, cell);
    }
    b->edges = malloc(((size_t)box->n_steps * b->n_cells + 1) * sizeof *b->edges);
    if (b->edges == NULL)
        return error_no_memory(err, "edges of a board");
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        for (uint32_t s = 0; s < box->n_steps; s++) {
            const int64_t to = neighbour(b, cell, &box->steps[s]);

            if (to < 0)
                continue;
            b->edges[b->n_edges][0] = cell;
            b->edges[b->n_edges++][1] = (uint32_t)to;
        }
    }
    return 0;
}

void board_cell_text(const struct board *b, uint32_t cell, char *text, size_t n_bytes)
{
    if (b->cols == 0)
        snprintf(text, n_bytes, "cell %u", cell);
    else
        snprintf(text, n_bytes, "(%u,%u)", cell / b->cols, cell % b->cols);
}

/* --- sizes --- */

int board_parse_nothing(const struct board *b, const char *size, struct error *err)
{
    if (size == NULL)
        return 0;
    return error_set(err, ERROR_USAGE, "board %s has no size, not %s", b->family->name,
                     text_quote(size).text);
}

/* Parse n_digits digits, what is too large as UINT32_MAX; -1 when they are not a number. */
static int parse_side(const char *digits, size_t n_digits, uint32_t *side)
{
    char copy[24];
    uint64_t n;

    if (n_digits == 0 || strspn(digits, "0123456789") < n_digits)
        return -1;
    snprintf(copy, sizeof copy, "%.*s", (int)(n_digits < 20 ? n_digits : 20), digits);
    *side = text_parse_u64(copy, &n) != 0 || n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return 0;
}

int board_build_sized(struct board *b, const char *size, struct error *err)
{
    const struct board_box *box = b->family->box;
    const char *cross = size != NULL ? strchr(size, 'x') : NULL;
    uint32_t rows, cols;

    if (size == NULL || *size == '\0')
        return error_set(err, ERROR_USAGE, "board %s needs a size: %s, such as %s", b->family->name,
                         b->family->syntax, b->family->example);
    if (box->max_size > 0) {
        if (parse_side(size, strlen(size), &b->size) != 0)
            goto bad;
        if (b->size < box->min_rows || b->size > box->max_size)
            return error_set(err, ERROR_USAGE, "board %s: the size is %u to %u, not %s",
                             b->family->syntax, box->min_rows, box->max_size,
                             text_quote(size).text);
        rows = cols = box->is_on_board != NULL ? 2 * b->size + 1 : b->size;
        if (board_set_name(b, err, "%s:%u", b->family->name, b->size) != 0)
            return -1;
    } else {
        if (cross == NULL || parse_side(size, (size_t)(cross - size), &rows) != 0 ||
            parse_side(cross + 1, strlen(cross + 1), &cols) != 0)
            goto bad;
        if (rows < box->min_rows || cols < box->min_cols || (uint64_t)rows * cols > BOARD_MAX_CELLS)
            return error_set(err, ERROR_USAGE,
                             "board %s: a box has at least %u row%s and %u columns, and at most %d "
                             "cells, not %s",
                             b->family->syntax, box->min_rows, box->min_rows == 1 ? "" : "s",
                             box->min_cols, BOARD_MAX_CELLS, text_quote(size).text);
        if (board_set_name(b, err, "%s:%ux%u", b->family->name, rows, cols) != 0)
            return -1;
    }
    return board_build_box(b, rows, cols, box, err);
bad:
    return error_set(err, ERROR_USAGE, "board %s: %s is not a size: write %s, such as %s",
                     b->family->name, text_quote(size).text, b->family->syntax, b->family->example);
}
