/*
 * json_load.h - JSON parsed by jansson, with a lack of memory told from bad JSON; names as JSON.
 */
#ifndef SYMAUG_BASE_JSON_LOAD_H
#define SYMAUG_BASE_JSON_LOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Parse bytes, in which no key may stand twice. NULL on failure: then *no_memory says whether that
 * was the reason, else *error what is wrong where. The caller owns what comes back. */
json_t *json_load_bytes(const char *bytes, size_t n_bytes, json_error_t *error, bool *no_memory);

/* A name as JSON text: bytes that are not UTF-8 are written as \xNN. */
json_t *json_name(const char *name);

#endif
