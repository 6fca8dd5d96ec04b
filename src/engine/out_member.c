/*
 * out_member.c - what a planned array needs to become a member: shape and header, the size where it
 * can be told beforehand, the kind of its pieces, and what its codec should know.
 */
#include "engine/expand.h"

#include "base/text.h"
#include "engine/survey.h"

/* --- its size --- */

/* At least what an item of an object array takes in the output, besides its data and strings: the
 * pickle's opcodes, shape and dtype (npy/pickle_write.c has them). */
#define OBJECT_ITEM_NBYTES 256

/* More than an object array can come to, or 0: none is known. With it the member needs no zip64
 * header, without which it is plainer, and libzip 1.7.3 survives a lack of memory. */
static uint64_t object_bound(const struct out_member *out)
{
    const struct plan *plan = out->job->plan;
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < plan->n_archives; i++) {
        const struct pickle_document *objects = out->array->sources[i]->objects;

        for (uint64_t k = 0; objects != NULL && k < objects->n_items; k++) {
            const struct pickle_item *item = &objects->items[k];
            uint64_t bound = OBJECT_ITEM_NBYTES;

            if (item->kind == PICKLE_STRING || item->kind == PICKLE_ARRAY)
                bound += item->n_bytes_or_items;
            for (uint32_t n = 0; item->kind == PICKLE_LIST && n < item->n_bytes_or_items; n++)
                bound += 16 + (item->as.items[n].kind == PICKLE_STRING
                                   ? (uint64_t)item->as.items[n].n_bytes_or_items
                                   : 0);
            if (__builtin_add_overflow(n_bytes, bound, &n_bytes))
                return 0;
        }
    }
    if (__builtin_mul_overflow(n_bytes, plan->n_chosen, &n_bytes) ||
        __builtin_add_overflow(n_bytes, out->pieces.head.header.n_bytes + 4096, &n_bytes))
        return 0;
    return n_bytes;
}

/* The header, and the size of the member where it is known before the data is made. */
static int make_header(struct out_member *out, const char *descr, uint64_t item_nbytes,
                       struct error *err)
{
    uint64_t n_elements, n_bytes;

    if (npy_header_write(descr, out->shape, out->n_dims, 0, &out->pieces.head.header, err) != 0)
        return -1;
    if (!out->head.size_known) {
        out->head.unpacked_nbytes = object_bound(out);
        return 0;
    }
    if (bytes_product(out->shape, out->n_dims, &n_elements) != 0 ||
        __builtin_mul_overflow(n_elements, item_nbytes, &n_bytes) ||
        __builtin_add_overflow(n_bytes, out->pieces.head.header.n_bytes,
                               &out->head.unpacked_nbytes))
        return error_set(err, ERROR_DATA, "%s: the expanded array is too large",
                         text_path(out->key).text);
    if (!member_size_is_unsafe(out->head.unpacked_nbytes))
        return 0;
    out->pieces.head.header.n_bytes = 0;
    out->head.unpacked_nbytes += 64;
    return npy_header_write(descr, out->shape, out->n_dims, 64, &out->pieces.head.header, err);
}

/* --- opening --- */

static bool is_provenance(const struct out_member *out)
{
    return out->kind == PIECES_SOURCE || out->kind == PIECES_TRANSFORM;
}

