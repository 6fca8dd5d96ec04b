/*
 * count.c - reads a shard for a tally. Every array that counts is read by itself, some rows at a
 * time; what is known of a row beforehand is its part and its transform, a byte each. Planes and
 * policies are added to their maps element by element, through a list that says which cell an
 * element is about.
 */
#include "report/tally.h"

#include "engine/plan.h"
#include "shard/batch.h"
#include "show/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BATCH_NBYTES (UINT64_C(1) << 20)
#define NO_TRANSFORM 255 /* no board has so many */

/* What is known of a shard's rows before they are read. */
struct known {
    struct tally *tally;
    const struct shard *shard;
    struct budget budget;
    uint8_t *parts;      /* owned, one per row */
    uint8_t *transforms; /* owned, one per row, or NULL */
};

/* --- reading an array --- */

struct source {
    struct reader reader;
    struct batch batch;
    struct csr csr;
    const struct array *array;
    uint64_t at_most; /* rows of a batch */
};

static int source_open(struct source *s, struct known *k, size_t i, struct error *err)
{
    const struct shard *shard = k->shard;
    const struct role_binding *binding = &shard->bindings[i];

    *s = (struct source){.array = &shard->archive.arrays[i]};
    s->reader = (struct reader){.arrays = &s->array, .n_arrays = 1};
    s->batch.reader = &s->reader;
    if (binding->sparse == SPARSE_CSR) {
        const int index = binding->index_array >= 0 ? binding->index_array : (int)i;
        const struct array *offsets = &shard->archive.arrays[shard->bindings[index].offsets_array];

        if (csr_open(&s->csr, &offsets, &s->array, 1, err) != 0)
            return -1;
        s->reader.csr = &s->csr;
    }
    if (reader_open(&s->reader, &k->budget, err) != 0)
        return -1;
    s->at_most = s->array->row_nbytes > 0 ? BATCH_NBYTES / s->array->row_nbytes + 1 : 4096;
    return 0;
}

static void source_close(struct source *s)
{
    batch_release(&s->batch);
    reader_close(&s->reader);
    csr_release(&s->csr);
}

/* --- parts and transforms --- */

/* Rows of one game, source or stretch of like positions go to one part, dealt out by its number. */
static uint8_t part_of(const struct tally *tally, uint64_t unit)
{
    return (uint8_t)((unit * UINT64_C(0x9e3779b97f4a7c15) >> 32) % tally->n_parts);
}

/* The array of that name that holds one integer per row, or -1. */
static int find_numbers(const struct shard *shard, const char *name)
{
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];

        if (strcasecmp(array->key, name) == 0 && array->n_rows == shard->n_rows &&
            dtype_is_integer(&array->header.dtype) &&
            array->row_nbytes == array->header.dtype.itemsize)
            return (int)i;
    }
    return -1;
}

/* Those integers, owned by the caller. */
static uint64_t *read_numbers(struct known *k, int i, struct error *err)
{
    uint64_t *numbers = calloc(k->shard->n_rows + 1, sizeof *numbers);
    struct source s = {0};
    int status = numbers != NULL ? source_open(&s, k, (size_t)i, err)
                                 : error_no_memory(err, "the numbers of games");

    while (status == 0 && (status = batch_next(&s.batch, s.at_most, err)) == 0 && s.batch.n > 0)
        for (uint64_t r = 0; r < s.batch.n; r++) {
            const struct row row = batch_row(&s.batch, r);

            numbers[s.batch.first + r] = (uint64_t)row_int(&row, 0);
        }
    source_close(&s);
    if (status == 0)
        return numbers;
    free(numbers);
    return NULL;
}

static void known_release(struct known *k)
{
    free(k->parts);
    free(k->transforms);
}

/* The part of each row, by its game or source. *is_told: something tells them. */
static int read_parts(struct known *k, const struct tally_images *images, bool *is_told,
                      struct error *err)
{
    const uint64_t n_rows = k->shard->n_rows;
    const uint64_t *numbers = images->sources;
    uint64_t *own = NULL;
    int i = find_numbers(k->shard, "game_id");

