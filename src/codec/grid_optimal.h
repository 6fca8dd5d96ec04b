/*
 * grid_optimal.h - the thorough parser: the path of fewest bits through the matches at
 * learned distances and at the latest places of the same hash, and literals. Part of grid_kernel.h.
 *
 * Only places that some path leads to are looked at; where a long match begins, literals are not
 * tried, so that these places stay few.
 */

#define OPTIMAL_LITERAL_BELOW 16 /* matches this long leave no reason to try a literal */
#define OPTIMAL_HASH_BELOW    32

/* A stretch of input, and the best way found so far to each of its places. */
struct optimal_stretch {
    const uint8_t *begin;
    const uint8_t *stop;
    struct grid_path *path;
};

/* Offer a way to the place `length` bytes behind `at`; step 0 is a literal. */
GRID_INLINE void optimal_offer(const struct optimal_stretch *s, uint32_t at, uint32_t length,
                               uint32_t cost, uint32_t step)
{
    const uint32_t to = at + length;
    const uint32_t total = s->path->cost[at] + cost;

    if (total < s->path->cost[to]) {
        s->path->cost[to] = total;
        s->path->step[to] = step;
        s->path->reached[to / 64] |= (uint64_t)1 << to % 64;
    }
}

/* Offer the match at a distance; returns its length. */
GRID_INLINE uint32_t optimal_match(const struct grid_state *state, const struct optimal_stretch *s,
                                   const struct window *window, const uint8_t *p, uint32_t distance,
                                   uint32_t distance_cost)
{
    const uint32_t length = match_length(window, p, distance, match_limit(p, s->stop));

    if (length < DEFLATE_MIN_MATCH)
        return 0;
    optimal_offer(s, (uint32_t)(p - s->begin), length, distance_cost + state->costs.length[length],
                  length << 16 | (distance - 1));
    return length;
}

/* Try the latest positions with the same hash, those that match further than nearer ones did; this
 * one becomes the latest. Returns the greatest length. */
GRID_INLINE uint32_t optimal_hashed(const struct grid_state *state, const struct optimal_stretch *s,
                                    const struct window *window, const uint8_t *p)
{
    const uint32_t here = (uint32_t)(p - state->floor) + 1;
    const uint32_t most = match_limit(p, s->stop);
    uint32_t *const latest =
        s->path->latest[load_32(p) * 2654435761u >> (32 - GRID_PATH_HASH_BITS)];
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
            optimal_offer(s, (uint32_t)(p - s->begin), length,
                          state->costs.distance[deflate_distance_symbol(distance)] +
                              state->costs.length[length],
                          length << 16 | (distance - 1));
        }
    }
    memmove(latest + 1, latest, (GRID_PATH_WAYS - 1) * sizeof *latest);
    latest[0] = here;
    return longest;
}

/* Offer all ways on from p. */
GRID_INLINE void optimal_step(const struct grid_state *state, const struct greedy_distances *d,
                              const struct optimal_stretch *s, const uint8_t *p)
{
    const struct window window = window_load(p);
    const size_t available = (size_t)(p - state->floor);
    uint32_t longest = 0;

    for (size_t i = 0; i < d->n; i++) {
        uint32_t length;

        if (d->distance[i] > available)
            continue;
        length = optimal_match(state, s, &window, p, d->distance[i], d->cost[i]);
        longest = length > longest ? length : longest;
        if (length == DEFLATE_MAX_MATCH)
            return;
    }
    if (longest < OPTIMAL_HASH_BELOW && s->stop - p >= 4) {
        const uint32_t length = optimal_hashed(state, s, &window, p);

        longest = length > longest ? length : longest;
    }
    if (longest < OPTIMAL_LITERAL_BELOW)
        optimal_offer(s, (uint32_t)(p - s->begin), 1, state->costs.literal[*p], 0);
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
GRID_INLINE void optimal_search(struct grid_state *state, const struct greedy_distances *d,
                                const struct optimal_stretch *s)
{
    const uint32_t n = (uint32_t)(s->stop - s->begin);
    uint32_t at = 0;

    memset(s->path->cost, 0xff, (n + 1) * sizeof *s->path->cost);
    memset(s->path->reached, 0, (n / 64 + 2) * sizeof *s->path->reached);
    s->path->reached[n / 64 + 1] = 1; /* ends every search for a place */
    s->path->cost[0] = 0;
    s->path->reached[0] = 1;
    while (at < n) {
        const uint32_t next = optimal_next(s->path, at + 1);

        /* Not worth while where the next place takes no more bits: hardly ever is it better. */
        if (next > n || s->path->cost[next] > s->path->cost[at]) {
            optimal_step(state, d, s, s->begin + at);
            state->work.n_looked++;
            at = optimal_next(s->path, at + 1);
        } else {
            at = next;
        }
    }
}

static uint32_t optimal_step_length(uint32_t step)
{
    return step == 0 ? 1 : step >> 16;
}

/* A place's step leads there; turn the steps of the path around, so that they lead on from it. */
static void optimal_turn(struct grid_path *path, uint32_t n)
{
    uint32_t step = path->step[n];

    while (n > 0) {
        const uint32_t from = n - optimal_step_length(step);
        const uint32_t before = path->step[from];

        path->step[from] = step;
        step = before;
        n = from;
    }
}

/* Append the path's matches to the sequences. Returns the first byte behind the last match. */
static const uint8_t *optimal_take(struct grid_state *state, const struct optimal_stretch *s,
                                   const uint8_t *literals)
{
    const uint8_t *p = s->begin;

    while (p < s->stop) {
        const uint32_t step = s->path->step[p - s->begin];
        const uint32_t n_literals = (uint32_t)(p - literals);

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
    struct greedy_distances distances;
    const uint8_t *literals = p;

    greedy_distances_init(&distances, state);
    state->n_sequences = 0;
    while (p < stop &&
           state->n_sequences + GRID_PATH_NBYTES / DEFLATE_MIN_MATCH + 1 < GRID_MAX_SEQUENCES) {
        const size_t left = (size_t)(stop - p);
        const struct optimal_stretch s = {p, left > GRID_PATH_NBYTES ? p + GRID_PATH_NBYTES : stop,
                                          state->path};

        optimal_search(state, &distances, &s);
        optimal_turn(s.path, (uint32_t)(s.stop - s.begin));
        literals = optimal_take(state, &s, literals);
        p = s.stop;
    }
    return p;
}
