/*
 * parts.h - what this folder's files want of each other.
 */
#ifndef SYMAUG_WRITE_PARTS_H
#define SYMAUG_WRITE_PARTS_H

#include "base/output.h"
#include "manifest/digest.h"
#include "write/member.h"

/* --- pack.c: the pieces of one member while they are made and compressed --- */

struct packer;

/* Over pieces (which it takes over, also on failure): fetch the first input and choose the codec by
 * it. One thread does this, any one. NULL with err set on failure. */
struct packer *packer_new(struct members *all, struct pieces *pieces,
                          const struct codec_member *about, struct error *err);

/* The next packed bytes, a whole run of deflate blocks, and what is known of the member so far: its
 * CRC, its size, and at the end, where n_bytes is 0, its codec. The leader's to call; the packers
 * of a crew work one after another. */
int packer_pull(struct packer *packer, struct member *member, struct error *err);

/* Free it with its pieces; accepts NULL. */
void packer_free(struct packer *packer);

/* --- npz_out.c --- */

/* The members to write: borrowed. */
struct member_list {
    struct member *const *members;
    size_t n;
};

/* Pull the members into a zip file at the start of the (open, empty) output, whose digest (or NULL)
 * is told what is final. comment may be NULL. */
int npz_out_write(struct output *output, struct output_digest *digest, struct member_list list,
                  const char *comment, struct error *err);

#endif
