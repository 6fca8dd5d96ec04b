#!/usr/bin/python3
"""kill -9 and catchable signals at random moments: no damaged output under a final name, no
manifest without what it lists, and the next run completes and clears away what was left."""

import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import time

from commands import SMALL
from fault import (MANIFEST, SEED, SYMAUG, Command, Tap, contents, in_parallel, put, scratch_folder,
                   symaug, times)  # fmt: skip

tap = Tap()
made = {}

# How much of a run's time the moments are spread over: on a machine that was busy when the time was
# taken, and is not any more, most come when the run has ended; then more is tried, with less.
SCALES = (1.1, 0.5, 0.25, 0.1, 0.03, 0)
FORMS = ["new", "replace", "folder"]
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ]


def make(folder):
    shard = os.path.join(folder, "in.npz")
    symaug("sample", "-q", "--board=square:9", "--rows=1500", shard)
    expand = ["expand", "-q", "-j2", "--board=square:9"]
    made["new"] = Command("new", [*expand, shard, "{out}"], "o.npz")
    made["replace"] = Command("replace", [*expand, "-f", shard, "{out}"], "o.npz", True)
    made["folder"] = Command("folder", [*expand, "-f", "--format=npy-dir",
                                        shard, "{out}"], "o", True)  # fmt: skip
    for command in made.values():
        started = time.monotonic()
        command.learn(SMALL)
        command.seconds = (time.monotonic() - started) / (2 if command.force else 1)


def temps(left):
    return [name for name in left if name.startswith(".o")]


def check_digests(place):
    """What a manifest lists is there, with the digest that it says."""
    for name in os.listdir(place):
        path = os.path.join(place, name)
        if name.startswith(".") or not name.endswith(MANIFEST):
            continue
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        for output in manifest["outputs"]:
            listed = os.path.join(place, output["name"])
            if os.path.isfile(listed):
                with open(listed, "rb") as file:
                    found = hashlib.sha256(file.read()).hexdigest()
                assert found == output["sha256"], f"{name}: digest of {output['name']}"
            else:
                assert os.path.isdir(listed), f"{name} lists {output['name']}, which is missing"


def start(command, place):
    return subprocess.Popen([SYMAUG, *command.line(place)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip


def kill_once(form, delay):
    """What is wrong after a kill -9, or None; and whether it came in time and left a temp file."""
    command = made[form]
    with scratch_folder() as folder:
        place = os.path.join(folder, "place")
        put(place, command.old)
        child = start(command, place)
        time.sleep(delay)
        child.kill()
        child.communicate()
        left = contents(place)
        rest = {name: left[name] for name in left if name not in temps(left)}
        # Interrupted in the middle of an exchange of folders there is nothing else to tell by.
        wrong = command.check_left(child.returncode, rest)
        try:
            check_digests(place)
            line = command.line(place)
            code, _, errors = symaug(line[0], *([] if "-f" in line else ["-f"]), *line[1:])
            assert code == 0, f"the next run: exit {code}: {errors}"
            assert contents(place) == command.new, f"after the next run: {os.listdir(place)}"
        except AssertionError as error:
            wrong = wrong or str(error)
        return wrong, child.returncode == -9, bool(temps(left))


@tap.test(*FORMS)
def test_kill(form):
    rng = random.Random(f"{SEED} {form}")
    command = made[form]
    n, n_killed = times(20), 0
    for scale in SCALES:
        jobs = [(form, rng.random() * command.seconds * scale) for _ in range(n)]
        done = in_parallel(kill_once, jobs)
        wrong = [what for what, _, _ in done if what]
        assert not wrong, f"{len(wrong)} of {n}: {wrong[:5]}"
        n_killed += sum(killed for _, killed, _ in done)
        if n_killed > n // 4:
            break
    else:
        raise AssertionError("most kills came too late")
    print(f"# {sum(left for _, _, left in done)} of {n} kills left a temp file to the next run")


def await_handler(child, number):
    """Wait until the program catches a signal: before main it does not, and on a busy machine a
    program may take its time to get there. After main the handlers stay."""
    while child.poll() is None:
        with open(f"/proc/{child.pid}/status", encoding="utf-8") as file:
            caught = next(line for line in file if line.startswith("SigCgt:"))
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.0005)


def signal_once(form, number, delay):
    command = made[form]
    with scratch_folder() as folder:
        place = os.path.join(folder, "place")
        put(place, command.old)
        child = start(command, place)
        await_handler(child, number)
        time.sleep(delay)
        child.send_signal(number)
        _, errors = child.communicate()
        code = child.returncode
        if code not in (0, 128 + number):
            return f"{number.name} after {delay:.4f} s: exit {code}: {errors[-200:]}", False
        left = contents(place)
        wrong = command.check_left(code, left)
        if wrong is None and code == 128 + number and errors:
            wrong = f"it said {errors!r}"
        return wrong, code == 128 + number


@tap.test(*SIGNALS)
def test_signal(number):
    rng = random.Random(f"{SEED} {number}")
    n, n_met = times(20), 0
    for scale in SCALES:
        jobs = []
        for i in range(n):
            form = FORMS[i % len(FORMS)]
            jobs.append((form, number, rng.random() * made[form].seconds * scale))
        done = in_parallel(signal_once, jobs)
        wrong = [what for what, _ in done if what]
        assert not wrong, f"{len(wrong)} of {n}: {wrong[:5]}"
        n_met += sum(met for _, met in done)
        if n_met > n // 5:
            break
    else:
        raise AssertionError("most signals came too late")


@tap.test(*FORMS)
def test_file_size_limit(form):
    """What is larger than the limit ends with SIGXFSZ, or, where that is ignored, with EFBIG."""
    command = made[form]
    for ignored in (False, True):

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
            # Python ignores SIGXFSZ; what it ignores stays ignored.
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN if ignored else signal.SIG_DFL)

        with scratch_folder() as folder:
            place = os.path.join(folder, "place")
            put(place, command.old)
            child = subprocess.run([SYMAUG, *command.line(place)], capture_output=True,
                                   restore_signals=False, preexec_fn=limit)  # fmt: skip
            assert child.returncode == (74 if ignored else 128 + signal.SIGXFSZ), child
            wrong = command.check_left(child.returncode, contents(place))
            assert wrong is None, wrong


@tap.test("ignored")
def test_hangup(_):
    """What the parent ignores (nohup) stays ignored."""
    with scratch_folder() as folder:
        place = os.path.join(folder, "place")
        os.mkdir(place)
        child = subprocess.Popen([SYMAUG, *made["new"].line(place)], restore_signals=False,
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # fmt: skip
        time.sleep(0.05)
        child.send_signal(signal.SIGHUP)
        assert child.wait() == 0
        assert contents(place) == made["new"].new


if __name__ == "__main__":
    # What a shell in the background, or nohup, ignores would stay ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with scratch_folder() as folder:
        make(folder)
        tap.main()
