/*
 * report.c - reads one set after another and writes it to the page (page.c) and to JSON, which has
 * the same facts; undefined numbers are null there. `verify` finds what is wrong with the set's
 * files, the first of which is interpreted as `info` does; both give the verdict. Then the rows are
 * counted (count.c) and, on a second thread if there is one, the positions. All but what is written
 * is dropped before the next set.
 */
#include "report/set.h"

#include "base/meter.h"

/* Whether the result is of a shard, and one that could be read. */
static bool is_readable(const struct verify_result *result)
{
    return !text_ends_with(result->path, ".json") && result->fatal == ERROR_NONE;
}

/* --- rows --- */

/* Count the rows of a set, in two passes if a label has too many values to list. Damage, which
 * `verify` has reported, ends the counting of a file but not the report. */
static int read_rows(struct report_set *set, struct error *err)
{
    const struct settings *settings = set->request->settings;
    const struct verify_request request = {.settings = settings, .exact_manifest = true};
    const struct archive_in *first = &set->shard.archive;
    struct tally *tally = &set->tally;

    for (int pass = 0; pass == 0 || (pass == 1 && tally->needs_bins); pass++) {
        for (size_t k = 0; pass == 1 && k < tally->n_labels; k++) {
            struct tally_label *label = &tally->labels[k];

            if (!label->all.is_binned)
                continue;
            memset(label->all.counts, 0, sizeof label->all.counts);
            for (uint32_t t = 0; label->by_transform != NULL && t < tally->board->n_transforms; t++)
                label->by_transform[t] = (struct tally_histogram){
                    .is_binned = true, .low = label->all.low, .high = label->all.high};
        }
        for (size_t r = 0; r < set->results.n && set->is_open; r++) {
            const struct verify_result *result = &set->results.items[r];
            const bool is_first = strcmp(first->path, result->path) == 0;
            struct verify_located images = {0};
            struct shard own = {0};
            const struct shard *shard = is_first ? &set->shard : &own;
            struct error why = {0};
            int status = 0;

            if (!is_readable(result))
                continue;
            if (!is_first)
                status = shard_open(&own, result->path, settings, &why);
            /* Sizes are sums over the arrays of one name in all files. */
            for (size_t i = 0; status == 0 && pass == 0 && i < shard->archive.n_arrays; i++)
                for (size_t n = 0; n < first->n_arrays; n++) {
                    const struct array *array = &shard->archive.arrays[i];
                    const size_t k = (i + n) % first->n_arrays; /* mostly in the same order */

                    if (strcmp(array->key, first->arrays[k].key) != 0)
                        continue;
                    set->nbytes[2 * k] += array->unpacked_nbytes;
                    set->nbytes[2 * k + 1] += array->packed_nbytes;
                    break;
                }
            if (status == 0 && result->is_expanded)
                status = verify_locate(&request, result->path, VERIFY_ALL_ROWS, &images, &why);
            if (status == 0 && (images.sources == NULL || images.n_rows == shard->n_rows))
                status = tally_add(tally, shard, &images, pass == 1, &why);
            verify_located_release(&images);
            if (!is_first)
                shard_close(&own);
            if (status != 0 && why.kind != ERROR_DATA && why.kind != ERROR_IO)
                return error_pass(err, &why);
        }
    }
    return tally_finish(tally, err);
}

/* --- the verdict --- */

/* Say why a set cannot be checked. */
static void say_unchecked(const struct report_set *set, const struct verify_result *fatal,
                          struct pen *s)
{
    const char *gap = "";
    size_t first = 0; /* error */

    pen_put(s, "Cannot be checked: ");
    if (fatal != NULL) {
        while (first < fatal->findings.n && fatal->findings.items[first].is_warning)
            first++;
        if (first == fatal->findings.n) /* many warnings: the error is only counted */
            first = 0;
        pen_put(s, "%s cannot be read%s%s.", text_path(fatal->path).text,
                first < fatal->findings.n ? ": " : "",
                first < fatal->findings.n ? fatal->findings.items[first].message : "");
    } else if (!set->is_open) {
        pen_put(s, "there is no shard in it.");
    } else if (set->shard.found.board == NULL) {
        pen_put(s, "%s",
                set->shard.board_problem != NULL ? set->shard.board_problem->message
                                                 : "the board is not known; use --board.");
    } else {
        pen_put(s, "the role is not decided of ");
        for (size_t i = 0; i < set->shard.archive.n_arrays; i++)
            if (shard_is_undecided(&set->shard, i)) {
                pen_put(s, "%s%s", gap, text_path(set->shard.archive.arrays[i].key).text);
                gap = ", ";
            }
        pen_put(s, ".");
    }
}

