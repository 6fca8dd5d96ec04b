/*
 * turn.h - what rows of planes say of stones and of whose turn it is, and policies beside them of
 * the order in which they are stored. `expand` and `verify` look at rows in ways of their own, and
 * judge by what is counted here.
 */
#pragma once

#include "board/actions.h"
#include "npy/dtype.h"
#include "shard/batch.h"
#include "shard/conventions.h"
#include "shard/role.h"

#include <math.h>

/* How planes lie in a row. */
struct planes_form {
    const struct dtype *dtype;       /* borrowed: of numbers */
    uint64_t n_planes, axis;         /* cells of a plane */
    uint64_t n_last;                 /* planes that lie beside each other, cell by cell; 1: none */
    bool is_bits, lsb_first;         /* of packed planes */
    uint64_t n_frames, frame_nbytes; /* of a row, that have planes so */
};

/* That of an array of planes, packed planes or codes. */
struct planes_form planes_form_of(const struct role_binding *binding, const struct dtype *dtype);

/* That of each of its frames, if it is a history: rows of their own. */
struct planes_form planes_frame_of(const struct role_binding *binding, const struct dtype *dtype);

/* Not of packed planes. */
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

/* NaN is no stone. */
static inline bool planes_has_stone(const struct planes_form *form, const uint8_t *row,
                                    uint64_t plane, uint64_t cell)
{
    const double v = planes_number(form, row, plane, cell);

    return v != 0 && isfinite(v);
}

/* Set a bit in the marks (or NULL) of all cells where a plane has a stone; returns how many it has.
 */
uint64_t planes_mark(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     uint8_t bit, uint8_t *marks);

/* True when the plane holds one number, found[0], throughout; else found[1] is another one. */
bool planes_is_level(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     double found[2]);

/* The planes with the stones of the two players, blue and red or mine and theirs, and the plane
 * that tells whose turn it is. */
struct stone_planes {
    uint64_t stones[2];
    int turn; /* -1: none */
    bool is_mover;
};

/* Planes 0, 1 and 2, unless --planes says otherwise. Only Hex (is_hex) has a plane for the turn. */
void stone_planes_decide(struct stone_planes *planes, const struct conventions *c,
                         uint64_t n_planes, bool is_hex);

/* 0 or 1 for the two players, -1 for what is not a player's code. */
int turn_player(enum to_move_coding coding, double code);

/* Stones of the player to move less those of the other: 0 or -1 in a game of Hex; and what it would
 * be if the planes were the colours' instead of the mover's, or the mover's instead. */
struct turn_lead {
    int64_t declared, other;
};
struct turn_lead turn_lead(bool is_mover, int player, const uint64_t n_stones[2]);

/* --- the plane that tells whose turn it is --- */

/* What the rows say of that plane. Of rows where it tells no player also what it, and the other two
 * of three planes, may be instead. */
struct turn_rows {
    uint64_t n, n_bad, first_bad;
    double low, high;            /* of the rows in which the plane holds one number, */
    bool has_more;               /* and in some a number between these */
    double bad[2];               /* two numbers of row first_bad; equal: it holds one */
    bool is_level;               /* it holds one number in each bad row */
    bool is_ply;                 /* namely that of the stones */
    uint64_t n_stones[3];        /* bad rows in which all planes but this one look like stones */
    bool is_rest[3], is_turn[3]; /* 1 on cells without a stone; 0 or 1 throughout each bad row */
};

void turn_rows_init(struct turn_rows *rows);

/* Look at row number `number`. True when its plane (which may be -1: none) tells a player. */
bool turn_rows_add(struct turn_rows *rows, const struct planes_form *form, const uint8_t *row,
                   const struct stone_planes *planes, enum to_move_coding coding, uint64_t number);

/* Add what another thread saw. */
void turn_rows_merge(struct turn_rows *rows, const struct turn_rows *from);

/* What is meant when a third plane tells no player. */
struct turn_advice {
    char planes[2][32]; /* arguments of --planes: as the stones are declared, and the other way */
    uint64_t stones[2]; /* the planes that look like stones */
    bool is_rest;       /* the third one is of cells without a stone */
    bool is_moved;      /* the player to move stands in another plane */
    bool is_other_code; /* two numbers that no coding has: it must be written anew */
};
struct turn_advice turn_advise(const struct turn_rows *rows, const struct stone_planes *planes);

/* --- a plane of ones under --to-move 12 or pm1 --- */

/* What tells whether it is coded so, or 0 and 1 all the same: pairs of bits, of which the first
 * says that it is as told. */
