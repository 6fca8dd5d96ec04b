#!/usr/bin/python3
"""The order of system calls that makes an output durable, seen through strace: each file is written,
synced, renamed, and its folder synced; outputs before the manifest that speaks of them."""

import os
import re
import shutil
import subprocess

from commands import WRITERS, commands
from fault import MANIFEST, SYMAUG, Tap, put, scratch_folder

tap = Tap()
made = {}

CALLS = "openat,open,write,pwrite64,ftruncate,fsync,fdatasync,rename,renameat,renameat2,link,linkat"
# 12345 pwrite64(5</place/.o.npz.symaug-abc>, ... ) = 10
LINE = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)")
PATH = re.compile(r"\d+<([^>]*)>")


def trace(command, place):
    """(call, path or (from, to)) in order, of calls that succeeded."""
    log = place + ".strace"
    done = subprocess.run(["strace", "-f", "-y", "-s", "0", "-o", log, "-e", f"trace={CALLS}", SYMAUG,
                           *command.line(place)], capture_output=True)  # fmt: skip
    assert done.returncode == 0, done
    events, unfinished = [], {}
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            thread = line.split()[0]
            if line.rstrip().endswith("<unfinished ...>"):
                unfinished[thread] = line.rstrip()[: -len("<unfinished ...>")]
                continue
            resumed = re.search(r"<\.\.\. \w+ resumed>", line)
            if resumed and thread in unfinished:
                line = unfinished.pop(thread) + line[resumed.end() :]
            match = LINE.match(line)
            if not match or int(match[3]) < 0:
                continue
            call, arguments = match[1], match[2]
            if call.startswith(("rename", "link")):
                names = re.findall(r'"([^"]*)"', arguments)
                events.append(("rename", tuple(names)))
            elif call in ("fsync", "fdatasync"):
                events.append(("sync", PATH.match(arguments)[1]))
            elif call in ("write", "pwrite64", "ftruncate"):
                path = PATH.match(arguments)
                events.append(("write", path[1] if path else ""))
    return events


def check_rename(events, at, place):
    """A file or folder that gets its final name: (what, where the folder's sync is)."""
    temp, final = events[at][1]
    before, after = events[:at], events[at + 1 :]
    folder = os.path.dirname(final)
    written = [i for i, (call, path) in enumerate(before) if call == "write" and path == temp]
    synced = [i for i, (call, path) in enumerate(before) if call == "sync" and path == temp]
    assert synced, f"{final} is renamed but was never synced"
    if written:
        assert synced[-1] > written[-1], f"{final}: written after it was synced"
    late = [path for call, path in after if call == "write" and path in (temp, final)]
    assert not late, f"{final} is written after its rename"
    found = [i for i, event in enumerate(after) if event == ("sync", folder)]
    assert found, f"the folder of {final} is not synced after the rename"
    return at + 1 + found[0]


@tap.test(*WRITERS)
def test_order(name):
    command = made[name]
    with scratch_folder() as folder:
        place = os.path.join(os.path.realpath(folder), "place")
        put(place, command.old)
        events = trace(command, place)
        renames = [i for i, (call, _) in enumerate(events) if call == "rename"]
        finals = [events[i][1][1] for i in renames]
        synced = {}
        for i, final in zip(renames, finals):
            synced[final] = check_rename(events, i, place)
        for output in command.new:
            assert os.path.join(place, output) in finals, f"{output} is not renamed into place"
        manifest = os.path.join(place, command.out + MANIFEST)
        if manifest in finals:
            temp = f".{command.out}{MANIFEST}"
            first = min(i for i, (call, path) in enumerate(events)
                        if call == "write" and os.path.basename(path).startswith(temp))  # fmt: skip
            output = os.path.join(place, command.out)
            assert synced[output] < first, "the manifest is written before its output is durable"


if __name__ == "__main__":
    if shutil.which("strace") is None:
        tap.tests = []
        print("ok 1 - durable order # SKIP no strace")
    with scratch_folder() as folder:
        made.update(commands(folder))
        tap.main()
