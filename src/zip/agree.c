/*
 * agree.c - compares a zip archive's directory with what libzip reads. libzip reads through a
 * source of ours, since a read error of a mapped file could not be caught inside libzip.
 */
#include "zip/parts.h"

#include <zip.h>

#define PROBE_NBYTES (64u << 10) /* what libzip needs at once, to read a directory */

/* A read-only, seekable source over an input. */
struct source {
    const struct input *in;
    struct error *err; /* of a failed read */
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

int zip_agree(const struct zip_reader *reader, struct zip_directory *directory)
{
    const struct input *in = reader->in;
    struct error *err = reader->err;
    const zip_uint64_t wanted =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC | ZIP_STAT_COMP_METHOD;
    struct source source = {.in = in, .err = err};
    zip_error_t error;
    zip_t *zip = NULL;
    int rc = 0;

    zip_error_init(&source.error);
    zip_error_init(&error);
    /* libzip 1.7.3 reports some failed allocations as faults of the archive: believe it only if it
     * fails twice and there is memory. A failed read has set its error already. */
    for (int i = 0; i < 2 && zip == NULL && zip_error_code_zip(&source.error) != ZIP_ER_READ; i++) {
        zip_source_t *from = zip_source_function_create(source_call, &source, &error);

        if (from != NULL)
            zip = zip_open_from_source(from, ZIP_RDONLY, &error);
        if (zip == NULL)
            zip_source_free(from);
    }
    if (zip == NULL) {
        void *probe = malloc(PROBE_NBYTES);

        rc = probe != NULL ? fail(&source, &error) : error_no_memory(err, "libzip");
        free(probe);
    }
    zip_error_fini(&error);
    if (zip == NULL)
        return rc;
    const zip_int64_t n = zip_get_num_entries(zip, 0);
    if (n < 0 || (uint64_t)n != directory->n_entries)
        rc = error_set_at(err, ERROR_DATA, ERROR_IN(in->path),
                          "expected libzip to find %zu members, found %lld", directory->n_entries,
                          (long long)n);
    for (size_t i = 0; rc == 0 && i < directory->n_entries; i++) {
        struct zip_entry *entry = &directory->entries[i];
        const char *name = zip_get_name(zip, i, ZIP_FL_ENC_GUESS), *differs = NULL;
        zip_stat_t st;

        if (zip_stat_index(zip, i, ZIP_FL_ENC_RAW, &st) != 0) {
            rc = fail(&source, zip_get_error(zip));
            break;
        }
        differs = (st.valid & wanted) != wanted          ? "presence of name, sizes and CRC"
                  : strcmp(st.name, entry->name) != 0    ? "name"
                  : st.size != entry->unpacked_nbytes    ? "size"
                  : st.comp_size != entry->packed_nbytes ? "packed size"
                  : st.crc != entry->crc                 ? "CRC"
                  : st.comp_method != entry->method      ? "compression method"
                                                         : NULL;
        if (differs != NULL)
            rc = error_set_at(
                err, ERROR_DATA, &(struct error_place){.file = in->path, .array = entry->name},
                "expected libzip to agree about its %s, found that it does not", differs);
        else
            rc = name != NULL ? text_list_add(&directory->names, name, err)
                              : error_no_memory(err, "names of members");
        if (rc == 0) {
            entry->name = directory->names.items[i];
            entry->name_nbytes = strlen(entry->name);
        }
    }
    zip_discard(zip);
    return rc;
}
