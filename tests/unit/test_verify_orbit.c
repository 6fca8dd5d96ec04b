/* test_verify_orbit.c - images compared element by element, against images made here one element at
 * a time; keys; numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/settings.h"
#include "positions/key.h"
#include "verify/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_PLANES 3

static const char *const boards[] = {"hexagon:2", "square:5", "rhombus:4", "grid:3x4",
                                     "mirror:3x5"};

/* A window of two rows of planes in one lane. */
struct fixture {
    struct board *board;
    struct shard shard;
    struct role_binding binding;
    struct array array;
    struct lanes lanes;
    struct lane lane;
    struct window window;
    const struct array *list;
    struct batch batch;
    struct spec_maker maker;
    size_t item, plane;
};

static void set_up(struct fixture *f, const char *name, char kind, uint32_t itemsize, bool last)
{
    *f = (struct fixture){.item = itemsize};
    f->board = board_new(name, NULL);
    assert_non_null(f->board);
    f->plane = f->board->n_cells;
    f->shard.found.board = f->board;
    f->shard.conventions = conventions_default;
    f->binding = (struct role_binding){.role = ROLE_PLANES};
    f->binding.axes = last ? (struct role_axes){1, f->plane, N_PLANES}
                           : (struct role_axes){N_PLANES, f->plane, 1};
    f->array.header.dtype = (struct dtype){.kind = kind, .itemsize = itemsize};
    f->array.header.n_dims = 2;
    f->array.header.shape[1] = N_PLANES * f->plane;
    f->array.row_nbytes = N_PLANES * f->plane * itemsize;
    f->array.n_rows = 2;
    f->lane = (struct lane){.array = &f->array, .binding = &f->binding, .is_mapped = true};
    f->maker = (struct spec_maker){.board = f->board, .conventions = &f->shard.conventions};
    assert_int_equal(spec_init(&f->lane.spec, &f->maker, &f->array, &f->binding, NULL), 0);
    f->lanes = (struct lanes){.shard = &f->shard, .items = &f->lane, .n = 1};
    f->list = &f->array;
    f->lane.reader = (struct reader){
        .arrays = &f->list, .n_arrays = 1, .n_rows = 2, .unit_nbytes = f->array.row_nbytes};
    f->batch = (struct batch){.reader = &f->lane.reader, .n = 2};
    assert_non_null(bytes_reserve(&f->batch.bytes, 2 * f->array.row_nbytes, NULL));
    f->window = (struct window){.lanes = &f->lanes, .n = 2, .batches = &f->batch};
}

static void tear_down(struct fixture *f)
{
    bytes_release(&f->batch.bytes);
    spec_release(&f->lane.spec);
    spec_maker_release(&f->maker);
    board_free(f->board);
}

/* Where element (plane, cell) of a row stands. */
static uint8_t *at(const struct fixture *f, size_t row, size_t plane, size_t cell)
{
    const bool last = f->lane.spec.channels_last;
    const size_t i = last ? cell * N_PLANES + plane : plane * f->plane + cell;

    return f->batch.bytes.data + row * f->array.row_nbytes + i * f->item;
}

/* Row 0: numbers that tell where they are, 0 or 1 on the to-move plane. Row 1: its image. */
static void make_image(const struct fixture *f, uint32_t t)
{
    const bool swaps = f->board->transforms[t].swaps_colours;
    const struct dtype *dtype = &f->array.header.dtype;

    for (size_t p = 0; p < N_PLANES; p++) {
        const size_t to = swaps && p < 2 ? 1 - p : p;

        for (size_t cell = 0; cell < f->plane; cell++) {
            const int64_t v = p == 2 ? 1 : (int64_t)(p * 50 + cell) % 100;
            const int64_t image = swaps && p == 2 ? 1 - v : v;
            uint8_t *from = at(f, 0, p, cell);
            uint8_t *put = at(f, 1, to, f->board->transforms[t].dst[cell]);

            if (dtype->kind == DTYPE_FLOAT) {
                const float x = (float)v, y = (float)image;

                memcpy(from, &x, 4);
                memcpy(put, &y, 4);
            } else {
                assert_int_equal(dtype_put_int(dtype, v, from), 0);
                assert_int_equal(dtype_put_int(dtype, image, put), 0);
            }
        }
    }
}

static bool is_image(const struct fixture *f, uint32_t t, unsigned liberties)
{
    const struct orbit_pair pair = {&f->window, 0, 0, 1, 0};

    return orbit_same(&pair, t, liberties);
}

static void check_board(const char *name, char kind, uint32_t itemsize, bool last)
{
    struct fixture f;

    set_up(&f, name, kind, itemsize, last);
    for (uint32_t t = 0; t < f.board->n_transforms; t++) {
        make_image(&f, t);
        for (uint32_t u = 0; u < f.board->n_transforms; u++)
            assert_int_equal(is_image(&f, u, ORBIT_EXACT), u == t);
        /* Any one element that is not right is seen. */
        for (size_t p = 0; p < N_PLANES; p++) {
            for (size_t cell = 0; cell < f.plane; cell++) {
                uint8_t *element = at(&f, 1, p, cell);

                element[0] ^= 1;
                element[f.item - 1] ^= 64;
                assert_false(is_image(&f, t, ORBIT_EXACT));
                assert_int_equal(is_image(&f, t, ORBIT_ON_BOARD_ONLY), !f.board->on_board[cell]);
                element[0] ^= 1;
                element[f.item - 1] ^= 64;
            }
        }
    }
    tear_down(&f);
}

