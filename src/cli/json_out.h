/*
 * json_out.h - JSON on standard output.
 */
#ifndef SYMAUG_CLI_JSON_OUT_H
#define SYMAUG_CLI_JSON_OUT_H

#include "base/error.h"

#include <jansson.h>

/* A name as JSON text: bytes that are not UTF-8 are written as \xNN. */
json_t *json_out_name(const char *name);

/* Print an object (whose reference is taken over), keys sorted, and a newline. */
int json_out_print(json_t *json, struct error *err);

#endif
