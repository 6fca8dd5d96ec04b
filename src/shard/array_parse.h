/*
 * array_parse.h - from a member of a container to an array: its header, held against its size.
 */
#ifndef SYMAUG_SHARD_ARRAY_PARSE_H
#define SYMAUG_SHARD_ARRAY_PARSE_H

#include "shard/array.h"
#include "shard/unpack.h"
#include "base/warnings.h"

#include <stdbool.h>

/*
 * Read the header at the front of `array`, whose place in the input is set, and fill header,
 * n_rows and row_nbytes. Data must be as long as the header says; less than a row more is a
 * warning. A member that does not begin with numpy's magic string is an error when
 * must_be_array, else *is_array is false. `unpack` is a reader to work with.
 */
int array_parse(struct array *array, struct unpack *unpack, bool must_be_array, bool *is_array,
                struct warnings *warnings, struct error *err);

#endif
