"""Starts the program, unless another package took the name ``fovea``."""

import sys


def main() -> int:
    """What the script ``fovea`` calls."""
    try:
        from fovea._program import main as program
    except ModuleNotFoundError as error:
        if error.name != "fovea._program":
            raise
        print("fovea: PyPI's package 'fovea' is another one and has overwritten fovea-attention; run: "
              "pip uninstall -y fovea fovea-attention, then: pip install fovea-attention", file=sys.stderr)
        return 1
    return program()
