/*
 * turn.c - what rows of planes show: stones, the player to move, and the order in which policies
 * beside them are stored. It does not matter here who reads the rows.
 *
 * The plane in which a colour swap exchanges the players must hold one number throughout each row,
 * 0 or 1 (or, when told so, 1 and 2 or 1 and -1). A plane of empty cells, of the last move or of
 * the number of plies may stand in the same place. So what the rows in which it names no player
 * have in common decides which permutation of the planes is offered.
 */
#include "engine/turn.h"

static const double codes_of[][2] = {
    [TO_MOVE_01] = {0, 1}, [TO_MOVE_12] = {1, 2}, [TO_MOVE_PM1] = {1, -1}};

int turn_player(enum to_move_coding coding, double code)
{
    return code == codes_of[coding][0] ? 0 : code == codes_of[coding][1] ? 1 : -1;
}

int turn_by_plane(const struct planes_form *form, const uint8_t *frame)
{
    return form->turn < 0
               ? -1
               : turn_player(form->coding, planes_number(form, frame, (uint64_t)form->turn, 0));
}

int turn_by_array(const struct conventions *c, const struct row *to_move)
{
    return to_move->n == 0 ? -1 : turn_player(c->to_move, row_double(to_move, 0));
}

struct turn_lead turn_lead(bool is_mover, int player, const uint64_t n_stones[2])
{
    const int64_t mover = (int64_t)n_stones[0] - (int64_t)n_stones[1];
    const int64_t colour = player == 1 ? -mover : mover;

    return is_mover ? (struct turn_lead){mover, colour} : (struct turn_lead){colour, mover};
}

/* --- the plane that names the player to move --- */

void turn_rows_init(struct turn_rows *rows)
{
    *rows = (struct turn_rows){.first_bad = UINT64_MAX,
                               .low = INFINITY,
                               .high = -INFINITY,
                               .is_level = true,
                               .is_ply = true,
                               .is_rest = {true, true, true},
                               .is_turn = {true, true, true}};
}

/* A number that the plane holds throughout in some row. */
static void add_number(struct turn_rows *rows, double number)
{
    const bool is_new = number != rows->low && number != rows->high;

    rows->has_more |= is_new && rows->low < rows->high;
    rows->low = fmin(rows->low, number);
    rows->high = fmax(rows->high, number);
}

bool turn_rows_add(struct turn_rows *rows, const struct planes_form *form, const uint8_t *row,
                   uint64_t number)
{
    double found[2];

    if (form->turn < 0)
        return true;
    const bool level = planes_is_level(form, row, (uint64_t)form->turn, found);
    rows->n++;
    if (level)
        add_number(rows, found[0]);
    if (level && turn_player(form->coding, found[0]) >= 0)
        return true;
    rows->n_bad++;
    rows->is_level &= level;
    if (number < rows->first_bad) {
        rows->first_bad = number;
        memcpy(rows->bad, found, sizeof found);
    }
    /* Suppose that each plane in turn is not of stones: are the other two, and what is it? */
    for (uint64_t third = 0; form->n_planes == 3 && third < 3; third++) {
        const uint64_t a = (third + 1) % 3, b = (third + 2) % 3;
        bool disjoint = true, rest = true;
        uint64_t n_stones = 0;
        double numbers[2];
        int64_t lead = 0;

        for (uint64_t cell = 0; cell < form->axis; cell++) {
            const bool first = planes_has_stone(form, row, a, cell);
            const bool second = planes_has_stone(form, row, b, cell);

            disjoint &= !(first && second);
            lead += first - second;
            n_stones += first || second;
            rest &= planes_number(form, row, third, cell) == !(first || second);
        }
        rows->n_stones[third] += disjoint && lead >= -1 && lead <= 1;
        rows->is_rest[third] &= rest;
        rows->is_turn[third] &=
            planes_is_level(form, row, third, numbers) && turn_player(TO_MOVE_01, numbers[0]) >= 0;
        if ((int)third == form->turn)
            rows->is_ply &= level && found[0] == (double)n_stones;
    }
    return false;
}

