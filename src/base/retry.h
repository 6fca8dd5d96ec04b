/*
 * retry.h - system calls that a signal has interrupted.
 */
#ifndef SYMAUG_BASE_RETRY_H
#define SYMAUG_BASE_RETRY_H

#include <errno.h>
#include <stdbool.h>

/* True when the call that has just failed was interrupted and may be tried again; *n_tries counts,
 * so that a file system that never does anything else ends in an error. */
static inline bool retry_interrupted(unsigned *n_tries)
{
    return errno == EINTR && (*n_tries)++ < 1000;
}

#endif
