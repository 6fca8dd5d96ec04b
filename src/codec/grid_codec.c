/*
 * grid_codec.c - the grid encoder's codec rows: states, the loop over a piece, the choice of the
 * instruction set, and learning a member's distances.
 *
 * Candidates come from the member's shape. A walk over parts of the sample records, at every place
 * where a match would start, what a match at each candidate would save; then a set is built by
 * taking, again and again, the candidate that saves the most beyond what the set saves already. A
 * short walk with all candidates finds those that are worth a longer one.
 */
#include "codec/grid.h"

#include "base/bytes.h"

const struct grid_kernels *const grid_kernels_table[] = {
#if defined(__x86_64__)
    &grid_kernels_avx512,
    &grid_kernels_avx2,
#endif
    &grid_kernels_plain,
};

const size_t grid_kernels_n_table = N_OF(grid_kernels_table);

const struct grid_kernels *grid_kernels_best(void)
{
    size_t i = 0;

    while (i + 1 < grid_kernels_n_table && !grid_kernels_table[i]->is_supported())
        i++;
    return grid_kernels_table[i]; /* the last one runs anywhere */
}

/* --- learning distances --- */

#define MAX_CANDIDATES 512
#define MAX_MULTIPLES  128 /* of one period */
#define N_SEGMENTS     8   /* parts of the sample that are looked at */
#define N_LIKELY       48  /* candidates of the longer walk, of which so many as a set: */
#define N_LIKELY_SET   8
#define LANES          16 /* candidates that are worked on at a time */

/* Comparisons that may be made: a fraction of the member's size, within limits; and places of a
 * walk. */
#define MIN_COMPARISONS       ((uint64_t)1 << 13)
#define NBYTES_PER_COMPARISON 256
#define MIN_PLACES            48
#define MAX_SHORT_WALK        128
#define MAX_LONG_WALK         512

_Static_assert(MAX_CANDIDATES % LANES == 0, "rows consist of whole lanes");
_Static_assert(MAX_LONG_WALK *N_LIKELY <= MAX_SHORT_WALK * MAX_CANDIDATES, "all rows fit");

/* A walk: its candidates, and what their matches would save at every place. */
struct walk {
    const struct grid_kernels *kernels;
    const struct codec_member *member;
    size_t n; /* candidates */
    uint32_t distance[MAX_CANDIDATES];
    uint16_t cost[MAX_CANDIDATES]; /* of a match, in eighths of a bit */
    bool is_in[DEFLATE_MAX_DISTANCE + 1];

    size_t n_places;
    size_t n_runs;                                  /* of equal elements: these are no places */
    size_t n_lanes;                                 /* candidates, rounded up */
    uint16_t rows[MAX_SHORT_WALK * MAX_CANDIDATES]; /* one for every place */
};

static void add_candidate(struct walk *w, int64_t distance)
{
    if (distance < 1 || distance > DEFLATE_MAX_DISTANCE || w->n == MAX_CANDIDATES ||
        w->is_in[distance])
        return;
    w->is_in[distance] = true;
    w->distance[w->n++] = (uint32_t)distance;
}

static void add_around(struct walk *w, int64_t distance, int64_t step)
{
    for (int64_t k = 1; k <= 2; k++) {
        add_candidate(w, distance - k * step);
        add_candidate(w, distance + k * step);
    }
}

/* Few elements, multiples of the periods, and their neighbours by an element or a smaller period.
 */
