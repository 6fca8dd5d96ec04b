/*
 * grid.c - the grid encoder's codec rows: states, the loop over a piece, the choice of the
 * instruction set.
 */
#include "codec/grid.h"

#include <stdlib.h>

const struct grid_kernels *const grid_kernels_table[] = {
#if defined(__x86_64__)
    &grid_kernels_avx512,
    &grid_kernels_avx2,
#endif
    &grid_kernels_plain,
};

const size_t grid_kernels_n_table = sizeof grid_kernels_table / sizeof *grid_kernels_table;

const struct grid_kernels *grid_kernels_best(void)
{
    const struct grid_kernels *const *kernels = grid_kernels_table;

    while (!(*kernels)->is_supported())
        kernels++;
    return *kernels;
}

_Static_assert(GRID_WINDOW <= CODEC_READ_SLACK, "a window may begin at the last byte of a piece");

static size_t bound(size_t n_bytes)
{
    /* Every block but the last has GRID_BLOCK_MIN_NBYTES, and no block costs more than storing it
     * does. 64: the last block, the sync marker, and what the writing of bits may overwrite. */
    return n_bytes + 8 * (n_bytes / GRID_BLOCK_MIN_NBYTES) + 8 * (n_bytes / DEFLATE_MAX_STORED) +
           64;
}

/* The greedy parser begins with cheap literals: where they are rare, as with dear ones, their codes
 * are long, and they stay so. */
static void first_costs(struct grid_costs *costs)
{
    const uint8_t cheap = 3;

    for (int mode = 0; mode < GRID_N_MODES; mode++)
        grid_costs_default(&costs[mode]);
    costs[GRID_GREEDY].literal_mean = cheap * 16u;
    memset(costs[GRID_GREEDY].literal, cheap, sizeof costs[GRID_GREEDY].literal);
}

static int train(const struct codec_member *member, void **trained, struct error *err)
{
    struct grid_trained *const t = calloc(1, sizeof *t);

    if (t == NULL)
        return error_no_memory(err, "learned distances");
    first_costs(t->costs);
    t->item_nbytes = member->item_nbytes;
    if (grid_train(grid_kernels_best(), member, t, err) != 0) {
        free(t);
        return -1;
    }
    *trained = t;
    return 0;
}

static void state_free(void *state)
{
    struct grid_state *const s = state;

    if (s != NULL) {
        free(s->path);
        free(s->values);
    }
    free(s);
}

static void *state_new(const struct codec_choice *choice, struct error *err)
{
    static const struct codec *const codecs[GRID_N_MODES] = {&codec_grid, &codec_grid_sparse,
                                                             &codec_grid_values, &codec_grid_best};
    struct grid_state *const s = calloc(1, sizeof *s);
    enum grid_mode mode = GRID_GREEDY;

    while (choice->codec != codecs[mode])
        mode++;
    if (s != NULL && mode == GRID_OPTIMAL)
        s->path = calloc(1, sizeof *s->path);
    if (s != NULL && mode == GRID_VALUES)
        s->values = calloc(1, sizeof *s->values);
    if (s == NULL || (mode == GRID_OPTIMAL && s->path == NULL) ||
        (mode == GRID_VALUES && s->values == NULL)) {
        error_no_memory(err, "grid encoder");
        state_free(s);
        return NULL;
    }
    s->kernels = grid_kernels_best();
    s->mode = mode;
    for (uint32_t length = 1; length <= DEFLATE_MAX_MATCH; length++)
        s->inverse[length] = (1u << 20) / length;
    if (choice->trained != NULL) {
        s->trained = *(const struct grid_trained *)choice->trained;
    } else {
        s->trained.item_nbytes = 1;
        first_costs(s->trained.costs);
    }
    return s;
}

/* Forget what the tables know about an earlier piece. A new state knows nothing: its memory is not
 * touched, which is most of what a short piece would cost. */
static void tables_clear(struct grid_state *s)
{
    if (!s->is_used)
        return;
    switch (s->mode) {
    case GRID_SPARSE:
        memset(&s->index, 0, sizeof s->index);
        break;
    case GRID_VALUES:
        memset(s->values->latest, 0, sizeof s->values->latest);
        s->values->has_history = false;
        break;
    case GRID_OPTIMAL:
        memset(s->path->latest, 0, sizeof s->path->latest);
        break;
    default:
        memset(s->hash, 0, sizeof s->hash);
    }
}

static size_t encode(void *state, const struct codec_piece *piece, uint8_t *out, struct error *err)
{
    struct grid_state *const s = state;
    struct grid_bits bits = {.out = out};
    const uint8_t *p = piece->bytes, *const end = p + piece->n_bytes;

    (void)err;
    s->floor = p - piece->history_nbytes;
    s->costs = s->trained.costs[s->mode];
    tables_clear(s);
    s->is_used = true;
    while (p < end) {
        const uint8_t *const start = p;
        const uint8_t *const stop = (size_t)(end - p) > GRID_MAX_BLOCK ? p + GRID_MAX_BLOCK : end;

        p = s->kernels->parse[s->mode](s, p, stop);
        grid_block_write(s, start, (size_t)(p - start), piece->last && p == end, &bits);
    }
    if (piece->last && piece->n_bytes == 0)
        grid_block_write(s, p, 0, true, &bits);
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

    if (s->mode == GRID_VALUES)
        t->costs[s->mode] = s->costs;
    if (s->mode == GRID_GREEDY) {
        memcpy(t->costs[s->mode].length, s->costs.length, sizeof s->costs.length);
        memcpy(t->costs[s->mode].distance, s->costs.distance, sizeof s->costs.distance);
    }
}

/* Fitted to times of members of all kinds. */
static uint64_t n_operations(const void *state)
{
    static const struct {
        uint8_t sixteen_bytes, looked, literal, sequence;
    } weights[GRID_N_MODES] = {
        [GRID_GREEDY] = {6, 30, 0, 0},
        [GRID_SPARSE] = {4, 7, 3, 9},
        [GRID_VALUES] = {13, 22, 12, 0},
        [GRID_OPTIMAL] = {16, 100, 0, 0},
    };
    const struct grid_state *const s = state;
    const struct grid_work *const work = &s->work;

    return work->n_bytes * weights[s->mode].sixteen_bytes / 16 +
           work->n_looked * weights[s->mode].looked + work->n_literals * weights[s->mode].literal +
           work->n_sequences * weights[s->mode].sequence;
}

#define GRID_CODEC(codec_name)                                                               \
    {                                                                                        \
        .name = codec_name, .zip_method = CODEC_ZIP_DEFLATE, .bound = bound, .train = train, \
        .state_new = state_new, .state_free = state_free, .encode = encode, .learn = learn,  \
        .n_operations = n_operations                                                         \
    }

const struct codec codec_grid = GRID_CODEC("grid");
const struct codec codec_grid_sparse = GRID_CODEC("grid-sparse");
const struct codec codec_grid_values = GRID_CODEC("grid-values");
const struct codec codec_grid_best = GRID_CODEC("grid-best");
