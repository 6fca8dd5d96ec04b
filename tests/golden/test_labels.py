#!/usr/bin/python3
"""What a colour swap computes: codes, winners, values of every shape, against numpy."""

import json
import os
import shlex
import subprocess
import tempfile

import numpy as np

from golden import SYMAUG, Tap, data, load, run, same_bits

tap = Tap()
N, ROWS = 5, 6
CELLS = N * N


def hex_shard(**arrays):
    """A shard of Hex with a 0/1 to-move plane, and the arrays."""
    random = np.random.default_rng(11)
    boards = np.zeros((ROWS, 3, N, N), np.float32)
    policy = np.zeros((ROWS, CELLS), np.float32)
    for row in range(ROWS):
        order = random.permutation(CELLS)
        for ply in range(row):
            boards[row, ply % 2].flat[order[ply]] = 1
        boards[row, 2] = row % 2
        policy[row, order[row:]] = 1 / (CELLS - row)
    return {"boards": boards, "policy": policy, **arrays}


def swapped(arrays, name, *options):
    """The array's rows under transform 2, or the message of a refusal."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        args = ["expand", "-b", f"rhombus:{N}", *options, path, out]
        try:
            _, err = run(*args)
        except AssertionError as refused:
            assert "exit 65" in str(refused), refused
            assert not os.path.exists(out)
            return str(refused)
        swapped.warnings = err
        arrays = load(out)
        np.savez(path, **{key: np.asfortranarray(array) for key, array in arrays.items()})
        for expanded_set in out, path:
            found = subprocess.run([SYMAUG, "verify", "-b", f"rhombus:{N}", *options, expanded_set],
                                   capture_output=True, text=True).stdout
            for word in "orbit-", "not-flipped", "not-swapped":
                assert word not in found, f"verify: {found}"
        return arrays[name][arrays["symaug_transform"] == 2]


def exchange(a, b):
    return lambda v: np.where(v == a, np.asarray(b, v.dtype),
                              np.where(v == b, np.asarray(a, v.dtype), v))


def exchange_columns(v):
    return v[:, [1, 0, *range(2, v.shape[1])]]


def column(values, dtype):
    return np.array(values, dtype)


def grid(codes, dtype):
    random = np.random.default_rng(5)
    boards = random.choice(codes, (ROWS, N, N)).astype(dtype)
    boards.reshape(ROWS, -1)[:, : len(codes)] = codes
    return boards


WDL = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.5, 0.25], [0, 0, 0], [0.5, 0, 0.5]])
TWO = np.array([[1, 0], [0, 1], [0.5, 0.5], [0.75, 0.25], [0, 0], [0.125, 0.875]])

# name, data, other arrays, options, what becomes of it (or words of the refusal)
CASES = [
    ("codes", grid([0, 1, 2], "i1"), {}, ["--role=codes=grid", "--to-move=pm1"], exchange(1, 2)),
    ("codes", grid([0, 1, 2], "<f4"), {}, ["--role=codes=grid", "--to-move=pm1"], exchange(1, 2)),
    ("codes", grid([0, 1, 2], ">i2"), {}, ["--role=codes=grid", "--to-move=01"], exchange(1, 2)),
    ("codes", grid([0, 1, 2], "u1"), {}, ["--role=codes=grid"], exchange(1, 2)),
    ("codes", grid([-1, 0, 1], "i1"), {}, ["--role=codes=grid"], np.negative),
    ("codes", grid([-1, 0, 1], "<i4"), {}, ["--role=codes=grid", "--to-move=12"], np.negative),
    ("codes", grid([0, 1], "i1"), {}, ["--role=codes=grid"], ["--to-move 12", "--to-move", "pm1"]),
    ("codes", grid([0, 1], "i1"), {}, ["--role=codes=grid", "--to-move=pm1"], np.negative),
    ("codes", grid([0, 1], "i1"), {}, ["--role=codes=grid", "--to-move=12"], exchange(1, 2)),
    ("codes", grid([0, 1, 3], "i1"), {}, ["--role=codes=grid"], ["codes from 0 to 3"]),
    ("codes", grid([-1, 0, 2], "i1"), {}, ["--role=codes=grid"], ["codes from -1 to 2"]),

    # the winner follows the player to move
    ("winner", column([0, 1, -1, 1, 0, -1], "i1"), {"to_play": column([0, 1] * 3, "i1")}, [],
     exchange(0, 1)),
    ("winners", column([0, 1, -1, 1, 0, -1], "<f4"), {"turn": column([0, 1] * 3, "u1")}, [],
     exchange(0, 1)),
    ("winner", column([0, 1, 2, 1, 0, 2], "u1"), {"player": column([0, 1] * 3, "i8")}, [],
     exchange(0, 1)),
    ("winner", column([0, 1, 2, 1, 0, 2], ">i4"), {}, ["--to-move=01"], exchange(0, 1)),
    ("winner", column([0, 1, 0, 1, 0, 1], "i1"), {}, [], exchange(0, 1)),
    ("winner", column([1, 2, 2, 1, 1, 2], "i1"), {}, [], exchange(1, 2)),
    ("winner", column([1, -1, -1, 1, 1, -1], "i1"), {}, [], np.negative),
    ("winner", column([0, 1, 2, 1, 0, 2], "i1"), {}, ["--to-move=12"], exchange(1, 2)),
    ("winner", column([0, 1, -1, 1, 0, -1], "<i2"), {"turn": column([1, -1] * 3, "i1")},
     ["--to-move=pm1"], np.negative),
    ("winner", column([0, 1, 2, 1, 0, 2], "i1"), {"turn": column([1, 2] * 3, "i1")},
     ["--to-move=12"], exchange(1, 2)),
    ("winner", column([0, 1, -1, 1, 0, -1], "i1"), {}, [], ["winner", "--to-move 01, 12 or pm1"]),
    ("winner", column([0, 1, 2, 1, 0, 2], "i1"), {}, [], ["winner", "--to-move 01, 12 or pm1"]),
    ("winner", column([1, 2, 2, 1, 1, 2], "i1"), {"turn": column([0, 1] * 3, "i1")}, [],
     ["winner", "codes 1 2", "--to-move"]),
    ("winner", column([1, -1, -1, 1, 1, -1], "i1"), {"turn": column([0, 1] * 3, "i1")}, [],
     ["winner", "codes -1 1", "--to-move"]),
    ("winner", column([0, 1, 2, 1, 0, 3], "i1"), {}, [], ["winner", "row 5", "3"]),
    ("winner", column([0, 1, 2, 1, 0, 1], "i1"), {"turn": column([1, -1] * 3, "i1")},
     ["--to-move=pm1"], ["winner", "row 2", "2"]),

    # values
    ("values_mp", np.arange(18.0).reshape(6, 3), {}, [], exchange_columns),
    ("values_mp", np.arange(24, dtype="<f4").reshape(6, 4), {}, ["--value=colour01"],
     exchange_columns),
    ("q", np.arange(18, dtype="<f2").reshape(6, 3), {}, ["--role=q=value:players"],
     exchange_columns),
    ("values_mp", np.arange(24, dtype="<f4").reshape(6, 4), {}, ["--value=mover"],
     exchange_columns),
    ("q", TWO.astype("<f4"), {}, ["--value=mover", "--role=q=value:players"], exchange_columns),
    ("q", TWO.astype("<f4"), {}, ["--value=mover", "--role=q=value"], lambda v: v),
    ("value", WDL.astype("<f4"), {}, [], lambda v: v[:, ::-1]),
    ("value", WDL.astype("<f8"), {}, ["--value=colour-wdl"], lambda v: v[:, ::-1]),
    ("wdl", np.array([[3, 0, 9], [1, 1, 0]] * 3, "<i4"), {}, [], lambda v: v[:, ::-1]),
    ("wdl", WDL.astype("<f4"), {}, ["--value=mover"], lambda v: v),
    ("value", WDL.astype("<f4"), {}, ["--value=colour01"], ["value", "3 columns", "wdl"]),
    ("value", WDL.astype("<f4"), {}, ["--value=colour11"], ["value", "3 columns", "wdl"]),
    ("z", WDL - 0.5, {}, [], ["z", "row 0", "sum"]),
    ("wdl", WDL * 2, {}, [], ["wdl", "row 0", "sum 2"]),
    ("r", WDL, {}, ["--role=r=value"], ["r: 3 columns", "NAME=wdl"]),
    ("value", TWO.astype("<f4"), {}, [], exchange_columns),
    ("value", TWO.astype("<f4"), {}, ["--value=colour01"], exchange_columns),
    ("value", np.stack([TWO[:, 0], -TWO[:, 0]], 1), {}, ["--value=colour11"], exchange_columns),
    ("value", np.stack([TWO[:, 0], -TWO[:, 0]], 1), {}, [], ["value", "row 0", "colour11"]),
    ("value", np.stack([TWO[:, 0], TWO[:, 0]], 1), {}, [], ["value", "row 0", "sum"]),
    ("value", TWO, {}, ["--value=colour11"], ["value", "row 0", "opposite"]),
    ("v", np.stack([TWO[:, 0], TWO[:, 0] * 7], 1), {}, [], ["v", "row 0: 7"]),
    ("value", np.array([0, 1, 0.25, 1, 0, 0.5], "<f4"), {}, [], lambda v: 1 - v),
    ("value", np.array([-1, 1, 0.25, 1, 0, 0.5], "<f4"), {}, ["--value=colour11"],
     lambda v: np.where(v == 0, v, -v)),
]


@tap.test(*range(len(CASES)))
def test_swap(case):
    """One array under a transform that swaps colours: as numpy has it, or refused by name."""
    name, array, others, options, expected = CASES[case]
    found = swapped(hex_shard(**others, **{name: array}), name, *options)
    if not callable(expected):
        assert isinstance(found, str), f"{name} {options}: accepted: {found}"
        for word in expected:
            assert word in found, f"{word!r} not in {found}"
        return
    assert not isinstance(found, str), found
    wanted = expected(array).astype(array.dtype)
    if array.ndim == 3:
        wanted = wanted.transpose(0, 2, 1)
    same_bits(found, wanted, f"{name} {options}")


@tap.test()
def test_colour11_of_01():
    """Nothing negative under --value colour11 is said aloud."""
    swapped(hex_shard(value=np.array([0, 1, 1, 0, 1, 0], "<f4")), "value", "--value=colour11")
    assert "no value is negative" in swapped.warnings, swapped.warnings
    swapped(hex_shard(value=np.array([0, 1, -1, 0, 1, 0], "<f4")), "value", "--value=colour11")
    assert "negative" not in swapped.warnings, swapped.warnings


@tap.test("-1 last", "-1 first", "2", "both")
def test_codings_of_a_call(which):
    """With --out-dir the codings are decided by all inputs, not by each alone."""
    one, minus, two = np.array([0, 1] * 3, "i1"), np.array([-1, 0, 1] * 2, "i1"), None
    two = np.array([0, 1, 2] * 2, "i1")
    parts = {"-1 last": [one, minus], "-1 first": [minus, one], "2": [one, two],
             "both": [minus, two]}[which]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for i, part in enumerate(parts):
            paths.append(os.path.join(folder, f"in{i}.npz"))
            cells = np.broadcast_to(part[:, None], (6, CELLS)).reshape(6, N, N).copy()
            np.savez(paths[-1], **hex_shard(codes=cells))
        out = os.path.join(folder, "out")
        args = ["expand", "-q", "-b", f"rhombus:{N}", "--transforms=2", "--role=codes=grid",
                "--out-dir", out, *paths]
        if which == "both":
            _, err = run(*args, code=65)
            assert "codes" in err, err
            return
        run(*args)
        change = np.negative if which != "2" else exchange(1, 2)
        for i, part in enumerate(parts):
            found = load(os.path.join(out, f"in{i}.npz"))["codes"]
            same_bits(found[:, 0, 0], change(part), f"{which} {i}")


@tap.test()
def test_dry_run():
    """--dry-run says what becomes of every label."""
    arrays = hex_shard(winner=column([0, 1, -1] * 2, "i1"), turn=column([0, 1] * 3, "i1"),
                       codes=grid([0, 1, 2], "i1"), wdl=WDL, value=TWO[:, 0])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays)
        out, _ = run("expand", "-n", "-b", f"rhombus:{N}", "--role=codes=grid", path, path + ".o")
    for words in ("winner", "0 and 1 exchanged"), ("turn", "1 - v"), ("wdl", "columns reversed"), \
                 ("codes", "1 and 2 exchanged"), ("value", "1 - v"):
        assert any(all(word in line for word in words) for line in out.splitlines()), (words, out)



def expanded(arrays, *options, code=0):
    """(standard output and error of) expanding the arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays)
        out, err = run("expand", *options, path, path + ".o.npz", code=code)
    return out + err


