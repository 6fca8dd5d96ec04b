"""Kinds of values: how the values of a field become one array, and its elements values again.

A field's Kind is learned from all of its values. Fields are the Kinds of all fields of rows.
"""

import json
import re

import numpy as np

from .restricted import Instance, Member

DATA = 65  # the exit code of wrong data
COLOURS = {"BLUE": 0, "RED": 1}
NUMBERS = {"int", "float", "scalar"}  # kinds that one field may mix
PYTHONS = {"f": "float", "i": "int", "u": "int"}  # what a number of numpy is in Python


class Error(Exception):
    """A failure with its exit code and a message of one line."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def bad(where, expected, found):
    """Error of wrong data. where: "FILE: row 3: policy"."""
    return Error(DATA, f"{where}: expected {expected}, found {found}")


def name_of(value):
    """What kind of value this is, in a word; None for what no array can hold."""
    if isinstance(value, Instance):
        return "enum" if value.called and value.state is None and len(value.args) == 1 else None
    for kind, name in (
        (type(None), "none"), (bool, "bool"), (int, "int"), ((np.number, np.bool_), "scalar"),
        (float, "float"), (str, "text"), (np.ndarray, "array"), (list, "list"), (tuple, "tuple"),
        (dict, "dict"),
    ):  # fmt: skip
        if isinstance(value, kind):
            return name
    return None


def cast(array, dtype, where):
    """The array in another dtype. Error where that changes what it says; floats are rounded."""
    dtype = np.dtype(dtype)
    if (dtype.kind in "US") != (array.dtype.kind in "US"):
        raise bad(where, "texts" if dtype.kind in "US" else "numbers", array.dtype)
    if dtype.kind == "U":
        return array.astype("U")
    with np.errstate(all="ignore"):
        made = array.astype(dtype)
    wrong = np.argwhere(made != array) if dtype.kind in "biuS" else ()
    if len(wrong):
        i = tuple(wrong[0])
        raise bad(f"row {i[0]}: {where}" if i else where, f"what fits {dtype}", array[i])
    return made


def member_name(member):
    """The name of an Enum's member; its value where only that is known."""
    said = member.args[0]
    if isinstance(member, Member):
        return said
    return next((name for name, value in COLOURS.items() if value == said), said)


def member_value(member, where):
    """The number of an Enum's member."""
    said = member.args[0]
    if isinstance(member, Member):
        if said not in COLOURS:
            raise bad(where, "a member BLUE or RED", repr(member))
        return COLOURS[said]
    if type(said) is not int or not -128 <= said <= 127:
        raise bad(where, "a member whose value is a small whole number", repr(member))
    return said


