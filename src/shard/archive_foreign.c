/*
 * archive_foreign.c - files that are handed over as shards by mistake, by their first bytes.
 */
#include "shard/archive_parts.h"

#include <string.h>
#include <strings.h>

struct signature {
    size_t offset;
    const char *bytes;
    size_t n_bytes;
    const char *kind;
};

#define AT(offset, bytes, kind)               \
    {                                         \
        offset, bytes, sizeof bytes - 1, kind \
    }

static const struct signature signatures[] = {
    AT(0, "\x1f\x8b", "gzip data (unpack it first)"),
    AT(0, "BZh", "bzip2 data (unpack it first)"),
    AT(0, "\3757zXZ", "xz data (unpack it first)"),
    AT(0, "\x28\xb5\x2f\xfd", "zstd data (unpack it first)"),
    AT(0, "\x04\x22\x4d\x18", "lz4 data (unpack it first)"),
    AT(0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    AT(0, "Rar!\x1a\x07", "a RAR archive"),
    AT(257, "ustar", "a tar archive (unpack it first)"),
    AT(0, "\x89HDF\r\n\x1a\n", "an HDF5 file"),
    AT(0, "PAR1", "a Parquet file"),
    AT(0, "ARROW1", "an Arrow file"),
    AT(0, "SQLite format 3", "an SQLite database"),
    AT(0, "MATLAB 5.0", "a MATLAB file"),
    AT(0, "\x80\x02", "a bare pickle (it is never executed)"),
    AT(0, "\x80\x03", "a bare pickle (it is never executed)"),
    AT(0, "\x80\x04", "a bare pickle (it is never executed)"),
    AT(0, "\x80\x05", "a bare pickle (it is never executed)"),
    AT(0, "%PDF", "a PDF document"),
    AT(0, "\x89PNG", "a PNG picture"),
    AT(0, "version https://git-lfs", "a Git LFS pointer (fetch the file with git lfs pull)"),
    AT(0, "PK\x07\x08", "a part of a split zip archive"),
    AT(0, "PK00", "a part of a split zip archive"),
};

static const struct {
    const char *begin;
    const char *kind;
} texts[] = {
    {"<!doctype html", "an HTML page (a failed download?)"},
    {"<html", "an HTML page (a failed download?)"},
    {"<head", "an HTML page (a failed download?)"},
    {"<?xml", "an XML document (a failed download?)"},
    {"<error", "an XML document (a failed download?)"},
    {"{\"", "a JSON document"},
};

/* Text begins behind a byte order mark and white space. */
static const char *text_kind(const uint8_t *bytes, size_t n_bytes)
{
    if (n_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        n_bytes -= 3;
    }
    while (n_bytes > 0 && strchr(" \t\r\n", *bytes) != NULL && *bytes != '\0') {
        bytes++;
        n_bytes--;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const size_t n = strlen(texts[i].begin);

        if (n_bytes >= n && strncasecmp((const char *)bytes, texts[i].begin, n) == 0)
            return texts[i].kind;
    }
    return NULL;
}

static bool is_all_zero(const uint8_t *bytes, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

const char *archive_foreign_kind(const uint8_t *bytes, size_t n_bytes, uint64_t file_nbytes)
{
    if (file_nbytes == 0)
        return "an empty file";
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const struct signature *s = &signatures[i];

        if (n_bytes >= s->offset + s->n_bytes &&
            memcmp(bytes + s->offset, s->bytes, s->n_bytes) == 0)
            return s->kind;
    }
    if (is_all_zero(bytes, n_bytes))
        return "zero bytes at its front (lost in a crash or a transfer?)";
    return text_kind(bytes, n_bytes);
}
