/* test_text.c - names that are safe on a terminal, numbers and sizes, growing strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"

#include <string.h>

static void test_quoting(void **state)
{
    static const struct {
        const char *name, *quoted, *path;
    } cases[] = {
        {"plain.npz", "'plain.npz'", "plain.npz"},
        {"two\nlines", "'two\\x0alines'", "two\\x0alines"},
        {"\033[31mred", "'\\x1b[31mred'", "\\x1b[31mred"},
        {"it's", "'it\\x27s'", "it's"},
        {"back\\slash", "'back\\x5cslash'", "back\\x5cslash"},
        {"M\xc3\xbchle", "'M\xc3\xbchle'", "M\xc3\xbchle"},
        {"bad\xff", "'bad\\xff'", "bad\\xff"},
        {"c1\xc2\x9b", "'c1\\xc2\\x9b'", "c1\\xc2\\x9b"},            /* a control in UTF-8 */
        {"\xef\xbb\xbf{", "'\\xef\\xbb\\xbf{'", "\\xef\\xbb\\xbf{"}, /* a byte order mark */
        {"\u202ezpn", "'\\xe2\\x80\\xaezpn'", "\\xe2\\x80\\xaezpn"}, /* from right to left */
        {"\u2069", "'\\xe2\\x81\\xa9'", "\\xe2\\x81\\xa9"},
        {"\u2027\u2030\u2065\ufeff", "'\u2027\u2030\u2065\\xef\\xbb\\xbf'",
         "\u2027\u2030\u2065\\xef\\xbb\\xbf"},
        {"\xed\xa0\x80", "'\\xed\\xa0\\x80'", "\\xed\\xa0\\x80"}, /* a surrogate */
        {"\xc0\xaf", "'\\xc0\\xaf'", "\\xc0\\xaf"},               /* an overlong slash */
        {"\xf0\x9f", "'\\xf0\\x9f'", "\\xf0\\x9f"},               /* cut short */
        {"", "''", "''"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        assert_string_equal(text_quote(cases[i].name).text, cases[i].quoted);
        assert_string_equal(text_path(cases[i].name).text, cases[i].path);
    }
}

static void test_long_names_are_cut(void **state)
{
    char name[1000];
    struct text_quoted q;

    (void)state;
    memset(name, '\n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    q = text_quote(name);
    assert_in_range(strlen(q.text), 200, sizeof q.text - 1);
    assert_string_equal(q.text + strlen(q.text) - 4, "...'");
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        int status;
        uint64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"42", 0, 42},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", -1, 0},
        {"", -1, 0},
        {"-1", -1, 0},
        {"+1", -1, 0},
        {" 1", -1, 0},
        {"1 ", -1, 0},
        {"0x10", -1, 0},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint64_t value = 0;

        assert_int_equal(text_parse_u64(cases[i].text, &value), cases[i].status);
        if (cases[i].status == 0)
            assert_true(value == cases[i].value);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        const char *text;
        int status;
        uint64_t n_bytes;
    } cases[] = {
        {"512", 0, 512},
        {"1K", 0, 1024},
        {"3k", 0, 3072},
        {"2M", 0, UINT64_C(2) << 20},
        {"1GiB", 0, UINT64_C(1) << 30},
        {"1TB", 0, UINT64_C(1) << 40},
        {"16777216T", -1, 0}, /* 2^64 */
        {"M", -1, 0},
        {"1.5G", -1, 0},
        {"1Gi", -1, 0},
        {"-1", -1, 0},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint64_t n_bytes = 0;

        assert_int_equal(text_parse_size(cases[i].text, &n_bytes), cases[i].status);
        if (cases[i].status == 0)
            assert_true(n_bytes == cases[i].n_bytes);
    }
    assert_string_equal(text_size(1023).text, "1023 B");
    assert_string_equal(text_size(1536).text, "1.5 KiB");
    assert_string_equal(text_size(UINT64_MAX).text, "16.0 EiB");
}

static void test_shapes(void **state)
{
    const uint64_t shape[] = {12, 64, 9};

    (void)state;
    assert_string_equal(text_shape(shape, 0).text, "()");
    assert_string_equal(text_shape(shape, 1).text, "(12,)");
    assert_string_equal(text_shape(shape, 3).text, "(12, 64, 9)");
}

static void test_caseless(void **state)
{
    (void)state;
    assert_int_equal(text_compare_caseless("PI_x", "pi_y", 3), 0);
    assert_true(text_compare_caseless("PI_x", "pi_y", 4) < 0);
    assert_true(text_compare_caseless("pi", "PI_", 3) < 0);
    assert_int_equal(text_compare_caseless("Pi\0a", "pI\0b", 4), 0);
    assert_true(text_compare_caseless("\xc4", "\xe4", 1) != 0);
    assert_true(text_contains_caseless("best_ACTION", "action"));
    assert_false(text_contains_caseless("best_actio", "action"));
}

static void test_append(void **state)
{
    struct error err = {0};
    struct text t = {0};

    (void)state;
    for (int i = 0; i < 300; i++)
        assert_int_equal(text_append(&t, &err, "%03d", i), 0);
    assert_int_equal(t.n_bytes, 900);
    assert_int_equal(strlen(t.text), 900);
    assert_memory_equal(t.text + 897, "299", 4);
    text_release(&t);
    assert_null(t.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quoting), cmocka_unit_test(test_long_names_are_cut),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_shapes),  cmocka_unit_test(test_caseless),
        cmocka_unit_test(test_append),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
