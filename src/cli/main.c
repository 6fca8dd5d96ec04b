/*
 * main.c - the program's beginning and end: finds the command, prints help, and turns errors into
 * exit codes. On a signal the open temp files are removed and the program ends as 128 + its number.
 * jansson gets an allocator that never returns NULL, because it makes wrong strings of a failed
 * allocation.
 */
#include "base/output.h"
#include "base/text.h"
#include "cli/command.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static int run(int argc, char **argv, struct error *err)
{
    const bool is_help = argc > 1 && strcmp(argv[1], "help") == 0;
    const struct command *command;

    if (argc < 2)
        return error_set(err, ERROR_USAGE, "no command given; `symaug help` lists them");
    if (strcmp(argv[1], "--version") == 0) {
        command_print_version();
        return 0;
    }
    if ((is_help && argc == 2) || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        command_print_overview();
        return 0;
    }
    const char *name = argv[is_help ? 2 : 1];

    command = command_find(name);
    if (command == NULL) {
        const struct command *nearest = command_nearest(name);

        return error_set(err, ERROR_USAGE, "no command %s; %s%s%s", text_quote(name).text,
                         nearest != NULL ? "did you mean '" : "`symaug help` lists them",
                         nearest != NULL ? nearest->name : "", nearest != NULL ? "'?" : "");
    }
    if (is_help) {
        command_print_help(command);
        return 0;
    }
    return command->run(argc - 1, argv + 1, err);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    int code;

    command_guard_exit();
    handle_signals();
    json_set_alloc_funcs(json_memory, free);
    code = run(argc, argv, &err);
    if (code >= 0 && command_flush(&err) != 0)
        code = -1;
    command_exit(code < 0 ? command_fail(&err, argc > 1 ? command_find(argv[1]) : NULL) : code);
}
