/*
 * shard.h - one shard, opened and understood as far as it can be: its arrays, its board and how
 * sure that is, a role for each array, and what could not be decided.
 */
#ifndef SYMAUG_ENGINE_SHARD_H
#define SYMAUG_ENGINE_SHARD_H

#include "engine/record.h"

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

#endif
