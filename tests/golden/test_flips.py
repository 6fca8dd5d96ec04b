#!/usr/bin/python3
"""Policies stored in another order than the planes, as get_equi_data of AlphaZero_Gomoku has them."""

import os
import tempfile

import numpy as np

from golden import Tap, by_image, load, run, same_bits

tap = Tap()
FLIPS = {"flipud": lambda g: g[..., ::-1, :], "fliplr": lambda g: g[..., ::-1],
         "transpose": lambda g: np.swapaxes(g, -1, -2)}
# What our ids do to a picture, by numpy alone.
IMAGES = [lambda g: g, lambda g: np.rot90(g, -1, (-2, -1)), lambda g: np.rot90(g, 2, (-2, -1)),
          lambda g: np.rot90(g, 1, (-2, -1)), lambda g: g[..., ::-1], lambda g: g[..., ::-1, :],
          lambda g: np.swapaxes(g, -1, -2), lambda g: np.rot90(np.swapaxes(g, -1, -2), 2, (-2, -1))]


def games(n, rows, dtype, one_hot=False, seed=1):
    """Planes and the policy in their order: mass on empty cells only."""
    random = np.random.default_rng(seed)
    planes = np.zeros((rows, 4, n, n), np.float32)
    policy = np.zeros((rows, n, n))
    for row in range(rows):
        order = random.permutation(n * n)
        n_stones = 2 + row % (n * n // 2)
        for ply, cell in enumerate(order[:n_stones]):
            planes[row, ply % 2].flat[cell] = 1
        free = order[n_stones:] if not one_hot else order[n_stones:n_stones + 1]
        policy[row].flat[free] = random.random(len(free)) + 0.1
        policy[row] /= policy[row].sum()
    if np.dtype(dtype).kind != "f":
        policy = np.round(policy * 800)
    return planes, policy.astype(dtype)


def expand(folder, arrays, board, *options, code=0):
    path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
    np.savez(path, **arrays)
    if os.path.exists(out):
        os.remove(out)
    _, err = run("expand", "-b", board, *options, path, out, code=code)
    assert code == 0 or not os.path.exists(out)
    return err if code != 0 else load(out)


@tap.test(*[(flip, shape, dtype, n) for flip in FLIPS
            for shape, dtype, n in [("flat", "<f4", 15), ("grid", "<f8", 9), ("flat", ">i4", 9),
                                    ("pass", "<f2", 6)]])
def test_flip(flip, shape, dtype, n):
    """Refused by name as it stands; exact in the input's own order with the option."""
    planes, policy = games(n, 60, dtype)
    if shape == "pass":
        policy = policy * policy.dtype.type(0.75)
    stored = np.ascontiguousarray(FLIPS[flip](policy))
    rows = stored if shape == "grid" else stored.reshape(60, -1)
    if shape == "pass":
        rows = np.concatenate([rows, np.full((60, 1), 0.25, dtype)], 1)
    arrays = {"state": planes, "mcts_probs": rows}
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, arrays, f"square:{n}", code=65)
        assert f"--role mcts_probs=policy:{flip}" in err and "row " in err, err
        option = f"--role=mcts_probs=policy:{flip}"
        out = expand(folder, arrays, f"square:{n}", option)
        run("verify", "-b", f"square:{n}", option, os.path.join(folder, "out.npz"))
        order = by_image(out)
        found = out["mcts_probs"][order].reshape(60, 8, -1)
        for t, image in enumerate(IMAGES):
            wanted = FLIPS[flip](image(policy)).reshape(60, -1)
            same_bits(found[:, t, :n * n], wanted, f"{flip} {t}")
            same_bits(out["state"][order].reshape(60, 8, 4, n, n)[:, t], image(planes), "planes")
            if shape == "pass":
                same_bits(found[:, t, n * n], rows[:, -1], "pass")


# The other orders of a box: a quarter turn clockwise is none that undoes itself.
TURNS = {"rot90": IMAGES[1], "rot180": IMAGES[2], "rot270": IMAGES[3], "anti-transpose": IMAGES[7]}


@tap.test(*[(turn, kind, board) for turn in TURNS for kind in ("dense", "csr", "move", "mask")
            for board in ("square:9", "rhombus:9")])
