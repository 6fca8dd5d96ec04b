/*
 * command.c - the commands there are, and what they share: help, version, the last word on standard
 * output, and how the program ends.
 */
#include "cli/command.h"

#include "base/crew.h"
#include "base/output.h"
#include "base/text.h"
#include "cli/option.h"
#include "codec/codec.h"

#include <errno.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

void command_print_overview(void)
{
    printf("symaug - every symmetric image of a board-game training shard\n\n"
           "usage: symaug COMMAND [OPTION]... [OPERAND]...\n\ncommands:\n");
    for (size_t i = 0; i < command_n_table; i++)
        printf("  %-10s %s\n", command_table[i]->name, command_table[i]->summary);
    printf("\n`symaug COMMAND --help` tells more about a command.\n"
           "exit codes: 0 done, 1 problems found, 64 usage, 65 bad data, 66 no such input,\n"
           "70 internal, 73 cannot create output, 74 I/O error, 75 try again later,\n"
           "128+n signal n\n");
}

void command_print_help(const struct command *command)
{
    printf("symaug %s - ", command->name);
    option_print_words(command->summary, 0, stdout);
    printf("\nusage: symaug %s %s\n", command->name, command->operands);
    if (command->details != NULL) {
        printf("\n");
        option_print_words(command->details, 0, stdout);
    }
    printf("\nexample:\n  symaug %s\n\noptions:\n", command->example);
    option_print_help(command->name, stdout);
}

void command_print_version(void)
{
    printf("symaug %s\n%s, libzip %s, jansson %s, %s, %s\n", SYMAUG_VERSION, codec_libraries(),
           zip_libzip_version(), jansson_version_str(), OpenSSL_version(OPENSSL_VERSION),
           threads_library());
}

const struct command *command_nearest(const char *name)
{
    const struct command *nearest = NULL;
    size_t least = 3; /* letters that may be wrong: fewer */

    for (size_t i = 0; i < command_n_table; i++) {
        const size_t distance = text_distance(name, command_table[i]->name);

        if (distance < least) {
            least = distance;
            nearest = command_table[i];
        }
    }
    return nearest;
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < command_n_table; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_table[i];
    return NULL;
}

int command_flush(struct error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_errno(err, ERROR_IO, errno, "cannot write to standard output");
    return 0;
}

/* For programs that run this one: an object on one line. */
static void fail_as_json(const struct error *err)
{
    json_t *object = json_pack(
        "{s:o?,s:s?,s:o,s:s}", "file",
        err->file_nbytes > 0 ? json_stringn_nocheck(err->message, err->file_nbytes) : NULL, "array",
        err->array[0] != '\0' ? err->array : NULL, "row",
        err->has_row ? json_integer((json_int_t)err->row) : json_null(), "message", err->message);

    if (object != NULL)
        json_dumpf(object, stderr, JSON_COMPACT | JSON_SORT_KEYS);
    fputc('\n', stderr);
    json_decref(object);
}

int command_fail(const struct error *err, const struct command *command)
{
    const char *form = getenv("SYMAUG_ERRORS");

    if (form != NULL && strcmp(form, "json") == 0)
        fail_as_json(err);
    else
        fprintf(stderr, "symaug: %s\n", err->message);
    if (err->code == ERROR_CODE_CALL && command != NULL &&
        (form == NULL || strcmp(form, "json") != 0))
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
