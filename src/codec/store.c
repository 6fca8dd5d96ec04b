/* store.c - no compression: the member is written as a stored one. */
#include "codec/codecs.h"

#include <stdlib.h>

static size_t store_bound(size_t n_bytes)
{
    return n_bytes;
}

static void *store_state_new(const struct codec_choice *choice, struct error *err)
{
    void *state = malloc(1);

    (void)choice;
    if (state == NULL)
        error_no_memory(err, "state of the store codec");
    return state;
}

static size_t store_encode(void *state, const uint8_t *piece, size_t n_bytes, size_t history_nbytes,
                           bool last, uint8_t *out, struct error *err)
{
    (void)state;
    (void)history_nbytes;
    (void)last;
    if (codec_check_piece(n_bytes, err) < 0)
        return 0;
    if (n_bytes > 0)
        memcpy(out, piece, n_bytes);
    return n_bytes;
}

const struct codec codec_store = {
    .name = "store",
    .stores = true,
    .bound = store_bound,
    .state_new = store_state_new,
    .state_free = free,
    .encode = store_encode,
};
