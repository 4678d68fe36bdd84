"""README.md: its pictures are those that its commands draw."""

import re
import sys

import pytest
from PIL import Image

from program import ROOT, ok
from test_real_models import CACHE, fetched

sys.path.insert(0, str(ROOT / "tools"))
import make_readme_pictures as tool  # noqa: E402

TEXT = (ROOT / "README.md").read_text()
DRAWN = dict(tool.drawn_commands(TEXT))
SHOWN = re.findall(r"!\[([^]]+)\]\(docs/images/([^)]+)\)", TEXT)

# Of 255, as a mean over all pixels; 0 where nothing changed. On another processor a weight moves in its sixth digit, its colour by one
# level in a few cells, and with it an entry of the palette: below 0.1. Another head, row or picture is 1 off and more.
LARGEST_DIFFERENCE = 0.5
LARGEST_BYTES = 125_000


def test_every_picture_is_drawn_by_a_command_of_the_page():
    assert len(SHOWN) == 9 and {name for _, name in SHOWN} == set(DRAWN)


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_what_its_command_draws(name, tmp_path):
    words = list(DRAWN[name])
    if words[1] == "text":
        fetched(words[words.index("-m") + 1] if "-m" in words else "all-minilm-l6-v2")  # skips where it cannot be had
    words[words.index("--out") + 1] = str(tmp_path / name)
    ok(*words[1:], cwd=ROOT, environment={"FOVEA_CACHE": str(CACHE)})
    stored = tool.IMAGES / name
    assert stored.stat().st_size <= LARGEST_BYTES
    difference = tool.difference(tool.small(tmp_path / name), Image.open(stored))
    assert difference is not None and difference <= LARGEST_DIFFERENCE, f"{name} is {difference} off; run tools/make_readme_pictures.py"


def test_another_picture_is_noticed(tmp_path):
    """Of the neighbouring head, and of another size."""
    scene = ROOT / "models/scenes-vit/demo/scene-2.png"
    for head in (3, 4):
        ok("image", scene, "--head", head, "--out", tmp_path / f"{head}.png")
    one, other = (tool.small(tmp_path / f"{head}.png") for head in (3, 4))
    assert tool.difference(one, one) == 0 and tool.difference(one, other) > 2 * LARGEST_DIFFERENCE
    assert tool.difference(one, one.crop((0, 0, 10, 10))) is None


def test_the_page_is_short_and_says_what_it_should():
    assert 120 <= len(TEXT.splitlines()) <= 200
    for heading in ("## Two commands", "## Seven things to try", "## Your own model", "## What it cannot do", "## Where to go next"):
        assert heading in TEXT
