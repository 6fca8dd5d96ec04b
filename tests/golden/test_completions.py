#!/usr/bin/python3
"""The completions of bash, zsh and fish offer what the program accepts, and nothing else."""

import os
import re
import shutil
import subprocess
import tempfile

import library
import manual
from golden import Tap

tap = Tap()
COMMANDS = manual.commands()
FOLDER = os.path.join(library.BUILD, "completions")


def shell(*command, cwd=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd)
    assert done.returncode == 0 and done.stderr == "", f"{command[0]}: {done.stderr.strip()}"
    return done.stdout.splitlines()


def bash(line, cwd=None):
    """What bash would offer at the end of a line."""
    script = os.path.abspath(os.path.join(FOLDER, "symaug"))
    return shell("bash", "--norc", "-c", 'source "$1"; COMP_LINE=$2 COMP_POINT=${#2}; _symaug; '
                 '[ ${#COMPREPLY[@]} -eq 0 ] || printf "%s\\n" "${COMPREPLY[@]}"', "bash", script,
                 line, cwd=cwd)


def fish(line, cwd=None):
    script = os.path.abspath(os.path.join(FOLDER, "symaug.fish"))
    out = shell("fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", script, line,
                cwd=cwd)
    return [row.split("\t")[0] for row in out]


def zsh(*words):
    """The arguments with which zsh's own functions are called for a line of these words."""
    script = os.path.abspath(os.path.join(FOLDER, "_symaug"))
    return shell("zsh", "-f", "-c", 'for f in _arguments _describe _files compadd; do '
                 'functions[$f]="print -rl -- $f \\"\\$@\\""; done; file=$1; shift; '
                 'words=("$@") CURRENT=$#; complete() { source $file }; complete', "zsh", script,
                 *words)


def same(found, expected, what):
    found, expected = sorted(found), sorted(expected)
    assert found == expected, f"{what}: {found}, expected {expected}"


