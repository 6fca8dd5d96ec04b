/*
 * kinds.c - the game for each board, and what its shards hold: Hex, Gomoku and TicTacToe, and
 * Connect 4, which are played by their rules; RingRift, chess, Take It Easy, KataGo's and
 * KataGomo's games, whose men are put on random cells; and any other board.
 */
#include "sample/play.h"

/* --- labels --- */

static void draw_result(const struct play_row *r)
{
    play_put(r, 0, play_result(r));
}

/* On boards that swap colours 1 where the second player wins, 0.5 where nobody does. */
static void draw_value(const struct play_row *r)
{
    play_put(r, 0,
             board_swaps_colours(r->play->board) ? r->game->winner < 0 ? 0.5 : r->game->winner
                                                 : play_result(r));
}

static void draw_ply(const struct play_row *r)
{
    play_put(r, 0, r->ply);
}

static void draw_player(const struct play_row *r)
{
    play_put(r, 0, r->ply & 1);
}

/* The player to move as 1 or -1, the way programs for Gomoku store it. */
static void draw_sign(const struct play_row *r)
{
    play_put(r, 0, (r->ply & 1) == 0 ? 1 : -1);
}

/* The row and column of the last move; -1 where there is none. */
static void draw_last_move(const struct play_row *r)
{
    const int32_t cols = (int32_t)r->play->board->cols;
    const int32_t last = r->ply > 0 ? (int32_t)r->game->cells[r->ply - 1] : 0;

    play_put(r, 0, r->ply > 0 ? last / cols : -1);
    play_put(r, 1, r->ply > 0 ? last % cols : -1);
}

/* --- games of stones --- */

static const struct play_kind hex = {
    .planes = "FSs",
    .wins = play_joins_edges,
    .arrays =
        {
            {"boards", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .draw = play_draw_planes},
            {"policy", "<f4", {PLAY_ACTIONS}, .draw = play_draw_policy},
            {"value", "<f4", {0}, .draw = draw_value},
            {"player_to_move", "|i1", {0}, .draw = draw_player},
            {"ply", "<i4", {0}, .draw = draw_ply},
        },
};

static const struct play_kind gomoku = {
    .planes = "MT12f",
    .wins = play_completes_line,
    .arrays =
        {
            {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .draw = play_draw_planes},
            {"policy", "<f4", {PLAY_ACTIONS}, .draw = play_draw_policy},
            {"value", "<f4", {0}, .draw = draw_result},
            {"last_move", "<i4", {2}, .draw = draw_last_move},
            {"current_player", "|i1", {0}, .draw = draw_sign},
        },
};

/* Each stone falls to the lowest free cell of its column. */
static void drop(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;

    memset(game->when, 0, b->cols * sizeof *game->when); /* stones in each column */
    for (uint32_t i = 0; i < b->n_cells; i++) {
        const uint32_t col = game->cells[i] % b->cols;

        game->cells[i] = (b->rows - ++game->when[col]) * b->cols + col;
    }
}

static const struct play_kind connect4 = {
    .planes = "MTf",
    .layout = "columns",
    .arrange = drop,
    .wins = play_completes_line,
    .arrays =
        {
            {"states", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .draw = play_draw_planes},
            {"policies", "<f4", {PLAY_ACTIONS}, .draw = play_draw_policy},
            {"values", "<f4", {0}, .draw = draw_result},
        },
};

/* The planes are those of play_init. */
static const struct play_kind any = {
    .wins = play_fills_line,
    .arrays =
        {
            {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .draw = play_draw_planes},
            {"policy", "<f4", {PLAY_ACTIONS}, .draw = play_draw_policy},
            {"value", "<f4", {0}, .draw = draw_value},
            {"current_player", "|i1", {0}, .draw = draw_player},
        },
};

/* --- RingRift --- */

#define MAX_HEIGHT 5
#define MAX_PLACED 3
#define N_GLOBALS  20
#define N_TRIES    32 /* to draw further actions for a policy */

