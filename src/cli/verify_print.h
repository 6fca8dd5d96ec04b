/*
 * verify_print.h - findings, for people and for programs.
 */
#ifndef SYMAUG_CLI_VERIFY_PRINT_H
#define SYMAUG_CLI_VERIFY_PRINT_H

#include "verify/verify.h"

/* One line for each finding and a summary for each file. verbosity -1: errors only, no summary. */
void verify_print_text(const struct verify_results *results, size_t first, int verbosity);

/* One JSON object for all files. */
int verify_print_json(const struct verify_results *results, struct error *err);

/* Verify every path and print what is found. Returns the exit code, or -1 with err set. */
int verify_print_all(const struct verify_request *request, int n, char **paths, struct error *err);

#endif
