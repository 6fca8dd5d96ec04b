/*
 * count.c - reads a shard for a tally. Every array that counts is read by itself, some rows at a
 * time; what is known of a row beforehand is its part and its transform, a byte each. Planes and
 * policies are added to their maps element by element, through a list that says which cell an
 * element is about.
 *
 * Where nothing tells games apart, rows side by side are mostly of one game, and then no evidence
 * of their own. They are taken for that when the later one has the stones of the earlier one, or of
 * the one before it (boards that are turned round to the player to move), but for a few: fewer than
 * half of what two rows that are far apart have not in common.
 */
#include "report/set.h"

#include "base/crew.h"
#include "base/meter.h"
#include "engine/plan.h"
#include "shard/batch.h"
#include "show/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BATCH_NBYTES (UINT64_C(1) << 20)
#define NO_TRANSFORM 255 /* no board has so many */

/* An element of a row, and the place in a part's sums that it is added to. */
struct spot {
    uint64_t element;
    struct tally_map *map;
    uint32_t cell;
};

/* An entry of a policy. */
struct entry {
    int64_t action;
    double weight;
};

/* A shard that is counted, and the array of it that is read. */
struct count {
    struct tally *tally;
    const struct shard *shard;
    uint8_t *parts;      /* owned, one per row */
    uint8_t *transforms; /* owned, one per row, or NULL */

    const struct role_binding *binding;
    uint64_t *numbers; /* of an array of integers: to be filled */

    struct tally_label *label;
    bool bins;

    struct spot *spots; /* of planes: owned, */
    double *values;     /* and their numbers in a row */
    size_t n_spots;

    bool finds_games; /* nothing tells them: by the stones of the first array that has maps */
    uint8_t *stones;  /* owned: of three rows by turns, while games are found; or NULL */
    double least;     /* the share of stones that rows of one game have in common; -1: not known */
    uint64_t game;    /* of the row at hand */

    struct tally_policy *policy;
    struct tally_map *map; /* of the policy, or NULL */
    int32_t *cells;        /* owned: of each action; -1: none */
    struct entry *entries; /* owned: of the row at hand */
    uint64_t max_entries;
    bool failed; /* for lack of memory */

    uint64_t n_done, n_total; /* bytes */
};

typedef void (*visit_rows)(struct count *c, const struct batch *rows, const struct batch *others);

/* --- reading an array --- */

struct source {
    struct csr csr;
    struct reader reader;
    struct batch batches[2]; /* one is visited while the other one is read */
    const struct array *array;
};

static int source_open(struct source *s, const struct count *c, size_t i, struct error *err)
{
    const struct shard *shard = c->shard;
    const struct role_binding *binding = &shard->bindings[i];

    s->array = &shard->archive.arrays[i];
    s->reader = (struct reader){.arrays = &s->array, .n_arrays = 1};
    s->batches[0].reader = s->batches[1].reader = &s->reader;
    if (binding->sparse == SPARSE_CSR) {
        const int index = binding->index_array >= 0 ? binding->index_array : (int)i;
        const struct array *offsets = &shard->archive.arrays[shard->bindings[index].offsets_array];

        if (csr_open(&s->csr, &offsets, &s->array, 1, err) != 0)
            return -1;
        s->reader.csr = &s->csr;
    }
    return reader_open(&s->reader, c->tally->settings->budget, err);
}

/* All rows of an array, with the same rows of another one beside them. */
struct pass {
    struct count *count;
    visit_rows visit;
    struct source sources[2];
    size_t n_sources;
    unsigned front; /* the batches that are visited */
    struct error error;
};

static void do_job(void *self, int64_t job, int worker)
{
    struct pass *p = self;
    const struct batch *front = &p->sources[0].batches[p->front];
    const uint64_t next = front->first + front->n, row_nbytes = p->sources[0].array->row_nbytes;
    const uint64_t at_most = row_nbytes > 0 ? BATCH_NBYTES / row_nbytes + 1 : 4096;
    const uint64_t left = p->sources[0].reader.n_rows - next, n = left < at_most ? left : at_most;

    (void)worker;
    if (job == 1)
        p->visit(p->count, front, p->n_sources > 1 ? &p->sources[1].batches[p->front] : NULL);
    for (size_t k = 0; k < p->n_sources && job == 0 && p->error.kind == ERROR_NONE; k++)
        batch_read(&p->sources[k].batches[!p->front], next, n, &p->error);
}

