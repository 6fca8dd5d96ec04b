/*
 * parts.h - inside the folder: boxes of records, and means of sparse policies.
 */
#pragma once

#include "base/budget.h"
#include "base/bytes.h"
#include "positions/key.h"

#include <sys/types.h>

/* --- boxes --- */

/* Records are put into boxes, by a key or by the number of a row, and given back box by box,
 * sorted: in memory while there is room, then in an unlinked temp file. */

/* Set the first six fields, the others to 0, then open them. Release them in any case. */
struct boxes {
    size_t n;             /* boxes */
    size_t record_nbytes; /* 32 at least; becomes a multiple of 16: records are aligned */
    uint64_t n_rows;      /* that are put into boxes by their numbers; 0: by their keys */
    uint64_t max_nbytes;  /* in memory, of all boxes */
    const char *tmpdir;   /* borrowed */
    bool in_parts;        /* what has a key in common may come in parts, as it was put */

    uint64_t n_before, n_more; /* of it given before the latest records, and still to come */

    struct box *items; /* owned */
    uint64_t held_nbytes;
    struct scratch file;
    struct budget no_memory; /* but a folder for the file */
    struct bytes list;       /* the box that is given back, and how far it has been */
    size_t next_box, at;
    struct key_value often;   /* the key of n_often records of a large box, of which are */
    uint64_t n_often, n_left; /* still to come */
    struct box_place {
        size_t part;
        uint64_t offset;
    } place; /* where they are looked for next */
    struct bytes piece;
};

int boxes_open(struct boxes *boxes, struct error *err);
void boxes_release(struct boxes *boxes);

/* Into how many boxes so many records go, so that those of one, with record_nbytes each, need no
 * more than max_nbytes; a power of 2. */
size_t boxes_wanted(uint64_t n_records, uint64_t record_nbytes, uint64_t max_nbytes);

/* The box of a row's number (neighbours are in one box), or of the high half of a key. */
static inline size_t boxes_of(const struct boxes *boxes, uint64_t number)
{
    if (boxes->n_rows > 0)
        return number / (boxes->n_rows / boxes->n + 1);
    return (size_t)(((unsigned __int128)number * boxes->n) >> 64);
}

/* Put a record, of which the first n_bytes are given, into the box that its first 8 bytes tell.
 * Returns where the rest goes, to be filled before the next call; NULL with err set. */
void *boxes_add(struct boxes *boxes, const void *record, size_t n_bytes, struct error *err);

/*
 * The next records that have a key, or the number of a row, in common, in the order of the four
 * numbers of 8 bytes that they begin with; and so on box by box. They are borrowed until the next
 * call. Returns how many there are; 0 after the last ones, then it begins again; -1. Of boxes by
 * key those that were in memory are gone when they have been given. A box of more than half of
 * max_nbytes is not held whole if in_parts: one key's records, the most frequent one's where it has
 * more than half of them, are given a piece at a time.
 */
ssize_t boxes_next(struct boxes *boxes, const void **records, struct error *err);

/* What came in parts comes again from its first part. Only right after its last one, of several. */
void boxes_again(struct boxes *boxes);

/* A class of rows on its way back to them: behind it the labels of its first row. */
struct class_record {
    uint64_t row, weight, n_rows; /* its first row, first: they are sorted by it */
    struct key_value key;
    double min, max; /* of the element of the values that differs most */
    uint64_t place;  /* of the means of its sparse policies */
};

/* --- sparse policies: of the rows of one position, the union of what they name --- */

/* A row of a position that has several. */
struct sparse_member {
    uint64_t row, weight;
    uint32_t transform; /* that takes it to the first one */
    bool is_first;
};

/* Zero-initialise. */
struct sparse_means {
    struct plan *plan;              /* borrowed */
    struct sparse_policy *policies; /* owned */
    size_t n_policies;
    struct budget no_memory; /* but a folder for the next */
    struct scratch unions;   /* of all policies of a position, one position after another */
    struct bytes list;       /* those of one */
};

/* Find the sparse policies of a plan and what transforms do to them: before plan_keep_rows.
 * ERROR_DATA for types that have no means. Release them in any case. */
int sparse_find(struct sparse_means *means, struct plan *plan, struct error *err);

/* Open them, after that, for rows in any order. */
int sparse_open(struct sparse_means *means, struct error *err);

/* Add the rows of a position, one after another, then end it: *place tells where its means are.
 * ERROR_DATA for rows that are no lists of indices and values. */
int sparse_add(struct sparse_means *means, const struct sparse_member *member, struct error *err);
int sparse_unite(struct sparse_means *means, uint64_t weight, uint64_t *place, struct error *err);

/* Put new arrays in the place of the plan's: the means of all classes as their first rows, and the
 * other rows that are selected. */
int sparse_write(struct sparse_means *means, struct boxes *classes, struct error *err);

/* Accepts a zeroed one. */
void sparse_release(struct sparse_means *means);
