/* test_manifest_read.c - manifests read back, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "manifest_sample.h"
#include "scratch.h"

static void test_read(void **state)
{
    struct error err = {0};
    json_t *m;

    (void)state;
    scratch_put("m.json", expected_json);
    m = manifest_read(scratch("m.json"), &err);
    if (m == NULL)
        fail_msg("%s", err.message);
    assert_int_equal(json_array_size(json_object_get(m, "inputs")), 1);
    assert_int_equal(manifest_number(json_object_get(m, "board"), "group_order"), 12);
    assert_string_equal(json_string_value(json_array_get(at(m, "outputs", 0, "dropped"), 0)),
                        "old\\");
    assert_string_equal(json_string_value(at(m, "inputs", 0, "name")), "in\xff\\1.npz");
    assert_string_equal(manifest_convention(m, "value"), "colour11");
    assert_null(manifest_convention(m, "planes"));
    assert_string_equal(manifest_option(m, "order"), "block:16");
    assert_null(manifest_option(m, "seed"));
    assert_int_equal(manifest_write(m, scratch("again.json"), false, &err), 0);
    assert_content("again.json", expected_json);
    json_decref(m);
}

/* expected_json with `from` replaced by `to`. */
static void put_edited(const char *name, const char *from, const char *to)
{
    const char *at = strstr(expected_json, from);
    char *edited;

    if (at == NULL)
        fail_msg("no %s", from);
    assert_true(asprintf(&edited, "%.*s%s%s", (int)(at - expected_json), expected_json, to,
                         at + strlen(from)) > 0);
    scratch_put(name, edited);
    free(edited);
}

static void test_no_manifest(void **state)
{
    static const struct {
        const char *from, *to;
        const char *message; /* behind the file's name; NULL: it is accepted */
    } cases[] = {
        {"\"format_version\": 2", "\"format_version\": 3",
         "format_version: 1 or 2 expected, 3 found"},
        {"\"format_version\": 2", "\"format_version\": 1", NULL},
        {"\"format_version\": 2", "\"format_version\": \"1\"",
         "format_version: a whole number expected, a string found"},
        {"\"group_order\": 12", "\"group_order\": -12", "board.group_order: -12 is negative"},
        {"\"group_order\": 12", "\"group_order\": 12.5",
         "board.group_order: a whole number expected, a fraction found"},
        {"\"group_order\": 12", "\"group_order\": 99999999999999999999", "line 7: "},
        {"\"preset\": \"hex8\"", "\"preset\": null", "board.preset: a string expected, null found"},
        {",\n    \"preset\": \"hex8\"", "", NULL},
        {"\"preset\": \"hex8\"", "\"new\": []", NULL},
        {"\"counts\": {", "\"counts\": {\"x\": true,",
         "counts.x: a whole number expected, true found"},
        {"\"tool\"", "\"tools\"", "tool: an object expected, nothing found"},
        {"\"swaps_colours\": true", "\"swaps_colours\": 1",
         "transforms[1].swaps_colours: true or false expected, a number found"},
        {"\"0000beef\"", "\"000beef\"",
         "outputs[0].arrays[0].crc32: 8 lower-case hex digits expected"},
        {"\"0000beef\"", "\"0000BEEF\"",
         "outputs[0].arrays[0].crc32: 8 lower-case hex digits expected"},
        {"cdc76", "cdc7", "outputs[0].sha256: 64 lower-case hex digits expected"},
        {"17,", "\"17\",",
         "outputs[0].arrays[0].shape[1]: a whole number expected, a string found"},
        {"\"first_row\": 0,", "", NULL},
        {"\"warnings\": [", "\"warnings\": [1,", "warnings[0]: a string expected, a number found"},
        {"\"options\": {", "\"options\": [], \"o\": {",
         "options: an object expected, an array found"},
        {"\"rows\": 2", "\"rows\": 2, \"rows\": 2", "line 30: duplicate object key"},
        {"\"rows\": 2,", "\"rows\": -2,", "inputs[0].rows: -2 is negative"},
        {"\"rows\": 24,", "\"rows\": 24, \"x\": 1,", NULL},
        {"\"first_row\": 0", "\"first_row\": -1", "outputs[0].first_row: -1 is negative"},
        {"\"id\": 1", "\"id\": -1", "transforms[1].id: -1 is negative"},
        {"\"dropped\": [", "\"dropped\": [1, ",
         "outputs[0].dropped[0]: a string expected, a number found"},
        {"\"arrays\": [", "\"arrays\": 1, \"x\": [",
         "outputs[0].arrays: an array expected, a number found"},
        {"\"shape\": []", "\"shape\": 1",
         "outputs[0].arrays[1].shape: an array expected, a number found"},
        {"\"text\": \"{}\"", "\"text\": \"[]\"", "board.file: the text does not have that SHA-256"},
        {"\"order\": \"block:16\"", "\"order\": 16",
         "options.order: a string expected, a number found"},
        {"\"meaning\": \"colour11\"", "\"meaning\": 11",
         "conventions.value.meaning: a string expected, a number found"},
        {"\"rows_in\": 2", "\"rows_in\": -2", "counts.rows_in: -2 is negative"},
        {"\"outputs\": [", "\"outputs\": 1, \"x\": [",
         "outputs: an array expected, a number found"},
        {"caf", "\xff", "line "},
        {"caf", "\\u0000", "line "},
        {"{\n", "[{\n", "line "},
        {"}\n", "} garbage\x1b[31m\n", "line "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        json_t *m;
        char *start;

        put_edited("m.json", cases[i].from, cases[i].to);
        m = manifest_read(scratch("m.json"), &err);
        if ((m == NULL) != (cases[i].message != NULL))
            fail_msg("case %zu: %s", i, err.message);
        json_decref(m);
        if (m != NULL)
            continue;
        assert_int_equal(err.kind, ERROR_DATA);
        assert_true(
            asprintf(&start, "%s: not a manifest: %s", scratch("m.json"), cases[i].message) > 0);
        if (strncmp(err.message, start, strlen(start)) != 0)
            fail_msg("case %zu: %s", i, err.message);
        assert_null(strchr(err.message, '\x1b'));
        free(start);
    }
}

static void test_unreadable(void **state)
{
    struct error err = {0};
    int fd;

    (void)state;
    assert_null(manifest_read(scratch("none.json"), &err));
    assert_int_equal(err.kind, ERROR_NO_INPUT);
    err = (struct error){0};
    scratch_put("empty.json", "");
    assert_null(manifest_read(scratch("empty.json"), &err));
    assert_int_equal(err.kind, ERROR_DATA);
    err = (struct error){0};
    scratch_put("list.json", "[]");
    assert_null(manifest_read(scratch("list.json"), &err));
    assert_non_null(strstr(err.message, "not a manifest: an object expected, an array found"));
    err = (struct error){0};
    fd = open(scratch("huge.json"), O_WRONLY | O_CREAT, 0666);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    close(fd);
    assert_null(manifest_read(scratch("huge.json"), &err));
    assert_non_null(strstr(err.message, "too large"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read),
        TEST(test_no_manifest),
        TEST(test_unreadable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
