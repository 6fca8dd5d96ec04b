"""Building and running programs against libsymaug.so of the build under test."""

import os
import subprocess

from golden import SYMAUG

BUILD = os.path.dirname(os.path.realpath(SYMAUG))


def environment(folder=BUILD):
    """With the library's folder, and first of all the runtime of a sanitizer it was built with."""
    found = {**os.environ, "LD_LIBRARY_PATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    if "__asan_init" in output("nm", "-D", os.path.join(folder, "libsymaug.so")):
        runtime = output("gcc", "-print-file-name=libasan.so").strip()
        found.update(LD_PRELOAD=runtime, ASAN_OPTIONS="detect_leaks=0")
    return found


def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout


def make(target, **variables):
    """A target of the Makefile, in the build under test."""
    given = {"BUILD": os.path.relpath(BUILD), **variables}
    command = ["make", "-s", target, *[f"{key}={value}" for key, value in given.items()]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"


def compile_example(source, output, flags):
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, *flags, "-o", output]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
    return output


def run(command, stdin=None, folder=BUILD):
    done = subprocess.run(command, input=stdin, capture_output=True, env=environment(folder))
    assert done.returncode == 0, f"{command}: exit {done.returncode}: {done.stderr.decode()}"
    return done.stdout
