/*
 * diagnose.c - see diagnose.h.
 *
 * First the whole rows: exact, another image than they should be, the same as another row, missing.
 * A row that is no image as a whole is taken apart, and each array named by what explains it.
 */
#include "verify/pass.h"

#include <stdlib.h>
#include <string.h>

/* One row under diagnosis. */
struct case_of_row {
    const struct diagnosis *d;
    uint64_t member;      /* of d->members */
    uint32_t transform;   /* what the row should be the image under */
    uint64_t *references; /* per lane: the member it is compared with */
    bool *exact;          /* per lane: it is that image */
    uint32_t *by;         /* per lane: the transform that explains it, or ORBIT_NO_TRANSFORM */
};

#define MAX_REFERENCES 16 /* images that are tried as the one most others agree with */

/* --- the quick check --- */

static struct orbit_pair make_pair(const struct diagnosis *d, size_t lane, uint64_t base,
                                   uint64_t image)
{
    return (struct orbit_pair){d->window, d->lanes, lane, d->members[base], d->members[image], 0};
}

static uint32_t transform_of(const struct diagnosis *d, uint64_t m)
{
    return d->window->images[d->members[m]].transform;
}

/* Is image m, in this lane, what reference r becomes under transform t of their source? */
static bool agrees(const struct diagnosis *d, size_t lane, uint64_t r, uint64_t m, uint32_t t)
{
    const struct orbit_pair pair = make_pair(d, lane, r, m);

    return orbit_same(&pair, spec_between(d->lanes->shard->board, transform_of(d, r), t),
                      ORBIT_EXACT);
}

static bool has_all_expected(const struct diagnosis *d)
{
    uint64_t m = 0;

    for (uint32_t t = 0; d->groups->expects && t < d->groups->n_transforms; t++) {
        while (m < d->n && transform_of(d, m) < t)
            m++;
        if (d->groups->expected[t] && (m == d->n || transform_of(d, m) != t))
            return false;
    }
    return true;
}

bool diagnose_is_exact(const struct diagnosis *d)
{
    if (transform_of(d, d->n - 1) == ORBIT_NO_TRANSFORM)
        return d->n == 1;
    for (uint64_t m = 1; m < d->n; m++)
        if (transform_of(d, m) == transform_of(d, m - 1))
            return false;
    if (!has_all_expected(d))
        return false;
    for (size_t i = 0; i < d->lanes->n; i++) {
        if (!lane_is_compared(&d->lanes->items[i]))
            continue;
        for (uint64_t m = 1; m < d->n; m++)
            if (!agrees(d, i, 0, m, transform_of(d, m)))
                return false;
    }
    return true;
}

/* --- references and explanations --- */

static uint64_t find_reference(const struct diagnosis *d, size_t lane, uint64_t n_known)
{
    uint64_t best = 0, most = 0;

    for (uint64_t r = 0; r < n_known && r < MAX_REFERENCES; r++) {
        uint64_t n = 0;

        for (uint64_t m = 0; m < n_known; m++)
            n += m == r || agrees(d, lane, r, m, transform_of(d, m));
        if (n > most) {
            most = n;
            best = r;
        }
        if (2 * n > n_known)
            break;
    }
    return best;
}

/* The transform that explains an image: the identity first, then the inverse, then any other. */
static uint32_t explain(const struct case_of_row *c, size_t lane)
{
    const struct diagnosis *d = c->d;
    const uint32_t inverse = d->lanes->shard->board->inverse[c->transform];

    for (uint32_t k = 0; k < d->groups->n_transforms + 2; k++) {
        const uint32_t u = k == 0 ? 0 : k == 1 ? inverse : k - 2;

        if ((k < 2 || d->groups->allowed[u]) && agrees(d, lane, c->references[lane], c->member, u))
            return u;
    }
    return ORBIT_NO_TRANSFORM;
}

/* Is channel `channel - 1` (0: are all) of a lane the image under t, but for the liberties? */
static bool fits(const struct case_of_row *c, size_t lane, uint64_t channel, uint32_t t,
                 unsigned liberties)
{
    const struct diagnosis *d = c->d;
    const uint64_t r = c->references[lane];
    struct orbit_pair pair = make_pair(d, lane, r, c->member);

    pair.channel = channel;
    return orbit_same(&pair, spec_between(d->lanes->shard->board, transform_of(d, r), t),
                      liberties);
}

