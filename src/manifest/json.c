/*
 * json.c - manifests written to and read from their files.
 *
 * Tables list the keys of each object and the form of their values. Writing and reading are the
 * same walk over these tables: it checks what is read, converts names between raw bytes and text,
 * and drops keys that the tables do not list.
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
    NAME,   /* a string of any bytes */
    DIGEST, /* 64 hex digits */
    CRC32,  /* 8 hex digits */
    NUMBER, /* an integer from 0 on */
    FLAG,
    OBJECT, /* an object with the listed keys */
    LIST,   /* an array of items of one form */
    MAP,    /* an object with any keys and items of one form */
};

struct field {
    const char *key;
    enum form form;
    const struct field
        *items; /* of an object: its fields; of a list or map: the form of its items */
    bool is_optional;
};

#define FIELD(...)  \
    {               \
        __VA_ARGS__ \
    }
#define IS(key, form)      FIELD((key), (form), NULL, false)
#define MAY_BE(key, form)  FIELD((key), (form), NULL, true)
#define OF(key, form, ...) FIELD((key), (form), (const struct field[]){__VA_ARGS__, {0}}, false)
#define ITEM(form)         IS(NULL, form)

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
    const char *path;  /* borrowed: of the file that is read */
    struct error *err; /* borrowed; NULL when writing, which can only lack memory */
    char where[96];    /* the current place in the file: ".outputs[2].bytes" */
};

/* Set the error: what is wrong in the file, and where. Returns -1. */
static int __attribute__((format(printf, 2, 3))) bad_form(struct walk *w, const char *format, ...)
{
    char what[128];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return error_set_at(w->err, ERROR_DATA, ERROR_IN(w->path), "not a manifest: %s%s%s",
                        w->where[0] != '\0' ? text_path(w->where + 1).text : "",
                        w->where[0] != '\0' ? ": " : "", what);
}

static int expected(struct walk *w, const char *what, const json_t *found)
{
    static const char *const types[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",  [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a fraction", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };

    return bad_form(w, "%s expected, %s found", what,
                    found != NULL ? types[json_typeof(found)] : "nothing");
}

/* Escape a string for the file, if it is not UTF-8 or is a name with a backslash. */
static int text_to_file(json_t *value, bool is_name)
{
    const char *text = json_string_value(value);
    struct text escaped = {0};
    int rc = 0;

    if (text_is_utf8(text, strlen(text)) && !(is_name && strchr(text, '\\') != NULL))
        return 0;
    for (size_t n; *text != '\0' && rc == 0; text += n == 0 ? 1 : n) {
        n = text_utf8_nbytes(text, strlen(text));
        if (n == 0)
            rc = text_append(&escaped, NULL, "\\x%02x", (unsigned)(unsigned char)*text);
        else
            rc = text_append(&escaped, NULL, "%s%.*s", is_name && *text == '\\' ? "\\" : "", (int)n,
                             text);
    }
    if (rc == 0)
        rc = json_string_set(value, escaped.text);
    text_release(&escaped);
    return rc;
}

/* Convert a name in the file back to its bytes. */
static int name_from_file(json_t *value)
{
    static const char digits[] = "0123456789abcdef";
    const char *text = json_string_value(value);
    char *name = malloc(strlen(text) + 1), *to = name;

    for (; name != NULL && *text != '\0'; text++) {
        const bool is_hex = text[0] == '\\' && text[1] == 'x' && strspn(text + 2, digits) >= 2;

        *to++ = *text;
        if (is_hex)
            to[-1] = (char)((strchr(digits, text[2]) - digits) << 4 |
                            (strchr(digits, text[3]) - digits));
        text += is_hex ? 3 : text[0] == '\\' && text[1] == '\\';
    }
    const int rc = name != NULL ? json_string_setn_nocheck(value, name, (size_t)(to - name)) : -1;
    free(name);
    return rc;
}

/* Check and convert a value (NULL: a required one is missing) and all in it; remove unlisted keys.
 * Returns -1 with err set, or without memory. w->where is extended meanwhile. */
