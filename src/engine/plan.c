/* plan.c - see plan.h. */
#include "engine/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plan_warn(struct plan *plan, struct error *err, const char *format, ...)
{
    char **grown = realloc(plan->warnings, (plan->n_warnings + 1) * sizeof *grown);
    va_list args;
    int n;

    if (grown == NULL)
        return error_no_memory(err, "warnings");
    plan->warnings = grown;
    va_start(args, format);
    n = vasprintf(&grown[plan->n_warnings], format, args);
    va_end(args);
    if (n < 0)
        return error_no_memory(err, "warnings");
    plan->n_warnings++;
    return 0;
}

struct text_quoted plan_array_name(const struct plan *plan, const struct plan_array *array)
{
    struct text_quoted name;
    struct text_quoted path = text_path(plan->archives[0].path), key = text_path(array->key);

    /* Two long names share the room: the array's end matters more than the path's. */
    snprintf(name.text, sizeof name.text, "%.*s: %.100s", 150, path.text, key.text);
    return name;
}

/* --ambiguous keep: entries that name a region by one of its cells stay where they are. */
static void keep_ambiguous(struct action_space *space)
{
    for (uint32_t t = 0; t < space->board->n_transforms; t++)
        for (uint64_t a = 0; a < space->length; a++)
            if (space->flags[a] & ACTION_AMBIGUOUS)
                space->dst[t * space->length + a] = space->src[t * space->length + a] = (uint32_t)a;
}

const struct action_space *plan_space(struct plan *plan, const struct role_binding *binding,
                                      struct error *err)
{
    struct action_space **grown;

    for (size_t i = 0; i < plan->n_spaces; i++)
        if (plan->spaces[i]->layout == binding->layout &&
            plan->spaces[i]->length == binding->n_actions && plan->spaces[i]->flip == binding->flip)
            return plan->spaces[i];
    grown = realloc(plan->spaces, (plan->n_spaces + 1) * sizeof(struct action_space *));
    if (grown == NULL) {
        error_no_memory(err, "action maps");
        return NULL;
    }
    plan->spaces = grown;
    grown[plan->n_spaces] = action_space_new(plan->board, binding->layout, binding->n_actions, err);
    if (grown[plan->n_spaces] == NULL)
        return NULL;
    plan->n_spaces++;
    if (plan->conventions.ambiguous == AMBIGUOUS_KEEP)
        keep_ambiguous(grown[plan->n_spaces - 1]);
    return action_space_flip(grown[plan->n_spaces - 1], binding->flip, err) == 0
               ? grown[plan->n_spaces - 1]
               : NULL;
}

int plan_refuse(const struct plan *plan, const struct plan_array *array, struct error *err,
                const char *format, ...)
{
    char reason[640];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return error_set(err, ERROR_DATA, "%s: %s", plan_array_name(plan, array).text, reason);
}

enum label_op plan_swap_label(const struct plan *plan, const struct plan_array *array)
{
    for (uint32_t k = 0; plan->swaps && k < plan->n_chosen; k++)
        if (plan->board->transforms[plan->chosen[k]].swaps_colours &&
            array->move.n_steps > plan->chosen[k])
            return array->move.steps[plan->chosen[k]].label;
    return LABEL_KEEP;
}

void plan_release(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        free(plan->arrays[i].sources);
        free(plan->arrays[i].values);
        row_move_release(&plan->arrays[i].move);
    }
    free(plan->arrays);
    for (size_t i = 0; i < plan->n_spaces; i++)
        action_space_free(plan->spaces[i]);
    free(plan->spaces);
    for (size_t i = 0; i < plan->n_archives; i++)
        archive_in_close(&plan->archives[i]);
    free(plan->archives);
    free(plan->archive_rows);
    for (size_t i = 0; i < plan->n_warnings; i++)
        free(plan->warnings[i]);
    free(plan->warnings);
    selection_release(&plan->selection);
    free(plan->chosen);
    board_free(plan->board);
    *plan = (struct plan){0};
}
