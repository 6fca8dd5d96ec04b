#!/usr/bin/python3
"""The examples, against libsymaug.so of this build: their images are those of `symaug expand`."""

import os
import tempfile

import numpy as np

import golden
import library
from golden import Tap, load, same_bits

tap = Tap()


def sample(board, folder):
    """A shard and its expansion, images of a row together."""
    path = os.path.join(folder, "in.npz")
    golden.run("sample", "--board", board, "--rows", "200", path)
    return path, load(path), golden.expand(path, "--board", board, "--order", "sample")


# (board, planes, images of a row in the expansion)
@tap.test(("gomoku15", "state", 8), ("rhombus:5", "boards", 4), ("grid:3x4", "state", 4))
def test_loader(board, planes, n_images):
    with tempfile.TemporaryDirectory() as folder:
        program = library.compile_example("examples/loader.c", os.path.join(folder, "loader"),
                                          ["-Iinclude", f"-L{library.BUILD}", "-lsymaug",
                                           "-Wl,--allow-shlib-undefined"])
        _, rows, images = sample(board, folder)
        n, n_planes = rows[planes].shape[:2]
        parts = (planes, "policy", "value")
        stdin = np.concatenate([rows[k].reshape(n, -1) for k in parts], axis=1).tobytes()
        out = library.run([program, board, str(n_planes), "7"], stdin)
        found = np.frombuffer(out, "<f4").reshape(n, -1)
        expected = np.concatenate([images[k].reshape(n * n_images, -1) for k in parts], axis=1)
        used = set()
        for i in range(n):
            fits = [t for t in range(n_images)
                    if np.array_equal(found[i], expected[i * n_images + t])]
            assert fits, f"row {i} is none of its images"
            used.update(fits if len(fits) == 1 else [])
        assert len(used) == n_images, f"images {used} of {n_images} were seen in {n} rows"
        same_bits(np.frombuffer(library.run([program, board, str(n_planes), "7"], stdin), "<f4"),
                  found.reshape(-1), "the same seed")
        other = library.run([program, board, str(n_planes), "8"], stdin)
        assert other != out, "another seed gives the same images"


if __name__ == "__main__":
    tap.main()
