/*
 * crew.c - the team: one lock, one condition variable, the crews that lead and run at this time,
 * and the helpers, which come when a crew first wants them and stay. The leader of two threads
 * begins at once, and works alone until the other is there. A crew of one thread has a lock of its
 * own.
 *
 * Everybody looks for something to do under the lock, does it without the lock, and tells all
 * others to look again; who finds nothing sleeps. Which thread does what changes no result: jobs
 * say where their results go.
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
    pthread_mutex_t lock; /* of all below, and of the crews */
    pthread_cond_t changed;
    struct crew *crews; /* oldest first: those of jobs come after the one whose jobs they are */
    int n_helpers;      /* asked for: where OpenMP is limited there may be fewer */
};

struct crew {
    struct team *team;
    struct crew *next;
    bool is_inner; /* of a job */
    int n_threads;
    const struct crew_work *work; /* or NULL */
    void *self;                   /* of the work */
    int64_t n_running;            /* jobs of it */
    struct crew_task *tasks;
    bool is_taken[MAX_WORKERS]; /* while there is a worker of this number */
};

/* All helpers, and the crews that have more than one thread. */
static struct team everybody = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};

/* This thread helps or leads: a crew that it leads now is an inner one. */
static _Thread_local bool is_member;

/* --- with the lock held, which is given up only while working --- */

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

/* Tasks first, so that they keep pace with the work. The leader of a crew (own; NULL: a helper) is
 * wanted there, and takes steps, which may be long, only when nobody else can or there is nothing
 * else to do. It helps the crews of jobs only, and between jobs of its own job takes no steps. */
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

/* Helpers that are on their way. Under the lock: */
struct start {
    int n_wanted, n_come;
    bool is_over;
};

/* Make helpers by a team of OpenMP, which is never left. */
static void *host(void *start_of_all)
{
    struct start *start = start_of_all;
    /* Where threads are bound to places the first of these is the leader's. */
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

/* More helpers, with the lock held, for as long as the program runs. Nobody waits for a single one:
 * it would take the time in which it finds a processor. A team must be there before there is
 * something to lose: OpenMP ends the program where it gets no threads. */
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
