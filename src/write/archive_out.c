/*
 * archive_out.c - a new shard: the members of an output in a zip file, in one .npy file, or each in
 * a .npy file of a folder, which gets its final name when all is written.
 *
 * libzip makes a zip file: it reads the members and writes to the output. It asks a member's source
 * for STAT (method, and size if known), writes a local header, reads to the end, asks for STAT
 * again (size and CRC) and rewrites the header. Deflated members pass through untouched, because
 * their entries keep the default method and the source says "deflate".
 */
#include "write/archive_out.h"

#include "codec/codec.h"
#include "manifest/digest.h"
#include "manifest/manifest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <zip.h>

#define SUFFIX ".npy"

/* --- .npz files --- */

/*
 * libzip decides about zip64 before it sees the data, by the size that the first STAT gives; this
 * may be a bound, since the second STAT gives the real size. Members up to MAX_PLAIN_NBYTES cannot
 * need zip64, even if deflating makes them grow; the size of larger ones is withheld, and libzip
 * uses zip64.
 */
#define MAX_PLAIN_NBYTES 0xf0000000u

/* The first and the last second that a zip file's time stamps can hold. */
#define DOS_EPOCH_BEGIN UINT64_C(315532800)
#define DOS_EPOCH_END   UINT64_C(4354819198)

/* The file that libzip writes to. */
struct zip_sink {
    struct output *output;       /* borrowed, as are the next two */
    _Atomic uint64_t *n_settled; /* is told what is final */
    struct error *err;           /* where the first failure goes */
    bool between_entries;        /* the next position asked for is where an entry begins */
    uint16_t clock, date;        /* time stamps of the entries */
    zip_error_t zip_error;       /* the same failure, for libzip */
};

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
 * libzip 1.7.3 writes an entry, or a directory, that begins at exactly 0xFFFFFFFF as zip64 but
 * leaves out the offset. A gap of one byte avoids that offset. An entry begins where libzip asks
 * for the position right after a seek: it has just rewritten the local header of the entry before
 * and returned to the end, and will not write what lies before the end again.
 */
static zip_int64_t sink_call(void *self, void *data, zip_uint64_t n_bytes, zip_source_cmd_t command)
{
    struct zip_sink *sink = self;
    zip_int64_t offset;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_WRITABLE; /* reading, too: libzip insists, but never does it */
    case ZIP_SOURCE_STAT:                    /* asked only to see if an archive is there */
        return failed(sink, ZIP_ER_READ, ENOENT);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&sink->zip_error, data, n_bytes);
    case ZIP_SOURCE_WRITE:
        sink->between_entries = false;
        return output_write(sink->output, data, n_bytes, sink->err) == 0
                   ? (zip_int64_t)n_bytes
                   : failed(sink, ZIP_ER_WRITE, EIO);
    case ZIP_SOURCE_SEEK_WRITE:
        offset = zip_source_seek_compute_offset(position(sink), sink->output->n_bytes, data,
                                                n_bytes, &sink->zip_error);
        if (offset < 0)
            return -1;
        if (output_seek(sink->output, (uint64_t)offset, sink->err) != 0)
            return failed(sink, ZIP_ER_SEEK, EIO);
        sink->between_entries = true;
        return 0;
    case ZIP_SOURCE_TELL_WRITE:
        if (sink->between_entries) {
            *sink->n_settled = sink->output->offset;
            if (member_size_is_unsafe(position(sink)) &&
                output_write(sink->output, "", 1, sink->err) != 0)
                return failed(sink, ZIP_ER_WRITE, EIO);
        }
        sink->between_entries = false;
        return (zip_int64_t)position(sink);
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

static zip_int64_t member_read(struct member *member, uint8_t *to, size_t n_bytes)
{
    struct zip_sink *sink = member->sink;
    size_t done = 0;

    while (done < n_bytes && !member->ended) {
        const size_t n = (size_t)smaller(n_bytes - done, member->n_bytes);

        if (n > 0) {
            memcpy(to + done, member->bytes, n);
            member->bytes += n;
            member->n_bytes -= n;
            done += n;
            continue;
        }
        if (member_next(member, sink->err) != 0)
            return failed(sink, ZIP_ER_READ, EIO);
        if (member->ended && member_size_is_unsafe(member->made_nbytes)) {
            /* Its size was not known beforehand. */
            error_set(sink->err, ERROR_INTERNAL,
                      "member %s has exactly %llu bytes, which a zip file cannot hold",
                      text_quote(member->name).text, (unsigned long long)member->made_nbytes);
            return failed(sink, ZIP_ER_READ, EIO);
        }
    }
    return (zip_int64_t)done;
}

