/*
 * member.c - one member from its owner to the archive: prepared beside the one in front, made and
 * compressed in pieces by all workers, delivered in order, checked at its end.
 *
 * Preparing is a task of the crew: each of two preparers takes every second member. Jobs of the
 * crew are pieces, each of which goes to a slot of a ring, and loads: the input of a run of pieces
 * is fetched while those of the run before are made, into the window of the run before that, all
 * pieces of which must have been made. The leader delivers slot after slot.
 */
#include "write/member.h"

/* --- pieces of any kind --- */

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

/* So many pieces for each thread are in a run, and of the first run so many, at most, are looked at
 * to choose a codec. */
#define PIECES_PER_THREAD 2
#define SAMPLE_NPIECES    4

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
    struct bytes scratch; /* a piece, unpacked, with its history in front */
    void *codec_state;
};

struct packer {
    struct pieces *pieces;
    uint64_t n_pieces;
    struct members *all; /* borrowed, with their crew */
    struct codec_choice choice;
    struct worker *workers; /* owned, one for each thread of the crew */
    bool has_begun;         /* the crew works at it */
    bool is_held;           /* the piece delivered last may still be looked at */
    struct bytes sample;    /* the first pieces: the codec was chosen by them */
    size_t sample_ends[SAMPLE_NPIECES];
    unsigned n_sampled;
    atomic_uint n_sampled_left; /* to encode: then their memory goes to the last one's worker */
    struct run loading;         /* the loading thread's, as is the next until it has failed */
    struct error load_error;

    /* Under the crew's lock while it works. */
    struct slot *slots; /* owned: piece i is in slot i % n_slots */
    uint64_t n_slots, pieces_per_run;
    struct bytes *spare; /* owned: memory of packed pieces, used last comes first: it is in cache */
    uint64_t n_spare;
    struct run runs[2]; /* the latest, and the one before, which is used for the next */
    unsigned latest;    /* of them */
    bool is_loading, load_has_failed, has_failed;
    uint64_t n_loaded, n_taken, n_delivered; /* pieces */
    const struct error *next_failure;        /* of the next piece to deliver */
};

/* How many rows in front of row `first` are made again, as history. */
static uint64_t history_rows(const struct pieces *pieces, uint64_t first)
{
    const uint64_t item = pieces->row_nbytes;

    return item > 0 ? smaller((CODEC_HISTORY_NBYTES + item - 1) / item, first) : 0;
}

/* The rows of pieces first .. first + n - 1. */
static struct piece_rows rows_of(const struct pieces *pieces, uint64_t first, uint64_t n)
{
    return (struct piece_rows){.begin = first * pieces->rows_per_piece,
                               .end =
                                   smaller((first + n) * pieces->rows_per_piece, pieces->n_rows)};
}

/* Fetch the input of the run after the loaded ones. */
static int load_run(struct packer *p)
{
    struct pieces *pieces = p->pieces;
    const uint64_t n = smaller(p->n_pieces - p->n_loaded, p->pieces_per_run);
    struct piece_rows rows = rows_of(pieces, p->n_loaded, n);

    rows.begin -= history_rows(pieces, rows.begin);
    if (pieces->ops->load != NULL && pieces->ops->load(pieces, &rows, &p->load_error) != 0)
        return -1;
    p->loading = (struct run){.first = p->n_loaded, .n = n, .n_left = n, .window = rows.window};
    return 0;
}

static void add_run(struct packer *p)
{
    p->latest = !p->latest;
    p->runs[p->latest] = p->loading;
    p->n_loaded += p->loading.n;
    p->all->n_loaded += p->loading.n * PIECE_NBYTES; /* in proportion: input is seldom larger */
}

static struct run *run_of(struct packer *p, uint64_t piece)
{
    return &p->runs[piece >= p->runs[p->latest].first ? p->latest : !p->latest];
}

static struct slot *slot_of(const struct packer *p, uint64_t piece)
{
    return &p->slots[piece % p->n_slots];
}

