/*
 * tally.c - sets up a tally and evaluates it; count.c adds the rows. A tally has an item for each
 * label and policy, and a map for each plane of stones and each policy with cells. To see whether
 * the data is symmetric, the mean maps of a set are compared, for every transform, with those of
 * its image, cell by cell.
 *
 * This is a sign-flip test. Rows are divided into independent parts (of whole games, or sources).
 * In each part, d is the difference between a cell and its image; if the game is symmetric, d is as
 * likely as -d. So |sum of d| / sqrt(sum of d * d) is compared with its values under random signs
 * of the parts, a throw of which holds for all cells and transforms. Only the largest value of a
 * throw counts, and the limit is exceeded by one throw in 200: this corrects for the number of
 * cells and for their correlation. The random numbers are fixed.
 */
#include "report/set.h"

#define MIN_PARTS 16

struct tally_map *tally_find_map(const struct tally *tally, const char *key, uint64_t plane)
{
    for (size_t i = 0; i < tally->n_maps; i++)
        if (strcmp(tally->maps[i].key, key) == 0 && tally->maps[i].plane == plane)
            return &tally->maps[i];
    return NULL;
}

/* List the planes of stones of array i, in order. Returns how many. */
static size_t stone_planes(const struct shard *shard, size_t i, uint64_t planes[64])
{
    const struct role_binding *binding = &shard->bindings[i];
    const struct board *board = shard->found.board;
    const bool is_grid = binding->role == ROLE_GRID, has_tiles = board->family->has_tiles;
    struct planes_form form = planes_frame_of(binding, &shard->archive.arrays[i].header.dtype);
    const uint64_t n = planes_of_players(board, &shard->conventions, &form);
    const uint64_t n_planes = is_grid ? (has_tiles ? 1U : 2U) : form.n_planes;
    size_t n_found = 0;

    if (binding->role == ROLE_PLANES && board->family->packed_stones > 0) /* stones are packed */
        return 0;
    for (uint64_t p = 0; p < n_planes && n_found < 64; p++)
        if (is_grid || p - form.stones[0] < (n > 0 ? n : 1) || p - form.stones[1] < n)
            planes[n_found++] = p;
    return n_found;
}

/* Add a map for each plane of stones of an array, or for a policy, and find which of them takes the
 * place of another under each transform. */
static int add_maps(struct tally *tally, const struct shard *shard, size_t i, struct error *err)
{
    const struct board *board = tally->board;
    const struct role_binding *binding = &shard->bindings[i];
    const struct array *array = &shard->archive.arrays[i];
    const size_t first = tally->n_maps;
    uint64_t planes[64] = {TALLY_NO_PLANE};
    const size_t n = role_is_on_cells(binding->role) ? stone_planes(shard, i, planes) : 1;
    struct spec_maker maker = {.board = board, .conventions = &shard->conventions};
    struct spec spec = {0};
    struct error why = {0};

    if (n == 0)
        return 0;
    if (list_room(&tally->maps, first + n, sizeof *tally->maps, "maps", err) != 0)
        return -1;
    for (size_t p = 0; p < n; p++)
        tally->maps[tally->n_maps++] = (struct tally_map){.key = array->key, .plane = planes[p]};
    const bool is_known = spec_init(&spec, &maker, array, binding, &why) == 0;
    /* The codes of a grid name colours, unless the planes are relative to the player to move. */
    const bool swaps_codes = binding->role == ROLE_GRID &&
                             shard->conventions.planes != PLANES_MOVER &&
                             shard->conventions.planes != PLANES_CANONICAL;
    for (size_t m = first; m < tally->n_maps && why.kind != ERROR_INTERNAL; m++) {
        struct tally_map *own = &tally->maps[m];

        own->partner = calloc(board->n_transforms, sizeof *own->partner);
        if (own->partner == NULL)
            error_no_memory(&why, "maps");
        for (uint32_t t = 0; own->partner != NULL && t < board->n_transforms; t++) {
            const struct tally_map *other = own;

            if (swaps_codes && board->transforms[t].swaps_colours)
                other = tally_find_map(tally, own->key, 1 - own->plane);
            else if (is_known && own->plane < spec.n_planes && !spec.steps[t].is_unknown)
                other = tally_find_map(tally, own->key, spec_plane_to(&spec, t, own->plane));
            own->partner[t] = (uint32_t)((other != NULL ? other : own) - tally->maps);
        }
    }
    spec_release(&spec);
    spec_maker_release(&maker);
    return why.kind == ERROR_INTERNAL ? error_pass(err, &why) : 0;
}

/* Canonical planes are turned so that the player to move always joins the same edges: what a
 * transform that swaps colours does to them is what its product with a swap does, which swaps none.
 */
static void find_images(struct tally *tally, const struct conventions *conventions)
{
    const struct board *board = tally->board;
    uint32_t swap = 0;

    while (swap < board->n_transforms && !board->transforms[swap].swaps_colours)
        swap++;
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        const bool repeats =
            conventions->planes == PLANES_CANONICAL && board->transforms[t].swaps_colours;
        const uint32_t image = repeats ? board->compose[t * board->n_transforms + swap] : t;

        tally->dst[t] = board->transforms[image].dst;
    }
}

