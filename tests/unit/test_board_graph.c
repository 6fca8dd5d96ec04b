/*
 * test_board_graph.c - boards from edges, lines and colours: their groups against brute force and
 * against orders known from the literature, names, what a file has missed, and refusals.
 */
#include "custom_file.h"

#include "base/perm.h"

/* --- brute force --- */

#define N_SMALL 6

/* A small board by tables: joined[a][b], and the colour sets of each cell as bits: two players, and
 * a third colour. */
struct small {
    bool joined[N_SMALL][N_SMALL];
    unsigned colours[N_SMALL];
};

static bool keeps(const struct small *s, const uint32_t *dst, bool swaps)
{
    for (uint32_t a = 0; a < N_SMALL; a++) {
        unsigned colours = s->colours[a];

        if (swaps)
            colours = (colours & 4) | (colours & 1) << 1 | (colours & 2) >> 1;
        if (s->colours[dst[a]] != colours)
            return false;
        for (uint32_t b = 0; b < N_SMALL; b++)
            if (s->joined[a][b] != s->joined[dst[a]][dst[b]])
                return false;
    }
    return true;
}

/* How many permutations (with and without a swap) keep everything. */
static uint32_t count_all(const struct small *s, uint32_t *dst, uint32_t n, bool can_swap)
{
    uint32_t count = 0;

    if (n == N_SMALL)
        return (keeps(s, dst, false) ? 1u : 0) + (can_swap && keeps(s, dst, true) ? 1u : 0);
    for (uint32_t to = 0; to < N_SMALL; to++) {
        bool is_free = true;

        for (uint32_t i = 0; i < n; i++)
            is_free = is_free && dst[i] != to;
        dst[n] = to;
        if (is_free)
            count += count_all(s, dst, n + 1, can_swap);
    }
    return count;
}

static void append_colour(struct text *json, const struct small *s, unsigned bit, const char *name)
{
    const char *comma = "";

    append(json, "\"%s\": [", name);
    for (uint32_t a = 0; a < N_SMALL; a++) {
        if (!(s->colours[a] & bit))
            continue;
        append(json, "%s%u", comma, a);
        comma = ", ";
    }
    append(json, "]");
}

static void test_brute_force(void **state)
{
    uint32_t seed = 1, n_groups = 0, n_swaps = 0;

    (void)state;
    for (int i = 0; i < 400; i++) {
        struct small s = {0};
        struct error err = {0};
        struct text json = {0};
        uint32_t dst[N_SMALL], n_expected, n[3] = {0};
        const char *comma = "";
        struct board *b;

        const bool can_swap = i % 4 == 3;

        for (uint32_t x = 0; x < N_SMALL; x++) {
            for (uint32_t y = x + 1; y < N_SMALL; y++) {
                seed = seed * 1664525 + 1013904223;
                s.joined[x][y] = s.joined[y][x] = seed >> 24 & 1;
            }
            seed = seed * 1664525 + 1013904223;
            s.colours[x] = i % 2 == 0 ? 0 : seed >> 24 & (i % 4 == 1 ? 4 : 7);
        }
        /* Of these each second one so that exchanging halves and colours is a symmetry. */
        for (uint32_t x = 0; x < N_SMALL && can_swap && i % 8 == 3; x++) {
            for (uint32_t y = 0; y < N_SMALL; y++)
                s.joined[x][y] = s.joined[(x + 3) % 6][(y + 3) % 6] =
                    s.joined[x][y] || s.joined[(x + 3) % 6][(y + 3) % 6];
            if (x < 3)
                s.colours[x + 3] =
                    (s.colours[x] & 4) | (s.colours[x] & 1) << 1 | (s.colours[x] & 2) >> 1;
        }
        append(&json, "{\"cells\": 6, \"edges\": [");
        for (uint32_t x = 0; x < N_SMALL; x++) {
            for (uint32_t y = x + 1; y < N_SMALL; y++) {
                if (!s.joined[x][y])
                    continue;
                append(&json, "%s[%u, %u]", comma, x, y);
                comma = ", ";
            }
            for (int k = 0; k < 3; k++)
                n[k] += s.colours[x] >> k & 1;
        }
        append(&json, "]");
        if ((i % 2 == 1 && n[2] == 0) || (can_swap && (n[0] == 0 || n[1] == 0)))
            goto next;
        if (i % 2 == 1) {
            append(&json, ", \"colours\": {");
            append_colour(&json, &s, 4, "centre");
            if (can_swap) {
                append(&json, ", ");
                append_colour(&json, &s, 1, "white");
                append(&json, ", ");
                append_colour(&json, &s, 2, "black");
            }
            append(&json, "}");
        }
        append(&json, "%s}", can_swap ? ", \"players\": [[\"white\"], [\"black\"]]" : "");
        n_expected = count_all(&s, dst, 0, can_swap);
        b = load_named("board.json", json.text, &err);
        if (b == NULL) {
            assert_true(n_expected > 255 || strstr(err.message, "same cells") != NULL ||
                        strstr(err.message, "transforms is missing") != NULL);
        } else {
            if (b->n_transforms != n_expected)
                fail_msg("%u transforms, expected %u: %s", b->n_transforms, n_expected, json.text);
            for (uint32_t t = 0; t < b->n_transforms; t++) {
                assert_true(keeps(&s, b->transforms[t].dst, b->transforms[t].swaps_colours));
                n_swaps += b->transforms[t].swaps_colours;
            }
            n_groups += n_expected > 1;
        }
        board_free(b);
    next:
        text_release(&json);
    }
    assert_true(n_groups > 100);
    assert_true(n_swaps > 10);
}

