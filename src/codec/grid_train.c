/*
 * grid_train.c - learning a member's distances.
 *
 * Candidates come from the member's shape. A walk over parts of the sample records, at every place
 * where a match would start, what a match at each candidate would save; then a set is built by
 * taking, again and again, the candidate that saves the most beyond what the set saves already. A
 * short walk with all candidates finds those that are worth a longer one.
 */
#include "codec/grid.h"

#include <stdlib.h>

#define MAX_CANDIDATES 512
#define MAX_MULTIPLES  128 /* of one period */
#define N_SEGMENTS     8   /* parts of the sample that are looked at */
#define N_LIKELY       48  /* candidates of the longer walk, of which so many as a set: */
#define N_LIKELY_SET   8
#define N_DISTANCES    12
#define LANES          16 /* candidates that are worked on at a time */

/* Comparisons that may be made: a fraction of the member's size, within limits; and places of a
 * walk. */
#define MIN_COMPARISONS       ((uint64_t)1 << 13)
#define NBYTES_PER_COMPARISON 256
#define MIN_PLACES            48
#define MAX_SHORT_WALK        128
#define MAX_LONG_WALK         512

_Static_assert(MAX_CANDIDATES % LANES == 0, "rows consist of whole lanes");

struct candidates {
    size_t n;
    size_t n_given; /* of those picked: the first ones, whatever they save */
    uint32_t distance[MAX_CANDIDATES];
};

/* What is learned from. */
struct part {
    const struct grid_kernels *kernels;
    const uint8_t *sample;
    size_t n_bytes;
    uint32_t item_nbytes;
};

/* What the candidates' matches would save at every place of a walk. */
struct savings {
    size_t n_places;
    size_t n_runs;                                  /* of equal elements: these are no places */
    size_t n_lanes;                                 /* candidates, rounded up */
    uint16_t rows[MAX_SHORT_WALK * MAX_CANDIDATES]; /* one for every place */
};

_Static_assert(MAX_LONG_WALK *N_LIKELY <= MAX_SHORT_WALK * MAX_CANDIDATES, "all rows fit");

static void add_candidate(struct candidates *c, uint8_t *is_in, int64_t distance)
{
    uint8_t *byte;
    uint8_t bit;

    if (distance < 1 || distance > DEFLATE_MAX_DISTANCE || c->n == MAX_CANDIDATES)
        return;
    byte = &is_in[distance / 8];
    bit = (uint8_t)(1u << distance % 8);
    if (*byte & bit)
        return;
    *byte |= bit;
    c->distance[c->n++] = (uint32_t)distance;
}

/* Neighbours of a multiple of one period by an element, or by a smaller period or two. */
static void add_neighbours(struct candidates *c, uint8_t *is_in, const struct codec_member *member,
                           int64_t around, uint32_t below)
{
    for (int64_t k = 1; k <= 2; k++) {
        add_candidate(c, is_in, around - k * (int64_t)member->item_nbytes);
        add_candidate(c, is_in, around + k * (int64_t)member->item_nbytes);
    }
    for (size_t i = 0; i < member->n_periods; i++) {
        const int64_t period = member->periods[i];

        if (period >= below)
            continue;
        for (int64_t k = 1; k <= 2; k++) {
            add_candidate(c, is_in, around - k * period);
            add_candidate(c, is_in, around + k * period);
        }
    }
}

static void find_candidates(const struct codec_member *member, struct candidates *c)
{
    uint8_t is_in[DEFLATE_MAX_DISTANCE / 8 + 1] = {0}; /* bit i: distance i */

    c->n = 0;
    for (int64_t k = 1; k <= 4; k++)
        add_candidate(c, is_in, k * (int64_t)member->item_nbytes);
    add_candidate(c, is_in, 1);
    for (int64_t k = 1; k <= MAX_MULTIPLES; k++)
        for (size_t i = 0; i < member->n_periods; i++)
            if (k <= 8 || member->periods[i] >= 128)
                add_candidate(c, is_in, k * (int64_t)member->periods[i]);
    for (int64_t k = 1; k <= 4; k++)
        for (size_t i = 0; i < member->n_periods; i++)
            if (k * (int64_t)member->periods[i] <= 2 * DEFLATE_MAX_DISTANCE)
                add_neighbours(c, is_in, member, k * (int64_t)member->periods[i],
                               member->periods[i]);
}

