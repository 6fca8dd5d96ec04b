/*
 * conventions.c - conventions as words: parses the arguments of options into struct conventions,
 * and writes that as the words of a manifest, which parse to the same again. Also records which
 * were given: where none was, the data may decide.
 */
#include "shard/conventions.h"

#include "base/text.h"
#include "board/board.h"

const struct conventions conventions_default = {.to_move_plane = -1};

#define WORDS(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* By name: the words that are its values, and the enum that holds the position of one of them. */
static const struct convention {
    const char *name;
    const char *const *words; /* NULL: its values are not words */
    size_t offset;
} conventions[] = {
    {"planes", WORDS("colour", "mover", "canonical", "openspiel"),
     offsetof(struct conventions, planes)},
    {"castling-planes", NULL, 0},
    {"value", WORDS("colour01", "colour11", "colour-wdl", "mover"),
     offsetof(struct conventions, value)},
    {"to-move", WORDS("01", "12", "pm1"), offsetof(struct conventions, to_move)},
    {"ambiguous", WORDS("map", "keep", "drop"), offsetof(struct conventions, ambiguous)},
    {"castling", WORDS("swap", "skip"), offsetof(struct conventions, castling)},
    {"tiles", WORDS("keep", "permute"), offsetof(struct conventions, tiles)},
    {"to-move-plane", WORDS("01", "12", "pm1"), offsetof(struct conventions, plane_coding)},
    {NULL, NULL, 0},
};

const char *convention_name(size_t i)
{
    return conventions[i].name;
}

/* The number of an option in the table; that of its last row if there is none. */
static unsigned find(const char *option)
{
    unsigned i = 0;

    while (conventions[i].name != NULL && strcmp(conventions[i].name, option) != 0)
        i++;
    return i;
}

/* By coding: the mark of the to-move plane. */
static const char turn_marks[] = {[TO_MOVE_01] = '~', [TO_MOVE_12] = '=', [TO_MOVE_PM1] = '-', 0};

/* Parse a list of distinct planes, "1,0,~2". *marked is the place of the one behind a mark, which
 * tells *coding; -1: there is none. Returns how many there are; -1 (no error set): not a list. */
static int parse_planes(const char *text, uint32_t planes[CONVENTIONS_MAX_PLANES], int *marked,
                        enum to_move_coding *coding)
{
    *marked = -1;
    *coding = TO_MOVE_01;
    for (int n = 0; n < CONVENTIONS_MAX_PLANES; text++) {
        const char *mark = *text != '\0' ? strchr(turn_marks, *text) : NULL;
        uint64_t plane;

        if (mark != NULL && *marked < 0) {
            *marked = n;
            *coding = (enum to_move_coding)(mark - turn_marks);
            text++;
        }
        const size_t n_digits = strspn(text, "0123456789");
        if (text_parse_digits(text, n_digits, &plane) != 0 || plane > UINT16_MAX)
            return -1;
        for (int i = 0; i < n; i++)
            if (planes[i] == plane)
                return -1;
        planes[n++] = (uint32_t)plane;
        text += n_digits;
        if (*text != ',')
            return *text == '\0' ? n : -1;
    }
    return -1;
}

int conventions_set(struct conventions *c, const char *option, const char *text, struct error *err)
{
    const unsigned i = find(option);
    const char *const *words = conventions[i].words;
    uint32_t planes[CONVENTIONS_MAX_PLANES] = {0};
    enum to_move_coding coding;
    bool is_permutation = true;
    char list[120] = "";
    unsigned word = 0;
    int n, marked;

    if (strcmp(option, "castling-planes") == 0) {
        n = strcmp(text, "none") == 0 ? 0 : parse_planes(text, planes, &marked, &coding);
        if (n != 0 && (n != 4 || marked >= 0))
            return error_set(err, ERROR_USAGE,
                             "--castling-planes: %s is neither 'none' nor four plane numbers: "
                             "own K, own Q, their K, their Q",
                             text_quote(text).text);
        c->n_castling_planes = n > 0 ? n : -1;
        memcpy(c->castling_planes, planes, sizeof c->castling_planes);
    } else if (words == NULL) {
        return error_set(err, ERROR_INTERNAL, "unknown convention '%s'", option);
    } else if (strcmp(option, "planes") == 0 && strspn(text, "0123456789~=-") > 0) {
        n = parse_planes(text, planes, &marked, &coding);
        for (int p = 0; p < n; p++) {
            c->plane_dst[p] = (uint8_t)planes[p];
            is_permutation &= planes[p] < (uint32_t)n;
        }
        if (n < 0 || !is_permutation)
            return error_set(
                err, ERROR_USAGE,
                "--planes: %s is not a permutation of planes such as 1,0,~2 (~: to-move plane)",
                text_quote(text).text);
        c->planes = PLANES_PERMUTATION;
        c->n_planes = (uint32_t)n;
        c->to_move_plane = marked >= 0 ? (int)planes[marked] : -1;
        c->plane_coding = coding;
        c->said |= 1u << find("to-move-plane"); /* by the mark, or none */
    } else {
        for (; words[word] != NULL && strcmp(words[word], text) != 0; word++)
            text_add(list, sizeof list, word == 0 ? "%s" : ", %s", words[word]);
        if (words[word] == NULL)
            return error_set(err, ERROR_USAGE, "--%s: %s is none of %s", option,
                             text_quote(text).text, list);
        /* An enum has the size of an unsigned. */
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
