/* board_size.c - the size in a board's name: a number, or HxW. */
#include "board/families.h"

#include "base/text.h"

#include <string.h>

static int missing_size(const struct board *b, struct error *err)
{
    return error_set(err, ERROR_USAGE, "board %s needs a size: %s, such as %s", b->family->name,
                     b->family->syntax, b->family->example);
}

static int bad_size(const struct board *b, const char *size, struct error *err)
{
    return error_set(err, ERROR_USAGE, "board %s: %s is no size: write %s, such as %s",
                     b->family->name, text_quote(size).text, b->family->syntax, b->family->example);
}

int board_parse_number(const struct board *b, const char *size, uint32_t min, uint32_t max,
                       uint32_t *number, struct error *err)
{
    uint64_t n;

    if (size == NULL || *size == '\0')
        return missing_size(b, err);
    if (strspn(size, "0123456789") != strlen(size))
        return bad_size(b, size, err);
    if (text_parse_u64(size, &n) != 0 || n < min || n > max)
        return error_set(err, ERROR_USAGE, "board %s: the size is %u to %u, not %s",
                         b->family->syntax, min, max, text_quote(size).text);
    *number = (uint32_t)n;
    return 0;
}

/* Parse one side of a box: n_digits digits. Returns 0, or -1 when there are none or too many. */
static int parse_side(const char *digits, size_t n_digits, uint32_t *side)
{
    char copy[24];
    uint64_t n;

    if (n_digits == 0 || n_digits >= sizeof copy)
        return -1;
    memcpy(copy, digits, n_digits);
    copy[n_digits] = '\0';
    if (text_parse_u64(copy, &n) != 0)
        return -1;
    *side = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    return 0;
}

int board_parse_box(const struct board *b, const char *size, uint32_t min_rows, uint32_t min_cols,
                    uint32_t *rows, uint32_t *cols, struct error *err)
{
    const char *cross;

    if (size == NULL || *size == '\0')
        return missing_size(b, err);
    cross = strchr(size, 'x');
    if (cross == NULL || parse_side(size, (size_t)(cross - size), rows) != 0 ||
        parse_side(cross + 1, strlen(cross + 1), cols) != 0)
        return bad_size(b, size, err);
    if (*rows < min_rows || *cols < min_cols || (uint64_t)*rows * *cols > BOARD_MAX_CELLS)
        return error_set(err, ERROR_USAGE,
                         "board %s: a box has at least %u row%s and %u columns, and at most %d "
                         "cells, not %s",
                         b->family->syntax, min_rows, min_rows == 1 ? "" : "s", min_cols,
                         BOARD_MAX_CELLS, text_quote(size).text);
    return 0;
}
