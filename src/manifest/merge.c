/*
 * merge.c - joining many manifests into one.
 *
 * The parts are sorted, those with most outputs first, so that a joined manifest precedes the parts
 * that it already covers. Then the outputs of all parts are sorted by name and neighbours compared;
 * the outputs of runs that were cut into several, and the inputs, in the same way.
 */
#include "manifest/manifest.h"

#include "base/bytes.h"
#include "base/input.h"

#include <assert.h>

struct part {
    char *path;        /* owned: of its file */
    json_t *manifest;  /* owned; names of outputs are relative to the joined manifest */
    size_t n_known;    /* how many of its outputs are in an earlier part, too */
    bool run_is_known; /* its counts are those of a run that another part also counts */
};

struct parts {
    struct part *items; /* owned */
    size_t n;
    struct text_list strays; /* shards found without a manifest beside them */
    char *folder;            /* owned: of the joined manifest, without links */
};

/* --- finding manifests and their outputs --- */

/* The folder of a path without links and dots, with a slash at its end; owned by the caller. NULL
 * with err set. */
static char *real_folder(const char *path, enum error_kind kind, struct error *err)
{
    struct text text = {0};
    char *real = NULL;

    if (text_append(&text, err, "%.*s.", (int)(text_base_name(path) - path), path) == 0 &&
        (real = realpath(text.text, NULL)) == NULL)
        error_set_at(err, kind, ERROR_IN_ERRNO(path), "cannot find its folder");
    text_release(&text);
    if (real != NULL)
        (void)text_append(&text, err, "%s%s", real, real[1] == '\0' ? "" : "/");
    free(real);
    return text.text;
}

/* Check that an output of the manifest at path exists, and change its name to its path relative to
 * the folder of the joined manifest: up to the common folder, and down again. */
static int place_output(const struct parts *parts, const char *path, json_t *output,
                        struct error *err)
{
    const uint64_t n_bytes = manifest_number(output, "bytes");
    struct text file = {0}, name = {0};
    char *folder = NULL;
    struct stat st;
    size_t n_common = 0;
    int rc = text_append(&file, err, "%.*s%s", (int)(text_base_name(path) - path), path,
                         manifest_text(output, "name"));

    if (rc == 0 && stat(file.text, &st) != 0)
        rc = error_set_at(err, errno == ENOENT ? ERROR_DATA : ERROR_IO, ERROR_IN_ERRNO(path),
                          "output %s", text_quote(file.text).text);
    if (rc == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size != n_bytes)
        rc = error_set_at(err, ERROR_DATA, ERROR_IN(path),
                          "output %s: %" PRIu64 " bytes expected, %" PRIu64 " found",
                          text_quote(file.text).text, n_bytes, (uint64_t)st.st_size);
    if (rc == 0 && (folder = real_folder(file.text, ERROR_DATA, err)) == NULL)
        rc = -1;
    for (size_t k = 0; rc == 0 && folder[k] != '\0' && folder[k] == parts->folder[k]; k++)
        if (folder[k] == '/')
            n_common = k + 1;
    for (const char *p = parts->folder + n_common; rc == 0 && *p != '\0'; p++)
        if (*p == '/')
            rc = text_append(&name, err, "../");
    if (rc == 0)
        rc = text_append(&name, err, "%s%s", folder + n_common, text_base_name(file.text));
    if (rc == 0 && json_object_set_new(output, "name", json_string_nocheck(name.text)) != 0)
        rc = error_no_memory(err, "joined manifest");
    text_release(&file);
    text_release(&name);
    free(folder);
    return rc;
}

