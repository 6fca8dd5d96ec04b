/*
 * check.h - is this a sound zip archive, and where are its members? Readers disagree about damaged
 * and forged ones: this one accepts only what every reader takes the same way.
 */
#pragma once

#include "base/input.h"

/* One member, as the directory and its local header agree. */
struct zip_entry {
    const char *name; /* NUL-terminated, borrowed from the directory; no NUL inside; in UTF-8 */
    size_t name_nbytes;
    uint16_t flags;
    uint16_t method;
    bool is_folder; /* an entry for a directory: no data */
    uint32_t crc;
    uint64_t packed_nbytes;
    uint64_t unpacked_nbytes; /* as declared, at most what packed_nbytes could inflate to */
    uint64_t header_offset;
    uint64_t data_offset; /* of the first packed byte */
    uint64_t end_offset;  /* after the data and its descriptor */
};

struct zip_directory {
    struct zip_entry *entries; /* owned, in directory order */
    size_t n_entries;
    struct text_list names; /* owned: of the entries */
    char *comment;          /* owned: the archive's comment, NUL-terminated */
    uint8_t *bytes;         /* owned: the private copy */
};

/*
 * Check the structure of the archive in `in` and list its members. Contents are not inflated: sizes
 * and CRCs are those that the headers declare. Then libzip, which allocates whatever a directory
 * declares, opens the archive as well, and must agree about number, names, sizes, methods and CRCs
 * of the members; they get the names that it reads (from code page 437 if they are not UTF-8). No
 * two may stand for one key.
 *
 * Faults are ERROR_DATA ("FILE: MEMBER: expected ..., found ..."); oddities, and names that differ
 * in case alone, are added to warnings. The caller releases the directory, after a fault as well.
 */
int zip_check(const struct input *in, struct zip_directory *directory, struct warnings *warnings,
              struct error *err);

/* Free what a directory owns; accepts a zeroed one. */
void zip_directory_release(struct zip_directory *directory);

/* --- names of members, and the array keys they stand for --- */

/* Why a name of n_bytes (NULs may be among them) is refused, or NULL if it is not: static text such
 * as "name has a '..' component". */
const char *member_name_fault(const char *name, size_t n_bytes);

/* The length of the array's key: as numpy has it, the name without one ".npy" at its end. */
size_t member_name_key_nbytes(const char *name);