void turn_rows_merge(struct turn_rows *rows, const struct turn_rows *from)
{
    rows->n += from->n;
    rows->n_bad += from->n_bad;
    rows->has_more |= from->has_more;
    if (from->low <= from->high) {
        add_number(rows, from->low);
        add_number(rows, from->high);
    }
    if (from->first_bad < rows->first_bad) {
        rows->first_bad = from->first_bad;
        memcpy(rows->bad, from->bad, sizeof rows->bad);
    }
    rows->is_level &= from->is_level;
    rows->is_ply &= from->is_ply;
    for (int plane = 0; plane < 3; plane++) {
        rows->n_stones[plane] += from->n_stones[plane];
        rows->is_rest[plane] &= from->is_rest[plane];
        rows->is_turn[plane] &= from->is_turn[plane];
    }
}

struct turn_advice turn_advise(const struct turn_rows *rows, const struct planes_form *form)
{
    static const char *const exchanging[] = {"%s0,2,1", "2,%s1,0", "1,0,%s2"};
    static const char *const keeping[] = {"%s0,1,2", "0,%s1,2", "0,1,%s2"};
    struct turn_advice advice = {.is_other_code = false};
    uint64_t odd = (uint64_t)form->turn;
    const char *mark = "";

    /* The odd plane is the one whose two others most often look like stones. */
    for (uint64_t c = 0; c < 3; c++) {
        const bool is_more = rows->n_stones[c] > rows->n_stones[odd];
        const bool is_same = rows->n_stones[c] == rows->n_stones[odd];

        if (is_more || (is_same && rows->is_turn[c] && !rows->is_turn[odd]))
            odd = c;
    }
    advice.is_rest = rows->is_rest[odd];
    advice.is_moved = odd != (uint64_t)form->turn && rows->is_turn[odd];
    if (rows->is_turn[odd])
        mark = "~";
    else if (odd == (uint64_t)form->turn && rows->is_level && !rows->is_ply && !rows->has_more) {
        if (rows->low == -1 && (rows->high == 1 || rows->high == -1))
            mark = "-";
        else if (rows->low >= 1 && rows->high == 2)
            mark = "=";
        else
            advice.is_other_code = rows->low == 0 && rows->high > 1;
    }
    snprintf(advice.planes[form->is_mover], sizeof advice.planes[0], exchanging[odd], mark);
    snprintf(advice.planes[!form->is_mover], sizeof advice.planes[0], keeping[odd], mark);
    advice.stones[0] = odd == 0;
    advice.stones[1] = odd == 2 ? 1 : 2;
    return advice;
}

/* --- a plane of ones under --to-move 12 or pm1 --- */

int turn_decide_coding(unsigned codes, enum to_move_coding said, enum to_move_coding *coding)
{
    *coding = said;
    if (said == TO_MOVE_01 || (codes & TURN_OTHER))
        return 0;
    /* The first pair that has a bit decides, unless it has both. */
    while (codes != 0 && (codes & 3) == 0)
        codes >>= 2;
    const unsigned pair = codes & 3;
    if (pair == 2)
        *coding = TO_MOVE_01;
    return pair == 1 || pair == 2 ? 0 : -1;
}

/* --- policies and moves in another order than the planes beside them --- */

/*
 * A policy in a wrong order meets stones by chance: with k moves on a board of which a share d is
 * occupied, it misses all of them with the probability (1-d)^k. Where the declared order meets
 * stones and another one never does, the product of these probabilities is the chance that the
 * other one misses them by luck. A row counts for no more than e^3, since the moves of a policy are
 * close together. Policies that have mass on stones rightly, such as the move that led to the
 * position, are known by that mass, which is more than chance would put there.
 */

#define NOISE         1e-6 /* of a policy: what smoothing leaves on cells that cannot be played */
#define MOST_OF_A_ROW 3    /* evidence that one policy can give */
#define SURE          7    /* evidence: one in a thousand */
#define SURE_OF_PART  14   /* more, because many runs of parts are tried */
#define BY_CHANCE     3    /* times as many as in another wrong order may be by chance */

/* The mass of one policy, and under every flip that on stones. */
struct mass {
    double total, squares, floor, on[LAID_N_ORDERS]; /* floor: the least mass of a cell */
    uint64_t n_cells, n_on[LAID_N_ORDERS];
    double highest;  /* the greatest mass on a stone in the declared order, */
    uint64_t action; /* and the action that has it */
};

