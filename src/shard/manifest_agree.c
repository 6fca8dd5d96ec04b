/*
 * manifest_agree.c - how two manifests differ in what shaped the rows, in words.
 *
 * Settings are compared key by key, roles array by array. What is only counted, and what said so,
 * is no difference.
 */
#include "base/text.h"
#include "shard/manifest_json.h"

#include <stdio.h>
#include <string.h>

/* What is compared as a whole object, key by key. */
static const struct {
    const char *key;
    const char *what; /* before a key's name; "" where the keys speak for themselves */
} settings[] = {
    {"tool", "program's "}, {"board", "board's "},          {"options", "option "},
    {"codec", "codec's "},  {"conventions", "convention "},
};

/* A value for a message: conventions by their meaning, a board file by its digest. */
static struct text_quoted describe(const json_t *value)
{
    static const char *const inside[] = {"meaning", "sha256"};
    struct text_quoted shown = {"others"};

    for (size_t i = 0; i < 2; i++)
        if (json_object_get(value, inside[i]) != NULL)
            value = json_object_get(value, inside[i]);
    if (value == NULL)
        return (struct text_quoted){"none"};
    if (json_is_string(value))
        return text_quote(json_string_value(value));
    if (json_is_integer(value))
        snprintf(shown.text, sizeof shown.text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return shown;
}

static int add(struct text *list, const char *what, const char *key, const json_t *expected,
               const json_t *found, struct error *err)
{
    return text_append(list, err, "%s%s%s: %s expected, %s found", list->n_bytes > 0 ? "; " : "",
                       what, text_path(key).text, describe(expected).text, describe(found).text);
}

static bool same(const char *key, json_t *a, json_t *b)
{
    if (strcmp(key, "conventions") == 0) {
        a = json_object_get(a, "meaning");
        b = json_object_get(b, "meaning");
    }
    return a != NULL && b != NULL && json_equal(a, b);
}

/* All keys of one object, then those of the other that the first has not. */
static int compare_objects(struct text *list, size_t i, json_t *expected, json_t *found,
                           struct error *err)
{
    json_t *const both[] = {expected, found};

    for (size_t k = 0; k < 2; k++)
        for (void *at = json_object_iter(both[k]); at != NULL;
             at = json_object_iter_next(both[k], at)) {
            const char *key = json_object_iter_key(at);
            json_t *a = json_object_get(expected, key), *b = json_object_get(found, key);

            if ((k == 0 || a == NULL) && !same(settings[i].key, a, b) &&
                add(list, settings[i].what, key, a, b, err) != 0)
                return -1;
        }
    return 0;
}

/* Name of each array of all outputs -> its role, or what else a key says; a new reference, NULL
 * with err set. */
static json_t *list_arrays(const struct manifest *m, const char *key, struct error *err)
{
    json_t *roles = json_object(), *drop = json_string("drop");
    const json_t *output, *array, *name;
    bool bad = roles == NULL || drop == NULL;
    size_t i, k;

    json_array_foreach(json_object_get(m->root, "outputs"), i, output)
    {
        json_array_foreach(json_object_get(output, "arrays"), k, array)
        {
            json_t *said = json_object_get(array, key);

            if (said != NULL)
                bad |= json_object_set(roles, json_string_value(json_object_get(array, "name")),
                                       said) != 0;
        }
        json_array_foreach(json_object_get(output, "dropped"), k, name) bad |=
            json_object_set(roles, json_string_value(name), drop) != 0;
    }
    json_decref(drop);
    if (!bad)
        return roles;
    json_decref(roles);
    error_no_memory(err, "roles of a manifest");
    return NULL;
}

/* What both say of an array. */
static int compare_arrays(struct text *list, const struct manifest *expected,
                          const struct manifest *found, const char *key, const char *what,
                          struct error *err)
{
    json_t *a = list_arrays(expected, key, err),
           *b = a == NULL ? NULL : list_arrays(found, key, err);
    const char *name;
    json_t *said;
    int rc = b != NULL ? 0 : -1;

    json_object_foreach(a, name, said)
    {
        json_t *other = json_object_get(b, name);

        if (rc == 0 && other != NULL && !json_equal(said, other))
            rc = add(list, what, name, said, other, err);
    }
    json_decref(a);
    json_decref(b);
    return rc;
}

int manifest_compare(const struct manifest *expected, const struct manifest *found,
                     struct text *list, struct error *err)
{
    json_t *a = expected->root, *b = found->root;
    static const char version[] = "format_version", transforms[] = "transforms";
    const size_t n_before = list->n_bytes;

    if (!json_equal(json_object_get(a, version), json_object_get(b, version)))
        return add(list, "", version, json_object_get(a, version), json_object_get(b, version),
                   err);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (compare_objects(list, i, json_object_get(a, settings[i].key),
                            json_object_get(b, settings[i].key), err) != 0)
            return -1;
    if (list->n_bytes == n_before &&
        !json_equal(json_object_get(a, transforms), json_object_get(b, transforms)) &&
        text_append(list, err, "transforms: %zu expected, %zu others found",
                    json_array_size(json_object_get(a, transforms)),
                    json_array_size(json_object_get(b, transforms))) != 0)
        return -1;
    if (compare_arrays(list, expected, found, "role", "role of ", err) != 0)
        return -1;
    return compare_arrays(list, expected, found, "swap", "swap of colours in ", err);
}

int manifest_compare_inputs(const struct manifest *expected, const struct manifest *found,
                            struct text *list, struct error *err)
{
    const json_t *a = json_object_get(expected->root, "inputs");
    const json_t *b = json_object_get(found->root, "inputs");
    const char *const separator = list->n_bytes > 0 ? "; " : "";

    if (json_array_size(a) != json_array_size(b))
        return text_append(list, err, "%s%zu inputs expected, %zu found", separator,
                           json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < json_array_size(a); i++) {
        const json_t *wanted = json_array_get(a, i), *is = json_array_get(b, i);
        const json_t *name = json_object_get(wanted, "name");

        if (json_equal(wanted, is))
            continue;
        if (!json_equal(name, json_object_get(is, "name")))
            return text_append(list, err, "%sinput %zu: %s expected, %s found", separator, i + 1,
                               describe(name).text, describe(json_object_get(is, "name")).text);
        return text_append(list, err, "%sinput %s: SHA-256 %s expected, %s found", separator,
                           text_path(json_string_value(name)).text, describe(wanted).text,
                           describe(is).text);
    }
    return 0;
}
