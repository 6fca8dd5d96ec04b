#!/usr/bin/python3
"""Random shards: every member of the expansion, bit for bit, against formulas and numpy alone.

N=5000 in the environment runs that many instead of 200; SEED chooses others.
"""

import hashlib
import json
import os
import pickletools
import tempfile
import zipfile

import numpy as np

import maps
from containers import FORMS, npy_bytes, write_shard
from golden import Tap, data, load, run, same_bits
from shards import expected, input_arrays, random_shard

tap = Tap()

N = int(os.environ.get("N", "200"))
SEED = int(os.environ.get("SEED", "1"))
GROUP = 20  # shards to a line of TAP

ORDERS = {"block:16": 16, "block:1": 1, "block:3": 3, "block:1000": 1000, "sample": 1, "transform": 0}
LEVELS = ["default", "default", "store", "fast", "zlib:1", "zlib:9"]


def write_inputs(folder, shard, rng):
    """One shard, or its rows cut into several; in containers of any form."""
    n_parts = int(rng.choice([1, 1, 1, 2, 3]))
    cuts = sorted(rng.integers(0, shard.n + 1, n_parts - 1).tolist())
    paths = []
    for i, (first, end) in enumerate(zip([0, *cuts], [*cuts, shard.n])):
        arrays = input_arrays(shard, first, end)
        path = os.path.join(folder, f"in{i}")
        if len(arrays) == 1 and rng.random() < 0.5:
            (key,) = arrays
            os.mkdir(path)
            path = os.path.join(path, f"{key}.npy")
            with open(path, "wb") as file:
                file.write(npy_bytes(arrays[key]))
            paths.append(path)
            continue
        # A KataGo shard is always a file.
        form = "npz" if shard.board.name == "katago" else rng.choice(FORMS)
        paths.append(write_shard(path, arrays, rng, form))
    return paths


def load_output(path):
    if not os.path.isdir(path):
        return load(path)
    names = sorted(os.listdir(path))
    return {name[:-4]: np.load(os.path.join(path, name), allow_pickle=True) for name in names}


def native_items(array):
    """numpy's own unpickling may change the byte order of arrays inside an object array."""
    if array.dtype != object or array.ndim == 0:
        return array
    items = np.empty(array.shape, object)
    for at in np.ndindex(array.shape):
        item = array[at]
        items[at] = item.astype(item.dtype.newbyteorder("=")) if isinstance(item, np.ndarray) else item
    return items


def check_manifest(path, out):
    with open(path + ".manifest.json", encoding="utf-8") as file:
        manifest = json.load(file)
    (output,) = manifest["outputs"]
    if os.path.isfile(path):
        with open(path, "rb") as file:
            assert output["sha256"] == hashlib.sha256(file.read()).hexdigest(), "manifest's digest"
    found = {array["name"]: array for array in output["arrays"]}
    assert set(found) == set(out), f"the manifest lists {sorted(found)}"
    for key, array in out.items():
        assert found[key]["shape"] == list(array.shape), f"{key}: shape in the manifest"


def check_shard(number):
    rng = np.random.default_rng([SEED, number])
    shard = random_shard(rng, number)
    board = shard.board
    order = rng.choice(list(ORDERS))
    options = ["--board", board.name, "--order", order, "--level", rng.choice(LEVELS), *shard.options]
    options += ["--threads", int(rng.integers(1, 4))]
    if rng.random() < 0.3:
        options += ["--no-mmap"]
    if rng.random() < 0.3:
        options += ["--max-memory", rng.choice(["0", "1K", "100K"])]
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        if board.name != "katago" and rng.random() < 0.2:
            options += ["--format", "npy-dir"]
            out = os.path.join(folder, "out")
        paths = write_inputs(folder, shard, rng)
        run("expand", "-q", "--tmpdir", folder, *options, "-o", out, *paths)
        left = sorted(os.listdir(folder))
        assert not [name for name in left if "tmp" in name], f"left behind: {left}"
        found = load_output(out)
        wanted = expected(shard, ORDERS[order])
        assert set(found) == set(wanted), f"members {sorted(found)}, expected {sorted(wanted)}"
        if not os.path.isdir(out) and not os.path.isdir(paths[0]):
            assert list(found) == list(wanted), f"order of members {list(found)}"
        for key, array in wanted.items():
            same_bits(native_items(found[key]), native_items(array), key)
        check_manifest(out, found)


def check_group(first):
    for number in range(first, min(first + GROUP, N)):
        try:
            check_shard(number)
        except Exception as error:
            raise AssertionError(f"shard {number} of seed {SEED}: {error}") from error


@tap.test(*range(0, N, GROUP))
def test_shards_from(first):
    """Members, dtypes, shapes and bits of GROUP random shards."""
    check_group(first)


def dtypes_in(path, member):
    """The dtypes and data that a pickle holds, as written: numpy's loading makes arrays native."""
    with zipfile.ZipFile(path) as npz:
        pickle = npz.read(member).partition(b"\n")[2]
    found = [arg for op, arg, _ in pickletools.genops(pickle)
             if op.name in ("BINUNICODE", "SHORT_BINBYTES", "BINBYTES")]  # fmt: skip
    return [arg for arg in found if isinstance(arg, str)], [arg for arg in found if isinstance(arg, bytes)]


