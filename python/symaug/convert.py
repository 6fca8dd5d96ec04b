"""symaug-convert: training files of other programs to .npz and back, without loss.

    symaug-convert ORIGINAL out.npz
    symaug-convert --like ORIGINAL expanded.npz NEW

Pickles (also gzipped), LMDB folders, HDF5, CSV and TSV, folders of .npy files. The first form makes
an array of every field; the second writes rows in the form, nesting, types and attributes that
ORIGINAL has. Only types are looked up in ORIGINAL, never its rows.

A field's Kind is learned from all of its values: it says how they become one array, and how an
element of that array becomes a value of the old type again.
"""

import ast
import csv
import gzip
import io
import json
import os
import re
import shutil
import struct
import sys
import tempfile
import zlib

import numpy as np

from . import restricted
from .restricted import Class, Instance, Member

USAGE, DATA, NO_INPUT, INTERNAL, CANNOT_CREATE, IO_ERROR = 64, 65, 66, 70, 73, 74
COUNTERS = ("size", "num_samples", "examples_generated")  # numbers of rows, set anew
COLOURS = {"BLUE": 0, "RED": 1}


class Error(Exception):
    """A failure with its exit code and a message of one line."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def bad(where, expected, found):
    """Error of wrong data. where: "FILE: row 3: policy"."""
    return Error(DATA, f"{where}: expected {expected}, found {found}")


# --- kinds of values ---


def name_of(value):
    """What kind of value this is, in a word; None for what no array can hold."""
    if isinstance(value, Instance):
        return "enum" if value.called and value.state is None and len(value.args) == 1 else None
    for kind, name in (
        (type(None), "none"), (bool, "bool"), (int, "int"), (float, "float"), (str, "text"),
        (np.ndarray, "array"), (np.generic, "scalar"), (list, "list"), (tuple, "tuple"),
        (dict, "dict"),
    ):  # fmt: skip
        if isinstance(value, kind):
            return name
    return None


def member_name(member):
    """The name of an Enum's member; its value where only that is known."""
    said = member.args[0]
    if isinstance(member, Member):
        return said
    return next((name for name, value in COLOURS.items() if value == said), said)


def member_value(member, where):
    """The number of an Enum's member."""
    said = member.args[0]
    if isinstance(member, Member):
        if said not in COLOURS:
            raise bad(where, "a member BLUE or RED", repr(member))
        return COLOURS[said]
    if type(said) is not int or not -128 <= said <= 127:
        raise bad(where, "a member whose value is a small whole number", repr(member))
    return said


