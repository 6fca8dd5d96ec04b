/*
 * diagnose.c - what is wrong with a group of images that is not the orbit of its source.
 *
 * In each array the other images are compared with a reference: the one that most images agree
 * with, the lowest transform where several tie. Rows are judged as wholes first: exact, another
 * image than the row should be, a repetition, missing. A row that is no image as a whole is taken
 * apart: each array that differs is explained by another transform, by none, or by colours that
 * were not swapped, and that explanation is the finding.
 */
#include "verify/parts.h"

#define MAX_REFERENCES 16  /* images tried as the reference */
#define MAX_REPEATED   256 /* rows that a later one may repeat: no source has so many images */

/* --- comparisons --- */

static struct orbit_pair make_pair(const struct diagnosis *d, size_t lane, uint64_t base,
                                   uint64_t image)
{
    return (struct orbit_pair){d->window, lane, d->images[base].at, d->images[image].at, 0};
}

/* The transform that takes member r to what their source is under t. */
static uint32_t between(const struct diagnosis *d, uint64_t r, uint32_t t)
{
    return spec_between(d->board, d->images[r].transform, t);
}

/* True when member m is, in all arrays, what member r becomes under transform t of their source. */
static bool agrees(const struct diagnosis *d, uint64_t r, uint64_t m, uint32_t t)
{
    return orbit_same_row(d->window, d->images[r].at, d->images[m].at, between(d, r, t));
}

bool diagnose_is_exact(const struct diagnosis *d)
{
    const struct lane_image *images = d->images;
    uint64_t next = 0;

    if (images[d->n - 1].transform == NO_TRANSFORM)
        return d->n == 1;
    for (uint64_t m = 1; m < d->n; m++)
        if (images[m].transform == images[m - 1].transform)
            return false;
    for (uint32_t t = 0; d->groups->expects && t < d->groups->n_transforms; t++) {
        while (next < d->n && images[next].transform < t)
            next++;
        if (d->groups->expected[t] && (next == d->n || images[next].transform != t))
            return false;
    }
    for (uint64_t m = 1; m < d->n; m++)
        if (!agrees(d, 0, m, images[m].transform))
            return false;
    return true;
}

/* True when something says which image each row is, if only the order of the rows that is told. */
static bool is_named(const struct diagnosis *d)
{
    return d->groups->source != NULL || d->groups->is_told || d->groups->layout.n_images < 2;
}

/* True when the current row is, in this lane, the image under t, up to the liberties. */
static bool fits(const struct diagnosis *d, size_t lane, uint32_t t, unsigned liberties)
{
    const uint64_t r = d->references[lane];
    const struct orbit_pair pair = make_pair(d, lane, r, d->member);

    return orbit_same(&pair, between(d, r, t), liberties);
}

/* The transform that explains a lane: the identity first, then the inverse, then any other. */
static uint32_t explain(const struct diagnosis *d, size_t lane)
{
    const struct orbit_groups *groups = d->groups;

    for (uint32_t k = 0; k < groups->n_transforms + 2; k++) {
        const uint32_t u = k == 0 ? 0 : k == 1 ? d->board->inverse[d->transform] : k - 2;

        if ((k < 2 || groups->allowed[u]) && fits(d, lane, u, ORBIT_EXACT))
            return u;
    }
    return NO_TRANSFORM;
}

/* True when one of the first n members, other than `except`, is the image under t. */
static bool is_held(const struct diagnosis *d, uint64_t n, uint64_t except, uint32_t t)
{
    for (uint64_t m = 0; m < n; m++)
        if (m != except && d->is[m] == t)
            return true;
    return false;
}

/* The transform that explains all arrays of the row at once, or none. Where the position's own
 * symmetry leaves a choice, one that no earlier row has is preferred. */
static uint32_t explain_whole(const struct diagnosis *d)
{
    uint32_t found = NO_TRANSFORM;

    for (uint32_t u = 0; u < d->groups->n_transforms; u++) {
        bool is_whole = d->groups->allowed[u];

        for (size_t i = 0; i < d->lanes->n && is_whole; i++)
            is_whole = !lane_is_compared(&d->lanes->items[i]) || fits(d, i, u, ORBIT_EXACT);
        if (is_whole && !is_held(d, d->member, d->member, u))
            return u;
        if (is_whole && found == NO_TRANSFORM)
            found = u;
    }
    return found;
}

