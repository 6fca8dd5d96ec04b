#!/usr/bin/python3
"""verify: nothing to say about sound shards, and every planted fault found under its own code."""

import json
import os
import shutil
import tempfile

import numpy as np

from golden import Tap, data, load, run
from mutate import mutate_all
from verify_cases import SETS, Set, pick, set_row, verify

tap = Tap()
cache = {}


def expanded(name, order="block:16"):
    if (name, order) not in cache:
        cache[name, order] = Set(name, order)
    return cache[name, order].copy()


# --- sound shards ---

SOUND = [
    *[(f"ringrift/{n}", []) for n in (
        "sample_hex8", "sample_hexagonal", "sample_square8", "sample_hex8_padded_int64",
        "real_par_hex8", "real_single_square8")],
    ("ringrift/sample_hex8_edge", ["--board", "hex8"]),
    ("ringrift/sample_hex8_pickle4", ["--board", "hex8"]),
    ("seeds/hex13_in", ["--board", "hex13"]),
    ("seeds/hex13_expected", ["--board", "hex13"]),
    ("seeds/hex13_persp_in", ["--board", "hex13", "--planes", "mover", "--value", "mover"]),
    ("seeds/hex13_persp_expected", ["--board", "hex13", "--planes", "mover", "--value", "mover"]),
    ("seeds/gomoku15_in", ["--board", "gomoku15"]),
    ("seeds/gomoku15_expected", ["--board", "gomoku15"]),
    ("seeds/ttt_in", ["--board", "tictactoe"]),
    ("seeds/ttt_expected", ["--board", "tictactoe"]),
    ("seeds/connect4_in", ["--board", "connect4"]),
    ("seeds/connect4_expected", ["--board", "connect4"]),
    ("seeds/chess1814_in", ["--board", "chess"]),
    ("seeds/chess1814_expected_castling_swap", ["--board", "chess"]),
    ("seeds/takeiteasy_in", ["--board", "takeiteasy"]),
    ("seeds/takeiteasy_expected_2", ["--board", "takeiteasy"]),
    ("seeds/takeiteasy_expected_12_permuted", ["--board", "takeiteasy", "--tiles", "permute"]),
    *[(f"katago/{n}_{k}", []) for n in ("raw9_64", "writer_L8", "writer_L13_meta")
      for k in ("in", "all8")],
]


@tap.test(*[(name, tuple(options)) for name, options in SOUND])
def test_sound(name, options):
    codes, result = verify(data(name + ".npz"), *options)
    assert codes == set() and result["files"][0]["counts"] == {}, result


@tap.test(*SETS)
def test_sound_expanded(name):
    """In every order, with provenance, without, and with the manifest alone."""
    for order in ("block:16", "sample", "transform"):
        s = expanded(name, order)
        for provenance in (True, False):
            codes, result = s.verify(provenance)
            assert result["files"][0]["counts"] == {}, (order, provenance, result)
        assert verify(s.path, *s.options)[0] == set()


@tap.test(
    ("gomoku15", ("--unique",)), ("tictactoe", ("--unique",)), ("tictactoe", ("--pick", "3")),
    ("gomoku15", ("--pick", "5", "--no-provenance")), ("gomoku15", ("--shuffle", "--seed", "4")),
    ("gomoku15", ("--transforms", "4,5", "--no-provenance")),
    ("gomoku15", ("--transforms", "1,2", "--no-provenance", "--order", "transform")),
    ("gomoku15", ("--transforms", "0,1", "--shuffle", "--no-provenance")),
    ("gomoku15", ("--transforms", "4,5,1", "--shuffle", "--no-provenance")),
    ("hex13", ("--unique", "--shuffle")), ("hex13", ("--planes", "canonical")),
    ("chess", ("--castling", "skip")), ("katago", ("--shuffle",)),
    ("square8", ("--ambiguous", "drop")), ("square8", ("--ambiguous", "keep")),
)
def test_sound_selections(name, options):
    """Sets from which images are left out on purpose, with their manifest and without."""
    s = expanded(name)
    source = os.path.join(s.folder, "source.npz")
    if not os.path.exists(source):
        np.savez(source, **s.source)
    out = os.path.join(s.folder, "selected.npz")
    run("expand", "-q", "-f", *s.options, *options, source, out)
    own = [o for o in s.options]
    for k, option in enumerate(options):
        if option in ("--planes", "--castling", "--ambiguous", "--transforms") and options[k + 1] != "drop":
            own += options[k : k + 2]
    assert verify(out, *own)[0] == set()
    alone = os.path.join(s.folder, "selected-alone.npz")
    shutil.copy(out, alone)
    assert verify(alone, *own)[0] == set()


