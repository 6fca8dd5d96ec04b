/*
 * probe.c - the rows that are looked at, the layouts that explain them, and what their images are.
 *
 * A layout (images per source, rows per block, originals first or not) says which rows are images
 * of one source. Every layout is tried on sources all over the rows that were read; the one under
 * which most rows repeat a position is the explanation: too few images per source leave repetitions
 * out, too many bring other positions in. The first rows are held; of rows further on, which are
 * read when these do not tell enough, there are sketches only. Then the images of many sources are
 * compared, array by array; the transform that explains an image in most of them is its own.
 */
#include "verify/parts.h"

#define PROBE_NBYTES (32u << 20)
#define PROBE_ROWS   4096
#define CHUNK_NBYTES (1u << 20) /* read at a time further on */
#define MAX_SOURCES  64         /* of a layout that are looked at */
#define FAR_SOURCES  12
#define FAR_IMAGES   24 /* most images per source that are looked for all over a large set */
#define MIN_EVIDENCE 3  /* rows that must repeat a position */

/* --- reading --- */

/* Read n rows into a window with room for them, ascending where lanes are open for rows in
 * sequence; NULL: the first ones. What cannot be read is left out. */
static int read_window(struct window *window, const uint64_t *rows, uint64_t n, struct error *err)
{
    window->n = n;
    for (uint64_t i = 0; i < n; i++)
        window->rows[i] = rows != NULL ? rows[i] : i;
    for (size_t i = 0; i < window->lanes->n; i++) {
        struct error why = {0};

        if (window_read_lane(window, i, &why) != 0 && why.kind != ERROR_DATA)
            return error_pass(err, &why); /* not the data's fault */
        window->lanes->items[i].is_broken |= why.kind != ERROR_NONE;
    }
    return 0;
}

/* planes: the lane of planes, whose number differs where it is read alone. */
static void sketch_row(struct probe *p, const struct window *window, size_t planes, uint64_t at,
                       struct sketch *sketch)
{
    const struct row row = window_row(window, planes, at);

    if (row.bytes != NULL) {
        sketch_planes(&p->sketcher, row.bytes, sketch);
        sketch_policy(window, at, sketch);
    }
}

int probe_open(struct probe *p, struct error *err)
{
    struct lanes *lanes = p->lanes;
    uint64_t n = PROBE_NBYTES / (lanes->row_nbytes + 1) + 64;

    p->n_rows = lanes->shard->n_rows;
    n = n < PROBE_ROWS ? n : PROBE_ROWS;
    n = n < p->n_rows ? n : p->n_rows;
    if (sketcher_init(&p->sketcher, lanes, err) != 0 ||
        lanes_open(lanes, false, &p->unused, err) != 0 ||
        window_init(&p->window, lanes, n, err) != 0 || read_window(&p->window, NULL, n, err) != 0)
        return -1;
    p->n = lanes->items[lanes->planes].is_broken ? 0 : n;
    p->sketches = calloc(n + 1, sizeof *p->sketches);
    if (p->sketches == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint64_t i = 0; i < p->n; i++)
        sketch_row(p, &p->window, (size_t)lanes->planes, i, &p->sketches[i]);
    return 0;
}

void probe_close(struct probe *p)
{
    window_release(&p->window);
    lanes_close(p->lanes);
    sketcher_release(&p->sketcher);
    free(p->sketches);
    free(p->far_rows);
    for (size_t i = 0; i < p->n_games; i++)
        free(p->games[i]);
    findings_release(&p->unused.findings);
}

/* --- rows further on --- */

