/* shape.c - see shape.h. */
#include "show/shape.h"

#include <math.h>
#include <stdlib.h>

#define LINE_OF_HEXAGONS 0.86602540378443865 /* half the square root of 3 */
#define CELLS_IN_A_ROW   16
#define SAME             1e-6

/* --- places --- */

/* Lines of hexagons about one axis: the longest reaches the left margin. */
static void place_lines(struct shape *shape)
{
    const uint8_t *lengths = shape->board->family->drawn_lines;
    int32_t longest = 0;
    uint32_t cell = 0;

    for (uint32_t line = 0; lengths[line] != 0; line++)
        longest = lengths[line] > longest ? lengths[line] : longest;
    for (uint32_t line = 0; lengths[line] != 0; line++)
        for (int32_t i = 0; i < lengths[line]; i++)
            shape->places[cell++] =
                (struct shape_place){(int32_t)line, longest - lengths[line] + 2 * i};
}

/* hexagons: neighbours as (row, column) are (0,1), (1,0) and (1,-1). */
static void place_box(struct shape *shape, bool hexagons, bool bottom_up)
{
    const struct board *b = shape->board;

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        const int32_t row = (int32_t)(cell / b->cols), col = (int32_t)(cell % b->cols);

        shape->places[cell].line = bottom_up ? (int32_t)b->rows - 1 - row : row;
        shape->places[cell].half = 2 * col + (hexagons ? row : 0);
    }
}

/* Nothing is known of where they are: in lines one after the other, an empty line between. */
static void place_in_rows(struct shape *shape)
{
    for (uint32_t cell = 0; cell < shape->board->n_cells; cell++)
        shape->places[cell] = (struct shape_place){(int32_t)(cell / CELLS_IN_A_ROW * 2),
                                                   (int32_t)(cell % CELLS_IN_A_ROW * 2)};
}

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

    shape->form = SHAPE_SQUARES;
    if (b->family->drawn_lines != NULL) {
        shape->form = SHAPE_HEXAGONS;
        place_lines(shape);
    } else if (b->cols > 0) {
        if (has_hexagon_edges(b))
            shape->form = SHAPE_HEXAGONS;
        place_box(shape, shape->form == SHAPE_HEXAGONS, b->family->bottom_up);
    } else if (shape_embed(b, true, shape->places)) {
        shape->form = SHAPE_HEXAGONS;
    } else if (!shape_embed(b, false, shape->places)) {
        place_in_rows(shape);
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
    const size_t n = is_square ? 4 : 6;

    for (size_t i = 0; i < n; i++)
        corners[i] = is_square ? square[i] : hexagon[i];
    return n;
}

/* Places count from the first line and column that hold a cell. */
static void set_origin(struct shape *shape)
{
    const struct board *b = shape->board;
    struct shape_place least = {INT32_MAX, INT32_MAX}, most = {INT32_MIN, INT32_MIN};

    for (uint32_t i = 0; i < b->n_cells; i++) {
        const struct shape_place *p = &shape->places[i];

        if (!b->on_board[i])
            continue;
        least.line = p->line < least.line ? p->line : least.line;
        least.half = p->half < least.half ? p->half : least.half;
        most.line = p->line > most.line ? p->line : most.line;
        most.half = p->half > most.half ? p->half : most.half;
    }
    for (uint32_t i = 0; i < b->n_cells; i++) {
        shape->places[i].line -= least.line;
        shape->places[i].half -= least.half;
    }
    shape->n_lines = most.line - least.line + 1;
    shape->n_halves = most.half - least.half + 2;
}

static void set_centres(struct shape *shape)
{
    const double line = shape->form == SHAPE_HEXAGONS ? LINE_OF_HEXAGONS : 1;
    const double high = shape->form == SHAPE_HEXAGONS ? 0.5 / LINE_OF_HEXAGONS : 0.5;

    for (uint32_t i = 0; i < shape->board->n_cells; i++) {
        shape->centres[i].x = shape->places[i].half / 2.0;
        shape->centres[i].y = shape->places[i].line * line;
    }
    shape->least = (struct shape_point){-0.5, -high};
    shape->most =
        (struct shape_point){shape->n_halves / 2.0 - 0.5, (shape->n_lines - 1) * line + high};
}

static void find_ends(struct shape *shape)
{
    const struct board *b = shape->board;
    bool found = false;

    for (uint32_t i = 0; i < b->n_cells; i++) {
        if (!b->on_board[i] || shape->places[i].line != 0)
            continue;
        if (!found || shape->places[i].half < shape->places[shape->first].half)
            shape->first = i;
        if (!found || shape->places[i].half > shape->places[shape->second].half)
            shape->second = i;
        found = true;
    }
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
    set_origin(shape);
    set_centres(shape);
    find_ends(shape);
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

/* Two more cells that form a triangle with `first`; b is n_cells when all stand in one line, a when
 * there is but one. */
static void find_triangle(const struct shape *shape, uint32_t *a, uint32_t *b)
{
    const struct board *board = shape->board;

    for (*a = 0; *a < board->n_cells; ++*a)
        if (board->on_board[*a] && *a != shape->first)
            break;
    for (*b = *a + 1; *b < board->n_cells; ++*b)
        if (board->on_board[*b] &&
            fabs(cross(between(shape, shape->first, *a), between(shape, shape->first, *b))) > SAME)
            return;
    *b = board->n_cells;
}

/* The turn that takes p to p2 and q to q2. */
static struct shape_turn solve(struct shape_point p, struct shape_point q, struct shape_point p2,
                               struct shape_point q2)
{
    const double det = cross(p, q);

    return (struct shape_turn){
        .xx = (p2.x * q.y - q2.x * p.y) / det,
        .xy = (q2.x * p.x - p2.x * q.x) / det,
        .yx = (p2.y * q.y - q2.y * p.y) / det,
        .yy = (q2.y * p.x - p2.y * q.x) / det,
    };
}

static bool moves_all(const struct shape *shape, const uint32_t *dst, const struct shape_turn *turn)
{
    for (uint32_t i = 0; i < shape->board->n_cells; i++) {
        const struct shape_point p = between(shape, shape->first, i);
        const struct shape_point found = between(shape, dst[shape->first], dst[i]);

        if (shape->board->on_board[i] && (fabs(turn->xx * p.x + turn->xy * p.y - found.x) > SAME ||
                                          fabs(turn->yx * p.x + turn->yy * p.y - found.y) > SAME))
            return false;
    }
    return true;
}

bool shape_turn_of(const struct shape *shape, uint32_t t, struct shape_turn *turn)
{
    static const struct shape_turn identity = {1, 0, 0, 1};
    const uint32_t *dst = shape->board->transforms[t].dst;
    struct shape_point p, q, p2, q2;
    uint32_t a, b;

    *turn = identity;
    find_triangle(shape, &a, &b);
    if (a == shape->board->n_cells)
        return true;
    p = between(shape, shape->first, a);
    p2 = between(shape, dst[shape->first], dst[a]);
    if (b < shape->board->n_cells) {
        q = between(shape, shape->first, b);
        q2 = between(shape, dst[shape->first], dst[b]);
    } else { /* a line that is turned round is a mirror image */
        q = q2 = (struct shape_point){-p.y, p.x};
    }
    *turn = solve(p, q, p2, q2);
    /* Lengths are kept, too: a sheared F would be no sign of anything. */
    if (moves_all(shape, dst, turn) && fabs(turn->xx * turn->xx + turn->yx * turn->yx - 1) < SAME &&
        fabs(turn->xx * turn->xy + turn->yx * turn->yy) < SAME)
        return true;
    *turn = identity;
    return false;
}
