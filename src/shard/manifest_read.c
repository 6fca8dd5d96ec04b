/* manifest_read.c - manifests read back and asked: see manifest.h. */
#include "base/input.h"
#include "base/json_load.h"
#include "base/text.h"
#include "shard/manifest_json.h"

#include <stdlib.h>
#include <string.h>

static json_t *parse(const struct input *in, struct error *err)
{
    json_t *root = NULL;
    json_error_t json_error;
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
        root = json_load_bytes(json, (size_t)in->n_bytes, &json_error, &no_memory);
        if (no_memory)
            error_no_memory(err, "manifest");
        else if (root == NULL)
            error_set(err, ERROR_DATA, "%s: not a manifest: line %d: %s", text_path(in->path).text,
                      json_error.line, text_path(json_error.text).text);
    }
    free(json);
    return root;
}

struct manifest *manifest_read(const char *path, struct error *err)
{
    struct manifest *m = manifest_new(err);
    struct error reason = {0};
    struct input in;
    json_t *root;

    if (m == NULL || input_open(&in, path, false, err) != 0) {
        manifest_free(m);
        return NULL;
    }
    root = parse(&in, err);
    input_close(&in);
    if (root != NULL) {
        json_decref(m->root);
        m->root = root;
        if (manifest_check_form(root, &reason) == 0)
            return m;
        error_set(err, reason.kind, "%s: not a manifest: %s", text_path(path).text, reason.message);
    }
    manifest_free(m);
    return NULL;
}

static int get_file(const struct manifest *m, const char *list, size_t i,
                    struct manifest_file *file)
{
    const json_t *entry = json_array_get(json_object_get(m->root, list), i);

    if (entry == NULL)
        return -1;
    file->name = json_string_value(json_object_get(entry, "name"));
    file->sha256 = json_string_value(json_object_get(entry, "sha256"));
    file->n_bytes = (uint64_t)json_integer_value(json_object_get(entry, "bytes"));
    file->n_rows = (uint64_t)json_integer_value(json_object_get(entry, "rows"));
    return 0;
}

size_t manifest_n_inputs(const struct manifest *m)
{
    return json_array_size(json_object_get(m->root, "inputs"));
}

size_t manifest_n_outputs(const struct manifest *m)
{
    return json_array_size(json_object_get(m->root, "outputs"));
}

int manifest_input(const struct manifest *m, size_t i, struct manifest_file *input)
{
    return get_file(m, "inputs", i, input);
}

int manifest_output(const struct manifest *m, size_t i, struct manifest_file *output)
{
    return get_file(m, "outputs", i, output);
}

const char *manifest_board(const struct manifest *m)
{
    return json_string_value(json_object_get(json_object_get(m->root, "board"), "name"));
}

int manifest_count(const struct manifest *m, const char *name, uint64_t *value)
{
    const json_t *count = json_object_get(json_object_get(m->root, "counts"), name);

    if (count == NULL)
        return -1;
    *value = (uint64_t)json_integer_value(count);
    return 0;
}

const char *manifest_option(const struct manifest *m, const char *name)
{
    return json_string_value(json_object_get(json_object_get(m->root, "options"), name));
}

const char *manifest_board_file(const struct manifest *m)
{
    const json_t *file = json_object_get(json_object_get(m->root, "board"), "file");

    return json_string_value(json_object_get(file, "text"));
}

/* Version 1 had them among the options, without saying which were told, and permutations of planes
 * without their numbers. */
const char *manifest_convention(const struct manifest *m, const char *name)
{
    const json_t *said = json_object_get(json_object_get(m->root, "conventions"), name);
    const char *source = json_string_value(json_object_get(said, "source"));
    const char *old = manifest_option(m, name);

    if (source != NULL)
        return strcmp(source, "default") == 0 ? NULL
                                              : json_string_value(json_object_get(said, "meaning"));
    return old != NULL && strcmp(old, "permutation") != 0 ? old : NULL;
}

const char *manifest_swap(const struct manifest *m, size_t i, const char *array)
{
    const json_t *output = json_array_get(json_object_get(m->root, "outputs"), i), *entry;
    json_t *name = manifest_json_text(array, true, NULL);
    const char *swap = NULL;
    size_t k;

    json_array_foreach(json_object_get(output, "arrays"), k, entry)
    {
        if (name != NULL && json_equal(json_object_get(entry, "name"), name))
            swap = json_string_value(json_object_get(entry, "swap"));
    }
    json_decref(name);
    return swap;
}

bool manifest_lists_digest(const char *manifest_path, const char *sha256)
{
    struct error unused = {0};
    struct manifest *m = manifest_read(manifest_path, &unused);
    struct manifest_file file;
    bool found = false;

    for (size_t i = 0; m != NULL && !found && manifest_output(m, i, &file) == 0; i++)
        found = strcmp(file.sha256, sha256) == 0;
    manifest_free(m);
    return found;
}
