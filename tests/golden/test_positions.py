#!/usr/bin/python3
"""Keys of positions and canonical images against positions.py, board by board."""

import json
import os
import tempfile

import numpy as np

import maps
from golden import Tap, data, load, run, same_bits
from positions import Part, Positions, from_table

tap = Tap()


def rng_of(name):
    return np.random.default_rng(list(name.encode()))


def sparse(rng, shape, dtype, density=0.3, top=2):
    values = rng.integers(1, top, shape) * (rng.random(shape) < density)
    return values.astype(dtype)


def symmetric_rows(rows, move, transforms):
    """Make some rows symmetric, some empty, some images of others: ties and equal keys."""
    rows = rows.copy()
    rows[0] = 0
    for i, t in enumerate(transforms):
        if 3 + 2 * i < len(rows):
            rows[2 + 2 * i + 1] = move(t, rows[2 + 2 * i : 3 + 2 * i])[0]
    both = np.maximum(rows[1:2], move(transforms[-1], rows[1:2]))
    rows[1] = both[0]
    return rows


def cells_part(name, board, rows, axis=2, plane_swap=None, turn=None, pm1=False):
    """Planes (N,C,cells): moved by cells, planes exchanged when colours swap."""
    move_cells = from_table(axis, board.dst)

    def move(t, rows):
        moved = move_cells(t, rows)
        if not board.swaps[t]:
            return moved
        moved = moved.copy()
        if plane_swap:
            moved[:, list(plane_swap)] = moved[:, list(plane_swap)[::-1]]
        if turn is not None:
            moved[:, turn] = -moved[:, turn] if pm1 else (1 - moved[:, turn].astype(int)).astype(rows.dtype)
        return moved

    kept = np.broadcast_to(board.on_board, rows.shape[1:]).reshape(-1) if axis == 2 else \
        np.broadcast_to(board.on_board[:, None], rows.shape[1:]).reshape(-1)
    part = Part(name, rows, move, kept)
    if axis == 2 and len(board.shape) == 2:
        part.shape = (rows.shape[1], *board.shape)
    elif axis == 1:
        part.shape = (*board.shape, rows.shape[2])
    return part


def hexagon_case(rng, dtype="<f4", planes=3):
    board = maps.hexagon("hexagon:4", 4)
    rows = sparse(rng, (40, planes, 81), dtype, top=3)
    rows = symmetric_rows(rows, lambda t, r: from_table(2, board.dst)(t, r), range(12))
    part = cells_part("features", board, rows)
    return "hex8", "hexagon:4", board, [part], {"features": rows.reshape(40, planes, 9, 9)}, []


def rhombus_case(rng, coding="01", dtype="<f4"):
    board = maps.rhombus("rhombus:13", 13)
    rows = np.zeros((30, 3, 169), dtype)
    to_move = rng.integers(0, 2, 30)
    for i in range(30):
        cells = rng.permutation(169)
        k = int(rng.integers(0, 60))
        rows[i, 0, cells[: k + to_move[i]]] = 1
        rows[i, 1, cells[k + to_move[i] : 2 * k + to_move[i]]] = 1
    options = []
    if coding == "pm1":
        rows[:, 2] = (1 - 2 * to_move)[:, None]
        options = ["--to-move", "pm1"]
        turns = (1 - 2 * to_move).astype("|i1")
    else:
        rows[:, 2] = to_move[:, None]
        turns = to_move.astype("<i8")
    part = cells_part("states", board, rows, plane_swap=(0, 1), turn=2, pm1=coding == "pm1")
    flip = (lambda t, r: -r if board.swaps[t] else r) if coding == "pm1" else (
        lambda t, r: 1 - r if board.swaps[t] else r)
    arrays = {"states": rows.reshape(30, 3, 13, 13), "to_move": turns,
              "value": rng.random(30).astype("<f4")}
    return "hex13", "rhombus:13", board, [part, Part("to_move", turns, flip)], arrays, options


