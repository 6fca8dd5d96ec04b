/* kernel_bench.c - speed of every variant of the gather, in GB/s of output, from and to buffers
 * that stay in the second-level cache. */
#include "engine/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BUFFER_NBYTES 262144
#define REPEATS       7
#define PASSES        20

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The turn of a board by 90 degrees: the map with the least locality; and its inverse behind it. */
static void turn(uint32_t *src, size_t side)
{
    for (size_t r = 0; r < side; r++)
        for (size_t c = 0; c < side; c++)
            src[r * side + c] = (uint32_t)((side - 1 - c) * side + r);
    for (size_t i = 0; i < side * side; i++)
        src[side * side + src[i]] = (uint32_t)i;
}

static double measure(gather_fn *move, const uint32_t *src, size_t n, size_t plane_nbytes,
                      const uint8_t *in, uint8_t *out)
{
    const size_t n_planes = BUFFER_NBYTES / plane_nbytes;
    size_t most = 24576 / (plane_nbytes + 1);
    double best = 1e9;

    most = most > GATHER_TILE_PLANES ? GATHER_TILE_PLANES : most;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const double begin = seconds();
        double taken;

        for (size_t k = 0; k < PASSES * n_planes; k += most) {
            struct gather_tile tile;
            const size_t first = k % (n_planes - most + 1);

            tile.src = src;
            tile.dst = src + n;
            tile.n = n;
            tile.n_planes = most;
            tile.out = out + first * plane_nbytes;
            tile.lsb_first = false;
            for (size_t p = 0; p < most; p++)
                tile.from[p] = in + (first + p) * plane_nbytes;
            move(&tile);
        }
        taken = seconds() - begin;
        best = taken < best ? taken : best;
    }
    return (double)(PASSES * n_planes * plane_nbytes) / best / 1e9;
}

int main(void)
{
    static const size_t sides[] = {8, 9, 13, 15, 19, 25};
    static const size_t bits[GATHER_N_WIDTHS] = {8, 16, 32, 64, 1};
    uint8_t *in = calloc(1, BUFFER_NBYTES), *out = calloc(1, BUFFER_NBYTES + 2048);
    uint32_t src[2 * 625];

    if (in == NULL || out == NULL)
        return 1;
    printf("%-6s %-11s %8s %8s %8s %8s %8s\n", "side", "variant", "8", "16", "32", "64", "bits");
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
        turn(src, sides[s]);
        for (size_t v = gather_kernels_n_table; v-- > 0;) {
            const struct gather_kernels *kernels = &gather_kernels_table[v];

            if (!kernels->is_supported())
                continue;
            printf("%-6zu %-11s", sides[s], kernels->name);
            for (size_t w = 0; w < GATHER_N_WIDTHS; w++) {
                const size_t n = sides[s] * sides[s];

                printf(" %8.2f",
                       measure(kernels->move[w], src, n, (n * bits[w] + 7) / 8, in, out + 2000));
            }
            printf("\n");
        }
    }
    free(in);
    free(out);
    return 0;
}