@tap.test("values_mp", "value")
def test_kept_before(name):
    """A manifest that says that a player's values were kept does not make that right."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **hex_shard(**{name: TWO.astype("<f4")}))
        options = ["-b", f"rhombus:{N}", "--value=mover"]
        run("expand", *options, "--role=values_mp=copy" if name == "values_mp" else "--progress=never",
            path, out)
        with open(out + ".manifest.json") as manifest:
            text = manifest.read()
        run("verify", out)
        text = text.replace('"role": "copy"', '"role": "value:players", "swap": "kept"')
        with open(out + ".manifest.json", "w") as manifest:
            manifest.write(text)
        said, _ = run("verify", out, code=1 if name == "values_mp" else 0)
        assert ("values_mp" in said) == (name == "values_mp"), said


@tap.test("colour", "mover", "1,0,~2")
def test_packed_to_move(planes):
    """A plane of bits that says whose turn it is stays as it is: refused, and what is offered works."""
    arrays = hex_shard()
    bits = arrays["boards"].astype("u1").reshape(ROWS, 3, CELLS)
    arrays["boards"] = np.packbits(bits, axis=2)
    options = ["-b", f"rhombus:{N}", "--role=boards=packed", "--planes", planes]
    refused = expanded(arrays, *options, code=65)
    assert "write it as numbers, or use --transforms" in refused, refused
    expanded(arrays, *options, "--transforms=0,1")
    for other in ["--orbit-key", "--transforms=0,1"], ["--canonical"]:
        refused = expanded(arrays, *options, *other, code=65)
        assert "write it as numbers" in refused and "use --transforms" not in refused, refused


GO = {"state": np.zeros((ROWS, 2, 9, 9)), "policy": np.ones((ROWS, 81))}


@tap.test(("--castling=skip", "go9"), ("--castling-planes=none", "go9"), ("--tiles=keep", "go9"),
          ("--planes=mover", "go9"), ("--value=mover", "go9"), ("--to-move=pm1", "go9"),
          ("--ambiguous=map", "go9"), ("--castling=skip", "rhombus:5"),
          ("--tiles=permute", "rhombus:5"), ("--plane-order=yx", "takeiteasy"))
def test_meaningless_option(option, board):
    """An option that changes nothing on the board is said; it may be the wrong board."""
    arrays = hex_shard() if board[0] == "r" else GO
    if board[0] == "t":
        arrays = {"plateau": np.zeros((ROWS, 19), np.int64), "position": np.zeros(ROWS, np.int64)}
    said = f"{option.split('=')[0]} means nothing on board"
    assert said in expanded(arrays, "-b", board, option), option
    assert said not in expanded(arrays, "-b", board)


@tap.test("all", "0")
def test_castling_plane_that_is_missing(transforms):
    """Also where no image needs it, rows are searched for castling rights."""
    arrays = {"planes": np.zeros((ROWS, 5, 8, 8), np.float32)}
    refused = expanded(arrays, "-b", "chess", "--castling-planes=0,1,2,60000",
                       f"--transforms={transforms}", code=65)
    assert "castling plane 60000, expected below 5" in refused, refused


@tap.test()
def test_options_that_mean_something():
    for option in "--planes=colour", "--value=mover", "--to-move=01", "--plane-order=yx":
        assert "means nothing" not in expanded(hex_shard(), "-b", "rhombus:5", option), option


@tap.test()
def test_planes_said_twice():
    """A board file's maps of planes and --planes: one of the two."""
    arrays = {"state": np.zeros((4, 4, 5, 5)), "policy": np.ones((4, 25))}
    board = "tests/data/boards/bridges.json"
    err = expanded(arrays, "-b", "file:" + board, "--planes=0,1,2,3", code=64)
    assert "--planes 0,1,2,3" in err and "bridges" in err, err


