"""The commands of the program, run as such: options are keywords, failures are Error."""

from __future__ import annotations

import json
import os
import subprocess
import warnings

from .library import KINDS, Error, program, words


def _paths(paths):
    return [os.fspath(paths)] if isinstance(paths, (str, os.PathLike)) else [os.fspath(p) for p in paths]


def run(command, operands, options, is_report=False):
    """Run the program; standard output as bytes. Error when its exit code is not 0, unless it has
    written a report of what is wrong."""
    environment = {**os.environ, "SYMAUG_ERRORS": "json"}
    line = [program(), command, *words(options, "--"), "--", *operands]
    try:
        done = subprocess.run(line, capture_output=True, env=environment, check=False)
    except OSError as why:
        raise Error("input", f"the program {line[0]} cannot be run: {why.strerror}", line[0]) from None
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode == 0 or (is_report and done.stdout):
        for warning in said:
            if warning.startswith("symaug: warning: "):
                warnings.warn(warning[len("symaug: warning: ") :], stacklevel=4)  # who called e.g. expand
        return done.stdout
    said = said or [""]
    try:
        why = json.loads(said[-1])
        place = (why["file"], why["array"], why["row"])
    except (ValueError, KeyError, TypeError):
        why, place = {"message": said[-1] or f"symaug {command} ended with {done.returncode}"}, ()
    raise Error(KINDS.get(done.returncode, "internal"), why["message"], *place)


def run_json(command, operands, options=None, is_report=False):
    return json.loads(run(command, operands, {**(options or {}), "json": True}, is_report))


def expand(inputs, output=None, **options) -> None:
    """Write every symmetric image of every row: `symaug expand`.

    inputs: a path, or several; output: the new shard, or None with out_dir=. Nothing is returned.
    """
    _write("expand", inputs, output, options)


def dedupe(inputs, output=None, **options) -> None:
    """Make rows that are one position up to symmetry one row: `symaug dedupe`."""
    _write("dedupe", inputs, output, options)


def split(inputs, out_dir, parts: str | dict[str, float], **options) -> None:
    """Split shards by position, or by game with by=ARRAY: `symaug split`.

    parts: "train=0.9,val=0.1", or a dict of shares.
    """
    if isinstance(parts, dict):
        parts = ",".join(f"{name}={share}" for name, share in parts.items())
    _write("split", inputs, None, {**options, "out_dir": out_dir, "parts": parts})


def _write(command, inputs, output, options):
    if output is not None:
        options = {**options, "output": os.fspath(output)}
    run(command, _paths(inputs), options)


def verify(paths, **options) -> list[dict]:
    """What is wrong with datasets: `symaug verify`.

    Returns the findings of all files in order, the dicts of --json; [] when nothing is wrong. A
    file that cannot be read is a finding, too (code "container").
    """
    found = run_json("verify", _paths(paths), options, is_report=True)
    return [finding for file in found["files"] for finding in file["findings"]]


def overlap(*sets, **options) -> dict:
    """How many positions sets have in common: `symaug overlap`.

    sets: two or more paths of files or folders. Returns the dict of --json: "sets", "exact" and
    "symmetry", matrices of rows.
    """
    return run_json("overlap", [os.fspath(path) for path in sets], options)
