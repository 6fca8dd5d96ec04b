/*
 * members.c - a zip archive's members where they lie: each local header and data descriptor held
 * against the directory, extra fields with their zip64 sizes, then all members among each other:
 * no gap that hides one, no overlap, no two of one name.
 *
 * Names that are empty, absolute, with "..", backslashes or control characters are refused. numpy
 * takes one ".npy" off a name, so two members that differ in nothing but such endings can be
 * reached by one key; their stem tells.
 */
#include "zip/parts.h"

#include "base/bytes.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON_NBYTES 640

/* --- names --- */

static const char suffix[] = ".npy";
#define SUFFIX_NBYTES (sizeof suffix - 1)

/* C0 and DEL, and C1 as UTF-8 has them (c2 80 to c2 9f). */
static bool has_control(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x20 || p[i] == 0x7f || (p[i] == 0xc2 && i + 1 < n && p[i + 1] < 0xa0))
            return true;
    return false;
}

static bool has_parent_component(const char *name, size_t n)
{
    for (size_t begin = 0; begin <= n;) {
        const char *slash = memchr(name + begin, '/', n - begin);
        size_t end = slash == NULL ? n : (size_t)(slash - name);

        if (end - begin == 2 && name[begin] == '.' && name[begin + 1] == '.')
            return true;
        begin = end + 1;
    }
    return false;
}

const char *member_name_fault(const char *name, size_t n_bytes)
{
    const bool has_drive =
        n_bytes >= 3 &&
        ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z')) &&
        name[1] == ':' && name[2] == '/';

    if (n_bytes == 0)
        return "name is empty";
    if (n_bytes > MEMBER_NAME_MAX_NBYTES)
        return "name is longer than 4096 bytes";
    if (has_control((const uint8_t *)name, n_bytes))
        return "name has a control character";
    if (memchr(name, '\\', n_bytes) != NULL)
        return "name has a backslash";
    if (name[0] == '/' || has_drive)
        return "name is an absolute path";
    if (has_parent_component(name, n_bytes))
        return "name has a '..' component";
    if (member_name_stem_nbytes(name, n_bytes) == 0)
        return "name is nothing but '.npy'";
    return NULL;
}

bool member_name_is_npy(const char *name, size_t n_bytes)
{
    return n_bytes > SUFFIX_NBYTES &&
           memcmp(name + n_bytes - SUFFIX_NBYTES, suffix, SUFFIX_NBYTES) == 0;
}

size_t member_name_key_nbytes(const char *name, size_t n_bytes)
{
    return member_name_is_npy(name, n_bytes) ? n_bytes - SUFFIX_NBYTES : n_bytes;
}

size_t member_name_stem_nbytes(const char *name, size_t n_bytes)
{
    while (n_bytes >= SUFFIX_NBYTES &&
           memcmp(name + n_bytes - SUFFIX_NBYTES, suffix, SUFFIX_NBYTES) == 0)
        n_bytes -= SUFFIX_NBYTES;
    return n_bytes;
}

/* --- messages --- */

