"""Shards read from Python: .npz, .npy and folders of .npy, rows in sequence, no pickle executed."""

import os
import zipfile

import numpy as np

from . import restricted
from .library import Error


class Shard:
    """The arrays of a shard by name; whole ones, and rows in sequence."""

    def __init__(self, path):
        self.path, self._open, self._files = path, {}, {}
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
        version = np.lib.format.read_magic(file)
        return (file, *np.lib.format._read_array_header(file, version))

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

    def read(self, name, first, n):
        """Rows first to first + n - 1 of an array, quickest when they follow those read before."""
        kept = self._open.get(name)
        if kept is None or (kept[0] is not None and kept[1] > first):
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

    def close(self):
        for file, *_ in self._open.values():
            if file is not None:
                file.close()
        self._open = {}
