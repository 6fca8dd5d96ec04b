/*
 * located.c - looks for a row's images as `verify` does, and has `show` draw them.
 */
#include "report/located.h"

#include <stdlib.h>

int located_open(struct located *located, const struct settings *settings, const char *path,
                 uint64_t row, struct error *err)
{
    const struct verify_request request = {.settings = settings, .exact_manifest = true};
    struct verify_located *images = &located->images;

    *located = (struct located){.path = path, .row = row};
    if (verify_locate(&request, path, row, images, err) != 0)
        return -1;
    located->settings = images->recall.settings; /* borrowed */
    located->settings.allow_expanded = true;
    if (images->n == 0)
        return 0;
    located->stored = calloc(images->n, sizeof *located->stored);
    if (located->stored == NULL) {
        located_close(located);
        return error_no_memory(err, "images");
    }
    for (size_t k = 0; k < images->n; k++)
        located->stored[k] =
            (struct sheet_stored){images->images[k].row, images->images[k].transform};
    return 0;
}

void located_close(struct located *located)
{
    free(located->stored);
    verify_located_release(&located->images);
}

int located_sheet(const struct located *located, struct sheet *sheet, struct error *err)
{
    const struct sheet_request request = {.path = located->path,
                                          .row = located->row,
                                          .settings = &located->settings,
                                          .stored = located->stored,
                                          .n_stored = located->images.n};

    if (sheet_build(sheet, &request, err) != 0)
        return -1;
    if (located->images.board != NULL)
        return 0;
    sheet_release(sheet); /* a board that is found now, but was not when images were looked for */
    return error_no_memory(err, "board");
}
