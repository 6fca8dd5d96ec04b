/*
 * grid.h - what the parts of the `grid` encoder share: raw deflate for board planes and policies.
 *
 * Board planes repeat at a handful of distances that the array's shape gives away. They are learned
 * from a sample of the member (grid_codec.c); then every position is compared at those distances
 * only, 64 bytes at a time, with a small hash table for the rest. A piece is parsed into sequences
 * (some literals, then a match), or into steps (some zeros, then a match or a literal element), by
 * one of the parsers (grid_kernel.h and what it includes, compiled once for every instruction set);
 * a buffer full of them, or the end of the piece, makes a deflate block (grid_block.c). Literals
 * stay in the input. Scores are integers: output is the same with every compiler and on every
 * machine.
 */
#pragma once

#include "codec/codec.h"

/* --- the deflate format's symbols, computed instead of tabulated (RFC 1951, 3.2.5) --- */

#define DEFLATE_MIN_MATCH    3
#define DEFLATE_MAX_MATCH    258
#define DEFLATE_MAX_DISTANCE 32768

#define DEFLATE_N_LITLEN   286 /* literals, end of block, lengths */
#define DEFLATE_N_DISTANCE 30
#define DEFLATE_N_CODELEN  19
#define DEFLATE_END        256
#define DEFLATE_MAX_STORED 65535

/* Index of the highest set bit; value must not be 0. */
static inline unsigned deflate_log2(uint32_t value)
{
    return 31u - (unsigned)__builtin_clz(value);
}

/* Number of extra bits that follow a match length, and its literal/length symbol. */
static inline unsigned deflate_length_extra(unsigned length)
{
    const unsigned x = length - DEFLATE_MIN_MATCH;

    return x < 8 || length == DEFLATE_MAX_MATCH ? 0 : deflate_log2(x) - 2;
}

static inline unsigned deflate_length_symbol(unsigned length)
{
    const unsigned x = length - DEFLATE_MIN_MATCH;
    const unsigned extra = deflate_length_extra(length);

    if (length == DEFLATE_MAX_MATCH)
        return 285;
    return 257 + 4 * extra + (x >> extra);
}

/* The same of that symbol, or of a literal. */
static inline unsigned deflate_litlen_extra(unsigned symbol)
{
    return symbol < 265 || symbol == 285 ? 0 : (symbol - 257) / 4 - 1;
}

/* The same for a distance. */
static inline unsigned deflate_distance_extra(uint32_t distance)
{
    return deflate_log2((distance - 1) | 2) - 1;
}

static inline unsigned deflate_distance_symbol(uint32_t distance)
{
    const unsigned extra = deflate_distance_extra(distance);

    return 2 * extra + ((distance - 1) >> extra);
}

/* The number of extra bits of a distance symbol. */
static inline unsigned deflate_symbol_extra(unsigned symbol)
{
    return symbol < 4 ? 0 : symbol / 2 - 1;
}

/* The greatest distance of a symbol. */
static inline uint32_t deflate_symbol_end(unsigned symbol)
{
    const unsigned extra = deflate_symbol_extra(symbol);

    return symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) + 1) << extra;
}

/* --- the encoder's state --- */

