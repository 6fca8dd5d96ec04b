#!/usr/bin/python3
"""Synthetic shards: games that are played by rules are replayed by them, written here a second time."""

import os
import subprocess
import tempfile

import numpy as np

from golden import SYMAUG, Tap, data, load, run

tap = Tap()

RINGRIFT = {"hex8": (40, 9), "hexagonal": (40, 25), "square8": (56, 8), "square19": (56, 19)}
FILES = ["file:tests/data/boards/triangle.json", "file:tests/data/boards/bridges.json",
         "file:share/boards/alquerque.json"]
BOARDS = [
    *RINGRIFT, "hexagon:1", "hexagon:3", "hex11", "rhombus:2", "rhombus:5", "gomoku15", "square:9",
    "tictactoe", "square:4", "square:7", "go9", "othello", "connect4", "grid:3x5", "mirror:4x5",
    "breakthrough:8x8", "breakthrough:2x2", "breakthrough:5x3", "breakthrough:21x20", "chess", "takeiteasy", "katago:9", "katago:3", *FILES,
]  # fmt: skip


def sample_bytes(board, rows, *options, env=None):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.npz")
        command = [SYMAUG, "sample", "--board", board, "--rows", str(rows), *options, path]
        done = subprocess.run(command, capture_output=True, env={**os.environ, **(env or {})})
        assert done.returncode == 0, done.stderr
        assert done.stdout == b"" and done.stderr == b"", "nothing is printed"
        with open(path, "rb") as file:
            return file.read()


def sample(board, rows, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.npz")
        run("sample", "--board", board, "--rows", rows, *options, path)
        return load(path)


def check_types(arrays, rows, expected):
    assert list(arrays) == list(expected), f"arrays {list(arrays)}"
    for key, (dtype, shape) in expected.items():
        found = arrays[key]
        assert found.dtype == np.dtype(dtype), f"{key}: {found.dtype}"
        assert found.shape == ((rows, *shape) if shape is not None else ()), f"{key}: {found.shape}"


def check_sums(rows):
    sums = np.array([np.sum(row, dtype=np.float64) for row in rows])
    assert np.all(np.abs(sums - 1) < 1e-5), "a policy sums to 1"
    assert all(np.all(np.asarray(row) >= 0) for row in rows), "no negative visits"


def games(starts):
    """(first, end) of each game, the last of which may be cut short, from where plies begin."""
    first = np.flatnonzero(starts)
    assert first[0] == 0
    return list(zip(first, [*first[1:], len(starts)]))


# --- every board ---


@tap.test(*BOARDS)
def test_expand(board):
    """`expand` takes the shard as it is and warns only of what a board is known for; `verify` finds
    nothing, before and after."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "s.npz"), os.path.join(folder, "o.npz")
        for rows in 0, 1, 150:
            run("sample", "--board", board, "--rows", rows, "-f", path)
            named = [] if board in RINGRIFT or board.startswith("katago") else ["--board", board]
            _, warnings = run("expand", *named, "-f", path, out)
            if board == "chess":
                assert "castles" in warnings and warnings.count("\n") == 1, warnings
            else:
                assert warnings == "", warnings
            assert len(load(out)[list(load(out))[0]]) >= rows
            for file in path, out:
                found, _ = run("verify", *named, file)
                assert found.endswith(" 0 errors, 0 warnings\n"), found


@tap.test("hex8", "hex11", "gomoku15", "chess", "katago:9", "takeiteasy")
def test_same_bytes(board):
    """The same for every number of threads; other seeds give other games."""
    one = sample_bytes(board, 700, env={"OMP_NUM_THREADS": "1"})
    assert one == sample_bytes(board, 700, env={"OMP_NUM_THREADS": "3"})
    assert one == sample_bytes(board, 700, "--seed", "1"), "the default seed is 1"
    assert one != sample_bytes(board, 700, "--seed", "2")
    assert one != sample_bytes(board, 700, "--seed", "18446744073709551615")


@tap.test("hex8", "rhombus:5", "tictactoe", "connect4", "chess", "katago:9")
def test_prefix(board):
    """More rows begin with the rows of fewer, in plain and in object arrays."""
    few, many = sample(board, 45), sample(board, 20000 if board == "hex8" else 3000)
    for key, array in few.items():
        if array.ndim > 0:
            for a, b in zip(array, many[key][:45]):
                assert np.array_equal(a, b), key


@tap.test(0, 1, 16000, 16001)
def test_pieces(rows):
    """Object arrays of one piece and of several are those of more rows."""
    few, many = sample("hexagon:2", rows), sample("hexagon:2", 40000)
    for key in "policy_indices", "policy_values", "features":
        assert len(few[key]) == rows
        assert all(np.array_equal(a, b) for a, b in zip(few[key], many[key])), key


@tap.test()
def test_refused():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.npz")
        run("sample", "--board", "hex11", "--rows", 3, path)
        with open(path, "rb") as file:
            before = file.read()
        _, why = run("sample", "--board", "hex11", "--rows", 4, path, code=73)
        assert "s.npz" in why
        with open(path, "rb") as file:
            assert file.read() == before, "an existing output is kept"
        run("sample", "--board", "hex11", "--rows", 4, path, "--force")
        assert len(load(path)["ply"]) == 4
        for wrong in (
            ["--rows", 3, path], ["--board", "hex11", path], ["--board", "hex11", "--rows", 3],
            ["--board", "nosuch", "--rows", 3, path], ["--board", "hex11", "--rows", -3, path],
            ["--board", "hex11", "--rows", 3, path, path], ["--board", "katago", "--rows", 3, path],
            ["--board", "hex11", "--rows", 10**10, path],
            ["--board", "hex11", "--rows", 3, "--seed", 2**64, path],
        ):  # fmt: skip
            run("sample", "-f", *wrong, code=64)
        assert os.listdir(folder) == ["s.npz"]
        _, said = run("sample", "-v", "-f", "--board", "hex11", "--rows", 4, path)
        assert "4 rows of 1 game" in said, said


@tap.test()
def test_old_manifest():
    """A manifest speaks of the output it lies beside: it goes when that is replaced."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "s.npz"), os.path.join(folder, "o.npz")
        run("sample", "--board", "hex8", "--rows", 3, path)
        run("expand", path, out)
        assert os.path.exists(out + ".manifest.json")
        run("sample", "--board", "hex8", "--rows", 3, "-f", out)
        assert not os.path.exists(out + ".manifest.json")


# --- Hex ---


def joins(stones, colour):
    """True when the colour's stones join its edges: 0 top and bottom, 1 left and right."""
    n = len(stones)
    if colour == 1:
        stones = stones.T
    seen = {(0, c) for c in range(n) if stones[0, c]}
    todo = list(seen)
    while todo:
        r, c = todo.pop()
        if r == n - 1:
            return True
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)):
            at = (r + dr, c + dc)
            if 0 <= at[0] < n and 0 <= at[1] < n and stones[at] and at not in seen:
                seen.add(at)
                todo.append(at)
    return False


