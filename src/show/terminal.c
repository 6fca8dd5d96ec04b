/*
 * terminal.c - a contact sheet as lines of text. Each picture becomes a block of lines (heading,
 * board, wrapped captions), and as many blocks as fit on the terminal are written side by side. A
 * cell takes two or four columns, the first of which may mark a corner or a difference. Without
 * colours or Unicode, letters take their place.
 */
#include "show/parts.h"

#define GAP         3
#define LEAST_WIDTH 24 /* of a picture: headings and captions are wrapped */

struct writing {
    const struct sheet *sheet;
    const struct terminal_style *style;
    size_t cell_width, width; /* of a cell, of a picture: in columns */
    const char *red, *bold, *plain;
};

/* The columns that n bytes take on a terminal. */
static size_t width_of(const char *text, size_t n)
{
    size_t n_columns = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\033')
            i += strcspn(text + i, "m");
        else if (((unsigned char)text[i] & 0xc0) != 0x80)
            n_columns++;
    }
    return n_columns;
}

/* --- what stands on a cell --- */

static const char *stone_of(const struct writing *w, enum picture_side side)
{
    static const char *const discs[] = {" ", "●", "○", "◍"}, *const letters[] = {" ", "X", "O",
                                                                                 "%"};

    if (!w->style->unicode)
        return letters[side];
    return discs[w->sheet->sides->are_coloured && w->style->colours && side == SIDE_SECOND
                     ? SIDE_FIRST
                     : side];
}

static const char *side_colour(const struct writing *w, enum picture_side side)
{
    if (!w->sheet->sides->are_coloured || !w->style->colours || side == SIDE_NONE ||
        side == SIDE_BOTH)
        return "";
    return side == SIDE_FIRST ? "\033[1;34m" : "\033[1;31m";
}

/* Write a cell; corner is F or f where the source's first or second cell is, else ' '. */
static void put_cell(const struct writing *w, const struct picture_cell *cell, char corner,
                     struct pen *out)
{
    /* Of the first and the second side; then letters for them. */
    static const char *const markers[] = {"•", "◦", "x", "o"};
    static const char *const territories[] = {"■", "□", "#", "="};
    static const char order[] = "KQRBNP";
    static const char *const men[] = {"♔", "♕", "♖", "♗", "♘", "♙", "♚", "♛", "♜", "♝", "♞", "♟"};
    /* Backgrounds for shares, from light to dark orange. */
    static const char *const steps[] = {"",
                                        "\033[48;5;230m\033[30m",
                                        "\033[48;5;229m\033[30m",
                                        "\033[48;5;222m\033[30m",
                                        "\033[48;5;215m\033[30m",
                                        "\033[48;5;208m\033[30m"};
    const char *man = strchr(order, cell->man);
    const bool is_own = cell->side == SIDE_FIRST, unicode = w->style->unicode;
    const int sign = (is_own ? 0 : 1) + (unicode ? 0 : 2);
    const double most = w->sheet->most_share; /* shown as 9 */
    const int digit = (int)(most > 0 ? 9 * cell->share / most + 0.5 : 0.5);
    const char *before = cell->differs ? w->red : "", *side = side_colour(w, cell->side);
    const char *heat = w->style->colours ? steps[(digit + 1) / 2] : "";
    struct text_quoted body;

    switch (cell->piece) {
    case PICTURE_STONE:
        body = text_format(cell->number > 0 ? "%s%d" : "%s", stone_of(w, cell->side),
                           (int)cell->number);
        break;
    case PICTURE_MARKER:
        body = text_format("%s", markers[sign]);
        break;
    case PICTURE_TERRITORY:
        body = text_format("%s", territories[sign]);
        break;
    case PICTURE_MAN:
        body = unicode && man != NULL
                   ? text_format("%s", men[man - order + (is_own ? 0 : 6)])
                   : text_format("%c", is_own ? cell->man : cell->man - 'A' + 'a');
        break;
    case PICTURE_TILE:
    case PICTURE_NUMBER:
        body = text_format("%d", (int)cell->number);
        break;
    default:
        body = cell->is_marked || digit == 0 ? text_format("%s", cell->is_marked ? "+"
                                                                 : unicode       ? "·"
                                                                                 : ".")
                                             : text_format("%d", digit);
    }
    const size_t n = width_of(body.text, strlen(body.text)) + 1;
    pen_put(out, "%s%c%s%s%s%s%s%*s", before, cell->differs ? '!' : corner,
            *before != '\0' ? w->plain : "", side, heat, body.text,
            *side != '\0' || *heat != '\0' ? w->plain : "",
            (int)(n < w->cell_width ? w->cell_width - n : 0), "");
}

