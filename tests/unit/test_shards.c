/* test_shards.c - where an output is cut, and what its shards are called. */
#include "engine/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint8_t chosen[] = {0, 1, 2, 3};

static struct settings settings; /* of make_plan */

static void make_plan(struct plan *plan, uint64_t n_rows, uint64_t rows_per_shard)
{
    struct error err = {0};

    settings = (struct settings){.block_rows = 16, .rows_per_shard = rows_per_shard};
    *plan = (struct plan){.settings = &settings, .n_rows = n_rows, .n_chosen = 4};
    plan->order =
        (struct order){.n_rows = n_rows, .block_rows = 16, .chosen = chosen, .n_chosen = 4};
    assert_int_equal(order_init(&plan->order, &err), 0);
}

/* Shards of so many rows are warned of; 0: there is nothing to warn of. */
static void check_warning(struct plan *plan, uint64_t rounded)
{
    char text[32];

    assert_int_equal(shards_warn(plan, NULL), 0);
    assert_int_equal(plan->warnings.n, rounded > 0);
    snprintf(text, sizeof text, ": shards of %llu rows,", (unsigned long long)rounded);
    if (rounded > 0) {
        assert_non_null(strstr(plan->warnings.items[0], text));
    }
    text_list_release(&plan->warnings);
}

static void test_blocks_stay_whole(void **state)
{
    static const struct {
        uint64_t n_rows, per_shard, first_shard, n_shards, rounded;
    } cases[] = {
        {100, 64, 64, 7, 0},   {100, 65, 64, 7, 64}, {100, 127, 64, 7, 64},
        {100, 128, 128, 4, 0}, {100, 1, 64, 7, 64},  {100, 400, 384, 2, 384},
        {100, 448, 400, 1, 0}, {0, 64, 0, 1, 0},     {3, 1, 12, 1, 12},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct plan plan;
        struct order slice;

        make_plan(&plan, cases[i].n_rows, cases[i].per_shard);
        slice = shards_slice(&plan, 0, 0);
        assert_int_equal(slice.n_images, cases[i].first_shard);
        assert_int_equal(shards_count(&plan), cases[i].n_shards);
        check_warning(&plan, cases[i].rounded);
    }
}

static void test_orders_without_blocks(void **state)
{
    struct plan plan;

    (void)state;
    make_plan(&plan, 100, 150);
    plan.order.shuffled = true;
    assert_int_equal(shards_slice(&plan, 1, 150).n_images, 150);
    assert_int_equal(shards_slice(&plan, 2, 300).n_images, 100);
    assert_int_equal(shards_count(&plan), 3);
    check_warning(&plan, 0);
}

static void test_names(void **state)
{
    static const struct {
        const char *output, *name;
        uint64_t i, per_shard;
    } cases[] = {
        {"out.npz", "out.npz", 0, 0},
        {"out.npz", "out-00000.npz", 0, 64},
        {"a.b/out.npz", "a.b/out-00012.npz", 12, 64},
        {"out.npy", "out-123456.npy", 123456, 64},
        {"folder", "folder-00001", 1, 64},
        {"folder/", "folder-00001", 1, 64},
        {"d/.npz", "d/.npz-00001", 1, 64},
        {"out.npz.d", "out.npz.d-00001", 1, 64},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct error err = {0};
        struct text name = {0};
        struct plan plan;

        make_plan(&plan, 100, cases[i].per_shard);
        assert_int_equal(shards_name(&plan, cases[i].output, cases[i].i, &name, &err), 0);
        assert_string_equal(name.text, cases[i].name);
        text_release(&name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_stay_whole),
        cmocka_unit_test(test_orders_without_blocks),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests_name("shards", tests, NULL, NULL);
}
