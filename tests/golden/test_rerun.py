#!/usr/bin/python3
"""What a manifest alone is good for: to check, show and repeat a run without a flag, and to name
what differs in another one."""

import json
import os
import shutil
import tempfile

import numpy as np

from golden import Tap, run

tap = Tap()
N, SIDE = 12, 5
CELLS = SIDE * SIDE


def hex_rows(seed, planes=(0, 1, 2)):
    """Rows of Hex on 5 x 5: planes (blue, red, to move) stored in that order, policies of cells."""
    rng = np.random.default_rng(seed)
    stones = rng.permuted(np.tile(np.arange(CELLS), (N, 1)), axis=1)
    boards = np.zeros((N, 3, SIDE, SIDE), np.float32)
    policy = np.zeros((N, CELLS), np.float32)
    for i in range(N):
        n = int(rng.integers(2, 12))
        for k in range(n):
            boards[i, k % 2].flat[stones[i, k]] = 1
        boards[i, 2] = n % 2
        policy[i, stones[i, n:n + 3]] = (0.5, 0.25, 0.25)
    return boards[:, list(planes)], policy


class Case:
    """An input of arrays in a folder, and the options with which it is expanded."""

    def __init__(self, name, arrays, options, change):
        self.name, self.arrays, self.options, self.change = name, arrays, options, change


