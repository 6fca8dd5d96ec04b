/*
 * members.c - the members of a zip archive: each local header and data descriptor is compared with
 * the directory, extra fields are read for zip64 sizes, and then the members are compared with each
 * other: they must not overlap, and no gap may hide one.
 *
 * Names that are empty or absolute, or that contain "..", a backslash or a control character, are
 * refused. numpy removes one ".npy" from a name, so members whose names have the same stem, without
 * any ".npy" at the end, can be reached by the same key.
 */
#include "zip/parts.h"

#include "base/bytes.h"

/* --- names --- */

#define SUFFIX          ".npy"
#define SUFFIX_NBYTES   (sizeof SUFFIX - 1)
#define NAME_MAX_NBYTES 4096

/* The length of a name's stem. */
static size_t stem_nbytes(const char *name, size_t n_bytes)
{
    while (n_bytes >= SUFFIX_NBYTES &&
           memcmp(name + n_bytes - SUFFIX_NBYTES, SUFFIX, SUFFIX_NBYTES) == 0)
        n_bytes -= SUFFIX_NBYTES;
    return n_bytes;
}

const char *member_name_fault(const char *name, size_t n_bytes)
{
    const uint8_t *p = (const uint8_t *)name;

    if (n_bytes == 0)
        return "name is empty";
    if (n_bytes > NAME_MAX_NBYTES)
        return "name is longer than 4096 bytes";
    for (size_t i = 0; i < n_bytes; i++) /* C0 and DEL, and C1 as UTF-8 has them (c2 80 to c2 9f) */
        if (p[i] < 0x20 || p[i] == 0x7f || (p[i] == 0xc2 && i + 1 < n_bytes && p[i + 1] < 0xa0))
            return "name has a control character";
    if (memchr(name, '\\', n_bytes) != NULL)
        return "name has a backslash";
    if (name[0] == '/' || (n_bytes >= 3 && (name[0] | 0x20) >= 'a' && (name[0] | 0x20) <= 'z' &&
                           name[1] == ':' && name[2] == '/')) /* a drive's */
        return "name is an absolute path";
    for (size_t i = 0; i + 2 <= n_bytes; i++)
        if (name[i] == '.' && name[i + 1] == '.' && (i == 0 || name[i - 1] == '/') &&
            (i + 2 == n_bytes || name[i + 2] == '/'))
            return "name has a '..' component";
    if (stem_nbytes(name, n_bytes) == 0)
        return "name is nothing but '.npy'";
    return NULL;
}

size_t member_name_key_nbytes(const char *name)
{
    return strlen(name) - (text_ends_with(name, SUFFIX) ? SUFFIX_NBYTES : 0);
}

/* --- messages --- */

int zip_fail(const struct zip_reader *zip, const char *format, ...)
{
    const struct zip_entry *entry = zip->entry;
    struct error_place place = {.file = zip->in->path};
    char key[ERROR_ARRAY_NBYTES];
    va_list args;

    if (entry != NULL) {
        snprintf(key, sizeof key, "%.*s", (int)member_name_key_nbytes(entry->name), entry->name);
        place.array = key;
        place.shown = entry->name;
    }
    va_start(args, format);
    error_fill_args(zip->err, ERROR_DATA, &place, format, args);
    va_end(args);
    return -1;
}

/* --- extra fields: the zip64 sizes and the Unicode path --- */

#define EXTRA_ZIP64        0x0001u
#define EXTRA_UNICODE_PATH 0x7075u

