/*
 * survey_stones.c - whether the stones of a plan's rows agree with what is declared.
 *
 * In a game of Hex the player to move has as many stones as the other or one less. Rows that break
 * this rule under --planes colour but not under mover, or the other way round, prove that the wrong
 * one was declared; other rows that break it (swap rule, handicap) are a warning. Rows of finished
 * games, which have no policy, are left out.
 *
 * In games of placement no policy stands on stones, unless it is stored in another order than the
 * planes, as the commonest trainer of Gomoku stores it: moved as it stands, every image but a few
 * would be wrong. Dense policies, sparse ones and single moves end in the same counts.
 */
#include "engine/survey.h"

#include <math.h>

/* Rows looked at in each part; of lists and moves, which tell less, twice that. */
#define ROWS_OF_PART 16
#define MIN_REACH    512 /* rows that are looked at beforehand in any case, */
#define PACKED_REACH 0.3 /* and this share of packed arrays */

/* --- whose turn it is --- */

/* One pass over the planes counts it all; the policies, most of what must be read, are only asked
 * when there is something to leave out. */

/* The arrays that are read side by side, and what they show. */
struct turns {
    struct plan *plan;
    const struct plan_array *planes, *to_move, *policy; /* the last two may be NULL */
    struct planes_form form;
    struct stone_planes where;
    bool has_lead; /* stones are counted */
    struct turn_rows rows;
    unsigned long long n_rows, n_excess, n_other_excess; /* rows that tell a player; with lead +1,
                                                            under the other convention >= +1 */
    unsigned long long n_mover_excess[3];      /* frames: whose stones are those of a mover */
    unsigned long long n_padded, first_padded; /* rows with two or more frames of zeros */
    unsigned long long n_told, n_contradicted; /* rows with a player beside them; who is another */
    uint64_t left; /* bits: planes that a swap leaves, and that named the player to move so far, */
    bool has_turn[2]; /* whom the number of stones tells: each of them did */
};

static void count_stones(const struct turns *t, const uint8_t *row, uint64_t n[2])
{
    for (int i = 0; i < 2; i++)
        n[i] = planes_mark(&t->form, row, t->where.stones[i], 0, NULL);
}

/* The player that a row's plane tells, or that of a frame of its history. */
static int player_by_plane(const struct turns *t, const uint8_t *frame)
{
    return turn_player(t->plan->conventions.plane_coding,
                       planes_number(&t->form, frame, (uint64_t)t->where.turn, 0));
}

/* The player that the array beside a row tells; -1: none. */
static int player_by_array(const struct turns *t, const struct row *to_move)
{
    return to_move->n == 0 ? -1 : turn_player(t->plan->conventions.to_move, row_double(to_move, 0));
}

/* A position of a row: the row itself, or a frame of its history, whose stones may be those of its
 * own mover, of the first frame's or of the last one's, all through the row. */
static void count_frame(struct turns *t, const struct survey *s, const uint8_t *frame)
{
    const struct planes_form *form = &t->form;
    const struct stone_planes *where = &t->where;
    const struct row *policy = &s->rows[2];
    const int told = player_by_array(t, &s->rows[1]);
    double found[2];
    uint64_t n[2] = {0};

    if (t->left != 0 || t->has_lead)
        count_stones(t, frame, n);
    if (t->left != 0) {
        /* With an odd number of stones it is the second player's turn: which planes say so? */
        const int second = (int)((n[0] + n[1]) % 2);

        t->has_turn[second] = true;
        for (uint64_t p = 0; p < form->n_planes; p++)
            if ((t->left >> p & 1) &&
                (!planes_is_level(form, frame, p, found) || found[0] != (double)second))
                t->left &= ~(UINT64_C(1) << p);
    }
    if (!turn_rows_add(&t->rows, form, frame, where, t->plan->conventions.plane_coding,
                       s->number) ||
        !t->has_lead || (policy->n > 0 && survey_all_zero(policy->dtype, policy->bytes, policy->n)))
        return;
    const int player = where->turn < 0 ? told : player_by_plane(t, frame);
    if (player < 0)
        return;
    t->n_told += told >= 0;
    t->n_contradicted += told >= 0 && told != player;
    const struct turn_lead lead = turn_lead(where->is_mover, player, n);
    t->n_rows++;
    t->n_excess += lead.declared == 1;
    t->n_other_excess += lead.other >= 1;
    for (int k = 0; k < 3 && form->n_frames > 1; k++) {
        const uint64_t movers = k == 2 ? form->n_frames - 1 : 0;
        const int whose = player_by_plane(t, s->rows[0].bytes + movers * form->frame_nbytes);
        const int64_t own = (int64_t)n[0] - (int64_t)n[1];

        t->n_mover_excess[k] += (k == 0 || whose == player ? own : -own) >= 1;
    }
}

