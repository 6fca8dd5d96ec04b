/*
 * output.c - output files and folders that appear under their final name complete and on disk, or
 * not at all. A file is written through a buffer of 1 MiB to a locked temp file in the target's
 * folder; commit is fsync, rename, fsync of the folder. An old folder is exchanged for the new one
 * in one step where the file system can do that, and is otherwise moved aside first; then it is
 * deleted, if it holds nothing but regular files with the expected suffix.
 *
 * A temp is in use while its flock is held; a free lock means that it is abandoned. (Process ids
 * mean nothing on another machine.) The lock is kept until the temp has its final name, so that
 * another writer of the same target can never remove it. A turn is the lock on the folder itself.
 */
#include "base/output.h"

#include "base/input.h"
#include "base/temps.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_NBYTES    (1u << 20)
#define N_LISTED         4
#define TEMP_INFIX       ".symaug-"
#define TEMP_N_RANDOM    6
#define WAIT_NANOSECONDS (5 * 1000 * 1000)
#define MAX_WAITS        2000
#define MAX_ATTEMPTS     100
#define EXISTS           "it exists (--force replaces it)"

/* --- messages, and calls that a signal may interrupt --- */

/* Set the error "cannot WHAT 'a.npz': ...". Yields -1. */
#define cannot(err, kind, what, name, ...)                                               \
    error_set_at(err, kind, &(const struct error_place){.file = (name), .verb = (what)}, \
                 __VA_ARGS__)

/* Set the error "cannot WHAT 'a.npz': No space left on device" from errno. Returns -1. */
static int failed(struct error *err, enum error_kind kind, const char *what, const char *path)
{
    return error_set_at(
        err, kind, &(struct error_place){.file = path, .verb = what, .errnum = errno}, "%s", "");
}

/* Open the folder of path; -1 with err set. */
static int open_parent(const char *path, struct error *err)
{
    const size_t n_bytes = (size_t)(text_base_name(path) - path);
    char *folder = n_bytes == 0 ? strdup(".") : strndup(path, n_bytes);

    if (folder == NULL)
        return error_no_memory(err, "folder name");
    const int fd = file_open(folder, FOLDER_FLAGS);
    if (fd < 0)
        error_set_at(err, ERROR_CANT_CREATE,
                     &(struct error_place){.file = path, .verb = "create", .errnum = errno},
                     "folder %s", text_quote(folder).text);
    free(folder);
    return fd;
}

static int sync_fd(int fd)
{
    unsigned n_tries = 0;
    int rc;

    do
        rc = fsync(fd);
    while (rc != 0 && retry_interrupted(&n_tries));
    return rc;
}

