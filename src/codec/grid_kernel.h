/*
 * grid_kernel.h - the inner loops, written once and compiled for every instruction set.
 *
 * Included by one source file per set, after it has defined
 *   GRID_TARGET           the function attribute that selects the set
 *   struct window         GRID_WINDOW bytes, loaded
 *   window_load(p)        -> struct window
 *   window_prefix(w, q)   -> how many leading bytes of w equal those at q, 0 to GRID_WINDOW
 *   window_nonzero(w, n)  -> bit i is set when element i, of n bytes, is not 0; n is 2, 4 or 8
 * These are exact, so that every set gives the same results. GRID_KERNELS after it is the table's
 * row.
 */
#define GRID_INLINE static inline __attribute__((always_inline)) GRID_TARGET

/* Call a function that is compiled for elements of 2, 4 and 8 bytes. */
#define BY_ITEM(item_nbytes, function, ...)          \
    ((item_nbytes) == 4   ? function(__VA_ARGS__, 4) \
     : (item_nbytes) == 8 ? function(__VA_ARGS__, 8) \
                          : function(__VA_ARGS__, 2))

GRID_INLINE uint32_t load_32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

GRID_INLINE uint64_t load_64(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

/* Length of a match that is known to reach `length`, looked at up to `most`. The next window's
 * address does not wait for the result of the one before. */
GRID_INLINE uint32_t extend(const uint8_t *p, size_t distance, uint32_t length, uint32_t most)
{
    for (; length < most; length += GRID_WINDOW) {
        const unsigned more = window_prefix(window_load(p + length), p + length - distance);

        if (more < GRID_WINDOW) {
            length += more;
            break;
        }
    }
    return length < most ? length : most;
}

/* Length of the match of the window at p, up to `most`. */
GRID_INLINE uint32_t match_length(const struct window *window, const uint8_t *p, size_t distance,
                                  uint32_t most)
{
    const unsigned length = window_prefix(*window, p - distance);

    if (length == GRID_WINDOW)
        return extend(p, distance, length, most);
    return length < most ? length : most;
}

GRID_INLINE uint32_t match_limit(const uint8_t *p, const uint8_t *stop)
{
    return stop - p < DEFLATE_MAX_MATCH ? (uint32_t)(stop - p) : DEFLATE_MAX_MATCH;
}

/* Which of n elements from p on are not zero, of the first 64: bit i is set for element i. Windows
 * may be loaded whole. */
GRID_INLINE uint64_t nonzero_bits(const uint8_t *p, size_t n, size_t item_nbytes)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < 64 && i < n; i += GRID_WINDOW / item_nbytes)
        bits |= (uint64_t)window_nonzero(window_load(p + i * item_nbytes), item_nbytes) << i;
    return n < 64 ? bits & (((uint64_t)1 << n) - 1) : bits;
}

static GRID_TARGET void measure_matches(const uint8_t *bytes, const uint8_t *stop,
                                        const uint32_t *distances, size_t n_distances,
                                        uint16_t *lengths)
{
    const struct window window = window_load(bytes);
    const uint32_t most = match_limit(bytes, stop);

    for (size_t i = 0; i < n_distances; i++)
        lengths[i] = (uint16_t)match_length(&window, bytes, distances[i], most);
}

/* --- counting and writing the symbols of a block --- */

#define COUNT_NBYTES 4096 /* literals that are counted at a time */
#define COUNT_COPY   16   /* longer runs of literals are counted where they are */

/* Several counters for each symbol: equal neighbours would wait for each other. */
struct symbol_counts {
    uint32_t literal[4][256];
    uint32_t length[2][DEFLATE_MAX_MATCH + 1];
    uint32_t distance[2][DEFLATE_N_DISTANCE];
};

static GRID_TARGET void count_literals(const uint8_t *bytes, size_t n, uint32_t counts[4][256])
{
    for (; n >= 8; n -= 8, bytes += 8) {
        const uint64_t eight = load_64(bytes);

#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++)
            counts[i % 4][eight >> 8 * i & 0xff]++;
    }
    for (size_t i = 0; i < n; i++)
        counts[i % 4][bytes[i]]++;
}