@tap.test()
def test_make():
    """They are made from the tables of this build."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    library.make("completions")
    same(os.listdir(FOLDER), ["symaug", "_symaug", "symaug.fish"], FOLDER)


@tap.test()
def test_bash_commands():
    same(bash("symaug exp"), ["expand"], "exp")
    same(bash("symaug "), [*COMMANDS, "help", "--help", "--version"], "commands")
    same(bash("symaug help "), COMMANDS, "help")


@tap.test(*COMMANDS)
def test_bash_options(command):
    options = manual.options(command)
    long = [f"--{name}{'=' if argument else ''}" for name, (_, argument) in options.items()]
    short = [f"-{letter}" for letter, _ in options.values() if letter]
    same(bash(f"symaug {command} -"), long + short, command)


@tap.test()
def test_bash_prefix():
    same(bash("symaug expand --lev"), ["--level="], "--lev")
    same(bash("symaug expand in.npz --boa"), ["--board="], "--boa behind an operand")
    same(bash("symaug expand --nonsense"), [], "--nonsense")


@tap.test("order", "level", "format", "planes", "value", "to-move", "plane-order", "ambiguous",
          "castling", "tiles", "progress")
def test_words(option):
    """The words of an option are those that the program accepts; every shell has them."""
    found = bash(f"symaug expand --{option}=")
    for word in found:
        said = manual.run("expand", f"--{option}={word}", "no-such-file", "out.npz", "--board=go9",
                          code=66)[1]
        assert "no-such-file" in said, said
    told = {word for word in manual.option_words(option) if word not in ("B", "1", "9")}
    bare = {word.split(":")[0] for word in found}
    assert {word.split(":")[0] for word in told} == bare, f"{sorted(told)}, bash: {sorted(found)}"
    same(bash(f"symaug expand --{option} "), found, "apart")
    zsh_spec = next(x for x in zsh("symaug", "expand", "") if f"--{option}=" in x)
    same(re.search(r"\(([^()]*)\)$", zsh_spec)[1].replace("\\:", ":").split(), found, "zsh")
    if shutil.which("fish"):
        same(fish(f"symaug expand --{option} "), found, "fish")


@tap.test()
def test_bash_values():
    same(bash("symaug expand --level=f"), ["fast"], "--level=f")
    same(bash("symaug expand -l be"), ["best"], "-l be")
    same(bash("symaug expand --level=zlib:"), [str(n) for n in range(1, 10)], "zlib:")
    same(bash("symaug expand --order bl"), ["block:16"], "--order bl")
    same(bash("symaug sample --board=hexag"), ["hexagonal", "hexagon:"], "--board=hexag")
    same(bash("symaug boards tic"), ["tictactoe"], "boards tic")
    same(bash("symaug boards hexagon:"), [], "boards hexagon:")
    same(bash("symaug manifest ch"), ["check"], "manifest ch")
    same(bash("symaug manifest check ch"), [], "manifest check ch")


@tap.test()
def test_boards():
    known = manual.boards()
    expected = {x["name"] for x in known["presets"]}
    expected |= {x["name"] + ":" * (":" in x["syntax"]) for x in known["families"]}
    same(bash("symaug expand --board="), expected, "bash")
    spec = next(x for x in zsh("symaug", "expand", "") if "--board=" in x)
    same(re.search(r"\(([^()]*)\)$", spec)[1].replace("\\:", ":").split(), expected, "zsh")
    if shutil.which("fish"):
        same(fish("symaug expand --board "), expected, "fish")


@tap.test("hex8", "square8", "hex11", "connect4", "chess")
def test_layouts(board):
    offered = bash("symaug expand --policy=")
    assert len(set(offered)) == len(offered)
    missing = {x["name"] for x in manual.board(board)["layouts"]} - set(offered)
    assert not missing, missing


@tap.test()
def test_bash_files():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "inner"))
        open(os.path.join(folder, "input.npz"), "w").close()
        same(bash("symaug info in", folder), ["inner", "input.npz"], "operands")
        same(bash("symaug expand --out-dir=in", folder), ["inner"], "--out-dir")
        same(bash("symaug expand -o in", folder), ["inner", "input.npz"], "-o")


@tap.test(("expand", "npy npz"), ("verify", "json npy npz"), ("boards", "json"),
          ("manifest check", "json"))
def test_kinds_of_files(command, endings):
    """Operands are files of the kinds that a command reads, or folders."""
    kinds = {f"a.{ending}" for ending in endings.split()}
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "ab"))
        for name in ("a.npz", "a.npy", "a.json", "a.txt", "a"):
            open(os.path.join(folder, name), "w").close()
        same(bash(f"symaug {command} a", folder), {"ab", *kinds}, "bash")
        same(bash(f"symaug {command} a.npz a", folder), {"ab", *kinds}, "bash, the next one")
        if shutil.which("fish"):
            found = {x.removesuffix("/") for x in fish(f"symaug {command} a", folder)}
            assert found >= {"ab", *kinds}, f"fish: {sorted(found)}"
    for spec in zsh("symaug", *command.split()[:1], "")[-2:] if shutil.which("zsh") else []:
        found = re.search(r'_files -g "\*\.\((.*)\)"', spec)
        same(found[1].split("|"), endings.split(), f"zsh: {spec}")


@tap.test(*COMMANDS)
def test_zsh(command):
    """zsh: the specifications that _arguments gets."""
    if not shutil.which("zsh"):
        return
    specs = zsh("symaug", command, "")
    assert specs[0] == "_arguments", specs[0]
    found = {}
    for spec in specs:
        row = re.match(r"(?:\*|\(-. --[a-z-]+\))?--([a-z-]+)(=?)\[(.+?)(?<!\\)\]"
                       r"(?::([A-Z=/]+):.*)?$", spec)
        if row:
            found[row[1]] = row[4] or ""
            assert bool(row[2]) == bool(row[4]), spec
    same(found.items(), [(name, a) for name, (_, a) in manual.options(command).items()], command)


@tap.test()
def test_zsh_commands():
    if shutil.which("zsh"):
        assert zsh("symaug", "") == ["_describe", "command", "commands"]


@tap.test(*COMMANDS)
def test_fish(command):
    if not shutil.which("fish"):
        return
    long = [f"--{name}{'=' if a else ''}" for name, (_, a) in manual.options(command).items()]
    same({x.removesuffix("=") for x in fish(f"symaug {command} --")},
         {x.removesuffix("=") for x in long}, command)


@tap.test()
def test_fish_commands():
    if shutil.which("fish"):
        same(fish("symaug exp"), ["expand"], "exp")
        same(fish("symaug "), [*COMMANDS, "help"], "commands")


if __name__ == "__main__":
    tap.main()
