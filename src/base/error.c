/*
 * error.c - filling a struct error, and the parts of messages: names quoted so that nothing in them
 * can move a cursor or end a line, sizes, shapes as Python writes them. These are returned by
 * value, so that a message needs no allocation.
 *
 * An error that is set is never overwritten. The message is the whole text; offsets beside it tell
 * where the file's name and the reason are.
 */
#include "base/error.h"

/* --- parts of messages --- */

size_t text_utf8_nbytes(const void *bytes, size_t n_left)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *p = bytes;
    const size_t length = p[0] < 0xc2 || p[0] > 0xf4 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (p[0] < 0x80)
        return 1;
    if (length == 0 || length > n_left)
        return 0;
    uint32_t code = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    if (code < smallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    return length;
}

size_t text_control_nbytes(const char *text)
{
    const uint8_t *byte = (const uint8_t *)text;

    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
        return 2;
    if ((byte[0] == 0xef && byte[1] == 0xbb && byte[2] == 0xbf) ||
        (byte[0] == 0xe2 && byte[1] == 0x80 && byte[2] >= 0xa8 && byte[2] <= 0xae) ||
        (byte[0] == 0xe2 && byte[1] == 0x81 && byte[2] >= 0xa6 && byte[2] <= 0xa9))
        return 3;
    return byte[0] < 0x20 || byte[0] == 0x7f;
}

static struct text_quoted escaped(const void *bytes, size_t n_bytes, const char *quote)
{
    const uint8_t *p = bytes;
    struct text_quoted q;
    const size_t room = sizeof q.text - 8; /* "..." + quote + NUL always fit */
    size_t used = (size_t)snprintf(q.text, sizeof q.text, "%s", quote);

    for (size_t i = 0; i < n_bytes;) {
        size_t length = text_utf8_nbytes(p + i, n_bytes - i);
        bool plain = length > 0 && text_control_nbytes((const char *)p + i) == 0 && p[i] != '\\' &&
                     p[i] != quote[0];

        if (length == 0)
            length = 1;
        if (used + 4 * length > room) {
            memcpy(q.text + used, "...", 3);
            used += 3;
            break;
        }
        if (plain) {
            memcpy(q.text + used, p + i, length);
            used += length;
        } else {
            for (size_t k = 0; k < length; k++)
                used += (size_t)snprintf(q.text + used, sizeof q.text - used, "\\x%02x", p[i + k]);
        }
        i += length;
    }
    snprintf(q.text + used, sizeof q.text - used, "%s", quote);
    return q;
}

struct text_quoted text_quote_bytes(const void *bytes, size_t n_bytes)
{
    return escaped(bytes, n_bytes, "'");
}

struct text_quoted text_quote(const char *name)
{
    return text_quote_bytes(name, strlen(name));
}

struct text_quoted text_path(const char *path)
{
    return escaped(path, strlen(path), *path == '\0' ? "'" : "");
}

struct text_quoted text_size(uint64_t n_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = (double)n_bytes;
    size_t unit = 0;

    while (size >= 1024 && unit < 6) {
        size /= 1024;
        unit++;
    }
    return text_format(unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
}

struct text_quoted text_format(const char *format, ...)
{
    struct text_quoted q;
    va_list args;

    va_start(args, format);
    vsnprintf(q.text, sizeof q.text, format, args);
    va_end(args);
    return q;
}

void text_add(char *text, size_t n_bytes, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, n_bytes - used, format, args);
    va_end(args);
}

struct text_quoted text_shape(const uint64_t *shape, size_t n_dims)
{
    struct text_quoted q = {"("};

    for (size_t i = 0; i < n_dims && strlen(q.text) < sizeof q.text - 32; i++)
        text_add(q.text, sizeof q.text, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]);
    text_add(q.text, sizeof q.text, n_dims == 1 ? ",)" : ")");
    return q;
}

/* --- errors --- */

const struct error_place error_nowhere;

/* A text cut inside a character is not UTF-8, which JSON requires. */
static void make_utf8(char *text)
{
    for (size_t n; *text != '\0'; text += n)
        if ((n = text_utf8_nbytes(text, strlen(text))) == 0) {
            *text = '?';
            n = 1;
        }
}

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
    vsnprintf(reason, sizeof reason, format, args); /* the arguments may point into err */
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
    const size_t n = strlen(err->message);
    const size_t n_advice = place->advice != NULL ? strlen(place->advice) : 0;
    const bool has_advice =
        n_advice > 0 && n_advice < n && strcmp(err->message + n - n_advice, place->advice) == 0;
    err->advice_at = (uint16_t)(has_advice ? n - n_advice : 0);
    if (place->errnum != 0)
        text_add(err->message, room, ": %s", strerror(place->errnum));
    err->reason_nbytes = (uint16_t)(strlen(err->message) - err->reason_at);
    text_add(err->message, room, "%s", endings[place->code]);
    make_utf8(err->message);
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
