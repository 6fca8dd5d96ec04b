/*
 * grid_moved.h - the parser for rows whose images only move their elements: each repeats the one
 * that a transform moved here, or is a literal. Part of grid_kernel.h.
 *
 * From one image to the next an element moves by a distance that is the same in all rows of a
 * block. It was learned once (grid_codec.c), so that nothing is looked up, and is compared, so that
 * nothing depends on what was learned.
 */

/* Make steps of the elements up to `end`; moves: how far in front of each an equal one is likely to
 * stand, or NULL. */
GRID_INLINE struct step_cursor moved_steps(const struct grid_state *state, struct step_cursor c,
                                           const uint8_t *begin, const uint8_t *end,
                                           const uint16_t *moves, size_t item_nbytes)
{
    struct grid_steps *const s = state->steps;
    const size_t n = (size_t)(end - begin) / item_nbytes;
    const size_t n_before = (size_t)(begin - state->floor) / item_nbytes;

    for (size_t at = 0; at < n; at += 64) {
        for (uint64_t bits = nonzero_bits(begin + at * item_nbytes, n - at, item_nbytes); bits != 0;
             bits &= bits - 1) {
            const size_t i = at + (size_t)__builtin_ctzll(bits);
            const uint8_t *const p = begin + i * item_nbytes;
            size_t move = moves != NULL && moves[i] <= n_before + i ? moves[i] : 0;

            if (item_nbytes == 8)
                move = load_64(p) == load_64(p - move * 8) ? move : 0;
            else if (moves != NULL)
                move = load_32(p) == load_32(p - move * 4) ? move : 0;
            c = steps_add(s, c, p, 1, move, item_nbytes);
        }
        c = steps_count(s, c);
    }
    return c;
}

/* How far the elements from p on can be taken at once: to the end of a row. *moves: theirs. */
GRID_INLINE const uint8_t *moved_end(const struct grid_state *state, const uint8_t *p,
                                     const uint8_t *stop, size_t item_nbytes,
                                     const uint16_t **moves)
{
    const struct grid_moves *const learned = state->trained.moves;
    uint64_t at = state->offset + (uint64_t)(p - state->bytes), left = GRID_STEP_STRETCH;

    *moves = NULL;
    if (learned != NULL && at < learned->header_nbytes) {
        left = learned->header_nbytes - at;
    } else if (learned != NULL) {
        const uint64_t row_nbytes = learned->row_nbytes;
        uint64_t image;

        at -= learned->header_nbytes;
        image = at / learned->image_nbytes % learned->n_images;
        *moves = learned->distance + (image * row_nbytes + at % row_nbytes) / item_nbytes;
        left = row_nbytes - at % row_nbytes;
    }
    left = left < GRID_STEP_STRETCH ? left : GRID_STEP_STRETCH;
    left = left < item_nbytes ? item_nbytes : left - left % item_nbytes; /* if it was not true */
    return left < (uint64_t)(stop - p) ? p + left : stop;
}

/* Whether moves take fewer bits than literals, as far as is known. */
GRID_INLINE bool moved_pays(const struct grid_state *state, size_t item_nbytes)
{
    const struct grid_moves *const learned = state->trained.moves;
    const struct grid_costs *const costs = &state->costs;
    uint32_t n_bits;

    if (learned == NULL)
        return false;
    n_bits = costs->length[item_nbytes];
    n_bits += costs->distance[deflate_distance_symbol((uint32_t)learned->image_nbytes)];
    return n_bits < costs->literal_mean * item_nbytes / 16;
}

GRID_INLINE const uint8_t *moved_parse(struct grid_state *state, const uint8_t *p,
                                       const uint8_t *stop, size_t item_nbytes)
{
    const uint8_t *const last = stop - (size_t)(stop - p) % item_nbytes;
    const bool pays = moved_pays(state, item_nbytes);
    struct step_cursor c = steps_begin(state, p, item_nbytes);

    while (p < last && steps_have_room(state->steps, c)) {
        const uint16_t *moves;
        const uint8_t *const end = moved_end(state, p, last, item_nbytes, &moves);

        c = pays && moves != NULL ? moved_steps(state, c, p, end, moves, item_nbytes)
                                  : moved_steps(state, c, p, end, NULL, item_nbytes);
        p = end;
    }
    for (size_t i = 1; i < GRID_STEP_ZEROS; i++)
        state->steps->n_lengths[1] += state->steps->n_moves[i];
    return steps_end(state, c, p, stop);
}

static GRID_TARGET const uint8_t *moved(struct grid_state *state, const uint8_t *p,
                                        const uint8_t *stop)
{
    switch (state->trained.item_nbytes) {
    case 4:
        return moved_parse(state, p, stop, 4);
    case 8:
        return moved_parse(state, p, stop, 8);
    default:
        return moved_parse(state, p, stop, 2);
    }
}
