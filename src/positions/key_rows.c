/*
 * key_rows.c - the keys of a plan's rows. Two chunks of rows take turns: while a crew makes the
 * keys of one, one of its jobs reads the next rows of all key arrays into the other. Where the
 * types of another set are asked for, rows are converted as they are read, or refused.
 *
 * And what `expand` takes from keys: --canonical leaves one image of each row, by the same
 * selection as --pick; --orbit-key makes an array of them, which all images of a row repeat. The
 * rows are read once for both.
 */
#include "positions/key.h"

#include "base/crew.h"
#include "base/meter.h"
#include "base/text.h"
#include "manifest/digest.h"
#include "positions/positions.h"
#include "shard/batch.h"

#include <endian.h>
#include <math.h>
#include <xxhash.h>

#define CHUNK_NBYTES (4u << 20)
#define MAX_ROWS     16384
#define ROWS_PER_JOB 64

/* --- what the key is made of --- */

/* A board from a file goes by its tables, wherever the file is and however it is written: rows,
 * columns, cells and planes, then each transform: whether it swaps colours, where it sends cells,
 * and planes where it says so; all of them numbers of 4 bytes, little-endian. */
static int name_board(const struct board *board, struct text *name, struct error *err)
{
    const uint32_t sizes[] = {board->rows, board->cols, board->n_cells, board->n_planes};
    const size_t n_most = 4 + board->n_transforms * (1 + (size_t)board->n_cells + board->n_planes);
    char hex[DIGEST_HEX_NBYTES];
    size_t n = 0;

    if (board->file_text == NULL)
        return text_append(name, err, "%s", board->name);
    uint32_t *list = calloc(n_most, sizeof *list);
    if (list == NULL)
        return error_no_memory(err, "keys of positions");
    for (; n < 4; n++)
        list[n] = htole32(sizes[n]);
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        const struct board_transform *transform = &board->transforms[t];

        list[n++] = htole32(transform->swaps_colours);
        for (uint32_t cell = 0; cell < board->n_cells; cell++)
            list[n++] = htole32(transform->dst[cell]);
        for (uint32_t p = 0; transform->planes != NULL && p < board->n_planes; p++)
            list[n++] = htole32(transform->planes[p]);
    }
    digest_bytes(list, n * sizeof *list, hex);
    free(list);
    return text_append(name, err, "file:%s", hex);
}

/* Whether an array can be converted to the type that another set's has, value by value. */
static const struct dtype *type_in(const struct key *like, const struct array *array)
{
    for (size_t i = 0; like != NULL && i < like->n_arrays; i++) {
        const struct dtype *dtype = &like->arrays[i].dtype;

        if (strcmp(like->arrays[i].name, array->key) == 0 && dtype_is_number(dtype) &&
            dtype_is_number(&array->header.dtype) &&
            (dtype->kind != array->header.dtype.kind ||
             dtype->itemsize != array->header.dtype.itemsize))
            return dtype;
    }
    return NULL;
}

/* Keys of two sets are only alike when they are of the same arrays. */
static int check_like(const struct key *key, const char *path, const struct key *like,
                      const char *like_path, struct error *err)
{
    const struct text_quoted mine = text_path(path), other = text_path(like_path);
    size_t i = 0; /* arrays are sorted by name */

    if (key->head.n_bytes == like->head.n_bytes &&
        memcmp(key->head.data, like->head.data, key->head.n_bytes) == 0)
        return 0;
    if (strcmp(key->board_name, like->board_name) != 0)
        return error_set(err, ERROR_DATA, "%s: is of board %s, expected %s as %s", mine.text,
                         text_path(key->board_name).text, text_path(like->board_name).text,
                         other.text);
    for (; i < like->n_arrays; i++) {
        const struct key_array *expected = &like->arrays[i], *found = &key->arrays[i];
        const struct text_quoted name = text_path(expected->name);
        const int order = i < key->n_arrays ? strcmp(found->name, expected->name) : 1;

        if (order < 0)
            break;
        if (order > 0)
            return error_set(err, ERROR_DATA,
                             "%s: %s is missing, or no part of a position, expected as in %s "
                             "(--key, --role)",
                             mine.text, name.text, other.text);
        if (strcmp(dtype_name(&found->dtype).text, dtype_name(&expected->dtype).text) != 0 ||
            strcmp(found->shape, expected->shape) != 0)
            return error_set(err, ERROR_DATA,
                             "%s: %s: rows of %s %.200s, expected %s %.200s as in %s", mine.text,
                             name.text, dtype_name(&found->dtype).text, found->shape,
                             dtype_name(&expected->dtype).text, expected->shape, other.text);
    }
    return error_set(err, ERROR_DATA, "%s: %s is part of a position, but not in %s (--key, --role)",
                     mine.text, text_path(key->arrays[i].name).text, other.text);
}

