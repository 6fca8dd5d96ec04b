/*
 * crew.h - a team of threads that sleeps while there is nothing to do: one leads, the others, which
 * stay until the program ends, do jobs for it. A child of fork() has none of them: its crews are
 * their leaders alone.
 *
 * There is one work at a time, whose jobs are handed out one after another as they become due, and
 * a few tasks beside it that go a step at a time. The leader takes part while it waits. A job may
 * lead a crew in turn: whoever has nothing else to do helps all of those. Threads that wait in
 * OpenMP's own loops spin, on processors that others may want.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Usable processors (affinity and OMP_NUM_THREADS count); at least 1. */
int threads_usable(void);

/* "OpenMP 4.5" or "no OpenMP": for --version. */
const char *threads_library(void);

struct crew; /* opaque */

/* What there is to do. `take` and `end` run under the crew's lock and must be quick; what they look
 * at may be changed under that lock only. */
struct crew_work {
    bool (*take)(void *self, int64_t *job);           /* a job that is due now, if there is one */
    void (*run)(void *self, int64_t job, int worker); /* no two at once with one number */
    void (*end)(void *self, int64_t job);             /* it is done */
};

/* Something beside the work: one step at a time, by any thread, whenever one is due. */
struct crew_task {
    bool (*is_due)(void *self); /* under the crew's lock */
    void (*step)(void *self);
    void *self;

    bool is_running; /* the crew's own, as is the rest */
    struct crew_task *next;
};

/* Run lead(self, crew) on the calling thread, with n_threads - 1 others to help it as they find
 * time; in a job no new ones are made for that. Returns what lead returns. Every work must have
 * ended and every task been dropped. */
int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self);

/* The most threads that there can be: workers have indices below it. */
int crew_size(const struct crew *crew);

/* Begin with a work; the one before must have ended. It must outlive its end. */
void crew_begin(struct crew *crew, const struct crew_work *work, void *self);

/* No more jobs are taken; returns when those taken are done. */
void crew_end(struct crew *crew);

/* Add a task, which is borrowed until it is dropped: the ones added first come first. */
void crew_add_task(struct crew *crew, struct crew_task *task);

/* Take a task away; returns when no step of it is running. Accepts one that was never added. */
void crew_drop_task(struct crew *crew, struct crew_task *task);

/* Take part until is_over(self), which is asked under the lock, says so. */
void crew_await(struct crew *crew, bool (*is_over)(void *self), void *self);

/* Around a change of what decides about what is due: then everybody looks again. */
void crew_lock(struct crew *crew);
void crew_unlock(struct crew *crew);

/* Job i of a row of equal ones. */
typedef void (*crew_job)(void *self, int64_t i, int worker);

/* Begin with jobs 0 .. n_jobs - 1, and end when all are done; with a crew of their own. */
void crew_each(struct crew *crew, int64_t n_jobs, crew_job job, void *self);
void crew_run_each(int n_threads, int64_t n_jobs, crew_job job, void *self);
