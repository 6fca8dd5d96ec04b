"""The expansion as a user would write it: index, collect, concatenate, save.

usage: naive.py SET IN.npz OUT.npz
"""
import sys

import numpy as np

import sets


def image(kind, array, about, t):
    if kind == "planes":
        n, c = array.shape[:2]
        flat = array.reshape(n, c, -1)[:, :, about["cells"][t]]
        if t in about["swap"]:
            flat = flat[:, [1, 0, 2]]
            flat[:, 2] = 1 - flat[:, 2]
        return flat.reshape(array.shape)
    if kind == "policy":
        return array[..., about["policy"][t]]
    if kind == "bits":
        bits = np.unpackbits(array, axis=2)[:, :, :361][:, :, about["cells"][t]]
        return np.packbits(bits, axis=2)
    if kind == "indices":
        dst = about["dst"][t]
        if array.dtype != object:
            return dst[array].astype(array.dtype) * (array != 0)
        moved = np.empty(len(array), dtype=object)
        for i, row in enumerate(array):
            moved[i] = dst[row].astype(row.dtype)
        return moved
    if kind == "complement" and t in about["swap"]:
        return 1 - array
    return array


def main(name, path_in, path_out):
    about = sets.describe(name)
    n_images = len(about["cells"])
    result = {}
    with np.load(path_in, allow_pickle=True) as shard:
        for key in shard.files:
            array = shard[key]
            if array.ndim == 0:
                result[key] = array
                continue
            kind = about["kinds"].get(key)
            result[key] = np.concatenate([image(kind, array, about, t) for t in range(n_images)])
    np.savez_compressed(path_out, **result)


if __name__ == "__main__":
    main(*sys.argv[1:4])
