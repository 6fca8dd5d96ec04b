/* action_image.h - where a transform sends one action of a layout, for tests. */
#pragma once

#include "board/actions.h"

static inline uint32_t action_image(const struct action_layout *layout, const struct board *board,
                                    uint32_t t, uint64_t action)
{
    uint32_t *images = calloc(layout->length(layout, board), sizeof *images);

    if (images == NULL)
        abort();
    layout->images(layout, board, t, images);
    const uint32_t image = images[action];
    free(images);
    return image;
}
