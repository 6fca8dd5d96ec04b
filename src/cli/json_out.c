/*
 * json_out.c - JSON on standard output: keys sorted, so that the same answer is the same bytes.
 */
#include "cli/json_out.h"

#include <stdio.h>

int json_out_print(json_t *json, struct error *err)
{
    int status;

    if (json == NULL)
        return error_no_memory(err, "JSON");
    status = json_dumpf(json, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    putchar('\n');
    json_decref(json);
    return status == 0 ? 0 : error_set(err, ERROR_IO, "cannot write to standard output");
}
