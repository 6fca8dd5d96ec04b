#!/usr/bin/python3
"""`dedupe` against positions.py: first rows, counts, means in the first one's orientation,
conflicts; expanded sets fold back to what they were made of."""

import csv
import json
import os
import resource
import tempfile

import numpy as np

from golden import Tap, data, load, run, same_bits
from positions import from_table
from test_positions import CASES, expected_of, rng_of

tap = Tap()


def dedupe(*arguments, code=0):
    return run("dedupe", *arguments, code=code)


def labels_of(case, rng):
    """A policy over the cells and a value for every row, and how transforms move them."""
    preset, _, board, parts, _, _ = case
    n = len(parts[0].rows)
    policy = rng.random((n, board.n_cells)).astype(rng.choice(["<f4", ">f4", "<f8", "<f2"]))
    value = rng.random(n).astype("<f4")
    if any(board.swaps):
        flip = lambda t, rows: np.float32(1) - rows if board.swaps[t] else rows
    else:
        flip = lambda t, rows: rows
    return {"policy": (policy, from_table(1, board.layouts["cells"])), "value": (value, flip)}


def repeated(case, rng):
    """Rows of a case repeated as images of themselves, with labels of their own."""
    preset, name, board, parts, arrays, options = case
    n = len(parts[0].rows)
    chosen = getattr(board, "chosen", list(range(board.n_transforms)))
    source = rng.integers(0, n, 2 * n)
    turn = rng.choice(chosen, 2 * n)
    for part in parts:
        rows = np.stack([part.move(t, part.rows[i : i + 1])[0] for i, t in zip(source, turn)])
        arrays = {**arrays, part.name: rows.reshape(2 * n, *part.shape).astype(part.rows.dtype)}
        part.rows = rows.astype(part.rows.dtype)
    arrays = {key: value for key, value in arrays.items() if key in {part.name for part in parts}}
    return preset, name, board, parts, arrays, options


def expected_means(case, expected, labels, weights):
    """{label: rows} as the definition says, and {first: rows of the class}."""
    board = case[2]
    merged = {key: [] for key in labels}
    for first, rows in expected.classes().items():
        for key, (values, move) in labels.items():
            if len(rows) == 1:
                merged[key].append(values[first])
                continue
            total = None
            for row in rows:
                t = 0 if row == first else expected.to_first(board, row, first)
                moved = move(t, values[row : row + 1])[0].astype(np.float64)
                term = weights[row] * moved
                total = term if total is None else total + term
            mean = total / sum(weights[row] for row in rows)
            merged[key].append((np.rint(mean) if values.dtype.kind in "iu" else mean).astype(values.dtype))
    return {key: np.array(rows).astype(labels[key][0].dtype) for key, rows in merged.items()}


NAMES = [name for name in CASES if name not in ("katago", "packed lsb")]


@tap.test(*NAMES)
def test_means(name):
    rng = rng_of("dedupe " + name)
    case = repeated(CASES[name](rng), rng)
    preset, _, board, parts, arrays, options = case
    expected = expected_of(case)
    n = len(expected.hex)
    labels = labels_of(case, rng)
    if preset == "chess":
        del labels["policy"]
    weights = rng.integers(1, 5, n)
    arrays = {**arrays, **{key: rows for key, (rows, _) in labels.items()},
              "number": np.arange(n), "symaug_count": weights.astype("<u2")}
    firsts = list(expected.classes())
    options = ["-q", "--board", preset, "--copy", "number", *options]
    if preset == "takeiteasy":
        options += ["--role", "policy=policy:layout=cells"]
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **arrays)
        contents = set()
        for threads, memory in ((1, "1G"), (2, "1G"), (3, "20k"), (8, "1k")):
            dedupe("-f", f"-j{threads}", f"--max-memory={memory}", "--merge=mean", *options, source, out)
            contents.add(open(out, "rb").read())
        assert len(contents) == 1, "threads or memory change the output"
        found = load(out)
        counts = [sum(weights[row] for row in rows) for rows in expected.classes().values()]
        same_bits(found["symaug_count"], np.array(counts, "<u4"), "symaug_count")
        for key, rows in expected_means(case, expected, labels, weights).items():
            same_bits(found[key], rows, key)
        for key in (*(part.name for part in parts), "number"):
            same_bits(found[key], load(source)[key][firsts], key)
        several = sum(len(rows) > 1 for rows in expected.classes().values())
        manifest = json.load(open(out + ".manifest.json", encoding="utf-8"))
        assert any(f"{several} positions have rows that differ" in line for line in manifest["warnings"])
        # once more changes nothing
        dedupe("--merge=mean", *options, out, os.path.join(folder, "twice.npz"))
        for key, rows in load(os.path.join(folder, "twice.npz")).items():
            same_bits(rows, found[key], f"twice: {key}")
        # first: bits of the first rows
        dedupe("-f", *options, source, out)
        found = load(out)
        same_bits(found["symaug_count"], np.array(counts, "<u4"), "symaug_count")
        for key, rows in load(source).items():
            if key != "symaug_count":
                same_bits(found[key], rows[firsts], f"first: {key}")


