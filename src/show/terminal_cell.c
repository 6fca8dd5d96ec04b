/* terminal_cell.c - see terminal_cell.h. */
#include "show/terminal_cell.h"

#include "show/stones.h"

#include <stdio.h>
#include <string.h>

#define MAX_BODY 32

const char *terminal_red(const struct terminal_style *style)
{
    return style->colours ? "\033[1;31m" : "";
}

const char *terminal_bold(const struct terminal_style *style)
{
    return style->colours ? "\033[1m" : "";
}

const char *terminal_plain(const struct terminal_style *style)
{
    return style->colours ? "\033[0m" : "";
}

size_t terminal_width(const char *text)
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

size_t terminal_cell_width(const struct sheet *sheet)
{
    bool wide = stones_are_stacks(&sheet->plan) || sheet->plan.board->family->has_tiles;

    for (size_t k = 0; k < sheet->n_pictures && !wide; k++)
        for (uint32_t i = 0; i < sheet->plan.board->n_cells && !wide; i++)
            wide = sheet->pictures[k].cells[i].piece == PICTURE_NUMBER;
    return wide ? 4 : 2;
}

/* --- what stands on a cell --- */

const char *terminal_stone(const struct sheet *sheet, const struct terminal_style *style,
                           enum picture_side side)
{
    static const char *const discs[] = {"●", "○", "◍", " "}, *const letters[] = {"X", "O", "%",
                                                                                 " "};
    const bool is_hex = stones_style_of(&sheet->plan) == STONES_BLUE_RED;

    if (!style->unicode)
        return letters[side];
    return discs[is_hex && style->colours && side == SIDE_SECOND ? SIDE_FIRST : side];
}

static const char *man_of(const struct terminal_style *style, const struct picture_cell *cell,
                          char letter[2])
{
    static const char order[] = "KQRBNP";
    static const char *const own[] = {"♔", "♕", "♖", "♗", "♘", "♙"};
    static const char *const theirs[] = {"♚", "♛", "♜", "♝", "♞", "♟"};
    const char *at = strchr(order, cell->man);

    if (style->unicode && at != NULL)
        return cell->side == SIDE_FIRST ? own[at - order] : theirs[at - order];
    letter[0] = (char)(cell->side == SIDE_FIRST ? cell->man : cell->man - 'A' + 'a');
    letter[1] = '\0';
    return letter;
}

char terminal_heat_digit(const struct sheet *sheet, double share)
{
    const double part = sheet->most_share > 0 ? 9 * share / sheet->most_share : 0;

    return (char)('0' + (int)(part + 0.5));
}

/* Background for a share: light to dark orange. */
static const char *heat_colour(const struct sheet *sheet, const struct picture_cell *cell)
{
    static const char *const steps[] = {"",
                                        "\033[48;5;230m\033[30m",
                                        "\033[48;5;229m\033[30m",
                                        "\033[48;5;222m\033[30m",
                                        "\033[48;5;215m\033[30m",
                                        "\033[48;5;208m\033[30m"};
    const int digit = terminal_heat_digit(sheet, cell->share) - '0';

    return steps[(digit + 1) / 2];
}

const char *terminal_side_colour(const struct sheet *sheet, enum picture_side side)
{
    if (stones_style_of(&sheet->plan) != STONES_BLUE_RED || side > SIDE_SECOND)
        return "";
    return side == SIDE_FIRST ? "\033[1;34m" : "\033[1;31m";
}

static const char *sign_of(const struct terminal_style *style, enum picture_side side,
                           const char *first, const char *second, const char *first_letter,
                           const char *second_letter)
{
    if (side == SIDE_FIRST)
        return style->unicode ? first : first_letter;
    return style->unicode ? second : second_letter;
}

static void write_body(const struct sheet *sheet, const struct terminal_style *style,
                       const struct picture_cell *cell, char body[MAX_BODY])
{
    const char *empty = style->unicode ? "·" : ".";
    const char digit = terminal_heat_digit(sheet, cell->share);
    char letter[2];

    switch (cell->piece) {
    case PICTURE_STONE:
        snprintf(body, MAX_BODY, cell->number > 0 ? "%s%d" : "%s",
                 terminal_stone(sheet, style, cell->side), (int)cell->number);
        break;
    case PICTURE_MARKER:
        snprintf(body, MAX_BODY, "%s", sign_of(style, cell->side, "•", "◦", "x", "o"));
        break;
    case PICTURE_TERRITORY:
        snprintf(body, MAX_BODY, "%s", sign_of(style, cell->side, "■", "□", "#", "="));
        break;
    case PICTURE_MAN:
        snprintf(body, MAX_BODY, "%s", man_of(style, cell, letter));
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

int terminal_put_cell(const struct sheet *sheet, const struct terminal_style *style,
                      const struct picture_cell *cell, enum terminal_corner corner,
                      struct text *out, struct error *err)
{
    static const char corners[] = {' ', 'F', 'f'};
    const size_t width = terminal_cell_width(sheet) - 1;
    const char *before = cell->differs ? terminal_red(style) : "";
    const char *side = style->colours ? terminal_side_colour(sheet, cell->side) : "";
    const char *heat = style->colours ? heat_colour(sheet, cell) : "";
    char body[MAX_BODY];
    size_t n;

    write_body(sheet, style, cell, body);
    n = terminal_width(body);
    return text_append(out, err, "%s%c%s%s%s%s%s%*s", before, cell->differs ? '!' : corners[corner],
                       *before != '\0' ? terminal_plain(style) : "", side, heat, body,
                       *side != '\0' || *heat != '\0' ? terminal_plain(style) : "",
                       (int)(n < width ? width - n : 0), "");
}
