#!/usr/bin/python3
"""Games played at random by the rules: what is true of a position must be true of its images, as
the rule for its labels says."""

import os
import tempfile

import numpy as np

from games import (PIECES, TILES, chess_moves, chess_play, chess_start, chess_turned, hex_winner,
                   othello_flips, othello_moves, runs, takeiteasy_score)  # fmt: skip
from golden import Tap, expand
from test_properties import expand_arrays

tap = Tap()


def stacked(rows):
    return {key: np.array(values) for key, values in rows.items()}


# --- the game of Hex ---


def hex_games(size, n_games, rng):
    """Final positions: (blue, red, player who would be next, winner)."""
    games = []
    for _ in range(n_games):
        blue, red = np.zeros((size, size), bool), np.zeros((size, size), bool)
        for ply, cell in enumerate(rng.permutation(size * size)):
            (red if ply % 2 else blue).reshape(-1)[cell] = True
            winner = hex_winner(blue, red)
            if winner is not None:
                assert winner == ply % 2, "who moved last has won"
                games.append((blue, red, (ply + 1) % 2, winner))
                break
    return games


@tap.test("colour01", "colour11", "colour-wdl", "mover")
def test_hex(value):
    """Colour planes: blue and red change places, so does the winner, and the edges agree."""
    size = 6
    games = hex_games(size, 40, np.random.default_rng(1))
    assert {winner for *_, winner in games} == {0, 1}
    plane = np.ones((size, size))
    features = np.array([[blue, red, plane * player] for blue, red, player, _ in games], "<f4")
    winner = np.array([w for *_, w in games])
    loses = np.array([w != player for _, _, player, w in games])
    labels = {
        "colour01": winner.astype("<f4"),
        "colour11": (1 - 2 * winner).astype("<f4"),
        "colour-wdl": np.stack([winner == 0, winner < 0, winner == 1], 1).astype("<f4"),
        "mover": np.where(loses, -1, 1).astype("<f4"),
    }
    rows = {"features": features, "value": labels[value], "winner": winner + 1,
            "player": np.array([p for _, _, p, _ in games]) + 1}  # fmt: skip
    out = expand_arrays(rows, f"rhombus:{size}", "--value", value, "--to-move", "12")
    n_blue = 0
    for t, i in np.ndindex(4, len(games)):
        blue, red, player = out["features"][t, i]
        found = hex_winner(blue != 0, red != 0)
        assert (player == player[0, 0]).all()
        player = int(player[0, 0])
        assert found is not None, f"game {i} under {t}: nobody has won any more"
        assert out["winner"][t, i] == found + 1 and out["player"][t, i] == player + 1
        wanted = {"colour01": found, "colour11": 1 - 2 * found, "mover": -1 if player != found else 1,
                  "colour-wdl": [found == 0, 0, found == 1]}[value]  # fmt: skip
        assert (out["value"][t, i] == wanted).all(), f"game {i} under {t}: value {out['value'][t, i]}"
        n_blue += found == 0
    assert n_blue == 2 * len(games), "each game is won by each colour in half of its images"


@tap.test()
def test_hex_mover():
    """Mover planes: the stones keep their plane; seen from the to-move plane the edges agree."""
    size = 5
    games = hex_games(size, 40, np.random.default_rng(2))
    features = []
    for blue, red, player, _ in games:
        mine, theirs = (red, blue) if player else (blue, red)
        features.append([mine, theirs, np.full((size, size), player)])
    rows = {"features": np.array(features, "|i1"), "value": np.full(len(games), -1.0)}
    out = expand_arrays(rows, f"rhombus:{size}", "--planes", "mover", "--value", "mover")
    for t, i in np.ndindex(4, len(games)):
        mine, theirs, player = out["features"][t, i] != 0
        blue, red = (theirs, mine) if player[0, 0] else (mine, theirs)
        found = hex_winner(blue, red)
        assert found == 1 - player[0, 0], f"game {i} under {t}: the player to move has lost"
        assert out["value"][t, i] == -1.0


