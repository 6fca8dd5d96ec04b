#!/usr/bin/python3
"""Choosing images: --transforms, --pick, --unique, --shuffle, exactly and in distribution."""

import os
import tempfile

import numpy as np

import maps
from golden import Tap, data, expand, run, same_bits

tap = Tap()


def gomoku(n, seed=3):
    """Random positions; rows 0 and 1 are empty and mirror-symmetric."""
    random = np.random.default_rng(seed)
    state = (random.random((n, 2, 9, 9)) < 0.2).astype(np.float32)
    policy = random.random((n, 81)).astype(np.float32)
    state[0], policy[0] = 0, 1 / 81
    if n > 1:
        half = state[1, :, :, :4]
        state[1, :, :, 5:] = half[:, :, ::-1]
        grid = policy[1].reshape(9, 9)
        grid[:, 5:] = grid[:, 3::-1]
    return {"state": state, "policy": policy, "value": random.random(n).astype(np.float32)}


def shard(arrays, *options, board="square:9"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez_compressed(path, **arrays)
        return expand(path, "--board", board, *options)


def rows_of(out):
    """{(source, transform): (state bytes, policy bytes, value bytes)}"""
    return {
        (int(s), int(t)): (out["state"][i].tobytes(), out["policy"][i].tobytes(),
                           out["value"][i].tobytes())
        for i, (s, t) in enumerate(zip(out["symaug_source"], out["symaug_transform"]))
    }


@tap.test("--transforms=0,3,6", "--transforms=rotations", "--transforms=reflections",
          "--transforms=rotate-90,transpose")
def test_subset(option):
    """A subset is what the whole holds under those ids."""
    wanted = {
        "--transforms=0,3,6": {0, 3, 6},
        "--transforms=rotations": {0, 1, 2, 3},
        "--transforms=reflections": {4, 5, 6, 7},
        "--transforms=rotate-90,transpose": {1, 6},
    }[option]
    arrays = gomoku(40)
    whole, part = rows_of(shard(arrays)), rows_of(shard(arrays, option))
    assert part == {key: row for key, row in whole.items() if key[1] in wanted}


@tap.test(1, 3, 7, 8, 200)
def test_pick(k):
    """K distinct images of every row, each as the whole expansion has it."""
    arrays = gomoku(300)
    whole, part = rows_of(shard(arrays)), rows_of(shard(arrays, f"--pick={k}", "--seed=9"))
    assert len(part) == 300 * min(k, 8)
    for key, row in part.items():
        assert whole[key] == row, key


@tap.test()
def test_pick_is_fair():
    """Every image is as likely as any other: 4000 draws of 2 out of 8 within six sigma."""
    out = shard(gomoku(4000), "--pick=2")
    counts = np.bincount(out["symaug_transform"], minlength=8)
    expected = 4000 * 2 / 8
    sigma = np.sqrt(4000 * 0.25 * 0.75)
    assert np.all(np.abs(counts - expected) < 6 * sigma), counts
    pairs = np.zeros((8, 8), int)
    order = np.argsort(out["symaug_source"], kind="stable")
    ids = out["symaug_transform"][order].reshape(-1, 2)
    np.add.at(pairs, (ids[:, 0], ids[:, 1]), 1)
    assert np.count_nonzero(pairs) == 28, "every pair of distinct images occurs"


@tap.test()
def test_pick_keeps_identity():
    out = shard(gomoku(500), "--pick=3", "--keep-identity")
    counts = np.bincount(out["symaug_transform"], minlength=8)
    assert counts[0] == 500
    assert np.all(np.abs(counts[1:] - 500 * 2 / 7) < 6 * np.sqrt(500 * (2 / 7) * (5 / 7))), counts


@tap.test()
def test_pick_depends_on_the_row_alone():
    """The first rows of a longer shard, other threads, another order: the same choice."""
    short = set(rows_of(shard(gomoku(100), "--pick=2", "--seed=4")))
    for options in (["--threads=1"], ["--threads=3"], ["--order=sample"], ["--order=transform"]):
        long = set(rows_of(shard(gomoku(1000), "--pick=2", "--seed=4", *options)))
        assert {key for key in long if key[0] < 100} == short, options
    assert set(rows_of(shard(gomoku(100), "--pick=2", "--seed=5"))) != short


@tap.test("block:16", "sample", "transform")
def test_unique(order):
    """An image stays unless it equals an earlier one of its row in all arrays."""
    arrays = gomoku(60)
    whole = rows_of(shard(arrays))
    out = rows_of(shard(arrays, "--unique", f"--order={order}"))
    wanted = {}
    for source in range(60):
        seen = set()
        for t in range(8):
            row = whole[source, t]
            if row not in seen:
                wanted[source, t] = row
            seen.add(row)
    assert out == wanted
    assert sum(key[0] == 0 for key in out) == 1, "an empty board has one image"
    assert sum(key[0] == 1 for key in out) == 4, "a mirror-symmetric board has four"


@tap.test()
def test_unique_sees_labels():
    """Equal planes with a policy that is not symmetric are different images."""
    arrays = gomoku(3)
    arrays["state"][:] = 0
    arrays["policy"][0] = np.arange(81)
    out = shard(arrays, "--unique")
    assert np.count_nonzero(out["symaug_source"] == 0) == 8


def sparse(form, indices, values):
    """Rows of two entries in one of the forms of sparse policies."""
    if form == "padded":
        return {"policy_indices": indices, "policy_values": values}
    if form == "csr":
        return {"policy_offsets": np.arange(0, indices.size + 1, indices.shape[1]),
                "policy_indices": indices.ravel(), "policy_values": values.ravel()}
    objects = np.empty((2, len(indices)), object)
    for i, row in enumerate(zip(indices, values)):
        objects[:, i] = row
    return {"policy_indices": objects[0], "policy_values": objects[1]}


FORMS = ("padded", "csr", "objects")


@tap.test(*FORMS)
def test_unique_sparse(form):
    """Rows of any form are moved before they are compared: the middle, a diagonal, a cell off it."""
    arrays = gomoku(600)
    arrays["state"][:] = 0
    del arrays["policy"]
    indices = np.tile([40, 40], (600, 1))
    indices[1::3], indices[2::3] = (0, 10), (1, 40)
    whole = shard({**arrays, **sparse(form, indices, np.full((600, 2), 0.5))}, "--unique")
    n = np.bincount(whole["symaug_source"])
    assert (n.reshape(-1, 3) == (1, 4, 8)).all(), n


@tap.test(*FORMS)
def test_drop_sparse(form):
    """Rows with mass on entries that name a region by one cell keep their identity image alone."""
    board = maps.square_ambiguous(8)
    plain, doubtful = np.flatnonzero(~board)[100], np.flatnonzero(board)[50]
    indices = np.array([[plain, plain + 1], [plain, doubtful], [plain, doubtful]] * 200)
    values = np.array([[0.5, 0.5], [0.5, 0.5], [1, 0]] * 200)
    arrays = {"features": np.zeros((600, 3, 8, 8), np.float32), **sparse(form, indices, values)}
    out = shard(arrays, "--ambiguous=drop", "--policy=ringrift", board="square:8")
    assert (np.bincount(out["symaug_source"]).reshape(-1, 3) == (8, 1, 8)).all()


@tap.test(*FORMS)
def test_no_action(form):
    """An index of -1 is nothing that may have mass; the row is named."""
    indices = np.tile([3, -1], (40, 1))
    values = np.tile([1.0, 0.0], (40, 1))
    arrays = gomoku(40)
    del arrays["policy"]
    arrays["state"][:] = 0
    shard({**arrays, **sparse(form, indices, values)})
    values[17:] = 0.5
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays, **sparse(form, indices, values))
        _, err = run("expand", "--board=square:9", path, path + ".o.npz", code=65)
        assert "policy_indices: row 17: index -1 with the value 0.5, expected" in err, err
        assert os.listdir(folder) == ["in.npz"]


