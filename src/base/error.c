/*
 * error.c - filling a struct error. The first cause stays: nothing is written over an error. The
 * message is the whole text; what it is about is kept beside it, and lengths that tell its parts.
 */
#include "base/error.h"

#include "base/text.h"

const struct error_place error_nowhere;

void error_fill_args(struct error *err, enum error_kind kind, const struct error_place *place,
                     const char *format, va_list args)
{
    const size_t room = sizeof err->message;
    static const char *const endings[] = {
        [ERROR_CODE_NONE] = "",
        [ERROR_CODE_CRC] = "",
        [ERROR_CODE_ROWS] = " [rows]",
        [ERROR_CODE_SHAPE] = " [shape]",
        [ERROR_CODE_LENGTH] = " [length-mismatch]",
    };
    const char *shown = place->shown != NULL ? place->shown : place->array;
    char reason[ERROR_MESSAGE_NBYTES];

    if (err == NULL || err->kind != ERROR_NONE)
        return;
    vsnprintf(reason, sizeof reason, format, args); /* may quote what is in err */
    err->kind = kind;
    if (place->errnum == ENOSPC || place->errnum == EDQUOT || place->errnum == ESTALE)
        err->kind = ERROR_TRY_LATER;
    else if (place->errnum == ENOMEM)
        err->kind = ERROR_INTERNAL;
    err->code = place->code;
    err->has_row = place->has_row;
    err->row = place->row;
    err->message[0] = '\0';
    snprintf(err->array, sizeof err->array, "%s", place->array != NULL ? place->array : "");
    if (place->verb != NULL)
        text_add(err->message, room, "cannot %s '", place->verb);
    err->file_at = (uint16_t)strlen(err->message);
    if (place->file != NULL)
        text_add(err->message, room, "%s",
                 place->verb == NULL ? text_path(place->file).text
                                     : text_quote(place->file).text + 1);
    err->file_nbytes = (uint16_t)(strlen(err->message) - err->file_at - (place->verb != NULL));
    if (place->file != NULL && (place->verb == NULL || reason[0] != '\0'))
        text_add(err->message, room, ": ");
    if (shown != NULL && *shown != '\0')
        text_add(err->message, room, "%s: ", text_path(shown).text);
    if (place->has_row)
        text_add(err->message, room, "row %llu: ", (unsigned long long)place->row);
    err->reason_at = place->verb != NULL ? 0 : (uint16_t)strlen(err->message);
    text_add(err->message, room, "%s", reason);
    if (place->errnum != 0)
        text_add(err->message, room, ": %s", strerror(place->errnum));
    err->reason_nbytes = (uint16_t)(strlen(err->message) - err->reason_at);
    text_add(err->message, room, "%s", endings[place->code]);
}

void error_fill_at(struct error *err, enum error_kind kind, const struct error_place *place,
                   const char *format, ...)
{
    va_list args;

    va_start(args, format);
    error_fill_args(err, kind, place, format, args);
    va_end(args);
}

int error_pass(struct error *err, const struct error *met)
{
    if (err != NULL && err->kind == ERROR_NONE)
        *err = *met;
    return -1;
}

const char *error_reason(const struct error *err, char *reason)
{
    snprintf(reason, ERROR_MESSAGE_NBYTES, "%.*s", (int)err->reason_nbytes,
             err->message + err->reason_at);
    return reason;
}

int error_exit_code(enum error_kind kind)
{
    static const int codes[] = {
        [ERROR_NONE] = 0,      [ERROR_USAGE] = 64,       [ERROR_DATA] = 65, [ERROR_NO_INPUT] = 66,
        [ERROR_INTERNAL] = 70, [ERROR_CANT_CREATE] = 73, [ERROR_IO] = 74,   [ERROR_TRY_LATER] = 75,
    };

    return codes[kind];
}