def union(board, expected, weights, first, rows, entries):
    """The mean of a class of sparse rows: {index: double} over what its rows name."""
    sums = {}
    for row in rows:
        t = 0 if row == first else expected.to_first(board, row, first)
        named = {}
        for index, value in zip(*entries[row]):
            if index >= 0:
                index = int(board.layouts["cells"][t][index])
                named[index] = named[index] + float(value) if index in named else float(value)
        for index, value in named.items():
            term = float(weights[row]) * value
            sums[index] = sums[index] + term if index in sums else term
    total = float(sum(weights[row] for row in rows))
    return {index: sums[index] / total for index in sorted(sums)}


def sparse_entries(rng, n, n_cells, values):
    """For every row indices, some of them twice, and values."""
    rows = []
    for _ in range(n):
        length = int(rng.integers(0, 7))
        indices = rng.integers(0, n_cells, length)
        rows.append((indices, (rng.random(length) * 50 + 1).astype(values)))
    return rows


def object_rows(rows):
    out = np.empty(len(rows), object)
    out[:] = rows
    return out


def sparse_arrays(form, entries, dtypes, at_least=0):
    """The arrays of a sparse policy in that form; padded rows as wide as the longest."""
    parts = [[row[k].astype(dtypes[k]) for row in entries] for k in (0, 1)]
    if form == "csr":
        ends = np.cumsum([0] + [len(row) for row in parts[0]]).astype("<i4")
        empty = [[np.zeros(0, dtype)] for dtype in dtypes]
        return {"policy_indices": np.concatenate(parts[0] + empty[0]), "policy_offsets": ends,
                "policy_values": np.concatenate(parts[1] + empty[1])}
    if form == "padded":
        width = max([at_least] + [len(row) for row in parts[0]])
        fill = [np.zeros((len(entries), width), dtype) for dtype in dtypes]
        for k in (0, 1):
            for i, row in enumerate(parts[k]):
                fill[k][i, : len(row)] = row
        parts = fill
    elif form == "lists":
        parts = [object_rows([row.tolist() for row in rows]) for rows in parts]
    elif form == "items":
        parts = [np.array([row.tolist() for row in rows], object) for rows in parts]
    else:
        parts = [object_rows(rows) for rows in parts]
    return {"policy_indices": parts[0], "policy_values": parts[1]}


FORMS = {"padded": ("<i4", "<f4"), "csr": (">i2", "<f8"), "objects": ("<i4", "<f4"),
         "items": ("<i8", "<f8"), "lists": ("<i8", "<f8"), "counts": ("<u2", "<i4")}


