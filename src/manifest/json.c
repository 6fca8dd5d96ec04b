/*
 * json.c - manifests to and from their files: see manifest.h.
 *
 * What is read is taken apart by json_unpack_ex, an item at a time, and copied into the manifest's
 * own memory, so that nothing of jansson's outlives this file.
 */
#include "base/input.h"
#include "base/json_load.h"
#include "base/output.h"
#include "manifest/manifest.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_SORT_KEYS)

/* --- text --- */

/* Bytes of the UTF-8 character at p, which is not at the end; 0 when it is none. */
static size_t character_nbytes(const char *p)
{
    const size_t n_left = strnlen(p, 4);

    for (size_t n = 1; n <= n_left; n++)
        if (text_is_utf8(p, n))
            return n;
    return 0;
}

/* A new reference to a text as JSON; NULL without memory, and for no text. */
static json_t *to_json(const char *text, bool is_name)
{
    struct text escaped = {0};
    json_t *value;
    int rc = 0;

    if (text == NULL)
        return NULL;
    if (text_is_utf8(text, strlen(text)) && !(is_name && strchr(text, '\\') != NULL))
        return json_string(text);
    for (const char *p = text; *p != '\0' && rc == 0;) {
        const size_t n = character_nbytes(p);

        if (n == 0)
            rc = text_append(&escaped, NULL, "\\x%02x", (unsigned)(unsigned char)*p);
        else if (is_name && *p == '\\')
            rc = text_append(&escaped, NULL, "\\\\");
        else
            rc = text_append(&escaped, NULL, "%.*s", (int)n, p);
        p += n == 0 ? 1 : n;
    }
    value = rc == 0 ? json_string(escaped.text) : NULL;
    text_release(&escaped);
    return value;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Turn a name back into its bytes, in place. */
static void decode(char *name)
{
    char *to = name;

    while (*name != '\0') {
        if (name[0] == '\\' && name[1] == '\\') {
            *to++ = '\\';
            name += 2;
        } else if (name[0] == '\\' && name[1] == 'x' && hex_digit(name[2]) >= 0 &&
                   hex_digit(name[3]) >= 0) {
            *to++ = (char)(hex_digit(name[2]) << 4 | hex_digit(name[3]));
            name += 4;
        } else {
            *to++ = *name++;
        }
    }
    *to = '\0';
}

/* --- writing --- */

static json_t *name_json(const char *name)
{
    return to_json(name, true);
}

static json_t *text_json(const char *text)
{
    return to_json(text, false);
}

/* Append to a list; true when that failed. The value's reference is taken, NULL is a failure. */
static int append(json_t *list, json_t *value)
{
    return json_array_append_new(list, value) != 0;
}

static int put(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) != 0;
}

