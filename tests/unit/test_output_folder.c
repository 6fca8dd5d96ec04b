/* test_output_folder.c - output folders, and the temps that a signal handler removes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/output.h"
#include "scratch.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Exchanging two names may fail, as it does on many file systems; takes the place of libc's. */
static int renameat2_errnum;

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    errno = renameat2_errnum;
    return errno != 0 ? -1 : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

static void put_in_folder(const struct output *folder, const char *name, const char *text)
{
    char path[600];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder->temp, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_folder(void **state)
{
    static const int errnums[] = {0, EINVAL};
    struct output folder;
    struct error err = {0};

    (void)state;
    assert_int_equal(output_open_folder(&folder, scratch("f//"), ".npy", false, &err), 0);
    put_in_folder(&folder, "a.npy", "old");
    put_in_folder(&folder, "b.npy", "old");
    assert_int_equal(output_commit(&folder, false, &err), 0);
    assert_content("f/a.npy", "old");
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(output_open_folder(&folder, scratch("f"), ".npy", false, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    for (size_t i = 0; i < sizeof errnums / sizeof *errnums; i++) {
        err = (struct error){0};
        assert_int_equal(output_open_folder(&folder, scratch("f"), ".npy", true, &err), 0);
        put_in_folder(&folder, "a.npy", i == 0 ? "new" : "newer");
        renameat2_errnum = errnums[i];
        assert_int_equal(output_commit(&folder, true, &err), 0);
        assert_content("f/a.npy", i == 0 ? "new" : "newer");
        assert_int_equal(access(scratch("f/b.npy"), F_OK), -1);
        assert_int_equal(scratch_count(), 1);
    }
    renameat2_errnum = 0;
}

/* A folder that holds anything but what we write is not deleted, even if that comes late. */
static void test_folder_with_others(void **state)
{
    struct output folder;
    struct error err = {0};

    (void)state;
    assert_int_equal(mkdir(scratch("f"), 0777), 0);
    scratch_put("f/a.npy", "x");
    assert_int_equal(output_open_folder(&folder, scratch("f"), ".npy", true, &err), 0);
    scratch_put("f/notes.txt", "x");
    assert_int_equal(output_commit(&folder, true, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    assert_non_null(strstr(err.message, "'notes.txt'"));
    err = (struct error){0};
    assert_int_equal(output_open_folder(&folder, scratch("f"), ".npy", true, &err), -1);
    assert_content("f/notes.txt", "x");
    assert_content("f/a.npy", "x");
    scratch_put("file", "x");
    err = (struct error){0};
    assert_int_equal(output_open_folder(&folder, scratch("file"), ".npy", true, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    assert_int_equal(scratch_count(), 2);
}

static void test_remove_temps(void **state)
{
    struct error err = {0};
    struct output outs[3];
    struct output folder;

    (void)state;
    for (int i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), '\0'};

        assert_int_equal(output_open(&outs[i], scratch(name), false, &err), 0);
    }
    assert_int_equal(output_open_folder(&folder, scratch("f"), ".npy", false, &err), 0);
    for (int i = 0; i < 300; i++) {
        char path[600];

        snprintf(path, sizeof path, "%s/some-longer-file-name-%d.npy", folder.temp, i);
        fclose(fopen(path, "w"));
    }
    assert_int_equal(output_commit(&outs[1], false, &err), 0);
    assert_int_equal(scratch_count(), 4);
    errno = 123;
    output_remove_temps();
    assert_int_equal(errno, 123);
    assert_int_equal(scratch_count(), 1);
    assert_content("b", "");
    assert_int_equal(output_commit(&outs[0], false, &err), -1);
    output_abort(&outs[2]);
    output_abort(&folder);
    assert_int_equal(scratch_count(), 1);
}

static void *make_temps(void *unused)
{
    struct error err = {0};
    struct output out;

    (void)unused;
    for (unsigned i = 0; true; i++) {
        if (i % 2 == 0 ? output_open(&out, scratch("a"), false, &err) != 0
                       : output_open_folder(&out, scratch("f"), ".npy", false, &err) != 0)
            break;
        output_abort(&out);
    }
    return NULL;
}

/* What runs in one thread removes what another is just about to create, too. */
static void test_remove_while_made(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        pthread_t thread;
        int status;
        const pid_t child = fork();

        assert_true(child >= 0);
        if (child == 0) {
            if (pthread_create(&thread, NULL, make_temps, NULL) != 0)
                _exit(1);
            usleep(1000 + i * 7);
            output_remove_temps();
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(scratch_count(), 0);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_folder),
        TEST(test_folder_with_others),
        TEST(test_remove_temps),
        TEST(test_remove_while_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