/* Append rows of piece i, in front of which stands what comes before the first one. */
static int append_rows(const struct packer *p, uint64_t i, const struct piece_rows *rows,
                       struct bytes *to, struct error *err)
{
    const struct bytes *header = &p->pieces->header;

    if (i == 0 && bytes_append(to, header->data, header->n_bytes, err) != 0)
        return -1;
    return p->pieces->ops->make(p->pieces, rows, to, err);
}

/* What encoders may read after their input and ignore: set, so that checkers of memory see no use
 * of what never was. */
static int append_slack(struct bytes *to, struct error *err)
{
    uint8_t *slack = bytes_reserve(to, CODEC_READ_SLACK, err);

    if (slack == NULL)
        return -1;
    memset(slack, 0, CODEC_READ_SLACK);
    return 0;
}

/* Choose the codec by the first piece, and as many whole ones after it as a codec wants to see. */
static int choose_codec(struct packer *p, struct codec_member about, struct error *err)
{
    struct bytes *sample = &p->sample;
    size_t n_bytes = 0;

    for (uint64_t i = 0; i < p->n_pieces && i < SAMPLE_NPIECES; i++) {
        struct piece_rows rows = rows_of(p->pieces, i, 1);
        const uint64_t known_nbytes = (rows.end - rows.begin) * p->pieces->row_nbytes;

        if (i > 0 && sample->n_bytes + known_nbytes > CODEC_TRIAL_NBYTES)
            break;
        rows.window = p->loading.window;
        if (append_rows(p, i, &rows, sample, err) != 0)
            return -1;
        if (i > 0 && sample->n_bytes > CODEC_TRIAL_NBYTES)
            break;
        n_bytes = p->sample_ends[i] = sample->n_bytes;
        p->n_sampled++;
    }
    sample->n_bytes = n_bytes;
    p->n_sampled_left = p->n_sampled;
    if (append_slack(sample, err) != 0)
        return -1;
    about.sample = sample->data;
    about.sample_nbytes = smaller(n_bytes, CODEC_TRIAL_NBYTES);
    return codec_choose(&p->all->level, &about, &p->choice, err);
}

/* --- jobs of the crew --- */

/* Input first, or others would soon wait for it. A run takes the window of the one before the
 * latest, all pieces of which must have been made. */
static bool take_job(void *self, int64_t *job)
{
    struct packer *p = self;

    if (!p->is_loading && !p->load_has_failed && p->n_loaded < p->n_pieces &&
        p->runs[!p->latest].n_left == 0) {
        p->is_loading = true;
        *job = LOAD_JOB;
        return true;
    }
    if (p->has_failed || p->n_taken == p->n_loaded || p->n_taken == p->n_delivered + p->n_slots)
        return false;
    *job = (int64_t)p->n_taken++;
    struct slot *slot = slot_of(p, (uint64_t)*job);
    slot->is_done = false;
    if (p->n_spare > 0)
        slot->packed = p->spare[--p->n_spare];
    slot->window = run_of(p, (uint64_t)*job)->window;
    return true;
}

/* Make piece i in `scratch`, with whole rows in front of it as history, and encode it to its slot.
 * A piece of the sample is there already. */
