/*
 * order.c - from output rows to images. A place is where an image would be if none were left out;
 * images are found by walking over the places. With a selection, the place to begin at is found by
 * a search in running counts, one for every STEP_NPLACES places. A shuffle needs no table: it is a
 * four-round Feistel network over the smallest even number of bits that holds the rows, applied
 * again until the result is below their number (fewer than four times on average).
 */
#include "engine/order.h"

#include "base/bytes.h"

/* Places from one count to the next. */
#define STEP_NPLACES 128

/* Row `row` + `i`, in the block of n rows that begins at `row`, under the k-th transform. */
struct place {
    uint64_t row, n, i;
    uint32_t k;
};

static void begin_block(const struct order *order, struct place *place, uint64_t row)
{
    place->row = row;
    place->n = smaller(order->n_rows - row, order->block_rows);
}

static struct place place_at(const struct order *order, uint64_t number)
{
    const uint64_t of_block = order->block_rows * order->n_chosen;
    struct place place;

    begin_block(order, &place, number / of_block * order->block_rows);
    place.k = (uint32_t)(number % of_block / place.n);
    place.i = number % of_block % place.n;
    return place;
}

/* Go on after the last row of a block under one transform. */
static inline void place_end(const struct order *order, struct place *place)
{
    place->i = 0;
    if (++place->k < order->n_chosen)
        return;
    place->k = 0;
    begin_block(order, place, place->row + place->n);
}

static inline void place_next(const struct order *order, struct place *place)
{
    if (++place->i == place->n)
        place_end(order, place);
}

static inline bool place_is_taken(const struct order *order, const struct place *place)
{
    return order->selection == NULL ||
           selection_has(order->selection, place->row + place->i, place->k);
}

/* The place of an image of the whole. */
static struct place place_of(const struct order *order, uint64_t image)
{
    if (order->selection == NULL)
        return place_at(order, image);
    const uint64_t *before = order->selection->before;
    const uint64_t n = (order->n_rows * order->n_chosen - 1) / STEP_NPLACES + 1;
    /* Begin where it would be if all rows had equally many images, and widen the range from there.
     */
    uint64_t low = (uint64_t)((double)image / (double)order->n_whole * (double)n);
    low = smaller(low, n - 1);
    uint64_t high = low + 1;
    for (uint64_t by = 1; before[low] > image; by *= 2) {
        high = low;
        low -= smaller(low, by);
    }
    for (uint64_t by = 1; high < n && before[high] <= image; by *= 2) {
        low = high;
        high += smaller(n - high, by);
    }
    low = find_last(before, sizeof *before, low, high, image);
    struct place place = place_at(order, low * STEP_NPLACES);
    for (uint64_t left = image - before[low]; left > 0 || !place_is_taken(order, &place);
         place_next(order, &place))
        left -= place_is_taken(order, &place);
    return place;
}

int order_init(struct order *order, struct error *err)
{
    struct selection *selection = order->selection;
    uint64_t n_places;

    if (order->block_rows == 0 || order->block_rows > order->n_rows)
        order->block_rows = order->n_rows > 0 ? order->n_rows : 1;
    if (__builtin_mul_overflow(order->n_rows, order->n_chosen, &n_places) || n_places > INT64_MAX)
        return error_set(err, ERROR_DATA, "%llu rows times %u images are too many",
                         (unsigned long long)order->n_rows, order->n_chosen);
    order->n_whole = n_places;
    if (selection != NULL) {
        struct place place = {.n = smaller(order->n_rows, order->block_rows)};

        free(selection->before);
        if (new_items(&selection->before, n_places / STEP_NPLACES + 1, "image selection", err) != 0)
            return -1;
        order->n_whole = 0;
        for (uint64_t at = 0; at < n_places; at++, place_next(order, &place)) {
            if (at % STEP_NPLACES == 0)
                selection->before[at / STEP_NPLACES] = order->n_whole;
            order->n_whole += place_is_taken(order, &place);
        }
    }
    order->first_image = 0;
    order->n_images = order->n_whole;
    return 0;
}

struct order order_slice(const struct order *whole, uint64_t first, uint64_t n)
{
    struct order slice = *whole;

    slice.first_image = first;
    slice.n_images = n;
    return slice;
}

bool order_is_last(const struct order *order)
{
    return order->first_image + order->n_images == order->n_whole;
}

/* Larger blocks are read row by row rather than held in a window. */
#define STREAM_MAX_BLOCK_NBYTES (8u << 20)

bool order_streams(const struct order *order, uint64_t row_nbytes)
{
    uint64_t block_nbytes;

    if (order->shuffled)
        return false;
    if (order->n_chosen == 1)
        return true;
    return !__builtin_mul_overflow(order->block_rows, row_nbytes, &block_nbytes) &&
           (block_nbytes <= STREAM_MAX_BLOCK_NBYTES || order->block_rows <= ORDER_DEFAULT_BLOCK);
}