bool laid_is_placement(const struct role_binding *policy)
{
    return policy->layout != NULL && (strncmp(policy->layout->name, "cells", 5) == 0 ||
                                      strcmp(policy->layout->name, "columns") == 0);
}

bool laid_can_read(const struct array *array, const struct role_binding *policy)
{
    const enum role role = policy->role;

    return role == ROLE_POLICY_INDEX ||
           (array->row_nbytes > 0 && dtype_is_number(&array->header.dtype) &&
            ((role == ROLE_ACTION && !(policy->options & ROLE_PAIRS)) || role == ROLE_POLICY ||
             role == ROLE_MASK));
}

int laid_init(struct laid *laid, const struct board *board, const struct role_binding *planes,
              const struct role_binding *policy, uint64_t n_rows, struct error *err)
{
    const struct action_layout *layout = policy->layout, *of_planes = planes->layout;
    const uint64_t axis = planes->axes.axis, n_actions = policy->n_actions;
    const bool is_list = policy->role == ROLE_POLICY_INDEX || policy->role == ROLE_ACTION;
    const uint64_t own = layout->length(layout, board), n_on_board = board->n_on_board;
    const bool is_of_box = own >= board->n_cells;
    const uint64_t n_placements = is_of_box ? board->n_cells : n_on_board;
    const uint64_t n_listed =
        of_planes != NULL ? smaller(axis, of_planes->length(of_planes, board)) : 0;
    int32_t *targets = malloc((n_actions * LAID_N_ORDERS + 1) * sizeof *targets);

    if (targets == NULL)
        return error_no_memory(err, "cells of actions");
    *laid = (struct laid){.policy = policy,
                          .is_columns = strcmp(layout->name, "columns") == 0,
                          .n_actions = n_actions,
                          .axis = axis,
                          .n_rows = n_rows,
                          .targets = targets,
                          .first_on = UINT64_MAX};
    for (unsigned flip = 0; flip < ACTION_N_ORDERS; flip++)
        laid->can_flip[flip] =
            (!(flip & ACTION_FROM_1) || is_list || n_actions > n_placements) &&
            (!(flip % ACTION_N_FLIPS) ||
             (!laid->is_columns && board_keeps_flip(board, flip % ACTION_N_FLIPS)));
    laid->can_flip[LAID_ON_BOARD] = is_list && is_of_box && n_on_board < board->n_cells;
    for (uint64_t i = 0; i < n_actions * LAID_N_ORDERS; i++) {
        const unsigned order = (unsigned)(i % LAID_N_ORDERS);
        const uint64_t a = i / LAID_N_ORDERS - (order < LAID_ON_BOARD && (order & ACTION_FROM_1));

        targets[i] = -1;
        if (!laid->can_flip[order] || a >= own ||
            !(action_flags(layout, board, a) & ACTION_PLACEMENT))
            continue;
        int64_t cell = order == LAID_ON_BOARD
                           ? (a < n_on_board ? (int64_t)board->order[a] : -1)
                           : (int64_t)action_flip_cell(board, order % ACTION_N_FLIPS,
                                                       (uint64_t)action_cell(layout, board, a));
        if (planes->plane_xy && cell >= 0)
            cell = cell % board->cols * board->rows + cell / board->cols;
        if (of_planes == NULL && cell < (int64_t)axis)
            targets[i] = (int32_t)cell;
        for (uint64_t k = 0; k < n_listed && targets[i] < 0; k++)
            if (action_cell(of_planes, board, k) == cell)
                targets[i] = (int32_t)k;
    }
    return 0;
}

const char *laid_order_name(unsigned order)
{
    return order == LAID_ON_BOARD   ? "counted by the cells on board"
           : order == ACTION_FROM_1 ? "counted from 1, a pass first,"
                                    : action_flip_name(order);
}

bool laid_has_option(const struct board *board, const struct action_layout *layout, unsigned order)
{
    return order < ACTION_N_ORDERS && action_can_flip(board, layout, order);
}

void laid_release(struct laid *laid)
{
    free(laid->targets);
    laid->targets = NULL;
}

void laid_init_part(struct laid *part, const struct laid *of)
{
    *part = *of;
    memset(part->parts, 0, sizeof part->parts);
    part->first_on = UINT64_MAX;
}