static int encode_piece(struct packer *p, struct worker *worker, uint64_t i, struct slot *slot)
{
    const struct codec *codec = p->choice.codec;
    const struct pieces *pieces = p->pieces;
    struct piece_rows rows = rows_of(pieces, i, 1);
    const uint64_t n_history =
        codec->zip_method == CODEC_ZIP_STORED ? 0 : history_rows(pieces, rows.begin);
    const size_t history_nbytes = (size_t)(n_history * pieces->row_nbytes);
    struct codec_piece in = {
        .last = i + 1 == p->n_pieces,
        .offset = i == 0 ? 0 : pieces->header.n_bytes + rows.begin * pieces->row_nbytes,
        .history_nbytes = smaller(history_nbytes, CODEC_HISTORY_NBYTES)};

    if (worker->codec_state == NULL &&
        (worker->codec_state = codec->state_new(&p->choice, &slot->err)) == NULL)
        return -1;
    if (i < p->n_sampled) {
        const size_t begin = i == 0 ? 0 : p->sample_ends[i - 1];

        in.bytes = p->sample.data + begin;
        in.n_bytes = p->sample_ends[i] - begin;
    } else {
        rows.begin -= n_history;
        rows.window = slot->window;
        worker->scratch.n_bytes = 0;
        if (append_rows(p, i, &rows, &worker->scratch, &slot->err) != 0)
            return -1;
        in.n_bytes = worker->scratch.n_bytes - history_nbytes;
        if (append_slack(&worker->scratch, &slot->err) != 0)
            return -1;
        in.bytes = worker->scratch.data + history_nbytes;
    }
    slot->crc = crc_update(0, in.bytes, in.n_bytes);
    slot->unpacked_nbytes = in.n_bytes;
    slot->packed.n_bytes = 0;
    if (bytes_reserve(&slot->packed, codec->bound(in.n_bytes), &slot->err) == NULL)
        return -1;
    slot->packed.n_bytes = codec->encode(worker->codec_state, &in, slot->packed.data, &slot->err);
    if (i < p->n_sampled && atomic_fetch_sub(&p->n_sampled_left, 1) == 1) {
        bytes_release(&worker->scratch);
        worker->scratch = p->sample;
        p->sample = (struct bytes){0};
    }
    return slot->err.kind == ERROR_NONE ? 0 : -1;
}

static void run_job(void *self, int64_t job, int worker)
{
    struct packer *p = self;

    if (job == LOAD_JOB) {
        load_run(p);
        return;
    }
    struct slot *slot = slot_of(p, (uint64_t)job);
    if (encode_piece(p, &p->workers[worker], (uint64_t)job, slot) != 0)
        error_set(&slot->err, ERROR_INTERNAL, "a piece failed without a reason");
}

static void end_job(void *self, int64_t job)
{
    struct packer *p = self;

    if (job == LOAD_JOB) {
        p->is_loading = false;
        p->load_has_failed = p->load_error.kind != ERROR_NONE;
        if (!p->load_has_failed)
            add_run(p);
    } else {
        struct slot *slot = slot_of(p, (uint64_t)job);

        slot->is_done = true;
        p->has_failed |= slot->err.kind != ERROR_NONE;
        run_of(p, (uint64_t)job)->n_left--;
    }
}

/* The next piece is done, or will never be: next_failure says which. */
static bool has_next(void *self)
{
    struct packer *p = self;
    const bool is_loaded = p->n_delivered < p->n_loaded;

    p->next_failure = is_loaded ? &slot_of(p, p->n_delivered)->err : &p->load_error;
    if (!is_loaded)
        return p->load_has_failed;
    return p->n_delivered < p->n_taken && slot_of(p, p->n_delivered)->is_done;
}

/* --- members: prepared, pulled, checked --- */

/* A stored block of no bytes, not the last one: changes nothing, but for the length. */
static const uint8_t empty_block[5] = {0x00, 0x00, 0x00, 0xff, 0xff};

bool member_size_is_unsafe(uint64_t n_bytes)
{
    return n_bytes == UINT32_MAX;
}

/* A member may be prepared while the one before it is pulled, unless it waits for that one's
 * memory. */
static bool preparer_is_due(void *self)
{
    const struct preparer *p = self;
    const struct members *all = p->all;

    if (p->next >= all->n)
        return false;
    return p->next < all->n_begun || (p->next == all->n_begun && !all->list[p->next]->waits);
}

/* Open a member, fetch its first input and choose the codec by it: its packer is there, or a
 * failure. One thread does this, any one. */
