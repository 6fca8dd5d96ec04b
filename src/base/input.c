/*
 * input.c - input files, mapped or read by pread. A map of a file on a network would turn every
 * error into a signal, so only files of file systems that are known to be local are mapped; and one
 * of a small file is not worth its page faults.
 *
 * Touching a page beyond the end of a mapped file raises SIGBUS in that thread. Each thread notes
 * the map that it is about to copy from; if the fault lies inside that map, the handler jumps back
 * to the copy, and otherwise passes the signal to the previous handler. Nothing else in the program
 * may touch mapped bytes.
 */
#include "base/input.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SMALL_NBYTES   (64u << 10) /* smaller files are not mapped */
#define RELEASE_NBYTES (4u << 20)
#define STEP_NBYTES    (1u << 30) /* at most per system call */

/* --- the guard --- */

struct guard {
    sigjmp_buf jump;
    const uint8_t *begin;
    const uint8_t *end;
    volatile sig_atomic_t armed;
};

/* initial-exec: the handler must not be the first to touch it, which could allocate. */
static _Thread_local struct guard guard __attribute__((tls_model("initial-exec")));

static struct sigaction previous;
static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_sigbus(int signum, siginfo_t *info, void *context)
{
    const uint8_t *address = info->si_addr;

    (void)context;
    /* si_code is positive for faults only; si_addr of a kill(2) means nothing */
    if (guard.armed && info->si_code > 0 && address >= guard.begin && address < guard.end) {
        guard.armed = 0;
        siglongjmp(guard.jump, 1);
    }
    sigaction(signum, &previous, NULL);
    raise(signum);
}

/* Install the handler unless it is installed: called for each new map, since the program may have
 * replaced it. -1 (no error set): nothing may be copied from a map. */
static int guard_install(void)
{
    struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO}, current;

    sigemptyset(&action.sa_mask);
    pthread_mutex_lock(&install_lock);
    int result = sigaction(SIGBUS, NULL, &current);
    if (result == 0 &&
        !((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_sigbus)) {
        previous = current; /* set before the handler may need it */
        result = sigaction(SIGBUS, &action, NULL);
    }
    pthread_mutex_unlock(&install_lock);
    return result;
}

/* Copy bytes of a map. Returns their number, or -1 (no error set) if a page could not be read; what
 * was copied is undefined then. Thread-safe. */
static int64_t guard_copy(void *to, const struct input *in, uint64_t offset, size_t n_bytes)
{
    guard.begin = in->map;
    guard.end = in->map + in->n_bytes;
    /* saves the mask: SIGBUS is blocked inside the handler and must be unblocked for the next one
     */
    if (sigsetjmp(guard.jump, 1) != 0)
        return -1;
    guard.armed = 1;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(to, in->map + offset, n_bytes);
    atomic_signal_fence(memory_order_seq_cst);
    guard.armed = 0;
    return (int64_t)n_bytes;
}

/* --- files --- */

int file_open(const char *path, int flags)
{
    unsigned n_tries = 0;
    int fd;

    do
        fd = open(path, flags, 0600);
    while (fd < 0 && retry_interrupted(&n_tries));
    return fd;
}

/* pread or pwrite until all bytes are transferred or there are no more. */
static int64_t transfer(int fd, uint64_t offset, uint8_t *bytes, size_t n_bytes, bool writes)
{
    unsigned n_tries = 0;
    size_t n_done = 0;

    while (n_done < n_bytes) {
        const size_t n_left = n_bytes - n_done,
                     n_step = n_left < STEP_NBYTES ? n_left : STEP_NBYTES;
        const off_t at = (off_t)(offset + n_done);
        const ssize_t n =
            writes ? pwrite(fd, bytes + n_done, n_step, at) : pread(fd, bytes + n_done, n_step, at);

        if (n < 0 && retry_interrupted(&n_tries))
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        n_done += (size_t)n;
    }
    return (int64_t)n_done;
}

int64_t file_read(int fd, uint64_t offset, void *out, size_t n_bytes)
{
    return transfer(fd, offset, out, n_bytes, false);
}

int file_write(int fd, uint64_t offset, const void *bytes, size_t n_bytes)
{
    const int64_t n = transfer(fd, offset, (uint8_t *)(uintptr_t)bytes, n_bytes, true);

    if (n >= 0 && (size_t)n < n_bytes)
        errno = EIO;
    return n >= 0 && (size_t)n == n_bytes ? 0 : -1;
}

