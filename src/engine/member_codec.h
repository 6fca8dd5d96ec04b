/*
 * member_codec.h - choosing how a member is compressed, by its first pieces.
 */
#ifndef SYMAUG_ENGINE_MEMBER_CODEC_H
#define SYMAUG_ENGINE_MEMBER_CODEC_H

#include "base/bytes.h"
#include "base/error.h"
#include "codec/codec.h"
#include "engine/pieces.h"

/* At most so many pieces are looked at: the first run must have as many, if there are. */
#define MEMBER_CODEC_NPIECES 4

/* Make the first pieces, whose input is in `window`, in scratch, and choose by them. The choice
 * depends on no number of threads. The caller releases it. */
int member_codec_choose(const struct pieces *pieces, unsigned window,
                        const struct codec_level *level, const struct codec_member *hints,
                        struct bytes *scratch, struct codec_choice *choice, struct error *err);

/* Encoders may read behind a piece and ignore what they find; it is set, so that checkers of memory
 * see no use of what never was. */
int member_codec_add_slack(struct bytes *piece, struct error *err);

#endif
