/*
 * grid_sparse.h - the parser for policies: runs of zero elements, and whole elements that either
 * repeat an earlier one (and what follows it) or are literals. Part of grid_kernel.h.
 *
 * In policies of visits few values come again and again, so that equal elements are everywhere, at
 * distances nobody can learn. Where they stood is found out for a stride at a time, in passes that
 * each do one thing for all elements that are not zero, without branches, so that the processor has
 * many elements in hand at once. An element has two candidates: the latest equal
 * element (near), good for a match of that element alone, and the latest place with an equal
 * element and an equal one after it (far), which is compared in full.
 *
 * The tables hold numbers of elements, and of the distance between two numbers only what deflate
 * can reach is looked at: an element from long ago stands for another one then, which is compared
 * like any other. Element 0 is what an empty slot says; it is not looked up itself.
 *
 * Then the matches are put together. Data like this cannot be predicted: all selections are made by
 * arithmetic (a compiler may turn a conditional expression into a branch), and a run of zeros,
 * maybe an empty one, is part of every step.
 */

/* --- where equal elements stood --- */

#define INDEX_ODD_32 2654435761u
#define INDEX_ODD_64 0x9e3779b97f4a7c15u
#define INDEX_LANES  32
#define INDEX_LIST   8 /* entries of a list that are written at a time */

_Static_assert(INDEX_LANES <= GRID_INDEX_PADDING && INDEX_LIST <= GRID_INDEX_PADDING,
               "the last group of entries may be begun by the last entry");

/* What several elements have in an array; compilers know how to reckon with it on any machine. */
typedef uint16_t index_lanes
    __attribute__((vector_size(INDEX_LANES * sizeof(uint16_t)), aligned(2), may_alias));

/* The slot for the element at p. */
GRID_INLINE uint16_t *index_near_slot(struct grid_index *index, const uint8_t *p,
                                      size_t item_nbytes)
{
    if (item_nbytes == 8)
        return &index->latest_near[load_64(p) * INDEX_ODD_64 >> (64 - GRID_INDEX_NEAR_BITS)];
    return &index->latest_near[load_32(p) * INDEX_ODD_32 >> (32 - GRID_INDEX_NEAR_BITS)];
}

/* The slot for the element at p and the next one. */
GRID_INLINE uint16_t *index_far_slot(struct grid_index *index, const uint8_t *p, size_t item_nbytes)
{
    uint64_t key = load_64(p);

    if (item_nbytes == 8)
        key = (key ^ key >> 32) + load_64(p + 8) * INDEX_ODD_64;
    return &index->latest_far[key * INDEX_ODD_64 >> (64 - GRID_INDEX_FAR_BITS)];
}

/* Append the numbers of set bits, counted from `first`; returns the length of the list. */
GRID_INLINE size_t index_append(uint16_t *list, size_t n, uint64_t bits, size_t first)
{
    const size_t end = n + (size_t)__builtin_popcountll(bits);

    for (; n < end; n += INDEX_LIST) {
        for (size_t i = n; i < n + INDEX_LIST; i++) {
            list[i] = (uint16_t)(first + (unsigned)__builtin_ctzll(bits | (uint64_t)1 << 63));
            bits &= bits - 1;
        }
    }
    return end;
}

/* Begin the next stride, or what is left of it up to `stop`: list the elements that are not zero.
 */
GRID_INLINE void index_list(struct grid_index *index, const uint8_t *stop, size_t item_nbytes)
{
    const size_t left = (size_t)(stop - index->end) / item_nbytes;
    const size_t most = GRID_INDEX_NBYTES / item_nbytes;
    const size_t n = left < most ? left : most;
    size_t n_listed = 0;

    index->n += (uint32_t)((size_t)(index->end - index->begin) / item_nbytes);
    index->begin = index->end;
    for (size_t at = 0; at < n; at += 64) {
        const uint64_t bits = nonzero_bits(index->begin + at * item_nbytes, n - at, item_nbytes);

        index->nonzero[at / 64] = bits;
        n_listed = index_append(index->element, n_listed, bits, at);
    }
    index->nonzero[(n + 63) / 64] = 0;
    index->end += n * item_nbytes;
    index->n_listed = n_listed;
}

