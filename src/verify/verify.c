/*
 * verify.c - checks files, small ones side by side: opens a file, reads its arrays without rows,
 * finds out which rows are images of one source, compares them with the sets of --leak, makes the
 * one pass over all rows (pass.c), and compares the file with its manifest. A manifest as operand
 * stands for all files that it lists. What is wrong with a file is a finding; only a wrong command
 * line or lack of memory ends the run. To locate the images of one row, groups are found in the
 * same way and walked until one holds the row.
 */
#include "verify/parts.h"

#include "base/crew.h"
#include "base/meter.h"
#include "positions/positions.h"

#include <libgen.h>
#include <unistd.h>

#define MAX_SEGMENT_NBYTES (UINT64_C(128) << 20) /* of rows in sequence held at a time */
#define ROWS_AT_ONCE       4096
#define SMALL_NBYTES       (1 << 20) /* of a file */
#define SMALL_AT_ONCE      64
#define MAX_FINDINGS       100 /* of a file in which rows are only located */

/* --- --leak: positions that occur in other sets --- */

static int add_leak(void *self, uint64_t row, size_t set, uint64_t other, struct error *err)
{
    const struct lanes *lanes = self;
    const struct text_quoted path = text_path(lanes->request->settings->leaks[set - 1]);

    (void)err;
    findings_add(&lanes->result->findings,
                 ERROR_AT(FINDING_LEAK, lanes->items[lanes->planes].array->key, row),
                 "in one set only",
                 text_format("row %llu of %.120s", (unsigned long long)other, path.text).text,
                 "a position that occurs in the other set");
    return 0;
}

/* Compare the sets as `overlap` does; each row that it reports is a finding. */
static int check_leaks(struct lanes *lanes, struct error *err)
{
    const struct settings *settings = lanes->request->settings;
    const struct shard *shard = lanes->shard;
    struct settings mine = shard->recall.settings, others = *settings; /* owned elsewhere */
    struct sets sets = {.n = settings->n_leaks + 1, .found = add_leak, .self = lanes};
    struct error why = {0};

    if (shard_known_board(shard) == NULL || lanes->planes < 0)
        return error_set(err, ERROR_USAGE,
                         "--leak: %s: needs planes and the board they are of (--board)",
                         text_path(shard->archive.path).text);
    mine.board = others.board = shard->found.board->name;
    mine.board_text = others.board_text = shard->found.board->file_text;
    if (new_items(&sets.items, sets.n, "sets to compare with", err) != 0)
        return -1;
    sets.items[0] = (struct set){.path = shard->archive.path, .settings = &mine};
    for (size_t i = 1; i < sets.n; i++)
        sets.items[i] = (struct set){.path = settings->leaks[i - 1], .settings = &others};
    const int status = sets_compare(&sets, settings, &why);
    free(sets.items);
    return status == 0 ? 0 : error_set(err, why.kind, "--leak: %s", why.message);
}

/* --- against its manifest --- */

/* Add a finding unless what the manifest says is what was found. */
static void expect(struct verify_result *result, const char *array, const char *what,
                   const char *expected, const char *found)
{
    if (strcmp(expected, found) != 0)
        findings_add(&result->findings, ERROR_AT(FINDING_MANIFEST, array, FINDING_NO_ROW), expected,
                     found, "%s", what);
}

static int check_listed(const struct shard *shard, const struct verify_request *request,
                        struct verify_result *result, struct error *err)
{
    const struct archive_in *archive = &shard->archive;
    const json_t *file = shard->recall.output, *arrays = json_object_get(file, "arrays");
    char sha256[DIGEST_HEX_NBYTES];
    struct error why = {0};
    size_t n_found = 0;

