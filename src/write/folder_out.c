/*
 * folder_out.c - .npy files: one member as a file, or each as a file of a folder.
 *
 * The folder's digest is that of the lines "FILE SHA256\n" of its files, sorted by name.
 */
#include "write/archive_parts.h"

#include "base/text.h"
#include "codec/crc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int plain_out_write(struct output *output, struct member *member, struct error *err)
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

int folder_out_check(const struct member *member, struct error *err)
{
    const char *name = member->name;

    if (strchr(name, '/') != NULL)
        return error_set(err, ERROR_CANT_CREATE,
                         "member %s cannot be a file of a folder: its name has a slash",
                         text_quote(name).text);
    if (member->zip_method != CODEC_ZIP_STORED)
        return error_set(err, ERROR_INTERNAL, "member %s of a folder is compressed",
                         text_quote(name).text);
    return 0;
}

static char *file_name(const char *name, struct error *err)
{
    size_t n = strlen(name), n_suffix = strlen(FOLDER_OUT_SUFFIX);
    bool has_suffix = n >= n_suffix && strcmp(name + n - n_suffix, FOLDER_OUT_SUFFIX) == 0;
    char *file;

    if (asprintf(&file, "%s%s", name, has_suffix ? "" : FOLDER_OUT_SUFFIX) >= 0)
        return file;
    error_no_memory(err, "file name");
    return NULL;
}

static int write_file(const struct output_folder *folder, struct member *member,
                      struct folder_file *file, struct error *err)
{
    struct output output;
    struct output_digest digest;
    char *path;
    int rc;

    file->name = file_name(member->name, err);
    if (file->name == NULL)
        return -1;
    if (asprintf(&path, "%s/%s", folder->temp.path, file->name) < 0)
        return error_no_memory(err, "file name");
    rc = output_open(&output, path, false, err);
    free(path);
    if (rc != 0)
        return -1;
    rc = output_digest_init(&digest, &output, err);
    if (rc == 0)
        rc = plain_out_write(&output, member, err);
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

int folder_out_write(const struct output_folder *folder, struct member_list list, uint64_t *n_bytes,
                     char sha256[DIGEST_HEX_NBYTES], struct error *err)
{
    struct folder_file *files = calloc(list.n + 1, sizeof *files);
    int rc = 0;

    if (files == NULL)
        return error_no_memory(err, "files of the folder");
    *n_bytes = 0;
    for (size_t i = 0; rc == 0 && i < list.n; i++) {
        rc = write_file(folder, list.members[i], &files[i], err);
        *n_bytes += list.members[i]->made_nbytes;
    }
    if (rc == 0)
        rc = digest_files(files, list.n, sha256, err);
    for (size_t i = 0; i < list.n; i++)
        free(files[i].name);
    free(files);
    return rc;
}
