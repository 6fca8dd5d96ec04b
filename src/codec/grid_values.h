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

/* How many bytes each table is keyed by. */
#define VALUES_KEY_1(item_nbytes) ((item_nbytes) == 8 ? 8u : 4u)
#define VALUES_KEY_2(item_nbytes) ((item_nbytes) == 8 ? 16u : (item_nbytes) == 4 ? 8u : 6u)
#define VALUES_KEY_3(item_nbytes) ((item_nbytes) == 8 ? 24u : (item_nbytes) == 4 ? 16u : 12u)

struct values_stretch {
    const uint8_t *begin;
    const uint8_t *end;  /* of the stretch */
    const uint8_t *stop; /* of the block: bytes from here on may be of any value */
    uint32_t learned;    /* the best of the learned distances, or 0 */
    size_t n_longs;
};

/* A hash of n bytes, which is a constant. */
GRID_INLINE uint32_t values_hash(const uint8_t *p, unsigned n, unsigned n_bits)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;

    if (n <= 4)
        return load_32(p) * 2654435761u >> (32 - n_bits);
    if (n <= 8)
        return (uint32_t)((load_64(p) << (64 - 8 * n)) * odd >> (64 - n_bits));
    return (uint32_t)((load_64(p) * odd ^ load_64(p + n - 8) * 0xc2b2ae3d27d4eb4f) * odd >>
                      (64 - n_bits));
}

/* The slot for the element at p in the table of its own value, and in those of several elements. */
GRID_INLINE uint32_t *values_slot_1(struct grid_values *v, const uint8_t *p, size_t item_nbytes)
{
    return &v->latest_1[values_hash(p, VALUES_KEY_1(item_nbytes), GRID_VALUES_BITS_1)];
}

GRID_INLINE uint32_t *values_slot_2(struct grid_values *v, const uint8_t *p, size_t item_nbytes)
{
    return &v->latest_2[values_hash(p, VALUES_KEY_2(item_nbytes), GRID_VALUES_BITS)];
}

GRID_INLINE uint32_t *values_slot_3(struct grid_values *v, const uint8_t *p, size_t item_nbytes)
{
    return &v->latest_3[values_hash(p, VALUES_KEY_3(item_nbytes), GRID_VALUES_BITS)];
}

/* The position in a slot, which then holds this one. */
GRID_INLINE uint32_t values_swap(uint32_t *slot, uint32_t here)
{
    const uint32_t before = *slot;

    *slot = here;
    return here - before;
}

/*
 * The match at a distance, as a step: whole elements of it; 0 where there is none. Near the end of
 * a stretch (is_tail) it must not reach beyond, and none counts whose first `key` bytes, which led
 * there, lie partly behind the block.
 */
GRID_INLINE uint32_t values_match(const struct window *window, const uint8_t *p, uint32_t distance,
                                  size_t item_nbytes, unsigned key, bool is_tail,
                                  const struct values_stretch *s)
{
    const uint32_t most = is_tail ? match_limit(p, s->end) : DEFLATE_MAX_MATCH;
    uint32_t usable = -(uint32_t)(distance - 1 < DEFLATE_MAX_DISTANCE);
    uint32_t length;

    if (is_tail)
        usable &= -(uint32_t)((size_t)(s->stop - p) >= key);
    length = window_prefix(*window, p - (distance & usable)) & usable;
    if (__builtin_expect(length == GRID_WINDOW, 0))
        length = extend(p, distance, length, most);
    if (is_tail)
        length = length < most ? length : most;
    length &= -(uint32_t)item_nbytes;
    if (item_nbytes < DEFLATE_MIN_MATCH)
        length &= -(uint32_t)(length >= DEFLATE_MIN_MATCH);
    return length << 16 | ((distance - 1) & (DEFLATE_MAX_DISTANCE - 1));
}

GRID_INLINE void values_insert(struct grid_values *v, const uint8_t *p, uint32_t here,
                               size_t item_nbytes)
{
    *values_slot_1(v, p, item_nbytes) = here;
    *values_slot_2(v, p, item_nbytes) = here;
    *values_slot_3(v, p, item_nbytes) = here;
}

/* Look up the element at p in all tables, and put it there; returns the length of the longest match
 * if that is VALUES_LONG or more, or else anything less. */
