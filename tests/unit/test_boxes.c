/* test_boxes.c - records come back box by box, in order, whether or not they fit into memory; keys
 * have cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "positions/boxes.h"

#include <string.h>

#define N_RECORDS 20000

/* Its size is no multiple of 16. */
struct record {
    uint64_t row, number, square;
};

struct visit {
    uint64_t n_boxes, next; /* the number that comes next in the box */
    uint64_t n, n_before_failure;
};

static int visit(void *self, const void *from, struct error *err)
{
    struct visit *v = self;
    const struct record *record = from;

    assert_int_equal((uintptr_t)from % 16, 0);
    assert_int_equal(record->number, v->next);
    assert_int_equal(record->square, record->number * record->number);
    v->next += v->n_boxes;
    v->n++;
    return v->n == v->n_before_failure ? error_set(err, ERROR_DATA, "enough") : 0;
}

static void fill(struct boxes *boxes, uint64_t max_nbytes)
{
    *boxes =
        (struct boxes){.n = 8, .record_nbytes = sizeof(struct record), .max_nbytes = max_nbytes};
    assert_int_equal(boxes_open(boxes, NULL), 0);
    for (uint64_t i = 0; i < N_RECORDS; i++) {
        struct record *record = boxes_add(boxes, i % 8, NULL);

        assert_non_null(record);
        *record = (struct record){(i * 7919) % N_RECORDS, i, i * i};
    }
}

static void test_order(void **state)
{
    /* all in memory; all in the file but the last; in many parts, and some in memory */
    static const uint64_t memories[] = {1u << 30, 0, 32, 50000};

    (void)state;
    for (size_t m = 0; m < sizeof memories / sizeof *memories; m++) {
        struct boxes boxes;

        fill(&boxes, memories[m]);
        assert_int_equal(boxes.file.has_file, m > 0);
        assert_true(boxes.held_nbytes <= memories[m] || boxes.held_nbytes == 32);
        for (uint64_t box = 0; box < 8; box++) {
            struct visit v = {.n_boxes = 8, .next = box};

            assert_int_equal(boxes_each(&boxes, box, visit, &v, NULL), 0);
            assert_int_equal(v.n, N_RECORDS / 8);
        }
        boxes_release(&boxes);
    }
}

static void test_failure_ends_the_visit(void **state)
{
    (void)state;
    for (uint64_t max_nbytes = 0; max_nbytes <= 1u << 30; max_nbytes += 1u << 30) {
        struct visit v = {.n_boxes = 8, .next = 3, .n_before_failure = 5};
        struct error err = {0};
        struct boxes boxes;

        fill(&boxes, max_nbytes);
        assert_int_equal(boxes_each(&boxes, 3, visit, &v, &err), -1);
        assert_string_equal(err.message, "enough");
        assert_int_equal(v.n, 5);
        boxes_release(&boxes);
    }
}

static void test_sorted(void **state)
{
    (void)state;
    for (uint64_t max_nbytes = 0; max_nbytes <= 1u << 30; max_nbytes += 1u << 30) {
        struct bytes list = {0};
        struct boxes boxes;

        fill(&boxes, max_nbytes);
        for (size_t box = 0; box < 8; box++) {
            uint64_t row = 0;

            assert_int_equal(boxes_sorted(&boxes, box, &list, NULL), 0);
            assert_int_equal(list.n_bytes, N_RECORDS / 8 * boxes.record_nbytes);
            for (size_t at = 0; at < list.n_bytes; at += boxes.record_nbytes) {
                const struct record *record = (const void *)(list.data + at);

                assert_int_equal(record->number % 8, box);
                assert_true(record->row >= row);
                row = record->row;
            }
        }
        bytes_release(&list);
        boxes_release(&boxes);
    }
}

static void test_emptied(void **state)
{
    struct visit v = {.n_boxes = 8, .next = 1};
    struct boxes boxes;

    (void)state;
    fill(&boxes, 1u << 30);
    boxes_empty(&boxes, 0);
    assert_int_equal(boxes.held_nbytes, N_RECORDS / 8 * 7 * boxes.record_nbytes);
    assert_int_equal(boxes_each(&boxes, 0, visit, &v, NULL), 0);
    assert_int_equal(v.n, 0);
    assert_int_equal(boxes_each(&boxes, 1, visit, &v, NULL), 0);
    assert_int_equal(v.n, N_RECORDS / 8);
    boxes_release(&boxes);
}

static void test_which_box(void **state)
{
    const struct boxes boxes = {.n = 256, .n_rows = 1000};

    (void)state;
    assert_int_equal(boxes_of_key(&boxes, (struct key_value){0, UINT64_MAX}), 0);
    assert_int_equal(boxes_of_key(&boxes, (struct key_value){UINT64_C(0x0100000000000000), 0}), 1);
    assert_int_equal(boxes_of_key(&boxes, (struct key_value){UINT64_MAX, 0}), 255);
    for (uint64_t row = 1; row < 1000; row++) {
        const size_t before = boxes_of_row(&boxes, row - 1), box = boxes_of_row(&boxes, row);

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

/* Keys of which many begin at the same slot. */
static struct key_value key_of_number(uint64_t i)
{
    return (struct key_value){i * UINT64_C(0x9e3779b97f4a7c15), i / 7};
}

static void test_cells(void **state)
{
    struct table table = {.cell_nbytes = 24};

    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int pass = 0; pass < 3; pass++)
            for (uint64_t i = 0; i < 5000; i++) {
                uint64_t *cell = table_cell(&table, key_of_number(i), NULL);

                assert_non_null(cell);
                assert_int_equal(cell[0], pass == 0 ? 0 : i + 1);
                assert_int_equal(cell[2], (uint64_t)pass * i);
                cell[0] = i + 1;
                cell[2] += i;
            }
        assert_int_equal(table.n, 5000);
        for (uint64_t i = 0; i < 5000; i++) {
            const uint64_t *cell = (const void *)(table.cells + 24 * i);

            assert_int_equal(cell[0], i + 1); /* numbered as they came */
            assert_true(table.keys[i].high == key_of_number(i).high);
        }
        table_clear(&table);
        assert_int_equal(table.n, 0);
    }
    table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_failure_ends_the_visit),
        cmocka_unit_test(test_sorted),    cmocka_unit_test(test_emptied),
        cmocka_unit_test(test_which_box), cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
