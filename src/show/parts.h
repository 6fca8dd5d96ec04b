/*
 * parts.h - what the sources of src/show share: one row of every array as numbers in memory, its
 * images (made by the kernels that `expand` moves rows with), and what is to be seen of them.
 */
#pragma once

#include "base/bytes.h"
#include "show/show.h"

/* One array's part: n elements of dtype. Objects become int64 (indices) or double. */
struct field {
    struct bytes bytes; /* owned */
    struct dtype dtype;
    uint64_t n;
};

/* A row, or an image of it. */
struct fields {
    const struct plan *plan; /* borrowed */
    struct field *items; /* owned, one per array of the plan; without elements for arrays that have
                            no rows or no numbers */
};

static inline double field_number(const struct field *field, uint64_t i)
{
    return dtype_get_double(&field->dtype, field->bytes.data + i * field->dtype.itemsize);
}

static inline int64_t field_integer(const struct field *field, uint64_t i)
{
    return dtype_get_int(&field->dtype, field->bytes.data + i * field->dtype.itemsize);
}

/* --- from planes to pieces on cells, as the programs for each game write them --- */

/* Put the pieces of a row on the cells. */
int stones_read(const struct fields *fields, struct picture *picture, struct error *err);

/* What the two sides of this board are called and look like. */
enum stones_style { STONES_BLUE_RED, STONES_OWN_THEIRS, STONES_FIRST_PLANES, STONES_CHESS };

enum stones_style stones_style_of(const struct plan *plan);

/* Do the planes look like RingRift's, whose stacks have heights? */
bool stones_are_stacks(const struct plan *plan);

/* --- what else a row says: values, the player to move, cells that actions point to --- */

/* The name of a side on this board: "blue". */
const char *labels_side_name(const struct plan *plan, enum picture_side side);

/* Append a line to the caption and mark cells. */
int labels_read(const struct fields *fields, struct picture *picture, struct error *err);

/* The cell that an array of coordinates or actions points to, or -1. */
int64_t labels_cell_of(const struct fields *fields, size_t i);

/* Put the policy's shares on the cells and its words into the caption. The stones stand already:
 * a column is where its piece would come to rest. */
int heat_read(const struct fields *fields, struct picture *picture, struct error *err);

/* A share for people: "41%", "2.4%". */
struct text_quoted heat_share_text(double share);
