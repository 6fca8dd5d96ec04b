/* role_sparse_layout.c - what the indices of a sparse policy mean: they have no axis to go by. */
#include "shard/role_sparse.h"

#include <inttypes.h>
#include <string.h>

/* The board types of RingRift, whose sparse policies number its own moves. */
static const char *const ringrift_boards[] = {"hex8", "hexagonal", "square8", "square19"};

static bool is_ringrift_board(const char *name)
{
    for (size_t i = 0; i < sizeof ringrift_boards / sizeof ringrift_boards[0]; i++)
        if (strcmp(name, ringrift_boards[i]) == 0)
            return true;
    return false;
}

/* A 0-d string that the shard carries, "" where there is none. A string that is there but cannot
 * be read is no reason to guess: -1 with a reason. */
static int read_note(const struct role_context *c, const char *key, char text[64],
                     struct role_reason *reason)
{
    int i = role_context_find(c, key, strlen(key), "");
    const struct npy_header *h;

    text[0] = '\0';
    if (i < 0)
        return 0;
    h = &c->archive->arrays[i].header;
    if (h->n_dims > 0 || (h->dtype.kind != DTYPE_UNICODE && h->dtype.kind != DTYPE_BYTES))
        return 0;
    if (array_read_string(&c->archive->arrays[i], text, 64) == 0)
        return 0;
    role_unfit(reason, "the array %s, which tells its layout, cannot be read", key);
    return -1;
}

/* 1 when the shard's own notes, or the name the board was asked for by, mean RingRift; 2 when its
 * policy_encoding does; 0 when nothing does; -1 with a reason. */
static int says_ringrift(const struct role_context *c, struct role_reason *reason)
{
    char encoding[64], type[64];

    if (read_note(c, "policy_encoding", encoding, reason) != 0 ||
        read_note(c, "board_type", type, reason) != 0)
        return -1;
    if (strcmp(encoding, "board_aware") == 0)
        return 2;
    return is_ringrift_board(type) || is_ringrift_board(c->board->preset);
}

/* The length that a 0-d policy_size tells: 0 when there is none, -1 with a reason when it is bad.
 */
static int read_policy_size(const struct role_context *c, uint64_t *length,
                            struct role_reason *reason)
{
    static const char key[] = "policy_size";
    int i = role_context_find(c, key, strlen(key), "");
    int64_t value;

    *length = 0;
    if (i < 0 || c->archive->arrays[i].header.n_dims > 0)
        return 0;
    if (array_read_int(&c->archive->arrays[i], &value) != 0 || value <= 0) {
        role_unfit(reason, "the array policy_size is no positive integer");
        return -1;
    }
    *length = (uint64_t)value;
    return 0;
}

static const struct action_layout *layout_by_size(const struct role_context *c, uint64_t length,
                                                  struct role_reason *reason)
{
    const struct action_layout *layout = action_layout_by_length(c->board, length);
    char known[200];

    action_layout_list(c->board, known, sizeof known);
    if (layout == NULL)
        role_unfit(reason, "policy_size is %" PRIu64 ", but the board %s has policies %s", length,
                   c->board->name, known);
    return layout;
}

static const struct action_layout *layout_by_notes(const struct role_context *c,
                                                   struct role_reason *reason)
{
    const int ringrift = says_ringrift(c, reason);
    const struct action_layout *layout;

    if (ringrift < 0)
        return NULL;
    layout = ringrift > 0 ? action_layout_by_name(c->board, "ringrift") : NULL;
    if (layout != NULL && layout->length(c->board) > 0)
        return layout;
    if (ringrift == 2) {
        role_unfit(reason, "policy_encoding is board_aware, but the board %s has no such policy",
                   c->board->name);
        return NULL;
    }
    layout = action_layout_by_length(c->board, c->board->n_cells);
    if (layout == NULL)
        role_unfit(reason, "the board %s has no policy of cells", c->board->name);
    return layout;
}

/* The length of a layout that was chosen without regard to policy_size: its own, or that of the
 * longer head where policy_size says so. */
static uint64_t layout_length(const struct board *board, const struct action_layout *layout,
                              uint64_t policy_size)
{
    if (layout->padded_length != NULL && policy_size > 0 &&
        policy_size == layout->padded_length(board))
        return policy_size;
    return layout->length(board);
}

const struct action_layout *role_sparse_layout(const struct role_context *c, size_t i,
                                               uint64_t *length, struct role_reason *reason)
{
    const struct action_layout *layout = role_told_layout(c, i, reason);
    uint64_t policy_size;

    if (reason->text[0] != '\0' || read_policy_size(c, &policy_size, reason) != 0)
        return NULL;
    if (layout == NULL && policy_size > 0) {
        *length = policy_size;
        return layout_by_size(c, policy_size, reason);
    }
    if (layout == NULL)
        layout = layout_by_notes(c, reason);
    if (layout != NULL)
        *length = layout_length(c->board, layout, policy_size);
    return layout;
}
