/*
 * count.c - adds a shard to a tally. Arrays are read one at a time, a batch of rows at a time. The
 * part and the transform of each row, a byte each, are found first. Planes and policies are added
 * to their maps element by element, through a list of the cells that elements stand for.
 *
 * Where no array tells games apart, they are guessed: neighbouring rows are mostly of one game, and
 * then not independent. A row continues the game if it keeps most stones of the row before it, or
 * of the one before that (boards may be turned to the player to move). "Most" is half-way between
 * all stones and the share that two distant rows have in common.
 */
#include "report/set.h"

#include "base/meter.h"

#include <float.h>
#include <strings.h>
#include <xxhash.h>

#define BATCH_NBYTES (UINT64_C(1) << 20)
#define NO_TRANSFORM 255 /* no board has so many */

/* An element of a row, and the cell of a map to which it is added. */
struct spot {
    uint64_t element;
    struct tally_map *map;
    uint32_t cell;
};

/* A value of a row. */
struct entry {
    int64_t at; /* the spot, or the action of a policy */
    double value;
};

/* The shard being counted. */
struct count {
    struct tally *tally;
    const struct shard *shard;
    bool bins;
    uint8_t *parts;                     /* owned, one per row */
    uint8_t *transforms;                /* owned, one per row, or NULL */
    const struct role_binding *binding; /* of the array being read */

    double *numbers;       /* owned: of the current row */
    struct entry *entries; /* owned: those that are not 0 */
    size_t n_entries;
    uint64_t max_numbers; /* room in both */
    double *sums;         /* owned: by action, of a row of indices; 0 between rows */

    struct spot *spots; /* owned: of the planes, one after another */
    size_t n_spots;
    uint64_t end; /* the elements of all spots lie from that of the first one up to this */

    struct walk walk;              /* over the rows of */
    const struct array *arrays[2]; /* the array being read, and of indices the values */
    struct csr csr;

    bool finds_games; /* guess games by the stones of the first array that has maps */
    uint64_t *masks;  /* owned: cells with stones, of the last three rows in turn; or NULL */
    size_t n_words;   /* of a mask */
    uint64_t n_done, n_total; /* bytes */
};

/* --- reading an array --- */

/* Begin a walk over array i, and beside it over another one, whose lists begin at the same places,
 * unless that is -1. */
static void begin_walk(struct count *c, size_t i, int beside, struct error *err)
{
    const struct array *arrays = c->shard->archive.arrays;
    const struct role_binding *binding = &c->shard->bindings[i];
    const bool is_csr = binding->sparse == SPARSE_CSR;
    const struct array *offsets = is_csr ? &arrays[binding->offsets_array] : NULL;
    struct reader readers[2];

    c->arrays[0] = &arrays[i];
    c->arrays[1] = &arrays[beside < 0 ? 0 : beside];
    const int status = is_csr ? csr_open(&c->csr, &offsets, c->arrays, 1, err) : 0;
    for (size_t k = 0; k < 2; k++)
        readers[k] =
            (struct reader){.arrays = &c->arrays[k], .n_arrays = 1, .csr = is_csr ? &c->csr : NULL};
    walk_begin(&c->walk, readers,
               status != 0  ? 0
               : beside < 0 ? 1
                            : 2,
               c->tally->settings->budget, err);
    c->walk.status |= status;
}

/* Go to the next row; false after the last one, or when it cannot be read. */
static bool next_row(struct count *c)
{
    if (!walk_next(&c->walk))
        return false;
    c->n_done += c->walk.row_nbytes + 1;
    if (c->walk.at == 0)
        meter_step(c->tally->settings->meter, c->n_done, c->n_total);
    return true;
}

/* Returns 0, or -1 where a row could not be read. */
static int end_walk(struct count *c)
{
    const int status = walk_end(&c->walk);

    csr_release(&c->csr);
    return status;
}

/* Make room for the numbers and entries of a row of n elements. */
static int make_room(struct count *c, uint64_t n, struct error *err)
{
    if (n <= c->max_numbers)
        return 0;
    c->max_numbers = 2 * n;
    return list_room(&c->numbers, 2 * n, sizeof *c->numbers, "a row", err) == 0
               ? list_room(&c->entries, 2 * n + 1, sizeof *c->entries, "a row", err)
               : -1;
}

