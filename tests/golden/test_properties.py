#!/usr/bin/python3
"""What must hold of any expansion: group laws on real rows, and that labels go with positions."""

import json
import os
import tempfile

import numpy as np

from golden import Tap, expand, run, same_bits

tap = Tap()


def expand_arrays(arrays, board, *options):
    """Expand arrays in transform order; returns name -> [transform][row]."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays)
        out = expand(path, "--board", board, "--order", "transform", *options)
    n = len(next(iter(arrays.values())))
    return {key: array.reshape(-1, n, *array.shape[1:]) for key, array in out.items()}


def described(board):
    return json.loads(run("boards", "--json", board)[0])


# --- group laws ---


def random_rows(board, n_rows=3):
    """A little of every kind of array that the board has."""
    rng = np.random.default_rng(7)
    n = board["cells"]
    shape = (board["rows"], board["cols"]) if board["rows"] else (n,)
    n_planes = {"chess": 25, "file:bridges-4": 4}.get(board["name"], 3)
    layout = board["layouts"][0]
    rows = {
        "features": rng.random((n_rows, n_planes, *shape)).astype("<f4"),
        "policy": rng.random((n_rows, layout["length"])).astype("<f4"),
        "move": rng.integers(-1, layout["length"], n_rows),
        "values": rng.integers(0, 2, n_rows).astype("<f8"),
        "player": rng.integers(0, 2, n_rows).astype("<i4"),
    }
    if any(t["swaps_colours"] for t in board["transforms"]):
        rows["features"] = rng.integers(0, 2, rows["features"].shape).astype("<f4")
        rows["features"][:, 2] = rng.integers(0, 2, (n_rows,) + (1,) * len(shape))
    if board["rows"]:
        cells = rng.integers(0, n, n_rows)
        rows["last_move"] = np.stack([cells // shape[1], cells % shape[1]], 1)
    if board["name"] == "takeiteasy":
        a, b, c = rng.integers(1, 10, (3, n_rows, 19))
        rows["plateau"] = (100 * a + 10 * b + c) * rng.integers(0, 2, a.shape)
        rows["tile"] = rng.integers(1, 10, (n_rows, 3))
    return rows


BOARDS = ["hex8", "hexagon:2", "square8", "square:5", "rhombus:4", "grid:3x5", "grid:4x4", "connect4",
          "chess", "takeiteasy", "file:share/boards/alquerque.json", "file:tests/data/boards/bridges.json",
          "file:tests/data/boards/triangle.json"]  # fmt: skip


@tap.test(*BOARDS)
def test_group(name):
    """a, then b, is compose[a][b]; a, then its inverse, restores every bit; id 0 changes none."""
    board = described(name)
    rows = random_rows(board)
    options = ["--tiles", "permute"] if name == "takeiteasy" else []
    if board["name"].startswith("rhombus"):
        options += ["--planes", "1,0,~2"]  # random stones: no convention to check them against
    once = expand_arrays(rows, name, *options)
    n_transforms = len(board["transforms"])
    for key, array in rows.items():
        same_bits(once[key][0], array, f"{key} under the identity")
    for a in range(n_transforms):
        twice = expand_arrays({key: once[key][a] for key in rows}, name, *options)
        transform = board["transforms"][a]
        for key in rows:
            for b in range(n_transforms):
                same_bits(twice[key][b], once[key][transform["compose"][b]], f"{key}: {a}, then {b}")
            same_bits(twice[key][transform["inverse"]], rows[key], f"{key}: {a} and back")


@tap.test(*BOARDS)
def test_distinct(name):
    """The images of a position without symmetry are all different."""
    board = described(name)
    rows = random_rows(board)
    options = ["--tiles", "permute"] if name == "takeiteasy" else []
    if board["name"].startswith("rhombus"):
        options += ["--planes", "1,0,~2"]
    once = expand_arrays(rows, name, *options)
    images = {bytes(once["features"][t, 0]) + bytes(once["policy"][t, 0]) for t in range(len(once["features"]))}
    assert len(images) == len(board["transforms"]), f"{len(images)} different images"


# --- which images there are ---


def images_of(board, rows, *options):
    """(source, transform) -> the row's planes and policy; and the pairs in the output's order."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **rows)
        out = expand(path, "--board", board, *options)
    pairs = list(zip(out["symaug_source"].tolist(), out["symaug_transform"].tolist()))
    found = {pair: bytes(out["features"][i]) + bytes(out["policy"][i]) for i, pair in enumerate(pairs)}
    assert len(found) == len(pairs), "an image is there twice"
    return found, pairs


