/*
 * sheet.c - a contact sheet: a plan for one input, the row (or the stored images that belong to
 * it), its images, and a picture of each with pieces, labels and policy.
 */
#include "show/sheet.h"

#include "engine/plan.h"
#include "show/show.h"

#include <math.h>

/* --- text that is written --- */

void pen_html(struct pen *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    /* Once it has failed, arguments are not fetched any more: those after them would be others. */
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

            /* What is no UTF-8, or holds bytes that no page may hold, is quoted as in messages. */
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
        } else if (*kind == 'f') { /* pixels: tenths, without needless digits */
            const long tenths = lround(va_arg(args, double) * 10), part = labs(tenths) % 10;

            pen_put(p, part == 0 ? "%s%ld" : "%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10,
                    part);
        }
        format = kind + 1;
    }
    va_end(args);
}

/* --- a picture --- */

int picture_init(struct picture *picture, const struct board *board, uint32_t transform,
                 struct error *err)
{
    *picture = (struct picture){.transform = transform};
    for (int edge = 0; edge < N_EDGES; edge++)
        picture->edges[edge] = SIDE_NONE;
    picture->cells = calloc(board->n_cells, sizeof *picture->cells);
    if (picture->cells == NULL)
        return error_no_memory(err, "a picture");
    for (uint32_t i = 0; i < board->n_cells; i++)
        picture->cells[i].side = SIDE_NONE;
    return 0;
}

void picture_release(struct picture *picture)
{
    free(picture->cells);
    text_release(&picture->heading);
    text_release(&picture->caption);
    text_release(&picture->faults);
    *picture = (struct picture){0};
}

/* The first side joins top and bottom, which come from a row, unless the axes are exchanged. */
void picture_set_edges(struct picture *picture, const struct board *b)
{
    const struct board_transform *t = &b->transforms[picture->transform];
    const bool is_kept = (t->src[0] / b->cols == t->src[1] / b->cols) != t->swaps_colours;

    for (int edge = 0; edge < N_EDGES; edge++)
        picture->edges[edge] =
            (edge == EDGE_TOP || edge == EDGE_BOTTOM) == is_kept ? SIDE_FIRST : SIDE_SECOND;
}

/* Put on the picture what is to be seen of an image. One scale and one legend for all pictures. */
static int fill_picture(struct sheet *sheet, const struct fields *fields, struct picture *picture,
                        struct error *err)
{
    const struct board *board = sheet->plan.board;

    if (board->family->joins_edges)
        picture_set_edges(picture, board);
    if (stones_read(fields, picture, err) != 0 || labels_read(fields, picture, err) != 0 ||
        heat_read(fields, picture, err) != 0)
        return -1;
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];

        if (cell->share > sheet->most_share)
            sheet->most_share = cell->share;
        sheet->has_stones |= cell->piece == PICTURE_STONE;
        sheet->has_marks |= cell->is_marked;
        if (cell->side <= SIDE_BOTH)
            sheet->has_side[cell->side] = true;
    }
    sheet->has_policy |= picture->has_policy;
    return 0;
}

/* An image of the row rows[0], which is the image `from` of its source; stored (or NULL) is what is
 * held against it, and drawn. */
static int add_picture(struct sheet *sheet, const struct fields *rows, uint32_t from,
                       const struct stored_image *image, const struct fields *stored,
                       struct error *err)
{
    const struct board *board = sheet->plan.board;
    const uint32_t to = image->transform,
                   u = board->compose[board->inverse[from] * board->n_transforms + to];
    const struct board_transform *t = &board->transforms[to];
    struct picture *picture = &sheet->pictures[sheet->n_pictures++];
    struct pen heading = {.out = &picture->heading, .err = err};
    struct fields moved = {0};
    int status = picture_init(picture, board, to, err);

    pen_put(&heading, "%u %s%s", to, text_path(t->name).text,
            t->swaps_colours ? " (colours swapped)" : "");
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
    /* Rows of what is stored, or the one row; the first is the base of what is recomputed. */
    const struct stored_image own = {.row = request->row}, *images = request->stored;
    const bool is_stored = request->n_stored > 0;
    const size_t n_rows = is_stored ? request->n_stored : 1;
    struct fields *rows = calloc(n_rows, sizeof *rows);
    struct plan *plan = &sheet->plan;
    struct pen title = {.out = &sheet->title, .err = err};
    uint8_t wanted[BOARD_MAX_TRANSFORMS];
    int status = -1;

    *sheet = (struct sheet){.row = request->row, .is_stored = is_stored};
    if (rows == NULL)
        return error_no_memory(err, "rows");
    /* The transforms to draw are chosen; arrays are bound for all, since an image may be made from
     * any stored one. */
    plan->settings = request->settings;
    plan->conventions = request->settings->conventions;
    if (plan_open_inputs(plan, &request->path, 1, err) != 0 || plan_decide_board(plan, err) != 0 ||
        choose_transforms(plan, request->settings->transforms, err) != 0)
        goto out;
    const size_t n_wanted = plan->n_chosen;
    memcpy(wanted, plan->chosen, n_wanted);
    free(plan->chosen);
    plan->chosen = NULL;
    plan->n_chosen = 0;
    if (choose_transforms(plan, NULL, err) != 0 || plan_match_arrays(plan, err) != 0)
        goto out;
    if (request->row >= plan->n_rows) {
        error_set(err, ERROR_DATA, "%s: has no row %llu, found %llu rows (the first is 0)",
                  text_path(request->path).text, (unsigned long long)request->row,
                  (unsigned long long)plan->n_rows);
        goto out;
    }
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan_array_has_rows(&plan->arrays[i]) && bind_array(plan, &plan->arrays[i], err) != 0)
            goto out;
    if (fields_read(plan, is_stored ? images : &own, n_rows, rows, err) != 0 ||
        shape_init(&sheet->shape, plan->board, err) != 0)
        goto out;
    const size_t n_images = is_stored ? n_rows : n_wanted;
    sheet->pictures = calloc(n_images, sizeof *sheet->pictures);
    status = sheet->pictures != NULL ? 0 : error_no_memory(err, "pictures");
    for (size_t k = 0; k < n_images && status == 0; k++) {
        const struct stored_image image =
            is_stored ? images[k] : (struct stored_image){.transform = wanted[k]};

        if (memchr(wanted, (int)image.transform, n_wanted) != NULL)
            status = add_picture(sheet, rows, is_stored ? images[0].transform : 0, &image,
                                 is_stored ? &rows[k] : NULL, err);
    }
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
            text_path(plan->board->preset).text, (unsigned long long)sheet->row, n,
            n == 1 ? "" : "s", is_stored ? "as stored" : "computed");
    if (is_stored)
        pen_put(&title, "; %zu differ%s from what is computed", sheet->n_faulty,
                sheet->n_faulty == 1 ? "s" : "");
    pen_put(&title, "\n");
    status = title.failed ? -1 : status;
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
    for (size_t k = 0; k < sheet->n_pictures; k++)
        picture_release(&sheet->pictures[k]);
    free(sheet->pictures);
    shape_release(&sheet->shape);
    text_release(&sheet->title);
    plan_release(&sheet->plan);
    *sheet = (struct sheet){0};
}