    if (file == NULL) {
        expect(result, NULL, "the manifest beside it does not list this file", "its name",
               "other names");
        return 0;
    }
    expect(result, NULL, "bytes of the file",
           text_format("%" PRIu64, manifest_number(file, "bytes")).text,
           text_format("%" PRIu64, archive_in_nbytes(archive)).text);
    if (shard->bindings != NULL)
        expect(result, NULL, "rows", text_format("%" PRIu64, manifest_number(file, "rows")).text,
               text_format("%" PRIu64, shard->n_rows).text);
    for (size_t i = 0; i < json_array_size(arrays); i++) {
        const json_t *listed = json_array_get(arrays, i), *dims = json_object_get(listed, "shape");
        const char *name = manifest_text(listed, "name");
        const struct array *array = archive_in_find(archive, name);
        const struct npy_header *header = array != NULL ? &array->header : NULL;
        const size_t n_dims = smaller(json_array_size(dims), NPY_MAX_DIMS + 1);
        uint64_t shape[NPY_MAX_DIMS + 1];

        if (array == NULL) {
            expect(result, name, "the manifest lists it, but the file does not have it", "an array",
                   "none");
            continue;
        }
        n_found++;
        expect(result, array->key, "dtype", manifest_text(listed, "dtype"),
               dtype_name(&header->dtype).text);
        for (size_t d = 0; d < n_dims; d++)
            shape[d] = (uint64_t)json_integer_value(json_array_get(dims, d));
        expect(result, array->key, "shape", text_shape(shape, n_dims).text,
               text_shape(header->shape, header->n_dims).text);
        if (array->has_crc)
            expect(result, array->key, "CRC", manifest_text(listed, "crc32"),
                   text_format("%08" PRIx32, array->crc).text);
    }
    if (n_found < archive->n_arrays)
        expect(result, NULL, "arrays that the manifest does not list",
               text_format("%zu arrays", n_found).text, text_format("%zu", archive->n_arrays).text);
    if (request->headers_only)
        return 0;
    if (digest_shard(shard, sha256, &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    expect(result, NULL, "SHA-256 is not that of the manifest", manifest_text(file, "sha256"),
           sha256);
    return 0;
}

/* --- files and manifests --- */

/* A new result; borrowed until the next one is added. */
static struct verify_result *add_result(struct verify_results *results,
                                        const struct verify_request *request, const char *path,
                                        struct error *err)
{
    struct verify_result *result;

    if (list_room(&results->items, results->n + 1, sizeof *result, "results", err) != 0)
        return NULL;
    char *copy = strdup(path);
    if (copy == NULL) {
        error_no_memory(err, "results");
        return NULL;
    }
    result = &results->items[results->n++];
    *result = (struct verify_result){.path = copy, .findings.max = request->settings->max_findings};
    return result;
}

static int check_content(struct shard *shard, const struct verify_request *request,
                         struct verify_result *result, struct error *err)
{
    const struct settings *settings = request->settings;
    const uint64_t max_nbytes = smaller(settings->max_memory / 4, MAX_SEGMENT_NBYTES);
    struct unpack unpack = {0};
    struct lanes lanes = {0};
    struct orbit_groups groups = {0};
    struct error why = {0};
    int status = 0;

    /* Arrays without rows: only their sizes and CRCs are checked. Objects were read before. */
    for (size_t i = 0; i < shard->archive.n_arrays && status == 0; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const enum role role = shard->bindings != NULL ? shard->bindings[i].role : ROLE_META;

        why = (struct error){0};
        if ((role == ROLE_META || role == ROLE_DROP) && !array->is_left_out &&
            (array->header.dtype.kind != DTYPE_OBJECT || array->header.n_dims == 0) &&
            (unpack_start(&unpack, array, &why) != 0 || unpack_finish(&unpack, &why) != 0))
            status = verify_read_failed(result, array->key, &why, err);
    }
    unpack_release(&unpack);
    if (status != 0 || shard->bindings == NULL || result->fatal != ERROR_NONE)
        return status;
    why = (struct error){0};
    status = lanes_init(&lanes, shard, request, result, &why);
    if (status == 0)
        status = explain_set(&groups, &lanes, max_nbytes, &why);
    if (status == 0 && result->is_expanded)
        status = orbit_groups_expect(&groups, &why);
    result->n_groups = groups.n_groups;
    if (status == 0 && settings->n_leaks > 0)
        status = check_leaks(&lanes, &why);
    if (status == 0)
        status = lanes_open(&lanes, groups.entries != NULL, result, &why);
    if (status == 0)
        status = verify_pass_run(&lanes, &groups, &why);
    if (status != 0)
        status = why.kind == ERROR_DATA || why.kind == ERROR_IO
                     ? verify_read_failed(result, NULL, &why, err)
                     : error_pass(err, &why);
    orbit_groups_release(&groups);
    lanes_release(&lanes);
    return status;
}

static int check_file(const struct verify_request *request, const char *path,
                      struct verify_results *results, struct error *err)
{
    struct verify_result *result = add_result(results, request, path, err);
    struct shard shard;

    if (result == NULL)
        return -1;
    int status = verify_shard_open(&shard, request, result, err);
    result->n_rows = shard.n_rows;
    if (status == 0 && shard.archive.path != NULL && !request->headers_only)
        status = check_content(&shard, request, result, err);
    if (status == 0 && shard.recall.manifest != NULL)
        status = check_listed(&shard, request, result, err);
    shard_close(&shard);
    if (status == 0 && result->findings.no_memory)
        return error_no_memory(err, "findings");
    return status;
}

int verify_path(const struct verify_request *request, const char *path,
                struct verify_results *results, struct error *err)
{
    const struct finding_place *place = ERROR_AT(FINDING_MANIFEST, NULL, FINDING_NO_ROW);
    const size_t own = results->n;
    struct verify_request one = *request;
    struct error why = {0};
    char reason[ERROR_MESSAGE_NBYTES];
    struct text output = {0};

    if (!text_ends_with(path, ".json"))
        return check_file(request, path, results, err);
    /* The manifest and every output it lists get a result each. */
    struct verify_result *result = add_result(results, request, path, err);
    if (result == NULL)
        return -1;
    json_t *manifest = manifest_read(path, &why);
    if (manifest == NULL) {
        if (why.kind == ERROR_INTERNAL)
            return error_pass(err, &why);
        result->fatal = why.kind;
        findings_add(&result->findings, place, "", "", "%s", error_reason(&why, reason));
        return 0;
    }
    one.manifest = manifest;
    char *copy = strdup(path);
    const char *folder = copy != NULL ? dirname(copy) : NULL;
    int status = copy != NULL ? 0 : error_no_memory(err, "path");
    const json_t *outputs = json_object_get(manifest, "outputs");
    meter_expect(request->settings->meter, json_array_size(outputs));
    for (size_t i = 0; status == 0 && i < json_array_size(outputs); i++) {
        const char *name = manifest_text(json_array_get(outputs, i), "name");

        one.manifest_output = i;
        results->items[own].n_rows += manifest_number(json_array_get(outputs, i), "rows");
        output.n_bytes = 0;
        status = text_append(&output, err, "%s/%s", folder, name);
        if (status == 0 && access(output.text, F_OK) != 0)
            findings_add(&results->items[own].findings, place, "all that it lists", "no such file",
                         "output %s is missing", text_quote(name).text);
        else if (status == 0)
            status =
                check_file(&one, strncmp(output.text, "./", 2) == 0 ? output.text + 2 : output.text,
                           results, err);
    }
    text_release(&output);
    free(copy);
    json_decref(manifest);
    return status;
}

/* --- several files at once --- */

struct small {
    struct meter meter; /* its own */
    uint64_t n_bytes;
    struct verify_results results;
    struct error err;
};

struct beside {
    const struct verify_request *request;
    char *const *paths;
    struct small *files; /* owned */
};

static void note_bytes(struct meter *meter, uint64_t n_done, uint64_t n_total)
{
    (void)n_done;
    ((struct small *)meter)->n_bytes = n_total;
}

static void check_small(void *self, int64_t i, int worker)
{
    const struct beside *beside = self;
    struct small *file = &beside->files[i];
    struct verify_request one = *beside->request;
    struct settings settings = *one.settings; /* what it owns stays the caller's */

    (void)worker;
    file->meter.show = note_bytes;
    settings.meter = &file->meter;
    settings.n_threads = 1;
    one.settings = &settings;
    (void)verify_path(&one, beside->paths[i], &file->results, &file->err);
}

static bool is_small(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SMALL_NBYTES &&
           !text_ends_with(path, ".json");
}

int verify_some(const struct verify_request *request, char *const *paths, size_t n, size_t *n_done,
                struct verify_results *results, struct error *err)
{
    const struct settings *settings = request->settings;
    struct beside beside = {request, paths, NULL};
    size_t n_small = 0;

    while (n_small < n && n_small < SMALL_AT_ONCE && settings->n_threads > 1 &&
           is_small(paths[n_small]))
        n_small++;
    *n_done = n_small > 1 ? n_small : 1;
    if (n_small < 2)
        return verify_path(request, paths[0], results, err);
    int status =
        list_room(&results->items, results->n + n_small, sizeof *results->items, "results", err);
    if (status != 0 || new_items(&beside.files, n_small, "results", err) != 0)
        return -1;
    crew_run_each(settings->n_threads, (int64_t)n_small, check_small, &beside);
    for (size_t i = 0; i < n_small; i++) {
        struct small *file = &beside.files[i];

        meter_begin(settings->meter, "checking", paths[i]);
        meter_step(settings->meter, file->n_bytes, file->n_bytes);
        if (status == 0 && file->results.n > 0)
            results->items[results->n++] = file->results.items[--file->results.n];
        if (status == 0 && file->err.kind != ERROR_NONE)
            status = error_pass(err, &file->err);
        verify_results_release(&file->results);
    }
    free(beside.files);
    return status;
}

void verify_results_release(struct verify_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        findings_release(&results->items[i].findings);
        free(results->items[i].path);
        text_release(&results->items[i].note);
    }
    free(results->items);
    *results = (struct verify_results){0};
}

int verify_exit_code(const struct verify_results *results)
{
    int code = 0;

    for (size_t i = 0; i < results->n; i++) {
        if (results->items[i].fatal != ERROR_NONE)
            return error_exit_code(results->items[i].fatal);
        if (results->items[i].findings.n_errors > 0)
            code = 1;
    }
    return code;
}

/* --- which rows are images of one source --- */

/* Walk over the groups and keep the one that holds the row; or note source and transform of all
 * rows. */
static int keep_images(const struct orbit_groups *groups, uint64_t row,
                       struct verify_located *located, struct error *err)
{
    const bool all = row == VERIFY_ALL_ROWS;
    struct orbit_walk walk;
    const struct window *window = &walk.window;

