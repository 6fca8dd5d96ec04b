/*
 * zip_entry.c - one entry of a zip archive's directory.
 */
#include "shard/zip_parts.h"

#include "base/bytes.h"
#include "base/text.h"
#include "codec/codec.h"
#include "shard/member_name.h"

#include <string.h>

#define VERSION_ZIP64     45   /* the latest that stored, deflated and zip64 members need */
#define DEFLATE_MAX_RATIO 1032 /* 258 bytes from 2 bits, and a little for the header */

/* Flags that change what the bytes mean, and those that no format in use sets. */
static const struct {
    unsigned bit;
    const char *name;
} refused_flags[] = {
    {0, "encrypted data"},    {4, "enhanced deflating"}, {5, "compressed patch data"},
    {6, "strong encryption"}, {13, "a masked header"},
};
#define RESERVED_FLAGS 0xd780u /* bits 7-10, 12, 14, 15 */

static const struct {
    unsigned method;
    const char *name;
} method_names[] = {
    {1, "shrink"},   {6, "implode"}, {9, "deflate64"},   {12, "bzip2"}, {14, "lzma"},
    {20, "zstd"},    {93, "zstd"},   {94, "mp3"},        {95, "xz"},    {96, "jpeg"},
    {97, "wavpack"}, {98, "ppmd"},   {99, "WinZip AES"},
};

/* The fixed part of a central entry, as written. */
struct central {
    unsigned version_needed;
    unsigned flags;
    unsigned method;
    size_t name_nbytes;
    size_t extra_nbytes;
    size_t comment_nbytes;
    unsigned disk;
    uint32_t crc;
    uint32_t packed_nbytes;
    uint32_t unpacked_nbytes;
    uint32_t header_offset;
};

static struct central central_get(const uint8_t *p)
{
    return (struct central){
        .version_needed = p[6], /* the high byte is an operating system */
        .flags = bytes_get_le16(p + 8),
        .method = bytes_get_le16(p + 10),
        .crc = bytes_get_le32(p + 16),
        .packed_nbytes = bytes_get_le32(p + 20),
        .unpacked_nbytes = bytes_get_le32(p + 24),
        .name_nbytes = bytes_get_le16(p + 28),
        .extra_nbytes = bytes_get_le16(p + 30),
        .comment_nbytes = bytes_get_le16(p + 32),
        .disk = bytes_get_le16(p + 34),
        .header_offset = bytes_get_le32(p + 42),
    };
}

static const char *method_name(unsigned method)
{
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++)
        if (method_names[i].method == method)
            return method_names[i].name;
    return "unknown";
}

/* Move the name one byte forward, over the fixed part, so that a NUL fits behind it. */
static void put_name(uint8_t *record, size_t name_nbytes, struct zip_entry *entry)
{
    uint8_t *name = record + ZIP_CENTRAL_NBYTES - 1;

    memmove(name, name + 1, name_nbytes);
    name[name_nbytes] = '\0';
    entry->name = (const char *)name;
    entry->name_nbytes = name_nbytes;
}

static int check_name(const struct zip_reader *zip, struct zip_entry *entry)
{
    const char *fault = member_name_fault(entry->name, entry->name_nbytes);
    bool utf8 = text_is_utf8(entry->name, entry->name_nbytes);
    bool ascii = true;

    if (fault != NULL)
        return zip_fail(zip, NULL, "%s: expected a plain member name, found that the %s",
                        text_quote_bytes(entry->name, entry->name_nbytes).text, fault);
    if ((entry->flags & ZIP_FLAG_UTF8) != 0 && !utf8)
        return zip_fail(zip, entry,
                        "expected a name in UTF-8, as its flag says, found other bytes");
    entry->is_folder = entry->name[entry->name_nbytes - 1] == '/';
    for (size_t i = 0; i < entry->name_nbytes; i++)
        ascii = ascii && (unsigned char)entry->name[i] < 0x80;
    if (!ascii && (entry->flags & ZIP_FLAG_UTF8) == 0 &&
        zip_warn(zip, entry, "name is neither ASCII nor marked as UTF-8") != 0)
        return -1;
    if (!entry->is_folder && strchr(entry->name, '/') != NULL)
        return zip_warn(zip, entry, "lies in a sub-folder");
    return 0;
}

static int check_flags(const struct zip_reader *zip, const struct zip_entry *entry,
                       unsigned version_needed)
{
    for (size_t i = 0; i < sizeof refused_flags / sizeof *refused_flags; i++)
        if ((entry->flags >> refused_flags[i].bit & 1) != 0)
            return zip_fail(zip, entry, "expected a plain member, found %s (flag bit %u)",
                            refused_flags[i].name, refused_flags[i].bit);
    if (entry->method != ZIP_METHOD_STORED && codec_decoder(entry->method) == NULL)
        return zip_fail(zip, entry, "expected compression method %s, found %u (%s)", codec_methods,
                        entry->method, method_name(entry->method));
    if ((entry->flags & RESERVED_FLAGS) != 0 &&
        zip_warn(zip, entry, "reserved flag bits 0x%04x are set", entry->flags & RESERVED_FLAGS) !=
            0)
        return -1;
    if (version_needed > VERSION_ZIP64)
        return zip_warn(zip, entry, "asks for a reader of zip version %u.%u", version_needed / 10,
                        version_needed % 10);
    return 0;
}

