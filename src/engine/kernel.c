/*
 * kernel.c - moving rows by a spec: planes and dense policies by a gather (kernel_gather.c),
 * indices and coordinates one by one through the scatter map, tiles by their digits, everything
 * else unchanged. Labels are computed after the bits have moved, on the plane or row they belong
 * to. An index outside its action space is an error, never clamped.
 */
#include "engine/kernel.h"

/* --- planes --- */

/* Sources of one tile: half of a first-level cache of 48 KiB. */
#define TILE_NBYTES 24576u

/* memcpy for the few bytes of a cell, for which a call would cost more than the copy: of a constant
 * number of bytes it is no call, and two of them may overlap. */
static inline void copy_cell(uint8_t *out, const uint8_t *in, size_t n)
{
    if (n > 64) {
        memcpy(out, in, n);
    } else if (n >= 16) {
        for (size_t i = 0; i + 16 < n; i += 16)
            memcpy(out + i, in + i, 16);
        memcpy(out + n - 16, in + n - 16, 16);
    } else if (n >= 8) {
        memcpy(out, in, 8);
        memcpy(out + n - 8, in + n - 8, 8);
    } else if (n >= 4) {
        memcpy(out, in, 4);
        memcpy(out + n - 4, in + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            out[i] = in[i];
    }
}

/* Planes that keep their cells. */
static void copy_planes(const struct gather_tile *tile)
{
    for (size_t p = 0; p < tile->n_planes; p++)
        copy_cell(tile->out + p * tile->plane_nbytes, tile->from[p], tile->plane_nbytes);
}

/* Elements of other sizes than the kernels': opaque bytes, long strings. */
static void move_groups(const struct gather_tile *tile)
{
    const size_t item_nbytes = tile->plane_nbytes / tile->n;
    uint8_t *out = tile->out;

    for (size_t p = 0; p < tile->n_planes; p++)
        for (size_t j = 0; j < tile->n; j++, out += item_nbytes)
            copy_cell(out, tile->from[p] + tile->src[j] * item_nbytes, item_nbytes);
}

/* Channels first: planes are gathered cell by cell. Channels last: cells are gathered channel by
 * channel, each frame as if it were a row. The pad bits of packed planes become 0. */
static void gather_elements(const struct spec *spec, const struct spec_step *step,
                            const uint8_t *in, uint8_t *out, uint64_t n_rows)
{
    static const enum gather_width widths[9] = {
        [1] = GATHER_8, [2] = GATHER_16, [4] = GATHER_32, [8] = GATHER_64};
    const bool last = spec->channels_last, is_bits = spec->kind == SPEC_BITS;
    const size_t item = (last ? 1 : spec->inner) * spec->dtype.itemsize;
    const bool is_width = item == 1 || item == 2 || item == 4 || item == 8;
    const uint32_t *plane_src = last ? step->src : step->plane_src;
    struct gather_tile tile = {.src = last ? step->plane_src : step->src,
                               .dst = last ? step->plane_dst : step->dst,
                               .n = last ? spec->inner : spec->axis,
                               .out = out,
                               .lsb_first = spec->lsb_first};
    const uint64_t n_planes = last ? spec->axis : spec->outer;
    const uint64_t n = n_rows * (last ? spec->outer : 1) * n_planes;
    const size_t plane_nbytes = is_bits ? (tile.n + 7) / 8 : tile.n * item;
    const size_t n_pad = is_bits ? 8 * plane_nbytes - tile.n : 0;
    const unsigned kept = tile.lsb_first ? 0xffu >> n_pad : 0xffu << n_pad;
    const bool stay = (tile.src == NULL && plane_src == NULL) || plane_nbytes == 0;
    const size_t most = smaller(TILE_NBYTES / (plane_nbytes + 1) + 1, GATHER_TILE_PLANES);
    gather_fn *move = tile.src == NULL ? copy_planes
                      : is_bits || is_width
                          ? gather_kernels_best()->move[is_bits ? GATHER_BITS : widths[item]]
                          : move_groups;

    if (stay)
        memcpy(out, in, n * plane_nbytes);
    tile.plane_nbytes = plane_nbytes;
    for (uint64_t p = 0, at = 0; p < n && !stay; p += tile.n_planes) {
        tile.n_planes = smaller(n - p, most);
        for (size_t i = 0; i < tile.n_planes; i++) {
            tile.from[i] = in + (plane_src != NULL ? plane_src[at] : at) * plane_nbytes;
            if (++at == n_planes) {
                at = 0;
                in += n_planes * plane_nbytes;
            }
        }
        move(&tile);
        tile.out += tile.n_planes * plane_nbytes;
    }
    for (uint64_t p = 0; n_pad > 0 && tile.src == NULL && p < n; p++)
        out[p * plane_nbytes + plane_nbytes - 1] &= (uint8_t)kept;
}

/* --- rows by a spec --- */

static void label_plane(const struct spec *spec, enum label_op label, uint8_t *plane)
{
    const size_t item = spec->dtype.itemsize, cell_nbytes = spec->inner * item;
    uint64_t room[64]; /* of elements, aligned for all of them */
    const uint64_t n_room = sizeof room / item;

    if (!spec->channels_last) {
        label_apply(label, &spec->dtype, plane, plane, spec->axis * spec->inner);
        return;
    }
    for (uint64_t j = 0, n; j < spec->axis; j += n) {
        uint8_t *elements = (uint8_t *)room;

        n = spec->axis - j < n_room ? spec->axis - j : n_room;
        for (uint64_t k = 0; k < n; k++)
            memcpy(elements + k * item, plane + (j + k) * cell_nbytes, item);
        label_apply(label, &spec->dtype, elements, elements, n);
        for (uint64_t k = 0; k < n; k++)
            memcpy(plane + (j + k) * cell_nbytes, elements + k * item, item);
    }
}

/* Gather, then compute labels from the moved bits: in the to-move plane of each frame, or in the
 * whole row. */
static void move_gather(const struct spec *spec, const struct spec_step *step, const uint8_t *in,
                        uint8_t *out, uint64_t n_rows)
{
    const size_t item = spec->dtype.itemsize;
    const uint64_t n_frames = spec->frame_planes > 0 ? spec->n_planes / spec->frame_planes : 1;

    gather_elements(spec, step, in, out, n_rows);
    for (uint64_t i = 0; step->label != LABEL_KEEP && i < n_rows; i++, out += spec->row_nbytes) {
        if (step->label_plane < 0)
            label_apply(step->label, &spec->dtype, out, out, spec->row_nbytes / item);
        for (uint64_t f = 0; step->label_plane >= 0 && f < n_frames; f++) {
            const uint64_t p = f * spec->frame_planes + (uint64_t)step->label_plane;

            label_plane(spec, step->label, out + spec_plane_at(spec, p) * item);
        }
    }
}

int kernel_indices(const struct spec *spec, uint32_t t, const struct dtype *dtype, const void *in,
                   void *out, uint64_t n, struct error *err)
{
    const uint32_t *dst = spec->steps[t].dst;
    const size_t item = dtype->itemsize;

    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *from = (const uint8_t *)in + i * item;
        uint8_t *to = (uint8_t *)out + i * item;
        const int64_t index = dtype_get_int(dtype, from);

        memcpy(to, from, item);
        if (index < 0)
            continue;
        if ((uint64_t)index >= spec->n_targets)
            return error_set(err, ERROR_DATA, "index %lld, expected below %llu%s", (long long)index,
                             (unsigned long long)spec->n_targets,
                             spec->board != NULL && (uint64_t)index < spec->board->n_cells
                                 ? " (if it numbers cells, its role is action:layout=cells)"
                                 : "");
        if (dst != NULL && dst[index] != (uint64_t)index &&
            dtype_put_int(dtype, dst[index], to) != 0)
            return error_set(err, ERROR_DATA, "index %u does not fit the array's %u-byte integers",
                             dst[index], dtype->itemsize);
    }
    return 0;
}

