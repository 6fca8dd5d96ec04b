#!/usr/bin/python3
"""Hex, Gomoku, TicTacToe, Connect 4, chess, Take It Easy, KataGo against their golden expansions."""

import numpy as np

from golden import Tap, by_image, data, expand, load, same_bits

tap = Tap()

# golden pair, board, options, images per row
PAIRS = [
    ("hex13_in", "hex13_expected", "hex13", [], 4),
    ("hex13_persp_in", "hex13_persp_expected", "hex13", ["--planes", "mover", "--value", "mover"], 4),
    ("gomoku15_in", "gomoku15_expected", "gomoku15", [], 8),
    ("ttt_in", "ttt_expected", "tictactoe", [], 8),
    ("connect4_in", "connect4_expected", "connect4", [], 2),
    ("chess1814_in", "chess1814_expected_castling_swap", "chess", [], 2),
    ("takeiteasy_in", "takeiteasy_expected_2", "takeiteasy", [], 2),
    ("takeiteasy_in", "takeiteasy_expected_12_permuted", "takeiteasy", ["--tiles", "permute"], 12),
]


@tap.test(*[(a, b, board, tuple(options), n) for a, b, board, options, n in PAIRS])
def test_pair(source, expected, board, options, n_images):
    """The expansion in sample order is the golden one, member by member."""
    wanted = load(data(f"seeds/{expected}.npz"))
    found = expand(data(f"seeds/{source}.npz"), "--board", board, "--order", "sample", *options)
    n = len(load(data(f"seeds/{source}.npz"))[next(iter(found))])
    if "sym_id" in wanted:
        order = np.lexsort((wanted["sym_id"], wanted["src_index"]))
        same_bits(found["symaug_transform"], wanted["sym_id"][order].astype(np.uint8), "transforms")
        same_bits(found["symaug_source"], wanted["src_index"][order].astype(np.int64), "sources")
    else:
        order = np.arange(n * n_images)
        same_bits(found["symaug_source"], np.repeat(np.arange(n), n_images), "sources")
    for key, array in wanted.items():
        if key not in ("sym_id", "src_index"):
            same_bits(found[key], array[order], key)


@tap.test("abs01", "abs_pm1", "rel_pm1", "wdl_abs", "wdl_rel")
def test_hex_values(kind):
    """Each value convention, on the positions of the golden shard."""
    options = {
        "abs01": ["--value", "colour01"],
        "abs_pm1": ["--value", "colour11"],
        "rel_pm1": ["--value", "mover"],
        "wdl_abs": ["--value", "colour-wdl"],
        "wdl_rel": ["--value", "mover"],
    }[kind]
    golden = load(data("seeds/hex13_value_conventions.npz"))
    shard = load(data("seeds/hex13_in.npz"))
    name = "wdl" if kind.startswith("wdl") else "value"
    del shard["value"]
    shard[name] = golden[f"{kind}_in"]
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.npz")
        np.savez_compressed(path, **shard)
        out = expand(path, "--board", "hex13", "--order", "sample", *options)
    same_bits(out[name], golden[f"{kind}_out"], name)


# Their training ids in ours.
KATAGO_IDS = [0, 3, 2, 1, 6, 4, 7, 5]


@tap.test("raw9_64", "writer_L8", "writer_L13_meta")
def test_katago(name):
    """Engine files against the engine's own eight transforms."""
    source = load(data(f"katago/{name}_in.npz"))
    wanted = load(data(f"katago/{name}_all8.npz"))
    out = expand(data(f"katago/{name}_in.npz"), "--board", "katago", "--order", "transform")
    assert list(out) == list(source), "the members and their order are the input's"
    n = len(source["globalInputNC"])
    for theirs, ours in enumerate(KATAGO_IDS):
        for key in source:
            same_bits(out[key][ours * n : (ours + 1) * n], wanted[key][theirs * n : (theirs + 1) * n],
                      f"{key} under their {theirs}")


if __name__ == "__main__":
    tap.main()