/* --- boards --- */

static void put_board(const struct writing *w, const struct picture *picture, struct pen *out)
{
    const struct shape *shape = &w->sheet->shape;
    const struct board *board = shape->board;
    const uint32_t *dst = board->transforms[picture->transform].dst;
    const bool has_edges = board->family->joins_edges;
    const size_t n_cells = board->n_cells, n = board->cols, around = has_edges ? 1 : 0;
    const size_t n_lines = (size_t)shape->n_lines + 2 * around,
                 n_halves = (size_t)shape->n_halves + 4 * around;
    /* By line and half column: 0, a cell + 1, or n_cells + 1 + an edge of a Hex board. */
    size_t *grid = calloc(n_lines * n_halves, sizeof *grid);

    if (grid == NULL) {
        out->failed = error_no_memory(out->err, "cells") != 0;
        return;
    }
    for (size_t i = 0; i < n_cells; i++)
        if (board->on_board[i])
            grid[((size_t)shape->places[i].line + around) * n_halves +
                 (size_t)shape->places[i].half + 2 * around] = i + 1;
    /* Edges stand on the cells next to the board, as many on each side. The grid has a line, and a
     * cell's width, around the board for them. */
    for (size_t i = 0; i < n && has_edges; i++) {
        grid[2 * i + 3] = n_cells + 1 + EDGE_TOP;
        grid[(i + 1) * n_halves + 2 * n + i + 2] = n_cells + 1 + EDGE_RIGHT;
        grid[(n + 1) * n_halves + n + 2 * i] = n_cells + 1 + EDGE_BOTTOM;
        grid[(i + 1) * n_halves + i] = n_cells + 1 + EDGE_LEFT;
    }
    for (size_t line = 0; line < n_lines; line++) {
        size_t column = 0;

        for (size_t half = 0; half < n_halves; half++) {
            const size_t cell = grid[line * n_halves + half] - 1, at = half * w->cell_width / 2;

            if (cell == SIZE_MAX)
                continue;
            pen_put(out, "%*s", (int)(at - column), "");
            column = at + w->cell_width;
            if (cell < n_cells) {
                put_cell(w, &picture->cells[cell],
                         cell == dst[shape->first]    ? 'F'
                         : cell == dst[shape->second] ? 'f'
                                                      : ' ',
                         out);
                continue;
            }
            const enum picture_side side =
                picture_edge_side(board, picture->transform, (enum picture_edge)(cell - n_cells));
            const char *colour = side_colour(w, side);

            pen_put(out, " %s%c%s", colour, *w->sheet->sides->names[side],
                    *colour != '\0' ? w->plain : "");
        }
        pen_put(out, "\n");
    }
    free(grid);
}

/* --- words --- */

/* Write a text in lines of at most w->width columns, broken between words where possible. before,
 * after: colour sequences around each line. */
static void put_words(const struct writing *w, const char *text, const char *before,
                      const char *after, struct pen *out)
{
    while (text != NULL && *text != '\0') {
        size_t n_columns = 0, n = 0, last_space = 0;

        for (; text[n] != '\0' && text[n] != '\n'; n++) {
            if (((unsigned char)text[n] & 0xc0) != 0x80 && n_columns++ == w->width)
                break;
            if (text[n] == ' ')
                last_space = n;
        }
        if (text[n] != '\0' && text[n] != '\n' && text[n] != ' ' && last_space > 0)
            n = last_space;
        pen_put(out, "%s%.*s%s\n", before, (int)n, text, after);
        text += n + (text[n] == '\n' || text[n] == ' ');
    }
}

/* --- the sheet --- */

