/*
 * report.c - one set after another is read and written down. `verify` says what is wrong with its
 * files; then each file is understood as `info` does, and its rows are counted (tally.c). A verdict
 * comes of both. Only what is written is kept when the next set's turn comes.
 */
#include "report/set.h"

#include "base/text.h"
#include "verify/verify.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *report_verdict_name(enum report_verdict verdict)
{
    static const char *const names[] = {"sound", "findings", "unchecked"};

    return names[verdict];
}

bool report_fits(const struct report_set *set)
{
    for (uint32_t t = 1; set->tally.evidence != NULL && t < set->tally.board->n_transforms; t++)
        if (!set->tally.evidence[t].fits)
            return false;
    return true;
}

/* --- files --- */

struct names {
    char **items; /* owned */
    size_t n;
};

static void names_release(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);

    return n > n_end && strcmp(text + n - n_end, end) == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The shards of a folder, by name; none when it holds .npy files: then it is a shard itself. */
static int list_folder(const char *path, struct names *names, struct error *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int status = 0;

    while (folder != NULL && status == 0 && (entry = readdir(folder)) != NULL) {
        struct text name = {0};
        char **grown;

        if (!ends_with(entry->d_name, ".npz"))
            continue;
        status =
            text_append(&name, err, "%s%s%s", path, ends_with(path, "/") ? "" : "/", entry->d_name);
        grown = realloc(names->items, (names->n + 1) * sizeof *grown);
        if (grown != NULL)
            names->items = grown;
        else
            status = error_no_memory(err, "names of files");
        if (status == 0)
            names->items[names->n++] = name.text;
        else
            text_release(&name);
    }
    if (folder != NULL)
        closedir(folder);
    if (names->n > 0)
        qsort(names->items, names->n, sizeof *names->items, compare_names);
    return status;
}

/* Check every file of a set. */
static int verify_set(struct report_set *set, struct error *err)
{
    const struct verify_request request = {.settings = set->request->settings};
    struct names names = {0};
    struct stat about;
    int status = 0;

    if (stat(set->path, &about) == 0 && S_ISDIR(about.st_mode))
        status = list_folder(set->path, &names, err);
    for (size_t i = 0; i < names.n && status == 0; i++)
        status = verify_path(&request, names.items[i], &set->results, err);
    if (status == 0 && names.n == 0)
        status = verify_path(&request, set->path, &set->results, err);
    names_release(&names);
    return status;
}

/* --- rows --- */

/* Sizes are those of the arrays of that name in all files. */
static void add_sizes(struct report_set *set, const struct shard *shard)
{
    for (size_t i = 0; i < shard->archive.n_arrays; i++)
        for (size_t k = 0; k < set->shard.archive.n_arrays; k++)
            if (strcmp(shard->archive.arrays[i].key, set->shard.archive.arrays[k].key) == 0) {
                set->nbytes[k] += shard->archive.arrays[i].unpacked_nbytes;
                set->packed_nbytes[k] += shard->archive.arrays[i].packed_nbytes;
            }
}

static int open_first(struct report_set *set, const char *path, struct error *err)
{
    size_t n;

    if (shard_open(&set->shard, path, set->request->settings, err) != 0) {
        shard_close(&set->shard);
        return -1;
    }
    set->is_open = true;
    n = set->shard.archive.n_arrays + 1;
    set->nbytes = calloc(2 * n, sizeof *set->nbytes);
    if (set->nbytes == NULL)
        return error_no_memory(err, "sizes of arrays");
    set->packed_nbytes = set->nbytes + n;
    return tally_init(&set->tally, &set->shard, set->request->settings, err);
}

static int count_rows(struct report_set *set, const struct verify_result *result, bool again,
                      struct error *err)
{
    const struct verify_request request = {.settings = set->request->settings,
                                           .exact_manifest = true};
    const bool is_first = set->is_open && strcmp(set->shard.archive.path, result->path) == 0;
    struct verify_images images = {0};
    struct shard own = {0};
    const struct shard *shard = is_first ? &set->shard : &own;
    int status = is_first ? 0 : shard_open(&own, result->path, set->request->settings, err);

    if (status == 0 && !again)
        add_sizes(set, shard);
    if (status == 0 && result->is_expanded)
        status = verify_images(&request, result->path, &images, err);
    if (status == 0 && (images.sources == NULL || images.n_rows == shard->n_rows)) {
        const struct tally_images known = {images.sources, images.transforms};

        status = again ? tally_add_bins(&set->tally, shard, &known, err)
                       : tally_add(&set->tally, shard, &known, err);
    }
    verify_images_release(&images);
    if (!is_first)
        shard_close(&own);
    return status;
}

