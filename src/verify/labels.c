/*
 * labels.c - decides what a colour swap does to values, players, winners and codes of the shard at
 * hand. What the manifest says comes first, then conventions of the command line, then the range of
 * the data: values below 0 mean [-1, 1], codes of 1 and 2, or of 1 and -1, show themselves. A
 * winner follows the players' coding, which is therefore decided first. The coding of a to-move
 * plane shows in its numbers.
 */
#include "verify/labels.h"

#include "engine/turn.h"

#include <stdlib.h>
#include <string.h>

/* The lowest and highest number of an array; both 0 when it cannot be read: that is found later. */
static int find_range(const struct array *array, struct number_range *range, struct error *err)
{
    struct error why = {0};

    *range = (struct number_range){0};
    if (dtype_is_number(&array->header.dtype) && array->row_nbytes > 0 &&
        !array_is_fortran(array) &&
        number_range_find(&array, 1, UINT64_MAX, NULL, range, &why) != 0 &&
        why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    return 0;
}

static enum label_op value_flip(const struct lane *lane, const struct conventions *c,
                                const struct number_range *range)
{
    const uint64_t n = lane->array->row_nbytes / lane->array->header.dtype.itemsize;

    if (c->value == VALUE_MOVER)
        return LABEL_KEEP;
    if (lane->binding->role == ROLE_WDL || (n == 3 && !lane->binding->per_player))
        return LABEL_REVERSE;
    if (n >= 2)
        return LABEL_EXCHANGE_TWO;
    if (c->value_said)
        return c->value == VALUE_COLOUR11 ? LABEL_NEGATE : LABEL_COMPLEMENT;
    return range->min < 0 ? LABEL_NEGATE : LABEL_COMPLEMENT;
}

/* Codes of 1 and 2, or of 1 and -1, show; a winner may also be nobody, 0. */
static enum to_move_coding coding_of(const struct conventions *c, bool is_winner,
                                     const struct number_range *range)
{
    if (c->to_move_said)
        return c->to_move;
    if (range->min == -1 && range->max <= 1)
        return TO_MOVE_PM1;
    return range->max == 2 && (is_winner || range->min >= 1) ? TO_MOVE_12 : c->to_move;
}

static enum label_op grid_flip(const struct conventions *c, const struct number_range *range)
{
    if (c->planes == PLANES_MOVER)
        return LABEL_KEEP;
    return range->min < 0 || (range->max <= 1 && c->to_move_said && c->to_move == TO_MOVE_PM1)
               ? LABEL_NEGATE
               : LABEL_EXCHANGE_12;
}

static bool is_winner(const struct lane *lane)
{
    return lane->binding->is_winner;
}

/* What the manifest says that the run decided, perhaps by more inputs than this file holds. */
static void take_said(const struct shard *shard, struct lane *lane)
{
    const struct manifest_file *output = shard->recall.output;
    const struct manifest_array *listed =
        output != NULL ? manifest_find_array(output, lane->array->key) : NULL;
    const char *swap = listed != NULL ? listed->swap : NULL;

    for (size_t op = 0; swap != NULL && op < LABEL_N_OPS; op++)
        if (strcmp(label_op_name((enum label_op)op), swap) == 0)
            spec_set_swap(&lane->spec, (enum label_op)op);
}

static bool is_decided(const struct lane *lane)
{
    return lane->is_mapped && lane->array->objects == NULL &&
           role_kinds[lane->binding->role].swap != ROLE_SWAP_NOTHING;
}

static int decide(struct lane *lane, struct conventions *c, bool follows_players, struct error *err)
{
    struct number_range range;
    const enum role_swap swap = role_kinds[lane->binding->role].swap;
    enum label_op op;

    if (!is_decided(lane))
        return 0;
    if (find_range(lane->array, &range, err) != 0)
        return -1;
    if (swap == ROLE_SWAP_PLAYER && is_winner(lane)) {
        const bool follows = follows_players || c->to_move_said;

        op = spec_swap_of_coding(follows ? c->to_move : coding_of(c, true, &range));
        if (follows && op == LABEL_COMPLEMENT)
            op = LABEL_EXCHANGE_01; /* what is neither is nobody */
    } else if (swap == ROLE_SWAP_PLAYER) {
        c->to_move = coding_of(c, false, &range);
        op = spec_swap_of_coding(c->to_move);
    } else {
        op = swap == ROLE_SWAP_CODES ? grid_flip(c, &range) : value_flip(lane, c, &range);
    }
    spec_set_swap(&lane->spec, op);
    return 0;
}

int verify_labels_decide(struct lanes *lanes, struct error *err)
{
    struct conventions *c = &lanes->shard->conventions;
    bool has_players = false;

    if (lanes->shard->found.board == NULL || !board_swaps_colours(lanes->shard->found.board) ||
        c->planes == PLANES_CANONICAL)
        return 0;
    /* A winner is coded as the players beside it are: winners come last. */
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < lanes->n; i++) {
            const bool is_last = is_winner(&lanes->items[i]);

            if (is_last != last)
                continue;
            if (decide(&lanes->items[i], c, has_players, err) != 0)
                return -1;
            if (is_decided(&lanes->items[i]))
                take_said(lanes->shard, &lanes->items[i]);
            has_players |= !last && lanes->items[i].binding->role == ROLE_TO_MOVE && !is_last;
        }
    return 0;
}

