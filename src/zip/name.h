/*
 * name.h - which names members of a shard may have, and the array keys they stand for.
 */
#ifndef SYMAUG_ZIP_NAME_H
#define SYMAUG_ZIP_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define MEMBER_NAME_MAX_NBYTES 4096

/* Why a name of n_bytes (which may hold NULs) is refused, or NULL when it is fit: static text such
 * as "name has a '..' component". */
const char *member_name_fault(const char *name, size_t n_bytes);

/* True when the name ends in ".npy" (and has something in front of it). */
bool member_name_is_npy(const char *name, size_t n_bytes);

/* Length of the array key: the name without one ".npy", as numpy makes it. */
size_t member_name_key_nbytes(const char *name, size_t n_bytes);

/* Length of what identifies the member: the name without any ".npy" at its end. Two members whose
 * stems are equal can be reached by the same numpy key. */
size_t member_name_stem_nbytes(const char *name, size_t n_bytes);

#endif
