"""Policies, masks, moves and coordinates of random shards, dense and sparse in all their forms."""

import numpy as np

import maps
from shard_arrays import Csr, Entry, FLOATS, NUMBERS, object_rows, random_bits, scatter

# --- policies ---

POLICIES = ["policy", "policies", "pi", "pis", "policy_targets", "pt", "visits", "probs", "mcts_probs"]
MASKS = ["legal", "legal_mask", "action_mask", "legals_mask"]
# Layouts that another one of the same length comes before.
TOLD = {"chess-4672-planes", "chess-4672-crazyara", "chess-4672-crazyara-planes",
        "chess-4672-pettingzoo", "chess-4672-pettingzoo-planes", "chess-4864-squares",
        "chess-4864-crazyara"}  # fmt: skip
PLANE_SHAPES = {"chess-4672-planes": (73, 8, 8), "chess-4672": (8, 8, 73),
                "chess-4864": (76, 8, 8), "chess-4864-squares": (8, 8, 76)}  # fmt: skip


def choose_layout(shard):
    name = shard.pick(*shard.board.layouts)
    dst = shard.board.layouts[name]
    if len(dst[0]) * shard.n > 300_000:
        name, dst = "cells", shard.board.layouts["cells"]
    shard.policy = (name, dst)


def add_dense(shard, names, told=True):
    name, dst = shard.policy
    n_actions = len(dst[0])
    n_cells = shard.board.n_cells
    form = shard.pick("row", "row", "planes")
    shape = (shard.n, n_actions)
    inner = None
    if form == "planes" and name in PLANE_SHAPES:
        inner = PLANE_SHAPES[name]
    elif form == "planes" and name == "cells" and len(shard.board.shape) == 2:
        inner = shard.board.shape
    elif shard.chance(0.2) and name not in PLANE_SHAPES and n_actions not in (n_cells, 4096):
        k = shard.pick(2, 3, 5)
        if (k, n_actions) != shard.board.shape:
            shape = (shard.n, k, n_actions)
    if inner is not None:
        shape = (shard.n, *inner)
    array = random_bits(shard.rng, shape, shard.pick(*NUMBERS, "|V2"))
    src = [maps.inverse(d) for d in dst]

    def move(t, rows):
        flat = rows.reshape(len(rows), -1, n_actions)
        return flat[:, :, src[t]].reshape(rows.shape)

    if inner is None and name in TOLD and told:
        shard.options += ["--policy", name]
    key = shard.add(names, array, move)
    if array.dtype.kind == "i" and (array < 0).any():  # else taken for a list of moves, padded
        shard.options += ["--role", f"{key}={'mask' if key in MASKS else 'policy'}"]
    return key


def index_dtype(shard, n_actions):
    fitting = [d for d in ("<i2", "<i4", "<i8", ">i4", "<u2", "<u4", ">u2", "|u1", "|i1")
               if np.iinfo(np.dtype(d)).max >= n_actions - 1]  # fmt: skip
    return shard.pick(*fitting)


def tell_layout(shard):
    """A sparse policy's layout: by policy_size where that is enough, else by option."""
    name, dst = shard.policy
    told = {"ringrift-4500": "ringrift", "pass": "cells+pass"}.get(name, name)
    if "cells-board" in shard.board.layouts:
        told = {"cells": "cells-box", "cells+pass": "cells-box+pass"}.get(told, told)
    if name not in TOLD and shard.chance(0.6):
        size = np.array(len(dst[0]), shard.pick("<i8", "<i4", ">i8"))
        shard.entries["policy_size"] = Entry(size, meta=True)
    else:
        shard.options += ["--policy", told]
        if name == "ringrift-4500":
            shard.policy = (name, [d[:4132] for d in dst])


def add_padded(shard):
    tell_layout(shard)
    name, dst = shard.policy
    n_actions, width = len(dst[0]), int(shard.rng.integers(1, 9))
    indices = shard.rng.integers(0, n_actions, (shard.n, width)).astype(index_dtype(shard, n_actions))
    values = random_bits(shard.rng, (shard.n, width), shard.pick(*FLOATS))
    lengths = shard.rng.integers(0, width + 1, shard.n)
    beyond = np.arange(width)[None, :] >= lengths[:, None]
    indices[beyond] = 0
    values[beyond] = 0
    # An interior (0, 0) is real as long as something follows it.
    if width > 2:
        inner = (shard.rng.random(shard.n) < 0.3) & (lengths > 2)
        indices[inner, 0] = 0
        values[inner, 0] = 0
        values[inner, 1] = 1
    zero = (indices == 0) & (values == 0)
    padding = np.flip(np.logical_and.accumulate(np.flip(zero, 1), 1), 1)
    move_all = scatter(dst)
    def move(t, rows, sources):
        return np.where(padding[sources], rows, move_all(t, rows))

    entry = Entry(indices)
    entry.move_with_sources = move
    shard.entries["policy_indices"] = entry
    shard.entries["policy_values"] = Entry(values)


