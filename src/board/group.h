/*
 * group.h - the transforms of a board as a group: multiplied, closed, checked, and found from
 * edges.
 *
 * group_complete, group_report and group_missing are for everyone; the rest is shared within
 * src/board. Products are computed in the spare transform that follows the last one in
 * board->transforms.
 */
#pragma once

#include "base/text.h"
#include "board/board.h"

/*
 * Check that the transforms form a group, all their maps (cells, planes, actions, numbers of tiles,
 * colours) taken together, and fill in src, compose and inverse. ERROR_DATA, naming transform, cell
 * and reason: a map that is not a permutation, no identity at id 0, two equal transforms, a missing
 * product; and for a board from a file, an edge, line or colour that is not kept.
 */
int group_complete(struct board *board, struct error *err);

/*
 * Append the full report on a board: order of each map, closure, inverses, action layouts (each
 * must be a group action), and, where the board has them, edges and lines kept. The report goes on
 * after a failed check; *ok is false when any check failed. Returns -1 only when out of memory.
 */
int group_report(const struct board *board, struct text *report, bool *ok, struct error *err);

/*
 * Append the names of the transforms that edges, lines and colours allow but the board lacks:
 * "rotate-90, rotate-270". Returns how many there are, or -1: with ERROR_DATA when the whole group
 * is too large or nauty is not installed.
 */
int group_missing(const struct board *board, struct text *names, struct error *err);

/* The most entries that all maps of a group may have together: 16 MiB. */
#define GROUP_MAX_ENTRIES (1u << 22)

/* Entries of a transform's maps, counting its two colours. */
static inline uint32_t group_n_entries(const struct board *b)
{
    return b->n_cells + b->n_planes + b->n_actions + 2;
}

/*
 * Put the transforms of a board in order: a listed identity replaces the one at id 0; generators
 * are closed into their group, breadth first, with products named "a*b"; and turns and mirrors of
 * the box are recognised. If the group is too large, only the listed transforms stay, and
 * board->fault says so. Maps that are not permutations are left as they are.
 */
int group_arrange(struct board *board, bool are_generators, struct error *err);

/* The transforms to find: all; only turns and mirrors of the coordinates; or only turns. */
enum group_which { GROUP_WHOLE, GROUP_TURNS, GROUP_ROTATIONS };

/*
 * Add to a board that has the identity alone the transforms that keep its edges, lines and colours,
 * named, in an order that depends on their maps alone. ERROR_DATA: the group is too large, there
 * are no coordinates for turns, or nauty is not installed.
 */
int group_find(struct board *board, enum group_which which, struct error *err);

/* --- the maps of a transform --- */

/* One of the maps of a transform. */
struct group_map {
    const char *key;  /* in a board file: "dst", "planes", "actions" */
    const char *unit; /* what it moves: "cell", "plane", "action", "number" */
    uint32_t *map;    /* borrowed, n entries */
    uint32_t n;
};
#define GROUP_N_MAPS 4

/* Map number i of transform t; n is 0 where the board has no such maps. */
struct group_map group_map_of(const struct board *board, uint32_t t, unsigned i);

/* Say what is wrong with the maps of transform t, "cells 3 and 5 both go to 7"; *fault is empty
 * where they are permutations, which are then ready to be multiplied. Returns -1 when out of
 * memory. */
int group_find_fault(const struct board *board, uint32_t t, struct text_quoted *fault,
                     struct error *err);

/* True when all maps of transform t leave everything in place; when those of a and b are equal. */
bool group_is_identity(const struct board *board, uint32_t t);
bool group_is_same(const struct board *board, uint32_t t, uint32_t u);

/* The smallest k > 0 for which transform t, k times, is the identity; 0 where it does not fit 64
 * bits or memory is short. */
uint64_t group_order(const struct board *board, uint32_t t);

/* The id of the transform that is a, then b. Where the board has none, the id of the spare
 * transform (n_transforms), which holds the product and must have maps (board_alloc_maps). */
uint32_t group_multiply(const struct board *board, uint32_t first, uint32_t then);

/* The first thing that transform t moves: "cell (0,1) goes to (3,4)". */
struct text_quoted group_move_text(const struct board *board, uint32_t t);

/* --- sets of cells --- */

/* Edges or lines. A set of cells is looked up by its hash, the sum of a 64-bit hash of each cell:
 * two different sets have the same hash with a chance of about 2^-64. */
struct relations {
    const char *name;      /* "edge", "line" */
    const uint32_t *cells; /* borrowed from the board: relation i is cells[start(i)] .. */
    const uint32_t *start; /* borrowed, n + 1; NULL: each has two cells */
    uint32_t n;
    struct relation *slots; /* owned, mask + 1: a hash table of them */
    uint32_t mask;
    uint32_t n_different; /* sets of cells */
};

struct relation {
    uint64_t hash;
    uint32_t number; /* 1 + the first relation with these cells; 0: the slot is free */
};

static inline uint32_t relations_start(const struct relations *r, uint32_t i)
{
    return r->start != NULL ? r->start[i] : 2 * i;
}

/* Index a board's lines or edges; the caller frees r->slots. */
int relations_init(struct relations *r, const struct board *board, bool are_lines,
                   struct error *err);

/* True when no relation before relation i has the same cells. */
bool relations_is_first(const struct relations *r, uint32_t i);

/* How many relations a map of cells takes to relations. *lost is the index of the first one that it
 * does not, n when there is none. */
uint32_t relations_kept(const struct relations *r, const uint32_t *dst, uint32_t *lost);

/* True when a map of cells keeps all colours, if `swaps` with the colours of the two players
 * exchanged; otherwise *lost is the first colour that it does not keep. */
bool group_keeps_colours(const struct board *board, const uint32_t *dst, bool swaps,
                         uint32_t *lost);