def test_turned(turn, kind, board):
    """Beside planes whose rows or columns are counted from another corner."""
    planes, policy = games(9, 60, "<f4", one_hot=kind == "move")
    stored = np.ascontiguousarray(TURNS[turn](policy)).reshape(60, 81)
    more = {"dense": lambda: {"p": stored}, "csr": lambda: sparse(stored, "csr", np.random.default_rng(2)),
            "move": lambda: {"p": stored.argmax(1)}, "mask": lambda: {"p": stored > 0}}[kind]()
    name, role = next(iter(more)), {"dense": "policy", "csr": "policy-index", "move": "action", "mask": "mask"}[kind]
    told = "" if kind == "csr" else ":layout=cells,"
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"state": planes[:, :2], **more}
        options = [] if kind == "csr" else [f"--role=p={role}:layout=cells"]
        err = expand(folder, arrays, board, *options, code=65)
        assert f"--role {name}={role}" in err and turn in err.split("use --role")[1], err
        found, _ = run("verify", "-b", board, *options, os.path.join(folder, "in.npz"), code=1)
        assert f":{turn}" in found and "[policy-occupied]" in found, found
        option = f"--role={name}={role}{told or ':'}{turn}"
        out = expand(folder, arrays, board, option)
        run("verify", os.path.join(folder, "out.npz"))
        ids = range(8) if board[0] == "s" else [0, 2, 6, 7]
        for t, image in zip(sorted(set(out["symaug_transform"])), ids):
            rows = out["symaug_transform"] == t
            wanted = TURNS[turn](IMAGES[image](policy)).reshape(60, 81)
            if kind == "csr":
                assert np.array_equal(dense(out, 81)[rows], wanted), t
            elif kind == "move":
                assert np.array_equal(out["p"][rows], wanted.argmax(1)), t
            else:
                same_bits(out["p"][rows], wanted if kind == "dense" else wanted > 0, f"{turn} {t}")
        run("show", "--row", "9", "--color", "never", os.path.join(folder, "out.npz"))


def packed(planes, order):
    """Planes as bits, msb or lsb first, or as the integers of 64 bits of a board of 64 cells."""
    flat = planes.reshape(*planes.shape[:2], -1) != 0
    bits = np.packbits(flat, -1, "big" if order == "msb" else "little")
    return bits.view("<u8")[:, :, 0] if order == "u8" else bits


@tap.test(*[(flip, order) for flip in ["flipud", "rot90"] for order in ("msb", "lsb", "u8")])
def test_packed_planes(flip, order):
    """Planes of bits show their stones as others do."""
    n = 8 if order == "u8" else 9
    planes, policy = games(n, 60, "<f4")
    stored = np.ascontiguousarray({**FLIPS, **TURNS}[flip](policy)).reshape(60, -1)
    role = "--role=bits=packed:" + order.replace("u8", "lsb")
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"bits": packed(planes, order), "pi": stored}
        err = expand(folder, arrays, f"square:{n}", role, code=65)
        assert f"--role pi=policy:{flip}" in err, err
        found, _ = run("verify", "-b", f"square:{n}", role, os.path.join(folder, "in.npz"), code=1)
        assert f"--role pi=policy:{flip}" in found and "[policy-occupied]" in found, found
        out = expand(folder, arrays, f"square:{n}", role, f"--role=pi=policy:{flip}")
        run("verify", os.path.join(folder, "out.npz"))
        for t, image in enumerate(IMAGES):
            rows = out["symaug_transform"] == t
            same_bits(out["bits"][rows], packed(image(planes), order), f"bits {t}")
        expand(folder, {**arrays, "pi": policy.reshape(60, -1)}, f"square:{n}", role)


@tap.test(*[(flip, last) for flip in FLIPS for last in (False, True)])
def test_signed_channel(flip, last):
    """A single plane of stones of both colours shows them as a grid does."""
    planes, policy = games(9, 60, "<f4")
    board = planes[:, :1] - planes[:, 1:2]
    stored = np.ascontiguousarray(FLIPS[flip](policy)).reshape(60, -1)
    arrays = {"state": np.moveaxis(board, 1, 3).copy() if last else board, "pi": stored}
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, arrays, "go9", code=65)
        assert f"--role pi=policy:{flip}" in err, err
        expand(folder, arrays, "go9", "--role", f"pi=policy:{flip}")
        expand(folder, {**arrays, "pi": policy.reshape(60, -1)}, "go9")


