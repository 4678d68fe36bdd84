"""What rows and columns count along, and what their positions are called."""

import dataclasses
import math
import re
from typing import Any

from ._records import Record


@dataclasses.dataclass(frozen=True)
class Axis:
    """Positions and their names. ``span``: axes that count the same positions, such as target and steps, have one."""

    name: str
    names: list[str]
    special: frozenset[int] = frozenset()
    grid: tuple[int, int] | None = None
    span: str = ""

    @property
    def size(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int) -> "Axis":
        if (begin, end) == (0, self.size):
            return self
        return Axis(self.name, self.names[begin:end], frozenset(each - begin for each in self.special if begin <= each < end), None, self.span)

    def described(self) -> dict[str, Any]:
        """As the run file has it."""
        return {"name": self.name, "source": "", "positions": self.names, "offsets": [[0, 0]] * self.size, "special": sorted(self.special),
                **({"grid": list(self.grid)} if self.grid else {})}


class Axes:
    """The axes of one sample of a run."""

    def __init__(self, model: Any, tokenizer: Any, inputs: list[dict[str, Any]], sample: int) -> None:
        self.configuration = getattr(model, "config", None)
        self.tokenizer = getattr(tokenizer, "tokenizer", tokenizer)  # of a processor
        self.sample = sample
        self.ids: dict[str, list[int]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for given in inputs:
            for name, value in given.items():
                if name.endswith("_ids"):
                    self._add(name, value)
                elif name != "batches":
                    self.shapes.setdefault(name, value)
        self.made: dict[tuple[str, int], Axis] = {}

    def _add(self, name: str, value: Any) -> None:
        row = value[self.sample if len(value) > self.sample else 0].flatten().tolist()
        self.ids.setdefault(name, []).extend(row)

    def of(self, site: str, record: Record) -> tuple[Axis, Axis]:
        """The axes of rows and of columns."""
        _, rows, columns = record.shape
        speaks = any(name.endswith("_ids") for name in self.ids)
        pictured = "pixel_values" in self.shapes
        # What an encoder reads: a text or a sound, a picture that a decoder writes about, or one whose objects it finds.
        read = "source" if "input_features" in self.shapes or not pictured else "patches" if speaks else "cells"
        if site == "encoder_self":
            return (self._axis(read, rows),) * 2
        if site == "decoder_self":
            return self._decoder(rows, pictured and not speaks), self._axis("queries" if pictured and not speaks else "target", columns)
        if site == "cross":
            return self._decoder(rows, pictured and not speaks), self._axis(read, columns)
        if site == "vision.self":
            return (self._axis("patches", rows),) * 2
        if site in ("text.self", "self"):
            name = "patches" if site == "self" and pictured and not speaks else "tokens"
            return self._axis(name, rows, columns) if rows != columns else self._axis(name, rows), self._axis(name, columns)
        if site == "pool":
            return Axis("pool", ["[POOL]"] * rows, frozenset(range(rows)), span="pool"), self._axis("patches" if pictured else "tokens", columns)
        return tuple(self._numbered(f"{site} {which}", size) for which, size in (("rows", rows), ("columns", columns)))  # type: ignore[return-value]

    def _decoder(self, rows: int, queries: bool) -> Axis:
        if queries:
            return self._axis("queries", rows)
        target = self._axis("target", rows)
        names = [f"after {name}" + (f" → predicts {after}" if after else "") for name, after in zip(target.names, [*target.names[1:], ""])]
        return Axis(target.name.replace("target", "steps"), names, span=target.span)

    def _axis(self, name: str, size: int, of: int | None = None) -> Axis:
        """The axis of that name, or one beside it where another size has the name already."""
        taken = [key for key in self.made if key[0] == name]
        if (name, size) not in self.made:
            made = self._make(name, size)
            label = name if not taken else f"{name} {len(taken) + 1}"
            self.made[name, size] = dataclasses.replace(made, name=label, span=label)
        return self.made[name, size]

    def _make(self, name: str, size: int) -> Axis:
        if name == "queries":
            return Axis(name, [f"query {i}" for i in range(size)])
        if name in ("patches", "cells"):
            pictured = self._pictured("cell" if name == "cells" else "patch", size)
            return dataclasses.replace(pictured, name=name)
        if name == "source" and "input_features" in self.shapes:
            return Axis(name, [f"{0.02 * i:.2f} s" for i in range(size)])
        ids = self._ids(name, size)
        if ids is None:
            return self._numbered(name, size)
        special = set(getattr(self.tokenizer, "all_special_ids", ()))
        return Axis(name, self._texts(ids), frozenset(i for i, each in enumerate(ids) if each in special))

    def _ids(self, name: str, size: int) -> list[int] | None:
        """What the part of the model was given that reads this axis."""
        parts = {"source": ("encoder:input_ids", ":input_ids"), "target": ("decoder:input_ids", ":decoder_input_ids"),
                 "tokens": (":input_ids", "text_model:input_ids", "input_ids")}[name]
        for part in parts:
            for given, ids in self.ids.items():
                if (given == part if part.startswith(":") else given.endswith(part)) and len(ids) == size:
                    return ids
        return None

    def _texts(self, ids: list[int]) -> list[str]:
        if self.tokenizer is None:
            return [f"#{each}" for each in ids]
        return [_shown(token, each) for token, each in zip(self.tokenizer.convert_ids_to_tokens(ids), ids)]

    def _pictured(self, what: str, size: int) -> Axis:
        """A grid, after the special positions that stand before it."""
        height, width = (self.shapes.get("pixel_values") or (0, 0))[-2:]
        grid = _grid(height, width, size, self._patch_sizes(), 0 if what == "cell" else 16)
        before = size - grid[0] * grid[1] if grid else 0
        if grid is None:
            return self._numbered(what, size)
        kind = getattr(self.configuration, "model_type", "")
        names = ["[CLS]", *(["[DIST]"] if kind == "deit" else []), *(f"[REG {i + 1}]" for i in range(before))][:before]
        names += [f"{what} {row},{column}" for row in range(grid[0]) for column in range(grid[1])]
        return Axis(what, names, frozenset(range(before)), grid)

    def _patch_sizes(self) -> list[int]:
        found = []
        for configuration in (self.configuration, *(getattr(self.configuration, part, None) for part in ("vision_config", "encoder"))):
            size = getattr(configuration, "patch_size", None)
            if isinstance(size, int):
                found.append(size)
            elif isinstance(size, list | tuple) and size and size[-1] == size[0]:
                found.append(size[0])
        return [*found, 32, 16, 64, 8]  # of a detector's last feature map

    def _numbered(self, name: str, size: int) -> Axis:
        return Axis(name, [f"{name} {i}" if name in ("patch", "cell") else str(i) for i in range(size)], span=name)


def _grid(height: int, width: int, size: int, steps: list[int], most_before: int) -> tuple[int, int] | None:
    """Rows and columns of patches, when few positions stand before them."""
    for step in steps:
        for rounded in (math.floor, math.ceil):
            rows, columns = rounded(height / step), rounded(width / step)
            if rows * columns > 0 and 0 <= size - rows * columns <= most_before:
                return rows, columns
    return None


def _shown(token: Any, number: int) -> str:
    """A token of a vocabulary as people read it: a space before a word is a dot, a piece within one has its hashes."""
    if token is None:
        return f"#{number}"
    text = token.decode(errors="replace") if isinstance(token, bytes) else str(token)
    text = re.sub("^[Ġ▁]", "·", text).replace("Ġ", "·").replace("▁", "·").replace("Ċ", "↵").removesuffix("</w>")
    return text if text.strip() else f"#{number}"
