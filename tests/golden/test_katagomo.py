#!/usr/bin/python3
"""Shards of KataGomo's games, whose positions are drawn and judged here by their rules: a row holds the
stones of the player to move and those of the other one. Branches turn White's rows: Hex transposes
them, so that both players join the first row and the last, games of men that go ahead turn them
upside down. What `expand` writes is compared with what such a branch would have written for the
image of the position."""

import json
import os
import re
import tempfile

import numpy as np

from golden import Tap, load, run, same_bits

tap = Tap()

N = 5
STEPS = {4: [(0, 1), (1, 0), (0, -1), (-1, 0)], 6: [(0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1)]}
STEPS[8] = STEPS[4] + [(1, 1), (1, -1), (-1, -1), (-1, 1)]
TURNS = {"identity": lambda a: a, "rotate-90": lambda a: np.rot90(a, -1, (-2, -1)),
         "rotate-180": lambda a: a[..., ::-1, ::-1], "rotate-270": lambda a: np.rot90(a, 1, (-2, -1)),
         "mirror-left-right": lambda a: a[..., ::-1], "mirror-up-down": lambda a: a[..., ::-1, :],
         "transpose": lambda a: a.swapaxes(-1, -2),
         "anti-transpose": lambda a: a[..., ::-1, ::-1].swapaxes(-1, -2)}  # fmt: skip
# Turns of a position that exchange the players' aims, so that the colours are exchanged with them.
SWAPS = {"long-diagonal-swap": TURNS["transpose"], "short-diagonal-swap": TURNS["anti-transpose"]}


def on(cell):
    return all(0 <= x < N for x in cell)


def chains(stones, steps):
    """Chains of joined stones."""
    found, rest = [], {tuple(c) for c in np.argwhere(stones)}
    while rest:
        chain = [rest.pop()]
        for r, c in chain:
            near = rest & {(r + y, c + x) for y, x in STEPS[steps]}
            rest -= near
            chain += near
        found.append(chain)
    return found


def runs(stones, taken, cell, step, k=1):
    """From a cell on: how many stones in a line, and whether a free cell ends it."""
    at = lambda k: (cell[0] + k * step[0], cell[1] + k * step[1])
    while on(at(k)) and stones[at(k)]:
        k += 1
    return k - 1, on(at(k)) and not taken[at(k)]


# --- facts of a row: of the player to move, then of the other one ---


def joins(row):
    """Hex, stored: do the mover's stones join the first row and the last one, the other's the columns?"""
    ends = [[{c[axis] for c in chain} >= {0, N - 1} for chain in chains(s, 6)] for axis, s in enumerate(row)]
    return [any(e) for e in ends]


def liberties(steps):
    def fact(row):
        free = ~row.any(0)
        return [sorted((len(c), len({(r + y, x + z) for r, x in c for y, z in STEPS[steps]
                                     if on((r + y, x + z)) and free[r + y, x + z]})) for c in chains(s, steps))
                for s in row]  # fmt: skip
    return fact


def lines(row):
    """Stones in a line, with their open ends."""
    taken = row.any(0)
    return [sorted(runs(s, taken, c, d) + runs(s, taken, c, (-d[0], -d[1]))
                   for c in map(tuple, np.argwhere(s)) for d in STEPS[8]) for s in row]  # fmt: skip


def flips(row):
    """Reversi: how many stones every legal move flips."""
    taken, found = row.any(0), []
    for own, other in (row, row[::-1]):
        moves = []
        for cell in map(tuple, np.argwhere(~taken)):
            n = 0
            for d in STEPS[8]:
                k, _ = runs(other, taken, cell, d)
                end = cell[0] + (k + 1) * d[0], cell[1] + (k + 1) * d[1]
                n += k if on(end) and own[end] else 0
            moves.append(n)
        found.append(sorted(moves))
    return found


