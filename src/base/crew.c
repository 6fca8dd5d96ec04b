/*
 * crew.c - the team: one lock, one condition variable.
 *
 * Everybody looks for something to do under the lock, does it without the lock, and tells all
 * others to look again; who finds nothing sleeps. Which thread does what changes no result: jobs
 * say where their results go.
 */
#include "base/crew.h"

#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#define OPENMP_DATE _OPENMP
#else /* one thread */
#define OPENMP_DATE           0
#define omp_get_max_threads() 1
#define omp_get_thread_num()  0
#endif

int threads_usable(void)
{
    return omp_get_max_threads();
}

const char *threads_library(void)
{
    return OPENMP_DATE >= 202011   ? "OpenMP 5.1"
           : OPENMP_DATE >= 201811 ? "OpenMP 5.0"
           : OPENMP_DATE > 0       ? "OpenMP 4.5"
                                   : "no OpenMP";
}

struct crew {
    int n_threads;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    const struct crew_work *work; /* or NULL */
    void *self;                   /* of the work */
    int64_t n_running;            /* jobs of it */
    struct crew_task *tasks;
    bool is_over;
};

/* --- with the lock held, which is given up only while working --- */

static bool do_job(struct crew *crew, int worker)
{
    const struct crew_work *work = crew->work;
    void *self = crew->self;
    int64_t job;

    if (work == NULL || !work->take(self, &job))
        return false;
    crew->n_running++;
    pthread_mutex_unlock(&crew->lock);
    work->run(self, job, worker);
    pthread_mutex_lock(&crew->lock);
    work->end(self, job);
    crew->n_running--;
    pthread_cond_broadcast(&crew->changed);
    return true;
}

static bool do_step(struct crew *crew)
{
    struct crew_task *task = crew->tasks;

    while (task != NULL && (task->is_running || !task->is_due(task->self)))
        task = task->next;
    if (task == NULL)
        return false;
    task->is_running = true;
    pthread_mutex_unlock(&crew->lock);
    task->step(task->self);
    pthread_mutex_lock(&crew->lock);
    task->is_running = false;
    pthread_cond_broadcast(&crew->changed);
    return true;
}

/* Tasks first, so that they keep pace with the work. The leader is wanted elsewhere, and takes
 * steps, which may be long, only when nobody else can or there is nothing else to do. */
static bool do_something(struct crew *crew, int worker)
{
    if (worker == 0 && crew->n_threads > 1)
        return do_job(crew, worker) || do_step(crew);
    return do_step(crew) || do_job(crew, worker);
}

/* --- */

int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self)
{
    struct crew crew = {
        .n_threads = n_threads > 0 ? n_threads : 1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
    int status = 0;

#pragma omp parallel num_threads(crew.n_threads)
    if (omp_get_thread_num() != 0) {
        pthread_mutex_lock(&crew.lock);
        while (!crew.is_over)
            if (!do_something(&crew, omp_get_thread_num()))
                pthread_cond_wait(&crew.changed, &crew.lock);
        pthread_mutex_unlock(&crew.lock);
    } else {
        status = lead(self, &crew);
        crew_lock(&crew);
        crew.is_over = true;
        crew_unlock(&crew);
    }
    pthread_cond_destroy(&crew.changed);
    pthread_mutex_destroy(&crew.lock);
    return status;
}

int crew_size(const struct crew *crew)
{
    return crew->n_threads;
}

void crew_begin(struct crew *crew, const struct crew_work *work, void *self)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->self = self;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

void crew_end(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = NULL;
    while (crew->n_running > 0)
        pthread_cond_wait(&crew->changed, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

void crew_add_task(struct crew *crew, struct crew_task *task)
{
    struct crew_task **last = &crew->tasks;

    pthread_mutex_lock(&crew->lock);
    while (*last != NULL)
        last = &(*last)->next;
    task->is_running = false;
    task->next = NULL;
    *last = task;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

void crew_drop_task(struct crew *crew, struct crew_task *task)
{
    struct crew_task **link = &crew->tasks;

    pthread_mutex_lock(&crew->lock);
    while (*link != NULL && *link != task)
        link = &(*link)->next;
    if (*link != NULL) {
        *link = task->next;
        while (task->is_running)
            pthread_cond_wait(&crew->changed, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

void crew_await(struct crew *crew, bool (*is_over)(void *self), void *self)
{
    pthread_mutex_lock(&crew->lock);
    while (!is_over(self))
        if (!do_something(crew, 0))
            pthread_cond_wait(&crew->changed, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

void crew_lock(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
}

void crew_unlock(struct crew *crew)
{
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

/* --- a row of equal jobs --- */

struct row {
    crew_job run;
    void *self;
    int64_t n_jobs, next, n_done;
};

static bool row_take(void *self, int64_t *job)
{
    struct row *row = self;

    *job = row->next;
    row->next += row->next < row->n_jobs;
    return *job < row->n_jobs;
}

static void row_run(void *self, int64_t job, int worker)
{
    const struct row *row = self;

    row->run(row->self, job, worker);
}

static void row_end(void *self, int64_t job)
{
    (void)job;
    ((struct row *)self)->n_done++;
}

static bool row_is_done(void *self)
{
    const struct row *row = self;

    return row->n_done == row->n_jobs;
}

static int row_lead(void *self, struct crew *crew)
{
    static const struct crew_work work = {row_take, row_run, row_end};

    crew_begin(crew, &work, self);
    crew_await(crew, row_is_done, self);
    crew_end(crew);
    return 0;
}

void crew_each(struct crew *crew, int64_t n_jobs, crew_job job, void *self)
{
    struct row row = {.run = job, .self = self, .n_jobs = n_jobs};

    row_lead(&row, crew);
}

void crew_run_each(int n_threads, int64_t n_jobs, crew_job job, void *self)
{
    struct row row = {.run = job, .self = self, .n_jobs = n_jobs};

    crew_run(n_threads, row_lead, &row);
}