@tap.test(("rhombus:2", 2), ("rhombus:3", 3), ("rhombus:5", 5), ("hex11", 11), ("hex13", 13))
def test_hex(board, n):
    rows = 100 * n
    shard = sample(board, rows)
    check_types(shard, rows, {
        "boards": ("<f4", (3, n, n)), "policy": ("<f4", (n * n,)), "value": ("<f4", ()),
        "player_to_move": ("i1", ()), "ply": ("<i4", ()),
    })  # fmt: skip
    check_sums(shard["policy"])
    results = set()
    for first, end in games(shard["ply"] == 0):
        stones = np.zeros((2, n, n))
        for i in range(first, end):
            player = (i - first) % 2
            assert shard["ply"][i] == i - first and shard["player_to_move"][i] == player
            assert np.array_equal(shard["boards"][i, :2], stones), "stones of one game"
            assert np.all(shard["boards"][i, 2] == player)
            assert not joins(stones[0], 0) and not joins(stones[1], 1), "the game is not over"
            assert np.all(shard["policy"][i][stones.sum(0).ravel() > 0] == 0), "free cells only"
            move = np.argmax(shard["policy"][i])
            assert stones[:, move // n, move % n].sum() == 0
            stones[player, move // n, move % n] = 1
        values = shard["value"][first:end]
        assert np.all(values == values[0])
        if end < rows:
            assert joins(stones[0], 0) != joins(stones[1], 1), "somebody has just won"
            assert joins(stones[int(values[0])], int(values[0])), "1 means that red wins"
            results.add(values[0])
    assert results == {0, 1}


# --- so many in a row ---


def longest(stones):
    """The most stones in a line, in eight directions."""
    best = 0
    for r, c in np.argwhere(stones):
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            k = 0
            while (0 <= r + k * dr < len(stones) and 0 <= c + k * dc < len(stones[0])
                   and stones[r + k * dr, c + k * dc]):  # fmt: skip
                k += 1
            best = max(best, k)
    return best


def replay_line(planes, policy, values, wanted, cell_of):
    """Mine and theirs are planes 0 and 1; cell_of turns an action into a cell."""
    results = set()
    rows = len(planes)
    for first, end in games(planes[:, :2].reshape(rows, -1).sum(1) == 0):
        stones = np.zeros((2, *planes.shape[2:]))
        for i in range(first, end):
            player = (i - first) % 2
            assert np.array_equal(planes[i, :2], stones[[player, 1 - player]]), "one game"
            assert max(longest(stones[0]), longest(stones[1])) < wanted, "the game is not over"
            cell = cell_of(np.argmax(policy[i]), stones.sum(0))
            assert stones[:, cell[0], cell[1]].sum() == 0
            stones[player][cell] = 1
        if end == rows:
            continue
        if longest(stones[player]) >= wanted:
            expected = [1 if (k - first) % 2 == player else -1 for k in range(first, end)]
        else:
            assert stones.sum() == stones[0].size, "drawn only when the board is full"
            expected = np.zeros(end - first)
        assert np.array_equal(values[first:end], expected), "as the player to move sees it"
        results.add(values[first])
    return results


@tap.test(("tictactoe", 3, 3, 600), ("square:9", 9, 5, 900), ("gomoku15", 15, 5, 700))
def test_gomoku(board, n, wanted, rows):
    shard = sample(board, rows)
    check_types(shard, rows, {
        "state": ("<f4", (5, n, n)), "policy": ("<f4", (n * n,)), "value": ("<f4", ()),
        "last_move": ("<i4", (2,)), "current_player": ("i1", ()),
    })  # fmt: skip
    check_sums(shard["policy"])
    state, policy = shard["state"], shard["policy"]
    results = replay_line(state, policy, shard["value"], wanted, lambda a, _: (a // n, a % n))
    assert results >= {1, -1} and (wanted > 3 or 0 in results), results
    for first, end in games(state[:, :2].reshape(rows, -1).sum(1) == 0):
        for i in range(first, end):
            last = shard["last_move"][i]
            if i == first:
                assert np.all(last == -1) and not state[i, 2].any()
            else:
                assert last[0] * n + last[1] == np.argmax(policy[i - 1])
                assert state[i, 2].sum() == 1 and state[i, 2][tuple(last)] == 1
            assert shard["current_player"][i] == (1 if (i - first) % 2 == 0 else -1)
            assert np.all(state[i, 4] == ((i - first) % 2 == 0))
            assert np.all(policy[i][state[i, :2].sum(0).ravel() > 0] == 0), "free cells only"


@tap.test()
def test_connect4():
    shard = sample("connect4", 1500)
    check_types(shard, 1500, {
        "states": ("<f4", (3, 6, 7)), "policies": ("<f4", (7,)), "values": ("<f4", ()),
    })  # fmt: skip
    check_sums(shard["policies"])
    full = shard["states"][:, :2].sum(1)[:, 0] > 0
    assert full.any() and np.all(shard["policies"][full] == 0), "no stone fits into a full column"
    results = replay_line(shard["states"], shard["policies"], shard["values"], 4,
                          lambda a, taken: (5 - int(taken[:, a].sum()), a))  # fmt: skip
    assert results >= {1, -1}


# --- RingRift ---


@tap.test(*RINGRIFT)
def test_ringrift(board):
    n_planes, side = RINGRIFT[board]
    rows = 400 if side < 15 else 100
    shard = sample(board, rows)
    check_types(shard, rows, {
        "features": ("<f4", (n_planes, side, side)), "globals": ("<f4", (20,)),
        "values": ("<f4", ()), "policy_indices": ("O", ()), "policy_values": ("O", ()),
        "move_numbers": ("<i4", ()), "board_type": (f"<U{len(board)}", None),
        "policy_encoding": ("<U11", None),
    })  # fmt: skip
    assert shard["board_type"] == board and shard["policy_encoding"] == "board_aware"
    maps = load(data(f"ringrift/{board}_policy_maps.npz"))
    coords = load(data(f"ringrift/{board}_coord_maps.npz"))
    on_board = coords.get("on_board", np.ones(side * side)).reshape(side, side) > 0
    features = shard["features"]
    assert np.all(features[:, :, ~on_board] == 0), "nothing off board"
    assert np.all(features[:, -1, on_board] == 1), "the last plane is the board"
    assert np.all(features[:, 0] * features[:, 1] == 0)
    for indices, values in zip(shard["policy_indices"], shard["policy_values"]):
        assert indices.dtype == np.int32 and values.dtype == np.float32
        assert len(indices) == len(values) > 0 and len(set(indices)) == len(indices)
        assert maps["encodable"][indices].all(), "only what the encoder makes"
    check_sums(shard["policy_values"])
    assert set(np.unique(shard["values"])) <= {-1, 0, 1}
    for first, end in games(shard["move_numbers"] == 0):
        for i in range(first, end):
            assert shard["move_numbers"][i] == i - first
            for back in range(1, min(3, i - first) + 1):
                mine = features[i - back, [0, 1] if back % 2 == 0 else [1, 0]]
                at = 14 + 2 * (back - 1)
                assert np.array_equal(features[i, at : at + 2], mine), "history"


@tap.test(*RINGRIFT)
def test_ringrift_actions(board):
    """The leading action is the stack that the next position has; others are about free cells or
    own stacks."""
    _, side = RINGRIFT[board]
    n_directions = 6 if board.startswith("hex") else 8
    rows, cells = 300 if side < 15 else 60, side * side
    shard = sample(board, rows)
    planes = shard["features"][:, :14]
    if board.startswith("square"):  # planes are stored by column and row
        planes = planes.transpose(0, 1, 3, 2)
    planes = planes.reshape(rows, 14, cells)
    heights = np.einsum("h,nhc->nc", np.arange(1, 6), planes[:, 4:9] + planes[:, 9:14])
    assert np.array_equal(planes[:, 4:9].sum(1), planes[:, 0]), "one height for each stack"
    assert np.array_equal(planes[:, 9:14].sum(1), planes[:, 1])
    assert np.allclose(planes[:, 2:4].sum(1) * 5, heights) and set(np.unique(heights)) == {0, 1, 2, 3}
    n_placed = n_moved = 0
    for i in range(rows):
        indices, values = shard["policy_indices"][i], shard["policy_values"][i]
        mine, theirs = planes[i, 0], planes[i, 1]
        for action in indices:
            is_move = action >= 3 * cells
            at = (action - 3 * cells) // n_directions // (side - 1) if is_move else action // 3
            assert at < cells and (mine[at] == 1 if is_move else mine[at] == theirs[at] == 0)
            n_moved, n_placed = n_moved + is_move, n_placed + (not is_move)
        if i + 1 == rows or shard["move_numbers"][i + 1] == 0:
            continue
        at, height = divmod(indices[np.argmax(values)], 3)
        assert mine[at] == theirs[at] == 0 and heights[i + 1][at] == height + 1
        mine[at] = 1
        assert np.array_equal(mine, planes[i + 1, 1]) and np.array_equal(theirs, planes[i + 1, 0])
    assert n_moved > rows and n_placed > rows


# --- chess ---

RAYS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
JUMPS = [(2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1)]


def chess_actions():
    """The 1814 moves: (from, to, promotes)."""
    actions = []
    for square in range(64):
        r, c = divmod(square, 8)
        steps = [(dr * k, dc * k, False) for dr, dc in RAYS for k in range(1, 8)]
        steps += [(dr, dc, False) for dr, dc in JUMPS]
        steps += [(1, dc, True) for dc in (-1, 0, 1) if r == 6]
        actions += [(square, (r + dr) * 8 + c + dc, p) for dr, dc, p in steps
                    if 0 <= r + dr < 8 and 0 <= c + dc < 8]  # fmt: skip
    assert len(actions) == 1814
    return actions


def goes(man, start, to):
    """A man's way of going on an empty board; a pawn's only ahead."""
    dr, dc = to // 8 - start // 8, to % 8 - start % 8
    straight, diagonal = dr == 0 or dc == 0, abs(dr) == abs(dc)
    return [dr == 1 and dc == 0, (dr, dc) in JUMPS, diagonal, straight, straight or diagonal,
            max(abs(dr), abs(dc)) == 1][man]  # fmt: skip


@tap.test()
def test_chess():
    """Each player has a king and no more men than a game begins with; the planes agree."""
    rows = 600
    shard = sample("chess", rows)
    check_types(shard, rows, {
        "states": ("i1", (25, 8, 8)), "policies": ("<f4", (1814,)), "values": ("<f4", ()),
    })  # fmt: skip
    check_sums(shard["policies"])
    actions, states = chess_actions(), shard["states"].reshape(rows, 25, 64)
    men = states[:, :12]
    assert set(np.unique(men)) == {0, 1} and men.sum(1).max() == 1
    assert np.array_equal(men[:, :6].sum(1), states[:, 16])
    assert np.array_equal(men[:, 6:].sum(1), states[:, 17])
    assert not men[:, [0, 6]][:, :, [*range(8), *range(56, 64)]].any(), "no pawn on the last ranks"
    counts = men.sum(2, dtype=int).reshape(rows, 2, 6)
    assert np.all(counts <= [8, 2, 2, 2, 1, 1]) and np.all(counts[:, :, 5] == 1)
    assert np.array_equal(np.repeat(counts[:, 0] - counts[:, 1], 64, 1).reshape(rows, 6, 64),
                          states[:, 19:])  # fmt: skip
    assert len(np.unique(counts.sum((1, 2)))) > 10
    for k, (first, king, rook) in enumerate([(0, 4, 7), (0, 4, 0), (6, 60, 63), (6, 60, 56)]):
        right = men[:, first + 5, king] & men[:, first + 3, rook]
        assert np.array_equal(states[:, 12 + k], np.repeat(right[:, None], 64, 1))
        assert 0.3 < right.mean() < 0.8
    assert len(np.unique(men.reshape(rows, -1), axis=0)) > 0.95 * rows
    kinds = set()
    for policy, state in zip(shard["policies"], states):
        for start, to, promotes in (actions[a] for a in np.flatnonzero(policy)):
            assert state[16, start] == 1 and state[16, to] == 0, "an own man goes, not onto an own one"
            man = int(np.argmax(state[:6, start]))
            assert goes(man, start, to) and promotes == (man == 0 and to >= 56)
            assert man > 0 or state[17, to] == 0
            kinds.add((man, promotes))
    assert len(kinds) == 7
    assert set(shard["values"]) == {-1, 1}


# --- Take It Easy ---


@tap.test()
def test_takeiteasy():
    rows = 19 * 20 + 3
    shard = sample("takeiteasy", rows)
    check_types(shard, rows, {
        "plateau": ("<i4", (19,)), "tile": ("<i4", (3,)), "position": ("<i4", ()),
        "final_score": ("<i4", ()),
    })  # fmt: skip
    axial = [(q, r) for r in range(-2, 3) for q in range(max(-2, -2 - r), min(2, 2 - r) + 1)]
    lines = [([c for c, (q, r) in enumerate(axial) if (r, q + r, q)[k] == v], k)
             for k in range(3) for v in range(-2, 3)]  # fmt: skip
    for first in range(0, rows - 3, 19):
        plateau, seen = np.zeros(19, int), set()
        for i in range(first, first + 19):
            tile = shard["tile"][i]
            assert np.array_equal(shard["plateau"][i], plateau)
            assert tile[0] in (1, 5, 9) and tile[1] in (2, 6, 7) and tile[2] in (3, 4, 8)
            assert tuple(tile) not in seen and plateau[shard["position"][i]] == 0
            seen.add(tuple(tile))
            plateau[shard["position"][i]] = tile @ [100, 10, 1]
        digits = np.stack([plateau // 100, plateau // 10 % 10, plateau % 10])
        score = sum(digits[k, line[0]] * len(line) for line, k in lines
                    if len(set(digits[k, line])) == 1)  # fmt: skip
        assert np.all(shard["final_score"][first : first + 19] == score)
    assert shard["final_score"].max() > 0


# --- KataGo ---


@tap.test(9, 13)
def test_katago(n):
    rows, cells = 200, n * n
    shard = sample(f"katago:{n}", rows)
    check_types(shard, rows, {
        "binaryInputNCHWPacked": ("u1", (22, -(-cells // 8))), "globalInputNC": ("<f4", (19,)),
        "policyTargetsNCMove": ("<i2", (2, cells + 1)), "globalTargetsNC": ("<f4", (80,)),
        "scoreDistrN": ("i1", (2 * (cells + 60),)), "valueTargetsNCHW": ("i1", (5, n, n)),
        "qValueTargetsNCMove": ("<i2", (3, cells + 1)),
    })  # fmt: skip
    bits = np.unpackbits(shard["binaryInputNCHWPacked"], axis=2)
    assert not bits[:, :, cells:].any(), "pad bits are 0"
    planes, policy = bits[:, :, :cells], shard["policyTargetsNCMove"]
    assert planes[:, 0].all() and not (planes[:, 1] & planes[:, 2]).any()
    assert np.all(policy >= 0) and np.all(policy.sum(2) > 0)
    taken = (planes[:, 1] | planes[:, 2]) > 0
    assert not policy[:, 0, :cells][taken].any(), "no visits on stones"
    assert np.all(shard["scoreDistrN"].astype(int).sum(1) == 100)
    targets = shard["globalTargetsNC"]
    assert np.all(targets[:, 0] + targets[:, 1] == 1)
    assert np.all((targets[:, 3] > 0) == (targets[:, 0] == 1)), "who leads has won"
    for first, end in games(planes[:, 1:3].reshape(rows, -1).sum(1) == 0):
        for i in range(first, end - 1):
            move = np.argmax(policy[i, 0])
            assert np.array_equal(planes[i + 1, 2], planes[i, 1] | (np.arange(cells) == move))
            assert np.array_equal(planes[i + 1, 1], planes[i, 2])
            assert np.flatnonzero(planes[i + 1, 9]).tolist() == [move]


@tap.test()
def test_katago_names():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.npz")
        run("sample", "--board", "katago:5", "--rows", 2, path)
        import zipfile

        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            assert archive.testzip() is None
        assert "valueTargetsNCHW" in names and not any(name.endswith(".npy") for name in names)


# --- boards without a game of their own ---


@tap.test(
    ("go19", 4, (19, 19), 362), ("othello", 4, (8, 8), 65), ("square:7", 4, (7, 7), 49),
    ("grid:3x5", 4, (3, 5), 15), ("mirror:4x5", 4, (4, 5), 20), (FILES[0], 4, (15,), 15),
    (FILES[1], 4, (4, 4), 21), (FILES[2], 4, (5, 5), 25), ("file:share/boards/hexgo.json", 4, (11, 11), 121),
    ("file:share/boards/breakthrough.json", 3, (8, 8), 64), ("file:share/boards/othello6.json", 3, (6, 6), 36),
)  # fmt: skip
def test_placement(board, n_planes, box, n_actions):
    rows = 300
    shard = sample(board, rows)
    check_types(shard, rows, {
        "state": ("<f4", (n_planes, *box)), "policy": ("<f4", (n_actions,)), "value": ("<f4", ()),
        "current_player": ("i1", ()),
    })  # fmt: skip
    check_sums(shard["policy"])
    stones = shard["state"][:, :2].reshape(rows, 2, -1)
    assert np.all(stones.sum(1) <= 1)
    taken = stones.sum(1) > 0
    assert np.all(shard["policy"][:, : taken.shape[1]][taken] == 0), "free cells only"
    assert set(shard["value"]) == ({-1, 1} if n_planes == 4 and "bridges" not in board else {0, 1})


@tap.test((8, 8), (2, 2), (5, 3), (21, 20))
def test_breakthrough(rows, cols):
    """Stones on the board; steps of the player's own ones, (from * 6 + step) * 2 + capture."""
    shard = sample(f"breakthrough:{rows}x{cols}", 500)
    check_types(shard, 500, {
        "state": ("<f4", (3, rows, cols)), "policy": ("<f4", (12 * rows * cols,)), "value": ("<f4", ()),
        "current_player": ("i1", ()),
    })  # fmt: skip
    check_sums(shard["policy"])
    stones, players = shard["state"][:, :2], shard["current_player"]
    assert np.all(stones.sum(1) <= 1) and set(shard["value"]) <= {0, 1} == set(players) | {1}
    assert np.all(shard["state"][:, 2] == players[:, None, None])
    taken = stones.sum((2, 3))
    assert np.all(taken >= 1) and np.array_equal(taken[:, 0] - taken[:, 1], players)
    for policy, own in zip(shard["policy"], stones[np.arange(500), players]):
        for action in np.flatnonzero(policy):
            (r, c), step, capture = divmod(action // 12, cols), action // 2 % 6, action % 2
            assert own[r, c] == 1 and not (capture and step % 3 == 1)
            assert 0 <= r + (1 if step < 3 else -1) < rows and 0 <= c + step % 3 - 1 < cols


if __name__ == "__main__":
    tap.main()
