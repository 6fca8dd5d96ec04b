/*
 * smear.c - content on cells of the box that are off board, as transforms leave it that clamp at
 * the edge. It is an error where other rows of the plane show that its corners are meant to be
 * empty, else a warning; only the end of the shard tells: rows add to tallies, tallies of threads
 * are merged, the end reports. Constant planes are left alone.
 */
#include "verify/smear.h"

#include "verify/numbers.h"

#include <stdlib.h>
#include <string.h>

int smear_init(struct smear *smear, const struct lanes *lanes, struct error *err)
{
    const struct lane *lane = lanes->planes >= 0 ? &lanes->items[lanes->planes] : NULL;

    *smear = (struct smear){0};
    if (lane == NULL || !lane->is_mapped || lane->spec.on_board == NULL ||
        lane->spec.kind != SPEC_AXIS || !dtype_is_number(&lane->array->header.dtype))
        return 0;
    smear->first_row = malloc((lane->spec.n_planes + 1) * sizeof *smear->first_row);
    smear->has_empty = calloc(lane->spec.n_planes + 1, 1);
    if (smear->first_row == NULL || smear->has_empty == NULL)
        return error_no_memory(err, "planes");
    smear->n_planes = lane->spec.n_planes;
    for (uint64_t p = 0; p < smear->n_planes; p++)
        smear->first_row[p] = FINDING_NO_ROW;
    return 0;
}

struct plane_content {
    bool on, off, constant;
};

static struct plane_content look(const struct lane *lane, const uint8_t *plane, size_t stride)
{
    const struct dtype *dtype = &lane->array->header.dtype;
    const uint8_t *on_board = lane->spec.on_board;
    struct plane_content content = {.constant = true};

    for (uint64_t i = 0; i < lane->spec.axis; i++) {
        const uint8_t *element = plane + i * stride;
        const bool filled = !numbers_is_zero(dtype, element);

        content.on |= filled && on_board[i];
        content.off |= filled && !on_board[i];
        content.constant = content.constant && memcmp(element, plane, dtype->itemsize) == 0;
    }
    return content;
}

/* Planes of zeros tell nothing, and most planes are: their bytes are all zero. */
static bool is_blank(const uint8_t *plane, size_t n_bytes)
{
    return n_bytes == 0 || (plane[0] == 0 && memcmp(plane, plane + 1, n_bytes - 1) == 0);
}

void smear_check_row(struct smear *smear, const struct lanes *lanes, const struct window *window,
                     uint64_t at)
{
    const struct lane *lane = smear->n_planes > 0 ? &lanes->items[lanes->planes] : NULL;

    if (lane == NULL || lane->is_broken)
        return;
    const struct row row = window_row(window, lanes, (size_t)lanes->planes, at);
    const size_t item = row.dtype->itemsize;
    const bool last = lane->spec.channels_last;
    const size_t stride = last ? item * lane->spec.n_planes : item;

    for (uint64_t p = 0; p < smear->n_planes; p++) {
        const uint8_t *plane = row.bytes + (last ? p * item : p * lane->spec.axis * item);
        struct plane_content content;

        if (!last && is_blank(plane, lane->spec.axis * item))
            continue;
        content = look(lane, plane, stride);
        if (content.off && !content.constant && smear->first_row[p] > window->images[at].row)
            smear->first_row[p] = window->images[at].row;
        smear->has_empty[p] |= content.on && !content.off;
    }
}

void smear_merge(struct smear *smear, struct smear *from)
{
    for (uint64_t p = 0; p < from->n_planes; p++) {
        if (from->first_row[p] < smear->first_row[p])
            smear->first_row[p] = from->first_row[p];
        smear->has_empty[p] |= from->has_empty[p];
    }
}

void smear_finish(const struct smear *smear, const struct lanes *lanes, struct findings *findings)
{
    for (uint64_t p = 0; p < smear->n_planes; p++) {
        const struct finding_place place = {FINDING_SMEAR, !smear->has_empty[p],
                                            lanes->items[lanes->planes].array->key,
                                            smear->first_row[p]};

        if (smear->first_row[p] != FINDING_NO_ROW)
            findings_add(findings, &place, "zero", "other", "off-board cells of plane %llu",
                         (unsigned long long)p);
    }
}

void smear_release(struct smear *smear)
{
    free(smear->first_row);
    free(smear->has_empty);
    *smear = (struct smear){0};
}