def go_rows(n):
    rng = np.random.default_rng(11)
    features = rng.integers(0, 2, (n, 2, 5, 5)).astype("|u1")
    features[::4] = 0  # the empty board: all its images are one
    features[1::4] |= features[1::4].transpose(0, 1, 3, 2)  # symmetric under the transposition
    policy = np.ones((n, 25), "<f4")
    return {"features": features, "policy": policy}


@tap.test((), ("--order", "transform"), ("--order", "sample"))
def test_shuffle(*options):
    """All images once each, in an order that the seed decides and that is no longer the old one."""
    rows = go_rows(50)
    plain, in_order = images_of("square:5", rows, *options)
    first, one = images_of("square:5", rows, "--shuffle", *options)
    again, two = images_of("square:5", rows, "--shuffle", "--seed", "2", *options)
    assert first == plain and again == plain
    assert one != in_order and one != two
    near = sum(abs(a - b) < 8 for (a, _), (b, _) in zip(one, one[1:]))
    assert near < 200, f"{near} of 399 neighbours come from near rows"


@tap.test((1, False), (3, False), (3, True), (8, False), (1, True))
def test_pick(n_images, keep_identity):
    """K different images of each row, the same whatever the order; with the identity if asked."""
    rows = go_rows(50)
    plain, _ = images_of("square:5", rows)
    options = ["--pick", n_images] + ["--keep-identity"] * keep_identity
    found, _ = images_of("square:5", rows, *options)
    assert found.items() <= plain.items()
    for row in range(50):
        chosen = {t for source, t in found if source == row}
        assert len(chosen) == n_images, f"row {row}: {chosen}"
        assert 0 in chosen or not keep_identity, f"row {row}: {chosen}"
    assert images_of("square:5", rows, *options, "--order", "transform")[0] == found
    other, _ = images_of("square:5", rows, *options, "--seed", "99")
    assert (other.keys() == found.keys()) == (n_images == 8 or (n_images == 1 and keep_identity))
    if n_images == 1 and not keep_identity:
        assert len({t for _, t in found}) == 8, "every transform is drawn for some row"


@tap.test()
def test_unique():
    """Of equal images of a row the one of lowest id is there, and every different one."""
    rows = go_rows(40)
    plain, _ = images_of("square:5", rows)
    found, _ = images_of("square:5", rows, "--unique")
    wanted = {}
    for row in range(40):
        seen = set()
        for t in range(8):
            if plain[row, t] not in seen:
                wanted[row, t] = plain[row, t]
            seen.add(plain[row, t])
    assert found == wanted
    assert 40 < len(wanted) < 320


# --- labels go with positions ---


def one_hot(n, at, dtype="<f4"):
    rows = np.zeros((len(at), n), dtype)
    rows[np.arange(len(at)), at] = 1
    return rows


def hot(rows):
    """The index of the one in each row of [transform][row][...]."""
    flat = rows.reshape(*rows.shape[:2], -1)
    assert (flat.sum(axis=2) == 1).all(), "exactly one entry is set"
    return flat.argmax(axis=2)


