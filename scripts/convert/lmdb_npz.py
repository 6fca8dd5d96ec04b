#!/usr/bin/python3
"""LMDB databases to shards and back: lmdb_npz.py IN.lmdb OUT.npz, or lmdb_npz.py IN.npz OUT.lmdb.

An entry of the database is a row: its key orders it, its value is an .npz of the row's arrays.
Arrays without rows go into the entry `meta`. Nothing is pickled. Needs python3-lmdb.
"""

import io
import os
import sys

import lmdb
import numpy as np

META = b"meta"


def pack(arrays):
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def unpack(value):
    with np.load(io.BytesIO(value)) as row:
        return dict(row)


def read_lmdb(path):
    with lmdb.open(path, readonly=True, lock=False, subdir=os.path.isdir(path)) as database:
        with database.begin() as transaction:
            meta = transaction.get(META)
            rows = [unpack(value) for key, value in transaction.cursor() if key != META]
    if not rows:
        sys.exit(f"lmdb_npz.py: {path} has no rows")
    arrays = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return {**arrays, **(unpack(meta) if meta else {})}


def write_lmdb(path, arrays):
    rows = max(len(array) for array in arrays.values() if array.ndim)
    by_row = {name: array for name, array in arrays.items() if array.ndim and len(array) == rows}
    meta = {name: array for name, array in arrays.items() if name not in by_row}
    size = sum(array.nbytes for array in arrays.values())
    with lmdb.open(path, map_size=4 * size + rows * (4096 + 1024 * len(arrays)) + 2**20) as database:
        with database.begin(write=True) as transaction:
            if meta:
                transaction.put(META, pack(meta))
            for i in range(rows):
                transaction.put(b"%010d" % i, pack({k: a[i] for k, a in by_row.items()}))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1].endswith(".npz") == sys.argv[2].endswith(".npz"):
        sys.exit(__doc__)
    if os.path.exists(sys.argv[2]):
        sys.exit(f"lmdb_npz.py: {sys.argv[2]} exists")
    if sys.argv[2].endswith(".npz"):
        np.savez(sys.argv[2], **read_lmdb(sys.argv[1]))
    else:
        with np.load(sys.argv[1]) as shard:
            write_lmdb(sys.argv[2], dict(shard))
