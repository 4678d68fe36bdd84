"""The program, as ``python -m fovea`` and the script ``fovea`` start it."""

import os
import sys


def main() -> int:
    """Runs the program with this process's arguments; returns its exit code."""
    from ._draw import drawing

    called_as = os.path.basename(sys.argv[0])
    os.environ.setdefault("FOVEA_CALLED_AS", "python -m fovea" if called_as == "__main__.py" else called_as)
    try:
        program = drawing()
    except ImportError as error:
        print(f"fovea: {error}", file=sys.stderr)
        return 1
    status: int = program.run_program(sys.argv[1:])
    return status