/* Whether rows in the order of the output come from windows of the input. */
static bool streams(const struct out_member *out)
{
    const struct plan_array *array = out->array;
    const struct plan *plan = out->job->plan;
    uint64_t row_nbytes = array->spec.row_nbytes;

    if (out->kind == PIECES_OBJECTS)
        return false;
    if (array->csr != NULL && plan->n_rows > 0) /* about */
        row_nbytes = array->csr->first[plan->n_rows] / plan->n_rows * array->spec.dtype.itemsize;
    return order_streams(out->job->order, row_nbytes) &&
           reader_can_stream(array->sources, plan->n_archives) &&
           (array->values == NULL || reader_can_stream(array->values, plan->n_archives));
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

/* Its rows come from a supply that the first shard opens, unless they are made of nothing that is
 * read. The hints are distances at which the bytes are likely to repeat: element, board row, plane,
 * output row, and in block order the same transform of the sample before. */
static struct pieces *open_member(struct member *member, struct codec_member *hints,
                                  struct error *err)
{
    struct out_member *out = (struct out_member *)member;
    const struct plan *plan = out->job->plan;
    const uint64_t item = out->item_nbytes;
    const bool has_rows = !is_provenance(out) && out->kind != PIECES_COPY;

    *hints = (struct codec_member){.n_bytes = out->head.size_known ? out->head.unpacked_nbytes : 0,
                                   .item_nbytes = item > 0 && item <= 8 ? (size_t)item : 1};
    add_period(hints, item);
    for (unsigned d = out->n_dims; has_rows && out->kind != PIECES_OBJECTS && d-- > 1;) {
        uint64_t n = item;

        for (unsigned k = d; k < out->n_dims && n <= CODEC_HISTORY_NBYTES; k++)
            n *= out->shape[k];
        add_period(hints, n);
        if (d == 2)
            add_period(hints, 2 * n);
    }
    if (has_rows && out->kind != PIECES_OBJECTS)
        add_period(hints, out->array->spec.row_nbytes * out->job->order->block_rows);
    if (out->kind == PIECES_ROWS) {
        const struct order *order = out->job->order;

        hints->header_nbytes = out->pieces.head.header.n_bytes;
        hints->row_nbytes = out->array->spec.row_nbytes;
        hints->image_nrows = order->block_rows < order->n_rows ? order->block_rows : order->n_rows;
        hints->n_images = order->n_chosen;
    }
    if (has_rows && out->kind != PIECES_OFFSETS) {
        out->supply = &out->job->supplies[out->array - plan->arrays];
        if (!out->supply->is_open &&
            row_supply_open(out->supply, plan, out->array, streams(out), err) != 0)
            return NULL;
        out->supply->watch = &out->job->watch;
        out->supply->kept = stone_watch_of(&out->job->watch, out->array);
    }
    return pieces_new(out, err);
}

static void close_member(struct member *member)
{
    struct out_member *out = (struct out_member *)member;

    if (out->supply != NULL && order_is_last(out->job->order))
        row_supply_close(out->supply);
}

/* --- the member --- */

int out_member_init(struct out_member *out, enum pieces_kind provenance,
                    const struct plan_array *array, struct expand_job *job, struct error *err)
{
    static const struct {
        const char *key, *member, *descr;
        uint64_t item_nbytes;
    } members[] = {{PLAN_SOURCE_KEY, PLAN_SOURCE_KEY ".npy", "'<i8'", 8},
                   {PLAN_TRANSFORM_KEY, PLAN_TRANSFORM_KEY ".npy", "'|u1'", 1}};
    const bool is_transform = provenance == PIECES_TRANSFORM;
    const struct order *order = job->order;
    const char *descr = members[is_transform].descr; /* its Python type */

    *out = (struct out_member){
        .head = {.open = open_member,
                 .close = close_member,
                 .zip_method = codec_level_method(&job->settings->level)},
        .job = job,
        .array = array,
    };
    if (array == NULL) {
        out->kind = provenance;
        out->key = members[is_transform].key;
        out->head.name = members[is_transform].member;
        out->item_nbytes = members[is_transform].item_nbytes;
        out->n_dims = 1;
        out->shape[0] = order->n_images;
        memcpy(out->dtype.text, descr + 1, 3);
    } else { /* as in the inputs */
        const struct npy_header *header = &array->sources[0]->header;
        const bool is_offsets = array->binding.role == ROLE_POLICY_OFFSETS;

        out->kind = array->binding.role == ROLE_META ? PIECES_COPY
                    : array->csr != NULL ? (is_offsets ? PIECES_OFFSETS : PIECES_ELEMENTS)
                    : array->is_object   ? PIECES_OBJECTS
                                         : PIECES_ROWS;
        out->key = array->key;
        out->head.name = array->member;
        out->item_nbytes = header->dtype.itemsize;
        out->n_dims = header->n_dims;
        memcpy(out->shape, header->shape, header->n_dims * sizeof *out->shape);
        if (out->kind == PIECES_COPY)
            out->head.unpacked_nbytes = pieces_copy_nbytes(array->sources[0]);
        else
            out->shape[0] = out->kind == PIECES_ELEMENTS
                                ? csr_length(array->csr, order, 0, order->n_images)
                                : order->n_images + (out->kind == PIECES_OFFSETS);
        out->dtype = dtype_name(&header->dtype);
        descr = header->descr;
    }
    out->head.size_known = out->kind != PIECES_OBJECTS;
    if (out->kind != PIECES_COPY && make_header(out, descr, out->item_nbytes, err) != 0)
        return -1;
    /* Tables of rows are given memory one after the other. */
    out->head.waits = (out->kind == PIECES_ROWS || out->kind == PIECES_ELEMENTS) && !streams(out);
    return archive_out_add(job->archive, &out->head, err);
}

void out_member_release(struct out_member *out)
{
    member_release(&out->head);
    bytes_release(&out->pieces.head.header);
}
