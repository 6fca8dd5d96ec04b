/* archive_npz.c - the arrays of an .npz file. */
#include "shard/archive_parts.h"

#include "base/text.h"
#include "shard/array_parse.h"
#include "zip/name.h"
#include "zip/check.h"

#include <stdlib.h>
#include <string.h>

/* The next array of the archive: where entry's bytes are, not yet what they mean. `name` is the
 * entry's name in UTF-8. */
static int place_array(const struct input *in, const struct zip_entry *entry, const char *name,
                       struct array *array, struct error *err)
{
    array->input = in;
    array->offset = entry->data_offset;
    array->packed_nbytes = entry->packed_nbytes;
    array->unpacked_nbytes = entry->unpacked_nbytes;
    array->crc = entry->crc;
    array->has_crc = true;
    array->decoder = codec_decoder(entry->method);
    array->member = strdup(name);
    array->key = strndup(name, member_name_key_nbytes(name, strlen(name)));
    return array->member != NULL && array->key != NULL ? 0 : error_no_memory(err, "array");
}

/* A name says that the member is an array by its ".npy"; macOS adds files of that name which hold
 * attributes, begun with "._". */
static bool is_named_array(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *base = slash != NULL ? slash + 1 : name;

    return member_name_is_npy(name, strlen(name)) && strncmp(base, "._", 2) != 0;
}

/* Appends the member to the archive's arrays if it is one. */
static int add_member(struct archive_in *archive, const struct zip_entry *entry, const char *name,
                      struct unpack *unpack, struct warnings *warnings, struct error *err)
{
    struct array *array = &archive->arrays[archive->n_arrays];
    bool is_array = false;

    if (entry->is_folder)
        return warnings_add(warnings, err, "member %s: an entry for a folder, left out",
                            text_quote(name).text);
    if (place_array(&archive->inputs[0], entry, name, array, err) != 0 ||
        (!archive_leaves_array_out(archive, array) &&
         array_parse(array, unpack, is_named_array(name), &is_array, warnings, err) != 0)) {
        array_release(array);
        return -1;
    }
    if (!is_array && !array->is_left_out) {
        array_release(array);
        return warnings_add(warnings, err, "member %s: no array, left out", text_quote(name).text);
    }
    archive->n_arrays++;
    return 0;
}

static int add_members(struct archive_in *archive, const struct zip_directory *directory,
                       char *const *names, struct warnings *warnings, struct error *err)
{
    struct unpack unpack = {0};
    int result = 0;

    archive->arrays = calloc(directory->n_entries + 1, sizeof *archive->arrays);
    if (archive->arrays == NULL)
        return error_no_memory(err, "list of arrays");
    for (size_t i = 0; i < directory->n_entries && result == 0; i++)
        result = add_member(archive, &directory->entries[i], names[i], &unpack, warnings, err);
    unpack_release(&unpack);
    return result;
}

int archive_open_npz(struct archive_in *archive, struct warnings *warnings, struct error *err)
{
    const struct input *in = &archive->inputs[0];
    struct zip_directory directory = {0};
    char **names = NULL;
    int result = -1;

    if (zip_check(in, &directory, warnings, err) != 0 ||
        zip_agree(in, &directory, &names, err) != 0 ||
        add_members(archive, &directory, names, warnings, err) != 0)
        goto out;
    if (archive->n_arrays == 0) {
        error_set_at(err, ERROR_DATA, ERROR_IN(archive->path),
                     "expected arrays in the archive, found none");
        goto out;
    }
    archive->comment = directory.comment;
    directory.comment = NULL;
    result = 0;
out:
    for (size_t i = 0; names != NULL && i < directory.n_entries; i++)
        free(names[i]);
    free(names);
    zip_directory_release(&directory);
    return result;
}