def square_case(rng, name, n, planes, dtype, last=False):
    board = maps.square(f"square:{n}", n)
    rows = sparse(rng, (40, planes, n * n), dtype)
    rows = symmetric_rows(rows, lambda t, r: from_table(2, board.dst)(t, r), range(8))
    if last:
        rows = np.ascontiguousarray(rows.transpose(0, 2, 1))
        part = cells_part("states", board, rows, axis=1)
        arrays = {"states": rows.reshape(40, n, n, planes)}
    else:
        part = cells_part("states", board, rows)
        arrays = {"states": rows.reshape(40, planes, n, n)}
    return name, f"square:{n}", board, [part], arrays, []


def odd_floats_case(rng, dtype):
    """Negative zeros, NaNs and infinities, in either byte order."""
    case = square_case(rng, "tictactoe", 3, 2, dtype)
    rows = case[4]["states"]
    rows[::3] = np.where(rows[::3] == 0, np.array(-0.0, rows.dtype), rows[::3])
    rows[::5, 0, 0, 1] = np.nan
    rows[::7, 1, 2, 2] = -np.inf
    case[3][0].rows = rows.reshape(40, 2, 9)
    return case


def connect4_case(rng):
    board = maps.mirror("mirror:6x7", 6, 7)
    rows = sparse(rng, (40, 3, 42), "|b1", 0.4)
    rows = symmetric_rows(rows, lambda t, r: from_table(2, board.dst)(t, r), range(2))
    return ("connect4", "mirror:6x7", board, [cells_part("planes", board, rows)],
            {"planes": rows.reshape(40, 3, 6, 7)}, [])


def chess_case(rng):
    board = maps.chess("chess")
    rows = sparse(rng, (40, 25, 64), "<f2", 0.1)
    order = np.arange(25)
    order[[12, 13, 14, 15]] = [13, 12, 15, 14]
    move_cells = from_table(2, board.dst)
    part = Part("planes", rows, lambda t, r: move_cells(t, r)[:, order] if t else r, shape=(25, 8, 8))
    return "chess", "chess", board, [part], {"planes": rows.reshape(40, 25, 8, 8)}, []


