/*
 * inject.c - a library for LD_PRELOAD that makes chosen calls of a program fail.
 *
 * INJECT=CALL:ERROR:N    the N-th CALL fails with ERROR (ENOSPC, EIO, ...); N+ means all later ones
 *                        too. CALL is a name of `call_names`; `short` cuts the N-th write to one
 *                        byte, and its ERROR means nothing.
 * INJECT_COUNTS=FILE     one 64-bit counter per call, in the order of `call_names`, then the number
 *                        of calls that were made to fail. The file is mapped: its numbers outlive
 *                        whatever end the program comes to.
 *
 * Only calls through the dynamic linker are seen: stdio's own reads and writes are not.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum call {
    CALL_MALLOC,
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_SHORT,
    CALL_FSYNC,
    CALL_CLOSE, /* of files opened for writing */
    CALL_RENAME,
    CALL_LINK,
    CALL_MMAP, /* of files */
    CALL_TRUNCATE,
    CALL_MKDIR,
    CALL_FSTAT,
    CALL_N
};

static const char *const call_names[CALL_N] = {
    "malloc", "open", "read", "write",    "short", "fsync", "close",
    "rename", "link", "mmap", "truncate", "mkdir", "fstat",
};

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO},       {"EINTR", EINTR},
    {"ENOMEM", ENOMEM}, {"ESTALE", ESTALE}, {"EACCES", EACCES}, {"EMFILE", EMFILE},
    {"EINVAL", EINVAL}, {"ENOSYS", ENOSYS}, {"EROFS", EROFS},
};

struct counts {
    _Atomic uint64_t n_calls[CALL_N];
    _Atomic uint64_t n_failed;
};

static struct counts private_counts;
static struct counts *counts = &private_counts;
static int chosen = -1;
static int error_number = EIO;
static uint64_t fails_at;
static bool fails_on;

static void __attribute__((noreturn)) complain(const char *what)
{
    dprintf(STDERR_FILENO, "inject: bad %s\n", what);
    _exit(99);
}

static void map_counts(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT, 0666);
    long map;

    if (fd < 0 || syscall(SYS_ftruncate, fd, sizeof *counts) != 0)
        complain("INJECT_COUNTS");
    map = syscall(SYS_mmap, NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == -1)
        complain("INJECT_COUNTS");
    counts = (struct counts *)map;
    syscall(SYS_close, fd);
}

static void parse(const char *text)
{
    char call[16], error[16], end[2] = "";
    unsigned long long n;
    bool known = false;

    if (sscanf(text, "%15[^:]:%15[^:]:%llu%1[+]", call, error, &n, end) < 3)
        complain("INJECT");
    for (int i = 0; i < CALL_N; i++)
        if (strcmp(call, call_names[i]) == 0)
            chosen = i;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(error, errors[i].name) == 0) {
            error_number = errors[i].number;
            known = true;
        }
    if (chosen < 0 || !known)
        complain("INJECT");
    fails_at = n;
    fails_on = end[0] == '+';
}

/* Calls before this one (the loader's, other constructors') are neither counted nor failed. */
static bool is_ready;

static void __attribute__((constructor)) begin(void)
{
    const char *text = getenv("INJECT"), *path = getenv("INJECT_COUNTS");

    if (path != NULL)
        map_counts(path);
    if (text != NULL)
        parse(text);
    is_ready = true;
}

/* Count a call; true with errno set when it is to fail. */
static bool fails(enum call call)
{
    uint64_t n;

    if (!is_ready)
        return false;
    n = atomic_fetch_add(&counts->n_calls[call], 1) + 1;
    if ((int)call != chosen || (n != fails_at && !(fails_on && n > fails_at)))
        return false;
    atomic_fetch_add(&counts->n_failed, 1);
    errno = error_number;
    return true;
}

/* Memory: glibc's own names, so that nothing is looked up from inside an allocation. */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static bool memory_fails(void)
{
    if (!fails(CALL_MALLOC))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t n)
{
    return memory_fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return memory_fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
    return memory_fails() ? NULL : __libc_realloc(old, n);
}

