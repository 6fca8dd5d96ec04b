/* test_custom_refused.c - boards from a file: one planted fault for each refusal. */
#include "custom_file.h"

static const struct {
    const char *json;
    const char *reasons;
} refused[] = {
    /* the text */
    {"", "line 1"},
    {"{", "line 1"},
    {"{\"cells\": 3, \"transforms\": []} x", "end of file"},
    {"[1]", "JSON object"},
    {"{\"cells\": 99999999999999999999, \"transforms\": []}", "line 1|integer"},
    {"{\"cells\": 3, \"cells\": 3, \"transforms\": []}", "duplicate"},
    {"{\"name\": \"\xff\", \"cells\": 3, \"transforms\": []}", "line 1"},

    /* keys */
    {BOARD_WITH("\"edge\": []"), "unknown key 'edge'"},
    {R_WITH("\"perm\": []"), "transforms[0]|unknown key 'perm'"},

    /* the box */
    {"{\"transforms\": []}", "either cells or rows and cols"},
    {BOX("\"cells\": 4, \"rows\": 2, \"cols\": 2"), "either cells or rows and cols"},
    {BOX("\"rows\": 2"), "either cells or rows and cols"},
    {BOX("\"cols\": 2"), "either cells or rows and cols"},
    {BOX("\"cells\": 4, \"cols\": 2"), "either cells or rows and cols"},
    {BOX("\"cells\": 0"), "cells is not a whole number"},
    {BOX("\"cells\": -1"), "cells is not a whole number"},
    {BOX("\"cells\": 65537"), "cells is not a whole number|65536"},
    {BOX("\"cells\": 4294967299"), "cells is not a whole number"},
    {BOX("\"cells\": 3.0"), "cells is not a whole number"},
    {BOX("\"cells\": \"3\""), "cells is not a whole number"},
    {BOX("\"rows\": 0, \"cols\": 3"), "rows is not a whole number"},
    {BOX("\"rows\": 3, \"cols\": true"), "cols is not a whole number"},
    {BOX("\"rows\": 257, \"cols\": 256"), "257 x 256 cells"},
    {BOX("\"rows\": 65536, \"cols\": 65536"), "65536 x 65536 cells"},

    /* the board's other keys */
    {BOARD_WITH("\"name\": 3"), "name is not text"},
    {BOARD_WITH("\"name\": \"\""), "name has 1 to"},
    {BOARD_WITH("\"name\": \"a\\nb\""), "name has 1 to"},
    {BOARD_WITH("\"generators\": 1"), "generators is neither true nor false"},
    {"{\"cells\": 3}", "transforms is missing"},
    {"{\"cells\": 2, \"edges\": []}", "transforms is missing, and edges is empty"},
    {"{\"cells\": 3, \"transforms\": {}}", "transforms is missing"},

    /* a transform's name */
    {RING("[1, 2, 0]"), "transforms[0]|not an object"},
    {RING("{\"dst\": [1, 2, 0]}"), "transforms[0]|name is missing"},
    {R_NAME("7"), "transforms[0]|name is missing or not text"},
    {R_NAME("\"\""), "transforms[0]|not a name"},
    {R_NAME("\"turn left\""), "transforms[0]|'turn left' is not a name"},
    {R_NAME("\"a,b\""), "transforms[0]|'a,b' is not a name"},
    {R_NAME("\"12\""), "transforms[0]|'12' is not a name"},
    {R_NAME("\"\\u001b[2J\""), "transforms[0]|\\x1b[2J"},
    {R_NAME("\"\\u009b\""), "transforms[0]|not a name"},
    {RING(R ", " R), "transforms[0] and transforms[1] are both called 'r'"},
    {"{\"cells\": 3, \"generators\": true, \"transforms\": [{\"name\": \"r*r\", \"dst\": [2, 0, "
     "1]}]}",
     "'r*r' is not a name"},
    {RING("{\"name\": \"identity\", \"dst\": [1, 2, 0]}, " RR),
     "'identity' is not the identity: cell 0 goes to 1"},

    /* maps */
    {RING("{\"name\": \"r\"}"), "transform 'r'|dst is missing"},
    {R_DST("{}"), "transform 'r'|dst is missing"},
    {R_DST("[]"), "transform 'r'|dst is missing, empty"},
    {R_DST("[1, 0]"), "transform 'r'|dst has 2 entries, expected 3"},
    {R_DST("[1, 2, 3, 0]"), "transform 'r'|dst has 4 entries, expected 3"},
    {R_DST("[1, 2, 3]"), "transform 'r'|cell 2 goes to 3, but there are only 3"},
    {R_DST("[-1, 2, 0]"), "transform 'r'|cell 0 goes to -1"},
    {R_DST("[1, 4294967298, 0]"), "transform 'r'|cell 1 goes to 4294967298"},
    {R_DST("[1, 2.0, 0]"), "transform 'r'|dst[1] is not a whole number"},
    {R_DST("[1, null, 0]"), "transform 'r'|dst[1] is not a whole number"},
    {R_DST("[1, 2, 1]"), "transform 'r'|not a permutation|cells 0 and 2 both go to 1"},
    {R_WITH("\"swaps_colours\": 1"), "transforms[0]|swaps_colours is neither true nor false"},
    {R_WITH("\"planes\": [0, 0]"), "transform 'r'|planes 0 and 1 both go to 0"},
    {R_WITH("\"planes\": [0, 2]"), "transform 'r'|plane 1 goes to 2"},
    {R_WITH("\"planes\": []"), "transform 'r'|planes is missing, empty"},
    {R_WITH("\"actions\": [0, 1, 1]"), "transform 'r'|actions 1 and 2 both go to 1"},
    {R_WITH("\"actions\": 3"), "transform 'r'|actions is missing, empty or not a list"},
    {RING("{\"name\": \"r\", \"dst\": [1, 2, 0], \"planes\": [0, 1]}, "
          "{\"name\": \"rr\", \"dst\": [2, 0, 1], \"planes\": [0, 1, 2]}"),
     "transform 'rr'|planes has 3 entries, expected 2"},
    {RING("{\"name\": \"s\", \"dst\": [0, 2, 1], \"planes\": [0, 1]}, "
          "{\"name\": \"swap\", \"dst\": [0, 1, 2], \"swaps_colours\": true}"),
     "transform 'swap'|planes is missing: it swaps colours"},
    {R_WITH("\"actions\": [1, 2, 0, 4, 3]"), "transform 'rr'|actions is missing|5 actions"},

    /* the group */
    {RING(R), "no group|'r' (order 3) and then 'r' (order 3) is none of them|cell 0 goes to 2"},
    {RING(R ", " RR ", {\"name\": \"flip\", \"dst\": [0, 2, 1]}"),
     "no group|'r' (order 3) and then 'flip' (order 2)|cell 0 goes to 2"},
    {RING(R ", " RR ", {\"name\": \"left\", \"dst\": [2, 0, 1]}"),
     "transforms 'rr' and 'left' are the same"},
    {RING("{\"name\": \"one\", \"dst\": [0, 1, 2]}, {\"name\": \"none\", \"dst\": [0, 1, 2]}"),
     "are the same"},
    {R_WITH("\"planes\": [1, 0]"), "no group|'r' and then 'rr' moves the cells as 'identity' does"},
    {RING("{\"name\": \"r\", \"dst\": [1, 2, 0], \"swaps_colours\": true}, "
          "{\"name\": \"rr\", \"dst\": [2, 0, 1], \"swaps_colours\": true}"),
     "no group|'r' and then 'r' moves the cells as 'rr' does, but not the planes, actions or "
     "colours"},
    {RING("{\"name\": \"r\", \"dst\": [1, 2, 0], \"actions\": [0, 2, 1]}, "
          "{\"name\": \"rr\", \"dst\": [2, 0, 1], \"actions\": [0, 2, 1]}"),
     "no group|moves the cells as 'rr' does"},
    {"{\"cells\": 8, \"generators\": true, \"transforms\": ["
     "{\"name\": \"turn\", \"dst\": [1, 2, 3, 4, 5, 6, 7, 0]}, "
     "{\"name\": \"swap\", \"dst\": [1, 0, 2, 3, 4, 5, 6, 7]}]}",
     "generators|more than 255 transforms|'turn' has order 8"},

    /* edges and lines */
    {BOARD_WITH("\"edges\": 3"), "edges is not a list"},
    {BOARD_WITH("\"edges\": [[0, 1], 2]"), "edges[1] is not a pair"},
    {BOARD_WITH("\"edges\": [[0, 1, 2]]"), "edges[0] is not a pair"},
    {BOARD_WITH("\"edges\": [[0, 0]]"), "edges[0] is not a pair"},
    {BOARD_WITH("\"edges\": [[0, 1], [1, 3]]"), "edges[1] is not a pair"},
    {BOARD_WITH("\"edges\": [[-1, 1]]"), "edges[0] is not a pair"},
    {BOARD_WITH("\"edges\": [[0, 1], [1, 2]]"),
     "transform 'r' keeps 1 of 2 edges|edge 1 (cell 1, cell 2) goes to (cell 2, cell 0)"},
    {BOARD_WITH("\"lines\": {}"), "lines is not a list"},
    {BOARD_WITH("\"lines\": [[]]"), "lines[0] is not a list of cells"},
    {BOARD_WITH("\"lines\": [[0, 1], 5]"), "lines[1] is not a list of cells"},
    {BOARD_WITH("\"lines\": [[0, 3]]"), "lines[0][1] is not a cell from 0 to 2"},
    {BOARD_WITH("\"lines\": [[0, 1], [2, 1, 2]]"), "lines[1] has cell 2 twice"},
    {BOARD_WITH("\"lines\": [[0, 1], [1, 2]]"),
     "transform 'r' keeps 1 of 2 lines|line 1 (cell 1, cell 2) goes to (cell 2, cell 0)"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(refused); i++)
        check_refusal(refused[i].json, strlen(refused[i].json), refused[i].reasons);
}