static void find_candidates(struct walk *w)
{
    const uint32_t *periods = w->member->periods;
    const size_t n_periods = w->member->n_periods;

    for (int64_t k = 1; k <= 4; k++)
        add_candidate(w, k * (int64_t)w->member->item_nbytes);
    add_candidate(w, 1);
    for (int64_t k = 1; k <= MAX_MULTIPLES; k++)
        for (size_t i = 0; i < n_periods; i++)
            if (k <= 8 || periods[i] >= 128)
                add_candidate(w, k * (int64_t)periods[i]);
    for (int64_t k = 1; k <= 4; k++) {
        for (size_t i = 0; i < n_periods; i++) {
            const int64_t multiple = k * (int64_t)periods[i];

            if (multiple > 2 * DEFLATE_MAX_DISTANCE)
                continue;
            add_around(w, multiple, (int64_t)w->member->item_nbytes);
            for (size_t j = 0; j < n_periods; j++)
                if (periods[j] < periods[i])
                    add_around(w, multiple, (int64_t)periods[j]);
        }
    }
}

static uint16_t larger_16(uint16_t a, uint16_t b)
{
    return a > b ? a : b;
}

/* Bits in eighths that matches save, what is less than nothing being nothing. The far end of a long
 * match counts less, since what it covers is cheap anyway. Returns the candidate that saves the
 * most. */
static size_t save_row(const uint16_t *restrict lengths, const uint16_t *restrict costs,
                       size_t n_lanes, uint16_t *restrict row)
{
    uint16_t most[LANES] = {0};
    size_t best = 0;

    for (size_t lanes = 0; lanes < n_lanes; lanes += LANES) {
        for (size_t i = 0; i < LANES; i++) {
            const uint16_t all = (uint16_t)(8 * lengths[lanes + i]);
            const uint16_t less = (uint16_t)(6 * GRID_WINDOW + 2 * lengths[lanes + i]);
            const uint16_t worth = all < less ? all : less, cost = costs[lanes + i];

            row[lanes + i] = (uint16_t)(larger_16(worth, cost) - cost);
            most[i] = larger_16(most[i], row[lanes + i]);
        }
    }
    for (size_t i = 1; i < LANES; i++)
        most[0] = larger_16(most[0], most[i]);
    while (row[best] != most[0])
        best++;
    return best;
}

/* Walk from `p` to `stop`, or until there are `quota` places. */
static void walk_segment(struct walk *w, const uint8_t *p, const uint8_t *stop, size_t quota)
{
    const uint32_t item_nbytes = (uint32_t)w->member->item_nbytes;
    uint16_t lengths[MAX_CANDIDATES] = {0};

    while (p < stop && w->n_places < quota) {
        const size_t available = (size_t)(p - w->member->sample);
        uint16_t *const row = w->rows + w->n_places * w->n_lanes;
        size_t best, n_reachable = 0; /* the nearest ones; others save nothing */
        uint16_t run = 0;

        /* A longest match at the distance of an element tells nothing about the others. */
        if (available >= item_nbytes)
            w->kernels->measure(p, stop, &item_nbytes, 1, &run);
        if (run == DEFLATE_MAX_MATCH) {
            w->n_runs++;
            p += DEFLATE_MAX_MATCH;
            continue;
        }
        while (n_reachable < w->n && w->distance[n_reachable] <= available)
            n_reachable++;
        w->kernels->measure(p, stop, w->distance, n_reachable, lengths);
        best = save_row(lengths, w->cost, w->n_lanes, row);
        w->n_places++;
        p += row[best] > 0 ? lengths[best] : 1;
    }
}

/* Walk through the sample with the candidates, which are sorted then. The walk is as long as its
 * share of what may be compared allows. */
static void walk_sample(struct walk *w, size_t most_places)
{
    const size_t n_bytes = w->member->sample_nbytes;
    const size_t skip = n_bytes > 3 * DEFLATE_MAX_DISTANCE ? DEFLATE_MAX_DISTANCE : 0;
    const size_t stride = (n_bytes - skip) / N_SEGMENTS;
    uint64_t n_places = w->member->n_bytes / NBYTES_PER_COMPARISON;

    n_places = (n_places > MIN_COMPARISONS ? n_places : MIN_COMPARISONS) / 2 / w->n;
    n_places = n_places > MIN_PLACES ? n_places : MIN_PLACES;
    n_places = n_places < most_places ? n_places : most_places;
    qsort(w->distance, w->n, sizeof *w->distance, order_of_u32);
    w->n_lanes = (w->n + LANES - 1) / LANES * LANES;
    for (size_t i = 0; i < w->n_lanes; i++)
        w->cost[i] = i < w->n ? (uint16_t)(4 * (9 + deflate_distance_extra(w->distance[i]))) : 0;
    w->n_places = 0;
    w->n_runs = 0;
    for (size_t i = 0; i < N_SEGMENTS; i++) {
        const uint8_t *const start = w->member->sample + skip + i * stride;

        walk_segment(w, start, start + stride, n_places * (i + 1) / N_SEGMENTS);
    }
}