static void preparer_step(void *self)
{
    struct preparer *preparer = self;
    struct members *all = preparer->all;
    struct member *member = all->list[preparer->next];
    struct error *err = &member->failure;
    const int n_workers = crew_size(all->crew);
    const int n_threads =
        all->n_threads > 0 && all->n_threads < n_workers ? all->n_threads : n_workers;
    struct codec_member about = {.item_nbytes = 1};
    struct pieces *pieces = member->open(member, &about, err);
    struct packer *p = member->packer = pieces != NULL ? calloc(1, sizeof *p) : NULL;
    int status = -1;

    if (p != NULL) {
        p->pieces = pieces;
        p->n_pieces = pieces_count(pieces);
        p->all = all;
        p->pieces_per_run = (uint64_t)n_threads * PIECES_PER_THREAD;
        if (p->pieces_per_run < SAMPLE_NPIECES)
            p->pieces_per_run = SAMPLE_NPIECES;
        p->n_slots = smaller(2 * p->pieces_per_run, p->n_pieces);
        p->latest = 1; /* so that the first run is runs[0] */
        p->workers = calloc((size_t)n_workers, sizeof *p->workers);
        p->slots = calloc(p->n_slots + 1, sizeof *p->slots);
        p->spare = calloc(p->n_slots + 1, sizeof *p->spare);
    } else if (pieces != NULL) {
        error_no_memory(err, "member");
        pieces_free(pieces);
    }
    if (p != NULL && (p->workers == NULL || p->slots == NULL || p->spare == NULL)) {
        error_no_memory(err, "member");
    } else if (p != NULL && load_run(p) != 0) {
        error_pass(err, &p->load_error);
    } else if (p != NULL) {
        add_run(p);
        status = choose_codec(p, about, err);
    }
    if (status != 0)
        member_release(member);
    crew_lock(all->crew);
    preparer->next += MEMBERS_N_PREPARERS;
    crew_unlock(all->crew);
}

void members_begin(struct members *all)
{
    for (size_t i = 0; i < MEMBERS_N_PREPARERS; i++) {
        struct preparer *p = &all->preparers[i];

        *p = (struct preparer){
            {.is_due = preparer_is_due, .step = preparer_step, .self = p}, .all = all, .next = i};
        crew_add_task(all->crew, &p->task);
    }
}

void members_end(struct members *all)
{
    for (size_t i = 0; i < MEMBERS_N_PREPARERS; i++)
        crew_drop_task(all->crew, &all->preparers[i].task);
}

void members_stop(struct members *all, const struct error *failure)
{
    all->failure = *failure;
    all->has_failed = true;
}

static bool is_prepared(void *self)
{
    const struct members *all = self;
    const size_t member = all->n_begun - 1;

    return all->preparers[member % MEMBERS_N_PREPARERS].next > member;
}

/* The next packed bytes, a whole run of deflate blocks, and what is known of the member so far: its
 * CRC, its size, and at the end, where n_bytes is 0, its codec. The packers of a crew work one
 * after another. */
