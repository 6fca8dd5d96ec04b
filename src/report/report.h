/*
 * report.h - a page about sets of shards: are they sound, what do their arrays mean, what is on the
 * board, and does it look the same in every image. As HTML for people, and as JSON.
 */
#pragma once

#include "base/json_load.h"
#include "show/show.h"
#include "verify/verify.h"

struct report_request {
    const struct settings *settings; /* borrowed, as everything here */
    const char *const *paths;        /* the sets: files, folders of shards, manifests */
    size_t n;
    const char *options; /* of the command line, as a shell reads them: for commands to repeat */

    /* Called with each set that is not sound, and what the page says of it; or NULL. */
    void (*tell)(const struct settings *settings, const char *path, const char *sentence);
};

/*
 * Read all sets, and append the page to `page` (NULL: none is wanted) and set *json, which the
 * caller owns (NULL: none is wanted). What is wrong with a set stands in both. Returns 0, 1 where
 * some set has errors or cannot be checked, the exit code of a file that cannot be read; or -1 with
 * err set: a wrong command line, no memory.
 */
int report_make(const struct report_request *request, struct text *page, json_t **json,
                struct error *err);

/* A sheet of a row with the stored images that `verify` finds. */
struct report_sheet {
    struct sheet sheet;
    struct verify_located located; /* what the set says of itself: the sheet borrows it */
};

/*
 * Build it; the request names no stored images. What the set says of itself (manifest, zip comment)
 * counts where the settings, which must outlive the sheet, say nothing. is_pair: draw no more than
 * the first image and that of the row (or the second one). The caller releases it, when that
 * succeeded.
 */
int report_sheet_build(struct report_sheet *s, const struct sheet_request *request, bool is_pair,
                       struct error *err);
void report_sheet_release(struct report_sheet *s);
