/*
 * output.c - output files and folders that appear under their final name complete and on disk, or
 * not at all. Bytes of a file go through a buffer of 1 MiB into a locked temp file in the target's
 * folder; a commit is fsync, rename, fsync of the folder. A folder's files are committed into a
 * temp folder first. An old folder is exchanged for the new one in one step where the file system
 * can, else it steps aside first; then it is deleted, which is done only to folders that hold
 * nothing but plain files with the expected suffix.
 *
 * The lock of a temp is kept until it has the final name: at no moment can another writer of the
 * same target clear it away. Names, locks and temps are output_target.c's.
 */
#include "base/output_target.h"
#include "base/retry.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_NBYTES (1u << 20)

static int io_error(const char *path, const char *what, int errnum, struct error *err)
{
    return error_set_errno(err, ERROR_IO, errnum, "cannot %s %s", what, text_quote(path).text);
}

int output_open(struct output *out, const char *path, bool force, struct error *err)
{
    *out = (struct output){.temp = OUTPUT_TEMP_INIT};
    if (output_target_check(path, false, force, err) != 0)
        return -1;
    out->path = strdup(path);
    out->buffer = malloc(BUFFER_NBYTES);
    if (out->path == NULL || out->buffer == NULL)
        error_no_memory(err, "output buffer");
    else if (output_temp_create(&out->temp, path, false, err) == 0)
        return 0;
    output_abort(out);
    return -1;
}

int output_flush(struct output *out, struct error *err)
{
    const uint8_t *bytes = out->buffer;
    size_t n_bytes = out->n_buffered;
    unsigned n_tries = 0;

    out->is_synced = out->is_synced && n_bytes == 0;
    out->n_buffered = 0;
    while (n_bytes > 0) {
        ssize_t n = pwrite(out->temp.fd, bytes, n_bytes, (off_t)out->offset);

        if (n < 0 && retry_interrupted(&n_tries))
            continue;
        if (n <= 0)
            return io_error(out->path, "write", n < 0 ? errno : EIO, err);
        bytes += n;
        n_bytes -= (size_t)n;
        out->offset += (uint64_t)n;
    }
    return 0;
}

