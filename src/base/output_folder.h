/*
 * output_folder.h - an output folder: complete under its final name, or not there.
 *
 * Files are written into a temp folder beside the target (.NAME.symaug-XXXXXX, locked with flock);
 * a commit renames it. What is left by kill -9 is cleared as base/output.h says.
 */
#ifndef SYMAUG_BASE_OUTPUT_FOLDER_H
#define SYMAUG_BASE_OUTPUT_FOLDER_H

#include "base/error.h"

#include <stdbool.h>

struct output_folder {
    char *path;      /* owned: the final name, without slashes at its end */
    char *temp_path; /* owned: the folder to write into */
    int fd;          /* of the folder called temp_path: holds its lock; or -1 */
    int parent_fd;   /* of the folder that it lies in */
    int slot;        /* its place in the table of output_remove_temps */
};

/*
 * Create the temp folder. An existing target is ERROR_CANT_CREATE unless force, and even then if
 * it is no folder, or holds anything but plain files whose names end in suffix: replacing deletes
 * them. The caller commits or aborts.
 */
int output_folder_open(struct output_folder *folder, const char *path, const char *suffix,
                       bool force, struct error *err);

/*
 * Give the folder its final name; its files have been committed before. Under force a folder of
 * that name is exchanged for it and deleted. On failure the temp folder is gone and an old one
 * untouched (but for the last step, as output_commit). The folder is released.
 */
int output_folder_commit(struct output_folder *folder, const char *suffix, bool force,
                         struct error *err);

/* Remove the temp folder and what it holds; accepts a zeroed or committed one. */
void output_folder_abort(struct output_folder *folder);

#endif