static int compare_rows(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Whether every row of the set was looked at. */
static bool is_whole(const struct probe *p)
{
    return p->n + p->n_far == p->n_rows;
}

/* Decide which rows further on are looked at: all, where they may be blocks of different lengths
 * and their sketches have room; else those that layouts need, each once. */
static int choose_far(struct probe *p, uint64_t block_rows, struct error *err)
{
    const uint64_t n_after = p->n_rows - p->n;
    const uint64_t row_nbytes = sizeof *p->sketches + sizeof *p->far_rows;
    const bool all =
        p->may_be_games && n_after < p->lanes->request->settings->max_memory / 2 / row_nbytes;
    const uint64_t most =
        all ? n_after : (FAR_IMAGES * FAR_IMAGES + LAYOUT_MAX_IMAGES) * FAR_SOURCES;
    uint64_t *rows = calloc(most + 1, sizeof *rows), n = 0;

    p->far_block = block_rows;
    p->far_rows = rows;
    if (rows == NULL)
        return error_no_memory(err, "rows of a set");
    for (; all && n < n_after; n++)
        rows[n] = p->n + n;
    for (uint32_t images = 2; !all && images <= FAR_IMAGES; images++) {
        const uint64_t n_sources = p->n_rows / images;

        for (uint64_t i = 0; p->n_rows % images == 0 && i < FAR_SOURCES && i < n_sources; i++)
            for (uint32_t k = 1; k < images; k++) {
                rows[n++] = k * n_sources + i;
                rows[n++] = n_sources + i * (images - 1) + k - 1;
            }
    }
    for (uint64_t i = 0; !all && i < FAR_SOURCES && i < block_rows; i++)
        for (uint64_t k = 1; k < LAYOUT_MAX_IMAGES; k++)
            rows[n++] = k * block_rows + i;
    if (!all)
        qsort(rows, n, sizeof *rows, compare_rows);
    for (uint64_t i = 0; i < n; i++)
        if (rows[i] >= p->n && rows[i] < p->n_rows && (i == 0 || rows[i] != rows[i - 1]))
            rows[p->n_far++] = rows[i];
    if (list_room(&p->sketches, p->n + p->n_far + 1, sizeof *p->sketches, "rows of a set", err) !=
        0)
        return -1;
    memset(p->sketches + p->n, 0, (p->n_far + 1) * sizeof *p->sketches);
    return 0;
}

int probe_reach(struct probe *p, uint64_t block_rows, bool with_labels, struct error *err)
{
    struct lanes planes = lanes_of_planes(p->lanes);
    struct lanes *lanes = with_labels ? p->lanes : &planes;
    const uint64_t capacity = CHUNK_NBYTES / (lanes->row_nbytes + 1) + 1;
    struct window window = {0};
    uint64_t i = 0;

    if (p->n == 0 || p->n == p->n_rows)
        return 0;
    if (p->far_rows == NULL && choose_far(p, block_rows, err) != 0)
        return -1;
    p->has_labels = with_labels;
    lanes_close(lanes);
    int status = lanes_open(lanes, false, &p->unused, err);
    if (status == 0)
        status = window_init(&window, lanes, capacity, err);
    while (status == 0 && i < p->n_far) {
        const uint64_t left = p->n_far - i;

        status = read_window(&window, p->far_rows + i, left < capacity ? left : capacity, err);
        if (status != 0 || planes.items->is_broken)
            break;
        for (uint64_t k = 0; k < window.n; k++)
            sketch_row(p, &window, (size_t)(planes.items - lanes->items), k,
                       &p->sketches[p->n + i + k]);
        i += window.n;
    }
    p->n_far = i;
    window_release(&window);
    return status;
}

/* NULL: the row was not read. */
static inline const struct sketch *sketch_of(const struct probe *p, uint64_t row)
{
    if (row < p->n || is_whole(p))
        return &p->sketches[row];
    const uint64_t *found =
        p->n_far > 0 ? bsearch(&row, p->far_rows, p->n_far, sizeof row, compare_rows) : NULL;
    return found != NULL ? &p->sketches[p->n + (uint64_t)(found - p->far_rows)] : NULL;
}

/* --- trying layouts --- */

/* Without the labels of all rows, those of the first ones are not looked at either. */
static bool sees_labels(const struct probe *p)
{
    return p->n_far == 0 || p->has_labels;
}

static uint64_t key_of(const struct probe *p, const struct sketch *sketch, enum probe_level level)
{
    if (level == PROBE_POLICY)
        return sketch->policy;
    if (level == PROBE_LABELS)
        return sketch->counts + (sees_labels(p) ? 3 * sketch->policy : 0);
    return sketch->shape[level];
}

/* Rows of a source that are alike; 0 when not all were read or they tell nothing. */
static uint32_t count_alike(const struct probe *p, const struct layout *layout,
                            enum probe_level level, uint64_t source)
{
    uint64_t keys[LAYOUT_MAX_IMAGES], bytes = 0;
    uint32_t most = 0;
    bool differ = level >= PROBE_LABELS && !sees_labels(p);

    for (uint32_t k = 0; k < layout->n_images; k++) {
        const struct sketch *sketch = sketch_of(p, layout_row(layout, source, k));

        if (sketch == NULL || (keys[k] = key_of(p, sketch, level)) == 0)
            return 0;
        const uint64_t own = sketch->planes ^ (level >= PROBE_LABELS ? sketch->labels : 0);
        differ |= k > 0 && own != bytes;
        bytes = own;
    }
    for (uint32_t first = 0; first < 3 && first < layout->n_images && differ; first++) {
        uint32_t n = 0;

        for (uint32_t k = 0; k < layout->n_images; k++)
            n += keys[k] == keys[first];
        most = n > most ? n : most;
    }
    return most;
}

/* Sources of which all rows may have been read: those of whole blocks of the first rows. */
static uint64_t known_sources(const struct probe *p, const struct layout *layout)
{
    const uint64_t block = layout->block_rows, n = layout->n_images;

    if (is_whole(p))
        return layout->n_sources;
    uint64_t known = p->n / (n * block) * block;
    if (layout->originals_first || block >= layout->n_sources ||
        (block == p->far_block && known == 0))
        return layout->n_sources < FAR_SOURCES ? layout->n_sources : FAR_SOURCES;
    if (known == 0 && p->n > (n - 1) * block)
        known = p->n - (n - 1) * block;
    return known < layout->n_sources ? known : layout->n_sources;
}

static void try_layout(const struct probe *p, const struct layout *layout, struct fit *best)
{
    const enum probe_level level = best->level;
    const uint64_t known = known_sources(p, layout);
    const uint64_t n = known < MAX_SOURCES ? known : MAX_SOURCES;
    uint64_t n_tried = 0, n_good = 0, n_saved = 0, key = 0;

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t source = i * known / n, before = key;
        const uint32_t alike = count_alike(p, layout, level, source);

        if (alike == 0)
            continue;
        /* Policies that are the same all over the set (all moves alike) tell nothing. */
        key = key_of(p, sketch_of(p, layout_row(layout, source, 0)), level);
        if (level == PROBE_POLICY && key == before)
            return;
        n_tried++;
        n_good += 4 * alike >= 3 * layout->n_images;
        n_saved += alike - 1;
        if (n_tried >= 8 && n_saved == 0)
            return;
    }
    if (n_saved < MIN_EVIDENCE)
        return;
    const double saved = (double)n_saved / (double)(n_tried * layout->n_images);
    if (saved > best->saved + 1e-9)
        *best = (struct fit){.level = level,
                             .layout = *layout,
                             .saved = saved,
                             .share = (double)n_good / (double)n_tried};
}

