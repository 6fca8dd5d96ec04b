#!/usr/bin/python3
"""Peak memory does not grow with the input: mapped pages of what was read are given back, and
--max-memory is one budget for all that a run reads; what it has no room for goes to --tmpdir."""

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


@tap.test(["dedupe"], ["expand", "--transforms=0", "--order=transform", "--unique"])
def test_rows_left_out(options):
    """Rows that are left out, or that one block holds, are not kept in memory."""
    if SANITIZED:
        return
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        write_planes(source)
        kib = peak_kib(*options, "-q", "-j2", "--board=square:9", "--role=state=planes",
                       "--max-memory=8M", source, out)
        assert kib < MOST_KIB, f"{kib} KiB, expected less than {MOST_KIB}"


@tap.test("lists", "wide rows", "metadata")
def test_odd_data(data):
    """Lists that name every action, rows of many planes, arrays without rows: none is held whole."""
    if SANITIZED:
        return
    with tempfile.TemporaryDirectory() as folder:
        sources = [os.path.join(folder, name) for name in ("in.npz", "more.npz")]
        n_rows, sets, more = 300, [{}, {}], []
        if data == "lists":
            n_rows = 20000
            sets[0] = {"policy_offsets": np.arange(n_rows + 1) * 361,
                       "policy_indices": np.tile(np.arange(361, dtype=np.int32), n_rows),
                       "policy_values": np.tile(np.full(361, 1 / 361, np.float32), n_rows)}
        elif data == "wide rows":
            sets[0] = {"wide": np.zeros((n_rows, 2000, 19, 19), np.uint8)}
            more = ["--role=wide=planes", "--unique"]
        else:
            sets = [{"about": np.full(200 << 20, 5 + i, np.uint8)} for i in range(2)]
            more = ["--role=about=meta"]
        for path, arrays in zip(sources, sets):
            planes = np.zeros((n_rows, 2, 19, 19), np.uint8)
            planes[np.arange(n_rows), 0, np.arange(n_rows) % 19, np.arange(n_rows) % 17] = 1
            np.savez_compressed(path, state=planes, **arrays)
        inputs = sources if data == "metadata" else sources[:1]
        kib = peak_kib("expand", "-q", "-j2", "--board=square:19", "--role=state=planes", *more,
                       "--max-memory=8M", "-o", os.path.join(folder, "out.npz"), *inputs)
        assert kib < MOST_KIB, f"{kib} KiB, expected less than {MOST_KIB}"


def write_fortran(path, n_rows, *names):
    """Planes of square:9 in Fortran order, deflated: they cannot be read in sequence."""
    planes = np.zeros((n_rows, 2, 9, 9), dtype=np.float32)
    planes[np.arange(n_rows), 0, np.arange(n_rows) % 9, np.arange(n_rows) % 7] = 1
    planes = np.asfortranarray(planes)
    np.savez_compressed(path, **{name: planes for name in names})


READING = ["-q", "-j2", "--board=square:9", "--role=a=planes", "--role=b=planes", "--role=c=planes"]


@tap.test(["expand", "--unique"], ["expand", "--order=transform"], ["expand", "--order=block:16"],
          ["verify"])
def test_one_budget(options):
    """Three arrays of 61 MiB each, 64 MiB to hold them."""
    if SANITIZED:
        return
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        write_fortran(source, 100000, "a", "b", "c")
        outputs = ["--transforms=0,1", source, out] if options[0] == "expand" else [source]
        kib = peak_kib(*options, *READING, "--max-memory=64M", *outputs)
        assert kib < (64 << 10) + MOST_KIB, f"{kib} KiB"


