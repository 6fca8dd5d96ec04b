/*
 * archive_parts.h - the forms a shard may come in, for archive_in's own files only.
 */
#ifndef SYMAUG_SHARD_ARCHIVE_PARTS_H
#define SYMAUG_SHARD_ARCHIVE_PARTS_H

#include "shard/archive_in.h"
#include "shard/unpack.h"
#include "base/warnings.h"

/*
 * What a file that is no shard seems to be, from its first n_bytes and its size ("an HTML page"),
 * or NULL. Static text.
 */
const char *archive_foreign_kind(const uint8_t *bytes, size_t n_bytes, uint64_t file_nbytes);

/* True, and the array is so marked, when it is to be left out. */
bool archive_leaves_array_out(const struct archive_in *archive, struct array *array);

/* Enough of a file for archive_foreign_kind. */
#define ARCHIVE_PEEK_NBYTES 512

/* List the arrays of the .npz file in archive->inputs[0]. */
int archive_open_npz(struct archive_in *archive, struct warnings *warnings, struct error *err);

/* Open the .npy files of the folder at archive->path. */
int archive_open_folder(struct archive_in *archive, bool use_map, struct warnings *warnings,
                        struct error *err);

/* Make archive->inputs[0] the one array of the archive. */
int archive_open_npy(struct archive_in *archive, struct warnings *warnings, struct error *err);

#endif
