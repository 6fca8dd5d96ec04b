/* manifest_runs.c - see manifest_runs.h. */
#include "shard/manifest_runs.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    const char *name;    /* borrowed */
    size_t n_run;        /* bytes of it that name the run */
    uint64_t first, end; /* rows */
};

size_t manifest_run_length(const json_t *output)
{
    const char *name = json_string_value(json_object_get(output, "name"));
    const char *dash = name != NULL ? strrchr(name, '-') : NULL;

    if (dash == NULL || json_object_get(output, "first_row") == NULL ||
        strspn(dash + 1, "0123456789") == 0)
        return 0;
    return (size_t)(dash - name) + 1;
}

static int by_run(const void *a, const void *b)
{
    const struct piece *p = a, *q = b;
    const size_t n = p->n_run < q->n_run ? p->n_run : q->n_run;
    const int order = memcmp(p->name, q->name, n);

    if (order != 0 || p->n_run != q->n_run)
        return order != 0 ? order : (p->n_run > q->n_run) - (p->n_run < q->n_run);
    return (p->first > q->first) - (p->first < q->first);
}

static int check_piece(const struct piece *piece, const struct piece *before, struct error *err)
{
    const bool is_first = before == NULL || before->n_run != piece->n_run ||
                          memcmp(before->name, piece->name, piece->n_run) != 0;
    const uint64_t expected = is_first ? 0 : before->end;

    if (piece->first == expected)
        return 0;
    return error_set(err, ERROR_DATA,
                     "output %s: first row %" PRIu64 " expected, %" PRIu64 " found: %s",
                     text_quote(piece->name).text, expected, piece->first,
                     piece->first > expected ? "an output of this run is missing in front of it"
                                             : "outputs of this run overlap");
}

static size_t list_pieces(const json_t *outputs, struct piece *pieces)
{
    const json_t *output;
    size_t n = 0, i;

    json_array_foreach(outputs, i, output)
    {
        const uint64_t first = (uint64_t)json_integer_value(json_object_get(output, "first_row"));

        pieces[n] = (struct piece){
            .name = json_string_value(json_object_get(output, "name")),
            .n_run = manifest_run_length(output),
            .first = first,
            .end = first + (uint64_t)json_integer_value(json_object_get(output, "rows"))};
        n += pieces[n].n_run > 0;
    }
    return n;
}

int manifest_runs_check(const json_t *outputs, struct error *err)
{
    struct piece *pieces = calloc(json_array_size(outputs) + 1, sizeof *pieces);
    size_t n;
    int rc = 0;

    if (pieces == NULL)
        return error_no_memory(err, "list of outputs");
    n = list_pieces(outputs, pieces);
    qsort(pieces, n, sizeof *pieces, by_run);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = check_piece(&pieces[i], i > 0 ? &pieces[i - 1] : NULL, err);
    free(pieces);
    return rc;
}
