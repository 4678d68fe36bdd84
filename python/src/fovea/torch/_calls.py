"""Calls of attention as they come, put together: steps of a generation, chunks of a picture, windows, samples of a batch."""

import dataclasses
import math
import os
import tempfile
from typing import Any

import torch

from ._errors import CaptureError
from ._masks import LARGEST_MATRIX, MASKED, LazyMask, Seen, understood
from ._records import Bias, Record, shortened

NEVER = -1e30  # added to the score of a key that is not seen, where only a matrix says so


@dataclasses.dataclass(eq=False)
class Call:
    """One call: [batch, heads, rows, size] and so on, and how the scores are made. Or only the weights."""

    q: torch.Tensor | None
    k: torch.Tensor | None
    v: torch.Tensor | None
    mask: Any = None
    causal: bool = False  # where there is no mask
    scale: float = 1.0
    soft_cap: float = 0.0
    sinks: torch.Tensor | None = None
    bias: torch.Tensor | None = None
    lse: torch.Tensor | None = None
    weights: torch.Tensor | None = None
    windows: int = 1  # of each sample, one after the other on the first axis
    columns: int = 0  # of the mask, where a cache has more room than it has keys

    @property
    def batch(self) -> int:
        of: torch.Tensor = self.weights if self.q is None else self.q  # type: ignore[assignment]
        return of.shape[0] // self.windows

    @property
    def rows(self) -> int:
        return (self.weights if self.q is None else self.q).shape[2]  # type: ignore[union-attr]


