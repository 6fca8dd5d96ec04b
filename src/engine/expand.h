/*
 * expand.h - carrying out a plan: output shards, each with its manifest, and what their members are
 * made of: rows and their images, provenance, copies, sparse policies in CSR form, pickled objects.
 */
#pragma once

#include "engine/survey.h"

/* A plan that is carried out, one output after another. */
struct expand_job {
    struct plan *plan;               /* borrowed */
    const struct settings *settings; /* borrowed */
    bool force;                      /* replace an existing output */
    struct digests digests;          /* of the inputs */
    struct stone_watch watch;        /* keeps some of the rows that are read */
    bool is_checked;                 /* the inputs' CRCs were checked beforehand */
    struct out_member *members;      /* owned: of each output */
    size_t n_members;

    /* The output that is being written, or was last. */
    const char *path;          /* borrowed, as is the next */
    const struct order *order; /* its rows */
    struct archive_out archive;
    struct {
        uint64_t unpacked_nbytes, n_bytes; /* of the file */
        char sha256[DIGEST_HEX_NBYTES];
    } result;
    struct error survey_failure; /* until it is written */
    struct error *err;           /* borrowed */
};

/* Begin. Plan and settings are borrowed; the caller releases the job. If the plan's last survey is
 * still to be made, it is made while the first shard is written. */
int expand_job_init(struct expand_job *job, struct plan *plan, const struct settings *settings,
                    struct error *err);

/* ERROR_CANT_CREATE when an output would replace an input: what is there now, by whatever name, is
 * an input, or a file of one that is a folder, or a folder that holds one. */
int expand_check_apart(const char *const *outputs, size_t n_outputs, const char *const *inputs,
                       size_t n_inputs, bool is_split, struct error *err);

/*
 * Write output rows `rows` (plan->order, or the next slice of it) to path: temp file, all members,
 * fsync, rename; then the manifest the same way. On failure the old output (or nothing) stands
 * under path. An output that is one of the inputs is refused. ERROR_DATA when an input changed
 * while it was read.
 */
int expand_write(struct expand_job *job, const struct order *rows, const char *path,
                 struct error *err);

/*
 * Compare the file at path with what would be written there, by the manifest beside it: append to
 * list how they differ (inputs, options, roles, conventions, versions, bytes), or nothing if they
 * do not. Returns 1, and nothing is appended, if there is no manifest. Reads inputs and output for
 * their digests.
 */
int expand_compare(struct expand_job *job, const char *path, struct text *list, struct error *err);

/* Whether the file at path was left by a run that was stopped between output and manifest: an
 * output of this program for this board, without a manifest. */
bool expand_is_remains(const struct expand_job *job, const char *path);

void expand_job_release(struct expand_job *job);

/* An estimate of the output's unpacked size (object arrays count as in the input). */
uint64_t expand_estimate(const struct plan *plan);

/* --- what is written beside the output --- */

/* Write PATH.manifest.json: the job's plan, and what was written by it. */
int record_write(const struct expand_job *job, struct error *err);

/* Write BASENAME.json beside an output, complete and durable: KataGo's shuffler reads the number of
 * rows from it. n_rows NULL: only find out, before the long work, whether it can be written. */
int sidecar_write(const char *path, const uint64_t *n_rows, bool force, struct error *err);

/* --- members --- */

enum pieces_kind {
    PIECES_ROWS,
    PIECES_SOURCE,    /* symaug_source: int64, little-endian */
    PIECES_TRANSFORM, /* symaug_transform: uint8 */
    PIECES_OFFSETS,   /* of a CSR triple, */
    PIECES_ELEMENTS,  /* moved if the move is SPEC_INDICES, else copied */
    PIECES_OBJECTS,   /* of one or more dimensions, loaded; integers are moved likewise */
    PIECES_COPY,      /* what has no rows */
};

/* By how much a header gets longer where no zip file can hold a member's size (see
 * member_size_is_unsafe); keeps the data aligned. */
#define MEMBER_PADDING 64

/* One array of the outputs, from the input's rows to the archive. */
struct out_member {
    struct member head; /* of the output that is being written */
    enum pieces_kind kind;
    const struct plan_array *array; /* borrowed, as are the next; NULL: provenance */
    const struct array *form;       /* the array of the first input: name, type, shape of a row */
    struct expand_job *job;
    uint64_t shape[NPY_MAX_DIMS]; /* in this output */

    /* Its input, opened by the first output that reads it and closed after the last, so that an
     * output cut into several shards reads its input once. Two windows of each reader leapfrog over
     * the input, unless every row is at hand in a table. */
    bool streams;       /* through windows, which takes arrays in C order */
    unsigned n_readers; /* open: of the rows, and of the values beside padded indices */
    struct reader readers[2];
    struct batch windows[2][2]; /* of each reader; of a copy, bytes of the array */
    unsigned latest;            /* of the windows */

    uint64_t *piece_element;     /* owned, offsets: the output element at which each piece begins */
    struct pickle_writer writer; /* objects */
    struct unpack unpack;        /* a copy */
};

/* How each kind of member is made, by pieces_kind. */
extern const struct member_ops pieces_ops[];

/* Close a member's input; accepts one that was never opened. */
void pieces_release(struct out_member *out);

/* The elements of output rows first .. end - 1. */
uint64_t csr_length(const struct csr *csr, const struct order *order, uint64_t first, uint64_t end);
