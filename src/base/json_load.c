/*
 * json_load.c - JSON through jansson, which misreports lack of memory: its scanner may claim a bad
 * token, give no reason, or silently lose a character. So malloc's errno is checked; and because
 * jansson clears it when it reads a number, everything is parsed twice and compared, as two runs
 * are unlikely to lose the same character.
 */
#include "base/json_load.h"

#include "base/text.h"

json_t *json_load_bytes(const char *bytes, size_t n_bytes, json_error_t *fault, const char *what,
                        struct error *err)
{
    json_t *roots[2] = {NULL, NULL};
    bool no_memory = false;

    for (int i = 0; i < 2 && !no_memory && (i == 0 || roots[0] != NULL); i++) {
        fault->text[0] = '\0';
        errno = 0;
        roots[i] = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES, fault);
        no_memory = errno == ENOMEM ||
                    (roots[i] == NULL && (i == 1 || fault->text[0] == '\0' ||
                                          json_error_code(fault) == json_error_out_of_memory));
    }
    if (no_memory || !(roots[0] == NULL || json_equal(roots[0], roots[1]))) {
        error_no_memory(err, what);
        json_decref(roots[0]);
        roots[0] = NULL;
    }
    json_decref(roots[1]);
    return roots[0];
}

json_t *json_name(const char *name)
{
    return json_string(text_is_utf8(name, strlen(name)) ? name : text_path(name).text);
}
