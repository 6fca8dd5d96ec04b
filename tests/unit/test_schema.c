/* test_schema.c - roles written as JSON and read back: the same bindings, and clear refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "role_shard.h"
#include "shard/role.h"

#include <unistd.h>

static char path[] = "/tmp/symaug-test-schema-XXXXXX";

static int make_file(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void put_file(const char *bytes, size_t n_bytes)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

/* Shards of every role and option; reading what was written must change nothing. */
static const struct {
    const char *board;
    const char *request;
    const char *arrays;
} shards[] = {
    {"square:9", "", "features:f4:6,4,9,9 policy:f4:6,82 values:f4:6 step:i8= c:f4:2"},
    {"square:9", "", "features:f4:6,9,9,9 board:i1:6,9,9 state:i1:6,81 x:f4:6,324"},
    {"square:9", "role:features=planes:nhwc role:x=planes:nhwc", "features:f4:6,9,9,9 x:f4:6,324"},
    {"square:9", "role:x=planes", "x:f4:6,81 pi:f4:6,2,81 mask:b1:6,9,9"},
    {"square:9", "role:x=planes:nhwc role:y=planes:nhwc", "x:f4:6,81,1 y:f4:6,9,9,1"},
    {"square:9", "role:x=planes:nhwc,positions role:y=planes:frames=4",
     "x:u1:6,4,9,9,1 y:u1:6,8,9,9"},
    {"square:9", "role:x=planes:nhwc,frames=4 role:y=planes:nhwc", "x:u1:6,324 y:u1:6,4,9,9,2"},
    {"square:9", "role:x=packed:frames=2 role:m=action:pairs,flipud", "x:u1:6,8,11 m:i4:6,5,2"},
    {"square:8", "role:x=packed role:m=action", "x:u8:6,4 m:i4:6,5 visits:f4:6,64"},
    {"square:9", "role:pi=policy:rot90 role:mask=mask:flipud",
     "x:f4:6,4,9,9 pi:f4:6,81 mask:b1:6,81"},
    {"hex13", "role:winner=to-move:player role:t=to-move:winner role:v=value:players",
     "x:f4:6,3,13,13 winner:i1:6 t:i1:6 v:f4:6,2 winners:i1:6"},
    {"square:9", "role:x=packed:lsb", "x:u1:6,22,11 bf:u1:6,3,11"},
    {"square:9", "role:m=coord:colrow", "x:u1:6,1,9,9 m:i4:6,2 last_move:i4:6,2 move:i4:6"},
    {"hex8", "", "features:f4:6,4,61 policy:f4:6,4500 move:i4:6 state:i1:6,61 data_checksums:U={}"},
    {"hex8", "", "features:f4:6,4,9,9 policy_indices:Oi:6 policy_values:Of:6 policy_size:i8=4500"},
    {"hexagon:4", "policy:cells-board", "x:f4:6,4,9,9 policy_indices:On:6,2 policy_values:Od:6,2"},
    {"square8", "", "x:f4:6,4,8,8 policy_indices:i4:6,3 policy_values:f4:6,3"},
    {"square8", "yx", "x:f4:6,4,8,8 policy:f4:6,7000"},
    {"square:9", "", "x:f4:6,4,9,9 a_indices:i4:9 a_values:f4:9 a_indptr:i4:7"},
    {"square:9", "role:a=policy-index role:b=policy-value role:c=policy-offsets",
     "x:f4:6,4,9,9 a:i4:9 b:f4:9 c:i4:7"},
    {"chess", "", "x:f4:6,25,8,8 pi:f4:6,73,8,8 pis:f4:6,8,8,76 moves:i4:6"},
    {"hex13", "", "x:f4:6,3,13,13 v:f4:6,3 values_mp:f4:6,4 player:i1:6 vt:f4:6,2 ids:Os:6"},
    {"takeiteasy", "", "plateau:i4:6,19 x:f4:6,4,5,5 tile:i4:6,3 position:i4:6 score:i4:6"},
};

