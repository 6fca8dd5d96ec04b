/*
 * fuzz.h - what the fuzz targets share. A target takes any bytes and must neither crash, leak, nor
 * answer with an error that has no kind or no message.
 */
#pragma once

#include "base/error.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

/* Stop the run: the input that did it is kept. */
static inline void fuzz_require(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* A call that returned status has set err just when it failed. */
static inline void fuzz_check_error(int status, const struct error *err)
{
    fuzz_require((status == 0) == (err->kind == ERROR_NONE), "status and error differ");
    fuzz_require(err->kind == ERROR_NONE || err->message[0] != '\0', "error without a message");
    fuzz_require(err->kind != ERROR_INTERNAL, err->message);
}

/* The path of a file in memory that holds the bytes. One for the whole run. */
static inline const char *fuzz_file(const uint8_t *bytes, size_t n_bytes)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0) {
        fd = memfd_create("fuzz", 0);
        fuzz_require(fd >= 0, "no memory file");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    fuzz_require(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, n_bytes, 0) == (ssize_t)n_bytes,
                 "cannot write the memory file");
    return path;
}
