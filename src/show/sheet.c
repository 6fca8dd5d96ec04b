/*
 * sheet.c - a contact sheet: a plan for one input, the row (or the stored images of one source) as
 * numbers, its images, and a picture of each with pieces, labels and policy. Objects and CSR rows
 * become lists of numbers. Where a stored image is not what is computed, the cells on which any
 * array differs are marked.
 */
#include "show/parts.h"

#include "engine/kernel.h"

/* --- writing text --- */

void pen_html(struct pen *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    /* Stop at a failure: pen_put then fetches no argument, and the next one would get it. */
    for (size_t n = strcspn(format, "%"); *format != '\0' && !p->failed; n = strcspn(format, "%")) {
        pen_put(p, "%.*s", (int)n, format);
        format += n;
        if (*format == '\0')
            break;

        const char *kind = format + 1 + strspn(format + 1, ".0123456789lz");
        const int digits = format[1] == '.' ? format[2] - '0' : -1;

        if (*kind == 's') {
            const char *c = va_arg(args, const char *);
            bool is_plain = text_is_utf8(c, strlen(c));
            struct text_quoted quoted;

            /* What is not UTF-8, or holds control characters, is quoted as in messages. */
            for (const char *byte = c; *byte != '\0' && is_plain; byte++)
                is_plain = (unsigned char)*byte >= 0x20 && *byte != 0x7f;
            if (!is_plain) {
                quoted = text_path(c);
                c = quoted.text;
            }
            for (size_t length; *c != '\0'; c += length) {
                length = strcspn(c, "&<>\"'");
                pen_put(p, "%.*s", (int)length, c);
                if (c[length] != '\0')
                    pen_put(p, "&#%d;", c[length++]);
            }
        } else if (*kind == 'c' || *kind == 'd') {
            pen_put(p, *kind == 'c' ? "%c" : "%d", va_arg(args, int));
        } else if (*kind == 'u') {
            pen_put(p, "%llu",
                    kind[-1] == 'l'   ? va_arg(args, unsigned long long)
                    : kind[-1] == 'z' ? va_arg(args, size_t)
                                      : va_arg(args, unsigned));
        } else if (*kind == 'g' || digits >= 0) {
            pen_put(p, *kind == 'g' ? "%.*g" : "%.*f", digits, va_arg(args, double));
        } else if (*kind == 'f') {
            pen_put(p, "%.15g", (double)lround(va_arg(args, double) * 10) / 10);
        }
        format = kind + 1;
    }
    va_end(args);
}

/* --- rows --- */

static int init(struct fields *fields, const struct plan *plan, struct error *err)
{
    fields->plan = plan;
    return new_items(&fields->items, plan->n_arrays + 1, "a row", err);
}

/* Read n rows of the plan's input into n zeroed fields. The caller releases each of them, also on
 * failure. */
static int fields_read(const struct plan *plan, const struct image *rows, size_t n,
                       struct fields *fields, struct error *err)
{
    size_t *order = calloc(n + 1, sizeof *order); /* by ascending row */
    int status = order != NULL ? 0 : error_no_memory(err, "rows");

    for (size_t k = 0; k < n && status == 0; k++) {
        size_t at = k;

        for (; at > 0 && rows[order[at - 1]].row > rows[k].row; at--)
            order[at] = order[at - 1];
        order[at] = k;
        status = init(&fields[k], plan, err);
    }
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        const bool is_index = role == ROLE_POLICY_INDEX || role == ROLE_ACTION;
        /* Deflated arrays are read once, up to the last row that is wanted. */
        const bool is_random = !array->is_object && array->sources[0]->decoder == NULL;
        struct batch batch = {.own = {.arrays = array->sources,
                                      .n_arrays = 1,
                                      .csr = array->csr,
                                      .at_random = is_random}};

