/*
 * lane.h - the rows of all arrays of a shard side by side, a window of rows at a time.
 *
 * A lane is one array with rows. A window holds the same rows of every lane: rows in sequence, read
 * as they come, or any rows at all, fetched from tables.
 */
#ifndef SYMAUG_VERIFY_LANE_H
#define SYMAUG_VERIFY_LANE_H

#include "shard/batch.h"
#include "shard/spec.h"
#include "verify/verify_shard.h"

struct lane {
    const struct array *array;          /* borrowed */
    const struct role_binding *binding; /* borrowed */
    struct spec spec;
    bool is_mapped;       /* spec is set: the array takes part in the comparison of images */
    int values;           /* POLICY_INDEX: the lane of its values; -1: none */
    struct reader reader; /* while the lanes are open */
    bool is_broken;       /* cannot be read; that has been reported */
};

struct lanes {
    struct shard *shard;                  /* borrowed */
    const struct verify_request *request; /* borrowed */
    struct verify_result *result;         /* borrowed: where findings go */
    struct spec_maker maker;              /* of the lanes' specs */
    struct lane *items;                   /* owned */
    size_t n;
    struct csr *csrs;    /* owned: by number of array, of offsets that were read */
    uint64_t row_nbytes; /* of all lanes together, about */
    int planes;          /* the lane that tells images apart (planes, packed or grid), or -1 */
};

/* An image: row `row` of the shard is the image of source `source` under `transform`. */
struct lane_image {
    uint64_t source;
    uint64_t row;
    uint32_t transform;
};

struct window {
    uint64_t n;
    uint64_t capacity;         /* of images, members and groups */
    struct lane_image *images; /* owned: the rows by position; without groups only .row counts */
    uint64_t *members;         /* owned: positions, group by group, lowest transform first */
    uint64_t *groups;          /* owned: group g is members[groups[g] .. groups[g + 1] - 1] */
    uint64_t n_groups;
    struct batch *batches; /* owned, one per lane */
};

/* Make the lanes of all arrays that have rows, with their maps when the board is known. Conventions
 * that do not fit an array become findings. The caller releases them. */
int lanes_init(struct lanes *lanes, struct shard *shard, const struct verify_request *request,
               struct verify_result *result, struct error *err);

/* Open every lane for rows in sequence, or at random. What cannot be read is a finding of
 * `result`. */
int lanes_open(struct lanes *lanes, bool at_random, struct verify_result *result,
               struct error *err);

/* Close what lanes_open has opened: it may be called again. */
void lanes_close(struct lanes *lanes);

void lanes_release(struct lanes *lanes);

int window_init(struct window *window, const struct lanes *lanes, uint64_t capacity,
                struct error *err);
void window_release(struct window *window, const struct lanes *lanes);

/*
 * Read lane i's rows of the window, which window->images name: in sequence, ascending ones after
 * those read last. Lanes may be read in parallel. The error is that of the lane.
 */
int window_read_lane(struct window *window, struct lanes *lanes, size_t i, struct error *err);

/* Row at position `at` of a window. */
struct row window_row(const struct window *window, const struct lanes *lanes, size_t i,
                      uint64_t at);

#endif
