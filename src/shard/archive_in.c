/*
 * archive_in.c - opens shards. The first bytes of a file decide its form, which its name must not
 * contradict; then its arrays are listed: from a zip directory that was checked strictly and that
 * libzip agrees with, from the .npy files of a folder, or from the caller's memory.
 */
#include "shard/archive_in.h"

#include "symaug.h"
#include "zip/check.h"

#define MAX_FILES   65536u
#define PEEK_NBYTES 512 /* covers all signatures */

/* --- files that are mistaken for shards, by their first bytes --- */

#define TEXT SIZE_MAX /* after a byte order mark and white space, in either case */

static const struct {
    size_t offset;
    const char *bytes, *kind;
} signatures[] = {
    {0, "\x1f\x8b", "gzip data (unpack it first)"},
    {0, "BZh", "bzip2 data (unpack it first)"},
    {0, "\3757zXZ", "xz data (unpack it first)"},
    {0, "\x28\xb5\x2f\xfd", "zstd data (unpack it first)"},
    {257, "ustar", "a tar archive (unpack it first)"},
    {0, "\x89HDF\r\n\x1a\n", "an HDF5 file"},
    {0, "PAR1", "a Parquet file"},
    {0, "ARROW1", "an Arrow file"},
    {0, "\x80\x02", "a bare pickle (it is never executed)"},
    {0, "\x80\x03", "a bare pickle (it is never executed)"},
    {0, "\x80\x04", "a bare pickle (it is never executed)"},
    {0, "\x80\x05", "a bare pickle (it is never executed)"},
    {0, "version https://git-lfs", "a Git LFS pointer (fetch the file with git lfs pull)"},
    {0, "PK\x07\x08", "a part of a split zip archive"},
    {0, "PK00", "a part of a split zip archive"},
    {TEXT, "<!doctype html", "an HTML page (a failed download?)"},
    {TEXT, "<html", "an HTML page (a failed download?)"},
    {TEXT, "<head", "an HTML page (a failed download?)"},
    {TEXT, "<?xml", "an XML document (a failed download?)"},
    {TEXT, "<error", "an XML document (a failed download?)"},
    {TEXT, "{\"", "a JSON document"},
    {TEXT, "{\n", "a JSON document (the outputs of a manifest are shards)"},
};

/* --- opening --- */

/* A shard that is being opened. */
struct opening {
    struct archive_in *archive;
    bool use_map;
    archive_leaves_out leaves_out; /* or NULL; */
    const void *self;              /* with its self */
    struct unpack unpack;          /* used for one array after another */
    struct error *err;
};

/* Room for so many inputs and arrays. */
static int make_room(struct archive_in *archive, size_t n, struct error *err)
{
    return new_items(&archive->inputs, n + 1, "list of arrays", err) != 0
               ? -1
               : new_items(&archive->arrays, n + 1, "list of arrays", err);
}

static int fail_form(const struct opening *o, const char *expected, const char *found)
{
    return error_set_at(o->err, ERROR_DATA, ERROR_IN(o->archive->path), "expected %s, found %s",
                        expected, found);
}

/* Name the array, and read its header unless it is to be left out. 1: it is not an array. */
static int name_array(struct opening *o, struct array *array, const char *name, bool must_be_array)
{
    array->member = strdup(name);
    array->key = strndup(name, member_name_key_nbytes(name));
    if (array->member == NULL || array->key == NULL)
        return error_no_memory(o->err, "array");
    array->is_left_out = o->leaves_out != NULL && o->leaves_out(o->self, array->key);
    if (!array->is_left_out)
        return array_parse(array, &o->unpack, must_be_array, &o->archive->warnings, o->err);
    array->header.dtype.kind = DTYPE_VOID;
    return 0;
}