int key_of_plan(struct key *key, const struct plan *plan, const struct key_like *like,
                struct error *err)
{
    const char *path = plan->archives[0].path;
    const struct key *converts = like != NULL && like->converts ? like->key : NULL;
    struct text name = {0};

    *key = (struct key){0};
    /* The names that --key lists must be arrays'. */
    for (const char *entry = plan->settings->key; entry != NULL; entry = strchr(entry, ',')) {
        bool is_there = false;

        entry += *entry == ',';
        for (size_t i = 0; i < plan->n_arrays && !is_there; i++) {
            const size_t n = strlen(plan->arrays[i].key);

            is_there = strncmp(entry, plan->arrays[i].key, n) == 0 &&
                       (entry[n] == '\0' || strchr(",:", entry[n]) != NULL);
        }
        if (!is_there)
            return archive_in_refuse_key(&plan->archives[0],
                                         text_format("%.*s", (int)strcspn(entry, ",:"), entry).text,
                                         "--key names it", err);
    }
    int status = name_board(plan->board, &name, err);
    if (status == 0)
        status = key_init(key, plan->board, name.text, &plan->conventions, err);
    text_release(&name);
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct array *source = array->sources[0];
        const struct spec *spec = &array->spec;
        const uint64_t n = spec->kind == SPEC_AXIS || spec->kind == SPEC_BITS ? spec->n_planes : 0;
        struct key_planes planes = {0};
        const char *text;
        char *end;

        if (!plan_is_key(plan, array, &text))
            continue;
        if (array->is_object || array->binding.sparse != SPARSE_NONE || source->row_nbytes == 0 ||
            spec->kind == SPEC_INDICES || spec->kind == SPEC_COORD)
            return plan_refuse(plan, array, err,
                               "%s cannot be part of a position's key; use --key with other arrays",
                               array->is_object          ? "an array of objects"
                               : source->row_nbytes == 0 ? "an array of empty rows"
                                                         : role_name(array->binding.role));
        if (text != NULL) { /* a range of planes as --key tells it: 3, or 0-13 */
            planes.first = planes.last = strtoull(text, &end, 10);
            if (end > text && *end == '-' && end[1] >= '0' && end[1] <= '9')
                planes.last = strtoull(end + 1, &end, 10);
            if (*text < '0' || *text > '9' || (*end != '\0' && *end != ','))
                return error_set(
                    err, ERROR_USAGE, "--key: %s: %s is not a range of planes such as 0-13",
                    text_path(array->key).text, text_quote_bytes(text, strcspn(text, ",")).text);
            if (planes.first > planes.last || planes.last >= n)
                return error_set(err, ERROR_USAGE,
                                 "--key: %s: planes %" PRIu64 "-%" PRIu64 ", but it has %" PRIu64,
                                 plan_array_name(plan, array).text, planes.first, planes.last, n);
        }
        const struct key_input in = {source, type_in(converts, source), spec,
                                     text != NULL ? &planes : NULL};
        status = key_add(key, &in, err);
    }
    if (status == 0 && key->n_arrays == 0)
        return error_set(err, ERROR_DATA,
                         "%s: no array is part of a position (planes, packed, grid, tile or "
                         "to-move); use --role, or --key NAME,...",
                         text_path(path).text);
    if (status != 0 || key_finish(key, err) != 0)
        return -1;
    return like != NULL ? check_like(key, path, like->key, like->path, err) : 0;
}

