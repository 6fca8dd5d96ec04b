/* svg_frame.c - see svg_parts.h: what surrounds the cells of one picture: goals, the mark. */
#include "show/svg_parts.h"

#include <math.h>
#include <stdio.h>

#define LEAST_MARK    16   /* pixels */
#define MARK_DISTANCE 1.12 /* from the corner cell's centre, away from the board's */

/* --- the goals of Hex --- */

/* The corners of a side's cells that face outwards, in turn; the obtuse corners of the board are
 * shared by two sides, which meet in the middle of an edge there. */
struct goal {
    int corners[3];
    int shared[2]; /* the edge in whose middle the side ends */
    bool ends;     /* there at its last cell; else it begins there, at its first one */
};

static const struct goal goals[N_EDGES] = {
    [EDGE_TOP] = {{5, 0, 1}, {0, 1}, true},
    [EDGE_RIGHT] = {{0, 1, 2}, {0, 1}, false},
    [EDGE_BOTTOM] = {{4, 3, 2}, {4, 3}, false},
    [EDGE_LEFT] = {{5, 4, 3}, {4, 3}, true},
};

static void put_point(struct canvas *c, bool *begun, struct shape_point at, struct shape_point by)
{
    svg_put(c, "%c%s %s", *begun ? 'L' : 'M', svg_px((at.x + by.x) * c->unit).text,
            svg_px((at.y + by.y) * c->unit).text);
    *begun = true;
}

static void put_goal(struct canvas *c, int edge)
{
    const struct goal *goal = &goals[edge];
    const struct shape *shape = &c->sheet->shape;
    const uint32_t n = shape->board->cols;
    const uint32_t first[N_EDGES] = {0, n - 1, n * (n - 1), 0};
    const uint32_t step = edge == EDGE_TOP || edge == EDGE_BOTTOM ? 1 : n;
    struct shape_point corners[SHAPE_MAX_CORNERS];
    bool begun = false;

    shape_corners(shape, corners);
    const struct shape_point *a = &corners[goal->shared[0]], *b = &corners[goal->shared[1]];
    const struct shape_point middle = {(a->x + b->x) / 2, (a->y + b->y) / 2};

    for (uint32_t i = 0; i < n; i++) {
        const struct shape_point at = shape->centres[first[edge] + i * step];
        const bool begins = !goal->ends && i == 0, ends = goal->ends && i == n - 1;

        if (begins)
            put_point(c, &begun, at, middle);
        for (int k = begins ? 1 : 0; k < (ends ? 2 : 3); k++)
            put_point(c, &begun, at, corners[goal->corners[k]]);
        if (ends)
            put_point(c, &begun, at, middle);
    }
}

void svg_put_edges(struct canvas *c, const struct picture *picture)
{
    for (int edge = 0; edge < N_EDGES; edge++) {
        if (picture->edges[edge] == SIDE_NONE)
            continue;
        svg_put(c, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
                svg_ink_of(c, picture->edges[edge]).fill, svg_px(0.5 * c->unit).text);
        put_goal(c, edge);
        svg_put(c, "\"/>\n");
    }
}

/* --- the mark --- */

void svg_put_f(struct canvas *c, double x, double y, const struct shape_turn *turn, bool is_sure)
{
    const double unit = fmax(c->unit, LEAST_MARK);

    svg_put(c,
            "<path fill=\"%s\" transform=\"matrix(%.4f %.4f %.4f %.4f %s %s)\" "
            "d=\"M-.27-.42H.27V-.24H-.07V-.07H.17V.1H-.07V.42H-.27z\"/>\n",
            is_sure ? "#7b2cbf" : "#c8b3dd", turn->xx * unit + 0.0, turn->yx * unit + 0.0,
            turn->xy * unit + 0.0, turn->yy * unit + 0.0, svg_px(x).text, svg_px(y).text);
}

/* From the middle of the drawing to the source's corner, as far as the mark is away from it. */
static struct shape_point outwards(const struct shape *shape)
{
    const struct shape_point *corner = &shape->centres[shape->first];
    const double x = corner->x - (shape->least.x + shape->most.x) / 2;
    const double y = corner->y - (shape->least.y + shape->most.y) / 2;
    const double length = sqrt(x * x + y * y);

    if (length < 1e-9)
        return (struct shape_point){0, -MARK_DISTANCE};
    return (struct shape_point){x / length * MARK_DISTANCE, y / length * MARK_DISTANCE};
}

void svg_put_mark(struct canvas *c, const struct picture *picture)
{
    const struct shape *shape = &c->sheet->shape;
    const struct board_transform *t = &shape->board->transforms[picture->transform];
    const struct shape_point *at = &shape->centres[t->dst[shape->first]];
    struct shape_point by = outwards(shape);
    struct shape_turn turn;
    const bool is_sure = shape_turn_of(shape, picture->transform, &turn);

    if (is_sure)
        by = (struct shape_point){turn.xx * by.x + turn.xy * by.y, turn.yx * by.x + turn.yy * by.y};
    else
        by = (struct shape_point){0, -MARK_DISTANCE};
    svg_put_f(c, (at->x + by.x) * c->unit, (at->y + by.y) * c->unit, &turn, is_sure);
}
