/*
 * names.c - which board may be meant: the known names that are nearest to an unknown one (by the
 * letters to change), and the boards that the shapes of a shard's arrays allow. Shapes that one
 * system alone is known to write decide; otherwise each family says whether the box could be its
 * own, and how likely.
 */
#include "board/families.h"

#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_NAME      TEXT_MAX_WORD
#define N_SUGGESTIONS 3

/* Copy the letters and digits in lower case; false when they are more than MAX_NAME or none. */
static bool simplify(const char *name, char *simple)
{
    size_t n = 0;

    for (; *name != '\0'; name++) {
        if (!isalnum((unsigned char)*name))
            continue;
        if (n == MAX_NAME)
            return false;
        simple[n++] = (char)tolower((unsigned char)*name);
    }
    simple[n] = '\0';
    return n > 0;
}

void board_suggest(const char *name, char *text, size_t n_bytes)
{
    char asked[MAX_NAME + 1], family[MAX_NAME + 1], known[MAX_NAME + 1];
    size_t n_used = 0;
    int n = 0;

    text[0] = '\0';
    if (!simplify(name, asked))
        return;
    if (strcmp(asked, "hex") == 0) { /* a game, and the form of another game's boards */
        snprintf(text, n_bytes,
                 "hex11 or rhombus:N (the game of Hex), hex8 or hexagon:R (RingRift)");
        return;
    }
    /* Of a name with a size only the family's part can be compared. */
    snprintf(family, sizeof family, "%.*s", (int)strcspn(asked, "0123456789"), asked);
    for (size_t d = 0; d <= 1 + strlen(asked) / 4; d++) {
        for (size_t i = 0; i < board_n_presets + board_n_families; i++) {
            const bool is_preset = i < board_n_presets;
            const struct board_family *of = is_preset ? NULL : board_families[i - board_n_presets];

            if (n == N_SUGGESTIONS || n_used >= n_bytes ||
                !simplify(is_preset ? board_presets[i].name : of->name, known) ||
                (!is_preset && d >= strlen(known)) ||
                text_distance(is_preset ? asked : family, known) != d)
                continue;
            n_used += (size_t)snprintf(text + n_used, n_bytes - n_used, "%s%s", n++ > 0 ? ", " : "",
                                       is_preset ? board_presets[i].name : of->syntax);
        }
    }
}

/* --- by shapes --- */

const char *board_by_shape(const struct board_seen *seen)
{
    for (size_t i = 0; i < board_n_families; i++) {
        const struct board_shape *shape = board_families[i]->shapes;

        for (; shape != NULL && shape->board != NULL; shape++)
            if (shape->rows == seen->rows && shape->cols == seen->cols &&
                (shape->n_actions == 0 || shape->n_actions == seen->n_actions ||
                 (shape->is_ringrift && seen->is_ringrift && seen->n_actions == 0)))
                return shape->board;
    }
    return NULL;
}

bool board_shape_is_known(uint64_t rows, uint64_t cols)
{
    for (size_t i = 0; i < board_n_families; i++) {
        const struct board_shape *shape = board_families[i]->shapes;

        for (; shape != NULL && shape->board != NULL; shape++)
            if (shape->rows == rows && shape->cols == cols)
                return true;
    }
    return false;
}

size_t board_guess(const struct board_seen *seen, char names[BOARD_MAX_GUESSES][64])
{
    unsigned ranks[BOARD_MAX_GUESSES];
    size_t n = 0;

    if (seen->rows > BOARD_MAX_CELLS || seen->cols > BOARD_MAX_CELLS)
        return 0;
    for (size_t i = 0; i < board_n_families && n < BOARD_MAX_GUESSES; i++) {
        char name[64];
        const unsigned rank = board_families[i]->guess != NULL
                                  ? board_families[i]->guess(seen, name, sizeof name)
                                  : 0;
        size_t at = n;

        if (rank == 0)
            continue;
        for (; at > 0 && ranks[at - 1] > rank; at--) {
            ranks[at] = ranks[at - 1];
            memcpy(names[at], names[at - 1], sizeof names[at]);
        }
        ranks[at] = rank;
        memcpy(names[at], name, sizeof name);
        n++;
    }
    return n;
}
