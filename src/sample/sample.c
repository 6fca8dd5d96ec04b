/*
 * sample.c - the game for each board, and writing a synthetic shard of it.
 *
 * First all games are played once to find the row where each begins. Headers are made at once, rows
 * when the archive pulls them, in pieces that a crew draws and compresses: the game of a piece's
 * first row is replayed and rows are drawn as games go on, so that no positions are kept and a
 * piece costs one more game. The bytes depend on board, number of rows and seed alone.
 */
#include "sample/sample.h"

#include "sample/play.h"

/* Upper bounds: of what a pickle adds to its items, and of an item of PLAY_MAX_ITEMS numbers. */
#define PRELUDE_MAX_NBYTES  1024
#define ITEM_MAX_NBYTES     (8 * PLAY_MAX_ITEMS + 128)
#define ITEM_ROWS_PER_PIECE (16 * PICKLE_BATCH)

struct sample {
    const struct settings *settings;
    struct board *board; /* owned */
    struct play play;
    struct bytes index;        /* owned: */
    const uint64_t *first_row; /* of each game, ascending */
    uint64_t n_games;
    struct sample_member *members; /* owned, n_members: one for each array of the kind */
    size_t n_members;
    struct sample_result *result;
    const char *path;
    struct error *err;
};

/* One array: a member of the archive. */
struct sample_member {
    struct member head;
    const struct sample *sample;
    const struct play_array *array;
    struct dtype dtype;          /* of the items in an object array */
    struct pickle_writer writer; /* of items */
};

/* --- which game --- */

/* By enum board_game; NULL: play_any, which takes every board. */
static const struct play_kind *const kinds[] = {
    [BOARD_GAME_LINE] = &play_gomoku,   [BOARD_GAME_DROP] = &play_connect4,
    [BOARD_GAME_HEX] = &play_hex,       [BOARD_GAME_RINGS] = &play_ringrift,
    [BOARD_GAME_CHESS] = &play_chess,   [BOARD_GAME_TILES] = &play_takeiteasy,
    [BOARD_GAME_KATAGO] = &play_katago, [BOARD_GAME_KATAGOMO] = &play_katago,
};

void play_init(struct play *play, const struct board *board, uint64_t seed)
{
    const struct play_kind *kind = kinds[board->game];
    const uint32_t has_pass = board->game >= BOARD_GAME_OTHELLO;

    if (kind == NULL || (kind->fits != NULL && !kind->fits(board)))
        kind = &play_any;
    *play = (struct play){.board = board,
                          .kind = kind,
                          .seed = seed,
                          .planes = kind->planes,
                          .n_actions =
                              board->n_actions > 0 ? board->n_actions : board->n_cells + has_pass};
    if (kind->set_up != NULL)
        kind->set_up(play);
    if (play->planes != NULL && play->n_planes == 0)
        play->n_planes = (uint32_t)strlen(play->planes);
}

/* --- making pieces --- */

/* Play the games of these rows again, and draw the rows. */
static int make(struct member *member, const struct piece_rows *rows, struct bytes *out,
                struct error *err)
{
    const struct sample_member *m = (const struct sample_member *)member;
    const struct sample *sample = m->sample;
    const uint64_t n_bytes = (rows->end - rows->begin) * member->row_nbytes;
    uint64_t number =
        find_last(sample->first_row, sizeof(uint64_t), 0, sample->n_games, rows->begin);
    struct play_game game = {0};
    struct play_row r = {.play = &sample->play, .game = &game, .dtype = &m->dtype};
    uint8_t *to = bytes_reserve(out, n_bytes, err);
    int status = to != NULL ? play_game_init(&game, &sample->play, err) : -1;

    if (status == 0)
        memset(to, 0, n_bytes);
    for (uint64_t row = rows->begin; row < rows->end && status == 0; row++) {
        if (row > rows->begin && row - sample->first_row[number] == game.n_plies)
            number++;
        if (row == rows->begin || row == sample->first_row[number])
            play_game(&sample->play, number, &game);
        r.ply = (uint32_t)(row - sample->first_row[number]);
        if (m->array->render != NULL) {
            r.to = to + (row - rows->begin) * member->row_nbytes;
            m->array->render(&r);
            continue;
        }
        uint8_t data[8 * PLAY_MAX_ITEMS] = {0};
        r.to = data;
        uint64_t n = m->array->render_items(&r);
        const struct pickle_ndarray array = {.dtype = m->dtype,
                                             .n_dims = 1,
                                             .shape = &n,
                                             .n_elements = n,
                                             .n_bytes = n * m->dtype.itemsize,
                                             .data = data};
        const struct pickle_item item = {
            .kind = PICKLE_ARRAY, .n_bytes_or_items = (uint32_t)array.n_bytes, .as.array = &array};
        status = pickle_write_item(&m->writer, row, &item, out, err);
    }
    play_game_release(&game);
    if (status == 0)
        out->n_bytes += n_bytes;
    return status;
}

/* --- members --- */

/* Set what a member is made of. The header of a 0-d string includes its text, in UCS-4, that of
 * objects the beginning of their pickle. */
