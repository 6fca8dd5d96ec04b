#!/usr/bin/python3
"""--rows-per-shard: the shards one after another are the whole output, cut where they should be."""

import glob
import json
import os
import tempfile
import zipfile

import numpy as np

from golden import Tap, load, run, same_bits

tap = Tap()


def gomoku(n, n_empty=0, seed=7):
    """Random positions, n_empty of them without a stone: their images are all alike."""
    random = np.random.default_rng(seed)
    cells = random.integers(0, 3, (n, 81))
    cells[:n_empty] = 0
    policy = (random.random((n, 81)) * (cells == 0)).astype(np.float32)
    policy[:n_empty] = 1
    policy /= policy.sum(axis=1, keepdims=True)
    state = np.stack([cells == 1, cells == 2], axis=1).astype(np.float32).reshape(n, 2, 9, 9)
    return {"state": state, "policy": policy, "value": random.random(n).astype(np.float32)}


def sparse(n, form, seed=8):
    """Policies as padded rows, as offsets, or as pickled lists."""
    random = np.random.default_rng(seed)
    arrays = gomoku(n)
    del arrays["policy"]
    rows = [np.sort(random.choice(81, random.integers(1, 9), False)).astype(np.int32)
            for _ in range(n)]
    values = [random.random(len(row)).astype(np.float32) for row in rows]
    if form == "objects":
        for name, of in (("policy_indices", rows), ("policy_values", values)):
            arrays[name] = np.empty(n, dtype=object)
            for i, row in enumerate(of):
                arrays[name][i] = row
    elif form == "padded":
        for name, of in (("policy_indices", rows), ("policy_values", values)):
            arrays[name] = np.zeros((n, 9), dtype=of[0].dtype)
            for i, row in enumerate(of):
                arrays[name][i, : len(row)] = row
    else:
        arrays["policy_offsets"] = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
        arrays["policy_indices"], arrays["policy_values"] = map(np.concatenate, (rows, values))
    return arrays


def shards_of(folder, arrays, *options, inputs=1):
    """The shards of an output, and the same output in one piece."""
    paths = []
    for i, part in enumerate(np.array_split(np.arange(len(arrays["value"])), inputs)):
        paths.append(os.path.join(folder, f"in{i}.npz"))
        one = arrays if inputs == 1 else {key: array[part] for key, array in arrays.items()}
        np.savez_compressed(paths[-1], **one)
    cut = [i for i, option in enumerate(options) if option.startswith("--rows-per-shard")]
    rest = [option for i, option in enumerate(options) if i not in cut]
    run("expand", "-q", "-b", "square:9", *options, "-o", os.path.join(folder, "cut.npz"), *paths)
    run("expand", "-q", "-b", "square:9", *rest, "-o", os.path.join(folder, "one.npz"), *paths)
    names = sorted(glob.glob(os.path.join(folder, "cut-*.npz")))
    assert [os.path.basename(n) for n in names] == [f"cut-{i:05}.npz" for i in range(len(names))]
    return names, load(os.path.join(folder, "one.npz"))


def check_joined(names, whole):
    parts = [load(name) for name in names]
    for key, array in whole.items():
        found = np.concatenate([part[key] for part in parts])
        if key == "policy_offsets":
            ends = np.cumsum([0] + [part[key][-1] for part in parts])
            found = np.concatenate([part[key][bool(i):] + end
                                    for i, (part, end) in enumerate(zip(parts, ends))])
        same_bits(found, array, key)
    return [len(part["value"]) for part in parts]


CUTS = {  # rows of 8 images each: what 400 rows per shard come to for 150 input rows
    "--order=block:16": [384, 384, 384, 48],
    "--order=block:7": [392, 392, 392, 24],
    "--order=sample": [400, 400, 400],
    "--order=transform": [400, 400, 400],
    "--shuffle": [400, 400, 400],
    "--pick=3": [384, 66],
    "--order=block:100": [800, 400],
}


