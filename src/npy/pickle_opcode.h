/*
 * pickle_opcode.h - the opcodes of protocols 2 to 5 that numpy's object arrays need, and how the
 * argument of each is laid out. All others are refused.
 */
#ifndef SYMAUG_NPY_PICKLE_OPCODE_H
#define SYMAUG_NPY_PICKLE_OPCODE_H

#include "base/bytes.h"

#include <stdint.h>
#include <string.h>

enum pickle_op {
    OP_MARK = '(',
    OP_EMPTY_TUPLE = ')',
    OP_STOP = '.',
    OP_BINBYTES = 'B',
    OP_SHORT_BINBYTES = 'C',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_REDUCE = 'R',
    OP_BINSTRING = 'T',
    OP_SHORT_BINSTRING = 'U',
    OP_BINUNICODE = 'X',
    OP_EMPTY_LIST = ']',
    OP_APPEND = 'a',
    OP_BUILD = 'b',
    OP_GLOBAL = 'c',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_TUPLE = 't',
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINBYTES8 = 0x8e,
    OP_STACK_GLOBAL = 0x93,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
    OP_BYTEARRAY8 = 0x96,
};

#define PICKLE_OBJECT_FLAGS 63 /* of the dtype of objects, in its state */

/* What follows the opcode's byte. */
enum pickle_form {
    FORM_REFUSED = 0, /* not an opcode that is accepted */
    FORM_WIDTH = 0x0f,
    FORM_IS_COUNTED = 0x10,
    FORM_NOTHING = 0x20,
    FORM_NUMBER1 = FORM_NOTHING | 1, /* an integer of 1 byte, */
    FORM_NUMBER2 = FORM_NOTHING | 2, /* of 2 bytes, least significant first, ... */
    FORM_NUMBER4 = FORM_NOTHING | 4,
    FORM_NUMBER8 = FORM_NOTHING | 8,
    FORM_COUNTED1 = FORM_NUMBER1 | FORM_IS_COUNTED, /* such an integer, and that many bytes */
    FORM_COUNTED4 = FORM_NUMBER4 | FORM_IS_COUNTED,
    FORM_COUNTED8 = FORM_NUMBER8 | FORM_IS_COUNTED,
    FORM_LINES = 0x40, /* two lines, each ended by a newline */
};

extern const uint8_t pickle_forms[256]; /* enum pickle_form of each opcode */

/* What an opcode that is refused would do, "an instance of a class", or NULL. */
const char *pickle_refused_use(uint8_t opcode);

/* An opcode and its argument. */
struct pickle_code {
    uint8_t opcode;
    uint64_t number;      /* the integer; FORM_LINES: length of both lines without the last \n */
    const uint8_t *bytes; /* borrowed: what is counted, or the lines */
};

enum pickle_decoded { DECODED, DECODED_TRUNCATED, DECODED_REFUSED };

/* The two lines at p: "module\nname\n". Returns where the second newline is, or NULL. */
static inline const uint8_t *pickle_lines_end(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *first = memchr(p, '\n', (size_t)(end - p));

    return first == NULL ? NULL : memchr(first + 1, '\n', (size_t)(end - first - 1));
}

/* The integer of an argument: n_bytes is 0, 1, 2, 4 or 8. */
static inline uint64_t pickle_number(const uint8_t *p, size_t n_bytes)
{
    switch (n_bytes) {
    case 1:
        return p[0];
    case 2:
        return bytes_get_le16(p);
    case 4:
        return bytes_get_le32(p);
    case 8:
        return bytes_get_le64(p);
    default:
        return 0;
    }
}

static inline enum pickle_decoded pickle_decode_lines(const uint8_t **next, const uint8_t *end,
                                                      struct pickle_code *code)
{
    const uint8_t *p = *next;
    const uint8_t *newline = pickle_lines_end(p, end);

    if (newline == NULL)
        return DECODED_TRUNCATED;
    code->bytes = p;
    code->number = (uint64_t)(newline - p);
    *next = newline + 1;
    return DECODED;
}

/* Take one opcode with its argument and move *next behind it. */
static inline enum pickle_decoded pickle_decode(const uint8_t **next, const uint8_t *end,
                                                struct pickle_code *code)
{
    const uint8_t *p = *next;
    unsigned form;
    size_t width;

    if (p == end)
        return DECODED_TRUNCATED;
    code->opcode = *p++;
    *next = p;
    form = pickle_forms[code->opcode];
    if (form == FORM_NOTHING)
        return DECODED;
    if (form == FORM_REFUSED)
        return DECODED_REFUSED;
    if (form == FORM_LINES)
        return pickle_decode_lines(next, end, code);
    width = form & FORM_WIDTH;
    if ((size_t)(end - p) < width)
        return DECODED_TRUNCATED;
    code->number = pickle_number(p, width);
    p += width;
    if ((form & FORM_IS_COUNTED) != 0) {
        code->bytes = p;
        if ((uint64_t)(end - p) < code->number)
            return DECODED_TRUNCATED;
        p += code->number;
    }
    *next = p;
    return DECODED;
}

#endif