    if (i < 0)
        i = find_numbers(k->shard, "game_ids");
    if (i < 0)
        i = find_numbers(k->shard, PLAN_SOURCE_KEY);
    if (i >= 0 && (numbers = own = read_numbers(k, i, err)) == NULL)
        return -1;
    *is_told = numbers != NULL;
    for (uint64_t r = 0; r < n_rows; r++)
        k->parts[r] = part_of(k->tally, numbers != NULL ? numbers[r] : k->tally->n_rows + r);
    free(own);
    return 0;
}

/* --- labels --- */

static struct tally_label *find_label(const struct tally *tally, const char *key)
{
    for (size_t i = 0; i < tally->n_labels; i++)
        if (strcmp(tally->labels[i].key, key) == 0)
            return &tally->labels[i];
    return NULL;
}

static int add_label(struct known *k, size_t i, bool bins, struct error *err)
{
    struct tally_label *label = find_label(k->tally, k->shard->archive.arrays[i].key);
    struct source s;
    int status;

    if (label == NULL || label->role != k->shard->bindings[i].role ||
        (bins && !label->all.is_binned))
        return 0;
    if (k->transforms != NULL && label->by_transform == NULL) {
        label->by_transform = calloc(k->tally->board->n_transforms, sizeof *label->by_transform);
        if (label->by_transform == NULL)
            return error_no_memory(err, "the values of a label");
    }
    status = source_open(&s, k, i, err);
    while (status == 0 && (status = batch_next(&s.batch, s.at_most, err)) == 0 && s.batch.n > 0)
        for (uint64_t r = 0; r < s.batch.n; r++) {
            const uint8_t t =
                k->transforms != NULL ? k->transforms[s.batch.first + r] : NO_TRANSFORM;
            struct tally_histogram *own = t != NO_TRANSFORM ? &label->by_transform[t] : NULL;
            const struct row row = batch_row(&s.batch, r);

            for (uint64_t e = 0; e < row.n; e++) {
                const double value = row_double(&row, e);

                if (!isfinite(value))
                    continue;
                if (bins) {
                    tally_count(&label->all, label->all.low, label->all.high, value);
                    if (own != NULL)
                        tally_count(own, label->all.low, label->all.high, value);
                } else {
                    tally_note(&label->all, value);
                    if (own != NULL)
                        tally_note(own, value);
                }
            }
        }
    source_close(&s);
    k->tally->needs_bins |= label->all.is_binned;
    return status;
}

/* --- maps --- */

/* An element of a row, and the place in a part's sums that it is added to. */
struct spot {
    uint64_t element;
    struct tally_map *map;
    uint32_t cell;
};

/* The number that element e of a row of planes adds to a map of that plane: of codes, whether it is
 * a stone of the colour. */
static double number_of(const struct known *k, const struct role_binding *binding,
                        const struct row *row, const struct spot *spot)
{
    if (binding->role == ROLE_PACKED) {
        const uint8_t byte = row->bytes[spot->element / 8];

        return byte >> (binding->lsb_first ? spot->element % 8 : 7 - spot->element % 8) & 1;
    }
    const double number = row_double(row, spot->element);

    if (binding->role != ROLE_GRID)
        return isfinite(number) ? number : 0;
    if (k->tally->board->family->has_tiles)
        return number != 0;
    return spot->map->plane == 0 ? number == 1 : number == 2 || number == -1;
}

/* List the elements of a row that are on the board in a plane of stones. */
static size_t list_spots(const struct known *k, size_t i, struct spot *spots)
{
    const struct role_binding *binding = &k->shard->bindings[i];
    const struct array *array = &k->shard->archive.arrays[i];
    const struct board *board = k->tally->board;
    const bool is_packed = binding->role == ROLE_PACKED, is_grid = binding->role == ROLE_GRID;
    const uint64_t n = binding->axes.outer * binding->axes.axis *
                       (is_packed || binding->axes.inner == 0 ? 1 : binding->axes.inner);
    const uint64_t plane_nbits = (binding->axes.axis + 7) / 8 * 8;
    size_t n_spots = 0;

    for (uint64_t e = 0; e < n; e++) {
        uint64_t plane = e / binding->axes.axis, at = e % binding->axes.axis;

        if (!is_packed)
            planes_position(binding, e, &plane, &at);
        const int64_t cell = planes_cell_of(board, binding, at);

        if (cell < 0 || !board->on_board[cell])
            continue;
        for (uint64_t colour = 0; colour < (is_grid ? 2 : 1); colour++) {
            struct tally_map *map = tally_find_map(k->tally, array->key, is_grid ? colour : plane);

            if (map != NULL)
                spots[n_spots++] =
                    (struct spot){is_packed ? plane * plane_nbits + at : e, map, (uint32_t)cell};
        }
    }
    return n_spots;
}

