"""What a question is answered with."""

import functools
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._load import core as _core
from ._draw import drawing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NOTEBOOK_PIXELS = 2  # of a picture per unit, so that it is sharp on fine screens


class Figure:
    """What a picture of an answer says: title, caption and metadata; ``str()`` draws it in characters."""

    def __init__(self, native: _core.Answer) -> None:
        self._native = native

    @property
    def title(self) -> str:
        """What stands above the picture."""
        return self._native.title

    @property
    def caption(self) -> str:
        """What stands below the picture: row or column, layer, head, method and sum."""
        return self._native.caption

    @property
    def metadata(self) -> dict[str, Any]:
        """What is embedded in its files: the model's hash, the input, the question."""
        found: dict[str, Any] = self._native.metadata()
        return found

    def text(self, width: int = 100, colored: bool = False) -> str:
        """The figure as a terminal shows it, ``width`` characters wide."""
        if not 20 <= width <= 10000:
            raise ValueError(f"width: {width} characters hold no figure; give 20 to 10000")
        drawn: str = drawing().text_of(self._native, width, colored)
        return drawn

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Figure {self.title!r}>"


class Answer:
    """A figure, facts and numbers. In a notebook it shows itself."""

    def __init__(self, native: _core.Answer) -> None:
        self._native = native

    @property
    def kind(self) -> str:
        """The kind of the question."""
        return self._native.kind

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """Everything as JSON has it (docs/answers.md): what was asked, taken and found."""
        found: dict[str, Any] = self._native.facts()
        return found

    @property
    def notes(self) -> list[str]:
        """What to know beside it, such as a text that was cut."""
        return self._native.notes

    @property
    def figure(self) -> Figure:
        """What the picture says."""
        return Figure(self._native)

    def numpy(self) -> "NDArray[np.float32]":
        """The numbers that it is about: weights, or the scores of an explanation. What the mask forbids is 0."""
        found: NDArray[np.float32] = self._native.numbers()
        return found

    def arrays(self) -> "Mapping[str, NDArray[Any]]":
        """The arrays of an answer that has several, such as ``steps``, by their names."""
        return self._native.arrays()

    @property
    def labels(self) -> tuple[list[str], list[str]]:
        """What rows and columns of ``numpy()`` stand for."""
        return self._native.labels()

    def save(self, path: str | os.PathLike[str], *, colors: str = "", pixels: int = 2, svg_text: bool = False) -> None:
        """Writes it, whole or not at all, by the suffix.

        ``.png``, ``.svg`` and ``.pdf`` are the figure, ``.html`` a page, and ``.npy``, ``.npz``, ``.safetensors``, ``.csv`` and
        ``.json`` the numbers. ``colors`` names a colour map, ``pixels`` is the size of a ``.png`` (1 to 4), ``svg_text`` keeps the
        text of an ``.svg`` as text.
        """
        name = os.fsdecode(path)
        if _core.is_numbers_file(name):
            self._native.write(name)
        elif name.lower().endswith((".png", ".svg", ".pdf", ".html", ".htm")):
            drawing().write(self._native, name, colors, pixels, svg_text)
        else:
            raise ValueError(f"path: '{name}' has none of the suffixes .png, .svg, .pdf, .html, .npy, .npz, .safetensors, .csv and .json")

    def _repr_png_(self) -> bytes:
        png: bytes = drawing().encode(self._native, ".png", "", NOTEBOOK_PIXELS, False)
        return png

    def _repr_html_(self) -> str:
        import base64
        import html

        png = self._repr_png_()
        width = int.from_bytes(png[16:20], "big") // NOTEBOOK_PIXELS
        label = html.escape(f"{self.figure.title}. {self.figure.caption}")
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return (f'<img alt="{label}" width="{width}" style="max-width:100%" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
                + (f"<ul>{notes}</ul>" if notes else ""))

    def __str__(self) -> str:
        return str(self.figure)

    def __repr__(self) -> str:
        return f"<Answer {self.kind}: {self.figure.title}>"
