/*
 * cmd_split.c - symaug split: every row of every input goes to one of several parts. All inputs are
 * read before anything is written; then each is written part by part.
 */
#include "cli/cli.h"

#include "positions/positions.h"

#include <sys/stat.h>

/* NAME.npz, NAME.npy or a folder NAME: DIR/NAME.PART.npz, or without an ending in a folder's form.
 */
static int name_output(const struct settings *settings, const char *input, const char *part,
                       struct text *name, struct error *err)
{
    static const char *const endings[] = {
        [ARCHIVE_OUT_NPZ] = ".npz", [ARCHIVE_OUT_NPY] = ".npy", [ARCHIVE_OUT_NPY_FOLDER] = ""};
    int n;
    const char *base = text_last_name(input, &n);

    if (n > 4 && (memcmp(base + n - 4, ".npz", 4) == 0 || memcmp(base + n - 4, ".npy", 4) == 0))
        n -= 4;
    name->n_bytes = 0;
    return text_append(name, err, "%s/%.*s.%s%s", settings->out_dir, n, base, part,
                       endings[settings->form]);
}

/* No two outputs may have one name, and none may be there. */
static int check_outputs(const struct settings *settings, const struct split *split,
                         const struct text_list *inputs, struct error *err)
{
    struct text_list names = {0};
    struct text name = {0};
    struct stat st;
    int status = 0;

    for (size_t i = 0; i < inputs->n && status == 0; i++) {
        status = name_output(settings, inputs->items[i], split->parts[0].name, &name, err);
        if (status == 0)
            status = text_list_add(&names, name.text, err);
    }
    if (status == 0)
        status = input_list_check_names(&names, err);
    for (size_t i = 0; i < inputs->n && status == 0 && stat(settings->out_dir, &st) == 0; i++)
        for (size_t k = 0; k < split->n_parts && status == 0; k++) {
            status = name_output(settings, inputs->items[i], split->parts[k].name, &name, err);
            if (status == 0)
                status = output_target_check(name.text, settings->form == ARCHIVE_OUT_NPY_FOLDER,
                                             settings->force, err);
        }
    text_release(&name);
    text_list_release(&names);
    return status;
}

static int run_split(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;
    const struct text_list *inputs = &call->inputs;
    struct split split = {0};
    struct text name = {0};

    if (settings->out_dir == NULL)
        return command_misuse(err, "no folder given; use --out-dir DIR");
    settings->purpose = FOR_KEYS;
    settings->provenance = false;
    int status = run_take_operands(call, err);
    if (status == 0)
        status = split_parse(&split, settings->parts, err);
    if (status == 0)
        status = check_outputs(settings, &split, inputs, err);
    meter_expect(settings->meter, inputs->n * (1 + split.n_parts));
    if (status == 0)
        status = split_sides(&split, inputs->items, inputs->n, settings, err);
    if (status == 0 && split.n_shared > 0 && settings->verbosity >= 0)
        command_say(settings, "warning: %llu positions occur in several parts%s",
                    (unsigned long long)split.n_shared,
                    settings->overlap == 2
                        ? ": kept in the first-named of them alone"
                        : " (--overlap drop keeps them in one, --by position too)");
    if (status == 0)
        status = run_make_folder(settings, err);
    for (size_t i = 0; i < inputs->n && status == 0; i++) {
        const char *path = inputs->items[i];
        struct plan plan;

        status = plan_build(&plan, &path, 1, settings, err);
        if (status != 0)
            break;
        for (size_t k = 0; k < split.n_parts && status == 0; k++) {
            status = split_select(&split, &plan, i, k, settings, err);
            if (status == 0)
                status = name_output(settings, path, split.parts[k].name, &name, err);
            if (status == 0)
                status = run_plan(settings, &plan, name.text, NULL, err);
        }
        plan_release(&plan);
    }
    text_release(&name);
    split_release(&split);
    return status;
}

const struct command command_split = {
    "split",
    "--parts NAME=SHARE,... --out-dir DIR [OPTION]... IN...",
    "divide rows into parts that share no position",
    "IN.npz becomes DIR/IN.NAME.npz for each part. A row's part depends on its position (or with "
    "--by\n"
    "on its game) and on --seed alone: it is the same for all of its images, on any machine.",
    "split --board go9 --parts train=0.9,val=0.1 --out-dir parts games.npz",
    run_split,
};
