#!/usr/bin/python3
"""manifest merge: one manifest, the same bytes for every way in which its parts were made; verify
and check work on it."""

import json
import os
import random
import shutil
import tempfile

from golden import Tap, run

tap = Tap()
N = 9
BOARD = ["--board", "square:5"]


class Shards:
    """A folder with N small shards in in/; `path` gives names in it."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(self.path("in"))
        self.inputs = [self.path(f"in/{i}.npz") for i in range(N)]
        for i, path in enumerate(self.inputs):
            run("sample", "-q", *BOARD, "--rows", 5 + i, "--seed", i + 1, path)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def expand(self, out, inputs, *options):
        run("expand", "-q", "-j1", *BOARD, "--out-dir", self.path(out), *options, *inputs)

    def merge(self, target, *operands):
        run("manifest", "merge", "-f", "-o", self.path(target), *map(self.path, operands))
        with open(self.path(target), "rb") as file:
            return file.read()


def outputs(folder):
    return sorted(x for x in os.listdir(folder) if x.endswith(".npz"))


@tap.test(1, 2, 4, N, N + 3)
def test_parts(n):
    """--part I/N in any order, cut off and begun again: the bytes of a run in one piece."""
    shuffle = random.Random(n).shuffle
    with Shards() as shards:
        shards.expand("whole", shards.inputs)
        expected = shards.merge("whole/MANIFEST.json", "whole")
        parts = list(range(1, n + 1))
        shuffle(parts)
        for part in parts[: n // 2]:  # then the power fails, and a file is half there
            shards.expand("out", shards.inputs, "--part", f"{part}/{n}")
        for lost in outputs(shards.path("out"))[:1] if n > 1 else []:
            os.remove(shards.path(f"out/{lost}.manifest.json"))
            run("manifest", "merge", "-o", shards.path("x.json"), shards.path("out"), code=65)
            os.remove(shards.path(f"out/{lost}"))
        for part in parts:
            shards.expand("out", shards.inputs, "--part", f"{part}/{n}", "--skip-existing")
        assert shards.merge("out/MANIFEST.json", "out") == expected
        names = [f"out/{x}.manifest.json" for x in outputs(shards.path("out"))]
        shuffle(names)
        assert shards.merge("out/MANIFEST.json", *names) == expected
        assert shards.merge("out/MANIFEST.json", *names, "out/MANIFEST.json", "out") == expected


@tap.test()
def test_content():
    with Shards() as shards:
        shards.expand("out", shards.inputs)
        merged = json.loads(shards.merge("out/MANIFEST.json", "out"))
        assert list(merged) == sorted(merged)
        parts = []
        for path in sorted(shards.inputs):
            with open(shards.path(f"out/{os.path.basename(path)}.manifest.json")) as file:
                parts.append(json.load(file))
        for key in ("inputs", "outputs"):
            assert merged[key] == [part[key][0] for part in parts], key
        for key in ("board", "codec", "options", "tool", "transforms", "format_version"):
            assert merged[key] == parts[0][key], key
        for key in parts[0]["counts"]:
            assert merged["counts"][key] == sum(part["counts"][key] for part in parts), key


@tap.test()
def test_verify():
    """Every output is looked at, from whatever folder, and what is wrong is told of it."""
    with Shards() as shards:
        for i in range(3):
            shards.expand(f"p{i}", shards.inputs[i::3])
        shards.merge("all.json", "p2", "p0", "p1")
        here = os.getcwd()
        for folder, name in ((shards.folder.name, "all.json"), (shards.path("p0"), "../all.json"),
                             (here, shards.path("all.json"))):
            os.chdir(folder)
            try:
                for command in (["verify"], ["manifest", "check"]):
                    said = json.loads(relative_run(here, *command, "--json", name)[0])
                    assert said["ok"] and len(said["files"]) == N + 1, said
            finally:
                os.chdir(here)
        # other bytes of the same size, so that nothing but the digest tells
        with open(shards.path("p1/4.npz"), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read()
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last[0] ^ 1]))
        os.remove(shards.path("p2/5.npz"))
        said = json.loads(run("verify", "--json", shards.path("all.json"), code=1)[0])
        wrong = {os.path.basename(x["path"]): x["counts"] for x in said["files"] if x["findings"]}
        assert wrong == {"4.npz": {"manifest": 1}, "all.json": {"manifest": 1}}, wrong


def relative_run(root, *arguments):
    import golden
    golden.SYMAUG = os.path.join(root, golden.SYMAUG)
    return run(*arguments)


@tap.test()
def test_moved():
    """A folder with its joined manifest can be carried elsewhere."""
    with Shards() as shards:
        shards.expand("out", shards.inputs)
        expected = shards.merge("out/MANIFEST.json", "out")
        shutil.move(shards.path("out"), shards.path("elsewhere"))
        run("verify", "-q", shards.path("elsewhere/MANIFEST.json"))
        assert shards.merge("elsewhere/MANIFEST.json", "elsewhere") == expected


@tap.test()
def test_two_steps():
    """Joined manifests can be joined again: by folder first, then all."""
    with Shards() as shards:
        for i in range(3):
            shards.expand(f"p{i}", shards.inputs[i::3])
            shards.merge(f"p{i}/MANIFEST.json", f"p{i}")
        steps = shards.merge("steps.json", *(f"p{i}/MANIFEST.json" for i in (1, 0, 2)))
        assert steps == shards.merge("once.json", "p0", "p1", "p2")


@tap.test()
def test_cut_run():
    """--rows-per-shard: its outputs are joined; one that is missing is noticed."""
    if "--rows-per-shard" not in run("expand", "--help")[0]:
        return
    with Shards() as shards:
        os.mkdir(shards.path("out"))
        run("expand", "-q", *BOARD, "--rows-per-shard", 128, "-o", shards.path("out/o.npz"),
            *shards.inputs)
        merged = json.loads(shards.merge("MANIFEST.json", "out"))
        rows = sum(5 + i for i in range(N))
        assert merged["counts"]["rows_in"] == rows and merged["counts"]["rows_out"] == 8 * rows
        assert len(merged["inputs"]) == N and len(merged["outputs"]) > 2
        run("verify", "-q", shards.path("MANIFEST.json"))
        for lost in (0, 1, -1):
            name = outputs(shards.path("out"))[lost]
            for suffix in ("", ".manifest.json"):
                os.rename(shards.path(f"out/{name}{suffix}"), shards.path(name + suffix))
            run("manifest", "merge", "-o", shards.path("x.json"), shards.path("out"), code=65)
            for suffix in ("", ".manifest.json"):
                os.rename(shards.path(name + suffix), shards.path(f"out/{name}{suffix}"))


if __name__ == "__main__":
    tap.main()
