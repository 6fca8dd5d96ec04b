/*
 * layout.c - see layout.h. The last block may be shorter than the others.
 */
#include "verify/layout.h"

static uint64_t rows_of_block(const struct layout *layout, uint64_t first)
{
    const uint64_t left = layout->n_sources - first;

    return left < layout->block_rows ? left : layout->block_rows;
}

uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k)
{
    const uint64_t first = source - source % layout->block_rows;

    if (!layout->originals_first)
        return first * layout->n_images + k * rows_of_block(layout, first) + source - first;
    if (k == 0)
        return source;
    return layout->n_sources + first * (layout->n_images - 1) +
           (k - 1) * rows_of_block(layout, first) + source - first;
}

void layout_image(const struct layout *layout, uint64_t row, uint64_t *source, uint32_t *k)
{
    const uint32_t n = layout->n_images - layout->originals_first;
    uint64_t first, in_block, rows;

    if (layout->originals_first && row < layout->n_sources) {
        *source = row;
        *k = 0;
        return;
    }
    if (layout->originals_first)
        row -= layout->n_sources;
    first = row / (layout->block_rows * n) * layout->block_rows;
    in_block = row - first * n;
    rows = rows_of_block(layout, first);
    *source = first + in_block % rows;
    *k = (uint32_t)(in_block / rows) + layout->originals_first;
}
