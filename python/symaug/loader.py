"""Loader: batches of images of many shards, shuffled, in bounded memory.

The rows of an epoch, shard after shard in an order of its own, are cut into windows of `buffer`
rows. A window is read, its images are shuffled, and batches are cut from one window after another.
Which image comes when depends on seed, epoch and row numbers alone, so that a loader goes on
exactly where its state says, on any machine.
"""

from __future__ import annotations

import os

import numpy as np

from .augmenter import _file_board
from .library import named, usage, whole
from .mover import Mover, _in_c_order
from .shard import Shard, stamps

IMAGES = ("random", "all", "none")


def _mixed(*parts):
    """64 random bits for numbers or arrays of them: splitmix64 over their sum so far."""
    with np.errstate(over="ignore"):
        state = np.uint64(0)
        for part in parts:
            part = part & 0xFFFFFFFFFFFFFFFF if isinstance(part, int) else part
            state = state + np.asarray(part).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return state


class Loader:
    """Batches of images: `for batch in loader` goes through what is left of an epoch.

    paths: shards, which share roles and conventions; board, threads and further options as for
    Augmenter. batch_size: images in a batch, the last may be short. images: "random" (one fresh
    image of each row per epoch), "all", or "none" (the rows as they are). buffer: rows that are
    shuffled together and held in memory, across shards; 0: nothing is shuffled. seed: of it all.

    A batch is a dict of arrays as Augmenter.images makes it. len(): batches of an epoch. Reaching
    the end moves on to the next epoch. It may be pickled: only what describes it is.
    """

    def __init__(self, paths, board: str | os.PathLike | None = None, batch_size: int = 512,
                 images: str = "random", seed: int = 1, buffer: int = 65536, threads: int = 1,
                 **options):  # fmt: skip
        paths = paths if isinstance(paths, (list, tuple)) else [paths]
        if images not in IMAGES:
            raise usage(f"images: {images!r} is none of {', '.join(IMAGES)}")
        batch_size, threads = whole("batch_size", batch_size, 1), whole("threads", threads, 1)
        buffer = whole("buffer", buffer, 0)
        seed = whole("seed", seed)
        self._told = dict(paths=[named("paths", path) for path in paths], board=board,
                          batch_size=batch_size, images=images, seed=seed, buffer=buffer,
                          threads=threads, **options)  # fmt: skip
        options["board"] = _file_board(named("board", board)) if board is not None else None
        self._paths, self._size, self._images = self._told["paths"], batch_size, images
        self._seed, self._threads, self._shuffles = seed, threads, buffer > 1
        self._stamps = [stamps(path) for path in self._paths]
        self._mover = Mover(None, self._paths, options)
        self._rows = np.array(self._mover.rows, np.int64)
        self._first = np.concatenate([[0], np.cumsum(self._rows)])
        self._window_rows = buffer if self._shuffles else 65536
        self._ids = self._mover.transforms
        if images == "none" and 0 not in self._ids:
            raise usage("images='none' needs transform 0 among those chosen")
        self._per_row = len(self._ids) if images == "all" else 1
        self._epoch = self._batch = 0
        self._window = self._shards = self._shared = self._process = None
        self.roles = self._mover.roles

    def __len__(self) -> int:
        return -(-int(self._first[-1]) * self._per_row // self._size)

    def __getstate__(self):
        return {"told": self._told, "state": self.state_dict(), "shared": self._shared}

    def __setstate__(self, kept):
        self.__init__(**kept["told"])
        self.load_state_dict(kept["state"])
        self._shared = kept["shared"]

    def set_epoch(self, epoch: int) -> None:
        """The next batch is the first of that epoch."""
        self.load_state_dict({"epoch": epoch, "batch": 0})

    def state_dict(self) -> dict[str, int]:
        """Where it is: {"epoch", "batch"}, the number of batches of the epoch given out."""
        if self._shared is not None and int(self._shared[0]) > self._epoch:  # workers went on
            self._epoch, self._batch = int(self._shared[0]), int(self._shared[1])
        return {"epoch": self._epoch, "batch": self._batch}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on where another loader of the same arguments was. Error where it is no such state."""
        try:
            epoch, batch = state["epoch"], state["batch"]
        except (KeyError, TypeError, IndexError):
            raise usage("state: expected what state_dict() gives, a dict with epoch and batch, "
                        f"found {state!r}") from None  # fmt: skip
        epoch, batch = whole("epoch", epoch, 0), whole("batch", batch, 0)
        if batch > len(self):
            raise usage(f"batch: expected at most the {len(self)} batches of an epoch, found {batch}: "
                        "the state is that of a loader with other arguments")  # fmt: skip
        self._epoch, self._batch = epoch, batch
        if self._shared is not None:
            self._shared[:] = 0
            self._shared[0], self._shared[1] = self._epoch, self._batch

    def __iter__(self):
        epoch = self._epoch
        while self._epoch == epoch and self._batch < len(self):
            made = self._make(epoch, self._batch)
            if self._epoch != epoch:
                return  # set_epoch was called meanwhile
            self._batch += 1
            yield made
        if self._epoch == epoch:
            self._epoch, self._batch = epoch + 1, 0

    def torch(self):
        """The batches as a torch IterableDataset: DataLoader(loader.torch(), batch_size=None).

        Worker w of n makes batches w, w + n, ... so that a DataLoader gives the loader's own
        batches in their order. When all workers have come to the end, the next epoch begins.
        How many of an epoch a DataLoader has given out only its user knows: to resume within one,
        load_state_dict({"epoch": epoch, "batch": batches given out}).
        """
        from ._torch import Batches

        return Batches(self)

    # --- windows and batches ---

    def _make(self, epoch, batch):
        first, end = batch * self._size, min((batch + 1) * self._size, int(self._first[-1]) * self._per_row)
        span, parts = self._window_rows * self._per_row, []
        while first < end:
            number = first // span
            stop = min(end, (number + 1) * span)
            arrays, order, ids = self._load(epoch, number)
            take = order[first - number * span : stop - number * span]
            n_rows = len(order) // self._per_row
            parts.append(self._mover.images(arrays, n_rows, take // self._per_row, ids[take], self._threads))
            first = stop
        return self._join(parts)

    def _load(self, epoch, number):
        """Window number of an epoch: its arrays, the order of its images, the transform of each."""
        if self._window is None or self._window[0] != (epoch, number):
            pieces = self._pieces(epoch, number)
            if self._window is None or self._window[1] != pieces:
                self._window = None  # let go of it first
                arrays = self._read(pieces)
            else:
                arrays = self._window[2]
            rows = np.concatenate([np.arange(a, b) + self._first[i] for i, a, b in pieces])
            self._window = ((epoch, number), pieces, arrays, *self._shuffled(epoch, rows))
        return self._window[2:]

    def _pieces(self, epoch, number):
        """(shard, first row, end) of a window; all shards in their order where one window holds
        them, so that the rows need to be read but once."""
        order = np.arange(len(self._rows))
        if self._shuffles and self._first[-1] > self._window_rows:
            order = np.argsort(_mixed(self._seed, epoch, 1, order), kind="stable")
        skip, left, pieces = number * self._window_rows, self._window_rows, []
        for i in order.tolist():
            n = int(self._rows[i])
            a, b = min(skip, n), min(skip + left, n)
            skip, left = skip - a, left - (b - a)
            if b > a:
                pieces.append((i, a, b))
        return pieces

    def _shuffled(self, epoch, rows):
        k = np.arange(len(rows) * self._per_row)
        of = np.repeat(rows, self._per_row)
        if self._images == "random":
            bits = _mixed(self._seed, epoch, 2, rows) >> np.uint64(32)
            ids = self._ids[((bits * np.uint64(len(self._ids))) >> np.uint64(32)).astype(np.int64)]
        else:
            ids = np.tile(self._ids if self._images == "all" else np.uint8([0]), len(rows))
        if self._shuffles:
            k = np.argsort(_mixed(self._seed, epoch, 3, of, k % self._per_row), kind="stable")
        return k, ids

    def _read(self, pieces):
        if self._process != os.getpid():  # forked processes would share the place in an open file
            self._process = os.getpid()
            self._shards = [Shard(*known) for known in zip(self._paths, self._stamps)]
        needed = {i for i, _, _ in pieces}
        for i, shard in enumerate(self._shards):
            if i not in needed:  # of an epoch that was left
                shard.close()
        return self._join([self._piece(*piece) for piece in pieces])

    def _piece(self, i, a, b):
        """Rows a to b - 1 of shard i, which is closed after its last row: files that are open at
        once are few, however many shards a window has."""
        shard, found = self._shards[i], {}
        for name, offsets in self._mover.with_rows():
            first, n = a, b - a
            if name == offsets:
                found[name] = shard.read(name, a, n + 1)
                found[name] = found[name] - found[name][0]
                continue
            if offsets:
                first, end = shard.read(offsets, a, n + 1)[[0, -1]].astype(np.int64).tolist()
                n = end - first
            found[name] = shard.read(name, first, n)
        if b == self._rows[i]:
            shard.close()
        return found

    def _join(self, parts):
        """Rows behind one another; the parts are let go of one array after the other."""
        return {name: (_joined_offsets if name == offsets else _joined)([part.pop(name) for part in parts])
                for name, offsets in self._mover.with_rows() if name in parts[0]}  # fmt: skip


def _joined(parts):
    """The rows of arrays behind one another, in C order and in their own byte order: concatenate
    alone keeps Fortran order, and turns big-endian numbers into the machine's."""
    if len(parts) == 1:
        return _in_c_order(parts[0])
    rows = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    return np.concatenate(parts, out=rows)


def _joined_offsets(parts):
    """The offsets of lists behind one another, each from 0."""
    joined, end = [parts[0][:1].astype(np.int64)], 0
    for part in parts:
        joined.append(part[1:].astype(np.int64) + end)
        end += int(part[-1])
    return np.concatenate(joined).astype(parts[0].dtype)
