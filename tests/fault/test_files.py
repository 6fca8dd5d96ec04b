#!/usr/bin/python3
"""Inputs and outputs that are no plain files, cannot be opened, or are the same file."""

import json
import os
import shutil
import subprocess

from fault import MANIFEST, SYMAUG, Tap, contents, data, scratch_folder

tap = Tap()

GO = ["--board=square:9"]
SOURCE = "bad/v_stored.npz"
SECONDS = 2


def run(*arguments, nobody=False):
    """(code, lines of standard error), as root or as nobody, and not for long."""
    line = [os.path.abspath(SYMAUG), *arguments]
    if nobody:
        line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *line]
    done = subprocess.run(line, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    return done.returncode, os.fsdecode(done.stderr).splitlines(), done.stdout


def can_be_nobody():
    return os.geteuid() == 0 and shutil.which("setpriv") is not None


def make(kind, folder):
    """(path, exit code) of an input."""
    path = os.path.join(folder, "in.npz")
    code = 65
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        os.mkdir(path)
    elif kind == "dangling link":
        os.symlink("nowhere", path)
        code = 66
    elif kind == "loop":
        os.symlink("in.npz", path)
        code = 66
    elif kind == "device":
        path = "/dev/zero"
    elif kind == "sparse":
        with open(path, "wb") as file:
            file.truncate(5 << 30)
    elif kind == "no permission":
        shutil.copyfile(data(SOURCE), path)
        os.chmod(path, 0)
        code = 66
    elif kind == "folder without permission":
        os.mkdir(path)
        os.chmod(path, 0)
        code = 66
    elif kind == "link":
        os.symlink(os.path.abspath(data(SOURCE)), path)
        code = 0
    else:
        name = {"newline": "new\nline.npz", "not utf-8": b"bad\xff.npz", "dash": "-dash.npz",
                "spaces": " a b .npz"}[kind]  # fmt: skip
        path = os.path.join(os.fsencode(folder), os.fsencode(name))
        shutil.copyfile(data(SOURCE), path)
        code = 0
    return os.fsdecode(path), code


KINDS = ["fifo", "folder", "dangling link", "loop", "device", "sparse", "no permission",
         "folder without permission", "link", "newline", "not utf-8", "dash", "spaces"]  # fmt: skip


@tap.test(*[(command, kind) for command in ("expand", "info", "verify") for kind in KINDS])
def test_input(command, kind):
    with scratch_folder() as folder:
        os.chmod(folder, 0o777)
        path, expected = make(kind, folder)
        out = os.path.join(folder, "out.npz")
        nobody = "permission" in kind
        if nobody and not can_be_nobody():
            print("# SKIP no way to be nobody")
            return
        if nobody:
            program = os.path.join(folder, "symaug")
            shutil.copyfile(SYMAUG, program)
            os.chmod(program, 0o755)
            line = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program]
        else:
            line = [SYMAUG]
        before = set(os.listdir(folder))
        line += [command, *GO, "--", path] + ([out] if command == "expand" else [])
        done = subprocess.run(line, capture_output=True, timeout=SECONDS * 5)
        said = os.fsdecode(done.stderr + (done.stdout if command == "verify" else b"")).splitlines()
        left = set(os.listdir(folder)) - before
        if expected:
            assert done.returncode == expected, f"exit {done.returncode}, expected {expected}: {said}"
            if command == "verify":  # a finding, and a line that counts them
                said = [line for line in said if line.startswith("error ")]
            assert len(said) == 1 and os.path.basename(path) in said[0], said
            assert not left, left
            return
        assert done.returncode in (0, 1) if command == "verify" else done.returncode == 0, said
        assert all(line.isprintable() for line in said), said
        if command == "expand":
            assert left == {"out.npz", "out.npz" + MANIFEST}, left
            with open(out + MANIFEST, encoding="utf-8") as file:
                json.load(file)


@tap.test("same name", "other spelling", "hard link", "symbolic link", "link to folder")
def test_output_is_input(kind):
    with scratch_folder() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "in.npz")
        shutil.copyfile(data(SOURCE), source)
        if kind == "other spelling":
            out = os.path.join(folder, ".", "..", os.path.basename(folder), "in.npz")
        elif kind == "hard link":
            out = os.path.join(folder, "hard.npz")
            os.link(source, out)
        elif kind == "symbolic link":
            out = os.path.join(folder, "soft.npz")
            os.symlink("in.npz", out)
        elif kind == "link to folder":
            os.symlink(".", os.path.join(folder, "again"))
            out = os.path.join(folder, "again", "in.npz")
        before = os.path.getmtime(source), contents(folder) if kind != "link to folder" else None
        code, said, _ = run("expand", "-f", *GO, source, out)
        assert code in (64, 65, 73) and len(said) == 1, f"exit {code}: {said}"
        after = os.path.getmtime(source), contents(folder) if kind != "link to folder" else None
        assert after == before, "the input changed"


@tap.test("is a folder", "is a fifo", "folder is missing", "folder is a file", "dangling link",
          "ends in a slash", "empty name", "name too long", "newline", "not utf-8")  # fmt: skip
def test_output(kind):
    with scratch_folder() as folder:
        out = os.path.join(folder, "out.npz")
        expected = 73
        if kind == "is a folder":
            os.mkdir(out)
        elif kind == "is a fifo":
            os.mkfifo(out)
        elif kind == "folder is missing":
            out = os.path.join(folder, "none", "out.npz")
        elif kind == "folder is a file":
            open(out, "w").close()
            out = os.path.join(out, "out.npz")
        elif kind == "dangling link":
            os.symlink("nowhere", out)
        elif kind == "ends in a slash":
            out += "/"
        elif kind == "empty name":
            out = ""
        elif kind == "name too long":
            out = os.path.join(folder, "n" * 252 + ".npz")
        elif kind == "newline":
            out, expected = os.path.join(folder, "a\nb.npz"), 0
        else:
            out, expected = os.path.join(os.fsencode(folder), b"\xff.npz"), 0
        before = set(os.listdir(folder))
        code, said, _ = run("expand", *GO, os.path.abspath(data(SOURCE)), out)
        assert code == expected, f"exit {code}, expected {expected}: {said}"
        assert len([line for line in said if not line.startswith("symaug: warning")]) == (code != 0), said
        left = set(os.listdir(folder)) - before
        if expected:
            assert not left, left
        else:
            assert len(left) == 2, left


@tap.test("new", "replace", "folder")
def test_read_only_folder(kind):
    """Nothing can be created there; root may, so it is tried as nobody."""
    if not can_be_nobody():
        print("# SKIP no way to be nobody")
        return
    with scratch_folder() as folder:
        os.chmod(folder, 0o755)
        program, source = os.path.join(folder, "symaug"), os.path.join(folder, "in.npz")
        shutil.copyfile(SYMAUG, program)
        shutil.copyfile(data(SOURCE), source)
        os.chmod(program, 0o755)
        place = os.path.join(folder, "place")
        os.mkdir(place)
        if kind == "replace":
            open(os.path.join(place, "out"), "w").close()
        os.chmod(place, 0o555)
        before = contents(place)
        options = ["-f", "--format=npy-dir" if kind == "folder" else "--format=npz"]
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program,
                               "expand", *options, *GO, source, os.path.join(place, "out")],
                              capture_output=True)  # fmt: skip
        assert done.returncode == 73 and len(done.stderr.splitlines()) == 1, done
        assert contents(place) == before


if __name__ == "__main__":
    tap.main()