/* Append a manifest, which the list then owns; NULL: err is set already. */
static int add_part(struct parts *parts, const char *path, json_t *manifest, struct error *err)
{
    const json_t *outputs = json_object_get(manifest, "outputs");
    struct part *part;
    int rc = list_room(&parts->items, parts->n + 1, sizeof *part, "joined manifest", err);

    if (rc != 0 || manifest == NULL) {
        json_decref(manifest);
        return -1;
    }
    part = &parts->items[parts->n++];
    *part = (struct part){.manifest = manifest, .path = strdup(path)};
    if (part->path == NULL)
        return error_no_memory(err, "joined manifest");
    for (size_t i = 0; i < json_array_size(outputs) && rc == 0; i++)
        rc = place_output(parts, path, json_array_get(outputs, i), err);
    return rc;
}

/* Add a file in a folder: a manifest, or a shard, which should have one. A manifest without an
 * output of its name is a joined one and is skipped. */
static int add_file(struct parts *parts, const char *file, struct error *err)
{
    const char *name = text_base_name(file);
    const bool is_manifest = text_ends_with(name, MANIFEST_SUFFIX);
    const size_t n = strlen(file) - (is_manifest ? strlen(MANIFEST_SUFFIX) : 0);
    struct text output = {0}, path = {0};
    struct stat st;

    if (!is_manifest && !text_ends_with(name, ".npz") && !text_ends_with(name, ".npy"))
        return 0;
    int rc = text_append(&output, err, "%.*s", (int)n, file);
    if (rc == 0)
        rc = text_append(&path, err, "%s%s", output.text, MANIFEST_SUFFIX);
    if (rc == 0 && is_manifest) {
        json_t *manifest = manifest_read(path.text, err);
        const json_t *outputs = json_object_get(manifest, "outputs");
        name = text_base_name(output.text);
        if (manifest == NULL ||
            (json_array_size(outputs) == 1 && manifest_find(outputs, name) != NULL)) {
            rc = add_part(parts, path.text, manifest, err);
        } else {
            if (stat(output.text, &st) == 0)
                rc =
                    error_set_at(err, ERROR_DATA, ERROR_IN(path.text),
                                 "does not list %s, the output of its name", text_quote(name).text);
            json_decref(manifest);
        }
    } else if (rc == 0 && stat(path.text, &st) != 0) {
        rc = text_list_add(&parts->strays, output.text, err);
    }
    text_release(&output);
    text_release(&path);
    return rc;
}

/* Add a manifest or those in a folder. */
static int add_path(struct parts *parts, const char *path, struct error *err)
{
    const size_t n_before = parts->n;
    struct text_list files = {0};
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return add_part(parts, path, manifest_read(path, err), err);
    int rc = folder_list(path, &files, err);
    for (size_t i = 0; i < files.n && rc == 0; i++)
        rc = add_file(parts, files.items[i], err);
    text_list_release(&files);
    if (rc == 0 && parts->n == n_before)
        rc = error_set(err, ERROR_NO_INPUT, "%s: no manifest of an output in this folder",
                       text_path(path).text);
    return rc;
}

/* --- joining --- */

/* An output or input of a part. */
struct entry {
    json_t *file; /* borrowed */
    const char *name, *sha256;
    struct part *part;
    uint64_t first_row; /* of a run that was cut into several outputs; UINT64_MAX: it was not */
    size_t n_run;       /* length of the run's name, a prefix of the output's; 0: not cut */
};

struct entries {
    struct entry *items; /* owned */
    size_t n;
};

static size_t count_of(const struct part *part, const char *list)
{
    return json_array_size(json_object_get(part->manifest, list));
}

/* All that the part lists is in another one. */
static bool adds_nothing(const struct part *part)
{
    return part->n_known > 0 && part->n_known == count_of(part, "outputs");
}

/* Most outputs first, then most inputs, then by name. */
static int by_size(const void *a, const void *b)
{
    const struct part *p = a, *q = b;
    int order = order_of(count_of(q, "outputs"), count_of(p, "outputs"));

    if (order == 0)
        order = order_of(count_of(q, "inputs"), count_of(p, "inputs"));
    return order != 0 ? order : strcmp(p->path, q->path);
}

/* By name, then digest, then order of parts, which are in one array. */
static int by_file(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    int order = strcmp(p->name, q->name);

    if (order == 0)
        order = strcmp(p->sha256, q->sha256);
    return order != 0 ? order : (p->part > q->part) - (p->part < q->part);
}

