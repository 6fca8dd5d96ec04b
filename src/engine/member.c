/* member.c - see member.h. */
#include "engine/member.h"

#include "codec/crc.h"

#include <stdlib.h>
#include <string.h>

/* Pieces in a batch, for each thread, at least: one fetches the next input meanwhile, and at the
 * end of a batch all wait for the slowest. */
#define PIECES_PER_THREAD 4

/* A finished piece, waiting to be pulled. */
struct slot {
    struct bytes packed;
    uint32_t crc;
    uint64_t unpacked_nbytes;
    struct error err;
};

/* What one thread works with. */
struct worker {
    struct bytes scratch;
    void *codec_state;
};

/* A run of pieces. */
struct batch {
    struct slot *slots; /* owned, n_slots */
    uint64_t n;         /* slots in use */
};

struct member {
    struct pieces *pieces;
    struct codec_level level;
    struct codec_member hints;
    struct codec_choice choice;
    struct side_work *side_work; /* borrowed, or NULL */
    struct crew *crew;           /* borrowed */
    struct worker *workers;      /* owned, one for each thread of the crew */
    uint64_t n_slots;
    struct batch making; /* by the crew, since it was posted; n is 0 when there is none */
    struct batch made;   /* and delivered */
    struct error load_error, side_error; /* of the batch that is being made */
    uint64_t next_slot;                  /* of those made: the next one to deliver */
    uint64_t next_piece; /* the first piece of the batch that is being made, or comes next */
    uint64_t n_loaded;   /* pieces whose input is in the back window or before */
    uint32_t crc;
    uint64_t unpacked_nbytes;
};

struct member *member_new(struct pieces *pieces, const struct member_settings *settings,
                          const struct codec_member *hints, struct error *err)
{
    struct member *m = calloc(1, sizeof *m);

    if (m != NULL) {
        const size_t n_threads = (size_t)crew_size(settings->crew);

        m->crew = settings->crew;
        m->n_slots = n_threads * (settings->pieces_per_thread > PIECES_PER_THREAD
                                      ? settings->pieces_per_thread
                                      : PIECES_PER_THREAD);
        if (m->n_slots > pieces->n_pieces)
            m->n_slots = pieces->n_pieces;
        m->workers = calloc(n_threads, sizeof *m->workers);
        m->making.slots = calloc(m->n_slots, sizeof *m->making.slots);
        m->made.slots = calloc(m->n_slots, sizeof *m->made.slots);
    }
    if (m == NULL || m->workers == NULL || m->making.slots == NULL || m->made.slots == NULL) {
        error_no_memory(err, "member");
        member_free(m);
        pieces_free(pieces);
        return NULL;
    }
    m->pieces = pieces;
    m->level = settings->level;
    m->side_work = settings->side_work;
    m->hints = *hints;
    return m;
}

/* Fetch the input of the next batch. */
static int load_batch(struct member *m, struct error *err)
{
    uint64_t left = m->pieces->n_pieces - m->n_loaded;
    uint64_t n = left < m->n_slots ? left : m->n_slots;

    if (n > 0 && m->pieces->ops->load(m->pieces, m->n_loaded, n, err) != 0)
        return -1;
    m->n_loaded += n;
    return 0;
}

/* Encoders may read behind a piece and ignore what they find; it is set, so that checkers of memory
 * see no use of what never was. */
static int add_slack(struct bytes *piece, struct error *err)
{
    uint8_t *slack = bytes_reserve(piece, CODEC_READ_SLACK, err);

    if (slack == NULL)
        return -1;
    memset(slack, 0, CODEC_READ_SLACK);
    return 0;
}

/* The first piece, and as many whole ones behind it as a codec wants to see; no more than every
 * batch has, so that the choice depends on no number of threads. */
static int take_sample(struct member *m, struct bytes *sample, struct error *err)
{
    struct bytes *scratch = &m->workers[0].scratch;

    for (uint64_t i = 0; i < m->pieces->n_pieces && i < PIECES_PER_THREAD; i++) {
        size_t history_nbytes = 0;

        if (m->pieces->ops->make(m->pieces, i, scratch, &history_nbytes, err) != 0)
            return -1;
        if (i > 0 && sample->n_bytes + scratch->n_bytes > CODEC_TRIAL_NBYTES)
            break;
        if (bytes_append(sample, scratch->data, scratch->n_bytes, err) != 0)
            return -1;
    }
    return add_slack(sample, err);
}

/* Decide how the member is compressed. */
static int choose_codec(struct member *m, struct error *err)
{
    struct bytes sample = {0};
    int status = take_sample(m, &sample, err);

    if (sample.n_bytes > CODEC_TRIAL_NBYTES)
        sample.n_bytes = CODEC_TRIAL_NBYTES;
    if (status == 0)
        status = codec_choose(&m->level, &m->hints, sample.data, sample.n_bytes, &m->choice, err);
    bytes_release(&sample);
    return status;
}