static void put_pictures(const struct writing *w, struct pen *out)
{
    const size_t n_pictures = w->sheet->n_pictures;
    const size_t at_once =
        w->style->columns > w->width ? (w->style->columns + GAP) / (w->width + GAP) : 1;
    struct text *blocks = calloc(at_once, sizeof *blocks);
    const char **lines = calloc(at_once, sizeof *lines);

    if (blocks == NULL || lines == NULL)
        out->failed = error_no_memory(out->err, "lines of a picture") != 0;
    for (size_t k = 0; k < n_pictures && !out->failed; k += at_once) {
        const size_t n = n_pictures - k < at_once ? n_pictures - k : at_once;

        for (size_t i = 0; i < n; i++) {
            struct pen block = {.out = &blocks[i], .err = out->err};
            const struct picture *picture = &w->sheet->pictures[k + i];

            put_words(w, picture->heading.text, w->bold, w->plain, &block);
            put_board(w, picture, &block);
            put_words(w, picture->caption.text, "", "", &block);
            put_words(w, picture->faults.text, w->red, w->plain, &block);
            out->failed |= block.failed;
            lines[i] = blocks[i].text != NULL ? blocks[i].text : "";
        }
        /* The blocks side by side, line by line. */
        for (bool any = true; any && !out->failed;) {
            size_t missing = 0; /* spaces before the next text */

            any = false;
            for (size_t i = 0; i < n; i++) {
                const size_t length = strcspn(lines[i], "\n");
                const size_t width = width_of(lines[i], length);

                if (width > 0)
                    pen_put(out, "%*s%.*s", (int)missing, "", (int)length, lines[i]);
                missing = (width > 0 ? 0 : missing) + w->width - width + GAP;
                lines[i] += length + (lines[i][length] == '\n');
                any |= *lines[i] != '\0';
            }
            while (out->out->n_bytes > 0 && out->out->text[out->out->n_bytes - 1] == ' ')
                out->out->text[--out->out->n_bytes] = '\0';
            pen_put(out, "\n");
        }
        pen_put(out, "\n");
        for (size_t i = 0; i < n; i++)
            text_release(&blocks[i]);
    }
    free(lines);
    free(blocks);
}

int terminal_write(const struct sheet *sheet, const struct terminal_style *style, struct text *text,
                   struct error *err)
{
    const struct board *board = sheet->plan.board;
    struct writing w = {.sheet = sheet,
                        .style = style,
                        .red = style->colours ? "\033[1;31m" : "",
                        .bold = style->colours ? "\033[1m" : "",
                        .plain = style->colours ? "\033[0m" : ""};
    struct pen out = {.out = text, .err = err};

    w.cell_width = sheet->pieces != NULL || sheet->has_numbers || board->family->has_tiles ? 4 : 2;
    w.width = (size_t)sheet->shape.n_halves * w.cell_width / 2 +
              (board->family->joins_edges ? 2 * w.cell_width : 0);
    w.width = w.width > LEAST_WIDTH ? w.width : LEAST_WIDTH;
    pen_put(&out, "%s\n", sheet->title.text);
    put_pictures(&w, &out);
    if (sheet->has_stones)
        pen_put(&out, "%s %s, %s %s\n", stone_of(&w, SIDE_FIRST), sheet->sides->names[SIDE_FIRST],
                stone_of(&w, SIDE_SECOND), sheet->sides->names[SIDE_SECOND]);
    if (sheet->pieces != NULL)
        pen_put(&out, "%s\n", sheet->pieces);
    if (board->family->joins_edges)
        pen_put(&out, "b, r: the sides that blue and red join\n");
    if (sheet->most_share > 0)
        pen_put(&out, "1 to 9: policy, 9 is %s\n", heat_share_text(sheet->most_share).text);
    if (sheet->has_marks)
        pen_put(&out, "+: a move or coordinate\n");
    if (sheet->is_stored)
        pen_put(&out, "!: stored and computed differ\n");
    pen_put(&out, "F, f: where the source's top left and top right cells are; a mirror image\n"
                  "turns from F to f the other way round\n");
    return out.failed ? -1 : 0;
}