class Kind:
    """What values a field has, over all rows: names (of kinds), dtype and shape of arrays, cls and
    form of an Enum, item (Kind of a list's elements), keys (Kinds of a dict's values)."""

    def __init__(self):
        self.names, self.dtype, self.shape = set(), None, None
        self.cls, self.by_name, self.item, self.keys = None, False, None, {}
        self.has_whole_lists = False

    def learn(self, value, where, in_json=False):
        """Take one more value into account; where names it in messages."""
        name = name_of(value)
        if name is None:
            raise bad(where, "numbers, texts, arrays or members of an Enum", type_words(value))
        others = self.names - {"none", name} - (NUMBERS if name in NUMBERS else set())
        if others and name != "none" and not in_json:
            raise bad(where, " or ".join(sorted(others)), name)
        if name == "int" and (value.bit_length() > 10000 if in_json else not -(2**63) <= value < 2**63):
            raise bad(where, "a whole number of 64 bits", f"one of {value.bit_length()} bits")
        self.names.add(name)
        if name == "scalar" and self._is_other_number(value.dtype):
            self.names |= {PYTHONS[value.dtype.kind], PYTHONS[self.dtype.kind]}
        elif name in ("array", "scalar"):
            self._same("dtype", value.dtype, where)
            if name == "array" and not in_json:
                self._same("shape", value.shape, where)
        elif name == "enum":
            self._same("cls", value.cls, where, key=repr)
            self.by_name |= isinstance(value, Member)
        elif name in ("list", "tuple"):
            self.item = self.item or Kind()
            for element in value:
                self.item.learn(element, where, in_json)
            if not in_json:
                self._same("shape", (len(value),), where)
                if not self.item.names <= {"int", "float", "bool", "scalar"}:
                    raise bad(where, "numbers", f"a {name} of {'/'.join(sorted(self.item.names))}")
            self.has_whole_lists |= all(type(element) is int for element in value)
        elif name == "dict":
            for key, element in value.items():
                if not isinstance(key, str):
                    raise bad(where, "a text as key", repr(key)[:40])
                self.keys.setdefault(key, Kind()).learn(element, f"{where}[{key!r}]", True)

    def _is_other_number(self, dtype):
        """Numbers of numpy of several types are as Python's, as in lists that a rotation made of them."""
        return self.dtype is not None and dtype != self.dtype and dtype.kind in PYTHONS and self.dtype.kind in PYTHONS

    def _same(self, what, found, where, key=lambda value: value):
        expected = getattr(self, what)
        if expected is None:
            setattr(self, what, found)
        elif key(expected) != key(found):
            raise bad(where, f"{what} {expected}", f"{what} {found}")

    def some(self):
        """The kinds but None; numbers of numpy among Python's are as Python's."""
        some = self.names - {"none"}
        if "scalar" in some and some != {"scalar"}:
            some = some - {"scalar"} | {PYTHONS.get(self.dtype.kind, "int")}
        return some

    def dtype_of(self):
        """The dtype of an array of these values."""
        some = self.some()
        if some & {"array", "scalar"}:
            return self.dtype
        if some & {"list", "tuple"}:
            is_whole = "tuple" in some and self.item is not None and self.item.dtype_of() == "i8"
            return "i8" if is_whole else "f8"
        if some & {"text", "dict"}:
            return "U"
        return "i1" if "enum" in some else "b1" if some == {"bool"} else "f8" if "float" in some else "i8"

    # --- to arrays ---

    def zero(self, field):
        """What stands in an array where the value is None."""
        some = self.some()
        if some & {"list", "tuple"}:
            empty = -1 if re.search(r"move|coord|pos|cell", field) else 0
            return (empty,) * self.shape[0]
        if "array" in some:
            return np.zeros(self.shape, self.dtype)
        return "" if "text" in some else 0

    def array(self, field, values, where):
        """The values as one array, None as zero(). where(i) names row i in messages."""
        filled = [self.zero(field) if value is None else value for value in values]
        if "enum" in self.names:
            filled = [member_value(v, where(i)) if v != 0 else 0 for i, v in enumerate(filled)]
        dtype = np.dtype(self.dtype_of())
        if (self.names | (self.item.names if self.item else set())) & {"int", "scalar", "text"}:
            for i, value in enumerate(filled):
                for one in value if isinstance(value, (list, tuple)) else [value]:
                    self._check_exact(one, dtype, where, i)
        return np.array(filled, dtype).reshape(len(values), *(self.shape or ()))

    @staticmethod
    def _check_exact(value, dtype, where, i):
        """Error for what an array would round, not take, or cut off."""
        if isinstance(value, str) and value.endswith("\0"):
            raise bad(where(i), "a text that does not end in NUL", repr(value)[:60])
        if isinstance(value, (int, np.integer)):
            if dtype.kind == "f" and int(float(value)) != value or dtype.kind == "i" and value >= 2**63:
                raise bad(where(i), f"what {dtype} holds exactly", int(value))

    # --- and back ---

    def value(self, element, where):
        """An element of such an array, or a value of JSON, as the type that was there."""
        some = self.some()
        is_list = isinstance(element, (list, np.ndarray))
        if element is not None and (some == {"array"} or is_list and "array" in some):
            return np.array(element, self.dtype)
        if isinstance(element, str):
            return self._member(element, where) if "enum" in some else str(element)
        if is_list:
            return self._sequence(element, where) if some & {"list", "tuple"} else element
        if isinstance(element, dict):
            return {
                key: self.keys[key].value(one, where) if key in self.keys else one
                for key, one in element.items()
            }
        if element is None or isinstance(element, bool) and "scalar" not in some:
            return element
        if "scalar" in some:
            return self.dtype.type(element)
        if "enum" in some:
            return self._member(element, where)
        if not isinstance(element, np.generic):  # JSON tells 1 and 1.0 apart
            return element
        number = element.item()
        if some == {"bool"}:
            return bool(number)
        return int(number) if "int" in some and isinstance(number, float) and number.is_integer() else number

    def _sequence(self, element, where):
        numbers = element.tolist() if isinstance(element, np.ndarray) else element
        if isinstance(element, np.ndarray) and "float" in self.item.some():
            if self.has_whole_lists and all(number.is_integer() for number in numbers):
                numbers = [int(number) for number in numbers]
        elif self.item is not None:
            numbers = [self.item.value(one, where) for one in element]
        return tuple(numbers) if "tuple" in self.names else list(numbers)

    def _member(self, element, where):
        if isinstance(element, str):
            name, number = element, COLOURS.get(element)
        else:
            number = int(element)
            name = next((n for n, value in COLOURS.items() if value == number), None)
        if self.by_name and name is None or not self.by_name and number is None:
            raise bad(where, "0 (BLUE) or 1 (RED)", element)
        return Member(self.cls, name) if self.by_name else Instance(self.cls, (number,), True)


def type_words(value):
    return repr(value)[:60] if isinstance(value, Instance) else type(value).__name__