static bool case_fits(const struct case_of_row *c, size_t lane, uint32_t t, unsigned liberties)
{
    return fits(c, lane, 0, t, liberties);
}

static bool fits_whole(const struct case_of_row *c, uint32_t u)
{
    const struct lanes *lanes = c->d->lanes;

    for (size_t i = 0; i < lanes->n; i++)
        if (lane_is_compared(&lanes->items[i]) && !case_fits(c, i, u, ORBIT_EXACT))
            return false;
    return true;
}

/* --- the names of the mistakes --- */

/* What is said of one array of one row. */
struct mistake {
    enum finding_code code;
    const char *what;
};

static const struct board *board_of(const struct case_of_row *c)
{
    return c->d->lanes->shard->board;
}

static bool swaps(const struct case_of_row *c)
{
    return board_of(c)->transforms[c->transform].swaps_colours;
}

static struct finding_text image_text(const struct case_of_row *c, uint32_t t)
{
    if (t == ORBIT_NO_TRANSFORM)
        return finding_format("no image of it");
    return finding_format("image %u (%s)", t, board_of(c)->transforms[t].name);
}

/* --- by role --- */

/* True when some array whose content moves is what it should be: the planes stand alone then. */
static bool labels_agree(const struct case_of_row *c)
{
    for (size_t i = 0; i < c->d->lanes->n; i++) {
        const struct lane *lane = &c->d->lanes->items[i];
        const enum role role = lane->binding->role;

        if (c->exact[i] && lane->is_mapped && !lane->is_broken && role_moves(role) &&
            role > ROLE_GRID)
            return true;
    }
    return false;
}

static struct mistake name_planes(const struct case_of_row *c, size_t i)
{
    static const struct {
        unsigned liberties;
        struct mistake mistake;
    } swap_mistakes[] = {
        {ORBIT_NO_COMPLEMENT, {FINDING_TO_MOVE_NOT_FLIPPED, "the to-move plane is not flipped"}},
        {ORBIT_NO_EXCHANGE, {FINDING_COLOURS_NOT_SWAPPED, "the colours are not swapped"}},
        {ORBIT_NO_EXCHANGE | ORBIT_NO_COMPLEMENT,
         {FINDING_COLOURS_NOT_SWAPPED, "the colours are not swapped"}},
        {ORBIT_NO_FLIP, {FINDING_COLOURS_NOT_SWAPPED, "the colours are not swapped"}},
    };
    const struct lane *lane = &c->d->lanes->items[i];

    /* Castling rights of a mirrored position, or plane maps of a board from a file. */
    if (!swaps(c) && lane->spec.steps[c->transform].plane_dst != NULL &&
        case_fits(c, i, c->transform, ORBIT_NO_EXCHANGE))
        return board_of(c)->family->castling != NULL
                   ? (struct mistake){FINDING_CASTLING_NOT_SWAPPED,
                                      "the planes of castling rights are not exchanged"}
                   : (struct mistake){FINDING_ORBIT_PLANES,
                                      "the planes do not take each other's places"};
    if (!swaps(c) && board_swaps_colours(board_of(c)) &&
        case_fits(c, i, c->transform, ORBIT_SWAP_ANYWAY))
        return (struct mistake){FINDING_COLOURS_SWAPPED,
                                "the colours are swapped, which this image does not need"};
    if (lane->spec.on_board != NULL && case_fits(c, i, c->transform, ORBIT_ON_BOARD_ONLY))
        return (struct mistake){FINDING_SMEAR, "off-board cells differ"};
    for (size_t k = 0; swaps(c) && k < sizeof swap_mistakes / sizeof *swap_mistakes; k++)
        if (case_fits(c, i, c->transform, swap_mistakes[k].liberties))
            return swap_mistakes[k].mistake;
    if (c->by[i] != ORBIT_NO_TRANSFORM && labels_agree(c))
        return (struct mistake){FINDING_PLANES_POLICY_DIFFER,
                                "planes are moved by another transform than the labels"};
    return (struct mistake){FINDING_ORBIT_PLANES, "planes"};
}

static bool planes_agree(const struct case_of_row *c)
{
    return c->d->lanes->planes < 0 || c->exact[c->d->lanes->planes];
}

static struct mistake name_policy(const struct case_of_row *c, size_t i)
{
    const struct lane *lane = &c->d->lanes->items[i];