static bool is_same_run(const struct entry *a, const struct entry *b)
{
    return a->n_run == b->n_run && memcmp(a->name, b->name, a->n_run) == 0;
}

static int by_run(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    int order = memcmp(p->name, q->name, smaller(p->n_run, q->n_run));

    if (order == 0)
        order = order_of(p->n_run, q->n_run);
    return order != 0 ? order : order_of(p->first_row, q->first_row);
}

/* List the "outputs" or "inputs" of all parts that add something, sorted by_file. */
static int list_files(const struct parts *parts, const char *key, struct entries *list,
                      struct error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < parts->n; i++)
        n += count_of(&parts->items[i], key);
    free(list->items);
    list->n = 0;
    if (new_items(&list->items, n + 1, "joined manifest", err) != 0)
        return -1;
    for (size_t i = 0; i < parts->n; i++) {
        struct part *part = &parts->items[i];
        const json_t *files = json_object_get(part->manifest, key);

        for (size_t k = 0; k < json_array_size(files) && !adds_nothing(part); k++) {
            json_t *file = json_array_get(files, k);
            const char *name = manifest_text(file, "name");
            const char *dash = strrchr(name, '-'); /* OUT-00000.npz, OUT-00001.npz */
            const bool is_cut = json_object_get(file, "first_row") != NULL;
            const bool is_numbered = dash != NULL && strspn(dash + 1, "0123456789") > 0;

            list->items[list->n++] =
                (struct entry){file,
                               name,
                               manifest_text(file, "sha256"),
                               part,
                               is_cut ? manifest_number(file, "first_row") : UINT64_MAX,
                               is_cut && is_numbered ? (size_t)(dash - name) + 1 : 0};
        }
    }
    qsort(list->items, list->n, sizeof *list->items, by_file);
    return 0;
}

/* Find the parts that add nothing and list the outputs of the others, none of which may be in two
 * parts. */
static int settle_doubles(struct parts *parts, struct entries *outputs, struct error *err)
{
    int rc = list_files(parts, "outputs", outputs, err);

    for (size_t i = 1; rc == 0 && i < outputs->n; i++) {
        const struct entry *a = &outputs->items[i - 1], *b = &outputs->items[i];
        struct part *later = a->part > b->part ? a->part : b->part;

        if (strcmp(a->name, b->name) != 0)
            continue;
        if (strcmp(a->sha256, b->sha256) != 0 ||
            manifest_number(a->file, "rows") != manifest_number(b->file, "rows") ||
            a->first_row != b->first_row)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(later->path),
                              "output %s is in %s too, with other contents",
                              text_quote(a->name).text,
                              text_path((later == a->part ? b : a)->part->path).text);
        later->n_known++;
    }
    for (size_t i = 1; rc == 0 && i < outputs->n; i++) {
        const struct entry *a = &outputs->items[i - 1], *b = &outputs->items[i];

        if (!adds_nothing(b->part) && strcmp(a->name, b->name) == 0)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(b->part->path), "output %s is in %s too",
                              text_quote(b->name).text, text_path(a->part->path).text);
    }
    return rc == 0 ? list_files(parts, "outputs", outputs, err) : -1;
}

/* Check that the outputs of each run that was cut follow each other without gaps, and have the same
 * inputs where their manifests list no other outputs. */
