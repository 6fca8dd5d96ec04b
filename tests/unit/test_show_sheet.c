/* test_show_sheet.c - what is to be seen of the images of a row: pieces and shares of the policy
 * where rotated coordinates say, sides, labels, and where stored images are wrong. */
#include "npz_maker.h"

#include "engine/order.h"
#include "show/show.h"

#include <math.h>

/* --- shards: folders of .npy files --- */

static void put_array(const char *name, const char *descr, unsigned n_dims, const uint64_t *shape,
                      const void *elements, size_t n_bytes)
{
    struct error err = {0};
    struct bytes npy = {0};
    char file[64];

    mkdir(scratch("in"), 0755);
    snprintf(file, sizeof file, "in/%s.npy", name);
    assert_int_equal(npy_header_write(descr, shape, n_dims, 0, &npy, &err), 0);
    assert_int_equal(bytes_append(&npy, elements, n_bytes, &err), 0);
    put_bytes(scratch(file), npy.data, npy.n_bytes);
    bytes_release(&npy);
}

#define PUT(name, descr, elements, ...)                             \
    put_array(name, descr, N_OF(((const uint64_t[]){__VA_ARGS__})), \
              (const uint64_t[]){__VA_ARGS__}, elements, sizeof(elements))

static const struct settings plain = {
    .roles = ROLE_REQUEST_INIT,
    .conventions = {.to_move_plane = -1},
    .block_rows = ORDER_DEFAULT_BLOCK,
    .use_map = true,
    .allow_expanded = true,
    .max_memory = UINT64_C(1) << 30,
    .tmpdir = "/tmp",
};

/* With err NULL it must succeed. */
static int build(struct sheet *sheet, const char *board, const struct image *stored,
                 size_t n_stored, uint64_t row, struct error *err)
{
    struct settings reading = plain;
    struct error none = {0};
    const struct sheet_request request = {scratch("in"), row, &reading, stored, n_stored};
    int status;

    reading.board = board;
    status = sheet_build(sheet, &request, err != NULL ? err : &none);
    if (err == NULL)
        assert_string_equal(none.message, "");
    return status;
}

/* --- rotations --- */

static struct shape_point around(const struct shape *shape, uint32_t cell)
{
    return (struct shape_point){shape->centres[cell].x - (shape->least.x + shape->most.x) / 2,
                                shape->centres[cell].y - (shape->least.y + shape->most.y) / 2};
}

static bool is_at(const struct shape *shape, uint32_t cell, struct shape_point p)
{
    const struct shape_point at = around(shape, cell);

    return hypot(at.x - p.x, at.y - p.y) < 1e-6;
}

/* p after k times 60 degrees clockwise, and then a reflection that leaves the direction of 30
 * degrees where it is. */
static struct shape_point hexagon_image(uint32_t t, struct shape_point p)
{
    const double a = (t % 6) * M_PI / 3, b = M_PI / 3;
    const struct shape_point r = {cos(a) * p.x - sin(a) * p.y, sin(a) * p.x + cos(a) * p.y};

    if (t < 6)
        return r;
    return (struct shape_point){cos(b) * r.x + sin(b) * r.y, sin(b) * r.x - cos(b) * r.y};
}

/* The only cell with a stone of that side; the only one with a share of the policy (side NONE). */
static uint32_t find_one(const struct sheet *sheet, const struct picture *picture,
                         enum picture_side side)
{
    uint32_t found = UINT32_MAX, n = 0;

    for (uint32_t i = 0; i < sheet->plan.board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];

        if (side == SIDE_NONE ? cell->share > 0 : cell->side == side) {
            found = i;
            n++;
        }
    }
    assert_int_equal(n, 1);
    return found;
}

