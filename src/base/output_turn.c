/* output_turn.c - see output_turn.h: the turn is the lock on the folder. */
#include "base/output_turn.h"
#include "base/output_target.h"

#include <errno.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NANOSECONDS (5 * 1000 * 1000)
#define MAX_WAITS        2000

int output_turn_take(const char *path)
{
    const struct timespec wait = {.tv_nsec = WAIT_NANOSECONDS};
    int fd;

    if (output_target_open_folder(path, &fd, NULL) != 0)
        return -1;
    for (int i = 0; i < MAX_WAITS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR))
            break;
        nanosleep(&wait, NULL);
    }
    return fd;
}

void output_turn_end(int turn)
{
    if (turn >= 0)
        close(turn);
}
