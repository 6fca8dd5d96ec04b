/*
 * cmd_overlap.c - symaug overlap: how many rows of each set occur in each other set, exactly and up
 * to symmetry, as two matrices or as JSON.
 */
#include "cli/cli.h"

#include "positions/positions.h"

static int warn(void *self, const char *text)
{
    const struct settings *settings = self;

    command_say(settings, 0, "warning: %s", text);
    return 0;
}

static json_t *json_of(const uint64_t *matrix, size_t n)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array();

        for (size_t j = 0; j < n; j++)
            json_array_append_new(row, json_integer((json_int_t)matrix[i * n + j]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void print_matrix(const struct sets *sets, const char *title, const uint64_t *matrix)
{
    printf("\n%s\n%6s", title, "");
    for (size_t j = 0; j < sets->n; j++)
        printf(" %18zu", j + 1);
    printf("\n");
    for (size_t i = 0; i < sets->n; i++) {
        printf("%6zu", i + 1);
        for (size_t j = 0; j < sets->n; j++) {
            const uint64_t n = matrix[i * sets->n + j], n_rows = sets->items[i].n_rows;

            printf(" %10llu %6.2f%%", (unsigned long long)n,
                   n_rows > 0 ? 100.0 * (double)n / (double)n_rows : 0.0);
        }
        printf("\n");
    }
}

static int run_overlap(struct call *call, struct error *err)
{
    const size_t n = (size_t)call->n_operands;
    struct set *items = calloc(n + 1, sizeof *items);
    uint64_t *matrices = calloc(2 * n * n + 1, sizeof *matrices);
    struct sets sets = {.items = items,
                        .n = n,
                        .exact = matrices,
                        .symmetry = matrices + n * n,
                        .warn = warn,
                        .self = &call->settings};
    int status = items != NULL && matrices != NULL ? 0 : error_no_memory(err, "sets");

    for (size_t i = 0; i < n && status == 0; i++)
        items[i] = (struct set){.path = call->operands[i], .settings = &call->settings};
    if (status == 0)
        status = sets_compare(&sets, &call->settings, err);
    if (status == 0 && call->settings.json) {
        json_t *list = json_array();

        for (size_t i = 0; i < n; i++)
            json_array_append_new(list, json_pack("{s:o, s:I}", "path", json_name(items[i].path),
                                                  "rows", (json_int_t)items[i].n_rows));
        status = command_put_json(NULL,
                                  json_pack("{s:o, s:o, s:o}", "sets", list, "exact",
                                            json_of(sets.exact, n), "symmetry",
                                            json_of(sets.symmetry, n)),
                                  err);
    } else if (status == 0) {
        for (size_t i = 0; i < n; i++)
            printf("%zu: %s: %llu rows\n", i + 1, text_path(items[i].path).text,
                   (unsigned long long)items[i].n_rows);
        printf(
            "\nrows of the set at the left that occur in the set above, and on the diagonal rows "
            "that\nrepeat a position of their own set\n");
        print_matrix(&sets, "exactly", sets.exact);
        print_matrix(&sets, "up to symmetry", sets.symmetry);
    }
    free(items);
    free(matrices);
    return status;
}

const struct command command_overlap = {
    "overlap",
    "overlap KEYS",
    TAKES_FILES,
    "[--board BOARD] [OPTION]... A B...",
    "count the positions that sets have in common",
    "A set is a shard, or a folder of shards. Nothing is written but the counts.",
    "overlap --board hex11 train.npz valid.npz",
    NULL,
    run_overlap,
};
