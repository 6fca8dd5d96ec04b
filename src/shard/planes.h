/*
 * planes.h - how planes are laid out in a row, which of them hold the stones of the players, and
 * where their stones are.
 */
#pragma once

#include "shard/role.h"

#include <math.h>

static inline unsigned plane_bit(const uint8_t *plane, uint64_t i, bool lsb_first)
{
    return plane[i >> 3] >> (lsb_first ? i & 7 : 7 - (i & 7)) & 1;
}

/* The padding bits in the last byte of a plane of n bits. */
static inline unsigned plane_pad_bits(const uint8_t *plane, uint64_t n, bool lsb_first)
{
    const unsigned n_bits = n % 8;

    return n_bits == 0 ? 0 : plane[n / 8] & (lsb_first ? 0xffu << n_bits : 0xffu >> n_bits);
}

/* How planes are laid out in a row, which of them hold stones, and which names the player to move.
 */
struct planes_form {
    const struct dtype *dtype;       /* borrowed: of numbers */
    uint64_t n_planes, axis;         /* axis: cells of a plane */
    uint64_t n_last;                 /* planes that are interleaved cell by cell; 1: none */
    bool is_bits, lsb_first;         /* of packed planes */
    bool is_codes;                   /* of a grid: each says what stands on its cell */
    uint64_t n_frames, frame_nbytes; /* frames of a row, each of which has such planes */

    /* Set by planes_decide. */
    uint64_t stones[2]; /* those with the stones of blue and red, or of the mover and the other */
    bool is_mover;
    int turn;                   /* the one that names the player to move; -1: none, */
    enum to_move_coding coding; /* as this code */
};

/* The layout of a row of planes, packed planes or codes as one frame. */
struct planes_form planes_form_of(const struct role_binding *binding, const struct dtype *dtype);

/* The layout of each of its frames, if it is a history; else the same. */
struct planes_form planes_frame_of(const struct role_binding *binding, const struct dtype *dtype);

/* Which element of a row it is, or bit of packed planes. */
static inline uint64_t planes_index(const struct planes_form *form, uint64_t plane, uint64_t cell)
{
    const uint64_t n = form->n_last;

    if (n == 1)
        return plane * (form->is_bits ? (form->axis + 7) / 8 * 8 : form->axis) + cell;
    return plane / n * n * form->axis + cell * n + plane % n;
}

static inline double planes_number(const struct planes_form *form, const uint8_t *row,
                                   uint64_t plane, uint64_t cell)
{
    const uint64_t at = planes_index(form, plane, cell);

    return form->is_bits ? plane_bit(row, at, form->lsb_first)
                         : dtype_get_double(form->dtype, row + at * form->dtype->itemsize);
}

/* NaN and infinity are not stones. */
static inline bool planes_has_stone(const struct planes_form *form, const uint8_t *row,
                                    uint64_t plane, uint64_t cell)
{
    const double v = planes_number(form, row, plane, cell);

    return v != 0 && isfinite(v);
}

/* Set `bit` in the marks (NULL: none) of all cells where the plane has a stone. Returns the number
 * of stones. */
uint64_t planes_mark(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     uint8_t bit, uint8_t *marks);

/* True when the plane holds one number, found[0], throughout; else found[1] is a different one. */
bool planes_is_level(const struct planes_form *form, const uint8_t *row, uint64_t plane,
                     double found[2]);

/* True when a row of chess planes has castling rights in any of its frames. */
bool planes_have_rights(const struct planes_form *form, const struct board *board,
                        const struct conventions *c, const uint8_t *row);

/* Decide which planes are which: planes 0, 1 and 2, unless --planes says otherwise; the same plane
 * twice if only one is left. Only Hex (is_hex) has a plane for the player to move. */
void planes_decide(struct planes_form *form, const struct conventions *c, bool is_hex);

/* Count the stones of both players in a frame. Where there is only one plane, all count for the
 * first player, and but for codes there are none unless it holds 1, -1 and 0 alone. marks (NULL:
 * none): a byte for each cell, set to 1 for a stone of the first player plus 2 for one of the
 * second. */
void planes_count_stones(const struct planes_form *form, const uint8_t *frame, uint64_t n[2],
                         uint8_t *marks);
