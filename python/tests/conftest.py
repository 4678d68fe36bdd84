"""What all tests of the package share: the package as it was built, and the helpers of the program's tests."""

import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/python"), str(pathlib.Path(__file__).parent)]

from program import BUILD  # noqa: E402

sys.path.insert(0, str(BUILD / "python"))

import fovea  # noqa: E402
import models  # noqa: E402


@pytest.fixture(scope="session")
def bert_folder(tmp_path_factory):
    return models.bert(tmp_path_factory.mktemp("bert") / "bert")


@pytest.fixture(scope="session")
def bert(bert_folder):
    return fovea.load(bert_folder)


@pytest.fixture(scope="session")
def causal(tmp_path_factory):
    return fovea.load(models.causal(tmp_path_factory.mktemp("causal") / "causal"))


@pytest.fixture
def session(bert):
    return bert("The cat sat on the mat because it was tired.")


@pytest.fixture(scope="session")
def long_run():
    """A tiny model on 3,000 tokens: maps that take a while."""
    model = fovea.load(ROOT / "tests/data/parity/llama_gqa")
    return model.inputs(input_ids=np.arange(3000) % 60)
