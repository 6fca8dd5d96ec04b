/*
 * archive_out.c - see archive_out.h: members are collected, then written in the shard's form: an
 * npz file through libzip (zip/write.h), or .npy files byte for byte.
 */
#include "shard/archive_out.h"

#include "base/output.h"
#include "base/output_folder.h"
#include "base/text.h"
#include "codec/crc.h"
#include "manifest/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NPY_SUFFIX ".npy"

struct archive_out {
    enum archive_out_form form;
    bool force;
    bool written;
    struct output output;        /* of an npz file */
    struct output_digest digest; /* of the output */
    struct output_folder folder; /* of a folder */
    struct member_pull *members; /* owned */
    size_t n_members, capacity;
    char *comment; /* owned, or NULL */
};

/* --- .npy files --- */

static int write_plain(struct output *output, struct member_pull *member, struct error *err)
{
    uint32_t crc = 0;

    for (;;) {
        if (member_pull_next(member, err) != 0)
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

static int check_folder_member(const char *name, const struct member_source *source,
                               struct error *err)
{
    if (strchr(name, '/') != NULL)
        return error_set(err, ERROR_CANT_CREATE,
                         "member %s cannot be a file of a folder: its name has a slash",
                         text_quote(name).text);
    if (source->deflated)
        return error_set(err, ERROR_INTERNAL, "member %s of a folder is compressed",
                         text_quote(name).text);
    return 0;
}

static char *file_name(const char *name, struct error *err)
{
    size_t n = strlen(name), n_suffix = strlen(NPY_SUFFIX);
    bool has_suffix = n >= n_suffix && strcmp(name + n - n_suffix, NPY_SUFFIX) == 0;
    char *file;

    if (asprintf(&file, "%s%s", name, has_suffix ? "" : NPY_SUFFIX) >= 0)
        return file;
    error_no_memory(err, "file name");
    return NULL;
}

static int write_folder_file(const struct output_folder *folder, struct member_pull *member,
                             struct folder_file *file, struct error *err)
{
    struct output output;
    struct output_digest digest;
    char *path;
    int rc;

    file->name = file_name(member->name, err);
    if (file->name == NULL)
        return -1;
    if (asprintf(&path, "%s/%s", folder->temp_path, file->name) < 0)
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

static int digest_files(struct folder_file *files, size_t n_files, char sha256[DIGEST_HEX_NBYTES],
                        struct error *err)
{
    struct digest *digest = digest_new(err);
    int rc = digest == NULL ? -1 : 0;

    qsort(files, n_files, sizeof *files, by_name);
    for (size_t i = 0; rc == 0 && i < n_files; i++) {
        const char *parts[] = {files[i].name, " ", files[i].sha256, "\n"};

        for (size_t k = 0; rc == 0 && k < sizeof parts / sizeof *parts; k++)
            rc = digest_update(digest, parts[k], strlen(parts[k]), err);
    }
    if (rc == 0)
        rc = digest_finish(digest, sha256, err);
    digest_free(digest);
    return rc;
}

static int write_folder(const struct output_folder *folder, struct member_pull *members,
                        size_t n_members, uint64_t *n_bytes, char sha256[DIGEST_HEX_NBYTES],
                        struct error *err)
{
    struct folder_file *files = calloc(n_members + 1, sizeof *files);
    int rc = 0;

    if (files == NULL)
        return error_no_memory(err, "files of the folder");
    *n_bytes = 0;
    for (size_t i = 0; rc == 0 && i < n_members; i++) {
        rc = write_folder_file(folder, &members[i], &files[i], err);
        *n_bytes += members[i].unpacked_nbytes;
    }
    if (rc == 0)
        rc = digest_files(files, n_members, sha256, err);
    for (size_t i = 0; i < n_members; i++)
        free(files[i].name);
    free(files);
    return rc;
}

/* --- shards --- */

static int open_file(struct archive_out *archive, const char *path, struct error *err)
{
    if (output_open(&archive->output, path, archive->force, err) != 0)
        return -1;
    if (output_digest_init(&archive->digest, &archive->output, err) == 0)
        return 0;
    output_digest_release(&archive->digest);
    output_abort(&archive->output);
    return -1;
}

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
    if (form != ARCHIVE_OUT_NPY_FOLDER)
        rc = open_file(archive, path, err);
    else
        rc = output_folder_open(&archive->folder, path, NPY_SUFFIX, force, err);
    if (rc == 0)
        return archive;
    free(archive);
    return NULL;
}

static int grow(struct archive_out *archive, struct error *err)
{
    size_t capacity = archive->capacity == 0 ? 16 : archive->capacity * 2;
    struct member_pull *members =
        reallocarray(archive->members, capacity, sizeof *archive->members);

    if (members == NULL)
        return error_no_memory(err, "members of the output shard");
    archive->members = members;
    archive->capacity = capacity;
    return 0;
}

int archive_out_add(struct archive_out *archive, const char *name,
                    const struct member_source *source, struct error *err)
{
    char *copy;

    if (archive->form == ARCHIVE_OUT_NPY_FOLDER && check_folder_member(name, source, err) != 0)
        return -1;
    if (archive->form == ARCHIVE_OUT_NPY && archive->n_members > 0)
        return error_set(err, ERROR_CANT_CREATE,
                         "a .npy file holds one array, and there are %s and %s; write an .npz file "
                         "or use --format npy-dir",
                         text_quote(archive->members[0].name).text, text_quote(name).text);
    if (strlen(name) > UINT16_MAX)
        return error_set(err, ERROR_CANT_CREATE, "member %s: the name is too long for a zip file",
                         text_quote(name).text);
    if (archive->form == ARCHIVE_OUT_NPZ && source->size_known &&
        zip_size_is_unsafe(source->unpacked_nbytes))
        return error_set(err, ERROR_INTERNAL, "member %s: its size was not made safe for zip",
                         text_quote(name).text);
    if (archive->n_members == archive->capacity && grow(archive, err) != 0)
        return -1;
    copy = strdup(name);
    if (copy == NULL)
        return error_no_memory(err, "member name");
    archive->members[archive->n_members++] = (struct member_pull){.name = copy, .source = *source};
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

static void settle(void *self, uint64_t n_bytes)
{
    output_digest_settle(self, n_bytes);
}

/* An npz or npy file. */
static int write_file(struct archive_out *archive, uint64_t *n_bytes,
                      char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    const struct zip_writing writing = {.output = &archive->output,
                                        .members = archive->members,
                                        .n_members = archive->n_members,
                                        .comment = archive->comment,
                                        .self = &archive->digest,
                                        .settled = settle};
    int rc;

    if (archive->form == ARCHIVE_OUT_NPZ)
        rc = zip_write(&writing, err);
    else
        rc = write_plain(&archive->output, &archive->members[0], err);
    if (rc != 0)
        return -1;
    *n_bytes = archive->output.n_bytes;
    return output_digest_finish(&archive->digest, sha256, err);
}

int archive_out_write(struct archive_out *archive, uint64_t *n_bytes, char sha256[65],
                      struct error *err)
{
    int rc;

    if (archive->n_members == 0)
        return error_set(err, ERROR_INTERNAL, "output shard without members");
    if (archive->form != ARCHIVE_OUT_NPY_FOLDER)
        rc = write_file(archive, n_bytes, sha256, err);
    else
        rc = write_folder(&archive->folder, archive->members, archive->n_members, n_bytes, sha256,
                          err);
    archive->written = rc == 0;
    return rc;
}

int archive_out_sync(struct archive_out *archive, struct error *err)
{
    if (archive->form == ARCHIVE_OUT_NPY_FOLDER) /* its files are: see folder_out_write */
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
    return output_folder_commit(&archive->folder, NPY_SUFFIX, archive->force, err);
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
    for (size_t i = 0; i < archive->n_members; i++)
        free(archive->members[i].name);
    free(archive->members);
    free(archive->comment);
    free(archive);
}
