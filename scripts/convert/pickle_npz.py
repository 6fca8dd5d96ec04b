#!/usr/bin/python3
"""Lists of examples to shards and back: pickle_npz.py [NAMES] IN OUT; one of the two is an .npz.

Training loops pickle (perhaps gzipped) lists of (state, policy, value), or lists of such lists.
NAMES, state,policy,value unless told, are the arrays of the shard.

Unpickling a file executes what its writer put there. This reader refuses everything but numbers,
text, lists, tuples, deques and numpy arrays; do not load foreign pickles with pickle.load.
"""

import gzip
import os
import pickle
import sys
from collections import deque

import numpy as np

CORE = {"_reconstruct", "scalar", "_frombuffer"}
ALLOWED = {("numpy", "ndarray"), ("numpy", "dtype"), ("collections", "deque"),
           ("_codecs", "encode")}
ALLOWED |= {(f"numpy.{core}.{module}", name) for core in ("core", "_core")
            for module in ("multiarray", "numeric") for name in CORE}


class Restricted(pickle.Unpickler):
    def find_class(self, module, name):
        if (module, name) not in ALLOWED:
            raise pickle.UnpicklingError(f"the pickle wants {module}.{name}: refused")
        return super().find_class(module.replace("numpy._core", "numpy.core"), name)


def flatten(found, n_fields):
    """The examples of a list, or of a list of lists: tuples of n_fields."""
    for item in found:
        if isinstance(item, tuple) and len(item) == n_fields:
            yield item
        elif isinstance(item, (list, deque)):
            yield from flatten(item, n_fields)
        else:
            sys.exit(f"pickle_npz.py: found {type(item).__name__}, expected tuples of {n_fields}")


def read_pickle(path, names):
    with open(path, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    with (gzip.open if is_gzip else open)(path, "rb") as file:
        examples = list(flatten(Restricted(file).load(), len(names)))
    arrays = {name: np.array([row[i] for row in examples]) for i, name in enumerate(names)}
    for name, array in arrays.items():
        if array.dtype == object:
            sys.exit(f"pickle_npz.py: {name}: rows of different shapes")
    return arrays


def write_pickle(path, names, arrays):
    rows = list(zip(*[arrays[name] for name in names]))
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "xb") as file:
        pickle.dump(rows, file, protocol=4)


if __name__ == "__main__":
    *names, source, target = sys.argv[1:] if len(sys.argv) in (3, 4) else sys.exit(__doc__)
    names = (names or ["state,policy,value"])[0].split(",")
    if source.endswith(".npz") == target.endswith(".npz") or os.path.exists(target):
        sys.exit(f"pickle_npz.py: {target} exists, or not one of the two files is an .npz")
    if target.endswith(".npz"):
        np.savez(target, **read_pickle(source, names))
    else:
        with np.load(source) as shard:
            write_pickle(target, names, dict(shard))