/* --- naming the mistakes --- */

/* What is wrong with one array of one row. */
struct mistake {
    enum finding_code code;
    const char *what;
};

static struct mistake call(enum finding_code code, const char *what)
{
    return (struct mistake){code, what};
}

/* What an image is called in a finding; nothing where that is only counted. */
static struct text_quoted image_text(const struct diagnosis *d, uint32_t t)
{
    if (d->findings->n >= d->findings->max)
        return (struct text_quoted){""};
    if (t == NO_TRANSFORM)
        return text_format("no image of it");
    return text_format("image %u (%s)", t, d->board->transforms[t].name);
}

/* True when some other array whose content moves is what it should be: only the planes are wrong.
 */
static bool labels_agree(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->lanes->n; i++) {
        const struct lane *lane = &d->lanes->items[i];
        const enum role role = lane->binding->role;

        if (d->by[i] == d->transform && lane_is_compared(lane) &&
            (role_kinds[role].flags & ROLE_MOVES) && role > ROLE_GRID)
            return true;
    }
    return false;
}

static struct mistake name_mistake(const struct diagnosis *d, size_t i)
{
    const struct spec *spec = &d->lanes->items[i].spec;
    const uint32_t by = d->by[i], t = d->transform;
    const bool is_known = by != NO_TRANSFORM, is_inverse = by == d->board->inverse[t];
    const bool swaps = d->board->transforms[t].swaps_colours;

    switch (role_kinds[d->lanes->items[i].binding->role].mistake) {
    case ROLE_MISTAKE_PLANES:
        /* Castling rights of a mirrored position, or plane maps of a board file. */
        if (!swaps && spec->steps[t].plane_dst != NULL && fits(d, i, t, ORBIT_NO_EXCHANGE))
            return d->board->family->castling != NULL
                       ? call(FINDING_CASTLING_NOT_SWAPPED,
                              "the planes of castling rights are not exchanged")
                       : call(FINDING_ORBIT_PLANES, "the planes do not take each other's places");
        if (!swaps && board_swaps_colours(d->board) && fits(d, i, t, ORBIT_SWAP_ANYWAY))
            return call(FINDING_COLOURS_SWAPPED,
                        "the colours are swapped, which this image does not need");
        if (spec->on_board != NULL && fits(d, i, t, ORBIT_ON_BOARD_ONLY))
            return call(FINDING_SMEAR, "off-board cells differ");
        if (swaps && fits(d, i, t, ORBIT_NO_COMPLEMENT))
            return call(FINDING_TO_MOVE_NOT_FLIPPED, "the to-move plane is not flipped");
        if (swaps && (fits(d, i, t, ORBIT_NO_EXCHANGE) ||
                      fits(d, i, t, ORBIT_NO_EXCHANGE | ORBIT_NO_COMPLEMENT) ||
                      fits(d, i, t, ORBIT_NO_FLIP)))
            return call(FINDING_COLOURS_NOT_SWAPPED, "the colours are not swapped");
        if (is_known && labels_agree(d))
            return call(FINDING_PLANES_POLICY_DIFFER,
                        "planes are moved by another transform than the labels");
        return call(FINDING_ORBIT_PLANES, "planes");
    case ROLE_MISTAKE_POLICY:
        if (spec->kind == SPEC_PADDED && fits(d, i, t, ORBIT_NO_PADDING))
            return call(FINDING_PADDING, "padding is moved");
        if (by == 0)
            return call(FINDING_POLICY_NOT_MOVED, "the policy is not moved");
        if (is_inverse)
            return call(FINDING_POLICY_INVERSE, "the policy is moved by the inverse");
        if (is_known && (d->lanes->planes < 0 || d->by[d->lanes->planes] == t))
            return call(FINDING_PLANES_POLICY_DIFFER,
                        "the policy is moved by another transform than the planes");
        return call(FINDING_POLICY_WRONG, "policy");
    case ROLE_MISTAKE_INDEX_VALUES:
        return call(FINDING_POLICY_WRONG, "the values of the policy differ");
    case ROLE_MISTAKE_MOVE:
        return call(FINDING_COORD_NOT_MOVED, by == 0      ? "the move is not moved"
                                             : is_inverse ? "the move is moved by the inverse"
                                                          : "move");
    /* Numbers that a colour swap flips: right under some transform of the other kind. */
    case ROLE_MISTAKE_VALUE:
        if (is_known)
            return call(FINDING_VALUE_NOT_FLIPPED,
                        swaps ? "the value is not flipped"
                              : "the value is flipped, though the colours are not swapped");
        break;
    case ROLE_MISTAKE_PLAYER:
        if (is_known)
            return call(FINDING_TO_MOVE_NOT_FLIPPED,
                        swaps ? "the player to move is not flipped"
                              : "the player is flipped, though the colours are not swapped");
        break;
    case ROLE_MISTAKE_COPY:
        break;
    }
    return call(FINDING_COPY_CHANGED, "differs from that of its source");
}

