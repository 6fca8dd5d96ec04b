/*
 * sheet.h - a contact sheet: all images of one row as pictures, on one scale.
 */
#ifndef SYMAUG_SHOW_SHEET_H
#define SYMAUG_SHOW_SHEET_H

#include "engine/plan.h"
#include "show/picture.h"
#include "show/shape.h"

/* A stored image: row `row` of the shard is the image of the group's source under `transform`. */
struct sheet_stored {
    uint64_t row;
    uint32_t transform;
};

struct sheet_request {
    const char *path;
    uint64_t row;
    const struct settings *settings;   /* borrowed: board, roles, conventions, transforms */
    const struct sheet_stored *stored; /* borrowed: the images of an expanded set that belong
                                          together, by transform; or NULL: images are computed */
    size_t n_stored;
};

struct sheet {
    struct plan plan;
    struct shape shape;
    uint64_t row;
    bool is_stored;
    struct picture *pictures; /* owned */
    size_t n_pictures;
    size_t n_faulty;   /* pictures that differ from what is recomputed */
    double most_share; /* of any cell, in any picture */
    struct text title; /* owned: two lines */
};

/*
 * Read the row, make its images and what is to be seen of them. A row that is not there is
 * ERROR_DATA, saying how many there are. The caller releases the sheet.
 */
int sheet_build(struct sheet *sheet, const struct sheet_request *request, struct error *err);
void sheet_release(struct sheet *sheet);

/* A picture's heading, "3 rotate-180", with a word about colours and its row where it is stored. */
int sheet_heading(const struct sheet *sheet, const struct picture *picture, struct text *heading,
                  struct error *err);

#endif