static void set_heights(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_KINDS, 0);

    for (uint32_t i = 0; i < play->board->n_on_board; i++)
        game->kinds[i] = 1 + play_below(&random, MAX_HEIGHT);
}

/* Heights of stacks as a fraction, markers and territory, of which there are none; stacks of each
 * height, three positions before, the phase in which stacks are placed, the player to move; the
 * last plane of all is the board. Planes are of the player to move, then of the other. */
static void draw_features(const struct play_row *r)
{
    play_draw_planes(r);
    play_draw_plane(r, r->play->n_planes - 1, 'o');
    for (uint32_t i = 0; i < r->ply; i++)
        play_put(r, ((i ^ r->ply) & 1) * r->play->board->n_cells + play_place(r, r->game->cells[i]),
                 (double)r->game->kinds[i] / MAX_HEIGHT);
}

/* The share of plies played, whose turn it is, which phase; the rest is 0. */
static void draw_globals(const struct play_row *r)
{
    play_put(r, 0, (double)r->ply / r->game->n_plies);
    play_put(r, 1, r->ply & 1);
    play_put(r, 2, 1);
}

/* Fill game->actions: the placement of the next stack, then others, and moves of own stacks.
 * Returns their number. */
static uint32_t draw_actions(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_CHOICES, r->ply);
    const uint32_t height = r->game->kinds[r->ply];
    uint32_t *actions = r->game->actions, n = 1;

    actions[0] =
        r->game->cells[r->ply] * MAX_PLACED + (height < MAX_PLACED ? height : MAX_PLACED) - 1;
    for (int i = 0; i < N_TRIES && n < PLAY_MAX_ITEMS; i++) {
        struct play_action action;
        uint32_t k = 0;

        if (!play_action_of(r->play, play_below(&random, r->play->n_actions), &action) ||
            action.cell == PLAY_NOWHERE || !play_may(r, &action))
            continue;
        while (k < n && actions[k] != action.index)
            k++;
        actions[k] = action.index;
        n += k == n;
    }
    return n;
}

static uint32_t draw_indices(const struct play_row *r)
{
    const uint32_t n = draw_actions(r);

    for (uint32_t i = 0; i < n; i++)
        play_put(r, i, r->game->actions[i]);
    return n;
}

static uint32_t draw_weights(const struct play_row *r)
{
    const uint32_t n = draw_actions(r), total = play_visits(r, n);

    for (uint32_t i = 0; i < n; i++)
        play_put(r, i, (double)r->game->visits[i] / total);
    return n;
}

static const struct play_kind ringrift = {
    .planes = "......PNBRQpnbrquxvywzof",
    .layout = "ringrift",
    .arrange = set_heights,
    .arrays =
        {
            {"features", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .draw = draw_features},
            {"globals", "<f4", {N_GLOBALS}, .draw = draw_globals},
            {"values", "<f4", {0}, .draw = draw_result},
            {"policy_indices", "<i4", {0}, .draw_items = draw_indices},
            {"policy_values", "<f4", {0}, .draw_items = draw_weights},
            {"move_numbers", "<i4", {0}, .draw = draw_ply},
            {"board_type", "<U", {0}, .text = ""},
            {"policy_encoding", "<U", {0}, .text = "board_aware"},
        },
};

/* --- chess --- */

#define PLANE_RIGHTS   12
#define PLANE_MATERIAL 19

enum chess_man { MAN_PAWN = 1, MAN_KNIGHT, MAN_BISHOP, MAN_ROOK, MAN_QUEEN, MAN_KING };

