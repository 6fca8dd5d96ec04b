/* zip_sink.c - see zip_sink.h. */
#include "shard/zip_sink.h"
#include "shard/archive_out.h"

#include <errno.h>

static const zip_int64_t sink_commands =
    ZIP_SOURCE_SUPPORTS_WRITABLE; /* reading is claimed, because libzip insists, but never done */

static uint64_t position(const struct zip_sink *sink)
{
    return sink->output->offset + sink->output->n_buffered;
}

static zip_int64_t failed(struct zip_sink *sink, int zip_err, int errnum)
{
    zip_error_set(&sink->zip_error, zip_err, errnum);
    return -1;
}

/*
 * libzip 1.7.3 writes an entry, or a directory, that begins at exactly 0xFFFFFFFF as if it were a
 * zip64 one but leaves the offset out. One byte of gap in front of it avoids that. An entry begins
 * where the position is asked for right after a seek: libzip has just rewritten the local header
 * in front and gone back to the end, and will not come back to what is there.
 */
static zip_int64_t sink_tell(struct zip_sink *sink)
{
    if (sink->between_entries) {
        if (sink->digest != NULL)
            output_digest_settle(sink->digest, sink->output->offset);
        if (archive_out_size_is_unsafe(position(sink)) &&
            output_write(sink->output, "", 1, sink->err) != 0)
            return failed(sink, ZIP_ER_WRITE, EIO);
        sink->entry_offset = position(sink);
        sink->between_entries = false;
    }
    return (zip_int64_t)position(sink);
}

static zip_int64_t sink_seek(struct zip_sink *sink, void *data, zip_uint64_t n_bytes)
{
    zip_int64_t offset = zip_source_seek_compute_offset(position(sink), sink->output->n_bytes, data,
                                                        n_bytes, &sink->zip_error);

    if (offset < 0)
        return -1;
    if (output_seek(sink->output, (uint64_t)offset, sink->err) != 0)
        return failed(sink, ZIP_ER_SEEK, EIO);
    sink->between_entries = true;
    return 0;
}

static zip_int64_t sink_write(struct zip_sink *sink, const void *data, zip_uint64_t n_bytes)
{
    sink->between_entries = false;
    if (output_write(sink->output, data, n_bytes, sink->err) != 0)
        return failed(sink, ZIP_ER_WRITE, EIO);
    return (zip_int64_t)n_bytes;
}

static zip_int64_t sink_call(void *self, void *data, zip_uint64_t n_bytes, zip_source_cmd_t command)
{
    struct zip_sink *sink = self;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return sink_commands;
    case ZIP_SOURCE_STAT: /* asked only whether there is an archive to change */
        return failed(sink, ZIP_ER_READ, ENOENT);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&sink->zip_error, data, n_bytes);
    case ZIP_SOURCE_WRITE:
        return sink_write(sink, data, n_bytes);
    case ZIP_SOURCE_SEEK_WRITE:
        return sink_seek(sink, data, n_bytes);
    case ZIP_SOURCE_TELL_WRITE:
        return sink_tell(sink);
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE: /* the output is committed, or aborted, by its owner */
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        return failed(sink, ZIP_ER_OPNOTSUPP, 0);
    }
}

zip_source_t *zip_sink_source(struct zip_sink *sink, struct output *output,
                              struct output_digest *digest, struct error *err)
{
    *sink =
        (struct zip_sink){.output = output, .digest = digest, .err = err, .between_entries = true};
    zip_error_init(&sink->zip_error);
    return zip_source_function_create(sink_call, sink, NULL);
}
