/*
 * row_supply.c - the input rows that a member is made from. In orders that stream, two windows
 * leapfrog over the input: while pieces are made from one, the next rows are read into the other,
 * and rows that both need are copied. Other orders, and Fortran arrays, read from a table with
 * every row at hand. Values beside padded indices go through a second source in step with the
 * first.
 */
#include "engine/row_supply.h"

#include "base/text.h"

#include <string.h>

#define ROW_ALIGNMENT 16

bool row_supply_can_stream(const struct array *const *arrays, size_t n_arrays)
{
    for (size_t i = 0; i < n_arrays; i++)
        if (array_is_fortran(arrays[i]))
            return false;
    return true;
}

static int open_streams(struct row_supply *supply, struct error *err)
{
    const struct row_arrays *from = &supply->from;

    supply->rows = rows_open(from->arrays, from->n_arrays, err);
    if (supply->rows == NULL)
        return -1;
    if (from->values != NULL)
        supply->values = rows_open(from->values, from->n_arrays, err);
    return from->values != NULL && supply->values == NULL ? -1 : 0;
}

static int open_tables(struct row_supply *supply, struct error *err)
{
    const struct row_arrays *from = &supply->from;
    uint64_t *left = from->access.memory_left;
    const uint64_t before = *left;

    supply->table = row_table_open(from->arrays, from->n_arrays, left, from->access.tmpdir, err);
    if (supply->table != NULL && from->values != NULL)
        supply->value_table =
            row_table_open(from->values, from->n_arrays, left, from->access.tmpdir, err);
    supply->memory_nbytes = before - *left;
    return supply->table == NULL || (from->values != NULL && supply->value_table == NULL) ? -1 : 0;
}

int row_supply_open(struct row_supply *supply, const struct row_arrays *from, bool streams,
                    struct error *err)
{
    int status;

    *supply = (struct row_supply){
        .is_open = true,
        .streams = streams && row_supply_can_stream(from->arrays, from->n_arrays) &&
                   (from->values == NULL || row_supply_can_stream(from->values, from->n_arrays)),
        .from = *from,
        .row_nbytes = from->arrays[0]->row_nbytes,
        .value_row_nbytes = from->values != NULL ? from->values[0]->row_nbytes : 0,
    };
    status = supply->streams ? open_streams(supply, err) : open_tables(supply, err);
    if (status != 0)
        row_supply_close(supply);
    return status;
}

/* --- windows --- */

/* Read over n rows that nobody needs. */
static int skip_rows(struct rows *rows, uint64_t n, uint64_t row_nbytes, struct bytes *buffer,
                     struct error *err)
{
    const uint64_t room = row_nbytes > 0 ? buffer->capacity / row_nbytes : n;

    while (n > 0) {
        const uint64_t part = n < room ? n : room;

        if (rows_read(rows, part, buffer->data, err) != 0)
            return -1;
        n -= part;
    }
    return 0;
}

/* Rows [begin, end) into buffer: what the old window holds is copied, the rest is read. */
static int fill_window(struct bytes *buffer, const struct bytes *old, const struct row_window *from,
                       uint64_t begin, uint64_t end, uint64_t row_nbytes, struct rows *rows,
                       struct error *err)
{
    uint64_t kept = begin < from->end ? from->end - begin : 0, n_bytes;

    if (kept > end - begin)
        kept = end - begin;
    buffer->n_bytes = 0;
    if (__builtin_mul_overflow(end - begin, row_nbytes, &n_bytes) || n_bytes >= SIZE_MAX)
        return error_no_memory(err, "row window");
    if (bytes_reserve(buffer, n_bytes > row_nbytes ? n_bytes : row_nbytes, err) == NULL ||
        (begin > from->end && skip_rows(rows, begin - from->end, row_nbytes, buffer, err) != 0))
        return -1;
    if (kept > 0)
        memcpy(buffer->data, old->data + (begin - from->begin) * row_nbytes, kept * row_nbytes);
    return rows_read(rows, end - begin - kept, buffer->data + kept * row_nbytes, err);
}

int row_supply_load(struct row_supply *supply, uint64_t begin, uint64_t end, unsigned *window,
                    struct error *err)
{
    const struct row_window *from = &supply->windows[supply->latest];
    struct row_window *to = &supply->windows[!supply->latest];

    *window = 0;
    if (!supply->streams)
        return 0;
    if (end < from->end)
        end = from->end;
    if (fill_window(&to->rows, &from->rows, from, begin, end, supply->row_nbytes, supply->rows,
                    err) != 0 ||
        (supply->values != NULL && fill_window(&to->values, &from->values, from, begin, end,
                                               supply->value_row_nbytes, supply->values, err) != 0))
        return -1;
    to->begin = begin;
    to->end = end;
    *window = supply->latest = !supply->latest;
    return 0;
}

const uint8_t *row_supply_rows(const struct row_supply *supply, unsigned window, uint64_t row,
                               const uint8_t **values)
{
    const struct row_window *from = &supply->windows[window];
    const uint64_t at = row - from->begin;

    *values = supply->values != NULL ? from->values.data + at * supply->value_row_nbytes : NULL;
    return from->rows.data + at * supply->row_nbytes;
}

/* --- tables --- */

static size_t aligned_row_nbytes(const struct row_supply *supply)
{
    return (supply->row_nbytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

int row_supply_get(const struct row_supply *supply, uint64_t row, uint8_t *room,
                   const uint8_t **values, struct error *err)
{
    uint8_t *second = room + aligned_row_nbytes(supply);

    *values = supply->value_table != NULL ? second : NULL;
    if (row_table_read(supply->table, row, 1, room, err) != 0)
        return -1;
    return supply->value_table != NULL ? row_table_read(supply->value_table, row, 1, second, err)
                                       : 0;
}

size_t row_supply_room_nbytes(const struct row_supply *supply)
{
    return aligned_row_nbytes(supply) + supply->value_row_nbytes;
}

/* --- */

int row_supply_fail(const struct row_supply *supply, uint64_t row, const struct error *reason,
                    struct error *err)
{
    const struct array *array = supply->from.arrays[0];

    for (size_t i = 0; i < supply->from.n_arrays; i++) {
        array = supply->from.arrays[i];
        if (row < array->n_rows)
            break;
        row -= array->n_rows;
    }
    return array_fail_row(array, row, reason, err);
}

void row_supply_close(struct row_supply *supply)
{
    for (int i = 0; i < 2; i++) {
        bytes_release(&supply->windows[i].rows);
        bytes_release(&supply->windows[i].values);
    }
    rows_close(supply->rows);
    rows_close(supply->values);
    row_table_close(supply->table);
    row_table_close(supply->value_table);
    if (supply->memory_nbytes > 0)
        *supply->from.access.memory_left += supply->memory_nbytes;
    *supply = (struct row_supply){0};
}
