/*
 * grid_greedy.h - the fast parser: at every place the match with the fewest bits per byte, among
 * the learned distances and one from a hash table; unless there is a better one at the next
 * element. Part of grid_kernel.h.
 *
 * All distances are compared without a branch for any of them: rating and number of a distance make
 * one key, and the least key is the best match. Only where a whole window matches is there more to
 * find out.
 */

/* --- the best match at one place among the learned distances --- */

#define LOOK_NUMBER_BITS 4          /* of a key: which distance */
#define LOOK_NONE        UINT32_MAX /* the key of no match */

_Static_assert(GRID_MAX_DISTANCES <= 1 << LOOK_NUMBER_BITS, "a key holds a distance's number");

/* The learned distances, cheapest first, padded with copies of the last to a multiple of 4. */
struct greedy_distances {
    size_t n;
    uint32_t longest;
    uint32_t distance[GRID_MAX_DISTANCES];
    uint32_t cost[GRID_MAX_DISTANCES];
};

/* Keys by number and length; a whole window has none, since there may be more. */
struct look_keys {
    uint32_t key[GRID_MAX_DISTANCES][GRID_WINDOW + 1];
};

struct match {
    uint32_t length;
    uint32_t distance;
    uint32_t score; /* bits per byte, times 2^20: less is better */
};

static const struct match no_match = {0, 0, UINT32_MAX};

static GRID_TARGET void greedy_distances_init(struct greedy_distances *d,
                                              const struct grid_state *state)
{
    d->longest = 0;
    for (d->n = 0; d->n < state->trained.n_distances; d->n++) {
        const uint32_t distance = state->trained.distances[d->n];
        const uint32_t cost = state->costs.distance[deflate_distance_symbol(distance)];
        size_t at = d->n;

        for (; at > 0 && d->cost[at - 1] > cost; at--) {
            d->cost[at] = d->cost[at - 1];
            d->distance[at] = d->distance[at - 1];
        }
        d->cost[at] = cost;
        d->distance[at] = distance;
        d->longest = distance > d->longest ? distance : d->longest;
    }
    for (; d->n % 4 != 0; d->n++) {
        d->cost[d->n] = d->cost[d->n - 1];
        d->distance[d->n] = d->distance[d->n - 1];
    }
}

GRID_INLINE uint32_t match_score(const struct grid_state *state, uint32_t distance_cost,
                                 uint32_t length)
{
    return (distance_cost + state->costs.length[length]) * state->inverse[length];
}

GRID_INLINE uint32_t look_key(const struct grid_state *state, const struct greedy_distances *d,
                              size_t i, uint32_t length)
{
    return match_score(state, d->cost[i], length) << LOOK_NUMBER_BITS | (uint32_t)i;
}

GRID_INLINE size_t look_number(uint32_t key)
{
    return key & ((1u << LOOK_NUMBER_BITS) - 1);
}

GRID_INLINE struct match look_match(const struct greedy_distances *d, uint32_t key, uint32_t length)
{
    return (struct match){length, d->distance[look_number(key)], key >> LOOK_NUMBER_BITS};
}

/* The best of the distances in `full`, where a whole window matches. The longest match is the best
 * even where it takes more bits per byte: there is often another one after it. */
GRID_INLINE struct match look_further(const struct grid_state *state,
                                      const struct greedy_distances *d, const uint8_t *p,
                                      uint32_t full)
{
    uint32_t lengths[GRID_MAX_DISTANCES];
    uint32_t least = LOOK_NONE;

    for (; full != 0; full &= full - 1) {
        const unsigned i = (unsigned)__builtin_ctz(full);
        uint32_t key;

        lengths[i] = extend(p, d->distance[i], GRID_WINDOW, DEFLATE_MAX_MATCH);
        if (lengths[i] == DEFLATE_MAX_MATCH)
            return (struct match){DEFLATE_MAX_MATCH, d->distance[i], 0};
        key = look_key(state, d, i, lengths[i]);
        least = key < least ? key : least;
    }
    return look_match(d, least, lengths[look_number(least)]);
}