@tap.test(*FLIPS)
def test_mask_and_action(flip):
    """Masks are looked at, too; a move beside a flipped policy must be told."""
    planes, policy = games(9, 40, "<f4")
    mask = FLIPS[flip](policy > 0).reshape(40, -1)
    move = FLIPS[flip](policy).reshape(40, -1).argmax(1)
    stored = np.ascontiguousarray(FLIPS[flip](policy)).reshape(40, -1)
    arrays = {"state": planes, "pi": stored, "legal_mask": mask, "move": move}
    told = [f"--role=pi=policy:{flip}"]
    with tempfile.TemporaryDirectory() as folder:
        assert "move" in expand(folder, arrays, "square:9", *told, code=65)
        told.append(f"--role=move=action:{flip}")
        err = expand(folder, arrays, "square:9", *told, code=65)
        assert f"legal_mask=mask:{flip}" in err, err
        out, _ = run("verify", "-b", "square:9", *told, os.path.join(folder, "in.npz"), code=1)
        assert f"legal_mask=mask:{flip}" in out and "move=action" not in out, out
        told.append(f"--role=legal_mask=mask:{flip}")
        out = expand(folder, arrays, "square:9", *told)
        assert np.all(out["pi"].argmax(1) == out["move"])
        same_bits(out["legal_mask"], out["pi"] > 0, "mask")
        err = expand(folder, {**arrays, "pi": policy.reshape(40, -1)}, "square:9", *told, code=65)
        assert "--role pi=policy" in err and f"--role pi=policy:{flip}" not in err, err


ON_HEX8 = np.array([[4 <= row + col <= 12 for col in range(9)] for row in range(9)])


def hex8_image(grid, t):
    """Axial (q, r) goes to (-r, q + r) t times, then, from 6 on, to (r, q); what is off board stays."""
    image = grid.copy()
    for y, x in np.argwhere(ON_HEX8):
        q, r = x - 4, y - 4
        for _ in range(t % 6):
            q, r = -r, q + r
        q, r = (r, q) if t > 5 else (q, r)
        image[..., r + 4, q + 4] = grid[..., y, x]
    return image


@tap.test(*[(turn, kind) for turn in ("transpose", "rot180", "anti-transpose", "counted from 1")
            for kind in ("policy", "mask", "action")])
def test_hexagon(turn, kind):
    """A hexagon has those orders that keep its cells on board."""
    planes, policy = np.zeros((200, 2, 81), "f4"), np.zeros((200, 81), "f4")
    for row in range(200):
        order = np.random.default_rng(row).permutation(np.flatnonzero(ON_HEX8))
        for ply, cell in enumerate(order[:2 + row % 40]):
            planes[row, ply % 2, cell] = 1
        policy[row, order[2 + row % 40:][:1 if kind == "action" else 8]] = 1 if kind == "action" else 0.125
    planes, policy = planes.reshape(200, 2, 9, 9), policy.reshape(200, 9, 9)
    stored_in = lambda grid: {**FLIPS, **TURNS}[turn](grid).reshape(len(grid), 81)
    if turn == "counted from 1":
        stored_in = lambda grid: np.pad(grid.reshape(len(grid), 81), ((0, 0), (1, 0)))
    form = {"policy": lambda p: p, "mask": lambda p: p > 0, "action": lambda p: p.argmax(1)}[kind]
    with tempfile.TemporaryDirectory() as folder:
        path, told = os.path.join(folder, "in.npz"), f"p={kind}:{turn}"
        arrays = {"state": planes, "p": form(stored_in(policy))}
        if turn == "counted from 1":
            err = expand(folder, {"state": planes, {"action": "move"}.get(kind, kind): arrays["p"]}, "hex8", code=65)
            assert "from 1" in err, err
            return
        err = expand(folder, arrays, "hex8", f"--role=p={kind}", code=65)
        assert f"--role {told.replace(':', ':layout=cells-box,')}" in err or f"--role {told}" in err, err
        found, _ = run("verify", "-b", "hex8", f"--role=p={kind}", path, code=1)
        assert f":{turn}" in found or f",{turn}" in found, found
        out = expand(folder, arrays, "hex8", f"--role={told}")
        run("verify", os.path.join(folder, "out.npz"))
        for t in range(12):
            rows = out["symaug_transform"] == t
            same_bits(out["state"][rows], hex8_image(planes, t), f"planes {t}")
            same_bits(out["p"][rows], form(stored_in(hex8_image(policy, t))), f"{turn} {t}")
        expand(folder, {**arrays, "p": form(policy.reshape(200, 81))}, "hex8", f"--role=p={kind}")


@tap.test(*[(board, turn, name) for board, turn in (("grid:5x9", 0), ("grid:5x9", 1), ("connect4", 1), ("connect4", 3), ("hex8", 0))
            for name in ("policy", "legal_mask", "move", "last_move")])
