#!/usr/bin/python3
"""`split` against positions.py: sides of positions and of games, overlap, refusals."""

import json
import os
import tempfile

import numpy as np

from golden import Tap, data, load, run, same_bits
from positions import key_bytes, side
from test_positions import CASES, expected_of, rng_of

tap = Tap()
PARTS = [("train", 0.7), ("val", 0.2), ("test", 0.1)]
TEXT = ",".join(f"{name}={share}" for name, share in PARTS)


def split(folder, *arguments, code=0, parts=TEXT, out="out"):
    return run("split", "--parts", parts, "--out-dir", os.path.join(folder, out), *arguments, code=code)


def parts_of(folder, name, out="out", parts=PARTS):
    return {part: load(os.path.join(folder, out, f"{name}.{part}.npz")) for part, _ in parts}


def check_parts(found, source, sides):
    """Every row is in the part of its side, bit for bit and in order."""
    for part, arrays in found.items():
        rows = np.array([i for i, s in enumerate(sides) if s == part], int)
        n = len(sides)
        for key, value in source.items():
            same_bits(arrays[key], value[rows] if value.ndim and len(value) == n else value,
                      f"{part} {key}")
        assert set(arrays) == set(source)


@tap.test(*CASES)
def test_by_position(name):
    case = CASES[name](rng_of(name))
    preset, _, _, _, arrays, options = case
    expected = expected_of(case)
    n = len(expected.hex)
    arrays = dict(arrays)
    if preset != "katago":
        arrays["number"] = np.arange(n)
        options = [*options, "--copy", "number"]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npz")
        np.savez(source, **arrays)
        for seed in (1, 2**63 + 5):
            out = f"out{seed}"
            split(folder, "-q", "--board", preset, *options, f"--seed={seed}", source, out=out)
            sides = [side(key_bytes(key), seed, PARTS) for key in expected.hex]
            check_parts(parts_of(folder, "in", out), load(source), sides)
        # of an expanded set the same: no position is in two parts
        images = os.path.join(folder, "images.npz")
        run("expand", "-q", "--board", preset, *options, source, images)
        split(folder, "-q", "--board", preset, *options, images, out="images")
        found = json.loads(run("overlap", "--json", "--board", preset, *options,
                               *[os.path.join(folder, "images", f"images.{part}.npz") for part, _ in PARTS])[0])
        assert all(found["symmetry"][i][k] == 0 for i in range(3) for k in range(3) if i != k), found
        # split, then expand: the same rows as expand, then split
        run("expand", "-q", "--board", preset, *options, os.path.join(folder, "out1", "in.train.npz"),
            os.path.join(folder, "train.npz"))
        key = case[3][0].name
        one = load(os.path.join(folder, "train.npz"))[key]
        other = load(os.path.join(folder, "images", "images.train.npz"))[key]
        assert sorted(r.tobytes() for r in one) == sorted(r.tobytes() for r in other)


@tap.test("<i4", ">i8", "|u1", "<u8", "<U5", ">U9", "|S6")
def test_by_game(dtype):
    """Games stay together whatever the type of their numbers or names; shared positions."""
    rng = rng_of(dtype)
    case = CASES["tictactoe"](rng)
    expected = expected_of(case)
    n = len(expected.hex)
    numbers = rng.integers(0, 9, n)
    if np.dtype(dtype).kind in "US":
        names = np.array(["a", "bé", "c\U0001d306", "", "dd", "e", "f", "g", "hhhhh"] if "U" in dtype
                         else ["a", "b", "c", "", "dd", "e", "f", "g", "hhhhh"])
        games = names[numbers].astype(dtype)
        values = [str(v) if "U" in dtype else bytes(v) for v in games]
    else:
        games = (numbers + (2**64 - 20 if dtype == "<u8" else 0)).astype(dtype) if dtype != ">i8" else \
            (numbers - 4).astype(dtype)
        values = [int(v) for v in games]
    sides = [side(v, 3, PARTS) for v in values]
    order = [part for part, _ in PARTS]
    occurs = {}
    for key, part in zip(expected.hex, sides):
        occurs.setdefault(key, set()).add(part)
    shared = sum(len(parts) > 1 for parts in occurs.values())
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npz")
        np.savez(source, games=games, **case[4])
        plain = ["--board=tictactoe", "--copy=games", "--by=games", "--seed=3", source]
        _, errors = split(folder, *plain)
        check_parts(parts_of(folder, "in"), load(source), sides)
        assert (f"{shared} positions occur in several parts" in errors) == (shared > 0), errors
        manifest = json.load(open(os.path.join(folder, "out", "in.val.npz.manifest.json"), encoding="utf-8"))
        assert manifest["counts"]["positions_in_several_parts"] == shared
        assert manifest["options"]["by"] == "games" and manifest["options"]["seed"] == "3"
        _, errors = split(folder, "--overlap=keep", *plain, out="keep")
        check_parts(parts_of(folder, "in", "keep"), load(source), sides)
        assert "several" not in errors, errors
        split(folder, "--overlap=drop", "--max-memory=1k", *plain, out="drop")
        kept = [part if part == min(occurs[key], key=order.index) else None
                for key, part in zip(expected.hex, sides)]
        check_parts(parts_of(folder, "in", "drop"), load(source), kept)