/* --- orders from the literature --- */

static void test_known_orders(void **state)
{
    static const struct {
        const char *json;
        uint32_t n_transforms;
    } cases[] = {
        /* a path, a ring, the cube's graph (48), the icosahedron (120), Petersen's graph (120) */
        {"{\"rows\": 1, \"cols\": 5, \"neighbours\": \"orthogonal\"}", 2},
        {"{\"cells\": 5, \"edges\": [[0,1],[1,2],[2,3],[3,4],[4,0]]}", 10},
        {"{\"grid\": [2, 2, 2], \"neighbours\": \"orthogonal\"}", 48},
        {"{\"cells\": 12, \"edges\": [[0,1],[0,2],[0,3],[0,4],[0,5],[1,2],[2,3],[3,4],[4,5],[5,1],"
         "[11,6],[11,7],[11,8],[11,9],[11,10],[6,7],[7,8],[8,9],[9,10],[10,6],[1,6],[1,10],[2,6],"
         "[2,7],[3,7],[3,8],[4,8],[4,9],[5,9],[5,10]]}",
         120},
        {"{\"cells\": 10, \"edges\": [[0,1],[1,2],[2,3],[3,4],[4,0],[5,7],[7,9],[9,6],[6,8],[8,5],"
         "[0,5],[1,6],[2,7],[3,8],[4,9]]}",
         120},
        /* K3,3 (72), the torus of 5 x 5 (200), the dodecahedron (120), Frucht's graph (1) */
        {"{\"cells\": 6, \"edges\": [[0,3],[0,4],[0,5],[1,3],[1,4],[1,5],[2,3],[2,4],[2,5]]}", 72},
        {"{\"cells\": 25, \"edges\": [[0,1],[1,2],[2,3],[3,4],[4,0],[5,6],[6,7],[7,8],[8,9],[9,5],"
         "[10,11],[11,12],[12,13],[13,14],[14,10],[15,16],[16,17],[17,18],[18,19],[19,15],[20,21],"
         "[21,22],[22,23],[23,24],[24,20],[0,5],[5,10],[10,15],[15,20],[20,0],[1,6],[6,11],[11,16],"
         "[16,21],[21,1],[2,7],[7,12],[12,17],[17,22],[22,2],[3,8],[8,13],[13,18],[18,23],[23,3],"
         "[4,9],[9,14],[14,19],[19,24],[24,4]]}",
         200},
        {"{\"cells\": 20, \"edges\": [[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7],[7,8],[8,9],[9,0],"
         "[0,10],[1,11],[2,12],[3,13],[4,14],[5,15],[6,16],[7,17],[8,18],[9,19],[10,12],[11,13],"
         "[12,14],[13,15],[14,16],[15,17],[16,18],[17,19],[18,10],[19,11]]}",
         120},
        {"{\"cells\": 12, \"edges\": [[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,0],[0,7],[1,7],[2,8],"
         "[3,9],[4,9],[5,10],[6,10],[7,11],[8,11],[8,9],[10,11]]}",
         1},
        /* noughts and crosses in a plane, in a cube of 3, and of 4 (Silver 1967: 192); the plane of
         * 4 x 4 has 32 by its lines */
        {"{\"rows\": 3, \"cols\": 3, \"straight\": 3}", 8},
        {"{\"rows\": 4, \"cols\": 4, \"straight\": 4}", 32},
        {"{\"grid\": [3, 3, 3], \"straight\": 3}", 48},
        {"{\"grid\": [4, 4, 4], \"straight\": 4}", 192},
        {"{\"grid\": [2, 2, 2, 2], \"neighbours\": \"orthogonal\", \"colours\": {\"a\": [0]}}", 24},
        /* boards: Go, Hex with its edges, hexagons, a hexagram, a triangle, a rectangle */
        {"{\"rows\": 19, \"cols\": 19, \"neighbours\": \"orthogonal\"}", 8},
        {"{\"rows\": 8, \"cols\": 8, \"neighbours\": \"knight\"}", 8},
        {"{\"rows\": 5, \"cols\": 7, \"neighbours\": \"king\"}", 4},
        {"{\"rows\": 11, \"cols\": 11, \"neighbours\": \"hexagonal\"}", 4},
        {"{\"hexagon\": 4, \"neighbours\": \"hexagonal\"}", 12},
        {"{\"star\": 4, \"neighbours\": \"hexagonal\"}", 12},
        {"{\"triangle\": 5, \"neighbours\": \"hexagonal\"}", 6},
        {"{\"hexagon\": 5, \"without\": [5, 10, 55, 65, 110, 115], \"neighbours\": "
         "\"hexagonal\"}",
         12},
        /* a line that is there three times is one line */
        {"{\"cells\": 4, \"lines\": [[0, 1, 2], [2, 1, 0], [0, 2, 1], [2, 3]]}", 2},
        {"{\"rows\": 3, \"cols\": 3, \"straight\": 3, \"lines\": [[0, 1, 2], [6, 4, 2]]}", 8},
        {"{\"rows\": 4, \"cols\": 4, \"neighbours\": \"king\", \"subgroup\": \"rotations\"}", 4},
        {"{\"rows\": 4, \"cols\": 4, \"straight\": 4, \"subgroup\": \"turns\"}", 8},
        {"{\"hexagon\": 2, \"neighbours\": \"hexagonal\", \"subgroup\": \"rotations\"}", 6},
        {"{\"rows\": 2, \"cols\": 40, \"neighbours\": \"diagonal\", \"subgroup\": \"turns\"}", 4},
        /* a mirror that moves no cell is the identity */
        {"{\"rows\": 1, \"cols\": 4, \"edges\": [[0, 1], [1, 2]], \"subgroup\": \"turns\"}", 1},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct board *b = load(cases[i].json);

        if (b->n_transforms != cases[i].n_transforms)
            fail_msg("%u transforms: %s", b->n_transforms, cases[i].json);
        assert_string_equal(b->transforms[0].name, "identity");
        board_free(b);
    }
}

