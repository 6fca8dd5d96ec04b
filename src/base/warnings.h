/*
 * warnings.h - remarks about an input that is accepted all the same.
 */
#ifndef SYMAUG_BASE_WARNINGS_H
#define SYMAUG_BASE_WARNINGS_H

#include "base/error.h"

#include <stddef.h>

#define WARNINGS_MAX 100 /* further ones are counted in one last line */

/* A list of lines without file name. Zero-initialise it. */
struct warnings {
    char **lines; /* owned, and each line */
    size_t n_lines;
    size_t n_left_out;
};

/* Append a line, printf-style. Returns 0, or -1 when there is no memory. */
int warnings_add(struct warnings *warnings, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Say how many lines were left out, if any were: once, when the list is complete. */
int warnings_finish(struct warnings *warnings, struct error *err);

/* Free the list; accepts a zeroed one. */
void warnings_release(struct warnings *warnings);

#endif
