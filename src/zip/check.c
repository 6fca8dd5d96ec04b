/*
 * check.c - the strict check of a zip archive: first the end records (one of each, nothing but NULs
 * after them, 32- and 64-bit fields that agree), then the directory, entry by entry, from a private
 * copy. No number is used before it is checked against the file's size. members.c checks the
 * members themselves and their names; agree.c compares all with what libzip reads.
 */
#include "zip/parts.h"

#include "base/bytes.h"
#include "codec/codec.h"

/* --- the end: end record, comment, zip64 locator and end record --- */

#define END_NBYTES       22u
#define END64_NBYTES     56u
#define LOCATOR64_NBYTES 20u
#define COMMENT_MAX      65535u
#define TRAILING_MAX     4096u /* NUL bytes after the end record, as block-wise copying leaves */
#define TAIL_MAX         (LOCATOR64_NBYTES + END_NBYTES + COMMENT_MAX + TRAILING_MAX)
#define CENTRAL_NBYTES   46u
#define DIRECTORY_MAX    (64u << 20)
#define MAX_ENTRIES      65536u

/* Position of the last end record's signature before `limit`, or SIZE_MAX. */
static size_t find_signature(const struct zip_field *tail, size_t limit)
{
    for (size_t pos = limit; pos-- > 0;)
        if (tail->n_bytes - pos >= 4 && bytes_get_le32(tail->bytes + pos) == ZIP_END_SIGNATURE)
            return pos;
    return SIZE_MAX;
}

/* Where the comment of the end record at pos ends. */
static size_t comment_end(const struct zip_field *tail, size_t pos)
{
    return pos + END_NBYTES + bytes_get_le16(tail->bytes + pos + 20);
}

/* A 16- or 32-bit field must be all ones or say the same as its zip64 twin. */
static bool agrees(zip_number narrow, zip_number all_ones, zip_number wide)
{
    return narrow == all_ones || narrow == wide;
}

/* Read the end record at p, which begins at byte `limit` of the file and has `room` bytes before it
 * in memory, or the zip64 end record that replaces it. The directory must end where the first of
 * the end records begins, and be large enough for its members. */
static int read_end(struct zip_reader *zip, const uint8_t *p, size_t room, zip_number limit)
{
    const unsigned disk = bytes_get_le16(p + 4), directory_disk = bytes_get_le16(p + 6);
    const uint8_t *locator = p - smaller(room, LOCATOR64_NBYTES);
    uint8_t wide[END64_NBYTES];
    zip_number stop;

    zip->n_entries = bytes_get_le16(p + 10);
    zip->directory_nbytes = bytes_get_le32(p + 12);
    zip->directory_offset = bytes_get_le32(p + 16);
    if (room >= LOCATOR64_NBYTES && bytes_get_le32(locator) == ZIP_LOCATOR64_SIGNATURE) {
        const zip_number at = bytes_get_le64(locator + 8);

        limit -= LOCATOR64_NBYTES;
        if (bytes_get_le32(locator + 4) != 0 || bytes_get_le32(locator + 16) > 1)
            return zip_fail(zip, "expected an archive on one disk, found %u disks",
                            bytes_get_le32(locator + 16));
        if (limit < END64_NBYTES || at > limit - END64_NBYTES)
            return zip_fail(zip,
                            "expected the zip64 end record in front of its locator at byte %llu, "
                            "found its offset to be %llu",
                            limit, at);
        if (input_read(zip->in, at, wide, sizeof wide, zip->err) != 0)
            return -1;
        if (bytes_get_le32(wide) != ZIP_END64_SIGNATURE)
            return zip_fail(zip, "expected a zip64 end record at byte %llu, found none", at);
        if (bytes_get_le64(wide + 4) != limit - at - 12)
            return zip_fail(zip, "expected a zip64 end record of %llu bytes, found %llu",
                            limit - at - 12, (zip_number)bytes_get_le64(wide + 4));
        limit = at;
        zip->n_entries = bytes_get_le64(wide + 32);
        zip->directory_nbytes = bytes_get_le64(wide + 40);
        zip->directory_offset = bytes_get_le64(wide + 48);
        if (bytes_get_le32(wide + 16) != 0 || bytes_get_le32(wide + 20) != 0 ||
            bytes_get_le64(wide + 24) != zip->n_entries || (disk != 0 && disk != 0xffff) ||
            (directory_disk != 0 && directory_disk != 0xffff))
            return zip_fail(zip, "expected an archive on one disk, found a part of several");
        if (!agrees(bytes_get_le16(p + 8), 0xffff, zip->n_entries) ||
            !agrees(bytes_get_le16(p + 10), 0xffff, zip->n_entries) ||
            !agrees(bytes_get_le32(p + 12), 0xffffffff, zip->directory_nbytes) ||
            !agrees(bytes_get_le32(p + 16), 0xffffffff, zip->directory_offset))
            return zip_fail(zip, "expected the end record and the zip64 end record to agree, found "
                                 "that they do not");
    } else if (disk != 0 || directory_disk != 0 || bytes_get_le16(p + 8) != zip->n_entries) {
        return zip_fail(zip, "expected an archive on one disk, found a part of several");
    }
    if (zip->n_entries > MAX_ENTRIES)
        return zip_fail(zip, "expected at most %u members, found %llu declared", MAX_ENTRIES,
                        zip->n_entries);
    if (__builtin_add_overflow(zip->directory_offset, zip->directory_nbytes, &stop) || stop > limit)
        return zip_fail(zip,
                        "expected the zip directory to end at byte %llu, found %llu bytes declared "
                        "from byte %llu",
                        limit, zip->directory_nbytes, zip->directory_offset);
    if (stop < limit)
        return zip_fail(zip,
                        "expected the zip directory to end at byte %llu, found %llu: other data "
                        "stands in front of the archive or after its directory",
                        limit, stop);
    if (zip->directory_nbytes > DIRECTORY_MAX)
        return zip_fail(zip, "expected a zip directory of at most %u bytes, found %llu",
                        DIRECTORY_MAX, zip->directory_nbytes);
    if (zip->n_entries > zip->directory_nbytes / CENTRAL_NBYTES)
        return zip_fail(zip, "expected a zip directory of %llu members, found one of %llu bytes",
                        zip->n_entries, zip->directory_nbytes);
    return 0;
}