@tap.test(*[(name, layout) for name, layout in [
    ("hex8", "cells-box"), ("hexagonal", "cells-box"), ("square:6", "cells"), ("go9", "cells+pass"),
    ("rhombus:5", "cells"), ("grid:3x5", "cells"), ("connect4", "cells"), ("mirror:4x5", "cells+pass"),
]])  # fmt: skip
def test_together(name, layout):
    """A stone, the policy, the move, the last move, the cell mask on one cell stay on one cell."""
    board = described(name)
    n, cols = board["cells"], board["cols"]
    cells = np.flatnonzero(board["on_board"])
    length = {entry["name"]: entry["length"] for entry in board["layouts"]}[layout]
    rows = {
        "features": one_hot(n, cells, "|u1").reshape(len(cells), 1, board["rows"], cols),
        "policy": one_hot(length, cells),
        "legal": one_hot(length, cells, "|b1"),
        "move": cells.astype("<i8"),
        "last_move": np.stack([cells // cols, cells % cols], 1).astype("<i4"),
    }
    options = ["--planes", "0"] if name.startswith("rhombus") else []
    out = expand_arrays(rows, name, *options)
    at = hot(out["features"])
    assert (hot(out["policy"]) == at).all(), "policy"
    assert (hot(out["legal"]) == at).all(), "mask"
    assert (out["move"] == at).all(), "move"
    assert (out["last_move"][..., 0] * cols + out["last_move"][..., 1] == at).all(), "last move"
    for t in range(len(at)):
        assert sorted(at[t]) == sorted(cells), f"transform {t}: on-board cells stay on board"


def movement_check(name, n_actions, moves, decode, shape, stored_xy=False, **extra):
    """moves: (action, from-cell, target-cell). The from-plane, the target-plane and what the moved
    action decodes to must agree under every transform."""
    actions, sources, targets = (np.array(column) for column in zip(*moves))
    n_cells = shape[0] * shape[1]
    planes = np.stack([one_hot(n_cells, sources), one_hot(n_cells, targets)], 1)
    planes = planes.reshape(len(moves), 2, *shape)
    if stored_xy:
        planes = np.swapaxes(planes, 2, 3)
    step = 512  # dense policies are wide
    for first in range(0, len(moves), step):
        part = slice(first, first + step)
        rows = {"features": np.ascontiguousarray(planes[part]), "move": actions[part],
                "policy": one_hot(n_actions, actions[part], "|u1")}  # fmt: skip
        out = expand_arrays(rows, name, *extra.get("options", []))
        assert (hot(out["policy"]) == out["move"]).all(), "policy and move"
        stored = out["features"]
        if stored_xy:
            stored = np.swapaxes(stored, 3, 4)
        source, target = hot(stored[:, :, 0]), hot(stored[:, :, 1])
        for t, row in np.ndindex(out["move"].shape):
            found = decode(int(out["move"][t, row]))
            assert found == (source[t, row], target[t, row]), (
                f"action {actions[first + row]} under {t}: moves {found}, "
                f"the stones are on {source[t, row], target[t, row]}"
            )


HEX_STEPS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]
SQUARE_STEPS = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]
CHESS_RAYS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
CHESS_KNIGHTS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]


def ray_decoder(base, steps, side):
    """RingRift's movements: (from, direction, distance) behind `base`; steps are (dx, dy)."""

    def decode(action):
        rest, distance = divmod(action - base, side - 1)
        cell, direction = divmod(rest, len(steps))
        dx, dy = steps[direction]
        return cell, cell + (distance + 1) * (dy * side + dx)

    return decode


def ray_moves(base, steps, side, on_board):
    decode = ray_decoder(base, steps, side)
    moves = []
    for action in range(base, base + side * side * len(steps) * (side - 1)):
        cell, target = decode(action)
        distance = (action - base) % (side - 1) + 1
        dx, dy = steps[(action - base) // (side - 1) % len(steps)]
        x, y = cell % side + distance * dx, cell // side + distance * dy
        if on_board[cell] and 0 <= x < side and 0 <= y < side and on_board[target]:
            moves.append((action, cell, target))
    return moves


@tap.test()
def test_hexagon_movement():
    on_board = described("hex8")["on_board"]
    moves = ray_moves(243, HEX_STEPS, 9, on_board)
    assert len(moves) == 1288 - 3 * 61 - 1, len(moves)
    movement_check("hex8", 4132, moves, ray_decoder(243, HEX_STEPS, 9), (9, 9))


@tap.test()
def test_square_movement():
    moves = ray_moves(192, SQUARE_STEPS, 8, [True] * 64)
    movement_check("square8", 7000, moves, ray_decoder(192, SQUARE_STEPS, 8), (8, 8), stored_xy=True)


def chess_decode(action):
    cell, kind = divmod(action, 73)
    if kind < 56:
        dr, dc = (kind % 7 + 1) * np.array(CHESS_RAYS[kind // 7])
    elif kind < 64:
        dr, dc = CHESS_KNIGHTS[kind - 56]
    else:
        dr, dc = 1, (kind - 64) // 3 - 1
    return cell, cell + 8 * int(dr) + int(dc)


@tap.test()
def test_chess_movement():
    moves = []
    for action in range(4672):
        cell, target = chess_decode(action)
        kind = action % 73
        reach = (kind % 7 + 1) if kind < 56 else 2
        near = abs(target % 8 - cell % 8) <= reach and 0 <= target < 64
        straight = kind >= 56 or CHESS_RAYS[kind // 7][1] * (kind % 7 + 1) == target % 8 - cell % 8
        if near and straight and (kind < 64 or cell // 8 == 6):
            moves.append((action, cell, target))
    movement_check("chess", 4672, moves, chess_decode, (8, 8),
                   options=["--castling-planes", "none"])  # fmt: skip


if __name__ == "__main__":
    tap.main()