static int check_runs(struct entries *outputs, struct error *err)
{
    const struct entry *const end = outputs->items + outputs->n;
    const struct part *first = NULL;
    struct text list = {0};
    uint64_t expected = 0;
    int rc = 0;

    qsort(outputs->items, outputs->n, sizeof *outputs->items, by_run);
    for (struct entry *e = outputs->items, *run = e; rc == 0 && e < end; e++) {
        if (e->n_run == 0)
            continue;
        if (first == NULL || !is_same_run(e, run)) { /* the next run */
            run = e;
            first = e->part;
            expected = 0;
            for (const struct entry *other = e; other < end && is_same_run(other, e); other++)
                first = other->part < first ? other->part : first;
        }
        e->part->run_is_known |= e->part != first;
        if (count_of(e->part, "outputs") == 1 && count_of(first, "outputs") == 1)
            rc = manifest_compare_inputs(first->manifest, e->part->manifest, &list, err);
        if (rc == 0 && list.n_bytes > 0)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(e->part->path),
                              "not the inputs of the other outputs %s...: %s",
                              text_quote_bytes(e->name, e->n_run).text, list.text);
        if (rc == 0 && e->first_row != expected)
            rc = error_set(err, ERROR_DATA,
                           "output %s: first row %" PRIu64 " expected, %" PRIu64 " found: %s",
                           text_quote(e->name).text, expected, e->first_row,
                           e->first_row > expected ? "an output of this run is missing before it"
                                                   : "outputs of this run overlap");
        expected = e->first_row + manifest_number(e->file, "rows");
    }
    text_release(&list);
    qsort(outputs->items, outputs->n, sizeof *outputs->items, by_file);
    return rc;
}

static int add_count(json_t *counts, const char *name, uint64_t value, struct error *err)
{
    int64_t sum = json_integer_value(json_object_get(counts, name));

    if (__builtin_add_overflow(sum, value, &sum))
        return error_set(err, ERROR_DATA, "counts.%s: the sum of all manifests is too large",
                         text_path(name).text);
    return json_object_set_new(counts, name, json_integer(sum));
}

/* Make the files a list of the joined manifest, and add up their rows. */
static int put_files(json_t *joined, const char *key, const struct entries *list, const char *count,
                     struct error *err)
{
    json_t *files = json_array(), *counts = json_object_get(joined, "counts");
    int bad = json_object_set_new(joined, key, files) | add_count(counts, count, 0, err);

    for (size_t i = 0; i < list->n && bad == 0; i++)
        bad = json_array_append(files, list->items[i].file) |
              add_count(counts, count, manifest_number(list->items[i].file, "rows"), err);
    return bad;
}

/* Make the joined manifest: what the parts have in common, their files and warnings, and the sums
 * of their counts. Outputs of one run repeat the counts of the whole run, which are added once. */
static json_t *join(const struct parts *parts, const struct entries *outputs,
                    const struct entries *inputs, struct error *err)
{
    json_t *joined = json_copy(parts->items[0].manifest), *counts = json_object();
    json_t *warnings = json_array(), *value;
    struct text_list texts = {0}; /* of warnings */
    uint64_t all;
    const char *name;
    int bad = json_object_set_new(joined, "counts", counts) |
              json_object_set_new(joined, "warnings", warnings);
    bad = bad != 0 || put_files(joined, "inputs", inputs, "rows_in", err) != 0 ||
          put_files(joined, "outputs", outputs, "rows_out", err) != 0;
    for (size_t i = 0; i < parts->n && bad == 0; i++) {
        const struct part *part = &parts->items[i];
        const json_t *own = json_object_get(part->manifest, "warnings");

        for (size_t k = 0; k < json_array_size(own) && !adds_nothing(part); k++)
            bad |= text_list_add(&texts, json_string_value(json_array_get(own, k)), err);
        if (!adds_nothing(part) && !part->run_is_known)
            json_object_foreach(json_object_get(part->manifest, "counts"), name, value)
            {
                if (strcmp(name, "rows_in") != 0 && strcmp(name, "rows_out") != 0)
                    bad |= add_count(counts, name, (uint64_t)json_integer_value(value), err);
            }
    }
    (void)text_list_make_set(&texts);
    for (size_t i = 0; i < texts.n && bad == 0; i++)
        bad = json_array_append_new(warnings, json_string(texts.items[i]));
    text_list_release(&texts);
    if (bad != 0) {
        error_no_memory(err, "joined manifest"); /* unless err is set */
        json_decref(joined);
        return NULL;
    }
    /* If the last output of a run is missing, there are too few rows. */
    const uint64_t n_rows = manifest_number(counts, "rows_out");
    const uint64_t n_left_out = manifest_number(counts, "images_left_out");
    if (__builtin_mul_overflow(manifest_number(counts, "rows_in"),
                               count_of(&parts->items[0], "transforms"), &all) ||
        all > INT64_MAX)
        error_set(err, ERROR_DATA, "the sum of all rows is too large");
    else if (json_object_get(counts, "images_left_out") == NULL || all - n_left_out == n_rows)
        return joined;
    else
        error_set(err, ERROR_DATA,
                  "%" PRId64 " rows expected of all outputs, %" PRIu64
                  " found: an output of a run is missing",
                  (int64_t)(all - n_left_out), n_rows);
    json_decref(joined);
    return NULL;
}

