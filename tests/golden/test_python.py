#!/usr/bin/python3
"""The Python package: images against the numpy oracle of random shards, loaders, errors."""

import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import threading
import warnings

import numpy as np

import containers
import library
import shards
import test_shards
from golden import Tap, data, load, run, same_bits

from package import symaug

tap = Tap()


def keywords(options):
    """["--board", "hex8", "--role", "x=planes"] as keywords."""
    found = {}
    for name, value in zip(options[::2], options[1::2]):
        found.setdefault(name.removeprefix("--").replace("-", "_"), []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def refused(function, kind, *words):
    try:
        function()
    except symaug.Error as why:
        assert why.kind == kind, f"{why.kind}: {why}"
        for word in words:
            assert word in why.message, f"{why.message!r} does not say {word!r}"
        return why
    raise AssertionError(f"no error, expected {kind}")


def small_shard(seed=5):
    return shards.random_shard(np.random.default_rng(seed), 0)


@tap.test(*range(0, 130))
def test_oracle(number):
    """Random rows under random transforms, of random shards of every kind and role."""
    rng = np.random.default_rng([77, number])
    shard = shards.random_shard(rng, number)
    options = keywords([o for o in shard.options if o != "--no-provenance"])
    arrays = shards.input_arrays(shard, 0, shard.n)
    if options.get("castling") == "skip" or options.get("ambiguous") == "drop":
        instead = "ambiguous=keep" if options.get("ambiguous") == "drop" else "castling=swap"
        refused(lambda: symaug.Augmenter(arrays, shard.board.name, **options), "usage", "use ", instead)
        return
    before = pickle.dumps(arrays)
    augmenter = symaug.Augmenter(arrays, shard.board.name, int(rng.integers(1, 4)), **options)
    assert len(augmenter) == shard.n
    assert augmenter.transforms.tolist() == sorted(shard.chosen)
    rows = rng.integers(0, max(shard.n, 1), 30 if shard.n else 0)
    transforms = rng.choice(shard.chosen, len(rows))
    found = augmenter.images(rows, transforms)
    wanted = {key: shards.expanded(entry, rows, transforms)
              for key, entry in shard.entries.items() if not entry.meta}
    if shard.csr is not None:
        wanted |= zip(shards.csr_names(shard), shards.expanded_csr(shard.csr[1], rows, transforms))
    roles = augmenter.roles
    assert set(found) == {key for key in wanted if not roles[key].startswith(("meta", "drop"))}
    for key in found:
        same_bits(found[key], wanted[key], f"{key} ({roles[key]})")
    assert pickle.dumps(arrays) == before, "the input was written to"
    nothing = augmenter.images([], [])
    assert {key: (a.dtype, a.shape[1:]) for key, a in nothing.items()} == {
        key: (a.dtype, a.shape[1:]) for key, a in found.items()}


@tap.test(("seeds/chess1814_in.npz", "chess"), ("seeds/hex13_in.npz", "hex13"),
          ("ringrift/sample_hex8.npz", None), ("katago/raw9_64_in.npz", None),
          ("seeds/takeiteasy_in.npz", "takeiteasy"))
def test_as_expand(path, board):
    """All images of a shard's rows are those that the program writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        symaug.expand(data(path), out, board=board, order="sample", quiet=True)
        wanted = load(out)
    augmenter = symaug.Augmenter(data(path), board=board)
    n, ids = len(augmenter), augmenter.transforms
    found = augmenter.images(np.repeat(np.arange(n), len(ids)), np.tile(ids, n))
    for key, array in found.items():
        same_bits(array, wanted[key], key)
    assert {key for key in wanted if not key.startswith("symaug_")} >= set(found)


def test_board(name):
    board, told = symaug.Board(name), json.loads(run("boards", "--json", name)[0])
    assert (board.name, board.rows, board.cols, board.cells) == tuple(
        told[key] for key in ("name", "rows", "cols", "cells"))
    assert board.on_board.tolist() == told["on_board"]
    assert [tuple(t) for t in board.transforms] == [
        (t["id"], t["name"], t["swaps_colours"]) for t in told["transforms"]]
    for a in range(len(board.transforms)):
        same_bits(board.cell_map(a), np.array(told["transforms"][a]["dst"], np.int64), "cells")
        same_bits(board.cell_map(board.inverse(a))[board.cell_map(a)], np.arange(board.cells), "inverse")
        for b in range(len(board.transforms)):
            same_bits(board.cell_map(board.compose(a, b)), board.cell_map(b)[board.cell_map(a)], "product")
    for layout in board.layouts:
        space = board.action_map(len(board.transforms) - 1, layout.length, layout.name)
        assert sorted(space.tolist()) == list(range(layout.length))
        spans = next(one["spans"] for one in told["layouts"] if one["name"] == layout.name)
        assert [s._asdict() for s in board.layout(layout.length, layout.name)] == spans
        for span in board.layout(layout.length, layout.name):
            assert (np.sort(space[span.start : span.stop]) == np.arange(span.start, span.stop)).all()
    assert repr(pickle.loads(pickle.dumps(board))) == repr(board)
    for wrong in (len(board.transforms), -1, 0.5):
        refused(lambda: board.cell_map(wrong), "usage", f"transform {wrong}")
    refused(lambda: board.layout(3), "usage", "layout")


for _name in ("hex8", "rhombus:5", "gomoku15", "takeiteasy", "tests/data/boards/triangle.json"):
    tap.tests.append((f"board {_name}", test_board, (_name,)))


@tap.test()
def test_padded_layout():
    spans = symaug.Board("hex8").layout(4500)
    assert [tuple(s) for s in spans] == [("placement", 0, 243), ("movement", 243, 4131),
                                         ("special", 4131, 4132), ("unused", 4132, 4500)]


@tap.test(("seeds/hex13_in.npz", "hex13"), ("seeds/chess1814_in.npz", "chess"),
          ("seeds/takeiteasy_in.npz", "takeiteasy"), ("seeds/gomoku15_in.npz", "gomoku15"))
def test_orbit_keys(path, board):
    """As the program writes them, with any number of threads; equal in all images."""
    augmenter = symaug.Augmenter(data(path), board=board, threads=2)
    keys = augmenter.orbit_keys()
    assert keys.dtype == np.uint64 and keys.shape == (len(augmenter), 2)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        symaug.expand(data(path), out, board=board, transforms="0", orbit_key=True)
        same_bits(keys, load(out)["symaug_orbit"], "symaug_orbit")
    rows = np.arange(len(augmenter))
    for t in augmenter.transforms:
        images = augmenter.images(rows, np.full(len(rows), t))
        same_bits(symaug.Augmenter(images, board=board).orbit_keys(), keys, f"keys under {t}")


@tap.test()
def test_no_orbit_keys():
    arrays = {"policy": np.full((2, 9), 1 / 9)}
    policy = symaug.Augmenter(arrays, board="tictactoe")
    refused(policy.orbit_keys, "data", "position")
    half_turn = symaug.Augmenter(data("seeds/hex13_in.npz"), board="hex13", transforms="0,1")
    refused(half_turn.orbit_keys, "usage", "transforms")
    refused(lambda: symaug.Augmenter(arrays, board="tictactoe", key="nope"), "usage", "nope")
    arrays = {"x": np.eye(9)[:, None].reshape(9, 1, 3, 3)}
    planes = symaug.Augmenter(arrays, board="tictactoe", role="x=planes", key="x")
    assert len({tuple(key) for key in planes.orbit_keys().tolist()}) == 3


@tap.test()
def test_errors():
    arrays = {"state": np.zeros((4, 2, 15, 15), np.uint8), "policy": np.zeros((4, 225), np.float32)}
    augmenter = symaug.Augmenter(arrays, board="gomoku15")
    assert augmenter.images([], [])["state"].shape == (0, 2, 15, 15)
    refused(lambda: augmenter.images([4], [0]), "usage", "row 4")
    refused(lambda: augmenter.images([-1], [0]), "usage", "row -1")
    refused(lambda: augmenter.images([0], [8]), "usage", "transform 8")
    refused(lambda: augmenter.images([0], [300]), "usage", "300")
    refused(lambda: augmenter.images([0, 1], [0]), "usage", "2 rows")
    refused(lambda: augmenter.images([0.5], [0]), "usage", "whole numbers")
    refused(lambda: symaug.Augmenter(arrays, board="gomoku15", colour="red"), "usage", "colour")
    refused(lambda: symaug.Augmenter(arrays, board="nowhere"), "usage", "nowhere")
    shorter = {**arrays, "policy": np.zeros((3, 225), "<f4")}
    refused(lambda: symaug.Augmenter(shorter, board="gomoku15"), "data", "policy")
    for wrong in (0, 0.5, "2"):
        refused(lambda: symaug.Augmenter(arrays, board="gomoku15", threads=wrong), "usage", "threads", repr(wrong))
    few = symaug.Augmenter({"names": np.array(["a", None], object), **{k: a[:2] for k, a in arrays.items()}},
                           board="gomoku15", transforms="0,3")
    refused(lambda: few.images([1], [2]), "usage", "image 0: transform 2", "0, 3")
    moves = {**arrays, "action": np.array([1, 2, 225, 3])}
    why = refused(lambda: symaug.Augmenter(moves, board="gomoku15").images([1, 2], [1, 1]), "data", "225")
    assert (why.array, why.row) == ("action", 2), (why.array, why.row)
    why = refused(lambda: symaug.expand("/nowhere.npz", "/tmp/never.npz"), "input", "/nowhere.npz")
    assert why.file == "/nowhere.npz"
    assert str(pickle.loads(pickle.dumps(why))) == str(why)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "moves.npz")
        np.savez(path, **moves)
        why = refused(lambda: symaug.expand(path, os.path.join(folder, "o.npz"), board="gomoku15"), "data", "225")
        assert (why.file, why.array, why.row) == (path, "action", 2)
        assert symaug.verify(path, board="gomoku15")[0]["code"]


@tap.test()
def test_wrong_arguments():
    """Whatever is given, a failure is an Error that says what it is about."""
    arrays = {"state": np.zeros((4, 2, 15, 15), np.uint8), "policy": np.zeros((4, 225), np.float32)}
    board, augmenter = symaug.Board("gomoku15"), symaug.Augmenter(arrays, board="gomoku15")
    for wrong in ({**arrays, 1: arrays["policy"]}, {**arrays, "a\0b": arrays["policy"]}, None, 5, [arrays["state"]]):
        refused(lambda: symaug.Augmenter(wrong, board=board), "usage", "arrays")
    why = refused(lambda: symaug.Augmenter({**arrays, "a": [[1], [1, 2], [], []]}, board=board), "usage", "a: ")
    assert why.array == "a"
    for wrong in (15, "gomoku15\0", b"gomoku15"):
        for make in (symaug.Board, lambda board: symaug.Augmenter(arrays, board=board),
                     lambda board: symaug.Loader([data("seeds/gomoku15_in.npz")], board=board)):
            refused(lambda: make(wrong), "usage", "board")
    refused(lambda: augmenter.images([[1], [1, 2]], [0]), "usage", "rows")
    for wrong in (None, "x", 0.5):
        refused(lambda: board.cell_map(wrong), "usage", f"transform {wrong}")
    refused(lambda: board.action_map(0, 1.5), "usage", "length")
    refused(lambda: board.layout(225, 3), "usage", "layout")
    for wrong in (None, "x", 0.5):
        refused(lambda: symaug.Loader([data("seeds/gomoku15_in.npz")], board=board, seed=wrong), "usage", "seed")
    refused(lambda: symaug.Loader(None, board=board), "usage", "paths")
    for chosen in ([0, 3], (0, 3), np.array([0, 3]), range(0, 6, 3), "0,3"):
        assert symaug.Augmenter(arrays, board=board, transforms=chosen).transforms.tolist() == [0, 3], chosen
    seeds = [next(iter(symaug.Loader([data("seeds/gomoku15_in.npz")], board=board, seed=seed)))
             for seed in (3, 3 + (1 << 64), -1, (1 << 64) - 1)]  # fmt: skip
    same_batches(seeds[::2], seeds[1::2])


@tap.test()
def test_import():
    """The module alone loads neither torch nor the library; a missing or old library is said."""
    code = "import symaug, sys; assert 'torch' not in sys.modules; " \
           "assert 'libsymaug' not in open('/proc/self/maps').read()"
    environment = {**os.environ, "PYTHONPATH": "python", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["/usr/bin/python3", "-c", code], env=environment, check=True)
    for path, word in (("/nowhere/libsymaug.so", "cannot be loaded"), ("libz.so.1", "too old")):
        done = subprocess.run(["/usr/bin/python3", "-c", "import symaug; symaug.Board('hex8')"],
                              env={**environment, "SYMAUG_LIBRARY": path}, capture_output=True, text=True)
        assert f"symaug.library.Error: " in done.stderr and word in done.stderr, done.stderr
        assert "SYMAUG_LIBRARY" in done.stderr.splitlines()[-1]


def make_shards(folder, lengths, form="npz"):
    """Gomoku shards whose rows are numbered, and how their numbers are found again."""
    paths, first = [], 0
    rng = np.random.default_rng(3)
    for i, n in enumerate(lengths):
        arrays = {
            "state": rng.integers(0, 2, (n, 2, 9, 9)).astype(np.uint8),
            "policy": rng.random((n, 81)).astype(np.float32),
            "policy_offsets": None, "number": np.arange(first, first + n, dtype=np.int64),
        }
        del arrays["policy_offsets"]
        first += n
        paths.append(os.path.join(folder, f"{i}.npz" if form == "npz" else f"{i}"))
        if form == "npz":
            (np.savez if i % 2 else np.savez_compressed)(paths[-1], **arrays)
        else:
            os.mkdir(paths[-1])
            for name, array in arrays.items():
                np.save(os.path.join(paths[-1], name + ".npy"), array)
    return paths


def loader_of(paths, **options):
    return symaug.Loader(paths, board="square:9", **options)


def same_batches(found, wanted):
    assert len(found) == len(wanted), f"{len(found)} batches, expected {len(wanted)}"
    for i, (a, b) in enumerate(zip(found, wanted)):
        assert a.keys() == b.keys()
        for key in a:
            same_bits(np.asarray(a[key]), np.asarray(b[key]), f"batch {i}: {key}")


@tap.test(*[(images, buffer, form) for images in ("random", "all", "none")
            for buffer in (1000, 40, 7, 0) for form in ("npz", "folders")])  # fmt: skip
def test_loader(images, buffer, form):
    """Each row (each image) once an epoch, exactly as an Augmenter makes it; resumes exactly."""
    with tempfile.TemporaryDirectory() as folder:
        paths = make_shards(folder, [50, 3, 0, 61], form)
        per_row = 8 if images == "all" else 1
        loader = loader_of(paths, batch_size=16, images=images, buffer=buffer, seed=4)
        assert len(loader) == -(-114 * per_row // 16)
        whole = {key: np.concatenate([symaug.shard.Shard(p).whole(key) for p in paths])
                 for key in ("state", "policy", "number")}  # fmt: skip
        augmenter = symaug.Augmenter(whole, board="square:9")
        epochs = []
        for epoch in range(2):
            assert loader.state_dict() == {"epoch": epoch, "batch": 0}
            batches = list(loader)
            assert len(batches) == len(loader)
            numbers = np.concatenate([batch["number"] for batch in batches])
            assert sorted(numbers.tolist()) == np.repeat(np.arange(114), per_row).tolist()
            seen = set()
            for batch in batches:
                for k, row in enumerate(batch["number"]):
                    every = augmenter.images([row] * 8, range(8))
                    fits = [t for t in range(8) if (every["state"][t] == batch["state"][k]).all()
                            and (every["policy"][t] == batch["policy"][k]).all()]
                    assert len(fits) == 1, f"row {row}: transforms {fits}"
                    seen.add((int(row), fits[0]))
            assert len(seen) == 114 * per_row and (images != "none" or {t for _, t in seen} == {0})
            assert images != "random" or len({t for _, t in seen}) == 8
            epochs.append(numbers.tolist() if images != "random" else [*numbers.tolist(), *sorted(seen)])
        assert (epochs[0] == epochs[1]) == (buffer == 0 and images != "random")
        again = loader_of(paths, batch_size=16, images=images, buffer=buffer, seed=4, threads=3)
        again.load_state_dict({"epoch": 1, "batch": len(loader) - 2})
        same_batches(list(again), batches[-2:])
        loader.set_epoch(1)
        part = iter(loader)
        first = [next(part), next(part)]
        rest = pickle.loads(pickle.dumps(loader))
        same_batches(first + list(rest), batches)


@tap.test("objects", "padded", "csr")
def test_loader_sparse(form):
    """Sparse policies of every form come out of windows and batches as from an Augmenter."""
    with tempfile.TemporaryDirectory() as folder:
        arrays = test_shards.sparse(90, form)
        path = os.path.join(folder, "a.npz")
        np.savez(path, **arrays)
        augmenter = symaug.Augmenter(path, board="square:9")
        loader = loader_of([path], batch_size=25, images="all", buffer=0)
        wanted = augmenter.images(np.repeat(np.arange(90), 8), np.tile(np.arange(8), 90))
        batches = list(loader_of([path], batch_size=720, images="all", buffer=0))
        same_batches(batches, [wanted])
        at = 0
        for batch in loader:
            n = len(batch["value"])
            part = augmenter.images(np.arange(at, at + n) // 8, np.arange(at, at + n) % 8)
            same_batches([batch], [part])
            at += n
        small = list(loader_of([path], batch_size=720, images="all", buffer=7, seed=2))[0]
        assert sorted(small["value"].tolist()) == sorted(wanted["value"].tolist())


@tap.test()
def test_commands():
    """dedupe, split and overlap are the program's; options may be lists, paths, True or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        inputs = [folder / "1.npz", folder / "2.npz"]
        for seed, path in enumerate(inputs):
            run("sample", "--board", "gomoku15", "--rows", 60, "--seed", seed, path)
        options = ["--board", "gomoku15", "--role", "state=planes", "--copy", "value"]
        asked = {"board": "gomoku15", "role": ["state=planes"], "copy": ("value",), "tmpdir": folder, "key": None}
        symaug.dedupe(inputs, folder / "a.npz", conflict=0.5, **asked)
        run("dedupe", *options, "--conflict", "0.5", "-o", folder / "b.npz", *inputs)
        assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
        why = refused(lambda: symaug.dedupe(inputs, folder / "a.npz", force=False, **asked), "output", "a.npz")
        assert why.file == str(folder / "a.npz")
        for output in (folder / "none" / "b.npz", folder, inputs[0]):
            why = refused(lambda: symaug.dedupe(inputs, output, force=True, **asked), "output", str(output))
            assert why.file == str(output), why.file
        why = refused(lambda: symaug.dedupe(inputs, out_dir=inputs[0], **asked), "output", str(inputs[0]))
        assert why.file is not None, why
        symaug.dedupe(inputs[0], folder / "a.npz", force=True, **asked)
        symaug.dedupe(inputs, out_dir=folder / "each", **asked)
        assert {"1.npz", "2.npz"} <= set(os.listdir(folder / "each"))
        symaug.split(inputs, folder / "x", {"train": 0.8, "val": 0.2}, seed=3, board="gomoku15")
        run("split", "--board", "gomoku15", "--parts", "train=0.8,val=0.2", "--seed", 3,
            "--out-dir", folder / "y", *inputs)
        names = sorted(path.name for path in (folder / "y").glob("*.npz"))
        assert names == ["1.train.npz", "1.val.npz", "2.train.npz", "2.val.npz"], names
        for name in names:
            assert (folder / "x" / name).read_bytes() == (folder / "y" / name).read_bytes(), name
        refused(lambda: symaug.split(inputs, folder / "z", "a=0.5,b=0.5", by="nope", board="gomoku15"), "usage", "nope")
        found = symaug.overlap(*inputs, inputs[0], board="gomoku15")
        assert found == json.loads(run("overlap", "--json", "--board", "gomoku15", *inputs, inputs[0])[0])
        assert found["exact"][0][2] == 60


@tap.test()
def test_warnings():
    """What a successful run warns of are Python's warnings."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "games.npz")
        run("sample", "--board", "gomoku15", "--rows", 60, path)
        twice = {key: np.concatenate([array, array]) for key, array in load(path).items()}
        np.savez(path, **twice, game=np.arange(120))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            symaug.split(path, os.path.join(folder, "out"), "a=0.5,b=0.5", by="game", board="gomoku15")
        assert len(said) == 1 and "several parts" in str(said[0].message), said
        assert said[0].filename == __file__, f"{said[0].filename}, expected the caller's file"


@tap.test()
def test_verify_unreadable():
    """Files that cannot be read are findings beside those of others; wrong options are errors."""
    with tempfile.TemporaryDirectory() as folder:
        good, bad, gone = (os.path.join(folder, name) for name in ("good.npz", "bad.npz", "gone.npz"))
        run("sample", "--board", "gomoku15", "--rows", 5, good)
        with open(bad, "wb") as file:
            file.write(b"PK nothing")
        assert symaug.verify(good, board="gomoku15") == []
        for paths in ([good, bad], [gone, good], [bad, gone]):
            found = symaug.verify(paths, board="gomoku15")
            assert [one["code"] for one in found] == ["container"] * (2 - paths.count(good)), found
        refused(lambda: symaug.verify(good, board="nowhere"), "usage", "nowhere")
        refused(lambda: symaug.verify(good, board="gomoku15", leak=gone), "input", "gone.npz")


@tap.test()
def test_kinds_of_arrays():
    """Big-endian, Fortran, strided, mapped and structured arrays, pickled augmenters, no rows."""
    rng = np.random.default_rng(8)
    rows, ids = rng.integers(0, 9, 40), rng.integers(0, 8, 40)
    state, policy = rng.integers(0, 2, (9, 2, 9, 9)).astype("u1"), rng.random((9, 81)).astype("f4")
    extra = np.zeros(9, [("id", "<i4"), ("name", "S3"), ("xy", ">f8", (2,))])
    extra["id"], extra["xy"] = np.arange(9), rng.random((9, 2))
    plain = {"state": state, "policy": policy, "extra": extra, "text": np.array([f"a{i}" for i in range(9)])}

    big = dict(plain)

    def images(arrays, wanted, **changed):
        augmenter = symaug.Augmenter(arrays, board="square:9", threads=2)
        again = augmenter if arrays is big else pickle.loads(pickle.dumps(augmenter))  # numpy's swaps bytes
        for one in (augmenter, again):
            same_batches([one.images(rows, ids)], [{**wanted, **changed}])

    wanted = symaug.Augmenter(plain, board="square:9").images(rows, ids)
    same_bits(wanted["extra"], extra[rows], "structured")
    same_bits(wanted["text"], plain["text"][rows], "text")
    wide = np.zeros((9, 2, 9, 18), "u1")
    wide[..., ::2] = state
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        np.save(folder / "state.npy", state)
        mapped = np.load(folder / "state.npy", mmap_mode="r+")
        for other in (mapped, np.load(folder / "state.npy", mmap_mode="r"), np.asfortranarray(state), wide[..., ::2]):
            images({**plain, "state": other}, wanted)
        mapped.flush()
        same_bits(np.load(folder / "state.npy"), state, "the file")
        big |= {"state": np.asfortranarray(state.astype(">i2")), "policy": np.asfortranarray(policy.astype(">f4"))}
        moved = {key: wanted[key].astype(big[key].dtype) for key in ("state", "policy")}
        images(big, wanted, **moved)
        np.savez(folder / "a.npz", **big)
        images(folder / "a.npz", wanted, **moved)
    none = symaug.Augmenter({key: array[:0] for key, array in plain.items()}, board="square:9")
    assert len(none) == 0 and none.images([], [])["policy"].shape == (0, 81)
    assert none.orbit_keys().shape == (0, 2)
    refused(lambda: none.images([0], [0]), "usage", "row 0")


def single_rows(arrays):
    """The rows of a batch as bytes, in order; lists of CSR triples as those of their row."""
    names = [key for key in sorted(arrays) if key != "policy_offsets"]
    if "policy_offsets" in arrays:
        ends = arrays["policy_offsets"]
        assert ends[0] == 0 and ends[-1] == len(arrays["policy_indices"]) == len(arrays["policy_values"])
        arrays = {key: [array[a:b] for a, b in zip(ends, ends[1:])] if key.startswith("policy_") else array
                  for key, array in arrays.items()}  # fmt: skip
    return [b"".join(item.tobytes() for item in row) for row in zip(*(arrays[key] for key in names))]


@tap.test("objects", "padded", "csr", "katago")
def test_loader_shards(form):
    """Shards of different lengths and windows smaller than a shard, of every form."""
    board = None if form == "katago" else "square:9"
    with tempfile.TemporaryDirectory() as folder:
        paths, wanted = [os.path.join(folder, f"{i}.npz") for i in range(3)], []
        for path, n in zip(paths, (40, 7, 33)):
            if form == "katago":
                run("sample", "--board", "katago:9", "--rows", n, "--seed", n, path)
            else:
                np.savez_compressed(path, **test_shards.sparse(n, form, seed=n))
            every = symaug.Augmenter(path, board=board).images(np.repeat(np.arange(n), 8), np.tile(np.arange(8), n))
            wanted += single_rows(every)
        for buffer, size in ((0, 5), (9, 64), (13, 5), (1000, 64)):
            loader = symaug.Loader(paths, board=board, batch_size=size, images="all", buffer=buffer, seed=5)
            found = [row for batch in loader for row in single_rows(batch)]
            assert found == wanted if buffer == 0 else sorted(found) == sorted(wanted) and found != wanted


@tap.test(*[(order, dtype) for order in "CF" for dtype in ("<f4", ">f4", "<f2", ">f8")])
def test_loader_joins(order, dtype):
    """Windows across shards keep bits and types: Fortran order, and either order of bytes."""
    rng = np.random.default_rng(3)
    arrays = {
        "boards": (rng.random((50, 2, 5, 5)) < 0.2).astype(dtype),
        "policy": rng.random((50, 25)).astype(dtype),
        "value": rng.random(50).astype(dtype),
        "game_id": np.arange(50, dtype=">i4"),
    }
    arrays["boards"][:, 1] *= 1 - arrays["boards"][:, 0]
    options = {"board": "rhombus:5", "value": "colour01", "copy": "game_id"}
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.npz", "b.npz")]
        for path, rows in zip(paths, (slice(0, 30), slice(30, 50))):
            np.savez(path, **{name: np.asarray(array[rows], order=order) for name, array in arrays.items()})
        every = symaug.Augmenter(arrays, **options).images(np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50))
        for buffer in (0, 35):
            loader = symaug.Loader(paths, batch_size=32, images="all", buffer=buffer, **options)
            batches = list(loader)
            assert all(batch[name].dtype == arrays[name].dtype for batch in batches for name in arrays)
            wanted, found = single_rows(every), [row for batch in batches for row in single_rows(batch)]
            assert found == wanted if buffer == 0 else sorted(found) == sorted(wanted)


@tap.test()
def test_loader_refuses():
    """What does not fit is said before the first batch: file and array, expected and found."""
    with tempfile.TemporaryDirectory() as folder:
        paths = make_shards(folder, [10, 12])
        later = load(paths[1])
        for name, dtype, words in (("policy", "f8", ("<f8", "<f4")), ("number", "i4", ("<i4", "<i8")),
                                   ("state", ">i2", (">i2", "|u1"))):
            np.savez(paths[1], **{**later, name: later[name].astype(dtype)})
            why = refused(lambda: loader_of(paths), "data", *words, paths[0])
            assert (why.file, why.array, why.row) == (paths[1], name, None)
        np.savez(paths[1], state=later["state"], policy=later["policy"])
        assert refused(lambda: loader_of(paths), "data", "missing").array == "number"
        np.savez(paths[1], **later, extra=later["number"])
        assert refused(lambda: loader_of(paths), "data", "is not in").array == "extra"
        assert refused(lambda: loader_of([paths[0], "/nowhere.npz"]), "input", "nowhere").file == "/nowhere.npz"
        refused(lambda: loader_of([]), "usage", "no files")
        loader = loader_of(paths[:1], batch_size=4)
        for state in ({}, None, {"epoch": 1}, {"epoch": 0, "batch": 0.5}, {"epoch": -1, "batch": 0},
                      {"epoch": 0, "batch": 4}):
            refused(lambda: loader.load_state_dict(state), "usage", "expected")
            assert loader.state_dict() == {"epoch": 0, "batch": 0}
        for wrong in ({"batch_size": 0}, {"images": "some"}, {"buffer": -1}, {"threads": 0}, {"colour": 1}):
            refused(lambda: loader_of(paths[:1], **wrong), "usage", *wrong)


@tap.test()
def test_loader_memory():
    """A large compressed shard is never held whole: 216 MB go through in less than half of that."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npz")
        np.savez_compressed(path, state=np.zeros((60000, 16, 15, 15), "u1"), policy=np.zeros((60000, 225), "u1"))
        code = f"""if True:
            import symaug
            loader = symaug.Loader({path!r}, board="gomoku15", batch_size=500, buffer=2000)
            n_rows = sum(len(batch["state"]) for batch in loader)
            print(n_rows, open("/proc/self/status").read().split("VmHWM:")[1].split()[0])"""
        environment = {**library.environment(), "PYTHONPATH": "python"}
        done = subprocess.run(["/usr/bin/python3", "-c", code], env=environment, capture_output=True, text=True)
        n_rows, peak_kib = done.stdout.split() or [done.stderr, 0]
        assert n_rows == "60000" and (int(peak_kib) < 100_000 or "LD_PRELOAD" in environment), peak_kib


