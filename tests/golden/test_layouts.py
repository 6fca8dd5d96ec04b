#!/usr/bin/python3
"""Policy layouts of other systems against lists of moves written here: the image of an index is the
index of the mirrored move."""

import tempfile

import numpy as np

from golden import Tap, run
from maps import chess_planes_map
from test_properties import expand_arrays

tap = Tap()
FILES = "abcdefgh"
SQUARES = [f + r for r in "12345678" for f in FILES]


def reached(a, b):
    """A queen or a knight goes from square a to b."""
    files, ranks = abs(ord(a[0]) - ord(b[0])), abs(int(a[1]) - int(b[1]))
    return a != b and (files == 0 or ranks == 0 or files == ranks or files * ranks == 2)


def mirrored(move):
    return "".join("hgfedcba"[FILES.index(c)] if i in (0, 2) else c for i, c in enumerate(move))


def lc0():
    moves = [a + b for a in SQUARES for b in SQUARES if reached(a, b)]
    for a in SQUARES[48:56]:
        moves += [a + b + piece for b in SQUARES[56:] if abs(ord(a[0]) - ord(b[0])) < 2 for piece in "qrb"]
    return moves


def openspiel():
    """Moves as (file, rank, files, ranks, piece), which may leave the board."""
    moves = []
    far = [d for d in range(-7, 8) if d]
    jumps = [(-2, -1), (-2, 1), (-1, -2), (-1, 2), (2, -1), (2, 1), (1, -2), (1, 2)]
    for file in range(8):
        for rank in range(8):
            moves += [(file, rank, files, 1, piece) for piece in "rbn" for files in (0, 1, -1)]
            for steps in ([(0, d) for d in far], [(d, 0) for d in far], [(d, d) for d in far],
                          [(d, -d) for d in far], jumps):  # fmt: skip
                moves += [(file, rank, *step, "") for step in steps]
    return moves


def check_mirror(moves, image, length, n_fixed=0):
    """The policy of row 0 counts its entries, so that its mirror says where they came from."""
    index = {move: i for i, move in enumerate(moves)}
    assert len(index) + n_fixed == length, len(index)
    arrays = {"states": np.zeros((1, 12, 8, 8), np.float32),
              "policies": np.arange(length, dtype=np.float32)[None]}  # fmt: skip
    out = expand_arrays(arrays, "chess", "--castling-planes", "none")["policies"][1, 0]
    for i, move in enumerate(moves):
        assert out[index[image(move)]] == i, f"{move} goes to {np.flatnonzero(out == i)}"
    return out


@tap.test()
def lc0_1858():
    moves = lc0()
    assert moves[0] == "a1b1" and moves[23] == "b1a1" and moves[1791] == "h8g8", "as lc0 has them"
    assert moves[1792:1795] == ["a7a8q", "a7a8r", "a7a8b"] and moves[-1] == "h7h8b"
    check_mirror(moves, mirrored, 1858)
    assert f"chess-1858: {moves.index('e2e4')} is e2e4" in run("boards", "chess", "--action",
                                                               moves.index("e2e4"))[0]  # fmt: skip


@tap.test()
def openspiel_4674():
    out = check_mirror(openspiel(), lambda m: (7 - m[0], m[1], -m[2], *m[3:]), 4674, 2)
    assert list(out[4672:]) == [4673, 4672], "castling to the left is castling to the right"


@tap.test(*[(8, 8), (6, 5)])
def breakthrough(rows, cols):
    """((row * cols + col) * 6 + step) * 2 + capture under the four transforms, colours exchanged."""
    steps = [(1, -1), (1, 0), (1, 1), (-1, -1), (-1, 0), (-1, 1)]
    moves = [(r, c, *step, capture) for r in range(rows) for c in range(cols) for step in steps
             for capture in (0, 1)]  # fmt: skip
    index = {move: i for i, move in enumerate(moves)}
    n = len(moves)
    planes = np.zeros((1, 3, rows, cols), np.float32)
    planes[0, 0, :2] = planes[0, 1, -2:] = 1
    arrays = {"states": planes, "policies": np.arange(n, dtype=np.float32)[None]}
    out = expand_arrays(arrays, f"breakthrough:{rows}x{cols}")
    for t, (down, right) in enumerate(((1, 1), (-1, -1), (1, -1), (-1, 1))):
        for i, (r, c, dr, dc, capture) in enumerate(moves):
            to = (r if down > 0 else rows - 1 - r, c if right > 0 else cols - 1 - c, down * dr,
                  right * dc, capture)  # fmt: skip
            assert out["policies"][t, 0, index[to]] == i, (t, moves[i])
        assert (out["states"][t, 0, 2] == (down < 0)).all()
        assert out["states"][t, 0, 0, :2].all() and out["states"][t, 0, 1, -2:].all()


