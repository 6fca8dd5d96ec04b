/* manifest_parts.c - see manifest_parts.h. */
#include "shard/manifest_parts.h"

#include "base/text.h"
#include "shard/manifest_json.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct manifest_strays {
    char **paths; /* owned */
    size_t n;
};

static int no_memory(struct error *err)
{
    return error_no_memory(err, "list of manifests");
}

static bool ends_with(const char *name, const char *suffix)
{
    const size_t n = strlen(name), n_suffix = strlen(suffix);

    return n > n_suffix && strcmp(name + n - n_suffix, suffix) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* --- where things are --- */

/* The folder that a path lies in, without links and dots, and with a slash at its end; owned by the
 * caller. */
static char *real_folder(const char *path, enum error_kind kind, struct error *err)
{
    const size_t n = (size_t)(base_name(path) - path);
    struct text text = {0};
    char *real = NULL, *folder = n == 0 ? strdup(".") : strndup(path, n);

    if (folder != NULL)
        real = realpath(folder, NULL);
    if (real == NULL)
        error_set_errno(err, kind, errno, "%s: cannot find its folder", text_path(path).text);
    else
        (void)text_append(&text, err, "%s%s", real, real[1] == '\0' ? "" : "/");
    free(real);
    free(folder);
    return text.text;
}

/* Append what leads from one such folder to another: "../b/". */
static int append_way(struct text *way, const char *from, const char *to, struct error *err)
{
    size_t n_common = 0;

    for (size_t i = 0; from[i] != '\0' && from[i] == to[i]; i++)
        if (from[i] == '/')
            n_common = i + 1;
    for (const char *p = from + n_common; *p != '\0'; p++)
        if (*p == '/' && text_append(way, err, "../") != 0)
            return -1;
    return text_append(way, err, "%s", to + n_common);
}

/* --- outputs --- */

static int check_file(const char *manifest, const char *path, uint64_t n_bytes, struct error *err)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return error_set_errno(err, errno == ENOENT ? ERROR_DATA : ERROR_IO, errno, "%s: output %s",
                               text_path(manifest).text, text_quote(path).text);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size != n_bytes)
        return error_set(
            err, ERROR_DATA, "%s: output %s: %" PRIu64 " bytes expected, %" PRIu64 " found",
            text_path(manifest).text, text_quote(path).text, n_bytes, (uint64_t)st.st_size);
    return 0;
}

/* The output's name becomes its place as seen from the joined manifest. */
static int rename_output(const struct manifest_parts *parts, json_t *output, const char *path,
                         struct error *err)
{
    char *folder = real_folder(path, ERROR_DATA, err);
    struct text name = {0};
    int rc = -1;

    if (folder != NULL && append_way(&name, parts->folder, folder, err) == 0 &&
        text_append(&name, err, "%s", base_name(path)) == 0) {
        json_t *json = manifest_json_text(name.text, true, err);

        rc = json == NULL ? -1 : json_object_set_new(output, "name", json);
        if (json != NULL && rc != 0)
            no_memory(err);
    }
    text_release(&name);
    free(folder);
    return rc;
}

static int settle_output(const struct manifest_parts *parts, const struct manifest_part *part,
                         size_t i, struct error *err)
{
    json_t *output = json_array_get(json_object_get(part->manifest->root, "outputs"), i);
    struct manifest_file file;
    struct text path = {0};
    char *name;
    int rc = -1;

    manifest_output(part->manifest, i, &file);
    name = manifest_decode_name(file.name, err);
    if (name != NULL && text_append(&path, err, "%.*s%s", (int)(base_name(part->path) - part->path),
                                    part->path, name) == 0)
        rc = check_file(part->path, path.text, file.n_bytes, err);
    if (rc == 0)
        rc = rename_output(parts, output, path.text, err);
    text_release(&path);
    free(name);
    return rc;
}

/* --- one manifest --- */

/* Append a manifest, whose ownership is taken; NULL is a failure that err tells of. */
static int add_part(struct manifest_parts *parts, const char *path, struct manifest *manifest,
                    struct error *err)
{
    struct manifest_part part = {manifest != NULL ? strdup(path) : NULL, manifest};
    struct manifest_part *grown;

    if (part.path == NULL) {
        manifest_free(manifest);
        return manifest == NULL ? -1 : no_memory(err);
    }
    grown = realloc(parts->items, (parts->n + 1) * sizeof *grown);
    if (grown == NULL) {
        manifest_free(manifest);
        free(part.path);
        return no_memory(err);
    }
    parts->items = grown;
    grown[parts->n++] = part;
    for (size_t i = 0; i < manifest_n_outputs(manifest); i++)
        if (settle_output(parts, &part, i, err) != 0)
            return -1;
    return 0;
}

/* --- folders --- */

static bool exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

/* Does it list one output, the one beside which it stands? -1 with err set: no memory. */
static int stands_beside_output(const struct manifest *manifest, const char *output,
                                struct error *err)
{
    struct manifest_file file;
    char *name;
    int is_it;

    if (manifest_n_outputs(manifest) != 1 || manifest_output(manifest, 0, &file) != 0)
        return 0;
    name = manifest_decode_name(file.name, err);
    is_it = name == NULL ? -1 : strcmp(name, base_name(output)) == 0;
    free(name);
    return is_it;
}

