/* test_manifest.c - manifests built and written: their bytes and their schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "manifest_sample.h"
#include "scratch.h"

#include <jansson.h>

static void test_write(void **state)
{
    struct error err = {0};
    json_t *m = make();

    (void)state;
    assert_int_equal(manifest_write(m, scratch("m.json"), false, &err), 0);
    assert_content("m.json", expected_json);
    assert_int_equal(manifest_write(m, scratch("m.json"), false, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    err = (struct error){0};
    assert_int_equal(manifest_write(m, scratch("m.json"), true, &err), 0);
    assert_content("m.json", expected_json);
    assert_int_equal(scratch_count(), 1);
    json_decref(m);
}

static int n_allocations_left;

static void *failing_malloc(size_t n_bytes)
{
    return n_allocations_left-- == 0 ? NULL : malloc(n_bytes);
}

/* Where jansson runs out of memory for once, there is an error and no file: never a file with gaps.
 */
static void test_no_memory(void **state)
{
    struct error err = {0};
    json_t *m = make();
    int n = 0;

    (void)state;
    for (int rc;; n++) {
        err = (struct error){0};
        n_allocations_left = n;
        json_set_alloc_funcs(failing_malloc, free);
        rc = manifest_write(m, scratch("m.json"), false, &err);
        json_set_alloc_funcs(malloc, free);
        if (n_allocations_left >= 0)
            break;
        assert_int_equal(rc, -1);
        assert_int_equal(err.kind, ERROR_INTERNAL);
        assert_int_equal(scratch_count(), 0);
    }
    assert_in_range(n, 1, 1000);
    assert_content("m.json", expected_json);
    json_decref(m);
}

/* Any bytes come back from a name, and the JSON is UTF-8. */
static void test_names(void **state)
{
    static const char *const names[] = {"a.npz",        "",         "\\",           "\\x41",
                                        "\xff\xfe\xc3", "\\\\x\\",  "\xed\xa0\x80", "caf\xc3\xa9",
                                        "a\nb\x01",     "\\xff\xff"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct error err = {0};
        json_t *m = make(), *again;

        set_text(at(m, "inputs", 0, "name"), names[i]);
        set_text(at(m, "outputs", 0, "name"), names[i]);
        set_text(json_object_get(json_array_get(at(m, "outputs", 0, "arrays"), 0), "name"),
                 names[i]);
        assert_int_equal(manifest_write(m, scratch("m.json"), true, &err), 0);
        again = manifest_read(scratch("m.json"), &err);
        if (again == NULL)
            fail_msg("%s", err.message);
        assert_string_equal(json_string_value(at(again, "inputs", 0, "name")), names[i]);
        assert_string_equal(json_string_value(at(again, "outputs", 0, "name")), names[i]);
        assert_non_null(manifest_find(at(again, "outputs", 0, "arrays"), names[i]));
        json_decref(again);
        json_decref(m);
    }
}

/* What differs, and that all else is no difference. */
static void test_compare(void **state)
{
    static const char other[] = "{'name': 'other.npz', 'bytes': 1, 'sha256': '" SHA_A
                                "', 'rows': 1, 'arrays': [{'name': 'features', 'dtype': '<f8', "
                                "'shape': [], 'role': 'planes:nhwc', 'swap': '-v'}]}";
    struct error err = {0};
    json_t *a = make(), *b = make(), *of_b;
    struct text list = {0};

    (void)state;
    json_object_set_new(json_object_get(b, "counts"), "rows_in", json_integer(3));
    json_object_set_new(b, "warnings", json_of("['other']"));
    of_b = json_object_get(json_object_get(b, "conventions"), "value");
    json_object_set_new(of_b, "source", json_string("default"));
    assert_int_equal(manifest_compare(a, b, &list, &err), 0);
    assert_int_equal(manifest_compare_inputs(a, b, &list, &err), 0);
    assert_int_equal(list.n_bytes, 0);
    json_object_set_new(b, "options",
                        json_of("{'transforms': '0,1', 'order': 'sample', 'seed': '7'}"));
    json_object_set_new(a, "options", json_of("{'transforms': '0,1', 'order': 'block:16'}"));
    json_object_set_new(of_b, "meaning", json_string("mover"));
    json_object_set_new(json_object_get(a, "conventions"), "planes",
                        json_of("{'meaning': '1,0,~2', 'source': '--planes'}"));
    json_object_set_new(
        json_object_get(b, "board"), "file",
        json_of("{'text': '[]', 'sha256': "
                "'4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945'}"));
    json_array_append_new(json_object_get(b, "outputs"), json_of(other));
    assert_int_equal(manifest_compare(a, b, &list, &err), 0);
    assert_string_equal(
        list.text, "board's file: "
                   "'44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a' expected, "
                   "'4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945' found; "
                   "option order: 'block:16' expected, 'sample' found; "
                   "option seed: none expected, '7' found; "
                   "convention value: 'colour11' expected, 'mover' found; "
                   "convention planes: '1,0,~2' expected, none found; "
                   "role of features: 'planes' expected, 'planes:nhwc' found; "
                   "swap of colours in features: '1 - v' expected, '-v' found");
    text_release(&list);
    json_array_append_new(json_object_get(a, "inputs"), json_of(other));
    assert_int_equal(manifest_compare_inputs(a, b, &list, &err), 0);
    assert_string_equal(list.text, "2 inputs expected, 1 found");
    text_release(&list);
    json_array_append_new(json_object_get(b, "inputs"), json_of(other));
    set_text(at(b, "inputs", 1, "sha256"), SHA_B);
    assert_int_equal(manifest_compare_inputs(a, b, &list, &err), 0);
    assert_string_equal(list.text,
                        "SHA-256 of input other.npz: '" SHA_A "' expected, '" SHA_B "' found");
    text_release(&list);
    json_decref(a);
    json_decref(b);
}

