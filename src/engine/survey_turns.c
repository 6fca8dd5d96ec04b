/*
 * survey_turns.c - whether the stones of a plan's rows agree with the player to move.
 *
 * In a game of Hex the player to move has as many stones as the other one, or one fewer. Rows that
 * break this rule under --planes colour but not under mover, or the other way round, prove that the
 * wrong one was declared; other rows that break it (swap rule, handicap) are a warning. Rows of
 * finished games, which have no policy, do not count.
 *
 * Everything is counted in one pass over the planes: as their rows pass by on the way to the
 * output, or in a pass of its own. Policies are most of what there is to read, so they are only
 * read, in a second pass, when some rows break the rule.
 */
#include "engine/survey.h"

/* Count one position: a row, or a frame of its history. The stones of all frames may be ordered by
 * the mover of each frame, of the first one or of the last one. */
static void count_frame(struct turns *t, uint64_t number, const struct row *rows,
                        const uint8_t *frame)
{
    const struct planes_form *form = &t->form;
    const struct row *policy = &rows[2];
    const int told = turn_by_array(&t->plan->conventions, &rows[1]);
    double found[2];
    uint64_t n[2] = {0};

    if (t->left != 0 || t->has_lead)
        planes_count_stones(form, frame, n, NULL);
    if (t->left != 0) {
        /* With an odd number of stones the second player is to move: which planes say so? */
        const int second = (int)((n[0] + n[1]) % 2);

        t->has_turn[second] = true;
        for (uint64_t p = 0; p < form->n_planes; p++)
            if ((t->left >> p & 1) &&
                (!planes_is_level(form, frame, p, found) || found[0] != (double)second))
                t->left &= ~(UINT64_C(1) << p);
    }
    if (!turn_rows_add(&t->rows, form, frame, number) || !t->has_lead ||
        (policy->n > 0 && survey_all_zero(policy->dtype, policy->bytes, policy->n)))
        return;
    const int player = form->turn < 0 ? told : turn_by_plane(form, frame);
    if (player < 0) {
        t->n_more[0] += n[0] == n[1] + 1;
        t->n_more[1] += n[1] == n[0] + 1;
        return;
    }
    t->n_told += told >= 0;
    t->n_contradicted += told >= 0 && told != player;
    const struct turn_lead lead = turn_lead(form->is_mover, player, n);
    t->n_rows++;
    t->n_excess += lead.declared == 1;
    t->n_other_excess += lead.other >= 1;
    t->n_even += player == 1 && n[0] == n[1];
    for (int k = 0; k < 3 && form->n_frames > 1; k++) {
        const uint64_t movers = k == 2 ? form->n_frames - 1 : 0;
        const int whose = turn_by_plane(form, rows[0].bytes + movers * form->frame_nbytes);
        const int64_t own = (int64_t)n[0] - (int64_t)n[1];

        t->n_mover_excess[k] += (k == 0 || whose == player ? own : -own) >= 1;
    }
}

/* Count a row of planes, the array of players and the policy. */
static void count_row(struct turns *t, uint64_t number, const struct row rows[3])
{
    const struct planes_form *form = &t->form;
    uint64_t n_blank = 0;

    for (uint64_t f = 0; f < form->n_frames; f++) {
        const uint8_t *frame = rows[0].bytes + f * form->frame_nbytes;
        bool is_blank = form->n_frames > 1 && t->form.turn >= 0;

        for (uint64_t i = 0; i < form->n_planes * form->axis && is_blank; i++)
            is_blank = planes_number(form, frame, i / form->axis, i % form->axis) == 0;
        n_blank += is_blank;
        count_frame(t, number, rows, frame);
    }
    if (n_blank > 1 && t->n_padded++ == 0)
        t->first_padded = number;
}

static int count_rows(struct turns *t, struct error *err)
{
    const struct planes_form *form = &t->form;
    struct walk s;

    survey_begin(&s, t->plan, SURVEY_OF(t->planes, t->to_move, t->policy), err);
    while (walk_next(&s))
        count_row(t, s.number, s.rows);
    for (int k = 0; k < 3 && form->n_frames > 1; k++) {
        unsigned long long *const n = t->form.is_mover ? &t->n_excess : &t->n_other_excess;

        *n = k == 0 || t->n_mover_excess[k] < *n ? t->n_mover_excess[k] : *n;
    }
    return walk_end(&s);
}

void turns_see(struct turns *t, const struct batch *batch)
{
    for (; t->n_seen >= batch->first && t->n_seen < batch->first + batch->n; t->n_seen++) {
        struct row rows[3] = {batch_row(batch, t->n_seen - batch->first)};

        if (t->to_move != NULL && !walk_next(&t->beside))
            break;
        if (t->to_move != NULL)
            rows[1] = t->beside.rows[0];
        count_row(t, t->n_seen, rows);
    }
    t->is_complete = t->n_seen == t->plan->n_rows;
}

