#!/usr/bin/python3
"""Every block of TUTORIAL.md, run as it stands; its lines `#>` are part of what it prints."""

import os
import re
import subprocess
import tempfile

import library
from golden import SYMAUG, Tap

tap = Tap()

with open("TUTORIAL.md", encoding="utf-8") as file:
    SECTIONS = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", file.read(), re.M | re.S)
BLOCKS = {title: re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) for title, text in SECTIONS}


@tap.test(*BLOCKS)
def test_block(title):
    root = os.getcwd()
    assert BLOCKS[title], "no block of commands"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scripts", "share", "examples", "tests"):
            os.symlink(os.path.join(root, name), os.path.join(folder, name))
        os.mkdir(os.path.join(folder, ".bin"))
        os.symlink(os.path.abspath(SYMAUG), os.path.join(folder, ".bin", "symaug"))
        os.symlink(os.path.abspath("python/symaug-convert"), os.path.join(folder, ".bin", "symaug-convert"))
        os.symlink("/usr/bin/python3", os.path.join(folder, ".bin", "python3"))
        environment = {**library.environment(), "PYTHONPATH": os.path.join(root, "python"),
                       "SYMAUG_LIBRARY": os.path.join(library.BUILD, "libsymaug.so"),
                       "SYMAUG_PROGRAM": os.path.abspath(SYMAUG)}  # fmt: skip
        environment["PATH"] = f"{folder}/.bin:{os.environ['PATH']}"
        for block in BLOCKS[title]:
            done = subprocess.run(["sh", "-euc", block], cwd=folder, env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert done.returncode == 0, f"exit {done.returncode}: {done.stdout}"
            for expected in re.findall(r"^#>(.*)$", block, re.M):
                expected = expected.strip()
                assert expected in done.stdout, f"no {expected!r}: {done.stdout}"


@tap.test()
def test_projects():
    """Every board family that is served has its section, every section its commands."""
    text = " ".join(block for blocks in BLOCKS.values() for block in blocks)
    for board in ("hex8", "hex11", "gomoku15", "katago", "connect4", "chess", "takeiteasy", "file:"):
        assert board in text, board
    for system in os.listdir("tests/data/containers"):
        assert system in text, system


if __name__ == "__main__":
    tap.main()