/* Look at all rows, and count. */
static int count_rows(struct turns *t, struct error *err)
{
    const struct planes_form *form = &t->form;
    struct survey s;

    survey_begin(&s, t->plan, SURVEY_OF(t->planes, t->to_move, t->policy), err);
    while (survey_next(&s)) {
        uint64_t n_blank = 0;

        for (uint64_t f = 0; f < form->n_frames; f++) {
            const uint8_t *frame = s.rows[0].bytes + f * form->frame_nbytes;
            bool is_blank = form->n_frames > 1 && t->where.turn >= 0;

            for (uint64_t i = 0; i < form->n_planes * form->axis && is_blank; i++)
                is_blank = planes_number(form, frame, i / form->axis, i % form->axis) == 0;
            n_blank += is_blank;
            count_frame(t, &s, frame);
        }
        if (n_blank > 1 && t->n_padded++ == 0)
            t->first_padded = s.number;
    }
    for (int k = 0; k < 3 && form->n_frames > 1; k++) {
        unsigned long long *const n = t->where.is_mover ? &t->n_excess : &t->n_other_excess;

        *n = k == 0 || t->n_mover_excess[k] < *n ? t->n_mover_excess[k] : *n;
    }
    return survey_end(&s);
}

static void init(struct turns *t, struct plan *plan, const struct plan_array *planes)
{
    *t = (struct turns){.plan = plan, .planes = planes, .form = survey_form(planes)};
    stone_planes_decide(&t->where, &plan->conventions, t->form.n_planes, plan->swaps);
    t->to_move = survey_find(plan, ROLE_TO_MOVE);
    if (!survey_has_numbers(t->to_move) || t->form.n_frames > 1) /* it speaks of one of them */
        t->to_move = NULL;
    turn_rows_init(&t->rows);
}

static int refuse_plane(const struct turns *t, struct error *err)
{
    static const char *const whose[] = {"blue and red", "the mover's and the other's"};
    const struct turn_advice advice = turn_advise(&t->rows, &t->where);
    const bool mover = t->where.is_mover;
    const bool also_12 =
        strchr(advice.planes[0], '=') != NULL && survey_find(t->plan, ROLE_TO_MOVE) == NULL;
    const unsigned long long row = t->rows.first_bad;
    char found[96];

    snprintf(found, sizeof found, t->rows.bad[0] == t->rows.bad[1] ? "%g" : "%g and %g",
             t->rows.bad[0], t->rows.bad[1]);
    if (t->form.n_planes != 3)
        return plan_refuse(t->plan, t->planes, err,
                           "row %llu: plane %d holds %s, expected 0 or 1 throughout (the player to "
                           "move); tell its planes with --planes",
                           row, t->where.turn, found);
    if (advice.is_other_code)
        return plan_refuse(t->plan, t->planes, err,
                           "row %llu: plane %d holds %s (%g to %g in all rows), expected 0 or 1 "
                           "throughout (the player to move); write it as 0 and 1, or use --planes "
                           "%s if it is not the player to move",
                           row, t->where.turn, found, t->rows.low, t->rows.high, advice.planes[0]);
    return plan_refuse(
        t->plan, t->planes, err,
        "row %llu: plane %d holds %s, expected 0 or 1 throughout (the player to move)%s; use "
        "--planes %s %s(planes %llu and %llu are %s; %s if they are %s)",
        row, t->where.turn, found, advice.is_rest ? ": one plane holds the empty cells" : "",
        advice.planes[0], also_12 ? "or --to-move 12 " : "", (unsigned long long)advice.stones[0],
        (unsigned long long)advice.stones[1], whose[mover], advice.planes[1], whose[!mover]);
}

