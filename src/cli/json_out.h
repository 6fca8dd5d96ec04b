/*
 * json_out.h - JSON on standard output.
 */
#ifndef SYMAUG_CLI_JSON_OUT_H
#define SYMAUG_CLI_JSON_OUT_H

#include "base/error.h"
#include "base/json_load.h"

/* Print an object (whose reference is taken over), keys sorted, and a newline. */
int json_out_print(json_t *json, struct error *err);

#endif
