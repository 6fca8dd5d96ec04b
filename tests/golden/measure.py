"""What the tests of bad input share: the corpus, its verdicts, and runs that are measured."""

import collections
import csv
import os
import resource
import subprocess
import tempfile
import time

from golden import SYMAUG, data

MAX_KIB = 256 << 10
MAX_SECONDS = 2
# A sanitizer takes memory and time of its own.
SANITIZED = b"__asan_init" in open(SYMAUG, "rb").read()

OPTIONS = {
    "v_hex13.npz": ["--board", "hex13", "--value", "mover", "--planes", "1,0,2"],
    "s_hex_as_sq9.npz": ["--board", "square:9"],
}

Run = collections.namedtuple("Run", "code out errors kib seconds")


def cases():
    with open(data("bad/manifest.tsv"), encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def options_for(name):
    return OPTIONS.get(name, ["--board", "square:9"])


def verdict(case):
    """'refuse', 'accept', or None where either will do."""
    name, category, expected = case["file"], case["category"][:2], case["expected"]
    if expected == "reject":
        return None if category == "09" else "refuse"
    if category in ("01", "02") or name.startswith("p_ok") or category in ("03", "04", "05", "08"):
        return "accept"
    return None


def limit_memory():
    # Address space is no measure of memory under a sanitizer.
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def measured(arguments):
    """One run: its exit code or -signal, what it said, its peak memory and its time. The memory of
    a child is never less than its parent's when it began: keep this process small."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        child = subprocess.Popen([SYMAUG, *arguments], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=errors, preexec_fn=limit_memory)  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - started
        out.seek(0)
        errors.seek(0)
        return Run(child.returncode, out.read().decode(), errors.read().decode(), usage.ru_maxrss, seconds)
