"""How weights lie over a photograph: sheets of all layers, pictures of other shapes, smoothing, and letters that no font has."""

import json

import numpy
import pytest
from PIL import Image

from program import ROOT, assert_fails, ok, run

SCENE = ROOT / "models/scenes-vit/demo/scene-1.png"


@pytest.fixture
def wide(tmp_path):
    """A photograph that is half as high as it is wide."""
    Image.open(SCENE).convert("RGB").resize((448, 224)).save(tmp_path / "wide.png")
    return tmp_path / "wide.png"


def answer(*words):
    return json.loads(ok("image", *words, "--json"))


def test_all_layers_and_heads_are_one_sheet(tmp_path):
    ok("image", SCENE, "--layer", "all", "--out", tmp_path / "all.npz")
    weights = numpy.load(tmp_path / "all.npz")["weights"]
    assert weights.shape == (48, 28, 28)
    last = numpy.array([panel["weights"] for panel in answer(SCENE)["result"]["panels"]])
    numpy.testing.assert_allclose(weights[42:], last, atol=1e-6)
    told = answer(SCENE, "--layer", "all", "--head", "mean")
    assert told["layer"] == list(range(8)) and [panel["title"] for panel in told["result"]["panels"]][3] == "layer 3 · mean of 6 heads"
    for suffix in ("png", "svg", "pdf"):
        ok("image", SCENE, "--layer", "all", "--out", tmp_path / f"all.{suffix}")
    text = ok("image", SCENE, "--layer", "all")
    assert text.count("head 5") == 8 and "layers 0 to 7, 6 heads each" in " ".join(text.split())


def test_numbers_are_weights_though_times_even_is_drawn():
    plain, even = answer(SCENE), answer(SCENE, "--of", "times-even")
    weights, times = (numpy.array([panel["weights"] for panel in each["result"]["panels"]]) for each in (plain, even))
    numpy.testing.assert_allclose(times, weights * 785, rtol=1e-4)
    assert "log colours ×1 to ×32" in plain["caption"] and "no colour: even or less" in plain["caption"]
    assert "colours" not in answer(SCENE, "--of", "weight")["caption"]


def test_a_caption_says_how_the_model_saw_the_picture(wide):
    assert "squashed to 224 × 224 for the model" in answer(wide)["caption"]
    assert "squashed" not in answer(SCENE)["caption"]
    kept = answer(wide, "--size", "keep")
    rows, cols = numpy.array(kept["result"]["panels"][0]["weights"]).shape
    assert cols == 2 * rows and abs(rows * cols - 784) < 50 and "squashed" not in kept["caption"]
    assert kept["input"]["size"] == "keep"
    assert_fails(run("image", wide, "--size", "kept"), 2, "--size", "keep")


def test_colours_are_blended_only_where_that_is_asked_for(tmp_path):
    for options, name in (((), "plain"), (("--smooth",), "smooth")):
        ok("image", SCENE, "--head", "0", *options, "--out", tmp_path / f"{name}.png")
    plain, smooth = (numpy.array(Image.open(tmp_path / f"{name}.png").convert("RGB")).astype(int) for name in ("plain", "smooth"))
    colors = [len(numpy.unique(each.reshape(-1, 3), axis=0)) for each in (plain, smooth)]
    assert plain.shape == smooth.shape and colors[1] > colors[0]


def test_letters_that_no_font_has_are_refused_by_the_name_of_a_package(tmp_path):
    """On a machine that has no fonts but those that come with the program."""
    (tmp_path / "fonts.conf").write_text("<?xml version='1.0'?><!DOCTYPE fontconfig SYSTEM 'urn:fontconfig:fonts.dtd'><fontconfig></fontconfig>")
    bare = {"FONTCONFIG_FILE": str(tmp_path / "fonts.conf")}
    out = tmp_path / "steps.png"
    for text, package in (("猫", "fonts-noto-cjk"), ("한국", "fonts-noto-cjk"), ("🐈", "fonts-noto-color-emoji"), ("कख", "fonts-noto-core")):
        (tmp_path / "steps.json").write_text(json.dumps({"inputs": [[1, 2], [3, 4]], "labels": [text, "ab"]}))
        assert_fails(run("steps", "--vectors", tmp_path / "steps.json", "--out", out, environment=bare), 1, f"apt install {package}", text[0])
        assert not out.exists()
    (tmp_path / "steps.json").write_text(json.dumps({"inputs": [[1, 2], [3, 4]], "labels": ["\ue000", "ab"]}))
    ok("steps", "--vectors", tmp_path / "steps.json", "--out", out, environment=bare)  # written as U+E000
