"""symaug-convert: training files of other programs to .npz and back, without loss.

    symaug-convert ORIGINAL out.npz
    symaug-convert --like ORIGINAL expanded.npz NEW

Pickles (also gzipped), LMDB folders, HDF5, CSV and TSV, folders of .npy files. The first form makes
an array of every field; the second writes rows in the form, nesting, types and attributes that
ORIGINAL has. Only types are looked up in ORIGINAL, never its rows.
"""

import errno
import os
import secrets
import shutil
import signal
import sys
import zipfile
import zlib

import numpy as np

from .containers import open_original
from .kinds import DATA, Error, bad

USAGE, NO_INPUT, INTERNAL, CANNOT_CREATE, IO_ERROR, TRY_LATER = 64, 66, 70, 73, 74, 75


def code_of(why):
    """The exit code of an OSError: a full disk may have room later."""
    return TRY_LATER if why.errno in (errno.ENOSPC, errno.EDQUOT, errno.ESTALE) else IO_ERROR


def read_shard(path):
    """The arrays of an .npz, by name, and the number of rows."""
    try:
        with np.load(path, allow_pickle=False) as shard:
            arrays = {name: shard[name] for name in shard.files}
    except (ValueError, EOFError, KeyError, zlib.error, OSError, SyntaxError) as why:
        if isinstance(why, FileNotFoundError):
            raise
        raise bad(path, "an .npz of arrays", str(why)[:80].replace("\n", " ")) from None
    except Exception as why:  # zipfile's own errors
        raise bad(path, "an .npz of arrays", str(why)[:80]) from None
    lengths = {}
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):
            raise bad(f"{path}: {name}", "an array", "other data")
        if array.ndim:
            lengths.setdefault(len(array), []).append(name)
    if len(lengths) != 1:
        said = "; ".join(f"{n} in {', '.join(names)}" for n, names in lengths.items())
        raise bad(path, "one number of rows", said or "no rows")
    return arrays, next(iter(lengths))


