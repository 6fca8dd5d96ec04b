/*
 * turn.c - stones and whose turn it is, as rows of planes show them.
 *
 * The plane that a colour swap turns into the other player must hold one number throughout each
 * row, 0 or 1 (or, when told, 1 and 2 or 1 and -1). Empty cells, the last move or a count of plies
 * look like one by their place alone. So the rows in which it tells no player are looked at
 * closely: what they have in common decides which permutation of the planes is offered.
 */
#include "engine/turn.h"

#include <stdio.h>
#include <string.h>

bool planes_is_level(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     double found[2])
{
    const uint8_t *first = planes_element(form, row, plane, 0);
    const size_t item = form->dtype->itemsize;

    found[0] = found[1] = planes_number(form, row, plane, 0);
    if (!form->channels_last && memcmp(first, first + item, (form->axis - 1) * item) == 0)
        return true;
    for (uint64_t cell = 1; cell < form->axis && found[1] == found[0]; cell++)
        found[1] = planes_number(form, row, plane, cell);
    return found[1] == found[0];
}

void stone_planes_decide(struct stone_planes *planes, const struct conventions *c,
                         uint64_t n_planes, bool is_hex)
{
    *planes = (struct stone_planes){{0, 1},
                                    is_hex && c->planes <= PLANES_MOVER && n_planes == 3 ? 2 : -1,
                                    c->planes == PLANES_MOVER};
    if (!is_hex || c->planes != PLANES_PERMUTATION || c->n_planes != n_planes)
        return;
    for (uint32_t p = 0; p < n_planes; p++)
        if (c->to_move_plane >= 0 && c->plane_dst[p] == c->to_move_plane)
            planes->turn = (int)p;
    for (uint32_t p = 0; p < n_planes; p++)
        if (c->plane_dst[p] > p && c->plane_dst[c->plane_dst[p]] == p && planes->turn != (int)p &&
            planes->turn != c->plane_dst[p]) {
            planes->stones[0] = p;
            planes->stones[1] = c->plane_dst[p];
            return;
        }
    /* None are exchanged: mine and theirs, the first two that are not the turn's. */
    planes->is_mover = true;
    planes->stones[0] = planes->turn == 0;
    planes->stones[1] = planes->stones[0] + 1 + (planes->turn == (int)planes->stones[0] + 1);
}

static const double codes_of[][2] = {
    [TO_MOVE_01] = {0, 1}, [TO_MOVE_12] = {1, 2}, [TO_MOVE_PM1] = {1, -1}};

int turn_player(enum to_move_coding coding, double code)
{
    return code == codes_of[coding][0] ? 0 : code == codes_of[coding][1] ? 1 : -1;
}

struct turn_lead turn_lead(bool is_mover, int player, const uint64_t n_stones[2])
{
    const int64_t mover = (int64_t)n_stones[0] - (int64_t)n_stones[1];
    const int64_t colour = player == 1 ? -mover : mover;

    return is_mover ? (struct turn_lead){mover, colour} : (struct turn_lead){colour, mover};
}

/* --- the plane that tells whose turn it is --- */

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

/* Take plane `third` of a bad row for the odd one: what are the other two, and what is it? */
static void look_closely(struct turn_rows *rows, const struct planes_form *form, const uint8_t *row,
                         uint64_t third, uint64_t *n_stones)
{
    const uint64_t a = (third + 1) % 3, b = (third + 2) % 3;
    bool disjoint = true, rest = true;
    double found[2];
    int64_t lead = 0;

    *n_stones = 0;
    for (uint64_t cell = 0; cell < form->axis; cell++) {
        const bool first = planes_has_stone(form, row, a, cell);
        const bool second = planes_has_stone(form, row, b, cell);

        disjoint &= !(first && second);
        lead += first - second;
        *n_stones += first || second;
        rest &= planes_number(form, row, third, cell) == !(first || second);
    }
    rows->n_stones[third] += disjoint && lead >= -1 && lead <= 1;
    rows->is_rest[third] &= rest;
    rows->is_turn[third] &=
        planes_is_level(form, row, third, found) && turn_player(TO_MOVE_01, found[0]) >= 0;
}

