#!/usr/bin/python3
"""File systems of every size that is too small: the old file or none, exit 75, no temp files."""

import os
import subprocess
import tempfile

from commands import SMALL
from fault import Command, Tap, contents, put, scratch_folder, symaug, times

tap = Tap()
made = {}

PAGE = 4096


class Disk:
    """A tmpfs of so many bytes."""

    def __init__(self, n_bytes):
        self.n_bytes = n_bytes

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="symaug-disk-")
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.n_bytes}", "tmpfs",
                               self.path], capture_output=True, text=True)  # fmt: skip
        if done.returncode != 0:
            os.rmdir(self.path)
            raise PermissionError(done.stderr.strip())
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", self.path], check=True)
        os.rmdir(self.path)


def make(folder):
    shard = os.path.join(folder, "in.npz")
    symaug("sample", "-q", "--board=hex8", "--rows=300", shard)
    made["new"] = Command("new", ["expand", "-q", shard, "{out}"], "o.npz").learn()
    made["replace"] = Command("replace", ["expand", "-q", "-f", shard, "{out}"], "o.npz", True)
    made["replace"].learn(SMALL)
    made["folder"] = Command("folder", ["expand", "-q", "-f", "--format=npy-dir", shard, "{out}"],
                             "o", True).learn(SMALL)  # fmt: skip


def pages(tree):
    return sum(pages(what) + 1 if isinstance(what, dict) else -(-len(what) // PAGE)
               for what in tree.values())  # fmt: skip


@tap.test("new", "replace", "folder")
def test_sizes(form):
    command = made[form]
    least, most = pages(command.old) + 1, pages(command.old) + pages(command.new) + 8
    n = min(times(21), most - least + 1)
    n_full = n_enough = 0
    for i in range(n):
        size = least + (most - least) * i // max(1, n - 1)
        with Disk(size * PAGE) as place:
            put(place, command.old)
            code, _, errors = symaug(*command.line(place))
            assert code in (0, 75), f"{size} pages: exit {code}: {errors}"
            wrong = command.check_left(code, contents(place))
            assert wrong is None, f"{size} pages, exit {code}: {wrong}"
            n_full += code == 75
            n_enough += code == 0
    assert n_full > n // 2 and n_enough > 0, f"{n_full} times full, {n_enough} times enough"


@tap.test("stdout")
def test_standard_output(_):
    """What cannot be written to standard output is an error, too."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run([os.environ["SYMAUG"], "boards", "hex8"], stdout=full,
                              stderr=subprocess.PIPE)  # fmt: skip
    assert done.returncode == 75, done
    assert len(done.stderr.splitlines()) == 1, done


if __name__ == "__main__":
    try:
        with Disk(PAGE):
            pass
    except (PermissionError, FileNotFoundError) as error:
        tap.tests = [test for test in tap.tests if test[0].startswith("standard_output")]
        print(f"# SKIP disks of every size: cannot mount a tmpfs: {error}")
    with scratch_folder() as folder:
        make(folder)
        tap.main()