def reach(row):
    """Amazons and Ataxx: free cells that a piece reaches on a line, and within two steps."""
    free = ~row.any(0)
    return [sorted((sum(runs(free, free, c, d)[0] for d in STEPS[8]),
                    int(free[max(c[0] - 2, 0):c[0] + 3, max(c[1] - 2, 0):c[1] + 3].sum()))
                   for c in map(tuple, np.argwhere(s))) for s in row]  # fmt: skip


def boxes(row):
    """Dots and Boxes on odd rows and columns: how many sides of each box are drawn."""
    drawn = row.any(0)
    return sorted(sum(drawn[r + y, c + x] for y, x in STEPS[4]) for r in (1, 3) for c in (1, 3))


def smalls(row):
    """Ultimate: what is won on small boards; here of 2 x 2 cells with one between them."""
    return [sorted(int(s[r:r + 2, c:c + 2].sum()) for r in (0, 3) for c in (0, 3)) for s in row]


def ahead(row):
    """Breakthrough, stored: the mover's men go up, the others down; who stands there bars the way."""
    taken, moves = row.any(0), []
    for own, way in zip(row, (-1, 1)):
        for r, c in np.argwhere(own):
            for x in (-1, 0, 1):
                to = (r + way, c + x)
                moves.append(on(to) and not (taken if x == 0 else own)[to])
    return [len(moves), sum(moves)]


def falls(row):
    """Connect Four: does every stone rest on another or on the floor?"""
    taken = row.any(0)
    return bool((taken[:-1] <= taken[1:]).all()), lines(row)


ALL = list(TURNS)
GAMES = {
    "hex": (["identity", "rotate-180"] + list(SWAPS), joins), "hexgo": (ALL[:3:2] + ALL[6:], liberties(6)),
    "gomoku": (ALL, lines), "renju": (ALL, lines), "caro": (ALL, lines), "connect6": (ALL, lines),
    "reversi": (ALL, flips), "ataxx": (ALL, reach), "amazons": (ALL, reach), "nogo": (ALL, liberties(4)),
    "capturego": (ALL, liberties(4)), "lifego": (ALL, liberties(4)), "ultimate": (ALL, smalls),
    "dotsandboxes": (ALL, boxes), "breakthrough": (ALL[:5:4], ahead), "connect4": (ALL[:5:4], falls),
}  # fmt: skip


def stored(game, white, cells):
    """What a branch writes of something that has cells."""
    turn = {"hex": "transpose", "breakthrough": "mirror-up-down"}.get(game)
    return TURNS[turn](cells) if white and turn else cells


def positions(rng, n, game):
    """Black's and White's stones, and whose turn it is."""
    found = []
    for _ in range(n):
        stones = np.zeros((2, N, N), bool)
        for i in range(rng.integers(4, 20)):
            free = np.argwhere(~stones.any(0))
            cell = free[rng.integers(len(free))]
            if game == "connect4":
                cell = free[free[:, 1] == cell[1]].max(0)
            stones[i % 2, cell[0], cell[1]] = True
        found.append((stones, bool((i + 1) % 2)))
    return found


def arrays(game, whites, bits, policy, values, globals_):
    """The members of a shard: maps of cells as a branch stores them."""
    def turned(a):
        return np.array([stored(game, white, x) for white, x in zip(whites, a)])

    n, pads = len(whites), np.zeros((len(whites), 2, 1), np.int16)
    globals_ = globals_.copy()
    globals_[:, 0] = whites
    return {"binaryInputNCHWPacked": np.packbits(turned(bits).reshape(n, 22, -1), axis=2),
            "policyTargetsNCMove": np.concatenate([turned(policy).reshape(n, 2, -1), pads + 7], 2).astype("<i2"),
            "valueTargetsNCHW": turned(values), "globalInputNC": globals_}  # fmt: skip


