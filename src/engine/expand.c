/*
 * expand.c - carrying out a plan: the leader of a crew pulls the members of one output shard into
 * an archive; meanwhile the crew also surveys the data and hashes inputs and output. Then output,
 * sidecar and manifest get their names. A planned array becomes a member with its shape and header,
 * its size where it is known beforehand, and the kind of its pieces.
 */
#include "engine/expand.h"

#include "base/output.h"
#include "manifest/manifest.h"

#include <dirent.h>
#include <pthread.h>

/* Bytes of output that are worth one more thread, and the same where the threads of other outputs
 * may help. */
#define THREAD_NBYTES (1u << 20)
#define HELPER_NBYTES (8u << 20)

/* What an array's member is in every output. */
static void init_member(struct out_member *out, struct expand_job *job,
                        const struct plan_array *array)
{
    const uint64_t row_nbytes = array->csr == NULL
                                    ? array->spec.row_nbytes
                                    : csr_row_nbytes(array->csr, array->spec.dtype.itemsize);
    const size_t n = job->plan->n_inputs;

    *out =
        (struct out_member){.kind = array->binding.role == ROLE_META             ? PIECES_COPY
                                    : array->is_object                           ? PIECES_OBJECTS
                                    : array->csr == NULL                         ? PIECES_ROWS
                                    : array->binding.role == ROLE_POLICY_OFFSETS ? PIECES_OFFSETS
                                                                                 : PIECES_ELEMENTS,
                            .array = array,
                            .form = array->sources[0],
                            .job = job};
    memcpy(out->shape, out->form->header.shape, sizeof out->shape);
    out->streams = (out->kind == PIECES_ROWS || out->kind == PIECES_ELEMENTS) &&
                   order_streams(&job->plan->order, row_nbytes) &&
                   reader_can_stream(array->sources, n) &&
                   (array->values == NULL || reader_can_stream(array->values, n));
}

int expand_job_init(struct expand_job *job, struct plan *plan, const struct settings *settings,
                    struct error *err)
{
    static const struct array provenance[] = {
        {.key = PLAN_SOURCE_KEY,
         .member = PLAN_SOURCE_KEY ".npy",
         .header = {.descr = "'<i8'", .dtype = {.kind = DTYPE_INT, .itemsize = 8}, .n_dims = 1}},
        {.key = PLAN_TRANSFORM_KEY,
         .member = PLAN_TRANSFORM_KEY ".npy",
         .header = {.descr = "'|u1'", .dtype = {.kind = DTYPE_UINT, .itemsize = 1}, .n_dims = 1}},
    };

    *job = (struct expand_job){.plan = plan, .settings = settings, .force = settings->force};
    if (new_items(&job->members, plan->n_arrays + 2, "members", err) != 0 ||
        digests_init(&job->digests, plan->inputs, plan->n_inputs, err) != 0 ||
        stone_watch_init(&job->watch, plan, 1, err) != 0) {
        expand_job_release(job);
        return -1;
    }
    plan->turns = &job->watch.turns;
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role != ROLE_DROP)
            init_member(&job->members[job->n_members++], job, &plan->arrays[i]);
    for (size_t i = 0; i < 2 && plan->provenance; i++)
        job->members[job->n_members++] = (struct out_member){
            .kind = i == 0 ? PIECES_SOURCE : PIECES_TRANSFORM, .form = &provenance[i], .job = job};
    return 0;
}

void expand_job_release(struct expand_job *job)
{
    for (size_t i = 0; i < job->n_members; i++) {
        pieces_release(&job->members[i]);
        bytes_release(&job->members[i].head.header);
    }
    free(job->members);
    digests_release(&job->digests);
    if (job->plan != NULL)
        job->plan->turns = NULL;
    stone_watch_release(&job->watch);
    *job = (struct expand_job){0};
}

/* --- a member --- */

/* A bound of what an item of an object array takes in the output besides its data, strings and list
 * items: the pickle's opcodes, shape and dtype (see npy/pickle_write.c). */
#define OBJECT_ITEM_NBYTES 256

/* A bound of the size of an object array's member, or 0 if none is known. With a bound the member
 * needs no zip64 header, and libzip 1.7.3 survives a lack of memory. */
