#!/usr/bin/python3
"""scripts/convert: to a shard and back, and what must be refused."""

import gzip
import os
import pickle
import subprocess
import tempfile
from collections import deque

import numpy as np

import golden
from golden import Tap, load, same_bits

tap = Tap()


def convert(script, *arguments, fails=False):
    command = ["/usr/bin/python3", "-B", f"scripts/convert/{script}_npz.py", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode != 0) == fails, f"{' '.join(command)}: {done.stderr}"
    return done.stderr


def same_arrays(found, expected):
    assert list(found) == list(expected) or set(found) == set(expected), f"{set(found)}"
    for name, array in expected.items():
        same_bits(found[name], array, name)


class Scratch(tempfile.TemporaryDirectory):
    """A scratch folder; call it for a path in it."""

    def __call__(self, name):
        return os.path.join(self.name, name)

    def __enter__(self):
        return self


CSV = """game_id,turn,plateau_0,plateau_1,plateau_2,tile_0,tile_1,tile_2,position,final_score,x_1
0,0,0,0,0,1,6,3,2,131,0.5
0,1,0,0,163,5,2,4,0,131,-2
"""


@tap.test()
def test_csv():
    with Scratch() as scratch:
        with open(scratch("in.csv"), "w") as file:
            file.write(CSV)
        convert("csv", scratch("in.csv"), scratch("out.npz"))
        found = load(scratch("out.npz"))
        same_bits(found["plateau"], np.array([[0, 0, 0], [0, 0, 163]], "<i4"), "plateau")
        same_bits(found["tile"], np.array([[1, 6, 3], [5, 2, 4]], "<i4"), "tile")
        same_bits(found["position"], np.array([2, 0], "<i4"), "position")
        same_bits(found["x_1"], np.array([0.5, -2], "<f8"), "x_1")
        convert("csv", scratch("out.npz"), scratch("back.csv"))
        with open(scratch("back.csv")) as file:
            assert file.read().replace("-2.0", "-2") == CSV
        assert "File exists" in convert("csv", scratch("out.npz"), scratch("back.csv"), fails=True)


@tap.test()
def test_csv_take_it_easy():
    """A sample through CSV and through expand gives the same images."""
    with Scratch() as scratch:
        golden.run("sample", "--board", "takeiteasy", "--rows", "60", scratch("in.npz"))
        convert("csv", scratch("in.npz"), scratch("in.csv"))
        convert("csv", scratch("in.csv"), scratch("again.npz"))
        same_arrays(load(scratch("again.npz")), load(scratch("in.npz")))
        images = golden.expand(scratch("again.npz"), "--board", "takeiteasy")
        same_arrays(images, golden.expand(scratch("in.npz"), "--board", "takeiteasy"))


REFUSED = {
    "short line": ("a,b\n1\n", "line 2 has 1 of 2"),
    "gap": ("a_0,a_2\n1,2\n", "a_2 is there twice or not in order"),
    "twice": ("a,a\n1,2\n", "a is there twice"),
}


@tap.test(*REFUSED)
def test_csv_refused(name):
    text, why = REFUSED[name]
    with Scratch() as scratch:
        with open(scratch("in.csv"), "w") as file:
            file.write(text)
        assert why in convert("csv", scratch("in.csv"), scratch("out.npz"), fails=True)
        assert not os.path.exists(scratch("out.npz"))


def examples(n=30):
    rng = np.random.default_rng(1)
    return [(rng.standard_normal((3, 6, 7)).astype("<f4"), rng.random(7).astype("<f4"),
             float(rng.integers(-1, 2))) for _ in range(n)]


