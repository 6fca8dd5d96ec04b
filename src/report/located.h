/*
 * located.h - a row to be drawn, with the stored images that belong to it.
 */
#ifndef SYMAUG_REPORT_LOCATED_H
#define SYMAUG_REPORT_LOCATED_H

#include "show/sheet.h"
#include "verify/verify.h"

struct located {
    const char *path; /* borrowed */
    uint64_t row;
    struct verify_located images;
    struct settings settings;    /* the user's, and what the set's manifest says */
    struct sheet_stored *stored; /* owned: images.images for the sheet; NULL: none are stored */
};

/* Find the images of a row. What the set says of itself (manifest, zip comment) counts where the
 * settings, which must outlive it, say nothing. The caller closes it, when that succeeded. */
int located_open(struct located *located, const struct settings *settings, const char *path,
                 uint64_t row, struct error *err);
void located_close(struct located *located);

/* Draw them, those of settings.transforms; the caller releases the sheet before it closes this. */
int located_sheet(const struct located *located, struct sheet *sheet, struct error *err);

#endif
