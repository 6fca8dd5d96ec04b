/*
 * main.c - sets up signals, memory and limits, runs the command line, and makes sure that temp
 * files are removed whichever way the program ends: after a signal the exit code is 128 + its
 * number.
 */
#include "cli/cli.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#define KEPT_NBYTES  (8 << 20)
#define GROWN_NBYTES (1 << 20)
#define FIRST_NBYTES (KEPT_NBYTES - GROWN_NBYTES - GROWN_NBYTES / 2) /* less than is trimmed */

/* jansson 2.14 makes wrong strings when an allocation fails, so it must never see that. */
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

/* Remove temp files, and exit as a shell reports a signal. */
static void on_signal(int number)
{
    output_remove_temps();
    _exit(128 + number);
}

/* True once command_line has returned. */
static bool is_ended;

/* When a library calls exit() (libgomp does when it cannot create a thread), no temp file may stay,
 * and the exit code must not be 1, by which `verify` reports problems. */
static void on_exit_by_others(void)
{
    if (is_ended)
        return;
    output_remove_temps();
    _exit(error_exit_code(ERROR_INTERNAL));
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    const struct sigaction action = {.sa_handler = on_signal};
    struct rlimit limit;

    atexit(on_exit_by_others);
    for (size_t i = 0; i < N_OF(signals); i++) {
        struct sigaction old;

        /* What the parent ignores (nohup) stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    /* Every member allocates and frees buffers of some MiB. Keep the memory instead of returning it
     * to the system, since page faults would dominate the time of a small shard, and back the first
     * of it with huge pages where there are any. */
    mallopt(M_MMAP_THRESHOLD, KEPT_NBYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_NBYTES);
    mallopt(M_TOP_PAD, GROWN_NBYTES);
    void *const first = malloc(FIRST_NBYTES);
    if (first != NULL)
        bytes_want_huge_pages(first, FIRST_NBYTES);
    free(first);
    /* All inputs are open at once, and may exceed the soft limit. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    json_set_alloc_funcs(json_memory, free);
    const int code = command_line(argc, argv);
    is_ended = true;
    return code;
}