/* Decide the verdict, put it into words, and make the `verify` command that finds the same. */
static int say_verdict(struct report_set *set, struct error *err)
{
    const struct verify_result *fatal = NULL;
    struct pen sentence = {.out = &set->sentence, .err = err}, *s = &sentence;
    struct pen command = {.out = &set->command, .err = err};
    uint64_t n_errors = 0, n_warnings = 0;
    size_t n_files = 0;
    const char *gap = " (";
    bool is_sure = set->is_open && set->shard.found.board != NULL;
    bool is_pattern = strcmp(set->listed.items[0], set->path) != 0;

    for (size_t i = 0; i < set->listed.n; i++)
        is_pattern &= text_ends_with(set->listed.items[i], ".npz");
    for (size_t i = set->results.n; i-- > 0;) {
        const struct verify_result *result = &set->results.items[i];
        const bool is_file = !text_ends_with(result->path, ".json");

        fatal = result->fatal != ERROR_NONE ? result : fatal;
        n_errors += result->findings.n_errors;
        n_warnings += result->findings.n_warnings;
        set->n_rows += is_file ? result->n_rows : 0;
        n_files += is_file;
        for (int code = 0; code < FINDING_N_CODES; code++)
            set->counts[code] += result->findings.counts[code];
    }
    for (size_t i = 0; set->is_open && i < set->shard.archive.n_arrays; i++)
        is_sure &= !shard_is_undecided(&set->shard, i);
    set->verdict = fatal != NULL || !is_sure ? REPORT_UNCHECKED
                   : n_errors > 0            ? REPORT_FINDINGS
                                             : REPORT_SOUND;
    if (set->verdict == REPORT_UNCHECKED)
        say_unchecked(set, fatal, s);
    else
        pen_put(s, "%s: %llu rows in %zu file%s, board %s; ",
                set->verdict == REPORT_SOUND ? "Sound" : "Not sound",
                (unsigned long long)set->n_rows, n_files, n_files == 1 ? "" : "s",
                text_path(set->shard.found.board->preset).text);
    if (set->verdict != REPORT_UNCHECKED && n_errors + n_warnings == 0) {
        pen_put(s, "no findings.");
    } else if (set->verdict != REPORT_UNCHECKED) {
        pen_put(s, "%llu error%s and %llu warning%s", (unsigned long long)n_errors,
                n_errors == 1 ? "" : "s", (unsigned long long)n_warnings,
                n_warnings == 1 ? "" : "s");
        for (enum finding_code code = 0; code < FINDING_N_CODES; code++)
            if (set->counts[code] > 0) { /* "policy-sum 10, nan 2" */
                pen_put(s, "%s%s %llu", gap, finding_code_name(code),
                        (unsigned long long)set->counts[code]);
                gap = ", ";
            }
        pen_put(s, ").");
    }
    /* The files of a folder are a pattern, unless shards are folders themselves. */
    pen_put(&command, "symaug verify %s--", set->request->options);
    for (size_t i = 0; i < (is_pattern ? 1 : set->listed.n); i++) {
        pen_put(&command, " ");
        command.failed |=
            text_append_shell(&set->command, is_pattern ? set->path : set->listed.items[i], err);
    }
    if (is_pattern)
        pen_put(&command, "%s*.npz", text_ends_with(set->path, "/") ? "" : "/");
    return s->failed || command.failed ? -1 : 0;
}

/* --- sets --- */

static int compare_sets(const struct report_request *request, const struct report_set *known,
                        struct report_overlap *overlap, struct error *err)
{
    struct set *items = calloc(request->n + 1, sizeof *items);
    struct sets sets = {.items = items, .exact = overlap->matrices};
    int status = items != NULL ? 0 : error_no_memory(err, "sets");

    for (size_t i = 0; i < request->n && status == 0; i++)
        if (known[i].verdict != REPORT_UNCHECKED)
            items[sets.n++] = (struct set){
                .path = known[i].path, .shards = known[i].list, .settings = request->settings};
    overlap->n = sets.n;
    sets.symmetry = sets.exact + sets.n * sets.n;
    if (status == 0 && sets.n > 0 && sets_compare(&sets, request->settings, &overlap->why) != 0 &&
        overlap->why.kind == ERROR_INTERNAL)
        status = error_pass(err, &overlap->why);
    free(items);
    return status;
}

