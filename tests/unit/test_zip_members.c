/*
 * test_zip_members.c - members of zip archives: names, descriptors, extra fields, gaps.
 */
#include "zip_maker.h"

#define EXTRA(text)   .extra = text, .extra_nbytes = sizeof text - 1
#define LOCAL_X(text) .local_extra = text, .local_extra_nbytes = sizeof text - 1

#define ZIP64_5_5 "\1\0\x10\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"
#define ZIP64_0_0 "\1\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define ZIP64_6_5 "\1\0\x10\0\6\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"
#define UNICODE_b "\x75\x70\x0a\0\1\0\0\0\0b.npy"
#define UNICODE_x "\x75\x70\x0a\0\1\0\0\0\0x.npy"

/* The second of three members as given. */
static const struct {
    const char *what;
    struct member member;
    const char *refusal;
    const char *warning;
} members_cases[] = {
    {"plain", {.name = "b.npy", .data = "12345"}, NULL, NULL},
    {"descriptor 12", {.name = "b.npy", .data = "12345", .descriptor = 12}, NULL, NULL},
    {"descriptor 16", {.name = "b.npy", .data = "12345", .descriptor = 16}, NULL, NULL},
    {"descriptor 20", {.name = "b.npy", .data = "12345", .descriptor = 20}, NULL, NULL},
    {"descriptor 24", {.name = "b.npy", .data = "12345", .descriptor = 24}, NULL, NULL},
    {"empty, descriptor 24", {.name = "b.npy", .data = "", .descriptor = 24}, NULL, NULL},
    {"empty, descriptor 20", {.name = "b.npy", .data = "", .descriptor = 20}, NULL, NULL},
    {"empty, descriptor 12", {.name = "b.npy", .data = "", .descriptor = 12}, NULL, NULL},
    {"descriptor with zip64 zeros",
     {.name = "b.npy", .data = "12345", .descriptor = 24, LOCAL_X(ZIP64_0_0)},
     NULL,
     NULL},
    {"descriptor with zip64 sizes",
     {.name = "b.npy", .data = "12345", .descriptor = 24, LOCAL_X(ZIP64_5_5)},
     NULL,
     NULL},
    {"descriptor with wrong zip64",
     {.name = "b.npy", .data = "12345", .descriptor = 24, LOCAL_X(ZIP64_6_5)},
     "expected size 5",
     NULL},
    {"zip64 with real sizes", {.name = "b.npy", .data = "12345", LOCAL_X(ZIP64_5_5)}, NULL, NULL},
    {"zip64 differs", {.name = "b.npy", .data = "12345", LOCAL_X(ZIP64_6_5)}, "to repeat 5", NULL},
    {"zip64 differs in directory",
     {.name = "b.npy", .data = "12345", EXTRA(ZIP64_6_5)},
     "to repeat 5",
     NULL},
    {"zip64 in directory, not needed",
     {.name = "b.npy", .data = "12345", EXTRA(ZIP64_5_5)},
     NULL,
     NULL},
    {"zip64 twice",
     {.name = "b.npy", .data = "12345", EXTRA(ZIP64_5_5 ZIP64_5_5)},
     "one extra field 0x0001 in the directory, found two",
     NULL},
    {"zip64 twice, local",
     {.name = "b.npy", .data = "12345", LOCAL_X(ZIP64_5_5 ZIP64_5_5)},
     "one extra field 0x0001 in the local header, found two",
     NULL},
    {"other extra fields twice",
     {.name = "b.npy", .data = "12345", EXTRA("ab\0\0ab\0\0"), LOCAL_X("UT\1\0\3")},
     NULL,
     NULL},
    {"extra runs over",
     {.name = "b.npy", .data = "12345", EXTRA("ab\2\0x")},
     "extra field 0x6261 of 2 bytes in the directory, found 1",
     NULL},
    {"extra of 3 bytes", {.name = "b.npy", .data = "12345", EXTRA("abc")}, "3 bytes left", NULL},
    {"alignment", {.name = "b.npy", .data = "12345", .padding = 3}, NULL, NULL},
    {"Unicode path, same", {.name = "b.npy", .data = "1", EXTRA(UNICODE_b)}, NULL, NULL},
    {"Unicode path, other",
     {.name = "b.npy", .data = "1", EXTRA(UNICODE_x)},
     "Unicode path field to repeat the name",
     NULL},
    {"flags 6", {.name = "b.npy", .data = "1", .flags = 6}, NULL, NULL},
    {"reserved flag", {.name = "b.npy", .data = "1", .flags = 0x80}, NULL, "reserved flag bits"},
    {"version 6.3", {.name = "b.npy", .data = "1", .version = 63}, NULL, "zip version 6.3"},
    {"no extension", {.name = "b", .data = "1"}, NULL, NULL},
    {"duplicate", {.name = "a.npy", .data = "1"}, "found also 'a.npy'", NULL},
    {"same key", {.name = "a", .data = "1"}, "found also 'a.npy'", NULL},
    {"same key, longer", {.name = "a.npy.npy", .data = "1"}, "found also 'a.npy'", NULL},
    {"case", {.name = "A.npy", .data = "1"}, NULL, "differs from 'A.npy' in upper"},
    {"case of the extension", {.name = "a.NPY", .data = "1"}, NULL, NULL},
    {"parent", {.name = "../b.npy", .data = "1"}, "'..' component", NULL},
    {"parent inside", {.name = "x/../b.npy", .data = "1"}, "'..' component", NULL},
    {"parent last", {.name = "x/..", .data = "1"}, "'..' component", NULL},
    {"dots in a name", {.name = "x..y.npy", .data = "1"}, NULL, NULL},
    {"drive", {.name = "C:/b.npy", .data = "1"}, "absolute", NULL},
    {"colon", {.name = "C:b.npy", .data = "1"}, NULL, NULL},
    {"sub-folder", {.name = "x/b.npy", .data = "1"}, NULL, "lies in a sub-folder"},
    {"folder", {.name = "x/", .data = ""}, NULL, NULL},
    {"folder with data", {.name = "x/", .data = "1234"}, "no data in an entry for a folder", NULL},
    {"nothing but extension", {.name = ".npy", .data = "1"}, "nothing but", NULL},
    {"C1 control", {.name = "b\xc2\x85.npy", .data = "1", .flags = 0x800}, "control", NULL},
    {"UTF-8", {.name = "b\xc3\xa9.npy", .data = "1", .flags = 0x800}, NULL, NULL},
    {"UTF-8, not marked", {.name = "b\xc3\xa9.npy", .data = "1"}, NULL, "neither ASCII nor"},
    {"not UTF-8, marked", {.name = "b\xe9.npy", .data = "1", .flags = 0x800}, "in UTF-8", NULL},
    {"not UTF-8, not marked", {.name = "b\xe9.npy", .data = "1"}, NULL, "neither ASCII nor"},
    {"other local name", {.name = "b.npy", .local_name = "x.npy", .data = "1"}, "found 'x", NULL},
    {"gap", {.name = "b.npy", .data = "1", .gap = "junk!", .gap_nbytes = 5}, NULL, "5 bytes from"},
    {"short gap", {.name = "b.npy", .data = "1", .gap = "PK", .gap_nbytes = 2}, NULL, "2 bytes"},
    {"hidden member",
     {.name = "b.npy", .data = "1", .gap = "PK\3\4...", .gap_nbytes = 7},
     "found one at byte 40 that is not",
     NULL},
    {"shared local header",
     {.name = "a.npy", .data = "first", .reuse_offset = true},
     "overlaps it from byte 0",
     NULL},
    {"deflated bomb", {.name = "b.npy", .data = "", .method = 8}, NULL, NULL},
    {"on disk 2", {.name = "b.npy", .data = "1", .disk = 2}, "disk 2", NULL},
};

