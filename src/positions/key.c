/*
 * key.c - what a plan's key covers, the key bytes of rows, and which image has the smallest.
 *
 * For every transform, a table gives the element of the row that stands at each element of the key
 * bytes, so no image is ever built. Elements that a transform computes (the player to move, codes,
 * tiles) come from a second copy of the row in which they have been computed: a "guise". Images are
 * compared element by element with the best one so far; most differ within a few elements.
 */
#include "positions/key.h"

#include "engine/kernel.h"

#include <endian.h>
#include <math.h>
#include <xxhash.h>

void key_release(struct key *key)
{
    for (size_t i = 0; i < key->n_arrays; i++) {
        free(key->arrays[i].name);
        free(key->arrays[i].src);
        free(key->arrays[i].guise);
        free(key->arrays[i].guises.steps);
    }
    free(key->arrays);
    free(key->board_name);
    bytes_release(&key->head);
    *key = (struct key){0};
}

/* --- an array --- */

/* Fill the tables of an array: src, and n_out. Elements off the board are left out. Bits are in the
 * order of their weight in a byte, so that they compare as bytes do. */
static int fill_src(const struct key *key, struct key_array *a, struct error *err)
{
    const struct spec *spec = &a->spec;
    const bool is_bits = spec->kind == SPEC_BITS, is_axis = is_bits || spec->kind == SPEC_AXIS;
    const uint64_t inner = spec->inner, width = is_bits ? (spec->axis + 7) / 8 * 8 : spec->axis;

    for (uint32_t i = 0; i < key->n_ids; i++) {
        const uint32_t t = key->ids[i];
        const struct spec_step *step = &spec->steps[t];
        uint32_t *src = a->src + i * a->n_out, *end = src;

        for (uint64_t k = 0; k < a->n_in && !is_axis; k++)
            *end++ = spec->kind == SPEC_TRIPLE ? step->number_src[k] : (uint32_t)k;
        for (uint64_t p = a->first; p <= a->last && is_axis; p++) {
            const uint64_t to = spec_plane_to(spec, t, p);

            if (to < a->first || to > a->last)
                return error_set(err, ERROR_USAGE,
                                 "--key: %s: transform %u (%s) takes plane %" PRIu64 " to %" PRIu64
                                 ", which is not among planes %" PRIu64 "-%" PRIu64,
                                 text_path(a->name).text, t, key->board->transforms[t].name, p, to,
                                 a->first, a->last);
        }
        for (uint64_t k = 0; k < spec->n_planes * width && is_axis; k++) {
            const uint64_t p = k / inner / width * inner + k % inner, at = k / inner % width;
            const uint64_t cell = is_bits && spec->lsb_first ? at / 8 * 8 + 7 - at % 8 : at;

            if (p < a->first || p > a->last ||
                (!is_bits && spec->on_board != NULL && !spec->on_board[cell]))
                continue;
            if (cell >= spec->axis) { /* a pad bit: 0 */
                *end++ = (uint32_t)a->n_in;
                continue;
            }
            const uint64_t from = step->plane_src != NULL ? step->plane_src[p] : p;
            const uint64_t from_cell = step->src != NULL ? step->src[cell] : cell;
            *end++ = (uint32_t)(spec_plane_at(spec, from) + from_cell * inner);
        }
        a->n_out = (uint64_t)(end - src);
    }
    return 0;
}

static int set_guises(const struct key *key, struct key_array *a, struct error *err)
{
    struct spec *guises = &a->guises;

    *guises = a->spec;
    guises->n_steps = 0;
    if (new_items(&guises->steps, key->n_ids, "keys of positions", err) != 0)
        return -1;
    for (uint32_t i = 0; i < key->n_ids; i++) {
        const struct spec_step *step = &a->spec.steps[key->ids[i]];
        struct spec_step own = {.label_plane = (int)spec_turn_plane(&a->spec, key->ids[i]),
                                .number_src = {0, 1, 2}};
        const struct spec_step *k = guises->steps;

        if (step->label >= LABEL_REVERSE || dtype_is_number(&a->from))
            own.label = step->label;
        if (a->spec.codes)
            memcpy(own.number_src, step->number_src, sizeof own.number_src);
        while (k < guises->steps + guises->n_steps &&
               (k->label != own.label || k->label_plane != own.label_plane ||
                memcmp(k->number_src, own.number_src, sizeof own.number_src) != 0))
            k++;
        a->guise[i] = (uint8_t)(k - guises->steps);
        if (a->guise[i] == guises->n_steps)
            guises->steps[guises->n_steps++] = own;
    }
    return 0;
}

