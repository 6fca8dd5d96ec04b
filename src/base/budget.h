/*
 * budget.h - what a run may use for rows that must all be at hand: so many bytes of memory, of
 * which everybody takes and gives back, and a folder for what does not fit; and bytes kept for a
 * while, in memory while there is room, else in an unlinked file there.
 */
#pragma once

#include "base/error.h"

#include <stdatomic.h>

/* Shared by all threads of a run. Where a budget may be NULL, nothing is left of it. */
struct budget {
    _Atomic uint64_t left; /* bytes */
    const char *tmpdir;    /* borrowed; NULL: /tmp */
};

/* Take n_bytes; false when not so many are left. */
static inline bool budget_take(struct budget *budget, uint64_t n_bytes)
{
    uint64_t left = budget != NULL ? atomic_load(&budget->left) : 0;

    while (n_bytes <= left && left > 0)
        if (atomic_compare_exchange_weak(&budget->left, &left, left - n_bytes))
            return true;
    return false;
}

/* Give back what was taken. */
static inline void budget_give(struct budget *budget, uint64_t n_bytes)
{
    if (budget != NULL)
        atomic_fetch_add(&budget->left, n_bytes);
}

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
