#!/usr/bin/python3
"""Forms in which systems store moves and planes, told by --role: lists of moves and coordinates,
planes of a history, bitboards. Images against numpy."""

import json
import os
import tempfile

import numpy as np

from golden import Tap, run, same_bits
from test_properties import described, expand_arrays

tap = Tap()
N = 5


def rng(seed):
    return np.random.default_rng(seed)


def checked(arrays, board, roles):
    """Expanded arrays, which verify and show accept."""
    options = [x for name, role in roles.items() for x in ("--role", f"{name}={role}")]
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        run("expand", "-q", "--board", board, *options, path, out)
        run("verify", "-q", out)
        assert run("show", "--board", board, *options, "--row", 1, path)[0]
    return expand_arrays(arrays, board, *options)


def planes(rows, cols):
    return rng(1).integers(0, 2, (N, 2, rows, cols)).astype("f4")


@tap.test("square:5", "hexagon:2", "rhombus:5")
def lists_of_moves(board):
    b = described(board)
    cells = np.flatnonzero(b["on_board"])
    moves = cells[rng(2).integers(0, len(cells), (N, 7))].astype("i2")
    moves[:, 5:] = -1
    arrays = {"states": planes(5, 5), "played": moves}
    out = checked(arrays, board, {"states": "planes", "played": f"action:layout={b['layouts'][0]['name']}"})
    for t in b["transforms"]:
        dst = np.array(t["dst"] + [-1])
        same_bits(out["played"][t["id"]], dst[moves].astype("i2"), t["name"])


@tap.test(*[(board, name, form) for board in ("square:9", "rhombus:9")
            for name, form in (("move_history", "list"), ("moves", "list"), ("visit_pairs", "pairs"),
                               ("visits", "pairs"), ("xy", "places"), ("last_places", "places"))])  # fmt: skip
def lists_that_are_not_told(board, name, form):
    """They are not copied as they stand: what is offered moves them."""
    size = 9
    cells = rng(3).integers(0, size * size, (N, 12))
    array = {"list": cells, "pairs": np.stack([cells, cells % 50 + 1], 2),
             "places": np.stack(np.divmod(cells, size), 2)}[form].astype("i4")  # fmt: skip
    array[1, 9:] = 0 if form == "pairs" else -1
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, states=planes(size, size), **{name: array})
        said = run("expand", "--board", board, path, out, code=65)[1]
        assert not os.path.exists(out)
        role = {"list": "action", "pairs": "action:pairs", "places": "coord"}[form]
        assert said.rstrip().endswith(f"--role {name}={role}"), said
        run("expand", "-q", "--board", board, path, out, "--role", f"{name}={role}")
        made = np.load(out)
        for t in described(board)["transforms"]:
            dst, wanted = np.array(t["dst"]), array.copy()
            here = array[..., 0] >= 0 if form != "list" else array >= 0
            here[1, 9:] = False
            moved = dst[cells[here]]
            if form == "places":
                wanted[here] = np.stack(np.divmod(moved, size), 1)
            else:
                (wanted if form == "list" else wanted[..., 0])[here] = moved
            same_bits(made[name][made["symaug_transform"] == t["id"]], wanted, t["name"])


@tap.test("square:5", "hexagon:2", "chess")
def pairs_of_moves_and_counts(board):
    """(index, count), padded with zeros; an index 0 that counts is moved."""
    b = described(board)
    layout = b["layouts"][0]["name"]
    allowed = np.flatnonzero(b["on_board"]) if board != "chess" else np.arange(1814)
    pairs = np.zeros((N, 8, 2), "i4")
    pairs[:, :5, 0] = allowed[rng(6).integers(0, len(allowed), (N, 5))]
    pairs[:, :5, 1] = rng(7).integers(1, 99, (N, 5))
    pairs[1, 2] = allowed[0], 3
    pairs[2, 4] = -1, 0
    rows, cols = b["rows"], b["cols"]
    roles = {"states": "planes", "visits": f"action:layout={layout},pairs"}
    arrays = {"states": planes(rows, cols), "visits": pairs}
    if board == "chess":
        out = expand_arrays(arrays, board, "--castling-planes", "none", "--role", f"visits={roles['visits']}")
        text = run("boards", "chess", "--action", pairs[0, 0, 0])[0].split("chess-1814: ")[1]
        assert out["visits"][1, 0, 0, 0] == int(text.splitlines()[2].split()[2]), text
        same_bits(out["visits"][1][..., 1], pairs[..., 1], "counts")
        return
    out = checked(arrays, board, roles)
    for t in b["transforms"]:
        dst = np.array(t["dst"] + [-1])
        expected = pairs.copy()
        expected[:, :5, 0] = dst[pairs[:, :5, 0]]
        same_bits(out["visits"][t["id"]], expected, t["name"])


