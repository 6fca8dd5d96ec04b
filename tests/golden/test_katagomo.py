#!/usr/bin/python3
"""Shards of KataGomo's games: Hex as its branch Hex2026 writes it (planes of the player to move and of
the other one; White's rows transposed) and HexGo, played here by their rules."""

import os
import tempfile

import numpy as np

from golden import Tap, load, run, same_bits

tap = Tap()

N = 5
HEX = [(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)]
TURNS = {"identity": lambda a: a, "rotate-180": lambda a: a[..., ::-1, ::-1],
         "transpose": lambda a: a.swapaxes(-1, -2),
         "anti-transpose": lambda a: a[..., ::-1, ::-1].swapaxes(-1, -2)}
OF = {"hex": ["identity", "rotate-180"], "hexgo": list(TURNS)}


def chain(stones, begin):
    """The cells that a chain of stones has in common with those it begins at."""
    found, open_ = set(), [c for c in begin if stones[c]]
    while open_:
        r, c = cell = open_.pop()
        if cell in found:
            continue
        found.add(cell)
        open_ += [(r + y, c + x) for y, x in HEX if 0 <= r + y < N and 0 <= c + x < N and stones[r + y, c + x]]
    return found


def joins(row):
    """Do the mover's stones join the first row and the last one?"""
    return any(r == N - 1 for r, _ in chain(row[0], [(0, c) for c in range(N)]))


def chains(row):
    """The sizes of all chains of both players: what Go is about."""
    return sorted(len(chain(s, [tuple(c)])) for s in row for c in np.argwhere(s))


def games(rng, n):
    """Random games of Hex. Black joins the first row and the last, White the two columns."""
    rows = []
    while len(rows) < n:
        stones = np.zeros((2, N, N), np.uint8)
        for i, cell in enumerate(rng.permutation(N * N)):
            stones[i % 2, cell // N, cell % N] = 1
            mover = 1 - i % 2
            row = stones[[mover, 1 - mover]]
            rows.append(row.swapaxes(1, 2).copy() if mover == 1 else row)
    return np.array(rows[:n])


def shard(folder, rows):
    path = os.path.join(folder, "in.npz")
    run("sample", "-q", "-f", "--board", f"katago:{N}", "--rows", len(rows), path)
    a = load(path)
    planes = np.unpackbits(a["binaryInputNCHWPacked"], axis=2)
    planes[:, 1:3, :N * N] = rows.reshape(len(rows), 2, -1)
    a["binaryInputNCHWPacked"] = np.packbits(planes, axis=2)
    np.savez(path, **a)
    return path, a


def spatial(a):
    """Every array with cells, as squares; the pass goes."""
    bits = np.unpackbits(a["binaryInputNCHWPacked"], axis=2)[:, :, :N * N]
    return [x.reshape(len(x), -1, N, N) for x in (
        bits, a["policyTargetsNCMove"][:, :, :-1], a["qValueTargetsNCMove"][:, :, :-1], a["valueTargetsNCHW"])]


@tap.test("hex", "hexgo")
def test_images(game):
    """The images of `expand` against numpy; the fact of a position is that of all its images, and of no
    more turns than those."""
    fact = {"hex": joins, "hexgo": chains}[game]
    with tempfile.TemporaryDirectory() as folder:
        rows = games(np.random.default_rng(1), 200)
        path, a = shard(folder, rows)
        for board in f"katago:{game}", f"katago:{game}:{N}":
            out = os.path.join(folder, "out.npz")
            run("expand", "-q", "-f", "--order", "sample", "--board", board, path, out)
            b, n = load(out), len(OF[game])
            for before, after in zip(spatial(a), spatial(b)):
                for t, name in enumerate(OF[game]):
                    same_bits(after[t::n], TURNS[name](before), name)
            for key in "globalInputNC", "globalTargetsNC", "scoreDistrN":
                same_bits(b[key], np.repeat(a[key], n, 0), key)
            run("verify", out)
            os.remove(out + ".manifest.json")
            run("verify", out)  # by its zip comment
        facts = [fact(row) for row in rows]
        images = spatial(b)[0][:, 1:3]
        assert all(fact(images[n * i + t]) == facts[i] for i in range(len(rows)) for t in range(n))
        others = [x for k, x in TURNS.items() if k not in OF[game]] + [lambda x: np.rot90(x, 1, (-2, -1))]
        for turn in others:
            assert any(fact(turn(row)) != f for row, f in zip(rows, facts))


@tap.test()
def test_refused():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = shard(folder, games(np.random.default_rng(2), 20))
        out = os.path.join(folder, "out.npz")
        for board, code, text in [("katago:hex:7", 65, "katago:5"), ("katago:y", 64, "katago:hexgo"),
                                  ("katago:quax:5", 64, "are known"), ("katago:hex:x", 64, "katago:hex:L")]:
            assert text in run("expand", "--board", board, path, out, code=code)[1], board
        run("sample", "-q", "--board", "go9", "--rows", 5, os.path.join(folder, "go.npz"))
        said = run("expand", "--board", "katago:hex", os.path.join(folder, "go.npz"), out, code=65)[1]
        assert "KataGo shard" in said, said
        run("expand", "-q", "--board", f"katago:{N}", path, out)
        said = run("verify", "--board", "katago:hex", out, code=1)[0]  # of 8 images, 2 have a name
        assert "orbit" in said and "(null)" not in said, said


tap.main()
