/*
 * codec.h - compressors and decompressors: one table of each, a row for every way.
 *
 * A member (one array of an output shard) is cut into pieces of about 1 MiB at row boundaries.
 * Every piece is encoded on its own, by any thread, into a byte-aligned run of raw deflate blocks;
 * the runs of all pieces in order are one deflate stream. Up to 32 KiB of the member's bytes in
 * front of a piece may be matched against, so that independence costs little. (An encoder of
 * another zip method may do what it likes, as long as its runs join to one stream.)
 *
 * The output depends on the bytes, the settings and the history alone: never on threads, time or
 * instruction set.
 */
#pragma once

#include "base/error.h"

#define CODEC_HISTORY_NBYTES   32768
#define CODEC_READ_SLACK       64 /* bytes after a piece that may be read, of any value */
#define CODEC_PIECE_MAX_NBYTES ((size_t)1 << 30)

/* How much of a member a choice may look at (rows from its front, gathered by the caller). */
#define CODEC_TRIAL_NBYTES (1u << 20)

/* Methods of zip members (APPNOTE 4.4.5): what encoders write, and decoders read. */
enum { CODEC_ZIP_STORED = 0, CODEC_ZIP_DEFLATE = 8 };

/* What is known about a member before its first byte is encoded. */
struct codec_member {
    uint64_t n_bytes;   /* of the whole member; 0 when unknown */
    size_t item_nbytes; /* element size; others than 1, 2, 4 and 8 are taken as opaque bytes */

    /* Distances at which the member's bytes are likely to repeat, from its shape and the row
     * order: board row, plane, output row, block of rows. n_periods may be 0. */
    uint32_t periods[16];
    size_t n_periods;

    uint64_t header_nbytes; /* in front of the first row */
    uint64_t row_nbytes;    /* 0 where rows differ in size */

    /* Where its rows are images in blocks, all rows of a block under one transform, then under the
     * next; else 0. */
    uint64_t image_nrows; /* of a block, under one transform */
    uint64_t n_images;    /* transforms */

    /* Borrowed: its first bytes, at most CODEC_TRIAL_NBYTES, CODEC_READ_SLACK readable after. */
    const uint8_t *sample;
    size_t sample_nbytes;
};

/* Add a period, unless it is 0, out of reach or there already. */
static inline void codec_add_period(struct codec_member *member, uint64_t n_bytes)
{
    if (n_bytes == 0 || n_bytes > CODEC_HISTORY_NBYTES ||
        member->n_periods == sizeof member->periods / sizeof *member->periods)
        return;
    for (size_t i = 0; i < member->n_periods; i++)
        if (member->periods[i] == n_bytes)
            return;
    member->periods[member->n_periods++] = (uint32_t)n_bytes;
}

/* The way one member is compressed: chosen once, const from then on, shared by all workers. */
struct codec_choice {
    const struct codec *codec; /* static */
    int level;                 /* of zlib and isal: 1-9; of others 0 */
    void *trained;             /* owned, codec's own (learned distances), or NULL */
    char name[32];             /* for the manifest: "zlib:6", "grid", "isal:1", "store" */
};

/* Bytes to encode: history_nbytes bytes before them in memory are the member's bytes in front of
 * the piece (at most CODEC_HISTORY_NBYTES); CODEC_READ_SLACK bytes after them are readable. */
struct codec_piece {
    const uint8_t *bytes;
    size_t n_bytes; /* at most CODEC_PIECE_MAX_NBYTES */
    size_t history_nbytes;
    bool last; /* of the member: ends the stream; otherwise the run ends byte-aligned and open */
    uint64_t offset; /* in the member, where its rows are known; else 0 */
};

/* A row of the table of encoders. */
struct codec {
    const char *name;
    uint16_t zip_method;
    int n_levels; /* --level takes NAME:1 to NAME:n_levels; 0: a user cannot name it */

    /* Worst size of an encoded piece of n_bytes. */
    size_t (*bound)(size_t n_bytes);

    /* One worker's state for a choice; NULL with err set when there is no memory. */
    void *(*state_new)(const struct codec_choice *choice, struct error *err);
    void (*state_free)(void *state);

    /* Write at most bound(n_bytes) bytes to out and return their number, or 0 with err set. (An
     * encoder that stores returns 0 with err untouched for an empty piece.) A state may be used for
     * any number of pieces, in any order. */
    size_t (*encode)(void *state, const struct codec_piece *piece, uint8_t *out, struct error *err);