/* What each candidate would add to what is saved at every place. */
static void add_up(const struct walk *w, const uint16_t *saved, uint32_t *added)
{
    const size_t most = UINT16_MAX / (8 * DEFLATE_MAX_MATCH); /* sums of so many fit */

    memset(added, 0, w->n_lanes * sizeof *added);
    for (size_t lanes = 0; lanes < w->n_lanes; lanes += LANES) {
        for (size_t place = 0; place < w->n_places; place += most) {
            const size_t end = place + most < w->n_places ? place + most : w->n_places;
            uint16_t sums[LANES] = {0};

            for (size_t at = place; at < end; at++) {
                const uint16_t *const row = w->rows + at * w->n_lanes + lanes;

                for (size_t i = 0; i < LANES; i++)
                    sums[i] =
                        (uint16_t)(sums[i] + (uint16_t)(larger_16(row[i], saved[at]) - saved[at]));
            }
            for (size_t i = 0; i < LANES; i++)
                added[lanes + i] += sums[i];
        }
    }
}

static size_t largest(const uint32_t *added, size_t n)
{
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
        best = added[i] > added[best] ? i : best;
    return best;
}

/* Pick up to n_set candidates that together save the most, the best one first, and then up to
 * n_more that would add the most to them, each by itself. Where there are runs, the distance of an
 * element is in the set, whatever it saves. What is to be used (n_more is 0) is compared by fours:
 * the first of another four must save half a bit at every place. Returns their number; `out` may be
 * w->distance. */
static size_t pick(const struct walk *w, size_t n_set, size_t n_more, uint32_t *out)
{
    const size_t least = w->n_places / 2, least_of_four = 4 * w->n_places;
    uint16_t saved[MAX_LONG_WALK] = {0};
    uint32_t added[MAX_CANDIDATES], picked[N_LIKELY];
    size_t n = 0, n_given = 0, best = 0;

    while (best < w->n && w->distance[best] != w->member->item_nbytes)
        best++;
    n_given = w->n_runs > 0 && best < w->n;
    for (;;) {
        if (n >= n_given) {
            add_up(w, saved, added);
            best = largest(added, w->n);
            const bool begins_four = n_more == 0 && n > 0 && n % 4 == 0;
            if (n == n_set || added[best] <= (begins_four ? least_of_four : least))
                break;
        }
        picked[n++] = w->distance[best];
        for (size_t place = 0; place < w->n_places; place++)
            saved[place] = larger_16(saved[place], w->rows[place * w->n_lanes + best]);
    }
    for (; n_more > 0 && added[best] > least; n_more--) {
        picked[n++] = w->distance[best];
        added[best] = 0;
        best = largest(added, w->n);
    }
    for (size_t i = 0; i < n; i++)
        out[i] = picked[(i + n_given) % n];
    return n;
}

int grid_train(const struct grid_kernels *kernels, const struct codec_member *member,
               struct grid_trained *trained, struct error *err)
{
    struct walk *const w = malloc(sizeof *w);

