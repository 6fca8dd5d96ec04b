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
        told.append(f"--role=legal_mask=mask:{flip}")
        out = expand(folder, arrays, "square:9", *told)
        assert np.all(out["pi"].argmax(1) == out["move"])
        same_bits(out["legal_mask"], out["pi"] > 0, "mask")
        err = expand(folder, {**arrays, "pi": policy.reshape(40, -1)}, "square:9", *told, code=65)
        assert "--role pi=policy" in err and f"--role pi=policy:{flip}" not in err, err


@tap.test("square:9", "rhombus:9", "grid:9x9")
def test_right_sets_pass(board):
    """Nothing is refused that stands right, with noise, sparse rows or none at all."""
    planes, policy = games(9, 60, "<f4", one_hot=True)
    planes = planes[:, :2]
    for rows in policy, policy + 1e-10, 0.75 * policy + 0.25 / 81, 0 * policy:
        with tempfile.TemporaryDirectory() as folder:
            expand(folder, {"state": planes, "pi": rows.astype("<f4").reshape(60, -1)}, board,
                   "--transforms=0,1")


@tap.test(("connect4", "policy:flipud", 7), ("chess", "policy:fliplr", 1814),
          ("hex8", "policy:flipud", 81), ("grid:4x6", "policy:transpose", 24))
def test_refused(board, role, length):
    """Where a policy has no entry per cell of a rectangle, or no square, the option is refused."""
    shapes = {"connect4": (6, 7), "chess": (8, 8), "hex8": (9, 9), "grid:4x6": (4, 6)}
    planes = np.zeros((3, 25, *shapes[board]), np.float32)
    with tempfile.TemporaryDirectory() as folder:
        err = expand(folder, {"state": planes, "p": np.zeros((3, length), "<f4")}, board,
                     f"--role=p={role}", code=65)
        assert "option" in err and role.split(":")[1] in err, err



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


if __name__ == "__main__":
    tap.main()
