/*
 * shard.h - one shard, opened and understood as far as it can be: its arrays, its board and how
 * sure that is, a role for each array, and what could not be decided.
 */
#pragma once

#include "engine/settings.h"
#include "manifest/digest.h"
#include "manifest/manifest.h"
#include "shard/archive_in.h"

/* Arrays that this program adds, and how its outputs are known again. */
#define PLAN_SOURCE_KEY    "symaug_source"
#define PLAN_TRANSFORM_KEY "symaug_transform"
#define PLAN_ORBIT_KEY     "symaug_orbit"
#define PLAN_COUNT_KEY     "symaug_count"
#define PLAN_ZIP_COMMENT   "symaug 1 " /* and the board's name */

/* --- digests --- */

/* The digests of the files of several archives, made a step at a time. Its owner takes steps as the
 * members fetch input, so that hashing overlaps compression and keeps pace with it (the input is
 * read from the disk once); whatever is left is done at the end. */
struct side_work {
    const struct archive_in *archives; /* borrowed */
    size_t n_archives;
    char (*sha256)[DIGEST_HEX_NBYTES]; /* owned: one per archive, complete when done; a folder's is
                                          that of the lines "FILE SHA256\n" of its files */
    size_t archive, file;              /* being hashed */
    uint64_t offset, released;
    struct digest digest; /* of the file */
    struct digest lines;  /* of a folder's lines */
    uint8_t *buffer;      /* owned */
    uint64_t used;        /* bytes hashed, about */
    bool done;
};

int side_work_init(struct side_work *work, const struct archive_in *archives, size_t n_archives,
                   struct error *err);

/* Hash a part. One thread at a time. */
int side_work_step(struct side_work *work, struct error *err);

/* Hash the rest. */
int side_work_finish(struct side_work *work, struct error *err);

/* The digest of one archive. */
int side_work_digest(const struct archive_in *archive, char sha256[DIGEST_HEX_NBYTES],
                     struct error *err);

/* Free it; accepts a zeroed one. */
void side_work_release(struct side_work *work);

/* --- what a manifest says --- */

/* What the manifest of a file says: no flag of the run that made it need be repeated. */
struct recall {
    struct settings settings;   /* the user's; what they do not say is the manifest's */
    const json_t *manifest;     /* or NULL; borrowed from the caller or from `own` */
    json_t *own;                /* owned, or NULL */
    const json_t *output;       /* which of its outputs the file is; NULL: none */
    struct role_request *roles; /* owned: its roles, under those of settings; or NULL */
};

/*
 * Recall a file. given: its manifest, of which it is output `output`; NULL: the one that stands
 * beside it. exact: a manifest that stands beside it must list its very bytes, else it says
 * nothing. The caller's settings must outlive the recall; release it in any case.
 */
int recall_open(struct recall *recall, const struct settings *settings,
                const struct archive_in *archive, const json_t *given, size_t output, bool exact,
                struct error *err);

/* Accepts a zeroed one. */
void recall_release(struct recall *recall);

/* --- a shard --- */

/* The board that a shard is of, and how sure that is. */
struct shard_board {
    struct board *board;     /* owned by the caller, or NULL: not known */
    bool is_sure;            /* told, or said by the shard; false: guessed from shapes */
    bool is_lent;            /* one of several of those shapes: good for roles, but not known */
    const char *from;        /* static: "--board", "said by the shard", ... */
    struct role_guess guess; /* what the shapes say, when they were looked at */
    struct error problem; /* ERROR_DATA: what was told contradicts the shard; ERROR_USAGE: nothing
                             tells the board; else ERROR_NONE */
};

struct shard {
    struct archive_in archive;
    struct recall recall;           /* the settings, and what its manifest says */
    struct conventions conventions; /* the settings'; who reads rows adds what they say */
    struct shard_board found;
    struct role_binding *bindings; /* owned, or NULL: roles need a board */
    uint64_t n_rows;
    bool rows_are_known;
    struct role_problems problems;
    struct text command; /* that settles them, or "" */
};

/* Open it, objects with it. -1 with err set: it cannot be read, or the command line is wrong; what
 * it means may be undecided. The caller closes it, also on failure. */
int shard_open(struct shard *shard, const char *path, const struct settings *settings,
               struct error *err);
void shard_close(struct shard *shard);

/* The board, unless it is only lent; or NULL. */
const struct board *shard_known_board(const struct shard *shard);

/* Neither array i, nor the indices of the sparse policy that it belongs to, have a role. */
bool shard_is_undecided(const struct shard *shard, size_t i);

/* Append the flags that would give array i its role, "--role X=policy"; nothing when it has one, or
 * none would do. */
int shard_flag(const struct shard *shard, size_t i, struct text *flag, struct error *err);

/* --- one thing after another, for who goes on where something is wrong --- */

/* Why an archive is taken to hold images, as it says itself: static; NULL: it does not. */
const char *shard_expansion(const struct archive_in *archive);

/*
 * In this order: --board, what the shard says, and with `recall` its manifest, its zip comment, and
 * the shapes of its arrays; recall is NULL where nothing may be guessed. -1 with err set: the board
 * of --board cannot be made.
 */
int shard_find_board(struct shard_board *found, const struct archive_in *archive,
                     const struct settings *said, const struct recall *recall, struct error *err);

/* ERROR_DATA when the shard says that it is of another board than this one, which was told. */
int shard_check_board(const struct archive_in *archive, const struct board *board,
                      struct error *err);
