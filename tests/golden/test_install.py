#!/usr/bin/python3
"""make install and uninstall: every file in its place, a program that builds against them."""

import glob
import os
import re
import subprocess
import tempfile

import library
import manual
from golden import Tap

tap = Tap()
ROOT = tempfile.TemporaryDirectory()
PREFIX = "/usr"
USR = ROOT.name + PREFIX


def make(target):
    library.make(target, DESTDIR=ROOT.name, PREFIX=PREFIX)


def files(root):
    return sorted(os.path.relpath(os.path.join(folder, name), root)
                  for folder, _, names in os.walk(root) for name in names)


def expected():
    found = ["bin/symaug", "include/symaug.h", "lib/libsymaug.a", "lib/libsymaug.so",
             "lib/libsymaug.so.1", f"lib/libsymaug.so.{version()}", "lib/pkgconfig/symaug.pc",
             "share/bash-completion/completions/symaug", "share/zsh/site-functions/_symaug",
             "share/fish/vendor_completions.d/symaug.fish", "share/symaug/manifest.schema.json"]
    found += ["bin/symaug-convert"] + [f"lib/python3/dist-packages/{path[7:]}"
                                       for path in glob.glob("python/symaug/*.py")]
    found += [f"share/man/man{page[-1]}/{page[4:]}" for page in manual.PAGES]
    boards = glob.glob("share/boards/*.json")
    found += [f"share/symaug/boards/{os.path.basename(board)}" for board in boards]
    found += [f"share/symaug/{path[6:]}" for kind in ("slurm", "snakemake")
              for path in glob.glob(f"share/{kind}/*")]
    return sorted(found)


def version():
    return manual.run("--version")[0].split()[1]


def pkg_config(*arguments):
    environment = {**os.environ, "PKG_CONFIG_PATH": f"{USR}/lib/pkgconfig",
                   "PKG_CONFIG_SYSROOT_DIR": ROOT.name, "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1",
                   "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}
    done = subprocess.run(["pkg-config", *arguments, "symaug"], capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@tap.test()
def test_install():
    make("install")
    assert files(USR) == expected(), set(files(USR)) ^ set(expected())
    for name in expected():
        path = os.path.join(USR, name)
        runs = name.startswith("bin/") or "/libsymaug.so" in name or name.endswith(
            (".sbatch", "/submit", "/slurm-status"))
        assert os.path.getsize(path) > 0, f"{name} is empty"
        assert bool(os.stat(path).st_mode & 0o111) == runs, f"mode of {name}"
    assert os.readlink(f"{USR}/lib/libsymaug.so") == "libsymaug.so.1"
    assert os.readlink(f"{USR}/lib/libsymaug.so.1") == f"libsymaug.so.{version()}"


@tap.test()
def test_program():
    done = subprocess.run([f"{USR}/bin/symaug", "boards", "hex8"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("hex8 = hexagon:4"), done.stderr
    board = f"{USR}/share/symaug/boards/triangle.json"
    done = subprocess.run([f"{USR}/bin/symaug", "boards", "--check", board], capture_output=True)
    assert done.returncode == 0


@tap.test()
def test_python():
    """The module finds the library and the program that were installed with it."""
    folder = f"{USR}/lib/python3/dist-packages"
    environment = {**library.environment(), "LD_LIBRARY_PATH": "", "PYTHONPATH": folder, "PATH": "/nowhere"}
    for name in ("SYMAUG_LIBRARY", "SYMAUG_PROGRAM"):
        environment.pop(name, None)
    code = "import symaug; board = symaug.Board('hex8'); print(symaug.__file__, board, board.layouts[0].name)"
    done = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, env=environment, cwd="/")
    assert done.stdout == f"{folder}/symaug/__init__.py symaug.Board('hex8') cells-box\n", done


@tap.test()
def test_soname():
    said = library.output("objdump", "-p", f"{USR}/lib/libsymaug.so")
    assert re.search(r"SONAME +libsymaug\.so\.1\n", said), said


@tap.test()
def test_exports():
    """The shared library exports the functions of the header and nothing else."""
    said = library.output("nm", "-D", "--defined-only", f"{USR}/lib/libsymaug.so")
    found = {line.split()[-1] for line in said.splitlines()}
    with open(f"{USR}/include/symaug.h", encoding="utf-8") as file:
        functions = set(manual.prototypes(file.read()))
    found = {name for name in found if not name.startswith("__")}  # of a sanitizer
    assert found == functions, found ^ functions


@tap.test()
def test_pkg_config():
    assert pkg_config("--modversion") == [version()]
    assert pkg_config("--cflags") == [f"-I{USR}/include"], pkg_config("--cflags")
    assert pkg_config("--libs") == [f"-L{USR}/lib", "-lsymaug"], pkg_config("--libs")
    assert "-ljansson" in pkg_config("--static", "--libs")


@tap.test()
def test_example():
    flags = [*pkg_config("--cflags"), *pkg_config("--libs"), "-Wl,--allow-shlib-undefined"]
    program = library.compile_example("examples/loader.c", f"{ROOT.name}/loader", flags)
    assert library.run([program, "hex11", "3", "1"], b"", f"{USR}/lib") == b""
    os.remove(program)


@tap.test()
def test_header_in_cplusplus():
    done = subprocess.run(["clang++", "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-x", "c++",
                           f"{USR}/include/symaug.h"], capture_output=True, text=True)
    assert done.returncode == 0 and "error" not in done.stderr, done.stderr


@tap.test()
def test_uninstall():
    """Nothing stays, and what belongs to others does."""
    other = f"{USR}/share/symaug/boards/mine.json"
    open(other, "w").close()
    make("uninstall")
    assert files(USR) == ["share/symaug/boards/mine.json"], files(USR)
    os.remove(other)
    make("install")
    make("uninstall")
    assert files(USR) == [] and not os.path.exists(f"{USR}/share/symaug"), files(USR)


@tap.test()
def test_no_libraries():
    """One line says what to do; the make that runs the tests has its own options."""
    environment = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    done = subprocess.run(["make", "BUILD=" + ROOT.name], capture_output=True, text=True,
                          env={**environment, "PKG_CONFIG_LIBDIR": "/nonexistent"})
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and len(lines) == 1 and "run `make deps`" in lines[0], done.stderr


@tap.test()
def test_readme():
    """The first examples work as they stand, with the program in the folder."""
    with open("README.md", encoding="utf-8") as file:
        examples = re.search(r"## Three examples\n\n```sh\n(.*?)```", file.read(), re.S)[1]
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(os.environ.get("SYMAUG", "./symaug")), folder + "/symaug")
        done = subprocess.run(["sh", "-e", "-c", examples], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@tap.test()
def test_dist():
    if not os.path.exists(".git"):  # an unpacked archive
        return
    make("dist")
    names = library.output("tar", "tzf", f"{library.BUILD}/symaug-{version()}.tar.gz").splitlines()
    top = f"symaug-{version()}/"
    assert names and all(name.startswith(top) for name in names)
    committed = library.output("git", "ls-tree", "-r", "--name-only", "HEAD").split()
    assert {x[len(top):] for x in names if not x.endswith("/")} == set(committed)


if __name__ == "__main__":
    tap.main()
