/*
 * crew.h - threads that share work. A crew is a leader, the thread that calls crew_run, and the
 * helper threads, which sleep while there is nothing to do and stay until the program ends.
 *
 * A crew has one work at a time, whose jobs are handed out one by one as they become due, and any
 * number of tasks that advance a step at a time beside it. The leader takes part while it waits. A
 * job may lead a crew of its own, which idle threads help too. Helpers sleep on a condition
 * variable because threads that wait in OpenMP's own loops spin. After fork() a child has no
 * helpers: its crews consist of their leaders.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Usable processors (affinity and OMP_NUM_THREADS count); at least 1. */
int threads_usable(void);

/* "OpenMP 4.5" or "no OpenMP", for --version. */
const char *threads_library(void);

struct crew; /* opaque */

/* A source of jobs. `take` and `end` run under the crew's lock and must be quick; the state they
 * use may be changed under that lock only. */
struct crew_work {
    bool (*take)(void *self, int64_t *job); /* get a job that is due; false: there is none now */
    /* Do a job, without the lock. No two jobs run at once with the same worker number. */
    void (*run)(void *self, int64_t job, int worker);
    void (*end)(void *self, int64_t job); /* the job is done */
};

/* Something beside the work that advances by steps, one at a time, on any thread. */
struct crew_task {
    bool (*is_due)(void *self); /* a step is due; called under the crew's lock */
    void (*step)(void *self);
    void *self;

    bool is_running; /* internal to the crew, as is the rest */
    struct crew_task *next;
};

/* Run lead(self, crew) on the calling thread, helped by up to n_threads - 1 others. Inside a job no
 * new threads are made. Returns what lead returns, by which time every work must have ended and
 * every task been dropped. */
int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self);

/* The maximal number of threads: worker numbers are below it. */
int crew_size(const struct crew *crew);

/* Start a work, which is borrowed until crew_end; the previous one must have ended. */
void crew_begin(struct crew *crew, const struct crew_work *work, void *self);

/* Stop taking jobs; returns when those taken are done. */
void crew_end(struct crew *crew);

/* Add a task, which is borrowed until it is dropped. Earlier tasks take precedence. */
void crew_add_task(struct crew *crew, struct crew_task *task);

/* Remove a task; returns when no step of it is running. Accepts one that was never added. */
void crew_drop_task(struct crew *crew, struct crew_task *task);

/* Take part in the work until is_over(self), called under the lock, is true. */
void crew_await(struct crew *crew, bool (*is_over)(void *self), void *self);

/* Hold the lock while changing what take, is_due or is_over depend on. Unlocking wakes everybody.
 */
void crew_lock(struct crew *crew);
void crew_unlock(struct crew *crew);

/* One of many equal jobs. */
typedef void (*crew_job)(void *self, int64_t i, int worker);

/* Run jobs 0 to n_jobs - 1, in a crew of their own, and return when all are done. */
void crew_run_each(int n_threads, int64_t n_jobs, crew_job job, void *self);
