/* report.h - the parts of group_report. Only src/board uses this. */
#ifndef SYMAUG_BOARD_REPORT_H
#define SYMAUG_BOARD_REPORT_H

#include "base/error.h"
#include "base/text.h"
#include "board/board.h"

#include <stdbool.h>
#include <stdint.h>

/* A report being written. Every function that adds to it returns 0, or -1 without memory. */
struct report {
    const struct board *board; /* borrowed */
    struct text *out;          /* borrowed */
    struct error *err;         /* borrowed */
    bool ok;                   /* no check failed so far */
    int32_t *products; /* owned, n_transforms squared: the transform that is a, then b; -1 where
                          there is none. NULL as long as some map is no permutation. */
};

/* Add the line of one check, "ok ..." or "FAIL ...". */
int report_verdict(struct report *r, bool passed, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The name of transform t in quotes. */
struct text_quoted report_name(const struct report *r, uint32_t t);

/* Add the table of transforms: order, inverse, edges and lines kept; and check edges and lines. */
int report_transforms(struct report *r);

/* Check every action layout of the board. Needs products. */
int report_actions(struct report *r);

#endif
