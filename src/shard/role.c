/* role.c - the table of roles, their names, and what the user says about them (--role, --copy). */
#include "shard/role.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct role_info role_table[] = {
    {ROLE_PLANES, "planes", "(N,C,H,W), (N,H,W,C), (N,C,cells) or (N,C*H*W)",
     "gather per plane; a colour swap permutes planes and flips the to-move plane"},
    {ROLE_PACKED, "packed", "(N,C,ceil(HW/8)) u1", "gather of bits"},
    {ROLE_GRID, "grid", "(N,H,W) or (N,cells)", "gather; a colour swap exchanges codes"},
    {ROLE_POLICY, "policy", "(N,A), (N,H,W) or (N,k,A)", "gather over the action axis"},
    {ROLE_ACTION_VALUES, "action-values", "as policy, any numbers",
     "gather over the action axis; no sums or signs are checked"},
    {ROLE_MASK, "mask", "(N,A), (N,H,W) or (N,k,A)", "gather over the action axis"},
    {ROLE_POLICY_INDEX, "policy-index", "object rows, (N,L), or (M,) with offsets",
     "indices moved; order, duplicates and padding kept"},
    {ROLE_POLICY_VALUE, "policy-value", "as its indices", "kept, beside its indices"},
    {ROLE_POLICY_OFFSETS, "policy-offsets", "(N+1,) integers", "where each row begins"},
    {ROLE_ACTION, "action", "(N,) integers", "index moved; negative ones stay"},
    {ROLE_COORD, "coord", "(N,2) integers", "(row,col) moved; negative ones stay"},
    {ROLE_VALUE, "value", "(N,) or (N,k)", "kept; a colour swap changes the side"},
    {ROLE_WDL, "wdl", "(N,3)", "kept; a colour swap reverses it"},
    {ROLE_TO_MOVE, "to-move", "(N,)", "kept; a colour swap names the other player"},
    {ROLE_TILE, "tile", "(N,3) integers", "kept, or permuted with --tiles permute"},
    {ROLE_COPY, "copy", "(N,...)", "repeated for each image"},
    {ROLE_META, "meta", "any", "copied byte for byte, once"},
    {ROLE_DROP, "drop", "any", "left out"},
};
const size_t role_n_table = sizeof role_table / sizeof role_table[0];

const char *role_name(enum role role)
{
    for (size_t i = 0; i < role_n_table; i++)
        if (role_table[i].role == role)
            return role_table[i].name;
    return "unknown";
}

bool role_moves(enum role role)
{
    return role <= ROLE_COORD && role != ROLE_POLICY_VALUE && role != ROLE_POLICY_OFFSETS;
}

#define BIT(role) (1u << (role))
#define LAYOUT_ROLES                                                                        \
    (BIT(ROLE_POLICY) | BIT(ROLE_ACTION_VALUES) | BIT(ROLE_MASK) | BIT(ROLE_POLICY_INDEX) | \
     BIT(ROLE_ACTION))

enum option_field {
    OPTION_COL_FIRST,
    OPTION_LSB_FIRST,
    OPTION_CHANNELS_LAST,
    OPTION_PER_PLAYER,
    OPTION_FLIP,
    OPTION_WINNER
};

/* The options behind a role's colon, other than layout=L. */
static const struct role_option {
    const char *name;
    enum option_field field;
    int value;
    unsigned roles;
} option_table[] = {
    {"rowcol", OPTION_COL_FIRST, 0, BIT(ROLE_COORD)},
    {"colrow", OPTION_COL_FIRST, 1, BIT(ROLE_COORD)},
    {"msb", OPTION_LSB_FIRST, 0, BIT(ROLE_PACKED)},
    {"lsb", OPTION_LSB_FIRST, 1, BIT(ROLE_PACKED)},
    {"nchw", OPTION_CHANNELS_LAST, 0, BIT(ROLE_PLANES)},
    {"nhwc", OPTION_CHANNELS_LAST, 1, BIT(ROLE_PLANES)},
    {"players", OPTION_PER_PLAYER, 1, BIT(ROLE_VALUE)},
    {"flipud", OPTION_FLIP, ACTION_FLIPUD, LAYOUT_ROLES},
    {"fliplr", OPTION_FLIP, ACTION_FLIPLR, LAYOUT_ROLES},
    {"transpose", OPTION_FLIP, ACTION_TRANSPOSE, LAYOUT_ROLES},
    {"player", OPTION_WINNER, 0, BIT(ROLE_TO_MOVE)},
    {"winner", OPTION_WINNER, 1, BIT(ROLE_TO_MOVE)},
};

