/*
 * conventions.c - the words of conventions, both ways: options become struct conventions, and that
 * becomes the words which a manifest holds, so that reading them back gives the same again. Also
 * remembers which of them were said: where none was, the data may decide.
 */
#include "shard/conventions.h"

#include "base/text.h"
#include "board/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct conventions conventions_default = {
    .planes = PLANES_COLOUR,
    .value = VALUE_COLOUR01,
    .to_move = TO_MOVE_01,
    .to_move_plane = -1,
};

/* Planes: white win, white west, white east, white, empty, black, black south, black north, black
 * win. A swap exchanges the players, a half turn the edges they are connected to. */
const uint8_t openspiel_plane_dst[4][9] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8},
    {0, 2, 1, 3, 4, 5, 7, 6, 8},
    {8, 7, 6, 5, 4, 3, 2, 1, 0},
    {8, 6, 7, 5, 4, 3, 1, 2, 0},
};

const char *const convention_names[] = {"planes",  "castling-planes", "value",
                                        "to-move", "ambiguous",       "castling",
                                        "tiles",   "to-move-plane",   NULL};

static const char *const planes_names[] = {"colour", "mover", "canonical", "openspiel", NULL};
static const char *const value_names[] = {"colour01", "colour11", "colour-wdl", "mover", NULL};
static const char *const to_move_names[] = {"01", "12", "pm1", NULL};
static const char *const ambiguous_names[] = {"map", "keep", "drop", NULL};
static const char *const castling_names[] = {"swap", "skip", NULL};
static const char *const tiles_names[] = {"keep", "permute", NULL};

const char *planes_convention_name(enum planes_convention planes)
{
    return planes == PLANES_PERMUTATION ? "permutation" : planes_names[planes];
}

const char *value_convention_name(enum value_convention value)
{
    return value_names[value];
}

const char *to_move_coding_name(enum to_move_coding coding)
{
    return to_move_names[coding];
}

const char *ambiguous_policy_name(enum ambiguous_policy policy)
{
    return ambiguous_names[policy];
}

const char *castling_policy_name(enum castling_policy policy)
{
    return castling_names[policy];
}

const char *tiles_policy_name(enum tiles_policy policy)
{
    return tiles_names[policy];
}

static int find_word(const char *option, const char *text, const char *const *words,
                     struct error *err)
{
    struct text list = {0};

    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    for (int i = 0; words[i] != NULL; i++)
        if (text_append(&list, err, i == 0 ? "%s" : ", %s", words[i]) != 0)
            break;
    error_set(err, ERROR_USAGE, "--%s: %s is none of %s", option, text_quote(text).text,
              list.text != NULL ? list.text : "");
    text_release(&list);
    return -1;
}

/* Digits only: no sign, no spaces. Returns 0 and moves behind them, or -1. */
static int parse_plane(const char **at, unsigned long *plane)
{
    char *end;

    if (**at < '0' || **at > '9')
        return -1;
    *plane = strtoul(*at, &end, 10);
    *at = end;
    return 0;
}

/* By coding: what marks the to-move plane. */
static const char turn_marks[] = {[TO_MOVE_01] = '~', [TO_MOVE_12] = '=', [TO_MOVE_PM1] = '-', 0};

/* A list "1,0,~2": plane i goes to entry i; a mark stands before that of the to-move plane. */
static int parse_permutation(struct conventions *c, const char *text, struct error *err)
{
    uint64_t taken = 0;

    c->planes = PLANES_PERMUTATION;
    c->n_planes = 0;
    c->to_move_plane = -1;
    c->plane_coding = TO_MOVE_01;
    for (const char *at = text;; at++) {
        unsigned long to;
        const char *mark = *at != '\0' ? strchr(turn_marks, *at) : NULL;
        const bool is_to_move = mark != NULL;

        if (is_to_move)
            c->plane_coding = (enum to_move_coding)(mark - turn_marks);
        at += is_to_move;
        if (parse_plane(&at, &to) != 0 || to >= CONVENTIONS_MAX_PLANES ||
            c->n_planes == CONVENTIONS_MAX_PLANES || (taken >> to & 1) ||
            (is_to_move && c->to_move_plane >= 0))
            break;
        taken |= UINT64_C(1) << to;
        if (is_to_move)
            c->to_move_plane = (int)to;
        c->plane_dst[c->n_planes++] = (uint8_t)to;
        if (*at == '\0' &&
            taken == (c->n_planes == 64 ? UINT64_MAX : (UINT64_C(1) << c->n_planes) - 1))
            return 0;
        if (*at != ',')
            break;
    }
    return error_set(err, ERROR_USAGE,
                     "--planes: %s is no permutation of planes such as 1,0,~2 (~: to-move plane)",
                     text_quote(text).text);
}

static struct convention_text permutation_text(const struct conventions *c)
{
    struct convention_text list = {""};
    const char mark[2] = {turn_marks[c->plane_coding]};
    size_t n = 0;