/* Kings and rooks stand at home, other men anywhere, pawns not on the first and last rank. */
static void set_men(const struct play *play, struct play_game *game)
{
    static const uint32_t homes[] = {4, 60, 0, 56, 7, 63};
    static const char others[] = {MAN_PAWN,   MAN_PAWN,   MAN_PAWN,   MAN_PAWN, MAN_KNIGHT,
                                  MAN_KNIGHT, MAN_BISHOP, MAN_BISHOP, MAN_ROOK, MAN_QUEEN};
    struct play_random random = play_random_of(play, game, PLAY_FOR_KINDS, 0);

    for (uint32_t i = 0; i < play->board->n_cells; i++) {
        uint32_t kind = (uint32_t)others[play_below(&random, sizeof others)], at = i;

        for (; i < 6 && game->cells[at] != homes[i]; at++)
            ;
        game->cells[at] = game->cells[i];
        if (i < 6)
            game->cells[i] = homes[i];
        if (kind == MAN_PAWN && (game->cells[i] < 8 || game->cells[i] >= 56))
            kind = MAN_KNIGHT;
        game->kinds[i] = i < 2 ? MAN_KING : i < 6 ? MAN_ROOK : kind;
    }
}

/* Men, rights to castle (king's and queen's side, the player to move first), occupied squares, and
 * of each kind of men how many more the player to move has. */
static void draw_states(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_RESULT, 1);
    const uint32_t n_cells = r->play->board->n_cells, rights = play_below(&random, 16);
    int more[MAN_KING + 1] = {0};

    play_draw_planes(r);
    for (uint32_t i = 0; i < play_n_men(r); i++)
        more[r->game->kinds[i]] += ((i ^ r->ply) & 1) == 0 ? 1 : -1;
    for (uint32_t cell = 0; cell < n_cells; cell++) {
        for (uint32_t i = 0; i < 4; i++)
            play_put(r, (uint64_t)(PLANE_RIGHTS + i) * n_cells + cell,
                     rights >> ((i + 2 * (r->ply & 1)) % 4) & 1);
        for (uint32_t kind = MAN_PAWN; kind <= MAN_KING; kind++)
            play_put(r, (uint64_t)(PLANE_MATERIAL + kind - 1) * n_cells + cell, more[kind]);
    }
}

static const struct play_kind chess = {
    .planes = "PNBRQKpnbrqk....MT.......",
    .n_plies = 16, /* until there are 32 men */
    .arrange = set_men,
    .is_turned = true,
    .arrays =
        {
            {"states", "|i1", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .draw = draw_states},
            {"policies", "<f4", {PLAY_ACTIONS}, .draw = play_draw_policy},
            {"values", "<f4", {0}, .draw = draw_result},
        },
};

/* --- Take It Easy --- */

#define N_NUMBERS 3

static uint32_t number_of(uint32_t tile, uint32_t direction)
{
    static const uint8_t numbers[N_NUMBERS][3] = {{1, 5, 9}, {2, 6, 7}, {3, 4, 8}};
    static const uint32_t divisors[N_NUMBERS] = {9, 3, 1};

    return numbers[direction][tile / divisors[direction] % 3];
}

static void shuffle_tiles(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_KINDS, 0);

    for (uint32_t tile = 0; tile < PLAY_N_TILES; tile++)
        game->kinds[tile] = tile;
    play_shuffle(&random, game->kinds, PLAY_N_TILES);
}

/* Each cell's tile with numbers a, b, c as 100 a + 10 b + c; 0 where there is none yet. */
static void draw_plateau(const struct play_row *r)
{
    for (uint32_t i = 0; i < r->ply; i++) {
        const uint32_t tile = r->game->kinds[i];

        play_put(r, r->game->cells[i],
                 100 * number_of(tile, 0) + 10 * number_of(tile, 1) + number_of(tile, 2));
    }
}

static void draw_tile(const struct play_row *r)
{
    for (uint32_t i = 0; i < N_NUMBERS; i++)
        play_put(r, i, number_of(r->game->kinds[r->ply], i));
}

static void draw_position(const struct play_row *r)
{
    play_put(r, 0, r->game->cells[r->ply]);
}

static void draw_final_score(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_RESULT, 1);

    play_put(r, 0, play_below(&random, 100));
}

static const struct play_kind takeiteasy = {
    .n_plies = 19,
    .arrange = shuffle_tiles,
    .arrays =
        {
            {"plateau", "<i4", {PLAY_CELLS}, .draw = draw_plateau},
            {"tile", "<i4", {N_NUMBERS}, .draw = draw_tile},
            {"position", "<i4", {0}, .draw = draw_position},
            {"final_score", "<i4", {0}, .draw = draw_final_score},
        },
};

