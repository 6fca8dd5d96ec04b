/*
 * row_supply.c - the input rows that a member is made from. In orders that stream, two windows
 * leapfrog over the input: while pieces are made from one, the next rows are read into the other,
 * and rows that both need are copied. Other orders, and Fortran arrays, have every row at hand.
 * Values beside padded indices go through a second reader in step with the first.
 */
#include "engine/pieces.h"

#include "engine/survey.h"

#define ROW_ALIGNMENT 16

int row_supply_open(struct row_supply *supply, const struct plan *plan,
                    const struct plan_array *array, bool streams, struct error *err)
{
    const bool has_values = array->spec.kind == SPEC_PADDED && array->values != NULL;

    streams = streams && reader_can_stream(array->sources, plan->n_archives) &&
              (!has_values || reader_can_stream(array->values, plan->n_archives));
    *supply = (struct row_supply){
        .is_open = true,
        .streams = streams,
        .has_values = has_values,
        .rows = {.arrays = array->sources,
                 .n_arrays = plan->n_archives,
                 .csr = array->csr,
                 .at_random = !streams},
        .values = {.arrays = array->values, .n_arrays = plan->n_archives, .at_random = !streams},
    };
    for (int i = 0; i < 2; i++) {
        supply->windows[i].reader = &supply->rows;
        supply->value_windows[i].reader = &supply->values;
    }
    if (reader_open(&supply->rows, plan->budget, err) == 0 &&
        (!has_values || reader_open(&supply->values, plan->budget, err) == 0))
        return 0;
    row_supply_close(supply);
    return -1;
}

int row_supply_load(struct row_supply *supply, uint64_t begin, uint64_t end, unsigned *window,
                    struct error *err)
{
    const unsigned from = supply->latest, to = !from;
    const uint64_t known = supply->windows[from].first + supply->windows[from].n;

    *window = 0;
    if (!supply->streams)
        return 0;
    if (end < known)
        end = known;
    if (batch_follow(&supply->windows[to], &supply->windows[from], begin, end - begin, err) != 0 ||
        (supply->has_values &&
         batch_follow(&supply->value_windows[to], &supply->value_windows[from], begin, end - begin,
                      err) != 0))
        return -1;
    if (supply->kept != NULL)
        stone_watch_see(supply->watch, supply->kept, &supply->windows[to]);
    *window = supply->latest = to;
    return 0;
}

static size_t aligned_row_nbytes(const struct row_supply *supply)
{
    return (supply->rows.unit_nbytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

int row_supply_get(struct row_supply *supply, unsigned window, uint64_t row, uint8_t *room,
                   const uint8_t *both[2], struct error *err)
{
    uint8_t *second = room + aligned_row_nbytes(supply);

    if (supply->streams) {
        const uint64_t at = row - supply->windows[window].first;

        both[0] = supply->windows[window].bytes.data + at * supply->rows.unit_nbytes;
        both[1] = supply->has_values
                      ? supply->value_windows[window].bytes.data + at * supply->values.unit_nbytes
                      : NULL;
        return 0;
    }
    both[0] = room;
    both[1] = supply->has_values ? second : NULL;
    if (reader_read(&supply->rows, row, 1, room, err) != 0)
        return -1;
    return supply->has_values ? reader_read(&supply->values, row, 1, second, err) : 0;
}

size_t row_supply_room_nbytes(const struct row_supply *supply)
{
    return aligned_row_nbytes(supply) + supply->values.unit_nbytes;
}

void row_supply_close(struct row_supply *supply)
{
    for (int i = 0; i < 2; i++) {
        batch_release(&supply->windows[i]);
        batch_release(&supply->value_windows[i]);
    }
    reader_close(&supply->rows);
    reader_close(&supply->values);
    *supply = (struct row_supply){0};
}
