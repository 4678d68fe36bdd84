#!/usr/bin/env python3
"""Draws the pictures of README.md again: every `./run … --out NAME.png` of the page is run, and its picture, at half the pixels and in few
colours so that it stays small, goes to docs/images/NAME.png. Needs pillow.

    python3 tools/make_readme_pictures.py [NAME…]      names of pictures; none: all
"""

import pathlib
import shlex
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops, ImageStat

from make_method_pictures import IMAGES, ROOT, drawn_commands

PAGE = ROOT / "README.md"
WIDEST = 840  # pixels; what a page of GitHub shows
COLORS = 256


def small(drawn):
    """The picture as README has it."""
    picture = Image.open(drawn).convert("RGB").reduce(2)
    if picture.width > WIDEST:
        picture = picture.resize((WIDEST, round(picture.height * WIDEST / picture.width)), Image.Resampling.LANCZOS)
    # Rare colours are kept: a bright cell is what the picture is about.
    return picture.quantize(COLORS, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)


def difference(drawn, stored):
    """Mean absolute difference of the colours, of 255; None where the sizes differ."""
    drawn, stored = drawn.convert("RGB"), stored.convert("RGB")
    if drawn.size != stored.size:
        return None
    return sum(ImageStat.Stat(ImageChops.difference(drawn, stored)).mean) / 3


def main(wanted):
    with tempfile.TemporaryDirectory() as folder:
        for picture, words in drawn_commands(PAGE.read_text()):
            if wanted and picture.removesuffix(".png") not in wanted:
                continue
            drawn = pathlib.Path(folder) / picture
            words[words.index("--out") + 1] = str(drawn)
            print(shlex.join(words))
            subprocess.run([str(ROOT / "run"), *words[1:]], cwd=ROOT, check=True)
            small(drawn).save(IMAGES / picture, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
