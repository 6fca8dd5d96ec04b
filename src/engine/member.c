/* member.c - see member.h. */
#include "engine/member.h"

#include "codec/crc.h"
#include "engine/member_codec.h"

#include <stdlib.h>
#include <string.h>

/* Pieces in a run, for each thread, at least: the input of the next run is fetched meanwhile. */
#define PIECES_PER_THREAD MEMBER_CODEC_NPIECES

#define LOAD_JOB (-1) /* jobs from 0 on are pieces */

/* A piece from when it is taken until it is delivered. */
struct slot {
    unsigned window; /* where its input is */
    bool is_done;
    struct bytes packed;
    uint32_t crc;
    uint64_t unpacked_nbytes;
    struct error err;
};

/* Pieces whose input was fetched at once. */
struct run {
    uint64_t first, n;
    uint64_t n_left; /* of them not made yet */
    unsigned window;
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
    struct crew *crew;           /* borrowed */
    struct worker *workers;      /* owned, one for each thread of the crew */
    uint32_t crc;
    uint64_t unpacked_nbytes;
    bool has_begun; /* the crew works at it */
    bool is_held;   /* the piece delivered last may still be looked at */

    /* Under the crew's lock while it works. */
    struct slot *slots; /* owned: piece i is in slot i % n_slots */
    uint64_t n_slots, pieces_per_run;
    struct run runs[2]; /* the latest, and the one before, which is used for the next */
    unsigned latest;    /* of them */
    bool is_loading, has_failed;
    struct error load_error; /* of the run that follows the loaded ones */
    struct run loading;      /* the loading thread's, as is the next */
    struct error loading_error;
    uint64_t n_loaded, n_taken, n_delivered; /* pieces */
    const struct error *next_failure;        /* of the next piece to deliver */
};

