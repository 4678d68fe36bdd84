"""A model and an input, or a captured run: its maps, its arrays, and questions about it."""

import functools
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ._load import core as _core
from ._answer import Answer
from ._files import is_picture, picture_file
from ._map import AttentionMap

if TYPE_CHECKING:
    from numpy.typing import NDArray

def _log(level: str, notes: list[str]) -> None:
    if notes:
        import logging

        for note in notes:
            logging.getLogger("fovea").log(getattr(logging, level), "%s", note)


class Site(NamedTuple):
    """How many maps there are of one kind of attention, and how large they are."""

    layers: int
    heads: int
    rows: int
    columns: int


def fields_of(given: dict[str, Any]) -> dict[str, Any]:
    """Keywords as fields: ``class_`` and ``from_`` are words of Python without the line."""
    return {name.removesuffix("_"): value for name, value in given.items()}


class Session:
    """What ``model(text)`` gives. The model runs when something is first read, and once."""

    def __init__(self, native: _core.Session) -> None:
        self._native = native

    @functools.cached_property
    def tokens(self) -> list[str]:
        """The names of the positions that the model reads: pieces of the text, or patches of the picture."""
        return self._native.tokens()

    @functools.cached_property
    def axes(self) -> dict[str, list[str]]:
        """The names of positions by axis: ``tokens``, ``source`` and ``target``, ``patches``, ``queries``."""
        return dict(self._native.axes())

    @functools.cached_property
    def sites(self) -> dict[str, Site]:
        """The kinds of attention by their canonical names."""
        self._tell_warnings()
        return {site.name: Site(site.layers, site.heads, site.rows, site.columns) for site in self._native.sites()}

    def map(self, site: str = "self", layer: int = 0, head: int = 0) -> AttentionMap:
        """The map of one head. Nothing of it is computed before it is read."""
        native = self._native.map(site, layer, head)
        self._tell_warnings()
        return AttentionMap(site, layer, native)

    def q(self, site: str, layer: int) -> "NDArray[Any]":
        """The queries, [heads, rows, size], before the scale. A read-only view, as all arrays here."""
        return self._part(site, layer, "q")

    def k(self, site: str, layer: int) -> "NDArray[Any]":
        """The keys, [key heads, columns, size]."""
        return self._part(site, layer, "k")

    def v(self, site: str, layer: int) -> "NDArray[Any]":
        """The values, [key heads, columns, size]."""
        return self._part(site, layer, "v")

    def lse(self, site: str, layer: int) -> "NDArray[Any]":
        """The log-sum-exp of each row's scores, [heads, rows]."""
        return self._part(site, layer, "lse")

    def _part(self, site: str, layer: int, part: str) -> "NDArray[Any]":
        found: NDArray[Any] | None = self._native.part(site, layer, part)
        if found is None:
            raise NotImplementedError(f"this run was captured without {part}")
        return found

    @property
    def outputs(self) -> "dict[str, NDArray[Any]]":
        """What the model gave beside its maps, by the names of transformers, without a batch axis."""
        return self._native.outputs(with_logits=True)

    @property
    def logits(self) -> "NDArray[Any]":
        """The model's logits: of every position, or of the classes. It may run again for them, as they can be large."""
        return self._output("logits", with_logits=True)

    @property
    def hidden(self) -> "NDArray[Any]":
        """The last hidden state, [positions, width]."""
        return self._output("last_hidden_state", with_logits=False)

    def _output(self, name: str, with_logits: bool) -> "NDArray[Any]":
        outputs = self._native.outputs(with_logits)
        if name not in outputs:
            raise NotImplementedError(f"this run has no {name}; it has {', '.join(outputs) or 'no outputs: it was captured'}")
        found: NDArray[Any] = outputs[name]
        return found

    @property
    def written(self) -> str | None:
        """What the model wrote: the translation, or how it went on; None where it writes nothing."""
        return self._native.written()

    @property
    def notes(self) -> list[str]:
        """What to know about the run, such as a text that was cut."""
        return self._native.warnings()

    def ask(self, kind: str | None = None, **fields: Any) -> Answer:
        """Asks a question; ``fovea.questions()`` lists the kinds and their fields.

        Without a kind the fields decide. A field that is a word of Python has a line behind it (``class_``). Where a field takes a
        picture, give its path as ``pathlib.Path``, its bytes, a picture of Pillow or an array.

        >>> session.ask("read", layer=2, head=8, token="it")
        """
        question = fields_of(fields)
        pictures: dict[str, tuple[str, bytes]] = {}
        for name, value in question.items():
            if is_picture(value):
                file, called = picture_file(value)
                pictures[called] = (called, file)
                question[name] = called
        if kind is not None:
            question = {"kind": kind, **question}
        answer = Answer(self._native.ask(question, pictures))
        _log("INFO", answer.notes)
        return answer

    def explain(self, method: str | None = None, **fields: Any) -> Answer:
        """What an answer of the model comes from; ``fovea.methods()`` lists the methods."""
        return self.ask("explain", method=method, **fields)

    def steps(self, **fields: Any) -> Answer:
        """One row of one head step by step, from Q, K and V to the weighted sum."""
        return self.ask("steps", **fields)

    def align(self, **fields: Any) -> Answer:
        """Which words of a translation belong together."""
        return self.ask("align", **fields)

    def change(self, **fields: Any) -> Answer:
        """What the model answers with positions hidden, edges cut or heads silenced."""
        return self.ask("change", **fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the run as one file, ``run.fovea.safetensors``, which ``fovea.open`` reads."""
        self._native.save(os.fsdecode(path))

    def _tell_warnings(self) -> None:
        if not self.__dict__.get("_told"):
            self._told = True
            _log("WARNING", self.notes)

    def __repr__(self) -> str:
        return f"<Session of {self._native.model}>"


def open(path: str | os.PathLike[str]) -> Session:
    """Opens a captured run, ``run.fovea.safetensors``."""
    return Session(_core.open_run(os.fsdecode(path)))
