/*
 * grid_kernel_sparse.h - the parser for policies: runs of zero elements, and whole elements that
 * either repeat an earlier one (and what follows it) or are literals. Part of grid_kernel.h.
 *
 * A transform only moves the elements of a row, so that its images are full of equal elements at
 * distances nobody can learn. What grid_kernel_index.h finds out about them for a stride is only
 * put together here. Data like this cannot be predicted: all selections are made by arithmetic (a
 * compiler may turn a conditional expression into a branch), and a run of zeros, maybe an empty
 * one, is part of every step.
 */

#define SPARSE_STEP_SEQUENCES 4 /* room for what is pushed without asking */

/* Where parsing is. */
struct sparse_cursor {
    const uint8_t *p;
    const uint8_t *literals; /* the first byte behind the last match */
    struct grid_sequence *next;
    struct grid_sequence *full; /* no new step may begin from here on */
};

/* Push a match of the bytes at the cursor if there is one, and move on by `length` either way. */
GRID_INLINE struct sparse_cursor sparse_push(struct sparse_cursor c, size_t length,
                                             uint32_t distance, bool is_match)
{
    *c.next = (struct grid_sequence){(uint32_t)(c.p - c.literals), (uint16_t)length,
                                     (uint16_t)(distance - 1)};
    c.next += is_match;
    c.p += length;
    c.literals += (size_t)(c.p - c.literals) & -(size_t)is_match;
    return c;
}

/* More zeros than one match covers, behind a zero; there is room for one match at least. When the
 * sequences are full before `end`, the last match is cut so that the next block begins with an
 * element. */
static GRID_TARGET struct sparse_cursor sparse_skip_many(struct sparse_cursor c, const uint8_t *end,
                                                         size_t item_nbytes)
{
    do {
        c = sparse_push(c, match_limit(c.p, end), 1, true);
    } while (end - c.p >= DEFLATE_MIN_MATCH && c.next < c.full);
    if (end - c.p < DEFLATE_MIN_MATCH) {
        c.p = end;
    } else {
        const size_t excess = -(size_t)(end - c.p) % item_nbytes;

        c.next[-1].length = (uint16_t)(c.next[-1].length - excess);
        c.p -= excess;
        c.literals = c.p;
    }
    return c;
}

/* Zeros up to `end`, maybe none, are matched one byte back, behind a literal one where there is
 * none yet. */
GRID_INLINE struct sparse_cursor sparse_skip_zeros(struct sparse_cursor c, const uint8_t *end,
                                                   size_t item_nbytes)
{
    const bool is_behind_other = c.p[-1] != 0;
    size_t left;

    c.p += is_behind_other & (c.p != end);
    left = (size_t)(end - c.p);
    if (__builtin_expect(left > DEFLATE_MAX_MATCH, 0))
        return sparse_skip_many(c, end, item_nbytes);
    return sparse_push(c, left, 1, left >= DEFLATE_MIN_MATCH);
}

/* Begin a piece: the first byte that may be matched has nothing before it, and the element there is
 * not looked up. Where that is the one at p, it is a literal, or the first byte of a zero is. */
GRID_INLINE const uint8_t *sparse_begin(struct grid_index *index, const uint8_t *p,
                                        const uint8_t *floor, size_t item_nbytes)
{
    index->end = p - (size_t)(p - floor) / item_nbytes * item_nbytes + item_nbytes;
    index->begin = index->end;
    index->n = 1;
    if (index->end <= p)
        return p;
    for (size_t i = 0; i < item_nbytes; i++)
        if (p[i] != 0)
            return p + item_nbytes;
    return p + 1;
}

/* Parse the elements of the stride, while there is room. */
GRID_INLINE struct sparse_cursor sparse_steps(struct grid_index *index, struct sparse_cursor c,
                                              const uint8_t *stop, size_t item_nbytes)
{
    const uint8_t *const begin = index->begin;
    const size_t n = index->n_listed;
    size_t i = index->next;

    while (i < n && begin + index->element[i] * item_nbytes < c.p)
        i++;
    while (i < n && c.next < c.full) {
        const uint8_t *const p = begin + index->element[i] * item_nbytes;
        const uint32_t distance = index->distance[i] * (uint32_t)item_nbytes;
        size_t length = index->length[i] * item_nbytes;

        c = sparse_skip_zeros(c, p, item_nbytes);
        if (__builtin_expect(c.p < p, 0))
            break;
        i += index->n_covered[i];
        if (__builtin_expect(length == GRID_WINDOW, 0)) {
            length = extend(p, distance, GRID_WINDOW, match_limit(p, stop));
            length -= length % item_nbytes;
            while (i < n && begin + index->element[i] * item_nbytes < p + length)
                i++;
        }
        c = sparse_push(c, length, distance, distance != 0);
    }
    index->next = i;
    return c;
}

GRID_INLINE const uint8_t *sparse_parse(struct grid_state *state, const uint8_t *p,
                                        const uint8_t *stop, size_t item_nbytes)
{
    struct grid_index *const index = &state->index;
    struct sparse_cursor c = {p, p, state->sequences,
                              state->sequences + GRID_MAX_SEQUENCES - SPARSE_STEP_SEQUENCES};
    const uint8_t *const last = stop - item_nbytes; /* where an element may begin */

    if (index->end == NULL && p <= last)
        c.p = sparse_begin(index, p, state->floor, item_nbytes);
    while (c.p <= last && c.next < c.full) {
        if (index->next == index->n_listed && index->end <= last)
            state->work.n_looked += index_stride(index, &state->costs, stop, item_nbytes);
        c = sparse_steps(index, c, stop, item_nbytes);
        if (index->next == index->n_listed && index->end > last && c.next < c.full)
            c = sparse_skip_zeros(c, index->end, item_nbytes);
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
