/*
 * zip_extra.c - extra fields of zip headers: the zip64 sizes and the Unicode path.
 */
#include "shard/zip_parts.h"

#include "base/bytes.h"

#include <string.h>

#define EXTRA_ZIP64        0x0001u
#define EXTRA_UNICODE_PATH 0x7075u

static int note_once(const struct zip_reader *zip, const struct zip_entry *entry, const char *where,
                     unsigned id, const uint8_t *p, size_t n, const uint8_t **field,
                     size_t *field_nbytes)
{
    if (*field != NULL)
        return zip_fail(zip, entry, "expected one extra field 0x%04x in the %s, found two", id,
                        where);
    *field = p;
    *field_nbytes = n;
    return 0;
}

/* Up to three NULs at the end are alignment, as Android's zipalign leaves it. */
static bool is_padding(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return n < 4;
}

int zip_extra_parse(const struct zip_reader *zip, const struct zip_entry *entry, const char *where,
                    const uint8_t *bytes, size_t n_bytes, struct zip_extra *extra)
{
    memset(extra, 0, sizeof *extra);
    while (!is_padding(bytes, n_bytes)) {
        unsigned id, size;
        int result = 0;

        if (n_bytes < 4)
            return zip_fail(zip, entry,
                            "expected whole extra fields in the %s, found %zu bytes "
                            "left over",
                            where, n_bytes);
        id = bytes_get_le16(bytes);
        size = bytes_get_le16(bytes + 2);
        if (size > n_bytes - 4)
            return zip_fail(zip, entry,
                            "expected an extra field 0x%04x of %u bytes in the %s, "
                            "found %zu",
                            id, size, where, n_bytes - 4);
        if (id == EXTRA_ZIP64)
            result = note_once(zip, entry, where, id, bytes + 4, size, &extra->zip64,
                               &extra->zip64_nbytes);
        else if (id == EXTRA_UNICODE_PATH)
            result = note_once(zip, entry, where, id, bytes + 4, size, &extra->unicode_path,
                               &extra->unicode_path_nbytes);
        if (result != 0)
            return -1;
        bytes += 4 + size;
        n_bytes -= 4 + size;
    }
    return 0;
}

int zip_extra_resolve(const struct zip_reader *zip, const struct zip_entry *entry,
                      const char *where, const struct zip_extra *extra, uint64_t *values,
                      size_t n_values, size_t *used)
{
    size_t at = 0;

    for (size_t i = 0; i < n_values; i++) {
        if (values[i] != 0xffffffff)
            continue;
        if (extra->zip64 == NULL)
            return zip_fail(zip, entry,
                            "expected a zip64 field in the %s, as a size or offset is "
                            "0xffffffff, found none",
                            where);
        if (extra->zip64_nbytes - at < 8)
            return zip_fail(zip, entry,
                            "expected a zip64 field of at least %zu bytes in the %s, "
                            "found %zu",
                            at + 8, where, extra->zip64_nbytes);
        values[i] = bytes_get_le64(extra->zip64 + at);
        at += 8;
    }
    *used = at;
    if (extra->zip64_nbytes - at < 8)
        return 0;
    for (size_t i = 0; i < n_values && 8 * i + 8 <= extra->zip64_nbytes; i++)
        if (bytes_get_le64(extra->zip64 + 8 * i) != values[i])
            return zip_fail(zip, entry,
                            "expected the zip64 field in the %s to repeat %llu, found "
                            "%llu",
                            where, (unsigned long long)values[i],
                            (unsigned long long)bytes_get_le64(extra->zip64 + 8 * i));
    return 0;
}