class Layer:
    """All calls that make one map of each head."""

    def __init__(self, path: str, invocation: object) -> None:
        self.path = path
        self.invocation = invocation
        self.calls: list[Call] = []
        self.chunks = False  # calls with keys of their own; else each goes on with the keys of those before it
        self.rows = self.columns = 0

    def add(self, call: Call, chunk: bool = False) -> None:
        self.chunks = self.chunks or chunk
        self.calls.append(call)
        self.rows += call.rows
        self.columns += 0 if call.k is None else call.k.shape[2]
        if call.weights is not None:
            self.columns = call.weights.shape[3]

    @property
    def batch(self) -> int:
        return self.calls[0].batch

    def goes_on(self, call: Call, crosses: bool) -> bool:
        """Whether the call is a further step over the same keys, of which it brings only the last ones."""
        first = self.calls[0]
        if call.weights is not None:
            return call.batch == first.batch and call.weights.shape[3] == self.columns + (0 if crosses else call.rows)
        if call.q is None or call.k is None or first.k is None or first.q is None or call.batch != first.batch or call.windows > 1:
            return False
        if crosses:
            return call.k.shape == first.k.shape and (call.k.data_ptr() == first.k.data_ptr() or torch.equal(call.k.to(first.k.device), first.k))
        if isinstance(call.mask, LazyMask) and call.mask.request["q_offset"] is not None:
            begun = int(first.mask.request["q_offset"]) if isinstance(first.mask, LazyMask) else self.columns - self.rows
            return int(call.mask.request["q_offset"]) == begun + self.rows > 0
        return call.k.shape[2] == self.columns + call.rows

    def go_on(self, call: Call, crosses: bool) -> None:
        if call.weights is not None:
            self.add(call)
            return
        assert call.k is not None and call.v is not None
        if crosses:
            self.add(dataclasses.replace(call, k=None, v=None, columns=call.k.shape[2]))
            return
        columns, rows = call.k.shape[2], call.rows
        last = next(each.k for each in reversed(self.calls) if each.k is not None)
        before = call.k[:, :, columns - rows - 1].to(last.device).float()
        # Nearly: some models make all keys anew from what they keep.
        if columns > rows and not torch.allclose(before, last[:, :, -1].float(), rtol=2e-2, atol=2e-2 * float(before.abs().max())):
            raise CaptureError(f"{self.path}: the keys of earlier steps are not those that were captured; beam search puts them in another order: "
                               "generate with num_beams=1, or capture one call of the model on what was generated")
        new = [each[:, :, columns - rows :].clone() for each in (call.k, call.v)]
        self.add(dataclasses.replace(call, k=new[0], v=new[1], columns=columns))

    def record(self, sample: int) -> Record:
        """Of one sample of the batch."""
        first = self.calls[0]
        if first.weights is not None:
            steps = [call.weights[sample] for call in self.calls if call.weights is not None]
            return Record(self.path, None, None, None,
                          weights=torch.cat([torch.nn.functional.pad(step, (0, self.columns - step.shape[2])) for step in steps], 1))
        q, k, v = (_flat([getattr(call, name) for call in self.calls], sample, first.windows) for name in "qkv")
        kept = [call.lse for call in self.calls]
        lse = None
        if all(each is not None for each in kept):
            lse = torch.cat([each.reshape(-1, first.windows, *each.shape[1:])[sample].transpose(0, 1).flatten(1, 2)  # type: ignore[union-attr]
                             for each in kept], 1)
        record = Record(self.path, q, k, v, first.scale, first.soft_cap, first.sinks, kernel_lse=lse)
        if first.windows > 1 or self.chunks:
            record.seen, record.bias = self._of_parts(sample)
        else:
            record.seen, record.bias = self._of_steps(sample)
        if first.soft_cap and record.bias is not None:
            raise CaptureError(f"{self.path}: a mask that was not understood, beside a soft cap; capture without padding, or one sample at a time")
        return record

    def _of_steps(self, sample: int) -> tuple[Seen, Bias | None]:
        said = [_said(call, sample, self.path) for call in self.calls]
        if len(said) == 1:
            seen, more = said[0]
            if more is None:
                return seen, None
            return seen, shortened(more, seen.whole(self.rows, self.columns, more.device))
        seen = self._one_rule([each for each, _ in said])
        if all(more is None for _, more in said):
            return seen, None
        heads = max(len(more) for _, more in said if more is not None)
        example = next(more for _, more in said if more is not None)
        whole = example.new_zeros(heads, self.rows, self.columns)
        known = torch.zeros(self.rows, self.columns, dtype=torch.bool, device=example.device)
        row = 0
        for call, (_, more) in zip(self.calls, said):
            columns = call.columns or call.k.shape[2]  # type: ignore[union-attr]
            end = self._end(row + call.rows)
            if more is not None:
                whole[:, row : row + call.rows, end - columns : end] = more
            known[row : row + call.rows, end - columns : end] = True
            row += call.rows
        return seen, shortened(whole, known & seen.whole(self.rows, self.columns, whole.device))

    def _one_rule(self, steps: list[Seen]) -> Seen:
        """The rule of all steps together, which each of them agrees with."""
        first, crosses = steps[0], self.calls[-1].k is None
        valid = steps[-1].key_valid if not crosses and steps[-1].key_valid is not None and len(steps[-1].key_valid) == self.columns else first.key_valid
        if crosses:
            candidates = [dataclasses.replace(first, key_valid=valid)]
        else:
            windows = {None, first.behind, *(step.behind for step in steps)}
            offset = self.columns - self.rows
            candidates = [dataclasses.replace(first, offset=offset, ahead=0, behind=behind, key_valid=valid) for behind in windows]
        for candidate in candidates:
            if self._agrees(candidate, steps):
                return candidate
        raise CaptureError(f"{self.path}: the masks of the steps of a generation do not make one mask; capture one call of the model on what was generated")

    def _end(self, rows: int) -> int:
        """How many keys there were when so many rows had been."""
        return self.columns if self.calls[-1].k is None else rows + self.columns - self.rows

    def _agrees(self, candidate: Seen, steps: list[Seen]) -> bool:
        row = 0
        for call, step in zip(self.calls, steps):
            columns = call.columns or call.k.shape[2]  # type: ignore[union-attr]
            end = self._end(row + call.rows)
            rows = torch.arange(row, row + call.rows)
            wanted = torch.zeros(call.rows, self.columns, dtype=torch.bool)
            wanted[:, end - columns : end] = step.whole(call.rows, columns, "cpu")
            if not torch.equal(candidate.matrix(rows, torch.arange(self.columns)), wanted):
                return False
            row += call.rows
        return True

    def _of_parts(self, sample: int) -> tuple[Seen, Bias | None]:
        """Windows of a picture, or chunks: each part sees itself only."""
        rows: list[int] = []
        columns: list[int] = []
        tables: list[torch.Tensor | None] = []
        windows = self.calls[0].windows
        for call in self.calls:
            assert call.k is not None
            for window in range(windows):
                seen, more = _said(call, sample * windows + window, self.path)
                if seen != Seen():
                    if more is None:
                        more = torch.zeros(1, call.rows, call.k.shape[2], device=call.k.device)
                    more = more.masked_fill(~seen.whole(call.rows, call.k.shape[2], more.device), NEVER)
                rows.append(call.rows)
                columns.append(call.k.shape[2])
                tables.append(more)
        groups = Seen(query_group=_numbers(rows), key_group=_numbers(columns))
        if all(table is None for table in tables):
            return groups, None
        if len(set(rows)) > 1 or len(set(columns)) > 1:
            raise CaptureError(f"{self.path}: chunks of different sizes have masks or biases of their own, which was not understood")
        heads = max(len(table) for table in tables if table is not None)
        device = next(table.device for table in tables if table is not None)
        filled = [torch.zeros(heads, rows[0], columns[0], device=device) if table is None else table.expand(heads, -1, -1) for table in tables]
        inside = torch.arange(sum(columns), dtype=torch.int32) % columns[0]
        if all(torch.equal(each, filled[0]) for each in filled):
            return groups, Bias(filled[0].contiguous(), row_index=torch.arange(sum(rows), dtype=torch.int32) % rows[0], column_index=inside)
        return groups, Bias(torch.cat(filled, 1).contiguous(), column_index=inside)


