/*
 * command.c - the commands there are, and what they share: how a command line finds its command and
 * runs it, help, version, the last word on standard output, and how errors become exit codes.
 */
#include "cli/cli.h"

#include "base/crew.h"
#include "base/output.h"
#include "base/text.h"
#include "codec/codec.h"

#include <openssl/crypto.h>
#include <zip.h>

extern const struct command command_expand, command_verify, command_info, command_boards,
    command_show, command_report, command_sample, command_manifest, command_overlap, command_dedupe,
    command_split;

const struct command *const command_table[] = {
    &command_expand,  &command_verify, &command_info,   &command_boards,
    &command_show,    &command_report, &command_sample, &command_manifest,
    &command_overlap, &command_dedupe, &command_split,
};

const size_t command_n_table = sizeof command_table / sizeof *command_table;

static const struct command *find(const char *name)
{
    for (size_t i = 0; i < command_n_table; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

static void print_help(const struct command *command)
{
    printf("symaug %s - ", command->name);
    option_print_words(command->summary, 0);
    printf("\nusage: symaug %s %s\n", command->name, command->operands);
    if (command->details != NULL) {
        printf("\n");
        option_print_words(command->details, 0);
    }
    printf("\nexample:\n  symaug %s\n\noptions:\n", command->example);
    option_print_help(command->name);
}

static void print_version(void)
{
    printf("symaug %s\n%s, libzip %s, jansson %s, %s, %s\n", SYMAUG_VERSION, codec_libraries(),
           zip_libzip_version(), jansson_version_str(), OpenSSL_version(OPENSSL_VERSION),
           threads_library());
}

/* Parse a command line, argv[0] is the command, and run it. */
static int run(const struct command *command, int argc, char **argv, struct error *err)
{
    struct call call = {.words = argv, .typed = calloc((size_t)argc + 1, sizeof *argv)};
    int first;

    if (call.typed == NULL)
        return error_no_memory(err, "words of the command line");
    memcpy(call.typed, argv, (size_t)argc * sizeof *argv);
    int status = option_parse(command->name, argc, argv, &call.settings, &first, err);
    if (status > 0) {
        if (status == 'h')
            print_help(command);
        else
            print_version();
        status = 0;
    } else if (status == 0) {
        call.operands = argv + first;
        call.n_operands = argc - first;
        progress_begin(&call.progress, &call.settings);
        status = command->run(&call, err);
        progress_hide(&call.settings);
        if (status >= 0)
            progress_end(&call.progress, command->name);
    }
    text_list_release(&call.inputs);
    settings_release(&call.settings);
    free(call.typed);
    return status;
}

/* --- output and errors --- */

/* ERROR_IO when what was printed did not get there. */
static int flush_output(struct error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_errno(err, ERROR_IO, errno, "cannot write to standard output");
    return 0;
}

int command_put(const char *path, bool force, const char *text, size_t n_bytes, struct error *err)
{
    if (path != NULL && strcmp(path, "-") != 0)
        return output_put(path, force, text, n_bytes, err);
    fwrite(text, 1, n_bytes, stdout);
    return flush_output(err);
}

int command_put_json(const char *path, json_t *json, struct error *err)
{
    char *text = json != NULL ? json_dumps(json, JSON_INDENT(2) | JSON_SORT_KEYS) : NULL;
    struct text line = {0};
    int status =
        text != NULL ? text_append(&line, err, "%s\n", text) : error_no_memory(err, "JSON");

    if (status == 0)
        status = command_put(path, true, line.text, line.n_bytes, err);
    text_release(&line);
    free(text);
    json_decref(json);
    return status;
}

/* Print an error the way everything else does; where its words are wrong (ERROR_CODE_CALL), with
 * the usage and an example of the command (NULL: none is known). Returns the exit code. */
static int fail(const struct error *err, const struct command *command)
{
    const char *form = getenv("SYMAUG_ERRORS");

    if (form != NULL && strcmp(form, "json") == 0) {
        json_t *object =
            json_pack("{s:o?,s:s?,s:o,s:s}", "file",
                      err->file_nbytes > 0
                          ? json_stringn_nocheck(err->message + err->file_at, err->file_nbytes)
                          : NULL,
                      "array", err->array[0] != '\0' ? err->array : NULL, "row",
                      err->has_row ? json_integer((json_int_t)err->row) : json_null(), "message",
                      err->message);

        /* For programs that run this one: an object on one line. */
        if (object != NULL)
            json_dumpf(object, stderr, JSON_COMPACT | JSON_SORT_KEYS);
        fputc('\n', stderr);
        json_decref(object);
        return error_exit_code(err->kind);
    }
    fprintf(stderr, "symaug: %s\n", err->message);
    if (err->code == ERROR_CODE_CALL && command != NULL)
        fprintf(stderr, "usage: symaug %s %s\nexample: symaug %s\n", command->name,
                command->operands, command->example);
    return error_exit_code(err->kind);
}

/* --- the command line --- */

static int run_line(int argc, char **argv, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : NULL, *nearest = NULL;
    const bool is_help = name != NULL && strcmp(name, "help") == 0;
    size_t least = 3; /* letters that may be wrong: fewer */

    if (name == NULL)
        return error_set(err, ERROR_USAGE, "no command given; `symaug help` lists them");
    if (strcmp(name, "--version") == 0) {
        print_version();
        return 0;
    }
    if ((is_help && argc == 2) || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        printf("symaug - every symmetric image of a board-game training shard\n\n"
               "usage: symaug COMMAND [OPTION]... [OPERAND]...\n\ncommands:\n");
        for (size_t i = 0; i < command_n_table; i++)
            printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
        printf("\n`symaug COMMAND --help` tells more about a command.\n"
               "exit codes: 0 done, 1 problems found, 64 usage, 65 bad data, 66 no such input,\n"
               "70 internal, 73 cannot create output, 74 I/O error, 75 try again later,\n"
               "128+n signal n\n");
        return 0;
    }
    name = argv[is_help ? 2 : 1];
    const struct command *command = find(name);
    if (command != NULL && !is_help)
        return run(command, argc - 1, argv + 1, err);
    if (command != NULL) {
        print_help(command);
        return 0;
    }
    if (*name == '-')
        return error_set(
            err, ERROR_USAGE,
            "unknown option %s; options come after a command, `symaug help` lists them",
            text_quote(name).text);
    for (size_t i = 0; i < command_n_table; i++) {
        const size_t distance = text_distance(name, command_table[i]->name);

        if (distance < least) {
            least = distance;
            nearest = command_table[i]->name;
        }
    }
    return error_set(err, ERROR_USAGE, "no command %s; %s%s%s", text_quote(name).text,
                     nearest != NULL ? "did you mean '" : "`symaug help` lists them",
                     nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

int command_line(int argc, char **argv)
{
    struct error err = {0};
    int code = run_line(argc, argv, &err);

    if (code >= 0 && flush_output(&err) != 0)
        code = -1;
    return code < 0 ? fail(&err, argc > 1 ? find(argv[1]) : NULL) : code;
}
