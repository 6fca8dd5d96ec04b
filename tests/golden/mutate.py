#!/usr/bin/python3
"""mutate.py [N [SEED]] - change one thing of an expanded set, N times; verify must find each.

A change of an element of any array with rows: one bit, the sign, an index, or two rows of an array
exchanged. What leaves a set that is the exact orbit of some source is no fault, and not counted: two
rows that are equal, and, of boards with two transforms, the two images of a source: each is the
image of the other, so that exchanged they are the orbit of another source.
"""

import sys

import numpy as np

from verify_cases import SETS, Set


def flip_bit(rng, s, array):
    row = int(rng.integers(len(array)))
    flat = np.ascontiguousarray(array[row : row + 1]).view(np.uint8).reshape(-1)
    if len(flat) == 0:
        return None
    bit = int(rng.integers(8 * len(flat)))
    if array.dtype == bool:
        bit -= bit % 8
    changed = flat.copy()
    changed[bit // 8] ^= 1 << (bit % 8)
    array[row : row + 1] = changed.view(array.dtype).reshape((1,) + array.shape[1:])
    return f"bit {bit} of row {row}"


def swap_rows(rng, s, array):
    a, b = (int(i) for i in rng.integers(len(array), size=2))
    if len(s.ids) == 2 and s.rows_of[a] == s.rows_of[b]:
        return None
    if np.array_equal(array[a], array[b]) if array.dtype != object else same_objects(array[a], array[b]):
        return None
    first, second = array[a], array[b]
    if array.dtype != object:
        first, second = first.copy(), second.copy()
    array[a], array[b] = second, first
    return f"rows {a} and {b} exchanged"


def same_objects(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b))


def change_sign(rng, s, array):
    if array.dtype.kind != "f":
        return None
    places = np.flatnonzero(array.reshape(-1))
    if len(places) == 0:
        return None
    place = int(rng.choice(places))
    array.reshape(-1)[place] *= -1
    return f"sign of element {place}"


def change_index(rng, s, array):
    if array.dtype == object:
        row = int(rng.integers(len(array)))
        item = array[row]
        if not isinstance(item, np.ndarray) or item.size == 0 or item.dtype.kind != "i":
            return None
        item = item.copy()
        place = int(rng.integers(item.size))
        item[place] += 1
        array[row] = item
        return f"index {place} of row {row}"
    if array.dtype.kind not in "iu":
        return None
    place = int(rng.integers(array.size))
    array.reshape(-1)[place] += 1
    return f"element {place} plus one"


MUTATIONS = [flip_bit, swap_rows, change_sign, change_index]


def mutate_all(original, n, seed, report=None):
    """Make n changes, one at a time; AssertionError lists those that verify did not find."""
    rng = np.random.default_rng(seed)
    missed = []
    done = 0
    while done < n:
        s = original.copy()
        keys = [k for k, v in s.arrays.items() if v.ndim > 0 and len(v) == s.n_rows and v.size]
        key = keys[int(rng.integers(len(keys)))]
        mutation = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
        if s.arrays[key].dtype == object and mutation in (flip_bit, change_sign):
            continue
        if key == "symaug_transform" and len(s.ids) == 2:
            continue  # of two images each may be called the source of the other
        s.arrays[key] = s.arrays[key].copy()
        what = mutation(rng, s, s.arrays[key])
        if what is None:
            continue
        done += 1
        codes, _ = s.verify()
        if report is not None:
            report(f"{s.name}: {key}: {what}: {', '.join(sorted(codes)) or 'NOT FOUND'}")
        if not codes:
            missed.append(f"{key}: {what}")
    assert not missed, f"{len(missed)} of {n} not found: {missed}"


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failed = 0
    for i, name in enumerate(SETS):
        share = n * (i + 1) // len(SETS) - n * i // len(SETS)
        try:
            mutate_all(Set(name), share, seed + i, print)
        except AssertionError as error:
            failed = 1
            print(f"{name}: {error}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
