#!/usr/bin/python3
"""`symaug show`: its pictures byte by byte, and what is to be seen in their pixels, held against
rotations and reflections that are written down here once more."""

import os
import re
import subprocess
import tempfile

import numpy as np

import golden
import png
from golden import Tap, data

tap = Tap()

MARK, RING, BLACK, BLUE, RED = "#7b2cbf", "#e00000", "#2b2d33", "#2f6fbe", "#d1495b"
CELLS = "#f3efe4"


def show(*arguments, **environment):
    """The SVG document, as bytes."""
    done = subprocess.run([golden.SYMAUG, "show", *map(str, arguments), "-o", "-"],
                          capture_output=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def save(folder, name="in.npz", **arrays):
    path = os.path.join(folder, name)
    np.savez(path, **arrays)
    return path


def crop(pixels):
    """The picture alone, without titles and legend."""
    return pixels[110:-72]


# --- bytes ---


# (board, row, further options); the documents are in tests/data/show.
GOLDENS = {
    "connect4": ("connect4", 12),
    "chess": ("chess", 20, "--transforms", "1"),
    "takeiteasy": ("takeiteasy", 12, "--tiles", "permute", "--transforms", "0,1"),
    "katago": ("katago:7", 12, "--transforms", "0,1"),
    "square8": ("square8", 12, "--transforms", "1,6"),
    "rhombus": ("rhombus:3", 3),
    "triangle": ("file:tests/data/boards/triangle.json", 3),
}


def draw(name, folder, **environment):
    board, row, *options = GOLDENS[name]
    path = os.path.join(folder, name + ".npz")
    if not os.path.exists(path):
        golden.run("sample", "--board", board, "--rows", 60, path)
    return show("--board", board, "--row", row, *options, path, **environment)


@tap.test(*GOLDENS)
def test_bytes(name):
    with tempfile.TemporaryDirectory() as folder:
        found = draw(name, folder)
        with open(data(f"show/{name}.svg"), "rb") as file:
            assert found == file.read(), f"{name}.svg is not what it was: look at it anew"
        assert draw(name, folder, OMP_NUM_THREADS="7", LC_ALL="de_DE.UTF-8", COLUMNS="30",
                    NO_COLOR="1") == found


@tap.test()
def test_readme():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["scripts/pictures", golden.SYMAUG, folder], check=True)
        with open("README.md", encoding="utf-8") as file:
            readme = file.read()
        for name in sorted(os.listdir(folder)):
            kept = f"share/pictures/{name}"
            with open(os.path.join(folder, name), "rb") as new, open(kept, "rb") as old:
                assert new.read() == old.read(), f"{kept} is out of date: make pictures"
            assert f"({kept})" in readme, f"README.md does not show {kept}"
        assert sorted(os.listdir(folder)) == sorted(os.listdir("share/pictures"))


# --- pixels ---


def rotation(degrees):
    """Clockwise, as y grows downwards."""
    a = np.radians(degrees)
    return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])


def reflection(degrees):
    """Leaves the direction of so many degrees where it is."""
    a = np.radians(2 * degrees)
    return np.array([[np.cos(a), np.sin(a)], [np.sin(a), -np.cos(a)]])


def hexagon_turn(t):
    return rotation(60 * t) if t < 6 else reflection(30) @ rotation(60 * (t - 6))


def square_turn(t):
    return [rotation(0), rotation(90), rotation(180), rotation(270), reflection(90),
            reflection(0), reflection(45), reflection(135)][t]


def overlap(points, others):
    """The share of points that have one of the others within a pixel and a half."""
    return np.mean([np.min(np.abs(others - p).max(axis=1)) <= 1.5 for p in points])


def middle_of_board(pixels):
    cells = png.find(pixels, CELLS, 3)
    return (cells.min(axis=0) + cells.max(axis=0)) / 2


def seen(path, board, t):
    """Where a picture's stone and its mark are, measured from the middle of the board."""
    pixels = crop(png.render(show("--board", board, "--row", 0, "--transforms", t, path)))
    middle = middle_of_board(pixels)
    return [png.find(pixels, colour) - middle for colour in (BLACK, MARK)]


