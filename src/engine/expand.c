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

#include <pthread.h>
#include <sys/stat.h>

/* Output for which a thread more is worth its start. */
#define THREAD_NBYTES (8u << 20)

/* Pieces of a run for each thread where a run's input is a part of its output only. */
#define MANY_PIECES 6

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
    struct expand_job *job = self;

    job->result->unpacked_nbytes += n_bytes;
    meter_step(job->settings->meter, job->result->unpacked_nbytes, job->n_total);
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

/* --- beside the members --- */

static bool survey_is_due(void *self)
{
    const struct expand_job *job = self;

    return !job->was_surveyed;
}

static void survey_step(void *self)
{
    struct expand_job *job = self;

    plan_survey(job->plan, &job->survey_failure);
    if (job->survey_failure.kind != ERROR_NONE)
        members_stop(&job->archive->members, &job->survey_failure);
    crew_lock(job->archive->members.crew);
    job->was_surveyed = true;
    crew_unlock(job->archive->members.crew);
}

static bool inputs_are_due(void *self)
{
    const struct expand_job *job = self;

    return job->inputs_failure.kind == ERROR_NONE && !job->digests.done &&
           job->digests.used < job->archive->members.n_loaded;
}

static void inputs_step(void *self)
{
    struct expand_job *job = self;

    side_work_step(&job->digests, &job->inputs_failure);
}

/* All members, with what goes on beside them. What the survey refuses comes before what is wrong
 * with single rows. */
static int write_members(struct expand_job *job, struct error *err)
{
    struct members *members = &job->archive->members;
    struct crew_task tasks[] = {
        {.is_due = survey_is_due, .step = survey_step, .self = job},
        {.is_due = inputs_are_due, .step = inputs_step, .self = job},
        {.is_due = output_digest_is_due, .step = output_digest_step, .self = &job->archive->digest},
    };

    job->was_surveyed = job->plan->is_surveyed;
    members_begin(members);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        crew_add_task(members->crew, &tasks[i]);
    const int status =
        archive_out_write(job->archive, &job->result->n_bytes, job->result->sha256, err);
    members_end(members);
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        crew_drop_task(members->crew, &tasks[i]);
    if ((status == 0 || err->kind == ERROR_DATA) && !job->was_surveyed)
        survey_step(job);
    if ((status == 0 || err->kind == ERROR_DATA) && job->survey_failure.kind != ERROR_NONE) {
        *err = job->survey_failure;
        return -1;
    }
    if (status != 0)
        return -1;
    if (job->inputs_failure.kind != ERROR_NONE)
        return error_pass(err, &job->inputs_failure);
    return side_work_finish(&job->digests, err) == 0 ? stone_watch_judge(&job->watch, err) : -1;
}

/* --- one output --- */

