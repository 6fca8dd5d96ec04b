/*
 * pack.c - pieces of one member, made and compressed by all workers, delivered in order.
 *
 * Jobs of the crew are pieces, each of which goes to a slot of a ring, and loads: the input of a
 * run of pieces is fetched while those of the run before are made, into the window of the run
 * before that, all pieces of which must have been made. The leader delivers slot after slot.
 */
#include "write/parts.h"

#include "codec/crc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- pieces of any kind --- */

int pieces_of_equal_rows(struct pieces *pieces, uint64_t n_rows, uint64_t row_nbytes,
                         struct error *err)
{
    uint64_t data_nbytes, piece_nbytes;

    if (__builtin_mul_overflow(n_rows, row_nbytes, &data_nbytes) ||
        data_nbytes > (UINT64_C(1) << 62))
        return error_set(err, ERROR_DATA, "%llu rows of %llu bytes are too many",
                         (unsigned long long)n_rows, (unsigned long long)row_nbytes);
    /* Small members are cut finer, so that all threads have something to do. */
    piece_nbytes = data_nbytes / 4;
    if (piece_nbytes < PIECE_MIN_NBYTES)
        piece_nbytes = PIECE_MIN_NBYTES;
    else if (piece_nbytes > PIECE_NBYTES)
        piece_nbytes = PIECE_NBYTES;
    pieces->n_rows = n_rows;
    pieces->row_nbytes = row_nbytes;
    if (row_nbytes == 0)
        pieces->rows_per_piece = n_rows > 0 ? n_rows : 1;
    else
        pieces->rows_per_piece = row_nbytes < piece_nbytes ? piece_nbytes / row_nbytes : 1;
    return 0;
}

uint64_t pieces_count(const struct pieces *pieces)
{
    return pieces->n_rows > 0 ? (pieces->n_rows - 1) / pieces->rows_per_piece + 1 : 1;
}

void pieces_free(struct pieces *pieces)
{
    if (pieces != NULL)
        pieces->ops->free(pieces);
}

/* --- a member's --- */

/* At most so many pieces are looked at to choose a codec: the first run has as many, if there are.
 */
#define SAMPLE_NPIECES 4

/* Pieces in a run, for each thread, at least: the input of the next run is fetched meanwhile. */
#define PIECES_PER_THREAD SAMPLE_NPIECES

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
    struct bytes scratch;  /* a piece, unpacked, with its history in front */
    size_t history_nbytes; /* of it */
    void *codec_state;
};

struct packer {
    struct pieces *pieces;
    uint64_t n_pieces;
    struct members *all; /* borrowed */
    struct crew *crew;   /* borrowed: theirs */
    struct codec_choice choice;
    struct worker *workers; /* owned, one for each thread of the crew */
    bool has_begun;         /* the crew works at it */
    bool is_held;           /* the piece delivered last may still be looked at */

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

/* --- input --- */

/* How many rows in front of row `first` are made again for n_bytes of history. */
static uint64_t history_rows(const struct pieces *pieces, uint64_t first, size_t n_bytes)
{
    const uint64_t item = pieces->row_nbytes;
    const uint64_t n = item > 0 ? (n_bytes + item - 1) / item : 0;

    return n < first ? n : first;
}

/* The rows of pieces first .. first + n - 1. */
static struct piece_rows rows_of(const struct pieces *pieces, uint64_t first, uint64_t n)
{
    struct piece_rows rows = {.begin = first * pieces->rows_per_piece,
                              .end = (first + n) * pieces->rows_per_piece};

    if (rows.end > pieces->n_rows)
        rows.end = pieces->n_rows;
    return rows;
}

/* Fetch the input of the run after the loaded ones. */
static int load_run(struct packer *p, struct run *run, struct error *err)
{
    struct pieces *pieces = p->pieces;
    const uint64_t left = p->n_pieces - p->n_loaded;
    struct piece_rows rows;

    run->first = p->n_loaded;
    run->n = run->n_left = left < p->pieces_per_run ? left : p->pieces_per_run;
    rows = rows_of(pieces, run->first, run->n);
    rows.begin -= history_rows(pieces, rows.begin, CODEC_HISTORY_NBYTES);
    if (pieces->ops->load != NULL && pieces->ops->load(pieces, &rows, err) != 0)
        return -1;
    run->window = rows.window;
    return 0;
}

static void add_run(struct packer *p, const struct run *run)
{
    p->latest = !p->latest;
    p->runs[p->latest] = *run;
    p->n_loaded += run->n;
    p->all->n_loaded += run->n * PIECE_NBYTES; /* in proportion: input is seldom larger */
}

static struct run *run_of(struct packer *p, uint64_t piece)
{
    return &p->runs[piece >= p->runs[p->latest].first ? p->latest : !p->latest];
}

/* --- pieces --- */

/* Piece i, whose input is in that window, into the worker's scratch: of the history in front of it
 * whole rows, enough for as many bytes as the worker wants, then the piece, and what encoders may
 * read after it and ignore: set, so that checkers of memory see no use of what never was. */
static int make_piece(const struct packer *p, uint64_t i, unsigned window, struct worker *worker,
                      struct error *err)
{
    const struct pieces *pieces = p->pieces;
    struct bytes *scratch = &worker->scratch;
    struct piece_rows rows = rows_of(pieces, i, 1);
    const uint64_t n_history = history_rows(pieces, rows.begin, worker->history_nbytes);
    uint8_t *slack;