#define GRID_MAX_DISTANCES    12
#define GRID_WINDOW           64 /* bytes compared at a time */
#define GRID_MAX_SEQUENCES    16384
#define GRID_MAX_BLOCK        (2u << 20) /* input bytes of a block */
#define GRID_HASH_BITS        14
#define GRID_INDEX_NEAR_BITS  17
#define GRID_INDEX_FAR_BITS   14
#define GRID_INDEX_NBYTES     4096 /* of one stride */
#define GRID_INDEX_PADDING    32
#define GRID_INDEX_MAX_LISTED (GRID_INDEX_NBYTES / 2 + GRID_INDEX_PADDING)
#define GRID_PATH_HASH_BITS   13
#define GRID_PATH_WAYS        8
#define GRID_PATH_NBYTES      16384 /* of one shortest-path search */
#define GRID_MAX_STEPS        65536
#define GRID_STEP_STRETCH     4096 /* bytes between two looks at what room there is */
#define GRID_STEP_RUN_NBYTES  256  /* zeros of one step, but for those of zeros alone */
#define GRID_STEP_MAX_LENGTH  64   /* elements of a match */
#define GRID_STEP_GATHERED    8192 /* literals */
#define GRID_VALUES_BITS_1    16   /* of the table of single elements, which must hold a window */
#define GRID_VALUES_BITS      14
#define GRID_VALUES_SLOTS_1   (1u << GRID_VALUES_BITS_1)
#define GRID_VALUES_SLOTS     (1u << GRID_VALUES_BITS)
#define GRID_VALUES_TABLES    3
#define GRID_VALUES_MATCHES   (GRID_VALUES_TABLES + 1) /* and at a learned distance */
#define GRID_VALUES_STRETCH   4096                     /* elements */

/* Moved rows: GRID_SAMPLE_NBYTES of a piece are parsed into a block. The rows after it are written
 * with the codes of that block, without being parsed, if at least GRID_FOLLOW_NBYTES are left and
 * the block has GRID_FOLLOW_STEPS steps, enough to know what one costs. Fuzzing uses smaller
 * values. */
#ifndef GRID_SAMPLE_NBYTES
#define GRID_SAMPLE_NBYTES (128u << 10)
#define GRID_FOLLOW_NBYTES (64u << 10)
#define GRID_FOLLOW_STEPS  1024
#endif

/* The ways to parse: one codec row each. */
enum grid_mode { GRID_GREEDY, GRID_SPARSE, GRID_MOVED, GRID_VALUES, GRID_OPTIMAL, GRID_N_MODES };

/* n_literals bytes of input as they are, then a match. */
struct grid_sequence {
    uint32_t n_literals;
    uint16_t length;
    uint16_t distance_less_1;
};

/* Sizes in bits that a parser reckons with. */
struct grid_costs {
    uint32_t literal_mean; /* of the literals there were, times 16 */
    uint8_t literal[256];
    uint8_t length[DEFLATE_MAX_MATCH + 1]; /* with extra bits */
    uint8_t distance[DEFLATE_N_DISTANCE];  /* by symbol, with extra bits */
};

/* Where each element of an image stood in the image before: how many elements in front, or 0. All
 * rows of a block have the same. */
struct grid_moves {
    uint64_t header_nbytes; /* in front of the first row */
    uint64_t row_nbytes;
    uint64_t image_nbytes; /* the rows of a block under one transform */
    uint64_t n_images;
    size_t n;            /* of the distances: n_images x elements of a row */
    uint32_t symbols;    /* bit i: distances with symbol i occur */
    uint16_t distance[]; /* in elements */
};

/* What training finds out about a member. */
struct grid_trained {
    const struct grid_moves *moves; /* after this struct, or NULL */
    size_t item_nbytes;             /* 1, 2, 4 or 8 */
    size_t n_distances;
    uint32_t distances[GRID_MAX_DISTANCES];
    struct grid_costs costs[GRID_N_MODES]; /* of a first block */
};

/* How often the symbols of a block occur. */
struct grid_counts {
    uint32_t litlen[DEFLATE_N_LITLEN];
    uint32_t distance[DEFLATE_N_DISTANCE];
};

/* Where the bits go. */
struct grid_bits {
    uint64_t pending; /* bits not written yet, first one lowest */
    unsigned n_pending;
    uint8_t *out; /* up to 8 bytes from here may be overwritten at any time */
};

/* Codes ready for writing: the bits, shifted left by 8, and their number. */
struct grid_codes {
    uint32_t literal[257];                  /* and end of block */
    uint32_t length[DEFLATE_MAX_MATCH + 1]; /* with extra bits */
    uint32_t distance[DEFLATE_N_DISTANCE];  /* without */
};

/* Where equal elements stood: by hash the latest of them; and what comes of it for the elements of
 * one stride, from `begin` to `end`, that are not zero. */
