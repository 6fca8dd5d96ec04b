/*
 * archive_out.h - a new shard: members registered, then pulled into an .npz file or a folder.
 *
 * libzip writes the container: each member is a pull source that delivers finished deflate runs,
 * which libzip passes through, and the CRC once its data has ended.
 */
#pragma once

#include "base/error.h"
#include "manifest/digest.h"
#include "write/member.h"

enum archive_out_form {
    ARCHIVE_OUT_NPZ,
    ARCHIVE_OUT_NPY_FOLDER, /* one .npy file per member, stored */
    ARCHIVE_OUT_NPY,        /* one .npy file: a single member, stored */
};

/* A shard that is being written. */
struct archive_out {
    struct members members; /* how they are made is for the owner to say */
    enum archive_out_form form;
    bool force;
    bool written;
    struct output output;        /* an npz file, the one .npy file, or a folder */
    struct output_digest digest; /* of a file: steps may be made beside archive_out_write, by
                                    another thread, and make the end of the writing shorter */
    char *comment;               /* owned, or NULL */
};

/* Begin a shard at path (temp file beside it; see base/output.h). NULL with err set. */
struct archive_out *archive_out_new(const char *path, enum archive_out_form form, bool force,
                                    struct error *err);

/*
 * Add a member, which must stay where it is until the shard is written. Members are written in
 * this order. The name is kept byte for byte (marked UTF-8 where it is). In a folder the file is
 * called NAME.npy unless the name ends so already; there a member must be stored and its name must
 * have no slash.
 */
int archive_out_add(struct archive_out *archive, struct member *member, struct error *err);

/* The zip comment (npz only; ignored for folders). */
int archive_out_set_comment(struct archive_out *archive, const char *comment, struct error *err);

/*
 * Pull all members and write the container into the temp file. *n_bytes and sha256 (65 bytes of
 * lower-case hex) describe the finished file, which has no final name yet. For a folder *n_bytes
 * is the sum over its files, and sha256 that of the lines "FILE SHA256\n" of its files, sorted by
 * name. Time stamps in a zip file are 1980-01-01, or SOURCE_DATE_EPOCH (in UTC).
 */
int archive_out_write(struct archive_out *archive, uint64_t *n_bytes, char sha256[65],
                      struct error *err);

/* Pull the members into a zip file at the start of the (open, empty) output, whose digest (or NULL)
 * is told what is final. comment may be NULL. */
int npz_out_write(struct output *output, struct output_digest *digest,
                  const struct members *members, const char *comment, struct error *err);

/* fsync, rename to the final name, fsync of the folder. */
int archive_out_commit(struct archive_out *archive, struct error *err);

/* Free it; what was not committed is removed. Accepts NULL. */
void archive_out_free(struct archive_out *archive);