/* --- parts and transforms --- */

/* Find the array of that name with one element per row, of one of those kinds; -1: none. */
static int find_numbers(const struct shard *shard, const char *name, const char *kinds)
{
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];

        if (strcasecmp(array->key, name) == 0 && array->n_rows == shard->n_rows &&
            strchr(kinds, array->header.dtype.kind) != NULL &&
            array->row_nbytes == array->header.dtype.itemsize)
            return (int)i;
    }
    return -1;
}

/* The number that a row's game is known by. */
static uint64_t game_of(const struct row *row)
{
    size_t n = row->dtype->itemsize;

    if (dtype_is_integer(row->dtype))
        return (uint64_t)row_int(row, 0);
    while (n > 0 && row->bytes[n - 1] == 0) /* as wide as the longest text of a shard */
        n--;
    return XXH3_64bits(row->bytes, n);
}

/* The part of a unit: a game, a source, or a run of similar positions. */
static uint8_t part_of(const struct tally *tally, uint64_t unit)
{
    return (uint8_t)((unit * UINT64_C(0x9e3779b97f4a7c15) >> 32) % tally->n_parts);
}

/* Find the part of each row, by its game or source, and its transform. Where nothing tells games
 * apart, they are to be guessed. */
static int read_parts(struct count *c, const struct verify_located *images, struct error *err)
{
    static const char *const names[] = {"game_id", "game_ids", PLAN_SOURCE_KEY};
    const uint64_t n_rows = c->shard->n_rows, *sources = images->sources;
    const int transform = find_numbers(c->shard, PLAN_TRANSFORM_KEY, "iu");
    const bool is_expanded = images->transforms != NULL || transform >= 0;
    int games = -1;

    c->parts = malloc(n_rows + 1);
    c->transforms = is_expanded ? malloc(n_rows + 1) : NULL;
    if (c->parts == NULL || (is_expanded && c->transforms == NULL))
        return error_no_memory(err, "the parts of the rows");
    for (size_t k = 0; k < N_OF(names) && games < 0; k++)
        games = find_numbers(c->shard, names[k], "iuSU");
    const bool has_games = games >= 0, reads = has_games || transform >= 0;
    const struct row *rows = NULL;
    if (reads) {
        begin_walk(c, (size_t)(has_games ? games : transform), has_games ? transform : -1, err);
        rows = c->walk.rows;
    }
    c->finds_games = sources == NULL && !has_games && !c->bins;
    for (uint64_t r = 0; r < n_rows && (!reads || next_row(c)); r++) {
        const uint64_t own = sources != NULL ? sources[r] : c->tally->n_rows + r;

        c->parts[r] = part_of(c->tally, has_games ? game_of(&rows[0]) : own);
        if (!is_expanded)
            continue;
        const uint64_t t =
            transform >= 0 ? (uint64_t)row_int(&rows[has_games], 0) : images->transforms[r];

        c->transforms[r] = t < c->tally->board->n_transforms ? (uint8_t)t : NO_TRANSFORM;
    }
    return end_walk(c);
}

/* Count a value. bins: in a bin, now that `all` has the range of all values. */
static void note_value(struct tally_histogram *h, const struct tally_histogram *all, bool bins,
                       double value)
{
    uint32_t at = 0;

    if (bins) {
        const double width = (all->high - all->low) / TALLY_N_BINS;
        int64_t bin = (int64_t)((value - all->low) / width);

        /* Bins include their lower end, and the last one its upper end, too. */
        bin = bin < 0 ? 0 : bin >= TALLY_N_BINS ? TALLY_N_BINS - 1 : bin;
        if (bin > 0 && value < all->low + width * (double)bin)
            bin--;
        else if (bin + 1 < TALLY_N_BINS && value >= all->low + width * (double)(bin + 1))
            bin++;
        h->counts[bin]++;
        return;
    }
    h->low = h->n == 0 || value < h->low ? value : h->low;
    h->high = h->n == 0 || value > h->high ? value : h->high;
    if (h->is_binned)
        return;
    while (at < h->n && h->values[at] < value)
        at++;
    if (at < h->n && h->values[at] == value) {
        h->counts[at]++;
        return;
    }
    if (h->n == TALLY_MAX_VALUES) {
        h->is_binned = true;
        return;
    }
    memmove(h->values + at + 1, h->values + at, (h->n - at) * sizeof *h->values);
    memmove(h->counts + at + 1, h->counts + at, (h->n - at) * sizeof *h->counts);
    h->values[at] = value;
    h->counts[at] = 1;
    h->n++;
}