    if (lane->spec.kind == SPEC_PADDED && case_fits(c, i, c->transform, ORBIT_NO_PADDING))
        return (struct mistake){FINDING_PADDING, "padding is moved"};
    if (c->by[i] == 0)
        return (struct mistake){FINDING_POLICY_NOT_MOVED, "the policy is not moved"};
    if (c->by[i] == board_of(c)->inverse[c->transform])
        return (struct mistake){FINDING_POLICY_INVERSE, "the policy is moved by the inverse"};
    if (c->by[i] != ORBIT_NO_TRANSFORM && planes_agree(c))
        return (struct mistake){FINDING_PLANES_POLICY_DIFFER,
                                "the policy is moved by another transform than the planes"};
    return (struct mistake){FINDING_POLICY_WRONG, "policy"};
}

static struct mistake name_cell(const struct case_of_row *c, size_t i)
{
    const char *what = c->by[i] == 0 ? "the move is not moved"
                       : c->by[i] == board_of(c)->inverse[c->transform]
                           ? "the move is moved by the inverse"
                           : "move";

    return (struct mistake){FINDING_COORD_NOT_MOVED, what};
}

/* A label that a colour swap flips: by a transform of the other kind it would be right. */
static struct mistake name_label(const struct case_of_row *c, size_t i, enum finding_code code,
                                 const char *what)
{
    if (c->by[i] != ORBIT_NO_TRANSFORM)
        return (struct mistake){code, what};
    return (struct mistake){FINDING_COPY_CHANGED, "differs from that of its source"};
}

static struct mistake name_mistake(const struct case_of_row *c, size_t i)
{
    switch (role_kinds[c->d->lanes->items[i].binding->role].mistake) {
    case ROLE_MISTAKE_PLANES:
        return name_planes(c, i);
    case ROLE_MISTAKE_POLICY:
        return name_policy(c, i);
    case ROLE_MISTAKE_INDEX_VALUES:
        return (struct mistake){FINDING_POLICY_WRONG, "the values of the policy differ"};
    case ROLE_MISTAKE_MOVE:
        return name_cell(c, i);
    case ROLE_MISTAKE_VALUE:
        return name_label(c, i, FINDING_VALUE_NOT_FLIPPED,
                          swaps(c) ? "the value is not flipped"
                                   : "the value is flipped, though the colours are not swapped");
    case ROLE_MISTAKE_PLAYER:
        return name_label(c, i, FINDING_TO_MOVE_NOT_FLIPPED,
                          swaps(c) ? "the player to move is not flipped"
                                   : "the player is flipped, though the colours are not swapped");
    case ROLE_MISTAKE_COPY:
        break;
    }
    return (struct mistake){FINDING_COPY_CHANGED, "differs from that of its source"};
}

/* --- a row --- */

/* The transform that a row was moved by, or which of its channels is not the image it should be. */
static struct finding_text found_text(const struct case_of_row *c, size_t i, enum finding_code code)
{
    const struct spec *spec = &c->d->lanes->items[i].spec;
    uint64_t n_right = 0, wrong = 0;

    for (uint64_t p = 0; code == FINDING_ORBIT_PLANES && c->by[i] == ORBIT_NO_TRANSFORM &&
                         spec->kind == SPEC_AXIS && p < spec->n_planes;
         p++) {
        if (fits(c, i, p + 1, c->transform, ORBIT_EXACT))
            n_right++;
        else if (wrong == 0)
            wrong = p + 1;
    }
    if (n_right == 0 || wrong == 0)
        return image_text(c, c->by[i]);
    return finding_format("plane %llu %s", (unsigned long long)wrong - 1,
                          fits(c, i, wrong, 0, ORBIT_EXACT) ? "not moved" : "no image of it");
}

static void report(const struct case_of_row *c, size_t i, struct findings *findings)
{
    const struct lane_image *image = &c->d->window->images[c->d->members[c->member]];
    const struct mistake mistake = name_mistake(c, i);
    const struct finding_place place = {mistake.code, false, c->d->lanes->items[i].array->key,
                                        image->row};

    findings_add(findings, &place, image_text(c, c->transform).text,
                 found_text(c, i, mistake.code).text, "%s (source %llu)", mistake.what,
                 (unsigned long long)image->source);
}

