/*
 * turn.h - what rows of planes tell about stones and the player to move, and policies beside them
 * about the order in which they are stored. `expand` and `verify` each read rows in their own way
 * and judge by what is counted here.
 */
#pragma once

#include "shard/batch.h"
#include "shard/planes.h"

/* 0 or 1, the player whose code it is; -1: it is not a player's code. */
int turn_player(enum to_move_coding coding, double code);

/* The player to move by the plane of a frame, and by a row of the array of players beside it; -1:
 * there is none, or it names no player. */
int turn_by_plane(const struct planes_form *form, const uint8_t *frame);
int turn_by_array(const struct conventions *c, const struct row *to_move);

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
                   uint64_t number);

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
struct turn_advice turn_advise(const struct turn_rows *rows, const struct planes_form *form);

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

/* Beside the orders of cells, of which those that exchange the rows and columns of a rectangle are
 * column by column, there is one more: moves in a box with off-board cells that are counted by the
 * cells on board. */
#define LAID_ON_BOARD ACTION_N_ORDERS
#define LAID_N_ORDERS (ACTION_N_ORDERS + 1)

/* Policies counted, and how certain it is that an order without mass on stones is no accident. */
struct flip_tally {
    uint64_t n_rows, n_on[LAID_N_ORDERS];
    double share, density; /* sums: of the mass on stones as declared, of stones per cell */
    double expected;       /* policies that would have mass on stones by chance */
    double evidence;       /* -ln of the probability that none has */
};

/* The rows of a set are counted in equal parts, since sets are put together from parts. */
#define LAID_N_PARTS 32

static inline uint64_t laid_part_rows(uint64_t n_rows)
{
    return (n_rows + LAID_N_PARTS - 1) / LAID_N_PARTS;
}

/* Policies, masks or moves beside planes: where their actions put stones in every order of storage,
 * and what their rows have shown. */
struct laid {
    const struct role_binding *policy; /* borrowed: its flip is the declared order */
    bool can_flip[LAID_N_ORDERS];
    bool is_columns;          /* an action is a column, which is full when both its ends are */
    uint64_t n_actions, axis; /* of a policy, of a plane */
    uint64_t n_rows;          /* of the set */
    int32_t *targets;         /* owned: by action and flip, the element of a plane, or -1 */

    struct flip_tally parts[LAID_N_PARTS];
    uint64_t first_on; /* the first row with mass on stones as declared; UINT64_MAX: none */
};

/* Make the tables of a policy and the planes beside it. The caller releases them. */
int laid_init(struct laid *laid, const struct board *board, const struct role_binding *planes,
              const struct role_binding *policy, uint64_t n_rows, struct error *err);
void laid_release(struct laid *laid);

/* An order in words, or its role option, if there is one for that layout. */
const char *laid_order_name(unsigned order);
bool laid_has_option(const struct board *board, const struct action_layout *layout, unsigned order);

/* Make it what `of` is, whose tables it borrows, before any row was seen. */
void laid_init_part(struct laid *part, const struct laid *of);

/* Add the rows that a part has seen; it has seen none afterwards. */
void laid_merge(struct laid *laid, struct laid *part);

/* True when the actions of a binding place stones on cells, or in columns. */
bool laid_is_placement(const struct role_binding *policy);

/* True for arrays whose rows laid_add can read: lists of actions, and numbers of single moves or of
 * one policy or mask. */
bool laid_can_read(const struct array *array, const struct role_binding *policy);

/* A position that policies are held against. */
struct laid_position {
    uint64_t row;            /* its number in the set */
    const uint8_t *occupied; /* by element of a plane: not 0 where it has a stone */
    uint64_t n_stones;
    bool is_compared; /* in every order of storage; else in the declared one, and not counted */
};

/* Add a row: one or more dense policies, or a list of actions with the values beside it (NULL: each
 * has weight 1). If it has mass on stones in the declared order (significantly, more than a
 * millionth), returns the action that has most, else -1. A policy that is nowhere zero is smoothed,
 * or comes from a network: then the mass that every cell has does not count, and cells with stones
 * must have as much as others. */
int64_t laid_add(struct laid *laid, const struct laid_position *position, const struct row *row,
                 const struct row *values);

struct flip_verdict {
    enum action_flip flip; /* the order that explains the rows; the declared one: all is well */
    uint64_t first, end;   /* the rows in question; 0 and n_rows: all */
    struct flip_tally tally;
    bool is_tied;      /* another order explains all rows as well */
    uint64_t first_on; /* the first row with mass on stones as declared; UINT64_MAX: none */
};

/* Judge all rows; if no single order explains them, also runs of parts. */
struct flip_verdict laid_judge(const struct laid *laid);
