/* test_pickle_samples.c - what numpy wrote, in every protocol; limits; damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "pickle_text.h"

#include <glob.h>

#define FOLDER "tests/data/pickle/"

/* The bytes of a file in memory that is exactly as large. */
static uint8_t *read_file(const char *path, size_t *n_bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes;
    long n;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    n = ftell(file);
    assert_true(n > 0);
    rewind(file);
    bytes = malloc((size_t)n);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)n, file), n);
    fclose(file);
    *n_bytes = (size_t)n;
    return bytes;
}

/* The text of a pickle, or NULL with err set. */
static char *pickle_text(const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    struct pickle_document document;
    char *text;

    if (pickle_read(bytes, n_bytes, &pickle_default_limits, &document, err) != 0)
        return NULL;
    text = document_text(&document);
    pickle_release(&document);
    return text;
}

static const struct {
    const char *name;    /* of all the files NAME.* */
    const char *text;    /* how it begins; NULL: refused */
    const char *message; /* a part of it */
} samples[] = {
    {"batch_1001", "(1001,): <i4 (1,) 00000000; <i4 (1,) 01000000; ", NULL},
    {"big_inner", "(2,): <f4 (20000,) 000000000000803f00000040", NULL},
    {"evil", NULL, "it names 'posix.system', only plain numpy arrays are accepted; nothing was"},
    {"lists_of_scalars", "(4,): [1, 2, 3]; [0x1p-1, 0x1p-2]; []; ['a', None, True]", NULL},
    {"many_memo", "(400,): <f4 (0,) ; <f4 (1,) 00000000; <f4 (2,) 000000000000803f; <f4 (0,) ",
     NULL},
    {"mixed_dtypes", "(14,): <f4 (3, 4) F 2385f23e61bf0b3f6740453f", NULL},
    {"nested_dict_tuple", NULL, "a dict"},
    {"np_scalars", "(4,): 0x1.8p+0; 7; 0x1.4p+1; 3", NULL},
    {"planes_f32", "(3,): <f4 (", NULL},
    {"ragged_f32", "(4,): <f4 (3,) ", NULL},
    {"ragged_i32", "(4,): <i4 (3,) 32000000370000004a000000; <i4 (1,) 3e000000; ", NULL},
    {"rows_2d", "(2, 3): ", NULL},
    {"rows_2d_F", "(2, 3): ", NULL},
    {"scalar_bigint", NULL, "integer beyond 64 bits"},
    {"scalars",
     "(20,): None; True; False; 0; 1; 255; 256; 65535; 65536; -1; 2147483647; "
     "-2147483648; 2147483648; 9223372036854775807; -9223372036854775808; 0x0p+0; "
     "-0x1p-1; inf; nan; 'x'",
     NULL},
    {"shared_ref", "(3,): <f4 (4,) 000000000000803f0000004000004040; <f4 (4,) 0000", NULL},
    {"strings", "(6,): 'placement'; 'movement'; 'placement'; ''; 'h\xc3\xa9x'; 'movement'", NULL},
    {"trap_all_empty", "(3, 0):", NULL},
    {"trap_equal_len_f32", "(4, 3): 0x0p+0; 0x1p-1; 0x1p+0; 0x0p+0", NULL},
    {"trap_equal_len_i32", "(3, 3): 0; 255; 256; 65535; 65536; -1; 2147483647; -2147483648; 7",
     NULL},
    {"zero_d", "(): None", NULL},
    {"zero_rows", "(0,):", NULL},
};

