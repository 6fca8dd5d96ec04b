/* canonical.c - see canonical.h. */
#include "verify/canonical.h"

#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

uint32_t canonical_ids(const struct board *board, const struct conventions *conventions,
                       uint8_t ids[BOARD_MAX_TRANSFORMS])
{
    const bool all = board->family->has_tiles && conventions->tiles == TILES_PERMUTE;
    uint32_t n = 0;

    for (uint32_t t = 0; t < board->n_transforms; t++) {
        if (conventions->planes == PLANES_CANONICAL && board->transforms[t].swaps_colours)
            continue;
        if (all || memchr(board->default_ids, (int)t, board->n_default_ids) != NULL)
            ids[n++] = (uint8_t)t;
    }
    return n;
}

int canonical_init(struct canonical *canonical, const struct lane *lane,
                   const struct conventions *conventions, struct error *err)
{
    const struct orbit_map *map = &lane->map;

    *canonical = (struct canonical){.lane = lane, .board = map->board};
    canonical->n_ids = canonical_ids(map->board, conventions, canonical->ids);
    canonical->cells = malloc((map->axis + 1) * sizeof *canonical->cells);
    if (canonical->cells == NULL)
        return error_no_memory(err, "canonical positions");
    for (uint32_t i = 0; i < map->axis; i++)
        if (map->on_board == NULL || map->on_board[i])
            canonical->cells[canonical->n_cells++] = i;
    canonical->form_nbytes = map->n_planes * map->axis *
                             (map->kind == ORBIT_BITS ? 1 : lane->array->header.dtype.itemsize);
    return 0;
}

void canonical_release(struct canonical *canonical)
{
    free(canonical->cells);
    *canonical = (struct canonical){0};
}

int canonical_room_init(struct canonical_room *room, const struct canonical *canonical,
                        struct error *err)
{
    room->least = malloc(canonical->form_nbytes + 1);
    room->other = malloc(canonical->form_nbytes + 1);
    return room->least != NULL && room->other != NULL ? 0
                                                      : error_no_memory(err, "canonical position");
}

void canonical_room_release(struct canonical_room *room)
{
    free(room->least);
    free(room->other);
    *room = (struct canonical_room){0};
}

/* A tile's code with its digits permuted; 0 and what is no code stay. */
static void put_code(const struct dtype *dtype, const uint8_t number_src[3], const uint8_t *from,
                     uint8_t *to)
{
    const int64_t code = dtype_get_int(dtype, from);
    const int64_t digits[3] = {code / 100, code / 10 % 10, code % 10};

    memcpy(to, from, dtype->itemsize);
    if (code > 0 && code <= 999)
        dtype_put_int(
            dtype, 100 * digits[number_src[0]] + 10 * digits[number_src[1]] + digits[number_src[2]],
            to);
}

/* An element as the image has it: copied, or the other player's, or with codes swapped. */
static void put_element(const struct lane *lane, enum orbit_flip flip, const uint8_t *from,
                        uint8_t *to)
{
    static const uint64_t ones[9] = {[2] = 0x3c00, [4] = 0x3f800000, [8] = 0x3ff0000000000000};
    static const uint64_t twos[9] = {[2] = 0x4000, [4] = 0x40000000, [8] = 0x4000000000000000};
    const struct dtype *dtype = &lane->array->header.dtype;
    double v;

    memcpy(to, from, dtype->itemsize);
    if (flip == FLIP_NONE || !dtype_is_number(dtype))
        return;
    /* Only equality of forms matters: codes are written as whole numbers, others stay. */
    v = dtype_get_double(dtype, from);
    if (flip == FLIP_COMPLEMENT)
        v = 1 - v;
    else if (flip == FLIP_NEGATE)
        v = -v;
    else
        v = v == 1 ? 2 : v == 2 ? 1 : v;
    if (dtype->kind != DTYPE_FLOAT)
        dtype_put_int(dtype, (int64_t)v, to);
    else if (v == 0 || v == 1 || v == 2 || v == -1)
        bytes_put_uint(to,
                       v == 0 ? 0
                       : v == 2
                           ? twos[dtype->itemsize]
                           : ones[dtype->itemsize] | (uint64_t)(v < 0) << (8 * dtype->itemsize - 1),
                       dtype->itemsize, dtype->big_endian);
}

