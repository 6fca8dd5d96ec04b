#!/usr/bin/python3
"""Broken, odd and hostile shards through `expand`: one clear message and nothing written, or a
complete output; never a signal, little memory, little time.

N in the environment is the number of random mutations (default 150), SEED chooses others.
"""

import os
import random
import stat
import tempfile
import zipfile

import numpy as np

from golden import Tap, data
from measure import MAX_KIB, MAX_SECONDS, SANITIZED, cases, measured, options_for, verdict

tap = Tap()

N = int(os.environ.get("N", "150"))
SEED = int(os.environ.get("SEED", "1"))


def expand(path, options, name=None):
    """Expand one input into an empty folder and check what holds of every input. Returns the exit
    code and the lines of standard error."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        code, _, text, kib, seconds = measured(["expand", *options, path, out])
        left = sorted(os.listdir(folder))
        lines = text.splitlines()
        assert code in (0, 64, 65, 66), f"exit {code}: {text[-2000:]}"
        if not SANITIZED:
            assert kib < MAX_KIB, f"{kib} KiB"
            assert seconds < MAX_SECONDS, f"{seconds:.1f} s"
        final = [line for line in lines if not line.startswith("symaug: warning: ")]
        if code == 0:
            assert left == ["out.npz", "out.npz.manifest.json"], f"in the output folder: {left}"
            assert final == [], f"more than warnings: {final}"
            with zipfile.ZipFile(out) as archive:
                assert archive.testzip() is None
        else:
            assert left == [], f"left in the output folder: {left}"
            assert len(final) == 1, f"expected one line, found {final}"
            assert final[0].startswith("symaug: "), final
            assert all(character.isprintable() for character in final[0]), final
            assert (name or os.path.basename(path)) in final[0], f"the file is not named: {final}"
        return code, lines


@tap.test(*sorted({case["category"] for case in cases()}))
def test_corpus(category):
    wrong = []
    for case in cases():
        if case["category"] != category:
            continue
        name = case["file"]
        options = options_for(name)
        try:
            code, lines = expand(data(f"bad/{name}"), options)
            want = verdict(case)
            assert want != "refuse" or code == 65, f"exit {code}, expected 65"
            assert want != "accept" or code == 0, f"exit {code}, expected 0: {lines}"
        except Exception as error:
            wrong.append(f"{name} ({case['what is wrong']}): {error}")
    assert not wrong, "; ".join(wrong)


@tap.test(("03-npy-header", "features"), ("04-dtype", "features"), ("07-zip-hostile", "features"),
          ("08-object", "policy_"))  # fmt: skip
def test_names_member(category, member):
    """A refusal that has to do with one member names it."""
    others = {"d_values_str.npz": "values", "x_name_ctrl.npz": "a\\x1b[31m\\x0a.npy",
              "x_overlap_full.npz": "b000.npy", "x_overlap_fifield.npz": "f01.npy",
              "x_many_members.npz": "m0000.npy"}  # fmt: skip
    for case in cases():
        if case["category"] == category and verdict(case) == "refuse":
            name = case["file"]
            _, lines = expand(data(f"bad/{name}"), ["--board", "square:9"])
            text = lines[-1].partition(".npz")[2]
            assert others.get(name, member) in text, f"{name}: {lines[-1]}"


@tap.test()
def test_without_board():
    """Nothing says which board it is: usage, and the flag is named."""
    code, lines = expand(data("bad/v_stored.npz"), [])
    assert code == 64 and "--board" in lines[-1], lines


@tap.test("no-mmap")
def test_read(_):
    """The same verdicts when inputs are read instead of mapped."""
    wrong = []
    for case in cases():
        options = options_for(case["file"])
        code, _ = expand(data(f"bad/{case['file']}"), ["--no-mmap", *options])
        want = verdict(case)
        if want and (code == 0) != (want == "accept"):
            wrong.append(f"{case['file']}: exit {code}")
    assert not wrong, "; ".join(wrong)


# --- mutations: damage that nobody thought of ---


def base_shard(path):
    rng = np.random.default_rng(1)
    objects = np.empty(5, object)
    for i in range(5):
        objects[i] = rng.integers(0, 81, i).astype("<i4")
    values = np.empty(5, object)
    for i in range(5):
        values[i] = np.ones(i, "<f4")
    arrays = {"features": rng.integers(0, 2, (5, 2, 9, 9)).astype("|u1"), "policy_indices": objects,
              "policy_values": values, "values": rng.random(5), "info": np.array("text")}  # fmt: skip
    (np.savez if path.endswith("stored.npz") else np.savez_compressed)(path, **arrays)


def mutate(original, rng):
    mutant = bytearray(original)
    kind = rng.randrange(5)
    if kind == 0:
        for _ in range(rng.randrange(1, 4)):
            mutant[rng.randrange(len(mutant))] ^= 1 << rng.randrange(8)
    elif kind == 1:
        at = rng.randrange(len(mutant) - 8)
        mutant[at : at + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f", b"PK\x01\x02"])
    elif kind == 2:
        del mutant[rng.randrange(len(mutant)) :]
    elif kind == 3:
        at, n = rng.randrange(len(mutant)), rng.randrange(1, 64)
        del mutant[at : at + n]
    else:
        at = rng.randrange(len(mutant))
        mutant[at:at] = mutant[:at][-rng.randrange(1, 64) :]
    return bytes(mutant)


@tap.test("stored.npz", "deflated.npz")
def test_mutations(form):
    rng = random.Random(f"{SEED} {form}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, form)
        base_shard(path)
        with open(path, "rb") as file:
            original = file.read()
        assert expand(path, ["--board", "square:9"])[0] == 0
        refused = 0
        for number in range(N):
            with open(path, "wb") as file:
                file.write(mutate(original, rng))
            try:
                options = ["--no-mmap"] if number % 3 == 0 else []
                refused += expand(path, ["--board", "square:9", *options])[0] == 65
            except Exception as error:
                kept = os.path.join(tempfile.gettempdir(), f"symaug-mutation-{form}")
                os.replace(path, kept)
                raise AssertionError(f"mutation {number}, kept as {kept}: {error}") from error
        assert refused > N // 2, f"{refused} of {N} mutations refused"


# --- what is no file ---


@tap.test("fifo", "folder without arrays", "dangling link", "link to itself", "missing",
          "device", "empty", "sparse", "newline", "not utf-8", "name too long")  # fmt: skip
def test_file_system(kind):
    """(exit code, word of the message)"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        code, shown = 65, "in.npz"
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "folder without arrays":
            os.mkdir(path)
        elif kind == "dangling link":
            os.symlink("nowhere", path)
            code = 66
        elif kind == "link to itself":
            os.symlink("in.npz", path)
            code = 66
        elif kind == "missing":
            code = 66
        elif kind == "device":
            path, shown = "/dev/zero", "/dev/zero"
        elif kind == "empty":
            open(path, "wb").close()
        elif kind == "sparse":
            with open(path, "wb") as file:
                file.truncate(5 << 30)
        elif kind == "newline":
            path = os.path.join(folder, "a\nb\x1b[31m.npz")
            open(path, "wb").close()
            shown = r"a\x0ab\x1b[31m.npz"
        elif kind == "not utf-8":
            path = os.path.join(os.fsencode(folder), b"\xff\xfe.npz")
            open(path, "wb").close()
            shown = r"\xff\xfe.npz"
        else:
            path = os.path.join(folder, "n" * 300 + ".npz")
            code, shown = 66, "nnnn"
        found, lines = expand(path, ["--board", "square:9"], shown)
        assert found == code, f"exit {found}, expected {code}: {lines}"


