/*
 * manifest_inputs.c - the inputs of a joined manifest: both lists, what it names and what a file
 * says it should name, are made sets of names without folders and walked side by side, so that
 * messages can tell how many are missing and which is the first. Inputs of the same bytes show when
 * they are sorted by digest.
 */
#include "cli/manifest_inputs.h"

#include "base/text.h"
#include "cli/input_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- all there? --- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sort a list and leave each name once. */
static void make_set(struct input_list *list)
{
    size_t n = 0;

    if (list->n > 0)
        qsort(list->paths, list->n, sizeof *list->paths, compare_names);
    for (size_t i = 0; i < list->n; i++) {
        if (n > 0 && strcmp(list->paths[n - 1], list->paths[i]) == 0)
            free(list->paths[i]);
        else
            list->paths[n++] = list->paths[i];
    }
    list->n = n;
}

static int list_expected(struct input_list *names, const char *file, bool zero, struct error *err)
{
    struct input_list paths = {0};
    int status = input_list_add_from(&paths, file, zero, err);

    for (size_t i = 0; i < paths.n && status == 0; i++) {
        char *name = input_list_base_name(paths.paths[i], err);

        status = name != NULL ? input_list_add(names, name, err) : -1;
        free(name);
    }
    input_list_release(&paths);
    make_set(names);
    return status;
}

static int list_found(struct input_list *names, const struct manifest *manifest, struct error *err)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < manifest->n_inputs; i++)
        status = input_list_add(names, manifest->inputs[i].name, err);
    make_set(names);
    return status;
}

/* The names of a that are not in b: their number, and the first one. */
static size_t count_others(const struct input_list *a, const struct input_list *b,
                           const char **first)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < a->n; i++) {
        while (k < b->n && strcmp(b->paths[k], a->paths[i]) < 0)
            k++;
        if (k < b->n && strcmp(b->paths[k], a->paths[i]) == 0)
            continue;
        if (n++ == 0)
            *first = a->paths[i];
    }
    return n;
}

int manifest_inputs_check(const struct manifest *manifest, const char *file, bool zero,
                          struct error *err)
{
    struct input_list expected = {0}, found = {0};
    const char *first;
    size_t n;
    int status = list_expected(&expected, file, zero, err);

    if (status == 0)
        status = list_found(&found, manifest, err);
    if (status == 0 && (n = count_others(&expected, &found, &first)) > 0)
        status =
            error_set(err, ERROR_DATA, "%zu of %zu inputs in %s have no output, the first is %s", n,
                      expected.n, text_quote(file).text, text_quote(first).text);
    if (status == 0 && (n = count_others(&found, &expected, &first)) > 0)
        status = error_set(err, ERROR_DATA,
                           "%zu of %zu inputs of the outputs are not in %s, the first is %s", n,
                           found.n, text_quote(file).text, text_quote(first).text);
    input_list_release(&expected);
    input_list_release(&found);
    return status;
}

/* --- there twice? --- */

static int by_digest(const void *a, const void *b)
{
    const struct manifest_file *p = a, *q = b;
    const int order = strcmp(p->sha256, q->sha256);

    return order != 0 ? order : strcmp(p->name, q->name);
}

int manifest_inputs_warn(const struct manifest *manifest, struct error *err)
{
    const size_t n = manifest->n_inputs;
    struct manifest_file *inputs = calloc(n + 1, sizeof *inputs);

    if (inputs == NULL)
        return error_no_memory(err, "list of inputs");
    if (n > 0)
        memcpy(inputs, manifest->inputs, n * sizeof *inputs);
    qsort(inputs, n, sizeof *inputs, by_digest);
    for (size_t i = 1; i < n; i++)
        if (strcmp(inputs[i - 1].sha256, inputs[i].sha256) == 0)
            fprintf(stderr, "symaug: warning: inputs %s and %s hold the same bytes\n",
                    text_path(inputs[i - 1].name).text, text_path(inputs[i].name).text);
    free(inputs);
    return 0;
}