/* Blocks of different lengths, such as games, that fill all rows; of a part of the rows they are
 * only noted, where they fill half of it. */
static int find_games(struct probe *p, struct fit *best, struct error *err)
{
    const uint32_t n_images = p->ids_are_told ? p->n_ids : 0;
    const uint64_t n_known = p->n + p->n_far;
    uint64_t *games = calloc(n_known + 1, sizeof *games);

    if (games == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint32_t n = n_images > 0 ? n_images : LAYOUT_MAX_IMAGES;
         n >= 2 && (n_images == 0 || n == n_images) && best->layout.games != games; n--) {
        struct layout layout = {.n_images = n, .games = games, .n_sources = n_known / n};
        uint64_t first = 0;

        /* A game's length is the least number after which its rows repeat n times. */
        for (uint64_t rows = 1; rows * n <= n_known - first && rows <= p->n; rows++) {
            uint64_t i = 0;

            while (i < rows * (n - 1) && key_of(p, sketch_of(p, first + i), best->level) ==
                                             key_of(p, sketch_of(p, first + rows + i), best->level))
                i++;
            if (i < rows * (n - 1))
                continue;
            first += rows * n;
            games[++layout.n_games] = first / n;
            rows = 0;
        }
        if (first == p->n_rows)
            try_layout(p, &layout, best);
        p->may_be_games |= n_known < p->n_rows && 2 * first >= n_known;
    }
    if (best->layout.games == games)
        p->games[p->n_games++] = games;
    else
        free(games);
    return 0;
}

