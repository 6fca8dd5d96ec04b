/*
 * write.h - writing a zip archive: members that are pulled, through libzip, into an output.
 */
#ifndef SYMAUG_ZIP_WRITE_H
#define SYMAUG_ZIP_WRITE_H

#include "base/error.h"
#include "base/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a member must be able to do. `self` is the member's own state. */
struct member_source {
    void *self;

    /*
     * Deliver the member's next packed bytes: *bytes stays valid until the next call; *n_bytes 0
     * means the end. Deflated bytes come in whole byte-aligned runs of blocks, so that an empty
     * block may be put between two calls. -1 with err set ends the writing of the whole shard.
     */
    int (*pull)(void *self, const uint8_t **bytes, size_t *n_bytes, struct error *err);

    /* After the end: CRC-32 and number of the unpacked bytes (npy header and data). */
    void (*result)(void *self, uint32_t *crc, uint64_t *unpacked_nbytes);

    bool deflated;            /* packed bytes are one raw deflate stream; else stored */
    bool size_known;          /* the number of unpacked bytes is known beforehand */
    uint64_t unpacked_nbytes; /* that number; else a bound that they do not exceed, or 0:
                                 without a bound the member gets a zip64 header */
};

/* A member while it is pulled. Zero-initialise all but its name and source. */
struct member_pull {
    char *name; /* owned */
    struct member_source source;
    const uint8_t *bytes;   /* pulled, not yet written: borrowed from the source */
    size_t n_bytes;         /* of them; 0 when the next pull is due */
    const uint8_t *held;    /* pulled, but to be written only after `bytes` */
    size_t held_nbytes;     /* of them, or 0 */
    uint64_t packed_nbytes; /* of everything pulled so far */
    bool ended;             /* then the following hold: */
    uint32_t crc;           /* of the unpacked bytes */
    uint64_t unpacked_nbytes;
};

/* Pull until there are bytes or the member has ended. At the end its sizes must agree with what
 * was announced and delivered: ERROR_INTERNAL if not. */
int member_pull_next(struct member_pull *member, struct error *err);

/*
 * True for the one size, 0xFFFFFFFF, with which libzip 1.7.3 writes a zip file that nobody can
 * read. Whoever knows a member's unpacked size beforehand pads its npy header by 64; a member that
 * turns out to have it is refused. Packed sizes and offsets are taken care of here.
 */
bool zip_size_is_unsafe(uint64_t unpacked_nbytes);

struct zip_writing {
    struct output *output;       /* borrowed: open and empty */
    struct member_pull *members; /* borrowed */
    size_t n_members;
    const char *comment; /* or NULL */
    void *self;          /* of the next */
    /* Is told that the first n_bytes of the output are in it and final; or NULL. */
    void (*settled)(void *self, uint64_t n_bytes);
};

/* Pull the members into a zip archive. The first failure of a member or of the output is the error
 * reported. */
int zip_write(const struct zip_writing *writing, struct error *err);

#endif
