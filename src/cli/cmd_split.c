/*
 * cmd_split.c - symaug split: every row of every input goes to one of several parts. All inputs are
 * read first to decide where; then each input is written part by part.
 */
#include "cli/cli.h"

#include "positions/positions.h"

static int check_split(struct call *call, struct error *err)
{
    call->settings.purpose = FOR_KEYS;
    return call->settings.out_dir != NULL
               ? 0
               : command_misuse(err, "no folder given; use --out-dir DIR");
}

static void hold_array(void *self, int64_t i, int worker)
{
    struct plan *plan = self;

    (void)worker;
    array_hold(&plan->inputs[0].archive.arrays[i], plan->settings->budget);
}

struct splitting {
    const struct call *call;
    struct split split;
};

/* Write the parts of an input. */
static int split_one(struct settings *one, size_t i, json_t *stats, void *self, struct error *err)
{
    const struct splitting *s = self;
    const size_t n_inputs = s->call->inputs.n;
    const char *path = s->call->inputs.items[i];
    struct plan plan;
    int status = plan_build(&plan, &path, 1, one, err);

    if (status == 0) /* every part reads them */
        crew_run_each(one->n_threads, (int64_t)plan.inputs[0].archive.n_arrays, hold_array, &plan);
    for (size_t k = 0; k < s->split.n_parts && status == 0; k++) {
        status = split_select(&s->split, &plan, i, k, one, err);
        if (status == 0)
            status = run_plan(one, &plan, &s->call->outputs.items[k * n_inputs + i], stats, err);
    }
    plan_release(&plan);
    return status;
}

static int run_split(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;
    const struct text_list *inputs = &call->inputs;
    struct splitting splitting = {.call = call};
    struct split *split = &splitting.split;
    int status = -1;

    if (split_parse(split, settings->parts, err) != 0)
        goto out;
    for (size_t k = 0; k < split->n_parts; k++)
        if (call_name_outputs(call, split->parts[k].name, err) != 0)
            goto out;
    meter_expect(settings->meter, inputs->n * (1 + split->n_parts));
    if (inputs->n > 1 && plan_see(inputs->items, inputs->n, settings, &call->seen, err) != 0)
        goto out;
    settings->seen = &call->seen;
    if (split_sides(split, inputs->items, inputs->n, settings, err) != 0)
        goto out;
    if (split->n_shared > 0)
        command_say(settings, 0, "warning: %llu positions occur in several parts%s",
                    (unsigned long long)split->n_shared,
                    settings->overlap == 2
                        ? ": kept in the first-named of them alone"
                        : " (--overlap drop keeps them in one, --by position too)");
    status = run_each(call, split_one, &splitting, NULL, err);
out:
    split_release(split);
    return status;
}

const struct command command_split = {
    "split",
    "split FOLDS KEYS",
    TAKES_SHARDS,
    "--parts NAME=SHARE,... --out-dir DIR [OPTION]... IN...",
    "divide rows into parts that share no position",
    "IN.npz becomes DIR/IN.NAME.npz for each part. A row's part depends on its position (or with "
    "--by on its game) and on --seed alone: it is the same for all of its images, on any machine.",
    "split --board go9 --parts train=0.9,val=0.1 --out-dir parts games.npz",
    check_split,
    run_split,
};