@tap.test()
def layouts_of_other_arrays():
    """--policy is for what the length leaves open; what has a layout's length is not another's head."""
    n = 42
    arrays = {"states": np.zeros((1, 2, 6, 7), np.float32), "pi": np.arange(7, dtype=np.float32)[None],
              "policy": np.arange(n, dtype=np.float32)[None],
              "probs": np.arange(n, dtype=np.float32).reshape(1, 6, 7),
              "visits": np.arange(n + 1, dtype=np.float32)[None],
              "policy_indices": np.array([[1, 2]]), "policy_values": np.ones((1, 2))}  # fmt: skip
    for layout in ("columns", "cells"):
        out = expand_arrays(arrays, "connect4", "--policy", layout)
        mirrored = np.arange(n).reshape(1, 6, 7)[..., ::-1]
        assert (out["pi"][1] == arrays["pi"][:, ::-1]).all()
        assert (out["policy"][1] == mirrored.reshape(1, n)).all(), out["policy"][1]
        assert (out["probs"][1] == mirrored).all(), out["probs"][1]
        assert (out["visits"][1] == np.append(mirrored, n)).all(), out["visits"][1]
        assert (out["policy_indices"][1] == [5, 4]).all()
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/in.npz", **arrays)
        said = run("expand", "-b", "connect4", "--role=policy=policy:layout=columns", f"{folder}/in.npz",
                   f"{folder}/out.npz", code=65)[1]  # fmt: skip
    assert "42 actions are not the 7 of the layout columns" in said, said
    assert said.rstrip().endswith("--role policy=action-values"), said


def steps_on_board(by_files):
    """(square, kind of move) of all lines and jumps that stay on the board."""
    steps = [(file, rank) for file in (-1, 0, 1) for rank in (-1, 0, 1) if (file, rank) != (0, 0)]
    jumps = [(file, rank) for file in (-2, -1, 1, 2) for rank in (-2, -1, 1, 2) if abs(file * rank) == 2]
    if by_files:
        kinds = [(k * file, k * rank) for k in range(1, 8) for file, rank in steps] + jumps
    else:
        clockwise = lambda step: np.arctan2(step[0], step[1]) % (2 * np.pi)
        kinds = [(k * file, k * rank) for file, rank in sorted(steps, key=clockwise) for k in range(1, 8)]
        kinds += sorted(jumps, key=clockwise)
    return [(file * 8 + rank if by_files else rank * 8 + file, kind) for file in range(8) for rank in range(8)
            for kind, (right, up) in enumerate(kinds) if 0 <= file + right < 8 and 0 <= rank + up < 8]


@tap.test(*[(layout, kind) for layout in ("chess-4672-planes", "chess-4672-pettingzoo", "chess-4864-squares", "chess-4672")
            for kind in ("policy", "mask", "list", "move")])
def test_other_order(layout, kind):
    """Moves that do not exist in the usual layout of a length, but do in another, tell that one."""
    squares = layout.endswith("-squares")
    image = chess_planes_map(4 if squares else 3, layout.endswith("-planes"), False, "pettingzoo" in layout)
    random = np.random.default_rng(3)
    exist = steps_on_board("pettingzoo" in layout)
    n_kinds = len(image) // 64
    indices = [kind * 64 + square if layout in ("chess-4672-planes", "chess-4864") else square * n_kinds + kind
               for square, kind in exist]
    policy = np.zeros((9, len(image)), np.float32)
    for row in policy:
        row[random.choice(indices, 12, replace=False)] = 1 / 12
    arrays = {"states": np.zeros((9, 12, 8, 8), np.float32), "policies": policy}
    options = ["--castling-planes", "none"]
    if kind == "mask":
        arrays["legal"] = policy > 0
    if kind == "move":
        arrays["move"] = policy.argmax(1)
    if kind == "list":
        del arrays["policies"]
        arrays |= {"policy_indices": np.nonzero(policy)[1].reshape(9, 12),
                   "policy_values": np.full((9, 12), 1 / 12)}
        options += ["--policy", "chess-4864" if squares else "chess-4672"]
    with tempfile.TemporaryDirectory() as folder:
        if layout != "chess-4672":
            path = folder + "/in.npz"
            np.savez(path, **arrays)
            _, err = run("expand", "-b", "chess", *options, path, folder + "/out.npz", code=65)
            roles = err.split("use --role ")[1].split(" --role ")
            assert len(roles) == 1 + (kind == "mask") and all(layout in role for role in roles), err
            options += ["--role=" + role.strip() for role in roles]
    out = expand_arrays(arrays, "chess", *options)
    wanted = np.zeros_like(policy)
    wanted[:, image] = policy
    if kind == "list":
        assert np.array_equal(out["policy_indices"][1], image[arrays["policy_indices"]])
    else:
        assert np.array_equal(out["policies"][1], wanted)
    assert kind != "mask" or np.array_equal(out["legal"][1], wanted > 0)
    assert kind != "move" or np.array_equal(out["move"][1], image[arrays["move"]])


if __name__ == "__main__":
    tap.main()
