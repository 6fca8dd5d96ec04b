/*
 * warnings.c - remarks about an input that is accepted all the same. The first WARNINGS_MAX lines
 * are kept, the others are counted, so that a shard with a million oddities neither fills the
 * memory nor the terminal.
 */
#include "base/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_NBYTES 768

static int append(struct warnings *warnings, const char *line, struct error *err)
{
    char **lines = realloc(warnings->lines, (warnings->n_lines + 1) * sizeof *lines);
    char *copy;

    if (lines == NULL)
        return error_no_memory(err, "warnings");
    warnings->lines = lines;
    copy = strdup(line);
    if (copy == NULL)
        return error_no_memory(err, "warnings");
    lines[warnings->n_lines++] = copy;
    return 0;
}

int warnings_add(struct warnings *warnings, struct error *err, const char *format, ...)
{
    char line[LINE_NBYTES];
    va_list args;

    if (warnings->n_lines >= WARNINGS_MAX) {
        warnings->n_left_out++;
        return 0;
    }
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return append(warnings, line, err);
}

int warnings_finish(struct warnings *warnings, struct error *err)
{
    char line[64];

    if (warnings->n_left_out == 0)
        return 0;
    snprintf(line, sizeof line, "%zu more warnings", warnings->n_left_out);
    warnings->n_left_out = 0;
    return append(warnings, line, err);
}

void warnings_release(struct warnings *warnings)
{
    for (size_t i = 0; i < warnings->n_lines; i++)
        free(warnings->lines[i]);
    free(warnings->lines);
    memset(warnings, 0, sizeof *warnings);
}
