/*
 * json_load.h - JSON parsed by jansson, with a lack of memory told from bad JSON.
 */
#ifndef SYMAUG_SHARD_JSON_LOAD_H
#define SYMAUG_SHARD_JSON_LOAD_H

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Parse bytes, in which no key may stand twice. NULL on failure: then *no_memory says whether that
 * was the reason. Where its scanner has no memory jansson 2.14 speaks of a bad token, gives no
 * reason at all, or goes on without a character; only malloc's errno tells.
 */
static inline json_t *json_load_bytes(const char *bytes, size_t n_bytes, json_error_t *error,
                                      bool *no_memory)
{
    json_t *root;

    error->text[0] = '\0';
    errno = 0;
    root = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES, error);
    *no_memory = errno == ENOMEM || (root == NULL && error->text[0] == '\0') ||
                 (root == NULL && json_error_code(error) == json_error_out_of_memory);
    if (*no_memory && root != NULL) {
        json_decref(root);
        root = NULL;
    }
    return root;
}

#endif
