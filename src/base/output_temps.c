/* output_temps.c - see output_temps.h. */
#include "base/output_temps.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_SLOTS 16

/*
 * A slot is written by its owner only between FREE and OPEN, and read by a handler only after it
 * has turned OPEN into REMOVED. A removed slot is never used again: a path cannot change under a
 * handler that runs in another thread.
 */
enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_OPEN, SLOT_REMOVED };

struct slot {
    _Atomic int state;
    bool is_folder;
    char path[PATH_MAX];
};

static struct slot slots[N_SLOTS];

static bool change_state(struct slot *slot, int from, int to)
{
    return atomic_compare_exchange_strong(&slot->state, &from, to);
}

int output_temps_add(const char *path, bool is_folder)
{
    size_t n_bytes = strlen(path) + 1;

    if (n_bytes > sizeof slots[0].path)
        return -1;
    for (int i = 0; i < N_SLOTS; i++) {
        if (!change_state(&slots[i], SLOT_FREE, SLOT_FILLING))
            continue;
        memcpy(slots[i].path, path, n_bytes);
        slots[i].is_folder = is_folder;
        atomic_store(&slots[i].state, SLOT_OPEN);
        return i;
    }
    return -1;
}

void output_temps_drop(int slot)
{
    if (slot >= 0)
        change_state(&slots[slot], SLOT_OPEN, SLOT_FREE);
}

/* A record of getdents64, which libc has no async-signal-safe wrapper for. */
struct directory_entry {
    uint64_t inode;
    int64_t next;
    uint16_t n_bytes;
    uint8_t type;
    char name[];
};

/* Unlink what one read of the folder lists; returns the number of files unlinked. */
static int unlink_listed(int fd)
{
    _Alignas(struct directory_entry) char buffer[2048];
    int n_unlinked = 0;
    long n_bytes;

    while ((n_bytes = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
        for (long at = 0; at < n_bytes;) {
            const struct directory_entry *entry = (const void *)(buffer + at);

            if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0 &&
                unlinkat(fd, entry->name, 0) == 0)
                n_unlinked++;
            at += entry->n_bytes;
        }
    }
    return n_unlinked;
}

int output_temps_remove_folder(const char *path, int fd)
{
    int own_fd = -1;

    if (fd < 0)
        fd = own_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    /* Unlinking while reading may skip entries: read again until nothing is left to unlink. */
    while (fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 && unlink_listed(fd) > 0)
        continue;
    if (own_fd >= 0)
        close(own_fd);
    return rmdir(path);
}

void output_remove_temps(void)
{
    int saved_errno = errno;

    for (int i = 0; i < N_SLOTS; i++) {
        if (!change_state(&slots[i], SLOT_OPEN, SLOT_REMOVED))
            continue;
        if (slots[i].is_folder)
            output_temps_remove_folder(slots[i].path, -1);
        else
            unlink(slots[i].path);
    }
    errno = saved_errno;
}