int key_note(struct plan *plan, const struct key *key, struct error *err)
{
    struct text names = {0};
    int status = 0;

    if (plan->settings->key != NULL)
        return plan_note(plan, "key", plan->settings->key, 0, err);
    for (size_t i = 0; i < key->n_arrays && status == 0; i++)
        status = text_append(&names, err, "%s%s", i > 0 ? "," : "", key->arrays[i].name);
    if (status == 0)
        status = plan_note(plan, "key", names.text, 0, err);
    text_release(&names);
    return status;
}

/* --- another type --- */

/* One element as another type; false when its value would change. */
static bool convert(const struct dtype *from, const uint8_t *in, const struct dtype *to,
                    uint8_t *out)
{
    if (from->kind == DTYPE_FLOAT) {
        const double v = dtype_get_double(from, in);

        if (to->kind != DTYPE_FLOAT)
            return fabs(v) < 0x1p63 && v == floor(v) && dtype_put_int(to, (int64_t)v, out) == 0;
        dtype_put_double(to, v, out);
        return dtype_get_double(to, out) == v;
    }
    const int64_t whole = dtype_get_int(from, in);
    if (whole == INT64_MAX) /* perhaps more than that */
        return false;
    if (to->kind != DTYPE_FLOAT)
        return dtype_put_int(to, whole, out) == 0;
    dtype_put_double(to, (double)whole, out);
    return fabs((double)whole) < 0x1p63 && (int64_t)(double)whole == whole &&
           dtype_get_double(to, out) == (double)whole;
}

/* --- rows --- */

/* One key array's rows: as they are read, and as the key wants them. */
struct column {
    const struct plan_array *array;
    struct reader source;
    struct batch batches[2];       /* a chunk each */
    const struct dtype *from, *to; /* to NULL: the same */
    uint64_t row_nbytes;           /* as the key wants them */
    uint8_t *converted[2];         /* owned: the chunks, where types differ */
};

struct run {
    const struct key_reader *reader;
    struct column *columns; /* owned */
    size_t n_columns;
    struct key_room *rooms; /* owned, one per worker */
    int n_workers;
    uint64_t n_rows, row_nbytes, chunk_rows;
    unsigned front;                /* the chunk whose keys are made, of */
    struct key_rows chunks[2];     /* owned lists */
    struct error read_error, *err; /* borrowed */
};

/* The next rows into a chunk, converted where types differ: the only place where rows are read. */
static int read_chunk(struct run *run, unsigned chunk, uint64_t first, struct error *err)
{
    struct key_rows *rows = &run->chunks[chunk];

    rows->first = first;
    rows->n = smaller(run->n_rows - first, run->chunk_rows);
    for (size_t k = 0; k < run->n_columns && rows->n > 0; k++) {
        struct column *column = &run->columns[k];
        const struct dtype *from = column->from, *to = column->to;
        const struct batch *batch = &column->batches[chunk];
        const uint64_t n_items = to != NULL ? column->row_nbytes / to->itemsize : 0;

        if (batch_read(&column->batches[chunk], first, rows->n, err) != 0)
            return -1;
        for (uint64_t i = 0; i < batch->n * n_items; i++) {
            const uint8_t *element = batch->bytes.data + i * from->itemsize;

            if (!convert(from, element, to, column->converted[chunk] + i * to->itemsize))
                return plan_refuse(run->reader->plan, column->array, err,
                                   "row %" PRIu64 ": %g is no exact number of the other set's type",
                                   first + i / n_items, dtype_get_double(from, element));
        }
    }
    return 0;
}

/* Job 0 reads, the others make keys. */
static void do_job(void *self, int64_t job, int number)
{
    struct run *run = self;
    const struct key *key = run->reader->key;
    struct key_rows *rows = &run->chunks[run->front];
    struct key_room *room = &run->rooms[number];
    const uint64_t begin = (uint64_t)(job - 1) * ROWS_PER_JOB, end = begin + ROWS_PER_JOB;

    if (job == 0) {
        read_chunk(run, !run->front, rows->first + rows->n, &run->read_error);
        return;
    }
    for (uint64_t i = begin; i < end && i < rows->n; i++) {
        for (size_t k = 0; k < run->n_columns; k++) {
            const struct column *column = &run->columns[k];
            const uint8_t *all = column->to != NULL ? column->converted[run->front]
                                                    : column->batches[run->front].bytes.data;

            room->from[k] = all + i * column->row_nbytes;
        }
        rows->keys[i] = key_of(key, room);
        memcpy(rows->ties + i * key_ties_nbytes(key), room->ties, key_ties_nbytes(key));
        if (run->reader->wants_exact)
            rows->exact[i] = key_of_image(key, room, 0);
    }
}

