/*
 * sample.c - writes a synthetic shard: the headers of its arrays are made at once, their contents
 * when the archive pulls them, in pieces that a crew draws and compresses (sample_pieces.c). The
 * bytes depend on board, number of rows and seed alone, whatever the number of threads.
 */
#include "sample/sample.h"

#include "base/output.h"
#include "base/text.h"
#include "manifest/manifest.h"
#include "npy/header.h"
#include "sample/sample_pieces.h"
#include "write/archive_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of what a pickle adds to its items, and of an item of PLAY_MAX_ITEMS numbers. */
#define PRELUDE_MAX_NBYTES 1024
#define ITEM_MAX_NBYTES    (8 * PLAY_MAX_ITEMS + 128)

struct sample;

/* One array on its way to the archive. */
struct sample_member {
    struct member head;
    const struct sample *sample;
    const struct play_array *array;
    struct dtype dtype;
    uint64_t row_nbytes;
    struct bytes header; /* owned until it is prepared; of a 0-d array with its data */
    char name[64];
};

struct sample {
    const struct settings *settings;
    struct board *board; /* owned */
    struct play play;
    struct sample_games games;
    struct sample_member *arrays; /* owned: one for each array of the kind */
    struct members members;
};

/* --- headers --- */

/* A 0-d string: header and UCS-4 characters (the names are ASCII). */
static int make_text(struct sample_member *m, struct error *err)
{
    const char *text = m->array->text(&m->sample->play);
    const size_t n = strlen(text);
    char descr[32];
    uint8_t *data;

    snprintf(descr, sizeof descr, "'<U%zu'", n);
    if (npy_header_write(descr, NULL, 0, 0, &m->header, err) != 0 ||
        (data = bytes_reserve(&m->header, 4 * n, err)) == NULL)
        return -1;
    for (size_t i = 0; i < n; i++)
        bytes_put_le(data + 4 * i, (uint8_t)text[i], 4);
    m->header.n_bytes += 4 * n;
    m->head.unpacked_nbytes = m->header.n_bytes;
    return 0;
}

static int make_header(struct sample_member *m, struct error *err)
{
    const struct play_array *array = m->array;
    uint64_t shape[1 + PLAY_MAX_DIMS] = {m->sample->settings->n_rows}, n_bytes;
    unsigned n_dims = 1;
    char descr[32] = "'|O'";

    m->row_nbytes = m->dtype.itemsize;
    for (size_t d = 0; d < PLAY_MAX_DIMS && array->dims[d] != 0; d++) {
        shape[n_dims] = play_dim(&m->sample->play, array->dims[d]);
        m->row_nbytes *= shape[n_dims++];
    }
    if (array->render_items != NULL)
        m->row_nbytes = ITEM_MAX_NBYTES;
    if (__builtin_mul_overflow(shape[0], m->row_nbytes, &n_bytes))
        return error_set(err, ERROR_USAGE, "%llu rows of %llu bytes are too many",
                         (unsigned long long)shape[0], (unsigned long long)m->row_nbytes);
    if (array->render != NULL)
        snprintf(descr, sizeof descr, "'%s'", array->dtype);
    if (npy_header_write(descr, shape, n_dims, 0, &m->header, err) != 0)
        return -1;
    m->head.unpacked_nbytes = m->header.n_bytes + n_bytes;
    if (array->render_items != NULL)
        m->head.unpacked_nbytes += PRELUDE_MAX_NBYTES;
    if (array->render_items != NULL || !member_size_is_unsafe(m->head.unpacked_nbytes))
        return 0;
    m->head.unpacked_nbytes += 64;
    m->header.n_bytes = 0;
    return npy_header_write(descr, shape, n_dims, 64, &m->header, err);
}

/* --- members --- */

/* Distances at which the bytes are likely to repeat: element, board row, plane, row. */
static void give_hints(const struct sample_member *m, struct codec_member *hints)
{
    uint64_t n_bytes = m->dtype.itemsize;

    if (m->array->render == NULL)
        return;
    hints->n_bytes = m->head.unpacked_nbytes;
    hints->item_nbytes = m->dtype.itemsize;
    hints->is_float = m->dtype.kind == DTYPE_FLOAT;
    hints->periods[hints->n_periods++] = m->dtype.itemsize;
    for (size_t d = PLAY_MAX_DIMS; d-- > 0;) {
        if (m->array->dims[d] == 0)
            continue;
        n_bytes *= play_dim(&m->sample->play, m->array->dims[d]);
        if (n_bytes <= CODEC_HISTORY_NBYTES)
            hints->periods[hints->n_periods++] = (uint32_t)n_bytes;
    }
}