@tap.test(*[(form, name) for form in FORMS for name in ("hex8", "hex13")])
def test_sparse_means(form, name):
    """Unions of what rows of a position name, over several inputs."""
    rng = rng_of(f"sparse {form} {name}")
    case = repeated(CASES[name](rng), rng)
    preset, _, board, _, arrays, options = case
    expected = expected_of(case)
    n, half = len(expected.hex), len(expected.hex) // 2 + 3
    dtypes = FORMS[form]
    entries = sparse_entries(rng, n, board.n_cells, dtypes[1])
    if form == "items":
        entries = [tuple(np.resize(part, 4) if len(part) else np.arange(1, 5).astype(part.dtype)
                         for part in row) for row in entries]
    weights = rng.integers(1, 5, n)
    kind = "padded" if form == "counts" else form
    stored = sparse_arrays(kind, entries, dtypes)
    means = []
    for first, rows in expected.classes().items():
        if len(rows) == 1:
            means.append(tuple(np.array(part) for part in entries[first]))
            continue
        found = union(board, expected, weights, first, rows, entries)
        values = np.array(list(found.values()), np.float64)
        values = np.rint(values) if np.dtype(dtypes[1]).kind == "i" else values
        means.append((np.array(list(found), np.int64), values.astype(dtypes[1])))
    assert any(len(rows) == 1 for rows in expected.classes().values())
    width = stored["policy_indices"].shape[-1] if kind == "padded" else 0
    layout = "cells-box" if name == "hex8" else "cells"
    options = ["-q", "--board", preset, f"--role=policy_indices=policy-index:layout={layout}", *options]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{k}.npz") for k in range(2)]
        for path, some in zip(paths, (slice(0, half), slice(half, n))):
            mine = {key: rows[some] for key, rows in stored.items()}
            if kind == "csr":
                mine = sparse_arrays(kind, entries[some], dtypes)
            save = np.savez_compressed if some.start else np.savez
            save(path, **{key: rows[some] for key, rows in arrays.items()}, **mine,
                 symaug_count=weights[some])
        out, contents = os.path.join(folder, "out.npz"), set()
        for threads, memory in ((1, "1G"), (3, "1G"), (3, "1k")):
            dedupe("-f", f"-j{threads}", f"--max-memory={memory}", "--merge=mean", *options, "-o", out, *paths)
            contents.add(open(out, "rb").read())
        assert len(contents) == 1, "threads or memory change the output"
        found = load(out)
        wanted = sparse_arrays("objects" if kind in ("items", "lists") else kind, means, dtypes, width)
        if kind == "lists":  # those of one row stay lists
            for key, rows in wanted.items():
                for i, members in enumerate(expected.classes().values()):
                    rows[i] = rows[i].tolist() if len(members) == 1 else rows[i]
        for key, rows in wanted.items():
            same_bits(found[key], rows, key)
        # each input its own output
        dedupe("--merge=mean", *options, "--out-dir", os.path.join(folder, "each"), *paths)
        parts = [load(os.path.join(folder, "each", f"{k}.npz"))["policy_values"] for k in range(2)]
        same_bits(np.concatenate(parts), wanted["policy_values"], "out-dir")