/* fsync the folder of path. File systems that do not support this are trusted. */
static int sync_folder(int folder_fd, const char *path, struct error *err)
{
    if (sync_fd(folder_fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP)
        return 0;
    return failed(err, ERROR_IO, "sync the folder of", path);
}

/* --- names --- */

int output_folder_check(const char *path, struct error *err)
{
    const int fd = open_parent(path, err);
    int status = fd < 0 ? -1 : faccessat(fd, ".", W_OK, AT_EACCESS);

    if (fd >= 0 && status != 0)
        failed(err, ERROR_CANT_CREATE, "create", path);
    if (fd >= 0 && close(fd) != 0)
        status = failed(err, ERROR_IO, "close the folder of", path);
    return status;
}

int output_target_check(const char *path, bool is_folder, bool force, struct error *err)
{
    const char *name = text_base_name(path), *reason = NULL;
    struct stat st;

    if (path[0] == '\0')
        reason = "the name is empty";
    else if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        reason = "this names a folder";
    else if (lstat(path, &st) != 0)
        return errno == ENOENT ? output_folder_check(path, err)
                               : failed(err, ERROR_CANT_CREATE, "create", path);
    else if (S_ISLNK(st.st_mode) && !is_folder && stat(path, &st) != 0)
        st.st_mode = S_IFREG; /* dangling: treated as a file */
    if (reason == NULL)
        reason = is_folder && !S_ISDIR(st.st_mode)    ? "it exists and is not a folder"
                 : !is_folder && S_ISDIR(st.st_mode)  ? "it is a folder"
                 : !is_folder && !S_ISREG(st.st_mode) ? "it is not a regular file"
                 : !force                             ? EXISTS
                                                      : NULL;
    return reason == NULL ? output_folder_check(path, err)
                          : cannot(err, ERROR_CANT_CREATE, "create", path, "%s", reason);
}

/* ERROR_CANT_CREATE, naming it, if the old folder holds something that must not be deleted. */
static int check_replaceable(const struct output *out, struct error *err)
{
    DIR *folder = opendir(out->path);
    const struct dirent *entry;
    struct stat st;
    int rc = 0;

    if (folder == NULL)
        return errno == ENOENT ? 0 : failed(err, ERROR_CANT_CREATE, "replace", out->path);
    while (rc == 0 && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (!text_ends_with(entry->d_name, out->suffix) ||
             fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
             !S_ISREG(st.st_mode)))
            rc = cannot(err, ERROR_CANT_CREATE, "replace folder", out->path, "it also holds %s",
                        text_quote(entry->d_name).text);
    closedir(folder);
    return rc;
}

/* ".NAME.symaug-", with NAME cut between characters if the temp's name would be too long. */
static void temp_stem(const struct output *out, char stem[NAME_MAX + 1])
{
    const char *name = text_base_name(out->path);
    size_t n_bytes = strlen(name);
    long name_max = fpathconf(out->parent_fd, _PC_NAME_MAX);

    if (name_max < 64 || name_max > NAME_MAX)
        name_max = NAME_MAX;
    const size_t room = (size_t)name_max - sizeof "." TEMP_INFIX + 1 - TEMP_N_RANDOM;
    if (n_bytes > room)
        for (n_bytes = room; n_bytes > 0 && ((uint8_t)name[n_bytes] & 0xc0) == 0x80;)
            n_bytes--;
    snprintf(stem, NAME_MAX + 1, ".%.*s" TEMP_INFIX, (int)n_bytes, name);
}

/* A new temp path beside the target. O_EXCL ensures that it is unique: any number that seldom
 * repeats will do. Owned by the caller; NULL with err set. */
static char *temp_path(const struct output *out, struct error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now = {0, 0};
    char stem[NAME_MAX + 1], random[TEMP_N_RANDOM + 1] = "";
    char *temp;

    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t bits = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32 ^ (uint64_t)getpid() << 16;
    bits = bits * UINT64_C(0x9e3779b97f4a7c15) >> 8;
    for (size_t i = 0; i < TEMP_N_RANDOM; i++, bits /= sizeof letters - 1)
        random[i] = letters[bits % (sizeof letters - 1)];
    temp_stem(out, stem);
    if (asprintf(&temp, "%.*s%s%s", (int)(text_base_name(out->path) - out->path), out->path, stem,
                 random) >= 0)
        return temp;
    error_no_memory(err, "temp file name");
    return NULL;
}

/* --- temps --- */

/*
 * The folders used last, with the names of all temps that each held when it was first used: a
 * folder with thousands of outputs cannot be read for each of them. The folders stay open, so that
 * their inodes are not reused.
 */
static struct listed {
    DIR *folder; /* NULL: unused */
    dev_t device;
    ino_t inode;
    struct text_list temps; /* owned */
} listed[N_LISTED];

static pthread_mutex_t listed_lock = PTHREAD_MUTEX_INITIALIZER;

/* Move the folder to the front of the list, reading it if it is new; NULL if it cannot be read. */
static const struct listed *list_folder(int parent_fd)
{
    const struct dirent *entry;
    struct stat st;
    size_t i = 0;

    if (fstat(parent_fd, &st) != 0)
        return NULL;
    while (i < N_LISTED - 1 && (listed[i].device != st.st_dev || listed[i].inode != st.st_ino))
        i++;
    struct listed found = listed[i];
    if (found.folder == NULL || found.device != st.st_dev || found.inode != st.st_ino) {
        const int at = openat(parent_fd, ".", FOLDER_FLAGS);
        DIR *folder = at < 0 ? NULL : fdopendir(at);

        if (folder == NULL) {
            if (at >= 0)
                close(at);
            return NULL;
        }
        if (found.folder != NULL)
            closedir(found.folder);
        text_list_release(&found.temps);
        found = (struct listed){.folder = folder, .device = st.st_dev, .inode = st.st_ino};
        while ((entry = readdir(folder)) != NULL)
            if (strstr(entry->d_name, TEMP_INFIX) != NULL)
                text_list_add(&found.temps, entry->d_name, NULL);
    }
    memmove(&listed[1], &listed[0], i * sizeof listed[0]);
    listed[0] = found;
    return &listed[0];
}

/* Remove temps of this target whose lock is free and whose name still denotes the inode that was
 * locked. Failures are ignored. */
static void clear_abandoned(const struct output *out)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    char stem[NAME_MAX + 1];
    struct stat held, named;

    temp_stem(out, stem);
    pthread_mutex_lock(&listed_lock);
    const struct listed *in = list_folder(out->parent_fd);
    for (size_t i = 0; in != NULL && i < in->temps.n; i++) {
        const char *name = in->temps.items[i];
        const int at = dirfd(in->folder);

        if (strncmp(name, stem, strlen(stem)) != 0 || strlen(name) != strlen(stem) + TEMP_N_RANDOM)
            continue;
        int fd = openat(at, name, O_RDWR | flags);
        if (fd < 0 && errno == EISDIR)
            fd = openat(at, name, O_RDONLY | O_DIRECTORY | flags);
        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &held) == 0 &&
            fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && held.st_dev == named.st_dev &&
            held.st_ino == named.st_ino) {
            if (S_ISDIR(held.st_mode))
                temp_remove_folder(at, name, fd);
            else if (S_ISREG(held.st_mode))
                unlinkat(at, name, 0);
        }
        close(fd);
    }
    pthread_mutex_unlock(&listed_lock);
}

