/*
 * output_target.h - the name an output will have: checked, its folder opened, its temp names made,
 * abandoned ones cleared, the rename. Shared by files (output.c) and folders (output_folder.c).
 */
#ifndef SYMAUG_BASE_OUTPUT_TARGET_H
#define SYMAUG_BASE_OUTPUT_TARGET_H

#include "base/error.h"

#include <stdbool.h>

/*
 * ERROR_CANT_CREATE when the name is empty or no name of a file, when the target exists and force
 * is not given, and when it is something that is_folder says it may not be. A symbolic link counts
 * as what it points to; a dangling one as an existing file.
 */
int output_target_check(const char *path, bool is_folder, bool force, struct error *err);

/* Open the folder that path lies in: *fd is what output_target_sync takes. */
int output_target_open_folder(const char *path, int *fd, struct error *err);

/* fsync that folder. File systems that cannot sync a folder are taken at their word. */
int output_target_sync(int folder_fd, const char *path, struct error *err);

/* A new random temp path beside the target. Owned by the caller; NULL with err set. */
char *output_target_temp_path(const char *path, int folder_fd, struct error *err);

/* Take the lock that tells a temp in use from an abandoned one. False when someone is clearing it
 * away right now, or has. On file systems without locks: true, and nothing is ever cleared. */
bool output_target_lock(int fd);

/* Remove temp files and folders of this target whose lock is free. What cannot be is left. */
void output_target_clear(const char *path, int folder_fd);

/* Rename without replacing; ERROR_CANT_CREATE when the target exists. */
int output_target_rename_new(const char *temp_path, const char *path, struct error *err);

/* --- the temp files and folders that are open now, for signal handlers: a fixed table, as a
 * handler may neither allocate nor lock --- */

/* Note a temp file or folder before it is created; returns its slot, or -1 when the table is full
 * or the path is longer than any path can be. */
int output_temps_add(const char *path, bool is_folder);

/* Forget it. */
void output_temps_drop(int slot);

/* Unlink all files of a folder, then the folder. fd is that of the folder, so that nothing needs to
 * be opened any more, or -1. Nothing below its sub-folders is touched: with any, the folder stays.
 * Async-signal-safe. Returns 0, or -1 with errno set. */
int output_temps_remove_folder(const char *path, int fd);

/* --- turns --- */

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

#endif
