/* pickle_memo.c - the memo: which slots are needed, storing and fetching. */
#include "npy/pickle_reader.h"

#include <stdlib.h>
#include <string.h>

/* Note that `slot` is fetched; the bits grow to hold it. */
static int set_fetched(struct pickle_reader *r, uint64_t slot, uint64_t *n_bytes)
{
    const uint64_t needed = slot / 8 + 1;

    if (needed > *n_bytes) {
        const uint64_t grown_nbytes = needed > 2 * *n_bytes ? needed : 2 * *n_bytes;
        uint8_t *grown;

        if (pickle_charge(r, grown_nbytes - *n_bytes) != 0)
            return -1;
        grown = realloc(r->fetched, grown_nbytes);
        if (grown == NULL)
            return error_no_memory(r->err, "object array");
        memset(grown + *n_bytes, 0, grown_nbytes - *n_bytes);
        r->fetched = grown;
        *n_bytes = grown_nbytes;
    }
    r->fetched[slot / 8] = (uint8_t)(r->fetched[slot / 8] | 1u << slot % 8);
    if (slot >= r->n_slots)
        r->n_slots = slot + 1;
    return 0;
}

int pickle_memo_scan(struct pickle_reader *r)
{
    const uint8_t *next = r->next;
    struct pickle_code code = {0};
    uint64_t n_bytes = 0;

    /* Whatever is wrong with the pickle is found again, and reported, when it is carried out. */
    while (pickle_decode(&next, r->end, &code) == DECODED && code.opcode != OP_STOP) {
        if (code.opcode != OP_BINGET && code.opcode != OP_LONG_BINGET)
            continue;
        if (code.number > (uint64_t)(next - r->start))
            break;
        if (set_fetched(r, code.number, &n_bytes) != 0)
            return -1;
    }
    if (r->n_slots == 0)
        return 0;
    if (pickle_charge(r, r->n_slots * sizeof *r->memo) != 0)
        return -1;
    r->memo = calloc(r->n_slots, sizeof *r->memo);
    return r->memo == NULL ? error_no_memory(r->err, "object array") : 0;
}

int pickle_memo_put(struct pickle_reader *r, uint64_t slot)
{
    struct pickle_value *top;

    if (slot > (uint64_t)(r->next - r->start))
        return pickle_fail(r, "memo slot %llu is too large", (unsigned long long)slot);
    if (pickle_need(r, 1) != 0)
        return -1;
    if (slot >= r->n_slots || (r->fetched[slot / 8] >> slot % 8 & 1) == 0)
        return 0;
    top = &r->stack[r->n_stack - 1];
    top->kept = true;
    r->memo[slot] = *top;
    return 0;
}

int pickle_memo_get(struct pickle_reader *r, uint64_t slot)
{
    if (slot >= r->n_slots || r->memo[slot].kind == VALUE_UNSET)
        return pickle_fail(r, "memo slot %llu is not set", (unsigned long long)slot);
    return pickle_push(r, r->memo[slot]);
}
