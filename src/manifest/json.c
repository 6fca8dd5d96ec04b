/*
 * json.c - manifests to and from their files.
 *
 * Tables say which keys an object has, and in which form. Writing and reading are one walk over
 * these tables, which copies what they name: to be read it is checked, and names are turned from
 * text into their bytes, or back.
 */
#include "base/input.h"
#include "base/json_load.h"
#include "base/output.h"
#include "manifest/digest.h"
#include "manifest/manifest.h"

#define DUMP_FLAGS (JSON_INDENT(2) | JSON_SORT_KEYS)

/* --- the form of the file --- */

enum form {
    END, /* of a table */
    TEXT,
    NAME,   /* a text of any bytes */
    DIGEST, /* a text of hex digits */
    CRC32,  /* the same, shorter */
    NUMBER, /* from 0 on */
    FLAG,
    OBJECT, /* of these keys */
    LIST,   /* an array of items */
    MAP,    /* an object of items under any keys */
};

struct field {
    const char *key;
    enum form form;
    const struct field *items; /* an object's fields; the one form of a list's or map's items */
    bool is_optional;
};

#define IS(key, form)              \
    {                              \
        (key), (form), NULL, false \
    }
#define MAY_BE(key, form)         \
    {                             \
        (key), (form), NULL, true \
    }
#define OF(key, form, ...)                                             \
    {                                                                  \
        (key), (form), (const struct field[]){__VA_ARGS__, {0}}, false \
    }
#define ITEM(form) IS(NULL, form)

static const struct field board_file[] = {IS("text", TEXT), IS("sha256", DIGEST), {0}};
static const struct field root[] = {
    IS("format_version", NUMBER),
    OF("tool", OBJECT, IS("name", TEXT), IS("version", TEXT)),
    OF("codec", OBJECT, IS("level", TEXT), IS("libraries", TEXT)),
    OF("board", OBJECT, IS("name", NAME), MAY_BE("preset", NAME), IS("group_order", NUMBER),
       {"file", OBJECT, board_file, true}),
    OF("transforms", LIST,
       OF(NULL, OBJECT, IS("id", NUMBER), IS("name", TEXT), IS("swaps_colours", FLAG))),
    OF("inputs", LIST,
       OF(NULL, OBJECT, IS("name", NAME), IS("bytes", NUMBER), IS("sha256", DIGEST),
          IS("rows", NUMBER))),
    OF("outputs", LIST,
       OF(NULL, OBJECT, IS("name", NAME), IS("bytes", NUMBER), IS("sha256", DIGEST),
          IS("rows", NUMBER), MAY_BE("first_row", NUMBER),
          OF("arrays", LIST,
             OF(NULL, OBJECT, IS("name", NAME), IS("dtype", TEXT), OF("shape", LIST, ITEM(NUMBER)),
                IS("role", TEXT), MAY_BE("swap", TEXT), IS("codec", TEXT), IS("crc32", CRC32))),
          {"dropped", LIST, (const struct field[]){ITEM(NAME)}, true})),
    OF("warnings", LIST, ITEM(TEXT)),
    OF("options", MAP, ITEM(TEXT)),
    OF("conventions", MAP, OF(NULL, OBJECT, IS("meaning", TEXT), IS("source", TEXT))),
    OF("counts", MAP, ITEM(NUMBER)),
    {0}};
static const struct field whole = {NULL, OBJECT, root, false};

/* --- the walk --- */

struct walk {
    bool writes;
    const char *path;  /* of the file that is read */
    struct error *err; /* borrowed; NULL when writing: nothing but memory can be missing */
    char where[96];    /* in the file: ".outputs[2].bytes" */
};

/* NULL, with err set to what is wrong with the file. */
static json_t *__attribute__((format(printf, 2, 3)))
bad_form(struct walk *w, const char *format, ...)
{
    char what[128];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    error_set_at(w->err, ERROR_DATA, ERROR_IN(w->path), "not a manifest: %s%s%s",
                 w->where[0] != '\0' ? text_path(w->where + 1).text : "",
                 w->where[0] != '\0' ? ": " : "", what);
    return NULL;
}

static json_t *expected(struct walk *w, const char *what, const json_t *found)
{
    static const char *const types[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };

    return bad_form(w, "%s expected, %s found", what,
                    found != NULL ? types[json_typeof(found)] : "nothing");
}

/* A text as the file has it: bytes that are not UTF-8 are escaped. */
static json_t *text_to_file(const char *text, bool is_name)
{
    struct text escaped = {0};
    int rc = 0;

    if (text_is_utf8(text, strlen(text)) && !(is_name && strchr(text, '\\') != NULL))
        return json_string(text);
    for (size_t n; *text != '\0' && rc == 0; text += n == 0 ? 1 : n) {
        n = text_utf8_nbytes(text, strlen(text));
        if (n == 0)
            rc = text_append(&escaped, NULL, "\\x%02x", (unsigned)(unsigned char)*text);
        else
            rc = text_append(&escaped, NULL, "%s%.*s", is_name && *text == '\\' ? "\\" : "", (int)n,
                             text);
    }
    json_t *value = rc == 0 ? json_string(escaped.text) : NULL;
    text_release(&escaped);
    return value;
}

/* The bytes of a name in the file. */
static json_t *name_from_file(const char *text)
{
    static const char digits[] = "0123456789abcdef";
    char *name = malloc(strlen(text) + 1), *to = name;

    for (; name != NULL && *text != '\0'; text++) {
        const bool is_hex = text[0] == '\\' && text[1] == 'x' && strspn(text + 2, digits) >= 2;

        *to++ = *text;
        if (is_hex)
            to[-1] = (char)((strchr(digits, text[2]) - digits) << 4 |
                            (strchr(digits, text[3]) - digits));
        text += is_hex ? 3 : text[0] == '\\' && text[1] == '\\';
    }
    json_t *value = name != NULL ? json_stringn_nocheck(name, (size_t)(to - name)) : NULL;
    free(name);
    return value;
}

