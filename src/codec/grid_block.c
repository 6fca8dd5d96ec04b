/*
 * grid_block.c - sequences -> one deflate block, dynamic or stored, whichever is smaller.
 *
 * Symbols are counted, prefix codes made for the counts (Huffman's construction, and package-merge
 * where that gets too deep), and both sizes reckoned before one is written. The format's fixed
 * codes pay in blocks of a few bytes only, which are not made here.
 */
#include "codec/grid.h"

#include <assert.h>

/* --- prefix codes --- */

#define MAX_SYMBOLS GRID_HUFFMAN_MAX_SYMBOLS
#define SYMBOL_BITS 9 /* a sort key is count << SYMBOL_BITS | symbol */
#define SYMBOL_MASK ((1u << SYMBOL_BITS) - 1)

/* Depths of the leaves of a Huffman tree over sorted keys; returns the greatest. */
static unsigned huffman_depths(const uint32_t *keys, size_t n, uint8_t *depths)
{
    uint32_t weight[2 * MAX_SYMBOLS];
    uint16_t parent[2 * MAX_SYMBOLS];
    uint16_t depth[2 * MAX_SYMBOLS];
    const size_t root = 2 * n - 2;
    size_t leaf = 0, inner = n;
    unsigned deepest = 0;

    for (size_t i = 0; i < n; i++)
        weight[i] = keys[i] >> SYMBOL_BITS;
    for (size_t node = n; node <= root; node++) {
        weight[node] = 0;
        for (int child = 0; child < 2; child++) {
            const size_t pick =
                leaf < n && (inner == node || weight[leaf] <= weight[inner]) ? leaf++ : inner++;

            weight[node] += weight[pick];
            parent[pick] = (uint16_t)node;
        }
    }
    depth[root] = 0;
    for (size_t i = root; i-- > 0;) {
        depth[i] = (uint16_t)(depth[parent[i]] + 1);
        if (depth[i] > deepest)
            deepest = depth[i];
    }
    for (size_t i = 0; i < n; i++)
        depths[i] = (uint8_t)depth[i];
    return deepest;
}

/*
 * Package-merge (Larmore and Hirschberg 1990): `limit` rounds merge the sorted leaves with pairs
 * of the round before. Whether item i of a round is a leaf is all that has to be remembered: the
 * first 2n - 2 items of the last round are chosen, and every chosen package chooses two items of
 * the round below. A leaf's depth is the number of times it is chosen.
 */
static void package_merge(const uint32_t *keys, size_t n, unsigned limit, uint8_t *depths)
{
    uint8_t is_leaf[GRID_HUFFMAN_MAX_LENGTH][2 * MAX_SYMBOLS];
    uint32_t weight[2 * MAX_SYMBOLS], below[2 * MAX_SYMBOLS];
    size_t n_below = 0, chosen = 2 * n - 2;

    for (unsigned round = 0; round < limit; round++) {
        const size_t n_packages = n_below / 2;
        size_t leaf = 0, package = 0;

        for (size_t i = 0; i < n + n_packages; i++) {
            const uint32_t package_weight =
                package < n_packages ? below[2 * package] + below[2 * package + 1] : UINT32_MAX;

            is_leaf[round][i] = leaf < n && keys[leaf] >> SYMBOL_BITS <= package_weight;
            weight[i] = is_leaf[round][i] ? keys[leaf++] >> SYMBOL_BITS : package_weight;
            package += !is_leaf[round][i];
        }
        n_below = n + n_packages;
        memcpy(below, weight, n_below * sizeof *weight);
    }
    memset(depths, 0, n);
    for (unsigned round = limit; round-- > 0;) {
        size_t n_leaves = 0;

        for (size_t i = 0; i < chosen; i++)
            n_leaves += is_leaf[round][i];
        for (size_t i = 0; i < n_leaves; i++)
            depths[i]++;
        chosen = 2 * (chosen - n_leaves);
    }
}

