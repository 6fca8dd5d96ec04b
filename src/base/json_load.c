/*
 * json_load.c - JSON through jansson, whose reports cannot be trusted when memory is short: it may
 * speak of a bad token, say nothing, or lose a character. So errno is looked at, and everything is
 * parsed twice and compared: two readings hardly lose the same character.
 */
#include "base/json_load.h"

#include "base/text.h"

#include <errno.h>
#include <string.h>

/* Where its scanner has no memory jansson 2.14 speaks of a bad token, gives no reason at all, or
 * goes on without a character; only malloc's errno tells. */
static json_t *load_once(const char *bytes, size_t n_bytes, json_error_t *error, bool *no_memory)
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

/* Read twice, as jansson forgets errno where it reads a number; it hardly loses the same character
 * in both readings. */
json_t *json_load_bytes(const char *bytes, size_t n_bytes, json_error_t *error, bool *no_memory)
{
    json_t *root = load_once(bytes, n_bytes, error, no_memory), *again = NULL;

    if (root != NULL)
        again = load_once(bytes, n_bytes, error, no_memory);
    if (root != NULL && (again == NULL || !json_equal(root, again))) {
        *no_memory = true;
        json_decref(root);
        root = NULL;
    }
    json_decref(again);
    return root;
}

json_t *json_name(const char *name)
{
    return json_string(text_is_utf8(name, strlen(name)) ? name : text_path(name).text);
}
