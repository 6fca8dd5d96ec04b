#!/usr/bin/python3
"""symaug-convert: real files of five systems to shards, expanded, and back; and what is refused."""

import collections
import gzip
import io
import json
import os
import pickle
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np

from golden import Tap, data, load, run, same_bits

sys.path.insert(0, os.path.abspath("python"))
from symaug import restricted  # noqa: E402
from symaug.convert import put_in_place  # noqa: E402

tap = Tap()

FILES = {  # file: its arrays, board
    "snowflake/games_processed.pkl.gz": ("snowflake/games_processed", "hex13"),
    "snowflake/games_py312_processed.pkl.gz": ("snowflake/games_py312_processed", "hex13"),
    "snowflake/shuffled_401.pkl.gz": ("snowflake/shuffled_401", "hex13"),
    "alphagomoku/lazy.lmdb": ("alphagomoku/lazy", "square:9"),
    "alphagomoku/eager.lmdb": ("alphagomoku/eager", "square:9"),
    "advanced-chess/memory_1.hdf5": ("advanced-chess/memory_1", "chess"),
    "take_it_easy/games_20260311.csv": ("take_it_easy/games_20260311", "takeiteasy"),
    "take_it_easy/samples.tsv": ("take_it_easy/samples", "takeiteasy"),
    "alpha-zero-general/connect4.examples": ("alpha-zero-general/connect4", "connect4"),
    "alpha-zero-general/othello6.examples": ("alpha-zero-general/othello6", "square:6"),
}


def original(name):
    return data("containers/" + name)