static json_t *copy_text(struct walk *w, enum form form, const json_t *from)
{
    const size_t n_digits = form == DIGEST ? 64 : form == CRC32 ? 8 : 0;
    const char *text = json_string_value(from);

    if (text == NULL)
        return expected(w, "a string", from);
    if (w->writes)
        return text_to_file(text, form == NAME);
    if (n_digits > 0 && (strlen(text) != n_digits || strspn(text, "0123456789abcdef") != n_digits))
        return bad_form(w, "%zu lower-case hex digits expected", n_digits);
    return form == NAME ? name_from_file(text) : json_string(text);
}

/* A new reference to a value's copy; NULL without memory, or with err set. */
static json_t *copy(struct walk *w, const struct field *field, json_t *from);

/* A list or map; where it is in the file grows by each item meanwhile. */
static json_t *copy_many(struct walk *w, const struct field *field, json_t *from)
{
    const size_t n_where = strlen(w->where);
    json_t *to = field->form == LIST ? json_array() : json_object(), *item;
    const char *key;
    int bad = 0;

    for (size_t i = 0; field->form == LIST && i < json_array_size(from) && bad == 0; i++) {
        snprintf(w->where + n_where, sizeof w->where - n_where, "[%zu]", i);
        bad = json_array_append_new(to, copy(w, field->items, json_array_get(from, i)));
    }
    json_object_foreach(from, key, item)
    {
        snprintf(w->where + n_where, sizeof w->where - n_where, ".%s", key);
        if (bad == 0)
            bad = json_object_set_new(to, key, copy(w, field->items, item));
    }
    w->where[n_where] = '\0';
    if (bad == 0)
        return to;
    json_decref(to);
    return NULL;
}

static json_t *copy_object(struct walk *w, const struct field *field, json_t *from)
{
    const size_t n_where = strlen(w->where);
    json_t *to = json_object();

    for (; field->form != END; field++) {
        json_t *value = json_object_get(from, field->key);

        if (value == NULL && field->is_optional)
            continue;
        snprintf(w->where + n_where, sizeof w->where - n_where, ".%s", field->key);
        if (json_object_set_new(to, field->key, copy(w, field, value)) != 0) {
            json_decref(to);
            return NULL;
        }
    }
    w->where[n_where] = '\0';
    return to;
}

static json_t *copy(struct walk *w, const struct field *field, json_t *from)
{
    switch (field->form) {
    case NUMBER:
        if (!json_is_integer(from))
            return expected(w, "a whole number", from);
        return json_integer_value(from) >= 0
                   ? json_integer(json_integer_value(from))
                   : bad_form(w, "%" JSON_INTEGER_FORMAT " is negative", json_integer_value(from));
    case FLAG:
        return json_is_boolean(from) ? json_boolean(json_is_true(from))
                                     : expected(w, "true or false", from);
    case OBJECT:
        return json_is_object(from) ? copy_object(w, field->items, from)
                                    : expected(w, "an object", from);
    case LIST:
        return json_is_array(from) ? copy_many(w, field, from) : expected(w, "an array", from);
    case MAP:
        return json_is_object(from) ? copy_many(w, field, from) : expected(w, "an object", from);
    default:
        return copy_text(w, field->form, from);
    }
}

/* Into a buffer measured before: where jansson 2.14 makes its own and it cannot grow, keys go
 * missing. */
int manifest_write(const json_t *m, const char *path, bool force, struct error *err)
{
    struct walk w = {.writes = true};
    json_t *object = copy(&w, &whole, (json_t *)(uintptr_t)m);
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

json_t *manifest_read(const char *path, struct error *err)
{
    struct walk w = {.path = path, .err = err};
    char sha256[DIGEST_HEX_NBYTES];
    json_t *json = NULL, *m = NULL;
    json_error_t fault;
    size_t n_bytes;
    char *text = input_load(path, MANIFEST_MAX_NBYTES, "manifest", &n_bytes, err);

    if (text == NULL)
        error_set_at(err, ERROR_DATA, ERROR_IN(path), "not a manifest: %s is too large",
                     text_size(n_bytes).text);
    else if ((json = json_load_bytes(text, n_bytes, &fault, "manifest", err)) == NULL)
        error_set_at(err, ERROR_DATA, ERROR_IN(path), "not a manifest: line %d: %s", fault.line,
                     text_path(fault.text).text);
    free(text);
    if (json == NULL)
        return NULL;
    /* The version goes first: it says whether the rest can be understood. */
    const json_t *version = json_object_get(json, "format_version");
    if (json_is_integer(version) && (json_integer_value(version) < MANIFEST_OLDEST_VERSION ||
                                     json_integer_value(version) > MANIFEST_FORMAT_VERSION))
        bad_form(&w, "format_version: %d or %d expected, %" JSON_INTEGER_FORMAT " found",
                 MANIFEST_OLDEST_VERSION, MANIFEST_FORMAT_VERSION, json_integer_value(version));
    else if ((m = copy(&w, &whole, json)) == NULL)
        error_no_memory(err, "manifest"); /* unless the cause is told */
    json_decref(json);
    const json_t *file = json_object_get(json_object_get(m, "board"), "file");
    if (file == NULL)
        return m;
    digest_bytes(manifest_text(file, "text"), strlen(manifest_text(file, "text")), sha256);
    if (strcmp(sha256, manifest_text(file, "sha256")) == 0)
        return m;
    bad_form(&w, "board.file: the text does not have that SHA-256");
    json_decref(m);
    return NULL;
}
