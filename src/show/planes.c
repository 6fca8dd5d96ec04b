/* planes.c - see planes.h. */
#include "show/planes.h"

#include <stdlib.h>

static int64_t cell_of_grid(const struct board *board, uint64_t i)
{
    for (uint32_t cell = 0; cell < board->n_cells; cell++)
        if (board->family->grid_cells[cell] == i)
            return cell;
    return -1;
}

int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i)
{
    int64_t cell = (int64_t)i;

    if (binding->takeiteasy_grid)
        return cell_of_grid(board, i);
    if (binding->layout != NULL)
        cell = i < binding->layout->length(board) ? binding->layout->cell(board, i) : -1;
    else if (binding->plane_xy) /* column by column */
        cell = (int64_t)(i % board->rows * board->cols + i / board->rows);
    return cell < board->n_cells ? cell : -1;
}

void planes_position(const struct role_binding *binding, uint64_t e, uint64_t *plane, uint64_t *i)
{
    const struct role_axes *axes = &binding->axes;
    const uint64_t inner = axes->inner > 0 ? axes->inner : 1;
    const uint64_t axis = axes->axis > 0 ? axes->axis : 1;

    *i = e / inner % axis;
    *plane = axes->outer == 1 && inner > 1 ? e % inner : e / inner / axis;
}

static bool get_bit(const uint8_t *plane, uint64_t i, bool lsb_first)
{
    return plane[i / 8] >> (lsb_first ? i % 8 : 7 - i % 8) & 1;
}

static void read_bits(struct planes *planes, const struct board *board,
                      const struct role_binding *binding, const uint8_t *bytes)
{
    const uint64_t axis = binding->axes.axis, plane_nbytes = (axis + 7) / 8;

    for (uint64_t i = 0; i < axis; i++) {
        const int64_t cell = planes_cell_of(board, binding, i);

        for (uint64_t p = 0; p < planes->n && cell >= 0; p++)
            planes->numbers[p * planes->n_cells + (uint64_t)cell] =
                get_bit(bytes + p * plane_nbytes, i, binding->lsb_first);
    }
}

static void read_elements(struct planes *planes, const struct board *board,
                          const struct role_binding *binding, const struct field *field)
{
    for (uint64_t e = 0; e < field->n; e++) {
        uint64_t plane, i;

        planes_position(binding, e, &plane, &i);
        const int64_t cell = planes_cell_of(board, binding, i);

        if (cell >= 0 && plane < planes->n)
            planes->numbers[plane * planes->n_cells + (uint64_t)cell] = field_number(field, e);
    }
}

int planes_read(struct planes *planes, const struct plan *plan, const struct fields *fields,
                size_t i, struct error *err)
{
    const struct role_binding *binding = &plan->arrays[i].binding;
    const struct field *field = &fields->items[i];

    planes->n_cells = plan->board->n_cells;
    planes->n = binding->axes.outer == 1 && binding->axes.inner > 1 ? binding->axes.inner
                                                                    : binding->axes.outer;
    planes->numbers = calloc(planes->n * planes->n_cells + 1, sizeof *planes->numbers);
    if (planes->numbers == NULL)
        return error_no_memory(err, "planes");
    if (binding->role == ROLE_PACKED)
        read_bits(planes, plan->board, binding, field->bytes.data);
    else if (dtype_is_number(&field->dtype))
        read_elements(planes, plan->board, binding, field);
    return 0;
}

void planes_release(struct planes *planes)
{
    free(planes->numbers);
    *planes = (struct planes){0};
}
