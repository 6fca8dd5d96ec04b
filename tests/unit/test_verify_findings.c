/* test_verify_findings.c - findings: codes, counts, the limit, joining. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "verify/findings.h"

#include <string.h>

static void every_code_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < FINDING_N_CODES; i++) {
        const char *name = finding_code_name((enum finding_code)i);

        assert_non_null(name);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(finding_code_name((enum finding_code)k), name);
    }
}

static void add(struct findings *f, enum finding_code code, bool is_warning, uint64_t row)
{
    const struct finding_place place = {code, is_warning, "a", row};

    findings_add(f, &place, "1", text_format("%d", 2).text, "row %d", (int)row);
}

static void counts_go_on_when_the_room_is_used_up(void **state)
{
    struct findings f = {.max = 2};

    (void)state;
    for (uint64_t row = 0; row < 5; row++)
        add(&f, FINDING_NAN, false, row);
    add(&f, FINDING_SMEAR, true, 9);
    assert_int_equal(f.n, 2);
    assert_int_equal(f.counts[FINDING_NAN], 5);
    assert_int_equal(f.counts[FINDING_SMEAR], 1);
    assert_int_equal(f.n_errors, 5);
    assert_int_equal(f.n_warnings, 1);
    assert_int_equal(f.items[1].row, 1);
    assert_string_equal(f.items[1].message, "row 1");
    assert_string_equal(f.items[1].expected, "1");
    assert_string_equal(f.items[1].found, "2");
    findings_release(&f);
    assert_int_equal(f.n, 0);
}

static void joined_findings_keep_their_order(void **state)
{
    struct findings f = {.max = 3}, more = {.max = 3};

    (void)state;
    add(&f, FINDING_NAN, false, 0);
    add(&more, FINDING_ROWS, false, 1);
    add(&more, FINDING_ROWS, false, 2);
    add(&more, FINDING_ROWS, true, 3);
    findings_merge(&f, &more);
    assert_int_equal(f.n, 3);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(f.items[i].row, i);
    assert_int_equal(f.counts[FINDING_ROWS], 3);
    assert_int_equal(f.n_errors, 3);
    assert_int_equal(f.n_warnings, 1);
    assert_int_equal(more.n, 0);
    assert_int_equal(more.n_errors, 0);
    assert_int_equal(more.max, 3);
    findings_release(&f);
    findings_release(&more);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name),
        cmocka_unit_test(counts_go_on_when_the_room_is_used_up),
        cmocka_unit_test(joined_findings_keep_their_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