/* JSON's numbers end at INT64_MAX. */
static void test_refused_values(void **state)
{
    struct error err = {0};
    json_t *m = make();

    (void)state;
    json_object_set_new(json_object_get(m, "counts"), "rows_in", json_integer(-1));
    assert_int_equal(manifest_write(m, scratch("m.json"), false, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERNAL);
    assert_int_equal(scratch_count(), 0);
    json_decref(m);
}

/* The part of JSON Schema that the schema file uses. */
static void check_schema(const json_t *value, json_t *schema, const json_t *root, const char *at);

static void check_object_schema(const json_t *value, json_t *schema, const json_t *root,
                                const char *at)
{
    const json_t *properties = json_object_get(schema, "properties");
    json_t *others = json_object_get(schema, "additionalProperties");
    const json_t *required = json_object_get(schema, "required");
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterators take no const */
    const char *key;

    for (size_t i = 0; i < json_array_size(required); i++) {
        key = json_string_value(json_array_get(required, i));
        if (json_object_get(value, key) == NULL)
            fail_msg("%s: no %s", at, key);
    }
    for (void *item = json_object_iter(object); item != NULL;
         item = json_object_iter_next(object, item)) {
        json_t *property;

        key = json_object_iter_key(item);
        property = json_object_get(properties, key);
        if (property == NULL && !json_is_object(others))
            fail_msg("%s: %s is not in the schema", at, key);
        check_schema(json_object_iter_value(item), property != NULL ? property : others, root, key);
    }
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "object",   [JSON_ARRAY] = "array", [JSON_STRING] = "string",
        [JSON_INTEGER] = "integer", [JSON_REAL] = "number", [JSON_TRUE] = "boolean",
        [JSON_FALSE] = "boolean",   [JSON_NULL] = "null",
    };

    return names[json_typeof(value)];
}

static void check_schema(const json_t *value, json_t *schema, const json_t *root, const char *at)
{
    static const char prefix[] = "#/definitions/";
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    const char *type;

    if (ref != NULL) {
        assert_int_equal(strncmp(ref, prefix, sizeof prefix - 1), 0);
        schema = json_object_get(json_object_get(root, "definitions"), ref + sizeof prefix - 1);
        assert_non_null(schema);
    }
    type = json_string_value(json_object_get(schema, "type"));
    if (json_object_get(schema, "const") != NULL) {
        assert_true(json_equal(json_object_get(schema, "const"), (json_t *)(uintptr_t)value));
        return;
    }
    if (type == NULL || strcmp(type, type_name(value)) != 0)
        fail_msg("%s: the schema says %s", at, type == NULL ? "nothing" : type);
    if (json_is_object(value))
        check_object_schema(value, schema, root, at);
    for (size_t i = 0; i < json_array_size(value); i++)
        check_schema(json_array_get(value, i), json_object_get(schema, "items"), root, at);
}

/* What is written has the form that the schema describes, and the schema has no more required
 * keys and no other properties than what is written here for everything. */
static void test_schema(void **state)
{
    struct error err = {0};
    json_t *m = make();
    json_error_t json_error;
    json_t *schema = json_load_file("share/symaug/manifest.schema.json", 0, &json_error), *root;

    (void)state;
    if (schema == NULL)
        fail_msg("line %d: %s", json_error.line, json_error.text);
    assert_int_equal(manifest_write(m, scratch("m.json"), false, &err), 0);
    root = json_load_file(scratch("m.json"), 0, &json_error);
    check_schema(root, schema, schema, "manifest");
    assert_int_equal(json_object_size(json_object_get(schema, "properties")),
                     json_object_size(root));
    json_decref(root);
    json_decref(schema);
    json_decref(m);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_write),   TEST(test_no_memory),      TEST(test_names),
        TEST(test_compare), TEST(test_refused_values), TEST(test_schema),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
