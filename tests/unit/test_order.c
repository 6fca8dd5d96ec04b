/* test_order.c - which image stands in which output row, with and without images left out. */
#include "engine/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t chosen[] = {0, 2, 5};

struct shape {
    uint64_t n_rows, block_rows;
    uint32_t n_chosen;
};

static const struct shape shapes[] = {
    {1, 16, 3}, {16, 16, 3}, {17, 16, 3}, {40, 16, 2}, {5, 1, 3}, {7, 0, 3}, {7, 7, 1}, {0, 16, 3},
};

/* The definition, in the plainest form: blocks, then transforms, then rows. */
static size_t list_images(const struct shape *s, const struct selection *selection,
                          struct image *images)
{
    uint64_t block = s->block_rows == 0 ? s->n_rows : s->block_rows;
    size_t n = 0;

    for (uint64_t begin = 0; begin < s->n_rows; begin += block)
        for (uint32_t k = 0; k < s->n_chosen; k++)
            for (uint64_t row = begin; row < begin + block && row < s->n_rows; row++)
                if (selection == NULL || selection_has(selection, row, k))
                    images[n++] = (struct image){row, chosen[k]};
    return n;
}

static void check_all_cuts(const struct order *order, const struct image *wanted, size_t n)
{
    struct image found[256];

    assert_int_equal(order->n_images, n);
    for (size_t first = 0; first < n; first++) {
        for (size_t count = 1; count <= n - first; count++) {
            uint64_t begin, end;

            order_images(order, first, count, found);
            order_span(order, first, count, &begin, &end);
            for (size_t i = 0; i < count; i++) {
                assert_int_equal(found[i].row, wanted[first + i].row);
                assert_int_equal(found[i].transform, wanted[first + i].transform);
                assert_in_range(found[i].row, begin, end - 1);
            }
        }
    }
}

static void test_every_cut_of_every_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(shapes); i++) {
        struct error err = {0};
        struct image wanted[256];
        struct order order = {.n_rows = shapes[i].n_rows,
                              .block_rows = shapes[i].block_rows,
                              .chosen = chosen,
                              .n_chosen = shapes[i].n_chosen};

        assert_int_equal(order_init(&order, &err), 0);
        check_all_cuts(&order, wanted, list_images(&shapes[i], NULL, wanted));
    }
}

static void test_images_left_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(shapes); i++) {
        struct error err = {0};
        struct image wanted[256];
        struct selection selection = {0};
        struct order order = {.n_rows = shapes[i].n_rows,
                              .block_rows = shapes[i].block_rows,
                              .chosen = chosen,
                              .n_chosen = shapes[i].n_chosen,
                              .selection = &selection};

        assert_int_equal(selection_init(&selection, order.n_rows, order.n_chosen, &err), 0);
        for (uint64_t row = 0; row < order.n_rows; row++)
            for (uint32_t k = 0; k < order.n_chosen; k++)
                if (shuffle_hash(row, k) % 3 == 0 || (row / 4) % 3 == 1) /* whole blocks, too */
                    selection_clear(&selection, row, k);
        assert_int_equal(order_init(&order, &err), 0);
        check_all_cuts(&order, wanted, list_images(&shapes[i], &selection, wanted));
        selection_release(&selection);
    }
}

/* Any image of a large block is found without a walk over the block, which would take minutes. */
static void test_images_of_one_block(void **state)
{
    enum { N_ROWS = 1 << 21, N_LOOKUPS = 1 << 17 };
    struct selection selection = {0};
    struct order order = {
        .n_rows = N_ROWS, .chosen = chosen, .n_chosen = 3, .selection = &selection};
    struct image image;

    (void)state;
    assert_int_equal(selection_init(&selection, N_ROWS, 3, NULL), 0);
    for (uint64_t row = 0; row < N_ROWS; row++) /* in row r, all images but the (r % 3)-th */
        selection_clear(&selection, row, (uint32_t)(row % 3));
    assert_int_equal(order_init(&order, NULL), 0);
    for (uint64_t i = 0; i < N_LOOKUPS; i++) {
        const uint64_t at = shuffle_hash(1, i) % order.n_images;

        order_images(&order, at, 1, &image);
        const uint64_t k = image.transform == chosen[0] ? 0 : image.transform == chosen[1] ? 1 : 2;
        const uint64_t n_without = image.row / 3 + (image.row % 3 > k);
        const uint64_t of_k = N_ROWS - (N_ROWS / 3 + (N_ROWS % 3 > 0));
        const uint64_t before = k == 0 ? 0 : k == 1 ? of_k : 2 * N_ROWS - 2 * (N_ROWS / 3 + 1);

        assert_int_not_equal(image.row % 3, k);
        assert_int_equal(before + image.row - n_without, at);
    }
    selection_release(&selection);
}

/* Images far from where they would be if all rows had equally many: all in the last rows, all in
 * the first ones, in both, or in some between. */
