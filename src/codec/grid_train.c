/*
 * grid_train.c - learning a member's distances.
 *
 * Candidates come from the member's shape. A walk over parts of the sample records, at every place
 * where a match would start, what a match at each candidate would save; then the set is built by
 * taking, again and again, the candidate that saves the most beyond what the set saves already.
 */
#include "codec/grid_train.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CANDIDATES 512
#define MAX_MULTIPLES  128  /* of one period */
#define MAX_EVENTS     4096 /* places where a match would start */
#define N_SEGMENTS     8    /* parts of the sample that are looked at */
#define N_DISTANCES    12

/* Comparisons that may be made: a fraction of the member's size, within limits. */
#define MIN_COMPARISONS       ((uint64_t)1 << 13)
#define MAX_COMPARISONS       ((uint64_t)1 << 18)
#define NBYTES_PER_COMPARISON 256

struct candidates {
    size_t n;
    uint32_t distance[MAX_CANDIDATES];
    uint8_t is_in[DEFLATE_MAX_DISTANCE / 8 + 1];
};

/* What the walk has seen: what each candidate's match would save at every event. */
struct events {
    size_t n;
    size_t n_max;
    int16_t *savings; /* owned: a row of n_max for every candidate */
};

static void add_candidate(struct candidates *c, int64_t distance)
{
    uint8_t *byte;
    uint8_t bit;

    if (distance < 1 || distance > DEFLATE_MAX_DISTANCE || c->n == MAX_CANDIDATES)
        return;
    byte = &c->is_in[distance / 8];
    bit = (uint8_t)(1u << distance % 8);
    if (*byte & bit)
        return;
    *byte |= bit;
    c->distance[c->n++] = (uint32_t)distance;
}

/* Neighbours of a multiple of one period by an element, or by a smaller period or two. */
static void add_neighbours(struct candidates *c, const struct codec_member *member, int64_t around,
                           uint32_t below)
{
    for (int64_t k = 1; k <= 2; k++) {
        add_candidate(c, around - k * (int64_t)member->item_nbytes);
        add_candidate(c, around + k * (int64_t)member->item_nbytes);
    }
    for (size_t i = 0; i < member->n_periods; i++) {
        const int64_t period = member->periods[i];

        if (period >= below)
            continue;
        for (int64_t k = 1; k <= 2; k++) {
            add_candidate(c, around - k * period);
            add_candidate(c, around + k * period);
        }
    }
}

static void find_candidates(const struct codec_member *member, struct candidates *c)
{
    for (int64_t k = 1; k <= 4; k++)
        add_candidate(c, k * (int64_t)member->item_nbytes);
    add_candidate(c, 1);
    for (int64_t k = 1; k <= MAX_MULTIPLES; k++)
        for (size_t i = 0; i < member->n_periods; i++)
            if (k <= 8 || member->periods[i] >= 128)
                add_candidate(c, k * (int64_t)member->periods[i]);
    for (int64_t k = 1; k <= 4; k++)
        for (size_t i = 0; i < member->n_periods; i++)
            if (k * (int64_t)member->periods[i] <= 2 * DEFLATE_MAX_DISTANCE)
                add_neighbours(c, member, k * (int64_t)member->periods[i], member->periods[i]);
}

/* Bits that a match saves, in quarters: the far end of a long one counts less, since what it
 * covers is cheap anyway. */
static int saving(unsigned length, uint32_t distance)
{
    const unsigned weighed = length <= GRID_WINDOW ? 4 * length : 3 * GRID_WINDOW + length;

    if (length < DEFLATE_MIN_MATCH)
        return 0;
    return (int)(2 * weighed) - 4 * (int)(9 + deflate_distance_extra(distance));
}

/* Candidates that reach back no further than `available`, and their places; returns their number.
 */
static size_t reachable(const struct candidates *c, size_t available, uint32_t *distances,
                        uint16_t *index)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        if (c->distance[i] <= available) {
            distances[n] = c->distance[i];
            index[n++] = (uint16_t)i;
        }
    }
    return n;
}

/* How far the walk goes on from a place with these lengths: by the match of least bits per byte. */
static size_t walk_step(const uint16_t *lengths, const uint32_t *distances, size_t n)
{
    uint32_t best_length = 1, best_cost = UINT16_MAX;

    for (size_t i = 0; i < n; i++) {
        const uint32_t cost = 8 + deflate_distance_extra(distances[i]);

        if (lengths[i] >= DEFLATE_MIN_MATCH && cost * best_length < best_cost * lengths[i]) {
            best_length = lengths[i];
            best_cost = cost;
        }
    }
    return best_length;
}

