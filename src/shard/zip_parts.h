/*
 * zip_parts.h - the steps of zip_check, for its own files only.
 */
#ifndef SYMAUG_SHARD_ZIP_PARTS_H
#define SYMAUG_SHARD_ZIP_PARTS_H

#include "shard/zip_check.h"

#define ZIP_LOCAL_NBYTES   30u
#define ZIP_CENTRAL_NBYTES 46u

#define ZIP_LOCAL_SIGNATURE      0x04034b50u
#define ZIP_DESCRIPTOR_SIGNATURE 0x08074b50u
#define ZIP_CENTRAL_SIGNATURE    0x02014b50u
#define ZIP_END_SIGNATURE        0x06054b50u
#define ZIP_END64_SIGNATURE      0x06064b50u
#define ZIP_LOCATOR64_SIGNATURE  0x07064b50u

/* What every step needs. */
struct zip_reader {
    const struct input *in;
    struct warnings *warnings;
    struct error *err;
    uint64_t directory_offset;
    uint8_t *scratch; /* owned by zip_check: a local header's name and extra fields */
};

#define ZIP_SCRATCH_NBYTES (2u * 65536u)

/* What the end record says, or the zip64 end record in its place. */
struct zip_end {
    uint64_t n_entries;
    uint64_t directory_offset;
    uint64_t directory_nbytes;
    char *comment; /* owned */
};

/* ERROR_DATA "FILE: MEMBER: ..." (entry NULL: "FILE: ..."). Returns -1. */
int zip_fail(const struct zip_reader *zip, const struct zip_entry *entry, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A warning "member 'NAME': ...". */
int zip_warn(const struct zip_reader *zip, const struct zip_entry *entry, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Find and check the end records. */
int zip_end_read(const struct zip_reader *zip, struct zip_end *end);

/*
 * Parse the central entry at the start of n_bytes at `record`; *used is its length. The entry's
 * name is put in place: NUL-terminated inside the record, whose fixed part it overwrites.
 */
int zip_entry_parse(const struct zip_reader *zip, uint8_t *record, size_t n_bytes,
                    struct zip_entry *entry, size_t *used);

/* Hold an entry against its local header and data descriptor; sets data_offset, end_offset. */
int zip_local_check(const struct zip_reader *zip, struct zip_entry *entry);

/* The zip64 and Unicode path fields among n_bytes of extra fields. */
struct zip_extra {
    const uint8_t *zip64; /* NULL when there is none */
    size_t zip64_nbytes;
    const uint8_t *unicode_path;
    size_t unicode_path_nbytes;
};

/* Split extra fields; `where` ("directory", "local header") is for messages. */
int zip_extra_parse(const struct zip_reader *zip, const struct zip_entry *entry, const char *where,
                    const uint8_t *bytes, size_t n_bytes, struct zip_extra *extra);

/*
 * Replace each of n_values (unpacked, packed, header offset: in this order) that is 0xffffffff by
 * its zip64 value; *used says how many zip64 bytes that took. A zip64 field that holds more than
 * was asked for must repeat the values, so that no two readers can differ.
 */
int zip_extra_resolve(const struct zip_reader *zip, const struct zip_entry *entry,
                      const char *where, const struct zip_extra *extra, uint64_t *values,
                      size_t n_values, size_t *used);

/* No two members with one key. */
int zip_names_check(const struct zip_reader *zip, const struct zip_directory *directory);

/* Members one behind the other from byte 0 to the directory, none overlapping, none hidden. */
int zip_layout_check(const struct zip_reader *zip, const struct zip_directory *directory);

#endif
