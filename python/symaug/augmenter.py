"""Augmenter: images of the rows of arrays or of a shard."""

from __future__ import annotations

import os

import numpy as np

from .board import Board
from .library import Error, named, whole
from .mover import Mover, _in_c_order
from .shard import Shard, stamps


class Augmenter:
    """Images of rows, each under a transform of its own: the rows that `symaug expand` writes.

    arrays: a dict of numpy arrays, or the path of a shard (.npz, .npy, a folder of .npy).
    board: a board's name, or a Board; None where the shard says it. threads: a batch is cut among so many.
    Other options are those of `symaug expand` that say what arrays mean.

    .roles: role by name; .board; .transforms: ids that may be used, (T,) uint8; len(): rows.
    Error where roles or conventions cannot be decided, and where the data contradicts them.
    """

    def __init__(self, arrays: dict | str | os.PathLike, board: str | os.PathLike | None = None,
                 threads: int = 1, **options):  # fmt: skip
        options["board"] = _file_board(named("board", board)) if board is not None else None
        threads = whole("threads", threads, 1)
        self._made_of = (arrays, board, threads, options)
        if isinstance(arrays, dict):
            self._mover = Mover({named("arrays", name): _array(name, a) for name, a in arrays.items()}, None, options)
        else:
            with_path = named("arrays", arrays)
            as_of = stamps(with_path)
            self._mover = Mover(None, [with_path], options)
            shard = Shard(with_path, as_of)
            arrays = {name: shard.whole(name) for name, _ in self._mover.with_rows()}
        self._arrays = {name: np.asarray(arrays[name]) for name, _ in self._mover.with_rows()}
        for name, array in self._arrays.items():
            if not array.dtype.hasobject:
                self._arrays[name] = _in_c_order(array)
        self._n_rows, self._threads = self._mover.rows[0], threads
        self.roles, self.transforms = self._mover.roles, self._mover.transforms
        self._board_name = options["board"] or self._mover.board_name

    def __len__(self) -> int:
        return self._n_rows

    def __reduce__(self):
        arrays, board, threads, options = self._made_of
        return _again, (arrays, board, threads, {k: v for k, v in options.items() if k != "board"})

    @property
    def board(self) -> Board:
        """The Board."""
        return Board(self._board_name)

    def images(self, rows, transforms) -> dict[str, np.ndarray]:
        """A dict of arrays: image k is row rows[k] under transform transforms[k].

        rows, transforms: as many whole numbers, in any order, duplicates too. Names, types, axis
        order and form are the input's; arrays without rows are left out, CSR arrays are those of
        the images. Error names a wrong row or transform, or the array and row of a wrong index.
        """
        return self._mover.images(self._arrays, self._n_rows, rows, transforms, self._threads)

    def orbit_keys(self) -> np.ndarray:
        """The orbit keys of all rows, (N, 2) uint64, (high, low) each: two rows have the same one
        when one's position is an image of the other's (the symaug_orbit of `symaug expand
        --orbit-key`). key="NAME,..." says which arrays are the position. Error when none is.
        """
        return self._mover.keys(self._arrays, self._n_rows, self._threads)


def _array(name, array):
    try:
        return np.asarray(array)
    except ValueError as why:
        raise Error("usage", f"{name}: not an array: {why}", None, name) from None


def _file_board(name):
    is_file = name.endswith(".json") and not name.startswith("file:")
    return "file:" + name if is_file else name


def _again(arrays, board, threads, options):
    return Augmenter(arrays, board, threads, **options)
