"""The manual pages: made from the commands themselves, complete, and correct roff."""

import re
import shutil
import subprocess

import pytest
from program import ROOT, ok

VERBS = re.findall(r"^  ([a-z]+) ", ok("--help"), re.MULTILINE)
PAGES = [[], *([verb] for verb in VERBS)]


def page(words):
    return ok("help", *words, "--man")


def plain(words):
    """A page as a reader sees it, without line breaks, bold and italic; None where nothing can show it."""
    if shutil.which("mandoc"):
        command = ["mandoc", "-Tutf8", "-Owidth=1000"]
    elif shutil.which("groff"):
        command = ["groff", "-K", "utf8", "-T", "utf8", "-man", "-P-c", "-rLL=1000n"]
    else:
        pytest.skip("neither mandoc nor groff is installed")
    text = subprocess.run(command, input=page(words), capture_output=True, text=True, check=True).stdout
    return re.sub(r"\s+", " ", re.sub(r".\x08", "", text))


@pytest.mark.parametrize("words", PAGES, ids=lambda words: "-".join(["fovea", *words]))
def test_a_page_is_correct_roff(words):
    if shutil.which("mandoc"):
        # A page has no date: it is that of the program.
        said = subprocess.run(["mandoc", "-Tlint", "-Wwarning"], input=page(words), capture_output=True, text=True).stdout
        assert [line for line in said.splitlines() if "missing date" not in line] == []
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-ww", "-K", "utf8", "-T", "utf8", "-man", "-z"], input=page(words), capture_output=True,
                              text=True).stderr
        assert said == ""
    if not shutil.which("mandoc") and not shutil.which("groff"):
        pytest.skip("neither mandoc nor groff is installed")


@pytest.mark.parametrize("verb", VERBS)
def test_a_page_says_all_that_the_help_says(verb):
    shown = plain([verb])
    for sentence in re.split(r"\s{2,}|\n", ok("help", verb).split("\noptions:\n")[1]):
        said = re.sub(r"\s+", " ", sentence.replace("`", "")).strip()
        if said in ("", "this text", "examples:", "example:"):
            continue
        assert said.rstrip(":").lower() in shown.lower(), said


def test_the_first_page_has_every_verb_and_every_variable():
    shown = plain([])
    for verb in VERBS:
        assert f"fovea-{verb}(1)" in shown
    read = set()
    for path in (ROOT / "fovea").rglob("*.cc"):
        read |= set(re.findall(r'(?:getenv|from_variable|environment|is_set|value)\("([A-Z_]+)"\)', path.read_text()))
    assert len(read) > 10
    assert [name for name in sorted(read - {"HOME", "TERM", "DISPLAY", "WAYLAND_DISPLAY"}) if f" {name} " not in shown] == []
