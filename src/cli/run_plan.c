/*
 * run_plan.c - from operands to inputs and an output, and from a plan to what is written: its
 * shards one after another, with a line of progress, warnings and statistics. What is there already
 * is left alone, replaced or passed over, as told. Every command that writes shards goes this way.
 */
#include "cli/run_plan.h"

#include "base/output.h"
#include "base/text.h"
#include "cli/expand_print.h"
#include "engine/shards.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void run_settle_form(struct settings *settings, const char *output)
{
    const size_t n = output != NULL ? strlen(output) : 0;

    if (!settings->form_said && n >= 4 && strcmp(output + n - 4, ".npy") == 0)
        settings->form = ARCHIVE_OUT_NPY;
    if (settings->form == ARCHIVE_OUT_NPY) /* one array: no room for where rows come from */
        settings->provenance = false;
    if (settings->form != ARCHIVE_OUT_NPZ) {
        settings->level = (struct codec_level){.kind = CODEC_STORE};
        settings->level_text = "store";
    }
}

/* --- operands --- */

static int take_inputs(const struct settings *settings, struct input_list *inputs, int n,
                       char **operands, struct error *err)
{
    for (int i = 0; i < n; i++)
        if (input_list_add(inputs, operands[i], err) != 0)
            return -1;
    if (settings->files_from != NULL &&
        input_list_add_from(inputs, settings->files_from, settings->zero, err) != 0)
        return -1;
    if (inputs->n == 0)
        return error_set(err, ERROR_USAGE, "no input given");
    if (settings->out_dir != NULL && input_list_check_names(inputs, err) != 0)
        return -1;
    if (settings->n_parts > 0)
        input_list_keep_part(inputs, settings->part, settings->n_parts);
    return 0;
}

int run_take_operands(struct settings *settings, struct input_list *inputs, int n, char **operands,
                      struct error *err)
{
    run_settle_form(settings, settings->output);
    if (settings->output != NULL || settings->out_dir != NULL)
        return take_inputs(settings, inputs, n, operands, err);
    if (settings->files_from != NULL)
        return error_set(err, ERROR_USAGE, "--files-from goes with -o or --out-dir");
    if (n != 2)
        return error_set(err, ERROR_USAGE,
                         n < 2 ? "expected IN and OUT, found %d operand%s"
                               : "expected IN and OUT, found %d operand%s; several inputs need -o "
                                 "or --out-dir",
                         n, n == 1 ? "" : "s");
    settings->output = operands[1];
    run_settle_form(settings, settings->output);
    return take_inputs(settings, inputs, 1, operands, err);
}

/* --- outputs --- */

static void update(void *self, uint64_t n_done, uint64_t n_total)
{
    progress_update(self, n_done, n_total);
}

/* What goes into one plan's outputs. */
struct run {
    const struct settings *settings;
    const struct plan *plan;
    struct expand_job job;
    struct shards shards;
    json_t **stats;
    bool differs; /* --skip-existing: an output is there that is another one */
};

static int write_shard(struct run *run, const struct order *rows, const char *output,
                       struct error *err)
{
    const struct settings *settings = run->settings;
    struct progress progress;
    struct expand_result result;
    double seconds;
    int status;

    progress_start(&progress, settings->verbosity < 0 ? WHEN_NEVER : settings->progress, output);
    run->job.progress = update;
    run->job.progress_self = &progress;
    status = expand_write(&run->job, rows, output, &result, err);
    seconds = progress_end(&progress);
    if (status != 0)
        return -1;
    expand_print_result(settings, run->plan, output, &result, seconds);
    return settings->stats != NULL
               ? expand_stats_add(run->stats, output, run->plan, &result, seconds, err)
               : 0;
}

/* --- what is there already --- */

/* What --skip-existing finds where a shard is to be written. */
enum found {
    FOUND_NOTHING,
    FOUND_REMAINS, /* of an interrupted run: replaced */
    FOUND_CURRENT, /* just what would be written */
    FOUND_OTHER,   /* something else: replaced with --force only */
};

static int refuse_foreign(const struct run *run, const char *output, struct error *err)
{
    error_set(err, ERROR_CANT_CREATE, "cannot create %s: it exists (--force replaces it)",
              text_quote(output).text);
    if (run->settings->out_dir == NULL)
        return -1;
    fprintf(stderr, "symaug: %s\n", err->message);
    *err = (struct error){0};
    return 0;
}

static int look(struct run *run, const char *output, enum found *found, struct error *err)
{
    const struct settings *settings = run->settings;
    struct text list = {0};
    struct stat st;
    bool is_known;
    int status = 0;

    *found = FOUND_NOTHING;
    if (lstat(output, &st) != 0)
        return 0;
    if (expand_compare(&run->job, output, &is_known, &list, err) != 0) {
        status = -1;
    } else if (is_known && list.n_bytes == 0) {
        *found = FOUND_CURRENT;
        if (settings->verbosity > 0)
            fprintf(stderr, "symaug: %s: is there already\n", text_path(output).text);
    } else if (!is_known && expand_is_remains(&run->job, output)) {
        *found = FOUND_REMAINS;
        if (settings->verbosity >= 0)
            fprintf(stderr, "symaug: warning: %s: has no manifest: written again\n",
                    text_path(output).text);
    } else if (!settings->force) {
        *found = FOUND_OTHER;
        if (!is_known)
            status = refuse_foreign(run, output, err);
        else
            fprintf(stderr,
                    "symaug: %s: is not what would be written: %s (--force writes it anew)\n",
                    text_path(output).text, list.text);
    }
    text_release(&list);
    return status;
}

