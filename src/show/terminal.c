/*
 * terminal.c - a contact sheet as lines of text. Each picture becomes a block of lines (heading,
 * board, captions wrapped between words), and as many blocks as the terminal is wide are written
 * side by side. A cell takes two or four columns; its first one may mark a corner or a difference.
 * Colours and Unicode are used as the style says, and letters stand for both.
 */
#include "show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BODY 32

struct writing {
    const struct sheet *sheet;
    const struct terminal_style *style;
    struct error *err;
    size_t width; /* of a picture */
};

/* What a cell's text starts with. */
enum corner { CORNER_NONE, CORNER_FIRST, CORNER_SECOND };

static const char *red(const struct writing *w)
{
    return w->style->colours ? "\033[1;31m" : "";
}

static const char *bold(const struct writing *w)
{
    return w->style->colours ? "\033[1m" : "";
}

static const char *plain(const struct writing *w)
{
    return w->style->colours ? "\033[0m" : "";
}

static size_t width_of(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++) {
        if (*text == '\033')
            text += strcspn(text, "m");
        else if (((unsigned char)*text & 0xc0) != 0x80)
            n++;
    }
    return n;
}

static size_t cell_width(const struct writing *w)
{
    bool wide = stones_are_stacks(&w->sheet->plan) || w->sheet->plan.board->family->has_tiles;

    for (size_t k = 0; k < w->sheet->n_pictures && !wide; k++)
        for (uint32_t i = 0; i < w->sheet->plan.board->n_cells && !wide; i++)
            wide = w->sheet->pictures[k].cells[i].piece == PICTURE_NUMBER;
    return wide ? 4 : 2;
}

/* --- what stands on a cell --- */

static const char *stone_of(const struct writing *w, enum picture_side side)
{
    static const char *const discs[] = {"●", "○", "◍", " "}, *const letters[] = {"X", "O", "%",
                                                                                 " "};
    const bool is_hex = stones_style_of(&w->sheet->plan) == STONES_BLUE_RED;

    if (!w->style->unicode)
        return letters[side];
    return discs[is_hex && w->style->colours && side == SIDE_SECOND ? SIDE_FIRST : side];
}

static const char *man_of(const struct writing *w, const struct picture_cell *cell, char letter[2])
{
    static const char order[] = "KQRBNP";
    static const char *const own[] = {"♔", "♕", "♖", "♗", "♘", "♙"};
    static const char *const theirs[] = {"♚", "♛", "♜", "♝", "♞", "♟"};
    const char *at = strchr(order, cell->man);

    if (w->style->unicode && at != NULL)
        return cell->side == SIDE_FIRST ? own[at - order] : theirs[at - order];
    letter[0] = (char)(cell->side == SIDE_FIRST ? cell->man : cell->man - 'A' + 'a');
    letter[1] = '\0';
    return letter;
}

static char heat_digit(const struct writing *w, double share)
{
    const double part = w->sheet->most_share > 0 ? 9 * share / w->sheet->most_share : 0;

    return (char)('0' + (int)(part + 0.5));
}

/* Background for a share: light to dark orange. */
static const char *heat_colour(const struct writing *w, const struct picture_cell *cell)
{
    static const char *const steps[] = {"",
                                        "\033[48;5;230m\033[30m",
                                        "\033[48;5;229m\033[30m",
                                        "\033[48;5;222m\033[30m",
                                        "\033[48;5;215m\033[30m",
                                        "\033[48;5;208m\033[30m"};
    const int digit = heat_digit(w, cell->share) - '0';

    return steps[(digit + 1) / 2];
}

static const char *side_colour(const struct writing *w, enum picture_side side)
{
    if (stones_style_of(&w->sheet->plan) != STONES_BLUE_RED || side > SIDE_SECOND)
        return "";
    return side == SIDE_FIRST ? "\033[1;34m" : "\033[1;31m";
}

/* signs: of the first side and of the second, then letters for them. */
static const char *sign_of(const struct writing *w, enum picture_side side,
                           const char *const *signs)
{
    return signs[(side == SIDE_FIRST ? 0 : 1) + (w->style->unicode ? 0 : 2)];
}