void *memalign(size_t alignment, size_t n);

void *memalign(size_t alignment, size_t n)
{
    return memory_fails() ? NULL : __libc_memalign(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **memory, size_t alignment, size_t n)
{
    void *made = memalign(alignment, n);

    if (made == NULL)
        return ENOMEM;
    *memory = made;
    return 0;
}

/* Files: straight to the kernel, so that nothing needs to be looked up. */

static int open_file(int folder, const char *path, int flags, va_list mode)
{
    unsigned bits = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(mode, unsigned) : 0;

    return fails(CALL_OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, bits);
}

#define OPEN(name)                                   \
    int name(const char *path, int flags, ...)       \
    {                                                \
        va_list mode;                                \
        int fd;                                      \
                                                     \
        va_start(mode, flags);                       \
        fd = open_file(AT_FDCWD, path, flags, mode); \
        va_end(mode);                                \
        return fd;                                   \
    }
#define OPENAT(name)                                       \
    int name(int folder, const char *path, int flags, ...) \
    {                                                      \
        va_list mode;                                      \
        int fd;                                            \
                                                           \
        va_start(mode, flags);                             \
        fd = open_file(folder, path, flags, mode);         \
        va_end(mode);                                      \
        return fd;                                         \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* What has no simple way to the kernel. */
#define NEXT(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

FILE *fopen64(const char *path, const char *mode)
{
    typedef FILE *function(const char *, const char *);

    return fails(CALL_OPEN) ? NULL : NEXT(function *, "fopen64")(path, mode);
}

int mkostemp64(char *path, int flags)
{
    typedef int function(char *, int);

    return fails(CALL_OPEN) ? -1 : NEXT(function *, "mkostemp64")(path, flags);
}

ssize_t read(int fd, void *bytes, size_t n)
{
    return fails(CALL_READ) ? -1 : syscall(SYS_read, fd, bytes, n);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t offset)
{
    return fails(CALL_READ) ? -1 : syscall(SYS_pread64, fd, bytes, n, offset);
}

ssize_t pread64(int fd, void *bytes, size_t n, off_t offset) __attribute__((alias("pread")));

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (fd <= STDERR_FILENO)
        return syscall(SYS_write, fd, bytes, n);
    if (fails(CALL_WRITE))
        return -1;
    return syscall(SYS_write, fd, bytes, n > 1 && fails(CALL_SHORT) ? 1 : n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    if (fails(CALL_WRITE))
        return -1;
    return syscall(SYS_pwrite64, fd, bytes, n > 1 && fails(CALL_SHORT) ? 1 : n, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off_t offset)
    __attribute__((alias("pwrite")));

int fsync(int fd)
{
    return fails(CALL_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    return fails(CALL_FSYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

/* The descriptor is closed all the same, as the kernel does. */
int close(int fd)
{
    long flags = syscall(SYS_fcntl, fd, F_GETFL);
    bool is_written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && fd > STDERR_FILENO;
    int rc = (int)syscall(SYS_close, fd);

    return is_written && fails(CALL_CLOSE) ? -1 : rc;
}

int rename(const char *from, const char *to)
{
    return fails(CALL_RENAME) ? -1 : (int)syscall(SYS_rename, from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (fails(CALL_RENAME))
        return -1;
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    return fails(CALL_LINK) ? -1 : (int)syscall(SYS_link, from, to);
}

void *mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset)
{
    if (fd >= 0 && fails(CALL_MMAP))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, n, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t n, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("mmap")));

int ftruncate(int fd, off_t n)
{
    return fails(CALL_TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int ftruncate64(int fd, off_t n) __attribute__((alias("ftruncate")));

int mkdir(const char *path, mode_t mode)
{
    return fails(CALL_MKDIR) ? -1 : (int)syscall(SYS_mkdir, path, mode);
}

int fstat(int fd, struct stat *st)
{
    return fails(CALL_FSTAT) ? -1 : (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

int fstat64(int fd, struct stat64 *st)
{
    return fails(CALL_FSTAT) ? -1 : (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}
