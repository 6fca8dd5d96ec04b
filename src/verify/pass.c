/*
 * pass.c - see pass.h.
 *
 * Two windows of rows take turns: a crew checks the front one, cut into a fixed number of pieces,
 * while it reads the lanes of the back one. Each piece keeps findings and tallies of its own, which
 * are joined in order after every window.
 */
#include "verify/pass.h"

#include "base/crew.h"
#include "verify/adapt.h"
#include "verify/checks.h"
#include "verify/diagnose.h"
#include "verify/rules.h"
#include "verify/smear.h"

#include <stdlib.h>

#define WINDOW_NBYTES   (8u << 20)
#define MAX_WINDOW_ROWS 65536
#define N_PIECES        32 /* of a window; fixed, so that the result depends on no thread count */

/* What one piece of a window gathers. */
struct piece {
    struct findings findings;
    struct rules rules;
    struct smear smear;
    struct key_room room;
    struct error error;
};

struct run {
    const struct verify_pass *pass;
    struct window front, back;
    struct piece pieces[N_PIECES];
    struct orbit_cursor cursor;
    uint64_t n_wanted, next_row;
    struct error *lane_errors; /* owned, one per lane */
    struct crew *crew;         /* borrowed */
    struct rules rules;
    struct smear smear;
    struct error *err; /* borrowed */
};

/* --- one piece --- */

static void check_position(const struct run *run, struct piece *piece, uint64_t at)
{
    const struct verify_pass *pass = run->pass;
    const struct row_check check = {pass->lanes, &run->front, &pass->lanes->shard->conventions,
                                    &piece->findings};

    for (size_t i = 0; i < pass->lanes->n; i++)
        check_own_row(&check, i, at);
    rules_check_row(&piece->rules, &check, at);
    smear_check_row(&piece->smear, pass->lanes, &run->front, at);
    if (pass->leaks != NULL)
        leak_check_row(pass->leaks, pass->lanes, &run->front, at, &piece->room, &piece->findings);
}

/* all: every lane; else those only that are not compared with other images. */
static void check_image(const struct run *run, struct piece *piece, uint64_t at, bool all)
{
    const struct verify_pass *pass = run->pass;
    const struct row_check check = {pass->lanes, &run->front, &pass->lanes->shard->conventions,
                                    &piece->findings};

    for (size_t i = 0; i < pass->lanes->n; i++)
        if (all || !pass->lanes->items[i].is_mapped)
            check_row(&check, i, at);
}

static int check_group(const struct run *run, struct piece *piece, uint64_t g)
{
    const struct window *window = &run->front;
    const struct diagnosis d = {
        .lanes = run->pass->lanes,
        .window = window,
        .groups = run->pass->groups,
        .members = window->members + window->groups[g],
        .n = window->groups[g + 1] - window->groups[g],
        .findings = &piece->findings,
    };

    const uint64_t n_before = piece->findings.n_errors;
    const bool is_exact = diagnose_is_exact(&d);

    /* What is sound in one image is sound in all that are exactly its images. */
    for (uint64_t m = 0; m < d.n; m++)
        check_image(run, piece, d.members[m],
                    m == 0 || !is_exact || piece->findings.n_errors > n_before);
    check_position(run, piece, d.members[0]);
    return is_exact ? 0 : diagnose_group(&d, &piece->error);
}

/* The p-th part of the window's groups, or rows. */
static void check_piece(struct run *run, size_t p)
{
    const struct window *window = &run->front;
    const bool by_groups = run->pass->groups != NULL;
    const uint64_t n = by_groups ? window->n_groups : window->n;
    const uint64_t begin = n * p / N_PIECES, end = n * (p + 1) / N_PIECES;
    struct piece *piece = &run->pieces[p];

    for (uint64_t i = begin; i < end && piece->error.kind == ERROR_NONE; i++) {
        if (by_groups) {
            check_group(run, piece, i);
            continue;
        }
        check_image(run, piece, i, true);
        check_position(run, piece, i);
    }
}

/* --- windows --- */

static int next_window(struct run *run, struct error *err)
{
    const struct verify_pass *pass = run->pass;
    struct window *window = &run->back;
    const uint64_t left = pass->lanes->shard->n_rows - run->next_row;

    if (pass->groups != NULL)
        return orbit_cursor_next(&run->cursor, window, run->n_wanted, err);
    window->n = left < run->n_wanted ? left : run->n_wanted;
    for (uint64_t i = 0; i < window->n; i++)
        window->images[i] = (struct lane_image){.row = run->next_row + i};
    run->next_row += window->n;
    return 0;
}

static void work_job(void *self, int64_t job, int worker)
{
    struct run *run = self;
    struct lanes *lanes = run->pass->lanes;

    (void)worker;
    if (job >= (int64_t)lanes->n)
        check_piece(run, (size_t)job - lanes->n);
    else if (run->back.n > 0)
        window_read_lane(&run->back, lanes, (size_t)job, &run->lane_errors[job]);
}