    /* Learn from the member's sample: what is learned goes to *trained and then into the choice.
     * All that learn share one function, and what it learned, one block of memory. Deterministic.
     * NULL where nothing is learned. */
    int (*train)(const struct codec_member *member, void **trained, struct error *err);

    /* Add to what was trained what a state has learned since, from encoding a part of the member.
     * NULL where there is nothing to add. */
    void (*learn)(const void *state, void *trained);

    /* Operations done by a state so far, counted: one is about the work of one literal. NULL: the
     * nominal cost of the candidate (codec.c) counts. */
    uint64_t (*n_operations)(const void *state);
};

extern const struct codec codec_store, codec_zlib;
#ifdef HAVE_ISAL
extern const struct codec codec_isal;
#endif
/* Greedy at learned distances; runs of zeros and whole elements, for policies; the same with
 * elements that a transform moved, or literal ones; shortest path over whole elements, for values
 * that come again; shortest path over bytes. */
extern const struct codec codec_grid, codec_grid_sparse, codec_grid_moved, codec_grid_values,
    codec_grid_best;

extern const struct codec *const codec_table[];
extern const size_t codec_n_table;

/* What is left of the input and of the room for output; `done` once the stream has ended. */
struct decoding {
    const uint8_t *in;
    size_t in_nbytes;
    uint8_t *out;
    size_t out_nbytes;
    bool done;
};

/* A row of the table of decoders: streams of one zip method, but for stored ones. */
struct decoder {
    const char *name; /* of the method: "deflate" */
    uint16_t zip_method;

    /* A new stream's state, or NULL (no memory). state_free accepts NULL. */
    void *(*state_new)(struct error *err);
    void (*state_free)(void *state);
    void (*reset)(void *state); /* start again with a new stream */

    /* Decode; the four fields are advanced. Returns when the output is full, the input is used up
     * (there may be output left even then), or the stream has ended. ERROR_DATA with the reason
     * alone on an invalid stream. */
    int (*decode)(void *state, struct decoding *decoding, struct error *err);
};

extern const struct decoder decoder_deflate;

/* The methods that members may have, for messages: "0 (stored) or 8 (deflate)". */
extern const char codec_methods[];

/* The decoder of a zip method, or NULL. */
const struct decoder *codec_decoder(uint16_t zip_method);

/* A level as the user asks for it: parsed from "fast", "default", "best", "store", "zlib:1".. */
enum codec_level_kind { CODEC_FAST, CODEC_DEFAULT, CODEC_BEST, CODEC_STORE, CODEC_NAMED };
struct codec_level {
    enum codec_level_kind kind;
    int level;                 /* of CODEC_NAMED, 1-9 */
    const struct codec *codec; /* of CODEC_NAMED: the one that the user names */
};

/* What --level may be: for the help, and the words alone. */
extern const char codec_level_help[], codec_level_words[];

/* Parse --level. ERROR_USAGE lists what there is. */
int codec_level_parse(const char *text, struct codec_level *level, struct error *err);

/* The zip method of all members at a level. */
uint16_t codec_level_method(const struct codec_level *level);

/*
 * Choose how to compress a member at a level. Deterministic: by size and counted operations, never
 * by a clock. The caller frees with codec_choice_release.
 */
int codec_choose(const struct codec_level *level, const struct codec_member *member,
                 struct codec_choice *choice, struct error *err);

/* Free what a choice owns; accepts a zeroed one. */
void codec_choice_release(struct codec_choice *choice);

/* To be called after code with AVX that may leave the upper halves of vector registers filled, as
 * ISA-L's CRC and encoder do: then some processors take more than 200 ns for each change between
 * code with AVX, such as log() in libm, and code without. */
static inline void codec_clear_registers(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx"))
        __asm__ volatile("vzeroupper");
#endif
}

/* CRC-32 as zip uses it, of n_bytes more, starting from crc (0 for the first). */
uint32_t crc_update(uint32_t crc, const void *bytes, size_t n_bytes);

/* CRC of a + b from the CRCs of both and the length of b. */
uint32_t crc_combine(uint32_t crc_a, uint32_t crc_b, uint64_t b_nbytes);

/* "zlib 1.2.13, ISA-L 2.30.0": the libraries in use, for --version. */
const char *codec_libraries(void);