int output_write(struct output *out, const void *bytes, size_t n_bytes, struct error *err)
{
    const uint8_t *from = bytes;
    uint64_t end = out->offset + out->n_buffered;

    if (n_bytes > INT64_MAX - end)
        return io_error(out->path, "write", EFBIG, err);
    end += n_bytes;
    while (n_bytes > 0) {
        size_t n = BUFFER_NBYTES - out->n_buffered;

        if (n > n_bytes)
            n = n_bytes;
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

int output_read_written(const struct output *out, uint64_t offset, void *bytes, size_t n_bytes,
                        struct error *err)
{
    uint8_t *to = bytes;
    unsigned n_tries = 0;

    while (n_bytes > 0) {
        ssize_t n = pread(out->temp.fd, to, n_bytes, (off_t)offset);

        if (n < 0 && retry_interrupted(&n_tries))
            continue;
        if (n < 0)
            return io_error(out->path, "read back", errno, err);
        if (n == 0)
            return error_set(err, ERROR_IO, "cannot read back %s: it ends at byte %llu",
                             text_quote(out->path).text, (unsigned long long)offset);
        to += n;
        n_bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

int output_read(struct output *out, uint64_t offset, void *bytes, size_t n_bytes, struct error *err)
{
    return output_flush(out, err) == 0 ? output_read_written(out, offset, bytes, n_bytes, err) : -1;
}

void output_begin_sync(struct output *out)
{
    sync_file_range(out->temp.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

int output_sync(struct output *out, struct error *err)
{
    unsigned n_tries = 0;
    int rc;

    if (output_flush(out, err) != 0)
        return -1;
    if (out->is_synced)
        return 0;
    do
        rc = fsync(out->temp.fd);
    while (rc != 0 && retry_interrupted(&n_tries));
    out->is_synced = rc == 0;
    return rc == 0 ? 0 : io_error(out->path, "sync", errno, err);
}

/* Close the file, whose result counts, but keep its lock until it has its final name. */
static int close_keeping_lock(struct output *out, struct error *err)
{
    int lock_fd = fcntl(out->temp.fd, F_DUPFD_CLOEXEC, 0);
    int rc;

    if (lock_fd < 0)
        return io_error(out->path, "close", errno, err);
    rc = close(out->temp.fd);
    if (rc != 0)
        io_error(out->path, "close", errno, err);
    out->temp.fd = lock_fd;
    return rc;
}

int output_commit(struct output *out, bool force, struct error *err)
{
    int rc = output_sync(out, err) != 0 ? -1 : close_keeping_lock(out, err);

    if (rc == 0 && !force)
        rc = output_target_rename_new(out->temp.path, out->path, err);
    else if (rc == 0 && rename(out->temp.path, out->path) != 0)
        rc = io_error(out->path, "rename to", errno, err);
    if (rc != 0) {
        output_abort(out);
        return -1;
    }
    rc = output_target_sync(out->temp.parent_fd, out->path, err);
    if (close(out->temp.fd) != 0)
        rc = io_error(out->path, "close", errno, err);
    if (close(out->temp.parent_fd) != 0)
        rc = io_error(out->path, "close the folder of", errno, err);
    if (rc != 0 && !force)
        unlink(out->path); /* there was none: not durable is not there */
    out->temp.fd = out->temp.parent_fd = -1;
    output_temp_forget(&out->temp);
    output_abort(out);
    return rc;
}

void output_abort(struct output *out)
{
    if (out->path != NULL)
        output_temp_drop(&out->temp);
    free(out->path);
    free(out->buffer);
    *out = (struct output){.temp = OUTPUT_TEMP_INIT};
}

int output_remove(const char *path, struct error *err)
{
    int folder_fd, rc = 0;

    if (unlink(path) != 0) {
        if (errno == ENOENT)
            return 0;
        return error_set_errno(err, ERROR_IO, errno, "cannot remove %s", text_quote(path).text);
    }
    if (output_target_open_folder(path, &folder_fd, err) != 0)
        return -1;
    rc = output_target_sync(folder_fd, path, err);
    close(folder_fd);
    return rc;
}

/* --- folders --- */

/* ERROR_CANT_CREATE naming the first thing that must not be deleted with the folder. */
static int check_replaceable(const char *path, const char *suffix, struct error *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int rc = 0;

    if (folder == NULL)
        return errno == ENOENT ? 0
                               : error_set_errno(err, ERROR_CANT_CREATE, errno, "cannot replace %s",
                                                 text_quote(path).text);
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!text_ends_with(entry->d_name, suffix) ||
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            rc = error_set(err, ERROR_CANT_CREATE, "cannot replace folder %s: it also holds %s",
                           text_quote(path).text, text_quote(entry->d_name).text);
    }
    closedir(folder);
    return rc;
}

int output_folder_open(struct output_folder *folder, const char *path, const char *suffix,
                       bool force, struct error *err)
{
    size_t n_bytes = strlen(path);

    *folder = (struct output_folder){.temp = OUTPUT_TEMP_INIT};
    while (n_bytes > 1 && path[n_bytes - 1] == '/')
        n_bytes--;
    folder->path = strndup(path, n_bytes);
    if (folder->path == NULL)
        return error_no_memory(err, "folder name");
    if (output_target_check(folder->path, true, force, err) == 0 &&
        check_replaceable(folder->path, suffix, err) == 0 &&
        output_temp_create(&folder->temp, folder->path, true, err) == 0)
        return 0;
    output_folder_abort(folder);
    return -1;
}

static int exchange(struct output_folder *folder, struct error *err)
{
    char *aside;
    int rc = -1;

    if (renameat2(AT_FDCWD, folder->temp.path, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return io_error(folder->path, "rename to", errno, err);
    /* It is not possible: the old folder steps aside, and back if that fails. */
    aside = output_target_temp_path(folder->path, folder->temp.parent_fd, err);
    if (aside == NULL)
        return -1;
    if (rename(folder->path, aside) != 0) {
        io_error(folder->path, "move aside", errno, err);
    } else if (rename(folder->temp.path, folder->path) != 0) {
        io_error(folder->path, "rename to", errno, err);
        rename(aside, folder->path);
    } else {
        rename(aside, folder->temp.path);
        rc = 0;
    }
    free(aside);
    return rc;
}

/* Afterwards the temp path is free and fd -1, or both stand for the old folder. */
static int rename_to_final(struct output_folder *folder, const char *suffix, bool force,
                           struct error *err)
{
    unsigned n_tries = 0;
    int old_fd = -1, rc = 0;
    struct stat st;

    if (!force || lstat(folder->path, &st) != 0) {
        rc = output_target_rename_new(folder->temp.path, folder->path, err);
    } else if (!S_ISDIR(st.st_mode)) {
        rc = error_set(err, ERROR_CANT_CREATE, "cannot create %s: it exists and is not a folder",
                       text_quote(folder->path).text);
    } else {
        /* Opened while giving up is still possible: it cannot be deleted without. */
        do
            old_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        while (old_fd < 0 && retry_interrupted(&n_tries));
        if (old_fd < 0)
            return io_error(folder->path, "replace", errno, err);
        rc = check_replaceable(folder->path, suffix, err);
        if (rc == 0)
            rc = exchange(folder, err);
    }
    if (rc != 0) {
        if (old_fd >= 0)
            close(old_fd);
        return rc;
    }
    close(folder->temp.fd);
    folder->temp.fd = old_fd;
    return 0;
}

int output_folder_commit(struct output_folder *folder, const char *suffix, bool force,
                         struct error *err)
{
    int rc = output_target_sync(folder->temp.fd, folder->temp.path, err);

    if (rc == 0)
        rc = rename_to_final(folder, suffix, force, err);
    if (rc == 0) {
        rc = output_target_sync(folder->temp.parent_fd, folder->path, err);
        if (rc != 0 && !force)
            output_temp_remove_folder(folder->path, -1);
    }
    output_folder_abort(folder);
    return rc;
}

void output_folder_abort(struct output_folder *folder)
{
    if (folder->path != NULL)
        output_temp_drop(&folder->temp);
    free(folder->path);
    *folder = (struct output_folder){.temp = OUTPUT_TEMP_INIT};
}
