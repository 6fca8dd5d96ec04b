/*
 * test_zip_check.c - the structure of zip archives: sound ones with one field changed, other forms.
 */
#include "zip_maker.h"

enum where { LOCAL, DESCRIPTOR, CENTRAL, END, END64, LOCATOR };

static size_t place_of(const struct places *at, enum where where)
{
    switch (where) {
    case LOCAL:
        return at->local[1];
    case DESCRIPTOR:
        return at->descriptor[1];
    case CENTRAL:
        return at->central[1];
    case END:
        return at->end;
    case END64:
        return at->end64;
    default:
        return at->locator;
    }
}

/* One field of a sound archive changed. */
static const struct edit {
    enum where where;
    size_t offset;
    size_t width;
    uint64_t value;
    unsigned descriptor; /* of the second member */
    const char *refusal;
    const char *warning;
    bool zip64;
} edits[] = {
    /* local headers */
    {LOCAL, 0, 4, 0x04034b51, 0, "b.npy: expected a local header", NULL, 0},
    {LOCAL, 4, 2, 63, 0, NULL, NULL, 0},
    {LOCAL, 6, 2, 1, 0, "flags 0x0000", NULL, 0},
    {LOCAL, 6, 2, 8, 0, "flags 0x0000", NULL, 0},
    {LOCAL, 6, 2, 0x800, 0, "flags 0x0000", NULL, 0},
    {LOCAL, 6, 2, 6, 0, NULL, NULL, 0},
    {LOCAL, 8, 2, 8, 0, "method 0 in the local header", NULL, 0},
    {LOCAL, 10, 4, 0xffffffff, 0, NULL, NULL, 0},
    {LOCAL, 14, 4, 1, 0, "expected CRC", NULL, 0},
    {LOCAL, 18, 4, 9, 0, "packed size 10", NULL, 0},
    {LOCAL, 22, 4, 9, 0, "size 10", NULL, 0},
    {LOCAL, 18, 4, 0xffffffff, 0, "zip64 field in the local header", NULL, 0},
    {LOCAL, 26, 2, 4, 0, "same name in the local header, found 'b.np'", NULL, 0},
    {LOCAL, 28, 2, 3, 0, "whole extra fields", NULL, 0},
    {LOCAL, 28, 2, 0xffff, 0, "found the directory after", NULL, 0},
    {LOCAL, 30, 1, 'x', 0, "same name in the local header", NULL, 0},
    /* local headers in front of a descriptor */
    {LOCAL, 14, 4, 1, 16, "or 0 in the local header", NULL, 0},
    {LOCAL, 18, 4, 10, 16, NULL, NULL, 0},
    {LOCAL, 18, 4, 9, 16, "packed size 10", NULL, 0},
    {LOCAL, 22, 4, 9, 16, "size 10", NULL, 0},
    {LOCAL, 22, 4, 0xffffffff, 16, "size 10", NULL, 0},
    /* descriptors */
    {DESCRIPTOR, 0, 1, 'P', 12, "data descriptor", NULL, 0},
    {DESCRIPTOR, 0, 4, 0x08074b51, 16, "data descriptor", NULL, 0},
    {DESCRIPTOR, 4, 1, 0, 16, "data descriptor", NULL, 0},
    {DESCRIPTOR, 4, 1, 0, 12, "data descriptor", NULL, 0},
    {DESCRIPTOR, 8, 1, 0, 12, "data descriptor", NULL, 0},
    {DESCRIPTOR, 8, 4, 11, 16, "data descriptor", NULL, 0},
    {DESCRIPTOR, 12, 4, 11, 16, "data descriptor", NULL, 0},
    {DESCRIPTOR, 15, 1, 1, 24, "data descriptor", NULL, 0},
    {DESCRIPTOR, 19, 1, 1, 20, "data descriptor", NULL, 0},
    /* directory entries */
    {CENTRAL, 0, 4, 0x02014b51, 0, "another entry in the zip directory", NULL, 0},
    {CENTRAL, 6, 1, 46, 0, NULL, "version 4.6", 0},
    {CENTRAL, 6, 1, 45, 0, NULL, NULL, 0},
    {CENTRAL, 7, 1, 3, 0, NULL, NULL, 0},
    {CENTRAL, 8, 2, 1, 0, "encrypted", NULL, 0},
    {CENTRAL, 8, 2, 0x10, 0, "enhanced deflating", NULL, 0},
    {CENTRAL, 8, 2, 0x20, 0, "patch", NULL, 0},
    {CENTRAL, 8, 2, 0x40, 0, "strong encryption", NULL, 0},
    {CENTRAL, 8, 2, 0x2000, 0, "masked", NULL, 0},
    {CENTRAL, 8, 2, 8, 0, "flags 0x0008", NULL, 0},
    {CENTRAL, 10, 2, 8, 0, "method 8 in the local header", NULL, 0},
    {CENTRAL, 10, 2, 12, 0, "12 (bzip2)", NULL, 0},
    {CENTRAL, 10, 2, 99, 0, "99 (WinZip AES)", NULL, 0},
    {CENTRAL, 16, 4, 1, 0, "CRC 00000001", NULL, 0},
    {CENTRAL, 20, 4, 11, 0, "two sizes to be equal", NULL, 0},
    {CENTRAL, 24, 4, 11, 0, "two sizes to be equal", NULL, 0},
    {CENTRAL, 20, 8, 0x0000000b0000000b, 0, "packed size 11|size 11", NULL, 0},
    {CENTRAL, 20, 4, 0x7fffffff, 0, "packed bytes in front of the directory", NULL, 0},
    {CENTRAL, 24, 4, 0xffffffff, 0, "zip64 field in the directory", NULL, 0},
    {CENTRAL, 28, 2, 0, 0, "name is empty", NULL, 0},
    {CENTRAL, 28, 2, 0xffff, 0, "run past the directory", NULL, 0},
    {CENTRAL, 30, 2, 0xffff, 0, "run past the directory", NULL, 0},
    {CENTRAL, 32, 2, 0xffff, 0, "run past the directory", NULL, 0},
    {CENTRAL, 32, 2, 1, 0, "another entry", NULL, 0},
    {CENTRAL, 34, 2, 1, 0, "disk 1", NULL, 0},
    {CENTRAL, 34, 2, 0xffff, 0, "disk 65535", NULL, 0},
    {CENTRAL, 36, 6, 0xffffffffffff, 0, NULL, NULL, 0},
    {CENTRAL, 42, 4, 3, 0, "expected a local header at byte 3", NULL, 0},
    {CENTRAL, 42, 4, 0, 0, "same name in the local header, found 'a.npy'", NULL, 0},
    {CENTRAL, 42, 4, 0x7fffffff, 0, "in front of the directory", NULL, 0},
    {CENTRAL, 42, 4, 0xffffffff, 0, "zip64 field", NULL, 0},
    {CENTRAL, 46, 1, '/', 0, "absolute", NULL, 0},
    {CENTRAL, 46, 1, '\\', 0, "backslash", NULL, 0},
    {CENTRAL, 46, 1, 0, 0, "control character", NULL, 0},
    {CENTRAL, 46, 1, 0x1b, 0, "control character", NULL, 0},
    {CENTRAL, 46, 1, 0x7f, 0, "control character", NULL, 0},
    /* end record */
    {END, 0, 4, 0x06054b51, 0, "zip end record at the end of the file, found none", NULL, 0},
    {END, 4, 2, 1, 0, "on one disk", NULL, 0},
    {END, 6, 2, 1, 0, "on one disk", NULL, 0},
    {END, 8, 2, 2, 0, "on one disk", NULL, 0},
    {END, 8, 4, 0x00040004, 0, "4 members, found one of", NULL, 0},
    {END, 8, 4, 0x00020002, 0, "2 members in", NULL, 0},
    {END, 8, 4, 0, 0, "0 members in", NULL, 0},
    {END, 8, 4, 0xffffffff, 0, "65535 members", NULL, 0},
    {END, 12, 4, 152, 0, "directory to end at", NULL, 0},
    {END, 12, 4, 154, 0, "directory to end at", NULL, 0},
    {END, 12, 4, 0xffffffff, 0, "directory to end at", NULL, 0},
    {END, 16, 4, 0, 0, "directory to end at", NULL, 0},
    {END, 20, 2, 1, 0, "comment of 1 bytes, found 0", NULL, 0},
    {END, 20, 2, 0xffff, 0, "comment of 65535 bytes, found 0", NULL, 0},
    /* zip64 records */
    {LOCATOR, 4, 4, 1, 0, "on one disk", NULL, 1},
    {LOCATOR, 8, 8, 0, 0, "expected a zip64 end record at byte 0", NULL, 1},
    {LOCATOR, 8, 8, UINT64_MAX, 0, "front of its locator", NULL, 1},
    {LOCATOR, 8, 8, UINT64_MAX - 40, 0, "front of its locator", NULL, 1},
    {LOCATOR, 16, 4, 2, 0, "on one disk", NULL, 1},
    {LOCATOR, 0, 4, 0, 0, "65535 members|directory to end", NULL, 1},
    {END64, 0, 4, 1, 0, "expected a zip64 end record", NULL, 1},
    {END64, 4, 8, 45, 0, "end record of 44 bytes, found 45", NULL, 1},
    {END64, 4, 8, UINT64_MAX, 0, "end record of 44 bytes", NULL, 1},
    {END64, 16, 4, 1, 0, "on one disk", NULL, 1},
    {END64, 20, 4, 1, 0, "on one disk", NULL, 1},
    {END64, 24, 8, 2, 0, "on one disk", NULL, 1},
    {END64, 32, 8, 1ull << 40, 0, "on one disk", NULL, 1},
    {END64, 40, 8, UINT64_MAX, 0, "directory to end at", NULL, 1},
    {END64, 48, 8, UINT64_MAX - 100, 0, "directory to end at", NULL, 1},
    {END, 8, 4, 0x00030003, 0, NULL, NULL, 1},
    {END, 8, 4, 0x00020002, 0, "zip64 end record to agree", NULL, 1},
    {END, 12, 4, 5, 0, "zip64 end record to agree", NULL, 1},
    {END, 16, 4, 5, 0, "zip64 end record to agree", NULL, 1},
    {END, 4, 4, 0xffffffff, 0, NULL, NULL, 1},
    {END, 4, 4, 0x00000001, 0, "on one disk", NULL, 1},
};

