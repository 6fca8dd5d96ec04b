/*
 * shape.c - where cells are drawn, and how a transform turns the drawing. Cells of a box are placed
 * by row and column, those of Take It Easy by their places in square planes. Where only neighbours
 * are known, a search looks for places on a grid of hexagons or squares at which exactly the
 * neighbours touch; if it fails, cells are drawn in rows.
 */
#include "show/show.h"

#define CELLS_IN_A_ROW 16
#define SAME           1e-6
#define EXACT          1e-12 /* rounding that removes noise */

/* --- places by neighbours --- */

#define MAX_CELLS 400 /* larger boards are drawn in rows */
#define MAX_TRIES 200000

/* Steps to a neighbour, in the order in which they are tried: a triangle numbered from its apex
 * stands on its base, a grid is numbered line by line. */
static const struct shape_place hexagon_steps[6] = {{1, -1}, {1, 1},   {0, 2},
                                                    {0, -2}, {-1, -1}, {-1, 1}};
static const struct shape_place square_steps[4] = {{0, 2}, {1, 0}, {0, -2}, {-1, 0}};

struct embedding {
    const struct board *board;
    const struct shape_place *steps;
    size_t n_steps;
    struct shape_place *places;
    uint8_t *adjacent; /* n x n */
    uint32_t *order;   /* the cells, breadth first from cell 0 */
    uint32_t n_tries;
};

/* Place the k-th cell next to a neighbour, such that of the cells before it exactly its neighbours
 * touch it, and then all cells after it. */
static bool search(struct embedding *e, uint32_t k)
{
    if (k == e->board->n_cells)
        return true;
    const uint8_t *adjacent = e->adjacent + (size_t)e->order[k] * e->board->n_cells;
    const uint32_t *parent = e->order;
    while (!adjacent[*parent])
        parent++;
    for (size_t s = 0; s < e->n_steps && e->n_tries++ < MAX_TRIES; s++) {
        const struct shape_place from = e->places[*parent], *step = &e->steps[s];
        const struct shape_place at = {from.line + step->line, from.half + step->half};
        bool fits = true;

        for (uint32_t i = 0; i < k && fits; i++) {
            const struct shape_place *other = &e->places[e->order[i]];
            const int32_t line = other->line - at.line, half = other->half - at.half;
            bool touches = false;

            for (size_t t = 0; t < e->n_steps; t++)
                touches |= line == e->steps[t].line && half == e->steps[t].half;
            fits = (line != 0 || half != 0) && touches == (adjacent[e->order[i]] != 0);
        }
        e->places[e->order[k]] = at;
        if (fits && search(e, k + 1))
            return true;
    }
    e->n_tries++;
    return false;
}

/* Find places for cells of which only the neighbours are known. False when there are none. */
static bool embed(const struct board *board, bool hexagons, struct shape_place *places)
{
    const uint32_t n = board->n_cells;
    uint32_t n_found = 1;
    struct embedding e = {
        .board = board,
        .steps = hexagons ? hexagon_steps : square_steps,
        .n_steps = hexagons ? 6 : 4,
        .places = places,
    };
    bool found = false;

    if (n == 0 || n > MAX_CELLS || board->n_edges == 0)
        return false;
    e.adjacent = calloc(n, n);
    e.order = calloc(n, sizeof *e.order);
    if (e.adjacent != NULL && e.order != NULL) {
        for (uint32_t i = 0; i < board->n_edges; i++) {
            e.adjacent[board->edges[i][0] * n + board->edges[i][1]] = 1;
            e.adjacent[board->edges[i][1] * n + board->edges[i][0]] = 1;
        }
        for (uint32_t k = 0; k < n_found; k++)
            for (uint32_t cell = 0; cell < n; cell++) {
                uint32_t i = 0;

                while (i < n_found && e.order[i] != cell)
                    i++;
                if (i == n_found && e.adjacent[e.order[k] * n + cell])
                    e.order[n_found++] = cell;
            }
        found = n_found == n && search(&e, 1);
    }
    free(e.adjacent);
    free(e.order);
    return found;
}

/* --- places --- */

/* Set the form, and the place of each cell. */
static void place_cells(struct shape *shape)
{
    const struct board *b = shape->board;
    const bool is_box = b->cols > 0;
    const uint32_t cols = is_box ? b->cols : CELLS_IN_A_ROW;
    bool is_other = false;    /* the box has edges that hexagons do not have */
    uint32_t n_down_left = 0; /* edges along the diagonal that they have */

    shape->form = SHAPE_HEXAGONS;
    for (uint32_t cell = 0; cell < b->n_cells && b->family->grid_side > 0; cell++) {
        const int32_t place = b->family->grid_cells[cell], side = (int32_t)b->family->grid_side;

        /* Columns of the plane are lines, every other one of them shifted by half a cell. */
        shape->places[cell] =
            (struct shape_place){place % side, 2 * (place / side) - place % side % 2};
    }
    if (b->family->grid_side > 0 || (!is_box && embed(b, true, shape->places)))
        return;
    for (uint32_t i = 0; is_box && i < b->n_edges; i++) {
        const int64_t from = b->edges[i][0], to = b->edges[i][1]; /* which is larger */
        const int64_t rows = to / cols - from / cols, columns = to % cols - from % cols;

        n_down_left += rows == 1 && columns == -1;
        is_other |= rows * rows + columns * columns != 1 && !(rows == 1 && columns == -1);
    }
    if (is_other || n_down_left == 0)
        shape->form = SHAPE_SQUARES;
    if (!is_box && embed(b, false, shape->places))
        return;
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        const int32_t row = (int32_t)(cell / cols), col = (int32_t)(cell % cols);
        struct shape_place *place = &shape->places[cell];

        /* A hexagon at (row, column) has neighbours in steps of (0,1), (1,0) and (1,-1). */
        *place = (struct shape_place){row, 2 * col + (shape->form == SHAPE_HEXAGONS ? row : 0)};
        if (!is_box) /* lines that do not touch: neighbours are not where they seem to be */
            place->line *= 2;
        else if (b->family->bottom_up)
            place->line = (int32_t)b->rows - 1 - row;
    }
}

