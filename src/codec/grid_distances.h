/*
 * grid_distances.h - the parsers that compare at the learned distances. Part of grid_kernel.h.
 *
 * The greedy one is fast: at every place the match with the fewest bits per byte, among the learned
 * distances and one from a hash table; unless there is a better one at the next element. All
 * distances are compared without a branch for any of them: rating and number of a distance make one
 * key, and the least key is the best match. Only where a whole window matches is there more to find
 * out.
 *
 * The optimal one finds the path of fewest bits through the matches at learned distances and at the
 * latest places of the same hash, and literals. Only places that some path leads to are looked at;
 * where a long match begins, literals are not tried, so that these places stay few.
 */

/* --- the best match at one place among the learned distances --- */

#define LOOK_NUMBER_BITS 4          /* of a key: which distance */
#define LOOK_NONE        UINT32_MAX /* the key of no match */

_Static_assert(GRID_MAX_DISTANCES <= 1 << LOOK_NUMBER_BITS, "a key holds a distance's number");

/* The learned distances, cheapest first, padded with copies of the last to a multiple of 4. */
struct learned {
    size_t n;
    uint32_t longest;
    uint32_t distance[GRID_MAX_DISTANCES];
    uint32_t cost[GRID_MAX_DISTANCES];
};

struct match {
    uint32_t length;
    uint32_t distance;
    uint32_t score; /* bits per byte, times 2^20: less is better */
};

static const struct match no_match = {0, 0, UINT32_MAX};

struct greedy {
    struct learned learned;
    /* By number and length; a whole window has none, since there may be more. */
    uint32_t keys[GRID_MAX_DISTANCES][GRID_WINDOW + 1];
    const uint8_t *stop;
    const uint8_t *literals; /* those not yet in a sequence begin here */
    uint64_t key_high;       /* factor of the next 8 bytes, or 0 */
    size_t n_looked, n_ahead, n_waited;
};

static GRID_TARGET void learned_init(struct learned *d, const struct grid_state *state)
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

GRID_INLINE uint32_t look_key(const struct grid_state *state, const struct learned *d, size_t i,
                              uint32_t length)
{
    return match_score(state, d->cost[i], length) << LOOK_NUMBER_BITS | (uint32_t)i;
}

/* The match of a key, which is one of these lengths. */
GRID_INLINE struct match look_match(const struct learned *d, uint32_t key, const uint32_t *lengths)
{
    const size_t i = key & ((1u << LOOK_NUMBER_BITS) - 1);

    return (struct match){lengths[i], d->distance[i], key >> LOOK_NUMBER_BITS};
}

/* The best match at p, where all n distances can be reached and the longest match fits. Where a
 * whole window matches, the longest match is the best even if it takes more bits per byte: there is
 * often another one after it. */
GRID_INLINE struct match look_fast(const struct grid_state *state, const struct greedy *g, size_t n,
                                   const struct window *window, const uint8_t *p)
{
    const struct learned *const d = &g->learned;
    uint32_t lengths[GRID_MAX_DISTANCES];
    uint32_t full = 0, least = LOOK_NONE, least_full = LOOK_NONE;

#pragma GCC unroll 16
    for (size_t i = 0; i < n; i++) {
        const uint32_t length = window_prefix(*window, p - d->distance[i]);
        const uint32_t key = g->keys[i][length];

        lengths[i] = length;
        full |= length / GRID_WINDOW << i;
        least = key < least ? key : least;
    }
    for (; full != 0; full &= full - 1) {
        const unsigned i = (unsigned)__builtin_ctz(full);
        uint32_t key;

        lengths[i] = extend(p, d->distance[i], GRID_WINDOW, DEFLATE_MAX_MATCH);
        if (lengths[i] == DEFLATE_MAX_MATCH)
            return (struct match){DEFLATE_MAX_MATCH, d->distance[i], 0};
        key = look_key(state, d, i, lengths[i]);
        least_full = key < least_full ? key : least_full;
    }
    if (least_full >> LOOK_NUMBER_BITS < least >> LOOK_NUMBER_BITS)
        least = least_full;
    return least == LOOK_NONE ? no_match : look_match(d, least, lengths);
}