static int read_all(void *self, struct crew *crew)
{
    struct pass *p = self;

    do_job(p, 0, 0); /* the front is empty */
    while (p->error.kind == ERROR_NONE && p->sources[0].batches[!p->front].n > 0) {
        p->front = !p->front;
        crew_each(crew, 2, do_job, p);
        if (p->count->failed)
            return error_no_memory(&p->error, "a row");
        p->count->n_done +=
            p->sources[0].batches[p->front].n * (p->sources[0].array->row_nbytes + 1);
        meter_step(p->count->tally->settings->meter, p->count->n_done, p->count->n_total);
    }
    return p->error.kind == ERROR_NONE ? 0 : -1;
}

/* Visit all rows of an array, with the same rows of another one beside them (-1: of none). */
static int read_array(struct count *c, size_t i, int other, visit_rows visit, struct error *err)
{
    struct pass p = {.count = c, .visit = visit, .n_sources = other >= 0 ? 2 : 1};
    int status = source_open(&p.sources[0], c, i, &p.error);

    if (status == 0 && other >= 0)
        status = source_open(&p.sources[1], c, (size_t)other, &p.error);
    if (status == 0)
        status = crew_run(c->tally->settings->n_threads > 1 ? 2 : 1, read_all, &p);
    for (int k = 0; k < 2; k++) {
        batch_release(&p.sources[k].batches[0]);
        batch_release(&p.sources[k].batches[1]);
        reader_close(&p.sources[k].reader);
        csr_release(&p.sources[k].csr);
    }
    return status == 0 ? 0 : error_pass(err, &p.error);
}

/* --- parts and transforms --- */

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

static void visit_numbers(struct count *c, const struct batch *rows, const struct batch *others)
{
    (void)others;
    for (uint64_t r = 0; r < rows->n; r++) {
        const struct row row = batch_row(rows, r);

        c->numbers[rows->first + r] = (uint64_t)row_int(&row, 0);
    }
}

/* Rows of one game, source or stretch of like positions go to one part, dealt out by its number. */
static uint8_t part_of(const struct tally *tally, uint64_t unit)
{
    return (uint8_t)((unit * UINT64_C(0x9e3779b97f4a7c15) >> 32) % tally->n_parts);
}

/* The part of each row, by its game or source, and its transform. *is_told: something tells them.
 */
static int read_parts(struct count *c, const struct verify_located *images, bool *is_told,
                      struct error *err)
{
    const struct shard *shard = c->shard;
    const int transform = find_numbers(shard, PLAN_TRANSFORM_KEY);
    const bool is_expanded = images->transforms != NULL || transform >= 0;
    const uint64_t *sources = images->sources;
    int i = find_numbers(shard, "game_id");
    int status = 0;

    c->parts = malloc(shard->n_rows + 1);
    c->transforms = is_expanded ? malloc(shard->n_rows + 1) : NULL;
    c->numbers = calloc(shard->n_rows + 1, sizeof *c->numbers);
    if (c->parts == NULL || (is_expanded && c->transforms == NULL) || c->numbers == NULL)
        return error_no_memory(err, "the parts of the rows");
    if (i < 0)
        i = find_numbers(shard, "game_ids");
    if (i < 0)
        i = find_numbers(shard, PLAN_SOURCE_KEY);
    if (i >= 0) {
        status = read_array(c, (size_t)i, -1, visit_numbers, err);
        sources = c->numbers;
    }
    *is_told = sources != NULL;
    for (uint64_t r = 0; r < shard->n_rows; r++)
        c->parts[r] = part_of(c->tally, sources != NULL ? sources[r] : c->tally->n_rows + r);
    if (status == 0 && transform >= 0)
        status = read_array(c, (size_t)transform, -1, visit_numbers, err);
    for (uint64_t r = 0; status == 0 && is_expanded && r < shard->n_rows; r++) {
        const uint64_t t = transform >= 0 ? c->numbers[r] : images->transforms[r];

        c->transforms[r] = t < c->tally->board->n_transforms ? (uint8_t)t : NO_TRANSFORM;
    }
    return status;
}

/* --- labels --- */

