/*
 * play_plausible.c - games whose rules are not kept: RingRift, chess, KataGo's and KataGomo's. Men
 * are on random cells, the players' in turn, nobody's man moves, and the winner is random. Policies
 * of moves hold some actions that could be possible, as the layout encodes them.
 */
#include "sample/play.h"

/* --- shared by these games --- */

#define N_TRIES 256 /* to draw actions for a policy, of which some are always possible */

static void set_up_layout(struct play *play)
{
    const struct board *b = play->board;
    const struct action_layout *layout = action_layout_by_name(b, "ringrift");

    play->layout = layout != NULL ? layout : b->family->layouts[0];
    play->n_actions = (uint32_t)play->layout->length(play->layout, b);
    play->n_planes = b->family->stack_planes[0];
}

/* A man: RingRift's are stacks, the kind is their height. */
struct man {
    uint32_t cell, kind; /* kind 0: not on the board */
    uint32_t theirs;     /* 1: not of the player to move, who sees a board of chess from below */
};

enum chess_man { MAN_NONE, MAN_PAWN, MAN_KNIGHT, MAN_BISHOP, MAN_ROOK, MAN_QUEEN, MAN_KING };

#define N_CHESSMEN 32
#define MAX_PLACED 3 /* rings of a new stack */
#define THEIRS     255

static uint32_t n_men(const struct play_row *r)
{
    return r->play->kind == &play_chess ? N_CHESSMEN - r->ply : r->ply;
}

/* Man number i. Pawns that would be on the first or last rank are left out. */
static struct man man_of(const struct play_row *r, uint32_t i)
{
    static const uint8_t chessmen[N_CHESSMEN / 2] = {
        MAN_KING,  MAN_ROOK,   MAN_ROOK, MAN_PAWN,   MAN_PAWN, MAN_KNIGHT, MAN_PAWN, MAN_BISHOP,
        MAN_QUEEN, MAN_KNIGHT, MAN_PAWN, MAN_BISHOP, MAN_PAWN, MAN_PAWN,   MAN_PAWN, MAN_PAWN,
    };
    struct man man = {r->game->moves[i], 0, (i ^ r->ply) & 1};

    if (r->play->kind == &play_chess) {
        const bool is_inside = man.cell >= 8 && man.cell < 56;

        man.kind = is_inside || chessmen[i / 2] != MAN_PAWN ? chessmen[i / 2] : MAN_NONE;
        man.cell ^= (r->ply & 1) != 0 ? 56 : 0;
        return man;
    }
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_RESULT, 1 + i);
    man.kind = 1 + play_below(&random, MAX_PLACED);
    return man;
}

/* True when the chessman of the player to move goes like that on an empty board; pawns only ahead.
 */
static bool may_go(const struct play_row *r, uint32_t action)
{
    enum { JUMP = 1, STRAIGHT = 2, DIAGONAL = 4 };
    static const int ways[] = {[MAN_KNIGHT] = JUMP,
                               [MAN_BISHOP] = DIAGONAL,
                               [MAN_ROOK] = STRAIGHT,
                               [MAN_QUEEN] = STRAIGHT | DIAGONAL,
                               [MAN_KING] = STRAIGHT | DIAGONAL};
    char text[ACTION_TEXT_NBYTES]; /* "e2e4", "a7a8=Q" */

    r->play->layout->about(r->play->layout, r->play->board, action, text);
    const int from = 8 * (text[1] - '1') + text[0] - 'a', to = 8 * (text[3] - '1') + text[2] - 'a';
    const uint8_t man = r->game->stones[from], other = r->game->stones[to];
    const int ranks = abs(to / 8 - from / 8), files = abs(to % 8 - from % 8);
    const int way = ranks * files == 2 ? JUMP : ranks * files == 0 ? STRAIGHT : DIAGONAL;

    if (man == MAN_PAWN)
        return to == from + 8 && other == 0 && (text[4] == '=') == (to >= 56);
    return (ways[man] & way) != 0 && (man != MAN_KING || (ranks <= 1 && files <= 1)) &&
           (other == 0 || other == THEIRS) && text[4] == '\0';
}

