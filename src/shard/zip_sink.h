/*
 * zip_sink.h - the file that libzip writes to: an output that gets its final name later.
 * Private to archive_out.
 */
#ifndef SYMAUG_SHARD_ZIP_SINK_H
#define SYMAUG_SHARD_ZIP_SINK_H

#include "base/error.h"
#include "base/output.h"
#include "shard/output_digest.h"

#include <stdbool.h>
#include <stdint.h>
#include <zip.h>

struct zip_sink {
    struct output *output;        /* borrowed */
    struct output_digest *digest; /* borrowed: is told what is final; or NULL */
    struct error *err;            /* borrowed: where the first failure is told */
    uint64_t entry_offset;        /* of the local header that was begun last */
    bool between_entries;         /* the next position asked for is where an entry begins */
    zip_error_t zip_error;        /* what libzip is told of it */
};

/* A source over the sink, for zip_open_from_source. The sink must outlive it. NULL: no memory. */
zip_source_t *zip_sink_source(struct zip_sink *sink, struct output *output,
                              struct output_digest *digest, struct error *err);

#endif