enum turn_code {
    TURN_OTHER = 1,       /* the other player's code under the coding that was told stands there, */
    TURN_ZERO = 2,        /* or 0 */
    TURN_FIRST_SAID = 4,  /* it is 1 where an array says that it is the first player's turn, */
    TURN_SECOND_SAID = 8, /* or the second's */
    TURN_FIRST_LACKS = 16, /* it is 1 where the first player has a stone less, */
    TURN_SECOND_LACKS = 32 /* or the second, so that it must be that player's turn */
};

/* 0 with *coding set, or -1 when the codes of all rows together do not tell. */
int turn_decide_coding(unsigned codes, enum to_move_coding said, enum to_move_coding *coding);

/* --- policies and moves in another order than the planes beside them --- */

/* Upside down, mirrored, turned or transposed: in a game of placement no policy stands on stones.
 * One that does in the order in which it is said to be stored, and does not in another, is stored
 * in that other one. */

/* Where the actions of one policy play, in every order of storage. Zero-initialise. */
struct flips {
    const struct role_binding *policy; /* borrowed: its flip is how it is said to be stored */
    bool can_flip[ACTION_N_FLIPS];
    bool is_columns;          /* an action is a column, full when both its ends are */
    uint64_t n_actions, axis; /* of a policy, of a plane */
    int32_t *targets;         /* owned: by action and flip, the element of a plane, or -1 */
};

/* Make the tables of a policy's binding beside that of planes. The caller releases them. */
int flips_init(struct flips *flips, const struct board *board, const struct role_binding *planes,
               const struct role_binding *policy, uint64_t n_actions, struct error *err);
void flips_release(struct flips *flips);

/* True when the actions of a binding place stones on cells, or in columns. */
bool flips_is_placement(const struct role_binding *policy);

/* One policy: its mass, and under every flip that on cells with a stone. Zero-initialise. */
struct flip_mass {
    bool is_as_said; /* only as it is said to be stored: it is not for a tally */
    double total, squares, floor, on[ACTION_N_FLIPS];
    uint64_t n_cells, n_on[ACTION_N_FLIPS];
    double highest;  /* on a stone, as stored, */
    uint64_t action; /* by this action */
};

/* Add an action's mass; occupied: of every element of a plane, whether a stone is there. */
void flip_mass_add(struct flip_mass *mass, const struct flips *flips, const uint8_t *occupied,
                   uint64_t action, double p);

/* That of all actions of dense policies, one after another. */
void flip_mass_add_row(struct flip_mass *mass, const struct flips *flips, const uint8_t *occupied,
                       const struct row *row);

/* Whether any of them stands on a stone in the order in which they are said to be stored. */
bool flips_any_on(const struct flips *flips, const uint8_t *occupied, const struct row *row);

/* True when mass that counts stands on stones under a flip. A policy that is nowhere zero is
 * smoothed, or a network's own: what all cells have is none, and cells with stones must have as
 * much as others before it is wrong. Noise below a millionth is none. */
bool flip_mass_is_on(const struct flip_mass *mass, enum action_flip flip);

/* Policies counted, and how sure it is that one which keeps off the stones in some order does not
 * do so by luck. Zero-initialise. */
struct flip_tally {
    uint64_t n_rows, n_on[ACTION_N_FLIPS];
    double share, density; /* sums: of mass on stones as stored, of stones on the cells */
    double expected;       /* policies that would stand on stones by chance */
    double evidence;       /* -ln of the chance that none does */
};

void flip_tally_add(struct flip_tally *tally, const struct flips *flips,
                    const struct flip_mass *mass, uint64_t n_stones);

/* The order that explains the policies; flips->policy->flip unless that is wrong and another one
 * right.
 */
enum action_flip flip_tally_best(const struct flip_tally *tally, const struct flips *flips);

/* The rows of a set in equal parts, since sets are put together from parts. Zero-initialise. */
#define FLIPS_N_PARTS 32
struct flip_parts {
    struct flip_tally parts[FLIPS_N_PARTS];
};

struct flip_verdict {
    enum action_flip flip; /* flips->policy->flip: nothing is wrong */
    uint64_t first, end;   /* the rows it is about; 0 and n_rows: all */
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

/* Judge all n_rows rows; where they are right, or nothing explains them all, runs of parts. */
struct flip_verdict flip_parts_judge(const struct flip_parts *parts, const struct flips *flips,
                                     uint64_t n_rows);

void flip_parts_merge(struct flip_parts *parts, const struct flip_parts *from);
struct flip_tally flip_parts_sum(const struct flip_parts *parts);