static void test_hexagon(void **state)
{
    enum { FIRST = 1 * 9 + 5, SECOND = 3 * 9 + 2, PLAYED = 2 * 9 + 7 };
    float planes[2][81] = {{0}}, policy[81] = {0};
    struct sheet sheet;

    (void)state;
    planes[0][FIRST] = planes[1][SECOND] = policy[PLAYED] = 1;
    PUT("planes", "'<f4'", planes, 1, 2, 9, 9);
    PUT("policy", "'<f4'", policy, 1, 81);
    build(&sheet, "hex8", NULL, 0, 0, NULL);
    assert_int_equal(sheet.n_pictures, 12);
    assert_false(sheet.is_stored);
    assert_true(sheet.most_share == 1);
    for (uint32_t t = 0; t < 12; t++) {
        const struct picture *picture = &sheet.pictures[t];
        const struct {
            uint32_t from;
            enum picture_side side;
        } seen[] = {{FIRST, SIDE_FIRST}, {SECOND, SIDE_SECOND}, {PLAYED, SIDE_NONE}};

        for (size_t i = 0; i < N_OF(seen); i++) {
            const struct shape_point from = around(&sheet.shape, seen[i].from);
            const uint32_t found = find_one(&sheet, picture, seen[i].side);

            assert_true(is_at(&sheet.shape, found, hexagon_image(t, from)));
            if (t < 6 && t % 3 != 0) /* and not where the inverse says */
                assert_false(is_at(&sheet.shape, found, hexagon_image(6 - t, from)));
        }
        assert_true(picture->cells[find_one(&sheet, picture, SIDE_NONE)].is_top);
    }
    sheet_release(&sheet);
}

/* --- the game of Hex --- */

static void test_hex(void **state)
{
    enum { N = 4, FIRST = 1, SECOND = 7 };
    float planes[3][N * N] = {{0}}, value[1] = {0.25};
    int8_t to_move[1] = {1};
    struct sheet sheet;

    (void)state;
    planes[0][FIRST] = planes[1][SECOND] = 1;
    for (int i = 0; i < N * N; i++)
        planes[2][i] = 1;
    PUT("planes", "'<f4'", planes, 1, 3, N, N);
    PUT("value", "'<f4'", value, 1);
    PUT("to_move", "'|i1'", to_move, 1);
    build(&sheet, "rhombus:4", NULL, 0, 0, NULL);
    assert_int_equal(sheet.n_pictures, 4);
    for (uint32_t t = 0; t < 4; t++) {
        static const uint32_t blue[4] = {1, 14, 13, 2}; /* (0,1), (3,2); then red's (1,3) */
        static const uint32_t red[4] = {7, 8, 4, 11};
        const struct picture *picture = &sheet.pictures[t];

        assert_int_equal(find_one(&sheet, picture, SIDE_FIRST), blue[t]);
        assert_int_equal(find_one(&sheet, picture, SIDE_SECOND), red[t]);
        assert_string_equal(picture->caption.text,
                            t < 2 ? "value 0.25, red to move\n" : "value 0.75, blue to move\n");
        for (int edge = 0; edge < N_EDGES; edge++)
            assert_int_equal(picture_edge_side(sheet.plan.board, t, (enum picture_edge)edge),
                             edge % 2 == 0 ? SIDE_FIRST : SIDE_SECOND);
    }
    sheet_release(&sheet);
}

/* Stones and the player to move are read from the planes that --planes names, and the latter in the
 * coding of --to-move. */
