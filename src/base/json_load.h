/*
 * json_load.h - JSON parsed by jansson, with a lack of memory told from bad JSON; names as JSON.
 */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* Parse bytes, in which no key may stand twice. NULL on failure: with err set when there was no
 * memory for `what`, else *fault says what is wrong where. The caller owns what comes back. */
json_t *json_load_bytes(const char *bytes, size_t n_bytes, json_error_t *fault, const char *what,
                        struct error *err);

/* A name as JSON text: bytes that are not UTF-8 are written as \xNN. */
json_t *json_name(const char *name);
