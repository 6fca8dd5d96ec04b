/* test_sorter.c - records come back sorted, whether or not they fit into memory. */
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

static const uint64_t memories[] = {1u << 30, 1u << 19, 50000, 0};

/* Keys of hashes, or the numbers of rows in their place; added in no order of keys. */
static void fill(struct sorter *sorter, uint64_t max_nbytes, bool by_key)
{
    *sorter = (struct sorter){.record_nbytes = sizeof(struct record), .max_nbytes = max_nbytes};
    for (uint64_t i = 0; i < N_RECORDS; i++) {
        const uint64_t row = (i * 7919) % N_RECORDS, same = i % (N_RECORDS / N_ALIKE);
        const struct key_value key =
            by_key ? (struct key_value){same * UINT64_C(0x9e3779b97f4a7c15), same % 2}
                   : (struct key_value){row, i};
        const struct record record = {key, i, i * i, 0};

        assert_non_null(sorter_add(sorter, &record, sizeof record, NULL));
        assert_true(sorter->records.n_bytes <= max_nbytes || sorter->records.n_bytes <= 4096);
    }
}

/* What reading takes of memory, with the buffers of all runs that are merged at once. */
static void check_memory(const struct sorter *sorter, uint64_t max_nbytes)
{
    const uint64_t least = max_nbytes > 32768 ? max_nbytes : 32768;

    assert_true(sorter->records.capacity <= 2 * least);
    assert_true(sorter->n_runs * sorter->buffer_nbytes <= least);
}

/* All in memory; in a few runs; in many. */
static void test_sorted(void **state)
{
    (void)state;
    for (size_t m = 0; m < 8; m++) {
        const uint64_t memory = memories[m / 2];
        const bool by_key = m % 2 == 0;
        const uint64_t n_alike = by_key ? N_ALIKE : 1;
        struct record before = {0};
        struct sorter sorter;
        const void *found;
        int status;
        uint64_t n = 0;

        fill(&sorter, memory, by_key);
        assert_int_equal(sorter.file.has_file, m / 2 > 0);
        for (; (status = sorter_next(&sorter, &found, NULL)) > 0; n++) {
            const struct record *record = found;

            if (memory < 1u << 30)
                check_memory(&sorter, memory);
            assert_int_equal((uintptr_t)record % 16, 0);
            assert_int_equal(record->square, record->number * record->number);
            assert_int_equal(sorter.is_first, n % n_alike == 0);
            assert_int_equal(sorter.is_last, n % n_alike == n_alike - 1);
            assert_true(n == 0 || before.key.high < record->key.high ||
                        (n % n_alike > 0 && before.key.high == record->key.high &&
                         before.number < record->number));
            before = *record;
        }
        assert_int_equal(status, 0);
        assert_int_equal(n, N_RECORDS);
        assert_int_equal(sorter_next(&sorter, &found, NULL), 0);
        sorter_release(&sorter);
    }
}

static void test_none(void **state)
{
    struct sorter sorter = {.record_nbytes = 32, .max_nbytes = 1u << 30};
    const void *found;

    (void)state;
    assert_int_equal(sorter_next(&sorter, &found, NULL), 0);
    sorter_release(&sorter);
}

/* Keys that stand close together all the same, of which the lower half tells them apart. */
static void test_alike(void **state)
{
    struct sorter sorter = {.record_nbytes = 32, .max_nbytes = 1u << 30};
    const void *found;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t number[4] = {7, i * 7919 % 1000};

        assert_non_null(sorter_add(&sorter, number, sizeof number, NULL));
    }
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(sorter_next(&sorter, &found, NULL), 1);
        assert_true(sorter.is_first && sorter.is_last);
        assert_int_equal(((const struct key_value *)found)->low, i);
    }
    assert_int_equal(sorter_next(&sorter, &found, NULL), 0);
    sorter_release(&sorter);
}

/* Of one key, the two numbers after it tell the order. */
static void test_order_within(void **state)
{
    struct sorter sorter = {.record_nbytes = 32, .max_nbytes = 10000};
    uint64_t before[4] = {0};
    const void *found;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t number[4] = {7, 7, i % 2, i * 7919 % 1000};

        assert_non_null(sorter_add(&sorter, number, sizeof number, NULL));
    }
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t *number;

        assert_int_equal(sorter_next(&sorter, &found, NULL), 1);
        number = found;
        assert_true(i == 0 || number[2] > before[2] ||
                    (number[2] == before[2] && number[3] > before[3]));
        assert_int_equal(sorter.is_last, i == 999);
        memcpy(before, number, sizeof before);
    }
    assert_int_equal(sorter_next(&sorter, &found, NULL), 0);
    sorter_release(&sorter);
}

/* Many at once, filled after they were added, and sorted by several threads. */
static void test_room(void **state)
{
    static const uint64_t bounds[] = {1u << 30, 1u << 20, 0};

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct sorter sorter = {.record_nbytes = 32, .max_nbytes = bounds[m], .n_threads = 3};
        const uint64_t n_records = 100000;
        const void *found;

        for (uint64_t i = 0, n = 0; i < n_records; i += n) {
            uint64_t(*to)[4];

            n = i % 100 + 1 < sorter_most(&sorter) ? i % 100 + 1 : sorter_most(&sorter);
            n = n < n_records - i ? n : n_records - i;
            assert_non_null(to = sorter_room(&sorter, n, NULL));
            for (uint64_t k = 0; k < n; k++)
                memcpy(to[k], (uint64_t[4]){(i + k) * 7919 % n_records, 1, i + k, 0}, 32);
        }
        for (uint64_t i = 0; i < n_records; i++) {
            assert_int_equal(sorter_next(&sorter, &found, NULL), 1);
            const uint64_t *record = found;
            assert_int_equal(record[0], i);
            assert_int_equal(record[2] * 7919 % n_records, i);
        }
        assert_int_equal(sorter_next(&sorter, &found, NULL), 0);
        sorter_release(&sorter);
    }
}

/* A key that most records have takes no more memory than others, and none of it is lost. */
static void test_frequent(void **state)
{
    static const uint64_t bounds[] = {1u << 30, 1u << 20, 1u << 16};
    const uint64_t n_records = 200000;

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct sorter sorter = {.record_nbytes = 32, .max_nbytes = bounds[m]};
        uint64_t n_often = 0, n_others = 0, next = 0;
        const void *found;
        int status;

        for (uint64_t i = 0; i < n_records; i++) {
            const uint64_t number[4] = {i % 3 > 0 ? 7 : i * UINT64_C(0x9e3779b97f4a7c15), 1, i, 0};

            assert_non_null(sorter_add(&sorter, number, sizeof number, NULL));
        }
        while ((status = sorter_next(&sorter, &found, NULL)) > 0) {
            const uint64_t *record = found;

            if (record[0] != 7) {
                assert_true(sorter.is_first && sorter.is_last);
                n_others++;
                continue;
            }
            assert_int_equal(sorter.is_first, n_often == 0);
            assert_true(record[2] >= next);
            next = record[2] + 1;
            n_often++;
        }
        assert_int_equal(status, 0);
        assert_int_equal(n_often, n_records - (n_records + 2) / 3);
        assert_int_equal(n_others, (n_records + 2) / 3);
        assert_true(m == 0 || sorter.records.capacity < 32 * n_records / 2);
        sorter_release(&sorter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted), cmocka_unit_test(test_none),
        cmocka_unit_test(test_alike),  cmocka_unit_test(test_order_within),
        cmocka_unit_test(test_room),   cmocka_unit_test(test_frequent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
