"""Containers of other programs: each reads a file into arrays, and writes arrays like a file."""

import ast
import collections
import csv
import gzip
import io
import json
import os
import re
import struct
import zipfile
import zlib

import numpy as np

from . import restricted
from .kinds import DATA, Error, Fields, bad, cast, need, type_words
from .restricted import Instance

COUNTERS = ("size", "num_samples", "examples_generated")  # numbers of rows, set anew
FILTERS = ("chunks", "compression", "compression_opts", "shuffle", "fletcher32", "scaleoffset")
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|[Nn]a[Nn]|-?inf")


def lengths(arrays):
    return {len(array) for array in arrays if array.ndim}


def count_anew(value, old, n):
    """A frame with its counters of rows set to n: those that say one of the numbers in old, since
    `size` may be that of a board."""
    if isinstance(value, dict):
        return {k: n if k in COUNTERS and type(v) is int and v in old else count_anew(v, old, n)
                for k, v in value.items()}  # fmt: skip
    return value


def refilled(old, rows):
    """A list or deque like the old one with these rows, a deque long enough for all of them."""
    if isinstance(old, list):
        return list(rows)
    return type(old)(rows, None if old.maxlen is None else max(old.maxlen, len(rows)))


def row_parts(value, where):
    """The fields of a row, how to put it together again, and its form in words."""
    if isinstance(value, dict):
        return value, dict, "a dict"
    if isinstance(value, Instance) and isinstance(value.state, dict):
        cls = value.cls

        def instance(fields):
            made = Instance(cls, (), False)
            made.state = dict(fields)
            return made

        return value.state, instance, repr(cls)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], Instance):
        fields, whole, form = row_parts(value[0], where)
        last = value[1]
        return fields, lambda fields: (whole(fields), last), f"({form}, {last!r:.40})"
    if isinstance(value, (tuple, list)) and len(value) == 3:
        kind = type(value)
        return dict(zip(("board", "pi", "v"), value)), lambda fields: kind(fields.values()), f"a {kind.__name__}"
    raise bad(where, "a dict, a dataclass or (board, pi, v)", type_words(value))


def rows_of(values, path):
    """Fields of every row, and the function that makes a row from fields: one for all."""
    parts = [row_parts(value, f"{path}: row {i}") for i, value in enumerate(values)]
    for i, (_, _, form) in enumerate(parts):
        if form != parts[0][2]:
            raise bad(f"{path}: row {i}", f"{parts[0][2]} as row 0", form)
    return [fields for fields, _, _ in parts], parts[0][1] if parts else None


class Pickle:
    """Rows in a list or deque, in a dict's `examples`, or in a list of iterations."""

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
        if not isinstance(values, (list, collections.deque)):
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
            top = {k: refilled(v, rows) if k == "examples" else v
                   for k, v in count_anew(self.top, {len(self.values)}, n).items()}  # fmt: skip
        else:
            top = refilled(self.top, rows)
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
        return [refilled(old, some) for old, some in zip(self.iterations, lists)]


