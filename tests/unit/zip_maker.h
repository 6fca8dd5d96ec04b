/*
 * zip_maker.h - archives made byte by byte, so that each can be wrong in one place, and the verdict
 * of zip_check on them.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "scratch.h"
#include "zip/check.h"

/* A member as it is written; zeroed fields mean the plain thing. */
struct member {
    const char *name;
    size_t name_nbytes;     /* 0: strlen */
    const char *local_name; /* NULL: the same; of the same length */
    const char *data;
    unsigned method, flags, version, disk;
    const char *extra; /* of the directory, with its length */
    size_t extra_nbytes;
    const char *local_extra;
    size_t local_extra_nbytes;
    unsigned descriptor; /* its length: 12, 16, 20, 24 */
    const char *gap;     /* bytes in front of the local header */
    size_t gap_nbytes;
    bool reuse_offset; /* its directory entry points at the member before */
    unsigned padding;  /* that many bytes of extra field of unknown type */
};

/* The archive around the members. */
struct form {
    const char *comment;
    size_t comment_nbytes;
    size_t n_trailing;
    char trailing_byte;
    size_t n_before_directory, n_behind_directory; /* stray bytes */
    bool zip64;
    int count_more;
};

/* Where things are in the bytes made, for edits. */
struct places {
    size_t local[8], data[8], descriptor[8], central[8], directory, end64, locator, end;
};

static inline uint32_t crc_of(const char *data)
{
    uint32_t crc = 0xffffffff;

    for (; *data != '\0'; data++) {
        crc ^= (uint8_t)*data;
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

static inline void put(struct bytes *b, uint64_t value, size_t n)
{
    uint8_t p[8];
    struct error err = {0};

    bytes_put_le(p, value, n);
    assert_int_equal(bytes_append(b, p, n, &err), 0);
}

static inline void put_all(struct bytes *b, const void *p, size_t n)
{
    struct error err = {0};

    if (n > 0)
        assert_int_equal(bytes_append(b, p, n, &err), 0);
}

static inline size_t name_length(const struct member *m)
{
    return m->name_nbytes != 0 ? m->name_nbytes : strlen(m->name);
}

static inline void put_descriptor(struct bytes *b, const struct member *m)
{
    const size_t width = m->descriptor >= 20 ? 8 : 4;

    if (m->descriptor % 8 == 0)
        put(b, 0x08074b50, 4);
    put(b, crc_of(m->data), 4);
    put(b, strlen(m->data), width);
    put(b, strlen(m->data), width);
}

static inline void put_local(struct bytes *b, const struct member *m, size_t i, struct places *at)
{
    const bool known = m->descriptor == 0;

    put_all(b, m->gap, m->gap_nbytes);
    at->local[i] = b->n_bytes;
    put(b, 0x04034b50, 4);
    put(b, m->version != 0 ? m->version : 20, 2);
    put(b, m->flags | (known ? 0 : 8), 2);
    put(b, m->method, 2);
    put(b, 0x00210000, 4);
    put(b, known ? crc_of(m->data) : 0, 4);
    put(b, known ? strlen(m->data) : 0, 4);
    put(b, known ? strlen(m->data) : 0, 4);
    put(b, name_length(m), 2);
    put(b, m->local_extra_nbytes + m->padding, 2);
    put_all(b, m->local_name != NULL ? m->local_name : m->name, name_length(m));
    put_all(b, m->local_extra, m->local_extra_nbytes);
    for (unsigned k = 0; k < m->padding; k++)
        put(b, 0, 1);
    at->data[i] = b->n_bytes;
    put_all(b, m->data, strlen(m->data));
    at->descriptor[i] = b->n_bytes;
    if (!known)
        put_descriptor(b, m);
}

static inline void put_central(struct bytes *b, const struct member *m, size_t i, struct places *at)
{
    at->central[i] = b->n_bytes;
    put(b, 0x02014b50, 4);
    put(b, 0x0314, 2);
    put(b, m->version != 0 ? m->version : 20, 2);
    put(b, m->flags | (m->descriptor == 0 ? 0 : 8), 2);
    put(b, m->method, 2);
    put(b, 0x00210000, 4);
    put(b, crc_of(m->data), 4);
    put(b, strlen(m->data), 4);
    put(b, strlen(m->data), 4);
    put(b, name_length(m), 2);
    put(b, m->extra_nbytes, 2);
    put(b, 0, 2);
    put(b, m->disk, 2);
    put(b, 0, 6);
    put(b, at->local[m->reuse_offset ? i - 1 : i], 4);
    put_all(b, m->name, name_length(m));
    put_all(b, m->extra, m->extra_nbytes);
}

static inline void put_end64(struct bytes *b, size_t n, size_t size, struct places *at)
{
    at->end64 = b->n_bytes;
    put(b, 0x06064b50, 4);
    put(b, 44, 8);
    put(b, 45, 2);
    put(b, 45, 2);
    put(b, 0, 8);
    put(b, n, 8);
    put(b, n, 8);
    put(b, size, 8);
    put(b, at->directory, 8);
    at->locator = b->n_bytes;
    put(b, 0x07064b50, 4);
    put(b, 0, 4);
    put(b, at->end64, 8);
    put(b, 1, 4);
}

static inline void make_zip(const struct member *members, size_t n, const struct form *form,
                            struct bytes *b, struct places *at)
{
    const size_t n_declared = n + (size_t)form->count_more;
    size_t size;

    memset(at, 0, sizeof *at);
    for (size_t i = 0; i < n; i++)
        put_local(b, &members[i], i, at);
    for (size_t i = 0; i < form->n_before_directory; i++)
        put(b, 'g', 1);
    at->directory = b->n_bytes;
    for (size_t i = 0; i < n; i++)
        put_central(b, &members[i], i, at);
    size = b->n_bytes - at->directory;
    for (size_t i = 0; i < form->n_behind_directory; i++)
        put(b, 'g', 1);
    if (form->zip64)
        put_end64(b, n_declared, size, at);
    at->end = b->n_bytes;
    put(b, 0x06054b50, 4);
    put(b, 0, 4);
    put(b, form->zip64 ? 0xffff : n_declared, 2);
    put(b, form->zip64 ? 0xffff : n_declared, 2);
    put(b, form->zip64 ? 0xffffffff : size, 4);
    put(b, form->zip64 ? 0xffffffff : at->directory, 4);
    put(b, form->comment_nbytes, 2);
    put_all(b, form->comment, form->comment_nbytes);
    for (size_t i = 0; i < form->n_trailing; i++)
        put(b, (uint8_t)form->trailing_byte, 1);
}

static inline void put_file(const char *path, const struct bytes *b)
{
    FILE *file;

    unlink(path); /* rewriting a file may sync it */
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->data, 1, b->n_bytes, file), b->n_bytes);
    assert_int_equal(fclose(file), 0);
}