/* All members into the archive, which gets its final name. */
static int write_output(struct expand_job *job, struct error *err)
{
    /* Threads of one program do not wait for a turn by asking again and again. */
    static pthread_mutex_t next = PTHREAD_MUTEX_INITIALIZER;
    const struct plan *plan = job->plan;
    const size_t n = plan->n_arrays + (plan->provenance ? 2 : 0);
    struct text comment = {0};
    int status = 0;

    job->members = calloc(n + 1, sizeof *job->members);
    if (job->members == NULL)
        return error_no_memory(err, "members");
    for (size_t i = 0; i < n; i++) {
        const struct plan_array *array = i < plan->n_arrays ? &plan->arrays[i] : NULL;
        struct out_member *out = &job->members[job->n_members];

        if (array != NULL && array->binding.role == ROLE_DROP)
            continue;
        job->n_members++;
        if (out_member_init(out, i == plan->n_arrays ? PIECES_SOURCE : PIECES_TRANSFORM, array, job,
                            err) != 0)
            return -1;
        job->n_total += out->head.size_known ? out->head.unpacked_nbytes : 0;
    }
    if (job->settings->purpose == FOR_IMAGES || plan->was_expanded) {
        status = text_append(&comment, err, PLAN_ZIP_COMMENT "%s", plan->board->name);
        if (status == 0)
            status = archive_out_set_comment(job->archive, comment.text, err);
        text_release(&comment);
    }
    if (status != 0 || write_members(job, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_archives; i++)
        for (size_t k = 0; k < plan->archives[i].n_inputs; k++)
            if (input_unchanged(&plan->archives[i].inputs[k], err) != 0)
                return -1;
    /* What was written is on the disk by then, so that the commit need not wait for it. */
    if (job->settings->form != ARCHIVE_OUT_NPY_FOLDER &&
        output_sync(&job->archive->output, err) != 0)
        return -1;
    /* Output, sidecar and manifest get their final names while no other writer's do. */
    pthread_mutex_lock(&next);
    const int turn = output_turn_take(job->path);
    status = -1;
    if (remove_old_manifest(job->path, job->force, err) == 0 &&
        archive_out_commit(job->archive, err) == 0 &&
        (!job->settings->sidecar ||
         sidecar_write(job->path, &job->result->n_rows, job->force, err) == 0))
        status = record_write(job, err);
    output_turn_end(turn);
    pthread_mutex_unlock(&next);
    return status;
}

/* With the crew at hand. */
static int write_with(void *self, struct crew *crew)
{
    struct expand_job *job = self;
    int status = -1;

    job->archive = archive_out_new(job->path, job->settings->form, job->force, job->err);
    if (job->archive != NULL) {
        struct members *members = &job->archive->members;

        members->crew = crew;
        members->level = job->settings->level;
        members->n_threads = job->settings->n_threads;
        members->pieces_per_thread = job->plan->n_chosen > 1 ? MANY_PIECES : 0;
        members->progress = progress;
        members->progress_self = job;
        status = write_output(job, job->err);
    }
    for (size_t i = 0; i < job->n_members; i++)
        out_member_release(&job->members[i]);
    free(job->members);
    archive_out_free(job->archive);
    return status;
}

int expand_write(struct expand_job *job, const struct order *rows, const char *path,
                 struct expand_result *result, struct error *err)
{
    const struct settings *settings = job->settings;
    const bool is_folder = settings->form == ARCHIVE_OUT_NPY_FOLDER;
    struct text name = {0};
    const uint64_t worth = expand_estimate(job->plan) / THREAD_NBYTES + 1;
    const int most =
        settings->n_helpers > settings->n_threads ? settings->n_helpers : settings->n_threads;

    /* A folder's manifest lies beside it, also when its name ends in a slash. */
    int status = text_append(&name, err, "%.*s",
                             (int)(is_folder ? text_path_nbytes(path) : strlen(path)), path);
    *result = (struct expand_result){.n_rows = rows->n_images, .first_row = rows->first_image};
    job->path = name.text;
    job->order = rows;
    job->result = result;
    job->n_total = job->n_members = 0;
    job->members = NULL;
    job->err = err;
    if (status == 0)
        status = plan_inputs_check_not_output(job->plan, name.text, err);
    if (status == 0 && settings->sidecar)
        status = sidecar_write(name.text, NULL, job->force, err);
    /* Slices come out before the end of the arrays, where the CRC is, has been read. */
    if (status == 0 && !job->is_checked && rows->n_images != rows->n_whole) {
        job->is_checked = true;
        status = plan_inputs_check_data(job->plan, settings->n_threads, err);
    }
    if (status == 0)
        status = crew_run(worth < (uint64_t)most ? (int)worth : most, write_with, job);
    text_release(&name);
    return status;
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
    const double images_per_row =
        plan->n_rows > 0 ? (double)plan->order.n_images / (double)plan->n_rows : 0;
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];

        if (array->binding.role == ROLE_DROP)
            continue;
        for (size_t k = 0; k < plan->n_archives; k++)
            n_bytes += (uint64_t)((double)array->sources[k]->unpacked_nbytes *
                                  (array->binding.role == ROLE_META ? k == 0 : images_per_row));
    }
    return n_bytes + (plan->provenance ? 9 * plan->order.n_images : 0);
}