static int survey_planes(struct plan *plan, const struct plan_array *planes, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const bool joins_edges = plan->board->family->joins_edges;
    const struct text_quoted key = text_path(planes->key);
    const char *const rows = planes->binding.frame_planes > 0 ? "frames" : "rows";
    int status = 0;
    struct turns t;

    init(&t, plan, planes);
    /* The plane that the first chosen transform with colours swapped makes the other player. */
    t.where.turn = -1;
    for (uint32_t k = 0; k < plan->n_chosen && t.where.turn < 0; k++)
        t.where.turn = (int)spec_turn_plane(&planes->spec, plan->chosen[k]);
    t.has_lead = joins_edges && c->planes <= PLANES_MOVER && t.form.n_planes <= 3 &&
                 t.form.n_planes >= 2 && planes == survey_find_planes(plan);
    /* Whoever says by --planes what a swap does to each plane may have forgotten that one. */
    if (c->planes == PLANES_PERMUTATION && t.where.turn < 0 && joins_edges &&
        t.form.n_planes == c->n_planes)
        for (uint32_t p = 0; p < c->n_planes; p++)
            if (c->plane_dst[p] == p && p != t.where.stones[0] && p != t.where.stones[1])
                t.left |= UINT64_C(1) << p;
    if (t.where.turn < 0 && !t.has_lead && t.left == 0)
        return 0;
    if (!t.has_lead)
        t.to_move = NULL; /* nobody asks it */
    if (count_rows(&t, err) != 0)
        return -1;
    if (t.rows.n_bad > 0)
        return refuse_plane(&t, err);
    /* A game has one empty board: others are there for want of positions. */
    if (t.n_padded > 0 && t.where.turn >= 0 && !planes->binding.is_positions)
        return plan_refuse(
            plan, planes, err,
            "row %llu: frames of zeros, as in %llu rows: if they are the empty board before the "
            "first move, over and over, a colour swap makes their player to move the other one; "
            "use --role %s=%s,positions then; if they stand for no position, their zeros have no "
            "image with colours swapped; use --transforms for the others",
            t.first_padded, t.n_padded, key.text, role_binding_spec(&planes->binding).text);
    t.policy = survey_find(plan, ROLE_POLICY);
    if (t.n_excess > 0 && survey_has_numbers(t.policy)) {
        t.n_rows = t.n_excess = t.n_other_excess = t.n_told = t.n_contradicted = 0;
        memset(t.n_mover_excess, 0, sizeof t.n_mover_excess);
        if (count_rows(&t, err) != 0)
            return -1;
    }
    if (t.left != 0 && t.has_turn[0] && t.has_turn[1])
        status |= plan_warn(plan, err,
                            "%s: plane %d is the player to move in every row, by the number of "
                            "stones, and --planes %s leaves it: images with colours swapped keep "
                            "the other player; mark it with ~",
                            key.text, __builtin_ctzll(t.left), conventions_text(c, "planes").text);
    if (t.to_move != NULL && t.n_contradicted > 0)
        status |= plan_warn(
            plan, err, "%s: %llu of %llu rows name another player to move than plane %d of %s",
            text_path(t.to_move->key).text, t.n_contradicted, t.n_told, t.where.turn, key.text);
    if (t.n_excess > 0 && t.n_other_excess == 0)
        status |= plan_refuse(plan, planes, err,
                              "%llu of %llu %s have one stone more of the player to move than of "
                              "the other, which --planes %s rules out and --planes %s explains",
                              t.n_excess, t.n_rows, rows, t.where.is_mover ? "mover" : "colour",
                              t.where.is_mover ? "colour" : "mover");
    else if (t.n_excess > 0)
        status |= plan_warn(plan, err,
                            "%s: %llu of %llu %s have one stone more of the player to move than of "
                            "the other (swap rule, handicap, red first?)",
                            key.text, t.n_excess, t.n_rows, rows);
    return status;
}

