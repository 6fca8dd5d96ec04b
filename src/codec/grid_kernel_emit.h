/* grid_kernel_emit.h - counting and writing the symbols of a block. Part of grid_kernel.h. */

/* Four counters for each literal, since equal neighbours would wait for each other. */
GRID_INLINE void count_literals(const uint8_t *bytes, size_t n, uint32_t counts[4][256])
{
    for (; n >= 4; n -= 4, bytes += 4) {
        const uint32_t four = load_32(bytes);

        counts[0][four & 0xff]++;
        counts[1][four >> 8 & 0xff]++;
        counts[2][four >> 16 & 0xff]++;
        counts[3][four >> 24]++;
    }
    for (size_t i = 0; i < n; i++)
        counts[i][bytes[i]]++;
}

static GRID_TARGET void count(const uint8_t *bytes, size_t n_bytes,
                              const struct grid_sequence *sequences, size_t n_sequences,
                              struct grid_counts *counts)
{
    const uint8_t *const end = bytes + n_bytes;
    uint32_t literals[4][256] = {{0}};
    uint32_t lengths[DEFLATE_MAX_MATCH + 1] = {0};

    for (size_t i = 0; i < n_sequences; i++) {
        const struct grid_sequence *const s = &sequences[i];

        count_literals(bytes, s->n_literals, literals);
        bytes += s->n_literals + s->length;
        lengths[s->length]++;
        counts->distance[deflate_distance_symbol(s->distance_less_1 + 1u)]++;
    }
    count_literals(bytes, (size_t)(end - bytes), literals);

    for (size_t i = 0; i < 256; i++)
        counts->litlen[i] += literals[0][i] + literals[1][i] + literals[2][i] + literals[3][i];
    for (unsigned i = DEFLATE_MIN_MATCH; i <= DEFLATE_MAX_MATCH; i++) {
        counts->litlen[deflate_length_symbol(i)] += lengths[i];
        counts->n_extra_bits += (uint64_t)lengths[i] * deflate_length_extra(i);
    }
    for (unsigned i = 0; i < DEFLATE_N_DISTANCE; i++)
        counts->n_extra_bits += (uint64_t)counts->distance[i] * deflate_symbol_extra(i);
}

GRID_INLINE uint32_t code_bits(uint32_t code)
{
    return code >> 8;
}

GRID_INLINE uint32_t code_nbits(uint32_t code)
{
    return code & 0xff;
}

/* Write four literals: two pairs, joined, to keep the chain of shifts short. */
GRID_INLINE void emit_four(uint32_t four, const uint32_t *codes, struct grid_bits *bits)
{
    const uint32_t a = codes[four & 0xff], b = codes[four >> 8 & 0xff];
    const uint32_t c = codes[four >> 16 & 0xff], d = codes[four >> 24];
    const uint64_t ab = code_bits(a) | (uint64_t)code_bits(b) << code_nbits(a);
    const uint64_t cd = code_bits(c) | (uint64_t)code_bits(d) << code_nbits(c);
    const uint32_t ab_nbits = code_nbits(a) + code_nbits(b);

    grid_bits_put(bits, ab | cd << ab_nbits, ab_nbits + code_nbits(c) + code_nbits(d));
}

GRID_INLINE void emit_literals(const uint8_t *bytes, size_t n, const uint32_t *codes,
                               struct grid_bits *bits)
{
    for (; n >= 4; n -= 4, bytes += 4)
        emit_four(load_32(bytes), codes, bits);
    for (size_t i = 0; i < n; i++)
        grid_bits_put(bits, code_bits(codes[bytes[i]]), code_nbits(codes[bytes[i]]));
}

GRID_INLINE void emit_match(const struct grid_sequence *s, const struct grid_codes *codes,
                            struct grid_bits *bits)
{
    const uint32_t distance = s->distance_less_1 + 1u;
    const unsigned n_extra = deflate_distance_extra(distance);
    const uint32_t length_code = codes->length[s->length];
    const uint32_t code = codes->distance[deflate_distance_symbol(distance)];
    const uint64_t extra = s->distance_less_1 & ((1u << n_extra) - 1);
    const uint64_t tail = code_bits(code) | extra << code_nbits(code);

    grid_bits_put(bits, code_bits(length_code) | tail << code_nbits(length_code),
                  code_nbits(length_code) + code_nbits(code) + n_extra);
}

static GRID_TARGET void emit(const uint8_t *bytes, size_t n_bytes,
                             const struct grid_sequence *sequences, size_t n_sequences,
                             const struct grid_codes *codes, struct grid_bits *bits)
{
    const uint8_t *const end = bytes + n_bytes;
    struct grid_bits b = *bits;

    for (size_t i = 0; i < n_sequences; i++) {
        emit_literals(bytes, sequences[i].n_literals, codes->literal, &b);
        emit_match(&sequences[i], codes, &b);
        bytes += sequences[i].n_literals + sequences[i].length;
    }
    emit_literals(bytes, (size_t)(end - bytes), codes->literal, &b);
    *bits = b;
}