@tap.test(65536, 50, 0)
def test_loader_many_shards(buffer):
    """Hundreds of shards: a few files are open at once, also where epochs are left."""
    with tempfile.TemporaryDirectory() as folder:
        paths = make_shards(folder, [7] * 120)
        code = f"""if True:
            import resource, symaug
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 400))
            loader = symaug.Loader({paths!r}, board="square:9", batch_size=16, buffer={buffer})
            n_rows = sum(len(batch["number"]) for batch in loader)
            for epoch in range(60):
                loader.set_epoch(epoch)
                next(iter(loader))
            print(n_rows, resource.getrlimit(resource.RLIMIT_NOFILE))"""
        environment = {**library.environment(), "PYTHONPATH": "python"}
        done = subprocess.run(["/usr/bin/python3", "-c", code], env=environment, capture_output=True, text=True)
        assert done.stdout == "840 (40, 400)\n", done.stdout + done.stderr[-300:]


@tap.test("npz", "folders")
def test_changed_shards(form):
    """Shards that change while a Loader has them open are refused, not moved as what they were."""

    def whole(path):
        return {name: symaug.shard.Shard(path).whole(name) for name in ("state", "policy", "number")}

    for change in (
        lambda old: {**old, "state": old["state"][:, :1]},
        lambda old: {**old, "policy": old["policy"].astype("f8")},
        lambda old: {name: array[:20] for name, array in old.items()},
        lambda old: {**old, "state": 1 - old["state"]},
        lambda old: None,
    ):
        with tempfile.TemporaryDirectory() as folder:
            paths = make_shards(folder, [50, 60], form)
            loader = loader_of(paths, batch_size=16, buffer=40)
            batches = iter(loader)
            next(batches)
            for path in paths:
                new = change(whole(path))
                os.remove(path if form == "npz" else os.path.join(path, "state.npy"))
                if new is not None and form == "npz":
                    np.savez(path, **new)
                for name, array in (new or {}).items() if form == "folders" else ():
                    np.save(os.path.join(path, name + ".npy"), array)
            why = refused(lambda: list(batches), "data", "changed")
            assert why.file in paths, why.file
            refused(lambda: list(loader), "data", "changed")


