/*
 * pass.c - the one pass over all rows of a shard.
 *
 * Two windows of rows alternate: a crew checks the front one, cut into a fixed number of pieces,
 * while it reads the lanes of the back one. The findings and tallies of the pieces are joined in
 * order after each window, so the report does not depend on the number of threads.
 *
 * Before that, the first groups of images correct guesses about arrays: where most of them agree
 * with another interpretation of an array than the current one, that one is used.
 */
#include "verify/parts.h"

#include "base/meter.h"

#define WINDOW_NBYTES   (8u << 20)
#define MAX_WINDOW_ROWS 65536
#define N_PIECES        32 /* of a window; fixed, so that the result depends on no thread count */
#define ADAPT_GROUPS    64

/* What one piece of a window collects. After each window the findings go to the result, and the
 * rules of all pieces are merged into those of the first. */
struct piece {
    struct findings findings;
    struct rules rules;
};

struct run {
    struct lanes *lanes;
    const struct orbit_groups *groups;
    struct window front;
    struct orbit_walk walk; /* its window is the back one */
    struct piece pieces[N_PIECES];
    struct error *err; /* borrowed */
};

/* --- arrays whose meaning was guessed --- */

/* Of the first groups with several images: in how many most images (or all of them) agree with the
 * first one, minus the number of the other groups. Images that have no name are named by their
 * planes. */
static int agreement(const struct run *run, size_t lane, unsigned liberties, bool all)
{
    const struct window *window = &run->front;
    const struct lanes *lanes = run->lanes;
    const struct board *board = lanes->shard->found.board;
    const bool has_planes = lanes->planes >= 0 && lane_is_compared(&lanes->items[lanes->planes]);
    int margin = 0;

    for (uint64_t g = 0; g < window->n_groups && g < ADAPT_GROUPS; g++) {
        const struct lane_image *first = &window->images[window->groups[g]], *image = first + 1;
        uint64_t n_images = 0, n_same = 0;

        for (; image < window->images + window->groups[g + 1]; image++) {
            const struct orbit_pair pair = {window, lane, first->at, image->at, 0};
            const struct orbit_pair planes = {window, (size_t)lanes->planes, first->at, image->at,
                                              0};
            bool best[BOARD_MAX_TRANSFORMS];
            const uint32_t u = image->transform != NO_TRANSFORM && first->transform != NO_TRANSFORM
                                   ? spec_between(board, first->transform, image->transform)
                               : has_planes
                                   ? orbit_relate(&planes, run->groups->allowed, true, best)
                                   : NO_TRANSFORM;

            n_images += u != NO_TRANSFORM;
            n_same += u != NO_TRANSFORM && orbit_same(&pair, u, liberties);
        }
        if (n_images > 0)
            margin += (all ? n_same == n_images : 2 * n_same >= n_images) ? 1 : -1;
    }
    return margin;
}

static bool has_cell_actions(const struct lane *lane)
{
    return lane_is_compared(lane) && lane->spec.space != NULL &&
           strncmp(lane->binding->layout->name, "cells", 5) == 0;
}

/*
 * Correct guesses by the first window. Arrays taken for copies that differ within most groups
 * describe the images themselves (another tool's provenance, say) and are not compared, which the
 * note says; in shards whose arrays are all known there are none. Signed values of no stated
 * convention may be the mover's, which no image changes. Where the policies of the first sources
 * have mass on stones as stored, but not when flipped, each policy whose images agree when it is
 * flipped, but not as they are, or not with the stones, is compared so, and the note says it.
 */
