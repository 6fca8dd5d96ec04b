/*
 * zip_local.c - a member's local header and data descriptor, held against the directory.
 */
#include "shard/zip_parts.h"

#include "base/bytes.h"
#include "base/text.h"

#include <string.h>

/* Bits 1 and 2 tell how hard the deflater tried: they mean nothing to a reader. */
#define COMPARED_FLAGS 0xfff9u

/* The fixed part of a local header, as written. */
struct local {
    unsigned flags;
    unsigned method;
    uint32_t crc;
    uint64_t packed_nbytes;
    uint64_t unpacked_nbytes;
    size_t name_nbytes;
    size_t extra_nbytes;
};

/* Reads the fixed part, and name and extra fields into the scratch. */
static int read_local(const struct zip_reader *zip, const struct zip_entry *entry,
                      struct local *local)
{
    uint8_t p[ZIP_LOCAL_NBYTES];
    uint64_t room = zip->directory_offset - entry->header_offset;

    if (room < ZIP_LOCAL_NBYTES)
        return zip_fail(zip, entry, "expected a local header at byte %llu, found the directory",
                        (unsigned long long)entry->header_offset);
    if (input_read(zip->in, entry->header_offset, p, sizeof p, zip->err) != 0)
        return -1;
    if (bytes_get_le32(p) != ZIP_LOCAL_SIGNATURE)
        return zip_fail(zip, entry, "expected a local header at byte %llu, found other data",
                        (unsigned long long)entry->header_offset);
    local->flags = bytes_get_le16(p + 6);
    local->method = bytes_get_le16(p + 8);
    local->crc = bytes_get_le32(p + 14);
    local->packed_nbytes = bytes_get_le32(p + 18);
    local->unpacked_nbytes = bytes_get_le32(p + 22);
    local->name_nbytes = bytes_get_le16(p + 26);
    local->extra_nbytes = bytes_get_le16(p + 28);
    if (local->name_nbytes + local->extra_nbytes > room - ZIP_LOCAL_NBYTES)
        return zip_fail(zip, entry,
                        "expected name and extra fields of %zu bytes in the local "
                        "header, found the directory after %llu",
                        local->name_nbytes + local->extra_nbytes,
                        (unsigned long long)(room - ZIP_LOCAL_NBYTES));
    return input_read(zip->in, entry->header_offset + ZIP_LOCAL_NBYTES, zip->scratch,
                      local->name_nbytes + local->extra_nbytes, zip->err);
}

static int compare_identity(const struct zip_reader *zip, const struct zip_entry *entry,
                            const struct local *local)
{
    if (local->name_nbytes != entry->name_nbytes ||
        memcmp(zip->scratch, entry->name, entry->name_nbytes) != 0)
        return zip_fail(zip, entry, "expected the same name in the local header, found %s",
                        text_quote_bytes(zip->scratch, local->name_nbytes).text);
    if (local->method != entry->method)
        return zip_fail(zip, entry,
                        "expected method %u in the local header, as in the directory, "
                        "found %u",
                        entry->method, local->method);
    if (((local->flags ^ entry->flags) & COMPARED_FLAGS) != 0)
        return zip_fail(zip, entry,
                        "expected flags 0x%04x in the local header, as in the "
                        "directory, found 0x%04x",
                        entry->flags, local->flags);
    return 0;
}

static int compare_number(const struct zip_reader *zip, const struct zip_entry *entry,
                          const char *what, uint64_t directory, uint64_t local)
{
    if (local == directory)
        return 0;
    return zip_fail(zip, entry,
                    "expected %s %llu in the local header, as in the directory, found "
                    "%llu",
                    what, (unsigned long long)directory, (unsigned long long)local);
}

static int compare_sizes(const struct zip_reader *zip, const struct zip_entry *entry,
                         const struct local *local, const struct zip_extra *extra)
{
    uint64_t values[2] = {local->unpacked_nbytes, local->packed_nbytes};
    size_t used = 0;

    if (zip_extra_resolve(zip, entry, "local header", extra, values, 2, &used) != 0)
        return -1;
    if (local->crc != entry->crc)
        return zip_fail(zip, entry,
                        "expected CRC %08x in the local header, as in the directory, "
                        "found %08x",
                        entry->crc, local->crc);
    if (compare_number(zip, entry, "size", entry->unpacked_nbytes, values[0]) != 0)
        return -1;
    return compare_number(zip, entry, "packed size", entry->packed_nbytes, values[1]);
}

