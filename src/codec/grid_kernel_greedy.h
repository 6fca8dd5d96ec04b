/*
 * grid_kernel_greedy.h - the fast parser: at every place the match with the fewest bits per byte,
 * among the learned distances and one from a hash table; unless there is a better one at the next
 * element. Part of grid_kernel.h.
 */
#include "codec/grid_kernel_look.h"

#define GREEDY_HASH_BELOW     32 /* longer matches need no look into the hash table */
#define GREEDY_KEY_MAX_NBYTES 16 /* of a hash */
#define GREEDY_AHEAD_BELOW    64 /* longer matches need no look at the next element */

/* Where fewer of the looks ahead than 1 in 8 are worth it, there are no more of them in a block. */
#define GREEDY_AHEAD_TRIES 100
#define GREEDY_AHEAD_WORTH 8

struct greedy {
    struct greedy_distances distances;
    struct look_keys keys;
    const uint8_t *stop;
    const uint8_t *literals; /* those not yet in a sequence begin here */
    unsigned key_shift;      /* of the first 8 bytes of a hash */
    uint64_t key_high;       /* factor of the next 8 bytes, or 0 */
    size_t n_looked, n_ahead, n_waited;
};

/* A hash is of several elements, since a match of one or two is not worth a distance of its own; of
 * fewer where no shape is known. */
static void greedy_key_init(struct greedy *g, size_t item_nbytes)
{
    const bool is_shaped = g->distances.longest > GRID_WINDOW;

    g->key_shift = item_nbytes >= 4 || is_shaped ? 0 : 64 - 8 * 5;
    g->key_high = item_nbytes >= 4 ? 0xc2b2ae3d27d4eb4f : 0;
}

GRID_INLINE uint32_t greedy_hash(const struct greedy *g, const uint8_t *p)
{
    const uint64_t low = (load_64(p) << g->key_shift) * 0x9e3779b97f4a7c15;

    return (uint32_t)((low ^ load_64(p + 8) * g->key_high) * 0x9e3779b97f4a7c15 >>
                      (64 - GRID_HASH_BITS));
}

/* Try the latest position with the same hash, and put this one in its place. */
GRID_INLINE void greedy_hashed(struct grid_state *state, const struct greedy *g,
                               const struct window *window, const uint8_t *p, struct match *best)
{
    const uint32_t here = (uint32_t)(p - state->floor) + 1;
    uint32_t *const slot = &state->hash[greedy_hash(g, p)];
    const uint32_t distance = here - *slot;
    const bool is_usable = *slot != 0 && distance <= DEFLATE_MAX_DISTANCE;

    *slot = here;
    if (is_usable) {
        const uint32_t length = match_length(window, p, distance, match_limit(p, g->stop));

        if (length >= 4) {
            const uint32_t cost = state->costs.distance[deflate_distance_symbol(distance)];
            const uint32_t score = match_score(state, cost, length);

            if (score < best->score)
                *best = (struct match){length, distance, score};
        }
    }
}

/* Whether a match takes fewer bits than as many literals do in the mean. */
GRID_INLINE bool match_pays(const struct grid_state *state, const struct match *match)
{
    return match->length >= DEFLATE_MIN_MATCH && match->score < state->costs.literal_mean
                                                                    << (20 - 4);
}

/* Whether n literals at p and then `next` take fewer bits per byte than `best`. */
GRID_INLINE bool greedy_waits(const struct grid_state *state, const uint8_t *p, size_t n,
                              const struct match *next, const struct match *best)
{
    uint64_t cost = (uint64_t)next->score * next->length;

    for (size_t i = 0; i < n; i++)
        cost += (uint64_t)state->costs.literal[p[i]] << 20;
    return next->length > best->length && cost < (uint64_t)best->score * (n + next->length);
}

/* Look at the next element; returns how many literals come before the match there, which replaces
 * the best one, or 0. */
