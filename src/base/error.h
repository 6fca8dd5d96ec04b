/*
 * error.h - the one way a failure travels up.
 *
 * Functions return 0, or -1 after filling a struct error. The function that knows the context
 * writes the whole message (file, member, row, expected, found); callers only pass it up. Names in
 * it are quoted.
 *
 * Since every part of the program knows errors, the headers of C that nearly all of it uses are
 * included here, once: files that include this one, or any header that does, leave them out.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What went wrong, as far as a caller of the program can act on it; one exit code each. */
enum error_kind {
    ERROR_NONE,
    ERROR_USAGE,       /* 64: the command line */
    ERROR_DATA,        /* 65: an input is not what it should be */
    ERROR_NO_INPUT,    /* 66: an input cannot be opened */
    ERROR_INTERNAL,    /* 70: a bug of ours, or no memory */
    ERROR_CANT_CREATE, /* 73: an output cannot be created, or exists */
    ERROR_IO,          /* 74: reading or writing failed */
    ERROR_TRY_LATER,   /* 75: disk full, quota, stale handle */
};

/* What exactly is wrong with an input, where something is made of it: a finding of `verify`. */
enum error_code {
    ERROR_CODE_NONE,
    ERROR_CODE_CRC,
    ERROR_CODE_ROWS,
    ERROR_CODE_SHAPE,
    ERROR_CODE_LENGTH,
    ERROR_CODE_CALL, /* no input: the words of the command line are wrong, not what one of them says
                      */
};

#define ERROR_MESSAGE_NBYTES 4096
#define ERROR_ARRAY_NBYTES   128

/* A failure: its kind and one line of text; and, when it has been set with error_set_at, where it
 * is. Plain data, no resources: zero-initialise it. */
struct error {
    enum error_kind kind;
    enum error_code code;
    uint16_t file_at, file_nbytes;     /* where the file's name is in the message, */
    uint16_t reason_at, reason_nbytes; /* and the reason alone */
    bool has_row;
    uint64_t row;                   /* of the array, when has_row */
    char array[ERROR_ARRAY_NBYTES]; /* its key, "" when it is about none; a longer one is cut */
    char message[ERROR_MESSAGE_NBYTES];
};

/* Where an error is; zero-initialise it, and leave out what does not apply. */
struct error_place {
    const char *file;  /* a path */
    const char *array; /* a key */
    const char *shown; /* what the message calls the array, when not by its key; "": nothing */
    bool has_row;
    uint64_t row;
    enum error_code code; /* rows, shape and length stand at the end of the message, in brackets */
    int errnum;           /* as error_set_errno has it */
    const char *verb;     /* the message is "cannot VERB 'FILE': ..."; or NULL */
};

extern const struct error_place error_nowhere; /* of error_set */

#define ERROR_IN(path)       (&(const struct error_place){.file = (path)})
#define ERROR_IN_ERRNO(path) (&(const struct error_place){.file = (path), .errnum = errno})

/* What error_set and its kin are made of; call those. */
void error_fill_at(struct error *err, enum error_kind kind, const struct error_place *place,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void error_fill_args(struct error *err, enum error_kind kind, const struct error_place *place,
                     const char *format, va_list args) __attribute__((format(printf, 4, 0)));

/* -1, in a form that compilers and checkers can see through. */
static inline int error_failed(void)
{
    return -1;
}

/*
 * error_set(err, kind, format, ...): fill *err (which may be NULL) and be -1, so that `return
 * error_set(...)` reads well. The message is lower case and has no full stop. An error that is
 * already set stays: the first cause is the one to report.
 */
#define error_set(err, kind, ...) error_set_at(err, kind, &error_nowhere, __VA_ARGS__)

/*
 * error_set_errno(err, kind, errnum, format, ...): as error_set, with ": " and the text of errnum
 * appended. Disk full, quota and stale handles become ERROR_TRY_LATER, lack of memory
 * ERROR_INTERNAL, everything else gets `kind`.
 */
#define error_set_errno(err, kind, number, ...) \
    error_set_at(err, kind, &(const struct error_place){.errnum = (number)}, __VA_ARGS__)

/* error_set_at(err, kind, &place, format, ...): as error_set, with "FILE: ARRAY: row N: " in front
 * of the text. */
#define error_set_at(...) (error_fill_at(__VA_ARGS__), error_failed())

/* Be the error that another function, thread or step has met. Returns -1. */
int error_pass(struct error *err, const struct error *met);

/* The message without the file and the array that it is about, and without a code. Text is written
 * to `reason` of ERROR_MESSAGE_NBYTES, and returned. */
const char *error_reason(const struct error *err, char *reason);

/* No memory for `what` ("row window of 12 MiB"). Returns -1. */
static inline int error_no_memory(struct error *err, const char *what)
{
    return error_set(err, ERROR_INTERNAL, "out of memory: %s", what);
}

/* new_items(&list, n, what, err): let list, a pointer of any type, be n zeroed items of its own.
 * Returns 0, or -1 when there is no memory for `what`. */
#define new_items(list, n, what, err) \
    ((*(list) = calloc(n, sizeof **(list))) != NULL ? 0 : error_no_memory(err, what))

/* True when the system call that has just failed was interrupted by a signal and may be tried
 * again; *n_tries counts, so that a file system that never does anything else ends in an error. */
static inline bool retry_interrupted(unsigned *n_tries)
{
    return errno == EINTR && (*n_tries)++ < 1000;
}

/* The exit code of a kind: 0 for ERROR_NONE, else as the list above. */
int error_exit_code(enum error_kind kind);

/* --- what messages are made of --- */

/* A printable copy of a name, returned by value: text_quote(path).text lives to the end of the
 * full expression it stands in, which is as long as a message needs it. */
struct text_quoted {
    char text[256];
};

/*
 * 'name' in single quotes, control characters, quotes, backslashes and bytes that are not UTF-8
 * as \xNN, cut with "..." when it is too long. Nothing in the result can move a terminal's cursor.
 */
struct text_quoted text_quote(const char *name);

/* The same for bytes that are not NUL-terminated. */
struct text_quoted text_quote_bytes(const void *bytes, size_t n_bytes);

/* A file's path, printable and without quotes (unless it is empty), for the head of a message:
 * `a.npz: ...`. */
struct text_quoted text_path(const char *path);

/* Bytes of the well-formed UTF-8 character (no surrogate, no overlong form) that the n_left bytes
 * at p begin with, 1 to 4; 0: there is none. */
size_t text_utf8_nbytes(const void *p, size_t n_left);

/* The bytes of the control character that text starts with, 0: none. It is C0, DEL or, in UTF-8,
 * C1, a byte order mark, a separator of lines, or what turns the direction of text. */
size_t text_control_nbytes(const char *text);

/* A size for people, "1.4 GiB". */
struct text_quoted text_size(uint64_t n_bytes);

/* A short text, printf-style, what fits. */
struct text_quoted text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Append to the text that is in n_bytes already, printf-style, what fits. */
void text_add(char *text, size_t n_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "(12, 64, 9, 9)", as Python writes a shape. */
struct text_quoted text_shape(const uint64_t *shape, size_t n_dims);