/* --- one row --- */

/* Report an array of the current row: the transform that moved it, or its first channel that is not
 * the image it should be. */
static void report_array(const struct diagnosis *d, size_t i)
{
    const struct lane_image *image = &d->images[d->member];
    const struct mistake mistake = name_mistake(d, i);
    const struct spec *spec = &d->lanes->items[i].spec;
    const uint64_t r = d->references[i];
    struct orbit_pair pair = make_pair(d, i, r, d->member);
    struct text_quoted found = image_text(d, d->by[i]);
    uint64_t n_right = 0, wrong = 0;

    if (mistake.code == FINDING_ORBIT_PLANES && d->by[i] == NO_TRANSFORM && spec->kind == SPEC_AXIS)
        for (pair.channel = 1; pair.channel <= spec->n_planes; pair.channel++) {
            if (orbit_same(&pair, between(d, r, d->transform), ORBIT_EXACT))
                n_right++;
            else if (wrong == 0)
                wrong = pair.channel;
        }
    pair.channel = wrong;
    if (n_right > 0 && wrong > 0)
        found = text_format("plane %" PRIu64 " %s", wrong - 1,
                            orbit_same(&pair, between(d, r, 0), ORBIT_EXACT) ? "not moved"
                                                                             : "no image of it");
    findings_add(d->findings, ERROR_AT(mistake.code, d->lanes->items[i].array->key, image->row),
                 image_text(d, d->transform).text, found.text, "%s (source %" PRIu64 ")",
                 mistake.what, image->source);
}

/* True for a single row that may be a source that was not expanded, or have lost its images. */
static bool is_doubtful(const struct diagnosis *d)
{
    return d->n == 1 && d->images[0].transform == 0 && d->groups->alone == ALONE_IS_DOUBTFUL;
}

/* Report a row as a whole. */
static void report_row(const struct diagnosis *d, enum finding_code code, uint64_t m,
                       const char *expected, const char *found)
{
    const struct lane_image *image = &d->images[m];
    const char *key = d->lanes->planes >= 0 ? d->lanes->items[d->lanes->planes].array->key : NULL;

    const bool is_warning = code == FINDING_ORBIT_MISSING     ? is_doubtful(d)
                            : code == FINDING_ORBIT_DUPLICATE ? d->groups->is_drawn
                                                              : false;
    const struct finding_place place = {code, is_warning, key, image->row};

    findings_add(d->findings, &place, expected, found, "%s of source %" PRIu64,
                 code == FINDING_ORBIT_MISSING     ? "images"
                 : code == FINDING_ORBIT_DUPLICATE ? "image"
                                                   : "all arrays of the row are another image",
                 image->source);
}

