/*
 * layout.c - arithmetic of layouts: which row holds image k of a source, and back, without a table.
 * Sources come in blocks, and in a block one transform follows the other; the last block may be
 * shorter, or each block has a length of its own (games). All first images may stand in front of
 * everything.
 */
#include "verify/layout.h"

#include <stddef.h>

/* The block that holds a source. */
struct block {
    uint64_t first, n;
};

static struct block block_of(const struct layout *layout, uint64_t source)
{
    uint64_t low = 0, high = layout->n_games;
    struct block block = {source, layout->block_rows};

    if (layout->games == NULL) {
        block.first -= source % layout->block_rows;
        if (block.n > layout->n_sources - block.first)
            block.n = layout->n_sources - block.first;
        return block;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        if (layout->games[middle] <= source)
            low = middle;
        else
            high = middle;
    }
    return (struct block){layout->games[low], layout->games[low + 1] - layout->games[low]};
}

uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k)
{
    const struct block block = block_of(layout, source);
    const uint32_t n = layout->n_images - layout->originals_first;

    if (layout->originals_first && k == 0)
        return source;
    return (layout->originals_first ? layout->n_sources : 0) + block.first * n +
           (k - layout->originals_first) * block.n + source - block.first;
}

void layout_image(const struct layout *layout, uint64_t row, uint64_t *source, uint32_t *k)
{
    const uint32_t n = layout->n_images - layout->originals_first;
    struct block block;

    if (layout->originals_first && row < layout->n_sources) {
        *source = row;
        *k = 0;
        return;
    }
    if (layout->originals_first)
        row -= layout->n_sources;
    block = block_of(layout, row / n); /* the row of a block's image is in that block's range */
    row -= block.first * n;
    *source = block.first + row % block.n;
    *k = (uint32_t)(row / block.n) + layout->originals_first;
}
