/* test_kernel_index.c - indices, coordinates and tiles moved by the kernels, and what is refused.
 */
#include "engine/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/perm.h"

static const uint32_t turn[9] = {2, 5, 8, 1, 4, 7, 0, 3, 6}; /* a quarter turn: dst is not src */
static struct spec_step turn_steps[1] = {{.dst = turn, .label_plane = -1}};

static struct spec index_move(enum spec_kind kind, char letter, uint32_t itemsize, uint64_t n)
{
    return (struct spec){.kind = kind,
                         .dtype = {.kind = letter, .itemsize = itemsize},
                         .row_nbytes = n * itemsize,
                         .cols = 3,
                         .n_targets = 9,
                         .steps = turn_steps,
                         .n_steps = 1};
}

static void test_indices(void **state)
{
    static const struct {
        char kind;
        uint32_t itemsize;
        bool big_endian;
    } types[] = {{'i', 1, false}, {'i', 2, true},  {'i', 4, false}, {'i', 8, false},
                 {'i', 8, true},  {'u', 1, false}, {'u', 2, false}, {'u', 4, true}};
    static const int64_t old[] = {0, 1, 5, 8, 8, 3}, new[] = {2, 5, 7, 6, 6, 1};

    (void)state;
    for (size_t t = 0; t < N_OF(types); t++) {
        struct spec move = index_move(SPEC_INDICES, types[t].kind, types[t].itemsize, 6);
        uint64_t in[6] = {0}, out[6] = {0};
        struct error err = {0};

        move.dtype.big_endian = types[t].big_endian;
        for (size_t i = 0; i < 6; i++)
            dtype_put_int(&move.dtype, old[i], (uint8_t *)in + i * types[t].itemsize);
        assert_int_equal(kernel_row(&move, 0, in, NULL, out, &err), 0);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(dtype_get_int(&move.dtype, (uint8_t *)out + i * types[t].itemsize),
                             new[i]);
    }
}

static void test_negative_indices_stay(void **state)
{
    const struct spec move = index_move(SPEC_INDICES, 'i', 2, 4);
    const int16_t in[4] = {-1, 1, -7, INT16_MIN}, wanted[4] = {-1, 5, -7, INT16_MIN};
    int16_t out[4];
    struct error err = {0};

    (void)state;
    assert_int_equal(kernel_row(&move, 0, in, NULL, out, &err), 0);
    assert_memory_equal(out, wanted, sizeof out);
}

static void test_index_refused(void **state)
{
    struct spec move = index_move(SPEC_INDICES, 'i', 4, 2);
    const int32_t in[6] = {1, 2, 3, 4, 9, 0};
    int32_t out[6];
    uint64_t failed = 99;
    struct error err = {0};

    (void)state;
    assert_int_equal(kernel_rows(&move, 0, in, NULL, out, 3, &failed, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_int_equal(failed, 2);
    assert_string_equal(err.message, "index 9, expected below 9");

    uint32_t *long_map = malloc(200 * sizeof *long_map);
    struct spec_step step = {.dst = long_map, .label_plane = -1};
    const int8_t small[1] = {7};
    int8_t moved[1];

    assert_non_null(long_map);
    perm_set_identity(long_map, 200);
    long_map[7] = 199;
    long_map[199] = 7;
    move = index_move(SPEC_INDICES, 'i', 1, 1);
    move.n_targets = 200;
    move.steps = &step;
    err = (struct error){0};
    assert_int_equal(kernel_row(&move, 0, small, NULL, moved, &err), -1);
    assert_non_null(strstr(err.message, "does not fit"));
    free(long_map);
}

/* The trailing run of (0, 0) is padding; (0, 0) in front of something, and (0, x), are real. */
static void test_padded(void **state)
{
    static const struct {
        int32_t in[5];
        float values[5];
        int32_t out[5];
    } rows[] = {
        {{1, 5, 0, 0, 0}, {0.5f, 0.5f, 0, 0, 0}, {5, 7, 0, 0, 0}},
        {{0, 5, 0, 0, 0}, {0, 1, 0, 0, 0}, {2, 7, 0, 0, 0}},
        {{5, 0, 0, 0, 0}, {1, 0.25f, 0, 0, 0}, {7, 2, 0, 0, 0}},
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}},
        {{0, 0, 0, 0, 0}, {0, 0, 0, 0, 1}, {2, 2, 2, 2, 2}},
        {{0, 0, 0, 8, 0}, {0, 0, 0, 0, -0.0f}, {2, 2, 2, 6, 0}},
        {{-1, 3, 0, 0, 0}, {0, 1, 0, 0, 0}, {-1, 1, 0, 0, 0}},
    };
    struct spec move = index_move(SPEC_PADDED, 'i', 4, 5);

    (void)state;
    move.value_dtype = (struct dtype){.kind = DTYPE_FLOAT, .itemsize = 4};
    move.value_row_nbytes = 20;
    for (size_t i = 0; i < N_OF(rows); i++) {
        int32_t out[5];
        struct error err = {0};

        assert_int_equal(kernel_row(&move, 0, rows[i].in, rows[i].values, out, &err), 0);
        assert_memory_equal(out, rows[i].out, sizeof out);
    }
}

