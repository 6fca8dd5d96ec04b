/* zip_check.c - see zip_check.h: the order of the steps, and their messages. */
#include "shard/zip_check.h"

#include "base/text.h"
#include "shard/member_name.h"
#include "shard/zip_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_NBYTES 640

int zip_fail(const struct zip_reader *zip, const struct zip_entry *entry, const char *format, ...)
{
    struct error_place place = {.file = zip->in->path};
    char reason[REASON_NBYTES], key[ERROR_ARRAY_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (entry != NULL) {
        snprintf(key, sizeof key, "%.*s",
                 (int)member_name_key_nbytes(entry->name, entry->name_nbytes), entry->name);
        place.array = key;
        place.shown = entry->name;
    }
    return error_set_at(zip->err, ERROR_DATA, &place, "%s", reason);
}

int zip_warn(const struct zip_reader *zip, const struct zip_entry *entry, const char *format, ...)
{
    char reason[REASON_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (entry == NULL)
        return warnings_add(zip->warnings, zip->err, "%s", reason);
    return warnings_add(zip->warnings, zip->err, "member %s: %s", text_quote(entry->name).text,
                        reason);
}

static int read_directory(const struct zip_reader *zip, const struct zip_end *end,
                          struct zip_directory *directory)
{
    const size_t n_bytes = (size_t)end->directory_nbytes;
    size_t at = 0;

    directory->bytes = malloc(n_bytes + 1);
    directory->entries = calloc((size_t)end->n_entries + 1, sizeof *directory->entries);
    if (directory->bytes == NULL || directory->entries == NULL)
        return error_no_memory(zip->err, "zip directory");
    if (input_read(zip->in, end->directory_offset, directory->bytes, n_bytes, zip->err) != 0)
        return -1;
    for (size_t i = 0; i < (size_t)end->n_entries; i++) {
        size_t used = 0;

        if (zip_entry_parse(zip, directory->bytes + at, n_bytes - at, &directory->entries[i],
                            &used) != 0)
            return -1;
        directory->n_entries = i + 1;
        at += used;
    }
    if (at != n_bytes)
        return zip_fail(zip, NULL,
                        "expected %llu members in %llu bytes of zip directory, found "
                        "%llu bytes more",
                        (unsigned long long)end->n_entries, (unsigned long long)n_bytes,
                        (unsigned long long)(n_bytes - at));
    return 0;
}

int zip_check(const struct input *in, struct zip_directory *directory, struct warnings *warnings,
              struct error *err)
{
    struct zip_reader zip = {.in = in, .warnings = warnings, .err = err};
    struct zip_end end = {0};
    int result = -1;

    memset(directory, 0, sizeof *directory);
    if (zip_end_read(&zip, &end) != 0)
        goto out;
    directory->comment = end.comment;
    zip.directory_offset = end.directory_offset;
    zip.scratch = malloc(ZIP_SCRATCH_NBYTES);
    if (zip.scratch == NULL) {
        error_no_memory(err, "zip header");
        goto out;
    }
    if (read_directory(&zip, &end, directory) != 0)
        goto out;
    for (size_t i = 0; i < directory->n_entries; i++)
        if (zip_local_check(&zip, &directory->entries[i]) != 0)
            goto out;
    if (zip_layout_check(&zip, directory) != 0 || zip_names_check(&zip, directory) != 0)
        goto out;
    result = 0;
out:
    free(zip.scratch);
    if (result != 0)
        zip_directory_release(directory);
    return result;
}

void zip_directory_release(struct zip_directory *directory)
{
    free(directory->entries);
    free(directory->comment);
    free(directory->bytes);
    memset(directory, 0, sizeof *directory);
}
