/*
 * guard.h - copying out of a file map whose file may shrink meanwhile.
 */
#ifndef SYMAUG_BASE_GUARD_H
#define SYMAUG_BASE_GUARD_H

#include <stddef.h>
#include <stdint.h>

/*
 * Put the handler for SIGBUS in place, unless it is there already: to be called for each new map,
 * as somebody else may have replaced it. Faults outside guarded copies go on to the handler that
 * was there before. Returns 0, or -1 (no error set): then nothing must be copied from a map.
 */
int guard_install(void);

/*
 * Copy n_bytes at `from`, which lie inside the map of map_nbytes at `map`, to `to`. Returns 0, or
 * -1 (no error set) when a page could not be read: the file was truncated or its device failed;
 * `to` then holds an unknown part of the bytes. Thread-safe.
 */
int guard_copy(void *to, const uint8_t *from, size_t n_bytes, const uint8_t *map,
               size_t map_nbytes);

#endif
