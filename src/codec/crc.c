/*
 * crc.c - CRC-32 as zip uses it: through ISA-L where the build has it, else through zlib. Pieces of
 * a member are summed by different threads and joined with crc_combine.
 */
#include "codec/crc.h"

#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/crc.h>
#endif

uint32_t crc_update(uint32_t crc, const void *bytes, size_t n_bytes)
{
    if (n_bytes == 0) /* zlib takes a NULL pointer for a request of the initial value */
        return crc;
#ifdef HAVE_ISAL
    return crc32_gzip_refl(crc, bytes, n_bytes);
#else
    return (uint32_t)crc32_z(crc, bytes, n_bytes);
#endif
}

uint32_t crc_combine(uint32_t crc_a, uint32_t crc_b, uint64_t b_nbytes)
{
    return (uint32_t)crc32_combine64(crc_a, crc_b, (z_off64_t)b_nbytes);
}
