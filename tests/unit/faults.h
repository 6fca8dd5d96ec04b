/*
 * faults.h - every call that a piece of work makes, made to fail: the n-th one for each n, once or
 * from there on. Include cmocka.h and scratch.h before; for one source file per program.
 *
 * The definitions below take the place of libc's in the whole test program, libraries included.
 * Nothing may be lost on the way: memory and file descriptors are counted.
 */
#pragma once

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define FAULT_N_TRIES 20

enum fault_call {
    FAULT_NONE,
    FAULT_MALLOC,
    FAULT_OPEN,
    FAULT_PREAD,
    FAULT_PWRITE,
    FAULT_FSTAT,
    FAULT_MMAP,
    FAULT_FSYNC,
    FAULT_CLOSE, /* of files open for writing */
    FAULT_RENAME,
    FAULT_MKDIR,
    FAULT_LOCK,
    FAULT_N_CALLS
};

static struct {
    enum fault_call call;
    int at;     /* the n-th such call fails, from 1; 0: none */
    bool after; /* and all later ones */
    int errnum;
    int n_seen;
    int n_failed;
    long n_forgiven; /* blocks that a library is known to lose when an allocation fails */
    long n_blocks;   /* of memory, since the work began, less those that were freed */
} fault;

static bool fault_hit(enum fault_call call)
{
    int n;

    if (call != fault.call)
        return false;
    n = ++fault.n_seen;
    if (fault.at == 0 || (n != fault.at && !(fault.after && n > fault.at)))
        return false;
    fault.n_failed++;
    errno = fault.errnum;
    return true;
}

#pragma GCC visibility push(default) /* libraries are to find them as well */

/* A sanitizer has an allocator of its own; then allocations are left alone. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAULT_MEMORY false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FAULT_MEMORY false
#endif
#endif
#ifndef FAULT_MEMORY
#define FAULT_MEMORY true

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t n);
void __libc_free(void *block);

static void *fault_count(void *block)
{
    fault.n_blocks += block != NULL;
    return block;
}

void *malloc(size_t n)
{
    return fault_hit(FAULT_MALLOC) ? NULL : fault_count(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return fault_hit(FAULT_MALLOC) ? NULL : fault_count(__libc_calloc(n, size));
}

void *realloc(void *block, size_t n)
{
    if (fault_hit(FAULT_MALLOC))
        return NULL;
    fault.n_blocks -= block != NULL;
    return fault_count(__libc_realloc(block, n));
}

void *reallocarray(void *block, size_t n, size_t size)
{
    size_t n_bytes;

    return __builtin_mul_overflow(n, size, &n_bytes) ? NULL : realloc(block, n_bytes);
}

void free(void *block)
{
    fault.n_blocks -= block != NULL;
    __libc_free(block);
}
#endif

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if ((flags & (O_CREAT | O_TMPFILE)) != 0)
        mode = va_arg(args, mode_t);
    va_end(args);
    return fault_hit(FAULT_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t pread(int fd, void *bytes, size_t n_bytes, off_t offset)
{
    return fault_hit(FAULT_PREAD) ? -1 : syscall(SYS_pread64, fd, bytes, n_bytes, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t n_bytes, off_t offset)
{
    return fault_hit(FAULT_PWRITE) ? -1 : syscall(SYS_pwrite64, fd, bytes, n_bytes, offset);
}

int fstat(int fd, struct stat *st)
{
    return fault_hit(FAULT_FSTAT) ? -1 : fstatat(fd, "", st, AT_EMPTY_PATH);
}

void *mmap(void *at, size_t n_bytes, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0 && fault_hit(FAULT_MMAP))
        return MAP_FAILED;
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): what the system call returns */
    return (void *)syscall(SYS_mmap, at, n_bytes, protection, flags, fd, offset);
}

