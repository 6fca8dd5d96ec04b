/*
 * json_load.h - parsing JSON with jansson, telling lack of memory from bad JSON; names as JSON.
 */
#pragma once

#include "base/error.h"

#include <jansson.h>

/* Parse JSON; duplicate keys are refused. NULL on failure: with err set if there was no memory for
 * `what`, otherwise *fault says what is wrong where. The caller owns the result. */
json_t *json_load_bytes(const char *bytes, size_t n_bytes, json_error_t *fault, const char *what,
                        struct error *err);

/* A name as a JSON string: bytes that are not UTF-8 are written as \xNN. NULL without memory. */
json_t *json_name(const char *name);
