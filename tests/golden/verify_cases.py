"""Expanded sets of every family for the tests of verify, and the faults planted into them."""

import json
import os
import tempfile

import numpy as np

from golden import data, load, run

HEX_INVERSE = [0, 5, 4, 3, 2, 1, 6, 7, 8, 9, 10, 11]
SQUARE_INVERSE = [0, 3, 2, 1, 4, 5, 6, 7]

# name: (source shard, options, names of planes, policy, coordinate, value, to-move; inverses)
SETS = {
    "hex8": ("ringrift/sample_hex8.npz", [], "features", "policy_indices", None, HEX_INVERSE),
    "hex8-padded": ("ringrift/sample_hex8_padded_int64.npz", [], "features", "policy_indices",
                    None, HEX_INVERSE),
    "square8": ("ringrift/sample_square8.npz", [], "features", "policy_indices", None,
                SQUARE_INVERSE),
    "gomoku15": ("seeds/gomoku15_in.npz", ["--board", "gomoku15"], "state", "policy", "last_move",
                 SQUARE_INVERSE),
    "tictactoe": ("seeds/ttt_in.npz", ["--board", "tictactoe"], "states", "policies", None,
                  SQUARE_INVERSE),
    "hex13": ("seeds/hex13_in.npz", ["--board", "hex13"], "boards", "policy", None, [0, 1, 2, 3]),
    "connect4": ("seeds/connect4_in.npz", ["--board", "connect4"], "states", "policies", None,
                 [0, 1]),
    "chess": ("seeds/chess1814_in.npz", ["--board", "chess"], "states", "policies", None, [0, 1]),
    "takeiteasy": ("seeds/takeiteasy_in.npz", ["--board", "takeiteasy"], "plateau", None,
                   "position", None),
    "takeiteasy-permute": ("seeds/takeiteasy_in.npz",
                           ["--board", "takeiteasy", "--tiles", "permute"], "plateau", None,
                           "position", None),
    "katago": ("katago/raw9_64_in.npz", [], "binaryInputNCHWPacked", "policyTargetsNCMove", None,
               SQUARE_INVERSE),
    "file": (None, [], "planes", "policy", "move", None),
}


class Set:
    """An expanded set in memory: arrays, and the source and transform of each row."""

    def __init__(self, name, order="block:16", folder=None):
        source, self.options, self.planes, self.policy, self.coord, self.inverse = SETS[name]
        self.made = None if folder else tempfile.TemporaryDirectory(prefix="symaug-verify-")  # as long as its copies
        self.folder = folder or self.made.name
        self.name = name
        if source is None:
            source, self.options = make_file_board(self.folder)
        else:
            source = data(source)
        self.source = load(source)
        self.path = os.path.join(self.folder, f"{name}.npz")
        run("expand", "-q", "-f", "--level", "fast", "--order", order, *self.options, source,
            self.path)
        self.arrays = load(self.path)
        self.n_rows = len(self.arrays[self.planes])
        n = len(self.source[self.planes])
        manifest = json.load(open(self.path + ".manifest.json"))
        self.ids = [t["id"] for t in manifest["transforms"]]
        if "symaug_source" in self.arrays:
            self.rows_of = self.arrays["symaug_source"].copy()
            self.transforms = self.arrays["symaug_transform"].copy()
        else:
            block = {"sample": 1, "transform": n}.get(order) or int(order.split(":")[1])
            pairs = []
            for first in range(0, n, block):
                for t in self.ids:
                    pairs += [(i, t) for i in range(first, min(n, first + block))]
            self.rows_of, self.transforms = map(np.array, zip(*pairs))

    def copy(self):
        other = object.__new__(Set)
        other.__dict__.update(self.__dict__)
        other.arrays = {key: array.copy() for key, array in self.arrays.items()}
        return other

    def row(self, source, transform):
        return int(np.flatnonzero((self.rows_of == source) & (self.transforms == transform))[0])

    def keep(self, rows):
        """Only these rows, in this order, of every array that has rows."""
        n = self.n_rows
        for key, array in self.arrays.items():
            if array.ndim > 0 and len(array) == n:
                self.arrays[key] = array[rows]
        self.n_rows = len(rows)

    def verify(self, provenance=True, options=(), path=None):
        """Exit code, error codes and the JSON of the set as it is now."""
        path = path or os.path.join(self.folder, "checked.npz")
        arrays = dict(self.arrays)
        if not provenance:
            arrays.pop("symaug_source", None)
            arrays.pop("symaug_transform", None)
        np.savez(path, **arrays)
        return verify(path, *self.options, *options)


def verify(path, *options):
    from subprocess import run as run_process

    from golden import SYMAUG

    done = run_process([SYMAUG, "verify", "--json", *map(str, options), str(path)],
                       capture_output=True, text=True)
    assert done.returncode in (0, 1), f"exit {done.returncode}: {done.stderr}{done.stdout[:2000]}"
    result = json.loads(done.stdout)
    codes = {f["code"] for file in result["files"] for f in file["findings"]
             if f["severity"] == "error"}
    assert (done.returncode == 1) == bool(codes), (done.returncode, codes)
    assert result["ok"] == (done.returncode == 0)
    return codes, result


def make_file_board(folder):
    """A board from a file: five points on a ring, turned and mirrored."""
    rng = np.random.default_rng(5)
    board = os.path.join(folder, "ring.json")
    turn = [1, 2, 3, 4, 0]
    flip = [0, 4, 3, 2, 1]
    with open(board, "w") as out:
        json.dump({"name": "ring", "cells": 5, "generators": True,
                   "transforms": [{"name": "turn", "dst": turn}, {"name": "flip", "dst": flip}]},
                  out)
    source = os.path.join(folder, "ring.npz")
    policy = rng.random((24, 5)).astype(np.float32)
    np.savez(source, planes=rng.integers(0, 9, (24, 2, 5)).astype(np.int16),
             policy=policy / policy.sum(1, keepdims=True),
             move=rng.integers(-1, 5, 24).astype(np.int32),
             values=rng.choice([-1, 0, 1], 24).astype(np.float32))
    return source, ["--board", "file:" + board]


def same(a, b):
    if isinstance(a, np.ndarray) and a.dtype == object or isinstance(b, np.ndarray) and b.dtype == object:
        return all(same(x, y) for x, y in zip(a, b))
    return np.array_equal(a, b)


def pick(s, keys, t, u, others=()):
    """A source whose row of each of `keys` under t differs from that under u (and the others)."""
    keys = [keys] if isinstance(keys, str) else keys
    for source in np.unique(s.rows_of):
        rows = [s.row(source, i) for i in (t, u, *others)]
        if all(not same(s.arrays[key][rows[0]], s.arrays[key][r]) for r in rows[1:]
               for key in keys):
            return int(source)
    raise AssertionError(f"{s.name}: no source tells {t} from {u} in {keys}")


def set_row(s, key, row, value):
    if s.arrays[key].dtype == object:
        s.arrays[key][row] = value if s.arrays[key].ndim > 1 else np.array(value)
    else:
        s.arrays[key][row] = value
