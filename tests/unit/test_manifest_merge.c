/* test_manifest_merge.c - manifests joined: the same bytes in every order, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <jansson.h>

#include "manifest/manifest.h"
#include "manifest_sample.h"
#include "scratch.h"

/* An output of one input, which has as many rows as the output has bytes; two transforms. */
struct sample {
    const char *output;
    unsigned n_bytes;
    const char *inputs[3];
    int first_row; /* -1: the run was not cut */
    unsigned n_rows;
    const char *order;
    const char *warning;
    unsigned n_run_rows; /* of a run that was cut */
};

/* 64 hex digits that depend on a text. */
static const char *digest_of(const char *text)
{
    static char digests[4][65];
    static unsigned next;
    char *digest = digests[next++ % 4];

    for (unsigned i = 0; i < 64; i++)
        digest[i] = "0123456789abcdef"[(unsigned char)text[i % strlen(text)] % 16];
    digest[64] = '\0';
    return digest;
}

static void write_sample(const struct sample *sample)
{
    struct error err = {0};
    json_t *m = manifest_new(&err), *output;
    const unsigned n_rows = sample->first_row < 0 ? sample->n_rows : sample->n_run_rows;
    char bytes[100] = "", name[64];
    unsigned rows_in = 0;

    memset(bytes, 'x', sample->n_bytes);
    scratch_put(sample->output, bytes);
    json_object_set_new(m, "transforms",
                        json_of("[{'id': 0, 'name': 'identity', 'swaps_colours': false},"
                                " {'id': 1, 'name': 'rot90', 'swaps_colours': false}]"));
    json_object_set_new(
        m, "options",
        json_pack("{s:s}", "order", sample->order != NULL ? sample->order : "sample"));
    json_object_set_new(m, "board", json_of("{'name': 'square:9', 'group_order': 8}"));
    for (size_t i = 0; i < 3 && sample->inputs[i] != NULL; i++, rows_in += 10)
        json_array_append_new(json_object_get(m, "inputs"),
                              json_pack("{s:s,s:i,s:s,s:i}", "name", sample->inputs[i], "bytes", 5,
                                        "sha256", digest_of(sample->inputs[i]), "rows", 10));
    output =
        json_pack("{s:s,s:i,s:s,s:i,s:[]}", "name", sample->output, "bytes", (int)sample->n_bytes,
                  "sha256", digest_of(bytes), "rows", (int)sample->n_rows, "arrays");
    if (sample->first_row >= 0)
        json_object_set_new(output, "first_row", json_integer(sample->first_row));
    json_array_append_new(json_object_get(m, "outputs"), output);
    json_object_set_new(m, "counts",
                        json_pack("{s:i,s:i,s:i,s:i}", "rows_in", (int)rows_in, "rows_out",
                                  (int)sample->n_rows, "images_left_out",
                                  (int)(2 * rows_in - n_rows), "ambiguous_entries", 3));
    if (sample->warning != NULL)
        json_array_append_new(json_object_get(m, "warnings"), json_string(sample->warning));
    snprintf(name, sizeof name, "%s" MANIFEST_SUFFIX, sample->output);
    assert_int_equal(manifest_write(m, scratch(name), true, &err), 0);
    json_decref(m);
}

/* Join the operands, which are names in the scratch folder ("." is the folder), into `target`. */
static int join(const char *target, const char *const *operands, struct error *err)
{
    char *paths[16];
    int n = 0;

    for (; operands[n] != NULL && n < 16; n++)
        paths[n] = strdup(strcmp(operands[n], ".") == 0 ? scratch_folder : scratch(operands[n]));
    json_t *joined = manifest_merge(scratch(target), paths, n, err);
    const int rc = joined != NULL ? manifest_write(joined, scratch(target), true, err) : -1;
    json_decref(joined);
    while (n > 0)
        free(paths[--n]);
    return rc;
}