static void check_sample(size_t i, const char *path, char **first)
{
    struct error err = {0};
    size_t n_bytes;
    uint8_t *bytes = read_file(path, &n_bytes);
    char *text = pickle_text(bytes, n_bytes, &err);

    free(bytes);
    if (samples[i].text == NULL) {
        if (text != NULL)
            fail_msg("%s accepted", path);
        if (strstr(err.message, samples[i].message) == NULL)
            fail_msg("%s: message is '%s'", path, err.message);
        return;
    }
    if (text == NULL)
        fail_msg("%s: %s", path, err.message);
    if (strncmp(text, samples[i].text, strlen(samples[i].text)) != 0)
        fail_msg("%s: begins '%.200s'", path, text);
    if (*first == NULL) {
        *first = text;
        return;
    }
    if (strcmp(text, *first) != 0)
        fail_msg("%s differs from the other protocols", path);
    free(text);
}

/* Each sample means the same in every protocol and with the names of numpy 1 and 2. */
static void test_samples(void **state)
{
    size_t n_files = 0;

    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char pattern[200];
        char *first = NULL;
        glob_t found;

        snprintf(pattern, sizeof pattern, FOLDER "%s.*.pkl", samples[i].name);
        if (strcmp(samples[i].name, "evil") == 0)
            snprintf(pattern, sizeof pattern, FOLDER "evil.p*.pkl");
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        assert_true(found.gl_pathc >= 4);
        for (size_t k = 0; k < found.gl_pathc; k++)
            check_sample(i, found.gl_pathv[k], &first);
        n_files += found.gl_pathc;
        globfree(&found);
        free(first);
    }
    assert_true(n_files > 100);
}

/* Objects that are shared stay one object. */
static void test_sharing(void **state)
{
    static const char shared_list[] = P_OBJECTS("K\x02\x85", "](K\x01K\x02"
                                                             "eq\x05"
                                                             "ah\x05"
                                                             "a");
    struct pickle_document document;
    struct error err = {0};
    size_t n_bytes;
    uint8_t *bytes = read_file(FOLDER "shared_ref.np1.p3.pkl", &n_bytes);

    (void)state;
    assert_int_equal(pickle_read(bytes, n_bytes, &pickle_default_limits, &document, &err), 0);
    assert_int_equal(bytes[1], 3); /* the protocol */
    assert_ptr_equal(document.items[0].as.array, document.items[1].as.array);
    pickle_release(&document);
    free(bytes);
    assert_int_equal(pickle_read((const uint8_t *)shared_list, sizeof shared_list - 1,
                                 &pickle_default_limits, &document, &err),
                     0);
    assert_ptr_equal(document.items[0].as.items, document.items[1].as.items);
    pickle_release(&document);
}