/* Look the elements up and enter them; then from numbers of elements to distances in elements,
 * which lie within deflate's reach. */
GRID_INLINE void index_look_up(struct grid_index *index, size_t item_nbytes)
{
    const uint16_t mask = (uint16_t)(DEFLATE_MAX_DISTANCE / item_nbytes - 1);
    const uint16_t before = (uint16_t)(index->n - 1), one = 1;
    const index_lanes *const element = (const void *)index->element;
    index_lanes *const near = (void *)index->near, *const far = (void *)index->far;

    for (size_t i = 0; i < index->n_listed; i++) {
        const uint8_t *const p = index->begin + index->element[i] * item_nbytes;
        uint16_t *const near_slot = index_near_slot(index, p, item_nbytes);
        uint16_t *const far_slot = index_far_slot(index, p, item_nbytes);
        const uint16_t number = (uint16_t)(index->n + index->element[i]);

        index->near[i] = *near_slot;
        index->far[i] = *far_slot;
        *near_slot = number;
        *far_slot = number;
    }
    for (size_t i = 0; i * INDEX_LANES < index->n_listed; i++) {
        const index_lanes latest = element[i] + before;

        near[i] = ((latest - near[i]) & mask) + one;
        far[i] = ((latest - far[i]) & mask) + one;
    }
}

/* Compare with both candidates and choose: the far one when its match is longer than the shortest,
 * or the near one when that is cheaper than literals, or none, which is length 1, distance 0. */
GRID_INLINE void index_choose(struct grid_index *index, const struct grid_costs *costs,
                              size_t item_nbytes)
{
    const uint16_t one = 1;
    const uint16_t shift = (uint16_t)__builtin_ctzll(item_nbytes);
    const size_t literals = costs->literal_mean * item_nbytes / 16;
    const index_lanes *const near = (const void *)index->near, *const far =
                                                                   (const void *)index->far;
    const index_lanes *const equal = (const void *)index->is_near;
    index_lanes *const length = (void *)index->length, *const distance = (void *)index->distance;
    uint16_t reach = 0; /* the greatest distance at which the shortest match is cheaper */

    for (size_t i = 0; i < index->n_listed; i++) {
        const uint8_t *const p = index->begin + index->element[i] * item_nbytes;
        const uint8_t *const p_near = p - index->near[i] * item_nbytes;
        const uint8_t *const p_far = p - index->far[i] * item_nbytes;

        index->is_near[i] =
            item_nbytes == 8 ? load_64(p) == load_64(p_near) : load_32(p) == load_32(p_near);
        index->length[i] = (uint16_t)window_prefix(window_load(p), p_far);
    }
    for (unsigned symbol = 0; symbol < DEFLATE_N_DISTANCE; symbol++)
        if (costs->length[item_nbytes] + (size_t)costs->distance[symbol] < literals)
            reach = (uint16_t)(deflate_symbol_end(symbol) / item_nbytes);
    for (size_t i = 0; i * INDEX_LANES < index->n_listed; i++) {
        const index_lanes far_length = length[i] >> shift;
        const index_lanes is_far = (index_lanes)(far_length > one);
        const index_lanes is_near = (index_lanes)(near[i] <= reach) & -equal[i] & ~is_far;

        distance[i] = (far[i] & is_far) | (near[i] & is_near);
        length[i] = (far_length & is_far) | (one & ~is_far);
    }
}

