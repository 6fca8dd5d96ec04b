/*
 * output.h - an output file or folder: complete and durable under its final name, or not there.
 *
 * Bytes go to a temp file in the same folder (.NAME.symaug-XXXXXX, O_EXCL, locked with flock); a
 * commit syncs it, renames it, and syncs the folder. A failure or a signal removes the temp file;
 * one left by kill -9 is removed by the next run that writes the same target and obtains its lock.
 * The files of an output folder are written into a temp folder, by the same rules.
 */
#pragma once

#include "base/error.h"

/* A file or a folder. */
struct output {
    char *path;         /* owned: the final name, a folder's without slashes at its end */
    const char *suffix; /* borrowed: of all files of a folder; NULL: it is a file */
    char *temp;         /* owned: where it is until then; NULL: it is not (any more) */
    int fd;             /* of the file or folder, holds its lock; -1 when closed */
    int parent_fd;      /* of the folder that it lies in, -1 when closed */
    int slot;           /* its place in the table of output_remove_temps */

    uint8_t *buffer; /* owned, as is the rest a file's */
    size_t n_buffered;
    uint64_t offset;  /* where the buffer's first byte goes */
    uint64_t n_bytes; /* size of the file so far */
    bool is_synced;   /* nothing was written since the last output_sync */
};

/*
 * Create the temp file. An existing target is ERROR_CANT_CREATE unless force; a target that is
 * a folder or not a regular file, or a folder that does not exist or cannot be written, too. With
 * force, a symbolic link to a file (or to nothing) is itself replaced; what it points to stays.
 * Clears temp files of the same target that were abandoned when the process first came to the
 * folder. The caller commits or aborts.
 */
int output_open(struct output *out, const char *path, bool force, struct error *err);

/*
 * Create a temp folder, for files that are committed into it. An existing target is
 * ERROR_CANT_CREATE unless force, and even then if it is not a folder, or holds anything but plain
 * files whose names end in suffix: replacing deletes them. The caller commits or aborts.
 */
int output_open_folder(struct output *out, const char *path, const char *suffix, bool force,
                       struct error *err);

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
 * an existing target is never replaced, even when it appeared after output_open. With force a
 * folder of that name is exchanged for the new one and deleted. The output is released.
 */
int output_commit(struct output *out, bool force, struct error *err);

/* Remove the temp file, or the folder and what it holds; accepts a zeroed or committed output. */
void output_abort(struct output *out);

/* Open, write and commit a whole file. */
int output_put(const char *path, bool force, const void *bytes, size_t n_bytes, struct error *err);

/* Unlink every temp file that is open now. Async-signal-safe: for signal handlers. */
void output_remove_temps(void);

/* Remove a file and sync its folder; a missing file is no error. */
int output_remove(const char *path, struct error *err);

/* --- names --- */

/*
 * ERROR_CANT_CREATE when the name is empty or not the name of a file, when its folder is not there,
 * when the target exists and force is not given, and when it is something that is_folder says it
 * may not be. A symbolic link counts as what it points to; a dangling one as an existing file.
 */
int output_target_check(const char *path, bool is_folder, bool force, struct error *err);

/*
 * Writers of one folder change names in it one after the other: where a target is more than one
 * file (an output and its manifest), writers of the same target that exchanged their files in
 * between would leave the one's beside the other's.
 *
 * Wait until no other writer has its turn in the folder that path lies in, ten seconds at most; the
 * bytes should be on the disk by then, so that a turn is short. Only a help: on file systems
 * without locks, and where somebody does not come to an end, it is one's turn at once or then.
 */
int output_turn_take(const char *path);

/* The turn that output_turn_take returned is over. */
void output_turn_end(int turn);