int zip_extra_parse(const struct zip_reader *zip, const uint8_t *bytes, size_t n_bytes,
                    struct zip_extra *extra)
{
    *extra = (struct zip_extra){0};
    /* Up to three NULs at the end are alignment, as Android's zipalign leaves it. */
    while (n_bytes >= 4 || !bytes_are_zero(bytes, n_bytes)) {
        struct zip_field *field = NULL;

        if (n_bytes < 4)
            return zip_fail(zip, "expected whole extra fields in the %s, found %zu bytes left over",
                            zip->where, n_bytes);
        const unsigned id = bytes_get_le16(bytes);
        const unsigned size = bytes_get_le16(bytes + 2);
        if (size > n_bytes - 4)
            return zip_fail(zip, "expected an extra field 0x%04x of %u bytes in the %s, found %zu",
                            id, size, zip->where, n_bytes - 4);
        if (id == EXTRA_ZIP64)
            field = &extra->zip64;
        else if (id == EXTRA_UNICODE_PATH)
            field = &extra->unicode_path;
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

int zip_extra_resolve(const struct zip_reader *zip, const struct zip_field *zip64,
                      zip_number *values, size_t n_values, size_t *used)
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
    for (size_t i = 0; i < n_values && 8 * i + 8 <= zip64->n_bytes; i++) {
        const zip_number found = bytes_get_le64(zip64->bytes + 8 * i);

        if (found != values[i])
            return zip_fail(zip, "expected the zip64 field in the %s to repeat %llu, found %llu",
                            zip->where, values[i], found);
    }
    return 0;
}

/* --- local headers --- */

#define LOCAL_NBYTES   30u
#define SCRATCH_NBYTES (2u * 65536u) /* a local header's name and extra fields */

/* Bits 1 and 2 say how hard the compressor tried, which does not concern a reader. */
#define COMPARED_FLAGS 0xfff9u

static int compare_number(struct zip_reader *zip, const char *what, zip_number directory,
                          zip_number local)
{
    if (local == directory)
        return 0;
    return zip_fail(zip, "expected %s %llu in the local header, as in the directory, found %llu",
                    what, directory, local);
}

/*
 * Find the form of the data descriptor, with or without signature, with 32- or 64-bit sizes, by its
 * contents: writers do not mark it reliably. The longest form comes first, since the shorter ones
 * also fit the 64-bit descriptor of an empty member.
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
    for (size_t i = 0; i < N_OF(forms); i++) {
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
                    entry->crc, (zip_number)entry->packed_nbytes,
                    (zip_number)entry->unpacked_nbytes);
}

/* Compare the numbers of the local header p, which has these extra fields. Where a data descriptor
 * follows, the writer did not know them yet, and they may be 0. */
static int compare_numbers(struct zip_reader *zip, const uint8_t *p, const struct zip_extra *extra)
{
    static const char *const what[2] = {"size", "packed size"};
    const struct zip_entry *entry = zip->entry;
    const bool are_unknown = (entry->flags & ZIP_FLAG_DESCRIPTOR) != 0;
    const zip_number known[2] = {entry->unpacked_nbytes, entry->packed_nbytes};
    zip_number sizes[2] = {bytes_get_le32(p + 22), bytes_get_le32(p + 18)};
    const uint32_t crc = bytes_get_le32(p + 14);
    size_t used;

    if (!are_unknown && zip_extra_resolve(zip, &extra->zip64, sizes, 2, &used) != 0)
        return -1;
    for (size_t i = 0; i < 2; i++) {
        const bool is_wide = are_unknown && extra->zip64.n_bytes >= 8 * i + 8;
        const zip_number wide = is_wide ? bytes_get_le64(extra->zip64.bytes + 8 * i) : 0;

        if (wide != 0 && compare_number(zip, what[i], known[i], wide) != 0)
            return -1;
        if (are_unknown &&
            (sizes[i] == 0 || (sizes[i] == 0xffffffff && extra->zip64.n_bytes >= 16)))
            sizes[i] = known[i];
        if (compare_number(zip, what[i], known[i], sizes[i]) != 0)
            return -1;
    }
    if (crc != entry->crc && !(are_unknown && crc == 0))
        return zip_fail(zip, "expected CRC %08x%s in the local header%s, found %08x", entry->crc,
                        are_unknown ? " or 0" : "", are_unknown ? "" : ", as in the directory",
                        crc);
    return 0;
}

static int check_local(struct zip_reader *zip, struct zip_entry *entry, uint8_t *scratch)
{
    const zip_number at = entry->header_offset, room = zip->directory_offset - at;
    uint8_t p[LOCAL_NBYTES];
    struct zip_extra extra;

    zip->entry = entry;
    zip->where = "local header";
    if (room < LOCAL_NBYTES)
        return zip_fail(zip, "expected a local header at byte %llu, found the directory", at);
    if (input_read(zip->in, at, p, sizeof p, zip->err) != 0)
        return -1;
    if (bytes_get_le32(p) != ZIP_LOCAL_SIGNATURE)
        return zip_fail(zip, "expected a local header at byte %llu, found other data", at);
    const unsigned flags = bytes_get_le16(p + 6);
    const unsigned method = bytes_get_le16(p + 8);
    const size_t name_nbytes = bytes_get_le16(p + 26);
    const size_t extra_nbytes = bytes_get_le16(p + 28);
    if (name_nbytes + extra_nbytes > room - LOCAL_NBYTES)
        return zip_fail(zip,
                        "expected name and extra fields of %zu bytes in the local header, found "
                        "the directory after %llu",
                        name_nbytes + extra_nbytes, room - LOCAL_NBYTES);
    if (input_read(zip->in, at + LOCAL_NBYTES, scratch, name_nbytes + extra_nbytes, zip->err) != 0)
        return -1;
    if (name_nbytes != entry->name_nbytes || memcmp(scratch, entry->name, name_nbytes) != 0)
        return zip_fail(zip, "expected the same name in the local header, found %s",
                        text_quote_bytes(scratch, name_nbytes).text);
    if (method != entry->method)
        return zip_fail(zip,
                        "expected method %u in the local header, as in the directory, found %u",
                        entry->method, method);
    if (((flags ^ entry->flags) & COMPARED_FLAGS) != 0)
        return zip_fail(
            zip, "expected flags 0x%04x in the local header, as in the directory, found 0x%04x",
            entry->flags, flags);
    if (zip_extra_parse(zip, scratch + name_nbytes, extra_nbytes, &extra) != 0 ||
        compare_numbers(zip, p, &extra) != 0)
        return -1;
    entry->data_offset = at + LOCAL_NBYTES + name_nbytes + extra_nbytes;
    if (entry->packed_nbytes > zip->directory_offset - entry->data_offset)
        return zip_fail(zip, "expected %llu packed bytes, found the directory after %llu",
                        (zip_number)entry->packed_nbytes,
                        zip->directory_offset - entry->data_offset);
    entry->end_offset = entry->data_offset + entry->packed_nbytes;
    return (entry->flags & ZIP_FLAG_DESCRIPTOR) != 0 ? check_descriptor(zip, entry) : 0;
}

/* --- all members --- */

static int compare_stems(const struct zip_entry *a, const struct zip_entry *b, bool fold_case)
{
    const size_t a_nbytes = stem_nbytes(a->name, a->name_nbytes);
    const size_t b_nbytes = stem_nbytes(b->name, b->name_nbytes);
    const size_t n = (size_t)smaller(a_nbytes, b_nbytes);
    const int order =
        fold_case ? text_compare_caseless(a->name, b->name, n) : memcmp(a->name, b->name, n);

    return order != 0 ? order : order_of(a_nbytes, b_nbytes);
}

/* Ties are broken by address, so that messages do not depend on the sort. */
static int by_offset(const void *a, const void *b)
{
    const struct zip_entry *x = *(const struct zip_entry *const *)a;
    const struct zip_entry *y = *(const struct zip_entry *const *)b;

    return x->header_offset != y->header_offset ? order_of(x->header_offset, y->header_offset)
                                                : (x > y) - (x < y);
}

static int by_stem(const void *a, const void *b)
{
    const struct zip_entry *x = *(const struct zip_entry *const *)a;
    const struct zip_entry *y = *(const struct zip_entry *const *)b;
    int order = compare_stems(x, y, true);

    if (order == 0)
        order = compare_stems(x, y, false);
    return order != 0 ? order : by_offset(a, b);
}

/* The entries of a directory in an order, in a list for the caller to free; or NULL. */
static const struct zip_entry **sorted(const struct zip_directory *directory,
                                       int (*order)(const void *, const void *), struct error *err)
{
    const struct zip_entry **list = malloc((directory->n_entries + 1) * sizeof *list);

    if (list == NULL) {
        error_no_memory(err, "members of a zip archive");
        return NULL;
    }
    for (size_t i = 0; i < directory->n_entries; i++)
        list[i] = &directory->entries[i];
    qsort(list, directory->n_entries, sizeof *list, order);
    return list;
}

int zip_members_check(struct zip_reader *zip, struct zip_directory *directory)
{
    const size_t n = directory->n_entries;
    const struct zip_entry **list = sorted(directory, by_offset, zip->err);
    uint8_t *scratch = malloc(SCRATCH_NBYTES);
    zip_number end = 0;
    int rc = list != NULL ? 0 : -1;

    if (rc == 0 && scratch == NULL)
        rc = error_no_memory(zip->err, "zip headers");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = check_local(zip, &directory->entries[i], scratch);
    zip->entry = NULL;
    const zip_number first = rc == 0 && n > 0 ? list[0]->header_offset : zip->directory_offset;
    if (rc == 0 && first != 0)
        rc = zip_fail(
            zip, "expected the first member at byte 0, found it at byte %llu, after other data",
            first);
    for (size_t i = 0; rc == 0 && i <= n; i++) {
        const zip_number begin = i < n ? list[i]->header_offset : zip->directory_offset;
        uint8_t p[4] = {0};

        zip->entry = i < n && begin < end ? list[i] : NULL;
        if (zip->entry != NULL)
            rc = zip_fail(zip,
                          "expected it after %s, which ends at byte %llu, found that it overlaps "
                          "it from byte %llu",
                          text_quote(list[i - 1]->name).text, end, begin);
        else if (begin - end >= sizeof p)
            rc = input_read(zip->in, end, p, sizeof p, zip->err);
        /* Bytes that no entry owns are harmless, unless a reader that goes from header to header
         * would find a member in them that the directory does not list. */
        if (rc == 0 && bytes_get_le32(p) == ZIP_LOCAL_SIGNATURE)
            rc = zip_fail(zip,
                          "expected every member to be in the zip directory, found one at byte "
                          "%llu that is not",
                          end);
        else if (rc == 0 && begin != end)
            rc = warnings_add(zip->warnings, zip->err,
                              "%llu bytes from byte %llu belong to no member", begin - end, end);
        end = i < n ? list[i]->end_offset : end;
    }
    free(scratch);
    free(list);
    return rc;
}

int zip_names_check(struct zip_reader *zip, const struct zip_directory *directory)
{
    const size_t n = directory->n_entries;
    const struct zip_entry **list = sorted(directory, by_stem, zip->err);
    int rc = list != NULL ? 0 : -1;

    for (size_t i = 1; rc == 0 && i < n; i++) {
        zip->entry = list[i];
        if (compare_stems(list[i - 1], list[i], false) == 0)
            rc = zip_fail(zip, "expected one member of this name, found also %s",
                          text_quote(list[i - 1]->name).text);
        else if (compare_stems(list[i - 1], list[i], true) == 0)
            rc = warnings_add(zip->warnings, zip->err,
                              "member %s: differs from %s in upper and lower case only",
                              text_quote(list[i]->name).text, text_quote(list[i - 1]->name).text);
    }
    free(list);
    return rc;
}
