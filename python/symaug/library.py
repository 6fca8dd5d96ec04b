"""libsymaug through ctypes: where it is found, what its functions take, how they fail.

The library is loaded when it is first needed, and the program is looked for when it is first run.
"""

import ctypes
import ctypes.util
import functools
import glob
import operator
import os
import shutil

KINDS = {64: "usage", 65: "data", 66: "input", 70: "internal", 73: "output", 74: "io", 75: "again"}
HERE = os.path.dirname(os.path.realpath(__file__))
PREFIX = os.path.join(HERE, "..", "..", "..", "..")  # of PREFIX/lib/python3.x/dist-packages/symaug


class Error(Exception):
    """A failure of symaug.

    kind: "usage", "data", "input", "internal", "output", "io" or "again" (exit codes 64, 65, 66,
    70, 73, 74 and 75); file, array, row: what it is about, None where it is about none; message:
    one line.
    """

    def __init__(self, kind, message, file=None, array=None, row=None):
        super().__init__(message)
        self.kind, self.message, self.file, self.array, self.row = kind, message, file, array, row

    def __reduce__(self):
        return Error, (self.kind, self.message, self.file, self.array, self.row)


def usage(message):
    return Error("usage", message)


def whole(name, value, least=None):
    """The value as an int; Error where it is not a whole number, or less than least."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or (least is not None and number < least):
        expected = "a whole number" if least is None else f"a whole number, {least} or more"
        raise usage(f"{name}: expected {expected}, found {value!r}")
    return number


def named(what, value):
    """A name or a path as text; Error for anything else."""
    try:
        text = os.fspath(value)
        if "\0" not in text and text.encode():
            return text
    except (TypeError, UnicodeEncodeError):
        pass
    raise usage(f"{what}: expected a name or a path, found {value!r}")


class Array(ctypes.Structure):
    """struct symaug_array"""

    _fields_ = [("name", ctypes.c_char_p), ("descr", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("n_dims", ctypes.c_uint), ("data", ctypes.c_void_p), ("n_bytes", ctypes.c_uint64)]


class Failure(ctypes.Structure):
    """struct symaug_failure"""

    _fields_ = [("code", ctypes.c_int), ("row", ctypes.c_int64), ("array", ctypes.c_char * 128),
                ("file", ctypes.c_char * 1024), ("message", ctypes.c_char * 4096)]

    def error(self, row=None):
        """As an exception; row takes the place of its row where that is given."""
        array, file, message = (text.decode(errors="replace")
                                for text in (self.array, self.file, self.message))
        row = self.row if row is None else row
        return Error(KINDS.get(self.code, "internal"), message, file or None, array or None,
                     row if row >= 0 else None)


class Moved(ctypes.Structure):
    """struct symaug_moved"""

    _fields_ = [("name", ctypes.c_char_p), ("role", ctypes.c_char_p), ("form", ctypes.c_int),
                ("row_nbytes", ctypes.c_uint64), ("values", ctypes.c_int),
                ("offsets", ctypes.c_int), ("is_key", ctypes.c_int)]


class SpanOf(ctypes.Structure):
    """struct symaug_span"""

    _fields_ = [("name", ctypes.c_char_p), ("start", ctypes.c_uint64), ("stop", ctypes.c_uint64)]


class Rows(ctypes.Structure):
    """struct symaug_rows"""

    _fields_ = [("data", ctypes.c_void_p), ("values", ctypes.c_void_p), ("n_data", ctypes.c_uint64),
                ("rows", ctypes.c_void_p), ("transforms", ctypes.c_void_p), ("n", ctypes.c_size_t)]


# enum symaug_form
META, ROWS, OBJECTS, OBJECT_INDICES, CSR_OFFSETS, CSR_INDICES, CSR_VALUES = range(7)

_P, _S, _Z, _U, _I = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint32,
                      ctypes.c_int)
_MAP, _FAILURE = ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(Failure)
FUNCTIONS = {
    "version": (_S,),
    "board_new": (_P, _S, ctypes.c_char_p, _Z), "board_free": (None, _P), "board_name": (_S, _P),
    "board_rows": (_U, _P), "board_cols": (_U, _P), "board_cells": (_U, _P),
    "board_on_board": (_I, _P, _U), "board_transforms": (_U, _P), "transform_name": (_S, _P, _U),
    "transform_swaps_colours": (_I, _P, _U), "transform_inverse": (_U, _P, _U),
    "transform_compose": (_U, _P, _U, _U), "cell_dst": (_MAP, _P, _U),
    "actions_new": (_P, _P, _S, ctypes.c_uint64, ctypes.c_char_p, _Z), "actions_free": (None, _P),
    "actions_length": (ctypes.c_uint64, _P), "actions_dst": (_MAP, _P, _U),
    "actions_spans": (_Z, _P, ctypes.POINTER(SpanOf), _Z),
    "mover_new": (_P, ctypes.POINTER(Array), _Z, ctypes.POINTER(_S), _Z, _FAILURE),
    "mover_open": (_P, ctypes.POINTER(_S), _Z, ctypes.POINTER(_S), _Z, _FAILURE),
    "mover_free": (None, _P), "mover_board": (_P, _P),
    "mover_transforms": (_Z, _P, ctypes.POINTER(ctypes.POINTER(ctypes.c_uint8))),
    "mover_rows": (ctypes.c_uint64, _P, _Z), "mover_arrays": (_Z, _P),
    "mover_array": (Moved, _P, _Z),
    "mover_move": (_I, _P, _Z, ctypes.POINTER(Rows), _P, _FAILURE),
    "mover_keys": (_I, _P, ctypes.POINTER(_P), _Z, _P, _FAILURE),
    "mover_move_lists": (_I, _P, _Z, _P, _P, _Z, _P, _P, _FAILURE),
}  # fmt: skip


def _near(name, installed):
    """The file of a build tree that this module lies in, the release before others; else the one
    that was installed with this module."""
    found = sorted(glob.glob(os.path.join(HERE, "..", "..", "build", "*", name)),
                   key=lambda path: "/release/" not in path)  # fmt: skip
    if not found and os.path.basename(os.path.dirname(HERE)) == "dist-packages":
        found = glob.glob(os.path.join(PREFIX, installed))
    return os.path.realpath(found[0]) if found else None


@functools.lru_cache(maxsize=None)
def library():
    """The loaded library; its functions without "symaug_" are attributes."""
    path = os.environ.get("SYMAUG_LIBRARY") or _near("libsymaug.so", "lib/libsymaug.so.1") or "libsymaug.so.1"
    looked = ("looked at SYMAUG_LIBRARY, for build/*/libsymaug.so of the source, for PREFIX/lib/libsymaug.so.1 "
              "where the module is installed, and for libsymaug.so.1")  # fmt: skip
    try:
        loaded = ctypes.CDLL(path)
    except OSError as why:
        raise Error("input", f"the library of symaug cannot be loaded ({looked}): {why}") from None
    functions = type("Functions", (), {})()
    for name, (result, *arguments) in FUNCTIONS.items():
        try:
            function = getattr(loaded, "symaug_" + name)
        except AttributeError:
            raise Error("input", f"{path} is too old a library of symaug: it has no function "
                        f"symaug_{name} ({looked})") from None  # fmt: skip
        function.restype, function.argtypes = result, arguments
        setattr(functions, name, function)
    return functions


def program():
    """The path of the program."""
    path = os.environ.get("SYMAUG_PROGRAM") or _near("symaug", "bin/symaug") or shutil.which("symaug")
    if path is None:
        raise Error("input", "the program symaug cannot be found (looked at SYMAUG_PROGRAM, for "
                    "build/*/symaug of the source, for PREFIX/bin/symaug where the module is "
                    "installed, and on PATH)")  # fmt: skip
    return path


REPEATED = ("role", "copy", "leak")


def words(options, prefix=""):
    """Keyword options as "name=value" texts: None and False are left out, True has no value, several
    values are given one by one or behind commas, as the option wants them."""
    texts = []
    for name, value in options.items():
        values = list(value) if hasattr(value, "__iter__") and not isinstance(value, (str, bytes)) else [value]
        if len(values) > 1 and name not in REPEATED:
            values = [",".join(map(str, values))]
        name = prefix + name.replace("_", "-")
        for one in values:
            if one is True:
                texts.append(name)
            elif one is not None and one is not False:
                texts.append(f"{name}={os.fspath(one) if isinstance(one, os.PathLike) else one}")
    return texts