@tap.test(*GAMES)
def test_images(game):
    """Image by image what the branch would have written for the image of the position; the fact of a row
    is that of all its images, and of no other turn."""
    names, fact = GAMES[game]
    rng, n, k = np.random.default_rng(list(GAMES).index(game)), 60, len(names)
    found = positions(rng, n, game)
    whites = np.array([white for _, white in found])
    movers = np.array([stones[::-1] if white else stones for stones, white in found])
    bits = rng.integers(0, 2, (n, 22, N, N), np.uint8)
    bits[:, 1:3] = movers
    policy, values = rng.integers(0, 999, (n, 2, N, N), np.int16), rng.integers(-120, 120, (n, 5, N, N), np.int8)
    globals_ = rng.random((n, 19), np.float32)
    before = arrays(game, whites, bits, policy, values, globals_)
    copied = {"globalTargetsNC": rng.random((n, 64), np.float32),
              "scoreDistrN": rng.integers(0, 100, (n, 2 * N * N + 120), np.int8)}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **before, **copied)
        for board in f"katago:{game}", f"katago:{game}:{N}":
            run("expand", "-q", "-f", "--order", "sample", "--board", board, path, out)
            b = load(out)
            for t, name in enumerate(names):
                turn = TURNS.get(name) or SWAPS[name]
                expected = arrays(game, whites ^ (name in SWAPS), *map(turn, (bits, policy, values)), globals_)
                for key, array in {**expected, **copied}.items():
                    same_bits(b[key][t::k], array, f"{name} {key}")
            run("verify", out)
        os.remove(out + ".manifest.json")
        run("verify", "--board", f"katago:{game}", out)
        run("verify", out)  # by its zip comment
    rows = lambda a: np.unpackbits(a["binaryInputNCHWPacked"], axis=2)[:, 1:3, :N * N].reshape(-1, 2, N, N) > 0
    facts = [fact(row) for row in rows(before)]
    assert all(fact(row) == facts[i // k] for i, row in enumerate(rows(b)))
    for name in set(TURNS) - set(names):
        assert any(fact(TURNS[name](row)) != f for row, f in zip(rows(before), facts)), name


COPIED = ("globalInputNC", "globalTargetsNC", "scoreDistrN")


def sample(folder, board, rows=40, name="in.npz"):
    path = os.path.join(folder, name)
    run("sample", "-q", "--board", board, "--rows", rows, path)
    return path


@tap.test()
def test_swapped_labels():
    """Whose turn it is must be told by the row, and a colour that is left behind is found."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = sample(folder, f"katago:hex:{N}"), os.path.join(folder, "out.npz")
        run("verify", "--board", "katago:hex", path)
        run("expand", "-q", "--board", "katago:hex", path, out)
        with open(out + ".manifest.json", encoding="utf-8") as file:
            listed = {a["name"]: a for a in json.load(file)["outputs"][0]["arrays"]}
        assert listed["globalInputNC"]["swap"] == "0 and 1 exchanged in the first column"
        assert run("show", "--row", 0, out)[0].count("white to move") == 2  # of four images
        run("report", "-o", os.path.join(folder, "r.html"), out)
        os.remove(out + ".manifest.json")
        a = load(out)
        n = len(a["globalInputNC"])
        a["globalInputNC"][n // 2, 0] = 1 - a["globalInputNC"][n // 2, 0]
        np.savez(out, **a)
        said = run("verify", "--board", "katago:hex", "--order", "block:16", out, code=1)[0]
        assert "globalInputNC" in said and "to-move-not-flipped 1" in said, said
        a = load(path)
        a["globalInputNC"][7, 0] = 0.5
        np.savez(path, **a)
        said = run("expand", "-f", "--board", "katago:hex", path, out, code=65)[1]
        assert re.search("globalInputNC.*row 7: 0.5 in the first column", said), said
        run("expand", "-q", "-f", "--board", "katago:hex", "--transforms", "0,1", path, out)


@tap.test(*[(game, key) for game in ("", ":reversi", ":hex") for key in COPIED])
def test_copies_of_other_rows(game, key):
    """What no transform changes is repeated in an order of its own, so that it stands beside other rows."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = sample(folder, f"katago{game}:{N}"), os.path.join(folder, "out.npz")
        a = load(path)
        a[key][:] = np.arange(a[key].size).reshape(a[key].shape) % 100
        if game == ":hex":
            a["globalInputNC"][:, 0] = np.arange(len(a[key])) % 2
        np.savez(path, **a)
        run("expand", "-q", "--board", f"katago{game}", "--order", "sample", path, out)
        b = load(out)
        b[key][:, 1:] = np.tile(a[key], (len(b[key]) // len(a[key]), 1))[:, 1:]
        np.savez(out, **b)
        os.remove(out + ".manifest.json")
        said = run("verify", "--board", f"katago{game}", "--order", "sample", out, code=1)[0]
        assert "copy-changed" in said, said


@tap.test("12", "pm1")
def test_flag_is_0_or_1(coding):
    """However --to-move says that other arrays name the player, the flag does so by 0 and 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = sample(folder, f"katago:hex:{N}")
        run("verify", "--board", "katago:hex", "--to-move", coding, path)
        plain = run("show", "--board", "katago:hex", "--row", "0", path)[0]
        assert run("show", "--board", "katago:hex", "--row", "0", "--to-move", coding, path)[0] == plain


@tap.test(*[(order, transforms) for order in ("block:16", "sample", "transform", "shuffled")
            for transforms in ("all", "0,1", "0,2", "0,3", "0,1,2")])  # fmt: skip
def test_flag_alone(order, transforms):
    """Rows of the player to move are alike under an identity and a swap: that flag alone tells the images
    apart, without manifest and provenance."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = sample(folder, f"katago:hex:{N}"), os.path.join(folder, "out.npz")
        run("expand", "-q", "--board", "katago:hex", "--transforms", transforms,
            "--order", "transform" if order == "shuffled" else order, path, out)  # fmt: skip
        a = load(out)
        os.remove(out + ".manifest.json")
        n = len(a["globalInputNC"])
        if order == "shuffled":
            shuffled = np.random.default_rng(3).permutation(n)
            a = {key: array[shuffled] for key, array in a.items()}
        for wrong in [], [n // 2], list(range(0, n, 9)), list(range(n // 4 if (order, transforms) == ("transform", "all") else 0)):
            b = {key: array.copy() for key, array in a.items()}
            b["globalInputNC"][wrong, 0] = 1 - b["globalInputNC"][wrong, 0]
            np.savez(out, **b)
            if order == "shuffled" and (transforms != "all" or len(wrong) > 2):
                continue  # what is wrong is a source of its own
            said = run("verify", "--board", "katago:hex", out, code=1 if wrong else 0)[0]
            images = len(transforms.split(",")) if transforms != "all" else 4
            assert f"{images} images per source" in said, said
            assert not wrong or "to-move-not-flipped" in said or "orbit-duplicate" in said, said


@tap.test()
def test_refused():
    with tempfile.TemporaryDirectory() as folder:
        path, out = sample(folder, f"katago:{N}"), os.path.join(folder, "out.npz")
        for board, code, text in [("katago:hex:7", 65, "katago:5"), ("katago:y", 64, "hexgo gomoku renju"),
                                  ("katago:quax:5", 64, "are known"), ("katago:hex:x", 64, "katago:hex:L"),
                                  ("katago:gomokux", 64, "gomoku")]:
            assert text in run("expand", "--board", board, path, out, code=code)[1], board
        said = run("expand", "--board", "katago:hex", sample(folder, "go9", 5, "go.npz"), out, code=65)[1]
        assert "KataGo shard" in said, said
        run("expand", "-q", "--board", f"katago:{N}", path, out)
        said = run("verify", "--board", "katago:hex", out, code=1)[0]  # of 8 images, 2 have a name
        assert "orbit" in said and "(null)" not in said, said


@tap.test(*GAMES)
def test_sample(game):
    """Samples are sound, alone and with their images."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = sample(folder, f"katago:{game}:7"), os.path.join(folder, "out.npz")
        run("expand", "-q", "--board", f"katago:{game}", path, out)
        for one in path, out:
            run("verify", "--board", f"katago:{game}", one)


tap.main()