/* Append the array of the archive's last input, named by its path's last component. */
static int add_npy_array(struct opening *o)
{
    struct archive_in *archive = o->archive;
    const struct input *in = &archive->inputs[archive->n_inputs - 1];
    struct array *array = &archive->arrays[archive->n_arrays];
    const char *name = text_base_name(in->path);
    const char *fault = member_name_fault(name, strlen(name));

    archive->n_arrays++; /* released with the archive, complete or not */
    array->input = in;
    array->packed_nbytes = in->n_bytes;
    array->unpacked_nbytes = in->n_bytes;
    if (fault == NULL && !text_is_utf8(name, strlen(name)))
        fault = "name is not UTF-8";
    if (fault != NULL)
        return array_fail(array, o->err,
                          "expected a file name that can name an array, found that the %s", fault);
    return name_array(o, array, name, true);
}

/* --- folders of .npy files --- */

/* Open the .npy files of the folder at archive->path in the order of their names. */
static int open_folder(struct opening *o)
{
    struct archive_in *archive = o->archive;
    struct text_list files = {0};
    size_t n_arrays = 0;
    bool has_npz = false;
    int result = folder_list(archive->path, &files, o->err);

    for (size_t i = 0; i < files.n; i++) {
        n_arrays += text_ends_with(text_base_name(files.items[i]), ".npy");
        has_npz |= strstr(text_base_name(files.items[i]), ".npz") != NULL;
    }
    if (result == 0 && n_arrays == 0)
        result = has_npz
                     ? error_set_at(o->err, ERROR_DATA, ERROR_IN(archive->path),
                                    "expected .npy files in the folder, found .npz files, each a "
                                    "shard of its own: name them (%s/*.npz), `expand` with "
                                    "--out-dir DIR",
                                    text_path(archive->path).text)
                     : fail_form(o, ".npy files in the folder", "none");
    else if (result == 0 && n_arrays > MAX_FILES)
        result = error_set_at(o->err, ERROR_DATA, ERROR_IN(archive->path),
                              "expected at most %u arrays, found %zu", MAX_FILES, n_arrays);
    else if (result == 0)
        result = make_room(archive, n_arrays, o->err);
    for (size_t i = 0; i < files.n && result == 0; i++) {
        const char *path = files.items[i], *name = text_base_name(path);

        if (!text_ends_with(name, ".npy")) {
            result = warnings_add(&archive->warnings, o->err, "%s: not a .npy file, left out",
                                  text_quote(name).text);
            continue;
        }
        result = input_open(&archive->inputs[archive->n_inputs], path, o->use_map, o->err);
        archive->n_inputs += result == 0;
        if (result == 0)
            result = add_npy_array(o);
        if (result != 0 && o->err != NULL && *o->err->array == '\0') /* for findings */
            snprintf(o->err->array, sizeof o->err->array, "%.*s", ERROR_ARRAY_NBYTES - 1, name);
    }
    text_list_release(&files);
    return result;
}

/* List the arrays of the .npz file in archive->inputs[0]. A member named *.npy must be an array,
 * unless its name begins with "._": macOS keeps attributes in files named so. */
static int open_npz(struct opening *o)
{
    struct archive_in *archive = o->archive;
    const struct input *in = &archive->inputs[0];
    struct zip_directory directory;
    int result = zip_check(in, &directory, &archive->warnings, o->err);

    if (result == 0)
        result = list_room(&archive->arrays, directory.n_entries + 1, sizeof *archive->arrays,
                           "list of arrays", o->err);
    for (size_t i = 0; i < directory.n_entries && result == 0; i++) {
        const struct zip_entry *entry = &directory.entries[i];
        struct array *array = &archive->arrays[archive->n_arrays];
        const bool is_named_array = text_ends_with(entry->name, ".npy") &&
                                    strncmp(text_base_name(entry->name), "._", 2) != 0;

        *array = (struct array){.input = in,
                                .offset = entry->data_offset,
                                .packed_nbytes = entry->packed_nbytes,
                                .unpacked_nbytes = entry->unpacked_nbytes,
                                .crc = entry->crc,
                                .has_crc = true,
                                .decoder = codec_decoder(entry->method)};
        result = entry->is_folder ? 1 : name_array(o, array, entry->name, is_named_array);
        if (result == 0) {
            archive->n_arrays++;
            continue;
        }
        array_release(array);
        if (result > 0)
            result = warnings_add(&archive->warnings, o->err, "member %s: %s, left out",
                                  text_quote(entry->name).text,
                                  entry->is_folder ? "an entry for a folder" : "not an array");
    }
    if (result == 0 && archive->n_arrays == 0)
        result = fail_form(o, "arrays in the archive", "none");
    archive->comment = directory.comment;
    directory.comment = NULL;
    zip_directory_release(&directory);
    return result;
}

