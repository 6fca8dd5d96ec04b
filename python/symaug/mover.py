"""The mover: rows of named arrays under transforms, through one call of the library per array."""

import collections
import contextlib
import ctypes
import math
import pickle
import resource
import threading

import numpy as np

from . import library as lib
from .library import Error, library, usage


def _texts(texts):
    return (ctypes.c_char_p * max(len(texts), 1))(*(text.encode() for text in texts))


def _in_c_order(array):
    """The array, or a copy whose elements are aligned and in C order."""
    return np.require(array, requirements=["C", "A"])


class _Memory:
    """The memory of an array that was given out: kept for the next batch when the last array that
    lies in it is gone. Fresh memory costs as much as moving the rows into it."""

    def __init__(self, array, kept):
        self.__array_interface__ = array.__array_interface__
        self._array, self._kept = array, kept

    def __del__(self):
        self._kept.append(self._array)


def _room(kept, shape, dtype):
    """An array as np.empty makes it, in memory that is kept (a deque of bytes) where that fits."""
    n = math.prod(shape) * dtype.itemsize
    try:
        memory = kept.pop()
    except IndexError:
        memory = None
    if memory is None or not n <= memory.size <= 2 * n:
        memory = np.empty(n, np.uint8)
    return np.ndarray(shape, dtype, np.asarray(_Memory(memory, kept)))