    if (w == NULL)
        return error_no_memory(err, "learning distances");
    memset(w, 0, offsetof(struct walk, rows)); /* which a walk writes before it reads them */
    w->kernels = kernels;
    w->member = member;
    find_candidates(w);
    walk_sample(w, MAX_SHORT_WALK);
    w->n = pick(w, N_LIKELY_SET, N_LIKELY - N_LIKELY_SET, w->distance);
    trained->n_distances = 0;
    if (w->n > 0) {
        walk_sample(w, MAX_LONG_WALK);
        trained->n_distances = pick(w, GRID_MAX_DISTANCES, 0, trained->distances);
    }
    free(w);
    return 0;
}

/* --- states and pieces --- */

_Static_assert(GRID_WINDOW <= CODEC_READ_SLACK, "a window may begin at the last byte of a piece");

static size_t bound(size_t n_bytes)
{
    /* Every block but the last has GRID_BLOCK_MIN_NBYTES, and no block costs more than storing it
     * does, except that the zeros which end the rows after a sample are not counted (less than 32
     * bytes). Those rows are written before their size is known, a stretch of them at a time. 64:
     * the last block, the sync marker, and what the writing of bits may overwrite. */
    return n_bytes + 8 * (n_bytes / GRID_BLOCK_MIN_NBYTES) + 8 * (n_bytes / DEFLATE_MAX_STORED) +
           GRID_STEP_STRETCH + 64;
}

/* --- training --- */

#define MOVES_HASH_BITS 12
#define MOVES_TWICE     0x4000 /* of an element's number + 1, at most 8193 */

static uint64_t element_at(const uint8_t *elements, size_t i, size_t item_nbytes)
{
    return bytes_get_uint(elements + i * item_nbytes, item_nbytes, false);
}

static size_t moves_slot(uint64_t element)
{
    return element * 0x9e3779b97f4a7c15 >> (64 - MOVES_HASH_BITS);
}

/* Costs before the first block. The greedy parser begins with cheap literals: where they are rare,
 * as with dear ones, their codes are long, and they stay so. */
static void first_costs(struct grid_costs *costs)
{
    for (int mode = 0; mode < GRID_N_MODES; mode++, costs++) {
        const uint8_t literal = mode == GRID_GREEDY ? 3 : 7;

        costs->literal_mean = literal * 16u;
        memset(costs->literal, literal, sizeof costs->literal);
        for (unsigned length = DEFLATE_MIN_MATCH; length <= DEFLATE_MAX_MATCH; length++)
            costs->length[length] = (uint8_t)(5 + deflate_length_extra(length));
        for (unsigned i = 0; i < DEFLATE_N_DISTANCE; i++)
            costs->distance[i] = (uint8_t)(4 + deflate_symbol_extra(i));
    }
}

/* Learn from images of a row, one after the other, where their elements stood in the image before:
 * those whose value is there once. What is wrong is only of no use. */
static void learn_moves(const struct codec_member *member, struct grid_moves *moves)
{
    const size_t item = member->item_nbytes, n = member->row_nbytes / item;
    const uint8_t *const rows = member->sample + moves->header_nbytes;
    uint16_t known[1u << MOVES_HASH_BITS];

    for (uint64_t image = 1; image < moves->n_images; image++) {
        uint16_t *const distance = moves->distance + image * n;

        for (uint64_t row = 0; row < member->image_nrows; row++) {
            const uint8_t *const here =
                rows + image * moves->image_nbytes + row * moves->row_nbytes;
            const uint8_t *const before = here - moves->image_nbytes;

            memset(known, 0, sizeof known);
            for (size_t i = 0; i < n; i++) {
                const uint64_t element = element_at(before, i, item);
                uint16_t *const slot = &known[moves_slot(element)];
                const bool again =
                    *slot != 0 && element_at(before, *slot % MOVES_TWICE - 1u, item) == element;

                *slot = (uint16_t)(again ? *slot | MOVES_TWICE : i + 1);
            }
            for (size_t i = 0; i < n; i++) {
                const uint64_t element = element_at(here, i, item);
                const uint16_t at = known[moves_slot(element)];

                if (distance[i] == 0 && at != 0 && at < MOVES_TWICE &&
                    element_at(before, at - 1u, item) == element)
                    distance[i] = (uint16_t)(moves->image_nbytes / item + i + 1 - at);
            }
        }
    }
    for (size_t i = 0; i < moves->n; i++)
        if (moves->distance[i] != 0)
            moves->symbols |= 1u << deflate_distance_symbol(moves->distance[i] * (uint32_t)item);
}

