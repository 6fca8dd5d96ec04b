/*
 * input.h - an input file: opened once, mapped, read under a guard.
 *
 * Bytes leave the map only through input_read, which copies them: a file that shrinks or is
 * rewritten under the map ends in an error instead of SIGBUS, and what was checked (CRC) is what
 * is used. On request, for small files and on network file systems, pread takes the map's place.
 */
#pragma once

#include "base/error.h"

#include <sys/types.h>
#include <time.h>

struct input {
    char *path;         /* owned, as given by the user */
    int fd;             /* -1: memory of the caller's */
    const uint8_t *map; /* NULL when read with pread */
    uint64_t n_bytes;
    dev_t device; /* identity and state at opening: input_unchanged compares them */
    ino_t inode;
    struct timespec modified;
};

/* Open a regular file for reading; never blocks on a fifo. Errors: ERROR_NO_INPUT (missing, no
 * permission, loop), ERROR_DATA (not a regular file), ERROR_IO. The caller closes it. */
int input_open(struct input *in, const char *path, bool use_map, struct error *err);

/* The caller's memory as an input, for as long as that lasts: it is read only. `name` is what
 * messages call it. */
int input_of_memory(struct input *in, const char *name, const void *bytes, uint64_t n_bytes,
                    struct error *err);

/* Close it; accepts a zeroed one. */
void input_close(struct input *in);

/*
 * Copy n_bytes at offset into out. Beyond the end is ERROR_DATA ("file ends at byte ..."), and so
 * is a file that was truncated since it was opened; a failing device is ERROR_IO. Thread-safe.
 */
int input_read(const struct input *in, uint64_t offset, void *out, size_t n_bytes,
               struct error *err);

/* The same for bytes that are wanted in no order: never through the map, whose pages would all come
 * to count as resident. */
int input_read_scattered(const struct input *in, uint64_t offset, void *out, size_t n_bytes,
                         struct error *err);

/* All bytes of a file, and a NUL after them, in memory called `what`; owned by the caller. NULL
 * with err set, or with err as it was when they are more than max_nbytes. */
char *input_load(const char *path, uint64_t max_nbytes, const char *what, size_t *n_bytes,
                 struct error *err);

/* Say that the bytes in front of offset are not needed any more, so that their pages stop counting
 * as resident. A hint; pages are released in steps of 4 MiB. */
void input_release_before(const struct input *in, uint64_t offset, uint64_t *released);

/* ERROR_DATA when the file's size, time of change or inode differ from those at opening. */
int input_unchanged(const struct input *in, struct error *err);

/* --- open, and pread and pwrite of all bytes, however signals interrupt them --- */

/* Returns a descriptor, or -1 with errno set. What is created is the user's alone. */
int file_open(const char *path, int flags);

/* Returns how many bytes there were, fewer at the end of the file; or -1 with errno set. */
int64_t file_read(int fd, uint64_t offset, void *out, size_t n_bytes);

/* Returns 0, or -1 with errno set. */
int file_write(int fd, uint64_t offset, const void *bytes, size_t n_bytes);

/* --- copying out of a map whose file may shrink meanwhile --- */

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
