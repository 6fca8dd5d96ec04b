"""Deflate streams of a zip file's members through zlib, ISA-L and libdeflate, as a loader may.

usage: decoders.py FILE.npz...    (prints for each file its MB and the GB/s of each decoder)
"""
import ctypes
import ctypes.util
import struct
import sys
import time
import zipfile
import zlib

STATE_NBYTES = 1 << 20  # more than ISA-L's inflate_state, which begins as in isal_inflate()


def streams(path):
    """(packed bytes, unpacked size) of every deflated member."""
    found = []
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        for entry in archive.infolist():
            file.seek(entry.header_offset + 26)
            file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
            if entry.compress_type == zipfile.ZIP_DEFLATED:
                found.append((file.read(entry.compress_size), entry.file_size))
    return found


def library(name):
    path = ctypes.util.find_library(name)
    return ctypes.CDLL(path) if path else None


def zlib_inflate(packed, out):
    assert len(zlib.decompress(packed, -15, len(out))) == len(out)


def isal_inflate(isal):
    state = ctypes.create_string_buffer(STATE_NBYTES)

    def inflate(packed, out):
        isal.isal_inflate_init(state)
        source = ctypes.c_char_p(packed)
        struct.pack_into("=QIIQ", state, 0, ctypes.addressof(out), len(out), 0,
                         ctypes.cast(source, ctypes.c_void_p).value)
        struct.pack_into("=I", state, 32, len(packed))
        assert isal.isal_inflate_stateless(state) == 0
        assert struct.unpack_from("=I", state, 8)[0] == 0
    return inflate


def libdeflate_inflate(libdeflate):
    libdeflate.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
    decoder = ctypes.c_void_p(libdeflate.libdeflate_alloc_decompressor())

    def inflate(packed, out):
        assert libdeflate.libdeflate_deflate_decompress(
            decoder, packed, ctypes.c_size_t(len(packed)), out, ctypes.c_size_t(len(out)), None) == 0
    return inflate


def decoders():
    isal, libdeflate = library("isal"), library("deflate")
    return {"zlib": zlib_inflate, **({"ISA-L": isal_inflate(isal)} if isal else {}),
            **({"libdeflate": libdeflate_inflate(libdeflate)} if libdeflate else {})}


def speeds(path, runs=3):
    """Decoder -> GB/s of uncompressed bytes, best of the runs."""
    members = [(packed, ctypes.create_string_buffer(n)) for packed, n in streams(path)]
    n_bytes = sum(len(out) for _, out in members)
    found = {}
    for name, inflate in decoders().items():
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            for packed, out in members:
                inflate(packed, out)
            seconds.append(time.perf_counter() - start)
        found[name] = n_bytes / min(seconds) / 1e9
    return found


if __name__ == "__main__":
    for file in sys.argv[1:]:
        size = sum(len(packed) for packed, _ in streams(file)) / 1e6
        print(file, f"{size:.2f} MB", {name: round(x, 2) for name, x in speeds(file).items()})
