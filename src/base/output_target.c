/*
 * output_target.c - what output files and output folders share: messages, the check of a target's
 * name, temps with their names and locks, clearing away what a killed run left, the rename that
 * replaces nothing, and turns.
 *
 * A temp is in use while its flock is held, so a free lock tells an abandoned one, without ids of
 * processes that mean nothing on another machine. Open temps stand in a fixed table of atomic
 * states, because a signal handler may neither allocate nor lock. A turn is the lock on the folder
 * itself.
 */
#include "base/output_target.h"

#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define N_SLOTS          256
#define TEMP_INFIX       ".symaug-"
#define TEMP_N_RANDOM    6
#define WAIT_NANOSECONDS (5 * 1000 * 1000)
#define MAX_WAITS        2000
#define MAX_ATTEMPTS     100
#define FOLDER_FLAGS     (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* --- messages, and calls that a signal may interrupt --- */

int output_failed(struct error *err, enum error_kind kind, const char *what, const char *path)
{
    return error_set_at(
        err, kind, &(struct error_place){.file = path, .verb = what, .errnum = errno}, "%s", "");
}

int output_cant_create(struct error *err, const char *path, const char *reason)
{
    return error_set_at(err, ERROR_CANT_CREATE,
                        &(struct error_place){.file = path, .verb = "create"}, "%s", reason);
}

int output_open_folder(const char *path)
{
    unsigned n_tries = 0;
    int fd;

    do
        fd = open(path, FOLDER_FLAGS);
    while (fd < 0 && retry_interrupted(&n_tries));
    return fd;
}

int output_fsync(int fd)
{
    unsigned n_tries = 0;
    int rc;

    do
        rc = fsync(fd);
    while (rc != 0 && retry_interrupted(&n_tries));
    return rc;
}

int output_sync_folder(int folder_fd, const char *path, struct error *err)
{
    if (output_fsync(folder_fd) == 0 || errno == EINVAL || errno == EOPNOTSUPP)
        return 0;
    return output_failed(err, ERROR_IO, "sync the folder of", path);
}

int output_open_parent(const char *path, struct error *err)
{
    const size_t n_bytes = (size_t)(text_base_name(path) - path);
    char *folder = n_bytes == 0 ? strdup(".") : strndup(path, n_bytes);
    int fd;

    if (folder == NULL)
        return error_no_memory(err, "folder name");
    fd = output_open_folder(folder);
    if (fd < 0)
        error_set_at(err, ERROR_CANT_CREATE,
                     &(struct error_place){.file = path, .verb = "create", .errnum = errno},
                     "folder %s", text_quote(folder).text);
    free(folder);
    return fd;
}

/* --- temps that are open now --- */

/*
 * A slot is written by its owner only between FREE and OPEN, and read by a handler only after it
 * has turned OPEN into REMOVED. A removed slot is never used again: a path cannot change under a
 * handler that runs in another thread.
 */
enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_OPEN, SLOT_REMOVED };

static struct slot {
    _Atomic int state;
    bool is_folder;
    char path[PATH_MAX];
} slots[N_SLOTS];

static bool change_state(struct slot *slot, int from, int to)
{
    return atomic_compare_exchange_strong(&slot->state, &from, to);
}

/* Note a temp before it is created; -1 when the table is full or the path is too long. */
static int slot_take(const char *path, bool is_folder)
{
    const size_t n_bytes = strlen(path) + 1;

    for (int i = 0; i < N_SLOTS && n_bytes <= sizeof slots[i].path; i++) {
        if (!change_state(&slots[i], SLOT_FREE, SLOT_FILLING))
            continue;
        memcpy(slots[i].path, path, n_bytes);
        slots[i].is_folder = is_folder;
        atomic_store(&slots[i].state, SLOT_OPEN);
        return i;
    }
    return -1;
}

/* Unlink what one reading of the folder lists; returns the number of files unlinked. By the system
 * call itself: libc's functions are not for signal handlers. */
static int unlink_listed(int fd)
{
    _Alignas(struct dirent64) char buffer[2048];
    int n_unlinked = 0;
    long n_bytes;

    while ((n_bytes = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
        const struct dirent64 *entry;

        for (long at = 0; at < n_bytes; at += entry->d_reclen) {
            entry = (const void *)(buffer + at);
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                unlinkat(fd, entry->d_name, 0) == 0)
                n_unlinked++;
        }
    }
    return n_unlinked;
}