/* Parse the range of planes that --key gives for an array: "3", or "0-13". */
static int parse_planes(const struct plan *plan, const struct plan_array *array, const char *text,
                        struct key_array *a, struct error *err)
{
    const struct spec *spec = &array->spec;
    const uint64_t n = spec->kind == SPEC_AXIS || spec->kind == SPEC_BITS ? spec->n_planes : 0;
    char *end;

    a->first = a->last = strtoull(text, &end, 10);
    if (end > text && *end == '-' && end[1] >= '0' && end[1] <= '9')
        a->last = strtoull(end + 1, &end, 10);
    if (*text < '0' || *text > '9' || (*end != '\0' && *end != ','))
        return error_set(err, ERROR_USAGE, "--key: %s: %s is not a range of planes such as 0-13",
                         text_path(array->key).text,
                         text_quote_bytes(text, strcspn(text, ",")).text);
    if (a->first > a->last || a->last >= n)
        return error_set(err, ERROR_USAGE,
                         "--key: %s: %s: planes %" PRIu64 "-%" PRIu64 ", but it has %" PRIu64,
                         text_path(plan->inputs[0].archive.path).text, text_path(array->key).text,
                         a->first, a->last, n);
    return 0;
}

/* Add array i of the plan. planes: what follows its name in --key, or "". */
static int add_array(struct key *key, const struct plan *plan, size_t i, const char *planes,
                     struct error *err)
{
    const struct plan_array *array = &plan->arrays[i];
    const struct spec *spec = &array->spec;
    const bool is_axis = spec->kind == SPEC_AXIS || spec->kind == SPEC_BITS;
    const struct array *source = array->sources[0];
    const struct npy_header *header = &source->header;
    const unsigned n_dims = header->n_dims - 1,
                   at = spec->channels_last && spec->outer == 1 ? n_dims - 1 : 0;
    uint64_t shape[NPY_MAX_DIMS];
    struct key_array *a;

    if (array->is_object || array->binding.sparse != SPARSE_NONE || source->row_nbytes == 0 ||
        spec->kind == SPEC_INDICES || spec->kind == SPEC_COORD)
        return plan_refuse(plan, array, err,
                           "%s cannot be part of a position's key; use --key with other arrays",
                           array->is_object          ? "an array of objects"
                           : source->row_nbytes == 0 ? "an array of empty rows"
                                                     : role_name(array->binding.role));
    if (list_room(&key->arrays, key->n_arrays + 1, sizeof *a, "keys of positions", err) != 0)
        return -1;
    a = &key->arrays[key->n_arrays++];
    *a = (struct key_array){.index = i, .spec = *spec, .last = is_axis ? spec->n_planes - 1 : 0};
    if (*planes == ':' && parse_planes(plan, array, planes + 1, a, err) != 0)
        return -1;
    if (spec->doubt[0] != '\0')
        return error_set(err, ERROR_DATA, "%s", spec->doubt);
    a->is_bits = spec->kind == SPEC_BITS;
    a->from = a->dtype = header->dtype;
    a->dtype.big_endian = false;
    a->n_in = is_axis ? spec->n_planes * spec->axis : source->row_nbytes / header->dtype.itemsize;
    const uint64_t n_kept = a->last - a->first + 1;
    /* The shape of a row, as if it had only the planes that count. */
    memcpy(shape, header->shape + 1, n_dims * sizeof *shape);
    if (n_kept < spec->n_planes)
        shape[at] = shape[at] * n_kept / spec->n_planes;
    snprintf(a->shape, sizeof a->shape, "%s", text_shape(shape, n_dims).text);
    a->name = strdup(array->key);
    a->src = calloc((size_t)key->n_ids * (a->n_in + 8 * spec->n_planes) + 1, sizeof *a->src);
    a->guise = calloc(key->n_ids + 1, 1);
    if (a->name == NULL || a->src == NULL || a->guise == NULL)
        return error_no_memory(err, "keys of positions");
    if (fill_src(key, a, err) != 0)
        return -1;
    a->is_plain = a->n_out == a->n_in;
    for (uint64_t k = 0; k < a->n_out && a->is_plain; k++)
        a->is_plain = a->src[k] == k;
    return set_guises(key, a, err);
}

