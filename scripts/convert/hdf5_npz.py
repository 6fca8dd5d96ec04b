#!/usr/bin/python3
"""HDF5 files to shards and back: hdf5_npz.py IN.h5 OUT.npz, or hdf5_npz.py IN.npz OUT.h5.

A dataset is an array of the same name; datasets in groups are named GROUP.NAME. Datasets of
variable length (a sparse policy's indices) become object arrays. Needs python3-h5py.
"""

import os
import sys

import h5py
import numpy as np


def read_dataset(dataset):
    if h5py.check_string_dtype(dataset.dtype):
        return np.array(dataset.asstr()[()], dtype=str)
    kind = h5py.check_vlen_dtype(dataset.dtype)
    if kind is None:
        return np.asarray(dataset[()])
    rows = np.empty(len(dataset), object)
    for i, row in enumerate(dataset):
        rows[i] = np.asarray(row, kind)
    return rows


def read_hdf5(path):
    arrays = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            arrays[name.replace("/", ".")] = read_dataset(item)

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return arrays


def write_array(file, name, array):
    if array.dtype.kind == "U":
        file.create_dataset(name, data=array.astype(object), dtype=h5py.string_dtype())
    elif array.dtype != object:
        file.create_dataset(name, data=array)
    elif array.ndim == 1 and len({row.dtype for row in array}) == 1:
        rows = file.create_dataset(name, array.shape, h5py.vlen_dtype(array[0].dtype))
        for i, row in enumerate(array):
            rows[i] = row
    else:
        print(f"hdf5_npz.py: {name}: objects without a common type: left out", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1].endswith(".npz") == sys.argv[2].endswith(".npz"):
        sys.exit(__doc__)
    if os.path.exists(sys.argv[2]):
        sys.exit(f"hdf5_npz.py: {sys.argv[2]} exists")
    if sys.argv[2].endswith(".npz"):
        np.savez(sys.argv[2], **read_hdf5(sys.argv[1]))
    else:
        # allow_pickle: for shards of one's own only; unpickling executes what is in the file.
        with np.load(sys.argv[1], allow_pickle=True) as shard, h5py.File(sys.argv[2], "x") as file:
            for key in shard.files:
                write_array(file, key, shard[key])
