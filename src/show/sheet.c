/*
 * sheet.c - a contact sheet: a plan for one input, the row (or the stored images that belong to
 * it), its images, and a picture of each with pieces, labels and policy.
 */
#include "show/sheet.h"

#include "engine/bind.h"
#include "engine/plan.h"
#include "engine/plan_inputs.h"
#include "show/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a picture --- */

struct picture_share picture_share_text(double share)
{
    struct picture_share text;

    snprintf(text.text, sizeof text.text, share > 0 && share < 0.0995 ? "%.1f%%" : "%.0f%%",
             100 * share);
    return text;
}

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
    text_release(&picture->caption);
    text_release(&picture->faults);
    *picture = (struct picture){0};
}

/* The second cell of a side: it lies on no other one, unless the side has no more than two. */
static uint32_t cell_of_edge(const struct board *b, int edge)
{
    const uint32_t last = b->cols - 1;
    const uint32_t cells[N_EDGES] = {1, 2 * b->cols - 1, last * b->cols + 1, b->cols};

    return cells[edge];
}

static bool is_on_edge(const struct board *b, uint32_t cell, int edge)
{
    const uint32_t row = cell / b->cols, col = cell % b->cols;
    const bool on[N_EDGES] = {row == 0, col == b->cols - 1, row == b->rows - 1, col == 0};

    return on[edge];
}

/* The side of the board that two neighbouring cells are both on; the cells that an edge came
 * from. */
static int edge_of(const struct board *b, uint32_t one, uint32_t other)
{
    for (int edge = 0; edge < N_EDGES; edge++)
        if (is_on_edge(b, one, edge) && is_on_edge(b, other, edge))
            return edge;
    return -1;
}

/* A neighbour along the same side. */
static uint32_t along_edge(const struct board *b, uint32_t cell, int edge)
{
    return edge == EDGE_TOP || edge == EDGE_BOTTOM ? cell - 1 : cell - b->cols;
}

void picture_set_edges(struct picture *picture, const struct board *board)
{
    const struct board_transform *t = &board->transforms[picture->transform];

    for (int edge = 0; edge < N_EDGES; edge++) {
        const uint32_t cell = cell_of_edge(board, edge);
        const int from = edge_of(board, t->src[cell], t->src[along_edge(board, cell, edge)]);
        /* The first side joins top and bottom. */
        const bool is_first = (from == EDGE_TOP || from == EDGE_BOTTOM) != t->swaps_colours;

        picture->edges[edge] = from < 0 ? SIDE_NONE : is_first ? SIDE_FIRST : SIDE_SECOND;
    }
}

/* --- the plan --- */

/* What a sheet is made from. */
struct making {
    struct sheet *sheet;
    const struct sheet_request *request;
    uint8_t *wanted; /* owned: ids of the transforms to draw */
    uint32_t n_wanted;
    struct fields *rows; /* owned: as stored; the first one is the base of what is recomputed */
    size_t n_rows;
};

static int bind_arrays(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const enum role role = plan->arrays[i].binding.role;

        if (role != ROLE_META && role != ROLE_DROP && bind_array(plan, &plan->arrays[i], err) != 0)
            return -1;
    }
    return 0;
}

/* The transforms to draw are chosen; arrays are bound for all, since an image may be made from any
 * stored one. */
static int choose(struct making *m, struct plan *plan, struct error *err)
{
    const char *text = m->request->settings->transforms;

    if (choose_transforms(plan, text, err) != 0)
        return -1;
    m->n_wanted = plan->n_chosen;
    m->wanted = malloc(plan->n_chosen);
    if (m->wanted == NULL)
        return error_no_memory(err, "transforms");
    memcpy(m->wanted, plan->chosen, plan->n_chosen);
    if (text == NULL)
        return 0;
    free(plan->chosen);
    plan->chosen = NULL;
    plan->n_chosen = 0;
    return choose_transforms(plan, NULL, err);
}

