/*
 * output.c - output files that appear under their final name complete and on disk, or not at all.
 * Bytes go through a buffer of 1 MiB into a locked temp file in the target's folder; a commit is
 * fsync, rename, fsync of the folder.
 *
 * The temp's name is put into the table for signal handlers before the file exists, and its lock is
 * kept until it has the final name: at no moment can a signal leave it behind, or another writer of
 * the same target clear it away. Names, locks and that table are output_target.c's.
 */
#include "base/output.h"
#include "base/output_target.h"
#include "base/retry.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_NBYTES (1u << 20)
#define MAX_ATTEMPTS  100

static int io_error(const struct output *out, const char *what, int errnum, struct error *err)
{
    return error_set_errno(err, ERROR_IO, errnum, "cannot %s %s", what, text_quote(out->path).text);
}

/* Drop the temp name of an attempt, whether or not there is a file of that name by now. */
static void drop_temp(struct output *out, bool created)
{
    if (created)
        unlink(out->temp_path);
    output_temps_drop(out->slot);
    free(out->temp_path);
    out->temp_path = NULL;
}

/* One attempt at a temp file of a new name: 1 when another name should be tried. */
static int try_temp(struct output *out, struct error *err)
{
    int errnum;

    out->temp_path = output_target_temp_path(out->path, out->folder_fd, err);
    if (out->temp_path == NULL)
        return -1;
    /* Before it exists, so that no moment is left in which a signal would leave it behind. */
    out->slot = output_temps_add(out->temp_path, false);
    if (out->slot < 0) {
        drop_temp(out, false);
        return error_set(err, ERROR_INTERNAL, "cannot create %s: too many outputs are open",
                         text_quote(out->path).text);
    }
    out->fd = open(out->temp_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (out->fd >= 0) {
        if (output_target_lock(out->fd))
            return 0;
        close(out->fd);
        out->fd = -1;
        drop_temp(out, true);
        return 1;
    }
    errnum = errno;
    drop_temp(out, false);
    if (errnum == EEXIST || errnum == EINTR)
        return 1;
    return error_set_errno(err, ERROR_CANT_CREATE, errnum, "cannot create %s",
                           text_quote(out->path).text);
}

static int create_temp(struct output *out, struct error *err)
{
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        int rc = try_temp(out, err);

        if (rc <= 0)
            return rc;
    }
    return error_set(err, ERROR_CANT_CREATE, "cannot create a temp file for %s",
                     text_quote(out->path).text);
}

int output_open(struct output *out, const char *path, bool force, struct error *err)
{
    *out = (struct output){.fd = -1, .folder_fd = -1, .slot = -1};
    if (output_target_check(path, false, force, err) != 0)
        return -1;
    out->path = strdup(path);
    out->buffer = malloc(BUFFER_NBYTES);
    if (out->path == NULL || out->buffer == NULL) {
        error_no_memory(err, "output buffer");
        goto out;
    }
    if (output_target_open_folder(path, &out->folder_fd, err) != 0)
        goto out;
    output_target_clear(path, out->folder_fd);
    if (create_temp(out, err) == 0)
        return 0;
out:
    output_abort(out);
    return -1;
}

static int write_at(struct output *out, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    unsigned n_tries = 0;

    while (n_bytes > 0) {
        ssize_t n = pwrite(out->fd, bytes, n_bytes, (off_t)out->offset);

        if (n < 0 && retry_interrupted(&n_tries))
            continue;
        if (n <= 0)
            return io_error(out, "write", n < 0 ? errno : EIO, err);
        bytes += n;
        n_bytes -= (size_t)n;
        out->offset += (uint64_t)n;
    }
    return 0;
}

int output_flush(struct output *out, struct error *err)
{
    size_t n_bytes = out->n_buffered;

    out->is_synced = out->is_synced && n_bytes == 0;
    out->n_buffered = 0;
    return write_at(out, out->buffer, n_bytes, err);
}

int output_write(struct output *out, const void *bytes, size_t n_bytes, struct error *err)
{
    const uint8_t *from = bytes;
    uint64_t end = out->offset + out->n_buffered;

    if (n_bytes > INT64_MAX - end)
        return io_error(out, "write", EFBIG, err);
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
        return error_set(err, ERROR_INTERNAL, "seek behind the end of %s",
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
        ssize_t n = pread(out->fd, to, n_bytes, (off_t)offset);

        if (n < 0 && retry_interrupted(&n_tries))
            continue;
        if (n < 0)
            return io_error(out, "read back", errno, err);
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
    sync_file_range(out->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
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
        rc = fsync(out->fd);
    while (rc != 0 && retry_interrupted(&n_tries));
    out->is_synced = rc == 0;
    return rc == 0 ? 0 : io_error(out, "sync", errno, err);
}

/* Close the file, whose result counts, but keep its lock until it has its final name: without it
 * another writer of the same target could clear the temp file away in between. */
static int close_keeping_lock(struct output *out, struct error *err)
{
    int lock_fd = fcntl(out->fd, F_DUPFD_CLOEXEC, 0);
    int rc;

    if (lock_fd < 0)
        return io_error(out, "close", errno, err);
    rc = close(out->fd);
    if (rc != 0)
        io_error(out, "close", errno, err);
    out->fd = lock_fd;
    return rc;
}

static int rename_to_final(struct output *out, bool force, struct error *err)
{
    if (!force)
        return output_target_rename_new(out->temp_path, out->path, err);
    return rename(out->temp_path, out->path) == 0 ? 0 : io_error(out, "rename to", errno, err);
}

int output_commit(struct output *out, bool force, struct error *err)
{
    int rc;

    if (output_sync(out, err) != 0 || close_keeping_lock(out, err) != 0 ||
        rename_to_final(out, force, err) != 0) {
        output_abort(out);
        return -1;
    }
    rc = output_target_sync(out->folder_fd, out->path, err);
    if (close(out->fd) != 0)
        rc = io_error(out, "close", errno, err);
    if (close(out->folder_fd) != 0)
        rc = io_error(out, "close the folder of", errno, err);
    if (rc != 0 && !force)
        unlink(out->path); /* there was none: not durable is not there */
    out->fd = out->folder_fd = -1;
    output_temps_drop(out->slot);
    free(out->temp_path);
    out->temp_path = NULL;
    output_abort(out);
    return rc;
}

void output_abort(struct output *out)
{
    if (out->temp_path != NULL)
        drop_temp(out, true);
    if (out->path != NULL && out->fd >= 0)
        close(out->fd);
    if (out->path != NULL && out->folder_fd >= 0)
        close(out->folder_fd);
    free(out->path);
    free(out->buffer);
    *out = (struct output){.fd = -1, .folder_fd = -1, .slot = -1};
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