void grid_huffman_lengths(const uint32_t *counts, size_t n_symbols, unsigned limit,
                          uint8_t *lengths)
{
    uint32_t keys[MAX_SYMBOLS + 1], spare[MAX_SYMBOLS], all = 0;
    uint8_t depths[MAX_SYMBOLS];
    size_t n = 0;

    /* Keys of the used symbols, and one key each for symbols 0 and 1 while there are fewer than
     * two. */
    for (size_t i = 0; i < n_symbols; i++) {
        keys[n] = counts[i] << SYMBOL_BITS | (uint32_t)i;
        n += counts[i] != 0;
        all |= counts[i];
    }
    if (n == 0)
        keys[n++] = 0;
    if (n == 1) {
        keys[n++] = keys[0];
        keys[0] = (keys[0] & SYMBOL_MASK) == 0;
    }
    /* Sort by count; symbols are in order already. Byte-wise radix sort, skipping idle bytes. */
    for (unsigned shift = 0; shift < 32 && all >> shift != 0; shift += 8) {
        uint16_t start[257] = {0};

        for (size_t i = 0; i < n; i++)
            start[(keys[i] >> SYMBOL_BITS >> shift & 0xff) + 1]++;
        for (size_t i = 1; i < 256; i++)
            start[i] = (uint16_t)(start[i] + start[i - 1]);
        for (size_t i = 0; i < n; i++)
            spare[start[keys[i] >> SYMBOL_BITS >> shift & 0xff]++] = keys[i];
        memcpy(keys, spare, n * sizeof *keys);
    }
    if (huffman_depths(keys, n, depths) > limit)
        package_merge(keys, n, limit, depths);
    memset(lengths, 0, n_symbols);
    for (size_t i = 0; i < n; i++)
        lengths[keys[i] & SYMBOL_MASK] = depths[i];
}

void grid_huffman_codes(const uint8_t *lengths, size_t n_symbols, uint16_t *codes)
{
    uint16_t n_of[GRID_HUFFMAN_MAX_LENGTH + 1] = {0};
    uint16_t next[GRID_HUFFMAN_MAX_LENGTH + 2] = {0};

    for (size_t i = 0; i < n_symbols; i++)
        n_of[lengths[i]]++;
    n_of[0] = 0;
    for (unsigned bits = 1; bits <= GRID_HUFFMAN_MAX_LENGTH; bits++)
        next[bits + 1] = (uint16_t)((next[bits] + n_of[bits]) << 1);
    for (size_t i = 0; i < n_symbols; i++) {
        unsigned x = lengths[i] == 0 ? 0 : next[lengths[i]]++;

        x = (x & 0x5555) << 1 | (x >> 1 & 0x5555); /* its bits in reverse */
        x = (x & 0x3333) << 2 | (x >> 2 & 0x3333);
        x = (x & 0x0f0f) << 4 | (x >> 4 & 0x0f0f);
        x = (x & 0x00ff) << 8 | (x >> 8 & 0x00ff);
        codes[i] = (uint16_t)(x >> (16 - lengths[i]));
    }
}

/* --- blocks --- */

/* One bit below deflate's limit, so that four literals fit beside the pending bits. */
#define MAX_CODE_LENGTH    14
#define MAX_CODELEN_LENGTH 7

enum block_type { BLOCK_STORED = 0, BLOCK_DYNAMIC = 2 };

_Static_assert(GRID_MAX_BLOCK + DEFLATE_MAX_MATCH <= GRID_HUFFMAN_MAX_COUNT,
               "a symbol's count in a block must fit the Huffman coder");
_Static_assert(4 * MAX_CODE_LENGTH <= GRID_BITS_MAX_PUT, "four literals are written at once");

/* Code lengths of a block. */
struct code_lengths {
    uint8_t litlen[DEFLATE_N_LITLEN];
    uint8_t distance[DEFLATE_N_DISTANCE];
};

/* The description of a dynamic block's codes: code lengths, run-length coded, Huffman coded. */
struct code_header {
    unsigned n_litlen;
    unsigned n_distance;
    unsigned n_codelen;
    uint8_t codelen_lengths[DEFLATE_N_CODELEN];
    size_t n_items;
    uint8_t symbols[DEFLATE_N_LITLEN + DEFLATE_N_DISTANCE];
    uint8_t extras[DEFLATE_N_LITLEN + DEFLATE_N_DISTANCE];
    uint64_t n_bits;
};

static const uint8_t codelen_order[DEFLATE_N_CODELEN] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                         11, 4,  12, 3, 13, 2, 14, 1, 15};

/* Extra bits of code length symbols. */
static const uint8_t codelen_extra[DEFLATE_N_CODELEN] = {[16] = 2, [17] = 3, [18] = 7};

static void header_add(struct code_header *header, unsigned symbol, size_t extra)
{
    header->symbols[header->n_items] = (uint8_t)symbol;
    header->extras[header->n_items++] = (uint8_t)extra;
}

