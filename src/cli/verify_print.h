/*
 * verify_print.h - findings, for people and for programs: see cmd_verify.c.
 */
#ifndef SYMAUG_CLI_VERIFY_PRINT_H
#define SYMAUG_CLI_VERIFY_PRINT_H

#include "verify/verify.h"

/* Verify every path and print what is found. Returns the exit code, or -1 with err set. */
int verify_print_all(const struct verify_request *request, int n, char **paths, struct error *err);

#endif