/* Find the directory by the one end record in the last bytes of the file, and keep the comment.
 * Nothing but NULs may follow, and no other record may be taken for the end record. */
static int find_directory(struct zip_reader *zip, const struct zip_field *tail,
                          struct zip_directory *directory)
{
    const size_t pos = find_signature(tail, tail->n_bytes);

    if (pos == SIZE_MAX)
        return zip_fail(zip, "expected a zip end record at the end of the file, found none: the "
                             "file is cut off or not a zip archive");
    if (tail->n_bytes - pos < END_NBYTES)
        return zip_fail(zip,
                        "expected a zip end record of 22 bytes, found %zu: the file is cut off",
                        tail->n_bytes - pos);
    const size_t end = comment_end(tail, pos), n_comment = end - pos - END_NBYTES;
    if (end > tail->n_bytes)
        return zip_fail(zip, "expected a zip comment of %zu bytes, found %zu: the file is cut off",
                        n_comment, tail->n_bytes - pos - END_NBYTES);
    /* If the comment of an earlier record reaches over this one to the end of the file, readers
     * that search forwards find the other record, readers that search backwards this one. */
    for (size_t p = find_signature(tail, pos); p != SIZE_MAX; p = find_signature(tail, p))
        if (tail->n_bytes - p >= END_NBYTES && comment_end(tail, p) >= end &&
            comment_end(tail, p) <= tail->n_bytes)
            return zip_fail(zip, "expected one zip end record, found a second one inside the "
                                 "archive's comment");
    const size_t n_after = tail->n_bytes - end;
    if (n_after > TRAILING_MAX || !bytes_are_zero(tail->bytes + end, n_after))
        return zip_fail(
            zip, "expected the end of the file after the zip end record, found %zu more bytes",
            n_after);
    if (n_after > 0 && warnings_add(zip->warnings, zip->err,
                                    "%zu NUL bytes after the zip end record", n_after) != 0)
        return -1;
    directory->comment = strndup((const char *)tail->bytes + pos + END_NBYTES, n_comment);
    return directory->comment == NULL
               ? error_no_memory(zip->err, "zip comment")
               : read_end(zip, tail->bytes + pos, pos, zip->in->n_bytes - tail->n_bytes + pos);
}

/* --- one entry of the directory --- */

#define VERSION_ZIP64     45   /* the latest that stored, deflated and zip64 members need */
#define DEFLATE_MAX_RATIO 1032 /* 258 bytes from 2 bits, and a little for the header */

static const char *const method_names[100] = {
    [1] = "shrink",   [6] = "implode", [9] = "deflate64",   [12] = "bzip2", [14] = "lzma",
    [20] = "zstd",    [93] = "zstd",   [94] = "mp3",        [95] = "xz",    [96] = "jpeg",
    [97] = "wavpack", [98] = "ppmd",   [99] = "WinZip AES",
};