@tap.test((1, "<i4"), (2, "<i4"), (3, "<i4"), (1, [("gr\u00f6\u00dfe", "<i4"), ("b", ">f8")]),
          (3, [("\u68cb", "<i4")]))  # fmt: skip
def test_headers(version, dtype):
    """Headers of every version, of Python 2 too, are read without numpy's private functions."""
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"extra": np.zeros(9, dtype), "state": np.asfortranarray(np.zeros((9, 2, 9, 9), "u1"))}
        for name, array in arrays.items():
            payload = containers.npy_bytes(array, (version, 0))
            if version == 1 and name == "extra":
                payload = payload.replace(b"(9,)", b"(9L,)").replace(b" \n", b"\n", 1)
            with open(os.path.join(folder, name + ".npy"), "wb") as file:
                file.write(payload)
        private = np.lib.format._read_array_header
        try:
            del np.lib.format._read_array_header  # as numpy 2.3 did
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                images = symaug.Augmenter(folder, board="square:9", copy="extra").images([8, 0], [1, 0])
                batch = next(iter(loader_of([folder], copy="extra", images="none", buffer=0)))
        finally:
            np.lib.format._read_array_header = private
        for name, array in arrays.items():
            same_bits(images[name], array[[8, 0]], name)
            same_bits(batch[name], array, name)