/* Two jobs that read a set: rows and positions. */
struct reading {
    struct report_set *set;
    struct report_overlap *overlap;
    struct settings settings; /* of the positions; its pointers stay the request's */
    struct error errors[2];
    int status[2];
};

static void do_job(void *self, int64_t job, int worker)
{
    struct reading *r = self;
    struct report_set *set = r->set;
    const bool is_sure = set->verdict != REPORT_UNCHECKED;
    const bool is_alone = set->request->n == 1 && set->list.n == 1 && is_sure &&
                          !board_swaps_colours(set->shard.found.board);
    struct set one = {.path = set->path, .shards = set->list, .settings = &r->settings};
    struct sets sets = {.items = &one,
                        .n = 1,
                        .exact = is_alone ? r->overlap->matrices : NULL,
                        .positions = &set->positions};

    (void)worker;
    if (job == 0) {
        r->status[0] = read_rows(set, &r->errors[0]);
        return;
    }
    /* Positions are not counted in a set that cannot be checked. For a single file they give all
     * that comparing sets would, unless colours are swapped: that also checks who is to move. */
    r->status[1] = is_sure ? sets_compare(&sets, &r->settings, &r->errors[1]) : 0;
    if (r->status[1] != 0 && r->errors[1].kind != ERROR_INTERNAL) {
        r->status[1] = 0;
    } else if (r->status[1] == 0 && is_alone) {
        r->overlap->n = 1;
        r->overlap->matrices[1] = set->positions.n_rows - set->positions.n_classes;
    }
}

static int read_set(struct report_set *set, struct report_overlap *overlap, struct error *err)
{
    const struct settings *settings = set->request->settings;
    const struct verify_request request = {.settings = settings};
    struct reading reading = {.set = set, .overlap = overlap, .settings = *settings};
    const bool both = settings->n_threads > 1;

    for (size_t i = 0, n_done; i < set->listed.n; i += n_done)
        if (verify_some(&request, set->listed.items + i, set->listed.n - i, &n_done, &set->results,
                        err) != 0)
            return -1;
    for (size_t i = 0; i < set->results.n; i++) {
        const char *path = set->results.items[i].path;
        struct error why = {0};

        if (!is_readable(&set->results.items[i]))
            continue;
        if (text_list_add(&set->list, path, err) != 0)
            return -1;
        if (set->is_open)
            continue;
        set->is_open = shard_open(&set->shard, path, settings, &why) == 0;
        if (!set->is_open) {
            shard_close(&set->shard);
            if (why.kind != ERROR_DATA && why.kind != ERROR_IO)
                return error_pass(err, &why);
            continue;
        }
        if (new_items(&set->nbytes, 2 * set->shard.archive.n_arrays + 1, "sizes of arrays", err) !=
                0 ||
            tally_init(&set->tally, &set->shard, settings, err) != 0)
            return -1;
    }
    if (say_verdict(set, err) != 0)
        return -1;
    if (both) /* only one of them reports progress */
        reading.settings.meter = NULL;
    crew_run_each(both ? 2 : 1, 2, do_job, &reading);
    for (size_t i = 0; i < set->list.n && both && set->verdict != REPORT_UNCHECKED; i++)
        meter_begin(settings->meter, "reading", set->list.items[i]);
    for (int job = 0; job < 2; job++)
        if (reading.status[job] != 0)
            return error_pass(err, &reading.errors[job]);
    return 0;
}

/* --- JSON --- */

