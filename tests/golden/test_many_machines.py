#!/usr/bin/python3
"""Many processes: the lines of the manual for xargs, GNU parallel and make give the outputs of one
run (parallel is skipped where it is not installed)."""

import os
import re
import shutil
import subprocess
import tempfile

import manual
from golden import SYMAUG, Tap, run

tap = Tap()
N = 5


def block(heading):
    """The literal lines of a section of symaug-expand(1)."""
    text = manual.source("symaug-expand.1").split(f".Ss {heading}\n")[1]
    found = re.search(r"\.Bd -literal.*?\n(.*?)\.Ed", text, re.S)
    return found[1].replace("\\e", "\\")


def shell(folder, command):
    environment = {**os.environ, "PATH": f"{folder}/.bin:{os.environ['PATH']}",
                   "MAKEFLAGS": ""}  # of the make that runs the tests: -s keeps it from speaking
    done = subprocess.run(["sh", "-euc", command], cwd=folder, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == 0, f"{command}: exit {done.returncode}: {done.stdout}"
    return done.stdout


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    return found


def try_command(prepare):
    """Expand in/ into out/ with what `prepare(folder)` returns; compare with one run."""
    with tempfile.TemporaryDirectory() as folder:
        for name in (".bin", "in", "out"):
            os.mkdir(f"{folder}/{name}")
        os.symlink(os.path.abspath(SYMAUG), f"{folder}/.bin/symaug")
        for i in range(N):
            run("sample", "-q", "--board", "go9", "--rows", 10 + i, "--seed", i + 1,
                f"{folder}/in/{i}.npz")
        command = prepare(folder)
        shell(folder, command)
        shell(folder, "symaug expand -q --board go9 --out-dir one in/*.npz")
        assert len(contents(f"{folder}/one")) == 2 * N
        assert contents(f"{folder}/out") == contents(f"{folder}/one")
        return shell(folder, command) if command.startswith("make") else ""


@tap.test()
def test_xargs():
    try_command(lambda _: block("xargs, GNU parallel").splitlines()[0])


@tap.test()
def test_parallel():
    if shutil.which("parallel"):
        try_command(lambda _: block("xargs, GNU parallel").splitlines()[1])


@tap.test()
def test_make():
    """A second run has nothing to do."""
    def prepare(folder):
        with open(f"{folder}/Makefile", "w", encoding="utf-8") as file:
            file.write(block("make -j"))
        return "make -j 4"
    assert "Nothing to be done" in try_command(prepare)


if __name__ == "__main__":
    tap.main()