/* The best match at p that does not go beyond stop, where distances may be out of reach. */
static GRID_TARGET struct match look_careful(const struct grid_state *state, const struct greedy *g,
                                             const struct window *window, const uint8_t *p)
{
    const uint32_t most = match_limit(p, g->stop);
    struct match best = no_match;

    for (size_t i = 0; i < g->learned.n; i++) {
        const uint32_t distance = g->learned.distance[i];
        uint32_t length, score;

        if (distance > (size_t)(p - state->floor))
            continue;
        length = match_length(window, p, distance, most);
        score = match_score(state, g->learned.cost[i], length);
        if (length == DEFLATE_MAX_MATCH)
            return (struct match){length, distance, 0};
        if (length >= DEFLATE_MIN_MATCH && score < best.score)
            best = (struct match){length, distance, score};
    }
    return best;
}

GRID_INLINE struct match look(const struct grid_state *state, const struct greedy *g, size_t n,
                              const struct window *window, const uint8_t *p)
{
    if (__builtin_expect((size_t)(p - state->floor) >= g->learned.longest &&
                             g->stop - p >= DEFLATE_MAX_MATCH,
                         1))
        return look_fast(state, g, n, window, p);
    return look_careful(state, g, window, p);
}

/* --- the greedy parser --- */

#define GREEDY_HASH_BELOW     32 /* longer matches need no look into the hash table */
#define GREEDY_KEY_MAX_NBYTES 16 /* of a hash */
#define GREEDY_AHEAD_BELOW    64 /* longer matches need no look at the next element */

/* Where fewer of the looks ahead than 1 in 4 are worth it, there are no more of them in a block. */
#define GREEDY_AHEAD_TRIES 100
#define GREEDY_AHEAD_WORTH 4