/* --- any shard --- */

static bool has_suffix(const char *path, const char suffix[5])
{
    const size_t n = strlen(path);

    return n >= 4 && text_compare_caseless(path + n - 4, suffix, 4) == 0;
}

/* Decide by the first bytes, as numpy does; the name, which people go by, must not contradict. */
static int decide_form(const struct opening *o)
{
    const struct input *in = &o->archive->inputs[0];
    const bool named_npy = has_suffix(o->archive->path, ".npy");
    uint8_t bytes[PEEK_NBYTES] = {0};
    const size_t n_bytes = (size_t)smaller(in->n_bytes, sizeof bytes);
    const char *found = NULL; /* what it is instead of a shard */
    size_t text = 0;          /* where the text begins */

    if (input_read(in, 0, bytes, n_bytes, o->err) != 0)
        return -1;
    const bool is_npy = memcmp(bytes, "\x93NUMPY", 6) == 0;
    const bool is_zip = memcmp(bytes, "PK\3\4", 4) == 0 || memcmp(bytes, "PK\5\6", 4) == 0;
    o->archive->form = is_npy || named_npy ? ARCHIVE_NPY : ARCHIVE_NPZ;
    if (memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        text = 3;
    while (text < n_bytes && bytes[text] != '\0' && strchr(" \t\r\n", bytes[text]) != NULL)
        text++;
    if (is_npy && has_suffix(o->archive->path, ".npz"))
        found = "a bare .npy array (rename the file to .npy)";
    else if (is_zip && named_npy)
        found = "a zip archive (rename the file to .npz)";
    else if (n_bytes == 0)
        found = "an empty file";
    for (size_t i = 0; i < N_OF(signatures) && !is_npy && !is_zip; i++) {
        const bool is_text = signatures[i].offset == TEXT;
        const size_t at = is_text ? text : signatures[i].offset;
        const char *here = (const char *)bytes + at, *wanted = signatures[i].bytes;
        const size_t n = strlen(wanted);

        if (found == NULL && n_bytes >= at + n &&
            (is_text ? text_compare_caseless(here, wanted, n) : memcmp(here, wanted, n)) == 0)
            found = signatures[i].kind;
    }
    if (found == NULL && bytes_are_zero(bytes, n_bytes))
        found = "zero bytes at its beginning (lost in a crash or a transfer?)";
    return found == NULL ? 0 : fail_form(o, named_npy ? "a .npy array" : "an .npz archive", found);
}

int archive_in_open(struct archive_in *archive, const char *path, bool use_map, struct error *err)
{
    return archive_in_open_part(archive, path, use_map, NULL, NULL, err);
}

int archive_in_open_part(struct archive_in *archive, const char *path, bool use_map,
                         archive_leaves_out leaves_out, const void *self, struct error *err)
{
    struct opening o = {
        .archive = archive, .use_map = use_map, .leaves_out = leaves_out, .self = self, .err = err};
    struct stat st;
    int result = -1;

    *archive = (struct archive_in){.path = strdup(path)};
    if (archive->path == NULL) {
        error_no_memory(err, "path of an input");
    } else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        archive->form = ARCHIVE_FOLDER;
        result = open_folder(&o);
    } else if (make_room(archive, 1, err) == 0 && /* of a .npy file */
               input_open(&archive->inputs[0], path, use_map, err) == 0) {
        archive->n_inputs = 1;
        if (decide_form(&o) == 0)
            result = archive->form == ARCHIVE_NPZ ? open_npz(&o) : add_npy_array(&o);
    }
    if (result == 0 && archive->comment == NULL && (archive->comment = strdup("")) == NULL)
        result = error_no_memory(err, "zip comment");
    unpack_release(&o.unpack);
    size_t n_with_objects = 0;
    for (size_t i = 0; i < archive->n_arrays; i++)
        n_with_objects += archive->arrays[i].header.dtype.kind == DTYPE_OBJECT;
    for (size_t i = 0; i < archive->n_arrays; i++)
        archive->arrays[i].n_with_objects = n_with_objects;
    if (result != 0)
        archive_in_close(archive);
    return result;
}

