/*
 * leak.c - positions that occur in two sets up to symmetry. Rows get a key that all images of a
 * position share (positions/key.c). The other sets are read once, row by row, and leave only their
 * keys, sorted; each row of this set is then looked up. Sets of another type are read as this one's
 * where that loses nothing, else refused.
 */
#include "verify/leak.h"

#include "base/bytes.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 64

/* A position of another set. */
struct leak_entry {
    struct key_value key;
    uint64_t row;
};

struct leak_set {
    char *path;                 /* owned */
    struct leak_entry *entries; /* owned, sorted by key and row */
    uint64_t n;
};

/* --- another type --- */

/* A finite number as a half, when it is one. */
static uint64_t half_of(double v)
{
    const uint64_t sign = signbit(v) ? 0x8000 : 0;
    int exponent;
    const double mantissa = 2 * frexp(fabs(v), &exponent);

    if (v == 0)
        return sign;
    if (exponent - 1 < -14)
        return sign | (uint64_t)ldexp(fabs(v), 24);
    if (exponent - 1 > 15)
        return sign | 0x7c00;
    return sign | (uint64_t)(exponent + 14) << 10 | (uint64_t)((mantissa - 1) * 1024);
}

static bool put_double(const struct dtype *to, double v, uint8_t *out)
{
    uint64_t bits = 0;

    if (to->kind != DTYPE_FLOAT)
        return fabs(v) < 0x1p63 && v == floor(v) && dtype_put_int(to, (int64_t)v, out) == 0;
    if (to->itemsize == 2) {
        bits = half_of(v);
    } else if (to->itemsize == 4) {
        const float f = (float)v;

        memcpy(&bits, &f, sizeof f);
    } else {
        memcpy(&bits, &v, sizeof v);
    }
    bytes_put_uint(out, bits, to->itemsize, to->big_endian);
    return dtype_get_double(to, out) == v;
}

/* One element as another type; false when its value would change. */
static bool convert(const struct dtype *from, const uint8_t *in, const struct dtype *to,
                    uint8_t *out)
{
    int64_t v;

    if (from->kind == DTYPE_FLOAT)
        return put_double(to, dtype_get_double(from, in), out);
    v = dtype_get_int(from, in);
    if (v == INT64_MAX) /* perhaps more than that */
        return false;
    if (to->kind != DTYPE_FLOAT)
        return dtype_put_int(to, v, out) == 0;
    return fabs((double)v) < 0x1p63 && (int64_t)(double)v == v && put_double(to, (double)v, out);
}

static bool same_type(const struct dtype *a, const struct dtype *b)
{
    return a->kind == b->kind && a->itemsize == b->itemsize && a->big_endian == b->big_endian;
}

/* --- the other set --- */

