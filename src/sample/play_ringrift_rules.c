/* play_ringrift_rules.c - see play_ringrift_rules.h. */
#include "sample/play_ringrift_rules.h"

uint32_t rings_n_placements(const struct board *board)
{
    const uint32_t third = board->n_on_board / 3;

    return third < 2 ? 2 : third > 24 ? 24 : third;
}

static uint8_t new_stack(uint32_t owner, uint32_t height)
{
    return (uint8_t)(owner * 8 + (height < RINGS_MAX_HEIGHT ? height : RINGS_MAX_HEIGHT));
}

uint32_t rings_passing_index(const struct board *board)
{
    const uint32_t n_cells = board->n_cells, distances = board->cols - 1;

    /* On squares: skip placement, behind placements, moves, lines and eliminations. */
    return rings_on_hexagon(board) ? 3 * n_cells + 6 * n_cells * distances
                                   : 3 * n_cells + 8 * n_cells * distances + 5 * n_cells;
}

/* Where a stack that moves from a cell ends; false when it may not move so. */
static bool try_move(const struct board *board, const uint8_t *stacks, struct rings_action *action,
                     const struct board_step *step, uint32_t distance)
{
    uint32_t row = action->from / board->cols, col = action->from % board->cols;

    for (uint32_t k = 1; k <= distance; k++) {
        row += (uint32_t)step->rows;
        col += (uint32_t)step->cols;
        if (row >= board->rows || col >= board->cols || !board->on_board[row * board->cols + col])
            return false;
        action->to = row * board->cols + col;
        if (k < distance && stacks[action->to] != 0)
            return false;
    }
    return stacks[action->to] == 0 ||
           rings_owner(stacks[action->to]) == rings_owner(stacks[action->from]) ||
           rings_height(stacks[action->to]) <= rings_height(stacks[action->from]);
}

/* A random cell with the player's stack (1 or 2), or a free one (0). False when there is none. */
static bool draw_cell(const struct board *board, const uint8_t *stacks, uint32_t owner,
                      struct play_random *random, uint32_t *cell)
{
    uint32_t n = 0, wanted;

    for (uint32_t i = 0; i < board->n_cells; i++)
        n += board->on_board[i] && rings_owner(stacks[i]) == owner;
    if (n == 0)
        return false;
    wanted = play_below(random, n);
    for (*cell = 0;; ++*cell)
        if (board->on_board[*cell] && rings_owner(stacks[*cell]) == owner && wanted-- == 0)
            return true;
}

static bool draw_placement(const struct board *board, const uint8_t *stacks,
                           struct play_random *random, struct rings_action *action)
{
    if (!draw_cell(board, stacks, 0, random, &action->to))
        return false;
    action->index = action->to * 3 + play_below(random, 3);
    return true;
}

static bool draw_move(const struct board *board, const uint8_t *stacks, uint32_t owner,
                      struct play_random *random, struct rings_action *action)
{
    const uint32_t distances = board->cols - 1;
    uint32_t n_directions;
    const struct board_step *steps = ringrift_directions(board, &n_directions);
    const uint32_t d = play_below(random, n_directions);
    const uint32_t distance = 1 + play_below(random, distances < 3 ? distances : 3);

    if (!draw_cell(board, stacks, owner, random, &action->from) ||
        !try_move(board, stacks, action, &steps[d], distance))
        return false;
    action->index =
        3 * board->n_cells + (action->from * n_directions + d) * distances + distance - 1;
    return true;
}

bool rings_draw_action(const struct board *board, const uint8_t *stacks, uint32_t ply,
                       struct play_random *random, struct rings_action *action)
{
    *action = (struct rings_action){0};
    if (ply < rings_n_placements(board))
        return draw_placement(board, stacks, random, action);
    return draw_move(board, stacks, 1 + (ply & 1), random, action);
}

void rings_apply(const struct board *board, uint8_t *stacks, uint32_t ply,
                 const struct rings_action *action)
{
    const uint32_t owner = 1 + (ply & 1);

    if (action->index == rings_passing_index(board))
        return;
    if (ply < rings_n_placements(board)) {
        stacks[action->to] = new_stack(owner, action->index % 3 + 1);
        return;
    }
    stacks[action->to] =
        new_stack(owner, rings_height(stacks[action->from]) + rings_height(stacks[action->to]));
    stacks[action->from] = 0;
}