/* A refusal may be one of several, separated by '|'. */
static bool is_edit_wrong(const struct edit *edit, size_t i, const struct bytes *b)
{
    char what[32], first[128];

    snprintf(what, sizeof what, "edit %zu", i);
    if (edit->refusal != NULL && strchr(edit->refusal, '|') != NULL) {
        char message[2 * ERROR_MESSAGE_NBYTES], remarks[2048];

        snprintf(first, sizeof first, "%.*s", (int)strcspn(edit->refusal, "|"), edit->refusal);
        check_bytes(b, message, remarks, sizeof message);
        return strstr(message, first) == NULL &&
               strstr(message, strchr(edit->refusal, '|') + 1) == NULL;
    }
    return is_wrong(what, b, edit->refusal, edit->warning);
}

static void test_edits(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct member members[] = {PLAIN};
        const struct form form = {.zip64 = edits[i].zip64};
        struct bytes b = {0};
        struct places at;

        members[1].descriptor = edits[i].descriptor;
        make_zip(members, 3, &form, &b, &at);
        bytes_put_le(b.data + place_of(&at, edits[i].where) + edits[i].offset, edits[i].value,
                     edits[i].width);
        n_wrong += is_edit_wrong(&edits[i], i, &b);
        bytes_release(&b);
    }
    assert_int_equal(n_wrong, 0);
}

