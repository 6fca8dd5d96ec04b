#!/usr/bin/python3
"""The same bytes whatever the threads, the memory map, the time zone, the locale: outputs and
manifests."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np

import golden
from golden import SYMAUG, Tap

tap = Tap()

# threads, further options, environment
CONDITIONS = [
    (1, [], {}),
    (2, ["--no-mmap"], {"TZ": "Asia/Kathmandu", "LC_ALL": "C"}),
    (3, [], {"TZ": "America/St_Johns", "LC_ALL": "de_DE.UTF-8"}),
    (8, ["--no-mmap"], {"TZ": "UTC", "LC_ALL": "tr_TR.UTF-8", "OMP_NUM_THREADS": "5"}),
]
LEVELS = ["fast", "default", "best", "store", "zlib:1", "zlib:9"]
ORDERS = ["block:16", "block:3", "sample", "transform"]


def positions(n, n_planes, n_cells, rng):
    """Planes with the structure of games: stones that stay from row to row."""
    planes = np.zeros((n, n_planes, n_cells), "<f4")
    for row in range(n):
        if row % 40:
            planes[row] = planes[row - 1]
        planes[row, rng.integers(n_planes - 1), rng.integers(n_cells)] = 1
        planes[row, n_planes - 1] = row % 2
    return planes


def hex_shard(n):
    """RingRift's hexagon: planes, sparse policy as objects, copies."""
    rng = np.random.default_rng(3)
    indices, values = np.empty(n, object), np.empty(n, object)
    for row in range(n):
        k = int(rng.integers(0, 12))
        indices[row] = rng.choice(4132, k, replace=False).astype("<i4")
        values[row] = rng.dirichlet(np.ones(k)).astype("<f4") if k else np.zeros(0, "<f4")
    return {
        "features": positions(n, 12, 81, rng).reshape(n, 12, 9, 9),
        "policy_indices": indices,
        "policy_values": values,
        "values": rng.random(n).astype("<f4"),
        "policy_size": np.array(4132),
    }


def gomoku_shard(n):
    """Gomoku: bytes, dense floating policy."""
    rng = np.random.default_rng(4)
    policy = rng.random((n, 225)).astype("<f4") ** 20
    return {
        "states": positions(n, 3, 225, rng).reshape(n, 3, 15, 15).astype("|i1"),
        "pi": policy / policy.sum(axis=1, keepdims=True),
        "last_move": rng.integers(0, 15, (n, 2)),
        "z": rng.choice([-1.0, 1.0], n),
    }


def csr_shard(n):
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 30, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return {
        "board": positions(n, 2, 361, rng).reshape(n, 2, 19, 19).astype("|u1"),
        "policy_indices": rng.integers(0, 361, offsets[-1]).astype("<i4"),
        "policy_values": rng.random(offsets[-1]).astype("<f4"),
        "policy_offsets": offsets,
    }


def write_folder(path, arrays):
    os.mkdir(path)
    for key, array in arrays.items():
        np.save(os.path.join(path, key), array)


def fortran(arrays):
    return {key: np.asfortranarray(array) if array.ndim > 1 else array for key, array in arrays.items()}


# name -> (how it is written, board); about 20 MB unpacked each
INPUTS = {
    "deflated": (lambda path: np.savez_compressed(path, **hex_shard(430)), "hex8"),
    "stored": (lambda path: np.savez(path, **gomoku_shard(1600)), "gomoku15"),
    "fortran": (lambda path: np.savez_compressed(path, **fortran(gomoku_shard(1600))), "gomoku15"),
    "folder": (lambda path: write_folder(path, csr_shard(3000)), "go19"),
}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def results(folder, source, board, options):
    """Digests of output and manifest under every condition; they must be one pair."""
    found = {}
    for number, (threads, more, environment) in enumerate(CONDITIONS):
        where = os.path.join(folder, str(number))
        os.mkdir(where)
        out = os.path.join(where, "out.npz")
        subprocess.run(
            [SYMAUG, "expand", "-q", "--board", board, "--threads", str(threads), *options, *more,
             source, out],
            check=True, env={**os.environ, **environment},
        )  # fmt: skip
        found[threads] = digest(out), digest(out + ".manifest.json")
        size = os.path.getsize(out)
        os.remove(out)
    assert len(set(found.values())) == 1, f"outputs or manifests differ: {found}"
    return size


def compare(kind, options):
    write, board = INPUTS[kind]
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in" if kind == "folder" else "in.npz")
        write(source)
        assert results(folder, source, board, options) > 1000


@tap.test(*INPUTS)
def test_default(kind):
    compare(kind, [])


@tap.test(*[(kind, order) for kind in INPUTS for order in ORDERS[1:]])
def test_order(kind, order):
    compare(kind, ["--order", order, "--level", "fast"])


@tap.test(*[level for level in LEVELS if level != "default"])
def test_level(level):
    compare("stored" if level == "fast" else "deflated", ["--level", level])


@tap.test("deflated", "fortran", "folder")
def test_temp_file(kind):
    """What does not fit in memory goes through a temp file."""
    compare(kind, ["--order", "transform", "--level", "fast", "--max-memory", "100K"])


