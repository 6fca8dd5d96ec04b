#!/usr/bin/python3
"""Members about 4 GiB and of 6 GiB, where 32-bit sizes end: written in bounded memory, and read back
by Python's zipfile, numpy and unzip. Sparse inputs, constant data: little disk is needed.

FORMS in the environment: "deflated" (default), or "deflated stored" with 16 GiB of disk."""

import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

from golden import SYMAUG, Tap  # noqa: E402

tap = Tap()

LAUNCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "launch.py")
MAX_KIB = 256 << 10
LIMIT = 0xFFFFFFFF
FORMS = os.environ.get("FORMS", "deflated").split()
PLANES = ("features.npy", (2, 9, 9), "<f4")


def put_sparse(path, shape, descr):
    """A .npy file of zeros whose data takes no disk, and one byte of 7 at its end."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    front = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    n_bytes = int(np.prod([int(n) for n in shape])) * np.lib.format.descr_to_dtype(eval(descr)).itemsize
    with open(path, "wb") as file:
        file.write(front)
        file.truncate(len(front) + n_bytes)
        file.seek(-1, os.SEEK_END)
        file.write(b"\x07")
    return len(front) + n_bytes


def shape_for(size):
    """(header bytes, rows, bytes of a row) of an array whose .npy file has exactly `size` bytes."""
    for header in range(128, 1024, 64):
        for row in range(1 << 21, 1 << 12, -1):
            if (size - header) % row == 0 and (size - header) // row < 1 << 20:
                return header, (size - header) // row, row
    raise AssertionError(f"{size} bytes cannot be made of rows")


def run(*words):
    """(exit code, standard error, peak KiB), by a small process of its own: what the process that
    forks has in memory counts as its child's."""
    done = subprocess.run([sys.executable, LAUNCH, SYMAUG, *words], capture_output=True, text=True)
    return done.returncode, done.stderr, int(float(done.stdout.split()[1]) * 1024)


def expand(source, out, *options):
    return run("expand", "-q", "--board=square:9", "--transforms=0", "--no-provenance", *options, source, out)


def check_member(path, member, size, data_nbytes):
    """Streamed through zipfile, which checks the CRC: zeros, and the 7 at the end."""
    zeros = bytes(1 << 20)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(member)
        assert info.file_size == size, f"{info.file_size} bytes, expected {size}"
        with archive.open(info) as file:
            version = np.lib.format.read_magic(file)
            assert version == (1, 0), version
            np.lib.format.read_array_header_1_0(file)
            left = data_nbytes
            while left > 1:
                chunk = file.read(min(left - 1, 1 << 20))
                assert chunk == zeros[: len(chunk)] and chunk, f"wrong bytes, {left} before the end"
                left -= len(chunk)
            assert file.read() == b"\x07"


def check(size, form, role="copy"):
    with tempfile.TemporaryDirectory() as folder:
        disk = os.statvfs(folder)
        free = disk.f_bavail * disk.f_frsize
        if free < (2 * size if form == "stored" else 1 << 30):
            print(f"# SKIP {size} bytes, {form}: {free >> 20} MiB of disk are free")
            return
        source, out = os.path.join(folder, "in"), os.path.join(folder, "out.npz")
        os.mkdir(source)
        header, n, row = shape_for(size)
        name, planes, dtype = PLANES
        put_sparse(os.path.join(source, name), (n, *planes), repr(dtype))
        # A long field name makes the header as long as the size needs it.
        descr = repr([("x" * (header - 128 + 1), f"|V{row}")]) if header > 128 else repr(f"|V{row}")
        found = put_sparse(os.path.join(source, "ballast.npy"), (n,), descr)
        assert found == size, f"the input has {found} bytes, not {size}"
        level = "store" if form == "stored" else "fast"
        code, errors, kib = expand(source, out, f"--role=ballast={role}", f"--level={level}")
        assert code == 0, f"exit {code}: {errors}"
        assert kib < MAX_KIB, f"{kib} KiB of memory"
        check_member(out, "ballast.npy", size + 64 * (size == LIMIT), n * row)
        done = subprocess.run(["unzip", "-tqq", out], capture_output=True)
        assert done.returncode == 0, done


@tap.test(*[(size, form) for form in FORMS for size in (LIMIT - 1, LIMIT, LIMIT + 1, 6 << 30)])
def test_member(size, form):
    check(size, form)


@tap.test(*FORMS)
def test_side_array(form):
    """One that is written once, byte for byte, but for its padding."""
    check(LIMIT, form, "meta")


@tap.test(int(float(os.environ.get("ROWS", "1e8"))))
def test_dedupe(n):
    """Many small positions within 1 GiB: synthetic ones, of which every third is the same."""
    block = 10 ** 6
    with tempfile.TemporaryDirectory() as folder:
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < 150 * n:
            print(f"# SKIP {n} rows: {disk.f_bavail * disk.f_frsize >> 20} MiB of disk are free")
            return
        source, out = os.path.join(folder, "in"), os.path.join(folder, "out.npz")
        os.mkdir(source)
        with open(os.path.join(source, "planes.npy"), "wb") as file:
            header = {"descr": "|u1", "fortran_order": False, "shape": (n, 2, 3, 3)}
            np.lib.format.write_array_header_1_0(file, header)
            for first in range(0, n, block):  # every row once: its number is in its bytes
                rows = np.zeros((min(block, n - first), 18), np.uint8)
                number = np.arange(first, first + len(rows), dtype="<u8")
                number[number % 3 == 0] = 0
                rows[:, 9:17] = number.view(np.uint8).reshape(-1, 8)
                rows[:, :9] = np.arange(1, 10)  # so that no other row is an image of it
                file.write(rows.tobytes())
        code, errors, kib = run("dedupe", "-q", "--board=tictactoe", "--level=store", "--max-memory=1G",
                                "--tmpdir", folder, source, out)  # fmt: skip
        assert code == 0, errors
        assert kib < 1 << 20, f"{kib} KiB of memory"
        with np.load(out) as found:
            counts = found["symaug_count"]
        assert len(counts) == n - (n + 2) // 3 + 1 and counts[0] == (n + 2) // 3, (len(counts), counts[0])
        assert (counts[1:] == 1).all()


@tap.test(70000)
def test_members(n):
    """More arrays than a shard may have."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        with zipfile.ZipFile(source, "w") as archive:
            for i in range(n):
                archive.writestr(f"a{i}.npy", b"")
        code, errors, kib = expand(source, out)
        assert code == 65 and len(errors.splitlines()) == 1, f"exit {code}: {errors}"
        assert kib < MAX_KIB and not os.path.exists(out), f"{kib} KiB"


if __name__ == "__main__":
    tap.main()
