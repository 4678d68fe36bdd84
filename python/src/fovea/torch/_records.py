"""Records of attention as tensors of PyTorch, on the device where they lie, and parts of their maps."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import torch

from ._masks import Seen

BLOCK_CELLS = 1 << 24  # of scores that are held at a time


@dataclasses.dataclass(frozen=True)
class Bias:
    """What is added to the scores: ``values`` [heads or 1, ...] by distance, or by row and column."""

    values: torch.Tensor  # by distance: [heads, rows + columns - 1], of column - row + rows - 1; else [heads or 1, table rows, table columns]
    by_distance: bool = False
    row_index: torch.Tensor | None = None
    column_index: torch.Tensor | None = None

    def block(self, head: int, rows: torch.Tensor, columns: torch.Tensor, all_rows: int) -> torch.Tensor:
        values = self.values[head if len(self.values) > 1 else 0].to(rows.device)
        if self.by_distance:
            return values[columns[None] - rows[:, None] + all_rows - 1]
        rows = rows if self.row_index is None else self.row_index.to(rows.device)[rows]
        columns = columns if self.column_index is None else self.column_index.to(rows.device)[columns]
        return values[rows[:, None], columns[None]]


def shortened(values: torch.Tensor, relevant: torch.Tensor | None = None) -> Bias:
    """A bias [heads or 1, rows, columns] as a table by distance or of one row, where that says the same on what is relevant."""
    heads, rows, columns = values.shape
    if relevant is None:
        relevant = torch.ones(rows, columns, dtype=torch.bool, device=values.device)
    first = relevant.int().argmax(0)  # a row where the column counts
    of_column = values[:, first, torch.arange(columns, device=values.device)]
    if rows > 1 and torch.equal(of_column[:, None].expand_as(values)[:, relevant], values[:, relevant]):
        return Bias(of_column[:, None].contiguous(), row_index=torch.zeros(rows, dtype=torch.int32, device=values.device))
    distance = torch.arange(columns, device=values.device)[None] - torch.arange(rows, device=values.device)[:, None] + rows - 1
    table = values.new_zeros(heads, rows + columns - 1)
    table[:, distance[relevant]] = values[:, relevant]
    if torch.equal(table[:, distance[relevant]], values[:, relevant]):
        return Bias(table, by_distance=True)
    return Bias(values.contiguous())


@dataclasses.dataclass(eq=False)
class Record:
    """One attention of one sample: what its map is computed from. Or the weights themselves, where a model kept nothing else."""

    path: str  # of the module that attended
    q: torch.Tensor | None  # [heads, rows, size], before the scale
    k: torch.Tensor | None  # [key heads, columns, size]
    v: torch.Tensor | None
    scale: float = 1.0
    soft_cap: float = 0.0
    sinks: torch.Tensor | None = None  # [heads]
    seen: Seen = dataclasses.field(default_factory=Seen)
    bias: Bias | None = None
    weights: torch.Tensor | None = None  # [heads, rows, columns]
    kernel_lse: torch.Tensor | None = None  # [heads, rows], where the kernel gave it

    @property
    def shape(self) -> tuple[int, int, int]:
        """Heads, rows, columns."""
        if self.weights is not None:
            heads, rows, columns = self.weights.shape
            return heads, rows, columns
        assert self.q is not None and self.k is not None
        return self.q.shape[0], self.q.shape[1], self.k.shape[1]

    @property
    def device(self) -> Any:
        return (self.weights if self.q is None else self.q).device  # type: ignore[union-attr]

    def scores(self, head: int, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """In f32; minus infinity where the mask forbids."""
        assert self.q is not None and self.k is not None
        key_head = head * self.k.shape[0] // self.q.shape[0]
        found = self.q[head, rows].float() @ self.k[key_head, columns].float().T * self.scale
        if self.bias is not None:
            found = found + self.bias.block(head, rows, columns, self.q.shape[1]).float()
        if self.soft_cap:
            found = self.soft_cap * torch.tanh(found / self.soft_cap)
        return found.masked_fill(~self.seen.matrix(rows, columns), -torch.inf)

    @functools.cached_property
    def lse(self) -> torch.Tensor:
        """The log-sum-exp of each row, [heads, rows] in f64; 0 for a row that sees nothing."""
        heads, rows, columns = self.shape
        if self.kernel_lse is not None:
            found = self.kernel_lse.double()
            return torch.where(found.isfinite(), found, 0.0)
        found = torch.empty(heads, rows, dtype=torch.float64, device=self.device)
        all_columns = torch.arange(columns, device=self.device)
        for head in range(heads):
            for block in blocks(rows, columns, self.device):
                scores = self.scores(head, block, all_columns).double()
                if self.sinks is not None:
                    scores = torch.cat((scores, self.sinks[head].double().to(scores.device).expand(len(block), 1)), 1)
                found[head, block] = torch.logsumexp(scores, 1)
        return torch.where(found.isfinite(), found, 0.0)

    def part(self, head: int, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """Weights of these rows and columns, f32."""
        if self.weights is not None:
            return self.weights[head][rows[:, None], columns[None]].float()
        return torch.exp(self.scores(head, rows, columns) - self.lse[head, rows].float()[:, None])


def blocks(rows: int, columns: int, device: Any) -> Iterator[torch.Tensor]:
    """The rows, so many at a time as are worth a block of scores."""
    count = max(1, BLOCK_CELLS // max(columns, 1))
    for begin in range(0, rows, count):
        yield torch.arange(begin, min(begin + count, rows), device=device)


class DeviceMap:
    """One head's map, any part of which is computed on the record's device: row i is a query, column j a key."""

    ndim = 2

    def __init__(self, record: Record, head: int, site: str, layer: int) -> None:
        if not 0 <= head < record.shape[0]:
            raise ValueError(f"head: {head} is no head of this layer, which has 0 to {record.shape[0] - 1}")
        self._record = record
        self.head, self.site, self.layer = head, site, layer

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return self._record.shape[1:]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceMap {self.site!r}, layer {self.layer}, head {self.head}: {self.shape[0]} x {self.shape[1]}, on {self._record.device}>"

    def _axis(self, key: Any, count: int, name: str) -> torch.Tensor:
        if isinstance(key, slice):
            return torch.tensor(range(*key.indices(count)), dtype=torch.long, device=self._record.device)
        if not -count <= key < count:
            raise IndexError(f"{name}: {key} is not there; there are {count}")
        return torch.tensor([key % count], device=self._record.device)

    def __getitem__(self, key: Any) -> Any:
        """A weight, a row or column or part of one, or a part of the matrix, as a tensor."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        found = self._record.part(self.head, self._axis(rows, self.shape[0], "row"), self._axis(columns, self.shape[1], "column"))
        if not isinstance(rows, slice):
            found = found[0]
            return found if isinstance(columns, slice) else float(found[0])
        return found if isinstance(columns, slice) else found[:, 0]

    def row(self, index: int) -> torch.Tensor:
        """What position ``index`` attends to."""
        return self[index]  # type: ignore[no-any-return]

    def column(self, index: int) -> torch.Tensor:
        """Who attends to position ``index``."""
        return self[:, index]  # type: ignore[no-any-return]

    def tile(self, row_begin: int, row_end: int, column_begin: int, column_end: int) -> torch.Tensor:
        """Rows ``row_begin`` to ``row_end - 1`` of columns ``column_begin`` to ``column_end - 1``."""
        rows, columns = self.shape
        if not (0 <= row_begin <= row_end <= rows and 0 <= column_begin <= column_end <= columns):
            raise ValueError(f"[{row_begin}, {row_end}) x [{column_begin}, {column_end}) is no part of a map of {rows} x {columns}")
        return self[row_begin:row_end, column_begin:column_end]  # type: ignore[no-any-return]

    def _blocks(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        columns = torch.arange(self.shape[1], device=self._record.device)
        for rows in blocks(*self.shape, self._record.device):
            yield rows, self._record.part(self.head, rows, columns)

    def pool(self, rows: int, columns: int, how: str = "max") -> torch.Tensor:
        """The whole map as so many rows and columns: the largest weight of each cell, or their mean."""
        if how not in ("max", "mean"):
            raise ValueError("how: it is neither 'max' nor 'mean'")
        if rows < 1 or columns < 1:
            raise ValueError(f"{rows} x {columns} cells hold nothing; give at least 1 x 1")
        counts = [min(wanted, there) for wanted, there in zip((rows, columns), self.shape)]
        edges = [torch.arange(count + 1) * there // count for count, there in zip(counts, self.shape)]
        bins = [torch.repeat_interleave(torch.arange(len(edge) - 1), edge.diff()).to(self._record.device) for edge in edges]
        cells = torch.zeros(counts, device=self._record.device)
        reduce = "amax" if how == "max" else "sum"
        for block, weights in self._blocks():
            narrow = weights.new_zeros(len(block), counts[1]).scatter_reduce_(1, bins[1].expand_as(weights), weights, reduce)
            cells.scatter_reduce_(0, bins[0][block][:, None].expand_as(narrow), narrow, reduce)
        sizes = edges[0].diff()[:, None] * edges[1].diff()[None]
        return cells if how == "max" else cells / sizes.to(cells.device)

    def top(self, row: int, count: int = 5) -> list[tuple[int, float]]:
        """The ``count`` largest weights of a row as (column, weight), largest first."""
        weights, order = torch.sort(self.row(row), descending=True, stable=True)
        return list(zip(order[:count].tolist(), weights[:count].tolist()))

    def column_sums(self) -> torch.Tensor:
        """The attention that each column receives in all."""
        found = torch.zeros(self.shape[1], dtype=torch.float64, device=self._record.device)
        for _, weights in self._blocks():
            found += weights.double().sum(0)
        return found

    def entropy(self) -> torch.Tensor:
        """The entropy of each row, in nats."""
        found = [-torch.xlogy(weights.double(), weights.double()).sum(1) for _, weights in self._blocks()]
        return torch.cat(found) if found else torch.zeros(0, dtype=torch.float64)

    def numpy(self, force: bool = False) -> Any:
        """All of it as an array. More than 1 GiB is refused unless ``force`` is true."""
        rows, columns = self.shape
        if rows * columns * 4 > 1 << 30 and not force:
            raise ValueError(f"{rows} x {columns} weights take {rows * columns * 4 / 2**30:.1f} GiB, more than 1 GiB; read a part (a[:100, :100]), "
                             "a.pool(512, 512), or pass force=True")
        return self[:, :].cpu().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("a map is computed where it is read, so that there is no array to share; leave out copy=False")
        whole = self.numpy()
        return whole if dtype is None else whole.astype(dtype, copy=False)