/* Of an output in several shards none may be there without --force, so that nothing is written
 * before that is found out; and none of higher number ever: they would be taken for its own. */
static int check_shards(const struct run *run, const char *output, struct error *err)
{
    const struct settings *settings = run->settings;
    const bool is_folder = settings->form == ARCHIVE_OUT_NPY_FOLDER;
    const uint64_t n = shards_count(&run->shards);
    const uint64_t end = run->shards.cut == SHARDS_INPUTS ? n : n + 1;
    struct text name = {0};
    struct stat st;
    int status = 0;

    for (uint64_t i = settings->force || settings->skip_existing ? n : 0; i < end && status == 0;
         i++) {
        name.n_bytes = 0;
        status = shards_name(&run->shards, output, i, &name, err);
        if (status == 0 && i < n)
            status = output_target_check(name.text, is_folder, false, err);
        else if (status == 0 && lstat(name.text, &st) == 0)
            status = error_set(err, ERROR_CANT_CREATE,
                               "%s is left from another run: this output ends with shard %llu; "
                               "remove it",
                               text_path(name.text).text, (unsigned long long)n - 1);
    }
    text_release(&name);
    return status;
}

/* With --skip-existing, before anything is written: an output of which a part is another one is
 * left alone as a whole. */
static int look_at_all(struct run *run, const char *output, enum found *found, struct error *err)
{
    const uint64_t n = shards_count(&run->shards);
    struct text name = {0};
    int status = 0;

    for (uint64_t i = 0; i < n && status == 0; i++) {
        name.n_bytes = 0;
        status = shards_name(&run->shards, output, i, &name, err);
        if (status == 0)
            status = look(run, name.text, &found[i], err);
        run->differs |= found[i] == FOUND_OTHER;
    }
    text_release(&name);
    return status;
}

static int write_shards(struct run *run, const char *output, const enum found *found,
                        struct error *err)
{
    const uint64_t n = shards_count(&run->shards);
    struct text name = {0};
    uint64_t first = 0;
    int status = 0;

    for (uint64_t i = 0; i < n && status == 0; i++) {
        const struct order rows = shards_slice(&run->shards, i, first);

        name.n_bytes = 0;
        status = shards_name(&run->shards, output, i, &name, err);
        run->job.force = run->settings->force || found[i] == FOUND_REMAINS;
        if (status == 0 && found[i] != FOUND_CURRENT)
            status = write_shard(run, &rows, name.text, err);
        first += rows.n_images;
    }
    text_release(&name);
    return status;
}

static int run_shards(struct run *run, const char *output, struct error *err)
{
    enum found *found = calloc(shards_count(&run->shards), sizeof *found);
    int status = found != NULL ? 0 : error_no_memory(err, "list of shards");

    if (status == 0 && run->shards.cut != SHARDS_ONE)
        status = check_shards(run, output, err);
    if (status == 0 && run->settings->skip_existing)
        status = look_at_all(run, output, found, err);
    if (status == 0 && !run->differs)
        status = write_shards(run, output, found, err);
    free(found);
    return status;
}

static int print_plan(const struct settings *settings, struct plan *plan, const char *output,
                      struct error *err)
{
    if (plan_survey(plan, err) != 0)
        return -1;
    expand_print_warnings(settings, plan, 0);
    expand_print_plan(plan, output);
    return 0;
}

int run_plan(const struct settings *settings, struct plan *plan, const char *output, json_t **stats,
             struct error *err)
{
    struct run run = {
        .settings = settings, .plan = plan, .shards = shards_of(plan), .stats = stats};
    size_t n_printed;
    int status;

    if (settings->dry_run)
        return print_plan(settings, plan, output, err);
    n_printed = expand_print_warnings(settings, plan, 0);
    if (expand_job_init(&run.job, plan, settings, err) != 0)
        return -1;
    status = run_shards(&run, output, err);
    expand_job_release(&run.job);
    expand_print_warnings(settings, plan, n_printed);
    return status == 0 && run.differs ? 1 : status;
}

int run_check_outputs(const struct settings *settings, const struct plan *plan, const char *output,
                      struct error *err)
{
    const bool is_folder = settings->form == ARCHIVE_OUT_NPY_FOLDER;
    struct stat st;
    int status = 0;

    if (settings->dry_run)
        return 0;
    if (settings->out_dir == NULL)
        return output_target_check(output, is_folder, settings->force, err);
    for (size_t i = 0; i < plan->n_archives && status == 0 && stat(output, &st) == 0; i++) {
        char *base = input_list_base_name(plan->archives[i].path, err);
        struct text name = {0};

        status = base != NULL ? text_append(&name, err, "%s/%s", output, base) : -1;
        if (status == 0)
            status = output_target_check(name.text, is_folder, settings->force, err);
        text_release(&name);
        free(base);
    }
    return status;
}
