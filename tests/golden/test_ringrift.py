#!/usr/bin/python3
"""RingRift shards: every member of the expansion, bit for bit, against the published transforms."""

import numpy as np

from golden import Tap, by_image, data, expand, load, same_bits

tap = Tap()

# (sample, board, planes as they must be, indices as they must be, images)
SAMPLES = {
    "hex8": ("features_clean", "policy_indices", 12),
    "hexagonal": ("features_clean", "policy_indices", 12),
    "square8": ("features_reference", "policy_indices_reference", 8),
}


def repeat_check(source, out, order, n_images, skip):
    """Everything that does not move is repeated for each image, or copied once."""
    n = len(source["features"])
    for key, array in source.items():
        if key in skip or key == "data_checksums":
            continue
        if array.ndim > 0 and len(array) == n:
            same_bits(out[key][order], np.repeat(array, n_images, axis=0), key)
        elif array.ndim == 0 and array.dtype == object:
            assert out[key].item() == array.item(), key
        else:
            same_bits(out[key], array, key)
    assert "data_checksums" not in out


@tap.test("hex8", "hexagonal", "square8")
def test_sample(name):
    planes, indices, n_images = SAMPLES[name]
    source = load(data(f"ringrift/sample_{name}.npz"))
    expected = load(data(f"ringrift/expected_{name}.npz"))
    out = expand(data(f"ringrift/sample_{name}.npz"))
    order = by_image(out)
    n = len(source["features"])
    assert len(order) == n * n_images
    shape = (n * n_images,) + source["features"].shape[1:]
    same_bits(out["features"][order], expected[planes].reshape(shape), "features")
    lengths = expected["policy_len"].reshape(-1)
    for key, name_expected, dtype in (
        ("policy_indices", indices, np.int32),
        ("policy_values", "policy_values", np.float32),
    ):
        rows = expected[name_expected].reshape(len(order), -1)
        for i, row in enumerate(out[key][order]):
            same_bits(row, rows[i][: lengths[i]].astype(dtype), f"{key} {i}")
    repeat_check(source, out, order, n_images, {"features", "policy_indices", "policy_values"})


def policy_map(board):
    maps = load(data(f"ringrift/{board}_policy_maps.npz"))
    if "policy_map_reference" in maps:
        return maps["policy_map_reference"]
    dst = maps["policy_map"].copy()
    stays = ~maps["from_on_board"].astype(bool)
    identity = np.arange(dst.shape[1], dtype=dst.dtype)
    dst[:, stays] = identity[stays]
    return dst


@tap.test("real_par_hex8", "real_single_square8")
def test_exporter(name):
    """Shards exactly as their exporters write them: object arrays, metadata, checksums."""
    board = name.split("_")[-1]
    source = load(data(f"ringrift/{name}.npz"))
    out = expand(data(f"ringrift/{name}.npz"), "--board", board)
    order = by_image(out)
    dst = policy_map(board)
    n, n_images = len(source["features"]), len(dst)
    assert len(order) == n * n_images
    coords = load(data(f"ringrift/{board}_coord_maps.npz"))
    cells = clean_gather(coords)
    for i in range(n):
        flat = source["features"][i].reshape(len(source["features"][i]), -1)
        expected = np.stack([flat[:, cells[t]] for t in range(n_images)])
        found = out["features"][order[i * n_images : (i + 1) * n_images]]
        same_bits(found.reshape(expected.shape), expected, f"features {i}")
    for i in range(n * n_images):
        row, t = divmod(i, n_images)
        for found, old in zip(
            np.atleast_1d(out["policy_indices"][order[i]]),
            np.atleast_1d(source["policy_indices"][row]),
        ):
            same_bits(found, np.asarray(dst[t][np.asarray(old)]).astype(np.asarray(old).dtype),
                      f"policy_indices {i}")
    repeat_check(source, out, order, n_images, {"features", "policy_indices"})


def clean_gather(coords):
    """Where each cell of a plane comes from; off-board cells stay in place."""
    if "src_index_xyplane" in coords:
        return coords["src_index_xyplane"]
    src = coords["src_index"].copy()
    off = ~coords["on_board"].astype(bool)
    src[:, off] = np.arange(src.shape[1], dtype=src.dtype)[off]
    return src


@tap.test()
def test_padded():
    """Zero-padded int64 indices: the trailing (0, 0) entries are padding and stay 0."""
    source = load(data("ringrift/sample_hex8_padded_int64.npz"))
    out = expand(data("ringrift/sample_hex8_padded_int64.npz"))
    order = by_image(out)
    dst = policy_map("hex8")
    for i in range(len(order)):
        row, t = divmod(i, 12)
        old, values = source["policy_indices"][row], source["policy_values"][row]
        n = len(old)
        while n > 0 and old[n - 1] == 0 and values[n - 1] == 0:
            n -= 1
        expected = old.copy()
        expected[:n] = dst[t][old[:n]]
        same_bits(out["policy_indices"][order[i]], expected, f"row {row} image {t}")
        same_bits(out["policy_values"][order[i]], values, f"values of row {row} image {t}")


@tap.test("sample_hex8_edge", "sample_hex8_pickle4")
def test_ragged(name):
    """Empty rows, duplicate indices, unsorted rows, numpy 2's pickles: order and count are kept."""
    source = load(data(f"ringrift/{name}.npz"))
    out = expand(data(f"ringrift/{name}.npz"), "--board", "hex8")
    order = by_image(out)
    dst = policy_map("hex8")
    for i in range(len(order)):
        row, t = divmod(i, 12)
        old = source["policy_indices"][row]
        same_bits(out["policy_indices"][order[i]], dst[t][old].astype(old.dtype), f"{row} {t}")
        same_bits(out["policy_values"][order[i]], source["policy_values"][row], f"{row} {t}")


@tap.test("hex8", "hexagonal")
def test_no_smear(name):
    """Off-board cells stay in place: what is constant over the box stays constant."""
    out = expand(data(f"ringrift/sample_{name}.npz"))
    source = load(data(f"ringrift/sample_{name}.npz"))["features"]
    on_board = load(data(f"ringrift/{name}_coord_maps.npz"))["on_board"].astype(bool)
    off = out["features"].reshape(len(out["features"]), source.shape[1], -1)[:, :, ~on_board]
    rows = source.reshape(len(source), source.shape[1], -1)[:, :, ~on_board]
    same_bits(off, rows[out["symaug_source"]], "off-board cells")


if __name__ == "__main__":
    tap.main()
