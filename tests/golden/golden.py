"""What the golden tests share: running symaug, loading shards, comparing bits, printing TAP."""

import os
import subprocess
import sys
import tempfile

import numpy as np

# Debian's numpy 1.24 reads numpy 2's pickles once it knows the new module names.
sys.modules.setdefault("numpy._core", np.core)
sys.modules.setdefault("numpy._core.multiarray", np.core.multiarray)

SYMAUG = os.environ.get("SYMAUG", "./symaug")
DATA = os.environ.get("TEST_DATA", "tests/data")


def data(path):
    return os.path.join(DATA, path)


def load(path):
    with np.load(path, allow_pickle=True) as npz:
        return {key: npz[key] for key in npz.files}


def run(*arguments, code=0):
    """Run symaug; the exit code must be `code` (None: any). Returns (stdout, stderr)."""
    done = subprocess.run([SYMAUG, *map(str, arguments)], capture_output=True, text=True)
    if code is not None and done.returncode != code:
        raise AssertionError(
            f"symaug {' '.join(map(str, arguments))}: exit {done.returncode}, expected {code}: "
            f"{done.stderr.strip()}"
        )
    return done.stdout, done.stderr


def expand(source, *options):
    """The arrays of an expansion of one shard, quietly."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        run("expand", "-q", *options, source, out)
        return load(out)


def same_bits(found, expected, what):
    """Equal dtype, shape and bits (NaN payloads and signed zeros included)."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype, f"{what}: dtype {found.dtype}, expected {expected.dtype}"
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, expected {expected.shape}"
    if found.dtype == object:
        for i, (a, b) in enumerate(zip(found.ravel(), expected.ravel())):
            same_item(a, b, f"{what}: item {i}")
        return
    a = np.ascontiguousarray(found).view(np.uint8).reshape(-1)
    b = np.ascontiguousarray(expected).view(np.uint8).reshape(-1)
    wrong = np.flatnonzero(a != b)
    assert wrong.size == 0, f"{what}: {wrong.size} bytes differ, the first at {wrong[0]}"


def same_item(found, expected, what):
    assert type(found) is type(expected), f"{what}: {type(found)}, expected {type(expected)}"
    if isinstance(found, np.ndarray):
        same_bits(found, expected, what)
    else:
        assert found == expected, f"{what}: {found!r}, expected {expected!r}"


def by_image(arrays):
    """Row numbers that put the output in the order [source row][transform]."""
    return np.lexsort((arrays["symaug_transform"], arrays["symaug_source"]))


class Tap:
    """Test functions by decorator; prints a TAP line for each and sets the exit code."""

    def __init__(self):
        self.tests = []

    def test(self, *cases):
        def add(function):
            for case in cases or [()]:
                case = case if isinstance(case, tuple) else (case,)
                name = " ".join([function.__name__.removeprefix("test_"), *map(str, case)])
                self.tests.append((name, function, case))
            return function

        return add

    def main(self):
        failed = 0
        with open(sys.argv[0]) as script:
            assert script.read().endswith("tap.main()\n"), "tests behind tap.main() never run"
        print(f"1..{len(self.tests)}")
        for number, (name, function, case) in enumerate(self.tests, 1):
            try:
                function(*case)
                print(f"ok {number} - {name}", flush=True)
            except Exception as error:  # a test must not hide the ones behind it
                failed += 1
                print(f"not ok {number} - {name}\n# {type(error).__name__}: {error}", flush=True)
        sys.exit(1 if failed else 0)