/* The best match at p, where all n distances can be reached and the longest match fits. */
GRID_INLINE struct match look_fast(const struct grid_state *state, const struct greedy_distances *d,
                                   const struct look_keys *keys, size_t n,
                                   const struct window *window, const uint8_t *p)
{
    uint32_t lengths[GRID_MAX_DISTANCES];
    uint32_t full = 0, least = LOOK_NONE;

#pragma GCC unroll 16
    for (size_t i = 0; i < n; i++) {
        const uint32_t length = window_prefix(*window, p - d->distance[i]);
        const uint32_t key = keys->key[i][length];

        lengths[i] = length;
        full |= length / GRID_WINDOW << i;
        least = key < least ? key : least;
    }
    if (full != 0) {
        const struct match match = look_further(state, d, p, full);

        if (match.score < least >> LOOK_NUMBER_BITS)
            return match;
    }
    return least == LOOK_NONE ? no_match : look_match(d, least, lengths[look_number(least)]);
}

/* The best match at p of at most `most` bytes, no further back than `available`. */
static GRID_TARGET struct match look_careful(const struct grid_state *state,
                                             const struct greedy_distances *d,
                                             const struct window *window, const uint8_t *p,
                                             uint32_t most, size_t available)
{
    struct match best = no_match;

    for (size_t i = 0; i < d->n; i++) {
        uint32_t length, score;

        if (d->distance[i] > available)
            continue;
        length = match_length(window, p, d->distance[i], most);
        score = match_score(state, d->cost[i], length);
        if (length == DEFLATE_MAX_MATCH)
            return (struct match){length, d->distance[i], 0};
        if (length >= DEFLATE_MIN_MATCH && score < best.score)
            best = (struct match){length, d->distance[i], score};
    }
    return best;
}

/* The best match at p; stop is where it must end. */
GRID_INLINE struct match look(const struct grid_state *state, const struct greedy_distances *d,
                              const struct look_keys *keys, size_t n, const struct window *window,
                              const uint8_t *p, const uint8_t *stop)
{
    const size_t available = (size_t)(p - state->floor);

    if (__builtin_expect(available >= d->longest && stop - p >= DEFLATE_MAX_MATCH, 1))
        return look_fast(state, d, keys, n, window, p);
    return look_careful(state, d, window, p, match_limit(p, stop), available);
}

/* --- the parser --- */

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

        while (i < n && extend(p, d->distance[i], 0, DEFLATE_MAX_MATCH) < DEFLATE_MAX_MATCH)
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
    state->work.n_looked += g->n_looked + g->n_ahead;
    return p;
}

static GRID_TARGET const uint8_t *greedy(struct grid_state *state, const uint8_t *p,
                                         const uint8_t *stop)
{
    const size_t item_nbytes = state->trained.item_nbytes;
    struct greedy g = {.stop = stop, .literals = p};

    greedy_distances_init(&g.distances, state);
    memset(&g.keys, 0xff, sizeof g.keys);
    for (size_t i = 0; i < g.distances.n; i++)
        for (uint32_t length = DEFLATE_MIN_MATCH; length < GRID_WINDOW; length++)
            g.keys.key[i][length] = look_key(state, &g.distances, i, length);
    /* A hash is of several elements, since a match of one or two is not worth a distance of its
     * own; of fewer where no shape is known. */
    g.key_shift = item_nbytes >= 4 || g.distances.longest > GRID_WINDOW ? 0 : 64 - 8 * 5;
    g.key_high = item_nbytes >= 4 ? 0xc2b2ae3d27d4eb4f : 0;
    state->n_sequences = 0;
    switch (g.distances.n) {
    case 0:
        return greedy_parse(state, &g, 0, p);
    case 4:
        return greedy_parse(state, &g, 4, p);
    case 8:
        return greedy_parse(state, &g, 8, p);
    case 12:
        return greedy_parse(state, &g, 12, p);
    default:
        return greedy_parse(state, &g, GRID_MAX_DISTANCES, p);
    }
}
