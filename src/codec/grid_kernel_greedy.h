/*
 * grid_kernel_greedy.h - the fast parser: at every position the match with the fewest bits per
 * byte, among the learned distances and one from a hash table. Part of grid_kernel.h.
 */

#define GREEDY_HASH_BELOW 24 /* longer matches need no look into the hash table */

/* The learned distances, cheapest first, padded with copies of the last to a multiple of 4. */
struct greedy_distances {
    size_t n;
    uint32_t longest;
    uint32_t distance[GRID_MAX_DISTANCES];
    uint32_t cost[GRID_MAX_DISTANCES];
};

struct match {
    uint32_t length;
    uint32_t distance;
    uint32_t score; /* bits per byte, times 2^20 */
};

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

/* Less is better. */
GRID_INLINE uint32_t match_score(const struct grid_state *state, uint32_t distance_cost,
                                 uint32_t length)
{
    return (distance_cost + state->costs.length[length]) * state->inverse[length];
}

/* Of the distances in `full`, where the whole window matches, the best; cheapest first, so that a
 * longest match ends the search. */
GRID_INLINE void greedy_extend(const struct grid_state *state, const struct greedy_distances *d,
                               const uint8_t *p, uint32_t most, uint32_t full, struct match *best)
{
    for (; full != 0; full &= full - 1) {
        const unsigned i = lowest_bit(full);
        const uint32_t length = extend(p, d->distance[i], GRID_WINDOW, most);
        const uint32_t score = match_score(state, d->cost[i], length);

        if (score < best->score)
            *best = (struct match){length, d->distance[i], score};
        if (length == DEFLATE_MAX_MATCH)
            break;
    }
}

/* Try n learned distances; those that reach too far back count as no match. */
GRID_INLINE void greedy_learned(const struct grid_state *state, const struct greedy_distances *d,
                                size_t n, const struct window *window, const uint8_t *p,
                                uint32_t most, struct match *best)
{
    const size_t available = (size_t)(p - state->floor);
    uint32_t lengths[GRID_MAX_DISTANCES];
    uint32_t full = 0;

    if (available >= d->longest) {
        for (size_t i = 0; i < n; i++) {
            lengths[i] = window_prefix(*window, p - d->distance[i]);
            full |= lengths[i] / GRID_WINDOW << i;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            lengths[i] =
                d->distance[i] > available ? 0 : window_prefix(*window, p - d->distance[i]);
            full |= lengths[i] / GRID_WINDOW << i;
        }
    }
    /* Near the end a full window says something about bytes that are not the piece's. */
    if (full != 0 && most >= GRID_WINDOW) {
        greedy_extend(state, d, p, most, full, best);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t length = lengths[i] < most ? lengths[i] : most;
        const uint32_t score = match_score(state, d->cost[i], length);

        if (length >= DEFLATE_MIN_MATCH && score < best->score)
            *best = (struct match){length, d->distance[i], score};
    }
}

/* Try the latest position with the same hash, and put this one in its place. */
GRID_INLINE void greedy_hashed(struct grid_state *state, const struct window *window,
                               const uint8_t *p, uint32_t most, struct match *best)
{
    const uint32_t here = (uint32_t)(p - state->floor) + 1;
    uint32_t *const slot = &state->hash[load_32(p) * 2654435761u >> (32 - GRID_HASH_BITS)];
    const uint32_t distance = here - *slot;
    const bool is_usable = *slot != 0 && distance <= DEFLATE_MAX_DISTANCE;

    *slot = here;
    if (is_usable) {
        const uint32_t length = match_length(window, p, distance, most);

        if (length >= 4) {
            const uint32_t cost = state->costs.distance[deflate_distance_symbol(distance)];
            const uint32_t score = match_score(state, cost, length);

            if (score < best->score)
                *best = (struct match){length, distance, score};
        }
    }
}

/* Whether a short match takes fewer bits than its bytes as literals. */
GRID_INLINE bool match_pays(const struct grid_state *state, const uint8_t *p,
                            const struct match *match)
{
    uint32_t cost = 0;

    if (match->length > 4)
        return true;
    for (uint32_t i = 0; i < match->length; i++)
        cost += state->costs.literal[p[i]];
    return match->score < cost * state->inverse[match->length];
}

/* Behind a longest match there is often another one: the cheapest is the best then. */
GRID_INLINE bool greedy_run(const struct grid_state *state, const struct greedy_distances *d,
                            const struct window *window, const uint8_t *p, uint32_t most,
                            struct match *best)
{
    const size_t available = (size_t)(p - state->floor);

    if (most < DEFLATE_MAX_MATCH)
        return false;
    for (size_t i = 0; i < d->n; i++) {
        if (d->distance[i] <= available &&
            match_length(window, p, d->distance[i], most) == DEFLATE_MAX_MATCH) {
            *best = (struct match){DEFLATE_MAX_MATCH, d->distance[i], 0};
            return true;
        }
    }
    return false;
}

/* The parser for n distances, to be compiled for every n there is. */
GRID_INLINE const uint8_t *greedy_parse(struct grid_state *state, const struct greedy_distances *d,
                                        size_t n, const uint8_t *p, const uint8_t *stop)
{
    const uint8_t *literals = p;
    size_t n_sequences = 0, n_looked = 0;
    bool in_run = false; /* a longest match ends here */

    while (p < stop && n_sequences < GRID_MAX_SEQUENCES) {
        const struct window window = window_load(p);
        const uint32_t most = match_limit(p, stop);
        struct match best = {0, 0, UINT32_MAX};

        if (!in_run || !greedy_run(state, d, &window, p, most, &best)) {
            n_looked++;
            greedy_learned(state, d, n, &window, p, most, &best);
            if (best.length < GREEDY_HASH_BELOW)
                greedy_hashed(state, &window, p, most, &best);
        }
        in_run = best.length == DEFLATE_MAX_MATCH;
        if (best.length >= DEFLATE_MIN_MATCH && match_pays(state, p, &best)) {
            state->sequences[n_sequences++] = (struct grid_sequence){
                (uint32_t)(p - literals), (uint16_t)best.length, (uint16_t)(best.distance - 1)};
            p += best.length;
            literals = p;
        } else {
            p++;
        }
    }
    state->n_sequences = n_sequences;
    state->work.n_looked += n_looked;
    return p;
}

static GRID_TARGET const uint8_t *greedy(struct grid_state *state, const uint8_t *p,
                                         const uint8_t *stop)
{
    struct greedy_distances distances;

    greedy_distances_init(&distances, state);
    switch (distances.n) {
    case 0:
        return greedy_parse(state, &distances, 0, p, stop);
    case 4:
        return greedy_parse(state, &distances, 4, p, stop);
    case 8:
        return greedy_parse(state, &distances, 8, p, stop);
    case 12:
        return greedy_parse(state, &distances, 12, p, stop);
    default:
        return greedy_parse(state, &distances, GRID_MAX_DISTANCES, p, stop);
    }
}