static int pull_packed(struct member *member, struct error *err)
{
    static const struct crew_work work = {take_job, run_job, end_job};
    struct members *all = member->all;
    struct slot *slot;

    if (all->n_begun < all->n && member == all->list[all->n_begun]) {
        crew_lock(all->crew);
        all->n_begun++;
        crew_unlock(all->crew);
        crew_await(all->crew, is_prepared, all);
    }
    if (all->has_failed || member->failure.kind != ERROR_NONE)
        return error_pass(err, all->has_failed ? &all->failure : &member->failure);
    struct packer *p = member->packer;
    do {
        if (p->is_held) {
            slot = slot_of(p, p->n_delivered);
            crew_lock(all->crew);
            p->spare[p->n_spare++] = slot->packed;
            slot->packed = (struct bytes){0};
            p->n_delivered++;
            crew_unlock(all->crew);
        }
        p->is_held = false;
        if (p->n_delivered == p->n_pieces) {
            snprintf(member->codec, sizeof member->codec, "%s", p->choice.name);
            member_release(member);
            if (member->close != NULL)
                member->close(member);
            return 0;
        }
        if (!p->has_begun)
            crew_begin(all->crew, &work, p);
        p->has_begun = true;
        crew_await(all->crew, has_next, p);
        if (p->next_failure->kind != ERROR_NONE) {
            crew_end(all->crew); /* nobody writes into the failure any more */
            p->has_begun = false;
            return error_pass(err, p->next_failure);
        }
        p->is_held = true;
        slot = slot_of(p, p->n_delivered);
        member->crc = crc_combine(member->crc, slot->crc, slot->unpacked_nbytes);
        member->made_nbytes += slot->unpacked_nbytes;
        if (all->progress != NULL)
            all->progress(all->progress_self, slot->unpacked_nbytes);
    } while (slot->packed.n_bytes == 0);
    member->bytes = slot->packed.data;
    member->n_bytes = slot->packed.n_bytes;
    return 0;
}

int member_next(struct member *member, struct error *err)
{
    if (member->held_nbytes > 0) {
        member->bytes = member->held;
        member->n_bytes = member->held_nbytes;
        member->held_nbytes = 0;
        return 0;
    }
    member->n_bytes = 0;
    if (member->pull(member, err) != 0)
        return -1;
    const unsigned long long made = member->made_nbytes, announced = member->unpacked_nbytes;
    if (member->n_bytes == 0) {
        member->ended = true;
        if (member->size_known && made != announced)
            return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, %llu were announced",
                             text_quote(member->name).text, made, announced);
        if (announced > 0 && made > announced)
            return error_set(err, ERROR_INTERNAL,
                             "member %s has %llu bytes, more than its bound %llu",
                             text_quote(member->name).text, made, announced);
        if (member->zip_method == CODEC_ZIP_STORED && member->packed_nbytes != made)
            return error_set(err, ERROR_INTERNAL, "member %s has %llu bytes, %llu were delivered",
                             text_quote(member->name).text, made,
                             (unsigned long long)member->packed_nbytes);
        return 0;
    }
    member->packed_nbytes += member->n_bytes;
    if (member->zip_method == CODEC_ZIP_DEFLATE && member_size_is_unsafe(member->packed_nbytes)) {
        member->held = member->bytes;
        member->held_nbytes = member->n_bytes;
        member->bytes = empty_block;
        member->n_bytes = sizeof empty_block;
        member->packed_nbytes += sizeof empty_block;
    }
    return 0;
}

int members_add(struct members *all, struct member *member, struct error *err)
{
    if (list_room(&all->list, all->n + 1, sizeof(struct member *), "members", err) != 0)
        return -1;
    all->list[all->n++] = member;
    member->all = all;
    if (member->pull == NULL)
        member->pull = pull_packed;
    return 0;
}

void member_release(struct member *member)
{
    struct packer *p = member->packer;

    if (p == NULL)
        return;
    if (p->has_begun) /* given up in the middle */
        crew_end(p->all->crew);
    bytes_release(&p->sample);
    for (int i = 0; p->workers != NULL && i < crew_size(p->all->crew); i++) {
        bytes_release(&p->workers[i].scratch);
        if (p->choice.codec != NULL && p->workers[i].codec_state != NULL)
            p->choice.codec->state_free(p->workers[i].codec_state);
    }
    for (uint64_t i = 0; p->slots != NULL && i < p->n_slots; i++)
        bytes_release(&p->slots[i].packed);
    while (p->n_spare > 0)
        bytes_release(&p->spare[--p->n_spare]);
    free(p->slots);
    free(p->spare);
    free(p->workers);
    codec_choice_release(&p->choice);
    pieces_free(p->pieces);
    free(p);
    member->packer = NULL;
}

void members_release(struct members *all)
{
    free(all->list);
    all->list = NULL;
    all->n = 0;
}
