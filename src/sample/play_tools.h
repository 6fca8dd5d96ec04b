/*
 * play_tools.h - what games share: random numbers, random orders, policies, elements of rows.
 */
#ifndef SYMAUG_SAMPLE_PLAY_TOOLS_H
#define SYMAUG_SAMPLE_PLAY_TOOLS_H

#include "base/bytes.h"
#include "sample/play.h"

#include <string.h>

/* A stream of random numbers. */
struct play_random {
    uint64_t key, n;
};

/* What a stream is for: streams of one game do not depend on each other. */
enum play_purpose { PLAY_FOR_MOVES, PLAY_FOR_RESULT, PLAY_FOR_POLICY, PLAY_FOR_CHOICES };

/* The stream of a game, or of a ply of it (0 for the whole game). */
struct play_random play_random_of(const struct play *play, const struct play_game *game,
                                  enum play_purpose purpose, uint32_t ply);

/* The next number from 0 to n - 1. */
uint32_t play_below(struct play_random *random, uint32_t n);

/* Put n numbers into a random order. */
void play_shuffle(struct play_random *random, uint32_t *numbers, uint32_t n);

/* Moves become all on-board cells in a random order. Returns their number. */
uint32_t play_shuffle_cells(const struct play *play, struct play_game *game);

/* Visits of n actions as a search might leave them: the first action, the one played, has most. */
void play_visits(const struct play *play, const struct play_game *game, uint32_t ply,
                 uint32_t *visits, uint32_t n);

/* The same divided by their sum: float32 elements of row at the actions' places. */
void play_policy(const struct play *play, const struct play_game *game, uint32_t ply,
                 const uint32_t *actions, uint32_t n, uint8_t *row);

/* The result as the player to move sees it: 1 won, -1 lost, 0 drawn. */
int play_result_for_mover(const struct play_game *game, uint32_t ply);

/* Rows that many games have: that result as float32, and the number of the ply as int32. */
void play_render_result(const struct play *play, struct play_game *game, uint32_t ply,
                        uint8_t *row);
void play_render_ply(const struct play *play, struct play_game *game, uint32_t ply, uint8_t *row);

/* Store element i of a row of float32, int32, int16 numbers. */
static inline void play_put_float(uint8_t *row, uint64_t i, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    bytes_put_le(row + 4 * i, bits, 4);
}

static inline void play_put_int(uint8_t *row, uint64_t i, int32_t value)
{
    bytes_put_le(row + 4 * i, (uint32_t)value, 4);
}

static inline void play_put_short(uint8_t *row, uint64_t i, int32_t value)
{
    bytes_put_le(row + 2 * i, (uint32_t)value, 2);
}

#endif
