/*
 * cmd_expand.c - symaug expand: what its options allow, and the command line that refusals quote.
 */
#include "cli/cli.h"

#include "engine/survey.h"
#include "positions/positions.h"

static int check(const struct settings *settings, struct error *err)
{
    if (settings->output != NULL && settings->out_dir != NULL)
        return command_misuse(err, "--output and --out-dir exclude each other");
    if (settings->keep_identity && settings->pick == 0)
        return command_misuse(err, "--keep-identity goes with --pick");
    if (settings->canonical &&
        (settings->transforms != NULL || settings->pick > 0 || settings->unique))
        return command_misuse(
            err, "--canonical excludes --transforms, --pick, --unique and --keep-identity");
    if (settings->canonical && (settings->conventions.castling == CASTLING_SKIP ||
                                settings->conventions.ambiguous == AMBIGUOUS_DROP))
        return command_misuse(
            err, "--canonical excludes --castling skip and --ambiguous drop, which leave "
                 "images out");
    if (settings->key != NULL && !settings->canonical && !settings->orbit_key)
        return command_misuse(err, "--key goes with --canonical or --orbit-key");
    if (settings->n_parts > 0 && settings->out_dir == NULL)
        return command_misuse(err, "--part goes with --out-dir");
    if (settings->skip_bad && settings->out_dir == NULL)
        return command_misuse(err, "--skip-bad goes with --out-dir");
    if (settings->skip_existing && settings->form == ARCHIVE_OUT_NPY_FOLDER)
        return command_misuse(err, "--skip-existing does not work on folders");
    if (settings->zero && settings->files_from == NULL)
        return command_misuse(err, "--null goes with --files-from");
    return 0;
}

static int run_expand(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;
    struct text command = {0}, operands = {0}, *to = &command;
    json_t *stats = NULL;
    int status = -1;

    /* The command line as a shell reads it, for refusals that add to it: first what may be followed
     * by options, then the rest. */
    if (text_append(&command, err, "symaug expand") == 0)
        status = text_append(&operands, err, "%s", "");
    for (char **word = call->typed + 1; *word != NULL && status == 0; word++) {
        if (strcmp(*word, "--") == 0)
            to = &operands;
        status = text_append(to, err, " ") == 0 ? text_append_shell(to, *word, err) : -1;
    }
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
        status = settings->out_dir == NULL
                     ? run_inputs(settings, &call->inputs, settings->output, &stats, err)
                     : run_each(settings, &call->inputs, &stats, err);
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