int probe_find(struct probe *p, enum probe_level level, struct fit *best, struct error *err)
{
    const uint32_t n_images = p->ids_are_told ? p->n_ids : 0;
    const uint64_t any = p->has_block ? UINT64_MAX : 0;
    const uint64_t block_rows = p->has_block && p->block_rows > 0 ? p->block_rows : any;
    const uint32_t last = n_images > 0 ? n_images : LAYOUT_MAX_IMAGES;
    const bool sees_far = is_whole(p) || p->n_far > 0;

    *best = (struct fit){.level = level};
    for (uint32_t n = n_images > 0 ? n_images : 2; n <= last && n <= p->n_rows; n++) {
        struct layout layout = {.n_images = n, .n_sources = p->n_rows / n};
        const uint64_t end = p->n / n < layout.n_sources ? p->n / n : layout.n_sources - 1;

        /* Those of the first rows have been tried when only these were read. */
        for (uint64_t block = 1; p->n_far == 0 && block <= end; block++) {
            layout.block_rows = block;
            if (block_rows == 0 || block_rows == block)
                try_layout(p, &layout, best);
        }
        layout.block_rows = p->far_block;
        if (block_rows == 0 && p->far_block > end && p->far_block < layout.n_sources)
            try_layout(p, &layout, best);
        layout.block_rows = layout.n_sources;
        if ((block_rows == 0 || block_rows >= layout.n_sources) && sees_far)
            try_layout(p, &layout, best);
        layout.block_rows = 1;
        layout.originals_first = true;
        if (block_rows == 0 && n > 2 && sees_far)
            try_layout(p, &layout, best);
    }
    return block_rows == 0 && best->share <= 0.9 && (p->n_far == 0 || is_whole(p))
               ? find_games(p, best, err)
               : 0;
}

/* --- what the images are --- */

/* The only allowed transform that makes row b out of row a of a lane, or NO_TRANSFORM. *any tells
 * whether there are some at all. */
static uint32_t relate(const struct orbit_pair *pair, const bool *allowed, unsigned liberties,
                       bool *any)
{
    const uint32_t n = pair->window->lanes->items[pair->lane].spec.board->n_transforms;
    uint32_t found = NO_TRANSFORM, n_found = 0;

    for (uint32_t u = 0; u < n && n_found < 2; u++)
        if (allowed[u] && orbit_same(pair, u, liberties)) {
            found = u;
            n_found++;
        }
    *any = n_found > 0;
    return n_found == 1 ? found : NO_TRANSFORM;
}

/* By the first of some liberties, from first to last, under which there is a transform; it must be
 * the only one. With the first two, planes are right where they count. */
static uint32_t relate_freely(const struct orbit_pair *pair, const bool *allowed, size_t first,
                              size_t last)
{
    static const unsigned ladder[] = {ORBIT_EXACT,
                                      ORBIT_ON_BOARD_ONLY,
                                      ORBIT_NO_COMPLEMENT,
                                      ORBIT_NO_EXCHANGE,
                                      ORBIT_NO_EXCHANGE | ORBIT_NO_COMPLEMENT,
                                      ORBIT_NO_FLIP,
                                      ORBIT_SWAP_ANYWAY};
    uint32_t u = NO_TRANSFORM;
    bool any = false;

    for (size_t i = first; i <= last && !any; i++)
        u = relate(pair, allowed, ladder[i], &any);
    return u;
}