@tap.test("verify", "expand")
def test_in_folder(command):
    """What is no array in a folder of arrays is named, not the folder alone."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "policy.npy"), np.zeros((2, 81), "f4"))
        os.mkfifo(os.path.join(folder, "x.npy"))
        options = ["--board=square:9"] if command == "verify" else ["--board=square:9", "--out-dir=" + folder]
        code, out, text, _, _ = measured([command, *options, folder])
        assert code == 65 and "x.npy: expected a regular file, found a pipe" in out + text, out + text


@tap.test("lines", "NULs")
def test_list_without_end(ends):
    """A list of inputs whose one name is longer than any file's: not read to its end."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "list")
        with open(path, "wb") as file:
            file.write(b"a" * 5000)
            file.truncate(2 << 30)
        options = ["-0"] if ends == "NULs" else []
        done = measured(["expand", "--board=square:9", "--files-from", path, *options, "--out-dir", folder])
        assert done[0] == 66 and "4095 bytes" in done[2] and os.listdir(folder) == ["list"], done
        assert SANITIZED or done[3] < MAX_KIB, f"{done[3]} KiB"


@tap.test()
def test_not_a_regular_output():
    """A special file under the output's name is not replaced, not even with -f."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        os.mkfifo(out)
        for options in ([], ["-f"]):
            done = measured(["expand", "--board=square:9", *options, data("bad/v_stored.npz"), out])
            assert done.code == 73, done
            assert stat.S_ISFIFO(os.stat(out).st_mode), "the fifo was replaced"
            assert os.listdir(folder) == ["out.npz"]


if __name__ == "__main__":
    tap.main()
