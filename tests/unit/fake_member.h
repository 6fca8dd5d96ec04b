/*
 * fake_member.h - members of given bytes for tests that write shards, and what libzip reads back.
 */
#pragma once

#include "write/archive_out.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

#define N_MAX_RUNS 8

/* A new shard of its own memory; NULL with err set. */
static inline struct archive_out *archive_new(const char *path, enum archive_out_form form,
                                              bool force, struct error *err)
{
    struct archive_out *archive = calloc(1, sizeof *archive);

    if (archive == NULL) {
        error_no_memory(err, "shard");
        return NULL;
    }
    if (archive_out_init(archive, path, form, force, err) == 0)
        return archive;
    archive_out_release(archive);
    free(archive);
    return NULL;
}

static inline void archive_free(struct archive_out *archive)
{
    archive_out_release(archive);
    free(archive);
}

/* A member made of runs that were packed beforehand. */
struct fake {
    struct member head;
    const uint8_t *raw;
    size_t n_raw;
    uint8_t *runs[N_MAX_RUNS]; /* owned */
    size_t run_nbytes[N_MAX_RUNS];
    size_t n_runs, next;
    size_t fail_at; /* pull number that fails, from 1 */
    uint32_t crc;
    uint64_t made_nbytes; /* as claimed at the end */
};

static inline int fake_pull(struct member *member, struct error *err)
{
    struct fake *fake = (struct fake *)member;

    if (++fake->next == fake->fail_at)
        return error_set(err, ERROR_DATA, "in.npz: 'planes': row 7: broken");
    member->n_bytes = 0;
    if (fake->next <= fake->n_runs) {
        member->bytes = fake->runs[fake->next - 1];
        member->n_bytes = fake->run_nbytes[fake->next - 1];
    }
    member->crc = fake->crc;
    member->made_nbytes = fake->made_nbytes;
    return 0;
}

/* Put it into the archive, as if it had never been pulled. The name is borrowed. */
static inline int fake_add(struct archive_out *archive, struct fake *fake, const char *name,
                           struct error *err)
{
    fake->head = (struct member){.name = name,
                                 .zip_method = fake->head.zip_method,
                                 .size_known = fake->head.size_known,
                                 .unpacked_nbytes = fake->head.unpacked_nbytes,
                                 .pull = fake_pull};
    fake->next = 0;
    return archive_out_add(archive, &fake->head, err);
}

static inline void pack_run(struct fake *fake, z_stream *z, size_t n_bytes, bool last)
{
    size_t bound = n_bytes + n_bytes / 8 + 64;
    uint8_t *run = malloc(bound);

    assert_non_null(run);
    z->avail_in = (uInt)n_bytes;
    z->next_out = run;
    z->avail_out = (uInt)bound;
    assert_int_equal(deflate(z, last ? Z_FINISH : Z_SYNC_FLUSH), last ? Z_STREAM_END : Z_OK);
    fake->runs[fake->n_runs] = run;
    fake->run_nbytes[fake->n_runs++] = bound - z->avail_out;
}

static inline void fake_init(struct fake *fake, const uint8_t *raw, size_t n_raw, bool deflated,
                             bool size_known)
{
    size_t n_pieces = n_raw > 1000 ? 5 : 1, at = 0;
    z_stream z = {0};

    *fake = (struct fake){.raw = raw, .n_raw = n_raw, .made_nbytes = n_raw};
    fake->crc = (uint32_t)crc32_z(0, raw, n_raw);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, 0), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)raw;
    for (size_t i = 1; i <= n_pieces; i++) {
        size_t n = n_raw * i / n_pieces - at;

        if (deflated) {
            pack_run(fake, &z, n, i == n_pieces);
        } else if (n > 0) {
            fake->runs[fake->n_runs] = malloc(n);
            memcpy(fake->runs[fake->n_runs], raw + at, n);
            fake->run_nbytes[fake->n_runs++] = n;
        }
        at += n;
    }
    deflateEnd(&z);
    fake->head.zip_method = deflated ? CODEC_ZIP_DEFLATE : CODEC_ZIP_STORED;
    fake->head.size_known = size_known;
    fake->head.unpacked_nbytes = size_known ? n_raw : 0;
}

static inline void fake_release(struct fake *fake)
{
    for (size_t i = 0; i < fake->n_runs; i++)
        free(fake->runs[i]);
}

static inline uint8_t *make_raw(size_t n_bytes)
{
    uint8_t *raw = malloc(n_bytes + 1);

    for (size_t i = 0; i < n_bytes; i++)
        raw[i] = (uint8_t)(i % 251 == 0 ? i >> 8 : i % 7);
    return raw;
}

/* The member is in the file under that very name, whole, with that method. */
static inline void assert_member(zip_t *zip, zip_uint64_t index, const char *name,
                                 const struct fake *fake, bool deflated)
{
    uint8_t *found = malloc(fake->n_raw + 1);
    zip_file_t *file;
    zip_stat_t st;

    assert_string_equal(zip_get_name(zip, index, ZIP_FL_ENC_RAW), name);
    assert_int_equal(zip_stat_index(zip, index, 0, &st), 0);
    assert_int_equal(st.comp_method, deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE);
    assert_int_equal(st.size, fake->n_raw);
    assert_int_equal(st.crc, fake->crc);
    if (deflated) {
        uint64_t packed = 0;

        for (size_t i = 0; i < fake->n_runs; i++)
            packed += fake->run_nbytes[i];
        assert_int_equal(st.comp_size, packed); /* passed through, not packed again */
    }
    file = zip_fopen_index(zip, index, 0);
    assert_non_null(file);
    assert_int_equal(zip_fread(file, found, fake->n_raw + 1), fake->n_raw);
    assert_memory_equal(found, fake->raw, fake->n_raw);
    assert_int_equal(zip_fclose(file), 0);
    free(found);
}

/* 0 when the finished shard has its final name. */
static inline int write_and_commit(struct archive_out *archive, uint64_t *n_bytes, char sha256[65],
                                   struct error *err)
{
    if (archive_out_write(archive, n_bytes, sha256, err) != 0)
        return -1;
    return archive_out_commit(archive, err);
}