def plain(value):
    """A value of a dict field as JSON can say it."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, Instance):
        return member_name(value)
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


# --- rows of fields to arrays and back ---


class Fields:
    """The Kinds of all fields of the rows; a dict's `winner` is a field of its own."""

    def __init__(self, path, rows, kind_of_row="row"):
        """rows: a list of dicts with the same keys each."""
        self.path, self.word = path, kind_of_row
        self.kinds = {field: Kind() for field in (rows[0] if rows else ())}
        for i, row in enumerate(rows):
            if row.keys() != self.kinds.keys() or not all(isinstance(field, str) for field in row):
                raise bad(self.where(i), f"fields {', '.join(map(str, self.kinds))}", ", ".join(map(repr, row)))
            for field, value in row.items():
                self.kinds[field].learn(value, f"{self.where(i)}: {field}")
        for field, kind in self.kinds.items():
            if "dict" in kind.names and len(kind.names - {"none"}) > 1:
                raise bad(f"{path}: {field}", "a dict in every row", "/".join(sorted(kind.names)))

    def where(self, i):
        return f"{self.path}: {self.word} {i}"

    def arrays(self, rows):
        """The arrays of these rows, by name."""
        out = []
        for field, kind in self.kinds.items():
            values = [row[field] for row in rows]
            if kind.names == {"none"}:
                continue
            if "dict" in kind.names:
                winners = [(value or {}).get("winner") for value in values]
                if "winner" in kind.keys:
                    out += self._with_present("winner", self._winners(field, winners), winners)
                out.append((field, np.array([json.dumps(self._without_winner(value)) for value in values])))
                continue
            array = kind.array(field, values, lambda i, f=field: f"{self.where(i)}: {f}")
            out += self._with_present(field, array, values)
        names = [name for name, _ in out]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise bad(f"{self.path}: {twice}", "one field that becomes this array", "two")
        return dict(out)

    @staticmethod
    def _with_present(name, array, values):
        present = np.array([value is not None for value in values])
        return [(name, array)] + ([] if present.all() else [(name + "_present", present)])

    @staticmethod
    def _without_winner(value):
        """A dict as JSON can say it; a winner that is None stays, so that it comes back."""
        is_dict = isinstance(value, dict)
        return plain({k: v for k, v in value.items() if k != "winner" or v is None} if is_dict else value)

    def _winners(self, field, winners):
        numbers = []
        for i, winner in enumerate(winners):
            where = f"{self.where(i)}: {field}['winner']"
            if isinstance(winner, Instance):
                winner = member_value(winner, where)
            elif isinstance(winner, str):
                winner = COLOURS.get(winner, winner)
            elif winner is None:
                winner = 0
            if type(winner) is not int or not -128 <= winner <= 127:
                raise bad(where, "BLUE or RED", winner)
            numbers.append(winner)
        return np.array(numbers, "i1")

    def names(self):
        """Every array that rows of this form may be made of."""
        fields = {*self.kinds}
        if any("winner" in kind.keys for kind in self.kinds.values()):
            fields.add("winner")
        return fields | {field + "_present" for field in fields}

    def rows(self, arrays, n):
        """n rows of the old types from arrays, by name. Error for a field without its array."""
        columns = {}
        for field, kind in self.kinds.items():
            if kind.names == {"none"}:
                columns[field] = [None] * n
                continue
            array = need(arrays, field, self.path)
            if array.shape[1:] != (kind.shape or ()):
                raise bad(f"{field}", f"rows of shape {kind.shape or ()}", f"{array.shape[1:]}")
            array = cast(array, kind.dtype_of(), field)
            if "dict" in kind.names:
                columns[field] = self._dicts(field, kind, array, arrays)
                continue
            present = self._present(arrays, field, n)
            columns[field] = [kind.value(array[i], f"row {i}: {field}") if present[i] else None for i in range(n)]
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def _present(self, arrays, field, n):
        """Where a field is not None: everywhere, unless its array says so."""
        name = field + "_present"
        return cast(arrays[name], "b1", name) if name in arrays and name not in self.kinds else np.ones(n, bool)

    def _dicts(self, field, kind, array, arrays):
        winners = need(arrays, "winner", self.path) if "winner" in kind.keys else None
        present, out = self._present(arrays, "winner", len(array)), []
        for i, text in enumerate(array):
            try:
                value = json.loads(str(text))
            except ValueError:
                raise bad(f"row {i}: {field}", "JSON", repr(str(text))[:60]) from None
            if value is not None:
                value = kind.value(value, f"row {i}: {field}")
                if winners is not None and present[i] and isinstance(value, dict):
                    value = self._with_winner(kind, value, winners[i], f"row {i}: winner")
            out.append(value)
        return out

    @staticmethod
    def _with_winner(kind, value, winner, where):
        """The winner where it stood among the keys."""
        old = kind.keys["winner"]
        if "text" in old.names:
            texts = {number: text for text, number in COLOURS.items()}
            if int(winner) not in texts:
                raise bad(where, "0 (BLUE) or 1 (RED)", winner)
            winner = texts[int(winner)]
        else:
            winner = old.value(winner, where)
        out = {}
        for key in kind.keys:
            if key == "winner":
                out[key] = winner
            elif key in value:
                out[key] = value.pop(key)
        out.update(value)
        return out


def need(arrays, name, path):
    if name not in arrays:
        raise Error(DATA, f"{name}: the rows of {path} need this array, found {', '.join(arrays)}")
    return arrays[name]
