#!/usr/bin/python3
"""seeds.py FOLDER - make FOLDER/TARGET/ for every fuzz target, from tests/data and share/boards."""

import glob
import io
import os
import sys
import zipfile

import numpy as np

MAX_NBYTES = 8192


def put(folder, target, name, content):
    os.makedirs(os.path.join(folder, target), exist_ok=True)
    with open(os.path.join(folder, target, name), "wb") as file:
        file.write(content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def shards():
    """(name, bytes) of shards that are small enough to be changed quickly."""
    paths = sorted(glob.glob("tests/data/bad/*.np[yz]") + glob.glob("tests/data/seeds/*_in.npz"))
    paths += ["tests/data/ringrift/sample_hex8_edge.npz", "tests/data/pickle/ringrift_like.np124.npz",
              "tests/data/katago/writer_L8_in.npz"]  # fmt: skip
    for path in paths:
        content = read(path)
        if len(content) <= MAX_NBYTES:
            yield os.path.basename(path), content
    rng = np.random.default_rng(1)
    for form, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        out = io.BytesIO()
        sizes = [3, 0, 2]
        indices, values = np.empty(3, object), np.empty(3, object)
        for i, n in enumerate(sizes):
            indices[i] = rng.integers(0, 81, n).astype("<i4")
            values[i] = np.full(n, 1 / max(n, 1), "<f4")
        save(out, features=rng.integers(0, 2, (3, 2, 9, 9)).astype("|u1"), values=np.zeros(3, "<f4"),
             policy_indices=indices, policy_values=values, board_type=np.array("square9"),
             fortran=np.asfortranarray(np.arange(12.0).reshape(3, 4)))  # fmt: skip
        yield f"made-{form}.npz", out.getvalue()


def headers(folder):
    for name, content in shards():
        if name.endswith(".npy"):
            put(folder, "header", name, content[:256])
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for i, member in enumerate(archive.namelist()[:4]):
                    put(folder, "header", f"{name}-{i}", archive.read(member)[:512])
        except Exception:  # a broken shard is no source of headers
            pass
    for descr in ("[('a', '<f4'), ('b', '|u1', (2,))]", "'|V2'", "'<U4'"):
        text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (3, 2), }}".encode()
        text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
        put(folder, "header", descr[1:4].strip("(' |<"),
            b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text)  # fmt: skip


def pickles(folder):
    for path in sorted(glob.glob("tests/data/pickle/*.pkl")):
        content = read(path)
        if len(content) > MAX_NBYTES:
            continue
        for n in (0, 1, 2, 3, 4, 6):
            put(folder, "pickle", f"{os.path.basename(path)}-{n}", bytes([n]) + content)


def codec(folder):
    rng = np.random.default_rng(1)
    data = [bytes(3000), b"ab" * 900, rng.integers(0, 2, 2400).astype("|u1").tobytes(),
            np.repeat(rng.integers(0, 2, 90), 9).astype("<f4").tobytes(), rng.bytes(500),
            rng.random(300).astype("<f4").tobytes()]  # fmt: skip
    for i, content in enumerate(data):
        for number in range(9):
            settings = bytes([number, 5, 2, 80, 9, 5, 3, 10 + 40 * (i % 3)])
            put(folder, "codec", f"{i}-{number}", settings + content)
    for item, n_items in ((4, 25), (8, 11)):  # images of two rows, four transforms, in blocks
        rows = rng.random((5, 1, 2, n_items)).astype(f"<f{item}") * (rng.random((5, 1, 2, n_items)) < 0.7)
        images = np.concatenate([rows[..., rng.permutation(n_items)] for _ in range(4)], axis=1)
        settings = bytes([4, 0, item // 4 + 1, 0, n_items, 2, 16, 255])
        put(folder, "codec", f"images-{item}", settings + images.astype(f"<f{item}").tobytes())


def main(folder):
    headers(folder)
    pickles(folder)
    codec(folder)
    boards = {".npz": (1, 3), "hex8": (2,), "ringrift": (2,), "hex13": (3,), "chess": (4,), "L8": (5,)}
    for name, content in shards():
        put(folder, "zip", name, content)
        for key, numbers in boards.items():
            for number in numbers if key in name else ():
                put(folder, "verify", f"{name}-{number}", bytes([number]) + content)
    for path in glob.glob("share/boards/*.json") + glob.glob("tests/data/boards/*.json"):
        put(folder, "board", os.path.basename(path), read(path))
    for name, text in (
        ("two", '{"name":"two","cells":2,"transforms":[{"name":"swap","dst":[1,0]}]}'),
        ("planes", '{"cells":2,"planes":2,"actions":2,"transforms":[{"name":"s","dst":[1,0],'
                   '"planes":[1,0],"actions":[1,0],"swaps_colours":true}]}'),
    ):  # fmt: skip
        put(folder, "board", name, text.encode())


if __name__ == "__main__":
    main(sys.argv[1])