static void test_limits(void **state)
{
#define LIMIT(field) offsetof(struct pickle_limits, field)
#define BODY(pickle) pickle, sizeof(pickle) - 1
    static const char one_array[] =
        P_OBJECTS("K\x03\x85", P_ARRAY("K\x01\x85", P_F4, "C\x04wxyz") "q\x09"
                                                                       "ah\x09"
                                                                       "ah\x09"
                                                                       "a");
    static const struct {
        const char *pickle;
        size_t n_bytes;
        size_t field; /* offset in the limits */
        uint64_t enough;
        const char *message; /* with one less */
    } cases[] = {
        {BODY(P_OBJECTS("K\x02\x85", "(NNe")), LIMIT(n_items), 2, "at most 1"},
        {BODY(P_OBJECTS("K\x01\x85", "](K\x01K\x02K\x03"
                                     "ea")),
         LIMIT(list_items), 3, "list of more than 2 items"},
        {BODY(P_OBJECTS("K\x01\x85", "X\x05\0\0\0abcdea")), LIMIT(string_nbytes), 5, "str of 5"},
        {one_array, sizeof one_array - 1, LIMIT(array_nbytes), 4, "bytes of 4 bytes"},
        {one_array, sizeof one_array - 1, LIMIT(total_nbytes), 12, "more than 11 bytes of data"},
        {BODY(P_OBJECTS("K\x02\x85", "](X\x03\0\0\0abcK\x02"
                                     "eq\x09"
                                     "ah\x09"
                                     "a")),
         LIMIT(total_nbytes), 2 * (2 * 16 + 3), "more than 69 bytes of data"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* n_items is the length of a list, too: keep it small unless it is what is tested. */
        struct pickle_limits limits = pickle_default_limits;
        struct pickle_document document;
        struct error err = {0};
        uint64_t limit = cases[i].enough;

        limits.n_items = 3;
        limits.list_items = 3;
        if (cases[i].field == LIMIT(list_items))
            limits.n_items = 1;
        if (cases[i].field == LIMIT(n_items))
            limits.list_items = 3;
        memcpy((char *)&limits + cases[i].field, &limit, sizeof limit);
        if (pickle_read((const uint8_t *)cases[i].pickle, cases[i].n_bytes, &limits, &document,
                        &err) != 0)
            fail_msg("case %zu: %s", i, err.message);
        pickle_release(&document);
        limit--;
        memcpy((char *)&limits + cases[i].field, &limit, sizeof limit);
        assert_int_equal(pickle_read((const uint8_t *)cases[i].pickle, cases[i].n_bytes, &limits,
                                     &document, &err),
                         -1);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %zu: message is '%s'", i, err.message);
    }
}

/* Protocol 2: array data travels as text and may be longer than a string. */
static void test_protocol_2_text(void **state)
{
    struct pickle_limits limits = pickle_default_limits;
    struct pickle_document document;
    struct error err = {0};
    size_t n_bytes;
    uint8_t *bytes = read_file(FOLDER "ragged_f32.np1.p2.pkl", &n_bytes);

    (void)state;
    limits.string_nbytes = 1;
    assert_int_equal(pickle_read(bytes, n_bytes, &limits, &document, &err), 0);
    pickle_release(&document);
    limits.array_nbytes = 4;
    assert_int_equal(pickle_read(bytes, n_bytes, &limits, &document, &err), -1);
    free(bytes);
}

/* Memory is bounded by the pickle's own size, whatever it does. */
static void test_memory_bound(void **state)
{
    static const char head[] = "\x80\x02](c_codecs\nencode\nq\x01X\x06\0\0\0latin1q\x02"
                               "X\x10\x27\0\0";
    static const char again[] = "h\x01h\x03h\x02\x86R"; /* decode the same 10,000 bytes */
    struct pickle_document document;
    struct bytes pickle = {0};
    struct error err = {0};

    (void)state;
    assert_int_equal(bytes_append(&pickle, head, sizeof head - 1, &err), 0);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(bytes_append(&pickle, "a", 1, &err), 0);
    assert_int_equal(bytes_append(&pickle, "q\x03", 2, &err), 0);
    for (int i = 0; i < 5000; i++)
        assert_int_equal(bytes_append(&pickle, again, sizeof again - 1, &err), 0);
    assert_int_equal(bytes_append(&pickle, "e.", 2, &err), 0);
    assert_int_equal(
        pickle_read(pickle.data, pickle.n_bytes, &pickle_default_limits, &document, &err), -1);
    if (strstr(err.message, "bytes of memory") == NULL)
        fail_msg("message is '%s'", err.message);
    bytes_release(&pickle);
}

/* No depth of nesting ends in recursion; n is enough to overflow any stack that would be used. */
static void test_deep_nesting(void **state)
{
    static const char *const openers[] = {"]", "N\x85", "("};
    const size_t n = 300000;

    (void)state;
    for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
        struct pickle_document document;
        struct bytes pickle = {0};
        struct error err = {0};

        assert_int_equal(bytes_append(&pickle, "\x80\x03", 2, &err), 0);
        for (size_t k = 0; k < n; k++) {
            const char *opener = k > 0 && i == 1 ? "\x85" : openers[i];

            assert_int_equal(bytes_append(&pickle, opener, strlen(opener), &err), 0);
        }
        for (size_t k = 1; k < n && i == 0; k++)
            assert_int_equal(bytes_append(&pickle, "a", 1, &err), 0);
        assert_int_equal(bytes_append(&pickle, ".", 1, &err), 0);
        assert_int_equal(
            pickle_read(pickle.data, pickle.n_bytes, &pickle_default_limits, &document, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        bytes_release(&pickle);
    }
}

static void test_truncated(void **state)
{
    static const char *const names[] = {"mixed_dtypes.np1.p2", "mixed_dtypes.np1.p3",
                                        "mixed_dtypes.np2sim.p4", "mixed_dtypes.np1.p5"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        size_t n_bytes;
        uint8_t *bytes;

        snprintf(path, sizeof path, FOLDER "%s.pkl", names[i]);
        bytes = read_file(path, &n_bytes);
        for (size_t n = 0; n < n_bytes; n++) {
            uint8_t *part = malloc(n > 0 ? n : 1);
            struct error err = {0};

            assert_non_null(part);
            memcpy(part, bytes, n);
            assert_null(pickle_text(part, n, &err));
            assert_int_equal(err.kind, ERROR_DATA);
            free(part);
        }
        free(bytes);
    }
}

static void mutate(uint8_t *bytes, size_t n_bytes, uint64_t *seed)
{
    static const uint8_t opcodes[] = "(NKqhRtb.]aeXCBJMGc\x85\x86\x87\x88\x89\x8a\x8c\x93\x94\x96)";

    for (uint64_t n = 1 + random_next(seed) % 3; n > 0; n--) {
        const size_t at = random_next(seed) % n_bytes;
        const size_t from = random_next(seed) % n_bytes;
        const size_t longest = n_bytes - (at > from ? at : from);

        switch (random_next(seed) % 4) {
        case 0:
            bytes[at] = (uint8_t)random_next(seed);
            break;
        case 1:
            bytes[at] = (uint8_t)(bytes[at] ^ 1u << random_next(seed) % 8);
            break;
        case 2:
            bytes[at] = opcodes[random_next(seed) % (sizeof opcodes - 1)];
            break;
        default:
            memmove(bytes + at, bytes + from, longest < 12 ? longest : 12);
        }
    }
}

/* One damaged copy of a pickle. Returns 1 when it is accepted. */
static unsigned check_mutation(const uint8_t *source, size_t n_bytes, uint64_t *seed)
{
    uint8_t *bytes = malloc(n_bytes);
    struct pickle_document document;
    struct error err = {0};
    struct bytes ours;
    char *before, *after;

    assert_non_null(bytes);
    memcpy(bytes, source, n_bytes);
    mutate(bytes, n_bytes, seed);
    if (pickle_read(bytes, n_bytes, &pickle_default_limits, &document, &err) != 0) {
        assert_int_equal(err.kind, ERROR_DATA);
        free(bytes);
        return 0;
    }
    ours = document_pickle(&document);
    before = document_text(&document);
    after = pickle_text(ours.data, ours.n_bytes, &err);
    if (after == NULL)
        fail_msg("cannot read what was written: %s", err.message);
    assert_string_equal(before, after);
    free(before);
    free(after);
    bytes_release(&ours);
    pickle_release(&document);
    free(bytes);
    return 1;
}

/* Random damage never crashes, and what is still accepted can be written and read again. */
static void test_mutations(void **state)
{
    const int n_rounds = 40000;
    uint64_t seed = 2463534242u;
    unsigned n_accepted = 0, n_small = 0;
    glob_t found;

    (void)state;
    assert_int_equal(glob(FOLDER "*.pkl", 0, NULL, &found), 0);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        size_t n_bytes;
        uint8_t *bytes = read_file(found.gl_pathv[k], &n_bytes);

        if (n_bytes < 2000) {
            n_small++;
            for (int i = 0; i < n_rounds / 80; i++)
                n_accepted += check_mutation(bytes, n_bytes, &seed);
        }
        free(bytes);
    }
    globfree(&found);
    assert_true(n_small >= 80);
    assert_true(n_accepted > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),      cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_protocol_2_text),
        cmocka_unit_test(test_memory_bound), cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_truncated),    cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