def takeiteasy_case(rng, permute):
    board = maps.takeiteasy("takeiteasy")
    deck = np.array([100 * a + 10 * b + c for a in (1, 5, 9) for b in (2, 6, 7) for c in (3, 4, 8)] + [0] * 9)
    codes = rng.choice(deck, (40, 19)).astype("<i2")
    codes[0] = 0
    tiles = rng.integers(1, 10, (40, 3)).astype("<i4")
    src = board.tile_src
    moved = from_table(1, board.dst)

    def move(t, rows):
        rows = moved(t, rows)
        if not permute:
            return rows
        d = np.stack([rows // 100, rows // 10 % 10, rows % 10])
        return (100 * d[src[t][0]] + 10 * d[src[t][1]] + d[src[t][2]]).astype(rows.dtype)

    parts = [Part("plateau", codes, move),
             Part("tile", tiles, (lambda t, r: r[:, src[t]]) if permute else None)]
    if not permute:
        board.chosen = [0, 3]
    return ("takeiteasy", "takeiteasy", board, parts, {"plateau": codes, "tile": tiles},
            ["--tiles", "permute"] if permute else [])


def packed_case(rng):
    arrays = load(data("katago/raw9_64_in.npz"))
    board = maps.square("katago:9", 9)
    rows = arrays["binaryInputNCHWPacked"]
    move_cells = from_table(2, board.dst)

    def move(t, rows):
        bits = np.unpackbits(rows, axis=2)[:, :, :81]
        return np.packbits(move_cells(t, bits), axis=2)

    return "katago", "katago:9", board, [Part("binaryInputNCHWPacked", rows, move)], arrays, []


def packed_lsb_case(rng):
    """Packed planes with the first cell in the lowest bit; pad bits count as 0."""
    board = maps.square("square:5", 5)
    bits = sparse(rng, (40, 3, 25), np.uint8, 0.4)
    rows = np.packbits(bits, axis=2, bitorder="little")
    dirty = rows.copy()
    dirty[:, :, 3] |= 0xFE
    move_cells = from_table(2, board.dst)
    part = Part("packed", rows, lambda t, r: np.packbits(
        move_cells(t, np.unpackbits(r, axis=2, bitorder="little")[:, :, :25]), axis=2,
        bitorder="little"))  # fmt: skip
    return "square:5", "square:5", board, [part], {"packed": dirty}, ["--role", "packed=packed:lsb"]


def grid_case(rng, codes):
    """A grid of codes on a board whose colours swap."""
    board = maps.rhombus("rhombus:5", 5)
    rows = rng.integers(0, 3, (40, 25))
    rows[0] = 0
    values = rows if codes == "12" else np.where(rows == 2, -1, rows)
    values = values.astype("|i1")
    moved = from_table(1, board.dst)

    def move(t, rows):
        rows = moved(t, rows)
        if not board.swaps[t]:
            return rows
        return -rows if codes == "pm1" else np.array([0, 2, 1], "|i1")[rows]

    part = Part("board", values, move, shape=(5, 5))
    return "rhombus:5", "rhombus:5", board, [part], {"board": values.reshape(40, 5, 5)}, []


CASES = {
    "hex8": hexagon_case,
    "hex8 big-endian": lambda rng: hexagon_case(rng, ">f4"),
    "hex8 bytes": lambda rng: hexagon_case(rng, "|u1", 5),
    "hex13": rhombus_case,
    "hex13 pm1": lambda rng: rhombus_case(rng, "pm1"),
    "hex13 integers": lambda rng: rhombus_case(rng, "01", "|u1"),
    "gomoku15": lambda rng: square_case(rng, "gomoku15", 15, 2, "|u1"),
    "go9 halves": lambda rng: square_case(rng, "go9", 9, 17, "<f2"),
    "go9 channels last": lambda rng: square_case(rng, "go9", 9, 4, ">i4", True),
    "tictactoe": lambda rng: square_case(rng, "tictactoe", 3, 2, "<f8"),
    "odd floats": lambda rng: odd_floats_case(rng, "<f4"),
    "odd floats big": lambda rng: odd_floats_case(rng, ">f8"),
    "odd halves": lambda rng: odd_floats_case(rng, "<f2"),
    "connect4": connect4_case,
    "chess": chess_case,
    "takeiteasy": lambda rng: takeiteasy_case(rng, False),
    "takeiteasy permute": lambda rng: takeiteasy_case(rng, True),
    "katago": packed_case,
    "packed lsb": packed_lsb_case,
    "grid 012": lambda rng: grid_case(rng, "12"),
    "grid pm1": lambda rng: grid_case(rng, "pm1"),
}


def expected_of(case):
    _, name, board, parts, _, _ = case
    return Positions(name, parts, getattr(board, "chosen", list(range(board.n_transforms))))


@tap.test(*CASES)
def test_key(name):
    """--orbit-key of every image and --canonical are what the definition says."""
    case = CASES[name](rng_of(name))
    preset, _, _, _, arrays, options = case
    expected = expected_of(case)
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **arrays)
        plain = ["expand", "-q", "-f", "--board", preset, *options]
        if preset == "katago":
            run(*plain, "--canonical", source, out)
            same_bits(load(out)["binaryInputNCHWPacked"],
                      canonical_rows(case, expected), "canonical planes")
            run(*plain, "--orbit-key", source, os.path.join(folder, "no.npz"), code=64)
            return
        run(*plain, "--orbit-key", source, out)
        found = load(out)
        same_bits(found["symaug_orbit"], expected.words[found["symaug_source"]], "keys")
        for order in [], ["--order=transform"]:
            run(*plain, "--canonical", "--orbit-key", *order, source, out)
            found = load(out)
            assert list(found["symaug_source"]) == list(range(len(expected.hex))), order
        assert list(found["symaug_transform"]) == expected.canonical, "canonical images"
        same_bits(found["symaug_orbit"], expected.words, "keys of canonical images")
        if "odd" not in name:
            codes = json.loads(run("verify", "--json", "--board", preset, *options, out, code=None)[0])
            codes = {code for code in codes["files"][0]["counts"] if code.startswith(("orbit", "colours"))}
            assert not codes, codes


def canonical_rows(case, expected):
    part = case[3][0]
    return np.stack([part.move(t, part.rows[i : i + 1])[0] for i, t in enumerate(expected.canonical)])


@tap.test()
def test_key_names():
    """--key: other arrays, some planes; what cannot be."""
    rng = rng_of("names")
    board = maps.square("square:5", 5)
    planes = sparse(rng, (30, 6, 25), "|u1", 0.4)
    marks = rng.integers(0, 2, (30, 7)).astype("<i4")
    move = from_table(2, board.dst)
    arrays = {"planes": planes.reshape(30, 6, 5, 5), "marks": marks,
              "policy": rng.random((30, 26)).astype("<f4")}
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, **arrays)

        def keys(names, code=0):
            run("expand", "-q", "-f", "--board=square:5", "--transforms=0", "--orbit-key", "--copy",
                "marks", "--key", names, source, out, code=code)
            return load(out)["symaug_orbit"] if code == 0 else None

        part = Part("planes", planes, move, shape=(6, 5, 5))
        same_bits(keys("planes"), Positions("square:5", [part], range(8)).words, "planes")
        both = [part, Part("marks", marks)]
        same_bits(keys("planes,marks"), Positions("square:5", both, range(8)).words, "both")
        some = Part("planes", planes[:, 1:4], move, shape=(3, 5, 5))
        same_bits(keys("planes:1-3"), Positions("square:5", [some], range(8)).words, "range")
        one = Part("planes", planes[:, 5:], move, shape=(1, 5, 5))
        same_bits(keys("planes:5,marks"), Positions("square:5", [one, both[1]], range(8)).words, "one")
        dst = [np.append(d, 25) for d in board.dst]
        policy = Part("policy", arrays["policy"], from_table(1, dst))
        same_bits(keys("policy"), Positions("square:5", [policy], range(8)).words, "policy")
        for wrong in ("nothing", "planes:9", "planes:3-1", "planes:x", "planes,none"):
            keys(wrong, 64)


