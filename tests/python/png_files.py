"""PNG files, written and read by the standard library alone."""

import struct
import zlib

import numpy

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, pixel=lambda x, y: (x % 256, y % 256, 128)):
    """A picture of our own, so that tests need no library."""
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def png_of(numbers, bits, kind):
    """A PNG of numbers: kind 0 grey levels, 3 indices of a palette."""
    height, width = numbers.shape
    rows = b""
    for row in numbers:
        packed = numpy.unpackbits(row.astype(">u2").view(numpy.uint8)).reshape(width, 16)[:, 16 - bits:]
        rows += b"\0" + numpy.packbits(packed.ravel()).tobytes()
    header = struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0)
    palette = chunk(b"PLTE", bytes(range(3 * 2 ** bits)) if bits < 8 else bytes(768)) if kind == 3 else b""
    return SIGNATURE + chunk(b"IHDR", header) + palette + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def read_grey(path):
    """An 8-bit grey PNG without interlace, as numbers; every filter of the format."""
    data, at, body, width, height = path.read_bytes(), 8, b"", 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        content = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", content[:10])
            assert (bits, colour) == (8, 0)
        body += content if kind == b"IDAT" else b""
        at += length + 12
    lines = numpy.frombuffer(zlib.decompress(body), numpy.uint8).reshape(height, width + 1).tolist()
    result = [[0] * width for _ in range(height)]
    for y, line in enumerate(lines):
        for x in range(width):
            a = result[y][x - 1] if x else 0
            b = result[y - 1][x] if y else 0
            c = result[y - 1][x - 1] if x and y else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            result[y][x] = (line[x + 1] + (0, a, b, (a + b) // 2, paeth)[line[0]]) % 256
    return numpy.array(result)


def read_png(path):
    """Pixels [height, width, 3] and the text chunks."""
    data = path.read_bytes()
    assert data[:8] == SIGNATURE
    chunks, texts, at = {}, {}, 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"tEXt":
            key, _, text = body.partition(b"\0")
            texts[key.decode()] = text.decode("latin-1")
        chunks[kind] = chunks.get(kind, b"") + body
        at += 12 + length
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 2)
    lines = numpy.frombuffer(zlib.decompress(chunks[b"IDAT"]), numpy.uint8).reshape(height, 1 + 3 * width)
    rows, above = [], numpy.zeros(3 * width, numpy.uint8)
    for line in lines:
        assert line[0] in (0, 2)  # none, or the difference to the line above
        above = line[1:] + above * (line[0] == 2)
        rows.append(above)
    return numpy.array(rows).reshape(height, width, 3), texts
