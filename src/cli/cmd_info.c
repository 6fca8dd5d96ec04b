/*
 * cmd_info.c - symaug info: what a shard holds and what its arrays mean. Roles are decided as
 * `expand` decides them; the board may also come from a manifest beside the file, or be guessed
 * from shapes. What cannot be decided is listed with the command that would settle it, and makes
 * the exit code that of bad data. Also writes the roles as a schema for --schema.
 */
#include "cli/cli.h"

#include "engine/shard.h"

/* This many planes often include earlier positions, which keys of positions should not. */
#define MANY_PLANES 12

static void print_shard(const struct shard *shard)
{
    const struct archive_in *archive = &shard->archive;
    const struct shard_board *found = &shard->found;
    int width = 8;

    for (size_t i = 0; i < archive->n_arrays; i++) {
        int n = (int)strlen(text_path(archive->arrays[i].key).text);

        if (n > width)
            width = n < 40 ? n : 40;
    }
    printf("%s: ", text_path(archive->path).text);
    if (shard->rows_are_known)
        printf("%llu rows, ", (unsigned long long)shard->n_rows);
    printf("%zu array%s, %s", archive->n_arrays, archive->n_arrays == 1 ? "" : "s",
           text_size(archive_in_nbytes(archive)).text);
    if (found->board != NULL)
        printf(", board %s (%s: %s), %u transforms", found->board->preset, found->board->name,
               found->from, found->board->n_transforms);
    else
        printf(", board not known%s%s", found->guess.reason[0] != '\0' ? ": " : "",
               found->guess.reason);
    printf("\n");
    if (strncmp(archive->comment, "symaug ", 7) == 0)
        printf("  an expansion: %s\n", text_path(archive->comment).text);
    for (size_t i = 0; i < archive->n_arrays; i++) {
        const struct array *array = &archive->arrays[i];
        const bool is_fortran = array->header.fortran_order && array->header.n_dims > 1;
        struct text_quoted spec = {"-"};

        if (shard_is_undecided(shard, i))
            spec = (struct text_quoted){"?"};
        else if (shard->bindings != NULL)
            spec = role_binding_spec(&shard->bindings[i]);
        printf("  %-*s %-6s %-20s %-28s %10s  %s\n", width, text_path(array->key).text,
               dtype_name(&array->header.dtype).text,
               text_shape(array->header.shape, array->header.n_dims).text, spec.text,
               text_size(array->unpacked_nbytes).text,
               array->decoder == &decoder_deflate ? "deflated"
               : array->decoder != NULL           ? array->decoder->name
               : is_fortran                       ? "stored, Fortran order"
                                                  : "stored");
    }
    for (size_t i = 0; i < archive->n_arrays && shard->bindings != NULL; i++) {
        const struct role_binding *b = &shard->bindings[i];
        const struct text_quoted name = text_path(archive->arrays[i].key);
        const uint64_t n = b->axes.outer * b->axes.inner;

        if (b->role == ROLE_PLANES && n >= MANY_PLANES)
            printf("  %s: if its %llu planes hold earlier positions, tell `dedupe`, `split` and "
                   "`overlap` which are\n    the present: --key %s:FIRST-LAST\n",
                   name.text, (unsigned long long)n, name.text);
    }
    for (size_t i = 0; i < archive->warnings.list.n; i++)
        printf("  warning: %s\n", archive->warnings.list.items[i]);
    if (found->board == NULL)
        printf("  roles need a board: use --board (`symaug boards` lists them)\n");
    if (shard->board_problem != NULL && shard->board_problem->kind == ERROR_DATA)
        printf("  problem: %s\n", shard->board_problem->message);
    for (size_t i = 0; i < shard->problems.n; i++)
        printf("  undecided: %s\n", shard->problems.items[i].why.message);
    if (shard->command.n_bytes > 0)
        printf("  use: %s\n", shard->command.text);
}

