"""The commands that the sweeps torment: small shards of every kind, written and read."""

import os
import zipfile

from fault import Command, data, symaug

SMALL = ["--transforms=0,1"]


def strip_comment(path):
    """Make an output an input again."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b""
    os.unlink(path + ".manifest.json")


def make_inputs(folder):
    """{name: path} of the inputs, made anew from fixed seeds."""
    made = {}
    for name, board, rows in (("hex8", "hex8", 12), ("hex13", "hex13", 8), ("go", "square:9", 40)):
        made[name] = os.path.join(folder, f"{name}.npz")
        code, _, errors = symaug("sample", "-q", "--board", board, "--rows", rows, made[name])
        assert code == 0, errors
    made["folder"] = os.path.join(folder, "go-folder")
    symaug("expand", "-q", "--format=npy-dir", "--no-provenance", "--transforms=0", "--board",
           "square:9", made["go"], made["folder"])  # fmt: skip
    os.unlink(made["folder"] + ".manifest.json")  # only its form is wanted
    made["expanded"] = os.path.join(folder, "hex8-all.npz")
    symaug("expand", "-q", *SMALL, made["hex8"], made["expanded"])
    # Large enough to be mapped.
    made["stored"] = os.path.join(folder, "stored.npz")
    symaug("expand", "-q", "--level=store", "--no-provenance", "--transforms=0", "--board",
           "square:9", made["go"], made["stored"])  # fmt: skip
    strip_comment(made["stored"])
    return made


def commands(folder):
    """{name: Command}, learnt."""
    made = make_inputs(folder)
    expand = ["expand", "-q", "-j1"]
    hexes = [*expand, "-f", "--board=hex13", "--value=mover"]
    listed = [
        (Command("expand objects", [*expand, made["hex8"], "{out}"], "o.npz"), None),
        (Command("expand -f", [*hexes, made["hex13"], "{out}"], "o.npz", True), SMALL),
        (Command("expand -j2 -f shuffled", ["expand", "-q", "-j2", "-f", "--shuffle", "--max-memory=1k",
                 "--board=square:9", made["go"], "{out}"], "o.npz", True), SMALL),
        (Command("expand katago", [*expand, "--sidecar", data("katago/writer_L8_in.npz"), "{out}"],
                 "o.npz"), None),
        (Command("expand to folder", [*expand, "-f", "--format=npy-dir", "--board=square:9",
                 made["go"], "{out}"], "o", True), SMALL),
        (Command("expand from folder", [*expand, "--board=square:9", "--no-mmap", made["folder"],
                 "{out}"], "o.npz"), None),
        (Command("expand mapped", [*expand, "--board=square:9", made["stored"], "{out}"],
                 "o.npz"), None),
        (Command("verify mapped", ["verify", "-q", "-j1", made["stored"]]), None),
        (Command("info", ["info", "-q", "--json", made["hex8"]]), None),
        (Command("verify", ["verify", "-q", "-j1", made["expanded"]]), None),
        (Command("verify --json", ["verify", "-q", "-j2", "--json", made["go"]]), None),
        (Command("show", ["show", "--row=3", made["expanded"]]), None),
        (Command("show -o", ["show", "-f", "--board=hex13", "--row=3", "--value=mover", "-o",
                 "{out}", made["hex13"]], "o.svg", True), SMALL),
        (Command("sample", ["sample", "-q", "-f", "--board=hex8", "--rows=10", "{out}"], "o.npz",
                 True), ["--seed=7"]),
        (Command("dedupe", ["dedupe", "-q", "-j1", "-f", "--merge=mean", "--board=square:9",
                 made["stored"], "{out}"], "o.npz", True), ["--level=store"]),
        (Command("dedupe -j2 spilled", ["dedupe", "-q", "-j2", "--max-memory=1k", "--merge=mean",
                 made["expanded"], "{out}"], "o.npz"), None),
        (Command("split", ["split", "-q", "-j1", "--board=square:9", "--parts=part=1", "--out-dir",
                 "{folder}", made["stored"]], "stored.part.npz"), None),
        (Command("overlap", ["overlap", "-j2", "--json", "--max-memory=1k", made["hex8"],
                 made["expanded"]]), None),
        (Command("boards", ["boards", "--json", "hex8"]), None),
    ]  # fmt: skip
    return {command.name: command.learn(old) for command, old in listed}


NAMES = ["expand objects", "expand -f", "expand -j2 -f shuffled", "expand katago",
         "expand to folder", "expand from folder", "info", "verify", "verify --json", "show",
         "show -o", "sample", "dedupe", "dedupe -j2 spilled", "split", "overlap", "boards"]  # fmt: skip
WRITERS = [name for name in NAMES if name.startswith(("expand", "sample", "show -o", "dedupe", "split"))]
