/* test_output.c - outputs: what is written, which targets are taken, which temps are cleared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/output.h"
#include "base/text.h"
#include "scratch.h"

#include <errno.h>
#include <limits.h>
#include <sys/file.h>

static int write_text(const char *name, const char *text, bool force, struct error *err)
{
    struct output out;
    int rc;

    if (output_open(&out, scratch(name), force, err) != 0)
        return -1;
    rc = output_write(&out, text, strlen(text), err);
    if (rc == 0)
        return output_commit(&out, force, err);
    output_abort(&out);
    return -1;
}

static void test_commit(void **state)
{
    struct error err = {0};
    mode_t mask = umask(027);
    struct stat st;

    (void)state;
    assert_int_equal(write_text("a.npz", "hello", false, &err), 0);
    umask(mask);
    assert_content("a.npz", "hello");
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(stat(scratch("a.npz"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_relative_path(void **state)
{
    struct error err = {0};
    struct output out;
    char folder[PATH_MAX];

    (void)state;
    assert_non_null(getcwd(folder, sizeof folder));
    assert_int_equal(chdir(scratch_folder), 0);
    assert_int_equal(output_open(&out, "a.npz", false, &err), 0);
    assert_int_equal(output_commit(&out, false, &err), 0);
    assert_int_equal(chdir(folder), 0);
    assert_content("a.npz", "");
}

/* Writes across the buffer's end, a header rewritten afterwards, and the whole read back. */
static void test_seek_and_read(void **state)
{
    enum { N = 5 * 700001 };
    struct error err = {0};
    struct output out;
    uint8_t *expected = malloc(N), *found = malloc(N);
    size_t n_bytes;
    char *file;

    (void)state;
    for (size_t i = 0; i < N; i++)
        expected[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_int_equal(output_open(&out, scratch("a"), false, &err), 0);
    for (size_t i = 0; i < N; i += 700001)
        assert_int_equal(output_write(&out, expected + i, 700001, &err), 0);
    memset(expected + 30, 7, 100);
    assert_int_equal(output_seek(&out, 30, &err), 0);
    assert_int_equal(output_write(&out, expected + 30, 100, &err), 0);
    assert_int_equal(out.n_bytes, N);
    assert_int_equal(output_flush(&out, &err), 0);
    assert_int_equal(output_read(&out, 0, found, N, &err), 0);
    assert_memory_equal(found, expected, N);
    assert_int_equal(output_seek(&out, N, &err), 0);
    assert_int_equal(output_write(&out, "end", 3, &err), 0);
    assert_int_equal(out.n_bytes, N + 3);
    assert_int_equal(output_read(&out, N, found, 4, &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
    err = (struct error){0};
    assert_int_equal(output_seek(&out, N + 4, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERNAL);
    err = (struct error){0};
    assert_int_equal(output_commit(&out, false, &err), 0);
    file = scratch_get("a", &n_bytes);
    assert_int_equal(n_bytes, N + 3);
    assert_memory_equal(file, expected, N);
    assert_string_equal(file + N, "end");
    free(file);
    free(expected);
    free(found);
}

static void make_targets(void)
{
    scratch_put("file", "old");
    assert_int_equal(mkdir(scratch("folder"), 0777), 0);
    assert_int_equal(mkfifo(scratch("fifo"), 0666), 0);
    assert_int_equal(symlink("nowhere", scratch("dangling")), 0);
    assert_int_equal(symlink("file", scratch("link")), 0);
    assert_int_equal(symlink("folder", scratch("link-to-folder")), 0);
    assert_int_equal(symlink("/dev/null", scratch("link-to-device")), 0);
}

static void test_targets(void **state)
{
    static const struct {
        const char *name;
        bool plain, forced; /* is it accepted without and with force? */
    } cases[] = {
        {"new", true, true},
        {"file", false, true},
        {"link", false, true},
        {"dangling", false, true},
        {"folder", false, false},
        {"folder/", false, false},
        {"folder/.", false, false},
        {"..", false, false},
        {"fifo", false, false},
        {"link-to-folder", false, false},
        {"link-to-device", false, false},
        {"missing/a", false, false},
        {"file/a", false, false},
    };

    (void)state;
    make_targets();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int force = 0; force < 2; force++) {
            bool accepted = force ? cases[i].forced : cases[i].plain;
            struct error err = {0};
            struct output out;
            int rc = output_open(&out, scratch(cases[i].name), force, &err);

            if (rc != (accepted ? 0 : -1))
                fail_msg("%s, force %d: %d %s", cases[i].name, force, rc, err.message);
            if (!accepted) {
                assert_int_equal(err.kind, ERROR_CANT_CREATE);
                assert_non_null(strstr(err.message, scratch(cases[i].name)));
            }
            output_abort(&out);
        }
    }
    assert_int_equal(scratch_count(), 7);
    assert_content("file", "old");
}

static void test_bad_names(void **state)
{
    char name[300];
    struct output out;

    (void)state;
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    for (int i = 0; i < 2; i++) {
        struct error err = {0};

        assert_int_equal(output_open(&out, i == 0 ? "" : scratch(name), true, &err), -1);
        assert_int_equal(err.kind, ERROR_CANT_CREATE);
        output_abort(&out);
    }
    assert_int_equal(scratch_count(), 0);
}

/* A name that leaves no room for a temp name's ends, cut inside a character of two bytes. */
static void test_long_name(void **state)
{
    struct error err = {0};
    struct output out;
    char name[256];

    (void)state;
    name[0] = 'n';
    for (size_t i = 1; i < 255; i += 2)
        memcpy(name + i, "\xc3\xa9", 3);
    assert_int_equal(output_open(&out, scratch(name), false, &err), 0);
    assert_true(text_is_utf8(out.temp, strlen(out.temp)));
    output_abort(&out);
    assert_int_equal(write_text(name, "long", false, &err), 0);
    assert_content(name, "long");
    assert_int_equal(scratch_count(), 1);
}

static void test_links_are_replaced(void **state)
{
    struct error err = {0};
    struct stat st;

    (void)state;
    make_targets();
    assert_int_equal(write_text("link", "new", true, &err), 0);
    assert_int_equal(write_text("dangling", "new", true, &err), 0);
    assert_int_equal(lstat(scratch("link"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_content("link", "new");
    assert_content("dangling", "new");
    assert_content("file", "old");
    assert_int_equal(access(scratch("nowhere"), F_OK), -1);
}

static void test_abort(void **state)
{
    struct error err = {0};
    struct output out, zeroed = {0};

    (void)state;
    output_abort(&zeroed);
    assert_int_equal(fcntl(0, F_GETFD) == -1 && errno == EBADF, 0); /* not standard input */
    scratch_put("a", "old");
    assert_int_equal(output_open(&out, scratch("a"), true, &err), 0);
    assert_int_equal(output_write(&out, "new", 3, &err), 0);
    assert_int_equal(scratch_count(), 2);
    output_abort(&out);
    output_abort(&out);
    assert_int_equal(scratch_count(), 1);
    assert_content("a", "old");
    assert_int_equal(write_text("a", "new", true, &err), 0);
    assert_content("a", "new");
}

/* What kill -9 leaves: cleared when the lock is free, and only temps of the same target. */
static void test_abandoned_temps(void **state)
{
    static const struct {
        const char *name;
        bool cleared;
    } temps[] = {
        {".a.npz.symaug-abc123", true},   {".a.npz.symaug-abc12", false},
        {".a.npz.symaug-abc1234", false}, {".b.npz.symaug-abc123", false},
        {"a.npz.symaug-abc123", false},   {".a.npz.symaug-locked", false},
        {".a.npz.symaug-linked", false},
    };
    struct error err = {0};
    int fd;

    (void)state;
    for (size_t i = 0; i + 1 < sizeof temps / sizeof *temps; i++)
        scratch_put(temps[i].name, "x");
    assert_int_equal(symlink("a.npz.symaug-abc123", scratch(".a.npz.symaug-linked")), 0);
    assert_int_equal(mkdir(scratch(".a.npz.symaug-folder"), 0777), 0);
    scratch_put(".a.npz.symaug-folder/x.npy", "x");
    fd = open(scratch(".a.npz.symaug-locked"), O_RDONLY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_int_equal(write_text("a.npz", "x", false, &err), 0);
    for (size_t i = 0; i < sizeof temps / sizeof *temps; i++) {
        struct stat st;

        if ((lstat(scratch(temps[i].name), &st) != 0) != temps[i].cleared)
            fail_msg("%s", temps[i].name);
    }
    assert_int_equal(access(scratch(".a.npz.symaug-folder"), F_OK), -1);
    close(fd);
}

/* In each of more folders than are remembered, for whatever target comes when. */
static void test_abandoned_in_many_folders(void **state)
{
    struct error err = {0};
    char name[64];

    (void)state;
    for (int i = 0; i < 9; i++) {
        snprintf(name, sizeof name, "folder%d", i);
        assert_int_equal(mkdir(scratch(name), 0777), 0);
        for (char target = 'a'; target < 'd'; target++) {
            snprintf(name, sizeof name, "folder%d/.%c.symaug-abc123", i, target);
            scratch_put(name, "x");
        }
    }
    for (char target = 'a'; target < 'd'; target++)
        for (int i = 0; i < 9; i++) {
            snprintf(name, sizeof name, "folder%d/%c", i, target);
            assert_int_equal(write_text(name, "x", false, &err), 0);
            snprintf(name, sizeof name, "folder%d/.%c.symaug-abc123", i, target);
            assert_int_equal(access(scratch(name), F_OK), -1);
            snprintf(name, sizeof name, "folder%d/.%c.symaug-abc123", i, target + 1);
            assert_int_equal(access(scratch(name), F_OK), target < 'c' ? 0 : -1);
        }
}

/* Another writer of the same target does not clear away what this one is writing. */
static void test_two_writers(void **state)
{
    struct error err = {0};
    struct output first, second;

    (void)state;
    assert_int_equal(output_open(&first, scratch("a"), false, &err), 0);
    assert_int_equal(output_open(&second, scratch("a"), false, &err), 0);
    assert_int_equal(output_write(&first, "first", 5, &err), 0);
    assert_int_equal(output_write(&second, "second", 6, &err), 0);
    assert_int_equal(output_commit(&second, false, &err), 0);
    assert_int_equal(output_commit(&first, false, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    assert_content("a", "second");
    assert_int_equal(scratch_count(), 1);
}

/* The table of open temps is bounded, and its places come free again. */
static void test_many_outputs(void **state)
{
    enum { MANY = 300 };
    struct output outs[MANY];
    struct error err = {0};
    int n_open = 0;

    (void)state;
    for (int round = 0; round < 3; round++) {
        int n = 0;

        err = (struct error){0};
        for (; n < MANY; n++) {
            char name[16];

            snprintf(name, sizeof name, "%d", n);
            if (output_open(&outs[n], scratch(name), false, &err) != 0)
                break;
        }
        assert_in_range(n, 128, MANY - 1); /* as many as inputs side by side */
        assert_int_equal(err.kind, ERROR_INTERNAL);
        assert_true(round == 0 || n == n_open);
        n_open = n;
        while (n-- > 0)
            output_abort(&outs[n]);
        assert_int_equal(scratch_count(), 0);
    }
}

static void test_output_remove(void **state)
{
    struct error err = {0};

    (void)state;
    scratch_put("a", "x");
    assert_int_equal(output_remove(scratch("a"), &err), 0);
    assert_int_equal(output_remove(scratch("a"), &err), 0);
    assert_int_equal(scratch_count(), 0);
    assert_int_equal(mkdir(scratch("b"), 0777), 0);
    assert_int_equal(output_remove(scratch("b"), &err), -1);
    assert_int_equal(err.kind, ERROR_IO);
}

static void test_read_only_folder(void **state)
{
    struct error err = {0};

    (void)state;
    if (geteuid() == 0)
        skip(); /* root may write everywhere */
    assert_int_equal(mkdir(scratch("ro"), 0555), 0);
    assert_int_equal(write_text("ro/a", "x", false, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_commit),
        TEST(test_relative_path),
        TEST(test_seek_and_read),
        TEST(test_targets),
        TEST(test_bad_names),
        TEST(test_long_name),
        TEST(test_links_are_replaced),
        TEST(test_abort),
        TEST(test_abandoned_temps),
        TEST(test_abandoned_in_many_folders),
        TEST(test_two_writers),
        TEST(test_output_remove),
        TEST(test_read_only_folder),
        TEST(test_many_outputs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