static struct pieces *open_member(struct member *member, struct codec_member *about,
                                  struct error *err)
{
    struct sample_member *m = (struct sample_member *)member;

    give_hints(m, about);
    return sample_pieces_new(&m->sample->games, m->array, m->row_nbytes, &m->header, err);
}

static int prepare(struct sample_member *m, const struct sample *sample,
                   const struct play_array *array, struct error *err)
{
    m->sample = sample;
    m->array = array;
    m->head.open = open_member;
    m->head.zip_method = CODEC_ZIP_DEFLATE;
    m->head.size_known = array->render_items == NULL;
    m->head.name = m->name;
    snprintf(m->name, sizeof m->name, "%s%s", array->name,
             sample->play.kind->bare_names ? "" : ".npy");
    if (array->text != NULL)
        return make_text(m, err);
    if (dtype_parse(array->dtype, strlen(array->dtype), &m->dtype, err) != 0)
        return -1;
    return make_header(m, err);
}

/* --- writing --- */

/* A manifest from before would speak of another output. */
static int remove_old_manifest(const char *path, struct error *err)
{
    struct text manifest = {0};
    int status = text_append(&manifest, err, "%s" MANIFEST_SUFFIX, path);

    if (status == 0)
        status = output_remove(manifest.text, err);
    text_release(&manifest);
    return status;
}

/* What one writing works on. */
struct writing {
    struct sample *sample;
    const char *path;
    struct sample_result *result;
    struct error *err;
};

static int write_archive(void *self, struct crew *crew)
{
    struct writing *w = self;
    struct sample *sample = w->sample;
    const struct play_kind *kind = sample->play.kind;
    struct archive_out *archive =
        archive_out_new(w->path, ARCHIVE_OUT_NPZ, sample->settings->force, w->err);
    char sha256[65];
    int status = archive != NULL ? 0 : -1;

    sample->members.crew = crew;
    for (size_t i = 0; i < kind->n_arrays && status == 0; i++) {
        struct member *const member = &sample->arrays[i].head;

        if (members_add(&sample->members, member, w->err) != 0 ||
            archive_out_add(archive, member, w->err) != 0)
            status = -1;
    }
    members_begin(&sample->members);
    if (status == 0)
        status = archive_out_write(archive, &w->result->n_bytes, sha256, w->err);
    members_end(&sample->members);
    if (status == 0)
        status = remove_old_manifest(w->path, w->err);
    if (status == 0)
        status = archive_out_commit(archive, w->err);
    archive_out_free(archive);
    for (size_t i = 0; i < kind->n_arrays; i++) {
        w->result->unpacked_nbytes += sample->arrays[i].head.made_nbytes;
        member_release(&sample->arrays[i].head);
    }
    w->result->n_games = sample->games.n_games;
    return status;
}

static int open_sample(struct sample *sample, struct error *err)
{
    const struct settings *settings = sample->settings;
    const struct play_kind *kind;

    if (codec_level_parse("default", &sample->members.level, err) != 0)
        return -1;
    sample->board = board_new(settings->board, err);
    if (sample->board == NULL || play_init(&sample->play, sample->board, settings->seed, err) != 0)
        return -1;
    kind = sample->play.kind;
    sample->arrays = calloc(kind->n_arrays, sizeof *sample->arrays);
    if (sample->arrays == NULL)
        return error_no_memory(err, "members");
    for (size_t i = 0; i < kind->n_arrays; i++)
        if (prepare(&sample->arrays[i], sample, &kind->arrays[i], err) != 0)
            return -1;
    return sample_games_init(&sample->games, &sample->play, settings->n_rows, err);
}

static void release_sample(struct sample *sample)
{
    for (size_t i = 0; sample->arrays != NULL && i < sample->play.kind->n_arrays; i++)
        bytes_release(&sample->arrays[i].header);
    free(sample->arrays);
    members_release(&sample->members);
    sample_games_release(&sample->games);
    board_free(sample->board);
}

int sample_write(const char *path, const struct settings *settings, struct sample_result *result,
                 struct error *err)
{
    struct sample sample = {.settings = settings};
    struct writing writing = {&sample, path, result, err};
    int status;

    *result = (struct sample_result){0};
    status = open_sample(&sample, err);
    if (status == 0)
        status = crew_run(settings->n_threads, write_archive, &writing);
    release_sample(&sample);
    return status;
}
