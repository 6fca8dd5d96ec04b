/*
 * spill.c - records put into boxes and given back box by box, so that what belongs together (keys
 * of the same leading bits, neighbouring rows) can be worked on a box at a time in little memory.
 * While all boxes together fit into memory there is no file. When they do not, each is written to
 * the end of one unlinked temp file; the parts of a box are found again by a list.
 */
#include "positions/spill.h"

#include <stdlib.h>
#include <string.h>

#define MIN_PART_NBYTES (1u << 20) /* of a box, once there is a file */

int spill_init(struct spill *spill, size_t n_boxes, uint64_t max_nbytes, const char *tmpdir,
               struct error *err)
{
    *spill = (struct spill){
        .n_boxes = n_boxes, .max_nbytes = max_nbytes, .no_memory = {.tmpdir = tmpdir}};
    spill->boxes = calloc(n_boxes, sizeof *spill->boxes);
    return spill->boxes != NULL ? 0 : error_no_memory(err, "boxes of records");
}

/* Write what a box holds in memory to the file. */
static int flush(struct spill *spill, struct spill_box *box, struct error *err)
{
    struct spill_run *grown;

    if (box->bytes.n_bytes == 0)
        return 0;
    if (box->n_runs == box->capacity) {
        const size_t capacity = 2 * box->capacity + 8;

        grown = realloc(box->runs, capacity * sizeof *grown);
        if (grown == NULL)
            return error_no_memory(err, "boxes of records");
        box->runs = grown;
        box->capacity = capacity;
    }
    box->runs[box->n_runs++] = (struct spill_run){spill->file.n_bytes, box->bytes.n_bytes};
    if (scratch_append(&spill->file, box->bytes.data, box->bytes.n_bytes, err) != 0)
        return -1;
    spill->held_nbytes -= box->bytes.n_bytes;
    bytes_release(&box->bytes);
    return 0;
}

static int flush_all(struct spill *spill, struct error *err)
{
    if (!spill->has_file && scratch_open(&spill->file, INT64_MAX, &spill->no_memory, err) != 0)
        return -1;
    spill->has_file = true;
    for (size_t i = 0; i < spill->n_boxes; i++)
        if (flush(spill, &spill->boxes[i], err) != 0)
            return -1;
    return 0;
}

uint8_t *spill_add(struct spill *spill, size_t number, size_t n_bytes, struct error *err)
{
    struct spill_box *box = &spill->boxes[number];
    uint8_t *to;

    if (spill->held_nbytes + n_bytes > spill->max_nbytes && spill->held_nbytes > 0) {
        if (flush_all(spill, err) != 0)
            return NULL;
    } else if (spill->has_file && box->bytes.n_bytes > MIN_PART_NBYTES &&
               flush(spill, box, err) != 0) {
        return NULL;
    }
    to = bytes_reserve(&box->bytes, n_bytes, err);
    if (to == NULL)
        return NULL;
    box->bytes.n_bytes += n_bytes;
    spill->held_nbytes += n_bytes;
    return to;
}

int spill_each(const struct spill *spill, size_t number,
               int (*visit)(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err),
               void *self, struct error *err)
{
    const struct spill_box *box = &spill->boxes[number];
    struct bytes part = {0};
    int status = 0;

    for (size_t i = 0; i < box->n_runs && status == 0; i++) {
        const struct spill_run *run = &box->runs[i];

        part.n_bytes = 0;
        if (bytes_reserve(&part, run->n_bytes, err) == NULL ||
            scratch_read(&spill->file, run->offset, part.data, run->n_bytes, err) != 0)
            status = -1;
        else
            status = visit(self, part.data, run->n_bytes, err);
    }
    bytes_release(&part);
    return status == 0 && box->bytes.n_bytes > 0
               ? visit(self, box->bytes.data, box->bytes.n_bytes, err)
               : status;
}

void spill_empty(struct spill *spill, size_t box)
{
    spill->held_nbytes -= spill->boxes[box].bytes.n_bytes;
    bytes_release(&spill->boxes[box].bytes);
}

void spill_release(struct spill *spill)
{
    for (size_t i = 0; spill->boxes != NULL && i < spill->n_boxes; i++) {
        bytes_release(&spill->boxes[i].bytes);
        free(spill->boxes[i].runs);
    }
    free(spill->boxes);
    scratch_close(&spill->file);
    *spill = (struct spill){0};
}
