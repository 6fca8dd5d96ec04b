/*
 * role_problems.c - what could not be decided about the arrays of a shard or about the shard
 * itself: a list of problems, each with the role that most likely settles it. Also what all looks
 * at arrays share: one is found by its key, the range of its numbers, the end of a look.
 */
#include "shard/role_parts.h"

static const char user_tells[] = "";
const char *const role_flags_of_frames[] = {" --planes colour", " --planes mover", user_tells,
                                            NULL};

struct role_case *role_find(const struct role_context *c, const char *key, size_t n_bytes,
                            const char *ending)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = c->by_key[middle]->array->key;
        int order = strncmp(other, key, n_bytes);

        if (order == 0)
            order = strcmp(other + n_bytes, ending);
        if (order == 0)
            return c->by_key[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum role role_wanted(const struct role_case *a)
{
    if (a->sparse != NULL)
        return a->sparse == a ? ROLE_POLICY_INDEX : ROLE_POLICY_VALUE;
    return a->is_told ? a->told->role : a->named.role;
}

void role_begin_look(const struct role_case *a, struct walk *walk)
{
    a->c->why = (struct error){0};
    walk_begin(walk, &(struct reader){.arrays = &a->array, .n_arrays = 1}, 1, NULL, &a->c->why);
}

bool role_end_look(const struct role_case *a, int status)
{
    if (status != 0 && a->c->why.kind != ERROR_DATA)
        error_pass(&a->c->failed, &a->c->why);
    return status == 0;
}

bool role_find_range(const struct role_case *a, uint64_t max_nbytes, double *low, double *high)
{
    struct number_range range = {0};
    int status = 0;

    a->c->why = (struct error){0};
    if (a->array->objects != NULL || dtype_is_number(&a->h->dtype))
        status = number_range_find(&a->array, 1, max_nbytes, &range, &a->c->why);
    *low = range.min;
    *high = range.max;
    return role_end_look(a, status) && range.n > 0;
}

void role_problems_release(struct role_problems *problems)
{
    free(problems->items);
    free(problems->places);
    *problems = (struct role_problems){0};
}

struct role_problem *role_problem_of(const struct role_problems *problems, int array)
{
    const size_t i = (size_t)(array + 1);

    return i < problems->n_places && problems->places[i] > 0
               ? &problems->items[problems->places[i] - 1]
               : NULL;
}

struct role_problem *role_problem_add(struct role_problems *problems, int array, struct error *err)
{
    const size_t i = (size_t)(array + 1);

    if (list_room(&problems->items, problems->n + 1, sizeof *problems->items, "roles", err) != 0 ||
        (i >= problems->n_places &&
         list_room(&problems->places, i + 1, sizeof *problems->places, "roles", err) != 0))
        return NULL;
    while (problems->n_places <= i)
        problems->places[problems->n_places++] = 0;
    problems->places[i] = ++problems->n;
    problems->items[problems->n - 1] = (struct role_problem){.array = array, .flags = ""};
    return &problems->items[problems->n - 1];
}

void role_refuse_shard(struct role_context *c, enum error_code code, const char *reason)
{
    const struct error_place place = {.file = c->archive->path, .code = code};
    struct role_problem *problem = role_problem_add(c->problems, -1, &c->failed);

    if (problem != NULL)
        error_fill_at(&problem->why, ERROR_DATA, &place, "%s", reason);
}

int role_refuse_as(struct role_case *a, const char *role, enum error_code code, const char *advice,
                   const char *format, ...)
{
    struct role_problem *problem =
        a->is_refused ? NULL
                      : role_problem_add(a->c->problems, (int)(a - a->c->cases), &a->c->failed);
    const struct text_quoted key = text_path(a->array->key);
    char reason[1024], offer[600] = "";
    va_list args;

    a->b->role = ROLE_META;
    a->is_refused = true;
    if (problem == NULL)
        return -1;
    problem->flags = a->flags != NULL ? a->flags : "";
    snprintf(problem->role, sizeof problem->role, "%s",
             role != NULL && strcmp(role, "ROLE") != 0 ? role : "drop");
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (advice != NULL)
        text_add(offer, sizeof offer, "%s", advice);
    else if (code == ERROR_CODE_SHAPE && role != NULL)
        text_add(offer, sizeof offer, "--role %s=%s or --copy %s", key.text, role, key.text);
    else if (code == ERROR_CODE_SHAPE)
        text_add(offer, sizeof offer, "--copy %s", key.text);
    const struct error_place place = {.file = a->c->archive->path,
                                      .array = a->array->key,
                                      .advice = offer[0] != '\0' ? offer : NULL,
                                      .code = code};
    return error_set_at(&problem->why, ERROR_DATA, &place, "dtype %s, shape %s: %s%s%s",
                        dtype_name(&a->h->dtype).text, text_shape(a->h->shape, a->h->n_dims).text,
                        reason, offer[0] != '\0' ? ROLE_ADVICE : "", offer);
}

int role_check_rows(struct role_case *a)
{
    const bool is_single = a->h->n_dims == 0;
    const struct text_quoted key = text_path(a->array->key);
    const struct text_quoted rows = text_quote(a->c->rows->array->key);

    if (!is_single && a->array->n_rows == a->c->n_rows)
        return 0;
    return role_refuse_as(a, "drop", ERROR_CODE_ROWS,
                          text_format("--role %s=meta if these are no rows", key.text).text,
                          "expected %" PRIu64 " rows%s%.200s, found %s", a->c->n_rows,
                          is_single ? "" : " as in ", is_single ? "" : rows.text,
                          is_single ? "a single value"
                                    : text_format("%" PRIu64, a->array->n_rows).text);
}
