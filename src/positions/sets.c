/*
 * sets.c - positions that occur in several sets. Every set is read once, and of each row only its
 * key is kept, with the numbers of set and row, in boxes by the key's leading bits. Then box after
 * box is looked at: rows of one key are in one box. Rows that were found are put into boxes again,
 * by their number, so that they come out in order.
 */
#include "positions/sets.h"

#include "base/text.h"
#include "engine/plan.h"
#include "positions/key_rows.h"
#include "positions/spill.h"
#include "positions/table.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define N_BOXES 256

/* A row of a set. */
struct record {
    struct key_value key;
    uint64_t set, row;
};

/* A row of set 0 that occurs in another one. */
struct match {
    uint64_t row, set, other;
};

struct compare {
    struct sets *sets;
    const struct settings *settings;
    struct spill exact, symmetry, matches;
    struct key first_key; /* of the first shard */
    struct conventions first_conventions;
    const char *first_path; /* NULL: none has been read */
    size_t set;             /* that is being read */
    struct key key;         /* of the shard that is being read */
    uint64_t n_before;      /* rows of the set in other shards */

    /* Of the box at hand. */
    struct table table;
    uint64_t *cells; /* owned: by number of the key and set: rows, or the first row */
    size_t n_cells, capacity;
    bool looks_up; /* the rows of set 0 are looked up */
};

/* --- reading --- */

static int add_record(struct spill *spill, const struct record *record, struct error *err)
{
    uint8_t *to = spill_add(spill, table_box(record->key, N_BOXES), sizeof *record, err);

    if (to == NULL)
        return -1;
    memcpy(to, record, sizeof *record);
    return 0;
}

static int keep_rows(void *self, const struct key_rows *rows, struct error *err)
{
    struct compare *c = self;

    for (uint64_t i = 0; i < rows->n; i++) {
        const uint64_t row = c->n_before + rows->first + i;

        if (add_record(&c->symmetry, &(struct record){rows->keys[i], c->set, row}, err) != 0)
            return -1;
        if (c->sets->exact != NULL &&
            add_record(&c->exact, &(struct record){rows->exact[i], c->set, row}, err) != 0)
            return -1;
    }
    return 0;
}

/* What shards of sets that go together should agree on. */
static int warn_of_conventions(const struct compare *c, const struct plan *plan, struct error *err)
{
    static const char *const names[] = {"planes", "to-move", "to-move-plane", "castling-planes",
                                        "tiles"};
    struct text line = {0};
    int status = 0;

    for (size_t i = 0; i < sizeof names / sizeof *names && status == 0; i++) {
        const struct convention_text a = conventions_text(&c->first_conventions, names[i]);
        const struct convention_text b = conventions_text(&plan->conventions, names[i]);

        if (strcmp(a.text, b.text) == 0)
            continue;
        line.n_bytes = 0;
        status = text_append(&line, err, "%s: %s is %s, but %s in %s",
                             text_path(plan->archives[0].path).text, names[i], b.text, a.text,
                             text_path(c->first_path).text);
        if (status == 0)
            status = c->sets->warn(c->sets->self, line.text);
    }
    text_release(&line);
    return status;
}

static int read_plan(struct compare *c, const struct plan *plan, struct error *err)
{
    const struct key_reader reader = {.plan = plan,
                                      .key = &c->key,
                                      .settings = c->settings,
                                      .wants_exact = c->sets->exact != NULL,
                                      .visit = keep_rows,
                                      .self = c};
    const bool is_first = c->first_path == NULL;
    const struct key_like like = {&c->first_key, c->first_path, true};
    int status = key_of_plan(&c->key, plan, is_first ? NULL : &like, err);

    if (status == 0 && !is_first && c->sets->warn != NULL)
        status = warn_of_conventions(c, plan, err);
    if (status == 0)
        status = key_reader_run(&reader, err);
    c->n_before += plan->n_rows;
    if (!is_first) {
        key_release(&c->key);
        return status;
    }
    c->first_key = c->key;
    c->first_key.board = NULL; /* the plan's, which goes */
    c->first_conventions = plan->conventions;
    c->key = (struct key){0};
    return status;
}