static void expect_same(const char *a, const char *b)
{
    char text[2][20000] = {"", ""};
    const char *const names[] = {a, b};

    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(scratch(names[i]), "r");

        assert_non_null(file);
        assert_in_range(fread(text[i], 1, sizeof text[i] - 1, file), 100, sizeof text[i] - 2);
        fclose(file);
    }
    assert_string_equal(text[0], text[1]);
}

static uint64_t count(const json_t *m, const char *name)
{
    assert_non_null(json_object_get(json_object_get(m, "counts"), name));
    return manifest_number(json_object_get(m, "counts"), name);
}

static size_t length(const json_t *m, const char *list)
{
    return json_array_size(json_object_get(m, list));
}

static const char *name_in(const json_t *m, const char *list, size_t i)
{
    return json_string_value(at(m, list, i, "name"));
}

static const struct sample three[] = {
    {"b.npz", 20, {"b.npz"}, -1, 15, NULL, "odd", 0},
    {"a.npz", 10, {"a.npz"}, -1, 20, NULL, "strange", 0},
    {"c.npz", 30, {"c.npz"}, -1, 20, NULL, "odd", 0},
};

static void test_content(void **state)
{
    static const char *const names[] = {"a.npz", "b.npz", "c.npz"};
    struct error err = {0};
    json_t *m;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        write_sample(&three[i]);
    if (join("all.json", (const char *const[]){".", NULL}, &err) != 0)
        fail_msg("%s", err.message);
    m = manifest_read(scratch("all.json"), &err);
    assert_non_null(m);
    assert_int_equal(length(m, "outputs"), 3);
    assert_int_equal(length(m, "inputs"), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(name_in(m, "outputs", i), names[i]);
        assert_string_equal(name_in(m, "inputs", i), names[i]);
    }
    assert_int_equal(count(m, "rows_in"), 30);
    assert_int_equal(count(m, "rows_out"), 55);
    assert_int_equal(count(m, "images_left_out"), 5);
    assert_int_equal(count(m, "ambiguous_entries"), 9);
    assert_int_equal(length(m, "warnings"), 2);
    assert_string_equal(manifest_text(json_object_get(m, "board"), "name"), "square:9");
    json_decref(m);
}

#define A "a.npz.manifest.json"
#define B "b.npz.manifest.json"
#define C "c.npz.manifest.json"

static void test_order(void **state)
{
    static const char *const ways[][7] = {
        {A, B, C},    {C, A, B},      {C, B, A, B, A},
        {".", A},     {"ab.json", C}, {C, "ab.json", A, "all.json", "."},
        {"all.json"},
    };

    (void)state;
    for (size_t i = 0; i < 3; i++)
        write_sample(&three[i]);
    assert_int_equal(join("all.json", (const char *const[]){".", NULL}, NULL), 0);
    assert_int_equal(join("ab.json", (const char *const[]){B, A, NULL}, NULL), 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct error err = {0};

        if (join("again.json", ways[i], &err) != 0)
            fail_msg("way %zu: %s", i, err.message);
        expect_same("all.json", "again.json");
    }
}

/* Names are as seen from the joined manifest, whichever way its parts were named. */
static void test_folders(void **state)
{
    struct error err = {0};
    json_t *m;

    (void)state;
    assert_int_equal(mkdir(scratch("p\\q"), 0777), 0);
    assert_int_equal(mkdir(scratch("r"), 0777), 0);
    write_sample(&three[0]);
    write_sample(&three[1]);
    assert_int_equal(rename(scratch("b.npz"), scratch("p\\q/b.npz")), 0);
    assert_int_equal(rename(scratch(B), scratch("p\\q/" B)), 0);
    assert_int_equal(rename(scratch("a.npz"), scratch("r/a.npz")), 0);
    assert_int_equal(rename(scratch(A), scratch("r/" A)), 0);
    if (join("all.json", (const char *const[]){"r/../p\\q//", "r/.", NULL}, &err) != 0)
        fail_msg("%s", err.message);
    assert_int_equal(join("r/all.json", (const char *const[]){"all.json", "r", NULL}, &err), 0);
    m = manifest_read(scratch("all.json"), &err);
    assert_string_equal(name_in(m, "outputs", 0), "p\\q/b.npz");
    assert_string_equal(name_in(m, "outputs", 1), "r/a.npz");
    json_decref(m);
    m = manifest_read(scratch("r/all.json"), &err);
    assert_int_equal(length(m, "outputs"), 2);
    assert_string_equal(name_in(m, "outputs", 0), "../p\\q/b.npz");
    assert_string_equal(name_in(m, "outputs", 1), "a.npz");
    json_decref(m);
}

