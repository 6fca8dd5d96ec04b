/*
 * codec.h - compressors: one piece of a member -> raw deflate.
 *
 * A member (one array of an output shard) is cut into pieces of about 1 MiB at row boundaries.
 * Every piece is encoded on its own, by any thread, into a byte-aligned run of raw deflate blocks;
 * the runs of all pieces in order are one deflate stream. Up to 32 KiB of the member's bytes in
 * front of a piece may be matched against, so that independence costs little.
 *
 * The output depends on the bytes, the settings and the history alone: never on threads, time or
 * instruction set.
 */
#ifndef SYMAUG_CODEC_CODEC_H
#define SYMAUG_CODEC_CODEC_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODEC_HISTORY_NBYTES   32768
#define CODEC_READ_SLACK       64 /* bytes behind a piece that may be read, of any value */
#define CODEC_PIECE_MAX_NBYTES ((size_t)1 << 30)

/* What is known about a member before its first byte is encoded. */
struct codec_member {
    uint64_t n_bytes;   /* of the whole member; 0 when unknown */
    size_t item_nbytes; /* element size, 1 for opaque bytes */
    bool is_float;      /* elements are floating-point numbers */

    /* Distances at which the member's bytes are likely to repeat, from its shape and the row
     * order: board row, plane, output row, block of rows. n_periods may be 0. */
    uint32_t periods[16];
    size_t n_periods;
};

/* The way one member is compressed: chosen once, const from then on, shared by all workers. */
struct codec_choice {
    const struct codec *codec; /* static */
    int level;                 /* of zlib and isal: 1-9; of others: a mode of theirs, or 0 */
    void *trained;             /* owned, codec's own (learned distances), or NULL */
    char name[32];             /* for the manifest: "zlib:6", "grid", "isal:1", "store" */
};

/* A row of the table in codec.c. */
struct codec {
    const char *name;
    const char *library; /* "zlib", "ISA-L": whose version goes into the manifest; or NULL */
    bool stores;         /* pieces are not compressed: the member is written stored */

    /* Worst size of an encoded piece of n_bytes. */
    size_t (*bound)(size_t n_bytes);

    /* One worker's state for a choice; NULL with err set when there is no memory. */
    void *(*state_new)(const struct codec_choice *choice, struct error *err);
    void (*state_free)(void *state);

    /*
     * Encode n_bytes at `piece`. The history_nbytes bytes before `piece` in memory are the member's
     * bytes in front of it (at most CODEC_HISTORY_NBYTES); CODEC_READ_SLACK bytes behind it are
     * readable. `last` ends the deflate stream, otherwise the run ends byte-aligned and open.
     * Writes at most bound(n_bytes) bytes to out and returns their number, or 0 with err set. (A
     * codec that stores returns 0 with err untouched for an empty piece.) Pieces are at most
     * CODEC_PIECE_MAX_NBYTES; a state may be used for any number of them, in any order.
     */
    size_t (*encode)(void *state, const uint8_t *piece, size_t n_bytes, size_t history_nbytes,
                     bool last, uint8_t *out, struct error *err);

    /*
     * Learn from the member's first bytes (CODEC_READ_SLACK readable behind them): what is learned
     * goes to *trained and then into the choice. Codecs that share this function share what it
     * learned at a level. Deterministic. NULL where nothing is learned.
     */
    int (*train)(const struct codec_member *member, int level, const uint8_t *sample,
                 size_t sample_nbytes, void **trained, struct error *err);

    /* Add to what was trained what a state has learned since, from encoding a part of the member.
     * NULL where there is nothing to add. */
    void (*learn)(const void *state, void *trained);

    /* Operations done by a state so far, counted: one is about the work of one literal. NULL: the
     * nominal cost of the candidate (choose.c) counts. */
    uint64_t (*n_operations)(const void *state);

    /* Free choice->trained; NULL where nothing is trained. */
    void (*trained_free)(void *trained);
};

extern const struct codec *const codec_table[];
extern const size_t codec_n_table;

/* How much of a member a choice may look at (rows from its front, gathered by the caller). */
#define CODEC_TRIAL_NBYTES (1u << 20)

/* A level as the user asks for it: parsed from "fast", "default", "best", "store", "zlib:1".. */
enum codec_level_kind { CODEC_FAST, CODEC_DEFAULT, CODEC_BEST, CODEC_STORE, CODEC_ZLIB };
struct codec_level {
    enum codec_level_kind kind;
    int zlib; /* 1-9 with CODEC_ZLIB */
};

/* Parse --level. ERROR_USAGE lists what there is. */
int codec_level_parse(const char *text, struct codec_level *level, struct error *err);

/*
 * Choose how to compress a member at a level. `sample` holds the member's first sample_nbytes
 * (at most CODEC_TRIAL_NBYTES, CODEC_READ_SLACK readable behind it). Deterministic: by size and
 * counted operations, never by a clock. The caller frees with codec_choice_release.
 */
int codec_choose(const struct codec_level *level, const struct codec_member *member,
                 const uint8_t *sample, size_t sample_nbytes, struct codec_choice *choice,
                 struct error *err);

/* Free what a choice owns; accepts a zeroed one. */
void codec_choice_release(struct codec_choice *choice);

/* "zlib 1.2.13, ISA-L 2.30.0": the libraries in use, for --version. */
const char *codec_libraries(void);

#endif
