/*
 * error.h - the one way a failure travels up.
 *
 * Functions return 0, or -1 after filling a struct error. The function that knows the context
 * writes the whole message (file, member, row, expected, found); callers only pass it up.
 */
#ifndef SYMAUG_BASE_ERROR_H
#define SYMAUG_BASE_ERROR_H

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

#define ERROR_MESSAGE_NBYTES 1024

/* A failure: its kind and one line of text. Plain data, no resources: zero-initialise it. */
struct error {
    enum error_kind kind;
    char message[ERROR_MESSAGE_NBYTES];
};

/* What error_set and its kin are made of; call those. */
void error_fill(struct error *err, enum error_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_fill_errno(struct error *err, enum error_kind kind, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

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
#define error_set(...) (error_fill(__VA_ARGS__), error_failed())

/*
 * error_set_errno(err, kind, errnum, format, ...): as error_set, with ": " and the text of errnum
 * appended. Disk full, quota and stale handles become ERROR_TRY_LATER, lack of memory
 * ERROR_INTERNAL, everything else gets `kind`.
 */
#define error_set_errno(...) (error_fill_errno(__VA_ARGS__), error_failed())

/* No memory for `what` ("row window of 12 MiB"). Returns -1. */
static inline int error_no_memory(struct error *err, const char *what)
{
    return error_set(err, ERROR_INTERNAL, "out of memory: %s", what);
}

/* The exit code of a kind: 0 for ERROR_NONE, else as the list above. */
int error_exit_code(enum error_kind kind);

#endif