@tap.test()
def test_several_inputs():
    """Rows counted over several inputs of different containers."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, "a.npz"), os.path.join(folder, "b"), os.path.join(folder, "c.npz")]
        np.savez_compressed(paths[0], **gomoku_shard(501))
        write_folder(paths[1], gomoku_shard(77))
        np.savez(paths[2], **fortran(gomoku_shard(300)))
        found = set()
        for threads, more, environment in CONDITIONS:
            out = os.path.join(folder, "out.npz")
            subprocess.run(
                [SYMAUG, "expand", "-qf", "--board", "gomoku15", "--threads", str(threads), *more,
                 "-o", out, *paths],
                check=True, env={**os.environ, **environment},
            )  # fmt: skip
            found.add((digest(out), digest(out + ".manifest.json")))
        assert len(found) == 1, "outputs or manifests differ"


def small_inputs(folder):
    """Some with a warning, one that is no shard, one too large to be left to one thread."""
    paths = []
    shard = golden.load(golden.data("katago/raw9_64_in.npz"))
    packed = shard["binaryInputNCHWPacked"]
    for number in range(12):
        packed[:, 5, -1] = (np.arange(len(packed)) < number % 3) * 1
        paths.append(os.path.join(folder, f"{number:02}.npz"))
        save = np.savez if number == 8 else np.savez_compressed
        save(paths[-1], **{key: np.concatenate([x] * 40) if number == 8 else x for key, x in shard.items()})
    assert os.path.getsize(paths[8]) > 4 << 20
    with open(paths[5], "w", encoding="ascii") as file:
        file.write("this is text\n")
    return paths


def files_in(folder):
    return {name: digest(os.path.join(folder, name)) for name in os.listdir(folder)}


@tap.test()
def test_side_by_side():
    """Small inputs of --out-dir at once: the same files, messages in the inputs' order, the first
    failure."""
    with tempfile.TemporaryDirectory() as folder:
        paths, skipped, failed = small_inputs(folder), [], []
        for threads in 1, 2, 3, 8:
            out = os.path.join(folder, f"out{threads}")
            stats = os.path.join(folder, "stats.json")
            command = ["expand", "-b", "katago", "-j", threads, "--out-dir", out]
            said = golden.run(*command, "--skip-bad", "--stats", stats, *paths, code=1)[1]
            with open(stats, encoding="ascii") as file:
                names = [os.path.basename(shard["output"]) for shard in json.load(file)["outputs"]]
            skipped.append((said.replace(out, "OUT"), names, files_in(out)))
            shutil.rmtree(out)
            said = golden.run(*command, *paths, code=65)[1]
            failed.append((said.replace(out, "OUT"), {n for n in os.listdir(out) if n < "05.npz"}))
        assert len(skipped[0][2]) == 22 and skipped[0][0].count("pad bits set") == 7, skipped[0]
        assert skipped[0][1] == sorted(skipped[0][1]), skipped[0][1]
        assert failed[0][0].count("\n") == 4 and len(failed[0][1]) == 10, failed[0]
        for found in skipped[1:]:
            assert found == skipped[0], (found, skipped[0])
        for found in failed[1:]:
            assert found == failed[0], (found, failed[0])


@tap.test()
def test_checked_side_by_side():
    """Small files that verify checks and split divides at once: the same findings and files, in the
    inputs' order, and the first failure."""
    with tempfile.TemporaryDirectory() as folder:
        paths, checked, parts = small_inputs(folder), [], []
        for threads in 1, 2, 8:
            out = os.path.join(folder, f"parts{threads}")
            command = ["split", "-b", "katago", "-j", threads, "--parts", "a=0.5,b=0.5", "--out-dir", out]
            checked.append(golden.run("verify", "-b", "katago", "--not-expanded", "-j", threads, *paths, code=None))
            said = golden.run(*command, *paths, code=65)[1]
            assert not os.path.exists(out), said
            golden.run(*command, *paths[:5], *paths[6:])
            parts.append((said, files_in(out)))
        assert [line.split(":")[0] for line in checked[0][0].splitlines()
                if line.startswith(folder)] == paths, checked[0]
        assert len(parts[0][1]) == 44, parts[0]
        assert checked[1:] == checked[:1] * 2 and parts[1:] == parts[:1] * 2


def threads_of(last, *command):
    """The threads that a command has started when its last file is there: its standard output is
    full, so that it waits with its statistics."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, fcntl.F_SETPIPE_SZ, 4096)
    os.write(writes, b" " * 4096)
    with subprocess.Popen([SYMAUG, *command, "--stats", "-"], stdout=writes) as program:
        os.close(writes)
        while program.poll() is None and not os.path.exists(last):
            time.sleep(0.01)
        threads = len(os.listdir(f"/proc/{program.pid}/task"))
        with open(reads, "rb") as rest:
            rest.read()
        assert program.wait() == 0
    return threads


@tap.test()
def test_threads_started():
    """A small input of --out-dir starts as few threads as one with an output of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path, alone, beside = (os.path.join(folder, name) for name in ("a.npz", "o.npz", "d/a.npz"))
        np.savez(path, **gomoku_shard(100))
        expand = ["expand", "-q", "--board=gomoku15", "-j8"]
        most = threads_of(alone + ".manifest.json", *expand, path, alone)
        found = threads_of(beside + ".manifest.json", *expand, "--out-dir", os.path.dirname(beside), path)
        assert found == most < 8, (found, most)


if __name__ == "__main__":
    tap.main()
