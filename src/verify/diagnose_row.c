/*
 * diagnose_row.c - the mistake in one row, array by array, by a word that says what to repair: not
 * moved, moved by the inverse, colours not swapped, value not flipped, planes and policy moved
 * differently. Most are found by comparing again with one liberty (enum orbit_liberty) until the
 * array is right. A row whose planes are of another source altogether gets one finding, since its
 * labels are foreign too.
 */
#include "verify/diagnose_parts.h"

#include <string.h>

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
    if (!swaps(c) && lane->map.plane_dst != NULL &&
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
    if (lane->map.on_board != NULL && case_fits(c, i, c->transform, ORBIT_ON_BOARD_ONLY))
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

    if (lane->map.kind == ORBIT_PADDED && case_fits(c, i, c->transform, ORBIT_NO_PADDING))
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
    if (c->by[i] == 0)
        return (struct mistake){FINDING_COORD_NOT_MOVED, "the move is not moved"};
    if (c->by[i] == board_of(c)->inverse[c->transform])
        return (struct mistake){FINDING_COORD_NOT_MOVED, "the move is moved by the inverse"};
    return (struct mistake){FINDING_COORD_NOT_MOVED, "move"};
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
    switch (c->d->lanes->items[i].binding->role) {
    case ROLE_PLANES:
    case ROLE_PACKED:
    case ROLE_GRID:
    case ROLE_TILE:
        return name_planes(c, i);
    case ROLE_POLICY:
    case ROLE_ACTION_VALUES:
    case ROLE_MASK:
    case ROLE_POLICY_INDEX:
        return name_policy(c, i);
    case ROLE_POLICY_VALUE:
        return (struct mistake){FINDING_POLICY_WRONG, "the values of the policy differ"};
    case ROLE_ACTION:
    case ROLE_COORD:
        return name_cell(c, i);
    case ROLE_VALUE:
    case ROLE_WDL:
        return name_label(c, i, FINDING_VALUE_NOT_FLIPPED,
                          swaps(c) ? "the value is not flipped"
                                   : "the value is flipped, though the colours are not swapped");
    case ROLE_TO_MOVE:
        return name_label(c, i, FINDING_TO_MOVE_NOT_FLIPPED,
                          swaps(c) ? "the player to move is not flipped"
                                   : "the player is flipped, though the colours are not swapped");
    default:
        return (struct mistake){FINDING_COPY_CHANGED, "differs from that of its source"};
    }
}

/* --- a row --- */

/* The transform that a row was moved by, or which of its channels is not the image it should be. */
static struct finding_text found_text(const struct case_of_row *c, size_t i, enum finding_code code)
{
    const struct orbit_map *map = &c->d->lanes->items[i].map;
    uint64_t n_right = 0, wrong = 0;

    for (uint64_t p = 0; code == FINDING_ORBIT_PLANES && c->by[i] == ORBIT_NO_TRANSFORM &&
                         map->kind == ORBIT_AXIS && p < map->n_planes;
         p++) {
        if (case_fits_channel(c, i, p, c->transform))
            n_right++;
        else if (wrong == 0)
            wrong = p + 1;
    }
    if (n_right == 0 || wrong == 0)
        return image_text(c, c->by[i]);
    return finding_format("plane %llu %s", (unsigned long long)wrong - 1,
                          case_fits_channel(c, i, wrong - 1, 0) ? "not moved" : "no image of it");
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

void diagnose_row(const struct case_of_row *c, struct findings *findings)
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

        for (uint64_t cell = 0; plane < lane->map.n_planes && cell < lane->map.axis; cell++)
            if (lane_row_double(&row, lane->map.channels_last ? cell * lane->map.n_planes + plane
                                                              : plane * lane->map.axis + cell) != 0)
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

        if (lane->map.space == NULL || lane->is_broken ||
            (!is_dense && lane->binding->role != ROLE_POLICY_INDEX))
            continue;
        row = window_row(d->window, d->lanes, i, d->members[0]);
        for (uint64_t k = 0; k < row.n; k++) {
            const int64_t action =
                is_dense ? (int64_t)(k % lane->map.space->length) : lane_row_int(&row, k);

            if (action >= 0 && (uint64_t)action < lane->map.space->length &&
                (lane->map.space->flags[action] & ACTION_AMBIGUOUS) &&
                (!is_dense || lane_row_double(&row, k) != 0))
                return true;
        }
    }
    return false;
}

bool diagnose_may_be_left_out(const struct diagnosis *d)
{
    const struct verify_shard *shard = d->lanes->shard;

    if (d->n != 1 || d->window->images[d->members[0]].transform != 0)
        return false;
    if ((shard->said.manifest == NULL || shard->conventions.ambiguous == AMBIGUOUS_DROP) &&
        has_ambiguous_mass(d))
        return true;
    return shard->board->family->castling != NULL && d->lanes->planes >= 0 &&
           d->lanes->items[d->lanes->planes].is_mapped &&
           !d->lanes->items[d->lanes->planes].is_broken &&
           (shard->said.manifest == NULL || shard->conventions.castling == CASTLING_SKIP) &&
           has_castling_rights(d);
}