@tap.test(*[(option, threads) for option in CUTS for threads in (1, 3)])
def test_cut(option, threads):
    with tempfile.TemporaryDirectory() as folder:
        names, whole = shards_of(folder, gomoku(150), option, "--rows-per-shard=400",
                                 f"-j{threads}")
        assert check_joined(names, whole) == CUTS[option]
        out, _ = run("verify", "-b", "square:9", *names)
        assert ": 0 errors" in out


@tap.test(("x%03d.npz", "x000.npz", "x001.npz"), ("%01d", "0", "1"), ("a.%05d.b", "a.00000.b", "a.00001.b"),
          ("x%d.npz", "x%d-00000.npz", "x%d-00001.npz"),
          ("50%.npz", "50%-00000.npz", "50%-00001.npz"), ("%03d%d.npz", "%03d%d-00000.npz", "%03d%d-00001.npz"),
          ("%s.npz", "%s-00000.npz", "%s-00001.npz"))
def test_template(out, *expected):
    """The number of a shard stands where the name says."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez(path, **gomoku(20))
        os.mkdir(os.path.join(folder, "50%d"))  # only the last part of a path counts
        run("expand", "-q", "-b", "square:9", "--rows-per-shard=128", "-o",
            os.path.join(folder, "50%d", out), path)
        found = [n for n in sorted(os.listdir(os.path.join(folder, "50%d"))) if "manifest" not in n]
        assert found == list(expected), found


@tap.test("--order=transform", "--shuffle", "--order=block:16")
def test_without_provenance(option):
    """verify does not miss images that another shard holds."""
    with tempfile.TemporaryDirectory() as folder:
        names, whole = shards_of(folder, gomoku(150), option, "--rows-per-shard=400",
                                 "--no-provenance")
        check_joined(names, whole)
        run("verify", "-b", "square:9", *names)


@tap.test(1, 100, 399, "two blocks")
def test_unique(size):
    """A shard ends with the block in which it reaches the size, also when that is its last row."""
    with tempfile.TemporaryDirectory() as folder:
        arrays = gomoku(150, 50)
        if size == "two blocks":
            names, _ = shards_of(folder, arrays, "--unique", "--rows-per-shard=1")
            size = sum(len(load(name)["value"]) for name in names[:2])
            for name in os.listdir(folder):
                os.remove(os.path.join(folder, name))
        names, whole = shards_of(folder, arrays, "--unique", f"--rows-per-shard={size}")
        block = whole["symaug_source"] // 16
        ends = np.flatnonzero(np.diff(block)) + 1
        wanted, begin = [], 0
        for end in [*ends, len(block)]:
            if end - begin >= size or end == len(block):
                wanted.append(end - begin)
                begin = end
        assert check_joined(names, whole) == [n for n in wanted if n > 0]


@tap.test(*[(form, option) for form in ("padded", "csr", "objects")
            for option in ("--order=block:16", "--order=transform", "--shuffle")])
def test_sparse(form, option):
    with tempfile.TemporaryDirectory() as folder:
        names, whole = shards_of(folder, sparse(60, form), option, "--rows-per-shard=130")
        assert len(names) > 3
        check_joined(names, whole)


@tap.test("--order=block:16", "--shuffle")
def test_several_inputs(option):
    """Blocks run across inputs; memory for tables is shared and may run out."""
    with tempfile.TemporaryDirectory() as folder:
        names, whole = shards_of(folder, gomoku(150), option, "--rows-per-shard=300",
                                 "--max-memory=20k", inputs=4)
        check_joined(names, whole)


@tap.test("[('a', '<i4'), ('b', '<f4')] [('b', '<f4'), ('a', '<i4')]", "'<M8[s]' '<M8[ms]'",
          "'<c8' '<f8'", "'<c8' '>c8'", "'<m8[s]' '<M8[s]'")  # fmt: skip
def test_types_of_inputs(types):
    """Bytes that mean different things are not joined under one type, however long they are."""
    first, second = (eval(text) for text in types.replace("] [", "]|[").replace("' '", "'|'").split("|"))
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.npz", "b.npz")]
        for path, code in zip(paths, (first, second)):
            np.savez(path, extra=np.zeros(20, code), **gomoku(20))
        out = os.path.join(folder, "out.npz")
        _, text = run("expand", "-b", "square:9", "-o", out, *paths, code=65)
        assert "extra" in text and "another type" in text, text
        run("expand", "-q", "-b", "square:9", "-o", out, paths[0], paths[0])


@tap.test()
def test_damage_at_the_end():
    """No shard is written before the whole input is known to be sound."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(path, **gomoku(150))
        with zipfile.ZipFile(path) as npz:
            info = npz.getinfo("state.npy")
            at = info.header_offset + 30 + len("state.npy") + info.file_size
        with open(path, "r+b") as file:
            file.seek(at - 4)
            file.write(b"\x01\x02\x03\x04")
        for option in ("--order=block:16", "--shuffle"):
            _, text = run("expand", "-b", "square:9", option, "--rows-per-shard=64", path, out,
                          code=65)
            assert "state.npy" in text and "CRC" in text, text
            assert os.listdir(folder) == ["in.npz"]


