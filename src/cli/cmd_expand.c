/*
 * cmd_expand.c - symaug expand: what its options allow, the command line that refusals quote, and
 * from inputs to plans: one for all of them, or with --out-dir one each.
 *
 * Inputs are worked on side by side, as one thread at a time reads an input, hashes it and writes
 * its output: each has a thread that leads, small ones no other, and whoever has no input of its
 * own helps those of large ones. What such a job has to say is kept until all before it have had
 * their say, and after the first failure nobody is heard any more: what is printed, and which
 * failure is told, does not depend on the number of threads.
 */
#include "cli/cli.h"

#include "base/crew.h"
#include "engine/survey.h"
#include "positions/positions.h"

#include <sys/stat.h>

#define SMALL_NBYTES    (1 << 20) /* of an input file */
#define MAX_AT_ONCE     128       /* inputs; so many outputs may be open */
#define MAX_LARGE       16        /* with more of them nothing waits for one thread */
#define JOBS_PER_THREAD 4         /* done, or being done, that have not had their say */

/* All inputs into one output. As run_plan. */
static int run_inputs(const struct settings *settings, const struct text_list *inputs,
                      const char *output, json_t *stats, struct error *err)
{
    struct plan plan;

    if (plan_build(&plan, (const char *const *)inputs->items, inputs->n, settings, err) != 0)
        return -1;
    int status =
        settings->canonical || settings->orbit_key ? images_of_keys(&plan, settings, err) : 0;
    if (status == 0)
        status = run_plan(settings, &plan, output, stats, err);
    plan_release(&plan);
    return status;
}

/* One input of --out-dir: its output has its base name, and its random choices depend on it. */
static int run_one(const struct settings *settings, char *input, json_t *stats, struct error *err)
{
    const struct text_list inputs = {.items = &input, .n = 1};
    struct settings one = *settings; /* what it owns stays the caller's */
    struct text output = {0};
    int n;

    one.seed_name = text_last_name(input, &n);
    int status = text_append(&output, err, "%s/%.*s", settings->out_dir, n, one.seed_name);
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
    struct each *each;
    uint64_t n_done, n_total;
    size_t n_shown; /* of the meter's pieces */
    char *said;     /* owned, as is the next */
    json_t *stats;
    struct error err;
    int status;
    bool is_done;
};

/* All inputs, and what has become of those before n_told. */
struct each {
    const struct settings *settings;
    const struct text_list *inputs;
    uint64_t *n_bytes; /* owned: of each input file */
    json_t *stats;
    struct error *err;
    size_t n_skipped, n_differ;
    bool has_failed;

