/*
 * zip_end.c - the end of a zip archive: end record, comment, zip64 locator and end record.
 */
#include "shard/zip_parts.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define END_NBYTES       22u
#define END64_NBYTES     56u
#define LOCATOR64_NBYTES 20u
#define COMMENT_MAX      65535u
#define TRAILING_MAX     4096u /* NUL bytes behind the end record, as block-wise copying leaves */
#define TAIL_MAX         (LOCATOR64_NBYTES + END_NBYTES + COMMENT_MAX + TRAILING_MAX)
#define DIRECTORY_MAX    (64u << 20)

/* The last bytes of the file. */
struct tail {
    uint8_t *bytes; /* owned */
    size_t n_bytes;
    uint64_t offset; /* of the first of them */
};

/* The fields of the end record that matter. */
struct end32 {
    uint16_t disk;
    uint16_t directory_disk;
    uint16_t n_here;
    uint16_t n_entries;
    uint32_t directory_nbytes;
    uint32_t directory_offset;
    uint16_t comment_nbytes;
};

static struct end32 end32_get(const uint8_t *p)
{
    return (struct end32){
        .disk = bytes_get_le16(p + 4),
        .directory_disk = bytes_get_le16(p + 6),
        .n_here = bytes_get_le16(p + 8),
        .n_entries = bytes_get_le16(p + 10),
        .directory_nbytes = bytes_get_le32(p + 12),
        .directory_offset = bytes_get_le32(p + 16),
        .comment_nbytes = bytes_get_le16(p + 20),
    };
}

static int tail_read(const struct zip_reader *zip, struct tail *tail)
{
    uint64_t n = zip->in->n_bytes < TAIL_MAX ? zip->in->n_bytes : TAIL_MAX;

    tail->n_bytes = (size_t)n;
    tail->offset = zip->in->n_bytes - n;
    tail->bytes = malloc((size_t)n + 1);
    if (tail->bytes == NULL)
        return error_no_memory(zip->err, "end of a zip archive");
    return input_read(zip->in, tail->offset, tail->bytes, tail->n_bytes, zip->err);
}

/* Position of the last end record's signature before `limit`, or SIZE_MAX. */
static size_t find_signature(const struct tail *tail, size_t limit)
{
    for (size_t pos = limit; pos-- > 0;)
        if (tail->n_bytes - pos >= 4 && bytes_get_le32(tail->bytes + pos) == ZIP_END_SIGNATURE)
            return pos;
    return SIZE_MAX;
}

static bool is_all_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

/*
 * Another record whose comment would reach over this one up to the end of the file: readers that
 * search forwards would take that one, readers that search backwards this one.
 */
static bool is_inside_comment(const struct tail *tail, size_t pos, size_t end)
{
    for (size_t p = find_signature(tail, pos); p != SIZE_MAX; p = find_signature(tail, p)) {
        size_t other_end;

        if (tail->n_bytes - p < END_NBYTES)
            continue;
        other_end = p + END_NBYTES + end32_get(tail->bytes + p).comment_nbytes;
        if (other_end >= end && other_end <= tail->n_bytes)
            return true;
    }
    return false;
}

static int check_trailing(const struct zip_reader *zip, const uint8_t *p, size_t n)
{
    if (n == 0)
        return 0;
    if (n > TRAILING_MAX || !is_all_zero(p, n))
        return zip_fail(zip, NULL,
                        "expected the end of the file behind the zip end record, found "
                        "%zu more bytes",
                        n);
    return zip_warn(zip, NULL, "%zu NUL bytes behind the zip end record", n);
}

/* The one end record: nothing but NULs behind its comment, no other one that could be meant. */
static int find_end(const struct zip_reader *zip, const struct tail *tail, size_t *position)
{
    size_t pos = find_signature(tail, tail->n_bytes);
    size_t end;

    if (pos == SIZE_MAX)
        return zip_fail(zip, NULL,
                        "expected a zip end record at the end of the file, found none: "
                        "the file is cut off or no zip archive");
    if (tail->n_bytes - pos < END_NBYTES)
        return zip_fail(zip, NULL,
                        "expected a zip end record of 22 bytes, found %zu: the file is "
                        "cut off",
                        tail->n_bytes - pos);
    end = pos + END_NBYTES + end32_get(tail->bytes + pos).comment_nbytes;
    if (end > tail->n_bytes)
        return zip_fail(zip, NULL,
                        "expected a zip comment of %u bytes, found %zu: the file is "
                        "cut off",
                        end32_get(tail->bytes + pos).comment_nbytes,
                        tail->n_bytes - pos - END_NBYTES);
    if (is_inside_comment(tail, pos, end))
        return zip_fail(zip, NULL,
                        "expected one zip end record, found a second one inside the "
                        "archive's comment");
    *position = pos;
    return check_trailing(zip, tail->bytes + end, tail->n_bytes - end);
}

/* A 16- or 32-bit field must be all ones or say the same as its zip64 twin. */
static bool agrees(uint64_t narrow, uint64_t all_ones, uint64_t wide)
{
    return narrow == all_ones || narrow == wide;
}

