/* report_actions.c - see report.h: every action layout must move as the cells do. */
#include "board/report.h"

#include "base/perm.h"
#include "board/actions.h"

#include <inttypes.h>
#include <stdlib.h>

/* Layouts whose tables would be longer than this are not checked: 64 MiB of maps. */
#define MAX_TABLE ((uint64_t)1 << 24)

/* A layout's maps and what its actions are. */
struct table {
    const struct action_layout *layout; /* borrowed */
    uint32_t length;
    uint32_t *maps; /* owned, n_transforms x length */
    int64_t *cells; /* owned, length: the cell of each action, -1 without */
    uint8_t *flags; /* owned, length */
};

static const uint32_t *map_of(const struct table *table, uint32_t t)
{
    return table->maps + (size_t)t * table->length;
}

static void release(struct table *table)
{
    free(table->maps);
    free(table->cells);
    free(table->flags);
}

static int init(struct table *table, const struct board *b, const struct action_layout *layout,
                struct error *err)
{
    const size_t length = layout->length(b);

    *table = (struct table){.layout = layout, .length = (uint32_t)length};
    table->maps = malloc(b->n_transforms * length * sizeof *table->maps);
    table->cells = malloc(length * sizeof *table->cells);
    table->flags = malloc(length * sizeof *table->flags);
    if (table->maps == NULL || table->cells == NULL || table->flags == NULL) {
        release(table);
        return error_no_memory(err, "maps of an action layout");
    }
    for (uint32_t t = 0; t < b->n_transforms; t++)
        action_layout_map(b, layout, t, table->maps + t * length);
    for (size_t a = 0; a < length; a++) {
        table->cells[a] = layout->cell(b, a);
        table->flags[a] = (uint8_t)layout->flags(b, a);
    }
    return 0;
}

/* Add the failure of one action under one transform. */
static int refuse(struct report *r, const struct table *table, uint32_t t, uint32_t action,
                  const char *what)
{
    char meaning[128];

    table->layout->describe(r->board, action, meaning, sizeof meaning);
    return report_verdict(r, false, "actions %s (%u): %s takes action %u (%s) to %u, %s",
                          table->layout->name, table->length, report_name(r, t).text, action,
                          meaning, map_of(table, t)[action], what);
}

/* Check that transform t permutes the actions, and takes each to one of its kind on the image of
 * its cell. *passed is false when a failure was added. */
static int check_map(struct report *r, const struct table *table, uint32_t t, bool *passed)
{
    const uint32_t *map = map_of(table, t);
    const uint32_t *dst = r->board->transforms[t].dst;
    const size_t fault = perm_first_fault(map, table->length, r->err);

    if (fault == SIZE_MAX)
        return -1;
    *passed = false;
    if (fault < table->length)
        return refuse(r, table, t, (uint32_t)fault, "which is taken or out of range");
    for (uint32_t a = 0; a < table->length; a++) {
        const int64_t cell = table->cells[a];

        if (table->flags[map[a]] != table->flags[a])
            return refuse(r, table, t, a, "an action of another kind");
        if (table->cells[map[a]] != (cell < 0 ? cell : (int64_t)dst[cell]))
            return refuse(r, table, t, a, "which is on another cell");
    }
    *passed = true;
    return 0;
}

/* Check that a, then b, moves the actions as their product does. */
static int check_product(struct report *r, const struct table *table, uint32_t a, uint32_t b,
                         bool *passed)
{
    const int32_t product = r->products[a * r->board->n_transforms + b];
    const uint32_t *first = map_of(table, a);
    const uint32_t *then = map_of(table, b);
    const uint32_t *map;

    if (product < 0)
        return 0;
    map = map_of(table, (uint32_t)product);
    for (uint32_t i = 0; i < table->length; i++) {
        if (then[first[i]] == map[i])
            continue;
        *passed = false;
        return refuse(r, table, (uint32_t)product, i,
                      "not where the two transforms it is made of take it");
    }
    return 0;
}

static int check_table(struct report *r, const struct table *table)
{
    const uint32_t n = r->board->n_transforms;
    bool passed = true;

    for (uint32_t t = 0; t < n && passed; t++)
        if (check_map(r, table, t, &passed) != 0)
            return -1;
    for (uint32_t i = 0; i < n * n && passed; i++)
        if (check_product(r, table, i / n, i % n, &passed) != 0)
            return -1;
    if (!passed)
        return 0;
    return report_verdict(r, true, "actions %s (%u): permuted as the cells are",
                          table->layout->name, table->length);
}

static int check_layout(struct report *r, const struct action_layout *layout)
{
    const uint64_t length = layout->length(r->board);
    struct table table;
    int status;

    if (length == 0)
        return 0;
    if (length > MAX_TABLE / r->board->n_transforms)
        return text_append(r->out, r->err,
                           "%-4s  actions %s (%" PRIu64 "): too long to be checked here\n", "-",
                           layout->name, length);
    if (init(&table, r->board, layout, r->err) != 0)
        return -1;
    status = check_table(r, &table);
    release(&table);
    return status;
}

int report_actions(struct report *r)
{
    for (size_t i = 0; i < r->board->family->n_layouts; i++)
        if (check_layout(r, r->board->family->layouts[i]) != 0)
            return -1;
    return 0;
}