static zip_int64_t member_call(void *self, void *data, zip_uint64_t n_bytes,
                               zip_source_cmd_t command)
{
    struct member *member = self;
    zip_stat_t *st = data;

    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_READABLE;
    case ZIP_SOURCE_STAT:
        zip_stat_init(st);
        st->valid = ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
        st->comp_method = member->zip_method;
        st->encryption_method = ZIP_EM_NONE;
        if (member->ended) {
            st->valid |= ZIP_STAT_SIZE | ZIP_STAT_CRC;
            st->size = member->made_nbytes;
            st->crc = member->crc;
        } else if ((member->size_known || member->unpacked_nbytes > 0) &&
                   member->unpacked_nbytes <= MAX_PLAIN_NBYTES) {
            st->valid |= ZIP_STAT_SIZE;
            st->size = member->unpacked_nbytes;
        }
        return sizeof *st;
    case ZIP_SOURCE_READ:
        return member_read(member, data, n_bytes);
    case ZIP_SOURCE_ERROR:
        return zip_error_to_data(&member->sink->zip_error, data, n_bytes);
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        return failed(member->sink, ZIP_ER_OPNOTSUPP, 0);
    }
}

/* Set err to what libzip says, unless a member or the output has set it already. */
static int zip_failed(zip_error_t *zip_error, const char *what, struct error *err)
{
    int code = zip_error_code_zip(zip_error);

    if (err->kind != ERROR_NONE)
        return -1;
    if (code == ZIP_ER_MEMORY || code == ZIP_ER_OK) /* some failed allocations set no code */
        return error_no_memory(err, "zip file");
    return error_set(err, ERROR_INTERNAL, "libzip: %s: %s", what, zip_error_strerror(zip_error));
}

/* Set the time stamps: 1980-01-01, or the time of SOURCE_DATE_EPOCH, which always has a date. */
static int set_stamp(struct zip_sink *sink)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds = DOS_EPOCH_BEGIN;
    struct tm tm;

    if (text != NULL && text[0] != '\0' && text_parse_u64(text, &seconds) != 0)
        return error_set(sink->err, ERROR_USAGE, "SOURCE_DATE_EPOCH is not a number of seconds: %s",
                         text_quote(text).text);
    if (seconds < DOS_EPOCH_BEGIN)
        seconds = DOS_EPOCH_BEGIN;
    const time_t time = (time_t)smaller(seconds, DOS_EPOCH_END);
    (void)gmtime_r(&time, &tm);
    sink->clock = (uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec >> 1);
    sink->date = (uint16_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday);
    return 0;
}

int npz_out_write(struct archive_out *archive, struct error *err)
{
    const struct members *members = &archive->members;
    const char *comment = archive->comment;
    struct zip_sink sink = {.output = &archive->output,
                            .n_settled = &archive->n_settled,
                            .err = err,
                            .between_entries = true};
    zip_source_t *source = zip_source_function_create(sink_call, &sink, NULL);
    zip_error_t zip_error;
    zip_t *zip = NULL;
    int rc;

    zip_error_init(&zip_error);
    zip_error_init(&sink.zip_error);
    if (source != NULL)
        zip = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &zip_error);
    if (zip == NULL) {
        zip_source_free(source);
        rc = zip_failed(&zip_error, "cannot begin", err);
    } else {
        rc = set_stamp(&sink);
    }
    for (size_t i = 0; rc == 0 && i < members->n; i++) {
        struct member *member = members->list[i];
        zip_int64_t index = -1;

        member->sink = &sink;
        source = zip_source_function(zip, member_call, member);
        if (source != NULL)
            index = zip_file_add(zip, member->name, source, ZIP_FL_ENC_GUESS);
        if (index < 0)
            zip_source_free(source);
        if (index < 0 ||
            (member->zip_method == CODEC_ZIP_STORED &&
             zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0) ||
            zip_file_set_dostime(zip, (zip_uint64_t)index, sink.clock, sink.date, 0) != 0)
            rc = zip_failed(zip_get_error(zip), text_quote(member->name).text, err);
    }
    if (rc == 0 && comment != NULL &&
        zip_set_archive_comment(zip, comment, (zip_uint16_t)strlen(comment)) != 0)
        rc = zip_failed(zip_get_error(zip), "comment", err);
    if (rc == 0 && zip_close(zip) != 0)
        rc = zip_failed(zip_get_error(zip), "cannot write", err);
    if (rc != 0 && zip != NULL)
        zip_discard(zip);
    zip_error_fini(&zip_error);
    return rc;
}

