/*
 * budget.c - scratch space in memory or in a file. The file is made by O_TMPFILE without a name, so
 * that it vanishes with the process however that ends; on file systems that cannot do so it has a
 * name for a moment.
 */
#include "base/budget.h"

#include "base/bytes.h"
#include "base/input.h"

#include <fcntl.h>
#include <unistd.h>

int scratch_open(struct scratch *scratch, uint64_t n_bytes, struct budget *budget,
                 struct error *err)
{
    const char *tmpdir = budget != NULL && budget->tmpdir != NULL ? budget->tmpdir : "/tmp";
    uint64_t left = budget != NULL ? atomic_load(&budget->left) : 0;
    struct text path = {0};

    *scratch = (struct scratch){.budget = budget, .capacity = n_bytes};
    while (n_bytes < SIZE_MAX && n_bytes <= left && left > 0) {
        if (!atomic_compare_exchange_weak(&budget->left, &left, left - n_bytes))
            continue;
        scratch->memory = malloc((size_t)n_bytes + 1);
        if (scratch->memory != NULL) {
            /* Rows are read from here in any order, most of them from another page. */
            bytes_want_huge_pages(scratch->memory, (size_t)n_bytes);
            return 0;
        }
        atomic_fetch_add(&budget->left, n_bytes);
        break;
    }
    scratch->fd = file_open(tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC);
    if (scratch->fd < 0 && text_append(&path, err, "%s/symaug-XXXXXX", tmpdir) == 0) {
        scratch->fd = mkostemp(path.text, O_CLOEXEC);
        if (scratch->fd < 0)
            error_set_errno(err, ERROR_CANT_CREATE, errno, "%s: cannot create a temp file",
                            text_path(tmpdir).text);
        else
            unlink(path.text);
    }
    text_release(&path);
    scratch->has_file = scratch->fd >= 0;
    return scratch->has_file ? 0 : -1;
}

int scratch_append(struct scratch *scratch, const void *bytes, size_t n_bytes, struct error *err)
{
    if (n_bytes > scratch->capacity - scratch->n_bytes)
        return error_set(err, ERROR_INTERNAL, "scratch space of %llu bytes is too small",
                         (unsigned long long)scratch->capacity);
    if (scratch->memory != NULL)
        memcpy(scratch->memory + scratch->n_bytes, bytes, n_bytes);
    else if (scratch_write(scratch, scratch->n_bytes, bytes, n_bytes, err) != 0)
        return -1;
    scratch->n_bytes += n_bytes;
    return 0;
}

int scratch_resize(struct scratch *scratch, uint64_t n_bytes, struct error *err)
{
    if (ftruncate(scratch->fd, (off_t)n_bytes) != 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot write a temp file");
    scratch->n_bytes = n_bytes;
    return 0;
}

int scratch_write(const struct scratch *scratch, uint64_t offset, const void *bytes, size_t n_bytes,
                  struct error *err)
{
    if (file_write(scratch->fd, offset, bytes, n_bytes) != 0)
        return error_set_errno(err, ERROR_IO, errno, "cannot write a temp file");
    return 0;
}

int scratch_read(const struct scratch *scratch, uint64_t offset, void *out, size_t n_bytes,
                 struct error *err)
{
    if (scratch->memory != NULL) {
        memcpy(out, scratch->memory + offset, n_bytes);
        return 0;
    }
    const int64_t n = file_read(scratch->fd, offset, out, n_bytes);
    if (n != (int64_t)n_bytes)
        return error_set_errno(err, ERROR_IO, n < 0 ? errno : EIO, "cannot read a temp file");
    return 0;
}

void scratch_close(struct scratch *scratch)
{
    if (scratch->memory != NULL)
        atomic_fetch_add(&scratch->budget->left, scratch->capacity);
    free(scratch->memory);
    if (scratch->has_file)
        close(scratch->fd);
    memset(scratch, 0, sizeof *scratch);
}