class Lmdb:
    """A folder with data_0, data_1, ... of pickled rows, and `size`, their number in 8 bytes."""

    def __init__(self, path):
        import lmdb

        self.path = path
        self._check_size(os.path.join(path, "data.mdb"))
        self.others, values, protocols = {}, {}, set()
        try:
            with lmdb.open(path, lock=False, readonly=True, max_dbs=1) as store, store.begin() as read:
                for key, data in read.cursor():
                    match = re.fullmatch(rb"data_(0|[1-9]\d*)", key)
                    if match is None:
                        self.others[bytes(key)] = bytes(data)
                        self._refuse_database(store, read, key)
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

    def _refuse_database(self, store, read, key):
        """A named database looks like a value, and is not one."""
        import lmdb

        try:
            store.open_db(key, txn=read, create=False)
        except lmdb.IncompatibleError:
            return
        raise bad(f"{self.path}: {key!r}", "values of one database", "a database with that name")

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
        room = sum(map(len, [*data, *self.others.values()])) * 2 + 4096 * (4 * (n + len(self.others)) + 256)
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

        self.path, self.sets, self.groups = path, {}, {}
        try:
            with h5py.File(path, "r") as file:
                self.attrs = dict(file.attrs)
                file.visititems(self._take)
        except Error:
            raise
        except Exception as why:  # the ways in which a damaged file fails are many
            raise bad(path, "an HDF5 file", f"one that is damaged ({str(why)[:80]})") from None
        if not self.sets:
            raise bad(path, "datasets", "none")
        self.said = self._literal("metadata")

    def _take(self, name, item):
        """Keep a dataset with its settings, or the attributes of a group."""
        if not isinstance(name, str):
            raise bad(self.path, "names in UTF-8", repr(name)[:40])
        if not hasattr(item, "chunks"):
            self.groups[name] = dict(item.attrs)
            return
        where, n_stored = f"{self.path}: {name}", item.id.get_storage_size()
        if item.shape is None or item.dtype.kind not in "biufcSV":
            raise bad(where, "numbers or texts of one length", item.dtype)
        if item.external or item.is_virtual:
            raise bad(where, "data in this file", "data in another one")
        if item.nbytes > 1100 * n_stored + 1000000:  # as small as gzip makes it
            raise bad(where, f"{item.nbytes} bytes for shape {item.shape}", f"{n_stored} bytes")
        settings = {key: getattr(item, key) for key in FILTERS} if item.chunks else {}
        self.sets[name] = (item[()], {**settings, "maxshape": item.maxshape}, dict(item.attrs))

    @staticmethod
    def _create(file, name, array, settings):
        """A dataset with the settings of the old one, as far as its new shape allows."""
        maxshape = [None if most is None else n for n, most in zip(array.shape, settings["maxshape"])]
        settings = {**settings, "maxshape": maxshape}
        if "chunks" in settings:
            settings["chunks"] = tuple(k if most is None else min(k, most)
                                       for k, most in zip(settings["chunks"], maxshape))  # fmt: skip
        if array.size == 0:
            settings = {}
        return file.create_dataset(name, data=array, dtype=array.dtype, **settings)

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

        whole = io.BytesIO()  # a failure to write is Python's own, then
        with h5py.File(whole, "w") as file:
            for name, attrs in self.groups.items():
                file.require_group(name).attrs.update(attrs)
            for name, (old, settings, attrs) in self.sets.items():
                if self._is_states(name, old):
                    array = self._packed(need(arrays, name, self.path), old)
                elif name == "visit_counts" and old.ndim == 3 and name not in arrays:
                    pairs = [need(arrays, key, self.path) for key in ("policy_indices", "policy_values")]
                    if pairs[0].shape != pairs[1].shape:
                        raise bad("policy_values", f"shape {pairs[0].shape}", pairs[1].shape)
                    array = cast(np.stack(pairs, axis=2), old.dtype, name)
                else:
                    array = cast(need(arrays, name, self.path), old.dtype, name)
                self._create(file, name, array, settings).attrs.update(attrs)
            for name, text in self.attrs.items():
                file.attrs[name] = self._recount(name, text, n)
        with open(path, "wb") as file:
            file.write(whole.getbuffer())

    def _recount(self, name, text, n):
        if not isinstance(text, str):
            return text
        old = "|".join(map(str, lengths(array for array, _, _ in self.sets.values())))
        return re.sub(rf"(['\"](?:{'|'.join(COUNTERS)})['\"]: *)(?:{old})\b", rf"\g<1>{n}", text)


def ways(cell):
    """The ways of writing numbers of which one wrote this cell: (type, format)."""
    mantissa = cell.lower().partition("e")[0]
    decimals = len(mantissa.partition(".")[2])
    yield from ((int, form) for form in ("d", "+d", f"0{len(cell)}d"))
    yield from ((float, form) for form in ("", f".{decimals}f", f"+.{decimals}f", f".{decimals}e", "rust"))


def written(number, form):
    """A number as text; Rust never writes an exponent, nor .0."""
    if form == "rust":
        return np.format_float_positional(number, trim="-").replace("nan", "NaN")
    return format(number, form)


