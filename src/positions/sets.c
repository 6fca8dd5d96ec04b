/*
 * sets.c - positions that occur in several sets. Every set is read once; of each row only its key
 * is kept, with the numbers of its set and row. Sorting these brings rows of one position together.
 * Rows that were found are sorted again, by their number.
 */
#include "positions/positions.h"

#include "base/meter.h"
#include "engine/survey.h"
#include "positions/parts.h"

/* A row of a set. */
struct record {
    struct key_value key;
    uint64_t order; /* set - 1: set 0 comes last, when the others of a position are known */
    uint64_t row;   /* where positions are counted, the hash of its values */
};

/* A row of set 0 that occurs in another one. */
struct match {
    uint64_t row, set, other, unused;
};

struct compare {
    struct sets *sets;
    struct sorter exact, symmetry, matches;
    struct key first_key; /* of the first shard */
    struct conventions first_conventions;
    const char *first_path;  /* NULL: none has been read */
    size_t set;              /* being read */
    uint64_t n_before;       /* rows of this set in the shards before */
    struct key key;          /* of the current shard */
    struct key_rows rows;    /* and the keys of its rows */
    struct survey_seen seen; /* of all shards, where there are several */
};

/* --- reading --- */

/* Hand the keys of a row on to be sorted. */
static int put_row(void *self, uint64_t i, int worker, struct error *err)
{
    const struct compare *c = self;
    const struct key_found *found = &c->rows.found[i];
    struct record record = {found->key, c->set - 1, c->n_before + c->rows.walk.first + i};
    struct record *symmetry = c->rows.records[0], *exact = c->rows.records[1];

    (void)worker;
    (void)err;
    if (c->sets->positions != NULL)
        record.row = found->hash;
    symmetry[i] = record;
    record.key = found->exact;
    if (exact != NULL)
        exact[i] = record;
    return 0;
}

/* Warn where a shard's conventions differ from those of the first. */
static int warn_of_conventions(const struct compare *c, const struct plan *plan)
{
    static const char *const names[] = {"planes", "to-move", "to-move-plane", "castling-planes",
                                        "tiles"};
    int status = 0;

    for (size_t i = 0; i < N_OF(names) && status == 0; i++) {
        const struct text_quoted a = conventions_text(&c->first_conventions, names[i]);
        const struct text_quoted b = conventions_text(&plan->conventions, names[i]);
        char line[5 * sizeof a.text];

        if (strcmp(a.text, b.text) == 0)
            continue;
        snprintf(line, sizeof line, "%s: %s is %s, but %s in %s",
                 text_path(plan->inputs[0].archive.path).text, names[i], b.text, a.text,
                 text_path(c->first_path).text);
        status = c->sets->warn(c->sets->self, line);
    }
    return status;
}

static int read_shard(struct compare *c, const char *path, struct error *err)
{
    struct set *set = &c->sets->items[c->set];
    const bool is_first = c->first_path == NULL, counts = c->sets->positions != NULL;
    const struct key_like like = {&c->first_key, c->first_path, true};
    struct settings settings = *set->settings; /* its pointers stay the caller's */
    struct key_beside *values = NULL;          /* where positions are counted: to be hashed */
    size_t n_values = 0;
    struct plan plan;

    c->key = (struct key){0};
    settings.purpose = counts ? FOR_VALUES : FOR_KEYS;
    settings.allow_expanded |= counts; /* positions of expanded sets may be counted */
    settings.transforms = NULL;
    settings.seen = &c->seen;
    if (plan_build(&plan, &path, 1, &settings, err) != 0)
        return -1;
    int status = new_items(&values, plan.n_arrays, "values", err);
    if (status == 0 && !counts)
        status = plan_survey(&plan, err);
    for (size_t i = 0; i < plan.n_arrays && counts && status == 0; i++) {
        const struct plan_array *array = &plan.arrays[i];

        if ((array->binding.role == ROLE_VALUE || array->binding.role == ROLE_WDL) &&
            !array->is_object && array->spec.row_nbytes > 0)
            values[n_values++] = (struct key_beside){array->sources, &array->spec};
    }
    for (size_t i = 0; i < plan.warnings.n && status == 0 && c->sets->warn != NULL; i++)
        status = c->sets->warn(c->sets->self, plan.warnings.items[i]);
    if (status == 0)
        status = key_of_plan(&c->key, &plan, is_first || counts ? NULL : &like, err);
    if (status == 0 && !is_first && c->sets->warn != NULL)
        status = warn_of_conventions(c, &plan);
    c->rows = (struct key_rows){.plan = &plan,
                                .key = &c->key,
                                .beside = values,
                                .n_beside = n_values,
                                .sorters = {&c->symmetry, c->sets->exact ? &c->exact : NULL}};
    if (status == 0)
        status = key_rows_each(&c->rows, put_row, c, err);
    free(values);
    set->n_rows = c->n_before += plan.n_rows;
    if (is_first) {
        c->first_key = c->key;
        c->first_key.board = NULL; /* freed with the plan */
        c->first_conventions = plan.conventions;
        c->first_path = set->path;
    } else {
        key_release(&c->key);
    }
    plan_release(&plan);
    return status;
}

/* --- folders --- */

/* Whether a path is a folder of arrays, and so a shard; with more .npz files, it is one of shards.
 */
static bool holds_arrays(const char *path)
{
    struct text_list names = {0};
    long n_more = 0;

    (void)folder_list(path, &names, NULL);
    for (size_t i = 0; i < names.n; i++)
        n_more += text_ends_with(names.items[i], ".npy") - text_ends_with(names.items[i], ".npz");
    text_list_release(&names);
    return n_more > 0;
}

