/* leak.c - see leak.h. */
#include "verify/leak.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_NBYTES (1u << 20)

/* A position of the other set: 16 bytes. */
struct leak_entry {
    uint64_t hash, row;
};

struct leak_set {
    struct verify_shard shard;
    struct verify_result result;
    struct lanes lanes;
    struct leak_entry *entries; /* owned, sorted by hash, one per hash */
    uint64_t n;
    struct row_table *table; /* owned */
};

static int compare_entries(const void *left, const void *right)
{
    const struct leak_entry *a = left, *b = right;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int refuse(const char *path, const char *why, struct error *err)
{
    return error_set(err, ERROR_DATA, "--leak: %s: %s", text_path(path).text, why);
}

/* --- the other set --- */

static int hash_rows(const struct leak_sets *sets, struct leak_set *set, const struct array *array,
                     struct error *err)
{
    const uint64_t at_once = CHUNK_NBYTES / (array->row_nbytes + 1) + 1;
    uint8_t *rows = malloc(at_once * array->row_nbytes + 1);
    struct canonical_room room = {0};
    int status = rows != NULL ? canonical_room_init(&room, &sets->canonical, err)
                              : error_no_memory(err, "rows");

    for (uint64_t row = 0; row < array->n_rows && status == 0; row++) {
        const uint64_t k = row % at_once;

        status = row_table_get(set->table, row, rows + k * array->row_nbytes, err);
        if (status == 0)
            set->entries[row] = (struct leak_entry){
                canonical_hash(&sets->canonical, rows + k * array->row_nbytes, &room), row};
    }
    canonical_room_release(&room);
    free(rows);
    return status;
}

/* Images of one position count once: the first row stays. */
static void keep_first(struct leak_set *set, uint64_t n_rows)
{
    qsort(set->entries, n_rows, sizeof *set->entries, compare_entries);
    for (uint64_t i = 0; i < n_rows; i++)
        if (i == 0 || set->entries[i].hash != set->entries[i - 1].hash)
            set->entries[set->n++] = set->entries[i];
}

static bool same_planes(const struct lane *a, const struct lane *b)
{
    return a->array->row_nbytes == b->array->row_nbytes &&
           a->array->header.dtype.kind == b->array->header.dtype.kind &&
           a->array->header.dtype.itemsize == b->array->header.dtype.itemsize &&
           a->array->header.dtype.big_endian == b->array->header.dtype.big_endian &&
           a->map.kind == b->map.kind && a->map.axis == b->map.axis &&
           a->map.channels_last == b->map.channels_last && a->map.dst[0] != NULL;
}

static int open_set(struct leak_sets *sets, struct leak_set *set, const struct lanes *lanes,
                    const char *path, const struct verify_request *request, struct error *err)
{
    struct settings settings = *request->settings;
    struct verify_request other = *request;
    uint64_t memory_left = request->settings->max_memory;
    const struct lane *lane;

    settings.board = lanes->shard->board->name;
    other.settings = &settings;
    set->result.path = strdup(path);
    set->result.findings.max = 1;
    if (set->result.path == NULL)
        return error_no_memory(err, "path");
    if (verify_shard_open(&set->shard, &other, path, &set->result, err) != 0)
        return -1;
    if (set->result.fatal != ERROR_NONE || set->shard.bindings == NULL)
        return refuse(path,
                      set->result.findings.n > 0 ? set->result.findings.items[0].message
                                                 : "cannot be read",
                      err);
    if (lanes_init(&set->lanes, &set->shard, &set->result, err) != 0)
        return -1;
    lane = set->lanes.planes >= 0 ? &set->lanes.items[set->lanes.planes] : NULL;
    if (lane == NULL || !lane->is_mapped || !same_planes(lane, &lanes->items[lanes->planes]))
        return refuse(path, "its planes are not of the same type and shape", err);
    set->table = row_table_open(&lane->array, 1, &memory_left, request->settings->tmpdir, err);
    set->entries = calloc(lane->array->n_rows + 1, sizeof *set->entries);
    if (set->table == NULL)
        return -1;
    if (set->entries == NULL)
        return error_no_memory(err, "list of positions");
    if (hash_rows(sets, set, lane->array, err) != 0)
        return -1;
    keep_first(set, lane->array->n_rows);
    return 0;
}

int leak_open(struct leak_sets *sets, const struct lanes *lanes,
              const struct verify_request *request, struct error *err)
{
    *sets = (struct leak_sets){0};
    if (lanes->planes < 0 || !lanes->items[lanes->planes].is_mapped)
        return error_set(err, ERROR_USAGE,
                         "--leak: %s: needs planes and the board they are of (--board)",
                         text_path(lanes->shard->archive.path).text);
    if (canonical_init(&sets->canonical, &lanes->items[lanes->planes], &lanes->shard->conventions,
                       err) != 0)
        return -1;
    sets->items = calloc(request->settings->n_leaks + 1, sizeof *sets->items);
    if (sets->items == NULL)
        return error_no_memory(err, "sets to compare with");
    for (size_t i = 0; i < request->settings->n_leaks; i++) {
        sets->n++;
        if (open_set(sets, &sets->items[i], lanes, request->settings->leaks[i], request, err) != 0)
            return -1;
    }
    return 0;
}

void leak_close(struct leak_sets *sets)
{
    for (size_t i = 0; i < sets->n; i++) {
        struct leak_set *set = &sets->items[i];

        row_table_close(set->table);
        free(set->entries);
        lanes_release(&set->lanes);
        verify_shard_close(&set->shard);
        findings_release(&set->result.findings);
        free(set->result.note);
        free(set->result.path);
    }
    free(sets->items);
    canonical_release(&sets->canonical);
    *sets = (struct leak_sets){0};
}

/* --- looking up --- */

static const struct leak_entry *find(const struct leak_set *set, uint64_t hash)
{
    uint64_t low = 0, high = set->n;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;

        if (set->entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->n && set->entries[low].hash == hash ? &set->entries[low] : NULL;
}

/* Equal hashes are no proof: both canonical forms are compared. */
static int confirm(const struct leak_sets *sets, const struct leak_set *set,
                   const struct leak_entry *entry, const struct canonical_room *mine, bool *same,
                   struct error *err)
{
    const uint64_t row_nbytes = sets->canonical.lane->array->row_nbytes;
    uint8_t *row = malloc(row_nbytes + 1);
    struct canonical_room room = {0};
    int status = row != NULL ? canonical_room_init(&room, &sets->canonical, err)
                             : error_no_memory(err, "row");

    if (status == 0)
        status = row_table_get(set->table, entry->row, row, err);
    if (status == 0) {
        canonical_hash(&sets->canonical, row, &room);
        *same = memcmp(room.least, mine->least, sets->canonical.form_nbytes) == 0;
    }
    canonical_room_release(&room);
    free(row);
    return status;
}

int leak_check_row(const struct leak_sets *sets, const struct lanes *lanes,
                   const struct window *window, uint64_t at, struct canonical_room *room,
                   struct findings *findings, struct error *err)
{
    const struct lane *lane = &lanes->items[lanes->planes];
    const struct lane_row row = window_row(window, lanes, (size_t)lanes->planes, at);
    struct finding_place place = {FINDING_LEAK, false, lane->array->key, window->images[at].row};
    uint64_t hash;

    if (lane->is_broken || row.bytes == NULL)
        return 0;
    hash = canonical_hash(&sets->canonical, row.bytes, room);
    for (size_t i = 0; i < sets->n; i++) {
        const struct leak_set *set = &sets->items[i];
        const struct leak_entry *entry = find(set, hash);
        bool same = false;

        if (entry != NULL && confirm(sets, set, entry, room, &same, err) != 0)
            return -1;
        if (same)
            findings_add(findings, &place, "in one set only",
                         finding_format("row %" PRIu64 " of %.120s", entry->row,
                                        text_path(set->shard.archive.path).text)
                             .text,
                         "a position that occurs in the other set");
    }
    return 0;
}