/* --- measures --- */

size_t shape_corners(const struct shape *shape, struct shape_point corners[SHAPE_MAX_CORNERS])
{
    const double high = 0.5 / LINE_OF_HEXAGONS;
    const struct shape_point square[4] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    const struct shape_point hexagon[6] = {{0, -high}, {0.5, -high / 2}, {0.5, high / 2},
                                           {0, high},  {-0.5, high / 2}, {-0.5, -high / 2}};
    const bool is_square = shape->form == SHAPE_SQUARES;

    memcpy(corners, is_square ? square : hexagon, is_square ? sizeof square : sizeof hexagon);
    return is_square ? 4 : 6;
}

int shape_init(struct shape *shape, const struct board *board, struct error *err)
{
    *shape = (struct shape){.board = board};
    if (new_items(&shape->centres, board->n_cells, "places of cells", err) != 0 ||
        new_items(&shape->places, board->n_cells, "places of cells", err) != 0) {
        shape_release(shape);
        return -1;
    }
    place_cells(shape);

    const double line = shape->form == SHAPE_HEXAGONS ? LINE_OF_HEXAGONS : 1;
    const double high = shape->form == SHAPE_HEXAGONS ? 0.5 / LINE_OF_HEXAGONS : 0.5;
    struct shape_place least = {INT32_MAX, INT32_MAX}, most = {INT32_MIN, INT32_MIN};
    const struct shape_place *p = shape->places;

    /* Places are counted from the first line and column that hold a cell. */
    for (uint32_t i = 0; i < board->n_cells; i++)
        if (board->on_board[i]) {
            least.line = p[i].line < least.line ? p[i].line : least.line;
            least.half = p[i].half < least.half ? p[i].half : least.half;
            most.line = p[i].line > most.line ? p[i].line : most.line;
            most.half = p[i].half > most.half ? p[i].half : most.half;
        }
    shape->first = shape->second = UINT32_MAX;
    for (uint32_t i = 0; i < board->n_cells; i++) {
        shape->places[i].line -= least.line;
        shape->places[i].half -= least.half;
        shape->centres[i] = (struct shape_point){p[i].half / 2.0, p[i].line * line};
        if (!board->on_board[i] || p[i].line != 0)
            continue;
        if (shape->first == UINT32_MAX || p[i].half < p[shape->first].half)
            shape->first = i;
        if (shape->second == UINT32_MAX || p[i].half > p[shape->second].half)
            shape->second = i;
    }
    shape->n_lines = most.line - least.line + 1;
    shape->n_halves = most.half - least.half + 2;
    shape->least = (struct shape_point){-0.5, -high};
    shape->most =
        (struct shape_point){shape->n_halves / 2.0 - 0.5, (shape->n_lines - 1) * line + high};
    return 0;
}

void shape_release(struct shape *shape)
{
    free(shape->centres);
    free(shape->places);
    *shape = (struct shape){0};
}

/* --- turns --- */

/* An isometry is determined by where the vector between two cells goes and whether it mirrors: as a
 * complex number, the vector or its conjugate is multiplied by a number of length 1. A line of
 * cells that is reversed is mirrored rather than turned. */
bool shape_turn_of(const struct shape *shape, uint32_t t, struct shape_turn *turn)
{
    const struct board *board = shape->board;
    const struct shape_point *centres = shape->centres;
    const uint32_t *dst = board->transforms[t].dst, first = shape->first;
    const struct shape_point origin = centres[first], to = centres[dst[first]];
    uint32_t a = 0;

    while (a < board->n_cells && (!board->on_board[a] || a == first))
        a++;
    for (int mirrored = 0; mirrored < 2 && a < board->n_cells; mirrored++) {
        const double x = centres[a].x - origin.x, y = centres[a].y - origin.y;
        const double x2 = centres[dst[a]].x - to.x, y2 = centres[dst[a]].y - to.y;
        const double sign = mirrored ? -1 : 1, square = x * x + y * y;
        const double c = round((x * x2 + sign * y * y2) / square / EXACT) * EXACT;
        const double s = round((x * y2 - sign * y * x2) / square / EXACT) * EXACT;
        bool is_figure = fabs(c * c + s * s - 1) < SAME, is_line = true;

        *turn = (struct shape_turn){c, -sign * s, s, sign * c};
        for (uint32_t i = 0; i < board->n_cells && is_figure; i++) {
            const double px = centres[i].x - origin.x, py = centres[i].y - origin.y;

            if (!board->on_board[i])
                continue;
            is_line &= fabs(x * py - y * px) <= SAME;
            is_figure = fabs(turn->xx * px + turn->xy * py - (centres[dst[i]].x - to.x)) <= SAME &&
                        fabs(turn->yx * px + turn->yy * py - (centres[dst[i]].y - to.y)) <= SAME;
        }
        if (is_figure && (mirrored || !is_line || (x == x2 && y == y2)))
            return true;
    }
    *turn = (struct shape_turn){1, 0, 0, 1};
    return a == board->n_cells;
}
