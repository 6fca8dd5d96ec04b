/*
 * picture.h - what is to be seen of one image: data only, for any way of drawing it.
 */
#ifndef SYMAUG_SHOW_PICTURE_H
#define SYMAUG_SHOW_PICTURE_H

#include "base/error.h"
#include "base/text.h"
#include "board/board.h"

#include <stdbool.h>
#include <stdint.h>

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
    bool has_policy;
    struct text caption; /* owned: lines that end in '\n': labels, policy */
    struct text faults;  /* owned: what differs, one line without its end, or nothing */
};

/* A share for people: "41%", "2.4%". */
struct picture_share {
    char text[16];
};
struct picture_share picture_share_text(double share);

int picture_init(struct picture *picture, const struct board *board, uint32_t transform,
                 struct error *err);
void picture_release(struct picture *picture);

/* Colours of a board of Hex's sides in this image: those of the source, moved and swapped. */
void picture_set_edges(struct picture *picture, const struct board *board);

#endif
