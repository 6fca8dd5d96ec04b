/*
 * role_katago.c - KataGo's training shards: a closed set of members, each with its own dtype, shape
 * and role, as one table. A shard is KataGo's when all its members are in the table and none that
 * is required is missing. Its reader accepts no others, so anything else in it is refused.
 */
#include "shard/role_parts.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

static const struct member_rule {
    const char *name;
    enum role role;
    char dtype[4]; /* without byte order */
    unsigned n_dims;
    unsigned n_planes; /* dimension 1, 0 for any */
    bool required;
    role_fit fit; /* NULL: copied */
} members[] = {
    {"binaryInputNCHWPacked", ROLE_PACKED, "u1", 3, 22, true, role_fit_packed},
    {"policyTargetsNCMove", ROLE_POLICY, "i2", 3, 2, true, role_fit_policy},
    {"qValueTargetsNCMove", ROLE_ACTION_VALUES, "i2", 3, 3, false, role_fit_policy},
    {"valueTargetsNCHW", ROLE_PLANES, "i1", 4, 5, true, role_fit_planes},
    {"globalInputNC", ROLE_GLOBALS, "f4", 2, 0, true, role_fit_globals},
    {"globalTargetsNC", ROLE_COPY, "f4", 2, 0, true, NULL},
    {"scoreDistrN", ROLE_COPY, "i1", 2, 0, true, NULL},
    {"metadataInputNC", ROLE_COPY, "f4", 2, 0, false, NULL},
};

static const struct member_rule *find_member(const char *key)
{
    for (size_t i = 0; i < N_OF(members); i++)
        if (strcmp(members[i].name, key) == 0)
            return &members[i];
    return NULL;
}

bool role_katago_is_shard(const struct archive_in *archive)
{
    for (size_t i = 0; i < archive->n_arrays; i++)
        if (find_member(archive->arrays[i].key) == NULL)
            return false;
    return role_katago_missing(archive) == NULL;
}

int role_katago_bind(struct role_case *a)
{
    const struct dtype *dtype = &a->h->dtype;
    const struct member_rule *rule = find_member(a->array->key);
    char second[40] = "", names[400] = "";

    for (size_t k = 0; k < N_OF(members); k++)
        text_add(names, sizeof names, "%s %s", k > 0 ? "," : "", members[k].name);
    if (rule == NULL)
        return role_refuse(a, NULL, "no member of a KataGo shard; its reader accepts only%s",
                           names);
    if (role_check_rows(a) != 0)
        return -1;
    if (dtype->kind != rule->dtype[0] || dtype->itemsize != (uint32_t)(rule->dtype[1] - '0') ||
        a->h->n_dims != rule->n_dims || (rule->n_planes > 0 && a->h->shape[1] != rule->n_planes)) {
        if (rule->n_planes > 0)
            snprintf(second, sizeof second, ", the second one %u", rule->n_planes);
        return role_refuse(a, NULL, "expected dtype %s and %u dimensions%s", rule->dtype,
                           rule->n_dims, second);
    }
    a->b->role = ROLE_COPY;
    a->b->inferred = true;
    if (rule->fit == NULL || (rule->role == ROLE_GLOBALS && !a->c->swaps_colours))
        return 0;
    if (!rule->fit(a))
        return role_refuse(a, NULL, "%s", a->c->reason);
    if (rule->fit == role_fit_policy && a->b->n_actions != (uint64_t)a->c->board->n_cells + 1)
        return role_refuse(a, NULL, "expected an action per cell and a pass");
    a->b->role = rule->role;
    return 0;
}

const char *role_katago_missing(const struct archive_in *archive)
{
    for (size_t i = 0; i < N_OF(members); i++)
        if (members[i].required && archive_in_find(archive, members[i].name) == NULL)
            return members[i].name;
    return NULL;
}
