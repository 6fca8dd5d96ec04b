/*
 * conventions.c - the words of conventions, both ways: options become struct conventions, and that
 * becomes the words which a manifest holds, so that reading them back gives the same again. Also
 * remembers which of them were said: where none was, the data may decide.
 */
#include "shard/conventions.h"

#include "base/text.h"
#include "board/board.h"

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

#define WORDS(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* By name: the words of which a convention is one, and the enum that holds its position. */
static const struct convention {
    const char *const *words; /* NULL: it is no such one */
    size_t offset;
} conventions[] = {
    {WORDS("colour", "mover", "canonical", "openspiel"), offsetof(struct conventions, planes)},
    {NULL, 0},
    {WORDS("colour01", "colour11", "colour-wdl", "mover"), offsetof(struct conventions, value)},
    {WORDS("01", "12", "pm1"), offsetof(struct conventions, to_move)},
    {WORDS("map", "keep", "drop"), offsetof(struct conventions, ambiguous)},
    {WORDS("swap", "skip"), offsetof(struct conventions, castling)},
    {WORDS("keep", "permute"), offsetof(struct conventions, tiles)},
    {WORDS("01", "12", "pm1"), offsetof(struct conventions, plane_coding)},
    {NULL, 0}, /* of no name */
};

/* The number of an option among convention_names; that of the NULL at its end when it is none. */
static unsigned find(const char *option)
{
    unsigned i = 0;

    while (convention_names[i] != NULL && strcmp(convention_names[i], option) != 0)
        i++;
    return i;
}

static const char digits[] = "0123456789";

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
        uint64_t to;
        const char *mark = *at != '\0' ? strchr(turn_marks, *at) : NULL;
        const bool is_to_move = mark != NULL;

        if (is_to_move)
            c->plane_coding = (enum to_move_coding)(mark - turn_marks);
        at += is_to_move;
        const size_t n_digits = strspn(at, digits);
        if (text_parse_digits(at, n_digits, &to) != 0 || to >= CONVENTIONS_MAX_PLANES ||
            c->n_planes == CONVENTIONS_MAX_PLANES || (taken >> to & 1) ||
            (is_to_move && c->to_move_plane >= 0))
            break;
        at += n_digits;
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

int conventions_set(struct conventions *c, const char *option, const char *text, struct error *err)
{
    const unsigned i = find(option);
    const char *const *words = conventions[i].words;
    const bool is_permutation =
        strcmp(option, "planes") == 0 && *text != '\0' && strchr("0123456789~=-", *text) != NULL;
    char list[120] = "";
    unsigned word = 0;

    if (strcmp(option, "castling-planes") == 0) {
        const char *at = text;
        const bool is_none = strcmp(text, "none") == 0;

        for (int plane = 0; plane < 4 && !is_none; plane++) {
            const size_t n_digits = strspn(at, digits);
            uint64_t number;
            bool good = text_parse_digits(at, n_digits, &number) == 0 && number <= UINT16_MAX &&
                        at[n_digits] == (plane < 3 ? ',' : '\0');

            at += n_digits + 1;
            for (int k = 0; k < plane && good; k++)
                good = c->castling_planes[k] != number;
            if (!good)
                return error_set(err, ERROR_USAGE,
                                 "--castling-planes: %s is neither 'none' nor four plane numbers: "
                                 "own K, own Q, their K, their Q",
                                 text_quote(text).text);
            c->castling_planes[plane] = (uint32_t)number;
        }
        c->n_castling_planes = is_none ? -1 : 4;
    } else if (words == NULL) {
        return error_set(err, ERROR_INTERNAL, "unknown convention '%s'", option);
    } else if (is_permutation) {
        if (parse_permutation(c, text, err) != 0)
            return -1;
        c->said |= 1u << find("to-move-plane"); /* by its mark */
    } else {
        for (; words[word] != NULL && strcmp(words[word], text) != 0; word++)
            text_add(list, sizeof list, word == 0 ? "%s" : ", %s", words[word]);
        if (words[word] == NULL)
            return error_set(err, ERROR_USAGE, "--%s: %s is none of %s", option,
                             text_quote(text).text, list);
        /* all of them are enums, of the size of an unsigned */
        memcpy((uint8_t *)c + conventions[i].offset, &word, sizeof word);
    }
    c->said |= 1u << i;
    c->value_said = conventions_is_said(c, "value");
    c->to_move_said = conventions_is_said(c, "to-move");
    return 0;
}

bool conventions_is_said(const struct conventions *c, const char *option)
{
    return c->said >> find(option) & 1;
}

struct text_quoted conventions_text(const struct conventions *c, const char *option)
{
    const struct convention *convention = &conventions[find(option)];
    const uint32_t *p = c->n_castling_planes > 0 ? c->castling_planes : board_castling_usual.planes;
    const char mark[2] = {turn_marks[c->plane_coding]};
    struct text_quoted list = {""};
    unsigned word;

    if (strcmp(option, "castling-planes") == 0) {
        if (c->n_castling_planes < 0)
            return (struct text_quoted){"none"};
        return text_format("%u,%u,%u,%u", p[0], p[1], p[2], p[3]);
    }
    if (strcmp(option, "planes") == 0 && c->planes == PLANES_PERMUTATION) {
        for (uint32_t i = 0; i < c->n_planes; i++)
            text_add(list.text, sizeof list.text, "%s%s%u", i > 0 ? "," : "",
                     c->plane_dst[i] == c->to_move_plane ? mark : "", c->plane_dst[i]);
    } else if (convention->words != NULL) {
        memcpy(&word, (const uint8_t *)c + convention->offset, sizeof word);
        snprintf(list.text, sizeof list.text, "%s", convention->words[word]);
    }
    return list;
}