@tap.test()
def test_leaks():
    """Sets that are compared are read one after the other, and do not stay."""
    if SANITIZED:
        return
    with tempfile.TemporaryDirectory() as folder:
        sets = [os.path.join(folder, f"{name}.npz") for name in ("own", "first", "second")]
        for path in sets:
            write_fortran(path, 100000, "a")
        done = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, SYMAUG, "verify", "-j2",
                               "--board=square:9", "--role=a=planes", "--max-memory=16M",
                               f"--leak={sets[1]}", f"--leak={sets[2]}", sets[0]],
                              capture_output=True, text=True, check=True)
        code, kib = map(int, done.stdout.split()[-2:])
        assert code == 1, done.stdout + done.stderr
        assert kib < (16 << 10) + MOST_KIB, f"{kib} KiB"


@tap.test("dedupe", "split")
def test_often(command):
    """A position that most rows are of: what is kept of its rows is never together."""
    if SANITIZED:
        return
    with tempfile.TemporaryDirectory() as folder:
        source, n = os.path.join(folder, "in.npz"), 2000000
        planes = np.zeros((n, 2, 2), "u1")
        planes[::8, 0, 0] = np.arange(n // 8) % 200 + 1
        np.savez(source, planes=planes, game=np.arange(n) // 40,
                 policy_indices=np.tile(np.arange(14, 16, dtype="u1"), (n, 1)),
                 policy_values=np.full((n, 2), 0.5, "f4"))
        own = (["--merge=mean", "--copy=game", source, os.path.join(folder, "out.npz")]
               if command == "dedupe" else
               ["-n", "--parts=a=0.5,b=0.5", "--by=game", "--overlap=drop", "--out-dir", folder, source])
        kib = peak_kib(command, "-q", "-j2", "--board=square:4", "--role=planes=packed",
                       "--max-memory=8M", *own)
        assert kib < MOST_KIB, f"{kib} KiB"


@tap.test(["verify"], ["report", "-o", "report.html"])
def test_long_lists(command):
    """Small planes beside lists of 362 moves: 210 MB of them."""
    if SANITIZED:
        return
    with tempfile.TemporaryDirectory() as folder:
        n, k = 100000, 362
        planes = np.zeros((n, 2, 6, 7), "u1")
        planes[np.arange(n), 0, np.arange(n) % 5 + 1, np.arange(n) % 7] = 1
        np.savez(os.path.join(folder, "in.npz"), planes=planes,
                 policy_indices=np.tile(np.arange(k, dtype="u2") % 7, n),
                 policy_values=np.full(n * k, 1 / k, "f4"), policy_indptr=np.arange(n + 1) * k)
        kib = peak_kib(*(word.replace("report.html", folder + "/r.html") for word in command),
                       "-j2", "--board=mirror:6x7", "--max-memory=64M", folder + "/in.npz")
        assert kib < (64 << 10) + MOST_KIB, f"{kib} KiB"


@tap.test(["expand", "--order=block:16"], ["expand", "--unique"], ["expand", "--order=transform"],
          ["expand", "--shuffle"], ["verify"], ["verify", "--leak"], ["show", "--row=3"])
def test_tmpdir(options):
    """Without memory everything that needs a table needs the folder."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        write_fortran(source, 200, "a", "b", "c")
        if options[-1] == "--leak":
            options = ["verify", f"--leak={source}"]
        outputs = [source, out] if options[0] == "expand" else [source]
        reading = READING[1:] if options[0] != "show" else READING[2:]
        command = [SYMAUG, *options, *reading, "--max-memory=0", *outputs]
        done = subprocess.run([*command[:-len(outputs)], f"--tmpdir={folder}/none", *outputs],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 73, done.returncode
        assert "none: cannot create a temp file" in done.stdout + done.stderr, done.stdout
        done = subprocess.run([*command[:-len(outputs)], f"--tmpdir={folder}", *outputs],
                              capture_output=True, text=True, check=False)
        assert done.returncode == (1 if "--leak" in options[-1] else 0), done.stdout + done.stderr
        assert not [name for name in os.listdir(folder) if name.startswith("symaug-")]


if __name__ == "__main__":
    tap.main()