static void write_body(const struct writing *w, const struct picture_cell *cell,
                       char body[MAX_BODY])
{
    static const char *const markers[] = {"•", "◦", "x", "o"};
    static const char *const territories[] = {"■", "□", "#", "="};
    const char *empty = w->style->unicode ? "·" : ".";
    const char digit = heat_digit(w, cell->share);
    char letter[2];

    switch (cell->piece) {
    case PICTURE_STONE:
        snprintf(body, MAX_BODY, cell->number > 0 ? "%s%d" : "%s", stone_of(w, cell->side),
                 (int)cell->number);
        break;
    case PICTURE_MARKER:
        snprintf(body, MAX_BODY, "%s", sign_of(w, cell->side, markers));
        break;
    case PICTURE_TERRITORY:
        snprintf(body, MAX_BODY, "%s", sign_of(w, cell->side, territories));
        break;
    case PICTURE_MAN:
        snprintf(body, MAX_BODY, "%s", man_of(w, cell, letter));
        break;
    case PICTURE_TILE:
    case PICTURE_NUMBER:
        snprintf(body, MAX_BODY, "%d", (int)cell->number);
        break;
    default:
        if (cell->is_marked)
            snprintf(body, MAX_BODY, "+");
        else if (digit > '0')
            snprintf(body, MAX_BODY, "%c", digit);
        else
            snprintf(body, MAX_BODY, "%s", empty);
    }
}

static int put_cell(const struct writing *w, const struct picture_cell *cell, enum corner corner,
                    struct text *out)
{
    static const char corners[] = {' ', 'F', 'f'};
    const size_t width = cell_width(w) - 1;
    const char *before = cell->differs ? red(w) : "";
    const char *side = w->style->colours ? side_colour(w, cell->side) : "";
    const char *heat = w->style->colours ? heat_colour(w, cell) : "";
    char body[MAX_BODY];
    size_t n;

    write_body(w, cell, body);
    n = width_of(body);
    return text_append(out, w->err, "%s%c%s%s%s%s%s%*s", before,
                       cell->differs ? '!' : corners[corner], *before != '\0' ? plain(w) : "", side,
                       heat, body, *side != '\0' || *heat != '\0' ? plain(w) : "",
                       (int)(n < width ? width - n : 0), "");
}

/* --- boards side by side --- */

#define GAP         3
#define LEAST_WIDTH 24 /* of a picture: headings and captions are wrapped */
#define MOST_LEGEND 100

/* One picture as lines of text, all but the last ones equally wide. */
struct block {
    struct text *lines; /* owned */
    size_t n, capacity;
};

static struct text *add_line(struct block *block, struct error *err)
{
    if (block->n == block->capacity) {
        const size_t capacity = 2 * block->capacity + 16;
        struct text *grown = realloc(block->lines, capacity * sizeof *grown);

        if (grown == NULL) {
            error_no_memory(err, "lines of a picture");
            return NULL;
        }
        block->lines = grown;
        block->capacity = capacity;
    }
    block->lines[block->n] = (struct text){0};
    return &block->lines[block->n++];
}

static void release_block(struct block *block)
{
    for (size_t i = 0; i < block->n; i++)
        text_release(&block->lines[i]);
    free(block->lines);
    *block = (struct block){0};
}

/* --- words --- */

/* The bytes of the next line of at most `width` columns, cut between words where there are any;
 * *skipped is the space behind it. */
static size_t next_line(const char *text, size_t width, size_t *skipped)
{
    size_t n_columns = 0, n = 0, last_space = 0;

    *skipped = 0;
    while (text[n] != '\0' && text[n] != '\n') {
        if (((unsigned char)text[n] & 0xc0) != 0x80 && n_columns++ == width)
            break;
        if (text[n] == ' ')
            last_space = n;
        n++;
    }
    if (text[n] == '\0' || text[n] == '\n' || text[n] == ' ') {
        *skipped = text[n] != '\0';
        return n;
    }
    *skipped = last_space > 0;
    return last_space > 0 ? last_space : n;
}

/* before, after: sequences for colours. */
static int add_words(const struct writing *w, const char *text, const char *before,
                     const char *after, struct block *block)
{
    while (text != NULL && *text != '\0') {
        size_t skipped;
        const size_t n = next_line(text, w->width, &skipped);
        struct text *line = add_line(block, w->err);

        if (line == NULL || text_append(line, w->err, "%s%.*s%s", before, (int)n, text, after) != 0)
            return -1;
        text += n + skipped;
    }
    return 0;
}

