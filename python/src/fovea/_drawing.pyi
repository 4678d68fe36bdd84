"""Drawing figures, saved pages, and the program."""

from collections.abc import Sequence

import fovea._core


def encode(answer: fovea._core.Answer, suffix: str, colors: str, pixels: int, svg_text: bool) -> bytes: ...

def write(answer: fovea._core.Answer, path: str, colors: str, pixels: int, svg_text: bool) -> None: ...

def run_program(arguments: Sequence[str]) -> int:
    """Runs the program; returns its exit code."""

def text_of(answer: fovea._core.Answer, width: int, colored: bool) -> str: ...
