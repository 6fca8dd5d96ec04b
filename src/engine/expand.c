/*
 * expand.c - carrying a plan out: the members of one output shard are pulled into an archive by the
 * leader of a crew; beside them the data is surveyed, inputs and output are hashed. Then output,
 * sidecar and manifest get their names. A planned array becomes a member with its shape and header,
 * its size where it can be told beforehand, the kind of its pieces, and what its codec should know.
 */
#include "engine/expand.h"

#include "base/meter.h"
#include "base/output.h"
#include "base/text.h"
#include "manifest/manifest.h"

#include <pthread.h>
#include <sys/stat.h>

/* Output that is worth one thread more, and where others have outputs of their own to write. */
#define THREAD_NBYTES (1u << 20)
#define HELPER_NBYTES (8u << 20)

int expand_job_init(struct expand_job *job, struct plan *plan, const struct settings *settings,
                    struct error *err)
{
    *job = (struct expand_job){.plan = plan, .settings = settings, .force = settings->force};
    if (new_items(&job->supplies, plan->n_arrays + 1, "rows of all arrays", err) == 0 &&
        side_work_init(&job->digests, plan->archives, plan->n_archives, err) == 0 &&
        stone_watch_init(&job->watch, plan, 1, err) == 0) {
        plan->turns = &job->watch.turns;
        return 0;
    }
    expand_job_release(job);
    return -1;
}

void expand_job_release(struct expand_job *job)
{
    for (size_t i = 0; job->supplies != NULL && i < job->plan->n_arrays; i++)
        row_supply_close(&job->supplies[i]);
    free(job->supplies);
    side_work_release(&job->digests);
    if (job->plan != NULL)
        job->plan->turns = NULL;
    stone_watch_release(&job->watch);
    *job = (struct expand_job){0};
}

static void progress(void *self, uint64_t n_bytes)
{
    struct expand_job *job = self;

    job->result->unpacked_nbytes += n_bytes;
    meter_step(job->settings->meter, job->result->unpacked_nbytes, job->n_total);
}

/* --- a member --- */

/* At least what an item of an object array takes in the output, besides its data and strings: the
 * pickle's opcodes, shape and dtype (npy/pickle_write.c has them). */
#define OBJECT_ITEM_NBYTES 256

/* More than an object array can come to, or 0: none is known. With it the member needs no zip64
 * header, without which it is plainer, and libzip 1.7.3 survives a lack of memory. */
static uint64_t object_bound(const struct out_member *out)
{
    const struct plan *plan = out->job->plan;
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < plan->n_archives; i++) {
        const struct pickle_document *objects = out->array->sources[i]->objects;

        for (uint64_t k = 0; objects != NULL && k < objects->n_items; k++) {
            const struct pickle_item *item = &objects->items[k];
            uint64_t bound = OBJECT_ITEM_NBYTES;

            if (item->kind == PICKLE_STRING || item->kind == PICKLE_ARRAY)
                bound += item->n_bytes_or_items;
            for (uint32_t n = 0; item->kind == PICKLE_LIST && n < item->n_bytes_or_items; n++)
                bound += 16 + (item->as.items[n].kind == PICKLE_STRING
                                   ? (uint64_t)item->as.items[n].n_bytes_or_items
                                   : 0);
            if (__builtin_add_overflow(n_bytes, bound, &n_bytes))
                return 0;
        }
    }
    if (__builtin_mul_overflow(n_bytes, plan->n_chosen, &n_bytes) ||
        __builtin_add_overflow(n_bytes, out->pieces.head.header.n_bytes + 4096, &n_bytes))
        return 0;
    return n_bytes;
}

/* Whether rows in the order of the output come from windows of the input. */
static bool streams(const struct out_member *out)
{
    const struct plan_array *array = out->array;
    const struct plan *plan = out->job->plan;
    const uint64_t row_nbytes = array->csr == NULL
                                    ? array->spec.row_nbytes
                                    : csr_row_nbytes(array->csr, array->spec.dtype.itemsize);

    return out->kind != PIECES_OBJECTS && order_streams(out->job->order, row_nbytes) &&
           reader_can_stream(array->sources, plan->n_archives) &&
           (array->values == NULL || reader_can_stream(array->values, plan->n_archives));
}

static void add_period(struct codec_member *hints, uint64_t n_bytes)
{
    if (n_bytes == 0 || n_bytes > CODEC_HISTORY_NBYTES ||
        hints->n_periods == sizeof hints->periods / sizeof *hints->periods)
        return;
    for (size_t i = 0; i < hints->n_periods; i++)
        if (hints->periods[i] == n_bytes)
            return;
    hints->periods[hints->n_periods++] = (uint32_t)n_bytes;
}

/* Its rows come from a supply that the first shard opens, unless they are made of nothing that is
 * read. The hints are distances at which the bytes are likely to repeat: element, board row, plane,
 * output row, and in block order the same transform of the sample before. */