static void images_are_told_apart(void **state)
{
    static const struct {
        char kind;
        uint32_t itemsize;
    } types[] = {{'u', 1}, {'i', 2}, {'f', 4}, {'i', 8}};

    (void)state;
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            for (int last = 0; last < 2; last++)
                check_board(boards[i], types[k].kind, types[k].itemsize, last);
}

static void liberties_name_what_was_forgotten(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, "rhombus:4", 'f', 4, false);
    make_image(&f, 2);
    for (size_t cell = 0; cell < f.plane; cell++) { /* the colours are not swapped */
        uint8_t first[4];

        memcpy(first, at(&f, 1, 0, cell), 4);
        memcpy(at(&f, 1, 0, cell), at(&f, 1, 1, cell), 4);
        memcpy(at(&f, 1, 1, cell), first, 4);
    }
    assert_false(is_image(&f, 2, ORBIT_EXACT));
    assert_false(is_image(&f, 2, ORBIT_NO_COMPLEMENT));
    assert_true(is_image(&f, 2, ORBIT_NO_EXCHANGE));
    make_image(&f, 2);
    for (size_t cell = 0; cell < f.plane; cell++) /* the to-move plane is not flipped */
        memcpy(at(&f, 1, 2, cell), at(&f, 0, 2, cell), 4);
    assert_false(is_image(&f, 2, ORBIT_EXACT));
    assert_false(is_image(&f, 2, ORBIT_NO_EXCHANGE));
    assert_true(is_image(&f, 2, ORBIT_NO_COMPLEMENT));
    tear_down(&f);
}

static struct key_value key_of_row(const struct key *key, const struct fixture *f, size_t row,
                                   struct key_room *room)
{
    room->from[0] = f->batch.bytes.data + row * f->array.row_nbytes;
    return key_of(key, room);
}

static bool same_key(struct key_value a, struct key_value b)
{
    return a.high == b.high && a.low == b.low;
}

static void images_have_one_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++) {
        struct fixture f;
        struct key key;
        struct key_room room = {0};

        set_up(&f, boards[i], 'f', 4, i % 2 == 1);
        f.array.key = (char[]){"planes"};
        const struct array *sources[] = {&f.array};
        struct shard input = {.archive.path = (char[]){"in.npz"}};
        struct plan_array array = {
            .key = f.array.key, .binding = f.binding, .sources = sources, .spec = f.lane.spec};
        const struct plan plan = {.settings = &settings_default,
                                  .board = f.board,
                                  .inputs = &input,
                                  .n_inputs = 1,
                                  .conventions = f.shard.conventions,
                                  .arrays = &array,
                                  .n_arrays = 1};
        assert_int_equal(key_of_plan(&key, &plan, NULL, NULL), 0);
        assert_int_equal(key_room_init(&room, &key, NULL), 0);
        for (uint32_t t = 0; t < f.board->n_transforms; t++) {
            struct key_value first;
            uint8_t *element;

            make_image(&f, t);
            first = key_of_row(&key, &f, 0, &room);
            assert_true(same_key(key_of_row(&key, &f, 1, &room), first));
            element = at(&f, 1, 0, f.plane / 2);
            element[1] ^= 8;
            assert_false(same_key(key_of_row(&key, &f, 1, &room), first));
            /* A negative zero is the same position. */
            make_image(&f, t);
            element = at(&f, 1, 0, f.board->transforms[t].dst[0]);
            if (f.board->on_board[0] && element[3] == 0)
                element[3] = 0x80;
            assert_true(same_key(key_of_row(&key, &f, 1, &room), first));
        }
        key_room_release(&room);
        key_release(&key);
        tear_down(&f);
    }
}

static bool is_complement(float a, float b)
{
    static const struct dtype dtype = {.kind = DTYPE_FLOAT, .itemsize = 4};

    return orbit_is_flipped(LABEL_COMPLEMENT, &dtype, (const uint8_t *)&a, (const uint8_t *)&b, 1);
}

static void complements_may_be_off_by_one_unit(void **state)
{
    (void)state;
    assert_true(is_complement(0, 1));
    assert_true(is_complement(1, 0));
    assert_true(is_complement(0.3f, 0.7f));
    assert_true(is_complement(0.3f, 0.7f + 0x1p-24f));
    assert_false(is_complement(0.3f, 0.7f + 0x1p-21f));
    assert_false(is_complement(0, 1 + 0x1p-23f));
    assert_false(is_complement(0.3f, 0.3f));
    assert_true(is_complement(NAN, NAN));
    assert_false(is_complement(NAN, 0));
}

static void numbers_that_are_none_are_found(void **state)
{
    static const struct dtype dtype = {.kind = DTYPE_FLOAT, .itemsize = 4};
    const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    const float good[] = {3.4028235e38f, -3.4028235e38f, 1e-45f, -0.0f};

    (void)state;
    for (size_t n = 1; n < 9; n++) {
        for (size_t k = 0; k < n; k++) {
            for (size_t v = 0; v < 4; v++) {
                float row[9] = {0};

                row[k] = good[v];
                assert_int_equal(numbers_first_nan(&dtype, (const uint8_t *)row, n), n);
                row[k] = bad[v];
                assert_int_equal(numbers_first_nan(&dtype, (const uint8_t *)row, n), k);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_told_apart),
        cmocka_unit_test(liberties_name_what_was_forgotten),
        cmocka_unit_test(images_have_one_key),
        cmocka_unit_test(complements_may_be_off_by_one_unit),
        cmocka_unit_test(numbers_that_are_none_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