static int open_plan(struct making *m, struct error *err)
{
    struct plan *plan = &m->sheet->plan;
    const struct settings *reading = m->request->settings;

    plan->conventions = reading->conventions;
    plan->budget = reading->budget;
    if (plan_open_inputs(plan, &m->request->path, 1, reading, err) != 0 ||
        plan_decide_board(plan, reading, NULL, err) != 0 || choose(m, plan, err) != 0 ||
        plan_match_arrays(plan, reading, err) != 0)
        return -1;
    if (m->request->row >= plan->n_rows)
        return error_set(err, ERROR_DATA, "%s: has no row %llu, found %llu rows (the first is 0)",
                         text_path(m->request->path).text, (unsigned long long)m->request->row,
                         (unsigned long long)plan->n_rows);
    return bind_arrays(plan, err);
}

/* --- rows --- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Rows are read in ascending order and then put into that of the transforms. */
static int read_stored(struct making *m, struct error *err)
{
    const size_t n = m->request->n_stored;
    struct fields *sorted = calloc(n, sizeof *sorted);
    uint64_t *rows = calloc(n, sizeof *rows);
    int status = sorted != NULL && rows != NULL ? 0 : error_no_memory(err, "rows");

    for (size_t k = 0; k < n && status == 0; k++)
        rows[k] = m->request->stored[k].row;
    if (status == 0) {
        qsort(rows, n, sizeof *rows, compare_numbers);
        status = fields_read(&m->sheet->plan, rows, n, sorted, err);
        for (size_t k = 0; k < n; k++) {
            const uint64_t *at =
                bsearch(&m->request->stored[k].row, rows, n, sizeof *rows, compare_numbers);

            if (at != NULL)
                m->rows[k] = sorted[at - rows];
        }
    }
    free(sorted);
    free(rows);
    return status;
}

static int read_all(struct making *m, struct error *err)
{
    m->n_rows = m->request->n_stored > 0 ? m->request->n_stored : 1;
    m->rows = calloc(m->n_rows, sizeof *m->rows);
    if (m->rows == NULL)
        return error_no_memory(err, "rows");
    if (m->request->n_stored > 0)
        return read_stored(m, err);
    return fields_read(&m->sheet->plan, &m->request->row, 1, m->rows, err);
}

/* --- pictures --- */

static int fill_picture(const struct plan *plan, const struct fields *fields,
                        struct picture *picture, struct error *err)
{
    if (plan->board->family->joins_edges)
        picture_set_edges(picture, plan->board);
    if (stones_read(plan, fields, picture, err) != 0 ||
        labels_read(plan, fields, picture, err) != 0)
        return -1;
    return heat_read(plan, fields, picture, err);
}

static struct picture *add_picture(struct sheet *sheet, uint32_t transform, struct error *err)
{
    struct picture *picture = &sheet->pictures[sheet->n_pictures];

    if (picture_init(picture, sheet->plan.board, transform, err) != 0)
        return NULL;
    sheet->n_pictures++;
    return picture;
}

/* One scale and one legend for all pictures. */
static void note_picture(struct sheet *sheet, const struct picture *picture)
{
    for (uint32_t i = 0; i < sheet->plan.board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];

        if (cell->share > sheet->most_share)
            sheet->most_share = cell->share;
        sheet->has_stones |= cell->piece == PICTURE_STONE;
        sheet->has_marks |= cell->is_marked;
        if (cell->side <= SIDE_BOTH)
            sheet->has_side[cell->side] = true;
    }
    sheet->has_policy |= picture->has_policy;
}

static int add_computed(struct making *m, uint32_t t, struct error *err)
{
    const struct plan *plan = &m->sheet->plan;
    struct picture *picture = add_picture(m->sheet, t, err);
    struct fields image = {0};
    int status = picture != NULL ? fields_move(plan, m->rows, t, &image, err) : -1;

    if (status == 0)
        status = fill_picture(plan, &image, picture, err);
    if (status == 0)
        note_picture(m->sheet, picture);
    fields_release(&image);
    return status;
}

