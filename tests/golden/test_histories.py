#!/usr/bin/python3
"""Histories: rows of T frames, each with the planes of one position, channels first or last. Images
of Hex have the colours of every frame exchanged; what is not certain of them is refused."""

import os
import tempfile

import numpy as np

from golden import Tap, load, run, same_bits

from package import symaug

tap = Tap()
SIZE = 8
ROWS = 9
FRAMES = 4
# By id: how the cells move, and whether colours swap.
HEX = [(lambda x: x, False), (lambda x: x[..., ::-1, ::-1], False),
       (lambda x: x.swapaxes(-1, -2), True),
       (lambda x: x.swapaxes(-1, -2)[..., ::-1, ::-1], True)]  # fmt: skip
SQUARE = [(lambda x: x, False), (lambda x: np.rot90(x, -1, (-2, -1)), False),
          (lambda x: np.rot90(x, 2, (-2, -1)), False), (lambda x: np.rot90(x, 1, (-2, -1)), False),
          (lambda x: x[..., ::-1], False), (lambda x: x[..., ::-1, :], False),
          (lambda x: x.swapaxes(-1, -2), False),
          (lambda x: x.swapaxes(-1, -2)[..., ::-1, ::-1], False)]  # fmt: skip


def games(mover="", oldest_first=False, rows=ROWS):
    """Frames of blue, red, to move; `mover`: of own and other stones, those of the frame's player or
    of the present one. And a policy off the stones."""
    random = np.random.default_rng(11)
    x = np.zeros((rows, FRAMES, 3, SIZE, SIZE))
    policy = np.zeros((rows, SIZE * SIZE), np.float32)
    for row in range(rows):
        cells, now = random.permutation(SIZE * SIZE), FRAMES + row
        for frame in range(FRAMES):
            ply = now - frame
            for k in range(ply):
                x[row, frame, k % 2].flat[cells[k]] = 1
            x[row, frame, 2] = ply % 2
            if mover and (ply if mover == "frame" else now) % 2:
                x[row, frame, :2] = x[row, frame, 1::-1].copy()
        policy[row, cells[now : now + 3]] = 0.5, 0.25, 0.25
    return x[:, ::-1] if oldest_first else x, policy


def image(x, policy, t, exchanged=(1, 0, 2), turn=2, group=HEX):
    """Frames of planes (N,T,C,H,W) and policies under t; plane i goes to exchanged[i]."""
    move, swaps = group[t]
    moved = move(x)
    if swaps:
        out = np.empty_like(moved)
        out[:, :, list(exchanged)] = moved
        if turn is not None:
            out[:, :, turn] = 1 - out[:, :, turn]
        moved = out
    return moved, move(policy.reshape(-1, SIZE, SIZE)).reshape(policy.shape)


def first(x):
    return x


def last(x):
    return np.moveaxis(x, 2, -1)


# name, how frames are stored, the role's options
FORMS = {
    "first": (first, ""),
    "last": (last, ""),
    "last said": (last, ":nhwc"),
    "said": (first, ":nchw,frames=4"),
    "side by side": (lambda x: x.reshape(len(x), -1, SIZE, SIZE), ":frames=4"),
    "last side by side": (
        lambda x: np.moveaxis(x.reshape(len(x), -1, SIZE, SIZE), 1, -1), ":nhwc,frames=4"),
    "flat": (lambda x: x.reshape(len(x), -1), ":frames=4"),
    "flat last": (lambda x: last(x).reshape(len(x), -1), ":nhwc,frames=4"),
}  # fmt: skip