/* Add an action's mass p: under every flip, or only in the declared order. */
static inline void add_mass(struct mass *mass, const struct laid *laid,
                            const struct laid_position *position, uint64_t action, double p)
{
    const enum action_flip said = laid->policy->flip;
    const enum action_flip first = position->is_compared ? ACTION_AS_IS : said;
    const enum action_flip end = position->is_compared ? LAID_N_ORDERS : said + 1;

    if (isnan(p) || isinf(p))
        return;
    const int32_t *targets =
        action < laid->n_actions ? laid->targets + action * LAID_N_ORDERS : NULL;
    if (targets == NULL || targets[said] < 0) {
        mass->total += p;
        return;
    }
    if (mass->n_cells++ == 0 || p < mass->floor)
        mass->floor = p;
    if (p <= 0)
        return;
    mass->total += p;
    mass->squares += p * p;
    for (enum action_flip flip = first; flip < end; flip++) {
        if (targets[flip] < 0 || !position->occupied[targets[flip]])
            continue;
        mass->on[flip] += p;
        mass->n_on[flip]++;
        if (flip == said && p > mass->highest) {
            mass->highest = p;
            mass->action = action;
        }
    }
}

/* Whether any action of a row of dense policies has mass on a stone in the declared order. */
static bool is_any_on(const struct laid *laid, const uint8_t *occupied, const struct row *row)
{
    const int32_t *targets = laid->targets + laid->policy->flip;
    bool any = false;

    for (uint64_t i = 0, action = 0; i < row->n; i++, action++) {
        action = action < laid->n_actions ? action : 0;
        const int32_t at = targets[action * LAID_N_ORDERS];

        any |= (at >= 0 && occupied[at] != 0) & (row_double(row, i) > 0);
    }
    return any;
}

static bool is_on(const struct mass *mass, enum action_flip flip)
{
    const bool smoothed = mass->floor > 0;
    const double over =
        smoothed ? mass->on[flip] - mass->floor * (double)mass->n_on[flip] : mass->on[flip];
    const double share = smoothed ? 0.5 * (double)mass->n_on[flip] / (double)mass->n_cells : 0;

    return over > NOISE * mass->total && over > share * mass->total;
}

/* --- many policies --- */

/* -ln of the probability that a policy has no mass, as is_on() counts it, on stones that
 * occupy that share of the cells, if its moves are anywhere: as many moves as would share the mass
 * evenly. A smoothed policy may have some of them on stones, and if it is nearly even, all. */
static double luck_needed(const struct mass *mass, double density)
{
    const double n_moves = mass->squares > 0 ? mass->total * mass->total / mass->squares : 0;
    const double n_there = -n_moves * log(1 - density);
    const double above = mass->total - mass->floor * (double)mass->n_cells;
    const double some = 0.5 * mass->total / fmax(above, 0); /* the share of n_there it may have */

    if (mass->floor <= 0 || some * n_there < 1)
        return n_there;
    return some < 1 ? n_there * (1 - some + some * log(some)) : 0;
}

static void count_mass(struct laid *laid, const struct laid_position *position,
                       const struct mass *mass)
{
    struct flip_tally *tally = &laid->parts[position->row / laid_part_rows(laid->n_rows)];
    const double density = fmin((double)position->n_stones / (double)laid->axis, 0.99);
    const double evidence = luck_needed(mass, density);

    if (!(mass->squares > 0))
        return;
    tally->n_rows++;
    for (enum action_flip flip = ACTION_AS_IS; flip < LAID_N_ORDERS; flip++)
        tally->n_on[flip] += is_on(mass, flip);
    tally->share += mass->on[laid->policy->flip] / mass->total;
    tally->density += density;
    tally->expected += 1 - exp(-evidence);
    tally->evidence += fmin(evidence, MOST_OF_A_ROW);
}