static bool same_binding(const struct role_binding *a, const struct role_binding *b)
{
    return a->role == b->role && memcmp(&a->axes, &b->axes, sizeof a->axes) == 0 &&
           a->layout == b->layout && a->n_actions == b->n_actions && a->sparse == b->sparse &&
           a->index_array == b->index_array && a->value_array == b->value_array &&
           a->offsets_array == b->offsets_array && a->takeiteasy_grid == b->takeiteasy_grid &&
           a->options == b->options && a->plane_xy == b->plane_xy &&
           a->frame_planes == b->frame_planes && a->flip == b->flip && a->is_counts == b->is_counts;
}

static void round_trip(const char *board_name, const char *options, const char *arrays)
{
    static struct role_binding first[SHARD_MAX_ARRAYS], second[SHARD_MAX_ARRAYS];
    struct role_request told = ROLE_REQUEST_INIT, read = ROLE_REQUEST_INIT;
    struct shard *s = shard_new(arrays);
    struct error err = {0};
    struct board *board = board_new(board_name, &err);
    struct text json = {0};
    uint64_t n_rows;

    assert_int_equal(shard_request(options, &told, &err), 0);
    if (role_infer(&s->archive, board, &told, first, &n_rows, NULL, &err) != 0 ||
        schema_write(&s->archive, first, &json, &err) != 0)
        fail_msg("%s: %s", arrays, err.message);
    put_file(json.text, json.n_bytes);
    if (schema_read(path, &read, &err) != 0 ||
        role_infer(&s->archive, board, &read, second, &n_rows, NULL, &err) != 0)
        fail_msg("%s: %s\n%s", arrays, err.message, json.text);
    assert_int_equal(read.n_overrides, s->archive.n_arrays);
    for (size_t i = 0; i < s->archive.n_arrays; i++) {
        if (!same_binding(&first[i], &second[i]))
            fail_msg("%s: %s is read differently from\n%s", arrays, s->arrays[i].key, json.text);
        assert_false(second[i].inferred);
    }
    text_release(&json);
    role_request_release(&told);
    role_request_release(&read);
    board_free(board);
    shard_free(s);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shards / sizeof shards[0]; k++)
        round_trip(shards[k].board, shards[k].request, shards[k].arrays);
}

