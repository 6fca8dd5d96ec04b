/*
 * planes.c - rows of planes, packed or not, of one position or of a history: their stones, their
 * numbers, and what --planes makes of them.
 */
#include "shard/planes.h"

struct planes_form planes_form_of(const struct role_binding *binding, const struct dtype *dtype)
{
    const struct role_axes *axes = &binding->axes;

    return (struct planes_form){.dtype = dtype,
                                .n_planes = axes->outer * axes->inner,
                                .axis = axes->axis,
                                .n_last = axes->inner > 1 ? axes->inner : 1,
                                .is_bits = binding->role == ROLE_PACKED,
                                .lsb_first = binding->options & ROLE_LSB,
                                .is_codes = binding->role == ROLE_GRID,
                                .n_frames = 1};
}

struct planes_form planes_frame_of(const struct role_binding *binding, const struct dtype *dtype)
{
    struct planes_form form = planes_form_of(binding, dtype);
    if (binding->frame_planes == 0)
        return form;
    form.n_frames = form.n_planes / binding->frame_planes;
    form.n_planes = binding->frame_planes;
    form.frame_nbytes = form.n_planes * dtype->itemsize; /* on each cell, or of whole planes */
    if (form.is_bits)
        form.frame_nbytes = form.n_planes * ((form.axis + 7) / 8);
    else if (form.n_last <= form.n_planes)
        form.frame_nbytes *= form.axis;
    return form;
}

/* Several cells at a time, in vectors that compilers translate for any machine. */
#define N_LANES 4
typedef int32_t lanes __attribute__((vector_size(N_LANES * sizeof(int32_t))));
typedef int8_t byte_lanes __attribute__((vector_size(N_LANES)));

uint64_t planes_mark(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     uint8_t bit, uint8_t *marks)
{
    const struct dtype *dtype = form->dtype;
    const bool is_float = dtype->kind == DTYPE_FLOAT && dtype->itemsize == 4 && !dtype->big_endian;
    const bool is_byte = dtype->itemsize == 1, is_read = form->is_bits || !(is_byte || is_float);
    const uint64_t axis = form->axis, step = form->n_last;
    const uint8_t *at = row + planes_index(form, plane, 0) * dtype->itemsize;
    lanes counts = {0};
    uint64_t n = 0, cell = 0;

    for (; is_float && step == 1 && cell + N_LANES <= axis; cell += N_LANES) {
        lanes bits;
        byte_lanes marked;

        memcpy(&bits, at + 4 * cell, sizeof bits);
        bits &= 0x7fffffff;
        bits = (bits > 0) & (bits < 0x7f800000); /* neither zero nor beyond the numbers: -1 */
        counts -= bits;
        if (marks == NULL)
            continue;
        memcpy(&marked, marks + cell, sizeof marked);
        marked |= __builtin_convertvector(bits, byte_lanes) & (int8_t)bit;
        memcpy(marks + cell, &marked, sizeof marked);
    }
    for (int i = 0; i < N_LANES; i++)
        n += (uint32_t)counts[i];
    for (; cell < axis; cell++) {
        bool is_stone;

        if (is_read)
            is_stone = planes_has_stone(form, row, plane, cell);
        else if (is_byte)
            is_stone = at[cell * step] != 0;
        else /* the same */
            is_stone = (bytes_get_le32(at + 4 * cell * step) & 0x7fffffff) - 1 < 0x7f7fffff;
        if (marks != NULL)
            marks[cell] |= is_stone ? bit : 0;
        n += is_stone;
    }
    return n;
}

bool planes_is_level(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     double found[2])
{
    const size_t item = form->dtype->itemsize;
    const uint8_t *first = row + planes_index(form, plane, 0) * item;

    found[0] = found[1] = planes_number(form, row, plane, 0);
    if (form->n_last == 1 && !form->is_bits &&
        memcmp(first, first + item, (form->axis - 1) * item) == 0)
        return true;
    for (uint64_t cell = 1; cell < form->axis && found[1] == found[0]; cell++)
        found[1] = planes_number(form, row, plane, cell);
    return found[1] == found[0];
}

bool planes_have_rights(const struct planes_form *form, const struct board *board,
                        const struct conventions *c, const uint8_t *row)
{
    const uint32_t *planes =
        c->n_castling_planes > 0 ? c->castling_planes : board->family->castling->planes;

    for (uint64_t i = 0; i < 4 * form->n_frames && c->n_castling_planes >= 0; i++)
        for (uint64_t cell = 0; cell < form->axis && planes[i % 4] < form->n_planes; cell++)
            if (planes_number(form, row + i / 4 * form->frame_nbytes, planes[i % 4], cell) != 0)
                return true;
    return false;
}

void planes_decide(struct planes_form *form, const struct conventions *c, bool is_hex)
{
    const uint64_t n_planes = form->n_planes;

    form->stones[0] = 0;
    form->stones[1] = 1;
    form->turn = is_hex && c->planes <= PLANES_MOVER && n_planes == 3 ? 2 : -1;
    form->is_mover = c->planes == PLANES_MOVER;
    form->coding = c->plane_coding;
    if (!is_hex || c->planes != PLANES_PERMUTATION || c->n_planes != n_planes)
        return;
    for (uint32_t p = 0; p < n_planes; p++)
        if (c->to_move_plane >= 0 && c->plane_dst[p] == c->to_move_plane)
            form->turn = (int)p;
    for (uint32_t p = 0; p < n_planes; p++)
        if (c->plane_dst[p] > p && c->plane_dst[c->plane_dst[p]] == p && form->turn != (int)p &&
            form->turn != c->plane_dst[p]) {
            form->stones[0] = p;
            form->stones[1] = c->plane_dst[p];
            return;
        }
    /* No two are exchanged: the mover's and the other's are the first two besides that plane. */
    form->is_mover = true;
    form->stones[0] = form->turn == 0 && n_planes > 1;
    const uint64_t next = form->stones[0] + 1 + (form->turn == (int)form->stones[0] + 1);
    form->stones[1] = next < n_planes ? next : form->stones[0];
}

/* True when a plane holds 1 and -1, and 0 elsewhere. */
static bool is_signed(const struct planes_form *form, const uint8_t *frame)
{
    unsigned found = 0;

    for (uint64_t cell = 0; cell < form->axis; cell++) {
        const double v = planes_number(form, frame, 0, cell);

        found |= v == 0 ? 0 : v == 1 ? 1 : v == -1 ? 2 : 4;
    }
    return found == 3;
}

void planes_count_stones(const struct planes_form *form, const uint8_t *frame, uint64_t n[2],
                         uint8_t *marks)
{
    if (marks != NULL)
        memset(marks, 0, form->axis);
    n[0] = n[1] = 0;
    if (form->n_planes == 1 && !form->is_codes && !is_signed(form, frame))
        return;
    for (int i = 0; i < (form->n_planes > 1 ? 2 : 1); i++)
        n[i] = planes_mark(form, frame, form->stones[i], (uint8_t)(i + 1), marks);
}
