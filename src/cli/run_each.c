/*
 * run_each.c - from inputs to plans: one for all of them, or with --out-dir one each.
 *
 * A large input has all threads to itself. Small ones, whose beginning and end take as long as what
 * is between, are worked on side by side, a thread for each. What such a job has to say is kept
 * until all before it have had their say, and after the first failure nobody is heard any more:
 * what is printed, and which failure is told, does not depend on the number of threads.
 */
#include "cli/cli.h"

#include "base/crew.h"
#include "engine/survey.h"
#include "positions/positions.h"

#include <stdlib.h>
#include <sys/stat.h>

#define SMALL_NBYTES    (4 << 20) /* of an input file */
#define MAX_AT_ONCE     128       /* inputs; so many outputs may be open */
#define JOBS_PER_THREAD 4         /* done, or being done, that have not had their say */

int run_inputs(const struct settings *settings, const struct text_list *inputs, const char *output,
               json_t **stats, struct error *err)
{
    struct plan plan;
    int status;

    if (plan_build(&plan, (const char *const *)inputs->items, inputs->n, settings, err) != 0)
        return -1;
    status = settings->canonical || settings->orbit_key ? images_of_keys(&plan, settings, err) : 0;
    if (status == 0)
        status = run_plan(settings, &plan, output, stats, err);
    plan_release(&plan);
    return status;
}

/* One input of --out-dir: its output has its base name, and its random choices depend on it. */
static int run_one(const struct settings *settings, char *input, json_t **stats, struct error *err)
{
    const struct text_list inputs = {.items = &input, .n = 1};
    struct settings one = *settings; /* what it owns stays the caller's */
    struct text output = {0};
    int n, status;

    one.seed_name = text_last_name(input, &n);
    status = text_append(&output, err, "%s/%.*s", settings->out_dir, n, one.seed_name);
    if (status == 0) {
        one.seed_name = text_base_name(output.text);
        run_settle_form(&one, output.text);
        status = run_inputs(&one, &inputs, output.text, stats, err);
    }
    text_release(&output);
    return status;
}

/* --- side by side --- */

/* An input on one thread. */
struct job {
    struct meter meter; /* what the job tells, until it is told on */
    uint64_t n_bytes;
    char *said; /* owned, as is the next */
    json_t *stats;
    struct error err;
    int status;
    bool is_done;
};

/* All inputs, and what has become of those before n_told. */
struct each {
    const struct settings *settings;
    const struct text_list *inputs;
    struct survey_seen seen;
    json_t **stats;
    struct error *err;
    size_t n_skipped, n_differ;
    bool has_failed;

    /* Under the crew's lock, while there is one. */
    struct job *jobs; /* owned: input i has jobs[i % n_jobs] */
    size_t n_jobs, n_taken, n_told, end;
};

static void judge(struct each *e, int status, const struct error *err)
{
    e->n_differ += status > 0;
    if (status >= 0)
        return;
    if (!e->settings->skip_bad || (err->kind != ERROR_DATA && err->kind != ERROR_NO_INPUT)) {
        e->has_failed = true;
        error_pass(e->err, err);
        return;
    }
    e->n_skipped++;
    command_say(e->settings, "skipped: %s", err->message);
}

static void note_bytes(struct meter *meter, uint64_t n_done, uint64_t n_total)
{
    (void)n_total;
    ((struct job *)meter)->n_bytes = n_done;
}

static bool take_job(void *self, int64_t *job)
{
    struct each *e = self;

    if (e->has_failed || e->n_taken == e->end || e->n_taken == e->n_told + e->n_jobs)
        return false;
    *job = (int64_t)e->n_taken++;
    e->jobs[(size_t)*job % e->n_jobs] = (struct job){.meter.show = note_bytes};
    return true;
}

static void run_job(void *self, int64_t i, int worker)
{
    const struct each *e = self;
    struct job *job = &e->jobs[(size_t)i % e->n_jobs];
    struct settings one = *e->settings;
    size_t n_said;

    (void)worker;
    one.n_threads = 1;
    one.meter = one.meter != NULL ? &job->meter : NULL;
    one.said = open_memstream(&job->said, &n_said);
    job->status = one.said != NULL ? run_one(&one, e->inputs->items[i], &job->stats, &job->err)
                                   : error_no_memory(&job->err, "messages");
    if (one.said != NULL && fclose(one.said) != 0 && job->status >= 0)
        job->status = error_no_memory(&job->err, "messages");
}

