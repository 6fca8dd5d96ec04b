/*
 * cmd_dedupe.c - symaug dedupe: all inputs are one plan, whose rows of one position are folded; it
 * is written as any other, into one output or with --out-dir into one for each input.
 */
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/run_plan.h"
#include "positions/positions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void print_result(const struct settings *settings, const struct dedupe_result *r)
{
    if (settings->verbosity < 0)
        return;
    fprintf(stderr,
            "symaug: %llu rows, %llu positions, at most %llu rows of one; values of %llu positions "
            "differ by more than %g\n",
            (unsigned long long)r->n_rows, (unsigned long long)r->n_positions,
            (unsigned long long)r->largest, (unsigned long long)r->n_conflicts, settings->conflict);
}

static int write_stats(const struct settings *settings, const struct dedupe_result *r,
                       struct error *err)
{
    json_t *all = json_pack("{s:I, s:I, s:I, s:I}", "rows", (json_int_t)r->n_rows, "positions",
                            (json_int_t)r->n_positions, "largest_class", (json_int_t)r->largest,
                            "conflicts", (json_int_t)r->n_conflicts);
    char *text = all != NULL ? json_dumps(all, JSON_INDENT(2) | JSON_SORT_KEYS) : NULL;
    struct output out = {0};
    int status = -1;

    if (text == NULL)
        error_no_memory(err, "statistics");
    else if (output_open(&out, settings->stats, true, err) == 0 &&
             output_write(&out, text, strlen(text), err) == 0 &&
             output_write(&out, "\n", 1, err) == 0)
        status = output_commit(&out, true, err);
    output_abort(&out);
    free(text);
    json_decref(all);
    return status;
}

static int dedupe(const struct settings *settings, const struct input_list *inputs,
                  struct error *err)
{
    const char *output = settings->out_dir != NULL ? settings->out_dir : settings->output;
    struct dedupe_result result = {0};
    struct settings writing = *settings; /* what it owns stays the caller's */
    json_t *stats = NULL;
    struct plan plan;
    int status;

    writing.stats = NULL;
    if (settings->dry_run)
        writing.conflicts = NULL;
    if (plan_build(&plan, (const char *const *)inputs->paths, inputs->n, settings, err) != 0)
        return -1;
    if (plan.board->family->only_known_members)
        status = error_set(err, ERROR_DATA,
                           "%s: KataGo's reader takes no further member, such as " PLAN_COUNT_KEY,
                           text_path(inputs->paths[0]).text);
    else
        status = run_check_outputs(&writing, &plan, output, err);
    if (status == 0)
        status = dedupe_fold(&plan, &writing, &result, err);
    if (status == 0 && settings->out_dir != NULL && !settings->dry_run &&
        mkdir(settings->out_dir, 0777) != 0 && errno != EEXIST)
        status = error_set_errno(err, ERROR_CANT_CREATE, errno, "cannot create folder %s",
                                 text_quote(settings->out_dir).text);
    if (status == 0)
        status = run_plan(&writing, &plan, output, &stats, err);
    plan_release(&plan);
    json_decref(stats);
    if (status == 0 && writing.conflicts != NULL)
        status = output_commit(&result.conflicts, settings->force, err);
    output_abort(&result.conflicts);
    if (status == 0)
        print_result(settings, &result);
    return status == 0 && settings->stats != NULL && !settings->dry_run
               ? write_stats(settings, &result, err)
               : status;
}

static int run_dedupe(int argc, char **argv, struct error *err)
{
    struct settings settings;
    struct input_list inputs = {0};
    int first, status = option_parse("dedupe", argc, argv, &settings, &first, err);

    if (status == 0 && settings.output != NULL && settings.out_dir != NULL)
        status = error_set(err, ERROR_USAGE, "--output and --out-dir exclude each other");
    if (status == 0 && settings.conventions.ambiguous == AMBIGUOUS_DROP)
        status = error_set(err, ERROR_USAGE, "--ambiguous drop leaves images out: use map or keep");
    settings.purpose = settings.means ? FOR_MEANS : FOR_VALUES;
    settings.provenance = false;
    if (status == 0)
        status = run_take_operands(&settings, &inputs, argc - first, argv + first, err);
    if (status == 0)
        status = dedupe(&settings, &inputs, err);
    input_list_release(&inputs);
    settings_release(&settings);
    return status;
}

const struct command command_dedupe = {
    "dedupe",
    "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
    "make one row of all rows of a position, up to symmetry",
    "The first row of each position stays, in its own orientation, with symaug_count: how many "
    "rows\n"
    "it stands for. With --merge mean its policy and values are the means of all.",
    "dedupe --board go9 games.npz positions.npz",
    run_dedupe,
};