static void init(struct turns *t, const struct plan *plan, const struct plan_array *planes)
{
    *t = (struct turns){.plan = plan,
                        .planes = planes,
                        .form = planes_frame_of(&planes->binding, &planes->spec.dtype)};
    planes_decide(&t->form, &plan->conventions, plan->swaps);
    t->to_move = survey_find(plan, ROLE_TO_MOVE);
    if (!survey_has_numbers(t->to_move) ||
        t->form.n_frames > 1) /* it names the player of one frame only */
        t->to_move = NULL;
    turn_rows_init(&t->rows);
}

static int refuse_plane(const struct turns *t, struct error *err)
{
    static const char *const whose[] = {"blue and red", "the mover's and the other's"};
    const struct turn_advice advice = turn_advise(&t->rows, &t->form);
    const bool mover = t->form.is_mover;
    const bool also_12 =
        strchr(advice.planes[0], '=') != NULL && survey_find(t->plan, ROLE_TO_MOVE) == NULL;
    const unsigned long long row = t->rows.first_bad;
    char found[96];

    snprintf(found, sizeof found, t->rows.bad[0] == t->rows.bad[1] ? "%g" : "%g and %g",
             t->rows.bad[0], t->rows.bad[1]);
    if (t->form.n_planes != 3)
        return plan_refuse(t->plan, t->planes, err,
                           "row %llu: plane %d holds %s, expected 0 or 1 throughout (the player to "
                           "move); describe the planes with --planes",
                           row, t->form.turn, found);
    if (advice.is_other_code)
        return plan_refuse(t->plan, t->planes, err,
                           "row %llu: plane %d holds %s (%g to %g in all rows), expected 0 or 1 "
                           "throughout (the player to move); write it as 0 and 1, or use --planes "
                           "%s if it is not the player to move",
                           row, t->form.turn, found, t->rows.low, t->rows.high, advice.planes[0]);
    return plan_refuse(
        t->plan, t->planes, err,
        "row %llu: plane %d holds %s, expected 0 or 1 throughout (the player to move)%s; use "
        "--planes %s %s(planes %llu and %llu are %s; %s if they are %s)",
        row, t->form.turn, found, advice.is_rest ? ": one plane holds the empty cells" : "",
        advice.planes[0], also_12 ? "or --to-move 12 " : "", (unsigned long long)advice.stones[0],
        (unsigned long long)advice.stones[1], whose[mover], advice.planes[1], whose[!mover]);
}

/* Begin to count. False where nothing can be wrong. */
static bool begin(struct turns *t, const struct plan *plan, const struct plan_array *planes)
{
    const struct conventions *c = &plan->conventions;
    const bool joins_edges = plan->board->family->joins_edges;

    init(t, plan, planes);
    /* The plane in which the first chosen transform that swaps colours exchanges the players. */
    t->form.turn = -1;
    for (uint32_t k = 0; k < plan->n_chosen && t->form.turn < 0; k++)
        t->form.turn = (int)spec_turn_plane(&planes->spec, plan->chosen[k]);
    t->has_lead = joins_edges && c->planes <= PLANES_MOVER && t->form.n_planes <= 3 &&
                  t->form.n_planes >= 2 && planes == survey_find_planes(plan);
    /* A permutation given with --planes may have left that plane unmarked. */
    if (c->planes == PLANES_PERMUTATION && t->form.turn < 0 && joins_edges &&
        t->form.n_planes == c->n_planes)
        for (uint32_t p = 0; p < c->n_planes; p++)
            if (c->plane_dst[p] == p && p != t->form.stones[0] && p != t->form.stones[1])
                t->left |= UINT64_C(1) << p;
    if (!t->has_lead)
        t->to_move = NULL; /* not needed */
    return t->form.turn >= 0 || t->has_lead || t->left != 0;
}

void turns_watch(struct turns *t, const struct plan *plan, const struct plan_array *planes)
{
    if (!begin(t, plan, planes) || t->form.n_frames > 1)
        *t = (struct turns){.planes = NULL};
    else if (t->to_move != NULL)
        survey_begin(&t->beside, plan, SURVEY_OF(t->to_move), NULL);
}

