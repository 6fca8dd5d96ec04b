/* manifest_agree.c - see manifest_agree.h. */
#include "shard/manifest_agree.h"

#include "base/text.h"
#include "shard/manifest_json.h"

#include <stdio.h>

static const struct {
    const char *key;
    const char *what;
} settings[] = {
    {"tool", "version of the program"},
    {"board", "board"},
    {"transforms", "transforms"},
    {"options", "option"},
    {"codec", "codec"},
    {"conventions", "convention"},
};

/* A value for a message. */
static struct text_quoted describe(const json_t *value)
{
    struct text_quoted shown = {"others"};

    if (value == NULL)
        return (struct text_quoted){"none"};
    if (json_is_string(value))
        return text_quote(json_string_value(value));
    if (json_is_integer(value))
        snprintf(shown.text, sizeof shown.text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return shown;
}

/* The first key of a, then of b, under which they differ; NULL when they are no objects. */
static const char *differing_key(json_t *a, json_t *b)
{
    json_t *const both[] = {a, b};

    for (size_t i = 0; i < 2; i++)
        for (void *at = json_object_iter(both[i]); at != NULL;
             at = json_object_iter_next(both[i], at)) {
            const char *key = json_object_iter_key(at);
            json_t *value_a = json_object_get(a, key), *value_b = json_object_get(b, key);

            if (value_a == NULL || value_b == NULL || !json_equal(value_a, value_b))
                return key;
        }
    return NULL;
}

static int refuse(const struct manifest_part *part, const struct manifest_part *with,
                  const char *what, json_t *found, json_t *expected, struct error *err)
{
    const char *key = differing_key(found, expected);

    if (key == NULL)
        return error_set(err, ERROR_DATA, "%s: not the %s of %s", text_path(part->path).text, what,
                         text_path(with->path).text);
    return error_set(err, ERROR_DATA, "%s: not the %s of %s: %s: %s expected, %s found",
                     text_path(part->path).text, what, text_path(with->path).text,
                     text_path(key).text, describe(json_object_get(expected, key)).text,
                     describe(json_object_get(found, key)).text);
}

int manifest_agree(const struct manifest_part *part, const struct manifest_part *with,
                   struct error *err)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        json_t *found = json_object_get(part->manifest->root, settings[i].key);
        json_t *expected = json_object_get(with->manifest->root, settings[i].key);

        if (!json_equal(found, expected))
            return refuse(part, with, settings[i].what, found, expected, err);
    }
    return 0;
}