# --- images that are wrong ---


def rows_for(s, key):
    """A row whose transform is no inverse of itself where there is one, its source and transform."""
    t = next((t for t in s.ids if s.inverse and s.inverse[t] != t), s.ids[1])
    u = s.inverse[t] if s.inverse else 0
    source = pick(s, key, t, 0, [u] if u != t else [])
    return source, t, u


def without_manifest(codes_of):
    """The codes with provenance and without; both must be the same."""
    first = codes_of(True)
    second = codes_of(False)
    assert first == second, f"with provenance {first}, without {second}"
    return first


def check(s, expected):
    found = without_manifest(lambda provenance: s.verify(provenance)[0])
    assert found == {expected}, f"expected {expected}, found {found}"


MOVED = [name for name in SETS if SETS[name][3]]


@tap.test(*MOVED)
def test_policy_not_moved(name):
    s = expanded(name)
    source, t, _ = rows_for(s, s.policy)
    set_row(s, s.policy, s.row(source, t), s.arrays[s.policy][s.row(source, 0)])
    check(s, "policy-not-moved")


@tap.test("hex8", "hex8-padded", "square8", "gomoku15", "tictactoe", "katago")
def test_policy_inverse(name):
    s = expanded(name)
    source, t, u = rows_for(s, s.policy)
    assert t != u
    set_row(s, s.policy, s.row(source, t), s.arrays[s.policy][s.row(source, u)])
    check(s, "policy-inverse")


@tap.test("hex8", "square8", "gomoku15", "katago")
def test_policy_of_another(name):
    s = expanded(name)
    source = pick(s, s.policy, 1, 4, [0, s.inverse[1]])
    set_row(s, s.policy, s.row(source, 1), s.arrays[s.policy][s.row(source, 4)])
    check(s, "planes-policy-differ")


@tap.test("hex8", "square8", "gomoku15")
def test_planes_of_another(name):
    s = expanded(name)
    source = pick(s, [s.planes, s.policy], 1, 4)
    s.arrays[s.planes][s.row(source, 1)] = s.arrays[s.planes][s.row(source, 4)]
    check(s, "planes-policy-differ")


@tap.test("gomoku15", "tictactoe", "hex13", "connect4", "chess", "file")
def test_policy_wrong(name):
    s = expanded(name)
    policy = s.arrays[s.policy]
    row = s.row(0, s.ids[-1])
    for row in np.flatnonzero(s.transforms == s.ids[-1]):
        if len(np.unique(policy[row])) >= 3:
            break
    high, low = np.argmax(policy[row]), np.argmin(policy[row] + (policy[row] == 0) * 2)
    policy[row][[high, low]] = policy[row][[low, high]]
    check(s, "policy-wrong")


@tap.test("gomoku15", "takeiteasy", "takeiteasy-permute", "file")
def test_coord_not_moved(name):
    s = expanded(name)
    t = s.ids[1]
    source = pick(s, s.coord, t, 0)
    s.arrays[s.coord][s.row(source, t)] = s.arrays[s.coord][s.row(source, 0)]
    check(s, "coord-not-moved")


@tap.test("exchange", "everything")
def test_colours_not_swapped(kind):
    s = expanded("hex13")
    boards = s.arrays["boards"]
    row = s.row(3, 2)
    if kind == "exchange":
        boards[row][[0, 1]] = boards[row][[1, 0]]
    else:
        boards[row] = s.source["boards"][3].transpose(0, 2, 1)
    check(s, "colours-not-swapped")


@tap.test()
def test_value_not_flipped():
    s = expanded("hex13")
    row = s.row(3, 2)
    s.arrays["value"][row] = s.source["value"][3]
    check(s, "value-not-flipped")


@tap.test("plane", "array")
def test_to_move_not_flipped(kind):
    s = expanded("hex13")
    row = s.row(4, 3)
    if kind == "plane":
        s.arrays["boards"][row][2] = 1 - s.arrays["boards"][row][2]
    else:
        s.arrays["player_to_move"][row] = 1 - s.arrays["player_to_move"][row]
    check(s, "to-move-not-flipped")