def convert(*arguments, code=0):
    """Run symaug-convert; its exit code must be `code`, and what it says one line."""
    command = ["python/symaug-convert", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, f"{command}: exit {done.returncode}: {done.stderr}"
    assert done.stderr.count("\n") <= 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr


class Scratch(tempfile.TemporaryDirectory):
    """A scratch folder; call it for a path in it."""

    def __call__(self, name):
        return os.path.join(self.name, name)

    def __enter__(self):
        return self


def same_arrays(found, expected):
    assert set(found) == set(expected), f"{set(found) ^ set(expected)}"
    for name, array in expected.items():
        if name == "metadata":
            texts = [json.loads(str(text)) for text in found[name]]
            assert texts == [json.loads(str(text)) for text in array], name
        else:
            same_bits(found[name], array, name)


@tap.test(*FILES)
def test_in(name):
    with Scratch() as scratch:
        convert(original(name), scratch("out.npz"))
        same_arrays(load(scratch("out.npz")), load(original(FILES[name][0] + ".npz")))


@tap.test(*FILES)
def test_there_and_back(name):
    """The rows themselves, in the form of their file, are the file's arrays again."""
    with Scratch() as scratch:
        convert(original(name), scratch("out.npz"))
        convert("--like", original(name), scratch("out.npz"), scratch("new"))
        convert(scratch("new"), scratch("again.npz"))
        same_arrays(load(scratch("again.npz")), load(scratch("out.npz")))
        if name.startswith("take_it_easy"):
            with open(original(name), "rb") as old, open(scratch("new"), "rb") as new:
                assert old.read() == new.read()


@tap.test(*FILES)
def test_expanded(name):
    """`expand` takes them with the board alone; the images go back into the file's form."""
    with Scratch() as scratch:
        convert(original(name), scratch("in.npz"))
        run("expand", "-q", "--board", FILES[name][1], scratch("in.npz"), scratch("out.npz"))
        images = load(scratch("out.npz"))
        said = convert("--like", original(name), scratch("out.npz"), scratch("new"))
        assert "symaug_source, symaug_transform" in said, said
        convert(scratch("new"), scratch("again.npz"))
        again = load(scratch("again.npz"))
        for key in ("iteration",):  # images of an iteration stay in it
            if key in images:
                order = np.argsort(images[key], kind="stable")
                images = {k: v[order] if v.ndim else v for k, v in images.items()}
        images = {k: v for k, v in images.items() if not k.startswith("symaug_")}
        same_arrays(again, images)


def top(path):
    with open(path, "rb") as file:
        whole = file.read()
    return restricted.loads(gzip.decompress(whole) if whole[:2] == b"\x1f\x8b" else whole)[0]


@tap.test("games_processed", "shuffled_401")
def test_snowflake_types(name):
    """Swapped images: the winner is the other player, in the type that was there; counters."""
    with Scratch() as scratch:
        old, path = top(original(f"snowflake/{name}.pkl.gz")), scratch("new")
        convert(original(f"snowflake/{name}.pkl.gz"), scratch("in.npz"))
        run("expand", "-q", "--board", "hex13", "--order", "sample", scratch("in.npz"),
            scratch("out.npz"))  # fmt: skip
        convert("--like", original(f"snowflake/{name}.pkl.gz"), scratch("out.npz"), path)
        new = top(path)
        assert list(new) == list(old)
        rows, images = old["examples"], new["examples"]
        assert len(images) == 4 * len(rows)
        if name == "games_processed":
            assert new["processing_stats"]["examples_generated"] == len(images)
        else:
            assert new["shuffling_stats"] == old["shuffling_stats"]
        for i, image in enumerate(images):
            row = rows[i // 4]
            assert list(image) == list(row) and list(image["metadata"]) == list(row["metadata"])
            assert (image["policy"] is None) == (row["policy"] is None), i
            assert type(image["value"]) is float and image["board"].dtype == row["board"].dtype
            was, now = (one["metadata"]["winner"] for one in (row, image))
            if isinstance(was, restricted.Instance):
                assert repr(now.cls) == repr(was.cls) == "hex_ai.enums.Winner"
                was, now = was.args[0], now.args[0]
            assert (now == was) == (i % 4 < 2), (i, was, now)
            assert image["metadata"]["game_id"] == row["metadata"]["game_id"]


@tap.test("lazy", "eager")
def test_lmdb_types(name):
    import lmdb

    def values(path):
        with lmdb.open(path, lock=False, readonly=True) as store, store.begin() as read:
            n = int.from_bytes(read.get(b"size"), "big")
            return [restricted.loads(read.get(b"data_%d" % i))[0] for i in range(n)]

    with Scratch() as scratch:
        convert(original(f"alphagomoku/{name}.lmdb"), scratch("in.npz"))
        convert("--like", original(f"alphagomoku/{name}.lmdb"), scratch("in.npz"), scratch("new"))
        old, new = values(original(f"alphagomoku/{name}.lmdb")), values(scratch("new"))
        assert len(old) == len(new)
        for was, now in zip(old, new):
            if name == "lazy":
                assert type(now) is tuple and now[1] == -1
                was, now = was[0], now[0]
            assert repr(now.cls) == repr(was.cls) and list(now.state) == list(was.state)
            for field, value in was.state.items():
                assert type(now.state[field]) is type(value), field
                if isinstance(value, np.ndarray):
                    same_bits(now.state[field], value, field)
                else:
                    assert now.state[field] == value, field


@tap.test("connect4", "othello6")
def test_history_types(name):
    """A deque too short for the images becomes long enough; lists stay lists of numbers."""
    path = original(f"alpha-zero-general/{name}.examples")
    with Scratch() as scratch:
        convert(path, scratch("in.npz"))
        run("expand", "-q", "--board", FILES[f"alpha-zero-general/{name}.examples"][1],
            scratch("in.npz"), scratch("out.npz"))  # fmt: skip
        convert("--like", path, scratch("out.npz"), scratch("new"))
        old, new = top(path), top(scratch("new"))
        factor = sum(map(len, new)) // sum(map(len, old))
        assert len(new) == len(old) and factor == (2 if name == "connect4" else 8)
        for was, now in zip(old, new):
            assert len(now) == factor * len(was) and now.maxlen == max(was.maxlen, len(now))
            for board, pi, v in now:
                assert type(pi) is list and type(v) is int and board.dtype == was[0][0].dtype
                assert {type(number) for number in pi} <= {int, float}


@tap.test()
def test_hdf5_attributes():
    import h5py

    path = original("advanced-chess/memory_1.hdf5")
    with Scratch() as scratch:
        convert(path, scratch("in.npz"))
        run("expand", "-q", "--board", "chess", scratch("in.npz"), scratch("out.npz"))
        convert("--like", path, scratch("out.npz"), scratch("new"))
        with h5py.File(path) as old, h5py.File(scratch("new")) as new:
            assert set(old) == set(new) and old.attrs["metadata"] == new.attrs["metadata"]
            n = len(new["states"])
            assert n == 2 * len(old["states"])
            assert new.attrs["stats"] == old.attrs["stats"].replace("'num_samples': 37", f"'num_samples': {n}")
            for name in old:
                assert old[name].dtype == new[name].dtype, name


def rows_back(rows, protocol=4, content=None):
    """Rows in a pickle, there and back."""
    with Scratch() as scratch:
        with open(scratch("in"), "wb") as file:
            file.write(content or pickle.dumps(rows, protocol))
        convert(scratch("in"), scratch("out.npz"))
        convert("--like", scratch("in"), scratch("out.npz"), scratch("new"))
        return top(scratch("new")), load(scratch("out.npz"))


@tap.test()
def test_types_back():
    """Arrays of no dimensions, numbers of JSON, counters that count something else, deques."""
    board = np.zeros((3, 3), "i1")
    notes = ({"t": 1.0, "big": 1e300, "done": np.bool_(True)}, {"t": 0, "big": 2, "done": np.bool_(False)})
    rows = [{"board": board, "v": np.array(0.5, "f4"), "text": np.array("ab"), "notes": note} for note in notes]
    frame = {"examples": rows, "config": {"size": 13, "num_samples": 2}, "size": 2}
    found = rows_back(frame)[0]
    assert found["config"] == frame["config"] and found["size"] == 2
    for was, now in zip(rows, found["examples"]):
        for field in ("v", "text"):
            same_bits(now[field], was[field], field)
            assert type(now[field]) is np.ndarray, field
        assert now["notes"] == was["notes"] and list(map(type, now["notes"].values())) == list(
            map(type, was["notes"].values())), now["notes"]
    history = collections.deque([(board, [0.5, 0.5], 1)] * 3, maxlen=3)
    found = rows_back(history)[0]
    assert type(found) is collections.deque and len(found) == found.maxlen == 3


@tap.test()
def test_numbers_of_rotations():
    """A rotated pi is a list of numpy's numbers: floats, of the last moves of a game whole ones."""
    pis = [list(np.full(4, 0.2)) + [0.2], list(np.array([0, 1, 0, 0])) + [0]]
    found, arrays = rows_back([[(np.zeros((2, 2)), pi, 1) for pi in pis]])
    same_bits(arrays["pi"], np.array(pis, "f8"), "pi")
    assert [row[1] for row in found[0]] == pis


@tap.test("C", "F", "K")
def test_frombuffer(order):
    """What numpy writes under protocol 5; since 2.3 it gives the axes of other arrays."""
    array = np.arange(24, dtype="i4").reshape(2, 3, 4)
    reads = restricted._ALLOWED["numpy._core.numeric", "_frombuffer"].call
    dtype = restricted._Dtype(array.dtype)
    if order == "K":
        found = reads(array.tobytes(), dtype, (2, 3, 4), "K", (2, 0, 1))
        same_bits(found, array.transpose(2, 0, 1), order)
    else:
        same_bits(reads(array.tobytes(order), dtype, (2, 3, 4), order), array, order)


@tap.test()
def test_lmdb_of_more():
    """Keys beside the rows, greater than they are."""
    import lmdb

    with Scratch() as scratch:
        shutil.copytree(original("alphagomoku/lazy.lmdb"), scratch("old"))
        os.chmod(scratch("old"), 0o755)
        with lmdb.open(scratch("old"), map_size=1 << 26) as store, store.begin(write=True) as write:
            write.put(b"net", bytes(9 << 20))
        convert(scratch("old"), scratch("in.npz"))
        convert("--like", scratch("old"), scratch("in.npz"), scratch("new"))
        with lmdb.open(scratch("new"), lock=False, readonly=True) as store, store.begin() as read:
            assert read.get(b"net") == bytes(9 << 20)


# --- what is refused ---


class Evil:
    def __init__(self, function, *arguments):
        self.parts = function, arguments

    def __reduce__(self):
        return self.parts


def history(value):
    return [collections.deque([(np.zeros((2, 2)), [0.5, 0.5], value)])]


def deep(n):
    return [deep(n - 1)] if n else 0


def laughs():
    some = [0] * 10
    for _ in range(30):
        some = [some] * 10
    return some


HOSTILE = {
    "system": (pickle.dumps(history(Evil(os.system, "touch HIT"))), "system"),
    "eval": (pickle.dumps(history(Evil(eval, "1"))), "builtins.eval"),
    "numpy.load": (pickle.dumps(history(Evil(np.load, "x"))), "numpy.load"),
    "getattr": (b"\x80\x04cbuiltins\ngetattr\ncnumpy\nndarray\n\x8c\x04dump\x86R.", "Enum"),
    "persistent": (b"\x80\x04\x8c\x01xQ.", "persistent"),
    "extension": (b"\x80\x04\x82\x01.", "extension"),
    "build class": (b"\x80\x04cmine\nThing\n}\x8c\x01a\x8c\x01bsb.", "attributes"),
    "build deque": (b"\x80\x04ccollections\ndeque\n)R}\x8c\x01a\x8c\x01bsb.", "attributes"),
    "other class": (
        b"\x80\x04cnumpy.core.multiarray\n_reconstruct\n(cmine\nThing\nK\x00\x85C\x01btR.",
        "numpy.ndarray",
    ),
    "huge": (
        b"\x80\x04cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01btR"
        b"(K\x01\x8a\x06\x00\x00\x00\x00\x00\x01\x85cnumpy\ndtype\n\x8c\x02f8\x85R\x89C\x08"
        + bytes(8) + b"tb.",
        "8796093022208 bytes",
    ),
    "exec by value": (b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93\x8c\x08open('h')\x85R.", "builtins.exec"),
    "dotted": (b"\x80\x04\x8c\x0bcollections\x8c\x0fdeque.__class__\x93)R.", "deque.__class__"),
    "not a name": (b"\x80\x04]\x8c\x04exec\x93)R.", "STACK_GLOBAL"),
    "through numpy": (b"\x80\x04\x8c\x15numpy.core.multiarray\x8c\x18_reconstruct.__globals__\x93.", "__globals__"),
    "numpy runs": (b"\x80\x04cnumpy.testing._private.utils\nrunstring\n\x8c\x01x}\x86R.", "runstring"),
    "copyreg": (b"\x80\x04ccopyreg\n__newobj__\n(cmine\nThing\ntR.", "copyreg.__newobj__"),
    "protocol 0": (b"(lp0\ncposix\nsystem\n(S'touch HIT'\ntRa.", "posix.system"),
    "old module": (b"]q\0c__builtin__\neval\n(X\x01\0\0\x001tRa.", "__builtin__.eval"),
    "instance": (b"\x80\x04(cposix\nsystem\n\x8c\x01xo.", "posix.system"),
    "inst": (b"(lp0\n(S'touch HIT'\niposix\nsystem\na.", "calls by class"),
    "state of a name": (b"\x80\x04cmine\nThing\n)\x81cposix\nsystem\nb.", "posix.system"),
    "out of band": (b"\x80\x05]\x97a.", "not allowed"),
    "great bytearray": (b"\x80\x05]\x96\0\0\0\0\0\1\0\0a.", "pickle"),
    "great bytes": (b"\x80\x04]\x8e\0\0\0\0\0\1\0\0a.", "pickle"),
    "encode": (b"\x80\x02c_codecs\nencode\nX\1\0\0\0xX\3\0\0\0hex\x86R.", "bytes of an array"),
    "itself": (b"\x80\x04]\x94}\x94(\x8c\1ah\0ua.", "nested"),
    "deep": (pickle.dumps([{"a": deep(300)}]), "nested"),
    "very deep": (b"\x80\x04]}\x8c\1a" + b"]" * 5000 + b"a" * 4999 + b"sa.", "nested"),
    "laughs": (pickle.dumps([{"a": laughs()}]), "references"),
    "one list": (pickle.dumps([(np.zeros(2), many, 1) for many in [[0] * 9999] for _ in range(9999)]), "references"),
    "great number": (pickle.dumps([{"a": {"b": 1 << 99999}}]), "row 0: a['b']"),
    "number": (pickle.dumps([{"a": 1}, {"a": 1 << 63}]), "row 1: a"),
    "whole in floats": (pickle.dumps([{"a": [1, 2**53 + 1]}]), "row 0: a: expected what float64"),
    "whole and float": (pickle.dumps([{"a": 0.5}, {"a": 2**53 + 1}]), "row 1: a: expected what float64"),
    "unsigned": (pickle.dumps([{"a": 1}, {"a": np.uint64(2**63)}]), "row 1: a: expected what int64"),
    "text": (pickle.dumps([{"a": "x"}, {"a": "x\0"}]), "row 1: a: expected a text"),
    "two": (pickle.dumps([(np.zeros(2), [1.0], 1)]) * 2, "the end of the pickle"),
    "names": (pickle.dumps([{1: 2}]), "row 0"),
    "same name": (pickle.dumps([{"winner": 1, "metadata": {"winner": "RED"}}]), "winner"),
    "forms": (pickle.dumps([(np.zeros(2), [1.0], 1), [np.zeros(2), [1.0], 1]]), "row 1: expected a tuple"),
    "escapes": (b"\x80\x04\x8c\x05os\n\x1b[\x8c\x01x\x93)R.", "os\\n\\x1b"),
    "cut": (pickle.dumps([(1, 2, 3)])[:-4], "pickle"),
    "objects": (pickle.dumps([(np.zeros(2, object), [0.5], 1)]), "dtype"),
    "mixed": (pickle.dumps([(np.zeros(2), [1.0], 1), (np.zeros(2), [1.0], "x")]), "row 1: v"),
    "shapes": (pickle.dumps([(np.zeros(2), [1.0], 1), (np.zeros(3), [1.0], 1)]), "row 1: board"),
    "lengths": (pickle.dumps([(np.zeros(2), [1.0], 1), (np.zeros(2), [], 1)]), "row 1: pi"),
    "fields": (pickle.dumps([{"a": 1}, {"b": 1}]), "row 1"),
    "rows": (pickle.dumps([]), "rows"),
}  # fmt: skip


def refused(name, content, words):
    """A file of that content is refused in these words, which name it; nothing is written."""
    with Scratch() as scratch:
        with open(scratch(name), "wb") as file:
            file.write(content)
        said = convert(scratch(name), scratch("out.npz"), code=65)
        assert words in said and name in said and os.listdir(scratch.name) == [name], said


@tap.test(*HOSTILE)
def test_hostile(name):
    refused("in.pkl", *HOSTILE[name])
    assert not os.path.exists("HIT")


@tap.test()
def test_odd_containers():
    """An HDF5 name that is not UTF-8; datasets elsewhere, or greater than their bytes; a zarr store."""
    import h5py

    with Scratch() as scratch:
        def refused(words):
            said = convert(scratch("in"), scratch("out.npz"), code=65)
            assert words in said and scratch("in") in said, said

        for make, words in (
            (lambda file: file.create_dataset(b"gr\xf6n", data=np.zeros(3)), "UTF-8"),
            (lambda file: file.create_dataset("a", (9,), "i4", external=[(__file__, 0, 36)]), "another one"),
            (lambda file: file.create_dataset("a", (1 << 40,), "i4", chunks=(9,)), "4398046511104 bytes"),
            (lambda file: file.create_dataset("a", data="text"), "numbers or texts"),
            (lambda file: file.create_dataset("states", data=np.array([b"x"])), "representation_shape"),
        ):
            with h5py.File(scratch("in"), "w") as file:
                make(file)
            refused(words)
        with zipfile.ZipFile(scratch("in"), "w") as archive:
            archive.writestr("a/.zarray", "{}")
        refused("zarr")


@tap.test()
def test_odd_folders():
    """What ends in .npy and is none, or says more than it has; a title with a number of many digits."""
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"descr": "<f4", "fortran_order": False, "shape": (10**13,)})
    negative = huge.getvalue().replace(b"(10000000000000,)", b"(-5,)            ")
    shard = io.BytesIO()
    np.savez(shard, x=np.zeros(3))
    for content, words in ((huge.getvalue(), "a.npy"), (negative + bytes(20), "negative"), (shard.getvalue(), "a.npy")):
        with Scratch() as scratch:
            os.mkdir(scratch("in"))
            with open(scratch("in/a.npy"), "wb") as file:
                file.write(content)
            said = convert(scratch("in"), scratch("out.npz"), code=65)
            assert words in said and os.listdir(scratch.name) == ["in"], said
            np.save(scratch("in/a.npy"), np.asfortranarray([[1, 2], [3, 4]]))
            convert(scratch("in"), scratch("out.npz"))
            same_arrays({"a": np.load(scratch("out.npz"))["a"]}, {"a": np.array([[1, 2], [3, 4]])})
            with open(scratch("in/dataset.json"), "w") as file:
                file.write("[" * 100000)
            assert "dataset.json" in convert("-f", scratch("in"), scratch("out.npz"), code=65)
            os.remove(scratch("in/dataset.json"))
            with zipfile.ZipFile(scratch("out.npz"), "a") as archive:
                archive.writestr("notes.txt", "none")
            assert "notes.txt" in convert("--like", scratch("in"), scratch("out.npz"), scratch("new"), code=65)
            nines = "9" * 5000
            for name, table in (("a.csv", f"a_0,a_{nines}\n1,2\n"), ("a.tsv", f"a\tb({nines})\n1\t2\n")):
                with open(scratch(name), "w") as file:
                    file.write(table)
                convert("-f", scratch(name), scratch("out.npz"))


@tap.test()
def test_hostile_row():
    """Rows of an LMDB are read as all pickles are."""
    import lmdb

    with Scratch() as scratch:
        with lmdb.open(scratch("in")) as store, store.begin(write=True) as write:
            write.put(b"data_0", pickle.dumps(Evil(os.system, "touch HIT")))
        assert "row 0" in convert(scratch("in"), scratch("out.npz"), code=65)
        with lmdb.open(scratch("in"), max_dbs=1) as store:
            store.open_db(b"a few")
        assert "'a few'" in convert(scratch("in"), scratch("out.npz"), code=65)
        assert os.listdir(scratch.name) == ["in"] and not os.path.exists("HIT")


def limited(*arguments, **limits):
    """symaug-convert under limits of the shell's ulimit; (exit code, what it says)."""
    limits = " && ".join(f"ulimit -{name} {most}" for name, most in limits.items())
    done = subprocess.run(["sh", "-c", limits + ' && exec python/symaug-convert "$@"', "sh", *arguments],
                          capture_output=True, text=True)  # fmt: skip
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stderr


@tap.test(*FILES)
def test_no_room(name):
    """A file that cannot grow: one line, exit 74, the old output stays, nothing is left."""
    with Scratch() as scratch:
        convert(original(name), scratch("in.npz"))
        convert("--like", original(name), scratch("in.npz"), scratch("new"))
        is_folder = os.path.isdir(scratch("new"))
        before = os.stat(scratch("new")).st_ino, sorted(os.listdir(scratch("new"))) if is_folder else None
        code, said = limited("-f", "--like", original(name), scratch("in.npz"), scratch("new"), f=2)
        assert code == 74 and scratch("new") in said, f"{code}: {said}"
        assert (os.stat(scratch("new")).st_ino, sorted(os.listdir(scratch("new"))) if is_folder else None) == before
        assert sorted(os.listdir(scratch.name)) == ["in.npz", "new"]
        code, said = limited("-f", original(name), scratch("in.npz"), f=1)
        assert code == 74 and sorted(os.listdir(scratch.name)) == ["in.npz", "new"], f"{code}: {said}"


@tap.test(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
def test_signal(number):
    """Ended while it writes: 128 and the signal's number, nothing is left, nothing is said."""
    with Scratch() as scratch:
        rows = [{"board": np.zeros((3, 3)), "policy": np.random.default_rng(i).random(900)} for i in range(2000)]
        with open(scratch("in"), "wb") as file:
            pickle.dump(rows, file)
        before = signal.signal(number, signal.SIG_DFL)  # what a shell in the background ignores stays ignored
        running = subprocess.Popen(["python/symaug-convert", scratch("in"), scratch("out.npz")],
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        signal.signal(number, before)
        while len(os.listdir(scratch.name)) == 1 and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(number)
        assert running.communicate()[1] == "" and running.returncode == 128 + number, running.returncode
        assert os.listdir(scratch.name) == ["in"]


@tap.test()
def test_signal_in_a_library():
    """A zip file says that it cannot be closed where a signal ends what was about to be its member."""
    def write(temp):
        with zipfile.ZipFile(temp, "w") as archive:
            begun = archive.open("a.npy", "w")
            raise SystemExit(129 if begun.writable() else 1)

    with Scratch() as scratch:
        try:
            put_in_place(scratch("out.npz"), False, False, write)
            assert False, "it went on"
        except SystemExit as why:
            assert why.code == 129
        assert os.listdir(scratch.name) == []


@tap.test()
def test_what_is_replaced():
    """-f replaces a file by a file and a folder of rows by one; never the file that is read."""
    with Scratch() as scratch:
        name, folder = original("alphagomoku/lazy.lmdb"), original("take_it_easy/samples.tsv")
        convert(name, scratch("in.npz"))
        os.mkdir(scratch("home"))
        with open(scratch("home/letter"), "w") as file:
            file.write("dear")
        assert "letter" in convert("-f", "--like", name, scratch("in.npz"), scratch("home"), code=73)
        assert os.listdir(scratch("home")) == ["letter"]
        convert("-f", name, scratch("home"), code=73)
        convert("-f", "--like", name, scratch("in.npz"), scratch("in.npz"), code=73)
        shutil.copy(folder, scratch("a.tsv"))
        assert "is read" in convert("-f", scratch("a.tsv"), scratch("a.tsv"), code=73)
        with open(scratch("a.tsv"), "rb") as copy, open(folder, "rb") as old:
            assert copy.read() == old.read()


TABLES = {  # content, and a word of what is said
    "gap": ("a,p_0,p_2\n1,2,3\n", "p_1"),
    "twice": ("a,b,a\n1,2,3\n", "'a' twice"),
    "short": ("a,b\n1,2\n3\n", "row 1"),
    "number": ("a,b\n1,2\n3,x\n5,6\n", "row 1: b: expected a number, found 'x'"),
    "quote": ('a,b\n1,"2\n', "table"),
    "blank": ("a,b\n1,2\n\n3,4\n", "row 1"),
    "header": ("a,b\n", "rows"),
    "nul": ("first,b\n1,\0\n", "0x00"),
    "list": ("# p(3)\tb\n1,2\t3\n", "row 0: p: expected 3 numbers, found 2"),
    "list too": ("p(1)\tp\n1\t2\n", "'p' twice"),
}


@tap.test(*TABLES)
def test_wrong_table(name):
    content, words = TABLES[name]
    refused("in.csv", content.encode(), words)


@tap.test(*FILES)
def test_damaged(name):
    """Cut anywhere, or with bytes changed: one line, or arrays; never a traceback or a signal."""
    random = np.random.default_rng(len(name))
    inner = "/data.mdb" if name.endswith(".lmdb") else ""
    with open(original(name) + inner, "rb") as file:
        whole = file.read()
    with Scratch() as scratch:
        bad = scratch("bad")
        if inner:
            os.mkdir(bad)
        for i in range(6):
            content = bytearray(whole)
            if i % 2 == 0:
                content = content[: random.integers(1, len(content))]
            else:
                for at in random.integers(0, len(content), 20):
                    content[at] = random.integers(256)
            with open(bad + inner, "wb") as file:
                file.write(content)
            done = subprocess.run(["python/symaug-convert", "-f", bad, scratch("out.npz")],
                                  capture_output=True, text=True)  # fmt: skip
            assert done.returncode in (0, 65), f"{i}: {done.returncode}: {done.stderr}"
            assert done.stderr.count("\n") == (done.returncode != 0), f"{i}: {done.stderr}"


@tap.test()
def test_size_of_lmdb():
    with Scratch() as scratch:
        shutil.copytree(original("alphagomoku/lazy.lmdb"), scratch("bad"))
        os.chmod(scratch("bad"), 0o755)
        import lmdb

        with lmdb.open(scratch("bad")) as store, store.begin(write=True) as write:
            write.put(b"size", struct.pack(">Q", 29))
        assert "expected 28, found 29" in convert(scratch("bad"), scratch("out.npz"), code=65)


@tap.test()
def test_usage():
    with Scratch() as scratch:
        name = original("take_it_easy/samples.tsv")
        convert(name, code=64)
        convert("--frob", name, scratch("out.npz"), code=64)
        convert("-", scratch("out.npz"), code=64)
        convert(scratch("none"), scratch("out.npz"), code=66)
        convert(name, scratch("out.npz"))
        convert(name, scratch("out.npz"), code=73)
        convert("-f", name, scratch("out.npz"))
        convert(scratch("out.npz"), scratch("two.npz"), code=65)
        shard = load(scratch("out.npz"))
        del shard["tile"]
        np.savez(scratch("less.npz"), **shard)
        assert "tile" in convert("--like", name, scratch("less.npz"), scratch("new"), code=65)
        assert sorted(os.listdir(scratch.name)) == ["less.npz", "out.npz"]


if __name__ == "__main__":
    tap.main()
