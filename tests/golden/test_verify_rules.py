#!/usr/bin/python3
"""verify of sources and of others' sets: what positions, policies and labels must be by the rules of
the games; nothing to say where a set is right in its own way."""

import itertools
import os
import resource
import tempfile

import numpy as np

from golden import Tap, expand, run
from verify_cases import verify

tap = Tap()

FLIPS = {
    "flipud": lambda planes: planes[:, :, ::-1, :],
    "fliplr": lambda planes: planes[:, :, :, ::-1],
    "transpose": lambda planes: planes.swapaxes(2, 3),
}
D4 = [lambda a, k=k, m=m: np.rot90(a[..., ::-1] if m else a, k, (-2, -1))
      for m in (False, True) for k in range(4)]


def line_games(size, n, seed=1, dtype=np.float32, n_planes=3):
    """Random positions of two players who place stones in turn: planes of the player to move and of
    the other, further ones; policies on empty cells; values of the player to move."""
    rng = np.random.default_rng(seed)
    planes = np.zeros((n, n_planes, size, size), dtype)
    policy = np.zeros((n, size * size), np.float32)
    for i in range(n):
        cells = rng.permutation(size * size)
        k = rng.integers(0, size * size // 2)
        planes[i, 0].reshape(-1)[cells[:k:2]] = 1
        planes[i, 1].reshape(-1)[cells[1:k:2]] = 1
        if k % 2:
            planes[i, [0, 1]] = planes[i, [1, 0]]
        if n_planes > 2 and k:
            planes[i, 2].reshape(-1)[cells[k - 1]] = 1
        chosen = cells[k : k + 6]
        policy[i, chosen] = rng.dirichlet(np.ones(len(chosen)))
    return {"states": planes, "mcts_probs": policy,
            "winners_z": rng.choice([-1, 1], n).astype(np.float32)}


def hex_games(size, n, seed=1, dtype=np.float32, odd=0.0):
    """Random positions of Hex, blue first: planes (blue, red, to move), policy, value, player. A
    share of the rows has one stone too many of the player to move, as after some swap rules."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((n, 3, size, size), dtype)
    policy = np.zeros((n, size * size), np.float32)
    player = np.zeros(n, np.int8)
    for i in range(n):
        cells = rng.permutation(size * size)
        k = int(rng.integers(1, size * size // 2))
        boards[i, 0].reshape(-1)[cells[:k:2]] = 1
        boards[i, 1].reshape(-1)[cells[1:k:2]] = 1
        player[i] = k % 2
        if rng.random() < odd and k % 2:
            player[i] = 0
        boards[i, 2] = player[i]
        chosen = cells[k : k + 5]
        policy[i, chosen] = rng.dirichlet(np.ones(len(chosen)))
    return {"boards": boards, "policy": policy, "value": rng.random(n).astype(np.float32),
            "player_to_move": player}


def check(arrays, options, expected, warnings=None, says=()):
    """The codes of errors are `expected`; every text of `says` occurs in a finding or the note."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        np.savez(path, **arrays)
        codes, result = verify(path, *options)
        findings = result["files"][0]["findings"]
        assert codes == set(expected), (codes, findings[:3])
        if warnings is not None:
            found = {f["code"] for f in findings if f["severity"] == "warning"}
            assert found == set(warnings), findings[:3]
        text = run("verify", *options, path, code=1 if expected else 0)[0]
        for word in says:
            assert word in text, text[:600]


# --- planes and policy in different orders ---


@tap.test(*[(flip, size, n) for flip in FLIPS for size, n in ((6, 60), (9, 40), (15, 30))])
def test_planes_flipped(flip, size, n):
    arrays = line_games(size, n, dtype=np.float64)
    check(arrays, ["--board", f"square:{size}"], [], [])
    arrays["states"] = FLIPS[flip](arrays["states"]).copy()
    check(arrays, ["--board", f"square:{size}"], ["policy-occupied"],
          says=[f"--role mcts_probs=policy:{flip}"])


@tap.test("int8", "channels-last", "sparse", "pass", "hex", "mask", "signed", "signed-last")
def test_planes_flipped_in_other_forms(form):
    board, options = "square:9", []
    arrays = line_games(9, 50, dtype=np.int8 if form == "int8" else np.float32)
    if form == "hex":
        board, arrays = "rhombus:9", hex_games(9, 60)
        arrays = {"states": arrays["boards"], "mcts_probs": arrays["policy"]}
    arrays["states"] = FLIPS["flipud"](arrays["states"]).copy()
    if form.startswith("signed"):
        arrays["states"] = arrays["states"][:, :1] - arrays["states"][:, 1:2]
    if form.endswith("last"):
        arrays["states"] = arrays["states"].transpose(0, 2, 3, 1).copy()
    if form == "pass":
        arrays["mcts_probs"] = np.pad(arrays["mcts_probs"], ((0, 0), (0, 1)))
    if form == "mask":
        arrays["legal_mask"] = (arrays["mcts_probs"] > 0).astype(np.uint8)
    name = "mcts_probs=policy:flipud"
    if form == "sparse":
        policy = arrays.pop("mcts_probs")
        k = 6
        indices = np.argsort(-policy, 1, kind="stable")[:, :k].astype(np.int32)
        values = np.take_along_axis(policy, indices, 1)
        indices[values == 0] = 0
        arrays["policy_indices"], arrays["policy_values"] = indices, values
        name = "policy_indices=policy-index:flipud"
    check(arrays, ["--board", board], ["policy-occupied"], says=[f"--role {name}"])


def equi_data(arrays, size):
    """All eight images as AlphaZero_Gomoku makes them: policies are turned as they are seen on
    planes that are stored upside down."""
    states, probs, z = [], [], []
    for state, prob, winner in zip(*[arrays[k] for k in ("states", "mcts_probs", "winners_z")]):
        for k in (1, 2, 3, 4):
            turned = np.array([np.rot90(s, k) for s in state])
            grid = np.rot90(np.flipud(prob.reshape(size, size)), k)
            states.append(turned)
            probs.append(np.flipud(grid).flatten())
            states.append(np.array([np.fliplr(s) for s in turned]))
            probs.append(np.flipud(np.fliplr(grid)).flatten())
            z += [winner, winner]
    return {"states": np.array(states), "mcts_probs": np.array(probs), "winners_z": np.array(z)}


@tap.test(6, 8, 15)
def test_flipped_images_are_right(size):
    """Images of a set that is stored so are right, and are checked in that order."""
    arrays = line_games(size, 40)
    arrays["states"] = FLIPS["flipud"](arrays["states"]).copy()
    images = equi_data(arrays, size)
    board = ["--board", f"square:{size}"]
    check(images, board, [], [], says=["expanded, 8 images", "mcts_probs=policy:flipud"])
    images["mcts_probs"][9] = images["mcts_probs"][8]
    codes = ["policy-wrong", "policy-not-moved", "policy-inverse", "planes-policy-differ"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        np.savez(path, **images)
        found, _ = verify(path, *board)
        assert found and found <= set(codes), found

# Images under which planes and policies move alike as they stand, so that these alone tell nothing.
ALIKE = {("flipud", "mirrors"): [0, 4, 6], ("fliplr", "mirror"): [0, 4], ("flipud", "one"): [0, 6],
         ("transpose", "half turn"): [0, 2]}


@tap.test(*ALIKE, *[(flip, "any") for flip in FLIPS])
def test_flipped_sets_are_right(flip, which):
    """Whatever the images: those that say nothing of the order of storage, or another one per row."""
    arrays = line_games(8, 60)
    rng = np.random.default_rng(2)
    rows = {key: [] for key in arrays}
    for state, prob, z in zip(*arrays.values()):
        for d in ALIKE.get((flip, which), [0, int(rng.integers(1, 8))]):
            rows["states"].append(D4[d](state))
            rows["mcts_probs"].append(FLIPS[flip](D4[d](prob.reshape(1, 1, 8, 8))).reshape(-1))
            rows["winners_z"].append(z)
    images = {key: np.array(value) for key, value in rows.items()}
    n = len(images["states"]) // 60
    check(images, ["--board", "square:8"], [], [],
          says=[f"expanded, {n} images", f"mcts_probs=policy:{flip}"])


@tap.test(*[(dtype, order) for dtype in ("<f4", "<f8", "<f2") for order in ("sample", "transform")])
def test_normalised_anew(dtype, order):
    """Each image's policy divided by its own sum, which a float rounds in its own way."""
    arrays = line_games(8, 40, n_planes=2)
    rows = [(i, d) for i in range(40) for d in range(8)]
    if order == "transform":
        rows.sort(key=lambda row: row[1])
    policies = [arrays["mcts_probs"][i].reshape(1, 8, 8) for i, _ in rows]
    policies = [D4[d](policy).reshape(-1) * np.float32(3) for policy, (_, d) in zip(policies, rows)]
    sums = [np.cumsum(policy, dtype=np.float32)[-1] for policy in policies]
    images = {"states": np.array([D4[d](arrays["states"][i]) for i, d in rows]),
              "mcts_probs": np.array([p / s for p, s in zip(policies, sums)]).astype(dtype)}
    check(images, ["--board", "square:8"], [], [], says=["expanded, 8 images"])
    images["mcts_probs"][9] *= np.dtype(dtype).type(1 + 1 / 64)
    check(images, ["--board", "square:8"], ["policy-sum", "policy-wrong"])


@tap.test("sample", "shuffled")
def test_many_moves_normalised_anew(order):
    """A sum of many floats taken in another order differs in several last places; in rows of any
    order, too."""
    rng = np.random.default_rng(3)
    arrays = line_games(13, 30, n_planes=2)
    empty = arrays["states"].sum(1) == 0
    policies = (rng.random(empty.shape) * empty).astype(np.float32)
    states = np.array([D4[d](planes) for planes in arrays["states"] for d in range(8)])
    images = np.array([D4[d](policy) for policy in policies for d in range(8)]).reshape(240, -1)
    images /= np.cumsum(images, 1, dtype=np.float32)[:, -1:]
    rows = rng.permutation(240) if order == "shuffled" else np.arange(240)
    arrays = {"states": states[rows], "mcts_probs": images[rows]}
    check(arrays, ["--board", "square:13"], [], [], says=["expanded, 8 images"])


@tap.test()
def test_provenance_is_exact():
    """What was expanded with provenance arrays keeps every bit."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **line_games(8, 40, n_planes=2))
        images = expand(path, "--board", "square:8")
    check(images, ["--board", "square:8"], [])
    policy = images["mcts_probs"][9]
    policy[np.argmax(policy)] = np.nextafter(np.max(policy), policy.dtype.type(0))
    check(images, ["--board", "square:8"], ["policy-wrong"])


@tap.test(*[(which, n) for which in ("every second", "every third", "the first", "the last", "any")
            for n in (2, 4, 8)])
def test_some_sources_are_expanded(which, n):
    """The others are there as they are: no layout, in which one of them would be a wrong image, and
    nothing missing. Policies that are not moved are found as before."""
    arrays = line_games(8, 90)
    chosen = {"every second": lambda i: i % 2 == 0, "every third": lambda i: i % 3 == 0,
              "the first": lambda i: i < 50, "the last": lambda i: i >= 40,
              "any": lambda i, rng=np.random.default_rng(1): rng.random() < 0.6}[which]
    rows = [(i, d) for i in range(90) for d in (range(n) if chosen(i) else [0])]
    images = {"states": np.array([D4[d](arrays["states"][i]) for i, d in rows]),
              "mcts_probs": np.array([D4[d](arrays["mcts_probs"][i].reshape(8, 8)) for i, d in rows]),
              "winners_z": np.array([arrays["winners_z"][i] for i, _ in rows])}
    board = ["--board", "square:8"]
    check(images, board, [], [])
    for row, (i, d) in enumerate(rows):
        if d > 0:
            images["mcts_probs"][row] = arrays["mcts_probs"][i].reshape(8, 8)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        np.savez(path, **images)
        found, result = verify(path, *board)
        assert "policy-not-moved" in found or which == "every third" and found, (found, result)


@tap.test("sample", "transform")
def test_negated_images(order):
    """Images whose stones changed colours, each beside a single move: their sources are no strangers."""
    arrays = line_games(8, 120)
    n_stones = arrays["states"].sum((2, 3))
    arrays = {key: array[n_stones[:, 0] != n_stones[:, 1]][:40] for key, array in arrays.items()}
    rows = [(i, d) for i in range(40) for d in (0, 2, 4, 6)]
    if order == "transform":
        rows.sort(key=lambda row: row[1])
    moves = np.arange(64) == arrays["mcts_probs"].argmax(1)[:, None]
    boards = arrays["states"][:, 0] - arrays["states"][:, 1]
    images = {"board": np.array([D4[d](boards[i]) * (1 if d == 0 else -1) for i, d in rows]),
              "pi": np.array([D4[d](moves[i].reshape(8, 8)) for i, d in rows]).astype(np.float32)}
    check(images, ["--board", "square:8"], ["orbit-planes"], says=["expanded, 4 images"])


@tap.test("cube", "flat", "wrong axes")
def test_channels_last(form):
    """Planes of which only the numbers tell that their channels come last. Planes that were turned
    with their channels for rows are no such ones."""
    arrays = line_games(5, 60, n_planes=5)
    states = [D4[d](planes if form != "wrong axes" else np.moveaxis(planes, 2, 0))
              for planes in arrays["states"] for d in range(8)]
    policies = [D4[d](p.reshape(5, 5)) for p in arrays["mcts_probs"] for d in range(8)]
    images = {"states": np.moveaxis(states, 1, 3).copy(),
              "mcts_probs": np.array(policies).reshape(480, -1)}
    if form == "flat":
        images["states"] = images["states"].reshape(480, -1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        np.savez(path, **images)
        codes, result = verify(path, "--board", "square:5")
        note = result["files"][0]["note"]
        assert codes if form == "wrong axes" else not codes and "8 images" in note, (codes, note)


# --- mass that is none ---


@tap.test("tiny", "smooth", "softmax", "float16", "counts")
def test_smoothed_policies(kind):
    arrays = line_games(9, 60)
    policy = arrays["mcts_probs"].astype(np.float64)
    empty = arrays["states"][:, :2].sum(1).reshape(60, -1) == 0
    rng = np.random.default_rng(2)
    if kind == "tiny":
        policy += 1e-10
    if kind == "smooth":
        policy = 0.9 * policy + 0.1 / 81
    if kind == "softmax":
        logits = rng.normal(0, 1, policy.shape) + 9 * empty
        policy = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    if kind == "counts":
        policy = np.round(policy * 800)
        arrays["visits"] = policy.astype(np.float32)
        del arrays["mcts_probs"]
    else:
        arrays["mcts_probs"] = policy.astype(np.float16 if kind == "float16" else np.float32)
    check(arrays, ["--board", "square:9"], [], [])


@tap.test("tiny", "smooth")
def test_smoothed_policies_on_stones(kind):
    """A peak on a stone is found beneath the smoothing."""
    arrays = line_games(9, 60)
    row = int(np.argmax(arrays["states"][:, 0].sum((1, 2))))
    cell = int(np.flatnonzero(arrays["states"][row, 0].reshape(-1))[0])
    policy = arrays["mcts_probs"]
    policy[row] = 0
    policy[row, cell] = 1
    arrays["mcts_probs"] = policy + 1e-10 if kind == "tiny" else 0.9 * policy + 0.1 / 81
    check(arrays, ["--board", "square:9"], ["policy-occupied"])


@tap.test()
def test_planes_that_are_no_stones():
    """Planes 0 and 1 of another game: nothing is said of policies, whatever they do."""
    rng = np.random.default_rng(3)
    planes = (rng.random((60, 4, 8, 8)) < 0.5).astype(np.float32)
    policy = rng.dirichlet(np.ones(64), 60).astype(np.float32)
    check({"x": planes, "pi": policy}, ["--board", "square:8"], [], [])


@tap.test()
def test_planes_of_one_player_first():
    """The mover's stones now and one turn ago overlap, but not while there are hardly any."""
    cells = np.random.default_rng(5).permutation(9)
    planes = np.zeros((4, 4, 9), np.float32)
    for ply in range(4):
        for k, turn in enumerate((ply, ply, ply - 1, ply - 1)):
            planes[ply, 2 * (k % 2) + k // 2, cells[(ply + k) % 2 : max(turn, 0) : 2]] = 1
    check({"x": planes.reshape(4, 4, 3, 3)}, ["--board", "tictactoe"], [], [])


# --- the third plane of Hex ---


def with_third(kind, arrays):
    boards = arrays["boards"]
    n, _, size, _ = boards.shape
    blue, red, turn = boards[:, 0], boards[:, 1], boards[:, 2]
    empty = 1 - blue - red
    rng = np.random.default_rng(4)
    last = np.zeros_like(blue)
    for i in range(n):
        stones = np.argwhere(blue[i] + red[i])
        last[(i, *stones[rng.integers(len(stones))])] = 1
    planes = {
        "empty-last": (blue, red, empty), "empty-first": (empty, blue, red),
        "empty-middle": (blue, empty, red), "turn-first": (turn, blue, red),
        "turn-middle": (blue, turn, red), "pm1": (blue, red, 1 - 2 * turn),
        "12": (blue, red, 1 + turn), "255": (blue, red, 255 * turn), "last": (blue, red, last),
        "ply": (blue, red, turn + 2 * np.arange(n)[:, None, None] % 50),
        "half": (blue, red, turn * 0 + 0.5),
    }[kind]
    arrays["boards"] = np.stack(planes, 1)
    return arrays


THIRD = [("empty-last", "1,0,2"), ("empty-first", "0,2,1"), ("empty-middle", "2,1,0"),
         ("turn-first", "~0,2,1"), ("turn-middle", "2,~1,0"), ("pm1", "1,0,-2"), ("12", ""),
         ("255", ""), ("last", "1,0,2"), ("ply", "1,0,2"), ("half", "1,0,2")]


@tap.test(*[(kind, size) for kind, _ in THIRD for size in (5, 11)])
def test_third_plane(kind, size):
    planes = dict(THIRD)[kind]
    board = ["--board", f"rhombus:{size}"]
    arrays = with_third(kind, hex_games(size, 50))
    check(arrays, board, ["to-move"], says=["plane 2 is not", f"--planes {planes}".rstrip()])
    if planes and "-" not in planes:
        check(arrays, board + ["--planes", planes], [], [])
    del arrays["player_to_move"]
    check(arrays, board, ["to-move"], says=["plane 2 is not", f"--planes {planes}".rstrip()])


@tap.test(("pm1", ["--planes", "1,0,-2"]), ("pm1", ["--to-move", "pm1"]), ("12", ["--to-move", "12"]))
def test_third_plane_coded(kind, options):
    """Other codes of the player to move, when they are told: sources and sets made of them."""
    arrays = with_third(kind, hex_games(7, 40))
    if options[0] == "--to-move":
        codes = np.array({"pm1": [1, -1], "12": [1, 2]}[kind], np.int8)
        arrays["player_to_move"] = codes[arrays["player_to_move"]]
    board = ["--board", "rhombus:7", *options]
    check(arrays, board, [], [])
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **arrays)
        run("expand", "-q", "--no-provenance", *board, path, out)
        images = dict(np.load(out))
        check(images, board, [], [], says=["expanded, 4 images"])
        row = int(np.flatnonzero(images["boards"][:, 2, 0, 0] == 1)[-1])
        images["boards"][row, 2] = {"pm1": -1, "12": 2}[kind]
        np.savez(path, **images)
        assert verify(path, *board)[0] == {"to-move-not-flipped"}


@tap.test()
def test_third_plane_of_one_row():
    arrays = hex_games(7, 60)
    arrays["boards"][8, 2, 3, 3] = 1 - arrays["boards"][8, 2, 3, 3]
    check(arrays, ["--board", "rhombus:7"], ["to-move"], says=["row 8"])


# --- whose turn it is ---


@tap.test(0.1, 0.2, 0.5)
def test_swap_rule(odd):
    """Games with a swap rule have leads that others have not: a warning."""
    check(hex_games(9, 400, odd=odd), ["--board", "rhombus:9"], [], ["to-move"])


@tap.test("01", "12", "pm1")
def test_winner_is_not_the_turn(coding):
    """A winner says nothing of whose turn it is, and draws have codes of their own."""
    arrays = hex_games(9, 80)
    rng = np.random.default_rng(5)
    codes = {"01": [0, 1], "12": [1, 2], "pm1": [1, -1]}[coding]
    arrays["winner"] = rng.choice(codes, 80).astype(np.int8)
    arrays["player_to_move"] = np.array(codes)[arrays["player_to_move"]].astype(np.int8)
    check(arrays, ["--board", "rhombus:9", "--to-move", coding], [], [])
    two = {k: v for k, v in arrays.items() if k not in ("player_to_move",)}
    two["boards"] = two["boards"][:, :2].copy()
    check(two, ["--board", "rhombus:9"], [], [])


# --- indices, moves, tiles ---


def sparse_set(form, n=30):
    arrays = line_games(9, n)
    policy = arrays.pop("mcts_probs")
    rows = [np.flatnonzero(p).astype(np.int32) for p in policy]
    values = [p[r] for p, r in zip(policy, rows)]
    if form == "padded":
        k = max(map(len, rows))
        arrays["pi_indices"] = np.stack([np.pad(r, (0, k - len(r))) for r in rows])
        arrays["pi_values"] = np.stack([np.pad(v, (0, k - len(v))) for v in values])
    elif form == "csr":
        arrays["pi_indptr"] = np.cumsum([0] + [len(r) for r in rows])
        arrays["pi_indices"], arrays["pi_values"] = np.concatenate(rows), np.concatenate(values)
    else:
        for key, items in (("pi_indices", rows), ("pi_values", values)):
            arrays[key] = np.empty(n, object)
            arrays[key][:] = items
    return arrays


def entry(arrays, key, row, i):
    """A view of entry i of a row of a sparse policy."""
    if "pi_indptr" in arrays:
        return arrays[key][arrays["pi_indptr"][row] + i :][:1]
    return arrays[key][row][i : i + 1]


@tap.test("object", "padded", "csr")
def test_index_minus_one(form):
    """-1 names no action; it is an error only where it carries mass."""
    board = ["--board", "square:9"]
    arrays = sparse_set(form)
    check(arrays, board, [], [])
    low = entry(arrays, "pi_values", 5, 1).copy()
    entry(arrays, "pi_indices", 5, 1)[:] = -1
    check(arrays, board, ["index-range"], says=["row 5", "index -1"])
    entry(arrays, "pi_values", 5, 1)[:] = 0
    entry(arrays, "pi_values", 5, 0)[:] += low
    check(arrays, board, [], [])


@tap.test()
def test_index_of_unknown_board():
    """Without a board nothing bounds an index but -1."""
    arrays = {"value": np.zeros(9, np.float32), "action": np.array([0, -1, 900, -5, 1, 2, 3, 4, 5])}
    check(arrays, [], ["index-range"], says=["row 3", "expected -1 or more, found -5"])


@tap.test("hexagon:3", "hex8")
def test_moves_off_board(board):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sample.npz")
        run("sample", "--board", board, "--rows", 12, path)
        arrays = dict(np.load(path, allow_pickle=True))
    size = {"hexagon:3": 7, "hex8": 9}[board]
    n = max(len(a) for a in arrays.values() if a.ndim)
    options = ["--board", board, "--role", "chosen=action:layout=cells-box"]
    arrays["chosen"] = np.full(n, size * size // 2, np.int64)
    arrays["last_move"] = np.full((n, 2), size // 2, np.int16)
    arrays["chosen"][3] = arrays["last_move"][4] = -1
    check(arrays, options, [], [])
    arrays["chosen"][7] = 1
    check(arrays, options, ["index-range"], says=["chosen: row 7", "off board"])
    arrays["chosen"][7] = -1
    arrays["last_move"][2] = (0, 0)
    check(arrays, options, ["index-range"], says=["last_move: row 2"])


@tap.test("codes", "ids", "floats", "numbers")
def test_tiles(kind):
    rng = np.random.default_rng(6)
    tiles = np.array([[a, b, c] for a in (1, 5, 9) for b in (2, 6, 7) for c in (3, 4, 8)])
    chosen = rng.permuted(np.tile(np.arange(27), (20, 1)), axis=1)[:, :20]
    codes = tiles[chosen] @ [100, 10, 1]
    plateau = np.where(rng.random((20, 19)) < 0.5, codes[:, :19], 0)
    arrays = {"plateau": plateau.astype(np.int16), "tile": tiles[chosen[:, 19]].astype(np.int8),
              "position": rng.integers(0, 19, 20)}
    board = ["--board", "takeiteasy"]
    expected = []
    if kind == "floats":
        arrays["plateau"] = arrays["plateau"].astype(np.float32)
    if kind == "ids":
        arrays["plateau"] = np.where(plateau > 0, chosen[:, :19] + 1, 0).astype(np.int16)
        expected = ["value-range"]
    if kind == "numbers":
        arrays["tile"][6] = [1, 5, 3]
        expected = ["value-range"]
    check(arrays, board, expected, [])


# name, columns of a row from a number in [0,1], options, what is right
COLUMNS = [("value", lambda v: (v, 1 - v), [], True), ("value", lambda v: (v, -v), [], True),
           ("value", lambda v: (v, v), [], False), ("z", lambda v: (v, 1 - v), ["colour01"], True),
           ("z", lambda v: (v, -v), ["colour01"], False), ("z", lambda v: (v, -v), ["colour11"], True),
           ("z", lambda v: (v, 1 - v), ["colour11"], False), ("z", lambda v: (v, v), ["mover"], True),
           ("wdl", lambda v: (v / 2, 1 - v, v / 2), [], True), ("wdl", lambda v: (0 * v, 0 * v, 0 * v), [], True),
           ("wdl", lambda v: (v / 2, v / 2, v / 2), [], False),
           ("values_mp", lambda v: (v, v, v), [], True),
           ("z", lambda v: (v / 2, 1 - v, v / 2), ["colour01"], False),
           ("v", lambda v: (v / 2, 1 - v, v / 2), ["colour11"], False),
           ("z", lambda v: (v / 2, 1 - v, v / 2), ["colour-wdl"], True),
           ("z", lambda v: (v / 2, 1 - v, v / 2), ["mover"], True),
           ("z", lambda v: (v,), ["colour-wdl"], False)]


@tap.test(*[(i, dtype) for i in range(len(COLUMNS)) for dtype in ("<f4", ">f8", "<f2")])
def test_columns_by_colour(case, dtype):
    """Two and three columns are what their convention says, or expand and verify both say so."""
    name, make, value, right = COLUMNS[case]
    arrays = hex_games(5, 30)
    v = 0.25 + arrays.pop("value") / 2
    arrays[name] = np.stack(np.broadcast_arrays(*make(v)), 1).astype(dtype)
    options = ["--board", "rhombus:5", *("--value=" + word for word in value)]
    check(arrays, options, [] if right else ["value-range"],
          says=[] if right else [name, "sum" if case < 12 else "columns"])  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "set.npz")
        np.savez(path, **arrays)
        signed = case == 1  # nothing but --value tells it
        run("expand", *options, path, path + "o", code=0 if right and not signed else 65)


@tap.test("<f4", ">f8", "<f2", ">i2")
def test_tile_codes_of_any_type(dtype):
    """Codes whose numbers were permuted are right as floats, too, and wrong ones are found."""
    rng = np.random.default_rng(7)
    codes = np.array([100 * a + 10 * b + c for a in (1, 5, 9) for b in (2, 6, 7) for c in (3, 4, 8)])
    chosen = rng.permuted(np.tile(codes, (20, 1)), axis=1)[:, :19]
    plateau = np.where(rng.random((20, 19)) < 0.5, chosen, 0)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, plateau=plateau, position=rng.integers(0, 19, 20))
        run("expand", "--board", "takeiteasy", "--tiles", "permute", path, out)
        arrays = dict(np.load(out))
    arrays["plateau"] = arrays["plateau"].astype(dtype)
    options = ["--board", "takeiteasy", "--tiles", "permute"]
    check(arrays, options, [])
    row = np.flatnonzero(arrays["symaug_transform"] == 1)[5]
    arrays["plateau"][row, np.flatnonzero(arrays["plateau"][row])[0]] = 123
    check(arrays, options, ["orbit-planes"], says=[f"row {row}"])


@tap.test()
def test_one_source():
    """Rows that are all said to be of one source take a time that grows with their number."""
    rng = np.random.default_rng(11)
    seconds = []
    for n in 4000, 16000:
        planes = rng.integers(0, 2, (n, 2, 9, 9)).astype("u1")
        planes[:, 1] *= 1 - planes[:, 0]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "set.npz")
            np.savez(path, planes=planes, symaug_source=np.zeros(n, "i4"),
                     symaug_transform=rng.integers(0, 8, n).astype("u1"))
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            run("verify", "-q", "-j1", "--board=square:9", path, code=1)
            seconds.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    assert seconds[1] < 8 * seconds[0] + 0.5, seconds


@tap.test(0, 1, 5)
def test_tiles_in_any_order(n_more):
    """Tiles whose numbers alone were put in every order are no images, in whole groups or not."""
    rng = np.random.default_rng(8)
    rows = np.zeros((41 * 6, 19), np.int16)
    for source in range(41):
        cells = rng.permutation(19)[:12]
        numbers = np.stack([rng.choice(kind, 12) for kind in ((1, 5, 9), (2, 6, 7), (3, 4, 8))], 1)
        for k, order in enumerate(itertools.permutations(range(3))):
            rows[6 * source + k, cells] = numbers[:, order] @ [100, 10, 1]
    arrays = {"plateau": rows[: 240 + n_more], "position": np.full(240 + n_more, -1)}
    check(arrays, ["--board", "takeiteasy", "--tiles", "permute"],
          ["orbit-planes"] if n_more == 0 else [])


if __name__ == "__main__":
    tap.main()