def test_columns(board, turn, name):
    """What is stored column by column, from any corner, beside planes row by row can only be left out."""
    rows, cols = {"grid:5x9": (5, 9), "connect4": (6, 7), "hex8": (9, 9)}[board]
    cells = np.rot90(np.arange(rows * cols).reshape(rows, cols).T, 2 * (turn == 3)) if turn != 1 else np.rot90(
        np.arange(rows * cols).reshape(rows, cols))
    stored = np.array([cell for cell in cells.flat if board != "hex8" or ON_HEX8.flat[cell]])
    planes, policy = np.zeros((300, 2, rows * cols), "f4"), np.zeros((300, rows * cols), "f4")
    for row in range(300):
        order = np.random.default_rng(row).permutation(stored)
        n = 5 + row % 20 if row > 4 else 0
        for ply, cell in enumerate(order[:n]):
            planes[row, ply % 2, cell] = 1
        policy[row, order[n:][:8 if name in ("policy", "legal_mask") else 1]] = 1
        if name == "last_move":
            policy[row] = np.eye(rows * cols)[order[n - 1]] if n > 0 else 0
    wrong = policy[:, stored]
    form = {"policy": lambda p: p / p.sum(1, keepdims=True), "legal_mask": lambda p: p > 0}.get(
        name, lambda p: np.where(p.any(1), p.argmax(1), -1))
    if board == "hex8" and name not in ("policy", "legal_mask"):
        return # those are columns of the box, or a move by the cells on board
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"state": planes.reshape(300, 2, rows, cols), name: form(wrong)}
        err = expand(folder, arrays, board, code=65)
        assert f"--role {name}=drop" in err, err
        assert name == "last_move" or ("row " in err and int(err.split("row ")[1].split(":")[0]) > 4), err
        if name != "last_move":
            out, _ = run("verify", "-b", board, os.path.join(folder, "in.npz"), code=1)
            assert "[policy-occupied]" in out and "row by row" in out, out
        assert name not in expand(folder, arrays, board, f"--role={name}=drop")
        right = policy if board != "hex8" else policy[:, ON_HEX8.ravel()]
        expand(folder, {**arrays, name: form(right)}, board)


@tap.test(*[(form, told) for form in ("codes", "planes", "one-hot") for told in (False, True)])
def test_stones_that_fall(form, told):
    """Connect 4 with its cells column by column, from below, as the best known set has them."""
    boards, random = np.zeros((120, 6, 7), "i1"), np.random.default_rng(3)
    for row in range(120):
        for ply in range(row % 20):
            col = random.choice(np.flatnonzero(boards[row, 0] == 0))
            boards[row, np.flatnonzero(boards[row, :, col] == 0).max(), col] = 1 + ply % 2
    by_columns = boards[:, ::-1].transpose(0, 2, 1).reshape(120, 42)
    code = {"codes": lambda b: b, "one-hot": lambda b: np.eye(3, dtype="f4")[b].reshape(120, -1),
            "planes": lambda b: np.concatenate([b == 1, b == 2], 1).astype("f4")}[form]
    policy = (boards[:, 0] == 0) / (boards[:, :1] == 0).sum(2)
    role = "planes:nhwc" if form == "one-hot" else "planes"
    options = [f"--role=cells={role}"] if told else []
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"cells" if told else "x": code(by_columns), "policy": policy}
        err = expand(folder, arrays, "connect4", *options, code=65)
        assert f"--role {list(arrays)[0]}=drop" in err and ("column by column" in err or form == "one-hot"), err
        run("verify", "-b", "connect4", *options, os.path.join(folder, "in.npz"), code=1)
        arrays = {"cells": code(boards.reshape(120, 42)), "policy": policy}
        out = expand(folder, arrays, "connect4", f"--role=cells={role}")
        for t in range(2):
            images = code(boards[:, :, ::-1 if t else 1].reshape(120, 42))
            same_bits(out["cells"][out["symaug_transform"] == t], images, f"cells {t}")


@tap.test("move", "best")
def test_by_cells_on_board(name):
    """Moves on a hexagon that are counted by its cells are no cells of its box."""
    on, planes, policy = np.flatnonzero(ON_HEX8), np.zeros((300, 2, 81), "f4"), np.zeros((300, 81), "f4")
    for row in range(300):
        order = np.random.default_rng(row).permutation(on)
        for ply, cell in enumerate(order[:5 + row % 40]):
            planes[row, ply % 2, cell] = 1
        policy[row, order[5 + row % 40]] = 1
    arrays = {"state": planes.reshape(300, 2, 9, 9), name: policy[:, on].argmax(1)}
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, arrays, "hex8", *([] if name == "move" else ["--role=best=action"]), code=65)
        told = f"{name}=action:layout=cells-board"
        assert f"use --role {told}" in err, err
        out = expand(folder, arrays, "hex8", "--role", told)
        for t in range(12):
            wanted = hex8_image(policy.reshape(300, 9, 9), t).reshape(300, 81)[:, on].argmax(1)
            same_bits(out[name][out["symaug_transform"] == t], wanted, f"{name} {t}")