static int adapt(const struct run *run, struct error *err)
{
    const struct window *window = &run->front;
    const struct rules *rules = &run->pieces[0].rules;
    const struct shard *shard = run->lanes->shard;
    struct verify_result *result = run->lanes->result;
    struct lane *lanes = run->lanes->items;
    struct rules look;
    int status = 0;

    for (size_t i = 0; i < run->lanes->n && status == 0; i++) {
        struct lane *lane = &lanes[i];

        if (!lane_is_compared(lane))
            continue;
        if (lane->binding->role == ROLE_COPY && !lane->spec.board->family->only_known_members &&
            agreement(run, i, ORBIT_EXACT, false) < 0) {
            lane->is_mapped = false;
            status = text_append(&result->note, err, "%s, %s differs between images: not compared",
                                 result->note.text == NULL ? "expanded" : "",
                                 text_path(lane->array->key).text);
        } else if (lane->binding->role == ROLE_VALUE && spec_swap(&lane->spec) == LABEL_NEGATE &&
                   !shard->conventions.value_said &&
                   agreement(run, i, ORBIT_NO_FLIP, false) > agreement(run, i, ORBIT_EXACT, false))
            spec_set_swap(&lane->spec, LABEL_KEEP);
    }
    if (status != 0 || rules->n_policies == 0 || rules->policies[0].lane != rules->policy ||
        !has_cell_actions(&lanes[rules->policy]))
        return status;
    status = rules_init_part(&look, rules, err);
    look.flip_step = 1;
    for (uint64_t g = 0; status == 0 && g < window->n_groups && g < ADAPT_GROUPS; g++)
        rules_check_row(&look, window, &window->images[window->groups[g]]);
    const struct flip_verdict verdict = laid_judge(&look.policies[0].laid);
    const enum action_flip flip = verdict.flip;
    const bool is_flipped =
        flip != lanes[rules->policy].binding->flip &&
        verdict.end - verdict.first >= shard->n_rows &&
        laid_has_option(shard->found.board, lanes[rules->policy].binding->layout, flip);
    for (size_t i = 0; i < run->lanes->n && status == 0 && is_flipped; i++) {
        struct role_binding *binding = shard->bindings + (lanes[i].binding - shard->bindings);
        const enum action_flip said = binding->flip;
        const struct text_quoted name = text_path(lanes[i].array->key);

        bool shows = false; /* that it stands on stones itself */

        for (size_t k = 0; k < look.n_policies; k++)
            shows |=
                look.policies[k].lane == (int)i && laid_judge(&look.policies[k].laid).flip == flip;
        if (!has_cell_actions(&lanes[i]) || flip == said ||
            (!shows && agreement(run, i, ORBIT_EXACT, true) > 0))
            continue;
        binding->flip = flip;
        status = spec_set_space(&lanes[i].spec, &run->lanes->maker, binding, err);
        if (status == 0 && agreement(run, i, ORBIT_EXACT, true) <= 0) {
            binding->flip = said;
            status = spec_set_space(&lanes[i].spec, &run->lanes->maker, binding, err);
        } else if (status == 0) {
            status =
                text_append(&result->note, err, "%s, %s beside the planes as with --role %s=%s:%s",
                            result->note.text == NULL ? "expanded" : "", name.text, name.text,
                            role_name(binding->role), action_flip_name(flip));
        }
    }
    rules_release(&look);
    return status;
}

/* --- windows --- */

/* A job of the crew: the first ones each read a lane of the back window, the others each check a
 * piece of the front window, that is, some of its groups. */
static void work_job(void *self, int64_t job, int worker)
{
    struct run *run = self;
    const struct lanes *lanes = run->lanes;
    const struct window *window = &run->front;
    const uint64_t n = window->n_groups;
    const size_t p = (size_t)job - lanes->n;

    (void)worker;
    if (job < (int64_t)lanes->n) {
        window_read_lane(&run->walk.window, (size_t)job, &lanes->items[job].error);
        return;
    }
    struct piece *piece = &run->pieces[p];
    struct findings *findings = &piece->findings;
    struct diagnosis d = {.window = window,
                          .groups = run->groups,
                          .lanes = lanes,
                          .board = lanes->shard->found.board,
                          .findings = findings};
    for (uint64_t g = n * p / N_PIECES; g < n * (p + 1) / N_PIECES; g++) {
        const uint64_t n_before = findings->n_errors;

        d.images = window->images + window->groups[g];
        d.n = window->groups[g + 1] - window->groups[g];
        const bool is_exact = lanes->result->is_expanded && diagnose_is_exact(&d);
        /* If one image is sound, so are all rows that are exactly its images. */
        for (uint64_t m = 0; m < d.n; m++) {
            const bool all = m == 0 || !is_exact || findings->n_errors > n_before;

            for (size_t k = 0; k < lanes->n; k++)
                if (all || !lanes->items[k].is_mapped)
                    check_row(window, k, &d.images[m], false, findings);
        }
        for (size_t k = 0; k < lanes->n; k++)
            check_row(window, k, d.images, true, findings);
        rules_check_row(&piece->rules, window, d.images);
        if (lanes->result->is_expanded && !is_exact)
            diagnose_group(&d);
    }
}