static void test_text(void **state)
{
    static const char expected[] = "{\n"
                                   "  \"symaug_schema\": 1,\n"
                                   "  \"plane_order\": \"xy\",\n"
                                   "  \"arrays\": {\n"
                                   "    \"values\": \"value\",\n"
                                   "    \"features\": \"planes:nchw\",\n"
                                   "    \"pi\": \"policy:layout=ringrift\"\n"
                                   "  }\n"
                                   "}\n";
    struct shard *s = shard_new("values:f4:6 features:f4:6,56,8,8 pi:f4:6,7000");
    struct role_request request = ROLE_REQUEST_INIT;
    struct role_binding bindings[3];
    struct error err = {0};
    struct board *board = board_new("square8", &err);
    struct text json = {0};
    uint64_t n_rows;

    (void)state;
    assert_int_equal(role_infer(&s->archive, board, &request, bindings, &n_rows, NULL, &err), 0);
    assert_int_equal(schema_write(&s->archive, bindings, &json, &err), 0);
    assert_string_equal(json.text, expected);
    text_release(&json);
    s->arrays[0].key[0] = '\xff';
    assert_int_equal(schema_write(&s->archive, bindings, &json, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_non_null(strstr(err.message, "UTF-8"));
    text_release(&json);
    board_free(board);
    shard_free(s);
}

static void test_read(void **state)
{
    static const char json[] = "{\"arrays\": {\"a=b\": \"planes:nhwc\", \"c\": \"copy\"},"
                               " \"policy\": \"ringrift\", \"plane_order\": \"xy\","
                               " \"symaug_schema\": 1}";
    struct role_request request = ROLE_REQUEST_INIT;
    struct error err = {0};

    (void)state;
    put_file(json, sizeof json - 1);
    assert_int_equal(schema_read(path, &request, &err), 0);
    assert_int_equal(request.n_overrides, 2);
    assert_string_equal(request.overrides[0].array, "a=b");
    assert_int_equal(request.overrides[0].role, ROLE_PLANES);
    assert_int_equal(request.overrides[0].options, ROLE_NHWC);
    assert_int_equal(request.overrides[1].role, ROLE_COPY);
    assert_string_equal(request.policy_layout, "ringrift");
    assert_int_equal(request.plane_xy, 1);
    /* A second file, or an option behind it, adds and counts more. */
    assert_int_equal(schema_read(path, &request, &err), 0);
    assert_int_equal(request.n_overrides, 4);
    role_request_release(&request);
}

/* Nothing but the version: nothing is told. */
static void test_read_least(void **state)
{
    struct role_request request = ROLE_REQUEST_INIT;
    struct error err = {0};

    (void)state;
    put_file("{\"symaug_schema\": 1}", 20);
    assert_int_equal(schema_read(path, &request, &err), 0);
    assert_int_equal(request.n_overrides, 0);
    assert_null(request.policy_layout);
    assert_int_equal(request.plane_xy, -1);
    role_request_release(&request);
}

static void test_read_refuses(void **state)
{
    static const struct {
        const char *json;
        const char *message;
    } cases[] = {
        {"", "not JSON: line 1"},
        {"[]", "expected an object"},
        {"{}", "\"symaug_schema\": 1"},
        {"{\"symaug_schema\": \"1\"}", "\"symaug_schema\": 1"},
        {"{\"symaug_schema\": 2}", "version 2, expected 1"},
        {"{\"symaug_schema\": 1} x", "not JSON"},
        {"{\"symaug_schema\": 1, \"symaug_schema\": 1}", "not JSON"},
        {"{\"symaug_schema\": 1, \"array\": {}}", "unknown key 'array'"},
        {"{\"symaug_schema\": 1, \"arrays\": []}", "an object of roles"},
        {"{\"symaug_schema\": 1, \"arrays\": {\"x\": 1}}", "expected a role for 'x'"},
        {"{\"symaug_schema\": 1, \"arrays\": {\"x\": \"plane\"}}", "no role is called 'plane'"},
        {"{\"symaug_schema\": 1, \"arrays\": {\"x\": \"copy:msb\"}}", "has no option 'msb'"},
        {"{\"symaug_schema\": 1, \"arrays\": {\"\": \"copy\"}}", "the name of an array"},
        {"{\"symaug_schema\": 1, \"arrays\": {\"x\": \"copy\", \"x\": \"meta\"}}", "not JSON"},
        {"{\"symaug_schema\": 1, \"policy\": null}", "the name of a layout"},
        {"{\"symaug_schema\": 1, \"plane_order\": \"zy\"}", "\"xy\" or \"yx\""},
        {"{\"symaug_schema\": 1, \"plane_order\": 1}", "\"xy\" or \"yx\""},
        {"{\"symaug_schema\": 1, \"policy\": \"\\ud800\"}", "not JSON"},
    };

    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct role_request request = ROLE_REQUEST_INIT;
        struct error err = {0};

        put_file(cases[k].json, strlen(cases[k].json));
        if (schema_read(path, &request, &err) == 0)
            fail_msg("accepted %s", cases[k].json);
        assert_int_equal(err.kind, ERROR_DATA);
        if (strncmp(err.message, path, strlen(path)) != 0 ||
            strstr(err.message, cases[k].message) == NULL)
            fail_msg("%s: %s", cases[k].json, err.message);
        role_request_release(&request);
    }
}

static void test_read_files(void **state)
{
    struct role_request request = ROLE_REQUEST_INIT;
    struct error err = {0};

    (void)state;
    assert_int_equal(schema_read("/nonexistent/schema.json", &request, &err), -1);
    assert_int_equal(err.kind, ERROR_NO_INPUT);
    err = (struct error){0};
    assert_int_equal(truncate(path, SCHEMA_MAX_NBYTES + 1), 0);
    assert_int_equal(schema_read(path, &request, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_non_null(strstr(err.message, "larger"));
    assert_int_equal(request.n_overrides, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_text),
        cmocka_unit_test(test_read),         cmocka_unit_test(test_read_least),
        cmocka_unit_test(test_read_refuses), cmocka_unit_test(test_read_files),
    };

    return cmocka_run_group_tests(tests, make_file, remove_file);
}
