#!/usr/bin/python3
"""The line that says how far a command is: over all files, on a terminal once a command takes longer
than a second, elsewhere only when it is asked for; and the line that ends it."""

import os
import pty
import re
import signal
import subprocess
import tempfile
import time

import golden
from golden import Tap, run

tap = Tap()

LINE = re.compile(r"(\w+) (\S+) \((file|step) (\d+) of (\d+)\): +(\d+)%  .*/s  (\d+) s left")


def shards(folder, rows=200):
    paths = [os.path.join(folder, f"{name}.npz") for name in "abc"]
    for seed, path in enumerate(paths):
        run("sample", "-q", "--board", "go9", "--rows", rows, "--seed", seed, path)
    return paths


def commands(folder, paths):
    """A command line by its name, the pieces it has, the lines it ends with."""
    board = "--board", "go9"
    expanded = os.path.join(folder, "once")
    run("expand", "-q", *board, "--out-dir", expanded, *paths)
    run("manifest", "merge", "-q", "-o", os.path.join(expanded, "all.json"), expanded)
    whole = os.path.join(folder, "whole")
    os.mkdir(whole)
    for path in paths:
        os.link(path, os.path.join(whole, os.path.basename(path)))
    out = os.path.join(folder, "new")
    return {
        "expand": (3, ["expand", *board, "-f", "--out-dir", out, *paths]),
        "shards": (5, ["expand", *board, "-f", "--rows-per-shard", 1152, "-o", out + ".npz", *paths]),
        "canonical": (6, ["expand", *board, "-f", "--canonical", "--out-dir", out, *paths]),
        "verify": (3, ["verify", *board, *paths]),
        "manifest": (3, ["verify", os.path.join(expanded, "all.json")]),
        "report": (9, ["report", *board, "-f", "-o", out + ".html", whole]),
        "overlap": (4, ["overlap", *board, whole, paths[0]]),
        "split": (9, ["split", *board, "-f", "--parts", "x=0.5,y=0.5", "--out-dir", out, *paths]),
        "dedupe": (2, ["dedupe", *board, "-f", "-o", out + ".npz", *paths]),
    }


def error_lines(text):
    return [line for line in re.split(r"[\r\n]+|\x1b\[K", text) if line]


@tap.test("expand", "shards", "canonical", "verify", "manifest", "report", "overlap", "split", "dedupe")
def test_asked_for(name):
    """The line comes at once, counts pieces of the whole job, and gives way to one that ends it."""
    with tempfile.TemporaryDirectory() as folder:
        n, command = commands(folder, shards(folder))[name]
        lines = error_lines(run(*command, "--progress=always")[1])
        found = [LINE.fullmatch(line) for line in lines[:-1]]
        assert found and all(found), lines
        for match in found:
            assert int(match[5]) == n and 1 <= int(match[4]) <= n, (match[0], n)
            assert int(match[6]) <= 100 * int(match[4]) / n + 1, match[0]
        unit = "step" if name == "report" else "file"
        if name == "dedupe":
            assert re.fullmatch(r"symaug: 600 rows, \d+ positions, .*", lines[-1]), lines[-1]
        else:
            assert re.fullmatch(rf"symaug: {command[0]}: {n} {unit}s, [\d.]+ \w+ in [\d.]+ s \(.*/s\)",
                                lines[-1]), lines[-1]
        for quiet in ["--progress=never"], ["-q", "--progress=always"], []:
            text = run(*command, *quiet)[1]
            assert "left" not in text and " in " not in text, text


def on_terminal(command, stop=0.0):
    """What a command prints on a terminal, when it is stopped for a while."""
    master, slave = pty.openpty()
    child = subprocess.Popen([golden.SYMAUG, *map(str, command)], stdout=subprocess.DEVNULL,
                             stderr=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    if stop:
        time.sleep(0.03)
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(stop)
        os.kill(child.pid, signal.SIGCONT)
    text = b""
    try:
        while part := os.read(master, 4096):
            text += part
    except OSError:  # no writer is left
        pass
    os.close(master)
    assert child.wait() == 0, text
    return text.decode()


@tap.test()
def test_terminal():
    """Nothing of what is done within a second; of more, the line and the one that ends it."""
    with tempfile.TemporaryDirectory() as folder:
        paths = shards(folder)
        assert on_terminal(["verify", "--board", "go9", *paths]) == ""
        big = os.path.join(folder, "big.npz")
        run("sample", "-q", "--board", "go9", "--rows", 60000, big)
        lines = error_lines(on_terminal(["verify", "--board", "go9", "-j1", big, *paths], 1.1))
        assert len(lines) > 1 and LINE.fullmatch(lines[0]), lines
        assert lines[-1].startswith("symaug: verify: 4 files, "), lines


@tap.test()
def test_stands_aside():
    """Warnings and refusals begin where the line was."""
    with tempfile.TemporaryDirectory() as folder:
        paths = shards(folder)
        with open(paths[1], "r+b") as file:
            file.truncate(os.path.getsize(paths[1]) - 30)
        done = subprocess.run([golden.SYMAUG, "expand", "--board", "go9", "--skip-bad", "--progress=always",
                               "--out-dir", os.path.join(folder, "out"), *paths],
                              capture_output=True, text=True)
        assert done.returncode == 1
        for text in "symaug: skipped: ", "symaug: 1 of 3 inputs":
            before = done.stderr[:done.stderr.index(text)]
            assert before.endswith(("\x1b[K", "\n")), done.stderr
        assert error_lines(done.stderr)[-1].startswith("symaug: expand: 2 files, "), done.stderr


tap.main()
