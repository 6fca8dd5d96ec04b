/* test_output_faults.c - outputs while system calls fail: complete, or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/output.h"
#include "scratch.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/syscall.h>

/* Faults: these definitions take the place of libc's for the whole test program. */
enum call { CALL_NONE, CALL_PWRITE, CALL_SHORT, CALL_FSYNC, CALL_CLOSE, CALL_RENAME };

static struct {
    enum call call;
    int at;     /* the n-th such call fails, from 1 */
    bool after; /* and all later ones */
    int errnum;
    int n_hits;
    int n_seen;
} fault;

static bool hit(enum call call)
{
    if (call != fault.call)
        return false;
    fault.n_seen++;
    if (fault.n_seen != fault.at && !(fault.after && fault.n_seen > fault.at))
        return false;
    fault.n_hits++;
    errno = fault.errnum;
    return true;
}

ssize_t pwrite(int fd, const void *bytes, size_t n_bytes, off_t offset)
{
    if (hit(CALL_PWRITE))
        return -1;
    if (n_bytes > 1 && hit(CALL_SHORT))
        n_bytes = 1;
    return syscall(SYS_pwrite64, fd, bytes, n_bytes, offset);
}

int fsync(int fd)
{
    return hit(CALL_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    bool fail = hit(CALL_CLOSE);
    int rc = (int)syscall(SYS_close, fd);

    if (!fail)
        return rc;
    errno = fault.errnum;
    return -1;
}

static int link_errnum; /* every link fails so, if not 0 */

/* Up to the rename the temp file is locked: nobody may take it for abandoned. */
static void assert_locked(const char *path)
{
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
    syscall(SYS_close, fd);
}

int rename(const char *from, const char *to)
{
    assert_locked(from);
    return hit(CALL_RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    assert_locked(from);
    return hit(CALL_RENAME) ? -1 : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

int link(const char *from, const char *to)
{
    errno = link_errnum;
    return errno != 0 ? -1 : (int)syscall(SYS_link, from, to);
}

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

/* A target that appears while the output is written is never replaced without force; with every
 * way of renaming that a file system may offer. */
static void test_appearing_target(void **state)
{
    static const int errnums[] = {0, EINVAL, ENOSYS};

    (void)state;
    for (size_t i = 0; i < 6; i++) {
        struct error err = {0};
        struct output out;

        fault.call = CALL_NONE;
        link_errnum = i < 3 ? 0 : EPERM;
        assert_int_equal(output_open(&out, scratch("a"), false, &err), 0);
        scratch_put("a", "theirs");
        if (errnums[i % 3] != 0) {
            fault.call = CALL_RENAME;
            fault.at = 1;
            fault.n_seen = 0;
            fault.errnum = errnums[i % 3];
        }
        assert_int_equal(output_write(&out, "mine", 4, &err), 0);
        assert_int_equal(output_commit(&out, false, &err), -1);
        assert_int_equal(err.kind, ERROR_CANT_CREATE);
        assert_content("a", "theirs");
        assert_int_equal(scratch_count(), 1);
        unlink(scratch("a"));
    }
    fault.call = CALL_NONE;
    link_errnum = 0;
}

static void test_rename_fallbacks(void **state)
{
    static const int errnums[] = {EINVAL, ENOSYS, EOPNOTSUPP};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof errnums / sizeof *errnums; i++) {
        struct error err = {0};

        link_errnum = i % 2 == 0 ? 0 : EPERM;
        fault.call = CALL_RENAME;
        fault.at = 1;
        fault.n_seen = 0;
        fault.errnum = errnums[i / 2];
        assert_int_equal(write_text("a", "text", false, &err), 0);
        fault.call = CALL_NONE;
        assert_content("a", "text");
        assert_int_equal(scratch_count(), 1);
        unlink(scratch("a"));
    }
    link_errnum = 0;
}

/* Two flushes, a seek between them. */
static int write_scenario(bool force, struct error *err)
{
    struct output out;

    if (output_open(&out, scratch("a"), force, err) != 0)
        return -1;
    if (output_write(&out, "Xew", 3, err) == 0 && output_seek(&out, 0, err) == 0 &&
        output_write(&out, "n", 1, err) == 0)
        return output_commit(&out, force, err);
    output_abort(&out);
    return -1;
}

struct fault_case {
    enum call call;
    int errnum;
    bool harmless; /* must succeed all the same */
    enum error_kind kind;
};

/* The scenario with the at-th call failing; false when there are not so many calls. */
static bool run_with_fault(const struct fault_case *c, bool force, int at)
{
    struct error err = {0};
    bool replaced;
    char *content;
    int rc;

    unlink(scratch("a"));
    if (force)
        scratch_put("a", "old");
    memset(&fault, 0, sizeof fault);
    fault.at = at;
    fault.errnum = c->errnum;
    fault.call = c->call;
    rc = write_scenario(force, &err);
    fault.call = CALL_NONE;
    content = scratch_get("a", NULL);
    replaced = content != NULL && strcmp(content, "new") == 0;
    if (rc != (fault.n_hits > 0 && !c->harmless ? -1 : 0))
        fail_msg("call %d, errno %d, at %d: %d %s", c->call, c->errnum, at, rc, err.message);
    assert_int_equal(err.kind, rc == 0 ? ERROR_NONE : c->kind);
    assert_true(replaced || rc != 0);
    if (!replaced && force)
        assert_string_equal(content, "old");
    else if (!replaced)
        assert_null(content);
    else if (rc != 0) /* complete, but the sync of the folder failed, or a close behind it */
        assert_true(c->call == CALL_CLOSE || (c->call == CALL_FSYNC && force));
    assert_int_equal(scratch_count(), replaced || force ? 1 : 0);
    free(content);
    return fault.n_hits > 0;
}

/* Every call that can fail does, at every place, with and without force. */
static void test_faults(void **state)
{
    static const struct fault_case cases[] = {
        {CALL_PWRITE, ENOSPC, false, ERROR_TRY_LATER},
        {CALL_PWRITE, EDQUOT, false, ERROR_TRY_LATER},
        {CALL_PWRITE, ESTALE, false, ERROR_TRY_LATER},
        {CALL_PWRITE, EIO, false, ERROR_IO},
        {CALL_PWRITE, EINTR, true, ERROR_NONE},
        {CALL_SHORT, 0, true, ERROR_NONE},
        {CALL_FSYNC, EIO, false, ERROR_IO},
        {CALL_FSYNC, ENOSPC, false, ERROR_TRY_LATER},
        {CALL_FSYNC, EINTR, true, ERROR_NONE},
        {CALL_CLOSE, EIO, false, ERROR_IO},
        {CALL_CLOSE, EDQUOT, false, ERROR_TRY_LATER},
        {CALL_RENAME, EIO, false, ERROR_IO},
        {CALL_RENAME, ENOSPC, false, ERROR_TRY_LATER},
    };
    static const int n_least[] = {
        [CALL_PWRITE] = 2, [CALL_SHORT] = 1, [CALL_FSYNC] = 2, [CALL_CLOSE] = 3, [CALL_RENAME] = 1};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int force = 0; force < 2; force++) {
            int at = 1;

            while (run_with_fault(&cases[i], force, at))
                at++;
            assert_in_range(at - 1, n_least[cases[i].call], 20);
        }
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_appearing_target),
        TEST(test_rename_fallbacks),
        TEST(test_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
