"""Images of random rows, as a net in training asks for them: the Python package against numpy code
that groups a batch by transform and indexes once for each, which is as a careful user writes it.

usage: loading.py SET ROWS THREADS RUNS    (prints images per second of both, medians)
"""
import os
import statistics
import sys
import time

import numpy as np

import sets

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import symaug  # noqa: E402

BATCH = 8192
PLANES = ("states", "features")


class Careful:
    """Planes, dense policy and colour swaps of Hex (blue, red, to move; winner and player 0/1)."""

    def __init__(self, arrays, board, planes):
        self.arrays, self.planes = arrays, planes
        self.policy = arrays["policy"]
        ids = range(len(board.transforms))
        self.cells = [np.argsort(board.cell_map(t)) for t in ids]
        self.actions = [np.argsort(board.action_map(t, self.policy.shape[1])) for t in ids]
        self.swaps = [t.swaps_colours for t in board.transforms]

    def images(self, rows, transforms):
        x = self.arrays[self.planes]
        flat = x.reshape(len(x), x.shape[1], -1)
        out = {key: array[rows] for key, array in self.arrays.items()
               if key not in (self.planes, "policy")}
        moved = np.empty((len(rows), *flat.shape[1:]), x.dtype)
        policy = np.empty((len(rows), self.policy.shape[1]), self.policy.dtype)
        for t in np.unique(transforms):
            at = np.flatnonzero(transforms == t)
            moved[at] = flat[rows[at]][:, :, self.cells[t]]
            policy[at] = self.policy[rows[at]][:, self.actions[t]]
            if self.swaps[t]:
                moved[at] = moved[at][:, [1, 0, 2]]
                moved[at, 2] = 1 - moved[at, 2]
                for key in ("values", "to_play"):
                    out[key][at] = 1 - out[key][at]
        return {self.planes: moved.reshape(len(rows), *x.shape[1:]), "policy": policy, **out}


def measure(name, n_rows, n_threads, n_runs):
    """(images per second of the package, of numpy)."""
    make, board = sets.SETS[name.removesuffix("-u1")][:2]
    arrays = {key: array for key, array in make(n_rows).items() if array.ndim}
    if name.endswith("-u1"):  # planes as bytes, as most keep them
        arrays["states"] = arrays["states"].astype(np.uint8)
    planes = next(key for key in PLANES if key in arrays)
    augmenter = symaug.Augmenter(arrays, board=board, threads=n_threads)
    careful = Careful(arrays, augmenter.board, planes)
    random, seconds = np.random.default_rng(1), ([], [])
    for i in range(n_runs + 1):
        rows = random.integers(0, n_rows, BATCH)
        transforms = random.choice(augmenter.transforms, BATCH)
        made = []
        for one, taken in zip((augmenter, careful), seconds):
            start = time.perf_counter()
            made.append(one.images(rows, transforms))
            taken.append(time.perf_counter() - start)
        for key, array in made[0].items():
            if i == 0 and not np.array_equal(array, made[1][key]):
                sys.exit(f"{name}: {key} differs")
    return tuple(BATCH / statistics.median(taken[1:]) for taken in seconds)


if __name__ == "__main__":
    print(*measure(sys.argv[1], *map(int, sys.argv[2:])))
