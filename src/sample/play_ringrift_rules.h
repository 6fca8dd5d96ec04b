/*
 * play_ringrift_rules.h - stacks on hexagons and squares: what a player may do, by number of
 * RingRift's policy.
 *
 * First stacks of one to three rings are placed on free cells, then stacks move along lines: onto
 * free cells, onto own stacks (they grow), onto others' that are no higher (captured). This is like
 * that game, not its rules.
 */
#ifndef SYMAUG_SAMPLE_PLAY_RINGRIFT_RULES_H
#define SYMAUG_SAMPLE_PLAY_RINGRIFT_RULES_H

#include "board/actions.h"
#include "sample/play_tools.h"

#define RINGS_MAX_HEIGHT 5

/* An action, and what it does. Stacks are a byte for each cell: owner (1, 2) * 8 + height, or 0. */
struct rings_action {
    uint32_t index; /* in the policy */
    uint32_t from;  /* of a move */
    uint32_t to;
};

static inline uint32_t rings_owner(uint8_t stack)
{
    return stack / 8;
}

static inline uint32_t rings_height(uint8_t stack)
{
    return stack % 8;
}

static inline bool rings_on_hexagon(const struct board *board)
{
    uint32_t n_directions;

    ringrift_directions(board, &n_directions);
    return n_directions == 6;
}

/* The plies in which stacks are placed; then they move. */
uint32_t rings_n_placements(const struct board *board);

/* The index of passing. */
uint32_t rings_passing_index(const struct board *board);

/* Try to draw something that the player of a ply may do; false when that failed, this time. */
bool rings_draw_action(const struct board *board, const uint8_t *stacks, uint32_t ply,
                       struct play_random *random, struct rings_action *action);

/* Do it. */
void rings_apply(const struct board *board, uint8_t *stacks, uint32_t ply,
                 const struct rings_action *action);

#endif
