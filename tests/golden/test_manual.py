#!/usr/bin/python3
"""The manual says what the program does: options, words, boards, roles, functions, codes."""

import glob
import json
import re
import subprocess

import manual
from golden import Tap, data, load
from manual import PAGES

tap = Tap()
COMMANDS = manual.commands()


def same(found, expected, what):
    found, expected = set(found), set(expected)
    assert found == expected, (
        f"{what}: missing {sorted(expected - found)}, too many {sorted(found - expected)}"
    )


@tap.test(*[page.split("/")[1] for page in PAGES])
def test_lint(page):
    done = subprocess.run(["mandoc", "-Tlint", "-W", "warning", f"man/{page}"],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "", done.stdout or done.stderr


@tap.test()
def test_a_page_for_each_command():
    pages = re.findall(r"man/symaug-(\w+)\.1", " ".join(PAGES))
    same(pages, [*COMMANDS, "convert"], "pages")
    listed = re.findall(r"^\.It Cm (\w+)$", manual.source("symaug.1"), re.M)
    same(listed, COMMANDS, "commands in symaug(1)")


@tap.test(*COMMANDS)
def test_options(command):
    page = f"symaug-{command}.1"
    expected, found = manual.options(command), manual.described_options(page)
    same(found, expected, page)
    for name, form in expected.items():
        assert found[name] == form, f"{page}: --{name}: {found[name]}, expected {form}"


@tap.test()
def test_mentioned_options():
    """No page speaks of an option that does not exist."""
    known = {name for command in COMMANDS for name in manual.options(command)}
    foreign = {"array", "wrap", "cflags", "libs",  # of sbatch and pkg-config
               "like"}  # of symaug-convert
    for page in PAGES:
        text = manual.source(page.split("/")[1])
        told = set(re.findall(r"Fl -([a-z][a-z-]+)", text)) | set(re.findall(r" --([a-z-]+)", text))
        assert told - foreign <= known, f"{page}: {sorted(told - foreign - known)}"


@tap.test()
def test_references():
    for page in PAGES:
        for name, section in re.findall(r"^\.Xr (symaug\S*) (\d)", manual.source(page[4:]), re.M):
            assert manual.exists(name, section), f"{page}: {name}({section}) does not exist"


@tap.test("order", "format", "planes", "value", "to-move", "ambiguous", "castling", "tiles",
          "progress", "plane-order", "level")
def test_words(option):
    """Every word an option accepts is in its item."""
    expected = {word for word in manual.option_words(option) if word not in ("B", "zlib", "1", "9")}
    found = manual.words("symaug-expand.1", rf"(?:Fl \w , )?Fl -{option} ")
    assert len(expected) >= 2 and expected <= found, f"{sorted(expected)}, page: {sorted(found)}"


@tap.test()
def test_roles():
    said = manual.run("info", "--role=x=?", "in", code=64)[1]
    expected = said.split("roles: ")[1].strip().split(", ")
    section = manual.source("symaug-npz.5").split(".Sh ROLES")[1].split("These names are known")[0]
    same(re.findall(r"^\.It Cm (\S+)$", section, re.M), expected, "roles in symaug-npz(5)")


@tap.test()
def test_known_names():
    """The names of arrays that decide a role (those that are merely copied need no mention)."""
    with open("src/shard/role.c", encoding="utf-8") as file:
        kinds = re.findall(r"\[ROLE_(\w+)\] =(.*?)(?=\[ROLE_|^};)", file.read(), re.M | re.S)
    lists = [re.search(r"\.names =\s*\{(.*?)\}\}", kind, re.S) for name, kind in kinds
             if name != "COPY"]
    words = [re.findall(r'"([^"]*)"', re.sub(r'"\s+"', "", found[1])) for found in lists if found]
    rules = [name for texts in words for text in texts for name in text.split()]
    page = manual.source("symaug-npz.5")
    katago = {"valueTargetsNCHW", "binaryInputNCHWPacked", "policyTargetsNCMove",
              "qValueTargetsNCMove"}
    missing = [name for name in rules if name not in katago and not re.search(rf"\b{name}\b", page)]
    assert len(rules) > 50 and not missing, f"{missing} of {len(rules)}"


@tap.test()
def test_boards():
    page = manual.source("symaug-board.5").split(".Sh FAMILIES AND PRESETS")[1].split(".Sh")[0]
    told = set(re.findall(r"^\.(?:It )?Cm ([a-z0-9:]+)\b", page, re.M))
    known = manual.boards()
    same(told, [x["name"] for x in known["families"] + known["presets"]], "boards")
    for preset in known["presets"]:
        board = manual.board(preset["name"])
        assert f"{preset['name']}" in page and board["name"] == preset["board"]


@tap.test(("square:5", "square, katago"), ("hexagon:2", "hexagon, takeiteasy"),
          ("rhombus:5", "rhombus"))
def test_transform_tables(name, heading):
    """The formulas of the page, evaluated."""
    text = manual.source("symaug-board.5").split(f".Ss {heading}\n")[1].split(".El")[0]
    rows = re.findall(r"(\d+) Ta (\S+) Ta (\([^)]*\))(?: Ta (exchanged)| Ta kept|, clockwise)?",
                      text.replace("\\-", "-"))
    board = manual.board(name)
    assert len(rows) == len(board["transforms"])
    side, middle = board["rows"], board["rows"] // 2
    hexagon = name.startswith("hexagon")
    for number, transform, formula, swaps in rows:
        expected = board["transforms"][int(number)]
        assert transform == expected["name"] and bool(swaps) == expected["swaps_colours"], transform
        for cell, on_board in enumerate(board["on_board"]):
            row, col = divmod(cell, side)
            if hexagon:
                q, r = eval(formula, {"q": col - middle, "r": row - middle})
                to = (r + middle) * side + q + middle
            else:
                r, c = eval(formula, {"r": row, "c": col, "n": side - 1})
                to = r * side + c
            if on_board:
                assert to == expected["dst"][cell], f"{transform}: cell {cell}"


@tap.test()
def test_katago_ids():
    """KataGo's numbering of the eight images against its own gather tables."""
    page = manual.source("symaug-board.5").replace("\n", " ")
    ids = re.search(r"numbers the same eight ([\d, ]+) \(its", page)[1]
    tables = load(data("katago/gather_tables.npz"))
    key = next(k for k in tables if tables[k].ndim == 2 and len(tables[k]) == 8)
    side = round(tables[key].shape[1] ** 0.5)
    board = manual.board(f"square:{side}")["transforms"]
    for ours, src in zip(ids.split(", "), tables[key]):
        dst = board[int(ours)]["dst"]
        assert [dst[i] for i in src] == list(range(side * side)), f"id {ours}"


@tap.test()
def test_layouts():
    page = manual.source("symaug-board.5").split(".Sh POLICY LAYOUTS")[1].split(".Sh")[0]
    told = set(re.findall(r"[a-z][a-z0-9+-]*[a-z0-9]|[+-][a-z]+", page))
    for name in ("hex8", "square8", "hex11", "connect4", "chess", "takeiteasy"):
        for layout in manual.board(name)["layouts"]:
            parts = re.findall(r"^(?:chess-\d+|[a-z]+(?:-[a-z]+)*)|[+-][a-z]+", layout["name"])
            missing = [part for part in parts if part not in told]
            assert not missing, f"{layout['name']}: {missing}"


@tap.test()
def test_findings():
    with open(glob.glob("src/*/findings.h")[0], encoding="utf-8") as file:
        codes = re.findall(r"\bcode\([\s\\]*\w+,[\s\\]*\"([a-z-]+)\"\)", file.read())
    section = manual.source("symaug-verify.1").split(".Sh FINDINGS")[1].split(".Sh")[0]
    assert len(codes) > 20
    same(re.findall(r"^\.It Cm (\S+)$", section, re.M), codes, "findings in symaug-verify(1)")


@tap.test()
def test_manifest_keys():
    with open("share/symaug/manifest.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    page = manual.source("symaug-manifest.5")
    same(re.findall(r"^\.It Va (\w+)$", page, re.M), schema["properties"], "symaug-manifest(5)")
    inner = [schema["properties"][k] for k in ("tool", "board")]
    inner += [schema["properties"][k]["items"] for k in ("inputs", "outputs", "transforms")]
    inner.append(schema["properties"]["outputs"]["items"]["properties"]["arrays"]["items"])
    for key in {key for part in inner for key in part["properties"]}:
        assert re.search(rf"^\.(?:Va|Pq Va) .*\b{key}\b", page, re.M), key


@tap.test()
def test_functions():
    with open("include/symaug.h", encoding="utf-8") as file:
        header = manual.prototypes(file.read())
    page = manual.synopsis("symaug.3")
    same(page, header, "symaug(3)")
    assert len(header) > 20
    for name, prototype in header.items():
        assert page[name] == prototype, f"{page[name]}, header: {prototype}"
    text = manual.source("symaug.3")
    named = re.findall(r"^\.Nm (symaug_\w+)", text, re.M)
    same(named, header, "NAME of symaug(3)")
    described = text.split(".Sh DESCRIPTION")[1]
    for name in header:
        assert f".Fn {name}" in described, f"{name} is not described"


@tap.test()
def test_exit_codes():
    with open("src/base/error.h", encoding="utf-8") as file:
        codes = re.findall(r"ERROR_\w+, +/\* (\d+):", file.read())
    listed = re.findall(r"^\.It (\d+)$", manual.source("symaug.1").split("EXIT STATUS")[1], re.M)
    same(listed, codes + ["0", "1"], "exit codes")


if __name__ == "__main__":
    tap.main()
