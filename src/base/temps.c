/*
 * temps.c - the temp files and folders that exist now, in a fixed table with atomic states, because
 * a signal handler removes them and can neither allocate nor lock.
 */
#include "base/temps.h"

#include "base/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_SLOTS      256
#define MAX_READINGS 10

/*
 * The owner writes a slot, and makes the temp, only between FREE and OPEN; a handler reads it only
 * after turning OPEN into REMOVED. A removed slot is never reused, so that no path changes under a
 * handler that runs in another thread.
 */
enum slot_state { SLOT_FREE, SLOT_FILLING, SLOT_OPEN, SLOT_REMOVED };

static struct slot {
    _Atomic int state;
    bool is_folder;
    char path[PATH_MAX];
} slots[N_SLOTS];

static _Atomic bool is_ending; /* temps are being removed: none is made any more */

static bool change_state(struct slot *slot, int from, int to)
{
    return atomic_compare_exchange_strong(&slot->state, &from, to);
}

/* The handler waits for temps that other threads are making; in this thread it must not run. */
int temp_begin(const char *path, bool is_folder, sigset_t *signals)
{
    const size_t n_bytes = strlen(path) + 1;
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, signals);
    for (int i = 0; i < N_SLOTS && n_bytes <= sizeof slots[i].path; i++) {
        if (!change_state(&slots[i], SLOT_FREE, SLOT_FILLING))
            continue;
        if (atomic_load(&is_ending)) {
            atomic_store(&slots[i].state, SLOT_FREE);
            while (true)
                poll(NULL, 0, -1); /* until the process ends */
        }
        memcpy(slots[i].path, path, n_bytes);
        slots[i].is_folder = is_folder;
        return i;
    }
    pthread_sigmask(SIG_SETMASK, signals, NULL);
    return -1;
}

void temp_made(int slot, const sigset_t *signals)
{
    atomic_store(&slots[slot].state, SLOT_OPEN);
    pthread_sigmask(SIG_SETMASK, signals, NULL);
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
    long n_bytes;

    /* Reading skips what is renamed or unlinked meanwhile: begin again while the folder is not
     * empty, but not forever. */
    for (int i = 0; i < MAX_READINGS; i++) {
        while (from >= 0 && (n_bytes = syscall(SYS_getdents64, from, buffer, sizeof buffer)) > 0) {
            const struct dirent64 *entry = (const void *)buffer;

            for (long j = 0; j < n_bytes; j += entry->d_reclen) {
                entry = (const void *)(buffer + j);
                if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                    unlinkat(from, entry->d_name, 0) == 0)
                    i = 0;
            }
        }
        if (unlinkat(at, path, AT_REMOVEDIR) == 0 || (errno != ENOTEMPTY && errno != EEXIST) ||
            lseek(from, 0, SEEK_SET) != 0)
            break;
    }
    if (own_fd >= 0)
        close(own_fd);
}

void output_remove_temps(void)
{
    const int saved_errno = errno;

    atomic_store(&is_ending, true);
    for (int i = 0; i < N_SLOTS; i++)
        while (atomic_load(&slots[i].state) == SLOT_FILLING)
            poll(NULL, 0, 1);
    for (int i = 0; i < N_SLOTS; i++) {
        change_state(&slots[i], SLOT_OPEN, SLOT_REMOVED);
        /* What a handler has begun to remove, one that interrupts it, or comes by another thread
         * and ends the process first, removes again. */
        if (atomic_load(&slots[i].state) != SLOT_REMOVED)
            continue;
        if (slots[i].is_folder)
            temp_remove_folder(AT_FDCWD, slots[i].path, -1);
        else
            unlink(slots[i].path);
    }
    errno = saved_errno;
}
