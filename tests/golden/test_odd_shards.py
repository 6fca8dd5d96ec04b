#!/usr/bin/python3
"""Shards that are wrong or odd in one place through every command that reads them: one right message
or a complete output, in little memory and time."""

import os
import struct
import tempfile
import zipfile

import numpy as np

from golden import Tap, data
from measure import MAX_KIB, MAX_SECONDS, SANITIZED, cases, measured, options_for, verdict
from odd_shards import CASES, Member, npy, pickled, rows, shard

tap = Tap()

READERS = (["verify"], ["info"], ["info", "--json"], ["verify", "--no-mmap"])


def check_limits(run):
    assert run.code in (0, 1, 64, 65, 66), f"exit {run.code}: {run.errors[-2000:]}"
    if not SANITIZED:
        assert run.kib < MAX_KIB, f"{run.kib} KiB"
        assert run.seconds < MAX_SECONDS, f"{run.seconds:.1f} s"


def check_message(run, path):
    """One line that names the file, in which nothing can take hold of a terminal."""
    final = [line for line in run.errors.splitlines() if not line.startswith("symaug: warning: ")]
    assert len(final) == 1, f"expected one line, found {final}"
    assert final[0].startswith("symaug: ") and final[0].isprintable(), final
    assert os.path.basename(path) in final[0], f"the file is not named: {final}"
    return final[0]


def check_shown(run, path):
    """`info` shows what it could not decide about where it belongs, in its table."""
    if run.errors:
        check_message(run, path)
    else:
        assert os.path.basename(path) in run.out and "expected" in run.out or "use --" in run.out, run.out
        assert "\x1b" not in run.out, run.out


def check_case(path, want, words):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        expanded = measured(["expand", "--board=square:9", path, out])
        verified = measured(["verify", "--board=square:9", path])
        shown = measured(["info", "--board=square:9", path])
        for run in (expanded, verified, shown):
            check_limits(run)
        if want in ("reject", "refuse"):
            assert expanded.code == 65 and os.listdir(folder) == [], expanded
            assert verified.code == 65 or (want == "refuse" and verified.code == 1), verified
            assert words in check_message(expanded, path), expanded.errors
            if shown.code != 0:
                check_shown(shown, path)
            assert os.path.basename(path) in verified.out, verified
        else:
            assert expanded.code == 0 and shown.code == 0, (expanded, shown)
            with zipfile.ZipFile(out) as archive:
                assert archive.testzip() is None
            assert verified.code == (want == "fault"), verified
            assert words in (verified.out if want == "fault" else expanded.errors), (expanded, verified)
            assert (want == "warn") == ("warning" in expanded.errors), expanded


@tap.test(*CASES)
def test_odd(kind):
    wrong, n = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "odd.npz")
        for name, want, words, content in CASES[kind]():
            n += 1
            with open(path, "wb") as file:
                file.write(content)
            try:
                check_case(path, want, words)
            except AssertionError as error:
                wrong.append(f"{name}: {error}")
    assert n > 90, f"{n} cases"
    assert not wrong, f"{len(wrong)} of {n}: " + "\n# ".join(wrong)


@tap.test()
def test_many_arrays():
    """No array's name is compared with those of all others."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "odd.npz")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("features.npy", npy(np.zeros((2, 3, 9, 9), "<f4")))
            for i in range(6000):
                archive.writestr(f"{'xyw'[i % 3]}_{i}.npy", npy(np.zeros(2, "<f4")))
        run = measured(["expand", "--board=square:9", path, os.path.join(folder, "out.npz")])
        assert run.code == 0, run.errors
        check_limits(run)


@tap.test()
def test_large_directory():
    """A directory of which nobody has an idea why it is so large is not read into memory."""
    n_bytes = 65 << 20
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "odd.npz")
        with open(path, "wb") as file:
            file.write(b"PK\3\4")
            file.truncate(100 + n_bytes)
            file.seek(0, os.SEEK_END)
            file.write(b"PK\5\6" + struct.pack("<4H2IH", 0, 0, 60000, 60000, n_bytes, 100, 0))
        check_case(path, "reject", "expected a zip directory of at most")


@tap.test()
def test_said_once():
    """An object array that cannot be read is one finding."""
    sound = Member("policy_indices.npy", pickled(rows("<i4")), both={"crc": 1})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "odd.npz")
        with open(path, "wb") as file:
            file.write(shard(more=[sound]))
        run = measured(["verify", "--board=square:9", path])
        assert run.code == 65 and run.out.count("expected CRC") == 1, run


@tap.test(*[" ".join(reader) for reader in READERS])
def test_corpus(reader):
    """What test_inputs expands, in the other commands."""
    wrong = []
    for case in cases():
        path = data(f"bad/{case['file']}")
        options = options_for(case["file"])
        if reader.startswith("info"):
            taken = ("--value", "--planes")  # by expand and verify
            options = [option for i, option in enumerate(options) if option.split("=")[0] not in taken
                       and (i == 0 or options[i - 1] not in taken)]
        run = measured([*reader.split(), *options, path])
        try:
            check_limits(run)
            want = verdict(case)
            if reader.startswith("verify"):
                allowed = {"refuse": (65,), "accept": (0, 1), None: (0, 1, 65)}[want]
                assert run.code in allowed, f"exit {run.code}, expected {allowed}: {run.out}"
                assert case["file"] in run.out, f"the file is not named: {run.out}"
                assert run.out.isprintable() or "\x1b" not in run.out, run.out
            elif run.code != 0:
                assert want != "accept", f"exit {run.code}: {run.errors}"
                check_shown(run, path)
        except AssertionError as error:
            wrong.append(f"{case['file']} ({case['what is wrong']}): {error}")
    assert not wrong, "; ".join(wrong)


if __name__ == "__main__":
    tap.main()
