/*
 * parts.h - what the files of this folder share.
 */
#pragma once

#include "zip/check.h"

#define ZIP_LOCAL_SIGNATURE      0x04034b50u
#define ZIP_DESCRIPTOR_SIGNATURE 0x08074b50u
#define ZIP_CENTRAL_SIGNATURE    0x02014b50u
#define ZIP_END_SIGNATURE        0x06054b50u
#define ZIP_END64_SIGNATURE      0x06064b50u
#define ZIP_LOCATOR64_SIGNATURE  0x07064b50u

#define ZIP_FLAG_DESCRIPTOR (1u << 3)

typedef unsigned long long zip_number; /* any number of an archive, fit for %llu */

/* What every step of the check needs. */
struct zip_reader {
    const struct input *in;
    struct warnings *warnings;
    struct error *err;
    zip_number n_entries;        /* of the directory, as the end records say, as is the next */
    zip_number directory_offset; /* from the beginning of the file */
    zip_number directory_nbytes;
    const struct zip_entry *entry; /* borrowed, or NULL: the entry that messages are about */
    const char *where;             /* the same: "directory" or "local header" */
};

/* ERROR_DATA "FILE: MEMBER: ..." about zip->entry ("FILE: ..." without one). Returns -1. */
int zip_fail(const struct zip_reader *zip, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Borrowed bytes: of an extra field, NULL when there is none. */
struct zip_field {
    const uint8_t *bytes;
    size_t n_bytes;
};

struct zip_extra {
    struct zip_field zip64, unicode_path;
};

/* Find the two fields in n_bytes of extra fields. */
int zip_extra_parse(const struct zip_reader *zip, const uint8_t *bytes, size_t n_bytes,
                    struct zip_extra *extra);

/*
 * Replace each of n_values (unpacked size, packed size, header offset, in this order) that is
 * 0xffffffff by its zip64 value; *used is the number of zip64 bytes that took. A zip64 field with
 * more values than were needed must repeat them all, so that no two readers can differ.
 */
int zip_extra_resolve(const struct zip_reader *zip, const struct zip_field *zip64,
                      zip_number *values, size_t n_values, size_t *used);

/* Compare each entry with its local header and data descriptor, and set data_offset and end_offset;
 * then check that the members follow one another from byte 0 to the directory, none overlapping,
 * none hidden. */
int zip_members_check(struct zip_reader *zip, struct zip_directory *directory);

/* Compare the members with those that libzip finds, and give them the names that it reads. */
int zip_agree(const struct zip_reader *zip, struct zip_directory *directory);

/* Check that no two members stand for one key, by their names in UTF-8. */
int zip_names_check(struct zip_reader *zip, const struct zip_directory *directory);
