/* crew.c - see crew.h. */
#include "engine/crew.h"

#include "engine/threads.h"

#include <pthread.h>
#include <stdbool.h>

struct crew {
    int n_threads;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t posted, finished;
    crew_job job;
    void *self;
    int64_t n_jobs, next, n_finished;
    bool is_over;
};

/* Take the jobs that nobody has, one after another. The lock is held, but not while working. */
static void take_jobs(struct crew *crew, int worker)
{
    while (crew->next < crew->n_jobs) {
        const int64_t i = crew->next++;

        pthread_mutex_unlock(&crew->lock);
        crew->job(crew->self, i, worker);
        pthread_mutex_lock(&crew->lock);
        if (++crew->n_finished == crew->n_jobs)
            pthread_cond_signal(&crew->finished);
    }
}

static void help(struct crew *crew, int worker)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over) {
        take_jobs(crew, worker);
        if (!crew->is_over)
            pthread_cond_wait(&crew->posted, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
}

static void end(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->posted);
    pthread_mutex_unlock(&crew->lock);
}

int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self)
{
    struct crew crew = {
        .n_threads = n_threads > 0 ? n_threads : 1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .posted = PTHREAD_COND_INITIALIZER,
        .finished = PTHREAD_COND_INITIALIZER,
    };
    int status = 0;

#pragma omp parallel num_threads(crew.n_threads)
    if (threads_index() != 0) {
        help(&crew, threads_index());
    } else {
        status = lead(self, &crew);
        end(&crew);
    }
    pthread_cond_destroy(&crew.finished);
    pthread_cond_destroy(&crew.posted);
    pthread_mutex_destroy(&crew.lock);
    return status;
}

int crew_size(const struct crew *crew)
{
    return crew->n_threads;
}

void crew_post(struct crew *crew, int64_t n_jobs, crew_job job, void *self)
{
    pthread_mutex_lock(&crew->lock);
    crew->job = job;
    crew->self = self;
    crew->n_jobs = n_jobs;
    crew->next = crew->n_finished = 0;
    pthread_cond_broadcast(&crew->posted);
    pthread_mutex_unlock(&crew->lock);
}

void crew_wait(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    take_jobs(crew, 0);
    while (crew->n_finished < crew->n_jobs)
        pthread_cond_wait(&crew->finished, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}

void crew_each(struct crew *crew, int64_t n_jobs, crew_job job, void *self)
{
    crew_post(crew, n_jobs, job, self);
    crew_wait(crew);
}
