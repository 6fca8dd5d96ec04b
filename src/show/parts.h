/*
 * parts.h - shared by src/show: one row of every array as numbers in memory, or an image of it, and
 * what its picture takes from it.
 */
#pragma once

#include "show/show.h"

/* The row of one array: n elements of dtype. Objects become int64 (indices) or double. */
struct field {
    struct bytes bytes; /* owned */
    struct dtype dtype;
    uint64_t n;
};

/* A row, or an image of it. */
struct fields {
    const struct plan *plan; /* borrowed */
    struct field *items;     /* owned, one per array of the plan; empty without rows or numbers */
};

static inline double field_number(const struct field *field, uint64_t i)
{
    return dtype_get_double(&field->dtype, field->bytes.data + i * field->dtype.itemsize);
}

static inline int64_t field_integer(const struct field *field, uint64_t i)
{
    return dtype_get_int(&field->dtype, field->bytes.data + i * field->dtype.itemsize);
}

/* --- pieces on cells, from planes as the programs for each game write them --- */

/* Put the pieces of a row on the cells. */
void stones_read(const struct fields *fields, struct picture *picture);

/* How the two sides of a board are named and drawn; static. */
const struct sides *sides_of(const struct plan *plan);

/* True when the number of planes is that of RingRift's, which hold heights of stacks. */
bool stones_are_stacks(const struct plan *plan);

/* --- labels: values, the player to move, cells that actions point to --- */

/* Append a line to the caption, and mark the cells that actions and coordinates point to. */
int labels_read(const struct fields *fields, struct picture *picture, struct error *err);

/* The cell that an array of coordinates or actions points to, or -1. */
int64_t labels_cell_of(const struct fields *fields, size_t i);

/* Put the policy's shares on the cells and its largest entries into the caption. The stones must be
 * in place: the action "column" belongs to the cell where its piece comes to rest. */
int heat_read(const struct fields *fields, struct picture *picture, struct error *err);

/* A share for people: "41%", "2.4%". */
struct text_quoted heat_share_text(double share);
