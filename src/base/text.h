/*
 * text.h - paths and names, numbers as people write them, growable strings, lists of strings.
 */
#pragma once

#include "base/error.h"

/* True if the bytes are well-formed UTF-8, as text_utf8_nbytes defines it. */
bool text_is_utf8(const void *bytes, size_t n_bytes);

/* Write a code point as UTF-8, without a NUL. Returns its length, 1 to 4. */
size_t text_put_code(uint32_t code, char *text);

/* What follows the last slash of a path; the path if it has none. */
const char *text_base_name(const char *path);

/* The length of a path without the slashes at its end; "/" keeps its own. */
size_t text_path_nbytes(const char *path);

/* The last component of a path, without slashes at its end: where it begins, and its length. */
const char *text_last_name(const char *path, int *n_bytes);

/* Compare two char pointers by their strings, for qsort and bsearch; items may also be structs that
 * begin with such a pointer. */
int text_compare(const void *a, const void *b);

/* True if text is the suffix with something before it. */
bool text_ends_with(const char *text, const char *suffix);

/* strncasecmp, and whether strcasestr finds the word, for ASCII letters in any locale (a Turkish
 * one has other letters for i). */
int text_compare_caseless(const char *a, const char *b, size_t n_bytes);
bool text_contains_caseless(const char *text, const char *word);

/* The edit distance of a and b: the number of letters to insert, delete or replace. Only the first
 * TEXT_MAX_WORD letters count. */
#define TEXT_MAX_WORD 32
size_t text_distance(const char *a, const char *b);

/* Parse a decimal number of digits alone: a whole string, or n bytes. Returns 0, or -1 (no error
 * set). */
int text_parse_u64(const char *text, uint64_t *value);
int text_parse_digits(const char *digits, size_t n, uint64_t *value);

/* Parse a size: a whole number, optionally with K, M, G or T (powers of 1024, also written KB or
 * KiB). Returns 0, or -1 (no error set). */
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

/* Append a word as a shell reads it, in single quotes if it needs them. */
int text_append_shell(struct text *t, const char *word, struct error *err);

/* Free the string; accepts a zeroed one. */
void text_release(struct text *t);

/* --- lists --- */

/* Zero-initialise. */
struct text_list {
    char **items; /* owned, as is each of them; NULL after the last */
    size_t n;
};

/* Append a copy. Returns 0, or -1 when there is no memory. */
int text_list_add(struct text_list *list, const char *text, struct error *err);

/* Sort a list and remove duplicates. Returns the first text that had one, or NULL. */
const char *text_list_make_set(struct text_list *list);

/* Free the list; accepts a zeroed one. */
void text_list_release(struct text_list *list);

/* Warnings about an input that is accepted, without the file's name. Zero-initialise. */
struct warnings {
    struct text_list list;
    size_t n_left_out;
};

/* Append a line, printf-style; of more than a hundred the last line only tells the number. Returns
 * 0, or -1 when there is no memory. */
int warnings_add(struct warnings *warnings, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
