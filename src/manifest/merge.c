/*
 * merge.c - many manifests joined into one.
 *
 * Parts are sorted, those with most outputs first, so that what is already in a joined manifest is
 * met after it. Then the outputs of all are sorted by name, and equal neighbours compared; runs
 * that were cut and inputs in the same way.
 */
#include "manifest/manifest.h"

#include "base/bytes.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- where outputs are --- */

/* The folder that a path lies in, without links and dots, and with a slash at its end; owned by the
 * caller. */
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

/* --- finding manifests --- */

/* Append a manifest, whose ownership is taken; NULL is a failure that err tells of. Its outputs are
 * there, and their names become their places as seen from the joined manifest. */
static int add_part(struct manifest_parts *parts, const char *path, struct manifest *manifest,
                    struct error *err)
{
    struct manifest_part *part;
    int rc = list_room(&parts->items, parts->n + 1, sizeof *part, "joined manifest", err);

    if (rc != 0 || manifest == NULL) {
        manifest_free(manifest);
        return -1;
    }
    part = &parts->items[parts->n++];
    *part =
        (struct manifest_part){.manifest = manifest, .path = manifest_keep(manifest, path, err)};
    for (size_t i = 0; i < manifest->n_outputs && rc == 0 && part->path != NULL; i++) {
        struct manifest_file *output = &manifest->outputs[i];
        struct text file = {0}, name = {0};
        char *folder = NULL;
        struct stat st;
        size_t n_common = 0;

        rc = text_append(&file, err, "%.*s%s", (int)(text_base_name(path) - path), path,
                         output->name);
        if (rc == 0 && stat(file.text, &st) != 0)
            rc = error_set_at(err, errno == ENOENT ? ERROR_DATA : ERROR_IO, ERROR_IN_ERRNO(path),
                              "output %s", text_quote(file.text).text);
        if (rc == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size != output->n_bytes)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(path),
                              "output %s: %" PRIu64 " bytes expected, %" PRIu64 " found",
                              text_quote(file.text).text, output->n_bytes, (uint64_t)st.st_size);
        if (rc == 0 && (folder = real_folder(file.text, ERROR_DATA, err)) == NULL)
            rc = -1;
        /* Up from the joined manifest's folder to what both have in common, and down again. */
        for (size_t k = 0; rc == 0 && folder[k] != '\0' && folder[k] == parts->folder[k]; k++)
            if (folder[k] == '/')
                n_common = k + 1;
        for (const char *p = parts->folder + n_common; rc == 0 && *p != '\0'; p++)
            if (*p == '/')
                rc = text_append(&name, err, "../");
        if (rc != 0 ||
            text_append(&name, err, "%s%s", folder + n_common, text_base_name(file.text)) != 0 ||
            (output->name = manifest_keep(manifest, name.text, err)) == NULL)
            rc = -1;
        text_release(&file);
        text_release(&name);
        free(folder);
    }
    return part->path != NULL ? rc : -1;
}

/* A manifest or a shard in a folder. A manifest that belongs to no output is a joined one, and is
 * passed over. */
static int add_file(struct manifest_parts *parts, const char *folder, const char *name,
                    struct error *err)
{
    const bool is_manifest = text_ends_with(name, MANIFEST_SUFFIX);
    const size_t n = strlen(name) - (is_manifest ? strlen(MANIFEST_SUFFIX) : 0);
    struct text output = {0}, path = {0};
    struct manifest *manifest;
    struct stat st;
    int rc = text_append(&output, err, "%s/%.*s", folder, (int)n, name);

    if (rc == 0)
        rc = text_append(&path, err, "%s%s", output.text, MANIFEST_SUFFIX);
    if (rc == 0 && is_manifest) {
        manifest = manifest_read(path.text, err);
        name = text_base_name(output.text);
        if (manifest == NULL ||
            (manifest->n_outputs == 1 && strcmp(manifest->outputs[0].name, name) == 0)) {
            rc = add_part(parts, path.text, manifest, err);
        } else {
            if (stat(output.text, &st) == 0)
                rc =
                    error_set_at(err, ERROR_DATA, ERROR_IN(path.text),
                                 "does not list %s, beside which it stands", text_quote(name).text);
            manifest_free(manifest);
        }
    } else if (rc == 0 && stat(path.text, &st) != 0) {
        rc = text_list_add(&parts->strays, output.text, err);
    }
    text_release(&output);
    text_release(&path);
    return rc;
}