/* Check the front window while the back one is read. */
static void work(struct run *run)
{
    crew_each(run->crew, (int64_t)run->pass->lanes->n + N_PIECES, work_job, run);
}

/* Lanes that cannot be read on are reported and left out from now on. */
static int judge_lanes(struct run *run, struct error *err)
{
    for (size_t i = 0; i < run->pass->lanes->n; i++) {
        struct lane *lane = &run->pass->lanes->items[i];

        if (run->lane_errors[i].kind == ERROR_NONE)
            continue;
        lane->is_broken = true;
        if (verify_read_failed(run->pass->result, lane->array->key, &run->lane_errors[i], err) != 0)
            return -1;
        run->lane_errors[i] = (struct error){0};
    }
    return 0;
}

static int join_pieces(struct run *run, struct error *err)
{
    for (size_t p = 0; p < N_PIECES; p++) {
        struct piece *piece = &run->pieces[p];

        if (piece->error.kind != ERROR_NONE)
            return error_pass(err, &piece->error);
        findings_merge(&run->pass->result->findings, &piece->findings);
        rules_merge(&run->rules, &piece->rules);
        smear_merge(&run->smear, &piece->smear);
    }
    return 0;
}

static int walk(void *self, struct crew *crew)
{
    struct run *run = self;
    const struct verify_pass *pass = run->pass;
    struct error *err = run->err;
    bool is_first = true;

    run->crew = crew;
    if (next_window(run, err) != 0)
        return -1;
    work(run); /* the front is empty: only reads */
    while (run->back.n > 0) {
        struct window front = run->front;

        if (judge_lanes(run, err) != 0)
            return -1;
        run->front = run->back;
        run->back = front;
        if ((is_first && pass->groups != NULL &&
             adapt(pass->lanes, &run->front, &run->rules, pass->result, err) != 0) ||
            next_window(run, err) != 0)
            return -1;
        work(run);
        if (join_pieces(run, err) != 0)
            return -1;
        is_first = false;
    }
    return judge_lanes(run, err);
}

/* --- the run --- */

static int init(struct run *run, struct error *err)
{
    const struct verify_pass *pass = run->pass;
    const struct lanes *lanes = pass->lanes;
    const size_t max = pass->request->settings->max_findings;
    uint64_t capacity = WINDOW_NBYTES / (lanes->row_nbytes + 1) + 1;

    run->n_wanted = capacity = capacity < MAX_WINDOW_ROWS ? capacity : MAX_WINDOW_ROWS;
    if (pass->groups != NULL)
        capacity = orbit_groups_capacity(pass->groups, run->n_wanted);
    run->lane_errors = calloc(lanes->n + 1, sizeof *run->lane_errors);
    if (run->lane_errors == NULL)
        return error_no_memory(err, "arrays");
    if (window_init(&run->front, lanes, capacity, err) != 0 ||
        window_init(&run->back, lanes, capacity, err) != 0 ||
        rules_init(&run->rules, lanes, max, err) != 0 || smear_init(&run->smear, lanes, err) != 0)
        return -1;
    for (struct piece *piece = run->pieces; piece < run->pieces + N_PIECES; piece++) {
        piece->findings.max = max;
        if (rules_init_part(&piece->rules, &run->rules, err) != 0 ||
            smear_init(&piece->smear, lanes, err) != 0 ||
            (pass->leaks != NULL && key_room_init(&piece->room, &pass->leaks->key, err) != 0))
            return -1;
    }
    return pass->groups != NULL ? orbit_cursor_open(&run->cursor, pass->groups, err) : 0;
}

static void release(struct run *run)
{
    for (size_t p = 0; p < N_PIECES; p++) {
        findings_release(&run->pieces[p].findings);
        rules_release(&run->pieces[p].rules);
        smear_release(&run->pieces[p].smear);
        key_room_release(&run->pieces[p].room);
    }
    rules_release(&run->rules);
    smear_release(&run->smear);
    orbit_cursor_close(&run->cursor);
    window_release(&run->front, run->pass->lanes);
    window_release(&run->back, run->pass->lanes);
    free(run->lane_errors);
    free(run);
}

int verify_pass_run(const struct verify_pass *pass, struct error *err)
{
    struct run *run = calloc(1, sizeof *run);
    int status;

    if (run == NULL)
        return error_no_memory(err, "check");
    run->pass = pass;
    run->err = err;
    status = init(run, err);
    if (status == 0)
        status = crew_run(pass->request->settings->n_threads, walk, run);
    if (status == 0) {
        rules_finish(&run->rules, &pass->result->findings);
        smear_finish(&run->smear, pass->lanes, &pass->result->findings);
    }
    release(run);
    return status;
}