class Kind:
    """What values a field has, over all rows: names (of kinds), dtype and shape of arrays, cls and
    form of an Enum, item (Kind of a list's elements), keys (Kinds of a dict's values)."""

    def __init__(self):
        self.names, self.dtype, self.shape = set(), None, None
        self.cls, self.by_name, self.item, self.keys = None, False, None, {}
        self.has_whole_lists = False

    def learn(self, value, where, in_json=False):
        """Take one more value into account; where names it in messages."""
        name = name_of(value)
        if name is None:
            raise bad(where, "numbers, texts, arrays or members of an Enum", type_words(value))
        others = self.names - {"none", name} - ({"int", "float"} if name in ("int", "float") else set())
        if others and name != "none" and not in_json:
            raise bad(where, " or ".join(sorted(others)), name)
        self.names.add(name)
        if name in ("array", "scalar"):
            self._same("dtype", value.dtype, where)
            if name == "array":
                self._same("shape", value.shape, where)
        elif name == "enum":
            self._same("cls", value.cls, where, key=repr)
            self.by_name |= isinstance(value, Member)
        elif name in ("list", "tuple"):
            self.item = self.item or Kind()
            for element in value:
                self.item.learn(element, where, in_json)
            if not in_json:
                self._same("shape", (len(value),), where)
                if not self.item.names <= {"int", "float", "bool", "scalar"}:
                    raise bad(where, "numbers", f"a {name} of {'/'.join(sorted(self.item.names))}")
            self.has_whole_lists |= all(type(element) is int for element in value)
        elif name == "dict":
            for key, element in value.items():
                if not isinstance(key, str):
                    raise bad(where, "a text as key", repr(key)[:40])
                self.keys.setdefault(key, Kind()).learn(element, f"{where}[{key!r}]", True)

    def _same(self, what, found, where, key=lambda value: value):
        expected = getattr(self, what)
        if expected is None:
            setattr(self, what, found)
        elif key(expected) != key(found):
            raise bad(where, f"{what} {expected}", f"{what} {found}")

    # --- to arrays ---

    def zero(self, field):
        """What stands in an array where the value is None."""
        some = self.names - {"none"}
        if some & {"list", "tuple"}:
            empty = -1 if re.search(r"move|coord|pos|cell", field) else 0
            return (empty,) * self.shape[0]
        if "array" in some:
            return np.zeros(self.shape, self.dtype)
        return "" if "text" in some else 0

    def array(self, field, values, where):
        """The values as one array, None as zero(). where(i) names row i in messages."""
        some = self.names - {"none"}
        filled = [self.zero(field) if value is None else value for value in values]
        try:
            if "array" in some:
                return np.stack(filled) if filled else np.zeros((0, *self.shape), self.dtype)
            if "scalar" in some:
                return np.array(filled, self.dtype)
            if "enum" in some:
                numbers = [member_value(v, where(i)) if v != 0 else 0 for i, v in enumerate(filled)]
                return np.array(numbers, "i1")
            if "text" in some:
                return np.array(filled, "U" if filled else "U1")
            if some & {"list", "tuple"}:
                is_whole = "tuple" in some and "float" not in self.item.names
                return np.array(filled, "i8" if is_whole else "f8").reshape(len(filled), -1)
            return np.array(filled, "b1" if some == {"bool"} else "f8" if "float" in some else "i8")
        except OverflowError:
            raise bad(where(0), "whole numbers of 64 bits", "larger ones") from None

    # --- and back ---

    def value(self, element, where):
        """An element of such an array, or a value of JSON, as the type that was there."""
        some = self.names - {"none"}
        if element is None:
            return None
        if "array" in some:
            return np.array(element, self.dtype)
        if "scalar" in some:
            return self.dtype.type(element)
        if "enum" in some:
            return self._member(element, where)
        if "text" in some and isinstance(element, str):
            return str(element)
        if some & {"list", "tuple"} and isinstance(element, (list, np.ndarray)):
            return self._sequence(element, where)
        if "dict" in some and isinstance(element, dict):
            return {
                key: self.keys[key].value(one, where) if key in self.keys else one
                for key, one in element.items()
            }
        if isinstance(element, (np.generic, int, float)):
            number = element.item() if isinstance(element, np.generic) else element
            if "float" in some and ("int" not in some or number != int(number)):
                return float(number)
            return number if isinstance(element, bool) else bool(number) if some == {"bool"} else number
        return element

    def _sequence(self, element, where):
        numbers = element.tolist() if isinstance(element, np.ndarray) else element
        if isinstance(element, np.ndarray):
            is_whole = self.has_whole_lists and all(n == int(n) for n in numbers)
            numbers = [int(n) if is_whole or "float" not in self.item.names else n for n in numbers]
        elif self.item is not None:
            numbers = [self.item.value(one, where) for one in numbers]
        return tuple(numbers) if "tuple" in self.names else list(numbers)

    def _member(self, element, where):
        if isinstance(element, str):
            name, number = element, COLOURS.get(element)
        else:
            number = int(element)
            name = next((n for n, value in COLOURS.items() if value == number), None)
        if self.by_name and name is None or not self.by_name and number is None:
            raise bad(where, "0 (BLUE) or 1 (RED)", element)
        return Member(self.cls, name) if self.by_name else Instance(self.cls, (number,), True)


def type_words(value):
    return repr(value)[:60] if isinstance(value, Instance) else type(value).__name__


