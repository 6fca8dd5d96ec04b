"""Random shards with what their expansion must be, from the formulas of maps.py."""

import json

import numpy as np

import maps
from golden import data, load, run
from shard_arrays import (
    Entry, FLOATS, NUMBERS, Shard, add_copy, add_grid_of_cells, add_meta, add_packed,
    add_plain_labels, add_plain_planes, add_swapped_labels, fill_planes, gather, one_minus,
    random_bits, scatter,
)
from shard_policies import POLICIES, add_coord, add_policy

OPENSPIEL = load(data("seeds/openspiel_hex_plane_perm.npz"))["plane_fwd"]


# --- boards ---


def hex_positions(rng, n, n_cells, mover):
    """Stones of a game of Hex in its course: (N, 3, cells) as colour or mover planes."""
    planes = np.zeros((n, 3, n_cells))
    for i in range(n):
        n_red = int(rng.integers(0, n_cells // 2))
        to_move = int(rng.integers(0, 2)) if i else 0  # a 0 shows how the plane is coded
        cells = rng.permutation(n_cells)
        stones = [cells[: n_red + to_move], cells[n_red + to_move : 2 * n_red + to_move]]
        if mover and to_move:
            stones.reverse()
        planes[i, 0, stones[0]] = planes[i, 1, stones[1]] = 1
        planes[i, 2] = to_move
    return planes


def fill_rhombus(shard):
    convention = shard.pick("colour", "mover", "canonical", "openspiel", "permutation")
    swaps = shard.board.swaps
    if convention == "permutation":
        n_planes = int(shard.rng.integers(2, 6))
        order = shard.rng.permutation(n_planes)
        flipped = int(shard.rng.integers(n_planes)) if shard.chance(0.5) else -1
        shard.options += ["--planes", ",".join("~" * (i == flipped) + str(p) for i, p in enumerate(order))]
        src = maps.inverse(order)

        def change(t, rows):
            if not swaps[t]:
                return rows
            rows = rows[:, src].copy()
            if flipped >= 0:
                rows[:, order[flipped]] = one_minus(rows[:, order[flipped]])
            return rows

        values = shard.rng.integers(0, 2, (shard.n, n_planes, shard.board.n_cells))
        if flipped >= 0:  # a player to move: one number throughout each row
            values[:, flipped] = values[:, flipped, :1]
        fill_planes(shard, n_planes, change, values, NUMBERS)
    elif convention == "openspiel":
        shard.options += ["--planes", "openspiel"]
        fill_planes(shard, 9, lambda t, rows: rows[:, maps.inverse(OPENSPIEL[t])])
    else:
        if convention != "colour" or shard.chance(0.3):
            shard.options += ["--planes", convention]
        if convention == "canonical":
            shard.chosen = [0, 1]
        n_planes = shard.pick(2, 3)
        values = hex_positions(shard.rng, shard.n, shard.board.n_cells, convention == "mover")[:, :n_planes]

        def change(t, rows):
            if not swaps[t]:
                return rows
            rows = rows.copy()
            if convention == "colour":
                rows[:, :2] = rows[:, 1::-1]
            if n_planes == 3:
                rows[:, 2] = one_minus(rows[:, 2])
            return rows

        fill_planes(shard, n_planes, change, values, NUMBERS)
    add_swapped_labels(shard, convention == "mover")


def fill_chess(shard):
    how = shard.pick("25", "25", "named", "none")
    n_planes = 25 if how == "25" else int(shard.rng.integers(4, 9))
    castling = [12, 13, 14, 15] if how == "25" else [int(p) for p in shard.rng.permutation(n_planes)[:4]]
    if how == "named":
        shard.options += ["--castling-planes", ",".join(map(str, castling))]
    elif how == "none":
        shard.options += ["--castling-planes", "none"]
    order = np.arange(n_planes)
    if how != "none":
        order[castling] = np.array(castling)[[1, 0, 3, 2]]
    values = (shard.rng.random((shard.n, n_planes, 64)) < 0.2).astype(float)
    rights = shard.rng.random((shard.n, 4)) < 0.2
    values[:, castling] = rights[:, :, None]
    if how != "none" and shard.chance(0.4):
        shard.options += ["--castling", "skip"]
        shard.identity_only |= rights.any(axis=1)
    fill_planes(shard, n_planes, lambda t, rows: rows[:, order] if t else rows, values, NUMBERS)
    add_plain_labels(shard)


def fill_takeiteasy(shard):
    permute = shard.chance(0.5)
    if permute:
        shard.options += ["--tiles", "permute"]
        shard.chosen = list(range(12))
    deck = np.array([100 * a + 10 * b + c for a in (1, 5, 9) for b in (2, 6, 7) for c in (3, 4, 8)] + [0])
    dtype = shard.pick("<i2", "<i4", "<i8", "<u2", ">i4")
    src = shard.board.tile_src

    def codes(t, rows):
        moved = gather(1, shard.board.dst)(t, rows)
        if not permute:
            return moved
        digits = np.stack([moved // 100, moved // 10 % 10, moved % 10])
        return (100 * digits[src[t][0]] + 10 * digits[src[t][1]] + digits[src[t][2]]).astype(rows.dtype)

    shard.add(["plateau"], shard.rng.choice(deck, (shard.n, 19)).astype(dtype), codes)
    shard.add(["tile", "tiles"], shard.rng.integers(1, 10, (shard.n, 3)).astype(dtype),
              (lambda t, rows: rows[:, src[t]]) if permute else None)  # fmt: skip
    if shard.chance(0.5):
        position = shard.rng.integers(-1, 19, shard.n).astype(shard.pick("|i1", "<i8"))
        shard.add(["position"], position, scatter(shard.board.dst))
    if shard.chance(0.6):
        (add_grid_of_cells if shard.chance(0.5) else add_plain_planes)(shard)
    if shard.chance(0.5):
        shard.add(["score", "final_score"], shard.rng.integers(0, 300, shard.n))


def fill_square_ringrift(shard):
    """RingRift's squares: planes are stored [x][y], regions are named by one cell."""
    n = shard.board.shape[0]
    maps_ = [shard.board.dst[maps.XY_TRANSFORM[t]] for t in range(8)]
    dst = shard.board.layouts["ringrift"]
    ambiguous = maps.square_ambiguous(n)
    treatment = shard.pick("map", "keep", "drop")
    if treatment != "map" or shard.chance(0.3):
        shard.options += ["--ambiguous", treatment]
    if treatment == "keep":
        dst = [np.where(ambiguous, np.arange(len(d)), d) for d in dst]
    fill_planes(shard, int(shard.rng.integers(1, 4)), lambda t, rows: rows,
                cells=maps_ if shard.board.n_cells == n * n else None)  # fmt: skip
    policy = np.zeros((shard.n, len(ambiguous)), shard.pick(*FLOATS))
    for row in policy:
        row[shard.rng.integers(0, len(ambiguous), 5)] = shard.rng.random(5)
        row[ambiguous & (shard.rng.random() < 0.5)] = 0
    if treatment == "drop":
        shard.identity_only |= (policy[:, ambiguous] != 0).any(axis=1)
    shard.policy = ("ringrift", dst)
    shard.add(POLICIES, policy, gather(1, dst))
    if shard.chance(0.5):
        add_coord(shard)
    add_plain_labels(shard)


def fill_plain(shard):
    add_plain_planes(shard)
    if shard.chance(0.3):
        add_packed(shard)
    add_plain_labels(shard)


def fill_katago(shard):
    n, size = shard.n, shard.board.shape[0]
    cells = shard.board.n_cells
    dst = shard.board.layouts["pass"]
    shard.provenance = False
    add_packed(shard, 22, "binaryInputNCHWPacked")
    rng = shard.rng

    def add(name, dtype, shape, move=None):
        shard.entries[name] = Entry(random_bits(rng, (n, *shape), dtype), move)

    add("policyTargetsNCMove", "<i2", (2, cells + 1), gather(2, dst))
    if shard.chance(0.5):
        add("qValueTargetsNCMove", "<i2", (3, cells + 1), gather(2, dst))
    src = [maps.inverse(d) for d in shard.board.dst]
    add("valueTargetsNCHW", "|i1", (5, size, size),
        lambda t, rows: rows.reshape(len(rows), 5, cells)[:, :, src[t]].reshape(rows.shape))  # fmt: skip
    add("globalInputNC", "<f4", (19,))
    add("globalTargetsNC", "<f4", (shard.pick(64, 80),))
    add("scoreDistrN", "|i1", (2 * cells + 120,))
    if shard.chance(0.3):
        add("metadataInputNC", "<f4", (192,))


def fill_bridges(shard):
    add_plain_planes(shard)
    if shard.chance(0.3):
        add_packed(shard)
    add_swapped_labels(shard, False)


def alquerque():
    """A board of generators: their names alone are asked for, the maps follow from the names."""
    board = maps.from_file(data("boards/generators.json"))
    described = json.loads(run("boards", "--json", board.name)[0])
    return maps.name_transforms(board, [t["name"] for t in described["transforms"]])


# name, board, how to fill it
KINDS = [
    ("hex8", lambda: maps.hexagon("hex8", 4), fill_plain),
    ("hexagon:2", lambda: maps.hexagon("hexagon:2", 2), fill_plain),
    ("hexagonal", lambda: maps.hexagon("hexagonal", 12), fill_plain),
    ("square:5", lambda: maps.square("square:5", 5), fill_plain),
    ("gomoku15", lambda: maps.square("gomoku15", 15), fill_plain),
    ("go9", lambda: maps.square("go9", 9), fill_plain),
    ("tictactoe", lambda: maps.square("tictactoe", 3), fill_plain),
    ("square8", lambda: maps.square("square8", 8), fill_square_ringrift),
    ("rhombus:5", lambda: maps.rhombus("rhombus:5", 5), fill_rhombus),
    ("hex11", lambda: maps.rhombus("hex11", 11), fill_rhombus),
    ("rhombus:2", lambda: maps.rhombus("rhombus:2", 2), fill_rhombus),
    ("grid:4x6", lambda: maps.grid("grid:4x6", 4, 6), fill_plain),
    ("grid:5x5", lambda: maps.grid("grid:5x5", 5, 5), fill_plain),
    ("mirror:5x4", lambda: maps.mirror("mirror:5x4", 5, 4), fill_plain),
    ("connect4", lambda: maps.mirror("connect4", 6, 7), fill_plain),
    ("chess", lambda: maps.chess("chess"), fill_chess),
    ("takeiteasy", lambda: maps.takeiteasy("takeiteasy"), fill_takeiteasy),
    ("katago", lambda: maps.square("katago", 9), fill_katago),
    ("katago", lambda: maps.square("katago", 13), fill_katago),
    ("triangle", lambda: maps.from_file("tests/data/boards/triangle.json"), fill_plain),
    ("alquerque", alquerque, fill_plain),
    ("bridges", lambda: maps.from_file("tests/data/boards/bridges.json"), fill_bridges),
]

def random_shard(rng, number):
    name, make, fill = KINDS[number % len(KINDS)]
    board = make()
    n_rows = int(rng.choice([0, 1, 2, 5, 17, 40], p=[0.03, 0.1, 0.17, 0.3, 0.25, 0.15]))
    shard = Shard(rng, board, min(n_rows, 6) if board.n_cells > 400 else n_rows)
    fill(shard)
    if name != "katago":
        if shard.policy is None:
            add_policy(shard)
        if len(board.shape) == 2 and shard.chance(0.4) and not {"last_move"} & set(shard.entries):
            add_coord(shard)
        for _ in range(int(rng.integers(0, 3))):
            add_copy(shard)
        if shard.chance(0.4):
            add_meta(shard)
    if shard.chance(0.4):
        n = int(rng.integers(1, len(shard.chosen) + 1))
        chosen = set(rng.choice(shard.chosen, n, replace=False).tolist())
        shard.chosen = sorted(chosen | ({0} if shard.identity_only.any() else set()))
        shard.options += ["--transforms", ",".join(map(str, rng.permutation(shard.chosen)))]
    if shard.chance(0.1):
        shard.provenance = False
        shard.options += ["--no-provenance"]
    return shard


# --- the expected expansion ---


def images(shard, block):
    """(source row, transform) of each output row; block 0 is one block of everything."""
    pairs = []
    block = block or max(shard.n, 1)
    for first in range(0, shard.n, block):
        for t in shard.chosen:
            for row in range(first, min(first + block, shard.n)):
                if t == 0 or not shard.identity_only[row]:
                    pairs.append((row, t))
    pairs = np.array(pairs, int).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def expanded(entry, sources, transforms):
    """The rows of one array under the images."""
    out = np.empty((len(sources), *entry.array.shape[1:]), entry.array.dtype)
    for t in set(transforms.tolist()):
        at = np.flatnonzero(transforms == t)
        rows = entry.array[sources[at]]
        if hasattr(entry, "move_with_sources"):
            out[at] = entry.move_with_sources(t, rows, sources[at])
        else:
            out[at] = entry.move(t, rows)
    return out


def expanded_csr(csr, sources, transforms):
    offsets, indices, values = csr.parts
    first = offsets.astype(np.int64)
    spans = [np.arange(first[row], first[row + 1]) for row in sources]
    moved = [csr.dst[t][indices[span].astype(np.int64)] for span, t in zip(spans, transforms)]
    at = np.concatenate([np.arange(0), *spans]).astype(int)
    lengths = [len(span) for span in spans]
    return (np.concatenate([[0], np.cumsum(lengths)]).astype(offsets.dtype),
            np.concatenate([np.arange(0), *moved]).astype(indices.dtype), values[at])  # fmt: skip


def csr_names(shard):
    return [shard.csr[0], "policy_indices", "policy_values"]


def expected(shard, block):
    """name -> array of the whole output, in the input's order."""
    sources, transforms = images(shard, block)
    out = {}
    for key, entry in shard.entries.items():
        out[key] = entry.array if entry.meta else expanded(entry, sources, transforms)
    if shard.csr is not None:
        out |= zip(csr_names(shard), expanded_csr(shard.csr[1], sources, transforms))
    if shard.provenance:
        out["symaug_source"] = sources.astype("<i8")
        out["symaug_transform"] = transforms.astype("|u1")
    return out


def input_arrays(shard, first, end):
    """Rows first .. end - 1 as an input shard of their own."""
    arrays = {key: entry.array if entry.meta else entry.array[first:end]
              for key, entry in shard.entries.items()}  # fmt: skip
    if shard.csr is not None:
        offsets, indices, values = shard.csr[1].parts
        begin, stop = int(offsets[first]), int(offsets[end])
        part = (offsets[first : end + 1] - offsets[first]).astype(offsets.dtype)
        arrays |= zip(csr_names(shard), (part, indices[begin:stop], values[begin:stop]))
    return arrays