    for (uint32_t i = 0; i < c->n_planes; i++)
        n += (size_t)snprintf(list.text + n, sizeof list.text - n, "%s%s%u", i > 0 ? "," : "",
                              c->plane_dst[i] == c->to_move_plane ? mark : "", c->plane_dst[i]);
    return list;
}

static struct convention_text castling_planes_text(const struct conventions *c)
{
    struct convention_text list = {"none"};
    const uint32_t *p = c->n_castling_planes > 0 ? c->castling_planes : board_castling_usual.planes;

    if (c->n_castling_planes >= 0)
        snprintf(list.text, sizeof list.text, "%u,%u,%u,%u", p[0], p[1], p[2], p[3]);
    return list;
}

static int parse_castling_planes(struct conventions *c, const char *text, struct error *err)
{
    const char *at = text;

    if (strcmp(text, "none") == 0) {
        c->n_castling_planes = -1;
        return 0;
    }
    for (int i = 0; i < 4; i++) {
        unsigned long plane;
        bool good =
            parse_plane(&at, &plane) == 0 && plane <= UINT16_MAX && *at++ == (i < 3 ? ',' : '\0');

        for (int k = 0; k < i && good; k++)
            good = c->castling_planes[k] != plane;
        if (!good)
            return error_set(err, ERROR_USAGE,
                             "--castling-planes: %s is neither 'none' nor four plane numbers: own "
                             "K, own Q, their K, their Q",
                             text_quote(text).text);
        c->castling_planes[i] = (uint32_t)plane;
    }
    c->n_castling_planes = 4;
    return 0;
}

static int set(struct conventions *c, const char *option, const char *text, struct error *err)
{
    int word = 0;

    if (strcmp(option, "castling-planes") == 0)
        return parse_castling_planes(c, text, err);
    if (strcmp(option, "planes") == 0) {
        if ((*text >= '0' && *text <= '9') || (*text != '\0' && strchr(turn_marks, *text) != NULL))
            return parse_permutation(c, text, err);
        word = find_word(option, text, planes_names, err);
        c->planes = (enum planes_convention)word;
    } else if (strcmp(option, "value") == 0) {
        word = find_word(option, text, value_names, err);
        c->value = (enum value_convention)word;
        c->value_said = true;
    } else if (strcmp(option, "to-move") == 0) {
        word = find_word(option, text, to_move_names, err);
        c->to_move = (enum to_move_coding)word;
        c->to_move_said = true;
    } else if (strcmp(option, "to-move-plane") == 0) {
        word = find_word(option, text, to_move_names, err);
        c->plane_coding = (enum to_move_coding)word;
    } else if (strcmp(option, "ambiguous") == 0) {
        word = find_word(option, text, ambiguous_names, err);
        c->ambiguous = (enum ambiguous_policy)word;
    } else if (strcmp(option, "castling") == 0) {
        word = find_word(option, text, castling_names, err);
        c->castling = (enum castling_policy)word;
    } else if (strcmp(option, "tiles") == 0) {
        word = find_word(option, text, tiles_names, err);
        c->tiles = (enum tiles_policy)word;
    } else {
        return error_set(err, ERROR_INTERNAL, "unknown convention '%s'", option);
    }
    return word < 0 ? -1 : 0;
}

/* The number of an option among convention_names; that of the NULL at its end when it is none. */
static unsigned find_name(const char *option)
{
    unsigned i = 0;

    while (convention_names[i] != NULL && strcmp(convention_names[i], option) != 0)
        i++;
    return i;
}

int conventions_set(struct conventions *c, const char *option, const char *text, struct error *err)
{
    if (set(c, option, text, err) != 0)
        return -1;
    c->said |= 1u << find_name(option);
    if (strcmp(option, "planes") == 0 && c->planes == PLANES_PERMUTATION)
        c->said |= 1u << find_name("to-move-plane"); /* by its mark */
    return 0;
}

bool conventions_is_said(const struct conventions *c, const char *option)
{
    return c->said >> find_name(option) & 1;
}

struct convention_text conventions_text(const struct conventions *c, const char *option)
{
    const struct {
        const char *option, *word;
    } words[] = {
        {"planes", planes_names[c->planes]},
        {"value", value_names[c->value]},
        {"to-move", to_move_names[c->to_move]},
        {"ambiguous", ambiguous_names[c->ambiguous]},
        {"castling", castling_names[c->castling]},
        {"tiles", tiles_names[c->tiles]},
        {"to-move-plane", to_move_names[c->plane_coding]},
    };
    struct convention_text text = {""};

    if (strcmp(option, "castling-planes") == 0)
        return castling_planes_text(c);
    if (strcmp(option, "planes") == 0 && c->planes == PLANES_PERMUTATION)
        return permutation_text(c);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].option, option) == 0)
            snprintf(text.text, sizeof text.text, "%s", words[i].word);
    return text;
}
