"""Opening models, and what they run on."""

import os
from typing import TYPE_CHECKING, Any, Literal

from ._load import core as _core
from ._files import picture_file
from ._session import Session, fields_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

INPUTS = ("input_ids", "token_type_ids", "attention_mask", "decoder_input_ids", "decoder_attention_mask", "input_features",
          "pixel_values", "pixel_mask")


class Model:
    """An open model. Call it with a text; ``image``, ``inputs`` and ``generate`` take other inputs."""

    def __init__(self, native: _core.Model) -> None:
        self._native = native

    @property
    def native(self) -> _core.Model:
        """The engine's own, for what is built on it."""
        return self._native

    @property
    def name(self) -> str:
        """What it was opened by."""
        return self._native.name

    @property
    def architecture(self) -> str:
        """The name of its architecture."""
        return self._native.architecture

    @property
    def hash(self) -> str:
        """The fingerprint of its weights and configuration."""
        return self._native.hash

    @property
    def labels(self) -> list[str]:
        """The names of its classes; empty if it has none."""
        return self._native.labels

    def info(self) -> dict[str, Any]:
        """What it is: sizes, parameters, heads, classes, files."""
        found: dict[str, Any] = self._native.info()
        return found

    def __call__(self, text: str, *, pair: str | None = None, target: str | None = None, **fields: Any) -> Session:
        """The session of a text.

        ``pair`` is a second text, for models that compare two; ``target`` is what a translation model is made to write. More
        fields (``beam``, ``from_``, ``to``, ``temperature``, ...) are those that ``fovea.input_fields()`` lists.
        """
        if not isinstance(text, str):
            raise TypeError(f"text: it is of the type {type(text).__name__} but must be a str; pictures go to image(), arrays to inputs()")
        return Session(self._native.text({"text": text, "pair": pair, "target": target, **fields_of(fields)}))

    def generate(self, text: str, tokens: int = 20, **fields: Any) -> Session:
        """Lets a causal model go on with the text for so many tokens."""
        return self(text, generate=tokens, **fields)

    def image(self, picture: Any, *, size: tuple[int, int] | None = None) -> Session:
        """The session of a picture: a path, the bytes of a file, a picture of Pillow, or an array [height, width, 3] of uint8.

        ``size`` is (width, height) as the model takes it, instead of what its preprocessor says.
        """
        file, name = picture_file(picture)
        return Session(self._native.picture(file, name, {"size": size}))

    def inputs(self, **arrays: "ArrayLike | None") -> Session:
        """The session of inputs as transformers names them, with a batch axis of 1 or without.

        ``input_ids``, ``token_type_ids``, ``attention_mask``, ``decoder_input_ids``, ``decoder_attention_mask``,
        ``input_features``, ``pixel_values``, ``pixel_mask``: lists, arrays, or tensors of torch.
        """
        return Session(self._native.tensors({name: _array(name, value) for name, value in arrays.items() if value is not None}))

    def __repr__(self) -> str:
        return f"<Model {self.name!r} ({self.architecture})>"


def _array(name: str, value: Any) -> "NDArray[Any]":
    import numpy as np

    if name not in INPUTS:
        raise TypeError(f"{name}: models take no such input; they take {', '.join(INPUTS)}")
    if hasattr(value, "detach"):  # of torch
        value = value.detach().cpu()
    array = np.ascontiguousarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: it holds {array.dtype}; give whole numbers or floats")
    return array


def load(name: str | os.PathLike[str], *, dtype: Literal["f32", "i16"] = "f32", threads: int | None = None) -> Model:
    """Opens a model.

    ``name`` is a folder, a ``.gguf`` file, the name of a bundled or fetched model (``fovea.models()``), or a hub id in Hugging
    Face's cache. ``dtype`` is what matrix products multiply: numbers of 32 bits, or of 16, up to twice as fast, with maps within
    2e-2 of the others. ``threads`` sets how many threads this process computes with.
    """
    if threads is not None:
        _core.set_thread_count(threads)
    return Model(_core.open_model(os.fsdecode(name), dtype))
