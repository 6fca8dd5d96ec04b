/*
 * show.h - a contact sheet: where the cells of a board are drawn, all images of one row as
 * pictures (data only) on one scale, and ways of drawing them.
 */
#pragma once

#include "base/text.h"
#include "engine/plan.h"

/* --- the shape of a board: squares, hexagons, or a row of cells --- */

/* Lengths are in distances between neighbours; x grows to the right, y downwards. The drawing of
 * every image of a position has the same shape: only what stands on the cells moves. */
enum shape_form { SHAPE_SQUARES, SHAPE_HEXAGONS };

#define SHAPE_MAX_CORNERS 6
#define LINE_OF_HEXAGONS  0.86602540378443865 /* between them: half the square root of 3 */

struct shape_point {
    double x, y;
};

/* A place in a text: half columns, so that lines of hexagons can be shifted by half a cell. */
struct shape_place {
    int32_t line, half;
};

struct shape {
    const struct board *board; /* borrowed */
    enum shape_form form;
    struct shape_point *centres;    /* owned, one per cell of the box */
    struct shape_place *places;     /* owned, from 0 on */
    struct shape_point least, most; /* the box around all cells that are drawn */
    int32_t n_lines, n_halves;
    uint32_t first, second; /* the ends of the top line: first is where the mark F stands */
};

/* Place the cells. The caller releases it. */
int shape_init(struct shape *shape, const struct board *board, struct error *err);
void shape_release(struct shape *shape);

/* The corners of a cell, measured from its centre, clockwise from the upper left one (hexagons:
 * from the top). Returns how many. */
size_t shape_corners(const struct shape *shape, struct shape_point corners[SHAPE_MAX_CORNERS]);

/* The linear part of a move of the plane: x' = xx * x + xy * y, y' = yx * x + yy * y. */
struct shape_turn {
    double xx, xy, yx, yy;
};

/* How transform t turns the drawing. False when its cells do not move like a figure in the plane
 * (boards from a file); then *turn is the identity. */
bool shape_turn_of(const struct shape *shape, uint32_t t, struct shape_turn *turn);

/* How many planes an array has, before or after its cells. */
static inline uint64_t planes_count(const struct role_binding *binding)
{
    return binding->axes.outer * (binding->axes.inner > 1 ? binding->axes.inner : 1);
}

/* The cell that element i along an array's axis stands for; -1 for none. Policies: the cell that
 * the action is about. */
int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i);

/* --- a picture: what is to be seen of one image --- */

enum picture_piece {
    PICTURE_EMPTY,
    PICTURE_STONE,     /* of a side; number: the height of a stack, 0 for a stone */
    PICTURE_MAN,       /* of a side; man: P N B R Q K */
    PICTURE_TILE,      /* number: three digits */
    PICTURE_NUMBER,    /* any other number */
    PICTURE_MARKER,    /* of a side: a small stone */
    PICTURE_TERRITORY, /* of a side: the whole cell */
};

/* Whose pieces. What a side is called is the sheet's business. */
enum picture_side { SIDE_FIRST, SIDE_SECOND, SIDE_BOTH, SIDE_NONE };

struct picture_cell {
    enum picture_piece piece;
    enum picture_side side;
    char man;
    int32_t number;
    double share;   /* of the policy, on this cell */
    bool is_top;    /* one of the largest shares: to be written */
    bool is_marked; /* a coordinate or an action of the row points here */
    bool differs;   /* stored and recomputed contents are not the same */
};

/* The sides of a board of Hex. */
enum picture_edge { EDGE_TOP, EDGE_RIGHT, EDGE_BOTTOM, EDGE_LEFT, N_EDGES };

struct picture {
    uint32_t transform;
    uint64_t row;                     /* where it is stored, if it is */
    struct picture_cell *cells;       /* owned, one per cell of the box */
    enum picture_side edges[N_EDGES]; /* SIDE_NONE on boards without goals */
    struct text heading; /* owned, as all three: "3 rotate-180", what is particular to it */
    struct text caption; /* lines that end in '\n': labels, policy */
    struct text faults;  /* what differs, one line without its end, or nothing */
};

int picture_init(struct picture *picture, const struct board *board, uint32_t transform,
                 struct error *err);
void picture_release(struct picture *picture);

/* Colours of a board of Hex's sides in this image: those of the source, moved and swapped. */
void picture_set_edges(struct picture *picture, const struct board *board);

/* --- the sheet --- */

struct sheet_request {
    const char *path;
    uint64_t row;
    const struct settings *settings;   /* borrowed: board, roles, conventions, transforms */
    const struct stored_image *stored; /* borrowed: the images of an expanded set that belong
                                          together, by transform; or NULL: images are computed */
    size_t n_stored;
};

struct sheet {
    struct plan plan;
    struct shape shape;
    bool is_stored;
    struct picture *pictures; /* owned */
    size_t n_pictures;
    size_t n_faulty;   /* pictures that differ from what is recomputed */
    double most_share; /* of any cell, in any picture */
    bool has_stones, has_marks, has_side[SIDE_BOTH + 1]; /* in any picture, for legends */
    const char *pieces; /* what else there is to say of the pieces, static, or NULL */
    struct text title;  /* owned: two lines */
};

/*
 * Read the row, make its images and what is to be seen of them. A row that is not there is
 * ERROR_DATA, saying how many there are. The caller releases the sheet.
 */
int sheet_build(struct sheet *sheet, const struct sheet_request *request, struct error *err);
void sheet_release(struct sheet *sheet);

/* --- text that is written --- */

/* Text that is appended to. That may fail for lack of memory: the error is kept in err, and nothing
 * is added from then on. */
struct pen {
    struct text *out;  /* borrowed */
    struct error *err; /* borrowed */
    bool failed;
};

/* Append printf-style, as it is. */
#define pen_put(p, ...) \
    ((p)->failed = (p)->failed || text_append((p)->out, (p)->err, __VA_ARGS__) != 0)

/* Append printf-style, as HTML: in texts nothing is markup (what no terminal shows is written as
 * \xNN), and %f are pixels, in tenths without needless digits. Knows %s %c %d %u %zu %llu, %f and
 * %g, with one digit after a point. */
void pen_html(struct pen *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- drawing --- */

/* A picture inside an HTML page. */
struct svg_place {
    const char *prefix; /* of all its ids, which begin with a letter */
    const char *name;   /* what its attribute data-picture says: letters and hyphens */
};

/* As an SVG document, or (place not NULL) as an element of a page, which is appended. The same
 * sheet gives the same bytes. */
int svg_write(const struct sheet *sheet, const struct svg_place *place, struct text *out,
              struct error *err);

/* A part, from 0 to 1, of the way between two colours: "#rrggbb". */
struct text_quoted svg_colour(const int from[3], const int to[3], double part);

/* As lines of text, several boards side by side. */
struct terminal_style {
    unsigned columns; /* of the terminal */
    bool unicode;     /* stones and chessmen as such; else letters */
    bool colours;     /* ECMA-48 sequences for 256 colours */
};

int terminal_write(const struct sheet *sheet, const struct terminal_style *style, struct text *out,
                   struct error *err);
