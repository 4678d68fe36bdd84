"""Who hears how far long work is."""

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from typing import Any

# Called with the title of a stage, how much of it is done, the total, and whether it has ended.
Listener = Callable[[str, int, int, bool], object]

_listener: contextvars.ContextVar[Listener | None] = contextvars.ContextVar("fovea progress", default=None)


def listener() -> Listener | None:
    """Who listens in this context; the modules ask before work begins."""
    return _listener.get()


class _Bars:
    """A bar of tqdm for each stage."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError as error:
            raise ImportError("bars are drawn by tqdm, which is not installed: pip install tqdm, or give a function") from error
        self._make: Any = tqdm
        self._bars: dict[str, Any] = {}

    def __call__(self, title: str, done: int, total: int, ended: bool) -> None:
        bar = self._bars.get(title)
        if bar is None:
            bar = self._bars[title] = self._make(total=total, desc=title, leave=False)
        bar.update(done - bar.n)
        if ended:
            self._bars.pop(title).close()

    def close(self) -> None:
        while self._bars:
            self._bars.popitem()[1].close()


@contextlib.contextmanager
def progress(listener: Callable[[str, int, int], object] | None = None) -> Iterator[None]:
    """Tells of the progress of work within a ``with`` block.

    ``listener(title, done, total)`` is called some 50 times a second at most, on the thread that waits for the work. What it
    raises stops the work. Without one, ``tqdm`` draws a bar for each stage.

    >>> with fovea.progress():
    ...     session = model(text)
    ...     session.map("self", 0, 0)
    """
    if listener is None:
        bars = _Bars()
        token = _listener.set(bars)
        try:
            yield
        finally:
            _listener.reset(token)
            bars.close()
        return
    if not callable(listener):
        raise TypeError(f"listener: a value of the type {type(listener).__name__} cannot be called")
    given = listener
    token = _listener.set(lambda title, done, total, ended: given(title, done, total))
    try:
        yield
    finally:
        _listener.reset(token)
