/*
 * crew.c - one team for the whole process: a lock, a condition variable, the crews that exist now,
 * and the helpers, which are made when a crew first needs them. A crew of one thread has a team of
 * its own, and thereby a lock of its own.
 *
 * Every thread looks for something to do under the lock, does it without the lock, and wakes all
 * others to look again; a thread that finds nothing sleeps. Which thread does what changes no
 * result: jobs say where their results go.
 */
#include "base/crew.h"

#include <pthread.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#define OPENMP_DATE _OPENMP
#else /* one thread */
#define OPENMP_DATE           0
#define omp_get_max_threads() 1
#define omp_get_thread_num()  0
#define omp_get_num_threads() 1
#define omp_get_proc_bind()   0
#define omp_proc_bind_false   0
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

#define MAX_WORKERS 1024

struct team {
    pthread_mutex_t lock; /* protects all below, and the crews */
    pthread_cond_t changed;
    struct crew *crews; /* oldest first: a crew in a job comes after the crew that runs the job */
    int n_helpers;      /* requested; OpenMP may have made fewer */
};

struct crew {
    struct team *team;
    struct crew *next;
    bool is_inner; /* led by a job of another crew */
    int n_threads;
    const struct crew_work *work; /* or NULL */
    void *self;                   /* for the work's functions */
    int64_t n_running;            /* jobs of the work */
    struct crew_task *tasks;
    bool is_taken[MAX_WORKERS]; /* worker numbers in use */
};

/* The team of all helpers and of all crews with more than one thread. */
static struct team everybody = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

/* This thread is a helper or a leader: a crew that it comes to lead is an inner one. */
static _Thread_local bool is_member;

/* --- called with the lock held, which is released while working --- */

static bool do_job(struct crew *crew)
{
    const struct crew_work *work = crew->work;
    void *self = crew->self;
    int worker = 0;
    int64_t job;

    while (worker < crew->n_threads && crew->is_taken[worker])
        worker++;
    if (work == NULL || worker == crew->n_threads || !work->take(self, &job))
        return false;
    crew->is_taken[worker] = true;
    crew->n_running++;
    pthread_mutex_unlock(&crew->team->lock);
    work->run(self, job, worker);
    pthread_mutex_lock(&crew->team->lock);
    work->end(self, job);
    crew->is_taken[worker] = false;
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

/* Do a job or a step, if any is due. Tasks come first, so that they keep pace with the work. But a
 * leader (own; NULL: a helper) should return to its crew soon: it takes steps of its own crew,
 * which may be long, only if it is alone or has no job to do; in other crews it only helps inner
 * ones, and the leader of an inner crew takes no steps there. */
static bool do_something(struct team *team, struct crew *own)
{
    if (own != NULL &&
        (own->n_threads > 1 ? do_job(own) || do_step(own) : do_step(own) || do_job(own)))
        return true;
    for (struct crew *crew = team->crews; crew != NULL; crew = crew->next)
        if ((own == NULL || crew->is_inner) &&
            (((own == NULL || !own->is_inner) && do_step(crew)) || do_job(crew)))
            return true;
    return false;
}

/* --- */

static void *be_helper(void *unused)
{
    (void)unused;
    is_member = true;
    pthread_mutex_lock(&everybody.lock);
    while (true)
        if (!do_something(&everybody, NULL))
            pthread_cond_wait(&everybody.changed, &everybody.lock);
    return NULL;
}

/* Threads being started; protected by the lock. */
struct start {
    int n_wanted, n_come;
    bool is_over;
};

/* Start helpers as an OpenMP parallel region that never ends. */
static void *host(void *start_of_all)
{
    struct start *start = start_of_all;
    /* Where threads are bound to places, the first place is the leader's: leave it idle. */
    const int n_idle = omp_get_proc_bind() != omp_proc_bind_false;

#pragma omp parallel num_threads(start->n_wanted + n_idle)
    {
        const bool helps = omp_get_thread_num() >= n_idle;

        pthread_mutex_lock(&everybody.lock);
        start->is_over = ++start->n_come == omp_get_num_threads();
        pthread_cond_broadcast(&everybody.changed);
        pthread_mutex_unlock(&everybody.lock);
        if (helps)
            be_helper(NULL);
        while (true)
            pause();
    }
    return NULL;
}

/* Add n helpers, with the lock held. A single one is a plain thread, and the leader starts to work
 * without waiting for it. An OpenMP team is awaited before any output exists: OpenMP ends the
 * program when it cannot have its threads. */
static void add_helpers(int n)
{
    const bool by_openmp = n > 1 || omp_get_proc_bind() != omp_proc_bind_false;
    struct start start = {n, 0, false};
    pthread_t thread;

    if (pthread_create(&thread, NULL, by_openmp ? host : be_helper, &start) != 0)
        return;
    pthread_detach(thread);
    everybody.n_helpers += n;
    while (by_openmp && !start.is_over)
        pthread_cond_wait(&everybody.changed, &everybody.lock);
}

int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self)
{
    struct team alone = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};
    struct team *team = n_threads > 1 ? &everybody : &alone;
    struct crew crew = {.team = team, .is_inner = is_member, .n_threads = 1}, **link = &team->crews;

    if (n_threads > 1)
        crew.n_threads = n_threads < MAX_WORKERS ? n_threads : MAX_WORKERS;
    pthread_mutex_lock(&team->lock);
    while (*link != NULL)
        link = &(*link)->next;
    *link = &crew;
    if (OPENMP_DATE > 0 && crew.n_threads - 1 > team->n_helpers && !is_member)
        add_helpers(crew.n_threads - 1 - team->n_helpers);
    pthread_mutex_unlock(&team->lock);
    is_member = true;
    const int status = lead(self, &crew);
    is_member = crew.is_inner;
    pthread_mutex_lock(&team->lock);
    for (link = &team->crews; *link != &crew;)
        link = &(*link)->next;
    *link = crew.next;
    pthread_mutex_unlock(&team->lock);
    return status;
}

int crew_size(const struct crew *crew)
{
    return crew->n_threads;
}

void crew_begin(struct crew *crew, const struct crew_work *work, void *self)
{
    crew_lock(crew);
    crew->work = work;
    crew->self = self;
    crew_unlock(crew);
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

    crew_lock(crew);
    while (*last != NULL)
        last = &(*last)->next;
    task->is_running = false;
    task->next = NULL;
    *last = task;
    crew_unlock(crew);
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
        if (!do_something(crew->team, crew))
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

/* --- many equal jobs --- */

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

void crew_run_each(int n_threads, int64_t n_jobs, crew_job job, void *self)
{
    struct row row = {.run = job, .self = self, .n_jobs = n_jobs};

    crew_run(n_threads, row_lead, &row);
}
