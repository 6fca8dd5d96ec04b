/* error.c - filling a struct error. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void set_va(struct error *err, enum error_kind kind, const char *format, va_list args)
{
    if (err == NULL || err->kind != ERROR_NONE)
        return;
    err->kind = kind;
    vsnprintf(err->message, sizeof err->message, format, args);
}

void error_fill(struct error *err, enum error_kind kind, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    set_va(err, kind, format, args);
    va_end(args);
}

static enum error_kind kind_of_errno(int errnum, enum error_kind kind)
{
    switch (errnum) {
    case ENOSPC:
    case EDQUOT:
    case ESTALE:
        return ERROR_TRY_LATER;
    case ENOMEM:
        return ERROR_INTERNAL;
    default:
        return kind;
    }
}

void error_fill_errno(struct error *err, enum error_kind kind, int errnum, const char *format, ...)
{
    va_list args;
    size_t used;

    if (err == NULL || err->kind != ERROR_NONE)
        return;
    va_start(args, format);
    set_va(err, kind_of_errno(errnum, kind), format, args);
    va_end(args);
    used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(errnum));
}

int error_exit_code(enum error_kind kind)
{
    switch (kind) {
    case ERROR_NONE:
        return 0;
    case ERROR_USAGE:
        return 64;
    case ERROR_DATA:
        return 65;
    case ERROR_NO_INPUT:
        return 66;
    case ERROR_CANT_CREATE:
        return 73;
    case ERROR_IO:
        return 74;
    case ERROR_TRY_LATER:
        return 75;
    case ERROR_INTERNAL:
        break;
    }
    return 70;
}
