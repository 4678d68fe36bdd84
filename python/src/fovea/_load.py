"""Loads the engine, the first thing that the package does.

Here and in its neighbours modules that take long to import are imported where they are used.
"""

import contextlib
import os
from collections.abc import Iterator

FOLDER = os.path.dirname(os.path.abspath(__file__))


def _refuse_other_package() -> None:
    """PyPI's ``fovea`` is another package in the same folder; of two that are installed the later one wins."""
    for name in os.listdir(os.path.dirname(FOLDER)):
        if name.startswith("fovea-") and name.endswith((".dist-info", ".egg-info")):
            raise ImportError(f"two packages are installed as 'fovea': fovea-attention, which this is, and PyPI's {name.rsplit('.', 1)[0]}, "
                              "and each has overwritten files of the other; run: pip uninstall -y fovea fovea-attention, "
                              "then: pip install fovea-attention")


@contextlib.contextmanager
def _short_waits() -> Iterator[None]:
    """Threads that wait for each other spin for milliseconds before they sleep, which costs a factor of ten beside other programs.

    libgomp reads how long when it is loaded, and nobody else shall inherit it.
    """
    name = "GOMP_SPINCOUNT"
    said = name in os.environ or "OMP_WAIT_POLICY" in os.environ
    if not said:
        os.environ[name] = "1000"
    try:
        yield
    finally:
        if not said:
            del os.environ[name]


_refuse_other_package()
with _short_waits():
    from . import _core as core

if os.path.isdir(os.path.join(FOLDER, "models")):
    core.set_bundled_models(os.path.join(FOLDER, "models"))

__all__ = ["core"]
