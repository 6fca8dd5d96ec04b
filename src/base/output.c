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

#include "base/input.h"
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

/* --- files --- */

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
    const size_t n_bytes = out->n_buffered;

    out->is_synced = out->is_synced && n_bytes == 0;
    out->n_buffered = 0;
    if (file_write(out->temp.fd, out->offset, out->buffer, n_bytes) != 0)
        return output_failed(err, ERROR_IO, "write", out->path);
    out->offset += n_bytes;
    return 0;
}

int output_write(struct output *out, const void *bytes, size_t n_bytes, struct error *err)
{
    const uint8_t *from = bytes;
    uint64_t end = out->offset + out->n_buffered;

    if (n_bytes > INT64_MAX - end) {
        errno = EFBIG;
        return output_failed(err, ERROR_IO, "write", out->path);
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

int output_read_written(const struct output *out, uint64_t offset, void *bytes, size_t n_bytes,
                        struct error *err)
{
    const int64_t n = file_read(out->temp.fd, offset, bytes, n_bytes);

    if (n < 0)
        return output_failed(err, ERROR_IO, "read back", out->path);
    if ((size_t)n < n_bytes)
        return error_set_at(err, ERROR_IO,
                            &(struct error_place){.file = out->path, .verb = "read back"},
                            "it ends at byte %llu", (unsigned long long)offset + (uint64_t)n);
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
    if (output_flush(out, err) != 0)
        return -1;
    out->is_synced = out->is_synced || output_fsync(out->temp.fd) == 0;
    return out->is_synced ? 0 : output_failed(err, ERROR_IO, "sync", out->path);
}

int output_commit(struct output *out, bool force, struct error *err)
{
    int rc = output_sync(out, err);

    if (rc == 0) { /* close the file, whose result counts, but keep its lock */
        const int fd = out->temp.fd, lock_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);

        if (lock_fd >= 0)
            out->temp.fd = lock_fd;
        if (lock_fd < 0 || close(fd) != 0)
            rc = output_failed(err, ERROR_IO, "close", out->path);
    }
    if (rc == 0 && !force)
        rc = output_rename_new(out->temp.path, out->path, err);
    else if (rc == 0 && rename(out->temp.path, out->path) != 0)
        rc = output_failed(err, ERROR_IO, "rename to", out->path);
    if (rc != 0) {
        output_abort(out);
        return -1;
    }
    rc = output_sync_folder(out->temp.parent_fd, out->path, err);
    if (close(out->temp.fd) != 0)
        rc = output_failed(err, ERROR_IO, "close", out->path);
    if (close(out->temp.parent_fd) != 0)
        rc = output_failed(err, ERROR_IO, "close the folder of", out->path);
    if (rc != 0 && !force)
        unlink(out->path); /* there was none: not durable is not there */
    out->temp.fd = out->temp.parent_fd = -1;
    output_temp_discard(&out->temp, false);
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
    int folder_fd, rc;

    if (unlink(path) != 0)
        return errno == ENOENT ? 0 : output_failed(err, ERROR_IO, "remove", path);
    folder_fd = output_open_parent(path, err);
    if (folder_fd < 0)
        return -1;
    rc = output_sync_folder(folder_fd, path, err);
    close(folder_fd);
    return rc;
}

/* --- folders --- */

/* ERROR_CANT_CREATE naming the first thing that must not be deleted with the folder. */
static int check_replaceable(const char *path, const char *suffix, struct error *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    struct stat st;
    int rc = 0;

    if (folder == NULL)
        return errno == ENOENT ? 0 : output_failed(err, ERROR_CANT_CREATE, "replace", path);
    while (rc == 0 && (entry = readdir(folder)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            (!text_ends_with(entry->d_name, suffix) ||
             fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
             !S_ISREG(st.st_mode)))
            rc = error_set_at(err, ERROR_CANT_CREATE,
                              &(struct error_place){.file = path, .verb = "replace folder"},
                              "it also holds %s", text_quote(entry->d_name).text);
    closedir(folder);
    return rc;
}

int output_folder_open(struct output_folder *folder, const char *path, const char *suffix,
                       bool force, struct error *err)
{
    *folder = (struct output_folder){.temp = OUTPUT_TEMP_INIT};
    folder->path = strndup(path, text_path_nbytes(path));
    if (folder->path == NULL)
        return error_no_memory(err, "folder name");
    if (output_target_check(folder->path, true, force, err) == 0 &&
        check_replaceable(folder->path, suffix, err) == 0 &&
        output_temp_create(&folder->temp, folder->path, true, err) == 0)
        return 0;
    output_folder_abort(folder);
    return -1;
}

/* The old folder and the new one change names, in one step where the file system can. */
static int exchange(struct output_folder *folder, struct error *err)
{
    char *aside;
    int rc = -1;

    if (renameat2(AT_FDCWD, folder->temp.path, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
        return output_failed(err, ERROR_IO, "rename to", folder->path);
    /* It is not possible: the old folder steps aside, and back if that fails. */
    aside = output_temp_path(folder->path, folder->temp.parent_fd, err);
    if (aside == NULL)
        return -1;
    if (rename(folder->path, aside) != 0) {
        output_failed(err, ERROR_IO, "move aside", folder->path);
    } else if (rename(folder->temp.path, folder->path) != 0) {
        output_failed(err, ERROR_IO, "rename to", folder->path);
        rename(aside, folder->path);
    } else {
        rename(aside, folder->temp.path);
        rc = 0;
    }
    free(aside);
    return rc;
}

int output_folder_commit(struct output_folder *folder, const char *suffix, bool force,
                         struct error *err)
{
    int old_fd = -1, rc = output_sync_folder(folder->temp.fd, folder->temp.path, err);
    struct stat st;

    if (rc == 0 && (!force || lstat(folder->path, &st) != 0)) {
        rc = output_rename_new(folder->temp.path, folder->path, err);
    } else if (rc == 0 && !S_ISDIR(st.st_mode)) {
        rc = output_cant_create(err, folder->path, "it exists and is not a folder");
    } else if (rc == 0) {
        /* Opened while giving up is still possible: it cannot be deleted without. */
        old_fd = output_open_folder(folder->path);
        rc = old_fd < 0 ? output_failed(err, ERROR_IO, "replace", folder->path)
                        : check_replaceable(folder->path, suffix, err);
        if (rc == 0)
            rc = exchange(folder, err);
    }
    if (rc == 0) { /* the temp path is free and its fd -1, or both stand for the old folder */
        close(folder->temp.fd);
        folder->temp.fd = old_fd;
        rc = output_sync_folder(folder->temp.parent_fd, folder->path, err);
        if (rc != 0 && !force)
            output_remove_folder(folder->path, -1);
    } else if (old_fd >= 0) {
        close(old_fd);
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
