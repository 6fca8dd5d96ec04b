/* member.c - see member.h. */
#include "engine/member.h"

#include "codec/crc.h"
#include "engine/threads.h"

#include <stdlib.h>
#include <string.h>

/* Pieces in a batch, for each thread: enough to keep all busy while one fetches the next input. */
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

struct member {
    struct pieces *pieces;
    struct codec_level level;
    struct codec_member hints;
    struct codec_choice choice;
    struct side_work *side_work; /* borrowed, or NULL */
    int n_threads;
    struct worker *workers; /* owned, n_threads */
    struct slot *slots;     /* owned, n_slots */
    uint64_t n_slots;
    uint64_t n_filled;   /* slots that hold finished pieces */
    uint64_t next_slot;  /* the next one to deliver */
    uint64_t next_piece; /* the first piece that is not in a slot yet */
    uint64_t n_loaded;   /* pieces whose input is in the back window or before */
    uint32_t crc;
    uint64_t unpacked_nbytes;
};

struct member *member_new(struct pieces *pieces, const struct member_settings *settings,
                          const struct codec_member *hints, struct error *err)
{
    struct member *m = calloc(1, sizeof *m);

    if (m != NULL) {
        m->n_threads = settings->n_threads > 0 ? settings->n_threads : 1;
        m->n_slots = (uint64_t)m->n_threads * PIECES_PER_THREAD;
        if (m->n_slots > pieces->n_pieces)
            m->n_slots = pieces->n_pieces;
        m->workers = calloc((size_t)m->n_threads, sizeof *m->workers);
        m->slots = calloc(m->n_slots, sizeof *m->slots);
    }
    if (m == NULL || m->workers == NULL || m->slots == NULL) {
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

/* Look at the first piece and decide how the member is compressed. */
static int choose_codec(struct member *m, struct error *err)
{
    struct bytes *scratch = &m->workers[0].scratch;
    size_t history_nbytes = 0, n;

    if (m->pieces->ops->make(m->pieces, 0, scratch, &history_nbytes, err) != 0 ||
        add_slack(scratch, err) != 0)
        return -1;
    n = scratch->n_bytes < CODEC_TRIAL_NBYTES ? scratch->n_bytes : CODEC_TRIAL_NBYTES;
    return codec_choose(&m->level, &m->hints, scratch->data, n, &m->choice, err);
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

/* Side work in proportion to the batch: input is seldom larger than output. */
static void side_step(struct member *m, struct error *err)
{
    if (m->side_work != NULL)
        side_work_step(m->side_work, m->n_filled * PIECE_NBYTES, err);
}

/* The lowest-numbered failure of a batch. */
static int report(const struct member *m, const struct error *load, const struct error *side,
                  struct error *err)
{
    const struct error *first = NULL;

    for (uint64_t i = 0; i < m->n_filled && first == NULL; i++)
        if (m->slots[i].err.kind != ERROR_NONE)
            first = &m->slots[i].err;
    if (first == NULL && load->kind != ERROR_NONE)
        first = load;
    if (first == NULL && side->kind != ERROR_NONE)
        first = side;
    if (first == NULL)
        return 0;
    return error_set(err, first->kind, "%s", first->message);
}

/* Make the batch whose input is in the back window; fetch the one after it, and do a step of the
 * side work, at the same time. */
static int refill(struct member *m, struct error *err)
{
    struct error load_error = {0}, side_error = {0};
    int n_busy = m->n_threads;
    int64_t n_jobs;

    if (m->n_loaded == m->next_piece && load_batch(m, err) != 0)
        return -1;
    m->pieces->ops->turn(m->pieces);
    m->n_filled = m->n_loaded - m->next_piece;
    m->next_slot = 0;
    if (m->choice.codec == NULL && choose_codec(m, err) != 0)
        return -1;
    n_jobs = (int64_t)m->n_filled + 2;
    if (m->n_filled < (uint64_t)n_busy) /* idle threads would wait for the others by spinning */
        n_busy = (int)m->n_filled;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_busy)
    for (int64_t job = 0; job < n_jobs; job++) {
        if (job == 0)
            load_batch(m, &load_error);
        else if (job == 1)
            side_step(m, &side_error);
        else if (encode_piece(m, &m->workers[threads_index()], m->next_piece + (uint64_t)job - 2,
                              &m->slots[job - 2]) != 0)
            error_set(&m->slots[job - 2].err, ERROR_INTERNAL, "a piece failed without a reason");
    }
    if (report(m, &load_error, &side_error, err) != 0)
        return -1;
    m->next_piece += m->n_filled;
    return 0;
}

int member_pull(struct member *m, const uint8_t **bytes, size_t *n_bytes, struct error *err)
{
    struct slot *slot;

    do {
        if (m->next_slot == m->n_filled) {
            if (m->next_piece == m->pieces->n_pieces) {
                *n_bytes = 0;
                return 0;
            }
            if (refill(m, err) != 0)
                return -1;
        }
        slot = &m->slots[m->next_slot++];
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

void member_free(struct member *m)
{
    if (m == NULL)
        return;
    for (int i = 0; m->workers != NULL && i < m->n_threads; i++) {
        bytes_release(&m->workers[i].scratch);
        if (m->choice.codec != NULL && m->workers[i].codec_state != NULL)
            m->choice.codec->state_free(m->workers[i].codec_state);
    }
    for (uint64_t i = 0; m->slots != NULL && i < m->n_slots; i++)
        bytes_release(&m->slots[i].packed);
    free(m->workers);
    free(m->slots);
    codec_choice_release(&m->choice);
    pieces_free(m->pieces);
    free(m);
}
