/*
 * scratch.h - bytes kept for a while: in memory while there is room, else in an unlinked file.
 */
#ifndef SYMAUG_SHARD_SCRATCH_H
#define SYMAUG_SHARD_SCRATCH_H

#include "base/budget.h"
#include "base/error.h"

struct scratch {
    struct budget *budget; /* borrowed: of which the memory is */
    uint8_t *memory;       /* owned, or NULL: the bytes are in the file */
    bool has_file;
    int fd;
    uint64_t n_bytes;  /* appended so far */
    uint64_t capacity; /* agreed at opening */
};

/*
 * Make room for n_bytes: in memory while the budget lasts, else in a file in its folder. The file
 * has no name, and goes with the process. The caller closes it.
 */
int scratch_open(struct scratch *scratch, uint64_t n_bytes, struct budget *budget,
                 struct error *err);

/* Append; all calls together stay within the n_bytes of scratch_open. */
int scratch_append(struct scratch *scratch, const void *bytes, size_t n_bytes, struct error *err);

/* A scratch file as long as that, zeros where nothing is written; and bytes at any place of it. Not
 * for scratch in memory. */
int scratch_resize(struct scratch *scratch, uint64_t n_bytes, struct error *err);
int scratch_write(const struct scratch *scratch, uint64_t offset, const void *bytes, size_t n_bytes,
                  struct error *err);

/* Copy bytes that were appended. Thread-safe while nobody appends. */
int scratch_read(const struct scratch *scratch, uint64_t offset, void *out, size_t n_bytes,
                 struct error *err);

/* Give back memory or file; accepts a zeroed one. */
void scratch_close(struct scratch *scratch);

#endif
