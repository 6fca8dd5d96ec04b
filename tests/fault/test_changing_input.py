#!/usr/bin/python3
"""Inputs that are cut short or written over while they are read, mapped and not: an error or the
correct output; never a signal, never a wrong output."""

import os
import random
import shutil
import subprocess
import time

from fault import (MANIFEST, SEED, SYMAUG, Command, Tap, contents, in_parallel, scratch_folder,
                   symaug, times)  # fmt: skip

tap = Tap()
made = {}

CHANGES = ["truncate", "empty", "overwrite", "replace", "grow", "cut and restore"]


def make(folder):
    """A stored shard, whose rows are used in place from the map, and a deflated one."""
    source = os.path.join(folder, "source.npz")
    symaug("sample", "-q", "--board=square:9", "--rows=3000", source)
    for name, level in (("stored", "store"), ("deflated", "zlib:1")):
        path = os.path.join(folder, f"{name}.npz")
        code, _, errors = symaug("expand", "-q", "--level", level, "--transforms=0", "--board=square:9",
                                 "--no-provenance", source, path)  # fmt: skip
        assert code == 0, errors
        os.unlink(path + MANIFEST)
        with open(path, "rb") as file:
            original = file.read()
        # The comment says "expanded": blank it, so that it may be an input.
        original = original.replace(b"symaug 1 square:9", b"                 ")
        with open(path, "wb") as file:
            file.write(original)
        for reading in ("mmap", "--no-mmap"):
            options = [] if reading == "mmap" else [reading]
            command = Command(f"{name} {reading}", ["expand", "-q", "--board=square:9", *options,
                                                     "{in}", "{out}"], "o.npz")  # fmt: skip
            command.original = original
            os.mkdir(os.path.join(folder, command.name))
            started = time.monotonic()
            run_undisturbed(command, os.path.join(folder, command.name))
            command.seconds = time.monotonic() - started
            made[command.name] = command


def line(command, place, source):
    return [a.replace("{in}", source) for a in command.line(place)]


def run_undisturbed(command, folder):
    source, place = os.path.join(folder, "in.npz"), os.path.join(folder, "place")
    with open(source, "wb") as file:
        file.write(command.original)
    os.mkdir(place)
    code, _, errors = symaug(*line(command, place, source))
    assert code == 0, errors
    command.new = contents(place)


def change(kind, path, original, rng):
    n = len(original)
    at = rng.randrange(n)
    if kind == "truncate":
        os.truncate(path, at)
    elif kind == "empty":
        os.truncate(path, 0)
    elif kind == "overwrite":
        with open(path, "r+b", buffering=0) as file:
            file.seek(at)
            file.write(bytes(255 - b for b in original[at : at + 65536]))
    elif kind == "replace":  # another file under the name: the open one stays as it is
        shutil.copyfile(path, path + ".new")
        os.truncate(path + ".new", at)
        os.replace(path + ".new", path)
    elif kind == "grow":
        with open(path, "ab", buffering=0) as file:
            file.write(b"x" * 1000)
    else:
        os.truncate(path, at)
        time.sleep(rng.random() * 0.01)
        with open(path, "r+b", buffering=0) as file:
            file.seek(at)
            file.write(original[at:])


def disturb(command, kind, delay, seed):
    rng = random.Random(seed)
    with scratch_folder() as folder:
        source, place = os.path.join(folder, "in.npz"), os.path.join(folder, "place")
        with open(source, "wb") as file:
            file.write(command.original)
        os.mkdir(place)
        child = subprocess.Popen([SYMAUG, *line(command, place, source)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
        time.sleep(delay)
        change(kind, source, command.original, rng)
        _, errors = child.communicate()
        code, left = child.returncode, contents(place)
        label = f"{kind} after {delay:.4f} s: exit {code}: "
        if code not in (0, 65, 66, 74):
            return label + errors.decode()[-200:], code
        if code != 0 and (len(errors.splitlines()) != 1 or b"in.npz" not in errors):
            return label + f"expected one line that names the file, found {errors}", code
        if code != 0 and left:
            return label + f"left behind: {sorted(left)}", code
        if code == 0 and left != command.new:
            return label + "success, but another output", code
        return None, code


@tap.test("stored mmap", "stored --no-mmap", "deflated mmap", "deflated --no-mmap")
def test_change(name):
    rng = random.Random(f"{SEED} {name}")
    command, n = made[name], times(42)
    jobs = [(command, CHANGES[i % len(CHANGES)], rng.random() * command.seconds * 0.9,
             f"{SEED} {name} {i}") for i in range(n)]  # fmt: skip
    done = in_parallel(disturb, jobs)
    wrong = [what for what, _ in done if what]
    assert not wrong, f"{len(wrong)} of {n}: {wrong[:5]}"
    refused = sum(code != 0 for _, code in done)
    assert refused > n // 6, f"only {refused} of {n} changes were met"


if __name__ == "__main__":
    with scratch_folder() as folder:
        make(folder)
        tap.main()