        if (role == ROLE_META || role == ROLE_DROP || role == ROLE_POLICY_OFFSETS)
            continue;
        status = batch_open(&batch, plan->settings->budget, err);
        for (size_t k = 0; k < n && status == 0; k++) {
            struct field *field = &fields[order[k]].items[i];

            if ((status = batch_read(&batch, rows[order[k]].row, 1, err)) != 0)
                break;
            const struct row row = batch_row(&batch, 0);

            if (!array->is_object) {
                field->dtype = *row.dtype;
                field->n = row.n;
                status = bytes_append(&field->bytes, row.bytes, row.n * row.dtype->itemsize, err);
                continue;
            }
            field->dtype =
                (struct dtype){.kind = is_index ? DTYPE_INT : DTYPE_FLOAT, .itemsize = 8};
            for (uint64_t e = 0; e < row.n && status == 0; e++) {
                const int kind = row.items != NULL ? row.items[e].kind : PICKLE_FLOAT;
                const double number = row_double(&row, e);
                const int64_t integer = is_index ? row_int(&row, e) : 0;

                if (kind != PICKLE_INT && kind != PICKLE_BOOL && kind != PICKLE_FLOAT)
                    continue; /* no number: left out */
                field->n++;
                status = bytes_append(&field->bytes, is_index ? (const void *)&integer : &number, 8,
                                      err);
            }
        }
        batch_release(&batch);
    }
    free(order);
    return status;
}

/* The image of a row under transform t. The caller releases it, also on failure. */
static int fields_move(const struct fields *from, uint32_t t, struct fields *to, struct error *err)
{
    const struct plan *plan = from->plan;

    if (init(to, plan, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct role_binding *binding = &array->binding;
        const struct field *field = &from->items[i];
        struct field *out = &to->items[i];
        struct error reason = {0};
        const void *values = NULL;
        int status = 0;

        out->dtype = field->dtype;
        out->n = field->n;
        if (field->bytes.n_bytes == 0)
            continue;
        if (bytes_append(&out->bytes, field->bytes.data, field->bytes.n_bytes, err) != 0)
            return -1;
        if (binding->value_array >= 0 && array->spec.kind == SPEC_PADDED)
            values = from->items[binding->value_array].bytes.data;
        if (!array->is_object && binding->sparse != SPARSE_CSR)
            status =
                kernel_row(&array->spec, t, field->bytes.data, values, out->bytes.data, &reason);
        else if (array->spec.kind == SPEC_INDICES)
            status = kernel_indices(&array->spec, t, &field->dtype, field->bytes.data,
                                    out->bytes.data, field->n, &reason);
        if (status != 0)
            return plan_refuse(plan, array, err, "%s", reason.message);
    }
    return 0;
}

static void fields_release(struct fields *fields)
{
    for (size_t i = 0; fields->items != NULL && i < fields->plan->n_arrays; i++)
        bytes_release(&fields->items[i].bytes);
    free(fields->items);
    *fields = (struct fields){0};
}

/* By how much two elements differ; infinite if one is NaN. */
static double difference(const struct field *a, const struct field *b, uint64_t e)
{
    const double d = fabs(field_number(a, e) - field_number(b, e));

    return isnan(d) ? INFINITY : d;
}

/*
 * Name the arrays that differ in the picture's faults, and mark the cells on which they do: those
 * of indices in a list, of elements or bits along an axis, else of the coordinate or action.
 * Policies may differ a little everywhere: cells are marked where the difference is at least a
 * tenth of the largest. u is the transform by which the row was recomputed: numbers computed for a
 * colour swap may differ in their last bit.
 */
static int fields_compare(const struct fields *stored, const struct fields *recomputed, uint32_t u,
                          struct picture *picture, struct error *err)
{
    const struct fields *const both[] = {stored, recomputed};
    const struct plan *plan = stored->plan;

    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct role_binding *binding = &array->binding;
        const struct field *a = &stored->items[i], *b = &recomputed->items[i];
        const struct planes_form form = planes_form_of(binding, &a->dtype);
        const uint32_t size = a->dtype.itemsize;
        const bool is_list =
            binding->role == ROLE_POLICY_INDEX && (a->n != b->n || dtype_is_integer(&a->dtype));
        const bool is_bits = !is_list && a->n == b->n && array->spec.kind == SPEC_BITS;
        const bool is_axis = !is_list && a->n == b->n && array->spec.kind == SPEC_AXIS;
        const bool is_dense =
            is_axis && (binding->role == ROLE_POLICY || binding->role == ROLE_ACTION_VALUES);
        uint64_t n = a->n > b->n ? a->n : b->n;
        double most = 0, tolerance = 0; /* 0: bits must be equal */
        bool differs = false;

        if (n == 0 || strcmp(array->key, PLAN_SOURCE_KEY) == 0 ||
            strcmp(array->key, PLAN_TRANSFORM_KEY) == 0)
            continue;
        if (is_bits)
            n = a->bytes.n_bytes / ((form.axis + 7) / 8) * form.axis;
        if (array->spec.n_steps > u && array->spec.steps[u].label != LABEL_KEEP &&
            a->dtype.kind == DTYPE_FLOAT)
            tolerance = ldexp(1, size == 2 ? -10 : size == 4 ? -23 : -52);
        for (uint64_t e = 0; is_dense && e < n; e++)
            most = fmax(most, difference(a, b, e));
        for (uint64_t e = 0; e < n; e++) {
            int64_t at[2] = {-1, -1}; /* index on the axis, or none */
            bool is_same;

            if (is_list && e < a->n)
                at[0] = field_integer(a, e);
            if (is_list && e < b->n)
                at[1] = field_integer(b, e);
            if (is_bits || is_axis)
                at[0] = at[1] = (int64_t)(e / (is_bits ? 1 : form.n_last) % form.axis);
            if (is_list)
                is_same = at[0] == at[1] || (at[0] < 0 && at[1] < 0);
            else if (is_bits) /* without the padding, which is written as 0 */
                is_same = planes_number(&form, a->bytes.data, e / form.axis, e % form.axis) ==
                          planes_number(&form, b->bytes.data, e / form.axis, e % form.axis);
            else
                is_same = e < a->n && e < b->n &&
                          (memcmp(a->bytes.data + e * size, b->bytes.data + e * size, size) == 0 ||
                           (tolerance != 0 && difference(a, b, e) <= tolerance));
            differs |= !is_same;
            for (int k = 0; k < 2 && !is_same && (!is_dense || difference(a, b, e) >= most / 10);
                 k++) {
                int64_t cell = -1;

                if (at[k] >= 0)
                    cell = planes_cell_of(plan->board, binding, (uint64_t)at[k]);
                else if (!is_list)
                    cell = labels_cell_of(both[k], i);
                if (cell >= 0)
                    picture->cells[cell].differs = true;
            }
        }
        if (differs && text_append(&picture->faults, err, "%s%s",
                                   picture->faults.n_bytes > 0 ? ", " : "differs: ",
                                   text_path(array->key).text) != 0)
            return -1;
    }
    return 0;
}