# TicTacToe's few positions are too symmetric to tell which images are there.
DISTINCT = [name for name in SETS if name not in ("tictactoe", "katago")]


def distinct_source(s):
    """A source all of whose images differ, and whose position occurs once."""
    planes = s.arrays[s.planes]
    for source in np.unique(s.rows_of)[1:]:
        rows = [planes[s.row(source, t)].tobytes() for t in s.ids]
        if len(set(rows)) == len(rows) and sum(p.tobytes() == rows[0] for p in planes) == 1:
            return int(source)
    raise AssertionError("no such source")


@tap.test(*DISTINCT)
def test_missing(name):
    s = expanded(name)
    row = s.row(distinct_source(s), s.ids[1])
    s.keep(np.delete(np.arange(s.n_rows), row))
    check(s, "orbit-missing")


@tap.test(*DISTINCT)
def test_duplicate(name):
    s = expanded(name)
    row = s.row(distinct_source(s), s.ids[1])
    s.keep(np.insert(np.arange(s.n_rows), row, row))
    check(s, "orbit-duplicate")


@tap.test(*SETS)
def test_planes_of_no_image(name):
    """One element of the planes of one image changed."""
    s = expanded(name)
    planes = s.arrays[s.planes]
    row = s.row(2, s.ids[1])
    flat = planes[row].reshape(-1)
    cell = {"hex8": 40, "hex8-padded": 40}.get(name, 0)
    flat[cell] = flat[cell] ^ 128 if planes.dtype == np.uint8 else flat[cell] + 1
    found = without_manifest(lambda provenance: s.verify(provenance)[0])
    assert found == {"orbit-planes"}, found


@tap.test("hex8", "gomoku15", "hex13")
def test_planes_swapped(name):
    """The planes of two rows exchanged, and nothing else."""
    s = expanded(name)
    a, b = s.row(2, s.ids[1]), s.row(5, s.ids[2])
    s.arrays[s.planes][[a, b]] = s.arrays[s.planes][[b, a]]
    check(s, "orbit-planes")


@tap.test("globals", "values")
def test_copy_changed(key):
    s = expanded("hex8")
    row = s.row(3, 4)
    s.arrays[key][row] = s.arrays[key][row] / 2 + 0.125
    check(s, "copy-changed")


@tap.test("hex8", "hexagonal")
def test_ringrift_smear(board):
    """Their transforms clamp: content spreads to cells off board. As a set of images, and as any
    shard."""
    expected = load(data(f"ringrift/expected_{board}.npz"))
    features = expected["features_ringrift"]
    n, t = features.shape[:2]
    source = load(data(f"ringrift/sample_{board}.npz"))
    arrays = {
        "features": features.reshape(n * t, *features.shape[2:]),
        "values": np.repeat(source["values"], t),
        "globals": expected["globals"].reshape(n * t, -1),
        "board_type": source["board_type"],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "theirs.npz")
        np.savez(path, **arrays)
        assert verify(path)[0] == {"smear"}
        for key in list(arrays):
            if arrays[key].ndim > 0:
                arrays[key] = arrays[key][1::t]
        np.savez(path, **arrays)
        assert verify(path)[0] == {"smear"}
        arrays["features"] = expected["features_clean"][:, 1]
        np.savez(path, **arrays)
        assert verify(path)[0] == set()


@tap.test()
def test_smear_of_one_image():
    s = expanded("hex8")
    on_board = load(data("ringrift/hex8_coord_maps.npz"))["on_board"].reshape(9, 9).astype(bool)
    row = s.row(3, 4)
    plane = next(p for p in range(64) if s.arrays["features"][row][p].any()
                 and not s.arrays["features"][row][p][~on_board].any())
    s.arrays["features"][row][plane][~on_board] = 1
    check(s, "smear")


@tap.test()
def test_padding_moved():
    s = expanded("hex8-padded")
    indices, values = s.arrays["policy_indices"], s.arrays["policy_values"]
    for row in np.flatnonzero(s.transforms == 1):
        n = len(values[row]) - int(np.argmax(values[row][::-1] != 0))
        if n < len(values[row]):
            break
    indices[row][n:] = 24
    check(s, "padding")


