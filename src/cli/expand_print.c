/*
 * expand_print.c - what `symaug expand` says: warnings, the plan of --dry-run, a line on success,
 * --stats as JSON, and a line of progress, redrawn ten times a second at most and cleared at the
 * end. Times and speeds are kept out of the manifest, which must not depend on the machine, and go
 * to the statistics alone.
 */
#include "cli/expand_print.h"

#include "base/output.h"
#include "base/text.h"
#include "cli/json_out.h"
#include "engine/shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1

size_t expand_print_warnings(const struct settings *settings, const struct plan *plan, size_t first)
{
    for (size_t i = first; i < plan->n_warnings && settings->verbosity >= 0; i++)
        fprintf(stderr, "symaug: warning: %s\n", plan->warnings[i]);
    return plan->n_warnings;
}

static void print_array(const struct plan *plan, const struct plan_array *array)
{
    const struct npy_header *header = &array->sources[0]->header;
    uint64_t shape[NPY_MAX_DIMS];
    char dtype[32];

    memcpy(shape, header->shape, sizeof shape);
    if (array->binding.role != ROLE_META && array->binding.role != ROLE_DROP &&
        array->binding.sparse != SPARSE_CSR)
        shape[0] = plan->order.n_images;
    dtype_name(&header->dtype, dtype, sizeof dtype);
    printf("  %-24s %-6s %-24s %s", text_path(array->key).text, dtype,
           text_shape(shape, header->n_dims).text, role_name(array->binding.role));
    if (array->binding.layout != NULL)
        printf(" (%s)", array->binding.layout->name);
    if (plan_swap_label(plan, array) != LABEL_KEEP)
        printf(": %s when colours swap", label_op_name(plan_swap_label(plan, array)));
    printf("\n");
}

void expand_print_plan(const struct plan *plan, const char *output)
{
    const struct board *board = plan->board;

    printf("%s: board %s, %llu rows x %u images", text_path(output).text, board->preset,
           (unsigned long long)plan->n_rows, plan->n_chosen);
    printf(" -> %llu rows, about %s before compression\n", (unsigned long long)plan->order.n_images,
           text_size(expand_estimate(plan)).text);
    if (plan->rows_per_shard > 0) {
        const struct shards shards = shards_of(plan);

        printf("shards: %llu\n", (unsigned long long)shards_count(&shards));
    }
    printf("transforms:");
    for (uint32_t k = 0; k < plan->n_chosen; k++)
        printf("%s %u %s%s", k > 0 ? "," : "", plan->chosen[k],
               board->transforms[plan->chosen[k]].name,
               board->transforms[plan->chosen[k]].swaps_colours ? " (swaps colours)" : "");
    printf("\narrays:\n");
    for (size_t i = 0; i < plan->n_arrays; i++)
        print_array(plan, &plan->arrays[i]);
}

void expand_print_result(const struct settings *settings, const struct plan *plan,
                         const char *output, const struct expand_result *result, double seconds)
{
    if (settings->verbosity < 1)
        return;
    fprintf(
        stderr, "symaug: %s: %llu rows from %llu, %s in %s, %.2f s (%s/s)\n",
        text_path(output).text, (unsigned long long)result->n_rows,
        (unsigned long long)plan->n_rows, text_size(result->unpacked_nbytes).text,
        text_size(result->n_bytes).text, seconds,
        text_size(seconds > 0 ? (uint64_t)((double)result->unpacked_nbytes / seconds) : 0).text);
}

/* --- statistics --- */

int expand_stats_add(json_t **list, const char *output, const struct plan *plan,
                     const struct expand_result *result, double seconds, struct error *err)
{
    json_t *one =
        json_pack("{s:o, s:I, s:I, s:I, s:I, s:f, s:f}", "output", json_name(output), "rows_in",
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

/* --- progress --- */

void progress_start(struct progress *progress, enum when when, const char *label)
{
    *progress = (struct progress){.label = label, .last = -1};
    progress->shown = when == WHEN_ALWAYS || (when == WHEN_AUTO && isatty(STDERR_FILENO) == 1);
    clock_gettime(CLOCK_MONOTONIC, &progress->started);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void progress_update(struct progress *progress, uint64_t n_done, uint64_t n_total)
{
    double seconds, rate, share;

    if (!progress->shown)
        return;
    seconds = seconds_since(&progress->started);
    if (progress->last >= 0 && seconds - progress->last < REDRAW_SECONDS)
        return;
    progress->last = seconds;
    rate = seconds > 0 ? (double)n_done / seconds : 0;
    share = n_total > 0 && n_done < n_total ? (double)n_done / (double)n_total : 1;
    fprintf(stderr, "\r\033[K%s: %3.0f%%  %s/s  %.0f s left", text_path(progress->label).text,
            100 * share, text_size((uint64_t)rate).text,
            rate > 0 && n_done < n_total ? (double)(n_total - n_done) / rate : 0);
    fflush(stderr);
}

double progress_end(struct progress *progress)
{
    if (progress->shown && progress->last >= 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    return seconds_since(&progress->started);
}
