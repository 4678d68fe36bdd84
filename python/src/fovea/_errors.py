"""Exceptions that Python itself has no class for.

All others are Python's own: ``ValueError`` for what cannot be asked or a damaged file, ``FileNotFoundError``,
``NotImplementedError`` for what fovea does not do, ``OSError``, ``MemoryError`` and ``RuntimeError`` for a bug of fovea.
Each has ``field``, the name of the argument that it is about, or None.
"""


class Busy(RuntimeError):
    """Somebody else holds what is needed; later it may work."""

    field: str | None = None


class Cancelled(RuntimeError):
    """The work was asked to stop, by other means than Ctrl-C."""

    field: str | None = None
