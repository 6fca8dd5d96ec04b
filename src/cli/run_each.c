/*
 * run_each.c - each input is processed by itself, several side by side, because reading, hashing
 * and writing one of them is serial: each input is a job with a leading thread, small ones have no
 * other, and idle threads help with large ones. A job's messages are held back until all jobs
 * before it have printed theirs, and dropped after the first failure, so that neither the output
 * nor the reported failure depends on the number of threads. A job that must have all memory runs
 * alone.
 */
#include "cli/cli.h"

#define SMALL_NBYTES    (1 << 20) /* of an input file */
#define MAX_AT_ONCE     128       /* inputs, which bounds the open outputs */
#define MAX_LARGE       16        /* large inputs at once: more would not be faster */
#define JOBS_PER_THREAD 4         /* jobs whose messages are held back, or that are running */

/* One input being processed. */
struct job {
    struct meter meter; /* the job's own, passed on when it is the first */
    struct each *each;
    uint64_t n_done, n_total;
    size_t n_shown; /* pieces of the meter that were passed on */
    char *said;     /* owned: messages */
    json_t *stats;  /* owned */
    struct error err;
    int status;
    bool is_done;
};

/* All inputs, and what became of those before n_told. */
struct each {
    const struct call *call;
    const struct settings *settings; /* of the call */
    run_input do_input;
    void *self;
    uint64_t *sizes; /* owned: of each input's file; a folder counts as a large one */
    json_t *stats;
    struct error *err;
    size_t n_skipped, n_differ;
    bool has_failed;

    /* Under the crew's lock, while there is one. */
    struct crew *crew;
    struct job *jobs; /* owned: input i has jobs[i % n_jobs] */
    size_t n_jobs, n_taken, n_told, n_running;
    uint64_t running_nbytes;
    bool runs_alone; /* the job that runs */
};

/* Pass on the progress of the first job whose messages are held back. */
static void show_front(struct each *e)
{
    struct job *job = &e->jobs[e->n_told % e->n_jobs];

    for (; job->n_shown < job->meter.n_begun && !e->has_failed; job->n_shown++)
        meter_begin(e->settings->meter, "writing", e->call->inputs.items[e->n_told]);
    if (!e->has_failed && job->n_shown > 0)
        meter_step(e->settings->meter, job->n_done, job->n_total);
}

static void note_bytes(struct meter *meter, uint64_t n_done, uint64_t n_total)
{
    struct job *job = (struct job *)meter;
    struct each *e = job->each;

    crew_lock(e->crew);
    job->n_done = n_done;
    job->n_total = n_total;
    if (job == &e->jobs[e->n_told % e->n_jobs])
        show_front(e);
    crew_unlock(e->crew);
}

/* How many inputs like this one may be processed at once, so that together they do not take more
 * memory than one of them alone could with all threads. Large ones whose rows all have to be in
 * memory may take all of --max-memory. */
static size_t at_once(const struct each *e, size_t i)
{
    const struct settings *s = e->settings;
    const bool is_small = e->sizes[i] <= SMALL_NBYTES, streams = s->block_rows > 0 && !s->shuffle;
    const size_t n_threads = (size_t)s->n_threads, n = e->call->inputs.n;

    if (s->dry_run || (!is_small && !streams))
        return 1;
    return smaller(n, is_small ? smaller(n_threads, MAX_AT_ONCE)
                               : smaller(n_threads / 2 + 1, MAX_LARGE));
}

static bool take_job(void *self, int64_t *job)
{
    struct each *e = self;
    const size_t i = e->n_taken;

    if (e->has_failed || i == e->call->inputs.n || i == e->n_told + e->n_jobs)
        return false;
    if (e->n_running > 0 && (e->runs_alone || e->n_running >= at_once(e, i) ||
                             e->running_nbytes + e->sizes[i] > e->settings->max_memory))
        return false;
    e->runs_alone = at_once(e, i) == 1;
    *job = (int64_t)e->n_taken++;
    e->n_running++;
    e->running_nbytes += e->sizes[i];
    e->jobs[i % e->n_jobs] = (struct job){.meter.show = note_bytes, .each = e};
    return true;
}

