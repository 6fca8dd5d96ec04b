/* main.c - symaug: the command table, and what all commands share. */
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/option.h"
#include "codec/codec.h"
#include "engine/threads.h"

#include <errno.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

const struct command command_table[] = {
    {"expand", CMD_EXPAND, "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
     "write every symmetric image of every row",
     "IN is an .npz file, a .npy file or a folder of .npy files. OUT gets every image of every "
     "row\n"
     "and OUT.manifest.json says what was done. An existing OUT is kept unless -f is given.\n"
     "Split training and validation data before expanding, and shuffle the result when training.",
     cmd_expand},
    {"info", CMD_INFO, "[OPTION]... FILE...", "show arrays, their types, shapes and roles", NULL,
     cmd_info},
    {"boards", CMD_BOARDS, "[OPTION]... [BOARD|FILE]",
     "list the boards, or show one: its transforms, cells and policy layouts",
     "hex8 is the hexagon of radius 4 (61 cells), not an 8 x 8 board of the game of Hex: that is\n"
     "rhombus:8. FILE is a board description in JSON.",
     cmd_boards},
    {"sample", CMD_SAMPLE, "--board BOARD --rows N [OPTION]... OUT",
     "make a synthetic shard: random play", NULL, cmd_sample},
};

const size_t command_n_table = sizeof command_table / sizeof *command_table;

static void print_help(void)
{
    printf("symaug - every symmetric image of a board-game training shard\n\n"
           "usage: symaug COMMAND [OPTION]... [OPERAND]...\n\ncommands:\n");
    for (size_t i = 0; i < command_n_table; i++)
        printf("  %-10s %s\n", command_table[i].name, command_table[i].summary);
    printf(
        "\n`symaug COMMAND --help` tells more about a command.\n"
        "exit codes: 0 done, 1 problems found, 64 usage, 65 bad data, 66 no such input,\n"
        "70 internal, 73 cannot create output, 74 I/O error, 75 try again later, 128+n signal n\n");
}

static void print_command_help(const struct command *command)
{
    printf("symaug %s - %s\n\nusage: symaug %s %s\n", command->name, command->summary,
           command->name, command->operands);
    if (command->details != NULL)
        printf("\n%s\n", command->details);
    printf("\noptions:\n");
    option_print_help(command->bit, stdout);
}

static void print_version(void)
{
    printf("symaug %s\n%s, libzip %s, jansson %s, %s, %s\n", SYMAUG_VERSION, codec_libraries(),
           zip_libzip_version(), jansson_version_str(), OpenSSL_version(OPENSSL_VERSION),
           threads_library());
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < command_n_table; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return &command_table[i];
    return NULL;
}

int command_flush(struct error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return error_set_errno(err, ERROR_IO, errno, "cannot write to standard output");
    return 0;
}

/* Print an error the way everything else does, and say how to end. */
static int fail(const struct error *err)
{
    fprintf(stderr, "symaug: %s\n", err->message);
    return error_exit_code(err->kind);
}

static void end_program(void)
{
    struct error err = {0};

    exit(command_flush(&err) != 0 ? fail(&err) : 0);
}

int command_common_option(unsigned bit, int id, int *verbosity)
{
    switch (id) {
    case OPT_QUIET:
        *verbosity = -1;
        return 1;
    case OPT_VERBOSE:
        *verbosity = 1;
        return 1;
    case OPT_VERSION:
        print_version();
        end_program();
        return 1;
    case OPT_HELP:
        for (size_t i = 0; i < command_n_table; i++)
            if (command_table[i].bit == bit)
                print_command_help(&command_table[i]);
        end_program();
        return 1;
    default:
        return 0;
    }
}

/* jansson 2.14 makes wrong strings of a failed allocation, so that it must never see one. */
static void *json_memory(size_t n_bytes)
{
    void *memory = malloc(n_bytes);

    if (memory == NULL) {
        output_remove_temps();
        fputs("symaug: out of memory: JSON\n", stderr);
        _exit(error_exit_code(ERROR_INTERNAL));
    }
    return memory;
}

/* Leave no temp file behind, and end as a shell would report it. */
static void on_signal(int number)
{
    output_remove_temps();
    _exit(128 + number);
}

static void handle_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    struct sigaction action = {.sa_handler = on_signal};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;

        /* What the parent told us to ignore (nohup) stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

/* `symaug help`, `symaug help COMMAND`. */
static int run_help(int argc, char **argv, struct error *err)
{
    const struct command *command;

    if (argc < 2) {
        print_help();
        return 0;
    }
    command = find_command(argv[1]);
    if (command == NULL)
        return error_set(err, ERROR_USAGE, "no command %s", text_quote(argv[1]).text);
    print_command_help(command);
    return 0;
}

static int run(int argc, char **argv, struct error *err)
{
    const struct command *command;

    if (argc < 2)
        return error_set(err, ERROR_USAGE, "no command given; `symaug help` lists them");
    if (strcmp(argv[1], "--version") == 0) {
        print_version();
        return 0;
    }
    if (strcmp(argv[1], "help") == 0)
        return run_help(argc - 1, argv + 1, err);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return run_help(1, argv, err);
    command = find_command(argv[1]);
    if (command == NULL)
        return error_set(err, ERROR_USAGE, "no command %s; `symaug help` lists them",
                         text_quote(argv[1]).text);
    return command->run(argc - 1, argv + 1, err);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    int code;

    handle_signals();
    json_set_alloc_funcs(json_memory, free);
    code = run(argc, argv, &err);
    if (code >= 0 && command_flush(&err) != 0)
        code = -1;
    return code < 0 ? fail(&err) : code;
}