/* --- to-move planes --- */

/* The codes of a row's to-move plane; what a 1 means is only asked while no other number tells. */
static unsigned codes_of_row(const struct planes_form *form, const struct stone_planes *where,
                             const struct conventions *c, const uint8_t *row, int by_array)
{
    const double value = planes_number(form, row, (uint64_t)where->turn, 0);
    unsigned codes = by_array == 0 ? TURN_FIRST_SAID : by_array == 1 ? TURN_SECOND_SAID : 0;
    int64_t lead = 0;

    if (value == 0)
        return TURN_ZERO;
    if (value != 1)
        return turn_player(c->to_move, value) == 1 ? TURN_OTHER : 0;
    for (uint64_t cell = 0; cell < form->axis && !where->is_mover; cell++)
        lead += planes_has_stone(form, row, where->stones[0], cell) -
                planes_has_stone(form, row, where->stones[1], cell);
    return codes | (lead == -1 ? TURN_FIRST_LACKS : lead == 1 ? TURN_SECOND_LACKS : 0);
}

/* Add the codes of an array of planes, which stands beside that of the player to move (or NULL). */
static int find_codes(const struct shard *shard, size_t planes, const struct array *to_move,
                      unsigned *codes, struct error *err)
{
    const struct array *arrays[2] = {&shard->archive.arrays[planes], to_move};
    const struct role_axes *axes = &shard->bindings[planes].axes;
    const struct planes_form form = {&arrays[0]->header.dtype, axes->outer * axes->inner,
                                     axes->axis, axes->outer == 1 && axes->inner > 1};
    struct batch rows = {.own = {.arrays = &arrays[0], .n_arrays = 1}};
    struct batch turns = {.own = {.arrays = &arrays[1], .n_arrays = 1}};
    struct error why = {0}; /* what cannot be read is found later */
    struct stone_planes where;
    int status;

    stone_planes_decide(&where, &shard->conventions, form.n_planes,
                        shard->found.board->n_planes == 0);
    if (where.turn < 0)
        return 0;
    status = batch_open(&rows, shard->recall.settings.budget, &why);
    if (status == 0 && to_move != NULL)
        status = batch_open(&turns, shard->recall.settings.budget, &why);
    while (status == 0 && !(*codes & TURN_OTHER)) {
        int player = -1;

        if (batch_next(&rows, 1, &why) != 0 || rows.n == 0 ||
            (to_move != NULL && batch_next(&turns, 1, &why) != 0))
            break;
        if (to_move != NULL)
            player = turn_player(shard->conventions.to_move,
                                 dtype_get_double(&to_move->header.dtype, turns.bytes.data));
        *codes |= codes_of_row(&form, &where, &shard->conventions, rows.bytes.data, player);
    }
    batch_release(&rows);
    batch_release(&turns);
    return why.kind == ERROR_INTERNAL ? error_pass(err, &why) : 0;
}

/* The array that says whose turn it is, or NULL. */
static const struct array *find_to_move(const struct shard *shard)
{
    for (size_t i = 0; i < shard->archive.n_arrays; i++)
        if (shard->bindings[i].role == ROLE_TO_MOVE && !shard->bindings[i].is_winner &&
            dtype_is_number(&shard->archive.arrays[i].header.dtype) &&
            shard->archive.arrays[i].n_rows == shard->n_rows)
            return &shard->archive.arrays[i];
    return NULL;
}

int verify_labels_plane_coding(struct shard *shard, struct error *err)
{
    struct conventions *c = &shard->conventions;
    unsigned codes = 0;

    if (shard->found.board == NULL || shard->bindings == NULL ||
        !board_swaps_colours(shard->found.board) || !c->to_move_said || c->to_move == TO_MOVE_01 ||
        c->planes > PLANES_MOVER || conventions_is_said(c, "to-move-plane"))
        return 0;
    for (size_t i = 0; i < shard->archive.n_arrays; i++)
        if (shard->bindings[i].role == ROLE_PLANES &&
            dtype_is_number(&shard->archive.arrays[i].header.dtype) &&
            shard->archive.arrays[i].row_nbytes > 0 &&
            find_codes(shard, i, find_to_move(shard), &codes, err) != 0)
            return -1;
    /* Where nothing tells, it is as it was told. */
    (void)turn_decide_coding(codes, c->to_move, &c->plane_coding);
    return 0;
}
