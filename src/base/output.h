/*
 * output.h - an output file: complete and durable under its final name, or not there.
 *
 * Bytes go to a temp file in the same folder (.NAME.symaug-XXXXXX, O_EXCL, locked with flock); a
 * commit syncs it, renames it, and syncs the folder. A failure or a signal removes the temp file;
 * one left by kill -9 is removed by the next run that writes the same target and obtains its lock.
 */
#ifndef SYMAUG_BASE_OUTPUT_H
#define SYMAUG_BASE_OUTPUT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output {
    char *path;      /* owned: the final name */
    char *temp_path; /* owned */
    int fd;          /* of the temp file, -1 when closed */
    uint8_t *buffer; /* owned */
    size_t n_buffered;
    uint64_t offset;  /* where the buffer's first byte goes */
    uint64_t n_bytes; /* size of the file so far */
    bool is_synced;   /* nothing was written since the last output_sync */
    int folder_fd;    /* of the folder it lies in, -1 when closed */
    int slot;         /* its place in the table of output_remove_temps */
};

/*
 * Create the temp file. An existing target is ERROR_CANT_CREATE unless force; a target that is
 * a folder or no regular file, or a folder that does not exist or cannot be written, too. With
 * force, a symbolic link to a file (or to nothing) is itself replaced; what it points to stays.
 * Clears abandoned temp files of the same target. The caller commits or aborts.
 */
int output_open(struct output *out, const char *path, bool force, struct error *err);

/* Append (or overwrite after output_seek). EINTR and short writes are handled here. */
int output_write(struct output *out, const void *bytes, size_t n_bytes, struct error *err);

/* Continue writing at offset (<= n_bytes). */
int output_seek(struct output *out, uint64_t offset, struct error *err);

/* Have everything that was written in the temp file, not in the buffer. */
int output_flush(struct output *out, struct error *err);

/* Read back from the temp file (flushes first): for the digest of what was really written. */
int output_read(struct output *out, uint64_t offset, void *bytes, size_t n_bytes,
                struct error *err);

/* The same of bytes that have been flushed, and are not written again: while others write on. */
int output_read_written(const struct output *out, uint64_t offset, void *bytes, size_t n_bytes,
                        struct error *err);

/* Have the disk begin with what was written, without waiting for it. Only a help. */
void output_begin_sync(struct output *out);

/* Flush and fsync, which may take long: what is written to the temp file survives a crash. */
int output_sync(struct output *out, struct error *err);

/*
 * Flush, fsync, close, rename to the final name, fsync the folder. On failure the temp file is
 * gone and an old file under the final name is untouched; only when the very last steps, the sync
 * of the folder and the closing, fail under force, the new (complete) file may stay. Without force
 * an existing target is never replaced, even when it appeared after output_open. The output is
 * released.
 */
int output_commit(struct output *out, bool force, struct error *err);

/* Remove the temp file; accepts a zeroed or committed output. */
void output_abort(struct output *out);

/* Unlink every temp file that is open now. Async-signal-safe: for signal handlers. */
void output_remove_temps(void);

/* Remove a file and sync its folder; a missing file is no error. */
int output_remove(const char *path, struct error *err);

#endif