static void visit_label(struct count *c, const struct batch *rows, const struct batch *others)
{
    struct tally_histogram *all = &c->label->all;

    (void)others;
    for (uint64_t r = 0; r < rows->n; r++) {
        const uint8_t t = c->transforms != NULL ? c->transforms[rows->first + r] : NO_TRANSFORM;
        const struct row row = batch_row(rows, r);

        for (uint64_t e = 0; e < row.n; e++) {
            const double value = row_double(&row, e);

            if (!isfinite(value))
                continue;
            tally_note(all, all, c->bins, value);
            if (t != NO_TRANSFORM)
                tally_note(&c->label->by_transform[t], all, c->bins, value);
        }
    }
}

static int add_label(struct count *c, size_t i, struct error *err)
{
    struct tally *tally = c->tally;
    int status;

    c->label = NULL;
    for (size_t k = 0; k < tally->n_labels; k++)
        if (strcmp(tally->labels[k].key, c->shard->archive.arrays[i].key) == 0)
            c->label = &tally->labels[k];
    if (c->label == NULL || c->label->role != c->binding->role ||
        (c->bins && !c->label->all.is_binned))
        return 0;
    if (c->transforms != NULL && c->label->by_transform == NULL) {
        c->label->by_transform = calloc(tally->board->n_transforms, sizeof *c->label->by_transform);
        if (c->label->by_transform == NULL)
            return error_no_memory(err, "the values of a label");
    }
    status = read_array(c, i, -1, visit_label, err);
    tally->needs_bins |= c->label->all.is_binned;
    return status;
}

/* --- planes --- */

/* The numbers that a row adds to the maps of its planes: of codes, whether it is a stone of the
 * colour. */
static void get_values(const struct count *c, const struct row *row)
{
    const bool has_tiles = c->tally->board->family->has_tiles;

    for (size_t p = 0; p < c->n_spots; p++) {
        const struct spot *spot = &c->spots[p];

        if (c->binding->role == ROLE_PACKED) {
            const unsigned bit = spot->element % 8;

            c->values[p] =
                row->bytes[spot->element / 8] >> (c->binding->lsb_first ? bit : 7 - bit) & 1;
            continue;
        }
        const double number = row_double(row, spot->element);

        if (c->binding->role != ROLE_GRID)
            c->values[p] = isfinite(number) ? number : 0;
        else if (has_tiles)
            c->values[p] = number != 0;
        else
            c->values[p] = spot->map->plane == 0 ? number == 1 : number == 2 || number == -1;
    }
}

/* Where the row whose values were got last has stones. */
static void find_stones(const struct count *c, uint8_t *stones)
{
    memset(stones, 0, c->tally->board->n_cells);
    for (size_t p = 0; p < c->n_spots; p++)
        if (c->values[p] != 0)
            stones[c->spots[p].cell] = 1;
}

/* The share of the stones of one row that another one has, too. */
static double share_kept(const struct count *c, const uint8_t *before, const uint8_t *after)
{
    uint32_t n = 0, n_kept = 0;

    for (uint32_t cell = 0; cell < c->tally->board->n_cells; cell++) {
        n += before[cell];
        n_kept += before[cell] & after[cell];
    }
    return n > 0 ? (double)n_kept / n : 1;
}

/* What rows have in common that are half a batch apart. */
static double common_share(const struct count *c, const struct batch *batch)
{
    const uint32_t n_cells = c->tally->board->n_cells;
    const uint64_t half = batch->n / 2;
    double sum = 0;

    for (uint64_t r = 0; r < half; r++) {
        for (uint64_t k = 0; k < 2; k++) {
            const struct row row = batch_row(batch, r + k * half);

            get_values(c, &row);
            find_stones(c, c->stones + k * n_cells);
        }
        sum += share_kept(c, c->stones, c->stones + n_cells);
    }
    return half > 0 ? sum / (double)half : 1;
}