void output_remove_folder(const char *path, int fd)
{
    int own_fd = -1;

    if (fd < 0)
        fd = own_fd = open(path, FOLDER_FLAGS | O_NOFOLLOW);
    /* Unlinking while reading may skip entries: read again until nothing is left to unlink. */
    while (fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 && unlink_listed(fd) > 0)
        continue;
    if (own_fd >= 0)
        close(own_fd);
    rmdir(path);
}

void output_remove_temps(void)
{
    int saved_errno = errno;

    for (int i = 0; i < N_SLOTS; i++) {
        if (!change_state(&slots[i], SLOT_OPEN, SLOT_REMOVED))
            continue;
        if (slots[i].is_folder)
            output_remove_folder(slots[i].path, -1);
        else
            unlink(slots[i].path);
    }
    errno = saved_errno;
}

/* --- names --- */

int output_target_check(const char *path, bool is_folder, bool force, struct error *err)
{
    const char *name = text_base_name(path);
    struct stat st;

    if (path[0] == '\0')
        return output_cant_create(err, path, "the name is empty");
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return output_cant_create(err, path, "this names a folder");
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : output_failed(err, ERROR_CANT_CREATE, "create", path);
    if (S_ISLNK(st.st_mode) && !is_folder && stat(path, &st) != 0)
        st.st_mode = S_IFREG; /* dangling: replaced as a file would be */
    if (!is_folder && S_ISDIR(st.st_mode))
        return output_cant_create(err, path, "it is a folder");
    if (is_folder && !S_ISDIR(st.st_mode))
        return output_cant_create(err, path, "it exists and is not a folder");
    if (!is_folder && !S_ISREG(st.st_mode))
        return output_cant_create(err, path, "it is not a regular file");
    if (!force)
        return output_cant_create(err, path, "it exists (--force replaces it)");
    return 0;
}

/* ".NAME.symaug-", NAME cut where the whole temp name would be too long, between characters. */
static void temp_stem(const char *path, int folder_fd, char stem[NAME_MAX + 1])
{
    const char *name = text_base_name(path);
    size_t n_bytes = strlen(name);
    long name_max = fpathconf(folder_fd, _PC_NAME_MAX);
    size_t room;

    if (name_max < 64 || name_max > NAME_MAX)
        name_max = NAME_MAX;
    room = (size_t)name_max - sizeof "." TEMP_INFIX + 1 - TEMP_N_RANDOM;
    if (n_bytes > room)
        for (n_bytes = room; n_bytes > 0 && ((uint8_t)name[n_bytes] & 0xc0) == 0x80;)
            n_bytes--;
    snprintf(stem, NAME_MAX + 1, ".%.*s" TEMP_INFIX, (int)n_bytes, name);
}

char *output_temp_path(const char *path, int folder_fd, struct error *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now = {0, 0};
    char stem[NAME_MAX + 1], random[TEMP_N_RANDOM + 1] = "";
    char *temp;
    uint64_t bits;

    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits) {
        /* Uniqueness is O_EXCL's work: any number that seldom repeats will do. */
        clock_gettime(CLOCK_MONOTONIC, &now);
        bits = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 32 ^ (uint64_t)getpid() << 16;
        bits = bits * UINT64_C(0x9e3779b97f4a7c15) >> 8;
    }
    for (size_t i = 0; i < TEMP_N_RANDOM; i++, bits /= sizeof letters - 1)
        random[i] = letters[bits % (sizeof letters - 1)];
    temp_stem(path, folder_fd, stem);
    if (asprintf(&temp, "%.*s%s%s", (int)(text_base_name(path) - path), path, stem, random) >= 0)
        return temp;
    error_no_memory(err, "temp file name");
    return NULL;
}

int output_rename_new(const char *temp, const char *path, struct error *err)
{
    struct stat st;
    int rc = renameat2(AT_FDCWD, temp, AT_FDCWD, path, RENAME_NOREPLACE);

    /* Where that is missing: a hard link fails on an existing name just the same. */
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
        rc = link(temp, path);
        if (rc == 0) {
            unlink(temp);
        } else if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS) {
            /* No hard links either (folders; FAT): look, then rename. */
            if (lstat(path, &st) == 0)
                errno = EEXIST;
            else
                rc = rename(temp, path);
        }
    }
    if (rc != 0 && errno == EEXIST)
        return output_cant_create(err, path, "it exists (--force replaces it)");
    return rc == 0 ? 0 : output_failed(err, ERROR_IO, "rename the temp file to", path);
}

/* --- temps --- */

