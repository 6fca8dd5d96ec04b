/* test_bind.c - how roles and conventions become specs: plane maps in the small, whole plans of
 * real shards in the large. */
#include "engine/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- plane maps --- */

struct plane_map {
    const char *board, *option, *text; /* a convention, or NULL */
    uint32_t transform;
    uint64_t n_planes;
    uint8_t dst[9]; /* where plane p goes; when all zero: identity */
    int complement;
    const char *why; /* refused with this */
};

static const struct plane_map plane_maps[] = {
    {"square:5", NULL, NULL, 3, 9, {0}, -1, NULL},
    {"rhombus:5", NULL, NULL, 1, 7, {0}, -1, NULL}, /* no swap: any number of planes */
    {"rhombus:5", NULL, NULL, 2, 2, {1, 0}, -1, NULL},
    {"rhombus:5", NULL, NULL, 2, 3, {1, 0, 2}, 2, NULL},
    {"rhombus:5", NULL, NULL, 3, 3, {1, 0, 2}, 2, NULL},
    {"rhombus:5", NULL, NULL, 2, 1, {0}, -1, "1 planes"},
    {"rhombus:5", NULL, NULL, 2, 4, {0}, -1, "--planes openspiel"},
    {"rhombus:5", "planes", "mover", 2, 2, {0}, -1, NULL},
    {"rhombus:5", "planes", "mover", 2, 3, {0}, 2, NULL},
    {"rhombus:5", "planes", "mover", 2, 4, {0}, -1, "4 planes"},
    {"rhombus:5", "planes", "2,0,1,~3", 2, 4, {2, 0, 1, 3}, 3, NULL},
    {"rhombus:5", "planes", "2,0,1,~3", 1, 4, {0}, -1, NULL},
    {"rhombus:5", "planes", "2,0,1,~3", 2, 3, {0}, -1, "permutes 4"},
    {"rhombus:5", "planes", "openspiel", 0, 9, {0}, -1, NULL},
    {"rhombus:5", "planes", "openspiel", 1, 9, {0, 2, 1, 3, 4, 5, 7, 6, 8}, -1, NULL},
    {"rhombus:5", "planes", "openspiel", 2, 9, {8, 7, 6, 5, 4, 3, 2, 1, 0}, -1, NULL},
    {"rhombus:5", "planes", "openspiel", 3, 9, {8, 6, 7, 5, 4, 3, 1, 2, 0}, -1, NULL},
    {"rhombus:5", "planes", "openspiel", 1, 3, {0}, -1, "means 9"},
    {"chess", "castling-planes", "0,2,3,1", 1, 5, {2, 3, 0, 1, 4}, -1, NULL},
    {"chess", "castling-planes", "0,2,3,1", 0, 5, {0}, -1, NULL},
    {"chess", "castling-planes", "0,2,3,5", 1, 5, {0}, -1, "castling plane 5"},
    {"chess", "castling-planes", "none", 1, 9, {0}, -1, NULL},
    {"chess", NULL, NULL, 1, 9, {0}, -1, "--castling-planes"},
    {"chess", NULL, NULL, 0, 9, {0}, -1, NULL},
    {"file:tests/data/boards/bridges.json", NULL, NULL, 1, 4, {1, 0, 3, 2}, -1, NULL},
    {"file:tests/data/boards/bridges.json", NULL, NULL, 2, 4, {0}, -1, NULL},
    {"file:tests/data/boards/bridges.json", NULL, NULL, 1, 3, {0}, -1, "are for 4"},
};