int64_t laid_add(struct laid *laid, const struct laid_position *position, const struct row *row,
                 const struct row *values)
{
    const enum role role = laid->policy->role;
    const bool is_list = role == ROLE_POLICY_INDEX || role == ROLE_ACTION;
    const uint64_t n = values != NULL ? smaller(row->n, values->n) : row->n;
    struct mass mass = {.total = 0};

    if (!is_list && !position->is_compared && !is_any_on(laid, position->occupied, row))
        return -1;
    for (uint64_t i = 0, a = 0; i < n && !is_list; i++, a++) {
        a = a < laid->n_actions ? a : 0;
        add_mass(&mass, laid, position, a, row_double(row, i));
    }
    for (uint64_t i = 0; i < n && is_list; i++)
        if (row_int(row, i) >= 0)
            add_mass(&mass, laid, position, (uint64_t)row_int(row, i),
                     values != NULL ? row_double(values, i) : 1);
    if (is_list)
        mass.floor = 0; /* what is not listed has no mass */
    if (position->is_compared)
        count_mass(laid, position, &mass);
    if (!is_on(&mass, laid->policy->flip))
        return -1;
    laid->first_on = smaller(laid->first_on, position->row);
    return (int64_t)mass.action;
}

static enum action_flip best_flip(const struct flip_tally *t, const struct laid *laid,
                                  double evidence)
{
    const enum action_flip now = laid->policy->flip;
    enum action_flip best = now;
    uint64_t by_chance = 0;

    for (enum action_flip flip = ACTION_AS_IS; flip < LAID_N_ORDERS; flip++)
        if (laid->can_flip[flip] && t->n_on[flip] < t->n_on[best])
            best = flip;
    for (enum action_flip flip = ACTION_AS_IS; flip < LAID_N_ORDERS; flip++)
        if (flip != best && flip != now && t->n_on[flip] > by_chance)
            by_chance = t->n_on[flip];
    /* Orders of two kinds at once are many, on small boards too many. */
    if (best > ACTION_FROM_1 && best < LAID_ON_BOARD)
        evidence *= 2;
    if (20 * t->n_on[best] > t->n_on[now] || t->evidence < evidence ||
        4 * (double)t->n_on[now] < t->expected || t->n_on[now] > BY_CHANCE * by_chance ||
        2 * t->share > (double)t->n_rows + t->density)
        return now;
    return best;
}

static void tally_merge(struct flip_tally *tally, const struct flip_tally *from)
{
    tally->n_rows += from->n_rows;
    for (int flip = 0; flip < LAID_N_ORDERS; flip++)
        tally->n_on[flip] += from->n_on[flip];
    tally->share += from->share;
    tally->density += from->density;
    tally->expected += from->expected;
    tally->evidence += from->evidence;
}

void laid_merge(struct laid *laid, struct laid *part)
{
    for (int i = 0; i < LAID_N_PARTS; i++)
        tally_merge(&laid->parts[i], &part->parts[i]);
    laid->first_on = smaller(laid->first_on, part->first_on);
    laid_init_part(part, laid);
}

struct flip_verdict laid_judge(const struct laid *laid)
{
    const enum action_flip said = laid->policy->flip;
    const uint64_t part_rows = laid_part_rows(laid->n_rows);
    struct flip_verdict verdict = {.end = laid->n_rows, .first_on = laid->first_on},
                        best = {.flip = said};

    for (int i = 0; i < LAID_N_PARTS; i++)
        tally_merge(&verdict.tally, &laid->parts[i]);
    verdict.flip = best_flip(&verdict.tally, laid, SURE);
    for (enum action_flip flip = ACTION_AS_IS; flip < LAID_N_ORDERS; flip++)
        verdict.is_tied |= laid->can_flip[flip] && flip != verdict.flip &&
                           verdict.tally.n_on[flip] <= verdict.tally.n_on[verdict.flip];
    if (verdict.flip != said || verdict.tally.n_on[said] == 0)
        return verdict;
    for (unsigned first = 0; first < LAID_N_PARTS; first++) {
        struct flip_tally run = {0};

        for (unsigned end = first; end < LAID_N_PARTS; end++) {
            tally_merge(&run, &laid->parts[end]);
            const enum action_flip flip = best_flip(&run, laid, SURE_OF_PART);
            if (flip != said && run.evidence > best.tally.evidence) {
                best = (struct flip_verdict){
                    flip, first * part_rows, (end + 1) * part_rows, run, false, 0};
                best.end = smaller(best.end, laid->n_rows);
            }
        }
    }
    return best.flip != said ? best : verdict;
}
