/*
 * operands.c - from the words of a command line to what it reads and writes: operands, lists of
 * names in files, and whether the outputs can be written. A run may take hours, so every output
 * that the line names is looked at before the work begins. Outputs of --out-dir are named like
 * their inputs, so two inputs of one base name are refused, too.
 */
#include "cli/cli.h"

#include "engine/expand.h"

/* --- lists of inputs --- */

int input_list_add_from(struct text_list *list, const char *file, bool zero, struct error *err)
{
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    char name[PATH_MAX];
    size_t n = 0;
    int c = '\0', status = 0;

    if (from == NULL)
        return error_set_errno(err, ERROR_NO_INPUT, errno, "cannot open %s", text_quote(file).text);
    while (status == 0 && c != EOF) {
        c = getc(from);
        if (c == EOF || c == (zero ? '\0' : '\n')) {
            name[n] = '\0';
            status = n > 0 && !ferror(from) ? text_list_add(list, name, err) : 0;
            n = 0;
        } else if (c == '\0') {
            status = error_set(err, ERROR_USAGE,
                               "%s: a line holds a NUL: use --null where names end in one",
                               text_quote(file).text);
        } else if (n + 1 == sizeof name) {
            status = error_set(err, ERROR_NO_INPUT,
                               "%s: expected names of at most %zu bytes, found a longer one",
                               text_quote(file).text, n);
        } else {
            name[n++] = (char)c;
        }
    }
    if (status == 0 && ferror(from))
        status = error_set_errno(err, ERROR_IO, errno, "cannot read %s", text_quote(file).text);
    if (from != stdin)
        fclose(from);
    return status;
}

/* ERROR_USAGE when two paths have the same base name, or one has none. `what` names them in the
 * message: "inputs". */
static int check_names(const struct text_list *list, const char *what, struct error *err)
{
    struct text_list names = {0};
    int status = 0, n;

    for (size_t i = 0; i < list->n && status == 0; i++) {
        const char *name = text_last_name(list->items[i], &n);

        status = n > 0 ? text_list_add(&names, name, err)
                       : error_set(err, ERROR_USAGE, "--out-dir: input %s has no name",
                                   text_quote(list->items[i]).text);
        if (status == 0)
            names.items[i][n] = '\0';
    }
    const char *twice = text_list_make_set(&names);
    if (status == 0 && twice != NULL)
        status = error_set(err, ERROR_USAGE, "--out-dir: two %s are called %s", what,
                           text_quote(twice).text);
    text_list_release(&names);
    return status;
}

void run_settle_form(struct settings *settings, const char *output)
{
    const size_t n = output != NULL ? strlen(output) : 0;

    if (!settings->form_said && n >= 4 && strcmp(output + n - 4, ".npy") == 0)
        settings->form = ARCHIVE_OUT_NPY;
    if (settings->form == ARCHIVE_OUT_NPY) /* a single array has no room for provenance */
        settings->provenance = false;
    if (settings->form != ARCHIVE_OUT_NPZ) {
        settings->level = (struct codec_level){.kind = CODEC_STORE};
        settings->level_text = "store";
    }
}

/* --- outputs --- */

/* True for one name in one folder, whether or not there is such a file. */
static bool is_same_name(const char *a, const char *b)
{
    const char *const paths[] = {a, b};
    struct stat folders[2];
    char folder[PATH_MAX];

    if (strcmp(text_base_name(a), text_base_name(b)) != 0)
        return false;
    for (size_t i = 0; i < 2; i++) {
        snprintf(folder, sizeof folder, "%.*s.", (int)(text_base_name(paths[i]) - paths[i]),
                 paths[i]);
        if (stat(folder, &folders[i]) != 0)
            return strcmp(a, b) == 0;
    }
    return folders[0].st_dev == folders[1].st_dev && folders[0].st_ino == folders[1].st_ino;
}

/* True if path names something directly inside the folder, whether or not either exists. */
static bool is_inside(const char *path, const char *folder)
{
    char parent[PATH_MAX], whole[PATH_MAX];

    snprintf(parent, sizeof parent, "%.*s", (int)(text_base_name(path) - path), path);
    snprintf(whole, sizeof whole, "%.*s", (int)text_path_nbytes(folder), folder);
    parent[text_path_nbytes(parent)] = '\0';
    return is_same_name(parent, whole);
}

/* ERROR_CANT_CREATE when the file to be written (NULL or "-": none) is one of `others` (each may be
 * NULL), or a shard or array in a folder among them: even --force must not replace what the same
 * command reads or writes. */