static void test_told_planes(void **state)
{
    enum { N = 3, BLUE = 1, RED = 7 };
    static const struct {
        const char *planes, *to_move;
        uint32_t turn, stones[2]; /* planes */
        float codes[2];
    } cases[] = {
        {"~0,2,1", NULL, 0, {1, 2}, {0, 1}},
        {"=0,2,1", NULL, 0, {1, 2}, {1, 2}},
        {"2,~1,0", NULL, 1, {0, 2}, {0, 1}},
        {"0,1,~2", NULL, 2, {0, 1}, {0, 1}}, /* mine and theirs */
        {"colour", "12", 2, {0, 1}, {1, 2}},
        {"mover", "pm1", 2, {0, 1}, {1, -1}},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const bool is_mover = strcmp(cases[i].planes, "mover") == 0 || i == 3;
        float planes[2][3][N * N] = {{{0}}};
        struct settings reading = plain;
        struct error err = {0};

        reading.board = "rhombus:3";
        assert_int_equal(conventions_set(&reading.conventions, "planes", cases[i].planes, &err), 0);
        if (cases[i].to_move != NULL)
            assert_int_equal(
                conventions_set(&reading.conventions, "to-move", cases[i].to_move, &err), 0);
        for (int row = 0; row < 2; row++) {
            const bool is_swapped = is_mover && row == 1;

            for (int cell = 0; cell < N * N; cell++)
                planes[row][cases[i].turn][cell] = cases[i].codes[row];
            planes[row][cases[i].stones[is_swapped]][BLUE] = 1;
            planes[row][cases[i].stones[!is_swapped]][RED] = 1;
        }
        PUT("planes", "'<f4'", planes, 2, 3, N, N);
        for (uint64_t row = 0; row < 2; row++) {
            const struct sheet_request request = {scratch("in"), row, &reading, NULL, 0};
            struct sheet sheet;

            sheet_build(&sheet, &request, &err);
            assert_string_equal(err.message, "");
            assert_int_equal(find_one(&sheet, &sheet.pictures[0], SIDE_FIRST), BLUE);
            assert_int_equal(find_one(&sheet, &sheet.pictures[0], SIDE_SECOND), RED);
            assert_string_equal(sheet.pictures[0].caption.text,
                                row == 0 ? "blue to move\n" : "red to move\n");
            sheet_release(&sheet);
        }
    }
}

/* Codes of a grid, and signs of a single plane, are colours or the mover's and the other's. */
static void test_signs(void **state)
{
    enum { N = 3, MINE = 1, THEIRS = 7 };
    static const struct {
        const char *array, *role, *planes;
        bool is_mover;
    } cases[] = {
        {"grid", "grid", "colour", false},
        {"grid", "grid", "mover", true},
        {"planes", "planes", "0", true},
    };
    const int8_t to_move[2] = {0, 1};

    (void)state;
    PUT("to_move", "'|i1'", to_move, 2);
    for (size_t i = 0; i < N_OF(cases); i++) {
        int8_t codes[2][N * N] = {{0}};
        struct settings reading = plain;
        struct error err = {0};

        reading.board = "rhombus:3";
        codes[0][MINE] = codes[1][MINE] = 1;
        codes[0][THEIRS] = codes[1][THEIRS] = -1;
        assert_int_equal(conventions_set(&reading.conventions, "planes", cases[i].planes, &err), 0);
        assert_int_equal(role_request_add_spec(&reading.roles, cases[i].array, cases[i].role, &err),
                         0);
        unlink(scratch("in/grid.npy"));
        if (strcmp(cases[i].array, "grid") == 0)
            PUT("grid", "'|i1'", codes, 2, N, N);
        else
            PUT("planes", "'|i1'", codes, 2, 1, N, N);
        for (uint64_t row = 0; row < 2; row++) {
            const struct sheet_request request = {scratch("in"), row, &reading, NULL, 0};
            const bool is_swapped = cases[i].is_mover && row == 1;
            struct sheet sheet;

            sheet_build(&sheet, &request, &err);
            assert_string_equal(err.message, "");
            assert_int_equal(find_one(&sheet, &sheet.pictures[0], SIDE_FIRST),
                             is_swapped ? THEIRS : MINE);
            assert_int_equal(find_one(&sheet, &sheet.pictures[0], SIDE_SECOND),
                             is_swapped ? MINE : THEIRS);
            sheet_release(&sheet);
        }
        role_request_release(&reading.roles);
    }
}

/* A transposition that does not swap the colours shows: the goals change places. */
static void test_edges(void **state)
{
    struct error err = {0};
    struct board *board = board_new("rhombus:5", &err);

    (void)state;
    assert_non_null(board);
    board->transforms[2].swaps_colours = false;
    assert_int_equal(picture_edge_side(board, 2, EDGE_TOP), SIDE_SECOND);
    assert_int_equal(picture_edge_side(board, 2, EDGE_LEFT), SIDE_FIRST);
    board_free(board);
}

/* --- stored images --- */

