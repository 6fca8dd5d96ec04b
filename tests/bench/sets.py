"""Shards for the benchmark: plausible play, the positions of a game one behind the other.

usage: sets.py NAME ROWS OUT.npz

A game gives every cell a rank: the ply at which it is filled. Positions are cut from it.
"""
import sys

import numpy as np

import boards


class Games:
    """Rows of random games of `length` positions each on `cells` (of a box of n_box cells)."""

    def __init__(self, rows, cells, n_box, length, seed):
        self.random = np.random.default_rng(seed)
        self.rows = rows
        self.cells = np.asarray(cells)
        self.n_box = n_box
        n_games = -(-rows // length)
        rank = np.argsort(self.random.random((n_games, len(cells))), axis=1)
        box = np.full((n_games, n_box), 1 << 20, dtype=np.int32)
        box[:, self.cells] = rank
        self.rank = np.repeat(box, length, axis=0)[:rows]
        self.ply = np.tile(np.arange(length, dtype=np.int32), n_games)[:rows]
        winner = self.random.integers(0, 2, n_games)
        self.winner = np.repeat(winner, length)[:rows]

    def stones(self, colour, ago=0):
        """Stones of colour 0 or 1 as they were some plies ago."""
        return (self.rank < (self.ply - ago)[:, None]) & (self.rank % 2 == colour)

    def by_mover(self, mine, ago=0):
        first, second = self.stones(0, ago), self.stones(1, ago)
        is_second = (self.ply % 2 == 1)[:, None]
        return np.where(is_second, second, first) if mine else np.where(is_second, first, second)

    def weights(self, sharpness):
        """Something on every empty cell."""
        weight = self.random.random((self.rows, self.n_box), dtype=np.float32) ** sharpness
        weight *= (self.rank >= self.ply[:, None]) & (self.rank < (1 << 20))
        return weight

    def visits(self, sharpness=10, n_visits=800):
        """Counts of a search, on the empty cells: most on a few of them."""
        weight = self.weights(sharpness)
        counts = np.floor(n_visits * weight / weight.sum(axis=1, keepdims=True))
        counts[np.arange(self.rows), weight.argmax(axis=1)] += 1
        return counts

    def policy(self, sharpness=10):
        counts = self.visits(sharpness)
        return (counts / counts.sum(axis=1, keepdims=True)).astype(np.float32)


def ringrift_features(games, side, n_planes=40):
    """Stacks and their heights, three positions of history, phases."""
    x = np.zeros((games.rows, n_planes, side * side), dtype=np.float32)
    height = games.rank % 5 + 1
    for mine in (True, False):
        base = 0 if mine else 1
        stones = games.by_mover(mine)
        x[:, base] = stones
        x[:, 2 + base] = stones * height / np.float32(5)
        for h in range(5):
            x[:, 4 + 5 * base + h] = stones & (height == h + 1)
        for ago in range(3):
            x[:, 14 + 2 * ago + base] = games.by_mover(mine, ago + 1)
    x[:, 20, games.cells] = 1
    x[:, 21, games.cells] = (games.ply % 2)[:, None]
    x[:, 22, games.cells] = (games.ply[:, None] / np.float32(64)).astype(np.float32)
    return x.reshape(games.rows, n_planes, side, side)


def hexagon_games(rows, radius, length, seed):
    side, _, _, on = boards.hexagon_box(radius)
    return side, Games(rows, np.flatnonzero(on), side * side, length, seed)


def ringrift_common(games, side):
    return {"features": ringrift_features(games, side),
            "globals": np.repeat(games.ply[:, None] / np.float32(64), 20, axis=1)
            .astype(np.float32),
            "values": np.where(games.winner == games.ply % 2, 1, -1).astype(np.float32)}


def hex8_dense(rows):
    side, games = hexagon_games(rows, 4, 40, 1)
    policy = np.zeros((rows, 4132), dtype=np.float32)
    policy[:, 0:243:3] = games.policy()
    return {**ringrift_common(games, side), "policy": policy}


def sparse_lists(policy, factor=3):
    indices, values = [], []
    for row in policy:
        at = np.flatnonzero(row)
        indices.append((factor * at).astype(np.int32))
        values.append(row[at].astype(np.float32))
    return indices, values


def as_objects(arrays):
    out = np.empty(len(arrays), dtype=object)
    for i, a in enumerate(arrays):
        out[i] = a
    return out


def hex8_sparse(rows):
    side, games = hexagon_games(rows, 4, 40, 2)
    indices, values = sparse_lists(games.policy())
    return {**ringrift_common(games, side), "policy_indices": as_objects(indices),
            "policy_values": as_objects(values), "board_type": np.array("hex8"),
            "policy_size": np.array(4132)}


def hexagonal(rows):
    side, games = hexagon_games(rows, 12, 200, 3)
    indices, values = sparse_lists(games.policy())
    most = max(map(len, indices))
    padded = {"policy_indices": np.zeros((rows, most), dtype=np.int32),
              "policy_values": np.zeros((rows, most), dtype=np.float32)}
    for i in range(rows):
        padded["policy_indices"][i, :len(indices[i])] = indices[i]
        padded["policy_values"][i, :len(values[i])] = values[i]
    return {**ringrift_common(games, side), **padded, "board_type": np.array("hexagonal"),
            "policy_size": np.array(91876)}


def go(rows, dtype=np.uint8):
    games = Games(rows, np.arange(361), 361, 180, 4)
    x = np.zeros((rows, 17, 361), dtype=dtype)
    for ago in range(8):
        x[:, 2 * ago] = games.by_mover(True, ago)
        x[:, 2 * ago + 1] = games.by_mover(False, ago)
    x[:, 16] = (games.ply % 2)[:, None]
    policy = np.zeros((rows, 362), dtype=np.float32)
    policy[:, :361] = games.policy(4)
    return {"states": x.reshape(rows, 17, 19, 19), "policy": policy,
            "values": np.where(games.winner == games.ply % 2, 1, -1).astype(np.float32)}


def go_float(rows):
    return go(rows, np.float32)


def gomoku(rows):
    games = Games(rows, np.arange(225), 225, 60, 5)
    x = np.zeros((rows, 4, 225), dtype=np.float32)
    x[:, 0] = games.by_mover(True)
    x[:, 1] = games.by_mover(False)
    x[:, 2] = games.rank == (games.ply - 1)[:, None]
    x[:, 3] = (games.ply % 2)[:, None]
    return {"states": x.reshape(rows, 4, 15, 15), "policy": games.policy(),
            "values": np.where(games.winner == games.ply % 2, 1, -1).astype(np.float32)}


def hex13(rows):
    games = Games(rows, np.arange(169), 169, 90, 6)
    x = np.zeros((rows, 3, 169), dtype=np.float32)
    x[:, 0] = games.stones(0)
    x[:, 1] = games.stones(1)
    x[:, 2] = (games.ply % 2)[:, None]
    weight = games.weights(4)
    return {"features": x.reshape(rows, 3, 13, 13),
            "policy": (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32),
            "values": games.winner.astype(np.float32),
            "to_play": (games.ply % 2).astype(np.int64)}


def katago(rows):
    games = Games(rows, np.arange(361), 361, 180, 7)
    planes = np.zeros((rows, 22, 361), dtype=np.uint8)
    planes[:, 0] = 1
    planes[:, 1] = games.by_mover(True)
    planes[:, 2] = games.by_mover(False)
    for k in range(5):
        planes[:, 9 + k] = games.rank == (games.ply - 1 - k)[:, None]
    policy = np.zeros((rows, 2, 362), dtype=np.int16)
    policy[:, 0, :361] = games.visits(40)
    policy[:, 1, :361] = games.visits(40)
    quality = np.zeros((rows, 3, 362), dtype=np.int16)
    quality[:, :, :361] = (policy[:, :1, :361] > 0) * games.random.integers(
        -32000, 32000, (rows, 3, 361), dtype=np.int16)
    owner = np.where(games.rank % 2 == 0, 120, -120).astype(np.int8)
    values = np.zeros((rows, 5, 361), dtype=np.int8)
    values[:, 0] = owner
    values[:, 2] = games.stones(0).astype(np.int8) - games.stones(1).astype(np.int8)
    values[:, 3] = np.sign(owner)
    values[:, 4] = owner
    score = np.zeros((rows, 842), dtype=np.int8)
    score[np.arange(rows), 421 + games.ply % 40] = 100
    inputs, targets = np.zeros((rows, 19), np.float32), np.zeros((rows, 64), np.float32)
    inputs[:, 5] = np.where(games.ply % 2 == 0, -0.375, 0.375)
    targets[:, 0] = games.winner
    targets[:, 1] = 1 - games.winner
    targets[:, 3] = games.random.normal(0, 10, rows)
    targets[:, 25] = 1
    return {"binaryInputNCHWPacked": np.packbits(planes, axis=2), "globalInputNC": inputs,
            "policyTargetsNCMove": policy, "qValueTargetsNCMove": quality,
            "globalTargetsNC": targets, "scoreDistrN": score,
            "valueTargetsNCHW": values.reshape(rows, 5, 19, 19)}


# What each set is: how it is made, its board, rows at N=1, and the maps of its arrays. An array
# without a line is repeated for every image. "swap" are the transforms that exchange colours.
def _ringrift(radius):
    return {"policy": boards.inverse(boards.ringrift_dst(radius)),
            "dst": boards.ringrift_dst(radius)}


def describe(name):
    square = {"go": 19, "go-f4": 19, "gomoku": 15, "katago": 19}
    if name in square:
        maps = boards.square(square[name])
        policy = maps if name == "gomoku" else boards.with_pass(maps)
        kinds = {"states": "planes", "policy": "policy", "binaryInputNCHWPacked": "bits",
                 "policyTargetsNCMove": "policy", "qValueTargetsNCMove": "policy",
                 "valueTargetsNCHW": "planes"}
        return {"cells": maps, "policy": policy, "kinds": kinds, "swap": ()}
    if name == "hex13":
        maps = boards.rhombus(13)
        return {"cells": maps, "policy": maps, "swap": (2, 3),
                "kinds": {"features": "planes", "policy": "policy", "values": "complement",
                          "to_play": "complement"}}
    radius = 12 if name == "hexagonal" else 4
    return {"cells": boards.hexagon(radius), **_ringrift(radius), "swap": (),
            "kinds": {"features": "planes", "policy": "policy", "policy_indices": "indices"}}


SETS = {
    "hex8-dense": (hex8_dense, "hex8", 400),
    "hex8-sparse": (hex8_sparse, "hex8", 800),
    "hexagonal": (hexagonal, "hexagonal", 100),
    "go": (go, "go19", 2400),
    "go-f4": (go_float, "go19", 800),
    "gomoku": (gomoku, "gomoku15", 4000),
    "hex13": (hex13, "hex13", 10000),
    "katago": (katago, "katago", 1200),
}


def make(name, rows, path):
    arrays = SETS[name][0](rows)
    np.savez_compressed(path, **arrays)
    return sum(a.nbytes for a in arrays.values())


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), sys.argv[3])