static void header_init(struct code_header *header, const struct code_lengths *lengths)
{
    uint8_t all[DEFLATE_N_LITLEN + DEFLATE_N_DISTANCE];
    uint32_t counts[DEFLATE_N_CODELEN] = {0};

    header->n_litlen = DEFLATE_N_LITLEN;
    while (header->n_litlen > 257 && lengths->litlen[header->n_litlen - 1] == 0)
        header->n_litlen--;
    header->n_distance = DEFLATE_N_DISTANCE;
    while (header->n_distance > 1 && lengths->distance[header->n_distance - 1] == 0)
        header->n_distance--;
    memcpy(all, lengths->litlen, header->n_litlen);
    memcpy(all + header->n_litlen, lengths->distance, header->n_distance);
    const size_t n_all = header->n_litlen + header->n_distance;

    header->n_items = 0;
    for (size_t i = 0, run = 0; i < n_all; i += run) {
        const unsigned length = all[i];
        const bool repeats = i > 0 && all[i - 1] == length;

        for (run = 1; i + run < n_all && all[i + run] == length; run++)
            ;
        if (length == 0 && run >= 11) {
            run = run < 138 ? run : 138;
            header_add(header, 18, run - 11);
        } else if (length == 0 && run >= 3) {
            header_add(header, 17, run - 3);
        } else if (length != 0 && repeats && run >= 3) {
            run = run < 6 ? run : 6;
            header_add(header, 16, run - 3);
        } else {
            run = 1;
            header_add(header, length, 0);
        }
    }
    for (size_t i = 0; i < header->n_items; i++)
        counts[header->symbols[i]]++;
    grid_huffman_lengths(counts, DEFLATE_N_CODELEN, MAX_CODELEN_LENGTH, header->codelen_lengths);
    header->n_codelen = DEFLATE_N_CODELEN;
    while (header->n_codelen > 4 &&
           header->codelen_lengths[codelen_order[header->n_codelen - 1]] == 0)
        header->n_codelen--;

    header->n_bits = 14 + 3 * header->n_codelen;
    for (unsigned i = 0; i < DEFLATE_N_CODELEN; i++)
        header->n_bits += (uint64_t)counts[i] * (header->codelen_lengths[i] + codelen_extra[i]);
}

static void header_write(const struct code_header *header, struct grid_bits *bits)
{
    uint16_t codes[DEFLATE_N_CODELEN];

    grid_huffman_codes(header->codelen_lengths, DEFLATE_N_CODELEN, codes);
    grid_bits_put(bits, header->n_litlen - 257, 5);
    grid_bits_put(bits, header->n_distance - 1, 5);
    grid_bits_put(bits, header->n_codelen - 4, 4);
    for (unsigned i = 0; i < header->n_codelen; i++)
        grid_bits_put(bits, header->codelen_lengths[codelen_order[i]], 3);
    for (size_t i = 0; i < header->n_items; i++) {
        const unsigned symbol = header->symbols[i];

        grid_bits_put(bits, codes[symbol], header->codelen_lengths[symbol]);
        grid_bits_put(bits, header->extras[i], codelen_extra[symbol]);
    }
}

/* Size in bits of a block's symbols. */
static uint64_t body_nbits(const struct grid_counts *counts, const struct code_lengths *lengths)
{
    uint64_t n_bits = 0;

    for (unsigned i = 0; i < DEFLATE_N_LITLEN; i++)
        n_bits += (uint64_t)counts->litlen[i] * (lengths->litlen[i] + deflate_litlen_extra(i));
    for (unsigned i = 0; i < DEFLATE_N_DISTANCE; i++)
        n_bits += (uint64_t)counts->distance[i] * (lengths->distance[i] + deflate_symbol_extra(i));
    return n_bits;
}

static void stored_write(const uint8_t *bytes, size_t n_bytes, bool final, struct grid_bits *bits)
{
    do {
        const size_t n = n_bytes < DEFLATE_MAX_STORED ? n_bytes : DEFLATE_MAX_STORED;

        grid_bits_put(bits, final && n == n_bytes, 1);
        grid_bits_put(bits, BLOCK_STORED, 2);
        grid_bits_align(bits);
        grid_bits_put(bits, n | (~(uint64_t)n & 0xffff) << 16, 32);
        if (n == 0) /* an empty piece may have no bytes to point to */
            return;
        memcpy(bits->out, bytes, n);
        bits->out += n;
        bytes += n;
        n_bytes -= n;
    } while (n_bytes > 0);
}