static int is_of_interest(const struct dirent *entry)
{
    static const char *const suffixes[] = {MANIFEST_SUFFIX, ".npz", ".npy"};

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (entry->d_name[0] != '.' && text_ends_with(entry->d_name, suffixes[i]))
            return 1;
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int manifest_parts_init(struct manifest_parts *parts, const char *target, struct error *err)
{
    *parts = (struct manifest_parts){.joined = manifest_new(err)};
    if (parts->joined != NULL)
        parts->folder = real_folder(target, ERROR_CANT_CREATE, err);
    return parts->folder != NULL ? 0 : -1;
}

int manifest_parts_add(struct manifest_parts *parts, const char *path, struct error *err)
{
    const size_t n_before = parts->n;
    struct dirent **entries;
    struct stat st;
    size_t n_path = strlen(path);
    char *folder;
    int n, rc = 0;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
        return add_part(parts, path, manifest_read(path, err), err);
    while (n_path > 1 && path[n_path - 1] == '/')
        n_path--;
    folder = strndup(path, n_path);
    if (folder == NULL)
        return error_no_memory(err, "joined manifest");
    n = scandir(folder, &entries, is_of_interest, by_name);
    if (n < 0)
        rc = error_set_errno(err, ERROR_NO_INPUT, errno, "%s: cannot list", text_path(folder).text);
    for (int i = 0; i < n; i++) {
        if (rc == 0)
            rc = add_file(parts, folder, entries[i]->d_name, err);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    if (rc == 0 && parts->n == n_before)
        rc = error_set(err, ERROR_NO_INPUT, "%s: no manifest of an output in this folder",
                       text_path(folder).text);
    free(folder);
    return rc;
}

void manifest_parts_release(struct manifest_parts *parts)
{
    for (size_t i = 0; i < parts->n; i++)
        manifest_free(parts->items[i].manifest);
    text_list_release(&parts->strays);
    free(parts->items);
    free(parts->folder);
    manifest_free(parts->joined);
    *parts = (struct manifest_parts){0};
}

/* --- joining --- */

/* A file of a part. */
struct entry {
    const struct manifest_file *file;
    struct manifest_part *part;
    size_t n_run; /* bytes of an output's name that it has in common with its run; 0: not cut */
};

struct entries {
    struct entry *items; /* owned */
    size_t n;
};

/* Most outputs first, then most inputs, then by name. */
static int by_size(const void *a, const void *b)
{
    const struct manifest_part *p = a, *q = b;

    if (p->manifest->n_outputs != q->manifest->n_outputs)
        return p->manifest->n_outputs < q->manifest->n_outputs ? 1 : -1;
    if (p->manifest->n_inputs != q->manifest->n_inputs)
        return p->manifest->n_inputs < q->manifest->n_inputs ? 1 : -1;
    return strcmp(p->path, q->path);
}

/* By name, then digest, then part: parts lie in one sorted array. */
static int by_file(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    int order = strcmp(p->file->name, q->file->name);

    if (order == 0)
        order = strcmp(p->file->sha256, q->file->sha256);
    return order != 0 ? order : (p->part > q->part) - (p->part < q->part);
}

static int by_run(const void *a, const void *b)
{
    const struct entry *p = a, *q = b;
    const size_t n = p->n_run < q->n_run ? p->n_run : q->n_run;
    const int order = memcmp(p->file->name, q->file->name, n);

    if (order != 0 || p->n_run != q->n_run)
        return order != 0 ? order : (p->n_run > q->n_run) - (p->n_run < q->n_run);
    return (p->file->first_row > q->file->first_row) - (p->file->first_row < q->file->first_row);
}

/* The outputs or inputs of all parts that add something. */
static int list_files(const struct manifest_parts *parts, bool outputs, struct entries *list,
                      struct error *err)
{
    size_t n = 0;

    for (size_t i = 0; i < parts->n; i++)
        n += outputs ? parts->items[i].manifest->n_outputs : parts->items[i].manifest->n_inputs;
    list->n = 0;
    list->items = calloc(n + 1, sizeof *list->items);
    if (list->items == NULL)
        return error_no_memory(err, "joined manifest");
    for (size_t i = 0; i < parts->n; i++) {
        struct manifest_part *part = &parts->items[i];
        const struct manifest_file *file =
            outputs ? part->manifest->outputs : part->manifest->inputs;

        n = outputs ? part->manifest->n_outputs : part->manifest->n_inputs;
        for (size_t k = 0; k < n && !part->adds_nothing; k++, file++) {
            const char *dash = strrchr(file->name, '-'); /* OUT-00000.npz, OUT-00001.npz */
            const bool is_cut = outputs && file->first_row != MANIFEST_NO_ROW && dash != NULL &&
                                strspn(dash + 1, "0123456789") > 0;

            list->items[list->n++] =
                (struct entry){file, part, is_cut ? (size_t)(dash - file->name) + 1 : 0};
        }
    }
    qsort(list->items, list->n, sizeof *list->items, by_file);
    return 0;
}

/* Which parts add nothing; an output in two of the others is refused. */
static int settle_doubles(struct manifest_parts *parts, struct entries *outputs, struct error *err)
{
    size_t *n_known = calloc(parts->n + 1, sizeof *n_known);
    int rc = n_known != NULL ? list_files(parts, true, outputs, err)
                             : error_no_memory(err, "joined manifest");

    for (size_t i = 1; rc == 0 && i < outputs->n; i++) {
        const struct entry *a = &outputs->items[i - 1], *b = &outputs->items[i];
        const struct manifest_part *later = a->part > b->part ? a->part : b->part;

        if (strcmp(a->file->name, b->file->name) != 0)
            continue;
        if (strcmp(a->file->sha256, b->file->sha256) != 0 || a->file->n_rows != b->file->n_rows ||
            a->file->first_row != b->file->first_row)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(later->path),
                              "output %s is in %s too, with other contents",
                              text_quote(a->file->name).text,
                              text_path((later == a->part ? b : a)->part->path).text);
        n_known[later - parts->items]++;
    }
    for (size_t i = 0; rc == 0 && i < parts->n; i++)
        parts->items[i].adds_nothing =
            n_known[i] > 0 && n_known[i] == parts->items[i].manifest->n_outputs;
    for (size_t i = 1; rc == 0 && i < outputs->n; i++) {
        const struct entry *a = &outputs->items[i - 1], *b = &outputs->items[i];

        if (!b->part->adds_nothing && strcmp(a->file->name, b->file->name) == 0)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(b->part->path), "output %s is in %s too",
                              text_quote(b->file->name).text, text_path(a->part->path).text);
    }
    free(n_known);
    free(outputs->items);
    outputs->items = NULL;
    return rc == 0 ? list_files(parts, true, outputs, err) : -1;
}

