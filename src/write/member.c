/*
 * member.c - members from their owner to the archive: prepared ahead of their turn, made and
 * compressed in pieces by all workers, delivered in order, checked at their end.
 *
 * The crew has one work for all members of an output. Each piece of the member whose turn it is
 * goes to a slot of a ring, from which the leader delivers them in order. The input of a run of
 * pieces is fetched while pieces of the run before are made, into the window of the run before that
 * one, which must have been used up.
 */
#include "write/member.h"

#include "base/meter.h"

/* Pieces in a run, for each thread; and how many of the first run the codec is chosen by, at most.
 */
#define PIECES_PER_THREAD 2
#define SAMPLE_NPIECES    4

/* Jobs from 0 on are pieces; PREPARE_JOB - i is to prepare member i. */
#define LOAD_JOB    (-1)
#define PREPARE_JOB (-2)

/* A piece from when it is taken until it is delivered. */
struct slot {
    bool is_done;
    struct bytes packed;
    uint32_t crc;
    uint64_t unpacked_nbytes;
    struct error err;
};

/* Pieces whose input was fetched at once. */
struct run {
    uint64_t n_left; /* of them not made yet */
    unsigned window; /* where the input is */
};

/* What one thread works with. */
struct worker {
    _Alignas(CACHE_LINE_NBYTES) struct bytes scratch; /* a piece, unpacked, after its history */
    void *codec_state;
};

struct packer {
    struct member *member; /* borrowed */
    uint64_t n_pieces;
    struct codec_choice choice;
    struct worker *workers; /* owned, one for each thread of the crew */
    bool is_held;           /* the piece delivered last may still be looked at */
    struct bytes sample;    /* the first pieces: the codec was chosen by them */
    size_t sample_ends[SAMPLE_NPIECES];
    unsigned n_sampled;
    atomic_uint n_sampled_left; /* to encode: then their memory goes to the last one's worker */
    struct error load_error;    /* of the loading thread, until it is done */

    /* Under the crew's lock while it works. */
    struct slot *slots; /* owned: piece i is in slot i % n_slots */
    uint64_t n_slots, pieces_per_run;
    struct bytes *spare; /* owned: memory of packed pieces; the last one used comes first, since it
                            is in the cache */
    uint64_t n_spare;
    struct run runs[2]; /* taking turns: the latest, and the one before */
    bool is_loading;
    uint64_t n_loaded, n_taken, n_delivered; /* pieces */
    const struct error *next_failure;        /* of the next piece to deliver */
};

/* How many rows in front of row `first` are made again, as history. */
static uint64_t history_rows(const struct member *member, uint64_t first)
{
    const uint64_t item = member->row_nbytes;

    return item > 0 ? smaller((CODEC_HISTORY_NBYTES + item - 1) / item, first) : 0;
}

/* The rows of pieces first .. first + n - 1. */
static struct piece_rows rows_of(const struct member *member, uint64_t first, uint64_t n)
{
    return (struct piece_rows){.begin = first * member->rows_per_piece,
                               .end =
                                   smaller((first + n) * member->rows_per_piece, member->n_rows)};
}

/* The run that a piece belongs to. */
static struct run *run_of(struct packer *p, uint64_t piece)
{
    return &p->runs[piece / p->pieces_per_run % 2];
}

/* Fetch the input of the run after the latest one, in place of the run before. */
static int load_run(struct packer *p)
{
    struct member *member = p->member;
    const uint64_t n = smaller(p->n_pieces - p->n_loaded, p->pieces_per_run);
    struct piece_rows rows = rows_of(member, p->n_loaded, n);

    rows.begin -= history_rows(member, rows.begin);
    if (member->ops->load != NULL && member->ops->load(member, &rows, &p->load_error) != 0)
        return -1;
    *run_of(p, p->n_loaded) = (struct run){.n_left = n, .window = rows.window};
    return 0;
}

/* The run that was loaded is the latest from now on. */
static void add_run(struct packer *p)
{
    const uint64_t n = run_of(p, p->n_loaded)->n_left; /* all */

    p->n_loaded += n;
    p->member->all->n_loaded += n * PIECE_NBYTES; /* in proportion: input is seldom larger */
}

static struct slot *slot_of(const struct packer *p, uint64_t piece)
{
    return &p->slots[piece % p->n_slots];
}

/* Append rows of piece i, after the header if it is the first. */
static int append_rows(const struct packer *p, uint64_t i, const struct piece_rows *rows,
                       struct bytes *to, struct error *err)
{
    const struct bytes *header = &p->member->header;

    if (i == 0 && bytes_append(to, header->data, header->n_bytes, err) != 0)
        return -1;
    return p->member->ops->make(p->member, rows, to, err);
}

/* Encoders may read these bytes after their input, and ignore them: they are set so that memory
 * checkers see no use of uninitialised memory. */
static int append_slack(struct bytes *to, struct error *err)
{
    uint8_t *slack = bytes_reserve(to, CODEC_READ_SLACK, err);

    if (slack == NULL)
        return -1;
    memset(slack, 0, CODEC_READ_SLACK);
    return 0;
}

