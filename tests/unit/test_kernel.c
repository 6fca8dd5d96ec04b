/* test_kernel.c - planes and bits moved by the kernels against the plainest loops, for every
 * element size and plane sizes around the widths that fast variants work in. */
#include "engine/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/perm.h"

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

static void random_bytes(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)random_below(256);
}

/* A permutation that is nobody's inverse of itself. */
static void random_permutation(uint32_t *map, uint64_t n)
{
    perm_set_identity(map, n);
    for (uint64_t i = n; i > 1; i--) {
        uint32_t k = random_below((uint32_t)i), old = map[i - 1];

        map[i - 1] = map[k];
        map[k] = old;
    }
}

/* Memory of exactly n bytes, so that a sanitizer sees a byte too far. */
static uint8_t *exactly(size_t n)
{
    uint8_t *bytes = malloc(n + (n == 0));

    assert_non_null(bytes);
    return bytes;
}

static const uint64_t axes[] = {1,   2,   3,   7,   8,   9,   15,  16,  17,   25,   31,   32,
                                33,  49,  61,  63,  64,  65,  81,  127, 128,  129,  169,  225,
                                255, 256, 257, 361, 511, 512, 513, 625, 1023, 1024, 1025, 4132};
static const uint32_t itemsizes[] = {1, 2, 3, 4, 8, 16};

/* --- planes --- */

struct planes {
    uint64_t outer, axis, inner, n_rows;
    uint32_t itemsize;
    bool channels_last, permute_planes, move_cells;
};

/* out[row][o][j][i] = in[row][o'][src[j]][i'], where the planes are o or i. */
static void plain_gather(const struct planes *p, const uint32_t *src, const uint32_t *plane_src,
                         const uint8_t *in, uint8_t *out)
{
    for (uint64_t row = 0; row < p->n_rows; row++)
        for (uint64_t o = 0; o < p->outer; o++)
            for (uint64_t j = 0; j < p->axis; j++)
                for (uint64_t i = 0; i < p->inner; i++) {
                    uint64_t from_o = p->permute_planes && !p->channels_last ? plane_src[o] : o;
                    uint64_t from_i = p->permute_planes && p->channels_last ? plane_src[i] : i;
                    uint64_t from_j = p->move_cells ? src[j] : j;
                    uint64_t from = ((row * p->outer + from_o) * p->axis + from_j) * p->inner;
                    uint64_t to = ((row * p->outer + o) * p->axis + j) * p->inner + i;

                    memcpy(out + to * p->itemsize, in + (from + from_i) * p->itemsize, p->itemsize);
                }
}

static void check_planes(const struct planes *p)
{
    const size_t row_nbytes = p->outer * p->axis * p->inner * p->itemsize;
    const uint64_t n_planes = p->channels_last ? p->inner : p->outer;
    uint8_t *in = exactly(p->n_rows * row_nbytes), *out = exactly(p->n_rows * row_nbytes);
    uint8_t *wanted = exactly(p->n_rows * row_nbytes);
    uint32_t *src = malloc(p->axis * sizeof *src),
             *plane_src = malloc(n_planes * sizeof *plane_src);
    struct spec_step steps[2] = {{.label_plane = -1}, {.label_plane = -1}};
    struct spec move = {.kind = SPEC_AXIS,
                        .dtype = {.kind = DTYPE_VOID, .itemsize = p->itemsize},
                        .row_nbytes = row_nbytes,
                        .outer = p->outer,
                        .axis = p->axis,
                        .inner = p->inner,
                        .channels_last = p->channels_last,
                        .steps = steps,
                        .n_steps = 2};
    struct error err = {0};
    uint64_t failed;

    assert_non_null(src);
    assert_non_null(plane_src);
    random_permutation(src, p->axis);
    random_permutation(plane_src, n_planes);
    steps[1].src = p->move_cells ? src : NULL;
    steps[1].plane_src = p->permute_planes ? plane_src : NULL;
    random_bytes(in, p->n_rows * row_nbytes);
    plain_gather(p, src, plane_src, in, wanted);
    assert_int_equal(kernel_rows(&move, 1, in, NULL, out, p->n_rows, &failed, &err), 0);
    if (memcmp(out, wanted, p->n_rows * row_nbytes) != 0)
        fail_msg("%llu x %llu x %llu elements of %u bytes, %llu rows%s%s%s: moved wrongly",
                 (unsigned long long)p->outer, (unsigned long long)p->axis,
                 (unsigned long long)p->inner, p->itemsize, (unsigned long long)p->n_rows,
                 p->channels_last ? ", channels last" : "", p->permute_planes ? ", planes too" : "",
                 p->move_cells ? "" : ", cells stay");
    memset(out, 0, row_nbytes);
    assert_int_equal(kernel_row(&move, 1, in, NULL, out, &err), 0);
    assert_memory_equal(out, wanted, row_nbytes);
    assert_int_equal(kernel_rows(&move, 0, in, NULL, out, p->n_rows, &failed, &err), 0);
    assert_memory_equal(out, in, p->n_rows * row_nbytes); /* the identity */
    free(in);
    free(out);
    free(wanted);
    free(src);
    free(plane_src);
}