static json_t *array_json(const struct manifest_array *array)
{
    json_t *json = json_object(), *shape = json_array();
    char crc[9];
    int bad = json == NULL;

    snprintf(crc, sizeof crc, "%08" PRIx32, array->crc);
    for (size_t i = 0; i < array->n_dims; i++)
        bad |=
            array->shape[i] > INT64_MAX || append(shape, json_integer((json_int_t)array->shape[i]));
    bad |= put(json, "name", name_json(array->name)) | put(json, "dtype", text_json(array->dtype)) |
           put(json, "shape", shape) | put(json, "role", text_json(array->role)) |
           put(json, "codec", text_json(array->codec)) | put(json, "crc32", json_string(crc)) |
           (array->swap != NULL && put(json, "swap", text_json(array->swap)));
    if (!bad)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *file_json(const struct manifest_file *file, bool is_output)
{
    json_t *json = json_object();
    int bad = put(json, "name", name_json(file->name)) |
              put(json, "sha256", text_json(file->sha256)) |
              put(json, "bytes", json_integer((json_int_t)file->n_bytes)) |
              put(json, "rows", json_integer((json_int_t)file->n_rows)) |
              (is_output && put(json, "arrays", json_array())) |
              (is_output && file->first_row != MANIFEST_NO_ROW &&
               put(json, "first_row", json_integer((json_int_t)file->first_row))) |
              (file->n_dropped > 0 && put(json, "dropped", json_array()));

    for (size_t i = 0; i < file->n_arrays && !bad; i++)
        bad = append(json_object_get(json, "arrays"), array_json(&file->arrays[i]));
    for (size_t i = 0; i < file->n_dropped && !bad; i++)
        bad = append(json_object_get(json, "dropped"), name_json(file->dropped[i]));
    if (!bad)
        return json;
    json_decref(json);
    return NULL;
}

static json_t *board_json(const struct manifest_board *board)
{
    json_t *json = json_object();

    if (put(json, "name", name_json(board->name)) |
        put(json, "group_order", json_integer((json_int_t)board->group_order)) |
        (board->preset != NULL && put(json, "preset", name_json(board->preset))) |
        (board->file_text != NULL &&
         put(json, "file",
             json_pack("{s:s, s:s}", "sha256", board->file_sha256, "text", board->file_text)))) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* A new reference, NULL without memory. */
static json_t *to_root(const struct manifest *m)
{
    json_t *root = json_object();
    json_t *transforms = json_array(), *inputs = json_array(), *outputs = json_array();
    json_t *options = json_object(), *conventions = json_object(), *counts = json_object();
    json_t *warnings = json_array();
    int bad = put(root, "transforms", transforms) | put(root, "inputs", inputs) |
              put(root, "outputs", outputs) | put(root, "options", options) |
              put(root, "conventions", conventions) | put(root, "counts", counts) |
              put(root, "warnings", warnings) |
              put(root, "format_version", json_integer(m->format_version)) |
              put(root, "tool",
                  json_pack("{s:s, s:s}", "name", m->tool_name, "version", m->tool_version)) |
              put(root, "board", board_json(&m->board)) |
              put(root, "codec",
                  json_pack("{s:o, s:o}", "level", text_json(m->codec_level), "libraries",
                            text_json(m->codec_libraries)));

    for (size_t i = 0; i < m->n_transforms && !bad; i++)
        bad = append(transforms, json_pack("{s:I, s:o, s:b}", "id", (json_int_t)m->transforms[i].id,
                                           "name", text_json(m->transforms[i].name),
                                           "swaps_colours", m->transforms[i].swaps_colours));
    for (size_t i = 0; i < m->n_options && !bad; i++)
        bad = put(options, m->options[i].name, text_json(m->options[i].value));
    for (size_t i = 0; i < m->n_conventions && !bad; i++)
        bad = put(conventions, m->conventions[i].name,
                  json_pack("{s:o, s:o}", "meaning", text_json(m->conventions[i].meaning), "source",
                            text_json(m->conventions[i].source)));
    for (size_t i = 0; i < m->n_counts && !bad; i++)
        bad = put(counts, m->counts[i].name, json_integer((json_int_t)m->counts[i].value));
    for (size_t i = 0; i < m->n_inputs && !bad; i++)
        bad = append(inputs, file_json(&m->inputs[i], false));
    for (size_t i = 0; i < m->n_outputs && !bad; i++)
        bad = append(outputs, file_json(&m->outputs[i], true));
    for (size_t i = 0; i < m->n_warnings && !bad; i++)
        bad = append(warnings, text_json(m->warnings[i]));
    if (!bad)
        return root;
    json_decref(root);
    return NULL;
}

/*
 * The text, of *n_bytes, with a newline at its end; owned by the caller, NULL without memory. Into
 * a buffer measured before: where jansson 2.14 makes its own and it cannot grow, keys go missing.
 */
static char *dump(const struct manifest *m, size_t *n_bytes)
{
    json_t *root = to_root(m);
    const size_t n_json = root == NULL ? 0 : json_dumpb(root, NULL, 0, DUMP_FLAGS);
    char *json = n_json == 0 ? NULL : malloc(n_json + 1);

    if (json != NULL && json_dumpb(root, json, n_json, DUMP_FLAGS) == n_json) {
        json[n_json] = '\n';
        *n_bytes = n_json + 1;
    } else {
        free(json);
        json = NULL;
    }
    json_decref(root);
    return json;
}

int manifest_write(const struct manifest *m, const char *path, bool force, struct error *err)
{
    size_t n_bytes;
    char *json = dump(m, &n_bytes);
    struct output output;
    int rc = -1;

    if (json == NULL)
        return error_no_memory(err, "manifest");
    if (output_open(&output, path, force, err) == 0) {
        if (output_write(&output, json, n_bytes, err) == 0)
            rc = output_commit(&output, force, err);
        else
            output_abort(&output);
    }
    free(json);
    return rc;
}

/* --- reading --- */

struct reader {
    struct manifest *m;
    struct error *err;
    char where[32]; /* in the file: "outputs[2]" */
};

static int bad_form(struct reader *r, const char *what)
{
    return error_set(r->err, ERROR_DATA, "%s%s%s", r->where, r->where[0] != '\0' ? ": " : "",
                     text_path(what).text);
}

/* Take an item apart; what of it must not be negative is checked by the caller. */
#define UNPACK(r, json, ...) unpack((r), json_unpack_ex((json), &fault, 0, __VA_ARGS__), &fault)

static int unpack(struct reader *r, int status, const json_error_t *fault)
{
    if (status != 0 && json_error_code(fault) == json_error_out_of_memory)
        return error_no_memory(r->err, "manifest");
    return status == 0 ? 0 : bad_form(r, fault->text);
}

static int check_count(struct reader *r, const char *key, json_int_t value)
{
    char reason[160];

    if (value >= 0)
        return 0;
    snprintf(reason, sizeof reason, "%.80s: %" JSON_INTEGER_FORMAT " is negative", key, value);
    return bad_form(r, reason);
}

static int check_hex(struct reader *r, const char *key, const char *text, size_t n_digits)
{
    char reason[80];

    if (strlen(text) == n_digits && strspn(text, "0123456789abcdef") == n_digits)
        return 0;
    snprintf(reason, sizeof reason, "%s: %zu lower-case hex digits expected", key, n_digits);
    return bad_form(r, reason);
}

/* A name as bytes, in the manifest's memory; NULL with err set. */
static const char *decoded(struct reader *r, const char *name)
{
    const size_t n_bytes = strlen(name) + 1;
    char *copy = manifest_alloc(r->m, n_bytes, r->err);

    if (copy != NULL)
        decode(memcpy(copy, name, n_bytes));
    return copy;
}

static int read_array(struct reader *r, json_t *json)
{
    struct manifest_array array = {0};
    uint64_t dims[64];
    const char *name, *crc;
    json_error_t fault;
    json_t *shape, *dim;
    size_t i;

    if (UNPACK(r, json, "{s:s, s:s, s:o, s:s, s?s, s:s, s:s}", "name", &name, "dtype", &array.dtype,
               "shape", &shape, "role", &array.role, "swap", &array.swap, "codec", &array.codec,
               "crc32", &crc) != 0 ||
        check_hex(r, "crc32", crc, 8) != 0)
        return -1;
    if (!json_is_array(shape) || json_array_size(shape) > sizeof dims / sizeof *dims)
        return bad_form(r, "shape: an array of at most 64 numbers expected");
    json_array_foreach(shape, i, dim)
    {
        if (!json_is_integer(dim) || json_integer_value(dim) < 0)
            return bad_form(r, "shape: numbers that are not negative expected");
        dims[i] = (uint64_t)json_integer_value(dim);
    }
    array.shape = dims;
    array.n_dims = json_array_size(shape);
    array.crc = (uint32_t)strtoul(crc, NULL, 16);
    array.name = decoded(r, name);
    return array.name == NULL ? -1 : manifest_add_array(r->m, &array, r->err);
}

/* An input or an output. */
static int read_file(struct reader *r, json_t *json, bool is_output)
{
    json_int_t n_bytes, n_rows, first_row = -1;
    struct manifest_file file = {.first_row = MANIFEST_NO_ROW};
    json_t *arrays = NULL, *dropped = NULL, *item;
    json_error_t fault;
    const char *name;
    size_t i;

    if (UNPACK(r, json, "{s:s, s:I, s:s, s:I, s?I, s?o, s?o}", "name", &name, "bytes", &n_bytes,
               "sha256", &file.sha256, "rows", &n_rows, "first_row", &first_row, "arrays", &arrays,
               "dropped", &dropped) != 0 ||
        check_count(r, "bytes", n_bytes) != 0 || check_count(r, "rows", n_rows) != 0 ||
        check_hex(r, "sha256", file.sha256, 64) != 0)
        return -1;
    file.name = decoded(r, name);
    file.n_bytes = (uint64_t)n_bytes;
    file.n_rows = (uint64_t)n_rows;
    if (file.name == NULL)
        return -1;
    if (!is_output)
        return manifest_add_input(r->m, &file, r->err);
    if (json_object_get(json, "first_row") != NULL) {
        if (check_count(r, "first_row", first_row) != 0)
            return -1;
        file.first_row = (uint64_t)first_row;
    }
    if (!json_is_array(arrays) || (dropped != NULL && !json_is_array(dropped)))
        return bad_form(r, "arrays: an array expected");
    if (manifest_add_output(r->m, &file, r->err) != 0)
        return -1;
    json_array_foreach(arrays, i, item) if (read_array(r, item) != 0) return -1;
    json_array_foreach(dropped, i, item)
    {
        const char *one = json_is_string(item) ? decoded(r, json_string_value(item)) : NULL;

        if (!json_is_string(item))
            return bad_form(r, "dropped: names expected");
        if (one == NULL || manifest_add_dropped(r->m, one, r->err) != 0)
            return -1;
    }
    return 0;
}

static int read_input(struct reader *r, json_t *json)
{
    return read_file(r, json, false);
}

static int read_output(struct reader *r, json_t *json)
{
    return read_file(r, json, true);
}

static int read_transform(struct reader *r, json_t *json)
{
    struct manifest_transform transform;
    json_error_t fault;
    json_int_t id;
    int swaps;

    if (UNPACK(r, json, "{s:I, s:s, s:b}", "id", &id, "name", &transform.name, "swaps_colours",
               &swaps) != 0 ||
        check_count(r, "id", id) != 0)
        return -1;
    transform.id = (uint64_t)id;
    transform.swaps_colours = swaps;
    return manifest_add_transform(r->m, &transform, r->err);
}

static int read_warning(struct reader *r, json_t *json)
{
    return json_is_string(json) ? manifest_add_warning(r->m, json_string_value(json), r->err)
                                : bad_form(r, "text expected");
}

static int read_option(struct reader *r, const char *key, json_t *json)
{
    return json_is_string(json) ? manifest_set_option(r->m, key, json_string_value(json), r->err)
                                : bad_form(r, "text expected");
}

static int read_count(struct reader *r, const char *key, json_t *json)
{
    if (!json_is_integer(json))
        return bad_form(r, "a number expected");
    if (check_count(r, key, json_integer_value(json)) != 0)
        return -1;
    return manifest_set_count(r->m, key, (uint64_t)json_integer_value(json), r->err);
}

static int read_convention(struct reader *r, const char *key, json_t *json)
{
    struct manifest_convention convention = {.name = key};
    json_error_t fault;

    if (UNPACK(r, json, "{s:s, s:s}", "meaning", &convention.meaning, "source",
               &convention.source) != 0)
        return -1;
    return manifest_set_convention(r->m, &convention, r->err);
}

static int read_board(struct reader *r, json_t *json)
{
    struct manifest_board board = {0};
    const char *name, *preset = NULL, *sha256 = NULL;
    json_error_t fault;
    json_int_t order;

    snprintf(r->where, sizeof r->where, "board");
    if (UNPACK(r, json, "{s:s, s?s, s:I, s?{s:s, s:s}}", "name", &name, "preset", &preset,
               "group_order", &order, "file", "text", &board.file_text, "sha256", &sha256) != 0 ||
        check_count(r, "group_order", order) != 0)
        return -1;
    board.group_order = (uint64_t)order;
    board.name = decoded(r, name);
    board.preset = preset != NULL ? decoded(r, preset) : NULL;
    if (board.name == NULL || (preset != NULL && board.preset == NULL) ||
        manifest_set_board(r->m, &board, r->err) != 0)
        return -1;
    return sha256 == NULL || strcmp(sha256, r->m->board.file_sha256) == 0
               ? 0
               : bad_form(r, "file: the text does not have that SHA-256");
}

static int read_head(struct reader *r, json_t *root)
{
    struct manifest *m = r->m;
    json_error_t fault;
    json_int_t version;
    json_t *board;
    char reason[80];

    if (UNPACK(r, root, "{s:I}", "format_version", &version) != 0)
        return -1;
    if (version < MANIFEST_OLDEST_VERSION || version > MANIFEST_FORMAT_VERSION) {
        snprintf(reason, sizeof reason,
                 "format_version: %d or %d expected, %" JSON_INTEGER_FORMAT " found",
                 MANIFEST_OLDEST_VERSION, MANIFEST_FORMAT_VERSION, version);
        return bad_form(r, reason);
    }
    m->format_version = (unsigned)version;
    if (UNPACK(r, root, "{s:{s:s, s:s}, s:{s:s, s:s}, s:o}", "tool", "name", &m->tool_name,
               "version", &m->tool_version, "codec", "level", &m->codec_level, "libraries",
               &m->codec_libraries, "board", &board) != 0)
        return -1;
    m->tool_name = manifest_keep(m, m->tool_name, r->err);
    m->tool_version = manifest_keep(m, m->tool_version, r->err);
    if (m->tool_name == NULL || m->tool_version == NULL ||
        manifest_set_codec(m, m->codec_level, m->codec_libraries, r->err) != 0)
        return -1;
    return read_board(r, board);
}

static int read_root(struct reader *r, json_t *root)
{
    static const struct {
        const char *key;
        int (*read)(struct reader *r, json_t *json);
    } lists[] = {{"transforms", read_transform},
                 {"inputs", read_input},
                 {"outputs", read_output},
                 {"warnings", read_warning}};
    static const struct {
        const char *key;
        int (*read)(struct reader *r, const char *key, json_t *json);
    } maps[] = {{"options", read_option}, {"conventions", read_convention}, {"counts", read_count}};

    if (read_head(r, root) != 0)
        return -1;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        json_t *list = json_object_get(root, lists[k].key);

        snprintf(r->where, sizeof r->where, "%s", lists[k].key);
        if (!json_is_array(list))
            return bad_form(r, "an array expected");
        for (size_t i = 0; i < json_array_size(list); i++) {
            snprintf(r->where, sizeof r->where, "%s[%zu]", lists[k].key, i);
            if (lists[k].read(r, json_array_get(list, i)) != 0)
                return -1;
        }
    }
    for (size_t k = 0; k < sizeof maps / sizeof *maps; k++) {
        json_t *map = json_object_get(root, maps[k].key), *value;
        const char *key;

        snprintf(r->where, sizeof r->where, "%s", maps[k].key);
        if (!json_is_object(map))
            return bad_form(r, "an object expected");
        json_object_foreach(map, key, value) if (maps[k].read(r, key, value) != 0) return -1;
    }
    return 0;
}

static json_t *parse(const struct input *in, struct error *err)
{
    json_t *root = NULL;
    json_error_t fault;
    bool no_memory;
    char *json;

    if (in->n_bytes > MANIFEST_MAX_NBYTES) {
        error_set(err, ERROR_DATA, "%s: not a manifest: %s is too large", text_path(in->path).text,
                  text_size(in->n_bytes).text);
        return NULL;
    }
    json = malloc((size_t)in->n_bytes + 1);
    if (json == NULL) {
        error_no_memory(err, "manifest");
    } else if (input_read(in, 0, json, (size_t)in->n_bytes, err) == 0) {
        root = json_load_bytes(json, (size_t)in->n_bytes, &fault, &no_memory);
        if (no_memory)
            error_no_memory(err, "manifest");
        else if (root == NULL)
            error_set(err, ERROR_DATA, "%s: not a manifest: line %d: %s", text_path(in->path).text,
                      fault.line, text_path(fault.text).text);
    }
    free(json);
    return root;
}

struct manifest *manifest_read(const char *path, struct error *err)
{
    struct error reason = {0};
    struct reader reader = {.m = manifest_new(err), .err = &reason};
    struct input in;
    json_t *root;
    int status = -1;

    if (reader.m == NULL || input_open(&in, path, false, err) != 0) {
        manifest_free(reader.m);
        return NULL;
    }
    root = parse(&in, err);
    input_close(&in);
    if (root != NULL) {
        status = read_root(&reader, root);
        if (status != 0 && reason.kind == ERROR_DATA)
            error_set(err, ERROR_DATA, "%s: not a manifest: %s", text_path(path).text,
                      reason.message);
        else if (status != 0)
            error_set(err, reason.kind, "%s", reason.message);
        json_decref(root);
    }
    if (status == 0)
        return reader.m;
    manifest_free(reader.m);
    return NULL;
}