/* What is left to count of a block: the bytes from here on, and literals that were gathered. */
struct count_cursor {
    const uint8_t *bytes;
    uint8_t *gathered_end;
};

/* Count a sequence's match. Its literals are gathered, unless there are many. */
GRID_INLINE struct count_cursor count_sequence(struct count_cursor c, const struct grid_sequence *s,
                                               size_t set, struct symbol_counts *counts)
{
    counts->length[set][s->length]++;
    counts->distance[set][deflate_distance_symbol(s->distance_less_1 + 1u)]++;
    if (__builtin_expect(s->n_literals > COUNT_COPY, 0)) {
        count_literals(c.bytes, s->n_literals, counts->literal);
    } else {
        memcpy(c.gathered_end, c.bytes, COUNT_COPY); /* any number of them without a branch */
        c.gathered_end += s->n_literals;
    }
    c.bytes += s->n_literals + s->length;
    return c;
}

static GRID_TARGET void count_symbols(const uint8_t *bytes, size_t n_bytes,
                                      const struct grid_sequence *sequences, size_t n_sequences,
                                      struct grid_counts *counts)
{
    const uint8_t *const end = bytes + n_bytes;
    uint8_t gathered[COUNT_NBYTES + 3 * COUNT_COPY];
    struct count_cursor c = {bytes, gathered};
    struct symbol_counts n_of = {0};

    for (size_t i = 0; i + 2 <= n_sequences; i += 2) {
        c = count_sequence(c, &sequences[i], 0, &n_of);
        c = count_sequence(c, &sequences[i + 1], 1, &n_of);
        if (__builtin_expect(c.gathered_end - gathered >= COUNT_NBYTES, 0)) {
            count_literals(gathered, (size_t)(c.gathered_end - gathered), n_of.literal);
            c.gathered_end = gathered;
        }
    }
    if (n_sequences % 2 != 0)
        c = count_sequence(c, &sequences[n_sequences - 1], 0, &n_of);
    count_literals(gathered, (size_t)(c.gathered_end - gathered), n_of.literal);
    count_literals(c.bytes, (size_t)(end - c.bytes), n_of.literal);
    for (size_t i = 0; i < 256; i++)
        for (size_t set = 0; set < 4; set++)
            counts->litlen[i] += n_of.literal[set][i];
    for (unsigned i = DEFLATE_MIN_MATCH; i <= DEFLATE_MAX_MATCH; i++)
        counts->litlen[deflate_length_symbol(i)] += n_of.length[0][i] + n_of.length[1][i];
    for (unsigned i = 0; i < DEFLATE_N_DISTANCE; i++)
        counts->distance[i] += n_of.distance[0][i] + n_of.distance[1][i];
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

/* Write the sequences; returns what is after the last one. */
GRID_INLINE const uint8_t *sequences_write(const struct grid_state *state, const uint8_t *bytes,
                                           const struct grid_codes *codes, struct grid_bits *bits)
{
    const struct grid_sequence *const sequences = state->sequences;
    struct grid_bits b = *bits;

    for (size_t i = 0, n = state->n_sequences; i < n; i++) {
        emit_literals(bytes, sequences[i].n_literals, codes->literal, &b);
        emit_match(&sequences[i], codes, &b);
        bytes += sequences[i].n_literals + sequences[i].length;
    }
    *bits = b;
    return bytes;
}

/* --- parsers --- */

#include "codec/grid_steps.h"

#include "codec/grid_distances.h"
#include "codec/grid_moved.h"
#include "codec/grid_sparse.h"
#include "codec/grid_values.h"

/* The row of a set, which a machine has on a condition. */
#define GRID_KERNELS(set, condition)                 \
    static bool is_supported(void)                   \
    {                                                \
        return condition;                            \
    }                                                \
    const struct grid_kernels grid_kernels_##set = { \
        .name = #set,                                \
        .is_supported = is_supported,                \
        .parse = {[GRID_GREEDY] = greedy,            \
                  [GRID_SPARSE] = sparse,            \
                  [GRID_MOVED] = moved,              \
                  [GRID_VALUES] = values,            \
                  [GRID_OPTIMAL] = optimal},         \
        .count = count_symbols,                      \
        .emit = emit,                                \
        .follow = moved_follow,                      \
        .measure = measure_matches,                  \
    }
