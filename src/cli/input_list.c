/*
 * input_list.c - the inputs of a run: operands, names read from a file, and the part of them that
 * is this job's (every n-th, so that jobs of an array need not talk to each other). Outputs of
 * --out-dir are called like their inputs, so two inputs of one base name are refused before
 * anything is written.
 */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int input_list_add(struct input_list *list, const char *path, struct error *err)
{
    if (list_room(&list->paths, list->n + 2, sizeof *list->paths, "list of inputs", err) != 0)
        return -1;
    list->paths[list->n] = strdup(path);
    if (list->paths[list->n] == NULL)
        return error_no_memory(err, "list of inputs");
    list->paths[++list->n] = NULL;
    return 0;
}

int input_list_add_from(struct input_list *list, const char *file, bool zero, struct error *err)
{
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "re");
    char *name = NULL;
    size_t capacity = 0;
    ssize_t n;
    int status = 0;

    if (from == NULL)
        return error_set_errno(err, ERROR_NO_INPUT, errno, "cannot open %s", text_quote(file).text);
    while (status == 0 && (n = getdelim(&name, &capacity, zero ? '\0' : '\n', from)) > 0) {
        if (!zero && name[n - 1] == '\n')
            name[n - 1] = '\0';
        if (*name != '\0')
            status = input_list_add(list, name, err);
    }
    if (status == 0 && ferror(from))
        status = error_set_errno(err, ERROR_IO, errno, "cannot read %s", text_quote(file).text);
    free(name);
    if (from != stdin)
        fclose(from);
    return status;
}

char *input_list_base_name(const char *path, struct error *err)
{
    size_t end = strlen(path), begin;
    char *name;

    while (end > 0 && path[end - 1] == '/')
        end--;
    begin = end;
    while (begin > 0 && path[begin - 1] != '/')
        begin--;
    name = strndup(path + begin, end - begin);
    if (name == NULL)
        error_no_memory(err, "name of an output");
    return name;
}

int input_list_compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int input_list_check_names(const struct input_list *list, struct error *err)
{
    char **names = calloc(list->n + 1, sizeof *names);
    int status = names != NULL ? 0 : error_no_memory(err, "list of inputs");

    for (size_t i = 0; i < list->n && status == 0; i++) {
        names[i] = input_list_base_name(list->paths[i], err);
        if (names[i] == NULL)
            status = -1;
        else if (*names[i] == '\0')
            status = error_set(err, ERROR_USAGE, "--out-dir: input %s has no name",
                               text_quote(list->paths[i]).text);
    }
    if (status == 0)
        qsort(names, list->n, sizeof *names, input_list_compare);
    for (size_t i = 1; i < list->n && status == 0; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            status = error_set(err, ERROR_USAGE, "--out-dir: two inputs are called %s",
                               text_quote(names[i]).text);
    for (size_t i = 0; names != NULL && i < list->n; i++)
        free(names[i]);
    free(names);
    return status;
}

void input_list_release(struct input_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct input_list){0};
}