GRID_INLINE uint32_t values_look(struct grid_values *v, const struct values_stretch *s,
                                 const uint8_t *p, uint32_t here, size_t item_nbytes, bool is_tail)
{
    const unsigned key_1 = VALUES_KEY_1(item_nbytes), key_2 = VALUES_KEY_2(item_nbytes),
                   key_3 = VALUES_KEY_3(item_nbytes);
    const uint32_t d_1 = values_swap(values_slot_1(v, p, item_nbytes), here);
    const uint32_t d_2 = values_swap(values_slot_2(v, p, item_nbytes), here);
    const uint32_t d_3 = values_swap(values_slot_3(v, p, item_nbytes), here);
    const struct window window = window_load(p);
    const uint32_t m_1 = values_match(&window, p, d_1, item_nbytes, key_1, is_tail, s);
    const uint32_t m_2 = values_match(&window, p, d_2, item_nbytes, key_2, is_tail, s);
    const uint32_t m_3 = values_match(&window, p, d_3, item_nbytes, key_3, is_tail, s);
    const uint32_t d_4 = s->learned <= here - VALUES_FIRST ? s->learned : 0;
    const uint32_t m_4 = values_match(&window, p, d_4, item_nbytes, 1, is_tail, s);
    uint32_t *const matches = v->matches[(size_t)(p - s->begin) / item_nbytes];
    const uint32_t m_12 = m_1 > m_2 ? m_1 : m_2, m_34 = m_3 > m_4 ? m_3 : m_4;

    matches[0] = m_1;
    matches[1] = m_2;
    matches[2] = m_3;
    matches[3] = m_4;
    return (m_12 > m_34 ? m_12 : m_34) >> 16;
}

/* Look up one element after the other. */
GRID_INLINE void values_find(struct grid_state *state, struct values_stretch *s, size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    const uint8_t *p = s->begin;
    uint64_t n_looked = 0;

    s->n_longs = 0;
    while (p < s->end) {
        const uint32_t here = (uint32_t)(p - state->floor) + VALUES_FIRST;
        const uint32_t longest = s->end - p > DEFLATE_MAX_MATCH
                                     ? values_look(v, s, p, here, item_nbytes, false)
                                     : values_look(v, s, p, here, item_nbytes, true);

        n_looked++;
        if (__builtin_expect(longest < VALUES_LONG, 1)) {
            p += item_nbytes;
        } else {
            const size_t i = (size_t)(p - s->begin) / item_nbytes;

            v->longs[s->n_longs++] =
                (struct grid_long){(uint16_t)i, (uint16_t)(i + longest / item_nbytes)};
            p += longest;
            values_insert(v, p - item_nbytes, here + longest - (uint32_t)item_nbytes, item_nbytes);
        }
    }
    state->work.n_looked += n_looked;
}

GRID_INLINE uint32_t values_literals(const struct grid_costs *costs, const uint8_t *p,
                                     size_t item_nbytes)
{
    const uint8_t *const c = costs->literal;

    if (item_nbytes == 1)
        return c[*p];
    if (item_nbytes == 2)
        return (uint32_t)c[p[0]] + c[p[1]];
    if (item_nbytes == 4)
        return (uint32_t)c[p[0]] + c[p[1]] + c[p[2]] + c[p[3]];
    return (uint32_t)c[p[0]] + c[p[1]] + c[p[2]] + c[p[3]] + c[p[4]] + c[p[5]] + c[p[6]] + c[p[7]];
}

/* The bits of a match. */
GRID_INLINE uint32_t values_cost(const struct grid_state *state, uint32_t match)
{
    return (uint32_t)state->costs.length[match >> 16] +
           state->values->distance_nbits[match & 0xffff];
}

/* Spread the costs of distances from symbols to distances. */
static void values_spread_costs(const struct grid_costs *costs, uint8_t *distance_nbits)
{
    uint32_t begin = 0;

    for (unsigned symbol = 0; symbol < DEFLATE_N_DISTANCE; symbol++) {
        const uint32_t end = deflate_symbol_end(symbol);

        memset(distance_nbits + begin, costs->distance[symbol], end - begin);
        begin = end;
    }
}

