#!/usr/bin/python3
"""Many writers of one target at the same time: one complete output with its own manifest, no temp
files, and whoever did not win says so in one line."""

import os
import subprocess

from fault import MANIFEST, SYMAUG, Command, Tap, contents, put, scratch_folder, symaug, times

tap = Tap()
made = {}

N_WRITERS = 8


def make(folder):
    shard = os.path.join(folder, "in.npz")
    symaug("sample", "-q", "--board=square:9", "--rows=100", shard)
    expand = ["expand", "-q", "-j1", "--board=square:9"]
    made["one job"] = [Command("w", [*expand, shard, "{out}"], "o.npz").learn()] * N_WRITERS
    made["one job, -f"] = [Command("w", [*expand, "-f", shard, "{out}"], "o.npz").learn()] * N_WRITERS
    made["folder"] = [Command("w", [*expand, "--format=npy-dir", shard, "{out}"], "o").learn()] * N_WRITERS
    made["many jobs, -f"] = [
        Command("w", [*expand, "-f", f"--transforms={i}", shard, "{out}"], "o.npz").learn()
        for i in range(N_WRITERS)
    ]


def race(commands):
    with scratch_folder() as folder:
        place = os.path.join(folder, "place")
        put(place, {})
        children = [subprocess.Popen([SYMAUG, *command.line(place)], stdin=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE) for command in commands]  # fmt: skip
        codes = []
        for child in children:
            _, errors = child.communicate()
            codes.append(child.returncode)
            assert child.returncode in (0, 73, 74), f"exit {child.returncode}: {errors}"
            assert len(errors.splitlines()) == (child.returncode != 0), errors
        return codes, contents(place)


@tap.test("one job", "one job, -f", "folder", "many jobs, -f")
def test_race(name):
    commands = made[name]
    outputs = [command.new for command in commands]
    for _ in range(times(12)):
        codes, left = race(commands)
        assert set(left) <= set(outputs[0]), f"left behind: {sorted(left)}"
        assert 0 in codes, f"nobody succeeded: {codes}"
        target = commands[0].out
        complete = [new for new in outputs if new[target] == left[target]]
        assert complete, "the output is none of those that were written"
        assert left[target + MANIFEST] == complete[0][target + MANIFEST], "another one's manifest"
        if not name.endswith("-f"):
            assert codes.count(0) == 1, f"{codes.count(0)} writers believe that it was they"


if __name__ == "__main__":
    with scratch_folder() as folder:
        make(folder)
        tap.main()
