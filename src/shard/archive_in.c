/* archive_in.c - see archive_in.h: which form a shard has, and its lifetime. */
#include "shard/archive_in.h"

#include "shard/archive_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool archive_leaves_array_out(const struct archive_in *archive, struct array *array)
{
    array->is_left_out =
        archive->leaves_out != NULL && archive->leaves_out(archive->leaves_out_self, array->key);
    if (array->is_left_out)
        array->header.dtype.kind = DTYPE_VOID;
    return array->is_left_out;
}

static bool has_suffix(const char *path, const char *suffix)
{
    const size_t n = strlen(path), n_suffix = strlen(suffix);

    return n >= n_suffix && strcasecmp(path + n - n_suffix, suffix) == 0;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int fail_form(const struct archive_in *archive, struct error *err, const char *expected,
                     const char *found)
{
    return error_set_at(err, ERROR_DATA, ERROR_IN(archive->path), "expected %s, found %s", expected,
                        found);
}

/* By the first bytes, which the name must not belie: numpy goes by the bytes, people by the name.
 */
static int decide_form(struct archive_in *archive, struct error *err)
{
    const struct input *in = &archive->inputs[0];
    const bool named_npy = has_suffix(archive->path, ".npy");
    const bool named_npz = has_suffix(archive->path, ".npz");
    const char *expected = named_npy ? "a .npy array" : "an .npz archive";
    uint8_t bytes[ARCHIVE_PEEK_NBYTES] = {0};
    const size_t n = in->n_bytes < sizeof bytes ? (size_t)in->n_bytes : sizeof bytes;
    const char *foreign;

    if (input_read(in, 0, bytes, n, err) != 0)
        return -1;
    archive->form = ARCHIVE_NPZ;
    if (n >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0) {
        archive->form = ARCHIVE_NPY;
        return named_npz ? fail_form(archive, err, expected,
                                     "a bare .npy array (rename the file to .npy)")
                         : 0;
    }
    if (n >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0))
        return named_npy
                   ? fail_form(archive, err, expected, "a zip archive (rename the file to .npz)")
                   : 0;
    foreign = archive_foreign_kind(bytes, n, in->n_bytes);
    if (foreign != NULL)
        return fail_form(archive, err, expected, foreign);
    if (named_npy)
        archive->form = ARCHIVE_NPY;
    return 0;
}

static int open_file(struct archive_in *archive, bool use_map, struct warnings *warnings,
                     struct error *err)
{
    archive->inputs = calloc(1, sizeof *archive->inputs);
    if (archive->inputs == NULL)
        return error_no_memory(err, "input");
    if (input_open(&archive->inputs[0], archive->path, use_map, err) != 0)
        return -1;
    archive->n_inputs = 1;
    if (decide_form(archive, err) != 0)
        return -1;
    return archive->form == ARCHIVE_NPY ? archive_open_npy(archive, warnings, err)
                                        : archive_open_npz(archive, warnings, err);
}

static int open_any(struct archive_in *archive, const char *path, bool use_map,
                    struct warnings *warnings, struct error *err)
{
    archive->path = strdup(path);
    if (archive->path == NULL)
        return error_no_memory(err, "path of an input");
    if (is_folder(path)) {
        archive->form = ARCHIVE_FOLDER;
        if (archive_open_folder(archive, use_map, warnings, err) != 0)
            return -1;
    } else if (open_file(archive, use_map, warnings, err) != 0) {
        return -1;
    }
    if (archive->comment == NULL)
        archive->comment = strdup("");
    return archive->comment != NULL ? 0 : error_no_memory(err, "zip comment");
}

int archive_in_open(struct archive_in *archive, const char *path, bool use_map, struct error *err)
{
    return archive_in_open_part(archive, path, use_map, NULL, NULL, err);
}

int archive_in_open_part(struct archive_in *archive, const char *path, bool use_map,
                         archive_leaves_out leaves_out, const void *self, struct error *err)
{
    struct warnings warnings = {0};
    int result;

    *archive = (struct archive_in){.leaves_out = leaves_out, .leaves_out_self = self};
    result = open_any(archive, path, use_map, &warnings, err);
    if (result == 0)
        result = warnings_finish(&warnings, err);
    archive->warnings = warnings.lines;
    archive->n_warnings = warnings.n_lines;
    if (result != 0)
        archive_in_close(archive);
    return result;
}

void archive_in_close(struct archive_in *archive)
{
    struct warnings warnings = {.lines = archive->warnings, .n_lines = archive->n_warnings};

    for (size_t i = 0; i < archive->n_arrays; i++)
        array_release(&archive->arrays[i]);
    free(archive->arrays);
    for (size_t i = 0; i < archive->n_inputs; i++)
        input_close(&archive->inputs[i]);
    free(archive->inputs);
    warnings_release(&warnings);
    free(archive->comment);
    free(archive->path);
    memset(archive, 0, sizeof *archive);
}

struct array *archive_in_find(const struct archive_in *archive, const char *key)
{
    for (size_t i = 0; i < archive->n_arrays; i++)
        if (strcmp(archive->arrays[i].key, key) == 0)
            return &archive->arrays[i];
    return NULL;
}
