"""Loads the module that draws, at the first figure, and says what is missing where it cannot be."""

from types import ModuleType

# Debian's names of what holds a library; the longest beginning counts.
PACKAGES = {
    "libcairo": "libcairo2", "libpango-1": "libpango-1.0-0", "libpangocairo": "libpangocairo-1.0-0", "libpangoft2": "libpangoft2-1.0-0",
    "libfontconfig": "libfontconfig1", "libgobject": "libglib2.0-0", "libglib": "libglib2.0-0", "libharfbuzz": "libharfbuzz0b",
    "libfreetype": "libfreetype6", "libpng": "libpng16-16",
}


def drawing() -> ModuleType:
    """The module ``fovea._drawing``. Raises ImportError that names the system's package of a missing library."""
    try:
        from . import _drawing
    except ImportError as error:
        raise _explained(error) from error
    return _drawing


def _explained(error: ImportError) -> ImportError:
    import re

    found = re.match(r"(lib[^:/]+?)\.so[\d.]*: cannot open shared object file", str(error))
    if found is None:
        return error
    library = found.group(1)
    package = next((name for beginning, name in PACKAGES.items() if library.startswith(beginning)), library)
    return ImportError(f"figures are drawn with {library}, which this system lacks; install its package {package} "
                       f"(Debian: apt install {package}). Maps, numbers and facts need none of it.")