/* Fill game->work with possible actions, at most PLAY_MAX_ITEMS: RingRift's next stack, then random
 * ones that put a man on a free cell or move an own one. Returns their number. */
static uint32_t list_actions(const struct play_row *r)
{
    const struct action_layout *layout = r->play->layout;
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_CHOICES, 1 + r->ply);
    uint32_t *actions = r->game->work, n = 0, k;

    memset(r->game->stones, 0, r->play->board->n_cells);
    for (uint32_t i = 0; i < n_men(r); i++) {
        const struct man man = man_of(r, i);

        if (man.kind != 0)
            r->game->stones[man.cell] = (uint8_t)(man.theirs != 0 ? THEIRS : man.kind);
    }
    if (r->play->kind == &play_ringrift) {
        const struct man next = man_of(r, r->ply);

        actions[n++] = next.cell * MAX_PLACED + next.kind - 1;
    }
    for (int i = 0; (i < N_TRIES && n < PLAY_MAX_ITEMS) || n == 0; i++) {
        const uint32_t action = play_below(&random, r->play->n_actions);
        const struct action_about about = layout->about(layout, r->play->board, action, NULL);
        const bool moves = strcmp(about.kind, "movement") == 0;

        if ((about.flags & ACTION_ENCODABLE) == 0 || about.cell < 0 ||
            (!moves && strcmp(about.kind, "placement") != 0) ||
            moves != (r->game->stones[about.cell] > 0) || r->game->stones[about.cell] == THEIRS ||
            (r->play->kind == &play_chess && !may_go(r, action)))
            continue;
        for (k = 0; k < n && actions[k] != action; k++)
            ;
        actions[k] = action;
        n += k == n;
    }
    return n;
}

/* --- RingRift --- */

#define N_HISTORY  3
#define N_GLOBALS  20
#define MAX_HEIGHT 5

/* Planes, in pairs of mine and theirs; the last one of all is 1 on the board. */
enum plane {
    PLANE_STACKS,
    PLANE_HEIGHT = 2,                                 /* as a fraction of MAX_HEIGHT */
    PLANE_HEIGHT_IS = 4,                              /* 1 to MAX_HEIGHT, mine; then theirs */
    PLANE_HISTORY = PLANE_HEIGHT_IS + 2 * MAX_HEIGHT, /* latest first */
    PLANE_FIRST_TO_MOVE = PLANE_HISTORY + 2 * N_HISTORY + 1,
};

/* Set a cell of a plane. Planes of hexagons are stored by row and column, of squares by column and
 * row. */
static void put(const struct play_row *r, uint32_t plane, uint32_t cell, double value)
{
    const struct board *b = r->play->board;

    if (b->family->xy_layout != NULL)
        cell = cell % b->cols * b->rows + cell / b->cols;
    play_put(r, (uint64_t)plane * b->n_cells + cell, value);
}

static void render_features(const struct play_row *r)
{
    const struct board *b = r->play->board;

    for (uint32_t i = 0; i < r->ply; i++) {
        const struct man stack = man_of(r, i);

        put(r, PLANE_STACKS + stack.theirs, stack.cell, 1);
        put(r, PLANE_HEIGHT + stack.theirs, stack.cell, (double)stack.kind / MAX_HEIGHT);
        put(r, PLANE_HEIGHT_IS + stack.theirs * MAX_HEIGHT + stack.kind - 1, stack.cell, 1);
        for (uint32_t back = 1; back <= N_HISTORY && i + back < r->ply; back++)
            put(r, PLANE_HISTORY + 2 * (back - 1) + stack.theirs, stack.cell, 1);
    }
    for (uint32_t i = 0; i < b->n_on_board; i++) {
        put(r, PLANE_FIRST_TO_MOVE, b->order[i], (r->ply & 1) == 0);
        put(r, r->play->n_planes - 1, b->order[i], 1);
    }
}

/* The share of plies played, whose turn it is; the rest is 0. */
static void render_globals(const struct play_row *r)
{
    play_put(r, 0, (double)r->ply / r->game->n_plies);
    play_put(r, 1, r->ply & 1);
}

