/*
 * input.h - an input file: opened once, mapped or not, read by copying, so that one that shrinks
 * under its map is an error, and the bytes that were checked (CRC) are the bytes that are used.
 */
#pragma once

#include "base/text.h"

#include <sys/stat.h>

struct input {
    char *path;         /* owned, as given by the user */
    int fd;             /* -1: the caller's memory */
    const uint8_t *map; /* NULL when read with pread */
    uint64_t n_bytes;
    struct stat opened; /* what fstat said when it was opened, for input_unchanged */
};

/* Open a regular file for reading; never blocks on a fifo. Errors: ERROR_NO_INPUT (missing, no
 * permission, loop of links), ERROR_DATA (not a regular file), ERROR_IO. The caller closes it. */
int input_open(struct input *in, const char *path, bool use_map, struct error *err);

/* Use memory as an input, which is borrowed until the input is closed. `name` stands for the path
 * in messages. */
int input_of_memory(struct input *in, const char *name, const void *bytes, uint64_t n_bytes,
                    struct error *err);

/* Close an input; accepts a zeroed one. */
void input_close(struct input *in);

/*
 * Copy n_bytes at offset to out. ERROR_DATA if they are not all inside the file, or if it has been
 * truncated since it was opened; ERROR_IO if the device fails. Thread-safe.
 */
int input_read(const struct input *in, uint64_t offset, void *out, size_t n_bytes,
               struct error *err);

/* The same for reads at random offsets: never through the map, where every page touched would stay
 * resident. */
int input_read_scattered(const struct input *in, uint64_t offset, void *out, size_t n_bytes,
                         struct error *err);

/* Load a whole file, and a NUL after it, into memory that the caller owns and messages call `what`.
 * NULL with err set, or with err unchanged if the file is larger than max_nbytes. */
char *input_load(const char *path, uint64_t max_nbytes, const char *what, size_t *n_bytes,
                 struct error *err);

/* Hint that the bytes before offset are not needed any more, so that their pages stop being
 * resident. Pages are released in steps of 4 MiB; *released, 0 at first, tells how far. */
void input_release_before(const struct input *in, uint64_t offset, uint64_t *released);

/* ERROR_DATA if the file's size, modification time or inode differ from those when opened. */
int input_unchanged(const struct input *in, struct error *err);

/* Add the paths of what a folder holds, without names that begin with a dot, in the order of their
 * bytes. ERROR_NO_INPUT if it is missing or there is no permission, otherwise ERROR_IO. */
int folder_list(const char *path, struct text_list *paths, struct error *err);

/* --- open, pread and pwrite that continue after signals and short transfers --- */

/* Returns a descriptor, or -1 with errno set. A file that is created has mode 0600. */
int file_open(const char *path, int flags);

/* Returns the number of bytes read, fewer than n_bytes only at the end of the file; or -1 with
 * errno set. */
int64_t file_read(int fd, uint64_t offset, void *out, size_t n_bytes);

/* Writes all bytes. Returns 0, or -1 with errno set. */
int file_write(int fd, uint64_t offset, const void *bytes, size_t n_bytes);