static void test_members(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof members_cases / sizeof *members_cases; i++) {
        const struct member members[] = {{.name = "a.npy", .data = "first"},
                                         members_cases[i].member,
                                         {.name = "c.npy", .data = "last"}};
        const struct form form = {0};
        struct bytes b = {0};
        struct places at;

        make_zip(members, 3, &form, &b, &at);
        n_wrong +=
            is_wrong(members_cases[i].what, &b, members_cases[i].refusal, members_cases[i].warning);
        bytes_release(&b);
    }
    assert_int_equal(n_wrong, 0);
}

/* 0xffffffff in the directory's sizes and offset, and the zip64 field in their place. */
static const struct {
    const char *what;
    bool unpacked, packed, offset;
    struct member member;
    const char *refusal;
} zip64_cases[] = {
    {"both sizes", true, true, false, {.name = "b.npy", .data = "12345", EXTRA(ZIP64_5_5)}, NULL},
    {"all",
     true,
     true,
     true,
     {.name = "b.npy",
      .data = "12345",
      EXTRA("\1\0\x18\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0\x28\0\0\0\0\0\0\0")},
     NULL},
    {"offset only",
     false,
     false,
     true,
     {.name = "b.npy", .data = "12345", EXTRA("\1\0\x08\0\x28\0\0\0\0\0\0\0")},
     NULL},
    {"packed size only",
     false,
     true,
     false,
     {.name = "b.npy", .data = "12345", EXTRA("\1\0\x08\0\5\0\0\0\0\0\0\0")},
     NULL},
    {"packed size, two given",
     false,
     true,
     false,
     {.name = "b.npy", .data = "12345", EXTRA(ZIP64_5_5)},
     "libzip "},
    {"unpacked size, two readings",
     false,
     true,
     false,
     {.name = "b.npy", .data = "12345", EXTRA("\1\0\x10\0\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0")},
     "to repeat"},
    {"one of two",
     true,
     true,
     false,
     {.name = "b.npy", .data = "12345", EXTRA("\1\0\x08\0\5\0\0\0\0\0\0\0")},
     "at least 16 bytes in the directory, found 8"},
    {"none", true, true, false, {.name = "b.npy", .data = "12345"}, "found none"},
    {"empty",
     true,
     false,
     false,
     {.name = "b.npy", .data = "12345", EXTRA("\1\0\0\0")},
     "at least 8 bytes in the directory, found 0"},
    {"2 to the 62",
     true,
     true,
     false,
     {.name = "b.npy", .data = "12345", EXTRA("\1\0\x10\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x40")},
     "packed bytes in front of the directory"},
};