    orbit_walk_begin(&walk, groups, NULL, ROWS_AT_ONCE, err);
    if (all) {
        located->n_rows = groups->n_rows;
        if (new_items(&located->sources, groups->n_rows + 1, "images of all rows", err) != 0 ||
            new_items(&located->transforms, groups->n_rows + 1, "images of all rows", err) != 0)
            walk.status = -1;
    }
    while (walk.status == 0 && located->images == NULL && orbit_walk_next(&walk)) {
        const struct lane_image *images = window->images;
        uint64_t g = 0, i = 0;

        for (; i < window->n && images[i].row != row; i++)
            if (all) {
                located->sources[images[i].row] = images[i].source;
                located->transforms[images[i].row] = images[i].transform;
            }
        if (i == window->n)
            continue;
        while (window->groups[g + 1] <= i)
            g++;
        walk.status = new_items(&located->images, window->groups[g + 1] - window->groups[g],
                                "images of a row", err);
        for (i = window->groups[g]; walk.status == 0 && i < window->groups[g + 1]; i++)
            if (images[i].transform != NO_TRANSFORM)
                located->images[located->n++] = (struct image){images[i].row, images[i].transform};
    }
    return orbit_walk_end(&walk);
}

int verify_locate(const struct verify_request *request, const char *path, uint64_t row,
                  struct verify_located *located, struct error *err)
{
    /* --transforms chooses what is shown here, not what the set holds. */
    struct settings settings = *request->settings;
    struct verify_request own = *request;
    char *copy = strdup(path);
    struct verify_result result = {.path = copy, .findings = {.max = MAX_FINDINGS}};
    struct shard shard = {0};
    struct lanes lanes = {0};
    struct orbit_groups groups = {0};
    struct error why = {0};

