/* grid_match.c - which of the instruction sets to use. */
#include "codec/grid_match.h"

const struct grid_kernels *const grid_kernels_table[] = {
#if defined(__x86_64__)
    &grid_kernels_avx512,
    &grid_kernels_avx2,
    &grid_kernels_sse2,
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