/* The built-in boards from their edges: the same maps under the same names. */
static void test_as_built_in(void **state)
{
    static const struct {
        const char *board, *json;
    } cases[] = {
        {"hexagon:3", "{\"hexagon\": 3, \"neighbours\": \"hexagonal\"}"},
        {"square:6", "{\"rows\": 6, \"cols\": 6, \"neighbours\": \"orthogonal\"}"},
        {"rhombus:6", "{\"rows\": 6, \"cols\": 6, \"neighbours\": \"hexagonal\", \"colours\": "
                      "{\"blue\": [\"row 0\", \"row -1\"], \"red\": [\"col 0\", \"col -1\"]}, "
                      "\"players\": [[\"blue\"], [\"red\"]]}"},
        {"grid:4x6", "{\"rows\": 4, \"cols\": 6, \"neighbours\": \"orthogonal\"}"},
        {"mirror:6x7", "{\"rows\": 6, \"cols\": 7, \"neighbours\": \"orthogonal\", \"colours\": "
                       "{\"bottom\": [\"row -1\"]}}"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct error err = {0};
        struct board *built_in = board_new(cases[i].board, &err), *b = load(cases[i].json);

        assert_int_equal(b->n_transforms, built_in->n_transforms);
        assert_int_equal(b->n_on_board, built_in->n_on_board);
        for (uint32_t t = 0; t < b->n_transforms; t++) {
            const struct board_transform *x = &built_in->transforms[t];
            uint32_t u = 0;

            while (u < b->n_transforms &&
                   memcmp(x->dst, b->transforms[u].dst, b->n_cells * sizeof *x->dst) != 0)
                u++;
            assert_true(u < b->n_transforms);
            assert_int_equal(b->transforms[u].swaps_colours, x->swaps_colours);
            if (i != 2 && strcmp(b->transforms[u].name, x->name) != 0)
                fail_msg("%s: %s is %s", cases[i].board, x->name, b->transforms[u].name);
        }
        board_free(built_in);
        board_free(b);
    }
}

static void test_missing(void **state)
{
    static const struct {
        const char *json, *names;
        int n;
    } cases[] = {
        {"{\"cells\": 3, \"edges\": [[0, 1], [1, 2], [2, 0]], \"transforms\": [" R ", " RR "]}",
         "order-2-1, order-2-2, order-2-3", 3},
        {"{\"rows\": 2, \"cols\": 3, \"neighbours\": \"orthogonal\", \"generators\": true, "
         "\"transforms\": [{\"name\": \"turn\", \"dst\": [5, 4, 3, 2, 1, 0]}]}",
         "mirror-left-right, mirror-up-down", 2},
        {"{\"rows\": 1, \"cols\": 3, \"neighbours\": \"orthogonal\", \"transforms\": "
         "[{\"name\": \"turn\", \"dst\": [2, 1, 0]}]}",
         "", 0},
        {"{\"rows\": 1, \"cols\": 3, \"neighbours\": \"orthogonal\"}", "", 0},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct board *b = load(cases[i].json);
        struct error err = {0};
        struct text names = {0};

        assert_int_equal(group_missing(b, &names, &err), cases[i].n);
        assert_string_equal(names.text != NULL ? names.text : "", cases[i].names);
        text_release(&names);
        board_free(b);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *json, *reasons;
    } cases[] = {
        {"{\"cells\": 4, \"edges\": [[0, 4]]}", "edges[0] is not a pair of two cells from 0 to 3"},
        {"{\"hexagon\": 1, \"edges\": [[0, 4]]}", "edges[0] joins cell 0, which is not on board"},
        {"{\"hexagon\": 1, \"lines\": [[4, 0]]}", "lines[0] has cell 0, which is not on board"},
        {"{\"cells\": 9, \"edges\": [[0, 1]]}",
         "edges and colours allow 10080 transforms|subgroup"},
        {"{\"cells\": 200, \"edges\": [[0, 1]]}", "allow too many transforms, at most 255"},
        {"{\"cells\": 3}", "transforms is missing"},
        {"{\"cells\": 3, \"hexagon\": 2}", "give either cells"},
        {"{\"hexagon\": 0}", "hexagon is not a whole number from 1"},
        {"{\"star\": 100, \"neighbours\": \"hexagonal\"}", "401 x 401 cells are more than 65536"},
        {"{\"grid\": [], \"straight\": 3}", "grid is not a list of 1 to 4 lengths"},
        {"{\"grid\": [3, 0], \"straight\": 3}", "grid is not a whole number"},
        {"{\"grid\": [300, 300], \"straight\": 3}", "grid has more than 65536 cells"},
        {"{\"rows\": 3, \"cols\": 3, \"neighbours\": \"rook\"}", "neighbours is not"},
        {"{\"grid\": [3, 3, 3], \"neighbours\": \"hexagonal\"}", "of these dimensions"},
        {"{\"rows\": 3, \"cols\": 3, \"straight\": 33}",
         "straight is not a whole number from 2 to 32"},
        {"{\"grid\": [2, 2, 2, 2, 2], \"straight\": 2}", "grid is not a list of 1 to 4 lengths"},
        {"{\"rows\": 250, \"cols\": 250, \"straight\": 32}",
         "straight: lines of 32 cells would be more than 4194304"},
        {"{\"rows\": 3, \"cols\": 3, \"straight\": 4}", "no line of 4 cells fits on the board"},
        {"{\"rows\": 3, \"cols\": 3, \"straight\": 0}", "straight is not a whole number from 2"},
        {"{\"rows\": 3, \"cols\": 3, \"neighbours\": \"king\", \"without\": [9]}",
         "without[0] is not a cell on board from 0 to 8"},
        {"{\"rows\": 1, \"cols\": 2, \"neighbours\": \"king\", \"without\": [\"row 0\"]}",
         "without leaves no cells on board"},
        {"{\"rows\": 3, \"cols\": 3, \"neighbours\": \"king\", \"without\": [\"row 3\"]}",
         "without[0]: 'row 3' is not a region"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": [\"row 0\"]}}",
         "'row 0' is not a region"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": [0, 0]}}",
         "colour 'a' has cell 0 twice"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": []}}",
         "colour 'a' is not a list of cells"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": [0]}", "colours is not an object"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"players\": [[\"a\"], [\"b\"]]}",
         "colours is not an object"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": [0]}, \"players\": [[\"a\"], "
         "[\"b\"]]}",
         "players name colour 'b', which colours has not"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": [0]}, \"players\": [[\"a\"], "
         "[\"a\"]]}",
         "players name colour 'a' twice"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": [0], \"b\": [0]}, \"players\": "
         "[[\"a\"], [\"b\"]]}",
         "colours 'a' and 'b' of the two players have the same cells"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"\\u001b[31m\": [0], \"b\": [0]}, "
         "\"players\": [[\"\\u001b[31m\"], [\"b\"]]}",
         "colours '\\x1b[31m' and 'b' of the two players"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"colours\": {\"a\": [0]}, \"players\": [[\"a\"]]}",
         "players are two lists"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"subgroup\": \"turns\"}", "needs coordinates"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"subgroup\": \"none\"}", "subgroup is neither"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"generators\": true}",
         "generators is true, but transforms is missing"},
        {"{\"rows\": 1, \"cols\": 2, \"subgroup\": \"turns\", \"transforms\": []}",
         "subgroup and transforms are both given"},
        {"{\"cells\": 3, \"edges\": [[0, 1]], \"source\": 3}", "source is not text"},
        {BOARD_WITH("\"colours\": {\"goal\": [0]}"),
         "transform 'r' takes cells of colour 'goal' to cells without it"},
        {"{\"rows\": 1, \"cols\": 3, \"without\": [2], \"transforms\": [{\"name\": \"turn\", "
         "\"dst\": [2, 1, 0]}]}",
         "'turn' moves cell 0 across the edge of the board"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        check_refusal(cases[i].json, strlen(cases[i].json), cases[i].reasons);
}

/* The most steps that there are, and colours that are made to take much memory. */
static void test_limits(void **state)
{
    struct text json = {0};

    (void)state;
    board_free(load("{\"grid\": [3, 3, 3, 3], \"neighbours\": \"king\", \"colours\": {\"a\": [0], "
                    "\"b\": [1], \"c\": [3]}}"));
    append(&json, "{\"rows\": 256, \"cols\": 256, \"neighbours\": \"king\", \"colours\": {");
    for (int i = 0; i < 100; i++)
        append(&json, "%s\"%d\": [\"even\"]", i > 0 ? ", " : "", i);
    append(&json, "}}");
    check_refusal(json.text, json.n_bytes, "colours have at most 1048576 cells together");
    text_release(&json);
}

/* A ring whose cells are joined in pairs as well, at random, none twice: they seem alike. */
static void test_search_is_long(void **state)
{
    enum { N = 6000 };
    static uint32_t cells[N];
    struct text json = {0};
    uint32_t random = 4;

    (void)state;
    append(&json, "{\"cells\": %d, \"edges\": [[0, %d]", N, N - 1);
    for (uint32_t i = 0; i < N; i++) {
        random = random * 1664525 + 1013904223;
        const uint32_t j = (uint32_t)((uint64_t)random * (i + 1) >> 32);

        cells[i] = cells[j];
        cells[j] = i;
        append(&json, i > 0 ? ", [%u, %u]" : "", i - 1, i);
    }
    for (uint32_t i = 0; i < N; i += 2)
        append(&json, ", [%u, %u]", cells[i], cells[i + 1]);
    append(&json, "]}");
    check_refusal(json.text, json.n_bytes, "take too long to find");
    text_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),    cmocka_unit_test(test_known_orders),
        cmocka_unit_test(test_as_built_in),    cmocka_unit_test(test_missing),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_search_is_long),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
