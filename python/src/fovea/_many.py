"""Questions that are counted over many inputs: their inputs as the engine takes them."""

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any

from ._answer import Answer
from ._files import is_picture, picture_file
from ._load import core as _core
from ._session import fields_of

if TYPE_CHECKING:
    from ._model import Model

MEMBERS = ("text", "target", "picture", "size", "mask", "objects", "name")


def _object(given: Mapping[str, Any], number: int) -> dict[str, Any]:
    left, top, right, bottom = (float(side) for side in given["box_xyxy"])
    return {"id": int(given.get("id", number + 1)), "label": str(given.get("label", "")),
            "left": left, "top": top, "right": right, "bottom": bottom}


def _mask(given: Any) -> Any:
    import numpy as np

    mask = np.asarray(given)
    if mask.ndim != 2 or mask.dtype.kind not in "bui" or mask.min(initial=0) < 0 or mask.max(initial=0) > 255:
        raise ValueError("mask: it must be [height, width] of object numbers, 0 (the background) to 255")
    return np.ascontiguousarray(mask, np.uint8)


def _input(given: Any, number: int) -> dict[str, Any]:
    """A text, a pair of text and target, a picture, or a mapping of those with what is true of them."""
    if isinstance(given, tuple):
        given = {"text": given[0], "target": given[1]} if len(given) == 2 else {}
    elif isinstance(given, str):
        given = {"text": given}
    elif is_picture(given):
        given = {"picture": given}
    if not isinstance(given, Mapping) or not given or not set(given) <= set(MEMBERS):
        raise TypeError(f"input {number}: give a text, (text, target), a picture, or a mapping of {', '.join(MEMBERS)}")
    file, called = picture_file(given["picture"]) if given.get("picture") is not None else (None, f"input {number}")
    return {"name": str(given.get("name", called)), "picture": file, "fields": {name: given.get(name) for name in ("text", "target", "size")},
            "mask": None if given.get("mask") is None else _mask(given["mask"]),
            "objects": None if given.get("objects") is None else [_object(each, i) for i, each in enumerate(given["objects"])]}


def _stream(inputs: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for number, given in enumerate(inputs):
        yield _input(given, number)


def ask_many(model: "Model", inputs: Iterable[Any], kind: str, **fields: Any) -> Answer:
    """Asks what is counted over many inputs, such as ``stats``; they are read one by one.

    An input is a text, a pair of text and target, a picture (a path, bytes, a picture of Pillow or an array), or a mapping with
    ``text``, ``target``, ``picture``, ``size``, ``name`` and what is true of it: ``mask``, an array of object numbers, and ``objects``, each with
    ``label`` and ``box_xyxy``. What is wrong with one leaves it out; the answer's notes say so.

    >>> fovea.ask_many(model, texts, "stats").save("heads.png")
    """
    count = len(inputs) if isinstance(inputs, Sized) else 0
    if isinstance(inputs, str | bytes | os.PathLike):
        raise TypeError("inputs: it is one input; give a list of them")
    stream = _stream(inputs)
    first = list(itertools.islice(stream, 1))
    pictures = bool(first) and first[0]["picture"] is not None
    native = _core.ask_many(model.native, itertools.chain(first, stream), count, pictures, {"kind": kind, **fields_of(fields)})
    return Answer(native)
