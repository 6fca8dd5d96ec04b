/*
 * npz_out.c - an .npz file, written by libzip: it pulls the members, and writes to an output that
 * gets its final name later.
 *
 * libzip asks a member's source for STAT (method, and size if known), writes a local header, reads
 * to the end, asks for STAT again (size and CRC) and rewrites the header. Deflated members pass
 * through untouched, because their entries keep the default method and the source says "deflate".
 * For stored ones libzip computes the CRC itself; it is compared with the member's own.
 */
#include "write/parts.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zip.h>

/*
 * The size of a local header is settled before the data is seen, by the size that the first STAT
 * tells (a bound does as well, the second one tells the truth). Up to here a member cannot need
 * zip64 even if deflating makes it grow; above, its size is withheld, and libzip uses zip64.
 */
#define MAX_PLAIN_NBYTES 0xf0000000u

#define LOCAL_HEADER_MAGIC  0x04034b50u
#define LOCAL_HEADER_CRC_AT 14
#define LOCAL_HEADER_NBYTES 30

/* Earliest and latest second that a zip file's time stamps can tell. */
#define DOS_EPOCH_BEGIN UINT64_C(315532800)
#define DOS_EPOCH_END   UINT64_C(4354819198)

/* --- the file that libzip writes to --- */

struct zip_sink {
    struct output *output;        /* borrowed */
    struct output_digest *digest; /* borrowed: is told what is final; or NULL */
    struct error *err;            /* borrowed: where the first failure is told */
    uint64_t entry_offset;        /* of the local header that was begun last */
    bool between_entries;         /* the next position asked for is where an entry begins */
    zip_error_t zip_error;        /* what libzip is told of it */
};

static uint64_t position(const struct zip_sink *sink)
{
    return sink->output->offset + sink->output->n_buffered;
}

static zip_int64_t sink_failed(struct zip_sink *sink, int zip_err, int errnum)
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
        if (member_size_is_unsafe(position(sink)) &&
            output_write(sink->output, "", 1, sink->err) != 0)
            return sink_failed(sink, ZIP_ER_WRITE, EIO);
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
        return sink_failed(sink, ZIP_ER_SEEK, EIO);
    sink->between_entries = true;
    return 0;
}

static zip_int64_t sink_call(void *self, void *data, zip_uint64_t n_bytes, zip_source_cmd_t command)
{
    struct zip_sink *sink = self;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE; /* reading, too: libzip insists, but never does it */
    case ZIP_SOURCE_STAT:                    /* asked only whether there is an archive to change */
        return sink_failed(sink, ZIP_ER_READ, ENOENT);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&sink->zip_error, data, n_bytes);
    case ZIP_SOURCE_WRITE:
        sink->between_entries = false;
        return output_write(sink->output, data, n_bytes, sink->err) == 0
                   ? (zip_int64_t)n_bytes
                   : sink_failed(sink, ZIP_ER_WRITE, EIO);
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
        return sink_failed(sink, ZIP_ER_OPNOTSUPP, 0);
    }
}

/* --- the members that it pulls --- */

/* A member as libzip's source sees it. */
struct zip_member {
    struct member *member; /* borrowed */
    const struct zip_sink *sink;
    struct error *err;
    uint64_t header_offset;
    zip_error_t zip_error;
};

static zip_int64_t member_stat(const struct zip_member *member, zip_stat_t *st)
{
    const struct member *from = member->member;

    zip_stat_init(st);
    st->valid = ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    st->comp_method = from->zip_method;
    st->encryption_method = ZIP_EM_NONE;
    if (from->ended) {
        st->valid |= ZIP_STAT_SIZE | ZIP_STAT_CRC;
        st->size = from->made_nbytes;
        st->crc = from->crc;
    } else if ((from->size_known || from->unpacked_nbytes > 0) &&
               from->unpacked_nbytes <= MAX_PLAIN_NBYTES) {
        st->valid |= ZIP_STAT_SIZE;
        st->size = from->unpacked_nbytes;
    }
    return sizeof *st;
}

static zip_int64_t member_read(struct zip_member *member, uint8_t *to, size_t n_bytes)
{
    struct member *from = member->member;
    size_t done = 0;

    while (done < n_bytes && !from->ended) {
        size_t n = n_bytes - done;

        if (from->n_bytes == 0) {
            int rc = member_next(from, member->err);

            /* Of a size that was not known beforehand. */
            if (rc == 0 && from->ended && member_size_is_unsafe(from->made_nbytes))
                rc = error_set(member->err, ERROR_INTERNAL,
                               "member %s has exactly %llu bytes, which a zip file cannot hold",
                               text_quote(from->name).text, (unsigned long long)from->made_nbytes);
            if (rc != 0) {
                zip_error_set(&member->zip_error, ZIP_ER_READ, EIO);
                return -1;
            }
            continue;
        }
        if (n > from->n_bytes)
            n = from->n_bytes;
        memcpy(to + done, from->bytes, n);
        from->bytes += n;
        from->n_bytes -= n;
        done += n;
    }
    return (zip_int64_t)done;
}

static zip_int64_t member_call(void *self, void *data, zip_uint64_t n_bytes,
                               zip_source_cmd_t command)
{
    struct zip_member *member = self;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_STAT:
        return member_stat(member, data);
    case ZIP_SOURCE_OPEN:
        member->header_offset = member->sink->entry_offset;
        return 0;
    case ZIP_SOURCE_READ:
        return member_read(member, data, n_bytes);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&member->zip_error, data, n_bytes);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        zip_error_set(&member->zip_error, ZIP_ER_OPNOTSUPP, 0);
        return -1;
    }
}

