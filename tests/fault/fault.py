"""What the fault drivers share: commands to torment, and what must hold however they end.

In the environment: SYMAUG (the program), INJECTOR (the library made of inject.c), N (how many times as
many points as in a short run, default 1: sweeps are full once there are no more), SEED.
"""

import concurrent.futures
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

from golden import SYMAUG, Tap, data  # noqa: E402, F401

SYMAUG = os.path.abspath(SYMAUG)
INJECTOR = os.path.abspath(os.environ["INJECTOR"])
N = float(os.environ.get("N", "1"))
SEED = int(os.environ.get("SEED", "1"))
MANIFEST = ".manifest.json"
CALLS = ["malloc", "open", "read", "write", "short", "fsync", "close", "rename", "link",
         "mmap", "truncate", "mkdir", "fstat"]  # fmt: skip
# Codes with which a command may end that was made to fail.
CODES = (64, 65, 66, 70, 73, 74, 75)


def times(n):
    """How many points: n in a short run, N times as many in a long one."""
    return max(1, int(n * N))


def scratch_folder():
    """In memory where there is a file system for it: thousands of runs need no disk."""
    memory = "/dev/shm"
    return tempfile.TemporaryDirectory(
        prefix="symaug-fault-", dir=memory if os.access(memory, os.W_OK) else None
    )


def symaug(*arguments, env=None, preexec_fn=None, timeout=120):
    """Run to the end: (exit code or -signal, standard output, standard error)."""
    done = subprocess.run([SYMAUG, *map(str, arguments)], capture_output=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, env=dict(os.environ, **(env or {})),
                          preexec_fn=preexec_fn)  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def contents(folder):
    """{name: bytes, or the same of a folder} of everything that lies in a folder."""
    found = {}
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            found[entry.name] = contents(entry.path)
        else:
            with open(entry.path, "rb") as file:
                found[entry.name] = file.read()
    return found


def put(folder, tree):
    os.makedirs(folder, exist_ok=True)
    for name, what in tree.items():
        path = os.path.join(folder, name)
        if isinstance(what, dict):
            put(path, what)
        else:
            with open(path, "wb") as file:
                file.write(what)


class Command:
    """A command line that writes `out`, or nothing. `{out}` in its arguments stands for its place,
    `{folder}` for the folder; all other files are given by their full names."""

    def __init__(self, name, arguments, out=None, force=False):
        self.name, self.arguments, self.out, self.force = name, arguments, out, force
        self.old = {}  # what stood there before, when it is to be replaced
        self.new = {}  # what stands there after success
        self.stdout = b""

    def line(self, folder):
        return [a.replace("{out}", os.path.join(folder, self.out or "")).replace("{folder}", folder)
                for a in self.arguments]

    def learn(self, old_options=None):
        """Run it undisturbed; with old_options (options put in front) once more, for what it will
        have to replace."""
        with scratch_folder() as folder:
            code, self.stdout, errors = symaug(*self.line(folder))
            assert code == 0, f"{self.name}: exit {code}: {errors}"
            self.new = contents(folder)
        if self.force:
            with scratch_folder() as folder:
                line = self.line(folder)
                code, _, errors = symaug(line[0], *old_options, *line[1:])
                assert code == 0, f"{self.name}: exit {code}: {errors}"
                self.old = contents(folder)
            assert self.old != self.new
        return self

    def check_left(self, code, left):
        """Complete new files or untouched old ones, a manifest only beside what it describes, and
        no other file; None, or what is wrong."""
        for name, what in left.items():
            if name not in self.new:
                return f"left behind: {name!r}"
            if what not in (self.new[name], self.old.get(name)):
                return f"neither old nor new: {name!r}"
        if code == 0:
            return None if left == self.new else f"success, but there is only {sorted(left)}"
        for name in self.old:
            if name not in left and not name.endswith(MANIFEST):
                return f"the old {name!r} is gone"
        for name in left:
            if name.endswith(MANIFEST):
                output = name[: -len(MANIFEST)]
                age = self.old if left[name] == self.old.get(name) else self.new
                if left.get(output) != age.get(output):
                    return f"{name!r} does not describe {output!r}"
        return None

    def check_end(self, code, out, errors):
        """A clean end: success with all that belongs to it, or one line that says why not."""
        if code == 0:
            return None if self.out or out == self.stdout else "success with other output"
        if code not in CODES:
            return f"exit {code}: {errors[-300:]}"
        said = errors.decode("utf-8", "replace").strip().splitlines()
        said = [line for line in said if not line.startswith("symaug: warning: ")]
        if self.arguments[0] == "verify" and not said and b"container" in out:
            return None  # what cannot be read is a finding
        if len(said) != 1 or not said[0].startswith(("symaug: ", "libgomp: ")):
            return f"exit {code}, expected one line, found {said}"
        return None