    *located = (struct verify_located){.recall = {.settings = *request->settings}};
    settings.transforms = NULL;
    own.settings = &settings;
    int status = copy != NULL ? verify_shard_open(&shard, request, &result, &why)
                              : error_no_memory(&why, "name of a file");
    if (status == 0 && shard.bindings != NULL && result.fatal == ERROR_NONE) {
        status = lanes_init(&lanes, &shard, &own, &result, &why);
        if (status == 0)
            status = explain_set(&groups, &lanes, settings.max_memory, &why);
        if (status == 0 && result.is_expanded)
            status = keep_images(&groups, row, located, &why);
        orbit_groups_release(&groups);
        lanes_release(&lanes);
    }
    if (shard.archive.path != NULL) {
        /* The caller gets the settings, and the board if it is known. */
        const struct board *board = shard_known_board(&shard);
        const char *said = request->settings->board;

        located->recall = shard.recall;
        shard.recall = (struct recall){0};
        struct settings *kept = &located->recall.settings;
        if (board != NULL) {
            if (said == NULL)
                kept->board_text = board->file_text;
            kept->board = said != NULL && !board_has_size_of_shard(said) ? said : board->preset;
            located->board = shard.found.board;
            shard.found.board = NULL;
        }
    }
    shard_close(&shard);
    const struct finding *item = result.findings.items, *end = item + result.findings.n;
    while (item < end && item->is_warning)
        item++;
    if (status != 0 && why.kind != ERROR_DATA)
        status = error_pass(err, &why);
    else if (result.findings.no_memory)
        status = error_no_memory(err, "findings");
    else if (result.fatal == ERROR_NONE)
        status = 0;
    else if (item == end)
        status = error_set(err, result.fatal, "%s: cannot be read", text_path(path).text);
    else /* the first error says why */
        status = error_set(err, result.fatal, "%s: %s%s%s", text_path(path).text,
                           item->array != NULL ? text_path(item->array).text : "",
                           item->array != NULL ? ": " : "", item->message);
    findings_release(&result.findings);
    text_release(&result.note);
    free(copy);
    if (status != 0)
        verify_located_release(located);
    return status;
}

void verify_located_release(struct verify_located *located)
{
    recall_release(&located->recall);
    board_free(located->board);
    free(located->images);
    free(located->sources);
    free(located->transforms);
    *located = (struct verify_located){0};
}
