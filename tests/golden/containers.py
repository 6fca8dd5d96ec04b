"""Shards in every container and header form that is read, written without the program."""

import io
import os
import pickle
import zipfile

import numpy as np

FORMS = ["npz", "npz", "npz", "npz", "folder"]


def npy_bytes(array, version=None, protocol=3):
    """An .npy file: header of that version, data in the array's own order, pickle protocol."""
    header = np.lib.format.header_data_from_array_1_0(array)
    if array.dtype.hasobject:
        header["fortran_order"] = False
    file = io.BytesIO()
    np.lib.format._write_array_header(file, header, version)
    if array.dtype.hasobject:
        file.write(pickle.dumps(array, protocol=protocol))
    else:
        file.write(array.tobytes("F" if header["fortran_order"] else "C"))
    return file.getvalue()


class Unseekable:
    """A file that can only be written: zipfile then puts data descriptors behind the members."""

    def __init__(self, file):
        self.file = file

    def write(self, data):
        return self.file.write(data)

    def flush(self):
        self.file.flush()


def write_zip(path, members, rng):
    style = rng.choice(["plain", "zip64", "descriptors", "zip64 descriptors"])
    with open(path, "wb") as file:
        target = Unseekable(file) if "descriptors" in style else file
        with zipfile.ZipFile(target, "w") as archive:
            if rng.random() < 0.1:
                archive.comment = b"made for a test"
            if rng.random() < 0.1:
                archive.writestr("folder/", b"")
            for name, payload in members:
                info = zipfile.ZipInfo(name, (2024, 2, 29, 12, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED if rng.random() < 0.6 else zipfile.ZIP_STORED
                info._compresslevel = int(rng.choice([0, 1, 6, 9]))
                with archive.open(info, "w", force_zip64="zip64" in style) as member:
                    member.write(payload)


def stored_order(array, rng):
    """Some arrays in Fortran order, as p[:, perm] leaves them behind."""
    if array.ndim < 2 or rng.random() > 0.25:
        return array
    return np.asfortranarray(array)


def write_shard(path, arrays, rng, form=None):
    """Write name -> array. Returns the path: of the file, or of the folder of .npy files."""
    form = form or rng.choice(FORMS)
    members = []
    for key, array in arrays.items():
        version = [(1, 0), (2, 0), (3, 0), None][rng.integers(4)]
        payload = npy_bytes(stored_order(array, rng), version, int(rng.integers(2, 6)))
        members.append((key, payload))
    if form == "folder":
        os.mkdir(path)
        for key, payload in members:
            with open(os.path.join(path, key + ".npy"), "wb") as file:
                file.write(payload)
        return path
    suffix = "" if rng.random() < 0.15 else ".npy"
    write_zip(path + ".npz", [(key + suffix, payload) for key, payload in members], rng)
    return path + ".npz"