@tap.test()
def test_many_inputs():
    """Several inputs, one of them a folder; the same bytes for all threads, and whether or not the
    inputs fit into memory; an empty part; expand takes the parts; their manifests say what was done."""
    with tempfile.TemporaryDirectory() as folder:
        for i in range(2):
            run("sample", "-q", "--board=go9", "--rows=90", f"--seed={i + 1}", os.path.join(folder, f"{i}.npz"))
        inputs = [os.path.join(folder, f"{i}.npz") for i in range(2)]
        contents = set()
        for threads, memory in (1, "1G"), (2, "0"), (3, "50k"), (8, "1G"):
            split(folder, "-q", f"-j{threads}", f"--max-memory={memory}", "--board=go9", *inputs,
                  out=f"o{threads}", parts="train=0.9,val=0.1,none=0")  # fmt: skip
            contents.add(tuple(open(os.path.join(folder, f"o{threads}", f"{i}.{part}.npz"), "rb").read()
                               for i in range(2) for part in ("train", "val", "none")))
        assert len(contents) == 1
        assert len(load(os.path.join(folder, "o1", "0.none.npz"))["policy"]) == 0
        out = os.path.join(folder, "o1", "1.train.npz")
        manifest = json.load(open(out + ".manifest.json", encoding="utf-8"))
        options = manifest["options"]
        assert options["command"] == "split" and options["part"] == "train", options
        assert options["parts"] == "train=0.9,val=0.1,none=0" and options["by"] == "position", options
        assert options["seed"] == "1" and "key" in options
        run("verify", out)
        run("expand", "-q", "--board=go9", out, os.path.join(folder, "again.npz"))
        run("split", "-q", "--parts=a=1", "--out-dir", os.path.join(folder, "o9"), out)
        run("expand", "-q", "--board=go9", inputs[0], os.path.join(folder, "all.npz"))
        split(folder, "-q", os.path.join(folder, "all.npz"), out="images")
        run("expand", "-q", os.path.join(folder, "images", "all.train.npz"),
            os.path.join(folder, "twice.npz"), code=65)  # fmt: skip
        run("verify", "--board=go9", os.path.join(folder, "images", "all.train.npz"), code=None)


BAD = {
    "sum": (["--parts=a=0.5,b=0.4"], 64), "no share": (["--parts=a"], 64),
    "negative": (["--parts=a=1.5,b=-0.5"], 64), "twice": (["--parts=a=0.5,a=0.5"], 64),
    "path": (["--parts=../a=1"], 64), "by": (["--parts=a=1", "--by=nothing"], 64),
    "key twice": (["--parts=a=1", "--key=states:0,states:1"], 64),
    "by planes": (["--parts=a=1", "--by=states"], 65), "key": (["--parts=a=1", "--key=nothing"], 64),
    "no parts": ([], 64), "objects": (["--parts=a=1", "--key=objects"], 65),
}  # fmt: skip


@tap.test(*BAD)
def test_refused(name):
    arguments, code = BAD[name]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npz")
        rows = np.empty(8, object)
        rows[:] = [np.arange(2) for _ in range(8)]
        np.savez(source, states=np.ones((8, 2, 3, 3), "f4"), objects=rows)
        _, errors = run("split", "--board=tictactoe", "--copy=objects", "--out-dir", os.path.join(folder, "out"),
                        *arguments, source, code=code)
        assert errors.count("\n") == 1 and os.listdir(folder) == ["in.npz"], errors


@tap.test("board", "more", "dtype", "shape", "name", "same name")
def test_inputs_differ(kind):
    rng = rng_of(kind)
    planes = rng.integers(0, 2, (8, 2, 3, 3)).astype("f4")
    other = {"planes": planes}
    if kind == "dtype":
        other = {"planes": planes.astype("f8")}
    elif kind == "shape":
        other = {"planes": np.concatenate([planes, planes], axis=1)}
    elif kind == "name":
        other = {"states": planes}
    elif kind == "more":
        other = {"planes": planes, "current_player": np.zeros(8, "i1")}
    elif kind == "board":
        other = {"planes": planes, "board_type": "square8"}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "sub"))
        a = os.path.join(folder, "a.npz")
        b = os.path.join(folder, "sub", "a.npz" if kind == "same name" else "b.npz")
        np.savez(a, planes=planes)
        np.savez(b, **other)
        board = ["--board=tictactoe"]
        _, errors = run("split", *board, "--parts=t=1", "--out-dir", os.path.join(folder, "out"), a, b,
                        code=64 if kind == "same name" else 65)
        assert "current_player is part of a position" in errors or kind != "more", errors
        assert errors.count("\n") == 1 and not os.path.exists(os.path.join(folder, "out")), errors


if __name__ == "__main__":
    tap.main()
