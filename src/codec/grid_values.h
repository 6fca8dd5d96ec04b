/*
 * grid_values.h - the parser for values that come again: visit counts, scores, ownership.
 * Part of grid_kernel.h.
 *
 * A transform moves the elements of a row, and there are few different ones, so that matches of a
 * few elements are everywhere, and which of them to take decides the size. All elements of a
 * stretch are looked up by their own value and by those of several elements from here on, and
 * compared at the best learned distance; then the path of fewest bits is found from the end of the
 * stretch to its beginning. There are hardly any branches that depend on the data.
 */

/* Number of the lowest position: what an empty slot says, 0, is too far away from any. */
#define VALUES_FIRST (DEFLATE_MAX_DISTANCE + 1)
#define VALUES_LONG  64 /* within matches this long nothing is looked up */

struct values_stretch {
    const uint8_t *begin;
    const uint8_t *end;   /* of the stretch */
    const uint8_t *stop;  /* of the block: bytes from here on may be of any value */
    const uint8_t *floor; /* what may be matched begins here */
    uint32_t learned;     /* the best of the learned distances, or 0 */
};

/* An element that is looked up. */
struct values_place {
    struct window window;
    const uint8_t *p;
    bool is_tail;  /* near the end of the stretch */
    uint32_t most; /* a match may be as long */
    size_t left;   /* bytes to the end of the block */
};

/* How many bytes a table is keyed by. */
GRID_INLINE unsigned values_key(unsigned table, size_t item_nbytes)
{
    static const uint8_t small[GRID_VALUES_TABLES] = {4, 6, 12};

    return item_nbytes == 8 ? 8 * (table + 1) : item_nbytes == 4 ? 4u << table : small[table];
}

/* The slot for the element at p in a table. */
GRID_INLINE uint32_t *values_slot(struct grid_values *v, unsigned table, const uint8_t *p,
                                  size_t item_nbytes)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;
    const unsigned n = values_key(table, item_nbytes);
    uint32_t *const slots = v->latest + (table > 0) * (size_t)GRID_VALUES_SLOTS_1 +
                            (table > 1) * (size_t)GRID_VALUES_SLOTS;
    const unsigned n_bits = table == 0 ? GRID_VALUES_BITS_1 : GRID_VALUES_BITS;

    if (n <= 4)
        return &slots[load_32(p) * 2654435761u >> (32 - n_bits)];
    if (n <= 8)
        return &slots[(load_64(p) << (64 - 8 * n)) * odd >> (64 - n_bits)];
    return &slots[(load_64(p) * odd ^ load_64(p + n - 8) * 0xc2b2ae3d27d4eb4f) * odd >>
                  (64 - n_bits)];
}

/*
 * The match at a distance, as a step: whole elements of it; 0 where there is none. Near the end of
 * a stretch it must not reach beyond, and none counts whose first `key` bytes, which led there, lie
 * partly after the block.
 */
GRID_INLINE uint32_t values_match(const struct values_place *at, uint32_t distance,
                                  size_t item_nbytes, unsigned key)
{
    uint32_t usable = -(uint32_t)(distance - 1 < DEFLATE_MAX_DISTANCE);
    uint32_t length;

    if (at->is_tail)
        usable &= -(uint32_t)(at->left >= key);
    length = window_prefix(at->window, at->p - (distance & usable)) & usable;
    if (__builtin_expect(length == GRID_WINDOW, 0))
        length = extend(at->p, distance, length, at->most);
    if (at->is_tail)
        length = length < at->most ? length : at->most;
    length &= -(uint32_t)item_nbytes;
    if (item_nbytes < DEFLATE_MIN_MATCH)
        length &= -(uint32_t)(length >= DEFLATE_MIN_MATCH);
    return length << 16 | ((distance - 1) & (DEFLATE_MAX_DISTANCE - 1));
}

/* Look up the element at p in all tables, and put it there; returns the longest match. */
GRID_INLINE uint32_t values_look(struct grid_values *v, const struct values_stretch *s,
                                 const uint8_t *p, size_t item_nbytes, bool is_tail)
{
    const struct values_place at = {window_load(p), p, is_tail,
                                    is_tail ? match_limit(p, s->end) : DEFLATE_MAX_MATCH,
                                    (size_t)(s->stop - p)};
    const uint32_t here = (uint32_t)(p - s->floor) + VALUES_FIRST;
    const uint32_t learned = s->learned <= here - VALUES_FIRST ? s->learned : 0;
    uint32_t *const matches = v->matches[(size_t)(p - s->begin) / item_nbytes];
    uint32_t distances[GRID_VALUES_TABLES], longest;

#pragma GCC unroll 3
    for (unsigned t = 0; t < GRID_VALUES_TABLES; t++) {
        uint32_t *const slot = values_slot(v, t, p, item_nbytes);

        distances[t] = here - *slot;
        *slot = here;
    }
    longest = matches[GRID_VALUES_TABLES] = values_match(&at, learned, item_nbytes, 1);
#pragma GCC unroll 3
    for (unsigned t = 0; t < GRID_VALUES_TABLES; t++) {
        const uint32_t match =
            values_match(&at, distances[t], item_nbytes, values_key(t, item_nbytes));

        matches[t] = match;
        longest = match >> 16 > longest >> 16 ? match : longest;
    }
    return longest;
}

GRID_INLINE void values_insert(const struct grid_state *state, const uint8_t *p, size_t item_nbytes)
{
    for (unsigned t = 0; t < GRID_VALUES_TABLES; t++)
        *values_slot(state->values, t, p, item_nbytes) =
            (uint32_t)(p - state->floor) + VALUES_FIRST;
}

