/*
 * zip_layout.c - a zip archive's members among each other: their names and their places.
 */
#include "shard/zip_parts.h"

#include "base/bytes.h"
#include "base/text.h"
#include "shard/member_name.h"

#include <stdlib.h>
#include <string.h>

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
static const struct zip_entry **sorted(const struct zip_reader *zip,
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

int zip_names_check(const struct zip_reader *zip, const struct zip_directory *directory)
{
    const struct zip_entry **list = sorted(zip, directory, by_stem);
    int result = -1;

    if (list == NULL)
        return -1;
    for (size_t i = 1; i < directory->n_entries; i++) {
        if (compare_stems(list[i - 1], list[i], false) == 0) {
            zip_fail(zip, list[i], "expected one member of this name, found also %s",
                     text_quote(list[i - 1]->name).text);
            goto out;
        }
        if (compare_stems(list[i - 1], list[i], true) == 0 &&
            zip_warn(zip, list[i], "differs from %s in upper and lower case only",
                     text_quote(list[i - 1]->name).text) != 0)
            goto out;
    }
    result = 0;
out:
    free(list);
    return result;
}

/* Bytes that no entry owns: harmless, unless a reader that goes from header to header would find
 * a member in them that the directory does not list. */
static int check_gap(const struct zip_reader *zip, uint64_t begin, uint64_t end)
{
    uint8_t p[4];

    if (begin == end)
        return 0;
    if (end - begin >= sizeof p) {
        if (input_read(zip->in, begin, p, sizeof p, zip->err) != 0)
            return -1;
        if (bytes_get_le32(p) == ZIP_LOCAL_SIGNATURE)
            return zip_fail(zip, NULL,
                            "expected every member to be in the zip directory, found "
                            "one at byte %llu that is not",
                            (unsigned long long)begin);
    }
    return zip_warn(zip, NULL, "%llu bytes from byte %llu belong to no member",
                    (unsigned long long)(end - begin), (unsigned long long)begin);
}

int zip_layout_check(const struct zip_reader *zip, const struct zip_directory *directory)
{
    const struct zip_entry **list = sorted(zip, directory, by_offset);
    uint64_t first, end = 0;
    int result = -1;

    if (list == NULL)
        return -1;
    first = directory->n_entries > 0 ? list[0]->header_offset : zip->directory_offset;
    if (first != 0) {
        zip_fail(zip, NULL,
                 "expected the first member at byte 0, found it at byte %llu, behind "
                 "other data",
                 (unsigned long long)first);
        goto out;
    }
    for (size_t i = 0; i < directory->n_entries; i++) {
        if (list[i]->header_offset < end) {
            zip_fail(zip, list[i],
                     "expected it behind %s, which ends at byte %llu, found that it "
                     "overlaps it from byte %llu",
                     text_quote(list[i - 1]->name).text, (unsigned long long)end,
                     (unsigned long long)list[i]->header_offset);
            goto out;
        }
        if (check_gap(zip, end, list[i]->header_offset) != 0)
            goto out;
        end = list[i]->end_offset;
    }
    if (check_gap(zip, end, zip->directory_offset) != 0)
        goto out;
    result = 0;
out:
    free(list);
    return result;
}
