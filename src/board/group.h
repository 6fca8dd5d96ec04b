/*
 * group.h - the group of a board's transforms: tables, closure, and the proof that it is one.
 *
 * The second half is for src/board only: a board's maps taken jointly, and edges and lines.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"
#include "board/board.h"

/*
 * Fill src, compose and inverse from the transforms' dst maps, colour flags, plane maps, action
 * maps and number maps taken jointly. ERROR_DATA, naming transform, cell and reason: a map that is
 * not a permutation, a missing identity, two equal transforms, a product that is not in the set,
 * and, of a board from a file, an edge or line that is not kept.
 */
int group_complete(struct board *board, struct error *err);

/*
 * Write the whole report of a board: order of each map, closure, inverses, composition, action
 * layouts (each a group action), and, where the board has them, edges and lines kept. Goes on
 * after a failure. *ok is false when any check failed. Returns -1 only when there is no memory.
 */
int group_report(const struct board *board, struct text *report, bool *ok, struct error *err);

/* What all maps of a group may have together: 16 MiB, and as much again for their inverses. */
#define GROUP_MAX_ENTRIES (1u << 22)

/* The entries of a transform's maps, its two colours among them. */
static inline uint32_t group_n_entries(const struct board *b)
{
    return b->n_cells + b->n_planes + b->n_actions + 2;
}

/*
 * Put the transforms of a board with an identity in front and room for BOARD_MAX_TRANSFORMS + 2
 * in order: a listed identity takes the place in front; generators are closed into their group,
 * breadth first, the products named "a*b". A group that is too large leaves the listed ones and
 * says so in board->fault; maps that are not permutations are left as they are.
 */
int group_arrange(struct board *board, bool are_generators, struct error *err);

/* Find which turn or mirror of its box each transform of a board from a file is. */
int group_find_turns(struct board *board, struct error *err);

/* Which elements are looked for: all; or only those that turn or mirror the cells' coordinates, or
 * that turn them without a mirror. */
enum group_which { GROUP_WHOLE, GROUP_TURNS, GROUP_ROTATIONS };

/*
 * Add to a board with the identity alone (and room as above) the transforms that keep its edges,
 * lines and colours, named, in an order that depends on their maps alone. ERROR_DATA: the group is
 * too large, there are no coordinates for turns, or nauty is not installed.
 */
int group_find(struct board *board, enum group_which which, struct error *err);

/*
 * Append the names of the transforms that edges, lines and colours allow, but the board has not:
 * "rotate-90, rotate-270". Returns how many they are, or -1: with ERROR_DATA when the whole group
 * is too large or nauty is not installed.
 */
int group_missing(const struct board *board, struct text *names, struct error *err);

/* True when a map, with or without an exchange of the players' colours, keeps all colours; *lost is
 * the first that it does not. */
bool group_keeps_colours(const struct board *board, const uint32_t *dst, bool swaps,
                         uint32_t *lost);

/* --- the maps of a transform --- */

/* Parts with maps of their own. Only boards from a file have planes and actions. */
enum board_part { BOARD_CELLS, BOARD_PLANES, BOARD_ACTIONS, BOARD_N_PARTS };

static inline uint32_t board_part_length(const struct board *b, enum board_part part)
{
    return part == BOARD_CELLS ? b->n_cells : part == BOARD_PLANES ? b->n_planes : b->n_actions;
}

static inline uint32_t **board_part_map(struct board_transform *t, enum board_part part)
{
    return part == BOARD_CELLS ? &t->dst : part == BOARD_PLANES ? &t->planes : &t->actions;
}

/*
 * A transform as one permutation of everything it moves: the cells, planes and actions of the
 * board, a tile's numbers, and the two colours.
 */
struct joint {
    const struct board *board; /* borrowed */
    uint32_t n_points;
    uint32_t n_transforms;
    uint32_t *maps; /* owned, n_transforms x n_points: point i goes to maps[t * n_points + i]; and
                       room for a product */
    uint64_t hashes[BOARD_MAX_TRANSFORMS + 2]; /* of the maps */
};

/* What is wrong with the maps of transform t, "cells 3 and 5 both go to 7", or an empty text.
 * Returns -1 when there is no memory. */
int joint_fault(const struct board *board, uint32_t t, struct text_quoted *fault,
                struct error *err);

/* Join the maps of all transforms, none of which may have a fault. What j has, it keeps: zero it
 * first, and free j->maps at last. */
int joint_init(struct joint *j, const struct board *board, struct error *err);

/* The map of transform t. */
static inline const uint32_t *joint_map(const struct joint *j, uint32_t t)
{
    return j->maps + (size_t)t * j->n_points;
}

/* The first pair of equal transforms. Returns true and fills a < b, or false when all differ. */
bool joint_find_equal(const struct joint *j, uint32_t *a, uint32_t *b);

/* The transform that equals a followed by b, or -1 when the set has none. */
int joint_product(struct joint *j, uint32_t a, uint32_t b);

/* "cell (0,1) goes to (3,4)": the first thing that a joint map, or two, one after the other (else
 * NULL), move. */
struct text_quoted joint_move_text(const struct joint *j, const uint32_t *first,
                                   const uint32_t *then);

/* --- edges or lines, sorted so that images can be looked up --- */

/* As a set: the cells in ascending order. */
struct relation {
    const uint32_t *cells; /* borrowed from relations.sorted_cells */
    uint32_t n;
};

struct relations {
    const char *name;      /* "edge", "line" */
    const uint32_t *cells; /* borrowed from the board: relation i is cells[start(i)] .. */
    const uint32_t *start; /* borrowed, n + 1; NULL: each has two cells */
    uint32_t n;
    struct relation *sorted; /* owned: each set once */
    uint32_t n_sorted;
    uint32_t *sorted_cells; /* owned, and room for an image after them */
};

static inline uint32_t relations_start(const struct relations *r, uint32_t i)
{
    return r->start != NULL ? r->start[i] : 2 * i;
}

int relations_init(struct relations *r, const struct board *board, bool are_lines,
                   struct error *err);

/* Free it; accepts a zeroed one. */
void relations_release(struct relations *r);

/* How many relations a cell map takes to relations, as sets of cells. *lost is the index of the
 * first it does not. */
uint32_t relations_kept(struct relations *r, const uint32_t *dst, uint32_t *lost);
