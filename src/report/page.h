/*
 * page.h - what the files that write the page share: text that is appended, with what HTML gives a
 * meaning written as references. Only for src/report.
 */
#ifndef SYMAUG_REPORT_PAGE_H
#define SYMAUG_REPORT_PAGE_H

#include "report/set.h"

/* A page being written. Appending may fail for lack of memory: the error is kept in err, and
 * nothing is added from then on. */
struct page {
    struct text *out;             /* borrowed */
    struct error *err;            /* borrowed */
    const struct report_set *set; /* borrowed */
    bool failed;
};

/* Append printf-style, as it is. */
void page_put(struct page *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Append text, or a name (what no terminal shows is written as \xNN), in which nothing is HTML. */
void page_put_text(struct page *p, const char *text);
void page_put_name(struct page *p, const char *name);

/* Maps of the board (maps.c): all of the set's, with its evidence. */
void page_put_maps(struct page *p);

/* The picture of the first finding of a code (picture.c); nothing where none can be drawn. */
void page_put_picture(struct page *p, const struct verify_result *result,
                      const struct finding *finding);

#endif