@tap.test()
def test_hex_canonical():
    """Canonical planes: mine always joins top and bottom; only such images are made."""
    size = 5
    games = hex_games(size, 30, np.random.default_rng(3))
    features = [[red.T, blue.T] if player else [blue, red] for blue, red, player, _ in games]
    rows = {"features": np.array(features, "|u1")}
    out = expand_arrays(rows, f"rhombus:{size}", "--planes", "canonical", "--value", "mover")
    assert out["features"].shape[0] == 2
    for t, i in np.ndindex(2, len(games)):
        mine, theirs = out["features"][t, i] != 0
        assert hex_winner(mine, theirs) == 1, f"game {i} under {t}: theirs joins left and right"


# --- Gomoku and TicTacToe ---


@tap.test(("gomoku15", 15, 5), ("tictactoe", 3, 3))
def test_in_a_row(board, size, length):
    """The winning line is a line in every image, and the last move is on it."""
    rng = np.random.default_rng(4)
    rows = {"boards": [], "last_move": [], "move": [], "z": []}
    while len(rows["z"]) < 30:
        stones = np.zeros((2, size, size), bool)
        for ply, cell in enumerate(rng.permutation(size * size)):
            stones[ply % 2].reshape(-1)[cell] = True
            won = len(runs(stones[ply % 2], length)) > 0
            if won or ply == size * size - 1:
                rows["boards"].append(stones)
                rows["last_move"].append(divmod(cell, size))
                rows["move"].append(cell)
                rows["z"].append((1 - 2 * (ply % 2)) * won)
                break
    rows = stacked(rows)
    assert len(set(rows["z"])) > 1
    out = expand_arrays(rows, board)
    for t, i in np.ndindex(*out["z"].shape):
        black, white = (runs(out["boards"][t, i, p], length) for p in range(2))
        z = out["z"][t, i]
        assert z == rows["z"][i]
        assert (len(black) > 0, len(white) > 0) == (z > 0, z < 0), f"game {i} under {t}"
        last = tuple(out["last_move"][t, i])
        assert last[0] * size + last[1] == out["move"][t, i]
        if z:
            assert all(last in line for line in black + white), f"game {i} under {t}: last move {last}"
            assert len(black + white) == len(runs(rows["boards"][i, 0 if z > 0 else 1], length))


# --- Take It Easy ---


def takeiteasy_games(n, rng):
    """Plateaus with whole lines more often than chance makes them: half of the cells of a good
    plateau keep their numbers."""
    rows = {"plateau": [], "tile": [], "position": [], "score": []}
    codes = np.array([100 * a + 10 * b + c for a, b, c in TILES])
    while len(rows["score"]) < n:
        order = rng.permutation(27)[:19]
        plateau = codes[order]
        best = takeiteasy_score(plateau)
        for _ in range(300):
            a, b = rng.integers(0, 19, 2)
            plateau[[a, b]] = plateau[[b, a]]
            score = takeiteasy_score(plateau)
            if score < best:
                plateau[[a, b]] = plateau[[b, a]]
            best = max(best, score)
        plateau = np.where(rng.random(19) < 0.1 * (len(rows["score"]) % 3), 0, plateau)
        rows["plateau"].append(plateau)
        rows["tile"].append(TILES[int(rng.integers(27))])
        rows["position"].append(int(rng.integers(19)))
        rows["score"].append(takeiteasy_score(plateau))
    return stacked(rows)


