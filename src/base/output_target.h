/*
 * output_target.h - what files and folders (output.c) have in common until they have their names.
 */
#ifndef SYMAUG_BASE_OUTPUT_TARGET_H
#define SYMAUG_BASE_OUTPUT_TARGET_H

#include "base/output.h"

/* "cannot WHAT 'a.npz': No space left on device", by errno. Returns -1, as does the next. */
int output_failed(struct error *err, enum error_kind kind, const char *what, const char *path);
int output_cant_create(struct error *err, const char *path, const char *reason);

/* open of a folder, that which path lies in (-1 with err set), and fsync; a signal does not matter.
 */
int output_open_folder(const char *path);
int output_open_parent(const char *path, struct error *err);
int output_fsync(int fd);

/* fsync the folder of path. File systems that cannot sync a folder are taken at their word. */
int output_sync_folder(int folder_fd, const char *path, struct error *err);

/* Rename without replacing; ERROR_CANT_CREATE when the target exists. */
int output_rename_new(const char *temp, const char *path, struct error *err);

/* Unlink all files of a folder, then the folder. fd is that of the folder, so that nothing needs to
 * be opened any more, or -1. Nothing below its sub-folders is touched: with any, the folder stays.
 * Async-signal-safe. */
void output_remove_folder(const char *path, int fd);

/* A new random temp path beside the target. Owned by the caller; NULL with err set. */
char *output_temp_path(const char *path, int folder_fd, struct error *err);

/* Nothing is open. */
#define OUTPUT_TEMP_INIT ((struct output_temp){.fd = -1, .parent_fd = -1, .slot = -1})

/* Open the folder that the target lies in, clear away abandoned temps of the same target, and
 * create and lock a temp of a new name. After a failure it may be dropped. */
int output_temp_create(struct output_temp *temp, const char *path, bool is_folder,
                       struct error *err);

/* Give up its name; is_created: and what is there. */
void output_temp_discard(struct output_temp *temp, bool is_created);

/* Discard it, unless it has got its final name and path is NULL, and close what is open. */
void output_temp_drop(struct output_temp *temp);

#endif