static int check_sizes(const struct zip_reader *zip, const struct zip_entry *entry)
{
    unsigned long long packed = entry->packed_nbytes;
    unsigned long long unpacked = entry->unpacked_nbytes;

    if (entry->packed_nbytes > zip->directory_offset)
        return zip_fail(zip, entry,
                        "expected at most %llu packed bytes in front of the directory, "
                        "found %llu declared",
                        (unsigned long long)zip->directory_offset, packed);
    if (entry->header_offset > zip->directory_offset)
        return zip_fail(zip, entry,
                        "expected its header in front of the directory at byte %llu, "
                        "found its offset to be %llu",
                        (unsigned long long)zip->directory_offset,
                        (unsigned long long)entry->header_offset);
    if (entry->is_folder && (packed > 2 || unpacked != 0))
        return zip_fail(zip, entry, "expected no data in an entry for a folder, found %llu bytes",
                        unpacked);
    if (entry->method == ZIP_METHOD_STORED && packed != unpacked)
        return zip_fail(zip, entry,
                        "expected a stored member's two sizes to be equal, found %llu "
                        "and %llu",
                        packed, unpacked);
    if (entry->method == ZIP_METHOD_DEFLATED && unpacked / DEFLATE_MAX_RATIO > packed)
        return zip_fail(zip, entry,
                        "expected at most %llu bytes from %llu deflated ones, found "
                        "%llu declared",
                        packed * DEFLATE_MAX_RATIO, packed, unpacked);
    return 0;
}

static int check_disk(const struct zip_reader *zip, const struct zip_entry *entry,
                      const struct zip_extra *extra, unsigned disk, size_t used)
{
    if (disk == 0xffff && extra->zip64 != NULL && extra->zip64_nbytes - used >= 4)
        disk = bytes_get_le32(extra->zip64 + used);
    if (disk != 0)
        return zip_fail(zip, entry, "expected an archive on one disk, found a member on disk %u",
                        disk);
    return 0;
}

/* Some readers take the name from the Unicode path field, others do not look at it. */
static int check_unicode_path(const struct zip_reader *zip, const struct zip_entry *entry,
                              const struct zip_extra *extra)
{
    const uint8_t *p = extra->unicode_path;

    if (p == NULL)
        return 0;
    if (extra->unicode_path_nbytes != entry->name_nbytes + 5 ||
        memcmp(p + 5, entry->name, entry->name_nbytes) != 0)
        return zip_fail(zip, entry,
                        "expected its Unicode path field to repeat the name, found "
                        "another name");
    return 0;
}

static int check_record(const struct zip_reader *zip, const uint8_t *record, size_t n_bytes,
                        struct central *central, size_t *used)
{
    if (n_bytes < ZIP_CENTRAL_NBYTES || bytes_get_le32(record) != ZIP_CENTRAL_SIGNATURE)
        return zip_fail(zip, NULL, "expected another entry in the zip directory, found none");
    *central = central_get(record);
    *used =
        ZIP_CENTRAL_NBYTES + central->name_nbytes + central->extra_nbytes + central->comment_nbytes;
    if (*used > n_bytes)
        return zip_fail(zip, NULL,
                        "expected a directory entry of %zu bytes, found %zu: its name, "
                        "extra fields or comment run past the directory",
                        *used, n_bytes);
    return 0;
}

int zip_entry_parse(const struct zip_reader *zip, uint8_t *record, size_t n_bytes,
                    struct zip_entry *entry, size_t *used)
{
    struct central central = {0};
    struct zip_extra extra;
    uint64_t values[3];
    size_t zip64_used = 0;

    if (check_record(zip, record, n_bytes, &central, used) != 0)
        return -1;
    memset(entry, 0, sizeof *entry);
    entry->flags = (uint16_t)central.flags;
    entry->method = (uint16_t)central.method;
    entry->crc = central.crc;
    put_name(record, central.name_nbytes, entry);
    if (check_name(zip, entry) != 0 || check_flags(zip, entry, central.version_needed) != 0 ||
        zip_extra_parse(zip, entry, "directory", record + ZIP_CENTRAL_NBYTES + central.name_nbytes,
                        central.extra_nbytes, &extra) != 0)
        return -1;
    values[0] = central.unpacked_nbytes;
    values[1] = central.packed_nbytes;
    values[2] = central.header_offset;
    if (zip_extra_resolve(zip, entry, "directory", &extra, values, 3, &zip64_used) != 0 ||
        check_disk(zip, entry, &extra, central.disk, zip64_used) != 0 ||
        check_unicode_path(zip, entry, &extra) != 0)
        return -1;
    entry->unpacked_nbytes = values[0];
    entry->packed_nbytes = values[1];
    entry->header_offset = values[2];
    return check_sizes(zip, entry);
}