class Run:
    """One disturbed run of a command."""

    def __init__(self, command, call, error, n, on):
        self.command, self.label = command, f"{call}:{error}:{n}{'+' if on else ''}"
        with scratch_folder() as folder:
            place, tmpdir = os.path.join(folder, "place"), os.path.join(folder, "tmp")
            put(place, command.old)
            os.mkdir(tmpdir)
            counts = os.path.join(folder, "counts")
            env = {"LD_PRELOAD": INJECTOR, "INJECT_COUNTS": counts, "TMPDIR": tmpdir}
            if n > 0:
                env["INJECT"] = self.label
            self.wrong = None
            try:
                self.code, self.out, self.errors = symaug(*command.line(place), env=env, timeout=60)
            except subprocess.TimeoutExpired:
                self.code, self.out, self.errors = -1, b"", b""
                self.wrong = "does not end"
            with open(counts, "rb") as file:
                numbers = struct.unpack(f"={len(CALLS) + 1}Q", file.read())
            self.counts, self.n_failed = dict(zip(CALLS, numbers)), numbers[-1]
            self.wrong = (
                self.wrong
                or command.check_end(self.code, self.out, self.errors)
                or command.check_left(self.code, contents(place))
                or (f"left in TMPDIR: {os.listdir(tmpdir)}" if os.listdir(tmpdir) else None)
            )

    def __str__(self):
        return f"{self.label}: exit {self.code}, {self.wrong}"


def points(n, limit, rng):
    """At most `limit` of the numbers 1 to n, evenly spread, other ones for other seeds."""
    if n <= limit:
        return range(1, n + 1)
    return sorted({1 + int((i + rng.random()) * n / limit) for i in range(limit)})


def in_parallel(function, jobs):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda job: function(*job), jobs))


def sweep(command, call, errors, limit, expected, modes=(False, True)):
    """Let the n-th `call` fail, or all from there on, in `limit` runs; short runs take the errors in
    turn. expected(run) says what is wrong with a run that did meet the failure, or None."""
    rng = random.Random(f"{SEED} {command.name} {call}")
    undisturbed = Run(command, call, errors[0], 0, False)
    assert undisturbed.code == 0 and not undisturbed.wrong, f"undisturbed: {undisturbed}"
    n = undisturbed.counts[call]
    assert n > 0, f"there is no {call} to fail"
    jobs = []
    for on in modes:
        for i in points(n, times(limit / len(modes)), rng):
            turn = [errors[len(jobs) % len(errors)]] if N <= 1 else errors
            jobs += [(command, call, error, i, on) for error in turn]
    wrong, n_failed = [], 0
    for run in in_parallel(Run, jobs):
        n_failed += run.n_failed > 0
        if run.wrong is None and run.n_failed > 0:
            run.wrong = expected(run)
        if run.wrong:
            wrong.append(run)
    assert n_failed >= len(jobs) // 2, f"of {len(jobs)} runs {n_failed} met the failure"
    assert not wrong, f"{len(wrong)} of {len(jobs)} runs: " + "; ".join(map(str, wrong[:8]))


def remove_all(folder):
    shutil.rmtree(folder, ignore_errors=True)
