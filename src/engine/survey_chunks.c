/*
 * survey_chunks.c - what the surveys share: the rows of an array a chunk at a time, elements of
 * planes in either axis order, counting what is not zero (by bits, since it is asked of every row),
 * and leaving the images of a row out.
 */
#include "engine/survey_chunks.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_NBYTES  (256u << 10)
#define LISTS_AT_ONCE 1024

const struct plan_array *survey_find(const struct plan *plan, enum role role)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == role && !plan->arrays[i].binding.is_winner &&
            !plan->arrays[i].is_object)
            return &plan->arrays[i];
    return NULL;
}

bool survey_has_numbers(const struct plan_array *array)
{
    return array != NULL && array->sources[0]->row_nbytes > 0 &&
           dtype_is_number(&array->sources[0]->header.dtype);
}

int survey_open(struct batch *batch, const struct plan *plan, const struct plan_array *array,
                struct error *err)
{
    batch->own =
        (struct reader){.arrays = array->sources, .n_arrays = plan->n_archives, .csr = array->csr};
    return batch_open(batch, plan->budget, err);
}

int survey_next(struct batch *batch, struct error *err)
{
    return batch_next(batch,
                      batch->own.csr != NULL ? LISTS_AT_ONCE
                                             : CHUNK_NBYTES / (batch->own.unit_nbytes + 1) + 1,
                      err);
}

double survey_plane_value(const struct plan_array *planes, const uint8_t *row, uint64_t plane,
                          uint64_t cell)
{
    const struct spec *spec = &planes->spec;
    const uint64_t at =
        spec->channels_last ? cell * spec->inner + plane : plane * spec->axis + cell;

    return dtype_get_double(&spec->dtype, row + at * spec->dtype.itemsize);
}

uint64_t survey_n_planes(const struct plan_array *planes)
{
    return planes->spec.channels_last ? planes->spec.inner : planes->spec.outer;
}

/* The bits of an element that make it non-zero: all but the sign of a float. */
static uint64_t value_bits(const struct dtype *dtype)
{
    const uint64_t all = ~UINT64_C(0) >> (64 - 8 * dtype->itemsize);

    return dtype->kind == DTYPE_FLOAT ? all >> 1 : all;
}

#define DEFINE_COUNT(bits)                                                                \
    static uint64_t count##bits(const uint8_t *elements, uint64_t n, uint##bits##_t mask) \
    {                                                                                     \
        uint64_t n_nonzero = 0;                                                           \
        uint##bits##_t element;                                                           \
                                                                                          \
        for (uint64_t i = 0; i < n; i++) {                                                \
            memcpy(&element, elements + i * sizeof element, sizeof element);              \
            n_nonzero += (element & mask) != 0;                                           \
        }                                                                                 \
        return n_nonzero;                                                                 \
    }

DEFINE_COUNT(8)
DEFINE_COUNT(16)
DEFINE_COUNT(32)
DEFINE_COUNT(64)

uint64_t survey_count_nonzero(const struct dtype *dtype, const uint8_t *elements, uint64_t n)
{
    uint8_t swapped[8];
    uint64_t mask = value_bits(dtype);

    if (dtype->big_endian) {
        bytes_put_uint(swapped, mask, dtype->itemsize, true);
        mask = bytes_get_uint(swapped, dtype->itemsize, false);
    }
    switch (dtype->itemsize) {
    case 1:
        return count8(elements, n, (uint8_t)mask);
    case 2:
        return count16(elements, n, (uint16_t)mask);
    case 4:
        return count32(elements, n, (uint32_t)mask);
    default:
        return count64(elements, n, mask);
    }
}

bool survey_all_zero(const struct dtype *dtype, const uint8_t *elements, uint64_t n)
{
    const uint64_t n_bytes = n * dtype->itemsize;
    uint64_t word = 0, at = 0;

    for (; at + sizeof word <= n_bytes && word == 0; at += sizeof word)
        memcpy(&word, elements + at, sizeof word);
    if (word == 0 && n_bytes - at < sizeof word)
        memcpy(&word, elements + at, n_bytes - at);
    return word == 0 || survey_count_nonzero(dtype, elements, n) == 0;
}

int survey_keep_identity(struct plan *plan, uint64_t row, struct error *err)
{
    if (plan->chosen[0] != 0)
        return error_set(err, ERROR_USAGE,
                         "--transforms: rows that keep only their identity image need transform 0");
    if (!plan->selected && selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) != 0)
        return -1;
    plan->selected = true;
    for (uint32_t k = 1; k < plan->n_chosen; k++)
        selection_clear(&plan->selection, row, k);
    return 0;
}