/* The k-th stored image, held against what the first one becomes. */
static int add_stored(struct making *m, size_t k, struct error *err)
{
    const struct plan *plan = &m->sheet->plan;
    const struct board *board = plan->board;
    const uint32_t from = m->request->stored[0].transform, to = m->request->stored[k].transform;
    const uint32_t u = board->compose[board->inverse[from] * board->n_transforms + to];
    struct picture *picture = add_picture(m->sheet, to, err);
    struct fields image = {0};
    int status = picture != NULL ? fill_picture(plan, &m->rows[k], picture, err) : -1;

    if (status == 0) {
        note_picture(m->sheet, picture);
        picture->row = m->request->stored[k].row;
        status = fields_move(plan, m->rows, u, &image, err);
    }
    if (status == 0)
        status = compare_rows(plan, &m->rows[k], &image, u, picture, err);
    if (status == 0 && picture->faults.n_bytes > 0)
        m->sheet->n_faulty++;
    fields_release(&image);
    return status;
}

static bool is_wanted(const struct making *m, uint32_t t)
{
    return memchr(m->wanted, (int)t, m->n_wanted) != NULL;
}

static int add_pictures(struct making *m, struct error *err)
{
    struct sheet *sheet = m->sheet;
    const size_t n = m->request->n_stored > 0 ? m->request->n_stored : m->n_wanted;

    sheet->pictures = calloc(n, sizeof *sheet->pictures);
    if (sheet->pictures == NULL)
        return error_no_memory(err, "pictures");
    for (size_t k = 0; k < n; k++) {
        if (m->request->n_stored == 0 && add_computed(m, m->wanted[k], err) != 0)
            return -1;
        if (m->request->n_stored > 0 && is_wanted(m, m->request->stored[k].transform) &&
            add_stored(m, k, err) != 0)
            return -1;
    }
    if (sheet->n_pictures == 0)
        return error_set(err, ERROR_DATA, "%s: row %llu: none of the chosen images is stored",
                         text_path(m->request->path).text, (unsigned long long)m->request->row);
    return 0;
}

/* --- the whole --- */

static int set_title(struct sheet *sheet, const char *path, struct error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    const struct board *board = sheet->plan.board;
    const size_t n = sheet->n_pictures;
    const char *plural = n == 1 ? "" : "s";

    if (text_append(&sheet->title, err, "%s, board %s, row %llu\n", text_path(name).text,
                    text_path(board->preset).text, (unsigned long long)sheet->row) != 0)
        return -1;
    if (!sheet->is_stored)
        return text_append(&sheet->title, err, "%zu image%s, computed\n", n, plural);
    return text_append(&sheet->title, err,
                       "%zu image%s, as stored; %zu differ%s from what is computed\n", n, plural,
                       sheet->n_faulty, sheet->n_faulty == 1 ? "s" : "");
}

static int build(struct making *m, struct error *err)
{
    struct sheet *sheet = m->sheet;

    if (open_plan(m, err) != 0 || read_all(m, err) != 0 ||
        shape_init(&sheet->shape, sheet->plan.board, err) != 0 || add_pictures(m, err) != 0)
        return -1;
    return set_title(sheet, m->request->path, err);
}

int sheet_build(struct sheet *sheet, const struct sheet_request *request, struct error *err)
{
    struct making m = {.sheet = sheet, .request = request};
    int status;

    *sheet = (struct sheet){.row = request->row, .is_stored = request->n_stored > 0};
    status = build(&m, err);
    for (size_t k = 0; m.rows != NULL && k < m.n_rows; k++)
        fields_release(&m.rows[k]);
    free(m.rows);
    free(m.wanted);
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

int sheet_heading(const struct sheet *sheet, const struct picture *picture, struct text *heading,
                  struct error *err)
{
    const struct board_transform *t = &sheet->plan.board->transforms[picture->transform];

    if (text_append(heading, err, "%u %s%s", picture->transform, text_path(t->name).text,
                    t->swaps_colours ? " (colours swapped)" : "") != 0)
        return -1;
    return sheet->is_stored
               ? text_append(heading, err, ", row %llu", (unsigned long long)picture->row)
               : 0;
}
