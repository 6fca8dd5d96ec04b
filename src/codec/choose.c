/*
 * choose.c - which codec a member gets at a level.
 *
 * Where a level has several candidates, each encodes the end of the sample, and the one with the
 * smallest cost is taken: in a heat with a short piece, and between those that are close there, in
 * a final with a longer one. The cost adds up bytes and operations: a level says how many
 * operations a saved byte is worth. Operations are counted, or nominal where a codec does not tell;
 * a clock would make the output depend on the machine.
 */
#include "codec/codecs.h"
#include "codec/trial.h"

#include <stdio.h>
#include <stdlib.h>

/* Below this, a member cannot earn back what a trial costs. */
enum { TRIAL_MIN_NBYTES = 16 * 1024 };

/* As much of the sample is encoded in a heat; and in a final, so that all trials together cost a
 * small part of what the member costs; all of the sample is learned from. */
enum {
    HEAT_NBYTES = 32 * 1024,
    FINAL_MIN_NBYTES = 64 * 1024,
    FINAL_MAX_NBYTES = 128 * 1024,
    FINAL_MAX_NBYTES_BEST = 256 * 1024,
    FINAL_SHARE = 32,
};

/* In the final is who costs at most a part more than the least: 1 in so many. For small members
 * only what is nearly equal is worth a final. */
enum { CLOSE_PART = 4, CLOSE_PART_SMALL = 32 };

/* What may be chosen at a level; earlier rows win ties. Those that their nominal operations alone
 * may rule out stand last. */
struct candidate {
    enum codec_level_kind kind;
    const struct codec *codec;
    int level;
    uint32_t operations_per_byte; /* nominal; of codecs that count: the least there can be */
};

/* clang-format off */
static const struct candidate candidates[] = {
    {CODEC_STORE,   &codec_store,       0, 0},
    {CODEC_FAST,    &codec_grid,        0, 0},
#ifdef HAVE_ISAL
    {CODEC_FAST,    &codec_isal,        1, 2},
#else
    {CODEC_FAST,    &codec_zlib,        1, 8},
#endif
    {CODEC_DEFAULT, &codec_grid,        0, 0},
    {CODEC_DEFAULT, &codec_grid_sparse, 0, 0},
    {CODEC_DEFAULT, &codec_grid_values, 0, 3},
    {CODEC_DEFAULT, &codec_zlib,        6, 80},
    {CODEC_BEST,    &codec_grid_sparse, 0, 0},
    {CODEC_BEST,    &codec_grid_values, 0, 0},
    {CODEC_BEST,    &codec_grid_best,   0, 0},
    {CODEC_BEST,    &codec_zlib,        9, 100},
};
enum { N_CANDIDATES = sizeof candidates / sizeof candidates[0] };

/* Operations that a saved byte is worth, for levels with several candidates. */
static const uint32_t byte_worth[] = {
    [CODEC_FAST]    = 60,
    [CODEC_DEFAULT] = 110,
    [CODEC_BEST]    = 100000,
    [CODEC_STORE]   = 0,
    [CODEC_ZLIB]    = 0,
};
/* clang-format on */

/* The operations of a small member take no time that anybody notices: there bytes are worth more.
 */
enum { SMALL_MEMBER_NBYTES = 2 * 1024 * 1024, SMALL_MEMBER_WORTH = 8 };

static uint64_t worth_of(enum codec_level_kind kind, const struct codec_member *member)
{
    uint64_t times = 1;

    if (kind == CODEC_DEFAULT && member->n_bytes != 0 && member->n_bytes < SMALL_MEMBER_NBYTES)
        times = SMALL_MEMBER_NBYTES / member->n_bytes;
    return byte_worth[kind] * (times < SMALL_MEMBER_WORTH ? times : SMALL_MEMBER_WORTH);
}

static void choice_init(struct codec_choice *choice, const struct codec *codec, int level)
{
    memset(choice, 0, sizeof *choice);
    choice->codec = codec;
    choice->level = level;
    if (level != 0)
        snprintf(choice->name, sizeof choice->name, "%s:%d", codec->name, level);
    else
        snprintf(choice->name, sizeof choice->name, "%s", codec->name);
}

static int choice_train(struct codec_choice *choice, const struct codec_member *member,
                        const uint8_t *sample, size_t sample_nbytes, struct error *err)
{
    if (choice->codec->train == NULL)
        return 0;
    return choice->codec->train(member, choice->level, sample, sample_nbytes, &choice->trained,
                                err);
}

static uint64_t final_nbytes(enum codec_level_kind kind, uint64_t member_nbytes)
{
    const uint64_t n = member_nbytes / FINAL_SHARE;

    if (kind == CODEC_BEST)
        return FINAL_MAX_NBYTES_BEST;
    if (n > FINAL_MAX_NBYTES)
        return FINAL_MAX_NBYTES;
    return n > FINAL_MIN_NBYTES ? n : FINAL_MIN_NBYTES;
}

/* A candidate while it is tried. */
struct entrant {
    const struct candidate *candidate;
    struct codec_choice choice; /* trained: borrowed from another entrant, if shares */
    bool shares;
    bool is_out;
    uint64_t cost;
};

static uint64_t nominal_operations(const struct candidate *candidate, const struct trial *trial)
{
    return (uint64_t)candidate->operations_per_byte * trial->n_bytes;
}

