"""Pictures as pixels: SVG through rsvg-convert, and PNG (8 bits, RGB or RGBA) to arrays."""

import struct
import subprocess
import zlib

import numpy as np


def unfilter(kind, line, above, step):
    """A line of bytes without its filter; `above` is the line before it."""
    if kind == 0:
        return line
    if kind == 2:
        return line + above
    out = [0] * step + [int(x) for x in line]
    up = [0] * step + [int(x) for x in above]
    for i in range(step, len(out)):
        a, b, c = out[i - step], up[i], up[i - step]
        if kind == 4:
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
        else:
            guess = a if kind == 1 else (a + b) // 2
        out[i] = (out[i] + guess) & 255
    return np.array(out[step:], np.uint8)


def decode(png):
    """(height, width, 3) bytes."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG file"
    at, packed, header = 8, b"", None
    while at < len(png):
        n, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + n]
        header = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else header
        packed += body if kind == b"IDAT" else b""
        at += 12 + n
    width, height, depth, colour, _, _, interlaced = header
    assert depth == 8 and colour in (2, 6) and not interlaced, header
    step = 3 if colour == 2 else 4
    lines = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + width * step)
    out = np.zeros((height, width * step), np.uint8)
    for y in range(height):
        above = out[y - 1] if y > 0 else np.zeros(width * step, np.uint8)
        out[y] = unfilter(lines[y, 0], lines[y, 1:], above, step)
    return out.reshape(height, width, step)[:, :, :3]


def render(svg):
    """The pixels of an SVG document (bytes)."""
    done = subprocess.run(["rsvg-convert"], input=svg, capture_output=True, check=True)
    return decode(done.stdout)


def find(pixels, colour, tolerance=40):
    """(x, y) of the pixels that look like a colour, "#rrggbb"."""
    wanted = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    near = (np.abs(pixels.astype(int) - wanted) <= tolerance).all(axis=2)
    y, x = np.nonzero(near)
    return np.stack([x, y], axis=1).astype(float)