static const struct {
    const char *what;
    struct form form;
    const char *refusal;
    const char *warning;
} forms[] = {
    {"comment", {.comment = "symaug 1 hex8", .comment_nbytes = 13}, NULL, NULL},
    {"record in comment",
     {.comment = "xxPK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", .comment_nbytes = 24},
     "a second one inside",
     NULL},
    {"record in comment, and NULs",
     {.comment = "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", .comment_nbytes = 26},
     "a second one inside",
     NULL},
    {"half a record in comment",
     {.comment = "xxPK\5\6xxxx", .comment_nbytes = 10},
     "expected a zip end record of 22 bytes, found 8",
     NULL},
    {"trailing NULs", {.n_trailing = 10}, NULL, "10 NUL bytes"},
    {"4096 trailing NULs", {.n_trailing = 4096}, NULL, "4096 NUL bytes"},
    {"4097 trailing NULs", {.n_trailing = 4097}, "found 4097 more bytes", NULL},
    {"1 MiB of trailing NULs", {.n_trailing = 1 << 20}, "found none", NULL},
    {"trailing text", {.n_trailing = 1, .trailing_byte = '\n'}, "found 1 more bytes", NULL},
    {"gap at the end", {.n_before_directory = 9}, NULL, "9 bytes from byte"},
    {"stray bytes behind the directory", {.n_behind_directory = 1}, "directory to end at", NULL},
    {"zip64", {.zip64 = true}, NULL, NULL},
    {"zip64, stray bytes", {.zip64 = true, .n_behind_directory = 4}, "directory to end at", NULL},
    {"zip64, comment, NULs",
     {.zip64 = true, .comment = "c", .comment_nbytes = 1, .n_trailing = 2},
     NULL,
     "2 NUL bytes"},
    {"zip64, 65,537 members", {.zip64 = true, .count_more = 65534}, "at most 65536", NULL},
    {"zip64, 4 members", {.zip64 = true, .count_more = 1}, "4 members", NULL},
};

