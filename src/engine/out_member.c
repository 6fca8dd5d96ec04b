/*
 * out_member.c - what a planned array needs to become a member: shape and header, the size where it
 * can be told beforehand, the kind of its pieces, and what its codec should know.
 */
#include "engine/out_member.h"

#include "engine/survey.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- preparing --- */

static bool is_meta(const struct out_member *out)
{
    return out->kind == OUT_ARRAY && out->array->binding.role == ROLE_META;
}

static bool is_csr(const struct out_member *out)
{
    return out->kind == OUT_ARRAY && out->array->csr != NULL;
}

static bool is_offsets(const struct out_member *out)
{
    return is_csr(out) && out->array->binding.role == ROLE_POLICY_OFFSETS;
}

static void set_shape(struct out_member *out)
{
    const struct order *order = out->settings->order;
    const struct npy_header *header;

    out->n_dims = 1;
    if (out->kind == OUT_ARRAY) {
        header = &out->array->sources[0]->header;
        out->n_dims = header->n_dims;
        memcpy(out->shape, header->shape, header->n_dims * sizeof *out->shape);
    }
    if (is_meta(out))
        return;
    out->shape[0] = order->n_images;
    if (is_csr(out))
        out->shape[0] = is_offsets(out) ? order->n_images + 1 : csr_length(out->array->csr, order);
}

static const char *descr_of(const struct out_member *out)
{
    if (out->kind == OUT_ARRAY)
        return out->array->sources[0]->header.descr;
    return out->kind == OUT_SOURCE ? "'<i8'" : "'|u1'";
}

static uint64_t item_nbytes(const struct out_member *out)
{
    if (out->kind == OUT_ARRAY)
        return out->array->sources[0]->header.dtype.itemsize;
    return out->kind == OUT_SOURCE ? 8 : 1;
}

/* At least what an item of an object array takes in the output, besides its data and strings: the
 * pickle's opcodes, shape and dtype (npy/pickle_write.c has them). */
#define OBJECT_ITEM_NBYTES 256

static uint64_t item_bound(const struct pickle_item *item)
{
    uint64_t n_bytes = OBJECT_ITEM_NBYTES;

    if (item->kind == PICKLE_STRING || item->kind == PICKLE_ARRAY)
        n_bytes += item->n_bytes_or_items;
    for (uint32_t i = 0; item->kind == PICKLE_LIST && i < item->n_bytes_or_items; i++)
        n_bytes += item->as.items[i].kind == PICKLE_STRING
                       ? 16 + (uint64_t)item->as.items[i].n_bytes_or_items
                       : 16;
    return n_bytes;
}

/* More than an object array can come to, or 0: none is known. With it the member needs no zip64
 * header, without which it is plainer, and libzip 1.7.3 survives a lack of memory. */
static uint64_t object_bound(const struct out_member *out)
{
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < out->plan->n_archives; i++) {
        const struct pickle_document *objects = out->array->sources[i]->objects;

        for (uint64_t k = 0; objects != NULL && k < objects->n_items; k++)
            if (__builtin_add_overflow(n_bytes, item_bound(&objects->items[k]), &n_bytes))
                return 0;
    }
    if (__builtin_mul_overflow(n_bytes, out->plan->n_chosen, &n_bytes) ||
        __builtin_add_overflow(n_bytes, out->header.n_bytes + 4096, &n_bytes))
        return 0;
    return n_bytes;
}

/* The header, and the size of the member where it is known before the data is made. */
static int make_header(struct out_member *out, struct error *err)
{
    uint64_t n_elements, n_bytes;

    if (npy_header_write(descr_of(out), out->shape, out->n_dims, 0, &out->header, err) != 0)
        return -1;
    out->head.size_known = out->kind != OUT_ARRAY || !out->array->is_object;
    if (!out->head.size_known) {
        out->head.unpacked_nbytes = object_bound(out);
        return 0;
    }
    if (bytes_product(out->shape, out->n_dims, &n_elements) != 0 ||
        __builtin_mul_overflow(n_elements, item_nbytes(out), &n_bytes) ||
        __builtin_add_overflow(n_bytes, out->header.n_bytes, &out->head.unpacked_nbytes))
        return error_set(err, ERROR_DATA, "%s: the expanded array is too large",
                         text_path(out->key).text);
    if (!member_size_is_unsafe(out->head.unpacked_nbytes))
        return 0;
    out->header.n_bytes = 0;
    out->head.unpacked_nbytes += 64;
    return npy_header_write(descr_of(out), out->shape, out->n_dims, 64, &out->header, err);
}

static void name_array(struct out_member *out)
{
    static const struct dtype source = {.kind = DTYPE_INT, .itemsize = 8};
    static const struct dtype transform = {.kind = DTYPE_UINT, .itemsize = 1};
    const struct dtype *dtype = out->kind == OUT_SOURCE ? &source : &transform;

    out->key = out->kind == OUT_SOURCE ? PLAN_SOURCE_KEY : PLAN_TRANSFORM_KEY;
    if (out->kind == OUT_ARRAY) {
        out->key = out->array->key;
        dtype = &out->array->sources[0]->header.dtype;
    }
    dtype_name(dtype, out->dtype, sizeof out->dtype);
}

/* --- opening --- */