int tally_init(struct tally *tally, const struct shard *shard, const struct settings *settings,
               struct error *err)
{
    const size_t n = shard->archive.n_arrays;
    int status = 0;

    *tally = (struct tally){.settings = settings, .n_parts = TALLY_MAX_PARTS};
    if (shard->found.board == NULL || shard->bindings == NULL)
        return 0;
    tally->board = shard->found.board;
    find_images(tally, &shard->conventions);
    if (new_items(&tally->labels, n + 1, "labels", err) != 0 ||
        new_items(&tally->policies, n + 1, "labels", err) != 0)
        return -1;
    for (size_t i = 0; i < n && status == 0; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const struct role_binding *b = &shard->bindings[i];
        const bool is_number = dtype_is_number(&array->header.dtype);
        bool has_maps = role_is_on_cells(b->role) && is_number;

        if (shard_is_undecided(shard, i))
            continue;
        if (tally_is_label(b->role) && is_number)
            tally->labels[tally->n_labels++] =
                (struct tally_label){.key = array->key, .role = b->role};
        if ((b->role == ROLE_POLICY || b->role == ROLE_POLICY_INDEX) &&
            (is_number || b->sparse == SPARSE_OBJECT)) {
            tally->policies[tally->n_policies++] = (struct tally_policy){.key = array->key};
            for (uint64_t a = 0; b->layout != NULL && a < b->n_actions && !has_maps; a++)
                has_maps = planes_cell_of(tally->board, b, a) >= 0;
        }
        if (has_maps)
            status = add_maps(tally, shard, i, err);
    }
    if (status != 0)
        return -1;

    const size_t n_cells = tally->board->n_cells;

    while (tally->n_parts > MIN_PARTS &&
           tally->n_maps * n_cells * tally->n_parts * 8 > settings->max_memory / 4)
        tally->n_parts /= 2;
    for (struct tally_map *map = tally->maps; map < tally->maps + tally->n_maps; map++) {
        if (new_items(&map->sums, n_cells * (tally->n_parts + 3), "maps", err) != 0)
            return -1;
        map->mean = map->sums + n_cells * tally->n_parts;
        map->group = map->mean + n_cells;
        map->z = map->group + n_cells;
    }
    return 0;
}

void tally_release(struct tally *tally)
{
    for (size_t i = 0; i < tally->n_labels; i++)
        free(tally->labels[i].by_transform);
    for (size_t i = 0; i < tally->n_maps; i++) {
        free(tally->maps[i].partner);
        free(tally->maps[i].sums);
    }
    free(tally->labels);
    free(tally->policies);
    free(tally->maps);
    free(tally->evidence);
    *tally = (struct tally){0};
}

/* --- evidence --- */

#define N_THROWS 399
#define N_BEYOND 2    /* throws that may exceed the limit: 2 of 400 */
#define SAME     1e-9 /* relative error of equal sums that were added up in different orders */
#define BLOCK    64   /* cells evaluated at a time */
#define AT_ONCE  4    /* parts whose sums are precomputed for all combinations of their signs */
#define N_SIGNS  (1 << AT_ONCE)

/* The test, a block of cells at a time. */
struct weighing {
    const struct tally *tally;
    uint8_t signs[N_THROWS][TALLY_MAX_PARTS / AT_ONCE]; /* a bit for each part; 1: plus */
    float differences[TALLY_MAX_PARTS][BLOCK];
    float sums[TALLY_MAX_PARTS / AT_ONCE][N_SIGNS][BLOCK];
    double sizes[BLOCK];      /* sqrt(sum of d * d) */
    uint32_t n;               /* cells in the block */
    double largest[N_THROWS]; /* of all blocks so far */
};

static double differ(double a, double b)
{
    return fabs(a - b) > SAME * (fabs(a) + fabs(b)) ? a - b : 0;
}

static void throw_block(struct weighing *w)
{
    const uint32_t n_groups = w->tally->n_parts / AT_ONCE;

    for (uint32_t g = 0; g < n_groups; g++)
        for (uint32_t signs = 0; signs < N_SIGNS; signs++)
            for (uint32_t i = 0; i < BLOCK; i++) {
                float sum = 0;

                for (uint32_t part = 0; part < AT_ONCE; part++)
                    sum += signs >> part & 1 ? w->differences[AT_ONCE * g + part][i]
                                             : -w->differences[AT_ONCE * g + part][i];
                w->sums[g][signs][i] = sum;
            }
    for (uint32_t k = 0; k < N_THROWS && w->n > 0; k++) {
        float sums[BLOCK] = {0};

        for (uint32_t g = 0; g < n_groups; g++)
            for (uint32_t i = 0; i < BLOCK; i++)
                sums[i] += w->sums[g][w->signs[k][g]][i];
        for (uint32_t i = 0; i < w->n; i++)
            if (fabsf(sums[i]) / w->sizes[i] > w->largest[k])
                w->largest[k] = fabsf(sums[i]) / w->sizes[i];
    }
    memset(w->differences, 0, sizeof w->differences);
    w->n = 0;
}