/* --- KataGo: targets are drawn as if from a search and the end of the game --- */

#define N_FEATURES   22
#define N_TARGETS    80
#define FUTURE_PLIES 8 /* to the first of two positions to be predicted; the other is the last */
#define Q_SCALE      32000
#define OWNED        120

enum value_plane { VALUE_OWNER, VALUE_SEKI, VALUE_SOON, VALUE_LAST, VALUE_SCORING };

/* The global targets that are set, of many. */
enum global_target { TARGET_WIN = 0, TARGET_LOSS = 1, TARGET_LEAD = 3, TARGET_WEIGHT = 25 };

/* Go: the komi as seen by the player to move. Other games: whose turn it is. */
static void draw_global_input(const struct play_row *r)
{
    const double sign = (r->ply & 1) == 0 ? -1 : 1;

    if (r->play->board->game != BOARD_GAME_KATAGO) {
        play_put(r, 0, r->ply & 1);
        return;
    }
    play_put(r, 5, 0.375 * sign);
    play_put(r, 14, 1);
    play_put(r, 18, 0.5 * sign);
}

/* Visits for this move and for the answer to it. */
static void draw_visits(const struct play_row *r)
{
    struct play_row of = *r;

    for (; of.ply < r->ply + 2; of.ply++, of.to += of.play->n_actions * of.dtype->itemsize) {
        const uint32_t n = play_list(&of);

        play_visits(&of, n);
        for (uint32_t i = 0; i < n; i++)
            play_put(&of, r->game->actions[i], r->game->visits[i]);
    }
}

/* Of each visited move: win, score, weight. */
static void draw_q_values(const struct play_row *r)
{
    const uint64_t n_actions = r->play->n_actions;
    const uint32_t n = play_list(r);

    play_visits(r, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = r->game->actions[i], visits = r->game->visits[i];

        if (visits == 0)
            continue;
        play_put(r, at, play_result(r) * Q_SCALE / (int32_t)(i + 1));
        play_put(r, n_actions + at, (int32_t)(at % 61) * 8 - 240);
        play_put(r, 2 * n_actions + at, visits);
    }
}

/* By how many points the player to move is ahead at the end: random, but the winner is ahead. */
static int32_t lead_of(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_RESULT, 1);

    return play_result(r) * (int32_t)(1 + play_below(&random, 20));
}

static void draw_global_targets(const struct play_row *r)
{
    const int32_t lead = lead_of(r);

    play_put(r, TARGET_WIN, lead > 0);
    play_put(r, TARGET_LOSS, lead < 0);
    play_put(r, TARGET_LEAD, lead - 0.5);
    play_put(r, TARGET_WEIGHT, 1);
}

/* All weight, 100, on the final score; bin n is a lead of n + 0.5 - (cells + 60). */
static void draw_scores(const struct play_row *r)
{
    r->to[(int32_t)r->play->board->n_cells + 60 + lead_of(r) - 1] = 100;
}

/* Owners at the end, and two later positions. */
static void draw_values(const struct play_row *r)
{
    const uint64_t n_cells = r->play->board->n_cells;

    for (uint64_t cell = 0; cell < n_cells; cell++) {
        const uint32_t man = r->game->when[cell];
        const int mine = ((man ^ r->ply) & 1) == 0 ? 1 : -1;

        play_put(r, VALUE_OWNER * n_cells + cell, mine);
        play_put(r, VALUE_SCORING * n_cells + cell, mine * OWNED);
        play_put(r, VALUE_SOON * n_cells + cell, man < r->ply + FUTURE_PLIES ? mine : 0);
        play_put(r, VALUE_LAST * n_cells + cell, man < r->game->n_plies ? mine : 0);
    }
}