/* Those of the allowed transforms that say right whose turn it is, if some do: planes of the player
 * to move alone may be the same under two of them. */
static void allow_by_turn(const struct orbit_pair *planes, const bool *allowed,
                          bool by_turn[BOARD_MAX_TRANSFORMS])
{
    const struct lanes *lanes = planes->window->lanes;
    const uint32_t n = lanes->shard->found.board->n_transforms;
    struct orbit_pair pair = *planes;
    bool any = false;

    for (pair.lane = 0; pair.lane < lanes->n; pair.lane++) {
        const struct lane *lane = &lanes->items[pair.lane];

        if (lane->binding->role != ROLE_GLOBALS || !lane_is_compared(lane))
            continue;
        for (uint32_t u = 0; u < n; u++) {
            by_turn[u] = allowed[u] && orbit_same(&pair, u, ORBIT_EXACT);
            any |= by_turn[u];
        }
    }
    if (!any)
        memcpy(by_turn, allowed, n * sizeof *by_turn);
}

uint32_t probe_relate_planes(const struct orbit_pair *pair, const bool *allowed)
{
    bool by_turn[BOARD_MAX_TRANSFORMS] = {false};

    allow_by_turn(pair, allowed, by_turn);
    const uint32_t u = relate_freely(pair, by_turn, 0, 1);
    return u != NO_TRANSFORM ? u : relate_freely(pair, by_turn, 2, 6);
}

static uint32_t most_votes(const uint32_t votes[BOARD_MAX_TRANSFORMS])
{
    uint32_t best = 0;

    for (uint32_t u = 1; u < BOARD_MAX_TRANSFORMS; u++)
        if (votes[u] > votes[best])
            best = u;
    return best;
}

/* What the arrays of a pair of rows of planes say: planes first, unless they alone stay where they
 * are; then an array that is moved exactly; then planes whose colours are wrong, or most of those
 * channels that some transform moves. */
static uint32_t relate_rows(const struct orbit_pair *planes, const bool *said_allowed)
{
    const struct lanes *lanes = planes->window->lanes;
    const struct spec *spec = &lanes->items[planes->lane].spec;
    uint32_t other = NO_TRANSFORM, votes[BOARD_MAX_TRANSFORMS] = {0};
    struct orbit_pair pair = *planes;
    bool any, allowed[BOARD_MAX_TRANSFORMS] = {false};

    allow_by_turn(planes, said_allowed, allowed);
    const uint32_t said = relate_freely(planes, allowed, 0, 1);
    if (said != 0 && said != NO_TRANSFORM)
        return said;
    for (size_t i = 0; i < lanes->n && (other == 0 || other == NO_TRANSFORM); i++) {
        const struct lane *lane = &lanes->items[i];

        pair.lane = i;
        if (i != planes->lane && lane_is_compared(lane) && lane->spec.kind != SPEC_KEEP)
            other = relate(&pair, allowed, ORBIT_EXACT, &any);
    }
    if (said == NO_TRANSFORM && (other == 0 || other == NO_TRANSFORM))
        other = probe_relate_planes(planes, allowed);
    if (said != NO_TRANSFORM || other != NO_TRANSFORM || spec->kind != SPEC_AXIS)
        return other != NO_TRANSFORM ? other : said;
    pair = *planes;
    for (pair.channel = 1; pair.channel <= spec->n_planes; pair.channel++) {
        uint32_t u = relate(&pair, allowed, ORBIT_EXACT, &any);

        if (!any)
            u = relate(&pair, allowed, ORBIT_NO_EXCHANGE, &any);
        if (u != NO_TRANSFORM && u != 0)
            votes[u]++;
    }
    other = most_votes(votes);
    return other > 0 ? other : NO_TRANSFORM;
}

/* Rows of some sources: image k of group g is at[g * n_images + k] of the window. */
struct ballot {
    struct probe *p;
    const struct window *window;
    const uint64_t *at;
    uint64_t n_groups;
};

