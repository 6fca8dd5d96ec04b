#!/usr/bin/python3
"""Peak memory does not grow with the input: mapped pages of what was read are given back."""

import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

from golden import SYMAUG, Tap

tap = Tap()
MOST_KIB = 96 << 10  # 64 MiB and 16 for each of two threads
N_BYTES = 160 << 20  # of stored planes: more than may ever be resident
SANITIZED = b"__asan_init" in open(SYMAUG, "rb").read()

# The peak of a child of one's own: of all children only the largest is known.
MEASURE = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def write_planes(path):
    """(N, 2, 9, 9) float32, stored: a game of few stones again and again."""
    row = np.zeros((1000, 2, 9, 9), dtype=np.float32)
    row[np.arange(1000), np.arange(1000) % 2, np.arange(1000) % 9, np.arange(1000) % 7] = 1
    block = row.tobytes()
    n = N_BYTES // len(block)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as npz, \
            npz.open("state.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f4", "fortran_order": False, "shape": (1000 * n, 2, 9, 9)})
        for _ in range(n):
            file.write(block)


def peak_kib(*arguments):
    done = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, SYMAUG, *arguments],
                          capture_output=True, text=True, check=True)
    code, kib = map(int, done.stdout.split()[-2:])
    assert code == 0, done.stderr
    return kib


@tap.test("--order=block:16", "--order=sample", "--shuffle")
def test_expand(option):
    if SANITIZED:
        return  # shadow memory is not the program's
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        write_planes(source)
        kib = peak_kib("expand", "-q", "-j2", "--board=square:9", "--role=state=planes",
                       "--transforms=0,1", "--max-memory=8M", option, source, out)
        assert kib < MOST_KIB, f"{kib} KiB, expected less than {MOST_KIB}"


if __name__ == "__main__":
    tap.main()
