/*
 * guard.c - surviving a map whose file shrinks. Touching a page after the end of a mapped file
 * raises SIGBUS in the thread that touches it.
 *
 * Each thread notes the map it is about to copy from; the handler jumps back into that thread's
 * copy if the fault lies inside that map, and hands every other SIGBUS to the handler that was
 * there before. Nothing else in the program may touch a mapped byte: input.c is the only caller.
 */
#include "base/guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

struct guard {
    sigjmp_buf jump;
    const uint8_t *begin;
    const uint8_t *end;
    volatile sig_atomic_t armed;
};

/* initial-exec: the handler must not be the first to touch it, which could allocate. */
static _Thread_local struct guard guard __attribute__((tls_model("initial-exec")));

static struct sigaction previous;
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_sigbus(int signum, siginfo_t *info, void *context)
{
    const uint8_t *address = info->si_addr;

    (void)context;
    /* si_code is positive for faults only; si_addr of a kill(2) means nothing */
    if (guard.armed && info->si_code > 0 && address >= guard.begin && address < guard.end) {
        guard.armed = 0;
        siglongjmp(guard.jump, 1);
    }
    sigaction(signum, &previous, NULL);
    raise(signum);
}

int guard_install(void)
{
    struct sigaction action, current;
    int result;

    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&install_lock);
    result = sigaction(SIGBUS, NULL, &current);
    if (result == 0 &&
        !((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_sigbus)) {
        previous = current; /* known before the handler may need it */
        result = sigaction(SIGBUS, &action, NULL);
    }
    pthread_mutex_unlock(&install_lock);
    return result;
}

int guard_copy(void *to, const uint8_t *from, size_t n_bytes, const uint8_t *map, size_t map_nbytes)
{
    guard.begin = map;
    guard.end = map + map_nbytes;
    /* the mask is saved: SIGBUS is blocked inside the handler, and must be open for the next one */
    if (sigsetjmp(guard.jump, 1) != 0)
        return -1;
    guard.armed = 1;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(to, from, n_bytes);
    atomic_signal_fence(memory_order_seq_cst);
    guard.armed = 0;
    return 0;
}