@tap.test("flat", "nested", "gzip", *range(2, 6))
def test_pickle(form):
    rows = examples()
    nested = [deque(rows[:10]), rows[10:]]
    with Scratch() as scratch:
        opener = gzip.open if form == "gzip" else open
        with opener(scratch("in.pkl"), "wb") as file:
            pickle.dump(nested if form == "nested" else rows, file,
                        form if isinstance(form, int) else None)
        convert("pickle", scratch("in.pkl"), scratch("out.npz"))
        found = load(scratch("out.npz"))
        for i, name in enumerate(("state", "policy", "value")):
            same_bits(found[name], np.array([row[i] for row in rows]), name)
        images = golden.expand(scratch("out.npz"), "--board", "connect4", "--order", "sample")
        same_bits(images["state"][1], rows[0][0][:, :, ::-1], "a mirror image")
        convert("pickle", scratch("out.npz"), scratch("back.pkl.gz"))
        with gzip.open(scratch("back.pkl.gz")) as file:
            back = pickle.load(file)
        assert len(back) == len(rows) and isinstance(back[0], tuple)
        for a, b in zip(back, rows):
            same_bits(a[0], b[0], "state")
            same_bits(a[1], b[1], "policy")
            assert a[2] == b[2]


@tap.test()
def test_pickle_names():
    with Scratch() as scratch:
        with open(scratch("in.pkl"), "wb") as file:
            pickle.dump([(*row, 5) for row in examples(4)], file)
        convert("pickle", "states,pis,z,ply", scratch("in.pkl"), scratch("out.npz"))
        assert set(load(scratch("out.npz"))) == {"states", "pis", "z", "ply"}


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@tap.test()
def test_pickle_executes_nothing():
    with Scratch() as scratch:
        for payload in (Evil(scratch("trace")), [(Evil(scratch("trace")), 1, 2)], np.float64,
                        [(np.array([Evil(scratch("trace"))]), 1, 2)]):
            with open(scratch("in.pkl"), "wb") as file:
                pickle.dump(payload, file)
            said = convert("pickle", scratch("in.pkl"), scratch("out.npz"), fails=True)
            assert "refused" in said, said
            assert not os.path.exists(scratch("trace")) and not os.path.exists(scratch("out.npz"))


@tap.test()
def test_hdf5():
    with Scratch() as scratch:
        golden.run("sample", "--board", "hex8", "--rows", "40", scratch("in.npz"))
        said = convert("hdf5", scratch("in.npz"), scratch("out.h5"))
        assert said == "", said
        convert("hdf5", scratch("out.h5"), scratch("back.npz"))
        same_arrays(load(scratch("back.npz")), load(scratch("in.npz")))
        golden.expand(scratch("back.npz"))
        assert "exists" in convert("hdf5", scratch("in.npz"), scratch("out.h5"), fails=True)


@tap.test()
def test_hdf5_groups():
    import h5py

    with Scratch() as scratch:
        with h5py.File(scratch("in.h5"), "w") as file:
            file.create_dataset("train/state", data=np.arange(18, dtype="<f4").reshape(2, 1, 3, 3))
        convert("hdf5", scratch("in.h5"), scratch("out.npz"))
        same_bits(load(scratch("out.npz"))["train.state"],
                  np.arange(18, dtype="<f4").reshape(2, 1, 3, 3), "train.state")


@tap.test()
def test_lmdb():
    with Scratch() as scratch:
        golden.run("sample", "--board", "gomoku15", "--rows", "120", scratch("made.npz"))
        source = {**load(scratch("made.npz")), "note": np.array("meta")}
        np.savez(scratch("in.npz"), **source)
        convert("lmdb", scratch("in.npz"), scratch("out.lmdb"))
        convert("lmdb", scratch("out.lmdb"), scratch("back.npz"))
        same_arrays(load(scratch("back.npz")), source)
        images = golden.expand(scratch("back.npz"), "--board", "gomoku15")
        assert len(images["state"]) == 960
        assert "exists" in convert("lmdb", scratch("in.npz"), scratch("out.lmdb"), fails=True)


@tap.test()
def test_short():
    """They are meant to be read."""
    for name in os.listdir("scripts/convert"):
        with open(f"scripts/convert/{name}", encoding="utf-8") as file:
            assert len(file.readlines()) < 80, name


if __name__ == "__main__":
    tap.main()