static int check_apart(const char *path, const char *const *others, size_t n, struct error *err)
{
    struct text inside = {0};
    struct stat st, other;
    int status = 0;

    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    const bool exists = stat(path, &st) == 0;
    const bool is_data = text_ends_with(path, ".npy") || text_ends_with(path, ".npz");
    for (size_t i = 0; i < n && status == 0; i++) {
        bool is_same = others[i] != NULL && is_same_name(path, others[i]);

        if (others[i] != NULL && exists && stat(others[i], &other) == 0) {
            inside.n_bytes = 0;
            if (is_data && S_ISDIR(other.st_mode) &&
                text_append(&inside, err, "%s/%s", others[i], text_base_name(path)) != 0)
                status = -1;
            else if (inside.n_bytes == 0 || stat(inside.text, &other) == 0)
                is_same |= other.st_dev == st.st_dev && other.st_ino == st.st_ino;
        }
        if (is_same && status == 0)
            status = error_set_at(err, ERROR_CANT_CREATE, ERROR_IN(path),
                                  "it would replace %s, which the same command reads or writes",
                                  text_path(inside.n_bytes > 0 ? inside.text : others[i]).text);
    }
    text_release(&inside);
    return status;
}

int command_check_lists(const struct settings *settings, const char *output, struct error *err)
{
    const bool is_folder = settings->form == ARCHIVE_OUT_NPY_FOLDER;
    const int n_stem = (int)strlen(output) - (text_ends_with(output, ".npz") ? 4 : 0);
    const char *const lists[] = {settings->stats, settings->conflicts};
    struct text manifest = {0}, sidecar = {0};
    int status = text_append(&manifest, err, "%s" MANIFEST_SUFFIX, output);

    if (status == 0)
        status = text_append(&sidecar, err, "%.*s.json", n_stem, output);
    const char *const written[] = {output, manifest.text, settings->sidecar ? sidecar.text : NULL};
    for (size_t i = 0; i < 2 && status == 0; i++) {
        status = check_apart(lists[i], written, 3, err);
        if (status == 0 && is_folder && lists[i] != NULL && is_inside(lists[i], output))
            status = error_set_at(err, ERROR_CANT_CREATE, ERROR_IN(lists[i]),
                                  "it would be inside %s, which the same command writes",
                                  text_path(output).text);
    }
    text_release(&manifest);
    text_release(&sidecar);
    return status;
}

/* ERROR_CANT_CREATE when the file of an option is another one of the same command. */
static int check_row_apart(const struct call *call, enum takes takes, const struct option_row *row,
                           struct error *err)
{
    const struct settings *s = &call->settings;
    const char *path = option_text(s, row), *board = s->board;

    for (const struct option_row *r = option_table; r < option_table + option_n_table; r++) {
        const char *other = option_text(s, r);

        /* Of two outputs the later option is the one to complain of. */
        if (r->offset != row->offset && r->argument != NULL && strcmp(r->argument, "FILE") == 0 &&
            (r < row || !r->is_written) && check_apart(path, &other, 1, err) != 0)
            return -1;
    }
    if (board != NULL && strncmp(board, "file:", strlen("file:")) == 0) {
        board += strlen("file:");
        if (check_apart(path, &board, 1, err) != 0)
            return -1;
    }
    /* expand_write compares an output with the inputs, whatever it is called. */
    if (takes == TAKES_SHARDS && path == s->output)
        return 0;
    return check_apart(path, (const char *const *)call->inputs.items, call->inputs.n, err);
}

/* Whether the file or folder of an option can be created. */
static int check_creatable(const struct call *call, enum takes takes, const struct option_row *row,
                           struct error *err)
{
    const struct settings *s = &call->settings;
    const char *path = option_text(s, row);
    const bool is_dir = path == s->out_dir, is_shards = path == s->output && takes == TAKES_SHARDS;
    const bool is_folder = is_dir || (is_shards && s->form == ARCHIVE_OUT_NPY_FOLDER);
    const bool may_exist =
        is_dir || row->is_replaced || s->force || (is_shards && s->skip_existing);
    struct text name = {0};
    struct stat st;
    const bool is_there = is_dir && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    /* Shards have other names. That an output is an input expand_write says. */
    const bool is_other =
        is_there || (is_shards && (s->rows_per_shard > 0 ||
                                   check_apart(path, (const char *const *)call->inputs.items,
                                               call->inputs.n, NULL) != 0));
    int status =
        text_append(&name, err, "%.*s%s", (int)(is_folder ? text_path_nbytes(path) : strlen(path)),
                    path, is_there ? "/" : "");

    if (status == 0)
        status = is_other ? output_folder_check(name.text, err)
                          : output_target_check(name.text, is_folder, may_exist, err);
    text_release(&name);
    return status;
}

/* --- operands --- */

/* Fill call->inputs from the operands and --files-from. Without -o and --out-dir there are two
 * operands, the second of which is the output. */
static int take_shards(struct call *call, struct error *err)
{
    struct settings *settings = &call->settings;
    struct text_list *inputs = &call->inputs;
    int n = call->n_operands;

    if (settings->output != NULL && settings->out_dir != NULL)
        return command_misuse(err, "--output and --out-dir exclude each other");
    if (settings->output == NULL && settings->out_dir == NULL) {
        if (settings->files_from != NULL)
            return command_misuse(err, "--files-from requires -o or --out-dir");
        if (n != 2)
            return command_misuse(err, "expected IN and OUT, found %d operand%s%s", n,
                                  n == 1 ? "" : "s",
                                  n < 2 ? "" : "; several inputs need -o or --out-dir");
        settings->output = call->operands[--n];
    }
    run_settle_form(settings, settings->output);
    /* A folder's manifest lies beside it, also when its name ends in a slash. */
    if (settings->output != NULL) {
        if (text_list_add(&call->outputs, settings->output, err) != 0)
            return -1;
        settings->output = call->outputs.items[0];
        if (settings->form == ARCHIVE_OUT_NPY_FOLDER)
            call->outputs.items[0][text_path_nbytes(settings->output)] = '\0';
    }
    for (int i = 0; i < n; i++)
        if (text_list_add(inputs, call->operands[i], err) != 0)
            return -1;
    if (settings->files_from != NULL &&
        input_list_add_from(inputs, settings->files_from, settings->zero, err) != 0)
        return -1;
    if (inputs->n == 0)
        return command_misuse(err, "no input given");
    return settings->out_dir != NULL ? check_names(inputs, "inputs", err) : 0;
}

