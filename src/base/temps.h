/*
 * temps.h - for output.c: the temps that output_remove_temps has to remove.
 */
#pragma once

#include <stdbool.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* Note a temp before it is created: its slot, or -1 when the table is full or the path is too
 * long. */
int temp_note(const char *path, bool is_folder);

/* It is removed, or has its final name; accepts -1. */
void temp_forget(int slot);

/* Unlink all files of a folder (path is from the folder `at` on), then the folder. fd is that of
 * the folder, so that nothing needs to be opened any more, or -1. Nothing below its sub-folders is
 * touched: with any, the folder stays. Async-signal-safe. */
void temp_remove_folder(int at, const char *path, int fd);
