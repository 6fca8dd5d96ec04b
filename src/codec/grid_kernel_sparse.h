/*
 * grid_kernel_sparse.h - the parser for policies: runs of zero elements, and whole elements that
 * either repeat an earlier one (and what follows it) or are literals. Part of grid_kernel.h.
 *
 * A transform only moves the elements of a row, so that its images are full of equal elements at
 * distances nobody can learn. An index of where equal elements stood is made one stride ahead of
 * the parser, without branches: on data like this they cannot be predicted, and cost more than
 * everything else. For the same reason a run of zeros, maybe an empty one, is part of every step.
 */

#define SPARSE_STEP_SEQUENCES 4 /* room for what is pushed without asking */

/* Where parsing is. */
struct sparse_cursor {
    const uint8_t *p;
    const uint8_t *literals; /* the first byte behind the last match */
    struct grid_sequence *next;
    struct grid_sequence *full; /* no new step may begin from here on */
};

GRID_INLINE uint64_t sparse_load(const uint8_t *p, size_t item_nbytes)
{
    if (item_nbytes == 8)
        return load_64(p);
    return item_nbytes == 4 ? load_32(p) : load_16(p);
}

/* From bits of bytes to bits of elements: the lowest bit of each that is not zero. */
GRID_INLINE uint64_t sparse_elements(uint64_t bytes, size_t item_nbytes)
{
    bytes |= bytes >> 1;
    if (item_nbytes == 2)
        return bytes & 0x5555555555555555;
    bytes |= bytes >> 2;
    if (item_nbytes == 4)
        return bytes & 0x1111111111111111;
    return (bytes | bytes >> 4) & 0x0101010101010101;
}

/* The greatest distance at which one element takes fewer bits as a match than as literals. */
GRID_INLINE uint32_t sparse_reach(const struct grid_costs *costs, size_t item_nbytes)
{
    const uint32_t literals = costs->literal_mean * (uint32_t)item_nbytes / 16;
    uint32_t reach = 0;

    if (item_nbytes >= DEFLATE_MIN_MATCH)
        for (unsigned symbol = 0; symbol < DEFLATE_N_DISTANCE; symbol++)
            if (costs->length[item_nbytes] + costs->distance[symbol] < literals)
                reach = deflate_symbol_end(symbol);
    return reach;
}

/* Length of the match with what is `distance` before, 0 if that is too far away: whole elements, no
 * more than a window and than `most`. */
GRID_INLINE uint32_t sparse_length(const struct window *window, const uint8_t *p, uint32_t distance,
                                   size_t item_nbytes, uint32_t most)
{
    const uint32_t usable = -(uint32_t)(distance - 1 < DEFLATE_MAX_DISTANCE);
    const uint32_t length = window_prefix(*window, p - (distance & usable)) & usable;

    return (length < most ? length : most) & -(uint32_t)item_nbytes;
}

/* The match for the element at p, element i, with one of the latest two elements of the same hash:
 * whole elements of it, at most a window; none when the element is cheaper as literals. */
GRID_INLINE struct grid_place sparse_match(struct grid_index *index, const uint8_t *p, uint32_t i,
                                           size_t item_nbytes, uint32_t reach, uint32_t most)
{
    const uint64_t value = sparse_load(p, item_nbytes);
    const uint32_t key = (uint32_t)(item_nbytes == 8 ? value ^ value >> 32 : value);
    uint32_t *const slot = &index->last[key * 2654435761u >> (32 - GRID_INDEX_BITS)];
    const uint32_t near = ((i - *slot) & 0xffff) * (uint32_t)item_nbytes;
    const uint32_t far = ((i - (*slot >> 16)) & 0xffff) * (uint32_t)item_nbytes;
    const struct window window = window_load(p);
    const uint32_t near_length = sparse_length(&window, p, near, item_nbytes, most);
    const uint32_t far_length = sparse_length(&window, p, far, item_nbytes, most);
    const uint32_t is_far = -(uint32_t)(far_length > near_length);
    const uint32_t distance = near ^ ((near ^ far) & is_far);
    const uint32_t length = near_length ^ ((near_length ^ far_length) & is_far);
    const bool pays = (length > item_nbytes) | (distance <= reach);

    *slot = *slot << 16 | (i & 0xffff);
    return (struct grid_place){(uint16_t)(length & -(uint32_t)pays), (uint16_t)(distance - 1)};
}

/* Index the next stride, or up to `stop`. */
GRID_INLINE void sparse_index(struct grid_state *state, const uint8_t *stop, size_t item_nbytes)
{
    struct grid_index *const index = &state->index;
    const uint8_t *const begin = index->end;
    size_t n = (size_t)(stop - begin) - (size_t)(stop - begin) % item_nbytes;
    const uint32_t reach = sparse_reach(&state->costs, item_nbytes);
    size_t n_elements = 0;

    n = n < GRID_INDEX_NBYTES ? n : GRID_INDEX_NBYTES;
    index->begin = begin;
    index->end = begin + n;
    for (size_t at = 0; at < n; at += 64) {
        uint64_t bytes = window_nonzero(window_load(begin + at));
        uint64_t elements;

        if (n - at < 64)
            bytes &= ((uint64_t)1 << (n - at)) - 1;
        index->nonzero[at / 64] = bytes;
        elements = sparse_elements(bytes, item_nbytes);
        n_elements += (size_t)__builtin_popcountll(elements);
        for (; elements != 0; elements &= elements - 1) {
            const size_t offset = at + lowest_bit_64(elements);
            const size_t left = (size_t)(stop - begin) - offset;
            const uint32_t most = left < GRID_WINDOW ? (uint32_t)left : GRID_WINDOW;

            index->places[offset / item_nbytes] =
                sparse_match(index, begin + offset, index->n + (uint32_t)(offset / item_nbytes),
                             item_nbytes, reach, most);
        }
    }
    index->n += (uint32_t)(n / item_nbytes);
    state->work.n_looked += n_elements;
    index->is_dense = n_elements * item_nbytes * 8 > n * 7;
}

