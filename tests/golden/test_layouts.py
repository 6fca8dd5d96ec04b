#!/usr/bin/python3
"""Policy layouts of other systems against lists of moves written here: the image of an index is the
index of the mirrored move."""

import tempfile

import numpy as np

from golden import Tap, run
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


if __name__ == "__main__":
    tap.main()