def check(arrays, board, options, group, images):
    """Expand, verify with its manifest and without, dedupe; images in Python. images(t): arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path, out, once = (os.path.join(folder, x) for x in ("in.npz", "out.npz", "once.npz"))
        np.savez(path, **arrays)
        run("expand", "-q", "-b", board, *options, path, out)
        made = load(out)
        for t in range(len(group)):
            for key, wanted in images(t).items():
                same_bits(made[key][made["symaug_transform"] == t], wanted, f"{key} under {t}")
        run("verify", "-q", out)
        run("dedupe", "-q", out, "-o", once)
        assert len(load(once)["policy"]) == len(arrays["policy"]), "one row for each orbit"
        os.remove(out + ".manifest.json")
        run("verify", "-q", "-b", board, *options, out)
        run("show", "-q", "-b", board, *options, path, "--row", "1")
        run("report", "-q", "-b", board, *options, path, "-o", os.path.join(folder, "r.html"))
    said = {}
    for name, value in zip(options[::2], options[1::2]):
        said[name.removeprefix("--").replace("-", "_")] = value
    maker = symaug.Augmenter(arrays, board, **said)
    rows = np.arange(len(arrays["policy"]))
    for t in range(len(group)):
        found = maker.images(rows, np.full(len(rows), t))
        for key, wanted in images(t).items():
            same_bits(found[key], wanted, f"{key} under {t} in Python")


@tap.test(*[(form, dtype) for form in FORMS for dtype in ("<f4", ">f8", "|u1")])
def test_hex(form, dtype):
    store, options = FORMS[form]
    x, policy = games()
    x = x.astype(dtype)
    values = np.linspace(0, 1, ROWS, dtype=np.float32)

    def images(t):
        planes, moves = image(x, policy, t)
        return {"boards": store(planes), "policy": moves,
                "value": 1 - values if HEX[t][1] else values}  # fmt: skip

    check({"boards": store(x), "policy": policy, "value": values}, f"rhombus:{SIZE}",
          ["--role", f"boards=planes{options}", "--planes", "colour"], HEX, images)  # fmt: skip


@tap.test(*[(form, case) for form in ("first", "last", "flat last") for case in range(6)])
def test_planes(form, case):
    """Planes of a frame in other orders, of the mover, without a turn, and oldest first."""
    store, options = FORMS[form]
    order, said, exchanged, turn, mover, oldest = [
        ((2, 0, 1), "~0,2,1", (0, 2, 1), 0, "", False),
        ((0, 1), "colour", (1, 0), None, "", False),
        ((0, 1), "1,0", (1, 0), None, "", True),
        ((0, 1, 2), "mover", (0, 1, 2), 2, "frame", True),
        ((0, 1, 2), "mover", (0, 1, 2), 2, "now", False),
        ((0, 1, 2), "mover", (0, 1, 2), 2, "now", True),
    ][case]
    x, policy = games(mover, oldest)
    x = x[:, :, list(order)].astype(np.float32)

    def images(t):
        planes, moves = image(x, policy, t, exchanged, turn)
        return {"boards": store(planes), "policy": moves}

    check({"boards": store(x), "policy": policy}, f"rhombus:{SIZE}",
          ["--role", f"boards=planes{options}", "--planes", said], HEX, images)  # fmt: skip


@tap.test(*FORMS)
def test_square(form):
    store, options = FORMS[form]
    x, policy = games()
    x = x.astype(np.float32)

    def images(t):
        planes, moves = image(x, policy, t, group=SQUARE)
        return {"boards": store(planes), "policy": moves}

    check({"boards": store(x), "policy": policy}, f"square:{SIZE}",
          ["--role", f"boards=planes{options}"], SQUARE, images)  # fmt: skip


@tap.test("msb", "lsb", "bitboards")
def test_packed(form):
    """Frames of bits: stones alone."""
    x, policy = games()
    bits = x[:, :, :2].astype(np.uint8)

    def store(planes):
        flat = planes.reshape(len(planes), -1, SIZE * SIZE)
        packed = np.packbits(flat, -1, "big" if form == "msb" else "little")
        return packed if form != "bitboards" else packed.view("<u8")[..., 0]

    def images(t):
        planes, moves = image(bits, policy, t, (1, 0), None)
        return {"boards": store(planes), "policy": moves}

    options = ":frames=4" if form == "bitboards" else f":{form},frames=4"
    check({"boards": store(bits), "policy": policy}, f"rhombus:{SIZE}",
          ["--role", f"boards=packed{options}", "--planes", "1,0"], HEX, images)  # fmt: skip


def mutate(planes, t, what):
    """(N,T,C,H,W) of the images under transform 3, made wrong."""
    wrong = planes.copy()
    rows = np.flatnonzero(t == 3)
    if what == "frame flipped":
        wrong[rows, 1] = wrong[rows, 1, ..., ::-1]
    elif what == "frames swapped":
        wrong[rows, 0], wrong[rows, 2] = planes[rows, 2], planes[rows, 0]
    elif what == "colours kept":
        wrong[rows, 3, :2] = planes[rows, 3, 1::-1]
    elif what == "turn kept":
        wrong[rows, 2, 2] = 1 - planes[rows, 2, 2]
    elif what == "frame not moved":
        wrong[rows, 1] = wrong[t == 0, 1]
    return wrong


@tap.test(*[(what, form, bare) for form in ("first", "last", "flat") for bare in (False, True)
            for what in ("frame flipped", "frames swapped", "colours kept", "turn kept",
                         "frame not moved")])  # fmt: skip
def test_verify(what, form, bare):
    store, options = FORMS[form]
    x, policy = games(rows=24)
    options = ["-b", f"rhombus:{SIZE}", "--role", f"boards=planes{options}", "--planes", "colour"]
    with tempfile.TemporaryDirectory() as folder:
        path, out = (os.path.join(folder, x) for x in ("in.npz", "out.npz"))
        np.savez(path, boards=store(x), policy=policy)
        run("expand", "-q", *options, path, out)
        made, wrong = load(out), os.path.join(folder, "wrong.npz")
        t = made["symaug_transform"]
        images = np.concatenate([image(x, policy, k)[0] for k in range(4)])
        order = np.lexsort((t, made["symaug_source"]))
        planes = np.empty_like(images)
        planes[order] = images.reshape(4, 24, *images.shape[1:]).swapaxes(0, 1).reshape(images.shape)
        same_bits(store(planes), made["boards"], "the oracle's order")
        made["boards"] = store(mutate(planes, t, what))
        if bare:
            del made["symaug_transform"], made["symaug_source"]
        np.savez(wrong, **made)
        found, _ = run("verify", *options, wrong, code=1)
    assert "orbit-planes" in found or (what == "turn kept" and "to-move" in found) or (
        what == "colours kept" and "colours-not-swapped" in found), found  # fmt: skip
    assert "boards" in found, found


def refused(arrays, *options, board=f"rhombus:{SIZE}"):
    """What is said, and what the command that is offered leads to."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = (os.path.join(folder, x) for x in ("in.npz", "out.npz"))
        np.savez(path, **arrays)
        _, said = run("expand", "-b", board, *options, path, out, code=65)
        assert not os.path.exists(out)
        offered = said.rpartition("use: symaug expand")[2].replace("'", "").split()
        made = None
        if offered and offered != [said]:
            run(*["expand", "-q", *offered], code=None)
            made = load(out) if os.path.exists(out) else None
    return said, made