/* The indices of the actions, or where elements are fractions the policy's shares. */
static uint32_t render_actions(const struct play_row *r)
{
    const uint32_t n = list_actions(r);

    if (r->dtype->kind == DTYPE_FLOAT)
        play_policy(r, NULL, n);
    for (uint32_t i = 0; i < n && r->dtype->kind == DTYPE_INT; i++)
        play_put(r, i, r->game->work[i]);
    return n;
}

const struct play_kind play_ringrift = {
    .set_up = set_up_layout,
    .play = play_place_stones,
    .arrays =
        {
            {"features.npy", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_features},
            {"globals.npy", "<f4", {N_GLOBALS}, .render = render_globals},
            {"values.npy", "<f4", {0}, .render = play_render_result},
            {"policy_indices.npy", "<i4", {0}, .render_items = render_actions},
            {"policy_values.npy", "<f4", {0}, .render_items = render_actions},
            {"move_numbers.npy", "<i4", {0}, .render = play_render_ply},
            {"board_type.npy", "<U", {0}, .text = ""},
            {"policy_encoding.npy", "<U", {0}, .text = "board_aware"},
        },
};

/* --- chess: all men stand on random squares, one fewer in each position; seen from the player to
 * move, who plays up the board --- */

#define N_SQUARES 64
#define N_PLIES   20

enum chess_plane {
    PLANE_MEN = 0,       /* of each kind, mine; then theirs */
    PLANE_RIGHTS = 12,   /* to castle, own king's side and queen's side, then the other's */
    PLANE_OCCUPIED = 16, /* mine, theirs; the next plane is empty */
    PLANE_MATERIAL = 19, /* of each kind of man: mine minus theirs */
    N_CHESS_PLANES = 25,
};

/* Kings and rooks often stand at home. */
static void place_chessmen(const struct play *play, struct play_game *game)
{
    static const uint32_t homes[] = {4, 60, 0, 56, 7, 63};
    struct play_random random = play_random_of(play, game, PLAY_FOR_CHOICES, 0);

    play_place_stones(play, game);
    game->n_plies = N_PLIES;
    for (uint32_t i = 0; i < N_OF(homes); i++) {
        uint32_t at = 0;

        while (game->moves[at] != homes[i])
            at++;
        if (play_below(&random, 4) == 0)
            continue;
        game->moves[at] = game->moves[i];
        game->moves[i] = homes[i];
    }
}

/* There is a right to castle where the king and the rook are at home. */
static void render_states(const struct play_row *r)
{
    static const uint8_t kings[4] = {4, 4, 60, 60}, rooks[4] = {7, 0, 63, 56};
    int material[MAN_KING + 1] = {0};

    for (uint32_t i = 0; i < n_men(r); i++) {
        const struct man man = man_of(r, i);

        if (man.kind == MAN_NONE)
            continue;
        r->to[(PLANE_MEN + 6 * man.theirs + man.kind - 1) * N_SQUARES + man.cell] = 1;
        r->to[(PLANE_OCCUPIED + man.theirs) * N_SQUARES + man.cell] = 1;
        material[man.kind] += man.theirs ? -1 : 1;
    }
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *men = r->to + (PLANE_MEN + 6 * (i / 2)) * N_SQUARES;

        memset(r->to + (PLANE_RIGHTS + i) * N_SQUARES,
               men[(MAN_KING - 1) * N_SQUARES + kings[i]] &
                   men[(MAN_ROOK - 1) * N_SQUARES + rooks[i]],
               N_SQUARES);
    }
    for (uint32_t kind = MAN_PAWN; kind <= MAN_KING; kind++)
        memset(r->to + (PLANE_MATERIAL + kind - 1) * N_SQUARES, material[kind], N_SQUARES);
}

static void render_policies(const struct play_row *r)
{
    const uint32_t n = list_actions(r);

    play_policy(r, r->game->work, n);
}