/* Indices, or pairs of an index and a count. The trailing zeros of a row of pairs, or of one with
 * values beside it, are padding; a (0, 0) before them is real. */
static int move_list(const struct spec *spec, uint32_t t, const uint8_t *in, const uint8_t *values,
                     uint8_t *out, struct error *err)
{
    const size_t step = (spec->pairs ? 2 : 1) * (size_t)spec->dtype.itemsize;
    const size_t value_item = spec->value_dtype.itemsize;
    const bool is_padded = spec->kind == SPEC_PADDED;
    uint64_t n = spec->row_nbytes / step;

    if (n == 0) /* lists without room: the pointers may be NULL */
        return 0;
    memcpy(out, in, spec->row_nbytes);
    while ((is_padded || spec->pairs) && n > 0 && bytes_are_zero(in + (n - 1) * step, step) &&
           (!is_padded || dtype_get_double(&spec->value_dtype, values + (n - 1) * value_item) == 0))
        n--;
    if (!spec->pairs)
        return kernel_indices(spec, t, &spec->dtype, in, out, n, err);
    for (uint64_t at = 0; at < n * step; at += step)
        if (kernel_indices(spec, t, &spec->dtype, in + at, out + at, 1, err) != 0)
            return -1;
    return 0;
}

static int move_coords(const struct spec *spec, const struct spec_step *step, const uint8_t *in,
                       uint8_t *out, struct error *err)
{
    const size_t item = spec->dtype.itemsize;
    const int64_t rows = (int64_t)(spec->n_targets / spec->cols), cols = spec->cols;

    memcpy(out, in, spec->row_nbytes);
    for (uint64_t at = 0; at + 2 * item <= spec->row_nbytes; at += 2 * item) {
        int64_t first = dtype_get_int(&spec->dtype, in + at);
        int64_t second = dtype_get_int(&spec->dtype, in + at + item);
        int64_t row = spec->col_first ? second : first, col = spec->col_first ? first : second;

        if (row < 0 && col < 0)
            continue;
        if (row < 0 || col < 0 || row >= rows || col >= cols)
            return error_set(err, ERROR_DATA,
                             "coordinate (%lld, %lld), expected rows 0-%lld and columns 0-%lld, "
                             "or (-1, -1)",
                             (long long)first, (long long)second, (long long)rows - 1,
                             (long long)cols - 1);
        const uint32_t to =
            step->dst != NULL ? step->dst[row * cols + col] : (uint32_t)(row * cols + col);
        row = to / cols;
        col = to % cols;
        first = spec->col_first ? col : row;
        second = spec->col_first ? row : col;
        if (dtype_put_int(&spec->dtype, first, out + at) != 0 ||
            dtype_put_int(&spec->dtype, second, out + at + item) != 0)
            return error_set(
                err, ERROR_DATA,
                "coordinate (%lld, %lld) of the image does not fit the array's %u-byte integers",
                (long long)first, (long long)second, spec->dtype.itemsize);
    }
    return 0;
}