@tap.test(">i4 >f4", ">i8 >f8", "<i4 >f2", ">u2 <f8")
def test_byte_order_of_items(codes):
    """Arrays inside an object array keep their byte order, moved or not."""
    codes = [np.dtype(code) for code in codes.split()]
    arrays = {"features": np.zeros((3, 2, 9, 9), "|u1")}
    for key, code in zip(("policy_indices", "policy_values"), codes):
        arrays[key] = np.empty(3, object)
        for i in range(3):
            arrays[key][i] = np.arange(4 * i, 4 * i + 3).astype(code)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        run("expand", "-q", "-b", "square:9", "--order=transform", path, out)
        for key, code in zip(("policy_indices", "policy_values"), codes):
            words, data = dtypes_in(out, f"{key}.npy")
            assert words == dtypes_in(path, f"{key}.npy")[0][:4] == ["O8", "|", code.str[1:], code.str[0]], words
            rows = np.concatenate([np.frombuffer(row, code) for row in data[1:]])
            wanted = np.concatenate([*np.load(out, allow_pickle=True)[key]])
            assert rows[:9].tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 10] and (rows == wanted).all(), rows


# --- the formulas themselves, against the published tables ---


@tap.test("hex8", "hexagonal")
def test_hexagon_formulas(name):
    board = maps.hexagon(name, {"hex8": 4, "hexagonal": 12}[name])
    coords = load(data(f"ringrift/{name}_coord_maps.npz"))
    policy = load(data(f"ringrift/{name}_policy_maps.npz"))
    on_board = coords["on_board"].astype(bool)
    known = policy["from_on_board"].astype(bool)
    layout = board.layouts["ringrift-4500" if name == "hex8" else "ringrift"]
    assert (board.on_board == on_board).all()
    for t in range(12):
        assert (board.dst[t][on_board] == coords["dst_index"][t][on_board]).all(), t
        assert (layout[t][known] == policy["policy_map"][t][known]).all(), t


@tap.test("square8", "square19")
def test_square_formulas(name):
    board = maps.square(name, int(name[6:]))
    coords = load(data(f"ringrift/{name}_coord_maps.npz"))
    wanted = load(data(f"ringrift/{name}_policy_maps.npz"))["policy_map_reference"]
    for t in range(8):
        assert (board.dst[t] == coords["dst_index"][t]).all(), t
        assert (maps.inverse(board.dst[maps.XY_TRANSFORM[t]]) == coords["src_index_xyplane"][t]).all(), t
        assert (board.layouts["ringrift"][t] == wanted[t]).all(), t


# --- what `boards` prints, against the published tables ---


def described(name):
    return json.loads(run("boards", "--json", name)[0])


def dst_of(name):
    return np.array([t["dst"] for t in described(name)["transforms"]])


@tap.test("hex8", "hexagonal", "square8", "square19")
def test_boards_json(name):
    """Cell maps, composition and inverses as RingRift publishes them."""
    coords = load(data(f"ringrift/{name}_coord_maps.npz"))
    board = described(name)
    dst = dst_of(name)
    if "on_board" in coords:
        on_board = coords["on_board"].astype(bool)
        assert (np.array(board["on_board"]) == on_board).all()
        off = np.flatnonzero(~on_board)
        assert (dst[:, off] == off).all(), "off-board cells stay"
    else:
        on_board = np.ones(dst.shape[1], bool)
    assert (dst[:, on_board] == coords["dst_index"][:, on_board]).all()
    assert ([t["compose"] for t in board["transforms"]] == coords["compose"]).all()
    assert ([t["inverse"] for t in board["transforms"]] == coords["inverse"]).all()


@tap.test(("hex13", "hex13"), ("gomoku15", "gomoku15"), ("tictactoe", "ttt"), ("connect4", "connect4"),
          ("takeiteasy", "takeiteasy"))  # fmt: skip
def test_boards_json_seeds(name, golden):
    golden = load(data(f"seeds/{golden}_maps.npz"))
    fwd = next(golden[key] for key in ("fwd", "cell_fwd", "dst") if key in golden)
    assert (dst_of(name) == fwd).all()


@tap.test(7, 8, 9, 10, 13, 15, 19)
def test_boards_json_katago(size):
    """The engine's gather tables, its ids in ours."""
    gather = load(data("katago/gather_tables.npz"))[f"L{size}"]
    dst = dst_of(f"katago:{size}")
    for theirs, ours in enumerate([0, 3, 2, 1, 6, 4, 7, 5]):
        assert (maps.inverse(dst[ours]) == gather[theirs]).all(), theirs


# --- whole policies through an expansion: the arange policy shows the map ---


def policy_images(board, n_actions, *options):
    """src of every transform: what an arange policy of one row becomes."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(source, policy=np.arange(n_actions, dtype="<i4")[None])
        run("expand", "-q", "--board", board, *options, source, out)
        return load(out)["policy"]


@tap.test(("hex8", 4500), ("hex8", 4132), ("hexagonal", 91876), ("square8", 7000), ("square19", 67000))
def test_arange_policy(name, n_actions):
    src = policy_images(name, n_actions)
    golden = load(data(f"ringrift/{name}_policy_maps.npz"))
    if "policy_map_reference" in golden:
        dst, known = golden["policy_map_reference"], np.ones(n_actions, bool)
    else:
        dst = golden["policy_map"][:, :n_actions]
        known = golden["from_on_board"].astype(bool)[:n_actions]
    assert src.shape == dst.shape
    for t, row in enumerate(src):
        found = maps.inverse(row)
        assert (found[known] == dst[t][known]).all(), f"transform {t}"
        rest = np.flatnonzero(~known)
        assert (found[rest] == rest).all(), f"transform {t}: entries without an on-board cell stay"


@tap.test(("mirror1814", 1814), ("mirror1880", 1880), ("mirror4864", 4864))
def test_arange_chess(key, n_actions):
    golden = load(data("seeds/chess_mirror_maps.npz"))[key]
    assert (maps.inverse(policy_images("chess", n_actions)[1]) == golden).all()


if __name__ == "__main__":
    tap.main()
