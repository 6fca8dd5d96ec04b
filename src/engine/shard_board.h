/*
 * shard_board.h - the board that a shard is of, and how sure that is: one way to decide it for all
 * commands.
 */
#ifndef SYMAUG_ENGINE_SHARD_BOARD_H
#define SYMAUG_ENGINE_SHARD_BOARD_H

#include "engine/record.h"

struct shard_board {
    struct board *board;     /* owned by the caller, or NULL: not known */
    bool is_sure;            /* told, or said by the shard; false: guessed from shapes */
    const char *from;        /* static: "--board", "said by the shard", ... */
    struct role_guess guess; /* what the shapes say, when they were looked at */
    struct error problem; /* ERROR_DATA: what was told contradicts the shard; ERROR_USAGE: nothing
                             tells the board; else ERROR_NONE */
};

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
