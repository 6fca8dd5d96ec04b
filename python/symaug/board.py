"""Boards: cells, transforms, and where they send cells and actions."""

from __future__ import annotations

import collections
import ctypes
import functools
import os

import numpy as np

from .library import SpanOf, library, named, usage, whole

Transform = collections.namedtuple("Transform", "id name swaps_colours")
Layout = collections.namedtuple("Layout", "name length summary")
Span = collections.namedtuple("Span", "name start stop")


def _made(function, *arguments):
    why = ctypes.create_string_buffer(512)
    made = function(*arguments, why, len(why))
    if not made:
        raise usage(why.value.decode(errors="replace"))
    return made


class Board:
    """A board and its group of transforms; read-only.

    name: a preset ("hex8"), FAMILY:SIZE ("square:15"), file:PATH, or the path of a JSON file.

    .name, .rows, .cols (both 0 where the cells form no box), .cells; .on_board: (cells,) bool;
    .transforms: named tuples (id, name, swaps_colours), by id. Maps are numpy integers: element i
    goes to map[i]. Error says what is wrong with a name, a file, a transform or a length.
    """

    def __init__(self, name: str | os.PathLike):
        name = named("board", name)
        if not name.startswith("file:") and name.endswith(".json"):
            name = "file:" + name
        lib = library()
        self._free, self._board = lib.board_free, _made(lib.board_new, name.encode())
        self._asked = name
        board = self._board
        self.name = lib.board_name(board).decode()
        self.rows, self.cols = lib.board_rows(board), lib.board_cols(board)
        self.cells = lib.board_cells(board)
        self.on_board = np.array([lib.board_on_board(board, i) for i in range(self.cells)], bool)
        self.transforms = [
            Transform(t, lib.transform_name(board, t).decode(),
                      bool(lib.transform_swaps_colours(board, t)))
            for t in range(lib.board_transforms(board))
        ]  # fmt: skip

    def __del__(self):
        if getattr(self, "_board", None):
            self._free(self._board)

    def __reduce__(self):
        return Board, (self._asked,)

    def __fspath__(self):
        return self._asked  # what board= takes elsewhere

    def __repr__(self):
        return f"symaug.Board({self._asked!r})"

    def _transform(self, t):
        if not isinstance(t, (int, float, np.number)) or t != int(t) or not 0 <= t < len(self.transforms):
            raise usage(f"transform {t}: board {self.name} has 0 to {len(self.transforms) - 1}")
        return int(t)

    def inverse(self, t: int) -> int:
        """The id of the transform that undoes t."""
        return library().transform_inverse(self._board, self._transform(t))

    def compose(self, a: int, b: int) -> int:
        """The id of the transform that is a first, then b."""
        return library().transform_compose(self._board, self._transform(a), self._transform(b))

    def cell_map(self, t: int) -> np.ndarray:
        """Where transform t sends each cell: (cells,) int64."""
        dst = library().cell_dst(self._board, self._transform(t))
        return np.array(dst[: self.cells], np.int64)

    def action_map(self, t: int, length: int = 0, layout: str | None = None) -> np.ndarray:
        """Where transform t sends each action of a policy: (length,) int64.

        layout: a name of .layouts, else the first one that has the length; length 0: that of the
        named layout. Longer policies are padded: the entries after the layout's own stay.
        """
        lib, t = library(), self._transform(t)
        actions = self._actions(length, layout)
        try:
            n = lib.actions_length(actions)
            return np.array(lib.actions_dst(actions, t)[:n], np.int64)
        finally:
            lib.actions_free(actions)

    @functools.cached_property
    def layouts(self) -> list[Layout]:
        """The policy layouts: named tuples (name, length, summary)."""
        from .program import run_json

        told = run_json("boards", [self._asked])["layouts"]
        return [Layout(one["name"], one["length"], one["summary"]) for one in told]

    def layout(self, length: int, name: str | None = None) -> list[Span]:
        """The spans of a policy of that length, in order: named tuples (name, start, stop).

        name: one of .layouts, else the first one that has the length. Entries after the layout's
        own are "unused".
        """
        lib, found = library(), (SpanOf * 16)()
        actions = self._actions(length, name)
        try:
            n = lib.actions_spans(actions, found, len(found))
        finally:
            lib.actions_free(actions)
        return [Span(one.name.decode(), one.start, one.stop) for one in found[:n]]

    def _actions(self, length, layout):
        layout = named("layout", layout).encode() if layout is not None else None
        return _made(library().actions_new, self._board, layout, whole("length", length, 0))
