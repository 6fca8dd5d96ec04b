/* test_faults_text.c - manifests, schemas and roles while allocations and calls fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "scratch.h"

#include "faults.h"
#include "manifest_sample.h"
#include "role_shard.h"
#include "shard/role.h"

#define SHA SHA_A

/* Where jansson 2.14 has no memory for a string that it scans it writes past the end of another
 * one: nothing is read then. */
static bool may_read(void)
{
    return fault.call != FAULT_MALLOC;
}

static int compare(const json_t *written, const json_t *read, struct error *err)
{
    struct text list = {0};
    int rc = manifest_compare(written, read, &list, err) != 0 ||
                     manifest_compare_inputs(written, read, &list, err) != 0
                 ? -1
                 : 0;

    if (rc == 0 && (list.n_bytes > 0 ||
                    strcmp(json_string_value(at(read, "inputs", 0, "name")), "in\xff\\1.npz") != 0))
        rc = error_set(err, ERROR_USAGE, "it is read differently"); /* never a kind that may be */
    text_release(&list);
    return rc;
}

/* For jansson, which is not to be tested here: see may_read. */
static void *spared_malloc(size_t n_bytes)
{
    const enum fault_call call = fault.call;
    void *block;

    fault.call = FAULT_NONE;
    block = malloc(n_bytes);
    fault.call = call;
    return block;
}

static int write_and_read(const void *what, struct error *err)
{
    const enum fault_call call = fault.call;
    const char *path = scratch("m.json");
    json_t *written, *read = NULL;
    int result = -1;

    (void)what;
    fault.call = FAULT_NONE;
    written = make();
    fault.call = call;
    if (manifest_write(written, path, true, err) != 0)
        goto out;
    json_set_alloc_funcs(spared_malloc, free);
    read = manifest_read(path, err);
    result = read != NULL ? compare(written, read, err) : -1;
    json_set_alloc_funcs(malloc, free);
out:
    json_decref(read);
    json_decref(written);
    return result;
}

static const struct {
    enum fault_call call;
    int errnum;
} calls[] = {
    {FAULT_MALLOC, ENOMEM}, {FAULT_OPEN, EMFILE}, {FAULT_PREAD, EIO},  {FAULT_PWRITE, ENOSPC},
    {FAULT_FSYNC, EIO},     {FAULT_CLOSE, EIO},   {FAULT_RENAME, EIO},
};

static void test_manifest(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        if (fault_sweep(write_and_read, NULL, calls[k].call, calls[k].errnum) == 0)
            fail_msg("call %d never failed", (int)calls[k].call);
        assert_true(scratch_count() <= 1); /* no temp files */
    }
}

/* --- manifests joined --- */

/* An output with its manifest: of a run that was cut, or alone. */
static void put_part(const char *name, int first_row, const char *input, const char *path)
{
    struct error err = {0};
    json_t *m = manifest_new(&err), *out;

    scratch_put(name, "four");
    json_object_set_new(m, "transforms",
                        json_of("[{'id': 0, 'name': 'id', 'swaps_colours': false},"
                                " {'id': 1, 'name': 't', 'swaps_colours': true}]"));
    json_array_append_new(
        json_object_get(m, "inputs"),
        json_pack("{s:s,s:i,s:s,s:i}", "name", input, "bytes", 1, "sha256", SHA, "rows", 12));
    out = json_pack("{s:s,s:i,s:s,s:i,s:o}", "name", name, "bytes", 4, "sha256", SHA, "rows", 12,
                    "arrays",
                    json_of("[{'name': 'a', 'dtype': '<f4', 'role': 'policy', 'codec': '', "
                            "'shape': [], 'crc32': '00000000'}]"));
    if (first_row >= 0)
        json_object_set_new(out, "first_row", json_integer(first_row));
    json_array_append_new(json_object_get(m, "outputs"), out);
    json_object_set_new(json_object_get(m, "counts"), "images_left_out",
                        json_integer(first_row < 0 ? 12 : 0));
    json_array_append_new(json_object_get(m, "warnings"), json_string("odd"));
    assert_int_equal(manifest_write(m, scratch(path), true, &err), 0);
    json_decref(m);
}

static int merge(const void *what, struct error *err)
{
    char *folder = scratch_folder;
    char target[64];

    (void)what;
    snprintf(target, sizeof target, "%s", scratch("all.json"));
    json_t *joined = manifest_merge(target, &folder, 1, err);
    int result = joined != NULL ? manifest_write(joined, target, true, err) : -1;
    if (result == 0 && (json_array_size(json_object_get(joined, "outputs")) != 3 ||
                        json_array_size(json_object_get(joined, "inputs")) != 2 ||
                        json_array_size(json_object_get(joined, "warnings")) != 1))
        result = error_set(err, ERROR_USAGE, "it is joined differently");
    json_decref(joined);
    return result;
}

