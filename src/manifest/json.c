/*
 * json.c - manifests to and from their files.
 *
 * Tables say which keys an object has, in which form, and where in the plain structs of manifest.h
 * their values lie. Writing and reading are one walk each over these tables; what is read is
 * checked and copied into the manifest's own memory, so that nothing of jansson's outlives it.
 */
#include "base/input.h"
#include "base/json_load.h"
#include "base/output.h"
#include "manifest/digest.h"
#include "manifest/manifest.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_SORT_KEYS)

/* --- the form of the file --- */

enum form {
    END, /* of a table */
    TEXT,
    NAME,   /* a text of any bytes */
    SHA256, /* a text of hex digits */
    CRC32,  /* the same, of a uint32_t */
    NUMBER, /* a uint64_t up to INT64_MAX */
    FLAG,
    PART, /* an object whose values lie in the same struct */
    LIST, /* an array of items */
    MAP,  /* an object of items, whose keys are their first members */
};

struct field {
    const char *key; /* NULL: the item is no object but this value alone */
    enum form form;
    size_t at;                 /* where in the struct the value lies; of an optional part: a text */
    bool is_optional;          /* absent: a text that is NULL, a number that is MANIFEST_NO_ROW */
    const struct field *items; /* of a part, list or map */
    size_t n_at, item_nbytes;  /* where the length of a list or map lies, and the size of an item */
};

