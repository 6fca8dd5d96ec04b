#!/usr/bin/python3
"""Every board of share/boards: a game played at random by its rules has the same moves and the same
facts in every image, and its shard goes through expand, verify, show and report."""

import json
import os
import tempfile

import numpy as np

from board_games import GAMES
from golden import Tap, expand, run, same_bits

tap = Tap()
FOLDER = "share/boards"
MAX_PLIES = 24
DIMS = {"tictactoe3d": (3, 3, 3), "qubic": (4, 4, 4)}


def described(name):
    return json.loads(run("boards", "--json", f"{FOLDER}/{name}.json")[0])


def image(x, dst, swaps):
    """The image of anything a game knows: integers are cells, "A" and "B" players."""
    if isinstance(x, dict):
        return {image(k, dst, swaps): image(v, dst, swaps) for k, v in x.items()}
    if isinstance(x, (tuple, set, frozenset)):
        return type(x)(image(v, dst, swaps) for v in x)
    if isinstance(x, str) and x in ("A", "B"):
        return {"A": "B", "B": "A"}[x] if swaps else x
    return dst[x] if isinstance(x, int) else x


def survives(game, positions, moves, dst, swaps):
    """True when moves, what they do and facts are the same in the image of a whole game."""
    for i, position in enumerate(positions):
        found = image(position, dst, swaps)
        if game.fact(found) != image(game.fact(position), dst, swaps):
            return False
        if game.legal(found) != image(set(game.legal(position)), dst, swaps):
            return False
        if i < len(moves) and game.play(found, image(moves[i], dst, swaps)) != image(
            positions[i + 1], dst, swaps
        ):
            return False
    return True


def play(game, rng):
    """Positions and the moves between them."""
    positions, moves = [game.start(rng)], []
    while len(moves) < MAX_PLIES:
        legal = sorted(game.legal(positions[-1]), key=repr)
        if not legal:
            break
        moves.append(legal[rng.integers(len(legal))])
        positions.append(game.play(positions[-1], moves[-1]))
    return positions, moves


def game_of(name, board):
    dims = DIMS.get(name, (board["rows"], board["cols"]))
    return GAMES[name](dims, [c for c, on in enumerate(board["on_board"]) if on])


# How many transforms a board has, and how many of them exchange the players: turns and mirrors of a
# square (8) or hexagon (12), and what goals, starts and directions leave of them.
ORDERS = {
    **{name: (12, 0) for name in ("abalone", "blooms", "hexgo", "star", "yinsh")},
    **{f"havannah{n}": (12, 0) for n in range(4, 11)},
    **{name: (8, 0) for name in ("alquerque", "gonnect", "pentago", "santorini", "ultimate")},
    **{name: (8, 4) for name in ("bridges", "linesofaction", "othello6", "othello8", "othello10", "twixt")},
    **{name: (4, 2) for name in ("blokus14", "blokus20", "breakthrough", "chinesecheckers", "quoridor", "xiangqi")},
    "checkers8": (2, 1), "checkers10": (2, 1),  # squares of one colour: the half turn
    "triangle": (6, 0),
    "morris": (16, 0),  # 8, and the outer square for the inner one
    "tictactoe3d": (48, 0),  # of the cube
    "qubic": (192, 0),  # R. Silver 1967
}  # fmt: skip
HALF_TURNS_THAT_SWAP = ("blokus14", "breakthrough", "checkers8", "checkers10", "chinesecheckers", "quoridor", "xiangqi")


@tap.test(*sorted(GAMES))
def groups_are_those_of_the_rules(name):
    transforms = described(name)["transforms"]
    assert (len(transforms), sum(t["swaps_colours"] for t in transforms)) == ORDERS[name]
    half_turn = [t["swaps_colours"] for t in transforms if t["name"].startswith("rotate-180")]
    assert not half_turn or half_turn == [name in HALF_TURNS_THAT_SWAP]


@tap.test(*sorted(GAMES))
def every_image_of_a_game_is_a_game(name):
    board = described(name)
    game = game_of(name, board)
    for seed in range(1):
        rng = np.random.default_rng(seed)
        positions, moves = play(game, rng)
        assert len(moves) > 4, f"{len(moves)} moves"
        transforms = board["transforms"]
        if len(transforms) > 12:
            transforms = [transforms[t] for t in rng.permutation(len(transforms))[:12]]
        for t in transforms:
            assert survives(game, positions, moves, t["dst"], t["swaps_colours"]), t["name"]


@tap.test("breakthrough", "bridges", "checkers8", "quoridor", "twixt", "xiangqi", "blokus14", "chinesecheckers")
def a_swap_left_out_is_seen(name):
    """The check can fail: without the exchange of players, images are not games."""
    board = described(name)
    game = game_of(name, board)
    positions, moves = play(game, np.random.default_rng(0))
    for t in board["transforms"]:
        if t["swaps_colours"]:
            assert not survives(game, positions, moves, t["dst"], False), t["name"]