/* Permute the digits of a code 100a + 10b + c; 0 is an empty cell. */
static int permute_code(const struct spec *spec, const struct spec_step *step, uint8_t *element,
                        struct error *err)
{
    int64_t code = dtype_get_int(&spec->dtype, element);
    const int64_t digits[3] = {code / 100, code / 10 % 10, code % 10};

    if (code == 0)
        return 0;
    if (code < 0 || code > 999 || digits[0] == 0 || digits[1] == 0 || digits[2] == 0)
        return error_set(err, ERROR_DATA,
                         "tile code %lld, expected 0 or 100a+10b+c with numbers from 1 to 9 (ids "
                         "of tiles cannot be permuted)",
                         (long long)code);
    code = 100 * digits[step->number_src[0]] + 10 * digits[step->number_src[1]] +
           digits[step->number_src[2]];
    if (dtype_put_int(&spec->dtype, code, element) != 0)
        return error_set(err, ERROR_DATA, "tile code %lld does not fit the array's type",
                         (long long)code);
    return 0;
}

/* One row of a kind that may fail, or whose rows share no preparation. */
static int move_row(const struct spec *spec, uint32_t t, const uint8_t *in, const uint8_t *values,
                    uint8_t *out, struct error *err)
{
    const struct spec_step *step = &spec->steps[t];
    const size_t item = spec->dtype.itemsize;

    switch (spec->kind) {
    case SPEC_KEEP:
        label_apply(step->label, &spec->dtype, in, out, spec->row_nbytes / item);
        return 0;
    case SPEC_INDICES:
    case SPEC_PADDED:
        return move_list(spec, t, in, values, out, err);
    case SPEC_COORD:
        return move_coords(spec, step, in, out, err);
    case SPEC_TRIPLE:
        for (size_t k = 0; k < 3; k++)
            memcpy(out + k * item, in + step->number_src[k] * item, item);
        return 0;
    case SPEC_AXIS: /* of codes */
        move_gather(spec, step, in, out, 1);
        for (uint64_t at = 0; at < spec->row_nbytes; at += item)
            if (permute_code(spec, step, out + at, err) != 0)
                return -1;
        return 0;
    default:
        return error_set(err, ERROR_INTERNAL, "unknown kind of move");
    }
}

int kernel_rows(const struct spec *spec, uint32_t t, const void *in, const void *values, void *out,
                uint64_t n, uint64_t *failed, struct error *err)
{
    const struct spec_step *step = &spec->steps[t];
    const uint8_t *from = in, *value = values;
    uint8_t *to = out;

    if (spec->kind == SPEC_BITS || (spec->kind == SPEC_AXIS && !spec->codes)) {
        move_gather(spec, step, from, to, n);
        return 0;
    }
    if (n * spec->row_nbytes == 0)
        return 0;
    if (spec->kind == SPEC_KEEP && step->label == LABEL_KEEP) {
        memcpy(to, from, n * spec->row_nbytes);
        return 0;
    }
    /* Rows of plain indices are one long list; if one is refused, the loop finds its row. */
    if (spec->kind == SPEC_INDICES && !spec->pairs &&
        kernel_indices(spec, t, &spec->dtype, from, to, n * spec->row_nbytes / spec->dtype.itemsize,
                       err) == 0)
        return 0;
    for (*failed = 0; *failed < n; ++*failed) {
        if (move_row(spec, t, from, value, to, err) != 0)
            return -1;
        from += spec->row_nbytes;
        to += spec->row_nbytes;
        if (value != NULL)
            value += spec->value_row_nbytes;
    }
    return 0;
}

int kernel_row(const struct spec *spec, uint32_t t, const void *in, const void *values, void *out,
               struct error *err)
{
    uint64_t failed;

    return kernel_rows(spec, t, in, values, out, 1, &failed, err);
}