/* Where the other set's array of that name has another type of number, convert rows to it. */
static void take_type(struct key_array *a, const struct key *like)
{
    const struct key_array *other =
        bsearch(&a->name, like->arrays, like->n_arrays, sizeof *other, text_compare);

    if (other != NULL && !a->is_bits && dtype_is_number(&other->dtype) &&
        dtype_is_number(&a->dtype) &&
        (other->dtype.kind != a->dtype.kind || other->dtype.itemsize != a->dtype.itemsize)) {
        a->dtype = other->dtype;
        a->is_converted = true;
    }
}

/* --- all arrays --- */

/* Once all arrays are there: sort them, lay out a room, and describe them for the hash. */
static int finish(struct key *key, struct error *err)
{
    int status = bytes_append(&key->head, key->board_name, strlen(key->board_name) + 1, err);
    uint64_t offset = 0;

    qsort(key->arrays, key->n_arrays, sizeof *key->arrays, text_compare);
    for (size_t i = 0; i < key->n_arrays; i++) {
        struct key_array *a = &key->arrays[i];
        const struct text_quoted type = dtype_name(&a->dtype);
        const char *const texts[] = {a->name, type.text, a->shape};

        for (int k = 0; k < 3 && status == 0; k++)
            status = bytes_append(&key->head, texts[k], strlen(texts[k]) + 1, err);
        a->item = a->is_bits ? 1 : a->dtype.itemsize;
        a->out_nbytes = a->is_bits ? a->n_out / 8 : a->n_out * a->item;
        a->row_offset = offset;
        offset += a->guises.n_steps * (a->n_in + 1) * a->item;
        offset = (offset + 15) / 16 * 16;
        key->n_bytes += a->out_nbytes;
    }
    key->room_nbytes = offset + 16;
    return status;
}

/* Name the key's board. A board from a file is named by the digest of its tables, so that neither
 * the path nor the wording of the file matters: rows, columns, cells and planes; then for each
 * transform whether it swaps colours, where it sends cells, and where it sends planes, if it says
 * so. All are 4-byte little-endian numbers. */
static int name_board(struct key *key, struct error *err)
{
    const struct board *board = key->board;
    const uint32_t sizes[] = {board->rows, board->cols, board->n_cells, board->n_planes};
    const bool is_file = board->file_text != NULL;
    const size_t n_most = 4 + board->n_transforms * (1 + (size_t)board->n_cells + board->n_planes);
    char hex[DIGEST_HEX_NBYTES];
    uint32_t *list;
    size_t n = 0;

    if (new_items(&list, n_most, "keys of positions", err) != 0)
        return -1;
    for (; n < 4; n++)
        list[n] = htole32(sizes[n]);
    for (uint32_t t = 0; t < board->n_transforms && is_file; t++) {
        const struct board_transform *transform = &board->transforms[t];

        list[n++] = htole32(transform->swaps_colours);
        for (uint32_t i = 0; i < board->n_cells + board->n_planes; i++) /* of cells, then planes */
            list[n++] = htole32(transform->dst[i]);
    }
    digest_bytes(list, n * sizeof *list, hex);
    free(list);
    key->board_name = strdup(is_file ? text_format("file:%s", hex).text : board->name);
    return key->board_name != NULL ? 0 : error_no_memory(err, "keys of positions");
}

