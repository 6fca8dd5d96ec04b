/*
 * shard.h - one shard, opened and understood as far as possible: its arrays, its board and how
 * certain that is, a role for each array, and what could not be decided.
 */
#pragma once

#include "engine/settings.h"
#include "manifest/digest.h"
#include "manifest/manifest.h"

/* The arrays that this program adds, and the comment by which its outputs are recognised. */
#define PLAN_SOURCE_KEY    "symaug_source"
#define PLAN_TRANSFORM_KEY "symaug_transform"
#define PLAN_ORBIT_KEY     "symaug_orbit"
#define PLAN_COUNT_KEY     "symaug_count"
#define PLAN_ZIP_COMMENT   "symaug 1 " /* and the board's name */

/* --- digests --- */

struct shard;

/* The digests of several shards, made step by step as members fetch input, so that hashing overlaps
 * compression and keeps pace with it, and the input is read from the disk only once; what is left
 * is hashed at the end. */
struct digests {
    const struct shard *shards; /* borrowed */
    size_t n_shards;
    const _Atomic uint64_t *n_fetched; /* borrowed: for the owner to set before steps are due */
    char (*sha256)[DIGEST_HEX_NBYTES]; /* owned: one per shard; a folder's is that of the lines
                                          "FILE SHA256\n" of its files */
    size_t shard, file;                /* being hashed; n_shards: all is done */
    uint64_t offset, released;
    struct digest digest; /* of the file */
    struct digest lines;  /* of a folder's lines */
    uint8_t *buffer;      /* owned */
    uint64_t used;        /* bytes hashed, about */
    struct error failure; /* of a step: no more are due */
};

int digests_init(struct digests *digests, const struct shard *shards, size_t n_shards,
                 struct error *err);

/* For any thread, as functions of a crew_task: whether less was hashed than *n_fetched; and a step.
 */
bool digests_is_due(void *digests);
void digests_step(void *digests);

/* Hash the rest; -1 if a step has failed. */
int digests_finish(struct digests *digests, struct error *err);

/* The digest of one shard, of which only the archive is read. */
int digest_shard(const struct shard *shard, char sha256[DIGEST_HEX_NBYTES], struct error *err);

void digests_release(struct digests *digests);

/* --- what a manifest says --- */

/* What the manifest of a file says, so that no flag of the run that made it need be repeated. */
struct recall {
    struct settings settings;   /* the user's, completed from the manifest */
    const json_t *manifest;     /* or NULL; borrowed from the caller or from `own` */
    json_t *own;                /* owned, or NULL */
    const json_t *output;       /* the file's entry among its outputs, or NULL */
    struct role_request *roles; /* owned: its roles, which those of settings override; or NULL */
};

void recall_release(struct recall *recall);

/* --- a shard --- */

/* The board of a shard, and how certain it is. */
struct shard_board {
    struct board *board; /* owned by the caller, or NULL: not known */
    bool is_sure;        /* given by the user or said by the shard; false: guessed from shapes */
    bool is_lent;        /* one of several boards of those shapes: good enough for roles */
    const char *from;    /* static: "--board", "said by the shard", ... */
    struct role_guess guess; /* what the shapes say, if they were looked at */
};

struct shard {
    struct archive_in archive;
    const char *expansion;          /* static: what says that it holds images; or NULL */
    struct recall recall;           /* the settings, and what its manifest says */
    struct conventions conventions; /* the settings', completed by whoever reads the rows */
    struct shard_board found;
    struct error *board_problem;   /* owned, or NULL: as shard_find_board gives it */
    struct role_binding *bindings; /* owned, or NULL: roles need a board */
    uint64_t n_rows;               /* 0 if that is one of the problems */
    bool rows_are_known;
    struct role_problems problems;
    struct text command; /* that solves them, or "" */
};

/* Open a shard and decide all that can be decided. -1 with err set if it cannot be read or the
 * command line is wrong; it is no error if something is undecided. The caller closes it, also on
 * failure. */
int shard_open(struct shard *shard, const char *path, const struct settings *settings,
               struct error *err);
void shard_close(struct shard *shard);

/* The board, unless it is only lent; or NULL. */
const struct board *shard_known_board(const struct shard *shard);

/* Whether the role of array i, or of the indices of the sparse policy it belongs to, is undecided.
 */
bool shard_is_undecided(const struct shard *shard, size_t i);

/* Append the flags that would give array i its role, "--role X=policy"; nothing if it has a role,
 * or no flag would do. */
int shard_flag(const struct shard *shard, size_t i, struct text *flag, struct error *err);

/* --- the steps of shard_open, for callers that decide something else in between --- */

/* Set a zeroed shard's archive, a file or the settings' arrays in memory, and what in it says that
 * it holds images. The shard is closed in any case. */
int shard_read(struct shard *shard, const char *path, const struct settings *settings,
               struct error *err);

/*
 * Set the recall and the conventions from what the shard's manifest says: that of recall.manifest
 * and recall.output, if the caller has set them, else the one beside the file. exact: a manifest
 * beside the file is ignored unless it lists the file's digest; if it does, it may also say that
 * the shard holds images. The settings must outlive the shard.
 */
int shard_recall(struct shard *shard, const struct settings *settings, bool exact,
                 struct error *err);

/*
 * Find the board: by `said`, its --board, by what the shard says, and if may_guess by its manifest,
 * its zip comment, and the shapes of its arrays, in this order. -1 with err set if the board of
 * --board cannot be made; 1 with err set, ERROR_DATA if --board contradicts the shard, ERROR_USAGE
 * if nothing says what the board is.
 */
int shard_find_board(struct shard *shard, const struct settings *said, bool may_guess,
                     struct error *err);

/* Give all arrays their roles on that board. Object arrays must have been loaded. What cannot be
 * decided goes to the shard's problems. */
int shard_find_roles(struct shard *shard, const struct board *board,
                     const struct role_request *request, struct error *err);

/* ERROR_DATA if the shard says that it is of another board than this one, given by the user. */
int shard_check_board(const struct archive_in *archive, const struct board *board,
                      struct error *err);
