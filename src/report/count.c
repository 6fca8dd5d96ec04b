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

#include "base/meter.h"
#include "engine/plan.h"
#include "shard/batch.h"
#include "show/show.h"

#include <float.h>
#include <math.h>
#include <strings.h>

#define BATCH_NBYTES (UINT64_C(1) << 20)
#define NO_TRANSFORM 255 /* no board has so many */

/* An element of a row, and the place in a part's sums that it is added to. */
struct spot {
    uint64_t element;
    struct tally_map *map;
    uint32_t cell;
};

/* What a row adds there. */
struct stone {
    uint32_t spot;
    double value;
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

    double *room; /* owned: the numbers of the row at hand */
    uint64_t max_room;

    struct spot *spots; /* of planes: owned */
    size_t n_spots;
    uint64_t end;         /* the element after the last one of them; the first one is the least */
    struct stone *stones; /* owned: where the row at hand is not 0 */
    size_t n_stones;

    bool finds_games; /* nothing tells them: by the stones of the first array that has maps */
    uint64_t *masks;  /* owned: of the cells with stones, of three rows by turns; or NULL */
    size_t n_words;   /* of a mask */
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
    const struct array *array;
    struct csr csr;
    struct batch batch;
};

static int source_open(struct source *s, const struct count *c, size_t i, struct error *err)
{
    const struct shard *shard = c->shard;
    const struct role_binding *binding = &shard->bindings[i];

    s->array = &shard->archive.arrays[i];
    s->batch.own = (struct reader){.arrays = &s->array, .n_arrays = 1};
    if (binding->sparse == SPARSE_CSR) {
        const int index = binding->index_array >= 0 ? binding->index_array : (int)i;
        const struct array *offsets = &shard->archive.arrays[shard->bindings[index].offsets_array];

        if (csr_open(&s->csr, &offsets, &s->array, 1, err) != 0)
            return -1;
        s->batch.own.csr = &s->csr;
    }
    return batch_open(&s->batch, c->tally->settings->budget, err);
}

/* Visit all rows of an array, with the same rows of another one beside them (-1: of none). */
static int read_array(struct count *c, size_t i, int other, visit_rows visit, struct error *err)
{
    const uint64_t row_nbytes = c->shard->archive.arrays[i].row_nbytes;
    const uint64_t at_most = row_nbytes > 0 ? BATCH_NBYTES / row_nbytes + 1 : 4096;
    struct source one = {.array = NULL}, two = {.array = NULL};
    int status = source_open(&one, c, i, err);

    if (status == 0 && other >= 0)
        status = source_open(&two, c, (size_t)other, err);
    while (status == 0 && (status = batch_next(&one.batch, at_most, err)) == 0 && one.batch.n > 0) {
        if (other >= 0)
            status = batch_next(&two.batch, one.batch.n, err);
        if (status == 0)
            visit(c, &one.batch, other >= 0 ? &two.batch : NULL);
        if (c->failed)
            status = error_no_memory(err, "a row");
        c->n_done += one.batch.n * (row_nbytes + 1);
        meter_step(c->tally->settings->meter, c->n_done, c->n_total);
    }
    batch_release(&one.batch);
    batch_release(&two.batch);
    csr_release(&one.csr);
    csr_release(&two.csr);
    return status;
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
    const int status = read_array(c, i, -1, visit_label, err);
    tally->needs_bins |= c->label->all.is_binned;
    return status;
}

/* --- planes --- */

/* The numbers of a row between two elements, packed bits as 0 and 1; NULL without memory. */
static const double *get_numbers(struct count *c, const struct row *row, uint64_t first,
                                 uint64_t end)
{
    if (end > c->max_room) {
        c->failed |= list_room(&c->room, end, sizeof *c->room, "a row", NULL) != 0;
        c->max_room = c->failed ? 0 : end;
    }
    if (c->failed)
        return NULL;
    if (c->binding->role == ROLE_PACKED)
        for (uint64_t e = first; e < end; e++)
            c->room[e] = row->bytes[e / 8] >> (c->binding->lsb_first ? e % 8 : 7 - e % 8) & 1;
    else
        row_doubles(row, first, end - first, c->room + first);
    return c->room;
}

/* List what a row adds to the maps of its planes: of codes, whether it is a stone of the colour. */
static void list_stones(struct count *c, const struct row *row)
{
    const bool is_grid = c->binding->role == ROLE_GRID;
    const bool has_tiles = c->tally->board->family->has_tiles;
    const double *numbers = get_numbers(c, row, c->spots[0].element, c->end);
    struct stone *stones = c->stones;
    size_t n = 0;

    for (uint32_t p = 0; p < c->n_spots && numbers != NULL; p++) {
        double value = numbers[c->spots[p].element];

        if (is_grid)
            value = has_tiles                     ? value != 0
                    : c->spots[p].map->plane == 0 ? value == 1
                                                  : value == 2 || value == -1;
        stones[n] = (struct stone){p, value};
        n += value != 0 && fabs(value) <= DBL_MAX; /* without a branch that nobody can foresee */
    }
    c->n_stones = n;
}

