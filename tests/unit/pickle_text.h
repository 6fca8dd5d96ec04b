/*
 * pickle_text.h - object arrays as text, and pickles in pieces, for the pickle tests.
 */
#pragma once

#include "base/text.h"
#include "npy/pickle.h"

#include <stdlib.h>
#include <string.h>

static void append_text(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append_text(struct text *text, const char *format, ...)
{
    char part[256];
    struct error err = {0};
    va_list args;

    va_start(args, format);
    vsnprintf(part, sizeof part, format, args);
    va_end(args);
    assert_int_equal(text_append(text, &err, "%s", part), 0);
}

/* "<f4 (2,) F 0000403f0000803e" */
static void append_array(struct text *text, const struct pickle_ndarray *array)
{

    append_text(text, "%s %s%s ", dtype_name(&array->dtype).text,
                text_shape(array->shape, array->n_dims).text, array->fortran_order ? " F" : "");
    for (uint64_t i = 0; i < array->n_bytes; i++)
        append_text(text, "%02x", array->data[i]);
}

static void append_scalar(struct text *text, const struct pickle_item *item)
{
    switch (item->kind) {
    case PICKLE_NONE:
        append_text(text, "None");
        break;
    case PICKLE_BOOL:
        append_text(text, item->as.integer != 0 ? "True" : "False");
        break;
    case PICKLE_INT:
        append_text(text, "%lld", (long long)item->as.integer);
        break;
    case PICKLE_FLOAT:
        append_text(text, "%a", item->as.number);
        break;
    case PICKLE_STRING:
        append_text(text, "%s", text_quote_bytes(item->as.bytes, item->n_bytes_or_items).text);
        break;
    case PICKLE_ARRAY:
        append_array(text, item->as.array);
        break;
    default:
        append_text(text, "?");
    }
}

/* "(3,): None; 5; [1, 0x1p-1]" - the caller frees it. */
static char *document_text(const struct pickle_document *document)
{
    struct text text = {0};

    append_text(&text, "%s:", text_shape(document->shape, document->n_dims).text);
    for (uint64_t i = 0; i < document->n_items; i++) {
        const struct pickle_item *item = &document->items[i];

        append_text(&text, i == 0 ? " " : "; ");
        if (item->kind != PICKLE_LIST) {
            append_scalar(&text, item);
            continue;
        }
        append_text(&text, "[");
        for (uint32_t k = 0; k < item->n_bytes_or_items; k++) {
            append_text(&text, k == 0 ? "" : ", ");
            append_scalar(&text, &item->as.items[k]);
        }
        append_text(&text, "]");
    }
    return text.text;
}

/* A document as a pickle of ours. The caller releases the bytes. */
__attribute__((unused)) static struct bytes document_pickle(const struct pickle_document *document)
{
    struct pickle_writer writer;
    struct bytes out = {0};
    struct error err = {0};

    assert_int_equal(pickle_writer_init(&writer, document->shape, document->n_dims, &err), 0);
    assert_int_equal(writer.n_items, document->n_items);
    for (uint64_t i = 0; i < document->n_items; i++)
        assert_int_equal(pickle_writer_note(&writer, i, &document->items[i], &err), 0);
    assert_int_equal(pickle_write_prelude(&writer, &out, &err), 0);
    for (uint64_t i = 0; i < document->n_items; i++)
        assert_int_equal(pickle_write_item(&writer, i, &document->items[i], &out, &err), 0);
    return out;
}

/* A random number; seed must not be 0. */
__attribute__((unused)) static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Pickles in pieces. */
#define P_RECONSTRUCT "cnumpy.core.multiarray\n_reconstruct\n"
#define P_SHELL                              \
    P_RECONSTRUCT "cnumpy\nndarray\nK\0\x85" \
                  "C\x01"                    \
                  "b\x87R"
#define P_DTYPE(name, order, flags)                                          \
    "cnumpy\ndtype\nX\x02\0\0\0" name "\x89\x88\x87R(K\x03X\x01\0\0\0" order \
    "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" flags "tb"
#define P_O8 P_DTYPE("O8", "|", "?")
#define P_F4 P_DTYPE("f4", "<", "\0")
/* An ndarray of a shape and a dtype, both given as opcodes, in C order. */
#define P_ARRAY(shape, dtype, data) P_SHELL "(K\x01" shape dtype "\x89" data "tb"
/* The whole: an object array of a shape with what fills its list. */
#define P_OBJECTS(shape, items) "\x80\x03" P_SHELL "(K\x01" shape P_O8 "\x89]" items "tb."