static const struct play_kind katago = {
    .planes = "oMT......12345",
    .bare_names = true,
    .arrays =
        {
            {"binaryInputNCHWPacked", "|u1", {N_FEATURES, PLAY_PACKED}, .draw = play_draw_planes},
            {"globalInputNC", "<f4", {19}, .draw = draw_global_input},
            {"policyTargetsNCMove", "<i2", {2, PLAY_ACTIONS}, .draw = draw_visits},
            {"globalTargetsNC", "<f4", {N_TARGETS}, .draw = draw_global_targets},
            {"scoreDistrN", "|i1", {PLAY_SCORES}, .draw = draw_scores},
            {"valueTargetsNCHW", "|i1", {5, PLAY_ROWS, PLAY_COLS}, .draw = draw_values},
            {"qValueTargetsNCMove", "<i2", {3, PLAY_ACTIONS}, .draw = draw_q_values},
        },
};

/* --- which game --- */

#define TICTACTOE_SIDE 3
#define GOMOKU_SIDE    9 /* at least */

static const struct play_kind *kind_of(const struct board *b)
{
    switch (b->game) {
    case BOARD_GAME_HEX:
        return &hex;
    case BOARD_GAME_LINE:
        return b->size == TICTACTOE_SIDE || b->size >= GOMOKU_SIDE ? &gomoku : &any;
    case BOARD_GAME_DROP:
        return b->rows == 6 && b->cols == 7 ? &connect4 : &any;
    case BOARD_GAME_RINGS:
        return &ringrift;
    case BOARD_GAME_CHESS:
        return &chess;
    case BOARD_GAME_TILES:
        return &takeiteasy;
    case BOARD_GAME_KATAGO:
    case BOARD_GAME_KATAGOMO:
        return &katago;
    case BOARD_GAME_STONES:
    case BOARD_GAME_GO:
    case BOARD_GAME_OTHELLO:
        break;
    }
    return &any;
}

int play_init(struct play *play, const struct board *b, uint64_t seed, struct error *err)
{
    const struct play_kind *kind = kind_of(b);
    const bool has_pass = b->game == BOARD_GAME_GO || b->game == BOARD_GAME_OTHELLO;
    const char *wanted = has_pass ? "cells+pass" : kind->layout;
    const struct action_layout *layout = wanted != NULL ? action_layout_by_name(b, wanted) : NULL;
    bool has_lines = b->n_lines > 0; /* of one length */

    /* Else the family's first layout that the board has. */
    for (size_t i = 0; layout == NULL || layout->length(layout, b) == 0; i++)
        layout = b->family->layouts[i];
    for (uint32_t i = 0; i < b->n_lines; i++)
        has_lines &= b->line_start[i + 1] - b->line_start[i] == b->line_start[1];
    *play = (struct play){.board = b,
                          .kind = kind,
                          .seed = seed,
                          .layout = layout,
                          .n_actions = (uint32_t)layout->length(layout, b),
                          .planes = kind->planes,
                          .wins = kind != &any || has_lines ? kind->wins : NULL};
    if (kind == &any) {
        play->planes = b->n_planes > 0 ? "FS12" : board_swaps_colours(b) ? "FSs" : "MT1o";
        play->n_planes = b->n_planes;
    }
    if (play->n_planes == 0 && play->planes != NULL)
        play->n_planes = (uint32_t)strlen(play->planes);
    if (kind == &ringrift) {
        play->n_planes = b->family->stack_planes[0];
        return 0;
    }
    if (new_items(&play->actions, play->n_actions, "actions", err) != 0)
        return -1;
    for (uint32_t i = 0; i < play->n_actions; i++)
        play->n_encodable += play_action_of(play, i, &play->actions[play->n_encodable]);
    /* Men that move must be there; half of the cells at most are full. */
    if (play->n_encodable > 0 && !play->actions[0].is_placement &&
        play->actions[0].cell != PLAY_NOWHERE)
        play->n_before = 2 * (uint32_t)smaller(b->cols, b->n_on_board / 4);
    return 0;
}

void play_release(struct play *play)
{
    free(play->actions);
    *play = (struct play){0};
}