@tap.test("<i8", "<i2", "<f4")
def test_tile_codes(dtype):
    """Ids of tiles, and floats, are no codes whose numbers can be permuted."""
    plateau = np.zeros((5, 19), dtype)
    plateau[3:, 4] = 17
    options = ["-b", "takeiteasy", "--tiles=permute", "--role=plateau=grid"]
    arrays = {"plateau": plateau, "position": np.zeros(5, np.int64)}
    err = expanded(arrays, *options, code=65)
    assert ("<f4, expected integers" if dtype == "<f4" else "tile code 17, expected 0 or") in err, err
    assert "plateau" in err, err
    plateau[3:, 4] = 967
    if dtype != "<f4":
        expanded(arrays, *options)


@tap.test("last_move", "move", "policy", "pi_indices")
def test_off_board(name):
    """Places in the corners of a hexagon's box are told, with the first row."""
    cells = np.zeros((ROWS, 2), np.int16) + 4
    cells[3:5] = 0
    cells[5] = -1
    arrays = {"state": np.zeros((ROWS, 2, 9, 9)), name: cells}
    options = ["-b", "hexagon:4"] + (["--role=move=action:layout=cells-box"] if name == "move" else [])
    if name == "move":
        arrays[name] = np.where(cells[:, 0] < 0, -1, cells[:, 0] * 9 + cells[:, 1])
    if name in ("policy", "pi_indices"):
        del arrays[name]
        at = np.where(cells[:, 0] < 0, 40, cells[:, 0] * 9 + cells[:, 1])
        arrays |= {"policy": np.eye(81, dtype="f4")[at]} if name == "policy" else {
            "pi_indices": at[:, None], "pi_values": np.ones((ROWS, 1))}
    err = expanded(arrays, *options)
    assert f"{name}: 2 rows " in err and " a place that is not on the board" in err, err
    assert "first row 3" in err, err