/* The outputs of each run that was cut follow each other without gaps and are of the same inputs,
 * as far as their manifests tell of nothing else. */
static int check_runs(struct entries *outputs, struct error *err)
{
    const struct entry *const end = outputs->items + outputs->n;
    const struct manifest_part *first = NULL;
    struct text list = {0};
    uint64_t expected = 0;
    int rc = 0;

    qsort(outputs->items, outputs->n, sizeof *outputs->items, by_run);
    for (struct entry *e = outputs->items, *run = e; rc == 0 && e < end; e++) {
        const struct manifest_file *file = e->file;

        if (e->n_run == 0)
            continue;
        if (e == outputs->items || e->n_run != run->n_run ||
            memcmp(e->file->name, run->file->name, e->n_run) != 0) { /* the next run */
            run = e;
            first = e->part;
            expected = 0;
            for (const struct entry *other = e;
                 other < end && other->n_run == e->n_run &&
                 memcmp(other->file->name, e->file->name, e->n_run) == 0;
                 other++)
                first = other->part < first ? other->part : first;
        }
        e->part->run_is_known |= e->part != first;
        if (e->part->manifest->n_outputs == 1 && first->manifest->n_outputs == 1)
            rc = manifest_compare_inputs(first->manifest, e->part->manifest, &list, err);
        if (rc == 0 && list.n_bytes > 0)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(e->part->path),
                              "not the inputs of the other outputs %s...: %s",
                              text_quote_bytes(file->name, e->n_run).text, list.text);
        if (rc == 0 && file->first_row != expected)
            rc = error_set(
                err, ERROR_DATA, "output %s: first row %" PRIu64 " expected, %" PRIu64 " found: %s",
                text_quote(file->name).text, expected, file->first_row,
                file->first_row > expected ? "an output of this run is missing in front of it"
                                           : "outputs of this run overlap");
        expected = file->first_row + file->n_rows;
    }
    text_release(&list);
    qsort(outputs->items, outputs->n, sizeof *outputs->items, by_file);
    return rc;
}