@tap.test()
def test_loader_forgets_objects():
    """Lists of objects are held for the window alone, not for every shard."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npz")
        np.savez(path, **test_shards.sparse(3000, "objects"))
        paths = [os.path.join(folder, f"{i}.npz") for i in range(40)]
        for other in paths:
            os.link(path, other)
        code = f"""if True:
            import symaug
            def rss():
                return int(open("/proc/self/status").read().split("VmRSS:")[1].split()[0])
            loader = symaug.Loader({paths[:1]!r}, board="square:9", buffer=3000)
            before = rss()
            loader = [symaug.Loader([path], board="square:9", buffer=3000) for path in {paths!r}]
            print(rss() - before)"""
        environment = {**library.environment(), "PYTHONPATH": "python"}
        done = subprocess.run(["/usr/bin/python3", "-c", code], env=environment, capture_output=True, text=True)
        grown_kib = int(done.stdout or done.stderr)
        assert grown_kib < 20_000 or "LD_PRELOAD" in environment, f"{grown_kib} KiB"


@tap.test()
def test_threads_and_fork():
    """Many threads at once, and a forked process, see the same images."""
    shard = small_shard()
    while shard.n < 5:
        shard = small_shard(int(shard.rng.integers(1 << 30)))
    arrays = shards.input_arrays(shard, 0, shard.n)
    options = keywords([o for o in shard.options if o != "--no-provenance"])
    augmenter = symaug.Augmenter(arrays, shard.board.name, **options)
    rows = np.arange(400) % shard.n
    ids = augmenter.transforms[np.arange(400) % len(augmenter.transforms)]
    wanted, wrong = pickle.dumps(augmenter.images(rows, ids)), []

    def work():
        for _ in range(20):
            if pickle.dumps(augmenter.images(rows, ids)) != wanted:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    child = os.fork()
    if child == 0:
        os._exit(0 if pickle.dumps(augmenter.images(rows, ids)) == wanted else 1)
    assert os.waitpid(child, 0)[1] == 0 and not wrong
    threaded = symaug.Augmenter(arrays, shard.board.name, threads=5, **options)
    assert pickle.dumps(threaded.images(rows, ids)) == wanted


@tap.test()
def test_turkish():
    """Names mean the same where a small I is no i."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["localedef", "-i", "tr_TR", "-f", "UTF-8", folder + "/tr_TR.UTF-8"], capture_output=True)
        code = """if True:
            import numpy as np, symaug
            arrays = {"STATES": np.zeros((6, 3, 9, 9), "u1"), "PI": np.ones((6, 81)) / 81, "ACTION": np.arange(6)}
            print(symaug.Augmenter(arrays, "go9").roles["ACTION"])"""
        environment = {**library.environment(), "PYTHONPATH": "python", "LOCPATH": folder, "LC_ALL": "tr_TR.UTF-8"}
        done = subprocess.run(["/usr/bin/python3", "-c", code], env=environment, capture_output=True, text=True)
        assert made.returncode != 0 or done.stdout == "action:layout=cells\n", done.stdout + done.stderr


