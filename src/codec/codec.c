/*
 * codec.c - the tables of encoders and decoders, the levels a user may ask for, which encoder a
 * member gets at a level, and CRC-32.
 *
 * Where a level has several candidates, each encodes the end of the member's sample, and the one
 * with the smallest cost is taken. The cost adds up bytes and operations: a level says how many
 * operations a saved byte is worth. Operations are counted, or nominal where a codec does not tell;
 * a clock would make the output depend on the machine.
 */
#include "codec/codec.h"

#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l.h>
#endif

const struct codec *const codec_table[] = {
    &codec_store,      &codec_zlib,        &codec_grid,      &codec_grid_sparse,
    &codec_grid_moved, &codec_grid_values, &codec_grid_best,
#ifdef HAVE_ISAL
    &codec_isal,
#endif
};
const size_t codec_n_table = N_OF(codec_table);

static const struct decoder *const decoders[] = {&decoder_deflate};
const char codec_methods[] = "0 (stored) or 8 (deflate)";

const struct decoder *codec_decoder(uint16_t zip_method)
{
    for (size_t i = 0; i < N_OF(decoders); i++)
        if (decoders[i]->zip_method == zip_method)
            return decoders[i];
    return NULL;
}

/* --- levels --- */

#define LEVELS "fast, default, best, store, or zlib:1 to zlib:9"
const char codec_level_help[] =
    LEVELS " (default: default); with fast, dense policies of mostly zeros may take a tenth more "
           "room, and numpy reads them twice as fast";
const char codec_level_words[] =
    "fast default best store zlib:1 zlib:2 zlib:3 zlib:4 zlib:5 zlib:6 zlib:7 zlib:8 zlib:9";

/* The levels that have candidates. As much of the end of the sample is encoded in a trial, so that
 * all trials together cost a small part of what the member costs; all of the sample is learned
 * from. */
static const struct {
    const char *name;
    uint32_t byte_worth; /* operations that a saved byte is worth */
    uint32_t trial_nbytes;
} levels[] = {
    [CODEC_FAST] = {"fast", 60, 128 * 1024},
    [CODEC_DEFAULT] = {"default", 110, 32 * 1024},
    [CODEC_BEST] = {"best", 100000, 256 * 1024},
    [CODEC_STORE] = {"store", 0, 0},
};

int codec_level_parse(const char *text, struct codec_level *level, struct error *err)
{
    for (size_t kind = 0; kind < N_OF(levels); kind++) {
        if (strcmp(text, levels[kind].name) == 0) {
            *level = (struct codec_level){.kind = (enum codec_level_kind)kind};
            return 0;
        }
    }
    for (size_t i = 0; i < codec_n_table; i++) {
        const struct codec *codec = codec_table[i];
        const size_t n = strlen(codec->name);

        if (strncmp(text, codec->name, n) == 0 && text[n] == ':' && text[n + 1] >= '1' &&
            text[n + 1] - '0' <= codec->n_levels && text[n + 2] == '\0') {
            *level = (struct codec_level){CODEC_NAMED, text[n + 1] - '0', codec};
            return 0;
        }
    }
    return error_set(err, ERROR_USAGE, "unknown level %s: expected " LEVELS, text_quote(text).text);
}

uint16_t codec_level_method(const struct codec_level *level)
{
    return level->kind == CODEC_NAMED   ? level->codec->zip_method
           : level->kind == CODEC_STORE ? CODEC_ZIP_STORED
                                        : CODEC_ZIP_DEFLATE;
}

/* What may be chosen at a level; earlier rows win ties. Those that their nominal operations alone
 * may rule out stand last. TOO_SLOW rules out: only members too small for a trial get that one. */
#define TOO_SLOW UINT32_MAX
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
    {CODEC_DEFAULT, &codec_grid_moved,  0, 0},
    {CODEC_DEFAULT, &codec_grid_values, 0, 3},
    {CODEC_DEFAULT, &codec_zlib,        6, TOO_SLOW},
    {CODEC_BEST,    &codec_grid_sparse, 0, 0},
    {CODEC_BEST,    &codec_grid_moved,  0, 0},
    {CODEC_BEST,    &codec_grid_values, 0, 0},
    {CODEC_BEST,    &codec_grid_best,   0, 0},
    {CODEC_BEST,    &codec_zlib,        9, 100},
};
/* clang-format on */

/* The operations of a small member take no time that anybody notices: there bytes are worth more.
 */
enum { SMALL_MEMBER_NBYTES = 2 * 1024 * 1024, SMALL_MEMBER_WORTH = 8 };

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

/* --- choosing --- */

/* Below this, a member cannot earn back what a trial costs. */
enum { TRIAL_MIN_NBYTES = 16 * 1024 };

/* The cost in operations of a piece under a choice, which learns from it: what its bytes are worth,
 * and its operations, which *cost holds where the codec does not count them. */