def shard_of(board, positions, rng):
    """Planes of A's and B's pieces and of the player to move (0 is A), and a policy of cells."""
    n, n_cells = len(positions), board["cells"]
    planes = np.zeros((n, 3, n_cells), np.float32)
    for row, position in enumerate(positions):
        for cell, (player, _) in position["stones"].items():
            planes[row, "AB".index(player), cell] = 1
        planes[row, 2] = position["turn"] == "B"
    policy = rng.random((n, n_cells)) * np.array(board["on_board"]) * (planes[:, :2].sum(1) == 0)
    policy = (policy / policy.sum(1, keepdims=True)).astype(np.float32)
    if board["rows"]:
        planes = planes.reshape(n, 3, board["rows"], board["cols"])
    return {"states": planes, "policies": policy}


@tap.test(*sorted(GAMES))
def expand_verify_show(name):
    board = described(name)
    rng = np.random.default_rng(1)
    positions, _ = play(game_of(name, board), rng)
    arrays = shard_of(board, positions[:6], rng)
    path_of_board = f"file:{FOLDER}/{name}.json"
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        options = ["--board", path_of_board]
        made = expand(path, *options, "--order", "transform")
        n = len(arrays["states"])
        for t in board["transforms"]:
            src = np.argsort(t["dst"])
            rows = slice(t["id"] * n, (t["id"] + 1) * n)
            states = arrays["states"].reshape(n, 3, -1)[:, :, src]
            if t["swaps_colours"]:
                states = np.stack((states[:, 1], states[:, 0], 1 - states[:, 2]), 1)
            same_bits(made["states"][rows], states.reshape(arrays["states"].shape), t["name"])
            same_bits(made["policies"][rows], arrays["policies"][:, src], t["name"])
        run("expand", "-q", *options, path, out)
        run("verify", "-q", out)
        assert run("show", *options, "--row", 0, path)[0]
        run("report", "-q", "-o", os.path.join(folder, "report.html"), out)


@tap.test(*sorted(GAMES))
def sampled(name):
    board = f"file:{FOLDER}/{name}.json"
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        run("sample", "-q", "--rows", 20, "--board", board, path)
        run("verify", "-q", "--board", board, path)
        assert run("show", "--board", board, "--row", 19, path)[0]
        run("expand", "-q", "--board", board, path, out)
        run("verify", "-q", out)


@tap.test("tictactoe3d", "qubic", "morris")
def lines_are_played(name):
    """In a sample nobody has filled a line before the last move of a game, which does when it wins."""
    file = f"{FOLDER}/{name}.json"
    board = described(name)
    lines = json.load(open(file, encoding="utf-8")).get("lines")
    if lines is None:
        n = DIMS[name][0]
        cells = np.arange(n ** 3).reshape(n, n, n)
        lines = [cells[tuple(zip(*[[c + k * d for c, d in zip(at, step)] for k in range(n)]))]
                 for step in np.ndindex(3, 3, 3) for step in [np.array(step) - 1] if tuple(step) > (0, 0, 0)
                 for at in np.ndindex(n, n, n)
                 if all(0 <= c + (n - 1) * d < n for c, d in zip(at, step))]  # fmt: skip
        assert len(lines) == {3: 49, 4: 76}[n]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        run("sample", "-q", "--rows", 600, "--board", f"file:{file}", path)
        with np.load(path) as npz:
            state, policy, value = (npz[key] for key in ("state", "policy", "value"))
    stones = state.reshape(len(state), 4, -1)[:, :2]
    filled = lambda plane: any(plane[np.array(line)].all() for line in lines)
    counts = stones.sum((1, 2))
    last = np.flatnonzero(counts[1:] == 0)
    assert len(last) > 5 and not any(filled(plane) for row in stones for plane in row)
    for row in last:
        after = stones[row, 0].copy()
        after[policy[row].argmax()] = 1
        assert value[row] == filled(after), row
        assert value[row] == 1 or counts[row] + 1 == sum(board["on_board"]), row


@tap.test()
def every_board_is_short_and_sourced():
    for file in sorted(os.listdir(FOLDER)):
        name, text = file[: -len(".json")], open(f"{FOLDER}/{file}", encoding="utf-8").read()
        description = json.loads(text)
        assert len(text.splitlines()) <= 15, file
        assert description["source"], file
        assert name in GAMES, f"{file} has no game"
        assert "transforms" not in description, file
        assert len(GAMES) >= 30


if __name__ == "__main__":
    tap.main()