def cases():
    boards, policy = hex_rows(1)
    side = np.tile(np.array([0, 1], np.int64), N // 2)
    square = {"a": boards, "b": policy, "n": side}
    yield Case("role", dict(square),
               ["--board", "square:5", "--role", "a=planes", "--role", "b=policy:layout=cells"],
               ["--role", "b=mask:layout=cells"])
    yield Case("role-option", {"a": boards, "b": policy, "at": np.tile([[0, 3]], (N, 1))},
               ["--board", "square:5", "--role", "a=planes", "--role", "b=policy", "--role",
                "at=coord:rowcol"], ["--role", "at=coord:colrow"])
    yield Case("copy", {"boards": boards, "policy": policy, "value": side.astype(np.float32)},
               ["--board", "rhombus:5", "--copy", "value"], ["--role", "value=value"])
    both = np.maximum(boards, boards.swapaxes(2, 3))  # right in both orders
    free = policy * (both[:, :2].sum(1).reshape(N, CELLS) == 0)
    free /= np.maximum(free.sum(1, keepdims=True), 0.125)
    yield Case("plane-order", {"boards": both[:, :1], "policy": free},
               ["--board", "square:5", "--plane-order", "xy"], ["--plane-order", "yx"])
    yield Case("planes", {"boards": hex_rows(2, (2, 0, 1))[0], "policy": hex_rows(2)[1]},
               ["--board", "rhombus:5", "--planes", "~0,2,1"], ["--planes", "0,2,1"])
    yield Case("value", {"boards": boards, "policy": policy, "z": side.astype(np.float32) * 2 - 1},
               ["--board", "rhombus:5", "--value", "mover"], ["--value", "colour11"])
    yield Case("schema", dict(square), ["--board", "square:5", "--schema", "SCHEMA"],
               ["--role", "b=copy"])
    yield Case("file-board", {"boards": boards, "policy": policy},
               ["--board", "file:BOARD"], ["--planes", "mover"])


def board_file(path, note):
    """The 5 x 5 square with its half turn alone."""
    with open(path, "w") as file:
        json.dump({"name": note, "rows": SIDE, "cols": SIDE, "transforms": [
            {"name": "turn", "dst": list(range(CELLS - 1, -1, -1))}]}, file)


class Folder:
    def __init__(self, case):
        self.case = case

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        np.savez(self.path("in.npz"), **self.case.arrays)
        board_file(self.path("BOARD"), "turning")
        with open(self.path("SCHEMA"), "w") as file:
            json.dump({"symaug_schema": 1, "arrays": {"a": "planes:nchw", "b": "policy"}}, file)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def options(self, *more):
        return [x.replace("BOARD", self.path("BOARD")) if x.startswith("file:") else
                self.path(x) if x == "SCHEMA" else x for x in [*self.case.options, *more]]

    def expand(self, *more, code=0, out="out.npz"):
        return run("expand", "-q", *self.options(*more), self.path("in.npz"), self.path(out),
                   code=code)

    def bytes(self, name="out.npz"):
        with open(self.path(name), "rb") as file:
            return file.read()


CASES = {case.name: case for case in cases()}


@tap.test(*CASES)
def test_no_flag_repeated(name):
    """verify, info and show take from the manifest what the run was told."""
    with Folder(CASES[name]) as f:
        f.expand()
        for operands in (["out.npz"], ["out.npz.manifest.json"]):
            said = json.loads(run("verify", "--json", *map(f.path, operands))[0])
            assert said["ok"] and not any(x["counts"] for x in said["files"]), said
        run("manifest", "check", f.path("out.npz.manifest.json"))
        manifest = json.loads(f.bytes("out.npz.manifest.json"))
        roles = {a["name"]: a["role"].split(":")[0] for a in manifest["outputs"][0]["arrays"]}
        shown = json.loads(run("info", "--json", f.path("out.npz"))[0])["files"][0]
        assert shown["board"] == manifest["board"]["name"], shown
        assert {a["name"]: a["role"] for a in shown["arrays"] if "symaug" not in a["name"]} == \
            {n: r for n, r in roles.items() if r != "provenance"}, shown
        out, err = run("show", "--row", "3", "--color", "never", f.path("out.npz"))
        assert "row 3" in out, (out, err)


@tap.test(*CASES)
def test_what_differs(name):
    """--skip-existing: the same is left alone; what differs is named, and with -f made anew."""
    case = CASES[name]
    with Folder(case) as f:
        f.expand()
        before = f.bytes()
        _, err = f.expand("--skip-existing", "-v")
        assert "is up to date" in err, err
        os.utime(f.path("out.npz"), (1, 1))
        if name == "file-board":
            board_file(f.path("BOARD"), "turning")  # the same board, told with other bytes
            with open(f.path("BOARD"), "a") as file:
                file.write("\n")
            change = []
        else:
            change = case.change
        _, err = f.expand("--skip-existing", *change, code=1)
        assert "out.npz" in err and "expected" in err and "found" in err, err
        assert f.bytes() == before and os.stat(f.path("out.npz")).st_mtime == 1
        f.expand("--skip-existing", "-f", *change)
        assert os.stat(f.path("out.npz")).st_mtime != 1
        f.expand("--skip-existing", *change)


@tap.test(*CASES)
def test_merge_refuses(name):
    """Parts that were made with other roles, conventions or board files are not joined."""
    case = CASES[name]
    with Folder(case) as f:
        f.expand(out="a.npz")
        np.savez(f.path("in.npz"), **{k: v[::-1] for k, v in case.arrays.items()})
        shutil.copy(f.path("in.npz"), f.path("other.npz"))
        parts = [f.path("a.npz.manifest.json"), f.path("b.npz.manifest.json")]
        if name == "file-board":
            with open(f.path("BOARD"), "a") as file:
                file.write("\n")
            run("expand", "-q", *f.options(), f.path("other.npz"), f.path("b.npz"))
        else:
            run("expand", "-q", *f.options(*case.change), f.path("other.npz"), f.path("b.npz"))
        _, err = run("manifest", "merge", "-o", f.path("m.json"), *parts, code=65)
        assert "b.npz" in err and "expected" in err and "found" in err, err
        run("expand", "-q", "-f", *f.options(), f.path("other.npz"), f.path("b.npz"))
        if name == "file-board":
            f.expand("-f", out="a.npz")
            return
        run("manifest", "merge", "-o", f.path("m.json"), *parts)
        run("verify", "-q", f.path("m.json"))


@tap.test(("--shuffle",), ("--pick", "2"), ("--pick", "2", "--keep-identity", "--shuffle"))
def test_merge_of_folder(*options):
    """--out-dir mixes the seed with each name; the manifest tells the user's."""
    with Folder(CASES["plane-order"]) as f:
        shutil.copy(f.path("in.npz"), f.path("two.npz"))
        with np.load(f.path("in.npz")) as loaded:
            np.savez(f.path("two.npz"), **{k: v[::-1] for k, v in loaded.items()})
        for out, seed in (("out", 7), ("other", 8)):
            run("expand", "-q", *f.options(*options), "--seed", seed, "--out-dir", f.path(out),
                f.path("in.npz"), f.path("two.npz"))
        run("manifest", "merge", "-o", f.path("out/MANIFEST.json"), f.path("out"))
        merged = json.loads(f.bytes("out/MANIFEST.json"))
        assert merged["options"]["seed"] == "7" and merged["options"]["seed-per-name"] == "yes"
        run("verify", "-q", f.path("out/MANIFEST.json"))
        _, err = run("manifest", "merge", "-o", f.path("x.json"),
                     f.path("out/in.npz.manifest.json"), f.path("other/two.npz.manifest.json"),
                     code=65)
        assert "seed" in err and "'7'" in err and "'8'" in err, err


@tap.test("pm1", "12")
def test_codings_of_all(coding):
    """Codings that all inputs decide together are known again where one file does not show them."""
    boards, policy = hex_rows(3)
    shows = np.resize({"pm1": [1, -1, 0], "12": [2, 1, 0]}[coding], N).astype(np.int8)
    with Folder(CASES["planes"]) as f:
        blue = boards[:, 2, 0, 0] == 0
        to_play = np.where(blue, 1, -1 if coding == "pm1" else 2).astype(np.int8)
        for name, winner in (("a", shows), ("b", np.ones_like(shows))):
            np.savez(f.path(f"{name}.npz"), boards=boards, policy=policy, to_play=to_play,
                     winner=winner)
        run("expand", "-q", "--board", "rhombus:5", "--to-move", coding, "--out-dir",
            f.path("out"), f.path("a.npz"), f.path("b.npz"))
        manifest = json.loads(f.bytes("out/b.npz.manifest.json"))
        swaps = {a["name"]: a.get("swap") for a in manifest["outputs"][0]["arrays"]}
        assert swaps["winner"] == swaps["to_play"] != "kept", swaps
        run("manifest", "merge", "-o", f.path("m.json"), f.path("out"))
        said = json.loads(run("verify", "--json", f.path("m.json"))[0])
        assert said["ok"], said


@tap.test()
def test_others_are_done():
    """An output that differs, or is no output, does not stop the rest."""
    with Folder(CASES["plane-order"]) as f:
        names = ["a.npz", "b.npz", "c.npz", "d.npz"]
        for i, name in enumerate(names):
            arrays = CASES["plane-order"].arrays
            np.savez(f.path(name), **{k: np.roll(v, i, 0) for k, v in arrays.items()})
        common = [*f.options(), "--out-dir", f.path("out"), *map(f.path, names)]
        run("expand", "-q", *f.options(), "--out-dir", f.path("out"), f.path("a.npz"),
            f.path("b.npz"))
        np.savez(f.path("a.npz"), **CASES["plane-order"].arrays, more=np.arange(N))
        shutil.copy(f.path("c.npz"), f.path("out/c.npz"))
        _, err = run("expand", "--skip-existing", *common, code=1)
        assert "out/a.npz: " in err and "out/c.npz" in err and "out/b.npz" not in err, err
        assert "2 of 4" in err, err
        assert os.path.exists(f.path("out/d.npz.manifest.json"))
        run("expand", "-q", "-f", "--skip-existing", *common)
        run("expand", "-q", "--skip-existing", *common)
        # An input that cannot be read is passed over with --skip-bad, and counted.
        with open(f.path("b.npz"), "wb") as file:
            file.write(b"PK")
        shutil.rmtree(f.path("out"))
        _, err = run("expand", "--skip-bad", *common, code=1)
        assert "1 of 4" in err, err
        assert sorted(os.listdir(f.path("out"))) == sorted(
            f"{n}.npz{s}" for n in "acd" for s in ("", ".manifest.json"))


@tap.test()
def test_version_1():
    """Manifests of the first form are read: what they tell is used, what they leave out is not."""
    with Folder(CASES["value"]) as f:
        f.expand()
        manifest = json.loads(f.bytes("out.npz.manifest.json"))
        manifest["format_version"] = 1
        manifest["options"].update({k: v["meaning"] for k, v in manifest["conventions"].items()
                                    if k in ("planes", "value", "to-move")})
        manifest["conventions"] = {}
        for output in manifest["outputs"]:
            for array in output["arrays"]:
                array["role"] = array["role"].split(":")[0]
        with open(f.path("out.npz.manifest.json"), "w") as file:
            json.dump(manifest, file)
        run("verify", "-q", f.path("out.npz.manifest.json"))
        _, err = f.expand("--skip-existing", code=1)
        assert "format" in err, err
        run("manifest", "merge", "-o", f.path("m.json"), f.path("out.npz.manifest.json"))


@tap.test()
def test_without_manifest():
    """The zip comment names the board; a manifest of other bytes says nothing."""
    with Folder(CASES["copy"]) as f:
        f.expand()
        os.rename(f.path("out.npz.manifest.json"), f.path("m.json"))
        said = json.loads(run("info", "--json", f.path("out.npz"))[0])["files"][0]
        assert said["board"] == "rhombus:5" and said["board_from"], said
        shutil.copy(f.path("in.npz"), f.path("out2.npz"))
        shutil.copy(f.path("m.json"), f.path("out2.npz.manifest.json"))
        said = json.loads(run("info", "--json", f.path("out2.npz"))[0])["files"][0]
        assert "board" not in said or said["board_from"] == "guessed from shapes", said


if __name__ == "__main__":
    tap.main()