/* Whether images of a row are within reach of each other, and a whole block of them is known. */
static bool has_moves(const struct codec_member *member)
{
    const uint64_t row = member->row_nbytes, n_rows = member->image_nrows;

    return member->n_images > 1 && member->item_nbytes >= 4 && row % member->item_nbytes == 0 &&
           row > 0 && row <= DEFLATE_MAX_DISTANCE && n_rows > 0 && n_rows <= DEFLATE_MAX_DISTANCE &&
           (n_rows + 1) * row <= DEFLATE_MAX_DISTANCE &&
           member->header_nbytes + member->n_images * n_rows * row <= member->sample_nbytes;
}

static int train(const struct codec_member *member, void **trained, struct error *err)
{
    const bool moves = has_moves(member);
    const size_t n_moves = moves ? member->n_images * member->row_nbytes / member->item_nbytes : 0;
    struct grid_trained *const t =
        calloc(1, sizeof *t + sizeof *t->moves + n_moves * sizeof(uint16_t));

    if (t == NULL)
        return error_no_memory(err, "learned distances");
    first_costs(t->costs);
    t->item_nbytes = member->item_nbytes;
    if (moves) {
        struct grid_moves *const m = (struct grid_moves *)(t + 1);

        m->header_nbytes = member->header_nbytes;
        m->row_nbytes = member->row_nbytes;
        m->image_nbytes = member->image_nrows * member->row_nbytes;
        m->n_images = member->n_images;
        m->n = n_moves;
        learn_moves(member, m);
        t->moves = m;
    }
    if (grid_train(grid_kernels_best(), member, t, err) != 0) {
        free(t);
        return -1;
    }
    *trained = t;
    return 0;
}

/* What a mode works with, and what its work costs, fitted to times of members of all kinds. */
static const struct {
    const struct codec *codec;
    size_t work_nbytes;
    uint8_t sixteen_bytes, looked, literal, step; /* operations */
} modes[GRID_N_MODES] = {
    [GRID_GREEDY] = {&codec_grid, 0, 6, 30, 0, 0},
    [GRID_SPARSE] = {&codec_grid_sparse, sizeof(struct grid_steps), 4, 7, 3, 6},
    [GRID_MOVED] = {&codec_grid_moved, sizeof(struct grid_steps), 8, 0, 1, 5},
    [GRID_VALUES] = {&codec_grid_values, sizeof(struct grid_values), 13, 22, 12, 0},
    [GRID_OPTIMAL] = {&codec_grid_best, sizeof(struct grid_path), 16, 100, 0, 0},
};

static void *state_new(const struct codec_choice *choice, struct error *err)
{
    const struct grid_trained *const trained = choice->trained;
    const size_t n_moves = trained != NULL && trained->moves != NULL ? trained->moves->n : 0;
    enum grid_mode mode = GRID_GREEDY;

    while (choice->codec != modes[mode].codec)
        mode++;
    struct grid_state *const s = /* encode clears */
        malloc(sizeof *s + modes[mode].work_nbytes + n_moves * sizeof *s->steps->learned_codes);
    if (s == NULL) {
        error_no_memory(err, "grid encoder");
        return NULL;
    }
    void *const work = s + 1;
    s->path = mode == GRID_OPTIMAL ? work : NULL;
    s->values = mode == GRID_VALUES ? work : NULL;
    s->steps = mode == GRID_SPARSE || mode == GRID_MOVED ? work : NULL;
    s->kernels = grid_kernels_best();
    s->work = (struct grid_work){0};
    s->n_sequences = 0;
    s->mode = mode;
    for (uint32_t length = 1; length <= DEFLATE_MAX_MATCH; length++)
        s->inverse[length] = (1u << 20) / length;
    if (trained != NULL) {
        s->trained = *trained;
    } else {
        s->trained = (struct grid_trained){.item_nbytes = 1};
        first_costs(s->trained.costs);
    }
    return s;
}

