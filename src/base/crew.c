/*
 * crew.c - the team: one lock, one condition variable, and the crews that its threads work for: the
 * one for which it was made, and those that jobs run.
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

struct team {
    int n_threads;
    pthread_mutex_t lock; /* of all below, and of the crews */
    pthread_cond_t changed;
    struct crew *own;   /* for which it was made */
    struct crew *inner; /* of jobs: a ring, of which this one was looked at last; or NULL */
    bool is_over;
};

struct crew {
    struct team *team;
    struct crew *next; /* of a ring */
    int n_threads;
    uint64_t taken;               /* of an inner one: bit i is set while there is a worker i */
    const struct crew_work *work; /* or NULL */
    void *self;                   /* of the work */
    int64_t n_running;            /* jobs of it */
    struct crew_task *tasks;
};

#define MAX_INNER 64 /* workers, as many as `taken` has bits */

/* Of the thread that runs this. */
static _Thread_local struct team *my_team;
static _Thread_local int my_number;

/* --- with the lock held, which is given up only while working --- */

static bool do_job(struct crew *crew)
{
    const struct crew_work *work = crew->work;
    const bool is_inner = crew != crew->team->own;
    const int worker = !is_inner          ? my_number
                       : ~crew->taken > 0 ? __builtin_ctzll(~crew->taken)
                                          : MAX_INNER;
    const uint64_t bit = is_inner ? UINT64_C(1) << (worker % MAX_INNER) : 0;
    void *self = crew->self;
    int64_t job;

    if (work == NULL || worker >= crew->n_threads || !work->take(self, &job))
        return false;
    crew->taken |= bit;
    crew->n_running++;
    pthread_mutex_unlock(&crew->team->lock);
    work->run(self, job, worker);
    pthread_mutex_lock(&crew->team->lock);
    work->end(self, job);
    crew->taken &= ~bit;
    crew->n_running--;
    pthread_cond_broadcast(&crew->team->changed);
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
    pthread_mutex_unlock(&crew->team->lock);
    task->step(task->self);
    pthread_mutex_lock(&crew->team->lock);
    task->is_running = false;
    pthread_cond_broadcast(&crew->team->changed);
    return true;
}

/* Work for the crews of jobs, each in its turn. */
static bool help(struct team *team, bool with_steps)
{
    struct crew *const last = team->inner;

    if (last == NULL)
        return false;
    do {
        team->inner = team->inner->next;
        if ((with_steps && do_step(team->inner)) || do_job(team->inner))
            return true;
    } while (team->inner != last);
    return false;
}

/* Tasks first, so that they keep pace with the work. A leader is wanted elsewhere, and takes steps,
 * which may be long, only when nobody else can or there is nothing else to do. */
static bool do_something(struct crew *crew, bool leads)
{
    const bool is_own = crew == crew->team->own;

    if (leads && crew->n_threads > 1 ? do_job(crew) || do_step(crew)
                                     : do_step(crew) || do_job(crew))
        return true;
    return help(crew->team, is_own);
}

/* --- */

/* On the calling thread, which is one of a team. */
static int lead_inner(int n_threads, int (*lead)(void *self, struct crew *crew), void *self)
{
    struct team *team = my_team;
    struct crew crew = {.team = team, .n_threads = n_threads < MAX_INNER ? n_threads : MAX_INNER};
    struct crew *before = &crew;

    pthread_mutex_lock(&team->lock);
    crew.next = team->inner != NULL ? team->inner->next : &crew;
    if (team->inner != NULL)
        team->inner->next = &crew;
    team->inner = &crew;
    pthread_mutex_unlock(&team->lock);
    const int status = lead(self, &crew);
    pthread_mutex_lock(&team->lock);
    while (before->next != &crew)
        before = before->next;
    before->next = crew.next;
    if (team->inner == &crew)
        team->inner = before != &crew ? before : NULL;
    pthread_mutex_unlock(&team->lock);
    return status;
}

int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self)
{
    struct team team = {
        .n_threads = n_threads > 0 ? n_threads : 1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .changed = PTHREAD_COND_INITIALIZER,
    };
    struct crew crew = {.team = &team, .n_threads = team.n_threads};
    int status = 0;

    if (my_team != NULL && n_threads > 1)
        return lead_inner(n_threads, lead, self);
    team.own = &crew;
#pragma omp parallel num_threads(team.n_threads)
    {
        struct team *const outer = my_team;
        const int number = my_number;

        my_team = &team;
        my_number = omp_get_thread_num();
        if (my_number != 0) {
            pthread_mutex_lock(&team.lock);
            while (!team.is_over)
                if (!do_something(&crew, false))
                    pthread_cond_wait(&team.changed, &team.lock);
            pthread_mutex_unlock(&team.lock);
        } else {
            status = lead(self, &crew);
            crew_lock(&crew);
            team.is_over = true;
            crew_unlock(&crew);
        }
        my_team = outer;
        my_number = number;
    }
    pthread_cond_destroy(&team.changed);
    pthread_mutex_destroy(&team.lock);
    return status;
}

int crew_size(const struct crew *crew)
{
    return crew->n_threads;
}

void crew_begin(struct crew *crew, const struct crew_work *work, void *self)
{
    pthread_mutex_lock(&crew->team->lock);
    crew->work = work;
    crew->self = self;
    pthread_cond_broadcast(&crew->team->changed);
    pthread_mutex_unlock(&crew->team->lock);
}

void crew_end(struct crew *crew)
{
    pthread_mutex_lock(&crew->team->lock);
    crew->work = NULL;
    while (crew->n_running > 0)
        pthread_cond_wait(&crew->team->changed, &crew->team->lock);
    pthread_mutex_unlock(&crew->team->lock);
}

void crew_add_task(struct crew *crew, struct crew_task *task)
{
    struct crew_task **last = &crew->tasks;

    pthread_mutex_lock(&crew->team->lock);
    while (*last != NULL)
        last = &(*last)->next;
    task->is_running = false;
    task->next = NULL;
    *last = task;
    pthread_cond_broadcast(&crew->team->changed);
    pthread_mutex_unlock(&crew->team->lock);
}

void crew_drop_task(struct crew *crew, struct crew_task *task)
{
    struct crew_task **link = &crew->tasks;

    pthread_mutex_lock(&crew->team->lock);
    while (*link != NULL && *link != task)
        link = &(*link)->next;
    if (*link != NULL) {
        *link = task->next;
        while (task->is_running)
            pthread_cond_wait(&crew->team->changed, &crew->team->lock);
    }
    pthread_mutex_unlock(&crew->team->lock);
}

void crew_await(struct crew *crew, bool (*is_over)(void *self), void *self)
{
    pthread_mutex_lock(&crew->team->lock);
    while (!is_over(self))
        if (!do_something(crew, true))
            pthread_cond_wait(&crew->team->changed, &crew->team->lock);
    pthread_mutex_unlock(&crew->team->lock);
}

void crew_lock(struct crew *crew)
{
    pthread_mutex_lock(&crew->team->lock);
}

void crew_unlock(struct crew *crew)
{
    pthread_cond_broadcast(&crew->team->changed);
    pthread_mutex_unlock(&crew->team->lock);
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
