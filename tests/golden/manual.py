"""The manual pages as data: pages, items, references; and what the program says of itself."""

import glob
import json
import os
import re

from golden import run

PAGES = sorted(glob.glob("man/*.[1-8]"))


def source(page):
    with open(f"man/{page}", encoding="utf-8") as file:
        return file.read()


def commands():
    """The commands that `symaug help` lists."""
    text = run("help")[0].split("commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in text.splitlines()]


def options(command):
    """{long: (short or "", argument or "")} as `symaug COMMAND --help` prints them."""
    found = {}
    for line in run(command, "--help")[0].split("options:\n")[1].splitlines():
        row = re.match(r"  (?:-(.), |    )--([a-z-]+)(?:=(\S+))?", line)
        if not row:  # the name of a group, or more words of an option's help
            assert re.match(r"$| [a-z ,]+:$| {30}\S", line), f"{command}: the line {line!r} of the help"
            continue
        assert len(line) < 80, line
        found[row[2]] = (row[1] or "", row[3] or "")
    assert len(found) >= 4, f"{command}: options {found}"
    return found


def described_options(page):
    """The same as the page's items say it."""
    found = {}
    item = r"^\.It (?:Fl (\w) , )?Fl -([a-z-]+)(?: Ns = Ns Ar (\S+))?$"
    for row in re.finditer(item, source(page), re.M):
        assert row[2] not in found, f"{page}: --{row[2]} is described twice"
        found[row[2]] = (row[1] or "", row[3] or "")
    return found


def item(page, head):
    """The text of the list item that starts with `head`, up to the next one."""
    text = re.search(rf"^\.It {head}.*?(?=^\.(?:It|El) ?)", source(page), re.M | re.S)
    assert text, f"{page}: no item {head}"
    return text[0]


def words(page, head):
    """The literal words (Cm) of an item."""
    return set(re.findall(r"[^\s,():]+", " ".join(re.findall(r"^\.(?:It )?Cm (.*)$",
                                                            item(page, head), re.M))))


def option_words(option, text="?"):
    """What the program says it accepts: "--value: '?' is none of a, b" and the like."""
    said = run("expand", f"--{option}={text}", "in", "out", code=64)[1].strip()
    listed = re.search(r"(?:is none of|expected|is neither) (.*)$", said)
    assert listed, said
    return set(re.findall(r"[^\s,:]+", re.sub(r" (?:or|nor|to) ", " ", listed[1])))


def boards():
    return json.loads(run("boards", "--json")[0])


def board(name):
    return json.loads(run("boards", "--json", name)[0])


def prototypes(text):
    """{name: "type name(arguments)"} of C declarations, white space made equal."""
    found = {}
    for row in re.finditer(r"SYMAUG_API\s+([^;(]*?)(symaug_\w+)\(([^;]*)\);", text):
        found[row[2]] = " ".join(f"{row[1]}{row[2]}({row[3]})".split()).replace("* ", "*")
    return found


def synopsis(page):
    """The same from a page's Ft, Fn, Fo, Fa macros."""
    text = re.sub(r"^\.Fo (\S+)\n((?:\.Fa .*\n)*)\.Fc", fold, source(page), flags=re.M)
    found = {}
    for row in re.finditer(r"^\.Ft (.*)\n\.Fn (\S+) (.*)$", text, re.M):
        arguments = re.findall(r'"([^"]*)"|(\S+)', row[3])
        joined = ", ".join(quoted or bare for quoted, bare in arguments)
        kind = row[1].strip('"')
        found[row[2]] = f"{kind}{'' if kind.endswith('*') else ' '}{row[2]}({joined})"
    return found


def fold(row):
    return f".Fn {row[1]} " + " ".join(re.findall(r'^\.Fa ("[^"]*")', row[2], re.M))


def exists(name, section):
    return os.path.exists(f"man/{name}.{section}")
