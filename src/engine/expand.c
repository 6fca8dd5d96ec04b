/*
 * expand.c - carrying a plan out: the members of one output shard are pulled into an archive by the
 * leader of a crew; beside them the data is surveyed, inputs and output are hashed. Then output,
 * sidecar and manifest get their names.
 */
#include "engine/expand.h"

#include "base/meter.h"
#include "base/output.h"
#include "base/text.h"
#include "manifest/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Pieces of a run for each thread where a run's input is a part of its output only. */
#define MANY_PIECES 6

/* Everything that lives while one shard is written. */
struct expansion {
    struct expand_job *job;
    const struct plan *plan;
    const char *path;
    const struct settings *settings;
    struct out_settings out;
    struct out_member *members; /* owned */
    size_t n_members;
    struct archive_out *archive;
    uint64_t n_done, n_total;
    struct crew *crew; /* borrowed */
    struct crew_task survey, inputs, output;
    bool was_surveyed;                           /* under the crew's lock */
    struct error survey_failure, inputs_failure; /* of theirs, until they are done */
    struct expand_result *result;                /* borrowed */
    struct error *err;                           /* borrowed */
};

int expand_job_init(struct expand_job *job, struct plan *plan, const struct settings *settings,
                    struct error *err)
{
    *job = (struct expand_job){.plan = plan, .settings = settings, .force = settings->force};
    job->supplies = calloc(plan->n_arrays + 1, sizeof *job->supplies);
    if (job->supplies == NULL)
        error_no_memory(err, "rows of all arrays");
    else if (side_work_init(&job->digests, plan->archives, plan->n_archives, err) == 0 &&
             stone_watch_init(&job->watch, plan, err) == 0)
        return 0;
    expand_job_release(job);
    return -1;
}

void expand_job_release(struct expand_job *job)
{
    for (size_t i = 0; job->supplies != NULL && i < job->plan->n_arrays; i++)
        row_supply_close(&job->supplies[i]);
    free(job->supplies);
    side_work_release(&job->digests);
    stone_watch_release(&job->watch);
    *job = (struct expand_job){0};
}

static void progress(void *self, uint64_t n_bytes)
{
    struct expansion *x = self;

    x->n_done += n_bytes;
    meter_step(x->settings->meter, x->n_done, x->n_total);
}

static int add_members(struct expansion *x, struct error *err)
{
    const struct plan *plan = x->plan;
    const size_t n = plan->n_arrays + (plan->provenance ? 2 : 0);

    x->members = calloc(n + 1, sizeof *x->members);
    if (x->members == NULL)
        return error_no_memory(err, "members");
    for (size_t i = 0; i < n; i++) {
        const struct plan_array *array = i < plan->n_arrays ? &plan->arrays[i] : NULL;
        struct out_member *out = &x->members[x->n_members];

        if (array != NULL && array->binding.role == ROLE_DROP)
            continue;
        x->n_members++;
        if (out_member_init(out, i == plan->n_arrays ? PIECES_SOURCE : PIECES_TRANSFORM, array,
                            &x->out, err) != 0)
            return -1;
        x->n_total += out->head.size_known ? out->head.unpacked_nbytes : 0;
        if (archive_out_add(x->archive, &out->head, err) != 0)
            return -1;
    }
    return 0;
}

static int set_comment(struct expansion *x, struct error *err)
{
    struct text comment = {0};
    int status;

    if (x->plan->settings->purpose != FOR_IMAGES && !x->plan->was_expanded)
        return 0;
    status = text_append(&comment, err, PLAN_ZIP_COMMENT "%s", x->plan->board->name);
    if (status == 0)
        status = archive_out_set_comment(x->archive, comment.text, err);
    text_release(&comment);
    return status;
}

/* The old manifest goes before the new output comes: its presence means success. Without --force
 * it is stale as long as there is no output; with one, both belong to a run that was faster. */
