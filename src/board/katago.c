/* katago.c - KataGo training shards: a square of the size the shard was written for. */
#include "board/families.h"

/* The largest L with L * L cells allowed; engines are built for 19 unless told otherwise. */
#define KATAGO_MAX_SIDE 256

static int build(struct board *b, const char *size, struct error *err)
{
    uint32_t n;

    if (size == NULL || *size == '\0')
        return error_set(err, ERROR_USAGE,
                         "board katago takes its size from the shard: without one write %s, such "
                         "as %s",
                         b->family->syntax, b->family->example);
    if (board_parse_number(b, size, 2, KATAGO_MAX_SIDE, &n, err) != 0)
        return -1;
    if (board_set_name(b, err, "%s:%u", b->family->name, n) != 0)
        return -1;
    return board_build_square(b, n, err);
}

/* The engine's policies always end in a pass. */
static const struct action_layout *const layouts[] = {
    &action_layout_cells_pass,
    &action_layout_cells,
};

const struct board_family board_family_katago = {
    .name = "katago",
    .syntax = "katago:L",
    .summary = "KataGo training shards, L x L cells, 8 transforms; L is read from the shard",
    .example = "katago:5",
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .only_known_members = true,
    .game = BOARD_GAME_KATAGO,
    .packed_stones = 1,
};
