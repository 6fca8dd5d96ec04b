/*
 * archive_out.c - a new shard: the members of an output, in a file or a folder that gets its final
 * name when all is written.
 */
#include "write/archive_out.h"

#include "base/text.h"
#include "write/archive_parts.h"

#include <stdlib.h>
#include <string.h>

struct archive_out {
    enum archive_out_form form;
    bool force;
    bool written;
    struct output output;        /* of an npz file */
    struct output_digest digest; /* of the output */
    struct output_folder folder; /* of a folder */
    struct member **members;     /* owned; the members are borrowed */
    size_t n_members, capacity;
    char *comment; /* owned, or NULL */
};

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
        rc = output_folder_open(&archive->folder, path, FOLDER_OUT_SUFFIX, force, err);
    if (rc == 0)
        return archive;
    free(archive);
    return NULL;
}

static int grow(struct archive_out *archive, struct error *err)
{
    size_t capacity = archive->capacity == 0 ? 16 : archive->capacity * 2;
    struct member **members = reallocarray(archive->members, capacity, sizeof *members);

    if (members == NULL)
        return error_no_memory(err, "members of the output shard");
    archive->members = members;
    archive->capacity = capacity;
    return 0;
}

int archive_out_add(struct archive_out *archive, struct member *member, struct error *err)
{
    const char *name = member->name;

    if (archive->form == ARCHIVE_OUT_NPY_FOLDER && folder_out_check(member, err) != 0)
        return -1;
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
    if (archive->n_members == archive->capacity && grow(archive, err) != 0)
        return -1;
    archive->members[archive->n_members++] = member;
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

/* An npz or npy file. */
static int write_file(struct archive_out *archive, uint64_t *n_bytes,
                      char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    int rc;

    if (archive->form == ARCHIVE_OUT_NPZ)
        rc = npz_out_write(&archive->output, &archive->digest,
                           (struct member_list){archive->members, archive->n_members},
                           archive->comment, err);
    else
        rc = plain_out_write(&archive->output, archive->members[0], err);
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
        rc = folder_out_write(&archive->folder,
                              (struct member_list){archive->members, archive->n_members}, n_bytes,
                              sha256, err);
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
    return output_folder_commit(&archive->folder, FOLDER_OUT_SUFFIX, archive->force, err);
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
