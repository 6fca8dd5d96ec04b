#!/usr/bin/python3
"""`symaug report`: its numbers against numpy, its page in a browser without a network, and whether it
believes in symmetries that are there, and in none that are not."""

import html.parser
import json
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np

import golden
import png
from golden import Tap, load, run

tap = Tap()


def save(folder, name="in.npz", **arrays):
    path = os.path.join(folder, name)
    np.savez(path, **arrays)
    return path


def report(*arguments, code=0):
    return json.loads(run("report", "--json", *arguments, code=code)[0])


def one(*arguments, code=0):
    """The only set."""
    return report(*arguments, code=code)["sets"][0]


def sample(folder, board, rows, *options):
    path = os.path.join(folder, "sample.npz")
    run("sample", "-q", "-f", "--board", board, "--rows", rows, *options, path)
    return path


def close(found, expected, what):
    assert np.allclose(found, expected, rtol=1e-6, atol=1e-9), f"{what}: {found}, {expected}"


# --- numbers ---


def histogram(values):
    return [[v, n] for v, n in zip(*(x.tolist() for x in np.unique(values, return_counts=True)))]


def entropy(p):
    p = p[p.sum(1) > 0].astype(float)
    p = p / p.sum(1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p > 0, -p * np.log(p), 0).sum(1).mean(), p.max(1).mean(), p.mean(0)


def heat(found, array, plane):
    return next(h for h in found["heat"] if h["array"] == array and h["plane"] == plane)


@tap.test()
def test_hex():
    """A set and its expansion: labels, policies, and maps under the four transforms of Hex."""
    with tempfile.TemporaryDirectory() as folder:
        path = sample(folder, "hex11", 700)
        out = os.path.join(folder, "out.npz")
        run("expand", "-q", "--board", "hex11", path, out)
        a, found = load(path), one("--board", "hex11", path)
        assert found["verdict"] == "sound" and found["rows"] == 700 and found["board"] == "rhombus:11"
        assert found["command"] == f"symaug verify --board hex11 -- {path}", found["command"]
        assert [(x["name"], x["role"], x["shape"], x["flag"]) for x in found["arrays"]][:2] == [
            ("boards", "planes", [700, 3, 11, 11], None), ("policy", "policy", [700, 121], None)]
        assert [x["bytes"] for x in found["arrays"]][1] == 128 + a["policy"].nbytes
        labels = {x["array"]: x for x in found["labels"]}
        assert labels["value"]["histogram"] == histogram(a["value"])
        assert labels["player_to_move"]["transforms"] == {}
        e, top, mean = entropy(a["policy"])
        close([found["policy"][0]["entropy"], found["policy"][0]["top_share"]], [e, top], "policy")
        p = a["boards"].mean(0, dtype=float).reshape(3, 121)
        swap = [0, 0, 1, 1]
        turn = [lambda x: x, lambda x: x[::-1, ::-1], lambda x: x.T, lambda x: x[::-1, ::-1].T]
        for k, (array, plane) in enumerate([("boards", 0), ("boards", 1), ("policy", None)]):
            h = heat(found, array, plane)
            own = [mean, mean] if plane is None else [p[plane], p[1 - plane]]
            assert h["cells"] == list(range(121))
            close(h["mean"], own[0], "mean")
            group = np.mean([t(own[s].reshape(11, 11)) for t, s in zip(turn, swap)], 0)
            close(h["group"], group.reshape(-1), "group")
            wrong = np.sign(np.array(h["z"], float)) != np.sign(own[0] - group.reshape(-1))
            assert not np.any(wrong & (np.abs(own[0] - group.reshape(-1)) > 1e-9)), k
        a, found = load(out), one(out)
        label = next(x for x in found["labels"] if x["array"] == "value")
        for t in range(4):
            of = a["value"][a["symaug_transform"] == t]
            assert label["transforms"][str(t)] == histogram(of), t
        assert [(e["transform"], e["distance"], e["fits"]) for e in found["evidence"]] == [
            (1, 0, True), (2, 0, True), (3, 0, True)]


