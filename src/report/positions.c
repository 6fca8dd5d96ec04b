/*
 * positions.c - the positions of a set up to symmetry: every row has the key of its orbit and a
 * hash of its values as the canonical image has them; sorted by key, equal ones are a class. And
 * the matrix of all sets, which `overlap` makes; that of one file follows from its keys.
 */
#include "report/set.h"

#include "positions/key.h"
#include "positions/positions.h"
#include "shard/batch.h"

#include <stdlib.h>
#include <string.h>

struct record {
    struct key_value key;
    uint64_t values; /* hash */
};

/* The values of a plan's rows that go by while its keys are made. */
struct value {
    struct batch batch;
    const struct plan_array *array;
};

struct counting {
    const struct settings *settings;
    const struct board *board; /* of the plan that is read */
    struct key key;
    struct value *values; /* owned */
    size_t n_values;
    struct record *records;  /* owned: of all files */
    struct key_value *exact; /* owned: the keys of the rows alone, where they are wanted; or NULL */
    uint64_t n, capacity;    /* and how many there may be */
};

/* Hash a row's values as they are in its canonical image. */
static void hash_value(const struct value *value, uint64_t r, bool is_swapped, uint64_t *hash)
{
    const struct row row = batch_row(&value->batch, r);
    const struct spec *spec = &value->array->spec;
    const size_t n_bytes = row.n * row.dtype->itemsize;
    uint8_t in[256], out[256];
    const bool swaps = is_swapped && n_bytes <= sizeof in && spec->n_steps > 0;

    if (swaps) {
        memcpy(in, row.bytes, n_bytes);
        label_apply(spec_swap(spec), row.dtype, in, out, row.n);
    }
    for (size_t i = 0; i < n_bytes; i++)
        *hash = (*hash ^ (swaps ? out[i] : row.bytes[i])) * UINT64_C(0x100000001b3);
}

static int keep_rows(void *self, const struct key_rows *rows, struct error *err)
{
    struct counting *c = self;
    const size_t ties_nbytes = key_ties_nbytes(&c->key);

    if (c->n + rows->n > c->capacity)
        return error_set(err, ERROR_INTERNAL, "more rows than were counted");
    for (size_t v = 0; v < c->n_values; v++)
        if (batch_read(&c->values[v].batch, rows->first, rows->n, err) != 0)
            return -1;
    if (c->exact != NULL)
        memcpy(c->exact + c->n, rows->exact, rows->n * sizeof *c->exact);
    for (uint64_t r = 0; r < rows->n; r++) {
        const uint8_t *ties = rows->ties + r * ties_nbytes;
        struct record *record = &c->records[c->n++];
        uint32_t id = 0;

        while (!(ties[id / 8] >> id % 8 & 1))
            id++;
        *record = (struct record){rows->keys[r], UINT64_C(0xcbf29ce484222325)};
        for (size_t v = 0; v < c->n_values; v++)
            hash_value(&c->values[v], r, c->board->transforms[c->key.ids[id]].swaps_colours,
                       &record->values);
    }
    return 0;
}

static int open_values(struct counting *c, const struct plan *plan, struct error *err)
{
    c->values = calloc(plan->n_arrays + 1, sizeof *c->values);
    if (c->values == NULL)
        return error_no_memory(err, "values");
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        struct value *value = &c->values[c->n_values];

        if ((role != ROLE_VALUE && role != ROLE_WDL) || array->is_object)
            continue;
        value->array = array;
        value->batch.own = (struct reader){.arrays = array->sources, .n_arrays = 1};
        c->n_values++;
        if (batch_open(&value->batch, NULL, err) != 0)
            return -1;
    }
    return 0;
}

