"""Shards that are wrong or odd in one place each, made anew: zip records, npy headers, pickles.

Each generator of CASES yields (name, verdict, words, bytes). The verdict: "reject" - nobody reads it;
"refuse" - it is not expanded, and verify has a finding; "fault" - verify has a finding; "warn" and
"accept" - it is expanded. The words stand in the refusal, the finding or the warning.
"""

import io
import pickle
import struct
import zlib

import numpy as np

STORED, DEFLATED = 0, 8
N = 6


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def arrays():
    """A sound little shard of Go 9x9."""
    rng = np.random.default_rng(5)
    policy = rng.random((N, 81)).astype("<f4")
    policy /= policy.sum(axis=1, keepdims=True)
    return {"features": rng.integers(0, 2, (N, 4, 9, 9)).astype("<f4"), "policy": policy,
            "values": rng.uniform(-1, 1, N).astype("<f4")}  # fmt: skip


def deflate(data, level=6):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def zeros_behind(data, n, fill=b"\0"):
    """The deflated form of data and n zeros (or other bytes), made in little memory: tests measure
    their children's, who begin as copies of the parent."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    pieces = [packer.compress(data)] + [packer.compress(fill * ((1 << 20) // len(fill))) for _ in range(n >> 20)]
    return b"".join(pieces) + packer.flush()


class Member:
    """A member of a zip archive whose fields can be belied: in the local header (local=), in the
    directory (central=) or in both (both=), by the names of FIELDS, `name` and `extra`."""

    FIELDS = ("version", "flags", "method", "time", "date", "crc", "packed", "size")

    def __init__(self, name, data, method=DEFLATED, packed=None, both=None, local=None,
                 central=None, descriptor=b"", gap=b"", comment=b"", at=None, disk=0, attributes=0,
                 hidden=False):  # fmt: skip
        self.bytes = packed if packed is not None else deflate(data) if method == DEFLATED else data
        fields = {"version": 20, "flags": 0, "method": method, "time": 0, "date": 0x21,
                  "crc": zlib.crc32(data), "packed": len(self.bytes), "size": len(data),
                  "name": name.encode() if isinstance(name, str) else name, "extra": b""}  # fmt: skip
        fields.update(both or {})
        self.local = dict(fields, **(local or {}))
        self.central = dict(fields, **(central or {}))
        self.descriptor, self.gap, self.comment = descriptor, gap, comment
        self.at, self.disk, self.attributes, self.hidden = at, disk, attributes, hidden

    def local_record(self):
        f = self.local
        numbers = [f[name] & mask for name, mask in zip(self.FIELDS, MASKS)]
        return (b"PK\3\4" + struct.pack("<5H3I2H", *numbers, len(f["name"]), len(f["extra"]))
                + f["name"] + f["extra"])  # fmt: skip

    def central_record(self, offset):
        f = self.central
        numbers = [f[name] & mask for name, mask in zip(self.FIELDS, MASKS)]
        at = offset if self.at is None else self.at
        return (b"PK\1\2" + struct.pack("<6H3I5H2I", 0x314, *numbers, len(f["name"]),
                                        f.get("n_extra", len(f["extra"])), len(self.comment),
                                        self.disk, 0, self.attributes, at)
                + f["name"] + f["extra"] + self.comment)  # fmt: skip


class CutMember(Member):
    """Of its local header the first ten bytes are there."""

    def local_record(self):
        self.bytes = b""
        return super().local_record()[:10]


MASKS = (0xFFFF,) * 5 + (0xFFFFFFFF,) * 3


def archive(members, end=None, prefix=b"", comment=b"", trailing=b"", between=b"", end64=None,
            order=None):  # fmt: skip
    """The bytes of an archive; end= belies fields of the end record, end64= adds a zip64 end record
    and its locator and belies theirs."""
    out, offsets = prefix, []
    for member in members:
        out += member.gap
        offsets.append(len(out))
        out += member.local_record() + member.bytes + member.descriptor
    listed = [(m, o) for m, o in zip(members, offsets) if not m.hidden]
    directory = b"".join(m.central_record(o) for m, o in (order(listed) if order else listed))
    fields = {"disk": 0, "directory_disk": 0, "here": len(listed), "n": len(listed),
              "nbytes": len(directory), "offset": len(out), "comment": len(comment)}  # fmt: skip
    tail = between
    if end64 is not None:
        f = {"size": 44, "disk": 0, "directory_disk": 0, "here": len(listed), "n": len(listed),
             "nbytes": len(directory), "offset": len(out), "at": len(out) + len(directory) + len(between),
             "locator_disk": 0, "disks": 1, "more": b""}  # fmt: skip
        f.update(end64)
        tail += b"PK\6\6" + struct.pack("<Q2H2I4Q", f["size"], 45, 45, f["disk"], f["directory_disk"],
                                        f["here"], f["n"], f["nbytes"], f["offset"]) + f["more"]  # fmt: skip
        tail += b"PK\6\7" + struct.pack("<IQI", f["locator_disk"], f["at"], f["disks"])
    fields.update(end or {})
    tail += b"PK\5\6" + struct.pack("<4H2IH", *fields.values()) + comment
    return out + directory + tail + trailing


def zip64(*values):
    return struct.pack("<2H", 1, 8 * len(values)) + struct.pack(f"<{len(values)}Q", *values)


def shard(first=None, more=(), **options):
    """The sound shard with another member in place of features, and more members behind."""
    sound = arrays()
    members = [first or Member("features.npy", npy(sound["features"]))]
    members += [Member(f"{name}.npy", npy(sound[name])) for name in ("policy", "values")]
    return archive(members + list(more), **options)


def features(**options):
    return shard(Member("features.npy", npy(arrays()["features"]), **options))


def belied(data=None, **options):
    return shard(Member("features.npy", npy(arrays()["features"]) if data is None else data, **options))


def replaced(name="features", **options):
    """The sound shard with one array replaced: array= or data= (bytes of an .npy)."""
    sound = arrays()
    data = options["data"] if "data" in options else npy(options["array"])
    return archive([Member(f"{key}.npy", data if key == name else npy(sound[key])) for key in sound])


def header(text, data=None, version=1, length=None, pad=True):
    """An .npy with any text as its header."""
    raw = text.encode("utf-8" if version == 3 else "latin1") if isinstance(text, str) else text
    if pad:
        raw += b" " * (63 - (10 + len(raw)) % 64) + b"\n"
    if data is None:
        data = arrays()["features"].tobytes()
    n = len(raw) if length is None else length
    front = struct.pack("<H", n) if version == 1 else struct.pack("<I", n)
    return b"\x93NUMPY" + bytes([version, 0]) + front + raw + data


def dictionary(descr="'<f4'", fortran="False", shape="(6, 4, 9, 9)"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def headed(text=None, **options):
    return replaced(data=header(dictionary() if text is None else text, **options))


def described(descr, data=None, shape="(6, 4, 9, 9)"):
    return headed(dictionary(descr, shape=shape), data=data)


def shaped(shape, data=None, **options):
    return headed(dictionary(shape=shape), data=data, **options)


# --- zip ---


def zip_cases():
    good = npy(arrays()["features"])
    packed = deflate(good)
    extra = Member("extra.npy", npy(np.arange(3)))
    crc, size, n = zlib.crc32(good), len(good), len(packed)

    yield "sound", "accept", "", shard()
    yield "comment", "accept", "", shard(comment=b"any words")
    yield "comment cut off", "reject", "zip comment", shard(comment=b"words", end={"comment": 50})
    yield "comment longer than said", "reject", "after the zip end record", shard(comment=b"words", end={"comment": 2})
    yield "comment of 65535 bytes", "accept", "", shard(comment=b"c" * 65535)
    yield "signature in the comment", "reject", "end record", shard(comment=b"xPK\5\6y")
    yield "archive in the comment", "reject", "end record", shard(comment=shard())
    yield "junk behind", "reject", "after the zip end record", shard(trailing=b"junk")
    yield "newline behind", "reject", "after the zip end record", shard(trailing=b"\n")
    yield "NULs behind", "warn", "NUL bytes", shard(trailing=bytes(512))
    yield "many NULs behind", "reject", "end record", shard(trailing=bytes(200000))
    yield "junk in front, offsets moved", "reject", "first member", shard(prefix=b"#!/bin/sh\n")
    yield "PK in front", "reject", "first member", shard(prefix=b"PK\3\4" + bytes(60))
    yield "two archives in a row", "reject", "expected", shard() + shard()
    yield "split marker", "reject", "split", b"PK\7\x08" + shard()
    yield "one-part marker", "reject", "split", b"PK00" + shard()
    yield "empty archive", "reject", "found none", archive([])
    yield "folders only", "reject", "found none", archive([Member("a/", b"", STORED)])
    yield "texts only", "reject", "found none", archive([Member("a.txt", b"text")])
    yield "folder entry", "warn", "folder", shard(more=[Member("d/", b"", STORED)])
    yield "folder entry with data", "reject", "folder", shard(more=[Member("d/", b"data", STORED)])
    yield "stored", "accept", "", belied(method=STORED)
    yield "symbolic link", "reject", "not a .npy", shard(
        more=[Member("link.npy", b"/etc/passwd", STORED, attributes=0xA1FF0000)])
    yield "archive inside", "warn", "not an array", shard(more=[Member("inner.npz", shard())])
    yield "array without .npy, its magic damaged", "reject", "CRC", shard(
        more=[Member("extra", b"\x13" + npy(np.arange(6))[1:], STORED,
                     both={"crc": zlib.crc32(npy(np.arange(6)))})])
    yield "archive named .npy inside", "reject", "not a .npy", shard(more=[Member("inner.npy", shard())])
    yield "member comment", "accept", "", belied(comment=b"words")
    yield "other order in the directory", "accept", "", shard(order=lambda m: m[::-1])

    for bit, word in ((0, "encrypted"), (5, "patch"), (6, "strong encryption"), (13, "masked")):
        yield f"flag {bit}", "reject", word, belied(both={"flags": 1 << bit})
    yield "encrypted locally", "reject", "flags", belied(local={"flags": 1})
    yield "encrypted in the directory", "reject", "encrypted", belied(central={"flags": 1})
    yield "flags of the deflater", "accept", "", belied(both={"flags": 6})
    yield "reserved flag", "warn", "reserved", belied(both={"flags": 1 << 15})
    for method in (1, 6, 9, 12, 14, 19, 93, 95, 97, 98, 99, 65535):
        yield f"method {method}", "reject", f"found {method}", belied(both={"method": method})
    yield "method 0 of deflated data", "reject", "stored", belied(both={"method": 0})
    yield "method 8 of stored data", "reject", "inflate", belied(packed=good)
    yield "method differs locally", "reject", "method", belied(local={"method": 0})
    yield "version needed 6.3", "warn", "version 6.3", belied(both={"version": 63})
    yield "impossible date", "accept", "", belied(both={"date": 0xFFFF, "time": 0xFFFF})

    yield "CRC differs locally", "reject", "CRC", belied(local={"crc": crc ^ 1})
    yield "CRC differs in the directory", "reject", "CRC", belied(central={"crc": crc ^ 1})
    yield "CRC wrong in both", "reject", f"found {crc:08x}", belied(both={"crc": crc ^ 1})
    yield "CRC wrong, stored", "reject", f"found {crc:08x}", belied(method=STORED, both={"crc": crc ^ 1})
    for name in ("size", "packed"):
        for by in (-1, 1, -size):
            right = size if name == "size" else n
            wrong = max(0, right + by)
            yield f"{name} {by:+} locally", "reject", "size", belied(local={name: wrong})
            yield f"{name} {by:+} in the directory", "reject", "expected", belied(central={name: wrong})
            yield f"{name} {by:+}", "reject", ".npy: ", belied(both={name: wrong})
    yield "stored, sizes differ", "reject", "stored", belied(method=STORED, both={"size": size - 4})
    yield "packed bytes over the directory", "reject", "packed bytes", belied(both={"packed": 0x7FFFFFFF})
    yield "size of 4 GB from a few bytes", "reject", "deflate", belied(both={"size": 0xF0000000})
    yield "junk behind the deflated data", "reject", "found its end after", belied(packed=packed + b"junk")
    yield "no deflated data", "reject", "deflate", belied(packed=b"")
    yield "deflated data cut", "reject", "deflate", belied(packed=packed[:-20])
    yield "zlib header", "reject", "deflate", belied(packed=zlib.compress(good))
    yield "gzip header", "reject", "deflate", belied(packed=b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + packed)
    yield "two deflate streams", "reject", "found its end after", belied(packed=packed + packed)
    yield "endless stored blocks", "reject", "expected", belied(packed=b"\0\0\0\xff\xff" * 400 + b"\3\0")
    yield "empty blocks in front", "accept", "", belied(packed=b"\0\0\0\xff\xff" * 400 + packed)
    bomb, n_bomb = zeros_behind(header(dictionary()), 1 << 30), len(header(dictionary())) + (1 << 30)
    said = {"size": n_bomb}
    yield "bomb: 1 GiB behind the data", "reject", "expected 7776 bytes", belied(packed=bomb, both=said)
    yield "bomb: 1 GiB in a member that is no array", "warn", "not an array", shard(
        more=[Member("zeros", b"", packed=zeros_behind(b"", 1 << 30), both={"size": 1 << 30})])
    yield "bomb: more than declared", "reject", "found more", belied(packed=bomb)

    # Overlaps.
    yield "two entries, one member", "reject", "overlap", archive(
        [Member("features.npy", good), Member("features.npy", npy(np.arange(3)), hidden=True),
         Member("features.npy", good, at=0)])
    yield "two entries, one name", "reject", "one member of this name", shard(more=[Member("features.npy", good)])
    yield "key twice", "reject", "one member of this name", shard(more=[Member("features", good)])
    yield "names that differ in case", "warn", "case", shard(more=[Member("Extra.npy", npy(np.arange(3))), extra])
    inner = Member("inner.npy", npy(np.arange(3)))
    host = inner.local_record() + inner.bytes
    yield "member inside a member", "reject", "overlap", archive(
        [Member("features.npy", host, STORED), Member("inner.npy", npy(np.arange(3)), at=42)])  # fmt: skip
    yield "member not in the directory", "reject", "that is not", shard(more=[Member("hidden.npy", good, hidden=True)])
    yield "gap", "warn", "belong to no member", shard(more=[Member("extra.npy", npy(np.arange(3)), gap=b"some bytes")])
    yield "data behind the members", "warn", "belong to no member", shard(
        Member("features.npy", good, descriptor=b"12 more byte"))
    yield "signature record", "reject", "expected", shard(between=b"PK\5\5\4\0sign")
    yield "local header in the directory", "reject", "found the directory", shard(
        more=[CutMember("cut.npy", b"", STORED)])
    yield "header offset +1", "reject", "local header", belied(at=1)
    yield "header offset past the end", "reject", "header", belied(at=0x7FFFFFFF)

    # Names.
    for name, words in (
        ("/features2.npy", "absolute"), ("../up.npy", "'..'"), ("a/../../up.npy", "'..'"),
        ("a/..", "'..'"), ("..", "'..'"), ("C:/up.npy", "absolute"), ("a\\b.npy", "backslash"), ("", "empty"),
        ("nul\0.npy", "control"), ("\x7f.npy", "control"), ("\r.npy", "control"), (".npy", "nothing but"),
        ("n" * 5000 + ".npy", "4096"),
    ):  # fmt: skip
        yield f"name {name[:12]!r}", "reject", words, shard(more=[Member(name, npy(np.arange(3)))])
    yield "name in UTF-8", "accept", "", shard(more=[Member("größe.npy", npy(np.arange(3)), both={"flags": 0x800})])
    yield "name unmarked", "warn", "UTF-8", shard(more=[Member("größe.npy", npy(np.arange(3)))])
    yield "name in Latin-1", "warn", "UTF-8", shard(more=[Member(b"gr\xf6\xdfe.npy", npy(np.arange(3)))])
    yield "one name in two encodings", "reject", "one member of this name", shard(
        more=[Member("é.npy", npy(np.arange(3)), both={"flags": 0x800}), Member(b"\x82.npy", npy(np.arange(3)))])
    yield "name not UTF-8 but marked", "reject", "UTF-8", shard(
        more=[Member(b"\xff.npy", npy(np.arange(3)), both={"flags": 0x800})])
    yield "name differs locally", "reject", "same name", belied(local={"name": b"policies.npy"})
    yield "name longer locally", "reject", "same name", belied(local={"name": b"features.npyx"})

    # Extra fields and zip64.
    yield "extra field", "accept", "", belied(both={"extra": b"UT\5\0\1\0\0\0\0"})
    yield "extra field cut", "reject", "extra field", belied(both={"extra": b"UT\xff\0\1"})
    yield "extra bytes left over", "reject", "extra", belied(both={"extra": b"\1\2"})
    yield "extra field cut locally", "reject", "extra field", belied(local={"extra": b"UT\xff\0\1"})
    yield "another Unicode path", "reject", "name", belied(
        both={"extra": b"up\x0d\0\1" + struct.pack("<I", zlib.crc32(b"features.npy")) + b"p.npy123"})
    wide = {"size": 0xFFFFFFFF, "packed": 0xFFFFFFFF, "version": 45}
    yield "zip64 sizes", "accept", "", belied(both=dict(wide, extra=zip64(size, n)))
    yield "zip64 sizes locally", "accept", "", belied(local=dict(wide, extra=zip64(size, n)))
    yield "zip64 that repeats", "accept", "", belied(both={"extra": zip64(size, n)})
    yield "zip64 that contradicts", "reject", "zip64", belied(both={"extra": zip64(size + 1, n)})
    yield "zip64 missing", "reject", "zip64", belied(both=wide)
    yield "zip64 too short", "reject", "zip64", belied(both=dict(wide, extra=zip64(size)))
    yield "zip64 twice", "reject", "two", belied(both=dict(wide, extra=zip64(size, n) * 2))
    yield "zip64 sizes differ", "reject", "size", belied(
        local=dict(wide, extra=zip64(size, n)), central=dict(wide, extra=zip64(size - 4, n)))
    yield "zip64 sizes of 2^63", "reject", "expected", belied(both=dict(wide, extra=zip64(1 << 63, 1 << 63)))
    yield "zip64 offset", "accept", "", belied(at=0xFFFFFFFF, central={"extra": zip64(0)})
    yield "zip64 offset past the end", "reject", "offset", belied(at=0xFFFFFFFF, central={"extra": zip64(1 << 40)})
    yield "zip64 disk", "reject", "disk", belied(disk=0xFFFF, central={"extra": struct.pack("<2HI", 1, 4, 7)})
    yield "disk 1", "reject", "disk", belied(disk=1)
    yield "zip64 end", "accept", "", shard(end64={})
    yield "zip64 end, all from there", "accept", "", shard(
        end64={}, end={"here": 0xFFFF, "n": 0xFFFF, "nbytes": 0xFFFFFFFF, "offset": 0xFFFFFFFF})
    for field, value in (("n", 4), ("here", 2), ("nbytes", 10), ("offset", 1), ("disk", 1), ("size", 12),
                         ("size", 1 << 60), ("at", 0), ("at", 1 << 62), ("disks", 2), ("disks", 0),
                         ("locator_disk", 1), ("n", 1 << 60)):  # fmt: skip
        verdict = "accept" if (field, value) == ("disks", 0) else "reject"
        yield f"zip64 end: {field} {value}", verdict, "" if verdict == "accept" else "expected", shard(
            end64={field: value})
    yield "zip64 end with more data", "accept", "", shard(end64={"size": 52, "more": b"\x99\x99\4\0more"})
    for field, value in (("n", 4), ("here", 4), ("n", 0xFFFF), ("nbytes", 0), ("nbytes", 0xFFFFFFFF),
                         ("offset", 0), ("offset", 0xFFFFFFFF), ("disk", 1), ("directory_disk", 1),
                         ("disk", 0xFFFF)):  # fmt: skip
        yield f"end: {field} {value}", "reject", "expected", shard(end={field: value})
    yield "end: fewer members", "reject", "more", shard(end={"n": 2, "here": 2})

    # Data descriptors.
    late = {"flags": 8}
    zero = dict(late, crc=0, size=0, packed=0)
    for name, tail in (("with signature", b"PK\7\x08" + struct.pack("<3I", crc, n, size)),
                       ("without signature", struct.pack("<3I", crc, n, size)),
                       ("of 64 bits", b"PK\7\x08" + struct.pack("<I2Q", crc, n, size))):  # fmt: skip
        yield f"descriptor {name}", "accept", "", belied(both=late, local=zero, descriptor=tail)
        yield f"descriptor {name}, sizes known", "accept", "", belied(both=late, descriptor=tail)
    yield "descriptor missing", "reject", "descriptor", belied(both=late, local=zero)
    for i, what in enumerate(("CRC", "packed size", "size")):
        numbers = [crc, n, size]
        numbers[i] ^= 4
        yield f"descriptor: wrong {what}", "reject", "descriptor", belied(
            both=late, local=zero, descriptor=b"PK\7\x08" + struct.pack("<3I", *numbers))
    yield "descriptor, sizes differ locally", "reject", "size", belied(
        both=late, local=dict(zero, size=5), descriptor=struct.pack("<3I", crc, n, size))
    yield "descriptor of a stored member", "accept", "", belied(
        method=STORED, both=late, local=zero, descriptor=struct.pack("<3I", crc, size, size))
    whole = shard()
    for cut in (1, 21, 22, 23, len(whole) // 2, len(whole) - 30, len(whole) - 3):
        yield f"cut by {cut}", "reject", "expected", whole[:-cut]
    yield "local header alone", "reject", "expected", whole[:4]
    yield "end record alone, cut", "reject", "expected", b"PK\5\6" + bytes(10)


# --- npy headers ---


def npy_cases():
    sound = arrays()
    f = sound["features"]
    size = f.nbytes
    d = dictionary()

    for version in (1, 2, 3):
        yield f"version {version}", "accept", "", headed(d, version=version)
    for version, minor in ((0, 0), (4, 0), (1, 1), (3, 1), (147, 78)):
        raw = bytearray(header(d))
        raw[6], raw[7] = version, minor
        yield f"version {version}.{minor}", "reject", "version", replaced(data=bytes(raw))
    yield "magic of another case", "reject", "not a .npy", replaced(data=b"\x93numpy" + header(d)[6:])
    yield "no magic", "reject", "not a .npy", replaced(data=header(d)[10:])
    for n in (0, 1, 6, 7, 8, 9, 10, 11, 60, 127):
        yield f"first {n} bytes", "reject", "npy header", replaced(data=header(d)[:n])
    yield "length 0", "reject", "npy header", headed(d, length=0)
    yield "length 1", "reject", "npy header", headed(d, length=1)
    yield "length short", "reject", "npy header", headed(d, length=40)
    yield "length into the data", "reject", "npy header", headed(d, length=200)
    yield "length 65535", "reject", "10000", headed(d, length=65535)
    yield "length 2^32-1", "reject", "10000", headed(d, version=2, length=0xFFFFFFFF)
    yield "length 9000 in a short member", "reject", "header", headed(d, data=b"", length=9000)
    yield "header of 9990 bytes", "accept", "", headed(d + " " * 9800, version=2)
    for name, text in (
        ("list", "[1, 2]"), ("tuple", "('descr', '<f4')"), ("number", "7"), ("None", "None"),
        ("string", "'descr'"), ("set", "{'descr', 'shape'}"), ("empty", ""), ("spaces", "   "),
        ("call", "dict(descr='<f4', fortran_order=False, shape=(6,4,9,9))"),
        ("import", "__import__('os').system('touch /tmp/owned')"), ("two", d + d), ("more", d + "x"),
        ("semicolon", d + ";"), ("open", d[:-1]), ("deep", "{" * 3000), ("deep tuple", dictionary(shape="(" * 3000)),
        ("deep list", dictionary(descr="[" * 3000)), ("bytes key", d.replace("'descr'", "b'descr'")),
        ("unicode key", d.replace("'descr'", "u'descr'")), ("other key", d.replace("'descr'", "'dtype'")),
        ("key of numbers", d.replace("'descr'", "1")), ("NUL", d.replace("'descr'", "'des\0cr'")),
        ("key twice", d[:-1] + "'shape': (6, 4, 9, 9)}"), ("no colon", d.replace(":", " ")),
        ("no comma", d.replace(",", " ")), ("commas", d.replace(", 'shape'", ",, 'shape'")),
        ("newline", d + "\n\n"), ("tab", d + "\t"), ("merge", "{**{}, 'descr': '<f4'}"),
        ("triple quotes", d.replace("'<f4'", "'''<f4'''")), ("concatenated", d.replace("'<f4'", "'<' 'f4'")),
        ("json", d.replace("'", '"').replace("False", "false").replace("(", "[").replace(")", "]")),
    ):  # fmt: skip
        yield f"header: {name}", "reject", "npy header", headed(text, pad=name not in ("deep",))
    yield "header: high bytes", "reject", "npy header", headed(d.encode() + b"\xff\xfe")
    yield "header: UTF-16", "reject", "npy header", headed(d.encode("utf-16"))
    yield "header: bad UTF-8 in version 3", "reject", "UTF-8", headed(d.encode() + b"\xff", version=3)
    for key in ("descr", "fortran_order", "shape"):
        parts = {"descr": "'<f4'", "fortran_order": "False", "shape": "(6, 4, 9, 9)"}
        del parts[key]
        yield f"no {key}", "reject", key, headed("{" + ", ".join(f"'{k}': {v}" for k, v in parts.items()) + "}")
    yield "keys in another order", "accept", "", headed(
        "{'shape': (6, 4, 9, 9), 'fortran_order': False, 'descr': '<f4'}")
    for value in ("0", "1", "None", "'False'", "false", "TRUE", "()", "not True", "Falsey"):
        yield f"fortran_order {value}", "reject", "fortran_order" if value != "Falsey" else "expected", headed(
            dictionary(fortran=value))

    for shape in ("6", "None", "'6'", "[6, 4, 9, 9]", "(6, 4, 9, 9", "6, 4, 9, 9", "(6 4 9 9)", "(6., 4, 9, 9)",
                  "(6, 4, 9, -9)", "(-6, 4, 9, 9)", "(6, 4, 9, 9, -1)", "(True, 4, 9, 9)", "(6, 4, 9, '9')",
                  "(6, (4, 9), 9)", "(6, 4, 9*1, 9)", "(6, 4, 9, 0x9)", "(6, 4, 9, 0b1001)", "(6, 4, 9, 1_0)",
                  "(6, 4, 9, 9e0)", "(6, 4, 9, 9j)", "(, 6)", "(6,,4)", "(6)", "(None, 4, 9, 9)",
                  "(18446744073709551616, 4, 9, 9)", "(9223372036854775808,)", "(4294967296, 4294967296, 9, 9)",
                  "(6, 4, 9, 1" + "0" * 400 + ")", "(06, 4, 9, 9)", "(6, 4, 9, 9,,)", "(6, 4, ٩, 9)",
                  "(0, 9223372036854775807, 9223372036854775807)", "(" + "1, " * 33 + ")"):  # fmt: skip
        version = 3 if "٩" in shape else 1
        yield f"shape {shape[:24]}", "reject", "npy header", shaped(shape, version=version)
    for shape in ("(6, 4, 9, 7)", "(5, 4, 9, 9)", "(7, 4, 9, 9)", "(6, 4, 9, 9, 2)", "(1000000, 4, 9, 9)",
                  "(100000000000, 4, 9, 9)", "(0, 4, 9, 9)", "()", "(6,)"):  # fmt: skip
        yield f"shape {shape} of other data", "reject", "features", shaped(shape)
    yield "shape (6L, 4L, 9L, 9L)", "accept", "", shaped("(6L, 4L, 9L, 9L)")
    yield "shape (6L, ...) in version 3", "reject", "npy header", shaped("(6L, 4, 9, 9)", version=3)
    # A name that looks like fields for which the record has no room.
    yield "fields in a field's name", "accept", "", shard(more=[Member("foo.npy", header(dictionary(
        """[("a', '<U100000000'), b', '<f8')", '|i1')]""", shape="(6,)"), bytes(range(6))))])
    yield "data short by a byte", "reject", f"found {size - 1}", headed(data=f.tobytes()[:-1])
    yield "data short by a row", "reject", f"found {size - 1296}", headed(data=f.tobytes()[:-1296])
    yield "no data", "reject", "found 0", headed(data=b"")
    yield "a byte behind the data", "warn", "after", headed(data=f.tobytes() + b"x")
    yield "a row behind the data", "reject", f"found {size + 1296}", headed(data=f.tobytes() + bytes(1296))
    yield "Fortran order", "accept", "", headed(dictionary(fortran="True"))
    yield "Fortran order of one dimension", "accept", "", replaced("values", data=header(
        "{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", sound["values"].tobytes()))  # fmt: skip
    yield "Fortran order of no dimension", "accept", "", shard(more=[Member("scalar.npy", header(
        "{'descr': '<f4', 'fortran_order': True, 'shape': (), }", bytes(4)))])  # fmt: skip
    yield "an array of (N, 0)", "accept", "", shard(more=[Member("nothing.npy", npy(np.zeros((N, 0), "<f4")))])
    yield "an array of (0,)", "accept", "", shard(more=[Member("nothing.npy", npy(np.zeros(0, "<f4")))])

    for code in ("|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", "<u4", "<i8", ">i8", "<u8", "<f2", ">f2",
                 "<f4", ">f4", "<f8", ">f8", "f4", "<i1", ">u1", "|V4"):  # fmt: skip
        dtype = np.dtype(code)
        yield f"features of {code}", "accept", "", described(repr(code), f.astype(dtype).tobytes())
    for code in ("|f4", "=f4"):
        yield f"features of {code}", "warn", "byte order", described(repr(code))
    for code in ("<f1", "<f3", "<f16", ">f12", "<c8", "<c16", "<i3", "<i16", "<u0", "<b2", "<M8[ns]", "<m8[s]",
                 "<f-4", "<f", "f", "4", "", " ", "<", "<<f4", "!f4", "@f4", "<f4 ", " <f4", "<F4", "<f04", "<f+4",
                 "float32", "<float32", "np.float32", "f4,f4", "(2,)f4", "4f4", "<U", "|S", "<V4x", "<g8", "<e2",
                 "<x4", "?", "<f4\\n", "<f99999999999999999999"):  # fmt: skip
        yield f"features of {code!r}", "reject", "features", described(repr(code).replace("\\\\", "\\"))
    for code in ("|S4", "<U1"):
        yield f"features of {code}", "reject", "features", described(repr(code))
    for descr in ("None", "4", "4.0", "('<f4', (1,))", "['<f4']", "{'names': ['a'], 'formats': ['<f4']}",
                  "[('a', '<f4'), ('a', '<f4')]", "[('a',)]", "[()]", "[]", "[('a', '<f4', -1)]",
                  "[('a', '<f4', (1, 4294967296, 4294967296, 4294967296))]", "[(1, '<f4')]", "[('a', 'O')]",
                  "b'<f4'", "u'<f4'", "'<f4', '<f4'"):  # fmt: skip
        yield f"features of descr {descr[:24]}", "reject", "features", described(descr)
    record = np.zeros(N, [("a", "<f4"), ("b", "|u1", (2,))])
    yield "structured side array", "accept", "", shard(more=[Member("record.npy", npy(record))])
    yield "structured planes", "reject", "features", described("[('a', '<f4')]")
    for name, code in (("weights", "<f2"), ("weights", "<U7"), ("weights", "|S3"), ("weights", "|V5"),
                       ("weights", "<c8"), ("weights", ">c16"), ("weights", "<M8[s]"), ("weights", ">m8[ns]"),
                       ("weights", "=u1")):
        yield f"side array of {code}", "accept", "", shard(more=[Member(f"{name}.npy", npy(np.zeros(N, code)))])
    for code in ("<c32", "<M8[25s]", "<f16"):
        yield f"side array of {code}", "reject", "weights", shard(more=[Member("weights.npy", npy(np.zeros(N, code)))])
    nan = sound["policy"].copy()
    nan.view("<u4")[1, 3] = 0x7FC12345
    yield "NaN with a payload", "fault", "nan", replaced("policy", array=nan)
    yield "policy of |b1", "accept", "", replaced("policy", array=np.eye(N, 81, dtype="|b1"))
    yield "booleans of 2", "accept", "", described("'|b1'", b"\2" * f.size)


# --- pickles ---


def pickled(value, protocol=2):
    return header(dictionary("'|O'", shape=str(value.shape)), pickle.dumps(value, protocol=protocol))


def rows(dtype, sizes=(3, 0, 2, 1, 5, 4), fill=None):
    out = np.empty(len(sizes), object)
    for i, n in enumerate(sizes):
        row = np.arange(n) * 7 % 81 if fill is None else np.full(n, fill)
        out[i] = row.astype(dtype)
    return out


def shares(dtype):
    out = rows(dtype)
    for i, row in enumerate(out):
        out[i] = np.full(len(row), 1 / max(1, len(row)), dtype)
    return out


def lists(array):
    """The same rows as Python lists."""
    out = np.empty(len(array), object)
    for i, row in enumerate(array):
        out[i] = row.tolist()
    return out


def sparse(indices=None, values=None, more=()):
    """The sound shard with a sparse policy."""
    sound = arrays()
    indices = pickled(rows("<i4")) if indices is None else indices
    values = pickled(shares("<f4")) if values is None else values
    members = [Member(f"{name}.npy", npy(sound[name])) for name in ("features", "values")]
    members += [Member("policy_indices.npy", indices), Member("policy_values.npy", values)]
    return archive(members + list(more))


def object_bytes(payload, shape="(6,)"):
    return sparse(header(dictionary("'|O'", shape=shape), payload))


def pickle_cases():
    good = rows("<i4")
    plain = pickle.dumps(good, protocol=2)
    for protocol in (2, 3, 4, 5):
        yield f"protocol {protocol}", "accept", "", sparse(pickled(good, protocol))
    for protocol in (0, 1):
        yield f"protocol {protocol}", "reject", "pickle", sparse(pickled(good, protocol))
    yield "protocol 6", "reject", "pickle", object_bytes(b"\x80\x06" + plain[2:])
    for cut in (1, 2, 10, len(plain) // 2, len(plain) - 1):
        yield f"pickle cut by {cut}", "reject", "policy_indices", object_bytes(plain[:-cut])
    yield "bytes behind the pickle", "reject", "pickle", object_bytes(plain + b"more")
    yield "two pickles", "reject", "pickle", object_bytes(plain + plain)
    for name, payload in (
        ("stop alone", b"."), ("none", b"N."), ("number", b"K\1."), ("string", b"X\3\0\0\0abc."), ("list", b"]."),
        ("dict", b"}."), ("tuple", b")."), ("empty", b""), ("marks", b"(" * 5000 + b"."), ("pop", b"0."),
        ("dup", b"2."),
        ("global", b"cos\nsystem\n."), ("global by stack", b"\x8c\2os\x8c\6system\x93."),
        ("reduce", b"cos\nsystem\nX\4\0\0\0true\x85R."), ("inst", b"(X\4\0\0\0trueios\nsystem\n."),
        ("obj", b"(cos\nsystem\nX\4\0\0\0trueo."), ("newobj", b"cos\nsystem\n)\x81."),
        ("newobj_ex", b"cos\nsystem\n)}\x92."),
        ("build", b"cos\nsystem\nN b."), ("persid", b"Pid\n."), ("binpersid", b"K\1Q."), ("ext1", b"\x82\1."),
        ("ext2", b"\x83\1\0."), ("ext4", b"\x84\1\0\0\0."), ("next buffer", b"\x97."), ("readonly buffer", b"\x98."),
        ("get", b"g0\n."), ("binget", b"h\5."), ("long binget", b"j\xff\xff\xff\xff."),
        ("long binput", b"Nr\xff\xff\xff\x7f."),
        ("unicode of 4 GB", b"X\xff\xff\xff\xff."), ("unicode8 of 2^63", b"\x8d" + b"\xff" * 7 + b"\x7f."),
        ("bytes8 of 2^64-1", b"\x8e" + b"\xff" * 8 + b"."), ("bytearray8", b"\x96" + b"\xff" * 8 + b"."),
        ("frame of 2^64-1", b"\x95" + b"\xff" * 8 + b"."), ("long1 of 255", b"\x8a\xff."),
        ("long4 negative", b"\x8b\xff\xff\xff\xff."),
        ("float text", b"Fnan\n."), ("int text", b"I99999999999999999999999\n."), ("bad UTF-8", b"X\2\0\0\0\xff\xfe."),
        ("tuple1 alone", b"\x85."), ("append alone", b"a."), ("setitem alone", b"s."), ("bad opcode", b"\xff."),
        ("eval", b"cbuiltins\neval\nX\x031+1\x85R."), ("numpy load", b"cnumpy\nload\nX\1\0\0\0x\x85R."),
        ("getattr", b"cbuiltins\ngetattr\ncos\nX\6\0\0\0system\x86R."),
        ("reconstruct alone", b"cnumpy.core.multiarray\n_reconstruct\n."),
        ("reconstruct no class", b"cnumpy.core.multiarray\n_reconstruct\nNNN\x87R."),
        ("dtype alone", b"cnumpy\ndtype\nX\2\0\0\0i4\x85R."),
        ("scalar", b"cnumpy.core.multiarray\nscalar\n."), ("memo of itself", b"]q\0h\0a."),
        ("recursion", b"]" * 20000 + b"a" * 19999 + b"."), ("appends of millions", b"](" + b"N" * 200000 + b"e."),
    ):  # fmt: skip
        yield f"pickle: {name}", "reject", "policy_indices", object_bytes(b"\x80\x02" + payload if payload else b"")
    for name, value in (
        ("rows of 2-D arrays", [np.zeros((2, 2), "<i4")] * N), ("rows of 0-D arrays", [np.array(1)] * N),
        ("rows of objects", [rows("<i4")] * N), ("rows of None", [None] * N), ("rows of dicts", [{}] * N),
        ("rows of strings", ["a"] * N), ("rows of complex", [np.zeros(2, "<c8")] * N),
        ("rows of records", [np.zeros(2, [("a", "<i4")])] * N), ("rows of dates", [np.zeros(2, "<M8[s]")] * N),
        ("rows of texts", [np.zeros(2, "<U3")] * N), ("rows of functions", [len] * N),
        ("rows of floats", [np.zeros(2, "<f4")] * N),
    ):  # fmt: skip
        array = np.empty(N, object)
        for i in range(N):
            array[i] = value[i]
        yield name, "reject", "policy_indices", sparse(pickled(array))
    for code in ("<i2", ">i4", "<i8", ">i8", "|u1", "<u4", "<u8", "|i1"):
        yield f"indices of {code}", "accept", "", sparse(pickled(rows(code)))
    for code in ("<f2", ">f4", "<f8"):
        yield f"values of {code}", "accept", "", sparse(values=pickled(shares(code)))
    yield "rows of lists", "accept", "", sparse(pickled(lists(rows("<i4"))), pickled(lists(shares("<f8"))))
    yield "lists beside arrays", "accept", "", sparse(pickled(lists(rows("<i4"))))
    yield "lists of floats", "reject", "policy_indices", sparse(pickled(lists(rows("<f4"))))
    yield "lists with texts", "reject", "policy_values", sparse(values=pickled(lists(rows("<U3"))))
    yield "lists longer than values", "fault", "length", sparse(pickled(lists(rows("<i4", (3, 0, 2, 1, 5, 5)))))
    yield "index in a list past the board", "refuse", "policy_indices", sparse(pickled(lists(rows("<i4", fill=500))))
    yield "fewer rows", "refuse", "expected", sparse(pickled(rows("<i4", (1, 2, 3))))
    yield "header says more rows", "reject", "shape", sparse(header(dictionary("'|O'", shape="(7,)"), plain))
    yield "header says 2^40 rows", "reject", "policy_indices", sparse(
        header(dictionary("'|O'", shape="(1099511627776,)"), plain))
    yield "indices longer than values", "fault", "length", sparse(pickled(rows("<i4", (3, 0, 2, 1, 5, 5))))
    yield "index past the board", "refuse", "policy_indices", sparse(pickled(rows("<i4", fill=500)))
    yield "negative index", "refuse", "policy_indices", sparse(pickled(rows("<i4", fill=-7)))
    yield "object planes", "reject", "features", replaced(array=np.full((N, 4, 9, 9), 0, object))
    for name, start, fill, words in (
        ("text", b"X\0\0\0\x20", b"\0", "str of 536870912 bytes"), ("zeros", b"", b"\0", "opcode 0x00"),
        ("end", b"N.", b"\0", "after the end"), ("values", b"", b"N", "on the stack"),
        ("lists", b"", b"]", "more lists"),
    ):  # fmt: skip
        front, n = header(dictionary("'|O'", shape="(6,)"), b"\x80\2" + start), 512 << 20
        crc = zlib.crc32(front)
        for _ in range(n >> 20):
            crc = zlib.crc32(fill * (1 << 20), crc)
        yield f"bomb: a pickle of 512 MiB, {name}", "reject", words, shard(
            more=[Member("bomb.npy", b"", packed=zeros_behind(front, n, fill),
                         both={"size": len(front) + n, "crc": crc})])  # fmt: skip
    nones = np.empty(16, object)
    for i in range(16):
        nones[i] = [None]
    nones = pickled(nones)
    yield "bomb: lists of None", "reject", "memory", sparse(nones.replace(b"Na", b"(" + b"N" * 1000000 + b"e"))
    yield "bomb: tuples in tuples", "reject", "tuple", sparse(
        nones.replace(b"Na", b"(" * 1000000 + b"t" * 1000000 + b"a", 1))  # fmt: skip
    yield "bomb: lists of None, and what helps", "reject", "store it without compression", sparse(
        nones.replace(b"Na", b"(" + b"N" * 1000000 + b"e"))  # fmt: skip
    nones = Member("", nones.replace(b"Na", b"(" + b"N" * 60000 + b"e"))
    yield "bomb: many lists of None", "reject", "memory", shard(
        more=[Member(f"x{i}.npy", b"", packed=nones.bytes, both={k: nones.local[k] for k in ("size", "crc")})
              for i in range(40)])  # fmt: skip
    front = header(dictionary("'|O'", shape="(1000000,)"), b"\x80\2")
    lists_of_none = (b"](" + b"N" * 65533 + b"e") * 16
    crc = zlib.crc32(front)
    for _ in range(512):
        crc = zlib.crc32(lists_of_none, crc)
    yield "bomb: a pickle of 512 MiB, lists of None", "reject", "bomb", shard(
        more=[Member("bomb.npy", b"", packed=zeros_behind(front, 512 << 20, lists_of_none[: 1 << 16]),
                     both={"size": len(front) + (512 << 20), "crc": crc})])  # fmt: skip
    yield "object scalar", "accept", "", sparse(more=[Member("info.npy", pickled(np.array({"a": 1}, object)))])
    yield "hostile object scalar", "accept", "", sparse(
        more=[Member("info.npy",
                     header(dictionary("'|O'", shape="()"), b"\x80\x02cos\nsystem\nX\4\0\0\0true\x85R."))])  # fmt: skip
    yield "indices without values", "reject", "policy_values", archive(
        [Member("features.npy", npy(arrays()["features"])), Member("policy_indices.npy", pickled(good))])  # fmt: skip


CASES = {"zip": zip_cases, "npy": npy_cases, "pickle": pickle_cases}