@tap.test()
def test_skip_existing():
    """Only what is missing is made again."""
    with tempfile.TemporaryDirectory() as folder:
        names, whole = shards_of(folder, gomoku(150), "--rows-per-shard=128")
        kept, lost = names[0], names[3]
        before = os.stat(kept).st_mtime_ns
        with open(lost, "rb") as file:
            content = file.read()
        os.remove(lost)
        run("expand", "-q", "-b", "square:9", "--rows-per-shard=128", "--skip-existing",
            os.path.join(folder, "in0.npz"), os.path.join(folder, "cut.npz"))
        assert os.stat(kept).st_mtime_ns == before
        with open(lost, "rb") as file:
            assert file.read() == content
        check_joined(names, whole)


@tap.test()
def test_manifests():
    with tempfile.TemporaryDirectory() as folder:
        names, _ = shards_of(folder, gomoku(150), "--rows-per-shard=384")
        rows = 0
        for name in names:
            with open(name + ".manifest.json", encoding="utf-8") as file:
                manifest = json.load(file)
            rows += manifest["counts"]["rows_out"]
            assert manifest["options"]["rows-per-shard"] == "384"
            assert manifest["counts"]["rows_in"] == 150
            assert manifest["counts"]["images_left_out"] == 0
            run("manifest", "check", name + ".manifest.json")
        assert rows == 1200


@tap.test("npy-dir", "npy")
def test_other_forms(form):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        arrays = {"state": gomoku(20)["state"]} if form == "npy" else gomoku(20)
        np.savez(path, **arrays)
        out = os.path.join(folder, "out.npy" if form == "npy" else "out")
        run("expand", "-q", "-b", "square:9", "--role=state=planes", "--format", form,
            "--rows-per-shard=128", path, out)
        found = sorted(name for name in os.listdir(folder) if name.startswith("out"))
        stem = ["out-00000.npy", "out-00001.npy"] if form == "npy" else ["out-00000", "out-00001"]
        assert found == sorted(stem + [name + ".manifest.json" for name in stem])


@tap.test(("stored",), ("deflated",), ("stored", "--rows-per-shard", 4096),
          ("deflated", "--rows-per-shard", 4096), ("stored", "--transforms", "1"),
          ("stored", "--shuffle"))
def test_wrong_data(form, *options):
    """Data that is not what its CRC says is found before an output stands under its name, also when
    outputs come out long before the end of the input is read."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        (np.savez if form == "stored" else np.savez_compressed)(source, **gomoku(8000))
        with zipfile.ZipFile(source) as archive:
            right = archive.getinfo("policy.npy").CRC.to_bytes(4, "little")
        with open(source, "rb") as file:
            data = file.read()
        assert data.count(right) == 2  # beside the member and in the directory
        with open(source, "wb") as file:
            file.write(data.replace(right, bytes([right[0] ^ 1]) + right[1:]))
        _, err = run("expand", "-q", "--board", "square:9", *options, source, out, code=65)
        assert "policy.npy: expected CRC" in err, err
        assert len(os.listdir(folder)) == 1, sorted(os.listdir(folder))[:4]


if __name__ == "__main__":
    tap.main()