/* Walk from `p` to `stop`, or until there are `quota` events. */
static void walk(const struct grid_kernels *kernels, const struct candidates *c,
                 const uint8_t *sample, const uint8_t *p, const uint8_t *stop, size_t quota,
                 struct events *events)
{
    uint32_t distances[MAX_CANDIDATES];
    uint16_t lengths[MAX_CANDIDATES], index[MAX_CANDIDATES];

    while (p < stop && events->n < quota) {
        const size_t n = reachable(c, (size_t)(p - sample), distances, index);

        kernels->measure(p, stop, distances, n, lengths);
        for (size_t i = 0; i < n; i++)
            events->savings[index[i] * events->n_max + events->n] =
                (int16_t)saving(lengths[i], distances[i]);
        events->n++;
        p += walk_step(lengths, distances, n);
    }
}

static int collect_events(const struct grid_kernels *kernels, const struct codec_member *member,
                          const struct candidates *c, const uint8_t *sample, size_t sample_nbytes,
                          struct events *events, struct error *err)
{
    const size_t skip = sample_nbytes > 3 * DEFLATE_MAX_DISTANCE ? DEFLATE_MAX_DISTANCE : 0;
    const size_t stride = (sample_nbytes - skip) / N_SEGMENTS;
    uint64_t budget = member->n_bytes / NBYTES_PER_COMPARISON;

    budget = budget < MIN_COMPARISONS ? MIN_COMPARISONS : budget;
    budget = budget > MAX_COMPARISONS ? MAX_COMPARISONS : budget;
    events->n_max = (size_t)budget / c->n;
    events->n_max = events->n_max > MAX_EVENTS ? MAX_EVENTS : events->n_max;
    events->savings = calloc(events->n_max * c->n, sizeof *events->savings);
    if (events->savings == NULL)
        return error_no_memory(err, "learning distances");
    for (size_t i = 0; i < N_SEGMENTS; i++) {
        const uint8_t *const start = sample + skip + i * stride;

        walk(kernels, c, sample, start, start + stride, events->n_max * (i + 1) / N_SEGMENTS,
             events);
    }
    return 0;
}

/* What a candidate would add to the savings so far. */
static int64_t added_saving(const struct events *events, size_t candidate, const int16_t *saved)
{
    const int16_t *const savings = events->savings + candidate * events->n_max;
    int64_t sum = 0;

    for (size_t e = 0; e < events->n; e++)
        sum += savings[e] > saved[e] ? savings[e] - saved[e] : 0;
    return sum;
}

/* The candidate that adds the most. What one adds shrinks as the set grows, so that the numbers of
 * earlier rounds are upper limits: only what exceeds the best so far is computed again. */
static size_t best_addition(const struct events *events, size_t n_candidates, const int16_t *saved,
                            int64_t *limits)
{
    size_t best = 0;
    int64_t best_saving = -1;

    for (size_t i = 0; i < n_candidates; i++) {
        if (limits[i] > best_saving)
            limits[i] = added_saving(events, i, saved);
        if (limits[i] > best_saving) {
            best_saving = limits[i];
            best = i;
        }
    }
    return best;
}

static void select_distances(const struct events *events, const struct candidates *c,
                             struct grid_trained *trained)
{
    int16_t saved[MAX_EVENTS] = {0};
    int64_t limits[MAX_CANDIDATES];

    for (size_t i = 0; i < c->n; i++)
        limits[i] = INT64_MAX;
    while (trained->n_distances < N_DISTANCES) {
        const size_t best = best_addition(events, c->n, saved, limits);
        const int16_t *const savings = events->savings + best * events->n_max;

        if (limits[best] <= (int64_t)events->n / 2)
            break;
        trained->distances[trained->n_distances++] = c->distance[best];
        for (size_t e = 0; e < events->n; e++)
            saved[e] = savings[e] > saved[e] ? savings[e] : saved[e];
    }
}

int grid_train(const struct grid_kernels *kernels, const struct codec_member *member,
               const uint8_t *sample, size_t sample_nbytes, struct grid_trained *trained,
               struct error *err)
{
    struct candidates candidates = {0};
    struct events events = {0};
    int status;

    find_candidates(member, &candidates);
    status = collect_events(kernels, member, &candidates, sample, sample_nbytes, &events, err);
    if (status == 0)
        select_distances(&events, &candidates, trained);
    free(events.savings);
    return status;
}