@tap.test()
def test_history():
    """`info` says that planes may hold a history, where there are many."""
    with tempfile.TemporaryDirectory() as folder:
        for n, said in ((56, True), (3, False)):
            source = os.path.join(folder, f"{n}.npz")
            np.savez(source, features=np.zeros((2, n, 9, 9), "f4"), board_type="hex8")
            assert ("--key features:FIRST-LAST" in run("info", source)[0]) == said


@tap.test()
def test_board_file():
    """A board from a file goes by its tables: wherever it is, however it is written."""
    rng = rng_of("file")
    rows = sparse(rng, (20, 2, 5, 5), "|u1", 0.4)
    with open("share/boards/alquerque.json", encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        source, found = os.path.join(folder, "in.npz"), []
        np.savez(source, planes=rows)
        for name, spaces in (("a", ""), ("b", "\n\n")):
            board, out = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".npz")
            with open(board, "w", encoding="utf-8") as file:
                file.write(text + spaces)
            run("expand", "-q", "--board", "file:" + board, "--orbit-key", source, out)
            found.append(load(out)["symaug_orbit"])
        same_bits(found[0], found[1], "keys")
        run("expand", "-q", "--board=square:5", "--orbit-key", source, os.path.join(folder, "c.npz"))
        other = load(os.path.join(folder, "c.npz"))["symaug_orbit"]
        assert len(np.unique(found[0], axis=0)) == len(np.unique(other, axis=0))
        assert not (found[0][:20] == other[:20]).any()


@tap.test()
def test_threads():
    """The same bytes for every number of threads."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.npz")
        run("sample", "-q", "--board=hex8", "--rows=700", source)
        digests = set()
        for threads in (1, 2, 3, 8):
            out = os.path.join(folder, f"{threads}.npz")
            run("expand", "-q", f"-j{threads}", "--canonical", "--orbit-key", source, out)
            with open(out, "rb") as file:
                digests.add(file.read())
        assert len(digests) == 1


@tap.test(
    ("--transforms=0",), ("--pick=2",), ("--unique",), ("--pick=2", "--keep-identity"),
    ("--castling=skip",), ("--ambiguous=drop",),
)  # fmt: skip
def test_excluded(*options):
    with tempfile.TemporaryDirectory() as folder:
        run("sample", "-q", "--board=hex8", "--rows=3", os.path.join(folder, "in.npz"))
        run("expand", "--canonical", *options, os.path.join(folder, "in.npz"),
            os.path.join(folder, "out.npz"), code=64)  # fmt: skip
        assert sorted(os.listdir(folder)) == ["in.npz", "in.npz.manifest.json"] or \
            os.listdir(folder) == ["in.npz"]


if __name__ == "__main__":
    tap.main()