/* In front of a data descriptor the writer did not know the numbers yet: zero will do. */
static int compare_unknown_sizes(const struct zip_reader *zip, const struct zip_entry *entry,
                                 const struct local *local, const struct zip_extra *extra)
{
    uint64_t values[2] = {local->unpacked_nbytes, local->packed_nbytes};

    for (size_t i = 0; i < 2; i++) {
        const uint64_t known = i == 0 ? entry->unpacked_nbytes : entry->packed_nbytes;
        const char *what = i == 0 ? "size" : "packed size";

        if (extra->zip64_nbytes >= 8 * i + 8) {
            uint64_t wide = bytes_get_le64(extra->zip64 + 8 * i);

            if (wide != 0 && compare_number(zip, entry, what, known, wide) != 0)
                return -1;
        }
        if (values[i] != 0 && !(values[i] == 0xffffffff && extra->zip64_nbytes >= 16) &&
            compare_number(zip, entry, what, known, values[i]) != 0)
            return -1;
    }
    if (local->crc != 0 && local->crc != entry->crc)
        return zip_fail(zip, entry, "expected CRC %08x or 0 in the local header, found %08x",
                        entry->crc, local->crc);
    return 0;
}

/*
 * Find the data descriptor's form, with or without signature, with 32- or 64-bit sizes, by its
 * contents: writers do not mark it reliably. Returns its length, or 0. The longest form first: of
 * an empty member's 64-bit descriptor the short forms fit as well.
 */
static size_t match_descriptor(const struct zip_entry *entry, const uint8_t *p, size_t n_bytes)
{
    static const struct {
        size_t signature_nbytes;
        size_t size_nbytes;
    } forms[] = {{4, 8}, {0, 8}, {4, 4}, {0, 4}};

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const uint8_t *crc = p + forms[i].signature_nbytes;
        const size_t width = forms[i].size_nbytes;
        const size_t length = forms[i].signature_nbytes + 4 + 2 * width;

        if (length <= n_bytes &&
            (forms[i].signature_nbytes == 0 || bytes_get_le32(p) == ZIP_DESCRIPTOR_SIGNATURE) &&
            bytes_get_le32(crc) == entry->crc &&
            bytes_get_uint(crc + 4, width, false) == entry->packed_nbytes &&
            bytes_get_uint(crc + 4 + width, width, false) == entry->unpacked_nbytes)
            return length;
    }
    return 0;
}

static int check_descriptor(const struct zip_reader *zip, struct zip_entry *entry)
{
    uint8_t p[24];
    uint64_t room = zip->directory_offset - entry->end_offset;
    size_t n = room < sizeof p ? (size_t)room : sizeof p;
    size_t length;

    if (input_read(zip->in, entry->end_offset, p, n, zip->err) != 0)
        return -1;
    length = match_descriptor(entry, p, n);
    if (length == 0)
        return zip_fail(zip, entry,
                        "expected a data descriptor with CRC %08x, sizes %llu and %llu "
                        "behind the data, found other numbers",
                        entry->crc, (unsigned long long)entry->packed_nbytes,
                        (unsigned long long)entry->unpacked_nbytes);
    entry->end_offset += length;
    return 0;
}

int zip_local_check(const struct zip_reader *zip, struct zip_entry *entry)
{
    const bool has_descriptor = (entry->flags & ZIP_FLAG_DESCRIPTOR) != 0;
    struct local local = {0};
    struct zip_extra extra;

    if (read_local(zip, entry, &local) != 0 || compare_identity(zip, entry, &local) != 0 ||
        zip_extra_parse(zip, entry, "local header", zip->scratch + local.name_nbytes,
                        local.extra_nbytes, &extra) != 0)
        return -1;
    if (has_descriptor ? compare_unknown_sizes(zip, entry, &local, &extra) != 0
                       : compare_sizes(zip, entry, &local, &extra) != 0)
        return -1;
    entry->data_offset =
        entry->header_offset + ZIP_LOCAL_NBYTES + local.name_nbytes + local.extra_nbytes;
    if (entry->packed_nbytes > zip->directory_offset - entry->data_offset)
        return zip_fail(zip, entry, "expected %llu packed bytes, found the directory after %llu",
                        (unsigned long long)entry->packed_nbytes,
                        (unsigned long long)(zip->directory_offset - entry->data_offset));
    entry->end_offset = entry->data_offset + entry->packed_nbytes;
    return has_descriptor ? check_descriptor(zip, entry) : 0;
}