@tap.test()
def test_memory_of_images():
    """Arrays given out stay as they are while any view of them is kept, in memory that others had."""
    rng = np.random.default_rng(3)
    arrays = {"states": rng.integers(0, 2, (50, 4, 15, 15)).astype("u1"), "policy": rng.random((50, 225)).astype("f4")}
    arrays["policy"] /= arrays["policy"].sum(axis=1, keepdims=True)
    augmenter = symaug.Augmenter(arrays, "gomoku15")
    rows, kept = np.arange(50), []
    for i in range(200):
        images = augmenter.images(rows, np.full(50, i % 8))
        if i < 8:
            wanted = images["states"][7, 2].copy(), images["policy"][3:9].copy()
            kept.append((images["states"][7, 2].T, memoryview(images["policy"][3:9]), wanted))
    for view, seen, (plane, policies) in kept:
        assert np.array_equal(view.T, plane) and np.array_equal(np.asarray(seen), policies)
    sizes = [len(augmenter.images(rows[:n], rows[:n] % 8)["states"]) for n in (0, 1, 50, 3, 49, 50)]
    assert sizes == [0, 1, 50, 3, 49, 50]
    del augmenter
    assert images["policy"].shape == (50, 225) and images["states"].sum() == arrays["states"].sum()


@tap.test()
def test_loader_after_fork():
    """Processes forked from one that has shards open do not take the rows of another's place."""
    with tempfile.TemporaryDirectory() as folder:
        path, n = os.path.join(folder, "a.npz"), 4000
        rng = np.random.default_rng(1)
        np.savez(path, state=rng.integers(0, 2, (n, 2, 9, 9)).astype("u1"), policy=rng.random((n, 81)))
        wanted = pickle.dumps(list(loader_of([path], batch_size=50, buffer=50)))
        loader = loader_of([path], batch_size=50, buffer=50)
        next(iter(loader))
        loader.set_epoch(0)
        children = []
        for _ in range(4):
            children.append(os.fork())
            if children[-1] == 0:
                try:
                    os._exit(0 if pickle.dumps(list(loader)) == wanted else 1)
                finally:
                    os._exit(2)
        found = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        assert found == [0] * 4, found


@tap.test(0, 2)
def test_torch(n_workers):
    """A real DataLoader gives the loader's own batches; epochs differ; it resumes exactly."""
    try:
        from torch.utils.data import DataLoader
    except ImportError:
        return
    with tempfile.TemporaryDirectory() as folder:
        paths = make_shards(folder, [50, 64])
        options = {"batch_size": 16, "seed": 9, "buffer": 60}
        wanted = loader_of(paths, **options)
        epochs = [list(wanted), list(wanted), list(wanted)]
        loader = loader_of(paths, **options)
        batches = DataLoader(loader.torch(), batch_size=None, num_workers=n_workers)
        same_batches(list(batches), epochs[0])
        assert loader.state_dict() == {"epoch": 1, "batch": 0}
        same_batches(list(batches), epochs[1])
        assert not np.array_equal(epochs[0][0]["number"], epochs[1][0]["number"])
        loader.set_epoch(0)
        same_batches(list(batches), epochs[0])
        other = loader_of(paths, **options)
        other.load_state_dict({"epoch": 2, "batch": 3})
        same_batches(list(DataLoader(other.torch(), batch_size=None, num_workers=n_workers)), epochs[2][3:])


if __name__ == "__main__":
    tap.main()