/* Add the differences of a cell to the block. Returns |sum| / size. */
static double weigh_cell(struct weighing *w, const struct tally_map *map, uint32_t t, uint32_t cell)
{
    const struct tally *tally = w->tally;
    const uint32_t n_cells = tally->board->n_cells;
    const double *own = map->sums + cell;
    const double *image = tally->maps[map->partner[t]].sums + tally->dst[t][cell];
    double sum = 0, squares = 0;

    for (size_t part = 0; part < tally->n_parts; part++) {
        const double d = differ(own[part * n_cells], image[part * n_cells]);

        w->differences[part][w->n] = (float)d;
        sum += d;
        squares += d * d;
    }
    if (!(squares > 0) || !isfinite(squares)) {
        for (uint32_t part = 0; part < tally->n_parts; part++)
            w->differences[part][w->n] = 0;
        return 0;
    }
    w->sizes[w->n++] = sqrt(squares);
    if (w->n == BLOCK)
        throw_block(w);
    return fabs(sum) / sqrt(squares);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Compute mean, group and z of a cell. The parts tell how much the difference varies. */
static void compare_with_group(const struct tally *tally, struct tally_map *map, uint32_t cell)
{
    const struct board *board = tally->board;
    const uint32_t n_cells = board->n_cells, n = tally->n_parts;
    double sum = 0, squares = 0, group = 0;

    for (size_t part = 0; part < n; part++) {
        const double own = map->sums[part * n_cells + cell];
        double all = 0;

        for (uint32_t t = 0; t < board->n_transforms; t++)
            all += tally->maps[map->partner[t]].sums[part * n_cells + tally->dst[t][cell]];
        all /= board->n_transforms;
        group += all;
        const double d = differ(own, all);

        map->mean[cell] += own;
        sum += d;
        squares += d * d;
    }
    const double variance = (squares - sum * sum / n) * n / (n - 1.0);

    map->mean[cell] = map->n_rows > 0 ? map->mean[cell] / (double)map->n_rows : NAN;
    map->group[cell] = map->n_rows > 0 ? group / (double)map->n_rows : NAN;
    map->z[cell] = variance > SAME * squares ? sum / sqrt(variance) : NAN;
}

int tally_finish(struct tally *tally, struct error *err)
{
    const struct board *board = tally->board;

    for (struct tally_policy *p = tally->policies; p < tally->policies + tally->n_policies; p++) {
        p->entropy = p->n_rows > 0 ? p->entropy / (double)p->n_rows : NAN;
        p->top_share = p->n_rows > 0 ? p->top_share / (double)p->n_rows : NAN;
    }
    if (tally->n_maps == 0)
        return 0;
    for (size_t m = 0; m < tally->n_maps; m++)
        for (uint32_t cell = 0; cell < board->n_cells; cell++)
            compare_with_group(tally, &tally->maps[m], cell);
    struct weighing *w = calloc(1, sizeof *w);
    tally->evidence = calloc(board->n_transforms, sizeof *tally->evidence);
    if (tally->evidence == NULL || w == NULL) {
        free(w);
        return error_no_memory(err, "the differences of images");
    }
    w->tally = tally;
    for (uint32_t k = 0; k < N_THROWS; k++)
        for (uint32_t part = 0; part < tally->n_parts; part++) {
            /* A fixed sequence of pseudo-random bits (splitmix64). */
            const uint64_t number =
                scramble(k * tally->n_parts + part + UINT64_C(0x9e3779b97f4a7c15));

            w->signs[k][part / AT_ONCE] |= (uint8_t)(number >> 63 << part % AT_ONCE);
        }
    for (uint32_t t = 1; t < board->n_transforms; t++)
        for (size_t m = 0; m < tally->n_maps; m++)
            for (uint32_t cell = 0; cell < board->n_cells; cell++) {
                const uint32_t *dst = tally->dst[t], to = dst[cell];
                const struct tally_map *map = &tally->maps[m];
                const size_t image = map->partner[t];

                /* A cell and its image that take each other's places count once. */
                if (board->on_board[cell] &&
                    !(tally->maps[image].partner[t] == m && dst[to] == cell &&
                      (image < m || (image == m && to < cell))))
                    tally->evidence[t].distance =
                        fmax(tally->evidence[t].distance, weigh_cell(w, map, t, cell));
            }
    throw_block(w);
    qsort(w->largest, N_THROWS, sizeof *w->largest, compare_doubles);
    for (struct tally_evidence *e = tally->evidence; e < tally->evidence + board->n_transforms;
         e++) {
        e->limit = w->largest[N_THROWS - N_BEYOND];
        e->fits = e->distance <= e->limit * (1 + 1e-5); /* throws are summed as floats */
        tally->misfits |= !e->fits;
    }
    free(w);
    return 0;
}