static void test_coords(void **state)
{
    struct spec move = index_move(SPEC_COORD, 'i', 1, 4);
    /* (row, col) 0,1 -> cell 1 -> 5 = 1,2; 2,2 -> 8 -> 6 = 2,0 */
    const int8_t in[4] = {0, 1, 2, 2}, wanted[4] = {1, 2, 2, 0};
    const int8_t turned[4] = {1, 0, 2, 2}, turned_wanted[4] = {2, 1, 0, 2};
    const int8_t none[4] = {-1, -1, 0, 1}, none_wanted[4] = {-1, -1, 1, 2};
    static const int8_t bad[][4] = {{3, 0, 0, 0}, {0, 3, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, -1}};
    int8_t out[4];
    struct error err = {0};

    (void)state;
    assert_int_equal(kernel_row(&move, 0, in, NULL, out, &err), 0);
    assert_memory_equal(out, wanted, 4);
    assert_int_equal(kernel_row(&move, 0, none, NULL, out, &err), 0);
    assert_memory_equal(out, none_wanted, 4);
    for (size_t i = 0; i < N_OF(bad); i++) {
        err = (struct error){0};
        assert_int_equal(kernel_row(&move, 0, bad[i], NULL, out, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
    }
    move.col_first = true;
    err = (struct error){0};
    assert_int_equal(kernel_row(&move, 0, turned, NULL, out, &err), 0);
    assert_memory_equal(out, turned_wanted, 4);
}

/* On a board of more than 127 columns. */
static void test_coord_that_does_not_fit(void **state)
{
    static const uint32_t far[200] = {[5] = 199}; /* where cell 5 goes */
    struct spec_step step = {.dst = far, .label_plane = -1};
    struct spec move = index_move(SPEC_COORD, 'i', 1, 2);
    const int8_t in[2] = {0, 5};
    int8_t out[2];
    struct error err = {0};

    (void)state;
    move.steps = &step;
    move.cols = 200;
    move.n_targets = 200;
    assert_int_equal(kernel_row(&move, 0, in, NULL, out, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_non_null(strstr(err.message, "(0, 199) of the image does not fit"));
}

static void test_tiles(void **state)
{
    static const uint32_t src[3] = {1, 2, 0};
    struct spec_step step = {.src = src, .label_plane = -1, .number_src = {1, 2, 0}};
    struct spec move = {.kind = SPEC_TRIPLE,
                        .dtype = {.kind = DTYPE_INT, .itemsize = 4},
                        .row_nbytes = 12,
                        .outer = 1,
                        .axis = 3,
                        .inner = 1,
                        .steps = &step,
                        .n_steps = 1};
    const int32_t tile[3] = {9, 2, 4}, tile_wanted[3] = {2, 4, 9};
    const int32_t codes[3] = {0, 924, 163}, codes_wanted[3] = {249, 631, 0};
    static const int32_t bad[][3] = {{0, -1, 0}, {0, 1000, 0}};
    int32_t out[3];
    struct error err = {0};

    (void)state;
    assert_int_equal(kernel_row(&move, 0, tile, NULL, out, &err), 0);
    assert_memory_equal(out, tile_wanted, sizeof out);
    move.kind = SPEC_AXIS;
    move.codes = true;
    assert_int_equal(kernel_row(&move, 0, codes, NULL, out, &err), 0);
    assert_memory_equal(out, codes_wanted, sizeof out);
    for (size_t i = 0; i < N_OF(bad); i++) {
        err = (struct error){0};
        assert_int_equal(kernel_row(&move, 0, bad[i], NULL, out, &err), -1);
        assert_non_null(strstr(err.message, "tile code"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indices),       cmocka_unit_test(test_negative_indices_stay),
        cmocka_unit_test(test_index_refused), cmocka_unit_test(test_padded),
        cmocka_unit_test(test_coords),        cmocka_unit_test(test_coord_that_does_not_fit),
        cmocka_unit_test(test_tiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