def write_npz(arrays, path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(name + ".npy")
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def put_in_place(path, force, is_folder, write):
    """write(temp), then temp becomes path; nothing is left of a failure."""
    if os.path.lexists(path) and not force:
        raise Error(CANNOT_CREATE, f"{path}: it exists; use -f to replace it")
    if os.path.lexists(path) and os.path.isdir(path) != is_folder:
        raise Error(CANNOT_CREATE, f"{path}: expected a {'folder' if is_folder else 'file'} to replace, "
                    f"found a {'file' if is_folder else 'folder'}")  # fmt: skip
    for name in os.listdir(path) if is_folder and os.path.lexists(path) else ():
        if name not in ("data.mdb", "lock.mdb", "dataset.json") and not name.endswith(".npy"):
            raise Error(CANNOT_CREATE, f"{path}: expected a folder of rows to replace, found {name!r} in it")
    parent = os.path.dirname(os.path.abspath(path))
    temp = os.path.join(parent, ".symaug-convert-" + secrets.token_hex(8))
    inner = os.path.join(temp, "out")
    try:  # from before it exists, so that no signal leaves it behind
        try:
            os.mkdir(temp, 0o700)
        except OSError as why:
            raise Error(CANNOT_CREATE, f"{path}: {why.strerror}") from None
        if is_folder:
            os.mkdir(inner)
        try:
            write(inner)
        except (Error, OSError, MemoryError):
            raise
        except Exception as why:  # of h5py and lmdb, whose ways to fail are many
            if isinstance(why.__context__, SystemExit):  # of a library that a signal took by surprise
                raise why.__context__ from None
            raise Error(IO_ERROR, f"{path}: cannot be written ({str(why)[:80]})") from None
        for folder, _, names in os.walk(inner) if is_folder else [(temp, [], ["out"])]:
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    os.fsync(file.fileno())
        if is_folder and os.path.isdir(path):
            os.rename(path, os.path.join(temp, "old"))
        os.replace(inner, path)
    except OSError as why:
        raise Error(code_of(why), f"{path}: {why.strerror or why}") from None
    finally:
        shutil.rmtree(temp, ignore_errors=True)


def to_npz(original, out, force=False):
    """Convert a file of one of the systems to an .npz. Error says what is wrong."""
    if os.path.exists(out) and os.path.samefile(original, out):
        raise Error(CANNOT_CREATE, f"{out}: it is the file that is read")
    arrays = open_original(original).read()
    put_in_place(out, force, False, lambda temp: write_npz(arrays, temp))


def like(original, shard, new, force=False):
    """Write the rows of an .npz in the form of a file of one of the systems."""
    container = open_original(original)
    arrays, n = read_shard(shard)
    left = [name for name in arrays if name not in container.names()]
    put_in_place(new, force, os.path.isdir(original), lambda temp: container.write(arrays, n, temp))
    if left:
        print(f"symaug-convert: left out, {original} has no field for: {', '.join(left)}", file=sys.stderr)


HELP = """usage: symaug-convert [-f] ORIGINAL OUT.npz
       symaug-convert [-f] --like ORIGINAL EXPANDED.npz NEW

Convert training files of other programs (pickles, LMDB, HDF5, CSV, TSV, folders of .npy files) to
.npz, or rows of an .npz back to the form that ORIGINAL has.

  -f, --force    replace an existing output
  -h, --help     print this help
      --version  print the version

example: symaug-convert games.pkl.gz games.npz
         symaug expand --board hex13 games.npz images.npz
         symaug-convert --like games.pkl.gz images.npz images.pkl.gz"""


def run(arguments):
    """The command. Returns its exit code."""
    force, is_back, operands = False, False, []
    options = True
    for word in arguments:
        if options and word == "--":
            options = False
        elif options and word in ("-h", "--help"):
            print(HELP)
            return 0
        elif options and word == "--version":
            from . import __version__

            print(f"symaug-convert {__version__}")
            return 0
        elif options and word in ("-f", "--force"):
            force = True
        elif options and word == "--like":
            is_back = True
        elif options and word.startswith("-") and word != "-":
            raise Error(USAGE, f"unknown option {word!r}; symaug-convert --help lists them")
        else:
            operands.append(word)
    if "-" in operands:
        raise Error(USAGE, "'-' is not a file: standard streams are not supported")
    if len(operands) != (3 if is_back else 2):
        raise Error(USAGE, ("expected --like ORIGINAL EXPANDED.npz NEW" if is_back
                            else "expected ORIGINAL OUT.npz") + f", found {len(operands)} operands")  # fmt: skip
    (like if is_back else to_npz)(*operands, force)
    return 0


def guarded(arguments):
    """run() with every failure as one line."""
    try:
        return run(arguments)
    except Error as why:
        code, message = why.code, str(why)
    except FileNotFoundError as why:
        code, message = NO_INPUT, f"{why.filename}: no such file"
    except ImportError as why:
        package = {"h5py": "python3-h5py", "lmdb": "python3-lmdb"}.get(why.name, why.name)
        code, message = NO_INPUT, f"this needs the Python module {why.name} (Debian: {package})"
    except MemoryError:
        code, message = INTERNAL, "out of memory"
    except OSError as why:
        code, message = code_of(why), f"{why.filename or ''}: {why.strerror or why}"
    except Exception as why:
        code, message = INTERNAL, f"internal error: {type(why).__name__}: {why}"
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)
    print("symaug-convert: " + "".join(shown), file=sys.stderr)
    return code


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop(number, frame):
    """End by a signal, but not before what was begun is taken away."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise SystemExit(128 + number)


def main(arguments=None):
    """The command in a child, which alone is lost when a library crashes on a damaged LMDB or HDF5
    file. Returns its exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop if child == 0 else lambda number, _: os.kill(child, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    if child == 0:
        try:
            code = guarded(arguments)
        except SystemExit as why:
            code = why.code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) in (signal.SIGBUS, signal.SIGSEGV, signal.SIGABRT):
            original = next((word for word in arguments if not word.startswith("-")), "")
            print(f"symaug-convert: {original}: expected a whole file, found one that is so damaged that the "
                  "library which reads it failed", file=sys.stderr)  # fmt: skip
            return DATA
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


if __name__ == "__main__":
    sys.exit(main())