static int add_count(struct manifest *joined, const char *name, uint64_t value, struct error *err)
{
    struct manifest_count *count = manifest_count(joined, name);

    if (count == NULL) {
        count = &joined->counts[joined->n_counts++];
        *count = (struct manifest_count){.name = name};
    }
    if (__builtin_add_overflow(count->value, value, &count->value) || count->value > INT64_MAX)
        return error_set(err, ERROR_DATA, "counts.%s: the sum of all manifests is too large",
                         text_path(name).text);
    return 0;
}

/* Copies of the files, whose texts and arrays stay those of their parts, and their rows counted. */
static struct manifest_file *take_files(struct manifest *joined, const struct entries *list,
                                        const char *count, struct error *err)
{
    struct manifest_file *files = manifest_alloc(joined, (list->n + 1) * sizeof *files, err);
    int rc = files != NULL ? add_count(joined, count, 0, err) : -1;

    for (size_t i = 0; i < list->n && files != NULL; i++) {
        files[i] = *list->items[i].file;
        rc |= add_count(joined, count, files[i].n_rows, err);
    }
    return rc == 0 ? files : NULL;
}

/* Fill the joined manifest: the files; warnings of every part, each text once; counts of each run
 * once, as the outputs of a run that was cut have them in common, but for the rows of each. */
static int join(struct manifest_parts *parts, const struct entries *outputs,
                const struct entries *inputs, struct error *err)
{
    struct manifest *joined = parts->joined;
    const struct manifest_count *left_out;
    size_t n_counts = 2, n_warnings = 0, n = 0;
    struct manifest_block *blocks = joined->blocks;
    uint64_t all, n_rows;
    int rc = 0;

    *joined = *parts->items[0].manifest;
    joined->blocks = blocks;
    joined->n_counts = joined->n_warnings = 0;
    for (size_t i = 0; i < parts->n; i++) {
        n_counts += parts->items[i].manifest->n_counts;
        n_warnings += parts->items[i].manifest->n_warnings;
    }
    joined->counts = manifest_alloc(joined, n_counts * sizeof *joined->counts, err);
    joined->warnings = manifest_alloc(joined, n_warnings * sizeof *joined->warnings, err);
    if (joined->counts == NULL || joined->warnings == NULL ||
        (joined->inputs = take_files(joined, inputs, "rows_in", err)) == NULL ||
        (joined->outputs = take_files(joined, outputs, "rows_out", err)) == NULL)
        return -1;
    joined->n_inputs = inputs->n;
    joined->n_outputs = outputs->n;
    for (size_t i = 0; i < parts->n; i++) {
        const struct manifest_part *part = &parts->items[i];
        const struct manifest *m = part->manifest;

        for (size_t k = 0; k < m->n_counts && !part->adds_nothing && !part->run_is_known; k++)
            if (strcmp(m->counts[k].name, "rows_in") != 0 &&
                strcmp(m->counts[k].name, "rows_out") != 0)
                rc |= add_count(joined, m->counts[k].name, m->counts[k].value, err);
        for (size_t k = 0; k < m->n_warnings && !part->adds_nothing; k++)
            joined->warnings[joined->n_warnings++] = m->warnings[k];
    }
    qsort(joined->warnings, joined->n_warnings, sizeof *joined->warnings, text_compare);
    for (size_t i = 0; i < joined->n_warnings; i++)
        if (n == 0 || strcmp(joined->warnings[n - 1], joined->warnings[i]) != 0)
            joined->warnings[n++] = joined->warnings[i];
    joined->n_warnings = n;
    if (rc != 0)
        return -1;
    /* A run whose last output is missing has too few rows. */
    n_rows = manifest_count(joined, "rows_out")->value;
    left_out = manifest_count(joined, "images_left_out");
    if (__builtin_mul_overflow(manifest_count(joined, "rows_in")->value, joined->n_transforms,
                               &all) ||
        all > INT64_MAX)
        return error_set(err, ERROR_DATA, "the sum of all rows is too large");
    if (left_out != NULL && all - left_out->value != n_rows)
        return error_set(err, ERROR_DATA,
                         "%" PRId64 " rows expected of all outputs, %" PRIu64
                         " found: an output of a run is missing",
                         (int64_t)(all - left_out->value), n_rows);
    return 0;
}

