/*
 * archive_out.c - a new shard: the members of an output, in a zip file, in one .npy file, or each
 * in a .npy file of a folder, which gets its final name when all is written.
 */
#include "write/archive_out.h"

#include "base/text.h"
#include "codec/crc.h"
#include "write/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".npy"

struct archive_out {
    enum archive_out_form form;
    bool force;
    bool written;
    struct output output;        /* of an npz file */
    struct output_digest digest; /* of the output */
    struct output_folder folder; /* of a folder */
    struct member **members;     /* owned; the members are borrowed */
    size_t n_members;
    char *comment; /* owned, or NULL */
};

struct archive_out *archive_out_new(const char *path, enum archive_out_form form, bool force,
                                    struct error *err)
{
    struct archive_out *archive = calloc(1, sizeof *archive);
    int rc;

    if (archive == NULL) {
        error_no_memory(err, "output shard");
        return NULL;
    }
    archive->form = form;
    archive->force = force;
    if (form == ARCHIVE_OUT_NPY_FOLDER) {
        rc = output_folder_open(&archive->folder, path, SUFFIX, force, err);
    } else {
        rc = output_open(&archive->output, path, force, err);
        if (rc == 0)
            rc = output_digest_init(&archive->digest, &archive->output, err);
    }
    if (rc == 0)
        return archive;
    archive_out_free(archive);
    return NULL;
}

int archive_out_add(struct archive_out *archive, struct member *member, struct error *err)
{
    const char *name = member->name;
    struct member **grown;

    if (archive->form == ARCHIVE_OUT_NPY_FOLDER && strchr(name, '/') != NULL)
        return error_set(err, ERROR_CANT_CREATE,
                         "member %s cannot be a file of a folder: its name has a slash",
                         text_quote(name).text);
    if (archive->form == ARCHIVE_OUT_NPY_FOLDER && member->zip_method != CODEC_ZIP_STORED)
        return error_set(err, ERROR_INTERNAL, "member %s of a folder is compressed",
                         text_quote(name).text);
    if (archive->form == ARCHIVE_OUT_NPY && archive->n_members > 0)
        return error_set(err, ERROR_CANT_CREATE,
                         "a .npy file holds one array, and there are %s and %s; write an .npz file "
                         "or use --format npy-dir",
                         text_quote(archive->members[0]->name).text, text_quote(name).text);
    if (strlen(name) > UINT16_MAX)
        return error_set(err, ERROR_CANT_CREATE, "member %s: the name is too long for a zip file",
                         text_quote(name).text);
    if (archive->form == ARCHIVE_OUT_NPZ && member->size_known &&
        member_size_is_unsafe(member->unpacked_nbytes))
        return error_set(err, ERROR_INTERNAL, "member %s: its size was not made safe for zip",
                         text_quote(name).text);
    grown = reallocarray(archive->members, archive->n_members + 1, sizeof *grown);
    if (grown == NULL)
        return error_no_memory(err, "members of the output shard");
    archive->members = grown;
    grown[archive->n_members++] = member;
    return 0;
}

int archive_out_set_comment(struct archive_out *archive, const char *comment, struct error *err)
{
    char *copy;

    if (strlen(comment) > UINT16_MAX || !text_is_utf8(comment, strlen(comment)))
        return error_set(err, ERROR_INTERNAL, "zip comment %s is too long or not UTF-8",
                         text_quote(comment).text);
    copy = strdup(comment);
    if (copy == NULL)
        return error_no_memory(err, "zip comment");
    free(archive->comment);
    archive->comment = copy;
    return 0;
}

bool archive_out_digest_is_due(struct archive_out *archive)
{
    return output_digest_is_due(&archive->digest);
}

void archive_out_digest_step(struct archive_out *archive)
{
    output_digest_step(&archive->digest);
}

/* --- .npy files --- */

/* Pull a stored member to its end into an open output; the CRC it gives is checked against what was
 * written. */
static int write_plain(struct output *output, struct member *member, struct error *err)
{
    uint32_t crc = 0;

    for (;;) {
        if (member_next(member, err) != 0)
            return -1;
        if (member->ended)
            break;
        crc = crc_update(crc, member->bytes, member->n_bytes);
        if (output_write(output, member->bytes, member->n_bytes, err) != 0)
            return -1;
    }
    if (crc != member->crc)
        return error_set(err, ERROR_INTERNAL, "member %s: CRC %08x expected, %08x written",
                         text_quote(member->name).text, member->crc, crc);
    return 0;
}