static void test_refused(void **state)
{
    static const struct {
        struct sample samples[3];
        const char *message; /* a part of it; NULL: joined */
    } cases[] = {
        {{{"a.npz", 10, {"a"}, -1, 20, "sample", NULL, 0},
          {"b.npz", 20, {"b"}, -1, 20, "block:2", NULL, 0}},
         "b.npz.manifest.json: not made as "},
        {{{"a.npz", 10, {"a"}, -1, 20, NULL, NULL, 0},
          {"b.npz", 20, {"c", "a"}, -1, 20, NULL, NULL, 0}},
         "input 'a' is in "},
        /* a run in three outputs, of two inputs */
        {{{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 32},
          {"o-00001.npz", 11, {"a", "b"}, 20, 5, NULL, NULL, 32},
          {"o-00002.npz", 12, {"a", "b"}, 25, 7, NULL, NULL, 32}},
         NULL},
        {{{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 32},
          {"o-00002.npz", 12, {"a", "b"}, 25, 7, NULL, NULL, 32}},
         "'o-00002.npz': first row 20 expected, 25 found: an output of this run is missing"},
        {{{"o-00001.npz", 12, {"a", "b"}, 20, 7, NULL, NULL, 32}},
         "'o-00001.npz': first row 0 expected, 20 found: an output of this run is missing"},
        {{{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 32},
          {"o-00001.npz", 11, {"a", "b"}, 19, 5, NULL, NULL, 32}},
         "'o-00001.npz': first row 20 expected, 19 found: outputs of this run overlap"},
        {{{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 32},
          {"o-00001.npz", 11, {"a", "c"}, 20, 5, NULL, NULL, 32}},
         "not the inputs of the other outputs 'o-'..."},
        {{{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 32},
          {"p-00001.npz", 11, {"a", "b"}, 0, 5, NULL, NULL, 32}},
         "input 'a' is in "},
        {{{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 32},
          {"o-00001.npz", 11, {"a", "b"}, 20, 5, NULL, NULL, 32}},
         "32 rows expected of all outputs, 25 found: an output of a run is missing"},
        {{{"o-00000.npz", 10, {"a"}, 0, 20, NULL, NULL, 20},
          {"p-00000.npz", 11, {"b"}, 0, 5, NULL, NULL, 5}},
         NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        int rc;

        if (i > 0) {
            scratch_teardown(state);
            scratch_setup(state);
        }
        for (size_t k = 0; k < 3 && cases[i].samples[k].output != NULL; k++)
            write_sample(&cases[i].samples[k]);
        rc = join("all.json", (const char *const[]){".", NULL}, &err);
        if ((rc == 0) != (cases[i].message == NULL) ||
            (rc != 0 && (err.kind != ERROR_DATA || strstr(err.message, cases[i].message) == NULL)))
            fail_msg("case %zu: %s", i, err.message);
    }
}

/* Outputs of one run count what they have in common once. */
static void test_counts_of_a_run(void **state)
{
    static const struct sample run[] = {{"o-00000.npz", 10, {"a", "b"}, 0, 20, NULL, NULL, 38},
                                        {"o-00001.npz", 11, {"a", "b"}, 20, 18, NULL, NULL, 38}};
    struct error err = {0};
    json_t *m;

    (void)state;
    write_sample(&run[0]);
    write_sample(&run[1]);
    assert_int_equal(join("all.json", (const char *const[]){".", NULL}, &err), 0);
    m = manifest_read(scratch("all.json"), &err);
    assert_int_equal(count(m, "rows_in"), 20);
    assert_int_equal(count(m, "rows_out"), 38);
    assert_int_equal(count(m, "images_left_out"), 2);
    assert_int_equal(count(m, "ambiguous_entries"), 3);
    json_decref(m);
}

static void expect_refusal(const char *const *operands, enum error_kind kind, const char *message)
{
    struct error err = {0};

    assert_int_equal(join("all.json", operands, &err), -1);
    if (err.kind != kind || strstr(err.message, message) == NULL)
        fail_msg("expected %s, found %s", message, err.message);
}

/* Files that are not what the manifests say. */
static void test_files(void **state)
{
    static const char *const all[] = {".", NULL}, *const a_and_b[] = {A, B, NULL};
    struct error err = {0};

    (void)state;
    write_sample(&three[0]);
    write_sample(&three[1]);
    scratch_put("in.npz", "");
    expect_refusal(all, ERROR_DATA, "in.npz: has no manifest");
    unlink(scratch("in.npz"));
    scratch_put("a.npz", "123456789");
    expect_refusal(all, ERROR_DATA, "10 bytes expected, 9 found");
    unlink(scratch("a.npz"));
    expect_refusal(all, ERROR_DATA, "a.npz': No such file");
    expect_refusal(a_and_b, ERROR_DATA, "a.npz': No such file");
    write_sample(&three[1]);
    scratch_put("d.npz", "");
    link(scratch(A), scratch("d.npz.manifest.json"));
    expect_refusal(all, ERROR_DATA, "does not list 'd.npz', the output of its name");
    unlink(scratch("d.npz")); /* now it can only be a joined manifest of one */
    assert_int_equal(join("all.json", all, &err), 0);
    scratch_put("d.npz.manifest.json", "{}");
    expect_refusal(all, ERROR_DATA, "not a manifest");
    expect_refusal((const char *const[]){"none", NULL}, ERROR_NO_INPUT, "No such file");
    mkdir(scratch("empty"), 0777);
    expect_refusal((const char *const[]){"empty", NULL}, ERROR_NO_INPUT, "no manifest");
    assert_int_equal(join("none/all.json", a_and_b, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
}

/* Two files of one name and other bytes. */
static void test_other_contents(void **state)
{
    (void)state;
    write_sample(&three[0]);
    write_sample(&three[1]);
    assert_int_equal(join("old.json", (const char *const[]){".", NULL}, NULL), 0);
    write_sample(&(struct sample){"a.npz", 10, {"a.npz"}, -1, 19, NULL, NULL, 0});
    expect_refusal((const char *const[]){"old.json", A, NULL}, ERROR_DATA, "output 'a.npz' is in ");
}

static int n_allocations_left;

static void *failing_malloc(size_t n_bytes)
{
    if (n_allocations_left-- != 0)
        return malloc(n_bytes);
    errno = ENOMEM;
    return NULL;
}

/* One allocation of jansson's that fails is an error and no file; or it was one that does not
 * matter (the list of keys that json_unpack keeps for nobody), and makes no difference. */
static void test_no_memory(void **state)
{
    int n = 0;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        write_sample(&three[i]);
    assert_int_equal(join("whole.json", (const char *const[]){".", NULL}, NULL), 0);
    for (int rc;; n++) {
        struct error err = {0};

        n_allocations_left = n;
        json_set_alloc_funcs(failing_malloc, free);
        rc = join("all.json", (const char *const[]){".", NULL}, &err);
        json_set_alloc_funcs(malloc, free);
        if (n_allocations_left >= 0)
            break;
        if (rc != 0 && err.kind != ERROR_INTERNAL)
            fail_msg("allocation %d: %d %s", n, rc, err.message);
        assert_int_equal(access(scratch("all.json"), F_OK), rc);
        if (rc == 0) {
            expect_same("whole.json", "all.json");
            unlink(scratch("all.json"));
        }
    }
    assert_in_range(n, 100, 5000);
    assert_int_equal(access(scratch("all.json"), F_OK), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_content),        TEST(test_order),           TEST(test_folders),
        TEST(test_refused),        TEST(test_counts_of_a_run), TEST(test_files),
        TEST(test_other_contents), TEST(test_no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
