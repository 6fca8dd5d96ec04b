/*
 * kernel.c - moving rows by a row_move: planes and dense policies as a gather (kernel_gather.c),
 * indices and coordinates one by one through the scatter map, tiles by their digits, everything
 * else as it is. Labels are computed after the bits have moved, on the one plane or row they are
 * about. An index outside its action space is an error, never clamped.
 */
#include "engine/kernel.h"

#include "engine/kernel_gather.h"

#include <stdlib.h>
#include <string.h>

/* Channels first: planes are gathered cell by cell. Channels last: cells are, channel by channel.
 */
static void gather_elements(const struct row_move *move, const struct move_step *step,
                            const uint8_t *in, uint8_t *out, uint64_t n_rows)
{
    struct gather_rows rows = {.src = step->src,
                               .plane_src = step->plane_src,
                               .n = move->axis,
                               .n_planes = move->outer,
                               .n_rows = n_rows};

    if (!move->channels_last) {
        gather_items(&rows, move->inner * move->dtype.itemsize, in, out);
        return;
    }
    rows.src = step->plane_src;
    rows.plane_src = step->src;
    rows.n = move->inner;
    rows.n_planes = move->axis;
    gather_items(&rows, move->dtype.itemsize, in, out);
}

static void move_bits(const struct row_move *move, const struct move_step *step, const uint8_t *in,
                      uint8_t *out, uint64_t n_rows)
{
    const struct gather_rows rows = {.src = step->src,
                                     .plane_src = step->plane_src,
                                     .n = move->axis,
                                     .n_planes = move->outer,
                                     .n_rows = n_rows,
                                     .lsb_first = move->lsb_first};

    gather_bits(&rows, in, out);
}

/* The label of one channel of cells that hold all their channels. */
static void label_channel(const struct row_move *move, const struct move_step *step, uint8_t *out)
{
    const size_t item = move->dtype.itemsize, cell_nbytes = move->inner * item;
    uint8_t *channel = out + (size_t)step->label_plane * item;
    uint64_t room[64]; /* of elements, aligned for all of them */
    uint64_t n_room = item <= sizeof room ? sizeof room / item : 0;

    for (uint64_t j = 0, n; j < move->axis && n_room > 0; j += n) {
        uint8_t *elements = (uint8_t *)room;

        n = move->axis - j < n_room ? move->axis - j : n_room;
        for (uint64_t k = 0; k < n; k++)
            memcpy(elements + k * item, channel + (j + k) * cell_nbytes, item);
        label_apply(step->label, &move->dtype, elements, elements, n);
        for (uint64_t k = 0; k < n; k++)
            memcpy(channel + (j + k) * cell_nbytes, elements + k * item, item);
    }
}

/* The label of one plane (the to-move plane) or of the whole row, computed from the moved bits. */
static void label_row(const struct row_move *move, const struct move_step *step, uint8_t *out)
{
    const size_t item = move->dtype.itemsize;
    const uint64_t n_plane = move->axis * move->inner;

    if (step->label_plane < 0) {
        label_apply(step->label, &move->dtype, out, out, move->row_nbytes / item);
    } else if (move->channels_last) {
        label_channel(move, step, out);
    } else {
        uint8_t *plane = out + (size_t)step->label_plane * n_plane * item;

        label_apply(step->label, &move->dtype, plane, plane, n_plane);
    }
}

static void move_gather(const struct row_move *move, const struct move_step *step,
                        const uint8_t *in, uint8_t *out, uint64_t n_rows)
{
    gather_elements(move, step, in, out, n_rows);
    for (uint64_t i = 0; step->label != LABEL_KEEP && i < n_rows; i++)
        label_row(move, step, out + i * move->row_nbytes);
}

static int index_out_of_range(int64_t index, uint64_t n, struct error *err)
{
    return error_set(err, ERROR_DATA, "index %lld, expected below %llu", (long long)index,
                     (unsigned long long)n);
}

static int move_one_index(const struct row_move *move, const struct move_step *step,
                          const struct dtype *dtype, const uint8_t *in, uint8_t *out,
                          struct error *err)
{
    int64_t index = dtype_get_int(dtype, in);

    memcpy(out, in, dtype->itemsize);
    if (index < 0)
        return 0;
    if ((uint64_t)index >= move->n_targets)
        return index_out_of_range(index, move->n_targets, err);
    if (step->dst == NULL || step->dst[index] == (uint64_t)index)
        return 0;
    if (dtype_put_int(dtype, step->dst[index], out) != 0)
        return error_set(err, ERROR_DATA, "index %u does not fit the array's %u-byte integers",
                         step->dst[index], dtype->itemsize);
    return 0;
}