int set_list(const char *path, struct text_list *shards, struct error *err)
{
    struct text_list all = {0};
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode) || holds_arrays(path))
        return text_list_add(shards, path, err);
    int status = folder_list(path, &all, err);
    for (size_t i = 0; i < all.n && status == 0; i++)
        if (text_ends_with(all.items[i], ".npz") || holds_arrays(all.items[i]))
            status = text_list_add(shards, all.items[i], err);
    text_list_release(&all);
    return status == 0 && shards->n == 0
               ? error_set(err, ERROR_NO_INPUT, "%s: no shards in this folder",
                           text_path(path).text)
               : status;
}

/* --- looking at sorted rows --- */

/* Fill a matrix (NULL: none is wanted). Up to symmetry, also count positions, and list the rows of
 * set 0 that occur in other sets, each with the first such row of each set, where wanted. */
static int look_at_rows(struct compare *c, struct sorter *sorter, uint64_t *matrix,
                        struct error *err)
{
    const size_t n_all = c->sets->n;
    const bool is_symmetry = sorter == &c->symmetry;
    struct set_positions *p = is_symmetry ? c->sets->positions : NULL;
    uint64_t *room = calloc(3 * n_all + 1, sizeof *room);
    /* For the current key, by set: its rows (0 between keys) and the first of them; and the sets
     * that have any. */
    uint64_t *n_rows = room, *firsts = room + n_all, *sets = room + 2 * n_all;
    int status = room != NULL ? 0 : error_no_memory(err, "rows of sets");
    const struct record *record;
    uint64_t first = 0;
    size_t n_sets = 0;
    bool differ = false;
    int n = 0;

    while (status == 0 && (n = sorter_next(sorter, &record, err)) > 0) {
        const size_t set = (size_t)(record->order + 1);

        if (sorter->is_first) {
            first = record->row;
            n_sets = 0;
            differ = false;
        }
        differ |= record->row != first;
        if (n_rows[set]++ == 0) {
            firsts[set] = record->row;
            sets[n_sets++] = set;
        }
        for (size_t k = 0; is_symmetry && c->sets->found != NULL && set == 0 && k + 1 < n_sets;
             k++) {
            const struct match match = {record->row, sets[k], firsts[sets[k]], 0};

            if (sorter_add(&c->matches, &match, sizeof match, err) == NULL)
                status = -1;
        }
        if (!sorter->is_last)
            continue;
        for (size_t i = 0; i < n_sets && matrix != NULL; i++)
            for (size_t k = 0; k < n_sets; k++)
                matrix[sets[i] * n_all + sets[k]] += n_rows[sets[i]] - (i == k);
        if (p != NULL) {
            p->n_rows += n_rows[0];
            p->n_classes++;
            p->largest = n_rows[0] > p->largest ? n_rows[0] : p->largest;
            p->n_conflicts += differ;
        }
        for (size_t i = 0; i < n_sets; i++)
            n_rows[sets[i]] = 0;
    }
    if (n < 0)
        status = -1;
    if (p != NULL)
        p->is_known = status == 0;
    free(room);
    return status;
}

int sets_compare(struct sets *sets, const struct settings *settings, struct error *err)
{
    const struct sorter by_key = sorter_of(settings, sizeof(struct record), 6);
    struct compare c = {.sets = sets, .exact = by_key, .symmetry = by_key, .matches = by_key};
    const uint64_t counts_nbytes = 2 * sizeof *sets->exact * sets->n * sets->n;
    struct text_list *lists = calloc(sets->n + 1, sizeof *lists);
    const struct match *match;
    size_t n_shards = 0;
    int n = 0, status = lists != NULL ? 0 : error_no_memory(err, "sets");

    if (status == 0 && sets->exact != NULL && counts_nbytes > settings->max_memory)
        status = error_set(err, ERROR_USAGE,
                           "%zu sets: what each has in common with each takes %s, more than "
                           "--max-memory; a folder of shards is one set",
                           sets->n, text_size(counts_nbytes).text);
    /* All shards are found first: the progress line shows how many there are. */
    for (size_t i = 0; i < sets->n && status == 0; i++) {
        lists[i] = sets->items[i].shards;
        if (lists[i].n == 0)
            status = set_list(sets->items[i].path, &lists[i], err);
        n_shards += lists[i].n;
    }
    for (size_t i = 0; i < sets->n && status == 0 && n_shards > 1; i++)
        status = plan_see(lists[i].items, lists[i].n, sets->items[i].settings, &c.seen, err);
    meter_expect(settings->meter, n_shards);
    for (c.set = 0; c.set < sets->n && status == 0; c.set++) {
        c.n_before = 0;
        for (size_t i = 0; i < lists[c.set].n && status == 0; i++)
            status = read_shard(&c, lists[c.set].items[i], err);
    }
    meter_expect(settings->meter, 0);
    if (status == 0)
        status = look_at_rows(&c, &c.symmetry, sets->symmetry, err);
    if (status == 0 && sets->exact != NULL)
        status = look_at_rows(&c, &c.exact, sets->exact, err);
    while (status == 0 && (n = sorter_next(&c.matches, &match, err)) > 0)
        status = sets->found(sets->self, match->row, match->set, match->other, err);
    for (size_t i = 0; lists != NULL && i < sets->n; i++)
        if (sets->items[i].shards.n == 0)
            text_list_release(&lists[i]);
    free(lists);
    sorter_release(&c.exact);
    sorter_release(&c.symmetry);
    sorter_release(&c.matches);
    key_release(&c.first_key);
    survey_seen_release(&c.seen);
    return n < 0 ? -1 : status;
}