/* Where an array's rows come from, opened by the first shard that draws on it. */
static struct row_supply *supply_of(const struct out_member *out)
{
    return &out->settings->supplies[out->array - out->plan->arrays];
}

/* Whether rows in the order of the output come from windows of the input. */
static bool streams(const struct out_member *out)
{
    const struct plan_array *array = out->array;
    const struct plan *plan = out->plan;
    uint64_t row_nbytes = array->spec.row_nbytes;

    if (array->csr != NULL && plan->n_rows > 0) /* about */
        row_nbytes = array->csr->first[plan->n_rows] / plan->n_rows * array->spec.dtype.itemsize;
    return order_streams(out->settings->order, row_nbytes) &&
           reader_can_stream(array->sources, plan->n_archives) &&
           (array->values == NULL || reader_can_stream(array->values, plan->n_archives));
}

static struct pieces *open_pieces(struct out_member *out, struct error *err)
{
    const struct plan_array *array = out->array;
    struct image_input in = {.array = array, .order = out->settings->order};

    if (out->kind != OUT_ARRAY)
        return pieces_of_provenance(out->kind == OUT_SOURCE ? PROVENANCE_SOURCE
                                                            : PROVENANCE_TRANSFORM,
                                    in.order, &out->header, err);
    if (is_meta(out))
        return pieces_of_copy(array->sources[0], err);
    if (is_offsets(out))
        return pieces_of_csr(CSR_OFFSETS, &in, &out->header, err);
    in.supply = supply_of(out);
    if (!in.supply->is_open &&
        row_supply_open(in.supply, out->plan, array, !array->is_object && streams(out), err) != 0)
        return NULL;
    in.supply->watch = out->settings->watch;
    in.supply->kept = stone_watch_of(in.supply->watch, array);
    if (array->is_object)
        return pieces_of_objects(&in, &out->header, err);
    return is_csr(out) ? pieces_of_csr(CSR_ELEMENTS, &in, &out->header, err)
                       : pieces_of_rows(&in, &out->header, err);
}

static void add_period(struct codec_member *hints, uint64_t n_bytes)
{
    if (n_bytes == 0 || n_bytes > CODEC_HISTORY_NBYTES ||
        hints->n_periods == sizeof hints->periods / sizeof *hints->periods)
        return;
    for (size_t i = 0; i < hints->n_periods; i++)
        if (hints->periods[i] == n_bytes)
            return;
    hints->periods[hints->n_periods++] = (uint32_t)n_bytes;
}

/* Distances at which the bytes are likely to repeat: element, board row, plane, output row, and in
 * block order the same transform of the sample before. */
static void give_hints(const struct out_member *out, struct codec_member *hints)
{
    const struct spec *spec = out->kind == OUT_ARRAY ? &out->array->spec : NULL;
    const uint64_t item = item_nbytes(out);

    *hints = (struct codec_member){.n_bytes = out->head.size_known ? out->head.unpacked_nbytes : 0,
                                   .item_nbytes = item > 0 && item <= 8 ? (size_t)item : 1};
    if (spec == NULL || out->array->is_object || is_meta(out)) {
        add_period(hints, item);
        return;
    }
    add_period(hints, item);
    for (unsigned d = out->n_dims; d-- > 1;) {
        uint64_t n = item;

        for (unsigned k = d; k < out->n_dims && n <= CODEC_HISTORY_NBYTES; k++)
            n *= out->shape[k];
        add_period(hints, n);
        if (d == 2)
            add_period(hints, 2 * n);
    }
    add_period(hints, spec->row_nbytes * out->settings->order->block_rows);
}

/* --- the member --- */

static struct pieces *open_member(struct member *member, struct codec_member *about,
                                  struct error *err)
{
    struct out_member *out = (struct out_member *)member;

    give_hints(out, about);
    return open_pieces(out, err);
}

static void close_member(struct member *member)
{
    const struct out_member *out = (const struct out_member *)member;

    if (out->kind == OUT_ARRAY && order_is_last(out->settings->order))
        row_supply_close(supply_of(out));
}

/* Tables of rows are given memory one after the other. */
static bool needs_table(const struct out_member *out)
{
    return out->kind == OUT_ARRAY && !is_meta(out) && !out->array->is_object && !is_offsets(out) &&
           !streams(out);
}

int out_member_init(struct out_member *out, enum out_kind kind, const struct plan_array *array,
                    struct out_settings *settings, struct error *err)
{
    *out = (struct out_member){
        .kind = kind, .plan = settings->plan, .array = array, .settings = settings};
    out->head.open = open_member;
    out->head.close = close_member;
    out->head.zip_method = codec_level_method(&settings->members.level);
    out->head.name = kind == OUT_ARRAY    ? array->member
                     : kind == OUT_SOURCE ? PLAN_SOURCE_KEY ".npy"
                                          : PLAN_TRANSFORM_KEY ".npy";
    name_array(out);
    set_shape(out);
    if (is_meta(out)) {
        out->head.size_known = true;
        out->head.unpacked_nbytes = pieces_copy_nbytes(array->sources[0]);
    } else if (make_header(out, err) != 0) {
        return -1;
    }
    out->head.waits = needs_table(out);
    return members_add(&settings->members, &out->head, err);
}

void out_member_release(struct out_member *out)
{
    member_release(&out->head);
    bytes_release(&out->header);
    *out = (struct out_member){0};
}