/* A number that fills the plane in some row. */
static void add_number(struct turn_rows *rows, double number)
{
    const bool is_new = number != rows->low && number != rows->high;

    rows->has_more |= is_new && rows->low < rows->high;
    rows->low = fmin(rows->low, number);
    rows->high = fmax(rows->high, number);
}

bool turn_rows_add(struct turn_rows *rows, const struct planes_form *form, const uint8_t *row,
                   const struct stone_planes *planes, enum to_move_coding coding, uint64_t number)
{
    double found[2];
    bool level;

    if (planes->turn < 0)
        return true;
    level = planes_is_level(form, row, (uint64_t)planes->turn, found);
    rows->n++;
    if (level)
        add_number(rows, found[0]);
    if (level && turn_player(coding, found[0]) >= 0)
        return true;
    rows->n_bad++;
    rows->is_level &= level;
    if (number < rows->first_bad) {
        rows->first_bad = number;
        memcpy(rows->bad, found, sizeof found);
    }
    for (uint64_t third = 0; form->n_planes == 3 && third < 3; third++) {
        uint64_t n_stones;

        look_closely(rows, form, row, third, &n_stones);
        if ((int)third == planes->turn)
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

struct turn_advice turn_advise(const struct turn_rows *rows, const struct stone_planes *planes)
{
    static const char *const exchanging[] = {"%s0,2,1", "2,%s1,0", "1,0,%s2"};
    static const char *const keeping[] = {"%s0,1,2", "0,%s1,2", "0,1,%s2"};
    struct turn_advice advice = {.is_other_code = false};
    uint64_t odd = (uint64_t)planes->turn;
    const char *mark = "";

    /* The odd plane is the one beside two that are most often stones. */
    for (uint64_t c = 0; c < 3; c++) {
        const bool is_more = rows->n_stones[c] > rows->n_stones[odd];
        const bool is_same = rows->n_stones[c] == rows->n_stones[odd];

        if (is_more || (is_same && rows->is_turn[c] && !rows->is_turn[odd]))
            odd = c;
    }
    advice.is_rest = rows->is_rest[odd];
    advice.is_moved = odd != (uint64_t)planes->turn && rows->is_turn[odd];
    if (rows->is_turn[odd])
        mark = "~";
    else if (odd == (uint64_t)planes->turn && rows->is_level && !rows->is_ply && !rows->has_more) {
        if (rows->low == -1 && (rows->high == 1 || rows->high == -1))
            mark = "-";
        else if (rows->low >= 1 && rows->high == 2)
            mark = "=";
        else
            advice.is_other_code = rows->low == 0 && rows->high > 1;
    }
    snprintf(advice.planes[planes->is_mover], sizeof advice.planes[0], exchanging[odd], mark);
    snprintf(advice.planes[!planes->is_mover], sizeof advice.planes[0], keeping[odd], mark);
    advice.stones[0] = odd == 0;
    advice.stones[1] = odd == 2 ? 1 : 2;
    return advice;
}

/* --- a plane of ones under --to-move 12 or pm1 --- */

int turn_decide_coding(unsigned codes, enum to_move_coding said, enum to_move_coding *coding)
{
    static const struct {
        unsigned as_said, zero_one;
    } kinds[] = {{TURN_OTHER, TURN_ZERO},
                 {TURN_FIRST_SAID, TURN_SECOND_SAID},
                 {TURN_FIRST_LACKS, TURN_SECOND_LACKS}};

    *coding = said;
    if (said == TO_MOVE_01 || (codes & TURN_OTHER))
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((codes & kinds[i].as_said) && (codes & kinds[i].zero_one))
            return -1;
        if (codes & kinds[i].zero_one)
            *coding = TO_MOVE_01;
        if (codes & (kinds[i].as_said | kinds[i].zero_one))
            return 0;
    }
    return -1;
}
