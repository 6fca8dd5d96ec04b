/*
 * archive_in.c - see archive_in.h: a shard's form is decided by its first bytes, which its name
 * must not belie; then its arrays are listed, from a zip directory that was checked strictly and
 * that libzip agrees about, or from the .npy files of a folder.
 */
#include "shard/archive_in.h"

#include "base/text.h"
#include "shard/unpack.h"
#include "zip/check.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MAX_FILES   65536u
#define PEEK_NBYTES 512 /* enough of a file for foreign_kind */

/* --- files that are handed over as shards by mistake, by their first bytes --- */

struct signature {
    size_t offset;
    const char *bytes;
    size_t n_bytes;
    const char *kind;
};

#define AT(offset, bytes, kind)               \
    {                                         \
        offset, bytes, sizeof bytes - 1, kind \
    }

static const struct signature signatures[] = {
    AT(0, "\x1f\x8b", "gzip data (unpack it first)"),
    AT(0, "BZh", "bzip2 data (unpack it first)"),
    AT(0, "\3757zXZ", "xz data (unpack it first)"),
    AT(0, "\x28\xb5\x2f\xfd", "zstd data (unpack it first)"),
    AT(0, "\x04\x22\x4d\x18", "lz4 data (unpack it first)"),
    AT(0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    AT(0, "Rar!\x1a\x07", "a RAR archive"),
    AT(257, "ustar", "a tar archive (unpack it first)"),
    AT(0, "\x89HDF\r\n\x1a\n", "an HDF5 file"),
    AT(0, "PAR1", "a Parquet file"),
    AT(0, "ARROW1", "an Arrow file"),
    AT(0, "SQLite format 3", "an SQLite database"),
    AT(0, "MATLAB 5.0", "a MATLAB file"),
    AT(0, "\x80\x02", "a bare pickle (it is never executed)"),
    AT(0, "\x80\x03", "a bare pickle (it is never executed)"),
    AT(0, "\x80\x04", "a bare pickle (it is never executed)"),
    AT(0, "\x80\x05", "a bare pickle (it is never executed)"),
    AT(0, "%PDF", "a PDF document"),
    AT(0, "\x89PNG", "a PNG picture"),
    AT(0, "version https://git-lfs", "a Git LFS pointer (fetch the file with git lfs pull)"),
    AT(0, "PK\x07\x08", "a part of a split zip archive"),
    AT(0, "PK00", "a part of a split zip archive"),
};

static const struct {
    const char *begin;
    const char *kind;
} texts[] = {
    {"<!doctype html", "an HTML page (a failed download?)"},
    {"<html", "an HTML page (a failed download?)"},
    {"<head", "an HTML page (a failed download?)"},
    {"<?xml", "an XML document (a failed download?)"},
    {"<error", "an XML document (a failed download?)"},
    {"{\"", "a JSON document"},
};

/* Text begins behind a byte order mark and white space. */
static const char *text_kind(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        n_bytes -= 3;
    }
    while (n_bytes > 0 && strchr(" \t\r\n", *bytes) != NULL && *bytes != '\0') {
        bytes++;
        n_bytes--;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const size_t n = strlen(texts[i].begin);

        if (n_bytes >= n && strncasecmp((const char *)bytes, texts[i].begin, n) == 0)
            return texts[i].kind;
    }
    return NULL;
}

static bool is_all_zero(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/*
 * What a file that is no shard seems to be, from its first n_bytes and its size ("an HTML page"),
 * or NULL. Static text.
 */
static const char *foreign_kind(const uint8_t *bytes, size_t n_bytes, uint64_t file_nbytes)
{
    if (file_nbytes == 0)
        return "an empty file";
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];

        if (n_bytes >= s->offset + s->n_bytes &&
            memcmp(bytes + s->offset, s->bytes, s->n_bytes) == 0)
            return s->kind;
    }
    if (is_all_zero(bytes, n_bytes))
        return "zero bytes at its front (lost in a crash or a transfer?)";
    return text_kind(bytes, n_bytes);
}

/* True, and the array is so marked, when it is to be left out. */
static bool leave_out(const struct archive_in *archive, struct array *array)
{
    array->is_left_out =
        archive->leaves_out != NULL && archive->leaves_out(archive->leaves_out_self, array->key);
    if (array->is_left_out)
        array->header.dtype.kind = DTYPE_VOID;
    return array->is_left_out;
}

/* --- .npy files: one, or all of a folder --- */

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
                          "expected a file name that can name an array, found that the %s", fault);
    array->member = strdup(name);
    array->key = strndup(name, member_name_key_nbytes(name, strlen(name)));
    if (array->member == NULL || array->key == NULL)
        return error_no_memory(err, "array");
    return leave_out(archive, array) ? 0
                                     : array_parse(array, unpack, true, &is_array, warnings, err);
}

/* Make archive->inputs[0] the one array of the archive. */
static int open_npy(struct archive_in *archive, struct warnings *warnings, struct error *err)
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