/* Refuse arrays unlike those of the other set: their keys could not be compared. */
static int check_like(const struct key *key, const char *path, const struct key *like,
                      const char *like_path, struct error *err)
{
    const struct text_quoted mine = text_path(path), other = text_path(like_path);
    size_t i = 0; /* arrays are sorted by name */

    if (key->head.n_bytes == like->head.n_bytes &&
        memcmp(key->head.data, like->head.data, key->head.n_bytes) == 0)
        return 0;
    if (strcmp(key->board_name, like->board_name) != 0)
        return error_set(err, ERROR_DATA, "%s: is of board %s, expected %s as %s", mine.text,
                         text_path(key->board_name).text, text_path(like->board_name).text,
                         other.text);
    for (; i < like->n_arrays; i++) {
        const struct key_array *expected = &like->arrays[i], *found = &key->arrays[i];
        const struct text_quoted name = text_path(expected->name);
        const int order = i < key->n_arrays ? strcmp(found->name, expected->name) : 1;

        if (order < 0)
            break;
        if (order > 0)
            return error_set(err, ERROR_DATA,
                             "%s: %s is missing, or no part of a position, expected as in %s "
                             "(--key, --role)",
                             mine.text, name.text, other.text);
        if (strcmp(dtype_name(&found->dtype).text, dtype_name(&expected->dtype).text) != 0 ||
            strcmp(found->shape, expected->shape) != 0)
            return error_set(err, ERROR_DATA,
                             "%s: %s: rows of %s %.200s, expected %s %.200s as in %s", mine.text,
                             name.text, dtype_name(&found->dtype).text, found->shape,
                             dtype_name(&expected->dtype).text, expected->shape, other.text);
    }
    return error_set(err, ERROR_DATA, "%s: %s is part of a position, but not in %s (--key, --role)",
                     mine.text, text_path(key->arrays[i].name).text, other.text);
}

/* Refuse a name in --key that no array has, or one that is there twice, perhaps with other planes.
 */
static int check_names(const struct plan *plan, struct error *err)
{
    const char *path = plan->inputs[0].archive.path;

    for (const char *entry = plan->settings->key; entry != NULL; entry = strchr(entry, ',')) {
        const struct plan_array *named_before = NULL;
        bool is_there = false;

        entry += *entry == ',';
        for (size_t i = 0; i < plan->n_arrays; i++) {
            const struct plan_array *array = &plan->arrays[i];
            const size_t n = strlen(array->key);

            if (strncmp(entry, array->key, n) != 0 ||
                (entry[n] != '\0' && strchr(",:", entry[n]) == NULL))
                continue;
            if (plan_key_planes(plan, array) == entry + n)
                is_there = true;
            else
                named_before = array;
        }
        if (!is_there && named_before != NULL)
            return error_set(err, ERROR_USAGE, "--key: %s: %s is listed twice",
                             text_path(path).text, text_path(named_before->key).text);
        if (!is_there)
            return archive_in_refuse_key(&plan->inputs[0].archive,
                                         text_format("%.*s", (int)strcspn(entry, ",:"), entry).text,
                                         "--key names it", err);
    }
    return 0;
}

int key_of_plan(struct key *key, const struct plan *plan, const struct key_like *like,
                struct error *err)
{
    const char *path = plan->inputs[0].archive.path;