static int read_all(void *self, struct crew *crew)
{
    struct run *run = self;
    struct meter *meter = run->reader->plan->settings->meter;
    int status = read_chunk(run, 0, 0, run->err);

    meter_begin(meter, "reading", run->reader->plan->archives[0].path);
    while (status == 0 && run->chunks[run->front].n > 0) {
        const struct key_rows *rows = &run->chunks[run->front];

        crew_each(crew, (int64_t)((rows->n + ROWS_PER_JOB - 1) / ROWS_PER_JOB + 1), do_job, run);
        status = run->reader->visit(run->reader->self, rows, run->err);
        if (status == 0 && run->read_error.kind != ERROR_NONE)
            status = error_pass(run->err, &run->read_error);
        meter_step(meter, (rows->first + rows->n) * run->row_nbytes, run->n_rows * run->row_nbytes);
        run->front = !run->front;
    }
    return status;
}

static int open_run(struct run *run, struct error *err)
{
    const struct key_reader *reader = run->reader;
    const struct plan *plan = reader->plan;
    const char *planes;

    if (new_items(&run->columns, plan->n_arrays + 1, "keys of positions", err) != 0 ||
        new_items(&run->rooms, (size_t)run->n_workers, "keys of positions", err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct array *source = array->sources[0];
        struct column *column = &run->columns[run->n_columns];

        if (!plan_is_key(plan, array, &planes))
            continue;
        run->n_columns++;
        *column =
            (struct column){.array = array,
                            .from = &source->header.dtype,
                            .to = type_in(reader->key, source),
                            .row_nbytes = source->row_nbytes,
                            .source = {.arrays = array->sources, .n_arrays = plan->n_archives}};
        if (column->to != NULL)
            column->row_nbytes = column->row_nbytes / column->from->itemsize * column->to->itemsize;
        run->row_nbytes += column->row_nbytes;
        if (reader_open(&column->source, plan->settings->budget, err) != 0)
            return -1;
        column->batches[0].reader = column->batches[1].reader = &column->source;
    }
    run->chunk_rows = smaller(CHUNK_NBYTES / (run->row_nbytes + 1) + 1, MAX_ROWS);
    for (int k = 0; k < 2; k++) {
        struct key_rows *rows = &run->chunks[k];

        if (new_items(&rows->keys, run->chunk_rows, "keys of positions", err) != 0 ||
            new_items(&rows->exact, run->chunk_rows, "keys of positions", err) != 0 ||
            new_items(&rows->ties, run->chunk_rows * key_ties_nbytes(reader->key),
                      "keys of positions", err) != 0)
            return -1;
        for (struct column *c = run->columns; c < run->columns + run->n_columns; c++)
            if (c->to != NULL &&
                (c->converted[k] = malloc(run->chunk_rows * c->row_nbytes + 1)) == NULL)
                return error_no_memory(err, "keys of positions");
    }
    for (int i = 0; i < run->n_workers; i++)
        if (key_room_init(&run->rooms[i], reader->key, err) != 0)
            return -1;
    return 0;
}

int key_reader_run(const struct key_reader *reader, struct error *err)
{
    const int n_threads = reader->plan->settings->n_threads;
    struct run run = {.reader = reader,
                      .n_workers = n_threads > 0 ? n_threads : 1,
                      .n_rows = reader->plan->n_rows,
                      .err = err};
    const int status = open_run(&run, err) == 0 ? crew_run(run.n_workers, read_all, &run) : -1;

    for (size_t i = 0; i < run.n_columns; i++) {
        for (int k = 0; k < 2; k++) {
            batch_release(&run.columns[i].batches[k]);
            free(run.columns[i].converted[k]);
        }
        reader_close(&run.columns[i].source);
    }
    for (int i = 0; run.rooms != NULL && i < run.n_workers; i++)
        key_room_release(&run.rooms[i]);
    for (int k = 0; k < 2; k++) {
        free(run.chunks[k].keys);
        free(run.chunks[k].exact);
        free(run.chunks[k].ties);
    }
    free(run.columns);
    free(run.rooms);
    return status;
}

int key_hash_add(struct key_hash *hash, const struct spec *spec, uint32_t t, const uint8_t *row,
                 struct error *err)
{
    const uint64_t n = spec->row_nbytes;

    hash->room.n_bytes = 0;
    uint8_t *in = bytes_reserve(&hash->room, 2 * n + 64, err);
    if (in == NULL)
        return -1;
    uint8_t *out = in + (n + 15) / 16 * 16;
    memcpy(in, row, n);
    if (kernel_row(spec, t, in, NULL, out, err) != 0)
        return -1;
    /* The two zeros are one number: a draw that was negated is a draw. */
    for (uint64_t at = 0; spec->dtype.kind == DTYPE_FLOAT && at < n; at += spec->dtype.itemsize)
        if (dtype_get_double(&spec->dtype, out + at) == 0)
            memset(out + at, 0, spec->dtype.itemsize);
    hash->value = XXH3_64bits_withSeed(out, n, hash->value);
    return 0;
}

/* --- what `expand` takes from them --- */

#define KEY_ROW_NBYTES 16 /* of an array of keys: high and low half, little-endian */

struct images {
    struct plan *plan; /* borrowed */
    struct key key;    /* owned */
    bool canonical;
    struct made *made; /* of the plan; NULL: no array of keys */
    struct bytes list; /* owned: keys of a chunk */
};

static int visit(void *self, const struct key_rows *rows, struct error *err)
{
    struct images *x = self;
    struct plan *plan = x->plan;

    for (uint64_t i = 0; x->canonical && i < rows->n; i++) {
        const uint8_t id = x->key.ids[key_lowest_tie(rows->ties + i * key_ties_nbytes(&x->key))];

        for (uint32_t k = 0; k < plan->n_chosen; k++)
            if (plan->chosen[k] != id)
                selection_clear(&plan->selection, rows->first + i, k);
    }
    if (x->made == NULL)
        return 0;
    x->list.n_bytes = 0;
    if (bytes_reserve(&x->list, rows->n * KEY_ROW_NBYTES, err) == NULL)
        return -1;
    for (uint64_t i = 0; i < rows->n; i++) {
        bytes_put_le(x->list.data + i * KEY_ROW_NBYTES, rows->keys[i].high, 8);
        bytes_put_le(x->list.data + i * KEY_ROW_NBYTES + 8, rows->keys[i].low, 8);
    }
    return made_write(x->made, rows->first, x->list.data, rows->n, err);
}

int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err)
{
    const struct made_form form = {.key = PLAN_ORBIT_KEY,
                                   .dtype = {.kind = DTYPE_UINT, .itemsize = 8},
                                   .n_dims = 1,
                                   .row_shape = {2},
                                   .n_rows = plan->n_rows};
    struct images x = {.plan = plan, .canonical = settings->canonical};
    const struct key_reader reader = {plan, &x.key, false, visit, &x};
    int status = -1;

    if (settings->orbit_key && plan->board->family->only_known_members)
        return error_set(err, ERROR_USAGE,
                         "--orbit-key: %s: KataGo's reader takes no further member",
                         text_path(plan->archives[0].path).text);
    if ((!settings->orbit_key || (x.made = made_new(plan, &form, err)) != NULL) &&
        (!x.canonical ||
         selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) == 0) &&
        key_of_plan(&x.key, plan, NULL, err) == 0 && key_note(plan, &x.key, err) == 0 &&
        key_reader_run(&reader, err) == 0 &&
        (x.made == NULL ||
         (made_put(plan, x.made, err) == 0 && plan_note(plan, "orbit-key", "yes", 0, err) == 0)) &&
        (!x.canonical ||
         (plan_note(plan, "canonical", "yes", 0, err) == 0 && plan_set_order(plan, err) == 0)))
        status = 0;
    bytes_release(&x.list);
    key_release(&x.key);
    return status;
}
