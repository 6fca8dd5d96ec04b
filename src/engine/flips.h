/*
 * flips.h - policies and moves that are stored in another order than the planes beside them: upside
 * down, mirrored, turned or transposed. In a game of placement no policy stands on stones. One that
 * does in the order in which it is said to be stored, and does not in another, is stored in that
 * other one.
 */
#ifndef SYMAUG_ENGINE_FLIPS_H
#define SYMAUG_ENGINE_FLIPS_H

#include "board/actions.h"
#include "shard/batch.h"
#include "shard/role.h"

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

static inline unsigned flip_part_of(uint64_t row, uint64_t n_rows)
{
    return (unsigned)(row / ((n_rows + FLIPS_N_PARTS - 1) / FLIPS_N_PARTS));
}

/* Judge all n_rows rows; where they are right, or nothing explains them all, runs of parts. */
struct flip_verdict flip_parts_judge(const struct flip_parts *parts, const struct flips *flips,
                                     uint64_t n_rows);

void flip_parts_merge(struct flip_parts *parts, const struct flip_parts *from);
struct flip_tally flip_parts_sum(const struct flip_parts *parts);

#endif
