/* manifest_form.c - the form of a manifest as a table of rules, for files that are read back. */
#include "base/text.h"
#include "shard/manifest_json.h"

#include <stdio.h>
#include <string.h>

enum rule_kind {
    RULE_TEXT,
    RULE_COUNT,
    RULE_FLAG,
    RULE_SHA256,
    RULE_CRC32,
    RULE_RECORD, /* an object with the keys of fields; others are left for later versions */
    RULE_LIST,   /* an array of items */
    RULE_MAP,    /* an object of items under any keys */
};

struct rule {
    enum rule_kind kind;
    const struct field *fields; /* of a record, up to one without a key */
    const struct rule *items;   /* of a list or a map */
};

struct field {
    const char *key;
    const struct rule *rule;
    bool optional;
};

static const char *const rule_expectations[] = {
    [RULE_TEXT] = "text",
    [RULE_COUNT] = "a number that is not negative",
    [RULE_FLAG] = "true or false",
    [RULE_SHA256] = "64 lower-case hex digits",
    [RULE_CRC32] = "8 lower-case hex digits",
    [RULE_RECORD] = "an object",
    [RULE_LIST] = "an array",
    [RULE_MAP] = "an object",
};

static const struct rule text = {RULE_TEXT, NULL, NULL};
static const struct rule text_list = {RULE_LIST, NULL, &text};
static const struct rule text_map = {RULE_MAP, NULL, &text};
static const struct rule count = {RULE_COUNT, NULL, NULL};
static const struct rule count_list = {RULE_LIST, NULL, &count};
static const struct rule count_map = {RULE_MAP, NULL, &count};
static const struct rule flag = {RULE_FLAG, NULL, NULL};
static const struct rule sha256 = {RULE_SHA256, NULL, NULL};
static const struct rule crc32 = {RULE_CRC32, NULL, NULL};

static const struct field tool_fields[] = {
    {"name", &text, false},
    {"version", &text, false},
    {NULL, NULL, false},
};
static const struct rule tool = {RULE_RECORD, tool_fields, NULL};

static const struct field board_file_fields[] = {
    {"sha256", &sha256, false},
    {"text", &text, false},
    {NULL, NULL, false},
};
static const struct rule board_file = {RULE_RECORD, board_file_fields, NULL};

static const struct field board_fields[] = {
    {"name", &text, false},         {"preset", &text, true}, {"file", &board_file, true},
    {"group_order", &count, false}, {NULL, NULL, false},
};
static const struct rule board = {RULE_RECORD, board_fields, NULL};

static const struct field transform_fields[] = {
    {"id", &count, false},
    {"name", &text, false},
    {"swaps_colours", &flag, false},
    {NULL, NULL, false},
};
static const struct rule transform = {RULE_RECORD, transform_fields, NULL};
static const struct rule transform_list = {RULE_LIST, NULL, &transform};

static const struct field codec_fields[] = {
    {"level", &text, false},
    {"libraries", &text, false},
    {NULL, NULL, false},
};
static const struct rule codec = {RULE_RECORD, codec_fields, NULL};

static const struct field convention_fields[] = {
    {"meaning", &text, false},
    {"source", &text, false},
    {NULL, NULL, false},
};
static const struct rule convention = {RULE_RECORD, convention_fields, NULL};
static const struct rule convention_map = {RULE_MAP, NULL, &convention};

static const struct field input_fields[] = {
    {"name", &text, false},  {"bytes", &count, false}, {"sha256", &sha256, false},
    {"rows", &count, false}, {NULL, NULL, false},
};
static const struct rule input = {RULE_RECORD, input_fields, NULL};
static const struct rule input_list = {RULE_LIST, NULL, &input};

static const struct field array_fields[] = {
    {"name", &text, false}, {"dtype", &text, false}, {"shape", &count_list, false},
    {"role", &text, false}, {"codec", &text, false}, {"crc32", &crc32, false},
    {"swap", &text, true},  {NULL, NULL, false},
};
static const struct rule array = {RULE_RECORD, array_fields, NULL};
static const struct rule array_list = {RULE_LIST, NULL, &array};

static const struct field output_fields[] = {
    {"name", &text, false},        {"bytes", &count, false},    {"sha256", &sha256, false},
    {"rows", &count, false},       {"first_row", &count, true}, {"arrays", &array_list, false},
    {"dropped", &text_list, true}, {NULL, NULL, false},
};
static const struct rule output = {RULE_RECORD, output_fields, NULL};
static const struct rule output_list = {RULE_LIST, NULL, &output};

