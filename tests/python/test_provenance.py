"""Files of numbers say where their numbers come from: .npz within, .npy by --sidecar."""

import json
import re

import numpy
import pytest

from program import ROOT, assert_fails, ok, run
from test_real_models import fetched

VIT = ROOT / "models/scenes-vit"
SCENE = VIT / "demo/scene-1.png"
TEXT = ("text", "-m", "en-fr", "The cat sat.")


def about(file):
    return json.loads(file["about"].item())


def test_an_npz_of_maps_names_its_rows_columns_and_heads(tmp_path):
    ok("translate", "The cat sat.", "--view", "encoder", "--layer", 1, "--out", tmp_path / "maps.npz")
    with numpy.load(tmp_path / "maps.npz", allow_pickle=False) as file:
        assert file["weights"].shape == (8, len(file["rows"]), len(file["cols"]))
        assert list(file["panels"]) == [f"head {h}" for h in range(8)] and "cat" in "".join(file["rows"])
        said = about(file)
    assert said["program"].startswith("fovea ") and "layer 1" in said["caption"] and said["map"]["model"] == "en-fr"


def test_an_npz_opens_again_though_it_holds_texts(tmp_path):
    ok("translate", "The cat sat.", "--view", "encoder", "--layer", 1, "--out", tmp_path / "maps.npz")
    facts = json.loads(ok("open", tmp_path / "maps.npz", "--head", 2, "--json"))
    with numpy.load(tmp_path / "maps.npz") as file:
        assert numpy.allclose(facts["result"]["weights"], file["weights"][2], atol=1e-6)


def test_statistics_name_their_metrics(tmp_path):
    texts = tmp_path / "texts"
    texts.write_text("The cat sat on the mat.\nA dog ran.\n")
    ok("stats", texts, "-m", "en-fr", "--out", tmp_path / "stats.npz")
    ok("stats", texts, "-m", "en-fr", "--out", tmp_path / "stats.csv")
    columns = (tmp_path / "stats.csv").read_text().splitlines()[0].split(",")
    with numpy.load(tmp_path / "stats.npz", allow_pickle=False) as file:
        metrics = list(file["panels"])
        assert file["weights"].shape[0] == len(metrics) and file["weights"].shape[2] == 8
        assert "entropy" in metrics and set(metrics) <= set(columns)
        said = about(file)
    assert "en-fr" in said["title"]


def test_an_explanation_and_steps_say_it_too(tmp_path):
    ok("explain", SCENE, "--class", "cow", "--out", tmp_path / "why.npz")
    with numpy.load(tmp_path / "why.npz", allow_pickle=False) as file:
        assert len(file["positions"]) == len(file["scores"]) == 785 and "cow" in json.dumps(about(file))
    ok("steps", SCENE, "--out", tmp_path / "steps.npz")
    with numpy.load(tmp_path / "steps.npz", allow_pickle=False) as file:
        assert file["q"].shape == (32,) and "scenes-vit" in json.dumps(about(file))


def test_a_sidecar_stands_beside_a_npy(tmp_path):
    ok("image", SCENE, "--head", 2, "--out", tmp_path / "map.npy", "--sidecar")
    said = json.loads((tmp_path / "map.npy.json").read_text())
    weights = numpy.load(tmp_path / "map.npy")
    assert weights.shape == (1, len(said["rows"]), len(said["cols"])) and said["panels"] == ["head 2"]
    assert "layer 7, head 2" in said["caption"] and said["map"]["model_hash"]
    ok("explain", SCENE, "--class", "cow", "--out", tmp_path / "why.npy", "--sidecar")
    said = json.loads((tmp_path / "why.npy.json").read_text())
    assert len(said["positions"]) == len(numpy.load(tmp_path / "why.npy")) and "cow" in json.dumps(said)
    assert_fails(run("image", SCENE, "--out", tmp_path / "map.csv", "--sidecar"), 2, "--sidecar is for figures and .npy")


def test_equal_calls_write_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        ok("image", SCENE, "--head", 2, "--out", tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("word", ["café 🙂", "日本語"])
def test_texts_of_any_script_are_read_as_they_are(word, tmp_path):
    run("translate", word, "--view", "encoder", "--head", 0, "--out", tmp_path / "map.npz")
    facts = json.loads(run("translate", word, "--view", "encoder", "--head", 0, "--json").stdout)
    with numpy.load(tmp_path / "map.npz", allow_pickle=False) as file:
        assert list(file["rows"]) == facts["result"]["rows"]


def test_scores_below_zero_are_drawn_to_the_left():
    fetched("all-minilm-l6-v2")
    text = ok("explain", "A cat sat on the dull mat.", "--against", "A lovely dog.", "--method", "integrated-gradients")
    rows = [line for line in text.splitlines() if "│" in line]
    bar = re.compile("[█▏▎▍▌▋▊▉▐]")
    signs = []
    for line in rows:
        left, right = line.split("│")
        below = re.search(r" (-?)\d+\.\d{3} ", line)[1] == "-"
        assert (bool(bar.search(left)), bool(bar.search(right))) == (below, not below), line
        signs.append(below)
    assert len(rows) == 5 and True in signs and False in signs