static int read_shard(struct compare *c, const char *path, struct error *err)
{
    const struct set *set = &c->sets->items[c->set];
    struct settings settings = *set->settings; /* what it owns stays the caller's */
    struct plan plan;
    int status;

    settings.purpose = FOR_KEYS;
    settings.transforms = NULL;
    if (plan_build(&plan, &path, 1, &settings, err) != 0)
        return -1;
    status = plan_survey(&plan, err);
    for (size_t i = 0; i < plan.n_warnings && status == 0 && c->sets->warn != NULL; i++)
        status = c->sets->warn(c->sets->self, plan.warnings[i]);
    if (status == 0)
        status = read_plan(c, &plan, err);
    if (c->first_path == NULL)
        c->first_path = set->path;
    plan_release(&plan);
    return status;
}

/* --- folders --- */

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), n_ending = strlen(ending);

    return n > n_ending && strcmp(name + n - n_ending, ending) == 0;
}

static int is_any(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

static int is_array(const struct dirent *entry)
{
    return *entry->d_name != '.' && ends_with(entry->d_name, ".npy");
}

/* How many entries of a folder the filter lets through; 0 when it is none. */
static int count_entries(const char *path, int (*filter)(const struct dirent *entry))
{
    struct dirent **list;
    const int n = scandir(path, &list, filter, NULL);

    for (int i = 0; i < n; i++)
        free(list[i]);
    if (n >= 0)
        free(list);
    return n > 0 ? n : 0;
}

static int read_folder(struct compare *c, const char *path, struct error *err)
{
    struct dirent **list;
    const int n = scandir(path, &list, is_any, alphasort);
    struct text name = {0};
    uint64_t n_shards = 0;
    int status = 0;

    if (n < 0)
        return error_set_errno(err, errno == ENOMEM ? ERROR_INTERNAL : ERROR_NO_INPUT, errno,
                               "cannot read folder %s", text_quote(path).text);
    for (int i = 0; i < n; i++) {
        name.n_bytes = 0;
        if (status == 0)
            status = text_append(&name, err, "%s/%s", path, list[i]->d_name);
        if (status == 0 &&
            (ends_with(list[i]->d_name, ".npz") || count_entries(name.text, is_array) > 0)) {
            status = read_shard(c, name.text, err);
            n_shards++;
        }
        free(list[i]);
    }
    free(list);
    text_release(&name);
    if (status == 0 && n_shards == 0)
        status =
            error_set(err, ERROR_NO_INPUT, "%s: no shards in this folder", text_path(path).text);
    return status;
}

static int read_set(struct compare *c, struct error *err)
{
    struct set *set = &c->sets->items[c->set];
    struct stat st;
    const bool is_folder = set->shards == NULL && stat(set->path, &st) == 0 &&
                           S_ISDIR(st.st_mode) && count_entries(set->path, is_array) == 0;
    int status = 0;

    c->n_before = 0;
    if (is_folder)
        status = read_folder(c, set->path, err);
    else if (set->shards == NULL)
        status = read_shard(c, set->path, err);
    for (size_t i = 0; set->shards != NULL && i < set->n_shards && status == 0; i++)
        status = read_shard(c, set->shards[i], err);
    set->n_rows = c->n_before;
    return status;
}

/* --- looking at boxes --- */

/* The cells of a key, which are `empty` when it is new. */
static uint64_t *cells_of(struct compare *c, struct key_value key, uint64_t empty,
                          struct error *err)
{
    const size_t n = c->sets->n, before = c->table.n;
    size_t number;

    if (table_put(&c->table, key, &number, err) != 0)
        return NULL;
    if (number < before)
        return c->cells + number * n;
    if (c->table.n > c->capacity) {
        uint64_t *grown = realloc(c->cells, c->table.capacity * n * sizeof *grown);

        if (grown == NULL) {
            error_no_memory(err, "keys of positions");
            return NULL;
        }
        c->cells = grown;
        c->capacity = c->table.capacity;
    }
    for (size_t i = 0; i < n; i++)
        c->cells[number * n + i] = empty;
    return c->cells + number * n;
}

static int count_rows(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    struct compare *c = self;
    struct record record;

    for (size_t at = 0; at < n_bytes; at += sizeof record) {
        uint64_t *cells;

        memcpy(&record, bytes + at, sizeof record);
        cells = cells_of(c, record.key, 0, err);
        if (cells == NULL)
            return -1;
        cells[record.set]++;
    }
    return 0;
}

static int fill_matrix(struct compare *c, const struct spill *spill, uint64_t *matrix,
                       struct error *err)
{
    const size_t n = c->sets->n;

    for (size_t box = 0; box < N_BOXES; box++) {
        table_clear(&c->table);
        if (spill_each(spill, box, count_rows, c, err) != 0)
            return -1;
        for (size_t key = 0; key < c->table.n; key++) {
            const uint64_t *cells = c->cells + key * n;

            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    if (cells[i] > 0 && cells[j] > 0)
                        matrix[i * n + j] += i == j ? cells[i] - 1 : cells[i];
        }
    }
    return 0;
}

/* First the other sets' rows are noted; then set 0's are looked up. */
static int find_rows(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    struct compare *c = self;
    struct record record;

    for (size_t at = 0; at < n_bytes; at += sizeof record) {
        uint64_t *cells;

        memcpy(&record, bytes + at, sizeof record);
        if ((record.set == 0) != c->looks_up)
            continue;
        cells = cells_of(c, record.key, UINT64_MAX, err);
        if (cells == NULL)
            return -1;
        if (!c->looks_up && record.row < cells[record.set])
            cells[record.set] = record.row;
        for (size_t set = 1; c->looks_up && set < c->sets->n; set++) {
            const struct match match = {record.row, set, cells[set]};
            uint8_t *to;

            if (match.other == UINT64_MAX)
                continue;
            to = spill_add(&c->matches, record.row / (c->sets->items[0].n_rows / N_BOXES + 1),
                           sizeof match, err);
            if (to == NULL)
                return -1;
            memcpy(to, &match, sizeof match);
        }
    }
    return 0;
}

static int compare_matches(const void *left, const void *right)
{
    const struct match *a = left, *b = right;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->set < b->set ? -1 : a->set > b->set;
}

static int append(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    return bytes_append(self, bytes, n_bytes, err);
}

static int list_matches(struct compare *c, struct error *err)
{
    struct bytes list = {0};
    struct match match;
    int status = 0;

    for (size_t box = 0; box < N_BOXES && status == 0; box++) {
        table_clear(&c->table);
        c->looks_up = false;
        status = spill_each(&c->symmetry, box, find_rows, c, err);
        c->looks_up = true;
        if (status == 0)
            status = spill_each(&c->symmetry, box, find_rows, c, err);
    }
    for (size_t box = 0; box < N_BOXES && status == 0; box++) {
        list.n_bytes = 0;
        status = spill_each(&c->matches, box, append, &list, err);
        if (list.n_bytes > 0)
            qsort(list.data, list.n_bytes / sizeof match, sizeof match, compare_matches);
        for (size_t at = 0; at < list.n_bytes && status == 0; at += sizeof match) {
            memcpy(&match, list.data + at, sizeof match);
            status = c->sets->found(c->sets->self, match.row, match.set, match.other, err);
        }
    }
    bytes_release(&list);
    return status;
}

int sets_compare(struct sets *sets, const struct settings *settings, struct error *err)
{
    struct compare c = {.sets = sets, .settings = settings};
    const uint64_t part = settings->max_memory / 6;
    int status = 0;

    if (spill_init(&c.exact, N_BOXES, part, settings->tmpdir, err) != 0 ||
        spill_init(&c.symmetry, N_BOXES, part, settings->tmpdir, err) != 0 ||
        spill_init(&c.matches, N_BOXES, part, settings->tmpdir, err) != 0)
        status = -1;
    for (c.set = 0; c.set < sets->n && status == 0; c.set++)
        status = read_set(&c, err);
    if (status == 0 && sets->symmetry != NULL)
        status = fill_matrix(&c, &c.symmetry, sets->symmetry, err);
    if (status == 0 && sets->exact != NULL)
        status = fill_matrix(&c, &c.exact, sets->exact, err);
    if (status == 0 && sets->found != NULL)
        status = list_matches(&c, err);
    spill_release(&c.exact);
    spill_release(&c.symmetry);
    spill_release(&c.matches);
    table_release(&c.table);
    free(c.cells);
    key_release(&c.first_key);
    key_release(&c.key);
    return status;
}