/* Files that are made to take much memory, or much stack. */
static void test_bombs(void **state)
{
    static const struct {
        const char *start, *unit;
        size_t n;
        const char *reasons;
    } cases[] = {
        {"", "[", 1000000, "levels"},
        {"{\"edges\": ", "{\"a\":", 100000, "levels"},
        {"{\"edges\": [", "0,", 2000000, "values"},
        {"{\"edges\": [", "[],", 400000, "lists"},
        {"{", "\"a\":1,", 5000, "keys"},
        {"{\"name\": \"", "[", 1000000, "line 1"}, /* brackets in a text are no lists */
        {"{\"name\": \"\\\"", "[", 1000, "line 1"},
        {"", " ", (16u << 20) + 1, "16.0 MiB"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        size_t n_start = strlen(cases[i].start), n_unit = strlen(cases[i].unit);
        size_t n_bytes = n_start + cases[i].n * n_unit;
        char *json = malloc(n_bytes + 1);

        assert_non_null(json);
        memcpy(json, cases[i].start, n_start);
        for (size_t k = 0; k < cases[i].n; k++)
            memcpy(json + n_start + k * n_unit, cases[i].unit, n_unit);
        check_refusal(json, n_bytes, cases[i].reasons);
        free(json);
    }
}

/* More transforms than ids: 256 and the identity, in a file whose maps are fine by themselves. */
static void test_too_many_transforms(void **state)
{
    struct text json = {0};

    (void)state;
    append(&json, "{\"cells\": 3, \"transforms\": [");
    for (int i = 0; i < 256; i++)
        append(&json, "%s{\"name\": \"t%d\", \"dst\": [0, 1, 2]}", i > 0 ? ", " : "", i);
    append(&json, "]}");
    check_refusal(json.text, json.n_bytes, "at most 255 transforms, not 256");
    text_release(&json);
}

/* With the identity there are more generators than transforms may be, before any product. */
static void test_too_many_generators(void **state)
{
    struct text json = {0};

    (void)state;
    append(&json, "{\"cells\": 18, \"generators\": true, \"transforms\": [");
    for (int i = 1; i <= 255; i++) {
        append(&json, "%s{\"name\": \"t%d\", \"dst\": [", i > 1 ? ", " : "", i);
        for (int cell = 0; cell < 18;
             cell++) /* pairs of cells change places: bits of an odd number */
            append(&json, "%s%d", cell > 0 ? ", " : "", cell ^ ((2 * i - 1) >> cell / 2 & 1));
        append(&json, "]}");
    }
    append(&json, "]}");
    check_refusal(json.text, json.n_bytes, "at most 255 transforms, not 256");
    text_release(&json);
}

/* The twelve transforms of a hexagon with action maps made from `map_of`. */
static char *hexagon_with_actions(bool inverted)
{
    struct error err = {0};
    struct board *hexagon = board_new("takeiteasy", &err);
    struct text json = {0};

    append(&json, "{\"cells\": 19, \"transforms\": [");
    for (uint32_t t = 1; t < 12; t++) {
        const struct board_transform *transform = &hexagon->transforms[t];

        append(&json, "%s{\"name\": \"%s\"", t > 1 ? ", " : "", transform->name);
        append_map(&json, "dst", transform->dst, 19);
        append_map(&json, "actions", inverted ? transform->src : transform->dst, 19);
        append(&json, "}");
    }
    append(&json, "]}");
    board_free(hexagon);
    return json.text;
}

/* Gather instead of scatter: every single map is a permutation of the right order, and a group of
 * mirrors would never tell. */
static void test_inverted_actions(void **state)
{
    char *json = hexagon_with_actions(false);
    struct board *b = load(json);

    (void)state;
    assert_int_equal(b->n_transforms, 12);
    assert_int_equal(b->n_actions, 19);
    board_free(b);
    free(json);
    json = hexagon_with_actions(true);
    check_refusal(json, strlen(json), "no group|moves the cells as|but not the planes, actions");
    free(json);
}

/*
 * Quarter turns on a hexagon of 19 cells: a table in which every map is a permutation, but the
 * turn has order 26 and tears lines apart. However it is offered, it is refused with the reason.
 */
static void test_quarter_turns_of_a_hexagon(void **state)
{
    static const uint32_t turn[19] = {18, 6, 11, 14, 9,  10, 15, 16, 4, 5,
                                      1,  2, 3,  8,  13, 17, 7,  12, 0};
    static const struct {
        const char *keys, *reasons;
    } cases[] = {
        {"", "no group|'rot90' (order 26) and then 'rot90'"},
        {", \"generators\": true, \"lines\": [[0, 1, 2], [16, 17, 18], [7, 8, 9, 10, 11], "
         "[2, 6, 11], [0, 3, 7], [7, 12, 16], [11, 15, 18]]",
         "transform 'rot90' keeps|lines"},
        {", \"generators\": true, \"edges\": [[0, 1], [1, 2], [7, 8], [8, 9], [9, 10], [10, 11]]",
         "transform 'rot90' keeps|edges"},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct text json = {0};

        append(&json, "{\"cells\": 19, \"transforms\": [{\"name\": \"rot90\"");
        append_map(&json, "dst", turn, 19);
        append(&json, "}]");
        append(&json, "%s", cases[i].keys);
        append(&json, "}");
        check_refusal(json.text, json.n_bytes, cases[i].reasons);
        text_release(&json);
    }
}

static void test_no_file(void **state)
{
    struct error err[4] = {{0}};

    (void)state;
    assert_null(board_new("file", &err[0]));
    assert_int_equal(err[0].kind, ERROR_USAGE);
    assert_null(board_new("file:", &err[1]));
    assert_int_equal(err[1].kind, ERROR_USAGE);
    assert_null(board_new("file:/nowhere/board.json", &err[2]));
    assert_int_equal(err[2].kind, ERROR_NO_INPUT);
    assert_null(board_new("file:/tmp", &err[3]));
    assert_int_equal(err[3].kind, ERROR_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_too_many_transforms),
        cmocka_unit_test(test_too_many_generators),
        cmocka_unit_test(test_inverted_actions),
        cmocka_unit_test(test_quarter_turns_of_a_hexagon),
        cmocka_unit_test(test_no_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
