"""Boards and action spaces written a second time, from their formulas: what the tests compare with.

Nothing here comes from the program. A map is an array dst: entry i goes to dst[i].
"""

import json

import numpy as np

from golden import data, load


class Board:
    """Cells, transforms and action layouts of one board."""

    def __init__(self, name, shape, dst, swaps=None, on_board=None, default=None):
        self.name = name
        self.shape = shape  # (rows, cols), or (cells,) where they form no box
        self.n_cells = int(np.prod(shape))
        self.dst = [np.asarray(d) for d in dst]
        self.n_transforms = len(self.dst)
        self.swaps = swaps or [False] * self.n_transforms
        self.on_board = np.ones(self.n_cells, bool) if on_board is None else on_board
        self.default = default or list(range(self.n_transforms))
        self.layouts = {}  # name -> list of dst maps
        self.planes = None  # per transform: dst of planes, or None
        cells = self.dst
        self.layouts["cells"] = cells
        self.layouts["pass"] = [with_rest(d, 1) for d in cells]


def inverse(dst):
    src = np.empty_like(dst)
    src[dst] = np.arange(len(dst), dtype=dst.dtype)
    return src


def with_rest(dst, n_more):
    """The map of a longer axis whose last entries stay in place."""
    return np.concatenate([dst, np.arange(len(dst), len(dst) + n_more)])


def box_map(rows, cols, move):
    return np.array([r * cols + c for r, c in (move(r, c) for r in range(rows) for c in range(cols))])


# --- hexagons ---

HEXAGON = [
    lambda q, r: (q, r), lambda q, r: (-r, q + r), lambda q, r: (-q - r, q),
    lambda q, r: (-q, -r), lambda q, r: (r, -q - r), lambda q, r: (q + r, -q),
    lambda q, r: (r, q), lambda q, r: (q + r, -r), lambda q, r: (q, -q - r),
    lambda q, r: (-r, -q), lambda q, r: (-q - r, r), lambda q, r: (-q, q + r),
]  # fmt: skip


def hexagon_direction(t, d):
    return (d + t) % 6 if t < 6 else (1 - (t - 6) - d) % 6


def hexagon(name, radius):
    side = 2 * radius + 1
    axial = [(x - radius, y - radius) for y in range(side) for x in range(side)]
    on_board = np.array([max(abs(q), abs(r), abs(q + r)) <= radius for q, r in axial])
    dst = []
    for move in HEXAGON:
        to = np.arange(side * side)
        for i, (q, r) in enumerate(axial):
            if on_board[i]:
                new_q, new_r = move(q, r)
                to[i] = (new_r + radius) * side + new_q + radius
        dst.append(to)
    board = Board(name, (side, side), dst, on_board=on_board)
    numbers = np.cumsum(on_board) - 1
    cells = [numbers[to[on_board]] for to in dst]
    board.layouts["cells-board"] = cells
    board.layouts["cells-board+pass"] = [with_rest(d, 1) for d in cells]
    board.layouts["ringrift"] = [hexagon_actions(board, t, side) for t in range(12)]
    if radius == 4:
        board.layouts["ringrift-4500"] = [with_rest(d, 4500 - 4132) for d in board.layouts["ringrift"]]
    return board


def hexagon_actions(board, t, side):
    n, steps = side * side, side - 1
    to = np.arange(3 * n + 6 * n * steps + 1)
    for cell in np.flatnonzero(board.on_board):
        new = board.dst[t][cell]
        to[cell * 3 : cell * 3 + 3] = np.arange(new * 3, new * 3 + 3)
        for d in range(6):
            at = 3 * n + (cell * 6 + d) * steps
            image = 3 * n + (new * 6 + hexagon_direction(t, d)) * steps
            to[at : at + steps] = np.arange(image, image + steps)
    return to


# --- squares ---

SQUARE = [
    lambda r, c, n: (r, c), lambda r, c, n: (c, n - r), lambda r, c, n: (n - r, n - c),
    lambda r, c, n: (n - c, r), lambda r, c, n: (r, n - c), lambda r, c, n: (n - r, c),
    lambda r, c, n: (c, r), lambda r, c, n: (n - c, n - r),
]  # fmt: skip
SQUARE_STEPS = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]  # (dx, dy)

# Planes stored [x][y]: the transform of the stored array that is transform t of the board.
XY_TRANSFORM = [0, 3, 2, 1, 5, 4, 6, 7]


def square_dst(n):
    return [box_map(n, n, lambda r, c, m=m: m(r, c, n - 1)) for m in SQUARE]


