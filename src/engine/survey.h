/*
 * survey.h - reading the data before, or while, it is labelled: ranges, codes, and whether the
 * stones agree with the declared conventions. Only arrays that matter for this are read.
 */
#pragma once

#include "engine/plan.h"
#include "engine/turn.h"

#include <stdatomic.h>

/* The range of all elements of an array over the plan's inputs; ERROR_DATA when it has none. */
int survey_range(const struct plan *plan, const struct plan_array *array,
                 struct number_range *range, struct error *err);

/* The codes of arrays of numbers over all inputs of a call, also where each input has a plan of its
 * own: what a colour swap does to a code must not depend on the file that it is in. */
struct survey_seen {
    struct survey_codes {
        char *key; /* owned */
        struct number_range range;
    } * arrays; /* owned */
    size_t n;
    atomic_uint turn_codes; /* of the to-move planes: enum turn_code */
    struct error failure;   /* the first one, of inputs that are read side by side */
};

/* Add the codes of a plan's grids, values, players and to-move planes. Thread-safe. */
void survey_see(struct survey_seen *seen, const struct plan *plan);

/* Widen an array's range by what was seen of it in other inputs; seen may be NULL. */
void survey_widen(const struct survey_seen *seen, const struct plan_array *array,
                  struct number_range *range);

void survey_seen_release(struct survey_seen *seen);

/* Refuse planes of which the one in which a colour swap exchanges the players names no player, and
 * stones of Hex that contradict the declared convention. What is no proof becomes a warning. */
int survey_turns(struct plan *plan, struct error *err);

/* Decide from the data of all inputs how that plane is coded when --to-move says 12 or pm1: so, or
 * 0 and 1 all the same. Refused when all rows hold 1 and neither an array of players nor the stones
 * tell. */
int survey_turn_coding(struct plan *plan, const struct plan_array *array, uint64_t plane,
                       struct error *err);

/* Games of placement: policies, masks and moves that are on stones in many rows, and off them when
 * flipped, are refused with the role option that declares the flip. */
int survey_flips(const struct plan *plan, struct error *err);

/* Chess: count rows with castling rights; under CASTLING_SKIP they keep only the identity image. */
int survey_castling(struct plan *plan, struct error *err);

/* Count policy entries that name a region by one of its cells; under AMBIGUOUS_DROP rows with such
 * entries keep only the identity image. */
int survey_ambiguous(struct plan *plan, struct error *err);

/* Warn of packed planes with bits set after the last cell of a plane (which are written as 0), and
 * of moves and coordinates that name a place off the board. */
int survey_odd_rows(struct plan *plan, struct error *err);

/* --- what the surveys share --- */

/* Begin to walk over the rows of three arrays of a plan, of which the last two may be NULL, through
 * all inputs. */
#define SURVEY_OF(...) ((const struct plan_array *const[3]){__VA_ARGS__})
void survey_begin(struct walk *walk, const struct plan *plan,
                  const struct plan_array *const arrays[3], struct error *err);

/* The same over an array, and the values beside it if it is one of indices (padded, CSR, objects).
 */
void survey_begin_lists(struct walk *walk, const struct plan *plan, const struct plan_array *array,
                        struct error *err);

/* The first array of a role that is no object array, or NULL. */
const struct plan_array *survey_find(const struct plan *plan, enum role role);

/* The first array of planes, else of packed planes, else NULL. Also NULL for families with known
 * members only, whose planes hold stones elsewhere. */
const struct plan_array *survey_find_planes(const struct plan *plan);

/* True for an array of numbers with rows; accepts NULL. */
bool survey_has_numbers(const struct plan_array *array);

/* True when n elements are all zero; -0.0 is. */
bool survey_all_zero(const struct dtype *dtype, const uint8_t *elements, uint64_t n);

/* --- counting while rows pass by --- */

/* What survey_turns counts: rows, unless something else is said. */
struct turns {
    const struct plan *plan;
    const struct plan_array *planes, *to_move, *policy; /* the last two may be NULL */
    struct planes_form form;
    bool has_lead; /* stones are counted */
    struct turn_rows rows;
    unsigned long long n_rows;         /* that name the player to move; of these: */
    unsigned long long n_excess;       /* that player has one stone more than the other, */
    unsigned long long n_other_excess; /* or more, under the other of --planes colour, mover */
    unsigned long long n_even;         /* the second player is to move, and both have as many */
    unsigned long long n_told;         /* an array beside them names a player, */
    unsigned long long n_contradicted; /* who is another one */
    unsigned long long n_more[2]; /* that name none: one stone more of the first, the second kind */
    unsigned long long n_mover_excess[3];      /* n_excess if the stones are those of the mover of
                                                  each, the first or the last frame */
    unsigned long long n_padded, first_padded; /* with two or more frames of zeros */
    uint64_t left; /* bits: planes that a swap keeps, and that named the player to move so far, */
    bool has_turn[2]; /* and the players whom the number of stones has named */

    /* Of rows that pass by. */
    struct walk beside; /* rows of to_move */
    uint64_t n_seen;
    atomic_bool is_complete;
};

/* Begin to count as the rows of `planes` pass by; turns->planes is NULL when there is nothing to
 * count. turns_see takes the rows of a batch that follow those seen before; is_complete is set
 * after the last one. */
void turns_watch(struct turns *turns, const struct plan *plan, const struct plan_array *planes);
void turns_see(struct turns *turns, const struct batch *batch);

/* What survey_turns and survey_flips ask of packed arrays, collected as their rows pass by: counts
 * of stones, and of some rows of each part the stones and the dense policies. */
struct stone_watch {
    const struct plan *plan;         /* borrowed */
    const struct plan_array *stones; /* its planes */
    struct planes_form form;
    uint64_t end; /* rows before it are examined */
    struct kept_rows {
        size_t row_nbytes; /* of what is kept of a row */
        uint8_t *bytes;    /* owned, or NULL: nothing is kept */
    } * kept;              /* owned: by array of the plan; NULL: nothing is watched */
    struct turns turns;
};

/* Watch a plan whose order is decided; the caller releases the watch in any case. reach: the share
 * of rows that are examined where the others pass by later; or 1: these pass by. */
int stone_watch_init(struct stone_watch *watch, const struct plan *plan, double reach,
                     struct error *err);

/* Rows of an array pass by. One thread at a time. */
void stone_watch_see(struct stone_watch *watch, const struct plan_array *array,
                     const struct batch *batch);

/* Refuse what survey_flips refuses. Reads sparse policies once more. */
int stone_watch_judge(const struct stone_watch *watch, struct error *err);

void stone_watch_release(struct stone_watch *watch);