/* Decide which image the current row is; where it is none as a whole, report its arrays. */
static void look_at_row(struct diagnosis *d)
{
    const struct board *board = d->board;
    const struct lane *items = d->lanes->items;
    const bool has_planes = d->lanes->planes >= 0;
    const size_t n = d->lanes->n, planes = has_planes ? (size_t)d->lanes->planes : 0;
    const uint64_t r = d->references[planes];
    const struct orbit_pair itself = make_pair(d, planes, r, r);
    uint32_t *is = &d->is[d->member];
    bool exact = true, repeats = false;

    d->transform = d->images[d->member].transform;
    if (d->transform == NO_TRANSFORM) {
        *is = explain_whole(d);
        if (*is != NO_TRANSFORM)
            return;
        const struct orbit_pair pair = make_pair(d, planes, r, d->member);
        bool best[BOARD_MAX_TRANSFORMS];
        const uint32_t shown = has_planes && lane_is_compared(&items[planes])
                                   ? orbit_relate(&pair, d->groups->allowed, false, best)
                                   : NO_TRANSFORM;
        d->transform = shown != NO_TRANSFORM
                           ? board->compose[d->images[r].transform * board->n_transforms + shown]
                           : 0;
    }
    for (size_t i = 0; i < n; i++) {
        d->by[i] = !lane_is_compared(&items[i]) || fits(d, i, d->transform, ORBIT_EXACT)
                       ? d->transform
                       : NO_TRANSFORM;
        exact &= d->by[i] == d->transform;
    }
    /* Planes may be right merely by symmetry: then only the labels tell what is wrong. */
    if (exact)
        *is = d->transform;
    else if (!has_planes || d->by[planes] != d->transform || !is_named(d))
        *is = explain_whole(d);
    /* Where the planes fit, too, another image must be one that no other row stands for, and have
     * the same colours: of KataGomo's planes, which are the mover's, a flag tells whose turn it
     * is. Elsewhere images may be named by what they look like. */
    if (!exact && has_planes && d->by[planes] == d->transform && *is != NO_TRANSFORM) {
        bool is_taken =
            (is_named(d) || board->family->only_known_members) &&
            board->transforms[*is].swaps_colours != board->transforms[d->transform].swaps_colours;

        for (uint64_t m = 0; m < d->n; m++)
            is_taken |= d->images[m].transform == *is;
        *is = is_taken ? NO_TRANSFORM : *is;
    }
    if (*is != NO_TRANSFORM)
        return;
    for (size_t i = 0; i < n; i++)
        if (d->by[i] != d->transform)
            d->by[i] = explain(d, i);
    /* Does it repeat an earlier row, though the position's two images differ? */
    for (uint64_t other = 0; other < smaller(d->member, MAX_REPEATED) && !repeats; other++) {
        const uint32_t t = d->images[other].transform, to = between(d, r, d->transform);

        if (t == NO_TRANSFORM || !agrees(d, other, d->member, t))
            continue;
        const uint32_t from = between(d, r, t);
        repeats =
            from == to ||
            !orbit_same(&itself, board->compose[from * board->n_transforms + board->inverse[to]],
                        ORBIT_EXACT);
    }
    if (repeats)
        report_row(d, FINDING_ORBIT_DUPLICATE, d->member, "each image once", "a wrong image again");
    /* A position of another source: its labels belong to that source, too, and are not reported. */
    else if (has_planes && d->by[planes] == NO_TRANSFORM && !labels_agree(d))
        report_array(d, planes);
    else
        for (size_t i = 0; i < n; i++)
            if (d->by[i] != d->transform)
                report_array(d, i);
}

/* True for a source whose only image is the identity because it was not expanded, or because the
 * others would not be exact: there is mass on an action that names a region by one of its cells, or
 * there are castling rights. */
static bool may_be_left_out(const struct diagnosis *d)
{
    const struct shard *shard = d->lanes->shard;
    const struct conventions *conventions = &shard->conventions;
    const bool is_free = shard->recall.manifest == NULL;
    const struct lane *planes = d->lanes->planes >= 0 ? &d->lanes->items[d->lanes->planes] : NULL;

    if (d->n != 1 || d->images[0].transform != 0)
        return false;
    if (d->groups->alone == ALONE_IS_LEFT)
        return true;
    for (size_t i = 0; i < d->lanes->n && (is_free || conventions->ambiguous == AMBIGUOUS_DROP);
         i++) {
        const enum role role = d->lanes->items[i].binding->role;

        if ((role == ROLE_POLICY || role == ROLE_ACTION_VALUES || role == ROLE_POLICY_INDEX) &&
            check_find_mass(d->window, i, d->images[0].at, ACTION_AMBIGUOUS, true) >= 0)
            return true;
    }
    if (d->board->family->castling == NULL || planes == NULL || !lane_is_compared(planes) ||
        (!is_free && conventions->castling != CASTLING_SKIP))
        return false;
    const struct planes_form form = planes_frame_of(planes->binding, &planes->array->header.dtype);
    const struct row row = window_row(d->window, (size_t)d->lanes->planes, d->images[0].at);
    return row.bytes != NULL && planes_have_rights(&form, d->board, conventions, row.bytes);
}