/* The elements of array i that are added to maps, owned by the caller; none: *n_spots is 0. */
static struct spot *make_spots(const struct known *k, size_t i, size_t *n_spots, struct error *err)
{
    const char *key = k->shard->archive.arrays[i].key;
    size_t n_maps = 0;
    struct spot *spots;

    for (size_t m = 0; m < k->tally->n_maps; m++)
        n_maps += strcmp(k->tally->maps[m].key, key) == 0;
    spots = calloc(n_maps * k->tally->board->n_cells + 1, sizeof *spots);
    if (spots == NULL)
        error_no_memory(err, "the cells of an array");
    *n_spots = spots != NULL && n_maps > 0 ? list_spots(k, i, spots) : 0;
    return spots;
}

static int add_planes(struct known *k, size_t i, struct error *err)
{
    const struct role_binding *binding = &k->shard->bindings[i];
    const uint32_t n_cells = k->tally->board->n_cells;
    struct source s = {0};
    size_t n_spots;
    struct spot *spots = make_spots(k, i, &n_spots, err);
    int status = spots == NULL ? -1 : n_spots > 0 ? source_open(&s, k, i, err) : 0;

    for (size_t m = 0; m < k->tally->n_maps; m++)
        if (strcmp(k->tally->maps[m].key, k->shard->archive.arrays[i].key) == 0)
            k->tally->maps[m].n_rows += k->shard->n_rows;
    while (status == 0 && n_spots > 0 && (status = batch_next(&s.batch, s.at_most, err)) == 0 &&
           s.batch.n > 0)
        for (uint64_t r = 0; r < s.batch.n; r++) {
            const size_t part = k->parts[s.batch.first + r];
            const struct row row = batch_row(&s.batch, r);

            for (size_t p = 0; p < n_spots; p++)
                spots[p].map->sums[part * n_cells + spots[p].cell] +=
                    number_of(k, binding, &row, &spots[p]);
        }
    source_close(&s);
    free(spots);
    return status;
}

/* --- games that nothing tells --- */

/*
 * Rows side by side are mostly of one game, and then no evidence of their own. They are taken for
 * that when the later one has the stones of the earlier one, or of the one before it (boards that
 * are turned round to the player to move), but for a few: fewer than half of what two rows that
 * are far apart have not in common.
 */
struct games {
    const struct known *known;
    const struct role_binding *binding;
    const struct spot *spots;
    size_t n_spots;
    uint32_t n_cells;
};

static void find_stones(const struct games *g, const struct row *row, uint8_t *stones)
{
    memset(stones, 0, g->n_cells);
    for (size_t p = 0; p < g->n_spots; p++)
        if (number_of(g->known, g->binding, row, &g->spots[p]) != 0)
            stones[g->spots[p].cell] = 1;
}

/* The share of the stones of one row that another one has, too. */
static double share_kept(const struct games *g, const uint8_t *before, const uint8_t *after)
{
    uint32_t n = 0, n_kept = 0;

    for (uint32_t cell = 0; cell < g->n_cells; cell++) {
        n += before[cell];
        n_kept += before[cell] & after[cell];
    }
    return n > 0 ? (double)n_kept / n : 1;
}

/* What rows have in common that are half a batch apart. */
static double common_share(const struct games *g, const struct batch *batch, uint8_t *stones)
{
    const uint64_t half = batch->n / 2;
    double sum = 0;

    for (uint64_t r = 0; r < half; r++) {
        const struct row a = batch_row(batch, r), b = batch_row(batch, r + half);

        find_stones(g, &a, stones);
        find_stones(g, &b, stones + g->n_cells);
        sum += share_kept(g, stones, stones + g->n_cells);
    }
    return half > 0 ? sum / (double)half : 1;
}

