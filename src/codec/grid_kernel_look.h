/*
 * grid_kernel_look.h - the best match at one place among the learned distances. Part of
 * grid_kernel_greedy.h.
 *
 * A match is rated by its bits per byte. All distances are compared without a branch for any of
 * them: rating and number of a distance make one key, and the least key is the best match. Only
 * where a whole window matches is there more to find out.
 */

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

static GRID_TARGET void look_keys_init(struct look_keys *keys, const struct grid_state *state,
                                       const struct greedy_distances *d)
{
    memset(keys, 0xff, sizeof *keys);
    for (size_t i = 0; i < d->n; i++)
        for (uint32_t length = DEFLATE_MIN_MATCH; length < GRID_WINDOW; length++)
            keys->key[i][length] = look_key(state, d, i, length);
}

/* Length of a match that is known to reach `length`. The next window's address does not wait for
 * the result of the one before. */
GRID_INLINE uint32_t look_extend(const uint8_t *p, size_t distance, uint32_t length)
{
    for (; length < DEFLATE_MAX_MATCH; length += GRID_WINDOW) {
        const unsigned more = window_prefix(window_load(p + length), p + length - distance);

        if (more < GRID_WINDOW) {
            length += more;
            break;
        }
    }
    return length < DEFLATE_MAX_MATCH ? length : DEFLATE_MAX_MATCH;
}

/* Whether the longest match is found at a distance, where `length` bytes are known to match. */
GRID_INLINE bool look_is_longest(const uint8_t *p, uint32_t distance, uint32_t length)
{
    return look_extend(p, distance, length) == DEFLATE_MAX_MATCH;
}

/* The cheapest of the distances in `full` where the longest match is found, or GRID_MAX_DISTANCES.
 * The far end tells most of them apart. */
GRID_INLINE size_t look_longest(const struct greedy_distances *d, const uint8_t *p, uint32_t full)
{
    const size_t far = DEFLATE_MAX_MATCH - GRID_WINDOW;
    const struct window window = window_load(p + far);
    uint32_t possible = 0;

    for (; full != 0; full &= full - 1) {
        const unsigned i = lowest_bit(full);

        possible |= window_prefix(window, p + far - d->distance[i]) / GRID_WINDOW << i;
    }
    for (; possible != 0; possible &= possible - 1) {
        const unsigned i = lowest_bit(possible);

        if (look_is_longest(p, d->distance[i], GRID_WINDOW))
            return i;
    }
    return GRID_MAX_DISTANCES;
}

/* The best of the distances in `full`, where a whole window matches. The longest match is the best
 * even where it takes more bits per byte: there is often another one behind it. */
GRID_INLINE struct match look_further(const struct grid_state *state,
                                      const struct greedy_distances *d, const uint8_t *p,
                                      uint32_t full)
{
    const size_t longest = look_longest(d, p, full);
    uint32_t lengths[GRID_MAX_DISTANCES];
    uint32_t least = LOOK_NONE;

    if (longest < GRID_MAX_DISTANCES)
        return (struct match){DEFLATE_MAX_MATCH, d->distance[longest], 0};
    for (; full != 0; full &= full - 1) {
        const unsigned i = lowest_bit(full);
        uint32_t key;

        lengths[i] = look_extend(p, d->distance[i], GRID_WINDOW);
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