/* Flags that change what the bytes mean, by their bits. */
static const char *const refused_flags[16] = {
    [0] = "encrypted data",    [4] = "enhanced deflating", [5] = "compressed patch data",
    [6] = "strong encryption", [13] = "a masked header",
};
#define FLAG_UTF8      (1u << 11)
#define RESERVED_FLAGS 0xd780u /* bits 7-10, 12, 14, 15: no format in use sets them */

/* Accept only names, flags and methods that every reader takes the same way. */
static int check_plain(struct zip_reader *zip, struct zip_entry *entry, unsigned version_needed)
{
    const char *fault = member_name_fault(entry->name, entry->name_nbytes);
    const char *method = entry->method < 100 ? method_names[entry->method] : NULL;
    const struct text_quoted name = text_quote_bytes(entry->name, entry->name_nbytes);
    bool ascii = true;

    if (fault != NULL)
        return zip_fail(zip, "%s: expected a plain member name, found that the %s", name.text,
                        fault);
    zip->entry = entry;
    if ((entry->flags & FLAG_UTF8) != 0 && !text_is_utf8(entry->name, entry->name_nbytes))
        return zip_fail(zip, "expected a name in UTF-8, as its flag says, found other bytes");
    entry->is_folder = entry->name[entry->name_nbytes - 1] == '/';
    for (size_t i = 0; i < entry->name_nbytes; i++)
        ascii = ascii && (unsigned char)entry->name[i] < 0x80;
    if (!ascii && (entry->flags & FLAG_UTF8) == 0 &&
        warnings_add(zip->warnings, zip->err,
                     "member %s: name is neither ASCII nor marked as UTF-8", name.text) != 0)
        return -1;
    if (!entry->is_folder && strchr(entry->name, '/') != NULL &&
        warnings_add(zip->warnings, zip->err, "member %s: lies in a sub-folder", name.text) != 0)
        return -1;
    for (unsigned bit = 0; bit < 16; bit++)
        if (refused_flags[bit] != NULL && (entry->flags >> bit & 1) != 0)
            return zip_fail(zip, "expected a plain member, found %s (flag bit %u)",
                            refused_flags[bit], bit);
    if (entry->method != CODEC_ZIP_STORED && codec_decoder(entry->method) == NULL)
        return zip_fail(zip, "expected compression method %s, found %u (%s)", codec_methods,
                        entry->method, method != NULL ? method : "unknown");
    if ((entry->flags & RESERVED_FLAGS) != 0 &&
        warnings_add(zip->warnings, zip->err, "member %s: reserved flag bits 0x%04x are set",
                     name.text, entry->flags & RESERVED_FLAGS) != 0)
        return -1;
    if (version_needed > VERSION_ZIP64)
        return warnings_add(zip->warnings, zip->err,
                            "member %s: asks for a reader of zip version %u.%u", name.text,
                            version_needed / 10, version_needed % 10);
    return 0;
}