/* A manifest in a folder. One that belongs to no output is a joined one. */
static int add_found(struct manifest_parts *parts, const char *path, struct error *err)
{
    struct manifest *manifest = manifest_read(path, err);
    char *output = strndup(path, strlen(path) - strlen(MANIFEST_SUFFIX));
    int belongs = -1;

    if (manifest != NULL && output != NULL)
        belongs = stands_beside_output(manifest, output, err);
    else if (manifest != NULL)
        no_memory(err);
    if (belongs == 0 && exists(output))
        belongs = error_set(err, ERROR_DATA, "%s: does not list %s, beside which it stands",
                            text_path(path).text, text_quote(base_name(output)).text);
    free(output);
    if (belongs > 0)
        return add_part(parts, path, manifest, err);
    manifest_free(manifest);
    return belongs;
}

static int add_stray(struct manifest_strays *strays, const char *path, struct error *err)
{
    char **grown = realloc(strays->paths, (strays->n + 1) * sizeof *grown);

    if (grown == NULL)
        return no_memory(err);
    strays->paths = grown;
    grown[strays->n] = strdup(path);
    if (grown[strays->n] == NULL)
        return no_memory(err);
    strays->n++;
    return 0;
}

static int add_file(struct manifest_parts *parts, const char *folder, const char *name,
                    struct error *err)
{
    struct text path = {0};
    int rc = -1;

    if (text_append(&path, err, "%s/%s", folder, name) != 0)
        return -1;
    if (ends_with(name, MANIFEST_SUFFIX)) {
        rc = add_found(parts, path.text, err);
    } else if (text_append(&path, err, MANIFEST_SUFFIX) == 0) {
        rc = 0;
        if (!exists(path.text)) {
            path.text[path.n_bytes - strlen(MANIFEST_SUFFIX)] = '\0';
            rc = add_stray(parts->strays, path.text, err);
        }
    }
    text_release(&path);
    return rc;
}

static int is_of_interest(const struct dirent *entry)
{
    static const char *const suffixes[] = {MANIFEST_SUFFIX, ".npz", ".npy"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (entry->d_name[0] != '.' && ends_with(entry->d_name, suffixes[i]))
            return 1;
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_folder(struct manifest_parts *parts, const char *path, struct error *err)
{
    const size_t n_before = parts->n;
    struct dirent **entries;
    int n = scandir(path, &entries, is_of_interest, by_name);
    int rc = 0;

    if (n < 0)
        return error_set_errno(err, ERROR_NO_INPUT, errno, "%s: cannot list", text_path(path).text);
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = add_file(parts, path, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    if (rc == 0 && parts->n == n_before)
        rc = error_set(err, ERROR_NO_INPUT, "%s: no manifest of an output in this folder",
                       text_path(path).text);
    return rc;
}

/* --- all --- */

int manifest_parts_init(struct manifest_parts *parts, const char *target, struct error *err)
{
    *parts = (struct manifest_parts){0};
    parts->strays = calloc(1, sizeof *parts->strays);
    if (parts->strays == NULL)
        return no_memory(err);
    parts->folder = real_folder(target, ERROR_CANT_CREATE, err);
    return parts->folder != NULL ? 0 : -1;
}

int manifest_parts_add(struct manifest_parts *parts, const char *path, struct error *err)
{
    struct stat st;
    size_t n = strlen(path);
    char *folder;
    int rc;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return add_part(parts, path, manifest_read(path, err), err);
    while (n > 1 && path[n - 1] == '/')
        n--;
    folder = strndup(path, n);
    rc = folder != NULL ? add_folder(parts, folder, err) : no_memory(err);
    free(folder);
    return rc;
}

/* The names of all inputs as the keys of an object; NULL with err set. */
static json_t *input_names(const struct manifest *manifest, struct error *err)
{
    const json_t *inputs = json_object_get(manifest->root, "inputs"), *input;
    json_t *names = json_object();
    size_t i;

    json_array_foreach(inputs, i, input)
    {
        const char *name = json_string_value(json_object_get(input, "name"));

        if (names != NULL && json_object_set_new(names, name, json_true()) != 0) {
            json_decref(names);
            names = NULL;
        }
    }
    if (names == NULL)
        no_memory(err);
    return names;
}

int manifest_parts_check_strays(const struct manifest_parts *parts, const struct manifest *joined,
                                struct error *err)
{
    json_t *inputs = input_names(joined, err);
    int rc = inputs != NULL ? 0 : -1;

    for (size_t i = 0; i < parts->strays->n && rc == 0; i++) {
        const char *path = parts->strays->paths[i];
        json_t *name = manifest_json_text(base_name(path), true, err);

        if (name == NULL)
            rc = -1;
        else if (json_object_get(inputs, json_string_value(name)) == NULL)
            rc = error_set(err, ERROR_DATA,
                           "%s: has no manifest: an output that was not finished, or an input "
                           "that was not expanded",
                           text_path(path).text);
        json_decref(name);
    }
    json_decref(inputs);
    return rc;
}

void manifest_parts_release(struct manifest_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++) {
        manifest_free(parts->items[i].manifest);
        free(parts->items[i].path);
    }
    for (size_t i = 0; parts->strays != NULL && i < parts->strays->n; i++)
        free(parts->strays->paths[i]);
    if (parts->strays != NULL)
        free(parts->strays->paths);
    free(parts->strays);
    free(parts->items);
    free(parts->folder);
    *parts = (struct manifest_parts){0};
}
