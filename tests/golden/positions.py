"""Positions up to symmetry, written a second time from their definition: key bytes, canonical
images, orbit keys, sides of a split, merged rows. Nothing here comes from the program."""

import struct

import numpy as np
import xxhash


class Part:
    """An array of the position: its rows, what transform t makes of them, and which elements of a
    row count (None: all)."""

    def __init__(self, name, rows, move=None, kept=None, shape=None):
        self.name, self.rows, self.kept = name, np.asarray(rows), kept
        self.move = move or (lambda t, rows: rows)
        self.shape = self.rows.shape[1:] if shape is None else shape

    def head(self):
        dtype = self.rows.dtype.newbyteorder("<").str
        return b"\0".join([self.name.encode(), dtype.encode(), str(self.shape).encode(), b""])

    def images(self, t):
        """The key bytes of every row under transform t, (N, bytes)."""
        moved = np.ascontiguousarray(self.move(t, self.rows))
        moved = moved.reshape(len(moved), int(np.prod(moved.shape[1:], dtype=int)))
        if self.kept is not None:
            moved = moved[:, self.kept]
        moved = np.array(moved.astype(moved.dtype.newbyteorder("<")), order="C")
        if moved.dtype.kind == "f":
            bits = moved.view(f"<u{moved.dtype.itemsize}")
            bits[bits == 1 << (8 * moved.dtype.itemsize - 1)] = 0
        return moved.view(np.uint8).reshape(len(moved), moved.shape[1] * moved.dtype.itemsize)


class Positions:
    """Keys of rows: .hex (text), .words (N,2), .canonical (transform ids), .ties (lists of ids)."""

    def __init__(self, board, parts, transforms):
        parts = sorted(parts, key=lambda part: part.name.encode())
        head = board.encode() + b"\0" + b"".join(part.head() for part in parts)
        images = {t: np.concatenate([part.images(t) for part in parts], axis=1) for t in transforms}
        n = len(parts[0].rows)
        self.hex, self.exact, self.ties, self.canonical = [], [], [], []
        for row in range(n):
            texts = {t: images[t][row].tobytes() for t in transforms}
            least = min(texts.values())
            self.ties.append([t for t in transforms if texts[t] == least])
            self.canonical.append(self.ties[-1][0])
            self.hex.append(xxhash.xxh3_128_hexdigest(head + least))
            self.exact.append(xxhash.xxh3_128_hexdigest(head + texts[0]))
        self.words = np.array([[int(h[:16], 16), int(h[16:], 16)] for h in self.hex], np.uint64)
        self.words = self.words.reshape(n, 2)

    def classes(self):
        """{first row: [rows]} in order of first occurrence."""
        seen, classes = {}, {}
        for row, key in enumerate(self.hex):
            classes.setdefault(seen.setdefault(key, row), []).append(row)
        return classes

    def to_first(self, board, row, first):
        """The lowest transform that takes a row to the first of its class, by their images."""
        compose, inverse = group_of(board)
        found = [compose[self.canonical[row]][inverse[u]] for u in self.ties[first]]
        return min(found)


def group_of(board):
    """compose[a][b]: a first, then b; inverse[a]; from the cells' maps and the colours."""
    names = [(tuple(dst), bool(swap)) for dst, swap in zip(board.dst, board.swaps)]
    number = {name: t for t, name in enumerate(names)}
    assert len(number) == len(names), "transforms that the maps do not tell apart"
    compose = [[number[tuple(np.asarray(b)[list(a)]), sa != sb] for b, sb in names] for a, sa in names]
    inverse = [next(b for b in range(len(names)) if compose[a][b] == 0) for a in range(len(names))]
    return compose, inverse


def side(value, seed, parts):
    """The part that a row goes to: parts are (name, share); value is a key's hex digits, an integer
    or a string."""
    if isinstance(value, bytes):
        text = value
    elif isinstance(value, str):
        text = value.encode()
    else:
        text = struct.pack("<q", value) if value < 1 << 63 else struct.pack("<Q", value)
    digest = xxhash.xxh3_128_hexdigest(struct.pack("<Q", seed) + text)
    u = int(digest[:16], 16) / 2.0**64
    total = 0.0
    for name, share in parts:
        total += share
        if total > u:
            return name
    return parts[-1][0]


def key_bytes(hexdigits):
    return bytes.fromhex(hexdigits)


def from_table(axis, dst):
    """A move along an axis by maps of destinations."""
    src = [np.argsort(np.asarray(d), kind="stable") for d in dst]
    return lambda t, rows: np.take(rows, src[t], axis=axis)