def add_objects(shard):
    tell_layout(shard)
    name, dst = shard.policy
    n_actions = len(dst[0])
    dtype = shard.pick("<i4", "<i8", ">i4", "<u4")
    move_row = scatter(dst)
    if shard.chance(0.25):
        width = int(shard.rng.integers(1, 5))
        indices = np.empty((shard.n, width), object)
        values = np.empty((shard.n, width), object)
        for i in range(shard.n):
            for k in range(width):
                indices[i, k] = int(shard.rng.integers(0, n_actions))
                values[i, k] = float(shard.rng.random())

        def move(t, rows):
            moved = np.empty(rows.shape, object)
            for at in np.ndindex(rows.shape):
                moved[at] = int(dst[t][rows[at]])
            return moved
    elif shard.chance(0.25):
        lengths = shard.rng.integers(0, 12, shard.n)
        indices = object_rows([shard.rng.integers(0, n_actions, k).tolist() for k in lengths])
        values = object_rows([shard.rng.random(k).tolist() for k in lengths])

        def move(t, rows):
            return object_rows([[int(dst[t][index]) for index in row] for row in rows])
    else:
        lengths = shard.rng.integers(0, 12, shard.n)
        indices = object_rows([shard.rng.integers(0, n_actions, k).astype(dtype) for k in lengths])
        values = object_rows([random_bits(shard.rng, (k,), "<f4") for k in lengths])

        def move(t, rows):
            return object_rows([move_row(t, row) for row in rows])

    prefix = shard.pick("policy", "pol", "pi")
    shard.entries[f"{prefix}_indices"] = Entry(indices, move)
    shard.entries[f"{prefix}_values"] = Entry(values)


def add_csr(shard):
    tell_layout(shard)
    name, dst = shard.policy
    n_actions = len(dst[0])
    lengths = shard.rng.integers(0, 7, shard.n)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(shard.pick("<i8", "<i4", "<u4", ">i8"))
    n = int(offsets[-1])
    indices = shard.rng.integers(0, n_actions, n).astype(index_dtype(shard, n_actions))
    values = random_bits(shard.rng, (n,), shard.pick(*FLOATS))
    ending = shard.pick("_offsets", "_indptr")
    shard.csr = ("policy" + ending, Csr(offsets, indices, values, dst))


def add_policy(shard):
    choose_layout(shard)
    add = shard.pick(add_dense, add_dense, add_padded, add_objects, add_csr, None)
    if add is add_dense:
        add_dense(shard, POLICIES)
        if shard.chance(0.3):
            add_dense(shard, MASKS, told=False)
    elif add is not None:
        add(shard)
    else:
        shard.policy = None
        return
    if shard.chance(0.4):
        add_action(shard)


def add_action(shard):
    _, dst = shard.policy if shard.policy is not None else ("cells", shard.board.layouts["cells"])
    n_actions = len(dst[0])
    dtype = np.dtype(index_dtype(shard, n_actions))
    move = shard.rng.integers(-1 if dtype.kind == "i" else 0, n_actions, shard.n).astype(dtype)
    shard.add(["move", "moves", "action", "actions", "move_index"], move, scatter(dst))


def add_coord(shard):
    rows, cols = shard.board.shape
    dtype = shard.pick("|i1", "<i2", "<i4", "<i8", ">i8")
    cells = shard.rng.integers(-1, shard.board.n_cells, shard.n)
    swapped = shard.chance(0.3)
    pairs = np.where(cells[:, None] < 0, -1, np.stack([cells // cols, cells % cols], 1)).astype(dtype)

    def move(t, old):
        if swapped:
            old = old[:, ::-1]
        cell = old[:, 0].astype(int) * cols + old[:, 1]
        new = np.where(old[:, 0] < 0, 0, shard.board.dst[t][np.maximum(cell, 0)])
        pair = np.stack([new // cols, new % cols], 1)
        pair = np.where(old[:, :1] < 0, old, pair).astype(old.dtype)
        return pair[:, ::-1] if swapped else pair

    key = shard.add(["last_move", "last_moves"], np.ascontiguousarray(pairs[:, ::-1]) if swapped else pairs, move)
    if swapped:
        shard.options += ["--role", f"{key}=coord:colrow"]
