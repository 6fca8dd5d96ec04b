/* input_check.c - see input_check.h. */
#include "engine/input_check.h"

#include "base/text.h"
#include "shard/unpack.h"

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

static int check_array(const struct array *array, struct error *err)
{
    struct unpack unpack = {0};
    int status = unpack_start(&unpack, array, err);

    if (status == 0)
        status = unpack_finish(&unpack, err);
    unpack_release(&unpack);
    return status;
}

int input_check_data(const struct plan *plan, int n_threads, struct error *err)
{
    int status = 0;

    for (size_t i = 0; i < plan->n_archives && status == 0; i++) {
        const struct archive_in *archive = &plan->archives[i];
        const int64_t n = (int64_t)archive->n_arrays;

#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
        for (int64_t k = 0; k < n; k++) {
            struct error own = {0};

            if (archive->arrays[k].has_crc && check_array(&archive->arrays[k], &own) != 0) {
#pragma omp critical(input_check)
                {
                    if (status == 0)
                        error_set(err, own.kind, "%s", own.message);
                    status = -1;
                }
            }
        }
    }
    return status;
}
