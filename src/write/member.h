/*
 * member.h - one output array as a member that the archive pulls: pieces, made and compressed by
 * all workers, delivered in order.
 *
 * The owner of a member says what its pieces are; the archive pulls it (member_next), one member
 * after another. The crew makes pieces (rows, CRC, deflate, each piece in its worker's cache) as
 * far ahead of their delivery as there is room, and fetches the input of a run of pieces while
 * those of the run before are made. Beside the member that is pulled the next one is prepared: its
 * first input fetched and its codec chosen. The bytes that come out depend on the pieces alone,
 * never on the number of threads.
 */
#pragma once

#include "base/bytes.h"
#include "base/crew.h"
#include "base/error.h"
#include "codec/codec.h"

#include <stdatomic.h>

/* --- pieces --- */

#define PIECE_NBYTES (1u << 20)

struct pieces;

/* Rows of a member that are wanted, and where their input is. */
struct piece_rows {
    uint64_t begin, end;
    unsigned window;
};

struct pieces_ops {
    /* Fetch the input for these rows; rows->window is where it is. Runs are asked for in order,
     * with the rows in front that are made again as history; may run while pieces of the run before
     * are made, but not of older ones: two windows take turns. NULL: there is nothing to fetch. */
    int (*load)(struct pieces *pieces, struct piece_rows *rows, struct error *err);

    /* Append these rows to out, and after the last one what ends the member. Thread-safe. */
    int (*make)(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                struct error *err);

    void (*free)(struct pieces *pieces); /* with the header */
};

/* The head of every kind of pieces (first member of its struct): a header, then rows, cut into
 * pieces of about 1 MiB, or less in small members, whatever the threads. */
struct pieces {
    const struct pieces_ops *ops;
    struct bytes header; /* owned: what precedes the rows; a multiple of 16 where they are moved */
    uint64_t n_rows;
    uint64_t rows_per_piece; /* at least 1 */
    uint64_t row_nbytes;     /* or 0: rows differ, and none is made again as history */
};

/* At least 1: the first one carries the header. */
uint64_t pieces_count(const struct pieces *pieces);

/* Free pieces of any kind; accepts NULL. */
void pieces_free(struct pieces *pieces);

/* --- members --- */

struct member {
    /* Said by the owner before it is added. */
    const char *name; /* borrowed: in the container */
    uint16_t zip_method;
    bool size_known;          /* the number of unpacked bytes is known beforehand */
    uint64_t unpacked_nbytes; /* that number; else a bound that they do not exceed, or 0: without
                                 a bound the member gets a zip64 header */
    bool waits;               /* not to be prepared before its turn: it takes much memory */

    /* Its pieces, and what is known about it (but for the sample); by any thread, once. */
    struct pieces *(*open)(struct member *member, struct codec_member *about, struct error *err);
    void (*close)(struct member *member); /* its input is not needed any more; or NULL */

    /* Deliver the next packed bytes (n_bytes 0: the end), and count: crc, made_nbytes. Deflated
     * bytes come in whole byte-aligned runs of blocks, so that an empty block may be put between
     * two calls. NULL: it is made of its pieces. */
    int (*pull)(struct member *member, struct error *err);

    /* What was delivered last, valid until the next call, and what is known of all so far. */
    const uint8_t *bytes;
    size_t n_bytes;
    uint64_t packed_nbytes;
    uint64_t made_nbytes; /* unpacked */
    uint32_t crc;         /* of them */
    bool ended;
    char codec[32]; /* after the end: its name */

    /* Of member.c alone. */
    struct members *all;
    struct packer *packer; /* owned, from its preparation to its end */
    struct error failure;  /* of the preparation */
    const uint8_t *held;   /* delivered, but to be written only after an empty block */
    size_t held_nbytes;

    /* Of archive_out.c alone: the file that libzip writes it to, and where in it. */
    struct zip_sink *sink;
    uint64_t header_offset;
};

/* Two members are prepared at a time: those of even, and those of odd numbers. */
#define MEMBERS_N_PREPARERS 2

struct preparer {
    struct crew_task task;
    struct members *all;
    size_t next; /* member, under the crew's lock */
};

/* The members of one output, in the order in which they are pulled. */
struct members {
    /* Said by the owner. */
    struct crew *crew; /* borrowed */
    struct codec_level level;
    int n_threads;                                  /* of the crew that can be counted on; 0: all */
    void (*progress)(void *self, uint64_t n_bytes); /* or NULL: unpacked bytes more are done */
    void *progress_self;

    _Atomic uint64_t n_loaded; /* bytes of pieces whose input was fetched: what goes on beside the
                                  members may keep pace with it */

    /* Of member.c alone. */
    struct member **list; /* owned; the members are borrowed */
    size_t n;
    size_t n_begun; /* members that have had their turn; under the crew's lock */
    struct preparer preparers[MEMBERS_N_PREPARERS];
    struct error failure; /* of what goes on beside them */
    _Atomic bool has_failed;
};

/* Add a member, which must stay where it is. */
int members_add(struct members *all, struct member *member, struct error *err);

/* Begin to prepare them; `all` must stay where it is until members_end, which may be called again.
 */
void members_begin(struct members *all);
void members_end(struct members *all);

/* Something beside the members has failed: every pull fails with this from now on. */
void members_stop(struct members *all, const struct error *failure);

/* Free the list. */
void members_release(struct members *all);

/* The next packed bytes to write, or the end, where the sizes must agree with what was announced
 * and delivered: ERROR_INTERNAL if not. The leader of the crew's to call. */
int member_next(struct member *member, struct error *err);

/* Free what it owns still, if it is given up in the middle; accepts a zeroed one. */
void member_release(struct member *member);

/*
 * True for the one size, 0xFFFFFFFF, with which libzip 1.7.3 writes a zip file that nobody can
 * read. Whoever knows a member's unpacked size beforehand pads its npy header by 64; a member that
 * turns out to have it is refused. Packed sizes and offsets are taken care of here.
 */
bool member_size_is_unsafe(uint64_t n_bytes);