int zip_fail(const struct zip_reader *zip, const char *format, ...)
{
    const struct zip_entry *entry = zip->entry;
    struct error_place place = {.file = zip->in->path};
    char reason[REASON_NBYTES], key[ERROR_ARRAY_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (entry != NULL) {
        snprintf(key, sizeof key, "%.*s",
                 (int)member_name_key_nbytes(entry->name, entry->name_nbytes), entry->name);
        place.array = key;
        place.shown = entry->name;
    }
    return error_set_at(zip->err, ERROR_DATA, &place, "%s", reason);
}

int zip_warn(const struct zip_reader *zip, const char *format, ...)
{
    char reason[REASON_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (zip->entry == NULL)
        return warnings_add(zip->warnings, zip->err, "%s", reason);
    return warnings_add(zip->warnings, zip->err, "member %s: %s", text_quote(zip->entry->name).text,
                        reason);
}

/* --- extra fields: the zip64 sizes and the Unicode path --- */

#define EXTRA_ZIP64        0x0001u
#define EXTRA_UNICODE_PATH 0x7075u

/* Up to three NULs at the end are alignment, as Android's zipalign leaves it. */
static bool is_padding(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return n < 4;
}

int zip_extra_parse(const struct zip_reader *zip, const uint8_t *bytes, size_t n_bytes,
                    struct zip_extra *extra)
{
    memset(extra, 0, sizeof *extra);
    while (!is_padding(bytes, n_bytes)) {
        struct zip_field *field;
        unsigned id, size;

        if (n_bytes < 4)
            return zip_fail(zip, "expected whole extra fields in the %s, found %zu bytes left over",
                            zip->where, n_bytes);
        id = bytes_get_le16(bytes);
        size = bytes_get_le16(bytes + 2);
        if (size > n_bytes - 4)
            return zip_fail(zip, "expected an extra field 0x%04x of %u bytes in the %s, found %zu",
                            id, size, zip->where, n_bytes - 4);
        field = id == EXTRA_ZIP64          ? &extra->zip64
                : id == EXTRA_UNICODE_PATH ? &extra->unicode_path
                                           : NULL;
        if (field != NULL && field->bytes != NULL)
            return zip_fail(zip, "expected one extra field 0x%04x in the %s, found two", id,
                            zip->where);
        if (field != NULL)
            *field = (struct zip_field){bytes + 4, size};
        bytes += 4 + size;
        n_bytes -= 4 + size;
    }
    return 0;
}

int zip_extra_resolve(const struct zip_reader *zip, const struct zip_field *zip64, uint64_t *values,
                      size_t n_values, size_t *used)
{
    size_t at = 0;

    for (size_t i = 0; i < n_values; i++) {
        if (values[i] != 0xffffffff)
            continue;
        if (zip64->bytes == NULL)
            return zip_fail(
                zip,
                "expected a zip64 field in the %s, as a size or offset is 0xffffffff, found none",
                zip->where);
        if (zip64->n_bytes - at < 8)
            return zip_fail(zip,
                            "expected a zip64 field of at least %zu bytes in the %s, found %zu",
                            at + 8, zip->where, zip64->n_bytes);
        values[i] = bytes_get_le64(zip64->bytes + at);
        at += 8;
    }
    *used = at;
    if (zip64->n_bytes - at < 8)
        return 0;
    for (size_t i = 0; i < n_values && 8 * i + 8 <= zip64->n_bytes; i++)
        if (bytes_get_le64(zip64->bytes + 8 * i) != values[i])
            return zip_fail(zip, "expected the zip64 field in the %s to repeat %llu, found %llu",
                            zip->where, (unsigned long long)values[i],
                            (unsigned long long)bytes_get_le64(zip64->bytes + 8 * i));
    return 0;
}

/* --- local headers --- */

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
static int read_local(struct zip_reader *zip, const struct zip_entry *entry, struct local *local)
{
    uint8_t p[ZIP_LOCAL_NBYTES];
    uint64_t room = zip->directory_offset - entry->header_offset;

    if (room < ZIP_LOCAL_NBYTES)
        return zip_fail(zip, "expected a local header at byte %llu, found the directory",
                        (unsigned long long)entry->header_offset);
    if (input_read(zip->in, entry->header_offset, p, sizeof p, zip->err) != 0)
        return -1;
    if (bytes_get_le32(p) != ZIP_LOCAL_SIGNATURE)
        return zip_fail(zip, "expected a local header at byte %llu, found other data",
                        (unsigned long long)entry->header_offset);
    local->flags = bytes_get_le16(p + 6);
    local->method = bytes_get_le16(p + 8);
    local->crc = bytes_get_le32(p + 14);
    local->packed_nbytes = bytes_get_le32(p + 18);
    local->unpacked_nbytes = bytes_get_le32(p + 22);
    local->name_nbytes = bytes_get_le16(p + 26);
    local->extra_nbytes = bytes_get_le16(p + 28);
    if (local->name_nbytes + local->extra_nbytes > room - ZIP_LOCAL_NBYTES)
        return zip_fail(zip,
                        "expected name and extra fields of %zu bytes in the local header, found "
                        "the directory after %llu",
                        local->name_nbytes + local->extra_nbytes,
                        (unsigned long long)(room - ZIP_LOCAL_NBYTES));
    return input_read(zip->in, entry->header_offset + ZIP_LOCAL_NBYTES, zip->scratch,
                      local->name_nbytes + local->extra_nbytes, zip->err);
}

static int compare_identity(struct zip_reader *zip, const struct zip_entry *entry,
                            const struct local *local)
{
    if (local->name_nbytes != entry->name_nbytes ||
        memcmp(zip->scratch, entry->name, entry->name_nbytes) != 0)
        return zip_fail(zip, "expected the same name in the local header, found %s",
                        text_quote_bytes(zip->scratch, local->name_nbytes).text);
    if (local->method != entry->method)
        return zip_fail(zip,
                        "expected method %u in the local header, as in the directory, found %u",
                        entry->method, local->method);
    if (((local->flags ^ entry->flags) & COMPARED_FLAGS) != 0)
        return zip_fail(
            zip, "expected flags 0x%04x in the local header, as in the directory, found 0x%04x",
            entry->flags, local->flags);
    return 0;
}

static int compare_number(struct zip_reader *zip, const char *what, uint64_t directory,
                          uint64_t local)
{
    if (local == directory)
        return 0;
    return zip_fail(zip, "expected %s %llu in the local header, as in the directory, found %llu",
                    what, (unsigned long long)directory, (unsigned long long)local);
}

/* In front of a data descriptor the writer did not know the numbers yet: zero will do. */
static int compare_unknown_sizes(struct zip_reader *zip, const struct zip_entry *entry,
                                 const struct local *local, const struct zip_extra *extra)
{
    uint64_t values[2] = {local->unpacked_nbytes, local->packed_nbytes};

    for (size_t i = 0; i < 2; i++) {
        const uint64_t known = i == 0 ? entry->unpacked_nbytes : entry->packed_nbytes;
        const char *what = i == 0 ? "size" : "packed size";

        if (extra->zip64.n_bytes >= 8 * i + 8) {
            uint64_t wide = bytes_get_le64(extra->zip64.bytes + 8 * i);

            if (wide != 0 && compare_number(zip, what, known, wide) != 0)
                return -1;
        }
        if (values[i] != 0 && !(values[i] == 0xffffffff && extra->zip64.n_bytes >= 16) &&
            compare_number(zip, what, known, values[i]) != 0)
            return -1;
    }
    if (local->crc != 0 && local->crc != entry->crc)
        return zip_fail(zip, "expected CRC %08x or 0 in the local header, found %08x", entry->crc,
                        local->crc);
    return 0;
}

/*
 * Find the data descriptor's form, with or without signature, with 32- or 64-bit sizes, by its
 * contents: writers do not mark it reliably. The longest form first: of an empty member's 64-bit
 * descriptor the short forms fit as well.
 */
static int check_descriptor(struct zip_reader *zip, struct zip_entry *entry)
{
    static const struct {
        size_t signature_nbytes;
        size_t size_nbytes;
    } forms[] = {{4, 8}, {0, 8}, {4, 4}, {0, 4}};
    uint8_t p[24];
    const uint64_t room = zip->directory_offset - entry->end_offset;
    const size_t n = room < sizeof p ? (size_t)room : sizeof p;

    if (input_read(zip->in, entry->end_offset, p, n, zip->err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const uint8_t *crc = p + forms[i].signature_nbytes;
        const size_t width = forms[i].size_nbytes;
        const size_t length = forms[i].signature_nbytes + 4 + 2 * width;

        if (length <= n &&
            (forms[i].signature_nbytes == 0 || bytes_get_le32(p) == ZIP_DESCRIPTOR_SIGNATURE) &&
            bytes_get_le32(crc) == entry->crc &&
            bytes_get_uint(crc + 4, width, false) == entry->packed_nbytes &&
            bytes_get_uint(crc + 4 + width, width, false) == entry->unpacked_nbytes) {
            entry->end_offset += length;
            return 0;
        }
    }
    return zip_fail(zip,
                    "expected a data descriptor with CRC %08x, sizes %llu and %llu after the data, "
                    "found other numbers",
                    entry->crc, (unsigned long long)entry->packed_nbytes,
                    (unsigned long long)entry->unpacked_nbytes);
}

static int check_local(struct zip_reader *zip, struct zip_entry *entry)
{
    const bool has_descriptor = (entry->flags & ZIP_FLAG_DESCRIPTOR) != 0;
    struct local local = {0};
    struct zip_extra extra;
    uint64_t sizes[2];
    size_t used;

    zip->entry = entry;
    zip->where = "local header";
    if (read_local(zip, entry, &local) != 0 || compare_identity(zip, entry, &local) != 0 ||
        zip_extra_parse(zip, zip->scratch + local.name_nbytes, local.extra_nbytes, &extra) != 0)
        return -1;
    sizes[0] = local.unpacked_nbytes;
    sizes[1] = local.packed_nbytes;
    if (has_descriptor) {
        if (compare_unknown_sizes(zip, entry, &local, &extra) != 0)
            return -1;
    } else {
        if (zip_extra_resolve(zip, &extra.zip64, sizes, 2, &used) != 0)
            return -1;
        if (local.crc != entry->crc)
            return zip_fail(
                zip, "expected CRC %08x in the local header, as in the directory, found %08x",
                entry->crc, local.crc);
        if (compare_number(zip, "size", entry->unpacked_nbytes, sizes[0]) != 0 ||
            compare_number(zip, "packed size", entry->packed_nbytes, sizes[1]) != 0)
            return -1;
    }
    entry->data_offset =
        entry->header_offset + ZIP_LOCAL_NBYTES + local.name_nbytes + local.extra_nbytes;
    if (entry->packed_nbytes > zip->directory_offset - entry->data_offset)
        return zip_fail(zip, "expected %llu packed bytes, found the directory after %llu",
                        (unsigned long long)entry->packed_nbytes,
                        (unsigned long long)(zip->directory_offset - entry->data_offset));
    entry->end_offset = entry->data_offset + entry->packed_nbytes;
    return has_descriptor ? check_descriptor(zip, entry) : 0;
}

/* --- all members --- */

typedef int (*entry_order)(const void *a, const void *b);

static unsigned char to_lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 'a' - 'A') : c;
}

static int compare_stems(const struct zip_entry *a, const struct zip_entry *b, bool fold_case)
{
    const size_t a_nbytes = member_name_stem_nbytes(a->name, a->name_nbytes);
    const size_t b_nbytes = member_name_stem_nbytes(b->name, b->name_nbytes);

    for (size_t i = 0; i < a_nbytes && i < b_nbytes; i++) {
        unsigned char x = (unsigned char)a->name[i];
        unsigned char y = (unsigned char)b->name[i];

        if (fold_case) {
            x = to_lower(x);
            y = to_lower(y);
        }
        if (x != y)
            return x < y ? -1 : 1;
    }
    return (a_nbytes > b_nbytes) - (a_nbytes < b_nbytes);
}

/* Ties are broken by place, so that messages do not depend on the sort. */
static int by_place(const struct zip_entry *a, const struct zip_entry *b)
{
    if (a->header_offset != b->header_offset)
        return a->header_offset < b->header_offset ? -1 : 1;
    return (a > b) - (a < b);
}

static int by_offset(const void *a, const void *b)
{
    return by_place(*(const struct zip_entry *const *)a, *(const struct zip_entry *const *)b);
}

static int by_stem(const void *a, const void *b)
{
    const struct zip_entry *x = *(const struct zip_entry *const *)a;
    const struct zip_entry *y = *(const struct zip_entry *const *)b;
    int order = compare_stems(x, y, true);

    if (order == 0)
        order = compare_stems(x, y, false);
    return order != 0 ? order : by_place(x, y);
}

/* Borrowed entries in an order; the caller frees the list. NULL with err set without memory. */
static const struct zip_entry **sorted(struct zip_reader *zip,
                                       const struct zip_directory *directory, entry_order order)
{
    const struct zip_entry **list = malloc((directory->n_entries + 1) * sizeof *list);

    if (list == NULL) {
        error_no_memory(zip->err, "sorted zip directory");
        return NULL;
    }
    for (size_t i = 0; i < directory->n_entries; i++)
        list[i] = &directory->entries[i];
    qsort(list, directory->n_entries, sizeof *list, order);
    return list;
}

static int check_names(struct zip_reader *zip, const struct zip_directory *directory)
{
    const struct zip_entry **list = sorted(zip, directory, by_stem);
    int result = list != NULL ? 0 : -1;

    for (size_t i = 1; result == 0 && i < directory->n_entries; i++) {
        zip->entry = list[i];
        if (compare_stems(list[i - 1], list[i], false) == 0)
            result = zip_fail(zip, "expected one member of this name, found also %s",
                              text_quote(list[i - 1]->name).text);
        else if (compare_stems(list[i - 1], list[i], true) == 0)
            result = zip_warn(zip, "differs from %s in upper and lower case only",
                              text_quote(list[i - 1]->name).text);
    }
    free(list);
    return result;
}

/* Bytes that no entry owns: harmless, unless a reader that goes from header to header would find
 * a member in them that the directory does not list. */
static int check_gap(struct zip_reader *zip, uint64_t begin, uint64_t end)
{
    uint8_t p[4];

    if (begin == end)
        return 0;
    if (end - begin >= sizeof p) {
        if (input_read(zip->in, begin, p, sizeof p, zip->err) != 0)
            return -1;
        if (bytes_get_le32(p) == ZIP_LOCAL_SIGNATURE)
            return zip_fail(zip,
                            "expected every member to be in the zip directory, found one at byte "
                            "%llu that is not",
                            (unsigned long long)begin);
    }
    return zip_warn(zip, "%llu bytes from byte %llu belong to no member",
                    (unsigned long long)(end - begin), (unsigned long long)begin);
}

static int check_layout(struct zip_reader *zip, const struct zip_directory *directory)
{
    const struct zip_entry **list = sorted(zip, directory, by_offset);
    uint64_t first, end = 0;
    int result = 0;

    if (list == NULL)
        return -1;
    first = directory->n_entries > 0 ? list[0]->header_offset : zip->directory_offset;
    if (first != 0)
        result = zip_fail(
            zip, "expected the first member at byte 0, found it at byte %llu, after other data",
            (unsigned long long)first);
    for (size_t i = 0; result == 0 && i < directory->n_entries; i++) {
        zip->entry = list[i];
        if (list[i]->header_offset < end)
            result = zip_fail(zip,
                              "expected it after %s, which ends at byte %llu, found that it "
                              "overlaps it from byte %llu",
                              text_quote(list[i - 1]->name).text, (unsigned long long)end,
                              (unsigned long long)list[i]->header_offset);
        zip->entry = NULL;
        if (result == 0)
            result = check_gap(zip, end, list[i]->header_offset);
        end = list[i]->end_offset;
    }
    if (result == 0)
        result = check_gap(zip, end, zip->directory_offset);
    free(list);
    return result;
}

int zip_members_check(struct zip_reader *zip, struct zip_directory *directory)
{
    int result = 0;

    zip->scratch = malloc(ZIP_SCRATCH_NBYTES);
    if (zip->scratch == NULL)
        return error_no_memory(zip->err, "zip header");
    for (size_t i = 0; result == 0 && i < directory->n_entries; i++)
        result = check_local(zip, &directory->entries[i]);
    free(zip->scratch);
    zip->entry = NULL;
    return result != 0 || check_layout(zip, directory) != 0 || check_names(zip, directory) != 0 ? -1
                                                                                                : 0;
}
