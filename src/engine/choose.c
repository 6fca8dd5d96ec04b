/* choose.c - see choose.h. */
#include "engine/choose.h"

#include <stdlib.h>
#include <string.h>

/* True when transform t gives a new and exact image under the conventions. */
static bool is_allowed(const struct plan *plan, uint32_t t)
{
    const struct board *board = plan->board;

    if (plan->conventions.planes == PLANES_CANONICAL && board->transforms[t].swaps_colours)
        return false;
    if (board->family->has_tiles && plan->conventions.tiles == TILES_PERMUTE)
        return true;
    return memchr(board->default_ids, (int)t, board->n_default_ids) != NULL;
}

static bool is_rotation(const struct board *board, uint32_t t)
{
    return t == 0 || strncmp(board->transforms[t].name, "rotate", 6) == 0;
}

static bool is_listed(const struct plan *plan, uint32_t t)
{
    return memchr(plan->chosen, (int)t, plan->n_chosen) != NULL;
}

static int refuse(const struct plan *plan, uint32_t t, struct error *err)
{
    const char *why = "it is not exact on this board";

    if (plan->conventions.planes == PLANES_CANONICAL)
        why = "with canonical planes it repeats another image";
    else if (plan->board->family->has_tiles)
        why = "tiles would have to be renumbered: use --tiles permute";
    return error_set(err, ERROR_USAGE, "--transforms: %u (%s) cannot be used: %s", t,
                     plan->board->transforms[t].name, why);
}

/* A group word: every allowed transform of that kind. Returns false when it is no group word. */
static bool add_group(struct plan *plan, const char *word)
{
    const bool all = strcmp(word, "all") == 0, rotations = strcmp(word, "rotations") == 0;

    if (!all && !rotations && strcmp(word, "reflections") != 0)
        return false;
    for (uint32_t t = 0; t < plan->board->n_transforms; t++)
        if (is_allowed(plan, t) && !is_listed(plan, t) &&
            (all || rotations == is_rotation(plan->board, t)))
            plan->chosen[plan->n_chosen++] = (uint8_t)t;
    return true;
}

static int add_word(struct plan *plan, const char *word, struct error *err)
{
    int t;

    if (add_group(plan, word))
        return 0;
    t = board_find_transform(plan->board, word);
    if (t < 0)
        return error_set(
            err, ERROR_USAGE,
            "--transforms: board %s has no transform %s; `symaug boards %s` lists them",
            plan->board->preset, text_quote(word).text, plan->board->preset);
    if (!is_allowed(plan, (uint32_t)t))
        return refuse(plan, (uint32_t)t, err);
    if (is_listed(plan, (uint32_t)t))
        return error_set(err, ERROR_USAGE, "--transforms: %d (%s) is listed twice", t,
                         plan->board->transforms[t].name);
    plan->chosen[plan->n_chosen++] = (uint8_t)t;
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

int choose_transforms(struct plan *plan, const char *text, struct error *err)
{
    char *copy = strdup(text != NULL ? text : "all"), *rest = copy, *word;
    int status = 0;

    plan->chosen = calloc(BOARD_MAX_TRANSFORMS + 1, 1);
    if (copy == NULL || plan->chosen == NULL) {
        free(copy);
        return error_no_memory(err, "transforms");
    }
    while (status == 0 && (word = strsep(&rest, ",")) != NULL)
        status = add_word(plan, word, err);
    free(copy);
    if (status != 0)
        return -1;
    if (plan->n_chosen == 0)
        return error_set(err, ERROR_USAGE, "--transforms: %s leaves no image on board %s",
                         text_quote(text).text, plan->board->preset);
    qsort(plan->chosen, plan->n_chosen, 1, compare_ids);
    for (uint32_t k = 0; k < plan->n_chosen; k++)
        plan->swaps |= plan->board->transforms[plan->chosen[k]].swaps_colours;
    return 0;
}
