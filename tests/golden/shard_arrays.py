"""The arrays of random shards: planes, labels, copies, each with what becomes of its rows."""

import numpy as np

import maps

FLOATS = ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"]
SIGNED = ["|i1", "<i2", "<i4", "<i8", ">i2", ">i4", ">i8"]
UNSIGNED = ["|u1", "<u2", "<u4", "<u8", ">u2", ">u4", ">u8"]
NUMBERS = ["|b1", *FLOATS, *SIGNED, *UNSIGNED]


def random_bits(rng, shape, dtype):
    """Any bits at all: NaN payloads, infinities, denormals, -0.0; about half of them zero."""
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    raw = rng.integers(0, 256, n * dtype.itemsize, np.uint8).reshape(n, dtype.itemsize)
    raw[rng.random(n) < 0.5] = 0
    if dtype.kind == "b":
        raw &= 1
    return raw.reshape(-1).view(dtype).reshape(shape)


def object_rows(rows):
    array = np.empty(len(rows), object)
    for i, row in enumerate(rows):
        array[i] = row
    return array


class Entry:
    """One array of a shard: its rows, and what a transform makes of them."""

    def __init__(self, array, move=None, meta=False):
        self.array = array
        self.move = move or (lambda t, rows: rows)
        self.meta = meta


class Csr:
    """A sparse policy as offsets, indices, values; rows are lists of (index, value)."""

    def __init__(self, offsets, indices, values, dst):
        self.parts = (offsets, indices, values)
        self.dst = dst


class Shard:
    def __init__(self, rng, board, n_rows):
        self.rng, self.board, self.n = rng, board, n_rows
        self.entries = {}
        self.csr = None  # (prefix, Csr)
        self.options = []
        self.chosen = list(board.default)
        self.identity_only = np.zeros(n_rows, bool)  # rows that keep no other image
        self.provenance = True
        self.policy = None  # (layout name, dst maps)

    def pick(self, *things):
        return things[self.rng.integers(len(things))]

    def chance(self, p):
        return self.rng.random() < p

    def add(self, names, array, move=None, meta=False):
        free = [name for name in names if name not in self.entries]
        key = self.pick(*free)
        self.entries[key] = Entry(array, move, meta)
        return key


# --- what rows become ---


def gather(axis, maps_):
    """Rows whose `axis` is the cells or actions: out[..., j] = in[..., src[j]]."""
    src = [maps.inverse(dst) for dst in maps_]
    return lambda t, rows: np.take(rows, src[t], axis=axis)


def scatter(maps_):
    """Indices: new = dst[old]; negative ones stay."""

    def move(t, rows):
        old = rows.astype(np.int64)
        new = np.where(old >= 0, maps_[t][np.maximum(old, 0)], old)
        return new.astype(rows.dtype)

    return move


def plane_maps(shard):
    return shard.board.dst


# --- planes ---

PLANES = ["features", "states", "boards", "obs", "planes", "bf", "X", "inputs"]


def fill_planes(shard, n_planes, plane_move, values=None, dtypes=(*NUMBERS, "|V2"), cells=None):
    """Planes in one of their shapes. values: (N, C, cells) or None for any bits. plane_move(t,
    rows) changes whole planes of (n, C, cells)."""
    board, n = shard.board, shard.n
    maps_ = cells or plane_maps(shard)
    dtype = shard.pick(*dtypes)
    n_cells = len(maps_[0])
    bits = random_bits(shard.rng, (n, n_planes, n_cells), dtype) if values is None else values.astype(dtype)
    forms = ["cells"]
    if n_cells == board.n_cells:
        forms += ["flat"] * (n_planes > 1)
        if len(board.shape) == 2:
            forms = ["nchw", "nchw", "flat" if n_planes > 1 else "nchw"]
            if n_planes != board.shape[1] and n_planes > 1:
                forms += ["nhwc"]
    form = shard.pick(*forms)
    src = [maps.inverse(dst) for dst in maps_]

    def to_stored(rows):
        if form == "flat":
            return rows.reshape(len(rows), n_planes * n_cells)
        if form == "nchw":
            return rows.reshape(len(rows), n_planes, *board.shape)
        if form == "nhwc":
            return np.moveaxis(rows, 1, 2).reshape(len(rows), *board.shape, n_planes)
        return rows

    def from_stored(rows):
        if form == "nhwc":
            return np.moveaxis(rows.reshape(len(rows), n_cells, n_planes), 2, 1)
        return rows.reshape(len(rows), n_planes, n_cells)

    def move(t, rows):
        return to_stored(plane_move(t, from_stored(rows)[:, :, src[t]]))

    return shard.add(PLANES, np.ascontiguousarray(to_stored(bits)), move)


def add_plain_planes(shard):
    """Planes that only move."""
    cells = None
    if shard.board.planes is not None:
        n_planes = len(shard.board.planes[0])
        fill_planes(shard, n_planes,
                    lambda t, rows: rows[:, maps.inverse(shard.board.planes[t])])  # fmt: skip
        return
    if "cells-board" in shard.board.layouts and shard.chance(0.2):
        cells = shard.board.layouts["cells-board"]
    fill_planes(shard, int(shard.rng.integers(1, 7)), lambda t, rows: rows, cells=cells)


