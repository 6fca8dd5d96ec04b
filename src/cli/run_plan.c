/*
 * run_plan.c - shared by the commands that write shards: from a plan to its shards, written one
 * after another with warnings and statistics. Existing outputs are refused, replaced or skipped, as
 * the options say. Times go to the statistics only, since manifests must not depend on the machine.
 */
#include "cli/cli.h"

#include "engine/expand.h"
#include "manifest/manifest.h"

/* --- writing --- */

/* Print the plan's warnings from `first` on. Returns how many there are in all. */
static size_t print_warnings(const struct settings *settings, const struct plan *plan, size_t first)
{
    for (size_t i = first; i < plan->warnings.n; i++)
        command_say(settings, 0, "warning: %s", plan->warnings.items[i]);
    return plan->warnings.n;
}

static void print_plan(const struct plan *plan, const char *output)
{
    const struct board *board = plan->board;

    printf("%s: board %s, %llu rows x %u images", text_path(output).text, board->preset,
           (unsigned long long)plan->n_rows, plan->n_chosen);
    printf(" -> %llu rows, about %s before compression\n", (unsigned long long)plan->order.n_images,
           text_size(expand_estimate(plan)).text);
    if (plan->settings->rows_per_shard > 0)
        printf("shards: %llu\n", (unsigned long long)shards_count(plan));
    printf("transforms:");
    for (uint32_t k = 0; k < plan->n_chosen; k++)
        printf("%s %u %s%s", k > 0 ? "," : "", plan->chosen[k],
               board->transforms[plan->chosen[k]].name,
               board->transforms[plan->chosen[k]].swaps_colours ? " (swaps colours)" : "");
    printf("\narrays:\n");
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct npy_header *header = &array->sources[0]->header;
        uint64_t shape[NPY_MAX_DIMS];

        memcpy(shape, header->shape, sizeof shape);
        if (array->binding.role != ROLE_META && array->binding.role != ROLE_DROP &&
            array->binding.sparse != SPARSE_CSR)
            shape[0] = plan->order.n_images;
        printf("  %-24s %-6s %-24s %s", text_path(array->key).text, dtype_name(&header->dtype).text,
               text_shape(shape, header->n_dims).text, role_name(array->binding.role));
        if (array->binding.layout != NULL)
            printf(" (%s)", array->binding.layout->name);
        if (plan_swap_label(plan, array) != LABEL_KEEP)
            printf(": %s when colours swap", label_op_name(plan_swap_label(plan, array)));
        printf("\n");
    }
}

static int write_shard(struct expand_job *job, const struct order *rows, const char *output,
                       json_t *stats, struct error *err)
{
    const struct settings *settings = job->settings;
    const unsigned long long n_in = job->plan->n_rows, n_out = rows->n_images;
    struct timespec started;

    clock_gettime(CLOCK_MONOTONIC, &started);
    meter_begin(settings->meter, "writing", output);
    if (expand_write(job, rows, output, err) != 0)
        return -1;
    const double seconds = seconds_since(&started);
    const uint64_t n_bytes = job->result.n_bytes, n_unpacked = job->result.unpacked_nbytes;
    const double rate = seconds > 0 ? (double)n_unpacked / seconds : 0;
    command_say(settings, 1, "%s: %llu rows from %llu, %s in %s, %.2f s (%s/s)",
                text_path(output).text, n_out, n_in, text_size(n_unpacked).text,
                text_size(n_bytes).text, seconds, text_size((uint64_t)rate).text);
    if (stats != NULL)
        json_array_append_new(
            stats, json_pack("{s:o, s:I, s:I, s:I, s:I, s:f, s:f}", "output", json_name(output),
                             "rows_in", (json_int_t)n_in, "rows_out", (json_int_t)n_out,
                             "unpacked_bytes", (json_int_t)n_unpacked, "bytes", (json_int_t)n_bytes,
                             "seconds", seconds, "unpacked_bytes_per_second", rate));
    return 0;
}

/* What --skip-existing finds where a shard is to be written. */
enum found {
    FOUND_NOTHING,
    FOUND_REMAINS, /* of an interrupted run: replaced */
    FOUND_CURRENT, /* what would be written */
    FOUND_OTHER,   /* something else: replaced only with --force */
};