/* Forget the temp's name, and with is_created also remove the temp. */
static void discard(struct output *out, bool is_created)
{
    if (is_created && out->suffix != NULL)
        temp_remove_folder(AT_FDCWD, out->temp, out->fd);
    else if (is_created)
        unlink(out->temp);
    temp_forget(out->slot);
    free(out->temp);
    out->temp = NULL;
}

/* Open the target's folder, clear abandoned temps, and create and lock a temp with a new name. */
static int create_temp(struct output *out, struct error *err)
{
    const int flags = O_NOFOLLOW | O_CLOEXEC;
    const bool is_folder = out->suffix != NULL;

    out->parent_fd = open_parent(out->path, err);
    if (out->parent_fd < 0)
        return -1;
    clear_abandoned(out);
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        bool is_made = false;
        sigset_t signals;
        struct stat st;

        out->temp = temp_path(out, err);
        if (out->temp == NULL)
            return -1;
        out->slot = temp_begin(out->temp, is_folder, &signals);
        if (out->slot < 0) {
            discard(out, false);
            return cannot(err, ERROR_INTERNAL, "create", out->path, "too many outputs are open");
        }
        if (!is_folder)
            out->fd = open(out->temp, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
        else if ((is_made = mkdir(out->temp, 0777) == 0))
            out->fd = open(out->temp, O_RDONLY | O_DIRECTORY | flags);
        const int errnum = errno;
        temp_made(out->slot, &signals);
        /* Before the lock is held, another writer may take the temp for an abandoned one: then it
         * holds the lock or has unlinked the temp. Without locks nothing is ever cleared. */
        if (out->fd >= 0 &&
            (flock(out->fd, LOCK_EX | LOCK_NB) != 0 ? errno != EWOULDBLOCK
                                                    : fstat(out->fd, &st) == 0 && st.st_nlink > 0))
            return 0;
        discard(out, is_made || out->fd >= 0);
        if (out->fd >= 0)
            close(out->fd);
        errno = errnum;
        if (out->fd < 0 && errno != EEXIST && errno != EINTR && !(is_made && errno == ENOENT))
            return failed(err, ERROR_CANT_CREATE, "create", out->path);
        out->fd = -1;
    }
    return cannot(err, ERROR_CANT_CREATE,
                  is_folder ? "create a temp folder for" : "create a temp file for", out->path,
                  "%s", "");
}

/* --- opening and writing --- */

int output_open(struct output *out, const char *path, bool force, struct error *err)
{
    return output_open_folder(out, path, NULL, force, err);
}