@tap.test("manifest")
def test_manifest_only(kind):
    """A set with nothing but its manifest: rows of the one order that it tells."""
    s = expanded("gomoku15")
    row = s.row(3, 1)
    source, t, _ = rows_for(s, s.policy)
    set_row(s, s.policy, s.row(source, t), s.arrays[s.policy][s.row(source, 0)])
    path = os.path.join(s.folder, "alone.npz")
    codes, _ = s.verify(False, path=path)
    assert codes == {"policy-not-moved"}
    shutil.copy(s.path + ".manifest.json", path + ".manifest.json")
    codes, _ = s.verify(False, path=path)
    assert codes == {"policy-not-moved", "manifest"}, codes
    del row


@tap.test("sample", "block:16", "transform")
def test_order_said(order):
    s = expanded("gomoku15", order)
    source, t, _ = rows_for(s, s.policy)
    set_row(s, s.policy, s.row(source, t), s.arrays[s.policy][s.row(source, 0)])
    assert s.verify(False, ["--order", order])[0] == {"policy-not-moved"}


@tap.test("source", "transform")
def test_provenance_wrong(which):
    s = expanded("gomoku15")
    key = f"symaug_{which}"
    s.arrays[key][s.row(3, 1)] = {"source": 5, "transform": 3}[which]
    codes, _ = s.verify()
    assert codes and codes <= {"orbit-planes", "orbit-duplicate", "orbit-missing"}, codes


# --- sources that are wrong ---


def planted(name, options, expected, change, exactly=True):
    arrays = load(data(name + ".npz"))
    change(arrays)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays)
        codes, result = verify(path, *options)
        warnings = {f["code"] for f in result["files"][0]["findings"] if f["severity"] == "warning"}
    if expected in ("policy-unencodable",):
        assert codes == set() and warnings == {expected}, (codes, warnings)
    else:
        assert codes == {expected}, codes


def put(key, index, value):
    def change(arrays):
        arrays[key][index] = value

    return change


def occupied(arrays):
    row = 5
    cell = int(np.flatnonzero(arrays["state"][row][0].reshape(-1))[0])
    policy = arrays["policy"][row]
    high = int(np.argmax(policy))
    policy[cell], policy[high] = policy[high], 0


def half_policy(arrays):
    arrays["policy"][1] *= np.float32(0.5)


def overlap(arrays):
    cell = tuple(np.argwhere(arrays["boards"][2][0])[0])
    arrays["boards"][2][1][cell] = 1


def to_move(arrays):
    row = int(np.flatnonzero(arrays["player_to_move"] == 1)[0])
    arrays["boards"][row][2] = 0
    arrays["player_to_move"][row] = 0


def negative(arrays):
    row = arrays["policy"][1]
    i, k = np.argsort(row)[-2:]
    row[k] += row[i] + 0.25
    row[i] = -0.25


def lengths(arrays):
    arrays["policy_values"][3] = np.append(arrays["policy_values"][3], np.float32(0))


def fewer_rows(arrays):
    arrays["value"] = arrays["value"][:-1]


def long_index(arrays):
    arrays["policy_indices"][2] = arrays["policy_indices"][2] + 4132


def off_board(arrays):
    arrays["policy_indices"][2][0] = 0


HEX13 = ["--board", "hex13"]
GOMOKU = ["--board", "gomoku15"]
SOURCES = [
    ("nan", "seeds/hex13_in", HEX13, put("policy", (2, 7), np.nan)),
    ("nan", "seeds/hex13_in", HEX13, put("boards", (2, 0, 1, 1), np.inf)),
    ("nan", "ringrift/sample_hex8", [], put("globals", (2, 7), np.nan)),
    ("policy-sum", "seeds/gomoku15_in", GOMOKU, half_policy),
    ("policy-negative", "seeds/gomoku15_in", GOMOKU, negative),
    ("policy-occupied", "seeds/gomoku15_in", GOMOKU, occupied),
    ("policy-unencodable", "ringrift/sample_hex8", [], off_board),
    ("value-range", "seeds/gomoku15_in", GOMOKU, put("value", 3, 1.5)),
    ("planes-overlap", "seeds/hex13_in", HEX13, overlap),
    ("to-move", "seeds/hex13_in", HEX13, to_move),
    ("to-move", "seeds/hex13_in", HEX13, put("player_to_move", 4, 7)),
    ("index-range", "seeds/gomoku15_in", GOMOKU, put("last_move", (4, 1), 15)),
    ("index-range", "ringrift/sample_hex8", [], long_index),
    ("index-range", "seeds/takeiteasy_in", ["--board", "takeiteasy"], put("position", 2, 19)),
    ("length-mismatch", "ringrift/sample_hex8", [], lengths),
    ("rows", "seeds/hex13_in", HEX13, fewer_rows),
    ("shape", "seeds/hex13_in", ["--board", "hex11"], lambda arrays: None),
]