int survey_turns(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if ((plan->arrays[i].binding.role == ROLE_PLANES ||
             plan->arrays[i].binding.role == ROLE_PACKED) &&
            survey_has_numbers(&plan->arrays[i]) && survey_planes(plan, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}

int survey_turn_coding(struct plan *plan, const struct plan_array *array, uint64_t plane,
                       struct error *err)
{
    struct conventions *c = &plan->conventions;
    const int other = c->to_move == TO_MOVE_12 ? 2 : -1;
    const char *const stones = c->planes == PLANES_MOVER ? "0,1" : "1,0";
    unsigned *codes = &plan->turn_codes;
    struct survey s;
    struct turns t;
    uint64_t n[2] = {0};

    if (!c->to_move_said || c->to_move == TO_MOVE_01 || !survey_has_numbers(array) ||
        conventions_is_said(c, "to-move-plane"))
        return 0;
    init(&t, plan, array);
    if (plan->settings->seen != NULL)
        *codes |= plan->settings->seen->turn_codes;
    /* Which codes stand in the plane, as far as the first that tells. */
    survey_begin(&s, plan, SURVEY_OF(array), err);
    while (!(*codes & TURN_OTHER) && survey_next(&s))
        for (uint64_t f = 0; f < t.form.n_frames; f++) {
            const double value =
                planes_number(&t.form, s.rows[0].bytes + f * t.form.frame_nbytes, plane, 0);

            if (value == 0)
                *codes |= TURN_ZERO;
            else if (turn_player(c->to_move, value) == 1)
                *codes |= TURN_OTHER;
        }
    if (survey_end(&s) != 0)
        return -1;
    /* What else tells whose turn it is where the plane is 1. */
    survey_begin(&s, plan, SURVEY_OF(array, t.to_move), err);
    while (!(*codes & (TURN_OTHER | TURN_ZERO)) && survey_next(&s)) {
        const int player = player_by_array(&t, &s.rows[1]);

        if (player >= 0)
            *codes |= player == 0 ? TURN_FIRST_SAID : TURN_SECOND_SAID;
        if (t.where.is_mover)
            continue;
        count_stones(&t, s.rows[0].bytes, n);
        if (n[0] + 1 == n[1])
            *codes |= TURN_FIRST_LACKS;
        else if (n[1] + 1 == n[0])
            *codes |= TURN_SECOND_LACKS;
    }
    if (survey_end(&s) != 0)
        return -1;
    if (turn_decide_coding(*codes, c->to_move, &c->plane_coding) == 0 || plan->n_rows == 0)
        return 0;
    return plan_refuse(plan, array, err,
                       "plane %llu holds 1 throughout, and %s: is it 1 and %d, or 0 and 1? Use "
                       "--planes %s,%s2 or %s,~2",
                       (unsigned long long)plane,
                       *codes != 0 ? "players and stones contradict each other"
                                   : "neither players nor stones tell its coding",
                       other, stones, other == 2 ? "=" : "-", stones);
}

/* --- policies on stones --- */

/* Some rows of every part of the input are looked at, because sets are put together from parts.
 * Unpacking all planes once more would cost too much: where they are packed, the stones of the
 * later parts, and dense policies, are kept as those rows pass by on their way to the output, and
 * judged before it is committed. */

struct look {
    const struct stone_watch *watch; /* it has the form of the planes, and stones of some rows */
    const struct plan_array *policy;
    struct flips flips;
    struct flip_parts parts;
    uint64_t n_seen, n_overlap, first_on;
};

static bool is_list(const struct plan_array *policy)
{
    return policy->binding.role == ROLE_POLICY_INDEX || policy->binding.role == ROLE_ACTION;
}

/* --- rows of a plan that pass by --- */

/* Where a row is kept: a mark that it is there, then its stones, or its bytes. */
static uint8_t *kept_row(const struct stone_watch *watch, const struct kept_rows *rows,
                         uint64_t row)
{
    const uint64_t part_rows = flip_part_rows(watch->plan->n_rows);

    return rows->bytes +
           (row / part_rows * 2 * ROWS_OF_PART + row % part_rows) * (rows->row_nbytes + 1);
}

/* Keep a row, if it is one of those that are looked at. */
static void keep_row(const struct stone_watch *watch, const struct kept_rows *rows, uint64_t row,
                     const uint8_t *bytes)
{
    const struct planes_form *form = &watch->form;
    const uint64_t *stones = watch->where.stones;

    if (row % flip_part_rows(watch->plan->n_rows) >= 2 * ROWS_OF_PART)
        return;
    uint8_t *kept = kept_row(watch, rows, row);
    *kept++ = true;
    if (rows != &watch->kept[0])
        memcpy(kept, bytes, rows->row_nbytes);
    else
        for (uint64_t cell = 0; cell < form->axis; cell++)
            kept[cell] =
                (uint8_t)(planes_has_stone(form, bytes, stones[0], cell) +
                          (form->n_planes > 1 && planes_has_stone(form, bytes, stones[1], cell)));
}

/* What is kept of an array, or NULL. */
static struct kept_rows *kept_of(const struct stone_watch *watch, const struct plan_array *array)
{
    for (size_t i = 0; i < watch->n_kept; i++)
        if (watch->kept[i].array == array)
            return &watch->kept[i];
    return NULL;
}

void stone_watch_see(const struct stone_watch *watch, const struct plan_array *array,
                     const struct batch *batch)
{
    const uint64_t end = batch->first + batch->n, nbytes = batch->reader->unit_nbytes;
    struct kept_rows *rows = kept_of(watch, array);

    if (rows != NULL && rows->next < batch->first)
        rows->next = batch->first;
    for (; rows != NULL && rows->next < end; rows->next++)
        keep_row(watch, rows, rows->next, batch->bytes.data + (rows->next - batch->first) * nbytes);
}

/* --- a row --- */

/* Its policies, one a head, or the list of one and the values beside it. */
static void look_at_row(struct look *l, uint64_t number, const struct row *rows)
{
    const struct plan *plan = l->watch->plan;
    const struct spec *spec = &l->policy->spec;
    const bool lists = is_list(l->policy);
    const uint64_t n_heads = lists ? 1 : spec->outer;
    const uint8_t *kept = kept_row(l->watch, &l->watch->kept[0], number), *occupied = kept + 1;
    uint64_t n_stones = 0;
    bool overlap = false;

    for (uint64_t cell = 0; kept[0] && cell < l->watch->form.axis; cell++) {
        n_stones += occupied[cell] > 0;
        overlap |= occupied[cell] > 1;
    }
    l->n_seen += kept[0];
    l->n_overlap += overlap;
    if (n_stones == 0 || overlap)
        return;
    for (uint64_t head = 0; head < n_heads; head++) {
        const struct row dense = {.bytes = rows->bytes + head * (spec->row_nbytes / n_heads),
                                  .dtype = &spec->dtype,
                                  .n = l->flips.n_actions};
        struct flip_mass mass = {.total = 0};

        if (!lists)
            flip_mass_add_row(&mass, &l->flips, occupied, &dense);
        for (uint64_t i = 0; lists && i < rows[0].n; i++)
            if (row_int(&rows[0], i) >= 0)
                flip_mass_add(&mass, &l->flips, occupied, (uint64_t)row_int(&rows[0], i),
                              i < rows[1].n ? row_double(&rows[1], i) : 1);
        if (lists)
            mass.floor = 0; /* what is not listed has no mass */
        if (number < l->first_on && flip_mass_is_on(&mass, l->policy->binding.flip))
            l->first_on = number;
        flip_tally_add(&l->parts.parts[flip_part_of(number, plan->n_rows)], &l->flips, &mass,
                       n_stones);
    }
}

/* The rows of a policy beside those stones. */
static int look_at(const struct stone_watch *watch, const struct plan_array *policy,
                   struct error *err)
{
    const struct plan *plan = watch->plan;
    const bool late = watch->is_late;
    const struct role_binding *b = &policy->binding;
    const uint64_t first = late ? watch->first : 0, end = late ? plan->n_rows : watch->first;
    const uint64_t of_part = is_list(policy) ? 2 * ROWS_OF_PART : ROWS_OF_PART;
    const struct kept_rows *kept = late ? kept_of(watch, policy) : NULL;
    struct look l = {.watch = watch, .policy = policy, .first_on = UINT64_MAX};
    struct survey s;
    int status = flips_init(&l.flips, plan->board, &watch->stones->binding, b, b->n_actions, err);

    for (uint64_t row = first; kept != NULL && row < end && status == 0; row++)
        if (row % flip_part_rows(plan->n_rows) < of_part && kept_row(watch, kept, row)[0])
            look_at_row(&l, row, &(struct row){.bytes = kept_row(watch, kept, row) + 1});
    if (kept == NULL && status == 0) {
        survey_begin_lists(&s, plan, policy, err);
        while (survey_next(&s) && s.number < end)
            if (s.number >= first && s.number % flip_part_rows(plan->n_rows) < of_part &&
                s.rows[0].n > 0)
                look_at_row(&l, s.number, s.rows);
        status = survey_end(&s);
    }
    const struct flip_verdict verdict = status == 0
                                            ? flip_parts_judge(&l.parts, &l.flips, plan->n_rows)
                                            : (struct flip_verdict){.flip = b->flip};
    flips_release(&l.flips);
    if (status != 0 || 2 * l.n_overlap > l.n_seen || verdict.flip == b->flip)
        return status;
    const bool as_is = verdict.flip == ACTION_AS_IS;
    const char *role = role_name(b->role), *what = b->role == ROLE_ACTION ? "moves" : "mass";
    const char *flip = action_flip_name(verdict.flip), *found = as_is ? "as it is it" : flip;
    const unsigned long long from = verdict.first > first ? verdict.first : first;
    const unsigned long long n_on = verdict.tally.n_on[b->flip], n = verdict.tally.n_rows;
    const unsigned long long n_left = verdict.tally.n_on[verdict.flip];
    /* What was told of a sparse policy's layout is said again: no length tells it. */
    const bool is_told = !b->inferred && is_list(policy);
    const char *const mark = is_told ? "," : ":";
    if (from > 0 || verdict.end < plan->n_rows)
        return plan_refuse(
            plan, policy, err,
            "rows %llu to %llu: %s on occupied cells in %llu of %llu rows looked at, expected "
            "none. Unlike the other rows they are stored in another order than the planes: %s has "
            "%llu such rows; expand them by themselves, or write them in the order of the others",
            from, (unsigned long long)verdict.end - 1, what, n_on, n, found, n_left);
    return plan_refuse(plan, policy, err,
                       "row %llu: %s on occupied cells, as in %llu of %llu rows with stones looked "
                       "at; expected none. Planes and %s are stored in different orders: %s has "
                       "%llu such rows; use --role %s=%s%s%s%s%s",
                       (unsigned long long)l.first_on, what, n_on, n, role, found, n_left,
                       text_path(policy->key).text, role, is_told ? ":layout=" : "",
                       is_told ? b->layout->name : "", as_is ? "" : mark, flip);
}

static bool is_looked_at(const struct plan *plan, const struct plan_array *array)
{
    const struct role_binding *b = &array->binding;

    if (!action_can_flip(plan->board, b->layout, ACTION_FLIPUD))
        return false;
    if (b->role == ROLE_POLICY_INDEX)
        return true;
    return !array->is_object && survey_has_numbers(array) &&
           ((b->role == ROLE_ACTION && !b->is_pairs) ||
            ((b->role == ROLE_POLICY || b->role == ROLE_MASK) && b->axes.inner == 1));
}

int stone_watch_init(struct stone_watch *watch, const struct plan *plan, bool is_late,
                     struct error *err)
{
    const struct plan_array *stones = survey_find_planes(plan);
    bool is_packed = false, is_asked = false, streams = plan->order.n_rows > 0;

    *watch = (struct stone_watch){.plan = plan, .is_late = is_late, .first = plan->n_rows};
    if (stones == NULL)
        stones = survey_find(plan, ROLE_GRID);
    if (!survey_has_numbers(stones) || plan->conventions.planes == PLANES_OPENSPIEL)
        return 0;
    const struct role_binding *b = &stones->binding;
    watch->stones = stones;
    watch->form = survey_form(stones);
    if (b->axes.axis != plan->board->n_cells || b->layout != NULL ||
        (b->role != ROLE_GRID && watch->form.n_planes < 2))
        return 0;
    stone_planes_decide(&watch->where, &plan->conventions, watch->form.n_planes,
                        plan->board->family->joins_edges);
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const bool is_policy = is_looked_at(plan, array);

        if (!is_policy && array != stones)
            continue;
        is_asked |= is_policy;
        for (size_t k = 0; k < plan->n_archives; k++)
            is_packed |= array->sources[k]->decoder != NULL;
        streams = streams && ((is_policy && is_list(array)) ||
                              (order_streams(&plan->order, array->spec.row_nbytes) &&
                               reader_can_stream(array->sources, plan->n_archives)));
    }
    /* Rows pass by in sequence, and nothing is committed before the last of them has. */
    if (is_packed && streams && plan->n_rows > MIN_REACH && plan->settings->purpose == FOR_IMAGES &&
        plan->settings->rows_per_shard == 0 && plan->input_ends == NULL)
        watch->first = (uint64_t)fmax(MIN_REACH, PACKED_REACH * (double)plan->n_rows);
    if (!is_asked || (is_late && watch->first == plan->n_rows))
        return 0;
    for (size_t i = 0; i <= plan->n_arrays; i++) { /* the stones come first */
        const struct plan_array *array = i == 0 ? stones : &plan->arrays[i - 1];
        const size_t row_nbytes = i == 0 ? watch->form.axis : array->spec.row_nbytes;

        if (i > 0 && (!is_late || !is_looked_at(plan, array) || is_list(array)))
            continue;
        if (list_room(&watch->kept, watch->n_kept + 1, sizeof *watch->kept, "kept rows", err) != 0)
            return -1;
        struct kept_rows *rows = &watch->kept[watch->n_kept++];
        *rows = (struct kept_rows){.array = array, .row_nbytes = row_nbytes, .next = watch->first};
        rows->bytes = calloc(FLIPS_N_PARTS * 2 * ROWS_OF_PART, row_nbytes + 1);
        if (rows->bytes == NULL)
            return error_no_memory(err, "kept rows");
    }
    return 0;
}

int stone_watch_judge(const struct stone_watch *watch, struct error *err)
{
    const struct plan *plan = watch->plan;

    for (size_t i = 0; watch->n_kept > 0 && i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i]) && look_at(watch, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}

int survey_flips(const struct plan *plan, struct error *err)
{
    struct stone_watch watch;
    struct survey s;
    int status = stone_watch_init(&watch, plan, false, err);

    if (status == 0 && watch.n_kept > 0) {
        survey_begin(&s, plan, SURVEY_OF(watch.stones), err);
        while (survey_next(&s) && s.number < watch.first)
            keep_row(&watch, &watch.kept[0], s.number, s.rows[0].bytes);
        status = survey_end(&s);
    }
    if (status == 0)
        status = stone_watch_judge(&watch, err);
    stone_watch_release(&watch);
    return status;
}

void stone_watch_release(struct stone_watch *watch)
{
    for (size_t i = 0; i < watch->n_kept; i++)
        free(watch->kept[i].bytes);
    free(watch->kept);
    *watch = (struct stone_watch){0};
}
