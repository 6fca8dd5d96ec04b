/*
 * crew.h - a team of OpenMP threads that sleeps while there is nothing to do: one leads, the others
 * take jobs from it.
 *
 * The leader posts a row of jobs, goes on with work of its own, and takes part when it waits for
 * them. Threads that wait in OpenMP's own loops spin, on processors that others may want.
 */
#ifndef SYMAUG_ENGINE_CREW_H
#define SYMAUG_ENGINE_CREW_H

#include <stdint.h>

struct crew; /* opaque */

/* Job i of those posted, done by thread `worker`: 0 is the leader, others count from 1. */
typedef void (*crew_job)(void *self, int64_t i, int worker);

/* Run lead(self, crew) on the calling thread, with n_threads - 1 others to help it. Returns what
 * lead returns. Every job posted must have been waited for. */
int crew_run(int n_threads, int (*lead)(void *self, struct crew *crew), void *self);

/* The most threads that there can be: workers have indices below it. */
int crew_size(const struct crew *crew);

/* Hand out jobs 0 .. n_jobs - 1. The ones before must have been waited for. */
void crew_post(struct crew *crew, int64_t n_jobs, crew_job job, void *self);

/* Take part until all jobs are done; returns at once when none were posted. */
void crew_wait(struct crew *crew);

/* Post and wait. */
void crew_each(struct crew *crew, int64_t n_jobs, crew_job job, void *self);

#endif
