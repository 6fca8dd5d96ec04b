/*
 * play_katago.c - shards with the members of KataGo's and KataGomo's: stones are put on random free
 * points, without captures, and the targets are drawn as if from a search and the end of the game.
 */
#include "sample/play.h"

#define N_FEATURES       22
#define N_GLOBALS        19
#define N_GLOBAL_TARGETS 80
#define N_RECENT         5 /* latest moves, each with a plane */
#define FUTURE_PLIES     8 /* to the first of two positions to be predicted; the other is the last */
#define Q_SCALE          32000
#define OWNED            120

enum feature { FEATURE_ON_BOARD = 0, FEATURE_MINE = 1, FEATURE_THEIRS = 2, FEATURE_RECENT = 9 };
enum value_plane { VALUE_OWNER, VALUE_SEKI, VALUE_SOON, VALUE_LAST, VALUE_SCORING };

/* The global targets that are set, of many. */
enum global_target { TARGET_WIN = 0, TARGET_LOSS = 1, TARGET_LEAD = 3, TARGET_WEIGHT = 25 };

static void set_bit(const struct play_row *r, uint32_t plane, uint32_t cell)
{
    const uint64_t plane_nbytes = ((uint64_t)r->play->board->n_cells + 7) / 8;

    r->to[plane * plane_nbytes + cell / 8] |= (uint8_t)(0x80 >> cell % 8);
}

static void render_input(const struct play_row *r)
{
    for (uint32_t cell = 0; cell < r->play->board->n_cells; cell++)
        set_bit(r, FEATURE_ON_BOARD, cell);
    for (uint32_t k = 0; k < r->ply; k++)
        set_bit(r, FEATURE_MINE + ((r->ply - k) & 1), r->game->moves[k]);
    for (uint32_t k = 1; k <= N_RECENT && k <= r->ply; k++)
        set_bit(r, FEATURE_RECENT + k - 1, r->game->moves[r->ply - k]);
}

/* Go: the komi as seen by the player to move. Other games: whose turn it is. */
static void render_global_input(const struct play_row *r)
{
    if (r->play->board->game != BOARD_GAME_KATAGO) {
        play_put_float(r->to, 0, (float)(r->ply & 1));
        return;
    }
    play_put_float(r->to, 5, (r->ply & 1) == 0 ? -0.375F : 0.375F);
    play_put_float(r->to, 14, 1);
    play_put_float(r->to, 18, (r->ply & 1) == 0 ? -0.5F : 0.5F);
}

/* Visits of the free points for this move and for the answer to it; pass, the last, has none. */
static void render_policy(const struct play_row *r)
{
    struct play_row of = *r;

    for (; of.ply < r->ply + 2; of.ply++, of.to += 2 * play_dim(r->play, PLAY_CELLS_PASS)) {
        const uint32_t n = r->play->board->n_cells - of.ply;

        play_visits(&of, r->game->work, n);
        for (uint32_t i = 0; i < n; i++)
            play_put_short(of.to, r->game->moves[of.ply + i], (int32_t)r->game->work[i]);
    }
}

/* Of each visited move: win, score, weight. */
static void render_q_values(const struct play_row *r)
{
    const uint64_t n_actions = play_dim(r->play, PLAY_CELLS_PASS);
    const uint32_t n = r->play->board->n_cells - r->ply;

    play_visits(r, r->game->work, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = r->game->moves[r->ply + i], visits = r->game->work[i];

        if (visits == 0)
            continue;
        play_put_short(r->to, at,
                       play_result_for_mover(r->game, r->ply) * Q_SCALE / (int32_t)(i + 1));
        play_put_short(r->to, n_actions + at, (int32_t)(at % 61) * 8 - 240);
        play_put_short(r->to, 2 * n_actions + at, (int32_t)visits);
    }
}

/* By how many points the player to move is ahead at the end: random, but the winner is ahead. */
static int32_t lead_of(const struct play *play, const struct play_game *game, uint32_t ply)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_CHOICES, 0);

    return play_result_for_mover(game, ply) * (int32_t)(1 + play_below(&random, 20));
}

static void render_global_targets(const struct play_row *r)
{
    const int32_t lead = lead_of(r->play, r->game, r->ply);

    play_put_float(r->to, TARGET_WIN, lead > 0);
    play_put_float(r->to, TARGET_LOSS, lead < 0);
    play_put_float(r->to, TARGET_LEAD, (float)lead - 0.5F);
    play_put_float(r->to, TARGET_WEIGHT, 1);
}

/* All weight, 100, on the final score; bin n is a lead of n + 0.5 - (cells + 60). */
static void render_scores(const struct play_row *r)
{
    const int32_t middle = (int32_t)(r->play->board->n_cells + 60);

    r->to[middle + lead_of(r->play, r->game, r->ply) - 1] = 100;
}

/* Owners at the end (of a free point: random), and two later positions. */
static void render_values(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_RESULT, 1);
    const uint64_t n_cells = r->play->board->n_cells;

    for (uint32_t k = 0; k < n_cells; k++) {
        uint8_t *at = r->to + r->game->moves[k];
        const bool is_played = k < r->game->n_plies;
        const uint32_t owner = is_played ? k & 1 : play_below(&random, 2);
        const int mine = owner == (r->ply & 1) ? 1 : -1;

        at[VALUE_OWNER * n_cells] = (uint8_t)mine;
        at[VALUE_SCORING * n_cells] = (uint8_t)(mine * OWNED);
        if (is_played && k < r->ply + FUTURE_PLIES)
            at[VALUE_SOON * n_cells] = (uint8_t)mine;
        if (is_played)
            at[VALUE_LAST * n_cells] = (uint8_t)mine;
    }
}

const struct play_kind play_katago = {
    .game = BOARD_GAME_KATAGO,
    .last_game = BOARD_GAME_KATAGOMO,
    .play = play_place_stones,
    .bare_names = true,
    .arrays =
        {
            {"binaryInputNCHWPacked", "|u1", {N_FEATURES, PLAY_PACKED}, .render = render_input},
            {"globalInputNC", "<f4", {N_GLOBALS}, .render = render_global_input},
            {"policyTargetsNCMove", "<i2", {2, PLAY_CELLS_PASS}, .render = render_policy},
            {"globalTargetsNC", "<f4", {N_GLOBAL_TARGETS}, .render = render_global_targets},
            {"scoreDistrN", "|i1", {PLAY_SCORES}, .render = render_scores},
            {"valueTargetsNCHW", "|i1", {5, PLAY_ROWS, PLAY_COLS}, .render = render_values},
            {"qValueTargetsNCMove", "<i2", {3, PLAY_CELLS_PASS}, .render = render_q_values},
        },
};
