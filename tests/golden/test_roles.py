#!/usr/bin/python3
"""What arrays mean: nothing is guessed. Shards of many kinds, what `expand` says to them, and that
what it says works when it is pasted."""

import io
import json
import os
import re
import shlex
import subprocess
import tempfile
import zipfile

import numpy as np

from golden import SYMAUG, Tap, load

tap = Tap()
SYMAUG = os.path.abspath(SYMAUG)
N = 6


def check(name, function, *arguments, **arrays):
    tap.tests.append((name, lambda: function(*arguments, **arrays), ()))


def rng(seed=1):
    return np.random.default_rng(seed)


def planes(*shape):
    return rng().integers(0, 2, (N, *shape)).astype("f4")


def spread(length, dtype="f4"):
    """A distribution over `length` actions."""
    values = rng(2).random((N, length))
    return (values / values.sum(axis=1, keepdims=True)).astype(dtype)


class Folder:
    """A folder to run in, with the shards that are asked for."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def save(self, name="in.npz", **arrays):
        np.savez(self.path(name), **arrays)

    def run(self, *arguments):
        done = subprocess.run([SYMAUG, *arguments], capture_output=True, text=True, cwd=self.folder.name)
        return done.returncode, done.stdout, done.stderr

    def ok(self, *arguments):
        code, out, errors = self.run(*arguments)
        assert code == 0, f"{arguments}: exit {code}: {errors}"
        return out + errors

    def refused(self, *arguments, code=65):
        found, out, errors = self.run(*arguments)
        assert found == code, f"{arguments}: exit {found}, expected {code}: {out} {errors}"
        assert not os.path.exists(self.path("out.npz"))
        return errors


# --- action-values: as a policy, any numbers ---


def action_values(dtype, shape, layout_length):
    q = (rng(3).random((N, *shape)) * 40 - 20).astype(dtype)
    with Folder() as f:
        f.save(x=planes(3, 9, 9), policy=spread(81), q=q, unrelated=np.arange(N))
        f.ok("expand", "-q", "-b", "square:9", "--role", "q=action-values", "--order", "sample",
             "in.npz", "out.npz")
        found, order = load(f.path("out.npz"))["q"], load(f.path("out.npz"))["symaug_transform"]
        assert found.dtype == q.dtype
        turned = np.stack([q[i].reshape(-1)[:81].reshape(9, 9)[:, ::-1] for i in range(N)])
        k = [i for i in range(8) if np.array_equal(
            found[i::8].reshape(N, -1)[:, :81].reshape(N, 9, 9), turned)]
        assert len(k) == 1, "no image is the mirror image"
        assert "policy" not in f.ok("verify", "--role", "q=action-values", "out.npz")
        roles = json.load(open(f.path("out.npz.manifest.json")))["outputs"][0]["arrays"]
        assert [a["role"] for a in roles if a["name"] == "q"][0].startswith("action-values")
        assert "action-values" in f.ok("info", "-b", "square:9", "--role", "q=action-values", "in.npz")
        f.ok("show", "-b", "square:9", "--role", "q=action-values", "in.npz", "--row", "0")
        open(f.path("s.json"), "w").write(
            f.ok("info", "-b", "square:9", "--role", "q=action-values", "--write-schema", "in.npz"))
        f.ok("expand", "-q", "-b", "square:9", "--schema", "s.json", "--order", "sample", "in.npz",
             "again.npz")
        assert np.array_equal(load(f.path("again.npz"))["q"], found, equal_nan=True)


check("action-values f4 (N,81)", action_values, "f4", (81,), 81)
check("action-values f8 (N,82)", action_values, "f8", (82,), 82)
check("action-values i2 (N,9,9)", action_values, "i2", (9, 9), 81)


def counts(**arrays):
    with Folder() as f:
        f.save(x=planes(3, 9, 9), **arrays)
        out = f.ok("verify", "-b", "square:9", "in.npz")
        assert "policy-sum" not in out, out


VISITS = rng().integers(0, 99, (N, 81)).astype("f4")
check("visits as float counts", counts, visits=VISITS)
check("visit_counts as float counts", counts, visit_counts=VISITS.astype("f8"))
check("padded visits", counts, visits_indices=np.tile(np.arange(1, 5), (N, 1)),
          visits_values=VISITS[:, :4] + 1)


def q_under_policy():
    """Q-values called a policy are refused by verify; told what they are, they are fine."""
    with Folder() as f:
        f.save(x=planes(3, 9, 9), pi=VISITS - 50)
        assert f.run("verify", "-b", "square:9", "in.npz")[0] == 1
        f.ok("verify", "-b", "square:9", "--role", "pi=action-values", "in.npz")


check("Q-values under a policy's name", q_under_policy)

# --- sparse policies in CSR form ---


def csr(indices, values, offsets):
    per_row = [3, 0, 2, 5, 1, 4]
    n = sum(per_row)
    index = rng(4).integers(0, 81, n)
    with Folder() as f:
        f.save(x=planes(2, 9, 9), **{indices: index, values: np.ones(n, "f4"),
                                     offsets: np.cumsum([0] + per_row)})
        f.ok("expand", "-q", "-b", "square:9", "--order", "transform", "--transforms", "0,4",
             "in.npz", "out.npz")
        out = load(f.path("out.npz"))
        assert sorted(out) == sorted([indices, values, offsets, "x", "symaug_source", "symaug_transform"])
        assert len(out[indices]) == 2 * n and not np.array_equal(out[indices][n:], index)


for names in (("pi_indices", "pi_values", "pi_offsets"), ("pol_indices", "pol_data", "pol_indptr"),
              ("mcts_indices", "mcts_data", "mcts_offsets"), ("a_indices", "a_values", "a_indptr")):
    check(f"CSR of {', '.join(names)}", csr, *names)

# --- drop: nothing is parsed ---


def odd_members(name):
    """An .npz whose member `name` stops every run that looks at it."""
    objects = np.empty(N, object)
    objects[:] = [{"a": 1}] * N
    good = io.BytesIO()
    np.save(good, objects, allow_pickle=True)
    bytes_ = bytearray(good.getvalue())
    return {
        "a dict array": bytes(bytes_),
        "a damaged pickle": bytes(bytes_[:150] + b"\xff" * 20 + bytes_[170:]),
        "a header of another type": bytes(bytes_).replace(b"'|O'", b"'<m'"),
        "no header": b"\x93NUMPY\x01\x00",
    }[name]


def drop(kind, how):
    with Folder() as f:
        f.save(x=planes(3, 9, 9), policy=spread(81))
        with zipfile.ZipFile(f.path("in.npz"), "a") as z:
            z.writestr("odd.npy", odd_members(kind))
        f.refused("expand", "-b", "square:9", "in.npz", "out.npz")
        open(f.path("s.json"), "w").write('{"symaug_schema": 1, "arrays": {"odd": "drop"}}')
        options = {"role": ["--role", "odd=drop"], "schema": ["--schema", "s.json"]}[how]
        said = f.ok("expand", "-b", "square:9", *options, "in.npz", "out.npz")
        assert "odd: left out" in said, said
        assert "odd" not in load(f.path("out.npz"))
        f.ok("expand", "-n", "-b", "square:9", *options, "in.npz", "no.npz")
        assert "drop" in f.ok("info", "-b", "square:9", *options, "in.npz")
        f.ok("verify", "-b", "square:9", *options, "in.npz")


for kind in ("a dict array", "a damaged pickle", "a header of another type", "no header"):
    for how in ("role", "schema"):
        check(f"drop {kind}, by {how}", drop, kind, how)

# --- boards without rows and columns, boards of one cell ---

CUBE = {"cells": 27, "generators": True, "transforms": [
    {"name": "flip", "dst": [int(i) for i in np.arange(27).reshape(3, 3, 3)[::-1].reshape(-1)]}]}
ONE = {"rows": 1, "cols": 1, "transforms": []}


def cube(name, array, role):
    with Folder() as f:
        json.dump(CUBE, open(f.path("cube.json"), "w"))
        f.save(policy=spread(27), **{name: array})
        assert f"{role}" in f.ok("info", "-b", "file:cube.json", "in.npz")
        f.ok("expand", "-q", "-b", "file:cube.json", "--order", "transform", "in.npz", "out.npz")
        images = load(f.path("out.npz"))[name]
        assert np.array_equal(images[N:].reshape(array.shape), np.flip(array, axis=array.ndim - 3))


check("grid (N,3,3,3)", cube, "boards", rng().integers(-1, 2, (N, 3, 3, 3)).astype("i1"), "grid")
check("planes (N,2,3,3,3)", cube, "states", planes(2, 3, 3, 3), "planes")
check("policy (N,3,3,3)", cube, "pi", spread(27).reshape(N, 3, 3, 3), "policy")


def one_cell(**arrays):
    with Folder() as f:
        json.dump(ONE, open(f.path("one.json"), "w"))
        f.save(**arrays)
        f.ok("expand", "-q", "-b", "file:one.json", "in.npz", "out.npz")
        f.ok("verify", "-b", "file:one.json", "out.npz")


check("a board of one cell", one_cell, x=planes(3, 1, 1), policy=np.ones((N, 1), "f4"),
          value=np.zeros(N, "f4"), extra=np.zeros((N, 4)), ply=np.arange(N))

# --- what is undecided: all of it in one message, whose command works ---


def undecided(board, arrays, wanted, options=()):
    """`wanted`: for each undecided array the roles that the command may give it."""
    with Folder() as f:
        f.save(**arrays)
        errors = f.refused("expand", "--board", board, *options, "in.npz", "out.npz")
        assert len(errors.splitlines()) == 1 and "in.npz" in errors, errors
        command = shlex.split(errors.split("; use: ")[1])
        assert command[:2] == ["symaug", "expand"], command
        told = dict(command[i + 1].split("=", 1) for i, word in enumerate(command) if word == "--role")
        told = {name: role for name, role in told.items() if name in wanted or name not in " ".join(options)}
        assert told.keys() == wanted.keys(), f"{sorted(told)}, expected {sorted(wanted)}"
        for name, role in told.items():
            shape = ", ".join(map(str, arrays[name].shape))
            assert f"{name}: dtype {arrays[name].dtype.str}, shape ({shape}" in errors or \
                arrays[name].dtype.names, errors
            assert role in wanted[name].split(), f"{name}={role}, expected one of {wanted[name]}"
        f.ok(*command[1:], "-q")
        assert os.path.exists(f.path("out.npz"))


def hex_shard(**extra):
    return {"boards": np.zeros((N, 3, 13, 13), "f4"), "policy": spread(169), **extra}


def go(**extra):
    return {"features": planes(4, 9, 9), "policy": spread(81), **extra}


def othello(**extra):
    return {"x": planes(3, 8, 8), "pi": spread(64), **extra}


def LONG(**extra):
    """Four games of ten rows."""
    return {"boards": np.zeros((40, 3, 13, 13), "f4"), **extra}


PADDED = np.where(np.arange(6) < np.arange(1, N + 1)[:, None], np.arange(6) * 7 + np.arange(N)[:, None], -1)


def stones(n_planes=2, n_rows=16):
    """(rows, planes, 81): the stones of both players in games of Go, and planes of ones."""
    boards = np.zeros((n_rows, n_planes, 81), "f4")
    for row, board in enumerate(boards):
        moves = rng(row).permutation(81)[:2 * row + 4]
        board[0, moves[::2]] = board[1, moves[1::2]] = board[2:] = 1
    return boards


def game(n_rows=60):
    """Positions of Go with few stones, a policy, and the cells of the moves before and after each."""
    boards, policy = np.zeros((n_rows, 2, 81), "f4"), np.zeros((n_rows, 81), "f4")
    moves = np.stack([rng(row).permutation(81) for row in range(n_rows)])
    n_stones = np.arange(n_rows) * 7 % 40 + 1
    for row, n in enumerate(n_stones):
        boards[row, 0, moves[row, :n:2]] = boards[row, 1, moves[row, 1:n:2]] = 1
        policy[row, moves[row, n:n + 4]] = 0.25
    of_row = np.arange(n_rows)
    return {"x": boards.reshape(n_rows, 2, 9, 9), "policy": policy, "n": n_stones, "free": moves[:, 41:46],
            "last": moves[of_row, n_stones - 1], "next": moves[of_row, n_stones],
            "two": np.stack([moves[of_row, n_stones], moves[of_row, n_stones + 1]], 1)}


def objects(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


def columns(n_rows=60):
    """Positions of Connect 4, a policy with mass in all columns, its best one, and the last man's cell."""
    boards, policy = np.zeros((n_rows, 2, 42), "f4"), rng().random((n_rows, 7)) / 10
    last, falls = np.zeros((2, n_rows), int)
    for row in range(n_rows):
        heights = [0] * 7
        for n, column in enumerate(rng(row).permutation(np.repeat(np.arange(7), 6))[:row * 5 % 30 + 1]):
            last[row] = (5 - heights[column]) * 7 + column
            boards[row, n % 2, last[row]] = 1
            heights[column] += 1
        column = int(np.argmin(np.roll(heights, row))) - row
        falls[row] = (5 - heights[column % 7]) * 7 + column % 7
    best = rng(3).integers(0, 7, n_rows)
    policy[np.arange(n_rows), best] += 1
    return {"states": boards.reshape(n_rows, 2, 6, 7), "policies": policy, "best": best, "on": last, "falls": falls}


