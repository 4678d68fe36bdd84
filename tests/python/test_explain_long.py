"""column-mass, span-mass and sinks from the command line, checked by numpy from the dense maps of `export`."""

import numpy
import pytest

import models
from program import assert_fails, run
from test_explain import SCENE, SCENES, TEXT, dense, explained


def layers_of(maps):
    return [maps[f"self.{i}"] for i in range(sum(name.startswith("self.") for name in maps))]


def looks(length, causal):
    return numpy.arange(length, 0, -1) if causal else numpy.full(length, length)


@pytest.fixture(params=["bert", "gpt2_lm", "llama_gqa"])
def model(request, tmp_path):
    folder = tmp_path / "model"
    return models.bert(folder) if request.param == "bert" else models.causal(folder, request.param)


def test_column_mass_is_the_sum_or_mean_of_columns(model, tmp_path):
    last = layers_of(dense(model, TEXT, tmp_path))[-1]
    causal = last[0][0, -1] == 0
    counts = looks(last.shape[-1], causal)
    answer = explained(TEXT, "-m", model, "--method", "column-mass")
    assert answer["scores"] == pytest.approx(last.mean(axis=0).sum(axis=0) / counts, abs=1e-6)
    answer = explained(TEXT, "-m", model, "--method", "column-mass", "--over", "sum", "--window", "3", "--layer", "0", "--head", "1")
    first = layers_of(dense(model, TEXT, tmp_path))[0]
    assert answer["scores"] == pytest.approx(first[1][-3:].sum(axis=0), abs=1e-6)
    assert "only the last 3 of" in " ".join(answer["notes"])
    assert ("favour early" in " ".join(answer["notes"])) == causal


def test_span_mass_is_what_a_row_puts_on_the_words(model, tmp_path):
    layers = layers_of(dense(model, TEXT, tmp_path))
    answer = explained(TEXT, "-m", model, "--method", "span-mass", "--span", "cat sat on", "--token", "tired")
    row, tokens = answer["position"], explained(TEXT, "-m", model, "--method", "raw")["positions"]
    begin = next(i for i, token in enumerate(tokens) if token.endswith("cat"))
    end = next(i for i, token in enumerate(tokens) if token.endswith("on")) + 1
    expected = [head[row, begin:end].sum() for layer in layers for head in layer]
    assert answer["scores"] == pytest.approx(expected, abs=1e-6)
    numbered = explained(TEXT, "-m", model, "--method", "span-mass", "--span", f"{begin}-{end - 1}", "--token", "tired")
    assert numbered["scores"] == answer["scores"]


def test_span_mass_needs_a_span_that_is_there_once(tmp_path):
    model = models.bert(tmp_path / "model")
    ask = ("explain", TEXT, "-m", model, "--method", "span-mass")
    assert_fails(run(*ask), 2, "fovea: --span: span-mass asks about a stretch")
    assert_fails(run(*ask, "--span", "dog"), 2, "'dog' is not in the text")
    assert_fails(run(*ask, "--span", "the"), 2, "occurs 2 times")
    assert_fails(run("explain", TEXT, "-m", model, "--method", "raw", "--span", "cat"), 2, "--span")


def test_sinks_are_the_share_of_heads_above_the_threshold(model, tmp_path):
    layers = layers_of(dense(model, TEXT, tmp_path))
    length = layers[0].shape[-1]
    counts = looks(length, layers[0][0][0, -1] == 0)
    heads = numpy.concatenate(layers)
    judged = counts >= min(8, (length + 1) // 2)
    threshold = 0.1
    expected = ((heads.sum(axis=1) / counts > threshold) & judged).mean(axis=0)
    answer = explained(TEXT, "-m", model, "--method", "sinks", "--threshold", threshold)
    assert answer["scores"] == pytest.approx(expected)
    assert "times as long as the median" in " ".join(answer["notes"])


def test_sinks_of_a_picture_tell_of_artifacts():
    notes = " ".join(explained(SCENE, "-m", SCENES, "--method", "sinks")["notes"])
    assert "artifact" in notes and "enter" in notes