int kernel_indices(const struct row_move *move, uint32_t t, const struct dtype *dtype,
                   const void *in, void *out, uint64_t n, struct error *err)
{
    const uint8_t *from = in;
    uint8_t *to = out;

    for (uint64_t i = 0; i < n; i++)
        if (move_one_index(move, &move->steps[t], dtype, from + i * dtype->itemsize,
                           to + i * dtype->itemsize, err) != 0)
            return -1;
    return 0;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* The padding of a row is its trailing run of (index 0, value 0); an interior (0, 0) is real. */
static uint64_t unpadded_length(const struct row_move *move, const uint8_t *in,
                                const uint8_t *values)
{
    const size_t item = move->dtype.itemsize, value_item = move->value_dtype.itemsize;
    uint64_t n = move->row_nbytes / item;

    while (n > 0 && is_zero(in + (n - 1) * item, item) &&
           dtype_get_double(&move->value_dtype, values + (n - 1) * value_item) == 0)
        n--;
    return n;
}

static int move_padded(const struct row_move *move, uint32_t t, const uint8_t *in,
                       const uint8_t *values, uint8_t *out, struct error *err)
{
    uint64_t n = unpadded_length(move, in, values);

    memcpy(out, in, move->row_nbytes);
    return kernel_indices(move, t, &move->dtype, in, out, n, err);
}

static int move_coords(const struct row_move *move, const struct move_step *step, const uint8_t *in,
                       uint8_t *out, struct error *err)
{
    const size_t item = move->dtype.itemsize;
    const int64_t rows = (int64_t)(move->n_targets / move->cols), cols = move->cols;

    memcpy(out, in, move->row_nbytes);
    for (uint64_t at = 0; at + 2 * item <= move->row_nbytes; at += 2 * item) {
        int64_t first = dtype_get_int(&move->dtype, in + at);
        int64_t second = dtype_get_int(&move->dtype, in + at + item);
        int64_t row = move->col_first ? second : first, col = move->col_first ? first : second;
        uint32_t to;

        if (row < 0 && col < 0)
            continue;
        if (row < 0 || col < 0 || row >= rows || col >= cols)
            return error_set(err, ERROR_DATA,
                             "coordinate (%lld, %lld), expected rows 0-%lld and columns 0-%lld, "
                             "or (-1, -1)",
                             (long long)first, (long long)second, (long long)rows - 1,
                             (long long)cols - 1);
        to = step->dst != NULL ? step->dst[row * cols + col] : (uint32_t)(row * cols + col);
        row = to / cols;
        col = to % cols;
        dtype_put_int(&move->dtype, move->col_first ? col : row, out + at);
        dtype_put_int(&move->dtype, move->col_first ? row : col, out + at + item);
    }
    return 0;
}

/* A code 100a + 10b + c with its digits permuted; 0 is an empty cell. */
static int permute_code(const struct row_move *move, const struct move_step *step, uint8_t *element,
                        struct error *err)
{
    int64_t code = dtype_get_int(&move->dtype, element);
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
    if (dtype_put_int(&move->dtype, code, element) != 0)
        return error_set(err, ERROR_DATA, "tile code %lld does not fit the array's type",
                         (long long)code);
    return 0;
}

static int move_codes(const struct row_move *move, const struct move_step *step, const uint8_t *in,
                      uint8_t *out, struct error *err)
{
    const size_t item = move->dtype.itemsize;

    move_gather(move, step, in, out, 1);
    for (uint64_t at = 0; at < move->row_nbytes; at += item)
        if (permute_code(move, step, out + at, err) != 0)
            return -1;
    return 0;
}

static void move_numbers(const struct row_move *move, const struct move_step *step,
                         const uint8_t *in, uint8_t *out)
{
    const size_t item = move->dtype.itemsize;

    for (size_t k = 0; k < 3; k++)
        memcpy(out + k * item, in + step->number_src[k] * item, item);
}

/* One row of a kind that may fail, or that has nothing to share between rows. */
static int move_row(const struct row_move *move, uint32_t t, const uint8_t *in,
                    const uint8_t *values, uint8_t *out, struct error *err)
{
    const struct move_step *step = &move->steps[t];

    switch (move->kind) {
    case MOVE_COPY:
        label_apply(step->label, &move->dtype, in, out, move->row_nbytes / move->dtype.itemsize);
        return 0;
    case MOVE_INDEX:
        return kernel_indices(move, t, &move->dtype, in, out,
                              move->row_nbytes / move->dtype.itemsize, err);
    case MOVE_PADDED:
        return move_padded(move, t, in, values, out, err);
    case MOVE_COORD:
        return move_coords(move, step, in, out, err);
    case MOVE_NUMBERS:
        move_numbers(move, step, in, out);
        return 0;
    case MOVE_CODES:
        return move_codes(move, step, in, out, err);
    default:
        return error_set(err, ERROR_INTERNAL, "unknown kind of move");
    }
}

int kernel_rows(const struct row_move *move, uint32_t t, const void *in, const void *values,
                void *out, uint64_t n, uint64_t *failed, struct error *err)
{
    const struct move_step *step = &move->steps[t];
    const uint8_t *from = in, *value = values;
    uint8_t *to = out;

    if (move->kind == MOVE_GATHER) {
        move_gather(move, step, from, to, n);
        return 0;
    }
    if (move->kind == MOVE_BITS) {
        move_bits(move, step, from, to, n);
        return 0;
    }
    if (move->kind == MOVE_COPY && step->label == LABEL_KEEP) {
        memcpy(to, from, n * move->row_nbytes);
        return 0;
    }
    for (*failed = 0; *failed < n; ++*failed) {
        if (move_row(move, t, from, value, to, err) != 0)
            return -1;
        from += move->row_nbytes;
        to += move->row_nbytes;
        if (value != NULL)
            value += move->value_row_nbytes;
    }
    return 0;
}

int kernel_row(const struct row_move *move, uint32_t t, const void *in, const void *values,
               void *out, struct error *err)
{
    uint64_t failed;

    return kernel_rows(move, t, in, values, out, 1, &failed, err);
}

void row_move_release(struct row_move *move)
{
    free(move->steps);
    free(move->axis_maps);
    free(move->plane_maps);
    *move = (struct row_move){0};
}
