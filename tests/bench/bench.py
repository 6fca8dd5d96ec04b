"""Measure symaug against two numpy scripts and write RESULTS.md.

usage: bench.py SYMAUG    (environment: N, RUNS, SETS, TMPDIR, RESULTS)

N scales the rows of every set, RUNS is how often each is run, SETS picks some ("hex8-dense go").
The programs take turns on the same file, so that a busy machine is unfair to none: compare the
ratios, not the seconds. Everything is made in a temporary folder that is removed.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import numpy as np

import cycles
import decoders
import loading
import sets

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCK = 16
CHECKED_NBYTES = 400e6  # outputs up to this size are compared array by array
# From the project's own aims: how much faster than the naive and the careful script.
TARGETS = {"hex8-dense": (80, 20), "hex8-sparse": (80, 20), "go": (70, 40), "gomoku": (40, None),
           "katago": (40, None), "hex13": (25, 15)}


class Run:
    """A finished command: seconds by the wall clock, peak resident MiB."""

    def __init__(self, args, env=None):
        launcher = [sys.executable, "-I", "-S", os.path.join(HERE, "launch.py")]
        done = subprocess.run(launcher + args, env=env, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(args)}: {done.stderr}")
        self.seconds, self.mebibytes = map(float, done.stdout.split())


class Bench:
    def __init__(self, symaug, folder):
        self.symaug = os.path.abspath(symaug)
        self.folder = folder
        self.scale = float(os.environ.get("N") or 1)
        self.runs = max(1, int(os.environ.get("RUNS") or 5))
        self.names = (os.environ.get("SETS") or " ".join(sets.SETS)).split()
        self.lines = []
        self.quick = self.without_fsync()

    def without_fsync(self):
        library = self.path("no_fsync.so")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library,
                        os.path.join(HERE, "no_fsync.c")], check=True)
        return {**os.environ, "LD_PRELOAD": library}

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, name, rows, path):
        Run([sys.executable, os.path.join(HERE, "sets.py"), name, str(rows), path])

    def script(self, which, name, path_in, path_out):
        return Run([sys.executable, os.path.join(HERE, which + ".py"), name, path_in, path_out])

    def expand(self, name, path_in, path_out, *options, env=None):
        return Run([self.symaug, "expand", "-q", "-f", "-b", sets.SETS[name][1], *options, path_in,
                    path_out], env)

    def say(self, line=""):
        self.lines.append(line)
        print(line, flush=True)

    def table(self, head):
        self.say()
        self.say("| " + " | ".join(head) + " |")
        self.say("|" + "---|" * len(head))

    def row(self, *cells):
        self.say("| " + " | ".join(map(str, cells)) + " |")


def median(runs):
    return statistics.median(r.seconds for r in runs)


def peak(runs):
    return max(r.mebibytes for r in runs)


def unpacked_nbytes(path):
    with zipfile.ZipFile(path) as archive:
        return sum(entry.file_size for entry in archive.infolist())


def block_rows(n_rows, n_images):
    """For each row in block order its row in transform order."""
    order = []
    for first in range(0, n_rows, BLOCK):
        block = np.arange(first, min(first + BLOCK, n_rows))
        order.extend(t * n_rows + block for t in range(n_images))
    return np.concatenate(order)


def same_arrays(name, n_rows, path_naive, path_symaug):
    order = block_rows(n_rows, len(sets.describe(name)["cells"]))
    with np.load(path_naive, allow_pickle=True) as a, np.load(path_symaug, allow_pickle=True) as b:
        for key in a.files:
            x, y = a[key], b[key]
            if x.ndim > 0:
                x = x[order]
            if x.dtype == object and x.ndim > 0:
                same = all(map(np.array_equal, x, y))
            else:
                same = x.dtype == y.dtype and np.array_equal(x, y)
            if not same:
                sys.exit(f"{name}: {key} is not what the naive script makes")


# --- sections ---

def compare(bench):
    bench.say(f"Medians of {bench.runs} runs in turn; x = how many times faster symaug is; bytes = "
              "size of symaug's file / the naive script's; peak = resident MiB.")
    bench.table(["set", "rows", "output MB", "naive s", "careful s", "symaug s", "x naive",
                 "x careful", "aims", "bytes", "GB/s", "peak naive", "careful", "symaug"])
    for name in bench.names:
        rows = max(BLOCK, int(sets.SETS[name][2] * bench.scale))
        source = bench.path(name + ".npz")
        outputs = {which: bench.path(f"{name}.{which}.npz")
                   for which in ("naive", "careful", "symaug")}
        runs = {which: [] for which in outputs}
        bench.make(name, rows, source)
        for i in range(bench.runs):
            for which in ("naive", "careful"):
                runs[which].append(bench.script(which, name, source, outputs[which]))
            runs["symaug"].append(bench.expand(name, source, outputs["symaug"]))
            n_bytes = unpacked_nbytes(outputs["symaug"])
            if i == 0 and n_bytes <= CHECKED_NBYTES:
                same_arrays(name, rows, outputs["naive"], outputs["symaug"])
        seconds = {which: median(r) for which, r in runs.items()}
        sizes = {which: os.path.getsize(p) for which, p in outputs.items()}
        aims = "/".join(str(a) for a in TARGETS.get(name, ()) if a)
        bench.row(name, rows, f"{n_bytes / 1e6:.0f}", f"{seconds['naive']:.2f}",
                  f"{seconds['careful']:.2f}", f"{seconds['symaug']:.3f}",
                  f"{seconds['naive'] / seconds['symaug']:.1f}",
                  f"{seconds['careful'] / seconds['symaug']:.1f}", aims,
                  f"{sizes['symaug'] / sizes['naive']:.2f}",
                  f"{n_bytes / seconds['symaug'] / 1e9:.2f}",
                  *(f"{peak(runs[which]):.0f}" for which in outputs))
        for path in outputs.values():
            os.unlink(path)


def threads(bench):
    bench.say()
    bench.say("## Threads, and where the time goes")
    bench.say()
    bench.say("One against two threads in turn, without fsync. Shares of the cycles of the "
              "default path, by perf.")
    bench.table(["set", "1 thread s", "2 threads s", "x"] + cycles.PARTS + ["useful"])
    for name in bench.names:
        source, out = bench.path(name + ".npz"), bench.path("out.npz")
        runs = {1: [], 2: []}
        for _ in range(bench.runs):
            for n in runs:
                runs[n].append(bench.expand(name, source, out, "-j", str(n), env=bench.quick))
        shares = cycles.shares([bench.symaug, "expand", "-q", "-f", "-b", sets.SETS[name][1],
                                 source, out], bench.path("perf.data"), bench.quick)
        bench.row(name, f"{median(runs[1]):.3f}", f"{median(runs[2]):.3f}",
                  f"{median(runs[1]) / median(runs[2]):.2f}", *shares)


SIDE_BY_SIDE = 16  # large shards, on as many threads or more


def many_threads(bench, n_threads=64):
    """What is left when work is shared by many: chains that one thread at a time works at."""
    bench.say()
    bench.say(f"## A model for {n_threads} threads")
    bench.say()
    bench.say("CPU seconds for each GB of output, from one thread's runs of a quarter of the rows and of all, so that "
              "start and end do not count. Input (inflate), hash and writing are each one thread's at a time, the "
              f"rest is shared: the longest of these bounds a large output. Of several shards of one call "
              f"{SIDE_BY_SIDE} are worked at side by side: each has chains of its own. Aim on {n_threads} threads: "
              "x 40.")
    bench.table(["set", "shared", *cycles.CHAINS, "x of one output", "x of many"])
    for name in bench.names:
        most = max(4 * BLOCK, int(sets.SETS[name][2] * bench.scale))
        source, out = bench.path("model.npz"), bench.path("out.npz")
        sums = []
        for n in (most // 4, most):
            bench.make(name, n, source)
            seconds = min(bench.expand(name, source, out, "-j1", env=bench.quick).seconds for _ in range(3))
            found = cycles.parts([bench.symaug, "expand", "-q", "-f", "-b", sets.SETS[name][1], "-j1", source, out],
                                 bench.path("perf.data"), bench.quick)
            sums.append({key: value * seconds for key, value in cycles.chains(found).items()} if found else {})
        if sums[0] and sums[1]:
            n_gb = 0.75 * unpacked_nbytes(out) / 1e9
            per_gb = {key: max(sums[1][key] - sums[0][key], 0) / 100 / n_gb for key in sums[0]}
            all_seconds, chain = sum(per_gb.values()), max(per_gb[key] for key in cycles.CHAINS)
            bench.row(name, f"{per_gb['shared']:.3f}", *(f"{per_gb[key]:.4f}" for key in cycles.CHAINS),
                      f"{all_seconds / max(per_gb['shared'] / n_threads, chain):.1f}",
                      f"{all_seconds / max(all_seconds / n_threads, chain / SIDE_BY_SIDE):.1f}")
        os.unlink(source)


def commands(bench):
    """The other commands on many small rows, and on rows that are objects."""
    rng = np.random.default_rng(2)
    n = int(10 ** 6 * min(bench.scale, 1))
    source, out = bench.path("rows.npz"), bench.path("rows.out.npz")
    bench.say()
    bench.say("## Other commands")
    bench.say()
    bench.say("MB/s of uncompressed input or output, whichever is larger, two threads, without fsync. Aim: 300.")
    bench.table(["rows", "command", "seconds", "MB/s", "peak MiB"])
    cells = rng.integers(0, 3, (n, 1, 3, 3))
    policy = (rng.random((n, 9), "f4") + 0.01) * (cells.reshape(n, 9) == 0)
    policy /= np.maximum(policy.sum(axis=1, keepdims=True), 1e-9)
    np.savez_compressed(source, planes=np.concatenate([cells == 1, cells == 2], 1).astype("f4"), policy=policy)
    inputs = {f"{n} of 3 x 3": ("tictactoe", source)}
    objects = bench.path("objects.npz")
    bench.make("hex8-sparse", max(BLOCK, int(10 ** 4 * min(bench.scale, 10))), objects)
    inputs["hex8, policies as objects"] = ("hex8", objects)
    writes = ["-q", "-f", "-o", out]
    for label, (board, path) in inputs.items():
        for words in (["info"], ["verify", "--not-expanded", "-b", board], ["overlap", "-b", board],
                      ["dedupe", "-b", board, *writes], ["expand", "--pick", "1", "-b", board, *writes],
                      ["expand", "--unique", "-b", board, *writes], ["expand", "--shuffle", "-b", board, *writes],
                      ["split", "-q", "-f", "-b", board, "--parts", "a=0.8,b=0.2", "--out-dir", out + ".d"]):
            runs = []
            for _ in range(min(bench.runs, 3)):
                done = subprocess.run([bench.symaug, *words, path], capture_output=True)
                if done.returncode not in (0, 1):
                    sys.exit(f"{' '.join(words)}: {done.stderr.decode()}")
            if done.returncode == 0:
                runs = [Run([bench.symaug, *words, path], bench.quick) for _ in range(bench.runs)]
                n_bytes = max(map(unpacked_nbytes, [path] + [out] * ("-o" in words)))
                bench.row(label, " ".join(words[:2] if words[0] in ("verify", "expand") else words[:1]),
                          f"{median(runs):.3f}", f"{n_bytes / median(runs) / 1e6:.0f}", f"{peak(runs):.0f}")
            if os.path.exists(out):
                os.unlink(out)


def growth(bench, name="hex13"):
    most = 100_000 if bench.scale < 10 else 1_000_000
    rows = [1000 * 10 ** k for k in range(7) if 1000 * 10 ** k <= most]
    source, out = bench.path("growth.npz"), bench.path("out.npz")
    seconds = {}
    bench.say()
    bench.say("## Growth with rows")
    bench.say()
    bench.say(f"{name}, without fsync; the time of a shard of {BLOCK} rows (start-up) is taken "
              "off before the exponent is fitted.")
    bench.table(["rows", "seconds"])
    for n in [BLOCK] + rows:
        bench.make(name, n, source)
        runs = [bench.expand(name, source, out, env=bench.quick)
                for _ in range(max(bench.runs, 5) if n < 100_000 else 3)]
        seconds[n] = median(runs)
        bench.row(n, f"{seconds[n]:.4f}")
    net = [max(seconds[n] - seconds[BLOCK], 1e-4) for n in rows]
    exponent = np.polyfit(np.log(rows), np.log(net), 1)[0]
    bench.say()
    bench.say(f"Exponent {exponent:.3f}, aim 1.00 ± 0.03.")
    os.unlink(source)


def small(bench):
    bench.say()
    bench.say("## A shard of 100 rows")
    bench.table(["set", "ms", "ms without fsync", "aim"])
    for name in bench.names:
        source, out = bench.path("small.npz"), bench.path("out.npz")
        with_fsync, without = [], []
        bench.make(name, 100, source)
        for _ in range(max(bench.runs, 9)):
            with_fsync.append(bench.expand(name, source, out))
            without.append(bench.expand(name, source, out, env=bench.quick))
        bench.row(name, f"{1e3 * median(with_fsync):.1f}", f"{1e3 * median(without):.1f}", "8")


def verify(bench):
    bench.say()
    bench.say("## verify of an expanded set")
    bench.table(["set", "seconds", "GB/s", "peak MiB"])
    for name in bench.names:
        source, out = bench.path(name + ".npz"), bench.path("out.npz")
        bench.expand(name, source, out, env=bench.quick)
        runs = [Run([bench.symaug, "verify", "-q", "-b", sets.SETS[name][1], out])
                for _ in range(bench.runs)]
        bench.row(name, f"{median(runs):.3f}", f"{unpacked_nbytes(out) / median(runs) / 1e9:.2f}",
                  f"{peak(runs):.0f}")


def report(bench):
    """Pages about sets as they were played, before anything is expanded: streams."""
    bench.say()
    bench.say("## report")
    bench.say()
    bench.say("One page about a set as it was played, uncompressed bytes of all arrays. Aim on two threads: 500 MB/s.")
    bench.table(["set", "rows", "MB", "seconds", "MB/s", "peak MiB"])
    for name in bench.names:
        source, page = bench.path("report.npz"), bench.path("report.html")
        rows = max(BLOCK, int(25 * sets.SETS[name][2] * min(bench.scale, 4)))
        bench.make(name, rows, source)
        runs = [Run([bench.symaug, "report", "-q", "-f", "-b", sets.SETS[name][1], "-o", page, source])
                for _ in range(bench.runs)]
        n_bytes = unpacked_nbytes(source)
        bench.row(name, rows, f"{n_bytes / 1e6:.0f}", f"{median(runs):.2f}",
                  f"{n_bytes / median(runs) / 1e6:.0f}", f"{peak(runs):.0f}")
        os.unlink(source)


def many_small(bench, name="gomoku", rows=30):
    """Small shards in one call of --out-dir."""
    n = int(400 * min(bench.scale, 25))
    inputs, out = bench.path("many"), bench.path("many.out")
    os.mkdir(inputs)
    arrays = sets.SETS[name][0](n * rows)
    for i in range(n):
        np.savez_compressed(os.path.join(inputs, f"{i:05}.npz"),
                            **{key: array[rows * i:rows * (i + 1)] for key, array in arrays.items()})
    paths = [os.path.join(inputs, file) for file in sorted(os.listdir(inputs))]
    runs = {1: [], 2: []}
    for _ in range(bench.runs):
        for n_threads in runs:
            shutil.rmtree(out, ignore_errors=True)
            runs[n_threads].append(Run([bench.symaug, "expand", "-q", "-b", sets.SETS[name][1], "-j",
                                        str(n_threads), "--out-dir", out, *paths], bench.quick))
    bench.say()
    bench.say("## Many small shards in one call")
    bench.say()
    bench.say(f"{n} shards of {rows} rows ({name}), `--out-dir`, without fsync. Aim: x 1.8.")
    bench.table(["1 thread s", "2 threads s", "x", "ms a shard", "peak MiB"])
    bench.row(f"{median(runs[1]):.3f}", f"{median(runs[2]):.3f}", f"{median(runs[1]) / median(runs[2]):.2f}",
              f"{1e3 * median(runs[2]) / n:.2f}", f"{peak(runs[2]):.0f}")
    bench.say()
    bench.say("Other commands on those shards, two threads.")
    bench.table(["command", "seconds", "ms a shard", "peak MiB"])
    board, one = ["-b", sets.SETS[name][1]], bench.path("many.npz")
    for words in (["info", *paths], ["verify", "--not-expanded", *board, *paths], ["overlap", *board, inputs],
                  ["dedupe", "-q", "-f", *board, "-o", one, *paths], ["report", "-q", "-f", *board, "-o", one, inputs],
                  ["split", "-q", "-f", *board, "--parts", "a=0.8,b=0.2", "--out-dir", out, *paths]):
        taken = [Run([bench.symaug, *words], bench.quick) for _ in range(bench.runs)]
        bench.row(words[0], f"{median(taken):.3f}", f"{1e3 * median(taken) / n:.2f}", f"{peak(taken):.0f}")
    shutil.rmtree(inputs)
    shutil.rmtree(out)


def loading_files(bench):
    """Symaug's file against that of the naive script: what an epoch waits for."""
    names = ["np.load", *decoders.decoders()]
    bench.say()
    bench.say("## Loading what was written")
    bench.say()
    bench.say("Uncompressed GB/s of symaug's file, and how many times that is the speed of numpy's: `np.load` of "
              "all arrays, and the deflate streams alone through the libraries that loaders use. Best of the runs.")
    bench.table(["set"] + [cell for name in names for cell in (name, "x")])
    for name in bench.names:
        source = bench.path(name + ".npz")
        paths = bench.path("naive.npz"), bench.path("out.npz")
        seconds = [[], []]
        bench.make(name, max(BLOCK, sets.SETS[name][2] // 4), source)
        bench.script("naive", name, source, paths[0])
        bench.expand(name, source, paths[1], env=bench.quick)
        for _ in range(bench.runs):
            for path, taken in zip(paths, seconds):
                start = time.perf_counter()
                with np.load(path, allow_pickle=True) as npz:
                    for key in npz.files:
                        npz[key]
                taken.append(time.perf_counter() - start)
        speeds = [{"np.load": unpacked_nbytes(path) / min(taken) / 1e9, **decoders.speeds(path, 5)}
                  for path, taken in zip(paths, seconds)]
        bench.row(name, *(cell for key in names
                          for cell in (f"{speeds[1][key]:.2f}", f"{speeds[1][key] / speeds[0][key]:.2f}")))


def positions(bench):
    """Keys of stored planes, and how dedupe grows with rows."""
    rng = np.random.default_rng(1)
    source, out = bench.path("keys.npz"), bench.path("deduped.npz")
    bench.say()
    bench.say("## Positions up to symmetry")
    bench.say()
    bench.say("`overlap` of stored planes with themselves left out: two keys of each row, one of them of the "
              "canonical image. Aim on two threads: 1 GB/s.")
    bench.table(["planes", "threads", "GB/s"])
    for board, shape, dtype, density in (("hex8", (56, 9, 9), "f4", 0.08), ("square:19", (17, 19, 19), "u1", 0.15)):
        n = int(2e8 * min(bench.scale, 1)) // (np.dtype(dtype).itemsize * int(np.prod(shape))) + 1
        np.savez(source, planes=(rng.random((n, *shape), "f4") < density).astype(dtype))
        for n_threads in (1, 2):
            runs = [Run([bench.symaug, "overlap", "-j", str(n_threads), "-b", board, source])
                    for _ in range(bench.runs)]
            bench.row(f"{board} {dtype}", n_threads, f"{os.path.getsize(source) / median(runs) / 1e9:.2f}")
    rows = [10 ** 5, 10 ** 6] + [10 ** 7] * (bench.scale >= 1)
    seconds = []
    bench.say()
    bench.say("`dedupe` of 3 x 3 boards, `--max-memory 64M`, without fsync.")
    bench.table(["rows", "seconds", "peak MiB"])
    for n in rows:
        np.savez(source, planes=rng.integers(0, 256, (n, 2, 3, 3), np.uint8))
        runs = [Run([bench.symaug, "dedupe", "-q", "-f", "-b", "tictactoe", "--level=store",
                     "--max-memory=64M", source, out], bench.quick) for _ in range(bench.runs)]
        seconds.append(median(runs))
        bench.row(n, f"{seconds[-1]:.3f}", f"{peak(runs):.0f}")
    exponent = np.polyfit(np.log(rows), np.log(seconds), 1)[0]
    bench.say()
    bench.say(f"Exponent {exponent:.3f}, aim 1.0 ± 0.1.")
    os.unlink(source)


def python(bench):
    bench.say()
    bench.say("## Images while a net trains: the Python package")
    bench.say()
    bench.say(f"Random rows under random transforms, batches of {loading.BATCH}, against numpy grouped by "
              "transform. Aim on two threads: 5 times as fast.")
    bench.table(["set", "threads", "images/s", "numpy images/s", "x"])
    for name in ("gomoku-u1", "hex13", "hex8-dense"):
        for n_threads in (1, 2):
            ours, careful = loading.measure(name, 20000 if name != "hex8-dense" else 5000, n_threads,
                                            max(bench.runs, 9))
            bench.row(name, n_threads, f"{ours:.0f}", f"{careful:.0f}", f"{ours / careful:.1f}")


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), "unknown processor")
    load = os.getloadavg()[0]
    return (f"{len(os.sched_getaffinity(0))} processors ({model}), load {load:.1f} at the start, "
            f"numpy {np.__version__}")


def main(symaug):
    folder = tempfile.mkdtemp(prefix="symaug-bench-")
    try:
        bench = Bench(symaug, folder)
        bench.say("# Benchmark")
        bench.say()
        bench.say(f"`make bench N={bench.scale:g} RUNS={bench.runs}` on {machine()}.")
        bench.say()
        for section in (compare, threads, many_threads, small, many_small, growth, verify, report,
                        loading_files, commands, positions, python):
            section(bench)
    finally:
        shutil.rmtree(folder)
    path = os.environ.get("RESULTS") or os.path.join(HERE, "RESULTS.md")
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(bench.lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
