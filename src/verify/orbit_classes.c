/* orbit_classes.c - see orbit_classes.h. */
#include "verify/orbit_classes.h"

#include "verify/orbit_groups.h"

#include <stdlib.h>
#include <string.h>

struct classes {
    const struct canonical *canonical;
    struct row_table *table; /* owned */
    uint8_t *first, *row;    /* owned: rows */
    struct canonical_room room;
    uint64_t n_sources;
};

static int compare_sources(const void *left, const void *right)
{
    const struct lane_image *a = left, *b = right;

    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* The only transform that leads from the first row to this one, or ORBIT_NO_TRANSFORM. */
static uint32_t relate(struct classes *c)
{
    const struct canonical *canonical = c->canonical;
    uint32_t found = ORBIT_NO_TRANSFORM;

    memset(c->room.least, 0, canonical->form_nbytes);
    memset(c->room.other, 0, canonical->form_nbytes);
    canonical_form(canonical, 0, c->row, c->room.least);
    for (uint32_t k = 0; k < canonical->n_ids; k++) {
        canonical_form(canonical, canonical->ids[k], c->first, c->room.other);
        if (memcmp(c->room.least, c->room.other, canonical->form_nbytes) != 0)
            continue;
        if (found != ORBIT_NO_TRANSFORM)
            return ORBIT_NO_TRANSFORM;
        found = canonical->ids[k];
    }
    return found;
}

/* Rows of one class. Where the position occurs several times, nothing tells which row is whose
 * image; one image more than there are transforms is taken for a duplicate. */
static int split_class(struct classes *c, struct lane_image *rows, uint64_t n, struct error *err)
{
    const uint32_t n_ids = c->canonical->n_ids;
    const bool is_one_source = n <= n_ids + n_ids / 2;

    if (row_table_get(c->table, rows[0].row, c->first, err) != 0)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        if (row_table_get(c->table, rows[i].row, c->row, err) != 0)
            return -1;
        rows[i].transform = is_one_source ? relate(c) : ORBIT_NO_TRANSFORM;
        rows[i].source = c->n_sources;
    }
    c->n_sources++;
    return 0;
}

static int hash_rows(struct classes *c, struct lane_image *entries, uint64_t n, struct error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        if (row_table_get(c->table, i, c->row, err) != 0)
            return -1;
        entries[i] = (struct lane_image){.row = i};
        entries[i].source = canonical_hash(c->canonical, c->row, &c->room);
    }
    qsort(entries, n, sizeof *entries, compare_sources);
    return 0;
}

static int form_classes(struct classes *c, struct lane_image *entries, uint64_t n,
                        struct error *err)
{
    if (hash_rows(c, entries, n, err) != 0)
        return -1;
    for (uint64_t i = 0, end; i < n; i = end) {
        const uint64_t hash = entries[i].source;

        for (end = i + 1; end < n && entries[end].source == hash;)
            end++;
        if (split_class(c, entries + i, end - i, err) != 0)
            return -1;
    }
    return 0;
}

int orbit_classes(const struct canonical *canonical, const struct verify_request *request,
                  struct lane_image **entries, struct error *err)
{
    const struct array *array = canonical->lane->array;
    struct classes c = {.canonical = canonical};
    uint64_t memory_left = request->settings->max_memory;
    int status = -1;

    *entries = calloc(array->n_rows + 1, sizeof **entries);
    c.first = malloc(array->row_nbytes + 1);
    c.row = malloc(array->row_nbytes + 1);
    if (*entries == NULL || c.first == NULL || c.row == NULL)
        error_no_memory(err, "list of all images");
    else if (canonical_room_init(&c.room, canonical, err) == 0 &&
             (c.table = row_table_open(&array, 1, &memory_left, request->settings->tmpdir, err)) !=
                 NULL)
        status = form_classes(&c, *entries, array->n_rows, err);
    if (status != 0) {
        free(*entries);
        *entries = NULL;
    }
    row_table_close(c.table);
    canonical_room_release(&c.room);
    free(c.first);
    free(c.row);
    return status;
}
