/*
 * sets.c - positions that occur in several sets. Every set is read once, and of each row only its
 * key is kept, with the numbers of set and row, in boxes by the key's leading bits. Then box after
 * box is looked at: rows of one key are in one box. Rows that were found are put into boxes again,
 * by their number, so that they come out in order.
 */
#include "positions/positions.h"

#include "base/meter.h"
#include "base/text.h"
#include "positions/boxes.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define N_BOXES 256

/* A row of a set. Of a set that is alone its key suffices for what is exact. */
struct record {
    struct key_value key;
    uint64_t set, row; /* where positions are counted, the hash of its values */
};

/* The rows of one key. */
struct class
{
    uint64_t n_rows, values;
    bool differ;
};

/* The values of a shard's rows, which go by while its keys are made. */
struct value {
    const struct spec *spec;
    struct batch batch;
};

/* A row of set 0 that occurs in another one. */
struct match {
    uint64_t row, set, other;
};

struct compare {
    struct sets *sets;
    const struct settings *settings;
    struct boxes exact, symmetry, matches;
    struct key first_key; /* of the first shard */
    struct conventions first_conventions;
    const char *first_path; /* NULL: none has been read */
    bool only_counts;       /* shards are not read: */
    size_t n_shards;        /* so many there are */
    size_t set;             /* that is being read */
    uint64_t n_before;      /* rows of the set in other shards */
    struct table table;     /* of the box at hand; cells: by set, its rows, or the first one + 1 */
    bool looks_up;          /* the rows of set 0 are looked up */
    struct key key;         /* of the shard at hand, */
    struct value *values;   /* owned: and its values, where positions are counted */
    size_t n_values;
    struct key_hash hash;
};

/* --- reading --- */

static int add_record(const struct compare *c, struct boxes *boxes, struct key_value key,
                      uint64_t row, struct error *err)
{
    const struct record record = {key, c->set, row};
    void *to = boxes_add(boxes, boxes_of_key(boxes, key), err);

    if (to == NULL)
        return -1;
    memcpy(to, &record, boxes->record_nbytes);
    return 0;
}

