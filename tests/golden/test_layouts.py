#!/usr/bin/python3
"""Policy layouts of other systems against lists of moves written here: the image of an index is the
index of the mirrored move."""

import json
import os
import tempfile

import numpy as np

from golden import Tap, load, run, same_bits
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


def images_of(arrays, board, *options):
    """The images of every array by transform, with which a set is sound; and the transforms."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        run("expand", "-q", "--order", "transform", "--board", board, *options, path, out)
        run("verify", "-q", out)
        run("show", "--board", board, *options, "--row", 0, path)
        made = load(out)
    transforms = json.loads(run("boards", "--json", board)[0])["transforms"]
    return [(t, {k: np.split(made[k], len(transforms))[i] for k in arrays}) for i, t in enumerate(transforms)]


@tap.test(*[(dtype, first, k) for dtype in ("<u8", ">u8", "<i8", ">i8") for first in ("lsb", "msb")
            for k in (0, 2, 12)])  # fmt: skip
def bitboards(dtype, first, k):
    """Cell i is bit i of the number, from the lowest on or from the highest."""
    rng = np.random.default_rng(3)
    cells = rng.random((9, max(k, 1), 64)) < 0.2
    if k > 1:
        cells[:, 1] &= ~cells[:, 0]

    def packed(cells):
        shifts = np.arange(64, dtype=np.uint64)
        numbers = (cells.astype(np.uint64) << (shifts if first == "lsb" else shifts[::-1])).sum(2, dtype=np.uint64)
        return (numbers if k else numbers[:, 0]).view(dtype[1:]).astype(dtype)

    policy = rng.random((9, 64)) * ~cells.any(1)
    policy = (policy / policy.sum(1, keepdims=True)).astype(np.float32)
    for board in ["othello", "file:share/boards/qubic.json"] + ["breakthrough:8x8"] * (k == 2):
        for t, made in images_of({"bits": packed(cells), "pi": policy}, board, "--role", f"bits=packed:{first}"):
            src = np.argsort(t["dst"])
            same_bits(made["bits"], packed((cells[:, ::-1] if t["swaps_colours"] else cells)[:, :, src]), board)
            same_bits(made["pi"], policy[:, src], board)


@tap.test()
def told_only():
    """Bitboards of fewer cells are refused, a history of planes is moved when told."""
    history = np.zeros((5, 4, 2, 8, 8), np.float32)
    history[:, :, 0, 3, :4] = 1
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, bits=np.arange(1, 11, dtype=np.uint64).reshape(5, 2) << np.uint64(40))
        said = run("expand", "--board", "connect4", "--role", "bits=packed", path, "x.npz", code=65)[1]
        assert "57 to 64 cells; board mirror:6x7 has 42" in said, said
    for t, made in images_of({"frames": history}, "othello", "--role", "frames=planes"):
        src = np.argsort(t["dst"])
        same_bits(made["frames"], history.reshape(5, 4, 2, 64)[..., src].reshape(history.shape), t["name"])


if __name__ == "__main__":
    tap.main()