static int add_label(struct count *c, size_t i, struct error *err)
{
    struct tally *tally = c->tally;
    struct tally_label *label = NULL;

    for (size_t k = 0; k < tally->n_labels; k++)
        if (strcmp(tally->labels[k].key, c->shard->archive.arrays[i].key) == 0)
            label = &tally->labels[k];
    if (label == NULL || label->role != c->binding->role || (c->bins && !label->all.is_binned))
        return 0;
    if (c->transforms != NULL && label->by_transform == NULL) {
        if (new_items(&label->by_transform, tally->board->n_transforms, "the values of a label",
                      err) != 0)
            return -1;
    }
    begin_walk(c, i, -1, err);
    while (next_row(c)) {
        const uint8_t t = c->transforms != NULL ? c->transforms[c->walk.number] : NO_TRANSFORM;

        for (uint64_t e = 0; e < c->walk.rows->n; e++) {
            const double value = row_double(c->walk.rows, e);

            if (!isfinite(value))
                continue;
            note_value(&label->all, &label->all, c->bins, value);
            if (t != NO_TRANSFORM)
                note_value(&label->by_transform[t], &label->all, c->bins, value);
        }
    }
    tally->needs_bins |= label->all.is_binned;
    return end_walk(c);
}

/* --- planes --- */

/* List what a row adds to the maps of its planes: packed bits as 0 and 1, codes as 1 where they are
 * a stone of the plane's colour. */
static void list_stones(struct count *c, const struct row *row)
{
    const bool is_grid = c->binding->role == ROLE_GRID;
    const bool has_tiles = c->tally->board->family->has_tiles;
    const uint64_t first = c->spots[0].element;
    struct entry *entries = c->entries;
    size_t n = 0;

    if (c->binding->role == ROLE_PACKED)
        for (uint64_t e = first; e < c->end; e++)
            c->numbers[e] = plane_bit(row->bytes, e, c->binding->options & ROLE_LSB);
    else
        row_doubles(row, first, c->end - first, c->numbers + first);
    for (size_t p = 0; p < c->n_spots; p++) {
        double value = c->numbers[c->spots[p].element];

        if (is_grid)
            value = has_tiles                     ? value != 0
                    : c->spots[p].map->plane == 0 ? value == 1
                                                  : value == 2 || value == -1;
        entries[n] = (struct entry){(int64_t)p, value};
        n += value != 0 && fabs(value) <= DBL_MAX; /* without a branch that nobody can foresee */
    }
    c->n_entries = n;
}

/* Mark the cells of the stones that were listed last. */
static void mark_stones(const struct count *c, uint64_t *mask)
{
    memset(mask, 0, c->n_words * sizeof *mask);
    for (const struct entry *stone = c->entries; stone < c->entries + c->n_entries; stone++) {
        const uint32_t cell = c->spots[stone->at].cell;

        mask[cell / 64] |= UINT64_C(1) << cell % 64;
    }
}

/* The share of one row's stones that another row has, too. */
static double share_kept(const struct count *c, const uint64_t *before, const uint64_t *after)
{
    int n = 0, n_kept = 0;

    for (size_t i = 0; i < c->n_words; i++) {
        n += __builtin_popcountll(before[i]);
        n_kept += __builtin_popcountll(before[i] & after[i]);
    }
    return n > 0 ? (double)n_kept / n : 1;
}

/* The share of stones that rows half a batch apart have in common, on average. */
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

