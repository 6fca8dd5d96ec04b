/*
 * kernel_gather.c - the table of gather variants, the variants in plain C, which are the reference
 * of all others, and the way from rows to tiles of planes.
 *
 * Full planes of elements of 16 bits and more have no others: plain loads and stores are as fast as
 * what the instruction sets have for them, or so nearly that it is nothing beside the compression.
 */
#include "engine/kernel.h"

/* --- plain C --- */

/* Planes of equal elements, as there are many, are their own images. Four loads before the first
 * store: the compiler cannot know that a store changes no map. */
#define DEFINE_PLAIN(bits)                                                                    \
    static void plane_##bits(const uint32_t *restrict src, const uint##bits##_t *restrict in, \
                             uint##bits##_t *restrict out, size_t n)                          \
    {                                                                                         \
        size_t j = 0;                                                                         \
                                                                                              \
        for (; j + 4 <= n; j += 4) {                                                          \
            const uint##bits##_t a = in[src[j]], b = in[src[j + 1]];                          \
            const uint##bits##_t c = in[src[j + 2]], d = in[src[j + 3]];                      \
                                                                                              \
            out[j] = a;                                                                       \
            out[j + 1] = b;                                                                   \
            out[j + 2] = c;                                                                   \
            out[j + 3] = d;                                                                   \
        }                                                                                     \
        for (; j < n; j++)                                                                    \
            out[j] = in[src[j]];                                                              \
    }                                                                                         \
                                                                                              \
    void gather_plain_##bits(const struct gather_tile *tile)                                  \
    {                                                                                         \
        uint##bits##_t *out = (uint##bits##_t *)(void *)tile->out;                            \
                                                                                              \
        for (size_t p = 0; p < tile->n_planes; p++, out += tile->n) {                         \
            const uint##bits##_t *in = (const uint##bits##_t *)(const void *)tile->from[p];   \
                                                                                              \
            if (memcmp(in, in + 1, (tile->n - 1) * sizeof *in) == 0)                          \
                memcpy(out, in, tile->n * sizeof *in);                                        \
            else                                                                              \
                plane_##bits(tile->src, in, out, tile->n);                                    \
        }                                                                                     \
    }

DEFINE_PLAIN(8)
DEFINE_PLAIN(16)
DEFINE_PLAIN(32)
DEFINE_PLAIN(64)

void gather_plain_bits(const struct gather_tile *tile)
{
    const size_t n_bytes = (tile->n + 7) / 8;
    const unsigned flip = tile->lsb_first ? 0 : 7;

    for (size_t p = 0; p < tile->n_planes; p++) {
        uint8_t *out = tile->out + p * n_bytes;

        for (size_t b = 0; b < n_bytes; b++) {
            const uint32_t *src = tile->src + 8 * b;
            const size_t end = tile->n - 8 * b < 8 ? tile->n - 8 * b : 8;
            unsigned byte = 0;

            for (size_t k = 0; k < end; k++)
                byte |= ((unsigned)tile->from[p][src[k] >> 3] >> ((src[k] & 7) ^ flip) & 1u)
                        << (k ^ flip);
            out[b] = (uint8_t)byte;
        }
    }
}

/* --- variants --- */

static bool plain_is_supported(void)
{
    return true;
}

#if defined(__x86_64__)
static bool avx2_is_supported(void)
{
    return __builtin_cpu_supports("avx2");
}

static bool vbmi_is_supported(void)
{
    return avx2_is_supported() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
}
#endif

const struct gather_kernels gather_kernels_table[] = {
#if defined(__x86_64__)
    {"avx512vbmi",
     vbmi_is_supported,
     {gather_vbmi_8, gather_vbmi_16, gather_vbmi_32, gather_plain_64, gather_vbmi_bits}},
    {"avx2",
     avx2_is_supported,
     {gather_plain_8, gather_plain_16, gather_plain_32, gather_plain_64, gather_avx2_bits}},
#endif
    {"plain",
     plain_is_supported,
     {gather_plain_8, gather_plain_16, gather_plain_32, gather_plain_64, gather_plain_bits}},
};

const size_t gather_kernels_n_table = sizeof gather_kernels_table / sizeof *gather_kernels_table;

const struct gather_kernels *gather_kernels_best(void)
{
    const struct gather_kernels *kernels = gather_kernels_table;

    while (!kernels->is_supported())
        kernels++;
    return kernels;
}

/* --- rows to tiles --- */

/* Sources of one tile: half of a first-level cache of 48 KiB. */
#define TILE_NBYTES 24576u

/* A walk over the planes of rows. */
struct walk {
    const struct gather_rows *rows;
    const uint8_t *row; /* of the next plane */
    uint64_t plane;     /* the next one of that row */
    uint64_t n_left;    /* planes in all rows */
};

