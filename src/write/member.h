/*
 * member.h - one output array as a member of the archive: cut into pieces that a crew makes and
 * compresses in parallel, delivered in order.
 *
 * The owner says what a member is (struct member) and how its rows are made (struct member_ops);
 * the archive pulls one member after another with member_next. Meanwhile the crew has jobs of three
 * kinds: prepare the next member (open it, fetch its first input, choose its codec), fetch the
 * input of the next run of pieces, and make a piece (rows, CRC, deflate, all in one worker's
 * cache). The bytes that come out depend on the pieces alone, never on the number of threads.
 */
#pragma once

#include "base/bytes.h"
#include "base/crew.h"
#include "codec/codec.h"

#include <stdatomic.h>

#define PIECE_NBYTES (1u << 20)

struct member;
struct meter;

/* Rows of a member to fetch or to make, and the window that holds their input. */
struct piece_rows {
    uint64_t begin, end;
    unsigned window;
};

struct member_ops {
    /* Set what the member's pieces are, and what the codec is told about it. Called once, by any
     * thread. NULL: all is set. */
    int (*open)(struct member *member, struct error *err);

    /* Fetch the input of these rows and set rows->window. Runs come in order, each with the rows in
     * front of it that are made again as history. While a run is fetched, pieces of the run before
     * may be made, but not of older ones: two windows take turns. NULL: there is nothing to fetch.
     */
    int (*load)(struct member *member, struct piece_rows *rows, struct error *err);

    /* Append these rows to out, and after the last row whatever ends the member. Thread-safe. */
    int (*make)(struct member *member, const struct piece_rows *rows, struct bytes *out,
                struct error *err);

    /* Release what open and load took. Called once, after the last piece or after a failure, even
     * one of open. May be NULL. */
    void (*close)(struct member *member);
};

struct member {
    /* Set by the owner before it is added. */
    const char *name; /* borrowed: in the container */
    const struct member_ops *ops;
    uint16_t zip_method;
    bool size_known;          /* the number of unpacked bytes is known beforehand */
    uint64_t unpacked_nbytes; /* that number; else a bound that they do not exceed, or 0: without
                                 a bound the member gets a zip64 header */
    bool waits;               /* not to be prepared before its turn: it takes a lot of memory */

    /* Set by the owner, in open at the latest: a header, which the owner frees, then rows, cut into
     * pieces of about 1 MiB, or less in small members, whatever the number of threads. */
    struct bytes header; /* a multiple of 16 bytes where rows are moved by kernels */
    uint64_t n_rows;
    uint64_t rows_per_piece;   /* at least 1 */
    uint64_t row_nbytes;       /* or 0: rows differ in size, and none is made again as history */
    struct codec_member about; /* periods, images and size of an item; the rest is known */

    /* Deliver the next packed bytes (n_bytes 0: the end), and count: crc, made_nbytes. Deflated
     * bytes come in whole byte-aligned runs of blocks, so that an empty block may be put between
     * two calls. NULL: they are made in pieces. */
    int (*pull)(struct member *member, struct error *err);

    /* What was delivered last, valid until the next call, and totals so far. */
    const uint8_t *bytes;
    size_t n_bytes;
    uint64_t packed_nbytes;
    uint64_t made_nbytes; /* unpacked */
    uint32_t crc;         /* of them */
    bool ended;
    char codec[32]; /* after the end: its name */

    /* Private to member.c. */
    struct members *all;
    struct packer *packer; /* owned, from the preparation to the end */
    struct error failure;  /* of the preparation */
    bool is_prepared;      /* or failed; under the crew's lock */
    const uint8_t *held;   /* delivered, but to be written only after an empty block */
    size_t held_nbytes;
    uint32_t packed_crc; /* of what a stored member has delivered */

    /* Private to archive_out.c: the file that libzip writes it to. */
    struct zip_sink *sink;
};

/* The members of one output, in the order in which they are pulled. */
struct members {
    /* Set by the owner. */
    struct crew *crew; /* borrowed */
    struct codec_level level;
    int n_threads;       /* threads of the crew that are sure to take part; 0: all */
    struct meter *meter; /* borrowed, or NULL: is told how much is done */

    uint64_t known_nbytes;     /* unpacked, of the members whose size is known beforehand */
    uint64_t made_nbytes;      /* unpacked, of all members so far */
    _Atomic uint64_t n_loaded; /* bytes of pieces whose input was fetched, for work that keeps pace
                                  with it */
    _Atomic(const struct error *) stop; /* set where something beside the members has failed: every
                                           pull fails with it from then on */

    /* Private to member.c. */
    struct member **list; /* owned; the members are borrowed */
    size_t n;
    size_t n_begun, n_preparing; /* members that were pulled, and taken to be prepared; under the
                                    crew's lock, as is */
    struct packer *packer;       /* of the member that is pulled, or NULL */
};

/* Add a member, which must stay where it is until the members are released. */
int members_add(struct members *all, struct member *member, struct error *err);

/* End the crew's work on them, close those that are open, free the list. Accepts a zeroed one. */
void members_release(struct members *all);

/* The next packed bytes to write, or the end, where the sizes must agree with what was announced
 * and delivered: ERROR_INTERNAL if not. To be called by the leader of the crew, member after
 * member in the order in which they were added. */
int member_next(struct member *member, struct error *err);

/*
 * True for the one size, 0xFFFFFFFF, with which libzip 1.7.3 writes a zip file that nobody can
 * read. Whoever knows a member's unpacked size beforehand pads its npy header by 64; a member that
 * turns out to have it is refused. Packed sizes and offsets are taken care of here.
 */
bool member_size_is_unsafe(uint64_t n_bytes);