static void test_planes(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_OF(axes); a++)
        for (size_t s = 0; s < N_OF(itemsizes); s++) {
            struct planes p = {.outer = 1 + random_below(5),
                               .axis = axes[a],
                               .inner = 1,
                               .n_rows = 1 + random_below(4),
                               .itemsize = itemsizes[s],
                               .move_cells = true};

            check_planes(&p);
            p.permute_planes = true;
            check_planes(&p);
            p.move_cells = false;
            check_planes(&p);
            p.move_cells = true;
            p.channels_last = true;
            p.inner = 2 + random_below(5);
            p.outer = 1;
            check_planes(&p);
            p.permute_planes = false;
            check_planes(&p);
        }
}

/* More planes than any variant takes at a time, in one row and over many rows. */
static void test_many_planes(void **state)
{
    static const struct planes many[] = {
        {.outer = 700, .axis = 9, .inner = 1, .n_rows = 2, .itemsize = 4, .move_cells = true},
        {.outer = 1, .axis = 25, .inner = 1, .n_rows = 900, .itemsize = 1, .move_cells = true},
        {.outer = 3, .axis = 81, .inner = 1, .n_rows = 300, .itemsize = 2, .move_cells = true},
        {.outer = 257,
         .axis = 64,
         .inner = 1,
         .n_rows = 3,
         .itemsize = 8,
         .move_cells = true,
         .permute_planes = true},
        {.outer = 255,
         .axis = 61,
         .inner = 1,
         .n_rows = 5,
         .itemsize = 1,
         .move_cells = true,
         .permute_planes = true},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(many); i++)
        check_planes(&many[i]);
}

/* --- packed bits --- */

static bool bit_of(const uint8_t *plane, uint64_t cell, bool lsb_first)
{
    return plane[cell / 8] >> (lsb_first ? cell % 8 : 7 - cell % 8) & 1;
}