@tap.test(("hex8", 9, 12), ("square:7", 7, 8))
def test_turns(board, side, n):
    turn = hexagon_turn if n == 12 else square_turn
    with tempfile.TemporaryDirectory() as folder:
        planes = np.zeros((1, 2, side, side), np.float32)
        planes[0, 0, 1, 5] = 1
        path = save(folder, planes=planes)
        stone, mark = seen(path, board, 0)
        assert len(stone) > 100 and len(mark) > 100
        for t in range(1, n):
            image, image_mark = seen(path, board, t)
            middle = turn(t) @ stone.mean(axis=0)
            assert np.abs(image.mean(axis=0) - middle).max() < 2, f"stone of {t}"
            moved = mark @ turn(t).T
            assert overlap(moved, image_mark) > 0.95, f"mark of {t}"
            for other in range(n):
                if other == t:
                    continue
                assert overlap(mark @ turn(other).T, image_mark) < 0.9, f"{t} looks like {other}"
            inverse = np.linalg.inv(turn(t))
            if np.abs(inverse - turn(t)).max() > 1e-6:
                wrong = inverse @ stone.mean(axis=0)
                assert np.abs(image.mean(axis=0) - wrong).max() > 10, f"{t} is its inverse"


def above_board(points, middle, cells):
    """How many lie above the board, far from its corners."""
    return np.sum((np.abs(points[:, 0] - middle[0]) < 40) & (points[:, 1] < cells[:, 1].min() + 2))


def left_of_board(points, middle, cells):
    """How many lie left of the board, far from its corners."""
    line = cells[np.abs(cells[:, 1] - middle[1]) < 6]
    near = np.abs(points[:, 1] - middle[1]) < 6
    return np.sum(near & (points[:, 0] < line[:, 0].min() + 2))


@tap.test()
def test_goals():
    """Blue on top, red to the left, in every image; stones change colour in two of them."""
    with tempfile.TemporaryDirectory() as folder:
        planes = np.zeros((1, 3, 5, 5), np.float32)
        planes[0, 0, 2, 1] = 1
        planes[0, 2] = 1
        path = save(folder, planes=planes)
        for t in range(4):
            pixels = crop(png.render(show("--board", "rhombus:5", "--row", 0, "--transforms", t,
                                          path)))
            cells = png.find(pixels, CELLS, 3)
            blue, red = png.find(pixels, BLUE), png.find(pixels, RED)
            middle = (cells.min(axis=0) + cells.max(axis=0)) / 2
            above, beside = ([where(points, middle, cells) for points in (blue, red)]
                             for where in (above_board, left_of_board))
            assert above[0] > 50 and above[1] == 0, f"top of {t}: {above}"
            assert beside[0] == 0 and beside[1] > 5, f"left side of {t}: {beside}"
            stones = [np.sum(np.abs(points - middle).max(axis=1) < 60) for points in (blue, red)]
            assert (stones[0] > stones[1]) == (t < 2), f"stone of {t}: {stones}"


@tap.test(*[(flip, form) for flip in ("flipud", "fliplr", "transpose")
            for form in ("policy", "policy-index", "action")])
def test_flipped(flip, form):
    """A policy told to be stored in another order is drawn on the cells that it is about."""
    turned = {"flipud": lambda a: a[:, ::-1], "fliplr": lambda a: a[:, :, ::-1],
              "transpose": lambda a: a.swapaxes(1, 2)}[flip]
    planes, policy = np.zeros((1, 2, 5, 5), np.float32), np.zeros((1, 5, 5))
    planes[0, 0, 0, 3] = planes[0, 1, 4, 4] = 1
    policy[0, 1, 2], policy[0, 3, 0] = 0.75, 0.25
    documents, numbers = [], []
    with tempfile.TemporaryDirectory() as folder:
        for rows, option in (policy, ""), (turned(policy), f":{flip}"):
            rows = rows.reshape(1, 25)
            indices = np.argsort(-rows, 1)[:, :2]
            arrays = {"policy": {"p": rows}, "action": {"p": indices[:, 0]},
                      "policy-index": {"p": indices,
                                       "v": np.take_along_axis(rows, indices, 1)}}[form]
            told = [f"--role=p={form}{option}"]
            told += ["--role=v=policy-value"] if form == "policy-index" else []
            path = save(folder, planes=planes, **arrays)
            documents.append(show("--board", "square:5", "--row", 0, "--transforms=0,1", *told, path))
            numbers.append(indices[0, 0])
    if form == "action": # the number is written as it is stored
        documents = [document.replace(b"p %d<" % number, b"p<")
                     for document, number in zip(documents, numbers)]
    else:
        assert b"(1,2) 75%" in documents[0], documents[0]
    assert documents[0] == documents[1]


# --- stored images ---


