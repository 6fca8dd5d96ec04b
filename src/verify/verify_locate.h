/*
 * verify_locate.h - the rows of an expanded set that are images of the same source as a given row,
 * for programs that look at one row.
 */
#ifndef SYMAUG_VERIFY_VERIFY_LOCATE_H
#define SYMAUG_VERIFY_VERIFY_LOCATE_H

#include "verify/lane.h"
#include "verify/verify.h"

struct verify_located {
    struct recall recall; /* the settings of the command line and of the manifest; their board is
                             what it was found to be, NULL when it is not sure */
    char *board;          /* owned: that name */
    struct lane_image *images; /* owned: by transform; NULL when the set is not expanded, or
                                  the row's transform is not known */
    size_t n;
};

/*
 * Find the images of row `row` as verify would: provenance arrays, request->order, the manifest,
 * or the rows themselves. Contents that contradict each other find no images and are no error: who
 * reads the row says what is wrong; a file that cannot be read is one. The caller releases it.
 */
int verify_locate(const struct verify_request *request, const char *path, uint64_t row,
                  struct verify_located *located, struct error *err);

void verify_located_release(struct verify_located *located);

/* Of every row its source and its transform (UINT32_MAX: not known). */
struct verify_images {
    uint64_t n_rows;
    uint64_t *sources;    /* owned; NULL: the set is not expanded */
    uint32_t *transforms; /* owned */
};

/* The same for all rows: 12 bytes each. The caller releases them. */
int verify_images(const struct verify_request *request, const char *path,
                  struct verify_images *images, struct error *err);

void verify_images_release(struct verify_images *images);

#endif