#define AT(type, member) .at = offsetof(struct manifest_##type, member)
#define N(type, member)  .n_at = offsetof(struct manifest_##type, n_##member)
#define OPTIONAL         .is_optional = true
#define IN(member)       .at = offsetof(struct manifest, member)
#define OF(table)        .items = (table)
#define MANY(member)                                           \
    IN(member), .n_at = offsetof(struct manifest, n_##member), \
                .item_nbytes = sizeof *((struct manifest *)0)->member

static const struct field just_number[] = {{.form = NUMBER}, {0}};
static const struct field just_name[] = {{.form = NAME}, {0}};
static const struct field just_text[] = {{.form = TEXT}, {0}};
static const struct field array_form[] = {{"name", NAME, AT(array, name)},
                                          {"dtype", TEXT, AT(array, dtype)},
                                          {"shape", LIST, AT(array, shape), N(array, dims),
                                           OF(just_number), .item_nbytes = sizeof(uint64_t)},
                                          {"role", TEXT, AT(array, role)},
                                          {"swap", TEXT, AT(array, swap), OPTIONAL},
                                          {"codec", TEXT, AT(array, codec)},
                                          {"crc32", CRC32, AT(array, crc)},
                                          {0}};
static const struct field output_form[] = {{"name", NAME, AT(file, name)},
                                           {"bytes", NUMBER, AT(file, n_bytes)},
                                           {"sha256", SHA256, AT(file, sha256)},
                                           {"rows", NUMBER, AT(file, n_rows)},
                                           {"first_row", NUMBER, AT(file, first_row), OPTIONAL},
                                           {"arrays", LIST, AT(file, arrays), N(file, arrays),
                                            OF(array_form),
                                            .item_nbytes = sizeof(struct manifest_array)},
                                           {"dropped", LIST, AT(file, dropped), N(file, dropped),
                                            OF(just_name), .item_nbytes = sizeof(char *), OPTIONAL},
                                           {0}};
static const struct field input_form[] = {{"name", NAME, AT(file, name)},
                                          {"bytes", NUMBER, AT(file, n_bytes)},
                                          {"sha256", SHA256, AT(file, sha256)},
                                          {"rows", NUMBER, AT(file, n_rows)},
                                          {0}};
static const struct field transform_form[] = {{"id", NUMBER, AT(transform, id)},
                                              {"name", TEXT, AT(transform, name)},
                                              {"swaps_colours", FLAG, AT(transform, swaps_colours)},
                                              {0}};
static const struct field option_form[] = {{NULL, TEXT, AT(setting, value)}, {0}};
static const struct field convention_form[] = {
    {"meaning", TEXT, AT(setting, value)}, {"source", TEXT, AT(setting, source)}, {0}};
static const struct field count_form[] = {{NULL, NUMBER, AT(count, value)}, {0}};
static const struct field tool_form[] = {
    {"name", TEXT, IN(tool_name)}, {"version", TEXT, IN(tool_version)}, {0}};
static const struct field codec_form[] = {
    {"level", TEXT, IN(codec_level)}, {"libraries", TEXT, IN(codec_libraries)}, {0}};
static const struct field board_file_form[] = {
    {"text", TEXT, IN(board.file_text)}, {"sha256", SHA256, IN(board.file_sha256)}, {0}};
static const struct field board_form[] = {
    {"name", NAME, IN(board.name)},
    {"preset", NAME, IN(board.preset), OPTIONAL},
    {"group_order", NUMBER, IN(board.group_order)},
    {"file", PART, IN(board.file_text), OF(board_file_form), OPTIONAL},
    {0}};
static const struct field root_form[] = {
    {"format_version", NUMBER, IN(format_version)},
    {"tool", .form = PART, OF(tool_form)},
    {"codec", .form = PART, OF(codec_form)},
    {"board", .form = PART, OF(board_form)},
    {"transforms", LIST, MANY(transforms), OF(transform_form)},
    {"inputs", LIST, MANY(inputs), OF(input_form)},
    {"outputs", LIST, MANY(outputs), OF(output_form)},
    {"warnings", LIST, MANY(warnings), OF(just_text)},
    {"options", MAP, MANY(options), OF(option_form)},
    {"conventions", MAP, MANY(conventions), OF(convention_form)},
    {"counts", MAP, MANY(counts), OF(count_form)},
    {0}};

/* --- text --- */

/* A new reference to a text as JSON; NULL without memory, and for no text. */
static json_t *text_json(const char *text, bool is_name)
{
    struct text escaped = {0};
    json_t *value;
    int rc = 0;

    if (text == NULL)
        return NULL;
    if (text_is_utf8(text, strlen(text)) && !(is_name && strchr(text, '\\') != NULL))
        return json_string(text);
    for (const char *p = text; *p != '\0' && rc == 0;) {
        const size_t n = text_utf8_nbytes(p, strlen(p));

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

/* --- writing --- */

/* A new reference to what fields say of `of`, a struct; NULL without memory and for what cannot be
 * told. */
static json_t *object_json(const struct field *field, const void *of);

static json_t *value_json(const struct field *field, const void *of)
{
    const void *at = (const uint8_t *)of + field->at;
    const size_t n = field->n_at > 0 ? *(const size_t *)((const uint8_t *)of + field->n_at) : 0;
    const uint8_t *item = NULL;
    json_t *many;
    char crc[9];
    int bad = 0;

    switch (field->form) {
    case TEXT:
    case NAME:
    case SHA256:
        return text_json(*(const char *const *)at, field->form == NAME);
    case CRC32:
        snprintf(crc, sizeof crc, "%08" PRIx32, *(const uint32_t *)at);
        return json_string(crc);
    case NUMBER:
        return *(const uint64_t *)at > INT64_MAX ? NULL : json_integer(*(const json_int_t *)at);
    case FLAG:
        return json_boolean(*(const bool *)at);
    case PART:
        return object_json(field->items, of);
    case LIST:
    case MAP:
        break;
    case END:
        return NULL;
    }
    many = field->form == LIST ? json_array() : json_object();
    memcpy(&item, at, sizeof item);
    for (size_t i = 0; i < n && bad == 0; i++, item += field->item_nbytes) {
        json_t *value = field->items->key == NULL ? value_json(field->items, item)
                                                  : object_json(field->items, item);

        bad = field->form == LIST
                  ? json_array_append_new(many, value)
                  : json_object_set_new(many, *(const char *const *)(const void *)item, value);
    }
    if (bad == 0)
        return many;
    json_decref(many);
    return NULL;
}

static json_t *object_json(const struct field *field, const void *of)
{
    json_t *object = json_object();

    for (; field->form != END; field++) {
        const void *at = (const uint8_t *)of + field->at;
        const bool is_absent =
            field->is_optional &&
            (field->form == LIST     ? *(const size_t *)((const uint8_t *)of + field->n_at) == 0
             : field->form == NUMBER ? *(const uint64_t *)at == MANIFEST_NO_ROW
                                     : *(const char *const *)at == NULL);

        if (!is_absent && json_object_set_new(object, field->key, value_json(field, of)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

/* Into a buffer measured before: where jansson 2.14 makes its own and it cannot grow, keys go
 * missing. */
int manifest_write(const struct manifest *m, const char *path, bool force, struct error *err)
{
    json_t *object = object_json(root_form, m);
    const size_t n = object == NULL ? 0 : json_dumpb(object, NULL, 0, DUMP_FLAGS);
    char *json = n == 0 ? NULL : malloc(n + 1);
    int rc = -1;

    if (json == NULL || json_dumpb(object, json, n, DUMP_FLAGS) != n) {
        error_no_memory(err, "manifest");
    } else {
        json[n] = '\n';
        rc = output_put(path, force, json, n + 1, err);
    }
    free(json);
    json_decref(object);
    return rc;
}

/* --- reading --- */

struct reader {
    struct manifest *m;
    struct error *err;
    const char *path;
    char where[96]; /* in the file: ".outputs[2].bytes" */
};

static int __attribute__((format(printf, 2, 3))) bad_form(struct reader *r, const char *format, ...)
{
    char what[128];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (r->where[0] == '\0')
        return error_set_at(r->err, ERROR_DATA, ERROR_IN(r->path), "not a manifest: %s", what);
    return error_set_at(r->err, ERROR_DATA, ERROR_IN(r->path), "not a manifest: %s: %s",
                        text_path(r->where + 1).text, what);
}

static int expected(struct reader *r, const char *what, const json_t *found)
{
    static const char *const types[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };

    return bad_form(r, "%s expected, %s found", what,
                    found != NULL ? types[json_typeof(found)] : "nothing");
}

static int read_text(struct reader *r, const struct field *field, const json_t *json, void *at)
{
    const size_t n_digits = field->form == SHA256 ? 64 : field->form == CRC32 ? 8 : 0;
    const char *text = json_string_value(json);
    char *to;

    if (text == NULL)
        return expected(r, "a string", json);
    if (n_digits > 0 && (strlen(text) != n_digits || strspn(text, "0123456789abcdef") != n_digits))
        return bad_form(r, "%zu lower-case hex digits expected", n_digits);
    if (field->form == CRC32) {
        *(uint32_t *)at = (uint32_t)strtoul(text, NULL, 16);
        return 0;
    }
    *(const char **)at = to = manifest_alloc(r->m, strlen(text) + 1, r->err);
    if (to == NULL)
        return -1;
    /* A name is turned back into its bytes. */
    for (const bool is_name = field->form == NAME; *text != '\0'; text++) {
        if (is_name && text[0] == '\\' && text[1] == 'x' && hex_digit(text[2]) >= 0 &&
            hex_digit(text[3]) >= 0) {
            *to++ = (char)(hex_digit(text[2]) << 4 | hex_digit(text[3]));
            text += 3;
        } else {
            *to++ = *text;
            text += is_name && text[0] == '\\' && text[1] == '\\';
        }
    }
    return 0;
}

/* What fields say, into the struct `of`. */
static int read_object(struct reader *r, const struct field *field, json_t *json, void *of);

static int read_value(struct reader *r, const struct field *field, json_t *json, void *of);

/* A list or map; where it is in the file grows by each item meanwhile. */
static int read_many(struct reader *r, const struct field *field, json_t *json, void *of)
{
    const size_t n_where = strlen(r->where);
    const size_t n = field->form == LIST ? json_array_size(json) : json_object_size(json);
    uint8_t *item = manifest_alloc(r->m, n * field->item_nbytes, r->err);
    int (*const read)(struct reader *, const struct field *, json_t *, void *) =
        field->items->key == NULL ? read_value : read_object;
    const char *key;
    json_t *value;
    size_t i;

    if (item == NULL)
        return -1;
    memcpy((uint8_t *)of + field->at, &item, sizeof item);
    *(size_t *)(void *)((uint8_t *)of + field->n_at) = n;
    if (field->form == LIST)
        json_array_foreach(json, i, value)
        {
            snprintf(r->where + n_where, sizeof r->where - n_where, "[%zu]", i);
            if (read(r, field->items, value, item + i * field->item_nbytes) != 0)
                return -1;
        }
    else
        json_object_foreach(json, key, value)
        {
            snprintf(r->where + n_where, sizeof r->where - n_where, ".%s", key);
            *(const char **)(void *)item = manifest_keep(r->m, key, r->err);
            if (*(const char **)(void *)item == NULL || read(r, field->items, value, item) != 0)
                return -1;
            item += field->item_nbytes;
        }
    r->where[n_where] = '\0';
    return 0;
}

static int read_value(struct reader *r, const struct field *field, json_t *json, void *of)
{
    void *at = (uint8_t *)of + field->at;

    switch (field->form) {
    case TEXT:
    case NAME:
    case SHA256:
    case CRC32:
        return read_text(r, field, json, at);
    case NUMBER:
        if (!json_is_integer(json))
            return expected(r, "a whole number", json);
        *(uint64_t *)at = (uint64_t)json_integer_value(json);
        return json_integer_value(json) >= 0
                   ? 0
                   : bad_form(r, "%" JSON_INTEGER_FORMAT " is negative", json_integer_value(json));
    case FLAG:
        *(bool *)at = json_is_true(json);
        return json_is_boolean(json) ? 0 : expected(r, "true or false", json);
    case PART:
        return read_object(r, field->items, json, of);
    case LIST:
        return json_is_array(json) ? read_many(r, field, json, of) : expected(r, "an array", json);
    case MAP:
        return json_is_object(json) ? read_many(r, field, json, of)
                                    : expected(r, "an object", json);
    case END:
        break;
    }
    return -1;
}

static int read_object(struct reader *r, const struct field *field, json_t *json, void *of)
{
    const size_t n_where = strlen(r->where);

    if (!json_is_object(json))
        return expected(r, "an object", json);
    for (; field->form != END; field++) {
        json_t *value = json_object_get(json, field->key);

        if (field->form == NUMBER && field->is_optional)
            *(uint64_t *)(void *)((uint8_t *)of + field->at) = MANIFEST_NO_ROW;
        if (value == NULL && field->is_optional)
            continue;
        snprintf(r->where + n_where, sizeof r->where - n_where, ".%s", field->key);
        if (read_value(r, field, value, of) != 0)
            return -1;
        r->where[n_where] = '\0';
    }
    return 0;
}

struct manifest *manifest_read(const char *path, struct error *err)
{
    struct reader r = {.m = manifest_new(err), .err = err, .path = path};
    char sha256[DIGEST_HEX_NBYTES];
    json_t *root = NULL, *version;
    json_error_t fault;
    size_t n_bytes;
    char *json = NULL;
    int rc = -1;

    if (r.m != NULL) {
        json = input_load(path, MANIFEST_MAX_NBYTES, "manifest", &n_bytes, err);
        if (json == NULL)
            error_set_at(err, ERROR_DATA, ERROR_IN(path), "not a manifest: %s is too large",
                         text_size(n_bytes).text);
    }
    if (json != NULL) {
        root = json_load_bytes(json, n_bytes, &fault, "manifest", err);
        if (root == NULL)
            error_set_at(err, ERROR_DATA, ERROR_IN(path), "not a manifest: line %d: %s", fault.line,
                         text_path(fault.text).text);
    }
    free(json);
    /* The version goes first: it says whether the rest can be understood. */
    version = json_object_get(root, "format_version");
    if (json_is_integer(version) && (json_integer_value(version) < MANIFEST_OLDEST_VERSION ||
                                     json_integer_value(version) > MANIFEST_FORMAT_VERSION))
        bad_form(&r, "format_version: %d or %d expected, %" JSON_INTEGER_FORMAT " found",
                 MANIFEST_OLDEST_VERSION, MANIFEST_FORMAT_VERSION, json_integer_value(version));
    else if (root != NULL)
        rc = read_object(&r, root_form, root, r.m);
    json_decref(root);
    if (rc == 0 && r.m->board.file_text != NULL) {
        rc = digest_bytes(r.m->board.file_text, strlen(r.m->board.file_text), sha256, err);
        if (rc == 0 && strcmp(sha256, r.m->board.file_sha256) != 0)
            rc = bad_form(&r, "board.file: the text does not have that SHA-256");
    }
    if (rc == 0)
        return r.m;
    manifest_free(r.m);
    return NULL;
}
