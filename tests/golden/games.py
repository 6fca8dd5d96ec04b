"""Rules of a few games, just enough to say who won, what a position scores and which moves it has."""

import itertools

import numpy as np

# --- the game of Hex: blue joins top and bottom, red left and right ---

HEX_NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)]


def hex_connects(stones):
    """True when the stones (rows, cols) of one colour join row 0 and the last row."""
    size = len(stones)
    seen = {(0, c) for c in range(size) if stones[0, c]}
    queue = list(seen)
    for r, c in queue:
        for dr, dc in HEX_NEIGHBOURS:
            cell = (r + dr, c + dc)
            if 0 <= cell[0] < size and 0 <= cell[1] < size and stones[cell] and cell not in seen:
                seen.add(cell)
                queue.append(cell)
    return any(r == size - 1 for r, _ in seen)


def hex_winner(blue, red):
    """0 blue, 1 red, None."""
    if hex_connects(blue):
        return 0
    return 1 if hex_connects(red.T) else None


# --- stones in a row ---

LINES = [(0, 1), (1, 0), (1, 1), (1, -1)]


def runs(stones, length):
    """The lines of `length` stones: a list of lists of cells."""
    rows, cols = stones.shape
    found = []
    for r, c in np.argwhere(stones):
        for dr, dc in LINES:
            cells = [(r + k * dr, c + k * dc) for k in range(length)]
            if all(0 <= y < rows and 0 <= x < cols and stones[y, x] for y, x in cells):
                found.append(cells)
    return found


# --- Take It Easy ---

TILES = [(a, b, c) for a, b, c in itertools.product((1, 5, 9), (2, 6, 7), (3, 4, 8))]
COLUMNS = [3, 4, 5, 4, 3]


def takeiteasy_lines():
    """(number of the tile that counts, cells) of the fifteen lines."""
    first_q = {-2: 0, -1: -1, 0: -2, 1: -2, 2: -2}
    cells = [(first_q[r] + k, r) for r, n in zip(range(-2, 3), COLUMNS) for k in range(n)]
    lines = []
    for number, coordinate in enumerate([lambda q, r: r, lambda q, r: q + r, lambda q, r: q]):
        for at in range(-2, 3):
            lines.append((number, [i for i, cell in enumerate(cells) if coordinate(*cell) == at]))
    return lines


def takeiteasy_score(codes):
    """The score of a plateau of codes 100a + 10b + c, 0 for an empty cell."""
    total = 0
    for number, cells in takeiteasy_lines():
        digits = {int(codes[cell]) // 10 ** (2 - number) % 10 for cell in cells}
        if all(codes[cell] for cell in cells) and len(digits) == 1:
            total += digits.pop() * len(cells)
    return total


# --- chess, as the player to move sees it: own pawns go up the rows ---

PIECES = "PNBRQK"
ROOK_STEPS = [(1, 0), (0, 1), (-1, 0), (0, -1)]
BISHOP_STEPS = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
KNIGHT_STEPS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]
STEPS = {"N": KNIGHT_STEPS, "B": BISHOP_STEPS, "R": ROOK_STEPS, "Q": ROOK_STEPS + BISHOP_STEPS,
         "K": ROOK_STEPS + BISHOP_STEPS}  # fmt: skip
START = ["RNBQKBNR", "PPPPPPPP", *["........"] * 4, "pppppppp", "rnbqkbnr"]


def chess_start():
    return np.array([list(row) for row in START])


def chess_turned(board):
    """The same position for the other player."""
    return np.char.swapcase(board[::-1])


def chess_moves(board):
    """(from, to, promoted piece or "") of all moves but castling and en passant; king's safety is
    not looked at."""
    moves = []

    def inside(r, c):
        return 0 <= r < 8 and 0 <= c < 8

    def pawn(r, c, to_r, to_c):
        for piece in "QNBR" if to_r == 7 else [""]:
            moves.append((r * 8 + c, to_r * 8 + to_c, piece))

    for r, c in np.argwhere(np.char.isupper(board)):
        piece = board[r, c]
        if piece == "P":
            if inside(r + 1, c) and board[r + 1, c] == ".":
                pawn(r, c, r + 1, c)
                if r == 1 and board[3, c] == ".":
                    pawn(r, c, 3, c)
            for dc in (-1, 1):
                if inside(r + 1, c + dc) and board[r + 1, c + dc].islower():
                    pawn(r, c, r + 1, c + dc)
            continue
        for dr, dc in STEPS[piece]:
            for k in range(1, 2 if piece in "NK" else 8):
                y, x = r + k * dr, c + k * dc
                if not inside(y, x) or board[y, x].isupper():
                    break
                moves.append((int(r * 8 + c), int(y * 8 + x), ""))
                if board[y, x] != ".":
                    break
    return moves


def chess_play(board, move):
    source, target, promoted = move
    board = board.copy()
    board[divmod(target, 8)] = promoted or board[divmod(source, 8)]
    board[divmod(source, 8)] = "."
    return board


# --- Othello ---


def othello_flips(mine, theirs, cell):
    """The stones that a move on an empty cell turns over."""
    turned = []
    for dr, dc in ROOK_STEPS + BISHOP_STEPS:
        line = []
        r, c = cell[0] + dr, cell[1] + dc
        while 0 <= r < 8 and 0 <= c < 8 and theirs[r, c]:
            line.append((r, c))
            r, c = r + dr, c + dc
        if 0 <= r < 8 and 0 <= c < 8 and mine[r, c]:
            turned += line
    return turned


def othello_moves(mine, theirs):
    empty = np.argwhere(~(mine | theirs))
    return [tuple(cell) for cell in empty if othello_flips(mine, theirs, tuple(cell))]
