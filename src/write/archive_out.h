/*
 * archive_out.h - a new shard: members are added, then pulled into an .npz file or a folder.
 */
#pragma once

#include "base/output.h"
#include "write/member.h"

enum archive_out_form {
    ARCHIVE_OUT_NPZ,
    ARCHIVE_OUT_NPY_FOLDER, /* one .npy file per member, stored */
    ARCHIVE_OUT_NPY,        /* one .npy file: a single member, stored */
};

/* A shard that is being written. */
struct archive_out {
    struct members members; /* the owner sets its crew and level before writing */
    const char *comment;    /* borrowed, or NULL: of a zip file, in UTF-8; for the owner to set */
    enum archive_out_form form;
    bool force;
    bool written;
    struct output output; /* an npz file, the one .npy file, or a folder */
    _Atomic uint64_t
        n_settled; /* of an npz file: its first bytes, which will not change any more */
};

/* Begin a shard at path (temp file beside it; see base/output.h). Release it in any case. */
int archive_out_init(struct archive_out *archive, const char *path, enum archive_out_form form,
                     bool force, struct error *err);

/*
 * Add a member, which must stay where it is until the archive is released. Members are written in
 * this order. The name is kept byte for byte (and marked as UTF-8 if it is). In a folder the file
 * is called NAME.npy unless the name ends so already; there a member must be stored and its name
 * must have no slash, and no dot at its beginning.
 */
int archive_out_add(struct archive_out *archive, struct member *member, struct error *err);

/*
 * Pull all members and write the container into the temp file. *n_bytes and sha256 (65 bytes of
 * lower-case hex) describe the finished file, which has no final name yet. For a folder *n_bytes
 * is the sum over its files, and sha256 that of the lines "FILE SHA256\n" of its files, sorted by
 * name. Time stamps in a zip file are 1980-01-01, or SOURCE_DATE_EPOCH (in UTC).
 */
int archive_out_write(struct archive_out *archive, uint64_t *n_bytes, char sha256[65],
                      struct error *err);

/* The step of archive_out_write that pulls the members into a zip file. */
int npz_out_write(struct archive_out *archive, struct error *err);

/* fsync, rename to the final name, fsync of the folder. An old manifest of that name is removed
 * before, since its presence means success. Without force it is stale as long as there is no
 * output; with one, both belong to a run that was faster. */
int archive_out_commit(struct archive_out *archive, struct error *err);

/* End the crew's work, close the members, remove what was not committed. Accepts a zeroed one. */
void archive_out_release(struct archive_out *archive);
