"""The chapters of docs/learn: what they say is printed is printed, their numbers and pictures come from their own commands."""

import re
import sys

import pytest
from PIL import Image

from program import ROOT
from test_real_models import CACHE, fetched

sys.path.insert(0, str(ROOT / "tools"))
import learn_pages as learn  # noqa: E402

# Of 255, as a mean over all pixels. Where nothing changed it is 0. Other processors add up in other orders: a weight moves in its
# sixth digit, its colour by a level in a few cells, and the last digit of a printed number may flip, some dozen pixels of 500,000: one
# thread and AVX2 give up to 0.0001. The most similar of the wrong pictures, the row of the patch beside or a mask of 55 % instead
# of 60 %, are 0.35 off; another head or layer 0.9 to 14.
LARGEST_PICTURE_DIFFERENCE = 0.05
WIDEST_LINE = 100  # what a page of GitHub shows of a block without scrolling


def all_commands():
    for page in learn.chapters():
        for example in learn.examples(page.read_text()):
            for command in example.commands:
                shown = example.shown if len(example.commands) == 1 else None
                yield pytest.param(page, command, shown, id=f"{page.name}:{example.line}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("learn")
    learn.prepare(place)
    return place


def pictures_of(page):
    return re.findall(r"!\[[^]]*\]\(images/([^)]+)\)", page.read_text())


@pytest.mark.parametrize("page, command, shown", list(all_commands()))
def test_a_command_does_what_the_chapter_shows(folder, page, command, shown):
    for name in learn.models_of(command):
        fetched(name)  # skips where it cannot be had
    result = learn.run(command, folder, CACHE)
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    printed = result.stdout.splitlines()
    assert printed, f"{command} printed nothing"
    assert shown is None or learn.is_printed(shown, printed), (
        f"{command}\nprints something else now; see what tools/write_learn.py makes of the page:\n{result.stdout}")
    name = learn.picture_of(command)
    if name in pictures_of(page):
        difference = learn.picture_difference(folder / name, learn.IMAGES / name)
        assert difference is not None, f"{name} has another size now; run tools/write_learn.py"
        assert difference <= LARGEST_PICTURE_DIFFERENCE, f"{name} is {difference:.2f} off; run tools/write_learn.py"


@pytest.mark.parametrize("page", learn.chapters(), ids=lambda page: page.name)
def test_every_number_of_the_prose_stands_in_a_block_of_its_section(page):
    for line, section in learn.sections(page.read_text()):
        assert learn.numbers_without_source(section) == [], f"{page.name}, section at line {line}"


@pytest.mark.parametrize("page", learn.chapters(), ids=lambda page: page.name)
def test_every_picture_is_made_by_a_command_of_the_chapter(page):
    drawn = [learn.picture_of(command) for example in learn.examples(page.read_text()) for command in example.commands]
    assert pictures_of(page)
    for name in pictures_of(page):
        assert drawn.count(name) == 1, f"{name}: made by {drawn.count(name)} commands"


def test_every_stored_picture_is_shown():
    shown = {name for page in learn.chapters() for name in pictures_of(page)}
    assert {path.name for path in learn.IMAGES.iterdir()} == shown


@pytest.mark.parametrize("page", learn.chapters(), ids=lambda page: page.name)
def test_a_chapter_has_its_form(page):
    text = page.read_text()
    last = list(learn.sections(text))[-1][1]
    assert last.startswith("## Things to try\n") and list(learn.examples(last))
    assert 80 <= len(text.splitlines()) <= 180
    for example in learn.examples(text):
        assert example.shown is None or len(example.commands) == 1, f"{page.name}:{example.line}: one command for a text block"
        assert all(command.startswith("./run ") for command in example.commands)
        for line in example.shown or []:
            assert len(line) <= WIDEST_LINE and line == line.rstrip(), f"{page.name}: {line}"
    assert text.count("```text") == sum(example.shown is not None for example in learn.examples(text)), "a text block without command"


def test_links_lead_somewhere():
    pages = [learn.FOLDER / "README.md", *learn.chapters()]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
    index = pages[0].read_text()
    assert all(f"({page.name})" in index for page in learn.chapters())


# That the checks can fail ---------------------------------------------------------------------------------------------------------

PRINTED = ["title", "", "    cats   0.472  █████▌", "    and    0.028  ▌", "    dogs   0.472  █████▌", "sum 1.000"]


@pytest.mark.parametrize("shown, right", [
    (PRINTED, True),
    (["[…]", "    cats   0.472  █████▌", "[…]", "sum 1.000"], True),
    (["[…]", "    cats   0.473  █████▌", "[…]"], True),   # rounded on another processor
    (["[…]", "    cats   0.474  █████▌", "[…]"], False),
    (["[…]", "    cats   0.742  █████▌", "[…]"], False),
    (["[…]", "    cat    0.472  █████▌", "[…]"], False),
    (["    cats   0.472  █████▌", "[…]"], False),         # not where it begins
    (["title", "[…]", "    dogs   0.472  █████▌"], False),  # not where it ends
    (["[…]", "    dogs   0.472", "[…]", "    cats   0.472", "[…]"], False),  # not in this order
    (["[…]", "    cats   0.472", "    dogs   0.472", "[…]"], False),         # a line left out without a sign
])
def test_wrong_excerpts_are_noticed(shown, right):
    assert learn.is_printed(shown, PRINTED) is right


@pytest.mark.parametrize("shown, printed, right", [
    ("12 heads", "12 heads", True), ("12 heads", "13 heads", False), ("the⁷⁷ [FBI]²³", "the⁷⁶ [FBI]²⁴", True),
    ("the⁷⁷", "the⁷⁵", False), ("[.56] 0", "[.57] .01", True), ("[.56] 0", "[.58] 0", False), ("-1.20", "1.20", False),
    ("−1.20", "-1.21", True), ("within 16,384", "within 16,385", False), ("1.0", ".99", True),
])
def test_numbers_may_differ_in_their_last_digit_only(shown, printed, right):
    assert learn.same_line(shown, printed) is right


def test_a_number_that_nothing_prints_is_noticed():
    section = "## A\nIt is 0.47 of all, 0.472 to be exact, 77 % or [in 2020](x.md), {}\n\n```text\ncats .472  it⁷⁷\n```\n"
    assert learn.numbers_without_source(section) == ["0.47"]


def test_excerpts_follow_what_is_printed():
    assert learn.as_printed(["[…]", "    and    0.9  ▌▌▌", "[…]"], PRINTED) == ["[…]", "    and    0.028  ▌", "[…]"]
    assert learn.as_printed(["[…]", "    birds  0.9", "[…]"], PRINTED) is None


def test_a_wrong_picture_is_noticed(folder):
    """The neighbouring head's, the same with one cell changed, and one of another size."""
    for name in (f"head-{head}.png" for head in (2, 3)):
        command = f'./run translate "I love music." --target "J\'aime la musique." --layer 2 --head {name[5]} --out {name}'
        result = learn.run(command, folder, CACHE)
        assert result.returncode == 0, result.stderr
    stored = folder / "stored.png"
    learn.store_picture(folder / "head-2.png", stored)
    assert learn.picture_difference(folder / "head-2.png", stored) == 0
    assert learn.picture_difference(folder / "head-3.png", stored) > 5 * LARGEST_PICTURE_DIFFERENCE
    with Image.open(folder / "head-2.png") as picture:
        picture.resize((40, 30)).save(folder / "small.png")
        picture.paste((255, 0, 0), (100, 100, 140, 140))
        picture.save(folder / "cell.png")
    assert learn.picture_difference(folder / "small.png", stored) is None
    assert learn.picture_difference(folder / "cell.png", stored) > LARGEST_PICTURE_DIFFERENCE
