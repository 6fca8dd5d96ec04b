#!/usr/bin/python3
"""symaug-convert on random files of five systems, read back as the systems read them: their classes
are here, their files are opened by Python's own pickle, h5py, lmdb and csv."""

import ast
import collections
import contextlib
import csv
import dataclasses
import enum
import gzip
import io
import os
import pickle
import struct
import subprocess
import sys
import types

import numpy as np

from golden import Tap, load, same_bits
from test_convert import Scratch
from symaug.convert import guarded  # noqa: E402: test_convert says where it is

tap = Tap()


def convert(*arguments):
    """symaug-convert, in this process: nothing here is damaged."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        code = guarded(list(arguments))
    assert code == 0, said.getvalue()


# --- the systems' classes ---


class Called(enum.Enum):
    """As Python 3.12 writes members: a call with the value; 3.11 and before name them."""

    def __reduce_ex__(self, protocol):
        return (self.__class__, (self._value_,)) if by_value[0] else (getattr, (self.__class__, self._name_))


by_value = [False]
Player = Called("Player", {"BLUE": 0, "RED": 1})
Winner = Called("Winner", {"BLUE": 0, "RED": 1})


@dataclasses.dataclass
class SelfPlayData:
    state: np.ndarray
    policy: np.ndarray
    value: float
    current_player: int
    last_move: tuple
    metadata: dict


for module, classes in (("hex_ai.enums", (Player, Winner)), ("alphagomoku.selfplay.selfplay", (SelfPlayData,))):
    parts = module.split(".")
    for i in range(len(parts)):
        sys.modules.setdefault(".".join(parts[: i + 1]), types.ModuleType(".".join(parts[: i + 1])))
    for cls in classes:
        cls.__module__ = module
        setattr(sys.modules[module], cls.__name__, cls)


def same(found, expected, where):
    """Equal in value and type, all the way down; keys of dicts in any order."""
    assert type(found) is type(expected), f"{where}: {found!r}, expected {expected!r}"
    if isinstance(expected, (np.ndarray, np.generic)):
        same_bits(found, expected, where)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), f"{where}: {list(found)}, expected {list(expected)}"
        for key in expected:
            same(found[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(expected, (list, tuple, collections.deque)):
        assert len(found) == len(expected), f"{where}: {len(found)}, expected {len(expected)}"
        assert getattr(found, "maxlen", None) == getattr(expected, "maxlen", None), where
        for i, pair in enumerate(zip(found, expected)):
            same(*pair, f"{where}[{i}]")
    elif dataclasses.is_dataclass(expected):
        assert list(vars(found)) == list(vars(expected)), where
        same(vars(found), vars(expected), where)
    else:
        assert repr(found) == repr(expected), f"{where}: {found!r}, expected {expected!r}"


def there_and_back(scratch, path):
    """The path of the rows of `path`, converted and converted back."""
    convert(path, scratch("arrays.npz"))
    convert("--like", path, scratch("arrays.npz"), scratch("back"))
    return scratch("back")


# --- Snowflake ---


def some_board(rng, shape, dtype):
    return rng.integers(0, 2, shape).astype(dtype)


def hex_row(rng, i, form):
    size, winner = form["size"], Winner(int(rng.integers(2)))
    policy = rng.random(size * size).astype(form["policy"])
    row = {
        "board": some_board(rng, (2, size, size), form["board"]),
        "policy": None if rng.random() < form["none"] else policy,
        "value": float(winner.value),
        "player_to_move": Player(i % 2),
        "metadata": {
            "game_id": (i // 7, i) if form["ids"] else None, "position_in_game": i, "total_positions": 99,
            "winner": winner if form["enum"] else winner.name, "value_sample_tier": int(rng.integers(3)),
            "source_file": form["name"], "temperature": float(rng.choice([0.0, 1.0, 0.1, np.inf])),
        },
    }  # fmt: skip
    if form["shuffled"]:
        del row["player_to_move"]
    elif rng.random() < form["nobody"]:
        row["player_to_move"] = None
    for one in (row, row["metadata"]) if form["orders"] else ():
        keys = list(one)
        rng.shuffle(keys)
        for key in keys:
            one[key] = one.pop(key)
    return row


def hex_file(rng, number):
    form = {"size": int(rng.choice([13, 5, 11])), "policy": rng.choice(["f4", "f8", ">f4", "f2"]),
            "board": rng.choice(["f4", "u1", "?", ">i2"]), "none": rng.choice([0, 0.2, 1]),
            "ids": rng.random() < 0.5, "enum": rng.random() < 0.5, "shuffled": rng.random() < 0.3,
            "nobody": rng.choice([0, 0.3]), "orders": rng.random() < 0.3,
            "name": str(rng.choice(["a.trmph", "Größe \u6e2c\u8a66.trmph", "a\nb\"c'", ""]))}  # fmt: skip
    rows = [hex_row(rng, i, form) for i in range(int(rng.choice([1, 2, 30])))]
    top = {"examples": rows, "source_file": form["name"], "processed_at": "2025-07-01T00:00:00",
           "processing_stats": {"file_path": None, "examples_generated": len(rows), "all": 1.5}}  # fmt: skip
    return top, form


def write_pickle(path, top, number):
    by_value[0] = number % 4 >= 2
    content = pickle.dumps(top, protocol=number % 6)
    if number % 5 == 1:
        content = gzip.compress(content)
    with open(path, "wb") as file:
        file.write(content)


def read_pickle(path):
    with open(path, "rb") as file:
        content = file.read()
    return pickle.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


@tap.test(*range(36))
def test_snowflake(number):
    rng = np.random.default_rng([1, number])
    top, form = hex_file(rng, number)
    with Scratch() as scratch:
        write_pickle(scratch("in"), top, number)
        same(read_pickle(there_and_back(scratch, scratch("in"))), read_pickle(scratch("in")), "top")
        arrays, rows = load(scratch("arrays.npz")), top["examples"]
        same_bits(arrays["board"], np.array([row["board"] for row in rows], form["board"]), "board")
        same_bits(arrays["winner"], np.array([row["metadata"]["winner"] in (Winner.RED, "RED") for row in rows], "i1"),
                  "winner")  # fmt: skip
        is_there = [row["policy"] is not None for row in rows]
        if any(is_there):
            zero = np.zeros(form["size"] ** 2)
            same_bits(arrays["policy"], np.array([zero if row["policy"] is None else row["policy"] for row in rows],
                                                 form["policy"]), "policy")  # fmt: skip
        assert ("policy_present" in arrays) == (any(is_there) and not all(is_there))


# --- alphagomoku ---


def gomoku_row(rng, i, form):
    size, extra = form["size"], {"move_index": i, "temperature": float(rng.choice([1.0, 0.5, 0.0]))}
    if form["extra"]:
        extra |= {"näme": "\u6e2c", "list": [1, 2.5, None, {"a": [True]}], "none": None, "big": 1 << 70}
        if i % 3 == 0:
            extra["only"] = -1e300
    move = (-1, -1) if i == 0 else tuple(map(int, rng.integers(0, size, 2)))
    return SelfPlayData(
        some_board(rng, (form["planes"], size, size), form["board"]), rng.random(size * size).astype(form["policy"]),
        form["value"](rng.integers(-1, 2)), int(rng.choice([1, -1])),
        None if rng.random() < form["none"] else move, extra,
    )  # fmt: skip


def write_lmdb(path, rows, protocol, is_lazy):
    import lmdb

    with lmdb.open(path, map_size=1 << 28) as store, store.begin(write=True) as write:
        for i in np.random.default_rng(len(rows)).permutation(len(rows)):
            value = (rows[i], -1) if is_lazy else rows[i]
            write.put(b"data_%d" % i, pickle.dumps(value, protocol))
        write.put(b"size", struct.pack(">Q", len(rows)))


def read_lmdb(path):
    import lmdb

    with lmdb.open(path, lock=False, readonly=True) as store, store.begin() as read:
        n = int.from_bytes(read.get(b"size"), "big")
        assert read.stat()["entries"] == n + 1
        return [pickle.loads(read.get(b"data_%d" % i)) for i in range(n)]


@tap.test(*range(24))
def test_alphagomoku(number):
    rng = np.random.default_rng([2, number])
    form = {"size": int(rng.choice([9, 15, 5])), "planes": int(rng.integers(1, 7)),
            "board": rng.choice(["f4", "f8", "i1"]), "policy": rng.choice(["f8", "f4"]),
            "value": [int, float, np.float32, np.int64][rng.integers(4)], "none": rng.choice([0, 0.2, 1]),
            "extra": rng.random() < 0.4}  # fmt: skip
    if number % 8 == 7:
        form["planes"] = 300  # more than a page
    rows, is_lazy = [gomoku_row(rng, i, form) for i in range(int(rng.choice([1, 3, 40])))], rng.random() < 0.5
    with Scratch() as scratch:
        write_lmdb(scratch("in"), rows, number % 6, is_lazy)
        back = there_and_back(scratch, scratch("in"))
        same(read_lmdb(back), [(row, -1) for row in rows] if is_lazy else rows, "rows")
        assert os.listdir(back) == ["data.mdb"]


# --- alpha-zero-general ---


@tap.test(*range(24))
def test_alpha_zero_general(number):
    rng = np.random.default_rng([3, number])
    size, draw = int(rng.integers(2, 9)), rng.random() < 0.5
    kinds = ([int, np.int64, np.int8, float][number % 4], rng.choice(["i8", "i1", "f4"]))
    pis = [lambda p: p.tolist(), lambda p: [float(x) for x in p], lambda p: p, lambda p: list(p.astype("f4"))]

    def row():
        board, pi = rng.integers(-1, 2, (size, size)).astype(kinds[1]), rng.random(size * size + 1)
        if rng.random() < 0.3:  # temperature 0
            pi = np.eye(len(pi), dtype="i8" if number % 3 == 0 else "f8")[1]
        value = 1e-4 if draw and kinds[0] is int and rng.random() < 0.3 else kinds[0](rng.choice([1, -1]))
        return board, pis[0 if number % 3 == 0 else number // 3 % 4](pi), value

    lengths = [rng.integers(0, 12) for _ in range(int(rng.integers(1, 6)))] + [1]
    top = [collections.deque([row() for _ in range(n)], [None, 200000, 12][number % 3]) for n in lengths]
    if number % 7 == 6:
        top = [list(some) for some in top]
    with Scratch() as scratch:
        write_pickle(scratch("in"), top, number)
        same(read_pickle(there_and_back(scratch, scratch("in"))), read_pickle(scratch("in")), "history")
        same_bits(load(scratch("arrays.npz"))["iteration"], np.repeat(np.arange(len(top)), lengths), "iteration")


# --- Advanced-Chess ---


def chess_file(rng, path, settings, n, n_moves):
    import h5py

    planes = np.zeros((n, 25, 8, 8), "i1")
    planes[:, :19] = rng.random((n, 19, 8, 8)) < 0.2
    planes[:, 19:] = rng.integers(-128, 128, (n, 6, 1, 1)) * (rng.random((n, 6, 1, 1)) < 0.7)
    states = []
    for row in planes:
        words = [sum(int(bit) << k for k, bit in enumerate(plane.reshape(-1))) for plane in row[:19]]
        states.append(struct.pack("<19Q6b", *words, *row[19:, 0, 0].tolist()))
    counts = np.zeros((n, n_moves, 2), settings.pop("counts", "<i4"))
    for i in range(n):
        k = rng.integers(1, n_moves + 1)
        counts[i, :k, 0] = rng.choice(1814, k, replace=False)
        counts[i, :k, 1] = rng.integers(1, 800, k)
    values = rng.choice([-1.0, 0.0, 1.0, 0.25], n)
    with h5py.File(path, "w", libver=settings.pop("libver", None)) as file:
        file.create_dataset("states", data=np.array(states), **settings)
        file.create_dataset("visit_counts", data=counts, **settings)
        file.create_dataset("value_targets", data=values, **settings)
        file.attrs["metadata"] = str({"action_size": "1814", "representation_shape": "(25, 8, 8)", "game": "ChessGame"})
        file.attrs["stats"] = str({"num_samples": n, "num_games": 3, "name": "Größe"})
    return planes, counts, values


def read_chess(path):
    import h5py

    with h5py.File(path) as file:
        states = [struct.unpack("<19Q6b", row.ljust(158, b"\0")) for row in file["states"][()]]
        planes = np.zeros((len(states), 25, 8, 8), "i1")
        for row, numbers in zip(planes, states):
            for k, number in enumerate(numbers):
                row[k] = np.reshape([number >> i & 1 for i in range(64)], (8, 8)) if k < 19 else number
        attributes = {key: ast.literal_eval(file.attrs[key]) for key in file.attrs}
        return planes, file["visit_counts"][()], file["value_targets"][()], attributes


CHUNKED = [
    {}, {"chunks": True}, {"compression": "gzip"}, {"compression": "gzip", "compression_opts": 9, "shuffle": True},
    {"compression": "lzf", "fletcher32": True}, {"chunks": True, "resizable": True}, {"libver": "latest"},
    {"counts": ">i8"},
]  # fmt: skip


@tap.test(*[(number, n) for number in range(len(CHUNKED)) for n in (1, 37)])
def test_advanced_chess(number, n):
    rng = np.random.default_rng([4, number])
    settings = dict(CHUNKED[number])
    if settings.pop("resizable", False):
        settings["maxshape"] = None
    with Scratch() as scratch:
        if "maxshape" in settings:
            settings["chunks"] = True
        made = chess_file(rng, scratch("in"), settings, n, int(rng.integers(1, 90)))
        back = read_chess(there_and_back(scratch, scratch("in")))
        for found, expected, name in zip(back, made, ("states", "counts", "values")):
            same_bits(found, expected, name)
        arrays = load(scratch("arrays.npz"))
        same_bits(arrays["states"], made[0], "states")
        same_bits(arrays["policy_indices"], made[1][:, :, 0], "moves")
        same_bits(arrays["policy_size"], np.int64(1814), "size")
        assert back[3]["stats"] == {"num_samples": n, "num_games": 3, "name": "Größe"}
        assert back[3]["metadata"]["game"] == "ChessGame"
        # half as many rows, and twice as many, in files like it
        less, more = max(n // 2, 1), np.tile(np.arange(n), 2)
        for rows in (np.arange(less), more):
            np.savez(scratch("rows.npz"), **{k: a[rows] if a.ndim else a for k, a in arrays.items()})
            convert("-f", "--like", scratch("in"), scratch("rows.npz"), scratch("back"))
            back = read_chess(scratch("back"))
            same_bits(back[0], made[0][rows], "states")
            assert back[3]["stats"]["num_samples"] == len(rows)


# --- take_it_easy ---


def cells_of(arrays, name):
    return arrays[name].reshape(len(arrays[name]), -1).tolist()


def table(header, rows, comma=",", end="\n"):
    out = io.StringIO()
    csv.writer(out, delimiter=comma, lineterminator=end).writerows([header, *rows])
    return out.getvalue()


RECORDER = ["game_id", "turn", "player_type", *[f"plateau_{k}" for k in range(19)], *[f"tile_{k}" for k in range(3)],
            "position", "final_score", "human_won"]  # fmt: skip


def recorder_rows(rng, n, texts):
    return [[str(rng.choice(texts)), i % 19, str(rng.choice(["Human", "MCTS", "Größe, \"x\""])),
             *rng.integers(0, 999, 19).tolist(), *rng.integers(1, 10, 3).tolist(), int(rng.integers(19)),
             int(rng.integers(300)), int(rng.integers(2))] for i in range(n)]  # fmt: skip


@tap.test(*range(12))
def test_recorder(number):
    """Columns in any order, ends of lines, quotes: the same bytes again."""
    rng = np.random.default_rng([5, number])
    ids = [["ffe42279-f3bd-4683-a6a8-52c1bb9651f3"], ["0001", "0002"], ["18446744073709551615", "3"]][number % 3]
    rows = recorder_rows(rng, [1, 2, 50][number % 3], ids)
    order = rng.permutation(len(RECORDER)) if number % 4 == 3 else np.arange(len(RECORDER))
    content = table([RECORDER[k] for k in order], [[row[k] for k in order] for row in rows],
                    end="\r\n" if number % 2 else "\n").encode()  # fmt: skip
    with Scratch() as scratch:
        with open(scratch("in"), "wb") as file:
            file.write(content)
        with open(there_and_back(scratch, scratch("in")), "rb") as file:
            assert file.read() == content
        arrays = load(scratch("arrays.npz"))
        assert arrays["player_type"].tolist() == [row[2] for row in rows]
        same_bits(arrays["plateau"], np.array([row[3:22] for row in rows]), "plateau")
        same_bits(arrays["tile"], np.array([row[22:25] for row in rows]), "tile")


NUMBERS = {  # one column each, as somebody writes them
    "rust": ["1", "0.5", "0.00001", "-3", "123456789"], "fixed": ["0.500", "1.000", "-0.125"],
    "python": ["1.0", "0.1", "1e-05", "-0.0"], "signed": ["+1", "-2", "+0"], "padded": ["007", "123", "010"],
    "ids": ["18446744073709551615", "9223372036854775808"], "mixed": ["7", "07"], "large": ["-9223372036854775808"],
    "scientific": ["1.50e+00", "2.25e-07"], "nan": ["nan", "1.5", "inf"], "NaN": ["NaN", "1.5", "inf"],
    "zero": ["-0", "0", "1"], "true": ["true", "false"], "empty": ["", "", "x"], "space": [" a", "b "],
    "holes": ["1", "", "3"], "half": ["0.5", "", "2.5"],
}  # fmt: skip


@tap.test(*[(name, comma) for name in NUMBERS for comma in (",", "\t")])
def test_numbers(name, comma):
    """Each column comes back as it was written."""
    content = table(["a", "n", "file"], [["x", cell, "f"] for cell in NUMBERS[name]], comma)
    with Scratch() as scratch:
        with open(scratch("in"), "w", newline="") as file:
            file.write(content)
        with open(there_and_back(scratch, scratch("in")), newline="") as file:
            found = file.read()
        assert found == content, found


if __name__ == "__main__":
    tap.main()