/* Local file systems, as statfs(2) and the kernel's linux/magic.h number them. */
static const uint32_t local_file_systems[] = {
    0xef53,     /* ext2 to ext4 */
    0x58465342, /* XFS */
    0x9123683e, /* Btrfs */
    0x2fc12fc1, /* ZFS */
    0x01021994, /* tmpfs */
    0x794c7630, /* overlayfs */
};

int input_open(struct input *in, const char *path, bool use_map, struct error *err)
{
    static const int absent[] = {ENOENT,  EACCES,       EPERM, ELOOP,
                                 ENOTDIR, ENAMETOOLONG, ENXIO, ENODEV};
    enum error_kind kind = ERROR_IO;
    bool is_local = false;
    struct statfs fs;
    struct stat st;
    void *map;

    memset(in, 0, sizeof *in);
    in->fd = -1;
    in->path = strdup(path);
    if (in->path == NULL)
        return error_no_memory(err, "path of an input");
    in->fd = file_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    for (size_t i = 0; in->fd < 0 && i < N_OF(absent); i++)
        if (errno == absent[i])
            kind = ERROR_NO_INPUT;
    if (in->fd < 0) {
        error_set_at(err, kind, ERROR_IN_ERRNO(path), "cannot open%s",
                     errno == EMFILE
                         ? " (all inputs of a run are open at once: give fewer at a time, or raise "
                           "the limit with `ulimit -n`)"
                     : errno == ENOENT && strpbrk(path, "*?") != NULL
                         ? " (it is a pattern that no name matches)"
                         : "");
        goto out;
    }
    if (fstat(in->fd, &st) != 0) {
        error_set_at(err, ERROR_IO, ERROR_IN_ERRNO(path), "cannot examine");
        goto out;
    }
    if (!S_ISREG(st.st_mode)) {
        error_set_at(err, ERROR_DATA, ERROR_IN(path), "expected a regular file, found %s",
                     S_ISDIR(st.st_mode)    ? "a folder"
                     : S_ISFIFO(st.st_mode) ? "a pipe"
                     : S_ISSOCK(st.st_mode) ? "a socket"
                                            : "a device");
        goto out;
    }
    in->n_bytes = (uint64_t)st.st_size;
    in->opened = st;
    use_map &= in->n_bytes >= SMALL_NBYTES && in->n_bytes <= SIZE_MAX && fstatfs(in->fd, &fs) == 0;
    for (size_t i = 0; use_map && i < N_OF(local_file_systems); i++)
        is_local |= (uint32_t)fs.f_type == local_file_systems[i];
    if (!is_local || guard_install() != 0)
        return 0;
    map = mmap(NULL, (size_t)in->n_bytes, PROT_READ, MAP_PRIVATE, in->fd, 0);
    if (map == MAP_FAILED)
        return 0; /* pread does as well */
    madvise(map, (size_t)in->n_bytes, MADV_SEQUENTIAL);
    in->map = map;
    return 0;
out:
    input_close(in);
    return -1;
}

int input_of_memory(struct input *in, const char *name, const void *bytes, uint64_t n_bytes,
                    struct error *err)
{
    *in = (struct input){.path = strdup(name), .fd = -1, .map = bytes, .n_bytes = n_bytes};
    return in->path != NULL ? 0 : error_no_memory(err, "path of an input");
}

void input_close(struct input *in)
{
    if (in->path == NULL)
        return;
    if (in->map != NULL && in->fd >= 0)
        munmap((void *)(uintptr_t)in->map, (size_t)in->n_bytes);
    if (in->fd >= 0)
        close(in->fd);
    free(in->path);
    memset(in, 0, sizeof *in);
    in->fd = -1;
}

int input_read(const struct input *in, uint64_t offset, void *out, size_t n_bytes,
               struct error *err)
{
    struct stat st;
    uint64_t end;