/* Whole numbers become integers, undefined ones null. */
static json_t *number(double value)
{
    if (!isfinite(value))
        return json_null();
    return value == floor(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
                                                       : json_real(value);
}

static json_t *count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *histogram_json(const struct tally_histogram *h)
{
    json_t *json = json_array();

    for (uint32_t i = 0; i < (h->is_binned ? TALLY_N_BINS : h->n); i++)
        json_array_append_new(
            json, h->is_binned ? json_pack("[o, o, o]", number(tally_bin(h, i)),
                                           number(tally_bin(h, i + 1)), count(h->counts[i]))
                               : json_pack("[o, o]", number(h->values[i]), count(h->counts[i])));
    return json;
}

static json_t *labels_json(const struct tally *tally)
{
    json_t *json = json_array();

    for (size_t i = 0; i < tally->n_labels; i++) {
        const struct tally_label *label = &tally->labels[i];
        json_t *transforms = json_object();

        for (uint32_t t = 0; label->by_transform != NULL && t < tally->board->n_transforms; t++) {
            char id[16];

            if (label->by_transform[t].n == 0 && !label->by_transform[t].is_binned)
                continue;
            snprintf(id, sizeof id, "%u", t);
            json_object_set_new(transforms, id, histogram_json(&label->by_transform[t]));
        }
        json_array_append_new(json,
                              json_pack("{s:o, s:s, s:o, s:o}", "array", json_name(label->key),
                                        "role", role_name(label->role), "histogram",
                                        histogram_json(&label->all), "transforms", transforms));
    }
    return json;
}

static json_t *heat_json(const struct tally *tally)
{
    json_t *json = json_array();

    for (size_t m = 0; m < tally->n_maps; m++) {
        const struct tally_map *map = &tally->maps[m];
        json_t *cells = json_array(), *mean = json_array(), *group = json_array(),
               *z = json_array();

        for (uint32_t cell = 0; cell < tally->board->n_cells; cell++) {
            if (!tally->board->on_board[cell])
                continue;
            json_array_append_new(cells, count(cell));
            json_array_append_new(mean, number(map->mean[cell]));
            json_array_append_new(group, number(map->group[cell]));
            json_array_append_new(z, number(map->z[cell]));
        }
        json_array_append_new(
            json, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "array", json_name(map->key), "plane",
                            map->plane == TALLY_NO_PLANE ? json_null() : count(map->plane), "cells",
                            cells, "mean", mean, "group", group, "z", z));
    }
    return json;
}

/* Matrices with a row and a column per set; null where sets were not compared. */
static json_t *overlap_json(const struct report_overlap *overlap, const struct report_set *sets,
                            size_t n)
{
    const struct report_set *const end = sets + n;
    const uint64_t *at = overlap->matrices;
    json_t *both[2];

    for (int k = 0; k < 2; k++) {
        both[k] = json_array();
        for (const struct report_set *a = sets; a < end; a++) {
            json_t *row = json_array();

            for (const struct report_set *b = sets; b < end; b++)
                json_array_append_new(row, overlap->why.kind == ERROR_NONE &&
                                                   a->verdict != REPORT_UNCHECKED &&
                                                   b->verdict != REPORT_UNCHECKED
                                               ? count(*at++)
                                               : json_null());
            json_array_append_new(both[k], row);
        }
    }
    return json_pack("{s:o, s:o}", "exact", both[0], "symmetric", both[1]);
}

static json_t *set_json(const struct report_set *set)
{
    const struct shard *shard = &set->shard;
    const struct board *board = set->is_open ? shard->found.board : NULL;
    const struct set_positions *p = &set->positions;
    const struct tally *tally = &set->tally;
    json_t *arrays = json_array(), *findings = json_array(), *policies = json_array(),
           *evidence = json_array(), *positions = json_null();

    for (size_t i = 0; set->is_open && i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const bool has_role = shard->bindings != NULL && !shard_is_undecided(shard, i);
        json_t *shape = json_array();
        struct text flag = {0};

        for (unsigned d = 0; d < array->header.n_dims; d++)
            json_array_append_new(shape, count(report_dimension(set, array, d)));
        (void)shard_flag(shard, i, &flag, NULL);
        json_array_append_new(
            arrays,
            json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", json_name(array->key), "dtype",
                      dtype_name(&array->header.dtype).text, "shape", shape, "role",
                      has_role ? json_string(role_name(shard->bindings[i].role)) : json_null(),
                      "flag", flag.n_bytes > 0 ? json_name(flag.text) : json_null(), "bytes",
                      count(set->nbytes[2 * i]), "packed_bytes", count(set->nbytes[2 * i + 1])));
        text_release(&flag);
    }
    /* Findings of all files; where there are several, each names its own. */
    for (size_t i = 0; i < set->results.n; i++) {
        json_t *some = findings_json(&set->results.items[i].findings);

        for (size_t k = 0; k < json_array_size(some) && set->results.n > 1; k++)
            json_object_set_new(json_array_get(some, k), "path",
                                json_name(set->results.items[i].path));
        json_array_extend(findings, some);
        json_decref(some);
    }
    for (size_t i = 0; i < tally->n_policies; i++)
        json_array_append_new(policies, json_pack("{s:o, s:o, s:o}", "array",
                                                  json_name(tally->policies[i].key), "entropy",
                                                  number(tally->policies[i].entropy), "top_share",
                                                  number(tally->policies[i].top_share)));
    for (uint32_t t = 1; tally->evidence != NULL && t < tally->board->n_transforms; t++)
        json_array_append_new(
            evidence, json_pack("{s:i, s:o, s:o, s:o, s:b}", "transform", (int)t, "name",
                                json_name(tally->board->transforms[t].name), "distance",
                                number(tally->evidence[t].distance), "limit",
                                number(tally->evidence[t].limit), "fits", tally->evidence[t].fits));
    if (p->is_known)
        positions = json_pack("{s:o, s:o, s:o, s:o, s:o}", "rows", count(p->n_rows), "distinct",
                              count(p->n_classes), "duplicates", count(p->n_rows - p->n_classes),
                              "largest", count(p->largest), "conflicts", count(p->n_conflicts));
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path",
        json_name(set->path), "board", board != NULL ? json_name(board->name) : json_null(), "rows",
        count(set->n_rows), "verdict", report_verdict_name(set->verdict), "sentence",
        json_name(set->sentence.text), "command", json_name(set->command.text), "arrays", arrays,
        "findings", findings, "counts", findings_counts_json(set->counts), "labels",
        labels_json(tally), "policy", policies, "heat", heat_json(tally), "evidence", evidence,
        "positions", positions);
}

