/*
 * actions.h - action spaces: which moves a policy's indices name, and where a transform sends them.
 *
 * A layout ("ringrift", "cells+pass") is a numbering of the moves on boards of a family; an action
 * space is a layout on one board at one length, with all its maps computed. A policy may be longer
 * than its layout: the entries after the layout's own length stay in place.
 */
#pragma once

#include "board/board.h"
#include "symaug.h"

/* Properties of an action. */
enum action_flag {
    ACTION_ENCODABLE = 1, /* the game's own encoder can produce it */
    ACTION_AMBIGUOUS = 2, /* names a region by one of its cells: the image is a convention */
    ACTION_PLACEMENT = 4, /* puts a piece on one cell, which must be empty (cells layouts only) */
};

/* What an action does. */
struct action_about {
    unsigned flags;   /* enum action_flag bits */
    int64_t cell;     /* the cell that a placement fills or a movement starts from; -1: none */
    const char *kind; /* "placement", "movement", "pass"; static */
};

#define ACTION_TEXT_NBYTES 128

/* The functions get the layout itself, so that layouts can share them. An action is below the
 * layout's own length unless stated otherwise. */
struct action_layout {
    const char *name;    /* "cells", "ringrift" */
    const char *summary; /* one line: how the index is made */

    const void *scheme; /* a table for the functions: in what layouts that share them differ */

    /* The layout's own length on a board; 0 when the layout does not exist there. */
    uint64_t (*length)(const struct action_layout *layout, const struct board *board);

    /* The size of the board on which a system is known to write a longer policy, and its length; 0:
     * none. */
    uint32_t padded_size, padded_length;

    /* Write to dst where transform t sends each of the layout's actions. */
    void (*images)(const struct action_layout *layout, const struct board *board, uint32_t t,
                   uint32_t *dst);

    /* What `action` does; and, if text is not NULL, up to ACTION_TEXT_NBYTES that say so: "move
     * (4,3) -> (6,3), distance 2". An action may be beyond the layout's own length: "unused". */
    struct action_about (*about)(const struct action_layout *layout, const struct board *board,
                                 uint64_t action, char *text);
};

/* The length of that longer policy, or 0. */
static inline uint64_t action_padded_length(const struct action_layout *layout,
                                            const struct board *board)
{
    return layout->padded_size == board->size ? layout->padded_length : 0;
}

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

/* The order of a policy's cells relative to that of its planes. Bits 1 and 2: rows, or columns, are
 * counted from the other end; 4: rows and columns are exchanged first; 8: what is then counted is
 * counted from 1, so that what stays, the pass say, comes first. */
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
    ACTION_FROM_1 = ACTION_N_FLIPS,
    ACTION_N_ORDERS = 2 * ACTION_N_FLIPS,
};

/* True for the orders that only square boards have. */
static inline bool action_flip_exchanges(enum action_flip flip)
{
    return (flip & ACTION_TRANSPOSE) != 0;
}

struct action_space {
    const struct board *board;          /* borrowed */
    const struct action_layout *layout; /* borrowed, static */
    uint64_t length;                    /* of the policy axis, >= layout length */
    enum action_flip flip;              /* the order in which the policy is stored */
    uint32_t *dst;                      /* owned, n_transforms x length: action a goes to
                                           dst[t * length + a] */
    uint8_t *flags;                     /* owned, length: enum action_flag; 0 after the layout */
};

/* The inverse of transform t's map: where each action comes from. */
static inline const uint32_t *action_space_src(const struct action_space *space, uint32_t t)
{
    return space->dst + space->board->inverse[t] * space->length;
}

/* The i-th of the layouts of its family that exist on the board; NULL after the last. */
const struct action_layout *action_layout_at(const struct board *board, size_t i);

/* The first of them whose own or padded length is `length`, or NULL. */
const struct action_layout *action_layout_by_length(const struct board *board, uint64_t length);

/* The layout of that name on the board, or NULL. "chess-4672-crazyara" is also "4672:crazyara": the
 * family may be left out and ':' written for '-'. */
const struct action_layout *action_layout_by_name(const struct board *board, const char *name);

/* Write the names of the board's layouts with their lengths, "cells (81), cells+pass (82)", as many
 * as fit n_bytes > 0. Returns text. */
const char *action_layout_list(const struct board *board, char *text, size_t n_bytes);

/* The same list for a message, of up to n_bytes. */
#define ACTION_LAYOUTS(board, n_bytes) action_layout_list(board, (char[n_bytes]){""}, n_bytes)

#define ACTION_MAX_SPANS 16

/* Write the runs of actions of one kind of a policy of that length (0: the layout's own), in order;
 * entries after the layout's own are "unused". Returns the number of runs. */
size_t action_spans(const struct action_layout *layout, const struct board *board, uint64_t length,
                    struct symaug_span spans[ACTION_MAX_SPANS]);

/*
 * Compute all maps of a layout at a policy length (0: the layout's own). A length below the
 * layout's, or above UINT32_MAX, is ERROR_DATA. Where `flip` is not ACTION_AS_IS, action_can_flip
 * must hold. Returns an owned space for action_space_free.
 */
struct action_space *action_space_new(const struct board *board, const struct action_layout *layout,
                                      uint64_t length, enum action_flip flip, struct error *err);

/* The action that entry i of a policy of n entries in that order is. */
uint64_t action_of_entry(const struct board *board, enum action_flip flip, uint64_t n, uint64_t i);

/* The role options for an order: "flipud", "flipud,from1"; "" for ACTION_AS_IS. */
const char *action_flip_name(enum action_flip flip);

/* True when the cells on board stay on board in that order. */
bool board_keeps_flip(const struct board *board, enum action_flip flip);

/* True when a policy of this layout can be in that order, counted from 0 or from 1: it has an entry
 * for each cell of a box that keeps its cells on board, and is square where rows and columns are
 * exchanged. */
bool action_can_flip(const struct board *board, const struct action_layout *layout,
                     enum action_flip flip);

/* The cell that entry `cell` is about in a policy in that order, which is column by column where it
 * exchanges the rows and columns of a rectangle. */
uint64_t action_flip_cell(const struct board *board, enum action_flip flip, uint64_t cell);

/* Free a space; accepts NULL. */
void action_space_free(struct action_space *space);
