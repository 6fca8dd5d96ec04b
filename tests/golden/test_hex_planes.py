#!/usr/bin/python3
"""The third plane of Hex: what is no player to move is refused, with the planes that are right."""

import json
import os
import re
import tempfile

import numpy as np

from golden import Tap, load, run, same_bits

tap = Tap()
N, ROWS = 6, 16


def position(row, order):
    blue, red, last = np.zeros((3, N, N))
    for ply in range(row):
        (blue, red)[ply % 2].flat[order[ply]] = 1
    if row > 0:
        last.flat[order[row - 1]] = 1
    return blue, red, 1 - blue - red, last


def planes(make, dtype="<f4"):
    """make(blue, red, empty, last, ply) gives the planes of a row."""
    random = np.random.default_rng(8)
    rows = []
    for row in range(ROWS):
        parts = make(*position(row, random.permutation(N * N)), row)
        rows.append([np.broadcast_to(part, (N, N)) for part in parts])
    return np.array(rows).astype(dtype)


def turn(a, b):
    return lambda x: np.where(x == a, b, np.where(x == b, a, x))


def same(x):
    return x


# name, planes of a row, permutation that is offered ("" none), where plane i goes, flags instead
# of --planes, what becomes of plane i's numbers
CASES = [
    ("empty", lambda b, r, e, l, p: (b, r, e), "1,0,2", None, same),
    ("openspiel order", lambda b, r, e, l, p: (e, b, r), "0,2,1", None, same),
    ("empty between", lambda b, r, e, l, p: (b, e, r), "2,1,0", None, same),
    ("last move", lambda b, r, e, l, p: (b, r, l), "1,0,2", None, same),
    ("ply", lambda b, r, e, l, p: (b, r, p), "1,0,2", None, same),
    ("share of plies", lambda b, r, e, l, p: (b, r, p / 64), "1,0,2", None, same),
    ("to move first", lambda b, r, e, l, p: (p % 2, b, r), "~0,2,1", None, turn(0, 1)),
    ("to move between", lambda b, r, e, l, p: (b, p % 2, r), "2,~1,0", None, turn(0, 1)),
    ("1 and -1", lambda b, r, e, l, p: (b, r, 1 - p % 2 * 2), "1,0,-2", None, turn(1, -1)),
    ("1 and -1 said", lambda b, r, e, l, p: (b, r, 1 - p % 2 * 2), "", "--to-move=pm1", turn(1, -1)),
    ("1 and 2 said", lambda b, r, e, l, p: (b, r, 1 + p % 2), "", "--to-move=12", turn(1, 2)),
    ("1 and 2", lambda b, r, e, l, p: (b, r, 1 + p % 2), "1,0,=2", None, turn(1, 2)),
    ("2 alone", lambda b, r, e, l, p: (b, r, 2), "1,0,=2", None, turn(1, 2)),
    ("-1 alone", lambda b, r, e, l, p: (b, r, -1), "1,0,-2", None, turn(1, -1)),
    ("0 and 255", lambda b, r, e, l, p: (b, r, p % 2 * 255), "write it as 0 and 1", "", None),
    ("0 and 1, 12 said", lambda b, r, e, l, p: (b, r, p % 2), "", "--to-move=12", turn(0, 1)),
]


@tap.test(*[(i, dtype, last) for i in range(len(CASES)) for dtype in ("<f4", ">f8", "<i2")
            for last in (False, True)])
def test_third(case, dtype, channels_last):
    name, make, offered, said, change = CASES[case]
    source = planes(make, dtype)
    if "share" in name and np.dtype(dtype).kind != "f":
        return
    stored = np.moveaxis(source, 1, -1) if channels_last else source
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, obs=stored)
        options = ["-b", f"rhombus:{N}"] + ([said] if said else [])
        if not said:
            _, err = run("expand", *options, path, out, code=65)
            assert not os.path.exists(out)
            assert "obs" in err and "row " in err and "expected 0 or 1" in err, err
            if change is None:
                assert offered in err, err
                return
            assert f"use --planes {offered} " in err, err
            options.append(f"--planes={offered}")
        run("expand", "-q", "--transforms=2,3", *options, path, out)
        arrays = load(out)
        run("verify", "-q", "--order=block:16", out)  # its manifest says what the flags said
        run("verify", "-q", out + ".manifest.json")
        os.remove(out + ".manifest.json")
        run("verify", "-q", *options, out)
    order = [int(re.sub("[~=-]", "", to)) for to in (offered or "1,0,2").split(",")]
    odd = [i for i in range(3) if order[i] == i][0]
    for t, move in (2, lambda g: np.swapaxes(g, -1, -2)), (3, lambda g: np.rot90(g, 2, (-2, -1))):
        found = arrays["obs"][arrays["symaug_transform"] == t]
        found = np.moveaxis(found, -1, 1) if channels_last else found
        image = move(source) if t == 2 else np.swapaxes(move(source), -1, -2)
        for i in range(3):
            wanted = change(image[:, i]).astype(dtype) if i == odd else image[:, i]
            same_bits(found[:, order[i]], wanted, f"{name} {t} plane {i}")