/* Number of zero bytes from p on, whole elements of them, up to `stop`. */
GRID_INLINE size_t sparse_zeros(const struct grid_index *index, const uint8_t *p,
                                const uint8_t *stop, size_t item_nbytes)
{
    const size_t at = (size_t)(p - index->begin);
    const uint64_t bits = index->nonzero[at / 64] >> at % 64;
    size_t n;

    if (bits != 0) {
        n = lowest_bit_64(bits);
    } else {
        const size_t most = (size_t)(stop - p);

        for (n = 64 - at % 64; n < most; n += 64) {
            const uint64_t more = window_nonzero(window_load(p + n));

            if (more != 0) {
                n += lowest_bit_64(more);
                break;
            }
        }
        n = n < most ? n : most;
    }
    return n - n % item_nbytes;
}

GRID_INLINE void sparse_push(struct sparse_cursor *c, uint32_t length, uint32_t distance)
{
    *c->next++ = (struct grid_sequence){(uint32_t)(c->p - c->literals), (uint16_t)length,
                                        (uint16_t)(distance - 1)};
    c->p += length;
    c->literals = c->p;
}

/* More zeros than one match covers, behind a zero; there is room for one match at least. When the
 * sequences are full before `end`, the last match is cut so that the next block begins with an
 * element. */
static GRID_TARGET void sparse_skip_many(struct sparse_cursor *c, const uint8_t *end,
                                         size_t item_nbytes)
{
    do {
        sparse_push(c, match_limit(c->p, end), 1);
    } while (end - c->p >= DEFLATE_MIN_MATCH && c->next < c->full);
    if (end - c->p < DEFLATE_MIN_MATCH) {
        c->p = end;
    } else {
        const size_t excess = -(size_t)(end - c->p) % item_nbytes;

        c->next[-1].length = (uint16_t)(c->next[-1].length - excess);
        c->p -= excess;
        c->literals = c->p;
    }
}

/* Zeros, maybe none, are matched one byte back, behind a literal one where there is none yet. */
GRID_INLINE void sparse_skip_zeros(struct sparse_cursor *c, size_t n, const uint8_t *floor,
                                   size_t item_nbytes)
{
    const uint8_t *const end = c->p + n;
    const bool behind_zero = c->p > floor && c->p[-1] == 0;
    const uint8_t *const from = c->p + (!behind_zero & (n != 0));
    const size_t left = (size_t)(end - from);

    if (__builtin_expect(left > DEFLATE_MAX_MATCH, 0)) {
        c->p = from;
        sparse_skip_many(c, end, item_nbytes);
        return;
    }
    *c->next = (struct grid_sequence){(uint32_t)(from - c->literals), (uint16_t)left, 0};
    c->next += left >= DEFLATE_MIN_MATCH;
    c->literals = left >= DEFLATE_MIN_MATCH ? end : c->literals;
    c->p = end;
}

/* An element that is not zero. */
GRID_INLINE void sparse_element(const struct grid_index *index, struct sparse_cursor *c,
                                const uint8_t *stop, size_t item_nbytes)
{
    const struct grid_place place = index->places[(size_t)(c->p - index->begin) / item_nbytes];
    uint32_t length = place.length;
    const bool is_match = length != 0;

    if (__builtin_expect(length == GRID_WINDOW, 0)) {
        length = extend(c->p, place.distance_less_1 + 1u, length, match_limit(c->p, stop));
        length &= -(uint32_t)item_nbytes;
    }
    *c->next = (struct grid_sequence){(uint32_t)(c->p - c->literals), (uint16_t)length,
                                      place.distance_less_1};
    c->next += is_match;
    c->p += is_match ? length : item_nbytes;
    c->literals = is_match ? c->p : c->literals;
}

GRID_INLINE const uint8_t *sparse_parse(struct grid_state *state, const uint8_t *p,
                                        const uint8_t *stop, size_t item_nbytes)
{
    struct grid_index *const index = &state->index;
    struct sparse_cursor c = {p, p, state->sequences,
                              state->sequences + GRID_MAX_SEQUENCES - SPARSE_STEP_SEQUENCES};
    const uint8_t *const last = stop - item_nbytes; /* where an element may begin */

    if (index->end == NULL)
        index->end = p - (size_t)(p - state->floor) / item_nbytes * item_nbytes;
    while (c.p <= last && c.next < c.full) {
        while (c.p >= index->end)
            sparse_index(state, stop, item_nbytes);
        sparse_skip_zeros(&c, sparse_zeros(index, c.p, stop, item_nbytes), state->floor,
                          item_nbytes);
        while (c.p < index->end && c.next < c.full) {
            sparse_element(index, &c, stop, item_nbytes);
            if (c.p < index->end && (!index->is_dense || sparse_load(c.p, item_nbytes) == 0))
                sparse_skip_zeros(&c, sparse_zeros(index, c.p, stop, item_nbytes), state->floor,
                                  item_nbytes);
        }
    }
    if (c.p > last)
        c.p = stop;
    state->n_sequences = (size_t)(c.next - state->sequences);
    return c.p;
}

static GRID_TARGET const uint8_t *sparse(struct grid_state *state, const uint8_t *p,
                                         const uint8_t *stop)
{
    switch (state->trained.item_nbytes) {
    case 2:
        return sparse_parse(state, p, stop, 2);
    case 8:
        return sparse_parse(state, p, stop, 8);
    default:
        return sparse_parse(state, p, stop, 4);
    }
}