static int add_planes(struct count *c, size_t i, struct error *err)
{
    const struct array *array = &c->shard->archive.arrays[i];
    const struct board *board = c->tally->board;
    const struct planes_form form = planes_form_of(c->binding, &array->header.dtype);
    const bool is_grid = c->binding->role == ROLE_GRID;
    struct tally_map *const maps = c->tally->maps, *const end = maps + c->tally->n_maps;
    double least = -1; /* share of stones kept within a game, at least; not known yet */
    uint64_t game = 0; /* of the current row */
    int status = 0;

    c->n_spots = c->end = 0;
    c->n_words = board->n_cells / 64 + 1;
    c->masks = c->finds_games ? calloc(c->n_words, 3 * sizeof *c->masks) : NULL;
    if (c->finds_games && c->masks == NULL)
        status = error_no_memory(err, "the cells of an array");
    /* List the elements of a row that are on the board, in planes of stones. */
    for (struct tally_map *map = maps; map < end && status == 0; map++) {
        const uint64_t plane = is_grid ? 0 : map->plane;

        if (strcmp(map->key, array->key) != 0)
            continue;
        map->n_rows += c->shard->n_rows;
        status = list_room(&c->spots, c->n_spots + board->n_cells, sizeof *c->spots,
                           "the cells of an array", err);
        for (uint64_t at = 0; status == 0 && plane < form.n_planes && at < form.axis; at++) {
            const int64_t cell = planes_cell_of(board, c->binding, at);
            const uint64_t element = planes_index(&form, plane, at);

            if (cell < 0 || !board->on_board[cell])
                continue;
            c->spots[c->n_spots++] = (struct spot){element, map, (uint32_t)cell};
            c->end = element >= c->end ? element + 1 : c->end;
        }
    }
    if (status == 0 && c->n_spots > 0)
        status = make_room(c, c->end > c->n_spots ? c->end : c->n_spots, err);
    if (status == 0 && c->n_spots > 0)
        begin_walk(c, i, -1, err);
    if (c->walk.row_nbytes > 0)
        c->walk.at_once = BATCH_NBYTES / c->walk.row_nbytes + 1;
    while (status == 0 && c->n_spots > 0 && next_row(c)) {
        const uint64_t at = c->walk.number;

        if (c->masks != NULL && least < 0)
            least = (1 + common_share(c, c->walk.batches)) / 2;
        list_stones(c, c->walk.rows);
        if (c->masks != NULL) {
            const uint64_t *one = c->masks + (at + 2) % 3 * c->n_words;
            const uint64_t *two = c->masks + (at + 1) % 3 * c->n_words;
            uint64_t *now = c->masks + at % 3 * c->n_words;

            mark_stones(c, now);
            if (at == 0 ||
                (share_kept(c, one, now) < least && (at == 1 || share_kept(c, two, now) < least)))
                game = c->tally->n_rows + at;
            c->parts[at] = part_of(c->tally, game);
        }
        const size_t first = c->parts[at] * (size_t)board->n_cells;
        for (const struct entry *e = c->entries; e < c->entries + c->n_entries; e++) {
            const struct spot *spot = &c->spots[e->at];

            spot->map->sums[first + spot->cell] += e->value;
        }
    }
    c->finds_games &= c->n_spots == 0;
    free(c->masks);
    return end_walk(c) != 0 ? -1 : status;
}

/* --- policies --- */

/* List the entries of a policy's row that have weight: dense, or indices with values (NULL: each
 * has weight 1). Negative, NaN and infinite weights count as 0. */
static int list_weights(struct count *c, const struct row *row, const struct row *values,
                        struct error *err)
{
    const bool is_dense = c->binding->role == ROLE_POLICY;
    const struct row *from = is_dense ? row : values;
    const uint64_t n = is_dense ? smaller(row->n, c->binding->n_actions) : row->n;
    const uint64_t n_weights = from == NULL ? 0 : smaller(from->n, n);
    size_t n_found = 0;

    if (make_room(c, n, err) != 0)
        return -1;
    if (n_weights > 0)
        row_doubles(from, 0, n_weights, c->numbers);
    const double *numbers = c->numbers;
    struct entry *entries = c->entries;
    for (uint64_t e = 0; e < n; e++) {
        const int64_t action = is_dense ? (int64_t)e : row_int(row, e);
        const double weight = from == NULL ? 1 : e < n_weights ? numbers[e] : 0;

        entries[n_found] = (struct entry){action, weight};
        /* No branch to mispredict. */
        n_found += (weight > 0) & (weight < 1e300) & (action >= 0);
    }
    c->n_entries = n_found;
    if (is_dense)
        return 0;
    /* Weights of an action that is named more than once are added up. */
    const int64_t n_actions = (int64_t)c->binding->n_actions;
    for (size_t k = 0; k < n_found; k++)
        if (entries[k].at < n_actions)
            c->sums[entries[k].at] += entries[k].value;
    c->n_entries = 0;
    for (size_t k = 0; k < n_found; k++) {
        struct entry entry = entries[k];

        if (entry.at < n_actions) {
            entry.value = c->sums[entry.at];
            c->sums[entry.at] = 0;
        }
        entries[c->n_entries] = entry;
        c->n_entries += entry.value > 0;
    }
    return 0;
}

