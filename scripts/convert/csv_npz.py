#!/usr/bin/python3
"""Tables to shards and back: csv_npz.py IN.csv OUT.npz, or csv_npz.py IN.npz OUT.csv.

A column NAME becomes an array (N,), columns NAME_0, NAME_1, ... an array (N, k), as Take It Easy's
datasets have them: game_id,turn,plateau_0..plateau_18,tile_0..tile_2,position,final_score.
"""

import csv
import re
import sys

import numpy as np


def group(header):
    """{array: its columns}."""
    columns = {}
    for i, name in enumerate(header):
        part = re.fullmatch(r"(.+)_(\d+)", name)
        array = part[1] if part and (part[2] == "0" or part[1] in columns) else name
        place = int(part[2]) if array != name else 0
        if place != len(columns.setdefault(array, [])):
            sys.exit(f"csv_npz.py: column {name} is there twice or not in order")
        columns[array].append(i)
    return columns


def numbers(texts):
    """Whole numbers where all are, else floats."""
    try:
        found = np.array([[int(text) for text in row] for row in texts], np.int64)
        small = not found.size or np.abs(found).max() < 2**31
        return found.astype(np.int32) if small else found
    except ValueError:
        return np.array(texts, np.float64)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            sys.exit(f"csv_npz.py: {path}: line {number} has {len(row)} of {len(header)} columns")
    arrays = {}
    for name, columns in group(header).items():
        found = numbers([[row[i] for i in columns] for row in rows]).reshape(len(rows), -1)
        single = header[columns[0]] == name
        arrays[name] = found.reshape(len(rows)) if single else found
    return arrays


def write_csv(path, arrays):
    rows = max(len(array) for array in arrays.values() if array.ndim)
    flat = {name: array for name, array in arrays.items() if array.ndim and len(array) == rows}
    header = []
    for name, array in flat.items():
        width = array.reshape(rows, -1).shape[1] if rows else int(np.prod(array.shape[1:]))
        header += [name] if array.ndim == 1 else [f"{name}_{i}" for i in range(width)]
    with open(path, "x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        parts = [array.reshape(rows, -1) for array in flat.values()]
        for i in range(rows):
            writer.writerow([x for part in parts for x in part[i].tolist()])


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1].endswith(".npz") == sys.argv[2].endswith(".npz"):
        sys.exit(__doc__)
    if sys.argv[2].endswith(".npz"):
        arrays = read_csv(sys.argv[1])
        with open(sys.argv[2], "xb") as out:
            np.savez(out, **arrays)
    else:
        with np.load(sys.argv[1]) as shard:
            write_csv(sys.argv[2], dict(shard))
