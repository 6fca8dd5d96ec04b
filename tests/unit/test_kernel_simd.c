/* test_kernel_simd.c - every variant of the gather gives the bits of the plain definition and
 * touches no byte outside the planes; rows moved together equal rows moved one by one. */
#include "engine/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const size_t lengths[] = {
    1,   2,   3,   4,   5,   7,   8,   9,   15,  16,   17,   19,   24,   25,   31,   32,   33,
    42,  47,  48,  49,  63,  64,  65,  71,  72,  81,   82,   95,   96,   97,   113,  120,  121,
    127, 128, 129, 169, 170, 191, 192, 193, 225, 226,  255,  256,  257,  258,  300,  320,  361,
    362, 383, 384, 385, 386, 447, 448, 449, 469, 503,  504,  505,  511,  512,  513,  520,  521,
    575, 576, 577, 625, 626, 895, 897, 960, 961, 1009, 1016, 1017, 1023, 1024, 1025, 1032, 4132,
};

static const uint64_t plane_counts[] = {1, 2, 3, 4, 5, 17};

static const size_t item_sizes[GATHER_N_WIDTHS] = {
    [GATHER_8] = 1, [GATHER_16] = 2, [GATHER_32] = 4, [GATHER_64] = 8};

static uint64_t random_state = 88172645463325252u;

static uint32_t random_below(size_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 20) % n);
}

static void fill_random(uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)random_below(256);
}

/* A permutation and, behind it, its inverse; or, of elements, for every third length a map that
 * uses the last entries most. */
static uint32_t *random_map(size_t n, bool is_bits)
{
    uint32_t *src = malloc(2 * n * sizeof *src);

    assert_non_null(src);
    for (size_t i = 0; i < n; i++)
        src[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        const size_t j = random_below(i + 1);
        const uint32_t kept = src[i];

        src[i] = src[j];
        src[j] = kept;
    }
    for (size_t i = 0; !is_bits && n % 3 == 0 && i < n; i += 2)
        src[i] = (uint32_t)(n - 1 - random_below(n < 20 ? n : 20));
    for (size_t i = 0; i < n; i++)
        src[n + src[i]] = (uint32_t)i;
    return src;
}

/* --- memory between pages that must not be touched --- */

struct fence {
    uint8_t *map;
    size_t map_nbytes;
    uint8_t *bytes; /* n_bytes of them, flush with the fence before or behind */
};

static struct fence fence_new(size_t n_bytes, bool flush_behind)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (n_bytes + page - 1) / page * page;
    struct fence f = {.map_nbytes = inner + 2 * page};

    f.map = mmap(NULL, f.map_nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f.map != MAP_FAILED);
    assert_int_equal(mprotect(f.map + page, inner, PROT_READ | PROT_WRITE), 0);
    f.bytes = f.map + page + (flush_behind ? inner - n_bytes : 0);
    return f;
}

static void fence_free(struct fence *f)
{
    munmap(f->map, f->map_nbytes);
}

/* --- the plain definition --- */

static bool bit_at(const uint8_t *plane, size_t i, bool lsb_first)
{
    return plane[i / 8] >> (lsb_first ? i % 8 : 7 - i % 8) & 1;
}

static void move_as_defined(const struct gather_tile *tile, size_t item, uint8_t *out)
{
    const size_t n_bytes = (tile->n + 7) / 8;

    for (size_t p = 0; p < tile->n_planes; p++) {
        const uint8_t *in = tile->from[p];

        if (item > 0) {
            for (size_t j = 0; j < tile->n; j++)
                memcpy(out + (p * tile->n + j) * item, in + tile->src[j] * item, item);
            continue;
        }
        memset(out + p * n_bytes, 0, n_bytes);
        for (size_t j = 0; j < tile->n; j++)
            if (bit_at(in, tile->src[j], tile->lsb_first))
                out[p * n_bytes + j / 8] |= (uint8_t)(1u << (tile->lsb_first ? j % 8 : 7 - j % 8));
    }
}

