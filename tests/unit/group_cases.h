/* group_cases.h - boards made by hand for the tests of groups: sets of maps that are none. */
#ifndef TESTS_GROUP_CASES_H
#define TESTS_GROUP_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "board/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static inline struct board *open_board(const char *name)
{
    struct error err = {0};
    struct board *b = board_new(name, &err);

    if (b == NULL)
        fail_msg("board %s: %s", name, err.message);
    return b;
}

/* A board of n_cells cells in a row with identity maps, to be spoilt. */
static inline struct board *blank(uint32_t n_cells, uint32_t n_transforms)
{
    struct board *b = calloc(1, sizeof *b);
    struct error err = {0};

    assert_non_null(b);
    b->family = &board_family_square;
    assert_int_equal(board_alloc_cells(b, n_cells, n_transforms, &err), 0);
    assert_int_equal(board_set_text(&b->name, &err, "test"), 0);
    for (uint32_t t = 0; t < n_transforms; t++) {
        char name[16];

        snprintf(name, sizeof name, "t%u", t);
        assert_int_equal(board_set_text(&b->transforms[t].name, &err, "%s", name), 0);
    }
    return b;
}

static inline void set_map(struct board *b, uint32_t t, const uint32_t *dst)
{
    memcpy(b->transforms[t].dst, dst, b->n_cells * sizeof *dst);
}

static inline uint32_t *copy_of(const uint32_t *map, size_t n)
{
    uint32_t *copy = malloc(n * sizeof *copy);

    assert_non_null(copy);
    memcpy(copy, map, n * sizeof *copy);
    return copy;
}

/* What a case does to a board of 4 cells with 3 transforms, of which the first is the identity. */
struct spoilt {
    uint32_t dst[3][4];
    bool swaps[3];
    const char *messages[2]; /* what the refusal must hold; NULL: it is a group */
};

#define ID4        \
    {              \
        0, 1, 2, 3 \
    }
static const struct spoilt spoilt_cases[] = {
    /* Rotations by a third of three cells: a group. */
    {{ID4, {1, 2, 0, 3}, {2, 0, 1, 3}}, {0}, {NULL, NULL}},
    /* Out of range by one, by far, and an image taken. */
    {{ID4, {1, 2, 4, 3}, {2, 0, 1, 3}}, {0}, {"'t1'", "cell 2 goes to 4"}},
    {{ID4, {1, 2, UINT32_MAX, 3}, {2, 0, 1, 3}}, {0}, {"'t1'", "cell 2 goes"}},
    {{ID4, {1, 2, 0, 3}, {2, 0, 2, 3}}, {0}, {"'t2'", "cells 0 and 2 both"}},
    /* No identity, in two ways: a moved cell, and a swap of colours. */
    {{{1, 0, 2, 3}, {1, 2, 0, 3}, {2, 0, 1, 3}}, {0}, {"'t0'", "identity: cell 0"}},
    {{ID4, {1, 2, 0, 3}, {2, 0, 1, 3}}, {true}, {"'t0'", "identity: it exchanges"}},
    /* Equal maps; and equal cells that differ in colours are not equal, but no group here. */
    {{ID4, {1, 2, 0, 3}, {1, 2, 0, 3}}, {0}, {"'t1' and 't2'", "the same"}},
    {{ID4, {1, 2, 0, 3}, {1, 2, 0, 3}}, {0, 0, 1}, {"no group", "and then"}},
    /* A product that is missing: the last cell moves only when maps are multiplied. */
    {{ID4, {1, 0, 2, 3}, {0, 1, 3, 2}}, {0}, {"'t1' (order 2) and then 't2'", "no group"}},
    /* The cells form a group, the colours do not: a third of a turn cannot swap. */
    {{ID4, {1, 2, 0, 3}, {2, 0, 1, 3}}, {0, 1, 1}, {"no group", "and then"}},
};

static inline struct board *spoil(const struct spoilt *spoilt)
{
    struct board *b = blank(4, 3);

    for (uint32_t t = 0; t < 3; t++) {
        set_map(b, t, spoilt->dst[t]);
        b->transforms[t].swaps_colours = spoilt->swaps[t];
    }
    return b;
}

#endif