def plain(value):
    """A value of a dict field as JSON can say it."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, Instance):
        return member_name(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


# --- rows of fields to arrays and back ---


class Fields:
    """The Kinds of all fields of the rows; a dict's `winner` is a field of its own."""

    def __init__(self, path, rows, kind_of_row="row"):
        """rows: a list of dicts with the same keys each."""
        self.path, self.word = path, kind_of_row
        self.kinds = {field: Kind() for field in (rows[0] if rows else ())}
        for i, row in enumerate(rows):
            if row.keys() != self.kinds.keys():
                raise bad(self.where(i), f"fields {', '.join(self.kinds)}", ", ".join(map(str, row)))
            for field, value in row.items():
                self.kinds[field].learn(value, f"{self.where(i)}: {field}")
        for field, kind in self.kinds.items():
            if "dict" in kind.names and len(kind.names - {"none"}) > 1:
                raise bad(f"{path}: {field}", "a dict in every row", "/".join(sorted(kind.names)))

    def where(self, i):
        return f"{self.path}: {self.word} {i}"

    def arrays(self, rows):
        """The arrays of these rows, by name."""
        out = {}
        for field, kind in self.kinds.items():
            values = [row[field] for row in rows]
            if kind.names == {"none"}:
                continue
            if "dict" in kind.names:
                if "winner" in kind.keys:
                    out["winner"] = self._winners(field, values)
                values = [self._without_winner(value) for value in values]
                out[field] = np.array([json.dumps(value) for value in values])
                continue
            out[field] = kind.array(field, values, lambda i, f=field: f"{self.where(i)}: {f}")
            if "none" in kind.names:
                out[field + "_present"] = np.array([value is not None for value in values])
        return out

    @staticmethod
    def _without_winner(value):
        return plain({k: v for k, v in value.items() if k != "winner"} if value is not None else None)

    def _winners(self, field, values):
        numbers = []
        for i, value in enumerate(values):
            where = f"{self.where(i)}: {field}['winner']"
            winner = value.get("winner") if value is not None else None
            if isinstance(winner, Instance):
                winner = member_value(winner, where)
            elif isinstance(winner, str):
                winner = COLOURS.get(winner, winner)
            if type(winner) is not int or not -128 <= winner <= 127:
                raise bad(where, "BLUE or RED", winner)
            numbers.append(winner)
        return np.array(numbers, "i1")

    def names(self):
        """Every array that rows of this form are made of."""
        names = set(self.kinds)
        for field, kind in self.kinds.items():
            names |= {field + "_present"} if "none" in kind.names else set()
            names |= {"winner"} if "winner" in kind.keys else set()
        return names

    def rows(self, arrays, n):
        """n rows of the old types from arrays, by name. Error for a field without its array."""
        columns = {}
        for field, kind in self.kinds.items():
            if kind.names == {"none"}:
                columns[field] = [None] * n
                continue
            array = need(arrays, field, self.path)
            present = arrays.get(field + "_present") if "none" in kind.names else None
            if "dict" in kind.names:
                columns[field] = self._dicts(field, kind, array, arrays)
                continue
            if kind.shape is not None and array.shape[1:] != kind.shape:
                raise bad(f"{field}", f"rows of shape {kind.shape}", f"{array.shape[1:]}")
            columns[field] = [
                None if present is not None and not present[i]
                else kind.value(array[i], f"row {i}: {field}")
                for i in range(n)
            ]  # fmt: skip
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def _dicts(self, field, kind, array, arrays):
        winners = need(arrays, "winner", self.path) if "winner" in kind.keys else None
        out = []
        for i, text in enumerate(array):
            try:
                value = json.loads(str(text))
            except ValueError:
                raise bad(f"row {i}: {field}", "JSON", repr(str(text))[:60]) from None
            if value is not None:
                value = kind.value(value, f"row {i}: {field}")
                if winners is not None:
                    value = self._with_winner(kind, value, winners[i], f"row {i}: winner")
            out.append(value)
        return out

    @staticmethod
    def _with_winner(kind, value, winner, where):
        """The winner where it stood among the keys."""
        old = kind.keys["winner"]
        if "text" in old.names:
            texts = {number: text for text, number in COLOURS.items()}
            if int(winner) not in texts:
                raise bad(where, "0 (BLUE) or 1 (RED)", winner)
            winner = texts[int(winner)]
        else:
            winner = old.value(winner, where)
        out = {}
        for key in kind.keys:
            if key == "winner":
                out[key] = winner
            elif key in value:
                out[key] = value.pop(key)
        out.update(value)
        return out


def need(arrays, name, path):
    if name not in arrays:
        raise Error(DATA, f"{name}: the rows of {path} need this array, found {', '.join(arrays)}")
    return arrays[name]


def count_anew(value, n):
    """A frame or text of attributes with its counters of rows set to n."""
    if isinstance(value, dict):
        return {k: n if k in COUNTERS and type(v) is int else count_anew(v, n) for k, v in value.items()}
    return value


def row_parts(value, where):
    """The fields of a row and how to put it together again."""
    if isinstance(value, dict):
        return value, lambda fields: dict(fields)
    if isinstance(value, Instance) and isinstance(value.state, dict):
        cls = value.cls

        def instance(fields):
            made = Instance(cls, (), False)
            made.state = dict(fields)
            return made

        return value.state, instance
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Instance):
        fields, whole = row_parts(value[0], where)
        last = value[1]
        return fields, lambda fields: (whole(fields), last)
    if isinstance(value, (tuple, list)) and len(value) == 3:
        kind = type(value)
        return dict(zip(("board", "pi", "v"), value)), lambda fields: kind(fields.values())
    raise bad(where, "a dict, a dataclass or (board, pi, v)", type_words(value))


def rows_of(values, path):
    """Fields of every row, and the function that makes a row from fields (that of the first)."""
    parts = [row_parts(value, f"{path}: row {i}") for i, value in enumerate(values)]
    return [fields for fields, _ in parts], parts[0][1] if parts else None


# --- the containers: each reads a file into arrays, and writes arrays like a file ---


