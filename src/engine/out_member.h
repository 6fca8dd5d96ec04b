/*
 * out_member.h - an output array from a plan to the archive: its header and its pieces. The rows of
 * arrays come from supplies, which stay open from one shard of an output to the next.
 */
#ifndef SYMAUG_ENGINE_OUT_MEMBER_H
#define SYMAUG_ENGINE_OUT_MEMBER_H

#include "engine/pieces.h"
#include "engine/plan.h"
#include "write/member.h"

#include <stdbool.h>
#include <stdint.h>

/* What all members of one output share. Borrowed parts must outlive the members. */
struct out_settings {
    struct members members; /* in which they are all */
    const struct plan *plan;
    const struct order *order;   /* borrowed: the rows of this output */
    struct row_supply *supplies; /* borrowed: one for each array of the plan */
    struct stone_watch *watch;   /* borrowed: keeps some rows that pass by */
};

enum out_kind { OUT_ARRAY, OUT_SOURCE, OUT_TRANSFORM };

/* One array of the output. Plain until it is prepared. */
struct out_member {
    struct member head;
    enum out_kind kind;
    const struct plan *plan;
    const struct plan_array *array; /* OUT_ARRAY */
    const char *key;
    struct out_settings *settings; /* borrowed */
    char dtype[32];                /* for the manifest: "<f4" */
    uint64_t shape[NPY_MAX_DIMS];
    unsigned n_dims;
    struct bytes header; /* owned until it is prepared */
};

/* Make array `array` of the plan, or a provenance array, one of the members. It must stay where it
 * is; the caller releases it. */
int out_member_init(struct out_member *out, enum out_kind kind, const struct plan_array *array,
                    struct out_settings *settings, struct error *err);

void out_member_release(struct out_member *out);

#endif