static int remove_old_manifest(const char *path, bool force, struct error *err)
{
    struct text manifest = {0};
    struct stat st;
    int status = text_append(&manifest, err, "%s" MANIFEST_SUFFIX, path);

    if (status == 0 && lstat(manifest.text, &st) == 0 && (force || lstat(path, &st) != 0))
        status = output_remove(manifest.text, err);
    text_release(&manifest);
    return status;
}

/* Output, sidecar and manifest get their final names, while no other writer's do. */
static int commit_output(struct expansion *x, const struct expand_result *result, struct error *err)
{
    if (remove_old_manifest(x->path, x->job->force, err) != 0 ||
        archive_out_commit(x->archive, err) != 0)
        return -1;
    if (x->settings->sidecar && sidecar_write(x->path, result->n_rows, x->job->force, err) != 0)
        return -1;
    return record_write(x->job, x->path, result, &x->out.members, err);
}

/* --- beside the members --- */

static void set_surveyed(void *self)
{
    struct expansion *x = self;

    x->was_surveyed = true;
}

static bool survey_is_due(void *self)
{
    const struct expansion *x = self;

    return !x->was_surveyed;
}

static void survey_step(void *self)
{
    struct expansion *x = self;

    plan_survey(x->job->plan, &x->survey_failure);
    if (x->survey_failure.kind != ERROR_NONE)
        members_stop(&x->out.members, &x->survey_failure);
    crew_change(x->crew, set_surveyed, x);
}

static bool inputs_are_due(void *self)
{
    const struct expansion *x = self;

    return x->inputs_failure.kind == ERROR_NONE && !x->job->digests.done &&
           x->job->digests.used < x->out.members.n_loaded;
}

static void inputs_step(void *self)
{
    struct expansion *x = self;

    side_work_step(&x->job->digests, &x->inputs_failure);
}

static bool output_is_due(void *self)
{
    const struct expansion *x = self;

    return archive_out_digest_is_due(x->archive);
}

static void output_step(void *self)
{
    const struct expansion *x = self;

    archive_out_digest_step(x->archive);
}

/* What is left of it when the members are written (status 0), or not: err then says why. What the
 * survey refuses comes before what is wrong with single rows. */
static int finish_beside(struct expansion *x, int status, struct error *err)
{
    if (status == 0 || err->kind == ERROR_DATA) {
        if (!x->was_surveyed)
            survey_step(x);
        if (x->survey_failure.kind != ERROR_NONE) {
            *err = x->survey_failure;
            return -1;
        }
    }
    if (status != 0)
        return -1;
    if (x->inputs_failure.kind != ERROR_NONE)
        return error_pass(err, &x->inputs_failure);
    return side_work_finish(&x->job->digests, err) == 0 ? stone_watch_judge(&x->job->watch, err)
                                                        : -1;
}

/* All members, with what goes on beside them. */
static int write_members(struct expansion *x, struct error *err)
{
    struct crew_task *const tasks[] = {&x->survey, &x->inputs, &x->output};
    int status;

    x->was_surveyed = x->plan->is_surveyed;
    x->survey = (struct crew_task){.is_due = survey_is_due, .step = survey_step, .self = x};
    x->inputs = (struct crew_task){.is_due = inputs_are_due, .step = inputs_step, .self = x};
    x->output = (struct crew_task){.is_due = output_is_due, .step = output_step, .self = x};
    members_begin(&x->out.members);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        crew_add_task(x->crew, tasks[i]);
    status = archive_out_write(x->archive, &x->result->n_bytes, x->result->sha256, err);
    members_end(&x->out.members);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        crew_drop_task(x->crew, tasks[i]);
    return finish_beside(x, status, err);
}

/* --- one shard --- */

static int write_output(struct expansion *x, struct error *err)
{
    struct expand_result *result = x->result;
    int turn, status;

    if (add_members(x, err) != 0 || set_comment(x, err) != 0 || write_members(x, err) != 0 ||
        plan_inputs_check_unchanged(x->plan, err) != 0)
        return -1;
    result->n_rows = x->out.order->n_images;
    result->first_row = x->out.order->first_image;
    result->unpacked_nbytes = x->n_done;
    if (archive_out_sync(x->archive, err) != 0)
        return -1;
    turn = output_turn_take(x->path);
    status = commit_output(x, result, err);
    output_turn_end(turn);
    return status;
}