    rows.begin -= n_history;
    rows.window = window;
    worker->history_nbytes = (size_t)(n_history * pieces->row_nbytes);
    scratch->n_bytes = 0;
    if ((i == 0 && bytes_append(scratch, pieces->header.data, pieces->header.n_bytes, err) != 0) ||
        pieces->ops->make(pieces, &rows, scratch, err) != 0 ||
        (slack = bytes_reserve(scratch, CODEC_READ_SLACK, err)) == NULL)
        return -1;
    memset(slack, 0, CODEC_READ_SLACK);
    return 0;
}

/* Choose the codec by the first piece, and as many whole ones after it as a codec wants to see. */
static int choose_codec(struct packer *p, unsigned window, struct codec_member about,
                        struct error *err)
{
    struct bytes sample = {0};
    const struct bytes *scratch = &p->workers[0].scratch;
    int status = 0;

    for (uint64_t i = 0; status == 0 && i < p->n_pieces && i < SAMPLE_NPIECES; i++) {
        p->workers[0].history_nbytes = 0;
        status = make_piece(p, i, window, &p->workers[0], err);
        if (i > 0 && sample.n_bytes + scratch->n_bytes > CODEC_TRIAL_NBYTES)
            break;
        if (status == 0)
            status = bytes_append(&sample, scratch->data, scratch->n_bytes, err);
    }
    if (status == 0 && bytes_reserve(&sample, CODEC_READ_SLACK, err) == NULL)
        status = -1;
    if (status == 0) {
        memset(sample.data + sample.n_bytes, 0, CODEC_READ_SLACK);
        about.sample = sample.data;
        about.sample_nbytes =
            sample.n_bytes < CODEC_TRIAL_NBYTES ? sample.n_bytes : CODEC_TRIAL_NBYTES;
        status = codec_choose(&p->all->level, &about, &p->choice, err);
    }
    bytes_release(&sample);
    return status;
}

static int prepare(struct packer *p, const struct codec_member *about, struct error *err)
{
    const size_t n_threads = (size_t)crew_size(p->crew);
    const uint64_t wanted = p->all->pieces_per_thread;
    struct run run;

    p->pieces_per_run = n_threads * (wanted > PIECES_PER_THREAD ? wanted : PIECES_PER_THREAD);
    p->n_slots = 2 * p->pieces_per_run;
    if (p->n_slots > p->n_pieces)
        p->n_slots = p->n_pieces;
    p->workers = calloc(n_threads, sizeof *p->workers);
    p->slots = calloc(p->n_slots, sizeof *p->slots);
    if (p->workers == NULL || p->slots == NULL)
        return error_no_memory(err, "member");
    if (load_run(p, &run, err) != 0)
        return -1;
    p->latest = 1; /* so that the first run is runs[0] */
    add_run(p, &run);
    return choose_codec(p, run.window, *about, err);
}

struct packer *packer_new(struct members *all, struct pieces *pieces,
                          const struct codec_member *about, struct error *err)
{
    struct packer *p = calloc(1, sizeof *p);

    if (p == NULL) {
        error_no_memory(err, "member");
        pieces_free(pieces);
        return NULL;
    }
    p->pieces = pieces;
    p->n_pieces = pieces_count(pieces);
    p->all = all;
    p->crew = all->crew;
    if (prepare(p, about, err) == 0)
        return p;
    packer_free(p);
    return NULL;
}

static int encode_piece(struct packer *p, struct worker *worker, uint64_t piece, struct slot *slot)
{
    const struct codec *codec = p->choice.codec;
    struct codec_piece in = {.last = piece + 1 == p->n_pieces};
    size_t history_nbytes;

    worker->history_nbytes = codec->zip_method == CODEC_ZIP_STORED ? 0 : CODEC_HISTORY_NBYTES;
    if (worker->codec_state == NULL &&
        (worker->codec_state = codec->state_new(&p->choice, &slot->err)) == NULL)
        return -1;
    if (make_piece(p, piece, slot->window, worker, &slot->err) != 0)
        return -1;
    history_nbytes = worker->history_nbytes;
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

static struct slot *slot_of(const struct packer *p, uint64_t piece)
{
    return &p->slots[piece % p->n_slots];
}

/* Input first, or others would soon wait for it. A run takes the window of the one before the
 * latest, all pieces of which must have been made. */
static bool take_job(void *self, int64_t *job)
{
    struct packer *p = self;
    struct slot *slot;

    if (!p->is_loading && p->load_error.kind == ERROR_NONE && p->n_loaded < p->n_pieces &&
        p->runs[!p->latest].n_left == 0) {
        p->is_loading = true;
        *job = LOAD_JOB;
        return true;
    }
    if (p->has_failed || p->n_taken == p->n_loaded || p->n_taken == p->n_delivered + p->n_slots)
        return false;
    *job = (int64_t)p->n_taken++;
    slot = slot_of(p, (uint64_t)*job);
    slot->is_done = false;
    slot->window = run_of(p, (uint64_t)*job)->window;
    return true;
}

static void run_job(void *self, int64_t job, int worker)
{
    struct packer *p = self;

    if (job == LOAD_JOB) {
        load_run(p, &p->loading, &p->loading_error);
    } else {
        struct slot *slot = slot_of(p, (uint64_t)job);

        if (encode_piece(p, &p->workers[worker], (uint64_t)job, slot) != 0)
            error_set(&slot->err, ERROR_INTERNAL, "a piece failed without a reason");
    }
}

static void end_job(void *self, int64_t job)
{
    struct packer *p = self;

    if (job == LOAD_JOB) {
        p->is_loading = false;
        p->load_error = p->loading_error;
        if (p->load_error.kind == ERROR_NONE)
            add_run(p, &p->loading);
    } else {
        struct slot *slot = slot_of(p, (uint64_t)job);

        slot->is_done = true;
        p->has_failed |= slot->err.kind != ERROR_NONE;
        run_of(p, (uint64_t)job)->n_left--;
    }
}

static const struct crew_work member_work = {take_job, run_job, end_job};

/* --- pulling --- */

/* The next piece is done, or will never be: next_failure says which. */
static bool has_next(void *self)
{
    struct packer *p = self;
    const bool is_loaded = p->n_delivered < p->n_loaded;

    p->next_failure = is_loaded ? &slot_of(p, p->n_delivered)->err : &p->load_error;
    if (!is_loaded)
        return p->load_error.kind != ERROR_NONE;
    return p->n_delivered < p->n_taken && slot_of(p, p->n_delivered)->is_done;
}

static void deliver(void *self)
{
    struct packer *p = self;

    p->n_delivered++;
}

static void end_work(struct packer *p)
{
    if (p->has_begun)
        crew_end(p->crew);
    p->has_begun = false;
}

int packer_pull(struct packer *p, struct member *member, struct error *err)
{
    struct slot *slot;

    do {
        if (p->is_held)
            crew_change(p->crew, deliver, p);
        p->is_held = false;
        if (p->n_delivered == p->n_pieces) {
            end_work(p);
            member->n_bytes = 0;
            snprintf(member->codec, sizeof member->codec, "%s", p->choice.name);
            return 0;
        }
        if (!p->has_begun)
            crew_begin(p->crew, &member_work, p);
        p->has_begun = true;
        crew_await(p->crew, has_next, p);
        p->is_held = p->next_failure->kind == ERROR_NONE;
        if (!p->is_held) {
            end_work(p);
            return error_pass(err, p->next_failure);
        }
        slot = slot_of(p, p->n_delivered);
        member->crc = crc_combine(member->crc, slot->crc, slot->unpacked_nbytes);
        member->made_nbytes += slot->unpacked_nbytes;
    } while (slot->packed.n_bytes == 0);
    member->bytes = slot->packed.data;
    member->n_bytes = slot->packed.n_bytes;
    return 0;
}

void packer_free(struct packer *p)
{
    if (p == NULL)
        return;
    end_work(p); /* given up in the middle */
    for (int i = 0; p->workers != NULL && i < crew_size(p->crew); i++) {
        bytes_release(&p->workers[i].scratch);
        if (p->choice.codec != NULL && p->workers[i].codec_state != NULL)
            p->choice.codec->state_free(p->workers[i].codec_state);
    }
    for (uint64_t i = 0; p->slots != NULL && i < p->n_slots; i++)
        bytes_release(&p->slots[i].packed);
    free(p->slots);
    free(p->workers);
    codec_choice_release(&p->choice);
    pieces_free(p->pieces);
    free(p);
}
