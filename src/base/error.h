/*
 * error.h - how failures are reported to callers.
 *
 * A function returns 0, or -1 after filling a struct error. The function that knows the context
 * writes the whole message (file, member, row, expected, found), with names quoted; its callers
 * only pass it on.
 *
 * Because every file includes this header, it also includes the C headers that nearly all of them
 * need; other files include only further ones.
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

/* The number of elements of an array that is no parameter. */
#define N_OF(array) (sizeof(array) / sizeof(array)[0])

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

/* What exactly is wrong, for callers that treat it in a special way: a finding of `verify`. */
enum error_code {
    ERROR_CODE_NONE,
    ERROR_CODE_CRC,
    ERROR_CODE_ROWS,
    ERROR_CODE_SHAPE,
    ERROR_CODE_LENGTH,
    ERROR_CODE_CALL, /* the form of the command line, not what one of its words says */
};

#define ERROR_MESSAGE_NBYTES 4096
#define ERROR_ARRAY_NBYTES   128

/* A failure: its kind, one line of text and, if set with error_set_at, where it is. Plain data that
 * owns nothing: zero-initialise it. */
struct error {
    enum error_kind kind;
    enum error_code code;
    uint16_t file_at, file_nbytes;     /* the file's name in the message */
    uint16_t reason_at, reason_nbytes; /* the reason in the message */
    uint16_t advice_at;                /* the place's advice in the message; 0: none */
    bool has_row;
    uint64_t row;                   /* of the array, if has_row */
    char array[ERROR_ARRAY_NBYTES]; /* its key, cut if longer; "": the error is not in an array */
    char message[ERROR_MESSAGE_NBYTES];
};

/* Where an error is. Fields that do not apply are zero. */
struct error_place {
    const char *file;  /* a path */
    const char *array; /* a key */
    const char *shown; /* the array's name in the message; NULL: its key; "": none */
    bool has_row;
    uint64_t row;
    enum error_code code; /* ROWS, SHAPE and LENGTH are appended to the message, in brackets */
    int errnum;           /* see error_set_errno; 0: none */
    const char *verb;     /* begin the message with "cannot VERB 'FILE': "; or NULL */
    const char *advice;   /* "--role NAME=ROLE", which settles it: the text ends with it; or NULL */
};

extern const struct error_place error_nowhere; /* used by error_set */

#define ERROR_IN(path)       (&(const struct error_place){.file = (path)})
#define ERROR_IN_ERRNO(path) (&(const struct error_place){.file = (path), .errnum = errno})

/* The functions behind the error_set macros. */
void error_fill_at(struct error *err, enum error_kind kind, const struct error_place *place,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
void error_fill_args(struct error *err, enum error_kind kind, const struct error_place *place,
                     const char *format, va_list args) __attribute__((format(printf, 4, 0)));

/* Returns -1, so that compilers and checkers see the value of the macros below. */
static inline int error_failed(void)
{
    return -1;
}

/*
 * error_set(err, kind, format, ...): fill *err, which may be NULL, and yield -1 for `return
 * error_set(...)`. The message is lower case, without a full stop. An error that is already set
 * stays: the first cause is the one to report.
 */
#define error_set(err, kind, ...) error_set_at(err, kind, &error_nowhere, __VA_ARGS__)

/*
 * error_set_errno(err, kind, errnum, format, ...): as error_set, with ": " and the text of errnum
 * appended. Disk full, quota exceeded and stale handle become ERROR_TRY_LATER, lack of memory
 * ERROR_INTERNAL; all others are of the given kind.
 */
#define error_set_errno(err, kind, number, ...) \
    error_set_at(err, kind, &(const struct error_place){.errnum = (number)}, __VA_ARGS__)

/* error_set_at(err, kind, &place, format, ...): as error_set, with "FILE: ARRAY: row N: " before
 * the text. */
#define error_set_at(...) (error_fill_at(__VA_ARGS__), error_failed())

/* Copy the error of another function, thread or step, unless one is set. Returns -1. */
int error_pass(struct error *err, const struct error *met);

/* Write the message without file, array and code to `reason`, of ERROR_MESSAGE_NBYTES. Returns
 * `reason`. */
const char *error_reason(const struct error *err, char *reason);

/* Report that there is no memory for `what` ("row window of 12 MiB"). Returns -1. */
static inline int error_no_memory(struct error *err, const char *what)
{
    return error_set(err, ERROR_INTERNAL, "out of memory: %s", what);
}

/* new_items(&list, n, what, err): allocate n zeroed items for list, a pointer of any type. Returns
 * 0, or -1 when there is no memory for `what`. */
#define new_items(list, n, what, err)                                   \
    ((*(list) = calloc((n) > 0 ? (n) : 1, sizeof **(list))) != NULL ? 0 \
                                                                    : error_no_memory(err, what))

/* True if the system call that just failed was interrupted by a signal and should be repeated.
 * *n_tries counts up to a limit, in case a file system does nothing else. */
static inline bool retry_interrupted(unsigned *n_tries)
{
    return errno == EINTR && (*n_tries)++ < 1000;
}

/* The exit code of a kind, as listed there; 0 for ERROR_NONE. */
int error_exit_code(enum error_kind kind);

/* --- parts of messages --- */

/* A short text, returned by value: text_quote(path).text lives until the end of the full expression
 * that contains it, which is long enough for a message. */
struct text_quoted {
    char text[256];
};

/*
 * A name in single quotes, with control characters, quotes, backslashes and bytes that are not
 * UTF-8 written as \xNN, and cut with "..." if too long: nothing in it can move a cursor.
 */
struct text_quoted text_quote(const char *name);

/* The same for bytes without a NUL at their end. */
struct text_quoted text_quote_bytes(const void *bytes, size_t n_bytes);

/* The same without quotes (unless it is empty), for paths that begin a message: `a.npz: ...`. */
struct text_quoted text_path(const char *path);

/* The length (1 to 4) of the well-formed UTF-8 character, not a surrogate or overlong form, at the
 * start of the n_left bytes at p; 0: there is none. */
size_t text_utf8_nbytes(const void *p, size_t n_left);

/* The length of the control character at the start of text; 0: there is none. These are C0, DEL
 * and, in UTF-8, C1, the byte order mark, line separators and marks of text direction. */
size_t text_control_nbytes(const char *text);

/* A size as people read it, "1.4 GiB". */
struct text_quoted text_size(uint64_t n_bytes);

/* printf-style; cut if too long. */
struct text_quoted text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Append to the text in a buffer of n_bytes, printf-style; cut if too long. */
void text_add(char *text, size_t n_bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "(12, 64, 9, 9)", as Python writes a shape. */
struct text_quoted text_shape(const uint64_t *shape, size_t n_dims);