def sparse(policy, form, order):
    """The entries above 0 of dense rows, each row's in an order of its own."""
    indices = [order.permutation(np.flatnonzero(row)) for row in policy]
    values = [row[at] for row, at in zip(policy, indices)]
    if form == "padded":
        width = max(map(len, indices)) + 2
        pad = lambda rows: np.stack([np.pad(row, (0, width - len(row))) for row in rows])
        return {"policy_indices": pad(indices), "policy_values": pad(values)}
    if form == "object":
        objects = [np.empty(len(policy), object) for _ in range(2)]
        for k in range(len(policy)):
            objects[0][k], objects[1][k] = indices[k], values[k]
        return {"policy_indices": objects[0], "policy_values": objects[1]}
    return {"policy_indices": np.concatenate(indices), "policy_values": np.concatenate(values),
            "policy_offsets": np.cumsum([0] + [len(row) for row in indices])}


def dense(out, n_cells):
    """Sparse rows of an expanded set as dense ones."""
    n = len(out["symaug_transform"])
    policy = np.zeros((n, n_cells))
    for k in range(n):
        at = slice(*out["policy_offsets"][k:k + 2]) if "policy_offsets" in out else k
        np.add.at(policy[k], out["policy_indices"][at].astype(int), out["policy_values"][at])
    return policy


@tap.test(*[(flip, form) for flip in FLIPS for form in ("padded", "object", "csr")])
def test_sparse(flip, form):
    """Sparse policies are looked at as dense ones are, in every form."""
    planes, policy = games(9, 60, "<f4")
    stored = FLIPS[flip](policy).reshape(60, 81)
    arrays = {"state": planes, **sparse(stored, form, np.random.default_rng(2))}
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, arrays, "square:9", code=65)
        assert f"--role policy_indices=policy-index:{flip}" in err, err
        assert "policy_indices" in err and " 60 of 60 rows" in err and "row 0" in err, err
        option = f"--role=policy_indices=policy-index:{flip}"
        out = expand(folder, arrays, "square:9", option)
        run("verify", "-b", "square:9", option, os.path.join(folder, "out.npz"))
        run("verify", os.path.join(folder, "out.npz"))
        found = dense(out, 81)
        for t, image in enumerate(IMAGES):
            wanted = FLIPS[flip](image(policy)).reshape(60, 81)
            same_bits(found[out["symaug_transform"] == t], wanted.astype(float), f"{flip} {t}")
        right = {"state": planes, **sparse(policy.reshape(60, 81), form, np.random.default_rng(3))}
        expand(folder, right, "square:9")
        err = expand(folder, right, "square:9", option, code=65)
        assert "--role policy_indices=policy-index" in err and "as it is it" in err, err


@tap.test("padded", "object", "csr")
def test_many_rows(form):
    """The first rows tell: what follows need not be looked at, and is no error."""
    planes, policy = games(3, 6000, "<f4")
    rows = policy.reshape(6000, 9)
    arrays = {"state": planes, **sparse(rows, form, np.random.default_rng(2))}
    with tempfile.TemporaryDirectory() as folder:
        found = dense(expand(folder, arrays, "square:3", "--transforms=0"), 9)
        same_bits(found, rows.astype(float), form)


@tap.test()
def test_few_rows():
    """What a few entries meet by chance proves nothing."""
    planes, policy = games(9, 6, "<f4", one_hot=True)
    planes[:, 0] += policy
    one_hot = policy.reshape(6, 81)
    with tempfile.TemporaryDirectory() as folder:
        for more in {"move": one_hot.argmax(1)}, sparse(one_hot, "csr", np.random.default_rng(2)):
            expand(folder, {"state": planes, **more}, "square:9")


@tap.test(*[(flip, rows) for flip in FLIPS for rows in (3, 5)])
def test_few_dense_rows(flip, rows):
    """A few policies of many moves that keep off the stones in one order only are no coincidence."""
    planes, policy = games(9, rows + 10, "<f4")
    planes, policy = planes[10:], policy[10:]
    stored = np.ascontiguousarray(FLIPS[flip](policy)).reshape(rows, -1)
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, {"state": planes, "pi": stored}, "square:9", code=65)
        assert f"--role pi=policy:{flip}" in err, err
        expand(folder, {"state": planes, "pi": policy.reshape(rows, -1)}, "square:9")


@tap.test("padded", "object", "csr")
def test_few_sparse_rows(form):
    """Seven rows of nine moves each."""
    planes, policy = games(9, 27, "<f4")
    planes, policy = planes[20:], policy[20:]
    rows = policy.reshape(7, 81)
    rows[np.argsort(np.argsort(-rows, 1), 1) >= 9] = 0
    flipped = np.ascontiguousarray(policy[:, ::-1]).reshape(7, 81)
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, {"state": planes, **sparse(flipped, form, np.random.default_rng(3))},
                     "square:9", code=65)
        assert ":flipud" in err, err
        expand(folder, {"state": planes, **sparse(rows, form, np.random.default_rng(3))}, "square:9")