/* One plane whose elements lie side by side. */
#define DEFINE_SCATTER(bits)                                                          \
    static void scatter##bits(const struct canonical *canonical, const uint32_t *dst, \
                              const uint##bits##_t *plane, uint##bits##_t *form)      \
    {                                                                                 \
        for (uint64_t k = 0; k < canonical->n_cells; k++)                             \
            form[dst[canonical->cells[k]]] = plane[canonical->cells[k]];              \
    }

DEFINE_SCATTER(8)
DEFINE_SCATTER(16)
DEFINE_SCATTER(32)
DEFINE_SCATTER(64)

static void scatter(const struct canonical *canonical, const uint32_t *dst, const void *plane,
                    void *form, size_t item)
{
    const uint8_t *from = plane;
    uint8_t *to = form;

    switch (item) {
    case 1:
        scatter8(canonical, dst, plane, form);
        break;
    case 2:
        scatter16(canonical, dst, plane, form);
        break;
    case 4:
        scatter32(canonical, dst, plane, form);
        break;
    case 8:
        scatter64(canonical, dst, plane, form);
        break;
    default:
        for (uint64_t k = 0; k < canonical->n_cells; k++)
            memcpy(to + dst[canonical->cells[k]] * item, from + canonical->cells[k] * item, item);
    }
}

static void form_bits(const struct canonical *canonical, uint32_t t, const uint8_t *row,
                      uint8_t *form)
{
    const struct orbit_map *map = &canonical->lane->map;
    const uint64_t n_bytes = (map->axis + 7) / 8;

    for (uint64_t p = 0; p < map->n_planes; p++) {
        const uint64_t to = map->plane_dst != NULL ? map->plane_dst[t * map->n_planes + p] : p;
        const uint8_t *plane = row + p * n_bytes;

        for (uint64_t k = 0; k < canonical->n_cells; k++) {
            const uint32_t i = canonical->cells[k], j = map->dst[t][i];

            form[to * map->axis + j] = plane[i >> 3] >> (map->lsb_first ? i & 7 : 7 - (i & 7)) & 1;
        }
    }
}

/* Forms have the planes first, over the whole axis; what is off board is left out by zeros. */
void canonical_form(const struct canonical *canonical, uint32_t t, const uint8_t *row,
                    uint8_t *form)
{
    const struct orbit_map *map = &canonical->lane->map;
    const size_t item = canonical->lane->array->header.dtype.itemsize;
    const enum orbit_flip flip =
        canonical->board->transforms[t].swaps_colours ? map->flip : FLIP_NONE;
    const uint64_t cell_step = map->channels_last ? map->n_planes : 1;
    const uint64_t plane_step = map->channels_last ? 1 : map->axis;

    if (map->kind == ORBIT_BITS) {
        form_bits(canonical, t, row, form);
        return;
    }
    for (uint64_t p = 0; p < map->n_planes; p++) {
        const uint64_t to = map->plane_dst != NULL ? map->plane_dst[t * map->n_planes + p] : p;
        const bool complement = map->complement != NULL && map->complement[t] >= 0 &&
                                (uint64_t)map->complement[t] == to;

        if (!complement && flip == FLIP_NONE && !map->channels_last && !map->codes) {
            scatter(canonical, map->dst[t], row + p * plane_step * item,
                    form + to * map->axis * item, item);
            continue;
        }
        for (uint64_t k = 0; k < canonical->n_cells; k++) {
            const uint32_t i = canonical->cells[k];
            const uint8_t *from = row + (p * plane_step + i * cell_step) * item;
            uint8_t *at = form + (to * map->axis + map->dst[t][i]) * item;

            if (map->codes)
                put_code(&canonical->lane->array->header.dtype,
                         canonical->board->transforms[t].number_src, from, at);
            else
                put_element(canonical->lane, complement ? map->turn_flip : flip, from, at);
        }
    }
}

uint64_t canonical_hash(const struct canonical *canonical, const uint8_t *row,
                        struct canonical_room *room)
{
    memset(room->least, 0, canonical->form_nbytes);
    memset(room->other, 0, canonical->form_nbytes);
    for (uint32_t k = 0; k < canonical->n_ids; k++) {
        uint8_t *to = k == 0 ? room->least : room->other;

        canonical_form(canonical, canonical->ids[k], row, to);
        if (k > 0 && memcmp(to, room->least, canonical->form_nbytes) < 0) {
            room->other = room->least;
            room->least = to;
        }
    }
    return XXH3_64bits(room->least, canonical->form_nbytes);
}