/* Look up one element after the other. Those within a long match have what is left of it. */
GRID_INLINE void values_find(struct grid_state *state, const struct values_stretch *s,
                             size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    const uint8_t *p = s->begin;
    uint64_t n_looked = 0;

    while (p < s->end) {
        const uint32_t longest = s->end - p > DEFLATE_MAX_MATCH
                                     ? values_look(v, s, p, item_nbytes, false)
                                     : values_look(v, s, p, item_nbytes, true);
        uint32_t left = longest >> 16;

        n_looked++;
        p += item_nbytes;
        if (__builtin_expect(left < VALUES_LONG, 1))
            continue;
        while ((left -= (uint32_t)item_nbytes) > 0) {
            const uint32_t match =
                (left >= DEFLATE_MIN_MATCH ? left << 16 : 0) | (longest & 0xffff);

            for (unsigned t = 0; t < GRID_VALUES_MATCHES; t++)
                v->matches[(size_t)(p - s->begin) / item_nbytes][t] = match;
            p += item_nbytes;
        }
        values_insert(state, p - item_nbytes, item_nbytes);
    }
    state->work.n_looked += n_looked;
}

GRID_INLINE uint32_t values_literals(const struct grid_costs *costs, const uint8_t *p,
                                     size_t item_nbytes)
{
    uint32_t sum = 0;

#pragma GCC unroll 8
    for (size_t i = 0; i < item_nbytes; i++)
        sum += costs->literal[p[i]];
    return sum;
}

/* The bits of a match. */
GRID_INLINE uint32_t values_cost(const struct grid_state *state, uint32_t match)
{
    return (uint32_t)state->costs.length[match >> 16] +
           state->values->distance_nbits[match & 0xffff];
}

/* Of all ways from element i to the end, the one of fewest bits. */
GRID_INLINE void values_step(const struct grid_state *state, const uint8_t *p, size_t i,
                             size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    uint32_t best = v->cost[i + 1] + values_literals(&state->costs, p, item_nbytes), step = 0;

    v->cost[i] = UINT32_MAX / 2; /* where a place without a match would lead */
#pragma GCC unroll 4
    for (unsigned t = 0; t < GRID_VALUES_MATCHES; t++) {
        const uint32_t match = v->matches[i][t];
        const uint32_t cost = v->cost[i + (match >> 16) / item_nbytes] + values_cost(state, match);
        const bool is_better = cost < best;

        best = is_better ? cost : best;
        step = is_better ? match : step;
    }
    v->cost[i] = best;
    v->steps[i] = step;
}

/* Find the best steps, from the last element to the first. */
GRID_INLINE void values_search(const struct grid_state *state, const struct values_stretch *s,
                               size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    size_t i = (size_t)(s->end - s->begin) / item_nbytes;

    v->cost[i] = 0;
    while (i-- > 0)
        values_step(state, s->begin + i * item_nbytes, i, item_nbytes);
}

/* Append the matches of the best steps to the sequences. Returns the first byte after the last
 * match. */
GRID_INLINE const uint8_t *values_take(struct grid_state *state, const struct values_stretch *s,
                                       const uint8_t *literals, size_t item_nbytes)
{
    const struct grid_values *const v = state->values;
    struct grid_sequence *next = state->sequences + state->n_sequences;
    const uint8_t *p = s->begin;

    while (p < s->end) {
        const uint32_t step = v->steps[(size_t)(p - s->begin) / item_nbytes];
        const uint32_t length = step >> 16;

        *next = (struct grid_sequence){(uint32_t)(p - literals), (uint16_t)length, (uint16_t)step};
        next += length != 0;
        p += length != 0 ? length : item_nbytes;
        literals = length != 0 ? p : literals;
    }
    state->n_sequences = (size_t)(next - state->sequences);
    return literals;
}

GRID_INLINE const uint8_t *values_parse(struct grid_state *state, const uint8_t *p,
                                        const uint8_t *stop, size_t item_nbytes)
{
    const size_t most = GRID_VALUES_STRETCH * item_nbytes;
    const size_t n_sequences = item_nbytes <= 2 ? GRID_VALUES_STRETCH / 2 : GRID_VALUES_STRETCH;
    const uint32_t learned = state->trained.n_distances > 0 ? state->trained.distances[0] : 0;
    const uint8_t *literals = p;

    if (p == state->bytes) /* remember the elements in front of the piece */
        for (const uint8_t *q = p - (size_t)(p - state->floor) / item_nbytes * item_nbytes; q < p;
             q += item_nbytes)
            values_insert(state, q, item_nbytes);
    for (unsigned symbol = 0, begin = 0; symbol < DEFLATE_N_DISTANCE; symbol++) {
        const uint32_t end = deflate_symbol_end(symbol);

        memset(state->values->distance_nbits + begin, state->costs.distance[symbol], end - begin);
        begin = end;
    }
    state->n_sequences = 0;
    while (p < stop && state->n_sequences + n_sequences < GRID_MAX_SEQUENCES) {
        const size_t left = (size_t)(stop - p) - (size_t)(stop - p) % item_nbytes;
        const struct values_stretch s = {p, left > most ? p + most : p + left, stop, state->floor,
                                         learned};

        if (left == 0)
            return stop;
        values_find(state, &s, item_nbytes);
        values_search(state, &s, item_nbytes);
        literals = values_take(state, &s, literals, item_nbytes);
        p = s.end;
    }
    return p;
}

static GRID_TARGET const uint8_t *values(struct grid_state *state, const uint8_t *p,
                                         const uint8_t *stop)
{
    if (state->trained.item_nbytes == 1)
        return values_parse(state, p, stop, 1);
    return BY_ITEM(state->trained.item_nbytes, values_parse, state, p, stop);
}
