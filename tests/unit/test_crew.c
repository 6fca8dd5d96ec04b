/* test_crew.c - jobs are each done once, by any worker, while the leader does other things. */
#include "engine/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N_JOBS   1000
#define N_ROUNDS 50

struct work {
    atomic_int done[N_JOBS];
    atomic_int wrong_worker;
    int n_threads;
    int n_jobs;
    bool waits; /* post and wait apart */
};

static void job(void *self, int64_t i, int worker)
{
    struct work *work = self;

    work->done[i]++;
    if (worker < 0 || worker >= work->n_threads)
        work->wrong_worker++;
}

static int lead(void *self, struct crew *crew)
{
    struct work *work = self;

    assert_int_equal(crew_size(crew), work->n_threads);
    crew_wait(crew); /* nothing posted yet */
    for (int round = 0; round < N_ROUNDS; round++) {
        if (work->waits) {
            crew_post(crew, work->n_jobs, job, work);
            crew_wait(crew);
        } else {
            crew_each(crew, work->n_jobs, job, work);
        }
        for (int i = 0; i < N_JOBS; i++)
            assert_int_equal(work->done[i], i < work->n_jobs ? round + 1 : 0);
    }
    return 42;
}

static void test_every_job_once(void **state)
{
    static const int n_jobs[] = {0, 1, 2, 7, N_JOBS};

    (void)state;
    for (int n_threads = 1; n_threads <= 9; n_threads += 2) {
        for (size_t k = 0; k < sizeof n_jobs / sizeof *n_jobs; k++) {
            for (int waits = 0; waits < 2; waits++) {
                static struct work work;

                memset(&work, 0, sizeof work);
                work.n_threads = n_threads;
                work.n_jobs = n_jobs[k];
                work.waits = waits;
                assert_int_equal(crew_run(n_threads, lead, &work), 42);
                assert_int_equal(work.wrong_worker, 0);
            }
        }
    }
}

static int lead_idle(void *self, struct crew *crew)
{
    (void)self;
    return crew_size(crew);
}

static void test_nobody_waits_for_ever(void **state)
{
    (void)state;
    assert_int_equal(crew_run(0, lead_idle, NULL), 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(crew_run(4, lead_idle, NULL), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_job_once),
        cmocka_unit_test(test_nobody_waits_for_ever),
    };

    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
