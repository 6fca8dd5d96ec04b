/*
 * main.c - the program's beginning, what it asks of the system before a command runs, and its end:
 * on a signal the open temp files are removed and it ends as 128 + its number.
 */
#include "base/output.h"
#include "cli/cli.h"

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

/* True once the program ends by its own will. */
static bool is_ended;

/* A library that ends the program (libgomp, without memory for a thread) must neither leave a temp
 * file behind nor say with its exit code that `verify` found problems. */
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
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;

        /* What the parent told us to ignore (nohup) stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    /* Buffers of some MiB come and go with every member. Memory that the system takes back has to
     * be given again page by page, which is what a small shard would wait for most; so the first of
     * it comes in pages of 2 MiB, where the system has them. */
    mallopt(M_MMAP_THRESHOLD, KEPT_NBYTES);
    mallopt(M_TRIM_THRESHOLD, KEPT_NBYTES);
    mallopt(M_TOP_PAD, GROWN_NBYTES);
    const uintptr_t first = (uintptr_t)malloc(FIRST_NBYTES);
    const size_t skip = -first % HUGE_NBYTES;
    if (first != 0)
        madvise((void *)(first + skip), FIRST_NBYTES - skip, MADV_HUGEPAGE);
    free((void *)first);
    /* Inputs stay open together, and may be more than a program is allowed at first. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    json_set_alloc_funcs(json_memory, free);
    const int code = command_line(argc, argv);
    is_ended = true;
    return code;
}