@tap.test(*[(flip, share, kind, stored) for flip in FLIPS for stored in (False, True)
            for share, kind in ((0.25, "dense"), (0.5, "csr"), (0.4, "move"), (0.75, "dense"),
                                (0.7, "csr"), (0.65, "move"), (0.75, "object"))])
def test_later_part(flip, share, kind, stored):
    """Sets put together from right rows and later ones whose policies are flipped."""
    planes, policy = games(9, 3000, "<f4", one_hot=kind == "move")
    begin = int(3000 * share)
    mixed = policy.copy()
    mixed[begin:] = FLIPS[flip](policy)[begin:]
    rows = mixed.reshape(3000, 81)
    more = {"dense": lambda: {"pi": rows}, "move": lambda: {"move": rows.argmax(1)},
            "csr": lambda: sparse(rows, "csr", np.random.default_rng(4)),
            "object": lambda: sparse(rows, "object", np.random.default_rng(4))}[kind]()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        (np.savez if stored else np.savez_compressed)(path, state=planes, **more)
        for more in [], ["--order=transform"], ["--rows-per-shard=9000"], ["--pick=2"], ["-j1"]:
            out = os.path.join(folder, "out-%d.npz" if "per-shard" in str(more) else "out.npz")
            _, err = run("expand", "-b", "square:9", *more, path, out, code=65)
            assert "rows " in err and "by themselves" in err and flip in err, err
            assert os.listdir(folder) == ["in.npz"], os.listdir(folder)
        out, _ = run("verify", "-b", "square:9", path, code=1)
        assert "unlike the others" in out, out


@tap.test(*[(flip, dtype) for flip in FLIPS for dtype in ("<i8", "u1")])
def test_action_alone(flip, dtype):
    """Moves to play, without a policy."""
    planes, policy = games(9, 200, "<f4", one_hot=True)
    move = FLIPS[flip](policy).reshape(200, 81).argmax(1).astype(dtype)
    if dtype != "u1":
        move[::7] = -1
    right = policy.reshape(200, 81).argmax(1)
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, {"state": planes, "move": move}, "square:9", code=65)
        assert f"--role move=action:{flip}" in err and "row " in err, err
        out, _ = run("verify", "-b", "square:9", os.path.join(folder, "in.npz"), code=1)
        assert f"--role move=action:{flip}" in out and "[policy-occupied]" in out, out
        option = f"--role=move=action:{flip}"
        out = expand(folder, {"state": planes, "move": move}, "square:9", option)
        for t, image in enumerate(IMAGES):
            wanted = FLIPS[flip](image(policy)).reshape(200, 81).argmax(1)
            found = out["move"][out["symaug_transform"] == t]
            assert np.all((found == wanted) | (move < 0)), t
        expand(folder, {"state": planes, "move": right}, "square:9")
        expand(folder, {"state": planes, "move": right}, "square:9", option, code=65)


@tap.test(*[(n, stones, hidden) for n, stones in ((9, 12), (15, 8), (19, 6))
            for hidden in (False, True)])
def test_move_just_played(n, stones, hidden):
    """The move that led to a position stands on its stone by right, also where stones are few and
    a flip would free it, or where the planes show but one player's."""
    random = np.random.default_rng(n)
    planes, last = np.zeros((300, 4, n, n), np.float32), np.zeros(300, np.int64)
    for row in range(300):
        order = random.permutation(n * n)[:1 + row % stones]
        for ply, cell in enumerate(order):
            if not hidden or ply % 2 == 0:
                planes[row, ply % 2].flat[cell] = 1
        last[row] = order[-1]
    one_hot = np.eye(n * n, dtype=np.float32)[last]
    with tempfile.TemporaryDirectory() as folder:
        for more in ({"last_move": last}, {"action": last}, {"policy": one_hot},
                     sparse(one_hot, "padded", random)):
            expand(folder, {"state": planes, **more}, f"square:{n}")
            raw = os.path.join(folder, "in.npz")
            out, _ = run("verify", "-b", f"square:{n}", "--not-expanded", raw, code=None)
            assert "different orders" not in out, out


@tap.test("square:9", "rhombus:9", "grid:9x9")
def test_right_sets_pass(board):
    """Nothing is refused that stands right, with noise, sparse rows or none at all."""
    planes, policy = games(9, 60, "<f4", one_hot=True)
    planes = planes[:, :2]
    for rows in policy, policy + 1e-10, 0.75 * policy + 0.25 / 81, 0 * policy:
        with tempfile.TemporaryDirectory() as folder:
            expand(folder, {"state": planes, "pi": rows.astype("<f4").reshape(60, -1)}, board,
                   "--transforms=0,1")