/* Read the next entry of a directory of which n_bytes are left; *used is its length. */
static int read_entry(struct zip_reader *zip, uint8_t *p, size_t n_bytes, struct zip_entry *entry,
                      size_t *used)
{
    size_t zip64_used = 0;
    struct zip_extra extra;
    zip_number values[3];

    zip->entry = NULL;
    zip->where = "directory";
    if (n_bytes < CENTRAL_NBYTES || bytes_get_le32(p) != ZIP_CENTRAL_SIGNATURE)
        return zip_fail(zip, "expected another entry in the zip directory, found none");
    const unsigned version_needed = p[6]; /* the high byte is an operating system */
    const size_t name_nbytes = bytes_get_le16(p + 28);
    const size_t extra_nbytes = bytes_get_le16(p + 30);
    *used = CENTRAL_NBYTES + name_nbytes + extra_nbytes + bytes_get_le16(p + 32);
    if (*used > n_bytes)
        return zip_fail(zip,
                        "expected a directory entry of %zu bytes, found %zu: its name, extra "
                        "fields or comment run past the directory",
                        *used, n_bytes);
    unsigned disk = bytes_get_le16(p + 34);
    values[0] = bytes_get_le32(p + 24);
    values[1] = bytes_get_le32(p + 20);
    values[2] = bytes_get_le32(p + 42);
    /* The name moves one byte forward, over the fixed part, so that a NUL fits after it. */
    char *name = memmove(p + CENTRAL_NBYTES - 1, p + CENTRAL_NBYTES, name_nbytes);
    name[name_nbytes] = '\0';
    *entry = (struct zip_entry){.name = name,
                                .name_nbytes = name_nbytes,
                                .flags = bytes_get_le16(p + 8),
                                .method = bytes_get_le16(p + 10),
                                .crc = bytes_get_le32(p + 16)};
    if (check_plain(zip, entry, version_needed) != 0 ||
        zip_extra_parse(zip, p + CENTRAL_NBYTES + name_nbytes, extra_nbytes, &extra) != 0 ||
        zip_extra_resolve(zip, &extra.zip64, values, 3, &zip64_used) != 0)
        return -1;
    if (disk == 0xffff && extra.zip64.bytes != NULL && extra.zip64.n_bytes - zip64_used >= 4)
        disk = bytes_get_le32(extra.zip64.bytes + zip64_used);
    if (disk != 0)
        return zip_fail(zip, "expected an archive on one disk, found a member on disk %u", disk);
    /* Some readers take the name from the Unicode path field, others do not look at it. */
    if (extra.unicode_path.bytes != NULL &&
        (extra.unicode_path.n_bytes != name_nbytes + 5 ||
         memcmp(extra.unicode_path.bytes + 5, name, name_nbytes) != 0))
        return zip_fail(zip,
                        "expected its Unicode path field to repeat the name, found another name");
    entry->unpacked_nbytes = values[0];
    entry->packed_nbytes = values[1];
    entry->header_offset = values[2];
    if (values[1] > zip->directory_offset)
        return zip_fail(
            zip,
            "expected at most %llu packed bytes in front of the directory, found %llu declared",
            zip->directory_offset, values[1]);
    if (values[2] > zip->directory_offset)
        return zip_fail(zip,
                        "expected its header in front of the directory at byte %llu, found its "
                        "offset to be %llu",
                        zip->directory_offset, values[2]);
    if (entry->is_folder && (values[1] > 2 || values[0] != 0))
        return zip_fail(zip, "expected no data in an entry for a folder, found %llu bytes",
                        values[0]);
    if (entry->method == CODEC_ZIP_STORED && values[1] != values[0])
        return zip_fail(zip,
                        "expected a stored member's two sizes to be equal, found %llu and %llu",
                        values[1], values[0]);
    if (entry->method == CODEC_ZIP_DEFLATE && values[0] / DEFLATE_MAX_RATIO > values[1])
        return zip_fail(zip,
                        "expected at most %llu bytes from %llu deflated ones, found %llu declared",
                        values[1] * DEFLATE_MAX_RATIO, values[1], values[0]);
    return 0;
}

/* --- the whole directory --- */

int zip_check(const struct input *in, struct zip_directory *directory, struct warnings *warnings,
              struct error *err)
{
    struct zip_reader zip = {.in = in, .warnings = warnings, .err = err};
    const size_t n_tail = (size_t)smaller(in->n_bytes, TAIL_MAX);
    uint8_t *tail = malloc(n_tail + 1);
    size_t at = 0, used = 0;

    *directory = (struct zip_directory){0};
    int rc = tail != NULL ? input_read(in, in->n_bytes - n_tail, tail, n_tail, err)
                          : error_no_memory(err, "end of a zip archive");
    if (rc == 0)
        rc = find_directory(&zip, &(struct zip_field){tail, n_tail}, directory);
    free(tail);
    const size_t n_bytes = (size_t)zip.directory_nbytes;
    if (rc == 0) {
        directory->bytes = malloc(n_bytes + 1);
        directory->entries = calloc((size_t)zip.n_entries + 1, sizeof *directory->entries);
        rc = directory->bytes != NULL && directory->entries != NULL
                 ? input_read(in, zip.directory_offset, directory->bytes, n_bytes, err)
                 : error_no_memory(err, "zip directory");
    }
    for (; rc == 0 && directory->n_entries < zip.n_entries; at += used) {
        rc = read_entry(&zip, directory->bytes + at, n_bytes - at,
                        &directory->entries[directory->n_entries], &used);
        directory->n_entries += rc == 0;
    }
    zip.entry = NULL;
    if (rc == 0 && at != n_bytes)
        rc = zip_fail(&zip,
                      "expected %llu members in %zu bytes of zip directory, found %zu bytes more",
                      zip.n_entries, n_bytes, n_bytes - at);
    if (rc != 0 || zip_members_check(&zip, directory) != 0 || zip_agree(&zip, directory) != 0)
        return -1;
    return zip_names_check(&zip, directory);
}

void zip_directory_release(struct zip_directory *directory)
{
    free(directory->entries);
    text_list_release(&directory->names);
    free(directory->comment);
    free(directory->bytes);
    *directory = (struct zip_directory){0};
}
