"""The programs of examples/ do what their first lines say."""

import pathlib
import re
import subprocess

import pytest

import models
from program import BUILD, ROOT, ok

TEXT = "The cat sat on the mat."


def run(name, *arguments):
    return subprocess.run(
        [BUILD / f"bin/example_{name}", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("bert"))


def test_every_example_is_run_here():
    tested = set(re.findall(r'run\("(\w+)"', pathlib.Path(__file__).read_text()))
    assert tested == {path.stem for path in (ROOT / "examples").glob("*.cc")}


def test_read_attention_prints_the_largest_weights_of_a_word(bert):
    result = run("read_attention", bert, TEXT, 2, 1)
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"(head +\d+:(  \S+ \d\.\d{3}){3}\n){3}", result.stdout), result.stdout
    assert run("read_attention", bert, TEXT, 2, 9).returncode == 1
    assert run("read_attention", bert).returncode == 2


def test_column_sums_names_the_token_that_is_looked_at_most(bert, tmp_path):
    ok("capture", "-m", bert, TEXT, "--out", tmp_path / "run.fovea.safetensors")
    result = run("column_sums", tmp_path / "run.fovea.safetensors")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"(self\.1 head +\d+: \S+ receives \d\.\d\d of 9\n){3}", result.stdout), result.stdout
    assert run("column_sums", tmp_path / "none").returncode == 1


def test_attention_as_convolution_prints_both_results_and_they_are_one_inside_the_border():
    result = run("attention_as_convolution")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    tables = [[float(number) for number in line.split()] for line in lines[1:7]]
    attended, convolved = [row[:8] for row in tables], [row[8:] for row in tables]
    for row in range(1, 5):
        assert attended[row][1:7] == convolved[row][1:7]
    assert attended[5] != convolved[5]  # at the edge softmax takes the nearest pixel, the convolution zeros
    assert convolved[2][2:6] == [5.0, 3.0, 3.0, 5.0]  # corners and edges of the square, by hand
    assert float(lines[7].removeprefix("largest difference inside the border: ")) <= 1e-5