static json_t *merge_parts(struct parts *parts, struct error *err)
{
    struct entries outputs = {0}, inputs = {0};
    json_t *joined = NULL;
    struct text list = {0};
    int rc = 0;

    assert(parts->items != NULL);
    qsort(parts->items, parts->n, sizeof *parts->items, by_size);
    for (size_t i = 1; i < parts->n && rc == 0; i++) {
        rc = manifest_compare(parts->items[0].manifest, parts->items[i].manifest, &list, err);
        if (rc == 0 && list.n_bytes > 0)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(parts->items[i].path), "not made as %s: %s",
                              text_path(parts->items[0].path).text, list.text);
    }
    text_release(&list);
    if (rc == 0 && (settle_doubles(parts, &outputs, err) != 0 || check_runs(&outputs, err) != 0 ||
                    list_files(parts, "inputs", &inputs, err) != 0))
        rc = -1;
    /* List each input once. Parts of different runs must not share one, and those whose run another
     * part counts must not have others. */
    const size_t n_inputs = inputs.n;
    inputs.n = 0;
    for (size_t i = 0; i < n_inputs && rc == 0; i++) {
        const struct entry *e = &inputs.items[i], *before = i > 0 ? &inputs.items[inputs.n - 1] : e;
        const bool is_new =
            i == 0 || strcmp(e->name, before->name) != 0 || strcmp(e->sha256, before->sha256) != 0;

        if (is_new && e->part->run_is_known)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(e->part->path),
                              "input %s is not one of the other outputs of its run",
                              text_quote(e->name).text);
        else if (is_new)
            inputs.items[inputs.n++] = *e;
        else if (!e->part->run_is_known)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(e->part->path),
                              "input %s is in %s too: its rows would be duplicated",
                              text_quote(e->name).text, text_path(before->part->path).text);
    }
    if (rc == 0)
        joined = join(parts, &outputs, &inputs, err);
    for (size_t i = 0; i < parts->strays.n && joined != NULL; i++) {
        if (manifest_find(json_object_get(joined, "inputs"),
                          text_base_name(parts->strays.items[i])) != NULL)
            continue;
        error_set(err, ERROR_DATA,
                  "%s: has no manifest: an output that was not finished, or an input "
                  "that was not expanded",
                  text_path(parts->strays.items[i]).text);
        json_decref(joined);
        joined = NULL;
    }
    free(outputs.items);
    free(inputs.items);
    return joined;
}

json_t *manifest_merge(const char *target, char *const *paths, int n_paths, struct error *err)
{
    struct parts parts = {.folder = real_folder(target, ERROR_CANT_CREATE, err)};
    int rc = parts.folder != NULL ? 0 : -1;

    for (int i = 0; i < n_paths && rc == 0; i++)
        rc = add_path(&parts, paths[i], err);
    json_t *joined = rc == 0 ? merge_parts(&parts, err) : NULL;
    for (size_t i = 0; i < parts.n; i++) {
        json_decref(parts.items[i].manifest);
        free(parts.items[i].path);
    }
    text_list_release(&parts.strays);
    free(parts.items);
    free(parts.folder);
    return joined;
}