@tap.test("msb", "lsb")
def test_pad_bits(order):
    """Bits behind the last cell of packed planes are written as 0, by transform 0 too, with a word."""
    little = "little" if order == "lsb" else "big"
    planes = np.random.default_rng(3).integers(0, 2, (ROWS, 2, 81), np.uint8)
    clean = np.packbits(planes, -1, little)
    stored = clean.copy()
    stored[2:, 1, -1] |= 0x80 if order == "lsb" else 1
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, bits=stored)
        _, err = run("expand", "-b", "go9", "--transforms=0", f"--role=bits=packed:{order}", path, out)
        assert "bits: 4 rows have pad bits set, which are written as 0" in err, err
        same_bits(load(out)["bits"], clean, "bits")


@tap.test(*[(codes, dtype) for codes in ((2, 0, 1), (1, 0, 2), (-1, 0, 1), (1, -1, 0), (0, 1, 2), (0, -1, 1))
            for dtype in ("i1", ">i2", "<f2")])
def test_code_of_empty(codes, dtype):
    """Grids in which another code than 0 is the empty cells: exchanging 1 and 2 would move the empty."""
    shard = hex_shard()
    stones = shard.pop("boards")
    grid = np.full((ROWS, N, N), codes[0], dtype)
    for colour in 0, 1:
        grid[stones[:, colour] == 1] = codes[1 + colour]
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        for rows in ROWS, 1:
            np.savez(path, board=grid[-rows:], policy=shard["policy"][-rows:])
            _, err = run("expand", "-f", "-b", f"rhombus:{N}", path, out, code=65 if codes[0] else 0)
            if codes[0]:
                assert f"board: row 0: code {codes[0]} " in err and "empty" in err, err
                run("expand", "-f", "-b", f"rhombus:{N}", "--transforms=0,1", path, out)
            else:
                images = load(out)
                swapped = images["board"][images["symaug_transform"] == 2]
                wanted = exchange(codes[1], codes[2])(grid[-rows:]).swapaxes(1, 2)
                assert np.array_equal(swapped, wanted), "codes"


