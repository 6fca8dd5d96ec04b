/* member_codec.c - see member_codec.h. */
#include "engine/member_codec.h"

#include <string.h>

int member_codec_add_slack(struct bytes *piece, struct error *err)
{
    uint8_t *slack = bytes_reserve(piece, CODEC_READ_SLACK, err);

    if (slack == NULL)
        return -1;
    memset(slack, 0, CODEC_READ_SLACK);
    return 0;
}

/* The first piece, and as many whole ones behind it as a codec wants to see. */
static int take_sample(const struct pieces *pieces, unsigned window, struct bytes *scratch,
                       struct bytes *sample, struct error *err)
{
    for (uint64_t i = 0; i < pieces->n_pieces && i < MEMBER_CODEC_NPIECES; i++) {
        size_t history_nbytes = 0;

        if (pieces->ops->make(pieces, i, window, scratch, &history_nbytes, err) != 0)
            return -1;
        if (i > 0 && sample->n_bytes + scratch->n_bytes > CODEC_TRIAL_NBYTES)
            break;
        if (bytes_append(sample, scratch->data, scratch->n_bytes, err) != 0)
            return -1;
    }
    return member_codec_add_slack(sample, err);
}

int member_codec_choose(const struct pieces *pieces, unsigned window,
                        const struct codec_level *level, const struct codec_member *hints,
                        struct bytes *scratch, struct codec_choice *choice, struct error *err)
{
    struct codec_member about = *hints;
    struct bytes sample = {0};
    int status = take_sample(pieces, window, scratch, &sample, err);

    about.sample = sample.data;
    about.sample_nbytes = sample.n_bytes < CODEC_TRIAL_NBYTES ? sample.n_bytes : CODEC_TRIAL_NBYTES;
    if (status == 0)
        status = codec_choose(level, &about, choice, err);
    bytes_release(&sample);
    return status;
}