/* From every place within a long match its rest leads on. */
GRID_INLINE void values_fill(const struct grid_state *state, const uint8_t *bytes,
                             const struct grid_long *part, size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    uint32_t match = v->matches[part->begin][0], cost;

    for (unsigned t = 1; t < GRID_VALUES_MATCHES; t++)
        if (v->matches[part->begin][t] >> 16 > match >> 16)
            match = v->matches[part->begin][t];
    cost = v->cost[part->end] + values_cost(state, match);
    for (size_t i = part->end - 1u; i > part->begin; i--) {
        const uint32_t left = (uint32_t)((part->end - i) * item_nbytes);
        const bool is_match = left >= DEFLATE_MIN_MATCH;

        v->cost[i] = is_match
                         ? cost
                         : v->cost[i + 1] +
                               values_literals(&state->costs, bytes + i * item_nbytes, item_nbytes);
        v->steps[i] = (is_match ? left << 16 : 0) | (match & 0xffff);
    }
}

/* A way on from an element: a step and the bits to the end. */
struct values_way {
    uint32_t cost;
    uint32_t step;
};

GRID_INLINE void values_offer(const struct grid_state *state, size_t i, uint32_t match,
                              size_t item_nbytes, struct values_way *best)
{
    const uint32_t cost =
        state->values->cost[i + (match >> 16) / item_nbytes] + values_cost(state, match);
    const bool is_better = cost < best->cost;

    best->cost = is_better ? cost : best->cost;
    best->step = is_better ? match : best->step;
}

/* Of all ways from element i to the end, the one of fewest bits. */
GRID_INLINE void values_step(const struct grid_state *state, const uint8_t *p, size_t i,
                             size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    struct values_way best = {v->cost[i + 1] + values_literals(&state->costs, p, item_nbytes), 0};

    v->cost[i] = UINT32_MAX / 2; /* where a place without a match would lead */
    values_offer(state, i, v->matches[i][0], item_nbytes, &best);
    values_offer(state, i, v->matches[i][1], item_nbytes, &best);
    values_offer(state, i, v->matches[i][2], item_nbytes, &best);
    values_offer(state, i, v->matches[i][3], item_nbytes, &best);
    v->cost[i] = best.cost;
    v->steps[i] = best.step;
}

/* Find the best steps, from the last element to the first. */
GRID_INLINE void values_search(const struct grid_state *state, const struct values_stretch *s,
                               size_t item_nbytes)
{
    struct grid_values *const v = state->values;
    size_t i = (size_t)(s->end - s->begin) / item_nbytes;
    size_t n_longs = s->n_longs;

    v->cost[i] = 0;
    while (i > 0) {
        if (n_longs > 0 && v->longs[n_longs - 1].end == i) {
            n_longs--;
            values_fill(state, s->begin, &v->longs[n_longs], item_nbytes);
            i = v->longs[n_longs].begin + 1u;
        }
        i--;
        values_step(state, s->begin + i * item_nbytes, i, item_nbytes);
    }
}

/* Append the matches of the best steps to the sequences. Returns the first byte behind the last
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

/* Remember the elements in front of a piece. */
GRID_INLINE void values_history(struct grid_state *state, const uint8_t *p, size_t item_nbytes)
{
    for (const uint8_t *q = p - (size_t)(p - state->floor) / item_nbytes * item_nbytes; q < p;
         q += item_nbytes)
        values_insert(state->values, q, (uint32_t)(q - state->floor) + VALUES_FIRST, item_nbytes);
}

GRID_INLINE const uint8_t *values_parse(struct grid_state *state, const uint8_t *p,
                                        const uint8_t *stop, size_t item_nbytes)
{
    const size_t most = GRID_VALUES_STRETCH * item_nbytes;
    const size_t n_sequences = item_nbytes <= 2 ? GRID_VALUES_STRETCH / 2 : GRID_VALUES_STRETCH;
    const uint32_t learned = state->trained.n_distances > 0 ? state->trained.distances[0] : 0;
    const uint8_t *literals = p;

    if (!state->values->has_history)
        values_history(state, p, item_nbytes);
    state->values->has_history = true;
    values_spread_costs(&state->costs, state->values->distance_nbits);
    state->n_sequences = 0;
    while (p < stop && state->n_sequences + n_sequences < GRID_MAX_SEQUENCES) {
        const size_t left = (size_t)(stop - p) - (size_t)(stop - p) % item_nbytes;
        struct values_stretch s = {p, left > most ? p + most : p + left, stop, learned, 0};

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
    switch (state->trained.item_nbytes) {
    case 1:
        return values_parse(state, p, stop, 1);
    case 2:
        return values_parse(state, p, stop, 2);
    case 8:
        return values_parse(state, p, stop, 8);
    default:
        return values_parse(state, p, stop, 4);
    }
}
