"""The expansion as someone in a hurry would write it with numpy: buffers made once, np.take into
them, members streamed into the archive at level 6.

usage: careful.py SET IN.npz OUT.npz
"""
import sys
import zipfile

import numpy as np

import naive
import sets

CHUNK = 256


def take_rows(array, src, out):
    np.take(array, src, axis=-1, out=out, mode="clip")


def write_gathered(f, array, about, maps, swaps_planes):
    flat = array.reshape(len(array), -1, len(maps[0]))
    buffer = np.empty((CHUNK,) + flat.shape[1:], dtype=array.dtype)
    for t, src in enumerate(maps):
        for first in range(0, len(flat), CHUNK):
            rows = flat[first:first + CHUNK]
            out = buffer[:len(rows)]
            take_rows(rows, src, out)
            if swaps_planes and t in about["swap"]:
                out[:, :2] = out[:, 1::-1].copy()
                np.subtract(1, out[:, 2], out=out[:, 2])
            f.write(out.data)


def write_images(f, kind, array, about):
    for t in range(len(about["cells"])):
        for first in range(0, len(array), CHUNK):
            rows = naive.image(kind, array[first:first + CHUNK], about, t)
            f.write(np.ascontiguousarray(rows).data)


def write_array(f, key, array, about):
    kind = about["kinds"].get(key)
    n_images = len(about["cells"])
    if array.ndim == 0 or array.dtype == object:
        if array.ndim > 0:
            array = np.concatenate([naive.image(kind, array, about, t) for t in range(n_images)])
        np.lib.format.write_array(f, array, allow_pickle=True)
        return
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False,
              "shape": (len(array) * n_images,) + array.shape[1:]}
    np.lib.format.write_array_header_1_0(f, header)
    if kind == "planes":
        write_gathered(f, array, about, about["cells"], True)
    elif kind == "policy":
        write_gathered(f, array, about, about["policy"], False)
    else:
        write_images(f, kind, array, about)


def main(name, path_in, path_out):
    about = sets.describe(name)
    with np.load(path_in, allow_pickle=True) as shard, \
            zipfile.ZipFile(path_out, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for key in shard.files:
            with archive.open(key + ".npy", "w", force_zip64=True) as f:
                write_array(f, key, shard[key], about)


if __name__ == "__main__":
    main(*sys.argv[1:4])
