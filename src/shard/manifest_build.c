/* manifest_build.c - a manifest under construction: see manifest.h. */
#include "shard/manifest_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SYMAUG_VERSION
#define SYMAUG_VERSION "unknown"
#endif

static int no_memory(struct error *err)
{
    return error_no_memory(err, "manifest");
}

/* object[key] = value; the reference to value is taken, and NULL is a failed allocation. */
static int put(json_t *object, const char *key, json_t *value, struct error *err)
{
    return json_object_set_new(object, key, value) == 0 ? 0 : no_memory(err);
}

static int put_text(json_t *object, const char *key, const char *text, struct error *err)
{
    return put(object, key, manifest_json_text(text, false, err), err);
}

static int put_name(json_t *object, const char *key, const char *name, struct error *err)
{
    return put(object, key, manifest_json_text(name, true, err), err);
}

static int put_count(json_t *object, const char *key, uint64_t value, struct error *err)
{
    if (value > INT64_MAX)
        return error_set(err, ERROR_INTERNAL, "manifest: %s is too large: %" PRIu64, key, value);
    return put(object, key, json_integer((json_int_t)value), err);
}

/* A new object at the end of the list of that key; borrowed, NULL with err set. */
static json_t *append_object(const json_t *parent, const char *key, struct error *err)
{
    json_t *object = json_object();

    if (object != NULL && json_array_append_new(json_object_get(parent, key), object) == 0)
        return object;
    no_memory(err);
    return NULL;
}

/* A new object under a key; borrowed, NULL with err set. */
static json_t *put_object(json_t *parent, const char *key, struct error *err)
{
    json_t *object = json_object();

    return put(parent, key, object, err) == 0 ? object : NULL;
}