static uint16_t larger_16(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

static uint16_t smaller_16(uint16_t a, uint16_t b)
{
    return a < b ? a : b;
}

/* Bits in eighths that matches save, what is less than nothing being nothing; and the most so far.
 * The far end of a long match counts less, since what it covers is cheap anyway. */
static void save_lanes(const uint16_t *restrict lengths, const uint16_t *restrict costs,
                       uint16_t *restrict saved, uint16_t *restrict most)
{
    for (size_t i = 0; i < LANES; i++) {
        const uint16_t worth =
            smaller_16((uint16_t)(8 * lengths[i]), (uint16_t)(6 * GRID_WINDOW + 2 * lengths[i]));

        saved[i] = (uint16_t)(larger_16(worth, costs[i]) - costs[i]);
        most[i] = larger_16(most[i], saved[i]);
    }
}

/* A row of savings. Returns the candidate that saves the most. */
static size_t save_row(const uint16_t *lengths, const uint16_t *costs, size_t n_lanes,
                       uint16_t *row)
{
    uint16_t most[LANES] = {0};
    size_t best = 0;

    for (size_t i = 0; i < n_lanes; i += LANES)
        save_lanes(lengths + i, costs + i, row + i, most);
    for (size_t i = 1; i < LANES; i++)
        most[0] = larger_16(most[0], most[i]);
    while (row[best] != most[0])
        best++;
    return best;
}

/* A longest match at the distance of an element: it tells nothing about the others. */
static bool is_run(const struct part *part, const uint8_t *p, const uint8_t *stop)
{
    uint16_t length = 0;

    if ((size_t)(p - part->sample) >= part->item_nbytes)
        part->kernels->measure(p, stop, &part->item_nbytes, 1, &length);
    return length == DEFLATE_MAX_MATCH;
}

/* Walk from `p` to `stop`, or until there are `quota` places. */
static void walk(const struct part *part, const struct candidates *c, const uint16_t *costs,
                 const uint8_t *p, const uint8_t *stop, size_t quota, struct savings *s)
{
    uint16_t lengths[MAX_CANDIDATES] = {0};

    while (p < stop && s->n_places < quota) {
        const size_t available = (size_t)(p - part->sample);
        uint16_t *const row = s->rows + s->n_places * s->n_lanes;
        size_t best, n_reachable = 0; /* the nearest ones; others save nothing */

        if (is_run(part, p, stop)) {
            s->n_runs++;
            p += DEFLATE_MAX_MATCH;
            continue;
        }
        while (n_reachable < c->n && c->distance[n_reachable] <= available)
            n_reachable++;
        part->kernels->measure(p, stop, c->distance, n_reachable, lengths);
        best = save_row(lengths, costs, s->n_lanes, row);
        s->n_places++;
        p += row[best] > 0 ? lengths[best] : 1;
    }
}

static int by_distance(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Walk through the sample with these candidates, which are sorted then. */
static void collect(const struct part *part, struct candidates *c, size_t n_places,
                    struct savings *s)
{
    const size_t skip = part->n_bytes > 3 * DEFLATE_MAX_DISTANCE ? DEFLATE_MAX_DISTANCE : 0;
    const size_t stride = (part->n_bytes - skip) / N_SEGMENTS;
    uint16_t costs[MAX_CANDIDATES] = {0};

    qsort(c->distance, c->n, sizeof *c->distance, by_distance);
    for (size_t i = 0; i < c->n; i++)
        costs[i] = (uint16_t)(4 * (9 + deflate_distance_extra(c->distance[i])));
    s->n_places = 0;
    s->n_runs = 0;
    s->n_lanes = (c->n + LANES - 1) / LANES * LANES;
    for (size_t i = 0; i < N_SEGMENTS; i++) {
        const uint8_t *const start = part->sample + skip + i * stride;

        walk(part, c, costs, start, start + stride, n_places * (i + 1) / N_SEGMENTS, s);
    }
}

static void add_lanes(const uint16_t *restrict row, uint16_t saved, uint16_t *restrict sums)
{
    for (size_t i = 0; i < LANES; i++)
        sums[i] = (uint16_t)(sums[i] + (uint16_t)(larger_16(row[i], saved) - saved));
}

/* What each candidate would add to what is saved at every place. */
static void add_up(const struct savings *s, const uint16_t *saved, uint32_t *added)
{
    const size_t most = UINT16_MAX / (8 * DEFLATE_MAX_MATCH); /* sums of so many fit */

    memset(added, 0, s->n_lanes * sizeof *added);
    for (size_t lanes = 0; lanes < s->n_lanes; lanes += LANES) {
        for (size_t place = 0; place < s->n_places; place += most) {
            const size_t end = place + most < s->n_places ? place + most : s->n_places;
            uint16_t sums[LANES] = {0};

            for (size_t at = place; at < end; at++)
                add_lanes(s->rows + at * s->n_lanes + lanes, saved[at], sums);
            for (size_t i = 0; i < LANES; i++)
                added[lanes + i] += sums[i];
        }
    }
}

/* Pick a candidate, whose savings are had from then on. */
static void pick_one(const struct candidates *c, const struct savings *s, size_t i, uint16_t *saved,
                     struct candidates *picked)
{
    picked->distance[picked->n++] = c->distance[i];
    for (size_t place = 0; place < s->n_places; place++) {
        const uint16_t here = s->rows[place * s->n_lanes + i];

        saved[place] = here > saved[place] ? here : saved[place];
    }
}

static size_t largest(const uint32_t *added, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        best = added[i] > added[best] ? i : best;
    return best;
}

/* Pick up to n_set candidates that together save the most, and then up to n_more that would add the
 * most to them, each by itself. */
static void pick(const struct part *part, const struct candidates *c, const struct savings *s,
                 size_t n_set, size_t n_more, struct candidates *picked)
{
    const size_t least = s->n_places / 2;
    uint16_t saved[MAX_LONG_WALK] = {0};
    uint32_t added[MAX_CANDIDATES];

    picked->n = 0;
    for (size_t i = 0; i < c->n && s->n_runs > 0; i++)
        if (c->distance[i] == part->item_nbytes)
            pick_one(c, s, i, saved, picked);
    picked->n_given = picked->n;
    for (;;) {
        size_t best;

        add_up(s, saved, added);
        best = largest(added, c->n);
        if (picked->n == n_set || added[best] <= least)
            break;
        pick_one(c, s, best, saved, picked);
    }
    for (; n_more > 0; n_more--) {
        const size_t best = largest(added, c->n);

        if (added[best] <= least)
            break;
        picked->distance[picked->n++] = c->distance[best];
        added[best] = 0;
    }
}

/* How long a walk may be, for its share of what may be compared. */
static size_t places_of(const struct codec_member *member, size_t n_candidates, size_t most)
{
    uint64_t n = member->n_bytes / NBYTES_PER_COMPARISON;

    n = (n > MIN_COMPARISONS ? n : MIN_COMPARISONS) / 2 / n_candidates;
    n = n > MIN_PLACES ? n : MIN_PLACES;
    return n < most ? (size_t)n : most;
}

int grid_train(const struct grid_kernels *kernels, const struct codec_member *member,
               struct grid_trained *trained, struct error *err)
{
    const struct part part = {kernels, member->sample, member->sample_nbytes,
                              (uint32_t)member->item_nbytes};
    struct candidates all, likely, picked;
    struct savings *const s = malloc(sizeof *s);

    if (s == NULL)
        return error_no_memory(err, "learning distances");
    find_candidates(member, &all);
    collect(&part, &all, places_of(member, all.n, MAX_SHORT_WALK), s);
    pick(&part, &all, s, N_LIKELY_SET, N_LIKELY - N_LIKELY_SET, &likely);
    picked.n = 0;
    if (likely.n > 0) {
        collect(&part, &likely, places_of(member, likely.n, MAX_LONG_WALK), s);
        pick(&part, &likely, s, N_DISTANCES, 0, &picked);
    }
    /* The best one comes first. */
    trained->n_distances = picked.n;
    for (size_t i = 0; i < picked.n; i++)
        trained->distances[i] = picked.distance[(i + picked.n_given) % picked.n];
    free(s);
    return 0;
}
