/* inflate_header.c - the strict check of a deflate block's header, as zlib makes it. */
#include "codec/inflate_header.h"

#include <string.h>

enum {
    BLOCK_STORED = 0,
    BLOCK_DYNAMIC = 2,
    BLOCK_RESERVED = 3,
    N_LENGTH_CODES = 19,
    N_LITERALS_MAX = 286,
    N_DISTANCES_MAX = 30,
    END_OF_BLOCK = 256,
    CODE_SPACE = 1 << 15, /* of a complete code, with codes of up to 15 bits */
};

struct reader {
    const uint8_t *bytes;
    size_t n_bytes, next;
    uint64_t bits;
    unsigned n_bits;
};

/* Have at least n (at most 16) bits ready; no byte is taken before it is needed. */
static bool reader_need(struct reader *r, unsigned n)
{
    while (r->n_bits < n) {
        if (r->next == r->n_bytes)
            return false;
        r->bits |= (uint64_t)r->bytes[r->next++] << r->n_bits;
        r->n_bits += 8;
    }
    return true;
}

/* Take n bits that are ready. */
static unsigned reader_take(struct reader *r, unsigned n)
{
    const unsigned value = (unsigned)(r->bits & ((1u << n) - 1));

    r->bits >>= n;
    r->n_bits -= n;
    return value;
}

/* The part of the code space that codes of these lengths fill. */
static uint32_t space_of(const uint8_t *lengths, size_t n)
{
    uint32_t space = 0;

    for (size_t i = 0; i < n; i++)
        space += lengths[i] > 0 ? (uint32_t)CODE_SPACE >> lengths[i] : 0;
    return space;
}

/* A literal or distance code: complete, or a single code of one bit, or none at all. */
static bool is_code(const uint8_t *lengths, size_t n)
{
    const uint32_t space = space_of(lengths, n);
    unsigned longest = 0;

    for (size_t i = 0; i < n; i++)
        longest = lengths[i] > longest ? lengths[i] : longest;
    return space == CODE_SPACE || (space < CODE_SPACE && longest <= 1);
}

/* table[the next 7 bits] = symbol << 3 | length of its code, for a complete code. */
static void length_code_table(const uint8_t lengths[N_LENGTH_CODES], uint8_t table[128])
{
    unsigned code = 0; /* in the order of the code's bits, left-aligned in 7 */

    for (unsigned length = 1; length <= 7; length++) {
        for (unsigned symbol = 0; symbol < N_LENGTH_CODES; symbol++) {
            if (lengths[symbol] != length)
                continue;
            for (unsigned i = 0; i < 128u >> length; i++, code++) {
                unsigned reversed = 0;

                for (unsigned bit = 0; bit < 7; bit++)
                    reversed |= (code >> bit & 1) << (6 - bit);
                table[reversed] = (uint8_t)(symbol << 3 | length);
            }
        }
    }
}

/* Read the lengths of the code that the other lengths are written in. */
static enum inflate_header read_length_code(struct reader *r, unsigned n, uint8_t table[128])
{
    static const uint8_t order[N_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[N_LENGTH_CODES] = {0};

    for (unsigned i = 0; i < n; i++) {
        if (!reader_need(r, 3))
            return INFLATE_HEADER_SHORT;
        lengths[order[i]] = (uint8_t)reader_take(r, 3);
    }
    if (space_of(lengths, N_LENGTH_CODES) != CODE_SPACE)
        return INFLATE_HEADER_INVALID;
    length_code_table(lengths, table);
    return INFLATE_HEADER_OK;
}

/* Read n code lengths, runs included. */
static enum inflate_header read_lengths(struct reader *r, const uint8_t table[128],
                                        uint8_t *lengths, size_t n)
{
    static const struct {
        uint8_t n_bits, shortest;
    } runs[] = {{2, 3}, {3, 3}, {7, 11}}; /* of symbols 16, 17, 18 */
    size_t i = 0;

    while (i < n) {
        unsigned symbol, length_nbits, run_nbits, n_run;

        while ((length_nbits = table[r->bits & 127] & 7) > r->n_bits)
            if (!reader_need(r, r->n_bits + 1))
                return INFLATE_HEADER_SHORT;
        symbol = table[r->bits & 127] >> 3;
        if (symbol < 16) {
            reader_take(r, length_nbits);
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        run_nbits = runs[symbol - 16].n_bits;
        if (!reader_need(r, length_nbits + run_nbits))
            return INFLATE_HEADER_SHORT;
        reader_take(r, length_nbits);
        n_run = runs[symbol - 16].shortest + reader_take(r, run_nbits);
        if (n_run > n - i || (symbol == 16 && i == 0))
            return INFLATE_HEADER_INVALID;
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, n_run);
        i += n_run;
    }
    return INFLATE_HEADER_OK;
}

static enum inflate_header check_dynamic(struct reader *r)
{
    uint8_t table[128] = {0}, lengths[N_LITERALS_MAX + N_DISTANCES_MAX];
    unsigned n_literals, n_distances, n_codes;
    enum inflate_header result;

    if (!reader_need(r, 14))
        return INFLATE_HEADER_SHORT;
    n_literals = 257 + reader_take(r, 5);
    n_distances = 1 + reader_take(r, 5);
    n_codes = 4 + reader_take(r, 4);
    if (n_literals > N_LITERALS_MAX || n_distances > N_DISTANCES_MAX)
        return INFLATE_HEADER_INVALID;
    result = read_length_code(r, n_codes, table);
    if (result == INFLATE_HEADER_OK)
        result = read_lengths(r, table, lengths, n_literals + n_distances);
    if (result != INFLATE_HEADER_OK)
        return result;
    if (lengths[END_OF_BLOCK] == 0 || !is_code(lengths, n_literals) ||
        !is_code(lengths + n_literals, n_distances))
        return INFLATE_HEADER_INVALID;
    return INFLATE_HEADER_OK;
}

enum inflate_header inflate_header_check(uint64_t bits, unsigned n_bits, const uint8_t *bytes,
                                         size_t n_bytes, size_t *n_used, bool *is_last)
{
    struct reader r = {.bytes = bytes, .n_bytes = n_bytes, .bits = bits, .n_bits = n_bits};
    enum inflate_header result = INFLATE_HEADER_OK;
    unsigned type;

    if (!reader_need(&r, 3))
        return INFLATE_HEADER_SHORT;
    *is_last = reader_take(&r, 1) != 0;
    type = reader_take(&r, 2);
    if (type == BLOCK_RESERVED)
        return INFLATE_HEADER_INVALID;
    if (type == BLOCK_DYNAMIC) {
        result = check_dynamic(&r);
    } else if (type == BLOCK_STORED) {
        reader_take(&r, r.n_bits % 8);
        for (int i = 0; i < 2; i++) { /* the length and its complement */
            if (!reader_need(&r, 16))
                return INFLATE_HEADER_SHORT;
            reader_take(&r, 16);
        }
    }
    *n_used = r.next;
    return result;
}
