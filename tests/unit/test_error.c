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

/* What is too long is cut, and ends. */
static void test_long(void **state)
{
    static char text[2 * ERROR_MESSAGE_NBYTES];
    struct error err = {0};

    (void)state;
    memset(text, 'x', sizeof text - 1);
    error_set_errno(&err, ERROR_IO, EIO, "%s", text);
    assert_int_equal(strlen(err.message), ERROR_MESSAGE_NBYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_codes),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_first_cause),
        cmocka_unit_test(test_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