class Pickle:
    """Rows in a list, in a dict's `examples`, or in a list of iterations."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            data = file.read()
        self.is_gzip = data[:2] == b"\x1f\x8b"
        try:
            data = gzip.decompress(data) if self.is_gzip else data
            self.top, self.protocol = restricted.loads(data)
        except restricted.Refused as why:
            raise Error(DATA, f"{path}: {why}") from None
        except (OSError, EOFError, zlib.error) as why:
            raise bad(path, "a whole gzip file", f"one that is damaged ({why})") from None
        self.iterations = None
        values = self.top.get("examples") if isinstance(self.top, dict) else self.top
        if not isinstance(values, list):
            raise bad(path, "a list of rows, or a dict with `examples`", type_words(self.top))
        if values and all(hasattr(one, "maxlen") or isinstance(one, list) for one in values):
            if not (isinstance(values[0], list) and values[0] and not isinstance(values[0][0], (tuple, list, dict))):
                self.iterations, values = values, [row for one in values for row in one]
        if not values:
            raise bad(path, "rows", "none")
        self.values, self.make = rows_of(values, path)
        self.fields = Fields(path, self.values)

    def read(self):
        arrays = self.fields.arrays(self.values)
        if self.iterations is not None:
            lengths = [len(one) for one in self.iterations]
            arrays["iteration"] = np.repeat(np.arange(len(lengths)), lengths)
        return arrays

    def names(self):
        return self.fields.names() | ({"iteration"} if self.iterations is not None else set())

    def write(self, arrays, n, path):
        rows = [self.make(fields) for fields in self.fields.rows(arrays, n)]
        if self.iterations is not None:
            top = self._iterate(rows, need(arrays, "iteration", self.path))
        elif isinstance(self.top, dict):
            top = {k: rows if k == "examples" else count_anew(v, n) for k, v in self.top.items()}
        else:
            top = rows
        data = restricted.dumps(top, self.protocol)
        with open(path, "wb") as file:
            file.write(gzip.compress(data, mtime=0) if self.is_gzip else data)

    def _iterate(self, rows, numbers):
        """Each row in the iteration that it came from; a deque long enough for all of them."""
        lists = [[] for _ in self.iterations]
        for i, (row, number) in enumerate(zip(rows, numbers)):
            if not 0 <= number < len(lists):
                raise bad(f"row {i}: iteration", f"a number below {len(lists)}", number)
            lists[int(number)].append(row)
        return [
            list(some) if isinstance(old, list)
            else type(old)(some, old.maxlen and max(old.maxlen, len(some)))
            for old, some in zip(self.iterations, lists)
        ]  # fmt: skip


class Lmdb:
    """A folder with data_0, data_1, ... of pickled rows, and `size`, their number in 8 bytes."""

    def __init__(self, path):
        import lmdb

        self.path = path
        self._check_size(os.path.join(path, "data.mdb"))
        self.others, values, protocols = {}, {}, set()
        try:
            with lmdb.open(path, lock=False, readonly=True, max_dbs=0) as store, store.begin() as read:
                for key, data in read.cursor():
                    match = re.fullmatch(rb"data_(\d+)", key)
                    if match is None:
                        self.others[bytes(key)] = bytes(data)
                        continue
                    try:
                        values[int(match[1])], protocol = restricted.loads(bytes(data))
                        protocols.add(protocol)
                    except restricted.Refused as why:
                        raise Error(DATA, f"{path}: row {int(match[1])}: {why}") from None
        except lmdb.Error as why:
            raise bad(path, "an LMDB folder", f"one that is damaged ({why})") from None
        if not values:
            raise bad(path, "rows under data_0, data_1, ...", "none")
        missing = next((i for i in range(len(values)) if i not in values), None)
        if missing is not None:
            raise bad(f"{path}: row {missing}", f"data_{missing}", "no such key")
        size = self.others.get(b"size")
        if size is not None and size != struct.pack(">Q", len(values)):
            raise bad(f"{path}: size", len(values), int.from_bytes(size, "big"))
        self.protocol = max(protocols)
        self.values, self.make = rows_of([values[i] for i in range(len(values))], path)
        self.fields = Fields(path, self.values)

    @staticmethod
    def _check_size(path):
        """LMDB maps its file: one that is cut short would end the program."""
        with open(path, "rb") as file:
            head = file.read(8192)
        n_bytes = os.path.getsize(path)
        if len(head) < 152 or struct.unpack_from("<I", head, 16)[0] != 0xBEEFC0DE:
            raise bad(path, "an LMDB file", "another one")
        page = struct.unpack_from("<I", head, 40)[0]
        metas = [0] + ([page] if page + 152 <= len(head) else [])
        last = max(struct.unpack_from("<Q", head, at + 136)[0] for at in metas)
        if page < 256 or page & (page - 1) or (last + 1) * page > n_bytes:
            raise bad(path, f"{(last + 1) * page} bytes", n_bytes)

    def read(self):
        return self.fields.arrays(self.values)

    def names(self):
        return self.fields.names()

    def write(self, arrays, n, path):
        import lmdb

        rows = self.fields.rows(arrays, n)
        data = [restricted.dumps(self.make(fields), self.protocol) for fields in rows]
        room = sum(map(len, data)) * 2 + 4096 * (4 * n + 256)
        with lmdb.open(path, map_size=room) as store, store.begin(write=True) as write:
            for key, value in self.others.items():
                write.put(key, struct.pack(">Q", n) if key == b"size" else value)
            for i, value in enumerate(data):
                write.put(b"data_%d" % i, value)
        lock = os.path.join(path, "lock.mdb")
        if os.path.exists(lock):
            os.remove(lock)


class Hdf5:
    """Datasets under their names; states of bytes are planes, visit_counts pairs (move, count)."""

    def __init__(self, path):
        import h5py

        self.path, self.sets, self.attrs = path, {}, {}
        try:
            with h5py.File(path, "r") as file:
                self.attrs = dict(file.attrs)
                file.visititems(self._take)
        except (OSError, RuntimeError, KeyError, ValueError) as why:
            raise bad(path, "an HDF5 file", f"one that is damaged ({str(why)[:80]})") from None
        if not self.sets:
            raise bad(path, "datasets", "none")
        self.said = self._literal("metadata")

    def _take(self, name, item):
        if hasattr(item, "dtype"):
            settings = {key: getattr(item, key) for key in ("chunks", "compression", "compression_opts")}
            settings["maxshape"] = item.maxshape if item.chunks else None
            self.sets[name] = (item[()], settings, dict(item.attrs))

    def _literal(self, name):
        text = self.attrs.get(name, "{}")
        try:
            value = ast.literal_eval(text if isinstance(text, str) else "{}")
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise bad(f"{self.path}: {name}", "a Python literal", repr(text)[:60]) from None
        return value if isinstance(value, dict) else {}

    def _planes(self, states):
        """Number of planes of 64 bits, and of planes that are constant."""
        n_bytes = states.dtype.itemsize
        try:
            shape = ast.literal_eval(str(self.said.get("representation_shape", "None")))
            n, rows, cols = shape
        except (ValueError, TypeError, SyntaxError):
            raise bad(f"{self.path}: metadata", "representation_shape (planes, rows, columns)",
                      self.said.get("representation_shape")) from None  # fmt: skip
        bits = (n_bytes - n) // 7
        if (rows, cols) != (8, 8) or not 0 <= bits <= n or 8 * bits + n - bits != n_bytes:
            raise bad(f"{self.path}: states", f"rows of bytes for planes {shape}", f"{n_bytes} bytes")
        return bits, n

    def _is_states(self, name, array):
        return name == "states" and array.dtype.kind == "S"

    def read(self):
        arrays = {}
        for name, (array, _, _) in self.sets.items():
            if self._is_states(name, array):
                bits, n = self._planes(array)
                raw = np.frombuffer(array.tobytes(), "u1").reshape(len(array), -1)
                planes = np.zeros((len(array), n, 8, 8), "i1")
                packed = np.unpackbits(raw[:, : 8 * bits], axis=1, bitorder="little")
                planes[:, :bits] = packed.reshape(len(array), bits, 8, 8)
                planes[:, bits:] = raw[:, 8 * bits :].view("i1")[:, :, None, None]
                arrays[name] = planes
            elif name == "visit_counts" and array.ndim == 3 and array.shape[2] == 2:
                arrays["policy_indices"] = np.ascontiguousarray(array[:, :, 0])
                arrays["policy_values"] = np.ascontiguousarray(array[:, :, 1])
                if "action_size" in self.said:
                    arrays["policy_size"] = np.array(self._number("action_size"), "i8")
            elif array.dtype.kind == "O":
                raise bad(f"{self.path}: {name}", "numbers or texts of one length", array.dtype)
            else:
                arrays[name] = array
        return arrays

    def _number(self, key):
        try:
            return int(self.said[key])
        except (TypeError, ValueError):
            raise bad(f"{self.path}: metadata", f"a number as {key}", self.said[key]) from None

    def names(self):
        names = set(self.sets)
        if "visit_counts" in names:
            names |= {"policy_indices", "policy_values", "policy_size"}
        return names

    def _packed(self, planes, old):
        bits, n = self._planes(old)
        if planes.shape[1:] != (n, 8, 8):
            raise bad("states", f"planes {(n, 8, 8)}", planes.shape[1:])
        constant = planes[:, bits:].reshape(len(planes), n - bits, 64)
        wrong = np.argwhere((constant != constant[:, :, :1]).any(axis=2))
        if len(wrong):
            raise bad(f"row {wrong[0][0]}: states", "a constant plane", f"plane {bits + wrong[0][1]}")
        if not np.isin(planes[:, :bits], (0, 1)).all():
            raise bad("states", "0 and 1", "other numbers")
        packed = np.packbits(planes[:, :bits].reshape(len(planes), -1).astype("u1"), axis=1, bitorder="little")
        raw = np.concatenate([packed, constant[:, :, 0].astype("i1").view("u1")], axis=1)
        return np.frombuffer(np.ascontiguousarray(raw).tobytes(), old.dtype)

    def write(self, arrays, n, path):
        import h5py

        with h5py.File(path, "w") as file:
            for name, (old, settings, attrs) in self.sets.items():
                if self._is_states(name, old):
                    array = self._packed(need(arrays, name, self.path), old)
                elif name == "visit_counts" and old.ndim == 3 and name not in arrays:
                    pairs = [need(arrays, key, self.path) for key in ("policy_indices", "policy_values")]
                    array = np.stack(pairs, axis=2).astype(old.dtype)
                else:
                    array = need(arrays, name, self.path).astype(old.dtype)
                made = file.create_dataset(name, data=array, dtype=old.dtype,
                                           **{k: v for k, v in settings.items() if v is not None})  # fmt: skip
                made.attrs.update(attrs)
            for name, text in self.attrs.items():
                file.attrs[name] = self._recount(name, text, n)

    def _recount(self, name, text, n):
        if not isinstance(text, str):
            return text
        for counter in COUNTERS:
            text = re.sub(rf"(['\"]{counter}['\"]: *)\d+", rf"\g<1>{n}", text)
        return text


class Table:
    """CSV, or TSV with lists: a column NAME_0, NAME_1, ... or a list is one array (N,k)."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as why:
            raise bad(path, "UTF-8", f"byte {data[why.start]:#04x} at {why.start}") from None
        self.end = "\r\n" if "\r\n" in text else "\n"
        self.comma = "\t" if "\t" in text.split("\n", 1)[0] else ","
        try:
            lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=self.comma, strict=True))
        except csv.Error as why:
            raise bad(path, "a table", f"a line that is not ({why})") from None
        if len(lines) < 2 or len(set(lines[0])) != len(lines[0]):
            raise bad(path, "a header and rows", f"{len(lines)} lines")
        self.header, cells = lines[0], lines[1:]
        for i, row in enumerate(cells):
            if len(row) != len(self.header):
                raise bad(f"{path}: row {i}", f"{len(self.header)} fields", len(row))
        self.columns = list(zip(*cells))
        self._find_fields()

    def _find_fields(self):
        """fields: name -> its columns; lists: those whose one column holds lists, by length."""
        self.fields, self.lists = {}, {}
        for k, title in enumerate(self.header):
            name = re.sub(r"^# *", "", title) if k == 0 else title
            match = re.fullmatch(r"(.*)\((\d+)\)", name)
            if match:
                self.fields[match[1]] = [k]
                self.lists[match[1]] = int(match[2])
                continue
            match = re.fullmatch(r"(.*)_(\d+)", name)
            if match and (int(match[2]) == len(self.fields.get(match[1], []))):
                self.fields.setdefault(match[1], []).append(k)
            else:
                self.fields[name] = [k]
        self.texts = {name: self._cells(name) for name in self.fields}
        self.dtypes = {name: self._dtype(name) for name in self.fields}

    def _cells(self, name):
        columns = [self.columns[k] for k in self.fields[name]]
        if name not in self.lists:
            return list(zip(*columns))
        rows = [tuple(cell.split(",")) for cell in columns[0]]
        for i, row in enumerate(rows):
            if len(row) != self.lists[name]:
                raise bad(f"{self.path}: row {i}: {name}", f"{self.lists[name]} numbers", len(row))
        return rows

    def _dtype(self, name):
        cells = [cell for row in self.texts[name] for cell in row]
        if all(re.fullmatch(r"-?\d{1,18}", cell) for cell in cells):
            return "i8"
        if all(re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|nan|-?inf", cell) for cell in cells):
            return "f8"
        if len(self.fields[name]) > 1 or name in self.lists:
            for i, row in enumerate(self.texts[name]):
                for cell in row:
                    if not re.fullmatch(r"-?\d{1,18}", cell):
                        raise bad(f"{self.path}: row {i}: {name}", "numbers", repr(cell)[:40])
        whole = [bool(re.fullmatch(r"[-+]?[\d.]+", cell)) for cell in cells]
        if sum(whole) * 2 > len(cells):  # a number that is not one, rather than a text
            i = whole.index(False)
            raise bad(f"{self.path}: row {i}: {name}", "a number", repr(cells[i])[:40])
        return "U"

    def read(self):
        arrays = {}
        for name, rows in self.texts.items():
            is_one = len(self.fields[name]) == 1 and name not in self.lists
            dtype = self.dtypes[name]
            array = np.array([row[0] for row in rows] if is_one else rows)
            arrays[name] = array if dtype == "U" else array.astype(dtype)
        return arrays

    def names(self):
        return set(self.fields)

    def _format(self, name):
        """How the numbers of a field are written: with as many decimals as all of them have."""
        if self.dtypes[name] != "f8":
            return str
        decimals = {len(cell.partition(".")[2]) for row in self.texts[name] for cell in row}
        if len(decimals) == 1 and all("e" not in cell.lower() for row in self.texts[name] for cell in row):
            return lambda number: f"{number:.{next(iter(decimals))}f}"
        return lambda number: repr(float(number))

    def write(self, arrays, n, path):
        columns = [None] * len(self.header)
        for name, places in self.fields.items():
            array, show = need(arrays, name, self.path), self._format(name)
            width = self.lists.get(name, len(places))
            rows = array.reshape(n, -1)
            if rows.shape[1] != width:
                raise bad(name, f"{width} numbers in a row", rows.shape[1])
            cells = [[show(value) for value in row] for row in rows.tolist()]
            if name in self.lists:
                columns[places[0]] = [",".join(row) for row in cells]
            else:
                for place, column in zip(places, zip(*cells) if n else [[]] * width):
                    columns[place] = column
        with open(path, "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, delimiter=self.comma, lineterminator=self.end,
                             quoting=csv.QUOTE_MINIMAL if self.comma == "," else csv.QUOTE_NONE,
                             quotechar='"', escapechar=None)  # fmt: skip
            out.writerow(self.header)
            out.writerows(zip(*columns))


class Folder:
    """A folder of .npy files, with dataset.json beside them."""

    def __init__(self, path):
        self.path, self.arrays, self.said = path, {}, None
        for name in sorted(os.listdir(path)):
            if name.endswith(".npy"):
                try:
                    self.arrays[name[:-4]] = np.load(os.path.join(path, name), allow_pickle=False)
                except (ValueError, EOFError, OSError) as why:
                    raise bad(f"{path}: {name}", "an array", f"{str(why)[:80]}") from None
        if not self.arrays:
            raise bad(path, "data.mdb or .npy files", "neither")
        said = os.path.join(path, "dataset.json")
        if os.path.exists(said):
            try:
                with open(said, encoding="utf-8") as file:
                    self.said = json.load(file)
            except ValueError as why:
                raise bad(said, "JSON", str(why)[:80]) from None

    def read(self):
        return self.arrays

    def names(self):
        return set(self.arrays)

    def write(self, arrays, n, path):
        for name, old in self.arrays.items():
            np.save(os.path.join(path, name + ".npy"), need(arrays, name, self.path).astype(old.dtype))
        if self.said is not None:
            with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as file:
                json.dump(count_anew(self.said, n), file, indent=2)
                file.write("\n")


def open_original(path):
    """The container at path, read and understood."""
    if os.path.isdir(path):
        return Lmdb(path) if os.path.exists(os.path.join(path, "data.mdb")) else Folder(path)
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"\x89HDF\r\n\x1a\n"):
        return Hdf5(path)
    if head[:2] in (b"\x1f\x8b", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        return Pickle(path)
    if head[:4] == b"PK\x03\x04" or head[:6] == b"\x93NUMPY":
        raise Error(DATA, f"{path}: is a shard already: symaug reads it as it is")
    if not head or b"\0" in head or head[0] < 9:
        raise bad(path, "a pickle, HDF5, LMDB, CSV or TSV", "none of them")
    return Table(path)


# --- the command ---


def read_shard(path):
    """The arrays of an .npz, by name, and the number of rows."""
    try:
        with np.load(path, allow_pickle=False) as shard:
            arrays = {name: shard[name] for name in shard.files}
    except (ValueError, EOFError, KeyError, zlib.error, OSError, SyntaxError) as why:
        if isinstance(why, FileNotFoundError):
            raise
        raise bad(path, "an .npz of arrays", str(why)[:80].replace("\n", " ")) from None
    except Exception as why:  # zipfile's own errors
        raise bad(path, "an .npz of arrays", str(why)[:80]) from None
    lengths = {}
    for name, array in arrays.items():
        if array.ndim:
            lengths.setdefault(len(array), []).append(name)
    if len(lengths) != 1:
        said = "; ".join(f"{n} in {', '.join(names)}" for n, names in lengths.items())
        raise bad(path, "one number of rows", said or "no rows")
    return arrays, next(iter(lengths))


def write_npz(arrays, path):
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def put_in_place(path, force, is_folder, write):
    """write(temp), then temp becomes path; nothing is left of a failure."""
    if os.path.lexists(path) and not force:
        raise Error(CANNOT_CREATE, f"{path}: it exists; use -f to replace it")
    parent = os.path.dirname(os.path.abspath(path))
    try:
        temp = tempfile.mkdtemp(prefix=".symaug-convert-", dir=parent)
    except OSError as why:
        raise Error(CANNOT_CREATE, f"{path}: {why.strerror}") from None
    try:
        inner = os.path.join(temp, "out")
        if is_folder:
            os.mkdir(inner)
        write(inner)
        for folder, _, names in os.walk(inner) if is_folder else [(temp, [], ["out"])]:
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    os.fsync(file.fileno())
        if is_folder and os.path.isdir(path):
            os.rename(path, os.path.join(temp, "old"))
        os.replace(inner, path)
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def to_npz(original, out, force=False):
    """Convert a file of one of the systems to an .npz. Error says what is wrong."""
    arrays = open_original(original).read()
    put_in_place(out, force, False, lambda temp: write_npz(arrays, temp))


def like(original, shard, new, force=False):
    """Write the rows of an .npz in the form of a file of one of the systems."""
    container = open_original(original)
    arrays, n = read_shard(shard)
    left = [name for name in arrays if name not in container.names()]
    put_in_place(new, force, os.path.isdir(original), lambda temp: container.write(arrays, n, temp))
    if left:
        print(f"symaug-convert: left out, {original} has no field for: {', '.join(left)}", file=sys.stderr)


HELP = """usage: symaug-convert [-f] ORIGINAL OUT.npz
       symaug-convert [-f] --like ORIGINAL EXPANDED.npz NEW

Convert training files of other programs (pickles, LMDB, HDF5, CSV, TSV, folders of .npy files) to
.npz, or rows of an .npz back to the form that ORIGINAL has.

  -f, --force    replace an existing output
  -h, --help     print this help
      --version  print the version

example: symaug-convert games.pkl.gz games.npz
         symaug expand --board hex13 games.npz images.npz
         symaug-convert --like games.pkl.gz images.npz images.pkl.gz"""


def run(arguments):
    """The command. Returns its exit code."""
    force, is_back, operands = False, False, []
    options = True
    for word in arguments:
        if options and word == "--":
            options = False
        elif options and word in ("-h", "--help"):
            print(HELP)
            return 0
        elif options and word == "--version":
            from . import __version__

            print(f"symaug-convert {__version__}")
            return 0
        elif options and word in ("-f", "--force"):
            force = True
        elif options and word == "--like":
            is_back = True
        elif options and word.startswith("-") and word != "-":
            raise Error(USAGE, f"unknown option {word!r}; symaug-convert --help lists them")
        else:
            operands.append(word)
    if "-" in operands:
        raise Error(USAGE, "'-' is not a file: standard streams are not supported")
    if len(operands) != (3 if is_back else 2):
        raise Error(USAGE, ("expected --like ORIGINAL EXPANDED.npz NEW" if is_back
                            else "expected ORIGINAL OUT.npz") + f", found {len(operands)} operands")  # fmt: skip
    (like if is_back else to_npz)(*operands, force)
    return 0


def guarded(arguments):
    """run() with every failure as one line; a library that crashes on a damaged LMDB or HDF5 file
    takes only a child with it."""
    try:
        return run(arguments)
    except Error as why:
        code, message = why.code, str(why)
    except FileNotFoundError as why:
        code, message = NO_INPUT, f"{why.filename}: no such file"
    except ImportError as why:
        package = {"h5py": "python3-h5py", "lmdb": "python3-lmdb"}.get(why.name, why.name)
        code, message = NO_INPUT, f"this needs the Python module {why.name} (Debian: {package})"
    except MemoryError:
        code, message = INTERNAL, "out of memory"
    except OSError as why:
        code, message = IO_ERROR, f"{why.filename or ''}: {why.strerror or why}"
    print("symaug-convert: " + message.replace("\n", " "), file=sys.stderr)
    return code


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = guarded(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    try:
        _, status = os.waitpid(child, 0)
    except KeyboardInterrupt:
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) in (7, 11, 6):
            print("symaug-convert: a library failed on a damaged file: expected a whole one", file=sys.stderr)
            return DATA
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


if __name__ == "__main__":
    sys.exit(main())
