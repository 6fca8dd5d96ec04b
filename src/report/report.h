/*
 * report.h - a page about sets of shards: are they sound, what do their arrays mean, what is on the
 * board, and does it look the same in every image. As HTML for people, and as JSON.
 */
#ifndef SYMAUG_REPORT_REPORT_H
#define SYMAUG_REPORT_REPORT_H

#include "base/json_load.h"
#include "engine/settings.h"

struct report_request {
    const struct settings *settings; /* borrowed, as everything here */
    const char *const *paths;        /* the sets: files, folders of shards, manifests */
    size_t n;
    const char *options; /* of the command line, as a shell reads them: for commands to repeat */
};

/*
 * Read all sets, and append the page to `page` (NULL: none is wanted) and set *json, which the
 * caller owns (NULL: none is wanted). What is wrong with a set stands in both. Returns 0, 1 where
 * some set has errors or cannot be checked, the exit code of a file that cannot be read; or -1 with
 * err set: a wrong command line, no memory.
 */
int report_make(const struct report_request *request, struct text *page, json_t **json,
                struct error *err);

#endif