/* Damage that `verify` has found already ends the counting of a file, not the report. */
static int read_rows(struct report_set *set, struct error *err)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < set->results.n; i++) {
            const struct verify_result *result = &set->results.items[i];
            struct error why = {0};
            int status = 0;

            if (ends_with(result->path, ".json") || result->fatal != ERROR_NONE)
                continue;
            if (!set->is_open)
                status = open_first(set, result->path, &why);
            if (status == 0)
                status = count_rows(set, result, pass == 1, &why);
            if (status != 0 && why.kind != ERROR_DATA && why.kind != ERROR_IO)
                return error_pass(err, &why);
        }
        if (!set->tally.needs_bins)
            break;
        for (size_t k = 0; pass == 0 && k < set->tally.n_labels; k++) {
            struct tally_label *label = &set->tally.labels[k];

            if (!label->all.is_binned)
                continue;
            memset(label->all.counts, 0, sizeof label->all.counts);
            for (uint32_t t = 0; label->by_transform != NULL && t < set->tally.board->n_transforms;
                 t++)
                label->by_transform[t] = (struct tally_histogram){
                    .is_binned = true, .low = label->all.low, .high = label->all.high};
        }
    }
    return tally_finish(&set->tally, err);
}

/* --- the verdict --- */

/* "policy-sum 10, nan 2" */
static int append_counts(const struct report_set *set, struct text *text, struct error *err)
{
    const char *gap = "";

    for (int code = 0; code < FINDING_N_CODES; code++) {
        uint64_t n = 0;

        for (size_t i = 0; i < set->results.n; i++)
            n += set->results.items[i].findings.counts[code];
        if (n > 0 &&
            text_append(text, err, "%s%s %llu", gap, finding_code_name((enum finding_code)code),
                        (unsigned long long)n) != 0)
            return -1;
        if (n > 0)
            gap = ", ";
    }
    return 0;
}

static const struct verify_result *find_fatal(const struct report_set *set)
{
    for (size_t i = 0; i < set->results.n; i++)
        if (set->results.items[i].fatal != ERROR_NONE)
            return &set->results.items[i];
    return NULL;
}

/* The arrays without a role, with commas between. */
static int append_undecided(const struct report_set *set, struct text *text, struct error *err)
{
    const char *gap = "";

    for (size_t i = 0; set->is_open && i < set->shard.archive.n_arrays; i++) {
        if (!shard_is_undecided(&set->shard, i))
            continue;
        if (text_append(text, err, "%s%s", gap, text_path(set->shard.archive.arrays[i].key).text) !=
            0)
            return -1;
        gap = ", ";
    }
    return 0;
}

static int say_unchecked(struct report_set *set, const struct verify_result *fatal,
                         struct error *err)
{
    struct text *s = &set->sentence;

    if (fatal != NULL)
        return text_append(s, err, "Cannot be checked: %s cannot be read%s%s.",
                           text_path(fatal->path).text, fatal->findings.n > 0 ? ": " : "",
                           fatal->findings.n > 0 ? fatal->findings.items[0].message : "");
    if (!set->is_open)
        return text_append(s, err, "Cannot be checked: there is no shard in it.");
    if (set->shard.found.board == NULL)
        return text_append(s, err, "Cannot be checked: %s",
                           set->shard.found.problem.kind != ERROR_NONE
                               ? set->shard.found.problem.message
                               : "the board is not known; use --board.");
    if (text_append(s, err, "Cannot be checked: the role is not decided of ") != 0 ||
        append_undecided(set, s, err) != 0)
        return -1;
    return text_append(s, err, ".");
}

static int say_verdict(struct report_set *set, struct error *err)
{
    const struct verify_result *fatal = find_fatal(set);
    struct text *s = &set->sentence;
    struct text undecided = {0};
    size_t n_files = 0;

    for (size_t i = 0; i < set->results.n; i++) {
        const struct verify_result *result = &set->results.items[i];

        set->n_errors += result->findings.n_errors;
        set->n_warnings += result->findings.n_warnings;
        if (!ends_with(result->path, ".json")) {
            set->n_rows += result->n_rows;
            n_files++;
        }
    }
    if (append_undecided(set, &undecided, err) != 0)
        return -1;
    set->verdict =
        fatal != NULL || !set->is_open || set->shard.found.board == NULL || undecided.n_bytes > 0
            ? REPORT_UNCHECKED
        : set->n_errors > 0 ? REPORT_FINDINGS
                            : REPORT_SOUND;
    text_release(&undecided);
    if (set->verdict == REPORT_UNCHECKED)
        return say_unchecked(set, fatal, err);
    if (text_append(s, err, "%s: %llu rows in %zu file%s, board %s; ",
                    set->verdict == REPORT_SOUND ? "Sound" : "Not sound",
                    (unsigned long long)set->n_rows, n_files, n_files == 1 ? "" : "s",
                    text_path(set->shard.found.board->preset).text) != 0)
        return -1;
    if (set->n_errors + set->n_warnings == 0)
        return text_append(s, err, "no findings.");
    if (text_append(s, err, "%llu error%s and %llu warning%s (", (unsigned long long)set->n_errors,
                    set->n_errors == 1 ? "" : "s", (unsigned long long)set->n_warnings,
                    set->n_warnings == 1 ? "" : "s") != 0 ||
        append_counts(set, s, err) != 0)
        return -1;
    return text_append(s, err, ").");
}

