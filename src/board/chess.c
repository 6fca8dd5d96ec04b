/*
 * chess.c - chess: 8 x 8 squares, rank 1 in row 0. Its one symmetry is the left-right mirror, and
 * that is an approximation, because castling tells the king's side from the queen's.
 *
 * The ways in which programs number moves differ in order only: each is a struct chess_code, and
 * one mirror of moves (chess_moves.c) serves all of them. A row of LAYOUT makes a layout of a code.
 */
#include "board/chess_moves.h"
#include "board/families.h"

/* --- policy layouts: one row for each way to number moves --- */

static uint64_t image(const struct chess_code *code, uint32_t t, uint64_t action)
{
    struct chess_move move;

    if (t == 0)
        return action;
    code->decode(code, (uint32_t)action, &move);
    chess_mirror(&move);
    return code->encode(code, &move);
}

static unsigned flags(const struct chess_code *code, uint64_t action)
{
    struct chess_move move;

    code->decode(code, (uint32_t)action, &move);
    return chess_is_playable(&move) ? ACTION_ENCODABLE : 0;
}

static int64_t cell(const struct chess_code *code, uint64_t action)
{
    struct chess_move move;

    code->decode(code, (uint32_t)action, &move);
    return move.from;
}

static void describe(const struct chess_code *code, uint64_t action, char *text, size_t n_bytes)
{
    struct chess_move move;

    code->decode(code, (uint32_t)action, &move);
    chess_describe(&move, text, n_bytes);
}

/* A layout's functions are told the board, not the layout: each row needs its own. */
#define LAYOUT(id, layout_name, layout_summary, ...)                                   \
    static const struct chess_code code_##id = {__VA_ARGS__};                          \
    static uint64_t length_##id(const struct board *board)                             \
    {                                                                                  \
        (void)board;                                                                   \
        return code_##id.length;                                                       \
    }                                                                                  \
    static uint64_t image_##id(const struct board *board, uint32_t t, uint64_t action) \
    {                                                                                  \
        (void)board;                                                                   \
        return image(&code_##id, t, action);                                           \
    }                                                                                  \
    static unsigned flags_##id(const struct board *board, uint64_t action)             \
    {                                                                                  \
        (void)board;                                                                   \
        return flags(&code_##id, action);                                              \
    }                                                                                  \
    static int64_t cell_##id(const struct board *board, uint64_t action)               \
    {                                                                                  \
        (void)board;                                                                   \
        return cell(&code_##id, action);                                               \
    }                                                                                  \
    static void describe_##id(const struct board *board, uint64_t action, char *text,  \
                              size_t n_bytes)                                          \
    {                                                                                  \
        (void)board;                                                                   \
        describe(&code_##id, action, text, n_bytes);                                   \
    }                                                                                  \
    static const struct action_layout chess_layout_##id = {                            \
        .name = layout_name,                                                           \
        .summary = layout_summary,                                                     \
        .length = length_##id,                                                         \
        .image = image_##id,                                                           \
        .flags = flags_##id,                                                           \
        .cell = cell_##id,                                                             \
        .describe = describe_##id,                                                     \
    }

#define LIST(pieces) .decode = chess_list_decode, .encode = chess_list_encode, .n_pieces = pieces
#define FROM_TO()    .decode = chess_from_to_decode, .encode = chess_from_to_encode
#define PLANES(pieces) \
    .decode = chess_planes_decode, .encode = chess_planes_encode, .n_pieces = pieces

LAYOUT(1814, "chess-1814", "every move of every square in turn, promotions to a queen only",
       .length = 1814, LIST(1));
LAYOUT(1880, "chess-1880", "as chess-1814, promotions to queen, rook, bishop, knight",
       .length = 1880, LIST(4));
LAYOUT(from_to, "from-to", "from * 64 + to", .length = 4096, FROM_TO());

LAYOUT(4672, "chess-4672", "from * 73 + kind of move, promotions by file step, then piece",
       .length = 4672, PLANES(3));
LAYOUT(4672_planes, "chess-4672-planes", "as chess-4672, but kind of move * 64 + from",
       .length = 4672, PLANES(3), .plane_first = true);
LAYOUT(4672_crazyara, "chess-4672-crazyara", "as chess-4672, promotions by piece, then file step",
       .length = 4672, PLANES(3), .piece_first = true);
LAYOUT(4672_crazyara_planes, "chess-4672-crazyara-planes",
       "as chess-4672-crazyara, but kind of move * 64 + from", .length = 4672, PLANES(3),
       .piece_first = true, .plane_first = true);
LAYOUT(4672_pettingzoo, "chess-4672-pettingzoo",
       "as chess-4672, squares by file, lines by distance, steps by file", .length = 4672,
       PLANES(3), .file_first = true);
LAYOUT(4672_pettingzoo_planes, "chess-4672-pettingzoo-planes",
       "as chess-4672-pettingzoo, but kind of move * 64 + from", .length = 4672, PLANES(3),
       .file_first = true, .plane_first = true);

LAYOUT(4864, "chess-4864", "kind of move * 64 + from, promotions by file step, then piece",
       .length = 4864, PLANES(4), .plane_first = true);
LAYOUT(4864_squares, "chess-4864-squares", "as chess-4864, but from * 76 + kind of move",
       .length = 4864, PLANES(4));
LAYOUT(4864_crazyara, "chess-4864-crazyara", "as chess-4864, promotions by piece, then file step",
       .length = 4864, PLANES(4), .piece_first = true, .plane_first = true);
LAYOUT(4864_crazyara_squares, "chess-4864-crazyara-squares",
       "as chess-4864-crazyara, but from * 76 + kind of move", .length = 4864, PLANES(4),
       .piece_first = true);

/* --- the family --- */

static int build(struct board *b, const char *size, struct error *err)
{
    if (board_parse_nothing(b, size, err) != 0)
        return -1;
    return board_build_box(b, 8, 8, &board_box_mirror, err);
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