const struct play_kind play_chess = {
    .set_up = set_up_layout,
    .play = place_chessmen,
    .arrays =
        {
            {"states.npy", "|i1", {N_CHESS_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_states},
            {"policies.npy", "<f4", {PLAY_ACTIONS}, .render = render_policies},
            {"values.npy", "<f4", {0}, .render = play_render_result},
        },
};

/* --- KataGo: the targets are drawn as if from a search and the end of the game --- */

#define N_RECENT     5 /* latest moves, each with a plane */
#define FUTURE_PLIES 8 /* to the first of two positions to be predicted; the other is the last */
#define Q_SCALE      32000
#define OWNED        120

enum feature { FEATURE_ON_BOARD = 0, FEATURE_MINE = 1, FEATURE_THEIRS = 2, FEATURE_RECENT = 9 };
enum value_plane { VALUE_OWNER, VALUE_SEKI, VALUE_SOON, VALUE_LAST, VALUE_SCORING };

/* The global targets that are set, of many. */
enum global_target { TARGET_WIN = 0, TARGET_LOSS = 1, TARGET_LEAD = 3, TARGET_WEIGHT = 25 };

static void set_bit(const struct play_row *r, uint32_t plane, uint32_t cell)
{
    r->to[plane * play_dim(r->play, PLAY_PACKED) + cell / 8] |= (uint8_t)(0x80 >> cell % 8);
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
        play_put(r, 0, r->ply & 1);
        return;
    }
    play_put(r, 5, (r->ply & 1) == 0 ? -0.375 : 0.375);
    play_put(r, 14, 1);
    play_put(r, 18, (r->ply & 1) == 0 ? -0.5 : 0.5);
}

/* Visits of the free points for this move and for the answer to it; pass, the last, has none. */
static void render_visits(const struct play_row *r)
{
    struct play_row of = *r;

    for (; of.ply < r->ply + 2; of.ply++, of.to += 2 * r->play->n_actions) {
        const uint32_t n = r->play->board->n_cells - of.ply;

        play_visits(&of, n);
        for (uint32_t i = 0; i < n; i++)
            play_put(&of, r->game->moves[of.ply + i], r->game->visits[i]);
    }
}

/* Of each visited move: win, score, weight. */
static void render_q_values(const struct play_row *r)
{
    const uint32_t n = r->play->board->n_cells - r->ply, n_actions = r->play->n_actions;

    play_visits(r, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = r->game->moves[r->ply + i], visits = r->game->visits[i];
        const int32_t win = play_result(r) * Q_SCALE / (int32_t)(i + 1);

        if (visits == 0)
            continue;
        play_put(r, at, win);
        play_put(r, n_actions + at, (int32_t)(at % 61) * 8 - 240);
        play_put(r, 2 * n_actions + at, visits);
    }
}

/* By how many points the player to move is ahead at the end: random, but the winner is ahead. */
static int32_t lead_of(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_CHOICES, 0);

    return play_result(r) * (int32_t)(1 + play_below(&random, 20));
}

static void render_global_targets(const struct play_row *r)
{
    const int32_t lead = lead_of(r);

    play_put(r, TARGET_WIN, lead > 0);
    play_put(r, TARGET_LOSS, lead < 0);
    play_put(r, TARGET_LEAD, lead - 0.5);
    play_put(r, TARGET_WEIGHT, 1);
}

/* All weight, 100, on the final score; bin n is a lead of n + 0.5 - (cells + 60). */
static void render_scores(const struct play_row *r)
{
    const int32_t middle = (int32_t)(r->play->board->n_cells + 60);

    r->to[middle + lead_of(r) - 1] = 100;
}

/* Owners at the end (of a free point: random), and two later positions. */
static void render_targets(const struct play_row *r)
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
    .play = play_place_stones,
    .arrays =
        {
            {"binaryInputNCHWPacked", "|u1", {22, PLAY_PACKED}, .render = render_input},
            {"globalInputNC", "<f4", {19}, .render = render_global_input},
            {"policyTargetsNCMove", "<i2", {2, PLAY_ACTIONS}, .render = render_visits},
            {"globalTargetsNC", "<f4", {80}, .render = render_global_targets},
            {"scoreDistrN", "|i1", {PLAY_SCORES}, .render = render_scores},
            {"valueTargetsNCHW", "|i1", {5, PLAY_ROWS, PLAY_COLS}, .render = render_targets},
            {"qValueTargetsNCMove", "<i2", {3, PLAY_ACTIONS}, .render = render_q_values},
        },
};
