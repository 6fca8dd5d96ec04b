/*
 * layout.h - how the images of a set's sources follow one another.
 */
#ifndef SYMAUG_VERIFY_LAYOUT_H
#define SYMAUG_VERIFY_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define LAYOUT_MAX_IMAGES 64 /* per source */

struct layout {
    uint32_t n_images;   /* per source, the source itself among them */
    uint64_t block_rows; /* sources in blocks, images of a block one transform after the other */
    const uint64_t
        *games;       /* borrowed, or NULL: blocks of different lengths begin at these sources */
    uint64_t n_games; /* games[n_games] is n_sources */
    bool originals_first; /* all first images, and then the layout of the others */
    uint64_t n_sources;
};

/* The row of image k of a source, and the other way round. */
uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k);
void layout_image(const struct layout *layout, uint64_t row, uint64_t *source, uint32_t *k);

#endif