@tap.test((0, 1, 2), (0, 1, -1))
def test_codes_of_mover(*codes):
    """Grids whose codes are relative to the mover, without --planes mover: a warning."""
    shard = hex_shard()
    boards = shard.pop("boards")
    counts = boards[:, :2].sum((2, 3))
    assert (counts[:, 0] != counts[:, 1]).any()
    for relative in False, True:
        grid = np.zeros((ROWS, N, N), np.int8)
        for row in range(ROWS):
            swap = relative and counts[row, 0] > counts[row, 1]
            for colour in 0, 1:
                grid[row][boards[row, colour] == 1] = codes[1 + (colour ^ swap)]
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
            np.savez(path, board=grid, policy=shard["policy"])
            _, err = run("expand", "-b", f"rhombus:{N}", path, out)
            assert ("if 1 is the player to move, use --planes mover" in err) == relative, (relative, err)
            _, err = run("expand", "-f", "-b", f"rhombus:{N}", "--planes", "mover", path, out)
            assert "use --planes" not in err, err
            # Beside players, blue first, codes that give red one stone more on his turn are the mover's.
            players = (counts[:, 0] > counts[:, 1]).astype(np.int8)
            np.savez(path, board=grid, policy=shard["policy"], player=players)
            _, err = run("expand", "-f", "-b", f"rhombus:{N}", path, out, code=65 if relative else 0)
            assert ("board: " in err and "--planes mover explains" in err) == relative, (relative, err)
            run("expand", "-f", "-b", f"rhombus:{N}", "--planes", "mover", path, out)
            swapped = load(out)
            swapped = swapped["board"][swapped["symaug_transform"] == 2]
            same_bits(swapped, np.ascontiguousarray(grid.swapaxes(1, 2)), "codes of the mover")


