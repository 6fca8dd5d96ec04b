#!/usr/bin/python3
"""Every call to the file system fails, once and from then on: complete outputs or none, old ones
untouched, and the exit code tells whether trying again later makes sense."""

from commands import NAMES, WRITERS, commands
from fault import Tap, scratch_folder, sweep

tap = Tap()
made = {}

LATER = ("ENOSPC", "EDQUOT", "ESTALE")


def fails(run):
    """What writes an output cannot succeed without this call."""
    error = run.label.split(":")[1]
    if run.code == 0:
        return "success in spite of the failure"
    if error in LATER and run.code != 75:
        return f"expected exit 75: {run.errors[-200:]}"
    if error not in LATER and run.code not in (73, 74):
        return f"expected exit 73 or 74: {run.errors[-200:]}"
    return None


def fails_reading(run):
    error = run.label.split(":")[1]
    expected = {"EIO": (0, 73, 74), "ESTALE": (0, 73, 75), "EACCES": (0, 66, 73, 74),
                "EMFILE": (0, 73, 74), "ENOSPC": (0, 75)}[error]  # fmt: skip
    # Whoever does not need the file may go on; that nothing is wrong then is checked for each run.
    if run.code in expected:
        return None
    return f"expected exit {expected}: {run.errors[-200:]}"


def endures(run):
    """An interrupted call is made again; one that never does anything else is an error."""
    if run.code == 0 or run.label.endswith("+") and run.code in (73, 74):
        return None
    return f"not tried again: {run.errors[-200:]}"


def either(run):
    return None


@tap.test(*WRITERS)
def test_write(name):
    sweep(made[name], "write", ["ENOSPC", "EDQUOT", "EIO", "ESTALE"], 24, fails)


@tap.test(*WRITERS)
def test_short_write(name):
    sweep(made[name], "short", ["EIO"], 16, endures)


@tap.test(*WRITERS)
def test_sync(name):
    sweep(made[name], "fsync", ["EIO", "ENOSPC", "EDQUOT"], 20, fails)


@tap.test(*WRITERS)
def test_close(name):
    # A scratch file that was read back, and a file that was opened to see whether that is possible,
    # are done with: their close may fail.
    scratch = ("expand -j2 -f shuffled", "expand katago", "dedupe", "dedupe -j2 spilled")
    expected = either if name in scratch else fails
    sweep(made[name], "close", ["EIO", "ENOSPC", "EDQUOT"], 20, expected)


@tap.test(*WRITERS)
def test_rename(name):
    sweep(made[name], "rename", ["EIO", "ENOSPC", "EDQUOT", "ESTALE"], 12, fails)


@tap.test("expand objects", "expand to folder")
def test_rename_without_flags(name):
    """File systems that know no RENAME_NOREPLACE and RENAME_EXCHANGE."""
    sweep(made[name], "rename", ["EINVAL", "ENOSYS"], 12, either)


@tap.test("expand to folder")
def test_mkdir(name):
    sweep(made[name], "mkdir", ["EIO", "ENOSPC", "EDQUOT", "EACCES"], 4, fails)


@tap.test(*NAMES)
def test_read(name):
    sweep(made[name], "read", ["EIO", "ESTALE"], 50, fails_reading)


@tap.test(*NAMES)
def test_open(name):
    sweep(made[name], "open", ["EIO", "EACCES", "EMFILE", "ENOSPC"], 40, fails_reading)


@tap.test(*[name for name in NAMES if name != "boards"])
def test_examine(name):
    sweep(made[name], "fstat", ["EIO", "ESTALE"], 12, fails_reading)


@tap.test("expand mapped", "verify mapped")
def test_map(name):
    """What cannot be mapped is read."""
    sweep(made[name], "mmap", ["ENOMEM", "EACCES"], 4, either)


@tap.test(*[(call, name) for call in ("write", "fsync", "read", "open") for name in WRITERS])
def test_interrupted(call, name):
    sweep(made[name], call, ["EINTR"], 16, endures)


if __name__ == "__main__":
    with scratch_folder() as folder:
        made.update(commands(folder))
        tap.main()