struct manifest *manifest_merge(struct manifest_parts *parts, struct error *err)
{
    struct entries outputs = {0}, inputs = {0};
    struct text list = {0};
    size_t n = 0;
    int rc = 0;

    if (parts->n == 0) {
        error_set(err, ERROR_NO_INPUT, "no manifest to join");
        return NULL;
    }
    qsort(parts->items, parts->n, sizeof *parts->items, by_size);
    for (size_t i = 1; i < parts->n && rc == 0; i++) {
        rc = manifest_compare(parts->items[0].manifest, parts->items[i].manifest, &list, err);
        if (rc == 0 && list.n_bytes > 0)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(parts->items[i].path), "not made as %s: %s",
                              text_path(parts->items[0].path).text, list.text);
    }
    text_release(&list);
    if (rc != 0 || settle_doubles(parts, &outputs, err) != 0 || check_runs(&outputs, err) != 0 ||
        list_files(parts, false, &inputs, err) != 0)
        rc = -1;
    /* Each input once; twice in parts of different runs is refused, and one that only those parts
     * of a run have whose counts another one tells. */
    for (size_t i = 0; i < inputs.n && rc == 0; i++) {
        const struct entry *e = &inputs.items[i], *before = &inputs.items[n - (n > 0)];
        const bool is_new = n == 0 || strcmp(e->file->name, before->file->name) != 0 ||
                            strcmp(e->file->sha256, before->file->sha256) != 0;

        if (is_new && e->part->run_is_known)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(e->part->path),
                              "input %s is not one of the other outputs of its run",
                              text_quote(e->file->name).text);
        else if (is_new)
            inputs.items[n++] = *e;
        else if (!e->part->run_is_known)
            rc = error_set_at(err, ERROR_DATA, ERROR_IN(e->part->path),
                              "input %s is in %s too: its rows would be duplicated",
                              text_quote(e->file->name).text, text_path(before->part->path).text);
    }
    inputs.n = n;
    if (rc == 0)
        rc = join(parts, &outputs, &inputs, err);
    for (size_t i = 0; i < parts->strays.n && rc == 0; i++) {
        bool is_input = false;

        for (size_t k = 0; k < parts->joined->n_inputs && !is_input; k++)
            is_input =
                strcmp(parts->joined->inputs[k].name, text_base_name(parts->strays.items[i])) == 0;
        if (!is_input)
            rc = error_set(err, ERROR_DATA,
                           "%s: has no manifest: an output that was not finished, or an input "
                           "that was not expanded",
                           text_path(parts->strays.items[i]).text);
    }
    free(outputs.items);
    free(inputs.items);
    return rc == 0 ? parts->joined : NULL;
}
