/*
 * shards.c - an output cut into shards of so many rows. Where whole blocks can be kept together, a
 * shard ends at the end of a block; where --unique makes blocks of different lengths, at the end of
 * the block that reaches the number; orders without blocks are cut at the very row. A shard is a
 * slice of the one order, found from its first row.
 */
#include "engine/plan.h"

/* Output rows of a block in which no image is left out but by --pick. */
static uint64_t rows_of_block(const struct plan *plan)
{
    const uint64_t pick = plan->settings->canonical ? 1 : plan->settings->pick;

    return (pick > 0 && pick < plan->n_chosen ? pick : plan->n_chosen) * plan->order.block_rows;
}

enum shards_cut shards_cut(const struct plan *plan)
{
    if (plan->input_ends != NULL)
        return SHARDS_INPUTS;
    if (plan->settings->rows_per_shard == 0)
        return SHARDS_ONE;
    if (plan->order.shuffled || plan->settings->block_rows == 0) /* transform order: one block */
        return SHARDS_ROWS;
    return plan->settings->unique ? SHARDS_REACH : SHARDS_BLOCKS;
}

static uint64_t blocks_per_shard(const struct plan *plan)
{
    const uint64_t n = plan->settings->rows_per_shard / rows_of_block(plan);

    return n > 0 ? n : 1;
}

static uint64_t end_of(const struct plan *plan, uint64_t i, uint64_t first)
{
    const struct order *whole = &plan->order;
    const uint64_t n_rows = plan->settings->rows_per_shard;
    const enum shards_cut cut = shards_cut(plan);

    if (cut == SHARDS_INPUTS)
        return plan->input_ends[i];
    if (cut == SHARDS_BLOCKS)
        return order_end_of_blocks(whole, first, blocks_per_shard(plan));
    if (cut == SHARDS_ONE || whole->n_whole - first <= n_rows)
        return whole->n_whole;
    return cut == SHARDS_ROWS ? first + n_rows : order_end_of_blocks(whole, first + n_rows - 1, 1);
}

struct order shards_slice(const struct plan *plan, uint64_t i, uint64_t first)
{
    return order_slice(&plan->order, first, end_of(plan, i, first) - first);
}

uint64_t shards_count(const struct plan *plan)
{
    uint64_t n = 0, first = 0;

    if (plan->input_ends != NULL)
        return plan->n_archives;
    do {
        first = end_of(plan, n, first);
        n++;
    } while (first < plan->order.n_whole);
    return n;
}

int shards_name(const struct plan *plan, const char *output, uint64_t i, struct text *name,
                struct error *err)
{
    static const char *const endings[] = {".npz", ".npy"};
    const char *slash = strrchr(output, '/'), *ending = "";
    const char *at = strchr(slash != NULL ? slash : output, '%');
    const size_t n = text_path_nbytes(output);

    if (shards_cut(plan) == SHARDS_ONE)
        return text_append(name, err, "%s", output);
    if (plan->input_ends != NULL) {
        int n_base;
        const char *base = text_last_name(plan->archives[i].path, &n_base);

        return text_append(name, err, "%.*s/%.*s", (int)n, output, n_base, base);
    }
    /* "%05d", or another width, in the last part of a name that has only one '%'. */
    if (at != NULL && strchr(at + 1, '%') == NULL && at[1] == '0' && at[2] >= '1' && at[2] <= '9' &&
        at[3] == 'd')
        return text_append(name, err, "%.*s%0*llu%.*s", (int)(at - output), output, at[2] - '0',
                           (unsigned long long)i, (int)(n - 4 - (size_t)(at - output)), at + 4);
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (n > 4 && strncmp(output + n - 4, endings[k], 4) == 0 && output[n - 5] != '/')
            ending = endings[k];
    return text_append(name, err, "%.*s-%05llu%s", (int)(n - strlen(ending)), output,
                       (unsigned long long)i, ending);
}

int shards_warn(struct plan *plan, struct error *err)
{
    const uint64_t asked = plan->settings->rows_per_shard, n_rows = rows_of_block(plan);
    const uint64_t rounded = blocks_per_shard(plan) * n_rows;

    if (shards_cut(plan) != SHARDS_BLOCKS || rounded == asked)
        return 0;
    return plan_warn(plan, err,
                     "--rows-per-shard %llu: shards of %llu rows, so that blocks of %llu rows "
                     "stay whole",
                     (unsigned long long)asked, (unsigned long long)rounded,
                     (unsigned long long)n_rows);
}