static json_t *shard_json(const struct shard *shard)
{
    const struct archive_in *archive = &shard->archive;
    const struct board *board = shard->found.board;
    json_t *arrays = json_array(), *warnings = json_array();

    for (size_t i = 0; i < archive->n_arrays; i++) {
        const struct array *array = &archive->arrays[i];
        const bool is_undecided = shard_is_undecided(shard, i);
        const struct role_problem *problem =
            is_undecided ? role_problem_of(&shard->problems, (int)i) : NULL;
        const struct role_binding *b =
            is_undecided || shard->bindings == NULL ? NULL : &shard->bindings[i];
        const char *layout = b != NULL && b->layout != NULL ? b->layout->name : NULL;
        json_t *shape = json_array(), *no_role = is_undecided ? json_null() : NULL;
        struct text flag = {0}; /* that would give it a role */

        for (unsigned d = 0; d < array->header.n_dims; d++)
            json_array_append_new(shape, json_integer((json_int_t)array->header.shape[d]));
        if (problem != NULL && shard_flag(shard, i, &flag, NULL) != 0)
            flag.n_bytes = 0;
        json_array_append_new(
            arrays,
            json_pack("{s:o, s:s, s:o, s:I, s:I, s:b, s:o*, s:o*, s:o*, s:s*, s:o*}", "name",
                      json_name(array->key), "dtype", dtype_name(&array->header.dtype).text,
                      "shape", shape, "bytes", (json_int_t)array->unpacked_nbytes, "packed_bytes",
                      (json_int_t)array->packed_nbytes, "deflated",
                      array->decoder == &decoder_deflate, "role",
                      b != NULL ? json_string(role_name(b->role)) : no_role, "error",
                      problem != NULL ? json_string(problem->why.message) : NULL, "flag",
                      flag.n_bytes > 0 ? json_name(flag.text) : NULL, "layout", layout, "actions",
                      b != NULL && layout != NULL ? json_integer((json_int_t)b->n_actions) : NULL));
        text_release(&flag);
    }
    for (size_t i = 0; i < archive->warnings.list.n; i++)
        json_array_append_new(warnings, json_string(archive->warnings.list.items[i]));
    return json_pack(
        "{s:o, s:I, s:o, s:o*, s:o*, s:s*, s:o*, s:o*, s:o*, s:o, s:o}", "path",
        json_name(archive->path), "bytes", (json_int_t)archive_in_nbytes(archive), "comment",
        json_name(archive->comment), "board", board != NULL ? json_string(board->name) : NULL,
        "preset", board != NULL ? json_string(board->preset) : NULL, "board_from",
        board != NULL ? shard->found.from : NULL, "rows",
        shard->rows_are_known ? json_integer((json_int_t)shard->n_rows) : NULL, "error",
        shard->problems.n > 0 ? json_string(shard->problems.items[0].why.message) : NULL, "command",
        shard->command.n_bytes > 0 ? json_name(shard->command.text) : NULL, "arrays", arrays,
        "warnings", warnings);
}

static int check_info(struct call *call, struct error *err)
{
    const struct settings *settings = &call->settings;

    if (settings->write_schema && settings->json)
        return command_misuse(err, "--json and --write-schema exclude each other");
    if (settings->write_schema && call->n_operands != 1)
        return command_misuse(err, "--write-schema takes one file");
    return 0;
}

static int run_info(struct call *call, struct error *err)
{
    const struct settings *settings = &call->settings;
    json_t *files = json_array();
    struct text schema = {0};
    int status = 0, code = 0;

    for (int i = 0; i < call->n_operands && status >= 0; i++) {
        struct shard shard;

        status = shard_open(&shard, call->operands[i], settings, err);
        if (status == 0 && settings->write_schema) {
            if (shard.problems.n > 0)
                status = error_pass(err, &shard.problems.items[0].why);
            else if (shard.bindings == NULL)
                status =
                    error_set(err, ERROR_USAGE,
                              "%s: roles need a board: use --board (`symaug boards` lists them)",
                              text_path(shard.archive.path).text);
            else if ((status = schema_write(&shard.archive, shard.bindings, &schema, err)) == 0)
                fputs(schema.text, stdout);
        } else if (status == 0 && settings->json) {
            json_array_append_new(files, shard_json(&shard));
        } else if (status == 0) {
            print_shard(&shard);
        }
        const struct error *problem = shard.board_problem;
        if (status == 0 &&
            (shard.problems.n > 0 || (problem != NULL && problem->kind == ERROR_DATA)))
            status = error_exit_code(ERROR_DATA);
        shard_close(&shard);
        code = status > 0 ? status : code;
    }
    if (status >= 0 && settings->json)
        status = command_put_json(NULL, json_pack("{s:O}", "files", files), err);
    text_release(&schema);
    json_decref(files);
    return status < 0 ? -1 : code;
}

const struct command command_info = {
    "info",
    "info READS",
    TAKES_FILES,
    "[OPTION]... FILE...",
    "show arrays, their types, shapes and roles",
    NULL,
    "info games.npz",
    check_info,
    run_info,
};