static struct pieces *open_member(struct member *member, struct codec_member *hints,
                                  struct error *err)
{
    struct out_member *out = (struct out_member *)member;
    const struct plan *plan = out->job->plan;
    const uint64_t item = out->item_nbytes;
    const bool has_rows = out->array != NULL && out->kind != PIECES_COPY;

    *hints = (struct codec_member){.n_bytes = out->head.size_known ? out->head.unpacked_nbytes : 0,
                                   .item_nbytes = item > 0 && item <= 8 ? (size_t)item : 1};
    add_period(hints, item);
    for (unsigned d = out->n_dims; has_rows && out->kind != PIECES_OBJECTS && d-- > 1;) {
        uint64_t n = item;

        for (unsigned k = d; k < out->n_dims && n <= CODEC_HISTORY_NBYTES; k++)
            n *= out->shape[k];
        add_period(hints, n);
        if (d == 2)
            add_period(hints, 2 * n);
    }
    if (has_rows && out->kind != PIECES_OBJECTS)
        add_period(hints, out->array->spec.row_nbytes * out->job->order->block_rows);
    if (has_rows && out->kind == PIECES_ROWS) {
        const struct order *order = out->job->order;

        hints->header_nbytes = out->pieces.head.header.n_bytes;
        hints->row_nbytes = out->array->spec.row_nbytes;
        hints->image_nrows = order->block_rows < order->n_rows ? order->block_rows : order->n_rows;
        hints->n_images = order->n_chosen;
    }
    if (has_rows && out->kind != PIECES_OFFSETS) {
        out->supply = &out->job->supplies[out->array - plan->arrays];
        if (!out->supply->is_open &&
            row_supply_open(out->supply, plan, out->array, streams(out), err) != 0)
            return NULL;
    }
    return pieces_new(out, err);
}

static void close_member(struct member *member)
{
    struct out_member *out = (struct out_member *)member;

    if (out->supply != NULL && order_is_last(out->job->order))
        row_supply_close(out->supply);
}

static int init_member(struct out_member *out, enum pieces_kind provenance,
                       const struct plan_array *array, struct expand_job *job, struct error *err)
{
    static const struct {
        const char *key, *member, *descr;
        uint64_t item_nbytes;
    } members[] = {{PLAN_SOURCE_KEY, PLAN_SOURCE_KEY ".npy", "'<i8'", 8},
                   {PLAN_TRANSFORM_KEY, PLAN_TRANSFORM_KEY ".npy", "'|u1'", 1}};
    const bool is_transform = provenance == PIECES_TRANSFORM;
    const struct order *order = job->order;
    const char *descr = members[is_transform].descr; /* its Python type */
    struct bytes *header = &out->pieces.head.header;
    uint64_t *const n_bytes = &out->head.unpacked_nbytes;

    *out = (struct out_member){
        .head = {.open = open_member,
                 .close = close_member,
                 .zip_method = codec_level_method(&job->settings->level)},
        .job = job,
        .array = array,
    };
    if (array == NULL) {
        out->kind = provenance;
        out->key = members[is_transform].key;
        out->head.name = members[is_transform].member;
        out->item_nbytes = members[is_transform].item_nbytes;
        out->n_dims = 1;
        out->shape[0] = order->n_images;
        memcpy(out->dtype.text, descr + 1, 3);
    } else { /* as in the inputs */
        const struct npy_header *from = &array->sources[0]->header;
        const bool is_offsets = array->binding.role == ROLE_POLICY_OFFSETS;

        out->kind = array->binding.role == ROLE_META ? PIECES_COPY
                    : array->csr != NULL ? (is_offsets ? PIECES_OFFSETS : PIECES_ELEMENTS)
                    : array->is_object   ? PIECES_OBJECTS
                                         : PIECES_ROWS;
        out->key = array->key;
        out->head.name = array->member;
        out->item_nbytes = from->dtype.itemsize;
        out->n_dims = from->n_dims;
        memcpy(out->shape, from->shape, from->n_dims * sizeof *out->shape);
        if (out->kind == PIECES_COPY)
            *n_bytes = pieces_copy_nbytes(array->sources[0]);
        else
            out->shape[0] = out->kind == PIECES_ELEMENTS
                                ? csr_length(array->csr, order, 0, order->n_images)
                                : order->n_images + (out->kind == PIECES_OFFSETS);
        out->dtype = dtype_name(&from->dtype);
        descr = from->descr;
    }
    out->head.size_known = out->kind != PIECES_OBJECTS;
    for (unsigned pad = 0; out->kind != PIECES_COPY; pad = 64) {
        header->n_bytes = 0;
        if (npy_header_write(descr, out->shape, out->n_dims, pad, header, err) != 0)
            return -1;
        if (!out->head.size_known)
            *n_bytes = object_bound(out);
        else if (bytes_product(out->shape, out->n_dims, n_bytes) != 0 ||
                 __builtin_mul_overflow(*n_bytes, out->item_nbytes, n_bytes) ||
                 __builtin_add_overflow(*n_bytes, header->n_bytes, n_bytes))
            return error_set(err, ERROR_DATA, "%s: the expanded array is too large",
                             text_path(out->key).text);
        if (!out->head.size_known || !member_size_is_unsafe(*n_bytes))
            break;
    }
    /* Tables of rows are given memory one after the other. */
    out->head.waits = (out->kind == PIECES_ROWS || out->kind == PIECES_ELEMENTS) && !streams(out);
    return archive_out_add(job->archive, &out->head, err);
}

