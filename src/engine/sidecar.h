/*
 * sidecar.h - BASENAME.json beside a shard, from which KataGo's shuffler reads the number of rows.
 */
#ifndef SYMAUG_ENGINE_SIDECAR_H
#define SYMAUG_ENGINE_SIDECAR_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Find out before the long work that the sidecar of a shard at path cannot be written. */
int sidecar_check(const char *path, bool force, struct error *err);

/* Write it: complete and durable, or not there. */
int sidecar_write(const char *path, uint64_t n_rows, bool force, struct error *err);

#endif