/* With the crew at hand. */
static int write_with(void *self, struct crew *crew)
{
    struct expansion *x = self;
    int status = -1;

    x->crew = x->out.members.crew = crew;
    if ((x->archive = archive_out_new(x->path, x->settings->form, x->job->force, x->err)) != NULL)
        status = write_output(x, x->err);
    archive_out_free(x->archive);
    for (size_t i = 0; i < x->n_members; i++)
        out_member_release(&x->members[i]);
    members_release(&x->out.members);
    free(x->members);
    return status;
}

/* What must hold before the long work. */
static int check(struct expand_job *job, const struct order *rows, const char *path,
                 struct error *err)
{
    const struct settings *settings = job->settings;

    if (plan_inputs_check_not_output(job->plan, path, err) != 0 ||
        (settings->sidecar && sidecar_check(path, job->force, err) != 0))
        return -1;
    /* Slices come out before the end of the arrays, where the CRC is, has been read. */
    if (job->is_checked || rows->n_images == rows->n_whole)
        return 0;
    job->is_checked = true;
    return plan_inputs_check_data(job->plan, settings->n_threads, err);
}

int expand_write(struct expand_job *job, const struct order *rows, const char *path,
                 struct expand_result *result, struct error *err)
{
    struct expansion x = {
        .job = job, .plan = job->plan, .settings = job->settings, .result = result, .err = err};
    struct text name = {0};
    size_t n = strlen(path);
    int status;

    *result = (struct expand_result){0};
    x.out = (struct out_settings){
        .members = {.level = job->settings->level,
                    .pieces_per_thread = job->plan->n_chosen > 1 ? MANY_PIECES : 0,
                    .progress = progress,
                    .progress_self = &x},
        .plan = job->plan,
        .order = rows,
        .supplies = job->supplies,
        .watch = &job->watch,
    };
    /* A folder's manifest lies beside it, also when its name ends in a slash. */
    while (job->settings->form == ARCHIVE_OUT_NPY_FOLDER && n > 1 && path[n - 1] == '/')
        n--;
    status = text_append(&name, err, "%.*s", (int)n, path);
    x.path = name.text;
    if (status == 0)
        status = check(job, rows, x.path, err);
    if (status == 0)
        status = crew_run(job->settings->n_threads, write_with, &x);
    text_release(&name);
    return status;
}

int expand_compare(struct expand_job *job, const char *path, bool *is_known, struct text *list,
                   struct error *err)
{
    if (plan_survey(job->plan, err) != 0 || side_work_finish(&job->digests, err) != 0)
        return -1;
    return record_compare(job, path, is_known, list, err);
}

bool expand_is_remains(const struct expand_job *job, const char *path)
{
    struct text manifest = {0}, comment = {0};
    struct archive_in archive = {0};
    struct stat st;
    bool remains = false;

    if (text_append(&manifest, NULL, "%s" MANIFEST_SUFFIX, path) == 0 &&
        text_append(&comment, NULL, PLAN_ZIP_COMMENT "%s", job->plan->board->name) == 0 &&
        lstat(path, &st) == 0 && S_ISREG(st.st_mode) && lstat(manifest.text, &st) != 0 &&
        errno == ENOENT && archive_in_open(&archive, path, true, NULL) == 0) {
        remains = strcmp(archive.comment, comment.text) == 0;
        archive_in_close(&archive);
    }
    text_release(&manifest);
    text_release(&comment);
    return remains;
}

uint64_t expand_estimate(const struct plan *plan)
{
    const uint64_t images_per_row = plan->n_rows > 0 ? plan->order.n_images / plan->n_rows : 0;
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];

        if (array->binding.role == ROLE_DROP)
            continue;
        for (size_t k = 0; k < plan->n_archives; k++)
            n_bytes += array->sources[k]->unpacked_nbytes *
                       (array->binding.role == ROLE_META ? k == 0 : images_per_row);
    }
    return n_bytes + (plan->provenance ? 9 * plan->order.n_images : 0);
}