static size_t encode(void *state, const struct codec_piece *piece, uint8_t *out, struct error *err)
{
    struct grid_state *const s = state;
    struct grid_bits bits = {.out = out};
    const uint8_t *p = piece->bytes, *const end = p + piece->n_bytes;

    (void)err;
    s->floor = p - piece->history_nbytes;
    s->bytes = p;
    s->end = end;
    s->is_last = piece->last;
    s->offset = piece->offset;
    s->costs = s->trained.costs[s->mode];
    /* Forget what the tables know about an earlier piece; only those of the mode, which is most of
     * what a short piece would cost. */
    if (s->mode == GRID_GREEDY)
        memset(s->hash, 0, sizeof s->hash);
    else if (s->mode == GRID_SPARSE)
        memset(&s->index, 0, sizeof s->index);
    else if (s->mode == GRID_OPTIMAL)
        memset(s->path->latest, 0, sizeof s->path->latest);
    else if (s->mode == GRID_VALUES)
        memset(s->values->latest, 0, sizeof s->values->latest);
    for (bool is_open = piece->last; is_open || p < end;) {
        const uint8_t *const start = p;
        const size_t left = (size_t)(end - p);
        const bool is_sample =
            s->mode == GRID_MOVED && left >= GRID_SAMPLE_NBYTES + GRID_FOLLOW_NBYTES;
        const size_t most = is_sample ? GRID_SAMPLE_NBYTES : GRID_MAX_BLOCK;

        p = s->kernels->parse[s->mode](s, p, left > most ? p + most : end);
        codec_clear_registers(); /* gcc 12 forgets it at the end of some of these */
        is_open = is_open && p < end;
        p = grid_block_write(s, start, p, &bits);
    }
    if (piece->last)
        grid_bits_align(&bits);
    else
        grid_block_sync(&bits);
    return (size_t)(bits.out - out);
}

/* The first block of a piece is parsed with the costs of the last block of the trial. For the
 * greedy parser literals stay cheap at first. */
static void learn(const void *state, void *trained)
{
    const struct grid_state *const s = state;
    struct grid_trained *const t = trained;

    if (s->mode == GRID_VALUES || s->mode == GRID_MOVED)
        t->costs[s->mode] = s->costs;
    if (s->mode == GRID_GREEDY) {
        memcpy(t->costs[s->mode].length, s->costs.length, sizeof s->costs.length);
        memcpy(t->costs[s->mode].distance, s->costs.distance, sizeof s->costs.distance);
    }
}

static uint64_t n_operations(const void *state)
{
    const struct grid_state *const s = state;
    const struct grid_work *const work = &s->work;

    return work->n_bytes * modes[s->mode].sixteen_bytes / 16 +
           work->n_looked * modes[s->mode].looked + work->n_literals * modes[s->mode].literal +
           work->n_steps * modes[s->mode].step;
}

#define GRID_CODEC(codec_name)                                                               \
    {                                                                                        \
        .name = codec_name, .zip_method = CODEC_ZIP_DEFLATE, .bound = bound, .train = train, \
        .state_new = state_new, .state_free = free, .encode = encode, .learn = learn,        \
        .n_operations = n_operations                                                         \
    }

const struct codec codec_grid = GRID_CODEC("grid");
const struct codec codec_grid_sparse = GRID_CODEC("grid-sparse");
const struct codec codec_grid_moved = GRID_CODEC("grid-moved");
const struct codec codec_grid_values = GRID_CODEC("grid-values");
const struct codec codec_grid_best = GRID_CODEC("grid-best");
