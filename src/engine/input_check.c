/*
 * input_check.c - that the inputs of an expansion are what they were taken for: none of them is the
 * output under another name, none changed since it was opened, and, where output is finished before
 * the end of an array has been read, every CRC is right beforehand.
 */
#include "engine/input_check.h"

#include "base/crew.h"
#include "base/text.h"

#include <stdlib.h>
#include <sys/stat.h>

static bool is_same_file(const char *path, const struct stat *st)
{
    struct stat other;

    return stat(path, &other) == 0 && other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

int input_check_not_output(const struct plan *plan, const char *path, struct error *err)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return 0;
    for (size_t i = 0; i < plan->n_archives; i++) {
        const struct archive_in *archive = &plan->archives[i];
        bool same = is_same_file(archive->path, &st);

        for (size_t k = 0; k < archive->n_inputs && !same; k++)
            same = is_same_file(archive->inputs[k].path, &st);
        if (same)
            return error_set(err, ERROR_CANT_CREATE, "%s: the output is the same file as input %s",
                             text_path(path).text, text_path(archive->path).text);
    }
    return 0;
}

int input_check_unchanged(const struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_archives; i++)
        for (size_t k = 0; k < plan->archives[i].n_inputs; k++)
            if (input_unchanged(&plan->archives[i].inputs[k], err) != 0)
                return -1;
    return 0;
}

/* All arrays of an input, and how each of them fared. */
struct data_check {
    const struct archive_in *archive;
    struct error *errors; /* owned, one per array */
    struct error *err;
    const struct plan *plan;
};

static void check_one(void *self, int64_t i, int worker)
{
    struct data_check *check = self;
    const struct array *array = &check->archive->arrays[i];

    (void)worker;
    if (array->has_crc)
        array_check(array, &check->errors[i]);
}

static int check_archives(void *self, struct crew *crew)
{
    struct data_check *check = self;
    int status = 0;

    for (size_t i = 0; i < check->plan->n_archives && status == 0; i++) {
        const size_t n = check->plan->archives[i].n_arrays;

        check->archive = &check->plan->archives[i];
        check->errors = calloc(n + 1, sizeof *check->errors);
        if (check->errors == NULL)
            return error_no_memory(check->err, "check of the inputs");
        crew_each(crew, (int64_t)n, check_one, check);
        for (size_t k = 0; k < n && status == 0; k++)
            if (check->errors[k].kind != ERROR_NONE)
                status = error_pass(check->err, &check->errors[k]);
        free(check->errors);
    }
    return status;
}

int input_check_data(const struct plan *plan, int n_threads, struct error *err)
{
    struct data_check check = {.err = err, .plan = plan};

    return crew_run(n_threads, check_archives, &check);
}