@tap.test("12", "pm1")
def test_coding_of_all_inputs(coding):
    """A file whose players are all 1 is coded as the others; the manifests say how."""
    other = {"12": 2, "pm1": -1}
    with tempfile.TemporaryDirectory() as folder:
        for name, codes in {"a": (1, 1), "b": (1, other[coding]), "c": (0, 1)}.items():
            np.savez(os.path.join(folder, name), obs=planes(
                lambda b, r, e, l, p: (b, r, codes[p % 2]))[0::2 if codes == (1, 1) else 1])
        for second, third, words in ("b", other[coding], coding), ("c", 0, "01"):
            inputs = [os.path.join(folder, f"{x}.npz") for x in ("a", second)]
            out = os.path.join(folder, "out-" + second)
            run("expand", "-q", "-b", f"rhombus:{N}", "--to-move", coding, "--out-dir", out, *inputs)
            for name in "a", second:
                path = os.path.join(out, name + ".npz")
                run("verify", "-q", path)
                swapped = load(path)
                swapped = swapped["obs"][swapped["symaug_transform"] >= 2]
                assert third in swapped[:, 2] and set(swapped[:, 2].flat) <= {1, third}, name
                with open(path + ".manifest.json") as file:
                    said = json.load(file)["conventions"]["to-move-plane"]
                assert said["meaning"] == words, said


@tap.test("1,0,~2", "~0,2,1")
def test_marked_plane(option):
    """A plane that is marked as the player to move is looked at like the third one."""
    make = (lambda b, r, e, l, p: (b, r, e)) if option[0] == "1" else (lambda b, r, e, l, p: (l, b, r))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, obs=planes(make))
        _, err = run("expand", "-b", f"rhombus:{N}", f"--planes={option}", path, path + ".o.npz",
                     code=65)
        assert "expected 0 or 1" in err, err


@tap.test(("0,~1", 1), ("~0,1", 0))
def test_stones_of_one_player(option, turn):
    """Two planes, one of them the player to move: the stones are not held against a third plane."""
    boards = planes(lambda b, r, e, l, p: (b, p % 2) if turn == 1 else (p % 2, b))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, boards=boards, value=np.zeros(ROWS, "<f4"))
        said, _ = run("verify", "-b", f"rhombus:{N}", "--planes", option, path)
        assert "overlap" not in said, said
        run("expand", "-b", f"rhombus:{N}", "--planes", option, path, os.path.join(folder, "out.npz"))


def ones(array, unequal):
    """Positions whose third plane is 1 in every row: blue has one stone more (unequal), or as many."""
    states = planes(lambda blue, red, empty, last, ply: (blue, red, 1))
    states = states[2 + unequal::2]
    arrays = {"states": states, "policy": np.zeros((len(states), N * N), "<f4")}
    if array is not None:
        arrays["turn"] = np.full(len(states), array, "<i4")
    return arrays


# the coding told, the array of players (or none), whether blue has one stone more, what comes of it
ONES = [("12", 1, False, 2), ("12", 2, False, 0), ("pm1", 1, False, -1), ("pm1", -1, False, 0),
        ("12", None, True, 0), ("pm1", None, True, 0), ("12", 1, True, 2), ("12", 2, True, 0),
        ("12", None, False, None), ("pm1", None, False, None)]


@tap.test(*range(len(ONES)))
def test_only_ones(case):
    """A plane that is 1 in every row says nothing of its coding: the players beside it do, or the
    stones; else it is refused, and what is offered works."""
    coding, array, unequal, wanted = ONES[case]
    arrays = ones(array, unequal)
    told = ["expand", "-f", "--board", "rhombus:6", "--to-move", coding]
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)

        def third(*options):
            run(*told, *options, path, out)
            run("verify", out)
            images = load(out)
            swapped = images["symaug_transform"] >= 2
            assert (images["states"][~swapped, 2] == 1).all()
            return set(images["states"][swapped, 2].flat)

        if wanted is not None:
            assert third() == {wanted}
            return
        _, err = run(*told, path, out, code=65)
        mark = {"12": "=", "pm1": "-"}[coding]
        assert f"Use --planes 1,0,{mark}2 or 1,0,~2" in err and "throughout" in err, err
        assert third("--planes", f"1,0,{mark}2") == {{"12": 2, "pm1": -1}[coding]}
        assert third("--planes", "1,0,~2") == {0}