GRID_INLINE size_t greedy_ahead(const struct grid_state *state, struct greedy *g, size_t n,
                                const uint8_t *p, struct match *best)
{
    const size_t item_nbytes = state->trained.item_nbytes;
    const size_t n_literals = item_nbytes - ((size_t)(p - state->floor) & (item_nbytes - 1));
    struct window window;
    struct match next;

    if (best->length < DEFLATE_MIN_MATCH || best->length >= GREEDY_AHEAD_BELOW ||
        g->stop - p < DEFLATE_MAX_MATCH ||
        (g->n_ahead >= GREEDY_AHEAD_TRIES && g->n_waited * GREEDY_AHEAD_WORTH < g->n_ahead))
        return 0;
    window = window_load(p + n_literals);
    next = look(state, &g->distances, &g->keys, n, &window, p + n_literals, g->stop);
    g->n_ahead++;
    if (!greedy_waits(state, p, n_literals, &next, best))
        return 0;
    g->n_waited++;
    *best = next;
    return n_literals;
}

/* Append a match to the sequences; returns its end. */
GRID_INLINE const uint8_t *greedy_take(struct grid_state *state, struct greedy *g, const uint8_t *p,
                                       uint32_t length, uint32_t distance)
{
    state->sequences[state->n_sequences++] = (struct grid_sequence){
        (uint32_t)(p - g->literals), (uint16_t)length, (uint16_t)(distance - 1)};
    g->literals = p + length;
    return g->literals;
}

/* Behind a longest match there are often more of them: the cheapest is the best then. Returns the
 * end of the last one. */
GRID_INLINE const uint8_t *greedy_run(struct grid_state *state, struct greedy *g, size_t n,
                                      const uint8_t *p)
{
    const struct greedy_distances *const d = &g->distances;

    if ((size_t)(p - state->floor) < d->longest)
        return p;
    while (g->stop - p >= DEFLATE_MAX_MATCH && state->n_sequences < GRID_MAX_SEQUENCES) {
        size_t i = 0;

        while (i < n && !look_is_longest(p, d->distance[i], 0))
            i++;
        if (i == n)
            break;
        p = greedy_take(state, g, p, DEFLATE_MAX_MATCH, d->distance[i]);
    }
    return p;
}

/* The parser for n distances, to be compiled for every n there is. */
GRID_INLINE const uint8_t *greedy_parse(struct grid_state *state, struct greedy *g, size_t n,
                                        const uint8_t *p)
{
    struct match best = no_match;
    size_t n_before = 0; /* literals before the match that was found ahead */

    while (p < g->stop && state->n_sequences < GRID_MAX_SEQUENCES) {
        const struct window window = window_load(p);

        if (n_before == 0) {
            g->n_looked++;
            best = look(state, &g->distances, &g->keys, n, &window, p, g->stop);
        }
        if (best.length < GREEDY_HASH_BELOW && g->stop - p >= GREEDY_KEY_MAX_NBYTES)
            greedy_hashed(state, g, &window, p, &best);
        n_before = greedy_ahead(state, g, n, p, &best);
        if (n_before > 0) {
            p += n_before;
        } else if (match_pays(state, &best)) {
            p = greedy_take(state, g, p, best.length, best.distance);
            if (best.length == DEFLATE_MAX_MATCH)
                p = greedy_run(state, g, n, p);
        } else {
            p++;
        }
    }
    return p;
}

static GRID_TARGET const uint8_t *greedy(struct grid_state *state, const uint8_t *p,
                                         const uint8_t *stop)
{
    struct greedy g = {.stop = stop, .literals = p};

    greedy_distances_init(&g.distances, state);
    look_keys_init(&g.keys, state, &g.distances);
    greedy_key_init(&g, state->trained.item_nbytes);
    state->n_sequences = 0;
    switch (g.distances.n) {
    case 0:
        p = greedy_parse(state, &g, 0, p);
        break;
    case 4:
        p = greedy_parse(state, &g, 4, p);
        break;
    case 8:
        p = greedy_parse(state, &g, 8, p);
        break;
    case 12:
        p = greedy_parse(state, &g, 12, p);
        break;
    default:
        p = greedy_parse(state, &g, GRID_MAX_DISTANCES, p);
        break;
    }
    state->work.n_looked += g.n_looked + g.n_ahead;
    return p;
}