int call_name_outputs(struct call *call, const char *part, struct error *err)
{
    static const char *const endings[] = {
        [ARCHIVE_OUT_NPZ] = ".npz", [ARCHIVE_OUT_NPY] = ".npy", [ARCHIVE_OUT_NPY_FOLDER] = ""};
    const struct settings *s = &call->settings;
    const char *const *inputs = (const char *const *)call->inputs.items;
    struct text name = {0};
    struct stat st;
    const bool is_checked = !s->dry_run && !s->skip_existing && stat(s->out_dir, &st) == 0;
    const bool takes_form = s->form_said || s->purpose != FOR_IMAGES; /* else the form of inputs */
    const size_t first = call->outputs.n;
    int status = 0, n;

    for (size_t i = 0; i < call->inputs.n && status == 0; i++) {
        const char *base = text_last_name(inputs[i], &n);
        const bool has_ending =
            n > 4 && (memcmp(base + n - 4, ".npz", 4) == 0 || memcmp(base + n - 4, ".npy", 4) == 0);
        const bool is_other = has_ending && takes_form && s->form != ARCHIVE_OUT_NPY_FOLDER;

        name.n_bytes = 0;
        status = text_append(&name, err, "%s/%.*s%s%s%s", s->out_dir,
                             has_ending && (is_other || part != NULL) ? n - 4 : n, base,
                             part != NULL ? "." : "", part != NULL ? part : "",
                             is_other || part != NULL ? endings[s->form] : "");
        if (status == 0)
            status = text_list_add(&call->outputs, name.text, err);
        if (status == 0 && is_checked)
            status =
                output_target_check(name.text, s->form == ARCHIVE_OUT_NPY_FOLDER, s->force, err);
    }
    text_release(&name);
    if (status == 0 && part != NULL)
        status = expand_check_apart((const char *const *)call->outputs.items + first,
                                    call->inputs.n, inputs, call->n_named, true, err);
    /* "a.x" in y is "a" in x.y; and a.npy may become a.npz. */
    return status == 0 ? check_names(&call->outputs, "outputs", err) : -1;
}

int call_take_operands(struct call *call, const struct command *command, struct error *err)
{
    struct settings *settings = &call->settings;
    struct text_list *inputs = &call->inputs;
    const enum takes takes = command->takes;
    const int n = call->n_operands;
    size_t n_kept = 0;
    int status = 0;

    if (takes == TAKES_FILES && n == 0)
        return command_misuse(err, "no file given");
    if ((takes == TAKES_FILE || takes == TAKES_OUTPUT) && n != 1)
        return command_misuse(err, "expected %s, found %d operands",
                              takes == TAKES_FILE ? "FILE" : "OUT", n);
    if (takes == TAKES_OUTPUT)
        settings->output = call->operands[0];
    if (settings->zero && settings->files_from == NULL)
        return command_misuse(err, "--null requires --files-from");
    if (command->check != NULL && command->check(call, err) != 0)
        return -1;
    if (takes == TAKES_SHARDS)
        status = take_shards(call, err);
    for (int i = 0; i < n && status == 0 && (takes == TAKES_FILE || takes == TAKES_FILES); i++)
        status = text_list_add(inputs, call->operands[i], err);
    for (size_t i = 0; i < 2 * option_n_table && status == 0; i++) {
        const struct option_row *row = &option_table[i % option_n_table];
        const char *path = row->is_written ? option_text(settings, row) : NULL;
        const bool is_second = i >= option_n_table;

        if (path == NULL || strcmp(path, "-") == 0)
            continue;
        if (!is_second && path != settings->out_dir)
            status = check_row_apart(call, takes, row, err);
        if (is_second && !settings->dry_run)
            status = check_creatable(call, takes, row, err);
    }
    /* The part-th of every n inputs, counted from 1, go first, and no others are read, so that the
     * jobs of an array need not communicate. */
    call->n_named = inputs->n;
    for (size_t i = 0; i < call->n_named; i++)
        if (settings->n_parts == 0 || i % settings->n_parts == settings->part - 1) {
            char *const other = inputs->items[n_kept];

            inputs->items[n_kept++] = inputs->items[i];
            inputs->items[i] = other;
        }
    inputs->n = n_kept;
    return status == 0 && settings->out_dir != NULL && settings->parts == NULL
               ? call_name_outputs(call, NULL, err)
               : status;
}
