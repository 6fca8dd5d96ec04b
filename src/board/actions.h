/*
 * actions.h - action spaces: how a policy's indices name moves, and where a transform sends them.
 *
 * A layout is a scheme ("ringrift", "cells+pass") of a board family; an action space is a layout
 * on one board at one length, with every map computed. A policy head may be longer than its
 * layout needs: the entries behind the layout's own length stay in place.
 */
#pragma once

#include "base/error.h"
#include "board/board.h"

/* What an index means, beyond where it goes. */
enum action_flag {
    ACTION_ENCODABLE = 1, /* the game's own encoder can produce it */
    ACTION_AMBIGUOUS = 2, /* names a region by one of its cells: the image is a convention */
    ACTION_PLACEMENT = 4, /* puts a piece on one cell, which must be empty (cells layouts only) */
};

/* What an action is about. */
struct action_about {
    unsigned flags;   /* enum action_flag bits */
    int64_t cell;     /* that a placement fills, or a movement comes from; -1 where there is none */
    const char *kind; /* "placement", "movement", "pass"; static */
};

#define ACTION_TEXT_NBYTES 128

/* Functions are told the layout itself, so that layouts can share them; an action is below the
 * layout's own length, but where that is said. */
struct action_layout {
    const char *name;    /* "cells", "ringrift" */
    const char *summary; /* one line: how the index is made */

    /* What layouts with the same functions differ in: cells on board only, columns for cells, and a
     * table of their own. */
    bool only_on_board;
    bool are_columns;
    const void *scheme;

    /* The layout's own length on a board; 0 when the layout does not exist there. */
    uint64_t (*length)(const struct action_layout *layout, const struct board *board);

    /* On boards of this size the system is known to write a longer head; 0: on none. */
    uint32_t padded_size, padded_length;

    /* Where transform t sends `action`. */
    uint64_t (*image)(const struct action_layout *layout, const struct board *board, uint32_t t,
                      uint64_t action);

    /* What `action` is about, and if text is not NULL, ACTION_TEXT_NBYTES of what it means: "move
     * (4,3) -> (6,3), distance 2". Beyond the layout's own length it is unused. */
    struct action_about (*about)(const struct action_layout *layout, const struct board *board,
                                 uint64_t action, char *text);
};

/* The length of that longer head, or 0. */
static inline uint64_t action_padded_length(const struct action_layout *layout,
                                            const struct board *board)
{
    return layout->padded_size == board->size ? layout->padded_length : 0;
}

/* The parts of what an action is about. */
static inline unsigned action_flags(const struct action_layout *layout, const struct board *board,
                                    uint64_t action)
{
    return layout->about(layout, board, action, NULL).flags;
}

static inline int64_t action_cell(const struct action_layout *layout, const struct board *board,
                                  uint64_t action)
{
    return layout->about(layout, board, action, NULL).cell;
}

/* How a policy is stored beside its planes: in their order, or with its cells in another one of the
 * eight that a box has. Bits: the rows, or the columns, are counted from the other end; 4: rows and
 * columns were exchanged before. */
enum action_flip {
    ACTION_AS_IS,
    ACTION_FLIPUD,
    ACTION_FLIPLR,
    ACTION_ROT180,
    ACTION_TRANSPOSE,
    ACTION_ROT90, /* clockwise */
    ACTION_ROT270,
    ACTION_ANTI_TRANSPOSE,
    ACTION_N_FLIPS,
};

/* True for those that only a square has. */
static inline bool action_flip_exchanges(enum action_flip flip)
{
    return (flip & ACTION_TRANSPOSE) != 0;
}

/* The order that undoes it. */
static inline enum action_flip action_flip_inverse(enum action_flip flip)
{
    return flip == ACTION_ROT90 ? ACTION_ROT270 : flip == ACTION_ROT270 ? ACTION_ROT90 : flip;
}

struct action_space {
    const struct board *board;          /* borrowed */
    const struct action_layout *layout; /* borrowed, static */
    uint64_t length;                    /* of the policy axis, >= layout length */
    enum action_flip flip;              /* the order in which the policy is stored */
    uint32_t *dst;                      /* owned, n_transforms x length: action a goes to
                                           dst[t * length + a] */
    uint32_t *src;                      /* owned, the inverses */
    uint8_t *flags;                     /* owned, length: enum action_flag; 0 behind the layout */
};

/*
 * The layout of `board` whose own or padded length is `length`, the first in the family's order;
 * NULL when none has it.
 */
const struct action_layout *action_layout_by_length(const struct board *board, uint64_t length);

/* The layout of that name on the board, or NULL. "chess-4672-crazyara" is also "4672:crazyara": the
 * family may be left out, and ':' stand for '-'. */
const struct action_layout *action_layout_by_name(const struct board *board, const char *name);

/* Write the names of the board's layouts with their lengths, "cells (81), cells+pass (82)", as many
 * as fit n_bytes > 0. */
void action_layout_list(const struct board *board, char *text, size_t n_bytes);

/* A run of actions of one kind. */
struct action_span {
    const char *kind; /* static */
    uint64_t start, stop;
};
#define ACTION_MAX_SPANS 16

/* The runs of a policy of that length (0: the layout's own), in order; those after the layout's own
 * are "unused". Returns their number. */
size_t action_spans(const struct action_layout *layout, const struct board *board, uint64_t length,
                    struct action_span spans[ACTION_MAX_SPANS]);

/* Write the images of all the layout's own actions under transform t to dst. */
void action_layout_map(const struct board *board, const struct action_layout *layout, uint32_t t,
                       uint32_t *dst);

/*
 * Compute all maps of a layout at a policy length (0: the layout's own). A length below the
 * layout's, or above UINT32_MAX, is ERROR_DATA. Where `flip` is not ACTION_AS_IS, action_can_flip
 * must hold. Returns an owned space for action_space_free.
 */
struct action_space *action_space_new(const struct board *board, const struct action_layout *layout,
                                      uint64_t length, enum action_flip flip, struct error *err);

/* A step from a cell to a neighbour in the box. */
struct board_step {
    int rows, cols;
};

/* The directions in which RingRift's stacks move, as its policy numbers them. */
const struct board_step *ringrift_directions(const struct board *board, uint32_t *n_directions);

/* The words of role options: "flipud"; "" for ACTION_AS_IS. */
const char *action_flip_name(enum action_flip flip);

/* True when a policy of this layout can be stored so: an entry per cell of a whole box, which is a
 * square where rows and columns are exchanged. */
bool action_can_flip(const struct board *board, const struct action_layout *layout,
                     enum action_flip flip);

/* The cell that a cell's entry is about when the policy is stored so. */
uint64_t action_flip_cell(const struct board *board, enum action_flip flip, uint64_t cell);

/* Free a space; accepts NULL. */
void action_space_free(struct action_space *space);
