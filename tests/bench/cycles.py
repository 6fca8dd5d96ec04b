"""Shares of the cycles of the program, by what the code is for, through perf and nm."""
import glob
import os
import re
import shutil
import subprocess

PARTS = ["encode", "gather", "CRC", "inflate", "hash", "memory", "system", "waiting", "other"]
USEFUL = PARTS[:4]

# Of the program's own functions, by the object file that defines them; first match.
FILES = [("inflate", r"codec/inflate"), ("encode", r"src/codec/"),
         ("gather", r"engine/(kernel|label)")]
# Of other binaries, by binary and symbol.
SYMBOLS = [("CRC", r"crc"), ("inflate", r"libisal.*(inflate|decode|copy)|libz.*inflate"),
           ("encode", r"libisal|libz\.|libdeflate"), ("waiting", r"libgomp"),
           ("hash", r"libcrypto"), ("memory", r"libc.*mem(cpy|move|set|cmp)"), ("system", r"^\[")]


def own_symbols(build):
    """Function name -> part, for the objects of a build folder."""
    parts = {}
    for path in sorted(glob.glob(os.path.join(build, "src", "*", "*.o"))):
        part = next((p for p, pattern in FILES if re.search(pattern, path)), "other")
        names = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True)
        for line in names.stdout.splitlines():
            fields = line.split()
            if len(fields) == 3 and fields[1] in "tT":
                parts.setdefault(fields[2], part)
    return parts


def samples(command, data, env):
    """(share of cycles, binary, symbol) of a run; empty without perf."""
    if shutil.which("perf") is None:
        return []
    subprocess.run(["perf", "record", "-q", "-F", "9999", "-o", data, "--", *command], env=env,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = subprocess.run(["perf", "report", "-i", data, "--stdio", "-q", "--sort", "dso,symbol",
                             "-t", ";"], capture_output=True, text=True)
    found = []
    for line in report.stdout.splitlines():
        fields = [field.strip() for field in line.split(";")]
        if len(fields) >= 3 and fields[0].endswith("%"):
            found.append((float(fields[0][:-1]), fields[1], fields[2].split("] ", 1)[-1]))
    return found


# What one thread at a time does, beside the others: upper bounds, since the survey inflates, too,
# and not all that the system does is writing. The rest is shared by all threads.
CHAINS = {"input": ["inflate", "memory"], "hash": ["hash"], "writing": ["system"]}


def parts(command, data, env):
    """Percent for each of PARTS; empty without perf."""
    found = samples(command, data, env)
    own = own_symbols(os.path.dirname(command[0]))
    sums = dict.fromkeys(PARTS, 0.0)
    for share, binary, symbol in found:
        if binary == os.path.basename(command[0]):
            part = own.get(re.sub(r"\.(constprop|part|isra|_omp_fn)\S*$", "", symbol), "other")
        else:
            name = binary + " " + symbol
            part = next((p for p, pattern in SYMBOLS if re.search(pattern, name)), "other")
        sums[part] += share
    total = sum(sums.values())
    return {part: 100 * sums[part] / total for part in PARTS} if total > 0 else {}


def shares(command, data, env):
    """The same as cells of a table, and the useful ones together."""
    found = parts(command, data, env)
    if not found:
        return ["–"] * (len(PARTS) + 1)
    cells = [f"{found[part]:.0f} %" for part in PARTS]
    return cells + [f"{sum(found[part] for part in USEFUL):.0f} %"]


def chains(found):
    """Of the parts (in any unit) those of each chain, and of what is shared."""
    of = {name: sum(found[part] for part in CHAINS[name]) for name in CHAINS}
    return {**of, "shared": sum(found.values()) - sum(of.values())}