/* --- variants --- */

static void check_tile(const struct gather_kernels *kernels, enum gather_width width, size_t n,
                       size_t n_planes, bool flush_behind, bool lsb_first)
{
    const size_t item = item_sizes[width];
    const size_t plane_nbytes = item > 0 ? n * item : (n + 7) / 8;
    struct fence in = fence_new(n_planes * plane_nbytes, flush_behind);
    struct fence out = fence_new(n_planes * plane_nbytes, flush_behind);
    uint32_t *const map = random_map(n, item == 0);
    struct gather_tile tile = {.src = map,
                               .dst = item > 0 && n % 3 == 0 ? NULL : map + n,
                               .n = n,
                               .n_planes = n_planes,
                               .out = out.bytes,
                               .lsb_first = lsb_first};
    uint8_t *expected = malloc(n_planes * plane_nbytes);

    assert_non_null(expected);
    fill_random(in.bytes, n_planes * plane_nbytes);
    fill_random(out.bytes, n_planes * plane_nbytes);
    /* Every second plane is zeros but for a few elements or bytes, the last of them maybe, and of
     * packed bits the one before it ones but for a few bytes. */
    for (size_t p = 0; p < n_planes; p++)
        for (size_t i = 0; (item == 0 || p % 2 == 1) && i < (item > 0 ? n : plane_nbytes); i++)
            if (random_below(8) != 0)
                memset(in.bytes + p * plane_nbytes + i * (item > 0 ? item : 1),
                       p % 2 == 1 ? 0 : 0xff, item > 0 ? item : 1);
    for (size_t p = 0; p < n_planes; p++)
        tile.from[p] = in.bytes + random_below(n_planes) * plane_nbytes;
    tile.from[n_planes - 1] = in.bytes + (n_planes - 1) * plane_nbytes;
    tile.from[0] = in.bytes;
    move_as_defined(&tile, item, expected);
    kernels->move[width](&tile);
    if (memcmp(expected, out.bytes, n_planes * plane_nbytes) != 0)
        fail_msg("%s, width %d: %zu planes of %zu differ from the definition", kernels->name,
                 (int)width, n_planes, n);
    free(expected);
    free(map);
    fence_free(&in);
    fence_free(&out);
}

static void variants_move_by_the_definition(void **state)
{
    (void)state;
    for (size_t v = 0; v < gather_kernels_n_table; v++) {
        const struct gather_kernels *kernels = &gather_kernels_table[v];

        if (!kernels->is_supported()) {
            print_message("%s: not on this machine\n", kernels->name);
            continue;
        }
        for (size_t i = 0; i < N_OF(lengths) * N_OF(plane_counts) * GATHER_N_WIDTHS; i++) {
            const enum gather_width width = (enum gather_width)(i % GATHER_N_WIDTHS);
            const size_t at = i / GATHER_N_WIDTHS;
            const size_t n = lengths[at % N_OF(lengths)];
            const size_t n_planes = plane_counts[at / N_OF(lengths)];

            check_tile(kernels, width, n, n_planes, true, i % 2 == 0);
            check_tile(kernels, width, n, n_planes, false, i % 2 != 0);
        }
    }
}

static void the_best_variant_is_supported(void **state)
{
    const struct gather_kernels *last = &gather_kernels_table[gather_kernels_n_table - 1];

    (void)state;
    assert_true(gather_kernels_best()->is_supported());
    assert_true(last->is_supported());
    assert_string_equal(last->name, "plain");
}

/* --- rows --- */

struct rows_case {
    enum spec_kind kind;
    uint32_t itemsize;
    uint64_t outer, axis, inner;
    bool channels_last, has_src, has_plane_src, lsb_first;
    enum label_op label;
    int label_plane;
};

