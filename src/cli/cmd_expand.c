/*
 * cmd_expand.c - symaug expand: which options go together, the command line that refusals quote,
 * and one plan for all inputs, or with --out-dir one for each.
 */
#include "cli/cli.h"

#include "engine/expand.h"
#include "positions/positions.h"

/* Expand all inputs into one output. Returns as run_plan. */
static int run_inputs(const struct settings *settings, const struct text_list *inputs,
                      char *const *output, json_t *stats, struct error *err)
{
    struct plan plan;

    if (plan_build(&plan, (const char *const *)inputs->items, inputs->n, settings, err) != 0)
        return -1;
    int status =
        settings->canonical || settings->orbit_key ? images_of_keys(&plan, settings, err) : 0;
    if (status == 0)
        status = run_plan(settings, &plan, output, stats, err);
    plan_release(&plan);
    return status;
}

/* --- an output for each input --- */

static int expand_one(struct settings *one, size_t i, json_t *stats, void *self, struct error *err)
{
    const struct call *call = self;
    const struct text_list input = {.items = &call->inputs.items[i], .n = 1};
    char *const *output = &call->outputs.items[i];

    one->seed_name = text_base_name(*output); /* part of the seed */
    run_settle_form(one, *output);
    return run_inputs(one, &input, output, stats, err);
}

/* Expand each input into an output of its own in the folder of --out-dir. */
static int expand_each(struct call *call, json_t *stats, struct error *err)
{
    struct settings *settings = &call->settings;
    const struct text_list *inputs = &call->inputs;

    /* Inputs of other parts, too, stay. */
    if (settings->force && !settings->dry_run &&
        expand_check_apart((const char *const *)call->outputs.items, inputs->n,
                           (const char *const *)inputs->items, call->n_named, false, err) != 0)
        return -1;
    /* Codings are decided from all inputs together, though each has its own plan. */
    if (inputs->n > 1 && plan_see(inputs->items, inputs->n, settings, &call->seen, err) != 0)
        return -1;
    settings->seen = &call->seen;
    meter_expect(settings->meter, inputs->n * (settings->canonical || settings->orbit_key ? 2 : 1));
    return run_each(call, expand_one, call, stats, err);
}

/* --- the command --- */

static int check_expand(struct call *call, struct error *err)
{
    struct settings *s = &call->settings;
    const struct {
        bool is_wrong;
        const char *why;
    } rules[] = {
        {s->keep_identity && s->pick == 0, "--keep-identity requires --pick"},
        {s->canonical && (s->transforms != NULL || s->pick > 0 || s->unique),
         "--canonical excludes --transforms, --pick, --unique and --keep-identity"},
        {s->canonical && (s->conventions.castling == CASTLING_SKIP ||
                          s->conventions.ambiguous == AMBIGUOUS_DROP),
         "--canonical excludes --castling skip and --ambiguous drop, which leave images out"},
        {s->key != NULL && !s->canonical && !s->orbit_key,
         "--key requires --canonical or --orbit-key"},
        {s->n_parts > 0 && s->out_dir == NULL, "--part requires --out-dir"},
        {s->skip_bad && s->out_dir == NULL, "--skip-bad requires --out-dir"},
        {s->skip_existing && s->form == ARCHIVE_OUT_NPY_FOLDER,
         "--skip-existing does not work on folders"},
    };

    for (size_t i = 0; i < N_OF(rules); i++)
        if (rules[i].is_wrong)
            return command_misuse(err, "%s", rules[i].why);
    if (s->canonical) { /* a row has one image only: every order is this one */
        s->block_rows = 1;
        s->order_text = "sample";
    }
    return 0;
}

static int run_expand(struct call *call, struct error *err)
{
    struct settings *s = &call->settings;
    json_t *stats = s->stats != NULL ? json_array() : NULL;

    /* For refusals that add options to the command line: these go between the two parts. */
    s->roles.command = call->typed[0].text;
    s->roles.operands = call->typed[1].text;
    int status = s->out_dir == NULL ? run_inputs(s, &call->inputs, call->outputs.items, stats, err)
                                    : expand_each(call, stats, err);
    if (status < 0 || s->stats == NULL || s->dry_run)
        json_decref(stats);
    else if (command_put_json(s->stats,
                              json_pack("{s:o, s:i}", "outputs", stats, "threads", s->n_threads),
                              err) != 0)
        status = -1;
    return status;
}

const struct command command_expand = {
    "expand",
    "expand MOVES READS",
    TAKES_SHARDS,
    "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
    "write every symmetric image of every row",
    "IN is an .npz file, a .npy file or a folder of .npy files. OUT gets every image of every row "
    "and OUT.manifest.json says what was done. An existing OUT is kept unless -f is given. Split "
    "training and validation data before expanding, and shuffle the result when training.",
    "expand --board go9 games.npz games_all.npz",
    check_expand,
    run_expand,
};