/* A job is done: the next ones that are have their say. */
static void end_job(void *self, int64_t i)
{
    struct each *e = self;
    struct meter *meter = e->settings->meter;

    e->jobs[(size_t)i % e->n_jobs].is_done = true;
    while (e->n_told < e->n_taken && e->jobs[e->n_told % e->n_jobs].is_done) {
        struct job *job = &e->jobs[e->n_told % e->n_jobs];

        for (size_t k = 0; k < job->meter.n_begun && !e->has_failed; k++)
            meter_begin(meter, "writing", e->inputs->items[e->n_told]);
        if (!e->has_failed) {
            meter_step(meter, job->n_bytes, job->n_bytes);
            if (job->said != NULL && job->said[0] != '\0') {
                progress_hide(e->settings);
                fputs(job->said, stderr);
            }
            if (job->stats != NULL && *e->stats == NULL)
                *e->stats = json_array();
            if (job->stats != NULL)
                json_array_extend(*e->stats, job->stats);
            judge(e, job->status, &job->err);
        }
        free(job->said);
        json_decref(job->stats);
        e->n_told++;
    }
}

static bool are_told(void *self)
{
    const struct each *e = self;

    return e->n_told == e->n_taken && (e->has_failed || e->n_told == e->end);
}

static int run_jobs(void *self, struct crew *crew)
{
    static const struct crew_work work = {take_job, run_job, end_job};
    struct each *e = self;

    e->n_jobs = (size_t)crew_size(crew) * JOBS_PER_THREAD;
    e->jobs = calloc(e->n_jobs, sizeof *e->jobs);
    if (e->jobs == NULL)
        return error_no_memory(e->err, "inputs side by side");
    crew_begin(crew, &work, e);
    crew_await(crew, are_told, e);
    crew_end(crew);
    free(e->jobs);
    return 0;
}

/* --- all of them --- */

static void see_input(void *self, int64_t i, int worker)
{
    struct each *e = self;

    (void)worker;
    plan_see(e->inputs->items[i], e->settings, &e->seen);
}

int run_each(const struct settings *settings, const struct text_list *inputs, json_t **stats,
             struct error *err)
{
    const int n_threads = settings->n_threads < MAX_AT_ONCE ? settings->n_threads : MAX_AT_ONCE;
    struct settings with_seen = *settings;
    struct each e = {.settings = settings,
                     .inputs = inputs,
                     .seen = {.lock = PTHREAD_MUTEX_INITIALIZER},
                     .stats = stats,
                     .err = err};
    int status = run_make_folder(settings, err);

    /* Codings are decided by all inputs together, though each of them has a plan of its own. */
    if (status == 0 && inputs->n > 1)
        crew_run_each(settings->n_threads, (int64_t)inputs->n, see_input, &e);
    if (e.seen.failure.kind != ERROR_NONE)
        status = error_pass(err, &e.seen.failure);
    with_seen.seen = &e.seen;
    e.settings = &with_seen;
    meter_expect(settings->meter, inputs->n * (settings->canonical || settings->orbit_key ? 2 : 1));
    /* From n_told on: as many as are small and follow each other, or one. */
    while (status == 0 && !e.has_failed && e.n_told < inputs->n) {
        struct error one = {0};
        struct stat st;

        e.end = e.n_told;
        while (n_threads > 1 && !settings->dry_run && e.end < inputs->n &&
               stat(inputs->items[e.end], &st) == 0 && S_ISREG(st.st_mode) &&
               st.st_size <= SMALL_NBYTES)
            e.end++;
        if (e.end >= e.n_told + 2) {
            status = crew_run(n_threads, run_jobs, &e);
        } else {
            judge(&e, run_one(e.settings, inputs->items[e.n_told], stats, &one), &one);
            e.n_taken = ++e.n_told;
        }
    }
    survey_seen_release(&e.seen);
    if (status != 0 || e.has_failed)
        return -1;
    if (e.n_differ > 0)
        command_say(settings, "%zu of %zu outputs are there but differ, and were left alone",
                    e.n_differ, inputs->n);
    if (e.n_skipped > 0)
        command_say(settings, "%zu of %zu inputs were skipped", e.n_skipped, inputs->n);
    return e.n_differ + e.n_skipped > 0;
}