class Table:
    """CSV, or TSV with lists: columns NAME_0, NAME_1, ... or a list are one array (N,k).

    places: the columns of each field; widths: the k of those that are (N,k), else None; texts: its
    cells; ways: type and format of its numbers, None of texts.
    """

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            data = file.read()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as why:
            raise bad(path, "UTF-8", f"byte {data[why.start]:#04x} at {why.start}") from None
        if "\0" in text:
            raise bad(path, "text", f"byte 0x00 at {data.index(0)}")
        self.end = "\r\n" if "\r\n" in text else "\n"
        is_tsv = "\t" in text.split("\n", 1)[0]
        self.form = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None} if is_tsv else {"delimiter": ","}
        try:
            lines = list(csv.reader(io.StringIO(text, newline=""), strict=True, **self.form))
        except csv.Error as why:
            raise bad(path, "a table", f"a line that is not ({why})") from None
        if len(lines) < 2:
            raise bad(path, "a header and rows", f"{len(lines)} lines")
        self.header, cells = lines[0], lines[1:]
        for i, row in enumerate(cells):
            if len(row) != len(self.header):
                raise bad(f"{path}: row {i}", f"{len(self.header)} fields", len(row))
        self.columns = list(zip(*cells))
        self._find_fields()
        self.texts = {name: self._cells(name) for name in self.places}
        self.ways = {name: self._way(name) for name in self.places}

    def _find_fields(self):
        self.places, self.widths, numbered = {}, {}, {}
        titles = [re.sub(r"^\ufeff?(# *)?", "", self.header[0]), *self.header[1:]]
        for k, title in enumerate(titles):
            match = re.fullmatch(r"(.*)_(0|[1-9]\d{0,8})", title)
            if match and f"{match[1]}_0" in titles:
                numbered.setdefault(match[1], {})[int(match[2])] = k
                continue
            match = re.fullmatch(r"(.*)\((\d{1,9})\)", title)
            name = match[1] if match else title
            if name in self.places or name in numbered:
                raise bad(f"{self.path}: header", "a name for each column", f"{name!r} twice")
            self.places[name], self.widths[name] = [k], int(match[2]) if match else None
        for name, found in numbered.items():
            gap = next((i for i in range(len(found)) if i not in found), None)
            if gap is not None or name in self.places:
                raise bad(f"{self.path}: header", f"{name}_0 to {name}_{max(found)}, each once",
                          f"no {name}_{gap}" if gap is not None else f"{name}, too")  # fmt: skip
            self.places[name], self.widths[name] = [found[i] for i in range(len(found))], len(found)

    def _cells(self, name):
        columns, width = [self.columns[k] for k in self.places[name]], self.widths[name]
        if len(columns) > 1 or width is None:
            return list(zip(*columns))
        rows = [tuple(cell.split(",")) for cell in columns[0]]
        for i, row in enumerate(rows):
            if len(row) != width:
                raise bad(f"{self.path}: row {i}: {name}", f"{width} numbers", len(row))
        return rows

    def _way(self, name):
        """The type and the format of a field's numbers: those that give its very cells again. A cell
        of a column of numbers may be empty."""
        is_single = self.widths[name] is None
        every = [(cell, i) for i, row in enumerate(self.texts[name]) for cell in row if cell or not is_single]
        cells = dict.fromkeys(cell for cell, _ in every)
        wrong = {cell for cell in cells if not NUMBER.fullmatch(cell)}
        if wrong and sum(cell in wrong for cell, _ in every) * 2 < len(every):  # rather than a text
            cell, i = next((cell, i) for cell, i in every if cell in wrong)
            raise bad(f"{self.path}: row {i}: {name}", "a number", repr(cell)[:40])
        if wrong or not cells:
            return None
        for kind, form in ways(next(iter(cells))):
            try:
                if all(written(kind(cell), form) == cell for cell in cells):
                    break
            except ValueError:  # not a number of this type
                continue
        else:
            is_whole = all(re.fullmatch(r"[-+]?\d+", cell) for cell in cells)
            kind, form = (int, "d") if is_whole else (float, "")
            if is_whole and is_single:
                return None  # 7, 07: not numbers, then
        is_large = kind is int and not all(-(2**63) <= int(cell) < 2**63 for cell in cells)
        return None if is_large else (kind, form)

    def read(self):
        arrays = {}
        for name, rows in self.texts.items():
            way, dtype = self.ways[name], "U"
            present = np.array([way is None or row[0] != "" for row in rows])
            if way is not None:
                dtype = {int: "i8", float: "f8"}[way[0]]
                rows = [[way[0](cell) if cell else 0 for cell in row] for row in rows]
            arrays[name] = np.array([row[0] for row in rows] if self.widths[name] is None else rows, dtype)
            if not present.all():
                arrays[name + "_present"] = present
        return arrays

    def names(self):
        return {*self.places} | {name + "_present" for name in self.places}

    def _written(self, name, arrays, n):
        """The cells of a field: n rows of them."""
        array, way, width = need(arrays, name, self.path), self.ways[name], self.widths[name]
        if array.shape[1:] != (() if width is None else (width,)):
            raise bad(name, f"{width or 'one number'} in a row", f"shape {array.shape[1:]}")
        array = cast(array, {int: "i8", float: "f8"}[way[0]] if way else "U", name).reshape(n, -1)
        rows = [[written(value, way[1]) if way else value for value in row] for row in array.tolist()]
        present = arrays.get(name + "_present")
        if present is not None and name + "_present" not in self.places:
            rows = [row if is_there else [""] * len(row) for row, is_there in zip(rows, present)]
        return rows

    def write(self, arrays, n, path):
        columns = [[]] * len(self.header)
        for name, places in self.places.items():
            rows = self._written(name, arrays, n)
            if len(places) == 1:
                rows = [[",".join(row)] for row in rows]
            for place, column in zip(places, zip(*rows)):
                columns[place] = column
        with open(path, "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator=self.end, **self.form)
            try:
                out.writerow(self.header)
                out.writerows(zip(*columns))
            except csv.Error as why:
                raise bad(self.path, "texts without tabs and ends of lines", why) from None


class Folder:
    """A folder of .npy files, with dataset.json beside them."""

    def __init__(self, path):
        self.path, self.arrays, self.said = path, {}, None
        for name in sorted(os.listdir(path)):
            if name.endswith(".npy"):
                try:  # through a map: it must be as long as its header says
                    file = np.lib.format.open_memmap(os.path.join(path, name), mode="r")
                    self.arrays[name[:-4]] = np.array(file)
                except (ValueError, EOFError, OSError, OverflowError) as why:
                    raise bad(f"{path}: {name}", "an array", f"{str(why)[:80]}") from None
        if not self.arrays:
            raise bad(path, "data.mdb or .npy files", "neither")
        said = os.path.join(path, "dataset.json")
        if os.path.exists(said):
            try:
                with open(said, encoding="utf-8") as file:
                    self.said = json.load(file)
            except (ValueError, RecursionError) as why:
                raise bad(said, "JSON", str(why)[:80]) from None

    def read(self):
        return self.arrays

    def names(self):
        return set(self.arrays)

    def write(self, arrays, n, path):
        for name, old in self.arrays.items():
            np.save(os.path.join(path, name + ".npy"), cast(need(arrays, name, self.path), old.dtype, name))
        if self.said is not None:
            with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as file:
                json.dump(count_anew(self.said, lengths(self.arrays.values()), n), file, indent=2)
                file.write("\n")


def is_zarr(path):
    try:
        with zipfile.ZipFile(path) as archive:
            return any(os.path.basename(name) in (".zarray", ".zgroup", "zarr.json") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def open_original(path):
    """The container at path, read and understood."""
    if os.path.isdir(path):
        return Lmdb(path) if os.path.exists(os.path.join(path, "data.mdb")) else Folder(path)
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"\x89HDF\r\n\x1a\n"):
        return Hdf5(path)
    if head[:2] in (b"\x1f\x8b", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05") or head.startswith(
        (b"(lp0\n", b"(dp0\n", b"]q\0", b"}q\0")  # protocols 0 and 1
    ):
        return Pickle(path)
    if head[:4] == b"PK\x03\x04" and is_zarr(path):
        raise bad(path, "a pickle, HDF5, LMDB, CSV or TSV", "a zarr store")
    if head[:4] == b"PK\x03\x04" or head[:6] == b"\x93NUMPY":
        raise Error(DATA, f"{path}: is a shard already: symaug reads it as it is")
    if not head or b"\0" in head or head[0] < 9:
        raise bad(path, "a pickle, HDF5, LMDB, CSV or TSV", "none of them")
    return Table(path)