static int keep_rows(void *self, const struct key_rows *rows, struct error *err)
{
    struct compare *c = self;
    const size_t ties_nbytes = key_ties_nbytes(&c->key);

    for (size_t v = 0; v < c->n_values; v++)
        if (batch_read(&c->values[v].batch, rows->first, rows->n, err) != 0)
            return -1;
    for (uint64_t i = 0; i < rows->n; i++) {
        uint64_t row = c->n_before + rows->first + i;

        c->hash.value = 0;
        for (size_t v = 0; v < c->n_values; v++)
            if (key_hash_add(&c->hash, c->values[v].spec,
                             c->key.ids[key_lowest_tie(rows->ties + i * ties_nbytes)],
                             batch_row(&c->values[v].batch, i).bytes, err) != 0)
                return -1;
        if (c->sets->positions != NULL)
            row = c->hash.value;
        if (add_record(c, &c->symmetry, rows->keys[i], row, err) != 0 ||
            (c->sets->exact != NULL && add_record(c, &c->exact, rows->exact[i], row, err) != 0))
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
        const struct text_quoted a = conventions_text(&c->first_conventions, names[i]);
        const struct text_quoted b = conventions_text(&plan->conventions, names[i]);

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

static int open_values(struct compare *c, const struct plan *plan, struct error *err)
{
    c->values = calloc(plan->n_arrays + 1, sizeof *c->values);
    if (c->values == NULL)
        return error_no_memory(err, "values");
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        struct value *value = &c->values[c->n_values];

        if ((role != ROLE_VALUE && role != ROLE_WDL) || array->is_object ||
            array->spec.row_nbytes == 0)
            continue;
        *value = (struct value){&array->spec, {.own = {.arrays = array->sources, .n_arrays = 1}}};
        c->n_values++;
        if (batch_open(&value->batch, plan->settings->budget, err) != 0)
            return -1;
    }
    return 0;
}

static int read_shard(struct compare *c, const char *path, struct error *err)
{
    const struct set *set = &c->sets->items[c->set];
    const bool is_first = c->first_path == NULL, counts = c->sets->positions != NULL;
    const struct key_like like = {&c->first_key, c->first_path, true};
    struct settings settings = *set->settings; /* what it owns stays the caller's */
    struct plan plan;
    int status;

    if (c->only_counts) {
        c->n_shards++;
        return 0;
    }
    c->key = (struct key){0};
    settings.purpose = counts ? FOR_VALUES : FOR_KEYS;
    settings.allow_expanded |= counts; /* nobody asks */
    settings.transforms = NULL;
    if (plan_build(&plan, &path, 1, &settings, err) != 0)
        return -1;
    status = counts ? open_values(c, &plan, err) : plan_survey(&plan, err);
    for (size_t i = 0; i < plan.warnings.n && status == 0 && c->sets->warn != NULL; i++)
        status = c->sets->warn(c->sets->self, plan.warnings.items[i]);
    if (status == 0)
        status = key_of_plan(&c->key, &plan, is_first || counts ? NULL : &like, err);
    if (status == 0 && !is_first && c->sets->warn != NULL)
        status = warn_of_conventions(c, &plan, err);
    if (status == 0)
        status = key_reader_run(&(struct key_reader){.plan = &plan,
                                                     .key = &c->key,
                                                     .settings = c->settings,
                                                     .wants_exact = c->sets->exact != NULL,
                                                     .visit = keep_rows,
                                                     .self = c},
                                err);
    for (size_t v = 0; v < c->n_values; v++)
        batch_release(&c->values[v].batch);
    free(c->values);
    c->values = NULL;
    c->n_values = 0;
    c->n_before += plan.n_rows;
    if (is_first) {
        c->first_key = c->key;
        c->first_key.board = NULL; /* the plan's, which goes */
        c->first_conventions = plan.conventions;
        c->first_path = set->path;
    } else {
        key_release(&c->key);
    }
    plan_release(&plan);
    return status;
}

/* --- folders --- */

static int is_shown(const struct dirent *entry)
{
    return *entry->d_name != '.';
}

static int is_array(const struct dirent *entry)
{
    return is_shown(entry) && text_ends_with(entry->d_name, ".npy");
}

/* Whether a path is a shard: a folder of arrays. */
static bool holds_arrays(const char *path)
{
    struct dirent **list;
    const int n = scandir(path, &list, is_array, NULL);

    for (int i = 0; i < n; i++)
        free(list[i]);
    if (n >= 0)
        free(list);
    return n > 0;
}

static int read_folder(struct compare *c, const char *path, struct error *err)
{
    struct dirent **list;
    const int n = scandir(path, &list, is_shown, alphasort);
    struct text name = {0};
    bool is_empty = true;
    int status = 0;

    if (n < 0)
        return error_set_errno(err, errno == ENOMEM ? ERROR_INTERNAL : ERROR_NO_INPUT, errno,
                               "cannot read folder %s", text_quote(path).text);
    for (int i = 0; i < n; i++) {
        name.n_bytes = 0;
        if (status == 0)
            status = text_append(&name, err, "%s/%s", path, list[i]->d_name);
        if (status == 0 && (text_ends_with(list[i]->d_name, ".npz") || holds_arrays(name.text))) {
            status = read_shard(c, name.text, err);
            is_empty = false;
        }
        free(list[i]);
    }
    free(list);
    text_release(&name);
    return status == 0 && is_empty ? error_set(err, ERROR_NO_INPUT, "%s: no shards in this folder",
                                               text_path(path).text)
                                   : status;
}

static int read_set(struct compare *c, struct error *err)
{
    struct set *set = &c->sets->items[c->set];
    struct stat st;
    int status = 0;

    c->n_before = 0;
    if (set->shards == NULL)
        status = stat(set->path, &st) == 0 && S_ISDIR(st.st_mode) && !holds_arrays(set->path)
                     ? read_folder(c, set->path, err)
                     : read_shard(c, set->path, err);
    for (size_t i = 0; set->shards != NULL && i < set->n_shards && status == 0; i++)
        status = read_shard(c, set->shards[i], err);
    set->n_rows = c->n_before;
    return status;
}

/* --- looking at boxes --- */

static int count_row(void *self, const void *from, struct error *err)
{
    struct compare *c = self;
    const struct record *record = from;
    uint64_t *n_rows = table_cell(&c->table, record->key, err);

    if (n_rows == NULL)
        return -1;
    n_rows[c->sets->n > 1 ? record->set : 0]++;
    return 0;
}

static int fill_matrix(struct compare *c, const struct boxes *boxes, uint64_t *matrix,
                       struct error *err)
{
    const size_t n = c->sets->n;

    for (size_t box = 0; box < N_BOXES; box++) {
        table_clear(&c->table);
        if (boxes_each(boxes, box, count_row, c, err) != 0)
            return -1;
        for (size_t key = 0; key < c->table.n; key++) {
            const uint64_t *n_rows = (const void *)(c->table.cells + key * c->table.cell_nbytes);

            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    if (n_rows[i] > 0 && n_rows[j] > 0)
                        matrix[i * n + j] += i == j ? n_rows[i] - 1 : n_rows[i];
        }
    }
    return 0;
}

static int join_row(void *self, const void *from, struct error *err)
{
    struct compare *c = self;
    const struct record *record = from;
    struct class *class = table_cell(&c->table, record->key, err);

    if (class == NULL)
        return -1;
    class->differ |= class->n_rows++ > 0 && class->values != record->row;
    class->values = record->row;
    return 0;
}

static int count_positions(struct compare *c, struct set_positions *p, struct error *err)
{
    for (size_t box = 0; box < N_BOXES; box++) {
        const struct class *classes;

        table_clear(&c->table);
        if (boxes_each(&c->symmetry, box, join_row, c, err) != 0)
            return -1;
        classes = (const void *)c->table.cells;
        for (size_t i = 0; i < c->table.n; i++) {
            p->n_rows += classes[i].n_rows;
            p->largest = classes[i].n_rows > p->largest ? classes[i].n_rows : p->largest;
            p->n_conflicts += classes[i].differ;
        }
        p->n_classes += c->table.n;
    }
    p->is_known = true;
    return 0;
}

/* First the other sets' rows are noted; then set 0's are looked up. */
static int find_row(void *self, const void *from, struct error *err)
{
    struct compare *c = self;
    const struct record *record = from;
    uint64_t *rows;

    if ((record->set == 0) != c->looks_up)
        return 0;
    rows = table_cell(&c->table, record->key, err);
    if (rows == NULL)
        return -1;
    if (!c->looks_up && (rows[record->set] == 0 || record->row + 1 < rows[record->set]))
        rows[record->set] = record->row + 1;
    for (size_t set = 1; c->looks_up && set < c->sets->n; set++) {
        struct match *match;

        if (rows[set] == 0)
            continue;
        match = boxes_add(&c->matches, boxes_of_row(&c->matches, record->row), err);
        if (match == NULL)
            return -1;
        *match = (struct match){record->row, set, rows[set] - 1};
    }
    return 0;
}

static int list_matches(struct compare *c, struct error *err)
{
    struct bytes list = {0};
    int status;

    c->matches = (struct boxes){.n = N_BOXES,
                                .record_nbytes = sizeof(struct match),
                                .n_rows = c->sets->items[0].n_rows,
                                .max_nbytes = c->settings->max_memory / 6,
                                .tmpdir = c->settings->tmpdir};
    status = boxes_open(&c->matches, err);
    for (size_t pass = 0; pass < 2 * N_BOXES && status == 0; pass++) {
        c->looks_up = pass % 2 == 1;
        if (!c->looks_up)
            table_clear(&c->table);
        status = boxes_each(&c->symmetry, pass / 2, find_row, c, err);
    }
    for (size_t box = 0; box < N_BOXES && status == 0; box++) {
        status = boxes_sorted(&c->matches, box, &list, err);
        for (size_t at = 0; at < list.n_bytes && status == 0; at += c->matches.record_nbytes) {
            const struct match *match = (const void *)(list.data + at);

            status = c->sets->found(c->sets->self, match->row, match->set, match->other, err);
        }
    }
    bytes_release(&list);
    return status;
}

int sets_compare(struct sets *sets, const struct settings *settings, struct error *err)
{
    const struct boxes by_key = {.n = N_BOXES,
                                 .record_nbytes = sizeof(struct record),
                                 .max_nbytes = settings->max_memory / 6,
                                 .tmpdir = settings->tmpdir};
    struct compare c = {.sets = sets,
                        .settings = settings,
                        .exact = by_key,
                        .symmetry = by_key,
                        .table.cell_nbytes = sets->positions != NULL ? sizeof(struct class)
                                                                     : sets->n * sizeof(uint64_t)};
    int status;

    if (sets->n == 1)
        c.exact.record_nbytes = sizeof(struct key_value);
    status = boxes_open(&c.exact, err) != 0 || boxes_open(&c.symmetry, err) != 0 ? -1 : 0;

    for (int pass = 0; pass < 2; pass++) {
        c.only_counts = pass == 0;
        for (c.set = 0; c.set < sets->n && status == 0; c.set++)
            status = read_set(&c, err);
        meter_expect(settings->meter, pass == 0 ? c.n_shards : 0);
    }
    if (status == 0 && sets->symmetry != NULL)
        status = fill_matrix(&c, &c.symmetry, sets->symmetry, err);
    if (status == 0 && sets->positions != NULL)
        status = count_positions(&c, sets->positions, err);
    if (status == 0 && sets->exact != NULL)
        status = fill_matrix(&c, &c.exact, sets->exact, err);
    if (status == 0 && sets->found != NULL)
        status = list_matches(&c, err);
    boxes_release(&c.exact);
    boxes_release(&c.symmetry);
    boxes_release(&c.matches);
    table_release(&c.table);
    bytes_release(&c.hash.room);
    key_release(&c.first_key);
    return status;
}
