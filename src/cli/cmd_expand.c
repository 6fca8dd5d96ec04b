/*
 * cmd_expand.c - symaug expand: one plan for each output, or one for all inputs.
 */
#include "base/text.h"
#include "cli/command.h"
#include "cli/expand_print.h"
#include "cli/input_list.h"
#include "cli/option.h"
#include "cli/run_plan.h"
#include "engine/plan.h"
#include "engine/survey.h"
#include "positions/positions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int expand_one(const struct settings *settings, const char *const *inputs, size_t n_inputs,
                      const char *output, json_t **stats, struct error *err)
{
    struct plan plan;
    int status;

    if (plan_build(&plan, inputs, n_inputs, settings, err) != 0)
        return -1;
    status = settings->canonical || settings->orbit_key ? images_of_keys(&plan, settings, err) : 0;
    if (status == 0)
        status = run_plan(settings, &plan, output, stats, err);
    plan_release(&plan);
    return status;
}

/* One input of --out-dir: its output has its base name, and its random choices depend on it. */
static int expand_into_folder(const struct settings *settings, const char *input, json_t **stats,
                              struct error *err)
{
    struct settings one = *settings; /* what it owns stays the caller's */
    char *name = input_list_base_name(input, err);
    struct text output = {0};
    int status = -1;

    if (name != NULL && text_append(&output, err, "%s/%s", settings->out_dir, name) == 0) {
        one.seed_name = name;
        run_settle_form(&one, output.text);
        status = expand_one(&one, &input, 1, output.text, stats, err);
    }
    text_release(&output);
    free(name);
    return status;
}

/* With --skip-bad an input that cannot be read is reported and passed over. */
static bool is_skipped(const struct settings *settings, const struct error *err)
{
    return settings->skip_bad && (err->kind == ERROR_DATA || err->kind == ERROR_NO_INPUT);
}

/* Codings are decided by all inputs together, though each of them has a plan of its own. */
static int see_all(const struct settings *settings, const struct input_list *inputs,
                   struct survey_seen *seen, struct error *err)
{
    for (size_t i = 0; i < inputs->n && inputs->n > 1; i++)
        if (plan_see(inputs->paths[i], settings, seen, err) != 0)
            return -1;
    return 0;
}

/* 1: not every input has its output. */
static int expand_each(const struct settings *settings, const struct input_list *inputs,
                       json_t **stats, struct error *err)
{
    size_t n_skipped = 0, n_differ = 0;

    if (!settings->dry_run && mkdir(settings->out_dir, 0777) != 0 && errno != EEXIST)
        return error_set_errno(err, ERROR_CANT_CREATE, errno, "cannot create folder %s",
                               text_quote(settings->out_dir).text);
    for (size_t i = 0; i < inputs->n; i++) {
        struct error one = {0};
        const int status = expand_into_folder(settings, inputs->paths[i], stats, &one);

        n_differ += status > 0;
        if (status >= 0)
            continue;
        if (!is_skipped(settings, &one)) {
            *err = one;
            return -1;
        }
        n_skipped++;
        fprintf(stderr, "symaug: skipped: %s\n", one.message);
    }
    if (n_differ > 0)
        fprintf(stderr, "symaug: %zu of %zu outputs are there but differ, and were left alone\n",
                n_differ, inputs->n);
    if (n_skipped > 0)
        fprintf(stderr, "symaug: %zu of %zu inputs were skipped\n", n_skipped, inputs->n);
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
static int write_command(char **argv, struct text *command, struct text *operands,
                         struct error *err)
{
    struct text *to = command;
    int status = text_append(command, err, "symaug expand");

    if (status == 0)
        status = text_append(operands, err, "%s", "");
    for (char **word = argv + 1; *word != NULL && status == 0; word++) {
        if (strcmp(*word, "--") == 0)
            to = operands;
        status = text_append(to, err, " ");
        if (status == 0)
            status = text_append_shell(to, *word, err);
    }
    return status;
}

static int run_expand(int argc, char **argv, struct error *err)
{
    struct settings settings;
    struct input_list inputs = {0};
    struct survey_seen seen = {0};
    json_t *stats = NULL;
    struct text command = {0}, operands = {0};
    int first, status = write_command(argv, &command, &operands, err);

    if (status == 0)
        status = option_parse("expand", argc, argv, &settings, &first, err);
    else
        settings = settings_default;
    settings.roles.command = command.text;
    settings.roles.operands = operands.text;

    if (status == 0)
        status = check(&settings, err);
    if (settings.canonical && !settings.order_said) { /* nothing to keep apart */
        settings.block_rows = 1;
        settings.order_text = "sample";
    }
    if (status == 0)
        status = run_take_operands(&settings, &inputs, argc - first, argv + first, err);
    if (status == 0 && settings.out_dir != NULL) {
        settings.seen = &seen;
        status = see_all(&settings, &inputs, &seen, err) != 0
                     ? -1
                     : expand_each(&settings, &inputs, &stats, err);
    } else if (status == 0)
        status = expand_one(&settings, (const char *const *)inputs.paths, inputs.n, settings.output,
                            &stats, err);
    if (status >= 0 && settings.stats != NULL && !settings.dry_run) {
        if (expand_stats_write(settings.stats, stats, settings.n_threads, err) != 0)
            status = -1;
    } else {
        json_decref(stats);
    }
    text_release(&command);
    text_release(&operands);
    survey_seen_release(&seen);
    input_list_release(&inputs);
    settings_release(&settings);
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