static void test_merge(void **state)
{
    (void)state;
    put_part("o-00000.npz", 0, "in.npz", "o-00000.npz" MANIFEST_SUFFIX);
    put_part("o-00001.npz", 12, "in.npz", "o-00001.npz" MANIFEST_SUFFIX);
    put_part("one.npz", -1, "other.npz", "one.npz" MANIFEST_SUFFIX);
    scratch_put("other.npz", "an input, which has no manifest");
    json_set_alloc_funcs(spared_malloc, free);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        if (fault_sweep(merge, NULL, calls[k].call, calls[k].errnum) == 0)
            fail_msg("call %d never failed", (int)calls[k].call);
    json_set_alloc_funcs(malloc, free);
}

/* A shard, a request, and the board that they go with. */
struct roles {
    const char *board;
    const char *request;
    const char *arrays;
};

/* From the words of a request to bindings, to a schema, and back. */
static int infer(const struct roles *roles, const struct shard *s, const struct board *board,
                 struct error *err)
{
    static struct role_binding first[SHARD_MAX_ARRAYS], second[SHARD_MAX_ARRAYS];
    struct role_request told = ROLE_REQUEST_INIT, read = ROLE_REQUEST_INIT;
    struct text json = {0};
    uint64_t n_rows;
    int result = -1;

    if (shard_request(roles->request, &told, err) != 0 ||
        role_infer(&s->archive, board, &told, first, &n_rows, NULL, err) != 0 ||
        schema_write(&s->archive, first, &json, err) != 0)
        goto out;
    result = 0;
    if (may_read() && (schema_read(scratch("schema.json"), &read, err) != 0 ||
                       role_infer(&s->archive, board, &read, second, &n_rows, NULL, err) != 0))
        result = -1;
    for (size_t i = 0; result == 0 && may_read() && i < s->archive.n_arrays; i++)
        if (first[i].role != second[i].role || first[i].layout != second[i].layout)
            result = error_set(err, ERROR_USAGE, "%s is read differently", s->arrays[i].key);
out:
    text_release(&json);
    role_request_release(&told);
    role_request_release(&read);
    return result;
}

static const struct shard *shard;
static const struct board *board;

static int infer_again(const void *what, struct error *err)
{
    return infer(what, shard, board, err);
}

static void put_schema(const struct roles *roles)
{
    static struct role_binding bindings[SHARD_MAX_ARRAYS];
    struct role_request told = ROLE_REQUEST_INIT;
    struct text json = {0};
    struct error err = {0};
    uint64_t n_rows;

    if (shard_request(roles->request, &told, &err) != 0 ||
        role_infer(&shard->archive, board, &told, bindings, &n_rows, NULL, &err) != 0 ||
        schema_write(&shard->archive, bindings, &json, &err) != 0)
        fail_msg("%s", err.message);
    scratch_put("schema.json", json.text);
    text_release(&json);
    role_request_release(&told);
}

static void test_roles(void **state)
{
    static const struct roles cases[] = {
        {"square:9", "role:x=planes role:b=packed:lsb copy:c",
         "x:f4:6,81 b:u1:6,22,11 c:f4:6,3 pi:f4:6,81 move:i4:6"},
        {"square8", "", "x:f4:6,4,8,8 policy_indices:i4:6,3 policy_values:f4:6,3"},
        {"square:9", "", "x:f4:6,4,9,9 a_indices:i4:9 a_values:f4:9 a_indptr:i4:7"},
        {"hex8", "", "features:f4:6,4,9,9 policy_indices:Oi:6 policy_values:Of:6"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shard *s = shard_new(cases[i].arrays);
        struct error err = {0};
        struct board *b = board_new(cases[i].board, &err);

        shard = s;
        board = b;
        put_schema(&cases[i]);
        if (FAULT_MEMORY)
            assert_true(fault_sweep(infer_again, &cases[i], FAULT_MALLOC, ENOMEM) > 5);
        assert_true(fault_sweep(infer_again, &cases[i], FAULT_OPEN, EMFILE) > 0);
        assert_true(fault_sweep(infer_again, &cases[i], FAULT_PREAD, EIO) > 0);
        board_free(b);
        shard_free(s);
    }
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SCRATCH(test_manifest), IN_SCRATCH(test_merge),
                                       IN_SCRATCH(test_roles)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