def _pieces(n, threads):
    """Where the pieces of n images begin and end, one for each thread."""
    ends = [n * k // threads for k in range(threads + 1)]
    return [(a, b) for a, b in zip(ends, ends[1:]) if b > a]


@contextlib.contextmanager
def _many_files():
    """As many open files as the system allows: a mover has all shards open while it is made."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Mover:
    """What is known of named arrays, and images of their rows.

    Made from arrays (a dict of numpy arrays) or from paths. .roles: role by name; .transforms: ids
    that may be applied, ascending; .rows: of each path; .board_name. Read-only: threads may share
    it, and it survives fork.
    """

    def __init__(self, arrays, paths, options):
        self._lib, failure = library(), lib.Failure()
        self._mover = None
        texts = lib.words(options)
        arguments = (_texts(texts), len(texts), ctypes.byref(failure))
        if arrays is not None:
            described, kept = self._describe(arrays)
            self._mover = self._lib.mover_new(described, len(arrays), *arguments)
            del kept
        else:
            with _many_files():
                self._mover = self._lib.mover_open(_texts(paths), len(paths), *arguments)
        if not self._mover:
            raise failure.error()
        ids = ctypes.POINTER(ctypes.c_uint8)()
        n = self._lib.mover_transforms(self._mover, ctypes.byref(ids))
        self.transforms = np.array(ids[:n], np.uint8)
        self._is_chosen = np.isin(np.arange(256), self.transforms)
        self.rows = [self._lib.mover_rows(self._mover, i) for i in range(len(paths or [""]))]
        self.board_name = self._lib.board_name(self._lib.mover_board(self._mover)).decode()
        self.arrays = []
        for i in range(self._lib.mover_arrays(self._mover)):
            moved = self._lib.mover_array(self._mover, i)
            self.arrays.append((moved.name.decode(), moved))
        self.roles = {name: moved.role.decode() for name, moved in self.arrays}
        self._kept = [collections.deque(maxlen=2) for _ in self.arrays]

    def __del__(self):
        if getattr(self, "_mover", None):
            self._lib.mover_free(self._mover)

    @staticmethod
    def _describe(arrays):
        described, kept = (lib.Array * max(len(arrays), 1))(), []
        for one, (name, array) in zip(described, arrays.items()):
            if array.dtype.hasobject:
                data = np.frombuffer(pickle.dumps(array, 3), np.uint8)
            else:
                data = _in_c_order(array)
            descr = repr(np.lib.format.dtype_to_descr(array.dtype)).encode()
            shape = (ctypes.c_uint64 * max(array.ndim, 1))(*array.shape)
            kept += [data, shape]
            one.name, one.descr, one.n_dims = name.encode(), descr, array.ndim
            one.shape = ctypes.cast(shape, ctypes.c_void_p)
            one.data, one.n_bytes = data.ctypes.data, data.nbytes
        return described, kept

    def with_rows(self):
        """(name, offsets): the arrays that have rows, and of CSR arrays the offsets' name."""
        return [(name, self.arrays[moved.offsets][0] if moved.offsets >= 0 else None)
                for name, moved in self.arrays if moved.form != lib.META]  # fmt: skip

    def images(self, arrays, n_rows, rows, transforms, threads=1):
        """Image k is row rows[k] of the arrays under transforms[k]: a dict of arrays.

        arrays: those with rows, n_rows each, in C order, typed as those the mover was made for.
        """
        rows, transforms = self._numbers(rows, n_rows, "row"), self._numbers(transforms, 256, "transform")
        if len(rows) != len(transforms):
            raise usage(f"{len(rows)} rows, but {len(transforms)} transforms")
        wrong = np.flatnonzero(~self._is_chosen[transforms])
        if len(wrong):
            raise usage(f"image {wrong[0]}: transform {transforms[wrong[0]]} is none of those that may be "
                        f"used: {', '.join(map(str, self.transforms))}")  # fmt: skip
        transforms, out, jobs, lists = transforms.astype(np.uint8), {}, [], {}
        for number, (name, moved) in enumerate(self.arrays):
            array = arrays.get(name)
            if moved.form == lib.ROWS:
                out[name] = _room(self._kept[number], (len(rows), *array.shape[1:]), array.dtype)
                values = arrays[self.arrays[moved.values][0]] if moved.values >= 0 else None
                jobs += [(self._move, number, array, values, rows[a:b], transforms[a:b], out[name][a:b])
                         for a, b in _pieces(len(rows), threads)]  # fmt: skip
            elif moved.form == lib.OBJECTS:
                out[name] = array[rows]
            elif moved.form == lib.OBJECT_INDICES:
                out[name] = None
                jobs.append((self._move_objects, number, array, rows, transforms, out))
            elif moved.form != lib.META:
                if moved.offsets not in lists:
                    lists[moved.offsets] = _Lists(arrays[self.arrays[moved.offsets][0]], rows)
                out[name] = lists[moved.offsets].take(array, moved.form == lib.CSR_OFFSETS, name)
                if moved.form == lib.CSR_INDICES:
                    jobs.append((self._move_lists, number, lists[moved.offsets].starts, rows, transforms, out[name]))
        self._run(jobs, threads)
        return out

    def keys(self, arrays, n_rows, threads=1):
        """The orbit keys of all rows of the arrays: (n_rows, 2) uint64, (high, low) each."""
        out = np.empty((n_rows, 2), np.uint64)
        used = [arrays[name][:n_rows] if moved.is_key else None for name, moved in self.arrays]
        self._run([(self._keys, [a[i:j] if a is not None else None for a in used], out[i:j])
                   for i, j in _pieces(n_rows, threads)], threads)  # fmt: skip
        return out

    def _keys(self, used, out):
        failure = lib.Failure()
        data = (ctypes.c_void_p * max(len(used), 1))(*[None if a is None else a.ctypes.data for a in used])
        if self._lib.mover_keys(self._mover, data, len(out), out.ctypes.data, ctypes.byref(failure)):
            raise failure.error()

    @staticmethod
    def _numbers(numbers, end, what):
        try:
            numbers = np.asarray(numbers)
        except ValueError:  # lists of different lengths
            numbers = np.empty((0, 0))
        if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and len(numbers)):
            raise usage(f"{what}s: expected a list of whole numbers")
        wrong = np.flatnonzero((numbers < 0) | (numbers >= end)) if len(numbers) else []
        if len(wrong):
            raise usage(f"image {wrong[0]}: {what} {numbers[wrong[0]]}, expected 0 to {end - 1}")
        return np.ascontiguousarray(numbers, np.int64)

    def _run(self, jobs, threads):
        """Every job is a method and its arguments; the first failure in their order is raised."""
        failures = [None] * len(jobs)

        def work(first):
            for i in range(first, len(jobs), threads):
                try:
                    jobs[i][0](*jobs[i][1:])
                except Exception as why:  # handed to the caller's thread
                    failures[i] = why

        helpers = [threading.Thread(target=work, args=(k,)) for k in range(1, min(threads, len(jobs)))]
        for helper in helpers:
            helper.start()
        work(0)
        for helper in helpers:
            helper.join()
        for why in failures:
            if why is not None:
                raise why

    def _move(self, number, array, values, rows, transforms, out):
        failure = lib.Failure()
        told = lib.Rows(array.ctypes.data, values.ctypes.data if values is not None else None, len(array),
                        rows.ctypes.data, transforms.ctypes.data, len(rows))  # fmt: skip
        if self._lib.mover_move(self._mover, number, ctypes.byref(told), out.ctypes.data, ctypes.byref(failure)):
            raise failure.error()

    def _move_lists(self, number, starts, rows, transforms, data):
        failure = lib.Failure()
        if self._lib.mover_move_lists(self._mover, number, starts.ctypes.data, transforms.ctypes.data, len(rows),
                                      data.ctypes.data, data.ctypes.data, ctypes.byref(failure)):  # fmt: skip
            raise failure.error(int(rows[failure.row]) if failure.row >= 0 else None)

    def _move_objects(self, number, array, rows, transforms, out):
        """Rows of arrays, of lists, or of so many Python numbers each: as one list of int64."""
        name, items = self.arrays[number][0], array[rows].reshape(len(rows), math.prod(array.shape[1:]))
        plain = array.ndim > 1
        parts = [np.asarray(row.tolist() if plain else row[0]) for row in items]
        for row, part in zip(rows, parts):
            if part.size and (part.dtype.kind not in "iu" or part.ndim != 1):
                raise Error("data", f"{name}: row {row}: expected a list of whole numbers", None, name, int(row))
        starts = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([part.size for part in parts], out=starts[1:])
        data = np.concatenate([part.astype(np.int64) for part in parts] or [np.empty(0, np.int64)])
        self._move_lists(number, starts, rows, transforms, data)
        made = np.empty(len(parts), object)
        for k, (row, part) in enumerate(zip(rows, parts)):
            moved = data[starts[k] : starts[k + 1]]
            if plain or isinstance(items[k][0], list):
                made[k] = moved.tolist()
                continue
            made[k] = moved.astype(part.dtype) if part.size else part.copy()
            if part.size and (made[k] != moved).any():
                raise Error("data", f"{name}: row {row}: an index does not fit {part.dtype}", None, name, int(row))
        out[name] = np.array(made.tolist(), object).reshape(len(parts), *array.shape[1:]) if plain else made


class _Lists:
    """The lists of some rows of a CSR triple: where they are, and where the images' begin."""

    def __init__(self, offsets, rows):
        offsets = offsets.astype(np.int64)
        lengths = offsets[rows + 1] - offsets[rows]
        self.starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=self.starts[1:])
        self._at = np.arange(self.starts[-1]) + np.repeat(offsets[rows] - self.starts[:-1], lengths)

    def take(self, array, is_offsets, name):
        if not is_offsets:
            return array[self._at]
        if array.dtype.kind in "iu" and self.starts[-1] > np.iinfo(array.dtype).max:
            raise Error("data", f"{name}: offset {self.starts[-1]} does not fit {array.dtype}", None, name)
        return self.starts.astype(array.dtype)
