/*
 * temps.h - internal to outputs: the table of temp files and folders that output_remove_temps
 * removes.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/*
 * Note a temp that will now be made. Returns its slot, or -1 if the table is full or the path is
 * too long. Until temp_made, output_remove_temps waits in other threads, and this thread takes no
 * signals: *signals gets its mask. Does not return when temps are being removed.
 */
int temp_begin(const char *path, bool is_folder, sigset_t *signals);

/* The temp was made, or could not be. Keeps errno. */
void temp_made(int slot, const sigset_t *signals);

/* The temp was removed or got its final name. Accepts -1. */
void temp_forget(int slot);

/* Remove a folder (path is relative to the folder `at`) and the files in it; one that has
 * subfolders stays. fd is the folder's descriptor, or -1 to open it here. Async-signal-safe. */
void temp_remove_folder(int at, const char *path, int fd);