/* Where the row whose stones were listed last has some. */
static void mark_stones(const struct count *c, uint64_t *mask)
{
    memset(mask, 0, c->n_words * sizeof *mask);
    for (const struct stone *stone = c->stones; stone < c->stones + c->n_stones; stone++) {
        const uint32_t cell = c->spots[stone->spot].cell;

        mask[cell / 64] |= UINT64_C(1) << cell % 64;
    }
}

/* The share of the stones of one row that another one has, too. */
static double share_kept(const struct count *c, const uint64_t *before, const uint64_t *after)
{
    int n = 0, n_kept = 0;

    for (size_t i = 0; i < c->n_words; i++) {
        n += __builtin_popcountll(before[i]);
        n_kept += __builtin_popcountll(before[i] & after[i]);
    }
    return n > 0 ? (double)n_kept / n : 1;
}

/* What rows have in common that are half a batch apart. */
static double common_share(struct count *c, const struct batch *batch)
{
    const uint64_t half = batch->n / 2;
    double sum = 0;

    for (uint64_t r = 0; r < half; r++) {
        for (uint64_t k = 0; k < 2; k++) {
            const struct row row = batch_row(batch, r + k * half);

            list_stones(c, &row);
            mark_stones(c, c->masks + k * c->n_words);
        }
        sum += share_kept(c, c->masks, c->masks + c->n_words);
    }
    return half > 0 ? sum / (double)half : 1;
}

static void visit_planes(struct count *c, const struct batch *rows, const struct batch *others)
{
    (void)others;
    if (c->masks != NULL && c->least < 0)
        c->least = (1 + common_share(c, rows)) / 2;
    for (uint64_t r = 0; r < rows->n; r++) {
        const uint64_t at = rows->first + r;
        const struct row row = batch_row(rows, r);

        list_stones(c, &row);
        if (c->masks != NULL) {
            const uint64_t *one = c->masks + (at + 2) % 3 * c->n_words;
            const uint64_t *two = c->masks + (at + 1) % 3 * c->n_words;
            uint64_t *now = c->masks + at % 3 * c->n_words;

            mark_stones(c, now);
            if (at == 0 || (share_kept(c, one, now) < c->least &&
                            (at == 1 || share_kept(c, two, now) < c->least)))
                c->game = c->tally->n_rows + at;
            c->parts[at] = part_of(c->tally, c->game);
        }
        const size_t first = c->parts[at] * (size_t)c->tally->board->n_cells;

        for (const struct stone *stone = c->stones; stone < c->stones + c->n_stones; stone++) {
            const struct spot *spot = &c->spots[stone->spot];

            spot->map->sums[first + spot->cell] += stone->value;
        }
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
    c->n_words = n_cells / 64 + 1;
    c->spots = calloc(n_maps * n_cells + 1, sizeof *c->spots);
    c->stones = calloc(n_maps * n_cells + 1, sizeof *c->stones);
    c->masks = c->finds_games ? calloc(c->n_words, 3 * sizeof *c->masks) : NULL;
    c->least = -1;
    if (c->spots == NULL || c->stones == NULL || (c->finds_games && c->masks == NULL))
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
            const uint64_t element = is_packed ? plane * plane_nbits + at : e;

            if (map == NULL)
                continue;
            c->spots[c->n_spots++] = (struct spot){element, map, (uint32_t)cell};
            c->end = element + 1;
        }
    }
    if (status == 0 && c->n_spots > 0)
        status = read_array(c, i, -1, visit_planes, err);
    c->finds_games &= c->n_spots == 0;
    free(c->spots);
    free(c->stones);
    free(c->masks);
    return status;
}

/* --- policies --- */

/* The entries of a row that have weight, dense or of indices with their values (NULL: each counts
 * as one); weights that are none (negative, NaN, infinite) count as 0. Returns how many. */
static uint64_t list_entries(struct count *c, const struct row *row, const struct row *values)
{
    const bool is_dense = c->binding->role == ROLE_POLICY;
    const struct row *from = is_dense ? row : values;
    const uint64_t n_all =
        is_dense && row->n > c->binding->n_actions ? c->binding->n_actions : row->n;
    const uint64_t n_weights = from == NULL ? 0 : from->n < n_all ? from->n : n_all;
    const double *weights = n_weights > 0 ? get_numbers(c, from, 0, n_weights) : NULL;
    uint64_t n = 0;

    if (n_all >= c->max_entries) {
        c->max_entries = 2 * (n_all + 1);
        c->failed |= list_room(&c->entries, c->max_entries, sizeof *c->entries, "a row", NULL) != 0;
    }
    for (uint64_t e = 0; e < n_all && !c->failed; e++) {
        const int64_t action = is_dense ? (int64_t)e : row_int(row, e);
        const double weight = values == NULL && !is_dense ? 1 : e < n_weights ? weights[e] : 0;

        c->entries[n] = (struct entry){action, weight};
        /* Without a branch that nobody can foresee. */
        n += (weight > 0) & (weight < 1e300) & (action >= 0);
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
    const int status =
        read_array(c, i, has_values ? c->binding->value_array : -1, visit_policy, err);
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
    free(c.room);
out:
    tally->n_rows += bins ? 0 : shard->n_rows;
    return status;
}