GAME, COLUMNS = game(), columns()
FALLS = np.stack([COLUMNS["falls"] // 7, COLUMNS["falls"] % 7], 1)
MEN = np.stack([rng(row).permutation(np.eye(12, 64, dtype="f4").T).T.reshape(12, 8, 8) for row in range(60)])
HEX4 = np.array([[[4 <= r + q <= 12 for q in range(9)] for r in range(9)]])
HEX4_ROWS = np.flatnonzero(HEX4)[np.arange(N) * 5 + 35]
SHOWN = {"x": GAME["x"], "policy": GAME["policy"]}
YX = np.stack([GAME["next"] // 9, GAME["next"] % 9], 1)
# Discs of both players, of whom one has many more.
DISCS = np.stack([np.stack([r < 0.1 + k / 80, r > 0.95 - k / 200])
                  for k, r in enumerate(rng(4).random((40, 64)))]).astype("f4")
BITS = rng(5).integers(1 << 33, 1 << 62, N)
UNDECIDED = [
    ("hex13", hex_shard(reward=np.array([0, 1, 0, 1, 1, 0], "i1")), {"reward": "value"}),
    ("hex13", hex_shard(reward=np.array([-1, 1, 0, 1, 1, 0], "f4")), {"reward": "drop"}),
    ("hex13", hex_shard(side=np.array([0, 1] * 3, "u1"), q=rng().random(N), label=np.ones(N, "i8"),
                        arr_2=np.arange(N)),
     {"side": "to-move", "q": "drop value", "label": "value", "arr_2": "drop"}),
    ("hex13", hex_shard(names=np.array(["a"] * N), flags=np.zeros((N, 3), bool)),
     {"names": "drop", "flags": "drop"}),
    ("hex13", hex_shard(played=np.arange(N), heat=spread(169)),
     {"played": "action", "heat": "policy action-values"}),
    ("rhombus:7", {"boards": np.zeros((N, 3, 7, 7), "f4"), "root_value": rng().random((N, 1))},
     {"root_value": "value"}),
    ("go9", go(best=np.arange(N)), {"best": "action"}),
    ("go9", go(played=np.arange(N, dtype=">i2")), {"played": "action"}),
    ("go9", go(chosen=np.arange(N, dtype="u1"), mv=np.zeros((N, 2), "i8")),
     {"chosen": "action", "mv": "coord"}),
    ("go9", go(indices=np.arange(50)), {"indices": "copy drop"}),
    ("go9", go(a=spread(81), b=rng().integers(0, 2, (N, 81)), c=spread(82, "f8")),
     {"a": "policy action-values", "b": "grid", "c": "policy action-values"}),
    ("go9", go(a=planes(9, 9), b=rng().integers(0, 3, (N, 9, 9))),
     {"a": "policy action-values", "b": "grid policy"}),
    ("go9", go(flat=planes(4 * 81)), {"flat": "planes"}),
    ("go9", go(deep=planes(2, 3, 9, 9), odd=planes(3, 27)), {"deep": "drop", "odd": "drop planes"}),
    ("go9", go(bits=rng().integers(0, 255, (N, 22)).astype("u1")), {"bits": "drop packed"}),
    ("go9", go(many=planes(2 * 82)), {"many": "drop"}),
    ("othello", othello(bitboards=BITS.astype("u8")), {"bitboards": "drop"}),
    ("othello", othello(us=np.stack([BITS, -BITS], 1)), {"us": "drop"}),
    ("othello", othello(rec=np.zeros(N, [("me", "<u8"), ("id", "<i4")])), {"rec": "drop"}),
    ("tictactoe", {"x": planes(2, 3, 3), "raw": np.zeros(N, "V9")}, {"raw": "drop"}),
    ("tictactoe", {"x": planes(2, 3, 3), "raw": np.array([b"XO..X...." * 1] * N)}, {"raw": "drop"}),
    ("go9", go(legal_moves=np.where(np.arange(81) < 5, np.arange(81), -1) * np.ones((N, 1), "i8").astype("i8")),
     {"legal_moves": "drop"}),
    ("connect4", {"states": planes(3, 6, 7), "policies": spread(7), "top": spread(14)}, {"top": "drop"}),
    # Moves that number cells where a policy has columns; a history that has no other name.
    ("connect4", {"states": planes(3, 6, 7), "policies": spread(7), "best": np.arange(36, 36 + N)},
     {"best": "action:layout=cells"}),
    ("connect4", {"states": planes(3, 6, 7), "policies": spread(7),
                  "last_moves": np.arange(4 * N).reshape(N, 4)}, {"last_moves": "action:layout=cells"}),
    ("connect4", {"states": planes(3, 6, 7), "policies": spread(7), "best": np.arange(N)}, {"best": "action"}),
    ("connect4", {"frames": planes(4, 3, 6, 7), "policies": spread(7)}, {"frames": "planes"}),
    # Pairs of an index and a count, if all indices are those of actions.
    ("go9", go(seen=np.arange(12 * N).reshape(N, 6, 2)), {"seen": "action:pairs"}),
    ("go9", go(seen=np.arange(20 * N).reshape(N, 10, 2)), {"seen": "drop"}),
    ("connect4", {"states": planes(3, 6, 7), "policies": spread(7), "seen": np.arange(4 * N).reshape(N, 2, 2)},
     {"seen": "drop"}),
    # Moves under the names of labels, and lists that are padded, under any name.
    ("go9", go(y=np.arange(N) + 16), {"y": "action"}),
    ("go9", go(label=np.arange(N, dtype="u1"), Targets=np.full((N, 1), 81)), {"label": "action", "Targets": "drop"}),
    ("go9", {"x": planes(2, 9, 9), "idx": np.full(N, 81)}, {"idx": "drop"}),
    ("go9", go(next=np.arange(N) + 16, answer=np.arange(N), Sq=np.arange(N, dtype="u1"), dest=np.arange(N) - 1),
     {"next": "action", "answer": "action", "Sq": "action", "dest": "action"}),
    ("hex13", hex_shard(target=np.arange(N) + 16), {"target": "action"}),
    ("othello", othello(src=np.arange(N), dst=np.arange(N), **{"from": np.arange(N)}, from_sq=np.arange(N), to_sq=np.arange(N)),
     {"src": "action", "dst": "action", "from": "action", "from_sq": "action", "to_sq": "action"}),
    ("go9", go(avail=PADDED), {"avail": "action"}),
    ("go9", go(avail=np.pad(PADDED, ((0, 0), (0, 76)), constant_values=-1)), {"avail": "drop"}),
    # Flags of actions are a mask, one of them a policy.
    ("connect4", {"states": planes(3, 6, 7), "valid_moves": np.arange(7 * N).reshape(N, 7) % 3 > 0, "valids": np.tile([1, 0, 1, 1, 0, 0, 1], (N, 1)),
                  "is_legal": np.tile([1, 0, 1, 1, 0, 0, 1], (N, 1)).astype("f4"), "picked": np.eye(7, dtype="u1")[np.arange(N)]},
     {"valid_moves": "mask", "valids": "mask", "is_legal": "mask", "picked": "policy"}),
    # Planes in one row: cell by cell, if the players' stones show it; bits from the lowest.
    ("go9", {"states": stones().transpose(0, 2, 1).reshape(16, -1)}, {"states": "planes:nhwc"}),
    ("go9", {"states": stones(n_rows=12).transpose(0, 2, 1).reshape(12, -1)}, {"states": "planes:nhwc"}),
    ("go9", {"states": stones(3, 5).transpose(0, 2, 1).reshape(5, -1)}, {"states": "planes:nhwc"}),
    ("othello", {"x": DISCS.transpose(0, 2, 1).reshape(40, -1)}, {"x": "planes:nhwc"}),
    ("go9", {"rows": stones(3).transpose(0, 2, 1).reshape(16, -1).astype("u1")}, {"rows": "planes:nhwc"}),
    ("go9", {"rows": stones(3).reshape(16, -1)}, {"rows": "planes"}),
    ("go9", {"x": stones(9).transpose(0, 2, 1).reshape(16, 9, 9, 9)}, {"x": "planes:nhwc"}),
    ("go9", {"x": np.packbits(stones() > 0, axis=-1, bitorder="little")}, {"x": "packed:lsb"}),
    ("go9", {"bits": np.packbits(stones() > 0, axis=-1, bitorder="little")}, {"bits": "packed:lsb"}),
    ("go9", {"bits": np.packbits(stones() > 0, axis=-1)}, {"bits": "packed"}),
    # Numbers of moves, bits with one for a pass, lists without a role for their rows.
    ("go9", go(n_moves=np.arange(N) + 9, best=np.arange(N)), {"n_moves": "copy", "best": "action"}),
    ("othello", othello(masks=np.packbits(np.ones((N, 65), "u1"), axis=-1)), {"masks": "drop"}),
    ("go9", {"a": planes(4, 9, 9), "c_moves": np.arange(N + 9), "c_visits": np.ones(N + 9), "c_ptr": np.arange(N + 1)},
     {"a": "planes", "c_moves": "drop", "c_visits": "drop", "c_ptr": "drop"}),
    # Moves and coordinates by what they name in each row: stones, empty cells, mass.
    ("go9", {**SHOWN, "answer": GAME["next"], "lately": GAME["last"].astype("u1")},
     {"answer": "action", "lately": "action"}),
    ("go9", {**SHOWN, "lately": np.where(GAME["n"] < 4, 255, GAME["last"]).astype("u1"),
             "reply": np.where(GAME["n"] < 4, np.nan, GAME["next"]), "answer": GAME["next"].astype("f4")},
     {"lately": "drop", "reply": "drop", "answer": "drop"}),
    ("chess", {"x": MEN, "origin": np.argmax(MEN[:, 3].reshape(60, 64), 1)}, {"origin": "action"},
     ["--castling-planes", "none"]),
    ("connect4", {**{key: COLUMNS[key] for key in ("states", "policies", "on")}, "col": COLUMNS["best"]},
     {"on": "action:layout=cells", "col": "action"}),
    ("go9", {"board": GAME["x"][:, 0] - GAME["x"][:, 1], "open": GAME["free"]}, {"open": "action"}),
    ("go9", {**SHOWN, "pair": GAME["two"], "at": np.stack([GAME["next"] // 9, GAME["next"] % 9], 1)},
     {"pair": "action", "at": "coord"}),
    ("go9", {**SHOWN, "at": np.where(GAME["n"][:, None] > 3, np.stack([GAME["last"] % 9, GAME["last"] // 9], 1), -1)},
     {"at": "coord:colrow"}),
    # Coordinates from another corner, or from 1.
    ("go9", {**SHOWN, "last_move": np.stack([8 - GAME["last"] // 9, GAME["last"] % 9], 1)}, {"last_move": "drop"}),
    ("go9", {**SHOWN, "last_move": np.stack([GAME["last"] % 9, 8 - GAME["last"] // 9], 1)}, {"last_move": "drop"}),
    ("go9", {**SHOWN, "at": np.stack([8 - GAME["last"] // 9, GAME["last"] % 9], 1), "on": np.stack([GAME["next"] // 9, GAME["next"] % 9], 1) + 1,
             "of": np.stack([GAME["last"] % 9, GAME["last"] // 9], 1) + 1}, {"at": "drop", "on": "drop", "of": "drop"}),
    ("go9", go(xy=np.stack([np.arange(N), np.arange(1, N + 1)], 1)), {"xy": "coord"}),
    # Mirrored, from the middle, as fractions of the board, and among other columns.
    ("go9", {**SHOWN, "a1": np.stack([YX[:, 0], 8 - YX[:, 1]], 1), "a2": 2 * YX - 8, "a3": YX - 4, "a4": YX / 8,
             "a5": (YX / 9).astype("f4"), "a6": (YX + 0.5) / 9, "a7": YX / 4 - 1, "a8": np.pad(YX, ((0, 0), (1, 1))),
             "a9": YX[:, :, None]},
     {"a1": "drop", "a2": "drop", "a3": "drop", "a4": "drop", "a5": "drop", "a6": "drop", "a7": "drop", "a8": "drop",
      "a9": "drop"}),
    # As ones among zeros, in strings, in records.
    ("go9", {**SHOWN, "b1": np.eye(9)[YX].reshape(60, 18), "b2": np.eye(90, dtype="u1")[GAME["next"]],
             "b3": np.array([f"black {'ABCDEFGHJ'[x]}{y + 1}" for y, x in YX]),
             "b4": np.array([f'{{"ply": {k}, "move": [{y}, {x}]}}'.encode() for k, (y, x) in enumerate(YX)]),
             "b5": objects(*[f"move {k}: {'abcdefghj'[x]}{y + 1}" for k, (y, x) in enumerate(YX)]),
             "b6": np.array([(0.5, y, x) for y, x in YX], [("q", "<f4"), ("y", "u1"), ("x", ">i2")])},
     {"b1": "drop", "b2": "drop", "b3": "drop", "b4": "drop", "b5": "drop", "b6": "drop"}),
    ("go9", {**SHOWN, "move": np.stack([GAME["last"] % 9, GAME["last"] // 9], 1)}, {"move": "coord:colrow"}),
    # Bits in other types than bytes, and numbers composed of two.
    ("go9", {**SHOWN, "c1": np.frombuffer(np.packbits(SHOWN["policy"] > 0, axis=1).tobytes(), "V11"),
             "c2": np.pad(np.packbits(SHOWN["policy"] > 0, axis=1, bitorder="little"), ((0, 0), (0, 1))).view("<u4"),
             "c3": YX[:, 0] << 8 | YX[:, 1], "c4": 11 * YX[:, 0] + YX[:, 1] + 12, "c5": YX[:, 1] * 16 + YX[:, 0],
             "c6": YX[:, 0] + 1j * YX[:, 1]},
     {"c6": "drop", "c1": "drop", "c2": "drop", "c3": "drop", "c4": "drop", "c5": "drop"}),
    ("chess", {"x": MEN, "y": 64 * np.argmax(MEN[:, 3].reshape(60, 64), 1) + np.arange(60),
               "z_": 64 * np.arange(60) + np.argmax(MEN[:, 3].reshape(60, 64), 1)}, {"y": "drop", "z_": "drop"},
     ["--castling-planes", "none"]),
    # A cell where a man can fall is one of few that are empty; the column alone is an action, too.
    ("connect4", {**{key: COLUMNS[key] for key in ("states", "policies")}, "to_be": COLUMNS["falls"], "pair": FALLS,
                  "low": 35 - FALLS[:, 0] * 7 + FALLS[:, 1], "down": FALLS[:, 1] * 6 + FALLS[:, 0], "ply": np.arange(60) % 42}, {"to_be": "action:layout=cells", "pair": "coord", "low": "drop", "down": "drop"}),
    ("connect4", {"states": COLUMNS["states"][:, :, ::-1], "policies": COLUMNS["policies"],
                  "to_be": 35 - FALLS[:, 0] * 7 + FALLS[:, 1], "pair": FALLS}, {"to_be": "action:layout=cells", "pair": "drop"}),
    # Moves without mass in a policy of more than cells number something else; those that are not whole are no moves.
    ("chess", {"x": MEN, "policy": np.eye(4096, dtype="f4")[np.arange(60) * 67 + 9], "move": np.arange(60) * 67 % 64,
               "last_move": np.arange(60)}, {"move": "drop", "last_move": "drop"}, ["--castling-planes", "none"]),
    ("go9", {**SHOWN, "move": GAME["next"] / 81}, {"move": "drop"}),
    # What is called a move and is no number.
    ("go9", go(best_move=np.zeros(N, [("r", "i1"), ("c", "i1")]), next_action=np.arange(N) + 1j, last_coords=np.array(["somewhere"] * N),
               my_moves=np.array([b"B: d4"] * N)),
     {"best_move": "drop", "next_action": "drop", "last_coords": "drop", "my_moves": "drop"}),
    # Rows and columns of cells in two arrays.
    ("go9", {**SHOWN, "last_row": GAME["last"] // 9, "last_col": GAME["last"] % 9, "to_y": GAME["next"] // 9,
             "to_x": GAME["next"] % 9, "row": GAME["last"], "col": GAME["last"] * 0},
     {"last_row": "drop", "last_col": "drop", "to_y": "drop", "to_x": "drop", "row": "action"}),
    ("go9", {**SHOWN, "r": objects(*(GAME["last"] // 9).tolist()), "c": GAME["last"] % 9}, {"r": "drop", "c": "drop"}),
    # Moves that number something else than the policy beside them: a pass, cells of the box.
    ("go9", {"x": planes(2, 9, 9), "pi_indices": np.tile([3, 4], (N, 1)), "pi_values": np.full((N, 2), 0.5),
             "legal_moves": np.where(PADDED == 8, 81, PADDED)},
     {"legal_moves": "action:layout=cells+pass"}),
    ("go9", {"x": planes(2, 9, 9), "policy": spread(81), "moves": np.arange(N) + 76},
     {"moves": "action:layout=cells+pass"}),
    ("hexagon:4", {"x": planes(2, 9, 9) * HEX4, "policy": spread(61), "moves": HEX4_ROWS, "prev_moves": HEX4_ROWS},
     {"moves": "action:layout=cells-box", "prev_moves": "action:layout=cells-box"}),
    # Numbers too short for all moves.
    ("gomoku15", {"x": planes(2, 15, 15), "hist": np.arange(N, dtype="i1"), "best": np.arange(N, dtype="u1")},
     {"hist": "drop", "best": "action"}),
    # One number for each row is no policy, whatever its name.
    ("go9", go(mask=np.ones(N, bool), probs=rng().random(N)), {"mask": "copy", "probs": "copy"}),
    # Numbers of turns tell nobody's turn; a return may be a value.
    ("hex13", hex_shard(turn_number=np.arange(N) % 2, n_turns=np.arange(N) % 2, turn_of=np.arange(N) % 2,
                        **{"return": np.arange(N) % 2}),
     {"turn_number": "drop", "n_turns": "drop copy", "turn_of": "to-move", "return": "value"}),
    # Known moves and coordinates that name stones in another order only, or no cells.
    ("go9", {**SHOWN, "last_move": np.stack([GAME["last"] % 9, GAME["last"] // 9], 1)}, {"last_move": "coord:colrow"}),
    ("go9", {**SHOWN, "last_moves": (8 - GAME["last"] // 9) * 9 + GAME["last"] % 9}, {"last_moves": "action:flipud"}),
    ("go9", {**SHOWN, "move": GAME["last"] + 1, "moves": GAME["next"] + 1, "reply": GAME["next"] + 1},
     {"move": "drop", "moves": "drop", "reply": "drop"}),
    ("go9", {**SHOWN, "tops": np.sort(GAME["free"], 1), "tops_w": np.full((60, 5), 0.2)},
     {"tops": "policy-index", "tops_w": "policy-value"}),
    ("go9", {"board": SHOWN["x"], "best": 72 - GAME["next"] // 9 * 9 + GAME["next"] % 9}, {"best": "action:flipud"}),
    ("rhombus:9", {"boards": np.pad(SHOWN["x"], ((0, 0), (0, 1), (0, 0), (0, 0))), "nxt": GAME["next"], "lately": GAME["last"],
                   "n": GAME["n"]},
     {"nxt": "action", "lately": "action", "n": "drop"}),
    ("go9", {"board": SHOWN["x"], "action": GAME["next"] + 1}, {"action": "drop"}),
    ("connect4", {"states": planes(3, 6, 7), "last_move": np.stack([np.arange(1, N + 1), np.arange(N)], 1)},
     {"last_move": "coord:colrow"}),
    ("connect4", {"states": planes(3, 6, 7), "last_move": np.full((N, 2), 6)}, {"last_move": "drop"}),
    # Sparse policies with a pass, or of another layout, that nothing tells.
    ("go9", {"x": planes(2, 9, 9), "pi_indices": objects(*[np.arange(k, 82, 9) for k in range(N)]),
             "pi_values": objects(*[np.ones(len(range(k, 82, 9))) / 10 for k in range(N)])},
     {"pi_indices": "policy-index:layout=cells+pass"}),
    ("go9", {"x": planes(2, 9, 9), "pi_indices": np.tile([3, 81], (N, 1)), "pi_values": np.full((N, 2), 0.5)},
     {"pi_indices": "policy-index:layout=cells+pass"}),
    ("hexagon:4", {"x": np.zeros((N, 2, 9, 9)), "pi_indices": np.full(N, 464), "pi_values": np.ones(N),
                   "pi_offsets": np.arange(N + 1)},
     {"pi_indices": "drop", "pi_values": "drop", "pi_offsets": "drop"}),
    # Lists with as many values beside them.
    ("go9", go(pi_idx=PADDED, pi_val=(PADDED >= 0) / 3), {"pi_idx": "policy-index", "pi_val": "policy-value"}),
    ("go9", go(best=np.arange(N), top_k=PADDED + (PADDED < 0), top_k_w=(PADDED >= 0) / 6, w=planes(5)),
     {"best": "action", "top_k": "policy-index", "top_k_w": "policy-value"}),
    ("go9", {"x": planes(2, 9, 9), "mcts_ids": PADDED[::-1].astype(">i2"), "mcts_probs": (PADDED[::-1] >= 0) / 6},
     {"mcts_ids": "policy-index", "mcts_probs": "policy-value"}),
    # Coordinates in the order that keeps them on the board.
    ("connect4", {"states": planes(3, 6, 7), "mv": np.stack([np.arange(N), np.arange(1, N + 1)], 1)}, {"mv": "coord"}),
    ("connect4", {"states": planes(3, 6, 7), "mv": np.stack([np.arange(1, N + 1), np.arange(N)], 1)},
     {"mv": "coord:colrow"}),
    ("connect4", {"states": planes(3, 6, 7), "mv": np.full((N, 2), 6)}, {"mv": "drop"}),
    ("connect4", {"states": planes(3, 6, 7), "mv": np.stack([np.arange(N), np.full(N, -1)], 1)}, {"mv": "drop"}),
    ("connect4", {"states": planes(3, 6, 7), "mv": np.full((N, 4, 2), (6, 3))}, {"mv": "coord:colrow"}),
    # Parts of sparse policies without the others, or that do not go together.
    ("go9", go(pi_indices=np.zeros((N, 4), "i4"), odd=planes(2, 3, 81)),
     {"pi_indices": "drop", "odd": "drop"}),
    ("go9", go(visits_values=np.zeros((N, 4), "f4"), c=spread(82)),
     {"visits_values": "drop", "c": "policy"}),
    ("go9", go(pi_indices=np.zeros((N, 4), "i4"), pi_values=np.zeros((N, 5), "f4"), best=np.arange(N)),
     {"pi_indices": "drop", "pi_values": "drop", "best": "action"}),
    ("go9", go(pi_indices=np.zeros(9, "i4"), pi_values=np.zeros(9, "f4"), pi_offsets=np.arange(4)),
     {"pi_indices": "drop", "pi_values": "drop", "pi_offsets": "drop"}),
    # Lists of indices with values beside them, padded or objects, under a name that is not known.
    ("go9", go(mcts_indices=np.zeros((N, 4), "i4"), mcts_values=np.zeros((N, 4), "f4")),
     {"mcts_indices": "policy-index", "mcts_values": "policy-value"}),
    ("go9", go(target_indices=np.full((N, 3), 7, object), target_data=np.full((N, 3), 0.5, object)),
     {"target_indices": "policy-index", "target_data": "policy-value"}),
    # Moves as objects, which are moved only in a sparse policy.
    ("go9", go(best_move=np.full(N, 3, object), moves=np.full((N, 4), 3, object)),
     {"best_move": "drop", "moves": "drop"}),
    # Another number of rows: neither rows nor, when they are spatial, metadata.
    ("go9", go(ply=np.arange(5), policies=spread(81)[:5], c=spread(82)),
     {"ply": "meta drop", "policies": "drop", "c": "policy"}),
    ("go9", go(maps=spread(81)[:5], table=np.arange(50)), {"maps": "drop", "table": "drop"}),
    # scipy.sparse.save_npz, whose names do not say what the matrix is.
    ("go9", {"features": planes(4, 9, 9), "indices": np.arange(12, dtype="i4"), "data": np.ones(12),
             "indptr": np.arange(0, 13, 2, dtype="i4")},
     {"indices": "policy-index", "data": "policy-value", "indptr": "policy-offsets"}),
    ("go9", {"features": planes(4, 9, 9), "indices": np.arange(70, 82, dtype="i4"), "data": np.ones(12),
             "indptr": np.arange(0, 13, 2, dtype="i4"), "shape": np.array([N, 82]),
             "format": np.array(b"csr")},
     {"indices": "policy-index:layout=cells+pass", "data": "policy-value", "indptr": "policy-offsets"}),
    # No name tells which arrays have a row for each position.
    ("go9", {"a": planes(4, 9, 9), "b": spread(82), "c": np.arange(3), "d": rng().random(N)},
     {"a": "planes", "b": "policy", "c": "meta", "d": "copy"}),
    # Rewards from -1 to 1: by colour when they stay the same through a game.
    ("hex13", LONG(reward=np.repeat([1, -1, -1, 1], 10)), {"reward": "value"}),
    ("hex13", LONG(reward=np.tile([1, -1], 20)), {"reward": "drop"}),
    ("hex13", LONG(reward=np.repeat([1, -1, -1, 1], 10), z=np.tile([0, 1], 20)), {"reward": "drop"}),
]
for k, (board, arrays, wanted, *options) in enumerate(UNDECIDED):
    check(f"undecided on {board}: {', '.join(wanted)} ({k})", undecided, board, arrays, wanted, *options)

# A role that would be refused when it is given is not offered, whatever the length of the name.
for name in "reward", "reward" + "_of_the_game" * 12:
    check(f"a value of one column with a convention for three: {len(name)} letters", undecided, "hex13",
          hex_shard(**{name: np.array([0, 1, 0, 1, 1, 0], "i1")}), {name: "drop"},
          ("--value", "colour-wdl"))

# As many policies as cells are moves from each cell, of which only the targets would be moved.
for board, box, shape in (("go9", (9, 9), (81, 81)), ("go9", (9, 9), (6561,)), ("go9", (9, 9), (81, 9, 9)),
                          ("connect4", (6, 7), (42, 42)), ("connect4", (6, 7), (6, 7, 42))):
    check(f"moves from each cell on {board}: {shape}", undecided, board,
          {"x": planes(4, *box), "pi": spread(int(np.prod(shape))).reshape(N, *shape)}, {"pi": "drop"})

def from_to(board, side, *shape):
    """What is said of moves from each cell works: the board of that file has the policy."""
    with Folder() as f:
        f.save(x=planes(2, side, side), pi=spread(side**4).reshape(N, *shape))
        said = f.refused("expand", "-b", board, "in.npz", "out.npz")
        assert "--board file:FILE with {" in said, said
        open(f.path("FILE"), "w").write(said[said.index("{"):said.index("}") + 1])
        f.ok("expand", "-q", "-b", "file:FILE", "in.npz", "out.npz")
        assert len(load(f.path("out.npz"))["pi"]) == 8 * N


def offered(board, roles, **arrays):
    """The roles offered of what is undecided, in a command that works."""
    with Folder() as f:
        f.save(**arrays)
        said = f.refused("expand", "--board", board, "in.npz", "out.npz")
        found = dict(flag.split("=", 1) for flag in re.findall(r"--role (\S+)", said.split("; use: ")[1]))
        assert found == roles, said
        f.ok("expand", "-q", "--board", board, *[f"--role={name}={role}" for name, role in found.items()], "in.npz", "out.npz")


# Positions as objects, one array each, are never offered as copies.
check("positions as objects", offered, "tictactoe", {"state": "drop"},
      state=objects(*planes(2, 3, 3)), policies=spread(9))
check("lists under the name of values", offered, "tictactoe", {"v": "drop"},
      state=planes(2, 3, 3), policies=spread(9), v=objects(*[[0.5] * 9] * N))
# Moves of 2048 and of mazes are directions, which the first row's cells are not.
check("directions", offered, "square:4", {"action": "drop"},
      states=rng(7).integers(0, 9, (40, 4, 4)), action=rng(8).integers(0, 4, 40))
# Moves of several kinds for each cell, of checkers, amazons or shogi, have directions, which planes have not.
for shape in (8, 8, 8), (8, 8, 56), (512,):
    for key in "policy", "policy_tgt", "legal_mask":
        check(f"moves of several kinds: {key} {shape}", offered, "square:8", {key: "drop"},
              states=planes(3, 8, 8), **{key: spread(int(np.prod(shape))).reshape(N, *shape)})
check("moves of several kinds: policies that add up together", offered, "square:8", {"policy": "drop"},
      states=planes(3, 8, 8), policy=spread(512).reshape(N, 8, 64))
check("policies of several moves", lambda: decided("square:8", {"states": planes(3, 8, 8),
                                                               "policy": np.stack([spread(64), spread(64)], 1)}))
check("a list of all moves beside a policy of as many cells", offered, "go9", {"history": "action"},
      states=GAME["x"], policy=GAME["policy"],
      history=np.array([[*np.flatnonzero(x.any(0)), *[-1] * int((x == 0).all(0).sum())] for x in GAME["x"]]))
check("a policy upside down under a name that says nothing", offered, "go9", {"y": "policy:flipud"},
      x=GAME["x"], y=GAME["policy"].reshape(-1, 9, 9)[:, ::-1].reshape(-1, 81))


def of_another_board():
    """A policy that fits the board of its planes, not the board given, is no policy of moves from each cell."""
    with Folder() as f:
        f.save(boards=planes(9, 9), pi=spread(81))
        assert "use --board square:9" in f.refused("expand", "-b", "tictactoe", "in.npz", "out.npz")


check("planes and policy of another board", of_another_board)
check("moves from each cell have a board: go9", from_to, "go9", 9, 81, 81)
check("moves from each cell have a board: othello", from_to, "othello", 8, 4096)


def floating_tiles(tiles, n_images):
    """Tiles that are told may be floating numbers, which are moved as others are."""
    with Folder() as f:
        f.save(plateau=np.zeros((N, 19), "i4"), tile=np.tile([1.0, 2.0, 3.0], (N, 1)))
        f.refused("expand", "-b", "takeiteasy", "--tiles", tiles, "in.npz", "out.npz")
        f.ok("expand", "-q", "-b", "takeiteasy", "--tiles", tiles, "--role", "tile=tile", "in.npz", "out.npz")
        out = load(f.path("out.npz"))["tile"]
        assert len(out) == n_images * N and len(np.unique(out, axis=0)) == (1 if tiles == "keep" else 6)
        f.ok("verify", "out.npz")


check("floating tiles, kept", floating_tiles, "keep", 2)
check("floating tiles, permuted", floating_tiles, "permute", 12)


def tiles_under_other_names(**arrays):
    """Where tiles are permuted, what has another name may be a tile, too: it is asked about."""
    with Folder() as f:
        f.save(plateau=np.zeros((N, 19), "i4"), tile=np.tile([1, 2, 3], (N, 1)), final_score=np.zeros(N, "i4"), **arrays)
        f.ok("expand", "-q", "-b", "takeiteasy", "in.npz", "keep.npz")
        said = f.refused("expand", "-b", "takeiteasy", "--tiles", "permute", "in.npz", "out.npz")
        assert "--role next=" + ("tile" if arrays["next"].ndim == 2 else "drop") in said, said


check("tiles under another name", tiles_under_other_names, next=np.tile([9, 7, 8], (N, 1)))
check("codes of tiles under another name", tiles_under_other_names, next=np.full(N, 978))

# Planes that no board takes are no sign of another board.
for what, boards in ("no numbers", np.zeros((N, 2, 6, 7), "c8")), ("none at all", np.zeros((N, 0, 6, 7), "f4")):
    check(f"planes that are {what}", undecided, "connect4", {"boards": boards, "pi": np.full((N, 7), 1 / 7)},
          {"boards": "drop"})

DECIDED = [
    ("go9", go(r=objects(*["x"] * N), c=np.full(N, 2), i=objects(*["x"] * N), j=np.array(["y"] * N))),
    ("go9", go(best_player=np.full(N, "ann", object), pages=np.full((N, 4), 3, object))),
    ("go9", go(page_indices=np.zeros((N, 4), "i4"), page_values=np.zeros((N, 3), "f4"))),
    ("go9", go(extra=spread(7), step=np.arange(N), ids=np.array(["game"] * N), gf=spread(20))),
    ("go9", {"states": stones(3).reshape(16, -1)}),
    ("othello", {"x": DISCS.reshape(40, -1)}),
    ("go9", {"states": stones(3, 5).reshape(5, -1)}),
    ("go9", {"x": stones(9).reshape(16, 9, 9, 9)}),
    ("go9", {"x": np.packbits(stones() > 0, axis=-1)}),
    ("go9", go(table=np.zeros((3, 7)), legal_mask=np.ones((N, 81), bool), mask=np.ones((N, 82), "i4"))),
    ("go9", {**SHOWN, "n": GAME["n"], "step": 81 - GAME["n"], "gid": np.arange(60) // 5, "seed": np.arange(60),
             "sizes": np.stack([GAME["n"], np.arange(60)], 1)}),
    ("go9", {**SHOWN, "last_move": np.stack([GAME["last"] // 9, GAME["last"] % 9], 1), "last_moves": GAME["last"],
             "move": GAME["next"]}),
    ("go9", {**SHOWN, "elo": 1500.0 + GAME["n"], "share": GAME["n"] / 81, "outcome_of": GAME["n"] % 3 - 1.0,
             "half": GAME["n"] // 2 * 1.0}),
    ("connect4", {"states": COLUMNS["states"], "policies": COLUMNS["policies"], "n": np.arange(60) * 5 % 30,
                  "left": 41 - np.arange(60) * 5 % 30, "seven": np.arange(60) % 7}),
    ("othello", othello(ply=np.arange(N), seed=np.arange(N) * 1000, rec=np.zeros(N, [("id", "<i4")]))),
    ("hex13", hex_shard(Y_value=np.array([0, 1] * 3), ply=np.arange(N), game_id=np.arange(N))),
    ("hex13", hex_shard(metadata=np.array(['{"game": 1}'] * N), policy_present=np.ones(N, bool),
                        iteration=np.arange(N), human_won=np.ones(N, "u1"), weight=np.ones(N),
                        player_type=np.array(["MCTS"] * N))),
]
for k, (board, arrays) in enumerate(DECIDED):
    def decided(board=board, arrays=arrays):
        with Folder() as f:
            f.save(**arrays)
            f.ok("expand", "-q", "--board", board, "in.npz", "out.npz")
    check(f"decided on {board} ({k})", decided)


FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def strings(board, warned, **extra):
    """Strings are copied; with a warning when they could hold a position."""
    with Folder() as f:
        shape = {"chess": (25, 8, 8), "go9": (3, 9, 9), "tictactoe": (2, 3, 3), "square:25": (2, 25, 25)}[board]
        f.save(planes=planes(*shape), **extra)
        said = f.ok("expand", "--board", board, "--transforms", "all", "in.npz", "out.npz")
        assert ("may hold positions" in said) == warned, said
        for name, array in extra.items():
            assert sorted(load(f.path("out.npz"))[name].tolist()) == sorted(
                array.tolist() * (len(load(f.path("out.npz"))[name]) // N))


check("strings: FEN", strings, "chess", True, fen=np.array([FEN] * N))
check("strings: FEN of one row", strings, "chess", True, s=np.array([""] * (N - 1) + [FEN]))
check("strings: FEN, big-endian", strings, "chess", True, s=np.array([FEN] * N, ">U90"))
check("strings: FEN, bytes", strings, "go9", True, s=np.array([FEN.encode()] * N))
check("strings: FEN, Fortran order", strings, "chess", True, s=np.asfortranarray([[FEN, "w"]] * N))
check("strings: FEN under another's name", strings, "chess", True, metadata=np.array([FEN] * N))
check("strings: FEN before a move", strings, "chess", True, fen_before_move=np.array([FEN] * N))
check("strings: FEN, objects", strings, "chess", True, s=objects(*[FEN] * N))
check("strings: cells", strings, "go9", True, s=np.array(["." * 81] * N))
check("strings: cells, objects", strings, "tictactoe", True, s=objects(*["XO......."] * N))
check("strings: many cells, objects", strings, "square:25", True, s=objects(*["." * 625] * N))
check("strings: names", strings, "go9", False, s=np.array(["game one"] * N))
check("strings: room for cells", strings, "go9", False, s=np.array(["one"] * N, "<U200"))
check("strings: ids by name", strings, "tictactoe", False,
      game_id=np.array(["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"] * N))
check("strings: dates", strings, "go9", False, s=np.array(["1/2/2020"] * N))


def numbers(board, said, **extra):
    """Numbers of no known name in whose rows a position may be hidden: refused, copied with a warning,
    or copied."""
    with Folder() as f:
        shape = {"connect4": (2, 6, 7), "go9": (3, 9, 9), "othello": (2, 8, 8), "chess": (25, 8, 8)}[board]
        f.save(planes=planes(*shape), **extra)
        if said == "refused":
            name = next(iter(extra))
            assert f" {name}: " in f.refused("expand", "--board", board, "in.npz", "out.npz")
            return
        text = f.ok("expand", "--board", board, "in.npz", "out.npz")
        assert ("may hold positions" in text) == (said == "warned"), text


LARGE = rng(8).integers(1 << 33, 1 << 41, (N, 2))
check("numbers: bitboards of 42 cells", numbers, "connect4", "warned", own=LARGE[:, 0])
check("numbers: two bitboards", numbers, "connect4", "warned", bb=LARGE.astype(">u8"))
check("numbers: stones of the player", numbers, "othello", "warned", player=LARGE[:, 0].astype("u8"))
check("numbers: stones under the name of a move", numbers, "connect4", "refused", position=LARGE[:, 0].astype("u8"))
check("numbers: players", numbers, "othello", "copied", player=np.arange(N) % 2)
check("numbers: ids", numbers, "connect4", "copied", uid=np.arange(N))
check("numbers: bitboards in Fortran order", numbers, "othello", "refused", bb=np.asfortranarray(LARGE))
check("numbers: planes and a number", numbers, "go9", "warned", row=np.zeros((N, 2 * 81 + 1), "f2"))
check("numbers: bits of all planes", numbers, "go9", "warned", row=np.zeros((N, 21), "u1"))
check("numbers: records of bytes", numbers, "chess", "warned", record=np.zeros((N, 8276), "u1"))
check("numbers: a few", numbers, "go9", "copied", extra=np.zeros((N, 20), "u1"))
check("numbers: known by name", numbers, "go9", "copied", globals=np.zeros((N, 100), "f4"))
check("numbers: castling rights", numbers, "chess", "refused", castling=np.zeros((N, 4), "?"))
for name in "ep", "ep_file", "EP_files", "en_passant":
    check(f"numbers: {name}", numbers, "chess", "refused", **{name: np.eye(8, dtype="f4")[np.arange(N) % 8]})
check("numbers: the file of a pawn", numbers, "chess", "refused", ep_file=np.arange(N) % 8)
check("numbers: what is no pawn", numbers, "chess", "copied", steps=np.arange(N) % 8, deep=np.ones((N, 8)))
check("numbers: an episode", numbers, "go9", "copied", ep=np.arange(N))
check("numbers: castling rights in one", numbers, "chess", "refused", castling_rights=np.arange(N))
check("numbers: en passant", numbers, "chess", "refused", ep_square=np.arange(N) + 16)
check("numbers: en passant, another name", numbers, "chess", "refused", en_passant=np.arange(N) + 16)
for key in "act", "Acts", "last", "lm", "prev":
    check(f"numbers: moves named {key}", numbers, "go9", "refused", **{key: np.arange(N) + 16})
check("numbers: coordinates named last", numbers, "go9", "refused", last=np.ones((N, 2), "i4"))
check("numbers: moves named history", numbers, "go9", "refused", history=np.ones((N, 4), "i4"))
# Moves of chess are numbered in many ways; counters are no moves.
for key, array in ("y", np.arange(N) * 700), ("label", np.arange(N) * 370), ("m", np.arange(N) * 2570):
    check(f"numbers: moves of chess named {key}", numbers, "chess", "refused", **{key: array})
check("numbers: labels of chess", numbers, "chess", "copied", idx=np.arange(N) * 700, y=np.arange(N) * 600 - 1500, label=np.arange(N) % 3,
      target=np.arange(N) * 20000, m=np.arange(N) / 2)
# A row and a column of the board, or an integer for each, are a cell.
ROWS = np.eye(9, dtype="f4")[np.arange(N)]
check("numbers: rows and columns, one of each is 1", numbers, "go9", "refused", move_row=ROWS, move_col=ROWS[::-1])
check("numbers: rows and columns of another length", numbers, "connect4", "refused", row=np.eye(6)[np.arange(N)], col=np.eye(7)[np.arange(N)])
check("numbers: no rows and columns", numbers, "go9", "copied", r=np.arange(N) / N, q=np.arange(N) / N, c=np.ones((N, 2)), i=np.ones((N, 5)),
      j=np.ones((N, 5)))
# Results mean nothing where colours stay, whatever they are.
RESULTS = np.array(["B+3.5", "W+R", "0"] * 2)
check("numbers: results that are strings", numbers, "go9", "copied", result=RESULTS, outcome=objects(*RESULTS.tolist()), Outcomes=RESULTS.astype("S"))
check("numbers: results of chess", numbers, "chess", "copied", results=np.array(["1-0", "0-1", "1/2-1/2"] * 2), winner=np.array(["white", "black"] * 3))
check("numbers: values that are strings", numbers, "go9", "refused", value=RESULTS)
check("numbers: a value for each cell", numbers, "go9", "refused", value=np.ones((N, 9, 9)))
check("numbers: labels", numbers, "go9", "copied", b=np.arange(N), lasting=np.arange(N))
check("numbers: outcomes and large labels", numbers, "go9", "copied", y=np.arange(N) % 3 - 1,
      label=np.arange(N) % 3, target=np.arange(N) * 1000, next=np.arange(N) * 100, answer=np.arange(N) % 2)
check("numbers: rows of counts", numbers, "go9", "copied", counts=np.tile([4, 4, 0, -1], (N, 1)),
      more=np.arange(4 * N).reshape(N, 4), codes=np.tile([0, 1, -1, -1], (N, 1)))


def spelled(board, is_refused, **extra):
    """Strings that name cells in all rows are moves, which can only be left out; names and ids are copied."""
    shape = {"chess": (25, 8, 8), "go9": (3, 9, 9), "othello": (2, 8, 8)}[board]
    n = len(next(iter(extra.values())))
    arrays = {"planes": rng().integers(0, 2, (n, *shape)).astype("f4"), **extra}
    if is_refused:
        undecided(board, arrays, {name: "drop" for name in extra})
        return
    with Folder() as f:
        f.save(**arrays)
        f.ok("expand", "-q", "--board", board, "in.npz", "out.npz")


def cell_names(letters, n=30, seed=6):
    at = rng(seed).integers(0, len(letters), (n, 2))
    return np.array([f"{letters[x]}{y + 1}" for x, y in at])


SQUARES = cell_names("abcdefgh")
FROM_TO = np.char.add(SQUARES, cell_names("abcdefgh", seed=7))
check("spelled: cells", spelled, "go9", True, info=cell_names("ABCDEFGHJ"))
check("spelled: cells and passes, bytes, big-endian", spelled, "go9", True,
      mv=np.where(np.arange(30) % 9, cell_names("abcdefghi"), "pass").astype("S"),
      bm=np.where(np.arange(30) % 9, cell_names("abcdefghi"), "").astype(">U6"))
check("spelled: cells, objects", spelled, "othello", True, info=objects(*SQUARES.tolist()))
check("spelled: few cells under names of moves", spelled, "othello", True, best=SQUARES[[0] * N], played=SQUARES[[1] * N])
check("spelled: from and to", spelled, "chess", True, info=FROM_TO, uci=np.char.add(FROM_TO, "q")[:30],
      pv=np.char.add(np.char.add(FROM_TO, " "), FROM_TO[::-1]))
check("spelled: algebra", spelled, "chess", True, san=np.array(["e4", "Nf3", "exd5", "O-O", "Qxh7+", "e8=Q#", "R1d2", "Nbd7"] * 4))
check("spelled: sides", spelled, "go9", True, text=np.char.add("B ", cell_names("ABCDEFGHJ")))
TO = rng(9).integers(0, 9, (30, 2))
SGF = np.array([f"{'abcdefghi'[x]}{'abcdefghi'[y]}" for x, y in TO])
check("spelled: as in SGF", spelled, "go9", True, info=np.where(np.arange(30) % 7, SGF, "tt"), sgf=objects(*SGF.tolist()),
      two=np.stack([SGF, SGF[::-1]], 1), game=np.array([f";B[{a}];W[{b}]" for a, b in zip(SGF, SGF[::-1])]))
check("spelled: pairs of numbers", spelled, "go9", True, info=np.array([f"{x},{y}" for x, y in TO]),
      at=np.array([f"({x}, {y})" for x, y in TO]).astype("S"), of=objects(*[f"[{x} {y}]" for x, y in TO]),
      from_1=np.array([f"{x + 1}-{y + 1}" for x, y in TO]), prev=np.array(["(-1, -1)", "(3, 4)"] * 15), last=np.array(["3,4"] * 30))
check("spelled: indices", spelled, "go9", True, mv=(TO[:, 0] * 9).astype("U"), lm=np.array(["-1", "", "17"] * 10))
check("spelled: neither letters nor numbers of cells", spelled, "go9", False, gid=np.arange(30).astype("U"), who=np.array(["bo", "ed", "al"] * 10),
      score_by=np.array(["2-1", "0-2", "1-1"] * 10), at=np.array([f"{h}:{m}" for h, m in TO * 6]), day=np.array([f"2020-0{m + 1}-03" for m in TO[:, 0]]),
      komi_of=np.array(["7.5", "6.5", "0.5"] * 10), hash=np.array(["deadbeef", "cafe", "abba"] * 10), hex=np.array(["0a", "1f", "b7"] * 10))
check("spelled: names of games", spelled, "go9", False, game=np.repeat(cell_names("abcdefghi", 3), 10), tag=np.array(["a1"] * 30),
      gid=np.array([f"g{k % 9 + 1}" for k in range(30)]), agent=np.array(["a1", "b2", "c3", "d4"] * 8)[:30],
      row_of=np.array([f"h{k}" for k in range(1, 31)]))
check("spelled: names, dates, results", spelled, "go9", False, by=np.array(["ann", "bo"] * 15), net=np.array(["b6c96"] * 30),
      date=np.array(["2020-01-05"] * 30), won=np.array(["B+3.5", "W+R", "0"] * 10), side=np.array(["b", "w"] * 15),
      best_player=np.array(["ann", "bo"] * 15), none=np.array([""] * 30), moves_text=np.array(["pass"] * 30))
check("spelled: of chess", spelled, "chess", False, eco=np.array(["B12", "C45", "E60", "A00", "D3"] * 6),
      score_of=np.array(["1-0", "0-1", "1/2-1/2"] * 10), white=np.array(["KQ", "B", "Nb"] * 10), time=np.array(["12h30", "9h5"] * 15))


def spelled_by_colour():
    """Where colours swap, too, strings of moves are not said to be worth a --copy."""
    with Folder() as f:
        f.save(boards=np.zeros((30, 3, 13, 13), "f4"), info=SQUARES, at=SGF)
        said = f.refused("expand", "-b", "hex13", "in.npz", "out.npz")
        assert said.count("suggest moves or cells") == 2 and "copy" not in said, said
        f.ok(*shlex.split(said.split("; use: ")[1])[1:])


check("spelled: on a board that swaps colours", spelled_by_colour)


def squares():
    """Numbers below the number of cells, beside a policy that is no policy of cells, name cells."""
    with Folder() as f:
        f.save(planes=planes(25, 8, 8), policy=np.eye(1858, dtype="f4")[[400] * N],
               ep_square=np.arange(N) + 16)
        said = f.refused("expand", "--board", "chess", "in.npz", "out.npz")
        assert "--role ep_square=action:layout=cells" in said, said
        f.ok(*shlex.split(said.split("; use: ")[1])[1:])
        out = load(f.path("out.npz"))
        assert np.array_equal(out["ep_square"][out["symaug_transform"] == 1], (np.arange(N) + 16) ^ 7)


check("squares beside a policy of moves", squares)


def policies_of_kinds():
    """(N,k,H,W) is k policies when it is told so, and not before."""
    with Folder() as f:
        kinds = rng(6).random((N, 3, 9, 9))
        f.save(x=planes(3, 9, 9), heads=kinds)
        f.refused("expand", "-b", "go9", "in.npz", "out.npz")
        f.ok("expand", "-q", "-b", "go9", "--role", "heads=policy", "--order", "transform", "in.npz",
             "out.npz")
        out = load(f.path("out.npz"))["heads"].reshape(8, N, 3, 9, 9)
        for k in range(8):
            turned = [np.rot90(kinds[:, :, ::flip], turn, axes=(2, 3)) for flip in (1, -1)
                      for turn in range(4)]
            assert sum(np.array_equal(out[k], image) for image in turned) == 1


check("policy (N,k,H,W)", policies_of_kinds)


def padded_late(order):
    """A list of moves is one though its first rows, and the first moves of all rows, are full."""
    with Folder() as f:
        lists = np.tile(np.arange(81), (3000, 1))
        lists[199, 60:] = -1
        f.save(x=np.zeros((3000, 3, 9, 9), "u1"), legal=np.array(lists, order=order))
        assert "--role legal=drop" in f.refused("expand", "-b", "go9", "in.npz", "out.npz")


check("a list that is padded late", padded_late, "C")
check("a list that is padded late, in Fortran order", padded_late, "F")


def beyond_as_told():
    """An index beyond the actions of the layout that was told is refused before anything is written."""
    with Folder() as f:
        f.save(x=planes(2, 9, 9), i=objects(*[np.array([3, 81])] * N), v=objects(*[np.array([0.5, 0.5])] * N))
        said = f.refused("expand", "-b", "go9", "--role", "i=policy-index:layout=cells", "--role",
                         "v=policy-value", "in.npz", "out.npz")
        assert "in.npz: i: " in said and "index 81, expected below 81" in said, said


check("an index beyond the layout that was told", beyond_as_told)


def row_of_index():
    """For programs an index beyond the actions names its row, not its place in the list of all rows."""
    with Folder() as f:
        f.save(x=np.zeros((6, 2, 9, 9)), pi_indices=np.append(np.arange(11), 81), pi_values=np.ones(12),
               pi_offsets=np.array([0, 2, 4, 4, 6, 8, 12]))
        done = subprocess.run([SYMAUG, "expand", "-b", "go9", f.path("in.npz"), f.path("out.npz")],
                              capture_output=True, env={**os.environ, "SYMAUG_ERRORS": "json"})
        said = json.loads(done.stderr)
        assert (said["array"], said["row"]) == ("pi_indices", 5), said


check("the row of an index in CSR form", row_of_index)


def moves_of_chess():
    """Moves of no told layout, beyond the cells: the layouts are named, and nothing is offered that fails."""
    with Folder() as f:
        f.save(move=np.arange(N) * 500 + 5, value=np.linspace(-1, 1, N))
        said = f.refused("expand", "-b", "chess", "in.npz", "out.npz")
        assert "in.npz: move: " in said and "from-to (4096)" in said and "--role move=drop" in said, said


check("moves of chess in some layout", moves_of_chess)


def info_shows_all():
    """`info` prints every role it knows, ? where it does not, and a command that settles all."""
    with Folder() as f:
        f.save(**go(a=spread(81), moves=np.arange(N), best=np.arange(N), odd=spread(81)[:5],
                    pi_indices=np.zeros((N, 4), "i4"), pi_values=np.zeros((N, 5), "f4")))
        code, out, errors = f.run("info", "-b", "go9", "in.npz")
        assert code == 65 and errors == "", errors
        roles = {line.split()[0]: line.split(")")[1].split()[0] for line in out.splitlines()[1:7]}
        assert roles == {"features": "planes:nchw", "policy": "policy:layout=cells", "a": "?",
                         "moves": "action:layout=cells", "best": "?", "odd": "?"}, roles
        assert [line.split(")")[1].split()[0] for line in out.splitlines()[7:9]] == ["?", "?"], out
        command = shlex.split(out.split("  use: ")[1].replace("OUT.npz", "out.npz"))
        f.ok("expand", "-q", *command[2:])
        shown = json.loads(f.run("info", "--json", "-b", "go9", "in.npz")[1])["files"][0]
        found = {array["name"]: (array["role"], array.get("flag")) for array in shown["arrays"]}
        assert found["moves"] == ("action", None) and found["a"] == (None, "--role a=policy")
        assert found["odd"] == (None, "--role odd=drop") and found["pi_values"][0] is None
        assert shown["rows"] == N and shlex.split(shown["command"])[:2] == ["symaug", "expand"]
        assert "goes with" in shown["arrays"][-1]["error"]
        assert f.run("info", "-b", "go9", "--write-schema", "in.npz")[0] == 65
        f.save(**go(), **{"my heat": spread(81)})
        shown = json.loads(f.run("info", "--json", "-b", "go9", "in.npz")[1])["files"][0]
        assert shlex.split(shown["arrays"][-1]["flag"]) == ["--role", "my heat=policy"], shown


def others_offer_the_same():
    """Who only looks offers what `expand` would."""
    with Folder() as f:
        f.save(**go(q=rng().random((N, 81))))
        for command in ["verify"], ["split", "--parts", "a=0.5,b=0.5", "--out-dir", "d"], ["show", "--row", "0"], ["dedupe"]:
            said = "".join(f.run(*command, "-b", "go9", "in.npz", *(["out.npz"] if command == ["dedupe"] else []))[1:])
            assert "--role q=action-values" in said, (command, said)


def info_without_board():
    with Folder() as f:
        f.save(x=planes(3, 13, 13), policy=spread(169))
        shown = json.loads(f.ok("info", "--json", "in.npz"))["files"][0]
        assert shown["rows"] == N and "board" not in shown
        assert "6 rows" in f.ok("info", "in.npz")


def verify_lists_all():
    """What has no role is a finding each, and the rest is looked at all the same."""
    with Folder() as f:
        f.save(**go(pi=spread(83), visits=spread(81)[:5], odd_indices=np.zeros((N, 4), "i4")),
               value=np.full(N, np.nan))
        code, out, errors = f.run("verify", "--json", "-b", "go9", "in.npz")
        found = {(i["array"], i["code"]) for i in json.loads(out)["files"][0]["findings"]}
        assert code == 1 and {("pi", "shape"), ("visits", "rows"), ("value", "nan")} <= found, found


check("info shows all", info_shows_all)
check("what others offer", others_offer_the_same)
check("info without a board", info_without_board)
check("verify lists all", verify_lists_all)

CONTAINERS = {
    "snowflake/games_processed": "hex13", "snowflake/games_py312_processed": "hex13",
    "snowflake/shuffled_401": "hex13", "alphagomoku/lazy": "square:9", "alphagomoku/eager": "square:9",
    "advanced-chess/memory_1": "chess", "take_it_easy/games_20260311": "takeiteasy",
    "take_it_easy/samples": "takeiteasy", "alpha-zero-general/connect4": "connect4",
    "alpha-zero-general/othello6": "square:6"}


def container(name, board):
    """What the converter makes of other systems' files needs no flag but --board."""
    path = os.path.abspath(f"{os.path.dirname(__file__)}/../data/containers/{name}.npz")
    with Folder() as f:
        f.ok("expand", "-q", "--board", board, path, "out.npz")
        f.ok("verify", "-q", "--board", board, "out.npz")
        assert '"role": null' not in f.ok("info", "--json", "--board", board, path)


for name, board in CONTAINERS.items():
    check(f"{name} with --board {board} alone", container, name, board)


def nothing_spatial(**arrays):
    with Folder() as f:
        f.save(**arrays)
        assert "--role NAME=planes" in f.refused("expand", "-b", "go9", "in.npz", "out.npz")


check("nothing spatial: value and ply", nothing_spatial, value=np.ones(N), ply=np.arange(N))
check("nothing spatial: to-move and wdl", nothing_spatial, player=np.ones(N), wdl=np.ones((N, 3)))


def quoted():
    """Names and operands that a shell would take apart."""
    with Folder() as f:
        f.save("a b.npz", **go(**{"my heat's": spread(81)}))
        errors = f.refused("expand", "-b", "go9", "--", "a b.npz", "out.npz")
        f.ok(*shlex.split(errors.split("; use: ")[1])[1:])


check("quoted for a shell", quoted)


def of_many_inputs():
    """A command line too long for a message: the reason and the flags are told, and nothing is cut."""
    with Folder() as f:
        names = [f"{i:03}-{'n' * 40}.npz" for i in range(100)]
        f.save(names[0], **go(heat=spread(81)))
        for name in names[1:]:
            os.link(f.path(names[0]), f.path(name))
        errors = f.refused("expand", "--board", "go9", "--out-dir", "out", *names)
        assert f"{names[0]}: heat: dtype" in errors, errors
        flags = errors.split("; use: the same with ")[1].split()
        f.ok("expand", "--board", "go9", "--out-dir", "out", *names, *flags)
        f.save(**go(**{f"heat_{i:04}": spread(81) for i in range(300)}))
        errors = f.refused("expand", "--board", "go9", "in.npz", "out.npz")
        assert "heat_0000: dtype" in errors and errors.endswith("; use: --schema FILE, a file of roles\n"), errors


check("a command of many inputs", of_many_inputs)


def metadata(key, values, code, words):
    with Folder() as f:
        for name, value in zip("ab", values):
            f.save(f"{name}.npz", **go(**{key: np.array(value)}))
        found, _, errors = f.run("expand", "-b", "go9", "-o", "out.npz", "a.npz", "b.npz")
        assert found == code and all(word in errors for word in words), errors


check("metadata that differs", metadata, "version", (1, 2), 0, ["b.npz", "version", "differs"])
check("strings that differ", metadata, "encoder", ("v1", "v2"), 0, ["b.npz", "encoder", "differs"])
check("a table that differs", metadata, "table", ([1.0, 2], [1.0, 3]), 0, ["b.npz", "table", "differs"])
check("policy_size that differs", metadata, "policy_size", (81, 82), 65, ["b.npz", "policy_size"])
check("policy_size of two widths", metadata, "policy_size", (np.int64(81), np.int32(81)), 0, [])
check("board_type in two types", metadata, "board_type", (np.array("mine", "U9"), np.array(b"mine")), 0, [])
check("board_type that differs", metadata, "board_type", ("mine", "yours"), 65, ["b.npz", "board_type"])

def round_trip(board, told, flags=(), **arrays):
    """What was told of roles survives: told, written as a schema, read again, put into the manifest,
    and checked from that without a flag."""
    roles = [word for name, role in told.items() for word in ("--role", f"{name}={role}")]
    with Folder() as f:
        f.save(**arrays)
        f.ok("expand", "-q", "-b", board, *flags, *roles, "in.npz", "told.npz")
        schema = f.ok("info", "-b", board, *roles, "--write-schema", "in.npz")
        open(f.path("s.json"), "w").write(schema)
        f.ok("expand", "-q", "-b", board, *flags, "--schema", "s.json", "in.npz", "read.npz")
        one, other = load(f.path("told.npz")), load(f.path("read.npz"))
        assert list(one) == list(other)
        for key in one:
            assert one[key].tobytes() == other[key].tobytes(), key
        found = [{a["name"]: a["role"] for a in json.load(open(f.path(name + ".npz.manifest.json")))
                  ["outputs"][0]["arrays"]} for name in ("told", "read")]
        assert found[0] == found[1], found
        for name, role in told.items():
            kind, _, options = role.partition(":")
            assert found[0][name].split(":")[0] == kind, found
            for option in options.split(","):
                assert option in found[0][name], (option, found[0][name])
        again = json.loads(schema)["arrays"]
        assert all(again[name] == found[0][name] for name in told), (again, found)
        f.ok("verify", "read.npz")


EMPTY = np.zeros((N, 2, 9, 9), "f4")
for flip in "flipud", "fliplr", "transpose":
    check(f"schema, {flip}", round_trip, "square:9",
          {"p": f"policy:{flip}", "m": f"mask:layout=cells+pass,{flip}",
           "q": f"action-values:{flip}", "i": f"policy-index:{flip}", "v": "policy-value",
           "a": f"action:{flip}"},
          planes=EMPTY, p=spread(81), m=np.ones((N, 82), bool), q=spread(81),
          i=np.tile(np.arange(4), (N, 1)), v=np.full((N, 4), 0.25, "f4"), a=np.arange(N))
for order, corner in ("nchw", (2, 9, 9)), ("nhwc", (9, 9, 2)):
    check(f"schema, {order}", round_trip, "square:9", {"s": f"planes:{order}"},
          s=np.zeros((N, *corner), "f4"))
for bits in "msb", "lsb":
    check(f"schema, {bits}", round_trip, "square:9", {"s": f"packed:{bits}"},
          s=np.packbits(planes(2, 81).astype("u1") * 0, axis=-1))
for order in "rowcol", "colrow":
    check(f"schema, {order}", round_trip, "square:9", {"c": f"coord:{order}"}, planes=EMPTY,
          c=np.tile([1, 5], (N, 1)))
check("schema, colours", round_trip, "rhombus:5",
      {"w": "to-move:winner", "u": "value:players"}, ["--value", "colour11"],
      planes=np.zeros((N, 2, 5, 5), "f4"), policy=spread(25), w=np.arange(N) % 2,
      u=np.tile(np.array([0.5, -0.5], "f4"), (N, 1)))


tap.main()
