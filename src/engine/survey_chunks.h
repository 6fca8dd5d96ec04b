/*
 * survey_chunks.h - what the surveys share: rows a chunk at a time, and leaving images out.
 */
#ifndef SYMAUG_ENGINE_SURVEY_CHUNKS_H
#define SYMAUG_ENGINE_SURVEY_CHUNKS_H

#include "engine/plan.h"
#include "shard/batch.h"

/* Open a zeroed batch over an array of the plan, in all inputs. Release it in any case. */
int survey_open(struct batch *batch, const struct plan *plan, const struct plan_array *array,
                struct error *err);

/* Its next rows, a chunk at a time; n is 0 after the last one. */
int survey_next(struct batch *batch, struct error *err);

/* An entry of a sparse policy; value is 1 where there are no values. */
struct entry {
    uint64_t row;
    int64_t index;
    double value;
    bool has_value;
};

/* Called for each entry; not 0 ends the visit and is passed on. */
struct entries_visitor {
    int (*visit)(void *self, const struct entry *entry, struct error *err);
    void *self;
};

/* Visit all entries of an array of indices, row by row: padded, CSR, objects. */
int survey_entries(const struct plan *plan, const struct plan_array *array,
                   const struct entries_visitor *visitor, struct error *err);

uint64_t survey_n_planes(const struct plan_array *planes);

#endif