def square(name, n):
    board = Board(name, (n, n), square_dst(n))
    if n in (8, 19):
        board.layouts["ringrift"] = [square_actions(board, t, n) for t in range(8)]
    return board


def square_sections(n):
    """Where the sections of RingRift's square policy begin, and where they all end."""
    cells = n * n
    movement = 3 * cells
    lines = movement + 8 * cells * (n - 1)
    elimination = lines + 4 * cells
    territory = elimination + cells + 3 + 4
    return movement, lines, elimination, territory, territory + 32 * cells + 7


def square_direction(t, d):
    """A step (dx, dy) turned as the cells are: its image is the difference of two images."""
    dx, dy = SQUARE_STEPS[d]
    row0, col0 = SQUARE[t](2, 2, 4)
    row1, col1 = SQUARE[t](2 + dy, 2 + dx, 4)
    return SQUARE_STEPS.index((col1 - col0, row1 - row0))


def square_actions(board, t, n):
    movement, lines, elimination, territory, _ = square_sections(n)
    to = np.arange({8: 7000, 19: 67000}[n])
    steps = n - 1

    def block(base, new_base, length):
        to[base : base + length] = np.arange(new_base, new_base + length)

    for cell, new in enumerate(board.dst[t]):
        block(cell * 3, new * 3, 3)
        for d in range(8):
            block(movement + (cell * 8 + d) * steps,
                  movement + (new * 8 + square_direction(t, d)) * steps, steps)
        block(lines + cell * 4, lines + new * 4, 4)
        block(elimination + cell, elimination + new, 1)
        block(territory + cell * 32, territory + new * 32, 32)
    return to


def square_ambiguous(n):
    """Entries that name a region by one of its cells."""
    _, lines, elimination, territory, end = square_sections(n)
    flags = np.zeros({8: 7000, 19: 67000}[n], bool)
    flags[lines:elimination] = True
    flags[territory : end - 7] = True
    return flags


# --- the game of Hex ---


def rhombus(name, n):
    m = n - 1
    moves = [lambda r, c: (r, c), lambda r, c: (m - r, m - c), lambda r, c: (c, r),
             lambda r, c: (m - c, m - r)]  # fmt: skip
    return Board(name, (n, n), [box_map(n, n, f) for f in moves], swaps=[False, False, True, True])


# --- rectangles ---


def grid(name, rows, cols):
    moves = [lambda r, c: (r, c), lambda r, c: (rows - 1 - r, cols - 1 - c),
             lambda r, c: (r, cols - 1 - c), lambda r, c: (rows - 1 - r, c)]  # fmt: skip
    return Board(name, (rows, cols), [box_map(rows, cols, f) for f in moves])


def mirror(name, rows, cols):
    moves = [lambda r, c: (r, c), lambda r, c: (r, cols - 1 - c)]
    board = Board(name, (rows, cols), [box_map(rows, cols, f) for f in moves])
    board.layouts["columns"] = [np.arange(cols), np.arange(cols)[::-1].copy()]
    return board


# --- chess ---

RAYS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
KNIGHTS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]


def chess_list(pieces):
    """(from, to, promoted piece or None) in the order of the listed layouts."""
    moves = []
    for square_from in range(64):
        row, col = divmod(square_from, 8)

        def add(dr, dc, piece, row=row, col=col, square_from=square_from):
            if 0 <= row + dr < 8 and 0 <= col + dc < 8:
                moves.append((square_from, (row + dr) * 8 + col + dc, piece))

        for dr, dc in RAYS:
            for k in range(1, 8):
                add(dr * k, dc * k, None)
        for dr, dc in KNIGHTS:
            add(dr, dc, None)
        if row == 6:
            for dc in (-1, 0, 1):
                for piece in pieces:
                    add(1, dc, piece)
    return moves


def chess_list_map(pieces):
    moves = chess_list(pieces)
    index = {move: i for i, move in enumerate(moves)}
    return np.array([index[(a ^ 7, b ^ 7, piece)] for a, b, piece in moves])


