/*
 * turn.h - what rows of planes tell about stones and the player to move, and policies beside them
 * about the order in which they are stored. `expand` and `verify` each read rows in their own way
 * and judge by what is counted here.
 */
#pragma once

#include "board/actions.h"
#include "npy/dtype.h"
#include "shard/batch.h"
#include "shard/conventions.h"
#include "shard/role.h"

#include <math.h>

/* How planes are laid out in a row. */
struct planes_form {
    const struct dtype *dtype;       /* borrowed: of numbers */
    uint64_t n_planes, axis;         /* axis: cells of a plane */
    uint64_t n_last;                 /* planes that are interleaved cell by cell; 1: none */
    bool is_bits, lsb_first;         /* of packed planes */
    uint64_t n_frames, frame_nbytes; /* frames of a row, each of which has such planes */
};

/* The layout of a row of planes, packed planes or codes as one frame. */
struct planes_form planes_form_of(const struct role_binding *binding, const struct dtype *dtype);

/* The layout of each of its frames, if it is a history; else the same. */
struct planes_form planes_frame_of(const struct role_binding *binding, const struct dtype *dtype);

/* Where an element of planes that are not packed begins. */
static inline const uint8_t *planes_element(const struct planes_form *form, const uint8_t *row,
                                            uint64_t plane, uint64_t cell)
{
    const uint64_t n = form->n_last;
    const uint64_t at =
        n == 1 ? plane * form->axis + cell : plane / n * n * form->axis + cell * n + plane % n;

    return row + at * form->dtype->itemsize;
}

static inline double planes_number(const struct planes_form *form, const uint8_t *row,
                                   uint64_t plane, uint64_t cell)
{
    if (form->is_bits)
        return row[plane * ((form->axis + 7) / 8) + cell / 8] >>
                   (form->lsb_first ? cell % 8 : 7 - cell % 8) &
               1;
    return dtype_get_double(form->dtype, planes_element(form, row, plane, cell));
}

/* NaN and infinity are not stones. */
static inline bool planes_has_stone(const struct planes_form *form, const uint8_t *row,
                                    uint64_t plane, uint64_t cell)
{
    const double v = planes_number(form, row, plane, cell);

    return v != 0 && isfinite(v);
}

/* Set `bit` in the marks (NULL: none) of all cells where the plane has a stone. Returns the number
 * of stones. */
uint64_t planes_mark(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     uint8_t bit, uint8_t *marks);

/* True when the plane holds one number, found[0], throughout; else found[1] is a different one. */
bool planes_is_level(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     double found[2]);

/* The planes with the stones of the two players (blue and red, or the mover's and the other's), and
 * the plane that names the player to move. */
struct stone_planes {
    uint64_t stones[2];
    int turn; /* -1: none */
    bool is_mover;
};

/* Planes 0, 1 and 2, unless --planes says otherwise; the same plane twice if only one is left. Only
 * Hex (is_hex) has a plane for the player to move. */
void stone_planes_decide(struct stone_planes *planes, const struct conventions *c,
                         uint64_t n_planes, bool is_hex);

/* 0 or 1, the player whose code it is; -1: it is not a player's code. */
int turn_player(enum to_move_coding coding, double code);

/* Stones of the player to move minus those of the other one, 0 or -1 in a game of Hex: under the
 * declared convention, and under the other one of --planes colour and mover. */
struct turn_lead {
    int64_t declared, other;
};
struct turn_lead turn_lead(bool is_mover, int player, const uint64_t n_stones[2]);

/* --- the plane that names the player to move --- */

/* What that plane holds over all rows. In bad rows it names no player: of these also what it, and
 * the other two of three planes, may be instead. */
struct turn_rows {
    uint64_t n, n_bad, first_bad;
    double low, high;     /* of the rows in which the plane holds one number throughout; */
    bool has_more;        /* some hold a third number */
    double bad[2];        /* two numbers of row first_bad; equal: it holds only one */
    bool is_level;        /* it holds one number throughout in each bad row, */
    bool is_ply;          /* which is the number of stones */
    uint64_t n_stones[3]; /* bad rows in which the two planes other than this look like stones */
    bool is_rest[3],
        is_turn[3]; /* in all bad rows: 1 on cells without a stone; 0 or 1 throughout */
};

void turn_rows_init(struct turn_rows *rows);

/* Add row `number`. True when its plane names a player, or there is no such plane. */
bool turn_rows_add(struct turn_rows *rows, const struct planes_form *form, const uint8_t *row,
                   const struct stone_planes *planes, enum to_move_coding coding, uint64_t number);

/* Add the rows that another thread has counted. */
void turn_rows_merge(struct turn_rows *rows, const struct turn_rows *from);

/* What three planes are when the third names no player. */
struct turn_advice {
    char planes[2][32]; /* arguments of --planes: as the stones are declared, and the other way */
    uint64_t stones[2]; /* the planes that look like stones */
    bool is_rest;       /* the remaining one marks cells without a stone */
    bool is_moved;      /* the player to move is in another plane */
    bool is_other_code; /* its two numbers are not a known coding: it must be rewritten */
};
struct turn_advice turn_advise(const struct turn_rows *rows, const struct stone_planes *planes);