static void test_zip64(void **state)
{
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof zip64_cases / sizeof *zip64_cases; i++) {
        const struct member members[] = {{.name = "a.npy", .data = "first"}, zip64_cases[i].member};
        const struct form form = {0};
        struct bytes b = {0};
        struct places at;

        make_zip(members, 2, &form, &b, &at);
        assert_int_equal(at.local[1], 0x28);
        if (zip64_cases[i].packed)
            bytes_put_le(b.data + at.central[1] + 20, 0xffffffff, 4);
        if (zip64_cases[i].unpacked)
            bytes_put_le(b.data + at.central[1] + 24, 0xffffffff, 4);
        if (zip64_cases[i].offset)
            bytes_put_le(b.data + at.central[1] + 42, 0xffffffff, 4);
        n_wrong += is_wrong(zip64_cases[i].what, &b, zip64_cases[i].refusal, NULL);
        bytes_release(&b);
    }
    assert_int_equal(n_wrong, 0);
}

/* Both headers say the same, but it cannot be. */
static void test_impossible_sizes(void **state)
{
    static const struct {
        unsigned method;
        uint64_t packed, unpacked;
        const char *refusal;
    } cases[] = {
        {0, 5, 5, NULL},
        {0, 45, 45, "expected 45 packed bytes, found the directory after"},
        {8, 5, 6191, NULL},
        {8, 5, 6192, "at most 5160 bytes from 5 deflated ones, found 6192 declared"},
        {8, 0, 1032, "at most 0 bytes from 0 deflated ones"},
    };
    int n_wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct member members[] = {
            {.name = "a.npy", .data = "first, and long enough"},
            {.name = "b.npy", .data = "12345", .method = cases[i].method}};
        const struct form form = {0};
        struct bytes b = {0};
        struct places at;
        char what[16];

        make_zip(members, 2, &form, &b, &at);
        for (int k = 0; k < 2; k++) {
            uint8_t *sizes = b.data + (k == 0 ? at.local[1] + 18 : at.central[1] + 20);

            bytes_put_le(sizes, cases[i].packed, 4);
            bytes_put_le(sizes + 4, cases[i].unpacked, 4);
        }
        snprintf(what, sizeof what, "sizes %zu", i);
        n_wrong += is_wrong(what, &b, cases[i].refusal, NULL);
        bytes_release(&b);
    }
    assert_int_equal(n_wrong, 0);
}

/* Names up to 4096 bytes. */
static void test_long_names(void **state)
{
    char name[4098];

    (void)state;
    memset(name, 'n', sizeof name);
    for (size_t n = 4096; n <= 4097; n++) {
        struct member members[] = {{.name = name, .name_nbytes = n, .data = "1"}};
        const struct form form = {0};
        struct bytes b = {0};
        struct places at;

        make_zip(members, 1, &form, &b, &at);
        assert_false(is_wrong("long name", &b, n > 4096 ? "longer than 4096" : NULL, NULL));
        bytes_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_members),
        IN_SCRATCH(test_zip64),
        IN_SCRATCH(test_impossible_sizes),
        IN_SCRATCH(test_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