int fsync(int fd)
{
    return fault_hit(FAULT_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int close(int fd)
{
    const bool written = fcntl(fd, F_GETFL) > 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
    const bool fail = written && fault_hit(FAULT_CLOSE);
    int result = (int)syscall(SYS_close, fd);

    if (!fail)
        return result;
    errno = fault.errnum;
    return -1;
}

int rename(const char *from, const char *to)
{
    return fault_hit(FAULT_RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    return fault_hit(FAULT_RENAME) ? -1
                                   : (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

int mkdir(const char *path, mode_t mode)
{
    return fault_hit(FAULT_MKDIR) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int flock(int fd, int operation)
{
    return fault_hit(FAULT_LOCK) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

/* The kind of file system that every file is said to lie on: 0, it cannot be told. */
static bool fault_told_file_system;
static uint32_t fault_file_system;

int fstatfs(int fd, struct statfs *fs)
{
    if (!fault_told_file_system)
        return (int)syscall(SYS_fstatfs, fd, fs);
    *fs = (struct statfs){.f_type = (__typeof__(fs->f_type))fault_file_system};
    errno = EIO;
    return fault_file_system == 0 ? -1 : 0;
}

#pragma GCC visibility pop

/* The number of the next file descriptor: grows by those that nobody closed. */
static int fault_next_fd(void)
{
    int fd = dup(0);

    assert_true(fd >= 0);
    syscall(SYS_close, fd);
    return fd;
}

/* Work that is done anew each time, from nothing to nothing: 0, or -1 with err set. */
typedef int (*fault_work)(const void *what, struct error *err);

/* One run; what it said is in *err. */
static int fault_run_once(fault_work work, const void *what, enum fault_call call, int at,
                          bool after, int errnum, struct error *err)
{
    const int next_fd = fault_next_fd();
    int result;

    fault.call = call;
    fault.at = at;
    fault.after = after;
    fault.errnum = errnum;
    fault.n_seen = fault.n_failed = 0;
    *err = (struct error){0};
    result = work(what, err);
    fault.call = FAULT_NONE;
    if (fault_next_fd() != next_fd)
        fail_msg("call %d, failure %d: a file is left open", (int)call, at);
    return result;
}

/* Libraries keep some of what they allocate when something happens to them for the first time: what
 * is lost time and again is lost. */
static int fault_run(fault_work work, const void *what, enum fault_call call, int at, bool after,
                     int errnum, struct error *err)
{
    int result = -1;

    for (int i = 0; i < FAULT_N_TRIES; i++) {
        fault.n_blocks = 0;
        result = fault_run_once(work, what, call, at, after, errnum, err);
        if (fault.n_blocks <= (fault.n_failed > 0 ? fault.n_forgiven : 0))
            return result;
    }
    fail_msg("call %d, failure %d: %ld blocks of memory are lost", (int)call, at, fault.n_blocks);
    return result;
}

/*
 * Let each of the calls of that kind fail, once, and then with all later ones. The work fails with
 * a message, or succeeds all the same (it checks by itself that it did). Returns how many runs met
 * the failure and failed.
 */
static int fault_sweep(fault_work work, const void *what, enum fault_call call, int errnum)
{
    struct error err;
    int n, n_failed = 0;

    if (call == FAULT_MALLOC && !FAULT_MEMORY)
        return 1;
    if (fault_run(work, what, call, 0, false, 0, &err) != 0)
        fail_msg("undisturbed: %s", err.message);
    n = fault.n_seen;
    for (int i = 0; i < 2 * n; i++) {
        int result = fault_run(work, what, call, 1 + i / 2, i % 2 != 0, errnum, &err);

        if ((result == 0) != (err.kind == ERROR_NONE))
            fail_msg("call %d, failure %d: result %d, message '%s'", (int)call, 1 + i / 2, result,
                     err.message);
        if (result != 0 && (err.message[0] == '\0' || err.kind == ERROR_USAGE))
            fail_msg("call %d, failure %d: kind %d, message '%s'", (int)call, 1 + i / 2,
                     (int)err.kind, err.message);
        if (result != 0 && call == FAULT_MALLOC && err.kind != ERROR_INTERNAL)
            fail_msg("allocation %d: kind %d, message '%s'", 1 + i / 2, (int)err.kind, err.message);
        n_failed += result != 0;
    }
    return n_failed;
}