static void check_plane_map(const struct plane_map *c)
{
    struct conventions conventions = conventions_default;
    struct error err = {0};
    struct board *board = board_new(c->board, &err);
    const struct spec_maker maker = {.board = board, .conventions = &conventions};
    uint32_t dst[9];
    int complement = -7, status;
    bool moved = false;

    assert_non_null(board);
    if (c->option != NULL)
        assert_int_equal(conventions_set(&conventions, c->option, c->text, &err), 0);
    status = spec_plane_map(&maker, c->transform, c->n_planes, dst, &complement, &err);
    board_free(board);
    if (c->why != NULL) {
        assert_int_equal(status, -1);
        assert_int_equal(err.kind, ERROR_DATA);
        if (strstr(err.message, c->why) == NULL)
            fail_msg("%s under %u: '%s', expected '%s'", c->board, c->transform, err.message,
                     c->why);
        return;
    }
    assert_int_equal(status, 0);
    assert_int_equal(complement, c->complement);
    for (uint64_t p = 0; p < c->n_planes; p++)
        moved |= c->dst[p] != 0;
    for (uint32_t p = 0; p < c->n_planes; p++)
        assert_int_equal(dst[p], moved ? c->dst[p] : p);
}

static void test_plane_maps(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(plane_maps); i++)
        check_plane_map(&plane_maps[i]);
}

/* The 25 planes of chess: king's and queen's side of both players. */
static void test_chess_planes(void **state)
{
    struct error err = {0};
    struct board *board = board_new("chess", &err);
    uint32_t dst[25];
    int complement;

    (void)state;
    const struct spec_maker maker = {.board = board, .conventions = &conventions_default};

    assert_int_equal(spec_plane_map(&maker, 1, 25, dst, &complement, &err), 0);
    for (uint32_t p = 0; p < 25; p++)
        assert_int_equal(dst[p], p >= 12 && p < 16 ? p ^ 1 : p);
    board_free(board);
}

/* --- whole plans --- */

static struct plan plan;

static int build(const char *path, const char *board, const char *const (*options)[2])
{
    struct settings request = {
        .board = board,
        .roles = ROLE_REQUEST_INIT,
        .conventions = conventions_default,
        .block_rows = ORDER_DEFAULT_BLOCK,
        .n_threads = 1,
        .use_map = true,
        .max_memory = 1 << 20,
        .tmpdir = "/tmp",
    };
    struct error err = {0};
    int status;

    for (; options != NULL && (*options)[0] != NULL; options++)
        assert_int_equal(conventions_set(&request.conventions, (*options)[0], (*options)[1], &err),
                         0);
    status = plan_build(&plan, &path, 1, &request, &err);
    role_request_release(&request.roles);
    if (status != 0)
        print_message("%s\n", err.message);
    return status;
}

static const struct spec *spec_of(const char *key)
{
    for (size_t i = 0; i < plan.n_arrays; i++)
        if (strcmp(plan.arrays[i].key, key) == 0)
            return &plan.arrays[i].spec;
    fail_msg("no array %s", key);
    return NULL;
}

static void test_hex(void **state)
{
    const struct spec *spec;

    (void)state;
    assert_int_equal(build("tests/data/seeds/hex13_in.npz", "hex13", NULL), 0);
    assert_true(plan.swaps);
    spec = spec_of("boards");
    assert_int_equal(spec->kind, SPEC_AXIS);
    assert_int_equal(spec->axis, 169);
    for (uint32_t t = 0; t < 4; t++) {
        const struct spec_step *step = &spec->steps[t];

        assert_ptr_equal(step->src, plan.board->transforms[t].src);
        assert_int_equal(step->label, t >= 2 ? LABEL_COMPLEMENT : LABEL_KEEP);
        if (t < 2) {
            assert_null(step->plane_src);
        } else {
            assert_int_equal(step->plane_src[0], 1);
            assert_int_equal(step->label_plane, 2);
        }
        assert_int_equal(spec_of("player_to_move")->steps[t].label,
                         t >= 2 ? LABEL_COMPLEMENT : LABEL_KEEP);
        assert_int_equal(spec_of("value")->steps[t].label, t >= 2 ? LABEL_COMPLEMENT : LABEL_KEEP);
    }
    plan_release(&plan);
}

