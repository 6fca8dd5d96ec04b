/* test_boxes.c - records come back box by box, sorted, whether or not they fit into memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "positions/parts.h"

#include <string.h>

#define N_RECORDS 21000
#define N_ALIKE   3 /* records of a key */

/* Its size is no multiple of 16. */
struct record {
    struct key_value key;
    uint64_t number, square, unused;
};

/* Keys of hashes, or the numbers of rows in their place; added in no order of keys. */
static void fill(struct boxes *boxes, uint64_t max_nbytes, bool by_key)
{
    *boxes = (struct boxes){.n = 8,
                            .record_nbytes = sizeof(struct record),
                            .n_rows = by_key ? 0 : N_RECORDS,
                            .max_nbytes = max_nbytes};
    assert_int_equal(boxes_open(boxes, NULL), 0);
    for (uint64_t i = 0; i < N_RECORDS; i++) {
        const uint64_t row = (i * 7919) % N_RECORDS, same = i % (N_RECORDS / N_ALIKE);
        const struct key_value key =
            by_key ? (struct key_value){same * UINT64_C(0x9e3779b97f4a7c15), same % 2}
                   : (struct key_value){row, i};
        const struct record record = {key, i, i * i, 0};

        assert_non_null(boxes_add(boxes, &record, sizeof record, NULL));
    }
}

/* All in memory; all in the file but the last; in many parts, and some in memory. */
static void test_sorted(void **state)
{
    static const uint64_t memories[] = {1u << 30, 0, 48, 50000};

    (void)state;
    for (size_t m = 0; m < 8; m++) {
        const uint64_t memory = memories[m / 2];
        const bool by_key = m % 2 == 0;
        const void *records;
        struct boxes boxes;
        uint64_t n = 0, held;
        ssize_t n_alike;

        fill(&boxes, memory, by_key);
        assert_int_equal(boxes.file.has_file, m / 2 > 0);
        assert_true(boxes.held_nbytes <= memory || boxes.held_nbytes == 48);
        held = boxes.held_nbytes;
        for (int again = 0; again < (by_key ? 1 : 2); again++, n = 0) {
            struct record before = {0};

            while ((n_alike = boxes_next(&boxes, &records, NULL)) > 0) {
                assert_int_equal(n_alike, by_key ? N_ALIKE : 1);
                for (ssize_t i = 0; i < n_alike; i++, n++) {
                    const struct record *record =
                        (const void *)((const char *)records + (size_t)i * boxes.record_nbytes);

                    assert_int_equal((uintptr_t)record % 16, 0);
                    assert_int_equal(record->square, record->number * record->number);
                    assert_int_equal(boxes_of(&boxes, record->key.high), boxes.next_box - 1);
                    assert_true(n == 0 || before.key.high < record->key.high ||
                                (by_key && i > 0 && before.number < record->number));
                    before = *record;
                }
            }
            assert_int_equal(n_alike, 0);
            assert_int_equal(n, N_RECORDS);
        }
        assert_int_equal(boxes.held_nbytes, by_key ? 0 : held);
        boxes_release(&boxes);
    }
}

/* Keys that stand close together all the same, of which the lower half tells them apart. */
static void test_alike(void **state)
{
    struct boxes boxes = {.n = 1, .record_nbytes = 32, .max_nbytes = 1u << 30};
    const void *record;

    (void)state;
    assert_int_equal(boxes_open(&boxes, NULL), 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_non_null(boxes_add(&boxes, &(struct key_value){7, i * 7919 % 1000},
                                  sizeof(struct key_value), NULL));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(boxes_next(&boxes, &record, NULL), 1);
        assert_int_equal(((const struct key_value *)record)->low, i);
    }
    assert_int_equal(boxes_next(&boxes, &record, NULL), 0);
    boxes_release(&boxes);
}