static uint64_t object_bound(const struct out_member *out)
{
    const struct plan *plan = out->job->plan;
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < plan->n_inputs; i++) {
        const struct pickle_document *objects = out->array->sources[i]->objects;

        n_bytes += objects->n_bytes + OBJECT_ITEM_NBYTES * objects->n_items; /* both fit 64 bits */
    }
    if (__builtin_mul_overflow(n_bytes, plan->n_chosen, &n_bytes) ||
        __builtin_add_overflow(n_bytes, out->head.header.n_bytes + 4096, &n_bytes))
        return 0;
    return n_bytes;
}

/* Add a member to the archive, with the header and the size that it has in this output. */
static int add_member(struct out_member *out, struct error *err)
{
    struct expand_job *job = out->job;
    const struct order *order = job->order;
    const bool is_list = out->kind == PIECES_ROWS || out->kind == PIECES_ELEMENTS;
    const struct npy_header *form = &out->form->header;
    struct bytes *header = &out->head.header;
    uint64_t n_bytes = out->form->unpacked_nbytes;

    header->n_bytes = 0;
    if (out->kind == PIECES_COPY && member_size_is_unsafe(n_bytes))
        n_bytes += MEMBER_PADDING;
    if (out->kind != PIECES_COPY)
        out->shape[0] = out->kind == PIECES_ELEMENTS
                            ? csr_length(out->array->csr, order, 0, order->n_images)
                            : order->n_images + (out->kind == PIECES_OFFSETS);
    for (unsigned pad = 0; out->kind != PIECES_COPY; pad = MEMBER_PADDING) {
        header->n_bytes = 0;
        if (npy_header_write(form->descr, out->shape, form->n_dims, pad, header, err) != 0)
            return -1;
        if (out->kind == PIECES_OBJECTS) {
            n_bytes = object_bound(out);
            break;
        }
        if (bytes_product(out->shape, form->n_dims, &n_bytes) != 0 ||
            __builtin_mul_overflow(n_bytes, form->dtype.itemsize, &n_bytes) ||
            __builtin_add_overflow(n_bytes, header->n_bytes, &n_bytes))
            return error_set(err, ERROR_DATA, "%s: the expanded array is too large",
                             text_path(out->form->key).text);
        if (!member_size_is_unsafe(n_bytes))
            break;
    }
    out->head = (struct member){.name = out->form->member,
                                .ops = &pieces_ops[out->kind],
                                .zip_method = codec_level_method(&job->settings->level),
                                .size_known = out->kind != PIECES_OBJECTS,
                                .unpacked_nbytes = n_bytes,
                                /* Tables of rows are given memory one after the other. */
                                .waits = is_list && !out->streams,
                                .header = *header};
    return archive_out_add(&job->archive, &out->head, err);
}

/* --- beside the members --- */

static bool survey_is_due(void *self)
{
    const struct expand_job *job = self;

    return !job->plan->is_surveyed &&
           (job->watch.turns.planes == NULL || job->watch.turns.is_complete);
}

static void survey_step(void *self)
{
    struct expand_job *job = self;

    plan_survey(job->plan, &job->survey_failure);
    if (job->survey_failure.kind != ERROR_NONE)
        job->archive.members.stop = &job->survey_failure;
}

/* Write all members, with the other tasks of the crew. What the survey refuses comes before what is
 * wrong with single rows. */
static int write_members(struct expand_job *job, struct error *err)
{
    struct crew *crew = job->archive.members.crew;
    struct crew_task tasks[] = {
        {.is_due = survey_is_due, .step = survey_step, .self = job},
        {.is_due = digests_is_due, .step = digests_step, .self = &job->digests},
    };

    job->digests.n_fetched = &job->archive.members.n_loaded;
    for (size_t i = 0; i < N_OF(tasks); i++)
        crew_add_task(crew, &tasks[i]);
    const int status =
        archive_out_write(&job->archive, &job->result.n_bytes, job->result.sha256, err);
    for (size_t i = 0; i < N_OF(tasks); i++)
        crew_drop_task(crew, &tasks[i]);
    if (status == 0 || err->kind == ERROR_DATA) {
        survey_step(job);
        if (job->survey_failure.kind != ERROR_NONE)
            *err = job->survey_failure;
    }
    if (err->kind != ERROR_NONE)
        return -1;
    return digests_finish(&job->digests, err) == 0 ? stone_watch_judge(&job->watch, err) : -1;
}

