"""What was captured, as a session: axes with names, maps on the device, and everything else by the engine."""

import dataclasses
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from ._axes import Axes, Axis
from ._calls import Layer
from ._masks import Seen
from ._records import Bias, DeviceMap, Record
from ._sites import CANONICAL

if TYPE_CHECKING:
    from .._session import Session
else:
    try:
        from .._session import Session
    except ImportError:  # this folder alone, without the engine
        Session = object
WITH_ENGINE = hasattr(Session, "ask")


class Found(NamedTuple):
    """What was captured of one run."""

    model: Any
    tokenizer: Any
    names: dict[str, str]
    layers: list[tuple[str, Layer]]
    inputs: list[dict[str, Any]]


class Shape(NamedTuple):
    """How many maps there are of one kind of attention, and how large they are."""

    layers: int
    heads: int
    rows: int
    columns: int


class Placed(NamedTuple):
    """A record at its site, with the axes that its rows and columns count along."""

    record: Record
    rows: Axis
    columns: Axis


class CapturedSession(Session):
    """A captured run of a model of PyTorch. Maps are computed where the records lie; questions are asked of the engine."""

    def __init__(self, placed: dict[tuple[str, int], Placed], model: str) -> None:
        self._placed = placed
        self._model = model
        self.__engine: Any = None

    @property
    def _native(self) -> Any:
        """The engine's session, made at the first question."""
        if self.__engine is None:
            from .._load import core

            handle, path = tempfile.mkstemp(suffix=".fovea.safetensors")
            os.close(handle)
            try:
                save(self, path)
                self.__engine = core.open_run(path)  # which maps the file
            finally:
                os.unlink(path)
        return self.__engine

    @property
    def axes(self) -> dict[str, list[str]]:
        """The names of positions by axis."""
        return {axis.name: axis.names for placed in self._placed.values() for axis in (placed.columns, placed.rows)}

    @property
    def tokens(self) -> list[str]:
        """The names of the positions that the model reads."""
        return next(iter(self._placed.values())).columns.names

    @property
    def sites(self) -> dict[str, Any]:
        """The kinds of attention by their canonical names; of a module that fits none, by its path."""
        found: dict[str, Any] = {}
        for (name, _), placed in self._placed.items():
            heads, rows, columns = placed.record.shape
            found[name] = found[name]._replace(layers=found[name].layers + 1) if name in found else Shape(1, heads, rows, columns)
        return found

    def _at(self, site: str, layer: int) -> Record:
        if (site, layer) not in self._placed:
            layers = [number for name, number in self._placed if name == site]
            if not layers:
                raise ValueError(f"site: this run has no {site}; it has {', '.join(self.sites)}")
            raise ValueError(f"layer: {layer} is no layer of {site}, which has {layers[0]} to {layers[-1]}")
        return self._placed[site, layer].record

    def map(self, site: str = "self", layer: int = 0, head: int = 0) -> Any:
        """The map of one head: of the engine where the record is in this machine's memory, else on the record's device."""
        record = self._at(site, layer)
        if not WITH_ENGINE or record.device.type != "cpu" or site not in CANONICAL:
            return DeviceMap(record, head, site, layer)
        return super().map(site, layer, head)

    def device_map(self, site: str = "self", layer: int = 0, head: int = 0) -> DeviceMap:
        """The map of one head, computed in PyTorch where the record lies."""
        return DeviceMap(self._at(site, layer), head, site, layer)

    def _part(self, site: str, layer: int, part: str) -> Any:
        found = getattr(self._at(site, layer), part)
        if found is None:
            raise NotImplementedError(f"{self._at(site, layer).path} makes its own weights; there is no {part}")
        if found.device.type != "cpu":
            return found
        return (found.float() if found.dtype == torch.bfloat16 else found).numpy()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the run file, which ``fovea.open`` reads."""
        save(self, os.fsdecode(path))

    def _tell_warnings(self) -> None:
        pass

    def __repr__(self) -> str:
        return f"<CapturedSession of {self._model}>"


def session_of(found: Found, sample: int) -> CapturedSession:
    """Of one sample, without its padding."""
    samples = max(layer.batch for _, layer in found.layers)
    if not 0 <= sample < samples:
        raise IndexError(f"sample: {sample} is not there; the batch holds {samples}")
    numbers: dict[str, int] = {}
    records: dict[tuple[str, int], Record] = {}
    for path, layer in found.layers:
        if sample < layer.batch:
            name = found.names[path]
            records[name, numbers.get(name, 0)] = layer.record(sample)
            numbers[name] = numbers.get(name, 0) + 1
    _find_causal_weights(records)
    axes = Axes(found.model, found.tokenizer, found.inputs, sample)
    placed = {site: Placed(record, *axes.of(site[0], record)) for site, record in records.items()}
    valid = _without_padding(placed)
    placed = {site: _cropped(each, valid.get(each.rows.span, (0, each.rows.size)), valid.get(each.columns.span, (0, each.columns.size)))
              for site, each in placed.items()}
    # Canonical sites first, in their order.
    order = sorted(placed, key=lambda site: (CANONICAL.index(site[0]) if site[0] in CANONICAL else len(CANONICAL), site))
    configuration = getattr(found.model, "config", None)
    return CapturedSession({site: placed[site] for site in order}, getattr(configuration, "_name_or_path", "") or type(found.model).__name__)


def _find_causal_weights(records: dict[tuple[str, int], Record]) -> None:
    """Weights say nothing of a mask; where no head of a site looks ahead, it is causal."""
    for kind in {name for name, _ in records}:
        weights = [record.weights for (name, _), record in records.items() if name == kind]
        if all(each is not None and each.shape[1] == each.shape[2] > 1 and not bool(each.triu(1).any()) for each in weights):
            for (name, _), record in records.items():
                if name == kind:
                    record.seen = Seen(ahead=0)


def _without_padding(placed: dict[tuple[str, int], Placed]) -> dict[str, tuple[int, int]]:
    """For each axis the stretch of positions that are no padding, where they are one."""
    found: dict[str, tuple[int, int]] = {}
    for each in placed.values():
        valid = each.record.seen.key_valid
        if valid is None or not bool(valid.any()):
            continue
        places = valid.nonzero().flatten()
        begin, end = int(places[0]), int(places[-1]) + 1
        if end - begin == len(places):
            found[each.columns.span] = (begin, end)
    return found


def _cropped(placed: Placed, rows: tuple[int, int], columns: tuple[int, int]) -> Placed:
    record = placed.record
    heads, all_rows, all_columns = record.shape
    if rows == (0, all_rows) and columns == (0, all_columns):
        return placed
    of_rows, of_columns = slice(*rows), slice(*columns)
    if record.weights is not None:
        record = dataclasses.replace(record, weights=record.weights[:, of_rows, of_columns])
    else:
        assert record.q is not None and record.k is not None and record.v is not None
        record = dataclasses.replace(record, q=record.q[:, of_rows], k=record.k[:, of_columns], v=record.v[:, of_columns],
                                     kernel_lse=None if record.kernel_lse is None else record.kernel_lse[:, of_rows],
                                     bias=_cropped_bias(record.bias, rows, columns, all_rows))
    seen = record.seen
    valid = None if seen.key_valid is None else seen.key_valid[of_columns]
    groups = [None if each is None else each[part] for each, part in ((seen.query_group, of_rows), (seen.key_group, of_columns))]
    limited = seen.behind is not None or seen.ahead is not None
    record.seen = dataclasses.replace(seen, offset=seen.offset + rows[0] - columns[0] if limited else 0,
                                      key_valid=None if valid is None or bool(valid.all()) else valid, query_group=groups[0], key_group=groups[1])
    return Placed(record, placed.rows.part(*rows), placed.columns.part(*columns))


def _cropped_bias(bias: Bias | None, rows: tuple[int, int], columns: tuple[int, int], all_rows: int) -> Bias | None:
    if bias is None:
        return None
    count, width = rows[1] - rows[0], columns[1] - columns[0]
    if bias.by_distance:
        begin = columns[0] - rows[0] + all_rows - count
        return Bias(bias.values[:, begin : begin + count + width - 1], by_distance=True)
    values = bias.values
    values = values[:, slice(*rows)] if bias.row_index is None else values
    values = values[:, :, slice(*columns)] if bias.column_index is None else values
    return Bias(values, row_index=None if bias.row_index is None else bias.row_index[slice(*rows)],
                column_index=None if bias.column_index is None else bias.column_index[slice(*columns)])


def save(session: CapturedSession, path: str) -> None:
    """Writes the run file (docs/run-file.md), whole or not at all. Sites that have no canonical name stand in it for other readers."""
    from safetensors.torch import save_file

    tensors: dict[str, torch.Tensor] = {}
    sites: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    axes: dict[str, Axis] = {}
    for (name, layer), placed in session._placed.items():
        site = f"{name}.{layer}"
        tensors.update({f"{site}.{part}": tensor for part, tensor in _tensors(placed.record).items()})
        sites[name in CANONICAL].append({"site": site, "rows": placed.rows.name, "cols": placed.columns.name, "rule": _rule(placed.record)})
        axes.update({axis.name: axis for axis in (placed.columns, placed.rows)})
    about = {"format_version": 1, "model": session._model, "model_hash": "", "axes": [axis.described() for axis in axes.values()], "sites": sites[True],
             "other_sites": sites[False]}
    temporary = f"{path}.part"
    try:
        save_file(tensors, temporary, {"fovea": json.dumps(about)})
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _tensors(record: Record) -> dict[str, torch.Tensor]:
    if record.weights is not None:
        return {"weights": _here(record.weights)}
    found = {"q": _here(record.q), "k": _here(record.k), "v": _here(record.v), "lse": _here(record.lse)}
    seen = record.seen
    for name, tensor, dtype in (("key_valid", seen.key_valid, torch.uint8), ("query_group", seen.query_group, torch.int32),
                                ("key_group", seen.key_group, torch.int32)):
        if tensor is not None:
            found[f"mask.{name}"] = _here(tensor.to(dtype))
    if record.sinks is not None:
        found["sink_logit"] = _here(record.sinks.float())
    if record.bias is not None:
        found["bias.values"] = _here(record.bias.values.float())
        if record.bias.by_distance:
            found["bias.index"] = torch.arange(record.bias.values.shape[1], dtype=torch.int32)
            if len(record.bias.values) == 1:
                found["bias.values"] = found["bias.values"].expand(record.shape[0], -1).contiguous()
        for name in ("row_index", "column_index"):
            if getattr(record.bias, name) is not None:
                found[f"bias.{name.replace('column', 'col')}"] = _here(getattr(record.bias, name).to(torch.int32))
    return found


def _here(tensor: Any) -> torch.Tensor:
    """In this machine's memory, one number after the other, shared with nobody: the file's writer wants it so."""
    made: torch.Tensor = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
    return made


def _rule(record: Record) -> dict[str, Any]:
    bias = "none" if record.bias is None else "distance" if record.bias.by_distance else "dense"
    return {"scale": record.scale, "soft_cap": record.soft_cap, "query_offset": record.seen.offset, "behind": record.seen.behind, "ahead": record.seen.ahead,
            "bias": bias}