/* --- beside the members --- */

static bool survey_is_due(void *self)
{
    const struct expand_job *job = self;

    return !job->was_surveyed && (job->watch.turns.planes == NULL || job->watch.turns.is_complete);
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
    struct text comment = {0}, manifest = {0};
    struct stat st;
    int status = 0;

    if (new_items(&job->members, n + 1, "members", err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct plan_array *array = i < plan->n_arrays ? &plan->arrays[i] : NULL;
        struct out_member *out = &job->members[job->n_members];

        if (array != NULL && array->binding.role == ROLE_DROP)
            continue;
        job->n_members++;
        if (init_member(out, i == plan->n_arrays ? PIECES_SOURCE : PIECES_TRANSFORM, array, job,
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
    /* The old manifest goes before the new output comes: its presence means success. Without
     * --force it is stale as long as there is no output; with one, both belong to a run that was
     * faster. */
    status = text_append(&manifest, err, "%s" MANIFEST_SUFFIX, job->path);
    if (status == 0 && lstat(manifest.text, &st) == 0 && (job->force || lstat(job->path, &st) != 0))
        status = output_remove(manifest.text, err);
    text_release(&manifest);
    if (status == 0 && (status = archive_out_commit(job->archive, err)) == 0 &&
        (!job->settings->sidecar ||
         (status = sidecar_write(job->path, &job->result->n_rows, job->force, err)) == 0))
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
        members->progress = progress;
        members->progress_self = job;
        status = write_output(job, job->err);
    }
    for (size_t i = 0; i < job->n_members; i++) {
        member_release(&job->members[i].head);
        bytes_release(&job->members[i].pieces.head.header);
    }
    free(job->members);
    archive_out_free(job->archive);
    return status;
}

/* An array of an input, and how it fared. */
struct data_check {
    const struct array *array;
    struct error err;
};

static void check_one(void *self, int64_t i, int worker)
{
    struct data_check *check = (struct data_check *)self + i;

    (void)worker;
    if (check->array->has_crc)
        array_read_all(check->array, NULL, &check->err);
}

int expand_write(struct expand_job *job, const struct order *rows, const char *path,
                 struct expand_result *result, struct error *err)
{
    const struct settings *settings = job->settings;
    const bool is_folder = settings->form == ARCHIVE_OUT_NPY_FOLDER;
    const struct plan *plan = job->plan;
    struct data_check *checks = NULL;
    size_t n_checks = 0;
    struct text name = {0};
    struct stat st, other;
    const bool is_beside = settings->n_helpers > settings->n_threads;
    const int most = is_beside ? settings->n_helpers : settings->n_threads;
    const uint64_t worth = expand_estimate(plan) / (is_beside ? HELPER_NBYTES : THREAD_NBYTES) + 1;

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
    /* An input, a folder or its files, must not be the output, whatever it is called. */
    for (size_t i = 0; status == 0 && i < plan->n_archives && stat(name.text, &st) == 0; i++) {
        const struct archive_in *in = &plan->archives[i];

        for (size_t k = 0; k <= in->n_inputs && status == 0; k++)
            if (stat(k == 0 ? in->path : in->inputs[k - 1].path, &other) == 0 &&
                other.st_dev == st.st_dev && other.st_ino == st.st_ino)
                status = error_set_at(err, ERROR_CANT_CREATE, ERROR_IN(name.text),
                                      "the output is the same file as input %s",
                                      text_path(in->path).text);
    }
    if (status == 0 && settings->sidecar)
        status = sidecar_write(name.text, NULL, job->force, err);
    /* Slices come out before the end of the arrays, where the CRC is, has been read; what is wrong
     * must not be given its final name. */
    if (!job->is_checked && rows->n_images != rows->n_whole) {
        job->is_checked = status == 0;
        for (size_t i = 0; i < plan->n_archives && status == 0; i++) {
            const struct archive_in *in = &plan->archives[i];

            status = list_room(&checks, n_checks + in->n_arrays + 1, sizeof *checks,
                               "check of the inputs", err);
            for (size_t k = 0; k < in->n_arrays && status == 0; k++)
                checks[n_checks++] = (struct data_check){.array = &in->arrays[k]};
        }
        if (status == 0)
            crew_run_each(settings->n_threads, (int64_t)n_checks, check_one, checks);
        for (size_t k = 0; k < n_checks && status == 0; k++)
            if (checks[k].err.kind != ERROR_NONE)
                status = error_pass(err, &checks[k].err);
        free(checks);
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
