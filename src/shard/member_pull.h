/*
 * member_pull.h - pulling a registered member of an output shard, and checking what it claims.
 * Private to archive_out.
 */
#ifndef SYMAUG_SHARD_MEMBER_PULL_H
#define SYMAUG_SHARD_MEMBER_PULL_H

#include "shard/archive_out.h"

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

#endif