static void run_job(void *self, int64_t i, int worker)
{
    const struct each *e = self;
    struct job *job = &e->jobs[(size_t)i % e->n_jobs];
    const size_t n = at_once(e, (size_t)i);
    struct settings one = *e->settings; /* what it owns stays the caller's */
    size_t n_said;

    (void)worker;
    job->stats = json_array();
    if (n > 1) {
        one.n_helpers = one.n_threads;
        one.n_threads /= (int)n;
        one.meter = one.meter != NULL ? &job->meter : NULL;
        one.said = open_memstream(&job->said, &n_said);
        if (one.said == NULL)
            job->status = error_no_memory(&job->err, "messages");
    }
    if (job->status == 0)
        job->status = e->do_input(&one, (size_t)i, job->stats, e->self, &job->err);
    if (one.said != NULL && fclose(one.said) != 0 && job->status >= 0)
        job->status = error_no_memory(&job->err, "messages");
}

/* A job is done: print the messages of the first jobs, as far as these are done. */
static void end_job(void *self, int64_t i)
{
    struct each *e = self;

    e->jobs[(size_t)i % e->n_jobs].is_done = true;
    e->n_running--;
    e->running_nbytes -= e->sizes[i];
    while (e->n_told < e->n_taken && e->jobs[e->n_told % e->n_jobs].is_done) {
        struct job *job = &e->jobs[e->n_told % e->n_jobs];

        show_front(e);
        if (!e->has_failed) {
            if (job->said != NULL && job->said[0] != '\0') {
                progress_hide(e->settings);
                fputs(job->said, stderr);
            }
            json_array_extend(e->stats, job->stats);
            e->n_differ += job->status > 0;
        }
        if (!e->has_failed && job->status < 0 && e->settings->skip_bad &&
            (job->err.kind == ERROR_DATA || job->err.kind == ERROR_NO_INPUT)) {
            e->n_skipped++;
            command_say(e->settings, -1, "skipped: %s", job->err.message);
        } else if (!e->has_failed && job->status < 0) {
            e->has_failed = true;
            error_pass(e->err, &job->err);
        }
        free(job->said);
        json_decref(job->stats);
        e->n_told++;
    }
}

static bool are_told(void *self)
{
    const struct each *e = self;

    return e->n_told == e->n_taken && (e->has_failed || e->n_told == e->call->inputs.n);
}

/* Without a crew, one after the other. */
static int run_jobs(void *self, struct crew *crew)
{
    static const struct crew_work work = {take_job, run_job, end_job};
    struct each *e = self;
    int64_t i;

    e->crew = crew;
    e->n_jobs = crew != NULL ? (size_t)crew_size(crew) * JOBS_PER_THREAD : 1;
    if (new_items(&e->jobs, e->n_jobs, "inputs side by side", e->err) != 0)
        return -1;
    if (crew != NULL) {
        crew_begin(crew, &work, e);
        crew_await(crew, are_told, e);
        crew_end(crew);
    }
    while (crew == NULL && take_job(e, &i)) {
        run_job(e, i, 0);
        end_job(e, i);
    }
    free(e->jobs);
    return 0;
}

int run_each(const struct call *call, run_input do_input, void *self, json_t *stats,
             struct error *err)
{
    const struct settings *settings = &call->settings;
    const struct text_list *inputs = &call->inputs;
    struct each e = {.call = call,
                     .settings = settings,
                     .do_input = do_input,
                     .self = self,
                     .stats = stats,
                     .err = err};
    struct stat st;
    int status = new_items(&e.sizes, inputs->n, "inputs", err);

    for (size_t i = 0; i < inputs->n && status == 0; i++)
        if (stat(inputs->items[i], &st) == 0)
            e.sizes[i] = S_ISDIR(st.st_mode) ? SMALL_NBYTES + 1 : (uint64_t)st.st_size;
    /* What has nothing beside it takes as many threads as its size is worth. */
    if (status == 0)
        status = inputs->n == 1 || settings->dry_run ? run_jobs(&e, NULL)
                                                     : crew_run(settings->n_threads, run_jobs, &e);
    free(e.sizes);
    if (status != 0 || e.has_failed)
        return -1;
    if (e.n_differ > 0)
        command_say(settings, -1, "%zu of %zu outputs exist but differ, and were left alone",
                    e.n_differ, inputs->n);
    if (e.n_skipped > 0)
        command_say(settings, -1, "%zu of %zu inputs were skipped", e.n_skipped, inputs->n);
    return e.n_differ + e.n_skipped > 0;
}