/* What libzip says, unless a member or the output has told the cause already. */
static int zip_failed(zip_error_t *zip_error, const char *what, struct error *err)
{
    int code = zip_error_code_zip(zip_error);

    if (err->kind != ERROR_NONE)
        return -1;
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) /* some failed allocations set no code */
        return error_no_memory(err, "zip file");
    return error_set(err, ERROR_INTERNAL, "libzip: %s: %s", what, zip_error_strerror(zip_error));
}

struct dos_stamp {
    uint16_t clock;
    uint16_t date;
};

/* 1980-01-01, or the time of SOURCE_DATE_EPOCH, as zip files write it. */
static int dos_stamp_init(struct dos_stamp *stamp, struct error *err)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds = DOS_EPOCH_BEGIN;
    time_t time;
    struct tm tm;

    if (text != NULL && text[0] != '\0' && text_parse_u64(text, &seconds) != 0)
        return error_set(err, ERROR_USAGE, "SOURCE_DATE_EPOCH is not a number of seconds: %s",
                         text_quote(text).text);
    if (seconds < DOS_EPOCH_BEGIN)
        seconds = DOS_EPOCH_BEGIN;
    if (seconds > DOS_EPOCH_END)
        seconds = DOS_EPOCH_END;
    time = (time_t)seconds;
    if (gmtime_r(&time, &tm) == NULL)
        return error_set(err, ERROR_INTERNAL, "cannot convert SOURCE_DATE_EPOCH");
    stamp->clock = (uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec >> 1);
    stamp->date = (uint16_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday);
    return 0;
}

static int add_member(zip_t *zip, struct zip_member *member, const struct dos_stamp *stamp,
                      struct error *err)
{
    const struct member *from = member->member;
    zip_source_t *source = zip_source_function(zip, member_call, member);
    zip_int64_t index = -1;

    if (source != NULL)
        index = zip_file_add(zip, from->name, source, ZIP_FL_ENC_GUESS);
    if (index < 0) {
        zip_source_free(source);
        return zip_failed(zip_get_error(zip), text_quote(from->name).text, err);
    }
    if ((from->zip_method == CODEC_ZIP_STORED &&
         zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0) ||
        zip_file_set_dostime(zip, (zip_uint64_t)index, stamp->clock, stamp->date, 0) != 0)
        return zip_failed(zip_get_error(zip), text_quote(from->name).text, err);
    return 0;
}

/* The CRC in the finished local header is libzip's own for stored members. */
static int check_crc(struct output *output, const struct zip_member *member, struct error *err)
{
    uint8_t header[LOCAL_HEADER_NBYTES];
    uint32_t crc;

    if (output_read(output, member->header_offset, header, sizeof header, err) != 0)
        return -1;
    crc = bytes_get_le32(header + LOCAL_HEADER_CRC_AT);
    if (bytes_get_le32(header) == LOCAL_HEADER_MAGIC && crc == member->member->crc)
        return 0;
    return error_set(err, ERROR_INTERNAL, "member %s: CRC %08x expected, %08x written",
                     text_quote(member->member->name).text, member->member->crc, crc);
}

/* Close it, or give it up. */
static int fill_and_close(zip_t *zip, struct zip_member *members, size_t n_members,
                          const char *comment, struct error *err)
{
    struct dos_stamp stamp = {0, 0};
    int rc = dos_stamp_init(&stamp, err);

    for (size_t i = 0; rc == 0 && i < n_members; i++)
        rc = add_member(zip, &members[i], &stamp, err);
    if (rc == 0 && comment != NULL &&
        zip_set_archive_comment(zip, comment, (zip_uint16_t)strlen(comment)) != 0)
        rc = zip_failed(zip_get_error(zip), "comment", err);
    if (rc == 0 && zip_close(zip) == 0)
        return 0;
    if (rc == 0)
        zip_failed(zip_get_error(zip), "cannot write", err);
    zip_discard(zip);
    return -1;
}

int npz_out_write(struct output *output, struct output_digest *digest, struct member_list list,
                  const char *comment, struct error *err)
{
    struct zip_member *members = calloc(list.n + 1, sizeof *members);
    struct zip_sink sink = {
        .output = output, .digest = digest, .err = err, .between_entries = true};
    zip_source_t *source = zip_source_function_create(sink_call, &sink, NULL);
    zip_error_t zip_error;
    zip_t *zip = NULL;
    int rc = -1;

    zip_error_init(&zip_error);
    zip_error_init(&sink.zip_error);
    if (members != NULL && source != NULL)
        zip = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &zip_error);
    if (zip == NULL) {
        zip_failed(&zip_error, "cannot begin", err);
        zip_source_free(source);
    } else {
        for (size_t i = 0; i < list.n; i++)
            members[i] = (struct zip_member){.member = list.members[i], .sink = &sink, .err = err};
        rc = fill_and_close(zip, members, list.n, comment, err);
    }
    for (size_t i = 0; rc == 0 && i < list.n; i++)
        if (list.members[i]->zip_method == CODEC_ZIP_STORED)
            rc = check_crc(output, &members[i], err);
    zip_error_fini(&zip_error);
    free(members);
    return rc;
}