    *key = (struct key){.board = plan->board};
    for (uint32_t t = 0; t < plan->board->n_transforms; t++)
        if (spec_allows(plan->board, &plan->conventions, t))
            key->ids[key->n_ids++] = (uint8_t)t;
    if (check_names(plan, err) != 0 || name_board(key, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const char *planes = plan_key_planes(plan, &plan->arrays[i]);

        if (planes == NULL)
            continue;
        if (add_array(key, plan, i, planes, err) != 0)
            return -1;
        if (like != NULL && like->converts)
            take_type(&key->arrays[key->n_arrays - 1], like->key);
    }
    if (key->n_arrays == 0)
        return error_set(err, ERROR_DATA,
                         "%s: no array is part of a position (planes, packed, grid, tile or "
                         "to-move); use --role, or --key NAME,...",
                         text_path(path).text);
    if (finish(key, err) != 0)
        return -1;
    return like != NULL ? check_like(key, path, like->key, like->path, err) : 0;
}

int key_note(struct plan *plan, const struct key *key, struct error *err)
{
    struct text names = {0};
    int status = 0;

    for (size_t i = 0; i < key->n_arrays && status == 0; i++)
        status = text_append(&names, err, "%s%s", i > 0 ? "," : "", key->arrays[i].name);
    plan_note(plan, "key", plan->settings->key != NULL ? plan->settings->key : names.text, 0);
    text_release(&names);
    return status;
}

int key_room_init(struct key_room *room, const struct key *key, struct error *err)
{
    const size_t from_nbytes = key->n_arrays * sizeof *room->from;

    room->rows = bytes_new_apart(key->room_nbytes + from_nbytes + key->head.n_bytes + key->n_bytes);
    if (room->rows == NULL)
        return error_no_memory(err, "key of a position");
    room->from = (const uint8_t **)(room->rows + key->room_nbytes);
    room->text = room->rows + key->room_nbytes + from_nbytes;
    memcpy(room->text, key->head.data, key->head.n_bytes);
    room->bytes = room->text + key->head.n_bytes;
    return 0;
}

void key_room_release(struct key_room *room)
{
    free(room->rows);
    bytes_release(&room->moved);
    *room = (struct key_room){0};
}

/* --- rows --- */

/* Convert an element to another type. False when its value would change. */
static bool convert(const struct dtype *from, const uint8_t *in, const struct dtype *to,
                    uint8_t *out)
{
    if (from->kind == DTYPE_FLOAT) {
        const double v = dtype_get_double(from, in);

        if (to->kind != DTYPE_FLOAT)
            return fabs(v) < 0x1p63 && v == floor(v) && dtype_put_int(to, (int64_t)v, out) == 0;
        dtype_put_double(to, v, out);
        return dtype_get_double(to, out) == v;
    }
    const int64_t whole = dtype_get_int(from, in);
    if (whole == INT64_MAX) /* or larger, and clamped */
        return false;
    if (to->kind != DTYPE_FLOAT)
        return dtype_put_int(to, whole, out) == 0;
    dtype_put_double(to, (double)whole, out);
    return fabs((double)whole) < 0x1p63 && (int64_t)(double)whole == whole &&
           dtype_get_double(to, out) == (double)whole;
}

/* Write a row in one of its guises to a room, as little-endian elements. */
static int read_guise(const struct key_array *a, const uint8_t *row, uint8_t *plain,
                      struct error *err)
{
    const bool is_float = a->dtype.kind == DTYPE_FLOAT;
    const uint64_t axis = a->spec.axis, n_bytes = (axis + 7) / 8, n = a->n_in;
    const size_t item = a->item;
    uint8_t *out = plain;

    if (a->is_bits) {
        /* The eight bits of a byte at once: of its copies, each keeps another bit, if it is set. */
        const uint64_t each = UINT64_C(0x0101010101010101), seven = 0x7f * each;
        const uint64_t mask =
            a->spec.lsb_first ? UINT64_C(0x8040201008040201) : UINT64_C(0x0102040810204080);

        for (uint64_t p = 0; p < a->spec.n_planes; p++, out += axis)
            for (uint64_t i = 0; i < n_bytes; i++) /* the last may be written into what follows */
                bytes_put_le(out + 8 * i, (((*row++ * each) & mask) + seven) >> 7 & each, 8);
        *out = 0;
    } else if (!a->is_converted) {
        memcpy(plain, row, n * item);
    }
    for (uint64_t i = 0; a->is_converted && i < n; i++)
        if (!convert(&a->from, row + i * a->from.itemsize, &a->dtype, plain + i * item))
            return error_set(err, ERROR_DATA, "%g is not exact in the other set's type",
                             dtype_get_double(&a->from, row + i * a->from.itemsize));
    for (uint64_t i = 0; a->from.big_endian && !a->is_bits && !a->is_converted && i < n; i++)
        for (size_t k = 0; k < item; k++)
            plain[i * item + k] = row[i * item + item - 1 - k];
    /* -0.0 becomes 0.0. */
    for (uint64_t i = 0; is_float && i < n; i++) {
        uint8_t *element = plain + i * item;

        if (element[item - 1] == 0x80 &&
            bytes_get_uint(element, item, false) == UINT64_C(1) << (8 * item - 1))
            element[item - 1] = 0;
    }
    return 0;
}

/* Put a row into a room, in all its guises; the first one is the row as it is. */
static int read_row(const struct key_array *a, const uint8_t *row, struct key_room *room)
{
    uint8_t *to = room->rows + a->row_offset;
    int status = read_guise(a, row, to, &room->why);

    for (uint32_t k = 1; k < a->guises.n_steps && status == 0; k++) {
        uint8_t *computed = bytes_reserve(&room->moved, a->spec.row_nbytes, &room->why);

        to += (a->n_in + 1) * a->item;
        if (computed == NULL || kernel_row(&a->guises, k, row, NULL, computed, &room->why) != 0)
            return -1;
        status = read_guise(a, computed, to, &room->why);
    }
    return status;
}

/* --- comparing images --- */

/* One image of an array: element i of its key bytes is row[src[i]]. */
struct guised {
    const uint32_t *src;
    const uint8_t *row;
};

static struct guised guised_of(const struct key_array *a, const struct key_room *room, uint32_t id)
{
    const uint64_t guise_nbytes = (a->n_in + 1) * a->item;