/* --- all sets --- */

int report_make(const struct report_request *request, struct text *text, json_t **json,
                struct error *err)
{
    const struct settings *settings = request->settings;
    const size_t n = request->n;
    struct pen page = {.out = text, .err = err};
    struct report_set *sets = calloc(n + 1, sizeof *sets);
    struct report_overlap overlap = {.matrices = calloc(2 * n * n + 1, sizeof *overlap.matrices)};
    json_t *list = json_array();
    size_t n_drawn = 0, n_files = 0;
    int status = sets != NULL && overlap.matrices != NULL ? 0 : error_no_memory(err, "sets"),
        code = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        struct error why = {0};

        sets[i] = (struct report_set){.request = request, .path = request->paths[i], .number = i};
        if (set_list(sets[i].path, &sets[i].listed, &why) != 0) /* the page says what is wrong */
            status = why.kind == ERROR_NO_INPUT ? text_list_add(&sets[i].listed, sets[i].path, err)
                                                : error_pass(err, &why);
        n_files += sets[i].listed.n; /* without those that manifests list */
    }
    meter_expect(settings->meter, n_files * (json != NULL || n > 1 ? 4 : 3));
    if (text != NULL)
        page_begin(&page, request);
    for (size_t i = 0; i < n && status == 0; i++) {
        struct report_set *set = &sets[i];
        const bool is_sound =
            (status = read_set(set, &overlap, err)) == 0 && set->verdict == REPORT_SOUND;

        if (status == 0) {
            const int own = verify_exit_code(&set->results);

            if (code <= 1)
                code = own > 1 ? own : code == 1 || !is_sound;
            set->is_drawn = n <= REPORT_MAX_DRAWN ||
                            (n_drawn < REPORT_MAX_DRAWN && (!is_sound || set->tally.misfits));
            n_drawn += set->is_drawn;
            if (request->tell != NULL && !is_sound)
                request->tell(settings, set->path, set->sentence.text);
            if (json != NULL)
                json_array_append_new(list, set_json(set));
            if (text != NULL)
                page_put_set(&page, set);
        }
        tally_release(&set->tally);
        if (set->is_open)
            shard_close(&set->shard);
        verify_results_release(&set->results);
        free(set->nbytes);
        text_release(&set->sentence);
        text_release(&set->command);
    }
    if (status == 0 && overlap.n == 0 && (json != NULL || n > 1))
        status = compare_sets(request, sets, &overlap, err);
    if (status == 0 && text != NULL)
        page_end(&page, sets, &overlap);
    if (status == 0 && json != NULL)
        *json = json_pack("{s:b, s:O, s:o}", "ok", code == 0, "sets", list, "overlap",
                          overlap_json(&overlap, sets, n));
    free(overlap.matrices);
    json_decref(list);
    for (size_t i = 0; sets != NULL && i < n; i++) {
        text_list_release(&sets[i].listed);
        text_list_release(&sets[i].list);
    }
    free(sets);
    return status == 0 && !page.failed ? code : -1;
}
