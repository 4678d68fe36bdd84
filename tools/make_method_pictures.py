#!/usr/bin/env python3
"""Draws the pictures of docs/methods.md again: every `./run explain … --out NAME.png` of the page is run, and its picture goes to
docs/images/NAME.png.

    python3 tools/make_method_pictures.py [NAME…]      names of pictures; none: all
"""

import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/methods.md"
IMAGES = ROOT / "docs/images"


def drawn_commands(text):
    """(picture, words of the command) of the page's sh blocks."""
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["./run"] and "--out" in words and words[words.index("--out") + 1].endswith(".png"):
                yield words[words.index("--out") + 1], words


def main(wanted):
    IMAGES.mkdir(exist_ok=True)
    for picture, words in drawn_commands(PAGE.read_text()):
        if wanted and picture.removesuffix(".png") not in wanted:
            continue
        words[words.index("--out") + 1] = str(IMAGES / picture)
        # One pixel per unit is what a page shows; the file stays small.
        subprocess.run([str(ROOT / "run"), *words[1:], "--pixels", "1"], cwd=ROOT, check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