    if (__builtin_add_overflow(offset, n_bytes, &end) || end > in->n_bytes)
        return error_set_at(err, ERROR_DATA, ERROR_IN(in->path),
                            "expected at least %llu bytes, found that the file ends at byte %llu",
                            (unsigned long long)end, (unsigned long long)in->n_bytes);
    if (n_bytes == 0)
        return 0;
    if (in->fd < 0 && in->map != NULL) { /* bytes in memory */
        memcpy(out, in->map + offset, n_bytes);
        return 0;
    }
    const int64_t n = in->map != NULL ? guard_copy(out, in, offset, n_bytes)
                                      : file_read(in->fd, offset, out, n_bytes);
    if (n == (int64_t)n_bytes)
        return 0;
    if (n < 0 && in->map == NULL)
        return error_set_at(err, ERROR_IO, ERROR_IN_ERRNO(in->path), "cannot read");
    /* A fault inside the map: the file is shorter now, or the device failed. */
    if (n < 0 && (fstat(in->fd, &st) != 0 || (uint64_t)st.st_size >= end))
        return error_set_at(err, ERROR_IO, ERROR_IN(in->path),
                            "cannot read: the device failed under the file's map");
    return error_set_at(err, ERROR_DATA, ERROR_IN(in->path),
                        "the file was truncated while it was read");
}

int input_read_scattered(const struct input *in, uint64_t offset, void *out, size_t n_bytes,
                         struct error *err)
{
    struct input unmapped = *in;

    if (in->fd >= 0)
        unmapped.map = NULL;
    return input_read(&unmapped, offset, out, n_bytes, err);
}

char *input_load(const char *path, uint64_t max_nbytes, const char *what, size_t *n_bytes,
                 struct error *err)
{
    struct input in;
    char *bytes = NULL;

    *n_bytes = 0;
    if (input_open(&in, path, false, err) != 0)
        return NULL;
    *n_bytes = (size_t)in.n_bytes;
    if (in.n_bytes <= max_nbytes && (bytes = calloc(1, *n_bytes + 1)) == NULL)
        error_no_memory(err, what);
    if (bytes != NULL && input_read(&in, 0, bytes, *n_bytes, err) != 0) {
        free(bytes);
        bytes = NULL;
    }
    input_close(&in);
    return bytes;
}

void input_release_before(const struct input *in, uint64_t offset, uint64_t *released)
{
    uint64_t end = offset / RELEASE_NBYTES * RELEASE_NBYTES;
    uint64_t begin = *released / RELEASE_NBYTES * RELEASE_NBYTES;

    if (in->map == NULL || in->fd < 0 || end <= begin || end > in->n_bytes)
        return;
    madvise((void *)(uintptr_t)(in->map + begin), (size_t)(end - begin), MADV_DONTNEED);
    *released = end;
}

int input_unchanged(const struct input *in, struct error *err)
{
    struct stat st;

    if (in->fd < 0)
        return 0;
    if (fstat(in->fd, &st) != 0)
        return error_set_at(err, ERROR_IO, ERROR_IN_ERRNO(in->path), "cannot examine");
    if ((uint64_t)st.st_size != in->n_bytes)
        return error_set_at(err, ERROR_DATA, ERROR_IN(in->path),
                            "changed while it was read: expected %llu bytes, found %llu",
                            (unsigned long long)in->n_bytes, (unsigned long long)st.st_size);
    if (st.st_ino != in->opened.st_ino || st.st_dev != in->opened.st_dev ||
        st.st_mtim.tv_sec != in->opened.st_mtim.tv_sec ||
        st.st_mtim.tv_nsec != in->opened.st_mtim.tv_nsec)
        return error_set_at(err, ERROR_DATA, ERROR_IN(in->path), "changed while it was read");
    return 0;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Not alphasort, which depends on the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int folder_list(const char *path, struct text_list *paths, struct error *err)
{
    struct dirent **entries = NULL;
    struct text one = {0};
    const int n = scandir(path, &entries, is_shown, by_name);
    int status =
        n >= 0 ? 0
               : error_set_at(err, errno == EACCES || errno == ENOENT ? ERROR_NO_INPUT : ERROR_IO,
                              ERROR_IN_ERRNO(path), "cannot list");

    for (int i = 0; i < n; i++) {
        one.n_bytes = 0;
        if (status == 0)
            status = text_append(&one, err, "%.*s/%s", (int)text_path_nbytes(path), path,
                                 entries[i]->d_name);
        if (status == 0)
            status = text_list_add(paths, one.text, err);
        free(entries[i]);
    }
    free(entries);
    text_release(&one);
    return status;
}