def _numbers(sizes: list[int]) -> torch.Tensor:
    return torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))


def _flat(parts: list[torch.Tensor | None], sample: int, windows: int) -> torch.Tensor:
    """[heads, rows, size] of a sample, its windows and steps one after the other."""
    found = [each.reshape(-1, windows, *each.shape[1:])[sample].transpose(0, 1).flatten(1, 2) for each in parts if each is not None]
    return found[0] if len(found) == 1 else torch.cat(found, 1)


def _said(call: Call, sample: int, path: str) -> tuple[Seen, torch.Tensor | None]:
    """What mask and bias of a call say of a sample: which keys are seen, and what is added to the scores [heads or 1, rows, columns]."""
    rows = call.rows
    columns = call.columns or call.k.shape[2]  # type: ignore[union-attr]
    more = None
    if call.bias is not None:
        more = call.bias[_place(len(call.bias), call, sample, path)].expand(-1, rows, -1)[:, :, :columns].float()
    mask = call.mask
    if mask is None:
        return Seen(ahead=0) if call.causal and rows > 1 else Seen(), more
    if isinstance(mask, LazyMask):
        short = mask.seen(_place(len(mask), call, sample, path))
        if short is not None:
            return _narrowed(short, columns), more
        mask = mask.whole
    if mask.shape[-2] * columns > LARGEST_MATRIX:
        raise CaptureError(f"{path}: a mask of {mask.shape[-2]} x {columns} that was not understood; only those of transformers' masking_utils can be that large")
    given = mask[_place(len(mask), call, sample, path)][:, :, :columns].expand(-1, rows, -1)
    allowed = given if given.dtype == torch.bool else given > MASKED
    if given.dtype != torch.bool:
        values = torch.where(allowed, given.float(), 0.0)
        if bool(values.any()):
            more = values if more is None else more + values
    alike = len(allowed) == 1 or bool((allowed == allowed[:1]).all())
    seen = understood(allowed[0]) if alike else None
    if seen is not None:
        return seen, more
    more = torch.zeros(allowed.shape, device=allowed.device) if more is None else more
    return Seen(), torch.where(allowed, more, NEVER)


