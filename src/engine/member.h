/*
 * member.h - one output array as a member that the archive pulls: pieces, made and compressed by
 * all workers, delivered in order.
 *
 * The crew makes pieces (build, CRC, deflate, each piece in its worker's cache) as far ahead of
 * their delivery as there is room, and fetches the input of a run of pieces while those of the run
 * before are made. The bytes that come out depend on the pieces alone, never on the number of
 * threads.
 */
#ifndef SYMAUG_ENGINE_MEMBER_H
#define SYMAUG_ENGINE_MEMBER_H

#include "base/crew.h"
#include "base/error.h"
#include "codec/codec.h"
#include "engine/pieces.h"
#include "engine/side_work.h"

struct member;

/* How members are made; borrowed parts must outlive them. */
struct member_settings {
    struct codec_level level;
    struct crew *crew;
    uint64_t pieces_per_thread;  /* in a run: so many are in memory, twice; at least a few */
    struct side_work *side_work; /* borrowed, or NULL: keeps pace with the pieces */
};

/* A member over pieces (which it takes over, also on failure). NULL with err set on failure. */
struct member *member_new(struct pieces *pieces, const struct member_settings *settings,
                          const struct codec_member *hints, struct error *err);

/* Fetch the first input and choose the codec by it: the part of a member that one thread does, any
 * one, while another member may be pulled. Once, before the first pull. */
int member_prepare(struct member *member, struct error *err);

/* The next packed bytes, a whole run of deflate blocks; valid until the next call. *n_bytes is 0 at
 * the end. The leader's to call; the members of a crew are pulled one after another. */
int member_pull(struct member *member, const uint8_t **bytes, size_t *n_bytes, struct error *err);

/* What is known of the bytes pulled so far: the codec's name, the CRC and the number of the
 * unpacked ones. */
const char *member_codec(const struct member *member);
uint32_t member_crc(const struct member *member);
uint64_t member_unpacked_nbytes(const struct member *member);

/* Free it with its pieces; accepts NULL. */
void member_free(struct member *member);

#endif