static int compare_entries(const void *left, const void *right)
{
    const struct leak_entry *a = left, *b = right;

    if (a->key.high != b->key.high)
        return a->key.high < b->key.high ? -1 : 1;
    if (a->key.low != b->key.low)
        return a->key.low < b->key.low ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int refuse(const char *path, const char *why, struct error *err)
{
    return error_set(err, ERROR_DATA, "--leak: %s: %s", text_path(path).text, why);
}

/* Why the planes of two sets cannot be compared; NULL: they can. */
static const char *difference(const struct lane *a, const struct lane *b)
{
    const struct npy_header *x = &a->array->header, *y = &b->array->header;

    if (a->spec.kind != b->spec.kind)
        return "its planes are packed, or these are: such sets cannot be compared";
    if (x->n_dims != y->n_dims || a->spec.channels_last != b->spec.channels_last ||
        memcmp(x->shape + 1, y->shape + 1, (x->n_dims - 1) * sizeof *x->shape) != 0)
        return "its planes are not of the same shape";
    if (!same_type(&x->dtype, &y->dtype) &&
        (!dtype_is_number(&x->dtype) || !dtype_is_number(&y->dtype)))
        return "its planes are not of the same type";
    return NULL;
}

/* One row as the type of this set; *bytes is the row itself or its conversion in `room`. */
static int convert_row(const struct lane *mine, const struct lane *other, const char *path,
                       uint64_t row, const uint8_t **bytes, uint8_t *room, struct error *err)
{
    const struct dtype *from = &other->array->header.dtype, *to = &mine->array->header.dtype;
    const uint64_t n = other->array->row_nbytes / from->itemsize;

    if (same_type(from, to))
        return 0;
    for (uint64_t i = 0; i < n; i++)
        if (!convert(from, *bytes + i * from->itemsize, to, room + i * to->itemsize))
            return error_set(err, ERROR_DATA,
                             "--leak: %s: %s: row %" PRIu64
                             ": %g is no exact number of the other set's type",
                             text_path(path).text, text_path(other->array->key).text, row,
                             dtype_get_double(from, *bytes + i * from->itemsize));
    *bytes = room;
    return 0;
}

static int read_keys(const struct leak_sets *sets, struct leak_set *set, const struct lane *mine,
                     const struct lane *other, const struct settings *settings, struct error *err)
{
    const struct array *array = other->array;
    struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
    uint8_t *converted = malloc(mine->array->row_nbytes + 1);
    struct key_room room = {0};
    int status = batch_open(&batch, settings->budget, err);

    set->entries = calloc(array->n_rows + 1, sizeof *set->entries);
    if (status == 0 && (converted == NULL || set->entries == NULL))
        status = error_no_memory(err, "list of positions");
    if (status == 0)
        status = key_room_init(&room, &sets->key, err);
    while (status == 0 && (status = batch_next(&batch, ROWS_AT_ONCE, err)) == 0 && batch.n > 0)
        for (uint64_t i = 0; i < batch.n && status == 0; i++) {
            const uint8_t *bytes = batch_row(&batch, i).bytes;
            const uint64_t row = batch.first + i;

            status = convert_row(mine, other, set->path, row, &bytes, converted, err);
            if (status == 0)
                set->entries[set->n++] =
                    (struct leak_entry){key_of(&sets->key, &bytes, &room), row};
        }
    if (status == 0)
        qsort(set->entries, set->n, sizeof *set->entries, compare_entries);
    key_room_release(&room);
    free(converted);
    batch_release(&batch);
    return status;
}

static int read_set(const struct leak_sets *sets, struct leak_set *set, const struct lane *mine,
                    struct verify_shard *shard, const struct verify_request *request,
                    struct verify_result *result, struct error *err)
{
    struct lanes lanes = {0};
    const struct lane *other = NULL;
    const char *why = NULL;
    int status;

    if (verify_shard_open(shard, request, set->path, result, err) != 0)
        return -1;
    if (result->fatal != ERROR_NONE || shard->bindings == NULL)
        return refuse(set->path,
                      result->findings.n > 0 ? result->findings.items[0].message : "cannot be read",
                      err);
    status = lanes_init(&lanes, shard, result, err);
    if (status == 0) {
        if (lanes.planes >= 0 && lanes.items[lanes.planes].is_mapped)
            other = &lanes.items[lanes.planes];
        why = other != NULL ? difference(mine, other) : "it has no planes of the board";
        status = why != NULL ? refuse(set->path, why, err)
                             : read_keys(sets, set, mine, other, request->settings, err);
    }
    lanes_release(&lanes);
    return status;
}

static int open_set(const struct leak_sets *sets, struct leak_set *set, const struct lanes *lanes,
                    const char *path, const struct verify_request *request, struct error *err)
{
    struct settings settings = *request->settings;
    struct verify_request other = {.settings = &settings};
    struct verify_result result = {.findings = {.max = 1}};
    struct verify_shard shard = {0};
    int status = -1;

    if (settings.board == NULL)
        settings.board = lanes->shard->board->name;
    set->path = strdup(path);
    result.path = set->path;
    if (set->path == NULL)
        error_no_memory(err, "path");
    else
        status = read_set(sets, set, &lanes->items[lanes->planes], &shard, &other, &result, err);
    verify_shard_close(&shard);
    findings_release(&result.findings);
    free(result.note);
    return status;
}

int leak_open(struct leak_sets *sets, const struct lanes *lanes,
              const struct verify_request *request, struct error *err)
{
    const struct settings *settings = request->settings;
    const struct lane *mine = lanes->planes >= 0 ? &lanes->items[lanes->planes] : NULL;
    const struct board *board = lanes->shard->board;

    *sets = (struct leak_sets){0};
    if (mine == NULL || !mine->is_mapped)
        return error_set(err, ERROR_USAGE,
                         "--leak: %s: needs planes and the board they are of (--board)",
                         text_path(lanes->shard->archive.path).text);
    sets->items = calloc(settings->n_leaks + 1, sizeof *sets->items);
    if (sets->items == NULL)
        return error_no_memory(err, "sets to compare with");
    if (key_init(&sets->key, board, board->name, &lanes->shard->conventions, err) != 0 ||
        key_add(&sets->key, &(struct key_input){mine->array, NULL, &mine->spec, NULL}, err) != 0 ||
        key_finish(&sets->key, err) != 0)
        return -1;
    for (size_t i = 0; i < settings->n_leaks; i++) {
        sets->n++;
        if (open_set(sets, &sets->items[i], lanes, settings->leaks[i], request, err) != 0)
            return -1;
    }
    return 0;
}

void leak_close(struct leak_sets *sets)
{
    for (size_t i = 0; i < sets->n; i++) {
        free(sets->items[i].entries);
        free(sets->items[i].path);
    }
    free(sets->items);
    key_release(&sets->key);
    *sets = (struct leak_sets){0};
}

/* --- looking up --- */

/* The first row of a set with that key. */
static const struct leak_entry *find(const struct leak_set *set, struct key_value key)
{
    const struct leak_entry wanted = {key, 0};
    uint64_t low = 0, high = set->n;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (compare_entries(&set->entries[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->n && set->entries[low].key.high == key.high &&
                   set->entries[low].key.low == key.low
               ? &set->entries[low]
               : NULL;
}

void leak_check_row(const struct leak_sets *sets, const struct lanes *lanes,
                    const struct window *window, uint64_t at, struct key_room *room,
                    struct findings *findings)
{
    const struct lane *lane = &lanes->items[lanes->planes];
    const struct lane_row row = window_row(window, lanes, (size_t)lanes->planes, at);
    const struct finding_place place = {FINDING_LEAK, false, lane->array->key,
                                        window->images[at].row};
    struct key_value key;

    if (lane->is_broken || row.bytes == NULL)
        return;
    key = key_of(&sets->key, &row.bytes, room);
    for (size_t i = 0; i < sets->n; i++) {
        const struct leak_entry *entry = find(&sets->items[i], key);

        if (entry != NULL)
            findings_add(findings, &place, "in one set only",
                         finding_format("row %" PRIu64 " of %.120s", entry->row,
                                        text_path(sets->items[i].path).text)
                             .text,
                         "a position that occurs in the other set");
    }
}