int archive_in_of_memory(struct archive_in *archive, const char *name,
                         const struct symaug_array *arrays, size_t n_arrays, struct error *err)
{
    *archive =
        (struct archive_in){.form = ARCHIVE_MEMORY, .path = strdup(name), .comment = strdup("")};
    int result = archive->path == NULL || archive->comment == NULL
                     ? error_no_memory(err, "arrays")
                     : make_room(archive, n_arrays, err);
    for (size_t i = 0; i < n_arrays && result == 0; i++) {
        const struct symaug_array *from = &arrays[i];

        result = input_of_memory(&archive->inputs[i], name, from->data, from->n_bytes, err);
        if (result != 0)
            break;
        archive->n_inputs++;
        archive->n_arrays++;
        archive->arrays[i] = (struct array){.key = strdup(from->name),
                                            .member = strdup(from->name),
                                            .input = &archive->inputs[i],
                                            .packed_nbytes = from->n_bytes,
                                            .unpacked_nbytes = from->n_bytes};
        result =
            archive->arrays[i].key != NULL && archive->arrays[i].member != NULL
                ? array_describe(&archive->arrays[i], from->descr, from->shape, from->n_dims, err)
                : error_no_memory(err, "arrays");
    }
    if (result != 0)
        archive_in_close(archive);
    return result;
}

void archive_in_close(struct archive_in *archive)
{
    for (size_t i = 0; i < archive->n_arrays; i++)
        array_release(&archive->arrays[i]);
    free(archive->arrays);
    for (size_t i = 0; i < archive->n_inputs; i++)
        input_close(&archive->inputs[i]);
    free(archive->inputs);
    text_list_release(&archive->warnings.list);
    free(archive->comment);
    free(archive->path);
    memset(archive, 0, sizeof *archive);
}

void archive_in_let_go(struct archive_in *archive)
{
    for (size_t i = 0; i < archive->n_arrays; i++)
        array_forget_objects(&archive->arrays[i]);
    for (size_t i = 0; i < archive->n_inputs; i++)
        input_close(&archive->inputs[i]);
}

int archive_in_load_objects(struct archive_in *archive, struct error *err)
{
    for (size_t i = 0; i < archive->n_arrays; i++) {
        struct array *array = &archive->arrays[i];

        if (array->header.dtype.kind == DTYPE_OBJECT && array->header.n_dims > 0 &&
            array_load_objects(array, err) != 0)
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

/* The error may hold only the first bytes of the key. */
struct array *archive_in_refused(const struct archive_in *archive, const struct error *why)
{
    for (size_t i = 0; i < archive->n_arrays && *why->array != '\0'; i++)
        if (strncmp(archive->arrays[i].key, why->array, ERROR_ARRAY_NBYTES - 1) == 0)
            return &archive->arrays[i];
    return NULL;
}

int archive_in_refuse_key(const struct archive_in *archive, const char *key, const char *who,
                          struct error *err)
{
    struct text names = {0};
    int status = text_append(&names, err, archive->n_arrays > 0 ? "are" : "are none");

    for (size_t i = 0; i < archive->n_arrays && status == 0 && names.n_bytes < 1000; i++)
        status = text_append(&names, err, "%s %s", i > 0 ? "," : "",
                             text_path(archive->arrays[i].key).text);
    if (status == 0)
        error_set(err, ERROR_USAGE, "%s: no array is called %s, but %s; there %s%s",
                  text_path(archive->path).text, text_quote(key).text, who, names.text,
                  names.n_bytes < 1000 ? "" : ", ...");
    text_release(&names);
    return -1;
}