@tap.test()
def test_same_numbers():
    """A draw that was negated is a draw; what a sparse policy says of one action in several entries
    counts once, added up."""
    with tempfile.TemporaryDirectory() as folder:
        state = np.zeros((4, 2, 3, 3), np.float32)
        state[:2, 0, 1, 1] = 1
        index, value = np.empty(4, object), np.empty(4, object)
        for i in range(4):
            index[i] = np.array([8, 2, 8, 0], np.int32)
            value[i] = np.array([0.25, 0.5, 0.25, 0], np.float32)
        path = save(folder, state=state, value=np.float32([0, -0.0, 1, -0.0]),
                    policy_indices=index, policy_values=value)
        found = one("--board", "tictactoe", path)
        assert found["positions"]["conflicts"] == 1, found["positions"]
        close([found["policy"][0][k] for k in ("entropy", "top_share")], [np.log(2), 0.5], "policy")


@tap.test()
def test_sparse_and_packed():
    """Policies as object arrays, padded and in CSR form; packed planes of KataGo."""
    with tempfile.TemporaryDirectory() as folder:
        a = load(sample(folder, "hex8", 300))
        n = 300
        index, value = a["policy_indices"], a["policy_values"]
        shares = [v.astype(float) / v.sum() for v in value]
        found = one(sample(folder, "hex8", 300))
        e = np.mean([-(s[s > 0] * np.log(s[s > 0])).sum() for s in shares])
        close(found["policy"][0]["entropy"], e, "entropy")
        close(found["policy"][0]["top_share"], np.mean([s.max() for s in shares]), "top share")
        cells = np.zeros(81)
        for i, s in zip(index, shares):
            for action, share in zip(i, s):
                if action < 3 * 81 + 81 * 6 * 8:
                    cells[action // 3 if action < 243 else (action - 243) // 48] += share / n
        h = heat(found, "policy_indices", None)
        close(h["mean"], cells[h["cells"]], "cells of a sparse policy")
        starts = np.cumsum([0] + [len(i) for i in index])
        b = {k: v for k, v in a.items() if not k.startswith("policy")}
        csr = save(folder, "csr.npz", **b, pi_offsets=starts, pi_indices=np.concatenate(index),
                   pi_values=np.concatenate(value), policy_encoding=a["policy_encoding"])
        again = one("--role", "pi_indices=policy-index", "--role", "pi_values=policy-value",
                    "--role", "pi_offsets=policy-offsets", csr)
        close(again["policy"][0]["entropy"], e, "entropy of CSR")
        close(heat(again, "pi_indices", None)["mean"], h["mean"], "cells of CSR")
        a = load(sample(folder, "katago:7", 200))
        found = one(sample(folder, "katago:7", 200))
        bits = np.unpackbits(a["binaryInputNCHWPacked"], axis=2)[:, :, :49].mean(0)
        for plane in 1, 2:
            close(heat(found, "binaryInputNCHWPacked", plane)["mean"], bits[plane], "packed")
        assert {h["array"] for h in found["heat"]} == {"binaryInputNCHWPacked", "policyTargetsNCMove"}
        _, _, mean = entropy(a["policyTargetsNCMove"][:, 0])
        close(heat(found, "policyTargetsNCMove", None)["mean"], mean[:49], "first channel")


@tap.test()
def test_bins():
    """Many values are counted in 32 parts, as numpy counts them."""
    with tempfile.TemporaryDirectory() as folder:
        a = load(sample(folder, "tictactoe", 500))
        rng = np.random.default_rng(1)
        for n in 64, 65, 400:
            a["value"] = rng.permutation(np.resize(np.linspace(-1, 1, n), 500)).astype(np.float32)
            found = one("--board", "tictactoe", save(folder, **a))
            h = next(x for x in found["labels"] if x["array"] == "value")["histogram"]
            if n == 64:
                assert h == histogram(a["value"])
                continue
            counts, edges = np.histogram(a["value"].astype(float), 32)
            assert [x[2] for x in h] == counts.tolist(), n
            close([x[0] for x in h] + [h[-1][1]], edges, "edges")


@tap.test()
def test_hidden_files():
    """What the command that is shown would not find is no shard of a folder either."""
    with tempfile.TemporaryDirectory() as folder:
        sample(folder, "tictactoe", 30)
        with open(os.path.join(folder, "._in.npz"), "wb") as file:
            file.write(b"not a shard")
        assert one("--board", "tictactoe", folder)["verdict"] == "sound"


@tap.test()
def test_folders():
    """Shards of a folder are those that `overlap` finds there. What is wrong with one is an error, not
    a warning that comes before it."""
    with tempfile.TemporaryDirectory() as folder:
        shards, inner = os.path.join(folder, "shards"), os.path.join(folder, "shards", "b")
        os.makedirs(inner)
        arrays = load(sample(folder, "tictactoe", 30))
        save(shards, "a.npz", **arrays)
        for name, array in arrays.items():
            np.save(os.path.join(inner, name + ".npy"), array)
        found = one("--board", "tictactoe", shards)
        assert found["verdict"] == "sound" and found["rows"] == 60, found
        assert found["command"].endswith(f"-- {shards}/a.npz {inner}"), found["command"]
        with open(os.path.join(inner, "0"), "wb") as file, open(os.path.join(inner, "x.npy"), "wb"):
            file.write(b"not an array")
        found = one("--board", "tictactoe", inner, code=65)
        assert "expected a .npy header" in found["sentence"], found["sentence"]


@tap.test()
def test_codes():
    """Exit codes and verdicts; the page is written in each case; a set of several files."""
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        good = sample(folder, "hex11", 100)
        a = load(good)
        a["policy"][3] *= 2
        bad = save(folder, "bad.npz", **a)
        run("report", "--board", "hex11", good, "-o", page)
        run("report", "--board", "hex11", good, "-o", page, code=73)
        run("report", "--board", "hex11", bad, "-fo", page, code=1)
        found = one("--board", "hex11", bad, code=1)
        said = json.loads(run("verify", "--json", "--board", "hex11", bad, code=1)[0])["files"][0]
        assert found["findings"] == said["findings"] and found["counts"] == {"policy-sum": 1}
        assert found["verdict"] == "findings"
        b = load(good)
        b["mystery"] = np.zeros((100, 11, 11), np.float32)
        found = one("--board", "hex11", save(folder, "mystery.npz", **b), code=1)
        assert found["verdict"] == "unchecked" and "mystery" in found["sentence"], found["sentence"]
        x = next(x for x in found["arrays"] if x["name"] == "mystery")
        assert x["role"] is None and x["flag"].startswith("--role mystery="), x
        assert one(good, code=1)["verdict"] == "unchecked", "no board"
        with open(os.path.join(folder, "cut.npz"), "wb") as file:
            file.write(open(good, "rb").read()[:-30])
        found = report("--board", "hex11", file.name, good, code=65)
        assert [s["verdict"] for s in found["sets"]] == ["unchecked", "sound"] and not found["ok"]
        run("report", "--board", "hex11", os.path.join(folder, "none.npz"), "-fo", page, code=66)
        run("report", code=64)
        run("report", "--json", "-o", "-", good, code=64)
        many = os.path.join(folder, "many")
        os.mkdir(many)
        for i in range(3):
            shutil.copy(good, os.path.join(many, f"{i}.npz"))
        found = one("--board", "hex11", many)
        assert found["rows"] == 300 and found["arrays"][0]["shape"][0] == 300
        assert found["command"] == f"symaug verify --board hex11 -- {many}/*.npz"
        # options that are not those of verify are left out, also where letters stand together
        page = os.path.join(folder, "page.html")
        found = one("-bhex11", "--max-fin=3", "--copy", "ply", "-qfo", page, good)
        assert found["command"] == f"symaug verify -b hex11 --max-findings 3 --copy ply -q -- {good}"
        assert "(300, 3, 11, 11)" in run("report", "-o", "-", "--board", "hex11", many)[0]
        close(heat(found, "policy", None)["mean"], entropy(a["policy"])[2], "three times the same")
        out = os.path.join(folder, "cut")
        run("expand", "-q", "--board", "hex11", good, "--rows-per-shard", 150, "-o",
            os.path.join(folder, "s.npz"))
        found = one(os.path.join(folder, "s-00000.npz.manifest.json"))
        assert found["verdict"] == "sound" and found["rows"] > 0, (found["sentence"], out)


@tap.test(*"248")
def test_rounded_values(size):
    """An expansion has no more conflicts than its source, though 1 - (1 - v) is rounded."""
    with tempfile.TemporaryDirectory() as folder:
        a = load(sample(folder, "rhombus:3", 300))
        value = np.random.default_rng(4).random(len(a["value"]))
        a["value"] = np.where(a["ply"] < 3, 0.3, value).astype(f"<f{size}")
        path, out = save(folder, **a), os.path.join(folder, "out.npz")
        run("expand", "-q", "--board", "rhombus:3", path, out)
        few, many = [s["positions"] for s in report("--board", "rhombus:3", path, out)["sets"]]
        assert 0 < few["conflicts"] < few["distinct"] - 5, few
        assert (many["distinct"], many["conflicts"]) == (few["distinct"], few["conflicts"]), (few, many)
        for source in path, out:
            stats = os.path.join(folder, "stats.json")
            run("dedupe", "-f", "--board", "rhombus:3", "--stats", stats, source, stats + ".npz")
            with open(stats, encoding="utf-8") as file:
                assert json.load(file)["conflicts"] == few["conflicts"], (source, few)


@tap.test()
def test_positions():
    """Classes, their sizes and their values against numpy; an expansion has the same classes; several
    sets as `overlap` compares them, manifests and sets that do not compare among them."""
    with tempfile.TemporaryDirectory() as folder:
        path = sample(folder, "tictactoe", 2000)
        a, found = load(path), one("--board", "tictactoe", path)["positions"]
        classes = {}
        for planes, player, value in zip(a["state"], a["current_player"], a["value"]):
            key = min(turned(planes, k).tobytes() for k in range(8)), int(player)
            classes.setdefault(key, []).append(float(value))
        assert found == {"rows": 2000, "distinct": len(classes),
                         "duplicates": 2000 - len(classes),
                         "largest": max(map(len, classes.values())),
                         "conflicts": sum(len(set(v)) > 1 for v in classes.values())}, found
        path, out = sample(folder, "rhombus:3", 900), os.path.join(folder, "out.npz")
        run("expand", "-q", "--board", "rhombus:3", path, out)
        found = report("--board", "rhombus:3", path, out, out + ".manifest.json")
        few, many, again = [s["positions"] for s in found["sets"]]
        assert few["conflicts"] > 0 and many == again
        assert (many["distinct"], many["conflicts"]) == (few["distinct"], few["conflicts"])
        said = json.loads(run("overlap", "--json", "--board", "rhombus:3", path, out, out)[0])
        assert found["overlap"] == {"exact": said["exact"], "symmetric": said["symmetry"]}
        other = sample(folder, "go9", 50)
        found = report("--board", "rhombus:3", out, other, code=1)
        n = found["overlap"]["symmetric"]
        assert n == [[many["duplicates"], None], [None, None]], n
        text = run("report", "-o", "-", "--board", "rhombus:3", out, out)[0]
        assert "Positions in common" in text and "Positions up to symmetry" in text


# --- the page ---

VOID = {"meta", "link", "br", "hr", "img", "input", "path", "use", "circle", "rect"}


class Page(html.parser.HTMLParser):
    """Checks that elements are closed in order, and collects what scripts rely on."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.elements, self.text = [], set(), [], ""
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            assert attributes["id"] not in self.ids, f"id {attributes['id']} is there twice"
            self.ids.add(attributes["id"])
        self.elements.append((tag, attributes, [x for _, x in self.open]))
        if tag not in {"meta", "link", "br", "hr", "img", "input"}:
            self.open.append((tag, attributes))
        assert tag != "script"

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, f"</{tag}> in {[t for t, _ in self.open]}"
        self.open.pop()

    def handle_data(self, data):
        self.text += data

    def all(self, name):
        return [(tag, a, above) for tag, a, above in self.elements if name in a]


NASTY = "<script>alert('x')</script>&\"q\".npz"


def nasty_sets(folder):
    """A set that is sound, and one with findings and names that no page may take for its own."""
    good = sample(folder, "hex8", 60)
    out = os.path.join(folder, "out.npz")
    run("expand", "-q", good, out)
    a = load(out)
    a["features"][13, 0] = np.roll(a["features"][13, 0], 1, 1)
    a["<script>alert(1)<_script>&'\""] = np.zeros(len(a["values"]), np.float32)
    return out, save(folder, "<script>alert('x')<_script>&\"q\".npz", **a)


@tap.test()
def test_page():
    """Elements are closed, ids unique, and the page holds what the JSON holds."""
    with tempfile.TemporaryDirectory() as folder:
        good, bad = nasty_sets(folder)
        text = run("report", "-o", "-", good, bad, code=1)[0]
        found = report(good, bad, code=1)
        page = Page(text)
        sets = page.all("data-set")
        assert [(t, a["data-set"], a["data-verdict"]) for t, a, _ in sets] == [
            ("section", s["path"], s["verdict"]) for s in found["sets"]]
        assert [(a["data-array"], a["data-role"]) for t, a, _ in page.all("data-role")] == [
            (x["name"], x["role"] or "?") for s in found["sets"] for x in s["arrays"]]
        codes = {a["data-code"]: int(a["data-count"]) for _, a, _ in page.all("data-code")}
        assert codes == found["sets"][1]["counts"] and codes, codes
        assert {a["data-picture"] for t, a, _ in page.all("data-picture")} <= set(codes)
        assert page.all("data-picture"), "no picture"
        assert "#e00000" in text, "no red ring"
        assert [(int(a["data-transform"]), a["data-fits"]) for _, a, _ in
                page.all("data-transform")] == [
            (e["transform"], "yes" if e["fits"] else "no")
            for s in found["sets"] for e in s["evidence"]]
        cells = {}
        for tag, a, above in page.all("data-cell"):
            svg = next(x for x in reversed(above) if "data-heat" in x)
            section = next(x for x in above if "data-set" in x)
            key = section["data-set"], svg["data-array"], svg.get("data-plane"), svg["data-heat"]
            cells.setdefault(key, []).append((int(a["data-cell"]), a["data-value"]))
        n = 0
        for s in found["sets"]:
            for h in s["heat"]:
                for kind in "mean", "group", "z":
                    plane = None if h["plane"] is None else str(h["plane"])
                    seen = cells.pop((s["path"], h["array"], plane, kind))
                    assert [c for c, _ in seen] == h["cells"]
                    for (_, value), expected in zip(seen, h[kind]):
                        assert (value == "") == (expected is None)
                        assert value == "" or abs(float(value) - expected) <= 1e-8 * abs(expected)
                    n += 1
        assert cells == {} and n == 18
        assert "alert(1)" in page.text and "alert('x')" in page.text
        for wanted in "rotate-60", "Provenance", "rows_out", "Does the data believe", "features":
            assert wanted in page.text, wanted


@tap.test()
def test_same_bytes():
    with tempfile.TemporaryDirectory() as folder:
        good, bad = nasty_sets(folder)
        first = run("report", "-o", "-", "-j", 1, good, bad, code=1)[0]
        for threads in 1, 3:
            again = run("report", "-o", "-", "-j", threads, good, bad, code=1)[0]
            assert again == first.replace("-j 1 ", f"-j {threads} ")


@tap.test()
def test_many_sets():
    """A hundred files: 3 MB at most, maps of sixteen that need them, and numbers of all."""
    with tempfile.TemporaryDirectory() as folder:
        a = load(sample(folder, "hex11", 300))
        names = []
        for i in range(100):
            if i % 4 == 1:
                a["policy"][7] *= 3
            names.append(save(folder, f"{i}.npz", **a))
            a = load(os.path.join(folder, "sample.npz"))
        text = run("report", "--board", "hex11", "-o", "-", *names, code=1)[0]
        assert len(text) < 3e6, len(text)
        page = Page(text)
        with_maps = {next(x for x in above if "data-set" in x)["data-set"]
                     for _, _, above in page.all("data-heat")}
        assert with_maps == {names[i] for i in range(1, 64, 4)}, len(with_maps)
        assert all(len(s["heat"]) == 3 for s in report("--board", "hex11", *names, code=1)["sets"])


def chromium(*arguments):
    with tempfile.TemporaryDirectory() as home:
        return subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={home}", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--proxy-server=127.0.0.1:9",
             *arguments],
            capture_output=True, text=True, timeout=300, check=True, env={**os.environ, "HOME": home})


@tap.test()
def test_browser():
    """A real browser without a network: no message, no request, the text, and a picture."""
    with tempfile.TemporaryDirectory() as folder:
        good, bad = nasty_sets(folder)
        page, log, shot = (os.path.join(folder, n) for n in ("p.html", "net.json", "p.png"))
        run("report", "-o", page, good, bad, code=1)
        done = chromium(f"--log-net-log={log}", "--dump-dom", "file://" + page)
        assert "CONSOLE" not in done.stderr, re.findall(".*CONSOLE.*", done.stderr)
        assert "Does the data believe the symmetry?" in done.stdout
        assert "<script" not in done.stdout and "alert(" in done.stdout
        urls = set(re.findall(r'"url":"([^"]*)"', open(log).read()))
        loaded = {u for u in urls if not u.startswith(("file://" + page, "data:", "chrome"))}
        assert not any("p.html" in u or "127.0.0.1" in u for u in loaded), loaded
        text = open(page).read()
        assert not re.search(r"(?:src|href|url)\s*[=(]\s*[\"']?(?:https?:|//)", text)
        chromium(f"--screenshot={shot}", "--window-size=1000,2000", "file://" + page)
        pixels = png.decode(open(shot, "rb").read())
        assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 50


# --- does the data believe the symmetry? ---


def turned(planes, k):
    """One of the eight images of a square."""
    planes = np.rot90(planes, k % 4, (-2, -1))
    return planes[..., ::-1] if k >= 4 else planes


def played(rng, n_games, symmetric):
    """Games on 5x5 that like some cells better; symmetric: each is turned some way, at random."""
    taste = rng.random(25) ** 2
    rows, policies, ids = [], [], []
    for game in range(n_games):
        cells = rng.choice(25, 25, replace=False, p=taste / taste.sum())
        k = rng.integers(8) if symmetric else 0
        planes = np.zeros((2, 5, 5), np.float32)
        for i in range(rng.integers(6, 14)):
            policy = np.full(25, 0.02, np.float32)
            policy[cells[i]] = 0.52
            rows.append(turned(planes, k).copy())
            policies.append(turned(policy.reshape(5, 5), k).reshape(25).copy())
            ids.append(game)
            planes[i % 2, cells[i] // 5, cells[i] % 5] = 1
    return {"state": np.array(rows), "policy": np.array(policies), "game_id": np.array(ids)}


def misfits(path, *options, code=0):
    found = one("--board", *options, path, code=code)["evidence"]
    assert all(e["fits"] == (e["distance"] <= e["limit"] * 1.0001) for e in found)
    return [e["name"] for e in found if not e["fits"]]


@tap.test()
def test_calibration():
    """Of 150 sets that are symmetric by construction hardly any is doubted (one in 200 is, in the
    long run), and of lopsided ones nearly all are."""
    with tempfile.TemporaryDirectory() as folder:
        doubted = believed = 0
        for seed in range(150):
            rng = np.random.default_rng(seed)
            a = played(rng, (15, 40, 150)[seed % 3], True)
            doubted += misfits(save(folder, **a), "square:5") != []
            if seed % 10 == 2:
                a = played(rng, 150, False)
                believed += len(misfits(save(folder, **a), "square:5")) < 7
        assert doubted <= 4, f"{doubted} of 150"
        assert believed == 0, believed


@tap.test()
def test_rows_of_a_game():
    """Rows side by side that are alike, without the numbers of games, are no evidence of their own;
    independent rows are."""
    with tempfile.TemporaryDirectory() as folder:
        for board in "hex11", "gomoku15", "connect4", "katago:7", "takeiteasy":
            assert misfits(sample(folder, board, 4000), board) == [], board
        rng = np.random.default_rng(5)
        taste = rng.random((5, 5)) / 4
        dice = rng.random((3000, 1, 5, 5)) / taste
        rows = np.concatenate([dice < 1, (dice >= 1) & (dice < 2)], 1).astype(np.float32)
        assert len(misfits(save(folder, state=rows), "square:5")) == 7
        rows = np.array([turned(r, rng.integers(8)) for r in rows])
        assert misfits(save(folder, state=rows), "square:5") == []


@tap.test("i4", "U", "S")
def test_games_by_name(kind):
    """Games are told apart by numbers or texts, wherever their rows are."""
    with tempfile.TemporaryDirectory() as folder:
        a = played(np.random.default_rng(4), 120, True)
        order = np.random.default_rng(5).permutation(len(a["game_id"]))
        a = {key: rows[order] for key, rows in a.items()}
        if kind != "i4":
            a["game_id"] = np.array([f"0b7c-{k}" for k in a["game_id"]]).astype(kind)
        assert misfits(save(folder, **a), "square:5") == []
        del a["game_id"]
        assert misfits(save(folder, **a), "square:5") != []


@tap.test()
def test_whose_stones():
    """Where the mover's stones always join the same two edges, an image with the colours swapped is
    one without; and where planes are the mover's, so are the codes of a grid."""
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(6)
        mine = rng.random((2000, 5, 5)) < np.array([0.1, 0.2, 0.4, 0.2, 0.1])
        theirs = ~mine & (rng.random((2000, 5, 5)) < np.array([0.1, 0.3, 0.4, 0.3, 0.1])[:, None])
        path = save(folder, state=np.stack([mine, theirs], 1).astype(np.float32))
        options = ["--board", "rhombus:5", "--planes", "canonical"]
        found = one(*options, path)
        assert [(e["distance"] > 0, e["fits"]) for e in found["evidence"]] == [
            (True, True), (False, True), (True, True)], found["evidence"]
        mean = mine.mean(0)
        close(heat(found, "state", 0)["group"], ((mean + mean[::-1, ::-1]) / 2).ravel(), "group")
        assert misfits(path, *options[1:2]) == ["long-diagonal-swap", "short-diagonal-swap"]
        path = save(folder, board=(mine + 2 * theirs).astype(np.int8))
        found = one(*options[:2], "--planes", "mover", "--role", "board=grid", path)
        group = np.mean([mean, mean.T, mean[::-1, ::-1], mean[::-1, ::-1].T], 0)
        close(heat(found, "board", 0)["group"], group.ravel(), "group of codes")


@tap.test()
def test_chess():
    """The mirror of chess does not fit openings, where kings and queens are at home."""
    with tempfile.TemporaryDirectory() as folder:
        assert misfits(sample(folder, "chess", 3000), "chess") == ["mirror-left-right"]


@tap.test()
def test_eight_images_on_a_hexagon():
    """A hexagonal board that was turned like a square: what came of it does not fit."""
    with tempfile.TemporaryDirectory() as folder:
        a = load(sample(folder, "hexagon:4", 1500))
        on_board = np.zeros((9, 9), np.float32)
        on_board.reshape(-1)[one(sample(folder, "hexagon:4", 3))["heat"][0]["cells"]] = 1
        planes = np.concatenate([turned(a["features"], k) * on_board for k in range(8)])
        found = misfits(save(folder, features=np.ascontiguousarray(planes[:, :2])), "hexagon:4",
                        "--role", "features=planes", code=0)
        assert "rotate-60" in found and "rotate-180" not in found, found


tap.main()