/* Try the latest position with the same hash, and put this one in its place. */
GRID_INLINE void greedy_hashed(struct grid_state *state, const struct greedy *g,
                               const struct window *window, const uint8_t *p, struct match *best)
{
    const uint64_t odd = 0x9e3779b97f4a7c15, low = load_64(p) * odd;
    const uint64_t hash = (low ^ load_64(p + 8) * g->key_high) * odd;
    uint32_t *const slot = &state->hash[hash >> (64 - GRID_HASH_BITS)];
    const uint32_t here = (uint32_t)(p - state->floor) + 1;
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

/* Look at the next element; returns how many literals come before the match there, which replaces
 * the best one if it is longer and both together take fewer bits per byte, or 0. */
GRID_INLINE size_t greedy_ahead(const struct grid_state *state, struct greedy *g, size_t n,
                                const uint8_t *p, struct match *best)
{
    const size_t item_nbytes = state->trained.item_nbytes;
    const size_t n_literals = item_nbytes - ((size_t)(p - state->floor) & (item_nbytes - 1));
    struct window window;
    struct match next;
    uint64_t cost;

    if (best->length < DEFLATE_MIN_MATCH || best->length >= GREEDY_AHEAD_BELOW ||
        g->stop - p < DEFLATE_MAX_MATCH ||
        (g->n_ahead >= GREEDY_AHEAD_TRIES && g->n_waited * GREEDY_AHEAD_WORTH < g->n_ahead))
        return 0;
    window = window_load(p + n_literals);
    next = look(state, g, n, &window, p + n_literals);
    g->n_ahead++;
    cost = (uint64_t)next.score * next.length;
    for (size_t i = 0; i < n_literals; i++)
        cost += (uint64_t)state->costs.literal[p[i]] << 20;
    if (next.length <= best->length || cost >= (uint64_t)best->score * (n_literals + next.length))
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
    const struct learned *const d = &g->learned;

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
            best = look(state, g, n, &window, p);
        }
        if (best.length < GREEDY_HASH_BELOW && g->stop - p >= GREEDY_KEY_MAX_NBYTES)
            greedy_hashed(state, g, &window, p, &best);
        n_before = greedy_ahead(state, g, n, p, &best);
        if (n_before > 0) {
            p += n_before;
        } else if (best.length >= DEFLATE_MIN_MATCH && best.score < state->costs.literal_mean
                                                                        << (20 - 4)) {
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
    struct greedy g = {.stop = stop, .literals = p};

    learned_init(&g.learned, state);
    memset(g.keys, 0xff, sizeof g.keys);
    for (size_t i = 0; i < g.learned.n; i++)
        for (uint32_t length = DEFLATE_MIN_MATCH; length < GRID_WINDOW; length++)
            g.keys[i][length] = look_key(state, &g.learned, i, length);
    /* A hash is of several elements, since a match of one or two is not worth a distance of its
     * own. */
    g.key_high = state->trained.item_nbytes >= 4 ? 0xc2b2ae3d27d4eb4f : 0;
    state->n_sequences = 0;
    return g.learned.n == 0   ? greedy_parse(state, &g, 0, p)
           : g.learned.n == 4 ? greedy_parse(state, &g, 4, p)
           : g.learned.n == 8 ? greedy_parse(state, &g, 8, p)
                              : greedy_parse(state, &g, GRID_MAX_DISTANCES, p);
}

/* --- the optimal parser --- */

#define OPTIMAL_LITERAL_BELOW 16 /* matches this long leave no reason to try a literal */
#define OPTIMAL_HASH_BELOW    32

/* A stretch of input, and the best way found so far to each of its places. */
struct optimal {
    struct learned learned;
    const uint8_t *begin, *stop;
    struct grid_path *path;
};

/* Offer a way on from p at a cost: a match, or a literal with distance 0. */
GRID_INLINE void optimal_offer(const struct optimal *o, const uint8_t *p, uint32_t length,
                               uint32_t distance, uint32_t cost)
{
    const uint32_t at = (uint32_t)(p - o->begin), to = at + length;
    const uint32_t total = o->path->cost[at] + cost;

    if (total < o->path->cost[to]) {
        o->path->cost[to] = total;
        o->path->step[to] = distance == 0 ? 0 : length << 16 | (distance - 1);
        o->path->reached[to / 64] |= (uint64_t)1 << to % 64;
    }
}

/* Try the latest positions with the same hash, those that match further than nearer ones did; this
 * one becomes the latest. Returns the greatest length. */
GRID_INLINE uint32_t optimal_hashed(const struct grid_state *state, const struct optimal *o,
                                    const struct window *window, const uint8_t *p)
{
    const uint32_t here = (uint32_t)(p - state->floor) + 1;
    const uint32_t most = match_limit(p, o->stop);
    uint32_t *const latest =
        o->path->latest[load_32(p) * 2654435761u >> (32 - GRID_PATH_HASH_BITS)];
    uint32_t longest = DEFLATE_MIN_MATCH;

    for (unsigned way = 0; way < GRID_PATH_WAYS && latest[way] != 0; way++) {
        const uint32_t distance = here - latest[way];
        uint32_t length;

        if (distance > DEFLATE_MAX_DISTANCE)
            break;
        if (load_32(p - distance) != load_32(p))
            continue;
        length = match_length(window, p, distance, most);
        if (length > longest) {
            longest = length;
            optimal_offer(o, p, length, distance,
                          state->costs.distance[deflate_distance_symbol(distance)] +
                              state->costs.length[length]);
        }
    }
    memmove(latest + 1, latest, (GRID_PATH_WAYS - 1) * sizeof *latest);
    latest[0] = here;
    return longest;
}

/* Offer all ways on from p. */
GRID_INLINE void optimal_step(const struct grid_state *state, const struct optimal *o,
                              const uint8_t *p)
{
    const struct window window = window_load(p);
    const uint32_t most = match_limit(p, o->stop);
    uint32_t longest = 0;

    for (size_t i = 0; i < o->learned.n; i++) {
        const uint32_t distance = o->learned.distance[i];
        uint32_t length;

        if (distance > (size_t)(p - state->floor))
            continue;
        length = match_length(&window, p, distance, most);
        if (length >= DEFLATE_MIN_MATCH)
            optimal_offer(o, p, length, distance, o->learned.cost[i] + state->costs.length[length]);
        longest = length > longest ? length : longest;
        if (length == DEFLATE_MAX_MATCH)
            return;
    }
    if (longest < OPTIMAL_HASH_BELOW && o->stop - p >= 4) {
        const uint32_t length = optimal_hashed(state, o, &window, p);

        longest = length > longest ? length : longest;
    }
    if (longest < OPTIMAL_LITERAL_BELOW)
        optimal_offer(o, p, 1, 0, state->costs.literal[*p]);
}

/* The next place from `at` on that a path leads to; more than the last place when there is none. */
GRID_INLINE uint32_t optimal_next(const struct grid_path *path, uint32_t at)
{
    uint64_t bits = path->reached[at / 64] >> at % 64;

    if (bits != 0)
        return at + (unsigned)__builtin_ctzll(bits);
    at /= 64;
    do {
        bits = path->reached[++at];
    } while (bits == 0);
    return 64 * at + (unsigned)__builtin_ctzll(bits);
}

/* Find the best way from `begin` to `stop`. */
GRID_INLINE void optimal_search(struct grid_state *state, const struct optimal *o)
{
    struct grid_path *const path = o->path;
    const uint32_t n = (uint32_t)(o->stop - o->begin);

    memset(path->cost, 0xff, (n + 1) * sizeof *path->cost);
    memset(path->reached, 0, (n / 64 + 2) * sizeof *path->reached);
    path->reached[n / 64 + 1] = 1; /* ends every search for a place */
    path->cost[0] = 0;
    path->reached[0] = 1;
    for (uint32_t at = 0; at < n; at = optimal_next(path, at + 1)) {
        const uint32_t next = optimal_next(path, at + 1);

        /* Not worth while where the next place takes no more bits: hardly ever is it better. */
        if (next > n || path->cost[next] > path->cost[at]) {
            optimal_step(state, o, o->begin + at);
            state->work.n_looked++;
        }
    }
}

static uint32_t optimal_step_length(uint32_t step)
{
    return step == 0 ? 1 : step >> 16;
}

/* Append the path's matches to the sequences. Returns the first byte after the last match. */
static const uint8_t *optimal_take(struct grid_state *state, const struct optimal *o,
                                   const uint8_t *literals)
{
    uint32_t *const steps = o->path->step;
    uint32_t n = (uint32_t)(o->stop - o->begin), step = steps[n];

    /* A place's step leads there; turned around, the steps of the path lead on from it. */
    while (n > 0) {
        const uint32_t from = n - optimal_step_length(step), before = steps[from];

        steps[from] = step;
        step = before;
        n = from;
    }
    for (const uint8_t *p = o->begin; p < o->stop;) {
        const uint32_t n_literals = (uint32_t)(p - literals);

        step = steps[p - o->begin];
        p += optimal_step_length(step);
        if (step != 0) {
            state->sequences[state->n_sequences++] =
                (struct grid_sequence){n_literals, (uint16_t)(step >> 16), (uint16_t)step};
            literals = p;
        }
    }
    return literals;
}

static GRID_TARGET const uint8_t *optimal(struct grid_state *state, const uint8_t *p,
                                          const uint8_t *stop)
{
    const size_t n_sequences = GRID_PATH_NBYTES / DEFLATE_MIN_MATCH + 1;
    struct optimal o = {.path = state->path};
    const uint8_t *literals = p;

    learned_init(&o.learned, state);
    state->n_sequences = 0;
    while (p < stop && state->n_sequences + n_sequences < GRID_MAX_SEQUENCES) {
        o.begin = p;
        o.stop = stop - p > GRID_PATH_NBYTES ? p + GRID_PATH_NBYTES : stop;
        optimal_search(state, &o);
        literals = optimal_take(state, &o, literals);
        p = o.stop;
    }
    return p;
}