static void images_in_order(const struct order *order, uint64_t first, size_t n,
                            struct image *images)
{
    if (n == 0)
        return;
    struct place place = place_of(order, first);
    for (size_t out = 0; out < n; place_end(order, &place))
        for (; place.i < place.n && out < n; place.i++) { /* under one transform */
            images[out] = (struct image){place.row + place.i, order->chosen[place.k]};
            out += place_is_taken(order, &place);
        }
}

void order_span(const struct order *order, uint64_t first, uint64_t n, uint64_t *begin,
                uint64_t *end)
{
    *begin = *end = 0;
    if (n == 0)
        return;
    *begin = place_of(order, order->first_image + first).row;
    const struct place last = place_of(order, order->first_image + first + n - 1);
    *end = last.row + last.n;
}

uint64_t order_end_of_blocks(const struct order *whole, uint64_t image, uint64_t n_blocks)
{
    uint64_t row;

    if (image >= whole->n_whole || __builtin_mul_overflow(n_blocks, whole->block_rows, &row) ||
        __builtin_add_overflow(row, place_of(whole, image).row, &row) || row >= whole->n_rows)
        return whole->n_whole;
    const uint64_t end = row * whole->n_chosen, left = end % STEP_NPLACES;
    if (whole->selection == NULL)
        return end;
    struct place place = place_at(whole, end - left);
    uint64_t n = whole->selection->before[end / STEP_NPLACES];
    for (uint64_t i = 0; i < left; i++, place_next(whole, &place))
        n += place_is_taken(whole, &place);
    return n;
}

int selection_init(struct selection *selection, uint64_t n_rows, uint32_t n_chosen,
                   struct error *err)
{
    uint64_t n_bytes;

    if (selection->masks != NULL)
        return 0;
    selection->mask_nbytes = (n_chosen + 7) / 8;
    if (__builtin_mul_overflow(n_rows, selection->mask_nbytes, &n_bytes) || n_bytes >= SIZE_MAX ||
        (selection->masks = malloc(n_bytes + 1)) == NULL)
        return error_no_memory(err, "image selection");
    memset(selection->masks, 0xff, n_bytes + 1);
    return 0;
}

void selection_release(struct selection *selection)
{
    free(selection->masks);
    free(selection->before);
    *selection = (struct selection){0};
}

/* --- shuffling --- */

#define N_ROUNDS         4
#define SHUFFLED_AT_ONCE 256

static uint64_t hash_begin(uint64_t a)
{
    return scramble(a + 0x9e3779b97f4a7c15u);
}

static uint64_t hash_end(uint64_t begun, uint64_t b)
{
    return scramble(begun ^ (b + 0xd1b54a32d192ed03u));
}

uint64_t shuffle_hash(uint64_t a, uint64_t b)
{
    return hash_end(hash_begin(a), b);
}

/* What all rows of one shuffle share. */
struct shuffle {
    uint64_t n;
    unsigned half_bits;
    uint64_t keys[N_ROUNDS]; /* of the seed: the half of shuffle_hash(seed + round, ..) */
};

/* Where position i of the shuffled sequence comes from, if that is below n: a bijection of the
 * numbers of twice half_bits bits. */
static inline uint64_t source_of(const struct shuffle *s, uint64_t i)
{
    const uint64_t mask = (UINT64_C(1) << s->half_bits) - 1;
    uint64_t left = i >> s->half_bits, right = i & mask;

    for (unsigned round = 0; round < N_ROUNDS; round++) {
        const uint64_t next = left ^ (hash_end(s->keys[round], right) & mask);

        left = right;
        right = next;
    }
    return left << s->half_bits | right;
}

void order_images(const struct order *order, uint64_t first, size_t n, struct image *images)
{
    struct shuffle shuffle = {.n = order->n_whole, .half_bits = 1};

    first += order->first_image;
    if (!order->shuffled) {
        images_in_order(order, first, n, images);
        return;
    }
    while (shuffle.half_bits < 32 && (UINT64_C(1) << (2 * shuffle.half_bits)) < shuffle.n)
        shuffle.half_bits++;
    for (unsigned round = 0; round < N_ROUNDS; round++)
        shuffle.keys[round] = hash_begin(order->seed + round);
    /* Many side by side, and those that are not below n again: processors work on several at once,
     * as long as no branch depends on them. */
    for (size_t done = 0, n_here; done < n; done += n_here) {
        uint64_t sources[SHUFFLED_AT_ONCE];
        uint16_t left[SHUFFLED_AT_ONCE];
        size_t n_left = n_here = smaller(n - done, SHUFFLED_AT_ONCE);

        for (size_t i = 0; i < n_here; i++) {
            sources[i] = first + done + i;
            left[i] = (uint16_t)i;
        }
        while (n_left > 0) {
            const size_t n_tried = n_left;

            n_left = 0;
            for (size_t k = 0; k < n_tried; k++) {
                const uint16_t i = left[k];

                sources[i] = source_of(&shuffle, sources[i]);
                left[n_left] = i;
                n_left += sources[i] >= shuffle.n;
            }
        }
        for (size_t i = 0; i < n_here; i++)
            images_in_order(order, sources[i], 1, images + done + i);
    }
}
