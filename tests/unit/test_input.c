/* test_input.c - input files: what may be opened, exact reads, files that change underneath. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/input.h"
#include "scratch.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define BIG_NBYTES (1u << 20) /* enough to be mapped */

/* A file of n bytes with byte i = i * 7 + i / 251. */
static uint8_t byte_at(uint64_t i)
{
    return (uint8_t)(i * 7 + i / 251);
}

static const char *make_file(const char *name, size_t n)
{
    FILE *file = fopen(scratch(name), "wb");

    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        putc(byte_at(i), file);
    assert_int_equal(fclose(file), 0);
    return scratch(name);
}

static void test_open_refuses(void **state)
{
    static const struct {
        const char *name;
        enum error_kind kind;
        const char *message;
    } cases[] = {
        {"missing", ERROR_NO_INPUT, "cannot open"},    {"folder", ERROR_DATA, "found a folder"},
        {"fifo", ERROR_DATA, "found a pipe"},          {"dangling", ERROR_NO_INPUT, "cannot open"},
        {"loop", ERROR_NO_INPUT, "cannot open"},       {"zero", ERROR_DATA, "found a device"},
        {"file/below", ERROR_NO_INPUT, "cannot open"},
    };

    (void)state;
    make_file("file", 3);
    assert_int_equal(mkdir(scratch("folder"), 0700), 0);
    assert_int_equal(mkfifo(scratch("fifo"), 0600), 0);
    assert_int_equal(symlink("nowhere", scratch("dangling")), 0);
    assert_int_equal(symlink("loop", scratch("loop")), 0);
    assert_int_equal(symlink("/dev/zero", scratch("zero")), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct input in;

        assert_int_equal(input_open(&in, scratch(cases[i].name), true, &err), -1);
        assert_int_equal(err.kind, cases[i].kind);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_non_null(strstr(err.message, cases[i].name));
        input_close(&in);
    }
}

static void test_no_permission(void **state)
{
    struct error err = {0};
    struct input in;

    (void)state;
    make_file("secret", 3);
    chmod(scratch("secret"), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(65534), 0);
    assert_int_equal(input_open(&in, scratch("secret"), true, &err), -1);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(err.kind, ERROR_NO_INPUT);
}

static void test_reads(void **state)
{
    static const struct {
        uint64_t offset;
        size_t n_bytes;
        bool fits;
    } cases[] = {
        {0, BIG_NBYTES, true},      {BIG_NBYTES - 1, 1, true},        {4095, 2, true},
        {BIG_NBYTES, 0, true},      {BIG_NBYTES, 1, false},           {1, BIG_NBYTES, false},
        {UINT64_MAX, 2, false},     {UINT64_MAX - 4096, 8192, false}, {BIG_NBYTES - 1, 2, false},
        {BIG_NBYTES + 1, 0, false},
    };
    uint8_t *out = malloc(BIG_NBYTES);

    (void)state;
    assert_non_null(out);
    make_file("data", BIG_NBYTES);
    for (int use_map = 0; use_map < 2; use_map++) {
        struct error err = {0};
        struct input in;

        assert_int_equal(input_open(&in, scratch("data"), use_map, &err), 0);
        assert_int_equal(in.map != NULL, use_map);
        assert_int_equal(in.n_bytes, BIG_NBYTES);
        for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
            const size_t i = k / 2;

            memset(&err, 0, sizeof err);
            memset(out, 0, BIG_NBYTES);
            assert_int_equal((k % 2 == 0 ? input_read : input_read_scattered)(
                                 &in, cases[i].offset, out, cases[i].n_bytes, &err),
                             cases[i].fits ? 0 : -1);
            assert_int_equal(err.kind, cases[i].fits ? ERROR_NONE : ERROR_DATA);
            for (size_t b = 0; cases[i].fits && b < cases[i].n_bytes; b++)
                if (out[b] != byte_at(cases[i].offset + b))
                    fail_msg("byte %zu of case %zu", b, i);
        }
        input_close(&in);
    }
    free(out);
}

