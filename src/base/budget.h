/*
 * budget.h - what a run may use for rows that must all be at hand: so many bytes of memory, of
 * which everybody takes and gives back, and a folder for what does not fit.
 */
#ifndef SYMAUG_BASE_BUDGET_H
#define SYMAUG_BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shared by all threads of a run. Where a budget may be NULL, nothing is left of it. */
struct budget {
    _Atomic uint64_t left; /* bytes */
    const char *tmpdir;    /* borrowed; NULL: /tmp */
};

/* Take n_bytes; false when not so many are left. */
static inline bool budget_take(struct budget *budget, uint64_t n_bytes)
{
    uint64_t left = budget != NULL ? atomic_load(&budget->left) : 0;

    while (n_bytes <= left && left > 0)
        if (atomic_compare_exchange_weak(&budget->left, &left, left - n_bytes))
            return true;
    return false;
}

/* Give back what was taken. */
static inline void budget_give(struct budget *budget, uint64_t n_bytes)
{
    if (budget != NULL)
        atomic_fetch_add(&budget->left, n_bytes);
}

#endif
