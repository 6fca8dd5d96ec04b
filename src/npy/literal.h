/*
 * literal.h - the few Python literals that a .npy header is made of, read strictly.
 *
 * Accepted: strings without escapes or prefixes, unsigned decimal integers, tuples of these.
 */
#ifndef SYMAUG_NPY_LITERAL_H
#define SYMAUG_NPY_LITERAL_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct literal {
    const char *next; /* borrowed: the text of the header */
    const char *end;
    bool long_suffix; /* Python 2's "6L" is an integer */
};

/* A string's content, inside its quotes. */
struct literal_string {
    const char *text; /* borrowed */
    size_t n_bytes;
};

/* Step over white space, then over c if it comes next; false (and only white space gone) if not. */
bool literal_take(struct literal *l, char c);

/* The next character that is no white space, or NUL at the end. */
char literal_peek(struct literal *l);

/* As literal_take, but ERROR_DATA when something else follows; `where` names the place. */
int literal_expect(struct literal *l, char c, const char *where, struct error *err);

/* ERROR_DATA that says what follows instead of `expected`. */
int literal_unexpected(struct literal *l, const char *expected, struct error *err);

/* True, and stepped over, when `word` follows as a whole word. */
bool literal_take_word(struct literal *l, const char *word);

/* A string in single or double quotes. Escapes and control characters are refused. */
int literal_take_string(struct literal *l, struct literal_string *string, struct error *err);

/* An unsigned integer: digits alone, no sign, no leading zero, at most 64 bits. */
int literal_take_uint(struct literal *l, uint64_t *value, struct error *err);

/* A tuple of up to max_dims integers: "()", "(3,)", "(3, 4)", "(3, 4,)". */
int literal_take_shape(struct literal *l, uint64_t *shape, unsigned max_dims, unsigned *n_dims,
                       struct error *err);

#endif