/* A finished file, for the folder's digest. */
struct folder_file {
    char *name; /* owned */
    char sha256[DIGEST_HEX_NBYTES];
};

/* Pull a member into a file of the temp folder. */
static int write_file(const struct output_folder *folder, struct member *member,
                      struct folder_file *file, struct error *err)
{
    const size_t n = strlen(member->name), n_suffix = strlen(SUFFIX);
    const bool has_suffix = n >= n_suffix && strcmp(member->name + n - n_suffix, SUFFIX) == 0;
    struct output output;
    struct output_digest digest;
    char *path;
    int rc;

    if (asprintf(&file->name, "%s%s", member->name, has_suffix ? "" : SUFFIX) < 0) {
        file->name = NULL;
        return error_no_memory(err, "file name");
    }
    if (asprintf(&path, "%s/%s", folder->temp.path, file->name) < 0)
        return error_no_memory(err, "file name");
    rc = output_open(&output, path, false, err);
    free(path);
    if (rc != 0)
        return -1;
    rc = output_digest_init(&digest, &output, err);
    if (rc == 0)
        rc = write_plain(&output, member, err);
    if (rc == 0)
        rc = output_digest_finish(&digest, file->sha256, err);
    output_digest_release(&digest);
    if (rc == 0)
        return output_commit(&output, false, err);
    output_abort(&output);
    return -1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct folder_file *)a)->name, ((const struct folder_file *)b)->name);
}

/* Pull each member into a file. The digest is that of the lines "FILE SHA256\n" of the files. */
static int write_folder(struct archive_out *archive, uint64_t *n_bytes,
                        char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    const size_t n_files = archive->n_members;
    struct folder_file *files = calloc(n_files, sizeof *files);
    struct digest *digest = digest_new(err);
    int rc = digest == NULL ? -1 : files == NULL ? error_no_memory(err, "files of the folder") : 0;

    *n_bytes = 0;
    for (size_t i = 0; rc == 0 && i < n_files; i++) {
        rc = write_file(&archive->folder, archive->members[i], &files[i], err);
        *n_bytes += archive->members[i]->made_nbytes;
    }
    if (rc == 0)
        qsort(files, n_files, sizeof *files, by_name);
    for (size_t i = 0; rc == 0 && i < n_files; i++)
        rc = digest_add_line(digest, files[i].name, files[i].sha256, err);
    if (rc == 0)
        rc = digest_finish(digest, sha256, err);
    for (size_t i = 0; files != NULL && i < n_files; i++)
        free(files[i].name);
    free(files);
    digest_free(digest);
    return rc;
}

/* --- */

int archive_out_write(struct archive_out *archive, uint64_t *n_bytes, char sha256[65],
                      struct error *err)
{
    int rc;

    if (archive->n_members == 0)
        return error_set(err, ERROR_INTERNAL, "output shard without members");
    if (archive->form == ARCHIVE_OUT_NPY_FOLDER) {
        rc = write_folder(archive, n_bytes, sha256, err);
    } else {
        if (archive->form == ARCHIVE_OUT_NPZ)
            rc = npz_out_write(&archive->output, &archive->digest,
                               (struct member_list){archive->members, archive->n_members},
                               archive->comment, err);
        else
            rc = write_plain(&archive->output, archive->members[0], err);
        *n_bytes = archive->output.n_bytes;
        if (rc == 0)
            rc = output_digest_finish(&archive->digest, sha256, err);
    }
    archive->written = rc == 0;
    return rc;
}

int archive_out_sync(struct archive_out *archive, struct error *err)
{
    if (archive->form == ARCHIVE_OUT_NPY_FOLDER) /* its files are: see write_folder */
        return 0;
    return output_sync(&archive->output, err);
}

int archive_out_commit(struct archive_out *archive, struct error *err)
{
    if (!archive->written)
        return error_set(err, ERROR_INTERNAL, "output shard committed before it was written");
    archive->written = false;
    if (archive->form != ARCHIVE_OUT_NPY_FOLDER)
        return output_commit(&archive->output, archive->force, err);
    return output_folder_commit(&archive->folder, SUFFIX, archive->force, err);
}

void archive_out_free(struct archive_out *archive)
{
    if (archive == NULL)
        return;
    output_digest_release(&archive->digest);
    if (archive->form != ARCHIVE_OUT_NPY_FOLDER)
        output_abort(&archive->output);
    else
        output_folder_abort(&archive->folder);
    free(archive->members);
    free(archive->comment);
    free(archive);
}
