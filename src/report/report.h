/*
 * report.h - a page about sets of shards: are they sound, what do their arrays mean, what is on the
 * board, and is it the same in every image. As HTML for people, and as JSON.
 */
#pragma once

#include "show/show.h"
#include "verify/verify.h"

struct report_request {
    const struct settings *settings; /* borrowed, as everything here */
    const char *const *paths;        /* the sets: files, folders of shards, manifests */
    size_t n;
    const char *options; /* of the command line, quoted for a shell: for the commands shown */

    /* Called with each set that is not sound, and the verdict on the page; or NULL. */
    void (*tell)(const struct settings *settings, const char *path, const char *sentence);
};

/*
 * Read all sets, append the page to `page`, and set *json, which the caller owns. Either may be
 * NULL, if it is not wanted. Both say what is wrong with a set. Returns 0; 1 where a set has errors
 * or cannot be checked; the exit code of a file that cannot be read; or -1 with err set for a wrong
 * command line or lack of memory.
 */
int report_make(const struct report_request *request, struct text *page, json_t **json,
                struct error *err);

/*
 * Build a sheet of a row with the stored images of its source that `verify` finds; the request
 * names none. Where the settings say nothing, the set's manifest or zip comment counts. is_pair:
 * draw only the first image and that of the row, or the second. The caller releases a sheet that
 * was built.
 */
int report_sheet_build(struct sheet *sheet, const struct sheet_request *request, bool is_pair,
                       struct error *err);
