/*
 * order.c - from output rows to images: blocks are found by division or, where a selection leaves
 * images out, by a search in the running counts of blocks; a shuffle is a four-round Feistel
 * network over the smallest even number of bits that holds the rows, walked along its cycle until
 * it falls below their number (fewer than four steps on average), so that no table is needed.
 */
#include "engine/order.h"

#include "base/bytes.h"

static uint64_t n_blocks_of(uint64_t n_rows, uint64_t block_rows)
{
    return n_rows / block_rows + (n_rows % block_rows != 0);
}

int order_init(struct order *order, struct error *err)
{
    struct selection *selection = order->selection;

    if (order->block_rows == 0 || order->block_rows > order->n_rows)
        order->block_rows = order->n_rows > 0 ? order->n_rows : 1;
    if (selection == NULL &&
        (__builtin_mul_overflow(order->n_rows, order->n_chosen, &order->n_whole) ||
         order->n_whole > INT64_MAX))
        return error_set(err, ERROR_DATA, "%llu rows times %u images are too many",
                         (unsigned long long)order->n_rows, order->n_chosen);
    if (selection != NULL) { /* how many images there are in front of each block, and in all */
        const uint64_t n_blocks = n_blocks_of(order->n_rows, order->block_rows);
        free(selection->block_first);
        selection->block_first = calloc(n_blocks + 1, sizeof *selection->block_first);
        if (selection->block_first == NULL)
            return error_no_memory(err, "image selection");
        order->n_whole = 0;
        for (uint64_t row = 0; row < order->n_rows; row++) {
            if (row % order->block_rows == 0)
                selection->block_first[row / order->block_rows] = order->n_whole;
            for (uint32_t k = 0; k < order->n_chosen; k++)
                order->n_whole += selection_has(selection, row, k);
        }
        selection->block_first[n_blocks] = order->n_whole;
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

/* A block larger than this is fetched row by row instead of being held in a window. */
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

static uint64_t block_of(const struct order *order, uint64_t image)
{
    uint64_t low = 0;

    if (order->selection == NULL)
        return image / (order->block_rows * order->n_chosen);
    const uint64_t *first = order->selection->block_first;
    uint64_t high = n_blocks_of(order->n_rows, order->block_rows);
    while (high - low > 1) { /* first[low] <= image < first[high] */
        uint64_t middle = low + (high - low) / 2;

        if (first[middle] <= image)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t block_first(const struct order *order, uint64_t block)
{
    if (order->selection != NULL)
        return order->selection->block_first[block];
    return block * order->block_rows * order->n_chosen;
}

/* A walk over the blocks, which skips what is not selected. Where every row takes every transform
 * the first position is plain arithmetic. */
static void images_in_order(const struct order *order, uint64_t first, size_t n,
                            struct image *images)
{
    const struct selection *selection = order->selection;
    uint64_t block = n > 0 ? block_of(order, first) : 0;
    uint64_t skip = n > 0 ? first - block_first(order, block) : 0;

    for (size_t out = 0; out < n; block++) {
        const uint64_t row = block * order->block_rows;
        const uint64_t n_rows = smaller(order->n_rows - row, order->block_rows);
        uint32_t k = 0;
        uint64_t i = 0;

        if (selection == NULL) {
            k = (uint32_t)(skip / n_rows);
            i = skip % n_rows;
            skip = 0;
        }
        for (; k < order->n_chosen && out < n; k++, i = 0)
            for (; i < n_rows && out < n; i++) {
                if (selection != NULL && (!selection_has(selection, row + i, k) || skip > 0))
                    skip -= selection_has(selection, row + i, k);
                else
                    images[out++] = (struct image){row + i, order->chosen[k]};
            }
    }
}

void order_span(const struct order *order, uint64_t first, uint64_t n, uint64_t *begin,
                uint64_t *end)
{
    if (n == 0 || order->n_images == 0) {
        *begin = *end = 0;
        return;
    }
    first += order->first_image;
    if (order->n_chosen == 1 && order->selection == NULL) {
        *begin = first;
        *end = first + n;
        return;
    }
    *begin = block_of(order, first) * order->block_rows;
    *end = smaller((block_of(order, first + n - 1) + 1) * order->block_rows, order->n_rows);
}

uint64_t order_end_of_blocks(const struct order *whole, uint64_t image, uint64_t n_blocks)
{
    const uint64_t all = n_blocks_of(whole->n_rows, whole->block_rows);
    uint64_t end;

    if (image >= whole->n_whole || __builtin_add_overflow(block_of(whole, image), n_blocks, &end) ||
        end >= all)
        return whole->n_whole;
    return block_first(whole, end);
}

int selection_init(struct selection *selection, uint64_t n_rows, uint32_t n_chosen,
                   struct error *err)
{
    uint64_t n_bytes;

    selection->mask_nbytes = (n_chosen + 7) / 8;
    if (__builtin_mul_overflow(n_rows, selection->mask_nbytes, &n_bytes) || n_bytes >= SIZE_MAX)
        return error_no_memory(err, "image selection");
    selection->masks = malloc(n_bytes + 1);
    if (selection->masks == NULL)
        return error_no_memory(err, "image selection");
    memset(selection->masks, 0xff, n_bytes + 1);
    return 0;
}

void selection_release(struct selection *selection)
{
    free(selection->masks);
    free(selection->block_first);
    *selection = (struct selection){0};
}

/* --- shuffling --- */

#define N_ROUNDS 4

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint64_t hash_begin(uint64_t a)
{
    return mix(a + 0x9e3779b97f4a7c15u);
}

static uint64_t hash_end(uint64_t begun, uint64_t b)
{
    return mix(begun ^ (b + 0xd1b54a32d192ed03u));
}

uint64_t shuffle_hash(uint64_t a, uint64_t b)
{
    return hash_end(hash_begin(a), b);
}

/* What all places of one shuffle share. */
struct shuffle {
    uint64_t n;
    unsigned half_bits;
    uint64_t keys[N_ROUNDS]; /* of the seed: the half of shuffle_hash(seed + round, ..) */
};

/* Where position i of the shuffled sequence comes from: a bijection of 0..n-1. */
static uint64_t source_of(const struct shuffle *s, uint64_t i)
{
    const uint64_t mask = (UINT64_C(1) << s->half_bits) - 1;

    do {
        uint64_t left = i >> s->half_bits, right = i & mask;

        for (unsigned round = 0; round < N_ROUNDS; round++) {
            const uint64_t next = left ^ (hash_end(s->keys[round], right) & mask);

            left = right;
            right = next;
        }
        i = left << s->half_bits | right;
    } while (i >= s->n);
    return i;
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
    for (size_t i = 0; i < n; i++)
        images_in_order(order, source_of(&shuffle, first + i), 1, images + i);
}