/* Choose the codec by the first piece, and by as many whole ones after it as it may look at. */
static int choose_codec(struct packer *p, struct error *err)
{
    const struct member *member = p->member;
    struct codec_member about = member->about;
    struct bytes *sample = &p->sample;
    size_t n_bytes = 0;

    for (uint64_t i = 0; i < p->n_pieces && i < SAMPLE_NPIECES; i++) {
        struct piece_rows rows = rows_of(member, i, 1);
        const uint64_t known_nbytes = (rows.end - rows.begin) * member->row_nbytes;

        if (i > 0 && sample->n_bytes + known_nbytes > CODEC_TRIAL_NBYTES)
            break;
        rows.window = run_of(p, i)->window;
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
    about.n_bytes = member->size_known ? member->unpacked_nbytes : 0;
    about.header_nbytes = member->header.n_bytes;
    about.row_nbytes = member->row_nbytes;
    about.sample = sample->data;
    about.sample_nbytes = smaller(n_bytes, CODEC_TRIAL_NBYTES);
    return codec_choose(&member->all->level, &about, &p->choice, err);
}

/* Open a member, fetch its first input and choose its codec. */
static int prepare(struct members *all, struct member *member, struct error *err)
{
    const int n_workers = crew_size(all->crew);
    const int n_threads =
        all->n_threads > 0 && all->n_threads < n_workers ? all->n_threads : n_workers;
    struct packer *p;

    if (new_items(&member->packer, 1, "member", err) != 0)
        return -1;
    p = member->packer;
    p->member = member;
    if (member->ops->open != NULL && member->ops->open(member, err) != 0)
        return -1;
    p->n_pieces = member->n_rows > 0 ? (member->n_rows - 1) / member->rows_per_piece + 1 : 1;
    p->pieces_per_run = (uint64_t)n_threads * PIECES_PER_THREAD;
    if (p->pieces_per_run < SAMPLE_NPIECES)
        p->pieces_per_run = SAMPLE_NPIECES;
    p->n_slots = smaller(2 * p->pieces_per_run, p->n_pieces);
    p->workers = bytes_new_apart((size_t)n_workers * sizeof *p->workers);
    if (p->workers == NULL)
        return error_no_memory(err, "member");
    if (new_items(&p->slots, p->n_slots, "member", err) != 0 ||
        new_items(&p->spare, p->n_slots, "member", err) != 0)
        return -1;
    if (load_run(p) != 0)
        return error_pass(err, &p->load_error);
    add_run(p);
    return choose_codec(p, err);
}

/* --- jobs of the crew --- */

/* First the next member is prepared, unless it waits until the one before has given its memory
 * back; then input is fetched, or pieces would soon wait for it, into the window of the run before
 * the latest, all pieces of which must have been made. */
static bool take_job(void *self, int64_t *job)
{
    struct members *all = self;
    struct packer *p = all->packer;
    const size_t next = all->n_preparing;

    if (next < all->n &&
        (next < all->n_begun || (next == all->n_begun && !all->list[next]->waits))) {
        *job = PREPARE_JOB - (int64_t)all->n_preparing++;
        return true;
    }
    if (p == NULL)
        return false;
    if (!p->is_loading && p->load_error.kind == ERROR_NONE && p->n_loaded < p->n_pieces &&
        run_of(p, p->n_loaded)->n_left == 0) {
        p->is_loading = true;
        *job = LOAD_JOB;
        return true;
    }
    if (p->n_taken == p->n_loaded || p->n_taken == p->n_delivered + p->n_slots)
        return false;
    *job = (int64_t)p->n_taken++;
    struct slot *slot = slot_of(p, (uint64_t)*job);
    slot->is_done = false;
    if (p->n_spare > 0)
        slot->packed = p->spare[--p->n_spare];
    return true;
}

/* Make piece i in `scratch`, with whole rows in front of it as history, and encode it to its slot.
 * A piece of the sample is there already. */
static int encode_piece(struct packer *p, struct worker *worker, uint64_t i, struct slot *slot)
{
    const struct codec *codec = p->choice.codec;
    const struct member *member = p->member;
    struct piece_rows rows = rows_of(member, i, 1);
    const uint64_t n_history =
        codec->zip_method == CODEC_ZIP_STORED ? 0 : history_rows(member, rows.begin);
    const size_t history_nbytes = (size_t)(n_history * member->row_nbytes);
    struct codec_piece in = {
        .last = i + 1 == p->n_pieces,
        .offset = i == 0 ? 0 : member->header.n_bytes + rows.begin * member->row_nbytes,
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
        rows.window = run_of(p, i)->window;
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
    struct members *all = self;

    if (job <= PREPARE_JOB) {
        struct member *member = all->list[PREPARE_JOB - job];

        if (prepare(all, member, &member->failure) != 0)
            error_set(&member->failure, ERROR_INTERNAL, "a member failed without a reason");
        return;
    }
    struct packer *p = all->packer; /* it stays while it has jobs */
    if (job == LOAD_JOB) {
        if (load_run(p) != 0)
            error_set(&p->load_error, ERROR_INTERNAL, "input failed without a reason");
        return;
    }
    struct slot *slot = slot_of(p, (uint64_t)job);
    if (encode_piece(p, &p->workers[worker], (uint64_t)job, slot) != 0)
        error_set(&slot->err, ERROR_INTERNAL, "a piece failed without a reason");
}

static void end_job(void *self, int64_t job)
{
    struct members *all = self;
    struct packer *p = all->packer;

    if (job <= PREPARE_JOB) {
        all->list[PREPARE_JOB - job]->is_prepared = true;
    } else if (job == LOAD_JOB) {
        p->is_loading = false;
        if (p->load_error.kind == ERROR_NONE)
            add_run(p);
    } else {
        slot_of(p, (uint64_t)job)->is_done = true;
        run_of(p, (uint64_t)job)->n_left--;
    }
}

/* --- members: pulled, checked, closed --- */

/* A stored block of no bytes, not the last one: changes nothing, but for the length. */
static const uint8_t empty_block[5] = {0x00, 0x00, 0x00, 0xff, 0xff};

bool member_size_is_unsafe(uint64_t n_bytes)
{
    return n_bytes == UINT32_MAX;
}

static void close_member(struct member *member)
{
    struct packer *p = member->packer;

    if (p == NULL)
        return;
    member->packer = NULL;
    if (member->ops->close != NULL)
        member->ops->close(member);
    bytes_release(&p->sample);
    for (int i = 0; p->workers != NULL && i < crew_size(member->all->crew); i++) {
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
    free(p);
}

static bool is_prepared(void *self)
{
    return ((const struct member *)self)->is_prepared;
}

static void set_packer(struct members *all, struct packer *p)
{
    crew_lock(all->crew);
    all->packer = p;
    crew_unlock(all->crew);
}

/* It is the member's turn: once it is prepared the crew works on its pieces. */
static void begin_member(struct members *all, struct member *member)
{
    static const struct crew_work work = {take_job, run_job, end_job};

    if (all->n_begun == 0)
        crew_begin(all->crew, &work, all);
    crew_lock(all->crew);
    all->n_begun++;
    crew_unlock(all->crew);
    crew_await(all->crew, is_prepared, member);
    if (member->failure.kind == ERROR_NONE)
        set_packer(all, member->packer);
}

/* The next piece is done, or will never be: next_failure says which. */
static bool has_next(void *self)
{
    struct packer *p = self;

    if (p->n_delivered == p->n_loaded) {
        p->next_failure = &p->load_error;
        return !p->is_loading && p->load_error.kind != ERROR_NONE;
    }
    p->next_failure = &slot_of(p, p->n_delivered)->err;
    return p->n_delivered < p->n_taken && slot_of(p, p->n_delivered)->is_done;
}

/* The next packed piece, and what is known of the member so far: its CRC, its size, and at the end,
 * where n_bytes is 0, its codec. */
static int pull_piece(struct member *member, struct error *err)
{
    struct members *all = member->all;
    struct slot *slot;

    if (all->stop == NULL && all->packer == NULL)
        begin_member(all, member);
    const struct error *stop = all->stop, *failure = stop != NULL ? stop : &member->failure;
    if (failure->kind != ERROR_NONE)
        return error_pass(err, failure);
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
            set_packer(all, NULL);
            close_member(member);
            return 0;
        }
        crew_await(all->crew, has_next, p);
        if (p->next_failure->kind != ERROR_NONE)
            return error_pass(err, p->next_failure);
        p->is_held = true;
        slot = slot_of(p, p->n_delivered);
        member->crc = crc_combine(member->crc, slot->crc, slot->unpacked_nbytes);
        member->made_nbytes += slot->unpacked_nbytes;
        all->made_nbytes += slot->unpacked_nbytes;
        meter_step(all->meter, all->made_nbytes, all->known_nbytes);
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
    if ((member->pull != NULL ? member->pull : pull_piece)(member, err) != 0)
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
        if (member->zip_method == CODEC_ZIP_STORED && member->packed_crc != member->crc)
            return error_set(err, ERROR_INTERNAL, "member %s: CRC %08x expected, %08x delivered",
                             text_quote(member->name).text, member->crc, member->packed_crc);
        return 0;
    }
    member->packed_nbytes += member->n_bytes;
    if (member->zip_method == CODEC_ZIP_STORED)
        member->packed_crc = crc_update(member->packed_crc, member->bytes, member->n_bytes);
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
    all->known_nbytes += member->size_known ? member->unpacked_nbytes : 0;
    member->all = all;
    return 0;
}

void members_release(struct members *all)
{
    if (all->n_begun > 0)
        crew_end(all->crew);
    for (size_t i = 0; i < all->n; i++)
        close_member(all->list[i]);
    free(all->list);
    *all = (struct members){0};
}