/* Try those that are not out yet, as far as they may still win. */
static int try_all(struct entrant *entrants, size_t n, const struct trial *trial, struct error *err)
{
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < n; i++) {
        struct entrant *const e = &entrants[i];

        if (e->is_out || nominal_operations(e->candidate, trial) >= least) {
            e->is_out = true;
            continue;
        }
        if (trial_cost(trial, &e->choice, nominal_operations(e->candidate, trial), &e->cost, err) !=
            0)
            return -1;
        least = e->cost < least ? e->cost : least;
    }
    return 0;
}

/* The first of those with the least cost. */
static struct entrant *cheapest(struct entrant *entrants, size_t n)
{
    struct entrant *best = NULL;

    for (size_t i = 0; i < n; i++)
        if (!entrants[i].is_out && (best == NULL || entrants[i].cost < best->cost))
            best = &entrants[i];
    return best;
}

/* Put out who is far from the least cost; returns how many are left. */
static size_t keep_close(struct entrant *entrants, size_t n, uint64_t part)
{
    const uint64_t least = cheapest(entrants, n)->cost;
    size_t n_left = 0;

    for (size_t i = 0; i < n; i++) {
        entrants[i].is_out |= entrants[i].cost > least + least / part;
        n_left += !entrants[i].is_out;
    }
    return n_left;
}

/* The level's candidates, trained. What was trained at all has to be released on failure, too. */
static int enter(enum codec_level_kind kind, const struct codec_member *member,
                 const uint8_t *sample, size_t sample_nbytes, struct entrant *entrants, size_t *n,
                 struct error *err)
{
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        struct entrant *const e = &entrants[*n];

        if (candidates[i].kind != kind)
            continue;
        *e = (struct entrant){.candidate = &candidates[i]};
        choice_init(&e->choice, candidates[i].codec, candidates[i].level);
        for (size_t j = 0; j < *n && !e->shares; j++) {
            e->shares = entrants[j].choice.trained != NULL &&
                        entrants[j].choice.codec->train == e->choice.codec->train &&
                        entrants[j].choice.level == e->choice.level;
            if (e->shares)
                e->choice.trained = entrants[j].choice.trained;
        }
        ++*n;
        if (!e->shares && choice_train(&e->choice, member, sample, sample_nbytes, err) != 0)
            return -1;
    }
    return 0;
}

/* Free what was trained and is not the winner's. */
static void release_others(struct entrant *entrants, size_t n, const void *trained)
{
    for (size_t i = 0; i < n; i++)
        if (!entrants[i].shares && entrants[i].choice.trained != trained)
            codec_choice_release(&entrants[i].choice);
}

/* The cheapest of a level's candidates by trials. On failure *choice owns nothing. */
static int choose_by_trial(enum codec_level_kind kind, const struct codec_member *member,
                           const uint8_t *sample, size_t sample_nbytes, struct codec_choice *choice,
                           struct error *err)
{
    const uint64_t worth = worth_of(kind, member);
    const uint64_t member_nbytes = member->n_bytes != 0 ? member->n_bytes : 4 * sample_nbytes;
    const bool is_small = kind != CODEC_BEST && member_nbytes / FINAL_SHARE < HEAT_NBYTES;
    const struct trial heat = trial_of(sample, sample_nbytes, HEAT_NBYTES, worth);
    const struct trial final =
        trial_of(sample, sample_nbytes, final_nbytes(kind, member_nbytes), worth);
    struct entrant entrants[N_CANDIDATES];
    size_t n = 0;
    int result = enter(kind, member, sample, sample_nbytes, entrants, &n, err);

    memset(choice, 0, sizeof *choice);
    if (result == 0)
        result = try_all(entrants, n, &heat, err);
    if (result == 0 && keep_close(entrants, n, is_small ? CLOSE_PART_SMALL : CLOSE_PART) > 1 &&
        final.n_bytes > heat.n_bytes)
        result = try_all(entrants, n, &final, err);
    if (result == 0)
        *choice = cheapest(entrants, n)->choice;
    release_others(entrants, n, choice->trained);
    return result;
}

/* The candidate to take without a trial: the only one, or the first that needs no training. */
static const struct candidate *without_trial(enum codec_level_kind kind, bool is_small)
{
    const struct candidate *first = NULL, *untrained = NULL;
    size_t n = 0;

    for (size_t i = 0; i < N_CANDIDATES; i++) {
        if (candidates[i].kind != kind)
            continue;
        if (n++ == 0)
            first = &candidates[i];
        if (untrained == NULL && candidates[i].codec->train == NULL)
            untrained = &candidates[i];
    }
    if (n == 1)
        return first;
    return is_small ? untrained : NULL;
}

int codec_choose(const struct codec_level *level, const struct codec_member *member,
                 const uint8_t *sample, size_t sample_nbytes, struct codec_choice *choice,
                 struct error *err)
{
    const bool is_small = sample_nbytes < TRIAL_MIN_NBYTES ||
                          (member->n_bytes != 0 && member->n_bytes < TRIAL_MIN_NBYTES);
    const struct candidate *only;

    if (level->kind == CODEC_ZLIB) {
        choice_init(choice, &codec_zlib, level->zlib);
        return 0;
    }
    only = without_trial(level->kind, is_small);
    if (only == NULL)
        return choose_by_trial(level->kind, member, sample, sample_nbytes, choice, err);
    choice_init(choice, only->codec, only->level);
    if (choice_train(choice, member, sample, sample_nbytes, err) == 0)
        return 0;
    codec_choice_release(choice);
    return -1;
}