@tap.test(*[(logits, rows) for logits in (0.2, 0.23, 0.26) for rows in (20, 200, 1000)])
def test_untrained_network(logits, rows):
    """Nearly even policies stand on stones or not by chance, in every order; peaked ones do not."""
    random = np.random.default_rng(rows)
    planes, policy = games(15, rows, "<f8")
    even = np.exp(random.normal(0, logits, (rows, 225)))
    even /= even.sum(1, keepdims=True)
    trained = 0.9 * policy.reshape(rows, 225) + 0.1 * even
    with tempfile.TemporaryDirectory() as folder:
        expand(folder, {"state": planes, "pi": even}, "gomoku15", "--transforms=0,1")
        stored = np.ascontiguousarray(trained.reshape(rows, 15, 15)[:, ::-1]).reshape(rows, 225)
        err = expand(folder, {"state": planes, "pi": stored}, "gomoku15", code=65)
        assert ":flipud" in err, err


@tap.test(("grid:4x6", "policy:rot90", 24), ("grid:4x6", "policy:anti-transpose", 24), ("connect4", "policy:flipud", 7),
          ("chess", "policy:fliplr", 1814), ("hex8", "policy:flipud", 81), ("grid:4x6", "policy:transpose", 24))
def test_refused(board, role, length):
    """Where a policy has no entry per cell of a rectangle, or no square, the option is refused."""
    shapes = {"connect4": (6, 7), "chess": (8, 8), "hex8": (9, 9), "grid:4x6": (4, 6)}
    planes = np.zeros((3, 25, *shapes[board]), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, {"state": planes, "p": np.zeros((3, length), "<f4")}, board,
                     f"--role=p={role}", code=65)
        assert "option" in err and role.split(":")[1] in err, err



@tap.test(*FLIPS, *TURNS)
def test_beside_another_layout(flip):
    """Cells in another order beside a policy of moves from a cell to another."""
    turn, n = {**FLIPS, **TURNS}[flip], 5
    board = "file:" + os.path.join(os.path.dirname(__file__), "../../share/boards/santorini.json")
    planes, cells = games(n, 60, "<f4", one_hot=True)
    policy = np.full((60, n ** 4), n ** -4.0, "f4")
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"state": planes, "policy": policy, "built": turn(cells).reshape(60, -1).argmax(1)}
        out = expand(folder, arrays, board, f"--role=built=action:{flip}")
        for t, image in enumerate(IMAGES):
            found = out["built"][out["symaug_transform"] == t]
            assert np.array_equal(found, turn(image(cells)).reshape(60, -1).argmax(1)), t


@tap.test(*FLIPS)
def test_several_heads(flip):
    """(N,k,A): each head is looked at, and flipped."""
    planes, policy = games(9, 60, "<f4")
    stored = np.ascontiguousarray(FLIPS[flip](policy)).reshape(60, 81)
    arrays = {"state": planes, "policy": np.stack([stored, stored], 1)}
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, arrays, "square:9", "--role=policy=policy", code=65)
        assert f"policy=policy:{flip}" in err, err
        out = expand(folder, arrays, "square:9", f"--role=policy=policy:{flip}")
    for t, image in enumerate(IMAGES):
        found = out["policy"][out["symaug_transform"] == t].reshape(60, 2, 9, 9)
        for head in 0, 1:
            same_bits(FLIPS[flip](found[:, head]), image(policy), f"{flip} {t} {head}")


@tap.test(*[(form, board, part) for form in ("dense", "mask", "padded", "object", "csr")
            for board in ("go9", "square:9") for part in (False, True) if form == "dense" or not part])
def test_pass_first(form, board, part):
    """A pass that comes first, and cells counted from 1, have no layout: the array can only be left out."""
    planes, policy = games(9, 2000 if part else 60, "<f4")
    right = np.pad(0.75 * policy.reshape(-1, 81), ((0, 0), (0, 1)), constant_values=0.25)
    wrong = np.roll(right, 1, 1)
    wrong[:1000 * part] = right[:1000 * part]
    told = [] if form in ("dense", "mask") else ["--role=policy_indices=policy-index:layout=cells+pass"]

    def arrays(rows):
        if form in ("dense", "mask"):
            return {"state": planes, "policy" if form == "dense" else "mask": rows if form == "dense" else rows > 0}
        return {"state": planes, **sparse(rows, form, np.random.default_rng(2))}

    with tempfile.TemporaryDirectory() as folder:
        expand(folder, arrays(right), board, *told)
        err = expand(folder, arrays(wrong), board, *told, code=65)
        if part:
            assert "rows 10" in err and "from 1" in err and "expand them by themselves" in err, err
            return
        found, _ = run("verify", "-b", board, *told, os.path.join(folder, "in.npz"), code=1)
        assert "from 1" in found and "[policy-occupied]" in found, found
        use = [word for word in err.split("or use ")[1].split() if word.endswith("=drop")]
        assert len(use) == len(arrays(right)) - 1, err
        out = expand(folder, arrays(wrong), board, *["--role=" + role for role in use])
        assert "state" in out and not any(role[:-5] in out for role in use), use