/* --- one output --- */

/* Write the output and give it its final name; called with its crew. */
static int write_with(void *self, struct crew *crew)
{
    /* The threads of one program wait here, rather than poll for a turn. */
    static pthread_mutex_t next = PTHREAD_MUTEX_INITIALIZER;
    struct expand_job *job = self;
    const struct settings *settings = job->settings;
    const struct plan *plan = job->plan;
    struct archive_out *archive = &job->archive;
    struct text comment = {0};
    int status = archive_out_init(archive, job->path, settings->form, job->force, job->err);

    archive->members.crew = crew;
    archive->members.level = settings->level;
    archive->members.n_threads = settings->n_threads;
    archive->members.meter = settings->meter;
    if (status == 0 && (settings->purpose == FOR_IMAGES || plan->was_expanded))
        status = text_append(&comment, job->err, PLAN_ZIP_COMMENT "%s", plan->board->name);
    archive->comment = comment.text;
    for (size_t i = 0; i < job->n_members && status == 0; i++)
        status = add_member(&job->members[i], job->err);
    if (status == 0)
        status = write_members(job, job->err);
    job->result.unpacked_nbytes = archive->members.made_nbytes;
    for (size_t i = 0; i < plan->n_inputs; i++)
        for (size_t k = 0; k < plan->inputs[i].archive.n_inputs && status == 0; k++)
            status = input_unchanged(&plan->inputs[i].archive.inputs[k], job->err);
    /* Sync now, so that the commit, which others wait for, need not. */
    if (status == 0 && settings->form != ARCHIVE_OUT_NPY_FOLDER)
        status = output_sync(&archive->output, job->err);
    if (status == 0) {
        /* Output, sidecar and manifest get their final names while those of no other writer do. */
        pthread_mutex_lock(&next);
        const int turn = output_turn_take(job->path);
        status = archive_out_commit(archive, job->err);
        if (status == 0 && settings->sidecar)
            status = sidecar_write(job->path, &job->order->n_images, job->force, job->err);
        if (status == 0)
            status = record_write(job, job->err);
        output_turn_end(turn);
        pthread_mutex_unlock(&next);
    }
    archive_out_release(archive);
    text_release(&comment);
    return status;
}

/* What is done before the first of several outputs: it gets its final name before the arrays have
 * been read to the end, where their CRCs are checked, and before all rows have been seen. */
struct beforehand {
    struct expand_job *job;
    const struct array *array; /* NULL: first the survey, which takes longest, then the digests */
    struct error err;
};

static void do_beforehand(void *self, int64_t i, int worker)
{
    struct beforehand *b = (struct beforehand *)self + i;

    (void)worker;
    if (i == 0)
        plan_survey(b->job->plan, &b->err);
    else if (i == 1)
        digests_finish(&b->job->digests, &b->err);
    else if (b->array->has_crc)
        array_read_all(b->array, NULL, &b->err);
}

static int check_beforehand(struct expand_job *job, struct error *err)
{
    const struct plan *plan = job->plan;
    struct beforehand *all;
    size_t n = 2;
    int status = 0;

    for (size_t i = 0; i < plan->n_inputs; i++)
        n += plan->inputs[i].archive.n_arrays;
    if (new_items(&all, n, "check of the inputs", err) != 0)
        return -1;
    all[0].job = all[1].job = job;
    size_t k = n;
    for (size_t i = 0; i < plan->n_inputs; i++)
        for (size_t a = 0; a < plan->inputs[i].archive.n_arrays; a++)
            all[--k].array = &plan->inputs[i].archive.arrays[a];
    crew_run_each(job->settings->n_threads, (int64_t)n, do_beforehand, all);
    for (k = n; k-- > 0 && status == 0;)
        if (all[k].err.kind != ERROR_NONE)
            status = error_pass(err, &all[k].err);
    free(all);
    return status;
}

