/*
 * output_temps.h - the temp files and folders that are open now, for signal handlers.
 *
 * A fixed table, because a handler may neither allocate nor lock. Private to base/output*.
 */
#ifndef SYMAUG_BASE_OUTPUT_TEMPS_H
#define SYMAUG_BASE_OUTPUT_TEMPS_H

#include <stdbool.h>

/* Note a temp file or folder before it is created; returns its slot, or -1 when the table is full
 * or the path is longer than any path can be. */
int output_temps_add(const char *path, bool is_folder);

/* Forget it. */
void output_temps_drop(int slot);

/* Unlink all files of a folder, then the folder. fd is that of the folder, so that nothing needs to
 * be opened any more, or -1. Nothing below its sub-folders is touched: with any, the folder stays.
 * Async-signal-safe. Returns 0, or -1 with errno set. */
int output_temps_remove_folder(const char *path, int fd);

#endif
