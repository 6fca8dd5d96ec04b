/*
 * command.c - the commands there are, and what they share: how they are run, help, version, the
 * last word on standard output, and how the program ends.
 */
#include "cli/cli.h"

#include "base/crew.h"
#include "base/output.h"
#include "base/text.h"
#include "codec/codec.h"

#include <openssl/crypto.h>
#include <unistd.h>
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

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_n_table; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

int command_run(const struct command *command, int argc, char **argv, struct error *err)
{
    struct call call = {.words = argv, .typed = calloc((size_t)argc + 1, sizeof *argv)};
    int first;

    if (call.typed == NULL)
        return error_no_memory(err, "words of the command line");
    memcpy(call.typed, argv, (size_t)argc * sizeof *argv);
    int status = option_parse(command->name, argc, argv, &call.settings, &first, err);
    if (status == 0) {
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

/* --- help --- */

void command_print_help(const struct command *command)
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

void command_print_version(void)
{
    printf("symaug %s\n%s, libzip %s, jansson %s, %s, %s\n", SYMAUG_VERSION, codec_libraries(),
           zip_libzip_version(), jansson_version_str(), OpenSSL_version(OPENSSL_VERSION),
           threads_library());
}

/* --- output and errors --- */

int command_flush(struct error *err)
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
    return command_flush(err);
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

int command_fail(const struct error *err, const struct command *command)
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

/* True once the program ends by its own will. */
static bool is_ended;

static void on_exit_by_others(void)
{
    if (is_ended)
        return;
    output_remove_temps();
    _exit(error_exit_code(ERROR_INTERNAL));
}

void command_guard_exit(void)
{
    atexit(on_exit_by_others);
}

void command_exit(int code)
{
    is_ended = true;
    exit(code);
}

void command_end(const char *command)
{
    struct error err = {0};

    if (command != NULL)
        command_print_help(command_find(command));
    else
        command_print_version();
    command_exit(command_flush(&err) != 0 ? command_fail(&err, NULL) : 0);
}
