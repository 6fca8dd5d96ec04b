/* test_crew.c - jobs are each done once, by any worker, while the leader does other things. */
#include "base/crew.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N_JOBS   1000
#define N_ROUNDS 50

struct work {
    atomic_int done[N_JOBS];
    atomic_int wrong_worker;
    int n_threads;
    int n_jobs;
};

static void job(void *self, int64_t i, int worker)
{
    struct work *work = self;

    work->done[i]++;
    if (worker < 0 || worker >= work->n_threads)
        work->wrong_worker++;
}

static void test_every_job_once(void **state)
{
    static const int n_jobs[] = {0, 1, 2, 7, N_JOBS};

    (void)state;
    for (int n_threads = 1; n_threads <= 9; n_threads += 2) {
        for (size_t k = 0; k < sizeof n_jobs / sizeof *n_jobs; k++) {
            static struct work work;

            memset(&work, 0, sizeof work);
            work.n_threads = n_threads;
            work.n_jobs = n_jobs[k];
            for (int round = 0; round < N_ROUNDS; round++) {
                crew_run_each(n_threads, work.n_jobs, job, &work);
                for (int i = 0; i < N_JOBS; i++)
                    assert_int_equal(work.done[i], i < work.n_jobs ? round + 1 : 0);
            }
            assert_int_equal(work.wrong_worker, 0);
        }
    }
}

/* --- a work whose jobs become due one after another, and tasks beside it --- */

/* Job i is due when job i - 2 is done, so that there are two at a time at most; a task's step for
 * every four jobs. */
struct stepwise {
    int64_t n_taken, n_done;
    atomic_int n_running, n_steps, n_in_step;
    bool went_wrong;
    bool is_open; /* jobs may be taken */
};

static bool stepwise_take(void *self, int64_t *job_taken)
{
    struct stepwise *work = self;

    if (!work->is_open || work->n_taken == N_JOBS || work->n_taken >= work->n_done + 2)
        return false;
    *job_taken = work->n_taken++;
    return true;
}

static void stepwise_run(void *self, int64_t job_taken, int worker)
{
    struct stepwise *work = self;

    (void)job_taken, (void)worker;
    if (++work->n_running > 2)
        work->went_wrong = true;
    if (job_taken % 100 == 0)
        usleep(500);
    work->n_running--;
}

static void stepwise_end(void *self, int64_t job_taken)
{
    struct stepwise *work = self;

    (void)job_taken;
    work->n_done++;
}

static bool step_is_due(void *self)
{
    const struct stepwise *work = self;

    return work->n_steps < work->n_done / 4;
}

static void step(void *self)
{
    struct stepwise *work = self;

    if (work->n_in_step++ != 0)
        work->went_wrong = true;
    work->n_steps++;
    work->n_in_step--;
}

static bool all_is_done(void *self)
{
    const struct stepwise *work = self;

    return work->n_done == N_JOBS && work->n_steps == N_JOBS / 4;
}

static bool some_is_done(void *self)
{
    const struct stepwise *work = self;

    return work->n_done >= 10;
}

static int lead_stepwise(void *self, struct crew *crew)
{
    static const struct crew_work work = {stepwise_take, stepwise_run, stepwise_end};
    struct stepwise *stepwise = self;
    struct crew_task task = {.is_due = step_is_due, .step = step, .self = self};
    struct crew_task never_added = task;

    crew_add_task(crew, &task);
    crew_begin(crew, &work, stepwise);
    crew_lock(crew);
    stepwise->is_open = true;
    crew_unlock(crew);
    crew_await(crew, some_is_done, stepwise);
    crew_await(crew, all_is_done, stepwise);
    crew_end(crew);
    crew_drop_task(crew, &task);
    crew_drop_task(crew, &never_added);
    return 0;
}

static void test_jobs_and_tasks(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 5; n_threads++) {
        struct stepwise work = {0};

        assert_int_equal(crew_run(n_threads, lead_stepwise, &work), 0);
        assert_false(work.went_wrong);
        assert_int_equal(work.n_running, 0);
    }
}

/* Given up in the middle: nobody is left at it. */
static int lead_giving_up(void *self, struct crew *crew)
{
    static const struct crew_work work = {stepwise_take, stepwise_run, stepwise_end};
    struct stepwise *stepwise = self;
    int64_t n_taken;

    crew_lock(crew);
    stepwise->is_open = true;
    crew_unlock(crew);
    crew_begin(crew, &work, stepwise);
    crew_await(crew, some_is_done, stepwise);
    crew_end(crew);
    assert_int_equal(stepwise->n_running, 0);
    n_taken = stepwise->n_taken;
    assert_int_equal(stepwise->n_done, n_taken);
    usleep(2000);
    assert_int_equal(stepwise->n_taken, n_taken);
    return 0;
}

static void test_giving_up(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 5; n_threads++) {
        struct stepwise work = {0};

        assert_int_equal(crew_run(n_threads, lead_giving_up, &work), 0);
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

/* --- jobs that lead crews --- */

/* Each outer job has jobs of its own, the first of which, where a thread is free, can
 * end only beside another one. */
struct inner {
    atomic_int done[N_JOBS], by_worker[4];
    atomic_int n_begun, wrong;
    bool waits;
};

static void inner_job(void *self, int64_t i, int worker)
{
    struct inner *inner = self;

    inner->wrong += worker < 0 || worker >= 4 || inner->by_worker[worker]++ > 0;
    inner->n_begun++;
    for (int ms = 0; inner->waits && inner->n_begun < 2 && ms < 5000; ms++)
        usleep(1000);
    inner->wrong += inner->waits && inner->n_begun < 2;
    inner->done[i]++;
    inner->by_worker[worker]--;
}

static void outer_job(void *self, int64_t i, int worker)
{
    struct inner *inner = (struct inner *)self + i;

    (void)worker;
    for (int round = 0; round < 2; round++)
        crew_run_each(4, N_JOBS, inner_job, inner);
}

static void test_jobs_that_lead(void **state)
{
#ifdef _OPENMP
    const bool has_threads = true;
#else
    const bool has_threads = false; /* one at a time does the work of all */
#endif
    static struct inner inner[5];

    (void)state;
    for (int64_t n_jobs = 1; n_jobs <= 5; n_jobs++) {
        memset(inner, 0, sizeof inner);
        for (int k = 0; k < 5; k++)
            inner[k].waits = n_jobs < 3 && has_threads;
        crew_run_each(3, n_jobs, outer_job, inner);
        for (int64_t k = 0; k < n_jobs; k++) {
            assert_int_equal(inner[k].wrong, 0);
            for (int i = 0; i < N_JOBS; i++)
                assert_int_equal(inner[k].done[i], 2);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_job_once), cmocka_unit_test(test_jobs_and_tasks),
        cmocka_unit_test(test_giving_up),      cmocka_unit_test(test_nobody_waits_for_ever),
        cmocka_unit_test(test_jobs_that_lead),
    };

    return cmocka_run_group_tests_name("crew", tests, NULL, NULL);
}