static int find_games_of(struct known *k, size_t i, struct games *g, struct error *err)
{
    uint8_t *stones = calloc(g->n_cells, 3), *last[3] = {NULL};
    uint64_t game = k->tally->n_rows;
    double least = -1;
    struct source s;
    int status = source_open(&s, k, i, err);

    if (status == 0 && stones == NULL)
        status = error_no_memory(err, "stones");
    for (size_t b = 0; b < 3 && stones != NULL; b++)
        last[b] = stones + b * g->n_cells;
    while (status == 0 && (status = batch_next(&s.batch, s.at_most, err)) == 0 && s.batch.n > 0) {
        if (least < 0)
            least = (1 + common_share(g, &s.batch, stones)) / 2;
        for (uint64_t r = 0; r < s.batch.n; r++) {
            const uint64_t at = s.batch.first + r;
            const struct row row = batch_row(&s.batch, r);
            uint8_t *now = last[at % 3];

            find_stones(g, &row, now);
            if (at == 0 || (share_kept(g, last[(at + 2) % 3], now) < least &&
                            (at == 1 || share_kept(g, last[(at + 1) % 3], now) < least)))
                game = k->tally->n_rows + at;
            k->parts[at] = part_of(k->tally, game);
        }
    }
    source_close(&s);
    free(stones);
    return status;
}

/* By the stones of the first array that has maps. */
static int find_games(struct known *k, struct error *err)
{
    int status = 0;
    size_t n_spots = 0;

    for (size_t i = 0; i < k->shard->archive.n_arrays && status == 0 && n_spots == 0; i++) {
        const struct role_binding *binding = &k->shard->bindings[i];
        struct spot *spots;

        if (shard_is_undecided(k->shard, i) || !tally_is_planes(binding->role))
            continue;
        spots = make_spots(k, i, &n_spots, err);
        struct games games = {k, binding, spots, n_spots, k->tally->board->n_cells};

        if (spots == NULL)
            return -1;
        if (n_spots > 0)
            status = find_games_of(k, i, &games, err);
        free(spots);
    }
    return status;
}

/* --- policies --- */

/* Weights that are none (negative, NaN, infinite) count as 0. */
static double weight_of(double weight)
{
    return weight > 0 && weight < 1e300 ? weight : 0;
}

/* A policy that is read: where its rows are counted. */
struct policy_reading {
    const struct role_binding *binding;
    const struct board *board;
    struct tally_policy *policy;
    struct tally_map *map; /* or NULL */
};

/* One row: dense, or of indices with their values (NULL: each counts as one). sums is where its
 * part's cells are. */
static void add_policy_row(const struct policy_reading *p, const struct row *row,
                           const struct row *values, double *sums)
{
    const bool is_dense = p->binding->role == ROLE_POLICY;
    const uint64_t n_actions = p->binding->n_actions;
    const uint64_t n = is_dense && row->n > n_actions ? n_actions : row->n;
    double total = 0, largest = 0, entropy = 0;

    for (int pass = 0; pass < 2; pass++)
        for (uint64_t e = 0; e < n; e++) {
            const double weight = weight_of(is_dense         ? row_double(row, e)
                                            : values == NULL ? 1
                                            : e < values->n  ? row_double(values, e)
                                                             : 0);
            const int64_t action = is_dense ? (int64_t)e : row_int(row, e);

            if (weight == 0 || action < 0)
                continue;
            if (pass == 0) {
                total += weight;
                largest = weight > largest ? weight : largest;
                continue;
            }
            entropy -= weight / total * log(weight / total);
            const int64_t cell = p->map != NULL && (uint64_t)action < n_actions
                                     ? planes_cell_of(p->board, p->binding, (uint64_t)action)
                                     : -1;

            if (cell >= 0)
                sums[cell] += weight / total;
        }
    if (total == 0)
        return;
    p->policy->n_rows++;
    p->policy->entropy += entropy;
    p->policy->top_share += largest / total;
    if (p->map != NULL)
        p->map->n_rows++;
}

