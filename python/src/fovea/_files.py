"""Pictures as bytes of a file, whatever they are given as. Files are opened here; the engine gets bytes."""

import os
from typing import Any


def is_picture(value: object) -> bool:
    """Whether the value can only be a picture: bytes, a path, an array, or a picture of Pillow."""
    return isinstance(value, bytes | bytearray | memoryview | os.PathLike) or hasattr(value, "__array__") or hasattr(value, "save")


def picture_file(value: Any) -> tuple[bytes, str]:
    """The bytes of a picture file, and what it is called in messages."""
    if isinstance(value, str | os.PathLike):
        name = os.fspath(value)
        with open(name, "rb") as file:
            return file.read(), os.fsdecode(name)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value), "the picture"
    if hasattr(value, "save") and hasattr(value, "convert"):  # of Pillow
        import io

        out = io.BytesIO()
        value.convert("RGB").save(out, "PPM")
        return out.getvalue(), os.fsdecode(getattr(value, "filename", "") or "the picture")
    if hasattr(value, "__array__"):
        return _array_file(value), "the picture"
    raise TypeError(f"a picture is of the type {type(value).__name__}; give a path, the bytes of a file, a picture of Pillow or an array")


def _array_file(value: Any) -> bytes:
    """As PPM, which holds pixels as they are."""
    import numpy as np

    pixels = np.asarray(value)
    if pixels.dtype != np.uint8:
        raise ValueError(f"the picture's numbers are of the type {pixels.dtype}; give uint8, from 0 to 255")
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[:, :, None], 3, axis=2)
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or 0 in pixels.shape:
        raise ValueError(f"the picture has the shape {pixels.shape}; give [height, width, 3]")
    if pixels.shape[2] == 1:
        pixels = np.repeat(pixels, 3, axis=2)
    height, width = pixels.shape[:2]
    return f"P6 {width} {height} 255\n".encode() + np.ascontiguousarray(pixels[:, :, :3]).tobytes()