    /* Under the crew's lock, while there is one. */
    struct crew *crew;
    struct job *jobs; /* owned: input i has jobs[i % n_jobs] */
    size_t n_jobs, n_taken, n_told, n_running, end;
    uint64_t running_nbytes;
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

/* How far the first input is that has not had its say. */
static void show_front(struct each *e)
{
    struct job *job = &e->jobs[e->n_told % e->n_jobs];

    for (; job->n_shown < job->meter.n_begun && !e->has_failed; job->n_shown++)
        meter_begin(e->settings->meter, "writing", e->inputs->items[e->n_told]);
    if (!e->has_failed)
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

/* So many inputs like this one may be worked on at once: what one of them alone has in memory, or
 * can be expected to have, all of them have together. */
static size_t at_once(const struct each *e, size_t i)
{
    const size_t n_threads = (size_t)e->settings->n_threads;
    const size_t most = e->n_bytes[i] > SMALL_NBYTES ? n_threads / 2 + 1 : n_threads;
    const size_t limit = e->n_bytes[i] > SMALL_NBYTES ? MAX_LARGE : MAX_AT_ONCE;

    return most < limit ? most : limit;
}

static bool take_job(void *self, int64_t *job)
{
    struct each *e = self;
    const size_t i = e->n_taken;

    if (e->has_failed || i == e->end || i == e->n_told + e->n_jobs)
        return false;
    if (e->n_running > 0 && (e->n_running >= at_once(e, i) ||
                             e->running_nbytes + e->n_bytes[i] > e->settings->max_memory))
        return false;
    *job = (int64_t)e->n_taken++;
    e->n_running++;
    e->running_nbytes += e->n_bytes[i];
    e->jobs[i % e->n_jobs] = (struct job){.meter.show = note_bytes, .each = e};
    return true;
}

static void run_job(void *self, int64_t i, int worker)
{
    const struct each *e = self;
    struct job *job = &e->jobs[(size_t)i % e->n_jobs];
    struct settings one = *e->settings;
    size_t n_said, n = at_once(e, (size_t)i);

    (void)worker;
    if (n > e->inputs->n)
        n = e->inputs->n;
    one.n_helpers = one.n_threads;
    one.n_threads /= (int)n;
    one.meter = one.meter != NULL ? &job->meter : NULL;
    job->stats = json_array();
    one.said = open_memstream(&job->said, &n_said);
    job->status = one.said != NULL ? run_one(&one, e->inputs->items[i], job->stats, &job->err)
                                   : error_no_memory(&job->err, "messages");
    if (one.said != NULL && fclose(one.said) != 0 && job->status >= 0)
        job->status = error_no_memory(&job->err, "messages");
}

/* A job is done: the next ones that are have their say. */
static void end_job(void *self, int64_t i)
{
    struct each *e = self;

    e->jobs[(size_t)i % e->n_jobs].is_done = true;
    e->n_running--;
    e->running_nbytes -= e->n_bytes[i];
    while (e->n_told < e->n_taken && e->jobs[e->n_told % e->n_jobs].is_done) {
        struct job *job = &e->jobs[e->n_told % e->n_jobs];

        show_front(e);
        if (!e->has_failed) {
            if (job->said != NULL && job->said[0] != '\0') {
                progress_hide(e->settings);
                fputs(job->said, stderr);
            }
            json_array_extend(e->stats, job->stats);
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

    e->crew = crew;
    e->n_jobs = (size_t)crew_size(crew) * JOBS_PER_THREAD;
    if (new_items(&e->jobs, e->n_jobs, "inputs side by side", e->err) != 0)
        return -1;
    crew_begin(crew, &work, e);
    crew_await(crew, are_told, e);
    crew_end(crew);
    free(e->jobs);
    return 0;
}

/* --- all of them --- */

/* Each input into an output of its own, in the folder of --out-dir, small ones side by side. As
 * run_plan; 1 also where --skip-bad skipped an input. */
static int run_each(const struct settings *settings, const struct text_list *inputs, json_t *stats,
                    struct error *err)
{
    struct survey_seen seen = {.n = 0};
    struct settings with_seen = *settings;
    struct each e = {.settings = &with_seen,
                     .inputs = inputs,
                     .n_bytes = calloc(inputs->n + 1, sizeof *e.n_bytes),
                     .stats = stats,
                     .err = err};
    /* Large inputs go alone where an output has all rows at hand, which may take all of
     * --max-memory. */
    const bool streams = settings->block_rows > 0 && !settings->shuffle;
    const bool any_beside = settings->n_threads > 1 && !settings->dry_run;
    int status =
        e.n_bytes != NULL ? run_make_folder(settings, err) : error_no_memory(err, "inputs");

    /* Codings are decided by all inputs together, though each of them has a plan of its own. */
    if (status == 0 && inputs->n > 1)
        status = plan_see(inputs->items, inputs->n, settings, &seen, err);
    with_seen.seen = &seen;
    meter_expect(settings->meter, inputs->n * (settings->canonical || settings->orbit_key ? 2 : 1));
    /* From n_told on: as many as may go beside each other, or one. */
    while (status == 0 && !e.has_failed && e.n_told < inputs->n) {
        struct error one = {0};
        struct stat st;

        for (e.end = e.n_told; e.end < inputs->n && any_beside; e.end++) {
            if (stat(inputs->items[e.end], &st) != 0)
                break;
            e.n_bytes[e.end] = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : SMALL_NBYTES + 1;
            if (e.n_bytes[e.end] > SMALL_NBYTES && !streams)
                break;
        }
        if (e.end >= e.n_told + 2) {
            status = crew_run(settings->n_threads, run_jobs, &e);
        } else {
            judge(&e, run_one(e.settings, inputs->items[e.n_told], stats, &one), &one);
            e.n_taken = ++e.n_told;
        }
    }
    survey_seen_release(&seen);
    free(e.n_bytes);
    if (status != 0 || e.has_failed)
        return -1;
    if (e.n_differ > 0)
        command_say(settings, "%zu of %zu outputs are there but differ, and were left alone",
                    e.n_differ, inputs->n);
    if (e.n_skipped > 0)
        command_say(settings, "%zu of %zu inputs were skipped", e.n_skipped, inputs->n);
    return e.n_differ + e.n_skipped > 0;
}

/* --- the command --- */

static int run_expand(struct call *call, struct error *err)
{
    struct settings *s = &call->settings;
    const struct {
        bool is_wrong;
        const char *why;
    } rules[] = {
        {s->output != NULL && s->out_dir != NULL, "--output and --out-dir exclude each other"},
        {s->keep_identity && s->pick == 0, "--keep-identity goes with --pick"},
        {s->canonical && (s->transforms != NULL || s->pick > 0 || s->unique),
         "--canonical excludes --transforms, --pick, --unique and --keep-identity"},
        {s->canonical && (s->conventions.castling == CASTLING_SKIP ||
                          s->conventions.ambiguous == AMBIGUOUS_DROP),
         "--canonical excludes --castling skip and --ambiguous drop, which leave images out"},
        {s->key != NULL && !s->canonical && !s->orbit_key,
         "--key goes with --canonical or --orbit-key"},
        {s->n_parts > 0 && s->out_dir == NULL, "--part goes with --out-dir"},
        {s->skip_bad && s->out_dir == NULL, "--skip-bad goes with --out-dir"},
        {s->skip_existing && s->form == ARCHIVE_OUT_NPY_FOLDER,
         "--skip-existing does not work on folders"},
    };
    struct text command = {0}, operands = {0}, *to = &command;

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].is_wrong)
            return command_misuse(err, "%s", rules[i].why);
    /* The command line as a shell reads it, for refusals that add to it: first what may be followed
     * by options, then the rest. */
    json_t *stats = json_array();
    int status = text_append(&command, err, "symaug expand");
    if (status == 0)
        status = text_append(&operands, err, "%s", "");
    for (char **word = call->words + 1; *word != NULL && status == 0; word++) {
        if (strcmp(*word, "--") == 0)
            to = &operands;
        status = text_append(to, err, " ") == 0 ? text_append_shell(to, *word, err) : -1;
    }
    s->roles.command = command.text;
    s->roles.operands = operands.text;
    if (s->canonical && !s->order_said) { /* nothing to keep apart */
        s->block_rows = 1;
        s->order_text = "sample";
    }
    if (status == 0)
        status = run_take_operands(call, err);
    if (status == 0)
        status = s->out_dir == NULL ? run_inputs(s, &call->inputs, s->output, stats, err)
                                    : run_each(s, &call->inputs, stats, err);
    if (status < 0 || s->stats == NULL || s->dry_run)
        json_decref(stats);
    else if (command_put_json(s->stats,
                              json_pack("{s:o, s:i}", "outputs", stats, "threads", s->n_threads),
                              err) != 0)
        status = -1;
    text_release(&command);
    text_release(&operands);
    return status;
}

const struct command command_expand = {
    "expand",
    "[OPTION]... IN OUT  |  -o OUT IN...  |  --out-dir DIR IN...",
    "write every symmetric image of every row",
    "IN is an .npz file, a .npy file or a folder of .npy files. OUT gets every image of every row "
    "and OUT.manifest.json says what was done. An existing OUT is kept unless -f is given. Split "
    "training and validation data before expanding, and shuffle the result when training.",
    "expand --board go9 games.npz games_all.npz",
    run_expand,
};