/* Index the next stride; returns how many elements were looked up. */
GRID_INLINE size_t index_stride(struct grid_index *index, const struct grid_costs *costs,
                                const uint8_t *stop, size_t item_nbytes)
{
    const uint8_t *const nonzero = (const uint8_t *)index->nonzero;

    index_list(index, stop, item_nbytes);
    index_look_up(index, item_nbytes);
    index_choose(index, costs, item_nbytes);
    /* Cut the matches that go beyond the end of the input; the last elements, which were looked up
     * with bytes from beyond it, get none. */
    for (size_t i = index->n_listed; i-- > 0;) {
        const size_t left = (size_t)(stop - index->begin) / item_nbytes - index->element[i];

        if (left >= GRID_WINDOW / item_nbytes)
            break;
        if (index->length[i] > left)
            index->length[i] = (uint16_t)left;
        if (left <= 1) {
            index->length[i] = 1;
            index->distance[i] = 0;
        }
    }
    /* How many listed elements each one's match covers, itself included. */
    for (size_t i = 0; i < index->n_listed; i++) {
        const uint64_t bits = load_64(nonzero + index->element[i] / 8) >> index->element[i] % 8;
        const uint64_t covered = ((uint64_t)1 << index->length[i]) - 1;

        index->n_covered[i] = (uint8_t)__builtin_popcountll(bits & covered);
    }
    return index->n_listed;
}

/* --- the parser --- */

_Static_assert(GRID_INDEX_NBYTES <= GRID_STEP_STRETCH, "a stride must not need more room");

/* Begin a piece: the first byte that may be matched has nothing before it, and the element there is
 * not looked up. Where that is the one at p, it is a literal or a zero. */
GRID_INLINE struct step_cursor sparse_begin(struct grid_state *state, struct step_cursor c,
                                            size_t item_nbytes)
{
    struct grid_index *const index = &state->index;
    const size_t n_before = (size_t)(c.p - state->floor) / item_nbytes;

    index->end = c.p - n_before * item_nbytes + item_nbytes;
    index->begin = index->end;
    index->n = 1;
    for (size_t i = 0; i < item_nbytes && n_before == 0; i++)
        if (c.p[i] != 0)
            return steps_add(state->steps, c, c.p, 1, GRID_STEP_LITERAL, item_nbytes);
    return c;
}

/* Make steps of the elements of a stride that is indexed. */
GRID_INLINE struct step_cursor sparse_steps(struct grid_state *state, struct step_cursor c,
                                            const uint8_t *stop, size_t item_nbytes)
{
    const struct grid_index *const index = &state->index;
    const uint8_t *const begin = index->begin;
    const size_t n = index->n_listed;
    size_t i = 0;

    while (i < n && begin + index->element[i] * item_nbytes < c.p)
        i++;
    while (i < n) {
        const uint8_t *const p = begin + index->element[i] * item_nbytes;
        const uint32_t distance = index->distance[i];
        size_t length = index->length[i];

        i += index->n_covered[i];
        if (__builtin_expect(length * item_nbytes == GRID_WINDOW, 0)) {
            length =
                extend(p, distance * item_nbytes, GRID_WINDOW, match_limit(p, stop)) / item_nbytes;
            while (i < n && begin + index->element[i] * item_nbytes < p + length * item_nbytes)
                i++;
        }
        state->steps->n_lengths[length] += distance != 0;
        c = steps_add(state->steps, c, p, length, distance, item_nbytes);
        c = steps_count(state->steps, c);
    }
    return c;
}

GRID_INLINE const uint8_t *sparse_parse(struct grid_state *state, const uint8_t *p,
                                        const uint8_t *stop, size_t item_nbytes)
{
    struct grid_index *const index = &state->index;
    const uint8_t *const last = stop - item_nbytes; /* where an element may begin */
    struct step_cursor c = steps_begin(state, p, item_nbytes);

    if (index->end == NULL && p <= last)
        c = sparse_begin(state, c, item_nbytes);
    while (p <= last && index->end <= last && steps_have_room(state->steps, c)) {
        state->work.n_looked += index_stride(index, &state->costs, stop, item_nbytes);
        c = sparse_steps(state, c, stop, item_nbytes);
    }
    return steps_end(state, c, p > last || c.p > index->end ? c.p : index->end, stop);
}

static GRID_TARGET const uint8_t *sparse(struct grid_state *state, const uint8_t *p,
                                         const uint8_t *stop)
{
    return state->trained.item_nbytes == 8 ? sparse_parse(state, p, stop, 8)
                                           : sparse_parse(state, p, stop, 4);
}