struct grid_index {
    const uint8_t *begin;
    const uint8_t *end;
    uint32_t n; /* number of the stride's first element; element 0 is the oldest of the piece */
    size_t n_listed;
    uint64_t nonzero[GRID_INDEX_NBYTES / 2 / 64 + 2]; /* bit i: element i is not zero */
    uint16_t element[GRID_INDEX_MAX_LISTED];          /* number, counted from `begin` */
    uint16_t near[GRID_INDEX_MAX_LISTED];             /* distance to the latest equal one */
    uint16_t is_near[GRID_INDEX_MAX_LISTED];          /* whether that is equal indeed */
    uint16_t far[GRID_INDEX_MAX_LISTED];              /* to the latest that goes on equally */
    uint16_t length[GRID_INDEX_MAX_LISTED];           /* of the match, or 1, in elements */
    uint16_t distance[GRID_INDEX_MAX_LISTED];         /* of the match, or 0, in elements */
    uint8_t n_covered[GRID_INDEX_MAX_LISTED];         /* listed elements in the match */
    uint16_t latest_near[1u << GRID_INDEX_NEAR_BITS]; /* lowest bits of numbers */
    uint16_t latest_far[1u << GRID_INDEX_FAR_BITS];
};

/* Work space of the shortest-path search: what is known about every place of a stretch; and by hash
 * the latest positions, latest first, as in grid_state's hash. */
struct grid_path {
    uint32_t latest[1u << GRID_PATH_HASH_BITS][GRID_PATH_WAYS];
    uint32_t cost[GRID_PATH_NBYTES + 1]; /* bits from the beginning to here */
    uint32_t step[GRID_PATH_NBYTES + 1]; /* length << 16 | distance - 1 of a match, or 0: literal */
    uint64_t reached[GRID_PATH_NBYTES / 64 + 2]; /* bit i: some path leads to place i */
};

/* Work space of the parser for values: by hash the latest positions, numbered from floor on; the
 * matches that the elements of a stretch have, and the best way on from each of them. */
struct grid_values {
    uint32_t latest[GRID_VALUES_SLOTS_1 + 2 * GRID_VALUES_SLOTS]; /* in three tables */
    uint32_t matches[GRID_VALUES_STRETCH][GRID_VALUES_MATCHES];   /* as steps */
    uint32_t steps[GRID_VALUES_STRETCH]; /* length << 16 | distance - 1 of a match; or literals */
    uint8_t distance_nbits[DEFLATE_MAX_DISTANCE]; /* costs, by distance - 1 */
    uint32_t cost[GRID_VALUES_STRETCH + 1];       /* bits from here to the end */
};

/* Zero elements, then a match or a literal element: 2 x the number of zeros, 1 more where the byte
 * in front of them is not 0; the match's distance and length in elements. Or many zeros alone,
 * whose number is the length. */
struct grid_step {
    uint16_t zeros;
    uint16_t move; /* or one of these */
    uint16_t length;
};

enum {
    GRID_STEP_LITERAL = 0,
    GRID_STEP_ZEROS = DEFLATE_MAX_DISTANCE / 4 + 1,
    GRID_STEP_N_MOVES,
    GRID_STEP_N_ZEROS = GRID_STEP_RUN_NBYTES + 2
};

/* Append a code to one that leaves room for it; both as in grid_codes. */
static inline uint64_t grid_codes_join(uint64_t first, uint64_t code)
{
    const unsigned n_bits = first & 0xff;

    return (first >> 8 | (code >> 8) << n_bits) << 8 | (n_bits + (code & 0xff));
}

/* The code of a distance with its extra bits, as in grid_codes. */
static inline uint64_t grid_codes_distance(const struct grid_codes *codes, uint32_t distance)
{
    const uint64_t n_extra = deflate_distance_extra(distance);
    const uint64_t extra = (distance - 1) & ((1u << n_extra) - 1);

    return grid_codes_join(codes->distance[deflate_distance_symbol(distance)],
                           extra << 8 | n_extra);
}

