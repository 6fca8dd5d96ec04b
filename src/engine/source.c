/*
 * source.c - the rows of an array one after another, whatever its storage: C order streams, Fortran
 * order goes through a table. For passes that look at the data before it is moved.
 */
#include "engine/source.h"

int source_open(struct source *source, const struct array *const *arrays, size_t n,
                uint64_t max_memory, const char *tmpdir, struct error *err)
{
    bool fortran = false;

    *source = (struct source){.row_nbytes = arrays[0]->row_nbytes, .memory_left = max_memory};
    for (size_t i = 0; i < n; i++) {
        source->n_rows += arrays[i]->n_rows;
        fortran |= array_is_fortran(arrays[i]);
    }
    if (fortran)
        source->table = row_table_open(arrays, n, &source->memory_left, tmpdir, err);
    else
        source->rows = rows_open(arrays, n, err);
    return source->table == NULL && source->rows == NULL ? -1 : 0;
}

int source_read(struct source *source, uint64_t n, void *out, struct error *err)
{
    if (source->rows != NULL && rows_read(source->rows, n, out, err) != 0)
        return -1;
    if (source->table != NULL && row_table_read(source->table, source->next, n, out, err) != 0)
        return -1;
    source->next += n;
    return 0;
}

void source_close(struct source *source)
{
    rows_close(source->rows);
    row_table_close(source->table);
    *source = (struct source){0};
}
