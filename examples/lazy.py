#!/usr/bin/python3
"""Images of a shard without expanding it: row i * T + t is image t of row i, made when asked for.

    lazy.py SHARD BOARD PLANES POLICY    prints a checksum of every image

As a module: Images(arrays, "gomoku15", "state", "policy")[i] gives planes and policy.
"""

import ctypes
import ctypes.util
import sys
import zlib

import numpy as np

LIB = ctypes.CDLL(ctypes.util.find_library("symaug") or "libsymaug.so.1")
MAP = ctypes.POINTER(ctypes.c_uint32)
for name, result, *arguments in (
    ("symaug_board_new", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t),
    ("symaug_board_free", None, ctypes.c_void_p),
    ("symaug_board_cells", ctypes.c_uint32, ctypes.c_void_p),
    ("symaug_board_transforms", ctypes.c_uint32, ctypes.c_void_p),
    ("symaug_transform_swaps_colours", ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32),
    ("symaug_cell_src", MAP, ctypes.c_void_p, ctypes.c_uint32),
    ("symaug_actions_new", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64,
     ctypes.c_char_p, ctypes.c_size_t),
    ("symaug_actions_free", None, ctypes.c_void_p),
    ("symaug_actions_src", MAP, ctypes.c_void_p, ctypes.c_uint32),
):
    getattr(LIB, name).restype, getattr(LIB, name).argtypes = result, arguments


def tables(board_name, n_actions):
    """Where each cell and each action of an image comes from, for every transform."""
    why = ctypes.create_string_buffer(200)
    board = LIB.symaug_board_new(board_name.encode(), why, len(why))
    if not board:
        raise ValueError(why.value.decode())
    actions = LIB.symaug_actions_new(board, None, n_actions, why, len(why))
    if not actions:
        LIB.symaug_board_free(board)
        raise ValueError(why.value.decode())
    # Colour swaps would also exchange planes and labels: left out here.
    ids = [t for t in range(LIB.symaug_board_transforms(board))
           if not LIB.symaug_transform_swaps_colours(board, t)]
    n_cells = LIB.symaug_board_cells(board)
    cells = [LIB.symaug_cell_src(board, t)[:n_cells] for t in ids]
    policy = [LIB.symaug_actions_src(actions, t)[:n_actions] for t in ids]
    LIB.symaug_actions_free(actions)
    LIB.symaug_board_free(board)
    return np.array(cells), np.array(policy)


class Images:
    def __init__(self, arrays, board_name, planes, policy):
        self.planes, self.policy = arrays[planes], arrays[policy]
        self.cells, self.actions = tables(board_name, self.policy.shape[1])

    def __len__(self):
        return len(self.planes) * len(self.cells)

    def __getitem__(self, i):
        row, t = divmod(i, len(self.cells))
        planes = self.planes[row]
        moved = planes.reshape(len(planes), -1)[:, self.cells[t]].reshape(planes.shape)
        return moved, self.policy[row][self.actions[t]]


if __name__ == "__main__":
    shard, board, *names = sys.argv[1:]
    images = Images(dict(np.load(shard)), board, *names)
    for i in range(len(images)):
        x, pi = images[i]
        print(i, f"{zlib.crc32(x.tobytes()):08x} {zlib.crc32(pi.tobytes()):08x}")