/* --- boards --- */

/* A cell, or a piece of a side of a board of Hex. */
struct placed {
    struct shape_place place;
    uint32_t cell; /* or the number of cells plus enum picture_edge */
};

static int compare_places(const void *a, const void *b)
{
    const struct placed *p = a, *q = b;

    if (p->place.line != q->place.line)
        return p->place.line < q->place.line ? -1 : 1;
    return (p->place.half > q->place.half) - (p->place.half < q->place.half);
}

static bool has_edges(const struct picture *picture)
{
    return picture->edges[EDGE_TOP] != SIDE_NONE;
}

/* The cells that would come next beyond each side, shared out so that opposite sides are alike.
 * Everything is shifted to make room for them. */
static size_t place_edges(const struct board *board, struct placed *cells, size_t n)
{
    const int32_t side = (int32_t)board->cols;
    const uint32_t first = board->n_cells;

    for (int32_t i = 0; i < side; i++) {
        cells[n++] = (struct placed){{-1, 2 * i + 1}, first + EDGE_TOP};
        cells[n++] = (struct placed){{i, 2 * side + i}, first + EDGE_RIGHT};
        cells[n++] = (struct placed){{side, side + 2 * i - 2}, first + EDGE_BOTTOM};
        cells[n++] = (struct placed){{i, i - 2}, first + EDGE_LEFT};
    }
    for (size_t k = 0; k < n; k++) {
        cells[k].place.line++;
        cells[k].place.half += 2;
    }
    return n;
}

static enum corner corner_of(const struct shape *shape, const uint32_t *dst, uint32_t cell)
{
    if (cell == dst[shape->first])
        return CORNER_FIRST;
    return cell == dst[shape->second] ? CORNER_SECOND : CORNER_NONE;
}

static int put_placed(const struct writing *w, const struct picture *picture, uint32_t cell,
                      struct text *line)
{
    const struct shape *shape = &w->sheet->shape;
    const uint32_t n_cells = shape->board->n_cells;
    const uint32_t *dst = shape->board->transforms[picture->transform].dst;

    if (cell < n_cells)
        return put_cell(w, &picture->cells[cell], corner_of(shape, dst, cell), line);
    const enum picture_side side = picture->edges[cell - n_cells];
    const char *colour = w->style->colours ? side_colour(w, side) : "";

    return text_append(line, w->err, " %s%c%s", colour, *labels_side_name(&w->sheet->plan, side),
                       *colour != '\0' ? plain(w) : "");
}

static int add_cells(const struct writing *w, const struct picture *picture,
                     const struct placed *cells, size_t n_cells, struct block *block)
{
    const size_t half = cell_width(w) / 2;
    struct text *line = NULL;
    int32_t n_lines = 0;
    size_t column = 0;

    for (size_t k = 0; k < n_cells; k++) {
        const struct shape_place *at = &cells[k].place;

        while (n_lines <= at->line) {
            line = add_line(block, w->err);
            if (line == NULL)
                return -1;
            column = 0;
            n_lines++;
        }
        if (text_append(line, w->err, "%*s", (int)((size_t)at->half * half - column), "") != 0 ||
            put_placed(w, picture, cells[k].cell, line) != 0)
            return -1;
        column = ((size_t)at->half + 2) * half;
    }
    return 0;
}

static int add_board(const struct writing *w, const struct picture *picture, struct block *block)
{
    const struct shape *shape = &w->sheet->shape;
    struct placed *cells =
        calloc(shape->board->n_cells + 4 * (size_t)shape->board->cols, sizeof *cells);
    size_t n = 0;
    int status;

    if (cells == NULL)
        return error_no_memory(w->err, "cells");
    for (uint32_t i = 0; i < shape->board->n_cells; i++)
        if (shape->board->on_board[i])
            cells[n++] = (struct placed){shape->places[i], i};
    if (has_edges(picture))
        n = place_edges(shape->board, cells, n);
    qsort(cells, n, sizeof *cells, compare_places);
    status = add_cells(w, picture, cells, n, block);
    free(cells);
    return status;
}

static int make_block(const struct writing *w, const struct picture *picture, struct block *block)
{
    struct text heading = {0};
    int status = sheet_heading(w->sheet, picture, &heading, w->err);

    if (status == 0)
        status = add_words(w, heading.text, bold(w), plain(w), block);
    text_release(&heading);
    if (status != 0 || add_board(w, picture, block) != 0 ||
        add_words(w, picture->caption.text, "", "", block) != 0)
        return -1;
    return add_words(w, picture->faults.text, red(w), plain(w), block);
}

