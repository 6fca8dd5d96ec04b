/* archive_folder.c - arrays in .npy files: one file, or all of a folder. */
#include "shard/archive_parts.h"

#include "base/text.h"
#include "shard/array_parse.h"
#include "zip/name.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 65536u

/* Fill an array that is the last of the archive's files, named by its path's last component. */
static int add_npy_array(const struct archive_in *archive, struct array *array,
                         struct unpack *unpack, struct warnings *warnings, struct error *err)
{
    const struct input *in = &archive->inputs[archive->n_inputs - 1];
    const char *slash = strrchr(in->path, '/');
    const char *name = slash != NULL ? slash + 1 : in->path;
    const char *fault = member_name_fault(name, strlen(name));
    bool is_array;

    array->input = in;
    array->packed_nbytes = in->n_bytes;
    array->unpacked_nbytes = in->n_bytes;
    if (fault == NULL && !text_is_utf8(name, strlen(name)))
        fault = "name is not UTF-8";
    if (fault != NULL)
        return array_fail(array, err,
                          "expected a file name that can name an array, found that "
                          "the %s",
                          fault);
    array->member = strdup(name);
    array->key = strndup(name, member_name_key_nbytes(name, strlen(name)));
    if (array->member == NULL || array->key == NULL)
        return error_no_memory(err, "array");
    return archive_leaves_array_out(archive, array)
               ? 0
               : array_parse(array, unpack, true, &is_array, warnings, err);
}

int archive_open_npy(struct archive_in *archive, struct warnings *warnings, struct error *err)
{
    struct unpack unpack = {0};
    int result;

    archive->arrays = calloc(1, sizeof *archive->arrays);
    if (archive->arrays == NULL)
        return error_no_memory(err, "list of arrays");
    archive->n_arrays = 1;
    result = add_npy_array(archive, &archive->arrays[0], &unpack, warnings, err);
    unpack_release(&unpack);
    return result;
}

/* A growing list of names. */
struct names {
    char **names; /* owned, and each name */
    size_t n_names;
    size_t capacity;
};

static int names_add(struct names *list, const char *name, struct error *err)
{
    if (list->n_names == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        char **names = realloc(list->names, capacity * sizeof *names);

        if (names == NULL)
            return error_no_memory(err, "list of files");
        list->names = names;
        list->capacity = capacity;
    }
    list->names[list->n_names] = strdup(name);
    if (list->names[list->n_names] == NULL)
        return error_no_memory(err, "list of files");
    list->n_names++;
    return 0;
}

static void names_release(struct names *list)
{
    for (size_t i = 0; i < list->n_names; i++)
        free(list->names[i]);
    free(list->names);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int note_file(const char *path, const char *name, struct names *list,
                     struct warnings *warnings, struct error *err)
{
    if (name[0] == '.')
        return 0;
    if (!member_name_is_npy(name, strlen(name)))
        return warnings_add(warnings, err, "%s: no .npy file, left out", text_quote(name).text);
    if (list->n_names == MAX_FILES)
        return error_set_at(err, ERROR_DATA, ERROR_IN(path),
                            "expected at most %u arrays, found more", MAX_FILES);
    return names_add(list, name, err);
}

static int list_files(const char *path, struct names *list, struct warnings *warnings,
                      struct error *err)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    int result = 0;

    if (dir == NULL)
        return error_set_at(err, errno == EACCES || errno == ENOENT ? ERROR_NO_INPUT : ERROR_IO,
                            ERROR_IN_ERRNO(path), "cannot open");
    while (result == 0) {
        errno = 0;
        entry = readdir(dir);
        if (entry == NULL) {
            if (errno != 0)
                result = error_set_at(err, ERROR_IO, ERROR_IN_ERRNO(path), "cannot list");
            break;
        }
        result = note_file(path, entry->d_name, list, warnings, err);
    }
    closedir(dir);
    if (result == 0 && list->n_names > 0)
        qsort(list->names, list->n_names, sizeof *list->names, by_name);
    return result;
}

static int open_file(struct archive_in *archive, const char *name, bool use_map,
                     struct unpack *unpack, struct warnings *warnings, struct error *err)
{
    struct text path = {0};
    int result = -1;

    if (text_append(&path, err, "%s/%s", archive->path, name) != 0 ||
        input_open(&archive->inputs[archive->n_inputs], path.text, use_map, err) != 0)
        goto out;
    archive->n_inputs++;
    archive->n_arrays++; /* released with the archive, whole or not */
    result = add_npy_array(archive, &archive->arrays[archive->n_arrays - 1], unpack, warnings, err);
out:
    text_release(&path);
    return result;
}

int archive_open_folder(struct archive_in *archive, bool use_map, struct warnings *warnings,
                        struct error *err)
{
    struct names list = {0};
    struct unpack unpack = {0};
    int result = list_files(archive->path, &list, warnings, err);

    if (result != 0)
        goto out;
    if (list.n_names == 0) {
        result = error_set_at(err, ERROR_DATA, ERROR_IN(archive->path),
                              "expected .npy files in the folder, found none");
        goto out;
    }
    archive->inputs = calloc(list.n_names, sizeof *archive->inputs);
    archive->arrays = calloc(list.n_names, sizeof *archive->arrays);
    if (archive->inputs == NULL || archive->arrays == NULL)
        result = error_no_memory(err, "list of arrays");
    for (size_t i = 0; result == 0 && i < list.n_names; i++)
        result = open_file(archive, list.names[i], use_map, &unpack, warnings, err);
out:
    unpack_release(&unpack);
    names_release(&list);
    return result;
}