int output_open_folder(struct output *out, const char *path, const char *suffix, bool force,
                       struct error *err)
{
    *out = (struct output){.suffix = suffix, .fd = -1, .parent_fd = -1, .slot = -1};
    out->path = strndup(path, suffix != NULL ? text_path_nbytes(path) : strlen(path));
    out->buffer = malloc(suffix != NULL ? 1 : BUFFER_NBYTES);
    if (out->path == NULL || out->buffer == NULL)
        error_no_memory(err, "output buffer");
    else if (output_target_check(out->path, suffix != NULL, force, err) == 0 &&
             (suffix == NULL || check_replaceable(out, err) == 0) && create_temp(out, err) == 0)
        return 0;
    output_abort(out);
    return -1;
}

int output_flush(struct output *out, struct error *err)
{
    const size_t n_bytes = out->n_buffered;

    out->is_synced = out->is_synced && n_bytes == 0;
    out->n_buffered = 0;
    if (file_write(out->fd, out->offset, out->buffer, n_bytes) != 0)
        return failed(err, ERROR_IO, "write", out->path);
    out->offset += n_bytes;
    return 0;
}

int output_write(struct output *out, const void *bytes, size_t n_bytes, struct error *err)
{
    const uint8_t *from = bytes;
    uint64_t end = out->offset + out->n_buffered;

    if (n_bytes > INT64_MAX - end) {
        errno = EFBIG;
        return failed(err, ERROR_IO, "write", out->path);
    }
    end += n_bytes;
    while (n_bytes > 0) {
        const size_t room = BUFFER_NBYTES - out->n_buffered, n = n_bytes < room ? n_bytes : room;

        memcpy(out->buffer + out->n_buffered, from, n);
        out->n_buffered += n;
        from += n;
        n_bytes -= n;
        if (out->n_buffered == BUFFER_NBYTES && output_flush(out, err) != 0)
            return -1;
    }
    if (end > out->n_bytes)
        out->n_bytes = end;
    return 0;
}

int output_seek(struct output *out, uint64_t offset, struct error *err)
{
    if (offset > out->n_bytes)
        return error_set(err, ERROR_INTERNAL, "seek past the end of %s",
                         text_quote(out->path).text);
    if (output_flush(out, err) != 0)
        return -1;
    out->offset = offset;
    return 0;
}

int output_read(const struct output *out, uint64_t offset, void *bytes, size_t n_bytes,
                struct error *err)
{
    const int64_t n = file_read(out->fd, offset, bytes, n_bytes);

    if (n < 0)
        return failed(err, ERROR_IO, "read back", out->path);
    if ((size_t)n < n_bytes)
        return cannot(err, ERROR_IO, "read back", out->path, "it ends at byte %llu",
                      (unsigned long long)offset + (uint64_t)n);
    return 0;
}

int output_sync(struct output *out, struct error *err)
{
    if (output_flush(out, err) != 0)
        return -1;
    out->is_synced = out->is_synced || sync_fd(out->fd) == 0;
    return out->is_synced ? 0 : failed(err, ERROR_IO, "sync", out->path);
}

/* --- the final name --- */

/* Rename without replacing; ERROR_CANT_CREATE when the target exists. */
static int rename_new(const struct output *out, struct error *err)
{
    struct stat st;
    int rc = renameat2(AT_FDCWD, out->temp, AT_FDCWD, out->path, RENAME_NOREPLACE);

    /* If that is not supported: a hard link fails on an existing name, too. */
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
        rc = link(out->temp, out->path);
        if (rc == 0) {
            unlink(out->temp);
        } else if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) {
            /* No hard links either (folders; FAT): check, then rename. */
            if (lstat(out->path, &st) == 0)
                errno = EEXIST;
            else
                rc = rename(out->temp, out->path);
        }
    }
    if (rc != 0 && errno == EEXIST)
        return cannot(err, ERROR_CANT_CREATE, "create", out->path, EXISTS);
    return rc == 0 ? 0 : failed(err, ERROR_IO, "rename the temp file to", out->path);
}

static int name_file(struct output *out, bool force, struct error *err)
{
    int fd = out->fd;

    if (output_sync(out, err) != 0)
        return -1;
    /* Close the file, which may report an error, but keep its lock. */
    out->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (close(fd) != 0 || out->fd < 0)
        return failed(err, ERROR_IO, "close", out->path);
    if (!force && rename_new(out, err) != 0)
        return -1;
    if (force && rename(out->temp, out->path) != 0)
        return failed(err, ERROR_IO, "rename to", out->path);
    discard(out, false);
    return 0;
}

