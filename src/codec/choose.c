/*
 * choose.c - which codec a member gets at a level.
 *
 * Where a level has several candidates, each encodes the end of the sample, and the one with the
 * smallest cost is taken. The cost adds up bytes and operations: a level says how many operations a
 * saved byte is worth. Operations are counted, or nominal where a codec does not tell; a clock
 * would make the output depend on the machine.
 */
#include "codec/codecs.h"

#include <stdio.h>
#include <stdlib.h>

/* Below this, a member cannot earn back what a trial costs. */
enum { TRIAL_MIN_NBYTES = 16 * 1024 };

/* As much of the sample is encoded in a trial, so that all trials together cost a small part of
 * what the member costs; all of the sample is learned from. */
enum {
    TRIAL_PIECE_MIN_NBYTES = 32 * 1024,
    TRIAL_PIECE_MAX_NBYTES = 256 * 1024,
    TRIAL_PIECE_SHARE = 32,
};

/* What may be chosen at a level; earlier rows win ties. Rows that share a training stand together,
 * and those that their nominal operations alone may rule out stand last. */
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

/* The part of the sample that is encoded in a trial, with the rest of it as history. */
struct trial {
    const uint8_t *piece;
    size_t n_bytes, history_nbytes;
    uint64_t byte_worth;
};

static struct trial trial_of(enum codec_level_kind kind, const struct codec_member *member,
                             const uint8_t *sample, size_t sample_nbytes)
{
    const uint64_t member_nbytes = member->n_bytes != 0 ? member->n_bytes : 4 * sample_nbytes;
    uint64_t most = member_nbytes / TRIAL_PIECE_SHARE;
    size_t n_bytes, n_before;

    most = most > TRIAL_PIECE_MIN_NBYTES ? most : TRIAL_PIECE_MIN_NBYTES;
    most = most < TRIAL_PIECE_MAX_NBYTES && kind != CODEC_BEST ? most : TRIAL_PIECE_MAX_NBYTES;
    n_bytes = sample_nbytes < most ? sample_nbytes : (size_t)most;
    n_before = sample_nbytes - n_bytes;
    return (struct trial){
        .piece = sample + n_before,
        .n_bytes = n_bytes,
        .history_nbytes = n_before < CODEC_HISTORY_NBYTES ? n_before : CODEC_HISTORY_NBYTES,
        .byte_worth = worth_of(kind, member),
    };
}

static uint64_t nominal_operations(const struct candidate *candidate, const struct trial *trial)
{
    return (uint64_t)candidate->operations_per_byte * trial->n_bytes;
}

/* What it costs to encode the trial's piece with a choice. One that is cheaper than `limit` learns
 * from it, for the pieces to come and for other candidates that share what was learned. */
static int trial_cost(const struct codec_choice *choice, const struct candidate *candidate,
                      const struct trial *trial, uint64_t limit, uint64_t *cost, struct error *err)
{
    const struct codec *codec = choice->codec;
    uint64_t n_operations = nominal_operations(candidate, trial);
    uint8_t *out = malloc(codec->bound(trial->n_bytes));
    void *state = NULL;
    size_t n_bytes;
    int result = -1;

    if (out == NULL) {
        error_no_memory(err, "trial of a codec");
        goto out;
    }
    state = codec->state_new(choice, err);
    if (state == NULL)
        goto out;
    n_bytes =
        codec->encode(state, trial->piece, trial->n_bytes, trial->history_nbytes, true, out, err);
    if (n_bytes == 0)
        goto out;
    if (codec->n_operations != NULL)
        n_operations = codec->n_operations(state);
    *cost = n_bytes * trial->byte_worth + n_operations;
    if (codec->learn != NULL && *cost < limit)
        codec->learn(state, choice->trained);
    result = 0;
out:
    if (state != NULL)
        codec->state_free(state);
    free(out);
    return result;
}

/* Try a candidate and keep it in *best when it is cheaper. */
static int try_candidate(const struct candidate *candidate, const struct codec_member *member,
                         const uint8_t *sample, size_t sample_nbytes, struct codec_choice *best,
                         uint64_t *best_cost, struct error *err)
{
    const struct trial trial = trial_of(candidate->kind, member, sample, sample_nbytes);
    struct codec_choice tried;
    uint64_t cost = UINT64_MAX;
    bool is_shared = false;
    int result;

    if (nominal_operations(candidate, &trial) >= *best_cost)
        return 0;
    choice_init(&tried, candidate->codec, candidate->level);
    if (best->trained != NULL && best->codec->train == tried.codec->train &&
        best->level == tried.level) {
        tried.trained = best->trained;
        is_shared = true;
        result = 0;
    } else {
        result = choice_train(&tried, member, sample, sample_nbytes, err);
    }
    if (result == 0)
        result = trial_cost(&tried, candidate, &trial, *best_cost, &cost, err);
    if (result == 0 && cost < *best_cost) {
        if (!is_shared)
            codec_choice_release(best);
        *best = tried;
        *best_cost = cost;
    } else if (!is_shared) {
        codec_choice_release(&tried);
    }
    return result;
}

/* The cheapest of a level's candidates by a trial. On failure *choice owns nothing. */
static int choose_by_trial(enum codec_level_kind kind, const struct codec_member *member,
                           const uint8_t *sample, size_t sample_nbytes, struct codec_choice *choice,
                           struct error *err)
{
    uint64_t best_cost = UINT64_MAX;

    memset(choice, 0, sizeof *choice);
    for (size_t i = 0; i < N_CANDIDATES; i++) {
        if (candidates[i].kind == kind &&
            try_candidate(&candidates[i], member, sample, sample_nbytes, choice, &best_cost, err) <
                0) {
            codec_choice_release(choice);
            return -1;
        }
    }
    return 0;
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
