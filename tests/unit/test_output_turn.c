/* test_output_turn.c - one writer of a folder after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/output.h"
#include "scratch.h"

#include <pthread.h>
#include <time.h>

#define N_THREADS 4
#define N_TURNS   5

static const char *path;
static int n_inside, n_turns, n_together;

/* Every writer is alone in its turn. */
static void *take_turns(void *unused)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    (void)unused;
    for (int i = 0; i < N_TURNS; i++) {
        int turn = output_turn_take(path);

        if (__atomic_fetch_add(&n_inside, 1, __ATOMIC_SEQ_CST) != 0)
            __atomic_fetch_add(&n_together, 1, __ATOMIC_SEQ_CST);
        nanosleep(&pause, NULL);
        __atomic_fetch_sub(&n_inside, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&n_turns, turn >= 0, __ATOMIC_SEQ_CST);
        output_turn_end(turn);
    }
    return NULL;
}

static void test_turns(void **state)
{
    char target[512];
    pthread_t threads[N_THREADS];

    (void)state;
    snprintf(target, sizeof target, "%s", scratch("out.npz"));
    path = target;
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_turns, NULL), 0);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(n_turns, N_THREADS * N_TURNS);
    assert_int_equal(n_together, 0);
}

/* Two folders have nothing to do with each other, and a target need not exist. */
static void test_folders(void **state)
{
    int turn, other;

    (void)state;
    assert_int_equal(mkdir(scratch("a"), 0777), 0);
    assert_int_equal(mkdir(scratch("b"), 0777), 0);
    turn = output_turn_take(scratch("a/out.npz"));
    other = output_turn_take(scratch("b/out.npz"));
    assert_true(turn >= 0);
    assert_true(other >= 0);
    output_turn_end(other);
    output_turn_end(turn);
    assert_int_equal(scratch_count(), 2); /* no lock files */
}

/* Where there is no folder there is nobody to wait for. */
static void test_no_folder(void **state)
{
    (void)state;
    output_turn_end(output_turn_take(scratch("none/out.npz")));
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SCRATCH(test_turns), IN_SCRATCH(test_folders),
                                       IN_SCRATCH(test_no_folder)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
