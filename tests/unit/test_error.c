/* test_error.c - kinds of failures, their exit codes, and that the first cause is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

#include <errno.h>
#include <string.h>

static void test_exit_codes(void **state)
{
    static const struct {
        enum error_kind kind;
        int code;
    } cases[] = {
        {ERROR_NONE, 0},      {ERROR_USAGE, 64},       {ERROR_DATA, 65}, {ERROR_NO_INPUT, 66},
        {ERROR_INTERNAL, 70}, {ERROR_CANT_CREATE, 73}, {ERROR_IO, 74},   {ERROR_TRY_LATER, 75},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(error_exit_code(cases[i].kind), cases[i].code);
}

static void test_errno(void **state)
{
    static const struct {
        int errnum;
        enum error_kind kind;
    } cases[] = {
        {ENOSPC, ERROR_TRY_LATER}, {EDQUOT, ERROR_TRY_LATER},   {ESTALE, ERROR_TRY_LATER},
        {ENOMEM, ERROR_INTERNAL},  {EACCES, ERROR_CANT_CREATE}, {EIO, ERROR_CANT_CREATE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        char expected[64] = "cannot create 7: ";

        strncat(expected, strerror(cases[i].errnum), sizeof expected - 32);
        assert_int_equal(
            error_set_errno(&err, ERROR_CANT_CREATE, cases[i].errnum, "cannot create %d", 7), -1);
        assert_int_equal(err.kind, cases[i].kind);
        assert_string_equal(err.message, expected);
    }
}

static void test_first_cause(void **state)
{
    struct error err = {0};

    (void)state;
    assert_int_equal(error_set(&err, ERROR_DATA, "first"), -1);
    assert_int_equal(error_set(&err, ERROR_IO, "second"), -1);
    assert_int_equal(error_set_errno(&err, ERROR_IO, EIO, "third"), -1);
    assert_int_equal(error_no_memory(&err, "fourth"), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_string_equal(err.message, "first");
    assert_int_equal(error_set(NULL, ERROR_DATA, "nobody asks"), -1);
    assert_int_equal(error_set_errno(NULL, ERROR_DATA, EIO, "nobody asks"), -1);
}

/* Where an error is stands in its text and beside it. */
static void test_place(void **state)
{
    static const struct {
        struct error_place place;
        const char *message, *reason, *array;
        enum error_kind kind;
    } cases[] = {
        {{.file = "a b.npz"}, "a b.npz: wrong 7", "wrong 7", "", ERROR_DATA},
        {{.file = "a.npz", .array = "policy", .code = ERROR_CODE_SHAPE},
         "a.npz: policy: wrong 7 [shape]",
         "wrong 7",
         "policy",
         ERROR_DATA},
        {{.file = "a.npz", .array = "policy", .shown = "policy.npy", .has_row = true, .row = 3},
         "a.npz: policy.npy: row 3: wrong 7",
         "wrong 7",
         "policy",
         ERROR_DATA},
        {{.file = "policy.npy", .array = "policy", .shown = "", .code = ERROR_CODE_CRC},
         "policy.npy: wrong 7",
         "wrong 7",
         "policy",
         ERROR_DATA},
        {{.file = "a\n.npz", .errnum = ENOSPC},
         "a\\x0a.npz: wrong 7: No space left on device",
         "wrong 7: No space left on device",
         "",
         ERROR_TRY_LATER},
        {{.file = "a'b.npz", .verb = "create", .errnum = ENOSPC},
         "cannot create 'a\\x27b.npz': wrong 7: No space left on device",
         "cannot create 'a\\x27b.npz': wrong 7: No space left on device",
         "",
         ERROR_TRY_LATER},
        {{.code = ERROR_CODE_ROWS}, "wrong 7 [rows]", "wrong 7", "", ERROR_DATA},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0}, passed = {0};
        char reason[ERROR_MESSAGE_NBYTES];

        assert_int_equal(error_set_at(&err, ERROR_DATA, &cases[i].place, "wrong %d", 7), -1);
        assert_int_equal(error_set_at(&err, ERROR_IO, ERROR_IN("b"), "later"), -1);
        assert_int_equal(error_set_at(NULL, ERROR_IO, ERROR_IN("b"), "nobody asks"), -1);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(error_reason(&err, reason), cases[i].reason);
        assert_string_equal(err.array, cases[i].array);
        assert_int_equal(err.kind, cases[i].kind);
        assert_int_equal(err.code, cases[i].place.code);
        assert_int_equal(err.has_row, cases[i].place.has_row);
        assert_int_equal(err.row, cases[i].place.row);
        assert_int_equal(error_pass(&passed, &err), -1);
        assert_memory_equal(&passed, &err, sizeof err);
    }
}

/* Where advice begins is known if the text ends with it, and is not cut. */
static void test_advice(void **state)
{
    const struct error_place place = {
        .file = "a.npz", .code = ERROR_CODE_ROWS, .advice = "--role x"};
    struct error err = {0}, without = {0};

    (void)state;
    error_set_at(&err, ERROR_DATA, &place, "use --role x");
    assert_string_equal(err.message + err.advice_at, "--role x [rows]");
    error_set_at(&without, ERROR_DATA, &place, "use --role x or y");
    assert_int_equal(without.advice_at, 0);
}

/* The file stands alone in a message about what cannot be done to it, also without more to say. */
static void test_verb(void **state)
{
    struct error err = {0};
    const struct error_place place = {.file = "a.npz", .verb = "sync"};

    (void)state;
    error_set_at(&err, ERROR_IO, &place, "%s", "");
    assert_string_equal(err.message, "cannot sync 'a.npz'");
    assert_int_equal(err.file_nbytes, 5);
    assert_memory_equal(err.message + err.file_at, "a.npz", 5);
}

/* What is too long is cut, and ends. */
static void test_long(void **state)
{
    static char text[2 * ERROR_MESSAGE_NBYTES];
    struct error err = {0};

    (void)state;
    memset(text, 'x', sizeof text - 1);
    error_set_errno(&err, ERROR_IO, EIO, "%s", text);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_NBYTES - 1);
    for (enum error_code code = ERROR_CODE_NONE; code <= ERROR_CODE_LENGTH; code++) {
        const struct error_place place = {text, text, text, true, UINT64_MAX,
                                          code, EIO,  NULL, text};
        char reason[ERROR_MESSAGE_NBYTES];

        err = (struct error){0};
        error_set_at(&err, ERROR_IO, &place, "%s", text);
        assert_int_equal(strlen(err.message), ERROR_MESSAGE_NBYTES - 1);
        assert_int_equal(strlen(err.array), ERROR_ARRAY_NBYTES - 1);
        assert_int_equal(strlen(error_reason(&err, reason)), err.reason_nbytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),  cmocka_unit_test(test_errno),
        cmocka_unit_test(test_first_cause), cmocka_unit_test(test_place),
        cmocka_unit_test(test_verb),        cmocka_unit_test(test_long),
        cmocka_unit_test(test_advice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