static int read_shard(struct counting *c, const char *path, struct error *err)
{
    struct settings settings = *c->settings; /* what it owns stays the caller's */
    struct plan plan;
    int status;

    settings.purpose = FOR_VALUES;
    settings.transforms = NULL;
    settings.allow_expanded = true;
    if (plan_build(&plan, &path, 1, &settings, err) != 0)
        return -1;
    c->board = plan.board;
    if (plan.swaps) { /* `overlap` looks at whose turn it is */
        free(c->exact);
        c->exact = NULL;
    }
    status = key_of_plan(&c->key, &plan, NULL, err);
    if (status == 0)
        status = open_values(c, &plan, err);

    const struct key_reader reader = {.plan = &plan,
                                      .key = &c->key,
                                      .settings = c->settings,
                                      .wants_exact = c->exact != NULL,
                                      .visit = keep_rows,
                                      .self = c};

    if (status == 0)
        status = key_reader_run(&reader, err);
    for (size_t v = 0; v < c->n_values; v++)
        batch_release(&c->values[v].batch);
    free(c->values);
    c->values = NULL;
    c->n_values = 0;
    key_release(&c->key);
    plan_release(&plan);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    const struct key_value *x = a, *y = b;

    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->low > y->low) - (x->low < y->low);
}

static int compare_records(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    const int order = compare_keys(&x->key, &y->key);

    return order != 0 ? order : (x->values > y->values) - (x->values < y->values);
}

static void count_classes(struct counting *c, struct report_positions *p)
{
    uint64_t first = 0;

    qsort(c->records, c->n, sizeof *c->records, compare_records);
    for (uint64_t i = 1; i <= c->n; i++) {
        if (i < c->n && compare_keys(&c->records[first].key, &c->records[i].key) == 0)
            continue;
        p->n_classes++;
        p->largest = i - first > p->largest ? i - first : p->largest;
        p->n_conflicts += c->records[first].values != c->records[i - 1].values;
        first = i;
    }
    p->n_rows = c->n;
    p->is_known = true;
    p->has_exact = c->exact != NULL;
    if (!p->has_exact)
        return;
    qsort(c->exact, c->n, sizeof *c->exact, compare_keys);
    for (uint64_t i = 0; i < c->n; i++)
        p->n_exact += i == 0 || compare_keys(&c->exact[i - 1], &c->exact[i]) != 0;
}

int report_count_positions(const struct report_set *set, struct report_positions *positions,
                           struct error *err)
{
    struct counting c = {.settings = set->request->settings, .capacity = set->n_rows};
    const uint64_t max_nbytes = c.settings->max_memory / 2;
    struct error why = {0};
    int status = 0;

    if (set->verdict == REPORT_UNCHECKED || set->n_rows > max_nbytes / sizeof *c.records)
        return 0;
    c.records = calloc(set->n_rows + 1, sizeof *c.records);
    if (set->request->n == 1 && set->files.n == 1 &&
        set->n_rows <= max_nbytes / (sizeof *c.records + sizeof *c.exact))
        c.exact = calloc(set->n_rows + 1, sizeof *c.exact);
    if (c.records == NULL)
        status = error_no_memory(&why, "the keys of positions");
    for (size_t i = 0; i < set->files.n && status == 0; i++)
        status = read_shard(&c, set->files.paths[i], &why);
    if (status == 0)
        count_classes(&c, positions);
    free(c.records);
    free(c.exact);
    return status != 0 && why.kind == ERROR_INTERNAL ? error_pass(err, &why) : 0;
}

int report_compare(const struct report_request *request, const struct report_files *files,
                   const struct report_positions *first, struct report_overlap *overlap,
                   struct error *err)
{
    const size_t n = request->n;
    struct set *items = calloc(n + 1, sizeof *items);
    uint64_t *matrices = calloc(2 * n * n + 1, sizeof *matrices);
    struct sets sets = {.items = items, .exact = matrices};
    int status = items != NULL && matrices != NULL ? 0 : error_no_memory(err, "matrices");

    overlap->matrices = matrices;
    for (size_t i = 0; i < n && status == 0; i++)
        if (files[i].is_sure)
            items[sets.n++] = (struct set){.path = request->paths[i],
                                           .shards = (const char *const *)files[i].paths,
                                           .n_shards = files[i].n,
                                           .settings = request->settings};
    overlap->n = sets.n;
    sets.symmetry = matrices + sets.n * sets.n;
    if (status == 0 && n == 1 && first->has_exact) {
        matrices[0] = first->n_rows - first->n_exact;
        matrices[1] = first->n_rows - first->n_classes;
    } else if (status == 0 && sets.n > 0 &&
               sets_compare(&sets, request->settings, &overlap->why) != 0 &&
               overlap->why.kind == ERROR_INTERNAL) {
        status = error_pass(err, &overlap->why);
    }
    free(items);
    return status;
}
