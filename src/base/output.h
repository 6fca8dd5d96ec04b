/*
 * output.h - an output file or folder: complete and durable under its final name, or not there. A
 * temp (.NAME.symaug-XXXXXX) that is left by kill -9 is removed by the next run that writes the
 * same target.
 */
#pragma once

#include "base/error.h"

/* A file or a folder. */
struct output {
    char *path;         /* owned: the final name, a folder's without slashes at its end */
    const char *suffix; /* borrowed: of all files in an output folder; NULL: this is a file */
    char *temp;         /* owned: the temp's name; NULL when there is none */
    int fd;             /* the temp's, which holds its lock; -1 when closed */
    int parent_fd;      /* of the folder that contains both; -1 when closed */
    int slot;           /* in the table of output_remove_temps */

    uint8_t *buffer; /* owned; this and the rest are for files */
    size_t n_buffered;
    uint64_t offset;  /* in the file, of the buffer's first byte */
    uint64_t n_bytes; /* size of the file so far */
    bool is_synced;   /* nothing was written since the last output_sync */
};

/*
 * Create the temp file. ERROR_CANT_CREATE if the target exists (unless force), is a folder or not a
 * regular file, or if its folder does not exist or cannot be written. With force, a symbolic link
 * to a file or to nothing is itself replaced. Removes abandoned temp files of the same target that
 * were there when the process first wrote to the folder. The caller commits or aborts.
 */
int output_open(struct output *out, const char *path, bool force, struct error *err);

/*
 * Create a temp folder, into which files are committed. ERROR_CANT_CREATE if the target exists,
 * unless force is given and it is a folder of nothing but regular files whose names end in suffix:
 * these will be deleted. The caller commits or aborts.
 */
int output_open_folder(struct output *out, const char *path, const char *suffix, bool force,
                       struct error *err);

/* Append, or overwrite after output_seek. */
int output_write(struct output *out, const void *bytes, size_t n_bytes, struct error *err);

/* Continue writing at offset (<= n_bytes). */
int output_seek(struct output *out, uint64_t offset, struct error *err);

/* Write the buffer to the temp file. */
int output_flush(struct output *out, struct error *err);

/* Read back bytes that have been flushed. Another thread may write elsewhere meanwhile. */
int output_read(const struct output *out, uint64_t offset, void *bytes, size_t n_bytes,
                struct error *err);

/* Flush and fsync, which may take long. */
int output_sync(struct output *out, struct error *err);

/*
 * Flush, fsync, close, rename to the final name, fsync the folder. On failure the temp is removed
 * and an old target is untouched; only if the last steps, syncing and closing the folder, fail
 * under force, the new (complete) target may stay. Without force an existing target is never
 * replaced, even if it appeared after output_open. With force an old folder is exchanged for the
 * new one and deleted. The output is released.
 */
int output_commit(struct output *out, bool force, struct error *err);

/* Remove the temp and release the output; accepts a zeroed or committed one. */
void output_abort(struct output *out);

/* Open, write and commit a whole file. */
int output_put(const char *path, bool force, const void *bytes, size_t n_bytes, struct error *err);

/* Remove all temp files and folders of open outputs. Async-signal-safe. */
void output_remove_temps(void);

/* Remove a file and sync its folder; a missing file is not an error. */
int output_remove(const char *path, struct error *err);

/* --- names --- */

/*
 * ERROR_CANT_CREATE if the name is empty or cannot be a file's, if its folder does not exist
 * or cannot be written, if the target exists without force, or if it is not of the kind that
 * is_folder says. A symbolic link counts as what it points to (for a folder: as a file); a dangling
 * one as an existing file.
 */
int output_target_check(const char *path, bool is_folder, bool force, struct error *err);

/* ERROR_CANT_CREATE if the folder of path does not exist or cannot be written. */
int output_folder_check(const char *path, struct error *err);

/*
 * Lock the folder of path while a target of more than one file (an output and its manifest) gets
 * its names, so that two writers of one target cannot mix their files. Call output_sync before, so
 * that the lock is held briefly. Waits for at most ten seconds and then goes on without the lock,
 * as it does on file systems without locks. Returns what output_turn_end takes.
 */
int output_turn_take(const char *path);

/* Release the lock. */
void output_turn_end(int turn);