@tap.test("msb", "lsb", "u8")
def test_castling_in_bits(order):
    """Rights that stand in packed planes are seen: counted, and their rows skipped when told."""
    source = load(data("seeds/chess1814_in.npz"))
    rights = source["states"][:, 12:16].any((1, 2, 3))
    bits = np.packbits(source["states"].reshape(len(rights), 25, 64) != 0, -1, "big" if order == "msb" else "little")
    source["states"] = bits.view("<u8")[:, :, 0] if order == "u8" else bits
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **source)
        run("expand", "-b", "chess", f"--role=states=packed:{order.replace('u8', 'lsb')}", "--castling=skip",
            path, out)
        run("verify", out)
        images = load(out)
        with open(out + ".manifest.json") as file:
            assert json.load(file)["counts"]["castling_rows"] == rights.sum()
    mirrored = images["symaug_source"][images["symaug_transform"] == 1]
    assert sorted(mirrored) == np.flatnonzero(~rights).tolist(), mirrored


@tap.test()
def test_pad_bits_of_several():
    """Of every packed array."""
    bits = np.packbits(np.zeros((ROWS, 1, 81), np.uint8), -1)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, a=bits, b=bits | 1)
        _, err = run("expand", "-b", "go9", "--role=a=packed", "--role=b=packed", path, out)
    assert f"b: {ROWS} rows have pad bits set" in err and "a: " not in err, err


@tap.test(("side", (0, 1), ""), ("stm", (1, 2), " --to-move 12"), ("turn_of", (1, -1), " --to-move pm1"))
def test_offered_coding(name, codes, flags):
    """The command that is offered for players in codes of their own is right as it is pasted."""
    arrays = hex_shard()
    rows = len(next(iter(arrays.values())))
    arrays[name] = np.array(codes, "<i4")[np.arange(rows) % 2]
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        _, err = run("expand", "-b", "rhombus:5", path, out, code=65)
        command = shlex.split(err.split("; use: ")[1])
        assert err.rstrip().endswith(f"--role {name}=to-move{flags}"), err
        run(*command[1:])
        images = load(out)
        order = np.asarray(arrays[name])[images["symaug_source"]]
        other = np.where(order == codes[0], codes[1], codes[0])
        swapped = images["symaug_transform"] >= 2
        assert np.array_equal(images[name], np.where(swapped, other, order))


@tap.test()
def test_nothing_is_left_for_later():
    """What would be refused once the offered roles were given stands in the same message."""
    arrays = hex_shard()
    name = next(key for key in arrays if arrays[key].ndim == 4)
    rows = len(arrays[name])
    blue = np.zeros((rows, 2, 5, 5), np.float32)
    blue[:, 0, 0, 0] = blue[:, 1, 1, 1] = 1
    arrays[name] = np.concatenate([blue, 1 - blue.sum(1, keepdims=True)], 1)
    arrays["target"] = np.linspace(0, 1, rows)
    err = expanded(arrays, "-b", "rhombus:5", code=65)
    for word in "target", f"; then {name}: row 0", "--planes 1,0,2", "; use: symaug expand":
        assert word in err, err


