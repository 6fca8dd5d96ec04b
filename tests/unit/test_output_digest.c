/* test_output_digest.c - the digest of a file that another thread writes meanwhile. */
#include "manifest/digest.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scratch.h"

#define MEMBER_NBYTES 3000001
#define N_MEMBERS     5
#define HEADER_NBYTES 30

struct hasher {
    struct output_digest *digest;
    atomic_bool is_over;
    uint64_t n_steps;
};

static void *hash_meanwhile(void *self)
{
    struct hasher *hasher = self;

    while (!hasher->is_over) {
        if (output_digest_is_due(hasher->digest)) {
            output_digest_step(hasher->digest);
            hasher->n_steps++;
        } else {
            usleep(100);
        }
    }
    return NULL;
}

static void put(struct output *out, const void *bytes, size_t n_bytes)
{
    struct error err = {0};

    assert_int_equal(output_write(out, bytes, n_bytes, &err), 0);
}

/* A member as libzip writes it: a header that is written again when the data is there. */
static void write_member(struct output *out, struct output_digest *digest, int number)
{
    static uint8_t data[MEMBER_NBYTES];
    const uint64_t begin = out->n_bytes;
    struct error err = {0};

    memset(data, number, sizeof data);
    put(out, data, HEADER_NBYTES);
    memset(data, 100 + number, sizeof data);
    put(out, data, sizeof data);
    assert_int_equal(output_seek(out, begin, &err), 0);
    put(out, "the header", 10);
    assert_int_equal(output_seek(out, out->n_bytes, &err), 0);
    output_digest_settle(digest, out->offset);
}

static void expect_sha256sum(const char *path, const char *hex)
{
    char command[1200], line[DIGEST_HEX_NBYTES] = "";
    FILE *pipe;

    snprintf(command, sizeof command, "sha256sum '%s'", path);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof line, pipe));
    pclose(pipe);
    assert_string_equal(hex, line);
}

static void write_and_hash(bool meanwhile)
{
    const char *const path = scratch("file");
    char hex[DIGEST_HEX_NBYTES];
    struct output out;
    struct output_digest digest;
    struct error err = {0};
    struct hasher hasher = {.digest = &digest};
    pthread_t thread;

    assert_int_equal(output_open(&out, path, false, &err), 0);
    assert_int_equal(output_digest_init(&digest, &out, &err), 0);
    assert_false(output_digest_is_due(&digest));
    if (meanwhile)
        assert_int_equal(pthread_create(&thread, NULL, hash_meanwhile, &hasher), 0);
    for (int i = 0; i < N_MEMBERS; i++)
        write_member(&out, &digest, i);
    put(&out, "the end", 7);
    if (meanwhile) {
        while (output_digest_is_due(&digest))
            usleep(100);
        assert_int_equal(digest.n_hashed, N_MEMBERS * (HEADER_NBYTES + MEMBER_NBYTES));
    }
    assert_int_equal(output_digest_finish(&digest, hex, &err), 0);
    hasher.is_over = true;
    if (meanwhile)
        pthread_join(thread, NULL);
    output_digest_release(&digest);
    assert_int_equal(output_commit(&out, false, &err), 0);
    expect_sha256sum(path, hex);
    assert_int_equal(unlink(path), 0);
}

static void test_alone(void **state)
{
    (void)state;
    write_and_hash(false);
}

static void test_meanwhile(void **state)
{
    (void)state;
    write_and_hash(true);
}

/* The file is shorter than what was said to be in it: told in the end, and nothing is due. */
static void test_failure(void **state)
{
    const char *const path = scratch("file");
    char hex[DIGEST_HEX_NBYTES];
    struct output out;
    struct output_digest digest;
    struct error err = {0};

    (void)state;
    assert_int_equal(output_open(&out, path, false, &err), 0);
    assert_int_equal(output_digest_init(&digest, &out, &err), 0);
    put(&out, "in the buffer", 13);
    output_digest_settle(&digest, 13);
    output_digest_step(&digest);
    assert_false(output_digest_is_due(&digest));
    assert_int_equal(output_digest_finish(&digest, hex, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
    assert_non_null(strstr(err.message, "it ends at byte 0"));
    output_digest_release(&digest);
    output_digest_release(&digest); /* zeroed */
    output_abort(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_alone, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_meanwhile, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_failure, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests_name("output_digest", tests, NULL, NULL);
}