    return (struct guised){a->src + id * a->n_out,
                           room->rows + a->row_offset + a->guise[id] * guise_nbytes};
}

/* The hot loops. Inlined, so that the compiler makes one for each size of element. */
static inline __attribute__((always_inline)) int compare_items(struct guised a, struct guised b,
                                                               uint64_t n, size_t item)
{
    uint64_t i = 0;

    while (i < n && memcmp(a.row + a.src[i] * item, b.row + b.src[i] * item, item) == 0)
        i++;
    if (i == n)
        return 0;
    /* The first byte that differs: a call of memcmp would take longer. */
    const uint8_t *x = a.row + a.src[i] * item, *y = b.row + b.src[i] * item;
    while (*x == *y)
        x++, y++;
    return *x - *y;
}

static inline __attribute__((always_inline)) int copy_items(struct guised a, uint8_t *out,
                                                            uint64_t n, size_t item)
{
    for (uint64_t i = 0; i < n; i++)
        memcpy(out + i * item, a.row + a.src[i] * item, item);
    return 0;
}

#define FOR_SIZE(do_items, a, b, n, item)       \
    ((item) == 1   ? do_items((a), (b), (n), 1) \
     : (item) == 2 ? do_items((a), (b), (n), 2) \
     : (item) == 4 ? do_items((a), (b), (n), 4) \
     : (item) == 8 ? do_items((a), (b), (n), 8) \
                   : do_items((a), (b), (n), (item)))

struct key_value key_of_image(const struct key *key, const struct key_room *room, uint32_t id)
{
    uint8_t *out = room->bytes;

    for (size_t i = 0; i < key->n_arrays; i++) {
        const struct key_array *a = &key->arrays[i];
        const struct guised image = guised_of(a, room, id);
        const uint32_t *src = image.src;
        const uint8_t *bits = image.row;

        for (uint64_t k = 0; a->is_bits && k < a->n_out / 8; k++, src += 8)
            out[k] = (uint8_t)(bits[src[0]] << 7 | bits[src[1]] << 6 | bits[src[2]] << 5 |
                               bits[src[3]] << 4 | bits[src[4]] << 3 | bits[src[5]] << 2 |
                               bits[src[6]] << 1 | bits[src[7]]);
        if (a->is_plain && id == 0 && !a->is_bits)
            memcpy(out, image.row, a->n_out * a->item);
        else if (!a->is_bits)
            FOR_SIZE(copy_items, image, out, a->n_out, a->item);
        out += a->out_nbytes;
    }
    const XXH128_hash_t hash = XXH3_128bits(room->text, key->head.n_bytes + key->n_bytes);
    return (struct key_value){hash.high64, hash.low64};
}

struct key_value key_of(const struct key *key, struct key_room *room)
{
    uint32_t best = 0;

    room->misfit = NULL;
    for (size_t i = 0; i < key->n_arrays && room->misfit == NULL; i++)
        if (read_row(&key->arrays[i], room->from[i], room) != 0)
            room->misfit = &key->arrays[i];
    room->ties = (struct key_ties){{1}};
    for (uint32_t id = 1; id < key->n_ids; id++) {
        int order = 0; /* of the key bytes of this image and of the best one */

        for (size_t i = 0; i < key->n_arrays && order == 0; i++) {
            const struct key_array *a = &key->arrays[i];

            order = FOR_SIZE(compare_items, guised_of(a, room, id), guised_of(a, room, best),
                             a->n_out, a->item);
        }
        if (order > 0)
            continue;
        if (order < 0) {
            best = id;
            room->ties = (struct key_ties){{0}};
        }
        room->ties.bits[id / 64] |= UINT64_C(1) << id % 64;
    }
    return key_of_image(key, room, best);
}
