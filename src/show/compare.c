/* compare.c - see compare.h. */
#include "show/compare.h"

#include "show/labels.h"
#include "show/planes.h"

#include <math.h>
#include <string.h>

struct comparison {
    const struct plan *plan;
    struct picture *picture;
    const struct field *stored, *recomputed;
    size_t i;         /* the array */
    double tolerance; /* of numbers that a label computed; 0: bits count */
};

static double tolerance_of(const struct dtype *dtype)
{
    return dtype->kind != DTYPE_FLOAT ? 0
                                      : ldexp(1, dtype->itemsize == 2   ? -10
                                                 : dtype->itemsize == 4 ? -23
                                                                        : -52);
}

static bool same_element(const struct comparison *c, uint64_t e)
{
    const uint32_t size = c->stored->dtype.itemsize;
    const uint8_t *a = c->stored->bytes.data + e * size;
    const uint8_t *b = c->recomputed->bytes.data + e * size;

    if (memcmp(a, b, size) == 0)
        return true;
    return c->tolerance > 0 && fabs(dtype_get_double(&c->stored->dtype, a) -
                                    dtype_get_double(&c->stored->dtype, b)) <= c->tolerance;
}

static void mark(const struct comparison *c, int64_t cell)
{
    if (cell >= 0)
        c->picture->cells[cell].differs = true;
}

/* The action that stands at element e of a list of indices; UINT64_MAX for none. */
static uint64_t index_at(const struct field *field, uint64_t e)
{
    const int64_t index =
        e < field->n ? dtype_get_int(&field->dtype, field->bytes.data + e * field->dtype.itemsize)
                     : -1;

    return index >= 0 ? (uint64_t)index : UINT64_MAX;
}

/* --- kinds of arrays: each marks cells and says whether anything differs --- */

static bool compare_axis(const struct comparison *c)
{
    const struct role_binding *binding = &c->plan->arrays[c->i].binding;
    bool differs = false;

    for (uint64_t e = 0; e < c->stored->n; e++) {
        uint64_t plane, i;

        if (same_element(c, e))
            continue;
        differs = true;
        planes_position(binding, e, &plane, &i);
        mark(c, planes_cell_of(c->plan->board, binding, i));
    }
    return differs;
}

static bool compare_bits(const struct comparison *c)
{
    const struct role_binding *binding = &c->plan->arrays[c->i].binding;
    const uint64_t plane_nbytes = (binding->axes.axis + 7) / 8;
    bool differs = false;

    for (uint64_t byte = 0; byte < c->stored->bytes.n_bytes; byte++) {
        const unsigned bits = c->stored->bytes.data[byte] ^ c->recomputed->bytes.data[byte];

        for (unsigned bit = 0; bit < 8; bit++) {
            const uint64_t i = byte % plane_nbytes * 8 + (binding->lsb_first ? bit : 7 - bit);

            if ((bits >> bit & 1) == 0 || i >= binding->axes.axis)
                continue; /* padding bits are written as 0 */
            differs = true;
            mark(c, planes_cell_of(c->plan->board, binding, i));
        }
    }
    return differs;
}

static bool compare_indices(const struct comparison *c)
{
    const struct role_binding *binding = &c->plan->arrays[c->i].binding;
    const uint64_t n = c->stored->n > c->recomputed->n ? c->stored->n : c->recomputed->n;
    bool differs = false;

    for (uint64_t e = 0; e < n; e++) {
        const uint64_t a = index_at(c->stored, e), b = index_at(c->recomputed, e);

        if (a == b)
            continue;
        differs = true;
        mark(c, a != UINT64_MAX ? planes_cell_of(c->plan->board, binding, a) : -1);
        mark(c, b != UINT64_MAX ? planes_cell_of(c->plan->board, binding, b) : -1);
    }
    return differs;
}

static bool compare_elements(const struct comparison *c)
{
    bool differs = c->stored->n != c->recomputed->n;

    for (uint64_t e = 0; e < c->stored->n && !differs; e++)
        differs = !same_element(c, e);
    if (differs) {
        mark(c, labels_cell_of(c->plan, c->i, c->stored));
        mark(c, labels_cell_of(c->plan, c->i, c->recomputed));
    }
    return differs;
}

static bool compare_array(const struct comparison *c)
{
    if (c->stored->n != c->recomputed->n)
        return c->plan->arrays[c->i].binding.role == ROLE_POLICY_INDEX ? compare_indices(c)
                                                                       : compare_elements(c);
    switch (c->plan->arrays[c->i].binding.role) {
    case ROLE_PACKED:
        return compare_bits(c);
    case ROLE_PLANES:
    case ROLE_GRID:
    case ROLE_POLICY:
    case ROLE_MASK:
        return compare_axis(c);
    case ROLE_POLICY_INDEX:
        return dtype_is_integer(&c->stored->dtype) ? compare_indices(c) : compare_elements(c);
    default:
        return compare_elements(c);
    }
}

static bool is_provenance(const char *key)
{
    return strcmp(key, PLAN_SOURCE_KEY) == 0 || strcmp(key, PLAN_TRANSFORM_KEY) == 0;
}

int compare_rows(const struct plan *plan, const struct fields *stored,
                 const struct fields *recomputed, uint32_t u, struct picture *picture,
                 struct error *err)
{
    for (size_t i = 0; i < stored->n; i++) {
        struct comparison c = {plan, picture, &stored->items[i], &recomputed->items[i], i, 0};

        if (is_provenance(plan->arrays[i].key) || (c.stored->n == 0 && c.recomputed->n == 0))
            continue;
        if (plan->arrays[i].move.n_steps > u && plan->arrays[i].move.steps[u].label != LABEL_KEEP)
            c.tolerance = tolerance_of(&c.stored->dtype);
        if (compare_array(&c) && text_append(&picture->faults, err, "%s%s",
                                             picture->faults.n_bytes > 0 ? ", " : "differs: ",
                                             text_path(plan->arrays[i].key).text) != 0)
            return -1;
    }
    return 0;
}