#define N_OPTIONS (sizeof option_table / sizeof option_table[0])

static const char layout_option[] = "layout=";
static const unsigned layout_roles = LAYOUT_ROLES;

static bool equals(const char *text, size_t n_bytes, const char *name)
{
    return strlen(name) == n_bytes && memcmp(text, name, n_bytes) == 0;
}

static int bad_option(const struct role_override *o, const char *text, size_t n_bytes,
                      struct error *err)
{
    struct text names = {0};

    for (size_t i = 0; i < N_OPTIONS; i++)
        if (option_table[i].roles & BIT(o->role))
            text_append(&names, NULL, "%s%s", names.n_bytes > 0 ? ", " : "", option_table[i].name);
    if (layout_roles & BIT(o->role))
        text_append(&names, NULL, "%slayout=NAME", names.n_bytes > 0 ? ", " : "");
    error_set(err, ERROR_USAGE, "%s: role %s has no option %s; its options: %s",
              text_quote(o->array).text, role_name(o->role), text_quote_bytes(text, n_bytes).text,
              names.n_bytes > 0 ? names.text : "none");
    text_release(&names);
    return -1;
}

static int parse_option(struct role_override *o, const char *text, size_t n_bytes,
                        struct error *err)
{
    const size_t prefix = sizeof layout_option - 1;

    if (n_bytes > prefix && memcmp(text, layout_option, prefix) == 0 && o->layout == NULL &&
        (layout_roles & BIT(o->role))) {
        o->layout = strndup(text + prefix, n_bytes - prefix);
        return o->layout == NULL ? error_no_memory(err, "a role's layout") : 0;
    }
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct role_option *option = &option_table[i];
        int *const fields[] = {&o->col_first,  &o->lsb_first, &o->channels_last,
                               &o->per_player, &o->flip,      &o->is_winner};

        if ((option->roles & BIT(o->role)) && equals(text, n_bytes, option->name)) {
            *fields[option->field] = option->value;
            return 0;
        }
    }
    return bad_option(o, text, n_bytes, err);
}

static int bad_role(const char *array, const char *text, size_t n_bytes, struct error *err)
{
    struct text names = {0};

    for (size_t i = 0; i < role_n_table; i++)
        text_append(&names, NULL, "%s%s", i > 0 ? ", " : "", role_table[i].name);
    error_set(err, ERROR_USAGE, "%s: no role is called %s; roles: %s", text_quote(array).text,
              text_quote_bytes(text, n_bytes).text, names.n_bytes > 0 ? names.text : "");
    text_release(&names);
    return -1;
}

/* Parse ROLE[:option,...] into o, whose array is set. */
static int parse_spec(struct role_override *o, const char *spec, struct error *err)
{
    size_t n_role = strcspn(spec, ":"), i = 0;

    while (i < role_n_table && !equals(spec, n_role, role_table[i].name))
        i++;
    if (i == role_n_table)
        return bad_role(o->array, spec, n_role, err);
    o->role = role_table[i].role;
    if (spec[n_role] == '\0')
        return 0;
    for (const char *text = spec + n_role + 1;; text++) {
        size_t n_bytes = strcspn(text, ",");

        if (parse_option(o, text, n_bytes, err) != 0)
            return -1;
        text += n_bytes;
        if (*text == '\0')
            return 0;
    }
}

