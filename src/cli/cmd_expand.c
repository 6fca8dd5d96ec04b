/* cmd_expand.c - symaug expand. */
#include "base/output_target.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/expand_call.h"
#include "cli/expand_print.h"
#include "cli/expand_stats.h"
#include "engine/plan_build.h"
#include "engine/shards.h"
#include "engine/shuffle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void update(void *self, uint64_t n_done, uint64_t n_total)
{
    progress_update(self, n_done, n_total);
}

/* What goes into one plan's outputs. */
struct run {
    struct expand_call *call;
    const struct plan *plan;
    struct expand_job job;
    struct shards shards;
    json_t **stats;
};

static int write_shard(struct run *run, const struct order *rows, const char *output,
                       struct error *err)
{
    struct expand_call *call = run->call;
    struct progress progress;
    struct expand_result result;
    double seconds;
    int status;

    progress_start(&progress, call->verbosity < 0 ? PROGRESS_NEVER : call->progress, output);
    run->job.settings.progress = update;
    run->job.settings.progress_self = &progress;
    status = expand_write(&run->job, rows, output, &result, err);
    seconds = progress_end(&progress);
    if (status != 0)
        return -1;
    expand_print_result(call, run->plan, output, &result, seconds);
    return call->stats != NULL
               ? expand_stats_add(run->stats, output, run->plan, &result, seconds, err)
               : 0;
}

static int run_shard(struct run *run, const struct order *rows, const char *output,
                     struct error *err)
{
    const struct expand_call *call = run->call;
    bool current = false;

    if (call->skip_existing && expand_is_current(&run->job, output, &current, err) != 0)
        return -1;
    if (!current) {
        const bool remains = call->skip_existing && expand_is_remains(&run->job, output);

        if (remains && call->verbosity >= 0)
            fprintf(stderr, "symaug: warning: %s: has no manifest: written again\n",
                    text_path(output).text);
        run->job.settings.force = call->settings.force || remains;
        return write_shard(run, rows, output, err);
    }
    if (call->verbosity > 0)
        fprintf(stderr, "symaug: %s: is there already\n", text_path(output).text);
    return 0;
}

/* Of an output in several shards none may be there without --force, so that nothing is written
 * before that is found out; and none of higher number ever: they would be taken for its own. */
static int check_shards(const struct run *run, const char *output, struct error *err)
{
    const struct expand_call *call = run->call;
    const bool is_folder = call->settings.form == ARCHIVE_OUT_NPY_FOLDER;
    const uint64_t n = shards_count(&run->shards);
    struct text name = {0};
    struct stat st;
    int status = 0;

    for (uint64_t i = call->settings.force || call->skip_existing ? n : 0; i <= n && status == 0;
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

static int run_shards(struct run *run, const char *output, struct error *err)
{
    struct text name = {0};
    uint64_t i = 0, first = 0;
    int status = run->shards.cut != SHARDS_ONE ? check_shards(run, output, err) : 0;

    while (status == 0) {
        const struct order rows = shards_slice(&run->shards, first);

        name.n_bytes = 0;
        status = shards_name(&run->shards, output, i++, &name, err);
        if (status == 0)
            status = run_shard(run, &rows, name.text, err);
        first += rows.n_images;
        if (order_is_last(&rows))
            break;
    }
    text_release(&name);
    return status;
}

static int print_plan(const struct expand_call *call, struct plan *plan, const char *output,
                      struct error *err)
{
    if (plan_survey(plan, err) != 0)
        return -1;
    expand_print_warnings(call, plan, 0);
    expand_print_plan(plan, output);
    return 0;
}

static int run_plan(struct expand_call *call, struct plan *plan, const char *output, json_t **stats,
                    struct error *err)
{
    struct run run = {.call = call, .plan = plan, .shards = shards_of(plan), .stats = stats};
    size_t n_printed;
    int status;

    if (call->dry_run)
        return print_plan(call, plan, output, err);
    n_printed = expand_print_warnings(call, plan, 0);
    if (expand_job_init(&run.job, plan, &call->settings, err) != 0)
        return -1;
    status = run_shards(&run, output, err);
    expand_job_release(&run.job);
    expand_print_warnings(call, plan, n_printed);
    return status;
}

static int expand_one(struct expand_call *call, const char *const *inputs, size_t n_inputs,
                      const char *output, json_t **stats, struct error *err)
{
    struct plan plan;
    int status;

    if (plan_build(&plan, inputs, n_inputs, &call->request, err) != 0)
        return -1;
    status = run_plan(call, &plan, output, stats, err);
    plan_release(&plan);
    return status;
}

/* One input of --out-dir: its output has its base name, and its random choices depend on it. */
static int expand_into_folder(const struct expand_call *call, const char *input, json_t **stats,
                              struct error *err)
{
    struct expand_call one = *call; /* what it owns stays the call's */
    char *name = input_list_base_name(input, err);
    struct text output = {0};
    int status = -1;

    if (name != NULL && text_append(&output, err, "%s/%s", call->out_dir, name) == 0) {
        one.request.seed = shuffle_hash_text(call->request.seed, name);
        expand_call_settle_form(&one, output.text);
        status = expand_one(&one, &input, 1, output.text, stats, err);
    }
    text_release(&output);
    free(name);
    return status;
}

/* With --skip-bad an input that cannot be read is reported and passed over. */
static bool is_skipped(const struct expand_call *call, const struct error *err)
{
    return call->skip_bad && (err->kind == ERROR_DATA || err->kind == ERROR_NO_INPUT);
}

static int expand_each(struct expand_call *call, json_t **stats, struct error *err)
{
    if (!call->dry_run && mkdir(call->out_dir, 0777) != 0 && errno != EEXIST)
        return error_set_errno(err, ERROR_CANT_CREATE, errno, "cannot create folder %s",
                               text_quote(call->out_dir).text);
    for (size_t i = 0; i < call->inputs.n; i++) {
        struct error one = {0};

        if (expand_into_folder(call, call->inputs.paths[i], stats, &one) == 0)
            continue;
        if (!is_skipped(call, &one)) {
            *err = one;
            return -1;
        }
        fprintf(stderr, "symaug: skipped: %s\n", one.message);
    }
    return 0;
}

int cmd_expand(int argc, char **argv, struct error *err)
{
    struct expand_call call;
    json_t *stats = NULL;
    int status = expand_call_parse(&call, argc, argv, err);

    if (status == 0 && call.out_dir != NULL)
        status = expand_each(&call, &stats, err);
    else if (status == 0)
        status = expand_one(&call, (const char *const *)call.inputs.paths, call.inputs.n,
                            call.output, &stats, err);
    if (status == 0 && call.stats != NULL && !call.dry_run)
        status = expand_stats_write(call.stats, stats, call.settings.n_threads, err);
    else
        json_decref(stats);
    expand_call_release(&call);
    return status;
}
