#!/usr/bin/python3
"""Every allocation fails, once and from then on: no signal, one line, nothing left behind."""

from commands import NAMES, commands
from fault import Tap, scratch_folder, sweep

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


if __name__ == "__main__":
    with scratch_folder() as folder:
        made.update(commands(folder))
        tap.main()