static int survey_planes(struct plan *plan, const struct plan_array *planes, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const struct plan_array *policy = survey_find(plan, ROLE_POLICY);
    const struct text_quoted key = text_path(planes->key);
    const char *const rows = planes->binding.frame_planes > 0 ? "frames" : "rows";
    int status = 0;
    struct turns t;

    if (!begin(&t, plan, planes))
        return 0;
    if (plan->turns != NULL && plan->turns->planes == planes && plan->turns->is_complete)
        t = *plan->turns;
    else if (count_rows(&t, err) != 0)
        return -1;
    if (t.rows.n_bad > 0)
        return refuse_plane(&t, err);
    /* A game has one empty board; further ones are padding. */
    if (t.n_padded > 0 && t.form.turn >= 0 && !(planes->binding.options & ROLE_POSITIONS))
        return plan_refuse(
            plan, planes, err,
            "row %llu: frames of zeros, as in %llu rows: if they are the empty board before the "
            "first move, over and over, a colour swap makes their player to move the other one; "
            "use --role %s=%s,positions then; if they stand for no position, their zeros have no "
            "image with colours swapped; use --transforms for the others",
            t.first_padded, t.n_padded, key.text, role_binding_spec(&planes->binding).text);
    if (t.n_excess > 0 && survey_has_numbers(policy)) { /* again, without finished games */
        begin(&t, plan, planes);
        t.policy = policy;
        if (count_rows(&t, err) != 0)
            return -1;
    }
    if (t.left != 0 && t.has_turn[0] && t.has_turn[1])
        status |= plan_warn(plan, err,
                            "%s: plane %d is the player to move in every row, by the number of "
                            "stones, and --planes %s keeps it: images with colours swapped name "
                            "the wrong player; mark it with ~",
                            key.text, __builtin_ctzll(t.left), conventions_text(c, "planes").text);
    if (t.to_move != NULL && t.n_contradicted > 0)
        status |= plan_warn(
            plan, err, "%s: %llu of %llu rows name another player to move than plane %d of %s",
            text_path(t.to_move->key).text, t.n_contradicted, t.n_told, t.form.turn, key.text);
    if (t.n_excess > 0 && t.n_other_excess == 0)
        status |= plan_refuse(plan, planes, err,
                              "%llu of %llu %s have one stone more of the player to move than of "
                              "the other, which --planes %s rules out and --planes %s explains",
                              t.n_excess, t.n_rows, rows, t.form.is_mover ? "mover" : "colour",
                              t.form.is_mover ? "colour" : "mover");
    else if (t.n_excess > 0)
        status |= plan_warn(plan, err,
                            "%s: %llu of %llu %s have one stone more of the player to move than of "
                            "the other (swap rule, handicap, red first?)",
                            key.text, t.n_excess, t.n_rows, rows);
    /* Nothing names the player to move, who never has one stone more; blue, who begins, may. */
    const unsigned long long n_odd = t.n_more[!t.form.is_mover];
    if (n_odd > 0 && t.n_more[t.form.is_mover] == 0 && t.n_rows == 0)
        status |= plan_warn(plan, err,
                            "%s: the %s plane holds one stone more than the %s one in %llu %s and "
                            "one less in none, as planes %s do: if they are, use --planes %s, or "
                            "images that swap colours are wrong",
                            key.text, t.form.is_mover ? "first" : "second",
                            t.form.is_mover ? "second" : "first", n_odd, rows,
                            t.form.is_mover ? "of blue and red"
                                            : "of the player to move and of the other",
                            t.form.is_mover ? "colour" : "mover");
    if (!c->to_move_said && t.n_even > 0 && t.n_even == t.n_rows)
        status |= plan_warn(plan, err,
                            "%s: the player to move is 1 in all %llu %s, and both players have as "
                            "many stones: if 1 is the first player, use --to-move 12 or pm1",
                            key.text, t.n_rows, rows);
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
    struct walk s;
    struct turns t;
    uint64_t n[2] = {0};

    if (!c->to_move_said || c->to_move == TO_MOVE_01 || !survey_has_numbers(array) ||
        conventions_is_said(c, "to-move-plane"))
        return 0;
    init(&t, plan, array);
    if (plan->settings->seen != NULL)
        *codes |= plan->settings->seen->turn_codes;
    /* The codes in the plane, up to the first that decides; as long as it is 1 throughout, also
     * what else tells whose turn it is. */
    survey_begin(&s, plan, SURVEY_OF(array, t.to_move), err);
    while (!(*codes & TURN_OTHER) && walk_next(&s)) {
        for (uint64_t f = 0; f < t.form.n_frames; f++) {
            const double value =
                planes_number(&t.form, s.rows[0].bytes + f * t.form.frame_nbytes, plane, 0);

            if (value == 0)
                *codes |= TURN_ZERO;
            else if (turn_player(c->to_move, value) == 1)
                *codes |= TURN_OTHER;
        }
        if (*codes & (TURN_OTHER | TURN_ZERO))
            continue;
        const int player = turn_by_array(c, &s.rows[1]);

        if (player >= 0)
            *codes |= player == 0 ? TURN_FIRST_SAID : TURN_SECOND_SAID;
        if (t.form.is_mover)
            continue;
        planes_count_stones(&t.form, s.rows[0].bytes, n, NULL);
        if (n[0] + 1 == n[1])
            *codes |= TURN_FIRST_LACKS;
        else if (n[1] + 1 == n[0])
            *codes |= TURN_SECOND_LACKS;
    }
    if (walk_end(&s) != 0)
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