/* Read the zip64 end record that the locator at file offset `locator` points to. */
static int read_end64(const struct zip_reader *zip, const uint8_t *locator_bytes, uint64_t locator,
                      const struct end32 *end32, struct zip_end *end, uint64_t *offset)
{
    uint8_t p[END64_NBYTES];
    uint64_t n_here;

    *offset = bytes_get_le64(locator_bytes + 8);
    if (bytes_get_le32(locator_bytes + 4) != 0 || bytes_get_le32(locator_bytes + 16) > 1)
        return zip_fail(zip, NULL, "expected an archive on one disk, found %u disks",
                        bytes_get_le32(locator_bytes + 16));
    if (locator < END64_NBYTES || *offset > locator - END64_NBYTES)
        return zip_fail(zip, NULL,
                        "expected the zip64 end record in front of its locator at byte "
                        "%llu, found its offset to be %llu",
                        (unsigned long long)locator, (unsigned long long)*offset);
    if (input_read(zip->in, *offset, p, sizeof p, zip->err) != 0)
        return -1;
    if (bytes_get_le32(p) != ZIP_END64_SIGNATURE)
        return zip_fail(zip, NULL, "expected a zip64 end record at byte %llu, found none",
                        (unsigned long long)*offset);
    if (bytes_get_le64(p + 4) != locator - *offset - 12)
        return zip_fail(zip, NULL, "expected a zip64 end record of %llu bytes, found %llu",
                        (unsigned long long)(locator - *offset - 12),
                        (unsigned long long)bytes_get_le64(p + 4));
    n_here = bytes_get_le64(p + 24);
    end->n_entries = bytes_get_le64(p + 32);
    end->directory_nbytes = bytes_get_le64(p + 40);
    end->directory_offset = bytes_get_le64(p + 48);
    if (bytes_get_le32(p + 16) != 0 || bytes_get_le32(p + 20) != 0 || n_here != end->n_entries ||
        (end32->disk != 0 && end32->disk != 0xffff) ||
        (end32->directory_disk != 0 && end32->directory_disk != 0xffff))
        return zip_fail(zip, NULL, "expected an archive on one disk, found a part of several");
    if (!agrees(end32->n_here, 0xffff, n_here) || !agrees(end32->n_entries, 0xffff, n_here) ||
        !agrees(end32->directory_nbytes, 0xffffffff, end->directory_nbytes) ||
        !agrees(end32->directory_offset, 0xffffffff, end->directory_offset))
        return zip_fail(zip, NULL,
                        "expected the end record and the zip64 end record to agree, "
                        "found that they do not");
    return 0;
}

static int read_end32(const struct zip_reader *zip, const struct end32 *end32, struct zip_end *end)
{
    if (end32->disk != 0 || end32->directory_disk != 0 || end32->n_here != end32->n_entries)
        return zip_fail(zip, NULL, "expected an archive on one disk, found a part of several");
    end->n_entries = end32->n_entries;
    end->directory_nbytes = end32->directory_nbytes;
    end->directory_offset = end32->directory_offset;
    return 0;
}

/* The directory must end where the end records begin, and be of a size its members can fill. */
static int check_extent(const struct zip_reader *zip, const struct zip_end *end, uint64_t limit)
{
    uint64_t stop;

    if (end->n_entries > ZIP_MAX_ENTRIES)
        return zip_fail(zip, NULL, "expected at most %u members, found %llu declared",
                        ZIP_MAX_ENTRIES, (unsigned long long)end->n_entries);
    if (__builtin_add_overflow(end->directory_offset, end->directory_nbytes, &stop) || stop > limit)
        return zip_fail(zip, NULL,
                        "expected the zip directory to end at byte %llu, found %llu "
                        "bytes declared from byte %llu",
                        (unsigned long long)limit, (unsigned long long)end->directory_nbytes,
                        (unsigned long long)end->directory_offset);
    if (stop < limit)
        return zip_fail(zip, NULL,
                        "expected the zip directory to end at byte %llu, found %llu: "
                        "other data stands in front of the archive or behind its directory",
                        (unsigned long long)limit, (unsigned long long)stop);
    if (end->directory_nbytes > DIRECTORY_MAX)
        return zip_fail(zip, NULL, "expected a zip directory of at most %u bytes, found %llu",
                        DIRECTORY_MAX, (unsigned long long)end->directory_nbytes);
    if (end->n_entries > end->directory_nbytes / ZIP_CENTRAL_NBYTES)
        return zip_fail(zip, NULL,
                        "expected a zip directory of %llu members, found one of %llu "
                        "bytes",
                        (unsigned long long)end->n_entries,
                        (unsigned long long)end->directory_nbytes);
    return 0;
}

static int copy_comment(const struct zip_reader *zip, const uint8_t *p, size_t n,
                        struct zip_end *end)
{
    end->comment = malloc(n + 1);
    if (end->comment == NULL)
        return error_no_memory(zip->err, "zip comment");
    memcpy(end->comment, p, n);
    end->comment[n] = '\0';
    return 0;
}

int zip_end_read(const struct zip_reader *zip, struct zip_end *end)
{
    struct tail tail = {0};
    struct end32 end32;
    size_t pos = 0;
    uint64_t limit;
    int result = -1;

    memset(end, 0, sizeof *end);
    if (tail_read(zip, &tail) != 0 || find_end(zip, &tail, &pos) != 0)
        goto out;
    end32 = end32_get(tail.bytes + pos);
    limit = tail.offset + pos;
    if (pos >= LOCATOR64_NBYTES &&
        bytes_get_le32(tail.bytes + pos - LOCATOR64_NBYTES) == ZIP_LOCATOR64_SIGNATURE) {
        const uint8_t *locator = tail.bytes + pos - LOCATOR64_NBYTES;

        if (read_end64(zip, locator, limit - LOCATOR64_NBYTES, &end32, end, &limit) != 0)
            goto out;
    } else if (read_end32(zip, &end32, end) != 0) {
        goto out;
    }
    if (check_extent(zip, end, limit) != 0 ||
        copy_comment(zip, tail.bytes + pos + END_NBYTES, end32.comment_nbytes, end) != 0)
        goto out;
    result = 0;
out:
    free(tail.bytes);
    return result;
}
