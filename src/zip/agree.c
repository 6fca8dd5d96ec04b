/*
 * agree.c - a second opinion on a zip archive's directory: libzip's. It reads through a source of
 * ours, because a fault in a map could not be caught inside it.
 */
#include "zip/check.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

#define PROBE_NBYTES (64u << 10) /* what libzip needs at once, to read a directory */

/* A read-only, seekable source over an input. */
struct source {
    const struct input *in;
    struct error *err; /* where a failed read says what happened */
    uint64_t position;
    zip_error_t error;
};

static zip_int64_t source_call(void *self, void *data, zip_uint64_t length,
                               zip_source_cmd_t command)
{
    struct source *source = self;
    const uint64_t left = source->in->n_bytes - source->position;
    zip_int64_t position;
    zip_stat_t *st = data;

    switch (command) {
    case ZIP_SOURCE_OPEN:
        source->position = 0;
        return 0;
    case ZIP_SOURCE_READ:
        length = length < left ? length : left;
        if (input_read(source->in, source->position, data, (size_t)length, source->err) != 0) {
            zip_error_set(&source->error, ZIP_ER_READ, 0);
            return -1;
        }
        source->position += length;
        return (zip_int64_t)length;
    case ZIP_SOURCE_SEEK:
        position = zip_source_seek_compute_offset(source->position, source->in->n_bytes, data,
                                                  length, &source->error);
        if (position < 0)
            return -1;
        source->position = (uint64_t)position;
        return 0;
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)source->position;
    case ZIP_SOURCE_STAT:
        zip_stat_init(st);
        st->valid = ZIP_STAT_SIZE;
        st->size = source->in->n_bytes;
        return (zip_int64_t)sizeof *st;
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&source->error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    default:
        zip_error_set(&source->error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

static int fail(const struct source *source, zip_error_t *error)
{
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return error_no_memory(source->err, "libzip");
    return error_set_at(source->err, ERROR_DATA, ERROR_IN(source->in->path),
                        "expected libzip to read the zip directory as well, found: %s",
                        zip_error_strerror(error));
}

static zip_t *try_open(struct source *source, zip_error_t *error)
{
    zip_source_t *zip_source = zip_source_function_create(source_call, source, error);
    zip_t *zip = NULL;

    if (zip_source != NULL)
        zip = zip_open_from_source(zip_source, ZIP_RDONLY, error);
    if (zip == NULL && zip_source != NULL)
        zip_source_free(zip_source);
    return zip;
}

/* libzip 1.7.3 takes some failed allocations for faults of the archive: what it says counts only
 * when it says so twice, while there is memory. */
static zip_t *open_archive(struct source *source)
{
    zip_error_t error;
    zip_t *zip;
    void *probe;

    zip_error_init(&error);
    zip = try_open(source, &error);
    if (zip == NULL && source->err->kind == ERROR_NONE)
        zip = try_open(source, &error);
    if (zip == NULL) {
        probe = malloc(PROBE_NBYTES);
        if (probe == NULL)
            error_no_memory(source->err, "libzip");
        else
            fail(source, &error); /* unless a read has already said why */
        free(probe);
    }
    zip_error_fini(&error);
    return zip;
}

static int compare_entry(zip_t *zip, const struct source *source, const struct zip_entry *entry,
                         zip_uint64_t index)
{
    const zip_uint64_t wanted =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD;
    zip_stat_t st;
    const char *differs = NULL;

    if (zip_stat_index(zip, index, ZIP_FL_ENC_RAW, &st) != 0)
        return fail(source, zip_get_error(zip));
    if ((st.valid & wanted) != wanted)
        differs = "presence of name, sizes and CRC";
    else if (strcmp(st.name, entry->name) != 0)
        differs = "name";
    else if (st.size != entry->unpacked_nbytes)
        differs = "size";
    else if (st.comp_size != entry->packed_nbytes)
        differs = "packed size";
    else if (st.crc != entry->crc)
        differs = "CRC";
    else if (st.comp_method != entry->method)
        differs = "compression method";
    if (differs == NULL)
        return 0;
    return error_set_at(source->err, ERROR_DATA,
                        &(struct error_place){.file = source->in->path, .array = entry->name},
                        "expected libzip to agree about its %s, found that it does not", differs);
}

static int copy_names(zip_t *zip, size_t n, char ***names, struct error *err)
{
    char **list = calloc(n + 1, sizeof *list);
    bool is_complete = list != NULL;

    for (size_t i = 0; is_complete && i < n; i++) {
        const char *name = zip_get_name(zip, i, ZIP_FL_ENC_GUESS);

        list[i] = name != NULL ? strdup(name) : NULL;
        is_complete = list[i] != NULL;
    }
    if (is_complete) {
        *names = list;
        return 0;
    }
    for (size_t i = 0; list != NULL && i < n; i++)
        free(list[i]);
    free(list);
    return error_no_memory(err, "names of members");
}

int zip_agree(const struct input *in, const struct zip_directory *directory, char ***names,
              struct error *err)
{
    struct source source = {.in = in, .err = err};
    zip_int64_t n;
    zip_t *zip;
    int result = -1;

    zip_error_init(&source.error);
    zip = open_archive(&source);
    if (zip != NULL) {
        n = zip_get_num_entries(zip, 0);
        result = n >= 0 && (uint64_t)n == directory->n_entries
                     ? 0
                     : error_set_at(err, ERROR_DATA, ERROR_IN(in->path),
                                    "expected libzip to find %zu members, found %lld",
                                    directory->n_entries, (long long)n);
        for (size_t i = 0; result == 0 && i < directory->n_entries; i++)
            result = compare_entry(zip, &source, &directory->entries[i], i);
        if (result == 0 && names != NULL)
            result = copy_names(zip, directory->n_entries, names, err);
        zip_discard(zip);
    }
    zip_error_fini(&source.error);
    return result;
}
