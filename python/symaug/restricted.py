"""A reader of pickles that executes nothing, and a writer of what it read.

Classes of other projects become stand-ins: a Class remembers module and name, an Instance of it its
arguments and attributes. numpy arrays, scalars and dtypes are rebuilt here from checked parts, so
that no function named in a file is ever called. What is allowed is decided by (module, name) pairs;
everything else of the standard library and of numpy is refused by name.
"""

import collections
import io
import pickle
import re
import sys

import numpy as np


class Refused(Exception):
    """What a pickle asks for and does not get."""


class Class:
    """A class of another project: module and name, as the pickle gives them."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __repr__(self):
        return f"{self.module}.{self.name}"


class Instance:
    """An object of such a class: cls, args (of its call), state (attributes, or None), called
    (made by a call, as Enums are, not by __new__)."""

    def __init__(self, cls, args, called):
        self.cls, self.args, self.called, self.state = cls, args, called, None

    def __repr__(self):
        return f"{self.cls!r}{self.args!r}"


class Member(Instance):
    """A member of an Enum that is named, not called: builtins.getattr(cls, name)."""

    def __init__(self, cls, name):
        super().__init__(cls, (name,), True)


class _Function:
    """What stands for an allowed function until it is called; it has no attributes to set."""

    __slots__ = ("name", "call")

    def __init__(self, name, call):
        self.name, self.call = name, call


class _Type(_Function):
    """An allowed type that is an argument only (numpy.ndarray)."""

    __slots__ = ()


class _Array:
    """An array between _reconstruct and BUILD."""

    __slots__ = ("array",)

    def __init__(self):
        self.array = None


class _Dtype:
    """A dtype between its call and BUILD, which brings the byte order."""

    __slots__ = ("dtype",)

    def __init__(self, dtype):
        self.dtype = dtype


_DTYPE = re.compile(r"^[<>|=]?(b1|[iu][1248]|f[248]|c8|c16|[SU]\d{1,9})$")


def _need(is_right, what, found):
    if not is_right:
        raise Refused(f"expected {what}, found {str(found)[:80]!r}")


def _dtype(text, align=False, copy=False):
    _need(isinstance(text, str) and _DTYPE.match(text), "a dtype of numbers or texts", text)
    return _Dtype(np.dtype(text))


def _build_dtype(self, state):
    _need(
        isinstance(state, tuple) and len(state) >= 2 and state[1] in ("<", ">", "|", "="),
        "the byte order of a dtype",
        state,
    )
    self.dtype = self.dtype.newbyteorder(state[1])


def _as_dtype(value):
    _need(isinstance(value, _Dtype), "a dtype", value)
    return value.dtype


def _reconstruct(kind, shape, code):
    _need(isinstance(kind, _Type) and kind.name == "numpy.ndarray", "numpy.ndarray", kind)
    return _Array()


def _shape(shape, dtype, n_bytes):
    _need(
        isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape),
        "the shape of an array",
        shape,
    )
    n = dtype.itemsize
    for size in shape:
        n *= size
    _need(n == n_bytes and len(shape) <= 32, f"{n} bytes for shape {shape}", f"{n_bytes} bytes")
    return shape


def _from_bytes(data, dtype, shape, order):
    _need(isinstance(data, (bytes, bytearray)), "the bytes of an array", type(data).__name__)
    _need(not dtype.hasobject, "numbers or texts in bytes", dtype)
    array = np.frombuffer(data, dtype) if dtype.itemsize else np.zeros(0, dtype)
    return array.reshape(_shape(shape, dtype, len(data)), order=order).copy()


def _from_list(items, shape, order):
    """An array of objects: what is in it is whatever else a pickle of data may hold."""
    _need(isinstance(items, list), "the items of an array", type(items).__name__)
    array = np.empty(len(items), object)
    for i, item in enumerate(items):
        array[i] = _finished(item)
    return array.reshape(_shape(shape, np.dtype("u1"), len(items)), order=order)


def _build_array(self, state):
    _need(isinstance(state, tuple) and len(state) == 5, "the parts of an array", state)
    dtype = _as_dtype(state[2])
    if dtype.hasobject:
        self.array = _from_list(state[4], state[1], "F" if state[3] else "C")
        return
    self.array = _from_bytes(state[4], dtype, state[1], "F" if state[3] else "C")


def _frombuffer(data, dtype, shape, order, axes=None):
    """axes: of order K, those of the array in memory, whose shape is given, that the array has."""
    if order == "K" and isinstance(axes, tuple):
        array = _from_bytes(data, _as_dtype(dtype), shape, "C")
        return np.ascontiguousarray(array.transpose(axes))
    _need(order in ("C", "F") and axes is None, "the order of an array", order)
    return _from_bytes(data, _as_dtype(dtype), shape, order)


def _scalar(dtype, data=None):
    dtype = _as_dtype(dtype)
    return _from_bytes(data, dtype, (), "C")[()]


def _encode(text, encoding):
    """Bytes, as protocols below 3 write them."""
    _need(isinstance(text, str) and encoding == "latin1", "the bytes of an array", encoding)
    return text.encode("latin1")


def _no_bytes():
    return b""


def _member(cls, name):
    _need(isinstance(cls, Class) and isinstance(name, str), "a member of an Enum", (cls, name))
    return Member(cls, name)


def _deque(items=(), maxlen=None):
    _need(isinstance(items, (list, tuple)), "the items of a deque", type(items).__name__)
    _need(maxlen is None or (type(maxlen) is int and maxlen >= 0), "the length of a deque", maxlen)
    return collections.deque(items, maxlen)


def _reconstructor(cls, base, state):
    _need(isinstance(cls, Class), "a class of the project", cls)
    return Instance(cls, (), False)


_OLD_NAMES = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # in protocols below 3
_ALLOWED = {
    ("_codecs", "encode"): _Function("_codecs.encode", _encode),
    ("builtins", "bytes"): _Function("builtins.bytes", _no_bytes),
    ("builtins", "getattr"): _Function("builtins.getattr", _member),
    ("builtins", "object"): _Type("builtins.object", None),
    ("collections", "deque"): _Function("collections.deque", _deque),
    ("collections", "OrderedDict"): _Function("collections.OrderedDict", dict),
    ("copyreg", "_reconstructor"): _Function("copyreg._reconstructor", _reconstructor),
    ("numpy", "ndarray"): _Type("numpy.ndarray", None),
    ("numpy", "dtype"): _Function("numpy.dtype", _dtype),
}
for _core in ("numpy.core", "numpy._core"):
    _ALLOWED[_core + ".multiarray", "_reconstruct"] = _Function("_reconstruct", _reconstruct)
    _ALLOWED[_core + ".multiarray", "scalar"] = _Function("scalar", _scalar)
    _ALLOWED[_core + ".numeric", "_frombuffer"] = _Function("_frombuffer", _frombuffer)

_STANDARD = set(getattr(sys, "stdlib_module_names", ())) | set(sys.builtin_module_names)
_STANDARD |= {*_OLD_NAMES, "builtins", "numpy", "torch"}


def _finished(value):
    """A dtype or an array that is complete, as itself."""
    if isinstance(value, _Array):
        _need(value.array is not None, "the content of an array", "none")
        return value.array
    return value


class _Reader(pickle._Unpickler):
    """The opcodes that make or change objects, told again; the rest is data."""

    dispatch = dict(pickle._Unpickler.dispatch)

    def find_class(self, module, name):
        if not (isinstance(module, str) and isinstance(name, str)):
            raise Refused("expected the name of a class")
        found = _ALLOWED.get((_OLD_NAMES.get(module, module), name))
        if found is not None:
            return found
        top = module.split(".")[0]
        if top in _STANDARD or not re.match(r"^[A-Za-z_][\w.]*$", module + "." + name):
            raise Refused(f"{module}.{name} is not allowed in a pickle of rows")
        return Class(module, name)

    def load_reduce(self):
        args = self.stack.pop()
        function = self.stack[-1]
        _need(isinstance(args, tuple), "the arguments of a call", type(args).__name__)
        if isinstance(function, Class):
            self.stack[-1] = Instance(function, args, True)
        elif isinstance(function, _Function) and function.call is not None:
            try:
                self.stack[-1] = function.call(*args)
            except (TypeError, ValueError) as why:
                raise Refused(f"{function.name}: {why}") from None
        else:
            raise Refused(f"expected a function, found {type(function).__name__}")

    def load_newobj(self):
        args = self.stack.pop()
        cls = self.stack.pop()
        _need(isinstance(cls, Class) and args == (), "a class of the project", cls)
        self.append(Instance(cls, (), False))

    def load_build(self):
        state = self.stack.pop()
        target = self.stack[-1]
        if isinstance(target, _Array):
            _build_array(target, state)
            self._replace(target)
        elif isinstance(target, _Dtype):
            _build_dtype(target, state)
        elif isinstance(target, Instance) and not target.called and target.state is None:
            _need(
                isinstance(state, dict) and all(isinstance(k, str) for k in state),
                "the attributes of an object",
                type(state).__name__,
            )
            target.state = state
        else:
            raise Refused(f"attributes for {type(target).__name__} are not allowed")

    def _replace(self, target):
        """The finished array in place of its beginning, on the stack and in the memo."""
        self.stack[-1] = target.array
        last = len(self.memo) - 1
        for key in (last, *range(last - 1, max(-1, last - 64), -1)):
            if self.memo.get(key) is target:
                self.memo[key] = target.array
                return

    def load_bytearray8(self):
        self.load_binbytes8()
        self.stack[-1] = bytearray(self.stack[-1])

    def refuse(self):
        raise Refused("persistent ids, extension codes and calls by class are not allowed")

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.BUILD[0]] = load_build
    dispatch[pickle.BYTEARRAY8[0]] = load_bytearray8
    for _code in (
        pickle.NEWOBJ_EX, pickle.INST, pickle.OBJ, pickle.PERSID, pickle.BINPERSID, pickle.EXT1,
        pickle.EXT2, pickle.EXT4, pickle.NEXT_BUFFER, pickle.READONLY_BUFFER,
    ):  # fmt: skip
        dispatch[_code[0]] = refuse


def _any_dtype(text, align=False, copy=False):
    return _Dtype(np.dtype("O")) if text == "O8" else _dtype(text)


class _ObjectReader(_Reader):
    """Arrays of objects, too."""

    dispatch = _Reader.dispatch

    def find_class(self, module, name):
        if (module, name) == ("numpy", "dtype"):
            return _Function("numpy.dtype", _any_dtype)
        return super().find_class(module, name)


def _weigh(value, known):
    """(values in it, how deep they lie), values that are there by reference as often as they are.

    known: the same of the containers that were met before, by id; (inf, inf) while one is looked
    at, so that what holds itself is without end.
    """
    if isinstance(value, (np.ndarray, str, bytes, bytearray)):
        return 1 + (value.size if isinstance(value, np.ndarray) else len(value) // 8), 0
    if isinstance(value, Instance):
        parts = (*value.args, value.state)
    elif isinstance(value, dict):
        parts = (*value.keys(), *value.values())
    elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        parts = value
    else:
        return 1, 0
    if id(value) not in known:
        known[id(value)] = float("inf"), float("inf")
        n, depth = 1, 0
        for part in parts:
            of_part = _weigh(part, known)
            n, depth = n + of_part[0], max(depth, of_part[1] + 1)
        known[id(value)] = n, depth
    return known[id(value)]


def loads(data, objects=False):
    """The value that a pickle holds, with stand-ins for its classes, and its protocol.

    data: bytes of one pickle; objects: whether arrays of objects may be in it. Raises Refused, with
    a reason of one line, for a pickle that is damaged, asks for anything but data, or holds by
    references very much more than its bytes.
    """
    file = io.BytesIO(data)
    try:
        reader = _ObjectReader if objects else _Reader
        value = _finished(reader(file).load())
        _need(file.tell() == len(data), "the end of the pickle", f"{len(data) - file.tell()} bytes more")
        n, depth = _weigh(value, {})
        _need(depth <= 100, "values nested at most 100 deep", "more")
        limit = 20 * len(data) + 1000000
        _need(n <= limit, f"at most {limit} values in {len(data)} bytes", "more, which are references")
    except Refused:
        raise
    except RecursionError:
        raise Refused("it is nested too deeply") from None
    except Exception as why:  # the ways in which a damaged pickle fails are many
        raise Refused(f"not a whole pickle ({type(why).__name__}: {str(why)[:80]})") from None
    return value, data[1] if data[:1] == b"\x80" else 0


class _Writer(pickle._Pickler):
    """Stand-ins go out under the names that they came in with."""

    dispatch = dict(pickle._Pickler.dispatch)

    def _global(self, module, name):
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode("ascii"))

    def save_class(self, cls):
        self._global(cls.module, cls.name)
        self.memoize(cls)

    def save_instance(self, value):
        if isinstance(value, Member):
            self._global("builtins", "getattr")
            self.save((value.cls, value.args[0]))
            self.write(pickle.REDUCE)
        else:
            self.save(value.cls)
            self.save(value.args)
            self.write(pickle.REDUCE if value.called else pickle.NEWOBJ)
        self.memoize(value)
        if value.state is not None:
            self.save(value.state)
            self.write(pickle.BUILD)

    dispatch[Class] = save_class
    dispatch[Instance] = save_instance
    dispatch[Member] = save_instance


def dumps(value, protocol):
    """The bytes of a pickle of value, with the classes that its stand-ins name."""
    out = io.BytesIO()
    _Writer(out, max(protocol, 2)).dump(value)
    return out.getvalue()