/* Row 1 is row 0 turned by 90 degrees, but its policy is not. */
static void test_stored(void **state)
{
    enum { N = 3 };
    static const struct image stored[] = {{0, 0}, {1, 1}};
    float planes[2][2][N * N] = {{{0}}}, policy[2][N * N] = {{0}};
    struct sheet sheet;
    struct text svg = {0};
    struct error err = {0};

    (void)state;
    planes[0][0][1] = planes[1][0][5] = 1; /* (0,1) goes to (1,2) */
    policy[0][0] = policy[1][0] = 1;       /* (0,0) should go to (0,2) */
    PUT("planes", "'<f4'", planes, 2, 2, N, N);
    PUT("policy", "'<f4'", policy, 2, N * N);
    build(&sheet, "square:3", stored, 2, 1, NULL);
    assert_true(sheet.is_stored);
    assert_int_equal(sheet.n_pictures, 2);
    assert_int_equal(sheet.n_faulty, 1);
    assert_null(sheet.pictures[0].faults.text);
    assert_string_equal(sheet.pictures[1].faults.text, "differs: policy");
    assert_int_equal(sheet.pictures[1].row, 1);
    for (uint32_t i = 0; i < N * N; i++) {
        assert_false(sheet.pictures[0].cells[i].differs);
        assert_int_equal(sheet.pictures[1].cells[i].differs, i == 0 || i == 2);
    }
    assert_int_equal(svg_write(&sheet, NULL, &svg, &err), 0);
    assert_non_null(strstr(svg.text, "<use href=\"#r\""));
    text_release(&svg);
    sheet_release(&sheet);

    policy[1][0] = 0;
    policy[1][2] = 1;
    PUT("policy", "'<f4'", policy, 2, N * N);
    build(&sheet, "square:3", stored, 2, 1, NULL);
    assert_int_equal(sheet.n_faulty, 0);
    assert_int_equal(svg_write(&sheet, NULL, &svg, &err), 0);
    assert_null(strstr(svg.text, "<use href=\"#r\""));
    text_release(&svg);
    sheet_release(&sheet);
}

/* A value that a swap computed may differ by its last bit, one that was copied may not. */
static void test_last_bit(void **state)
{
    enum { N = 3 };
    static const struct image stored[] = {{0, 2}, {1, 0}, {2, 1}};
    const float value[3] = {1 - 0.1F, 1 - (1 - 0.1F) + 0x1p-25F, 0.1F + 0x1p-24F};
    float planes[3][2][N * N] = {{{0}}};
    struct sheet sheet;

    (void)state;
    assert_true(value[1] != 1 - value[0]);
    PUT("planes", "'<f4'", planes, 3, 2, N, N);
    PUT("value", "'<f4'", value, 3);
    build(&sheet, "rhombus:3", stored, 3, 0, NULL);
    assert_int_equal(sheet.n_faulty, 0);
    sheet_release(&sheet);

    PUT("value", "'<f4'", ((const float[]){0.5F, 0.5F, 0.5F + 0x1p-20F}), 3);
    build(&sheet, "rhombus:3", stored, 3, 0, NULL);
    assert_int_equal(sheet.n_faulty, 1);
    assert_string_equal(sheet.pictures[2].faults.text, "differs: value");
    sheet_release(&sheet);
}

