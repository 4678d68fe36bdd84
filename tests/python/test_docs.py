"""What README and docs tell people to type works: every `./run …` of a `sh` block is executed."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FOVEA_BUILD", ROOT / "build/release")).resolve()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Commands that a page may show beside ./run; they are the business of other tests.
OTHER_COMMANDS = ("git clone ", "cd ", "./test", "cmake ", "ctest ", "python3 ")


def shell_commands(page):
    """(line number, command) of the page's sh blocks, with continued lines joined."""
    text = page.read_text()
    for block in re.finditer(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        number = text.count("\n", 0, block.start(1)) + 1
        for line in block.group(1).replace("\\\n", "  ").splitlines():
            command = re.sub(r"(^|\s)#.*", "", line).strip()
            if command:
                yield number, command
            number += 1


def all_commands():
    return [
        pytest.param(page, command, id=f"{page.relative_to(ROOT)}:{number}")
        for page in PAGES
        for number, command in shell_commands(page)
    ]


@pytest.fixture
def folder(tmp_path):
    """A folder where ./run is the program that was built, with the files that the pages name."""
    program = BUILD / "bin/fovea"
    (tmp_path / "run").write_text(f'#!/bin/sh\n[ $# -gt 0 ] || set -- demo\nexec "{program}" "$@"\n')
    (tmp_path / "run").chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.parametrize("page, command", all_commands())
def test_commands_of_the_pages_work(folder, page, command):
    if not command.startswith("./run"):
        assert command.startswith(OTHER_COMMANDS), f"no test knows whether this works: {command}"
        return
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=300,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    assert result.stdout, f"{command} printed nothing"


def test_what_the_readme_says_is_printed_is_printed(folder):
    text = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```sh\n(\./run [^\n]+)\n```\n[^`]*^```text\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert blocks
    for command, printed in blocks:
        result = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
        assert printed in result.stdout


def test_the_readme_shows_commands_that_run():
    runs = [command for _, command in shell_commands(ROOT / "README.md") if command.startswith("./run")]
    assert len(runs) >= 3


def test_every_example_is_told_of():
    pages = "".join(page.read_text() for page in PAGES)
    for example in sorted((ROOT / "examples").glob("*.json")):
        assert example.name in pages, f"no page names {example.name}"


def test_the_changelog_knows_the_version():
    version = re.search(r"project\(fovea VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    changelog = (ROOT / "CHANGELOG.md").read_text()
    assert "## Unreleased" in changelog or f"## {version}" in changelog