/* Compare the base image of each group with its other images. */
static void vote(const struct ballot *ballot, uint32_t base, struct fit *fit)
{
    struct probe *p = ballot->p;
    const size_t planes = (size_t)p->lanes->planes;
    const enum sketch_group group = fit->level == PROBE_BOX ? SKETCH_BOX : SKETCH_BOARD;
    const uint32_t n_images = fit->layout.n_images;
    uint64_t n_still = 0;

    fit->n_moved = fit->n_pairs = 0;
    for (uint32_t k = 0; k < n_images; k++) {
        uint32_t votes[BOARD_MAX_TRANSFORMS] = {0}, foreign[BOARD_MAX_TRANSFORMS] = {0};
        uint32_t n = 0, n_foreign = 0;

        fit->ids[k] = 0;
        fit->foreign[k] = -1;
        if (k == base)
            continue;
        for (uint64_t g = 0; g < ballot->n_groups; g++) {
            const uint64_t *at = ballot->at + g * n_images;
            const struct orbit_pair pair = {ballot->window, planes, at[base], at[k], 0};
            const uint32_t u = relate_rows(&pair, p->groups->allowed);
            const int map =
                u == NO_TRANSFORM
                    ? sketch_relation(&p->sketcher, group,
                                      window_row(ballot->window, planes, at[base]).bytes,
                                      window_row(ballot->window, planes, at[k]).bytes)
                    : -1;

            fit->n_pairs++;
            fit->n_moved += u != NO_TRANSFORM && u != 0;
            if (u != NO_TRANSFORM) {
                votes[u]++;
                n++;
            } else if (map > 0) {
                foreign[map]++;
                n_foreign++;
            }
            n_still += map == 0;
        }
        uint32_t best = most_votes(foreign);
        if (n_foreign > n && 2 * foreign[best] > n_foreign)
            fit->foreign[k] = (int)best;
        best = most_votes(votes);
        fit->ids[k] = fit->foreign[k] < 0 && 2 * votes[best] > n ? best : NO_TRANSFORM;
    }
    fit->only_colours = 2 * n_still > fit->n_pairs;
}

int probe_name_images(struct probe *p, struct fit *fit, struct error *err)
{
    const uint32_t n_images = fit->layout.n_images;
    const uint64_t known = known_sources(p, &fit->layout);
    const uint64_t n_sources = known < MAX_SOURCES ? known : MAX_SOURCES;
    uint64_t *rows = calloc(n_sources * n_images + 1, sizeof *rows), n = 0;
    struct window far = {0};
    struct ballot ballot = {p, &p->window, rows, 0};
    bool is_near = true;
    int status = rows != NULL ? 0 : error_no_memory(err, "groups of images");

    /* Sources all over the rows that were read whose images tell something. */
    for (uint64_t i = 0; status == 0 && i < n_sources; i++) {
        const uint64_t source = i * known / n_sources;

        if (count_alike(p, &fit->layout, fit->level, source) == 0)
            continue;
        for (uint32_t k = 0; k < n_images; k++, n++) {
            rows[n] = layout_row(&fit->layout, source, k);
            is_near &= rows[n] < p->n;
        }
        ballot.n_groups++;
    }
    if (status == 0 && !is_near) {
        lanes_close(p->lanes);
        status = lanes_open(p->lanes, true, &p->unused, err);
        if (status == 0)
            status = window_init(&far, p->lanes, n, err);
        if (status == 0)
            status = read_window(&far, rows, n, err);
        for (uint64_t i = 0; i < n; i++)
            rows[i] = i;
        ballot.window = &far;
    }
    for (uint32_t k = 0; k < n_images; k++)
        fit->foreign[k] = -1;
    /* The first image may itself be wrong: then another one tells. */
    if (status == 0 && !p->lanes->items[p->lanes->planes].is_broken)
        for (uint32_t base = 0; base < 3 && base < n_images; base++) {
            struct fit other = *fit;

            vote(&ballot, base, &other);
            if (base == 0 || other.n_moved > fit->n_moved + fit->n_pairs / 4)
                *fit = other;
        }
    window_release(&far);
    free(rows);
    return status;
}