def add_grid_of_cells(shard):
    """Take It Easy's planes of 5 x 5."""
    src = []
    for dst in shard.board.dst:
        to = np.arange(25)
        to[shard.board.grid_of_cell] = shard.board.grid_of_cell[dst]
        src.append(maps.inverse(to))
    n_planes = int(shard.rng.integers(1, 4))
    array = random_bits(shard.rng, (shard.n, n_planes, 5, 5), shard.pick(*NUMBERS))
    shard.add(PLANES, array,
              lambda t, rows: rows.reshape(len(rows), n_planes, 25)[:, :, src[t]].reshape(rows.shape))  # fmt: skip


def pack(bits, order):
    return np.packbits(bits.astype(np.uint8), axis=-1, bitorder=order)


def add_packed(shard, n_planes=None, name=None, plane_move=lambda t, rows: rows):
    """Planes of bits. Pad bits are written as zeros."""
    n_cells = shard.board.n_cells
    n_planes = n_planes or int(shard.rng.integers(1, 6))
    if shard.board.planes is not None:
        n_planes = len(shard.board.planes[0])
        plane_move = lambda t, rows: rows[:, maps.inverse(shard.board.planes[t])]
    n_bytes = (n_cells + 7) // 8
    if len(shard.board.shape) == 2 and (n_planes, n_bytes) == shard.board.shape or n_bytes == n_cells:
        return
    order = "big" if name or shard.chance(0.5) else "little"
    raw = shard.rng.integers(0, 256, (shard.n, n_planes, n_bytes), np.uint8)
    src = [maps.inverse(dst) for dst in plane_maps(shard)]

    def move(t, rows):
        bits = np.unpackbits(rows, axis=-1, bitorder=order)[:, :, :n_cells]
        return pack(plane_move(t, bits[:, :, src[t]]), order)

    key = shard.add([name] if name else ["packed_a", "packed_b"], raw, move)
    if name is None:
        shard.options += ["--role", f"{key}=packed:{'msb' if order == 'big' else 'lsb'}"]


# --- labels, copies ---


