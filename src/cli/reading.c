/* reading.c - see reading.h. */
#include "cli/reading.h"

#include "base/text.h"
#include "cli/option.h"
#include "engine/order.h"
#include "shard/schema.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_MEMORY (UINT64_C(1) << 30)

const struct plan_request reading_defaults = {
    .roles = ROLE_REQUEST_INIT,
    .conventions = {.planes = PLANES_COLOUR,
                    .value = VALUE_COLOUR01,
                    .to_move = TO_MOVE_01,
                    .to_move_plane = -1},
    .block_rows = ORDER_DEFAULT_BLOCK,
    .use_map = true,
    .max_memory = DEFAULT_MAX_MEMORY,
};

/* Options whose argument goes to conventions_set under their own name. */
static const struct {
    int id;
    const char *name;
} convention_options[] = {
    {OPT_PLANES, "planes"},     {OPT_VALUE, "value"},
    {OPT_TO_MOVE, "to-move"},   {OPT_AMBIGUOUS, "ambiguous"},
    {OPT_CASTLING, "castling"}, {OPT_CASTLING_PLANES, "castling-planes"},
    {OPT_TILES, "tiles"},
};

static int parse_plane_order(struct plan_request *request, const char *text, struct error *err)
{
    if (strcmp(text, "xy") != 0 && strcmp(text, "yx") != 0)
        return error_set(err, ERROR_USAGE, "--plane-order: %s is neither xy nor yx",
                         text_quote(text).text);
    request->roles.plane_xy = *text == 'x';
    return 0;
}

static int set_policy(struct plan_request *request, const char *text, struct error *err)
{
    free(request->roles.policy_layout);
    request->roles.policy_layout = strdup(text);
    return request->roles.policy_layout != NULL ? 0 : error_no_memory(err, "options");
}

static int apply(struct plan_request *request, int id, const char *argument, struct error *err)
{
    switch (id) {
    case OPT_ROLE:
        return role_request_add(&request->roles, argument, err);
    case OPT_COPY:
        return role_request_add_copy(&request->roles, argument, err);
    case OPT_POLICY:
        return set_policy(request, argument, err);
    case OPT_PLANE_ORDER:
        return parse_plane_order(request, argument, err);
    case OPT_MAX_MEMORY:
        if (text_parse_size(argument, &request->max_memory) != 0)
            return error_set(err, ERROR_USAGE, "--max-memory: %s is no size such as 500M or 2G",
                             text_quote(argument).text);
        return 0;
    default:
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    }
}

int reading_option(struct plan_request *request, int id, const char *argument, struct error *err)
{
    for (size_t i = 0; i < sizeof convention_options / sizeof *convention_options; i++)
        if (convention_options[i].id == id)
            return conventions_set(&request->conventions, convention_options[i].name, argument,
                                   err) == 0
                       ? 1
                       : -1;
    switch (id) {
    case OPT_BOARD:
        request->board = argument;
        return 1;
    case OPT_SCHEMA:
        request->schema = argument;
        return 1;
    case OPT_TMPDIR:
        request->tmpdir = argument;
        return 1;
    case OPT_NO_MMAP:
        request->use_map = false;
        return 1;
    case OPT_ROLE:
    case OPT_COPY:
    case OPT_POLICY:
    case OPT_PLANE_ORDER:
    case OPT_MAX_MEMORY:
        return apply(request, id, argument, err) == 0 ? 1 : -1;
    default:
        return 0;
    }
}

/* The schema's overrides first, then those of the options: the last one of an array counts. */
static int put_schema_first(struct plan_request *request, struct error *err)
{
    struct role_request all = ROLE_REQUEST_INIT, *said = &request->roles;
    struct role_override *grown;

    if (schema_read(request->schema, &all, err) != 0) {
        role_request_release(&all);
        return -1;
    }
    grown = realloc(all.overrides, (all.n_overrides + said->n_overrides + 1) * sizeof *grown);
    if (grown == NULL) {
        role_request_release(&all);
        return error_no_memory(err, "options");
    }
    if (said->n_overrides > 0)
        memcpy(grown + all.n_overrides, said->overrides, said->n_overrides * sizeof *grown);
    free(said->overrides);
    said->overrides = grown;
    said->n_overrides += all.n_overrides;
    if (said->policy_layout == NULL)
        said->policy_layout = all.policy_layout;
    else
        free(all.policy_layout);
    if (said->plane_xy < 0)
        said->plane_xy = all.plane_xy;
    return 0;
}

int reading_finish(struct plan_request *request, struct error *err)
{
    const char *tmpdir = getenv("TMPDIR");

    if (request->tmpdir == NULL)
        request->tmpdir = tmpdir != NULL && *tmpdir != '\0' ? tmpdir : "/tmp";
    return request->schema != NULL ? put_schema_first(request, err) : 0;
}

void reading_release(struct plan_request *request)
{
    role_request_release(&request->roles);
}
