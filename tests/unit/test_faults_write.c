/* test_faults_write.c - writing shards while allocations and calls fail: complete, or not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"

#include "fake_member.h"
#include "faults.h"
#include "write/archive_out.h"

#define RAW_NBYTES   3000
#define LARGE_NBYTES (1200 << 10) /* more than an output keeps in its buffer */

/* Members that are made beforehand, so that only the writing is disturbed. */
static struct fake fakes[3];

struct writing {
    const char *name;
    enum archive_out_form form;
    size_t n_members;
    bool force; /* a complete one is there already */
};

static int write_shard(const struct writing *writing, struct error *err)
{
    static const char *const names[] = {"a.npy", "b.npy", "c.npy"};
    struct archive_out *archive =
        archive_new(scratch(writing->name), writing->form, writing->force, err);
    const bool in_zip = writing->form == ARCHIVE_OUT_NPZ;
    uint64_t n_bytes;
    char sha256[65];
    int result = -1;

    if (archive == NULL)
        return -1;
    archive->comment = "symaug 1 hex8";
    for (size_t i = 0; i < writing->n_members; i++) {
        if (fake_add(archive, &fakes[in_zip ? i : 2], names[i], err) != 0)
            goto out;
    }
    result = write_and_commit(archive, &n_bytes, sha256, err);
out:
    archive_free(archive);
    return result;
}

static void put_old(const struct writing *writing)
{
    const bool is_folder = writing->form == ARCHIVE_OUT_NPY_FOLDER;
    char name[64];

    if (is_folder)
        mkdir(scratch(writing->name), 0777);
    snprintf(name, sizeof name, is_folder ? "%s/old.npy" : "%s", writing->name);
    scratch_put(name, "old");
}

/* 'o': the old one stands there, 'n': a new one, '-': nothing. */
static char what_is_there(const struct writing *writing)
{
    char name[64];
    struct stat st;

    if (lstat(scratch(writing->name), &st) != 0)
        return '-';
    if (!S_ISDIR(st.st_mode))
        return st.st_size == 3 ? 'o' : 'n';
    snprintf(name, sizeof name, "%s/old.npy", writing->name);
    return lstat(scratch(name), &st) == 0 ? 'o' : 'n';
}

/* Only what comes behind the rename may fail and leave the new one there, where an old one was. */
static bool may_stay(const struct writing *writing, const struct error *err)
{
    return writing->force && (strstr(err->message, "cannot sync the folder") != NULL ||
                              strstr(err->message, "cannot close") != NULL);
}

static int write_and_look(const void *what, struct error *err)
{
    const struct writing *writing = what;
    const enum fault_call call = fault.call;
    const char before = writing->force ? 'o' : '-';
    char after;
    int result;

    fault.call = FAULT_NONE;
    if (writing->force)
        put_old(writing);
    fault.call = call;
    result = write_shard(writing, err);
    fault.call = FAULT_NONE;
    after = what_is_there(writing);
    if (result == 0 ? after != 'n' : after != before && !(may_stay(writing, err) && after == 'n'))
        fail_msg("%s: result %d (%s), and what is there: %c", writing->name, result, err->message,
                 after);
    if (scratch_count() != (after != '-'))
        fail_msg("%s: something is left behind: %s", writing->name, err->message);
    scratch_remove(scratch(writing->name));
    unlink(scratch(writing->name));
    fault.call = call;
    return result;
}

static const struct {
    enum fault_call call;
    int errnum;
} calls[] = {
    {FAULT_MALLOC, ENOMEM},    {FAULT_OPEN, EMFILE},  {FAULT_OPEN, EINTR},    {FAULT_PREAD, EINTR},
    {FAULT_FSYNC, EINTR},      {FAULT_PREAD, EIO},    {FAULT_PWRITE, ENOSPC}, {FAULT_PWRITE, EIO},
    {FAULT_PWRITE, EINTR},     {FAULT_FSYNC, EIO},    {FAULT_FSYNC, EINVAL},  {FAULT_CLOSE, EIO},
    {FAULT_RENAME, EIO},       {FAULT_MKDIR, EACCES}, {FAULT_MKDIR, EEXIST},  {FAULT_LOCK, ENOLCK},
    {FAULT_LOCK, EWOULDBLOCK}, {FAULT_FSTAT, EIO},    {FAULT_RENAME, EINVAL},
};

static void test_outputs(void **state)
{
    static const struct writing writings[] = {
        {"new.npz", ARCHIVE_OUT_NPZ, 3, false},    {"old.npz", ARCHIVE_OUT_NPZ, 3, true},
        {"new.npy", ARCHIVE_OUT_NPY, 1, false},    {"old.npy", ARCHIVE_OUT_NPY, 1, true},
        {"new", ARCHIVE_OUT_NPY_FOLDER, 1, false}, {"old", ARCHIVE_OUT_NPY_FOLDER, 1, true},
    };
    uint8_t *raw = make_raw(LARGE_NBYTES);
    int n_failed[FAULT_N_CALLS] = {0};

    (void)state;
    fault.n_forgiven = 4; /* libzip 1.7.3 */
    fake_init(&fakes[0], raw, RAW_NBYTES, true, true);
    fake_init(&fakes[1], raw, RAW_NBYTES, true, false);
    fakes[1].head.unpacked_nbytes =
        RAW_NBYTES; /* libzip 1.7.3 has unchecked allocations for zip64 */
    fake_init(&fakes[2], raw, LARGE_NBYTES, false, true);
    for (size_t i = 0; i < sizeof writings / sizeof *writings; i++)
        for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
            n_failed[calls[k].call] +=
                fault_sweep(write_and_look, &writings[i], calls[k].call, calls[k].errnum);
    for (int call = FAULT_NONE + 1; call < FAULT_N_CALLS; call++)
        if (n_failed[call] == 0 && call != FAULT_MMAP)
            fail_msg("call %d never failed", call);
    for (size_t i = 0; i < 3; i++)
        fake_release(&fakes[i]);
    free(raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_outputs, scratch_setup, scratch_teardown)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