static void visit_planes(struct count *c, const struct batch *rows, const struct batch *others)
{
    const size_t n_cells = c->tally->board->n_cells;

    (void)others;
    if (c->stones != NULL && c->least < 0)
        c->least = (1 + common_share(c, rows)) / 2;
    for (uint64_t r = 0; r < rows->n; r++) {
        const uint64_t at = rows->first + r;
        const struct row row = batch_row(rows, r);

        get_values(c, &row);
        if (c->stones != NULL) {
            uint8_t *now = c->stones + at % 3 * n_cells;

            find_stones(c, now);
            if (at == 0 ||
                (share_kept(c, c->stones + (at + 2) % 3 * n_cells, now) < c->least &&
                 (at == 1 || share_kept(c, c->stones + (at + 1) % 3 * n_cells, now) < c->least)))
                c->game = c->tally->n_rows + at;
            c->parts[at] = part_of(c->tally, c->game);
        }
        const size_t first = c->parts[at] * n_cells;

        for (size_t p = 0; p < c->n_spots; p++)
            if (c->values[p] != 0)
                c->spots[p].map->sums[first + c->spots[p].cell] += c->values[p];
    }
}

static int add_planes(struct count *c, size_t i, struct error *err)
{
    const char *key = c->shard->archive.arrays[i].key;
    const struct role_binding *binding = c->binding;
    const struct board *board = c->tally->board;
    const uint32_t n_cells = board->n_cells;
    const bool is_packed = binding->role == ROLE_PACKED, is_grid = binding->role == ROLE_GRID;
    const uint64_t n = binding->axes.outer * binding->axes.axis *
                       (is_packed || binding->axes.inner == 0 ? 1 : binding->axes.inner);
    const uint64_t plane_nbits = (binding->axes.axis + 7) / 8 * 8;
    size_t n_maps = 0;
    int status = 0;

    for (struct tally_map *map = c->tally->maps; map < c->tally->maps + c->tally->n_maps; map++)
        if (strcmp(map->key, key) == 0) {
            map->n_rows += c->shard->n_rows;
            n_maps++;
        }
    c->n_spots = 0;
    c->spots = calloc(n_maps * n_cells + 1, sizeof *c->spots);
    c->values = calloc(n_maps * n_cells + 1, sizeof *c->values);
    c->stones = c->finds_games ? calloc(n_cells, 3) : NULL;
    c->least = -1;
    if (c->spots == NULL || c->values == NULL || (c->finds_games && c->stones == NULL))
        status = error_no_memory(err, "the cells of an array");
    /* List the elements of a row that are on the board in a plane of stones. */
    for (uint64_t e = 0; status == 0 && n_maps > 0 && e < n; e++) {
        uint64_t plane, at;

        planes_position(binding, e, &plane, &at);
        const int64_t cell = planes_cell_of(board, binding, at);

        if (cell < 0 || !board->on_board[cell])
            continue;
        for (uint64_t colour = 0; colour < (is_grid ? 2 : 1); colour++) {
            struct tally_map *map = tally_find_map(c->tally, key, is_grid ? colour : plane);

            if (map != NULL)
                c->spots[c->n_spots++] =
                    (struct spot){is_packed ? plane * plane_nbits + at : e, map, (uint32_t)cell};
        }
    }
    if (status == 0 && c->n_spots > 0)
        status = read_array(c, i, -1, visit_planes, err);
    c->finds_games &= c->n_spots == 0;
    free(c->spots);
    free(c->values);
    free(c->stones);
    return status;
}

/* --- policies --- */

/* Weights that are none (negative, NaN, infinite) count as 0. */
static inline double weight_at(const struct row *row, uint64_t e)
{
    const double weight = row_double(row, e);

    return weight > 0 && weight < 1e300 ? weight : 0;
}

/* The entries of a row that have weight, dense or of indices with their values (NULL: each counts
 * as one). Returns how many. */
static uint64_t list_entries(struct count *c, const struct row *row, const struct row *values)
{
    const bool is_dense = c->binding->role == ROLE_POLICY;
    const uint64_t n_all =
        is_dense && row->n > c->binding->n_actions ? c->binding->n_actions : row->n;
    uint64_t n = 0;

    if (n_all >= c->max_entries) {
        c->max_entries = 2 * (n_all + 1);
        c->failed = list_room(&c->entries, c->max_entries, sizeof *c->entries, "a row", NULL) != 0;
        if (c->failed)
            return 0;
    }
    for (uint64_t e = 0; e < n_all; e++) {
        const int64_t action = is_dense ? (int64_t)e : row_int(row, e);
        const double weight = is_dense         ? weight_at(row, e)
                              : values == NULL ? 1
                              : e < values->n  ? weight_at(values, e)
                                               : 0;

        c->entries[n] = (struct entry){action, weight};
        n += weight != 0 && action >= 0; /* without a branch that nobody can foresee */
    }
    return n;
}

