"""One head's attention matrix, any part of which is computed where it is read."""

import operator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from ._load import core as _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import DTypeLike, NDArray

    Floats = NDArray[np.float32]
    Doubles = NDArray[np.float64]

MOST_BYTES = 1 << 30  # of an array that nobody said to force
Key = SupportsIndex | slice


def _position(index: SupportsIndex, count: int, name: str) -> int:
    """A position as Python counts: from the end where it is negative."""
    try:
        whole = operator.index(index)
    except TypeError:
        raise TypeError(f"{name}: {type(index).__name__} is no index of a map; give whole numbers or slices, for rows and columns") from None
    if not -count <= whole < count:
        raise IndexError(f"{name}: {whole} is not there; there are {count}")
    return whole + count if whole < 0 else whole


def _stretch(key: Key, count: int, name: str) -> tuple[int, int, slice | int]:
    """The positions that hold what is asked for, and what to take of them."""
    if not isinstance(key, slice):
        index = _position(key, count, name)
        return index, index + 1, 0
    chosen = range(*key.indices(count))
    if not chosen:
        return 0, 0, slice(None)
    return min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1]) + 1, slice(None, None, chosen.step)


class AttentionMap:
    """The weights of one head: row i is a query, column j a key; what the mask forbids is 0.

    Nothing is stored: ``a[i, j]``, ``a[10:20, :64]``, ``a.row(i)`` and all others compute just that, at any length.
    """

    def __init__(self, site: str, layer: int, native: _core.HeadMap) -> None:
        self._native = native
        self._site = site
        self._layer = layer

    @property
    def site(self) -> str:
        """Which attention, by its canonical name."""
        return self._site

    @property
    def layer(self) -> int:
        """The layer, from 0."""
        return self._layer

    @property
    def head(self) -> int:
        """The head, from 0."""
        return self._native.head

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""
        return self._native.rows, self._native.columns

    ndim = 2

    @property
    def nbytes(self) -> int:
        """The bytes that ``numpy()`` would take."""
        return 4 * self._native.rows * self._native.columns

    def __len__(self) -> int:
        return self._native.rows

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<AttentionMap {self._site!r}, layer {self._layer}, head {self.head}: {rows} x {columns}>"

    def __getitem__(self, key: Key | tuple[Key, Key]) -> "float | Floats":
        """A weight, a row or column or part of one, or a part of the matrix; as numpy indexes."""
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        if isinstance(rows, tuple):
            raise IndexError(f"{len(rows)} indices are given but a map has 2 axes")
        if not isinstance(rows, slice) and not isinstance(columns, slice):
            return self._native.cell(_position(rows, self._native.rows, "row"), _position(columns, self._native.columns, "column"))
        row_begin, row_end, of_rows = _stretch(rows, self._native.rows, "row")
        column_begin, column_end, of_columns = _stretch(columns, self._native.columns, "column")
        part: Floats = self.tile(row_begin, row_end, column_begin, column_end)[of_rows, of_columns]
        return part

    def row(self, index: SupportsIndex) -> "Floats":
        """What position ``index`` attends to: one weight for each column."""
        return self._native.row(_position(index, self._native.rows, "row"))

    def column(self, index: SupportsIndex) -> "Floats":
        """Who attends to position ``index``: one weight for each row."""
        return self._native.column(_position(index, self._native.columns, "column"))

    def tile(self, row_begin: int, row_end: int, column_begin: int, column_end: int, force: bool = False) -> "Floats":
        """Rows ``row_begin`` to ``row_end - 1`` of columns ``column_begin`` to ``column_end - 1``.

        More than 1 GiB is refused unless ``force`` is true.
        """
        self._check_size(row_end - row_begin, column_end - column_begin, force)
        return self._native.tile(row_begin, row_end, column_begin, column_end)

    def pool(self, rows: int, columns: int, how: Literal["max", "mean"] = "max") -> "Floats":
        """The whole map as so many rows and columns: the largest weight of each cell, or their mean."""
        if how not in ("max", "mean"):
            raise ValueError("how: it is neither 'max' nor 'mean'")
        if rows < 1 or columns < 1:
            raise ValueError(f"{rows} x {columns} cells hold nothing; give at least 1 x 1")
        self._check_size(min(rows, self._native.rows), min(columns, self._native.columns), False)
        return self._native.pooled(rows, columns, how == "max")

    def top(self, row: SupportsIndex, count: int = 5) -> list[tuple[int, float]]:
        """The ``count`` largest weights of a row as (column, weight), largest first."""
        if count < 1:
            raise ValueError(f"count: {count} weights say nothing; give 1 or more")
        return self._native.top(_position(row, self._native.rows, "row"), count)

    def column_sums(self) -> "Doubles":
        """The attention that each column receives in all."""
        return self._native.column_sums()

    def entropy(self) -> "Doubles":
        """The entropy of each row, in nats."""
        return self._native.entropy()

    def numpy(self, force: bool = False) -> "Floats":
        """All of it as an array. More than 1 GiB is refused unless ``force`` is true."""
        rows, columns = self.shape
        return self.tile(0, rows, 0, columns, force=force)

    def __array__(self, dtype: "DTypeLike | None" = None, copy: bool | None = None) -> "NDArray[Any]":
        if copy is False:
            raise ValueError("a map is computed where it is read, so that there is no array to share; leave out copy=False")
        whole: NDArray[Any] = self.numpy()
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def _check_size(self, rows: int, columns: int, force: bool) -> None:
        if force or rows * columns * 4 <= MOST_BYTES or rows < 0 or columns < 0:
            return
        raise ValueError(f"{rows} x {columns} weights take {rows * columns * 4 / 2**30:.1f} GiB, more than 1 GiB; "
                         "read a part (a[:100, :100]), a.pool(512, 512), or pass force=True")