static void make_codes(const struct code_lengths *lengths, struct grid_codes *codes)
{
    uint16_t litlen[DEFLATE_N_LITLEN];
    uint16_t distance[DEFLATE_N_DISTANCE];

    grid_huffman_codes(lengths->litlen, DEFLATE_N_LITLEN, litlen);
    grid_huffman_codes(lengths->distance, DEFLATE_N_DISTANCE, distance);
    for (unsigned i = 0; i <= DEFLATE_END; i++)
        codes->literal[i] = (uint32_t)litlen[i] << 8 | lengths->litlen[i];
    for (unsigned length = DEFLATE_MIN_MATCH; length <= DEFLATE_MAX_MATCH; length++) {
        const unsigned symbol = deflate_length_symbol(length);
        const unsigned n_extra = deflate_length_extra(length);
        const uint32_t extra = (length - DEFLATE_MIN_MATCH) & ((1u << n_extra) - 1);
        const unsigned n_bits = lengths->litlen[symbol];

        codes->length[length] = (litlen[symbol] | extra << n_bits) << 8 | (n_bits + n_extra);
    }
    for (unsigned i = 0; i < DEFLATE_N_DISTANCE; i++)
        codes->distance[i] = (uint32_t)distance[i] << 8 | lengths->distance[i];
}

/* --- steps --- */

/* Count the symbols of steps. */
static void steps_count(const struct grid_steps *steps, struct grid_counts *counts)
{
    const unsigned item_nbytes = (unsigned)steps->item_nbytes;
    uint32_t n_runs[DEFLATE_MAX_MATCH + 1];

    memcpy(n_runs, steps->n_runs, sizeof n_runs);
    for (unsigned i = 0; i < 256; i++)
        for (unsigned set = 0; set < 4; set++)
            counts->litlen[i] += steps->n_literals[set][i];
    for (unsigned kind = 0; kind < GRID_STEP_N_ZEROS; kind++) {
        const struct grid_zeros zeros = grid_zeros_split(kind / 2 * item_nbytes, kind % 2);

        counts->litlen[0] += steps->n_zeros[kind] * (uint32_t)zeros.n_literals;
        n_runs[zeros.rest] += steps->n_zeros[kind];
    }
    for (unsigned length = DEFLATE_MIN_MATCH; length <= DEFLATE_MAX_MATCH; length++) {
        counts->litlen[deflate_length_symbol(length)] += n_runs[length];
        counts->distance[0] += n_runs[length];
    }
    for (unsigned i = 1; i <= GRID_STEP_MAX_LENGTH; i++)
        if (steps->n_lengths[i] != 0)
            counts->litlen[deflate_length_symbol(i * item_nbytes)] += steps->n_lengths[i];
    for (uint32_t move = 1; move < GRID_STEP_ZEROS; move++)
        if (steps->n_moves[move] != 0)
            counts->distance[deflate_distance_symbol(move * item_nbytes)] += steps->n_moves[move];
}

/* Make the codes of those there are. */
static void steps_codes(struct grid_steps *steps, const struct grid_codes *codes)
{
    const unsigned item_nbytes = (unsigned)steps->item_nbytes;

    for (unsigned kind = 0; kind < GRID_STEP_N_ZEROS; kind++) {
        const struct grid_zeros zeros = grid_zeros_split(kind / 2 * item_nbytes, kind % 2);
        uint64_t *const code = &steps->zeros_codes[kind];

        *code = 0;
        for (size_t i = 0; i < zeros.n_literals; i++)
            *code = grid_codes_join(*code, codes->literal[0]);
        if (zeros.rest > 0)
            *code = grid_codes_join(grid_codes_join(*code, codes->length[zeros.rest]),
                                    codes->distance[0]);
    }
    steps->length_codes[0] = 0;
    for (unsigned i = 1; i <= GRID_STEP_MAX_LENGTH; i++)
        if (steps->n_lengths[i] != 0)
            steps->length_codes[i] = codes->length[i * item_nbytes];
    steps->move_codes[GRID_STEP_LITERAL] = steps->move_codes[GRID_STEP_ZEROS] = 0;
    for (uint32_t move = 1; move < GRID_STEP_ZEROS; move++) {
        if (steps->n_moves[move] == 0)
            continue;
        steps->move_codes[move] = grid_codes_distance(codes, move * item_nbytes);
        if (!steps->has_lengths)
            steps->move_codes[move] =
                grid_codes_join(steps->length_codes[1], steps->move_codes[move]);
    }
}

/* Unused symbols get what a rare one costs. */
static void costs_from_lengths(const struct grid_counts *counts, const struct code_lengths *lengths,
                               struct grid_costs *costs)
{
    uint64_t n_literals = 0, literals_nbits = 0;