BITS = np.random.default_rng(2).integers(1, 1 << 62, (60, 2), np.uint64)
STEPS = np.arange(60)
# board, arrays that are not known, and the role that each is offered
OFFERED = [
    ("go9", {"position_bits": BITS}, "drop"), ("go9", {"positions": BITS[:, 0]}, "drop"),
    ("othello", {"boards": BITS}, "drop"), ("othello", {"boards": BITS[:, :1].astype("i8")}, "drop"),
    ("othello", {"best": BITS % 8}, "coord"), ("othello", {"best": BITS[:, 0] % 64}, "action"),
    ("othello", {"best": STEPS * 64}, "drop"), ("othello", {"best": STEPS[:, None] + [0, 1]}, "drop"),
    ("go9", {"owner": np.sin(STEPS)[:, None] * np.ones((60, 81), "f4")}, "action-values"),
    ("go9", {"prior": np.full((60, 81), 1 / 81)}, "policy"),
    ("rhombus:5", {"win": STEPS % 3}, "drop"), ("rhombus:5", {"win": STEPS // 30}, "value"),
    ("rhombus:5", {"win": STEPS % 2}, "drop"),  # of the player to move: a swap keeps it
    ("rhombus:5", {"q": np.stack([STEPS, -STEPS], 1) / 60}, "drop"),
    ("rhombus:5", {"target_weight": STEPS % 7 / 7}, "drop"),
    ("rhombus:5", {"id": np.array(["black", "white"] * 30)}, "drop"),
    ("rhombus:5", {"side_of": STEPS % 2 + 3}, "drop"),
    ("rhombus:5", {"owner": np.sin(STEPS)[:, None] * np.ones((60, 25), "f4")}, "drop"),
    ("rhombus:5", {"owner": np.full((60, 25), 0.5, ">f4")}, "drop"),
    ("rhombus:5", {"prior": np.full((60, 25), 0.04, "<f4")}, "policy"),
    ("rhombus:5", {"free": (STEPS[:, None] + np.arange(25)) % 2 == 0}, "drop"),
    ("rhombus:5", {"free": ((STEPS[:, None] + np.arange(25)) % 2).astype("u1")}, "drop"),
    ("rhombus:5", {"cells": ((STEPS[:, None] + np.arange(25)) % 3).astype("u1")}, "grid"),
    ("rhombus:5", {"cells": (STEPS[:, None] + np.arange(25)) % 13}, "drop"),
    ("rhombus:5", {"heat": np.ones((60, 2, 5, 5), "f2")}, "drop"),
    ("rhombus:5", {"a": STEPS % 3, "side": STEPS % 2, "b": BITS}, "drop to-move drop"),
]


@tap.test(*range(len(OFFERED)))
def test_offered_role(case):
    """Roles are offered that the numbers speak for; what may change its colour is left out, never copied."""
    board, unknown, wanted = OFFERED[case]
    side = {"go9": 9, "othello": 8, "rhombus:5": 5}[board]
    planes = np.zeros((60, 3, side, side), "f4")
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        known = {} if "boards" in unknown else {"features": planes}
        np.savez(path, policy=np.zeros((60, side * side), "f4"), **known, **unknown)
        _, err = run("expand", "-b", board, path, out, code=65)
        command = shlex.split(err.split("; use: ")[1])
        told = dict(word.split("=", 1) for word in command if "=" in word)
        assert told == dict(zip(unknown, wanted.split())), err
        assert wanted != "drop" or board != "rhombus:5" or "may change it" in err or "number" in err, err
        run(*command[1:])
        if "to-move" not in wanted and "coord" not in wanted and "action" not in wanted.split():
            run("verify", "-b", board, out)


@tap.test()
def test_refused_in_turn():
    """What an offered role does not survive is left out; the command then runs."""
    arrays = hex_shard()
    stones = arrays.pop("boards")[:, :2]
    arrays["img"] = np.concatenate([stones, 1 - stones.sum(1, keepdims=True)], 1)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        _, err = run("expand", "-b", "rhombus:5", path, out, code=65)
        assert "--role img=drop" in err, err
        run(*shlex.split(err.split("; use: ")[1])[1:])


if __name__ == "__main__":
    tap.main()