@tap.test(*[(turn, kind) for turn in ("", "flipud", "rot90") for kind in ("dense", "mask", "csr", "move", "both")
            if turn or kind != "both"])
def test_from_1(turn, kind):
    """Where cells are counted from 1, as they stand or turned: the command that is offered makes exact images."""
    place = {"": IMAGES[0], **FLIPS, **TURNS}[turn]
    planes, policy = games(9, 200, "<f4", one_hot=kind in ("move", "both"))
    stored = lambda grid: np.pad(place(grid).reshape(len(grid), 81), ((0, 0), (1, 0)))
    rows = stored(policy)
    more = {"dense": lambda: {"pi": rows}, "mask": lambda: {"legal": rows > 0}, "move": lambda: {"move": rows.argmax(1)},
            "both": lambda: {"move": rows.argmax(1), "pi": rows},
            "csr": lambda: sparse(rows, "csr", np.random.default_rng(2))}[kind]()
    told = {"csr": ["--role=policy_indices=policy-index:layout=cells+pass"],
            "move": ["--role=move=action:layout=cells+pass"]}.get(kind, [])
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, {"state": planes, **more}, "square:9", *told, code=65)
        roles = [word for word in err.split("use --role")[1].split() if "=" in word]
        roles = ["--role=" + role.rstrip(",") for role in roles]
        assert len(roles) == 1 + (kind == "both") and all(role.endswith((turn + ",from1").strip(",")) for role in roles), err
        out = expand(folder, {"state": planes, **more}, "square:9", *roles)
        run("verify", os.path.join(folder, "out.npz"))
        run("verify", "-b", "square:9", "--not-expanded", *roles, os.path.join(folder, "in.npz"))
        run("show", "--row", "9", "--color", "never", os.path.join(folder, "out.npz"))
        for t, image in enumerate(IMAGES):
            at, wanted = out["symaug_transform"] == t, stored(image(policy))
            for name in set(out) & {"pi", "legal", "move"}:
                same_bits(out[name][at], {"pi": wanted, "legal": wanted > 0, "move": wanted.argmax(1)}[name], f"{name} {t}")
            if kind == "csr":
                assert np.array_equal(dense(out, 82)[at], wanted), t


@tap.test(*[(first, last, name, policy) for first, last in ((0, 6), (0, 5), (1, 7), (1, 6), (0, 7))
            for name in ("move", "best") for policy in (False, True) if not policy or (first, last) != (1, 6)])
def test_columns(first, last, name, policy):
    """Columns that may be counted from 1 are moved when their role says from where."""
    moves = np.resize(np.arange(first, last + 1), 12)
    arrays = {"state": np.zeros((12, 2, 6, 7), "f4"), name: moves, **({"pi": np.full((12, 7), 1 / 7)} if policy else {})}
    from_0 = first == 0 and last < 7
    with tempfile.TemporaryDirectory() as folder:
        if not (from_0 and name == "move"):
            err = expand(folder, arrays, "connect4", code=65)
            role = "action" if from_0 else "action:layout=columns,from1" if (first, last) == (1, 7) else "drop"
            assert err.split()[-1] == f"{name}={role}" and (from_0 or name == "best" or "from1" in err), err
            if from_0 or last == 7:
                assert name in expand(folder, arrays, "connect4", f"--role={name}={role}") or role == "drop"
        for base, option in [(6, "")] * (last < 7) + [(8, ",from1")] * (first > 0):
            told = [f"--role={name}=action:layout=columns{option}"]
            out = expand(folder, arrays, "connect4", *told)
            same_bits(out[name][out["symaug_transform"] == 1], base - moves, option)
        if first > 0 or last > 6:  # beside a policy of cells they are cells
            arrays["pi"] = np.full((12, 42), 1 / 42)
            out = expand(folder, arrays, "connect4", *([] if name == "move" else [f"--role={name}=action"]))
            same_bits(out[name][out["symaug_transform"] == 1], moves // 7 * 7 + 6 - moves % 7, "cells")


if __name__ == "__main__":
    tap.main()