def ring_centres(pixels, unit):
    """Middles of the rings: clusters of red pixels that are closer than a cell."""
    points, centres = list(png.find(pixels, RING, 60)), []
    while points:
        near = [p for p in points if np.abs(p - points[0]).max() <= unit]
        near = [p for p in points if np.abs(p - np.mean([np.min(near, 0), np.max(near, 0)], 0)).max()
                <= 0.6 * unit]
        centres.append((np.min(near, 0) + np.max(near, 0)) / 2)
        points = [p for p in points if not any((p == q).all() for q in near)]
    return centres


@tap.test()
def test_rings():
    """An expanded set whose policy was left where it was in one image: rings there, on the cell that
    has a policy and on the one that should."""
    with tempfile.TemporaryDirectory() as folder:
        planes, policy = np.zeros((8, 2, 5, 5), np.float32), np.zeros((8, 25), np.float32)
        for i in range(8):
            planes[i, 0, i // 5, i % 5] = planes[i, 1, 2, 4] = 1
        policy[:, 13] = 1  # (2,3) goes to (3,2) under a rotation by 90 degrees
        source = save(folder, planes=planes, policy=policy)
        good = golden.expand(source, "--board", "square:5")
        path = save(folder, "good.npz", **good)
        row = np.flatnonzero((good["symaug_source"] == 3) & (good["symaug_transform"] == 1))[0]
        document = show("--board", "square:5", "--row", row, path)
        assert b'href="#r"' not in document
        assert not len(png.find(crop(png.render(document)), RING, 60))

        broken = {key: value.copy() for key, value in good.items()}
        broken["policy"][row] = policy[0]
        path = save(folder, "broken.npz", **broken)
        document = show("--board", "square:5", "--row", row, "--transforms", "0,2", path)
        assert b'href="#r"' not in document
        document = show("--board", "square:5", "--row", row, "--transforms", "1", path)
        assert b"differs: policy" in document
        pixels = crop(png.render(document))
        cells = png.find(pixels, CELLS, 3)
        unit = (np.ptp(cells[:, 0]) + 1) / 5
        expected = sorted((cells[:, 0].min() + (c + 0.5) * unit, cells[:, 1].min() + (r + 0.5) * unit)
                          for r, c in ((2, 3), (3, 2)))
        found = sorted(map(tuple, ring_centres(pixels[: int(cells[:, 1].max()) + 2], unit)))
        assert len(found) == 2, found
        assert np.abs(np.array(found) - np.array(expected)).max() < 3, (found, expected)


@tap.test()
def test_stored_codes():
    """Images of codes whose colours are swapped are found where only the rows tell of them."""
    rng = np.random.default_rng(9)
    codes = np.zeros((60, 7, 7), np.int8)
    for grid in codes:
        cells = rng.permutation(49)[:16]
        grid.flat[cells] = np.arange(16) % 2 + 1
    with tempfile.TemporaryDirectory() as folder:
        options = ["--board", "rhombus:7", "--role", "codes=grid"]
        source = save(folder, codes=codes, value=rng.random(60).astype(np.float32))
        found = golden.expand(source, *options, "--order", "sample", "--no-provenance")
        path = save(folder, "out.npz", **found)
        assert b"4 images" in show(*options, "--row", 5, path)


def captions(svg):
    return re.findall(r'<text class="c"[^>]*>([^<]*)</text>', svg.decode())


@tap.test()
def test_ties():
    """Of equal shares the same ones are named in every image."""
    with tempfile.TemporaryDirectory() as folder:
        policy = np.zeros((1, 25), np.float32)
        policy[0, [3, 7, 9, 12, 16, 20]] = 1 / 6
        path = save(folder, boards=np.zeros((1, 3, 5, 5), np.float32), policy=policy,
                    value=np.zeros(1, np.float32))
        svg = show("--board", "rhombus:5", "--value", "colour01", "--row", 0, path)
        cells = [re.findall(r"\((\d),(\d)\)", line) for line in captions(svg) if "(" in line]
        cells = [[(int(r), int(c)) for r, c in line] for line in cells]
        turns = [lambda r, c: (r, c), lambda r, c: (4 - r, 4 - c), lambda r, c: (c, r),
                 lambda r, c: (4 - c, 4 - r)]
        assert cells == [[t(r, c) for r, c in cells[0]] for t in turns], cells
        # The shares on the cells are those of the captions.
        places = re.findall(r'<text class="[pq]" x="([-\d.]+)" y="([-\d.]+)">17%', svg.decode())
        assert len(places) == 12
        places = [[(float(x), float(y)) for x, y in places[k:k + 3]] for k in range(0, 12, 3)]
        middle = np.array(places[0]) + np.array(places[1])[::-1]
        assert np.ptp(middle, axis=0).max() < 0.2, middle


@tap.test()
def test_looks():
    """Coordinates beside the boards, checkered squares with chessmen, lines and points for Go."""
    with tempfile.TemporaryDirectory() as folder:
        def draw_of(board, *options):
            path = os.path.join(folder, "s.npz")
            golden.run("sample", "-q", "-f", "--board", board, "--rows", 30, path)
            return show("--board", board, "--row", 20, *options, path).decode()

        svg = draw_of("chess")
        axis = re.findall(r'<text class="a"[^>]*>([^<]*)</text>', svg)
        assert sorted(set(axis)) == sorted("abcdefgh12345678"), axis
        assert "\u265a" in svg and ">K<" not in svg and 'id="k"' in svg
        svg = draw_of("go19")
        assert svg.count('class="a"') >= 38 and 'id="k"' in svg
        assert re.search(r'id="k"[^/]*/?>', svg) and "<circle id=\"h\"" in svg
        assert svg.count('href="#h"') % 9 == 0 and 'href="#h"' in svg
        svg = draw_of("katago:9")
        assert re.search(r"(black|white) to move, win 0|(black|white) to move, win 1", svg), captions(
            svg.encode())


@tap.test("packed", "planes")
def test_stacks(role):
    """As many planes as RingRift's hold heights of stacks; bits hold none."""
    with tempfile.TemporaryDirectory() as folder:
        planes = np.zeros((2, 56, 64), np.uint8)
        planes[:, 0, 9] = planes[:, 1, 20] = 1
        state = np.packbits(planes, axis=2) if role == "packed" else planes.reshape(2, 56, 8, 8)
        path = save(folder, state=state)
        svg = show("--board", "square:8", "--role", f"state={role}", "--row", 0, path)
        assert svg.count(b'href="#s') == 16
        assert svg.count(b'class="n"') == (0 if role == "packed" else 16)


@tap.test()
def test_small_cells():
    """On a board of many cells no label lies on a stone."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.npz")
        golden.run("sample", "--board", "hexagon:12", "--rows", 60, path)
        for row in 20, 40, 55:
            svg = show("--board", "hexagon:12", "--row", row, path).decode()
            unit = float(re.search(r'<circle id="s0" r="([\d.]+)"', svg).group(1)) / 0.4
            for picture in svg.split('href="#b"')[1:]:
                stones = re.findall(r'href="#s\d" x="([-\d.]+)" y="([-\d.]+)"', picture)
                for x, y, text in re.findall(
                        r'<text class="[pq]" x="([-\d.]+)" y="([-\d.]+)">([^<]*)<', picture):
                    for sx, sy in stones:
                        dx, dy = abs(float(x) - float(sx)), abs(float(y) - float(sy))
                        assert dx > 2.3 * len(text) or dy > 0.4 * unit, (row, text)


@tap.test()
def test_dense_differences():
    """A policy that differs a little everywhere has rings where it differs most."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "s.npz"), os.path.join(folder, "o.npz")
        golden.run("sample", "--board", "hex11", "--rows", 30, path)
        golden.run("expand", "-q", "--board", "hex11", path, out)
        arrays = dict(golden.load(out))
        at = np.flatnonzero(arrays["symaug_source"] == 5)[1]
        policy = arrays["policy"] + np.float32(1e-5)
        arrays["policy"][at] = policy[at]
        arrays["policy"][at, 60] += 0.2
        svg = show("--board", "hex11", "--row", at, save(folder, **arrays)).decode()
        assert svg.count('href="#r"') == 1, svg.count('href="#r"')
        assert "both colours" not in svg
        arrays["boards"][at, :2, 3, 3] = 1
        svg = show("--board", "hex11", "--row", at, save(folder, **arrays)).decode()
        assert "both colours" in svg


@tap.test()
def test_no_colour():
    """NO_COLOR takes the colours away, and leaves the stones."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s.npz")
        golden.run("sample", "--board", "go9", "--rows", 30, path)
        done = subprocess.run([golden.SYMAUG, "show", "--board", "go9", "--row", "20", path],
                              capture_output=True, text=True, check=True,
                              env={**os.environ, "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "xterm"})
        assert "\u25cf" in done.stdout and "\033" not in done.stdout


if __name__ == "__main__":
    tap.main()