static void diagnose_row(const struct case_of_row *c, struct findings *findings)
{
    const int planes = c->d->lanes->planes;

    /* A position of another source: its labels are foreign too, and say nothing of their own. */
    if (planes >= 0 && !c->exact[planes] && c->by[planes] == ORBIT_NO_TRANSFORM &&
        !labels_agree(c)) {
        report(c, (size_t)planes, findings);
        return;
    }
    for (size_t i = 0; i < c->d->lanes->n; i++)
        if (!c->exact[i])
            report(c, i, findings);
}

/* --- images that conventions leave out --- */

static bool has_castling_rights(const struct diagnosis *d)
{
    const struct conventions *conventions = &d->lanes->shard->conventions;
    const uint32_t *known = d->lanes->shard->board->family->castling->planes;
    const struct lane *lane = &d->lanes->items[d->lanes->planes];
    const struct lane_row row =
        window_row(d->window, d->lanes, (size_t)d->lanes->planes, d->members[0]);

    for (uint32_t k = 0; k < 4; k++) {
        const uint64_t plane =
            conventions->n_castling_planes > 0 ? conventions->castling_planes[k] : known[k];

        for (uint64_t cell = 0; plane < lane->spec.n_planes && cell < lane->spec.axis; cell++)
            if (lane_row_double(&row, lane->spec.channels_last
                                          ? cell * lane->spec.n_planes + plane
                                          : plane * lane->spec.axis + cell) != 0)
                return true;
    }
    return false;
}

/* Mass on an action that names a region by one of its cells. */
static bool has_ambiguous_mass(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->lanes->n; i++) {
        const struct lane *lane = &d->lanes->items[i];
        const bool is_dense =
            lane->binding->role == ROLE_POLICY || lane->binding->role == ROLE_ACTION_VALUES;
        struct lane_row row;

        if (lane->spec.space == NULL || lane->is_broken ||
            (!is_dense && lane->binding->role != ROLE_POLICY_INDEX))
            continue;
        row = window_row(d->window, d->lanes, i, d->members[0]);
        for (uint64_t k = 0; k < row.n; k++) {
            const int64_t action =
                is_dense ? (int64_t)(k % lane->spec.space->length) : lane_row_int(&row, k);

            if (action >= 0 && (uint64_t)action < lane->spec.space->length &&
                (lane->spec.space->flags[action] & ACTION_AMBIGUOUS) &&
                (!is_dense || lane_row_double(&row, k) != 0))
                return true;
        }
    }
    return false;
}

static bool may_be_left_out(const struct diagnosis *d)
{
    const struct verify_shard *shard = d->lanes->shard;

    if (d->n != 1 || d->window->images[d->members[0]].transform != 0)
        return false;
    if ((shard->recall.manifest == NULL || shard->conventions.ambiguous == AMBIGUOUS_DROP) &&
        has_ambiguous_mass(d))
        return true;
    return shard->board->family->castling != NULL && d->lanes->planes >= 0 &&
           d->lanes->items[d->lanes->planes].is_mapped &&
           !d->lanes->items[d->lanes->planes].is_broken &&
           (shard->recall.manifest == NULL || shard->conventions.castling == CASTLING_SKIP) &&
           has_castling_rights(d);
}

/* --- images as wholes --- */

/* What each image of a group turned out to be. */
struct whole {
    bool is_exact;
    uint32_t is; /* the transform its content is the image under, or ORBIT_NO_TRANSFORM */
};

static const char *name_of(const struct diagnosis *d, uint32_t t)
{
    return d->lanes->shard->board->transforms[t].name;
}

static const char *planes_key(const struct diagnosis *d)
{
    return d->lanes->planes >= 0 ? d->lanes->items[d->lanes->planes].array->key : NULL;
}

static bool is_held(const struct whole *wholes, uint64_t n, uint64_t except, uint32_t t)
{
    for (uint64_t m = 0; m < n; m++)
        if (m != except && wholes[m].is == t)
            return true;
    return false;
}

/* The transform that explains all arrays of the row at once, or none; one that no other row has,
 * where the position's own symmetry leaves a choice. */
static uint32_t explain_whole(const struct case_of_row *c, const struct whole *wholes, uint64_t n)
{
    const struct orbit_groups *groups = c->d->groups;
    uint32_t found = ORBIT_NO_TRANSFORM;

    for (uint32_t u = 0; u < groups->n_transforms; u++) {
        if (!groups->allowed[u] || !fits_whole(c, u))
            continue;
        if (!is_held(wholes, n, n, u))
            return u;
        found = found == ORBIT_NO_TRANSFORM ? u : found;
    }
    return found;
}

