/*
 * sample_pieces.c - the arrays of a sample in pieces. All games are played once for an index of
 * where each begins; to make a piece the game of its first row is played again, and rows are drawn
 * as games go on. This costs one more game for each piece, and saves keeping any positions.
 */
#include "sample/sample_pieces.h"

#include "npy/pickle.h"

#include <stdlib.h>
#include <string.h>

#define ITEM_ROWS_PER_PIECE (16 * PICKLE_BATCH)

/* --- the index of games --- */

static int add_game(struct sample_games *games, uint64_t *capacity, uint64_t row, struct error *err)
{
    if (games->n_games == *capacity) {
        const uint64_t more = *capacity > 0 ? 2 * *capacity : 64;
        uint64_t *grown = reallocarray(games->first_row, more, sizeof *grown);

        if (grown == NULL)
            return error_no_memory(err, "the index of the games");
        games->first_row = grown;
        *capacity = more;
    }
    games->first_row[games->n_games++] = row;
    return 0;
}

int sample_games_init(struct sample_games *games, const struct play *play, uint64_t n_rows,
                      struct error *err)
{
    struct play_game game;
    uint64_t capacity = 0, row = 0;
    int status = 0;

    *games = (struct sample_games){.play = play, .n_rows = n_rows};
    if (play_game_init(&game, play, err) != 0)
        return -1;
    while (row < n_rows && status == 0) {
        play_game(play, games->n_games, &game);
        status = add_game(games, &capacity, row, err);
        row += game.n_plies;
    }
    play_game_release(&game);
    if (status != 0)
        sample_games_release(games);
    return status;
}

uint64_t sample_games_find(const struct sample_games *games, uint64_t row)
{
    uint64_t low = 0, high = games->n_games;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        if (games->first_row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void sample_games_release(struct sample_games *games)
{
    free(games->first_row);
    *games = (struct sample_games){0};
}

/* --- pieces --- */

struct sample_pieces {
    struct pieces head;
    const struct sample_games *games;
    const struct play_array *array;
    struct pickle_writer writer; /* of items */
    struct dtype dtype;          /* of items */
};

/* --- walking through games --- */

/* The game of the row that is drawn. */
struct cursor {
    const struct sample_games *games;
    struct play_game game;
    uint64_t number; /* of the game */
    uint64_t row;
};

static int cursor_init(struct cursor *c, const struct sample_games *games, uint64_t row,
                       struct error *err)
{
    c->games = games;
    c->row = row;
    if (play_game_init(&c->game, games->play, err) != 0)
        return -1;
    if (row < games->n_rows) {
        c->number = sample_games_find(games, row);
        play_game(games->play, c->number, &c->game);
    }
    return 0;
}

static uint32_t cursor_ply(const struct cursor *c)
{
    return (uint32_t)(c->row - c->games->first_row[c->number]);
}

static void cursor_step(struct cursor *c)
{
    c->row++;
    if (c->row < c->games->n_rows && cursor_ply(c) == c->game.n_plies)
        play_game(c->games->play, ++c->number, &c->game);
}

/* --- making pieces --- */

static void release(struct pieces *pieces)
{
    bytes_release(&pieces->header);
    free(pieces);
}

static int make_rows(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                     struct error *err)
{
    const struct sample_pieces *self = (const struct sample_pieces *)pieces;
    const uint64_t n_bytes = (rows->end - rows->begin) * pieces->row_nbytes;
    uint8_t *row = bytes_reserve(out, n_bytes, err);
    struct cursor cursor;
    if (rows->begin == rows->end) /* everything is in the header */
        return 0;
    if (row == NULL || cursor_init(&cursor, self->games, rows->begin, err) != 0)
        return -1;
    memset(row, 0, n_bytes);
    for (; cursor.row < rows->end; row += pieces->row_nbytes) {
        self->array->render(self->games->play, &cursor.game, cursor_ply(&cursor), row);
        cursor_step(&cursor);
    }
    out->n_bytes += n_bytes;
    play_game_release(&cursor.game);
    return 0;
}

static int write_item(const struct sample_pieces *self, struct cursor *cursor, struct bytes *out,
                      struct error *err)
{
    uint8_t data[8 * PLAY_MAX_ITEMS] = {0};
    const uint64_t n =
        self->array->render_items(self->games->play, &cursor->game, cursor_ply(cursor), data);
    const struct pickle_ndarray array = {
        .dtype = self->dtype,
        .n_dims = 1,
        .shape = &n,
        .n_elements = n,
        .n_bytes = n * self->dtype.itemsize,
        .data = data,
    };
    const struct pickle_item item = {
        .kind = PICKLE_ARRAY, .n_bytes_or_items = (uint32_t)array.n_bytes, .as.array = &array};

    return pickle_write_items(&self->writer, cursor->row, &item, 1, out, err);
}

static int make_items(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                      struct error *err)
{
    const struct sample_pieces *self = (const struct sample_pieces *)pieces;
    struct cursor cursor;
    int status = 0;

    if (cursor_init(&cursor, self->games, rows->begin, err) != 0)
        return -1;
    while (cursor.row < rows->end && status == 0) {
        status = write_item(self, &cursor, out, err);
        cursor_step(&cursor);
    }
    play_game_release(&cursor.game);
    if (status == 0 && rows->end == pieces->n_rows)
        status = pickle_write_trailer(out, err);
    return status;
}

/* --- opening --- */

static const struct pieces_ops row_ops = {NULL, make_rows, release};
static const struct pieces_ops item_ops = {NULL, make_items, release};

/* The dtype of the items, and a pickle of as many as there are rows. */
static int start_pickle(struct sample_pieces *self, struct error *err)
{
    struct pickle_ndarray first = {.n_dims = 1};
    const struct pickle_item item = {.kind = PICKLE_ARRAY, .as.array = &first};
    const char *dtype = self->array->dtype;

    if (dtype_parse(dtype, strlen(dtype), &self->dtype, err) != 0 ||
        pickle_writer_init(&self->writer, &self->head.n_rows, 1, err) != 0)
        return -1;
    first.dtype = self->dtype;
    if (self->head.n_rows > 0 && pickle_writer_note(&self->writer, 0, &item, err) != 0)
        return -1;
    return pickle_write_prelude(&self->writer, &self->head.header, err);
}

struct pieces *sample_pieces_new(const struct sample_games *games, const struct play_array *array,
                                 uint64_t row_nbytes, struct bytes *header, struct error *err)
{
    const bool is_object = array->render_items != NULL;
    struct sample_pieces *self = calloc(1, sizeof *self);

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    self->head = (struct pieces){
        .ops = is_object ? &item_ops : &row_ops,
        .header = *header,
        .n_rows = array->text != NULL ? 0 : games->n_rows,
        .rows_per_piece = is_object                   ? ITEM_ROWS_PER_PIECE
                          : row_nbytes == 0           ? PIECE_NBYTES
                          : row_nbytes < PIECE_NBYTES ? PIECE_NBYTES / row_nbytes
                                                      : 1,
        .row_nbytes = is_object ? 0 : row_nbytes,
    };
    *header = (struct bytes){0};
    self->games = games;
    self->array = array;
    if (!is_object || start_pickle(self, err) == 0)
        return &self->head;
    release(&self->head);
    return NULL;
}