def chess_kind(n_pieces, piece_first):
    """Where the mirror sends each of the 64 + 3 * n_pieces kinds of move."""
    kinds = [(8 - p // 7) % 8 * 7 + p % 7 for p in range(56)] + [63 - k for k in range(8)]
    for p in range(3 * n_pieces):
        step, piece = (p % 3, p // 3) if piece_first else (p // n_pieces, p % n_pieces)
        step = 2 - step
        kinds.append(64 + (3 * piece + step if piece_first else n_pieces * step + piece))
    return np.array(kinds)


def pettingzoo_kind():
    """The same where steps are counted by file, then by rank, and lines by distance first."""
    steps = [(file, rank) for file in (-1, 0, 1) for rank in (-1, 0, 1) if (file, rank) != (0, 0)]
    jumps = [(file, rank) for file in (-2, -1, 1, 2) for rank in (-2, -1, 1, 2) if abs(file * rank) == 2]
    lines = [p // 8 * 8 + steps.index((-steps[p % 8][0], steps[p % 8][1])) for p in range(56)]
    kinds = lines + [56 + jumps.index((-file, rank)) for file, rank in jumps]
    return np.concatenate([kinds, chess_kind(3, False)[64:]])


def chess_planes_map(n_pieces, plane_first, piece_first=False, file_first=False):
    kinds = pettingzoo_kind() if file_first else chess_kind(n_pieces, piece_first)
    squares = np.arange(64) ^ (56 if file_first else 7)
    if plane_first:
        return (kinds[:, None] * 64 + squares[None, :]).reshape(-1)
    return (squares[:, None] * len(kinds) + kinds[None, :]).reshape(-1)


def chess(name):
    board = mirror(name, 8, 8)
    del board.layouts["columns"]
    maps = {
        "chess-1814": chess_list_map([0]),
        "chess-1880": chess_list_map([0, 1, 2, 3]),
        "from-to": ((np.arange(64) ^ 7)[:, None] * 64 + (np.arange(64) ^ 7)[None, :]).reshape(-1),
        "chess-4672": chess_planes_map(3, False),
        "chess-4672-planes": chess_planes_map(3, True),
        "chess-4672-crazyara": chess_planes_map(3, False, piece_first=True),
        "chess-4672-crazyara-planes": chess_planes_map(3, True, piece_first=True),
        "chess-4672-pettingzoo": chess_planes_map(3, False, file_first=True),
        "chess-4672-pettingzoo-planes": chess_planes_map(3, True, file_first=True),
        "chess-4864": chess_planes_map(4, True),
        "chess-4864-squares": chess_planes_map(4, False),
        "chess-4864-crazyara": chess_planes_map(4, True, piece_first=True),
    }
    for key, dst in maps.items():
        board.layouts[key] = [np.arange(len(dst)), dst]
    return board


# --- Take It Easy ---

TILE_NUMBERS = ["012", "120", "201", "012", "120", "201", "210", "021", "102", "210", "021", "102"]


def takeiteasy(name):
    lines = {-2: range(0, 3), -1: range(-1, 3), 0: range(-2, 3), 1: range(-2, 2), 2: range(-2, 1)}
    cells = [(q, r) for r, qs in lines.items() for q in qs]
    dst = [np.array([cells.index(move(q, r)) for q, r in cells]) for move in HEXAGON]
    board = Board(name, (19,), dst, default=[0, 3])
    del board.layouts["pass"]
    board.tile_src = [[int(k) for k in text] for text in TILE_NUMBERS]
    rowcol = load(data("seeds/takeiteasy_maps.npz"))["grid5x5_rowcol"]
    board.grid_of_cell = rowcol[:, 0].astype(int) * 5 + rowcol[:, 1]
    return board


# --- boards from a file ---


def from_file(path):
    """The listed transforms; for generators the names say what the others are made of."""
    with open(path, encoding="utf-8") as file:
        described = json.load(file)
    shape = (described["cells"],) if "cells" in described else (described["rows"], described["cols"])
    n = int(np.prod(shape))
    listed = {t["name"]: np.array(t["dst"]) for t in described["transforms"]}
    dst = [np.arange(n), *listed.values()]
    board = Board(f"file:{path}", shape, dst)
    board.listed = listed
    for t, entry in enumerate(described["transforms"], 1):
        board.swaps[t] = entry.get("swaps_colours", False)
    if all("actions" in t for t in described["transforms"]):
        n_actions = len(described["transforms"][0]["actions"])
        board.layouts["file"] = [
            np.arange(n_actions), *(np.array(t["actions"]) for t in described["transforms"])
        ]
    if any("planes" in t for t in described["transforms"]):
        n_planes = max(len(t.get("planes", [])) for t in described["transforms"])
        board.planes = [np.arange(n_planes)] + [
            np.array(t.get("planes", range(n_planes))) for t in described["transforms"]
        ]
    return board


def name_transforms(board, names):
    """Give a board of generators the maps that its transforms' names ("a*b": a, then b) tell."""
    dst = []
    for name in names:
        to = np.arange(board.n_cells)
        for part in name.split("*"):
            if part != "identity":
                to = board.listed[part][to]
        dst.append(to)
    return Board(board.name, board.shape, dst)