static void test_images_unevenly_spread(void **state)
{
    enum { N_ROWS = 6000 };
    static const uint64_t spans[][2] = {{5900, 6000}, {0, 70}, {2900, 2930}, {1, 5999}};

    (void)state;
    for (unsigned variant = 0; variant < 2 * N_OF(spans); variant++) {
        const uint64_t *span = spans[variant / 2];
        struct selection selection = {0};
        struct order order = {.n_rows = N_ROWS,
                              .block_rows = 16,
                              .chosen = chosen,
                              .n_chosen = 3,
                              .selection = &selection};
        uint64_t at = 0;

        assert_int_equal(selection_init(&selection, N_ROWS, 3, NULL), 0);
        for (uint64_t row = 0; row < N_ROWS; row++)
            for (uint32_t k = 0; k < 3; k++)
                if ((row >= span[0] && row < span[1]) == (variant % 2 == 1))
                    selection_clear(&selection, row, k);
        assert_int_equal(order_init(&order, NULL), 0);
        for (uint64_t block = 0; block < N_ROWS; block += 16)
            for (uint32_t k = 0; k < 3; k++)
                for (uint64_t row = block; row < block + 16; row++) {
                    struct image image = {0};

                    if (!selection_has(&selection, row, k))
                        continue;
                    order_images(&order, at++, 1, &image);
                    assert_int_equal(image.row, row);
                    assert_int_equal(image.transform, chosen[k]);
                }
        assert_int_equal(at, order.n_images);
        selection_release(&selection);
    }
}

/* The row that stands at a place of n shuffled ones. */
static uint64_t source_of(uint64_t at, uint64_t n, uint64_t seed)
{
    static const uint8_t identity[] = {0};
    struct order order = {
        .n_rows = n, .chosen = identity, .n_chosen = 1, .shuffled = true, .seed = seed};
    struct image image;

    assert_int_equal(order_init(&order, NULL), 0);
    order_images(&order, at, 1, &image);
    return image.row;
}

static void test_shuffle_is_a_bijection(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097};

    (void)state;
    for (size_t i = 0; i < N_OF(sizes); i++) {
        uint8_t *seen = calloc(sizes[i], 1);
        uint64_t n_fixed = 0;

        for (uint64_t at = 0; at < sizes[i]; at++) {
            uint64_t from = source_of(at, sizes[i], 42);

            assert_in_range(from, 0, sizes[i] - 1);
            assert_int_equal(seen[from], 0);
            seen[from] = 1;
            n_fixed += from == at;
        }
        if (sizes[i] >= 100)
            assert_in_range(n_fixed, 0, 10); /* a random permutation has one on average */
        free(seen);
    }
}

static void test_shuffle_depends_on_the_seed(void **state)
{
    uint64_t n_same = 0;

    (void)state;
    for (uint64_t at = 0; at < 1000; at++)
        n_same += source_of(at, 1000, 1) == source_of(at, 1000, 2);
    assert_in_range(n_same, 0, 10);
}

/* Slices one after another are the whole, shuffled or not. */
static void test_slices(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(shapes); i++) {
        for (int shuffled = 0; shuffled < 2; shuffled++) {
            struct error err = {0};
            struct image wanted[256], found[256];
            struct order order = {.n_rows = shapes[i].n_rows,
                                  .block_rows = shapes[i].block_rows,
                                  .chosen = chosen,
                                  .n_chosen = shapes[i].n_chosen,
                                  .shuffled = shuffled,
                                  .seed = 3};

            assert_int_equal(order_init(&order, &err), 0);
            order_images(&order, 0, order.n_images, wanted);
            for (uint64_t first = 0; first < order.n_images; first += 5) {
                const uint64_t left = order.n_images - first, n = left < 5 ? left : 5;
                const struct order slice = order_slice(&order, first, n);
                uint64_t begin, end;

                assert_int_equal(order_is_last(&slice), left <= 5);
                order_images(&slice, 1, n - 1, found + 1);
                order_span(&slice, 0, n, &begin, &end);
                for (uint64_t k = 1; k < n; k++) {
                    assert_int_equal(found[k].row, wanted[first + k].row);
                    assert_int_equal(found[k].transform, wanted[first + k].transform);
                    assert_true(shuffled || (found[k].row >= begin && found[k].row < end));
                }
            }
        }
    }
}

static void test_ends_of_blocks(void **state)
{
    struct error err = {0};
    struct order order = {.n_rows = 40, .block_rows = 16, .chosen = chosen, .n_chosen = 3};

    (void)state;
    assert_int_equal(order_init(&order, &err), 0);
    assert_int_equal(order_end_of_blocks(&order, 0, 1), 48);
    assert_int_equal(order_end_of_blocks(&order, 47, 1), 48);
    assert_int_equal(order_end_of_blocks(&order, 48, 1), 96);
    assert_int_equal(order_end_of_blocks(&order, 0, 2), 96);
    assert_int_equal(order_end_of_blocks(&order, 96, 1), 120);
    assert_int_equal(order_end_of_blocks(&order, 0, UINT64_MAX), 120);
    assert_int_equal(order_end_of_blocks(&order, 50, UINT64_MAX), 120);
}

static void test_too_many_images(void **state)
{
    struct error err = {0};
    struct order order = {
        .n_rows = UINT64_MAX / 2, .block_rows = 16, .chosen = chosen, .n_chosen = 3};

    (void)state;
    assert_int_equal(order_init(&order, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut_of_every_order),
        cmocka_unit_test(test_images_left_out),
        cmocka_unit_test(test_images_of_one_block),
        cmocka_unit_test(test_images_unevenly_spread),
        cmocka_unit_test(test_shuffle_is_a_bijection),
        cmocka_unit_test(test_shuffle_depends_on_the_seed),
        cmocka_unit_test(test_slices),
        cmocka_unit_test(test_ends_of_blocks),
        cmocka_unit_test(test_too_many_images),
    };

    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
