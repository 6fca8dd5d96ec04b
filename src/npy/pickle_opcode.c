/* pickle_opcode.c - see pickle_opcode.h. */
#include "npy/pickle_opcode.h"

#include <stddef.h>

const uint8_t pickle_forms[256] = {
    [OP_MARK] = FORM_NOTHING,
    [OP_EMPTY_TUPLE] = FORM_NOTHING,
    [OP_STOP] = FORM_NOTHING,
    [OP_BINBYTES] = FORM_COUNTED4,
    [OP_SHORT_BINBYTES] = FORM_COUNTED1,
    [OP_BINFLOAT] = FORM_NUMBER8,
    [OP_BININT] = FORM_NUMBER4,
    [OP_BININT1] = FORM_NUMBER1,
    [OP_BININT2] = FORM_NUMBER2,
    [OP_NONE] = FORM_NOTHING,
    [OP_REDUCE] = FORM_NOTHING,
    [OP_BINSTRING] = FORM_COUNTED4,
    [OP_SHORT_BINSTRING] = FORM_COUNTED1,
    [OP_BINUNICODE] = FORM_COUNTED4,
    [OP_EMPTY_LIST] = FORM_NOTHING,
    [OP_APPEND] = FORM_NOTHING,
    [OP_BUILD] = FORM_NOTHING,
    [OP_GLOBAL] = FORM_LINES,
    [OP_APPENDS] = FORM_NOTHING,
    [OP_BINGET] = FORM_NUMBER1,
    [OP_LONG_BINGET] = FORM_NUMBER4,
    [OP_BINPUT] = FORM_NUMBER1,
    [OP_LONG_BINPUT] = FORM_NUMBER4,
    [OP_TUPLE] = FORM_NOTHING,
    [OP_TUPLE1] = FORM_NOTHING,
    [OP_TUPLE2] = FORM_NOTHING,
    [OP_TUPLE3] = FORM_NOTHING,
    [OP_NEWTRUE] = FORM_NOTHING,
    [OP_NEWFALSE] = FORM_NOTHING,
    [OP_LONG1] = FORM_COUNTED1,
    [OP_SHORT_BINUNICODE] = FORM_COUNTED1,
    [OP_BINBYTES8] = FORM_COUNTED8,
    [OP_STACK_GLOBAL] = FORM_NOTHING,
    [OP_MEMOIZE] = FORM_NOTHING,
    [OP_FRAME] = FORM_NUMBER8,
    [OP_BYTEARRAY8] = FORM_COUNTED8,
    /* OP_PROTO is accepted as the first opcode alone, where the reader looks for it itself. */
};

static const struct {
    uint8_t opcode;
    const char *use;
} refused[] = {
    {OP_PROTO, "a second protocol number"},
    {'i', "an instance of a class"},
    {'o', "an instance of a class"},
    {0x81, "an instance of a class"},
    {0x92, "an instance of a class"},
    {0x82, "an object of the extension registry"},
    {0x83, "an object of the extension registry"},
    {0x84, "an object of the extension registry"},
    {'P', "a persistent object"},
    {'Q', "a persistent object"},
    {0x97, "an out-of-band buffer"},
    {0x98, "an out-of-band buffer"},
    {'}', "a dict"},
    {'d', "a dict"},
    {'s', "a dict"},
    {'u', "a dict"},
    {0x8f, "a set"},
    {0x90, "a set"},
    {0x91, "a set"},
    {0x8b, "an integer beyond 64 bits"},
};

const char *pickle_refused_use(uint8_t opcode)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].opcode == opcode)
            return refused[i].use;
    return NULL;
}