static void test_hex_conventions(void **state)
{
    static const char *const options[][2] = {{"value", "colour11"}, {NULL, NULL}};
    static const char *const mover[][2] = {{"value", "mover"}, {NULL, NULL}};

    (void)state;
    assert_int_equal(build("tests/data/seeds/hex13_in.npz", "hex13", options), 0);
    assert_int_equal(spec_of("value")->steps[2].label, LABEL_NEGATE);
    plan_release(&plan);
    assert_int_equal(build("tests/data/seeds/hex13_in.npz", "hex13", mover), 0);
    assert_int_equal(spec_of("value")->steps[2].label, LABEL_KEEP);
    assert_int_equal(spec_of("player_to_move")->steps[2].label, LABEL_COMPLEMENT);
    plan_release(&plan);
}

/* On a square of RingRift planes are stored [x][y]: their map is the conjugate one. */
static void test_xy_planes(void **state)
{
    static const uint8_t conjugate[8] = {0, 3, 2, 1, 5, 4, 6, 7};
    const struct spec *spec;

    (void)state;
    assert_int_equal(build("tests/data/ringrift/sample_square8.npz", NULL, NULL), 0);
    spec = spec_of("features");
    for (uint32_t t = 0; t < 8; t++)
        assert_ptr_equal(spec->steps[t].src, plan.board->transforms[conjugate[t]].src);
    assert_int_equal(spec_of("policy_indices")->kind, SPEC_INDICES);
    assert_int_equal(spec_of("globals")->kind, SPEC_KEEP);
    plan_release(&plan);
}

static void test_padded(void **state)
{
    const struct spec *spec;

    (void)state;
    assert_int_equal(build("tests/data/ringrift/sample_hex8_padded_int64.npz", NULL, NULL), 0);
    spec = spec_of("policy_indices");
    assert_int_equal(spec->kind, SPEC_PADDED);
    assert_int_equal(spec->n_targets, 4132);
    assert_int_equal(spec->value_dtype.kind, DTYPE_FLOAT);
    assert_int_equal(spec->value_row_nbytes, 11 * 4);
    plan_release(&plan);
}

static void test_takeiteasy(void **state)
{
    static const char *const options[][2] = {{"tiles", "permute"}, {NULL, NULL}};

    (void)state;
    assert_int_equal(build("tests/data/seeds/takeiteasy_in.npz", "takeiteasy", NULL), 0);
    assert_int_equal(plan.n_chosen, 2);
    assert_int_equal(spec_of("plateau")->kind, SPEC_AXIS);
    assert_int_equal(spec_of("tile")->kind, SPEC_KEEP);
    plan_release(&plan);
    assert_int_equal(build("tests/data/seeds/takeiteasy_in.npz", "takeiteasy", options), 0);
    assert_int_equal(plan.n_chosen, 12);
    assert_true(spec_of("plateau")->codes);
    assert_int_equal(spec_of("tile")->kind, SPEC_TRIPLE);
    assert_int_equal(spec_of("tile")->steps[1].number_src[0], 1);
    plan_release(&plan);
}

static void test_katago(void **state)
{
    (void)state;
    assert_int_equal(build("tests/data/katago/writer_L13_meta_in.npz", "katago", NULL), 0);
    assert_int_equal(spec_of("binaryInputNCHWPacked")->kind, SPEC_BITS);
    assert_int_equal(spec_of("binaryInputNCHWPacked")->axis, 169);
    assert_int_equal(spec_of("policyTargetsNCMove")->axis, 170);
    assert_int_equal(spec_of("policyTargetsNCMove")->outer, 2);
    assert_int_equal(spec_of("metadataInputNC")->kind, SPEC_KEEP);
    assert_false(plan.provenance);
    plan_release(&plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plane_maps), cmocka_unit_test(test_chess_planes),
        cmocka_unit_test(test_hex),        cmocka_unit_test(test_hex_conventions),
        cmocka_unit_test(test_xy_planes),  cmocka_unit_test(test_padded),
        cmocka_unit_test(test_takeiteasy), cmocka_unit_test(test_katago),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