static int add_policy(struct count *c, size_t i, struct error *err)
{
    const struct role_binding *binding = c->binding;
    const char *key = c->shard->archive.arrays[i].key;
    const size_t n_cells = c->tally->board->n_cells;
    const int values = binding->role == ROLE_POLICY_INDEX ? binding->value_array : -1;
    const struct walk *walk = &c->walk;
    struct tally_map *map = tally_find_map(c->tally, key, TALLY_NO_PLANE);
    struct tally_policy *policy = NULL;

    for (size_t k = 0; k < c->tally->n_policies; k++)
        if (strcmp(c->tally->policies[k].key, key) == 0)
            policy = &c->tally->policies[k];
    if (policy == NULL)
        return 0;
    int32_t *cells = calloc(binding->n_actions + 1, sizeof *cells); /* of each action; -1: none */
    c->sums = calloc(binding->n_actions + 1, sizeof *c->sums);
    begin_walk(c, i, values, err);
    if (cells == NULL || c->sums == NULL)
        c->walk.status = error_no_memory(err, "the cells of actions");
    for (uint64_t a = 0; cells != NULL && map != NULL && a < binding->n_actions; a++)
        cells[a] = (int32_t)planes_cell_of(c->tally->board, binding, a);
    while (cells != NULL && next_row(c)) {
        double *sums = map != NULL ? map->sums + c->parts[walk->number] * n_cells : NULL;
        double total = 0, largest = 0, entropy = 0;

        if (list_weights(c, &walk->rows[0], values >= 0 ? &walk->rows[1] : NULL, err) != 0) {
            c->walk.status = -1;
            break;
        }
        for (size_t k = 0; k < c->n_entries; k++) {
            total += c->entries[k].value;
            largest = c->entries[k].value > largest ? c->entries[k].value : largest;
        }
        for (size_t k = 0; k < c->n_entries; k++) {
            const uint64_t action = (uint64_t)c->entries[k].at;
            const double share = c->entries[k].value / total;

            entropy -= share * log(share);
            if (sums != NULL && action < binding->n_actions && cells[action] >= 0)
                sums[cells[action]] += share;
        }
        if (c->n_entries == 0)
            continue;
        policy->n_rows++;
        policy->entropy += entropy;
        policy->top_share += largest / total;
        if (map != NULL)
            map->n_rows++;
    }
    free(cells);
    free(c->sums);
    return end_walk(c);
}

int tally_add(struct tally *tally, const struct shard *shard, const struct verify_located *images,
              bool bins, struct error *err)
{
    const size_t n = shard->archive.n_arrays;
    struct count c = {.tally = tally, .shard = shard, .bins = bins};
    int status = 0;

    if (shard->bindings == NULL || tally->board == NULL ||
        strcmp(shard->found.board->name, tally->board->name) != 0)
        goto out;
    meter_begin(tally->settings->meter, "counting", shard->archive.path);
    for (size_t i = 0; i < n; i++)
        c.n_total += shard->archive.arrays[i].unpacked_nbytes + shard->n_rows;
    status = read_parts(&c, images, err);
    /* Planes come first: the parts of policies may depend on their stones. */
    for (size_t k = 0; k < 2 * n && status == 0; k++) {
        const size_t i = k % n;
        const enum role role = shard->bindings[i].role;

        c.binding = &shard->bindings[i];
        if (shard_is_undecided(shard, i) || role_is_on_cells(role) != (k < n))
            continue;
        if (tally_is_label(role))
            status = add_label(&c, i, err);
        else if (role_is_on_cells(role) && !bins)
            status = add_planes(&c, i, err);
        else if ((role == ROLE_POLICY || role == ROLE_POLICY_INDEX) && !bins)
            status = add_policy(&c, i, err);
    }
    free(c.parts);
    free(c.transforms);
    free(c.spots);
    free(c.entries);
    free(c.numbers);
out:
    tally->n_rows += bins ? 0 : shard->n_rows;
    return status;
}
