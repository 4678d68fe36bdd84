"""What of a map is shown: heads by list, the smallest of all, other values, parts of pictures, and the largest weights as lists."""

import csv
import json

import models
import numpy as np
import pytest
from program import ROOT, assert_fails, ok, run

TEXT = "The cat sat on the mat because it was tired."
SCENE = ROOT / "models/scenes-vit/demo/scene-1.png"
FARM = ROOT / "models/scenes-detr/demo/scene-1.png"
SMALL = ["--size", "240x192"]


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choices")
    ok("capture", "-m", models.bert(folder / "bert"), TEXT, "--out", folder / "run.fovea.safetensors")
    return folder / "run.fovea.safetensors"


def asked(captured, *options):
    return json.loads(ok("open", captured, *options, "--json"))


def weights(captured, *options):
    return np.array(asked(captured, *options)["result"]["weights"], float)


def panels(captured, *options):
    return {panel["title"]: np.array(panel["weights"], float) for panel in asked(captured, *options)["result"]["panels"]}


def test_heads_by_list_are_panels_in_that_order(captured):
    everything = panels(captured, "--view", "heads")
    for view in ([], ["--view", "lines"]):
        some = panels(captured, *view, "--head", "2,0")
        assert list(some) == ["head 2", "head 0"]
        for name, map_of in some.items():
            assert (map_of == everything[name]).all()
    assert asked(captured, "--head", "2,0")["head"] == [2, 0]
    assert list(panels(captured, "--layer", "all", "--head", "1,2"))[-1] == "layer 1 · head 2"


def test_the_smallest_of_all_heads_is_taken_cell_by_cell(captured):
    everything = np.array(list(panels(captured, "--view", "heads").values()))
    np.testing.assert_allclose(weights(captured, "--head", "min"), everything.min(0), atol=1e-6)
    np.testing.assert_allclose(weights(captured, "--head", "min", "--rows", "2:5"), everything.min(0)[2:5], atol=1e-6)
    np.testing.assert_allclose(weights(captured, "--head", "min", "--token", "cat")[0], everything.min(0)[2], atol=1e-6)
    merged = asked(captured, "--head", "min", "--words")["result"]
    assert len(merged["weights"]) == len(merged["rows"])


@pytest.mark.parametrize("options, code, words", [
    (["--view", "matrix", "--head", "0,1"], 2, ["--head", "matrix takes one", "--view", "heads"]),
    (["--token", "cat", "--head", "0,1"], 2, ["--head", "read takes one"]),
    (["--head", "0,0"], 2, ["--head", "twice"]),
    (["--head", "0,x"], 2, ["--head", "N,N"]),
    (["--head", "0,99"], 2, ["head 99"]),
    (["--head", "min", "--out", "page.html"], 2, ["--head", "page"]),
    (["--top", "0"], 2, ["--top"]),
    (["--top", "3", "--column"], 2, ["--column", "--token"]),
    (["--top", "3", "--out", "a.npy"], 2, ["--out", "table"]),
    (["--top", "3", "--rows", "9:3"], 2, ["--rows", "A:B"]),
    (["--view", "lines", "--of", "score"], 2, ["--of", "below 0"]),
    (["--view", "reading", "--of", "score", "--scale", "log"], 2, ["--scale", "score"]),
])
def test_what_cannot_be_is_told_in_one_line(captured, options, code, words):
    assert_fails(run("open", captured, *options), code, *words)


def test_the_largest_weights_are_lists_with_names(captured, tmp_path):
    whole = weights(captured, "--head", "1")
    answer = asked(captured, "--head", "1", "--top", "3")
    assert answer["question"]["kind"] == "top"
    lists = answer["result"]["lists"]
    assert len(lists) == len(whole) and {each["name"] for each in lists} >= {"the", "the·2"}
    for row, each in zip(whole, lists):
        order = np.argsort(-row, kind="stable")[:3]
        assert [one["position"] for one in each["weights"]] == order.tolist()
        np.testing.assert_allclose([one["weight"] for one in each["weights"]], row[order], atol=1e-6)
        np.testing.assert_allclose([one["times_even"] for one in each["weights"]], row[order] * len(row), rtol=1e-4)
    ok("open", captured, "--head", "1", "--top", "3", "--out", tmp_path / "top.csv")
    lines = list(csv.DictReader(open(tmp_path / "top.csv")))
    assert len(lines) == 3 * len(whole) and lines[4]["rank"] == "2"
    assert float(lines[4]["weight"]) == lists[1]["weights"][1]["weight"]
    column = asked(captured, "--head", "1", "--top", "2", "--token", "the·2", "--column")["result"]
    assert column["column"] == 5
    assert [one["position"] for one in column["lists"][0]["weights"]] == np.argsort(-whole[:, 5])[:2].tolist()
    said = ok("open", captured, "--head", "1", "--top", "2", "--token", "it")
    assert "the 2 that it attends to most" in said and "times even" in said