static void report_whole(const struct diagnosis *d, const struct whole *wholes, uint64_t m)
{
    struct finding_place place = {FINDING_ORBIT_DUPLICATE, false, planes_key(d),
                                  d->window->images[d->members[m]].row};
    const uint32_t t = transform_of(d, m), is = wholes[m].is;
    const uint64_t source = d->window->images[d->members[m]].source;

    if (is_held(wholes, m, m, is) || (!wholes[m].is_exact && is_held(wholes, d->n, m, is))) {
        findings_add(d->findings, &place, "each image once",
                     finding_format("image %u (%s) again", is, name_of(d, is)).text,
                     "image of source %llu", (unsigned long long)source);
        return;
    }
    if (wholes[m].is_exact)
        return;
    place.code = FINDING_ORBIT_PLANES;
    findings_add(d->findings, &place, finding_format("image %u (%s)", t, name_of(d, t)).text,
                 finding_format("image %u (%s)", is, name_of(d, is)).text,
                 "all arrays of the row are another image of source %llu",
                 (unsigned long long)source);
}

/* The position's own symmetry may make two images equal: the one is there if the other is. */
static bool is_there_by_symmetry(const struct diagnosis *d, const struct whole *wholes, uint32_t t)
{
    for (uint64_t m = 0; m < d->n; m++) {
        bool same = wholes[m].is_exact;

        for (size_t i = 0; i < d->lanes->n && same; i++)
            same = !lane_is_compared(&d->lanes->items[i]) ||
                   (transform_of(d, m) != ORBIT_NO_TRANSFORM && agrees(d, i, m, m, t));
        if (same)
            return true;
    }
    return false;
}

static void report_missing(const struct diagnosis *d, const struct whole *wholes)
{
    const struct lane_image *first = &d->window->images[d->members[0]];
    const struct finding_place place = {FINDING_ORBIT_MISSING, false, planes_key(d), first->row};

    for (uint32_t t = 0; d->groups->expects && t < d->groups->n_transforms; t++) {
        if (!d->groups->expected[t] || is_held(wholes, d->n, d->n, t))
            continue;
        /* An image that is there under its name but wrong is reported as what it is. */
        bool named = false;

        for (uint64_t m = 0; m < d->n; m++)
            named |= transform_of(d, m) == t && wholes[m].is == ORBIT_NO_TRANSFORM;
        if (named || is_there_by_symmetry(d, wholes, t) || may_be_left_out(d) ||
            orbit_groups_may_be_elsewhere(d->groups, first->source, t))
            continue;
        findings_add(d->findings, &place, finding_format("image %u (%s)", t, name_of(d, t)).text,
                     "none", "images of source %llu", (unsigned long long)first->source);
    }
}

/* --- a group --- */

/* What a row should be that is no image of its source as a whole, and whose transform nobody has
 * told: what its planes show, or what the first other array shows. */
static uint32_t guess_transform(struct case_of_row *c)
{
    const struct lanes *lanes = c->d->lanes;
    uint32_t shown = ORBIT_NO_TRANSFORM;

    c->transform = 0;
    if (lanes->planes >= 0 && lane_is_compared(&lanes->items[lanes->planes]))
        shown = explain(c, (size_t)lanes->planes);
    for (size_t i = 0; i < lanes->n && (shown == ORBIT_NO_TRANSFORM || shown == 0); i++)
        if (lane_is_compared(&lanes->items[i]) && lanes->items[i].spec.kind != SPEC_KEEP)
            shown = explain(c, i);
    return shown != ORBIT_NO_TRANSFORM ? shown : 0;
}

static bool is_same_row(const struct diagnosis *d, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < d->lanes->n; i++) {
        const struct orbit_pair pair = make_pair(d, i, a, b);

        if (lane_is_compared(&d->lanes->items[i]) && !orbit_same(&pair, 0, ORBIT_EXACT))
            return false;
    }
    return true;
}