/* The verdict on the bytes: "" for accepted, the message else; warnings are joined. */
static inline void check_bytes(const struct bytes *b, char *message, char *remarks, size_t n_bytes)
{
    struct zip_directory directory;
    struct warnings warnings = {0};
    struct error err = {0};
    struct input in;

    message[0] = remarks[0] = '\0';
    put_file(scratch("t.npz"), b);
    assert_int_equal(input_open(&in, scratch("t.npz"), true, &err), 0);
    if (zip_check(&in, &directory, &warnings, &err) != 0) {
        assert_int_equal(err.kind, ERROR_DATA);
        assert_non_null(strstr(err.message, "t.npz: "));
        snprintf(message, n_bytes, "%s", err.message);
    }
    for (size_t i = 0; i < warnings.list.n; i++)
        snprintf(remarks + strlen(remarks), n_bytes - strlen(remarks), "%s; ",
                 warnings.list.items[i]);
    text_list_release(&warnings.list);
    zip_directory_release(&directory);
    input_close(&in);
}

/* Compare with what is expected: NULL for nothing. */
static inline bool is_wrong(const char *what, const struct bytes *b, const char *refusal,
                            const char *warning)
{
    char message[2 * ERROR_MESSAGE_NBYTES], remarks[2048];
    bool wrong;

    check_bytes(b, message, remarks, sizeof message);
    wrong = refusal == NULL ? message[0] != '\0' : strstr(message, refusal) == NULL;
    if (refusal == NULL)
        wrong = wrong || (warning == NULL ? remarks[0] != '\0' : strstr(remarks, warning) == NULL);
    if (wrong)
        print_error("%s: expected %s / %s, found %s / %s\n", what,
                    refusal != NULL ? refusal : "accepted", warning != NULL ? warning : "-",
                    message, remarks);
    return wrong;
}

#define PLAIN                                                                    \
    {.name = "a.npy", .data = "first"}, {.name = "b.npy", .data = "second one"}, \
    {                                                                            \
        .name = "c.npy", .data = "3"                                             \
    }

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