@tap.test("array", "stones")
def test_ones_contradicted(kind):
    """Players or stones of both sides beside a plane of ones: it is not the player to move."""
    arrays = ones(None, False)
    n = len(arrays["states"])
    if kind == "array":
        arrays["turn"] = np.arange(n) % 2 + 1
    else:
        arrays["states"][::2, 0, 0, 0] = 1 - arrays["states"][::2, :2, 0, 0].sum(1)
        arrays["states"][1::2, 1, 0, 0] = 1 - arrays["states"][1::2, :2, 0, 0].sum(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays)
        _, err = run("expand", "--board", "rhombus:6", "--to-move=12", path, path + "o", code=65)
        assert "contradict" in err, err


def played(order):
    """Positions of games in their course, planes (blue, red, to move) in that order."""
    states = planes(lambda blue, red, empty, last, ply: (blue, red, ply % 2))
    return {"states": np.ascontiguousarray(states[:, order]), "policy": np.zeros((len(states), N * N), "<f4")}


@tap.test(("1,0,2", (0, 1, 2), 2), ("0,2,1", (2, 0, 1), 0), ("1,0,~2", (0, 1, 2), None), ("0,1,2", (0, 1, 2), 2))
def test_turn_left_alone(option, order, plane):
    """--planes that leave the player to move as it is are warned of."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **played(order))
        _, err = run("expand", "--board", "rhombus:6", "--planes", option, path, out)
        assert (f"plane {plane} is the player to move" in err) == (plane is not None), err
        run("expand", "-f", "--board", "rhombus:6", "--planes", option, "--transforms=0,1", path, out)


@tap.test("same", "other")
def test_turn_contradicted(kind):
    """Players beside the plane that name the other one are warned of."""
    arrays = played((0, 1, 2))
    turn = arrays["states"][:, 2, 0, 0].astype("i1")
    arrays["to_play"] = 1 - turn if kind == "other" else turn
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        _, err = run("expand", "--board", "rhombus:6", path, out)
        assert (f"{len(turn)} of {len(turn)} rows" in err) == (kind == "other"), err


@tap.test("right", "other player", "excess", "mover", "third", "third, late", "left alone")
def test_many_packed(kind):
    """Rows that are counted while they pass by tell what those tell that are read beforehand."""
    arrays = {key: np.tile(array, (60,) + (1,) * (array.ndim - 1)) for key, array in played((0, 1, 2)).items()}
    states, n = arrays["states"], len(arrays["states"])
    arrays["policy"][:, 0] = 1
    arrays["to_play"] = states[:, 2, 0, 0].astype("i1")
    options, code = [], 0
    if kind == "other player":
        arrays["to_play"][700:] = 1 - arrays["to_play"][700:]
    elif kind == "excess":
        states[900, 2] = 1 - states[900, 2]
    elif kind == "mover":
        options, code = ["--planes=mover"], 65
    elif kind.startswith("third"):
        states[5 if kind == "third" else n - 1, 2, 0, 0] = 7
        code = 65
    elif kind == "left alone":
        options = ["--planes=1,0,2"]
    told = []
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        for save in np.savez, np.savez_compressed:
            save(path, **arrays)
            for more in [], ["-j1"], ["--order=transform"]:
                told.append(run("expand", "-f", "--board", "rhombus:6", *options, *more, path, out, code=code)[1])
                assert os.path.exists(out) == (code == 0)
    told = [re.sub("[0-9.]+ (kB|MB|s|ms)", "", text) for text in told]
    assert told == told[:1] * len(told), told
    assert kind == "right" or "states" in told[0] or "to_play" in told[0], told[0]


@tap.test(*[(kind, first) for kind in ("plane", "array") for first in (True, False)])
def test_one_player(kind, first):
    """Rows of one player alone, 1 throughout: the stones say when that is the first one."""
    source = planes(lambda b, r, e, l, p: (b, r, 1))[0 if first else 1::2]
    arrays = {"states": source} if kind == "plane" else {
        "states": source[:, :2], "player": np.ones(len(source), "i4")}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        for said in (None, "01", "12"):
            options = [] if said is None else ["--to-move", said]
            code = 65 if kind == "plane" and said == "12" and first else None
            err = run("expand", "-f", "-b", f"rhombus:{N}", *options, path, out, code=code)[1]
            assert ("use --to-move 12 or pm1" in err) == (first and said is None), (said, err)


@tap.test(*[(form, said) for form in ("colour", "mover") for said in ("colour", "mover")])
def test_two_planes(form, said):
    """Two planes, and nothing that names the player to move: the numbers of stones tell."""
    stones = planes((lambda b, r, e, l, p: (b, r)) if form == "colour" else
                    (lambda b, r, e, l, p: (b, r) if p % 2 == 0 else (r, b)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, states=stones)
        _, said_of = run("expand", "--board", f"rhombus:{N}", "--planes", said, path,
                         os.path.join(folder, "out.npz"))
    assert (f"use --planes {form}," in said_of) == (form != said), said_of


if __name__ == "__main__":
    tap.main()