/* --- a plane of ones under --to-move 12 or pm1 --- */

/* Evidence for how the plane is coded, in pairs of bits: the first of a pair says as --to-move
 * does, the second with 0 and 1 all the same. */
enum turn_code {
    TURN_OTHER = 1,        /* the plane holds the second player's code under --to-move, */
    TURN_ZERO = 2,         /* or 0 */
    TURN_FIRST_SAID = 4,   /* it is 1 where an array says that the first player is to move, */
    TURN_SECOND_SAID = 8,  /* or the second */
    TURN_FIRST_LACKS = 16, /* it is 1 where the first player has one stone fewer, */
    TURN_SECOND_LACKS = 32 /* or the second, and must therefore be the one to move */
};

/* 0 with *coding set, or -1 when the evidence of all rows together is inconclusive. */
int turn_decide_coding(unsigned codes, enum to_move_coding said, enum to_move_coding *coding);

/* --- policies and moves in another order than the planes beside them --- */

/* Flipped, mirrored, rotated or transposed: in a game of placement a policy has no mass on stones.
 * If it has in its declared order of storage, and has not in another one, it is stored in that one.
 */

/* The cells of a policy's actions, in every order of storage. Zero-initialise. */
struct flips {
    const struct role_binding *policy; /* borrowed: its flip is the declared order */
    bool can_flip[ACTION_N_FLIPS];
    bool is_columns;          /* an action is a column, which is full when both its ends are */
    uint64_t n_actions, axis; /* of a policy, of a plane */
    int32_t *targets;         /* owned: by action and flip, the element of a plane, or -1 */
};

/* Make the tables of a policy and the planes beside it. The caller releases them. */
int flips_init(struct flips *flips, const struct board *board, const struct role_binding *planes,
               const struct role_binding *policy, uint64_t n_actions, struct error *err);
void flips_release(struct flips *flips);

/* True when the actions of a binding place stones on cells, or in columns. */
bool flips_is_placement(const struct role_binding *policy);

/* The mass of one policy, and under every flip that on stones. Zero-initialise. */
struct flip_mass {
    bool is_as_said; /* count only the declared order: it is not for a tally */
    double total, squares, floor, on[ACTION_N_FLIPS]; /* floor: the least mass of a cell */
    uint64_t n_cells, n_on[ACTION_N_FLIPS];
    double highest;  /* the greatest mass on a stone in the declared order, */
    uint64_t action; /* and the action that has it */
};

/* Add an action's mass p; occupied[i] is not 0 when element i of the plane has a stone. */
void flip_mass_add(struct flip_mass *mass, const struct flips *flips, const uint8_t *occupied,
                   uint64_t action, double p);

/* Add the mass of all actions of a row of one or more dense policies. */
void flip_mass_add_row(struct flip_mass *mass, const struct flips *flips, const uint8_t *occupied,
                       const struct row *row);

/* Whether any of them has mass on a stone in the declared order. */
bool flips_any_on(const struct flips *flips, const uint8_t *occupied, const struct row *row);

/* True when a policy has significant mass on stones under a flip: more than a millionth. A policy
 * that is nowhere zero is smoothed, or comes from a network: then the mass that every cell has does
 * not count, and cells with stones must have as much as others. */
bool flip_mass_is_on(const struct flip_mass *mass, enum action_flip flip);

/* Policies counted, and how certain it is that an order without mass on stones is no accident.
 * Zero-initialise. */
struct flip_tally {
    uint64_t n_rows, n_on[ACTION_N_FLIPS];
    double share, density; /* sums: of the mass on stones as declared, of stones per cell */
    double expected;       /* policies that would have mass on stones by chance */
    double evidence;       /* -ln of the probability that none has */
};

void flip_tally_add(struct flip_tally *tally, const struct flips *flips,
                    const struct flip_mass *mass, uint64_t n_stones);

/* The rows of a set in equal parts, since sets are put together from parts. Zero-initialise. */
#define FLIPS_N_PARTS 32
struct flip_parts {
    struct flip_tally parts[FLIPS_N_PARTS];
};

struct flip_verdict {
    enum action_flip flip; /* the order that explains the rows; flips->policy->flip: all is well */
    uint64_t first, end;   /* the rows in question; 0 and n_rows: all */
    struct flip_tally tally;
};

static inline uint64_t flip_part_rows(uint64_t n_rows)
{
    return (n_rows + FLIPS_N_PARTS - 1) / FLIPS_N_PARTS;
}

static inline unsigned flip_part_of(uint64_t row, uint64_t n_rows)
{
    return (unsigned)(row / flip_part_rows(n_rows));
}

/* Judge all n_rows rows; if no single order explains them, also runs of parts. */
struct flip_verdict flip_parts_judge(const struct flip_parts *parts, const struct flips *flips,
                                     uint64_t n_rows);

/* Add the rows that another thread has counted. */
void flip_parts_merge(struct flip_parts *parts, const struct flip_parts *from);