/* The steps of a block, how often there is what, and the codes of it. */
struct grid_steps {
    size_t item_nbytes; /* 2, 4 or 8 */
    bool has_lengths;   /* or all matches are of one element: move_codes holds the length, too */
    size_t n;
    struct grid_step list[GRID_MAX_STEPS];
    uint32_t n_zeros[GRID_STEP_N_ZEROS];
    uint32_t n_lengths[GRID_STEP_MAX_LENGTH + 1];
    uint32_t n_moves[GRID_STEP_N_MOVES];
    uint32_t n_literals[4][256];
    uint32_t n_runs[DEFLATE_MAX_MATCH + 1];  /* matches of many zeros, by their bytes */
    uint64_t zeros_codes[GRID_STEP_N_ZEROS]; /* as in grid_codes, but longer */
    uint64_t length_codes[GRID_STEP_MAX_LENGTH + 1];
    uint64_t move_codes[GRID_STEP_N_MOVES];
    uint8_t gathered[GRID_STEP_GATHERED]; /* literals that are not counted yet */
    uint64_t learned_codes[];             /* of matches at the learned moves */
};

/* Zero bytes, after one that is not 0 or (is_after 0) one that is: matches one byte back, and
 * literal ones in front where there is nothing to match or too little. */
struct grid_zeros {
    size_t n_literals;
    size_t n_longest; /* matches of DEFLATE_MAX_MATCH */
    size_t rest;      /* length of one more, or 0 */
};

static inline struct grid_zeros grid_zeros_split(size_t n_bytes, size_t is_after)
{
    const size_t n_literals = is_after & (n_bytes > 0), left = n_bytes - n_literals;
    const size_t rest = left % DEFLATE_MAX_MATCH;
    const bool is_short = rest < DEFLATE_MIN_MATCH;

    return (struct grid_zeros){n_literals + (is_short ? rest : 0), left / DEFLATE_MAX_MATCH,
                               is_short ? 0 : rest};
}

struct grid_state;

/* Parse from `bytes` on, until `stop` or until the sequences are full; returns where that was. The
 * bytes after the last match are literals. */
typedef const uint8_t *grid_parser(struct grid_state *state, const uint8_t *bytes,
                                   const uint8_t *stop);

/* What a state has done so far. */
struct grid_work {
    uint64_t n_bytes;
    uint64_t n_looked; /* places that were looked up or compared */
    uint64_t n_literals;
    uint64_t n_steps;
};

/* One worker's state. */
struct grid_state {
    const struct grid_kernels *kernels;
    struct grid_trained trained;
    struct grid_costs costs;    /* those of the block before */
    struct grid_path *path;     /* after this struct; `best` only */
    struct grid_values *values; /* the same; that mode only */
    struct grid_steps *steps;   /* the same; sparse and moved only */
    enum grid_mode mode;
    struct grid_work work;

    const uint8_t *floor; /* lowest byte that may be matched against */
    const uint8_t *bytes; /* of the piece, */
    const uint8_t *end;   /* up to here, */
    bool is_last;         /* whether it ends the stream, */
    uint64_t offset;      /* and where it stands in the member */

    uint32_t inverse[DEFLATE_MAX_MATCH + 1]; /* 2^20 / length: bits per byte without a division */

    size_t n_sequences;
    struct grid_sequence sequences[GRID_MAX_SEQUENCES];

    uint32_t hash[1u << GRID_HASH_BITS]; /* position + 1, counted from floor */
    struct grid_index index;
};

/* The inner loops, for one instruction set. All sets give the same results. */
struct grid_kernels {
    const char *name;
    bool (*is_supported)(void);
    grid_parser *parse[GRID_N_MODES];

    /* Count the symbols of a block. */
    void (*count)(const uint8_t *bytes, size_t n_bytes, const struct grid_sequence *sequences,
                  size_t n_sequences, struct grid_counts *counts);

    /* Write the state's sequences, or its steps, whose codes have been made, then the literals that
     * follow. */
    void (*emit)(const struct grid_state *state, const uint8_t *bytes, size_t n_bytes,
                 const struct grid_codes *codes, struct grid_bits *bits);

