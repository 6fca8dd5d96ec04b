/*
 * output_target.h - what files (output.c) and folders (output_folder.c) have in common until they
 * have their names: temps, locks, renaming.
 */
#ifndef SYMAUG_BASE_OUTPUT_TARGET_H
#define SYMAUG_BASE_OUTPUT_TARGET_H

#include "base/output.h"

/* Nothing is open. */
#define OUTPUT_TEMP_INIT ((struct output_temp){.fd = -1, .parent_fd = -1, .slot = -1})

/* Open the folder that the target lies in, clear away abandoned temps of the same target, and
 * create and lock a temp of a new name. After a failure it may be dropped. */
int output_temp_create(struct output_temp *temp, const char *path, bool is_folder,
                       struct error *err);

/* Remove it, unless it has got its final name and path is NULL, and close what is open. Accepts a
 * zeroed one. */
void output_temp_drop(struct output_temp *temp);

/* It has its final name: its path is forgotten. */
void output_temp_forget(struct output_temp *temp);

/* Unlink all files of a folder, then the folder. fd is that of the folder, so that nothing needs to
 * be opened any more, or -1. Nothing below its sub-folders is touched: with any, the folder stays.
 * Async-signal-safe. */
void output_temp_remove_folder(const char *path, int fd);

/* Open the folder that path lies in: *fd is what output_target_sync takes. */
int output_target_open_folder(const char *path, int *fd, struct error *err);

/* fsync that folder. File systems that cannot sync a folder are taken at their word. */
int output_target_sync(int folder_fd, const char *path, struct error *err);

/* A new random temp path beside the target. Owned by the caller; NULL with err set. */
char *output_target_temp_path(const char *path, int folder_fd, struct error *err);

/* Rename without replacing; ERROR_CANT_CREATE when the target exists. */
int output_target_rename_new(const char *temp_path, const char *path, struct error *err);

#endif