/* A file that is read. */
struct read_file {
    struct stat st;
    const char *path; /* borrowed: of the input that it is, or is in */
};

static int compare_files(const void *left, const void *right)
{
    const struct stat *a = &((const struct read_file *)left)->st,
                      *b = &((const struct read_file *)right)->st;

    return a->st_dev != b->st_dev ? order_of(a->st_dev, b->st_dev) : order_of(a->st_ino, b->st_ino);
}

int expand_check_apart(const char *const *outputs, size_t n_outputs, const char *const *inputs,
                       size_t n_inputs, bool is_split, struct error *err)
{
    struct read_file *files = NULL, one = {.path = NULL};
    size_t n = 0;
    int status = 0;

    for (size_t i = 0; i < n_inputs && status == 0; i++) {
        struct text_list paths = {0};

        status = text_list_add(&paths, inputs[i], err);
        (void)folder_list(inputs[i], &paths, NULL);
        if (status == 0)
            status = list_room(&files, n + paths.n, sizeof one, "list of inputs", err);
        for (size_t k = 0; k < paths.n && status == 0; k++) {
            const bool is_read = k == 0 || text_ends_with(paths.items[k], ".npy");

            files[n].path = inputs[i];
            n += is_read && stat(paths.items[k], &files[n].st) == 0;
        }
        text_list_release(&paths);
    }
    if (n > 0)
        qsort(files, n, sizeof one, compare_files);
    for (size_t i = 0; i < n_outputs && status == 0 && n > 0; i++) {
        const struct read_file *found = NULL;
        const char *how = "is the same file as";
        DIR *folder = opendir(outputs[i]);
        const struct dirent *entry;

        if (stat(outputs[i], &one.st) == 0)
            found = bsearch(&one, files, n, sizeof one, compare_files);
        while (found == NULL && folder != NULL && (entry = readdir(folder)) != NULL) {
            how = "would replace a folder that holds";
            if (strcmp(entry->d_name, "..") != 0 &&
                fstatat(dirfd(folder), entry->d_name, &one.st, 0) == 0)
                found = bsearch(&one, files, n, sizeof one, compare_files);
        }
        if (folder != NULL)
            closedir(folder);
        if (found != NULL && is_split)
            status = error_set_at(err, ERROR_CANT_CREATE, ERROR_IN(outputs[i]),
                                  "it would replace %s, which the same command reads or writes",
                                  text_path(found->path).text);
        else if (found != NULL)
            status = error_set_at(err, ERROR_CANT_CREATE, ERROR_IN(outputs[i]),
                                  "the output %s input %s", how, text_path(found->path).text);
    }
    free(files);
    return status;
}

int expand_write(struct expand_job *job, const struct order *rows, const char *path,
                 struct error *err)
{
    const struct settings *settings = job->settings;
    const struct plan *plan = job->plan;
    struct stat st;
    int status = 0;
    const bool is_beside = settings->n_helpers > settings->n_threads;
    const int most = is_beside ? settings->n_helpers : settings->n_threads;
    const uint64_t worth = expand_estimate(plan) / (is_beside ? HELPER_NBYTES : THREAD_NBYTES) + 1;

    job->path = path;
    job->order = rows;
    job->err = err;
    for (size_t i = 0; i < plan->n_inputs && status == 0 && stat(path, &st) == 0; i++) {
        const char *const input = plan->inputs[i].archive.path;

        status = expand_check_apart(&path, 1, &input, 1, false, err);
    }
    if (status == 0 && settings->sidecar)
        status = sidecar_write(path, NULL, job->force, err);
    if (status == 0 && !job->is_checked && rows->n_images != rows->n_whole) {
        status = check_beforehand(job, err);
        job->is_checked = status == 0;
    }
    if (status == 0)
        status = crew_run(worth < (uint64_t)most ? (int)worth : most, write_with, job);
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
        for (size_t k = 0; k < plan->n_inputs; k++)
            n_bytes += (uint64_t)((double)array->sources[k]->unpacked_nbytes *
                                  (array->binding.role == ROLE_META ? k == 0 : images_per_row));
    }
    return n_bytes + (plan->provenance ? 9 * plan->order.n_images : 0);
}
