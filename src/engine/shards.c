/*
 * shards.c - an output cut into shards of so many rows. Where whole blocks can be kept together, a
 * shard ends at the end of a block; where --unique makes blocks of different lengths, at the end of
 * the block that reaches the number; orders without blocks are cut at the very row. A shard is a
 * slice of the one order, found from its first row.
 */
#include "engine/shards.h"

#include <string.h>

uint64_t shards_block_rows(const struct plan *plan)
{
    const uint64_t n = plan->canonical                                 ? 1
                       : plan->pick > 0 && plan->pick < plan->n_chosen ? plan->pick
                                                                       : plan->n_chosen;

    return n * plan->order.block_rows;
}

struct shards shards_of(const struct plan *plan)
{
    struct shards shards = {.whole = &plan->order, .plan = plan, .n_rows = plan->rows_per_shard};
    const uint64_t per_block = shards_block_rows(plan);

    if (plan->input_ends != NULL)
        shards.cut = SHARDS_INPUTS;
    if (plan->rows_per_shard == 0 || plan->input_ends != NULL)
        return shards;
    shards.cut = plan->order.shuffled || plan->one_block ? SHARDS_ROWS
                 : plan->unique                          ? SHARDS_REACH
                                                         : SHARDS_BLOCKS;
    shards.n_blocks = plan->rows_per_shard > per_block ? plan->rows_per_shard / per_block : 1;
    return shards;
}

static uint64_t end_of(const struct shards *shards, uint64_t i, uint64_t first)
{
    const struct order *whole = shards->whole;
    const uint64_t left = whole->n_whole - first;

    if (shards->cut == SHARDS_INPUTS)
        return shards->plan->input_ends[i];
    if (shards->cut == SHARDS_BLOCKS)
        return order_end_of_blocks(whole, first, shards->n_blocks);
    if (shards->cut == SHARDS_ONE || left <= shards->n_rows)
        return whole->n_whole;
    if (shards->cut == SHARDS_ROWS)
        return first + shards->n_rows;
    return order_end_of_blocks(whole, first + shards->n_rows - 1, 1);
}

struct order shards_slice(const struct shards *shards, uint64_t i, uint64_t first)
{
    return order_slice(shards->whole, first, end_of(shards, i, first) - first);
}

uint64_t shards_count(const struct shards *shards)
{
    uint64_t n = 0, first = 0;

    if (shards->cut == SHARDS_INPUTS)
        return shards->plan->n_archives;
    do {
        first = end_of(shards, n, first);
        n++;
    } while (first < shards->whole->n_whole);
    return n;
}

/* Where "%05d" (or another width) stands in the last part of a name that has only one '%': its
 * length and the number's width; NULL: nowhere. */
static const char *find_number(const char *output, size_t *n_bytes, int *width)
{
    const char *slash = strrchr(output, '/');
    const char *at = strchr(slash != NULL ? slash : output, '%');

    if (at == NULL || strchr(at + 1, '%') != NULL || at[1] != '0' || at[2] < '1' || at[2] > '9' ||
        at[3] != 'd')
        return NULL;
    *n_bytes = 4;
    *width = at[2] - '0';
    return at;
}

int shards_name(const struct shards *shards, const char *output, uint64_t i, struct text *name,
                struct error *err)
{
    static const char *const endings[] = {".npz", ".npy"};
    size_t n = strlen(output), n_number;
    const char *ending = "", *at;
    int width;

    if (shards->cut == SHARDS_ONE)
        return text_append(name, err, "%s", output);
    while (n > 1 && output[n - 1] == '/')
        n--;
    if (shards->cut == SHARDS_INPUTS) {
        const char *path = shards->plan->archives[i].path;
        size_t end = strlen(path), begin;

        while (end > 1 && path[end - 1] == '/')
            end--;
        for (begin = end; begin > 0 && path[begin - 1] != '/';)
            begin--;
        return text_append(name, err, "%.*s/%.*s", (int)n, output, (int)(end - begin),
                           path + begin);
    }
    at = find_number(output, &n_number, &width);
    if (at != NULL)
        return text_append(name, err, "%.*s%0*llu%.*s", (int)(at - output), output, width,
                           (unsigned long long)i, (int)(n - n_number - (size_t)(at - output)),
                           at + n_number);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (n > 4 && strncmp(output + n - 4, endings[k], 4) == 0 && output[n - 5] != '/')
            ending = endings[k];
    return text_append(name, err, "%.*s-%05llu%s", (int)(n - strlen(ending)), output,
                       (unsigned long long)i, ending);
}

uint64_t shards_rounded(const struct plan *plan)
{
    const struct shards shards = shards_of(plan);
    const uint64_t n_rows = shards.n_blocks * shards_block_rows(plan);

    return shards.cut == SHARDS_BLOCKS && n_rows != plan->rows_per_shard ? n_rows : 0;
}