/* --- a picture --- */

/* The first side joins top and bottom, unless the transform exchanges the axes, or the colours. */
enum picture_side picture_edge_side(const struct board *b, uint32_t transform,
                                    enum picture_edge edge)
{
    const struct board_transform *t = &b->transforms[transform];
    const bool is_kept = (t->src[0] / b->cols == t->src[1] / b->cols) != t->swaps_colours;

    return (edge == EDGE_TOP || edge == EDGE_BOTTOM) == is_kept ? SIDE_FIRST : SIDE_SECOND;
}

/* Fill a picture from an image, and add to the sheet what its scale and legend depend on. */
static int fill_picture(struct sheet *sheet, const struct fields *fields, struct picture *picture,
                        struct error *err)
{
    const struct board *board = sheet->plan.board;

    stones_read(fields, picture);
    if (labels_read(fields, picture, err) != 0 || heat_read(fields, picture, err) != 0)
        return -1;
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];

        if (cell->share > sheet->most_share)
            sheet->most_share = cell->share;
        sheet->has_stones |= cell->piece == PICTURE_STONE;
        sheet->has_numbers |= cell->piece == PICTURE_NUMBER;
        sheet->has_marks |= cell->is_marked;
        sheet->has_side[cell->side] = true;
    }
    return 0;
}

/* Add a picture of an image computed from rows[0], which is the image `from` of its source. If
 * `stored` is not NULL, draw that instead and mark the differences. */
static int add_picture(struct sheet *sheet, const struct fields *rows, uint32_t from,
                       const struct image *image, const struct fields *stored, struct error *err)
{
    const struct board *board = sheet->plan.board;
    const uint32_t to = image->transform, u = spec_between(board, from, to);
    const struct board_transform *t = &board->transforms[to];
    struct picture *picture = &sheet->pictures[sheet->n_pictures++];
    struct pen heading = {.out = &picture->heading, .err = err};
    struct fields moved = {0};
    int status = new_items(&picture->cells, board->n_cells, "a picture", err);

    pen_put(&heading, "%u %s%s", to, text_path(t->name).text,
            t->swaps_colours ? " (colours swapped)" : "");
    picture->transform = to;
    picture->row = image->row;
    if (stored != NULL)
        pen_put(&heading, ", row %llu", (unsigned long long)image->row);
    if (status == 0 && stored != NULL)
        status = fill_picture(sheet, stored, picture, err);
    if (status == 0)
        status = fields_move(rows, u, &moved, err);
    if (status == 0)
        status = stored != NULL ? fields_compare(stored, &moved, u, picture, err)
                                : fill_picture(sheet, &moved, picture, err);
    sheet->n_faulty += picture->faults.n_bytes > 0;
    fields_release(&moved);
    return heading.failed ? -1 : status;
}

