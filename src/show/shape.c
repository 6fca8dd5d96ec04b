/*
 * shape.c - where cells are drawn: in a box by row and column, in the lines that the family says,
 * or where only neighbours are known by a search for places on a grid of hexagons or squares at
 * which exactly the neighbours touch; else in rows. And how a transform turns the drawing.
 */
#include "show/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_IN_A_ROW 16
#define SAME           1e-6

/* --- places by neighbours --- */

#define MAX_CELLS 400    /* beyond, boards are drawn in rows */
#define MAX_STEPS 200000 /* tries before giving up */

/* Steps to a neighbour as (lines, half columns). What comes first is tried first: a triangle that
 * is numbered from its apex stands on its base, a grid is read as usual. */
static const struct shape_place hexagon_steps[6] = {{1, -1}, {1, 1},   {0, 2},
                                                    {0, -2}, {-1, -1}, {-1, 1}};
static const struct shape_place square_steps[4] = {{0, 2}, {1, 0}, {0, -2}, {-1, 0}};

struct embedding {
    const struct board *board;
    const struct shape_place *steps;
    size_t n_steps;
    struct shape_place *places;
    uint8_t *adjacent; /* n x n */
    uint32_t *order;   /* cells so that each has a neighbour before it */
    uint32_t *parent;  /* that neighbour */
    uint8_t *tried;    /* per position in the order: steps tried */
};

/* May the k-th cell stand where it does? Exactly its neighbours touch it. */
static bool fits(const struct embedding *e, uint32_t k)
{
    const uint32_t cell = e->order[k];
    const struct shape_place at = e->places[cell];

    for (uint32_t i = 0; i < k; i++) {
        const struct shape_place *other = &e->places[e->order[i]];
        const int32_t line = other->line - at.line, half = other->half - at.half;
        bool touches = false;

        for (size_t s = 0; s < e->n_steps; s++)
            touches |= line == e->steps[s].line && half == e->steps[s].half;
        if ((line == 0 && half == 0) ||
            touches != (e->adjacent[cell * e->board->n_cells + e->order[i]] != 0))
            return false;
    }
    return true;
}

/* Try steps from the parent until all cells are placed, going back where none fits. */
static bool search(struct embedding *e)
{
    uint32_t k = 1;

    e->places[0] = (struct shape_place){0, 0};
    for (uint32_t n_tries = 0; k > 0 && k < e->board->n_cells && n_tries < MAX_STEPS; n_tries++) {
        const struct shape_place from = e->places[e->parent[k]];

        if (e->tried[k] == e->n_steps) {
            e->tried[k--] = 0;
            continue;
        }
        const struct shape_place *step = &e->steps[e->tried[k]++];

        e->places[e->order[k]] =
            (struct shape_place){from.line + step->line, from.half + step->half};
        if (fits(e, k))
            k++;
    }
    return k == e->board->n_cells;
}

/* Places are (row, column) with hexagons shifted half a cell per row, as half columns. False when
 * none are found. */
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

    if (n > MAX_CELLS || board->n_edges == 0)
        return false;
    e.adjacent = calloc(n, n + 1);
    e.order = calloc(2 * n, sizeof *e.order);
    if (e.adjacent != NULL && e.order != NULL) {
        e.tried = e.adjacent + n * n;
        e.parent = e.order + n;
        for (uint32_t i = 0; i < board->n_edges; i++) {
            e.adjacent[board->edges[i][0] * n + board->edges[i][1]] = 1;
            e.adjacent[board->edges[i][1] * n + board->edges[i][0]] = 1;
        }
        /* Cells breadth first from cell 0. */
        for (uint32_t k = 0; k < n_found; k++)
            for (uint32_t cell = 0; cell < n; cell++) {
                uint32_t i = 0;

                while (i < n_found && e.order[i] != cell)
                    i++;
                if (i < n_found || !e.adjacent[e.order[k] * n + cell])
                    continue;
                e.parent[n_found] = e.order[k];
                e.order[n_found++] = cell;
            }
        found = n_found == n && search(&e);
    }
    free(e.adjacent);
    free(e.order);
    return found;
}

/* --- places --- */

/* Do the edges of a box run along one diagonal as well, and along the other nowhere? */
static bool has_hexagon_edges(const struct board *b)
{
    uint32_t n_down_left = 0;

    for (uint32_t i = 0; i < b->n_edges; i++) {
        const int64_t from = b->edges[i][0] < b->edges[i][1] ? b->edges[i][0] : b->edges[i][1];
        const int64_t to = b->edges[i][0] + b->edges[i][1] - from;
        const int64_t rows = to / b->cols - from / b->cols;
        const int64_t cols = to % b->cols - from % b->cols;

        if (rows == 1 && cols == -1)
            n_down_left++;
        else if (!(rows == 0 && cols == 1) && !(rows == 1 && cols == 0))
            return false;
    }
    return n_down_left > 0;
}