static int add_policy(struct known *k, size_t i, struct error *err)
{
    const struct tally *tally = k->tally;
    const struct role_binding *binding = &k->shard->bindings[i];
    const char *key = k->shard->archive.arrays[i].key;
    const bool has_values = binding->role == ROLE_POLICY_INDEX && binding->value_array >= 0;
    struct policy_reading p = {.binding = binding,
                               .board = tally->board,
                               .map = tally_find_map(tally, key, TALLY_NO_PLANE)};
    struct source s, values = {0};
    int status;

    for (size_t at = 0; at < tally->n_policies; at++)
        if (strcmp(tally->policies[at].key, key) == 0)
            p.policy = &tally->policies[at];
    if (p.policy == NULL)
        return 0;
    status = source_open(&s, k, i, err);
    if (status == 0 && has_values)
        status = source_open(&values, k, (size_t)binding->value_array, err);
    while (status == 0 && (status = batch_next(&s.batch, s.at_most, err)) == 0 && s.batch.n > 0) {
        if (has_values && (status = batch_next(&values.batch, s.batch.n, err)) != 0)
            break;
        for (uint64_t r = 0; r < s.batch.n; r++) {
            const size_t part = k->parts[s.batch.first + r];
            const struct row row = batch_row(&s.batch, r);
            const struct row value = has_values ? batch_row(&values.batch, r) : (struct row){0};

            add_policy_row(&p, &row, has_values ? &value : NULL,
                           p.map != NULL ? p.map->sums + part * tally->board->n_cells : NULL);
        }
    }
    source_close(&s);
    source_close(&values);
    return status;
}

/* --- a shard --- */

static int known_init(struct known *k, struct tally *tally, const struct shard *shard,
                      const struct tally_images *images, struct error *err)
{
    const int transform = find_numbers(shard, PLAN_TRANSFORM_KEY);
    const bool is_expanded = images->transforms != NULL || transform >= 0;
    uint64_t *numbers = NULL;
    bool is_told;

    *k = (struct known){.tally = tally, .shard = shard};
    k->budget.left = tally->settings->max_memory / 2;
    k->budget.tmpdir = tally->settings->tmpdir;
    k->parts = malloc(shard->n_rows + 1);
    k->transforms = is_expanded ? malloc(shard->n_rows + 1) : NULL;
    if (k->parts == NULL || (is_expanded && k->transforms == NULL))
        return error_no_memory(err, "the parts of the rows");
    if (read_parts(k, images, &is_told, err) != 0 || (!is_told && find_games(k, err) != 0))
        return -1;
    if (transform >= 0 && (numbers = read_numbers(k, transform, err)) == NULL)
        return -1;
    for (uint64_t r = 0; is_expanded && r < shard->n_rows; r++) {
        const uint64_t t = numbers != NULL ? numbers[r] : images->transforms[r];

        k->transforms[r] = t < tally->board->n_transforms ? (uint8_t)t : NO_TRANSFORM;
    }
    free(numbers);
    return 0;
}

static int add_array(struct known *k, size_t i, bool bins, struct error *err)
{
    const struct role_binding *binding = &k->shard->bindings[i];

    if (tally_is_label(binding->role))
        return add_label(k, i, bins, err);
    if (bins)
        return 0;
    if (tally_is_planes(binding->role))
        return add_planes(k, i, err);
    if (binding->role == ROLE_POLICY || binding->role == ROLE_POLICY_INDEX)
        return add_policy(k, i, err);
    return 0;
}

static int add_shard(struct tally *tally, const struct shard *shard,
                     const struct tally_images *images, bool bins, struct error *err)
{
    struct known k;
    int status;

    if (shard->bindings == NULL || tally->board == NULL ||
        strcmp(shard->found.board->name, tally->board->name) != 0)
        return 0;
    status = known_init(&k, tally, shard, images, err);
    for (size_t i = 0; i < shard->archive.n_arrays && status == 0; i++)
        if (!shard_is_undecided(shard, i))
            status = add_array(&k, i, bins, err);
    known_release(&k);
    return status;
}

int tally_add(struct tally *tally, const struct shard *shard, const struct tally_images *images,
              struct error *err)
{
    const int status = add_shard(tally, shard, images, false, err);

    tally->n_rows += shard->n_rows;
    return status;
}

int tally_add_bins(struct tally *tally, const struct shard *shard,
                   const struct tally_images *images, struct error *err)
{
    return add_shard(tally, shard, images, true, err);
}
