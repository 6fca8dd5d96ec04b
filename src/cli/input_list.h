/*
 * input_list.h - the inputs of a run: operands, names from a file, and the part of them that is
 * this job's.
 */
#ifndef SYMAUG_CLI_INPUT_LIST_H
#define SYMAUG_CLI_INPUT_LIST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. */
struct input_list {
    char **paths; /* owned, n; NULL behind the last */
    size_t n;
};

/* Append a copy of a path. */
int input_list_add(struct input_list *list, const char *path, struct error *err);

/* Append the names in a file ("-": standard input), one a line, or with `zero` NUL-terminated.
 * Empty names are passed over. */
int input_list_add_from(struct input_list *list, const char *file, bool zero, struct error *err);

/* Keep every n-th input, the part-th of each n (counted from 1). */
void input_list_keep_part(struct input_list *list, uint64_t part, uint64_t n_parts);

/* ERROR_USAGE when two inputs have the same base name, or one has none. */
int input_list_check_names(const struct input_list *list, struct error *err);

/* The last component of a path, without the slashes behind it: a copy, owned by the caller. */
char *input_list_base_name(const char *path, struct error *err);

void input_list_release(struct input_list *list);

#endif
