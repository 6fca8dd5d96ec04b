/* member_pull.c - see member_pull.h. */
#include "shard/member_pull.h"
#include "base/text.h"

/* A stored block of no bytes, not the last one: changes nothing, but for the length. */
static const uint8_t empty_block[5] = {0x00, 0x00, 0x00, 0xff, 0xff};

static int end_member(struct member_pull *member, struct error *err)
{
    const struct member_source *source = &member->source;
    const char *name = member->name;

    source->result(source->self, &member->crc, &member->unpacked_nbytes);
    member->ended = true;
    if (source->size_known && member->unpacked_nbytes != source->unpacked_nbytes)
        return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, %llu were announced",
                         text_quote(name).text, (unsigned long long)member->unpacked_nbytes,
                         (unsigned long long)source->unpacked_nbytes);
    if (source->unpacked_nbytes > 0 && member->unpacked_nbytes > source->unpacked_nbytes)
        return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, more than its bound %llu",
                         text_quote(name).text, (unsigned long long)member->unpacked_nbytes,
                         (unsigned long long)source->unpacked_nbytes);
    if (!source->deflated && member->packed_nbytes != member->unpacked_nbytes)
        return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, %llu were delivered",
                         text_quote(name).text, (unsigned long long)member->unpacked_nbytes,
                         (unsigned long long)member->packed_nbytes);
    return 0;
}

int member_pull_next(struct member_pull *member, struct error *err)
{
    const struct member_source *source = &member->source;

    if (member->held_nbytes > 0) {
        member->bytes = member->held;
        member->n_bytes = member->held_nbytes;
        member->held_nbytes = 0;
        return 0;
    }
    member->n_bytes = 0;
    if (source->pull(source->self, &member->bytes, &member->n_bytes, err) != 0)
        return -1;
    if (member->n_bytes == 0)
        return end_member(member, err);
    if (source->deflated && archive_out_size_is_unsafe(member->packed_nbytes + member->n_bytes)) {
        member->held = member->bytes;
        member->held_nbytes = member->n_bytes;
        member->packed_nbytes += sizeof empty_block + member->held_nbytes;
        member->bytes = empty_block;
        member->n_bytes = sizeof empty_block;
        return 0;
    }
    member->packed_nbytes += member->n_bytes;
    return 0;
}
