#!/usr/bin/python3
"""`overlap` and `verify --leak` against positions.py; types, folders, refusals."""

import json
import os
import tempfile

import numpy as np

from golden import Tap, load, run
from positions import Positions
from test_positions import CASES, rng_of

tap = Tap()


def overlap(*arguments, code=0):
    text, errors = run("overlap", "--json", *arguments, code=code)
    return json.loads(text) if code == 0 else errors


def matrix(keys):
    """Rows of set i that occur in set j; on the diagonal rows less distinct positions."""
    return [[len(a) - len(set(a)) if i == j else sum(key in set(b) for key in a)
             for j, b in enumerate(keys)] for i, a in enumerate(keys)]


def subset(case, rows):
    """Keys and arrays of some rows of a case."""
    preset, name, board, parts, arrays, options = case
    transforms = getattr(board, "chosen", list(range(board.n_transforms)))
    some = []
    for part in parts:
        new = type(part)(part.name, part.rows[rows], part.move, part.kept, part.shape)
        some.append(new)
    n = len(parts[0].rows)
    return Positions(name, some, transforms), {
        key: value[rows] if value.ndim and len(value) == n else value for key, value in arrays.items()
    }


@tap.test(*CASES)
def test_matrix(name):
    """Three sets of rows of one, the last of them images of rows."""
    case = CASES[name](rng_of(name))
    preset, _, _, parts, _, options = case
    rng = rng_of(name + " sets")
    n = len(parts[0].rows)
    chosen = [rng.integers(0, n, n // 2), rng.integers(0, n, n // 3), np.arange(n // 4)]
    with tempfile.TemporaryDirectory() as folder:
        keys, exact, paths = [], [], []
        for i, rows in enumerate(chosen):
            expected, arrays = subset(case, rows)
            paths.append(os.path.join(folder, f"{i}.npz"))
            np.savez(paths[-1], **arrays)
            keys.append(expected.hex)
            exact.append(expected.exact)
        for threads in (1, 3):
            found = overlap(f"-j{threads}", "--board", preset, *options, *paths)
            assert found["exact"] == matrix(exact), found
            assert found["symmetry"] == matrix(keys), found
            assert [s["rows"] for s in found["sets"]] == [len(rows) for rows in chosen]
        # the images of a set are wholly in it
        images = os.path.join(folder, "images.npz")
        run("expand", "-q", "--board", preset, *options, paths[0], images)
        found = overlap("--board", preset, *options, paths[0], images)
        assert found["symmetry"][1][0] == found["sets"][1]["rows"]
        assert found["symmetry"][0][1] == len(chosen[0])
        run("verify", "--board", preset, *options, "--leak", images, paths[0], code=1)


@tap.test()
def test_spill():
    """With little memory the same counts."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{seed}.npz") for seed in (1, 2)]
        for seed, path in enumerate(paths):
            run("sample", "-q", "--board=tictactoe", "--rows=20000", f"--seed={seed}", path)
        plain = overlap("--board=tictactoe", *paths)
        assert overlap("--board=tictactoe", "--max-memory=64k", *paths) == plain
        assert plain["symmetry"][0][1] >= plain["exact"][0][1] > 0
        # The counts themselves grow with the square of the sets.
        _, errors = run("overlap", "--board=tictactoe", "--max-memory=64k", *100 * paths[:1], code=64)
        assert "100 sets" in errors and "folder of shards is one set" in errors, errors


@tap.test()
def test_often():
    """Where most rows are of one position, what `--leak` finds is the same with little memory."""
    rng = np.random.default_rng(7)
    n = 60000
    planes = np.zeros((2, n, 2, 3, 3), "u1")
    planes[:, :, 0, 0, 0] = 1
    planes[:, ::4, 1] = rng.integers(0, 2, (2, n // 4, 3, 3)) * (1 - planes[:, ::4, 0])
    planes[1, :, 1, 1, 1] = 0
    planes[1, :1000] = 1
    firsts = {}  # row of the other set, by each of its images
    for row, board in enumerate(planes[1]):
        for turned in (np.rot90(board, k, (1, 2)) for k in range(4)):
            firsts.setdefault(turned.tobytes(), row)
            firsts.setdefault(turned[..., ::-1].tobytes(), row)
    expected = [(i, firsts[row.tobytes()]) for i, row in enumerate(planes[0]) if row.tobytes() in firsts]
    assert n * 3 // 4 < len(expected) < n
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("own.npz", "other.npz")]
        for path, rows in zip(paths, planes):
            np.savez(path, planes=rows)
        for memory in "1G", "1M":
            text, _ = run("verify", "--json", f"--max-memory={memory}", "--board=tictactoe",
                          "--leak", paths[1], paths[0], code=1)  # fmt: skip
            found = json.loads(text)["files"][0]
            assert found["counts"] == {"leak": len(expected)}, found["counts"]
            assert len(found["findings"]) > 0
            for finding, (row, other) in zip(found["findings"], expected):
                assert finding["row"] == row and finding["found"].startswith(f"row {other} of"), finding


@tap.test()
def test_folders():
    """A folder of shards is one set; a folder of arrays is one shard."""
    with tempfile.TemporaryDirectory() as folder:
        shards = os.path.join(folder, "shards")
        os.mkdir(shards)
        run("sample", "-q", "--board=go9", "--rows=40", os.path.join(folder, "all.npz"))
        arrays = load(os.path.join(folder, "all.npz"))
        for i in range(2):
            np.savez(os.path.join(shards, f"{i}.npz"),
                     **{key: value[20 * i : 20 * i + 20] if value.ndim else value for key, value in arrays.items()})
        plain = os.path.join(shards, "arrays")
        os.mkdir(plain)
        for key, value in arrays.items():
            np.save(os.path.join(plain, key + ".npy"), value, allow_pickle=True)
        np.save(os.path.join(shards, "mean.npy"), np.zeros((9, 9)))  # no shard
        np.savez(os.path.join(plain, "copy.npz"), np.zeros(3))
        found = overlap("--board=go9", os.path.join(folder, "all.npz"), shards, plain)
        assert [s["rows"] for s in found["sets"]] == [40, 80, 40], found
        assert found["exact"][0][1:] == [40, 40] and found["exact"][1][2] == 80, found
        os.mkdir(os.path.join(folder, "none"))
        overlap("--board=go9", os.path.join(folder, "none"), code=66)


@tap.test()
def test_codings_of_all():
    """How stones and players are coded is decided by all inputs together. The first has stones of
    one colour alone; the second has the same boards and then their images under colour swap."""
    first = rng_of("codings").permutation(1 << 9)[:20, None] >> np.arange(9) & 1
    first = first.astype("i1").reshape(20, 3, 3)
    options = ["--board=rhombus:3", "--role=board=grid", "--to-move=pm1"]
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{name}.npz") for name in "ab"]
        np.savez(paths[0], board=first, current_player=np.full(20, -1, "i1"))
        np.savez(paths[1], board=np.concatenate([first, 2 * first.transpose(0, 2, 1)]),
                 current_player=np.repeat(np.array([-1, 1], "i1"), 20))  # fmt: skip
        found = overlap(*options, *paths)
        assert found["symmetry"][0][1] == 20 and found["symmetry"][1][0] == 40, found
        run("split", "-q", *options, "--parts=a=0.5,b=0.5", "--out-dir", folder, *paths)
        for part in "ab":
            a, b = (load(os.path.join(folder, f"{name}.{part}.npz"))["board"] for name in "ab")
            assert 0 < len(a) < 20
            assert np.array_equal(b, np.concatenate([a, 2 * a.transpose(0, 2, 1)])), part


@tap.test("int8", "big-endian", "float16", "inexact", "shape", "name", "board", "objects")
def test_types(kind):
    rng = np.random.default_rng(4)
    planes = rng.integers(0, 2, (12, 2, 5, 5)).astype(np.float32)
    other, name, options = np.rot90(planes, 1, (-2, -1)).copy(), "planes", ["--board=square:5"]
    code = 0
    if kind in ("int8", "big-endian", "float16"):
        other = other.astype({"int8": "i1", "big-endian": ">f8", "float16": "f2"}[kind])
    else:
        code = 65
    if kind == "inexact":
        planes, other[3, 0, 0, 0] = planes.astype("i1"), 0.5
    elif kind == "shape":
        other = np.concatenate([other, other], axis=1)
    elif kind == "name":
        name = "states"
    with tempfile.TemporaryDirectory() as folder:
        a, b = os.path.join(folder, "a.npz"), os.path.join(folder, "b.npz")
        np.savez(a, planes=planes)
        np.savez(b, **{name: other})
        if kind == "board":
            np.savez(b, planes=other, board_type="square8")
        if kind == "objects":
            rows = np.empty(12, object)
            rows[:] = list(other.reshape(12, -1))
            np.savez(b, planes=other, indices=rows)
            np.savez(a, planes=planes, indices=rows)
            options += ["--key=indices"]
        found = overlap(*options, a, b, code=code)
        if code == 0:
            assert found["symmetry"][0][1] == 12 and found["exact"][0][1] < 12, found
        else:
            assert found.count("\n") == 1, found
            assert ("a.npz" if kind == "objects" else "b.npz") in found, found


@tap.test()
def test_conventions_differ():
    """Sets that say themselves how they are to be read are warned of where they differ."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npz")
        rng = np.random.default_rng(3)
        planes = np.zeros((6, 3, 5, 5), "f4")
        for row in planes:
            cells = rng.permutation(25)
            row[0].flat[cells[0]] = row[1].flat[cells[1]] = 1
        np.savez(source, planes=planes)
        out = []
        for convention in ("colour", "mover"):
            out.append(os.path.join(folder, convention + ".npz"))
            run("expand", "-q", "--board=rhombus:5", "--transforms=0", "--planes", convention, source, out[-1])
        _, errors = run("overlap", *out)
        assert "planes is mover" in errors and "colour" in errors, errors
        assert run("overlap", out[0], out[0])[1].count("planes is") == 0


if __name__ == "__main__":
    tap.main()
