/*
 * zip_agree.h - a second opinion on a zip archive's directory: libzip's.
 */
#ifndef SYMAUG_SHARD_ZIP_AGREE_H
#define SYMAUG_SHARD_ZIP_AGREE_H

#include "shard/zip_check.h"

/*
 * Open the archive with libzip and compare number, names, sizes, methods and CRCs of its members
 * with what zip_check found; any difference is ERROR_DATA. To be called after zip_check only:
 * libzip allocates what a directory declares. Not for two threads at once.
 *
 * names, when not NULL, receives n_entries strings: each member's name in UTF-8, as libzip reads
 * names that are not marked as UTF-8 (code page 437 where they cannot be). The caller frees each
 * and the list.
 */
int zip_agree(const struct input *in, const struct zip_directory *directory, char ***names,
              struct error *err);

#endif