@tap.test("first", "last")
def test_undecided(form):
    """What is certain is offered; what is not is named."""
    store, _ = FORMS[form]
    x, policy = games()
    own, _ = games("now")
    for planes, flag, exchanged in (x, "--planes colour", (1, 0, 2)), (own, "--planes mover", (0, 1, 2)):
        said, made = refused({"boards": store(planes), "policy": policy})
        assert f"--role boards=planes {flag}" in said, said
        wanted, _ = image(planes, policy, 3, exchanged)
        same_bits(made["boards"][made["symaug_transform"] == 3], store(wanted), flag)
    for planes in x[:, :, :2], x[:, :, [2, 0, 1]]:
        said, made = refused({"boards": store(planes), "policy": policy})
        assert made is None and "must be told" in said and "--planes colour" in said, said
    said, _ = refused({"boards": store(x[:, :, [2, 0, 1]]), "policy": policy},
                      "--role", "boards=planes", "--planes", "colour")  # fmt: skip
    assert "use --planes ~0,2,1" in said, said
    for other, planes in ("mover", x), ("colour", own):
        said, _ = refused({"boards": store(planes), "policy": policy}, "--role", "boards=planes",
                          "--planes", other)  # fmt: skip
        assert f"--planes {other} rules out" in said, said
    said, made = refused({"boards": store(x[:, :, :2]), "policy": policy}, board=f"square:{SIZE}")
    assert "--role boards=planes" in said and len(made["boards"]) == 8 * ROWS, said


@tap.test()
def test_frames_that_do_not_fit():
    x, policy = games()
    for options in ":frames=5", ":frames=3", ":frames=24":
        said, _ = refused({"boards": x, "policy": policy}, "--role", f"boards=planes{options}",
                          "--planes", "colour")  # fmt: skip
        assert "frames" in said, said
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, boards=x, policy=policy)
        for wrong in "frames=0", "frames=-1", "frames=", "frames=x", "frames=99999999999999999999":
            _, said = run("expand", "-b", "hex11", "--role", f"boards=planes:{wrong}", path, "o.npz",
                          code=64)  # fmt: skip
            assert "frames=N" in said, said


@tap.test("first", "last", "flat")
def test_frames_of_zeros(form):
    """Before the first move: an empty board over and over has images, no position has none."""
    store, options = FORMS[form]
    x, policy = games()
    x[2, 2:] = 0
    arrays = {"boards": store(x), "policy": policy}
    said, _ = refused(arrays, "--role", f"boards=planes{options}", "--planes", "colour")
    assert "row 2: frames of zeros" in said and ",positions then" in said, said
    role = said.partition("use --role ")[2].split(" ")[0]
    check(arrays, f"rhombus:{SIZE}", ["--role", role, "--planes", "colour"], HEX,
          lambda t: {"boards": store(image(x, policy, t)[0])})  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path, out = (os.path.join(folder, x) for x in ("in.npz", "out.npz"))
        np.savez(path, **arrays)
        run("expand", "-q", "-b", f"rhombus:{SIZE}", "--transforms=0,1", "--planes", "colour",
            "--role", f"boards=planes{options}", path, out)  # fmt: skip
    x[2, 3:] = 0
    x[2, 2] = x[2, 1]
    arrays["boards"] = store(x)
    check(arrays, f"rhombus:{SIZE}", ["--role", f"boards=planes{options}", "--planes", "colour"], HEX,
          lambda t: {"boards": store(image(x, policy, t)[0])})  # fmt: skip


if __name__ == "__main__":
    tap.main()