static const struct field manifest_fields[] = {
    {"format_version", &count, false},
    {"tool", &tool, false},
    {"board", &board, false},
    {"transforms", &transform_list, false},
    {"options", &text_map, false},
    {"codec", &codec, false},
    {"conventions", &convention_map, false},
    {"inputs", &input_list, false},
    {"outputs", &output_list, false},
    {"counts", &count_map, false},
    {"warnings", &text_list, false},
    {NULL, NULL, false},
};
static const struct rule manifest = {RULE_RECORD, manifest_fields, NULL};

/* Where in the file a value stands: "outputs[2].sha256", cut if it is too long. */
struct place {
    char text[160];
};

static struct place place_key(const struct place *parent, const char *key)
{
    struct place place = *parent;
    size_t used = strlen(place.text);

    snprintf(place.text + used, sizeof place.text - used, "%s%s", used > 0 ? "." : "", key);
    return place;
}

static struct place place_index(const struct place *parent, size_t i)
{
    struct place place = *parent;
    size_t used = strlen(place.text);

    snprintf(place.text + used, sizeof place.text - used, "[%zu]", i);
    return place;
}

static int refuse(const struct place *place, const char *expected, struct error *err)
{
    return error_set(err, ERROR_DATA, "%s: %s expected",
                     place->text[0] == '\0' ? "manifest" : text_path(place->text).text, expected);
}

static bool is_hex(const json_t *value, size_t n_digits)
{
    const char *digits = json_string_value(value);

    return digits != NULL && strlen(digits) == n_digits &&
           strspn(digits, "0123456789abcdef") == n_digits;
}

static bool has_kind(const json_t *value, enum rule_kind kind)
{
    switch (kind) {
    case RULE_TEXT:
        return json_is_string(value);
    case RULE_COUNT:
        return json_is_integer(value) && json_integer_value(value) >= 0;
    case RULE_FLAG:
        return json_is_boolean(value);
    case RULE_SHA256:
        return is_hex(value, 64);
    case RULE_CRC32:
        return is_hex(value, 8);
    case RULE_LIST:
        return json_is_array(value);
    case RULE_RECORD:
    case RULE_MAP:
        return json_is_object(value);
    }
    return false;
}

static int check(const json_t *value, const struct rule *rule, const struct place *place,
                 struct error *err);

static int check_record(const json_t *value, const struct field *fields, const struct place *place,
                        struct error *err)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        const json_t *item = json_object_get(value, field->key);
        const struct place at = place_key(place, field->key);

        if (item == NULL && !field->optional)
            return refuse(&at, rule_expectations[field->rule->kind], err);
        if (item != NULL && check(item, field->rule, &at, err) != 0)
            return -1;
    }
    return 0;
}

static int check_items(const json_t *value, const struct rule *items, const struct place *place,
                       struct error *err)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators take no const */
    size_t n_items = json_array_size(value);

    for (size_t i = 0; i < n_items; i++) {
        const struct place at = place_index(place, i);

        if (check(json_array_get(value, i), items, &at, err) != 0)
            return -1;
    }
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const struct place item_place = place_key(place, json_object_iter_key(at));

        if (check(json_object_iter_value(at), items, &item_place, err) != 0)
            return -1;
    }
    return 0;
}

static int check(const json_t *value, const struct rule *rule, const struct place *place,
                 struct error *err)
{
    if (!has_kind(value, rule->kind))
        return refuse(place, rule_expectations[rule->kind], err);
    if (rule->kind == RULE_RECORD)
        return check_record(value, rule->fields, place, err);
    if (rule->kind == RULE_LIST || rule->kind == RULE_MAP)
        return check_items(value, rule->items, place, err);
    return 0;
}

int manifest_check_form(const json_t *root, struct error *err)
{
    const json_t *json = json_object_get(root, "format_version");
    const json_int_t version = json_integer_value(json);

    if (json_is_integer(json) &&
        (version < MANIFEST_OLDEST_VERSION || version > MANIFEST_FORMAT_VERSION))
        return error_set(err, ERROR_DATA,
                         "format_version: %d or %d expected, %" JSON_INTEGER_FORMAT " found",
                         MANIFEST_OLDEST_VERSION, MANIFEST_FORMAT_VERSION, version);
    return check(root, &manifest, &(const struct place){""}, err);
}
