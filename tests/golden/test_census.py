#!/usr/bin/python3
"""verify on sets that public trainers' own augmentation code made, and on sets made here with every
kind of images, order and fault: the right verdict for each, without provenance.

tests/data/census/census.tsv names projects and commits. A faulty set must get one of the codes; a
clean one must be recognised and pass.
"""

import json
import os
import subprocess
import tempfile

import numpy as np

from golden import SYMAUG, Tap, data, run
from verify_cases import verify

tap = Tap()
CENSUS = data("census")


def census():
    with open(os.path.join(CENSUS, "census.tsv")) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                yield line.rstrip("\n").split("\t")[:4]


def errors_of(arrays, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        np.savez(path, **arrays)
        codes, result = verify(path, *options)
    return codes, result["files"][0]


@tap.test(*[row[0] for row in census()])
def test_census(name):
    board, flags, expected = next(row[1:4] for row in census() if row[0] == name)
    board = board.replace("file:", f"file:{CENSUS}/")
    codes, result = verify(os.path.join(CENSUS, name), "--board", board, *flags.split())
    file = result["files"][0]
    if expected == "clean":
        assert not codes and file["expanded"] and "images per source" in file["note"], file
    else:
        assert codes & set(expected.split(",")), file


# --- sets made here ---

SQUARE = {  # ids of the board: what becomes of an array whose last two axes are rows and columns
    0: lambda x: x,
    1: lambda x: np.rot90(x, -1, (-2, -1)),
    2: lambda x: np.rot90(x, 2, (-2, -1)),
    3: lambda x: np.rot90(x, 1, (-2, -1)),
    4: lambda x: x[..., ::-1],
    5: lambda x: x[..., ::-1, :],
    6: lambda x: x.swapaxes(-2, -1),
    7: lambda x: np.rot90(x, 2, (-2, -1)).swapaxes(-2, -1),
}
HEX = {0: SQUARE[0], 1: SQUARE[2], 2: SQUARE[6], 3: SQUARE[7]}
INVERSE = [0, 3, 2, 1, 4, 5, 6, 7]


def gomoku(n, size=9, seed=1):
    """Positions of a stones game: two planes, last move, policy off the stones, value."""
    rng = np.random.default_rng(seed)
    planes = np.zeros((n, 3, size, size), np.float32)
    policy = np.zeros((n, size, size), np.float32)
    last = np.zeros((n, 2), np.int64)
    for i in range(n):
        cells = rng.permutation(size * size)
        k = int(rng.integers(2, size * size // 2))
        planes[i, 0].reshape(-1)[cells[: (k + 1) // 2]] = 1
        planes[i, 1].reshape(-1)[cells[(k + 1) // 2 : k]] = 1
        planes[i, 2] = k % 2
        weights = rng.random(size * size - k).astype(np.float32) + np.float32(0.01)
        policy[i].reshape(-1)[cells[k:]] = weights / weights.sum()
        last[i] = divmod(int(cells[0]), size)
    return {"states": planes, "policy": policy, "last_move": last,
            "value": rng.choice([-1.0, 1.0], n).astype(np.float32)}


def image(row, t, maps=SQUARE, swaps=False):
    """The image of one row: planes, policy, last move, value."""
    size = row["states"].shape[-1]
    planes = maps[t](row["states"])
    value = row["value"]
    if swaps and t >= 2:
        planes = np.stack([planes[1], planes[0], 1 - planes[2]])
        value = -value
    cells = np.full((size, size), -1)
    cells[tuple(row["last_move"])] = 1
    return {"states": planes, "policy": maps[t](row["policy"]), "value": value,
            "last_move": np.argwhere(maps[t](cells) == 1)[0]}


def rows_of(source):
    return [{k: v[i] for k, v in source.items()} for i in range(len(source["value"]))]


def orders(name, rows, ids, make):
    """The images of all rows, `make(row, t)` each, one after the other in that order."""
    n = len(rows)
    if name == "sample":
        pairs = [(i, t) for i in range(n) for t in ids]
    elif name == "transform":
        pairs = [(i, t) for t in ids for i in range(n)]
    elif name == "originals":
        pairs = [(i, ids[0]) for i in range(n)] + [(i, t) for i in range(n) for t in ids[1:]]
    elif name == "games":  # of different lengths: each game under one image after the other
        pairs, first = [], 0
        for length in [5, 9, 4, 7] * n:
            game = range(first, min(n, first + length))
            pairs += [(i, t) for t in ids for i in game]
            first += length
    else:
        block = int(name)
        pairs = [(i, t) for b in range(0, n, block) for t in ids for i in range(b, min(n, b + block))]
    return [make(rows[i], t) for i, t in pairs]


def stack(rows, policy=True):
    out = {k: np.stack([r[k] for r in rows]) for k in rows[0]}
    out["policy"] = out["policy"].reshape(len(rows), -1)
    if not policy:
        del out["policy"]
    return out


IDS = {"all": list(range(8)), "rotations": [0, 1, 2, 3], "flips": [0, 4, 5], "three": [0, 4, 6],
       "pair": [0, 2], "five": [0, 1, 3, 6, 7], "klein": [0, 2, 4, 5], "last-first": [7, 0, 3]}
ORDERS = ["sample", "transform", "originals", "games", "7"]
BOARD = ["--board", "square:9", "--value", "mover"]


@tap.test(*[(ids, order) for ids in IDS for order in ORDERS])
def test_clean(ids, order):
    rows = rows_of(gomoku(40))
    arrays = stack(orders(order, rows, IDS[ids], image))
    codes, file = errors_of(arrays, *BOARD)
    assert not codes and file["expanded"], file
    assert f"{len(IDS[ids])} images" in file["note"], file["note"]


@tap.test("transform", "originals", "700", "sample", "games")
def test_large(order):
    """Sets of which a prefix shows some images of each source only."""
    rows = rows_of(gomoku(1500))
    codes, file = errors_of(stack(orders(order, rows, IDS["all"], image)), *BOARD)
    assert not codes and "8 images" in file["note"], file
    assert order != "games" or "blocks of different lengths" in file["note"], file["note"]


@tap.test((4, 8), (15, 4, 1), (9, 11))
def test_unlike_games(*lengths):
    """Games of few different lengths, each from the empty board: part of them looks like equal
    blocks, of fewer images (4, 8) or up to rows of empty boards (15, 4, 1), which tell nothing."""
    source, games = gomoku(sum(lengths)), [k for length in lengths for k in range(length)]
    for i, ply in enumerate(games):
        cells = np.random.default_rng(100 + i - ply).permutation(81)[:ply]
        source["states"][i] = 0
        source["states"][i, 0].reshape(-1)[cells[::2]] = 1
        source["states"][i, 1].reshape(-1)[cells[1::2]] = 1
        source["policy"][i] = (source["states"][i].sum(0) == 0) * source["policy"][i]
        source["policy"][i] /= source["policy"][i].sum()
    rows, images, first = rows_of(source), [], 0
    for length in lengths:
        images += [image(rows[i], t) for t in range(8) for i in range(first, first + length)]
        first += length
    arrays = stack(images)
    del arrays["last_move"]
    codes, file = errors_of(arrays, *BOARD)
    assert not codes and "8 images" in file["note"], file


def wrong(key, other):
    def make(row, t):
        out = image(row, t)
        out[key] = image(row, other(t))[key]
        return out

    return make


def channel_still(row, t):
    out = image(row, t)
    out["states"] = out["states"].copy()
    out["states"][1] = row["states"][1]
    return out


def colours(row, t):
    out = image(row, t)
    if t >= 4:
        out["states"] = out["states"][[1, 0, 2]]
    return out


FAULTS = {  # fault: what makes an image, the codes that name it
    "policy still": (wrong("policy", lambda t: 0), {"policy-not-moved"}),
    "policy inverse": (wrong("policy", lambda t: INVERSE[t]), {"policy-inverse"}),
    "policy wrong axis": (wrong("policy", lambda t: {4: 5, 5: 4}.get(t, t)),
                          {"planes-policy-differ"}),
    "planes still": (wrong("states", lambda t: 0), {"planes-policy-differ", "orbit-planes"}),
    "channel still": (channel_still, {"orbit-planes"}),
    "move still": (wrong("last_move", lambda t: 0), {"coord-not-moved"}),
    "move inverse": (wrong("last_move", lambda t: INVERSE[t]), {"coord-not-moved"}),
    "colours changed": (colours, {"orbit-planes", "planes-policy-differ", "colours-swapped"}),
    "duplicates": (lambda row, t: image(row, {7: 6}.get(t, t)), {"orbit-duplicate"}),
}


@tap.test(*[(fault, order) for fault in FAULTS for order in ORDERS])
def test_fault(fault, order):
    make, expected = FAULTS[fault]
    arrays = stack(orders(order, rows_of(gomoku(40)), IDS["all"], make))
    codes, file = errors_of(arrays, *BOARD)
    assert codes & expected and codes <= expected | {"orbit-missing", "orbit-duplicate"}, file


@tap.test(*[(fault, order) for fault in ("planes still", "policy still")
            for order in ("transform", "originals", "300", "700", "games")])
def test_large_fault(fault, order):
    """Rows far from each other: labels tell the images of planes that were never moved."""
    make, expected = FAULTS[fault]
    codes, file = errors_of(stack(orders(order, rows_of(gomoku(1500)), IDS["all"], make)), *BOARD)
    assert codes & expected and "8 images" in file["note"], file


def shuffled(arrays, share=1.0):
    rows = np.random.default_rng(3).permutation(len(arrays["states"]))
    return {k: v[rows[: int(share * len(rows))]] for k, v in arrays.items()}


@tap.test(*[(board, still) for board in ("square", "two", "hex") for still in (False, True)])
def test_large_shuffled(board, still):
    """Rows of which the first ones show few images of each source, of which some have symmetries."""
    source = gomoku(1500)
    source["states"][:100, :2] = 0
    source["states"][np.arange(100), 0, np.arange(100) % 9, np.arange(100) % 9] = 1
    source["policy"][:100] = source["policy"][100:200] * (source["states"][:100, 0] == 0)
    source["policy"][:100] /= source["policy"][:100].sum((1, 2), keepdims=True)
    make = {"hex": hex_image}.get(board, image)
    ids = {"square": IDS["all"], "two": [0, 4], "hex": [0, 1, 2, 3]}[board]

    def policy_still(row, t):
        return {**make(row, t), "policy": row["policy"]}

    rows = orders("sample", rows_of(source), ids, policy_still if still else make)
    options = HEX_BOARD if board == "hex" else BOARD
    codes, file = errors_of(shuffled(stack(rows)), *options)
    assert f"{len(ids)} images" in file["note"], file["note"]
    assert ("policy-not-moved" in codes) == still, file


@tap.test(False, True)
def test_large_shuffled_moves(still):
    """Policies that are single moves: the first rows look like games, so that the planes of the others
    are read; positions are told from those of an enumeration by the policies of all rows."""
    source = gomoku(640, size=5)
    for policy in source["policy"]:
        policy[:] = policy == policy.max()

    def policy_still(row, t):
        return {**image(row, t), "policy": row["policy"]}

    rows = orders("sample", rows_of(source), IDS["all"], policy_still if still else image)
    codes, file = errors_of(shuffled(stack(rows)), "--board", "square:5", "--value", "mover")
    assert "8 images" in file["note"], file["note"]
    assert ("policy-not-moved" in codes) == still and (still or not codes), file


@tap.test(*[(ids, order) for ids in ("0,0,4", "0,4,0,5") for order in ("sample", "transform")])
def test_identity_twice(ids, order):
    """Policies that are not moved are no images of a source that is one of the others."""
    ids = [int(t) for t in ids.split(",")]
    arrays = stack(orders(order, rows_of(gomoku(40)), ids, FAULTS["policy still"][0]))
    codes, file = errors_of(arrays, *BOARD)
    assert codes == {"policy-not-moved", "orbit-duplicate"}, file


@tap.test("square", "two")
def test_shuffled_still(board):
    """Planes that were never moved, in rows of any order. The same positions from several games are not:
    each has a policy of its own."""
    ids = {"square": IDS["all"], "two": [0, 4]}[board]
    rows = orders("sample", rows_of(gomoku(60)), ids, FAULTS["planes still"][0])
    codes, file = errors_of(shuffled(stack(rows)), *BOARD)
    assert "planes-policy-differ" in codes, file
    for i, row in enumerate(rows):
        row["policy"] = rows_of(gomoku(60, seed=i))[i // len(ids)]["policy"]
        row["policy"] = row["policy"] * (row["states"][:2].sum(0) == 0)
        row["policy"] /= row["policy"].sum()
    codes, file = errors_of(shuffled(stack(rows)), *BOARD)
    assert not codes - {"coord-not-moved"} and not file["expanded"], file


@tap.test(("planes", "transform"), ("a plane", "sample"))
def test_moves_of_still_planes(still, order):
    """Planes of which all or one were never moved, beside single moves, in games of one length: a
    position of any game has as many stones as the same one of another."""
    size = 6
    source = gomoku(240, size=size)
    for i in range(240):
        cells = np.random.default_rng(i // 24).permutation(size * size)
        for key in ("states", "policy"):
            source[key][i] = 0
        source["states"][i, 0].reshape(-1)[cells[: i % 24 : 2]] = 1
        source["states"][i, 1].reshape(-1)[cells[1 : i % 24 : 2]] = 1
        source["states"][i, 2].reshape(-1)[cells[i % 24 - 1]] = 1
        source["policy"][i].reshape(-1)[cells[i % 24]] = 1
    del source["last_move"]

    def planes_still(row, t):
        states = SQUARE[t](row["states"]).copy()
        states[2] = row["states"][2]
        return {"states": row["states"] if still == "planes" else states,
                "policy": SQUARE[t](row["policy"]), "value": row["value"]}

    arrays = stack(orders(order, rows_of(source), IDS["all"], planes_still))
    codes, file = errors_of(arrays, "--board", f"square:{size}", "--value", "mover")
    expected = "planes-policy-differ" if still == "planes" else "orbit-planes"
    assert expected in codes and "8 images" in file["note"], file


def negated(row, t):
    return {**image(row, t), "states": image(row, t)["states"] * (1 if t == 0 else -1)}


def exchanged(row, t):
    return {**image(row, t), "states": image(row, t)["states"][[0, 1, 2] if t == 0 else [1, 0, 2]]}


WRONG_PLANES = {"channel still": channel_still, "negated": negated, "exchanged": exchanged}


@tap.test()
def test_cut_off_planes():
    """Images whose colours are all exchanged are exact images of each other: the policies tell that
    their sources are not others that were not expanded, also where the rows begin amid images."""
    arrays = stack(orders("sample", rows_of(gomoku(40)), IDS["all"], exchanged))
    codes, file = errors_of({k: v[7:] for k, v in arrays.items()}, *BOARD)
    assert "orbit-planes" in codes and "8 images" in file["note"], file


@tap.test(*WRONG_PLANES)
def test_shuffled_planes(fault):
    """Policies tell which rows of any order should be images, or more of them than the planes do. Equal
    numbers in policies that are no images tell nothing."""
    arrays = stack(orders("sample", rows_of(gomoku(60)), IDS["all"], WRONG_PLANES[fault]))
    codes, file = errors_of(shuffled(arrays), *BOARD)
    assert codes >= {"orbit-planes"} and "8 images" in file["note"], file
    source = gomoku(60)
    for i in range(60):  # a peak and a rest that the number of plies decides, in six games
        policy = source["policy"][i].reshape(-1)
        policy[:] = (0.1 + i % 10 / 100) / policy.size
        policy[i * 7 % policy.size] += 1 - policy.sum()
    codes, file = errors_of(shuffled(stack(rows_of(source))), *BOARD)
    assert not codes - {"policy-occupied"} and not file["expanded"], file


@tap.test("policies", "values")
def test_shared_positions(what):
    """Positions that several games have, with labels of their own, of which some images are left
    out: nothing tells whose images are there."""
    source = gomoku(300)
    for i in range(0, 60, 2):
        for key in ("states", "last_move") + (("policy",) if what == "values" else ()):
            source[key][i + 1] = source[key][i]
        source["policy"][i + 1] *= source["states"][i, :2].sum(0) == 0
        source["policy"][i + 1] /= source["policy"][i + 1].sum()
        source["value"][i : i + 2] = [1, -1]
    rows = orders("sample", rows_of(source), IDS["all"], image)
    for share in (0.4, 0.7):
        codes, file = errors_of(shuffled(stack(rows), share), *BOARD)
        assert not codes and file["expanded"], (share, file)


@tap.test()
def test_cut_off():
    """Few rows, which begin and end amid the images of a source."""
    arrays = stack(orders("sample", rows_of(gomoku(5)), IDS["all"], image))
    codes, file = errors_of({k: v[3:-2] for k, v in arrays.items()}, *BOARD)
    assert codes == {"orbit-missing"} and "8 images" in file["note"], file


@tap.test()
def test_cut_originals():
    """The first sources of all are gone, their images are not: as many rows as another set has, whose
    sources would be no images of theirs."""
    arrays = stack(orders("originals", rows_of(gomoku(40)), IDS["klein"], image))
    codes, file = errors_of({k: v[20:] for k, v in arrays.items()}, *BOARD)
    assert not codes - {"orbit-missing"} and "4 images" in file["note"], file


@tap.test("first", "last")
def test_lone_pair(place):
    """Two sources before or after pairs are not images of each other."""
    rows = rows_of(gomoku(40))
    images = orders("sample", rows[2:], IDS["pair"], image)
    images = rows[:2] + images if place == "first" else images + rows[:2]
    codes, file = errors_of(stack(images), *BOARD)
    assert not codes and file["counts"] == {"orbit-missing": 2}, file


@tap.test()
def test_alike_by_chance():
    """Rows at random of a board on which most positions with as many stones are images of each other."""
    with tempfile.TemporaryDirectory() as folder:
        board, path = os.path.join(folder, "four.json"), os.path.join(folder, "four.npz")
        with open(board, "w") as file:
            json.dump({"name": "four", "rows": 2, "cols": 2, "neighbours": "king"}, file)
        for name in (f"file:{board}", "grid:2x2"):
            for seed in range(6):
                options = ["--rows", "30", "--seed", str(seed), path]
                run("sample", "-q", "-f", "--board", name, *options)
                codes, result = verify(path, "--board", name)
                assert not codes and not result["files"][0]["expanded"], result


@tap.test()
def test_shuffled_tiles():
    """A tile is not symmetric because its place is: its numbers change."""
    with tempfile.TemporaryDirectory() as folder:
        source, path = (os.path.join(folder, name) for name in ("source.npz", "images.npz"))
        options = ["--board", "takeiteasy", "--tiles", "permute"]
        run("sample", "-q", "--board", "takeiteasy", "--rows", "40", source)
        run("expand", "-q", *options, "--no-provenance", source, path)
        with np.load(path) as arrays:
            rows = np.random.default_rng(1).permutation(480)
            arrays = {key: array[rows] for key, array in arrays.items()}
    codes, file = errors_of(arrays, *options)
    assert not codes and "12 images" in file["note"], file


@tap.test("planes still", "one policy still")
def test_images_left_out_at_random(fault):
    """Policies that hold the same numbers tell which rows are images of one source, however many."""
    policy_still = wrong("policy", lambda t: 0 if t == 5 else t)
    make = FAULTS[fault][0] if fault in FAULTS else policy_still
    images = orders("sample", rows_of(gomoku(80)), IDS["all"], make)
    rows = np.flatnonzero(np.random.default_rng(5).random(len(images)) < 0.4)
    codes, file = errors_of(shuffled(stack([images[i] for i in rows])), *BOARD)
    assert codes & {"planes-policy-differ", "policy-not-moved"}, file


@tap.test()
def test_lone_rows_of_one_shape():
    """Two sources that were not expanded and are images of each other have policies of their own."""
    rows = rows_of(gomoku(60))
    twins = [{**rows[i], **{key: image(rows[i - 1], 4)[key] for key in ("states", "last_move")}}
             for i in range(21, 30, 4)]
    for row in twins:
        row["policy"] = row["policy"] * (row["states"][:2].sum(0) == 0) + 0
        row["policy"] /= row["policy"].sum()
    images = orders("sample", rows[30:], [0, 4], image)
    codes, file = errors_of(shuffled(stack(rows[:30] + twins + images)), *BOARD)
    assert not codes and "2 images" in file["note"], file


@tap.test(*[(what, alone) for what in ("policies", "moves", "moves and a rest")
            for alone in ("few", "half", "half first")])
def test_partly_expanded(what, alone):
    """Sources of which some were not expanded lack no images, and are no images of one another: where
    they are few, they may as well have lost them, which is a warning."""
    source = gomoku(40)
    if what != "policies":
        best = source["policy"].reshape(40, -1)
        best = np.arange(81) == best.argmax(1)[:, None]
        source["policy"] = best.reshape(40, 9, 9).astype(np.float32)
    rows = rows_of(source)
    if what == "moves and a rest":
        rows = [{**row, "policy": 0.9 * row["policy"]} for row in rows]
    n = 35 if alone == "few" else 20
    order = "transform" if alone == "half first" else "sample"
    ids = IDS["all"][1:] if alone == "half first" else IDS["all"]
    more = orders(order, rows[:n], ids, image)
    arrays = stack(rows + more if alone == "half first" else more + rows[n:])
    if what == "moves and a rest":
        rest = np.full((len(arrays["value"]), 1), 0.1)
        arrays["policy"] = np.concatenate([arrays["policy"].reshape(-1, 81), rest], 1)
    codes, file = errors_of(arrays, *BOARD)
    assert not codes and file["expanded"], file
    assert file["counts"] == ({"orbit-missing": 5} if alone == "few" else {}), file
    if alone == "few":  # one image that is missing is no source that was not expanded
        codes, file = errors_of({key: array[1:] for key, array in arrays.items()}, *BOARD)
        assert codes == {"orbit-missing"} and file["counts"] == {"orbit-missing": 6}, file


@tap.test(*[(share, fault) for share in (0.3, 0.6) for fault in (None, *sorted(FAULTS))])
def test_partly_expanded_in_any_order(share, fault):
    """Sources that were not expanded do not hide, in rows of any order, which others were."""
    make, expected = FAULTS[fault] if fault else (image, set())
    rows = rows_of(gomoku(60))
    n = int(len(rows) * share)
    images = orders("sample", rows[:n], IDS["all"], make) + rows[n:]
    codes, file = errors_of(shuffled(stack(images)), *BOARD)
    assert file["expanded"] and (codes & expected if fault else not file["counts"]), (codes, file)


@tap.test(*[(ids, fault) for ids in ("all", "rotations")
            for fault in (None, "policy still", "policy inverse", "move still")])
def test_drawn_at_random(ids, fault):
    """Images that were drawn at random, some of them twice: a warning, and wrong ones are named."""
    rng = np.random.default_rng(3)
    make, expected = FAULTS[fault] if fault else (image, set())
    images = [make(row, int(t)) for row in rows_of(gomoku(60))
              for t in rng.choice(IDS[ids], len(IDS[ids]))]
    codes, file = errors_of(shuffled(stack(images)), *BOARD)
    assert file["expanded"] and "orbit-duplicate" not in codes, file
    assert (codes & expected) if fault else not codes, file


@tap.test(3, 7, 20)
def test_pairs_and_single_rows(n):
    """Of two images, too, a few sources that were not expanded are a warning, and many are nothing."""
    rows = rows_of(gomoku(40))
    arrays = stack(orders("sample", rows[n:], [0, 4], image) + rows[:n])
    codes, file = errors_of(arrays, "--board", "mirror:9x9", "--value", "mover")
    assert not codes and file["expanded"], file
    assert file["counts"] == ({} if n == 20 else {"orbit-missing": n}), file


@tap.test("move", "policy")
def test_games_of_equal_length(kind):
    """Games of equal length have the same numbers of stones and single moves: no images."""
    rows = gomoku(60)
    for i in range(60):
        cells = np.random.default_rng(i % 2 * 99 + i).permutation(81)
        rows["states"][i] = rows["policy"][i] = 0
        rows["states"][i, 0].flat[cells[: i % 30 // 2 + 1]] = 1
        rows["states"][i, 1].flat[cells[40 : 40 + (i % 30 + 1) // 2]] = 1
        rows["policy"][i].flat[cells[80]] = 1
    arrays = stack(rows_of(rows))
    if kind == "move":
        arrays["move"] = arrays.pop("policy").reshape(60, -1).argmax(1)
    codes, file = errors_of(arrays, *BOARD, "--role", "states=planes")
    assert not file["counts"].get("orbit-planes") and not file["expanded"], file


@tap.test(1, 40, 93)
def test_level_policies(n):
    """Policies that are the same everywhere, or as many positions have them, tell no images."""
    source = gomoku(n)
    source["policy"] = (source["states"][:, :2].sum(1) == 0).astype(np.float32)
    source["policy"] /= source["policy"].sum((1, 2), keepdims=True)
    codes, file = errors_of(stack(rows_of(source)), *BOARD)
    assert not codes and not file["counts"] and not file["expanded"], file


@tap.test("transform", "games")
def test_large_damaged(order):
    """Planes whose CRC is wrong say nothing of images."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        rows = rows_of(gomoku(1500))
        np.savez_compressed(path, **stack(orders(order, rows, IDS["all"], image)))
        with open(path, "rb") as file:
            content = bytearray(file.read())
        for head, crc in (b"PK\x03\x04", 14), (b"PK\x01\x02", 16):  # of the first member
            content[content.index(head) + crc] ^= 1
        with open(path, "wb") as file:
            file.write(content)
        done = subprocess.run([SYMAUG, "verify", "--json", *BOARD, path], capture_output=True)
    counts = json.loads(done.stdout)["files"][0]["counts"]
    assert done.returncode == 65 and set(counts) == {"crc"}, counts


@tap.test("channel still", "duplicates", "planes inverse")
def test_fault_without_policy(fault):
    make, expected = FAULTS.get(fault, (wrong("states", lambda t: INVERSE[t]), {"coord-not-moved"}))
    arrays = stack(orders("sample", rows_of(gomoku(40)), IDS["all"], make), policy=False)
    codes, file = errors_of(arrays, *BOARD)
    assert codes & expected, file


# --- Hex ---


def hex_image(row, t):
    return image(row, t, HEX, True)


def hex_fault(change):
    def make(row, t):
        return change(row, t, hex_image(row, t))

    return make


def never_swapped(row, t, out):
    out["states"] = HEX[t](row["states"])
    return out


def no_to_move(row, t, out):
    out["states"] = out["states"].copy()
    out["states"][2] = row["states"][2]
    return out


def no_value(row, t, out):
    out["value"] = row["value"]
    return out


def half_turn_swapped(row, t, out):
    if t == 1:
        out["states"] = np.stack([out["states"][1], out["states"][0], 1 - out["states"][2]])
    return out


HEX_FAULTS = {
    "colours": (hex_fault(never_swapped), {"colours-not-swapped"}),
    "to-move": (hex_fault(no_to_move), {"to-move-not-flipped"}),
    "value": (hex_fault(no_value), {"value-not-flipped"}),
    "half turn": (hex_fault(half_turn_swapped), {"colours-swapped"}),
    "flips": (lambda row, t: image(row, {0: 0, 1: 2, 2: 4, 3: 5}[t]), {"foreign-symmetry"}),
    "quarter turns": (image, {"foreign-symmetry"}),
}
HEX_BOARD = ["--board", "rhombus:9", "--value", "colour11"]


@tap.test(*[(fault, order) for fault in HEX_FAULTS for order in ("sample", "transform", "said")])
def test_hex(fault, order):
    make, expected = HEX_FAULTS[fault]
    said = ["--order", "sample"] if order == "said" else []
    order = "sample" if order == "said" else order
    arrays = stack(orders(order, rows_of(gomoku(30)), [0, 1, 2, 3], make))
    codes, file = errors_of(arrays, *HEX_BOARD, *said)
    assert codes & expected, file


@tap.test("sample", "transform", "originals", "5")
def test_hex_clean(order):
    arrays = stack(orders(order, rows_of(gomoku(30)), [0, 1, 2, 3], hex_image))
    codes, file = errors_of(arrays, *HEX_BOARD)
    assert not codes and file["expanded"], file


@tap.test("0,1", "0,1,2,3")
def test_hex_many_planes(ids):
    """Six planes of the player to move: nobody says what a swap does to them, the rest is checked."""
    ids = [int(t) for t in ids.split(",")]
    source = gomoku(30)
    extra = np.random.default_rng(5).integers(0, 2, (30, 3, 9, 9)).astype(np.float32)
    source["states"] = np.concatenate([source["states"], extra], 1)
    options = ["--board", "rhombus:9", "--planes", "mover", "--value", "mover"]

    def moved(row, t):
        return {**image(row, t, HEX), "states": HEX[t](row["states"])}

    def still(row, t):
        return {**moved(row, t), "policy": row["policy"]}

    rows = rows_of(source)
    codes, file = errors_of(stack(orders("sample", rows, ids, moved)), *options)
    assert not codes and file["expanded"] and file["counts"] == {"shape": 1}, file
    assert f"{len(ids)} images" in file["note"], file["note"]
    codes, file = errors_of(stack(orders("sample", rows, ids, still)), *options)
    assert codes == {"policy-not-moved"}, file


# --- what is told, what is not recognised ---


@tap.test("transforms", "missing", "not-expanded", "source")
def test_told(what):
    rows = rows_of(gomoku(40))
    arrays = stack(orders("sample", rows, [0, 4, 5, 2], image))
    if what == "transforms":
        codes, file = errors_of(arrays, *BOARD, "--transforms", "0,2,4,5")
        assert not codes and file["expanded"] and file["sources"] == 40, file
    elif what == "missing":
        codes, file = errors_of(arrays, *BOARD, "--transforms", "all")
        assert "orbit-missing" in codes, file
    elif what == "not-expanded":
        codes, file = errors_of(arrays, *BOARD, "--not-expanded")
        assert not codes and not file["expanded"] and file["note"] == "a source, as told", file
    else:
        codes, file = errors_of(stack(rows), *BOARD)
        assert not codes and not file["expanded"] and "not recognised" in file["note"], file


@tap.test()
def test_enumeration():
    """All positions of TicTacToe, each once: no expanded set."""
    states, policies = [], []
    for code in range(3**9):
        cells = np.array([code // 3**k % 3 for k in range(9)])
        mine, theirs = cells == 1, cells == 2
        if theirs.sum() <= mine.sum() <= theirs.sum() + 1 and (cells == 0).any():
            states.append(np.stack([mine, theirs]).reshape(2, 3, 3).astype(np.float32))
            policies.append((cells == 0) / (cells == 0).sum())
    codes, file = errors_of({"states": np.stack(states), "policies": np.stack(policies)},
                            "--board", "tictactoe")
    assert not codes and not file["expanded"], file


@tap.test()
def test_level_but_for_a_rest():
    """Two games of equally many plies: moves that are all alike but for a rest where none is
    possible, then a single move."""
    source = gomoku(28)
    for i in range(28):
        policy = np.zeros(source["policy"][i].size, np.float32)
        policy[: i % 14] = 1e-10
        policy[i % 14 :] = 1 / (policy.size - i % 14)
        if i % 14 >= 9:
            policy = (np.arange(policy.size) == i % 14 - 9).astype(np.float32)
        source["policy"][i] = policy.reshape(source["policy"][i].shape)
        source["states"][i, :2].flat[: i % 14] = 0
    codes, file = errors_of(stack(rows_of(source)), *BOARD)
    assert not file["counts"].get("orbit-planes") and not file["expanded"], file


@tap.test()
def test_unrelated_planes():
    """Rows whose policies repeat while their planes have nothing to do with each other."""
    source = gomoku(40)
    arrays = stack([r for r in rows_of(source) for _ in range(4)])
    arrays["states"] = gomoku(160, seed=2)["states"]
    del arrays["last_move"]
    codes, file = errors_of(arrays, *BOARD)
    assert file["counts"].get("orbit-planes"), file


@tap.test()
def test_castling():
    codes, result = verify(data("census/chess1814_expected_published.npz"), "--board", "chess")
    assert codes == {"castling-not-swapped"}, result


@tap.test("planes", "packed")
def test_mirror_left_out(form):
    """Without castling rights the mirrored position must be there."""
    source = {k: v for k, v in np.load(data("seeds/chess1814_in.npz")).items()}
    role = [] if form == "planes" else ["--role", "states=packed"]
    if form == "packed":
        source["states"] = np.packbits(source["states"].reshape(4, 25, 64) != 0, axis=2)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **source)
        subprocess.run([SYMAUG, "expand", "-q", "--board", "chess", *role, path, out], check=True)
        arrays = dict(np.load(out))
    missing = []
    for i in np.flatnonzero(arrays["symaug_transform"] == 1):
        kept = {k: np.delete(v, i, 0) for k, v in arrays.items()}
        missing.append(sorted(errors_of(kept, "--board", "chess", *role)[0]))
    assert missing == [[], ["orbit-missing"], [], []], missing


@tap.test("keep-identity", "rows-per-shard")
def test_selected_without_manifest(what):
    """The program's own outputs, which hold what was chosen and no more."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **stack(rows_of(gomoku(60))))
        options = {"keep-identity": ["--pick", "4", "--keep-identity"],
                   "rows-per-shard": ["--order", "transform", "--rows-per-shard", "100"]}[what]
        subprocess.run([SYMAUG, "expand", "-q", *BOARD, *options, source, out], check=True)
        names = sorted(n for n in os.listdir(folder) if n.startswith("out") and n.endswith(".npz"))
        for name in names:
            os.remove(os.path.join(folder, name + ".manifest.json"))
            codes, result = verify(os.path.join(folder, name), *BOARD)
            assert not codes, (name, result)

# A board with more transforms than most: 81 translations of a torus.
TORUS = {9 * r + c: lambda x, r=r, c=c: np.roll(x, (r, c), (-2, -1)) for r in range(9) for c in range(9)}


@tap.test("sample", "transform", "4")
def test_many_transforms(order):
    cells = np.arange(81).reshape(9, 9)
    names = [{"name": name, "dst": np.roll(cells, -1, axis).reshape(-1).tolist()}
             for name, axis in (("right", 1), ("down", 0))]
    rows = [{k: row[k] for k in ("states", "policy")} for row in rows_of(gomoku(64))]
    images = orders(order, rows, list(TORUS), lambda row, t: {k: TORUS[t](row[k]) for k in row})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "torus.json")
        with open(path, "w") as file:
            json.dump({"name": "torus", "rows": 9, "cols": 9, "generators": True,
                       "transforms": names}, file)
        for options in [], ["--order", order if order != "4" else "block:4", "--transforms", "all"]:
            codes, file = errors_of(stack(images), "--board", f"file:{path}", *options)
            assert not codes and "expanded, 81 images" in file["note"], (options, file["note"], codes)
            assert file["sources"] == 64, file
        wrong = [dict(row) for row in images]
        wrong[100]["policy"] = np.roll(wrong[100]["policy"], 1, 0)
        codes, _ = errors_of(stack(wrong), "--board", f"file:{path}")
        assert codes & {"planes-policy-differ", "policy-wrong", "policy-inverse"}, codes

@tap.test("all", "some")
def test_positions_that_occur_too_often(which):
    """Nothing tells which row is whose image: what is not compared is said in words."""
    rows = rows_of(gomoku(40))
    rows = rows * 3 if which == "all" else rows + rows[:8] * 2
    images = orders("sample", rows, range(8), image)
    images = [images[i] for i in np.random.default_rng(5).permutation(len(images))]
    _, file = errors_of(stack(images), *BOARD)
    if which == "all":
        assert not file["expanded"] and "nothing tells which rows" in file["note"], file
    else:
        assert file["expanded"] and "; 192 rows are not compared" in file["note"], file

@tap.test("--canonical", "--rows-per-shard 40 --order transform", "--rows-per-shard 40 --shuffle",
          "--pick 2", "--unique --shuffle")
def test_own_outputs(options):
    """What expand writes of positions that are there twice is sound, by its manifest alone."""
    rows = rows_of(gomoku(32))
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out")
        np.savez(source, **stack(rows + rows))
        run("expand", *BOARD, "--no-provenance", *options.split(), "--out-dir", out, source)
        for name in sorted(os.listdir(out)):
            if name.endswith(".npz"):
                codes, result = verify(os.path.join(out, name), *BOARD)
                assert not codes, (name, codes, result)


def listed(policies, form):
    """Policies as lists of what is not zero, ascending in each image."""
    moves = [np.flatnonzero(row).astype(np.int32) for row in policies]
    values = [row[cells] for row, cells in zip(policies, moves)]
    if form == "csr":
        ends = np.cumsum([0] + [len(cells) for cells in moves])
        return {"policy_indices": np.concatenate(moves), "policy_values": np.concatenate(values),
                "policy_offsets": ends}
    if form == "mixed":  # the type differs from row to row
        moves = [row.astype(("<i4", ">i2", ">i8", "u1")[i % 4]) for i, row in enumerate(moves)]
        values = [row.astype(("<f4", ">f8", ">f4")[i % 3]) for i, row in enumerate(values)]
    lists = {"policy_indices": moves, "policy_values": values}
    if form in ("objects", "mixed"):
        return {key: np.array(rows + [None], object)[:-1] for key, rows in lists.items()}
    longest = max(map(len, moves))
    padded = {key: np.stack([np.pad(row, (0, longest - len(row))) for row in rows])
              for key, rows in lists.items()}
    if form == "padded":
        return padded
    pairs = np.stack([padded["policy_indices"], np.ceil(1000 * padded["policy_values"])], 2)
    return {"visit_pairs": pairs.astype(np.int32)}


@tap.test(*[(form, fault) for form in ("objects", "mixed", "padded", "csr", "pairs")
            for fault in ("none", "policy still", "policy inverse", "values")])
def test_listed_anew(form, fault):
    """The moves of each image in ascending order: the same policy, in another order of its list."""
    make = FAULTS[fault][0] if fault in FAULTS else image
    arrays = stack(orders("sample", rows_of(gomoku(30)), IDS["all"], make))
    arrays |= listed(arrays.pop("policy"), form)
    if fault == "values":  # those of the first row, in the order of its moves backwards
        numbers = arrays["visit_pairs"][0, :, 1] if form == "pairs" else arrays["policy_values"]
        numbers = numbers if form in ("pairs", "csr") else numbers[0]
        n = arrays["policy_offsets"][1] if form == "csr" else np.count_nonzero(numbers)
        numbers[:n] = numbers[:n][::-1].copy()
    options = ["--role", "visit_pairs=action:pairs"] if form == "pairs" else []
    codes, file = errors_of(arrays, *BOARD, *options)
    expected = {"none": set(), "values": {"policy-wrong"}}.get(fault, FAULTS.get(fault, (0, set()))[1])
    if form == "pairs":
        expected = {"coord-not-moved"} if fault != "none" else set()
    assert file["expanded"] and codes >= expected and codes <= expected | {"policy-wrong"}, file
    assert bool(codes) == (fault != "none"), file


@tap.test(*[(n, order) for n in (2, 3, 8) for order in ("sample", "transform")])
def test_images_never_made(n, order):
    """The same row instead of each image is an error; the same position with other moves is not."""
    arrays = stack(orders(order, rows_of(gomoku(20)), [0] * n, image))
    codes, file = errors_of(arrays, *BOARD)
    assert codes == {"orbit-duplicate"} and file["counts"] == {"orbit-duplicate": 1}, file
    arrays["last_move"] = np.random.default_rng(2).integers(0, 9, (20 * n, 2))
    del arrays["policy"]
    codes, file = errors_of(arrays, *BOARD)
    assert not codes and not file["expanded"], file


@tap.test(*[(form, order) for form in ("move", "last_move") for order in ("sample", "transform")])
def test_single_moves_of_still_planes(form, order):
    """Rows that differ in nothing but their single moves, which are images of one another."""
    arrays = stack(orders(order, rows_of(gomoku(40)), IDS["all"],
                          lambda row, t: {**image(row, t), "states": row["states"]}))
    del arrays["policy"]
    if form == "move":
        arrays["move"] = arrays.pop("last_move") @ [9, 1]
    codes, file = errors_of(arrays, *BOARD)
    assert "planes-policy-differ" in codes and "8 images" in file["note"], file


@tap.test("sample", "transform")
def test_missing_among_symmetric(order):
    """The rows of an empty board cannot be named; they say nothing of the images that others have."""
    source = gomoku(6)
    source["states"][0] = 0
    arrays = stack(orders(order, rows_of(source), IDS["all"], image))
    missing = 2 * 8 + 3 if order == "sample" else 3 * 6 + 2  # of source 2
    arrays = {key: np.delete(array, missing, 0) for key, array in arrays.items()}
    codes, file = errors_of(arrays, *BOARD)
    assert codes == {"orbit-missing"} and file["counts"] == {"orbit-missing": 1}, file
    assert "8 rows are not compared: their positions are symmetric" in file["note"], file["note"]


@tap.test(3, 4, 5)
def test_any_images(n_images):
    """Other images of each source, in any order: by chance many have the same ones."""
    for seed in range(8):
        rng, rows = np.random.default_rng(seed), rows_of(gomoku(6, seed=seed))
        images = [image(row, t) for row in rows for t in rng.permutation(8)[:n_images]]
        codes, file = errors_of(stack(images), *BOARD)
        assert not codes, (seed, file)


@tap.test()
def test_without_duplicates():
    """Equal rows are left out, that is, half of the images of symmetric positions. Fours fit all
    rows."""
    source = gomoku(60)
    for i in 0, 20, 40:
        source["states"][i, :2] = 0
        source["states"][i, 0, 4, 4] = 1
        source["policy"][i] = 0
        source["policy"][i, i // 20, 4] = 1
    rows, seen = [], set()
    for row in orders("sample", rows_of(source), IDS["all"], image):
        row.pop("last_move")
        key = row["states"].tobytes() + row["policy"].tobytes() + row["value"].tobytes()
        if key not in seen:
            rows.append(row)
        seen.add(key)
    codes, file = errors_of(stack(rows), *BOARD)
    assert len(rows) == 468 and not codes and "8 images" in file["note"], (len(rows), file)


@tap.test("policy", "move")
def test_exchanged_colours(what):
    """Images whose colours change where they should not: the labels tell which images they are, even
    if the planes hold other numbers, and single moves, which leave a choice, do it together."""
    rows = orders("sample", rows_of(gomoku(20)), [0, 4], image)
    arrays = stack(rows)
    stones = arrays.pop("states")[:, :2]
    arrays["board"] = stones[:, 0] - (1 if what == "move" else 2) * stones[:, 1]
    arrays["board"][1::2] *= -1
    del arrays["policy" if what == "move" else "last_move"]
    codes, file = errors_of(arrays, *BOARD)
    assert codes == {"orbit-planes"} and "2 images" in file["note"], file


@tap.test()
def test_constant_plane_changed():
    """Sound images but for a plane that is the same all over: their transforms are no strange ones."""
    rows = orders("sample", rows_of(gomoku(20)), [0, 4], image)
    arrays = {key: array for key, array in stack(rows).items() if key in ("states", "value")}
    arrays["states"][1::2, 2] = 1 - arrays["states"][1::2, 2]
    arrays["states"] = np.packbits(arrays["states"].reshape(40, 3, 81) != 0, axis=2)
    codes, file = errors_of(arrays, *BOARD, "--role", "states=packed")
    assert codes == {"orbit-planes"} and "2 images" in file["note"], file


@tap.test()
def test_turns_by_the_inverse():
    """Two quarter turns whose policies agree with each other, but not with that of the source."""
    arrays = stack(orders("sample", rows_of(gomoku(20)), [0, 1, 3], FAULTS["policy inverse"][0]))
    codes, file = errors_of(arrays, *BOARD)
    assert codes == {"policy-inverse"} and file["counts"] == {"policy-inverse": 40}, file


@tap.test(*[(fault, order) for fault in ("exchanged", "last still") for order in ("sample", "transform")])
def test_planes_alone(fault, order):
    """Without labels the planes that are right tell which images those are whose others are wrong."""
    def make(row, t):
        planes = row["states"].copy()
        planes[2] = 0
        planes[2][tuple(row["last_move"])] = 1
        out = SQUARE[t](planes).copy()
        if t and fault == "exchanged":
            out[:2] = out[1::-1].copy()
        elif fault == "last still":
            out[2] = planes[2]
        return {"states": out, "value": row["value"]}

    rows = orders(order, rows_of(gomoku(20)), [0, 1, 3], make)
    arrays = {key: np.stack([row[key] for row in rows]) for key in ("states", "value")}
    codes, file = errors_of(arrays, *BOARD)
    assert codes == {"orbit-planes"} and "3 images" in file["note"], file


@tap.test()
def test_few_sources_alone():
    """Six sources after six with all their images: as many rows as six times nine images."""
    rows = rows_of(gomoku(12))
    images = [image(rows[i], t) for i in range(12) for t in (range(8) if i % 2 == 0 else [0])]
    codes, file = errors_of(stack(images), *BOARD)
    assert not codes and "8 images" in file["note"], file


@tap.test()
def test_colours_of_empty_boards():
    """Another image than most sources have, of a position that a colour swap leaves as it is."""
    rows = rows_of(gomoku(20))
    rows[0]["states"][:] = 0
    images = [image(row, t, HEX, True) for i, row in enumerate(rows) for t in ([0, 1] if i else [0, 2])]
    arrays = stack(images)
    arrays["states"] = arrays["states"][:, :2]
    del arrays["last_move"]
    codes, file = errors_of(arrays, "--board", "rhombus:9", "--planes", "colour", "--value", "colour11")
    assert not codes and file["expanded"], file


if __name__ == "__main__":
    tap.main()