/* --- its digest --- */

#define CHUNK_NBYTES (1u << 20)

/* SHA-256 of what is settled: a task beside the members, which shortens the end of the writing. */
struct hashing {
    const struct archive_out *archive; /* borrowed */
    struct digest digest;
    uint8_t *chunk; /* owned */
    uint64_t n_hashed;
    struct error failure; /* ends it */
};

/* Whole chunks only, so that as much is read however the threads take turns. */
static bool hash_is_due(void *self)
{
    const struct hashing *h = self;

    return h->n_hashed + CHUNK_NBYTES <= h->archive->n_settled && h->failure.kind == ERROR_NONE;
}

static void hash_chunk(void *self)
{
    struct hashing *h = self;
    const size_t n = (size_t)smaller(h->archive->n_settled - h->n_hashed, CHUNK_NBYTES);

    if (output_read(&h->archive->output, h->n_hashed, h->chunk, n, &h->failure) == 0)
        digest_update(&h->digest, h->chunk, n);
    h->n_hashed += n;
}

static int write_npz(struct archive_out *archive, char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    struct crew *crew = archive->members.crew;
    struct hashing h = {.archive = archive, .chunk = malloc(CHUNK_NBYTES)};
    struct crew_task task = {.is_due = hash_is_due, .step = hash_chunk, .self = &h};

    if (h.chunk == NULL)
        return error_no_memory(err, "SHA-256");
    digest_begin(&h.digest);
    if (crew != NULL)
        crew_add_task(crew, &task);
    int rc = npz_out_write(archive, err);
    if (crew != NULL)
        crew_drop_task(crew, &task);
    if (rc == 0 && (rc = output_flush(&archive->output, err)) == 0) {
        /* A hint: the disk may begin to write while the rest is hashed. */
        sync_file_range(archive->output.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        archive->n_settled = archive->output.n_bytes;
        while (h.n_hashed < archive->n_settled && h.failure.kind == ERROR_NONE)
            hash_chunk(&h);
        rc = h.failure.kind == ERROR_NONE ? 0 : error_pass(err, &h.failure);
    }
    digest_finish(&h.digest, sha256);
    free(h.chunk);
    return rc;
}

/* --- .npy files --- */

/* Pull a stored member to its end into an open output. */
static int write_plain(struct output *output, struct member *member, char sha256[DIGEST_HEX_NBYTES],
                       struct error *err)
{
    struct digest digest;

    digest_begin(&digest);
    while (!member->ended) {
        if (member_next(member, err) != 0)
            return -1;
        digest_update(&digest, member->bytes, member->n_bytes);
        if (output_write(output, member->bytes, member->n_bytes, err) != 0)
            return -1;
    }
    digest_finish(&digest, sha256);
    return 0;
}

/* A finished file, for the folder's digest. */
struct folder_file {
    char *name; /* owned; first: they are sorted by it */
    char sha256[DIGEST_HEX_NBYTES];
};

/* Pull each member into a file of the temp folder. The digest is that of the lines "FILE SHA256\n"
 * of the files. */
static int write_folder(struct archive_out *archive, uint64_t *n_bytes,
                        char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    const size_t n_files = archive->members.n;
    struct folder_file *files = calloc(n_files, sizeof *files);
    struct digest lines;
    int rc = files == NULL ? error_no_memory(err, "files of the folder") : 0;

    *n_bytes = 0;
    for (size_t i = 0; rc == 0 && i < n_files; i++) {
        struct member *member = archive->members.list[i];
        struct output output = {0};
        struct text path = {0};
        const char *name = member->name;
        const bool has_suffix = text_ends_with(name, SUFFIX) || strcmp(name, SUFFIX) == 0;

        rc = text_append(&path, err, "%s/%s%s", archive->output.temp, name,
                         has_suffix ? "" : SUFFIX);
        if (rc == 0 && (files[i].name = strdup(text_base_name(path.text))) == NULL)
            rc = error_no_memory(err, "file name");
        if (rc == 0 && output_open(&output, path.text, false, err) == 0 &&
            write_plain(&output, member, files[i].sha256, err) == 0)
            rc = output_commit(&output, false, err);
        else
            rc = -1;
        output_abort(&output);
        text_release(&path);
        *n_bytes += member->made_nbytes;
    }
    if (rc == 0)
        qsort(files, n_files, sizeof *files, text_compare);
    digest_begin(&lines);
    for (size_t i = 0; rc == 0 && i < n_files; i++)
        digest_add_line(&lines, files[i].name, files[i].sha256);
    digest_finish(&lines, sha256);
    for (size_t i = 0; files != NULL && i < n_files; i++)
        free(files[i].name);
    free(files);
    return rc;
}

/* --- shards --- */

int archive_out_init(struct archive_out *archive, const char *path, enum archive_out_form form,
                     bool force, struct error *err)
{
    *archive = (struct archive_out){.form = form, .force = force};
    if (form == ARCHIVE_OUT_NPY_FOLDER)
        return output_open_folder(&archive->output, path, SUFFIX, force, err);
    return output_open(&archive->output, path, force, err);
}

int archive_out_add(struct archive_out *archive, struct member *member, struct error *err)
{
    const struct text_quoted name = text_quote(member->name);
    const bool is_folder = archive->form == ARCHIVE_OUT_NPY_FOLDER;

    if (is_folder && (strchr(member->name, '/') != NULL || *member->name == '.'))
        return error_set(
            err, ERROR_CANT_CREATE, "member %s cannot be a file of a folder: its name %s",
            name.text, *member->name == '.' ? "begins with a dot, which hides it" : "has a slash");
    if (is_folder && member->zip_method != CODEC_ZIP_STORED)
        return error_set(err, ERROR_INTERNAL, "member %s of a folder is compressed", name.text);
    if (archive->form == ARCHIVE_OUT_NPY && archive->members.n > 0)
        return error_set(err, ERROR_CANT_CREATE,
                         "a .npy file holds one array, and there are %s and %s; write an .npz file "
                         "or use --format npy-dir",
                         text_quote(archive->members.list[0]->name).text, name.text);
    if (strlen(member->name) > UINT16_MAX)
        return error_set(err, ERROR_CANT_CREATE, "member %s: the name is too long for a zip file",
                         name.text);
    if (archive->form == ARCHIVE_OUT_NPZ && member->size_known &&
        member_size_is_unsafe(member->unpacked_nbytes))
        return error_set(err, ERROR_INTERNAL, "member %s: its size was not made safe for zip",
                         name.text);
    return members_add(&archive->members, member, err);
}

int archive_out_write(struct archive_out *archive, uint64_t *n_bytes, char sha256[65],
                      struct error *err)
{
    int rc;

    if (archive->members.n == 0)
        return error_set(err, ERROR_INTERNAL, "output shard without members");
    if (archive->form == ARCHIVE_OUT_NPY_FOLDER)
        rc = write_folder(archive, n_bytes, sha256, err);
    else if (archive->form == ARCHIVE_OUT_NPY)
        rc = write_plain(&archive->output, archive->members.list[0], sha256, err);
    else
        rc = write_npz(archive, sha256, err);
    if (archive->form != ARCHIVE_OUT_NPY_FOLDER)
        *n_bytes = archive->output.n_bytes;
    archive->written = rc == 0;
    return rc;
}

int archive_out_commit(struct archive_out *archive, struct error *err)
{
    const char *path = archive->output.path;
    struct text manifest = {0};
    struct stat st;

    if (!archive->written)
        return error_set(err, ERROR_INTERNAL, "output shard committed before it was written");
    archive->written = false;
    int status = text_append(&manifest, err, "%s" MANIFEST_SUFFIX, path);
    if (status == 0 && lstat(manifest.text, &st) == 0 && (archive->force || lstat(path, &st) != 0))
        status = output_remove(manifest.text, err);
    text_release(&manifest);
    return status == 0 ? output_commit(&archive->output, archive->force, err) : -1;
}

void archive_out_release(struct archive_out *archive)
{
    members_release(&archive->members);
    output_abort(&archive->output);
}
