/*
 * temps.c - the temp files and folders that exist now, in a fixed table with atomic states, because
 * a signal handler removes them and can neither allocate nor lock.
 */
#include "base/temps.h"

#include "base/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_SLOTS 256

/*
 * The owner writes a slot only between FREE and OPEN; a handler reads it only after turning OPEN
 * into REMOVED. A removed slot is never reused, so that no path changes under a handler that runs
 * in another thread.
 */
enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_OPEN, SLOT_REMOVED };

static struct slot {
    _Atomic int state;
    bool is_folder;
    char path[PATH_MAX];
} slots[N_SLOTS];

static bool change_state(struct slot *slot, int from, int to)
{
    return atomic_compare_exchange_strong(&slot->state, &from, to);
}

int temp_note(const char *path, bool is_folder)
{
    const size_t n_bytes = strlen(path) + 1;

    for (int i = 0; i < N_SLOTS && n_bytes <= sizeof slots[i].path; i++) {
        if (!change_state(&slots[i], SLOT_FREE, SLOT_FILLING))
            continue;
        memcpy(slots[i].path, path, n_bytes);
        slots[i].is_folder = is_folder;
        atomic_store(&slots[i].state, SLOT_OPEN);
        return i;
    }
    return -1;
}

void temp_forget(int slot)
{
    if (slot >= 0)
        change_state(&slots[slot], SLOT_OPEN, SLOT_FREE);
}

/* Uses the system call because libc's readdir is not async-signal-safe. */
void temp_remove_folder(int at, const char *path, int fd)
{
    const int own_fd = fd < 0 ? openat(at, path, FOLDER_FLAGS | O_NOFOLLOW) : -1;
    const int from = fd < 0 ? own_fd : fd;
    _Alignas(struct dirent64) char buffer[2048];
    bool is_left = from >= 0;
    long n_bytes;

    /* Unlinking while reading may skip entries: repeat until nothing more can be unlinked. */
    while (is_left && lseek(from, 0, SEEK_SET) == 0) {
        is_left = false;
        while ((n_bytes = syscall(SYS_getdents64, from, buffer, sizeof buffer)) > 0) {
            const struct dirent64 *entry = (const void *)buffer;

            for (long i = 0; i < n_bytes; i += entry->d_reclen) {
                entry = (const void *)(buffer + i);
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                    is_left |= unlinkat(from, entry->d_name, 0) == 0;
            }
        }
    }
    if (own_fd >= 0)
        close(own_fd);
    unlinkat(at, path, AT_REMOVEDIR);
}

void output_remove_temps(void)
{
    int saved_errno = errno;

    for (int i = 0; i < N_SLOTS; i++) {
        if (!change_state(&slots[i], SLOT_OPEN, SLOT_REMOVED))
            continue;
        if (slots[i].is_folder)
            temp_remove_folder(AT_FDCWD, slots[i].path, -1);
        else
            unlink(slots[i].path);
    }
    errno = saved_errno;
}
