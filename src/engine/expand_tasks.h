/*
 * expand_tasks.h - what the crew does beside the members of a shard: the next member is prepared
 * while one is pulled, the data surveyed, inputs and output hashed.
 */
#ifndef SYMAUG_ENGINE_EXPAND_TASKS_H
#define SYMAUG_ENGINE_EXPAND_TASKS_H

#include "base/crew.h"
#include "base/error.h"
#include "engine/out_member.h"
#include "engine/plan.h"
#include "engine/side_work.h"
#include "shard/archive_out.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Two members are prepared at a time: those of even, and those of odd numbers. */
#define EXPAND_N_PREPARERS 2

struct expand_tasks;

struct preparer {
    struct crew_task task;
    struct expand_tasks *tasks;
    size_t next; /* member, under the crew's lock */
};

/* What the tasks work on: borrowed, and not touched by others while they do. */
struct expand_beside {
    struct plan *plan;
    struct side_work *digests; /* of the inputs */
    struct archive_out *archive;
    struct out_member *members;
    size_t n_members;
};

struct expand_tasks {
    struct crew *crew;
    struct expand_beside on;
    size_t n_begun; /* members that have had their turn; under the crew's lock */
    struct preparer preparers[EXPAND_N_PREPARERS];
    struct crew_task survey, inputs, output;
    bool was_surveyed;                           /* under the crew's lock */
    struct error survey_failure, inputs_failure; /* of theirs, until they are done */
    _Atomic bool survey_failed;
};

/* Begin with all of them. `tasks` must stay where it is until the end. */
void expand_tasks_begin(struct expand_tasks *tasks, struct crew *crew,
                        const struct expand_beside *on);

/* A member's turn to be pulled has come: wait until it is prepared. -1 when the survey has refused
 * the data. */
int expand_tasks_turn(void *tasks, struct out_member *out, struct error *err);

/* All members are written (status 0), or not: err then says why. End the tasks, and finish survey
 * and digests of the inputs. What the survey refuses comes before what is wrong with single rows.
 * Returns 0 or -1. */
int expand_tasks_end(struct expand_tasks *tasks, int status, struct error *err);

#endif
