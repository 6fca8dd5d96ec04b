/*
 * schema.c - roles to and from JSON. What a schema says is added to the request in the words of
 * --role, so that there is one parser of roles; what is written names every array of a shard, so
 * that reading it back gives the same bindings. Unknown keys are refused.
 */
#include "shard/role.h"

#include "base/input.h"
#include "base/json_load.h"

/* A fault in what the file says: its own message, behind the file's name. -1. */
#define bad_schema(path, err, ...) \
    error_set_at(err, ERROR_DATA, ERROR_IN(path), "no schema: " __VA_ARGS__)

static int read_root(json_t *root, const char *path, struct role_request *request,
                     struct error *err)
{
    const json_t *version = json_object_get(root, "symaug_schema");
    const char *name, *array;
    json_t *value, *spec;

    if (!json_is_object(root) || !json_is_integer(version))
        return bad_schema(path, err, "expected an object with \"symaug_schema\": 1");
    if (json_integer_value(version) != SCHEMA_VERSION)
        return bad_schema(path, err, "version %lld, expected %d",
                          (long long)json_integer_value(version), SCHEMA_VERSION);
    json_object_foreach(root, name, value)
    {
        const char *text = json_string_value(value);

        if (strcmp(name, "arrays") == 0) {
            if (!json_is_object(value))
                return bad_schema(path, err,
                                  "expected an object of roles by name under \"arrays\"");
            json_object_foreach(value, array, spec)
            {
                struct error reason = {0};

                if (!json_is_string(spec))
                    return bad_schema(path, err, "expected a role for %s", text_quote(array).text);
                if (role_request_add_spec(request, array, json_string_value(spec), &reason) != 0)
                    return error_set(err, reason.kind == ERROR_USAGE ? ERROR_DATA : reason.kind,
                                     "%s: %s", text_path(path).text, reason.message);
            }
        } else if (strcmp(name, "plane_order") == 0) {
            if (text == NULL || (strcmp(text, "xy") != 0 && strcmp(text, "yx") != 0))
                return bad_schema(path, err, "expected \"xy\" or \"yx\" under \"plane_order\"");
            request->plane_xy = strcmp(text, "xy") == 0;
        } else if (strcmp(name, "policy") == 0) {
            if (text == NULL)
                return bad_schema(path, err, "expected the name of a layout under \"policy\"");
            free(request->policy_layout);
            request->policy_layout = strdup(text);
            if (request->policy_layout == NULL)
                return error_no_memory(err, "a schema");
        } else if (strcmp(name, "symaug_schema") != 0) { /* looked at before */
            return bad_schema(path, err, "unknown key %s", text_quote(name).text);
        }
    }
    return 0;
}

int schema_read(const char *path, struct role_request *request, struct error *err)
{
    size_t n_bytes;
    char *json = input_load(path, SCHEMA_MAX_NBYTES, "a schema", &n_bytes, err);
    json_error_t fault;

    if (json == NULL)
        return bad_schema(path, err, "it is larger than 16 MiB");
    json_t *root = json_load_bytes(json, n_bytes, &fault, "a schema", err);
    free(json);
    if (root == NULL)
        return error_set(err, ERROR_DATA, "%s: no JSON: line %d, column %d: %s",
                         text_path(path).text, fault.line, fault.column,
                         text_path(fault.text).text);
    const int status = read_root(root, path, request, err);
    json_decref(root);
    return status;
}

int schema_write(const struct archive_in *archive, const struct role_binding *bindings,
                 struct text *out, struct error *err)
{
    json_t *arrays = json_object();
    const char *order = NULL;
    char *json = NULL;
    int bad = 0, status = 0;

    for (size_t i = 0; i < archive->n_arrays && bad == 0 && status == 0; i++) {
        const char *key = archive->arrays[i].key;
        char spec[160];

        if (order == NULL && role_is_on_cells(bindings[i].role))
            order = bindings[i].plane_xy ? "xy" : "yx";
        if (!text_is_utf8(key, strlen(key)))
            status = error_set(err, ERROR_DATA, "%s: %s: a name that is not UTF-8 fits no schema",
                               text_path(archive->path).text, text_path(key).text);
        else if (role_binding_spec(&bindings[i], spec, sizeof spec) != 0)
            status = error_set(err, ERROR_INTERNAL, "%s: role too long", text_path(key).text);
        else
            bad = json_object_set_new(arrays, key, json_string(spec));
    }
    json_t *root = json_pack("{s:i, s:s*, s:o}", "symaug_schema", SCHEMA_VERSION, "plane_order",
                             order, "arrays", arrays);
    json = bad == 0 && root != NULL ? json_dumps(root, JSON_INDENT(2)) : NULL;
    if (status == 0)
        status =
            json != NULL ? text_append(out, err, "%s\n", json) : error_no_memory(err, "a schema");
    free(json);
    json_decref(root);
    return status;
}
