"""The maps of the boards the benchmark uses, from the definitions of the games alone.

src(board) gives for each transform the cell every cell is taken from; action maps likewise.
"""
import numpy as np


def _inverse(dst):
    src = np.empty_like(dst)
    src[dst] = np.arange(len(dst), dtype=dst.dtype)
    return src


def square(n):
    r, c = np.divmod(np.arange(n * n), n)
    m = n - 1
    ends = [(r, c), (c, m - r), (m - r, m - c), (m - c, r),
            (r, m - c), (m - r, c), (c, r), (m - c, m - r)]
    return [_inverse(a * n + b) for a, b in ends]


def rhombus(n):
    r, c = np.divmod(np.arange(n * n), n)
    m = n - 1
    return [_inverse(a * n + b) for a, b in [(r, c), (m - r, m - c), (c, r), (m - c, m - r)]]


def _hexagon_ends(q, r):
    """Where (q, r) goes under each of the twelve transforms."""
    ends = []
    for turns in range(6):
        ends.append((q, r))
        q, r = -r, q + r
    return ends + [(b, a) for a, b in ends]


def hexagon_box(radius):
    """Cells of the box, and which are on the board."""
    side = 2 * radius + 1
    y, x = np.divmod(np.arange(side * side), side)
    q, r = x - radius, y - radius
    return side, q, r, np.maximum(np.maximum(abs(q), abs(r)), abs(q + r)) <= radius


def hexagon_dst(radius):
    side, q, r, on = hexagon_box(radius)
    maps = []
    for a, b in _hexagon_ends(q, r):
        dst = np.arange(side * side)
        dst[on] = ((b + radius) * side + a + radius)[on]
        maps.append(dst)
    return maps


def hexagon(radius):
    return [_inverse(dst) for dst in hexagon_dst(radius)]


def ringrift_dst(radius):
    """Placements (cell, count), then movements (cell, direction, distance), then one other."""
    side, _, _, on = hexagon_box(radius)
    n_cells, reach = side * side, side - 1
    directions = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]
    maps = []
    for t, cells in enumerate(hexagon_dst(radius)):
        ends = [_hexagon_ends(*d)[t] for d in directions]
        turn = np.array([directions.index(e) for e in ends])
        dst = np.arange(3 * n_cells + 6 * n_cells * reach + 1)
        cell, count = np.divmod(np.arange(3 * n_cells), 3)
        place = on[cell]
        dst[:3 * n_cells][place] = (cells[cell] * 3 + count)[place]
        index = np.arange(6 * n_cells * reach)
        cell, direction, distance = index // (6 * reach), index // reach % 6, index % reach
        move = on[cell]
        to = 3 * n_cells + (cells[cell] * 6 + turn[direction]) * reach + distance
        dst[3 * n_cells:-1][move] = to[move]
        maps.append(dst)
    return maps


def with_pass(maps):
    return [np.append(m, len(m)) for m in maps]


def inverse(maps):
    return [_inverse(np.asarray(m)) for m in maps]