static void test_forms(void **state)
{
    const struct member members[] = {PLAIN};
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct bytes b = {0};
        struct places at;

        make_zip(members, 3, &forms[i].form, &b, &at);
        n_wrong += is_wrong(forms[i].what, &b, forms[i].refusal, forms[i].warning);
        bytes_release(&b);
    }
    assert_int_equal(n_wrong, 0);
}

/* Any prefix of a file, and a file behind other data, is no archive. */
static void test_cut_and_prefixed(void **state)
{
    const struct member members[] = {PLAIN};
    const struct form form = {0};
    struct bytes b = {0}, prefixed = {0};
    struct places at;
    char message[2 * ERROR_MESSAGE_NBYTES], remarks[2048];
    size_t n_all;

    (void)state;
    make_zip(members, 3, &form, &b, &at);
    put_all(&prefixed, "#!/bin/sh\n", 10);
    put_all(&prefixed, b.data, b.n_bytes);
    assert_false(is_wrong("prefix", &prefixed, "other data stands in front", NULL));
    n_all = b.n_bytes;
    for (b.n_bytes = 0; b.n_bytes < n_all; b.n_bytes++) {
        check_bytes(&b, message, remarks, sizeof message);
        if (strstr(message, "t.npz: expected") == NULL)
            fail_msg("cut to %zu bytes: %s", b.n_bytes, message);
    }
    bytes_release(&b);
    bytes_release(&prefixed);
}

static void test_empty_archive(void **state)
{
    const struct form form = {0}, gap = {.n_before_directory = 3};
    struct bytes b = {0};
    struct places at;

    (void)state;
    make_zip(NULL, 0, &form, &b, &at);
    assert_false(is_wrong("no members", &b, NULL, NULL));
    b.n_bytes = 0;
    make_zip(NULL, 0, &gap, &b, &at);
    assert_false(is_wrong("only a gap", &b, "first member at byte 0", NULL));
    bytes_release(&b);
}

/* What the caller gets: places, sizes and names of the members. */
static void test_entries(void **state)
{
    const struct member members[] = {PLAIN};
    const struct form form = {.comment = "hello", .comment_nbytes = 5};
    struct zip_directory directory;
    struct warnings warnings = {0};
    struct error err = {0};
    struct places at;
    struct bytes b = {0};
    struct input in;

    (void)state;
    make_zip(members, 3, &form, &b, &at);
    put_file(scratch("t.npz"), &b);
    assert_int_equal(input_open(&in, scratch("t.npz"), true, &err), 0);
    assert_int_equal(zip_check(&in, &directory, &warnings, &err), 0);
    assert_int_equal(directory.n_entries, 3);
    assert_string_equal(directory.comment, "hello");
    for (size_t i = 0; i < 3; i++) {
        const struct zip_entry *entry = &directory.entries[i];

        assert_string_equal(entry->name, members[i].name);
        assert_int_equal(entry->name_nbytes, strlen(members[i].name));
        assert_int_equal(entry->header_offset, at.local[i]);
        assert_int_equal(entry->data_offset, at.data[i]);
        assert_int_equal(entry->end_offset, at.descriptor[i]);
        assert_int_equal(entry->packed_nbytes, strlen(members[i].data));
        assert_int_equal(entry->crc, crc_of(members[i].data));
        assert_false(entry->is_folder);
    }
    zip_directory_release(&directory);
    zip_directory_release(&directory);
    input_close(&in);
    bytes_release(&b);
}

/* Bytes changed at random must never crash, and what is accepted libzip reads the same way. */
static void test_random_changes(void **state)
{
    struct member members[] = {PLAIN};
    const struct form form = {.zip64 = true, .comment = "c", .comment_nbytes = 1};
    static const uint8_t telling[] = {0, 1, 8, 0x7f, 0x80, 0xff};
    struct bytes b = {0};
    struct places at;
    uint32_t seed = 1;
    char message[2 * ERROR_MESSAGE_NBYTES], remarks[2048];

    (void)state;
    members[1].descriptor = 16;
    make_zip(members, 3, &form, &b, &at);
    for (int round = 0; round < 3000; round++) {
        size_t where;
        uint8_t old;

        seed = seed * 1664525u + 1013904223u;
        where = (seed >> 8) % b.n_bytes;
        old = b.data[where];
        b.data[where] = telling[(seed >> 4) % sizeof telling];
        check_bytes(&b, message, remarks, sizeof message);
        if (strncmp(message, "libzip", 6) == 0)
            fail_msg("byte %zu as %u: %s", where, b.data[where], message);
        b.data[where] = old;
    }
    bytes_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_edits),
        IN_SCRATCH(test_forms),
        IN_SCRATCH(test_entries),
        IN_SCRATCH(test_empty_archive),
        IN_SCRATCH(test_cut_and_prefixed),
        IN_SCRATCH(test_random_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
