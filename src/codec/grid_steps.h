/*
 * grid_steps.h - the list of steps that the parsers for policies make of a block, and how it is
 * written. Part of grid_kernel.h.
 *
 * A step is some zero elements, then a match of whole elements, or one literal element. How often
 * there is each number of zeros, length and distance is counted on the way; the codes of all of
 * them are made once for a block, so that to write it is to look up three codes for each step.
 * Zeros are matched one byte back, with a literal one in front where there is none yet.
 */

/* Where parsing is. */
struct step_cursor {
    const uint8_t *p;       /* the first byte that is in no step yet */
    size_t is_after;        /* 1: the byte in front of it is not 0 */
    struct grid_step *next; /* of the list */
    uint8_t *gathered_end;  /* literals that are not counted yet */
};

/* Steps of zeros alone up to `end`. */
static GRID_TARGET __attribute__((noinline)) struct step_cursor steps_zeros(struct grid_steps *s,
                                                                            struct step_cursor c,
                                                                            const uint8_t *end)
{
    while (c.p < end) {
        const size_t left = (size_t)(end - c.p) / s->item_nbytes;
        const size_t n = left < UINT16_MAX ? left : UINT16_MAX;
        const struct grid_zeros zeros = grid_zeros_split(n * s->item_nbytes, c.is_after);

        s->n_literals[0][0] += (uint32_t)zeros.n_literals;
        s->n_runs[DEFLATE_MAX_MATCH] += (uint32_t)zeros.n_longest;
        s->n_runs[zeros.rest]++;
        *c.next++ = (struct grid_step){(uint16_t)c.is_after, GRID_STEP_ZEROS, (uint16_t)n};
        c.p += n * s->item_nbytes;
        c.is_after = 0;
    }
    return c;
}

/* A step to the element at p, in front of which are zeros: a match of `length` elements at a
 * distance of `move`, or one literal element where that is 0. Whose lengths differ counts them. */
GRID_INLINE struct step_cursor steps_add(struct grid_steps *s, struct step_cursor c,
                                         const uint8_t *p, size_t length, size_t move,
                                         size_t item_nbytes)
{
    const size_t is_literal = move == GRID_STEP_LITERAL;
    size_t zeros;

    if (__builtin_expect(p - c.p > GRID_STEP_RUN_NBYTES, 0))
        c = steps_zeros(s, c, p);
    zeros = 2 * ((size_t)(p - c.p) / item_nbytes) + c.is_after;
    c.p = p + length * item_nbytes;
    c.is_after = c.p[-1] != 0;
    s->n_zeros[zeros]++;
    s->n_moves[move]++;
    *c.next++ = (struct grid_step){(uint16_t)zeros, (uint16_t)move, (uint16_t)length};
    memcpy(c.gathered_end, p, 8); /* any number of bytes without a branch */
    c.gathered_end += is_literal * item_nbytes;
    return c;
}

/* Count the literals if there are many: to be called before GRID_STEP_GATHERED more bytes come. */
GRID_INLINE struct step_cursor steps_count(struct grid_steps *s, struct step_cursor c)
{
    if (c.gathered_end - s->gathered >= COUNT_NBYTES) {
        count_literals(s->gathered, (size_t)(c.gathered_end - s->gathered), s->n_literals);
        c.gathered_end = s->gathered;
    }
    return c;
}

/* Begin a block at p, where is room for a number of steps. */
GRID_INLINE struct step_cursor steps_begin(struct grid_state *state, const uint8_t *p,
                                           size_t item_nbytes)
{
    struct grid_steps *const s = state->steps;

    s->item_nbytes = item_nbytes;
    s->has_lengths = state->mode == GRID_SPARSE;
    memset(s->n_zeros, 0,
           offsetof(struct grid_steps, zeros_codes) - offsetof(struct grid_steps, n_zeros));
    return (struct step_cursor){p, p == state->floor || p[-1] != 0, s->list, s->gathered};
}

GRID_INLINE bool steps_have_room(const struct grid_steps *s, struct step_cursor c)
{
    return c.next - s->list <= GRID_MAX_STEPS - 2 * GRID_STEP_STRETCH;
}

/* End a block: all elements up to `end` that are in no step yet are zeros; if it is the last whole
 * one in front of `stop`, what is left of an element belongs to the block too. Returns where it
 * ends. */
