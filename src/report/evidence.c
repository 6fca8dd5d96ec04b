/*
 * evidence.c - does the data believe the symmetry? For every transform the mean maps of a set are
 * held against those of its image, cell by cell.
 *
 * The rows are cut into parts that have nothing to do with each other (games, or sources, a number
 * of them in each part). In each part the difference d of a
 * cell and its image is taken; if the game is symmetric, d is as likely as -d. So |sum of d| /
 * sqrt(sum of d * d) is compared with what it is when the signs of the parts are thrown at random,
 * the same throw for all cells and all transforms, of which only the largest counts: the limit is
 * what one throw in 200 exceeds, however many cells there are and however they hang together. The
 * throws are always the same.
 */
#include "report/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_THROWS 399
#define N_BEYOND 2    /* throws that may exceed the limit: 2 of 400 */
#define SAME     1e-9 /* relative: what is left when equal numbers are added in another order */
#define BLOCK    64   /* differences that are thrown at a time */

/* Differences of a block of cells, part by part, and what the throws make of them. */
struct weighing {
    const struct tally *tally;
    float *signs;        /* n_throws x n_parts */
    float *differences;  /* n_parts x BLOCK */
    double sizes[BLOCK]; /* sqrt(sum of d * d) */
    uint32_t n;          /* in the block */
    double *largest;     /* of each throw */
};

/* A fixed sequence of well mixed bits (splitmix64). */
static uint64_t mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ number >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ number >> 27) * UINT64_C(0x94d049bb133111eb);
    return number ^ number >> 31;
}

static void throw_block(struct weighing *w)
{
    const uint32_t n_parts = w->tally->n_parts;

    for (uint32_t k = 0; k < N_THROWS && w->n > 0; k++) {
        float sums[BLOCK] = {0};

        for (uint32_t part = 0; part < n_parts; part++) {
            const float sign = w->signs[k * n_parts + part];
            const float *d = w->differences + (size_t)part * BLOCK;

            for (uint32_t i = 0; i < BLOCK; i++)
                sums[i] += sign * d[i];
        }
        for (uint32_t i = 0; i < w->n; i++)
            if (fabsf(sums[i]) / w->sizes[i] > w->largest[k])
                w->largest[k] = fabsf(sums[i]) / w->sizes[i];
    }
    memset(w->differences, 0, (size_t)n_parts * BLOCK * sizeof *w->differences);
    w->n = 0;
}

/* Take the differences of one cell into the block; returns |sum| / size. */
static double weigh_cell(struct weighing *w, const struct tally_map *map, uint32_t t, uint32_t cell)
{
    const struct tally *tally = w->tally;
    const struct tally_map *image = &tally->maps[map->partner[t]];
    const uint32_t n_cells = tally->board->n_cells;
    const uint32_t to = tally->board->transforms[t].dst[cell];
    double sum = 0, squares = 0;

    for (uint32_t part = 0; part < tally->n_parts; part++) {
        const double a = map->sums[(size_t)part * n_cells + cell];
        const double b = image->sums[(size_t)part * n_cells + to];
        const double d = fabs(a - b) > SAME * (fabs(a) + fabs(b)) ? a - b : 0;

        w->differences[(size_t)part * BLOCK + w->n] = (float)d;
        sum += d;
        squares += d * d;
    }
    if (!(squares > 0) || !isfinite(squares)) {
        for (uint32_t part = 0; part < tally->n_parts; part++)
            w->differences[(size_t)part * BLOCK + w->n] = 0;
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

static void weigh(struct weighing *w)
{
    const struct tally *tally = w->tally;
    const struct board *board = tally->board;

    for (uint32_t i = 0; i < N_THROWS * tally->n_parts; i++)
        w->signs[i] = mix(i) >> 63 ? 1.0F : -1.0F;
    for (uint32_t t = 1; t < board->n_transforms; t++) {
        double *distance = &tally->evidence[t].distance;

        for (size_t m = 0; m < tally->n_maps; m++)
            for (uint32_t cell = 0; cell < board->n_cells; cell++)
                if (board->on_board[cell])
                    *distance = fmax(*distance, weigh_cell(w, &tally->maps[m], t, cell));
    }
    throw_block(w);
    qsort(w->largest, N_THROWS, sizeof *w->largest, compare_doubles);
    for (uint32_t t = 1; t < board->n_transforms; t++) {
        struct tally_evidence *e = &tally->evidence[t];

        e->limit = w->largest[N_THROWS - N_BEYOND];
        e->fits = e->distance <= e->limit * (1 + 1e-5); /* throws are added up as floats */
    }
}

/* The mean of a map over the group, and how far it is from the map itself in standard errors: the
 * parts tell how much the difference varies. */
static void compare_with_group(const struct tally *tally, struct tally_map *map, uint32_t cell)
{
    const struct board *board = tally->board;
    const uint32_t n_cells = board->n_cells, n = tally->n_parts;
    double sum = 0, squares = 0, group = 0;

    for (uint32_t part = 0; part < n; part++) {
        const double own = map->sums[(size_t)part * n_cells + cell];
        double all = 0;

        for (uint32_t t = 0; t < board->n_transforms; t++)
            all += tally->maps[map->partner[t]]
                       .sums[(size_t)part * n_cells + board->transforms[t].dst[cell]];
        all /= board->n_transforms;
        group += all;
        const double d = fabs(own - all) > SAME * (fabs(own) + fabs(all)) ? own - all : 0;

        map->mean[cell] += own;
        sum += d;
        squares += d * d;
    }
    const double variance = (squares - sum * sum / n) * n / (n - 1.0);

    map->mean[cell] = map->n_rows > 0 ? map->mean[cell] / (double)map->n_rows : NAN;
    map->group[cell] = map->n_rows > 0 ? group / (double)map->n_rows : NAN;
    map->z[cell] = variance > SAME * squares ? sum / sqrt(variance) : NAN;
}

int tally_weigh(struct tally *tally, struct error *err)
{
    struct weighing w = {.tally = tally};
    int status = 0;

    if (tally->n_maps == 0)
        return 0;
    for (size_t m = 0; m < tally->n_maps; m++)
        for (uint32_t cell = 0; cell < tally->board->n_cells; cell++)
            compare_with_group(tally, &tally->maps[m], cell);
    tally->evidence = calloc(tally->board->n_transforms, sizeof *tally->evidence);
    w.signs = calloc((size_t)N_THROWS * tally->n_parts, sizeof *w.signs);
    w.differences = calloc((size_t)tally->n_parts * BLOCK, sizeof *w.differences);
    w.largest = calloc(N_THROWS, sizeof *w.largest);
    if (tally->evidence == NULL || w.signs == NULL || w.differences == NULL || w.largest == NULL)
        status = error_no_memory(err, "the differences of images");
    else
        weigh(&w);
    free(w.signs);
    free(w.differences);
    free(w.largest);
    return status;
}
