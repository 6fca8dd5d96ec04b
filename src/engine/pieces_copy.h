/*
 * pieces_copy.h - pieces of an array that is copied once, byte for byte, header included.
 */
#ifndef SYMAUG_ENGINE_PIECES_COPY_H
#define SYMAUG_ENGINE_PIECES_COPY_H

#include "engine/pieces.h"
#include "shard/array.h"

/* Streams the array's unpacked bytes; the array is borrowed. NULL with err set. The header of an
 * array whose size no zip file can hold (see zip_size_is_unsafe) gets longer. */
struct pieces *pieces_of_copy(const struct array *array, struct error *err);

/* How many bytes that will be. */
uint64_t pieces_copy_nbytes(const struct array *array);

#endif