/* Exchange the names of the old and the new folder, in one step if the file system can. */
static int exchange(const struct output *out, struct error *err)
{
    int rc = -1;

    if (renameat2(AT_FDCWD, out->temp, AT_FDCWD, out->path, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return failed(err, ERROR_IO, "rename to", out->path);
    /* Otherwise move the old folder aside, and back if the new one cannot take its name. */
    char *aside = temp_path(out, err);
    if (aside == NULL)
        return -1;
    if (rename(out->path, aside) != 0) {
        failed(err, ERROR_IO, "move aside", out->path);
    } else if (rename(out->temp, out->path) != 0) {
        failed(err, ERROR_IO, "rename to", out->path);
        rename(aside, out->path);
    } else {
        rename(aside, out->temp);
        rc = 0;
    }
    free(aside);
    return rc;
}

static int name_folder(struct output *out, bool force, struct error *err)
{
    int old_fd = -1, rc = sync_folder(out->fd, out->temp, err);
    struct stat st;

    if (rc == 0 && (!force || lstat(out->path, &st) != 0)) {
        rc = rename_new(out, err);
    } else if (rc == 0 && !S_ISDIR(st.st_mode)) {
        rc = cannot(err, ERROR_CANT_CREATE, "create", out->path, "it exists and is not a folder");
    } else if (rc == 0) {
        /* Opened while it is still possible to give up: the descriptor is needed to delete it. */
        old_fd = file_open(out->path, FOLDER_FLAGS);
        rc = old_fd < 0 ? failed(err, ERROR_IO, "replace", out->path) : check_replaceable(out, err);
        if (rc == 0)
            rc = exchange(out, err);
    }
    if (rc == 0) { /* now the temp path and fd are those of the old folder, or unused and -1 */
        close(out->fd);
        out->fd = old_fd;
    } else if (old_fd >= 0) {
        close(old_fd);
    }
    return rc;
}

int output_commit(struct output *out, bool force, struct error *err)
{
    const bool is_folder = out->suffix != NULL;
    int rc = is_folder ? name_folder(out, force, err) : name_file(out, force, err);

    if (rc == 0) {
        rc = sync_folder(out->parent_fd, out->path, err);
        if (!is_folder && close(out->fd) != 0)
            rc = failed(err, ERROR_IO, "close", out->path);
        if (close(out->parent_fd) != 0)
            rc = failed(err, ERROR_IO, "close the folder of", out->path);
        out->fd = is_folder ? out->fd : -1;
        out->parent_fd = -1;
        if (rc != 0 && !force) { /* there was none before, and the new one is not durable */
            if (is_folder)
                temp_remove_folder(AT_FDCWD, out->path, -1);
            else
                unlink(out->path);
        }
    }
    output_abort(out);
    return rc;
}

void output_abort(struct output *out)
{
    if (out->path != NULL && out->temp != NULL)
        discard(out, true);
    if (out->path != NULL && out->fd >= 0)
        close(out->fd);
    if (out->path != NULL && out->parent_fd >= 0)
        close(out->parent_fd);
    free(out->path);
    free(out->buffer);
    *out = (struct output){.fd = -1, .parent_fd = -1, .slot = -1};
}

int output_put(const char *path, bool force, const void *bytes, size_t n_bytes, struct error *err)
{
    struct output out;
    int rc = -1;

    if (output_open(&out, path, force, err) == 0 && output_write(&out, bytes, n_bytes, err) == 0)
        rc = output_commit(&out, force, err);
    output_abort(&out);
    return rc;
}

int output_remove(const char *path, struct error *err)
{
    if (unlink(path) != 0)
        return errno == ENOENT ? 0 : failed(err, ERROR_IO, "remove", path);
    const int folder_fd = open_parent(path, err);
    if (folder_fd < 0)
        return -1;
    const int rc = sync_folder(folder_fd, path, err);
    close(folder_fd);
    return rc;
}

/* --- turns --- */

int output_turn_take(const char *path)
{
    const struct timespec wait = {.tv_nsec = WAIT_NANOSECONDS};
    int fd = open_parent(path, NULL);

    for (int i = 0; fd >= 0 && i < MAX_WAITS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
            break;
        nanosleep(&wait, NULL);
    }
    return fd;
}

void output_turn_end(int turn)
{
    if (turn >= 0)
        close(turn);
}