static void test_small_and_empty(void **state)
{
    struct error err = {0};
    struct input in;
    uint8_t byte;

    (void)state;
    assert_int_equal(input_open(&in, make_file("small", 100), true, &err), 0);
    assert_null(in.map);
    assert_int_equal(input_read(&in, 99, &byte, 1, &err), 0);
    assert_int_equal(byte, byte_at(99));
    input_close(&in);
    input_close(&in); /* twice is harmless */
    assert_int_equal(input_open(&in, make_file("empty", 0), true, &err), 0);
    assert_int_equal(input_read(&in, 0, &byte, 1, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    input_close(&in);
}

/* Readers of a file that has shrunk: each read must fail, and none may end the process. */
static void *read_truncated(void *argument)
{
    const struct input *in = argument;
    uint8_t *out = malloc(BIG_NBYTES);
    size_t n_failed = 0;

    for (int i = 0; i < 200 && out != NULL; i++) {
        struct error err = {0};

        if (input_read(in, 0, out, BIG_NBYTES, &err) != 0 && err.kind == ERROR_DATA &&
            strstr(err.message, "truncated") != NULL)
            n_failed++;
        memset(&err, 0, sizeof err);
        if (input_read(in, 100, out, 50, &err) != 0 || out[0] != byte_at(100))
            n_failed = 0;
    }
    free(out);
    return (void *)n_failed;
}

static void test_truncated_by_two_threads(void **state)
{
    (void)state;
    for (int use_map = 0; use_map < 2; use_map++) {
        struct error err = {0};
        struct input in;
        pthread_t threads[2];

        make_file("shrinks", BIG_NBYTES);
        assert_int_equal(input_open(&in, scratch("shrinks"), use_map, &err), 0);
        assert_int_equal(in.map != NULL, use_map);
        assert_int_equal(truncate(scratch("shrinks"), 4096), 0);
        for (int i = 0; i < 2; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, read_truncated, &in), 0);
        for (int i = 0; i < 2; i++) {
            void *n_failed;

            pthread_join(threads[i], &n_failed);
            assert_int_equal((size_t)n_failed, 200);
        }
        assert_int_equal(input_unchanged(&in, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        input_close(&in);
    }
}

static void end_with_42(int signum)
{
    (void)signum;
    _exit(42);
}

/* Runs in a child: a fault that is not a guarded copy's. Returns only when nothing stopped it. */
static void fault_elsewhere(bool own_handler, bool by_kill)
{
    struct input inputs[2];
    struct error err = {0};
    uint8_t to[16];
    int fd = open(scratch("faulty"), O_RDONLY);
    volatile const uint8_t *map = mmap(NULL, BIG_NBYTES, PROT_READ, MAP_SHARED, fd, 0);

    if (own_handler)
        signal(SIGBUS, end_with_42);
    else
        signal(SIGBUS, SIG_DFL);
    for (int i = 0; i < 2; i++)
        if (input_open(&inputs[i], scratch("sound"), true, &err) != 0 || inputs[i].map == NULL ||
            input_read(&inputs[i], 0, to, sizeof to, &err) != 0)
            return;
    if (by_kill)
        raise(SIGBUS);
    else if (truncate(scratch("faulty"), 0) == 0)
        (void)map[BIG_NBYTES / 2];
}

static void test_other_faults_pass(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        pid_t child;
        int status;

        make_file("faulty", BIG_NBYTES);
        make_file("sound", BIG_NBYTES);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            fault_elsewhere(i & 1, i & 2);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (i & 1)
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    }
}

static void test_unchanged(void **state)
{
    struct timespec times[2] = {{0, UTIME_OMIT}, {1000000000, 5}};
    struct error err = {0};
    struct input in;
    FILE *file;

    (void)state;
    make_file("data", 1000);
    assert_int_equal(utimensat(AT_FDCWD, scratch("data"), times, 0), 0);
    assert_int_equal(input_open(&in, scratch("data"), true, &err), 0);
    assert_int_equal(input_unchanged(&in, &err), 0);
    times[1].tv_nsec = 6;
    assert_int_equal(utimensat(AT_FDCWD, scratch("data"), times, 0), 0);
    assert_int_equal(input_unchanged(&in, &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    memset(&err, 0, sizeof err);
    file = fopen(scratch("data"), "ab");
    assert_non_null(file);
    fputs("more", file);
    fclose(file);
    times[1].tv_nsec = 5;
    assert_int_equal(utimensat(AT_FDCWD, scratch("data"), times, 0), 0);
    assert_int_equal(input_unchanged(&in, &err), -1);
    assert_non_null(strstr(err.message, "expected 1000 bytes, found 1004"));
    input_close(&in);
}

/* Pages in front of the cursor leave memory in steps of 4 MiB and can still be read. */
static void test_release(void **state)
{
    const uint64_t size = 10u << 20, step = 4u << 20;
    struct error err = {0};
    struct input in;
    uint64_t released = 0;
    uint8_t byte = 1;
    int fd;

    (void)state;
    fd = open(scratch("sparse"), O_CREAT | O_RDWR, 0600);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    close(fd);
    assert_int_equal(input_open(&in, scratch("sparse"), true, &err), 0);
    input_release_before(&in, step - 1, &released);
    assert_int_equal(released, 0);
    input_release_before(&in, step + 5, &released);
    assert_int_equal(released, step);
    input_release_before(&in, size, &released);
    assert_int_equal(released, 2 * step);
    input_release_before(&in, 10, &released);
    assert_int_equal(released, 2 * step);
    assert_int_equal(input_read(&in, 5, &byte, 1, &err), 0);
    assert_int_equal(byte, 0);
    input_close(&in);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_open_refuses),
        IN_SCRATCH(test_no_permission),
        IN_SCRATCH(test_reads),
        IN_SCRATCH(test_small_and_empty),
        IN_SCRATCH(test_truncated_by_two_threads),
        IN_SCRATCH(test_other_faults_pass),
        IN_SCRATCH(test_unchanged),
        IN_SCRATCH(test_release),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