static void visit_policy(struct count *c, const struct batch *rows, const struct batch *others)
{
    const size_t n_cells = c->tally->board->n_cells;

    for (uint64_t r = 0; r < rows->n; r++) {
        const struct row row = batch_row(rows, r);
        const struct row value = others != NULL ? batch_row(others, r) : (struct row){0};
        double *sums = c->map != NULL ? c->map->sums + c->parts[rows->first + r] * n_cells : NULL;
        const uint64_t n = list_entries(c, &row, others != NULL ? &value : NULL);
        double total = 0, largest = 0, entropy = 0;

        for (uint64_t k = 0; k < n; k++) {
            total += c->entries[k].weight;
            largest = c->entries[k].weight > largest ? c->entries[k].weight : largest;
        }
        for (uint64_t k = 0; k < n; k++) {
            const uint64_t action = (uint64_t)c->entries[k].action;
            const double share = c->entries[k].weight / total;

            entropy -= share * log(share);
            if (sums != NULL && action < c->binding->n_actions && c->cells[action] >= 0)
                sums[c->cells[action]] += share;
        }
        if (n == 0)
            continue;
        c->policy->n_rows++;
        c->policy->entropy += entropy;
        c->policy->top_share += largest / total;
        if (c->map != NULL)
            c->map->n_rows++;
    }
}

static int add_policy(struct count *c, size_t i, struct error *err)
{
    const char *key = c->shard->archive.arrays[i].key;
    const bool has_values = c->binding->role == ROLE_POLICY_INDEX && c->binding->value_array >= 0;
    int status;

    c->policy = NULL;
    for (size_t k = 0; k < c->tally->n_policies; k++)
        if (strcmp(c->tally->policies[k].key, key) == 0)
            c->policy = &c->tally->policies[k];
    if (c->policy == NULL)
        return 0;
    c->map = tally_find_map(c->tally, key, TALLY_NO_PLANE);
    c->cells = calloc(c->binding->n_actions + 1, sizeof *c->cells);
    if (c->cells == NULL)
        return error_no_memory(err, "the cells of actions");
    for (uint64_t a = 0; c->map != NULL && a < c->binding->n_actions; a++)
        c->cells[a] = (int32_t)planes_cell_of(c->tally->board, c->binding, a);
    status = read_array(c, i, has_values ? c->binding->value_array : -1, visit_policy, err);
    free(c->cells);
    return status;
}

/* --- a shard --- */

int tally_add(struct tally *tally, const struct shard *shard, const struct verify_located *images,
              bool bins, struct error *err)
{
    const size_t n = shard->archive.n_arrays;
    struct count c = {.tally = tally, .shard = shard, .bins = bins};
    size_t n_done = 0; /* arrays whose planes are added */
    bool is_told = true;
    int status = 0;

    if (shard->bindings == NULL || tally->board == NULL ||
        strcmp(shard->found.board->name, tally->board->name) != 0)
        goto out;
    meter_begin(tally->settings->meter, "counting", shard->archive.path);
    for (size_t i = 0; i < n; i++)
        c.n_total += shard->archive.arrays[i].unpacked_nbytes + shard->n_rows;
    status = read_parts(&c, images, &is_told, err);
    c.finds_games = !is_told && !bins;
    for (; c.finds_games && n_done < n && status == 0; n_done++) {
        c.binding = &shard->bindings[n_done];
        if (!shard_is_undecided(shard, n_done) && tally_is_planes(c.binding->role))
            status = add_planes(&c, n_done, err);
    }
    for (size_t i = 0; i < n && status == 0; i++) {
        const enum role role = shard->bindings[i].role;

        c.binding = &shard->bindings[i];
        if (shard_is_undecided(shard, i))
            continue;
        if (tally_is_label(role))
            status = add_label(&c, i, err);
        else if (tally_is_planes(role) && i >= n_done && !bins)
            status = add_planes(&c, i, err);
        else if ((role == ROLE_POLICY || role == ROLE_POLICY_INDEX) && !bins)
            status = add_policy(&c, i, err);
    }
    free(c.parts);
    free(c.transforms);
    free(c.numbers);
    free(c.entries);
out:
    tally->n_rows += bins ? 0 : shard->n_rows;
    return status;
}