GRID_INLINE const uint8_t *steps_end(struct grid_state *state, struct step_cursor c,
                                     const uint8_t *end, const uint8_t *stop)
{
    struct grid_steps *const s = state->steps;

    c = steps_zeros(s, c, end);
    if ((size_t)(stop - c.p) < s->item_nbytes) {
        memcpy(c.gathered_end, c.p, (size_t)(stop - c.p));
        c.gathered_end += stop - c.p;
        c.p = stop;
    }
    count_literals(s->gathered, (size_t)(c.gathered_end - s->gathered), s->n_literals);
    s->n = (size_t)(c.next - s->list);
    state->work.n_steps += s->n;
    return c.p;
}

/* --- writing --- */

/* The bits are passed by value so that the callers' stay in registers. */
static GRID_TARGET __attribute__((noinline)) struct grid_bits emit_zeros(
    size_t n_bytes, size_t is_after, const struct grid_codes *codes, struct grid_bits bits)
{
    const struct grid_zeros zeros = grid_zeros_split(n_bytes, is_after);
    const struct grid_sequence longest = {0, DEFLATE_MAX_MATCH, 0},
                               rest = {0, (uint16_t)zeros.rest, 0};

    for (size_t i = 0; i < zeros.n_literals; i++)
        grid_bits_put(&bits, code_bits(codes->literal[0]), code_nbits(codes->literal[0]));
    for (size_t i = 0; i < zeros.n_longest; i++)
        emit_match(&longest, codes, &bits);
    if (zeros.rest > 0)
        emit_match(&rest, codes, &bits);
    return bits;
}

/* The codes of the literals at p, joined: n_bytes of them, 2 or 4. */
GRID_INLINE uint64_t literals_code(const uint8_t *p, const uint32_t *codes, size_t n_bytes)
{
    uint64_t bits = 0;
    unsigned n_bits = 0;

#pragma GCC unroll 2
    for (size_t i = 0; i < n_bytes; i += 2) {
        const uint32_t a = codes[p[i]], b = codes[p[i + 1]];
        const uint64_t ab = code_bits(a) | (uint64_t)code_bits(b) << code_nbits(a);

        bits |= ab << n_bits;
        n_bits += code_nbits(a) + code_nbits(b);
    }
    return bits << 8 | n_bits;
}

/* Write the code of a step's zeros, then that of what follows them. */
GRID_INLINE struct grid_bits emit_pair(struct grid_bits bits, uint64_t zeros, uint64_t tail)
{
    const uint64_t all = (zeros & 0xff) + (tail & 0xff);

    if (__builtin_expect(all <= GRID_BITS_MAX_PUT, 1)) {
        grid_bits_put(&bits, zeros >> 8 | (tail >> 8) << (zeros & 0xff), (unsigned)all);
    } else {
        grid_bits_put(&bits, zeros >> 8, zeros & 0xff);
        grid_bits_put(&bits, tail >> 8, tail & 0xff);
    }
    return bits;
}

/* Write the steps; returns what is after the last one. */
GRID_INLINE const uint8_t *steps_write(const struct grid_steps *s, const uint8_t *p,
                                       const struct grid_codes *codes, struct grid_bits *bits,
                                       size_t item_nbytes)
{
    const bool has_lengths = s->has_lengths;
    struct grid_bits b = *bits;

    for (size_t i = 0; i < s->n; i++) {
        const struct grid_step step = s->list[i];
        const bool is_literal = step.move == GRID_STEP_LITERAL;
        const uint64_t zeros = s->zeros_codes[step.zeros];
        uint64_t tail = s->move_codes[step.move];

        if (__builtin_expect(step.move == GRID_STEP_ZEROS, 0)) {
            b = emit_zeros(step.length * item_nbytes, step.zeros, codes, b);
            p += step.length * item_nbytes;
            continue;
        }
        p += step.zeros / 2 * item_nbytes;
        if (is_literal)
            tail = literals_code(p, codes->literal, item_nbytes < 4 ? item_nbytes : 4);
        else if (has_lengths)
            tail = grid_codes_join(s->length_codes[step.length], tail);
        b = emit_pair(b, zeros, tail);
        if (is_literal && item_nbytes == 8)
            emit_literals(p + 4, 4, codes->literal, &b);
        p += step.length * item_nbytes;
    }
    *bits = b;
    return p;
}

static GRID_TARGET void emit(const struct grid_state *state, const uint8_t *bytes, size_t n_bytes,
                             const struct grid_codes *codes, struct grid_bits *bits)
{
    const uint8_t *const end = bytes + n_bytes;

    if (state->steps != NULL)
        bytes = BY_ITEM(state->steps->item_nbytes, steps_write, state->steps, bytes, codes, bits);
    else
        bytes = sequences_write(state, bytes, codes, bits);
    emit_literals(bytes, (size_t)(end - bytes), codes->literal, bits);
}