/* Check the front window while the back one is read, join the findings, report and drop lanes that
 * could not be read; then the next window. */
static int walk(struct run *run)
{
    struct lanes *lanes = run->lanes;
    struct window *back = &run->walk.window;
    const struct settings *settings = lanes->request->settings;
    struct meter *meter = settings->meter;
    uint64_t n_done = 0; /* rows */

    meter_begin(meter, "checking", lanes->shard->archive.path);
    /* The first front window is empty. */
    for (uint64_t n_windows = 0; n_windows == 0 || back->n > 0; n_windows++) {
        const struct window front = run->front;

        run->front = *back;
        *back = front;
        if (n_windows == 1 && lanes->result->is_expanded && adapt(run, run->err) != 0)
            return -1;
        if (!orbit_walk_next(&run->walk) && run->walk.status != 0)
            return -1;
        crew_run_each(settings->n_threads, (int64_t)lanes->n + N_PIECES, work_job, run);
        for (struct piece *piece = run->pieces; piece < run->pieces + N_PIECES; piece++) {
            findings_merge(&lanes->result->findings, &piece->findings);
            if (piece != run->pieces)
                rules_merge(&run->pieces[0].rules, &piece->rules);
        }
        for (size_t i = 0; i < lanes->n; i++) {
            struct error *why = &lanes->items[i].error;

            if (why->kind == ERROR_NONE)
                continue;
            lanes->items[i].is_broken = true;
            if (verify_read_failed(lanes->result, lanes->items[i].array->key, why, run->err) != 0)
                return -1;
            *why = (struct error){0};
        }
        n_done += run->front.n;
        meter_step(meter, n_done * lanes->row_nbytes, lanes->shard->n_rows * lanes->row_nbytes);
    }
    return 0;
}

int verify_pass_run(struct lanes *lanes, const struct orbit_groups *groups, struct error *err)
{
    const size_t max = lanes->request->settings->max_findings;
    const uint64_t n_held = WINDOW_NBYTES / (lanes->row_nbytes + 1) + 1;
    const uint64_t n_wanted = smaller(n_held, MAX_WINDOW_ROWS);
    struct run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return error_no_memory(err, "check");
    run->lanes = lanes;
    run->groups = groups;
    run->err = err;
    orbit_walk_begin(&run->walk, groups, lanes, n_wanted, err);
    int status = run->walk.status;
    if (status == 0)
        status = window_init(&run->front, lanes, n_wanted, err);
    if (status == 0)
        status = rules_init(&run->pieces[0].rules, lanes, max, err);
    for (size_t p = 0; p < N_PIECES && status == 0; p++) {
        run->pieces[p].findings.max = max;
        if (p > 0)
            status = rules_init_part(&run->pieces[p].rules, &run->pieces[0].rules, err);
    }
    if (status == 0)
        status = walk(run);
    if (status == 0)
        rules_finish(&run->pieces[0].rules, &lanes->result->findings);
    for (struct piece *piece = run->pieces; piece < run->pieces + N_PIECES; piece++) {
        findings_release(&piece->findings);
        rules_release(&piece->rules);
    }
    (void)orbit_walk_end(&run->walk);
    window_release(&run->front);
    free(run);
    return status;
}