def _place(count: int, call: Call, sample: int, path: str) -> int:
    """Which of so many masks or biases is that of a sample, or of its window."""
    places = {1: 0, call.batch * call.windows: sample, call.windows: sample % call.windows, call.batch: sample // call.windows}
    if count not in places:
        raise CaptureError(f"{path}: {count} masks or biases for {call.batch} samples of {call.windows} windows were not understood; capture one sample at a time")
    return places[count]


def _narrowed(seen: Seen, columns: int) -> Seen:
    """Without keys that a cache has room for and does not hold."""
    parts = {name: getattr(seen, name)[:columns] for name in ("key_valid", "key_group") if getattr(seen, name) is not None}
    if "key_valid" in parts and bool(parts["key_valid"].all()):
        parts["key_valid"] = None
    return dataclasses.replace(seen, **parts)


def _used(call: Call) -> int:
    """How many keys there are, where a cache of fixed size has room for more: what lies behind the last row is written to later."""
    assert call.k is not None
    columns = call.k.shape[2]
    if isinstance(call.mask, LazyMask):
        return int(call.mask.request.get("q_offset", 0)) - int(call.mask.request.get("kv_offset", 0)) + call.rows if call.mask.causal else columns
    if call.mask is None or columns <= call.rows or call.windows > 1:
        return columns
    allowed = call.mask if call.mask.dtype == torch.bool else call.mask > MASKED
    seen = allowed.flatten(0, 2).any(0).nonzero()
    return int(seen[-1]) + 1 if len(seen) else columns


def kept(call: Call, offload: str, crosses: bool) -> Call:
    """The call as it is kept: without gradients, where ``offload`` says."""
    if call.k is not None and not crosses:
        used = _used(call)
        if 0 < used < call.k.shape[2]:
            call = dataclasses.replace(call, k=call.k[:, :, :used].clone(), v=call.v[:, :, :used].clone(), columns=used)  # type: ignore[index]
    moved = {}
    for name in ("q", "k", "v", "lse", "weights", "bias", "sinks"):
        tensor = getattr(call, name)
        if tensor is None:
            continue
        tensor = tensor.detach()
        if name in ("q", "k", "v", "weights"):
            tensor = tensor if offload == "gpu" else _on_disk(tensor) if offload == "disk" else _on_host(tensor)
        moved[name] = tensor
    return dataclasses.replace(call, **moved)


_streams: dict[Any, Any] = {}


def _on_host(tensor: torch.Tensor) -> torch.Tensor:
    """In pinned memory, copied beside the model's work."""
    if not tensor.is_cuda:
        return tensor
    stream = _streams.setdefault(tensor.device, torch.cuda.Stream(tensor.device))
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)  # PyTorch pools pinned memory
    stream.wait_stream(torch.cuda.current_stream(tensor.device))
    with torch.cuda.stream(stream):
        host.copy_(tensor, non_blocking=True)
        tensor.record_stream(stream)
    return host


def wait_for_copies() -> None:
    for stream in _streams.values():
        stream.synchronize()


def _on_disk(tensor: torch.Tensor) -> torch.Tensor:
    """In a file without a name, which is gone with the tensor."""
    if tensor.numel() == 0:
        return tensor
    handle, path = tempfile.mkstemp(suffix=".fovea", dir=os.environ.get("TMPDIR", "/var/tmp"))
    os.close(handle)
    try:
        file = torch.from_file(path, shared=True, size=math.prod(tensor.shape), dtype=tensor.dtype).view(tensor.shape)
    finally:
        os.unlink(path)
    file.copy_(tensor)
    return file