def test_other_values_are_drawn_in_every_view(captured):
    whole = weights(captured, "--head", "1")
    even = whole * len(whole)
    np.testing.assert_allclose(weights(captured, "--head", "1", "--of", "times-even", "--token", "it")[0], even[8], rtol=1e-4)
    np.testing.assert_allclose(panels(captured, "--view", "lines", "--head", "1", "--of", "times-even")["head 1"], even, rtol=1e-4)
    np.testing.assert_allclose(weights(captured, "--view", "reading", "--head", "1", "--of", "times-even"), even, rtol=1e-4)
    assert "times even" in ok("open", captured, "--view", "reading", "--of", "times-even")
    assert "log colours" in ok("open", captured, "--view", "reading", "--of", "times-even")


def test_maps_over_a_picture_draw_other_values():
    def answer(*options):
        return json.loads(ok("image", SCENE, "--head", "1", "--at", "60,100", *options, "--json"))

    plain, even = answer(), answer("--of", "times-even")
    shown = np.array(plain["result"]["panels"][0]["weights"]), np.array(even["result"]["panels"][0]["weights"])
    positions = len(plain["axes"][0]["positions"])
    np.testing.assert_allclose(shown[1], shown[0] * positions, rtol=1e-4)
    assert plain["result"]["sums"] == even["result"]["sums"]
    assert "divided by what even attention gives" in even["caption"] and "log colours" in even["caption"]
    assert (np.array(answer("--of", "score")["result"]["panels"][0]["weights"]) < 0).any()
    assert "largest" in answer("--scale", "sqrt")["caption"]
    assert_fails(run("image", SCENE, "--of", "score", "--mask", "0.5"), 2, "--of", "mask")
    top = json.loads(ok("image", SCENE, "--head", "1", "--at", "60,100", "--top", "4", "--json"))["result"]["lists"][0]
    largest = np.sort(shown[0].ravel())[::-1][:4]
    assert [one["weight"] for one in top["weights"] if one["name"].startswith("patch")] == pytest.approx(
        largest[: sum(one["name"].startswith("patch") for one in top["weights"])], abs=1e-6)


def test_maps_of_objects_draw_other_values_and_parts():
    def answer(*options):
        return json.loads(ok("detect", FARM, *SMALL, *options, "--json"))

    def maps(*options):
        return np.array([panel["weights"] for panel in answer(*options)["result"]["panels"]])

    for view in (["--at", "250,300"], ["--view", "queries"], ["--view", "points"]):
        plain, even = maps(*view), maps(*view, "--of", "times-even")
        np.testing.assert_allclose(even, plain * plain[0].size, rtol=1e-4)
    assert list(answer("--at", "250,300", "--head", "3,1")["head"]) == [3, 1]
    assert "score before softmax" in answer("--view", "between", "--of", "score")["caption"]
    whole = np.array(answer("--view", "matrix", "--head", "2")["result"]["weights"])
    for part, place in ((["--rows", "7:", "--cols", ":4"], np.s_[7:, :4]), (["--around", "#40:3"], np.s_[37:44, 37:44])):
        np.testing.assert_allclose(np.array(answer("--view", "matrix", "--head", "2", *part)["result"]["weights"]), whole[place], atol=1e-6)
    even = np.array(answer("--view", "matrix", "--head", "2", "--rows", "3:5", "--of", "times-even")["result"]["weights"])
    np.testing.assert_allclose(even, whole[3:5] * len(whole), rtol=1e-4)
    assert_fails(run("detect", FARM, *SMALL, "--view", "matrix", "--around", "nothing"), 2, "nothing")


def test_an_alignment_counts_from_even():
    def answer(*options):
        return json.loads(ok("translate", "I love music.", "--view", "align", *options, "--json"))

    plain, even = answer("--pieces"), answer("--pieces", "--of", "times-even")
    columns = len(plain["result"]["cols"])
    np.testing.assert_allclose(np.array(even["result"]["weights"]), np.array(plain["result"]["weights"]) * columns, rtol=1e-4)
    assert even["result"]["links"] == plain["result"]["links"]
    for options, word in ((["--of", "score"], "weight or times-even"), (["--of", "times-even", "--norms"], "norms"),
                          (["--hard", "--scale", "sqrt"], "links")):
        assert_fails(run("translate", "I love music.", *options), 2, word)


def test_a_change_shows_the_map_of_other_values():
    options = ["change", "-m", "en-fr", "I love music.", "--hide", "love", "--map", "matrix", "--layer", "0", "--head", "0"]
    plain = json.loads(ok(*options, "--json"))["result"]["panels"]
    even = json.loads(ok(*options, "--of", "times-even", "--json"))["result"]["panels"]
    assert np.nanmax(np.array(even[0]["weights"], float)) > np.nanmax(np.array(plain[0]["weights"], float))
    assert "divided by what even attention gives" in " ".join(ok(*options, "--of", "times-even").split())
