/*
 * main.c - the program's beginning and end: finds the command, prints help, and turns errors into
 * exit codes. On a signal the open temp files are removed and the program ends as 128 + its number.
 * jansson gets an allocator that never returns NULL, because it makes wrong strings of a failed
 * allocation.
 */
#include "base/output.h"
#include "base/text.h"
#include "cli/cli.h"

#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEPT_NBYTES  (8 << 20)
#define GROWN_NBYTES (1 << 20)
#define FIRST_NBYTES (KEPT_NBYTES - GROWN_NBYTES - GROWN_NBYTES / 2) /* less than is trimmed */
#define HUGE_NBYTES  (2u << 20)

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

/* Buffers of some MiB come and go with every member. Memory that the system takes back has to be
 * given again page by page, which is what a small shard would wait for most; so the first of it
 * comes in pages of 2 MiB, where the system has them. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, KEPT_NBYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_NBYTES);
    mallopt(M_TOP_PAD, GROWN_NBYTES);
    const uintptr_t first = (uintptr_t)malloc(FIRST_NBYTES);
    const size_t skip = -first % HUGE_NBYTES;
    if (first != 0)
        madvise((void *)(first + skip), FIRST_NBYTES - skip, MADV_HUGEPAGE);
    free((void *)first);
}

/* Inputs stay open together, and may be more than a program is allowed at first. */
static void allow_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int refuse_command(const char *name, struct error *err)
{
    const char *nearest = NULL;
    size_t least = 3; /* letters that may be wrong: fewer */

    for (size_t i = 0; i < command_n_table; i++) {
        const size_t distance = text_distance(name, command_table[i]->name);

        if (distance < least) {
            least = distance;
            nearest = command_table[i]->name;
        }
    }
    if (*name == '-')
        return error_set(
            err, ERROR_USAGE,
            "unknown option %s; options come after a command, `symaug help` lists them",
            text_quote(name).text);
    return error_set(err, ERROR_USAGE, "no command %s; %s%s%s", text_quote(name).text,
                     nearest != NULL ? "did you mean '" : "`symaug help` lists them",
                     nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static int run(int argc, char **argv, struct error *err)
{
    const char *name = argc > 1 ? argv[1] : NULL;
    const bool is_help = name != NULL && strcmp(name, "help") == 0;

    if (name == NULL)
        return error_set(err, ERROR_USAGE, "no command given; `symaug help` lists them");
    if (strcmp(name, "--version") == 0) {
        command_print_version();
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
    const struct command *command = command_find(argv[is_help ? 2 : 1]);
    if (command == NULL)
        return refuse_command(argv[is_help ? 2 : 1], err);
    if (!is_help)
        return command_run(command, argc - 1, argv + 1, err);
    command_print_help(command);
    return 0;
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    const struct sigaction action = {.sa_handler = on_signal};
    struct error err = {0};

    command_guard_exit();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;

        /* What the parent told us to ignore (nohup) stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    keep_memory();
    allow_files();
    json_set_alloc_funcs(json_memory, free);
    int code = run(argc, argv, &err);
    if (code >= 0 && command_flush(&err) != 0)
        code = -1;
    command_exit(code < 0 ? command_fail(&err, argc > 1 ? command_find(argv[1]) : NULL) : code);
}
