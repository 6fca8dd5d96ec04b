/*
 * role_katago.c - KataGo's training shards: a closed set of members, each with its own dtype, shape
 * and role, as one table. A shard is KataGo's when all its members are in the table and none that
 * is required is missing. Its reader accepts no others, so anything else in it is refused.
 */
#include "shard/role_parts.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

static const struct member_rule {
    const char *name;
    enum role role;
    char dtype[4]; /* without byte order */
    unsigned n_dims;
    uint64_t n_planes; /* dimension 1, 0 for any */
    bool required;
    role_fit fit; /* NULL: copied */
} members[] = {
    {"binaryInputNCHWPacked", ROLE_PACKED, "u1", 3, 22, true, role_fit_packed},
    {"policyTargetsNCMove", ROLE_POLICY, "i2", 3, 2, true, role_fit_policy},
    {"qValueTargetsNCMove", ROLE_ACTION_VALUES, "i2", 3, 3, false, role_fit_policy},
    {"valueTargetsNCHW", ROLE_PLANES, "i1", 4, 5, true, role_fit_planes},
    {"globalInputNC", ROLE_COPY, "f4", 2, 0, true, NULL},
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
    for (size_t i = 0; i < N_OF(members); i++)
        if (members[i].required && archive_in_find(archive, members[i].name) == NULL)
            return false;
    return true;
}

static bool is_dtype(const struct dtype *dtype, const char *name)
{
    return dtype->kind == name[0] && dtype->itemsize == (uint32_t)(name[1] - '0');
}

static int refuse_unknown(struct role_context *c, size_t i)
{
    char reason[300];
    size_t used = (size_t)snprintf(reason, sizeof reason,
                                   "no member of a KataGo shard; its reader accepts only");

    for (size_t k = 0; k < N_OF(members) && used < sizeof reason; k++)
        used += (size_t)snprintf(reason + used, sizeof reason - used, "%s %s", k > 0 ? "," : "",
                                 members[k].name);
    return role_refuse(c, i, NULL, reason);
}

int role_katago_bind(struct role_context *c, size_t i)
{
    const struct array *array = &c->archive->arrays[i];
    const struct npy_header *h = &array->header;
    const struct member_rule *rule = find_member(array->key);
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason = {""};

    if (rule == NULL)
        return refuse_unknown(c, i);
    if (role_check_rows(c, i) != 0)
        return -1;
    if (!is_dtype(&h->dtype, rule->dtype) || h->n_dims != rule->n_dims ||
        (rule->n_planes > 0 && h->shape[1] != rule->n_planes)) {
        snprintf(reason.text, sizeof reason.text, "expected dtype %s and %u dimensions",
                 rule->dtype, rule->n_dims);
        if (rule->n_planes > 0)
            snprintf(reason.text + strlen(reason.text), sizeof reason.text - strlen(reason.text),
                     ", the second one %" PRIu64, rule->n_planes);
        return role_refuse(c, i, NULL, reason.text);
    }
    b->role = ROLE_COPY;
    b->inferred = true;
    if (rule->fit == NULL)
        return 0;
    if (!rule->fit(c, i, b, &reason))
        return role_refuse(c, i, NULL, reason.text);
    if (rule->fit == role_fit_policy && b->n_actions != (uint64_t)c->board->n_cells + 1)
        return role_refuse(c, i, NULL, "expected an action per cell and a pass");
    b->role = rule->role;
    return 0;
}

const char *role_katago_missing(const struct archive_in *archive)
{
    for (size_t i = 0; i < N_OF(members); i++)
        if (members[i].required && archive_in_find(archive, members[i].name) == NULL)
            return members[i].name;
    return NULL;
}