@tap.test("planes", "grid-first", "history")
def test_castling_skipped(kind):
    """Rows with rights, in any frame and behind any other array, have no second image to miss."""
    states = load(data("seeds/chess1814_in.npz"))["states"]
    states[:, 12:16] = 0
    states[:, 13] = 1
    rows = {"grid": np.arange(4 * 64).reshape(4, 64), "states": states}
    if kind == "planes":
        del rows["grid"]
    if kind == "history":
        rows["states"] = np.stack([states[[0] * 4], states], 1)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **rows)
        told = ["--role=grid=grid"] if "grid" in rows else []
        run("expand", "--board=chess", "--castling=skip", "--role=states=planes", *told, path, out)
        assert len(load(out)["states"]) == 4
        assert verify(out)[0] == set()


@tap.test(*[(code, name, tuple(options), i) for i, (code, name, options, _) in enumerate(SOURCES)])
def test_source(code, name, options, i):
    planted(name, options, code, SOURCES[i][3])


@tap.test(20, 200)
def test_long_name(n):
    """An array of no role is one finding, however long its name: the others are checked."""
    arrays = {"planes": np.full((12, 2, 11, 11), np.nan, np.float32),
              "x" * n: np.zeros((12, 11, 11), np.float32)}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **arrays)
        assert verify(path, "--board", "square:11")[0] == {"shape", "nan"}


# --- leaks, manifests, containers ---


