/* expand_tasks.c - see expand_tasks.h. */
#include "engine/expand_tasks.h"

#include "engine/plan.h"

/* --- preparing members --- */

/* The member whose turn it is, and the next one, if it is not to wait for that one's memory. */
static bool preparer_is_due(void *self)
{
    const struct preparer *p = self;
    const struct expand_tasks *tasks = p->tasks;

    if (p->next >= tasks->on.n_members)
        return false;
    if (p->next < tasks->n_begun)
        return true;
    return p->next <= tasks->n_begun && out_member_streams(&tasks->on.members[p->next]);
}

static void preparer_advance(void *self)
{
    struct preparer *p = self;

    p->next += EXPAND_N_PREPARERS;
}

static void preparer_step(void *self)
{
    struct preparer *p = self;

    out_member_prepare(&p->tasks->on.members[p->next]);
    crew_change(p->tasks->crew, preparer_advance, p);
}

/* --- the others --- */

static void set_surveyed(void *self)
{
    struct expand_tasks *tasks = self;

    tasks->was_surveyed = true;
    tasks->survey_failed = tasks->survey_failure.kind != ERROR_NONE;
}

static bool survey_is_due(void *self)
{
    const struct expand_tasks *tasks = self;

    return !tasks->was_surveyed;
}

static void survey_step(void *self)
{
    struct expand_tasks *tasks = self;

    plan_survey(tasks->on.plan, &tasks->survey_failure);
    crew_change(tasks->crew, set_surveyed, tasks);
}

static bool inputs_are_due(void *self)
{
    const struct expand_tasks *tasks = self;

    return tasks->inputs_failure.kind == ERROR_NONE && side_work_is_due(tasks->on.digests);
}

static void inputs_step(void *self)
{
    struct expand_tasks *tasks = self;

    side_work_step(tasks->on.digests, &tasks->inputs_failure);
}

static bool output_is_due(void *self)
{
    const struct expand_tasks *tasks = self;

    return archive_out_digest_is_due(tasks->on.archive);
}

static void output_step(void *self)
{
    const struct expand_tasks *tasks = self;

    archive_out_digest_step(tasks->on.archive);
}

/* --- */

void expand_tasks_begin(struct expand_tasks *tasks, struct crew *crew,
                        const struct expand_beside *on)
{
    *tasks = (struct expand_tasks){
        .crew = crew,
        .on = *on,
        .was_surveyed = on->plan->is_surveyed,
        .survey = {.is_due = survey_is_due, .step = survey_step, .self = tasks},
        .inputs = {.is_due = inputs_are_due, .step = inputs_step, .self = tasks},
        .output = {.is_due = output_is_due, .step = output_step, .self = tasks},
    };
    for (size_t i = 0; i < EXPAND_N_PREPARERS; i++) {
        struct preparer *p = &tasks->preparers[i];

        *p = (struct preparer){.tasks = tasks, .next = i};
        p->task = (struct crew_task){.is_due = preparer_is_due, .step = preparer_step, .self = p};
        crew_add_task(crew, &p->task);
    }
    crew_add_task(crew, &tasks->survey);
    crew_add_task(crew, &tasks->inputs);
    crew_add_task(crew, &tasks->output);
}

static void begin_next(void *self)
{
    struct expand_tasks *tasks = self;

    tasks->n_begun++;
}

static bool is_prepared(void *self)
{
    const struct expand_tasks *tasks = self;
    const size_t member = tasks->n_begun - 1;

    return tasks->preparers[member % EXPAND_N_PREPARERS].next > member;
}

int expand_tasks_turn(void *self, struct out_member *out, struct error *err)
{
    struct expand_tasks *tasks = self;

    if (out == &tasks->on.members[tasks->n_begun]) {
        crew_change(tasks->crew, begin_next, tasks);
        crew_await(tasks->crew, is_prepared, tasks);
    }
    if (!tasks->survey_failed)
        return 0;
    return error_pass(err, &tasks->survey_failure);
}

static int finish_survey(struct expand_tasks *tasks, struct error *err)
{
    if (!tasks->was_surveyed)
        survey_step(tasks);
    if (tasks->survey_failure.kind == ERROR_NONE)
        return 0;
    *err = tasks->survey_failure;
    return -1;
}

int expand_tasks_end(struct expand_tasks *tasks, int status, struct error *err)
{
    for (size_t i = 0; i < EXPAND_N_PREPARERS; i++)
        crew_drop_task(tasks->crew, &tasks->preparers[i].task);
    crew_drop_task(tasks->crew, &tasks->survey);
    crew_drop_task(tasks->crew, &tasks->inputs);
    crew_drop_task(tasks->crew, &tasks->output);
    if ((status == 0 || err->kind == ERROR_DATA) && finish_survey(tasks, err) != 0)
        return -1;
    if (status != 0)
        return -1;
    if (tasks->inputs_failure.kind != ERROR_NONE) {
        *err = tasks->inputs_failure;
        return -1;
    }
    return side_work_finish(tasks->on.digests, err);
}