/* Of one key, the two numbers behind it tell the order. */
static void test_order_within(void **state)
{
    struct boxes boxes = {.n = 1, .record_nbytes = 32, .max_nbytes = 1u << 30};
    const void *records;

    (void)state;
    assert_int_equal(boxes_open(&boxes, NULL), 0);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t number[4] = {7, 7, i % 2, i * 7919 % 1000};

        assert_non_null(boxes_add(&boxes, number, sizeof number, NULL));
    }
    assert_int_equal(boxes_next(&boxes, &records, NULL), 1000);
    for (const uint64_t *record = records, *end = record + 3996; record < end; record += 4)
        assert_true(record[2] < record[6] || (record[2] == record[6] && record[3] < record[7]));
    boxes_release(&boxes);
}

/* A key that most records of a box have: they come in parts, as they were put, and none is lost. */
static void test_in_parts(void **state)
{
    static const uint64_t memories[] = {1u << 30, 1u << 22, 1u << 16};
    const uint64_t n_records = 200000;

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct boxes boxes = {
            .n = 2, .record_nbytes = 32, .max_nbytes = memories[m], .in_parts = true};
        const void *records;
        uint64_t n_often = 0, n_others = 0, next = 0, n_parts = 0;
        ssize_t n;

        assert_int_equal(boxes_open(&boxes, NULL), 0);
        for (uint64_t i = 0; i < n_records; i++) {
            const uint64_t number[4] = {i % 3 > 0 ? 7 : i * UINT64_C(0x9e3779b97f4a7c15), 1, i, 0};

            assert_non_null(boxes_add(&boxes, number, sizeof number, NULL));
        }
        while ((n = boxes_next(&boxes, &records, NULL)) > 0) {
            const uint64_t *record = records;

            if (record[0] != 7) {
                assert_int_equal(n, 1);
                assert_int_equal(boxes.n_before + boxes.n_more, 0);
                n_others++;
                continue;
            }
            n_parts++;
            assert_int_equal(boxes.n_before, n_often);
            n_often += (uint64_t)n;
            assert_int_equal(boxes.n_more, n_records - (n_records + 2) / 3 - n_often);
            for (ssize_t i = 0; i < n; i++, record += 4) {
                assert_int_equal(record[0], 7);
                assert_true(record[2] >= next);
                next = record[2] + 1;
            }
        }
        assert_int_equal(n, 0);
        assert_int_equal(n_often, n_records - (n_records + 2) / 3);
        assert_int_equal(n_others, (n_records + 2) / 3);
        assert_true(m == 0 ? n_parts == 1 : n_parts > 1);
        assert_true(m == 0 || boxes.list.capacity < 32 * n_records / 2);
        assert_int_equal(boxes.held_nbytes, 0);
        boxes_release(&boxes);
    }
}

static void test_which_box(void **state)
{
    const struct boxes by_key = {.n = 256}, by_row = {.n = 256, .n_rows = 1000};

    (void)state;
    assert_int_equal(boxes_of(&by_key, 0), 0);
    assert_int_equal(boxes_of(&by_key, UINT64_C(0x0100000000000000)), 1);
    assert_int_equal(boxes_of(&by_key, UINT64_MAX), 255);
    for (uint64_t row = 1; row < 1000; row++) {
        const size_t before = boxes_of(&by_row, row - 1), box = boxes_of(&by_row, row);

        assert_true(box < 256 && (box == before || box == before + 1));
    }
}

static void test_how_many(void **state)
{
    (void)state;
    assert_int_equal(boxes_wanted(0, 100, 0), 1);
    assert_int_equal(boxes_wanted(1000, 100, 100000), 1);
    assert_int_equal(boxes_wanted(1000, 100, 99999), 2);
    assert_int_equal(boxes_wanted(1000, 100, 10000), 16);
    assert_int_equal(boxes_wanted(UINT64_MAX / 1000, 1000, 1), 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),       cmocka_unit_test(test_alike),
        cmocka_unit_test(test_order_within), cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_which_box),    cmocka_unit_test(test_how_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