static const struct rows_case rows_cases[] = {
    {SPEC_AXIS, 4, 14, 81, 1, false, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 1, 17, 361, 1, false, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 1, 300, 361, 1, false, true, true, false, LABEL_KEEP, -1}, /* several tiles */
    {SPEC_AXIS, 2, 3, 169, 1, false, true, true, false, LABEL_COMPLEMENT, 2},
    {SPEC_AXIS, 4, 3, 121, 1, false, true, true, false, LABEL_COMPLEMENT, 2},
    {SPEC_AXIS, 8, 1, 170, 1, false, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 4, 1, 4132, 1, false, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 1, 1, 121, 1, false, true, false, false, LABEL_EXCHANGE_12, -1},
    {SPEC_AXIS, 2, 2, 19, 3, false, true, false, false, LABEL_KEEP, -1}, /* 6 bytes a cell */
    {SPEC_AXIS, 12, 2, 19, 1, false, true, true, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 4, 3, 121, 1, false, false, true, false, LABEL_COMPLEMENT, 2},
    {SPEC_AXIS, 4, 3, 121, 1, false, false, false, false, LABEL_COMPLEMENT, 2},
    {SPEC_AXIS, 1, 1, 121, 3, true, true, true, false, LABEL_COMPLEMENT, 2},
    {SPEC_AXIS, 4, 1, 121, 3, true, true, true, false, LABEL_COMPLEMENT, 2},
    {SPEC_AXIS, 2, 1, 361, 17, true, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 1, 1, 361, 17, true, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 1, 1, 64, 25, true, true, true, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 4, 1, 25, 73, true, true, true, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 1, 1, 9, 7, true, true, false, false, LABEL_KEEP, -1},
    {SPEC_AXIS, 8, 1, 19, 2, true, false, true, false, LABEL_COMPLEMENT, 1},
    {SPEC_BITS, 1, 22, 361, 1, false, true, false, false, LABEL_KEEP, -1},
    {SPEC_BITS, 1, 22, 361, 1, false, true, true, true, LABEL_KEEP, -1},
    {SPEC_BITS, 1, 5, 625, 1, false, true, false, false, LABEL_KEEP, -1},
    {SPEC_BITS, 1, 5, 81, 1, false, false, false, false, LABEL_KEEP, -1},
    {SPEC_BITS, 1, 5, 81, 1, false, false, true, true, LABEL_KEEP, -1},
};

/* One element as the definition in kernel.h says. */
static void row_as_defined(const struct rows_case *c, const struct spec_step *step,
                           const struct dtype *dtype, const uint8_t *in, uint8_t *out)
{
    const size_t item = c->itemsize;

    for (uint64_t o = 0; o < c->outer; o++)
        for (uint64_t j = 0; j < c->axis; j++)
            for (uint64_t i = 0; i < c->inner; i++) {
                const uint64_t channel = c->channels_last ? i : o;
                const uint64_t from = step->plane_src != NULL ? step->plane_src[channel] : channel;
                const uint64_t cell = step->src != NULL ? step->src[j] : j;
                const uint64_t from_o = c->channels_last ? o : from;
                const uint64_t from_i = c->channels_last ? from : i;
                uint8_t *to = out + ((o * c->axis + j) * c->inner + i) * item;

                memcpy(to, in + ((from_o * c->axis + cell) * c->inner + from_i) * item, item);
                if (step->label_plane < 0 || channel == (uint64_t)step->label_plane)
                    label_apply(step->label, dtype, to, to, 1);
            }
}

static void bits_as_defined(const struct rows_case *c, const struct spec_step *step,
                            const uint8_t *in, uint8_t *out)
{
    const size_t n_bytes = (c->axis + 7) / 8;

    for (uint64_t o = 0; o < c->outer; o++) {
        const uint8_t *plane = in + (step->plane_src != NULL ? step->plane_src[o] : o) * n_bytes;

        memset(out + o * n_bytes, 0, n_bytes);
        for (size_t j = 0; j < c->axis; j++)
            if (bit_at(plane, step->src != NULL ? step->src[j] : j, c->lsb_first))
                out[o * n_bytes + j / 8] |= (uint8_t)(1u << (c->lsb_first ? j % 8 : 7 - j % 8));
    }
}