/* Does a wrong row repeat an earlier one, though the position has different images there? */
static bool repeats(const struct case_of_row *c)
{
    const struct diagnosis *d = c->d;
    const struct board *board = d->lanes->shard->board;
    const size_t planes = d->lanes->planes >= 0 ? (size_t)d->lanes->planes : 0;
    const uint64_t r = c->references[planes];
    const struct orbit_pair itself = make_pair(d, planes, r, r);
    const uint32_t to = spec_between(board, transform_of(d, r), c->transform);

    for (uint64_t other = 0; other < c->member; other++) {
        uint32_t from = transform_of(d, other);

        if (from == ORBIT_NO_TRANSFORM || !is_same_row(d, other, c->member))
            continue;
        from = spec_between(board, transform_of(d, r), from);
        if (from == to ||
            !orbit_same(&itself, board->compose[from * board->n_transforms + board->inverse[to]],
                        ORBIT_EXACT))
            return true;
    }
    return false;
}

static void report_repeated(const struct case_of_row *c, struct findings *findings)
{
    const struct lane_image *image = &c->d->window->images[c->d->members[c->member]];
    const struct finding_place place = {FINDING_ORBIT_DUPLICATE, false, planes_key(c->d),
                                        image->row};

    findings_add(findings, &place, "each image once", "a wrong image again", "image of source %llu",
                 (unsigned long long)image->source);
}

static void look_at_row(struct case_of_row *c, struct whole *wholes, struct findings *findings)
{
    const struct lanes *lanes = c->d->lanes;
    struct whole *whole = &wholes[c->member];
    bool exact = true;

    if (c->transform == ORBIT_NO_TRANSFORM) {
        whole->is = explain_whole(c, wholes, c->member);
        whole->is_exact = whole->is != ORBIT_NO_TRANSFORM;
        if (whole->is_exact)
            return;
        c->transform = guess_transform(c);
    }

    for (size_t i = 0; i < lanes->n; i++) {
        const struct lane *lane = &lanes->items[i];

        c->exact[i] = !lane_is_compared(lane) || case_fits(c, i, c->transform, ORBIT_EXACT);
        c->by[i] = c->exact[i] ? c->transform : ORBIT_NO_TRANSFORM;
        exact &= c->exact[i];
    }
    /* Planes that are right may be right by symmetry; then the labels tell what is wrong. */
    *whole = (struct whole){exact, exact ? c->transform : ORBIT_NO_TRANSFORM};
    if (!exact && (lanes->planes < 0 || !c->exact[lanes->planes]))
        whole->is = explain_whole(c, wholes, c->member);
    if (exact || whole->is != ORBIT_NO_TRANSFORM)
        return;
    for (size_t i = 0; i < lanes->n; i++)
        if (!c->exact[i])
            c->by[i] = explain(c, i);
    if (repeats(c))
        report_repeated(c, findings);
    else
        diagnose_row(c, findings);
}

static void diagnose(const struct diagnosis *d, struct case_of_row *c, struct whole *wholes)
{
    uint64_t n_known = d->n;

    while (n_known > 0 && transform_of(d, n_known - 1) == ORBIT_NO_TRANSFORM)
        n_known--;
    if (n_known == 0) /* nothing tells which image any of them is */
        return;
    for (uint64_t m = 0; m < d->n; m++)
        wholes[m].is = ORBIT_NO_TRANSFORM;
    for (size_t i = 0; i < d->lanes->n; i++)
        c->references[i] =
            lane_is_compared(&d->lanes->items[i]) ? find_reference(d, i, n_known) : 0;
    for (uint64_t m = 0; m < d->n; m++) {
        c->member = m;
        c->transform = transform_of(d, m);
        look_at_row(c, wholes, d->findings);
    }
    for (uint64_t m = 0; m < d->n; m++)
        if (wholes[m].is != ORBIT_NO_TRANSFORM)
            report_whole(d, wholes, m);
    report_missing(d, wholes);
}

int diagnose_group(const struct diagnosis *d, struct error *err)
{
    const size_t n_lanes = d->lanes->n + 1;
    struct case_of_row c = {.d = d};
    struct whole *wholes = calloc(d->n + 1, sizeof *wholes);
    int status = 0;

    c.references = calloc(n_lanes, sizeof *c.references);
    c.exact = calloc(n_lanes, sizeof *c.exact);
    c.by = calloc(n_lanes, sizeof *c.by);
    if (wholes != NULL && c.references != NULL && c.exact != NULL && c.by != NULL)
        diagnose(d, &c, wholes);
    else
        status = error_no_memory(err, "diagnosis of a group");
    free(wholes);
    free(c.references);
    free(c.exact);
    free(c.by);
    return status;
}
