/*
 * text.h - paths and names, numbers that people wrote, growable strings, lists of texts.
 */
#pragma once

#include "base/error.h"

/* True when the bytes are well-formed UTF-8, as text_utf8_nbytes has it. */
bool text_is_utf8(const void *bytes, size_t n_bytes);

/* Write a code point as UTF-8; returns how many bytes it takes, 1 to 4. */
size_t text_put_code(uint32_t code, char *text);

/* A path without its folders: what follows its last slash. */
const char *text_base_name(const char *path);

/* The length of a path without the slashes at its end; "/" keeps its own. And its last component
 * without them: where it begins, and its length. */
size_t text_path_nbytes(const char *path);
const char *text_last_name(const char *path, int *n_bytes);

/* The order of texts, for qsort and bsearch in lists of them, or of structs that begin with one. */
int text_compare(const void *a, const void *b);

/* True when there is something in front of the suffix. */
bool text_ends_with(const char *text, const char *suffix);

/* As strncasecmp, and whether strcasestr finds the word, in any locale: a Turkish one has other
 * letters for i. */
int text_compare_caseless(const char *a, const char *b, size_t n_bytes);
bool text_contains_caseless(const char *text, const char *word);

/* Letters to insert, delete or replace to turn a into b, of the first TEXT_MAX_WORD ones. */
#define TEXT_MAX_WORD 32
size_t text_distance(const char *a, const char *b);

/* Parse a whole decimal number, nothing before or after it; the same of n digits. Returns 0, or -1
 * (no error set). */
int text_parse_u64(const char *text, uint64_t *value);
int text_parse_digits(const char *digits, size_t n, uint64_t *value);

/* Parse a size: a whole number with an optional K, M, G or T (powers of 1024; KiB, KB the same). */
int text_parse_size(const char *text, uint64_t *n_bytes);

/* A growable string. Zero-initialise; text is NULL or NUL-terminated and owned. */
struct text {
    char *text;
    size_t n_bytes; /* without the NUL */
    size_t capacity;
};

/* Append printf-style. Returns 0, or -1 when there is no memory. */
int text_append(struct text *t, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append a word so that a shell reads it as one: in single quotes where it needs them. */
int text_append_shell(struct text *t, const char *word, struct error *err);

/* Free the string; accepts a zeroed one. */
void text_release(struct text *t);

/* --- lists --- */

/* Zero-initialise. */
struct text_list {
    char **items; /* owned, and each of them; NULL behind the last */
    size_t n;
};

/* Append a copy. Returns 0, or -1 when there is no memory. */
int text_list_add(struct text_list *list, const char *text, struct error *err);

/* Free the list; accepts a zeroed one. */
void text_list_release(struct text_list *list);

#define WARNINGS_MAX 100 /* further ones are counted in one last line */

/* Remarks about an input that is accepted all the same: lines without file name. Zero-initialise.
 */
struct warnings {
    struct text_list list;
    size_t n_left_out;
};

/* Append a line, printf-style. Returns 0, or -1 when there is no memory. */
int warnings_add(struct warnings *warnings, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