static int look(struct expand_job *job, const char *output, enum found *found, struct error *err)
{
    const struct settings *settings = job->settings;
    struct text list = {0};
    struct stat st;

    if (lstat(output, &st) != 0)
        return 0;
    int status = expand_compare(job, output, &list, err);
    const bool is_known = status == 0;
    if (is_known && list.n_bytes == 0) {
        *found = FOUND_CURRENT;
        command_say(settings, 1, "%s: is up to date", text_path(output).text);
    } else if (status > 0 && expand_is_remains(job, output)) {
        *found = FOUND_REMAINS;
        command_say(settings, 0, "warning: %s: has no manifest: written again",
                    text_path(output).text);
    } else if (status >= 0 && !settings->force) {
        *found = FOUND_OTHER;
        if (is_known)
            command_say(settings, -1,
                        "%s: differs from what would be written: %s (--force replaces it)",
                        text_path(output).text, list.text);
        else if (settings->out_dir != NULL)
            command_say(settings, -1, "cannot create %s: it exists (--force replaces it)",
                        text_quote(output).text);
        else
            status = error_set_at(err, ERROR_CANT_CREATE,
                                  &(struct error_place){.file = output, .verb = "create"},
                                  "it exists (--force replaces it)");
    }
    text_release(&list);
    return status < 0 ? -1 : 0;
}

int run_plan(const struct settings *settings, struct plan *plan, char *const *outputs,
             json_t *stats, struct error *err)
{
    const enum shards_cut cut = shards_cut(plan);
    struct expand_job job;
    struct text_list names = {0};
    struct text name = {0};
    uint64_t first = 0;
    bool differs = false;
    struct stat st;

    if (settings->dry_run && plan_survey(plan, err) != 0)
        return -1;
    const size_t n_printed = print_warnings(settings, plan, 0);
    if (settings->dry_run) {
        progress_hide(settings);
        print_plan(plan, cut == SHARDS_INPUTS ? settings->out_dir : outputs[0]);
        return 0;
    }
    if (settings->out_dir != NULL && mkdir(settings->out_dir, 0777) != 0 && errno != EEXIST) {
        const struct error_place place = {
            .file = settings->out_dir, .verb = "create folder", .errnum = errno};

        return error_set_at(err, ERROR_CANT_CREATE, &place, "%s", "");
    }
    if (expand_job_init(&job, plan, settings, err) != 0)
        return -1;
    const uint64_t n = shards_count(plan);
    enum found *found = calloc(n, sizeof *found);
    int status = found != NULL ? 0 : error_no_memory(err, "list of shards");
    meter_expect(settings->meter, n);
    /* Look at all outputs before the first is written: without --force none may exist, and if any
     * existing one differs, all are left alone. */
    for (uint64_t i = 0; i < n && status == 0; i++) {
        name.n_bytes = 0;
        status = cut == SHARDS_INPUTS ? text_append(&name, err, "%s", outputs[i])
                                      : shards_name(plan, outputs[0], i, &name, err);
        if (status == 0)
            status = text_list_add(&names, name.text, err);
        if (status == 0)
            status = command_check_lists(settings, name.text, err);
        if (status == 0 && settings->skip_existing)
            status = look(&job, name.text, &found[i], err);
        else if (status == 0 && !settings->force && cut != SHARDS_ONE)
            status = output_target_check(name.text, settings->form == ARCHIVE_OUT_NPY_FOLDER, false,
                                         err);
        differs |= found[i] == FOUND_OTHER;
    }
    /* A shard of a higher number, from another run, would be taken for one of these. */
    name.n_bytes = 0;
    if (status == 0 && cut != SHARDS_ONE && cut != SHARDS_INPUTS)
        status = shards_name(plan, outputs[0], n, &name, err);
    if (status == 0 && name.n_bytes > 0 && lstat(name.text, &st) == 0)
        status = error_set(err, ERROR_CANT_CREATE,
                           "%s is left from another run: this output ends with shard %llu; "
                           "remove it",
                           text_path(name.text).text, (unsigned long long)n - 1);
    for (size_t i = 0; i < names.n && !differs && status == 0; i++) {
        const struct order rows = shards_slice(plan, i, first);

        job.force = settings->force || found[i] == FOUND_REMAINS;
        if (found[i] != FOUND_CURRENT)
            status = write_shard(&job, &rows, names.items[i], stats, err);
        first += rows.n_images;
    }
    text_release(&name);
    text_list_release(&names);
    free(found);
    expand_job_release(&job);
    print_warnings(settings, plan, n_printed);
    return status == 0 && differs ? 1 : status;
}