int sheet_build(struct sheet *sheet, const struct sheet_request *request, struct error *err)
{
    /* The rows of the stored images, or the one row; images are computed from the first. */
    const struct image own = {.row = request->row}, *images = request->stored;
    const bool is_stored = request->n_stored > 0;
    const size_t n_rows = is_stored ? request->n_stored : 1;
    struct fields *rows = calloc(n_rows, sizeof *rows);
    struct plan *plan = &sheet->plan;
    struct pen title = {.out = &sheet->title, .err = err};
    struct settings settings = *request->settings;
    int status = -1;

    *sheet = (struct sheet){.is_stored = is_stored};
    if (rows == NULL)
        return error_no_memory(err, "rows");
    /* Arrays are bound for all transforms, not only those to draw: an image may be computed from
     * any stored one. */
    settings.transforms = NULL;
    settings.purpose = FOR_PICTURES;
    if (plan_build(plan, &request->path, 1, &settings, err) != 0)
        goto out;
    plan->settings = request->settings;
    struct plan chosen = {.board = plan->board, .conventions = plan->conventions};
    if (choose_transforms(&chosen, request->settings->transforms, err) != 0)
        goto out;
    const size_t n_wanted = chosen.n_chosen;
    if (request->row >= plan->n_rows) {
        error_set(err, ERROR_DATA, "%s: has no row %llu, found %llu rows (the first is 0)",
                  text_path(request->path).text, (unsigned long long)request->row,
                  (unsigned long long)plan->n_rows);
        goto out;
    }
    if (fields_read(plan, is_stored ? images : &own, n_rows, rows, err) != 0 ||
        shape_init(&sheet->shape, plan->board, err) != 0)
        goto out;
    const size_t n_images = is_stored ? n_rows : n_wanted;
    status = new_items(&sheet->pictures, n_images, "pictures", err);
    for (size_t k = 0; k < n_images && status == 0; k++) {
        const struct image image =
            is_stored ? images[k] : (struct image){.transform = chosen.chosen[k]};

        if (memchr(chosen.chosen, (int)image.transform, n_wanted) != NULL)
            status = add_picture(sheet, rows, is_stored ? images[0].transform : 0, &image,
                                 is_stored ? &rows[k] : NULL, err);
    }
    sheet->sides = sides_of(plan);
    if (stones_are_stacks(plan))
        sheet->pieces = "with a number: a stack of so many rings; small: a marker; a whole cell: "
                        "territory";
    const size_t n = sheet->n_pictures;
    if (status == 0 && n == 0)
        status = error_set(err, ERROR_DATA, "%s: row %llu: none of the chosen images is stored",
                           text_path(request->path).text, (unsigned long long)request->row);
    const char *slash = strrchr(request->path, '/');
    pen_put(&title, "%s, board %s, row %llu\n%zu image%s, %s",
            text_path(slash != NULL && slash[1] != '\0' ? slash + 1 : request->path).text,
            text_path(plan->board->preset).text, (unsigned long long)request->row, n,
            n == 1 ? "" : "s", is_stored ? "as stored" : "computed");
    if (is_stored)
        pen_put(&title, "; %zu differ%s from what is computed", sheet->n_faulty,
                sheet->n_faulty == 1 ? "s" : "");
    pen_put(&title, "\n");
    status = title.failed ? -1 : status;
    plan->settings = NULL; /* they need not outlive the sheet */
out:
    for (size_t k = 0; k < n_rows; k++)
        fields_release(&rows[k]);
    free(rows);
    if (status != 0)
        sheet_release(sheet);
    return status;
}

void sheet_release(struct sheet *sheet)
{
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        free(sheet->pictures[k].cells);
        text_release(&sheet->pictures[k].heading);
        text_release(&sheet->pictures[k].caption);
        text_release(&sheet->pictures[k].faults);
    }
    free(sheet->pictures);
    shape_release(&sheet->shape);
    text_release(&sheet->title);
    plan_release(&sheet->plan);
    *sheet = (struct sheet){0};
}