/* --- the sheet --- */

static void trim(struct text *out)
{
    while (out->n_bytes > 0 && out->text[out->n_bytes - 1] == ' ')
        out->text[--out->n_bytes] = '\0';
}

static int write_side_by_side(const struct writing *w, const struct block *blocks, size_t n,
                              struct text *out)
{
    size_t n_lines = 0;

    for (size_t k = 0; k < n; k++)
        if (blocks[k].n > n_lines)
            n_lines = blocks[k].n;
    for (size_t line = 0; line < n_lines; line++) {
        size_t missing = 0; /* spaces that are due before the next text */

        for (size_t k = 0; k < n; k++) {
            const char *text = line < blocks[k].n && blocks[k].lines[line].text != NULL
                                   ? blocks[k].lines[line].text
                                   : "";
            const size_t width = width_of(text);

            if (width > 0 && text_append(out, w->err, "%*s%s", (int)missing, "", text) != 0)
                return -1;
            missing = (width > 0 ? 0 : missing) + w->width - width + GAP;
        }
        trim(out);
        if (text_append(out, w->err, "\n") != 0)
            return -1;
    }
    return text_append(out, w->err, "\n");
}

static int write_pictures(const struct writing *w, struct text *out)
{
    const size_t at_once =
        w->style->columns > w->width ? (w->style->columns + GAP) / (w->width + GAP) : 1;
    struct block *blocks = calloc(at_once, sizeof *blocks);
    int status = blocks != NULL ? 0 : error_no_memory(w->err, "lines of a picture");

    for (size_t k = 0; k < w->sheet->n_pictures && status == 0; k += at_once) {
        const size_t left = w->sheet->n_pictures - k, n = left < at_once ? left : at_once;

        for (size_t i = 0; i < n && status == 0; i++)
            status = make_block(w, &w->sheet->pictures[k + i], &blocks[i]);
        if (status == 0)
            status = write_side_by_side(w, blocks, n, out);
        for (size_t i = 0; i < n; i++)
            release_block(&blocks[i]);
    }
    free(blocks);
    return status;
}

static int write_legend(const struct writing *w, struct text *out)
{
    const struct sheet *sheet = w->sheet;

    if (sheet->has_stones &&
        text_append(out, w->err, "%s %s, %s %s\n", stone_of(w, SIDE_FIRST),
                    labels_side_name(&sheet->plan, SIDE_FIRST), stone_of(w, SIDE_SECOND),
                    labels_side_name(&sheet->plan, SIDE_SECOND)) != 0)
        return -1;
    if (labels_pieces(&sheet->plan) != NULL &&
        text_append(out, w->err, "%s\n", labels_pieces(&sheet->plan)) != 0)
        return -1;
    if (sheet->plan.board->family->joins_edges &&
        text_append(out, w->err, "b, r: the sides that blue and red join\n") != 0)
        return -1;
    if (sheet->has_policy && sheet->most_share > 0 &&
        text_append(out, w->err, "1 to 9: policy, 9 is %s\n",
                    heat_share_text(sheet->most_share).text) != 0)
        return -1;
    if (sheet->has_marks && text_append(out, w->err, "+: a move or coordinate\n") != 0)
        return -1;
    if (sheet->is_stored && text_append(out, w->err, "!: stored and computed differ\n") != 0)
        return -1;
    return text_append(out, w->err,
                       "F, f: where the source's top left and top right cells are; a mirror "
                       "image\nturns from F to f the other way round\n");
}

int terminal_write(const struct sheet *sheet, const struct terminal_style *style, struct text *out,
                   struct error *err)
{
    struct writing w = {sheet, style, err, 0};

    w.width = (size_t)sheet->shape.n_halves * cell_width(&w) / 2;
    if (sheet->plan.board->family->joins_edges)
        w.width += 2 * cell_width(&w);
    if (w.width < LEAST_WIDTH)
        w.width = LEAST_WIDTH;
    if (text_append(out, err, "%s\n", sheet->title.text) != 0 || write_pictures(&w, out) != 0)
        return -1;
    return write_legend(&w, out);
}
