/*
 * library.c - the public API of include/symaug.h, except for movers (mover.c). Boards and action
 * spaces are the program's own structs under other names; planes and policies are moved by the
 * kernels of `expand`. Nothing here keeps state, so a data loader may call it from any thread and
 * after fork.
 */
#include "symaug.h"

#include "engine/kernel.h"
#include "engine/order.h"

/* A function that returns what a struct holds. */
#define GET(type, name, parameters, value) \
    type name parameters                   \
    {                                      \
        return value;                      \
    }

GET(const char *, symaug_version, (void), SYMAUG_VERSION)

/* Copy the message to a caller's buffer, if there is one. */
static void give_message(const struct error *err, char *message, size_t message_nbytes)
{
    if (message != NULL && message_nbytes > 0)
        snprintf(message, message_nbytes, "%s", err->message);
}

symaug_board *symaug_board_new(const char *name, char *message, size_t message_nbytes)
{
    struct error err = {0};
    struct board *board = board_new(name, &err);

    if (board == NULL)
        give_message(&err, message, message_nbytes);
    return board;
}

void symaug_board_free(symaug_board *board)
{
    board_free(board);
}

GET(const char *, symaug_board_name, (const symaug_board *board), board->name)
GET(uint32_t, symaug_board_rows, (const symaug_board *board), board->rows)
GET(uint32_t, symaug_board_cols, (const symaug_board *board), board->cols)
GET(uint32_t, symaug_board_cells, (const symaug_board *board), board->n_cells)
GET(int, symaug_board_on_board, (const symaug_board *board, uint32_t cell), board->on_board[cell])
GET(uint32_t, symaug_board_transforms, (const symaug_board *board), board->n_transforms)
GET(int, symaug_transform_find, (const symaug_board *board, const char *name),
    board_find_transform(board, name))
GET(const char *, symaug_transform_name, (const symaug_board *board, uint32_t transform),
    board->transforms[transform].name)
GET(int, symaug_transform_swaps_colours, (const symaug_board *board, uint32_t transform),
    board->transforms[transform].swaps_colours)
GET(uint32_t, symaug_transform_inverse, (const symaug_board *board, uint32_t transform),
    board->inverse[transform])
GET(uint32_t, symaug_transform_compose, (const symaug_board *board, uint32_t a, uint32_t b),
    board->compose[a * board->n_transforms + b])
GET(const uint32_t *, symaug_cell_dst, (const symaug_board *board, uint32_t transform),
    board->transforms[transform].dst)
GET(const uint32_t *, symaug_cell_src, (const symaug_board *board, uint32_t transform),
    board->transforms[transform].src)

symaug_actions *symaug_actions_new(const symaug_board *board, const char *layout, uint64_t length,
                                   char *message, size_t message_nbytes)
{
    const struct action_layout *found = layout != NULL ? action_layout_by_name(board, layout)
                                                       : action_layout_by_length(board, length);
    struct action_space *space = NULL;
    struct error err = {0};

    if (found != NULL)
        space = action_space_new(board, found, length, ACTION_AS_IS, &err);
    else if (layout != NULL)
        error_set(&err, ERROR_USAGE, "no layout %s; there are %s", layout,
                  ACTION_LAYOUTS(board, 512));
    else
        error_set(&err, ERROR_USAGE, "no layout of %llu actions; there are %s",
                  (unsigned long long)length, ACTION_LAYOUTS(board, 512));
    if (space == NULL)
        give_message(&err, message, message_nbytes);
    return space;
}

void symaug_actions_free(symaug_actions *actions)
{
    action_space_free(actions);
}

GET(uint64_t, symaug_actions_length, (const symaug_actions *actions), actions->length)

size_t symaug_actions_spans(const symaug_actions *actions, struct symaug_span *spans, size_t n)
{
    struct symaug_span found[ACTION_MAX_SPANS];
    const size_t n_found = action_spans(actions->layout, actions->board, actions->length, found);

    if (n > 0)
        memcpy(spans, found, smaller(n, n_found) * sizeof *found);
    return n_found;
}

GET(const uint32_t *, symaug_actions_dst, (const symaug_actions *actions, uint32_t transform),
    actions->dst + transform * actions->length)
GET(const uint32_t *, symaug_actions_src, (const symaug_actions *actions, uint32_t transform),
    action_space_src(actions, transform))

/* One gather by the kernels of `expand`. */
static void gather(const uint32_t *src, uint64_t axis, const void *in, void *out, size_t n_outer,
                   size_t item_nbytes)
{
    struct spec_step step = {.src = src, .label_plane = -1};
    const struct spec move = {
        .kind = SPEC_AXIS,
        .dtype = {.kind = DTYPE_VOID, .itemsize = (uint32_t)item_nbytes},
        .row_nbytes = n_outer * axis * item_nbytes,
        .outer = n_outer,
        .axis = axis,
        .inner = 1,
        .steps = &step,
        .n_steps = 1,
    };

    kernel_row(&move, 0, in, NULL, out, NULL);
}

void symaug_move_planes(const symaug_board *board, uint32_t transform, const void *in, void *out,
                        size_t n_planes, size_t item_nbytes)
{
    gather(board->transforms[transform].src, board->n_cells, in, out, n_planes, item_nbytes);
}

void symaug_move_policy(const symaug_actions *actions, uint32_t transform, const void *in,
                        void *out, size_t item_nbytes)
{
    gather(symaug_actions_src(actions, transform), actions->length, in, out, 1, item_nbytes);
}

int symaug_move_indices(const symaug_actions *actions, uint32_t transform, const int64_t *in,
                        int64_t *out, size_t n)
{
    const uint32_t *dst = symaug_actions_dst(actions, transform);

    for (size_t i = 0; i < n; i++) {
        if (in[i] >= 0 && (uint64_t)in[i] >= actions->length)
            return -1;
        out[i] = in[i] < 0 ? in[i] : (int64_t)dst[in[i]];
    }
    return 0;
}

uint32_t symaug_random_transform(const symaug_board *board, uint64_t seed, uint64_t i)
{
    /* The high half of a 64-bit hash, scaled to the number of transforms: bias below 2^-32. */
    return (uint32_t)((shuffle_hash(seed, i) >> 32) * board->n_transforms >> 32);
}
