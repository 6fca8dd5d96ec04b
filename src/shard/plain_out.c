/* plain_out.c - see plain_out.h. */
#include "shard/plain_out.h"

#include "base/text.h"
#include "codec/crc.h"

int plain_out_write(struct output *output, struct member_pull *member, struct error *err)
{
    uint32_t crc = 0;

    for (;;) {
        if (member_pull_next(member, err) != 0)
            return -1;
        if (member->ended)
            break;
        crc = crc_update(crc, member->bytes, member->n_bytes);
        if (output_write(output, member->bytes, member->n_bytes, err) != 0)
            return -1;
    }
    if (crc != member->crc)
        return error_set(err, ERROR_INTERNAL, "member %s: CRC %08x expected, %08x written",
                         text_quote(member->name).text, member->crc, crc);
    return 0;
}