static int open_folder_file(struct archive_in *archive, const char *name, bool use_map,
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

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int open_folder_files(struct archive_in *archive, struct dirent *const *list, size_t n_list,
                             bool use_map, struct warnings *warnings, struct error *err)
{
    struct unpack unpack = {0};
    size_t n_arrays = 0;
    bool has_npz = false;
    int result = 0;

    for (size_t i = 0; i < n_list; i++)
        n_arrays += member_name_is_npy(list[i]->d_name, strlen(list[i]->d_name));
    for (size_t i = 0; i < n_list; i++)
        has_npz |= strstr(list[i]->d_name, ".npz") != NULL;
    if (n_arrays == 0)
        return error_set_at(err, ERROR_DATA, ERROR_IN(archive->path),
                            "expected .npy files in the folder, found %s",
                            has_npz ? ".npz files, each a shard of its own: name them, as in "
                                      "`symaug expand --out-dir DIR FOLDER/*.npz`"
                                    : "none");
    if (n_arrays > MAX_FILES)
        return error_set_at(err, ERROR_DATA, ERROR_IN(archive->path),
                            "expected at most %u arrays, found %zu", MAX_FILES, n_arrays);
    archive->inputs = calloc(n_arrays, sizeof *archive->inputs);
    archive->arrays = calloc(n_arrays, sizeof *archive->arrays);
    if (archive->inputs == NULL || archive->arrays == NULL)
        return error_no_memory(err, "list of arrays");
    for (size_t i = 0; result == 0 && i < n_list; i++) {
        const char *name = list[i]->d_name;

        if (member_name_is_npy(name, strlen(name)))
            result = open_folder_file(archive, name, use_map, &unpack, warnings, err);
        else
            result =
                warnings_add(warnings, err, "%s: no .npy file, left out", text_quote(name).text);
    }
    unpack_release(&unpack);
    return result;
}

/* Open the .npy files of the folder at archive->path, by name. */
static int open_folder(struct archive_in *archive, bool use_map, struct warnings *warnings,
                       struct error *err)
{
    struct dirent **list = NULL;
    const int n_list = scandir(archive->path, &list, is_shown, by_name);
    int result;

    if (n_list < 0)
        return error_set_at(err, errno == EACCES || errno == ENOENT ? ERROR_NO_INPUT : ERROR_IO,
                            ERROR_IN_ERRNO(archive->path), "cannot list");
    result = open_folder_files(archive, list, (size_t)n_list, use_map, warnings, err);
    for (int i = 0; i < n_list; i++)
        free(list[i]);
    free(list);
    return result;
}

/* --- .npz files --- */

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
        (!leave_out(archive, array) &&
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

/* List the arrays of the .npz file in archive->inputs[0]. */
static int open_npz(struct archive_in *archive, struct warnings *warnings, struct error *err)
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

/* --- any shard --- */

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
    uint8_t bytes[PEEK_NBYTES] = {0};
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
    foreign = foreign_kind(bytes, n, in->n_bytes);
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
    return archive->form == ARCHIVE_NPY ? open_npy(archive, warnings, err)
                                        : open_npz(archive, warnings, err);
}

static int open_any(struct archive_in *archive, const char *path, bool use_map,
                    struct warnings *warnings, struct error *err)
{
    archive->path = strdup(path);
    if (archive->path == NULL)
        return error_no_memory(err, "path of an input");
    if (is_folder(path)) {
        archive->form = ARCHIVE_FOLDER;
        if (open_folder(archive, use_map, warnings, err) != 0)
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

static int add_memory(struct archive_in *archive, const char *name, const struct memory_array *from,
                      struct error *err)
{
    struct input *input = &archive->inputs[archive->n_inputs];
    struct array *array = &archive->arrays[archive->n_arrays];

    if (input_of_memory(input, name, from->data, from->n_bytes, err) != 0)
        return -1;
    archive->n_inputs++;
    archive->n_arrays++;
    *array = (struct array){.key = strdup(from->key),
                            .member = strdup(from->key),
                            .input = input,
                            .packed_nbytes = from->n_bytes,
                            .unpacked_nbytes = from->n_bytes};
    if (array->key == NULL || array->member == NULL)
        return error_no_memory(err, "arrays");
    return array_describe(array, from->descr, from->shape, from->n_dims, err);
}

int archive_in_of_memory(struct archive_in *archive, const char *name,
                         const struct memory_array *arrays, size_t n_arrays, struct error *err)
{
    int result = 0;

    *archive = (struct archive_in){.form = ARCHIVE_MEMORY,
                                   .path = strdup(name),
                                   .comment = strdup(""),
                                   .inputs = calloc(n_arrays + 1, sizeof *archive->inputs),
                                   .arrays = calloc(n_arrays + 1, sizeof *archive->arrays)};
    if (archive->path == NULL || archive->comment == NULL || archive->inputs == NULL ||
        archive->arrays == NULL)
        result = error_no_memory(err, "arrays");
    for (size_t i = 0; i < n_arrays && result == 0; i++)
        result = add_memory(archive, name, &arrays[i], err);
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

int archive_in_load_objects(struct archive_in *archive, struct error *err)
{
    for (size_t i = 0; i < archive->n_arrays; i++) {
        struct array *array = &archive->arrays[i];

        if (array->header.dtype.kind == DTYPE_OBJECT && array->header.n_dims > 0 &&
            array_load_objects(array, NULL, err) != 0)
            return -1;
    }
    return 0;
}

struct array *archive_in_find(const struct archive_in *archive, const char *key)
{
    for (size_t i = 0; i < archive->n_arrays; i++)
        if (strcmp(archive->arrays[i].key, key) == 0)
            return &archive->arrays[i];
    return NULL;
}
