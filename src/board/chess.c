/* chess.c - chess: 8 x 8 squares, rank 1 in row 0, with the left-right mirror as an approximation
 * (the rules tell the king's side from the queen's only in castling). */
#include "base/text.h"
#include "board/chess_moves.h"
#include "board/families.h"

static int build(struct board *b, const char *size, struct error *err)
{
    if (size != NULL)
        return error_set(err, ERROR_USAGE, "board chess has no size, not %s",
                         text_quote(size).text);
    if (board_build_mirror(b, 8, 8, err) != 0)
        return -1;
    return board_set_name(b, err, "chess");
}

/* Of layouts with the same length the first is taken unless another one is asked for by name. */
static const struct action_layout *const layouts[] = {
    &chess_layout_1814,
    &chess_layout_1880,
    &chess_layout_from_to,
    &chess_layout_4672,
    &chess_layout_4864,
    &action_layout_cells,
    &action_layout_cells_pass,
    &chess_layout_4672_planes,
    &chess_layout_4672_crazyara,
    &chess_layout_4672_crazyara_planes,
    &chess_layout_4672_pettingzoo,
    &chess_layout_4672_pettingzoo_planes,
    &chess_layout_4864_squares,
    &chess_layout_4864_crazyara,
    &chess_layout_4864_crazyara_squares,
};

/* Of 25 planes: 12 of pieces, 4 of rights, occupancy, checkers, material. */
const struct board_castling board_castling_usual = {25, {12, 13, 14, 15}};

static const struct board_shape shapes[] = {
    {"chess", 8, 8, 1814, false}, {"chess", 8, 8, 1880, false}, {"chess", 8, 8, 4096, false},
    {"chess", 8, 8, 4672, false}, {"chess", 8, 8, 4864, false}, {NULL, 0, 0, 0, false},
};

const struct board_family board_family_chess = {
    .name = "chess",
    .syntax = "chess",
    .summary = "chess with its left-right mirror, an approximation because of castling",
    .example = "chess",
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof *layouts,
    .castling = &board_castling_usual,
    .shapes = shapes,
    .game = BOARD_GAME_CHESS,
    .men = "PNBRQK",
    .bottom_up = true,
};
