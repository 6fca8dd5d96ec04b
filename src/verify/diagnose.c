/*
 * diagnose.c - names what is wrong with a group of images. A group whose images are all exact
 * passes the quick check and costs no more.
 *
 * For each array a reference is found, the row whose content most other images agree with when it
 * is pulled back. Then each image is explained: by another transform for the whole row (a
 * duplicate, or two images exchanged), else array by array (diagnose_row.c names those mistakes).
 * Images that nobody holds are missing, unless the position's own symmetry makes them equal to one
 * that is there.
 */
#include "verify/diagnose.h"

#include "base/text.h"
#include "verify/diagnose_parts.h"

#include <stdlib.h>
#include <string.h>

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

static bool takes_part(const struct lane *lane)
{
    return lane->is_mapped && !lane->is_broken;
}

/* Is image m, in this lane, what reference r becomes under transform t of their source? */
static bool agrees(const struct diagnosis *d, size_t lane, uint64_t r, uint64_t m, uint32_t t,
                   unsigned liberties)
{
    const struct orbit_pair pair = make_pair(d, lane, r, m);
    const struct board *board = d->lanes->shard->board;

    return orbit_same(&pair, orbit_between(board, transform_of(d, r), t), liberties);
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
        if (!takes_part(&d->lanes->items[i]))
            continue;
        for (uint64_t m = 1; m < d->n; m++)
            if (!agrees(d, i, 0, m, transform_of(d, m), ORBIT_EXACT))
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
            n += m == r || agrees(d, lane, r, m, transform_of(d, m), ORBIT_EXACT);
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
    const struct board *board = d->lanes->shard->board;
    const uint32_t favourites[2] = {0, board->inverse[c->transform]};
    const uint64_t r = c->references[lane];

    for (int i = 0; i < 2; i++)
        if (agrees(d, lane, r, c->member, favourites[i], ORBIT_EXACT))
            return favourites[i];
    for (uint32_t u = 0; u < board->n_transforms; u++)
        if (d->groups->allowed[u] && agrees(d, lane, r, c->member, u, ORBIT_EXACT))
            return u;
    return ORBIT_NO_TRANSFORM;
}

bool case_fits(const struct case_of_row *c, size_t lane, uint32_t t, unsigned liberties)
{
    return agrees(c->d, lane, c->references[lane], c->member, t, liberties);
}

bool case_fits_channel(const struct case_of_row *c, size_t lane, uint64_t channel, uint32_t t)
{
    const struct diagnosis *d = c->d;
    struct orbit_pair pair = make_pair(d, lane, c->references[lane], c->member);

    pair.channel = channel + 1;
    return orbit_same(
        &pair, orbit_between(d->lanes->shard->board, transform_of(d, c->references[lane]), t),
        ORBIT_EXACT);
}

static bool fits_whole(const struct case_of_row *c, uint32_t u)
{
    const struct lanes *lanes = c->d->lanes;

    for (size_t i = 0; i < lanes->n; i++)
        if (takes_part(&lanes->items[i]) && !case_fits(c, i, u, ORBIT_EXACT))
            return false;
    return true;
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
            same = !takes_part(&d->lanes->items[i]) ||
                   (transform_of(d, m) != ORBIT_NO_TRANSFORM && agrees(d, i, m, m, t, ORBIT_EXACT));
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
        if (named || is_there_by_symmetry(d, wholes, t) || diagnose_may_be_left_out(d) ||
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
    if (lanes->planes >= 0 && takes_part(&lanes->items[lanes->planes]))
        shown = explain(c, (size_t)lanes->planes);
    for (size_t i = 0; i < lanes->n && (shown == ORBIT_NO_TRANSFORM || shown == 0); i++)
        if (takes_part(&lanes->items[i]) && lanes->items[i].map.kind != ORBIT_KEEP)
            shown = explain(c, i);
    return shown != ORBIT_NO_TRANSFORM ? shown : 0;
}

static bool is_same_row(const struct diagnosis *d, uint64_t a, uint64_t b)
{
    for (size_t i = 0; i < d->lanes->n; i++) {
        const struct orbit_pair pair = make_pair(d, i, a, b);

        if (takes_part(&d->lanes->items[i]) && !orbit_same(&pair, 0, ORBIT_EXACT))
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
    const uint32_t to = orbit_between(board, transform_of(d, r), c->transform);

    for (uint64_t other = 0; other < c->member; other++) {
        uint32_t from = transform_of(d, other);

        if (from == ORBIT_NO_TRANSFORM || !is_same_row(d, other, c->member))
            continue;
        from = orbit_between(board, transform_of(d, r), from);
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

        c->exact[i] = !takes_part(lane) || case_fits(c, i, c->transform, ORBIT_EXACT);
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
        c->references[i] = takes_part(&d->lanes->items[i]) ? find_reference(d, i, n_known) : 0;
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
