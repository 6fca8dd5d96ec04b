/*
 * shard.h - one shard, opened and understood as far as it can be: its arrays, its board and how
 * sure that is, a role for each array, and what could not be decided.
 */
#ifndef SYMAUG_ENGINE_SHARD_H
#define SYMAUG_ENGINE_SHARD_H

#include "engine/record.h"
#include "engine/shard_board.h"

struct shard {
    struct archive_in archive;
    struct recall recall; /* the settings, and what its manifest says */
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

/* Neither array i, nor the indices of the sparse policy that it belongs to, have a role. */
bool shard_is_undecided(const struct shard *shard, size_t i);

/* Append the flags that would give array i its role, "--role X=policy"; nothing when it has one, or
 * none would do. */
int shard_flag(const struct shard *shard, size_t i, struct text *flag, struct error *err);

#endif