def is_spatial(board, dims, dtype):
    lengths = {board.n_cells, int(board.on_board.sum()), 25 if len(board.shape) == 1 else board.n_cells}
    lengths |= {len(dst[0]) for dst in board.layouts.values()}
    lengths |= {7, board.shape[-1]}
    if np.dtype(dtype) == np.uint8:
        lengths.add((board.n_cells + 7) // 8)
    return any(int(np.prod(dims[i:k])) in lengths
               for i in range(len(dims)) for k in range(i + 1, len(dims) + 1))  # fmt: skip


COPIES = ["globals", "extra", "ply", "game_id", "weights", "heuristics", "scores", "zobrist", "phases"]


def add_copy(shard):
    dtype = shard.pick(*NUMBERS, "<c8", ">c16", "<M8[s]", ">m8[ns]", "<U5", ">U3", "|S4", "|V2", "struct", "object")
    dims = shard.pick((), (), (1,), (2,), (5,), (20,), (2, 3))
    if dtype == "object":
        words = ["", "opening", "mid-game", "Stra\u00dfe", "x" * 300]
        array = object_rows([words[k] for k in shard.rng.integers(0, len(words), shard.n)])
        if shard.add(COPIES[6:], array) == "zobrist" and any(shard.board.swaps):
            shard.options += ["--copy", "zobrist"]
        return
    if dtype == "struct":
        dtype = np.dtype([("a", "<i4"), ("b", ">f8", (2,)), ("c", "|S3")])
    dtype = np.dtype(dtype)
    if is_spatial(shard.board, dims, dtype):
        dims = ()
    if dtype.kind == "U":
        array = np.array(shard.rng.integers(0, 10**4, (shard.n, *dims)).astype(str), dtype)
    else:
        array = random_bits(shard.rng, (shard.n, *dims), dtype)
    key = shard.add(COPIES, array)
    # Not known by name where colours are swapped, or by chance as wide as a position.
    may_be_cells = dims not in ((), (1,)) or dtype.itemsize >= 8
    if may_be_cells or (key in ("extra", "zobrist") and any(shard.board.swaps)):
        shard.options += ["--copy", key]


def add_meta(shard):
    kind = shard.pick("number", "text", "dict", "vector")
    if kind == "number":
        array = np.array(shard.rng.integers(0, 100), shard.pick("<i8", "<f4", ">i2"))
    elif kind == "text":
        array = np.array("v1.2 \u00e9")
    elif kind == "dict":
        array = np.array({"games": 12, "source": ["a", None, 1.5]}, dtype=object)
    else:
        if is_spatial(shard.board, (41, 2), "<f4"):
            return
        array = random_bits(shard.rng, (41, 2), "<f4")  # more than there are rows
    shard.add(["version", "info", "notes", "made_by"], array, meta=True)


def add_plain_labels(shard):
    """On a board that swaps no colours nothing is ever computed: any bits of any type."""
    if shard.chance(0.5):
        dims = shard.pick((), (1,), (2,), (3,))
        shard.add(["value", "values", "z", "outcome"],
                  random_bits(shard.rng, (shard.n, *dims), shard.pick(*NUMBERS)))  # fmt: skip
    if shard.chance(0.3):
        shard.add(["player", "to_play", "winner"],
                  random_bits(shard.rng, (shard.n,), shard.pick(*NUMBERS)))  # fmt: skip


def one_minus(rows):
    with np.errstate(all="ignore"):
        return ~rows if rows.dtype.kind == "b" else (rows.dtype.type(1) - rows).astype(rows.dtype)


def negate(rows):
    """-v; zero stays +0."""
    return np.where(rows == 0, np.zeros_like(rows), -rows).astype(rows.dtype)


def exchange_12(rows):
    return np.where(rows == 1, 2, np.where(rows == 2, 1, rows)).astype(rows.dtype)


def on_swap(shard, change):
    return lambda t, rows: change(rows) if shard.board.swaps[t] else rows


def add_swapped_labels(shard, mover_grid):
    """Values, players, winners, grids of codes on a board whose transforms swap colours."""
    rng, n = shard.rng, shard.n
    coding = shard.pick("01", "12", "pm1")
    codes, flip = {"01": ([0, 1], one_minus), "12": ([1, 2], exchange_12), "pm1": ([-1, 1], negate)}[coding]
    dtypes = [*SIGNED, *FLOATS] + ([*UNSIGNED] if coding != "pm1" else [])
    if coding != "01" or shard.chance(0.5):
        shard.options += ["--to-move", coding]
        said = True
    else:
        said = False
    if shard.chance(0.6):
        shard.add(["player", "to_play", "turn", "current_player"],
                  rng.choice(codes, n).astype(shard.pick(*dtypes)), on_swap(shard, flip))  # fmt: skip
    if said and shard.chance(0.3):
        draws = codes if coding == "01" else [0, *codes]
        shard.add(["winner"], rng.choice(draws, n).astype(shard.pick(*dtypes)), on_swap(shard, flip))
    if shard.chance(0.3):
        signed = shard.chance(0.5)
        cells = rng.choice([-1, 0, 1] if signed else [0, 1, 2], (n, shard.board.n_cells))
        if n > 0:
            cells[0, :3] = [-1, 0, 1] if signed else [0, 1, 2]
        if signed or not (said and coding == "pm1"):
            change = (lambda rows: rows) if mover_grid else (negate if signed else exchange_12)
            move = gather(1, shard.board.dst)
            key = shard.add(["cells_now", "stones"], cells.astype(shard.pick(*SIGNED, *FLOATS)),
                            lambda t, rows: on_swap(shard, change)(t, move(t, rows)))  # fmt: skip
            shard.options += ["--role", f"{key}=grid"]
    add_swapped_values(shard)


def random_shares(rng, n, dtype):
    """Win, draw, loss: nothing known, one of them, or shares where the type has them; NaN."""
    shares = np.eye(3)[rng.integers(0, 3, n)]
    if np.dtype(dtype).kind == "f":
        mixed = rng.random(n) < 0.5
        shares[mixed] = rng.dirichlet([1, 1, 1], n)[mixed]
        shares[rng.random(n) < 0.1] = np.nan
    shares[rng.random(n) < 0.2] = 0
    return shares.astype(dtype)


def add_swapped_values(shard):
    rng, n = shard.rng, shard.n
    convention = shard.pick("colour01", "colour11", "colour-wdl", "mover")
    if convention != "colour01" or shard.chance(0.5):
        shard.options += ["--value", convention]
    names = ["value", "values", "z", "outcome", "result"]
    keep = convention == "mover"
    if shard.chance(0.4):
        dtype = shard.pick(*NUMBERS)
        shares = random_bits(rng, (n, 3), dtype) if keep else random_shares(rng, n, dtype)
        shard.add(["wdl", "wls"], shares,
                  None if keep else on_swap(shard, lambda rows: rows[:, ::-1]))  # fmt: skip
    if shard.chance(0.3):
        width = shard.pick(2, 3, 4)
        order = [1, 0, 2, 3][:width]
        shard.add(["values_mp"], random_bits(rng, (n, width), shard.pick(*NUMBERS)),
                  on_swap(shard, lambda rows: rows[:, order]))
    if convention == "colour-wdl":
        return
    shape = (n,) if shard.chance(0.5) else (n, 1)
    dtype = shard.pick(*FLOATS, "<i4", "|i1")
    values = rng.random(shape) if convention == "colour01" else rng.random(shape) * 2 - 1
    special = rng.choice([0.0, -0.0, 1.0, 0.5, 1e-320], shape)
    values = np.where(rng.random(shape) < 0.4, special, values)
    values = values.astype(dtype) if np.dtype(dtype).kind == "f" else np.round(values).astype(dtype)
    change = {"colour01": one_minus, "colour11": negate, "mover": lambda rows: rows}[convention]
    shard.add(names, values, on_swap(shard, change))