static const uint8_t *walk_next(struct walk *walk, size_t plane_nbytes)
{
    const struct gather_rows *rows = walk->rows;
    const uint64_t from = rows->plane_src != NULL ? rows->plane_src[walk->plane] : walk->plane;
    const uint8_t *plane = walk->row + from * plane_nbytes;

    walk->n_left--;
    if (++walk->plane == rows->n_planes) {
        walk->plane = 0;
        walk->row += rows->n_planes * plane_nbytes;
    }
    return plane;
}

static void move_tiles(const struct gather_rows *rows, gather_fn *move, size_t plane_nbytes,
                       const uint8_t *in, uint8_t *out)
{
    struct gather_tile tile = {
        .src = rows->src, .dst = rows->dst, .n = rows->n, .out = out, .lsb_first = rows->lsb_first};
    struct walk walk = {rows, in, 0, rows->n_planes * rows->n_rows};
    size_t most = TILE_NBYTES / (plane_nbytes + 1);

    most = most < 1 ? 1 : most > GATHER_TILE_PLANES ? GATHER_TILE_PLANES : most;
    while (walk.n_left > 0) {
        tile.n_planes = walk.n_left < most ? (size_t)walk.n_left : most;
        for (size_t p = 0; p < tile.n_planes; p++)
            tile.from[p] = walk_next(&walk, plane_nbytes);
        move(&tile);
        tile.out += tile.n_planes * plane_nbytes;
    }
}

/* The first and the last `part` bytes of n, which cover them. */
#define COPY_ENDS(part)                       \
    do {                                      \
        uint8_t first[part], last[part];      \
                                              \
        memcpy(first, in, part);              \
        memcpy(last, in + n - (part), part);  \
        memcpy(out, first, part);             \
        memcpy(out + n - (part), last, part); \
    } while (0)

/* memcpy for the few bytes of a cell, where a call costs more than the copy. */
static inline void copy_cell(uint8_t *out, const uint8_t *in, size_t n)
{
    if (n > 64)
        memcpy(out, in, n);
    else if (n >= 16) {
        for (size_t i = 0; i + 16 < n; i += 16)
            memcpy(out + i, in + i, 16);
        memcpy(out + n - 16, in + n - 16, 16);
    } else if (n >= 8)
        COPY_ENDS(8);
    else if (n >= 4)
        COPY_ENDS(4);
    else
        for (size_t i = 0; i < n; i++)
            out[i] = in[i];
}

/* Planes that move as a whole. */
static void copy_planes(const struct gather_rows *rows, size_t plane_nbytes, const uint8_t *in,
                        uint8_t *out)
{
    if (rows->plane_src == NULL) {
        memcpy(out, in, rows->n_rows * rows->n_planes * plane_nbytes);
        return;
    }
    for (struct walk walk = {rows, in, 0, rows->n_planes * rows->n_rows}; walk.n_left > 0;
         out += plane_nbytes)
        copy_cell(out, walk_next(&walk, plane_nbytes), plane_nbytes);
}

/* Elements of any other size: opaque bytes, long strings. */
static void move_groups(const struct gather_rows *rows, size_t item_nbytes, const uint8_t *in,
                        uint8_t *out)
{
    const size_t plane_nbytes = rows->n * item_nbytes;

    for (struct walk walk = {rows, in, 0, rows->n_planes * rows->n_rows}; walk.n_left > 0;) {
        const uint8_t *plane = walk_next(&walk, plane_nbytes);

        for (size_t j = 0; j < rows->n; j++, out += item_nbytes)
            copy_cell(out, plane + rows->src[j] * item_nbytes, item_nbytes);
    }
}

void gather_items(const struct gather_rows *rows, size_t item_nbytes, const uint8_t *in,
                  uint8_t *out)
{
    static const enum gather_width widths[9] = {
        [1] = GATHER_8, [2] = GATHER_16, [4] = GATHER_32, [8] = GATHER_64};
    const bool is_width =
        item_nbytes == 1 || item_nbytes == 2 || item_nbytes == 4 || item_nbytes == 8;

    if (rows->src == NULL)
        copy_planes(rows, rows->n * item_nbytes, in, out);
    else if (is_width)
        move_tiles(rows, gather_kernels_best()->move[widths[item_nbytes]], rows->n * item_nbytes,
                   in, out);
    else
        move_groups(rows, item_nbytes, in, out);
}

void gather_bits(const struct gather_rows *rows, const uint8_t *in, uint8_t *out)
{
    const size_t plane_nbytes = (rows->n + 7) / 8, n_pad = 8 * plane_nbytes - rows->n;
    const unsigned kept = rows->lsb_first ? 0xffu >> n_pad : 0xffu << n_pad;

    if (rows->src != NULL) {
        move_tiles(rows, gather_kernels_best()->move[GATHER_BITS], plane_nbytes, in, out);
        return;
    }
    copy_planes(rows, plane_nbytes, in, out);
    for (uint64_t p = 0; n_pad > 0 && p < rows->n_rows * rows->n_planes; p++)
        out[p * plane_nbytes + plane_nbytes - 1] &= (uint8_t)kept;
}
