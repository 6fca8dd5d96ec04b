/*
 * output_folder.c - output folders, by the rules of output.c: files are written into a locked temp
 * folder beside the target, which a commit renames. An old folder is exchanged for the new one in
 * one step where the file system can, else it steps aside first; then it is deleted. Only a folder
 * that holds nothing but plain files with the expected suffix is ever replaced.
 */
#include "base/output_folder.h"
#include "base/output_target.h"
#include "base/retry.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ATTEMPTS 100

static int folder_error(const char *path, enum error_kind kind, const char *what, struct error *err)
{
    return error_set_errno(err, kind, errno, "cannot %s %s", what, text_quote(path).text);
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), n_suffix = strlen(suffix);

    return n > n_suffix && strcmp(name + n - n_suffix, suffix) == 0;
}

/* ERROR_CANT_CREATE naming the first thing that must not be deleted with the folder. */
static int check_replaceable(const char *path, const char *suffix, struct error *err)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    int rc = 0;

    if (folder == NULL)
        return errno == ENOENT ? 0 : folder_error(path, ERROR_CANT_CREATE, "replace", err);
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (!has_suffix(entry->d_name, suffix) ||
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(st.st_mode))
            rc = error_set(err, ERROR_CANT_CREATE, "cannot replace folder %s: it also holds %s",
                           text_quote(path).text, text_quote(entry->d_name).text);
    }
    closedir(folder);
    return rc;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void drop_temp(struct output_folder *folder, bool created)
{
    if (created)
        output_temps_remove_folder(folder->temp_path, folder->fd);
    output_temps_drop(folder->slot);
    free(folder->temp_path);
    folder->temp_path = NULL;
}

/* One attempt at a temp folder of a new name: 1 when another name should be tried. */
static int try_temp(struct output_folder *folder, struct error *err)
{
    folder->temp_path = output_target_temp_path(folder->path, folder->parent_fd, err);
    if (folder->temp_path == NULL)
        return -1;
    folder->slot = output_temps_add(folder->temp_path, true);
    if (folder->slot < 0) {
        drop_temp(folder, false);
        return error_set(err, ERROR_INTERNAL, "cannot create %s: too many outputs are open",
                         text_quote(folder->path).text);
    }
    if (mkdir(folder->temp_path, 0777) != 0) {
        if (errno != EEXIST)
            folder_error(folder->path, ERROR_CANT_CREATE, "create", err);
        drop_temp(folder, false);
        return err->kind == ERROR_NONE ? 1 : -1;
    }
    folder->fd = open(folder->temp_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->fd >= 0 && output_target_lock(folder->fd))
        return 0;
    if (folder->fd < 0 && errno != ENOENT && errno != EINTR)
        folder_error(folder->path, ERROR_CANT_CREATE, "create", err);
    drop_temp(folder, true);
    close_fd(&folder->fd);
    return err->kind == ERROR_NONE ? 1 : -1;
}

static int create_temp(struct output_folder *folder, struct error *err)
{
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        int rc = try_temp(folder, err);

        if (rc <= 0)
            return rc;
    }
    return error_set(err, ERROR_CANT_CREATE, "cannot create a temp folder for %s",
                     text_quote(folder->path).text);
}

int output_folder_open(struct output_folder *folder, const char *path, const char *suffix,
                       bool force, struct error *err)
{
    size_t n_bytes = strlen(path);

    *folder = (struct output_folder){.fd = -1, .parent_fd = -1, .slot = -1};
    while (n_bytes > 1 && path[n_bytes - 1] == '/')
        n_bytes--;
    folder->path = strndup(path, n_bytes);
    if (folder->path == NULL)
        return error_no_memory(err, "folder name");
    if (output_target_check(folder->path, true, force, err) != 0 ||
        check_replaceable(folder->path, suffix, err) != 0 ||
        output_target_open_folder(folder->path, &folder->parent_fd, err) != 0)
        goto out;
    output_target_clear(folder->path, folder->parent_fd);
    if (create_temp(folder, err) == 0)
        return 0;
out:
    output_folder_abort(folder);
    return -1;
}

/* Where an exchange is not possible: the old folder steps aside, and back if that fails. */
static int replace_in_steps(struct output_folder *folder, struct error *err)
{
    char *aside = output_target_temp_path(folder->path, folder->parent_fd, err);
    int rc = -1;

    if (aside == NULL)
        return -1;
    if (rename(folder->path, aside) != 0) {
        folder_error(folder->path, ERROR_IO, "move aside", err);
    } else if (rename(folder->temp_path, folder->path) != 0) {
        folder_error(folder->path, ERROR_IO, "rename to", err);
        rename(aside, folder->path);
    } else {
        rename(aside, folder->temp_path);
        rc = 0;
    }
    free(aside);
    return rc;
}

static int exchange(struct output_folder *folder, struct error *err)
{
    if (renameat2(AT_FDCWD, folder->temp_path, AT_FDCWD, folder->path, RENAME_EXCHANGE) == 0)
        return 0;
    if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)
        return replace_in_steps(folder, err);
    return folder_error(folder->path, ERROR_IO, "rename to", err);
}

/* Afterwards temp_path is free and fd -1, or both stand for the old folder. */
static int rename_to_final(struct output_folder *folder, const char *suffix, bool force,
                           struct error *err)
{
    unsigned n_tries = 0;
    int old_fd = -1, rc = 0;
    struct stat st;

    if (!force || lstat(folder->path, &st) != 0) {
        rc = output_target_rename_new(folder->temp_path, folder->path, err);
    } else if (!S_ISDIR(st.st_mode)) {
        rc = error_set(err, ERROR_CANT_CREATE, "cannot create %s: it exists and is no folder",
                       text_quote(folder->path).text);
    } else {
        /* Opened while giving up is still possible: it cannot be deleted without. */
        do
            old_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        while (old_fd < 0 && retry_interrupted(&n_tries));
        if (old_fd < 0)
            return folder_error(folder->path, ERROR_IO, "replace", err);
        rc = check_replaceable(folder->path, suffix, err);
        if (rc == 0)
            rc = exchange(folder, err);
    }
    if (rc == 0) {
        close_fd(&folder->fd);
        folder->fd = old_fd;
    } else {
        close_fd(&old_fd);
    }
    return rc;
}

int output_folder_commit(struct output_folder *folder, const char *suffix, bool force,
                         struct error *err)
{
    int rc = output_target_sync(folder->fd, folder->temp_path, err);

    if (rc == 0)
        rc = rename_to_final(folder, suffix, force, err);
    if (rc == 0) {
        rc = output_target_sync(folder->parent_fd, folder->path, err);
        if (rc != 0 && !force)
            output_temps_remove_folder(folder->path, -1);
    }
    output_folder_abort(folder);
    return rc;
}

void output_folder_abort(struct output_folder *folder)
{
    if (folder->temp_path != NULL)
        drop_temp(folder, true);
    if (folder->path != NULL) {
        close_fd(&folder->fd);
        close_fd(&folder->parent_fd);
    }
    free(folder->path);
    *folder = (struct output_folder){.fd = -1, .parent_fd = -1, .slot = -1};
}
