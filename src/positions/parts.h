/*
 * parts.h - inside the folder: sorting records, and means of sparse policies.
 */
#pragma once

#include "positions/key.h"

#include <sys/types.h>

/* --- sorting --- */

/*
 * Sorts records by the four 8-byte numbers that they begin with: in memory while there is room,
 * then through an unlinked temp file. The first two numbers are a record's key.
 *
 * Set the first four fields and zero the others; add all records, then read them. Release it in any
 * case.
 */
struct sorter {
    size_t record_nbytes;  /* at least 32 */
    uint64_t max_nbytes;   /* of memory; 32 KiB, or a record for each sixteenth of it that they
                              fill, are used in any case. Each thread that sorts takes a
                              sixteenth more. */
    struct budget *budget; /* borrowed: its folder holds the file */
    int n_threads;         /* that sort; 0 is 1 */

    bool is_first, is_last; /* whether the record just read is, among those of its key */

    bool is_read;
    struct bytes records; /* those in memory; while runs of the file are merged, their buffers */
    struct bytes current; /* the record just read */
    struct scratch file;
    struct run *runs; /* owned; all are in the file, or none, when they are read */
    size_t n_runs, n_sorted;
    size_t buffer_nbytes; /* of a run of the file */
};

/* A sorter that may take one part in n_shares of the memory. */
static inline struct sorter sorter_of(const struct settings *settings, size_t record_nbytes,
                                      unsigned n_shares)
{
    return (struct sorter){.record_nbytes = record_nbytes,
                           .max_nbytes = settings->max_memory / n_shares,
                           .budget = settings->budget,
                           .n_threads = settings->n_threads};
}

/* Add a record, of which the first n_bytes are given. Returns where the rest goes, to be filled
 * before the next call; NULL with err set. */
void *sorter_add(struct sorter *sorter, const void *record, size_t n_bytes, struct error *err);

/* Add n records, at most sorter_most, whose size is a multiple of 16. Returns where they go, all to
 * be filled before the next call; NULL with err set. */
void *sorter_room(struct sorter *sorter, size_t n, struct error *err);
size_t sorter_most(const struct sorter *sorter);

/* Read the next record, which is borrowed until the next call, into a pointer of any type whose
 * address is given. Returns 1; 0 after the last; -1. */
int sorter_next(struct sorter *sorter, void *record, struct error *err);

void sorter_release(struct sorter *sorter);

/* --- sparse policies: merging those of one position --- */

/* A row of a position that has several rows. */
struct sparse_member {
    uint64_t row, weight;
    uint32_t transform; /* takes it to the first row */
    bool is_first;
};

/* Zero-initialise. */
struct sparse_means {
    struct plan *plan;              /* borrowed */
    struct sparse_policy *policies; /* owned */
    size_t n_policies;
    struct scratch unions; /* position after position, those of all its policies */
    struct bytes list;     /* those of one position */
    uint64_t next;         /* the next row to write */
};

/* Open the sparse policies of a plan, for reading rows in any order, and take over their specs:
 * before plan_keep_rows. ERROR_DATA for types that cannot be averaged. Release them in any case. */
int sparse_open(struct sparse_means *means, struct plan *plan, struct error *err);

/* Add the rows of a position one by one, then unite them: *place tells where the means are kept.
 * ERROR_DATA for rows that are not lists of indices and values. */
int sparse_add(struct sparse_means *means, const struct sparse_member *member, struct error *err);
int sparse_unite(struct sparse_means *means, uint64_t weight, uint64_t *place, struct error *err);

/* Then make the new arrays: begin; write the means of each position, by ascending row; and finish,
 * which puts the arrays in place of the plan's. Selected rows between them are copied as they are,
 * each when the first mean after it is written, or at the end. */
int sparse_begin(struct sparse_means *means, struct error *err);
int sparse_write(struct sparse_means *means, uint64_t row, uint64_t place, struct error *err);
int sparse_finish(struct sparse_means *means, struct error *err);

/* Accepts a zeroed one. */
void sparse_release(struct sparse_means *means);