    /* Write the elements from `bytes` on into the block whose steps have just been written in
     * n_bits, with its codes, while these suit them. Returns the number of bytes they take. */
    size_t (*follow)(const struct grid_state *state, const uint8_t *bytes, uint64_t n_bits,
                     const struct grid_codes *codes, struct grid_bits *bits);

    /* The lengths (at most 258, and not beyond stop) of the matches of `bytes` at distances. */
    void (*measure)(const uint8_t *bytes, const uint8_t *stop, const uint32_t *distances,
                    size_t n_distances, uint16_t *lengths);
};

extern const struct grid_kernels grid_kernels_plain;
#if defined(__x86_64__)
extern const struct grid_kernels grid_kernels_avx2, grid_kernels_avx512;
#endif

/* --- instruction sets, training (grid_codec.c) --- */

/* All that the build has, best first. Their results are the same, bit for bit. */
extern const struct grid_kernels *const grid_kernels_table[];
extern const size_t grid_kernels_n_table;

/* The best that this machine has. */
const struct grid_kernels *grid_kernels_best(void);

/* Learn from a member's description and sample: which distances its bytes repeat at. The work is
 * bounded by the member's size. The result does not depend on the kernels. Returns 0 or -1. */
int grid_train(const struct grid_kernels *kernels, const struct codec_member *member,
               struct grid_trained *trained, struct error *err);

/* --- writing (grid_block.c) --- */

#define GRID_BITS_MAX_PUT 56 /* bits that fit beside the up to 7 pending ones */

/* Append n_bits; all higher bits of value must be 0. */
static inline void grid_bits_put(struct grid_bits *bits, uint64_t value, unsigned n_bits)
{
    bits->pending |= value << bits->n_pending;
    bits->n_pending += n_bits;
    memcpy(bits->out, &bits->pending, sizeof bits->pending);
    bits->out += bits->n_pending >> 3;
    bits->pending >>= bits->n_pending & ~7u;
    bits->n_pending &= 7;
}

/* How many bits were put since these were copied. */
static inline uint64_t grid_bits_since(const struct grid_bits *bits, const struct grid_bits *before)
{
    return 8 * (uint64_t)(bits->out - before->out) + bits->n_pending - before->n_pending;
}

/* Fill up the last byte with zeros. */
static inline void grid_bits_align(struct grid_bits *bits)
{
    grid_bits_put(bits, 0, -bits->n_pending & 7);
}

/* Input bytes of every block but a piece's last: it bounds what stored blocks cost. */
#define GRID_BLOCK_MIN_NBYTES 32768

/*
 * Write the bytes up to `end` (at most GRID_MAX_BLOCK) as the state's sequences or steps say, and
 * empty these: never longer than stored blocks would be. The state's costs become those of this
 * block's codes. Moved rows that follow `end` may go into the block, too: returns where it ends.
 */
const uint8_t *grid_block_write(struct grid_state *state, const uint8_t *bytes, const uint8_t *end,
                                struct grid_bits *bits);

/* Write an empty stored block: the end of the bits so far, byte-aligned. */
void grid_block_sync(struct grid_bits *bits);

#define GRID_HUFFMAN_MAX_SYMBOLS 288
#define GRID_HUFFMAN_MAX_COUNT   ((1u << 23) - 1) /* of one symbol */
#define GRID_HUFFMAN_MAX_LENGTH  15

/*
 * Code lengths (0: unused) of a prefix code for symbols with these counts, none longer than
 * `limit`, of the least total size. The code is always complete and has at least two symbols, for
 * decoders that insist: with fewer in use, symbols 0 and 1 fill up. n_symbols is 2 to
 * GRID_HUFFMAN_MAX_SYMBOLS, and 2^limit >= n_symbols.
 */
void grid_huffman_lengths(const uint32_t *counts, size_t n_symbols, unsigned limit,
                          uint8_t *lengths);

/* The canonical codes of these lengths, first bit lowest, as deflate writes them. */
void grid_huffman_codes(const uint8_t *lengths, size_t n_symbols, uint16_t *codes);