static void override_release(struct role_override *o)
{
    free(o->array);
    free(o->layout);
}

static int add(struct role_request *request, const char *array, size_t n_array, const char *spec,
               struct error *err)
{
    struct role_override o = {
        .col_first = -1, .lsb_first = -1, .channels_last = -1, .flip = -1, .is_winner = -1};
    struct role_override *grown;

    if (n_array == 0)
        return error_set(err, ERROR_USAGE, "a role needs the name of an array: NAME=%s", spec);
    o.array = strndup(array, n_array);
    if (o.array == NULL)
        return error_no_memory(err, "a role");
    if (parse_spec(&o, spec, err) != 0)
        goto out;
    grown = realloc(request->overrides, (request->n_overrides + 1) * sizeof *grown);
    if (grown == NULL) {
        error_no_memory(err, "roles");
        goto out;
    }
    request->overrides = grown;
    grown[request->n_overrides++] = o;
    return 0;
out:
    override_release(&o);
    return -1;
}

int role_request_add(struct role_request *request, const char *text, struct error *err)
{
    const char *equal = strchr(text, '=');

    if (equal == NULL)
        return error_set(err, ERROR_USAGE, "a role is told as NAME=ROLE, not %s",
                         text_quote(text).text);
    return add(request, text, (size_t)(equal - text), equal + 1, err);
}

int role_request_add_spec(struct role_request *request, const char *array, const char *spec,
                          struct error *err)
{
    return add(request, array, strlen(array), spec, err);
}

int role_request_add_copy(struct role_request *request, const char *name, struct error *err)
{
    return add(request, name, strlen(name), role_name(ROLE_COPY), err);
}

static bool is_dropped(const void *self, const char *array)
{
    const struct role_request *request = self;
    bool drops = false;

    for (size_t i = 0; i < request->n_overrides; i++)
        if (strcmp(request->overrides[i].array, array) == 0)
            drops = request->overrides[i].role == ROLE_DROP;
    return drops;
}

int role_open(struct archive_in *archive, const char *path, bool use_map,
              const struct role_request *request, struct error *err)
{
    return archive_in_open_part(archive, path, use_map, is_dropped, request, err);
}

void role_request_release(struct role_request *request)
{
    for (size_t i = 0; i < request->n_overrides; i++)
        override_release(&request->overrides[i]);
    free(request->overrides);
    free(request->policy_layout);
    memset(request, 0, sizeof *request);
    request->plane_xy = -1;
}

int role_binding_spec(const struct role_binding *b, char *spec, size_t n_bytes)
{
    const char *role = role_name(b->role);
    int n;

    if (b->layout != NULL && (layout_roles & BIT(b->role)))
        n = snprintf(spec, n_bytes, "%s:%s%s%s%s", role, layout_option, b->layout->name,
                     b->flip != ACTION_AS_IS ? "," : "", action_flip_name(b->flip));
    else if (b->role == ROLE_PLANES && b->axes.inner * b->axes.outer > 1)
        n = snprintf(spec, n_bytes, "%s:%s", role, b->axes.inner > 1 ? "nhwc" : "nchw");
    else if (b->role == ROLE_PACKED)
        n = snprintf(spec, n_bytes, "%s:%s", role, b->lsb_first ? "lsb" : "msb");
    else if (b->role == ROLE_TO_MOVE && b->is_winner)
        n = snprintf(spec, n_bytes, "%s:winner", role);
    else if (b->role == ROLE_COORD)
        n = snprintf(spec, n_bytes, "%s:%s", role, b->col_first ? "colrow" : "rowcol");
    else if (b->role == ROLE_VALUE && b->per_player)
        n = snprintf(spec, n_bytes, "%s:players", role);
    else
        n = snprintf(spec, n_bytes, "%s", role);
    return n < 0 || (size_t)n >= n_bytes ? -1 : 0;
}