struct member *member_new(struct pieces *pieces, const struct member_settings *settings,
                          const struct codec_member *hints, struct error *err)
{
    struct member *m = calloc(1, sizeof *m);

    if (m != NULL) {
        const size_t n_threads = (size_t)crew_size(settings->crew);

        m->crew = settings->crew;
        m->pieces_per_run = n_threads * (settings->pieces_per_thread > PIECES_PER_THREAD
                                             ? settings->pieces_per_thread
                                             : PIECES_PER_THREAD);
        m->n_slots = 2 * m->pieces_per_run;
        if (m->n_slots > pieces->n_pieces)
            m->n_slots = pieces->n_pieces;
        m->workers = calloc(n_threads, sizeof *m->workers);
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

/* --- input --- */

/* Fetch the input of the run behind the loaded ones. */
static int load_run(struct member *m, struct run *run, struct error *err)
{
    const uint64_t left = m->pieces->n_pieces - m->n_loaded;

    run->first = m->n_loaded;
    run->n = run->n_left = left < m->pieces_per_run ? left : m->pieces_per_run;
    return m->pieces->ops->load(m->pieces, run->first, run->n, &run->window, err);
}

static void add_run(struct member *m, const struct run *run)
{
    m->latest = !m->latest;
    m->runs[m->latest] = *run;
    m->n_loaded += run->n;
    if (m->side_work != NULL) /* in proportion: input is seldom larger than output */
        side_work_grant(m->side_work, run->n * PIECE_NBYTES);
}

static struct run *run_of(struct member *m, uint64_t piece)
{
    return &m->runs[piece >= m->runs[m->latest].first ? m->latest : !m->latest];
}

int member_prepare(struct member *m, struct error *err)
{
    struct run run;

    if (load_run(m, &run, err) != 0)
        return -1;
    m->latest = 1; /* so that the first run is runs[0] */
    add_run(m, &run);
    return member_codec_choose(m->pieces, run.window, &m->level, &m->hints, &m->workers[0].scratch,
                               &m->choice, err);
}

/* --- pieces --- */

static int encode_piece(struct member *m, struct worker *worker, uint64_t piece, struct slot *slot)
{
    const struct codec *codec = m->choice.codec;
    struct codec_piece in = {.last = piece + 1 == m->pieces->n_pieces};
    size_t history_nbytes = codec->zip_method == CODEC_ZIP_STORED ? 0 : CODEC_HISTORY_NBYTES;

    if (worker->codec_state == NULL &&
        (worker->codec_state = codec->state_new(&m->choice, &slot->err)) == NULL)
        return -1;
    if (m->pieces->ops->make(m->pieces, piece, slot->window, &worker->scratch, &history_nbytes,
                             &slot->err) != 0 ||
        member_codec_add_slack(&worker->scratch, &slot->err) != 0)
        return -1;
    in.bytes = worker->scratch.data + history_nbytes;
    in.n_bytes = worker->scratch.n_bytes - history_nbytes;
    slot->crc = crc_update(0, in.bytes, in.n_bytes);
    slot->unpacked_nbytes = in.n_bytes;
    slot->packed.n_bytes = 0;
    if (bytes_reserve(&slot->packed, codec->bound(in.n_bytes), &slot->err) == NULL)
        return -1;
    /* Whole rows may be more than was asked for. */
    in.history_nbytes =
        history_nbytes < CODEC_HISTORY_NBYTES ? history_nbytes : CODEC_HISTORY_NBYTES;
    slot->packed.n_bytes = codec->encode(worker->codec_state, &in, slot->packed.data, &slot->err);
    return slot->err.kind == ERROR_NONE ? 0 : -1;
}

static struct slot *slot_of(const struct member *m, uint64_t piece)
{
    return &m->slots[piece % m->n_slots];
}

/* Input first, or others would soon wait for it. A run takes the window of the one before the
 * latest, all pieces of which must have been made. */
static bool take_job(void *self, int64_t *job)
{
    struct member *m = self;
    struct slot *slot;

    if (!m->is_loading && m->load_error.kind == ERROR_NONE && m->n_loaded < m->pieces->n_pieces &&
        m->runs[!m->latest].n_left == 0) {
        m->is_loading = true;
        *job = LOAD_JOB;
        return true;
    }
    if (m->has_failed || m->n_taken == m->n_loaded || m->n_taken == m->n_delivered + m->n_slots)
        return false;
    *job = (int64_t)m->n_taken++;
    slot = slot_of(m, (uint64_t)*job);
    slot->is_done = false;
    slot->window = run_of(m, (uint64_t)*job)->window;
    return true;
}

static void run_job(void *self, int64_t job, int worker)
{
    struct member *m = self;

    if (job == LOAD_JOB) {
        load_run(m, &m->loading, &m->loading_error);
    } else {
        struct slot *slot = slot_of(m, (uint64_t)job);

        if (encode_piece(m, &m->workers[worker], (uint64_t)job, slot) != 0)
            error_set(&slot->err, ERROR_INTERNAL, "a piece failed without a reason");
    }
}

static void end_job(void *self, int64_t job)
{
    struct member *m = self;

    if (job == LOAD_JOB) {
        m->is_loading = false;
        m->load_error = m->loading_error;
        if (m->load_error.kind == ERROR_NONE)
            add_run(m, &m->loading);
    } else {
        struct slot *slot = slot_of(m, (uint64_t)job);

        slot->is_done = true;
        m->has_failed |= slot->err.kind != ERROR_NONE;
        run_of(m, (uint64_t)job)->n_left--;
    }
}

static const struct crew_work member_work = {take_job, run_job, end_job};

/* --- pulling --- */

/* The next piece is done, or will never be: next_failure says which. */
static bool has_next(void *self)
{
    struct member *m = self;
    const bool is_loaded = m->n_delivered < m->n_loaded;

    m->next_failure = is_loaded ? &slot_of(m, m->n_delivered)->err : &m->load_error;
    if (!is_loaded)
        return m->load_error.kind != ERROR_NONE;
    return m->n_delivered < m->n_taken && slot_of(m, m->n_delivered)->is_done;
}

static void deliver(void *self)
{
    struct member *m = self;

    m->n_delivered++;
}

static void end_work(struct member *m)
{
    if (m->has_begun)
        crew_end(m->crew);
    m->has_begun = false;
}

/* Wait for the next piece in order. */
static int await_piece(struct member *m, struct error *err)
{
    if (!m->has_begun)
        crew_begin(m->crew, &member_work, m);
    m->has_begun = true;
    crew_await(m->crew, has_next, m);
    m->is_held = m->next_failure->kind == ERROR_NONE;
    if (m->is_held)
        return 0;
    end_work(m);
    return error_pass(err, m->next_failure);
}

int member_pull(struct member *m, const uint8_t **bytes, size_t *n_bytes, struct error *err)
{
    struct slot *slot;

    do {
        if (m->is_held)
            crew_change(m->crew, deliver, m);
        m->is_held = false;
        if (m->n_delivered == m->pieces->n_pieces) {
            end_work(m);
            *n_bytes = 0;
            return 0;
        }
        if (await_piece(m, err) != 0)
            return -1;
        slot = slot_of(m, m->n_delivered);
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
    end_work(m); /* given up in the middle */
    for (int i = 0; m->workers != NULL && i < crew_size(m->crew); i++) {
        bytes_release(&m->workers[i].scratch);
        if (m->choice.codec != NULL && m->workers[i].codec_state != NULL)
            m->choice.codec->state_free(m->workers[i].codec_state);
    }
    for (uint64_t i = 0; m->slots != NULL && i < m->n_slots; i++)
        bytes_release(&m->slots[i].packed);
    free(m->slots);
    free(m->workers);
    codec_choice_release(&m->choice);
    pieces_free(m->pieces);
    free(m);
}