/* Remove temp files and folders of this target whose lock is free and whose name still stands for
 * what was locked. What cannot be is left. */
static void clear_abandoned(const char *path, int folder_fd)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = openat(folder_fd, ".", FOLDER_FLAGS);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    char stem[NAME_MAX + 1], *temp;
    const struct dirent *entry;
    struct stat locked, named;

    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    temp_stem(path, folder_fd, stem);
    while ((entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, stem, strlen(stem)) != 0 ||
            strlen(entry->d_name) != strlen(stem) + TEMP_N_RANDOM)
            continue;
        if (asprintf(&temp, "%.*s%s", (int)(text_base_name(path) - path), path, entry->d_name) < 0)
            break;
        fd = open(temp, O_RDWR | flags);
        if (fd < 0 && errno == EISDIR)
            fd = open(temp, O_RDONLY | O_DIRECTORY | flags);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &locked) == 0 &&
            lstat(temp, &named) == 0 && locked.st_dev == named.st_dev &&
            locked.st_ino == named.st_ino) {
            if (S_ISDIR(locked.st_mode))
                output_remove_folder(temp, fd);
            else if (S_ISREG(locked.st_mode))
                unlink(temp);
        }
        if (fd >= 0)
            close(fd);
        free(temp);
    }
    closedir(folder);
}

void output_temp_discard(struct output_temp *temp, bool is_created)
{
    if (is_created && temp->is_folder)
        output_remove_folder(temp->path, temp->fd);
    else if (is_created)
        unlink(temp->path);
    if (temp->slot >= 0)
        change_state(&slots[temp->slot], SLOT_OPEN, SLOT_FREE);
    free(temp->path);
    temp->path = NULL;
}

int output_temp_create(struct output_temp *temp, const char *path, bool is_folder,
                       struct error *err)
{
    const int flags = O_NOFOLLOW | O_CLOEXEC;

    *temp = OUTPUT_TEMP_INIT;
    temp->is_folder = is_folder;
    temp->parent_fd = output_open_parent(path, err);
    if (temp->parent_fd < 0)
        return -1;
    clear_abandoned(path, temp->parent_fd);
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        bool is_made = false;
        struct stat st;
        int errnum;

        temp->path = output_temp_path(path, temp->parent_fd, err);
        if (temp->path == NULL)
            return -1;
        /* Before it exists, so that no moment is left in which a signal would leave it behind. */
        temp->slot = slot_take(temp->path, is_folder);
        if (temp->slot < 0) {
            output_temp_discard(temp, false);
            return error_set_at(err, ERROR_INTERNAL,
                                &(struct error_place){.file = path, .verb = "create"},
                                "too many outputs are open");
        }
        if (!is_folder)
            temp->fd = open(temp->path, O_RDWR | O_CREAT | O_EXCL | flags, 0666);
        else if ((is_made = mkdir(temp->path, 0777) == 0))
            temp->fd = open(temp->path, O_RDONLY | O_DIRECTORY | flags);
        errnum = errno;
        /* The lock tells a temp in use from an abandoned one, which somebody may be clearing away
         * right now, or has. On file systems without locks nothing is ever cleared. */
        if (temp->fd >= 0 && (flock(temp->fd, LOCK_EX | LOCK_NB) != 0
                                  ? errno != EWOULDBLOCK
                                  : fstat(temp->fd, &st) == 0 && st.st_nlink > 0))
            return 0;
        output_temp_discard(temp, is_made || temp->fd >= 0);
        if (temp->fd >= 0)
            close(temp->fd);
        errno = errnum;
        if (temp->fd < 0 && errno != EEXIST && errno != EINTR && !(is_made && errno == ENOENT))
            return output_failed(err, ERROR_CANT_CREATE, "create", path);
        temp->fd = -1;
    }
    return error_set_at(err, ERROR_CANT_CREATE,
                        &(struct error_place){.file = path,
                                              .verb = is_folder ? "create a temp folder for"
                                                                : "create a temp file for"},
                        "%s", "");
}

void output_temp_drop(struct output_temp *temp)
{
    if (temp->path != NULL)
        output_temp_discard(temp, true);
    if (temp->fd >= 0)
        close(temp->fd);
    if (temp->parent_fd >= 0)
        close(temp->parent_fd);
}

/* --- turns --- */

int output_turn_take(const char *path)
{
    const struct timespec wait = {.tv_nsec = WAIT_NANOSECONDS};
    int fd = output_open_parent(path, NULL);

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
