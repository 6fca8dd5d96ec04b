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

#endif