static int encode_piece(struct member *m, struct worker *worker, uint64_t piece, struct slot *slot)
{
    const struct codec *codec = m->choice.codec;
    const bool last = piece + 1 == m->pieces->n_pieces;
    size_t history_nbytes = codec->stores ? 0 : CODEC_HISTORY_NBYTES;
    size_t n_bytes, n_packed;
    const uint8_t *bytes;

    if (worker->codec_state == NULL &&
        (worker->codec_state = codec->state_new(&m->choice, &slot->err)) == NULL)
        return -1;
    if (m->pieces->ops->make(m->pieces, piece, &worker->scratch, &history_nbytes, &slot->err) !=
            0 ||
        add_slack(&worker->scratch, &slot->err) != 0)
        return -1;
    bytes = worker->scratch.data + history_nbytes;
    n_bytes = worker->scratch.n_bytes - history_nbytes;
    slot->crc = crc_update(0, bytes, n_bytes);
    slot->unpacked_nbytes = n_bytes;
    slot->packed.n_bytes = 0;
    if (bytes_reserve(&slot->packed, codec->bound(n_bytes), &slot->err) == NULL)
        return -1;
    if (history_nbytes > CODEC_HISTORY_NBYTES) /* whole rows may be more than was asked for */
        history_nbytes = CODEC_HISTORY_NBYTES;
    n_packed = codec->encode(worker->codec_state, bytes, n_bytes, history_nbytes, last,
                             slot->packed.data, &slot->err);
    slot->packed.n_bytes = n_packed;
    return slot->err.kind == ERROR_NONE ? 0 : -1;
}

/* The jobs of a batch: fetch the input of the one after it, do a step of the side work (in
 * proportion: input is seldom larger than output), make the pieces. */
static void batch_job(void *self, int64_t job, int worker)
{
    struct member *m = self;
    struct slot *slot = &m->making.slots[job < 2 ? 0 : job - 2];

    if (job == 0)
        load_batch(m, &m->load_error);
    else if (job == 1 && m->side_work != NULL)
        side_work_step(m->side_work, m->making.n * PIECE_NBYTES, &m->side_error);
    else if (job > 1 &&
             encode_piece(m, &m->workers[worker], m->next_piece + (uint64_t)job - 2, slot) != 0)
        error_set(&slot->err, ERROR_INTERNAL, "a piece failed without a reason");
}

/* Have the batch made whose input is in the back window. */
static int post_batch(struct member *m, struct error *err)
{
    if (m->n_loaded == m->next_piece && load_batch(m, err) != 0)
        return -1;
    m->pieces->ops->turn(m->pieces);
    if (m->choice.codec == NULL && choose_codec(m, err) != 0)
        return -1;
    m->making.n = m->n_loaded - m->next_piece;
    crew_post(m->crew, (int64_t)m->making.n + 2, batch_job, m);
    return 0;
}

/* The lowest-numbered failure of the batch that was made. */
static int report(const struct member *m, struct error *err)
{
    const struct error *first = NULL;

    for (uint64_t i = 0; i < m->made.n && first == NULL; i++)
        if (m->made.slots[i].err.kind != ERROR_NONE)
            first = &m->made.slots[i].err;
    if (first == NULL && m->load_error.kind != ERROR_NONE)
        first = &m->load_error;
    if (first == NULL && m->side_error.kind != ERROR_NONE)
        first = &m->side_error;
    if (first == NULL)
        return 0;
    return error_set(err, first->kind, "%s", first->message);
}

/* Wait for the batch that is being made, and have the next one made while it is delivered. */
static int refill(struct member *m, struct error *err)
{
    const struct batch empty = m->made;

    if (m->making.n == 0 && post_batch(m, err) != 0)
        return -1;
    crew_wait(m->crew);
    m->next_piece += m->making.n;
    m->made = m->making;
    m->making = (struct batch){.slots = empty.slots};
    m->next_slot = 0;
    if (report(m, err) != 0)
        return -1;
    return m->next_piece < m->pieces->n_pieces ? post_batch(m, err) : 0;
}

int member_pull(struct member *m, const uint8_t **bytes, size_t *n_bytes, struct error *err)
{
    struct slot *slot;

    do {
        if (m->next_slot == m->made.n) {
            if (m->next_piece == m->pieces->n_pieces) {
                *n_bytes = 0;
                return 0;
            }
            if (refill(m, err) != 0)
                return -1;
        }
        slot = &m->made.slots[m->next_slot++];
        m->crc = crc_combine(m->crc, slot->crc, slot->unpacked_nbytes);
        m->unpacked_nbytes += slot->unpacked_nbytes;
    } while (slot->packed.n_bytes == 0);
    *bytes = slot->packed.data;
    *n_bytes = slot->packed.n_bytes;
    return 0;
}

const char *member_codec(const struct member *m)
{
    return m->choice.name;
}

uint32_t member_crc(const struct member *m)
{
    return m->crc;
}

uint64_t member_unpacked_nbytes(const struct member *m)
{
    return m->unpacked_nbytes;
}

static void release_batch(struct batch *batch, uint64_t n_slots)
{
    for (uint64_t i = 0; batch->slots != NULL && i < n_slots; i++)
        bytes_release(&batch->slots[i].packed);
    free(batch->slots);
}

void member_free(struct member *m)
{
    if (m == NULL)
        return;
    if (m->making.n > 0) /* given up in the middle */
        crew_wait(m->crew);
    for (int i = 0; m->workers != NULL && i < crew_size(m->crew); i++) {
        bytes_release(&m->workers[i].scratch);
        if (m->choice.codec != NULL && m->workers[i].codec_state != NULL)
            m->choice.codec->state_free(m->workers[i].codec_state);
    }
    release_batch(&m->making, m->n_slots);
    release_batch(&m->made, m->n_slots);
    free(m->workers);
    codec_choice_release(&m->choice);
    pieces_free(m->pieces);
    free(m);
}