@tap.test()
def moves_that_have_been_made():
    """They stand on stones in the order of the planes, and seem upside down there: no matter."""
    states, moves = np.zeros((200, 2, 5, 5), "f4"), np.zeros((200, 4), "i2")
    for row in range(200): # stones in the upper half, where the moves are
        played = rng(row).permutation(15)[:6]
        states[row].reshape(2, 25)[np.arange(6) % 2, played] = 1
        moves[row] = played[:4]
    out = expand_arrays({"states": states, "played": moves}, "square:5", "--role", "played=action:layout=cells")
    dst = np.array(described("square:5")["transforms"][1]["dst"])
    same_bits(out["played"][1], dst[moves].astype("i2"), "rotate-90")


@tap.test("rowcol", "colrow")
def lists_of_coordinates(order):
    cells = rng(3).integers(0, 25, (N, 4))
    places = np.stack((cells // 5, cells % 5), -1).astype("i4")
    places[:, 3] = -1
    stored = places if order == "rowcol" else places[..., ::-1]
    out = checked({"states": planes(5, 5), "where": stored}, "square:5", {"where": f"coord:{order}"})
    for t in described("square:5")["transforms"]:
        to = np.array(t["dst"])[cells]
        expected = np.stack((to // 5, to % 5), -1).astype("i4")
        expected[:, 3] = -1
        same_bits(out["where"][t["id"]], expected if order == "rowcol" else expected[..., ::-1], t["name"])


@tap.test()
def planes_of_a_history():
    states = rng(4).random((N, 3, 2, 5, 5)).astype("f4")
    out = checked({"states": states}, "square:5", {"states": "planes"})
    for t in described("square:5")["transforms"]:
        expected = states.reshape(N, 6, 25)[:, :, np.argsort(t["dst"])].reshape(states.shape)
        same_bits(out["states"][t["id"]], expected, t["name"])


def bits(boards):
    """Bit i is cell i."""
    return (boards[..., None] >> np.arange(64, dtype="u8") & np.uint64(1)).astype(bool)


def words(cells):
    return (cells.astype("u8") << np.arange(64, dtype="u8")).sum(-1, dtype="u8")


@tap.test(*[(board, shape) for board in ("square:8", "rhombus:8", "chess", "breakthrough:8x8")
            for shape in ((N,), (N, 2), (N, 3, 2))])  # fmt: skip
def bitboards(board, shape):
    """Integers of 64 bits, a cell each, from the lowest; where colours are swapped, of two planes."""
    b = described(board)
    swaps = any(t["swaps_colours"] for t in b["transforms"])
    if swaps and shape != (N, 2):
        return
    boards = rng(5).integers(0, 2**63, shape, dtype="u8") << np.uint64(1)
    boards[..., :1] |= np.uint64(1) << np.uint64(63)
    options = ["--castling-planes", "none"] if board == "chess" else []
    out = expand_arrays({"bb": boards}, board, "--role", "bb=packed", *options)
    for t in b["transforms"]:
        expected = words(bits(boards)[..., np.argsort(t["dst"])])
        if t["swaps_colours"]:
            expected = expected[:, ::-1]
        same_bits(out["bb"][t["id"]], expected, t["name"])


@tap.test()
def what_does_not_fit():
    """Bitboards are not guessed, and are refused where bits do not fill their integers or come from the top."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, bb=np.zeros((N, 2), "u8"))
        run("expand", "-q", "--board", "square:8", path, out, code=65)
        for board, role in (("square:5", "packed"), ("square:8", "packed:msb")):
            message = run("expand", "-q", "--board", board, "--role", f"bb={role}", path, out, code=65)[1]
            assert "bb" in message, message
        np.savez(path, bb=np.zeros((N, 2), ">u8"))
        run("expand", "-q", "--board", "square:8", "--role", "bb=packed", path, out, code=65)


if __name__ == "__main__":
    tap.main()