@tap.test("hex8", "square8")
def test_sparse_fold_back(name):
    """Means of all images of a row are the row, in the order of indices."""
    with tempfile.TemporaryDirectory() as folder:
        source, images, out = (os.path.join(folder, f"{k}.npz") for k in ("in", "images", "out"))
        run("sample", "-q", f"--board={name}", "--rows=100", os.path.join(folder, "all.npz"))
        run("dedupe", "-q", os.path.join(folder, "all.npz"), source)
        run("expand", "-q", "--order=sample", source, images)
        run("dedupe", "-q", "--merge=mean", images, out)
        rows, found, planes = load(source), load(out), load(images)["features"]
        assert rows["policy_indices"].dtype == object
        n = len(planes) // len(rows["features"])
        lonely = [i for i in range(len(planes) // n) if len({p.tobytes() for p in planes[n * i : n * i + n]}) == n]
        assert len(lonely) > 50, len(lonely)  # what has symmetries of its own may be moved in several ways
        for i in lonely:
            indices = rows["policy_indices"][i]
            order = np.argsort(indices, kind="stable")
            same_bits(found["policy_indices"][i], indices[order], f"indices {i}")
            values = rows["policy_values"][i]
            assert np.allclose(found["policy_values"][i], values[order], rtol=1e-6), i
            assert found["policy_values"][i].dtype == values.dtype
        run("dedupe", "-q", "-f", "--merge=mean", source, out)  # nothing to merge
        for key in ("policy_indices", "policy_values"):
            for i, row in enumerate(load(out)[key]):
                same_bits(row, rows[key][i], f"{key} {i}")


@tap.test("hex8", "hex13", "gomoku15", "connect4", "katago-like", "takeiteasy")
def test_fold_back(name):
    """Expand, then dedupe: the original set again, bit for bit."""
    with tempfile.TemporaryDirectory() as folder:
        source, images, out = (os.path.join(folder, f"{k}.npz") for k in ("in", "images", "out"))
        board = {"katago-like": "go9"}.get(name, name)
        run("sample", "-q", f"--board={board}", "--rows=150", source)
        run("dedupe", "-q", f"--board={board}", source, os.path.join(folder, "distinct.npz"))
        distinct = load(os.path.join(folder, "distinct.npz"))
        del distinct["symaug_count"]
        np.savez(source, **distinct)
        run("expand", "-q", f"--board={board}", "--order=sample", source, images)
        run("dedupe", "-q", images, out)
        found, expected = load(out), load(source)
        counts = found.pop("symaug_count")
        assert set(found) == set(expected), set(found) ^ set(expected)
        for key, rows in expected.items():
            same_bits(found[key], rows, key)
        assert len(set(counts)) == 1, counts
        manifest = json.load(open(out + ".manifest.json", encoding="utf-8"))
        assert manifest["options"]["command"] == "dedupe" and manifest["options"]["merge"] == "first"
        assert manifest["counts"]["positions"] == len(counts), manifest["counts"]


@tap.test()
def test_katago():
    """KataGo's reader takes no further member: the first rows as they are, and no means."""
    with tempfile.TemporaryDirectory() as folder:
        source, images, once, out = (os.path.join(folder, f"{k}.npz") for k in ("in", "images", "once", "out"))
        run("sample", "-q", "--board=katago:9", "--rows=60", source)
        run("expand", "-q", "--order=sample", source, images)
        run("dedupe", "-q", source, once)
        run("dedupe", "-q", images, out)
        expected, found = load(once), load(out)
        assert set(expected) == set(found) == set(load(source)), set(found)
        for key, rows in expected.items():
            same_bits(found[key], rows, key)
        errors = run("dedupe", "-f", "--merge=mean", source, out, code=65)[1]
        assert "use --merge first" in errors, errors


@tap.test()
def test_conflicts():
    """Values of one position that differ: counted and listed."""
    rng = rng_of("conflicts")
    case = repeated(CASES["hex13"](rng), rng)
    preset, _, board, _, arrays, options = case
    expected = expected_of(case)
    n = len(expected.hex)
    value = (rng.integers(0, 5, n) / 4).astype("<f4")
    rows = []
    for first, members in expected.classes().items():
        moved = [float(1 - value[row] if board.swaps[expected.to_first(board, row, first)] and row != first
                       else value[row]) for row in members]
        if max(moved) - min(moved) > 0.3:
            rows.append([expected.hex[first], str(len(members)), min(moved), max(moved), first])
    half = n // 2
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{i}.npz") for i in range(2)]
        for path, some in zip(paths, (slice(0, half), slice(half, n))):
            np.savez(path, value=value[some], note=np.full(half, b"damaged"),
                     **{key: v[some] for key, v in arrays.items()})
        listed, stats = os.path.join(folder, "c.csv"), os.path.join(folder, "s.json")
        _, errors = dedupe("--board", preset, *options, "--conflict=0.3", "--conflicts", listed, "--stats",
                           stats, "--out-dir", os.path.join(folder, "out"), *paths)
        with open(listed, encoding="utf-8", newline="") as file:
            found = list(csv.reader(file))
        assert found[0] == ["key", "rows", "min", "max", "first_file", "first_row"], found[0]
        assert len(found) - 1 == len(rows) > 0
        for line, (key, n_rows, low, high, first) in zip(found[1:], rows):
            assert line[:2] == [key, n_rows] and [float(line[2]), float(line[3])] == [low, high], line
            assert line[4:] == [paths[first >= half], str(first - half * (first >= half))], line
        told = json.load(open(stats, encoding="utf-8"))
        classes = expected.classes()
        assert told == {"rows": n, "positions": len(classes), "conflicts": len(rows),
                        "largest_class": max(map(len, classes.values()))}, told
        assert f"{len(classes)} positions" in errors, errors
        # classes are global: each row once, in the file of its first one
        for i, some in enumerate((lambda k: k < half, lambda k: k >= half)):
            got = load(os.path.join(folder, "out", f"{i}.npz"))
            want = [k - half * i for k in classes if some(k)]
            same_bits(got["value"], load(paths[i])["value"][want], f"file {i}")
        none = os.path.join(folder, "none.csv")
        dedupe("-n", "--board", preset, *options, "--conflicts", none, "-o", none + ".npz", *paths)
        with open(paths[1], "r+b") as file:  # damage behind the keys: found when all is written
            content = file.read()
            file.seek(content.index(b"damaged") + 3)
            file.write(b"X")
        dedupe("--board", preset, *options, "--copy=note", "--conflicts", none, "-o", none + ".npz", *paths, code=65)
        with open(paths[1], "wb") as file:
            file.write(content)
        assert not [name for name in os.listdir(folder) if name.startswith("none")], os.listdir(folder)
        # joined
        out = os.path.join(folder, "all.npz")
        dedupe("-q", "--board", preset, *options, "-o", out, *paths)
        same_bits(load(out)["value"], value[list(classes)], "joined")


@tap.test("counted first", "counted last", "expanded first", "expanded last")
def test_further_rows(kind):
    """New rows join a set that was deduped before, or expanded: it alone counts more than 1."""
    rng = rng_of(kind)
    options = ["-q", "--board=rhombus:3", "--role=planes=planes", "--value=mover"]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.npz", "b.npz", "made.npz")]
        for path in paths[:2]:
            planes = rng.integers(0, 2, (30, 2, 3, 3)) * (rng.random((30, 1, 3, 3)) < 0.15)
            planes[:, 1] *= 1 - planes[:, 0]
            np.savez(path, planes=planes.astype("u1"), value=rng.random(30).astype("f4"))
        run("expand" if "expanded" in kind else "dedupe", *options, paths[0], paths[2])
        out, plain = os.path.join(folder, "out.npz"), os.path.join(folder, "plain.npz")
        for at, name in ((2, out), (0, plain)):
            some = [paths[at], paths[1]]
            dedupe(*options, "-o", name, *(some[::-1] if "last" in kind else some))
        found, expected = load(out), load(plain)
        same_bits(found["planes"], expected["planes"], "planes")
        assert set(found) == set(expected), set(found)
        if "expanded" in kind:
            assert found["symaug_count"].sum() == 150
        else:
            same_bits(found["symaug_count"], expected["symaug_count"], "counts")


def write(folder, **arrays):
    path = os.path.join(folder, "in.npz")
    np.savez(path, **arrays)
    return path


@tap.test("integer values", "strings", "count 0", "count type", "count overflow", "conflict", "merge",
          "output and out-dir", "exists", "no folder", "bool values", "index", "lengths", "key", "no key",
          "tile ids")
def test_refused(kind):
    rng = rng_of(kind)
    planes = rng.integers(0, 2, (8, 2, 3, 3)).astype("f4")
    planes[1] = planes[0]
    arrays, options, code = {"planes": planes}, ["--board=tictactoe"], 65
    if kind == "integer values":
        arrays["value"] = np.ones(8, "i4")
        options += ["--merge=mean"]
    elif kind == "strings":
        arrays["policy"] = np.full((8, 9), "a")
        options += ["--merge=mean"]
    elif kind.startswith("count"):
        arrays["symaug_count"] = {"count 0": np.zeros(8, "u4"), "count type": np.ones(8, "f4"),
                                  "count overflow": np.full(8, 2**31 + 5, "u4")}[kind]
    elif kind in ("conflict", "merge"):
        options += [f"--{kind}=x"]
        code = 64
    elif kind == "output and out-dir":
        options += ["-o", "x", "--out-dir", "y"]
        code = 64
    elif kind in ("exists", "no folder"):
        arrays["symaug_count"] = np.zeros(8, "u4")  # refused later
        code = 73
    elif kind == "key":
        options += ["--key=nothing"]
        code = 64
    elif kind == "no key":
        arrays = {"value": np.ones(8, "f4")}
    elif kind == "tile ids":  # as `expand` refuses them
        arrays = {"plateau": rng.integers(1, 28, (8, 19))}
        options = ["-q", "--board=takeiteasy", "--tiles=permute"]
    elif kind in ("bool values", "index"):
        arrays["policy_indices"] = np.full((8, 2), 9 if kind == "index" else 1, "i4")
        arrays["policy_values"] = np.ones((8, 2), "?" if kind == "bool values" else "f4")
        options += ["--merge=mean", "--role=policy_indices=policy-index:layout=cells"]
    elif kind == "lengths":
        arrays["policy_indices"] = object_rows([[1, 2]] * 8)
        arrays["policy_values"] = object_rows([[0.5]] * 8)
        options += ["--merge=mean", "--role=policy_indices=policy-index:layout=cells"]
    with tempfile.TemporaryDirectory() as folder:
        source, out = write(folder, **arrays), os.path.join(folder, "out.npz")
        if kind == "exists":
            open(out, "w", encoding="utf-8").close()
        if kind == "no folder":
            out = os.path.join(folder, "nowhere", "out.npz")
        before = sorted(os.listdir(folder))
        operands = [source] if kind == "output and out-dir" else [source, out]
        _, errors = dedupe(*options, *operands, code=code)
        # A command line that is none of the command's brings its usage and an example.
        usage = ["usage: ", "example: "] if kind == "output and out-dir" else []
        _, *further = errors.splitlines()
        assert [line[: line.index(" ") + 1] for line in further] == usage, errors
        assert sorted(os.listdir(folder)) == before, errors


@tap.test("mean", "first")
def test_many_dimensions(merge):
    """What is only kept may have any shape, and so may a policy that is averaged."""
    rng = rng_of("many dimensions")
    planes = rng.integers(0, 2, (8, 2, 3, 3)).astype("f4")
    planes[1] = planes[0]
    note = rng.random((8, *[1] * 27, 3))
    with tempfile.TemporaryDirectory() as folder:
        source, out = write(folder, planes=planes, note=note), os.path.join(folder, "out.npz")
        dedupe("-q", "--board=tictactoe", f"--merge={merge}", "--copy=note", source, out)
        same_bits(load(out)["note"], np.delete(note, 1, axis=0), "note")
        board = os.path.join(folder, "b.json")
        with open(board, "w", encoding="ascii") as file:
            flip = {"name": "flip", "dst": list(range(512))[::-1]}
            json.dump({"cells": 512, "transforms": [flip]}, file)
        planes = rng.integers(0, 2, (8, 2, 512)).astype("f4")
        policy = rng.random((8, *[2] * 9)).astype("f4")
        planes[1], policy[1] = planes[0], policy[0]
        source = write(folder, planes=planes, policy=policy)
        dedupe("-q", "-f", f"--board=file:{board}", f"--merge={merge}", source, out)
        same_bits(load(out)["policy"], np.delete(policy, 1, axis=0), "policy")


@tap.test("mean", "first")
def test_often(merge):
    """A position that most rows are of is joined in parts where memory is short: the same bytes."""
    rng = np.random.default_rng(12)
    n = 60000
    planes = np.zeros((n, 2, 3, 3), "u1")
    planes[:, 0, 0, 0] = 1
    planes[::4, 1] = rng.integers(0, 2, (n // 4, 3, 3)) * (1 - planes[::4, 0])
    policy = rng.random((n, 9)).astype("f4")
    value = rng.random(n).astype("f4")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npz")
        np.savez(source, planes=planes, policy=policy, value=value)
        outs = []
        for memory in "1G", "1M":
            outs.append(os.path.join(folder, memory + ".npz"))
            dedupe(f"--max-memory={memory}", f"--merge={merge}", "--board=tictactoe", source, outs[-1])
        with open(outs[0], "rb") as one, open(outs[1], "rb") as other:
            assert one.read() == other.read()
        found = load(outs[1])
        same = np.flatnonzero(planes[:, 1].sum((1, 2)) == 0)
        at = np.flatnonzero(found["planes"][:, 1].sum((1, 2)) == 0)
        assert found["symaug_count"][at] == len(same), (at, len(same))
        wanted = value[same].astype("f8").mean() if merge == "mean" else value[same[0]]
        assert abs(found["value"][at[0]] - wanted) < 1e-6, (found["value"][at], wanted)
        same_bits(found["planes"][at[0]], planes[same[0]], "planes")


@tap.test()
def test_told():
    """Rows are told in their own file, paths as CSV has them, and differences beside NaN."""
    planes = rng_of("told").integers(0, 2, (3, 2, 3, 3)).astype("f4")
    wdl = np.array([[np.nan, 0.5, 0.5]] * 3 + [[np.nan, 0.25, 0.75]] * 3, "f4")
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ('a, "b".npz', "c.npz")]
        for path, counts in zip(paths, ([1, 1, 1], [1, 0, 1])):
            np.savez(path, planes=planes, symaug_count=np.array(counts, "u4"))
        out, listed = os.path.join(folder, "out.npz"), os.path.join(folder, "list.csv")
        _, errors = dedupe("--board=tictactoe", "-o", out, *paths, code=65)
        assert "c.npz: symaug_count: row 1: 0, expected" in errors, errors
        np.savez(paths[0], planes=np.concatenate([planes, planes]), wdl=wdl)
        dedupe("-q", "--board=tictactoe", "--conflicts", listed, "-o", out, paths[0])
        with open(listed, encoding="utf-8", newline="") as file:
            found = list(csv.reader(file, strict=True))[1:]
        assert [line[1:] for line in found] == [["2", "0.25", "0.5", paths[0], str(i)] for i in range(3)], found
        # A first value that is NaN hides no difference of the others.
        np.savez(paths[0], planes=np.concatenate([planes[:1]] * 3), value=np.array([np.nan, 0.5, 0.25], "f4"))
        dedupe("-q", "-f", "--board=tictactoe", "--conflicts", listed, "-o", out, paths[0])
        with open(listed, encoding="utf-8", newline="") as file:
            found = list(csv.reader(file, strict=True))[1:]
        assert [line[1:4] for line in found] == [["3", "0.25", "0.5"]], found


@tap.test("1", "2", "4")
def test_first_bad_row(n_threads):
    """Moves are hashed by several threads: the first one that is off the board is reported, also when
    a thread comes upon a later one before."""
    rng = rng_of(n_threads)
    planes = rng.integers(0, 2, (3000, 2, 3, 3)).astype("f4")
    move = rng.integers(0, 9, 3000).astype("i4")
    move[[2900, 2000, 700]] = 33, 55, 44
    with tempfile.TemporaryDirectory() as folder:
        source, out = write(folder, planes=planes, move=move), os.path.join(folder, "out.npz")
        for _ in range(5):
            _, errors = dedupe(f"-j{n_threads}", "--board=tictactoe", "--merge=mean", "--role=move=action",
                               source, out, code=65)
            assert errors.endswith("move.npy: row 700: index 44, expected below 9\n"), errors
        assert not os.path.exists(out)


@tap.test("dedupe", "expand")
def test_many_inputs(command):
    """More inputs than a program may have open at first, which it may ask to change."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with tempfile.TemporaryDirectory() as folder:
        planes = rng_of(command).integers(0, 2, (8, 2, 3, 3)).astype("f4")
        source, out = write(folder, planes=planes), os.path.join(folder, "out.npz")
        inputs = [os.path.join(folder, f"{i}.npz") for i in range(60)]
        for path in inputs:
            os.link(source, path)
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
        try:
            run(command, "--board=square:3", *inputs, "-o", out)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


if __name__ == "__main__":
    tap.main()