static int trial_cost(const struct codec_choice *choice, const struct codec_piece *piece,
                      uint64_t worth, uint64_t *cost, struct error *err)
{
    const struct codec *codec = choice->codec;
    uint8_t *out = malloc(codec->bound(piece->n_bytes));
    void *state = codec->state_new(choice, err);
    size_t n_bytes = 0;

    if (out == NULL)
        error_no_memory(err, "trial of a codec");
    else if (state != NULL)
        n_bytes = codec->encode(state, piece, out, err);
    if (n_bytes > 0) {
        if (codec->n_operations != NULL)
            *cost = codec->n_operations(state);
        *cost += n_bytes * worth;
        if (codec->learn != NULL)
            codec->learn(state, choice->trained);
    }
    if (state != NULL)
        codec->state_free(state);
    free(out);
    return n_bytes > 0 ? 0 : -1;
}

/* The cheapest of a level's candidates. What is trained, once for all that learn, goes to the
 * choice in the end if its codec is one of them. */
static int choose_by_trial(enum codec_level_kind kind, const struct codec_member *member,
                           struct codec_choice *choice, struct error *err)
{
    const size_t most = levels[kind].trial_nbytes;
    const size_t n = most < member->sample_nbytes ? most : member->sample_nbytes;
    const size_t n_before = member->sample_nbytes - n;
    const struct codec_piece piece = {
        .bytes = member->sample + n_before,
        .n_bytes = n,
        .history_nbytes = n_before < CODEC_HISTORY_NBYTES ? n_before : CODEC_HISTORY_NBYTES,
        .last = true,
        .offset = n_before};
    void *trained = NULL;
    uint64_t least = UINT64_MAX, times = 1;
    int status = 0;

    if (kind == CODEC_DEFAULT && member->n_bytes != 0 && member->n_bytes < SMALL_MEMBER_NBYTES)
        times = SMALL_MEMBER_NBYTES / member->n_bytes;
    const uint64_t worth =
        levels[kind].byte_worth * (times < SMALL_MEMBER_WORTH ? times : SMALL_MEMBER_WORTH);
    memset(choice, 0, sizeof *choice);
    for (size_t i = 0; i < N_OF(candidates) && status == 0; i++) {
        const struct candidate *c = &candidates[i];
        const bool learns = c->codec->train != NULL;
        uint64_t cost = (uint64_t)c->operations_per_byte * n;
        struct codec_choice tried;

        if (c->kind != kind || cost >= least)
            continue;
        choice_init(&tried, c->codec, c->level);
        if (learns && trained == NULL)
            status = c->codec->train(member, &trained, err);
        tried.trained = learns ? trained : NULL;
        if (status == 0)
            status = trial_cost(&tried, &piece, worth, &cost, err);
        if (status == 0 && cost < least) {
            least = cost;
            *choice = tried;
        }
    }
    if (status != 0)
        memset(choice, 0, sizeof *choice);
    if (choice->trained == NULL)
        free(trained);
    return status;
}

int codec_choose(const struct codec_level *level, const struct codec_member *member,
                 struct codec_choice *choice, struct error *err)
{
    const bool is_small = member->sample_nbytes < TRIAL_MIN_NBYTES ||
                          (member->n_bytes != 0 && member->n_bytes < TRIAL_MIN_NBYTES);
    struct codec_member known = *member;
    const struct candidate *untrained = candidates;

    if (level->kind == CODEC_NAMED) {
        choice_init(choice, level->codec, level->level);
        return 0;
    }
    if (known.item_nbytes != 2 && known.item_nbytes != 4 && known.item_nbytes != 8)
        known.item_nbytes = 1; /* encoders know no other elements */
    if (level->kind != CODEC_STORE && !is_small)
        return choose_by_trial(level->kind, &known, choice, err);
    while (untrained->kind != level->kind || untrained->codec->train != NULL)
        untrained++;
    choice_init(choice, untrained->codec, untrained->level);
    return 0;
}

void codec_choice_release(struct codec_choice *choice)
{
    free(choice->trained);
    memset(choice, 0, sizeof *choice);
}

/* --- CRC-32 --- */

uint32_t crc_update(uint32_t crc, const void *bytes, size_t n_bytes)
{
    if (n_bytes == 0) /* zlib takes a NULL pointer for a request of the initial value */
        return crc;
#ifdef HAVE_ISAL
    crc = crc32_gzip_refl(crc, bytes, n_bytes);
    codec_clear_registers();
    return crc;
#else
    return (uint32_t)crc32_z(crc, bytes, n_bytes);
#endif
}

uint32_t crc_combine(uint32_t crc_a, uint32_t crc_b, uint64_t b_nbytes)
{
    return (uint32_t)crc32_combine64(crc_a, crc_b, (z_off64_t)b_nbytes);
}

/* --- libraries --- */

#define TEXT_OF(x)  TEXT_OF_(x)
#define TEXT_OF_(x) #x

const char *codec_libraries(void)
{
#ifdef HAVE_ISAL
    return "zlib " ZLIB_VERSION ", ISA-L " TEXT_OF(ISAL_MAJOR_VERSION) "." TEXT_OF(
        ISAL_MINOR_VERSION) "." TEXT_OF(ISAL_PATCH_VERSION);
#else
    return "zlib " ZLIB_VERSION;
#endif
}
