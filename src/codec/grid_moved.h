/*
 * grid_moved.h - the parser for rows whose images only move their elements: each repeats the one
 * that a transform moved here, or is a literal. Part of grid_kernel.h.
 *
 * From one image to the next an element moves by a distance that is the same in all rows of a
 * block. It was learned once (grid_codec.c), so that nothing is looked up, and is compared, so that
 * nothing depends on what was learned.
 */

/* The move, if what stood there equals the element at p, or 0. */
GRID_INLINE size_t moved_from(const uint8_t *p, size_t move, size_t item_nbytes)
{
    if (item_nbytes == 8)
        return load_64(p) == load_64(p - move * 8) ? move : 0;
    return load_32(p) == load_32(p - move * 4) ? move : 0;
}

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

            if (moves != NULL)
                move = moved_from(p, move, item_nbytes);
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

GRID_INLINE const uint8_t *moved_parse(struct grid_state *state, const uint8_t *p,
                                       const uint8_t *stop, size_t item_nbytes)
{
    const uint8_t *const last = stop - (size_t)(stop - p) % item_nbytes;
    struct step_cursor c = steps_begin(state, p, item_nbytes);

    while (p < last && steps_have_room(state->steps, c)) {
        const uint16_t *moves;
        const uint8_t *const end = moved_end(state, p, last, item_nbytes, &moves);

        c = moves != NULL ? moved_steps(state, c, p, end, moves, item_nbytes)
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
    return BY_ITEM(state->trained.item_nbytes, moved_parse, state, p, stop);
}

/* --- what follows the steps of a block --- */

/*
 * The codes of a block suit the rows after it as well, which are written as they are read: no list
 * is made, nothing is counted. That goes on while the elements of a window, all images of some
 * rows, take about as many bits as those of the steps did, and never more than storing them would.
 */
struct follow {
    const struct grid_steps *steps;
    const struct grid_codes *codes;
    struct grid_bits bits;
    const uint8_t *p;           /* the first byte that is not written yet */
    size_t is_after;            /* 1: the byte in front of it is not 0 */
    uint64_t n_steps;           /* of the window */
    const uint16_t *moves;      /* of the next elements, */
    const uint64_t *move_codes; /* and the codes of matches there */
};

/* Write the elements from `begin` up to `end` that are not zero, and the zeros in front of each. */
GRID_INLINE struct follow follow_steps(struct follow f, const uint8_t *begin, const uint8_t *end,
                                       bool has_moves, size_t item_nbytes)
{
    const size_t n = (size_t)(end - begin) / item_nbytes;

    for (size_t at = 0; at < n; at += 64) {
        uint64_t left = nonzero_bits(begin + at * item_nbytes, n - at, item_nbytes);

        f.n_steps += (uint64_t)__builtin_popcountll(left);
        for (; left != 0; left &= left - 1) {
            const size_t i = at + (size_t)__builtin_ctzll(left);
            const uint8_t *const p = begin + i * item_nbytes;
            const bool is_moved = has_moves && moved_from(p, f.moves[i], item_nbytes) != 0;
            uint64_t zeros, tail;

            if (__builtin_expect(p - f.p > GRID_STEP_RUN_NBYTES, 0)) {
                f.bits = emit_zeros((size_t)(p - f.p), f.is_after, f.codes, f.bits);
                f.p = p;
                f.is_after = 0;
            }
            zeros = f.steps->zeros_codes[2 * ((size_t)(p - f.p) / item_nbytes) + f.is_after];
            f.p = p + item_nbytes;
            f.is_after = f.p[-1] != 0;
            if (is_moved)
                tail = f.move_codes[i];
            else
                tail = literals_code(p, f.codes->literal, item_nbytes < 4 ? item_nbytes : 4);
            f.bits = emit_pair(f.bits, zeros, tail);
            if (item_nbytes == 8 && !is_moved)
                emit_literals(p + 4, 4, f.codes->literal, &f.bits);
        }
    }
    return f;
}

GRID_INLINE const uint8_t *follow_parse(const struct grid_state *state, struct follow *f,
                                        uint64_t n_bits, size_t item_nbytes)
{
    const uint8_t *const begin = f->p;
    const uint8_t *const last = state->end - (size_t)(state->end - begin) % item_nbytes;
    const struct grid_moves *const learned = state->trained.moves;
    const uint64_t reach = learned != NULL ? learned->image_nbytes + learned->row_nbytes : 0;
    const uint64_t period = learned != NULL ? learned->n_images * learned->image_nbytes : 0;
    const uint64_t most_nbits = n_bits / f->steps->n * 5 / 4; /* of a step */
    const uint8_t *p = begin, *window = begin;
    struct grid_bits before = f->bits; /* the window */

    for (size_t i = 0; learned != NULL && i < learned->n; i++)
        if (learned->distance[i] != 0)
            state->steps->learned_codes[i] = grid_codes_join(
                f->codes->length[item_nbytes],
                grid_codes_distance(f->codes, learned->distance[i] * (uint32_t)item_nbytes));
    while (p < last) {
        const struct follow unwritten = *f;
        const uint8_t *const end = moved_end(state, p, last, item_nbytes, &f->moves);

        if (f->moves != NULL && (uint64_t)(p - state->floor) >= reach) {
            f->move_codes = state->steps->learned_codes + (f->moves - learned->distance);
            *f = follow_steps(*f, p, end, true, item_nbytes);
        } else {
            *f = follow_steps(*f, p, end, false, item_nbytes);
        }
        const uint64_t n_window = grid_bits_since(&f->bits, &before);
        if (n_window > 8 * (uint64_t)(end - window)) {
            *f = unwritten;
            break;
        }
        p = end;
        if (f->n_steps >= GRID_FOLLOW_STEPS && (uint64_t)(p - window) >= period) {
            if (n_window > most_nbits * f->n_steps)
                break;
            before = f->bits;
            window = p;
            f->n_steps = 0;
        }
    }
    if (f->p < p)
        f->bits = emit_zeros((size_t)(p - f->p), f->is_after, f->codes, f->bits);
    return p;
}

static GRID_TARGET size_t moved_follow(const struct grid_state *state, const uint8_t *p,
                                       uint64_t n_bits, const struct grid_codes *codes,
                                       struct grid_bits *bits)
{
    const uint8_t *const begin = p;
    struct follow f = {
        .steps = state->steps, .codes = codes, .bits = *bits, .p = p, .is_after = p[-1] != 0};

    p = BY_ITEM(state->trained.item_nbytes, follow_parse, state, &f, n_bits);
    *bits = f.bits;
    return (size_t)(p - begin);
}
