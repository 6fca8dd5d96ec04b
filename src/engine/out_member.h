/*
 * out_member.h - an output array from a plan to the archive: its header, its pieces, opened when it
 * is its turn, or that of the array before it, and closed when it is done, so that the buffers of
 * no more than two arrays are in memory. The rows of arrays come from supplies, which stay open
 * from one shard of an output to the next.
 */
#ifndef SYMAUG_ENGINE_OUT_MEMBER_H
#define SYMAUG_ENGINE_OUT_MEMBER_H

#include "engine/member.h"
#include "engine/pieces_csr.h"
#include "engine/plan.h"
#include "engine/row_supply.h"
#include "shard/archive_out.h"

#include <stdbool.h>
#include <stdint.h>

struct out_member;

/* What all members of one output share. Borrowed parts must outlive the members. */
struct out_settings {
    struct member_settings member;
    const struct order *order;   /* borrowed: the rows of this output */
    struct row_supply *supplies; /* borrowed: one for each array of the plan */
    struct row_access access;
    /* Called before each pull: waits for the member's preparation, which may have been done beside
     * the one before; -1 when something beside the members has failed. */
    int (*turn)(void *self, struct out_member *out, struct error *err);
    void *turn_self;
    void (*progress)(void *self, uint64_t n_bytes); /* or NULL: unpacked bytes more are done */
    void *progress_self;
};

enum out_kind { OUT_ARRAY, OUT_SOURCE, OUT_TRANSFORM };

/* One array of the output. Plain until it is prepared. */
struct out_member {
    enum out_kind kind;
    const struct plan *plan;
    const struct plan_array *array; /* OUT_ARRAY */
    const char *key;
    struct out_settings *settings; /* borrowed */
    char dtype[32];                /* for the manifest: "<f4" */
    uint64_t shape[NPY_MAX_DIMS];
    unsigned n_dims;
    bool size_known;
    uint64_t unpacked_nbytes; /* when size_known, else a bound, or 0 without one */
    struct bytes header;      /* owned until it is prepared */
    struct csr csr;           /* owned: CSR triples */
    struct member *member;    /* owned from its preparation to its last pull */
    struct error failure;     /* of the preparation */
    char codec[32];           /* after the last pull */
    uint32_t crc;
};

/* Prepare array `array` of the plan, or a provenance array. The caller releases it. */
int out_member_init(struct out_member *out, enum out_kind kind, const struct plan *plan,
                    const struct plan_array *array, struct out_settings *settings,
                    struct error *err);

/* The pull source to register; valid while `out` stays where it is. */
struct member_source out_member_source(struct out_member *out);

/* True when it may be prepared while the member in front of it is pulled: it needs no table of
 * rows, which are given memory one after the other. */
bool out_member_streams(const struct out_member *out);

/* Open its input and choose its codec; out->failure tells whether that went well. By any thread,
 * before the first pull. */
void out_member_prepare(struct out_member *out);

/* The name in the container: the input's own, or NAME.npy for provenance arrays. */
const char *out_member_name(const struct out_member *out);

void out_member_release(struct out_member *out);

#endif
