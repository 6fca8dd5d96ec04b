"""Shards read from Python: .npz, .npy and folders of .npy, rows in sequence, no pickle executed."""

import ast
import functools
import os
import re
import zipfile
import zlib

import numpy as np

from . import restricted
from .library import Error


def stamps(path):
    """What tells whether a shard is as it was: size and time of each of its files; None of none."""
    try:
        names = sorted(name for name in os.listdir(path) if name.endswith(".npy")) if os.path.isdir(path) else [""]
        found = [os.stat(os.path.join(path, name) if name else path) for name in names]
    except OSError:
        return None
    return [(name, one.st_size, one.st_mtime_ns) for name, one in zip(names, found)]


def _header(file):
    """Shape, whether in Fortran order, and dtype of an .npy file, which is then at its data: numpy
    has no function for headers of version 3."""
    version = np.lib.format.read_magic(file)
    n_bytes = int.from_bytes(file.read(2 if version == (1, 0) else 4), "little")
    text = file.read(n_bytes).decode("utf-8" if version == (3, 0) else "latin1").strip()
    try:
        said = ast.literal_eval(text)
    except SyntaxError:  # of Python 2: (10L, 3L)
        said = ast.literal_eval(re.sub(r"(?<=\d)L\b", "", text))
    return said["shape"], said["fortran_order"], np.lib.format.descr_to_dtype(said["descr"])


def _guarded(function):
    """With each failure to read a shard as Error; one that has changed is not read."""

    @functools.wraps(function)
    def guarded(self, *arguments):
        try:
            if stamps(self.path) != self._stamps:
                raise Error("data", f"{self.path}: has changed, or is gone, since it was opened", self.path)
            return function(self, *arguments)
        except (OSError, EOFError, LookupError, NotImplementedError, ValueError, zipfile.BadZipFile, zlib.error) as why:
            kind = "io" if isinstance(why, OSError) else "data"
            raise Error(kind, f"{self.path}: cannot be read: {why or type(why).__name__}", self.path) from None

    return guarded


class Shard:
    """The arrays of a shard by name; whole ones, and rows in sequence.

    Its files must be as they were when stamps(path) was asked for.
    """

    def __init__(self, path, as_of=None):
        self.path, self._open, self._files = path, {}, {}
        self._stamps = as_of or stamps(path)
        self._list()

    @_guarded
    def _list(self):
        path = self.path
        if os.path.isdir(path):
            names = [name for name in os.listdir(path) if name.endswith(".npy")]
            self._files = {name[:-4]: os.path.join(path, name) for name in names}
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                self._files = {name[:-4] if name.endswith(".npy") else name: name
                               for name in archive.namelist()}  # fmt: skip
        else:
            self._files = {os.path.splitext(os.path.basename(path))[0]: path}

    def _stream(self, name):
        """A file of the array's bytes, whose header has been read: (file, shape, fortran, dtype)."""
        place = self._files[name]
        file = open(place, "rb") if os.path.exists(place) and not zipfile.is_zipfile(self.path) \
            else zipfile.ZipFile(self.path).open(place)  # fmt: skip
        return (file, *_header(file))

    @_guarded
    def whole(self, name):
        """The array, in C order."""
        file, shape, fortran, dtype = self._stream(name)
        with file:
            data = file.read()
        if dtype.hasobject:
            try:
                return restricted.loads(data, objects=True)[0].reshape(shape)
            except restricted.Refused as why:
                raise Error("data", f"{self.path}: {name}: {why}", self.path, name) from None
        n = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(bytearray(data), dtype, n).reshape(shape, order="F" if fortran else "C")

    @_guarded
    def read(self, name, first, n):
        """Rows first to first + n - 1 of an array, quickest when they follow those read before."""
        kept = self._open.get(name)
        if kept is None or (kept[0] is not None and kept[1] > first):
            if kept is not None:
                kept[0].close()
            file, shape, fortran, dtype = self._stream(name)
            if dtype.hasobject or (fortran and len(shape) > 1):
                file.close()
                kept = [None, 0, self.whole(name), None]
            else:
                kept = [file, 0, np.empty((0, *shape[1:]), dtype), None]
            self._open[name] = kept
        file, at, like = kept[:3]
        if file is None:
            return like[first : first + n]
        row_nbytes = int(np.prod(like.shape[1:], dtype=np.int64)) * like.dtype.itemsize
        while at < first:  # what is between is read over, some MiB at a time
            step = min(first - at, max(1, (1 << 22) // max(row_nbytes, 1)))
            file.read(step * row_nbytes)
            at += step
        data = bytearray(n * row_nbytes)
        view, got = memoryview(data), 0
        while got < len(data):
            more = file.readinto(view[got:])
            if not more:
                raise Error("data", f"{self.path}: {name}: the data ends at row {at}", self.path, name)
            got += more
        kept[1] = at + n
        return np.frombuffer(data, like.dtype).reshape(n, *like.shape[1:])

    def __del__(self):
        self.close()

    def close(self):
        for file, *_ in self._open.values():
            if file is not None:
                file.close()
        self._open = {}