static int turn(struct walk *w, const struct field *field, json_t *value)
{
    const size_t n_digits = field->form == DIGEST ? 64 : field->form == CRC32 ? 8 : 0;
    const size_t n_where = strlen(w->where);
    const struct field *of = field->items;
    const char *key, *text = json_string_value(value);
    json_t *item;
    void *next;
    int rc = 0;

    switch (field->form) {
    case NUMBER:
        if (!json_is_integer(value))
            return expected(w, "a whole number", value);
        return json_integer_value(value) >= 0
                   ? 0
                   : bad_form(w, "%" JSON_INTEGER_FORMAT " is negative", json_integer_value(value));
    case FLAG:
        return json_is_boolean(value) ? 0 : expected(w, "true or false", value);
    case LIST:
        if (!json_is_array(value))
            return expected(w, "an array", value);
        for (size_t i = 0; i < json_array_size(value) && rc == 0; i++) {
            snprintf(w->where + n_where, sizeof w->where - n_where, "[%zu]", i);
            rc = turn(w, of, json_array_get(value, i));
        }
        break;
    case OBJECT:
    case MAP:
        if (!json_is_object(value))
            return expected(w, "an object", value);
        for (; field->form == OBJECT && of->form != END && rc == 0; of++) {
            snprintf(w->where + n_where, sizeof w->where - n_where, ".%s", of->key);
            item = json_object_get(value, of->key);
            if (item != NULL || !of->is_optional)
                rc = turn(w, of, item);
        }
        json_object_foreach_safe(value, next, key, item)
        {
            snprintf(w->where + n_where, sizeof w->where - n_where, ".%s", key);
            for (of = field->items; field->form == OBJECT && of->form != END; of++)
                if (strcmp(of->key, key) == 0)
                    break;
            if (field->form == MAP && rc == 0)
                rc = turn(w, of, item);
            else if (of->form == END)
                json_object_del(value, key);
        }
        break;
    default:
        if (text == NULL)
            return expected(w, "a string", value);
        if (w->writes)
            return text_to_file(value, field->form == NAME);
        if (n_digits > 0 &&
            (strlen(text) != n_digits || strspn(text, "0123456789abcdef") != n_digits))
            return bad_form(w, "%zu lower-case hex digits expected", n_digits);
        return field->form == NAME ? name_from_file(value) : 0;
    }
    if (rc == 0)
        w->where[n_where] = '\0';
    return rc;
}

/* Dumps into a buffer of known size: when jansson 2.14 cannot grow its own, it drops keys. */
int manifest_write(const json_t *m, const char *path, bool force, struct error *err)
{
    struct walk w = {.writes = true};
    json_t *object = json_deep_copy(m);
    const bool is_turned = object != NULL && turn(&w, &whole, object) == 0;
    const size_t n = is_turned ? json_dumpb(object, NULL, 0, DUMP_FLAGS) : 0;
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
    const json_t *file;
    json_t *json = NULL;
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
    /* The version is checked first: it says whether the rest can be understood. */
    const json_t *version = json_object_get(json, "format_version");
    if (json_is_integer(version) && (json_integer_value(version) < MANIFEST_OLDEST_VERSION ||
                                     json_integer_value(version) > MANIFEST_FORMAT_VERSION))
        bad_form(&w, "format_version: %d or %d expected, %" JSON_INTEGER_FORMAT " found",
                 MANIFEST_OLDEST_VERSION, MANIFEST_FORMAT_VERSION, json_integer_value(version));
    else if (turn(&w, &whole, json) != 0)
        error_no_memory(err, "manifest"); /* unless err is set */
    else if ((file = json_object_get(json_object_get(json, "board"), "file")) == NULL)
        return json;
    else {
        digest_bytes(manifest_text(file, "text"), strlen(manifest_text(file, "text")), sha256);
        if (strcmp(sha256, manifest_text(file, "sha256")) == 0)
            return json;
        bad_form(&w, "board.file: the text does not have that SHA-256");
    }
    json_decref(json);
    return NULL;
}