/* --- the group --- */

/* True when a row is the image that it is said to be. */
static bool is_right(const struct diagnosis *d, uint64_t m)
{
    const uint32_t said = d->images[m].transform;

    return d->is[m] != NO_TRANSFORM && (said == NO_TRANSFORM || said == d->is[m]);
}

/* For each lane, the first of the n members whose transform is known that most of them agree with,
 * if only that all are moved by the inverse. */
static void choose_references(struct diagnosis *d, uint64_t n)
{
    for (size_t i = 0; i < d->lanes->n; i++) {
        uint64_t most = 0;

        for (uint64_t r = 0; r < n && r < MAX_REFERENCES && 2 * most <= n; r++) {
            uint64_t n_agree = 0;

            for (uint64_t m = 0; m < n && lane_is_compared(&d->lanes->items[i]); m++) {
                const struct orbit_pair pair = make_pair(d, i, r, m);

                const uint32_t u = between(d, r, d->images[m].transform);

                n_agree += m == r || orbit_same(&pair, u, ORBIT_EXACT) ||
                           ((int)i != d->lanes->planes &&
                            orbit_same(&pair, d->board->inverse[u], ORBIT_EXACT));
            }
            if (n_agree > most) {
                most = n_agree;
                d->references[i] = r;
            }
        }
    }
}

/* An image that is stored under its name but wrong is reported as what it is, not as missing. The
 * position's own symmetry may make two images equal: one is there if the other is. */
static bool is_missing(const struct diagnosis *d, uint32_t t)
{
    const struct lane_image *first = &d->groups->first, *last = &d->groups->last;
    const uint64_t source = d->images[0].source;

    for (uint64_t m = 0; m < d->n; m++)
        if (d->is[m] == t || (d->images[m].transform == t && d->is[m] == NO_TRANSFORM) ||
            (is_right(d, m) && d->images[m].transform != NO_TRANSFORM && agrees(d, m, m, t)))
            return false;
    /* Of an output that is cut into shards, the shard before or after this one may have it. */
    return !(d->groups->is_cut && ((t == first->transform && source < first->source) ||
                                   (t == last->transform && source > last->source))) &&
           !may_be_left_out(d);
}

void diagnose_group(struct diagnosis *d)
{
    uint64_t n_known = d->n, n_others = 0;

    while (n_known > 0 && d->images[n_known - 1].transform == NO_TRANSFORM)
        n_known--;
    if (n_known == 0) /* nothing tells which image any of them is */
        return;
    d->references = calloc(d->lanes->n + 1, sizeof *d->references);
    d->by = calloc(d->lanes->n + 1, sizeof *d->by);
    d->is = malloc(d->n * sizeof *d->is);
    d->findings->no_memory |= d->references == NULL || d->by == NULL || d->is == NULL;
    if (!d->findings->no_memory) {
        memset(d->is, 0xff, d->n * sizeof *d->is); /* NO_TRANSFORM */
        choose_references(d, n_known);
        for (d->member = 0; d->member < d->n; d->member++)
            look_at_row(d);
        for (uint64_t m = 0; m < d->n; m++) {
            const bool right = is_right(d, m);

            if (d->is[m] == NO_TRANSFORM)
                continue;
            const struct text_quoted is = image_text(d, d->is[m]);
            if (is_held(d, m, m, d->is[m]) || (!right && is_held(d, d->n, m, d->is[m])))
                report_row(d, FINDING_ORBIT_DUPLICATE, m, "each image once",
                           text_format("%s again", is.text).text);
            else if (!right && !is_named(d)) /* another image than in most groups */
                n_others++;
            else if (!right)
                report_row(d, FINDING_ORBIT_PLANES, m, image_text(d, d->images[m].transform).text,
                           is.text);
        }
        for (uint32_t t = 0; d->groups->expects && t < d->groups->n_transforms; t++)
            if (n_others == 0 && d->groups->expected[t] && is_missing(d, t)) {
                report_row(d, FINDING_ORBIT_MISSING, 0,
                           is_doubtful(d) ? "its other images, unless it was not expanded"
                                          : image_text(d, t).text,
                           "none");
                if (is_doubtful(d)) /* once */
                    break;
            }
    }
    free(d->references);
    free(d->by);
    free(d->is);
}