static void place_cells(struct shape *shape)
{
    const struct board *b = shape->board;
    const bool is_box = b->cols > 0;

    shape->form = SHAPE_HEXAGONS;
    if (b->family->drawn_lines != NULL) {
        const uint8_t *lengths = b->family->drawn_lines;
        int32_t longest = 0;
        uint32_t cell = 0;

        /* Lines of hexagons about one axis: the longest reaches the left margin. */
        for (uint32_t line = 0; lengths[line] != 0; line++)
            longest = lengths[line] > longest ? lengths[line] : longest;
        for (uint32_t line = 0; lengths[line] != 0; line++)
            for (int32_t i = 0; i < lengths[line]; i++)
                shape->places[cell++] =
                    (struct shape_place){(int32_t)line, longest - lengths[line] + 2 * i};
        return;
    }
    if (!is_box && embed(b, true, shape->places))
        return;
    if (!is_box || !has_hexagon_edges(b))
        shape->form = SHAPE_SQUARES;
    if (!is_box && embed(b, false, shape->places))
        return;
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        const uint32_t cols = is_box ? b->cols : CELLS_IN_A_ROW;
        const int32_t row = (int32_t)(cell / cols), col = (int32_t)(cell % cols);
        struct shape_place *place = &shape->places[cell];

        /* neighbours of hexagons as (row, column) are (0,1), (1,0) and (1,-1) */
        *place = (struct shape_place){row, 2 * col + (shape->form == SHAPE_HEXAGONS ? row : 0)};
        if (!is_box) /* nothing is known of where they are: an empty line between */
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
    shape->centres = calloc(board->n_cells, sizeof *shape->centres);
    shape->places = calloc(board->n_cells, sizeof *shape->places);
    if (shape->centres == NULL || shape->places == NULL) {
        shape_release(shape);
        return error_no_memory(err, "places of cells");
    }
    place_cells(shape);

    const bool is_hexagon = shape->form == SHAPE_HEXAGONS;
    const double line = is_hexagon ? LINE_OF_HEXAGONS : 1;
    const double high = is_hexagon ? 0.5 / LINE_OF_HEXAGONS : 0.5;
    struct shape_place least = {INT32_MAX, INT32_MAX}, most = {INT32_MIN, INT32_MIN};
    int32_t left = INT32_MAX, right = INT32_MIN;

    /* Places count from the first line and column that hold a cell. */
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct shape_place *p = &shape->places[i];

        if (!board->on_board[i])
            continue;
        least.line = p->line < least.line ? p->line : least.line;
        least.half = p->half < least.half ? p->half : least.half;
        most.line = p->line > most.line ? p->line : most.line;
        most.half = p->half > most.half ? p->half : most.half;
    }
    for (uint32_t i = 0; i < board->n_cells; i++) {
        struct shape_place *p = &shape->places[i];

        p->line -= least.line;
        p->half -= least.half;
        shape->centres[i] = (struct shape_point){p->half / 2.0, p->line * line};
        if (!board->on_board[i] || p->line != 0)
            continue;
        if (p->half < left) {
            left = p->half;
            shape->first = i;
        }
        if (p->half > right) {
            right = p->half;
            shape->second = i;
        }
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

static struct shape_point between(const struct shape *shape, uint32_t from, uint32_t to)
{
    const struct shape_point *a = &shape->centres[from], *b = &shape->centres[to];

    return (struct shape_point){b->x - a->x, b->y - a->y};
}

static double cross(struct shape_point a, struct shape_point b)
{
    return a.x * b.y - a.y * b.x;
}

/* Two more cells form a triangle with `first`, or all stand in one line, or there is but one. The
 * turn takes the triangle's sides, p and q, to p2 and q2. */
bool shape_turn_of(const struct shape *shape, uint32_t t, struct shape_turn *turn)
{
    static const struct shape_turn identity = {1, 0, 0, 1};
    const struct board *board = shape->board;
    const uint32_t *dst = board->transforms[t].dst, first = shape->first;
    struct shape_point p, q, p2, q2;
    uint32_t a = 0, b;
    bool is_figure;

    *turn = identity;
    while (a < board->n_cells && (!board->on_board[a] || a == first))
        a++;
    if (a == board->n_cells)
        return true;
    p = between(shape, first, a);
    p2 = between(shape, dst[first], dst[a]);
    for (b = a + 1; b < board->n_cells; b++)
        if (board->on_board[b] && fabs(cross(p, between(shape, first, b))) > SAME)
            break;
    q = q2 = (struct shape_point){-p.y, p.x}; /* a line that is turned round is a mirror image */
    if (b < board->n_cells) {
        q = between(shape, first, b);
        q2 = between(shape, dst[first], dst[b]);
    }
    const double det = cross(p, q);

    *turn = (struct shape_turn){
        .xx = (p2.x * q.y - q2.x * p.y) / det,
        .xy = (q2.x * p.x - p2.x * q.x) / det,
        .yx = (p2.y * q.y - q2.y * p.y) / det,
        .yy = (q2.y * p.x - p2.y * q.x) / det,
    };
    /* Lengths are kept, too: a sheared F would be no sign of anything. */
    is_figure = fabs(turn->xx * turn->xx + turn->yx * turn->yx - 1) < SAME &&
                fabs(turn->xx * turn->xy + turn->yx * turn->yy) < SAME;
    for (uint32_t i = 0; i < board->n_cells && is_figure; i++) {
        p = between(shape, first, i);
        p2 = between(shape, dst[first], dst[i]);
        is_figure = !board->on_board[i] || (fabs(turn->xx * p.x + turn->xy * p.y - p2.x) <= SAME &&
                                            fabs(turn->yx * p.x + turn->yy * p.y - p2.y) <= SAME);
    }
    if (!is_figure)
        *turn = identity;
    return is_figure;
}
