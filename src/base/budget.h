/*
 * budget.h - a limit on the memory for rows that must all be kept, shared by all threads of a run;
 * and scratch space, in memory while the budget lasts and in an unlinked temp file after that.
 */
#pragma once

#include "base/error.h"

#include <stdatomic.h>

/* NULL stands for an empty budget with temp files in /tmp. */
struct budget {
    _Atomic uint64_t left; /* bytes */
    const char *tmpdir;    /* borrowed: the folder of temp files; NULL: /tmp */
};

struct scratch {
    struct budget *budget; /* borrowed: the memory is taken from it */
    uint8_t *memory;       /* owned; NULL: the bytes are in the file */
    bool has_file;
    int fd;
    uint64_t n_bytes;  /* appended so far */
    uint64_t capacity; /* as given to scratch_open */
};

/*
 * Make room for n_bytes, in memory if the budget has them, otherwise in a temp file that has no
 * name and vanishes with the process. ERROR_CANT_CREATE when that is impossible. The caller closes
 * it.
 */
int scratch_open(struct scratch *scratch, uint64_t n_bytes, struct budget *budget,
                 struct error *err);

/* Append; ERROR_INTERNAL if that exceeds the n_bytes of scratch_open. */
int scratch_append(struct scratch *scratch, const void *bytes, size_t n_bytes, struct error *err);

/* For scratch in a file only: set its size (new bytes are zeros), and write at any offset. */
int scratch_resize(struct scratch *scratch, uint64_t n_bytes, struct error *err);
int scratch_write(const struct scratch *scratch, uint64_t offset, const void *bytes, size_t n_bytes,
                  struct error *err);

/* Copy bytes that were written. Thread-safe unless another thread writes. */
int scratch_read(const struct scratch *scratch, uint64_t offset, void *out, size_t n_bytes,
                 struct error *err);

/* Release the memory or the file; accepts a zeroed scratch. */
void scratch_close(struct scratch *scratch);