    for (unsigned i = 0; i < 256; i++) {
        n_literals += counts->litlen[i];
        literals_nbits += (uint64_t)counts->litlen[i] * lengths->litlen[i];
    }
    if (n_literals != 0)
        costs->literal_mean = (uint32_t)(16 * literals_nbits / n_literals);
    for (unsigned i = 0; i < 256; i++)
        costs->literal[i] = counts->litlen[i] != 0 ? lengths->litlen[i] : 12;
    for (unsigned length = DEFLATE_MIN_MATCH; length <= DEFLATE_MAX_MATCH; length++) {
        const unsigned symbol = deflate_length_symbol(length);
        const unsigned n_bits = counts->litlen[symbol] != 0 ? lengths->litlen[symbol] : 12;

        costs->length[length] = (uint8_t)(n_bits + deflate_length_extra(length));
    }
    for (unsigned i = 0; i < DEFLATE_N_DISTANCE; i++) {
        const unsigned n_bits = counts->distance[i] != 0 ? lengths->distance[i] : 9;

        costs->distance[i] = (uint8_t)(n_bits + deflate_symbol_extra(i));
    }
}

/* Code lengths for these counts; where other bytes are to follow, for all symbols they may have. */
static void lengths_from_counts(const struct grid_counts *counts, const struct grid_state *state,
                                bool follows, struct code_lengths *lengths)
{
    const struct grid_moves *const moves = state->trained.moves;
    const uint32_t distances = moves != NULL ? moves->symbols | 1 : 1; /* 1: runs of zeros */
    struct grid_counts all = *counts;

    for (unsigned i = 0; i < DEFLATE_N_LITLEN && follows; i++)
        all.litlen[i] += all.litlen[i] == 0;
    for (unsigned i = 0; i < DEFLATE_N_DISTANCE && follows; i++)
        all.distance[i] += all.distance[i] == 0 && (distances >> i & 1) != 0;
    grid_huffman_lengths(all.litlen, DEFLATE_N_LITLEN, MAX_CODE_LENGTH, lengths->litlen);
    grid_huffman_lengths(all.distance, DEFLATE_N_DISTANCE, MAX_CODE_LENGTH, lengths->distance);
}

const uint8_t *grid_block_write(struct grid_state *state, const uint8_t *bytes, const uint8_t *end,
                                struct grid_bits *bits)
{
    const size_t n_bytes = (size_t)(end - bytes);
    const bool final = state->is_last && end == state->end;
    const bool follows = state->mode == GRID_MOVED && state->steps->n >= GRID_FOLLOW_STEPS &&
                         (size_t)(state->end - end) >= GRID_FOLLOW_NBYTES;
    struct grid_counts counts = {.litlen[DEFLATE_END] = 1};
    struct code_lengths lengths;
    struct code_header header;
    const struct grid_bits before = *bits;
    const uint64_t n_stored =
        n_bytes == 0 ? 1 : (n_bytes + DEFLATE_MAX_STORED - 1) / DEFLATE_MAX_STORED;
    const uint64_t stored =
        8 * (uint64_t)n_bytes + n_stored * (8 + 32) - 5 + (-(bits->n_pending + 3) & 7);

    if (state->steps != NULL)
        steps_count(state->steps, &counts);
    else
        state->kernels->count(bytes, n_bytes, state->sequences, state->n_sequences, &counts);
    lengths_from_counts(&counts, state, follows, &lengths);
    header_init(&header, &lengths);
    const uint64_t coded_nbits = 3 + header.n_bits + body_nbits(&counts, &lengths);

    if (n_bytes > 0) /* an empty block only ends the stream */
        costs_from_lengths(&counts, &lengths, &state->costs);
    if (stored <= coded_nbits) {
        stored_write(bytes, n_bytes, final, bits);
        assert(grid_bits_since(bits, &before) == stored);
    } else {
        struct grid_codes codes;

        grid_bits_put(bits, final | BLOCK_DYNAMIC * 2u, 3);
        header_write(&header, bits);
        make_codes(&lengths, &codes);
        const uint32_t end_code = codes.literal[DEFLATE_END];
        if (state->steps != NULL)
            steps_codes(state->steps, &codes);
        state->kernels->emit(state, bytes, n_bytes, &codes, bits);
        /* Sizes decide between the types of blocks: what was reckoned with is what was written. */
        assert(grid_bits_since(bits, &before) + (end_code & 0xff) == coded_nbits);
        if (follows)
            end += state->kernels->follow(state, end, coded_nbits, &codes, bits);
        grid_bits_put(bits, end_code >> 8, end_code & 0xff);
    }
    state->work.n_bytes += n_bytes;
    state->work.n_steps += state->n_sequences;
    for (unsigned i = 0; i < 256; i++)
        state->work.n_literals += counts.litlen[i];
    state->n_sequences = 0;
    return end;
}

void grid_block_sync(struct grid_bits *bits)
{
    stored_write(NULL, 0, false, bits);
}