static void test_missing_row(void **state)
{
    float planes[3][2][9] = {{{0}}};
    struct sheet sheet;
    struct error err = {0};

    (void)state;
    PUT("planes", "'<f4'", planes, 3, 2, 3, 3);
    assert_int_equal(build(&sheet, "square:3", NULL, 0, 3, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_non_null(strstr(err.message, "has no row 3, found 3 rows"));
    sheet_release(&sheet);
}

/* --- pieces --- */

static void test_columns(void **state)
{
    float planes[2][42] = {{0}}, policy[7] = {0};
    struct sheet sheet;

    (void)state;
    planes[0][5 * 7 + 2] = planes[1][4 * 7 + 2] = 1;
    policy[2] = 0.75F;
    policy[6] = 0.25F;
    PUT("planes", "'<f4'", planes, 1, 2, 6, 7);
    PUT("policy", "'<f4'", policy, 1, 7);
    build(&sheet, "connect4", NULL, 0, 0, NULL);
    assert_true(sheet.pictures[0].cells[3 * 7 + 2].share == 0.75);
    assert_true(sheet.pictures[1].cells[3 * 7 + 4].share == 0.75);
    assert_true(sheet.pictures[1].cells[5 * 7 + 0].share == 0.25);
    assert_string_equal(sheet.pictures[1].caption.text, "column 4 75%, column 0 25%\n");
    sheet_release(&sheet);
}

static void test_tiles(void **state)
{
    int32_t plateau[19] = {0}, position[1] = {5};
    struct sheet sheet;

    (void)state;
    plateau[1] = 978;
    PUT("plateau", "'<i4'", plateau, 1, 19);
    PUT("position", "'<i4'", position, 1);
    build(&sheet, "takeiteasy", NULL, 0, 0, NULL);
    assert_int_equal(sheet.n_pictures, 2);
    assert_int_equal(sheet.pictures[1].transform, 3);
    assert_int_equal(sheet.pictures[0].cells[1].piece, PICTURE_TILE);
    assert_int_equal(sheet.pictures[1].cells[17].number, 978);
    assert_true(sheet.pictures[0].cells[5].is_marked);
    assert_true(sheet.pictures[1].cells[13].is_marked);
    sheet_release(&sheet);
}

static void test_stacks(void **state)
{
    float planes[40][81] = {{0}};
    struct sheet sheet;
    const struct picture_cell *cells;

    (void)state;
    planes[0][40] = 0.6F; /* a stack of three, mine */
    planes[1][41] = 0.2F;
    planes[3][42] = 1; /* their marker */
    planes[4][43] = 1; /* my territory */
    PUT("features", "'<f4'", planes, 1, 40, 9, 9);
    build(&sheet, "hex8", NULL, 0, 0, NULL);
    cells = sheet.pictures[0].cells;
    assert_int_equal(cells[40].number, 3);
    assert_int_equal(cells[40].side, SIDE_FIRST);
    assert_int_equal(cells[41].number, 1);
    assert_int_equal(cells[41].side, SIDE_SECOND);
    assert_int_equal(cells[42].piece, PICTURE_MARKER);
    assert_int_equal(cells[42].side, SIDE_SECOND);
    assert_int_equal(cells[43].piece, PICTURE_TERRITORY);
    assert_int_equal(cells[43].side, SIDE_FIRST);
    sheet_release(&sheet);
}

/* What `verify` does not take for stones is not drawn as such. */
static void test_not_finite(void **state)
{
    float planes[2][9] = {{0}};
    struct sheet sheet;

    (void)state;
    planes[0][2] = planes[1][6] = 1;
    planes[0][4] = NAN;
    planes[1][5] = INFINITY;
    PUT("planes", "'<f4'", planes, 1, 2, 3, 3);
    build(&sheet, "square:3", NULL, 0, 0, NULL);
    assert_int_equal(find_one(&sheet, &sheet.pictures[0], SIDE_FIRST), 2);
    assert_int_equal(find_one(&sheet, &sheet.pictures[0], SIDE_SECOND), 6);
    sheet_release(&sheet);
}

static void test_chess(void **state)
{
    int8_t planes[25][64] = {{0}};
    struct sheet sheet;

    (void)state;
    planes[5][4] = planes[9][63] = 1; /* my king on e1, their rook on h8 */
    PUT("planes", "'|i1'", planes, 1, 25, 8, 8);
    build(&sheet, "chess", NULL, 0, 0, NULL);
    assert_int_equal(sheet.pictures[0].cells[4].man, 'K');
    assert_int_equal(sheet.pictures[1].cells[3].man, 'K');
    assert_int_equal(sheet.pictures[1].cells[56].man, 'R');
    assert_int_equal(sheet.pictures[1].cells[56].side, SIDE_SECOND);
    sheet_release(&sheet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_hexagon),    IN_SCRATCH(test_hex),         cmocka_unit_test(test_edges),
        IN_SCRATCH(test_stored),     IN_SCRATCH(test_last_bit),    IN_SCRATCH(test_missing_row),
        IN_SCRATCH(test_columns),    IN_SCRATCH(test_tiles),       IN_SCRATCH(test_stacks),
        IN_SCRATCH(test_chess),      IN_SCRATCH(test_told_planes), IN_SCRATCH(test_signs),
        IN_SCRATCH(test_not_finite),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
