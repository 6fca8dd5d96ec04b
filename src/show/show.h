/*
 * show.h - a contact sheet: where the cells of a board are drawn, the images of one row as pictures
 * (data only) on a common scale, and two ways to draw them.
 */
#pragma once

#include "engine/plan.h"
#include "engine/turn.h"

/* --- the shape of a board: squares, hexagons, or a row of cells --- */

/* The unit of length is the distance between neighbours; x grows to the right, y downwards. All
 * images of a position share one shape: only what stands on the cells moves. */
enum shape_form { SHAPE_SQUARES, SHAPE_HEXAGONS };

#define SHAPE_MAX_CORNERS 6
#define LINE_OF_HEXAGONS  0.86602540378443865 /* distance of lines: half the square root of 3 */

struct shape_point {
    double x, y;
};

/* A place in a text, in half columns, since lines of hexagons are shifted by half a cell. */
struct shape_place {
    int32_t line, half;
};

struct shape {
    const struct board *board; /* borrowed */
    enum shape_form form;
    struct shape_point *centres;    /* owned, one per cell of the box */
    struct shape_place *places;     /* owned, one per cell of the box, counted from 0 */
    struct shape_point least, most; /* the bounds of all cells that are drawn */
    int32_t n_lines, n_halves;
    uint32_t first, second; /* the ends of the top line; the mark F stands at the first */
};

/* Place the cells. The caller releases the shape. */
int shape_init(struct shape *shape, const struct board *board, struct error *err);
void shape_release(struct shape *shape);

/* The corners of a cell, relative to its centre, clockwise from the upper left (hexagons: from the
 * top). Returns their number. */
size_t shape_corners(const struct shape *shape, struct shape_point corners[SHAPE_MAX_CORNERS]);

/* The linear part of an isometry of the plane: x' = xx * x + xy * y, y' = yx * x + yy * y. */
struct shape_turn {
    double xx, xy, yx, yy;
};

/* How transform t turns or mirrors the drawing. False when it does not move the cells like a rigid
 * figure (boards from a file); then *turn is the identity. */
bool shape_turn_of(const struct shape *shape, uint32_t t, struct shape_turn *turn);

/* planes_decide, but also for men, packed planes and OpenSpiel's: n planes from form->stones[0] on
 * are the first player's, or the mover's, n from stones[1] on the other's. Returns n; 0: plane
 * stones[0] holds both, told apart by their signs. Some may be beyond the last plane. */
uint64_t planes_of_players(const struct board *board, const struct conventions *conventions,
                           struct planes_form *form);

/* The cell of element i along an array's axis, of a policy the cell that action i is about; or -1.
 */
int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i);

/* --- a picture: what one image shows --- */

enum picture_piece {
    PICTURE_EMPTY,
    PICTURE_STONE,     /* of a side; number: the height of a stack, 0 for a stone */
    PICTURE_MAN,       /* of a side; man: P N B R Q K */
    PICTURE_TILE,      /* number: of three digits */
    PICTURE_NUMBER,    /* any other number */
    PICTURE_MARKER,    /* of a side: a small stone */
    PICTURE_TERRITORY, /* of a side: fills the cell */
};

/* Whose pieces: a bit for each player. */
enum picture_side { SIDE_NONE, SIDE_FIRST, SIDE_SECOND, SIDE_BOTH };

/* The colours of a side's pieces, and of text on them. */
struct ink {
    const char *fill, *stroke, *text;
};

struct sides {
    const char *names[SIDE_BOTH + 1]; /* "nobody", "blue", "red", what both at once are */
    const struct ink *inks[SIDE_BOTH + 1];
    bool are_coloured; /* blue and red, not dark and light */
};

struct picture_cell {
    enum picture_piece piece;
    enum picture_side side;
    char man;
    int32_t number;
    double share;   /* of the policy */
    bool is_top;    /* one of the largest shares, which are written out */
    bool is_marked; /* a coordinate or an action of the row points here */
    bool differs;   /* what is stored is not what is computed */
};

/* The edges of a Hex board. */
enum picture_edge { EDGE_TOP, EDGE_RIGHT, EDGE_BOTTOM, EDGE_LEFT, N_EDGES };

struct picture {
    uint32_t transform;
    uint64_t row;               /* where the image is stored, if it is */
    struct picture_cell *cells; /* owned, one per cell of the box */
    struct text heading;        /* owned, like the next two: "3 rotate-180, row 5" */
    struct text caption;        /* labels and policy, lines that end in '\n' */
    struct text faults;         /* which arrays differ, one line without '\n', or empty */
};

/* Who joins an edge of a Hex board: edges are moved and swapped like the image. */
enum picture_side picture_edge_side(const struct board *board, uint32_t transform,
                                    enum picture_edge edge);

/* --- the sheet --- */

struct sheet_request {
    const char *path;
    uint64_t row;
    const struct settings *settings; /* borrowed: board, roles, conventions, transforms */
    const struct image *stored;      /* borrowed: the images of one source in an expanded set, by
                                               transform; or NULL: images are computed */
    size_t n_stored;
};

struct sheet {
    struct plan plan;
    struct shape shape;
    const struct sides *sides; /* static */
    bool is_stored;
    struct picture *pictures; /* owned */
    size_t n_pictures;
    size_t n_faulty;   /* pictures that differ from what is computed */
    double most_share; /* of any cell in any picture */
    bool has_stones, has_numbers, has_marks, has_side[SIDE_BOTH + 1]; /* in any picture */
    const char *pieces; /* for the legend: further pieces, static, or NULL */
    struct text title;  /* owned: two lines */
};

/*
 * Read the row, make its images and a picture of each. A row that does not exist is ERROR_DATA. The
 * caller releases a sheet that was built.
 */
int sheet_build(struct sheet *sheet, const struct sheet_request *request, struct error *err);
void sheet_release(struct sheet *sheet);

/* --- writing text --- */

/* A text to append to. When memory runs out, err is set and everything further is ignored. */
struct pen {
    struct text *out;  /* borrowed */
    struct error *err; /* borrowed */
    bool failed;
};

/* Append printf-style, without escapes. */
#define pen_put(p, ...) \
    ((p)->failed = (p)->failed || text_append((p)->out, (p)->err, __VA_ARGS__) != 0)

/* Append printf-style, as HTML: %s is escaped (unprintable bytes become \xNN), and %f is rounded to
 * tenths without trailing zeros. Knows %s %c %d %u %zu %llu, and %f and %g with a one-digit
 * precision. */
void pen_html(struct pen *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- drawing --- */

/* An SVG element inside an HTML page. */
struct svg_place {
    const char *prefix; /* of all its ids; begins with a letter */
    const char *name;   /* of its attribute data-picture: letters and hyphens */
};

/* Append the sheet as an SVG document, or (place not NULL) as an element of a page. The same sheet
 * gives the same bytes. */
int svg_write(const struct sheet *sheet, const struct svg_place *place, struct text *out,
              struct error *err);

/* The colour at a part, from 0 to 1, of the way between two others: "#rrggbb". */
struct text_quoted svg_colour(const int from[3], const int to[3], double part);

struct terminal_style {
    unsigned columns; /* of the terminal */
    bool unicode;     /* symbols for stones and chessmen; else letters */
    bool colours;     /* ECMA-48 sequences for 256 colours */
};

/* Append the sheet as lines of text, with as many pictures side by side as fit. */
int terminal_write(const struct sheet *sheet, const struct terminal_style *style, struct text *out,
                   struct error *err);
