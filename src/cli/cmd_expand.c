/*
 * cmd_expand.c - symaug expand: what its options allow, and the command line that refusals quote.
 */
#include "cli/cli.h"

#include "engine/survey.h"
#include "positions/positions.h"

static int run_expand(struct call *call, struct error *err)
{
    struct settings *s = &call->settings;
    const struct {
        bool is_wrong;
        const char *why;
    } rules[] = {
        {s->output != NULL && s->out_dir != NULL, "--output and --out-dir exclude each other"},
        {s->keep_identity && s->pick == 0, "--keep-identity goes with --pick"},
        {s->canonical && (s->transforms != NULL || s->pick > 0 || s->unique),
         "--canonical excludes --transforms, --pick, --unique and --keep-identity"},
        {s->canonical && (s->conventions.castling == CASTLING_SKIP ||
                          s->conventions.ambiguous == AMBIGUOUS_DROP),
         "--canonical excludes --castling skip and --ambiguous drop, which leave images out"},
        {s->key != NULL && !s->canonical && !s->orbit_key,
         "--key goes with --canonical or --orbit-key"},
        {s->n_parts > 0 && s->out_dir == NULL, "--part goes with --out-dir"},
        {s->skip_bad && s->out_dir == NULL, "--skip-bad goes with --out-dir"},
        {s->skip_existing && s->form == ARCHIVE_OUT_NPY_FOLDER,
         "--skip-existing does not work on folders"},
        {s->zero && s->files_from == NULL, "--null goes with --files-from"},
    };
    struct text command = {0}, operands = {0}, *to = &command;
    json_t *stats = NULL;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].is_wrong)
            return command_misuse(err, "%s", rules[i].why);
    /* The command line as a shell reads it, for refusals that add to it: first what may be followed
     * by options, then the rest. */
    int status = text_append(&command, err, "symaug expand");
    if (status == 0)
        status = text_append(&operands, err, "%s", "");
    for (char **word = call->typed + 1; *word != NULL && status == 0; word++) {
        if (strcmp(*word, "--") == 0)
            to = &operands;
        status = text_append(to, err, " ") == 0 ? text_append_shell(to, *word, err) : -1;
    }
    s->roles.command = command.text;
    s->roles.operands = operands.text;
    if (s->canonical && !s->order_said) { /* nothing to keep apart */
        s->block_rows = 1;
        s->order_text = "sample";
    }
    if (status == 0)
        status = run_take_operands(call, err);
    if (status == 0)
        status = s->out_dir == NULL ? run_inputs(s, &call->inputs, s->output, &stats, err)
                                    : run_each(s, &call->inputs, &stats, err);
    if (status < 0 || s->stats == NULL || s->dry_run)
        json_decref(stats);
    else if (command_put_json(s->stats,
                              json_pack("{s:o, s:i}", "outputs",
                                        stats != NULL ? stats : json_array(), "threads",
                                        s->n_threads),
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
