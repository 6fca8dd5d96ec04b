/*
 * survey_places.c - moves and coordinates that name a place off the board.
 *
 * A hexagon stands in a box whose corners are no cells. What points there has no image and stays,
 * which is told: it may as well be stored in another order than the planes.
 */
#include "base/text.h"
#include "engine/survey.h"
#include "engine/survey_chunks.h"

struct places {
    const struct plan *plan;
    const struct plan_array *array;
    const struct action_space *space; /* NULL: coordinates */
    uint64_t n, first;                /* rows with such a place */
};

static bool is_off_board(const struct places *p, const uint8_t *element)
{
    const struct board *board = p->plan->board;
    const struct dtype *dtype = &p->array->spec.dtype;
    const int64_t first = dtype_get_int(dtype, element);
    int64_t second, row, col;

    if (p->space != NULL)
        return first >= 0 && (uint64_t)first < p->space->length &&
               !(p->space->flags[first] & ACTION_ENCODABLE);
    second = dtype_get_int(dtype, element + dtype->itemsize);
    row = p->array->spec.col_first ? second : first;
    col = p->array->spec.col_first ? first : second;
    return row >= 0 && row < board->rows && col >= 0 && col < board->cols &&
           !board->on_board[row * board->cols + col];
}

static void look_at_row(struct places *p, const uint8_t *row, uint64_t number)
{
    const struct spec *spec = &p->array->spec;
    const uint64_t item = spec->dtype.itemsize;
    const uint64_t step = item * (p->space == NULL || spec->pairs ? 2 : 1);

    for (uint64_t at = 0; at + step <= spec->row_nbytes; at += step)
        if (is_off_board(p, row + at) &&
            !(spec->pairs && dtype_get_int(&spec->dtype, row + at + item) == 0)) {
            if (p->n++ == 0)
                p->first = number;
            return;
        }
}

static int look_at(struct plan *plan, const struct plan_array *array, struct error *err)
{
    struct places p = {.plan = plan, .array = array};
    struct batch rows = {0};
    int status;

    if (array->binding.role == ROLE_ACTION &&
        (p.space = spec_space(&plan->maker, &array->binding, err)) == NULL)
        return -1;
    status = survey_open(&rows, plan, array, err);
    while (status == 0 && (status = survey_next(&rows, err)) == 0 && rows.n > 0)
        for (uint64_t i = 0; i < rows.n; i++)
            look_at_row(&p, batch_row(&rows, i).bytes, rows.first + i);
    batch_release(&rows);
    if (status != 0 || p.n == 0)
        return status;
    return plan_warn(plan, err,
                     "%s: %llu rows name a place that is not on the board and stays where it is, "
                     "first row %llu",
                     text_path(array->key).text, (unsigned long long)p.n,
                     (unsigned long long)p.first);
}

int survey_places(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;

        if ((role == ROLE_ACTION || (role == ROLE_COORD && plan->board->rows > 0)) &&
            !array->is_object && survey_has_numbers(array) && look_at(plan, array, err) != 0)
            return -1;
    }
    return 0;
}
