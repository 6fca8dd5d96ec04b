/*
 * cmd_expand.c - symaug expand: one plan for each output, or one for all inputs.
 */
#include "cli/cli.h"

#include "engine/survey.h"
#include "positions/positions.h"

#include <stdlib.h>
#include <string.h>

static int expand_one(const struct settings *settings, const struct input_list *inputs,
                      const char *output, json_t **stats, struct error *err)
{
    struct plan plan;
    int status;

    if (plan_build(&plan, (const char *const *)inputs->paths, inputs->n, settings, err) != 0)
        return -1;
    status = settings->canonical || settings->orbit_key ? images_of_keys(&plan, settings, err) : 0;
    if (status == 0)
        status = run_plan(settings, &plan, output, stats, err);
    plan_release(&plan);
    return status;
}

/* One input of --out-dir: its output has its base name, and its random choices depend on it. */
static int expand_into_folder(const struct settings *settings, char *input, json_t **stats,
                              struct error *err)
{
    const struct input_list inputs = {.paths = &input, .n = 1};
    struct settings one = *settings; /* what it owns stays the caller's */
    char *name = input_list_base_name(input, err);
    struct text output = {0};
    int status = -1;

    if (name != NULL && text_append(&output, err, "%s/%s", settings->out_dir, name) == 0) {
        one.seed_name = name;
        run_settle_form(&one, output.text);
        status = expand_one(&one, &inputs, output.text, stats, err);
    }
    text_release(&output);
    free(name);
    return status;
}

/* 1: not every input has its output. */
static int expand_each(const struct settings *settings, const struct input_list *inputs,
                       json_t **stats, struct error *err)
{
    size_t n_skipped = 0, n_differ = 0;

    if (run_make_folder(settings, err) != 0)
        return -1;
    meter_expect(settings->meter, inputs->n * (settings->canonical || settings->orbit_key ? 2 : 1));
    for (size_t i = 0; i < inputs->n; i++) {
        struct error one = {0};
        const int status = expand_into_folder(settings, inputs->paths[i], stats, &one);

        n_differ += status > 0;
        if (status >= 0)
            continue;
        if (!settings->skip_bad || (one.kind != ERROR_DATA && one.kind != ERROR_NO_INPUT))
            return error_pass(err, &one);
        n_skipped++;
        command_say(settings, "skipped: %s", one.message);
    }
    if (n_differ > 0)
        command_say(settings, "%zu of %zu outputs are there but differ, and were left alone",
                    n_differ, inputs->n);
    if (n_skipped > 0)
        command_say(settings, "%zu of %zu inputs were skipped", n_skipped, inputs->n);
    return n_differ + n_skipped > 0;
}

/* --- the command line --- */

static int check(const struct settings *settings, struct error *err)
{
    if (settings->output != NULL && settings->out_dir != NULL)
        return error_set(err, ERROR_USAGE, "--output and --out-dir exclude each other");
    if (settings->keep_identity && settings->pick == 0)
        return error_set(err, ERROR_USAGE, "--keep-identity goes with --pick");
    if (settings->canonical &&
        (settings->transforms != NULL || settings->pick > 0 || settings->unique))
        return error_set(err, ERROR_USAGE,
                         "--canonical excludes --transforms, --pick, --unique and --keep-identity");
    if (settings->canonical && (settings->conventions.castling == CASTLING_SKIP ||
                                settings->conventions.ambiguous == AMBIGUOUS_DROP))
        return error_set(err, ERROR_USAGE,
                         "--canonical excludes --castling skip and --ambiguous drop, which leave "
                         "images out");
    if (settings->key != NULL && !settings->canonical && !settings->orbit_key)
        return error_set(err, ERROR_USAGE, "--key goes with --canonical or --orbit-key");
    if (settings->n_parts > 0 && settings->out_dir == NULL)
        return error_set(err, ERROR_USAGE, "--part goes with --out-dir");
    if (settings->skip_bad && settings->out_dir == NULL)
        return error_set(err, ERROR_USAGE, "--skip-bad goes with --out-dir");
    if (settings->skip_existing && settings->form == ARCHIVE_OUT_NPY_FOLDER)
        return error_set(err, ERROR_USAGE, "--skip-existing does not work on folders");
    if (settings->zero && settings->files_from == NULL)
        return error_set(err, ERROR_USAGE, "--null goes with --files-from");
    return 0;
}

/* The command line as a shell reads it, for refusals that add to it: first what may be followed by
 * options, then the rest. */
static int write_command(char **typed, struct text *command, struct text *operands,
                         struct error *err)
{
    struct text *to = command;
    int status = text_append(command, err, "symaug expand");

    if (status == 0)
        status = text_append(operands, err, "%s", "");
    for (char **word = typed + 1; *word != NULL && status == 0; word++) {
        if (strcmp(*word, "--") == 0)
            to = operands;
        status = text_append(to, err, " ");
        if (status == 0)
            status = text_append_shell(to, *word, err);
    }
    return status;
}

static int expand(struct call *call, json_t **stats, struct error *err)
{
    struct settings *settings = &call->settings;
    const struct input_list *inputs = &call->inputs;
    struct survey_seen seen = {0};
    int status = 0;

    if (settings->out_dir == NULL)
        return expand_one(settings, inputs, settings->output, stats, err);
    /* Codings are decided by all inputs together, though each of them has a plan of its own. */
    settings->seen = &seen;
    for (size_t i = 0; i < inputs->n && inputs->n > 1 && status == 0; i++)
        status = plan_see(inputs->paths[i], settings, &seen, err);
    if (status == 0)
        status = expand_each(settings, inputs, stats, err);
    survey_seen_release(&seen);
    return status;
}

static int run_expand(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;
    struct text command = {0}, operands = {0};
    json_t *stats = NULL;
    int status = write_command(call->typed, &command, &operands, err);

    settings->roles.command = command.text;
    settings->roles.operands = operands.text;
    if (status == 0)
        status = check(settings, err);
    if (settings->canonical && !settings->order_said) { /* nothing to keep apart */
        settings->block_rows = 1;
        settings->order_text = "sample";
    }
    if (status == 0)
        status = run_take_operands(call, err);
    if (status == 0)
        status = expand(call, &stats, err);
    if (status < 0 || settings->stats == NULL || settings->dry_run)
        json_decref(stats);
    else if (command_put_json(settings->stats,
                              json_pack("{s:o, s:i}", "outputs",
                                        stats != NULL ? stats : json_array(), "threads",
                                        settings->n_threads),
                              err) != 0)
        status = -1;
    text_release(&command);
    text_release(&operands);
    return status;
}

const struct command command_expand = {
    "expand",
    "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
    "write every symmetric image of every row",
    "IN is an .npz file, a .npy file or a folder of .npy files. OUT gets every image of every "
    "row\n"
    "and OUT.manifest.json says what was done. An existing OUT is kept unless -f is given.\n"
    "Split training and validation data before expanding, and shuffle the result when training.",
    "expand --board go9 games.npz games_all.npz",
    run_expand,
};
