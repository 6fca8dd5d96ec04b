/* literal.c - see literal.h. */
#include "npy/literal.h"

#include "base/text.h"

#include <string.h>

/* White space that Python allows between tokens inside brackets. */
static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

char literal_peek(struct literal *l)
{
    while (l->next < l->end && is_space(*l->next))
        l->next++;
    return l->next < l->end ? *l->next : '\0';
}

bool literal_take(struct literal *l, char c)
{
    if (literal_peek(l) != c || l->next == l->end)
        return false;
    l->next++;
    return true;
}

int literal_unexpected(struct literal *l, const char *expected, struct error *err)
{
    size_t n_left;

    literal_peek(l);
    n_left = (size_t)(l->end - l->next);
    if (n_left == 0)
        return error_set(err, ERROR_DATA, "header ends where %s is expected", expected);
    return error_set(err, ERROR_DATA, "header has %s where %s is expected",
                     text_quote_bytes(l->next, n_left < 16 ? n_left : 16).text, expected);
}

int literal_expect(struct literal *l, char c, const char *where, struct error *err)
{
    char expected[64] = {'\'', c, '\'', ' '};

    if (literal_take(l, c))
        return 0;
    strncat(expected, where, sizeof expected - 5);
    return literal_unexpected(l, expected, err);
}

bool literal_take_word(struct literal *l, const char *word)
{
    const size_t n = strlen(word);

    literal_peek(l);
    if ((size_t)(l->end - l->next) < n || memcmp(l->next, word, n) != 0)
        return false;
    if ((size_t)(l->end - l->next) > n && is_word(l->next[n]))
        return false;
    l->next += n;
    return true;
}

int literal_take_string(struct literal *l, struct literal_string *string, struct error *err)
{
    const char quote = literal_peek(l);
    const char *p = l->next;

    if (quote != '\'' && quote != '"')
        return literal_unexpected(l, "a string", err);
    for (p++; p < l->end && *p != quote; p++) {
        if (*p == '\\')
            return error_set(err, ERROR_DATA, "escape sequence in a header string");
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return error_set(err, ERROR_DATA, "unterminated string in the header");
    }
    if (p == l->end)
        return error_set(err, ERROR_DATA, "unterminated string in the header");
    string->text = l->next + 1;
    string->n_bytes = (size_t)(p - string->text);
    l->next = p + 1;
    return 0;
}

int literal_take_uint(struct literal *l, uint64_t *value, struct error *err)
{
    const char first = literal_peek(l);
    const char *digits = l->next;
    uint64_t v = 0;

    if (first == '-')
        return error_set(err, ERROR_DATA, "negative dimension");
    if (first == '+')
        return error_set(err, ERROR_DATA, "signed dimension");
    if (!is_digit(first))
        return literal_unexpected(l, "a whole number", err);
    for (; l->next < l->end && is_digit(*l->next); l->next++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*l->next - '0'), &v))
            return error_set(err, ERROR_DATA, "dimension does not fit 64 bits");
    if (first == '0' && l->next - digits > 1)
        return error_set(err, ERROR_DATA, "dimension with a leading zero");
    if (l->long_suffix && l->next < l->end && *l->next == 'L')
        l->next++;
    if (l->next < l->end && (is_word(*l->next) || *l->next == '.'))
        return literal_unexpected(l, "the end of a decimal number", err);
    *value = v;
    return 0;
}

int literal_take_shape(struct literal *l, uint64_t *shape, unsigned max_dims, unsigned *n_dims,
                       struct error *err)
{
    bool comma = false;
    unsigned n = 0;

    if (!literal_take(l, '('))
        return literal_unexpected(l, "a tuple (the shape)", err);
    while (!literal_take(l, ')')) {
        if (n > 0 && !comma)
            return literal_unexpected(l, "',' or ')' in the shape", err);
        if (n == max_dims)
            return error_set(err, ERROR_DATA, "more than %u dimensions", max_dims);
        if (literal_take_uint(l, &shape[n], err) != 0)
            return -1;
        n++;
        comma = literal_take(l, ',');
    }
    if (n == 1 && !comma)
        return error_set(err, ERROR_DATA, "shape is a number in brackets, not a tuple");
    *n_dims = n;
    return 0;
}