static int set_up_member(struct sample_member *m, struct error *err)
{
    const struct play_array *array = m->array;
    const bool is_object = array->render_items != NULL;
    const char *text =
        array->text != NULL && *array->text == '\0' ? m->sample->board->preset : array->text;
    struct member *head = &m->head;
    uint64_t shape[1 + PLAY_MAX_DIMS] = {m->sample->settings->n_rows}, n_bytes;
    unsigned n_dims = text != NULL ? 0 : 1, pad = 0;
    char dtype[32], descr[40] = "'|O'";

    snprintf(dtype, sizeof dtype, "%s", array->dtype);
    if (text != NULL)
        snprintf(dtype, sizeof dtype, "%s%zu", array->dtype, strlen(text));
    if (!is_object)
        snprintf(descr, sizeof descr, "'%s'", dtype);
    if (dtype_parse(dtype, strlen(dtype), &m->dtype, err) != 0)
        return -1;
    for (size_t d = 0; d < PLAY_MAX_DIMS && text == NULL; d++) {
        shape[n_dims] = play_dim(&m->sample->play, array->dims[d]);
        n_dims += shape[n_dims] > 0;
    }
    /* Distances at which the bytes are likely to repeat: element, board row, plane, row. */
    n_bytes = m->dtype.itemsize;
    codec_add_period(&head->about, n_bytes);
    for (unsigned d = n_dims; d-- > 1;) {
        n_bytes *= shape[d];
        codec_add_period(&head->about, n_bytes);
    }
    head->n_rows = text != NULL ? 0 : shape[0];
    head->row_nbytes = is_object ? 0 : n_bytes;
    head->rows_per_piece = is_object                ? ITEM_ROWS_PER_PIECE
                           : n_bytes < PIECE_NBYTES ? PIECE_NBYTES / n_bytes
                                                    : 1;
    n_bytes = is_object ? ITEM_MAX_NBYTES : n_bytes;
    if (head->n_rows > UINT64_MAX / n_bytes)
        return error_set(err, ERROR_USAGE, "%llu rows of %llu bytes are too many",
                         (unsigned long long)head->n_rows, (unsigned long long)n_bytes);
    do {
        head->header.n_bytes = 0;
        if (npy_header_write(descr, shape, n_dims, pad, &head->header, err) != 0)
            return -1;
        for (const char *c = text; c != NULL && *c != '\0'; c++) { /* names of boards are ASCII */
            const uint8_t character[4] = {(uint8_t)*c};

            if (bytes_append(&head->header, character, sizeof character, err) != 0)
                return -1;
        }
        head->unpacked_nbytes = head->header.n_bytes + head->n_rows * n_bytes;
        pad += 64;
    } while (!is_object && member_size_is_unsafe(head->unpacked_nbytes));
    if (!is_object) {
        head->about.item_nbytes = m->dtype.itemsize;
        return 0;
    }
    head->about = (struct codec_member){0};
    head->unpacked_nbytes += PRELUDE_MAX_NBYTES;
    struct pickle_ndarray first = {.n_dims = 1, .dtype = m->dtype};
    const struct pickle_item item = {.kind = PICKLE_ARRAY, .as.array = &first};
    if (pickle_writer_init(&m->writer, &head->n_rows, 1, err) != 0 ||
        (head->n_rows > 0 && pickle_writer_note(&m->writer, 0, &item, err) != 0) ||
        pickle_write_prelude(&m->writer, &head->header, err) != 0)
        return -1;
    return 0;
}

/* --- writing --- */

static int open_sample(struct sample *sample, struct error *err)
{
    static const struct member_ops ops = {.make = make};
    const struct settings *settings = sample->settings;
    struct play_game game;

    sample->board = board_new(settings->board, err);
    if (sample->board == NULL)
        return -1;
    play_init(&sample->play, sample->board, settings->seed);
    const struct play_kind *kind = sample->play.kind;
    while (kind->arrays[sample->n_members].name != NULL)
        sample->n_members++;
    if (new_items(&sample->members, sample->n_members, "members", err) != 0)
        return -1;
    for (size_t i = 0; i < sample->n_members; i++) {
        struct sample_member *m = &sample->members[i];

        m->sample = sample;
        m->array = &kind->arrays[i];
        m->head.ops = &ops;
        m->head.zip_method = CODEC_ZIP_DEFLATE;
        m->head.size_known = m->array->render_items == NULL;
        m->head.name = m->array->name;
        if (set_up_member(m, err) != 0)
            return -1;
    }
    /* Play games until there are enough rows. */
    int status = play_game_init(&game, &sample->play, err);
    for (uint64_t row = 0; status == 0 && row < settings->n_rows; row += game.n_plies) {
        play_game(&sample->play, sample->n_games++, &game);
        status = bytes_append(&sample->index, &row, sizeof row, err);
    }
    sample->first_row = (const void *)sample->index.data;
    play_game_release(&game);
    return status;
}

static int write_archive(void *self, struct crew *crew)
{
    struct sample *sample = self;
    struct archive_out archive;
    char sha256[65];
    int status = archive_out_init(&archive, sample->path, ARCHIVE_OUT_NPZ, sample->settings->force,
                                  sample->err);

    archive.members.crew = crew;
    if (status == 0)
        status = codec_level_parse("default", &archive.members.level, sample->err);
    for (size_t i = 0; i < sample->n_members && status == 0; i++)
        status = archive_out_add(&archive, &sample->members[i].head, sample->err);
    if (status == 0)
        status = archive_out_write(&archive, &sample->result->n_bytes, sha256, sample->err);
    if (status == 0)
        status = archive_out_commit(&archive, sample->err);
    sample->result->unpacked_nbytes = archive.members.made_nbytes;
    archive_out_release(&archive);
    sample->result->n_games = sample->n_games;
    return status;
}

int sample_write(const char *path, const struct settings *settings, struct sample_result *result,
                 struct error *err)
{
    struct sample sample = {.settings = settings, .path = path, .result = result, .err = err};

    *result = (struct sample_result){0};
    int status = open_sample(&sample, err);
    if (status == 0)
        status = crew_run(settings->n_threads, write_archive, &sample);
    for (size_t i = 0; sample.members != NULL && i < sample.n_members; i++)
        bytes_release(&sample.members[i].head.header);
    free(sample.members);
    bytes_release(&sample.index);
    board_free(sample.board);
    return status;
}