/* The command that finds the same: `verify`, or what settles undecided arrays. */
static int say_command(struct report_set *set, struct error *err)
{
    struct stat about;
    const bool is_folder = set->results.n > 0 && stat(set->path, &about) == 0 &&
                           S_ISDIR(about.st_mode) &&
                           strcmp(set->results.items[0].path, set->path) != 0;

    if (text_append(&set->command, err, "symaug verify %s-- ", set->request->options) != 0 ||
        text_append_shell(&set->command, set->path, err) != 0)
        return -1;
    return is_folder
               ? text_append(&set->command, err, "%s*.npz", ends_with(set->path, "/") ? "" : "/")
               : 0;
}

/* --- sets --- */

/* The shards that can be read. */
static int list_files(struct report_set *set, struct error *err)
{
    struct report_files *files = &set->files;

    files->paths = calloc(set->results.n + 1, sizeof *files->paths);
    if (files->paths == NULL)
        return error_no_memory(err, "names of files");
    files->is_sure = set->verdict != REPORT_UNCHECKED;
    for (size_t i = 0; i < set->results.n; i++) {
        const struct verify_result *result = &set->results.items[i];

        if (ends_with(result->path, ".json") || result->fatal != ERROR_NONE)
            continue;
        files->paths[files->n] = strdup(result->path);
        if (files->paths[files->n] == NULL)
            return error_no_memory(err, "names of files");
        files->n++;
    }
    return 0;
}

static int read_set(struct report_set *set, struct error *err)
{
    if (verify_set(set, err) != 0 || read_rows(set, err) != 0 || say_verdict(set, err) != 0 ||
        say_command(set, err) != 0 || list_files(set, err) != 0)
        return -1;
    return report_count_positions(set, &set->positions, err);
}

static void release_set(struct report_set *set)
{
    tally_release(&set->tally);
    if (set->is_open)
        shard_close(&set->shard);
    verify_results_release(&set->results);
    free(set->nbytes);
    text_release(&set->sentence);
    text_release(&set->command);
}

/* What has been written so far. */
struct writing {
    const struct report_request *request;
    struct text *page; /* or NULL */
    json_t *sets;      /* or NULL */
    size_t n_drawn;
    int code;
};

static int write_set(struct writing *w, struct report_set *set, struct error *err)
{
    const int code = verify_exit_code(&set->results);

    set->is_drawn =
        w->request->n <= REPORT_MAX_DRAWN ||
        (w->n_drawn < REPORT_MAX_DRAWN && (set->verdict != REPORT_SOUND || !report_fits(set)));
    w->n_drawn += set->is_drawn;
    if (code > 1 && w->code <= 1)
        w->code = code;
    else if (w->code == 0 && set->verdict != REPORT_SOUND)
        w->code = 1;
    if (w->sets != NULL)
        json_array_append_new(w->sets, report_set_json(set));
    return w->page != NULL ? page_add_set(w->page, set, err) : 0;
}

/* The last part: what the sets have in common. */
static int write_end(struct writing *w, const struct report_files *files, json_t **json,
                     struct error *err)
{
    struct report_overlap overlap;
    int status = report_compare(w->request, files, &overlap, err);

    if (status == 0 && w->page != NULL)
        status = page_end(w->page, w->request, files, &overlap, err);
    if (status == 0 && json != NULL) {
        *json = json_pack("{s:b, s:O, s:o}", "ok", w->code == 0, "sets", w->sets, "overlap",
                          report_overlap_json(&overlap, files, w->request->n));
    }
    free(overlap.matrices);
    return status;
}

int report_make(const struct report_request *request, struct text *page, json_t **json,
                struct error *err)
{
    struct writing w = {.request = request, .page = page};
    struct report_files *files = calloc(request->n + 1, sizeof *files);
    int status = files != NULL ? 0 : error_no_memory(err, "names of files");

    if (status == 0 && page != NULL)
        status = page_begin(page, request, err);
    if (json != NULL)
        w.sets = json_array();
    for (size_t i = 0; i < request->n && status == 0; i++) {
        struct report_set set = {.request = request, .path = request->paths[i], .number = i};

        status = read_set(&set, err);
        if (status == 0)
            status = write_set(&w, &set, err);
        files[i] = set.files;
        release_set(&set);
    }
    if (status == 0)
        status = write_end(&w, files, json, err);
    json_decref(w.sets);
    for (size_t i = 0; files != NULL && i < request->n; i++) {
        struct names names = {files[i].paths, files[i].n};

        names_release(&names);
    }
    free(files);
    return status == 0 ? w.code : -1;
}
