/* expand_stats.c - see expand_stats.h. */
#include "cli/expand_stats.h"

#include "base/output.h"
#include "cli/json_out.h"

#include <stdlib.h>
#include <string.h>

int expand_stats_add(json_t **list, const char *output, const struct plan *plan,
                     const struct expand_result *result, double seconds, struct error *err)
{
    json_t *one =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:f, s:f}", "output", json_out_name(output), "rows_in",
                  (json_int_t)plan->n_rows, "rows_out", (json_int_t)result->n_rows,
                  "unpacked_bytes", (json_int_t)result->unpacked_nbytes, "bytes",
                  (json_int_t)result->n_bytes, "seconds", seconds, "unpacked_bytes_per_second",
                  seconds > 0 ? (double)result->unpacked_nbytes / seconds : 0.0);

    if (*list == NULL)
        *list = json_array();
    if (one == NULL || *list == NULL || json_array_append_new(*list, one) != 0)
        return error_no_memory(err, "statistics");
    return 0;
}

int expand_stats_write(const char *path, json_t *list, int n_threads, struct error *err)
{
    json_t *all = json_pack("{s:o, s:i}", "outputs", list != NULL ? list : json_array(), "threads",
                            n_threads);
    char *text = all != NULL ? json_dumps(all, JSON_INDENT(2) | JSON_SORT_KEYS) : NULL;
    struct output out = {0};
    int status = -1;

    if (text == NULL)
        error_no_memory(err, "statistics");
    else if (output_open(&out, path, true, err) == 0 &&
             output_write(&out, text, strlen(text), err) == 0 &&
             output_write(&out, "\n", 1, err) == 0)
        status = output_commit(&out, true, err);
    output_abort(&out);
    free(text);
    json_decref(all);
    return status;
}