@tap.test(((), 2), (("--tiles", "permute"), 12))
def test_takeiteasy(options, n_images):
    """The score of every image is the score that is copied; the tile on the position moves along."""
    rows = takeiteasy_games(20, np.random.default_rng(5))
    assert (rows["score"] > 0).sum() > 10
    held = rows["plateau"][np.arange(20), rows["position"]]
    out = expand_arrays(rows, "takeiteasy", *options)
    assert len(out["score"]) == n_images
    for t, i in np.ndindex(n_images, 20):
        assert takeiteasy_score(out["plateau"][t, i]) == out["score"][t, i] == rows["score"][i]
        code = out["plateau"][t, i, out["position"][t, i]]
        assert sorted(f"{code:03}") == sorted(f"{held[i]:03}"), f"plateau {i} under {t}"
        deck_like = 100 * out["tile"][t, i, 0] + 10 * out["tile"][t, i, 1] + out["tile"][t, i, 2]
        if code and (rows["tile"][i] == [held[i] // 100, held[i] // 10 % 10, held[i] % 10]).all():
            assert deck_like == code, "a tile is renumbered as it is on the plateau"


# --- Connect 4 ---


@tap.test()
def test_connect4():
    """Stones lie on stones, the line of four stays one, the legal columns are those with room."""
    rng = np.random.default_rng(6)
    rows = {"features": [], "policy": [], "move": [], "value": []}
    for _ in range(40):
        stones = np.zeros((2, 6, 7), bool)
        for ply in range(42):
            room = ~(stones[0, 0] | stones[1, 0])
            column = int(rng.choice(np.flatnonzero(room)))
            rows["features"].append(stones.copy())
            rows["policy"].append(room / room.sum())
            rows["move"].append(column)
            rows["value"].append(1 if runs(stones[0], 4) else -1 if runs(stones[1], 4) else 0)
            if rows["value"][-1]:
                break
            taken = stones[0, :, column] | stones[1, :, column]
            stones[ply % 2, np.flatnonzero(~taken).max(), column] = True
    rows = stacked(rows)
    assert set(rows["value"]) == {-1, 0, 1}
    out = expand_arrays(rows, "connect4")
    for t, i in np.ndindex(2, len(rows["value"])):
        first, second = out["features"][t, i]
        both = first | second
        assert not (both[:-1] & ~both[1:]).any(), f"row {i} under {t}: a stone hangs in the air"
        assert ((out["policy"][t, i] > 0) == ~both[0]).all(), f"row {i} under {t}: legal columns"
        assert out["policy"][t, i, out["move"][t, i]] > 0, "the move is legal"
        found = 1 if runs(first, 4) else -1 if runs(second, 4) else 0
        assert found == out["value"][t, i] == rows["value"][i]


# --- chess ---


def chess_planes(board, rights):
    """The 25 planes: pieces, castling rights, occupancy, checkers, material."""
    planes = np.zeros((25, 8, 8), "<f4")
    for p, piece in enumerate(PIECES):
        planes[p] = board == piece
        planes[6 + p] = board == piece.lower()
        planes[19 + p] = (board == piece).sum() - (board == piece.lower()).sum()
    planes[12:16] = np.array(rights)[:, None, None]
    planes[16] = np.char.isupper(board)
    planes[17] = np.char.islower(board)
    king = [int(cell[0] * 8 + cell[1]) for cell in np.argwhere(board == "K")]
    for source, target, _ in chess_moves(chess_turned(board)):
        if king and target == (7 - king[0] // 8) * 8 + king[0] % 8:
            planes[18, 7 - source // 8, source % 8] = 1
    return planes


def board_of(planes):
    board = np.full((8, 8), ".")
    for p, piece in enumerate(PIECES):
        board[planes[p] != 0] = piece
        board[planes[6 + p] != 0] = piece.lower()
    return board


RAYS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
KNIGHTS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]


def action_4672(move):
    source, target, promoted = move
    dr, dc = target // 8 - source // 8, target % 8 - source % 8
    if promoted and promoted != "Q":
        return source * 73 + 64 + 3 * (dc + 1) + "NBR".index(promoted)
    if (dr, dc) in KNIGHTS:
        return source * 73 + 56 + KNIGHTS.index((dr, dc))
    distance = max(abs(dr), abs(dc))
    return source * 73 + RAYS.index((dr // distance, dc // distance)) * 7 + distance - 1


def legal_mask(board):
    mask = np.zeros(4672, bool)
    mask[[action_4672(move) for move in chess_moves(board)]] = True
    return mask


def chess_positions(n, rng):
    """Random play; now and then a board of few pieces, where pawns get through to promote."""
    positions = []
    while len(positions) < n:
        board = chess_start()
        if rng.random() < 0.5:
            thin = (rng.random((8, 8)) < 0.6) & ~np.isin(board, ["K", "k", "P"])
            board[thin] = "."
            board[6, rng.random(8) < 0.4] = "P"
        for _ in range(60):
            positions.append(board)
            board = chess_play(board, rng.permutation(np.array(chess_moves(board), object))[0])
            if "k" not in board:
                break
            board = chess_turned(board)
            if len(chess_moves(board)) == 0:
                break
    return positions[:n]


@tap.test()
def test_chess():
    """The moves of the mirrored board are the mirrored moves; rights change sides."""
    rng = np.random.default_rng(7)
    boards = chess_positions(300, rng)
    rights = rng.integers(0, 2, (300, 4))
    masks = np.array([legal_mask(board) for board in boards])
    promotions = masks.reshape(300, 64, 73)[:, :, 64:].any(axis=(1, 2))
    assert promotions.sum() > 5, f"{promotions.sum()} positions with promotions"
    rows = {
        "planes": np.array([chess_planes(b, r) for b, r in zip(boards, rights)]),
        "legal_mask": masks,
        "policy": (masks / masks.sum(axis=1, keepdims=True)).astype("<f4"),
        "move": np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]),
    }
    out = expand_arrays(rows, "chess")
    assert len(out["move"]) == 2
    for t, i in np.ndindex(2, 300):
        planes = out["planes"][t, i]
        board = board_of(planes)
        king_queen = rights[i] if t == 0 else rights[i][[1, 0, 3, 2]]
        assert (planes == chess_planes(board, king_queen)).all(), f"planes of position {i} under {t}"
        mask = legal_mask(board)
        assert (out["legal_mask"][t, i] == mask).all(), f"moves of position {i} under {t}"
        assert ((out["policy"][t, i] > 0) == mask).all()
        assert mask[out["move"][t, i]], f"move of position {i} under {t}"


@tap.test()
def test_chess_castling_skip():
    """--castling skip: exactly the positions without rights have a mirror image."""
    rng = np.random.default_rng(8)
    boards = chess_positions(60, rng)
    rights = (rng.random((60, 4)) < 0.2).astype(int)
    planes = np.array([chess_planes(b, r) for b, r in zip(boards, rights)])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, planes=planes)
        out = expand(path, "--board", "chess", "--castling", "skip")
    pairs = set(zip(out["symaug_source"].tolist(), out["symaug_transform"].tolist()))
    wanted = {(i, 0) for i in range(60)} | {(i, 1) for i in range(60) if not rights[i].any()}
    assert pairs == wanted and len(out["symaug_source"]) == len(wanted)


# --- Othello ---


@tap.test()
def test_othello():
    """Legal moves of an image are the images of the legal moves; the start keeps four images."""
    rng = np.random.default_rng(9)
    rows = {"board": [], "legal": [], "moves": []}
    for _ in range(8):
        stones = np.zeros((2, 8, 8), bool)
        stones[0, [3, 4], [4, 3]] = stones[1, [3, 4], [3, 4]] = True
        for _ in range(60):
            moves = othello_moves(*stones)
            legal = np.zeros(65, bool)
            legal[[r * 8 + c for r, c in moves] or [64]] = True
            rows["board"].append(stones.copy())
            rows["legal"].append(legal)
            rows["moves"].append(int(rng.choice(np.flatnonzero(legal))))
            if moves:
                cell = divmod(rows["moves"][-1], 8)
                for r, c in [*othello_flips(*stones, cell), cell]:
                    stones[:, r, c] = True, False
            elif not othello_moves(*stones[::-1]):
                break
            stones = stones[::-1].copy()
    rows = stacked(rows)
    out = expand_arrays(rows, "othello")
    for t, i in np.ndindex(8, len(rows["moves"])):
        moves = othello_moves(*out["board"][t, i])
        legal = np.zeros(65, bool)
        legal[[r * 8 + c for r, c in moves] or [64]] = True
        assert (out["legal"][t, i] == legal).all(), f"row {i} under {t}"
        assert legal[out["moves"][t, i]]
    kept = [t for t in range(8) if (out["board"][t, 0] == rows["board"][0]).all()]
    assert kept == [0, 2, 6, 7], f"the start position is its own image under {kept}"


if __name__ == "__main__":
    tap.main()