static void check_rows(const struct rows_case *c, uint64_t n_rows, bool constant_plane)
{
    const uint64_t n_channels = c->channels_last ? c->inner : c->outer;
    struct spec_step step = {.label = c->label, .label_plane = c->label_plane};
    struct spec move = {
        .kind = c->kind,
        .dtype = {.kind = c->itemsize > 8    ? DTYPE_VOID
                          : c->itemsize == 1 ? DTYPE_UINT
                                             : DTYPE_FLOAT,
                  .itemsize = c->itemsize},
        .row_nbytes = c->kind == SPEC_BITS ? c->outer * ((c->axis + 7) / 8)
                                           : c->outer * c->axis * c->inner * c->itemsize,
        .outer = c->outer,
        .axis = c->axis,
        .inner = c->inner,
        .channels_last = c->channels_last,
        .lsb_first = c->lsb_first,
        .steps = &step,
        .n_steps = 1,
    };
    const size_t n_bytes = n_rows * move.row_nbytes;
    struct fence in = fence_new(n_bytes, true), out = fence_new(n_bytes, true);
    uint32_t *src = random_map(c->axis, c->kind == SPEC_BITS),
             *plane_src = random_map(n_channels, false);
    uint8_t *expected = malloc(move.row_nbytes);
    uint64_t failed;
    struct error err = {0};

    assert_non_null(expected);
    step.src = c->has_src ? src : NULL;
    step.dst = c->has_src && c->kind == SPEC_BITS ? src + c->axis : NULL;
    step.plane_src = c->has_plane_src ? plane_src : NULL;
    fill_random(in.bytes, n_bytes);
    if (constant_plane)
        memset(in.bytes, 0, n_bytes);
    assert_int_equal(kernel_rows(&move, 0, in.bytes, NULL, out.bytes, n_rows, &failed, &err), 0);
    for (uint64_t r = 0; r < n_rows; r++) {
        const uint8_t *row = in.bytes + r * move.row_nbytes;

        if (c->kind == SPEC_BITS)
            bits_as_defined(c, &step, row, expected);
        else
            row_as_defined(c, &step, &move.dtype, row, expected);
        if (memcmp(expected, out.bytes + r * move.row_nbytes, move.row_nbytes) != 0)
            fail_msg("case %td: row %llu of %llu differs", c - rows_cases, (unsigned long long)r,
                     (unsigned long long)n_rows);
    }
    free(expected);
    free(src);
    free(plane_src);
    fence_free(&in);
    fence_free(&out);
}

static void rows_move_by_the_definition(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(rows_cases); i++) {
        check_rows(&rows_cases[i], 1, false);
        check_rows(&rows_cases[i], 16, false);
        check_rows(&rows_cases[i], 7, true);
    }
}

static void the_failing_row_is_told(void **state)
{
    static const int16_t in[5] = {3, -1, 0, 4, 1};
    static const uint32_t dst[4] = {2, 3, 1, 0};
    struct spec_step step = {.dst = dst};
    const struct spec move = {.kind = SPEC_INDICES,
                              .dtype = {.kind = DTYPE_INT, .itemsize = 2},
                              .row_nbytes = 2,
                              .n_targets = 4,
                              .steps = &step,
                              .n_steps = 1};
    int16_t out[5];
    uint64_t failed = 99;
    struct error err = {0};

    (void)state;
    assert_int_equal(kernel_rows(&move, 0, in, NULL, out, 3, &failed, &err), 0);
    assert_int_equal(out[0], 0);
    assert_int_equal(out[1], -1);
    assert_int_equal(out[2], 2);
    assert_int_equal(kernel_rows(&move, 0, in, NULL, out, 5, &failed, &err), -1);
    assert_int_equal(failed, 3);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_string_equal(err.message, "index 4, expected below 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_move_by_the_definition),
        cmocka_unit_test(the_best_variant_is_supported),
        cmocka_unit_test(rows_move_by_the_definition),
        cmocka_unit_test(the_failing_row_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