static void check_bits(uint64_t axis, uint64_t outer, uint64_t n_rows, bool lsb_first)
{
    const size_t plane_nbytes = (axis + 7) / 8, n_bytes = n_rows * outer * plane_nbytes;
    uint8_t *in = exactly(n_bytes), *out = exactly(n_bytes), *wanted = exactly(n_bytes);
    uint32_t *src = malloc(2 * axis * sizeof *src), *plane_src = malloc(outer * sizeof *plane_src);
    uint32_t *dst = src + axis;
    struct spec_step step = {.src = src, .dst = dst, .plane_src = plane_src, .label_plane = -1};
    const struct spec move = {.kind = SPEC_BITS,
                              .dtype = {.kind = DTYPE_UINT, .itemsize = 1},
                              .row_nbytes = outer * plane_nbytes,
                              .outer = outer,
                              .axis = axis,
                              .inner = 1,
                              .lsb_first = lsb_first,
                              .steps = &step,
                              .n_steps = 1};
    struct error err = {0};
    uint64_t failed;

    assert_non_null(src);
    assert_non_null(plane_src);
    random_permutation(src, axis);
    for (uint64_t cell = 0; cell < axis; cell++)
        dst[src[cell]] = (uint32_t)cell;
    random_permutation(plane_src, outer);
    random_bytes(in, n_bytes); /* pad bits too: they must come out as 0 */
    memset(wanted, 0, n_bytes);
    for (uint64_t plane = 0; plane < n_rows * outer; plane++) {
        const uint64_t from = plane / outer * outer + plane_src[plane % outer];

        for (uint64_t cell = 0; cell < axis; cell++)
            if (bit_of(in + from * plane_nbytes, src[cell], lsb_first))
                wanted[plane * plane_nbytes + cell / 8] |=
                    (uint8_t)(1u << (lsb_first ? cell % 8 : 7 - cell % 8));
    }
    memset(out, 0xa5, n_bytes);
    assert_int_equal(kernel_rows(&move, 0, in, NULL, out, n_rows, &failed, &err), 0);
    if (memcmp(out, wanted, n_bytes) != 0)
        fail_msg("%llu bits, %llu planes, %llu rows, %s first: moved wrongly",
                 (unsigned long long)axis, (unsigned long long)outer, (unsigned long long)n_rows,
                 lsb_first ? "low" : "high");
    free(in);
    free(out);
    free(wanted);
    free(src);
    free(plane_src);
}

static void test_bits(void **state)
{
    (void)state;
    for (size_t a = 0; a < N_OF(axes); a++)
        for (int lsb_first = 0; lsb_first < 2; lsb_first++) {
            check_bits(axes[a], 1, 1, lsb_first);
            check_bits(axes[a], 22, 3, lsb_first);
        }
    check_bits(361, 300, 2, false);
}

/* --- labels of planes --- */

/* Only the to-move plane is complemented, in either axis order. */
static void test_label_plane(void **state)
{
    (void)state;
    for (int last = 0; last < 2; last++) {
        static const uint8_t cells[3][4] = {{1, 0, 0, 0}, {0, 1, 1, 0}, {1, 1, 1, 1}};
        static const uint8_t moved[3][4] = {{0, 1, 0, 1}, {0, 0, 1, 0}, {0, 0, 0, 0}};
        static const uint32_t src[4] = {3, 1, 0, 2}, plane_src[3] = {1, 0, 2};
        struct spec_step step = {
            .src = src, .plane_src = plane_src, .label = LABEL_COMPLEMENT, .label_plane = 2};
        const struct spec move = {.kind = SPEC_AXIS,
                                  .dtype = {.kind = DTYPE_INT, .itemsize = 1},
                                  .row_nbytes = 12,
                                  .outer = last ? 1 : 3,
                                  .axis = 4,
                                  .inner = last ? 3 : 1,
                                  .channels_last = last,
                                  .steps = &step,
                                  .n_steps = 1};
        uint8_t in[12], out[12], wanted[12];
        struct error err = {0};

        for (unsigned p = 0; p < 3; p++)
            for (unsigned j = 0; j < 4; j++) {
                in[last ? j * 3 + p : p * 4 + j] = cells[p][j];
                wanted[last ? j * 3 + p : p * 4 + j] = moved[p][j];
            }
        assert_int_equal(kernel_row(&move, 0, in, NULL, out, &err), 0);
        assert_memory_equal(out, wanted, 12);
    }
}

static void test_release_of_nothing(void **state)
{
    struct spec move = {0};

    (void)state;
    spec_release(&move);
    spec_release(&move);
    assert_null(move.steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_many_planes),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_label_plane),
        cmocka_unit_test(test_release_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