@tap.test("gomoku15", "hex13", "katago", "takeiteasy-permute")
def test_leak(name):
    """The images of one set all occur in its source; half of a source does not occur in the other
    half."""
    s = expanded(name)
    source = os.path.join(s.folder, "source.npz")
    np.savez(source, **s.source)
    arrays = {k: v for k, v in s.source.items()}
    n = len(arrays[s.planes])
    turned = os.path.join(s.folder, "turned.npz")
    rows = [s.row(i, s.ids[-1]) for i in range(n // 2, n)]
    np.savez(turned, **{k: v[rows] if v.ndim and len(v) == s.n_rows else v
                        for k, v in s.arrays.items() if not k.startswith("symaug")})
    codes, result = verify(source, *s.options, "--leak", turned)
    assert codes == {"leak"}, codes
    found = {f["row"] for f in result["files"][0]["findings"] if f["code"] == "leak"}
    assert found >= set(range(n // 2, n)), found
    first = os.path.join(s.folder, "first.npz")
    np.savez(first, **{k: v[: n // 2] if v.ndim and len(v) == n else v for k, v in arrays.items()})
    distinct = {s.source[s.planes][i].tobytes() for i in range(n)}
    if len(distinct) == n:
        assert verify(first, *s.options, "--leak", turned)[0] <= {"leak"}


@tap.test()
def test_leak_board():
    """Several boards have such planes; which positions are the same depends on the board."""
    planes = np.random.default_rng(4).integers(0, 2, (12, 2, 9, 9)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        a, b = os.path.join(folder, "a.npz"), os.path.join(folder, "b.npz")
        np.savez(a, planes=planes)
        np.savez(b, planes=planes[:, ::-1].swapaxes(2, 3))  # exchanged colours: an image in Hex
        _, message = run("verify", "--leak", b, a, code=64)
        assert "--board" in message, message
        assert "leak" in verify(a, "--board", "rhombus:9", "--leak", b)[0]


@tap.test("negative-zero", "int8", "big-endian", "float16", "inexact", "packed")
def test_leak_types(kind):
    """Positions are numbers: their sign of zero, type and byte order do not count."""
    rng = np.random.default_rng(4)
    planes = rng.integers(0, 2, (12, 2, 5, 5)).astype(np.float32)
    other = np.rot90(planes, 1, (-2, -1)).copy()
    expected = {"leak"}
    if kind == "negative-zero":
        other[other == 0] = -0.0
    elif kind == "inexact":
        planes = planes.astype(np.int8)
        other[3, 0, 0, 0] = 0.5
        expected = None
    elif kind == "packed":
        other = np.packbits(other.reshape(12, 2, 25).astype(np.uint8), axis=2)
        expected = None
    else:
        other = other.astype({"int8": "i1", "big-endian": ">f8", "float16": "f2"}[kind])
    with tempfile.TemporaryDirectory() as folder:
        a, b = os.path.join(folder, "a.npz"), os.path.join(folder, "b.npz")
        np.savez(a, planes=planes)
        np.savez(b, planes=other)
        role = ["--role", "planes=planes"] if kind != "packed" else []
        if expected is None:
            message, _ = run("verify", "--board", "square:5", *role, "--leak", b, a, code=65)
            assert "b.npz" in message, message
        else:
            codes, result = verify(a, "--board", "square:5", "--leak", b)
            assert codes == expected and result["files"][0]["counts"]["leak"] == 12, result


@tap.test()
def test_manifest():
    s = expanded("gomoku15")
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        manifest = out + ".manifest.json"
        run("expand", "-q", *s.options, data("seeds/gomoku15_in.npz"), out)
        for command in (["verify", "--json"], ["manifest", "--json", "check"]):
            assert json.loads(run(*command, manifest)[0])["ok"]
        with open(out, "r+b") as file:  # the comment at the end: no array is touched
            file.seek(-1, 2)
            last = file.read(1)
            file.seek(-1, 2)
            file.write(bytes([last[0] ^ 1]))
        result = json.loads(run("verify", "--json", manifest, code=1)[0])
        assert {f["code"] for file in result["files"] for f in file["findings"]} == {"manifest"}
        os.remove(out)
        for command in (["verify", "--json"], ["manifest", "--json", "check"]):
            result = json.loads(run(*command, manifest, code=1)[0])
            assert [f["code"] for f in result["files"][0]["findings"]] == ["manifest"]


def bad_files():
    with open(data("bad/manifest.tsv")) as lines:
        for line in lines.read().splitlines()[1:]:
            name, _, expected, category = line.split("\t")[:4]
            yield name, expected, category


@tap.test()
def test_bad_input():
    """Each file of the corpus: its verdict, its name in the output, JSON in every case."""
    wrong = []
    for name, expected, category in bad_files():
        options = ["--board", "square:9"] if name == "s_hex_as_sq9.npz" else []
        codes = {"reject": (1, 65) if category.startswith("09") else (65,)}.get(expected, (0, 1))
        from subprocess import run as run_process

        from golden import SYMAUG

        done = run_process([SYMAUG, "verify", "--json", *options, data("bad/" + name)],
                           capture_output=True, text=True)
        try:
            files = json.loads(done.stdout)["files"]
            named = files[0]["path"].endswith(name) and (done.returncode == 0 or files[0]["findings"])
        except (ValueError, IndexError):
            named = False
        if done.returncode not in codes or not named:
            wrong.append((name, expected, done.returncode))
    assert not wrong, wrong


@tap.test("crc")
def test_codes_of_containers(code):
    with tempfile.TemporaryDirectory() as folder:
        for name, expected in (("z_crc_both", "crc"), ("z_trunc_00022", "container")):
            path = os.path.join(folder, name + ".npz")
            shutil.copy(data(f"bad/{name}.npz"), path)
            result = json.loads(run("verify", "--json", path, code=65)[0])
            assert [f["code"] for f in result["files"][0]["findings"]] == [expected], result
        result = json.loads(run("verify", "--json", os.path.join(folder, "none.npz"), code=66)[0])
        assert not result["ok"]


@tap.test()
def test_max_findings():
    s = expanded("hex13")
    s.arrays["value"][:] = np.nan
    codes, result = s.verify(True, ["--max-findings", "3"])
    file = result["files"][0]
    assert len(file["findings"]) == 3 and file["counts"]["nan"] == s.n_rows, file["counts"]


@tap.test(1, 2, 3)
def test_threads(n):
    """The report does not depend on the number of threads."""
    s = expanded("hex8")
    for row in range(0, s.n_rows, 7):
        s.arrays["features"][row][3][4][4] += 1
    _, one = s.verify(True, ["--threads", 1])
    _, many = s.verify(True, ["--threads", n])
    assert one == many


@tap.test(*SETS)
def test_mutations(name):
    """One thing changed at a time: found, or the position's own symmetry."""
    mutate_all(expanded(name), n=60 // len(SETS) + 1, seed=1)


if __name__ == "__main__":
    tap.main()
