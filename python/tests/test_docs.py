"""What the manual, the README and the notebooks show runs, cell by cell, as it is written."""

import json
import os
import re

import pytest
from test_real_models import CACHE, fetched

import fovea
from conftest import ROOT

PAGES = [ROOT / "docs/python.md", ROOT / "README.md", ROOT / "python/README.md"]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages name, and the models that ./run fetches."""
    fetched("all-minilm-l6-v2")  # skips where it cannot be had
    monkeypatch.setenv("FOVEA_CACHE", str(CACHE))
    monkeypatch.setenv("FOVEA_NOTEBOOK_TOKENS", "700")  # 32,000 take minutes
    for name in ("models", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_cells(cells, where):
    names = {}
    for number, cell in enumerate(cells):
        exec(compile(cell, f"{where}, block {number + 1}", "exec"), names)
    return names


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_blocks_of_a_page_run_one_after_the_other(page, folder):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    run_cells(blocks, page.name)
    named = re.findall(r'save\("([^"]+)"\)', "\n".join(blocks))
    for name in named:
        assert os.path.getsize(folder / name) > 500, name


def test_what_the_manual_says_of_values_is_so(folder):
    session = fovea.load("all-minilm-l6-v2")("The cat sat on the mat because it was tired.")
    text = PAGES[0].read_text()
    assert f"# {session.tokens[:4]}" in text and f"# {session.sites}" in text


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_from_its_first_cell_to_its_last(notebook, folder):
    content = json.loads(notebook.read_text())
    assert content["nbformat"] == 4 and all(not cell.get("outputs") for cell in content["cells"]), "kept without outputs"
    cells = ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code"]
    names = run_cells(cells, notebook.name)
    assert any(isinstance(value, fovea.Session) for value in names.values())


def test_there_is_a_notebook_of_each_sort():
    assert {notebook.stem for notebook in NOTEBOOKS} == {"text", "translation", "picture", "detection", "long_text"}
