/*
 * expand_print.h - what `symaug expand` says: warnings, the plan of a dry run, a line on success.
 */
#ifndef SYMAUG_CLI_EXPAND_PRINT_H
#define SYMAUG_CLI_EXPAND_PRINT_H

#include "cli/expand_call.h"

/* The plan's warnings from `first` on, on standard error, unless --quiet. Returns how many there
 * are in all. */
size_t expand_print_warnings(const struct expand_call *call, const struct plan *plan, size_t first);

/* The plan of --dry-run on standard output, for people. */
void expand_print_plan(const struct plan *plan, const char *output);

/* Rows, sizes and speed on standard error, with --verbose. */
void expand_print_result(const struct expand_call *call, const struct plan *plan,
                         const char *output, const struct expand_result *result, double seconds);

#endif
