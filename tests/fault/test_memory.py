#!/usr/bin/python3
"""Every allocation fails, once and from then on: no signal, one line, nothing left behind."""

import os
import zipfile

import numpy as np

from commands import NAMES, commands
from fault import INJECTOR, Tap, scratch_folder, sweep, symaug

tap = Tap()
made = {}


def expected(run):
    """Success without the memory (a buffer that is optional) must still be right; that is checked
    for every run. A failure is said to be one of memory."""
    if run.code in (0, 70):
        return None
    return f"expected exit 70: {run.errors[-200:]}"


@tap.test(*NAMES)
def test_allocations(name):
    sweep(made[name], "malloc", ["ENOMEM"], 240, expected)


def moves_unseen(folder, error, n):
    """The exit code for a shard with moves under a name that says nothing, when the n-th call fails."""
    out = os.path.join(folder, f"{n}.npz")
    code, _, errors = symaug("expand", "-q", "-j1", "--no-mmap", "--board=square:9", os.path.join(folder, "in.npz"), out,
                             env={"LD_PRELOAD": INJECTOR, "INJECT": f"{error}:{n}"})  # fmt: skip
    return code, errors


FAILURES = "malloc:ENOMEM", "read:EIO"
SQUARES = np.array([f"{'ABCDEFGHJ'[k * 7 % 9]}{k * 4 % 9 + 1}" for k in range(40)])


@tap.test(*[(error, name) for error in FAILURES for name in ("label", "text", "list")])
def test_who_cannot_look_does_not_ask(error, name):
    """The same of moves that are seen by their range, their spelling, or as lists."""
    arrays = {"label": np.arange(40), "text": SQUARES,
              "list": np.where(np.arange(4) < np.arange(40)[:, None] % 4 + 1, np.arange(4) * 9 + np.arange(40)[:, None], -1)}
    with scratch_folder() as folder:
        np.savez(os.path.join(folder, "in.npz"), features=np.zeros((40, 2, 9, 9), "u1"), **{name: arrays[name]})
        assert moves_unseen(folder, error, 100000)[0] == 65
        codes = [moves_unseen(folder, error, n) for n in range(1, 250)]
        wrong = [(n + 1, code, errors) for n, (code, errors) in enumerate(codes) if code not in (65, 70, 74)]
        assert not wrong, wrong[:5]


@tap.test(*FAILURES)
def test_who_cannot_look_does_not_copy(error):
    """Moves that are asked for are never copied because there was no memory to look at them, or no disk."""
    with scratch_folder() as folder:
        go, renamed = os.path.join(folder, "go.npz"), os.path.join(folder, "in.npz")
        symaug("sample", "-q", "--board=square:9", "--rows=40", go)
        with zipfile.ZipFile(go) as old, zipfile.ZipFile(renamed, "w") as new:
            for name in old.namelist():
                new.writestr(name.replace("last_move", "at"), old.read(name))
        assert moves_unseen(folder, error, 100000)[0] == 65
        codes = [moves_unseen(folder, error, n) for n in range(1, 400)]
        wrong = [(n + 1, code, errors) for n, (code, errors) in enumerate(codes) if code not in (65, 70, 74)]
        assert not wrong, wrong[:5]


if __name__ == "__main__":
    with scratch_folder() as folder:
        made.update(commands(folder))
        tap.main()
