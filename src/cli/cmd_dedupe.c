/*
 * cmd_dedupe.c - symaug dedupe: one plan for all inputs, whose rows of the same position are folded
 * into one; it is written into one output, or with --out-dir into one for each input.
 */
#include "cli/cli.h"

#include "positions/positions.h"

static int check_dedupe(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;

    settings->purpose = settings->means ? FOR_MEANS : FOR_VALUES;
    return settings->conventions.ambiguous != AMBIGUOUS_DROP
               ? 0
               : command_misuse(err, "--ambiguous drop leaves images out: use map or keep");
}

static int run_dedupe(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;
    const struct text_list *inputs = &call->inputs;
    struct dedupe_result r = {0};
    struct plan plan;
    int status = 0;

    if (settings->dry_run)
        settings->conflicts = NULL;
    if (plan_build(&plan, (const char *const *)inputs->items, inputs->n, settings, err) != 0)
        return -1;
    if (plan.board->family->only_known_members && settings->means)
        status =
            error_set(err, ERROR_DATA,
                      "%s: KataGo's reader takes no further member, such as " PLAN_COUNT_KEY
                      ", and means without weights cannot be averaged again; use --merge first",
                      text_path(inputs->items[0]).text);
    meter_expect(settings->meter, 2); /* its keys, its output */
    if (status == 0 && (dedupe_fold(&plan, settings, &r, err) != 0 ||
                        run_plan(settings, &plan, call->outputs.items, NULL, err) != 0))
        status = -1;
    plan_release(&plan);
    if (status == 0 && settings->conflicts != NULL)
        status = output_commit(&r.conflicts, settings->force, err);
    output_abort(&r.conflicts);
    if (status != 0)
        return -1;
    call->progress.is_used = false; /* the next line replaces its summary */
    command_say(settings, 0,
                "%llu rows, %llu positions, at most %llu rows of one; values of %llu "
                "positions differ by more than %g",
                (unsigned long long)r.n_rows, (unsigned long long)r.n_positions,
                (unsigned long long)r.largest, (unsigned long long)r.n_conflicts,
                settings->conflict);
    if (settings->stats == NULL || settings->dry_run)
        return 0;
    return command_put_json(settings->stats,
                            json_pack("{s:I, s:I, s:I, s:I}", "rows", (json_int_t)r.n_rows,
                                      "positions", (json_int_t)r.n_positions, "largest_class",
                                      (json_int_t)r.largest, "conflicts",
                                      (json_int_t)r.n_conflicts),
                            err);
}

const struct command command_dedupe = {
    "dedupe",
    "dedupe FOLDS KEYS",
    TAKES_SHARDS,
    "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
    "make one row of all rows of a position, up to symmetry",
    "The first row of each position stays, in its own orientation, with symaug_count: how many "
    "rows it stands for. With --merge mean its policy and values are the means of all.",
    "dedupe --board go9 games.npz positions.npz",
    check_dedupe,
    run_dedupe,
};
