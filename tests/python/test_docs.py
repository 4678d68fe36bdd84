"""What README and docs tell people to type works: every `./run …` of a `sh` block is executed."""

import os
import pathlib
import re
import subprocess
import tempfile

import numpy
import pytest
from safetensors.numpy import save_file

import models
from hub_server import HubServer
from program import BUILD, ROOT
from test_real_models import CACHE, fetched

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

PULLED = "google-bert/bert-base-uncased"
QUANTIZED, QUANTIZED_FILE = "bartowski/Llama-3.2-1B-Instruct-GGUF", "Llama-3.2-1B-Instruct-Q4_K_M.gguf"

# Commands that a page may show beside ./run; they are the business of other tests.
# ./run alone is the gallery, which test_demo.py makes.
OTHER_COMMANDS = ("git clone ", "cd ", "./test", "cmake ", "ctest ", "python3 ", "build/fixture-venv/bin/", "sudo apt install ", "venv/bin/")


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


@pytest.fixture(scope="module")
def hub():
    """A hub that has the models that the pages pull: tiny ones under famous names."""
    with HubServer() as server, tempfile.TemporaryDirectory() as place:
        model = models.bert(pathlib.Path(place) / "model")
        server.add(PULLED, {file.name: file.read_bytes() for file in model.iterdir()})
        server.add(QUANTIZED, {QUANTIZED_FILE: (models.PARITY / "gguf_llama/model.gguf").read_bytes()})
        yield server


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {page: tmp_path_factory.mktemp("page") for page in PAGES}


@pytest.fixture
def folder(folders, page):
    """One folder per page, where ./run is the program that was built, with the files that the pages name."""
    place = folders[page]
    if not (place / "run").exists():
        program = BUILD / "bin/fovea"
        (place / "run").write_text(f'#!/bin/sh\n[ $# -gt 0 ] || set -- demo\nexec "{program}" "$@"\n')
        (place / "run").chmod(0o755)
        for name in ("examples", "models"):
            (place / name).symlink_to(ROOT / name)
        models.bert(place / "path/to/folder")
        for name in ("model.gguf", "model.Q4_K_M.gguf"):
            (place / "path/to" / name).symlink_to(CACHE / "models/smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf")
        save_file({"input_ids": numpy.array([2, 5, 6, 3], numpy.int64)}, place / "ids.safetensors")
    return place


def environment(folder, hub):
    return {**os.environ, "FOVEA_CACHE": str(CACHE), "HF_HOME": str(folder / "hub"), "HF_ENDPOINT": hub.url, "COLUMNS": "100"}


@pytest.mark.parametrize("page, command", all_commands())
def test_commands_of_the_pages_work(folder, hub, page, command):
    if not command.startswith("./run "):
        assert command == "./run" or command.startswith(OTHER_COMMANDS), f"no test knows whether this works: {command}"
        return
    if command.startswith("./run serve "):
        return  # goes on until it is interrupted; test_serve.py and test_app.py start it
    if page == ROOT / "README.md" and re.search(r" --out \S+\.png$", command):
        return  # test_readme.py draws it, and holds it against the page's picture
    if re.match(r"\./run (text|capture|open|tokenize|export|info|demo|stats|steps \")", command):
        for name in ("all-minilm-l6-v2", "smollm2-135m-instruct"):
            fetched(name)  # skips where it cannot be had
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], cwd=folder, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=300, env=environment(folder, hub),
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
    assert result.stdout, f"{command} printed nothing"


@pytest.mark.parametrize("page", [ROOT / "README.md"])
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


# A method and a metric are called so, because they measure it with gradients (Michel et al. 2019).
MEASURED_IMPORTANCE = re.compile(r"`[^`]*`|head[- ]importance|--importance|metric importance|^importance$", re.IGNORECASE)


def told(path, line):
    """What a reader of the page, or a user of the program, sees of a line."""
    return [line] if path.suffix == ".md" else re.findall(r"""(?<=["'`])[^"'`]*(?=["'`])""", line)


def test_raw_attention_is_never_called_importance():
    """Attention is routing. A page, a caption or a help text may name importance only to deny it."""
    chapters = (ROOT / "docs/learn").glob("*.md")  # their commands are those of test_learn.py
    texts = [*PAGES, *chapters, *(ROOT / "fovea").rglob("*.cc"), *(ROOT / "fovea").rglob("*.h"), *(ROOT / "web/src").rglob("*.ts")]
    for path in texts:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if any(re.search(r"\bimportance\b", MEASURED_IMPORTANCE.sub("", text), re.IGNORECASE) for text in told(path, line)):
                assert re.search(r"\b(not|never|no)\b", line), f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
