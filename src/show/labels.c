/* labels.c - see labels.h. */
#include "show/labels.h"

#include "show/planes.h"
#include "show/stones.h"

#define MAX_NUMBERS 4 /* of a label that are shown */

const char *labels_side_name(const struct plan *plan, enum picture_side side)
{
    static const char *const names[][2] = {
        [STONES_BLUE_RED] = {"blue", "red"},
        [STONES_OWN_THEIRS] = {"own", "theirs"},
        [STONES_FIRST_PLANES] = {"plane 0", "plane 1"},
        [STONES_CHESS] = {"own", "theirs"},
    };

    return side < 2 ? names[stones_style_of(plan)][side] : "nobody";
}

const char *labels_pieces(const struct plan *plan)
{
    return stones_are_stacks(plan) ? "with a number: a stack of so many rings; small: a marker; "
                                     "a whole cell: territory"
                                   : NULL;
}

/* --- cells --- */

static int64_t cell_of_coordinates(const struct plan *plan, const struct role_binding *binding,
                                   const struct field *field)
{
    const uint32_t size = field->dtype.itemsize;

    if (field->n < 2 || plan->board->cols == 0 || !dtype_is_integer(&field->dtype))
        return -1;
    const int64_t a = dtype_get_int(&field->dtype, field->bytes.data);
    const int64_t b = dtype_get_int(&field->dtype, field->bytes.data + size);
    const int64_t row = binding->col_first ? b : a, col = binding->col_first ? a : b;

    if (row < 0 || col < 0 || row >= plan->board->rows || col >= plan->board->cols)
        return -1;
    return row * plan->board->cols + col;
}

int64_t labels_cell_of(const struct plan *plan, size_t i, const struct field *field)
{
    const struct role_binding *binding = &plan->arrays[i].binding;

    if (field->n == 0 || !dtype_is_number(&field->dtype))
        return -1;
    if (binding->role == ROLE_COORD)
        return cell_of_coordinates(plan, binding, field);
    if (binding->role == ROLE_ACTION && dtype_is_integer(&field->dtype)) {
        const int64_t action = dtype_get_int(&field->dtype, field->bytes.data);

        return action >= 0 ? planes_cell_of(plan->board, binding, (uint64_t)action) : -1;
    }
    return -1;
}

/* --- words --- */

static int append_numbers(const struct plan *plan, size_t i, const struct field *field,
                          struct text *line, struct error *err)
{
    const char *gap = line->n_bytes > 0 ? ", " : "";

    if (text_append(line, err, "%s%s", gap, text_path(plan->arrays[i].key).text) != 0)
        return -1;
    for (uint64_t k = 0; k < field->n && k < MAX_NUMBERS; k++)
        if (text_append(line, err, " %.3g", field_number(field, k)) != 0)
            return -1;
    return field->n > MAX_NUMBERS ? text_append(line, err, " ...") : 0;
}

static int append_label(const struct plan *plan, size_t i, const struct field *field,
                        struct text *line, struct error *err)
{
    switch (plan->arrays[i].binding.role) {
    case ROLE_TO_MOVE:
        if (board_swaps_colours(plan->board))
            return 0; /* in words, see below */
        return append_numbers(plan, i, field, line, err);
    case ROLE_VALUE:
    case ROLE_WDL:
    case ROLE_TILE:
        return append_numbers(plan, i, field, line, err);
    default:
        return 0;
    }
}

int labels_read(const struct plan *plan, const struct fields *fields, struct picture *picture,
                struct error *err)
{
    const enum picture_side to_move = stones_to_move(plan, fields);
    struct text line = {0};
    int status = 0;

    for (size_t i = 0; i < fields->n && status == 0; i++) {
        const struct field *field = &fields->items[i];
        const int64_t cell = labels_cell_of(plan, i, field);

        if (cell >= 0)
            picture->cells[cell].is_marked = true;
        if (field->n > 0 && dtype_is_number(&field->dtype))
            status = append_label(plan, i, field, &line, err);
    }
    if (status == 0 && to_move != SIDE_NONE)
        status = text_append(&line, err, "%s%s to move", line.n_bytes > 0 ? ", " : "",
                             labels_side_name(plan, to_move));
    if (status == 0 && line.n_bytes > 0)
        status = text_append(&picture->caption, err, "%s\n", line.text);
    text_release(&line);
    return status;
}