@tap.test("--unique", "--no-provenance")
def test_second_input_is_named(option):
    """What is wrong with a row is said of its own file, by its number there."""
    arrays = {"state": gomoku(3)["state"], "move": np.array([5, 7, 9])}
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("first.npz", "second.npz")]
        for path in paths:
            np.savez(path, **arrays)
            arrays["move"] = np.array([5, 700, 9])
        _, err = run("expand", "--board=square:9", option, "-o", paths[0] + ".o.npz", *paths,
                     code=65)
        assert "second.npz: move.npy: row 1: index 700, expected below 81" in err, err


@tap.test()
def test_unique_objects():
    """Sparse policies count too: real shards have no two equal images with a moving policy."""
    path = data("ringrift/sample_hex8.npz")
    whole, out = expand(path), expand(path, "--unique")
    images = {}
    for i, (s, t) in enumerate(zip(whole["symaug_source"], whole["symaug_transform"])):
        images[int(s), int(t)] = (whole["features"][i].tobytes(),
                                  whole["policy_indices"][i].tobytes())
    wanted = set()
    for s in range(37):
        seen = set()
        for t in range(12):
            if images[s, t] not in seen:
                wanted.add((s, t))
            seen.add(images[s, t])
    found = set(zip(out["symaug_source"].tolist(), out["symaug_transform"].tolist()))
    assert found == wanted


@tap.test(1, 7, 400)
def test_shuffle(n):
    """One permutation of all output rows, the same for every array; another one for another seed."""
    arrays = gomoku(n)
    plain = shard(arrays)
    first, again = shard(arrays, "--shuffle"), shard(arrays, "--shuffle", "--threads=3")
    for key in first:
        same_bits(again[key], first[key], key)
    assert rows_of(first) == rows_of(plain)
    if n > 1:
        other = shard(arrays, "--shuffle", "--seed=2")
        assert not np.array_equal(first["symaug_source"], plain["symaug_source"])
        assert not np.array_equal(first["symaug_source"], other["symaug_source"])
    if n == 400:
        distance = np.abs(np.diff(first["symaug_source"])).mean()
        assert 100 < distance < 170, f"neighbours are {distance} rows apart, a third of 400 expected"


@tap.test()
def test_shuffle_empty_lists():
    """Padded lists of no moves, as a file of finished games has them, stay (N', 0)."""
    arrays = {"state": gomoku(3)["state"], "policy_indices": np.zeros((3, 0), "<i4"),
              "policy_values": np.zeros((3, 0), "<f4")}  # fmt: skip
    out = shard(arrays, "--shuffle")
    assert out["policy_indices"].shape == out["policy_values"].shape == (24, 0)


@tap.test()
def test_shuffle_objects():
    path = data("ringrift/sample_hex8.npz")
    plain, mixed = expand(path), expand(path, "--shuffle")
    where = {
        (int(s), int(t)): i
        for i, (s, t) in enumerate(zip(plain["symaug_source"], plain["symaug_transform"]))
    }
    order = [where[int(s), int(t)]
             for s, t in zip(mixed["symaug_source"], mixed["symaug_transform"])]
    for key in ("features", "policy_indices", "policy_values", "phases", "globals"):
        same_bits(mixed[key], plain[key][order], key)


if __name__ == "__main__":
    tap.main()