static int put_skeleton(json_t *root, struct error *err)
{
    static const char *const objects[] = {"conventions", "counts", "options"};
    static const char *const lists[] = {"inputs", "outputs", "transforms", "warnings"};
    json_t *tool = put_object(root, "tool", err);

    if (tool == NULL || put_text(tool, "name", "symaug", err) != 0 ||
        put_text(tool, "version", SYMAUG_VERSION, err) != 0 ||
        put_count(root, "format_version", MANIFEST_FORMAT_VERSION, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        if (put_object(root, objects[i], err) == NULL)
            return -1;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (put(root, lists[i], json_array(), err) != 0)
            return -1;
    return 0;
}

struct manifest *manifest_new(struct error *err)
{
    struct manifest *m = malloc(sizeof *m);

    if (m == NULL) {
        no_memory(err);
        return NULL;
    }
    m->root = json_object();
    if (m->root == NULL)
        no_memory(err);
    else if (put_skeleton(m->root, err) == 0)
        return m;
    manifest_free(m);
    return NULL;
}

void manifest_free(struct manifest *manifest)
{
    if (manifest == NULL)
        return;
    json_decref(manifest->root);
    free(manifest);
}

int manifest_set_board(struct manifest *m, const char *name, const char *preset,
                       unsigned group_order, struct error *err)
{
    json_t *board = put_object(m->root, "board", err);

    if (board == NULL || put_name(board, "name", name, err) != 0 ||
        (preset != NULL && put_name(board, "preset", preset, err) != 0))
        return -1;
    return put_count(board, "group_order", group_order, err);
}

int manifest_set_board_file(struct manifest *m, const char *text, struct error *err)
{
    json_t *file = put_object(json_object_get(m->root, "board"), "file", err);
    char sha256[DIGEST_HEX_NBYTES];

    if (file == NULL || digest_bytes(text, strlen(text), sha256, err) != 0 ||
        put_text(file, "sha256", sha256, err) != 0)
        return -1;
    return put(file, "text", json_string(text), err);
}

int manifest_add_transform(struct manifest *m, unsigned id, const char *name, bool swaps_colours,
                           struct error *err)
{
    json_t *transform = append_object(m->root, "transforms", err);

    if (transform == NULL || put_count(transform, "id", id, err) != 0 ||
        put_text(transform, "name", name, err) != 0)
        return -1;
    return put(transform, "swaps_colours", json_boolean(swaps_colours), err);
}

int manifest_set_option(struct manifest *m, const char *name, const char *value, struct error *err)
{
    return put_text(json_object_get(m->root, "options"), name, value, err);
}

int manifest_set_codec(struct manifest *m, const char *level, const char *libraries,
                       struct error *err)
{
    json_t *codec = put_object(m->root, "codec", err);

    if (codec == NULL || put_text(codec, "level", level, err) != 0)
        return -1;
    return put_text(codec, "libraries", libraries, err);
}

/* A new entry of "inputs" or "outputs"; borrowed, NULL with err set. */
static json_t *append_file(struct manifest *m, const char *list, const struct manifest_file *file,
                           struct error *err)
{
    json_t *object = append_object(m->root, list, err);

    if (object == NULL || put_name(object, "name", file->name, err) != 0 ||
        put_count(object, "bytes", file->n_bytes, err) != 0 ||
        put_text(object, "sha256", file->sha256, err) != 0 ||
        put_count(object, "rows", file->n_rows, err) != 0)
        return NULL;
    return object;
}

int manifest_add_input(struct manifest *m, const char *name, uint64_t n_bytes, const char *sha256,
                       uint64_t n_rows, struct error *err)
{
    const struct manifest_file file = {name, sha256, n_bytes, n_rows};

    return append_file(m, "inputs", &file, err) == NULL ? -1 : 0;
}

int manifest_add_output(struct manifest *m, const char *name, uint64_t n_bytes, const char *sha256,
                        uint64_t n_rows, struct error *err)
{
    const struct manifest_file file = {name, sha256, n_bytes, n_rows};
    json_t *output = append_file(m, "outputs", &file, err);

    return output == NULL ? -1 : put(output, "arrays", json_array(), err);
}

/* The output begun last; NULL with err set when there is none. */
static json_t *last_output(const struct manifest *m, struct error *err)
{
    const json_t *outputs = json_object_get(m->root, "outputs");
    size_t n = json_array_size(outputs);

    if (n > 0)
        return json_array_get(outputs, n - 1);
    error_set(err, ERROR_INTERNAL, "manifest: an array before its output");
    return NULL;
}

static json_t *shape_json(const struct manifest_array *array, struct error *err)
{
    json_t *shape = json_array();

    for (size_t i = 0; shape != NULL && i < array->n_dims; i++) {
        if (array->shape[i] > INT64_MAX ||
            json_array_append_new(shape, json_integer((json_int_t)array->shape[i])) != 0) {
            json_decref(shape);
            shape = NULL;
        }
    }
    if (shape == NULL)
        no_memory(err);
    return shape;
}

int manifest_add_array(struct manifest *m, const struct manifest_array *array, struct error *err)
{
    json_t *output = last_output(m, err);
    json_t *object = output == NULL ? NULL : append_object(output, "arrays", err);
    char crc[9];

    snprintf(crc, sizeof crc, "%08" PRIx32, array->crc);
    if (object == NULL || put_name(object, "name", array->name, err) != 0 ||
        put_text(object, "dtype", array->dtype, err) != 0 ||
        put(object, "shape", shape_json(array, err), err) != 0 ||
        put_text(object, "role", array->role, err) != 0 ||
        (array->swap != NULL && put_text(object, "swap", array->swap, err) != 0) ||
        put_text(object, "codec", array->codec, err) != 0)
        return -1;
    return put_text(object, "crc32", crc, err);
}

int manifest_add_dropped(struct manifest *m, const char *name, struct error *err)
{
    json_t *output = last_output(m, err), *list = json_object_get(output, "dropped");

    if (output == NULL || (list == NULL && put(output, "dropped", json_array(), err) != 0))
        return -1;
    if (json_array_append_new(json_object_get(output, "dropped"),
                              manifest_json_text(name, true, err)) != 0)
        return no_memory(err);
    return 0;
}

int manifest_set_first_row(struct manifest *m, uint64_t first_row, struct error *err)
{
    json_t *output = last_output(m, err);

    return output == NULL ? -1 : put_count(output, "first_row", first_row, err);
}

int manifest_set_count(struct manifest *m, const char *name, uint64_t value, struct error *err)
{
    return put_count(json_object_get(m->root, "counts"), name, value, err);
}

int manifest_add_warning(struct manifest *m, const char *text, struct error *err)
{
    json_t *value = manifest_json_text(text, false, err);

    if (json_array_append_new(json_object_get(m->root, "warnings"), value) != 0)
        return no_memory(err);
    return 0;
}

int manifest_set_convention(struct manifest *m, const char *name, const char *meaning,
                            const char *source, struct error *err)
{
    json_t *convention = put_object(json_object_get(m->root, "conventions"), name, err);

    if (convention == NULL || put_text(convention, "meaning", meaning, err) != 0)
        return -1;
    return put_text(convention, "source", source, err);
}
